"""
Texts that are made: words by subject, sentences of them, and templates.

Prose is of sentences whose shapes all subjects share, with nouns, verbs and
adjectives of one.  A template is a text with {60}, some sixty words of such prose, and
with entries, <town> or <town2>: a value of that kind, another one for each name.

SPDX-License-Identifier: PostgreSQL
"""

import re

# Of each subject: nouns, verbs, adjectives.
SUBJECTS = {
    'work': ('team customer product roadmap office project manager engineer release '
             'budget candidate interview training colleague report deadline contract '
             'service platform supplier campaign strategy department partner client '
             'meeting warehouse invoice',
             'supports leads plans reviews improves documents delivers coordinates '
             'prepares builds presents maintains negotiates schedules evaluates',
             'senior flexible annual international technical responsible reliable '
             'internal quarterly ambitious experienced modern efficient remote'),
    'shop': ('kettle lid handle cable charger display battery case warranty box filter '
             'motor blade surface strap zip pocket sole fabric lining button sensor '
             'remote bracket hinge shelf drawer lamp',
             'fits holds protects covers heats cleans cuts lights folds locks charges '
             'replaces resists turns carries',
             'stainless waterproof foldable wireless compact durable adjustable matte '
             'washable lightweight insulated rechargeable slim sturdy'),
    'medicine': ('patient dose fever cough examination heart lung scan wound tablet '
                 'infection allergy pain history pressure ward nurse therapy liver '
                 'kidney blood sample knee shoulder follow-up diet sleep appetite',
                 'shows reports denies relieves causes receives tolerates requires '
                 'confirms reduces worsens indicates reveals follows precedes',
                 'chronic acute mild severe left right normal elevated stable '
                 'bilateral tender regular febrile pulmonary'),
    'law': ('party court agreement notice claim damage tenant landlord clause '
            'liability payment appeal motion judgment evidence witness hearing statute '
            'breach defendant plaintiff obligation warranty property counsel order record '
            'jurisdiction',
            'grants limits excludes requires terminates establishes violates enforces '
            'assigns waives supports contradicts affirms reverses governs',
            'material reasonable written prior exclusive binding timely lawful adverse '
            'confidential severable substantial preliminary final'),
    'news': ('minister council budget police bridge strike union hospital election '
             'parliament river storm school airport mayor spokesman investigation '
             'factory harbour protest railway farmer court resident company bank '
             'committee agreement',
             'announces rejects approves criticises delays investigates welcomes opens '
             'closes questions reports defends postpones proposes warns',
             'local national new controversial public regional independent former '
             'unexpected temporary serious early official rural'),
    'food': ('onion garlic butter flour pan oven dough sauce tomato pepper salt egg '
             'cream cheese basil lemon sugar bowl spoon crust filling stock bean rice '
             'mushroom carrot parsley oil',
             'thickens softens absorbs covers balances needs sweetens browns melts '
             'holds binds enriches lifts seasons fills',
             'fresh warm golden soft thin dried ripe smooth hot cold crisp fragrant '
             'heavy small'),
    'weather': ('front cloud shower wind coast valley ridge fog frost sun rain snow '
                'breeze thunderstorm afternoon night lowland hill pressure system air '
                'sky drizzle spell gust visibility lake mountain',
                'reaches brings crosses leaves clears covers weakens pushes follows '
                'replaces cools dampens affects lifts shades',
                'moderate northern southern dry humid cool bright scattered patchy '
                'coastal light strong unsettled mild'),
    'sport': ('goal keeper corner penalty defender striker captain coach crowd referee '
              'pass header substitute half minute lead chance post bench season league '
              'pitch tackle wing foul shot save derby',
              'scores misses saves clears replaces beats crosses blocks leads opens '
              'controls finds passes heads equals',
              'early late decisive brilliant loose narrow home away young injured '
              'offensive lucky quick deserved'),
    'song': ('river night road heart rain window summer star moon fire stone shadow '
             'wind letter dream shore garden bell morning silence ship winter mirror '
             'harbour candle bird field street',
             'calls breaks holds burns follows finds carries hides loves keeps wakes '
             'leaves covers knows hears',
             'silver lonely golden broken quiet endless bitter tender hollow wild blue '
             'distant faded gentle'),
    'office': ('letter form account address signature deadline copy document folder '
               'certificate office counter receipt application passport file stamp '
               'envelope reply request fee reminder appointment clerk branch archive '
               'department list',
               'confirms contains requires replaces reaches follows completes lists '
               'mentions encloses supports updates corrects covers names',
               'enclosed signed original missing attached valid previous complete '
               'official separate recent registered personal additional'),
    'computing': ('server cache queue index cluster backup node disk process thread '
                  'packet socket module compiler parser table schema branch request '
                  'session certificate proxy scheduler worker buffer pipeline log '
                  'container',
                  'reads writes starts stops returns drops locks parses stores retries '
                  'restarts copies validates flushes rejects',
                  'remote local stale empty shared nightly corrupt slow parallel '
                  'temporary default nested private idle'),
    'housing': ('kitchen balcony bedroom bathroom garden cellar stairs window floor '
                'ceiling heating lift parking street tram school park neighbour roof '
                'wardrobe terrace corridor door bath storage view courtyard oven',
                'faces includes borders offers overlooks connects adjoins receives '
                'contains needs serves separates keeps opens shares',
                'bright quiet renovated spacious wooden tiled fitted sunny central '
                'furnished private modern charming former'),
    'travel': ('concert museum festival guide ticket stage workshop tour speaker '
               'castle gallery orchestra lecture market theatre film entrance hall '
               'programme ferry hotel train coach breakfast island village harbour church',
               'opens presents welcomes visits offers features includes closes hosts '
               'celebrates explores joins reaches shows fills',
               'annual historic free guided open live local famous evening outdoor '
               'popular small medieval international'),
    'claims': ('vehicle bumper policy excess garage damage driver junction insurer '
               'repair estimate adjuster photograph witness police report theft water '
               'pipe ceiling carpet burglary invoice roof storm hail mirror lane '
               'windscreen',
               'covers damages supports excludes confirms reaches exceeds strikes '
               'shows documents settles reduces contradicts precedes includes',
               'parked rear front comprehensive third visible accidental total partial '
               'insured estimated stolen wet sudden'),
    'machine': ('valve hose pump lever screw cover drum belt switch plug tray nozzle '
                'reservoir blade spring bracket gasket fuse cable housing roller motor '
                'panel latch socket washer filter gauge',
                'holds releases drives turns closes seals locks cools guides stops '
                'carries supplies protects tightens lifts',
                'upper lower front rear hydraulic loose worn rubber spare metal safe '
                'rotating manual electric'),
    'German': ('Antwort Frist Stelle Gebühr Akte Wohnung Rechnung Leitung Prüfung '
               'Abteilung Versicherung Bestellung Zahlung Unterlage Nachricht '
               'Reparatur Anlage Kopie Lieferung Behörde Adresse Genehmigung Werkstatt '
               'Heizung Bescheinigung Sitzung',
               'betrifft ersetzt braucht enthält verlangt begleitet beendet verzögert '
               'erleichtert stützt ergänzt bestätigt prüft erwähnt',
               'alte neue kurze lange kleine große offene knappe fertige wichtige '
               'geplante übliche einfache ruhige'),
    'Chinese': ('公司 报告 客户 项目 会议 合同 市场 产品 学校 医院 道路 城市 天气 计划 部门 '
                '仓库 机器 设备 图书 花园 车站 厨房 邻居 老师 工程 价格 服务 系统',
                '改变 准备 介绍 检查 支持 影响 完成 讨论 购买 更新 管理 安排 研究 修理 保护',
                '重要 新鲜 安静 漂亮 复杂 简单 明亮 稳定 方便 特别 普通 热闹 干净 有趣'),
}

