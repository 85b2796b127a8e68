#!/usr/bin/env python3
"""
Tables of which it is known which rows are copies: what does a plan let go?

usage: tools/stage python3 bench/judged_tables.py [--kind NAME] [--list] [--one N]

A table has 1,000 to 3,000 rows, made of the words of vocabulary.py from SIMHASH_SEED
(1).  Forms are texts of 1 to 40 templates, some of which have many more rows than
others, with their own entries in each row; some rows are there again, lightly edited
or with one or two other words where no entry is.  Job ads share the text of their
employer.  A campaign is one text with light edits, with other words, or with other
names in its greeting.  All have some rows that are like no others.

Prints for each table how many rows simhash_dedup_plan lets go without a doubt: wrong
ones, which go for a row that is no copy of the same original, and right ones, of all
copies; how many stay for a doubt; and the seconds.  --kind chooses tables by a part of
their name, --one a single table by its number, --list shows what differs in the first
wrong row and in the first copy that stays of each.

SPDX-License-Identifier: PostgreSQL
"""

import argparse
import os
import random
import re
import time

import edits
import judged
import vocabulary
from passages import load, psql

SEED = int(os.environ.get('SIMHASH_SEED', '1'))
FORMS = ('medical notes', 'legal clauses', 'court opinions', 'mails', 'tickets',
         'German letters', 'events', 'flats', 'claims', 'forms', 'records', 'job ads')
GROUPS = (1, 2, 5, 10, 20, 40)
COPIES = ('edited', 'other words')
LIGHT = judged.PROSE.split()


class Table:
    """Rows, each with the number of its original."""

    def __init__(self, rng):
        self.rng = rng
        self.rows = []
        self.texts = set()
        self.originals = 0
        self.size = rng.choice((1000, 1500, 2000, 3000))

    def original(self, text):
        """Put a new text in; its number, or None if it is there already."""
        if text in self.texts:
            return None
        self.originals += 1
        self.texts.add(text)
        self.rows.append((self.originals, text))
        return self.originals

    def copy(self, original, text):
        if text not in self.texts:
            self.texts.add(text)
            self.rows.append((original, text))

    def strangers(self, subject, share):
        """Rows that are like no others."""
        for _ in range(int(self.size * share)):
            count = self.rng.randint(20, 200)
            self.original(vocabulary.prose(self.rng, subject, count))


def other_words(pattern, subject, rng):
    """A template, or a text, with one or two words of its prose replaced: a noun by a
    noun, an adjective by an adjective."""
    nouns, _, adjectives = map(str.split, vocabulary.SUBJECTS[subject])
    known = '|'.join(sorted(nouns + adjectives, key=len, reverse=True))
    if subject != 'Chinese':        # which has no blanks between words
        known = r'(?<![\w<-])(%s)(?![\w>-])' % known
    for _ in range(rng.randint(1, 2)):
        place = rng.choice(list(re.finditer(known, pattern)))
        word = rng.choice([w for w in (nouns if place.group() in nouns else adjectives)
                           if w != place.group()])
        pattern = pattern[:place.start()] + word + pattern[place.end():]
    return pattern


def edited(text, rng):
    return getattr(edits, rng.choice(LIGHT))(text, rng)


def sizes(total, groups):
    """Groups of unequal size."""
    weights = [1 / (i + 1) ** .7 for i in range(groups)]
    return [max(2, int(total * weight / sum(weights))) for weight in weights]


def forms(table, kind, groups, copies):
    """Rows of templates, of which one of seven is there again."""
    rng = table.rng
    subject, _, _, templates = judged.TEMPLATES[kind]
    table.strangers(subject, .1)
    for count in sizes(table.size * .75, groups):
        draft = vocabulary.Draft(rng, subject, rng.choice(templates),
                                 rng.choice((1, 1.6)))
        for _ in range(count):
            draft.fill()
            text = draft.text()
            original = table.original(text)
            if original and rng.random() < .14:
                for _ in range(rng.randint(1, 2)):
                    table.copy(original, edited(text, rng) if copies == 'edited' else
                               draft.text(other_words(draft.pattern, subject, rng)))


def strangers(table, copies):
    """Texts that have no more in common than their language, some there again."""
    for _ in range(table.size):
        subject = table.rng.choice(list(vocabulary.SUBJECTS))
        text = vocabulary.prose(table.rng, subject, table.rng.randint(20, 300))
        original = table.original(text)
        if table.rng.random() < .1:
            table.copy(original, edited(text, table.rng) if copies == 'edited' else
                       other_words(text, subject, table.rng))


def employers(table, groups, copies):
    """Job ads of 30 words and 400 of the employer's."""
    rng = table.rng
    for count in sizes(table.size * .9, groups):
        about = vocabulary.prose(rng, 'work', 400)
        for _ in range(count):
            text = about + '\n\n' + vocabulary.prose(rng, 'work', 30)
            original = table.original(text)
            if original and copies and rng.random() < .1:
                table.copy(original, edited(text, rng) if copies == 'edited' else
                           other_words(text, 'work', rng))


