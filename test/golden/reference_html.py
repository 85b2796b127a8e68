#!/usr/bin/env python3
"""
The text of a page once more, written from section 18 of docs/fingerprint.md and the
HTML standard alone: by patterns, and by elements that know what they are in.

  reference_html.py text < pages      label, "html" or "article", text
  reference_html.py random SEED N     N pages that somebody has damaged
  reference_html.py --regenerate      write the golden vectors
  reference_html.py --check           test them

Pages are rows of a label and a document; all input and output is in the text
format of PostgreSQL's COPY.

SPDX-License-Identifier: PostgreSQL
"""

import html.entities
import io
import os
import random
import re
import sys

from reference import HERE, read_rows, write_row

GOLDEN = ('golden_html_texts.tsv', 'golden_html.tsv')
BLANKS = '\t\n\f\r '
OPEN = 512

TEXT = re.compile(r'[^<&]+')
NAME = re.compile(r'[A-Za-z][^\t\n\f\r />]*')
ATTRIBUTE = re.compile(r'([^\t\n\f\r />][^\t\n\f\r />=]*)'
                       r'(?:[\t\n\f\r ]*=[\t\n\f\r ]*'
                       r'''(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >]*)))?''')
BETWEEN = re.compile(r'[\t\n\f\r /]*')
COMMENT = re.compile(r'<!--(?:-?>|.*?--!?>)', re.DOTALL)
NUMBER = re.compile(r'&#(?:[xX]([0-9A-Fa-f]+)|([0-9]+));?')
NAMED = re.compile('&[A-Za-z0-9]+;?')

ROOTS = {'svg', 'math'}
LEAVES = set('''b big blockquote body br center code dd div dl dt em embed h1 h2 h3
    h4 h5 h6 head hr i img li listing menu meta nobr ol p pre ruby s small span strong
    strike sub sup table tt u ul var'''.split())
PARTS = set('caption tbody tfoot thead tr td th'.split())
HEADINGS = {'h1', 'h2', 'h3', 'h4', 'h5', 'h6'}
HEADING = 'a heading'
VOID = set('''area base basefont bgsound body br col colgroup embed frame frameset head
    hr html image img input keygen link meta param source track wbr'''.split())
RAW = set('iframe noembed noframes noscript script style textarea title xmp '
          'plaintext'.split())
OUT = RAW - {'xmp', 'plaintext'} | set('''audio canvas datalist meter progress rp
    template video'''.split())
FOREIGN_OUT = set('''annotation annotation-xml desc metadata mphantom script style
    title'''.split())
PRE = {'pre', 'listing', 'xmp', 'plaintext'}
LINES_SPECIAL = set('''article aside blockquote center dd details dir dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup li listing main menu
    nav ol plaintext pre search section summary table ul xmp'''.split())
LOOSE = {'address', 'div', 'p'}
LINES = (LINES_SPECIAL | LOOSE | PARTS - {'td', 'th'} |
         {'dialog', 'legend', 'optgroup', 'option', 'br', 'hr', HEADING})
ENDS_P = LINES_SPECIAL | LOOSE | {'dialog', 'hr'}
SPECIAL = LINES_SPECIAL | PARTS | set('''applet button marquee object select
    template'''.split())
FOREIGN_SPECIAL = set('desc foreignobject mi mn mo ms mtext title'.split())
SCOPE = set('applet caption marquee object table td template th'.split())
FORMATTING = set('a b big code em font i nobr s small strike strong tt u'.split())
FOREIGN_SHOWN = set('foreignobject mi mn mo ms mtd mtext text'.split())


