#!/usr/bin/env python3
"""
Pairs of texts of some forty kinds, labelled: may one go for the other?

usage: tools/stage python3 bench/judged.py [--pairs N] [--kind NAME] [--list]
       [--rule NAME=SQL ...]
       bench/judged.py --tsv | --sql

Of each kind, N pairs (20) that a careful person would take for copies, one lightly
edited or laid out anew, and N that differ in what matters: an entry, a negation, a
name, a number, an operator.  All texts are made, of the words and sentences of
vocabulary.py, from SIMHASH_SEED (1).  Prints for each kind, and for each change, how
many of the wrong ones pass and how many of the right ones are refused, by
simhash_alike and by a Jaccard similarity of .8, or by the rules that are named: SQL
conditions of a and b.  --kind chooses kinds by a part of their name, --list shows
what differs in the pairs that the first rule fails; --tsv and --sql print the pairs,
and need no server.

SPDX-License-Identifier: PostgreSQL
"""

import argparse
import collections
import difflib
import os
import random
import re

import edits
import kinds
import vocabulary

SEED = int(os.environ.get('SIMHASH_SEED', '1'))
RULES = ['alike=simhash_alike(a, b)', 'jaccard=simhash_jaccard(a, b) >= .8']
PROSE = 'typed slips sentence_added sentence_out greeted advertised punctuated cased ' \
        'wrapped spaced '
SCALES = (.4, .7, 1, 1, 1.6, 2.5)       # of the prose of a template

# Of each kind: the subject, edits, changes, and templates.
TEMPLATES = {}
for part in re.split(r'^=== ', kinds.KINDS, flags=re.M)[1:]:
    head, _, body = part.partition('\n')
    kind, subject, may, may_not = [field.strip() for field in head.split('|')]
    TEMPLATES[kind] = (subject, may.replace('PROSE', PROSE).split(), may_not.split(),
                       [text.strip('\n') for text in body.split('\n%%\n')])


def negated(text, rng):
    """A negation put in, or taken out."""
    places = list(re.finditer(
        r'(?<= )(is|are|was|were|will|can|should|has|have|may|must) '
        r'(not |never )?(?!not|never)', text))
    if not places:
        return None
    place = rng.choice(places)
    put = '' if place.group(2) else rng.choice(('not ', 'not ', 'never '))
    return text[:place.start()] + place.group(1) + ' ' + put + text[place.end():]


def changed(draft, change, may, rng):
    """The text of a draft with a change that matters."""
    change, beside, _ = change.partition('&')
    if change == 'not':
        text = negated(draft.text(), rng)
    elif change == 'prose':
        text = draft.other_prose()
    elif '=' in change:
        text = draft.exchanged(*change.split('='))
    else:
        text = draft.other(*change.split('+'))
    if text is not None and beside:
        text = getattr(edits, rng.choice(may))(text, rng)
    return text


def pairs(count, seed=SEED):
    """kind, change, may it go, and two texts."""
    for kind, (subject, may, may_not, templates) in TEMPLATES.items():
        rng = random.Random('%s %s' % (seed, kind))
        for label, changes in ((True, may), (False, may_not)):
            made = tried = 0
            while changes and made < count and tried < 20 * count:
                tried += 1
                change = changes[made % len(changes)] if tried < 10 * count \
                    else rng.choice(changes)
                draft = vocabulary.Draft(rng, subject, rng.choice(templates),
                                         rng.choice(SCALES))
                a = draft.text()
                try:
                    b = getattr(edits, change)(a, rng) if label else \
                        changed(draft, change, may, rng)
                except KeyError:        # an entry that this template lacks
                    continue
                if b is None or b == a:
                    continue
                if rng.random() < .5:
                    a, b = b, a
                made += 1
                yield kind, change, label, a, b


def difference(a, b, around=4):
    """What differs between two texts, with some words around: [of a|of b]."""
    a, b = ([token for token in re.findall(
        r'\n|[\u4e00-\u9fff]|[^\W\d_\u4e00-\u9fff]+|\d+|\S', text)]
            for text in (a, b))
    parts = []
    for what, i, j, m, n in difflib.SequenceMatcher(None, a, b, False).get_opcodes():
        if what != 'equal':
            parts.append('[%s|%s]' % (' '.join(a[i:j]), ' '.join(b[m:n])))
        elif j - i <= 2 * around:
            parts += a[i:j]
        else:
            parts += a[i:i + around] * (i > 0) + ['...']
            parts += a[j - around:j] * (j < len(a))
    return ' '.join(parts).replace('\n', '\u00b6')


def quoted(text):
    return "'%s'" % text.replace("'", "''")


def print_table(title, rows, rules):
    """One line a kind: by each rule, wrong that pass and right that are refused."""
    width = max(map(len, rows)) + 1
    print('%-*s %s' % (width, title, ''.join('%24s' % rule for rule in rules)))
    for name, counts in rows.items():
        print('%-*s %s' % (width, name, ''.join(
            '%24s' % '   '.join('%4s of %-4s' % (c[0], c[1]) if c[1] else ' ' * 12
                                for c in cells) for cells in counts)))


def judge(found, rules, listing):
    from passages import load, psql
    names = [rule.partition('=')[0] for rule in rules]
    psql('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS simhash;'
         'DROP TABLE IF EXISTS judged;'
         'CREATE TABLE judged (id int, kind text, change text, may_go bool, a text,'
         ' b text)')
    load('judged', [(i, *pair) for i, pair in enumerate(found)])
    answers = psql('SELECT id, %s FROM judged ORDER BY id' % ', '.join(
        'coalesce((%s)::int, 0)' % rule.partition('=')[2] for rule in rules))
    by = [collections.defaultdict(lambda: [[[0, 0], [0, 0]] for _ in rules])
          for _ in range(2)]
    total = {'all': [[[0, 0], [0, 0]] for _ in rules]}
    for (kind, change, may_go, a, b), (_, *said) in zip(found, answers):
        for i, yes in enumerate(said):
            fails = (yes == '1') != may_go
            for row in (by[0][kind], by[1][change], total['all']):
                row[i][may_go][0] += fails
                row[i][may_go][1] += 1
            if i == 0 and fails and listing:
                print('%s, %s: %s, %d words\n    %s' % (
                    kind, change, 'refused' if may_go else 'passes',
                    len(a.split()), difference(a, b)[:600]))
    print('wrong ones that pass, right ones refused')
    print_table('kind', {**by[0], **total}, names)
    print()
    print_table('change', dict(sorted(by[1].items())), names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--pairs', type=int, default=20)
    parser.add_argument('--rule', action='append')
    parser.add_argument('--kind', default='')
    for option in ('--list', '--tsv', '--sql'):
        parser.add_argument(option, action='store_true')
    options = parser.parse_args()
    found = [pair for pair in pairs(options.pairs) if options.kind in pair[0]]
    if options.tsv:
        for kind, change, may_go, *texts in found:
            print('\t'.join([kind, change, 'ft'[may_go]] + [
                text.replace('\\', '\\\\').replace('\t', '\\t').replace('\n', '\\n')
                for text in texts]))
    elif options.sql:
        print('CREATE TABLE judged'
              ' (kind text, change text, may_go boolean, a text, b text);')
        for kind, change, may_go, a, b in found:
            print('INSERT INTO judged VALUES (%s, %s, %s, %s, %s);' % (
                quoted(kind), quoted(change), may_go, quoted(a), quoted(b)))
    else:
        print('seed', SEED)
        judge(found, options.rule or RULES, options.list)


if __name__ == '__main__':
    main()