def campaigns(table, share, copies):
    """Some texts, of which most rows are copies."""
    rng = table.rng
    kind = rng.choice(('spam', 'mails', 'wire copies', 'syndicated pages', 'events'))
    subject, _, _, templates = judged.TEMPLATES[kind]
    table.strangers(subject, 1 - share)
    for count in sizes(table.size * share, rng.randint(1, 4)):
        text = vocabulary.Draft(rng, subject, rng.choice(templates),
                                rng.choice((1, 1.6, 2.5))).text()
        original = table.original(text)
        for _ in range(count):
            table.copy(original, {
                'edited': lambda: edited(text, rng),
                'other words': lambda: other_words(text, subject, rng),
                'greeted': lambda: 'Dear %s,\n\n%s' % (
                    vocabulary.KINDS['name'](rng), text)}[copies]())


def small_forms(table, copies):
    """Templates with few rows each, of all kinds of forms."""
    size, table.size = table.size, 8
    while len(table.rows) < size:
        table.size = table.rng.randint(4, 14)
        forms(table, table.rng.choice(FORMS), 1, copies)


def mixed(table, copies):
    """Forms, ads, a campaign and strangers in one table."""
    size = table.size
    table.size = size // 4
    for kind in table.rng.sample(FORMS, 2):
        forms(table, kind, table.rng.randint(1, 5), copies)
    employers(table, table.rng.randint(1, 10), copies)
    campaigns(table, .5, copies)


def tables():
    """Names, and how the tables are filled."""
    for i, kind in enumerate(FORMS):
        for j, copies in enumerate(COPIES):
            for k in range(3):
                groups = GROUPS[(i + j + 2 * k) % len(GROUPS)]
                yield ('forms: %s, %d groups, %s' % (kind, groups, copies), forms,
                       (kind, groups, copies))
    for copies in COPIES:
        yield 'strangers: %s' % copies, strangers, (copies,)
        yield 'small forms: %s' % copies, small_forms, (copies,)
        for number in (1, 2, 3):
            yield 'mixed: %d, %s' % (number, copies), mixed, (copies,)
    for copies in ('',) + COPIES:
        for groups in GROUPS:
            yield ('ads: %d employers, %s' % (groups, copies or 'no copies'), employers,
                   (groups, copies))
    for copies in COPIES + ('greeted',):
        for share in (.1, .2, .4, .5, .6, .9):
            yield ('campaigns: %d%%, %s' % (100 * share, copies), campaigns,
                   (share, copies))


def score(table, listing):
    """rows, copies, wrong and right ones that go, left in doubt, seconds."""
    rows = table.rows
    table.rng.shuffle(rows)
    psql('SET client_min_messages = warning; DROP TABLE IF EXISTS made;'
         'CREATE TABLE made (id int PRIMARY KEY, body text)')
    load('made', [(i, text) for i, (_, text) in enumerate(rows)])
    psql('ALTER TABLE made ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED;'
         'ANALYZE made')
    start = time.monotonic()
    plan = psql("SELECT gone[1], kept[1], doubt IS NULL FROM simhash_dedup_plan('made',"
                " 'fp')")
    seconds = time.monotonic() - start
    wrong, right, doubts = [], set(), 0
    for gone, kept, goes in plan:
        gone, kept = int(gone), int(kept)
        if goes != 't':
            doubts += 1
        elif rows[gone][0] == rows[kept][0]:
            right.add(gone)
        else:
            wrong.append((gone, kept))
    if listing:
        for gone, kept in wrong[:1]:
            print('goes wrongly:',
                  judged.difference(rows[gone][1], rows[kept][1])[:600])
        stays = {}
        for i, (original, text) in enumerate(rows):
            if i not in right and original in stays:
                print('stays:', judged.difference(text, stays[original])[:600])
                break
            if i not in right:
                stays[original] = text
    copies = len(rows) - table.originals
    return len(rows), copies, len(wrong), len(right), doubts, seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--kind', default='')
    parser.add_argument('--one', type=int)
    parser.add_argument('--list', action='store_true')
    options = parser.parse_args()
    print('seed', SEED)
    form = '%-52s %6s %7s %7s %7s %7s %8s'
    print(form % ('table', 'rows', 'copies', 'wrong', 'right', 'doubts', 'seconds'))
    totals = {}
    psql('SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS simhash')
    for number, (name, fill, arguments) in enumerate(tables()):
        if options.kind not in name or options.one not in (None, number):
            continue
        table = Table(random.Random('%s %s' % (SEED, name)))
        fill(table, *arguments)
        counts = score(table, options.list)
        print(form % ('%d %s' % (number, name), *counts[:5], '%.1f' % counts[5]),
              flush=True)
        total = name.split(':')[0] + ', ' + re.split(', |: ', name)[-1]
        totals[total] = [a + b for a, b in zip(totals.get(total, [0] * 6), counts)]
    for name, counts in totals.items():
        print(form % ('all ' + name, *counts[:5], '%.1f' % counts[5]))


if __name__ == '__main__':
    main()
