#!/usr/bin/env python3
"""
Strings that are no hash are an error, and never another number.

Strings as programs write hashes, most of them in another format, of another number
of bits or damaged, are read by simhash_read_hash and by a second implementation:
regular expressions, and Python's own numbers and base64.  What the one takes, the
other takes as the same bits, and refuses the rest.

SIMHASH_ROUNDS is how many strings are tried (20,000), SIMHASH_SEED as for
check_generator.py.  Prints the seed, and how many were hashes.

SPDX-License-Identifier: PostgreSQL
"""

import base64
import collections
import os
import random
import re
import string
import sys

sys.dont_write_bytecode = True
import psycopg
from database import new_utf8_database

ROUNDS = int(os.environ.get('SIMHASH_ROUNDS', 20000))
SEED = int(os.environ.get('SIMHASH_SEED', random.randrange(1, 1 << 30)))
DATABASE = 'check_hashes'
BATCH = 5000
WIDTHS = (64, 64, 64, 32, 128, 144, 256, 1024, 1, 7, 8, 12, 49, 63, 65)
FORMATS = ('hex', 'hex-short', 'binary', 'decimal', 'base64', 'base64url', 'jimp')
JIMP = string.digits + string.ascii_lowercase + string.ascii_uppercase + '$_'
REVERSED = ('none', 'none', 'none', 'bits', 'bytes', 'words', 'all')

ASK = """
CREATE EXTENSION simhash;
CREATE FUNCTION read(hash text, bits int, format text, reversed text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    RETURN simhash_read_hash(hash, bits, format, reversed)::text;
EXCEPTION WHEN invalid_text_representation THEN
    RETURN 'no hash';
END $$
"""


# The second implementation

def octets(text, bits, other):
    """The number that base64 stands for, or None."""
    if bits % 8 or not re.fullmatch(r'[A-Za-z0-9%s]+={0,2}' % re.escape(other), text):
        return None
    bare = text.rstrip('=')
    padded = bare + '=' * (-len(bare) % 4)
    if text not in (bare, padded) or len(bare) % 4 == 1:
        return None
    data = base64.b64decode(padded, other.encode(), validate=True)
    again = base64.b64encode(data, other.encode()).decode()
    return int.from_bytes(data, 'big') if len(data) * 8 == bits and again == padded else None


def number(text, bits, format):
    """The number of so many bits that a string is in a format, or None."""
    value = None
    if format == 'hex' and re.fullmatch('(0[xX])?[0-9a-fA-F]{%d}' % -(-bits // 4), text):
        value = int(text, 16)
    elif (format == 'hex-short' and
          re.fullmatch('(0[xX])?[0-9a-fA-F]{1,%d}' % -(-bits // 4), text)):
        value = int(text, 16)
    elif format == 'binary' and re.fullmatch('[01]{%d}' % bits, text):
        value = int(text, 2)
    elif format == 'decimal' and re.fullmatch('-?[0-9]+', text) and len(text.lstrip('-')) <= 1024:
        value = int(text)
        if text[0] == '-':
            value = value + 2 ** bits if -2 ** (bits - 1) <= value < 0 else None
    elif format == 'base64':
        value = octets(text, bits, '+/')
    elif format == 'base64url':
        value = octets(text, bits, '-_')
    elif (format == 'jimp' and len(text) == -(-bits // 6) and
          all(letter in JIMP for letter in text)):
        value = sum(JIMP.index(letter) * 64 ** i for i, letter in enumerate(text[::-1]))
    return value if value is not None and value < 2 ** bits else None


def turned(digits, how):
    """Binary digits, reversed in a way."""
    def parts(text, size):
        return [text[at:at + size] for at in range(0, len(text), size)]

    if how == 'all':
        return digits[::-1]
    if how == 'words':
        return ''.join(parts(digits, 64)[::-1])
    if how == 'bits':
        return ''.join(part[::-1] for part in parts(digits, 8))
    if how == 'bytes':
        return ''.join(''.join(parts(part, 8)[::-1]) for part in parts(digits, 64))
    return digits


def whole(bits, how):
    """Can a hash be reversed so?"""
    size = {'none': 1, 'all': 1, 'words': 64, 'bits': min(8, bits),
            'bytes': 64 if bits > 64 else 8}[how]
    return bits % size == 0 and (how != 'bytes' or bits % 8 == 0)


# What programs write

def written(rng, bits, format):
    """A hash of so many bits in a format."""
    value = rng.getrandbits(bits) >> rng.choice((0, 0, 0, rng.randrange(bits)))
    if format == 'hex':
        text = '%0*x' % (-(-bits // 4), value)
        return rng.choice((text, text.upper(), '0x' + text))
    if format == 'hex-short':
        return '%x' % value
    if format == 'binary':
        return '{:0{}b}'.format(value, bits)
    if format == 'decimal':
        return str(value - 2 ** bits if value >> (bits - 1) and rng.random() < .5 else value)
    if format == 'jimp':
        text = ''
        while len(text) < -(-bits // 6):
            value, digit = divmod(value, 64)
            text = JIMP[digit] + text
        return text
    text = base64.b64encode(value.to_bytes(-(-bits // 8), 'big'),
                            b'-_' if format == 'base64url' else b'+/').decode()
    return rng.choice((text, text.rstrip('=')))


def damaged(rng, text):
    """A string with a letter more, less, or another one."""
    at = rng.randrange(len(text) + 1)
    letter = rng.choice(string.printable + '\u0661\u00e4\uff11')
    return rng.choice((text[:at] + text[at + 1:], text[:at] + letter + text[at:],
                       text[:at] + letter + text[at + 1:], text[:-1], text + letter,
                       '-' + text, text.upper(), text + text, text.lstrip('0')))


def drawn(rng):
    """A string, and what is said of it."""
    bits, format = rng.choice(WIDTHS), rng.choice(FORMATS)
    how = rng.choice([how for how in REVERSED if whole(bits, how)])
    said_bits, said_format = bits, format
    if rng.random() < .3:
        said_bits = rng.choice(WIDTHS)
    if rng.random() < .4:
        said_format = rng.choice(FORMATS)
    text = written(rng, bits, format)
    if rng.random() < .4:
        text = damaged(rng, text)
    if not whole(said_bits, how):
        how = 'none'
    return text, said_bits, said_format, how


def main():
    rng = random.Random(SEED)
    counts = collections.Counter()
    wrong = 0
    print('SIMHASH_SEED=%d' % SEED)
    with new_utf8_database(DATABASE), \
            psycopg.connect(dbname=DATABASE, autocommit=True) as session:
        session.execute(ASK)
        while sum(counts.values()) < ROUNDS:
            asked = [drawn(rng) for _ in range(BATCH)]
            for (text, bits, format, how), (came,) in zip(asked, session.execute(
                    'SELECT read(h, b, f, r) FROM unnest(%s::text[], %s::int[], '
                    '%s::text[], %s::text[]) WITH ORDINALITY AS u(h, b, f, r, n) '
                    'ORDER BY n', [list(column) for column in zip(*asked)])):
                value = number(text, bits, format)
                right = ('no hash' if value is None else
                         turned('{:0{}b}'.format(value, bits), how))
                counts[value is None] += 1
                if came != right:
                    wrong += 1
                    print('%r of %d bits, %s, reversed %s: %s, and not %s'
                          % (text, bits, format, how, came, right))
    print('%d hashes read, %d strings refused, %d wrong'
          % (counts[False], counts[True], wrong))
    return wrong > 0 or not counts[False] or not counts[True]


if __name__ == '__main__':
    sys.exit(main())
