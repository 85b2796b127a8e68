#!/usr/bin/env python3
"""
Texts that are made to be near a chosen one: what somebody can do who knows the
specification, and what a seed that he does not know leaves him.

A message of a stranger gets sentences behind it, one after the other, each time
the one that brings the fingerprint nearest to that of a victim's text, which has
none of its words.  By the profile without a seed he gets near; else this test would
show nothing.  By the same profile with any other seed his texts
are as far from his victim's as from any other, and no two are near.

SIMHASH_SEED repeats what is drawn; with SIMHASH_SECONDS there is more of it.

SPDX-License-Identifier: PostgreSQL
"""

import os
import random
import statistics
import sys

import psycopg

from database import new_utf8_database
from reference import feature_hash, features, signed
from reference_minhash import bins, minhash

VICTIMS = 4 if 'SIMHASH_SECONDS' in os.environ else 2
SEEDS = 100
POOL = 1200                     # sentences to choose from
MOST = 80                       # sentences behind a message
WITHIN = 3                      # bits; where he stops
NEAR = 8                        # bits that half of his texts get to, at least
NEVER = 12                      # bits; 400 pairs get there once in 10,000 runs
PROFILE = 'word-2'
DATABASE = 'crafted'


class Writer:
    """Writes texts at random."""

    def __init__(self, rng):
        self.rng = rng
        letters = 'bcdfghklmnprstvwz'
        self.words = sorted({''.join(rng.choice(letters) + rng.choice('aeiou')
                                     for _ in range(rng.randint(1, 3)))
                             for _ in range(3000)})
        rng.shuffle(self.words)

    def sentence(self, words):
        """A sentence of eight words."""
        return ' '.join(self.rng.sample(words, 8)).capitalize() + '.'

    def text(self, words, n):
        """So many sentences."""
        return ' '.join(self.sentence(words) for _ in range(n))


def vector(features_of_some):
    """What features add to each bit."""
    hashes = [feature_hash(feature) for feature in features_of_some]
    return [2 * sum(h >> bit & 1 for h in hashes) - len(hashes)
            for bit in range(64)]


def sums_fingerprint(sums):
    """The fingerprint of these sums."""
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


def near_simhash(message, pool, target):
    """A message with sentences behind it, near the target by simhash."""
    sums = vector(features(message, PROFILE))
    signs = [1 if target >> bit & 1 else -1 for bit in range(64)]
    # what joins two sentences is left out, and added when one is chosen
    adds = [vector(features(sentence, PROFILE)) for sentence in pool]
    left = list(range(len(pool)))
    for _ in range(MOST):
        if bin(sums_fingerprint(sums) ^ target).count('1') <= WITHIN:
            break
        chosen = min(left, key=lambda i: sum(
            max(0, 4 - sign * (here + there))
            for sign, here, there in zip(signs, sums, adds[i])))
        left.remove(chosen)
        message += ' ' + pool[chosen]
        sums = vector(features(message, PROFILE))
    return message


def near_minhash(message, pool, target):
    """The same by minhash."""
    hashes = set(map(feature_hash, features(message, PROFILE)))
    adds = [set(map(feature_hash, features(sentence, PROFILE)))
            for sentence in pool]

    def distance(some):
        return bin((minhash(some) ^ target) & (1 << 64) - 1).count('1')

    for _ in range(MOST):
        if distance(hashes) <= WITHIN:
            break
        least = bins(hashes)
        # only what lowers the least value of a bin changes anything
        chosen = min((i for i in range(len(pool)) if any(
            value < least.get(bin_of, value + 1)
            for bin_of, value in bins(adds[i]).items())),
            key=lambda i: distance(hashes | adds[i]), default=None)
        if chosen is None or distance(hashes | adds[chosen]) >= distance(
                hashes):
            break
        message += ' ' + pool[chosen]
        hashes = set(map(feature_hash, features(message, PROFILE)))
    return message


ATTACKS = (('simhash', near_simhash), ('minhash', near_minhash))


def fingerprint(family, text):
    """The fingerprint of a text without a seed."""
    if family == 'simhash':
        return sums_fingerprint(vector(features(text, PROFILE)))
    return minhash(map(feature_hash, features(text, PROFILE))) % (1 << 64)


def judge(connection, family, pairs, rng):
    """Compare what the server makes of them, without a seed and with some."""
    def distances(profile):
        return [[row[0] for row in connection.execute(
            'SELECT hamming({0}(%s, %s), {0}(text, %s)) FROM unnest(%s::text[])'
            ' WITH ORDINALITY AS t(text, nr) ORDER BY nr'.format(family),
            [victim, profile, profile, [text for _, text in pairs]])]
            for victim, _ in pairs]

    faults = 0
    plain = distances(PROFILE)
    got = [plain[i][i] for i in range(len(pairs))]
    if statistics.median(got) > NEAR:
        print('%s: without a seed the texts are not near: %s' % (family, got))
        faults += 1
    own, others = [], []
    for _ in range(SEEDS):
        seeded = distances('%s-seed-%d' % (PROFILE, rng.randrange(1, 1 << 63)))
        for i, row in enumerate(seeded):
            own.append(row[i])
            others += row[:i] + row[i + 1:]
    gap = statistics.mean(others) - statistics.mean(own)
    error = statistics.stdev(own) / len(own) ** 0.5
    print('%s: without a seed %s bits; with one %.2f (%d to %d), to others %.2f'
          % (family, got, statistics.mean(own), min(own), max(own),
             statistics.mean(others)))
    if gap > 5 * error or min(own) <= NEVER:
        print('%s: with a seed they are nearer than chance' % family)
        faults += 1
    return faults


def main():
    """Returns the exit status."""
    seed = int(os.environ.get('SIMHASH_SEED', random.randrange(1 << 31)))
    print('SIMHASH_SEED=%d' % seed)
    rng = random.Random('%d.crafted' % seed)
    writer = Writer(rng)
    theirs, ours = writer.words[:300], writer.words[300:]
    faults = 0
    with new_utf8_database(DATABASE), \
            psycopg.connect('dbname=' + DATABASE, autocommit=True) as connection:
        connection.execute('CREATE EXTENSION simhash')
        for family, attack in ATTACKS:
            pairs = []
            for _ in range(VICTIMS):
                victim = writer.text(theirs, 12)
                pool = [writer.sentence(ours) for _ in range(POOL)]
                pairs.append((victim, attack(writer.text(ours, 2), pool,
                                             fingerprint(family, victim))))
            faults += judge(connection, family, pairs, rng)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
