#!/usr/bin/env python3
"""
Passages and what documents have of each other once more, written from sections
14 and 16 of docs/fingerprint.md, and docs/reference.md, alone; the kinds, the
normal form and the fingerprints are those of the other references.

  reference_passages.py passages ENCODING < texts   label, words/profile,
                                                    passages
  reference_passages.py shared ENCODING < texts     label, the next label,
                                                    min_words, passages
  reference_passages.py containment < texts         label, the next label,
                                                    profile, containment
  reference_passages.py random ENCODING SEED N      N texts that it can hold
  reference_passages.py --regenerate                write the golden vectors
  reference_passages.py --check                     test them

Passages are "start+length=fingerprint", or "start+length=start+length*words" in
two documents, with spaces between them.  Texts are rows of a label and a
document; all input and output is in the text format of PostgreSQL's COPY.

SPDX-License-Identifier: PostgreSQL
"""

import io
import os
import random
import re
import sys

from reference import (HERE, PIECE, decode, features, kind, normalise,
                       read_rows, write_row)
from reference_minhash import WORD, fingerprint, mix

GOLDEN = ('golden_texts.tsv', 'golden_passages.tsv')
# What vectors are made of: words of a passage, profile
VECTORS = ((4, 'word-2-capped'), (25, 'word-2-capped'),
           (4, 'char-3-seed-4711'), (25, 'symbol-2-seed-9223372036854775807'))
SCRAMBLE = 0x9e3779b97f4a7c15
MOST = 4                        # times the mean
LEAST = (1, 2, 8)               # words of a shared passage
PLACES = 16                     # of a window, that are looked at
PROFILES = ('word-2-capped', 'word-1', 'char-3', 'word-1-2-sqrt', 'symbol-2',
            'word-2-capped-seed-4711')

# Two code points that are one character of EUC_JIS_2004
COMBINED = re.compile('[かきくけこカキクケコセツト]\u309a|.', re.DOTALL)


def characters(document, encoding):
    """The characters of a document in an encoding, as substr() counts them."""
    if encoding == 'SQL_ASCII':
        return [bytes([byte]).decode('latin-1')
                for byte in document.encode('utf-8', 'surrogateescape')]
    if encoding == 'EUC_JIS_2004':
        return COMBINED.findall(document)
    return list(document)


def document_of(some, encoding):
    """The document that has these characters."""
    if encoding == 'SQL_ASCII':
        return decode(''.join(some).encode('latin-1'))
    return ''.join(some)


def places(document, encoding):
    """The characters that each code point stands in: first, behind the last."""
    if encoding == 'SQL_ASCII':
        result, at = [], 0
        for char in document:
            length = len(char.encode('utf-8', 'surrogateescape'))
            result.append((at, at + length))
            at += length
        return result
    return [(place, place + 1)
            for place, char in enumerate(characters(document, encoding))
            for _ in char]


def words(document):
    """The words of a document: place, kind, code points, last place."""
    result = []
    run = 'separator'
    for place, char in enumerate(document):
        now = kind(char)
        if now == 'ignored':
            continue
        mark = now == 'mark'
        if mark:
            now = run
        if now != 'separator':
            if (now == run and (now == 'word' or mark)
                    and len(result[-1][2]) < PIECE):
                result[-1][2].append(char)
                result[-1][3] = place
            else:
                result.append([place, now, [char], place])
        run = now
    return result


def word_hash(chars):
    """The hash of a word."""
    data = normalise(''.join(chars)).encode('utf-8')
    result = 0
    for at in range(0, len(data), 8):
        result ^= int.from_bytes(data[at:at + 8], 'little')
        result = result * SCRAMBLE % WORD
        result ^= result >> 32
    return result


