#!/usr/bin/env python3
"""
The fingerprint once more, written from docs/fingerprint.md alone.

It shares no code, no table and no library with the extension but the hash
(the python binding of xxHash), so that when the two agree, both follow the
specification.  It is written to be read beside that page, section by section,
and fast only where most of its time goes: a text is cut once for all profiles, and
the 64 sums of a fingerprint are one number.

  reference.py fingerprint < texts      label, profile, fingerprint
  reference.py tfidf < texts            label, profile/k, fingerprint
  reference.py features PROFILE < texts label, feature, weight, hash
  reference.py sample < texts           fingerprints by all profiles in turn
  reference.py normalise < texts        label, normalised text
  reference.py fold ENCODING < texts    label, "fold", folded text
  reference.py random SEED N            N texts of code points of all planes
  reference.py cut < texts              label, "cut", what random texts are
                                        compared by: see write_cut
  reference.py compare A B < texts      how two files of fingerprints differ
  reference.py --regenerate             write the golden vectors
  reference.py --check                  test this file and the golden vectors

Texts are rows of a label and a document; all input and output is in the text
format of PostgreSQL's COPY.

SPDX-License-Identifier: PostgreSQL
"""

import functools
import io
import math
import os
import random
import re
import sys
import unicodedata

import xxhash

SPECIFIED_UNICODE = '14.0.0'
PIECE = 128                     # code points
SECTION = 1 << 20               # occurrences of features
GRAM = {'ideographic': 1, 'phonetic': 4}

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = (('golden_texts.tsv', 'golden.tsv'),
          ('golden_bytes_texts.tsv', 'golden_bytes.tsv'))
GOLDEN_TFIDF = ('golden_texts.tsv', 'golden_tfidf.tsv')
GOLDEN_FOLD = (('golden_texts.tsv', 'golden_fold.tsv'),
               ('golden_bytes_texts.tsv', 'golden_bytes_fold.tsv'))


# Section 1: input

def decode(document):
    """
    The code points of a document given as bytes.

    Each byte that is not part of valid UTF-8 becomes a surrogate.  No valid
    text has one, and its category, Cs, makes it the separator that it should
    be.  The decoder may take several bytes to be wrong at once, but those
    after the first cannot begin a character, so each would be wrong alone.
    """
    return document.decode('utf-8', 'surrogateescape')


# Section 2: the kind of a code point

def ranges(text):
    """Read ranges as the specification writes them."""
    result = []
    for part in text.split():
        first, _, last = part.partition('-')
        result.append((int(first, 16), int(last or first, 16)))
    return result


IGNORED = ranges('''
    AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F
    3164 FE00-FE0F FEFF FFA0 FFF0-FFFB 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF''')

RADICALS = ranges('2E80-2FDF')
RESERVED_IDEOGRAPHS = ranges('20000-3FFFD')

IDEOGRAPHIC = ranges('''
    2E80-2FDF 3005-3007 3021-3029 3031-3035 3038-303C 3041-312F 31A0-31BF
    31F0-31FF 3400-4DBF 4E00-9FFF A000-A4CF F900-FAFF FF66-FF9F 16FE0-18CFF
    18D00-18D8F 1AFF0-1B2FF 20000-3FFFD''')

PHONETIC = ranges('''
    E00-EFF 1000-109F 1780-17FF 1950-19DF 1A20-1AAF 1B00-1B7F A980-A9FF
    AA60-AADF''')


def within(char, table):
    """Is the code point in one of the ranges?"""
    return any(first <= ord(char) <= last for first, last in table)


def remembered(function):
    """A function of one code point that computes each answer once."""
    answers = {}

    def lookup(char):
        if char not in answers:
            answers[char] = function(char)
        return answers[char]
    return lookup


@remembered
def kind(char):
    """The kind of a code point: the first rule that fits decides."""
    category = unicodedata.category(char)
    if within(char, IGNORED):
        return 'ignored'
    if (category[0] not in 'LMN'
            and not (category == 'So' and within(char, RADICALS))
            and not (category == 'Cn' and within(char, RESERVED_IDEOGRAPHS))):
        return 'separator'
    if within(char, IDEOGRAPHIC):
        return 'ideographic'
    if within(char, PHONETIC):
        return 'phonetic'
    if category[0] == 'M':
        return 'mark'
    return 'word'


OPERATORS = ranges('''
    21 23 25 26 2A 2D 2F 3A 3F 40 5C FE13 FE15-FE16 FE55-FE57 FE5F-FE61 FE63
    FE68 FE6A-FE6B FF01 FF03 FF05-FF06 FF0A FF0D FF0F FF1A FF1F-FF20 FF3C''')