# Shapes of sentences: of N, V and J a noun, a verb and an adjective are drawn, of PL a
# noun of which there are many.
ENGLISH = '''
The J N V the N of the N.
When the N is J, the N V a J N.
Most of the PL are J, and the N V them in the morning.
It is the N that V the J N after all.
There is a J N beside the N, which V the N every week.
Without a J N the N can be slow.
Everybody who V the N has seen the J N before.
Because the N was J, a second N V the N as well.
Please note that the N V the N only with a J N.
In spring the J N V more PL than the N did last year.
A J N, as far as the N V it, will be ready for the N.
Some PL were J and others were not, so the N V each N by hand.
The N and the N have little in common, but a J N V both.
If the N V the N, then the J N should follow soon.
What the J N really needs is a N that V the N.
For a J N like this the N is usually enough.
Nobody expected that the N V such a J N.
Once more the N V the N, and the J PL remain.
Between the N and the J N there will be a short N.
Our N V the J N, from the first N to the last.
Neither the J N nor the PL have changed since the N.
The N, which is rather J, V the N through the N.
By the end of the week the J N V all PL.
Ask for the J N if your N V a different N.
So far each N V its own J N.
Several PL became J while the N V the old N.
'''
GERMAN = '''
Die J N V die N der N.
Ohne eine J N V die N keine N.
Wenn die N zu spät kommt, V sie die J N.
Zu jeder N gehört eine J N, die die N V.
Nach der N folgt eine J N, und die N V sie.
Weil es eine J N ist, V eine zweite N auch die N.
Bitte beachten Sie, dass die N auch die J N V.
Wer die N liest, sieht, dass eine J N sie V.
Im Frühling V die J N mehr als die N im Winter.
Weder die J N noch die N hat sich seit der N geändert.
Am Ende der Woche V unsere J N jede N.
Auf die N folgt eine J N, die jede N V.
Sobald die J N da ist, V sie die N der N.
Für eine J N wie diese genügt meist die N.
Immer öfter V eine J N die N, obwohl die N fehlt.
'''
CHINESE = '''
J的N已经V了N。
因为N比较J，所以我们V了新的N。
每个星期N都会V一次N。
如果N不够J，那么N就V其他的N。
大家都知道，J的N可以V整个N。
从第一个N到最后一个N，他们都V得很J。
今年的N比去年更J，N也V了不少。
请注意，N只能V一个J的N。
除了N以外，J的N也V了N。
在N旁边有一个J的N，它经常V我们的N。
没有J的N，N就很难V下去。
到了周末，N终于V了所有的N。
虽然N看起来很J，但是N还是V了它。
N和N没有什么关系，不过两者都V过J的N。
'''

