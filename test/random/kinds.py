#!/usr/bin/env python3
"""
Kinds of texts of which rows would go that a person would keep, and real
duplicates among them; test/t/038_kinds.pl has the server.

usage: kinds.py CONNECTION SEED

A kind has three variants, each a table of texts that have nothing to do with each
other, but for light edits of some: two typos, other punctuation, case or line
breaks, a sentence more or less.  With a simhash and a minhash column, the plan of
simhash_dedup_plan may take no row for one of another origin, and has to take the
edits that the fingerprints find and that are similar enough (Jaccard .8).

SPDX-License-Identifier: PostgreSQL
"""

import json
import random
import re
import sys

import psycopg

FIRST = ('Ann Bob Carla Dmitri Elena Fatima Georg Hana Ivan Jia Kofi Lars Maria '
         'Nils Olga Pavel Qin Rosa Sven Tara Uma Viktor Wen Xenia Yusuf Zoe').split()
LAST = ('Adams Baker Chen Diaz Evans Fischer Garcia Hansen Ito Jones Kim Lopez '
        'Meyer Novak Olsen Patel Quinn Rossi Smith Tanaka Ueda Vogel Wang Xu '
        'Young Zimmer').split()
CITY = 'Berlin Paris Osaka Lima Cairo Quito Oslo Delhi Accra Turin'.split()
SYLLABLES = ('ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo za bra cle '
             'dri fro glu ste pli kwo').split()


def vocabulary(rng, n):
    words = set()
    while len(words) < n:
        words.add(''.join(rng.choice(SYLLABLES)
                          for _ in range(rng.randint(1, 4))))
    return sorted(words)


def prose(rng, words, n):
    """Sentences of some words."""
    text, left = [], n
    while left > 0:
        size = min(left, rng.randint(6, 18))
        text.append(' '.join(rng.choices(words, k=size)).capitalize())
        left -= size
    return '. '.join(text) + '.'


def typos(rng, text):
    words = text.split(' ')
    long = [i for i, w in enumerate(words) if len(w) > 4 and w.isalpha()]
    for i in rng.sample(long, min(2, len(long))):
        at = rng.randrange(1, len(words[i]) - 1)
        words[i] = words[i][:at - 1] + words[i][at] + words[i][at - 1] + \
            words[i][at + 1:]
    return ' '.join(words)


def wrap(text):
    return '\n'.join(re.findall(r'(?:\S+\s*){1,7}', text))


def added(text):
    return text + ' Written down by the editors.'


def dropped(text):
    sentences = re.split(r'(?<=\.)\s+', text)
    return ' '.join(sentences[:-1]) if len(sentences) > 8 else added(text)


# Edits of prose; of others only those that leave what is in them.
EDITS = (typos, lambda _, t: re.sub(r'[,;:]| -|\.$', '', t),
         lambda _, t: t.upper(), lambda _, t: wrap(t), lambda _, t: added(t),
         lambda _, t: dropped(t))
PLAIN = (lambda _, t: t.upper(), lambda _, t: wrap(t), lambda _, t: t.lower() + '.')


# --- the kinds: (texts, edits of them, how many are edited) -------------------

def person(rng, more):
    record = {'name': rng.choice(FIRST) + ' ' + rng.choice(LAST),
              'born': '%d-%02d-%02d' % (rng.randint(1940, 2005),
                                        rng.randint(1, 12), rng.randint(1, 28)),
              'city': rng.choice(CITY)}
    if more > 0:
        record.update(email='%s%d@example.org' % (rng.choice(FIRST).lower(),
                                                  rng.randint(1, 999)),
                      active=rng.random() < .5)
    if more > 1:
        record.update(phone='+49 %d' % rng.randint(10**6, 10**8), plan='basic',
                      language=rng.choice(('en', 'de', 'fr')), notes=None)
    return record


def records(rng, words, variant):
    return [json.dumps([person(rng, variant) for _ in range(size)])
            for size in range(1, 9) for _ in range(20)], PLAIN, 20


def measures(rng, words, variant):
    """Days of sensors, logs, tables of numbers, answers, sequences."""
    return {0: sensors, 1: logs, 2: numbers}[variant](rng), PLAIN, 10


def sensors(rng):
    days = []
    for _ in range(60):
        value, day = rng.uniform(15, 25), []
        for _ in range(288):
            value += rng.uniform(-.3, .3)
            day.append('temp %.1f ok' % value)
        days.append('\n'.join(day))
    return days


