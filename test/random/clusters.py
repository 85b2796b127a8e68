#!/usr/bin/env python3
"""
A round of transactions against clusters that keep themselves, and the judge of
what they left; test/t/025_clusters.pl has the servers.

usage: clusters.py CONNECTION SEED ROUND

Six writers insert, update and delete rows of a few fingerprints, as the round
has it: of one kind of cluster, by one isolation level or several, a row at a
time or several, with savepoints, prepared transactions, sessions that are
killed, and a server that is stopped at once when we print "crash".  They note
which version of which row they wrote, what cluster it was given, and in which
transaction.  What became of that a row of its own says afterwards, however the
session ended.

In most rounds somebody renames, moves to other schemas, and swaps what they
write to meanwhile: the table that is live and the one to be next, the tables
of their clusters, the columns of all four, and the schemas.  Afterwards each of
the two tables is judged.

What is asked is computed here from nothing but these versions:

star        every version that was ever committed is within the distance of the
            representative of its cluster, and of all copies of that; and of
            two clusters they are not, but for copies that have texts of other
            rows.  Where a text has gone from it, the version is similar to
            another one of the cluster.
connected   two rows that are near are in one cluster; and the versions of a
            cluster hang together by others that were committed.  Where no row
            has left, that is one answer alone, and that of simhash_clusters.
            The id of a cluster is the least of those that it was merged from.
            Links lead to lesser ids, and are one for each id that has been
            merged, but for copies.
both        a row has the cluster that its last version was given; errors are
            those that may be: nobody is kept from merging clusters, or fails
            at REPEATABLE READ.

Another round has one writer, and is compared with what each row ought to get.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import itertools
import os
import queue
import random
import re
import sys
import threading
import time

import psycopg
from psycopg import pq

WRITERS = 6
SHARED = range(1, 21)           # ids that any writer takes
LEVELS = ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
COLUMNS = ('ver', 'id', 'part', 'site', 'lang', 'fp', 'body')
SIMILAR = 0.7                   # the option "at_least"

# In how many places fingerprints of a ball differ, by the distance: so that a
# hundred of them begin to hang together.
SPREAD = {1: 8, 3: 15, 8: 28}

Version = collections.namedtuple(
    'Version', COLUMNS + ('cluster', 'since', 'home', 'tag'))

# The tables, by the number that their rows have in the column "home"; and what
# a table, that of its clusters, and a schema are called by turns.
TABLES = ('docs', 'next')
NAMES = (('docs', 'Docs, live'), ('next', 'The "next"'),
         ('docs_clusters', 'Clusters of docs'),
         ('next_clusters', 'clusters'))
SCHEMAS = (('one', 'Schema 1'), ('two', 'docs'))


class Round:
    """What a round is made of."""
    FIRST = (
        # kind, levels, several rows, changes, and what else
        ('star', LEVELS[:1], True, True, ()),
        ('connected', LEVELS[:1], False, False, ('moves',)),
        ('star', LEVELS, True, True, ('within', 'parts', 'prepared', 'moves')),
        ('connected', LEVELS[:1], True, False, ('within', 'crash', 'moves')),
        ('star', LEVELS[:1], True, True,
         ('verified', 'crash', 'prepared', 'moves')),
        ('connected', LEVELS, True, True,
         ('parts', 'within', 'prepared', 'moves')),
        ('star', LEVELS[2:], True, True, ('far', 'kills', 'moves')),
        ('connected', LEVELS[:1], False, True, ('far', 'kills', 'moves')),
        ('connected', LEVELS, True, False, ('verified', 'prepared')),
        ('star', LEVELS[:1], True, False, ('alone', 'moves')),
        ('star', LEVELS[:1], True, True,
         ('alone', 'within', 'parts', 'verified', 'moves')),
        ('connected', LEVELS[:1], True, True,
         ('alone', 'within', 'parts', 'moves')),
    )

    def __init__(self, seed, number):
        rng = random.Random('%d.%d' % (seed, number))
        if number < len(self.FIRST):
            self.kind, self.levels, self.many, self.changes, more = \
                self.FIRST[number]
        else:
            self.kind = rng.choice(('star', 'connected'))
            self.levels = rng.choice((LEVELS[:1], LEVELS[:1], LEVELS[1:2],
                                      LEVELS[2:], LEVELS))
            self.many = rng.random() < 0.7
            self.changes = rng.random() < 0.7
            more = [what for what, chance in (
                ('within', 0.5), ('parts', 0.4), ('verified', 0.3),
                ('far', 0.3), ('kills', 0.3), ('crash', 0.3),
                ('prepared', 0.5), ('alone', 0.1), ('moves', 0.7))
                    if rng.random() < chance]
        self.seed, self.number = seed, number
        self.more = frozenset(more)
        self.k = 8 if 'far' in more else rng.choice((1, 3))
        self.groups = ()
        if 'within' in more:
            self.groups = rng.choice((('site',), ('lang', 'site')))
        self.parts = 'parts' in more
        self.verified = 'verified' in more
        self.alone = 'alone' in more
        self.moves = 'moves' in more
        self.index = number % 3 == 0
        self.tables = TABLES if self.moves else TABLES[:1]
        # of a generated fingerprint another column is written
        self.written = 'raw' if self.verified else 'fp'
        self.shared = self.changes and not self.parts
        centers = max(1, 4 - len(self.groups))
        self.centers = [(rng.getrandbits(64),
                         rng.sample(range(64), SPREAD[self.k]))
                        for _ in range(centers)]
        self.transactions = 300 if self.alone else 70 if self.many else 140

    def __str__(self):
        return '%s, k=%d%s, %s, %s%s%s' % (
            self.kind, self.k,
            ', within ' + ','.join(self.groups) if self.groups else '',
            '/'.join(''.join(word[0] for word in level.split())
                     for level in self.levels),
            'several rows' if self.many else 'single rows',
            ', changes' if self.changes else '',
            ''.join(', ' + what for what in sorted(
                self.more - {'within', 'far'})))


# Fingerprints, groups and documents

def distance(a, b):
    """Bits in which two fingerprints differ."""
    return bin((a ^ b) & (1 << 64) - 1).count('1')


def similar(a, b):
    """Of how many of the words that either document has, both have."""
    if a is None or b is None:
        return False
    a, b = set(a.split()), set(b.split())
    return len(a & b) >= SIMILAR * len(a | b) - 1e-9


class Model:
    """What near means in a round."""

    def __init__(self, test):
        self.test = test

    def group(self, row):
        """The group of a row, or None if it can be in no cluster."""
        values = tuple(getattr(row, name) for name in self.test.groups)
        if row.fp is None or None in values:
            return None
        return values

    def near(self, a, b):
        """Are two rows of one group near each other?"""
        return (distance(a.fp, b.fp) <= self.test.k and
                (not self.test.verified or similar(a.body, b.body)))

    def vertex(self, row):
        """All that matters of a row; None if it can be in no cluster."""
        group = self.group(row)
        if group is None:
            return None
        return group, row.fp, row.body if self.test.verified else None

    def same(self, a, b):
        """Does an update from one version to the other leave its cluster?"""
        vertex = self.vertex(a)
        return vertex is not None and vertex == self.vertex(b)


class Draws:
    """Rows at random."""

    def __init__(self, test, rng, versions, recent):
        self.test, self.rng, self.versions = test, rng, versions
        self.recent = recent

    def fingerprint(self):
        """Near others, alone, or none."""
        dice = self.rng.random()
        if dice < 0.02:
            return None
        value = self.rng.getrandbits(64)
        if dice < 0.6:
            value, places = self.rng.choice(self.test.centers)
            for place in places:
                value ^= self.rng.getrandbits(1) << place
        return value - (1 << 64) if value >> 63 else value

    def body(self):
        """Eight of the ten words of one of two topics, or none."""
        if self.rng.random() < 0.02:
            return None
        topic = self.rng.choice('ab')
        return ' '.join(self.rng.sample([topic + str(i) for i in range(10)],
                                        8))

    def site(self):
        """A site, or none."""
        return self.rng.choice('abc' * 10 + '-').replace('-', '') or None

    def row(self, key):
        """A new version of a row: often near one that was drawn lately, which
        others may be about to write."""
        row = Version(
            next(self.versions), key, key % 3, self.site(),
            self.rng.choice('xy'), self.fingerprint(),
            self.body() if self.test.verified else None, None, None, None,
            None)
        if self.recent and self.rng.random() < 0.35:
            other = self.rng.choice(self.recent)
            row = row._replace(site=other.site, lang=other.lang,
                               fp=self.around(other.fp))
            if self.rng.random() < 0.7:
                row = row._replace(body=other.body)
        if row.fp is not None:
            self.recent.append(row)
        return row

    def around(self, value):
        """A fingerprint up to twice the distance away."""
        for _ in range(self.rng.randint(0, 2 * self.test.k)):
            value ^= 1 << self.rng.randrange(63)
        return value


# The tables

def quote(name):
    """A name for SQL."""
    return '"%s"' % name.replace('"', '""')


def make_tables(test):
    """The statements that make what is written to."""
    for name in ('fates',) + tuple(
            name for names in NAMES for name in names):
        yield 'DROP TABLE IF EXISTS %s CASCADE' % quote(name)
    for names in SCHEMAS:
        for name in names:
            yield 'DROP SCHEMA IF EXISTS %s CASCADE' % quote(name)
        yield 'CREATE SCHEMA %s' % names[0]
    yield 'CREATE TABLE fates (tag int)'
    # what is written to the table of the clusters gets in slowly: first into
    # an index with this
    yield """CREATE OR REPLACE FUNCTION hold(bigint) RETURNS bigint
        IMMUTABLE LANGUAGE plpgsql AS $$
        BEGIN
            IF random() < 0.1 THEN
                PERFORM pg_sleep(random() * 0.003);
            END IF;
            RETURN $1;
        END $$"""
    # what widens the gaps: before the row is in the index, before it merges
    yield """CREATE OR REPLACE FUNCTION pause() RETURNS trigger
        LANGUAGE plpgsql AS $$
        BEGIN
            IF random() < 0.1 THEN PERFORM pg_sleep(random() * 0.005); END IF;
            RETURN new;
        END $$"""
    for home, table in enumerate(test.tables):
        yield from make_table(test, table, home)


def make_table(test, table, home):
    """The statements that make a table that keeps clusters."""
    groups = ''.join('%s, ' % name for name in test.groups)
    fp = 'fp bigint'
    if test.verified:
        fp = 'raw bigint, fp bigint GENERATED ALWAYS AS (raw # 0) STORED'
    yield """CREATE TABLE %s (id bigint, part int, site text, lang text, %s,
        body text, ver bigint, note int DEFAULT 0, home int DEFAULT %d,
        PRIMARY KEY (id, part)) %s""" % (
            table, fp, home, 'PARTITION BY LIST (part)' if test.parts else '')
    if test.parts:
        for part in range(3):
            yield """CREATE TABLE %s_%d PARTITION OF %s
                FOR VALUES IN (%d)""" % (table, part, table, part)
    yield 'CREATE INDEX ON %s (ver)' % table
    if test.kind == 'connected':
        yield 'CREATE INDEX ON %s USING hamming (%sfp)' % (
            table, groups if test.number % 2 else '')
    yield """CALL simhash_add_clusters('%s', 'fp', %d, kind => '%s',
        since => 'cluster_since', within => '{%s}', indexed => %s%s%s)""" % (
            table, test.k, test.kind, ','.join(test.groups),
            test.index,
            ", schema => 'one'" if test.number % 4 == 1 else '',
            """, document => 'body', profile => 'word-1',
            similarity => 'jaccard', at_least => %s""" % SIMILAR
            if test.verified else '')
    # indexes are written to by age: have what is searched be younger
    yield 'CREATE INDEX ON %s_clusters (hold(cluster))' % table
    yield 'REINDEX INDEX CONCURRENTLY %s_clusters_%s' % (
        table, 'pkey' if test.kind == 'connected' else '%sfp_idx' % ''.join(
            name + '_' for name in test.groups))
    for name, when in ('then_pause', 'BEFORE'), ('first_pause', 'AFTER'):
        yield """CREATE TRIGGER %s %s INSERT OR UPDATE ON %s FOR EACH ROW
            EXECUTE FUNCTION pause()""" % (name, when, table)


# What moves

# Of each column of a table its number, name, and whether it is dropped.
ATTRIBUTES = """SELECT attnum, attname FROM pg_attribute
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY 1"""


class Names:
    """What the table that is live, and its columns, are called by now."""

    def __init__(self, table='docs', columns=()):
        self.table = table
        self.words = {'docs': quote(table)}
        self.columns = dict(columns)
        self.words.update((name, quote(now))
                          for name, now in self.columns.items())
        self.pattern = re.compile(r'(?<![\w"])(?:%s)(?![\w"])'
                                  % '|'.join(self.words))

    def put(self, query):
        """The query, with these names."""
        return self.pattern.sub(lambda word: self.words[word.group()], query)


class Mover(threading.Thread):
    """Renames, moves and swaps what others write to, until they are done."""

    def __init__(self, arena):
        super().__init__(daemon=True)
        self.arena, self.over = arena, False
        self.rng = random.Random('%d.%d.moves' % (
            arena.test.seed, arena.test.number))
        self.connection = arena.connect()
        self.schemas = ['public'] + [names[0] for names in SCHEMAS]
        self.tables = [self.value('SELECT %s::regclass::oid', name)
                       for name in TABLES]
        self.clusters = [self.value(
            """SELECT polrelid FROM pg_policy AS p JOIN pg_depend AS d
            ON d.classid = 'pg_policy'::regclass AND d.objid = p.oid
            WHERE d.refobjid = %s AND polrelid <> d.refobjid LIMIT 1""", table)
            for table in self.tables]
        self.all = self.tables + self.clusters
        self.parts = [row[0] for table in self.tables
                      for row in self.connection.execute(
                          """SELECT inhrelid FROM pg_inherits
                          WHERE inhparent = %s""", [table])]
        self.columns = {table: self.attributes(table) for table in self.all}
        self.first = {table: self.place(table) for table in self.all}
        arena.homes = {table: home for home, table in enumerate(self.tables)}
        arena.columns = self.columns
        self.tell()

    def value(self, query, *parameters):
        """The value of a query."""
        return self.connection.execute(query, parameters).fetchone()[0]

    def attributes(self, table):
        """The columns of a table, by number."""
        return dict(self.connection.execute(ATTRIBUTES, [table]).fetchall())

    def place(self, table):
        """The schema and the name of a table."""
        return self.connection.execute(
            """SELECT nspname, relname FROM pg_class AS c
            JOIN pg_namespace AS n ON n.oid = relnamespace
            WHERE c.oid = %s""", [table]).fetchone()

    def called(self, table):
        """A table for SQL."""
        return '.'.join(map(quote, self.place(table)))

    def tell(self):
        """Have the writers know what things are called."""
        names = {self.place(table)[1]: table for table in self.tables}
        self.arena.live = next(name for name in NAMES[0] if name in names)
        table = names[self.arena.live]
        self.arena.names = Names(self.arena.live, {
            self.columns[table][number]: name
            for number, name in self.attributes(table).items()
            if number in self.columns[table]})

    def run(self):
        while not self.over:
            time.sleep(0.01 + self.rng.random() * 0.05)
            try:
                self.act(self.rng.choice(self.ACTS))
            except psycopg.OperationalError:
                self.connection = self.arena.connect()
                self.tell()
                self.arena.steady = True
            except Exception as error:  # pylint: disable=broad-except
                self.arena.fault('mover: %s: %s' % (
                    type(error).__name__, error))
                return

    def act(self, act):
        """Do something at once, or not at all if it takes others too long."""
        statements = list(act(self))
        try:
            with self.connection.transaction():
                self.connection.execute("SET LOCAL lock_timeout = '200ms'")
                for statement in statements:
                    self.connection.execute(statement)
            self.arena.done['moves'] += bool(statements)
            self.arena.done['swaps'] += act is Mover.swap
        except (psycopg.errors.LockNotAvailable,
                psycopg.errors.DeadlockDetected):
            self.arena.done['moves given up'] += 1
        self.tell()
        self.arena.steady = True

    # what is done

    def rename(self):
        """One of the tables"""
        table = self.rng.choice(self.all)
        schema, name = self.place(table)
        names = next(names for names in NAMES if name in names)
        yield 'ALTER TABLE %s.%s RENAME TO %s' % (
            quote(schema), quote(name), quote(self.other(names, name)))

    @staticmethod
    def other(names, name):
        """What follows a name."""
        return names[(names.index(name) + 1) % len(names)]

    def rename_column(self):
        """One of any of the tables"""
        table = self.rng.choice(self.all)
        name = self.rng.choice(sorted(self.attributes(table).values()))
        yield 'ALTER TABLE %s RENAME %s TO %s' % (
            self.called(table), quote(name),
            quote(name[:-2] if name.endswith(' 2') else name + ' 2'))

    def swap_columns(self):
        """Two of one of them exchange their names"""
        table = self.rng.choice(self.all)
        called, names = self.called(table), self.attributes(table)
        if table in self.tables:
            self.wait()
        a, b = (names[number] for number in self.crossed(table) or
                self.rng.sample(sorted(self.columns[table]), 2))
        for old, new in (a, 'between'), (b, a), ('between', b):
            yield 'ALTER TABLE %s RENAME %s TO %s' % (
                called, quote(old), quote(new))

    def crossed(self, table):
        """The two columns that have each other's names, or none."""
        names = self.attributes(table)
        return [number for number, name in self.columns[table].items()
                if names[number] not in (name, name + ' 2')]

    def wait(self):
        """Have nobody take one column for another."""
        self.arena.steady = False
        while self.arena.singles > 0:
            time.sleep(0.001)

    def add_column(self):
        """One that is of no concern; or it goes again"""
        table = self.rng.choice(self.all)
        spare = [name for number, name in self.attributes(table).items()
                 if number not in self.columns[table]]
        yield 'ALTER TABLE %s %s' % (
            self.called(table), 'DROP ' + quote(spare[0]) if spare else
            'ADD spare int DEFAULT 7')

    def set_schema(self):
        """One of the tables, or a partition"""
        table = self.rng.choice(self.all + self.parts)
        schemas = [row[0] for row in self.connection.execute(
            'SELECT nspname FROM pg_namespace WHERE nspname = ANY (%s)',
            [['public'] + [name for names in SCHEMAS for name in names]])]
        yield 'ALTER TABLE %s SET SCHEMA %s' % (
            self.called(table), quote(self.rng.choice(schemas)))

    def rename_schema(self):
        """A schema"""
        names = self.rng.choice(SCHEMAS)
        name = self.value('SELECT nspname FROM pg_namespace'
                          ' WHERE nspname = ANY (%s)', list(names))
        yield 'ALTER SCHEMA %s RENAME TO %s' % (
            quote(name), quote(self.other(names, name)))

    def swap(self):
        """What is to be next goes live"""
        pairs = [self.tables]
        if any(map(self.crossed, self.tables)):
            self.wait()
        if self.rng.random() < 0.5:
            pairs.append(self.clusters)
        for pair in pairs:
            (a, name), (b, other) = map(self.place, pair)
            for schema, old, new in ((a, name, 'between'), (b, other, name),
                                     (a, 'between', other)):
                yield 'ALTER TABLE %s.%s RENAME TO %s' % (
                    quote(schema), quote(old), quote(new))

    ACTS = [rename, rename_column, rename_column, swap_columns, add_column,
            set_schema, set_schema, rename_schema, swap, swap]
    QUIET = ACTS[:-2]           # what leaves the same table live

    def undo(self):
        """In the end all is called as it was."""
        for name, in self.connection.execute(
                'SELECT gid FROM pg_prepared_xacts').fetchall():
            self.connection.execute("COMMIT PREPARED '%s'" % name)
        for turn in range(2):
            for table in self.all:
                self.connection.execute('ALTER TABLE %s RENAME TO %s' % (
                    self.called(table), quote(
                        'table %d' % table if turn == 0 else
                        self.first[table][1])))
        for names in SCHEMAS:
            for old in names[1:]:
                if self.value('SELECT to_regnamespace(%s) IS NOT NULL',
                              quote(old)):
                    self.connection.execute('ALTER SCHEMA %s RENAME TO %s' % (
                        quote(old), quote(names[0])))
        for table in self.all:
            self.connection.execute('ALTER TABLE %s SET SCHEMA %s' % (
                self.called(table), quote(self.first[table][0])))
            now = self.attributes(table)
            for turn in range(2):
                for number, name in self.columns[table].items():
                    self.connection.execute(
                        'ALTER TABLE %s RENAME %s TO %s' % (
                            self.called(table),
                            quote('column %d' % number if turn else
                                  now[number]),
                            quote(name if turn else 'column %d' % number)))
        self.arena.names = None