class Element:
    """An open element."""

    def __init__(self, name, parent=None, foreign=False, attributes=()):
        self.name = HEADING if name in HEADINGS and not foreign else name
        self.parent = parent
        self.depth = parent.depth + 1 if parent else 0
        self.foreign = foreign          # it is one of SVG or MathML
        self.inner_foreign = name in ROOTS or foreign and name not in FOREIGN_SPECIAL
        self.loose = not foreign and name in LOOSE
        self.special = name in (FOREIGN_SPECIAL if foreign else SPECIAL)
        self.scope = name in (FOREIGN_SPECIAL if foreign else SCOPE)
        self.pre = not foreign and name in PRE or bool(parent and parent.pre)
        self.folded = not foreign and (name in ROOTS | {'select'} or
                                       name == 'details' and 'open' not in attributes)
        option = not foreign and name == 'option' and \
            any(e.is_one('select') for e in self.around())
        self.shown = option or foreign and name in FOREIGN_SHOWN or \
            name == 'summary' and parent.is_one('details') and parent.folded
        self.out = not option and self.is_out(dict(attributes))
        self.link = not foreign and name == 'a' and 'href' in attributes
        self.linked = self.link or bool(parent and parent.linked)
        self.lines = self.name in (FOREIGN_SHOWN if foreign else
                                   LINES - {'br'} | {'td', 'th'})
        self.own = self.lines and not self.hidden()
        self.credit = self.first = 0

    def is_out(self, attributes):
        """Does nobody see what it has?"""
        if any(style_is(style, *bad) for style in attributes.get('style', ())[:1]
               for bad in (('display', 'none'), ('visibility', 'hidden'))):
            return True
        if self.foreign:
            return self.name in FOREIGN_OUT
        return self.name in OUT or \
            'hidden' in attributes and self.name not in ROOTS or \
            self.name == 'dialog' and 'open' not in attributes

    def is_one(self, *names):
        """Is it an element of HTML of such a name?"""
        return not self.foreign and self.name in names

    def around(self):
        """The elements that it is in, from the inside."""
        at = self.parent
        while at:
            yield at
            at = at.parent

    def root(self):
        """The element that all are in."""
        return [self, *self.around()][-1]

    def hidden(self):
        """Is what it has seen by nobody?"""
        in_shown = False
        for element in (self, *self.around()):
            if element.out or element.folded and not in_shown:
                return True
            in_shown = not element.folded if in_shown else element.shown
        return False


def style_is(style, name, value):
    """Is a property of that value, by the declaration that counts?"""
    found = []
    for declaration in style.split(';'):
        left, colon, right = declaration.partition(':')
        if colon and ascii_lower(left.strip(BLANKS)) == name:
            right, bang, _ = right.partition('!')
            found.append((bool(bang), ascii_lower(right.strip(BLANKS)) == value))
    important = [is_it for bang, is_it in found if bang]
    return (important or [is_it for _, is_it in found] or [False])[-1]


def ascii_lower(text):
    """Capitals of ASCII made small."""
    return ''.join(chr(ord(c) | 32) if 'A' <= c <= 'Z' else c for c in text)


def reference(page, at):
    """What the reference there stands for, and its end; or None."""
    number = NUMBER.match(page, at)
    if number:
        digits = number.group(1) or number.group(2)
        code = int(digits, 16 if number.group(1) else 10)
        if code == 0 or code > 0x10ffff or 0xd800 <= code <= 0xdfff:
            return '\ufffd', number.end()
        if 0x80 <= code <= 0x9f:
            return bytes([code]).decode('cp1252', 'replace') \
                .replace('\ufffd', chr(code)), number.end()
        return chr(code), number.end()
    named = NAMED.match(page, at)
    if named:
        name = named.group()[1:]
        for end in range(len(name), 0, -1):
            if name[:end] in html.entities.html5:
                return html.entities.html5[name[:end]], at + 1 + end
    return None


class Block:
    """Text between the start or end of an element's own lines and the next."""

    def __init__(self):
        self.gap = self.text = ''
        self.counts = [0, 0]        # of what is no blank, outside and in links
        self.apart = False          # from any article

    def credit(self):
        """What it is good for."""
        plain, linked = self.counts
        good = not self.apart and plain + linked >= 40 and \
            linked * 3 <= plain + linked
        return plain if good else 0