def logs(rng):
    paths = ('/', '/index.html', '/login', '/api/v1/items', '/static/app.js',
             '/cart', '/search')
    return ['\n'.join('10.0.0.%d GET %s %d' % (
        rng.randint(1, 20), rng.choice(paths), rng.choice((200, 200, 304, 404)))
        for _ in range(300)) for _ in range(60)]


def numbers(rng):
    return [' '.join(str(rng.randint(0, 30)) for _ in range(2000))
            for _ in range(60)]


ANSWERS = ('strongly agree', 'agree', 'neutral', 'disagree', 'strongly disagree')


def surveys(rng, words, variant):
    form = ('Q%d: %s', '%.0s%s', '%d) %s;')[variant]
    return ['\n'.join(form % (i, rng.choice(ANSWERS)) for i in range(1, 200))
            for _ in range(60)], PLAIN, 10


def questions(rng, words, variant):
    """Of one form, whose answers hardly move a fingerprint."""
    asked = [prose(rng, words, (14, 20, 30)[variant]) for _ in range(20)]
    return ['\n'.join(q + ' ' + rng.choice(('Yes', 'No', 'Maybe')) for q in asked)
            for _ in range(200)], EDITS[:4], 20


def states(rng, words, variant):
    """Few states, one after the other."""
    form, n = ((('yes', 'no'), 500), (('door open', 'door closed'), 400),
               (('client connected', 'request sent to backend', 'backend timed out',
                 'worker stopped'), 300))[variant]
    return ['\n'.join(rng.choices(form, k=n)) for _ in range(60)], PLAIN, 10


def exchanged(rng, words, variant):
    """The same values, of others in the list, with the same words around each."""
    form = ('{"user": "%s", "role": "%s"}', 'host %s: state %s', '%s,has,%s,here')[variant]
    texts = set()
    for _ in range(10):
        names = rng.sample(words, 12)
        values = [words[0]] * 2 + [words[1]] * 4 + [words[2]] * 6
        for _ in range(6):
            rng.shuffle(values)
            texts.add('\n'.join(form % pair for pair in zip(names, values)))
    return sorted(texts), PLAIN, 10


def sequences(rng, words, variant):
    size, letters = ((3000, 'acgt'), (9000, 'acgt'), (3000, 'ACGTN'))[variant]
    return [''.join(rng.choices(letters, k=size)) for _ in range(40)], (
        lambda _, t: t.swapcase(), lambda r, t: change(r, t, 20)), 10


def change(rng, text, n):
    for _ in range(n):
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice('acgt') + text[at + 1:]
    return text


def boilerplate(rng, words, variant):
    shared, own, n = ((800, 60, 700), (400, 60, 400), (1500, 150, 300))[variant]
    text = prose(rng, words, shared)
    place = rng.randint(0, 2)
    return [(text + '\n' + prose(rng, words, own)) if place else
            (prose(rng, words, own) + '\n' + text) for _ in range(n)], \
        EDITS[:4], n // 9


SYMBOLS = (
    ('The C compiler of the collection, with all of its headers',
     'The C++ compiler of the collection, with all of its headers',
     'The C# compiler of the collection, with all of its headers'),
    ('The balance of the account was -18.5 in the end of the month',
     'The balance of the account was 18.5 in the end of the month'),
    ('One ticket costs $40 for a day in town, two days are cheaper',
     'One ticket costs €40 for a day in town, two days are cheaper',
     'One ticket costs £40 for a day in town, two days are cheaper'),
    ('if (left < right && low > high) return left - right;',
     'if (left > right && low < high) return left + right;',
     'if (left < right || low > high) return left * right;'),
    ('Growth of the whole market was +5 % in the last quarter',
     'Growth of the whole market was -5 % in the last quarter'),
    ('Release 2.3.0 of the library mends what was found in the old one',
     'Release 2.4.1 of the library mends what was found in the old one',
     'Release 3.0 of the library mends what was found in the old one'),
    ('x += first * 2; y = second / 4; z = x & y;',
     'x -= first / 2; y = second * 4; z = x | y;'),
    ('SELECT a FROM b WHERE c = 5 AND d >= 7 ORDER BY e',
     'SELECT a FROM b WHERE c <> 5 AND d <= 7 ORDER BY e'),
    ('temperatures of 20° and of 30° were measured in the two rooms',
     'temperatures of 20% and of 30% were measured in the two rooms'),
)