# The writers

class Fault(Exception):
    """Something that must not be."""


class Undone(Exception):
    """A transaction that its writer, or an error that may be, has undone."""


class Arena:
    """What the writers of a round share."""

    def __init__(self, test, target):
        self.test, self.target = test, target
        self.model = Model(test)
        self.versions = itertools.count(1)
        self.tags = itertools.count(1)
        self.recent = collections.deque(maxlen=10)
        self.written = []           # of Version: by all that wrote any
        self.kept = set()           # clusters in which they left rows, by home
        self.prepared = queue.Queue()
        self.errors = collections.Counter()
        self.faults = []
        self.done = collections.Counter()
        self.pids = {}
        self.crash_at = None
        self.lock = threading.Lock()
        self.names = None           # where they change
        self.live = None
        self.homes, self.columns = {}, {}
        self.steady = True          # are names not about to be exchanged?
        self.singles = 0            # statements that rely on that

    def fault(self, text):
        """Note a fault."""
        with self.lock:
            self.faults.append(text)

    def connect(self):
        """A session, as soon as the server is there."""
        path = ', '.join(['public'] + [
            quote(name) for names in SCHEMAS for name in names])
        for _ in range(600):
            try:
                connection = psycopg.connect(self.target, autocommit=True)
                connection.execute('SET search_path = ' + path)
                return connection
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise Fault('the server does not come back')

    def begin_single(self):
        """A statement begins that would not notice if two columns exchanged
        their names; false if they are about to."""
        with self.lock:
            self.singles += self.steady
            return self.steady

    def end_single(self):
        """It is over."""
        with self.lock:
            self.singles -= 1

    def step(self):
        """A transaction is over: in the middle of them the server may be
        stopped."""
        with self.lock:
            self.done['transactions'] += 1
            if self.done['transactions'] == self.crash_at:
                print('crash', flush=True)

    def may_be(self, error, level, several, alone):
        """Is that an error that a writer of the round may see?"""
        code = error.sqlstate
        # a statement alone has not asked what things are called
        if self.test.moves and alone and code in ('42P01', '42703', '0A000'):
            return True
        # ALTER TABLE ... SET SCHEMA locks the table of the clusters, then its
        # sequence, which who has rolled back to a savepoint still has
        if (self.test.moves and code == '40P01' and
                'AccessExclusiveLock' in (error.diag.message_detail or '')):
            return True
        if code is None or code.startswith('57P'):
            return bool(self.test.more & {'crash', 'kills'})
        if code == '57014':
            return 'kills' in self.test.more
        if code == '40001':
            return level == LEVELS[2] or (level == LEVELS[1] and
                                          self.test.shared)
        # where rows are shared, see test/specs/clusters_conflict.spec
        return (code == '40P01' and self.test.kind == 'connected' and
                (several or self.test.shared))


