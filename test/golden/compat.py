#!/usr/bin/env python3
"""
What other implementations of SimHash compute, written again from
their description, for the profiles that promise the same.

  compat.py <rows >rows      rows of a label and a text in, rows of
                             a label, a profile, a fingerprint out
  compat.py hashbits         the same with the width in place of a profile,
                             of the words between blanks, in bits
  compat.py --check          the vectors that they publish

SPDX-License-Identifier: PostgreSQL
"""

import hashlib
import re
import sys

import xxhash

from reference import read_rows, signed, write_row


def add_up(hashes):
    """Bits whose ones outnumber their zeros."""
    return sum(1 << i for i in range(64)
               if 2 * sum(h >> i & 1 for h in hashes) > len(hashes))


def md5(text):
    return hashlib.md5(text.encode('utf-8')).digest()


def python_simhash(text):
    letters = ''.join(re.findall(r'[\w\u4e00-\u9fcc]+', text.lower()))
    return add_up([int.from_bytes(md5(letters[i:i + 4])[-8:], 'big')
                   for i in range(max(len(letters) - 3, 1))])


def seomoz_shingle(text):
    words = re.split(r'\W+', text.lower(), flags=re.UNICODE)
    return add_up([int.from_bytes(md5(' '.join(words[i:i + 4]))[:8], 'big')
                   for i in range(len(words) - 3)])


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        yield byte


CRC = list(crc_table())


def crc32c(data, mask):
    if not data:
        return 2 ** 64 - 1
    crc = 2 ** 32 - 1
    for byte in data:
        crc = crc >> 8 ^ CRC[(crc ^ (byte | mask)) & 255]
    return crc


def clickhouse_ngram(text, mask):
    data = text.encode('utf-8')
    if len(data) < 3:
        return crc32c(data, mask)
    return add_up([crc32c(data[i:i + 3], mask)
                   for i in range(len(data) - 2)])


def clickhouse_ngram_utf8(text, mask):
    if len(text) < 3:
        return crc32c(text.encode('utf-8'), mask)
    return add_up([crc32c(text[i:i + 3].encode('utf-8'), mask)
                   for i in range(1, len(text) - 2)])


def clickhouse_word_shingle(text, mask):
    words = [word for word in re.findall(rb'[0-9A-Za-z\x80-\xff]+',
                                         text.encode('utf-8'))
             if len(word) >= 4]
    if not words:
        return 0
    return add_up([crc32c(b''.join(words[i:i + 3]), mask)
                   for i in range(max(len(words) - 2, 1))])


def java_split(text):
    """text.split(" ") of Java."""
    if not text:
        return ['']
    words = text.split(' ')
    while words and not words[-1]:
        words.pop()
    return words


def java_hash(word):
    """word.hashCode() of Java."""
    data = word.encode('utf-16-be', 'surrogatepass')
    value = 0
    for at in range(0, len(data), 2):
        value = (value * 31 + int.from_bytes(data[at:at + 2], 'big')) % 2 ** 32
    return value


def java_hashcode(text):
    sums = [0] * 32
    for word in java_split(text):
        for i in range(32):
            sums[i] += 1 if java_hash(word) >> i & 1 else -1
    return sum(1 << i for i in range(32) if sums[i] > 0)


def daft_ngram(text):
    """simhash of Daft, of 3-grams by XXH3."""
    return add_up([xxhash.xxh3_64_intdigest(text[i:i + 3].encode('utf-8'))
                   for i in range(len(text) - 2)])


def fnv(data):
    """FNV-1 of 64 bits."""
    value = 0xcbf29ce484222325
    for byte in data:
        value = value * 0x100000001b3 % 2 ** 64 ^ byte
    return value


def mfonda_word(text):
    """Simhash(NewWordFeatureSet(text)) of Go's mfonda/simhash."""
    text = text.replace('\u0130', 'i').lower()
    hashes = [fnv(word.encode()) for word in
              re.findall(r"[\w']+(?:://[\w./]+)?", text, flags=re.ASCII)]
    return sum(1 << i for i in range(64)
               if 2 * sum(h >> i & 1 for h in hashes) >= len(hashes))


def hashbits_hash(token, bits):
    """The hash of the 128-bit class."""
    if not token:
        return 0
    x = ord(token[0]) << 7
    for c in token:
        x = (x * 1000003 ^ ord(c)) % 2 ** bits
    return x ^ len(token)


def hashbits(tokens, bits):
    """The fingerprint of the 128-bit class."""
    sums = [0] * bits
    for token in tokens:
        value = hashbits_hash(token, bits)
        for i in range(bits):
            sums[i] += 1 if value >> i & 1 else -1
    return sum(1 << i for i in range(bits) if sums[i] >= 0)


PROFILES = {
    'daft-ngram': daft_ngram,
    'java-hashcode': java_hashcode,
    'mfonda-word': mfonda_word,
    'python-simhash': python_simhash,
    'seomoz-shingle': seomoz_shingle,
    'clickhouse-ngram': lambda t: clickhouse_ngram(t, 0),
    'clickhouse-ngram-ci': lambda t: clickhouse_ngram(t, 0x20),
    'clickhouse-ngram-utf8': lambda t: clickhouse_ngram_utf8(t, 0),
    'clickhouse-ngram-ci-utf8': lambda t: clickhouse_ngram_utf8(t, 0x20),
    'clickhouse-word-shingle': lambda t: clickhouse_word_shingle(t, 0),
    'clickhouse-word-shingle-ci': lambda t: clickhouse_word_shingle(t, 0x20),
}

#   the vectors that are published, by profile and text
VECTORS = {
    ('java-hashcode', 'this is string1'): 1445386,
    ('java-hashcode', 'this is string2'): 1445386,
    ('java-hashcode', '6'): 54,
    ('java-hashcode', '8'): 56,
    ('python-simhash', ''): 16825458760271544958,
    ('clickhouse-ngram', ''): 18446744073709551615,
    ('clickhouse-ngram', 'ClickHouse'): 1627567969,
    ('clickhouse-ngram-ci', 'ClickHouse'): 562180645,
    ('clickhouse-ngram-utf8', 'ClickHouse'): 1628157797,
    ('clickhouse-ngram-ci-utf8', 'ClickHouse'): 1636742693,
    ('clickhouse-ngram', 'what a cute cat.'): 130877626,
    ('clickhouse-ngram-ci-utf8', 'what a cute cat.'): 2414681787,
    ('clickhouse-word-shingle', 'what a cute cat.'): 3795742796,
    ('clickhouse-word-shingle-ci', 'what a cute cat.'): 3795742796,
}


def main(arguments):
    if arguments == ['--check']:
        wrong = [key for key, value in VECTORS.items()
                 if PROFILES[key[0]](key[1]) != value]
        for key in wrong:
            print('FAIL', *key)
        return 1 if wrong else 0
    if arguments == ['hashbits']:
        for label, text in read_rows(sys.stdin.buffer, 2):
            for bits in (1, 31, 32, 33, 64, 100, 128, 576, 1024):
                value = hashbits((text or '').split(' '), bits)
                write_row(sys.stdout.buffer, label, bits,
                          format(value, '0%db' % bits))
        return 0
    for label, text in read_rows(sys.stdin.buffer, 2):
        for profile, compute in PROFILES.items():
            write_row(sys.stdout.buffer, label, profile,
                      None if text is None else signed(compute(text)))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