@remembered
def symbol(char):
    """Is a code point, which is a separator to others, a symbol?"""
    return kind(char) == 'separator' and (
        unicodedata.category(char)[0] == 'S' or within(char, OPERATORS))


# Section 3: runs and pieces

def runs(document, symbols=False):
    """
    The runs of a document, in order, each as (kind, code points); "symbols"
    tells that a profile is cut by symbol.
    """
    result = []
    before = 'separator'        # of what kind the last code point is
    running = None              # of what kind the run is that can go on
    for char in document:
        now = kind(char)
        if now == 'ignored':
            continue
        mark = now == 'mark'
        if mark:
            now = before
        elif symbols and symbol(char):
            now = 'symbol'
        before = now
        if now == 'separator':
            if running not in GRAM:
                running = None
        elif now == running and (mark or now != 'symbol'):
            result[-1][1].append(char)
        else:
            result.append((now, [char]))
            running = now
    return [(kind_of_run, ''.join(chars)) for kind_of_run, chars in result]


@remembered
def nfkc_casefold(char):
    """
    The property NFKC_CF of one code point.

    The Unicode Character Database defines it by what it is made of: case
    folding, compatibility decomposition and removal of what is ignorable,
    over and over until nothing changes, and composed at the end.
    """
    before, after = None, char
    while after != before:
        before = after
        after = unicodedata.normalize('NFKD', after.casefold())
        after = ''.join(c for c in after if not within(c, IGNORED))
    return unicodedata.normalize('NFC', after)


def normalise(piece):
    """toNFKC_Casefold of one piece."""
    return unicodedata.normalize('NFC', ''.join(map(nfkc_casefold, piece)))


def pieces(run):
    """The normalised pieces of a run."""
    return [normalise(run[at:at + PIECE]) for at in range(0, len(run), PIECE)]


# Section 4: normalised text

@functools.lru_cache(4)
def elements(document, symbols=False):
    """The elements of a document, in order, each as (kind, text)."""
    result = []
    for kind_of_run, run in runs(document, symbols):
        if kind_of_run in GRAM:
            result.append((kind_of_run, ''.join(pieces(run))))
        else:
            result.extend((kind_of_run, piece) for piece in pieces(run))
    return result


@functools.lru_cache(4)
def normalised_text(document, symbols=False):
    """The normalised text of a document."""
    return ' '.join(text for _, text in elements(document, symbols))


# Section 5: tokens

@functools.lru_cache(4)
def tokens_by_word(document, symbols=False):
    """Words and grams, as ranges (start, end) of the normalised text."""
    result = []
    start = 0
    for kind_of_run, text in elements(document, symbols):
        size = min(GRAM.get(kind_of_run, len(text)), len(text))
        result.extend((start + at, start + at + size)
                      for at in range(len(text) - size + 1))
        start += len(text) + 1
    return result


def tokens_by_symbol(document):
    """Words, grams and symbols, likewise."""
    return tokens_by_word(document, True)


@functools.lru_cache(4)
def tokens_by_character(document):
    """Code points, as ranges (start, end) of the normalised text."""
    return [(at, at + 1) for at in range(len(normalised_text(document)))]


# Section 9: profiles

def count(n):
    return n


def sqrt(n):
    return math.isqrt(n)


def log(n):
    # bit_length is 1 + floor(log2(n)), exactly
    return n.bit_length()


def binary(n):
    return 1


def capped(n):
    return 2 * min(n, 4) - 1


#    profile       cut by               min max damping
PROFILES = {
    'word-1-2': (tokens_by_word, 1, 2, log),
    'word-1': (tokens_by_word, 1, 1, count),
    'word-2': (tokens_by_word, 2, 2, binary),
    'word-3': (tokens_by_word, 3, 3, binary),
    'word-4': (tokens_by_word, 4, 4, binary),
    'char-3': (tokens_by_character, 3, 3, log),
    'char-4': (tokens_by_character, 4, 4, log),
    'char-5': (tokens_by_character, 5, 5, log),
    'word-2-capped': (tokens_by_word, 2, 2, capped),
}

CUTS = {'word': tokens_by_word, 'char': tokens_by_character,
        'symbol': tokens_by_symbol}
DAMPINGS = {'count': count, 'sqrt': sqrt, 'log': log, 'binary': binary,
            'capped': capped}
NAME = re.compile('(word|char|symbol)-([1-9][0-9]*)(?:-([1-9][0-9]*))?'
                  '(?:-(count|sqrt|log|binary|capped))?'
                  '(-fold)?(?:-seed-(0|[1-9][0-9]*))?$')

