#!/usr/bin/env python3
"""
See that a text that is laid out in another way is alike to itself.

Pieces of the project's own files, programs, pages, scripts, are indented, quoted once or
twice, boxed as a comment, put in a fence, written with other ends of lines, other
blanks, blank lines between all lines or none, blanks at the ends of lines, and, where
they are prose, wrapped and with other quotes and bullets.  simhash_alike() has to say
that each is alike, but for one of 500: a line that has but "+" is an operator, and a
piece of two lines may be but signs.

SIMHASH_ROUNDS is how many pieces (150), SIMHASH_SEED as for check_generator.py.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import glob
import os
import random
import re
import sys
import textwrap

sys.dont_write_bytecode = True
import psycopg
from database import new_utf8_database

ROUNDS = int(os.environ.get('SIMHASH_ROUNDS', 150))
SEED = int(os.environ.get('SIMHASH_SEED', random.randrange(1, 1 << 30)))
SHOWN = 5
FILES = ('src/**/*.[ch]', 'docs/*.md', '*.md', 'test/**/*.py', 'sql/*.sql',
         'bench/*.[cs]*', 'tools/*')
LINES = (2, 10, 30, 80)         # of a piece


def lines(before, text):
    return re.sub('^', before, text, flags=re.M)


def wrapped(text):
    """The paragraphs of prose, of other widths."""
    def wrap(paragraph):
        rows = paragraph.split('\n')
        prose = len(rows) > 1 and all(len(row) > 60 for row in rows[:-1]) and \
            all(re.match(r'[A-Za-z]', row) for row in rows)
        return textwrap.fill(' '.join(rows), 50) if prose else paragraph
    return '\n\n'.join(wrap(part) for part in re.split(r'\n\s*\n', text))


LAYOUTS = {
    'indented': lambda text: lines('    ', text),
    'quoted': lambda text: lines('> ', text),
    'quoted twice': lambda text: lines('>> ', text),
    'boxed': lambda text: '/*\n%s\n */' % lines(' * ', text),
    'lisp': lambda text: lines(';; ', text),
    'TeX': lambda text: lines('% ', text),
    'fenced': lambda text: '```\n%s\n```' % text,
    'DOS': lambda text: text.replace('\n', '\r\n'),
    'no-break': lambda text: text.replace(' ', '\u00a0'),
    'double': lambda text: text.replace('\n', '\n\n'),
    'single': lambda text: re.sub(r'\n\s*\n', '\n', text),
    'trailing': lambda text: re.sub('$', '  ', text, flags=re.M),
    'wrapped': wrapped,
    'bullets': lambda text: re.sub(r'^(\s*)- ', '\\1* ', text, flags=re.M),
    'curly': lambda text: re.sub(r'"(\w[^"\n]*\w)"', '\u201c\\1\u201d', text),
    'marked': lambda text: '\ufeff' + text,
}


def pieces(rng):
    """Some lines of a file, without those that are cut within a comment."""
    names = sorted(name for pattern in FILES for name in glob.glob(pattern, recursive=True)
                   if os.path.isfile(name))
    while True:
        with open(rng.choice(names), encoding='utf-8', errors='ignore') as file:
            rows = file.read().split('\n')
        count = rng.choice(LINES)
        start = rng.randrange(max(1, len(rows) - count))
        text = '\n'.join(rows[start:start + count]).strip('\n')
        if len(re.findall(r'\w{3,}', text)) > 5 and '\0' not in text:
            yield text


def main():
    print('SIMHASH_SEED=%d' % SEED)
    source = pieces(random.Random(SEED))
    pairs = []
    for _ in range(ROUNDS):
        text = next(source)
        pairs += [(name, text, layout(text)) for name, layout in LAYOUTS.items()]
    failed = collections.Counter()
    with new_utf8_database('check_layout'), \
            psycopg.connect(dbname='check_layout', autocommit=True) as connection:
        connection.execute('CREATE EXTENSION simhash')
        for name, a, b in pairs:
            alike, back = connection.execute(
                'SELECT simhash_alike(%s, %s), simhash_alike(%s, %s)',
                (a, b, b, a)).fetchone()
            if not alike or not back:
                failed[name] += 1
                if sum(failed.values()) <= SHOWN:
                    print('%s: not alike\n%s\n' % (name, a))
    for name, count in sorted(failed.items()):
        print('%-12s %d of %d' % (name, count, ROUNDS))
    print('%d pairs, %d failed' % (len(pairs), sum(failed.values())))
    return sum(failed.values()) > 1 + len(pairs) // 500


if __name__ == '__main__':
    sys.exit(main())