class Writer(threading.Thread):
    """One of those who write at the same time."""

    def __init__(self, arena, number):
        super().__init__(daemon=True)
        self.arena, self.test, self.number = arena, arena.test, number
        self.rng = random.Random('%d.%d.%d' % (
            arena.test.seed, arena.test.number, number))
        self.draws = Draws(arena.test, self.rng, arena.versions,
                           arena.recent)
        self.ids = itertools.count(1000 + number, WRITERS)
        self.home = 0               # the table
        self.homes = ({}, {})       # the rows that nobody else writes
        self.gone = set()           # ids of unknown fate: left alone
        self.connection = None
        self.tag = None             # of the transaction
        self.wrote = []
        self.touched = set()
        self.deleted = set()        # those that it has deleted last
        self.names = Names()
        self.single = False

    @property
    def mine(self):
        """Those of the table that is written to."""
        return self.homes[self.home]

    def execute(self, query, parameters=None):
        """Execute a query, by the names that things have."""
        return self.connection.execute(self.names.put(query), parameters)

    def enter(self):
        """Hold the table that is live by now, and learn what it, and its
        columns, are called."""
        if not self.test.moves:
            return
        live = self.arena.live
        if not self.test.alone:
            self.connection.execute(
                'LOCK TABLE %s IN ACCESS SHARE MODE' % quote(live))
        table = self.value("SELECT '%s'::regclass::oid"
                           % quote(live).replace("'", "''"))
        self.home = self.arena.homes[table]
        self.names = Names(live, {
            self.arena.columns[table][number]: name for number, name in
            self.connection.execute(ATTRIBUTES, [table])
            if number in self.arena.columns[table]})

    def run(self):
        try:
            self.connect()
            for i in range(self.test.transactions):
                self.transaction(i)
                self.arena.step()
        except Exception as error:  # pylint: disable=broad-except
            self.arena.fault('writer %d: %s: %s' % (
                self.number, type(error).__name__, error))
        finally:
            if self.connection is not None:
                self.connection.close()

    def connect(self):
        """Begin a session."""
        self.connection = self.arena.connect()
        self.arena.pids[self.number] = self.connection.info.backend_pid

    def transaction(self, i):
        """One, however it ends."""
        several = self.test.many
        level = self.rng.choice(self.test.levels)
        before = [dict(rows) for rows in self.homes]
        self.wrote, self.touched, self.single = [], set(), False
        self.deleted = set()
        try:
            end = self.statements(level, several, i)
        except Undone:
            self.homes, end = before, 'undone'
        except psycopg.Error as error:
            if not self.arena.may_be(error, level, several,
                                     self.single):
                raise
            self.arena.errors[error.sqlstate] += 1
            self.homes, end = before, 'failed'
            if self.connection.closed or self.connection.broken:
                end = 'lost'
            else:
                try:
                    self.connection.execute('ROLLBACK')
                except psycopg.OperationalError:
                    end = 'lost'
        if end in ('lost', 'prepared'):
            self.homes = [{key: row for key, row in rows.items()
                           if key not in self.touched} for rows in before]
            self.gone |= self.touched
        if end in ('lost', 'prepared', 'committed'):
            with self.arena.lock:
                self.arena.written += self.wrote
                if end == 'committed':
                    self.arena.kept.update(self.ends())
        if end == 'lost':
            self.connect()
        self.arena.done[end] += 1

    def ends(self):
        """The clusters, by table, in which the transaction has left rows."""
        last = {(row.home, row.id): row for row in self.wrote}
        return {(row.home, row.cluster) for row in last.values()
                if (row.home, row.id) not in self.deleted}

    def statements(self, level, several, i):
        """Begin, write, end; returns how."""
        self.tag = next(self.arena.tags)
        if self.rng.random() < 0.2 and self.arena.begin_single():
            try:
                return self.alone(level)
            finally:
                self.arena.end_single()
        while True:
            self.connection.execute('BEGIN ISOLATION LEVEL ' + level)
            try:
                self.enter()
                break
            except psycopg.errors.UndefinedTable:
                self.connection.execute('ROLLBACK')
                time.sleep(0.001)
        self.connection.execute('INSERT INTO fates VALUES (%s)', [self.tag])
        if not several:
            self.statement(1)
        else:
            for _ in range(self.rng.randint(1, 4)):
                self.savepoint()
        dice = self.rng.random()
        time.sleep(max(0, self.rng.random() - 0.7) / 50)
        if dice < 0.08:
            self.connection.execute('ROLLBACK')
            raise Undone
        if dice < 0.2 and 'prepared' in self.test.more:
            name = 'w%d_%d' % (self.number, i)
            when = time.time() + self.rng.random() * 0.2
            try:
                self.connection.execute("PREPARE TRANSACTION '%s'" % name)
            finally:
                self.arena.prepared.put((when, name,
                                         self.rng.random() < 0.6))
            return 'prepared'
        self.connection.execute('COMMIT')
        return 'committed'

    def alone(self, level):
        """A statement without BEGIN; the server must be outside of a
        transaction afterwards, whatever has come of it."""
        self.connection.execute(
            "SET default_transaction_isolation = '%s'" % level)
        self.single = True
        if self.test.moves:
            self.names = self.arena.names
        try:
            self.insert(self.rng.randint(1, 3) if self.test.many else 1,
                        first='WITH first AS (INSERT INTO fates VALUES (%d))'
                        % self.tag)
        finally:
            status = self.connection.info.transaction_status
            if status not in (pq.TransactionStatus.IDLE,
                              pq.TransactionStatus.UNKNOWN):
                raise Fault('after a statement the transaction goes on')
        return 'committed'

    def value(self, query):
        """The value of a query."""
        return self.connection.execute(query).fetchone()[0]

    def savepoint(self):
        """A statement of several rows, which may be taken back."""
        dice = self.rng.random()
        if dice < 0.6:
            self.statement(self.rng.choice((1, 1, 2, 3, 5)))
            return
        before, wrote = [dict(rows) for rows in self.homes], len(self.wrote)
        deleted = set(self.deleted)
        self.connection.execute('SAVEPOINT here')
        self.statement(self.rng.choice((1, 1, 2, 3)))
        if dice < 0.7:
            try:
                self.insert(3, fails=True)
                raise Fault('a division by zero succeeds')
            except psycopg.errors.DivisionByZero:
                pass
        if dice < 0.85:
            self.connection.execute('ROLLBACK TO here')
            self.homes, self.deleted = before, deleted
            del self.wrote[wrote:]
        else:
            self.connection.execute('RELEASE here')

    def statement(self, n):
        """A statement at random, of so many rows."""
        kinds = [self.insert] * 4 + [self.copy, self.conflict]
        if self.test.changes:
            kinds += [self.update] * 3 + [self.merge, self.delete, self.other,
                                          self.reset, self.refused]
            if self.test.shared and not self.test.many:
                kinds += [self.share] * 3
        self.rng.choice(kinds)(n)

    # what the statements have in common

    def keys(self, n, there):
        """Ids of rows: of new ones, or of such as are there, in any order."""
        if there:
            return self.rng.sample(sorted(self.mine), min(n, len(self.mine)))
        return [next(self.ids) for _ in range(n)]

    def values(self, rows):
        """A list of rows for SQL."""
        types = ('bigint', 'bigint', 'int', 'text', 'text', 'bigint', 'text')
        line = '(%s)' % ', '.join('%%s::%s' % name for name in types)
        return (', '.join([line] * len(rows)),
                [value for row in rows for value in row[:len(types)]])

    def columns(self):
        """The columns that are written."""
        return ', '.join(COLUMNS).replace('fp', self.test.written)

    def returning(self):
        """What is asked of the rows written."""
        return (', '.join(COLUMNS) + ', cluster, cluster_since, home, '
                'cluster_since = now()')

    def write(self, query, parameters, new=(), updated=False):
        """Execute what returns the rows that it wrote; rows of the ids new
        join whatever they were, others may be brought up to date."""
        self.touched.update(new)
        self.note(self.execute(
            query.replace('RETURNING', 'RETURNING ' + self.returning()),
            parameters).fetchall(), new, updated)

    def look(self, rows, new=()):
        """Note what became of rows that were written without RETURNING."""
        self.touched.update(row.id for row in rows)
        self.note(self.execute(
            'SELECT %s FROM docs WHERE ver = ANY (%%s) ORDER BY ver'
            % self.returning(),
            [[row.ver for row in rows]]).fetchall(), new)

    def note(self, found, new=(), updated=False):
        """Note versions that were written, and look at their clusters."""
        model = self.arena.model
        for values in found:
            row = Version(*values[:-1], self.tag)
            old = self.homes[row.home].get(row.id)
            self.touched.add(row.id)
            self.deleted.discard((row.home, row.id))
            if (row.cluster is None) != (model.group(row) is None):
                raise Fault('a row has got no cluster, or ought to have none: '
                            '%s' % (row,))
            if (old is not None and row.id not in new and
                    model.same(old, row)):
                if old.since != row.since or (
                        old.cluster != row.cluster and
                        not (updated and row.cluster < old.cluster)):
                    raise Fault('an update that changes nothing changes the '
                                'cluster: %s %s' % (old, row))
            elif row.cluster is not None and not values[-1]:
                raise Fault('a row joins at another time: %s' % (row,))
            self.wrote.append(row)
            if row.id not in SHARED:
                self.homes[row.home][row.id] = row

    # statements

    def insert(self, n, fails=False, first=''):
        """INSERT, of rows or of a query; the cluster given is of no concern"""
        rows = [self.draws.row(key) for key in self.keys(n, False)]
        lines, parameters = self.values(rows)
        given = ', cluster' if self.rng.random() < 0.1 else ''
        if fails:
            rows_of = 'SELECT v.* FROM (VALUES %s) AS v (ver) WHERE 1 / %s' \
                      ' >= 0' % (lines, '(CASE WHEN ver = %d THEN 0 ELSE 1'
                                 ' END)' % rows[-1].ver)
            given = ''
        elif given:
            rows_of = 'SELECT v.*, -5 FROM (VALUES %s) AS v' % lines
        else:
            rows_of = 'VALUES ' + lines
        self.write('%s INSERT INTO docs (%s%s) %s RETURNING' % (
            first, self.columns(), given, rows_of), parameters,
            [row.id for row in rows])

    def copy(self, n):
        """COPY"""
        rows = [self.draws.row(key) for key in self.keys(n, False)]
        self.touched.update(row.id for row in rows)
        with self.connection.cursor().copy(
                self.names.put('COPY docs (%s) FROM STDIN'
                               % self.columns())) as copy:
            for row in rows:
                copy.write_row(row[:len(COLUMNS)])
        self.look(rows)

    def conflict(self, n):
        """INSERT ... ON CONFLICT, of rows that are there and others"""
        keys = self.keys(n // 2 if n > 1 else self.rng.randint(0, 1), True)
        old = [self.mine[key] for key in keys]
        new = self.keys(n - len(keys), False)
        rows = [self.draws.row(key) for key in keys + new]
        # the key of partitions is that which the row has
        rows = [row._replace(part=was.part)
                for row, was in zip(rows, old)] + rows[len(keys):]
        self.rng.shuffle(rows)
        lines, parameters = self.values(rows)
        do = 'NOTHING'
        if self.test.changes and self.rng.random() < 0.6:
            do = """UPDATE SET ver = excluded.ver, site = excluded.site,
                %s = excluded.%s, body = excluded.body""" % (
                    self.test.written, self.test.written)
        self.write("""INSERT INTO docs (%s) VALUES %s
            ON CONFLICT (id, part) DO %s RETURNING""" % (
                self.columns(), lines, do), parameters, new)

    def share(self, n):
        """Whatever, of a row that other writers write too"""
        rows = [self.draws.row(self.rng.choice(SHARED))]
        lines, parameters = self.values(rows)
        kind = self.rng.randrange(4)
        if kind == 0:
            self.execute('DELETE FROM docs WHERE id = %s', [rows[0].id])
            self.deleted.add((self.home, rows[0].id))
        elif kind == 1:
            self.write('UPDATE docs SET ver = %%s, %s = %%s WHERE id = %%s '
                       'RETURNING' % self.test.written,
                       [rows[0].ver, rows[0].fp, rows[0].id])
        else:
            do = 'NOTHING' if kind == 2 else """UPDATE SET
                ver = excluded.ver, %s = excluded.%s""" % (
                    self.test.written, self.test.written)
            self.write("""INSERT INTO docs (%s) VALUES %s
                ON CONFLICT (id, part) DO %s RETURNING""" % (
                    self.columns(), lines, do), parameters)

    def update(self, n):
        """UPDATE of the fingerprint, the group, the partition"""
        what = self.rng.choice((
            ('written',), ('written',), ('site',), ('lang',),
            ('written', 'site'), ('part',), ('part', 'written'), ('body',)))
        if 'part' in what and not self.test.parts:
            what = ('written',)
        rows = [self.draws.row(key) for key in self.keys(n, True)]
        if not rows:
            return
        if 'part' in what:
            rows = [row._replace(part=self.rng.randrange(3)) for row in rows]
        names = [name.replace('written', self.test.written) for name in what]
        lines, parameters = self.values(rows)
        self.touched.update(row.id for row in rows)
        given = ''
        if self.rng.random() < 0.2:
            # what is written is of no concern, whatever becomes of the row,
            # if there has ever been such a cluster
            given = ', cluster = %s, cluster_since = NULL' % (
                self.rng.choice(['NULL'] + [
                    '1' for row in self.mine.values() if row.cluster]))
        self.note(self.execute("""UPDATE docs AS d
            SET ver = v.ver, %s%s FROM (VALUES %s) AS v (%s)
            WHERE d.id = v.id RETURNING %s""" % (
                ', '.join('%s = v.%s' % (name, name) for name in names),
                given, lines, self.columns(),
                ', '.join('d.' + name if name in COLUMNS else name
                          for name in self.returning().split(', '))),
            parameters).fetchall())

    def merge(self, n):
        """MERGE, of rows that are there and others"""
        keys = self.keys(n // 2 if n > 1 else self.rng.randint(0, 1), True)
        rows = [self.draws.row(key)
                for key in keys + self.keys(n - len(keys), False)]
        lines, parameters = self.values(rows)
        self.touched.update(row.id for row in rows)
        self.execute("""MERGE INTO docs AS d
            USING (VALUES %s) AS v (%s) ON d.id = v.id
            WHEN MATCHED THEN UPDATE SET ver = v.ver, site = v.site,
                %s = v.%s, body = v.body
            WHEN NOT MATCHED THEN INSERT (%s) VALUES (%s)""" % (
                lines, self.columns(), self.test.written, self.test.written,
                self.columns(), ', '.join(
                    'v.' + name for name in self.columns().split(', '))),
            parameters)
        self.look(rows)

    def delete(self, n):
        """DELETE"""
        for key in self.keys(n, True):
            self.touched.add(key)
            self.execute('DELETE FROM docs WHERE id = %s', [key])
            self.deleted.add((self.home, key))
            del self.mine[key]

    def other(self, n):
        """UPDATE of what is of no concern, or of nothing at all"""
        keys = self.keys(n, True)
        what = self.rng.choice(('note = note + 1', '%s = %s, site = site' % (
            self.test.written, self.test.written)))
        self.write('UPDATE docs SET %s WHERE id = ANY (%%s) RETURNING' % what,
                   [keys])

    def reset(self, n):
        """UPDATE of the cluster, which is not taken, or brings it up to
        date"""
        for key in self.keys(n, True):
            what, parameters = '%s', [self.rng.choice(
                [None] + [row.cluster for row in self.mine.values()])]
            if self.rng.random() < 0.5:
                what = "simhash_current_cluster('docs', cluster, %s)"
                parameters = [self.names.columns.get('cluster', 'cluster')]
            self.write("""UPDATE docs SET ver = %%s, cluster = %s,
                cluster_since = now() WHERE id = %%s RETURNING""" % what,
                       [next(self.draws.versions)] + parameters + [key],
                       updated=self.test.kind == 'connected')

    def refused(self, n):
        """UPDATE of the cluster to what never was one, which fails"""
        for key in self.keys(n, True):
            if self.mine[key].cluster is None:
                continue
            self.connection.execute('SAVEPOINT refused')
            try:
                self.execute('UPDATE docs SET cluster = %s WHERE id = %s', [
                    self.rng.choice((-5, 0, 1 << 40)), key])
                raise Fault('a number is taken for a cluster')
            except psycopg.errors.CheckViolation:
                self.connection.execute('ROLLBACK TO refused')
            self.connection.execute('RELEASE refused')


class Resolver(threading.Thread):
    """Ends prepared transactions, when it is time."""

    def __init__(self, arena):
        super().__init__(daemon=True)
        self.arena, self.over = arena, False

    def run(self):
        connection = self.arena.connect()
        while not self.over or not self.arena.prepared.empty():
            try:
                when, name, commit = self.arena.prepared.get(timeout=0.05)
            except queue.Empty:
                continue
            time.sleep(max(0, when - time.time()))
            query = "%s PREPARED '%s'" % (
                'COMMIT' if commit else 'ROLLBACK', name)
            tries = 5           # it may be about to be prepared, or never be
            while tries > 0:
                try:
                    connection.execute(query)
                    break
                except psycopg.errors.UndefinedObject:
                    tries -= 1
                    time.sleep(0.05)
                except psycopg.OperationalError:
                    connection = self.arena.connect()


class Watch:
    """Sees to it that writers get on."""

    def __init__(self, arena):
        self.arena, self.done, self.since = arena, -1, 0

    def look(self):
        """Give up if nothing has been done for a minute."""
        done = self.arena.done['transactions']
        if done != self.done:
            self.done, self.since = done, time.time()
        elif time.time() - self.since > 60:
            with self.arena.connect() as connection:
                for row in connection.execute(
                        """SELECT pid, state, wait_event, pg_blocking_pids(pid),
                        left(query, 60) FROM pg_stat_activity
                        WHERE datname IS NOT NULL""").fetchall():
                    print('FAULT: stuck: %s' % (row,), flush=True)
            os._exit(1)


def kill_some(arena, writers):
    """Cancel what writers do, and end their sessions, until they are done."""
    rng = random.Random(arena.test.seed)
    connection = arena.connect()
    watch = Watch(arena)
    while any(writer.is_alive() for writer in writers):
        time.sleep(0.02 + rng.random() * 0.05)
        watch.look()
        if 'kills' not in arena.test.more:
            continue
        call = rng.choice(('pg_terminate_backend', 'pg_cancel_backend'))
        try:
            connection.execute('SELECT %s(%%s)' % call,
                               [arena.pids[rng.randrange(WRITERS)]])
        except psycopg.OperationalError:
            connection = arena.connect()
        except KeyError:
            pass


def run_writers(arena):
    """All of a round."""
    writers = [Writer(arena, number) for number in range(WRITERS)]
    if 'crash' in arena.test.more:
        arena.crash_at = WRITERS * arena.test.transactions // 2
    others = [Resolver(arena)]
    if arena.test.moves:
        others.append(Mover(arena))
    for thread in writers + others:
        thread.start()
    kill_some(arena, writers)
    for writer in writers:
        writer.join()
    for other in others:
        other.over = True
        other.join()
    if arena.test.moves:
        others[-1].undo()
    return writers


# The judge

class Union:
    """Sets that are merged."""

    def __init__(self):
        self.above = {}

    def find(self, one):
        """What stands for the set of one."""
        self.above.setdefault(one, one)
        while self.above[one] != one:
            self.above[one] = self.above[self.above[one]]
            one = self.above[one]
        return one

    def merge(self, one, other):
        """Make two sets one; the lesser stands for it."""
        one, other = sorted((self.find(one), self.find(other)))
        self.above[other] = one


class Judge:
    """Looks at what a round has left, when nobody writes any more."""

    def __init__(self, arena, home=0):
        self.arena, self.test, self.model = arena, arena.test, arena.model
        self.home, self.table = home, TABLES[home]
        self.connection = arena.connect()
        self.rows = {}
        self.versions = []

    def ask(self, query, *parameters):
        """The rows of a query."""
        return self.connection.execute(
            query.replace('docs', self.table), parameters or None).fetchall()

    def expect(self, good, text, *values):
        """Note a fault unless it is good."""
        if not good:
            self.arena.fault(self.table + ': ' + text % values)

    def fetch(self, writers):
        """The rows, and all versions that were ever committed."""
        for name, in self.ask('SELECT gid FROM pg_prepared_xacts'):
            self.connection.execute("COMMIT PREPARED '%s'" % name)
        committed = {tag for tag, in self.ask('SELECT tag FROM fates')}
        self.versions = [row for row in self.arena.written
                         if row.tag in committed and row.home == self.home]
        known = {row.ver: row for row in self.versions}
        mine = {key for writer in writers for key in writer.homes[self.home]}
        gone = {key for writer in writers for key in writer.gone}
        for values in self.ask(
                'SELECT %s, cluster, cluster_since, home FROM docs'
                % ', '.join(COLUMNS)):
            row = Version(*values, None)
            self.rows[row.id] = row
            if row.ver not in known and row.id in gone:
                # of a session that was lost before it was told
                known[row.ver] = row
                self.versions.append(row)
            self.expect(row.ver in known and
                        row == known[row.ver]._replace(tag=None),
                        'a row is not what its last version was: %s, %s',
                        row, known.get(row.ver))
        self.expect(set(self.rows) - gone - set(SHARED) == mine - gone,
                    'rows are lost, or came back')

    def representatives(self):
        """What represents each cluster: the one and its copies, which differ in
        nothing but their texts, each that of a row which has joined; the tag
        tells copies."""
        names = ['coalesce(copy_of, cluster)', 'fp'] + list(self.test.groups)
        if self.test.verified:
            names += ['body', 'copy_of IS NOT NULL AS tag']
        told = collections.defaultdict(list)
        for values in self.ask('SELECT DISTINCT %s FROM docs_clusters'
                               % ', '.join(names)):
            values = dict(zip(['cluster'] + [name.split()[-1]
                                             for name in names[1:]], values))
            row = Version(*[values.get(name) for name in Version._fields])
            told[row.cluster].append(row)
            self.expect(len({one._replace(body=None, tag=None)
                             for one in told[row.cluster]}) == 1,
                        'a cluster has two representatives: %s',
                        told[row.cluster])
        for one, copy in self.ask("""SELECT cluster, copy_of
                FROM docs_clusters WHERE (cluster < 0) IS DISTINCT FROM
                (copy_of IS NOT NULL) OR cluster = 0 OR copy_of <= 0"""):
            self.expect(False, 'a copy is none: %s, %s', one, copy)
        return told

    def star(self):
        """What holds of clusters of kind star."""
        told = self.representatives()
        texts = collections.defaultdict(set)
        used = {row.cluster for row in self.rows.values()}
        for row in self.versions:
            texts[row.cluster].add(row.body)
        for row in self.versions:
            if self.model.group(row) is None:
                continue
            if row.cluster not in told and row.cluster not in used and \
                    (self.home, row.cluster) not in self.arena.kept:
                continue        # who had a row in it has left it again
            self.expect(any(self.represents(first, row, texts[row.cluster])
                            for first in told.get(row.cluster, ())),
                        'a row is not near its representative: %s, %s',
                        row, told.get(row.cluster))
        # Who starts a cluster is not similar to what represents others; whoever
        # joins these may be, and leave his text in a copy.
        for a, b in itertools.combinations(
                [row for rows in told.values() for row in rows
                 if not row.tag], 2):
            self.expect(a.cluster == b.cluster or
                        self.model.group(a) != self.model.group(b) or
                        not self.model.near(a, b),
                        'representatives are near each other: %s, %s', a, b)
        return len(told)

    def represents(self, first, row, texts):
        """May a row be in the cluster of a representative?  If its text has
        gone, all that is known is that the row has started the cluster, or was
        compared with another one of it."""
        if self.model.group(first) != self.model.group(row):
            return False
        if not self.test.verified or first.body is not None or row.body is None:
            return (self.model.near(first, row) or
                    self.model.vertex(first) == self.model.vertex(row))
        return distance(first.fp, row.fp) <= self.test.k and (
            texts == {row.body} or
            any(similar(row.body, text) for text in texts - {row.body}))

    def forest(self):
        """The links are sound; returns what each id leads to."""
        union = Union()
        for one, into, dated, copy in self.ask(
                """SELECT cluster, merged_into, merged_at IS NOT NULL, copy_of
                FROM docs_clusters"""):
            self.expect((one < 0) == (copy is not None) and dated and
                        0 < into < (one if copy is None else copy),
                        'a merge is recorded wrongly: %s', (one, into, copy))
            union.merge(one if copy is None else copy, into)
        return {one: union.find(one) for one in list(union.above)}

    def connected(self):
        """What holds of clusters of kind connected."""
        forest = self.forest()
        current = {row.cluster: forest.get(row.cluster, row.cluster)
                   for row in self.versions if row.cluster is not None}
        if self.ask("SELECT to_regproc('simhash_current_cluster') IS NOT NULL"
                    )[0][0]:
            for one, said in self.ask(
                    """SELECT c, simhash_current_cluster('docs', c)
                    FROM unnest(%s::bigint[]) AS c""", sorted(current)):
                self.expect(said == current[one],
                            'simhash_current_cluster(%s) is %s, not %s',
                            one, said, current[one])

        # the graph of all versions, and in it that of the rows
        vertices = collections.defaultdict(dict)
        for row in self.versions:
            group = self.model.group(row)
            if group is not None:
                vertices[group][self.model.vertex(row)] = row
        all_versions = Union()
        rows = collections.defaultdict(set)
        for row in self.rows.values():
            if self.model.group(row) is not None:
                rows[self.model.vertex(row)].add(current[row.cluster])
        for vertex, ids in rows.items():
            self.expect(len(ids) == 1 or
                        self.test.verified and vertex[2] is None,
                        'equal rows are in clusters %s: %s', ids, vertex)
        for group in vertices.values():
            for (a, one), (b, other) in itertools.combinations(
                    group.items(), 2):
                if not self.model.near(one, other):
                    continue
                all_versions.merge(a, b)
                if a in rows and b in rows:
                    self.expect(rows[a] == rows[b],
                                'near rows are in clusters %s, %s: %s, %s',
                                rows[a], rows[b], a, b)
        clusters = collections.defaultdict(set)
        for row in self.versions:
            vertex = self.model.vertex(row)
            if vertex is not None:
                clusters[current[row.cluster]].add(
                    all_versions.find(vertex))
        for cluster, parts in clusters.items():
            self.expect(len(parts) == 1,
                        'cluster %s does not hang together: %s',
                        cluster, parts)
        if not self.test.changes:
            self.from_scratch(current)
        return len(set(current.values()))

    def from_scratch(self, current):
        """As the clusters are, so simhash_clusters finds them."""
        columns = ', '.join(('id', 'fp') + self.test.groups + (
            ('body',) if self.test.verified else ()))
        found = self.ask("""SELECT id, cluster FROM simhash_clusters(
            'SELECT %s FROM docs WHERE fp IS NOT NULL %s', %d, 'connected',
            min_size => 1 %s)""" % (
                columns, ''.join('AND %s IS NOT NULL ' % name
                                 for name in self.test.groups),
                self.test.k, """, document => 'body', profile => 'word-1',
                similarity => 'jaccard', at_least => %s""" % SIMILAR
                if self.test.verified else ''))
        both = {(cluster, current[self.rows[key].cluster])
                for key, cluster in found}
        self.expect(len(found) == sum(row.cluster is not None
                                      for row in self.rows.values()),
                    'simhash_clusters finds other rows')
        self.expect(len(both) == len({a for a, _ in both}) ==
                    len({b for _, b in both}),
                    'simhash_clusters finds other clusters')

    def leftovers(self):
        """The indexes are sound, and no lock is left."""
        self.ask("""SELECT hamming_index_check(c.oid, true)
            FROM pg_class AS c JOIN pg_am AS a ON a.oid = relam
            WHERE amname = 'hamming' AND relkind = 'i'""")
        locks = self.ask(
            "SELECT * FROM pg_locks WHERE locktype = 'advisory'")
        self.expect(not locks, 'locks are left: %s', locks)


# One writer alone, whose clusters are known beforehand

class Alone(Writer):
    """A writer that knows what each row is to get."""

    def __init__(self, arena):
        super().__init__(arena, 0)
        self.representatives = []
        self.union = Union()
        self.last = 0
        self.rows = {}
        self.left = []              # versions that a statement has replaced
        self.mover = Mover(arena) if arena.test.moves else None

    def clusters(self):
        """The table of the clusters."""
        return 'docs_clusters' if self.mover is None else \
            self.mover.called(self.mover.clusters[0])

    def note(self, found, new=(), updated=False):
        """The rows of a statement, in the order in which they were written."""
        super().note(found, new, updated)
        self.left = left = []
        for values in found:
            row = Version(*values[:-1], None)
            old = self.rows.pop(row.id, None)
            if old is not None and row.id in new:
                old = None
            if old is None or not self.arena.model.same(old, row):
                if self.arena.model.group(row) is not None:
                    getattr(self, self.test.kind)(row, old)
            if old is not None and (old.cluster, old.body, old.part) != (
                    row.cluster, row.body, row.part):
                left.append(old)
            self.rows[row.id] = row
        for old in left:
            self.leave(old)

    def leave(self, old):
        """A row is not there any more, or not as it was: its text goes from
        what represents the cluster that it was in."""
        for i, one in enumerate(self.representatives):
            if one.cluster == old.cluster and one.body == old.body:
                self.representatives[i] = one._replace(body=None)

    def merge(self, n):
        """One row: of more the order is unknown"""
        super().merge(1)

    def conflict(self, n):
        """One row: of more the order is unknown"""
        super().conflict(1)

    def settle(self, before):
        """The transaction is over: what it has started and no row is in has been
        taken back, where an index tells that."""
        if self.test.kind != 'star':
            return
        used = {row.cluster for row in self.rows.values()}
        if self.test.index:
            self.representatives = [
                one for one in self.representatives
                if one.cluster in before or one.cluster in used]
        known = {row.cluster for row in self.representatives}
        names = ('cluster', 'made', 'fp') + self.test.groups + (
            ('body',) if self.test.verified else ())
        found = {}
        for values in self.connection.execute(
                'SELECT * FROM ' + self.clusters(), prepare=False):
            values = dict(zip(names, values))
            found[values['cluster']] = Version(
                *[values.get(name) for name in Version._fields])
        left = found.keys() - known
        if known - found.keys() or (left and self.test.index):
            raise Fault('clusters are gone, or left: %s, %s' % (
                known - found.keys(), left))
        for cluster in left:
            self.representatives.append(found[cluster])
            self.last = max(self.last, cluster)

    def first(self, row):
        """A cluster that is new has the greatest id."""
        if row.cluster <= self.last:
            raise Fault('an id is not new: %s' % (row,))
        self.last = row.cluster

    def similarity(self, one, row, old):
        """Is a row similar to a representative?  Once its text has gone, it is
        any of the rows in its cluster that is compared: None if they differ.
        None is found without an index."""
        if not self.test.verified or one.body is not None:
            return self.arena.model.near(one, row)
        if not self.test.index:
            return False
        here, left = ({similar(other.body, row.body) for other in rows
                       if other is not None and other.body is not None and
                       other.cluster == one.cluster}
                      for rows in ([old, *self.rows.values()], self.left))
        if here == {True} and left <= {True}:
            return True
        return None if True in here | left else False

    def star(self, row, old):
        """The nearest representative, or a new one."""
        near = [(distance(row.fp, one.fp), one.cluster,
                 self.similarity(one, row, old))
                for one in self.representatives
                if self.arena.model.group(one) == self.arena.model.group(row)
                and distance(row.fp, one.fp) <= self.test.k]
        sure = min([bits for bits, _, said in near if said], default=65)
        if row.cluster not in [cluster for bits, cluster, said in near
                               if said is not False and bits <= sure]:
            if sure <= 64:
                raise Fault('a row is not in the nearest cluster: %s, %s' % (
                    row, sorted(near)))
            self.first(row)
            self.representatives.append(row)

    def connected(self, row, old):
        """The least of those nearby, which become one; or a new one.  What the
        row was before counts as if it were there.  Within a statement, rows
        may get one that is merged at its end."""
        model = self.arena.model
        near = {self.union.find(one.cluster)
                for one in list(self.rows.values()) + [old]
                if one is not None and model.group(one) == model.group(row) and
                model.near(one, row)}
        if not near:
            self.first(row)
        elif (row.cluster != min(near) and
              self.union.find(row.cluster) not in near):
            raise Fault('a row is not in cluster %d: %s' % (min(near), row))
        for one in near | {row.cluster}:
            self.union.merge(one, row.cluster)

    def run(self):
        """Statement after statement."""
        self.connect()
        for i in range(self.test.transactions):
            if i == self.test.transactions // 2:
                self.truncate()
            if self.mover is not None and self.rng.random() < 0.3:
                self.mover.act(self.rng.choice(Mover.QUIET))
            before = set(self.mine)
            stars = {one.cluster for one in self.representatives}
            self.connection.execute('BEGIN')
            self.enter()
            self.statement(self.rng.choice((1, 1, 1, 3)))
            self.connection.execute('COMMIT')
            for key in before - set(self.mine):
                self.leave(self.rows.pop(key))
            self.settle(stars)

    def truncate(self):
        """Start over."""
        self.enter()
        self.execute('TRUNCATE docs')
        left = self.value('SELECT count(*) FROM ' + self.clusters())
        if left:
            raise Fault('%d clusters are left by TRUNCATE' % left)
        self.homes, self.rows, self.representatives = ({}, {}), {}, []
        self.union = Union()

    def judge(self):
        """In the end each id leads to the one that it ought to."""
        if self.mover is not None:
            self.mover.undo()
        current = dict(Judge(self.arena).forest()) \
            if self.test.kind == 'connected' else {}
        for row in self.rows.values():
            if row.cluster is not None and current.get(
                    row.cluster, row.cluster) != self.union.find(row.cluster):
                raise Fault('cluster %d leads to %d, not to %d' % (
                    row.cluster, current.get(row.cluster, row.cluster),
                    self.union.find(row.cluster)))


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) != 3:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    target, seed, number = arguments[0], int(arguments[1]), int(arguments[2])
    test = Round(seed, number)
    print('round %d: %s' % (number, test), flush=True)
    arena = Arena(test, target)
    with arena.connect() as connection:
        for statement in make_tables(test):
            connection.execute(statement)
    try:
        if test.alone:
            writer = Alone(arena)
            writer.run()
            writer.judge()
            clusters = len({row.cluster for row in writer.rows.values()})
            rows = len(writer.rows)
        else:
            writers = run_writers(arena)
            clusters = rows = 0
            for home in range(len(test.tables)):
                judge = Judge(arena, home)
                judge.fetch(writers)
                clusters += getattr(judge, test.kind)()
                judge.leftovers()
                rows += len(judge.rows)
        print('%d rows, %d clusters; %s; errors %s' % (
            rows, clusters, dict(arena.done), dict(arena.errors)), flush=True)
    except Fault as fault:
        arena.fault(str(fault))
    for fault in arena.faults[:10]:
        print('FAULT: ' + fault, flush=True)
    return 1 if arena.faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
