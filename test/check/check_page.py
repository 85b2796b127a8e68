#!/usr/bin/env python3
"""
Write pages by make report, and use them in a headless browser: what the slider
shows for each k is what SQL says, whatever is in the texts; where documents are
compared, so is what it shows for the k and the similarity of the call; what is ticked
goes, whatever is in the keys, and comes back; no script runs but the page's own; nothing
is wider than the window, unlabelled, too faint, or out of reach of the keyboard.

Where there is no Chromium, only a line says so.

SPDX-License-Identifier: PostgreSQL
"""

import base64
import hashlib
import os
import random
import re
import subprocess
import sys
import tempfile

import psycopg

from browser import Browser, Failed
from database import new_database, new_utf8_database

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
TABLE = '"Odd ""schema"" 表"."a\'b </script>"'

COMMON = {'TABLE': TABLE, 'ID': '"Site", "Key 2"', 'SIMILARITY': 'none'}

# What is true once a page has drawn all of itself.
READY = 'document.documentElement.dataset.ready'

# What texts may hold: scripts of all kinds, marks that combine, emoji, markup,
# characters that nobody sees.
TEXTS = (
    'The quick brown fox jumps over the lazy dog, and then it sleeps.',
    '床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。',
    'يولد جميع الناس أحرارا متساوين في الكرامة والحقوق، وقد وهبوا عقلا.',
    'כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם.',
    'มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์',
    'cafe\u0301 re\u0301sume\u0301 nai\u0308ve co\u0302te\u0301 '
    'Z\u0351\u036b\u0343a\u0321\u0353l\u0328\u0317g\u0321\u035ao\u0322',
    '👩‍👩‍👧‍👦 👍🏽 🇨🇳🇩🇪 ❤️ \U0001f9d1\u200d\U0001f680 emoji in a row',
    '</script><script>document.title = "bad"</script><!-- <script>',
    '"quotes" \'and\' `more` ${1 + 1} \\u003c \\ & &lt; &amp; <b>bold</b>',
    'lines\u2028and\u2029paragraphs\r\nand\ttabs\n\nand\vmore\fof it',
    'turned \u202ednuora\u202c and \u200bhidden\ufeff and \x01\x7f\x85',
    'x' * 300,
    ' '.join('word%d' % n for n in range(8000)),
)

# The contrast of all text that is to be seen, as WCAG has it; the worst first.
CONTRAST = r"""(() => {
    const parse = c => (c.match(/[\d.]+/g) || []).map(Number);
    const light = c => c.slice(0, 3).map(v => (v /= 255) <= .04045 ? v / 12.92
        : ((v + .055) / 1.055) ** 2.4).reduce((s, v, i) =>
        s + v * [.2126, .7152, .0722][i], 0);
    const ground = e => {
        for (; e; e = e.parentElement) {
            const c = parse(getComputedStyle(e).backgroundColor);
            if (c.length < 4 || c[3] > 0)
                return c;
        }
        return matchMedia('(prefers-color-scheme: dark)').matches
            ? [18, 18, 18] : [255, 255, 255];
    };
    let worst = [99];
    for (const e of document.querySelectorAll('body *')) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) ||
            !e.getClientRects().length || e.tagName === 'OPTION')
            continue;
        const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))];
        const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
        if (ratio < worst[0])
            worst = [ratio, e.outerHTML.slice(0, 200)];
    }
    return worst;
})()"""


def say(text):
    """Say what was found right."""
    print('ok   ' + text)


def expect(what, got, wanted):
    """Is it what it has to be?"""
    if got != wanted:
        raise Failed('%s: %r, not %r' % (what, got, wanted))