# those named by a pattern that have golden vectors
PATTERNED = ('word-2-count', 'word-2-sqrt', 'word-1-2-sqrt', 'word-1-binary',
             'word-2-3', 'word-10', 'word-1-10-count', 'char-1',
             'char-2-4-binary', 'char-10-sqrt', 'symbol-1', 'symbol-2',
             'symbol-2-capped', 'symbol-1-2-sqrt', 'word-2-capped-fold',
             'char-3-fold')

# those with a seed that have
SEEDED = ('word-2-capped-seed-4711',
          'word-2-capped-seed-9223372036854775807', 'word-1-2-seed-4711',
          'word-1-10-count-seed-9223372036854775807', 'char-3-seed-4711',
          'char-3-seed-9223372036854775807', 'symbol-2-seed-4711',
          'symbol-1-2-sqrt-seed-9223372036854775807',
          'word-2-fold-seed-4711')


def recipe(profile):
    """What the name of a profile stands for: cut, min, max, damping."""
    if profile in PROFILES:
        return PROFILES[profile]
    unit, shortest, longest, damping, *_ = NAME.match(profile).groups()
    shortest = int(shortest)
    longest = int(longest or shortest)
    if not 1 <= shortest <= longest <= 10:
        raise ValueError(profile)
    if damping is None:
        if unit == 'char' or longest > shortest:
            damping = 'log'
        else:
            damping = 'count' if shortest == 1 else 'binary'
    return CUTS[unit], shortest, longest, DAMPINGS[damping]


def folds(profile):
    """Does a profile fold letters, by its name?"""
    return NAME.match(profile)[5] is not None


def seed_of(profile):
    """The seed of a profile, by its name."""
    seed = int(NAME.match(profile)[6] or 0)
    if seed >= 1 << 63:
        raise ValueError(profile)
    return seed


def every_name():
    """Every name that the patterns allow, without what can stand behind."""
    return ['%s-%d%s%s' % (unit, shortest, longest, damping)
            for unit in CUTS for shortest in range(1, 11)
            for longest in [''] + ['-%d' % n for n in range(shortest, 11)]
            for damping in [''] + ['-' + name for name in DAMPINGS]]


# Section 6: features

def occurrences(document, profile):
    """The occurrences of features, in order."""
    cut, shortest, longest, _ = recipe(profile)
    if folds(profile):
        document = fold(document)
    text = normalised_text(document, cut is tokens_by_symbol)
    tokens = cut(document)
    if 0 < len(tokens) < shortest:
        return [text[tokens[0][0]:tokens[-1][1]]]
    return [text[tokens[last - size + 1][0]:tokens[last][1]]
            for last in range(len(tokens))
            for size in range(shortest, longest + 1)
            if size <= last + 1]


# Section 7: weights

def features(document, profile, section=SECTION):
    """The features of a document and their weights."""
    damping = recipe(profile)[3]
    found = occurrences(document, profile)
    weights = {}
    for start in range(0, len(found), section):
        counts = {}
        for feature in found[start:start + section]:
            counts[feature] = counts.get(feature, 0) + 1
        for feature, n in counts.items():
            weights[feature] = weights.get(feature, 0) + damping(n)
    return weights


# Section 8: fingerprint

def feature_hash(feature, seed=0):
    """The hash of a feature, unsigned."""
    result = xxhash.xxh3_64_intdigest(feature.encode('utf-8'), seed)
    if seed == 0:
        return result
    return (mix(result ^ mix(seed))
            ^ mix((seed + 0x9e3779b97f4a7c15) % (1 << 64)))


def signed(bits):
    """64 bits as a bigint of two's complement."""
    return bits - (1 << 64) if bits >> 63 else bits


# The bits of each byte of a hash, set apart, so that sums of 64 bits fit in between.
APART = [[sum(1 << 64 * (8 * place + i) for i in range(8) if byte >> i & 1)
          for byte in range(256)] for place in range(8)]


def majority(hashes):
    """The 64 bits that weigh more where they are set, of pairs (hash, weight)."""
    total = ones = 0
    for bits, weight in hashes:
        total += weight
        ones += weight * sum(apart[byte] for apart, byte
                             in zip(APART, bits.to_bytes(8, 'little')))
    return sum(1 << i for i in range(64)
               if 2 * (ones >> 64 * i & (1 << 64) - 1) > total)


def add_up(weights, seed=0):
    """The fingerprint of features with weights, or None."""
    if not any(weights.values()):
        return None
    return signed(majority((feature_hash(feature, seed), weight)
                           for feature, weight in weights.items()))


