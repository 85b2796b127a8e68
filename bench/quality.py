#!/usr/bin/python3
"""
Precision and recall of every profile, on sets of documents.

usage: bench/quality.py DRIVER RESULTS [SET...]

DRIVER is bench/quality.c, compiled; RESULTS is where the files go, without
their endings. What the driver cannot compute, TF-IDF and the like, is computed
by bench/quality.sh on a private server, with PG_CONFIG; JIEBA in the
environment is a file of words and weights for it. A SET is
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

import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'data')
K = range(17)
SHOWN = (3, 6, 8, 10, 12)
LENGTHS = ('under 250 bytes', '250 to 999', '1000 to 3999', '4000 and more')
DETAILED = (('simhash', 'word-2'), ('simhash', 'word-1-2'),
            ('minhash', 'word-2'))
PEERS = ('python-simhash', 'seomoz-shingle', 'clickhouse')
PLOTTED = {('simhash', 'word-2'): '#1f77b4',
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


def measure(driver, documents, truth, fingerprints):
    """Rows of the driver: recipe, and the numbers that follow."""
    feed = b''.join(b'%d %d\n%s\n' % (number, len(text), text)
                    for number, text in documents)
    output = subprocess.run([driver, fingerprints] + truth, input=feed,
                            check=True, stdout=subprocess.PIPE)
    rows = [line.split('\t') for line in output.stdout.decode().splitlines()]
    return [(kind(*r[:2]),) + tuple(map(int, r[2:])) for r in rows]


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


def by_recipe(rows):
    """The rows of each recipe: a family and a profile."""
    result = {}
    for row in rows:
        result.setdefault(row[0], []).append(row)
    return result


# Tables

def main_table(curves):
    """Precision and recall at some k, and the best F1, of every recipe."""
    yield '| family | profile | ' + ' | '.join(
        'R (P) at %d' % k for k in SHOWN) + ' | best F1 | at k |'
    yield '| --- ' * (len(SHOWN) + 4) + '|'
    for (family, profile), points in curves.items():
        best = max(K, key=lambda k: points[k][2])
        yield '| %s | %s | %s | %.3f | %d |' % (
            family, profile, ' | '.join(
                '%.3f (%.3f)' % (points[k][1], points[k][0]) for k in SHOWN),
            points[best][2], best)


def recall_table(title, names, recipes, key):
    """Recall at 3, 8 and 12 of the pairs alike of each class."""
    yield '| %s | pairs | ' % title + ' | '.join(
        '%s %s: 3, 8, 12' % recipe for recipe in DETAILED) + ' |'
    yield '| --- ' * (len(DETAILED) + 2) + '|'
    for value, name in enumerate(names):
        cells = []
        for recipe in DETAILED:
            points, alike = curve(recipes[recipe],
                                  lambda row: row[1] and row[key] == value)
            cells.append(' '.join('%.2f' % points[k][1] for k in (3, 8, 12)))
        if alike:
            yield '| %s | %d | %s |' % (name, alike, ' | '.join(cells))


def report(measured):
    """The page of results."""
    yield '# Precision and recall by profile'
    yield ''
    yield ('All pairs of distinct texts. R is recall, P is precision among '
           'the pairs within distance k; the best F1 is that over k = 0 to '
           '16. Peers are what other programs compute; weights are SimHash of '
           'features weighed in SQL: by idf learnt from the set itself, by '
           'the labels of a tsvector, as words cut by ICU. All k are in the '
           'file of the same name in .tsv.')
    for name, count, truth, recipes, curves in measured:
        yield '\n## %s\n' % name
        alike = curve(next(iter(recipes.values())))[1]
        yield '%d distinct texts, %d pairs alike (%s).\n' % (
            count, alike, 'Jaccard similarity by %s of %s and up'
            % tuple(truth) if truth else 'by label')
        yield from main_table(curves)
        yield ''
        yield from recall_table('Jaccard by the default profile',
                                ['.%d to .%d' % (t, t + 1) if t < 9 else
                                 '.9 to 1' if t < 10 else '1'
                                 for t in range(11)], recipes, 2)
        yield ''
        yield from recall_table('shorter document', LENGTHS, recipes, 3)


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
    for i, (name, _, _, _, curves) in enumerate(measured):
        yield from panel(name, curves, 50 + 320 * (i % 3), 64 + 250 * (i // 3))
    for i, recipe in enumerate(PLOTTED):
        x, y = 20 + 240 * (i % 4), height - 70 + 20 * (i // 4)
        yield '<path d="M%d %dh24" %s/>' % (x, y, stroke(recipe))
        yield '<text x="%d" y="%d">%s %s</text>' % ((x + 30, y + 4) + recipe)
    yield '</svg>'


def points_table(measured):
    """Every point of every curve."""
    yield 'set\tfamily\tprofile\tk\tprecision\trecall\tf1'
    for name, _, _, _, curves in measured:
        for recipe, points in curves.items():
            for k, point in enumerate(points):
                yield '\t'.join((name,) + recipe + (str(k),)
                                + tuple('%.4f' % value for value in point))


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    driver, results = arguments[:2]
    loaded = [(name, distinct(documents), truth)
              for name, documents, truth in sets(arguments[2:])]
    measured = []
    with tempfile.TemporaryDirectory() as directory:
        fingerprint(loaded, directory)
        for name, documents, truth in loaded:
            recipes = by_recipe(measure(
                driver, documents, truth,
                os.path.join(directory, name + '.fingerprints')))
            measured.append((name, len(documents), truth, recipes,
                             {r: curve(rows)[0]
                              for r, rows in recipes.items()}))
            print('measured', name, file=sys.stderr)
    for ending, page in (('.md', report), ('.svg', plot),
                         ('.tsv', points_table)):
        with open(results + ending, 'w', encoding='utf-8') as stream:
            stream.writelines(line + '\n' for line in page(measured))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
