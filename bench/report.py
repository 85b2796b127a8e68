#!/usr/bin/python3
"""
The results of the bench: a table, a plot, and all rows to keep.

usage: bench/report.py RESULTS OLD NEW MACHINE

RESULTS is where the files go, without their endings.  NEW has rows as
bench/lib.sh writes them, OLD the rows that an earlier run of the same day
kept: a section that was measured again with the same number of rows replaces
what it was.  MACHINE says what the figures depend on.

SPDX-License-Identifier: PostgreSQL
"""

import math
import os
import re
import sys

FIELDS = ('section', 'rows', 'what', 'figure', 'unit', 'against', 'ratio',
          'bar', 'met', 'commit')
with open(os.path.join(os.path.dirname(__file__), 'run.sh')) as script:
    ORDER = re.search('^ALL="(.*)"', script.read(), re.M).group(1).split()
PANELS = (
    ('distance 3, by method', (
        ('server, primary key', 'primary key', '#7f7f7f'),
        ('server, k=3, hamming index', 'hamming index', '#1f77b4'),
        ('server, k=3, covering btrees by hand', 'covering btrees',
         '#2ca02c'),
        ('server, k=3, key columns', 'key columns', '#ff7f0e'),
        ('server, k=3, BK-tree (SP-GiST)', 'BK-tree', '#9467bd'),
        ('server, k=3, sequential scan', 'sequential scan', '#d62728'))),
    ('by distance', (
        ('server, k=0, hamming index', 'hamming index, k = 0', '#9ecae1'),
        ('server, k=3, hamming index', 'hamming index, k = 3', '#4292c6'),
        ('server, k=8, hamming index', 'hamming index, k = 8', '#2171b5'),
        ('server, k=12, hamming index', 'hamming index, k = 12', '#08306b'),
        ('server, k=7, key columns', 'key columns, k = 7', '#ff7f0e'),
        ('server, k=12, sequential scan', 'sequential scan, k = 12',
         '#d62728'))))


# Rows

def read(path):
    """The rows of a file; none if there is no such file."""
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as stream:
        lines = [line.rstrip('\n').split('\t') for line in stream]
    return [dict(zip(FIELDS, line)) for line in lines
            if line[0] != FIELDS[0]]


def batch(row):
    """What one run measures together."""
    return row['section'], row['rows']


def merge(old, new):
    """The rows of both, in the order of sections and sizes."""
    fresh = set(map(batch, new))
    rows = [row for row in old if batch(row) not in fresh] + new
    return sorted(rows, key=lambda row: (ORDER.index(row['section']),
                                         int(row['rows'])))


# The table

def number(text):
    """A figure with three digits that count."""
    if not text:
        return ''
    value = float(text)
    if value == 0 or abs(value) >= 100:
        return '{:,.0f}'.format(value)
    return '%.*f' % (max(0, 2 - math.floor(math.log10(abs(value)))), value)


def table(rows):
    """All rows, as one table."""
    yield '| section | rows | what | figure | unit | ratio | to | bar | |'
    yield '| :-- | --: | :-- | --: | :-- | --: | :-- | :-- | :-- |'
    for row in rows:
        size = int(row['rows'])
        yield '| %s |' % ' | '.join((
            row['section'], '{:,}'.format(size) if size else '', row['what'],
            number(row['figure']), row['unit'], number(row['ratio']),
            row['against'], row['bar'], row['met']))


def page(rows, machine, name):
    """The page of results."""
    bars = [row for row in rows if row['bar']]
    missed = [row for row in bars if row['met'] == 'missed']
    skipped = [row for row in rows if row['met'].startswith('skipped')]
    yield '# Speed and size, beside others\n'
    yield ('What the sections measure, and how, is in [README.md]'
           '(../README.md). Ratios are of figures of the same run.\n')
    if any(plot(rows)):
        yield '![latency by number of rows](%s.svg)\n' % name
    yield from ('- %s' % line for line in machine)
    commits = {}
    for row in rows:
        commits.setdefault(row['commit'], set()).add(row['section'])
    for commit, sections in commits.items():
        yield '- commit: %s (%s)' % (
            commit, ', '.join(sorted(sections, key=ORDER.index)))
    yield ''
    yield from table(rows)
    yield '\nBars: %d met, %d missed.\n' % (len(bars) - len(missed),
                                            len(missed))
    for row in missed:
        yield '- missed: %s, %s rows, %s: figure %s, ratio %s; bar %s' % (
            row['section'], row['rows'], row['what'], number(row['figure']),
            number(row['ratio']) or '-', row['bar'])
    for row in skipped:
        yield '- %s: %s' % (row['what'], row['met'])