SHAPES = {'German': GERMAN, 'Chinese': CHINESE}
DRAWN = re.compile('(?<![A-Za-z])(PL|[NVJ])(?![A-Za-z])')

# A sentence of such a shape.
SENTENCE = re.compile('|'.join(DRAWN.sub(r'[\\w-]+', shape).replace('.', '[.]')
                               for shape in ENGLISH.split('\n')[1:-1]))

VALUES = {
    'first': 'Anna Boris Carla David Elena Farid Greta Hannah Igor Julia Karim Laura '
             'Marta Nadia Oscar Paula Rahul Sofia Tomas Vera Yusuf Zoe',
    'last': 'Almeida Baker Castillo Duarte Eriksen Fischer Green Hansen Ivanova Jensen '
            'Keller Lindgren Moreau Novak Okafor Peters Quinn Rossi Schmidt Turner '
            'Varga Weber Young Zimmer',
    'town': 'Bergen Lisbon Krakow Leeds Porto Ghent Aarhus Turin Graz Lyon Malaga '
            'Tallinn Utrecht Bristol Zurich Dresden Cork Split Nantes Oulu',
    'month': 'January February March April May June July August September October '
             'November December',
    'day': 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday',
    'company': 'Northwind Brightwater Oakfield Meridian Silverline Harbourtech Kestrel '
               'Lumenova Granite Bluepeak Tidewell Ashgrove',
    'role': 'accountant electrician translator surveyor analyst receptionist welder '
            'pharmacist librarian carpenter dispatcher paralegal',
    'product': 'kettle toaster blender fan heater speaker keyboard monitor backpack '
               'tent drill mixer',
    'colour': 'black white red blue green grey silver brown',
    'model': 'A200 B310 C45 D7 E520 F16 G90 H3 K75 L330 M28 X9',
    'drug': 'amoxicillin ibuprofen metformin lisinopril warfarin omeprazole '
            'paracetamol prednisone simvastatin codeine',
    'side': 'left|right', 'unit': 'mg|ml|g|mcg', 'size': 'kg|g|lb|oz',
    'team': 'Rovers United Athletic Wanderers City Rangers Albion Hotspur Dynamo '
            'Olympic',
    'dish': 'stew pie soup salad risotto curry lasagne pancake chowder tart',
    'host': 'web01 web02 db1 db2 cache3 mail1 proxy2 build7 edge4 queue5',
    'package': 'parsekit fastgrid linebreak queuelet tinyroute datafold hashring '
               'pathwise logsift mapforge',
    'error': 'NullPointerException IllegalStateException TimeoutException IOException '
             'ClassCastException ArithmeticException',
    'class': 'OrderService CartController UserMapper InvoiceJob ReportWriter '
             'LoginFilter StockCache MailSender',
    'method': 'apply find save load merge render submit resolve flush check',
    'street': 'Mill|Church|Station|Park|Victoria|Garden|Bridge|King|Orchard|River',
    'granted': 'granted|denied', 'may': 'may|may not', 'shall': 'shall|shall not',
    'is': 'is|is not', 'does': 'does|does not', 'rises': 'rises|falls',
    'open': 'open|closed', 'will': 'will|will not', 'has': 'has|has never',
    'cmp': '<|<=|>|>=', 'eq': '==|!=', 'op': '+|-', 'bool': 'true|false',
    'and': '&&|\\|\\|', 'local': 'sum other seen found key',
    'var': 'total|count|limit|offset|width|index|depth|amount',
    'allow': 'allow|deny', 'onoff': 'on|off', 'sign': '-|', 'plus': '+|-',
    'lang': 'C|C++|C#',
    'salary': '38000 42000 47500 51000 64000 72500',
    'licence': 'Apache MIT BSD ISC Zlib Boost',
    'monat': 'Januar Februar April Mai Juni Juli August September Oktober November',
    'stadt': 'Bremen Kassel Leipzig Mainz Ulm Erfurt Rostock Bonn Passau Kiel',
    'nicht': 'noch|nicht|nicht mehr', 'kein': 'kein|kaum|etwas',
    'city': '北京|上海|广州|杭州|成都|南京|武汉|西安', 'bu': '已经|没有|不再',
    'person': '王伟|李娜|张敏|刘洋|陈静|杨帆|赵磊|周婷',
    'goods': '手机|电脑|书包|雨伞|台灯|手表|相机|茶杯',
}