def borders(document, size):
    """The places where passages begin, but for the first."""
    found = words(document)
    places, hashes = [], []     # in quarters, of borders
    at, before = 0, 0
    for _, of_kind, chars, _ in found:
        here = word_hash(chars)
        places.append(at)
        hashes.append(mix((before * SCRAMBLE + here) % WORD) if at else 0)
        at += 1 if of_kind == 'phonetic' else 4
        before = here

    reach = size // 2 * 4
    result, last = [], 0
    for i in range(1, len(found)):
        before = [hashes[j] for j in range(max(i - reach, 0), i)
                  if places[j] + reach >= places[i]]
        behind = [hashes[j] for j in range(i, min(i + reach + 1, len(found)))
                  if places[j] <= places[i] + reach]
        least = (hashes[i] < min(before, default=WORD) and hashes[i] == min(behind)
                 and places[-1] > places[i] + reach)
        if least or places[i] >= places[last] + MOST * size * 4:
            result.append(found[i][0])
            last = i
    return result


def passages(document, size, encoding='UTF8', profile='word-2-capped'):
    """The passages of a document: start, from 1, length, fingerprint."""
    if not words(document):
        return []
    chars = characters(document, encoding)
    place = places(document, encoding)
    # Of two that begin in one character, there is the first.
    starts = sorted({0, *(place[at][0] for at in borders(document, size))})
    ends = starts[1:] + [len(chars)]
    return [(start + 1, end - start,
             fingerprint(document_of(chars[start:end], encoding), profile))
            for start, end in zip(starts, ends)]


def rows(stream, encoding='UTF8'):
    """Rows of a label, words and profile, and the passages, as bytes."""
    for label, text in read_rows(stream, 2):
        for size, profile in VECTORS:
            # a passage of which no feature is left has no fingerprint
            found = ' '.join('%d+%d=%s' % (start, length, '' if fp is None else fp)
                             for start, length, fp
                             in passages(text or '', size, encoding, profile))
            yield b'%s\t%d/%s\t%s\n' % (label.encode(), size,
                                        profile.encode(), found.encode())


def shared(a, b, least):
    """The words that two lists have in common: places in both, and number."""
    windows = {}
    for at in range(len(a) - least + 1):
        windows.setdefault(tuple(a[at:at + least]), []).append(at)
    result, at = [], 0
    while at <= len(b) - least:
        most, place = 0, 0
        for start in windows.get(tuple(b[at:at + least]), [])[:PLACES]:
            n = least
            while a[start + n:start + n + 1] == b[at + n:at + n + 1] != []:
                n += 1
            if n > most:
                most, place = n, start
        if most:
            result.append((place, at, most))
        at += most or 1
    return result


def shown(found, place, first, n):
    """Where some words are, as start and length."""
    start = place[found[first][0]][0]
    return '%d+%d' % (start + 1, place[found[first + n - 1][3]][1] - start)


def pairs(stream):
    """Each document and the next one by label, with the labels."""
    texts = sorted(((label, text or '') for label, text
                    in read_rows(stream, 2)), key=lambda row: row[0].encode())
    return zip(texts, texts[1:] + texts[:1])


def write_shared(encoding, source, target):
    """What each document shares with the next one."""
    for (label, a), (next_label, b) in pairs(source):
        found = [words(a), words(b)]
        normal = [[normalise(''.join(word[2])) for word in some]
                  for some in found]
        place = [places(a, encoding), places(b, encoding)]
        for least in LEAST:
            write_row(target, label, next_label, least, ' '.join(
                '%s=%s*%d' % (shown(found[0], place[0], at_a, n),
                              shown(found[1], place[1], at_b, n), n)
                for at_a, at_b, n in shared(*normal, least)))


def containment(a, b):
    """The share of a that b has."""
    return len(a & b) / len(a) if a else None


def write_containment(source, target):
    """How much of each document the next one has, by profiles and parts."""
    for (label, a), (next_label, b) in pairs(source):
        sets = {profile: [set(features(text, profile)) for text in (a, b)]
                for profile in PROFILES}
        sets['array'] = [set(text.split(' ') if text else ())
                         for text in (a, b)]
        for profile, both in sets.items():
            value = containment(*both)
            write_row(target, label, next_label, profile, None
                      if value is None else repr(value).removesuffix('.0'))


# Random texts, of what is easily got wrong

ALPHABETS = ('abz', 'ABZ09', ' ', ' .,\n', 'éßÄ', 'жЩяИ', 'かなカナ', '北京大学',
             'か\u309aかナ', 'กขคง\u0e34\u0e48', '\u0301\u0308\u0327', '😀👩\u200d🔬',
             '\x01\x1f\x7f', '\u00ad\u200b\ufeff', 'ﬁⅣ㍿Å', '가나각', 'अकि')
