"""
Edits of texts that leave them what they are: each takes a text and a source of chance,
and returns another text, or the same where it finds nothing to do.

SPDX-License-Identifier: PostgreSQL
"""

import re
import textwrap

import vocabulary

GREETINGS = ('Dear all,\n\n', 'Hello!\n\n', 'Hi there,\n\n', 'FYI: ', 'Note: ',
             'Good morning everybody,\n\n', 'For your information:\n\n')
ADVERTS = ('\n\nSubscribe to our newsletter for more.',
           '\n\nFollow us on social media.',
           '\n\nRead also: ten things to do this weekend', '\n\nAdvertisement',
           '\n\nShare this page with your friends!', '\n\nPrinted from our website.',
           'Skip to main content\n\n', 'Home | News | Contact\n\n')


def typed(text, rng):
    """A slip of typing in a word of four letters at least."""
    places = list(re.finditer(r'(?<![\w<.])[a-zäöü]{4,}(?![\w=(.>])', text))
    if not places:
        return text
    word = rng.choice(places)
    at = rng.randrange(word.start() + 1, word.end() - 1)
    return text[:at] + rng.choice((
        text[at + 1] + text[at] + text[at + 2:], text[at + 1:], text[at] + text[at:],
        rng.choice('aeiounrst') + text[at + 1:]))


def sentences(text):
    return re.split(r'(?<=[a-z]{2}[.!?]) (?=[A-Z])', text)


def sentence_added(text, rng, subject='office'):
    parts = sentences(text)
    parts.insert(rng.randint(1, len(parts)), vocabulary.sentence(rng, subject))
    return ' '.join(parts)


def sentence_out(text, rng):
    """Without one sentence of the prose, which has no entry in it."""
    parts = sentences(text)
    plain = [i for i, part in enumerate(parts[1:-1], 1)
             if vocabulary.SENTENCE.fullmatch(part)]
    if len(parts) < 8 or not plain:
        return text
    del parts[rng.choice(plain)]
    return ' '.join(parts)


def greeted(text, rng):
    return rng.choice(GREETINGS) + text


def advertised(text, rng):
    line = rng.choice(ADVERTS)
    return text + line if line[0] == '\n' else line + text


def signed(text, rng):
    return text + rng.choice(('\n\nBest regards\n', '\n\nThanks,\n', '\n-- \n')) + \
        rng.choice(vocabulary.KINDS['first'])


def punctuated(text, rng):
    """Commas left out, points and quotes of other kinds."""
    return rng.choice((
        lambda: text.replace(', ', ' '), lambda: text.replace('. ', '; '),
        lambda: text.replace('. ', '... '), lambda: text.replace('.\n', '!\n'),
        lambda: '"%s"' % text, lambda: '\u201c%s\u201d' % text.replace("'", '\u2019'),
        lambda: text.replace(' - ', ' \u2013 ')))()


def cased(text, rng):
    return rng.choice((str.lower, str.upper, str.title))(text)


def first_line_cased(text, rng):
    head, sep, rest = text.partition('\n')
    return head.upper() + sep + rest


def wrapped(text, rng):
    width = rng.randint(30, 70)
    return '\n'.join(textwrap.fill(line, width, break_long_words=False,
                                   break_on_hyphens=False)
                     for line in text.split('\n'))


def spaced(text, rng):
    return text.replace('\n', '\n\n').replace('. ', '.  ')


def hyphenated(text, rng):
    """Words divided at the ends of lines."""
    lines, line = [], ''
    for word in re.sub(r'\s+', ' ', text).split(' '):
        if len(line) + len(word) < 50:
            line += word + ' '
        elif len(word) > 6 and word.isalpha():
            cut = rng.randint(3, len(word) - 3)
            lines.append(line + word[:cut] + '-')
            line = word[cut:] + ' '
        else:
            lines.append(line.rstrip())
            line = word + ' '
    return '\n'.join(lines + [line.rstrip()])


def misread(text, rng):
    """Letters that a scanner takes for others, in one word of thirty or so."""
    slips = (('rn', 'm'), ('m', 'rn'), ('l', '1'), ('cl', 'd'), ('h', 'b'), ('e', 'c'),
             ('li', 'h'), ('i', 'l'), ('o', '0'), ('u', 'n'))

    def slip(match):
        word = match.group()
        found = [s for s in slips if s[0] in word]
        if rng.random() > .04 or not found:
            return word
        return word.replace(*rng.choice(found), 1)

    return re.sub(r'\b[a-z]{4,}\b', slip, text)


def quoted(text, rng):
    return '> ' + text.replace('\n', '\n> ')