def symbols(rng, words, variant):
    texts = [t for group in SYMBOLS for t in group]
    if variant == 1:
        texts = [prose(rng, words, 30) + ' ' + t + ' ' for t in texts]
        head = {t: prose(rng, words, 60) for t in range(len(SYMBOLS))}
        texts = [head[i] + ' ' + t for i, g in enumerate(SYMBOLS) for t in g]
    if variant == 2:
        texts = []
        for _ in range(30):
            code = '\n'.join('v%d %s v%d %s v%d;' % (
                rng.randint(0, 9), rng.choice(('+=', '-=', '*=')), rng.randint(0, 9),
                rng.choice('+-*/<>'), rng.randint(0, 9))
                for _ in range(rng.randint(8, 60)))
            at = rng.choice([i for i, c in enumerate(code) if c in '+-*/<>'])
            texts += [code, code.translate(str.maketrans('+-*/<>', '-+/*><')),
                      code[:at] + ('+' if code[at] != '+' else '-') + code[at + 1:]]
        texts = list(dict.fromkeys(texts))
    return texts, (lambda _, t: t.upper(), lambda _, t: t.replace(' ', '\n')), 8


def padding(rng, words, variant):
    texts = []
    for _ in range(20):
        size, long, times = ((400, 20, 400), (1000, 60, 30), (200, 8, 9))[variant]
        victim, advert = prose(rng, words, size), prose(rng, words, long)
        texts += [victim, (advert + ' ') * times + victim,
                  victim + ' ' + (advert + ' ') * times]
        texts += [advert] if variant == 1 else []
    # what is padded before and after its victim is much the same
    origins = []
    for i in range(len(texts)):
        size = 4 if variant == 1 else 3
        origins.append((i // size, (0, 1, 1, 2)[i % size]))
    return texts, EDITS, 0, origins


def plain(rng, words, variant):
    size = (60, 150, 600)[variant]
    return [prose(rng, words, size) for _ in range(150)], EDITS, 150


def templates(rng, words, variant):
    """Several texts that some rows share each, so that most rows share none."""
    number = (2, 4, 8)[variant]
    shared = [prose(rng, words, 800) for _ in range(number)]
    return [rng.choice(shared) + '\n' + prose(rng, words, 60)
            for _ in range(50 * number)], EDITS[:4], 20


KINDS = (('records', records), ('measures', measures), ('surveys', surveys),
         ('questions', questions), ('states', states), ('exchanged', exchanged), ('sequences', sequences),
         ('shared text', boilerplate), ('several shared texts', templates),
         ('symbols', symbols), ('padding', padding), ('prose', plain))


# --- the judge ---------------------------------------------------------------

def fill(connection, rng, kind, variant):
    words = vocabulary(rng, 2000)
    texts, edits, edited, *more = kind(rng, words, variant)
    origins = more[0] if more else range(len(texts))
    rows = [(str(o), text) for o, text in zip(origins, texts)]
    copies = [(str(o), rng.choice(edits)(rng, text))
              for o, text in rng.sample(rows, min(edited, len(rows)))]
    profile = "'char-3'" if kind is sequences else 'NULL'
    connection.execute('DROP TABLE IF EXISTS kind')
    connection.execute(
        'CREATE TABLE kind (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, '
        'origin text, copy boolean, body text, simhash bigint GENERATED ALWAYS AS '
        '(simhash(body%s)) STORED, minhash bigint GENERATED ALWAYS AS '
        '(minhash(body%s)) STORED)' % ((', ' + profile,) * 2 if kind is sequences
                                       else ('', '')))
    with connection.cursor().copy(
            'COPY kind (origin, copy, body) FROM STDIN') as copy:
        for origin, text in rows:
            copy.write_row((origin, False, text))
        for origin, text in copies:
            copy.write_row((origin, True, text))
    return profile


def one(connection, rng, name, kind, variant):
    """Returns whether nothing wrong goes, of how many right ones how many go."""
    profile = fill(connection, rng, kind, variant)
    right = gone = 0
    good = True
    for column in ('simhash', 'minhash'):
        wrong, doubts, chance = connection.execute(
            "SELECT count(*) FILTER (WHERE g.origin <> k.origin AND doubt IS NULL), "
            "count(doubt), max(needed) FROM simhash_dedup_plan('kind', '%s') "
            "JOIN kind AS g ON g.id = gone[1]::integer "
            "JOIN kind AS k ON k.id = kept[1]::integer" % column).fetchone()
        measure = 'cosine' if column == 'simhash' else 'jaccard'
        alone = connection.execute(
            "SELECT count(*) FILTER (WHERE g.origin <> k.origin) "
            "FROM simhash_dedup_plan('kind', '%s', similarity => '%s') "
            "JOIN kind AS g ON g.id = gone[1]::integer "
            "JOIN kind AS k ON k.id = kept[1]::integer" % (column, measure)
        ).fetchone()[0]
        near, went = connection.execute(
            "WITH plan AS MATERIALIZED (SELECT gone[1]::integer AS id FROM "
            "simhash_dedup_plan('kind', '{0}') WHERE doubt IS NULL) "
            "SELECT count(*), count(*) FILTER (WHERE c.id IN (SELECT id FROM plan)) "
            "FROM kind AS c JOIN kind AS o ON o.origin = c.origin AND NOT o.copy "
            "AND c.copy AND hamming(c.{0}, o.{0}) <= 8 "
            "AND simhash_jaccard(c.body, o.body, {1}) >= .8".format(
                column, profile)).fetchone()
        print('%s %d, %s: %d wrong rows go (%d by %s), %d of %d copies, %d doubts; '
              '%.3f is needed' % (name, variant + 1, column, wrong, alone, measure,
                                  went, near, doubts, chance or 0))
        good = good and wrong == 0
        right, gone = right + near, gone + went
    return good, right, gone


def stays(connection):
    """An update of a counter does not change which row stays."""
    connection.execute(
        "DROP TABLE IF EXISTS kind; CREATE TABLE kind (id integer PRIMARY KEY, "
        "seen integer DEFAULT 0, body text, fp bigint GENERATED ALWAYS AS "
        "(minhash(body)) STORED)")
    connection.execute(
        "INSERT INTO kind (id, body) SELECT i, 'of all the texts this is the one that "
        "is there again and again ' || i / 10 FROM generate_series(0, 99) AS i")
    plans = []
    for _ in range(3):
        plans.append(connection.execute(
            "SELECT gone, kept FROM simhash_dedup_plan('kind', 'fp') ORDER BY 1"
        ).fetchall())
        connection.execute('UPDATE kind SET seen = seen + 1 WHERE id % 3 = 0')
    return plans[0] == plans[1] == plans[2] and len(plans[0]) >= 90


def guard(connection, rng):
    """The victim of padding is let in where the guard asks whether rows are alike."""
    connection.execute(
        "DROP TABLE IF EXISTS kind; CREATE TABLE kind (body text, fp bigint "
        "GENERATED ALWAYS AS (minhash(body)) STORED); "
        "CREATE INDEX ON kind USING hamming (fp); "
        "CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON kind FOR EACH ROW "
        "EXECUTE FUNCTION simhash_guard('fp', 'reject', '8', 'similarity=alike')")
    words = vocabulary(rng, 2000)
    refused = 0
    for _ in range(20):
        victim, advert = prose(rng, words, 400), prose(rng, words, 20)
        for text in ((advert + ' ') * 400 + victim, victim):
            try:
                connection.execute('INSERT INTO kind (body) VALUES (%s)', (text,))
            except psycopg.errors.UniqueViolation:
                refused += 1
    return refused


def main():
    seed = int(sys.argv[2])
    only = sys.argv[3:]
    connection = psycopg.connect(sys.argv[1], autocommit=True)
    good, right, gone = True, 0, 0
    for name, kind in KINDS:
        for variant in range(3):
            if only and name not in only:
                continue
            rng = random.Random('%d.%s.%d' % (seed, name, variant))
            fine, r, g = one(connection, rng, name, kind, variant)
            good, right, gone = good and fine, right + r, gone + g
    order = stays(connection)
    refused = guard(connection, random.Random(seed))
    print('an update changes which row stays: %s; victims refused: %d' % (
        not order, refused))
    print('round of seed %d: %d of %d copies go' % (seed, gone, right))
    sys.exit(not (good and order and refused == 0 and gone >= .92 * right))


if __name__ == '__main__':
    main()