def number(least, most, form='%d'):
    return lambda rng: form % rng.randint(least, most)


def price(rng):
    return '%d.%02d' % (rng.randint(2, 400), rng.choice((0, 49, 50, 90, 95, 99)))


def time(rng):
    return '%d:%02d' % (rng.randint(6, 22), rng.randrange(0, 60, 5))


def date(rng):
    return '%d %s %d' % (rng.randint(1, 28), rng.choice(KINDS['month']),
                         rng.randint(2015, 2026))


def version(rng):
    return '%d.%d.%d' % (rng.randint(0, 9), rng.randint(0, 20), rng.randint(0, 30))


def address(rng):
    return '10.%d.%d.%d' % tuple(rng.randint(1, 250) for _ in range(3))


def topic(rng):
    subject = rng.choice(('law', 'news', 'machine'))
    nouns, _, adjectives = map(str.split, SUBJECTS[subject])
    return '%s %s' % (rng.choice(adjectives), rng.choice(nouns))


def either(text):
    """A list: of words, or of what bars part."""
    if '|' not in text:
        return text.split()
    return [part.replace('\0', '|') for part in
            text.replace('\\|', '\0').split('|')]


KINDS = {name: either(text) for name, text in VALUES.items()}
KINDS.update({
    'n': number(2, 9), 'dd': number(1, 28), 'nn': number(10, 99),
    'nnn': number(100, 999), 'id': number(100000, 999999), 'year': number(1985, 2026),
    'price': price, 'time': time, 'date': date, 'topic': topic, 'version': version,
    'ip': address, 'temp': number(-19, 34), 'port': number(1024, 9999),
    'hex': lambda rng: '%08x' % rng.getrandbits(32),
    'name': lambda rng: '%s %s' % (rng.choice(KINDS['first']),
                                   rng.choice(KINDS['last'])),
})

