#!/usr/bin/env python3
"""
How far what programs make of a file is from the text that was written to it.

usage: tools/stage python3 bench/containers.py PAGES.jsonl.xz EVERY
       tools/stage python3 bench/containers.py FOLDER

PAGES has a page of HTML and its text as a browser shows it in each line, "html" and
"text"; each EVERYth of some length in Latin letters is written as PDF, DOCX, ODT, EPUB
and so on, and read again.
FOLDER has manuals as PDF and as text, NAME.pdf and NAME.txt, of which pages are
compared.  Prints mean bits by minhash, as they are and by pdf_text, which is taken
from docs/quality.md, the share within 3, and the hyphens at ends of lines.  Needs
chromium, groff, lynx, mupdf-tools, pandoc, poppler-utils, tesseract-ocr, texlive and
what else is called below.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import email.message
import glob
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile

from passages import load, psql

# What is made of ast.json, pandoc's tree of a page, or of page.html.
MADE = """
pandoc -t plain --wrap=none ast.json -o plain.txt
pandoc -s --metadata title=x ast.json -o doc.docx
pandoc -s --metadata title=x ast.json -o doc.odt
pandoc -s --metadata title=x ast.json -o doc.epub
pandoc -s --metadata title=x ast.json -o doc.rtf
pandoc ast.json -o doc.md
pandoc ast.json -o doc.rst
pandoc -s ast.json -t man -o doc.1
pandoc -s ast.json -t texinfo -o doc.texi; makeinfo --force --no-split doc.texi -o doc.info
pandoc -s ast.json -o doc.tex; pdflatex -interaction=batchmode doc.tex; mv doc.pdf tex.pdf
pandoc -s -V classoption=twocolumn ast.json -o two.tex; pdflatex -interaction=batchmode two
pandoc -s -V fontfamily=T ast.json -t ms -o doc.ms; groff -Kutf8 -ms -t -Tpdf doc.ms >groff.pdf
chromium --headless --no-sandbox --disable-gpu --print-to-pdf=web.pdf file://$PWD/page.html
""".strip().split('\n')

# How a file is read: what comes out is compared.
READ = ["cat page.html", "lynx -dump -display_charset=utf-8 -assume_charset=utf-8 page.html",
        "lynx -nolist -dump -display_charset=utf-8 -assume_charset=utf-8 page.html",
        "w3m -dump -T text/html -I utf-8 -O utf-8 page.html",
        "docx2txt doc.docx -", "odt2txt doc.odt", "catdoc doc.rtf", "unrtf --text doc.rtf",
        "MANWIDTH=80 man -E UTF-8 -l doc.1 | col -bx",
        "MANWIDTH=80 man --no-hyphenation -E UTF-8 -l doc.1 | col -bx"]
READ += ["cat doc." + name for name in 'md rst 1 rtf tex info'.split()]
READ += ["pandoc -t plain --wrap=none doc." + name
         for name in 'docx odt epub rtf md rst tex'.split()]
EXTRACTORS = ["pdftotext %s -", "pdftotext -layout %s -", "pdftotext -raw %s -",
              "mutool draw -q -F txt %s"]
READ += [how % name + '.pdf' if how.startswith('mutool') else how % (name + '.pdf')
         for name in 'tex two groff web'.split() for how in EXTRACTORS]
READ += ["pdfinfo tex.pdf | grep -q 'Pages: *[1-4]$' && pdftoppm -r %d -gray -png tex.pdf o &&"
         " for p in o-*; do tesseract $p - -l eng; done; rm -f o-*" % dots
         for dots in (100, 300)]


def run(command, folder):
    """What a command prints."""
    done = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, timeout=300)
    return done.stdout.decode(errors='replace').replace('\0', '')


def without_pictures(tree):
    """pandoc's tree without images, and without heads of rows, which its ODT loses."""
    if isinstance(tree, list):
        return [without_pictures(part) for part in tree
                if not (isinstance(part, dict) and part.get('t') == 'Image')]
    if not isinstance(tree, dict):
        return tree
    tree = {name: without_pictures(part) for name, part in tree.items()}
    if tree.get('t') == 'Table':
        for body in tree['c'][4]:
            body[1] = 0
    return tree


def mails(text):
    """A text as it is mailed."""
    for encoding in 'quoted-printable', 'base64':
        mail = email.message.EmailMessage()
        mail.set_content(text, cte=encoding)
        yield 'mail, ' + encoding, mail.as_string()


def fits(text):
    """Is a text neither short nor long, in letters that all programs know?"""
    return (1500 <= len(text) <= 26000 and
            len(re.findall('[a-zA-Z]', text)) > len(text) / 2)


def read_page(page):
    """Ways to read a page, what comes, and the texts that it may be near to."""
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + '/page.html', 'w', encoding='utf-8') as file:
            file.write(page['html'])
        tree = json.loads(run('pandoc -f html-native_divs-native_spans -t json page.html',
                              folder))
        with open(folder + '/ast.json', 'w', encoding='utf-8') as file:
            json.dump(dict(without_pictures(tree), meta={}), file)
        for command in MADE:
            run(command.replace('pandoc', 'pandoc -f json', 1), folder)
        with open(folder + '/plain.txt', encoding='utf-8') as file:
            plain = file.read()
        for how in READ:
            came = run(how, folder)
            if came.strip():
                yield how, came, plain, page['text']
        for how, came in mails(plain):
            yield how, came, plain, page['text']


