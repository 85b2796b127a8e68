#!/usr/bin/env python3
"""
Tables at random whose near-duplicates are removed, and what was removed put
back; test/t/037_dedup_apply.pl has the server.

usage: dedup.py CONNECTION SEED FIRST LAST

A round makes a table of families of texts, with a key of some types, or none,
and names that need quotes; plain, partitioned, or with a child table; with
tables that refer to it.  A role that is no superuser owns all of it, and in a
schema that comes first in its search_path are operators, functions and casts
that fail when they run.  What is asked:

plan        it says what a model says that has the rows in their order and asks
            SQL functions about every pair of them.
the same    the DELETE of simhash_dedup_sql and the report take the rows of the plan
            that have no doubt.
removal     each line of a plan, as it is or edited, goes unless it must not: one row
            has changed in what was compared, or other lines are about it.
children    those of a removed row refer to the row that stayed, or the log says
            that they were dropped since they would have collided; or, as told,
            the row has stayed.
undo        gives all tables back as they were, of several logs in any order, after a
            dump, while triggers refuse rows, and once children have been edited.

The session that makes the plan, and the one that carries it out, write dates,
intervals, numbers and bytes in different ways.

SPDX-License-Identifier: PostgreSQL
"""

import json
import random
import subprocess
import sys

import psycopg

WORDS = ['%s%s' % (a, b) for a in ('ba', 'co', 'du', 'fe', 'gri', 'ho', 'lu')
         for b in ('ran', 'sel', 'tik', 'vom', 'wes', 'xat', 'yol', 'zun')]
NAMES = ('docs', 'Docs', 'do"cs', '$simhash$', '100 %', "it's", 'two\nlines',
         'back\\slash', 'p', 't', 'g', 's', 'q', 'pair', 'wanted', 'found',
         'gone', 'twin', 'family', 'plan', '{a,b}', '%s', '%I$key', '$row',
         'select', 'straße', 'p.gone', 'x' * 63)
COLUMNS = ('id', 'key', 'fp', 'doc', 'gone', 'kept', 'done', 'doubt', 'place',
           'n', 'u1', 'part', 'distance', 'Id', 'a b', "o'id", 'q"q', '$simhash$',
           '$key', '$row.x', '%s', 'user', 'line\nbreak', 'simhash ke', 'c\\d',
           'g1', 'needed', 'similarity', 'pairs', 'value', 'x' * 60)
# What becomes of a line of a plan that does not say why the row stays.
ENDS = ('removed', 'changed', 'entries', 'words', 'digits', 'signs')
SETTINGS = {
    'DateStyle': ('ISO, MDY', 'SQL, DMY', 'SQL, MDY', 'German',
                  'Postgres, DMY', 'Postgres, MDY'),
    'TimeZone': ('UTC', 'Asia/Kolkata', 'America/St_Johns'),
    'IntervalStyle': ('postgres', 'postgres_verbose', 'sql_standard',
                      'iso_8601'),
    'extra_float_digits': ('0', '1', '3'),
    'bytea_output': ('hex', 'escape'),
    'standard_conforming_strings': ('on', 'off'),
    'quote_all_identifiers': ('on', 'off'),
}
FIXED = {name: values[0] for name, values in SETTINGS.items()}
FIXED['extra_float_digits'] = '1'


def ident(name):
    return '"%s"' % name.replace('"', '""')


def literal(text):
    if text is None:
        return 'NULL'
    return "E'%s'" % text.replace('\\', '\\\\').replace("'", "''")


class Fault(Exception):
    pass


def must(truth, what, *details):
    if not truth:
        raise Fault('%s: %s' % (what, ' | '.join(map(str, details))))


# --- values of keys ----------------------------------------------------------

ODD = ('', ' ', '{}', '{a,b}', '"', "'", '\\', '\\\\', ',', 'NULL', 'null', '{',
       '}', '"a"', 'a b', 'ä', '\n', '\t', '%s', '$1', '()', '(,)', '𝒳', '-',
       '--', '/*', "E'\\n'", '$simhash$', '日本', 'a', 'A', 'b')


def odd_text(rng, i):
    return rng.choice(ODD) + rng.choice(ODD) + (str(i) if i >= 3 else 'z' * i)


def day(rng, i):
    return '%d-%02d-%02d' % (2000 + i, rng.randint(1, 12), rng.randint(1, 28))


def clock(rng):
    return '%02d:%02d:%02d.%06d' % (rng.randint(0, 23), rng.randint(0, 59),
                                    rng.randint(0, 59),
                                    rng.choice((0, 1, 500000, 999999)))