def fingerprint(document, profile):
    """The fingerprint of a document, or None."""
    return add_up(features(document, profile), seed_of(profile))


# Section 10: the second family, of which only the mixing is needed here

def mix(x):
    """The finish of SplitMix64."""
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & (1 << 64) - 1
    x = (x ^ x >> 27) * 0x94d049bb133111eb & (1 << 64) - 1
    return x ^ x >> 31


# Section 15: TF-IDF

def idf(documents, frequency):
    """The weight of a feature that so many of the documents have."""
    return math.floor((math.log((1 + documents) / (1 + frequency)) + 1)
                      * 65536 + 0.5)


def heaviest(weights, k, seed=0):
    """The k features that weigh most, with their weights."""
    order = sorted(weights, key=lambda feature: (
        -weights[feature], mix(feature_hash(feature, seed))))
    return {feature: weights[feature] for feature in order[:k]}


def tfidf(found, seed, k):
    """The fingerprint of each bag of features, by what all of them teach."""
    frequencies = {}
    for weights in found:
        for feature in weights:
            frequencies[feature] = frequencies.get(feature, 0) + 1
    return [add_up(heaviest({feature: weight * idf(len(found),
                                                   frequencies[feature])
                             for feature, weight in weights.items()}, k, seed),
                   seed)
            for weights in found]


# Section 17: folded letters

KEPT = ranges('B5 3131-318E FFA1-FFDC')

DROPPED = ranges('''
    300-337 339-36F 483-489 591-5C7 610-61A 64B-65F 670 6D6-6ED 898-89F 8CA-8FF
    1AB0-1AFF 1DC0-1DFF 20D0-20FF FE20-FE2F''')

#   code point   what stands for it
REPLACED = {
    '\u00e6': 'ae', '\u00f0': 'd', '\u00f8': 'o', '\u00fe': 'th',
    '\u0111': 'd', '\u0127': 'h', '\u0131': 'i', '\u0142': 'l',
    '\u014b': 'n', '\u0153': 'oe', '\u0167': 't', '\u0199': 'k',
    '\u01b4': 'y', '\u0253': 'b', '\u0254': 'o', '\u0257': 'd',
    '\u0259': 'e', '\u025b': 'e',
    '\u0629': '\u0647', '\u06c1': '\u0647', '\u06c3': '\u0647',
    '\u06d5': '\u0647', '\u0649': '\u064a', '\u06cc': '\u064a',
    '\u0671': '\u0627', '\u06a9': '\u0643',
    '\u02bb': "'", '\u02bc': "'", '\u2044': '/',
    **{chr(zero + digit): str(digit)
       for zero in (0x660, 0x6f0) for digit in range(10)},
}
TATWEEL = '\u0640'


def dropped(char):
    """Is a code point dropped from what a letter is decomposed to?"""
    return char == TATWEEL or (unicodedata.category(char)[0] == 'M'
                               and within(char, DROPPED))


@remembered
def folded(char):
    """What a code point is replaced by."""
    if kind(char) == 'ignored':
        return ''
    if (kind(char) in ('separator', 'ideographic', 'phonetic')
            or within(char, KEPT)):
        return char
    parts = unicodedata.normalize('NFD', nfkc_casefold(char))
    return unicodedata.normalize('NFC', ''.join(
        REPLACED.get(part, part) for part in parts if not dropped(part)))


def shown_in(char, encoding):
    """A code point as a database in an encoding shows it."""
    if encoding in ('UTF8', 'SQL_ASCII'):
        return char
    try:
        # as Python calls the encoding
        char.encode(encoding.replace('WIN', 'cp'))
    except UnicodeEncodeError:
        return '\\+%06X' % ord(char)
    return char


def fold(document, encoding='UTF8'):
    """A document with its letters folded."""
    return ''.join(shown_in(char, encoding)
                   for char in ''.join(map(folded, document)))


# Rows in the text format of COPY

ESCAPES = {ord('b'): 8, ord('f'): 12, ord('n'): 10, ord('r'): 13,
           ord('t'): 9, ord('v'): 11}
OCTAL = b'01234567'
HEXADECIMAL = b'0123456789abcdefABCDEF'


def digits(field, at, allowed, most):
    """How many of the allowed digits stand at a place, up to a limit."""
    n = 0
    while n < most and at + n < len(field) and field[at + n] in allowed:
        n += 1
    return n


