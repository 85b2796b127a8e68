#!/usr/bin/env python3
"""
The second family of fingerprints once more, written from section 10 of
docs/fingerprint.md alone; sections 1 to 6 are those of reference.py.

  reference_minhash.py fingerprint < texts   label, profile, fingerprint
  reference_minhash.py --regenerate          write the golden vectors
  reference_minhash.py --check               test them and the estimate

Texts are rows of a label and a document; all input and output is in the text
format of PostgreSQL's COPY.

SPDX-License-Identifier: PostgreSQL
"""

import os
import random
import sys

from reference import (HERE, feature_hash, features, read_rows, seed_of,
                       signed)
from reference import PROFILES as LISTED

GOLDEN = ('golden_texts.tsv', 'golden_minhash.tsv')
PROFILES = (*LISTED, 'symbol-1', 'symbol-2-capped', 'word-2-capped-fold',
            'word-2-capped-seed-4711',
            'word-2-capped-seed-9223372036854775807', 'char-3-seed-4711',
            'symbol-2-seed-9223372036854775807')
WORD = 1 << 64                  # arithmetic is modulo this


def mix(x):
    """The function of that name in the specification."""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 % WORD
    x = (x ^ x >> 27) * 0x94d049bb133111eb % WORD
    return x ^ x >> 31


def bins(hashes):
    """The least value of each bin that has any."""
    least = {}
    for value in (h * 0x9e3779b97f4a7c15 % WORD for h in hashes):
        least[value >> 58] = min(value, least.get(value >> 58, value))
    return least


def walk(i):
    """The bins that bit i looks at, in order."""
    yield i
    x = mix(i + 1)
    while True:
        yield x >> 58
        x = (x * 6364136223846793005 + 1442695040888963407) % WORD


def order(i):
    """The place of each bin in the order in which bit i looks at them."""
    places = {}
    for place, bin_ in enumerate(walk(i)):
        places.setdefault(bin_, place)
        if len(places) == 64:
            return places


ORDER = [order(i) for i in range(64)]


def minhash(hashes):
    """The fingerprint of a set of hashes, or None."""
    least = bins(hashes)
    if not least:
        return None
    result = 0
    for i in range(64):
        value = least[min(least, key=ORDER[i].get)]
        result |= (mix((value + i * 0x9e3779b97f4a7c15) % WORD) & 1) << i
    return signed(result)


def fingerprint(document, profile):
    """The fingerprint of a document, or None."""
    seed = seed_of(profile)
    return minhash(feature_hash(feature, seed)
                   for feature in features(document, profile))


def fingerprints(stream):
    """Rows of a label, a profile and a fingerprint, as bytes."""
    for label, text in read_rows(stream, 2):
        for profile in PROFILES:
            value = fingerprint(text, profile)
            value = '\\N' if value is None else str(value)
            yield b'%s\t%s\t%s\n' % (label.encode(), profile.encode(),
                                     value.encode())


def regenerate():
    """Write the golden vectors."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'wb') as target:
        target.writelines(fingerprints(source))


def check_estimate():
    """1 - d / 32 estimates the Jaccard similarity, for few features too."""
    seed = random.randrange(1 << 32)
    print('seed', seed)
    source = random.Random(seed)
    for size, shared in ((4, 2), (20, 10), (100, 80), (1000, 500)):
        total, rounds = 0.0, 400
        for _ in range(rounds):
            both = [source.getrandbits(64) for _ in range(shared)]
            a, b = ([source.getrandbits(64) for _ in range(size - shared)]
                    for _ in range(2))
            d = bin((minhash(both + a) ^ minhash(both + b)) % WORD).count('1')
            total += 1 - d / 32
        exact = shared / (2 * size - shared)
        # one estimate has a standard deviation of at most about .5
        assert abs(total / rounds - exact) < .1, (size, shared, total / rounds)


def check():
    """All tests."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'rb') as target:
        assert b''.join(fingerprints(source)) == target.read()
    assert minhash([]) is None
    assert minhash([7, 7, 9]) == minhash([9, 7])
    check_estimate()
    print('passed')


def main(arguments):
    """The command line; returns the exit status."""
    if arguments == ['fingerprint']:
        sys.stdout.buffer.writelines(fingerprints(sys.stdin.buffer))
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