class Page:
    """A page being read."""

    def __init__(self, page):
        self.page = page
        self.top = Element('')
        self.blocks = []
        self.block = Block()
        self.gap = 0
        self.articles = []

    def owner(self):
        """The innermost element with lines, or a column, of its own."""
        return next((e for e in (self.top, *self.top.around()) if e.own),
                    self.top.root())

    def end_block(self, owner):
        """The text of an element's own lines ends."""
        self.block.apart = any(e.is_one('aside', 'footer', 'nav')
                               for e in (owner, *owner.around()))
        owner.credit += self.block.credit()
        self.blocks.append(self.block)
        self.block = Block()

    def separate(self, element, owner):
        """An element starts or ends, and with it the text of an owner."""
        if element.lines and not element.hidden():
            self.end_block(owner)
        cell = element.name in ('mtd' if element.foreign else 'td th').split()
        if (cell or element.name in (FOREIGN_SHOWN if element.foreign else LINES)) \
                and not element.hidden():
            self.gap = max(self.gap, 2 if cell else 3)

    def write(self, characters):
        """Some characters."""
        if self.top.hidden():
            return
        for c in characters:
            if c in BLANKS and not self.top.pre:
                self.gap = max(self.gap, 1)
                continue
            gap, self.gap = ('', ' ', '\t', '\n')[self.gap], 0
            if self.block.text:
                self.block.text += gap
            else:
                self.block.gap = gap
            self.block.text += c
            if c > ' ':
                self.block.counts[self.top.linked] += 1

    def close(self, element):
        """Close an element, and what is in it."""
        while True:
            last = self.top
            self.separate(last, self.owner())
            self.top = last.parent
            if last.own:
                self.end_own(last)
            if last is element:
                return

    def end_own(self, element):
        """An element with lines of its own is closed: note what it may be."""
        if not element.is_one('p'):
            self.articles.append((element.credit, self.blocks[element.first:]))
        if element.parent:
            owner = next((e for e in element.around() if e.own), element.root())
            owner.credit += element.credit if element.is_one('p') else \
                element.credit * 3 // 5

    def end(self, element):
        """End an element, which what is in it may outlast."""
        inner = [self.top, *self.top.around()][:self.top.depth - element.depth]
        if element.is_one('form', *FORMATTING) and \
                any(e.special or e.loose for e in inner):
            if element.own:
                self.end_own(element)
            inner[-1].parent = element.parent
            for e in reversed(inner):
                e.depth -= 1
                e.linked = e.link or e.parent.linked
        else:
            self.close(element)

    def find(self, wanted, stops):
        """The innermost open element that is wanted, if no other one stops us."""
        for element in [self.top, *self.top.around()]:
            if element.parent is None:
                break
            if wanted(element):
                return element
            if stops(element):
                break
        return None

    def end_others(self, name):
        """End what the start of an element of HTML ends."""
        ended, stops = {
            'li': (('li',), lambda e: e.special),
            'dd': (('dd', 'dt'), lambda e: e.special),
            'dt': (('dd', 'dt'), lambda e: e.special),
            'option': (('option',), lambda e: e.special),
            'optgroup': (('option', 'optgroup'), lambda e: e.special),
            'rt': (('rp', 'rt'), lambda e: e.special or e.loose),
            'rp': (('rp', 'rt'), lambda e: e.special or e.loose),
            'a': (('a',), lambda e: e.scope),
            'button': (('button',), lambda e: e.scope),
            'td': (('caption', 'td', 'th'), lambda e: e.is_one('table', 'template')),
            'th': (('caption', 'td', 'th'), lambda e: e.is_one('table', 'template')),
            'tr': (('caption', 'td', 'th', 'tr'), lambda e: e.is_one('table', 'template')),
            'tbody': (PARTS, lambda e: e.is_one('table', 'template')),
            'tfoot': (PARTS, lambda e: e.is_one('table', 'template')),
            'thead': (PARTS, lambda e: e.is_one('table', 'template')),
            'caption': (PARTS, lambda e: e.is_one('table', 'template')),
        }.get(name, ((), None))
        if name in HEADINGS:
            ended, stops = (HEADING,), lambda e: True
        while ended:
            found = self.find(lambda e: e.is_one(*ended), stops)
            if not found:
                break
            self.end(found)
        if name in ENDS_P:
            found = self.find(lambda e: e.is_one('p'),
                              lambda e: e.scope or e.is_one('button'))
            if found:
                self.end(found)

    def start_tag(self, name, attributes, closes):
        """An element starts; returns how its content is read, if specially."""
        if self.top.inner_foreign and name in LEAVES:
            while self.top.inner_foreign:
                self.close(self.top)
        foreign = self.top.inner_foreign
        if not foreign:
            if name in PARTS and not self.find(lambda e: e.is_one('table', 'template'),
                                               lambda e: False):
                return ''
            self.end_others(name)
        owner = self.owner()
        element = Element(name, self.top, foreign, attributes)
        self.top = element
        self.separate(element, owner)
        element.first = len(self.blocks)
        raw = not foreign and name in RAW
        void = not foreign and name in VOID or \
            closes and (foreign or name in ROOTS)
        if void or element.depth > OPEN and not raw:
            self.close(element)
        return name if raw or not foreign and name in PRE else ''

    def end_tag(self, name):
        """An end tag."""
        stops = lambda e: e.special or e.loose
        if name in LINES_SPECIAL | LOOSE | HEADINGS | SCOPE | FORMATTING | \
                {'button', 'dialog', 'select'}:
            stops = lambda e: e.scope
        if name == 'li':
            stops = lambda e: e.scope or e.is_one('ol', 'ul')
        if name == 'p':
            stops = lambda e: e.scope or e.is_one('button')
        if name in PARTS or name == 'table':
            stops = lambda e: e.is_one('table', 'template')
        if name == 'template' or name in RAW | VOID:
            stops = lambda e: False
        wanted = HEADING if name in HEADINGS else name
        found = self.find(lambda e: e.name == wanted, stops)
        if found:
            self.end(found)
        elif name in ('p', 'br') and not self.top.hidden():
            self.gap = 3

    def raw_end(self, at, name):
        """Where the content of a raw element ends."""
        page = self.page
        if name == 'plaintext':
            return len(page)
        end = re.compile('</%s[\t\n\f\r />]' % name, re.IGNORECASE | re.ASCII)
        if name != 'script':
            found = end.search(page, at)
            return found.start() if found else len(page)
        step = re.compile(r'(<!--)|(-->)|(<script[\t\n\f\r />])|(</script[\t\n\f\r />])',
                          re.IGNORECASE | re.ASCII)
        state = 0                   # 1: in a comment, 2: in a script in it
        while True:
            found = step.search(page, at)
            if not found:
                return len(page)
            at = found.start() + 1
            if found.group(1) and state == 0:
                state, at = 1, found.start() + 2
            elif found.group(2):
                state = 0
            elif found.group(3) and state == 1:
                state = 2
            elif found.group(4):
                if state < 2:
                    return found.start()
                state = 1

    def read_tag(self, at, start):
        """A tag whose name is there; returns where reading goes on."""
        page = self.page
        name = NAME.match(page, at)
        attributes = {}
        at = name.end()
        while True:
            between = BETWEEN.match(page, at)
            at = between.end()
            if at == len(page):
                return at
            if page[at] == '>':
                break
            attribute = ATTRIBUTE.match(page, at)
            values = [v for v in attribute.groups()[1:] if v is not None]
            # An unquoted value that begins with a quote is one that has no end.
            if attribute.group(4) and attribute.group(4)[0] in '"\'':
                return len(page)
            attributes.setdefault(ascii_lower(attribute.group(1)),
                                  []).extend(values or [''])
            at = attribute.end()
        at += 1
        name = ascii_lower(name.group())
        if not start:
            self.end_tag(name)
            return at
        how = self.start_tag(name, attributes, between.group()[-1:] == '/')
        if how in RAW:
            end = self.raw_end(at, name)
            self.write(page[at:end])
            return end
        if how:
            at += page.startswith('\r\n', at)
            at += page.startswith('\n', at)
        return at

    def read_markup(self, at):
        """What "<" begins there; returns where reading goes on, or None."""
        page = self.page
        if NAME.match(page, at + 1):
            return self.read_tag(at + 1, True)
        if page.startswith('/', at + 1) and NAME.match(page, at + 2):
            return self.read_tag(at + 2, False)
        if page.startswith('<!--', at):
            comment = COMMENT.match(page, at)
            return comment.end() if comment else len(page)
        if page.startswith('<![CDATA[', at) and self.top.inner_foreign:
            end = page.find(']]>', at)
            self.write(page[at + 9:end if end >= 0 else len(page)])
            return end + 3 if end >= 0 else len(page)
        if page[at + 1:at + 2] in ('!', '?') or \
                page[at + 1:at + 2] == '/' and at + 2 < len(page):
            end = page.find('>', at)
            return end + 1 if end >= 0 else len(page)
        return None

    def read(self, article=False):
        """The text of the page, or of its article."""
        page = self.page
        at = 1 if page.startswith('\ufeff') else 0
        while at < len(page):
            text = TEXT.match(page, at)
            if text:
                self.write(text.group())
                at = text.end()
                continue
            if page[at] == '<':
                after = self.read_markup(at)
                if after is not None:
                    at = after
                    continue
            stands_for = reference(page, at) or (page[at], at + 1)
            self.write(stands_for[0])
            at = stands_for[1]
        self.end_block(self.owner())
        everything = self.blocks
        while self.top.parent:
            self.close(self.top)
        self.end_own(self.top)
        credit, blocks = max(self.articles, key=lambda one: one[0])
        if not article or credit == 0:
            return joined(everything)
        kept, gap = [], ''
        for block in blocks:
            if block.text:
                gap = max(gap, block.gap, key=('', ' ', '\t', '\n').index)
            if block.text and not block.apart and \
                    block.counts[1] * 2 <= sum(block.counts):
                block.gap, gap = gap, ''
                kept.append(block)
        return joined(kept)


