#!/usr/bin/env python3
"""
The library of lib/, by lib/python, computes the golden vectors, in several threads at
once, and refuses what is no text.

SPDX-License-Identifier: PostgreSQL
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test/golden"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "lib/python"))
os.environ["LIBSIMHASH"] = str(ROOT / "lib/build/libsimhash.so.1")
subprocess.run(["make", "-s", "lib"], cwd=ROOT, check=True)
import simhasher

FAMILIES = {"simhash": (simhasher.simhash, simhasher.simhash_bits),
            "minhash": (simhasher.minhash, simhasher.minhash_bits)}
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


def fingerprints(texts, name, family):
    for label, profile, expected in read(name):
        same(FAMILIES[family][0](texts[label], profile.decode()),
             expected and int(expected), name, label, profile)


def wide(texts):
    for label, family, profile, expected in read("golden_wide.tsv"):
        for bits in (64, 192, 1024):
            found = FAMILIES[family.decode()][1](texts[label], bits, profile.decode())
            same(found and f"{int(found, 2):0{bits // 4}x}".encode(),
                 expected and expected[:bits // 4], "golden_wide.tsv", label, family,
                 profile, bits)


def folded(texts):
    for label, _, expected in read("golden_fold.tsv"):
        same(simhasher.fold(texts[label]), expected.decode(), "golden_fold.tsv", label)


def passages(texts):
    for label, how, expected in read("golden_passages.tsv"):
        words, profile = how.decode().split("/")
        start, found = 1, []
        for text, fingerprint in simhasher.passages(texts[label], profile, int(words)):
            found.append(f"{start}+{len(text)}={fingerprint}")
            start += len(text)
        same(" ".join(found).encode(), expected, "golden_passages.tsv", label, how)


def pages():
    texts = dict(read("golden_html_texts.tsv"))
    for label, what, expected in read("golden_html.tsv"):
        same(getattr(simhasher, what.decode())(texts[label]), expected.decode(), label, what)
        for unit, fold in (("word-2", ""), ("char-3", "-fold")):
            profile = f"{unit}-{what.decode()}{fold}"
            same(simhasher.simhash(texts[label], profile),
                 simhasher.simhash(expected, unit + fold), label, profile)
            same("".join(passage.text for passage in
                         simhasher.passages(texts[label], profile)),
                 "".join(passage.text for passage in simhasher.passages(expected)),
                 label, profile)


def refused(call, message, *arguments):
    try:
        call(*arguments)
        problems.append(f"{arguments} are not refused")
    except ValueError as error:
        same(bool(re.search(message, str(error))), True, arguments, str(error))


def refusals():
    for _, text in read("golden_bytes_texts.tsv"):
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            for call in (simhasher.simhash, simhasher.fold, simhasher.html,
                         simhasher.features, simhasher.passages):
                refused(call, f"^invalid UTF-8 at byte {error.start + 1}: "
                        f"0x{text[error.start]:02x}", text)
    for n in range(70):
        for bad in (b"\0", b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xe4\xb8", b"\x80"):
            refused(simhasher.simhash, f"at byte {n + 1}: 0x{bad[0]:02x}",
                    b"a" * n + bad)
            refused(simhasher.simhash, f"at byte {2 * n + 1}: 0x{bad[0]:02x}",
                    "é".encode() * n + bad + b"b" * 40)
    refused(simhasher.simhash, "surrogates", "half \ud800")
    for name in ("", "word-11", "no\xffthing", "word-2-seed-9223372036854775808",
                 "-seed-1", "java-hashcode-fold", "x" * 5000):
        refused(simhasher.simhash, "^profile \".*\" does not exist", "a text", name)
    refused(simhasher.simhash, "byte 0", "a text", "word-2\0")
    for bits in (0, 63, 65, 1088, -64, 1 << 32 | 64):
        refused(simhasher.simhash_bits, "^bits", b"a text", bits)
    for words in (3, 1001, 1 << 32 | 25):
        refused(simhasher.passages, "^words", b"a text", None, words)


def similarities():
    a, b = b"one two three four, two three", b"two three four five"
    same(simhasher.jaccard(a, b), 2 / 5, "jaccard")
    same(round(simhasher.cosine(a, b, "word-2-count"), 12),
         round(3 / (7 * 3) ** .5, 12), "cosine")
    same(simhasher.features(a), 4, "features")
    for measure in (simhasher.jaccard, simhasher.cosine):
        same(measure(a, a), 1.0, measure)
        same(measure(a, b"..."), None, measure)
    same(simhasher.hamming(-1, 0), 64, "hamming")
    same(simhasher._library.simhasher_distance(b"\x01" + bytes(15), b"\0" * 15 + b"\xff", 2),
         9, "distance")


def nested():
    """A call within a call, as of a signal handler, leaves its results alone."""
    with simhasher._hasher() as hasher:
        hasher.fingerprint(0, b"a text", 64, None)
        there = hasher.words[0]
        simhasher.simhash(b"another text")
        same(hasher.words[0], there, "nested")


def main():
    texts = dict(read("golden_texts.tsv"))
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        for work in [threads.submit(*call) for call in (
                (fingerprints, texts, "golden.tsv", "simhash"),
                (fingerprints, texts, "golden_minhash.tsv", "minhash"), (wide, texts),
                (folded, texts), (passages, texts), (pages,), (refusals,), (similarities,), (nested,))]:
            work.result()
    for problem in problems:
        print(problem)
    print(f"{compared} results compared, {len(problems)} wrong")
    sys.exit(1 if problems or compared < 20000 else 0)


main()