# The plot

def ticks(low, high):
    """The powers of ten from low to high."""
    return range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)


def panel(title, lines, sizes, spans, x):
    """Latencies by number of rows, both by logarithm, as SVG."""
    def across(size):
        first, last = math.log10(sizes[0]), math.log10(sizes[-1])
        return 360 * (math.log10(size) - first) / ((last - first) or 1)

    def down(value):
        return 360 - 360 * (math.log10(value) - spans[0]) / (
            spans[-1] - spans[0])

    yield '<g transform="translate(%d 60)">' % x
    yield '<text x="180" y="-12" class="title">%s</text>' % title
    for power in spans:
        y = down(10.0 ** power)
        label = ('%g µs' if power < 3 else '%g ms' if power < 6 else '%g s')
        yield '<path d="M0 %.1fH360" class="grid"/>' % y
        yield '<text x="-8" y="%.1f" class="left">%s</text>' % (
            y + 4, label % 10.0 ** (power if power < 3 else
                                    power - 3 if power < 6 else power - 6))
    for size in sizes:
        yield '<text x="%.1f" y="378" class="below">%s</text>' % (
            across(size), '{:,}'.format(size))
    for i, (name, colour, points) in enumerate(lines):
        places = [(across(n), down(v)) for n, v in sorted(points.items())]
        yield '<polyline points="%s" stroke="%s"/>' % (
            ' '.join('%.1f,%.1f' % place for place in places), colour)
        for place in places:
            yield '<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (
                place + (colour,))
        yield '<rect x="%d" y="%d" width="12" height="12" fill="%s"/>' % (
            180 * (i % 2), 398 + 20 * (i // 2), colour)
        yield '<text x="%d" y="%d">%s</text>' % (
            180 * (i % 2) + 18, 408 + 20 * (i // 2), name)
    yield '</g>'


def plot(rows):
    """The whole plot, as SVG."""
    points = {}
    for row in rows:
        if row['section'] == 'lookup' and row['figure']:
            points.setdefault(row['what'], {})[
                int(row['rows'])] = float(row['figure'])
    shown = [points[what] for _, lines in PANELS for what, _, _ in lines
             if what in points]
    if not shown:
        return
    sizes = sorted({size for line in shown for size in line})
    values = [value for line in shown for value in line.values()]
    spans = ticks(min(values), max(values))
    yield ('<svg xmlns="http://www.w3.org/2000/svg" width="940" height="540" '
           'viewBox="0 0 940 540">')
    yield ('<style>text{font:11px sans-serif;fill:#333}.title{font-weight:'
           'bold;text-anchor:middle}.left{text-anchor:end}.below{text-anchor:'
           'middle}.grid{stroke:#ddd}polyline{fill:none;stroke-width:2}'
           '</style><rect width="940" height="540" fill="#fff"/>')
    yield ('<text x="70" y="24">Server time of a look-up by number of rows, '
           'all in memory</text>')
    for i, (title, lines) in enumerate(PANELS):
        present = [(name, colour, points[what])
                   for what, name, colour in lines if what in points]
        yield from panel(title, present, sizes, spans, 70 + 460 * i)
    yield '</svg>'


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) != 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    results, old, new, machine = arguments
    rows = merge(read(old), read(new))
    with open(machine, encoding='utf-8') as stream:
        machine = stream.read().splitlines()
    kept = ['\t'.join(FIELDS)] + ['\t'.join(row[field] for field in FIELDS)
                                  for row in rows]
    for ending, lines in (
            ('.tsv', kept), ('.svg', plot(rows)),
            ('.md', page(rows, machine, os.path.basename(results)))):
        lines = list(lines)
        if lines:
            with open(results + ending, 'w', encoding='utf-8') as stream:
                stream.writelines(line + '\n' for line in lines)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
