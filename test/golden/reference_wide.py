#!/usr/bin/env python3
"""
Fingerprints of more than 64 bits and exact similarities once more, written
from sections 13 and 14 of docs/fingerprint.md alone; the other sections are
those of reference.py and reference_minhash.py.

  reference_wide.py fingerprint < texts   label, family, profile, fingerprint
  reference_wide.py similarity < texts    label, the next label, profile,
                                          Jaccard, cosine
  reference_wide.py --regenerate          write the golden vectors
  reference_wide.py --check               test them and the rules

Fingerprints are of 1024 bits, in hexadecimal; narrower ones are how they begin.
Texts are rows of a label and a document; all input and output is in the text
format of PostgreSQL's COPY.

SPDX-License-Identifier: PostgreSQL
"""

import math
import os
import sys

from reference import HERE, feature_hash, features, majority, read_rows, seed_of
from reference import fingerprint as simhash_64
from reference_minhash import WORD, minhash, mix
from reference_minhash import fingerprint as minhash_64

GOLDEN = ('golden_texts.tsv', 'golden_wide.tsv')
PROFILES = ('word-2-capped', 'word-2-capped-seed-4711',
            'char-3-seed-9223372036854775807')
WORDS = 16


def word_hash(value, word):
    """The hash of a feature for a word."""
    if word == 0:
        return value
    return mix((value + word * 0x9e3779b97f4a7c15) % WORD)


def fingerprint(family, document, profile, words=WORDS):
    """The fingerprint of a document as hexadecimal digits, or None."""
    seed = seed_of(profile)
    weights = [(feature_hash(feature, seed), weight) for feature, weight
               in features(document, profile).items()]
    if not weights:
        return None
    result = ''
    for word in range(words):
        hashed = [(word_hash(value, word), weight)
                  for value, weight in weights]
        if family == 'simhash':
            value = majority(hashed)
        else:
            value = minhash([value for value, _ in hashed]) % WORD
        result += '%016x' % value
    return result


def fingerprints(stream):
    """Rows of a label, a family, a profile and a fingerprint, as bytes."""
    for label, text in read_rows(stream, 2):
        for family in ('simhash', 'minhash'):
            for profile in PROFILES:
                value = fingerprint(family, text, profile) or '\\N'
                yield '\t'.join((label, family, profile, value)).encode() \
                    + b'\n'


def similarity(a, b):
    """The Jaccard and cosine similarity of features with weights."""
    if not a or not b:
        return None, None
    common = a.keys() & b.keys()
    dot = sum(a[feature] * b[feature] for feature in common)
    squares = [sum(weight * weight for weight in bag.values())
               for bag in (a, b)]
    return (len(common) / len(a.keys() | b.keys()),
            min(dot / math.sqrt(float(squares[0]) * float(squares[1])), 1.0))


def shown(value):
    """A number as PostgreSQL shows it."""
    return '\\N' if value is None else repr(value).removesuffix('.0')


def similarities(stream):
    """Rows of two labels, a profile and the similarities, as bytes."""
    texts = sorted(read_rows(stream, 2),
                   key=lambda row: row[0].encode())
    for profile in ('word-2-capped', 'word-1', 'char-3', 'word-1-2-sqrt',
                    'symbol-2', 'word-2-capped-seed-4711'):
        bags = [(label, features(text or '', profile))
                for label, text in texts]
        for (label, a), (next_label, b) in zip(bags, bags[1:] + bags[:1]):
            yield '\t'.join((label, next_label, profile,
                             *map(shown, similarity(a, b)))).encode() + b'\n'


def regenerate():
    """Write the golden vectors."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'wb') as target:
        target.writelines(fingerprints(source))


def check():
    """All tests."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'rb') as target:
        assert b''.join(fingerprints(source)) == target.read()
    text = 'Die GRÖSSE: 北京大学'
    for family, narrow in (('simhash', simhash_64), ('minhash', minhash_64)):
        assert fingerprint(family, text, 'word-2', 1) \
            == '%016x' % (narrow(text, 'word-2') % WORD)
        assert fingerprint(family, text, 'word-2', 3) \
            == fingerprint(family, text, 'word-2')[:48]
        assert fingerprint(family, '', 'word-2') is None
    print('passed')


def main(arguments):
    """The command line; returns the exit status."""
    if arguments == ['fingerprint']:
        sys.stdout.buffer.writelines(fingerprints(sys.stdin.buffer))
    elif arguments == ['similarity']:
        sys.stdout.buffer.writelines(similarities(sys.stdin.buffer))
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
