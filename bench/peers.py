#!/usr/bin/python3
"""
Precision, recall and speed of Python's datasketch, on the sets of
bench/quality.py.

usage: PYTHONPATH=WHERE-DATASKETCH-IS bench/peers.py [SET...]

A SET is as for bench/quality.py.  Documents are sets of shingles: of two words
in lower case (of two characters, in Chinese), as simhash's default profile has
them, with 256 permutations; and of five words with 240 permutations, as
text-dedup's example has them, which computes the same.  At a threshold, pairs
are those that MinHashLSH returns; the best F1 is that of the estimated Jaccard
similarity of all pairs, over thresholds in steps of .05.

SPDX-License-Identifier: PostgreSQL
"""

import re
import sys
import time

import numpy
from datasketch import MinHash, MinHashLSH

from quality import distinct, is_chinese, sets

USUAL = ((2, 256, (.5, .8, .9)), (5, 240, (.7,)))


def shingles(text, size, chinese):
    """The different runs of so many words, as bytes."""
    words = re.findall(r'\w' if chinese else r'\w+', text.decode().lower())
    size = min(size, len(words))
    return {' '.join(words[i:i + size]).encode()
            for i in range(len(words) - size + 1)} if words else set()


def scores(found, alike):
    """Precision, recall and F1 of pairs."""
    right = len(found & alike)
    precision = right / len(found) if found else 1.0
    recall = right / len(alike)
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


def jaccard(a, b):
    """The Jaccard similarity of two sets."""
    return len(a & b) / (len(a | b) or 1)


def labelled(documents, truth, chinese):
    """The pairs that are alike: by label, or by their exact similarity."""
    if truth:
        size, least = int(truth[0].split('-')[1]), float(truth[1])
        features = [shingles(text, size, chinese) for _, text in documents]
        return {(i, j) for i, a in enumerate(features)
                for j, b in enumerate(features[:i]) if jaccard(a, b) >= least}
    return {(i, j) for i, (a, _) in enumerate(documents)
            for j, (b, _) in enumerate(documents[:i]) if a == b}


def sign(documents, size, permutations, chinese):
    """The signatures of all documents."""
    result = []
    for _, text in documents:
        signature = MinHash(num_perm=permutations)
        signature.update_batch(shingles(text, size, chinese))
        result.append(signature)
    return result


def look_up(signatures, threshold, permutations):
    """The pairs that an LSH finds, and the seconds that its queries take."""
    lsh = MinHashLSH(threshold=threshold, num_perm=permutations)
    for i, signature in enumerate(signatures):
        lsh.insert(i, signature)
    begin = time.process_time()
    found = {(i, j) for i, signature in enumerate(signatures)
             for j in lsh.query(signature) if j < i}
    return found, time.process_time() - begin


def best_estimate(signatures, alike):
    """The best F1 of the estimates of all pairs, and its threshold."""
    values = numpy.array([s.hashvalues for s in signatures])
    near = [set() for _ in range(21)]
    for i in range(1, len(values)):
        equal = (values[:i] == values[i]).mean(axis=1)
        for j in numpy.flatnonzero(equal >= .05):
            near[int(equal[j] * 20)].add((i, int(j)))
    best, found = (0.0, 0.0), set()
    for step in range(20, 0, -1):
        found |= near[step]
        best = max(best, (scores(found, alike)[2], step / 20))
    return best


def main(arguments):
    """The command line."""
    print('| set | documents | pairs | shingles | permutations | MB/s signed '
          '| threshold | precision | recall | F1 | us a query | best F1 | from |')
    print('| --- ' * 13 + '|')
    for name, pairs, truth in sets(arguments):
        documents = distinct(pairs)
        chinese = is_chinese(documents)
        alike = labelled(documents, truth, chinese)
        size = sum(len(text) for _, text in documents)
        for words, permutations, thresholds in USUAL:
            begin = time.process_time()
            signatures = sign(documents, words, permutations, chinese)
            seconds = time.process_time() - begin
            best = best_estimate(signatures, alike)
            for threshold in thresholds:
                found, taken = look_up(signatures, threshold, permutations)
                print('| %s | %d | %d | %d | %d | %.2f | %.1f | %.3f | %.3f |'
                      ' %.3f | %.0f | %.3f | %.2f |' % (
                          name, len(documents), len(alike), words, permutations,
                          size / 1e6 / seconds, threshold,
                          *scores(found, alike), taken * 1e6 / len(documents),
                          *best), flush=True)


if __name__ == '__main__':
    main(sys.argv[1:])
