"""The golden vectors, computed by lib/python/simhasher.py.

Prints how many were compared and how many differ, and fails if any does.  The module
and its library are found by PYTHONPATH and LIBSIMHASH.

SPDX-License-Identifier: PostgreSQL
"""

import concurrent.futures
import pathlib
import re
import sys

import simhasher

GOLDEN = pathlib.Path(__file__).parent.parent / 'golden'
ESCAPES = {b't': b'\t', b'n': b'\n', b'r': b'\r', b'b': b'\b', b'f': b'\f', b'v': b'\v'}


def unescape(match):
    code = match[1]
    return bytes([int(code[1:], 16)]) if code[:1] == b'x' else ESCAPES.get(code, code)


def rows(name):
    """The rows of a file, as COPY writes them; NULL is None."""
    for line in (GOLDEN / name).read_bytes().splitlines():
        yield [None if field == b'\\N' else
               re.sub(rb'\\(x[0-9a-f]{2}|.)', unescape, field, flags=re.DOTALL)
               for field in line.split(b'\t')]


def number(value):
    return None if value is None else str(value)


def bits(value):
    return None if value is None else f'{int(value, 2):0256x}'


def passages(text, words, profile):
    start, found = 1, []
    for passage in simhasher.passages(text, profile, int(words)):
        length = len(passage.text)
        fingerprint = '' if passage.fingerprint is None else passage.fingerprint
        found.append(f'{start}+{length}={fingerprint}')
        start += length
    return ' '.join(found)


def wide(text, family, profile):
    function = simhasher.simhash_bits if family == 'simhash' else simhasher.minhash_bits
    return bits(function(text, 1024, profile))


FILES = (
    ('golden.tsv', 'golden_texts.tsv', lambda text, profile: number(simhasher.simhash(text, profile))),
    ('golden_minhash.tsv', 'golden_texts.tsv', lambda text, profile: number(simhasher.minhash(text, profile))),
    ('golden_wide.tsv', 'golden_texts.tsv', wide),
    ('golden_fold.tsv', 'golden_texts.tsv', lambda text, _: simhasher.fold(text)),
    ('golden_passages.tsv', 'golden_texts.tsv', lambda text, cut: passages(text, *cut.split('/'))),
    ('golden_html.tsv', 'golden_html_texts.tsv', lambda text, kind: getattr(simhasher, kind)(text)),
)


def compare(file):
    name, texts_name, compute = file
    texts = dict(rows(texts_name))
    compared = different = 0
    for label, *arguments, right in rows(name):
        if texts[label] is None:
            continue
        computed = compute(texts[label], *(argument.decode() for argument in arguments))
        compared += 1
        if computed != (None if right is None else right.decode()):
            different += 1
            print(name, label, *arguments, computed, right, file=sys.stderr)
    return compared, different


# Threads compute at once, each with what is its own.
with concurrent.futures.ThreadPoolExecutor(len(FILES)) as pool:
    counts = list(pool.map(compare, FILES))
print('{} compared, {} different'.format(*map(sum, zip(*counts))))
sys.exit(any(different for _, different in counts))
