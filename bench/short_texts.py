#!/usr/bin/env python3
"""
Which profile short texts need, and from what length a guard does without verifying.

usage: tools/stage python3 bench/short_texts.py DESCRIPTIONS CHINESE [FOLDER]

DESCRIPTIONS and CHINESE are files Translation-en and Translation-zh_CN of Debian,
the descriptions of its packages; FOLDER has files *.jsonl.xz, an object with a
"text" on each line.

First, titles (the first lines of descriptions), sentences (the first 80 to 250
characters of the rest) and couplets of the poems in data/: some are typed anew with
a slip, and looked up among all.  For each profile the share that is found within k,
and how many others per query; then with those alone whose Jaccard similarity by the
profile is large enough.

Then a guard: of all titles, paragraphs and documents, by their length, those that
have another one within the distance, and how many of these have none that is alike,
by the Jaccard similarity of their pairs of words.

SPDX-License-Identifier: PostgreSQL
"""

import lzma
import os
import random
import re
import sys

from passages import documents, load, psql

SEED = int(os.environ.get('SIMHASH_SEED', '1'))
ROWS = 20000                    # looked up among
QUERIES = 1200
SENTENCE = (80, 250)            # characters
OTHERS = (.1, 1)                # rows found besides, per query
PROFILES = ('word-1', 'word-1-2', 'word-2-capped', 'char-2', 'char-3', 'char-4',
            'char-5')
VERIFIED = (('word-1-2', 16), ('char-2', 10), ('char-3', 12), ('char-4', 12),
            ('char-4', 16))
AT_LEAST = (.4, .5, .6, .7, .8)
GUARDS = (('minhash', 3), ('minhash', 8), ('simhash', 3), ('simhash', 8))
LENGTHS = (0, 20, 40, 60, 80, 100, 120, 160, 200, 300, 400, 600, 1000)
FEATURES = (0, 4, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 100)


# The texts

def descriptions(path):
    """Titles, and the paragraphs of the rest, each once."""
    titles, paragraphs = {}, {}
    with open(path, encoding='utf-8') as file:
        for record in file.read().split('\n\n'):
            found = re.search(r'^Description-(?!md5)\w+: (.*)\n((?: .*\n?)*)',
                              record, re.M)
            if not found:
                continue
            titles.setdefault(found.group(1).strip(), None)
            for part in re.split(r'\n \.\n', found.group(2)):
                paragraphs.setdefault(' '.join(part.split()), None)
    paragraphs.pop('', None)
    return list(titles), list(paragraphs)


def couplets(path):
    """Pairs of verses of the poems, each once."""
    with lzma.open(path, 'rt', encoding='utf-8') as lines:
        return list(dict.fromkeys(
            part.strip() for line in lines
            for part in line.split('\t')[3].replace('\\n', '').split('\u3002')
            if len(part.strip()) >= 8))


def slip(text, kind, source):
    """A text as somebody else types it."""
    if ord(text[0]) >= 0x3000:
        words, between = list(text), ''
    else:
        words, between = text.split(), ' '
    at = source.randrange(len(words))
    if kind == 'a letter' and between:
        places = [n for n, letter in enumerate(text) if letter.isalpha()]
        place = source.choice(places)
        return text[:place] + source.choice('etaoinsr') + text[place + 1:]
    if kind == 'a word left out':
        del words[at]
    if kind == 'a word more':
        words.insert(at, source.choice(MORE[between]))
    if kind in ('another word', 'a letter'):
        words[at] = source.choice(MORE[between])
    if kind == 'two words exchanged':
        other = max(at - 1, 0)
        words[at], words[other] = words[other], words[at]
    if kind == 'two words joined':
        words[at:at + 2] = [''.join(words[at:at + 2])]
    return between.join(words)


MORE = {' ': ['the', 'new', 'simple', 'for', 'free'], '': '的一不人山'}
KINDS = ('a letter', 'a word left out', 'a word more', 'another word',
         'two words exchanged', 'two words joined')


# Looking up what was typed anew

