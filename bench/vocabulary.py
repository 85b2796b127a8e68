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
                 'chronic acute mild severe left right normal elevated stable bilateral '
                 'tender regular febrile pulmonary'),
    'law': ('party court agreement notice claim damage tenant landlord clause liability '
            'payment appeal motion judgment evidence witness hearing statute breach '
            'defendant plaintiff obligation warranty property counsel order record '
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
    'travel': ('concert museum festival guide ticket stage workshop tour speaker castle '
               'gallery orchestra lecture market theatre film entrance hall programme '
               'ferry hotel train coach breakfast island village harbour church',
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
}

# Shapes of sentences: N, V and A are drawn, PL is a noun of which there are many.
SHAPES = [shape for shape in '''
The A N V the N of the N.
When the N is A, the N V a A N.
Most of the PL are A, and the N V them in the morning.
It is the N that V the A N after all.
There is a A N beside the N, which V the N every week.
Without a A N the N can be slow.
Everybody who V the N has seen the A N before.
Because the N was A, a second N V the N as well.
Please note that the N V the N only with a A N.
In spring the A N V more PL than the N did last year.
A A N, as far as the N V it, will be ready for the N.
Some PL were A and others were not, so the N V each N by hand.
The N and the N have little in common, but a A N V both.
If the N V the N, then the A N should follow soon.
What the A N really needs is a N that V the N.
For a A N like this the N is usually enough.
Nobody expected that the N V such a A N.
Once more the N V the N, and the A PL remain.
Between the N and the A N there will be a short N.
Our N V the A N, from the first N to the last.
Neither the A N nor the PL have changed since the N.
The N, which is rather A, V the N through the N.
By the end of the week the A N V all PL.
Ask for the A N if your N V a different N.
So far each N V its own A N.
Several PL became A while the N V the old N.
'''.strip().split('\n')]

# A sentence of such a shape.
SENTENCE = re.compile('|'.join(
    '(?:%s)' % re.sub(r'\b(PL|[NVA])\b', r'[\\w-]+', re.escape(shape)
                      .replace('\\ ', ' ')) for shape in SHAPES))

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
    'allow': 'allow|deny', 'onoff': 'on|off', 'sign': '-| ', 'plus': '+|-',
    'lang': 'C|C++|C#', 'salary': '38000 42000 47500 51000 64000 72500', 'licence': 'Apache MIT BSD ISC Zlib Boost',
    'monat': 'Januar Februar April Mai Juni Juli August September Oktober November',
    'stadt': 'Bremen Kassel Leipzig Mainz Ulm Erfurt Rostock Bonn Passau Kiel',
    'nicht': 'noch|nicht|nicht mehr', 'kein': 'ein|kein',
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


def either(text):
    """A list: of words, or of what bars part."""
    if '|' not in text:
        return text.split()
    return [part.replace('\0', '|') for part in
            text.replace('\\|', '\0').split('|')]


KINDS = {name: either(text) for name, text in VALUES.items()}
KINDS.update({
    'n': number(2, 9), 'nn': number(10, 99), 'nnn': number(100, 999),
    'id': number(100000, 999999), 'year': number(1985, 2026), 'price': price,
    'time': time, 'date': date, 'version': version, 'ip': address,
    'temp': number(-19, 34), 'port': number(1024, 9999),
    'hex': lambda rng: '%08x' % rng.getrandbits(32),
    'name': lambda rng: '%s %s' % (rng.choice(KINDS['first']),
                                   rng.choice(KINDS['last'])),
})

ENTRY = re.compile(r'<([a-z]+)(\d?)>')
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
        return rng.choice({'N': nouns, 'V': verbs, 'A': adjectives}[found])

    text = re.sub(r'\b(PL|[NV]|(?<=[a-z] )A|(?<=^The )A|(?<=^A )A)\b', draw,
                  rng.choice(SHAPES))
    return re.sub(r'\b([Aa]) (?=[aeiou])', r'\1n ', text)


def prose(rng, subject, count):
    """So many words or some more, in sentences of which none comes twice."""
    found = {}
    while sum(found.values()) < count:
        text = sentence(rng, subject)
        found[text] = len(text.split())
    return ' '.join(found)


class Draft:
    """A template with its prose drawn, and a value for each entry."""

    def __init__(self, rng, subject, template, scale=1):
        self.rng = rng
        self.pattern = PROSE.sub(
            lambda m: prose(rng, subject, int(m.group(1)) * scale), template)
        self.entries = {}
        for match in ENTRY.finditer(self.pattern):
            if match.group(1) in KINDS:
                self.entries.setdefault(match.group(1, 2), None)
        self.fill()

    def fill(self):
        """Draw a value for each entry."""
        self.entries = dict.fromkeys(self.entries)
        for name in self.entries:
            self.entries[name] = self.value(name)

    def value(self, name):
        """A value that no entry of its kind has."""
        kind = KINDS[name[0]]
        taken = {value for (kind, _), value in self.entries.items() if kind == name[0]}
        if isinstance(kind, list):
            return self.rng.choice([v for v in kind if v not in taken] or kind)
        while True:
            value = kind(self.rng)
            if value not in taken:
                return value

    def text(self, pattern=None, **entries):
        """The text, with other values in some entries, or by another pattern."""
        return ENTRY.sub(lambda m: entries.get(m.group(1) + m.group(2), self.entries.get(
            m.group(1, 2), m.group())), pattern or self.pattern)

    def other(self, *names):
        """The text with another value in each of these entries."""
        return self.text(**{name: self.value((name.rstrip('0123456789'),
                                              name.lstrip('abcdefghijklmnopqrstuvwxyz')))
                            for name in names})

    def exchanged(self, one, two):
        """The text with the values of two entries exchanged."""
        kind = one.rstrip('0123456789')
        values = [self.entries[kind, name[len(kind):]] for name in (one, two)]
        return self.text(**{one: values[1], two: values[0]})
