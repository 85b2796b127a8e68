#!/usr/bin/python3
"""
Precision and recall of every profile, on sets of documents; and which share of
light edits each finds.

usage: bench/quality.py DRIVER EDITS RESULTS [SET...]

DRIVER is bench/quality.c and EDITS bench/edits.c, compiled; RESULTS is where
the files go, without their endings. What the driver cannot compute, TF-IDF and
the like, is computed by bench/quality.sh on a private server, with PG_CONFIG;
JIEBA in the environment is a file of words and weights for it. A SET is
NAME=PATH[@PREFIX][:PROFILE:THRESHOLD]. The file at PATH, which may end in .xz,
has a JSON object a line: id, text, and cluster. With @PREFIX only ids that
begin so are read. With :PROFILE:THRESHOLD two documents are alike when the
Jaccard similarity of their features by PROFILE is at least THRESHOLD, else
when they have the same cluster. The project's own data/licenses and data/poems
are always measured.

Only distinct texts count: identical copies have identical fingerprints, and
would only inflate recall.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import json
import lzma
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data')
K = range(17)
SHOWN = (3, 6, 8, 10, 12)
VERIFIED = (8, 16, 20)
BANDS = 20                      # of the Jaccard similarity
LENGTHS = ('under 250 bytes', '250 to 999', '1000 to 3999', '4000 and more')
DETAILED = (('simhash', 'word-2'), ('simhash', 'word-2-capped'),
            ('minhash', 'word-2'))
PEERS = ('python-simhash', 'seomoz-shingle', 'clickhouse')
PLOTTED = {('simhash', 'word-2'): '#1f77b4',
           ('simhash', 'word-2-capped'): '#e31ab3',
           ('simhash', 'word-1-2'): '#2ca02c',
           ('simhash', 'word-1'): '#d62728',
           ('simhash', 'char-4'): '#9467bd',
           ('minhash', 'word-2'): '#ff7f0e',
           ('peer', 'python-simhash'): '#8c8c8c',
           ('peer', 'seomoz-shingle'): '#444444',
           ('peer', 'clickhouse-word-shingle'): '#bbaa00',
           ('weights', 'word-1, idf'): '#d62728',
           ('weights', 'word-2, idf, top 100'): '#1f77b4',
           ('weights', 'tsvector english'): '#17becf',
           ('weights', 'ICU words, jieba'): '#e377c2'}
DASHES = {'peer': '2 2', 'weights': '6 3'}
DRAWS = 4                       # of the hash function
TEXTS = 100                     # of a set, that are edited
LIGHT = ('source', 'advert', 'drop', 'replace', 'words', 'characters')
KINDS = LIGHT + ('cut', 'move', 'case', 'template')
WITHIN = (3, 5, 8, 12)
EDITED = ('under 400 characters', '400 to 1499', '1500 to 5999',
          '6000 and more')
# Their precision is judged by itself; see docs/quality.md.
APART = ('npm', 'licences', 'records')

# What is known of a set
Measured = collections.namedtuple(
    'Measured', 'name count truth recipes curves edits stable')


# Sets of documents

def lines(path):
    """The lines of a text file, compressed or not."""
    opener = lzma.open if path.endswith('.xz') else open
    with opener(path, 'rt', encoding='utf-8', newline='\n') as stream:
        yield from stream


def read_json(path, prefix):
    """Clusters and texts of a file of JSON objects."""
    for line in lines(path):
        row = json.loads(line)
        if str(row['id']).startswith(prefix):
            yield row.get('cluster', row['id']), row['text']


def read_copy(path, column):
    """Texts of a file in the format of COPY, each in a cluster of its own."""
    escapes = {'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f',
               'v': '\v'}
    for number, line in enumerate(lines(path)):
        field = line.rstrip('\n').split('\t')[column]
        parts = field.split('\\\\')
        for i, part in enumerate(parts):
            for letter, character in escapes.items():
                part = part.replace('\\' + letter, character)
            parts[i] = part
        yield number, '\\'.join(parts)


def parse_set(argument):
    """A set of the command line: name, documents, how pairs are labelled."""
    name, _, rest = argument.partition('=')
    path, *truth = rest.split(':')
    path, _, prefix = path.partition('@')
    return name, read_json(path, prefix), truth


def sets(arguments):
    """All sets."""
    yield from map(parse_set, arguments)
    yield ('licences', read_copy(os.path.join(DATA, 'licenses.tsv.xz'), 1),
           ['word-3', '0.8'])
    yield ('poems', read_copy(os.path.join(DATA, 'poems.tsv.xz'), 3),
           ['word-2', '0.5'])


# Measuring

def distinct(documents):
    """Clusters, as numbers, and texts as bytes, each text once."""
    clusters, seen = {}, {}
    for cluster, text in documents:
        text = text.encode()
        if text not in seen:
            seen[text] = clusters.setdefault(cluster, len(clusters))
    return [(number, text) for text, number in seen.items()]


def is_chinese(documents):
    """True when most letters are Chinese characters."""
    text = b''.join(text for _, text in documents).decode()
    return 2 * len(re.findall('[\u4e00-\u9fff]', text)) > \
        len(re.findall(r'[^\W\d_]', text))


def write_copy(path, documents):
    """The documents in the format of COPY."""
    chinese = b't' if is_chinese(documents) else b'f'
    with open(path, 'wb') as stream:
        for number, (_, text) in enumerate(documents):
            for character, escaped in ((b'\\', b'\\\\'), (b'\n', b'\\n'),
                                       (b'\r', b'\\r'), (b'\t', b'\\t')):
                text = text.replace(character, escaped)
            stream.write(b'%d\t%s\t%s\n' % (number, chinese, text))


def fingerprint(measured, directory):
    """Have bench/quality.sh compute fingerprints by SQL."""
    for name, documents, _ in measured:
        write_copy(os.path.join(directory, name + '.copy'), documents)
    if os.environ.get('JIEBA'):
        shutil.copy(os.environ['JIEBA'], os.path.join(directory, 'idf.txt'))
    os.chmod(directory, 0o755)
    subprocess.run(['tools/stage', 'bench/quality.sh', directory], check=True,
                   cwd=os.path.dirname(DATA), env=dict(os.environ,
                                                       OUT=directory))


def drive(command, documents):
    """The rows that a program prints about documents."""
    feed = b''.join(b'%d %d\n%s\n' % (number, len(text), text)
                    for number, text in documents)
    output = subprocess.run(command, input=feed, check=True,
                            stdout=subprocess.PIPE)
    return [line.split('\t') for line in output.stdout.decode().splitlines()]


def measure(driver, documents, truth, fingerprints):
    """Rows of each draw: recipe, and the numbers that follow."""
    rows = drive([driver, fingerprints, str(DRAWS)] + truth, documents)
    draws = [[] for _ in range(DRAWS)]
    for r in rows:
        draws[int(r[0])].append((kind(*r[1:3]),) + tuple(map(int, r[3:])))
    return draws


def measure_edits(driver, documents):
    """Of each recipe rows of kind, length class, distance, copies."""
    result = {}
    for r in drive([driver, str(DRAWS), str(TEXTS)], documents):
        result.setdefault((r[0], r[1]), []).append(
            (r[2],) + tuple(map(int, r[3:])))
    return result


def found(rows, k, keep=lambda row: True):
    """The share of the copies within distance k, or None if there are none."""
    kept = [r for r in rows if keep(r)]
    copies = sum(r[3] for r in kept)
    return sum(r[3] for r in kept if r[2] <= k) / copies if copies else None


def light(rows, k, keep=lambda row: True):
    """The mean of that over the light edits."""
    shares = [found(rows, k, lambda r: r[0] == name and keep(r))
              for name in LIGHT]
    shares = [share for share in shares if share is not None]
    return mean(shares) if shares else None


def mean(values):
    """The mean."""
    values = list(values)
    return sum(values) / len(values)


def stable(draws):
    """Of each recipe the lowest precision at 3 and 8, and the mean best F1."""
    curves = [{r: curve(rows)[0] for r, rows in by_recipe(draw).items()}
              for draw in draws]
    return {recipe: (min(c[recipe][3][0] for c in curves),
                     min(c[recipe][8][0] for c in curves),
                     mean(max(p[2] for p in c[recipe]) for c in curves))
            for recipe in curves[-1]}


def kind(family, profile):
    """A recipe by what it is: of a family, of a peer, or of weights."""
    if profile.startswith(PEERS):
        return 'peer', profile
    if re.search('[ ,]', profile):
        return 'weights', profile
    return family, profile


def curve(rows, keep=lambda row: True):
    """Of each k: precision, recall and F1; and how many pairs are alike."""
    alike = sum(r[5] for r in rows if r[1] and keep(r))
    result = []
    for k in K:
        found = [sum(r[5] for r in rows
                     if r[1] == label and r[4] <= k and keep(r))
                 for label in (0, 1)]
        precision = found[1] / sum(found) if sum(found) else 1.0
        recall = found[1] / alike if alike else 0.0
        both = precision + recall
        result.append((precision, recall,
                       2 * precision * recall / both if both else 0.0))
    return result, alike


def verified(rows, k):
    """
    The best F1 if pairs within k are compared exactly, by their Jaccard
    similarity, and the similarity to ask for.
    """
    alike = sum(r[5] for r in rows if r[1])
    found = [[0] * (BANDS + 1) for _ in range(2)]
    for row in rows:
        if row[4] <= k:
            found[row[1]][row[2]] += row[5]
    best = (0.0, 0.0)
    for band in range(1, BANDS + 1):
        right, wrong = sum(found[1][band:]), sum(found[0][band:])
        if right:
            best = max(best, (2 * right / (right + wrong + alike),
                              band / BANDS))
    return best


def by_recipe(rows):
    """The rows of each recipe: a family and a profile."""
    result = {}
    for row in rows:
        result.setdefault(row[0], []).append(row)
    return result


# Tables

def main_table(curves, recipes):
    """
    Precision and recall at some k, and the best F1, of every recipe; and the
    best F1 of what is found within some k and verified.
    """
    yield '| family | profile | ' + ' | '.join(
        'R (P) at %d' % k for k in SHOWN) + ' | best F1 | at k | ' + ' | '.join(
            'verified within %d' % k for k in VERIFIED) + ' |'
    yield '| --- ' * (len(SHOWN) + 4 + len(VERIFIED)) + '|'
    for (family, profile), points in curves.items():
        best = max(K, key=lambda k: points[k][2])
        yield '| %s | %s | %s | %.3f | %d | %s |' % (
            family, profile, ' | '.join(
                '%.3f (%.3f)' % (points[k][1], points[k][0]) for k in SHOWN),
            points[best][2], best, ' | '.join(
                '%.3f' % verified(recipes[family, profile], k)[0]
                for k in VERIFIED))


def recall_table(title, names, recipes, key, width=1):
    """Recall at 3, 8 and 12 of the pairs alike of each class."""
    yield '| %s | pairs | ' % title + ' | '.join(
        '%s %s: 3, 8, 12' % recipe for recipe in DETAILED) + ' |'
    yield '| --- ' * (len(DETAILED) + 2) + '|'
    for value, name in enumerate(names):
        cells = []
        for recipe in DETAILED:
            points, alike = curve(recipes[recipe],
                                  lambda row: row[1] and row[key] // width == value)
            cells.append(' '.join('%.2f' % points[k][1] for k in (3, 8, 12)))
        if alike:
            yield '| %s | %d | %s |' % (name, alike, ' | '.join(cells))


def choice_table(measured):
    """What the default profile is chosen by."""
    yield ('| family | profile | ' + ' | '.join(
        'edits within %d' % k for k in WITHIN) + ' | lowest P at 3 | at 8 | '
           'mean best F1 |')
    yield '| --- ' * (len(WITHIN) + 5) + '|'
    for recipe in measured[0].edits:
        judged = [m.stable[recipe] for m in measured if m.name not in APART]
        yield '| %s | %s | %s | %.3f | %.3f | %.3f |' % (
            *recipe, ' | '.join('%.3f' % mean(
                light(m.edits[recipe], k) for m in measured) for k in WITHIN),
            min(s[0] for s in judged), min(s[1] for s in judged),
            mean(m.stable[recipe][2] for m in measured))


def edits_table(title, names, edits, keep):
    """The share of edits within 3, 5, 8 and 12 by a class of them."""
    yield '| %s | ' % title + ' | '.join('%s %s' % r for r in DETAILED) + ' |'
    yield '| --- ' * (len(DETAILED) + 1) + '|'
    for value, name in enumerate(names):
        shares = [[keep(edits[recipe], k, value) for k in WITHIN]
                  for recipe in DETAILED]
        if shares[0][0] is not None:
            yield '| %s | %s |' % (name, ' | '.join(
                ' '.join('%.2f' % share for share in row) for row in shares))


def edits_page(edits):
    """The tables of light edits of a set."""
    yield ('Light edits (%s): share within 3, 5, 8 and 12, mean of %d draws.'
           % (', '.join(LIGHT), DRAWS))
    yield ''
    yield '| family | profile | ' + ' | '.join(map(str, WITHIN)) + ' |'
    yield '| --- ' * (len(WITHIN) + 2) + '|'
    for recipe, rows in edits.items():
        yield '| %s | %s | %s |' % (*recipe, ' | '.join(
            '%.3f' % light(rows, k) for k in WITHIN))
    yield ''
    yield from edits_table('edit', KINDS, edits, lambda rows, k, i: found(
        rows, k, lambda r: r[0] == KINDS[i]))
    yield ''
    yield from edits_table('light edits of', EDITED, edits,
                           lambda rows, k, i: light(
                               rows, k, lambda r: r[1] == i))


def report(measured):
    """The page of results."""
    yield '# Precision and recall by profile'
    yield ''
    yield ('All pairs of distinct texts. R is recall, P is precision among '
           'the pairs within distance k; the best F1 is that over k = 0 to '
           '16. Verified are pairs within k whose exact Jaccard similarity '
           'by the default profile is as high as is best, in steps of .05. '
           'Peers are what other programs compute; weights are SimHash of '
           'features weighed in SQL: by idf learnt from the set itself, by '
           'the labels of a tsvector, as words cut by ICU. All k are in the '
           'file of the same name in .tsv.')
    yield ''
    yield ('Means over all sets: the share of light edits found within a '
           'distance; the lowest precision of %d draws of the hash function, '
           'on all sets but %s; the best F1.' % (DRAWS, ', '.join(APART)))
    yield ''
    yield from choice_table(measured)
    for name, count, truth, recipes, curves, edits, _ in measured:
        yield '\n## %s\n' % name
        alike = curve(next(iter(recipes.values())))[1]
        yield '%d distinct texts, %d pairs alike (%s).\n' % (
            count, alike, 'Jaccard similarity by %s of %s and up'
            % tuple(truth) if truth else 'by label')
        exact, least = verified(next(iter(recipes.values())), math.inf)
        yield ('By the exact Jaccard similarity of the default profile alone, '
               'best F1 %.3f, from %.2f up.\n' % (exact, least))
        yield from main_table(curves, recipes)
        yield ''
        yield from recall_table('Jaccard by the default profile',
                                ['.%d to .%d' % (t, t + 1) if t < 9 else
                                 '.9 to 1' if t < 10 else '1'
                                 for t in range(11)], recipes, 2, BANDS // 10)
        yield ''
        yield from recall_table('shorter document', LENGTHS, recipes, 3)
        yield ''
        yield from edits_page(edits)


# The plot

def stroke(recipe):
    """How the line of a recipe is drawn."""
    return 'stroke="%s" stroke-width="2" stroke-dasharray="%s"' % (
        PLOTTED[recipe], DASHES.get(recipe[0], 'none'))


def panel(name, curves, x, y):
    """F1 by k of some recipes, as SVG, in a field of 260 by 180."""
    yield '<g transform="translate(%d %d)">' % (x, y)
    yield '<text x="130" y="-8" class="title">%s</text>' % name
    for tenth in range(0, 11, 2):
        height = 180 - 18 * tenth
        yield '<path d="M0 %dH260" class="grid"/>' % height
        yield '<text x="-6" y="%d" class="left">.%d</text>' % (
            height + 4, tenth) if tenth < 10 else \
            '<text x="-6" y="%d" class="left">1</text>' % (height + 4)
    for k in range(0, 17, 4):
        yield '<text x="%d" y="196" class="below">%d</text>' % (k * 16.25, k)
    for recipe in PLOTTED:
        points = ' '.join('%.1f,%.1f' % (k * 16.25, 180 - 180 * point[2])
                          for k, point in enumerate(curves.get(recipe, ())))
        if points:
            yield '<polyline points="%s" %s/>' % (points, stroke(recipe))
    yield '</g>'


def plot(measured):
    """The whole plot, as SVG."""
    rows = (len(measured) + 2) // 3
    height = 250 * rows + 110
    yield ('<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="%d" '
           'viewBox="0 0 1000 %d">' % (height, height))
    yield ('<style>text{font:11px sans-serif;fill:#333}.title{font-weight:'
           'bold;text-anchor:middle}.left{text-anchor:end}.below{text-anchor:'
           'middle}.grid{stroke:#ddd}polyline{fill:none}'
           '</style><rect width="1000" height="%d" fill="#fff"/>' % height)
    yield '<text x="40" y="24">F1 of pairs within distance k, by k</text>'
    for i, (name, *_, curves, _, _) in enumerate(measured):
        yield from panel(name, curves, 50 + 320 * (i % 3), 64 + 250 * (i // 3))
    for i, recipe in enumerate(PLOTTED):
        x, y = 20 + 240 * (i % 4), height - 70 + 20 * (i // 4)
        yield '<path d="M%d %dh24" %s/>' % (x, y, stroke(recipe))
        yield '<text x="%d" y="%d">%s %s</text>' % ((x + 30, y + 4) + recipe)
    yield '</svg>'


def points_table(measured):
    """Every point of every curve."""
    yield 'set\tfamily\tprofile\tk\tprecision\trecall\tf1'
    for name, *_, curves, _, _ in measured:
        for recipe, points in curves.items():
            for k, point in enumerate(points):
                yield '\t'.join((name,) + recipe + (str(k),)
                                + tuple('%.4f' % value for value in point))


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) < 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    driver, editor, results = arguments[:3]
    loaded = [(name, distinct(documents), truth)
              for name, documents, truth in sets(arguments[3:])]
    measured = []
    with tempfile.TemporaryDirectory() as directory:
        fingerprint(loaded, directory)
        for name, documents, truth in loaded:
            draws = measure(driver, documents, truth,
                            os.path.join(directory, name + '.fingerprints'))
            recipes = by_recipe(draws[0])
            measured.append(Measured(
                name, len(documents), truth, recipes,
                {r: curve(rows)[0] for r, rows in recipes.items()},
                measure_edits(editor, documents), stable(draws)))
            print('measured', name, file=sys.stderr)
    for ending, page in (('.md', report), ('.svg', plot),
                         ('.tsv', points_table)):
        with open(results + ending, 'w', encoding='utf-8') as stream:
            stream.writelines(line + '\n' for line in page(measured))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
