#!/usr/bin/env python3
"""
How far edits of code move its fingerprint, by words and by symbols.

usage: tools/stage python3 bench/code_edits.py [DIRECTORY]

DIRECTORY has Python programs, /usr/lib/python3.11 unless told.  Of some of their
functions each is edited: laid out anew, an operator changed, a number changed, a
local name changed throughout, all of them, a line left out, the comments and the
documentation left out.  Prints a table of mean distances by profile and family; and
how many pairs of different functions are within a distance, and how many of these
are alike: have half of their tokens in common, in order.

SPDX-License-Identifier: PostgreSQL
"""

import ast
import collections
import difflib
import glob
import io
import os
import random
import sys
import textwrap
import tokenize

from passages import load, psql

SEED = int(os.environ.get('SIMHASH_SEED', '1'))
FUNCTIONS = 400                 # that are edited
COMPARED = 4000                 # of which all pairs are
LINES = (6, 80)                 # of a function
PROFILES = ('word-2-capped', 'symbol-2-capped', 'symbol-3', 'symbol-1-2')
OPERATORS = {'+': '-', '-': '+', '*': '/', '/': '*', '<': '<=', '<=': '<',
             '>': '>=', '>=': '>', '==': '!=', '!=': '==', '+=': '-=', '-=': '+=',
             '&': '|', '|': '&', '<<': '>>', '>>': '<<', '%': '//', '//': '%'}
LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT,
          tokenize.ENCODING, tokenize.ENDMARKER)


def functions(folder):
    """The functions of the programs in a folder, as text."""
    for path in sorted(glob.glob(os.path.join(folder, '**', '*.py'),
                                 recursive=True)):
        if '/test' in path or 'lib2to3' in path:
            continue
        with open(path, encoding='utf-8', errors='replace') as file:
            source = file.read()
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        lines = source.splitlines()
        for node in ast.walk(tree):
            if (isinstance(node, ast.FunctionDef) and
                    LINES[0] <= node.end_lineno - node.lineno < LINES[1]):
                yield textwrap.dedent('\n'.join(
                    lines[node.lineno - 1:node.end_lineno]))


def tokens(text):
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def replaced(text, changes):
    """The text with tokens replaced, where they stand."""
    lines = text.split('\n')
    for token, new in sorted(changes, key=lambda c: c[0].start, reverse=True):
        (row, start), (_, end) = token.start, token.end
        line = lines[row - 1]
        lines[row - 1] = line[:start] + new + line[end:]
    return '\n'.join(lines)


def locals_of(text):
    """Names that the function gives values, and the tokens that are these."""
    tree = ast.parse(text)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and
             isinstance(node.ctx, ast.Store)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    places = collections.defaultdict(list)
    before = ''
    for token in tokens(text):
        if token.type == tokenize.NAME and token.string in names - {'self'} and (
                before != '.'):
            places[token.string].append(token)
        before = token.string
    return places


def laid_out(text, source):
    """Indented by two, nothing between tokens that need nothing."""
    result, column, row = '', 0, 1
    for token in tokens(text):
        if token.start[0] > row:
            line = token.line[:token.start[1]]
            row, column = token.start[0], token.start[1]
            result += ' ' * (len(line) // 2) if not line.strip() else ''
        gap = token.start[1] > column
        if gap and (result[-1:] + token.string[:1]).replace('_', 'a').isalnum():
            result += ' '
        result += token.string if token.type not in LAYOUT else (
            '\n' if token.type in (tokenize.NEWLINE, tokenize.NL) else '')
        row, column = token.end
    return result


def operator(text, source):
    found = [token for token in tokens(text) if token.type == tokenize.OP and
             token.string in OPERATORS]
    token = source.choice(found)
    return replaced(text, [(token, OPERATORS[token.string])])


def number(text, source):
    found = [token for token in tokens(text) if token.type == tokenize.NUMBER]
    return replaced(text, [(source.choice(found), '77')])


def one_name(text, source):
    places = locals_of(text)
    return replaced(text, [(token, 'other') for token in
                           places[source.choice(sorted(places))]])


def all_names(text, source):
    places = locals_of(text)
    return replaced(text, [(token, 'other%s' % chr(97 + n % 26))
                           for n, name in enumerate(sorted(places))
                           for token in places[name]])


def line_out(text, source):
    lines = text.split('\n')
    del lines[source.randrange(1, len(lines))]
    return '\n'.join(lines)


def comments_out(text, source):
    tree = ast.parse(text)
    body = tree.body[0].body
    changes = [(token, '') for token in tokens(text)
               if token.type == tokenize.COMMENT]
    lines = replaced(text, changes).split('\n')
    if ast.get_docstring(tree.body[0]) is not None:
        lines[body[0].lineno - 1:body[0].end_lineno] = []
    result = '\n'.join(lines)
    return result if result != text else None


EDITS = (('laid out anew', laid_out), ('an operator', operator),
         ('a number', number), ('a line left out', line_out),
         ('a local name', one_name), ('all local names', all_names),
         ('comments left out', comments_out))


def edited(texts, source):
    for text in texts[:FUNCTIONS]:
        for name, edit in EDITS:
            try:
                other = edit(text, source)
            except (IndexError, SyntaxError, tokenize.TokenError):
                continue
            if other is not None:
                yield name, text, other


def alike(a, b):
    """Half of the tokens in common?"""
    both = [[token.string for token in tokens(text) if token.type not in LAYOUT]
            for text in (a, b)]
    match = difflib.SequenceMatcher(None, *both, autojunk=False)
    return match.ratio() >= .5


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else '/usr/lib/python3.11'
    source = random.Random(SEED)
    texts = sorted(set(functions(folder)))
    source.shuffle(texts)
    psql('SET client_min_messages = warning;'
         'CREATE EXTENSION IF NOT EXISTS simhash;'
         'DROP TABLE IF EXISTS edits, code;'
         'CREATE TABLE edits (kind text, a text, b text);'
         'CREATE TABLE code (id int, body text)')
    load('edits', edited(texts, source))
    load('code', list(enumerate(texts[:COMPARED])))
    columns = [(family, profile) for profile in PROFILES
               for family in ('simhash', 'minhash')]
    print('| edit | functions |' + ''.join(' %s %s |' % (f, p) for f, p in columns))
    print('| --- | --- |' + ' --- |' * len(columns))
    for kind, _ in EDITS:
        row = psql('SELECT count(*), %s FROM edits WHERE kind = \'%s\'' % (
            ', '.join("round(avg({0}(a, '{1}') <~> {0}(b, '{1}')), 1)".format(*c)
                      for c in columns), kind))[0]
        print('| %s | %s |' % (kind, ' | '.join(row)))
    known = {}
    for k in (3, 8):
        row = []
        for family, profile in columns:
            pairs = psql("SELECT a, b FROM simhash_pairs('SELECT id, %s(body, "
                         "''%s'') FROM code', %d)" % (family, profile, k))
            good = 0
            for a, b in pairs:
                if (a, b) not in known:
                    known[a, b] = alike(texts[int(a)], texts[int(b)])
                good += known[a, b]
            row.append('%d, %.2f alike' % (len(pairs), good / max(1, len(pairs))))
        print('| pairs within %d | %d | %s |' % (k, COMPARED, ' | '.join(row)))


if __name__ == '__main__':
    main()