def look_up(name, texts, source):
    """A table of recall and strangers by profile."""
    texts = [text for text in texts
             if len(text.split()) >= 3 or ord(text[0]) >= 0x3000]
    source.shuffle(texts)
    texts = texts[:ROWS]
    psql('SET client_min_messages = warning;'
         'DROP TABLE IF EXISTS rows, queries;'
         'CREATE TABLE rows (id int, body text);'
         'CREATE TABLE queries (id int, body text)')
    load('rows', list(enumerate(texts)))
    load('queries', [(n, slip(texts[n], KINDS[n % len(KINDS)], source))
                     for n in range(QUERIES)])
    length = sum(map(len, texts)) / len(texts)
    print('\n%s: %d texts of %.0f characters on average\n' % (
        name, len(texts), length))
    print('| | within 3 | within 8 | within 12 | with %s others |' %
          ' others | with '.join(map(str, OTHERS)))
    print('| --- | --- | --- | --- |' + ' --- |' * len(OTHERS))
    for profile in PROFILES:
        for family in ('simhash', 'minhash'):
            rows = psql("""
                WITH r AS MATERIALIZED (SELECT id, {0}(body, '{1}') AS fp FROM rows),
                q AS MATERIALIZED (SELECT id, {0}(body, '{1}') AS fp FROM queries)
                SELECT q.fp <~> r.fp, count(*) FILTER (WHERE q.id = r.id),
                    count(*) FILTER (WHERE q.id <> r.id)
                FROM q, r WHERE q.fp <~> r.fp <= 26 GROUP BY 1 ORDER BY 1
                """.format(family, profile))
            found, others, at, best = 0, 0, {}, {}
            counts = {int(k): (int(a), int(b)) for k, a, b in rows}
            for k in range(27):
                found += counts.get(k, (0, 0))[0] / QUERIES
                others += counts.get(k, (0, 0))[1] / QUERIES
                at[k] = '%.2f, %.2f' % (found, others)
                for limit in OTHERS:
                    if others <= limit:
                        best[limit] = '%.2f, %d' % (found, k)
            print('| %s %s | %s | %s | %s | %s |' % (
                family, profile, at[3], at[8], at[12],
                ' | '.join(best.get(limit, '') for limit in OTHERS)))
    print('\n| verified | distance |' + ''.join(
        ' at least %s |' % least for least in AT_LEAST))
    print('| --- | --- |' + ' --- |' * len(AT_LEAST))
    for profile, k in VERIFIED:
        rows = psql("""
            CREATE TEMP TABLE r AS SELECT *, minhash(body, '{0}') AS fp FROM rows;
            CREATE INDEX ON r USING hamming (fp);
            ANALYZE r;
            WITH near AS MATERIALIZED (
                SELECT q.id = r.id AS same,
                    simhash_jaccard(q.body, r.body, '{0}') AS jaccard
                FROM queries AS q JOIN r ON r.fp <@ (minhash(q.body, '{0}'), {1}))
            SELECT count(*) FILTER (WHERE same), count(*) FILTER (WHERE NOT same)
            FROM unnest(ARRAY[{2}]) AS t LEFT JOIN near ON jaccard >= t
            GROUP BY t ORDER BY t""".format(
                profile, k, ','.join(map(str, AT_LEAST))))
        print('| minhash %s | %d | %s |' % (profile, k, ' | '.join(
            '%.2f, %.2f' % (int(a) / QUERIES, int(b) / QUERIES) for a, b in rows)))


# Guards

def guarded(texts, by, limits, what):
    """Of texts by length: how many are refused, and wrongly."""
    print('\n| %s | texts |' % what + ''.join(
        ' %s, %d |' % guard for guard in GUARDS))
    print('| --- | --- |' + ' --- |' * len(GUARDS))
    table = []
    for family, k in GUARDS:
        table.append({int(row[0]): row[1:] for row in psql("""
            WITH refused AS (
                SELECT id, size, (SELECT max(similarity) FROM near
                    WHERE guard = '{1}{2}' AND b = id) AS similarity FROM texts)
            SELECT width_bucket({0}, ARRAY[{3}]) - 1, count(*), count(similarity),
                count(*) FILTER (WHERE similarity < .8),
                count(*) FILTER (WHERE similarity < .5),
                count(*) FILTER (WHERE similarity < .3)
            FROM texts JOIN refused USING (id) GROUP BY 1 ORDER BY 1
            """.format(by, family, k, ','.join(map(str, limits))))})
    for n, least in enumerate(limits):
        if n in table[0]:
            print('| %d | %s | %s |' % (least, table[0][n][0], ' | '.join(
                '%s %s %s %s' % tuple(part[n][1:]) for part in table)))


def guards(name, texts):
    psql('SET client_min_messages = warning;'
         'DROP TABLE IF EXISTS texts, near;'
         'CREATE TABLE texts (id int PRIMARY KEY, body text, size int);'
         'CREATE TABLE near (guard text, b int, similarity float8)')
    load('texts (id, body)', list(enumerate(texts)))
    psql("UPDATE texts SET size = (SELECT count(*) FROM simhash_features(body))")
    for family, k in GUARDS:
        psql("""
            INSERT INTO near
            SELECT '{0}{1}', greatest(a, b),
                simhash_jaccard(x.body, y.body)
            FROM simhash_pairs('SELECT id, {0}(body) FROM texts', {1}) AS p
                JOIN texts AS x ON x.id = a JOIN texts AS y ON y.id = b
            """.format(family, k))
    psql('CREATE INDEX ON near (guard, b); VACUUM ANALYZE near')
    print('\n%s\n' % name)
    print('Of texts from that length on: refused, of them those whose most similar '
          'row has a\nJaccard similarity below .8, .5 and .3')
    guarded(texts, 'length(texts.body)', LENGTHS, 'characters')
    guarded(texts, 'texts.size', FEATURES, 'pairs of words')


def main():
    source = random.Random(SEED)
    titles, paragraphs = descriptions(sys.argv[1])
    poems = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data',
                         'poems.tsv.xz')
    psql('SET client_min_messages = warning;'
         'CREATE EXTENSION IF NOT EXISTS simhash')
    look_up('Titles', titles, source)
    look_up('Sentences', [text[:SENTENCE[1]] for text in paragraphs
                          if len(text) >= SENTENCE[0]], source)
    look_up('Couplets', couplets(poems), source)
    texts = titles + paragraphs
    for folder in sys.argv[3:]:
        texts += documents(folder)
    texts = list(dict.fromkeys(texts))
    source.shuffle(texts)
    guards('Descriptions and documents', texts)
    chinese = sum(descriptions(sys.argv[2]), [])
    for folder in sys.argv[3:]:
        chinese += [line for text in documents(folder) for line in text.split('\n')]
    chinese = sorted({text for text in chinese
                      if len(re.findall('[\u4e00-\u9fff]', text)) > len(text) / 2})
    source.shuffle(chinese)
    guards('Chinese descriptions and lines of manuals', chinese)


if __name__ == '__main__':
    main()
