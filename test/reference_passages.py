#!/usr/bin/env python3
"""
Passages once more, written from section 16 of docs/fingerprint.md alone; the
kinds, the normal form and the fingerprints are those of the other references.

  reference_passages.py passages < texts   label, words, passages
  reference_passages.py --regenerate       write the golden vectors
  reference_passages.py --check            test them

Passages are "start+length=fingerprint", with spaces between them.  Texts are
rows of a label and a document; all input and output is in the text format of
PostgreSQL's COPY.

SPDX-License-Identifier: PostgreSQL
"""

import os
import sys

from reference import HERE, PIECE, kind, normalise, read_rows
from reference_minhash import WORD, fingerprint, mix

GOLDEN = ('golden_texts.tsv', 'golden_passages.tsv')
SIZES = (4, 25)                 # words of a passage, of which vectors are made
SCRAMBLE = 0x9e3779b97f4a7c15
MOST = 4                        # times the mean


def words(document):
    """The words of a document: place, kind, code points."""
    result = []
    run = 'separator'
    for place, char in enumerate(document):
        now = kind(char)
        if now == 'ignored':
            continue
        mark = now == 'mark'
        if mark:
            now = 'word' if run == 'separator' else run
        if now != 'separator':
            if (now == run and (now == 'word' or mark)
                    and len(result[-1][2]) < PIECE):
                result[-1][2].append(char)
            else:
                result.append((place, now, [char]))
        run = now
    return result


def word_hash(chars):
    """The hash of a word."""
    data = normalise(''.join(chars)).encode('utf-8')
    result = 0
    for at in range(0, len(data), 8):
        result ^= int.from_bytes(data[at:at + 8], 'little')
        result = result * SCRAMBLE % WORD
        result ^= result >> 32
    return result


def borders(document, size):
    """The places where passages begin, but for the first."""
    found = words(document)
    places, hashes = [], []     # in quarters, of borders
    at, before = 0, 0
    for _, of_kind, chars in found:
        here = word_hash(chars)
        places.append(at)
        hashes.append(mix((before * SCRAMBLE + here) % WORD) if at else 0)
        at += 1 if of_kind == 'phonetic' else 4
        before = here

    reach = size // 2 * 4
    result, last = [], 0
    for i in range(1, len(found)):
        before = [hashes[j] for j in range(max(i - reach, 0), i)
                  if places[j] + reach >= places[i]]
        behind = [hashes[j] for j in range(i, min(i + reach + 1, len(found)))
                  if places[j] <= places[i] + reach]
        least = (hashes[i] < min(before, default=WORD) and hashes[i] == min(behind)
                 and places[-1] > places[i] + reach)
        if least or places[i] >= places[last] + MOST * size * 4:
            result.append(found[i][0])
            last = i
    return result


def passages(document, size):
    """The passages of a document: start, from 1, length, fingerprint."""
    if not words(document):
        return []
    starts = [0] + borders(document, size)
    ends = starts[1:] + [len(document)]
    return [(start + 1, end - start,
             fingerprint(document[start:end], 'word-2-capped'))
            for start, end in zip(starts, ends)]


def rows(stream):
    """Rows of a label, a size, and the passages, as bytes."""
    for label, text in read_rows(stream, 2):
        for size in SIZES:
            found = ' '.join('%d+%d=%s' % passage
                             for passage in passages(text or '', size))
            yield b'%s\t%d\t%s\n' % (label.encode(), size, found.encode())


def regenerate():
    """Write the golden vectors."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'wb') as target:
        target.writelines(rows(source))


def check():
    """All tests."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'rb') as target:
        assert b''.join(rows(source)) == target.read()
    assert passages('... \u200b', 4) == []
    print('passed')


def main(arguments):
    """The command line; returns the exit status."""
    if arguments == ['passages']:
        sys.stdout.buffer.writelines(rows(sys.stdin.buffer))
    elif arguments == ['--regenerate']:
        regenerate()
    elif arguments == ['--check']:
        check()
    else:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