def unescape(field):
    """The bytes that a field stands for, or None for the null value."""
    if field == b'\\N':
        return None
    result = bytearray()
    at = 0
    while at < len(field):
        byte = field[at]
        at += 1
        if byte == ord('\\') and at < len(field):
            byte = field[at]
            octal = digits(field, at, OCTAL, 3)
            hexadecimal = digits(field, at + 1, HEXADECIMAL, 2)
            if octal:
                byte = int(field[at:at + octal], 8) & 255
                at += octal
            elif byte == ord('x') and hexadecimal:
                byte = int(field[at + 1:at + 1 + hexadecimal], 16)
                at += 1 + hexadecimal
            else:
                byte = ESCAPES.get(byte, byte)
                at += 1
        result.append(byte)
    return bytes(result)


def escape(value):
    """A value as a field."""
    if value is None:
        return '\\N'
    result = str(value).replace('\\', '\\\\')
    for letter, byte in ESCAPES.items():
        result = result.replace(chr(byte), '\\' + chr(letter))
    return result


def read_rows(stream, columns):
    """The rows of a binary stream, as tuples of str or None."""
    for number, line in enumerate(stream, 1):
        line = line[:-1] if line.endswith(b'\n') else line
        if line == b'\\.':
            return
        fields = line.split(b'\t')
        if len(fields) != columns:
            raise SystemExit('line %d: %d columns instead of %d'
                             % (number, len(fields), columns))
        values = map(unescape, fields)
        yield tuple(None if v is None else decode(v) for v in values)


def write_row(stream, *values):
    """Write one row to a binary stream."""
    line = '\t'.join(map(escape, values)) + '\n'
    stream.write(line.encode('utf-8', 'surrogateescape'))


# Commands

def write_fingerprints(source, target):
    """Every text under every profile; a null document has no fingerprint."""
    for label, text in read_rows(source, 2):
        for profile in (*PROFILES, *PATTERNED, *SEEDED):
            value = None if text is None else fingerprint(text, profile)
            write_row(target, label, profile, value)


def write_sample(source, target):
    """Each name of a profile with a text, which are taken by label in turn."""
    texts = sorted(read_rows(source, 2))
    for number, profile in enumerate(every_name()):
        label, text = texts[number % len(texts)]
        write_row(target, label, profile, fingerprint(text, profile))


def write_tfidf(source, target):
    """Every text that is not NULL, by some profiles and numbers of features."""
    texts = [row for row in read_rows(source, 2) if row[1] is not None]
    for profile in ('word-1', 'word-3', 'char-3', 'word-1-seed-4711',
                    'char-3-seed-9223372036854775807', 'symbol-2-seed-4711'):
        found = [features(text, profile) for _, text in texts]
        for k in (7, 50, None):
            values = tfidf(found, seed_of(profile), k)
            for (label, _), value in zip(texts, values):
                write_row(target, label, '%s/%s' % (profile, k or 'all'),
                          value)


def write_features(profile, source, target):
    """The features of every text, in the order of their first occurrence."""
    for label, text in read_rows(source, 2):
        for feature, weight in features(text or '', profile).items():
            write_row(target, label, feature, weight,
                      signed(feature_hash(feature, seed_of(profile))))


def write_normalised(source, target):
    """The normalised text of every text."""
    for label, text in read_rows(source, 2):
        write_row(target, label,
                  None if text is None else normalised_text(text))


def write_folded(source, target, encoding='UTF8'):
    """Every text, folded, in a database in an encoding."""
    for label, text in read_rows(source, 2):
        write_row(target, label, 'fold',
                  None if text is None else fold(text, encoding))


def write_cut(source, target):
    """
    What random texts are compared by: the text folded, its features by symbol
    in order, and the fingerprint that these have by a profile with a seed.
    """
    profile = 'symbol-1-2-sqrt-seed-4711'
    for label, text in read_rows(source, 2):
        weights = features(text, profile)
        value = add_up(weights, seed_of(profile))
        write_row(target, label, 'cut', '|'.join(
            (fold(text), ';'.join('%s=%d' % pair for pair in weights.items()),
             '' if value is None else str(value))))


# Random texts: by planes and blocks, and what is easily got wrong

CHOSEN = ('\u0301\u0308\u0323\u0345\u064b\u0651\u20e3\u0e34\u3099',
          '!#%&*-/:?@\\', '.,;()"\' \n\t', 'aZ0', 'ÖğİıßŁæ',
          '\u0640\u0629\u0649\u06cc\u0661\u06f1\u0644', '北京かナ', 'กขคงไ',
          '+<=>^|~$`', '\u00ad\u200b\ufe0f\ufff9\ufffb', '😀👩\u200d🔬©',
          '\u1100\u1161\u11a7\u11a8한', '½ⅣﬁﷺŉÅ', 'अकि\u094d', 'אב\u05b8')