def fill(connection, dice):
    """Make the tables."""
    execute = connection.execute
    execute('CREATE EXTENSION simhash')
    execute('CREATE SCHEMA "Odd ""schema"" 表"')
    execute('CREATE TABLE %s ("Site" text, "Key 2" text, body text, fp bigint,'
            ' wide bit(128), PRIMARY KEY ("Site", "Key 2"))' % TABLE)
    centers = [dice.getrandbits(128) for _ in range(12)]
    with connection.cursor() as cursor, cursor.copy(
            'COPY %s FROM STDIN' % TABLE) as copy:
        for n in range(500):
            kind = dice.randrange(len(TEXTS))
            body = TEXTS[kind]
            if dice.random() < .7:
                at = dice.randrange(len(body))
                body = body[:at] + dice.choice('xé近ب ') + body[at:]
            value = dice.choice(centers)
            for _ in range(dice.choice((0, 0, 1, 2, 3, 4, 5, 6))):
                value ^= 1 << dice.randrange(128)
            fp = value & (1 << 64) - 1
            copy.write_row((dice.choice(('a', 'b <i>')), 'key %d' % n, body,
                            fp - (1 << 64) if fp >> 63 else fp,
                            format(value, '0128b')))
    execute("INSERT INTO %s VALUES ('a', 'none', 'nothing', NULL, NULL)" % TABLE)
    execute('CREATE TABLE refers (a text, b text, CONSTRAINT "Refers <b>"'
            ' FOREIGN KEY (a, b) REFERENCES %s)' % TABLE)
    connection.commit()


def write(path, **variables):
    """Write a page by make report."""
    subprocess.run(['make', '-s', 'report'], check=True, cwd=ROOT,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env=dict(os.environ, PAGE=path, **variables))


def by_sql(connection, fp, k, within):
    """What SQL says of a k: clusters, rows that could go, and their bytes."""
    return connection.execute("""
        WITH numbered AS (
            SELECT row_number() OVER (ORDER BY "Site", "Key 2") AS n, 28
                + pg_column_size("Site") + pg_column_size("Key 2")
                + coalesce(pg_column_size(body), 0) + coalesce(pg_column_size(fp), 0)
                + coalesce(pg_column_size(wide), 0) AS bytes FROM %s)
        SELECT count(DISTINCT cluster), count(*) FILTER (WHERE id <> representative),
            coalesce(sum(bytes) FILTER (WHERE id <> representative), 0)::bigint
        FROM simhash_clusters($$SELECT row_number() OVER (ORDER BY "Site", "Key 2"),
                %s%s FROM %s$$, %d, 'star', 'first') JOIN numbered ON n = id
        """ % (TABLE, fp, within and ', ' + within, TABLE, k)).fetchone()


def look_at_numbers(browser, connection, path, fp, within=''):
    """Move the slider to each k, and compare what is shown."""
    upto = browser.run('data.upto')
    browser.run('$("k").focus()')
    browser.press('Home')
    for k in range(upto + 1):
        if k > 0:
            browser.press('ArrowRight')
        browser.wait('document.documentElement.dataset.k === "%d"' % k)
        clusters, rows, size = by_sql(connection, fp, k, within)
        expect('k = %d' % k, browser.run(
            '[view.clusters, view.redundant, view.freed]'), [clusters, rows, size])
        expect('bars for k = %d' % k, browser.run(
            '[view.distances, view.sizes].map(l => l.reduce((n, x) => n + x[1], 0))'),
            [rows, clusters])
        said = browser.run('$("what").textContent')
        if rows:
            for number in (rows, clusters):
                expect('in ' + said, str(number) in said, True)
        expect('row for k = %d' % k, browser.run(
            '$("steps").tBodies[0].querySelector("[aria-current]").cells[2].textContent'),
            str(rows))
    say('%s: the numbers for k = 0 to %d' % (os.path.basename(path), upto))


