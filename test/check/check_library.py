#!/usr/bin/env python3
"""
The library of lib/ computes the golden vectors, and refuses what is no text.

SPDX-License-Identifier: PostgreSQL
"""

import re
import sys

from libsimhash import ROOT, Failure, Hasher, lib

GOLDEN = ROOT / "test/golden"
hasher = Hasher(4711)
problems = []
compared = 0


def read(name):
    """The rows of a file as COPY writes it: their fields, as bytes or None."""
    escapes = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"b": b"\b", b"f": b"\f",
               b"v": b"\v"}

    def decode(found):
        hexadecimal = found[1][:1] == b"x" and len(found[1]) > 1
        return bytes([int(found[1][1:], 16)]) if hexadecimal else \
            escapes.get(found[1], found[1])

    for line in (GOLDEN / name).read_bytes().split(b"\n")[:-1]:
        yield [None if field == rb"\N" else
               re.sub(rb"\\(x[0-9a-fA-F]{1,2}|.)", decode, field, flags=re.S)
               for field in line.split(b"\t")]


def same(ours, theirs, *what):
    global compared
    compared += 1
    if ours != theirs and len(problems) < 20:
        problems.append(f"{what}: {ours!r}, and not {theirs!r}")


def decimal(fingerprint):
    return None if fingerprint is None else str(fingerprint).encode()


def golden(texts):
    for name, family in (("golden.tsv", "simhash"), ("golden_minhash.tsv", "minhash")):
        for label, profile, expected in read(name):
            same(decimal(hasher.fingerprint(texts[label], profile.decode(), family)),
                 expected, name, label, profile)
    for label, family, profile, expected in read("golden_wide.tsv"):
        for bits in (64, 192, 1024):
            words = hasher.words(texts[label], profile.decode(), family.decode(), bits)
            same(words and "".join(f"{word:016x}" for word in words).encode(),
                 expected and expected[:bits // 4], "golden_wide.tsv", label, family,
                 profile, bits)
    for label, _, expected in read("golden_fold.tsv"):
        same(hasher.fold(texts[label]), expected, "golden_fold.tsv", label)
    for label, how, expected in read("golden_passages.tsv"):
        words, profile = how.decode().split("/")
        text = texts[label]
        # In characters, the first of which is 1.
        same(" ".join(f"{len(text[:start].decode()) + 1}+"
                      f"{len(text[start:start + length].decode())}={fp}"
                      for start, length, fp in
                      hasher.passages(text, profile, int(words))).encode(),
             expected, "golden_passages.tsv", label, how)


def pages():
    texts = dict(read("golden_html_texts.tsv"))
    for label, what, expected in read("golden_html.tsv"):
        same(hasher.html(texts[label], what == b"article"), expected, label, what)
        for profile in ("word-2", "char-3-fold"):
            same(hasher.fingerprint(texts[label], profile.replace(
                "-fold", "") + "-" + what.decode() + "-fold" * ("fold" in profile)),
                 hasher.fingerprint(expected, profile), label, what, profile)


def refused(call, message, *arguments):
    try:
        call(*arguments)
        problems.append(f"{arguments} are not refused")
    except Failure as failure:
        same(bool(re.search(message, str(failure))), True, arguments, str(failure))


def refusals():
    for label, text in read("golden_bytes_texts.tsv"):
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            for call in (hasher.fingerprint, hasher.fold, hasher.html, hasher.features,
                         hasher.passages):
                refused(call, f"^invalid UTF-8 at byte {error.start + 1}: "
                        f"0x{text[error.start]:02x}", text)
    for n in range(70):
        for bad in (b"\0", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xe4\xb8", b"\x80"):
            refused(hasher.fingerprint, f"at byte {n + 1}: 0x{bad[0]:02x}",
                    b"a" * n + bad)
            refused(hasher.fingerprint, f"at byte {2 * n + 1}: 0x{bad[0]:02x}",
                    "é".encode() * n + bad + b"b" * 40)
    for name in ("", "word-11", "no\xffthing", "word-2-seed-9223372036854775808",
                 "-seed-1", "java-hashcode-fold", "x" * 5000):
        refused(hasher.profile, "^profile \".*\" does not exist", name)
    for bits in (0, 63, 65, 1088, -64):
        refused(hasher.words, "^bits", b"a text", None, "simhash", bits)
    for words in (3, 1001):
        refused(hasher.passages, "^words", b"a text", None, words)


def similarities():
    a, b = b"one two three four, two three", b"two three four five"
    same(hasher.similarity("jaccard", a, b), 2 / 5, "jaccard")
    same(round(hasher.similarity("cosine", a, b, "word-2-count"), 12),
         round(3 / (7 * 3) ** .5, 12), "cosine")
    same(hasher.features(a), 4, "features")
    for measure in ("jaccard", "cosine"):
        same(hasher.similarity(measure, a, a), 1.0, measure)
        same(hasher.similarity(measure, a, b"..."), None, measure)
    same(lib.simhasher_distance(b"\x01" + bytes(15), b"\0" * 15 + b"\xff", 2), 9,
         "distance")


def main():
    texts = dict(read("golden_texts.tsv"))
    golden(texts)
    pages()
    refusals()
    similarities()
    for problem in problems:
        print(problem)
    print(f"{compared} results compared, {len(problems)} wrong")
    sys.exit(1 if problems or compared < 20000 else 0)


main()
