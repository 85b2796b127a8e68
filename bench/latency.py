#!/usr/bin/python3
"""
The picture of the README: the time of a look-up by number of rows.

usage: bench/latency.py RESULTS.tsv PICTURE.svg

RESULTS.tsv are the rows that make bench has kept.  The picture has its own
background, dark where the reader's system is, so it is readable on any page.

SPDX-License-Identifier: PostgreSQL
"""

import math
import re
import sys

import report

# What is shown, in the order of its labels from top to bottom: the section
# and what it measured, the label, and the colours on light and on dark.  A
# sequential scan takes as long with ~= as with =.
# Of pgvector it is the first figure with a recall of .99.
LINES = (
    ('scan', 'fp = q', 'sequential scan',
     '#5f6670', '#a9b1bb'),
    ('lookup', 'server, k=3, BK-tree (SP-GiST)', 'BK-tree in SP-GiST',
     '#8250df', '#bc8cff'),
    ('hnsw', 'server, lone, HNSW', 'HNSW of pgvector, .99 of the rows',
     '#bf3989', '#f778ba'),
    ('lookup', 'server, k=3, key columns', 'key columns',
     '#bc4c00', '#f0883e'),
    ('lookup', 'server, k=3, hamming index', 'hamming index',
     '#0969da', '#58a6ff'),
    ('lookup', 'server, primary key', 'primary key, for comparison',
     '#8c959f', '#6e7681'))
RECALL = re.compile(r', ef_search=\d+, recall=([.\d]+)$')
WIDTH, HEIGHT = 760, 400
LEFT, TOP, RIGHT, BOTTOM = 72, 54, 506, 352


def read(path):
    """The microseconds of each line, by number of rows."""
    found = {line[:2]: {} for line in LINES}
    for row in report.read(path):
        what = row['what']
        recall = RECALL.search(what)
        if recall and float(recall.group(1)) < 0.99:
            continue
        points = found.get((row['section'], RECALL.sub('', what)))
        if points is not None and row['figure']:
            rows = int(row['rows'])
            points[rows] = float(row['figure']) * (
                rows if row['unit'] == 'us/row' else 1)
    return [found[line[:2]] for line in LINES]


def time(power):
    """A power of ten of microseconds, to be read."""
    unit = power // 3
    return '%d %s' % (10 ** (power - 3 * unit), ('µs', 'ms', 's')[unit])


def scale(value, values, low, high):
    """Where a value lies, by its logarithm."""
    first, last = (math.log10(f(values)) for f in (min, max))
    return low + (high - low) * (math.log10(value) - first) / (last - first)


def spread(places, least):
    """Heights of labels, in order, moved down where they would touch."""
    for i, place in enumerate(places):
        yield place if not i else max(place, last + least)
        last = place if not i else max(place, last + least)


def picture(series):
    """The lines of the file."""
    sizes = sorted({size for points in series for size in points})
    times = [value for points in series for value in points.values()]
    powers = range(math.floor(math.log10(min(times))),
                   math.ceil(math.log10(max(times))) + 1)
    decades = [10.0 ** power for power in powers]

    def across(size):
        return scale(size, sizes, LEFT, RIGHT)

    def down(value):
        return scale(value, decades, BOTTOM, TOP)

    yield ('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
           'viewBox="0 0 %d %d" role="img">' % (WIDTH, HEIGHT, WIDTH, HEIGHT))
    yield '<title>Time of a look-up by number of rows</title>'
    yield '<style>'
    yield 'text{font:13px system-ui,sans-serif;fill:#1f2328}'
    yield '.head{font-weight:600;font-size:15px}.end{text-anchor:end}'
    yield '.mid{text-anchor:middle}.page{fill:#fff;stroke:#d0d7de}'
    yield '.grid{stroke:#d8dee4}polyline{fill:none;stroke-width:2.5}'
    yield '.s%d{stroke-dasharray:3 4}' % (len(LINES) - 1)
    yield ''.join('.s%d{stroke:%s}.f%d{fill:%s}' % (i, light, i, light)
                  for i, (_, _, _, light, _) in enumerate(LINES))
    yield '@media(prefers-color-scheme:dark){text{fill:#e6edf3}'
    yield '.page{fill:#0d1117;stroke:#30363d}.grid{stroke:#2b323b}'
    yield ''.join('.s%d{stroke:%s}.f%d{fill:%s}' % (i, dark, i, dark)
                  for i, (_, _, _, _, dark) in enumerate(LINES)) + '}'
    yield '</style>'
    yield ('<rect class="page" x=".5" y=".5" width="%d" height="%d" rx="8"/>'
           % (WIDTH - 1, HEIGHT - 1))
    yield ('<text class="head" x="20" y="30">All rows within 3 of 64 bits: '
           'processor time of one look-up</text>')
    for power, value in zip(powers, decades):
        yield '<path class="grid" d="M%d %.1fH%d"/>' % (
            LEFT, down(value), RIGHT)
        yield '<text class="end" x="%d" y="%.1f">%s</text>' % (
            LEFT - 10, down(value) + 4, time(power))
    for size in sizes:
        yield '<text class="mid" x="%.1f" y="%d">%s rows</text>' % (
            across(size), BOTTOM + 26, '{:,}'.format(size))
    for i, points in enumerate(series):
        places = ['%.1f,%.1f' % (across(size), down(value))
                  for size, value in sorted(points.items())]
        yield '<polyline class="s%d" points="%s"/>' % (i, ' '.join(places))
        for place in places:
            yield '<circle class="f%d" cx="%s" cy="%s" r="3.5"/>' % (
                (i,) + tuple(place.split(',')))
    # Labels are at the right end, or below the last point of a shorter line.
    ends = [max(points) for points in series]
    whole = [i for i, end in enumerate(ends) if end == sizes[-1]]
    heights = spread([down(series[i][ends[i]]) + 4 for i in whole], 17)
    labels = dict(zip(whole, heights))
    for i, (_, _, label, _, _) in enumerate(LINES):
        y = labels.get(i, down(series[i][ends[i]]) + 18)
        yield '<text class="f%d" x="%.1f" y="%.1f">%s</text>' % (
            i, across(ends[i]) + (12 if i in labels else 4), y, label)
    yield '</svg>'


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) != 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    lines = list(picture(read(arguments[0])))
    with open(arguments[1], 'w', encoding='utf-8') as stream:
        stream.writelines(line + '\n' for line in lines)
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