def look_at_texts(browser):
    """Each text that the page holds is shown as it is."""
    expect('title', browser.run('document.title'), 'Near-duplicates in ' + TABLE)
    wrong = browser.run(r"""(() => {
        const wrong = [];
        for (const t of data.texts) {
            const other = data.texts.find(o => o.part === t.part && o !== t) || t;
            compare([t.id, 0, t], [other.id, 1, other]);
            for (const [where, text] of [["left", t], ["right", other]]) {
                const shown = $(where).textContent.replace(/↵/g, "")
                    .replace(/U\+([0-9A-F]{4})/g, (_, c) => String.fromCodePoint(parseInt(c, 16)));
                if (shown !== text.text)
                    wrong.push([text.text, shown]);
            }
        }
        return wrong;
    })()""")
    expect('texts', wrong, [])
    # the marks are right: without them both texts are the same
    wrong = browser.run(r"""(() => {
        const wrong = [];
        for (const t of data.texts)
            for (const o of data.texts.filter(o => o.part === t.part).slice(0, 5)) {
                const [a, b] = [t, o].map(x => x.text.match(token) || []);
                const [x, y] = common(a, b);
                if (a.length + b.length < 2000 &&
                    a.filter((_, i) => x[i]).join("\0") !== b.filter((_, i) => y[i]).join("\0") ||
                    a.join("") !== t.text || t === o && !x.every(n => n))
                    wrong.push([t.text, o.text]);
            }
        return wrong;
    })()""")
    expect('marks', wrong, [])
    expect('no markup of texts', browser.run(
        'document.querySelectorAll("b, script:not([type]) ~ script").length'), 0)
    say('texts of all kinds')


def look_at_features(browser, connection):
    """What both have and one has, as SQL says it."""
    pairs = browser.run("""(() => {
        const pairs = [];
        for (const [one, other] of data.examples.map(e => e.map(i => texts.get(i)))) {
            explain(one, other);
            const n = [...$("features").querySelectorAll("h3")].map(h => h.textContent);
            pairs.push([one.text, other.text, n]);
        }
        return pairs;
    })()""")
    for one, other, said in pairs:
        counts = connection.execute("""
            SELECT count(*) FILTER (WHERE a.feature = b.feature),
                count(*) FILTER (WHERE b.feature IS NULL),
                count(*) FILTER (WHERE a.feature IS NULL)
            FROM simhash_features(%s) AS a FULL JOIN simhash_features(%s) AS b
                ON a.feature = b.feature""", (one, other)).fetchone()
        names = ('Both', 'Only the first', 'Only the second')
        expect('features', said, [
            '%s: %s feature%s' % (name, format(n, ','), '' if n == 1 else 's')
            for name, n in zip(names, counts) if n])
    say('features of %d pairs' % len(pairs))


def look_at_face(browser):
    """Width, contrast, names, keys, paper."""
    for width in (380, 1280):
        browser.resize(width)
        expect('width at %d' % width, browser.run(
            'document.documentElement.scrollWidth'), width)
    for scheme in ('light', 'dark'):
        browser.media(prefers_color_scheme=scheme)
        ratio, where = browser.run(CONTRAST)
        if ratio < 4.5:
            raise Failed('contrast %.2f, %s: %s' % (ratio, scheme, where))
    expect('unlabelled', browser.run("""[...document.querySelectorAll(
        "input, select, button")].filter(e => !(e.labels && e.labels.length) &&
        !e.textContent.trim()).length"""), 0)
    # every thing to use is reached by Tab, and can be seen to be
    browser.run('document.activeElement.blur()')
    reached = set()
    for _ in range(200):
        browser.press('Tab')
        now = browser.run('document.activeElement.id ||'
                          ' document.activeElement.tagName')
        if now == 'BODY':
            break
        reached.add(now)
    expect('reached', {'INPUT', 'review-left', 'review-right', 'sql', 'apply', 'undo',
                       'k', 'BUTTON', 'member', 'left', 'right'}
           <= reached, True)
    browser.run('$("clusters").querySelectorAll("button")[1].focus()')
    browser.press('Enter')
    expect('focus', browser.run('document.activeElement.id'), 'title')
    browser.media('print')
    expect('on paper', browser.run(
        'getComputedStyle($("k").parentElement).display'), 'none')
    browser.media()
    say('width, contrast, names, keys, paper')


def look_at_part(browser, connection, path):
    """A page that holds a part says so, and is exact for its own k."""
    write(path, **COMMON, K='4', HELD='60', MEMBERS='3')
    browser.open(path, READY)
    clusters, rows, size = by_sql(connection, 'fp', 4, '')
    expect('exact', browser.run('[view.clusters, view.redundant, view.freed]'),
           [clusters, rows, size])
    expect('told', 'more than a page should hold' in
           browser.run('$("notes").textContent'), True)
    expect('more', browser.run('$("more").textContent'), 'and %d more rows' % (
        browser.run('view.largest[0].rows') - 3))
    browser.run('choose(3)')
    browser.wait('document.documentElement.dataset.k === "3"')
    expect('told', 'counts only' in browser.run('$("what").textContent'), True)
    say('a page of a part')