# Manuals

def words(text):
    return [(m.group().lower(), m.start(), m.end())
            for m in re.finditer(r'[^\W_]+', text)]


def read_manual(path):
    """The pages of a manual: its extractor and whole text, and the pages' texts by
    number, where the text file has both ends of a page."""
    with open(path[:-4] + '.txt', encoding='utf-8', errors='replace') as file:
        text = file.read()
    there = words(text)
    places = collections.defaultdict(list)
    for at in range(len(there) - 3):
        places[tuple(word for word, _, _ in there[at:at + 4])].append(at)
    came = [(how, run(how % path, '.')) for how in EXTRACTORS]
    pages = {}
    for number, page in enumerate(came[0][1].split('\f'), 1):
        own = [word for word, _, _ in words(page)]
        hits = [(at, places[tuple(own[at:at + 4])][0]) for at in range(len(own) - 3)
                if len(places.get(tuple(own[at:at + 4]), ())) == 1]
        middle = sorted(b - a for a, b in hits)[len(hits) // 2] if hits else 0
        hits = [(a, b) for a, b in hits if abs(b - a - middle) < 150]
        if (len(own) >= 100 and len(hits) >= 20 and hits[0][0] <= 25 and
                len(own) - hits[-1][0] - 4 <= 25):
            pages[number] = text[there[hits[0][1]][1]:there[hits[-1][1] + 3][2]]
    return came, pages, text


def hyphens(came, text):
    """What hyphens at ends of lines are of, by what follows them."""
    text = text.lower()
    plain = set(re.findall(r'[^\W_]+', text))
    compounds = set(re.findall(r'[^\W_]+-[^\W_]+', text))
    for one, other in re.findall(r'([^\W_]+)-\n\s*([^\W_]+)', came):
        joined, kept = (one + sign + other for sign in ('', '-'))
        is_word, is_compound = joined.lower() in plain, kept.lower() in compounds
        if is_word != is_compound:
            yield ('word' if is_word else 'compound',
                   'small letter' if other[0].islower() else 'other')


# The table

def functions():
    """pdf_text of docs/quality.md, and the same that has a row for each page."""
    with open('docs/quality.md', encoding='utf-8') as file:
        text = re.search(r'CREATE FUNCTION pdf_text.*?\nEND;', file.read(), re.S).group()
    return text + (text.replace('pdf_text', 'pdf_pages')
                   .replace('RETURNS text', 'RETURNS TABLE (number bigint, own text)')
                   .replace('SELECT regexp_replace(string_agg',
                            'SELECT p, regexp_replace(string_agg')
                   .replace(';\nEND', ' GROUP BY p;\nEND'))


SHOWN = """SELECT how, count(*), round(avg(came), 1), round(avg((came <= 3)::int), 2),
    round(avg(mended), 1), round(avg((mended <= 3)::int), 2)
FROM (%s) AS pairs GROUP BY how ORDER BY min(n)"""
PAGES = """SELECT n, how, least(minhash(came) <~> minhash(a), minhash(came) <~> minhash(b))
        AS came,
    least(minhash(pdf_text(came)) <~> minhash(a), minhash(pdf_text(came)) <~> minhash(b))
        AS mended
    FROM read"""
MANUALS = """SELECT n, how, minhash(page) <~> minhash(body) AS came,
        minhash(own) <~> minhash(body) AS mended
    FROM read CROSS JOIN string_to_table(came, E'\\f') WITH ORDINALITY AS p (page, number)
        JOIN pdf_pages(came) USING (number) JOIN truth USING (number) WHERE truth.manual = read.a"""


def main():
    psql('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS simhash;'
         'CREATE TABLE read (n int, how text, came text, a text, b text);'
         'CREATE TABLE truth (manual text, number bigint, body text);' + functions())
    if len(sys.argv) == 3:
        with lzma.open(sys.argv[1], 'rt', encoding='utf-8') as lines:
            pages = [page for page in map(json.loads, lines) if fits(page['text'])]
        pages = pages[::int(sys.argv[2])]
        print(len(pages), 'pages')
        rows = [row for page in pages for row in read_page(page)]
        names = list(dict.fromkeys(row[0] for row in rows))
        load('read', [(names.index(row[0]), *row) for row in rows])
        shown = psql(SHOWN % PAGES)
    else:
        ends = collections.Counter()
        for path in sorted(glob.glob(sys.argv[1] + '/*.pdf')):
            came, pages, text = read_manual(path)
            load('truth', [(path, number, page) for number, page in pages.items()])
            load('read', [(n, how, text_of, path, '')
                          for n, (how, text_of) in enumerate(came)])
            ends.update(hyphens(came[2][1], text))
        shown = psql(SHOWN % MANUALS)
        print(dict(ends))
    print('| read by | files | bits | within 3 | by `pdf_text` | within 3 |')
    print('| --- | --- | --- | --- | --- | --- |')
    for row in shown:
        print('| `%s` | %s |' % (row[0].replace('|', '\\|'), ' | '.join(row[1:])))


if __name__ == '__main__':
    main()