PLANES = ((0x80, 0x800), (0x800, 0x3400), (0xa000, 0xd800), (0xe000, 0x10000),
          (0x3400, 0xa000), (0x10000, 0x20000), (0x1d000, 0x1fb00),
          (0x20000, 0x40000), (0x40000, 0xe0000), (0xe0000, 0x110000))


def random_char(chooser):
    """A code point of a plane, or one of those that are chosen."""
    if chooser.random() < .6:
        return chooser.choice(chooser.choice(CHOSEN))
    return chr(chooser.randrange(*chooser.choice(PLANES)))


def write_random(seed, n, target):
    """Texts of a few code points; some of them are of a few repeated."""
    chooser = random.Random(seed)
    for number in range(n):
        length = chooser.choice((1, 2, 3, 5, 8, 12))
        some = [random_char(chooser) for _ in range(length)]
        if chooser.random() < .01:
            some = chooser.choices(some, k=chooser.randint(100, 400))
        write_row(target, number, ''.join(some))


def compare(path_a, path_b, source, target, limit=10):
    """
    Say where two files of fingerprints differ, and what this file makes of
    the texts in question.  Returns whether they agree.
    """
    tables = []
    for path in (path_a, path_b):
        with open(path, 'rb') as stream:
            tables.append({row[:2]: row[2] for row in read_rows(stream, 3)})
    wrong = {}
    for key in list(tables[0]) + list(tables[1]):
        if tables[0].get(key, '(none)') != tables[1].get(key, '(none)'):
            wrong.setdefault(key[0], {})[key[1]] = True
    texts = dict(read_rows(source, 2))
    for label in list(wrong)[:limit]:
        text = texts.get(label) or ''
        cut = normalised_text(text)
        write_row(target, 'label', label)
        for profile in wrong[label]:
            write_row(target, '  ' + profile,
                      *(t.get((label, profile), '(none)') for t in tables))
        write_row(target, '  normalised', cut)
        write_row(target, '  tokens',
                  *(cut[first:last] for first, last in tokens_by_word(text)))
    write_row(target, '%d of %d labels differ'
              % (len(wrong), len({label for table in tables
                                  for label, _ in table})))
    return not wrong


def regenerate():
    """Write the golden vectors."""
    for texts, vectors in GOLDEN:
        with open(os.path.join(HERE, texts), 'rb') as source, \
                open(os.path.join(HERE, vectors), 'wb') as target:
            write_fingerprints(source, target)
    for texts, vectors in GOLDEN_FOLD:
        with open(os.path.join(HERE, texts), 'rb') as source, \
                open(os.path.join(HERE, vectors), 'wb') as target:
            write_folded(source, target)
    texts, vectors = GOLDEN_TFIDF
    with open(os.path.join(HERE, texts), 'rb') as source, \
            open(os.path.join(HERE, vectors), 'wb') as target:
        write_tfidf(source, target)


# Tests of this file

# xxHash's own test vectors of XXH3_64bits, seed 0 and another: length, hash
XXH3_VECTORS = (
    (0, 0x2D06800538D394C2), (1, 0xC44BDFF4074EECDB),
    (6, 0x27B56A84CD2D7325), (12, 0xA713DAF0DFBB77E7),
    (24, 0xA3FE70BF9D3510EB), (48, 0x397DA259ECBA1F11),
    (80, 0xBCDEFBBB2C47C90A), (195, 0xCD94217EE362EC3A),
    (403, 0xCDEB804D65C6DEA4), (512, 0x617E49599013CB6B),
    (2048, 0xDD59E2C3A5F038E0), (2240, 0x6E73A90539CF2948),
    (2367, 0xCB37AEB9E5D361ED),
)

XXH3_SEED = 11400714785074694797
XXH3_SEEDED_VECTORS = (
    (0, 0xA8A6B918B2F0364A), (1, 0x032BE332DD766EF8),
    (6, 0x84589C116AB59AB9), (12, 0xE7303E1B2336DE0E),
    (24, 0x850E80FC35BDD690), (48, 0xADC2CBAA44ACC616),
    (80, 0xC6DD0CB699532E73), (195, 0xBA68003D370CB3D9),
    (403, 0x6259F6ECFD6443FD), (512, 0x3CE457DE14C27708),
    (2048, 0x66F81670669ABABC), (2240, 0x757BA8487D1B5247),
    (2367, 0xD2DB3415B942B42A),
)