def look_at_little(browser, path):
    """A page without a cluster, and one about which little is known."""
    write(path, TABLE='(SELECT * FROM %s WHERE body IS NULL) AS t' % TABLE,
          ID='"Key 2"', SIMILARITY='none')
    browser.open(path, READY)
    expect('nothing', browser.run('$("what").textContent'),
           'No two rows are within 3 bits.')
    write(path, **dict(COMMON, TABLE=TABLE + ' AS t'))
    browser.open(path, READY)
    expect('bytes', browser.run('document.body.innerText.match(/[0-9] (bytes|kB)/)'),
           None)
    expect('no plan', browser.run('[$("sql").offsetParent, $("review-what").textContent'
                                  '.startsWith("Give")]'), [None, True])
    say('pages without clusters, bytes or a plan')


def look_at_documents(browser, connection, path, dice):
    """A page whose documents are compared: both sliders, and pairs."""
    connection.execute('CREATE TABLE alike (id int, body text, fp bigint'
                       ' GENERATED ALWAYS AS (minhash(body)) STORED)')
    for n in range(400):
        body = [w + str(n % 40) for w in dice.choice(TEXTS[:10]).split(' ')] * 3
        body = [w + str(i) for i, w in enumerate(body)]
        for _ in range(dice.randrange(6)):
            body[dice.randrange(len(body))] = dice.choice(TEXTS[7:9])
        connection.execute('INSERT INTO alike VALUES (%s, %s)',
                           (n, ' '.join(body)))
    connection.commit()
    for k, least in ((12, '0.8'), (9, '.625'), (16, '1')):
        write(path, TABLE='alike', K=str(k), SIMILARITY='jaccard', **(
            {} if least == '0.8' else {'AT_LEAST': least}))
        browser.open(path, READY)
        wanted = list(connection.execute("""
            SELECT count(DISTINCT cluster), count(*) FILTER (WHERE id <> representative)
            FROM simhash_clusters('SELECT id, fp, body FROM alike', %s, 'star',
                document => 'body', similarity => 'jaccard', at_least => %s)""", (k, least)).fetchone())
        expect('exact', browser.run('[view.clusters, view.redundant]'), wanted)
        # of the pairs that it holds the page makes the same
        same = """(v => [v.clusters, v.redundant, v.freed, v.sizes, v.distances,
            v.similarities])"""
        expect('from pairs', browser.run('%s(alike(data.k, begun))' % same),
               browser.run('%s(exact)' % same))
        expect('drawn', browser.run('$("random").tBodies[0].rows.length'),
               min(20, wanted[0]))
    browser.run('choose(12, .7)')
    browser.wait('document.documentElement.dataset.least === "0.7"')
    expect('told', browser.run('$("what").textContent.startsWith("What if: about ")'), True)
    browser.run('$("least").focus()')
    browser.press('ArrowRight')
    browser.wait('document.documentElement.dataset.least === "0.71"')
    # pairs on both sides of the border, with their similarities and their texts
    pairs = browser.run("""[...$("examples-least").querySelectorAll("button")].map(b => {
        b.click();
        return [b.nextSibling.data, $("left").textContent !== "",
            $("other").textContent.includes(b.nextSibling.data.split(", ")[1])];
    })""")
    expect('pairs', [len(pairs) > 3, all(p[1] and p[2] for p in pairs)], [True, True])
    for said, _, _ in pairs:
        expect(said, float(re.search('similarity ([0-9.]+)', said)[1]) >= .71,
               said.endswith('enough'))
    browser.media()
    browser.resize(380)
    expect('width', browser.run('document.documentElement.scrollWidth'), 380)
    write(path, TABLE='alike', K='12', SIMILARITY='none')
    browser.open(path, READY)
    expect('an estimate', browser.run('[$("estimate").hidden, $("similar").hidden]'),
           [False, True])
    say('documents that are compared')