def joined(blocks):
    """The text of blocks."""
    blocks = [b for b in blocks if b.text]
    return ''.join(b.gap * (b is not blocks[0]) + b.text for b in blocks)


def text_of(page, article=False):
    """The text of a page, or of its article."""
    return Page(page).read(article)


# Random pages

TAGS = sorted(LEAVES | PARTS | VOID | RAW | OUT | LINES - {HEADING} | FORMATTING |
              SPECIAL | FOREIGN_SHOWN | FOREIGN_OUT | ROOTS | FOREIGN_SPECIAL |
              {'details', 'x-y', 'SPAN', 'q', 'foreignObject', 'g', 'h', 'path'})
COMMON = """p div span a b i li ul td tr table svg math mi text select option details
    summary h1 h2 form pre nav aside""".split()
ATTRIBUTES = (' hidden', ' HIDDEN=""', ' open', ' href=x', ' href="a>b"', " x='>'",
              ' style="display:none"', ' style=display:none',
              ' style="color:red; DISPLAY : None !important;display:block"',
              ' style="visibility:hidden"', ' style="display:block"', ' =x', ' "', " '",
              '/', ' /', ' /x', ' x=y/', ' style', ' style="display:none" style=""')
PIECES = ('&amp;', '&amp', '&notit;', '&notin;', '&nGt;', '&#x80;', '&#128', '&#0;',
          '&#xD800;', '&#1114112;', '&#10;', '&#13;', '&nbsp;', '&x;', '&', '&#', '&#x',
          '&CounterClockwiseContourIntegral;', '<', '</', '</>', '<>', '< ', '<!', '<?',
          '<!-->', '<!--->', '<!---->', '<!-- a -->', '<!-- a --!>', '<!-- <!-->', '<!--',
          '-->', '--!>', '<!doctype html>', '<![CDATA[x ]]>', '<![CDATA[', ']]>', '<?x >',
          '</script', '<script', '<!--<script>', 'é', '\u00ad', '\ufeff', '北京', '"', "'",
          '>', '\n', '\r\n', '\t', ' ', '  ', '\f', '/>', 'a', 'bc', ' d ', '\x0b', '\x85')