def check_hash():
    """The hash is XXH3: over the buffer that its own tests are made with."""
    state = 2654435761
    buffer = bytearray()
    while len(buffer) < XXH3_VECTORS[-1][0]:
        buffer.append(state >> 56)
        state = state * 11400714785074694797 & (1 << 64) - 1
    for length, value in XXH3_VECTORS:
        assert xxhash.xxh3_64_intdigest(bytes(buffer[:length])) == value
    assert feature_hash('a') == 0xE6C632B61E964E1F
    assert feature_hash('abc') == 0x78AF5F94892F3950
    for length, value in XXH3_SEEDED_VECTORS:
        assert xxhash.xxh3_64_intdigest(bytes(buffer[:length]),
                                        XXH3_SEED) == value


def check_example():
    """The worked example of the specification."""
    text = 'Die GRÖSSE: 北京大学'
    assert [run for _, run in runs(text)] == ['Die', 'GRÖSSE', '北京大学']
    cut = normalised_text(text)
    assert cut == 'die grösse 北京大学'
    assert [cut[a:b] for a, b in tokens_by_word(text)] \
        == ['die', 'grösse', '北', '京', '大', '学']
    assert features(text, 'word-2') == dict.fromkeys(
        ('die grösse', 'grösse 北', '北京', '京大', '大学'), 1)


def check_rules():
    """What is easily got wrong, one line a rule."""
    assert decode(b'a\xe4\xbdb\xed\xa0\x80\xf5') \
        == 'a\udce4\udcbdb\udced\udca0\udc80\udcf5'
    assert normalised_text(decode(b'a\xe4\xbdb')) == 'a b'
    assert normalised_text('\u0301a b\u0301 \u0301\u5317\u0301\u5317') \
        == 'a b\u0301 \u5317\u0301\u5317'
    assert normalised_text('北,\n京 大。学') == '北京大学'
    assert normalised_text('北 a 京') == '北 a 京'
    assert normalised_text('北 \u0301京\u0301') == '北京\u0301'
    assert normalised_text('กข คง') == 'กขคง'
    assert normalised_text('กข 北') == 'กข 北'
    assert len(tokens_by_word('ก ' * 5)) == 2
    assert normalised_text('1\ufe0f\u20e3 *\u20e3 \ufff9a\ufffbb') \
        == '1\u20e3 ab'
    assert normalised_text('x*\u20e3=-1, 北+京', True) \
        == 'x *\u20e3 = - 1 北 + 京'
    assert occurrences('a++b', 'symbol-2') == ['a +', '+ +', '+ b']
    assert occurrences('北 京+', 'symbol-1') == ['北', '京', '+']
    assert normalised_text('a\u00adb') == 'ab'
    assert normalised_text('か\u3099') == 'が'
    assert normalised_text('\u2f00\u2e9a\u2e80') == '\u4e00\u2e80'
    assert kind('\U0002fffd') == 'ideographic'
    assert [len(t) for _, t in elements('x' * 257)] == [128, 128, 1]
    assert [len(t) for _, t in elements('北' * 257)] == [257]
    assert [len(tokens_by_word('ก' * n)) for n in (3, 4, 5)] == [1, 1, 2]
    assert occurrences('北', 'word-2') == ['北']
    assert occurrences('a b c', 'word-4') == ['a b c']
    assert occurrences('ab', 'char-3') == ['ab']
    assert occurrences('-', 'word-1') == []
    assert fingerprint('', 'word-1') is None
    assert [damping(9) for damping in (count, sqrt, log, binary, capped)] \
        == [9, 3, 4, 1, 7]
    for name in ('word-2-2', 'word-2-2-binary', 'word-2-binary'):
        assert recipe(name) == PROFILES['word-2']
    assert all(recipe(name) == (*row[:3], row[3])
               for name, row in PROFILES.items())
    assert recipe('char-7') == (tokens_by_character, 7, 7, log)
    assert recipe('word-1-count') == PROFILES['word-1']
    assert recipe('word-1-2-log') == PROFILES['word-1-2']
    assert len(set(map(recipe, every_name()))) == 3 * 55 * 5
    assert recipe('word-2-seed-7') == PROFILES['word-2']
    assert [seed_of(name) for name in ('word-2', 'char-3-7-sqrt-seed-0',
                                       SEEDED[1])] == [0, 0, (1 << 63) - 1]
    assert not NAME.match('word-2-seed-01') and not NAME.match('word-2-seed-')
    assert [capped(n) for n in (1, 2, 3, 4, 5)] == [1, 3, 5, 7, 7]
    assert [log(n) for n in (1, 2, 3, 4, 7, 8)] == [1, 2, 2, 3, 3, 4]
    assert features('a ' * (16 + 3), 'word-1-2', 16)['a'] == 4 + 4 + 2
    assert mix(1) == 0x5692161d100b05e5
    assert (idf(2, 1), idf(0, 0)) == (92109, 65536)
    assert list(heaviest(dict.fromkeys('abcde', 1) | {'f': 2}, 3)) \
        == sorted('abcdef', key=lambda c: (c != 'f', mix(feature_hash(c))))[:3]
    assert fold('ÖĞRENCİ Łódź ½') == 'ogrenci lodz 1/2'
    assert fold('ｇＥ\u0301é') == 'gee'
    assert fold('\u0643\u0650\u062a\u064e\u0627\u0628') \
        == '\u0643\u062a\u0627\u0628'
    assert fold('-\u2044\u00ad\u0301が\udcff') == '-\u2044が\udcff'
    assert unescape(b'a\\tb\\\\\\x41\\101\\q') == b'a\tb\\AAq'
    assert escape('a\tb\\') == 'a\\tb\\\\'


