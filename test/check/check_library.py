#!/usr/bin/env python3
"""
The library of lib/, by lib/python, computes the golden vectors, in several threads at
once, and refuses what is no text.

SPDX-License-Identifier: PostgreSQL
"""

import concurrent.futures
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "test/golden"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "lib/python"))
if "-fsanitize" in os.environ.get("COPT", ""):
    print(".. skipped: sanitizers of a library have to be those of the program")
    sys.exit()
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


WITHOUT_MEMORY = r"""
#include <errno.h>
#include <stdio.h>
#include "libsimhash.h"
static int none;
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n) { errno = ENOMEM; return none ? NULL : __real_malloc(n); }
void *__wrap_realloc(void *p, size_t n) { (void) p; (void) n; errno = ENOMEM; return NULL; }
int main(void)
{
    simhasher *one = simhasher_open(1);
    const simhasher_profile *html = simhasher_find_profile(one, "word-2-html");
    uint64_t words[1];
    size_t n;
    none = 1;
    printf("%d %d ", simhasher_fingerprint(one, html, 0, "a b", 3, 64, words),
           simhasher_count_features(one, NULL, "a b", 3, &n));
    printf("%d %s", simhasher_find_profile(one, "char-3-7-fold") != NULL, simhasher_error(one));
    return 0;
}
"""


def codes():
    library, words = simhasher._library, (ctypes.c_uint64 * 16)()
    with simhasher._hasher() as own:
        hasher = own.handle
        for bad in (b"\xff", b"a\0"):
            same(library.simhasher_fingerprint(hasher, None, 0, bad, len(bad), 64, words),
                 -2, bad)
            same(library.simhasher_count_features(hasher, None, bad, len(bad),
                                                  ctypes.c_size_t()), -2, bad)
        same(library.simhasher_fingerprint(hasher, None, 0, b"", 1 << 30, 64, words), -1,
             "1 GB")
        same(library.simhasher_fingerprint(hasher, None, 0, b"", 0, 65, words), -1, "bits")
    with tempfile.TemporaryDirectory() as folder:
        program = folder + "/program"
        subprocess.run(["cc", "-x", "c", "-", "-x", "none", "-I", ROOT / "lib", "-o", program,
                        "-Wl,--wrap=malloc,--wrap=realloc", ROOT / "lib/build/libsimhash.a",
                        "-lutf8proc", "-lm"], input=WITHOUT_MEMORY.encode(), check=True)
        same(subprocess.run([program], capture_output=True).stdout,
             b"-3 -3 0 out of memory", "without memory")


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
                (folded, texts), (passages, texts), (pages,), (refusals,), (codes,),
                (similarities,), (nested,))]:
            work.result()
    for problem in problems:
        print(problem)
    print(f"{compared} results compared, {len(problems)} wrong")
    sys.exit(1 if problems or compared < 20000 else 0)


main()