WORDS = ('x', 'yz ', ' <a href=x>z</a>é', '<a href=x>zz</a> ', 'é<i>w</i>')


def random_page(chooser):
    """A page of tags that fit badly, and of what is easily read wrongly."""
    page = []
    for _ in range(chooser.choice((2, 5, 10, 30, 100))):
        kind = chooser.random()
        if kind < .15:
            page.append(chooser.choice(PIECES))
        elif kind < .4:
            page.append(chooser.choice('abcdefghijklmnop'))
        elif kind < .45:
            page.append(chooser.choice(WORDS) * chooser.randrange(10, 60))
        else:
            name = chooser.choice(COMMON if chooser.random() < .6 else TAGS)
            page.append('%s%s%s%s' % (
                '<' if kind < .8 else '</', name,
                chooser.choice(ATTRIBUTES) if chooser.random() < .1 else '',
                '>' if chooser.random() < .99 else ''))
    if chooser.random() < .02:
        page.insert(0, ('<%s>' % chooser.choice(COMMON)) * chooser.choice((511, 512, 513)))
    if chooser.random() < .1:
        del page[chooser.randrange(len(page))]
        page.insert(chooser.randrange(len(page) + 1), chooser.choice(page or ['']))
    return ''.join(page)


def write_random(seed, n, target):
    """Random pages."""
    chooser = random.Random(seed)
    for number in range(n):
        write_row(target, number, random_page(chooser))


