#!/usr/bin/env python3
"""
How well passages find what one document quotes from another.

usage: tools/stage python3 bench/passages.py FOLDER [WORDS ...]

FOLDER has files *.jsonl.xz, an object with a "text" on each line.  Passages of
some of these documents are edited lightly (of a hundred words two are replaced,
left out, or followed by another one) and set into manual pages of this machine,
of 2,000 words; found is one that has a passage within distance k of a passage
of its source.  WORDS are values of simhash_passages' "words" to compare, 25
when there are none.  Then all pairs of some of the documents and manual pages
are compared with those pairs that share near passages.

SPDX-License-Identifier: PostgreSQL
"""

import glob
import gzip
import json
import lzma
import os
import random
import re
import subprocess
import sys
from itertools import islice

SEED = int(os.environ.get('SIMHASH_SEED', '1'))
SIZES = (40, 60, 100, 150, 300)     # words quoted
RATES = (0, .02)                    # of words edited
TRIALS = 200                        # of each
HOST = 2000                         # words
DOCUMENTS = 700                     # of the files, whose pairs are compared ...
MANUALS = int(os.environ.get('MANUALS', 0))     # ... with so many manual pages
LEAST = 200                         # words of such documents
DISTANCES = (0, 3, 6, 8, 10)
WORD = re.compile(r'\w+\W*')


def psql(commands):
    """Run SQL; returns its rows."""
    done = subprocess.run(['psql', '-XqAt', '-F', '\t', '-v', 'ON_ERROR_STOP=1'],
                          input=commands, stdout=subprocess.PIPE, check=True,
                          text=True)
    return [line.split('\t') for line in done.stdout.splitlines()]


def field(text):
    """A field as COPY reads it."""
    return (text.replace('\\', '\\\\').replace('\t', '\\t')
            .replace('\n', '\\n').replace('\r', '\\r'))


def load(table, rows):
    """Fill a table."""
    psql('\n'.join(['COPY %s FROM STDIN;' % table] +
                   ['\t'.join(field(str(value)) for value in row)
                    for row in rows] + ['\\.', '']))


def documents(folder):
    """The different texts of the files in a folder."""
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, '*.jsonl.xz'))):
        with lzma.open(path, 'rt', encoding='utf-8') as lines:
            for line in lines:
                found.setdefault(json.loads(line)['text'], len(found))
    return list(found)


def manuals(source, least):
    """Manual pages of this machine, as lists of at least so many words."""
    paths = sorted(glob.glob('/usr/share/man/man*/*.gz'))
    source.shuffle(paths)
    for path in paths:
        with gzip.open(path, 'rt', encoding='utf-8', errors='replace') as page:
            text = ''.join(line for line in page if not line.startswith("."))
        words = WORD.findall(text.replace('\x00', ''))
        if len(words) >= least:
            yield words


def edit(words, rate, others, source):
    """Edit some of the words."""
    result = []
    for word in words:
        if source.random() >= rate:
            result.append(word)
            continue
        kind = source.randrange(3)
        if kind != 0:
            result.append(source.choice(others))
        if kind == 2:
            result.append(word)
    return result


def plant(texts, source):
    """Quotes set into manual pages: trial, size, rate, host, place, text."""
    split = [words for words in map(WORD.findall, texts) if len(words) > 600]
    vocabulary = [word for words in split for word in words]
    hosts = [words[:HOST] for words in islice(manuals(source, HOST), 500)]
    rows = []
    for size in SIZES:
        for rate in RATES:
            for _ in range(TRIALS):
                words = source.choice(split)
                at = source.randrange(len(words) - size)
                quote = edit(words[at:at + size], rate, vocabulary, source)
                host = source.choice(hosts)
                to = source.randrange(len(host))
                before = ''.join(host[:to])
                inside = ''.join(quote)
                rows.append((len(rows), size, rate,
                             before + inside + ''.join(host[to:]),
                             len(before) + 1, len(inside), ''.join(words)))
    return rows


def recall(words):
    """Print how many quotes are found, with passages of so many words."""
    rows = psql('''
        WITH h AS MATERIALIZED (
            SELECT trial, p.fp
            FROM planted, LATERAL simhash_passages(host, words => %d) AS p
            WHERE p.start < place + chars AND p.start + p.length > place),
        s AS MATERIALIZED (
            SELECT trial, p.fp
            FROM planted, LATERAL simhash_passages(origin, words => %d) AS p),
        d AS (SELECT trial, min(h.fp <~> s.fp) AS d
            FROM h JOIN s USING (trial) GROUP BY trial)
        SELECT size, rate, %s
        FROM planted LEFT JOIN d USING (trial) GROUP BY 1, 2 ORDER BY 1, 2;'''
        % (words, words,
           ', '.join('round(avg((coalesce(d, 99) <= %d)::int), 3)' % k
                     for k in DISTANCES)))
    print('words %d: quotes found' % words)
    for row in rows:
        print('  %4s words, %4s edited: ' % tuple(row[:2]) +
              '  '.join('k=%d %s' % pair for pair in zip(DISTANCES, row[2:])),
              flush=True)