# What keys may hold.
KEYS = (
    'plain', "it's", '{a,"b"}', 'back\\slash\\u0041', '', 'NULL', ' spaces  ', "'; DROP TABLE x; --",
    '</script><script>document.title = "bad"</script>', ':name :\'name\' \\gexec', '$1 $$ $a$',
    'a\nnew line\tand\r\x01', 'turned \u202ednuora\u202c\u200b\ufeff\u3000\u2028', 'é 近 👩\u200d👧\u3164 \U000e0041',
    'long ' * 500, 'E\'', '"', '\\', '\\\'', '--')


def fill_reviewed(execute):
    """Of each key a form with other numbers, and a row that goes; and an edited text."""
    execute("CREATE TABLE \"re'viewed\" (\"K\" text, n int, born int, body text,"
            ' fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, PRIMARY KEY ("K", n))')
    for at, value in enumerate(KEYS):
        for n in range(1, 6):
            body = ['word%dx%d' % (word, at) for word in range(40)]
            body += ['<b>', 'costs', '%d.5' % max(1, n - 1)] + ['more'] * (n == 2)
            execute('INSERT INTO "re\'viewed" VALUES (%s, %s, %s, %s)',
                    (value, n, -n, ' '.join(body)))
    for n in range(1, 21):
        body = ['term' + chr(97 + word // 26) + chr(97 + word % 26) for word in range(120)]
        if n > 16:
            body[4 * n - 54] = 'other' + chr(80 + n)
        del body[-n:]
        execute('INSERT INTO "re\'viewed" VALUES (%s, %s, %s, %s)',
                ('edited', n, -n, ' '.join(body)))


def plan_of(execute, more=''):
    """The plan in the order of the page."""
    return execute("""SELECT gone, kept, doubt, CASE WHEN size > 1 THEN family END
        FROM (SELECT *, CASE WHEN family IS NULL THEN 1
                        ELSE count(*) OVER (PARTITION BY family, doubt) END AS size
            FROM simhash_dedup_plan('"re''viewed"', 'fp', keep => 'born DESC' %s)) AS p
        ORDER BY doubt IS NULL, size DESC, CASE WHEN size > 1 THEN family END, doubt,
            similarity, distance DESC, gone""" % more).fetchall()


def tick(browser, families):
    """Tick by keys: of three families one as a whole, one a row of."""
    goes = []
    browser.run('$("plan").querySelector("input").focus()')
    for at, (size, doubted) in enumerate(families):
        family = [not doubted] * size
        if size > 1:
            if at % 3 == 0:
                browser.press(' ')
                family = [doubted] * size
            browser.press('ArrowDown')
        for row in range(size):
            if row == 0 and at % 3 == 1:
                browser.press(' ')
                family[row] = doubted
            browser.press('ArrowDown')
        goes += family
    expect('goes', browser.run('reviewed.map(r => r.goes)'), goes)
    return goes


def look_at_review(browser, connection, path):
    """What the reader ticks goes, by SQL that he copies, and nothing else."""
    execute = connection.execute
    fill_reviewed(execute)
    connection.commit()

    def rows():
        found = set(execute('SELECT r::text FROM "re\'viewed" AS r').fetchall())
        connection.commit()
        return found

    def run(sql, **settings):
        options = ' '.join('-c %s=%s' % one for one in settings.items())
        return subprocess.run(
            ['psql', '-X', '-At', '-v', 'ON_ERROR_STOP=1', '-d', connection.info.dbname],
            input=sql, text=True, capture_output=True, check=True,
            env=dict(os.environ, PGOPTIONS=options)).stdout

    write(path, TABLE='"re\'viewed"', ID='"K", n', KEEP='born DESC', MEMBERS='3', K='12')
    browser.open(path, READY)
    plan = plan_of(execute, ', k => 12')
    connection.commit()
    # of a family the page has three
    wanted = [line for at, line in enumerate(plan) if line[3] is None or
              sum(line[2:] == other[2:] for other in plan[:at]) < 3]
    with open('src/compare/judge.c', encoding='utf-8') as file:
        named = re.search(r'simhash_doubts\[\] = \{(.*?)\}', file.read(), re.DOTALL).group(1)
    expect('doubts explained', browser.run('Object.keys(doubts).sort()'),
           sorted(re.findall(r'"(\w+)"', named)))
    expect('doubts', {(doubt, family is None) for _, _, doubt, family in wanted},
           {(None, False), ('entries', False), (None, True)})
    expect('the plan', browser.run('reviewed.map(r => [r.gone, r.kept, r.doubt, r.number])'),
           [list(line) for line in wanted])
    expect('exact', browser.run('view.redundant'),
           sum(doubt is None for _, _, doubt, _ in plan))
    expect('ticked', browser.run('[...document.querySelectorAll("#plan tr:not(.family) input")]'
                                 '.map(i => i.checked)'),
           [doubt is None for _, _, doubt, _ in wanted])
    expect('cut', browser.run('Math.max(...[...document.querySelectorAll("bdi, option")]'
                              '.map(e => e.textContent.length)) < 300'), True)
    expect('keys unseen', browser.run(r'[...document.querySelectorAll("bdi")].filter(e =>'
                                      r' /[\p{C}\p{DI}]/u.test(e.textContent)).length'), 0)
    # each row shows its texts, what goes beside what stays
    wrong = browser.run("""reviewed.filter((r, i) => {
        document.querySelectorAll("#plan tr:not(.family) input")[i].focus();
        return $("review-left").textContent !== texts.get(r.goneId).text ||
            $("review-right").textContent !== texts.get(r.keptId).text ||
            $("review-right").querySelector("b");
    }).length""")
    expect('texts', wrong, 0)
    families = browser.run('families.map(rows => [rows.length, rows[0].doubt !== null])')
    goes = dict(zip((str(line[:2]) for line in wanted), tick(browser, families)))
    # rows of a family that the page has not go with those that it has, if these are one
    gone, apart = [], []
    for line in plan:
        shown = [goes[str(other[:2])] for other in wanted
                 if line[3] is not None and other[2:] == line[2:]] or [None]
        doubted = line[2] is not None
        unseen = shown[0] if len(set(shown)) == 1 else not doubted
        if goes.get(str(line[:2]), unseen):
            gone.append(line[0])
        elif not doubted:
            apart.append(line[:2])
    sql = browser.run('$("sql").textContent')
    for code in (sql, browser.run('$("apply").textContent'), browser.run('$("undo").textContent')):
        expect('nothing unseen', re.findall('[^\n -~\u00a1-\uffff\U00010000-\U0001ffff]', code), [])
        expect('nothing turned', re.findall('[\u200b-\u202e\u3000\ufeff]', code), [])
    browser.run('$("sql").nextElementSibling.querySelector("button").click()')
    expect('selected', browser.run('getSelection().toString().trim()'), sql)
    before = rows()
    # whatever strings mean
    old = connection.info.server_version < 190000
    for settings in {'standard_conforming_strings': 'off'} if old else {}, {}:
        execute('DROP TABLE IF EXISTS re_viewed_apart, %s' % browser.run('data.calls.plan'))
        connection.commit()
        expect('told', run(sql, **settings).strip().split('\n')[-1], str(len(gone)))
        expect('only a plan', rows(), before)
        expect('told', browser.run('$("ticked").textContent').split(' ')[0], str(len(gone)))
        expect('goes', sorted(execute("SELECT gone FROM %s WHERE coalesce(doubt, 'no') = 'no'" %
                                      browser.run('data.calls.plan')).fetchall()),
               sorted((keys,) for keys in gone))
        expect('apart', sorted(execute('SELECT gone, kept FROM re_viewed_apart').fetchall()),
               sorted(apart))
        connection.commit()
    run(browser.run('$("apply").textContent'))
    left = set(execute('SELECT "K", n::text FROM "re\'viewed"').fetchall())
    expect('what went', [keys for keys in gone if tuple(keys) in left], [])
    expect('how many', len(left), len(before) - len(gone))
    run(browser.run('$("undo").textContent'))
    expect('what came back', rows(), before)
    # if the plan is not made, nothing is removed
    subprocess.run(['psql', '-X', '-d', connection.info.dbname], check=True, capture_output=True,
                   text=True, input=sql.replace('INSERT', 'INSRET').replace('_plan_', '_other_')
                   + browser.run('$("apply").textContent').replace('_plan_', '_other_'))
    expect('nothing', rows(), before)
    # what is apart is in no page that is told so
    write(path, TABLE='"re\'viewed"', ID='"K", n', KEEP='born DESC', K='12',
          APART='re_viewed_apart', REVIEWED='3')
    browser.open(path, READY)
    plan = plan_of(execute, ", k => 12, apart => 're_viewed_apart'")
    connection.commit()
    expect('none of these', [line for line in plan if line[:2] in apart], [])
    expect('exact', browser.run('view.redundant'), sum(line[2] is None for line in plan))
    expect('some', browser.run('[reviewed.length, $("review-what").textContent.includes("unseen"),'
                               ' $("sql").textContent.includes("apart => ")]'), [3, True, True])
    browser.resize(380)
    expect('width', browser.run('document.documentElement.scrollWidth'), 380)
    ratio, where = browser.run(CONTRAST)
    expect('contrast %s' % where, ratio >= 4.5, True)
    say('the review: %d go, %d are apart' % (len(gone), len(apart)))


def look_at_latin(browser, work):
    """A database in another encoding."""
    path = os.path.join(work, 'latin.html')
    database = 'check_page_latin'
    with new_database(database, '-T', 'template0', '-E', 'LATIN1',
                      '--locale=C'):
        with psycopg.connect(dbname=database) as latin:
            latin.execute("CREATE EXTENSION simhash")
            latin.execute("CREATE TABLE \"Größe\" AS SELECT n AS id,"
                          " 'déjà vu, ça va' AS body, 5::bigint AS fp"
                          " FROM generate_series(1, 2) AS n")
            latin.commit()
        write(path, TABLE='"Größe"', PGDATABASE=database,
              PGCLIENTENCODING='LATIN1')
        browser.open(path, READY)
        expect('text', browser.run('$("left").textContent'), 'déjà vu, ça va')
        expect('name', browser.run('$("table").textContent'), '"Größe"')
    say('a database in LATIN1')


def look(browser, connection, work, dice):
    """All of it."""
    path = os.path.join(work, 'page.html')
    for variables, fp, within in (
            ({'K': '3'}, 'fp', ''), ({'K': '7', 'UPTO': '7'}, 'fp', ''),
            ({'K': '4', 'WITHIN': '"Site"'}, 'fp', '"Site"'),
            ({'K': '9', 'FP': 'wide'}, 'wide', '')):
        write(path, **COMMON, **variables)
        browser.open(path, READY)
        look_at_numbers(browser, connection, path, fp, within)
    write(path, **COMMON, K='5')
    browser.open(path, READY)
    look_at_texts(browser)
    look_at_features(browser, connection)
    look_at_face(browser)
    look_at_part(browser, connection, path)
    look_at_little(browser, path)
    look_at_documents(browser, connection, path, dice)
    look_at_review(browser, connection, path)
    look_at_latin(browser, work)
    expect('what the browser complains of', browser.errors, [])


def check_policy():
    """The page runs no script but its own, which its policy knows by a hash."""
    with open(os.path.join(ROOT, 'share', 'report.html'), encoding='utf-8') as page:
        text = page.read()
    script, = re.findall('<script>(.*?)</script>', text, re.DOTALL)
    expect('the policy', re.findall("script-src '([^']*)'", text), ['sha256-' +
           base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()])


def main():
    """The whole test."""
    seed = int(os.environ.get('SIMHASH_SEED') or random.randrange(1 << 31))
    database = 'check_page'
    try:
        check_policy()
        browser = Browser()
    except FileNotFoundError:
        print('.. skipped: no Chromium to look at the page with')
        return 0
    except Failed as failure:
        print('FAIL ' + str(failure))
        return 1
    print('seed %d' % seed)
    os.environ['PGDATABASE'] = database
    try:
        with browser, tempfile.TemporaryDirectory() as work, \
                new_utf8_database(database), \
                psycopg.connect(dbname=database) as connection:
            dice = random.Random(seed)
            fill(connection, dice)
            look(browser, connection, work, dice)
    except Failed as failure:
        print('FAIL ' + str(failure))
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