def paged(text, rng):
    """A number of a page on a line of its own every so many lines, from any number."""
    lines = wrapped(re.sub(r'\n+(Page )?\d+\n+', ' ', text), rng).split('\n')
    every, page = rng.randint(6, 12), rng.randint(1, 300)
    form = rng.choice(('%d', 'Page %d', '- %d -'))
    result = []
    for i, line in enumerate(lines):
        result.append(line)
        if i % every == every - 1:
            result += ['', form % (page + i // every), '']
    return '\n'.join(result)


def bulleted(text, rng):
    mark = rng.choice(('* ', '+ ', '\u2022 ', '\u25aa ', '\u2013 '))
    return re.sub(r'^- ', mark, text, flags=re.M)


def marked_down(text, rng):
    """Heads, emphasis, bullets of Markdown."""
    head, sep, rest = text.partition('\n')
    rest = re.sub(r'^(\w[\w ]{2,30})$', r'## \1', rest, flags=re.M)
    words = rest.split(' ')
    if len(words) > 12:
        at = rng.randrange(2, len(words) - 2)
        mark = rng.choice(('**', '*', '_', '`', '__'))
        words[at] = re.sub(r'^(\W*)(\w+)', r'\1%s\2%s' % (mark, mark), words[at])
    return '# ' + head + sep + bulleted(' '.join(words), rng)


def underlined(text, rng):
    head, sep, rest = text.partition('\n')
    return head + '\n' + rng.choice('=-~*') * len(head) + '\n' + rest


def commented(text, rng):
    """The text in a comment of some language, wrapped."""
    lines = wrapped(text, rng).split('\n')
    begin, leader, end = rng.choice((
        ('', '// ', ''), ('', '# ', ''), ('', '-- ', ''), ('', ';; ', ''),
        ('', '% ', ''), ('', '! ', ''),
        ('/*', ' * ', ' */'), ('/**', ' * ', ' */'), ('/*', '', '*/'),
        ('<!--', '  ', '-->'), ('(*', ' * ', ' *)'), ('"""', '', '"""')))
    body = [(leader + line).rstrip() for line in lines]
    if begin:
        body = [begin] + body + [end]
    elif rng.random() < .3:
        rule = leader + rng.choice('-=#*') * 60
        body = [rule] + body + [rule]
    return '\n'.join(body)


def emoji(text, rng):
    return text + ' ' + rng.choice('\U0001f642\U0001f44d\U0001f389\U0001f680\u2728')


def retabled(text, rng):
    """A table with bars as one with tabs, commas, or columns in line."""
    rows = [re.split(r'\s*\|\s*', line.strip('| ')) for line in text.split('\n')
            if not re.fullmatch(r'[|: -]+', line)]
    if rng.random() < .3:
        widths = [max(map(len, column)) for column in zip(*rows)]
        return '\n'.join('  '.join(map(str.ljust, row, widths)) for row in rows)
    gap = rng.choice('\t;')
    return '\n'.join(map(gap.join, rows))


def braced(text, rng):
    """Code with its braces, blanks and indentation elsewhere."""
    step = rng.choice(('\t', '  ', '        '))
    text = re.sub(r'^( {4})+', lambda m: step * (len(m.group()) // 4), text, flags=re.M)
    return rng.choice((
        lambda: re.sub(r'[ \t]*\{$', '\n{', text, flags=re.M),
        lambda: re.sub(r', ', ',', text),
        lambda: re.sub(r'\b(if|for|while) \(', r'\1(', text),
        lambda: re.sub(r'\(([^()]+)\)', r'( \1 )', text), lambda: text))()


def remarked(text, rng):
    """C with a comment at its head."""
    form = rng.choice(('// %s\n', '/* %s */\n', '/*\n * %s\n */\n'))
    return form % vocabulary.sentence(rng, 'computing') + text


def slips(text, rng):
    """Two slips of typing."""
    return typed(typed(text, rng), rng)


def indented(text, rng):
    return textwrap.indent(text, rng.choice(('    ', '\t', '  ')))


def leader(text, rng):
    """Something before each line, as a console or a mail puts it."""
    return textwrap.indent(text, rng.choice(('| ', '>> ', '# ', '* ', '$ ', 'E   ')))


def headed(text, rng):
    """A line of its own above."""
    return rng.choice(('Copy', 'Overview', 'For the record', 'As seen today',
                       'See below:', 'Details', '*** attached ***')) + '\n\n' + text


def emptied(text, rng):
    """Without blank lines, or with blanks at the ends of lines."""
    return rng.choice((lambda: re.sub('\n\n+', '\n', text) + '\n',
                       lambda: text.replace('\n', ' \n'),
                       lambda: text.replace('\n', '\n\n')))()


def remarked_sql(text, rng):
    return '-- %s\n%s' % (vocabulary.sentence(rng, 'computing'), text)


def remarked_sharp(text, rng):
    return '# %s\n%s' % (vocabulary.sentence(rng, 'computing'), text)


def keywords(text, rng):
    """SQL with its keywords in lower case."""
    return re.sub(r'\b[A-Z]{2,}\b', lambda m: m.group().lower(), text)


def linked(text, rng):
    """A word as a link of Markdown."""
    return re.sub(r'(?<= )([a-z]{6,})(?= )', r'[\1](/docs/\1.html)', text, count=1)


def headed_table(text, rng):
    return 'Table %s\n\n%s' % (rng.choice('ABC'), text)


def badged(text, rng):
    head, sep, rest = text.partition('\n')
    return '# %s\n\n![build](badge.svg) ![coverage](badge.svg)\n%s' % (head, rest)


def retabbed(text, rng):
    """Columns with other gaps between them."""
    return re.sub(r'  +|: ', rng.choice(('\t', '    ', ' | ', ' .... ')), text)


def punctuated_list(text, rng):
    return re.sub(r'(EUR)$', r'\1;', text, flags=re.M)


def quoted_values(text, rng):
    return re.sub(r'= (\S+)$', r'= "\1"', text, flags=re.M)


def retyped(text, rng):
    """JSON on one line, or indented otherwise."""
    if text[0] != '{':
        return text
    if rng.random() < .5:
        return re.sub(r'\s*\n\s*', '', text)
    return text.replace('\n    ', '\n\t')


def tailed(text, rng):
    """Some letters at random behind it, as spam has them."""
    return '%s %s' % (text, ''.join(rng.choice('abcdefghkmnpqrstuvwxyz')
                                    for _ in range(8)))


def plain_german(text, rng):
    for letter, two in zip('äöüÄÖÜß', 'ae oe ue Ae Oe Ue ss'.split()):
        text = text.replace(letter, two)
    return text


def chinese_points(text, rng):
    text = text.replace('，', rng.choice(('、', ',', ' ')))
    return text.replace('。', rng.choice('。.！'))


def chinese_wide(text, rng):
    """Digits as wide as the characters."""
    return text.translate({ord('0') + i: 0xff10 + i for i in range(10)})


def chinese_spaces(text, rng):
    return re.sub(r'(?<=[\u4e00-\u9fff])(\d+)(?=[\u4e00-\u9fff])', r' \1 ', text)


def chinese_added(text, rng):
    return rng.choice((lambda: text + '转载请注明出处。', lambda: '您好！' + text,
                       lambda: text + '点击关注我们。'))()


def chinese_wrapped(text, rng):
    width = rng.randint(18, 40)
    return '\n'.join(text[at:at + width] for at in range(0, len(text), width))


def address_short(text, rng):
    return re.sub(r'\bStreet', 'St.', re.sub(r'\bRoad', 'Rd.', text))


def comma_lines(text, rng):
    return text.replace('\n', ', ') if '\n' in text else text.replace(', ', '\n')


def cited(text, rng):
    """A citation by the marks of another journal."""
    return re.sub(r'\((\d{4})\)', r'\1', text).replace(':', '.').replace('-', '\u2013')


def greeted_short(text, rng):
    return rng.choice(('Note: ', 'Remember: ', 'FYI, ')) + text


def signed_short(text, rng):
    return text + rng.choice((' (noted today)', ', as far as known', ', for now'))


def reworded(text, rng):
    """A fact with a small word more, or another of the same sense."""
    for one, other in ((' and wants ', ', and wants '), (' and works ', ', and works '),
                       ('listens on port', 'is listening on port'),
                       (' for all new scripts', ' for any new script'),
                       (' are cut ', ' are always cut '), (' need ', ' still need '),
                       ('does not want', "doesn't want"), (' is ', ' is set to ')):
        if one in text:
            return text.replace(one, other)
    return text


def offered(text, rng):
    """A title as another shop puts it."""
    return rng.choice(('%s, new', 'New: %s', '%s - free delivery', 'Sale! %s',
                       '%s (in stock)', '%s **')) % text


def synonym(text, rng):
    """One or two small words replaced by others of the same sense."""
    found = [(one, other) for one, other in (
        (' after all', ' in the end'), (' usually', ' generally'), (', so ', ', thus '),
        ('Everybody', 'Everyone'), ('Nobody', 'No one'), (' rather ', ' quite '),
        (' as well', ' too'), ('Several ', 'Some '), ('Once more', 'Again'),
        (' should ', ' ought to '), (' such a ', ' a '), (' enough', ' sufficient'),
        (' little ', ' not much '), (' soon', ' shortly')) if one in text]
    for one, other in rng.sample(found, min(len(found), rng.randint(1, 2))):
        text = text.replace(one, other, 1)
    return text