def write_texts(source, target):
    """The text of every page."""
    for label, page in read_rows(source, 2):
        for what in ('html', 'article'):
            write_row(target, label, what, text_of(page, what == 'article'))


# Tests of this file

def check():
    """Examples of the specification, and the golden vectors."""
    assert text_of('<h1>A&amp;B</h1> <p>some\n <b>te</b>xt<script>x</script>.') == \
        'A&B\nsome text.'
    assert text_of('<ul><li hidden>a<li>b</ul>c') == 'b\nc'
    assert text_of('<!--<!-->a<script><!--<script></script>--></script>b') == 'ab'
    texts, vectors = GOLDEN
    computed = io.BytesIO()
    with open(os.path.join(HERE, texts), 'rb') as source:
        write_texts(source, computed)
    with open(os.path.join(HERE, vectors), 'rb') as stream:
        assert stream.read() == computed.getvalue(), vectors
    print('passed')


def regenerate():
    """Write the golden vectors: of random pages."""
    texts, vectors = (os.path.join(HERE, name) for name in GOLDEN)
    with open(texts, 'wb') as target:
        write_random(1, 300, target)
    with open(texts, 'rb') as source, open(vectors, 'wb') as target:
        write_texts(source, target)


def main(arguments):
    """Do what the command line says."""
    source, target = sys.stdin.buffer, sys.stdout.buffer
    if arguments == ['text']:
        write_texts(source, target)
    elif len(arguments) == 3 and arguments[0] == 'random':
        write_random(int(arguments[1]), int(arguments[2]), target)
    elif arguments == ['--regenerate']:
        regenerate()
    elif arguments == ['--check']:
        check()
    else:
        raise SystemExit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