ENTRY = re.compile(r'<([a-z]+\d?)>')
PROSE = re.compile(r'\{(\d+)\}')


def many(noun):
    if re.search('[^aeiou]y$', noun):
        return noun[:-1] + 'ies'
    return noun + ('es' if re.search('(s|x|ch|sh)$', noun) else 's')


def sentence(rng, subject):
    nouns, verbs, adjectives = map(str.split, SUBJECTS[subject])

    def draw(match):
        found = match.group()
        if found == 'PL':
            return many(rng.choice(nouns))
        return rng.choice({'N': nouns, 'V': verbs, 'J': adjectives}[found])

    shapes = SHAPES.get(subject, ENGLISH).split('\n')[1:-1]
    text = DRAWN.sub(draw, rng.choice(shapes))
    return re.sub(r'\b([Aa]) (?=[aeiou])', r'\1n ', text)


def prose(rng, subject, count):
    """So many words or some more, in sentences of which none comes twice."""
    found = {}
    gap = '' if subject == 'Chinese' else ' '
    while sum(found.values()) < count:
        text = sentence(rng, subject)
        found[text] = len(text.split()) if gap else len(text) / 2
    return gap.join(found)


def kind_of(name):
    return name.rstrip('0123456789')


class Draft:
    """A template with its prose drawn, and a value for each entry."""

    def __init__(self, rng, subject, template, scale=1):
        self.rng = rng
        self.subject = subject
        self.template = PROSE.sub(
            lambda m: '{%d}' % max(1, int(m.group(1)) * scale), template)
        self.blocks = [prose(rng, subject, int(count))
                       for count in PROSE.findall(self.template)]
        self.pattern = self.assembled(self.blocks)
        self.entries = {}
        self.fill()

    def assembled(self, blocks):
        blocks = iter(blocks)
        return PROSE.sub(lambda m: next(blocks), self.template)

    def fill(self):
        """Draw a value for each entry."""
        self.entries.clear()
        for name in ENTRY.findall(self.pattern):
            if kind_of(name) in KINDS and name not in self.entries:
                self.entries[name] = self.value(name)

    def value(self, name):
        """A value that no entry of its kind has."""
        kind = KINDS[kind_of(name)]
        taken = {value for other, value in self.entries.items()
                 if kind_of(other) == kind_of(name)}
        if isinstance(kind, list):
            return self.rng.choice([v for v in kind if v not in taken] or kind)
        while True:
            value = kind(self.rng)
            if value not in taken:
                return value

    def text(self, pattern=None, **entries):
        """The text, with other values in some entries, or by another pattern."""
        entries = {**self.entries, **entries}
        return ENTRY.sub(lambda m: entries.get(m.group(1), m.group()),
                         pattern or self.pattern)

    def other_prose(self):
        """The text with a piece of its prose drawn anew."""
        blocks = list(self.blocks)
        at = self.rng.randrange(len(blocks))
        blocks[at] = prose(self.rng, self.subject, len(blocks[at].split()))
        return self.text(self.assembled(blocks))

    def other(self, *names):
        """The text with another value in each of these entries."""
        return self.text(**{name: self.value(name) for name in names})

    def exchanged(self, one, two):
        """The text with the values of two entries exchanged."""
        return self.text(**{one: self.entries[two], two: self.entries[one]})