# type: a distinct value for each number
KEYS = {
    'integer': lambda rng, i: str((i + 1) * rng.choice((1, -1))),
    'smallint': lambda rng, i: str(i),
    'bigint': lambda rng, i: str((1 << 62) - i * 3),
    'numeric': lambda rng, i: rng.choice(('%d', '%d.50', '%d.0', '-%d.123'))
    % (i + 1),
    'double precision': lambda rng, i: repr(0.1 + i * 1e-9),
    'real': lambda rng, i: repr(0.1 + i * 1e-6),
    'uuid': lambda rng, i: '%032x' % (rng.getrandbits(100) << 12 | i),
    'text': odd_text,
    'varchar(60)': odd_text,
    'char(9)': lambda rng, i: rng.choice('aäZ%"\\') + str(i),
    'name': odd_text,
    '"char"': lambda rng, i: chr(33 + i),
    'text COLLATE "both cases"': lambda rng, i: rng.choice('aAéE') + str(i),
    'date': day,
    'timestamp': lambda rng, i: day(rng, i) + ' ' + clock(rng),
    'timestamptz': lambda rng, i: day(rng, i) + ' ' + clock(rng) + '+02',
    'time': lambda rng, i: '%02d:%02d:03.5' % (i % 24, i // 24),
    'interval': lambda rng, i: '%d months %d days %d.%d seconds' % (
        i - 9, rng.choice((-3, 0, 4)), i, rng.randint(-5, 5) ** 2),
    'bytea': lambda rng, i: '\\x%02x%02x%02x' % (rng.choice((0, 92, 200, 39)), i,
                                                 92),
    'inet': lambda rng, i: '10.0.0.%d%s' % (i, rng.choice(('', '/24'))),
    'integer[]': lambda rng, i: '{%d,NULL}' % i,
    'text[]': lambda rng, i: '{"a,b %d",NULL,"NULL"}' % i,
    'jsonb': lambda rng, i: '{"a": "b\\"%d"}' % i,
    'daterange': lambda rng, i: '[%d-03-04,%d-05-06)' % (2000 + i, 2001 + i),
    'bit varying': lambda rng, i: bin(i)[2:],
    'mood': lambda rng, i: 'm "%d",' % i,
    'words': odd_text,
    'days': day,
    'pair_of': lambda rng, i: '(%d,"a,b")' % i,
    'bit(7)': lambda rng, i: bin(128 + i)[3:],
}
NUMBERS = ('integer', 'smallint', 'bigint', 'numeric')
PARTITION_KEYS = ('integer', 'bigint', 'text', 'date', 'uuid', 'timestamptz')


# --- a table -----------------------------------------------------------------

class Table:
    """A table that is drawn, and what is asked about it."""

    def __init__(self, rng):
        self.rng = rng
        self.shape = rng.choice(('plain', 'plain', 'plain', 'parted',
                                 'inherits'))
        self.n = rng.randint(8, 45)
        names = rng.sample(COLUMNS, 12)
        self.name = rng.choice(NAMES)
        self.body, self.fp, self.grp, self.rank, self.second = names[:5]
        self.rid, self.up, self.made = 'rid', 'up', 'made'
        self.keyed = rng.random() < .85
        self.keys = []
        # what tells rows apart: no key does those of a child by inheritance
        self.told = self.keyed and self.shape != 'inherits'
        if self.keyed:
            for i in range(rng.choice((1, 1, 1, 2, 3))):
                kind = rng.choice(PARTITION_KEYS if self.shape == 'parted' and
                                  not i else tuple(KEYS))
                self.keys.append((names[5 + i], kind))
            if rng.random() < .2:
                self.keys.append((names[9], 'boolean'))
        self.draw_question()
        self.draw_rows()
        self.draw_children()

    # -- what is asked

    def draw_question(self):
        rng = self.rng
        self.source = rng.choice(('simhash', 'simhash', 'minhash', 'minhash',
                                  'bits', 'plain', 'expression', 'two'))
        body = ident(self.body)
        expression = {'simhash': 'simhash(%s)', 'minhash': 'minhash(%s)',
                      'bits': 'minhash_bits(%s, 128)', 'plain': None,
                      'expression': "minhash(%s, 'word-1')",
                      'two': "simhash(coalesce(%s, '') || ' ' || "
                      "coalesce(%s, ''))"}[self.source]
        self.expression = expression and (
            expression % ((body,) * expression.count('%s')))
        self.generated = self.expression is not None and \
            self.source != 'expression' and rng.random() < .7
        arguments = self.arguments = {}
        arguments['fingerprint'] = literal(
            ident(self.fp) if self.generated or self.source == 'plain'
            else self.expression)
        if rng.random() < .4:
            arguments['k'] = str(rng.choice((0, 3, 5, 8, 10)))
        self.document = None
        if self.source == 'plain' or rng.random() < .3:
            self.document = rng.choice((
                self.body, "lower(%s)" % body,
                "regexp_replace(%s, '[0-9]+', '', 'g')" % body,
                "coalesce(%s, '') || ' ' || %s" % (
                    body, ident(self.rank))))
        self.similarity = rng.choice((None, None, None, 'alike', 'jaccard',
                                      'cosine', 'containment', 'hamming',
                                      'none'))
        self.at_least = self.at_most = None
        if self.similarity == 'hamming':
            self.document = self.second
            self.at_most = rng.choice((0, 3, 6, 10, 31))
            arguments['at_most'] = str(self.at_most)
        elif self.similarity != 'none' and rng.random() < .4:
            self.at_least = rng.choice((.3, .5, .6, .75, .8, .95, 1))
            arguments['at_least'] = str(self.at_least)
        if self.document is not None:
            arguments['document'] = literal(self.document)
        if self.similarity is not None:
            arguments['similarity'] = literal(self.similarity)
        self.profile = None
        if self.similarity not in ('hamming', 'none') and rng.random() < .2:
            self.profile = rng.choice(('word-1', 'char-3', 'word-3-count'))
            arguments['profile'] = literal(self.profile)
        self.keep = None
        if rng.random() < .5:
            # A name as of columns of simhash's own has to say of what it is one.
            rank = 't.' * self.rank.startswith('simhash ') + ident(self.rank)
            self.keep = rng.choice(('%s DESC', '%s', '%s DESC NULLS LAST, %s',
                                    '(%s)::int %% 3')).replace(
                                        '%s', rank).replace('%%', '%')
            arguments['keep'] = literal(self.keep)
        self.kind = 'connected' if rng.random() < .1 else 'star'
        if self.kind != 'star':
            arguments['kind'] = literal(self.kind)
        self.within = None
        if rng.random() < .4:
            self.within = rng.choice((self.grp, 'lower(%s)' % ident(self.grp)))
            arguments['within'] = "ARRAY[%s]" % literal(self.within)
        self.condition = self.moment = None
        if rng.random() < .3:
            self.condition = "%s%s <> '3'" % (rng.choice(('', 't.')),
                                              ident(self.rank))
            arguments['condition'] = literal(self.condition)
        if rng.random() < .3:
            # Whatever the time zone: sessions may have others.
            self.moment, self.near_in = rng.choice((
                ('made', '300 hours'), ('made', '0'), ('made', '2400 hours'),
                ("(t.made AT TIME ZONE 'UTC')::date", '1 month')))
            arguments['moment'] = literal(self.moment)
            arguments['near_in'] = "interval '%s'" % self.near_in

    # -- rows

    def draw_text(self, size):
        return [self.rng.choice(WORDS) + self.rng.choice(('', 'o', 'i'))
                for _ in range(size)]

    def edit(self, words):
        rng = self.rng
        words = list(words)
        for _ in range(rng.choice((0, 0, 1, 1, 2, 6))):
            at = rng.randrange(len(words) + 1)
            words[at:at + rng.choice((0, 1))] = rng.choice(
                ([], [rng.choice(WORDS)], [str(rng.randint(0, 99))], ['+'],
                 ['$'], [rng.choice(WORDS) + ',']))
        if rng.random() < .1:
            words = words + self.draw_text(rng.randint(1, 30))
        if rng.random() < .05:
            words = words * 3
        text = ' '.join(words)
        return rng.choice((text, text, text, text.upper(), text + '.', text + ' 7',
                           text + '\n', text.replace(' ', '  ')))

    def draw_rows(self):
        rng = self.rng
        families = [self.draw_text(rng.choice((1, 5, 20, 40, 40, 60)))
                    for _ in range(rng.randint(1, 8))]
        self.rows = []
        for i in range(self.n):
            body = rng.choices((None, '', self.edit(rng.choice(families))),
                               (1, 1, 20))[0]
            row = {self.body: body, 'rid': str(i), self.grp:
                   rng.choice((None, 'a', 'b', 'A')),
                   self.rank: str(rng.randint(0, 5)),
                   self.second: None if rng.random() < .05 else
                   str(rng.choice((0, 0, 7)) ^ (1 << rng.randint(0, 62))),
                   'up': rng.choice((None, str(rng.randint(0, i)))),
                   'made': None if rng.random() < .05 else
                   '2024-0%d-1%d 01:02:03.04+05' % (rng.randint(1, 9),
                                                    rng.randint(0, 9))}
            if self.source == 'plain':
                row[self.fp] = rng.choice((None,) + ('0', '3', '255', '-1') * 4)
            for k, (name, kind) in enumerate(self.keys):
                row[name] = str(bool(i % 2)) if kind == 'boolean' else \
                    KEYS[kind](rng, i if k == 0 else i % 4)
            self.rows.append(row)
        rng.shuffle(self.rows)

    # -- tables that refer to it

    def draw_children(self):
        rng = self.rng
        self.children = []
        for i in range(rng.choice((0, 0, 1, 1, 2))):
            child = {
                'name': rng.choice(NAMES)[:40] + str(i),
                'by': 'rid' if not self.keyed or self.shape != 'parted' and
                rng.random() < .3 else 'keys',
                'action': rng.choice(('CASCADE', 'NO ACTION', 'SET NULL',
                                      'RESTRICT', 'SET DEFAULT')),
                'unique': rng.choice((None, None, 'who', 'who+kind',
                                      'nulls', 'alone', 'two', 'both')),
                'key': rng.choice(('own', 'own', 'ref', 'late')),
                'parted': rng.random() < .15,
                'grand': rng.random() < .1,
                'foreign': rng.random() < .05,
                'ways': rng.choice((1, 1, 1, 2)),
            }
            if child['by'] == 'keys' and child['action'] == 'SET DEFAULT':
                child['action'] = 'SET NULL'
            if self.shape == 'inherits' or self.shape == 'parted' and \
                    child['by'] == 'rid':
                continue
            self.children.append(child)
        self.selfish = self.shape == 'plain' and rng.random() < .15
        self.move = rng.choice(('move', 'move', 'move', 'stay', 'stay', None)) \
            if self.children or self.selfish else rng.choice((None, 'move'))
        if self.shape == 'inherits':
            self.move = None

    # -- SQL

    def columns(self):
        lines = []
        for name, kind in self.keys:
            lines.append('%s %s' % (ident(name), kind))
        lines.insert(self.rng.randint(0, len(lines)),
                     '%s text' % ident(self.body))
        lines += ['rid integer NOT NULL', '%s text' % ident(self.grp),
                  '%s text' % ident(self.rank), '%s bigint' % ident(self.second),
                  'up integer', 'made timestamptz']
        if self.generated:
            lines.append('%s %s GENERATED ALWAYS AS (%s) STORED' % (
                ident(self.fp), 'bit(128)' if self.source == 'bits' else 'bigint',
                self.expression))
        elif self.source == 'plain':
            lines.append('%s bigint' % ident(self.fp))
        if self.rng.random() < .2 and self.shape != 'inherits':
            lines.append('serial_no bigint GENERATED ALWAYS AS IDENTITY')
        return lines

    def create(self, run):
        name = ident(self.name)
        lines = self.columns()
        if self.keyed:
            lines.append('PRIMARY KEY (%s)' % ', '.join(
                ident(k) for k, _ in self.keys))
        if self.shape != 'parted':
            lines.append('UNIQUE (rid)')
        run('CREATE TABLE %s (%s)%s' % (
            name, ', '.join(lines), '' if self.shape != 'parted' else
            ' PARTITION BY HASH (%s)' % (ident(self.keys[0][0]) if self.keys
                                         else 'rid')))
        if self.rng.random() < .2:
            run('ALTER TABLE %s ADD extra int' % name)
            run('ALTER TABLE %s DROP extra' % name)
        if self.shape == 'parted':
            for i in range(2):
                run('CREATE TABLE "part %d" PARTITION OF %s FOR VALUES WITH '
                    '(MODULUS 2, REMAINDER %d)' % (i, name, i))
        if self.shape == 'inherits':
            run('CREATE TABLE "a child" () INHERITS (%s)' % name)
            if self.keyed:
                run('ALTER TABLE "a child" ADD PRIMARY KEY (%s)' % ', '.join(
                    ident(k) for k, _ in self.keys))
        for i, row in enumerate(self.rows):
            run('INSERT INTO %s (%s) VALUES (%s)' % (
                '"a child"' if self.shape == 'inherits' and i % 3 == 0 else name,
                ', '.join(map(ident, row)), ', '.join(map(literal,
                                                          row.values()))))
        if self.selfish:
            run('ALTER TABLE %s ADD FOREIGN KEY (up) REFERENCES %s (rid)' % (
                name, name))
        for i, child in enumerate(self.children):
            self.create_child(run, i, child)

    def create_child(self, run, number, child):
        rng = self.rng
        by = [('rid', 'integer')] if child['by'] == 'rid' else self.keys
        ways = []
        for way in range(child['ways']):
            ways.append(['%s%d' % (rng.choice(('ref', 'r"e', 'u')), way * 10 + i)
                         for i in range(len(by))])
        lines = ['cid integer', 'who text', 'kind integer']
        for names in ways:
            lines += ['%s %s' % (ident(n), kind)
                      for n, (_, kind) in zip(names, by)]
        if rng.random() < .3:
            lines.append('twice integer GENERATED ALWAYS AS (cid * 2) STORED')
        if child['key'] == 'ref' and child['action'] in ('SET NULL',
                                                         'SET DEFAULT'):
            child['action'] = 'CASCADE'
        if child['key'] == 'ref':
            lines.append('PRIMARY KEY (cid, %s)' % ', '.join(
                map(ident, ways[0])))
        elif child['key'] == 'own':
            lines.append('PRIMARY KEY (cid)')
        parted = child['parted'] and child['key'] != 'late'
        if child['key'] == 'late':
            lines.append('PRIMARY KEY (who, kind, cid)')
        name = ident(child['name'])
        run('CREATE TABLE %s (%s)%s' % (name, ', '.join(lines), '' if not parted
                                        else ' PARTITION BY HASH (cid)'))
        if parted:
            for i in range(2):
                run('CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS '
                    '2, REMAINDER %d)' % (ident('piece %d %d' % (number, i)),
                                          name, i))
        unique = {'who': [(['who'], '')],
                  'who+kind': [(['kind', 'who'], '')],
                  'nulls': [(['who'], ' NULLS NOT DISTINCT')],
                  'alone': [([], '')],
                  'two': [(['who'], ''), (['kind'], '')],
                  'both': [(ways[-1], '')]}.get(child['unique'], [])
        if parted:
            unique = []
        child['parted'] = parted
        child['ids'] = [n for names in ways for n in names]
        for names in ways:
            run('ALTER TABLE %s ADD FOREIGN KEY (%s) REFERENCES %s (%s) '
                'ON DELETE %s' % (name, ', '.join(map(ident, names)),
                                  ident(self.name),
                                  ', '.join(ident(k) for k, _ in by),
                                  child['action']))
        for others, nulls in unique:
            run('CREATE UNIQUE INDEX ON %s (%s)%s' % (
                name, ', '.join(map(ident, dict.fromkeys(ways[0] + others))),
                nulls))
        child['grand'] = child['grand'] and child['key'] == 'own'
        if child['grand']:
            run('CREATE TABLE %s (gid integer, cid integer REFERENCES %s ON '
                'DELETE CASCADE)' % (ident('grand %d' % number), name))
        for i in range(rng.randint(0, 60)):
            values = {'cid': str(i), 'who': rng.choice(('x', 'y', 'z', 'x', None)
                                                       if child['key'] != 'late'
                                                       else ('x', 'y', '"')),
                      'kind': str(rng.randint(0, 3))}
            for names in ways:
                row = rng.choice(self.rows)
                if rng.random() < .05 and child['key'] != 'ref':
                    continue
                for n, (k, _) in zip(names, by):
                    values[n] = row[k]
            run('INSERT INTO %s (%s) VALUES (%s) ON CONFLICT DO NOTHING' % (
                name, ', '.join(map(ident, values)),
                ', '.join(map(literal, values.values()))))
        if child['grand']:
            run('INSERT INTO %s SELECT cid * 2, cid FROM %s' % (
                ident('grand %d' % number), name))

    def call(self, more=None):
        arguments = dict(self.arguments)
        arguments.update(more or {})
        return ', '.join(['relation => %s::regclass' % literal(
            ident(self.name))] + ['%s => %s' % a for a in arguments.items()])


# --- the judge ---------------------------------------------------------------

class Round:
    def __init__(self, connection, seed, number):
        self.rng = random.Random('%d.%d' % (seed, number))
        self.c = connection
        self.table = Table(self.rng)
        self.dumped = {}

    def run(self, text):
        return self.c.execute(text)

    def rows(self, text):
        return self.run(text).fetchall()

    def settings(self, values=None):
        for name, choice in SETTINGS.items():
            self.run("SET %s = '%s'" % (
                name, values[name] if values else self.rng.choice(choice)))

    def path(self, trapped):
        self.run('SET search_path = %swork, public' % ('trap, ' * trapped))

    def dump(self):
        """All rows of all tables, as text."""
        self.settings(FIXED)
        result = {}
        names = [self.table.name] + [c['name'] for c in self.table.children] + [
            'grand %d' % i for i, c in enumerate(self.table.children) if c['grand']]
        for name in names:
            result[name] = [r[0] for r in self.rows(
                'SELECT t.tableoid::regclass::text || t.*::text AS text FROM %s '
                'AS t ORDER BY 1' % ident(name))]
        return result

    def source(self):
        return ident(self.table.name)

    def key(self, alias):
        """What a plan calls a row."""
        t = self.table
        if t.told:
            return 'ARRAY[%s]' % ', '.join("format('%%s', %s.%s)" % (
                alias, ident(k)) for k, _ in t.keys)
        return 'ARRAY[%s%s.ctid::text]' % (
            '' if t.shape == 'plain' else alias + '.tableoid::oid::text, ', alias)

    def fingerprint(self, alias):
        t = self.table
        if t.generated or t.source == 'plain':
            return '%s.%s' % (alias, ident(t.fp))
        return t.expression.replace(ident(t.body), '%s.%s' % (
            alias, ident(t.body)))

    def document(self, alias):
        t = self.table
        if t.document is None:
            if t.source == 'two':
                return t.expression[len('simhash('):-1].replace(
                    ident(t.body), '%s.%s' % (alias, ident(t.body)))
            return '%s.%s' % (alias, ident(t.body))
        if t.document in (t.body, t.second):
            return '%s.%s' % (alias, ident(t.document))
        return t.document.replace(ident(t.body), '%s.%s' % (
            alias, ident(t.body))).replace(ident(t.rank), '%s.%s' % (
                alias, ident(t.rank)))

    def decides(self):
        return self.table.similarity != 'none'

    def order(self):
        t = self.table
        keep = t.keep
        keys = ', '.join('t.' + ident(k) for k, _ in t.keys)
        if keep is None and t.similarity == 'containment' and self.decides():
            keep = 'length(%s) DESC NULLS LAST' % self.document('t')
        order = [keep] if keep else []
        if t.told:
            order.append(keys)
        if not t.told or t.shape != 'plain':
            order.append('t.tableoid, t.ctid')
        return ', '.join(order)

    def model(self):
        """Stars by brute force: {row that goes: row that stays}."""
        t = self.table
        k = int(t.arguments.get('k', '8' if self.decides() else '3'))
        least = t.at_least if t.at_least is not None else .8
        profile = literal(t.profile or ('word-1' if t.source == 'expression'
                                        else None))
        a, b = 'a.doc', 'b.doc'
        similar = {
            None: 'alike', 'alike': 'alike',
            'jaccard': 'simhash_jaccard(%s, %s, %s) >= %s',
            'cosine': 'simhash_cosine(%s, %s, %s) >= %s',
            'containment': 'simhash_containment(%s, %s, %s) >= %s',
            'hamming': 'hamming(a.doc, b.doc) <= %s' % t.at_most,
            'none': 'true'}[t.similarity]
        if similar == 'alike':
            # near rows decide as well, which no two rows tell
            similar = ("(a.rid, b.rid) IN (SELECT greatest(p.a, q), least(p.a, q) FROM found AS p, "
                       "LATERAL (SELECT p.b AS q) AS q UNION SELECT least(p.a, p.b), greatest(p.a, p.b)"
                       " FROM found AS p)")
        elif '%s' in similar:
            similar = similar % (a, b, profile, least)
        self.run('CREATE TEMP TABLE model AS SELECT rid, %s AS fp, %s AS doc, '
                 '%s AS grp, row_number() OVER (ORDER BY %s) AS place, '
                 '%s AS moment FROM %s AS t WHERE %s' % (
                     self.fingerprint('t'), self.document('t')
                     if self.decides() else 'NULL::text',
                     't.' + ident(t.grp) if t.within == t.grp else
                     t.within or "''", self.order(), t.moment or 'now()',
                     self.source(), t.condition or 'true'))
        self.far = set() if t.moment is None else {
            frozenset(pair) for pair in self.rows(
                'SELECT a.rid, b.rid FROM model AS a JOIN model AS b ON greatest'
                "(a.moment, b.moment) - interval '%s' > least(a.moment, b.moment)"
                % t.near_in)}
        if t.similarity in (None, 'alike'):
            self.run("CREATE TEMP TABLE found AS SELECT a, b FROM public.simhash_pairs("
                     "'SELECT rid, fp, doc, grp FROM model', %d, 'doc', 'alike', %s, %s)"
                     % (k, least, profile))
        pairs = dict(((x, y), s) for x, y, s in self.rows(
            'SELECT a.rid, b.rid, %s FROM model AS a JOIN model AS b ON '
            'b.place < a.place AND a.grp = b.grp AND hamming(a.fp, b.fp) <= %d'
            % (similar, k)))
        self.run('DROP TABLE IF EXISTS pg_temp.found')
        rows = [r[0] for r in self.rows(
            'SELECT rid FROM model WHERE fp IS NOT NULL AND grp IS NOT NULL '
            'AND moment IS NOT NULL ORDER BY place')]
        self.run('DROP TABLE pg_temp.model')
        if t.kind == 'connected':
            return self.connect(rows, pairs)
        centers, result = [], {}
        for row in rows:
            for center in centers:
                if pairs.get((row, center)) and not self.is_apart(row, center):
                    result[row] = center
                    break
            else:
                centers.append(row)
        return result

    def connect(self, rows, pairs):
        first = {row: row for row in rows}
        for a in rows:
            for b in rows:
                if pairs.get((a, b)) and not self.is_apart(a, b):
                    low, high = sorted((first[a], first[b]), key=rows.index)
                    for row in rows:
                        if first[row] == high:
                            first[row] = low
        return {row: to for row, to in first.items()
                if row != to and not self.is_apart(row, to)}

    def is_apart(self, a, b):
        return frozenset((a, b)) in self.far or \
            a in self.series and self.series[a] == self.series.get(b)

    def plan(self, names):
        self.path(True)
        plan = [(names[tuple(g)], names[tuple(k)], d, s, n, q)
                for g, k, d, s, n, q in self.rows(
                    'SELECT gone, kept, distance, similarity, needed, doubt '
                    'FROM public.simhash_dedup_plan(%s)' % self.table.call())]
        self.path(False)
        return plan

    def names(self):
        kept = self.save()
        self.settings(dict(FIXED, TimeZone=kept['TimeZone']))
        names = {}
        for key, rid in self.rows('SELECT %s, rid FROM %s AS t' % (
                self.key('t'), self.source())):
            must(tuple(key) not in names, 'a key of two rows', key)
            names[tuple(key)] = rid
        self.settings(kept)
        return names

    def save(self):
        return {name: self.rows('SHOW %s' % name)[0][0] for name in SETTINGS}

    def check_plan(self):
        """The plan, the model, the DELETE, and the report."""
        plan = self.plan(self.names())
        found = {p[0]: (p[1], p[5] is not None) for p in plan}
        must(len(found) == len(plan), 'a row goes twice', plan)
        goes = {row: to for row, (to, doubt) in found.items() if not doubt}
        model = self.model()
        # families are found among rows that are not apart
        must(goes == model or (self.table.similarity in (None, 'alike') and
                               (self.far or self.series)),
             'plan and model differ', 'plan', sorted(set(goes.items()) - set(model.items())),
             'model', sorted(set(model.items()) - set(goes.items())))
        goes = {row for row, (_, doubt) in found.items() if not doubt}
        stays = {row for _, (row, doubt) in found.items() if not doubt}
        must(not goes & stays, 'a row that stays goes', goes & stays)
        if self.table.kind == 'star':
            self.path(True)
            report = dict(self.rows(
                "SELECT item, value FROM public.simhash_report(%s) WHERE item = "
                "'redundant rows'" % self.table.call()))
            self.path(False)
            must(report['redundant rows'] == str(len(goes)),
                 'report and plan differ', report, len(goes))
        self.run('BEGIN')
        for name, constraint in self.foreign_keys():
            self.run('ALTER TABLE %s DROP CONSTRAINT %s' % (name,
                                                            ident(constraint)))
        before = self.rids()
        self.path(True)
        statement = self.rows('SELECT public.simhash_dedup_sql(%s)' %
                              self.table.call())[0][0]
        self.run(statement)
        self.path(False)
        must(before - self.rids() == goes, 'the DELETE and the plan differ',
             sorted(before - self.rids() ^ goes), statement)
        self.run('ROLLBACK')
        return found, goes

    def foreign_keys(self):
        return self.rows(
            "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE "
            "contype = 'f' AND conparentid = 0 AND confrelid = %s::regclass" %
            literal(self.source()))

    def rids(self):
        return {r[0] for r in self.rows('SELECT rid FROM %s' % self.source())}

    def draw_apart(self):
        """Say of some lines of a plan that they are no duplicates: series."""
        self.series = {}
        if self.rng.random() < .7:
            return
        names = self.names()
        self.run('CREATE TABLE "not the same" AS SELECT * FROM '
                 'simhash_dedup_plan(%s) ORDER BY gone LIMIT %d' % (
                     self.table.call(), self.rng.randint(0, 4)))
        for line in self.rows('SELECT gone, kept FROM "not the same"'):
            gone, kept = (names[tuple(key)] for key in line)
            old, new = (self.series.get(row, row) for row in (gone, kept))
            self.series.update({row: new for row in [gone, kept] + [
                row for row in self.series if self.series[row] == old]})
        self.table.arguments['apart'] = "'\"not the same\"'::regclass"

    def draw_removal(self):
        """What is asked of the removal, but for its plan."""
        rng, t = self.rng, self.table
        short = t.name[:9].replace('"', '""')
        self.plans = ['"the "" plan"', '"another plan"'][:rng.choice((1, 1, 1, 2))]
        if rng.random() < .9:
            self.plans = ['work.' + name for name in self.plans]
        self.temp = '.' not in self.plans[0]
        self.logs = None if rng.random() < .33 else [
            'work."%s%s"".o\'g"' % (short, end) for end in 'lm'][:len(self.plans)]
        self.batch = rng.choice(('NULL', '1', '7', '1000'))
        self.atomic = rng.random() < .15
        self.refusal = rng.choice((None,) * 5 + ('skips', 'fails')) \
            if t.told and t.move != 'stay' and not t.selfish else None

    def pair(self, gone, kept):
        """What a decision is about: which one goes matters if it has to be contained."""
        return (tuple if self.table.similarity == 'containment' else frozenset)((gone, kept))

    def make_plans(self):
        """Plans as a person makes and edits them; returns how they call rows, and evidence."""
        rng = self.rng
        self.settings()
        names = self.names()
        self.path(True)
        self.run('CREATE %sTABLE %s AS SELECT * FROM public.simhash_dedup_plan(%s)' % (
            'TEMP ' * self.temp, self.plans[0], self.table.call()))
        self.path(False)
        right = {self.pair(names[tuple(gone)], names[tuple(kept)]): evidence for gone, kept, evidence
                 in self.rows('SELECT gone, kept, evidence FROM %s' % self.plans[0])}
        self.certain = rng.random() < .2
        edits = ["UPDATE {} SET doubt = 'no' WHERE doubt IS NOT NULL"] * self.certain
        edits += rng.sample((
            'DELETE FROM {} WHERE {some}',
            'UPDATE {} SET gone = kept, kept = gone WHERE {some}',
            'INSERT INTO {} SELECT * FROM {} WHERE {some}',
            'INSERT INTO {} (gone, kept, compared, evidence) SELECT kept, gone, compared, '
            'evidence FROM {} WHERE {some}',
            "UPDATE {} SET doubt = 'yes' WHERE {some}",
            'UPDATE {} SET evidence = evidence + 1 WHERE {some}',
            'UPDATE {} SET gone = NULL WHERE {some}', 'UPDATE {} SET kept = NULL WHERE {some}',
            'UPDATE {} SET gone = ARRAY[]::text[] WHERE {some}',
            'ALTER TABLE {} ADD note text', 'ALTER TABLE {} DROP needed, DROP family'),
            rng.choice((0, 0, 0, 1, 2, 4)))
        self.twice = self.table.told and self.table.keys[0][1] in NUMBERS and rng.random() < .1
        edits += ["UPDATE {} SET gone[1] = ' ' || gone[1] WHERE {some}"] * self.twice
        for edit in edits:
            self.run(edit.replace('{}', self.plans[0]).replace(
                '{some}', 'pg_catalog.hashtext(gone::text) %% 5 = %d' % rng.randint(-4, 4)))
        for other in self.plans[1:]:
            self.run('CREATE %sTABLE %s AS SELECT * FROM %s WHERE false' % (
                'TEMP ' * self.temp, other, self.plans[0]))
            self.run('WITH d AS (DELETE FROM %s WHERE pg_catalog.hashtext(kept::text) %% 2 = 0 '
                     'RETURNING *) INSERT INTO %s SELECT * FROM d' % (self.plans[0], other))
        return names, right

    def spoil_rows(self):
        """Change rows before the plan is carried out; returns those it rests upon."""
        rng, t = self.rng, self.table
        columns = {r[0] for plan in self.plans for r in self.rows(
            'SELECT DISTINCT unnest(compared) FROM %s' % plan)} | {k for k, _ in t.keys}
        read = 'SELECT rid, ROW(%s)::text FROM %s' % (
            ', '.join(map(ident, sorted(columns))), self.source())
        was = dict(self.rows(read))
        if rng.random() < .5:
            return set()
        for rid in rng.sample(sorted(self.rids()), rng.randint(1, 4)):
            column = rng.choice((t.body, t.rank, t.grp, 'made', 'up', 'gone', 'gone') +
                                tuple(k for k, _ in t.keys[:1]))
            if column == 'gone':
                change = 'DELETE FROM {}'
            elif column == 'up':
                change = 'UPDATE {} SET up = rid'
            elif column == 'made':
                change = "UPDATE {} SET made = coalesce(made, now()) + interval '1 s'"
            elif column in (k for k, _ in t.keys):
                change = 'UPDATE {} SET %s = %s' % (ident(column), literal(
                    KEYS[t.keys[0][1]](rng, 58)))
            else:
                change = "UPDATE {} SET %s = coalesce(%s, '1') || '0'" % ((ident(column),) * 2)
            try:
                self.run(change.replace('{}', self.source(), 1) + ' WHERE rid = %d' % rid)
            except psycopg.Error as error:
                must(error.sqlstate[:2] == '23', 'rows cannot be changed', error)
        now = dict(self.rows(read))
        return {rid for rid in was if was[rid] != now.get(rid)}

    def refuse_rows(self, event):
        """Have a trigger refuse some rows; returns how it is dropped."""
        if not self.refusal:
            return None
        parted = self.table.shape == 'parted'
        self.run("CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
                 "IF TG_OP = 'DELETE' AND old.rid %% 4 > 0 OR TG_OP = 'INSERT' AND new.rid %% 4 > 0 THEN "
                 "RETURN CASE TG_OP WHEN 'DELETE' THEN old ELSE new END; END IF; %s END $$" % (
                     'RETURN NULL;' if self.refusal == 'skips' else "RAISE 'refused';"))
        self.run('CREATE TRIGGER refuse BEFORE %s ON %s FOR EACH ROW EXECUTE FUNCTION refuse()' % (
            event, self.source()))
        return 'DROP TRIGGER refuse ON %s' % self.source()

    def call(self, statement):
        """CALL a procedure, as a session with other settings, and a hostile path."""
        self.called.append(statement)
        self.settings()
        self.path(True)
        try:
            if self.atomic:
                self.run('BEGIN')
            self.run(statement)
            if self.atomic:
                self.run('COMMIT')
        except psycopg.Error:
            if self.atomic:
                self.run('ROLLBACK')
            raise
        finally:
            self.path(False)
            self.settings(FIXED)

    def carry_out(self):
        for i, plan in enumerate(self.plans):
            more = [literal(self.source()), literal(plan), 'batch => ' + self.batch]
            if self.logs:
                more.append('log => ' + literal(self.logs[i]))
            if self.table.move:
                more.append('children => ' + literal(self.table.move))
            self.call('CALL public.simhash_dedup_apply(%s)' % ', '.join(more))

    def lines(self, names):
        """Lines of the plans, by identities of rows; None for what is no row."""
        def find(key):
            key = list(key or ())
            if self.twice and key:
                key[0] = key[0].lstrip(' ')
            return names.get(tuple(key))
        return [(find(g), find(k), doubt, done, evidence, plan)
                for plan in self.plans for g, k, doubt, done, evidence in self.rows(
                    'SELECT gone, kept, doubt, done, evidence FROM %s' % plan)]

    def judge_lines(self, lines, changed, right):
        """Is what a removal did of its plans, and what not, as it must be?"""
        gone = {line[0]: line[1] for line in lines if line[3] == 'removed'}
        must(len(gone) == sum(line[3] == 'removed' for line in lines), 'a row went twice', lines)
        for line in lines:
            row, kept, doubt, done, evidence, plan = line
            certain = doubt in (None, 'no')
            spoilt = {row, kept} & changed or evidence != right.get(self.pair(row, kept))
            must((done is not None) == certain, 'a doubtful line was looked at, or none', line)
            if done == 'removed':
                must(not spoilt, 'a row went though something has changed', line)
                must(not any(other[0] == kept and other[3] == 'removed' and other[5] == plan
                             for other in lines), 'a row that stays is gone', line)
            elif done == 'changed':
                must(spoilt or row is None or kept is None or row == kept or any(
                    other is not line and (row in other[:2] or kept == other[0])
                    for other in lines), 'a line stays for nothing', line)
            elif certain:
                must(self.refusal and row % 4 == 0 or self.table.move != 'move' or
                     self.table.selfish or done.startswith('stays: a foreign key would change rows of') and
                     any(c['grand'] for c in self.table.children), 'a row stays for nothing', line)
        return gone

    def check_removal(self, found, goes):
        t = self.table
        self.draw_removal()
        self.called = []
        names, right = self.make_plans()
        changed = self.spoil_rows()
        before = self.dump()
        rids = self.rids()
        refers = self.references()
        identities = self.identities()
        for child in t.children:
            if child['foreign']:
                self.give_away(child['name'])
        again = self.refuse_rows('DELETE')
        try:
            self.carry_out()
        except psycopg.Error as error:
            must(self.rids() == rids, 'a refusal changed something', error)
            if self.may_refuse(str(error)):
                return
            raise
        gone = self.judge_lines(self.lines(names), changed, right)
        must(set(gone) == rids - self.rids(), 'the plan says what did not happen', gone)
        self.chain = any(kept in gone for kept in gone.values())
        if t.move:
            self.check_children(gone, refers, identities)
            after = self.dump()
            must(all(after[name] == rows for name, rows in before.items() if name.startswith('grand ')),
                 'a row of no log is lost', before, after)
        if again:
            self.run(again)
        if self.logs and (t.move or not self.foreign_keys()):
            self.put_back(before, gone)

    def give_away(self, name):
        self.run('RESET SESSION AUTHORIZATION')
        self.run('ALTER TABLE work.%s OWNER TO dedup_other' % ident(name))
        self.run('GRANT ALL ON work.%s TO dedup_owner' % ident(name))
        self.run('SET SESSION AUTHORIZATION dedup_owner')

    def may_refuse(self, error):
        """Is this an error that there has to be?"""
        t = self.table
        actions = {c['action'] for c in t.children}
        return (
            'belongs to another role' in error and
            any(c['foreign'] for c in t.children) or
            'no log would have its rows' in error and t.move is None and
            actions & {'CASCADE', 'SET NULL', 'SET DEFAULT'} or
            'writes the key of a row in two ways' in error and self.twice or
            'has children by inheritance' in error and t.shape == 'inherits' or
            'has no primary key' in error and (not t.keyed or t.move and self.logs))

    def references(self):
        """{child: {its identity: [rid of parents]}}"""
        result = {}
        for child in self.table.children:
            by = 'rid' if child['by'] == 'rid' else None
            keys = [by] if by else [k for k, _ in self.table.keys]
            size = len(keys)
            ways = [child['ids'][i:i + size]
                    for i in range(0, len(child['ids']), size)]
            result[child['name']] = {
                r[0]: r[1:] for r in self.rows('SELECT c.cid, %s FROM %s AS c %s' % (
                    ', '.join('p%d.rid' % i for i in range(len(ways))),
                    ident(child['name']), ' '.join(
                        'LEFT JOIN %s AS p%d ON %s' % (
                            self.source(), i, ' AND '.join(
                                'c.%s = p%d.%s' % (ident(c), i, ident(k))
                                for c, k in zip(names, keys)))
                        for i, names in enumerate(ways))))}
        return result

    def identities(self):
        return {c['name']: c for c in self.table.children}

    def check_children(self, gone, before, children):
        after = self.references()
        for name, rows in before.items():
            lost = 0
            for cid, parents in rows.items():
                wanted = parents
                while set(wanted) & set(gone):
                    wanted = tuple(gone.get(p, p) for p in wanted)
                if cid not in after[name]:
                    must(wanted != parents, 'a child is lost', name, cid, parents)
                    must(children[name]['unique'] is not None or
                         children[name]['key'] == 'ref',
                         'a child is dropped that collides with none', name, cid)
                    must(self.table.move == 'move', 'a child is dropped', name)
                    lost += 1
                    continue
                must(after[name][cid] == wanted, 'a child refers to another row',
                     name, cid, parents, wanted, after[name][cid])
            if self.logs:
                dropped = sum(self.rows(
                    "SELECT count(*) FROM %s WHERE {} = 'dropped' AND %s::regclass = %s::regclass".replace(
                        '{}', '"simhash action"') % (log, literal(table), literal(ident(name))))[0][0]
                    for table, log in self.all_logs() if self.is_child(table))
                must(dropped == lost, 'the log is not complete', name, dropped, lost)

    def is_child(self, table):
        return self.rows('SELECT %s::regclass <> %s::regclass' % (literal(table), literal(self.source())))[0][0]

    def all_logs(self):
        """The tables that all logs are of, with these."""
        return [(entry['table'], entry['log']) for log in self.logs
                for entry in json.loads(self.rows("SELECT substr(obj_description(%s::regclass), 29)" %
                                                  literal(log))[0][0])]

    def left(self):
        """How many lines of the logs are to be put back."""
        return sum(self.rows('SELECT count(*) FROM %s%s' % (
            log, ' WHERE "simhash action" <> \'back\'' if self.is_child(table) else ''))[0][0]
            for table, log in self.all_logs())

    def undo(self, order):
        for i in order:
            plan = literal(self.plans[i]) if self.with_plan else 'NULL'
            self.call('CALL public.simhash_dedup_undo(%s, %s, %s)' % (
                literal(self.source()), plan, literal(self.logs[i])))

    def edit_children(self, children, by):
        """Change a column of children; returns those that others let it be changed of."""
        edited = []
        for name, cid in children:
            try:
                if self.run('UPDATE %s SET kind = kind + %d WHERE cid = %d' % (
                        ident(name), by, cid)).rowcount:
                    edited.append((name, cid))
            except psycopg.Error as error:
                must(error.sqlstate == '23505', 'children cannot be edited', error)
        return edited

    def dump_and_restore(self):
        """Dump tables and logs, and have them be made anew of that."""
        self.run('RESET SESSION AUTHORIZATION')
        dump = subprocess.run(['pg_dump', '-n', 'work', '-d', sys.argv[1]], check=True,
                              capture_output=True).stdout
        self.run('DROP SCHEMA work CASCADE')
        subprocess.run(['psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', sys.argv[1]],
                       input=dump, check=True, stdout=subprocess.DEVNULL)
        self.run('SET SESSION AUTHORIZATION dedup_owner')

    def put_back(self, before, gone):
        rng = self.rng
        self.with_plan = rng.random() < .5
        order = list(range(len(self.logs)))
        if self.chain or self.table.selfish or any(
                c['ways'] > 1 or c['unique'] or c['key'] == 'ref'
                for c in self.table.children):
            order.reverse()
        else:
            rng.shuffle(order)
        if rng.random() < .1:
            self.dump_and_restore()
        edited = rng.random() < .3 and self.edit_children(
            [(c['name'], cid) for c in self.table.children for cid in range(0, 60, 7)], 1)
        again = self.refuse_rows('INSERT')
        self.undo(order)
        if again:
            self.run(again)
            must({row for row in gone if row % 4} == set(gone) & self.rids(),
                 'other rows are refused than are', gone)
        for _ in range(2 if edited else again is not None):
            if edited:
                for child in self.edit_children(edited, -1):
                    edited.remove(child)
            self.undo(order)
        after = self.dump()
        for name in before:
            must(before[name] == after[name], 'not all was put back', name,
                 [x for x in before[name] if x not in after[name]][:3],
                 [x for x in after[name] if x not in before[name]][:3])
        must(self.left() == 0, 'the log is not empty')
        must(not self.with_plan or not any(line[3] == 'removed' for line in self.lines({})),
             'the plan says that rows are gone')

    def go(self):
        self.settings()
        self.draw_apart()
        found, goes = self.check_plan()
        self.check_removal(found, goes)
        return len(goes), len(found) - len(goes)

    def describe(self):
        t = self.table
        return '%s %s keys=%s %s children=%s %s %s' % (
            t.shape, repr(t.name), t.keys, t.arguments,
            [(c['by'], c['action'], c['unique'], c['key'], c['ways'], c['parted'])
             for c in t.children], 'self' if t.selfish else '', t.move)


SETUP = """
CREATE TYPE mood AS ENUM (%s);
CREATE DOMAIN words AS text;
CREATE DOMAIN days AS date;
CREATE TYPE pair_of AS (number integer, name text);
CREATE COLLATION "both cases" (provider = icu, locale = 'und-u-ks-level2',
    deterministic = false);
"""

# What would run if a name were looked up: for the same types as the operators and
# functions of scripts, or nearer ones.
TRAPS = """
CREATE FUNCTION trap.run(a {0}, b {0}) RETURNS boolean LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a trap was run'; END $$;
CREATE OPERATOR trap.= (FUNCTION = trap.run, LEFTARG = {0}, RIGHTARG = {0});
CREATE OPERATOR trap.<> (FUNCTION = trap.run, LEFTARG = {0}, RIGHTARG = {0});
"""
TRAPPED = ('text[]', 'varchar', 'mood', 'words', 'days', 'pair_of', 'integer[]',
           'daterange')
MORE_TRAPS = """
CREATE FUNCTION trap.{0} RETURNS {1} LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'a trap was run'; END $$;
"""
FUNCTIONS = (('hamming(bigint, bigint)', 'integer'),
             ('hamming(varbit, varbit)', 'integer'),
             ('simhash_alike(text, text, text, float8)', 'boolean'),
             ('simhash_jaccard(text, text, text)', 'float8'),
             ('format(text, integer)', 'text'), ('format(text, text)', 'text'),
             ('format(text, date)', 'text'), ('format(text, bigint)', 'text'),
             ('concat(oid, tid)', 'text'),
             ('simhash_dedup_plan(regclass, text)', 'void'))
# In the schema of the extension there may be better ones than its own.
BETTER = (('hamming(bit, varbit)', 'integer'),
          ('simhash_jaccard(varchar, varchar)', 'float8'),
          ('simhash_alike(varchar, varchar, text, numeric)', 'boolean'))


def prepare(connection):
    for name in ('dedup_owner', 'dedup_other'):
        connection.execute(
            "DO $$ BEGIN CREATE ROLE %s; EXCEPTION WHEN duplicate_object THEN END "
            "$$" % name)
    connection.execute('GRANT CREATE ON DATABASE %s TO dedup_owner' %
                       ident(connection.info.dbname))
    for name, result in BETTER:
        connection.execute(MORE_TRAPS.replace('FUNCTION trap', 'OR REPLACE FUNCTION '
                                              'public').format(name, result))


def one(connection, seed, number):
    run = connection.execute
    run('RESET ALL')
    run('SET client_min_messages = warning')
    run('DISCARD TEMP')
    run('DROP SCHEMA IF EXISTS work, trap CASCADE')
    run('CREATE SCHEMA work AUTHORIZATION dedup_owner')
    run('CREATE SCHEMA trap')
    run('GRANT USAGE ON SCHEMA trap TO dedup_owner')
    run('GRANT USAGE ON SCHEMA work TO dedup_other')
    run('SET search_path = work, public')
    run('SET SESSION AUTHORIZATION dedup_owner')
    run(SETUP % ', '.join(literal('m "%d",' % i) for i in range(60)))
    judge = Round(connection, seed, number)
    judge.table.create(judge.run)
    run('RESET SESSION AUTHORIZATION')
    for name in TRAPPED:
        run(TRAPS.format(name))
    for name, result in FUNCTIONS:
        run(MORE_TRAPS.format(name, result))
    run('SET SESSION AUTHORIZATION dedup_owner')
    try:
        return judge, judge.go()
    except (Fault, psycopg.Error) as error:
        print('fault in round %d, SIMHASH_SEED=%d: %s' % (number, seed, error))
        print('  ' + judge.describe())
        if '-v' in sys.argv:
            print('\n'.join(getattr(judge, 'called', ())))
        return judge, None
    finally:
        if connection.info.transaction_status != 0:
            run('ROLLBACK')
        run('RESET SESSION AUTHORIZATION')


def main():
    seed, first, last = map(int, sys.argv[2:5])
    gone = doubts = faults = 0
    for number in range(first, last + 1):
        # A session keeps something of each table and function it has seen: one
        # that has seen many of them is slow, the more so with assertions.
        if (number - first) % 20 == 0:
            connection = psycopg.connect(sys.argv[1], autocommit=True)
            if connection.info.server_version >= 190000:    # strings are read one way
                SETTINGS['standard_conforming_strings'] = ('on',)
            prepare(connection)
        _, result = one(connection, seed, number)
        if result is None:
            faults += 1
        else:
            gone += result[0]
            doubts += result[1]
    print('round %d to %d: %d rows removed and %d doubted' % (first, last, gone,
                                                              doubts))
    sys.exit(faults > 0)


if __name__ == '__main__':
    main()