INVALID = ('\udcff', '\udce4\udcbd', '\udc80', '\udced\udca0\udc80')
CODECS = {'UTF8': 'utf-8', 'LATIN1': 'latin-1', 'WIN1251': 'cp1251',
          'EUC_JP': 'euc_jp', 'EUC_JIS_2004': 'euc_jis_2004'}


def holds(encoding, char):
    """Can an encoding hold a code point?"""
    if encoding == 'SQL_ASCII':
        return True
    try:
        char.encode(CODECS[encoding])
    except UnicodeEncodeError:
        # this one stands behind a letter only
        return encoding == 'EUC_JIS_2004' and char == '\u309a'
    return True


def random_word(chooser, alphabets):
    """A word, or what is none; a few are longer than a piece."""
    alphabet = chooser.choice(alphabets)
    n = chooser.choice((1, 1, 2, 3, 5, 300 if chooser.random() < .1 else 8))
    return ''.join(chooser.choice(alphabet) for _ in range(n))


def random_text(chooser, alphabets):
    """A text of some words out of few or many, or of one many times."""
    known = [random_word(chooser, alphabets)
             for _ in range(chooser.choice((1, 3, 20, 200)))]
    return chooser.choice(('', ' ', ' ', '. ')).join(
        chooser.choice(known) for _ in range(chooser.choice((0, 1, 9, 150))))


def edited(chooser, text, other):
    """A text of parts of two."""
    cuts = sorted(chooser.randint(0, len(text)) for _ in range(2))
    at = chooser.randint(0, len(other))
    return other[:at] + text[cuts[0]:cuts[1]] + other[at:]


def write_random(encoding, seed, n, target):
    """Texts, of which each has parts of the one before it."""
    chooser = random.Random(seed)
    can = [[char for char in COMBINED.findall(alphabet)
            if all(holds(encoding, c) for c in char)]
           for alphabet in ALPHABETS]
    if encoding == 'SQL_ASCII':
        can.append(INVALID)
    can = [alphabet for alphabet in can if alphabet]
    before = ''
    for number in range(n):
        text = random_text(chooser, chooser.sample(can, chooser.randint(1, 4)))
        if chooser.random() < .6:
            text = edited(chooser, before, text)
        if encoding == 'EUC_JIS_2004':
            text = re.sub('(?<!か)\u309a', '', text)
        write_row(target, '%s-%04d' % (encoding, number), text)
        before = text


def regenerate():
    """Write the golden vectors."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'wb') as target:
        target.writelines(rows(source))


def check_sizes(document, size):
    """Passages have more than half of the words, and not too many."""
    found = words(document)
    at = {}                     # quarters before each word, by its place
    total = 0
    for place, of_kind, _, _ in found:
        at[place] = total
        total += 1 if of_kind == 'phonetic' else 4
    starts = [0] + [at[place] for place in borders(document, size)] + [total]
    lengths = [end - start for start, end in zip(starts, starts[1:])]
    forced = MOST * size * 4
    for before, length in zip([forced] + lengths, lengths):
        assert length < forced + 4, document
        assert length > size // 2 * 4 or before >= forced, document


def check():
    """All tests."""
    written = io.BytesIO()
    write_random('UTF8', 1, 200, written)
    written.seek(0)
    for _, text in read_rows(written, 2):
        for size in (4, 5, 25):
            check_sizes(text, size)
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'rb') as source, open(vectors, 'rb') as target:
        assert b''.join(rows(source)) == target.read()
    assert passages('... \u200b', 4) == []
    print('passed')


def main(arguments):
    """The command line; returns the exit status."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    if len(arguments) == 2 and arguments[0] == 'passages':
        target.writelines(rows(source, arguments[1]))
    elif len(arguments) == 2 and arguments[0] == 'shared':
        write_shared(arguments[1], source, target)
    elif arguments == ['containment']:
        write_containment(source, target)
    elif len(arguments) == 4 and arguments[0] == 'random':
        write_random(arguments[1], arguments[2], int(arguments[3]), target)
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