def bigrams(words):
    """The features of the default profile, but for scripts without spaces."""
    return set(zip(words, words[1:]))


def shared_words(a, b):
    """How many words of b are in a run of five that a has, too."""
    runs = set(zip(*(a[i:] for i in range(5))))
    covered = set()
    for at in range(len(b) - 4):
        if tuple(b[at:at + 5]) in runs:
            covered.update(range(at, at + 5))
    return len(covered)


def all_pairs(texts, words, k):
    """Compare the pairs that passages find with all pairs."""
    source = random.Random(SEED)
    texts = [text for text in texts if len(WORD.findall(text)) >= LEAST]
    texts = source.sample(texts, min(len(texts), DOCUMENTS))
    texts += [''.join(words) for words in islice(manuals(source, LEAST), MANUALS)]
    split = [re.findall(r'\w+', text.lower()) for text in texts]
    chosen = range(len(texts))
    sets = {i: bigrams(split[i]) for i in chosen}
    psql('''DROP TABLE IF EXISTS texts, passages;
        CREATE TABLE texts (id int, body text);
        CREATE TABLE passages (id int, nr int, length int, n int, fp bigint);''')
    load('texts', [(i, texts[i]) for i in chosen])
    found = {(int(a), int(b)): float(share) for a, b, share in psql('''
        INSERT INTO passages SELECT id, nr, length, cardinality(
                regexp_split_to_array(substr(body, start, length), '\\W+')), fp
            FROM texts, LATERAL simhash_passages(body, words => %d);
        CREATE INDEX ON passages USING hamming (fp);
        ANALYZE passages;
        SET enable_seqscan = off;
        SELECT a, b, sum(length)::float / (
                SELECT sum(length) FROM passages WHERE id = a)
        FROM (SELECT DISTINCT p.id AS a, q.id AS b, p.nr, p.length
            FROM passages AS p JOIN passages AS q ON q.fp <@ (p.fp, %d)
                AND q.id <> p.id) AS near
        GROUP BY a, b;''' % (words, k))}
    alike = {}
    for a in chosen:
        for b in chosen:
            if a != b and sets[a]:
                share = len(sets[a] & sets[b]) / len(sets[a])
                if share >= .5:
                    alike[a, b] = share
    pairs = len(chosen) * (len(chosen) - 1)
    print('words %d, k=%d: %d documents, %d ordered pairs, %d of containment'
          ' >= .5' % (words, k, len(chosen), pairs, len(alike)))
    for least in (0, .02, .05, .1, .2, .3):
        kept = {pair for pair, share in found.items() if share >= least}
        print('  share >= %.2f: %d candidates, %.0f times fewer, recall %.4f'
              % (least, len(kept), pairs / max(len(kept), 1),
                 sum(pair in kept for pair in alike) / max(len(alike), 1)))
    false_pairs(split, k)


def false_pairs(split, k):
    """Print how many pairs said to share 100 words share fewer than 20."""
    said = psql('''
        SET enable_seqscan = off;
        SELECT a, b FROM (SELECT DISTINCT p.id AS a, q.id AS b, p.nr, p.n
            FROM passages AS p JOIN passages AS q ON q.fp <@ (p.fp, %d)
                AND q.id <> p.id) AS near
        GROUP BY a, b HAVING sum(n) >= 100;''' % k)
    wrong = 0
    for a, b in random.Random(SEED).sample(said, min(len(said), 4000)):
        wrong += shared_words(split[int(b)], split[int(a)]) < 20
    print('  %d pairs share 100 words by passages; of %d of them, %d share'
          ' fewer than 20' % (len(said), min(len(said), 4000), wrong), flush=True)


def main(arguments):
    """The command line."""
    source = random.Random(SEED)
    print('seed', SEED)
    texts = documents(arguments[0])
    psql('''CREATE EXTENSION IF NOT EXISTS simhash;
        DROP TABLE IF EXISTS planted;
        CREATE TABLE planted (trial int, size int, rate numeric, host text,
            place int, chars int, origin text);''')
    load('planted', plant(texts, source))
    for words in arguments[1:] or ['25']:
        recall(int(words))
        for k in (3, 6):
            all_pairs(texts, int(words), k)


if __name__ == '__main__':
    main(sys.argv[1:])