def check_golden():
    """The golden vectors are what this file computes."""
    for texts, vectors in GOLDEN:
        with open(os.path.join(HERE, vectors), 'rb') as stream:
            expected = {row[:2]: row[2] for row in read_rows(stream, 3)}
        with open(os.path.join(HERE, texts), 'rb') as stream:
            for label, text in read_rows(stream, 2):
                for profile in (*PROFILES, *PATTERNED, *SEEDED):
                    value = fingerprint(text, profile)
                    value = None if value is None else str(value)
                    assert expected.pop((label, profile)) == value, label
        assert not expected, expected
    for texts, vectors in GOLDEN_FOLD:
        computed = io.BytesIO()
        with open(os.path.join(HERE, texts), 'rb') as stream:
            write_folded(stream, computed)
        with open(os.path.join(HERE, vectors), 'rb') as stream:
            assert stream.read() == computed.getvalue()
    texts, vectors = GOLDEN_TFIDF
    computed = io.BytesIO()
    with open(os.path.join(HERE, texts), 'rb') as stream:
        write_tfidf(stream, computed)
    with open(os.path.join(HERE, vectors), 'rb') as stream:
        assert stream.read() == computed.getvalue()


def check_case_folding():
    """
    NFKC_CF as the Unicode Character Database has it, where it is installed:
    for every code point that was assigned in the Unicode specified.
    """
    path = '/usr/share/unicode/DerivedNormalizationProps.txt'
    if not os.path.exists(path):
        return 'not compared with the Unicode Character Database'
    listed = {}
    with open(path, encoding='utf-8') as stream:
        for line in stream:
            fields = line.partition('#')[0].split(';')
            if len(fields) == 3 and fields[1].strip() == 'NFKC_CF':
                value = ''.join(chr(int(c, 16)) for c in fields[2].split())
                for first, last in ranges(fields[0].replace('..', '-')):
                    listed.update((c, value) for c in range(first, last + 1))
    for code in range(0x110000):
        if unicodedata.category(chr(code)) not in ('Cn', 'Cs'):
            assert nfkc_casefold(chr(code)) == listed.get(code, chr(code)), \
                'U+%04X' % code
    return 'compared with the Unicode Character Database'


def check():
    """All tests."""
    check_hash()
    check_example()
    check_rules()
    check_golden()
    print('passed; NFKC_CF ' + check_case_folding())


def main(arguments):
    """The command line; returns the exit status."""
    if unicodedata.unidata_version != SPECIFIED_UNICODE:
        print('reference.py: the specification follows Unicode %s, this '
              'Python follows Unicode %s; run it under Python 3.11'
              % (SPECIFIED_UNICODE, unicodedata.unidata_version),
              file=sys.stderr)
        return 2
    source, target = sys.stdin.buffer, sys.stdout.buffer
    if arguments == ['fingerprint']:
        write_fingerprints(source, target)
    elif arguments == ['sample']:
        write_sample(source, target)
    elif arguments == ['tfidf']:
        write_tfidf(source, target)
    elif arguments == ['normalise']:
        write_normalised(source, target)
    elif len(arguments) == 2 and arguments[0] == 'fold':
        write_folded(source, target, arguments[1])
    elif arguments == ['cut']:
        write_cut(source, target)
    elif len(arguments) == 3 and arguments[0] == 'random':
        write_random(arguments[1], int(arguments[2]), target)
    elif len(arguments) == 2 and arguments[0] == 'features' \
            and (arguments[1] in PROFILES or NAME.match(arguments[1])):
        write_features(arguments[1], source, target)
    elif len(arguments) == 3 and arguments[0] == 'compare':
        return 0 if compare(*arguments[1:], source, target) else 1
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
