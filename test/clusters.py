#!/usr/bin/env python3
"""
A round of transactions against clusters that keep themselves, and the judge of
what they left; t/025_clusters.pl has the servers.

usage: clusters.py CONNECTION SEED ROUND

Six writers insert, update and delete rows of a few fingerprints, as the round
has it: of one kind of cluster, by one isolation level or several, a row at a
time or several, with savepoints, prepared transactions, sessions that are
killed, and a server that is stopped at once when we print "crash".  They note
which version of which row they wrote, what cluster it was given, and in which
transaction.  What became of that a row of its own says afterwards, however the
session ended.

What is asked is computed here from nothing but these versions:

star        every version that was ever committed is within the distance of the
            representative of its cluster; representatives of two clusters are
            not.
connected   two rows that are near are in one cluster; and the versions of a
            cluster hang together by others that were committed.  Where no row
            has left, that is one answer alone, and that of simhash_clusters.
            The id of a cluster is the least of those that it was merged from.
both        a row has the cluster that its last version was given; errors are
            those that may be.

Another round has one writer, and is compared with what each row ought to get.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import itertools
import os
import queue
import random
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
    'Version', COLUMNS + ('cluster', 'since', 'tag'))


class Round:
    """What a round is made of."""
    FIRST = (
        # kind, levels, several rows, changes, and what else
        ('star', LEVELS[:1], True, True, ()),
        ('connected', LEVELS[:1], False, False, ()),
        ('star', LEVELS, True, True, ('within', 'parts', 'prepared')),
        ('connected', LEVELS[:1], True, False, ('within', 'crash')),
        ('star', LEVELS[:1], True, True, ('verified', 'crash', 'prepared')),
        ('connected', LEVELS, True, True, ('parts', 'within', 'prepared')),
        ('star', LEVELS[2:], True, True, ('far', 'kills')),
        ('connected', LEVELS[:1], False, True, ('far', 'kills')),
        ('connected', LEVELS, True, False, ('verified', 'prepared')),
        ('star', LEVELS[:1], True, False, ('alone',)),
        ('star', LEVELS[:1], True, True,
         ('alone', 'within', 'parts', 'verified')),
        ('connected', LEVELS[:1], True, True, ('alone', 'within', 'parts')),
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
                ('prepared', 0.5), ('alone', 0.1)) if rng.random() < chance]
        self.seed, self.number = seed, number
        self.more = frozenset(more)
        self.k = 8 if 'far' in more else rng.choice((1, 3))
        self.groups = ()
        if 'within' in more:
            self.groups = rng.choice((('site',), ('lang', 'site')))
        self.parts = 'parts' in more
        self.verified = 'verified' in more
        self.alone = 'alone' in more
        # of a generated fingerprint another column is written
        self.written = 'raw' if self.verified else 'fp'
        self.shared = self.changes and not self.parts
        centers = max(1, 4 - len(self.groups))
        self.centers = [(rng.getrandbits(64),
                         rng.sample(range(64), SPREAD[self.k]))
                        for _ in range(centers)]
        self.transactions = 400 if self.alone else 90 if self.many else 180

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
            self.body() if self.test.verified else None, None, None, None)
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


# The tables, as the set-up makes them

def make_tables(test):
    """The statements that make docs and what keeps its clusters."""
    groups = ''.join('%s, ' % name for name in test.groups)
    fp = 'fp bigint'
    if test.verified:
        fp = 'raw bigint, fp bigint GENERATED ALWAYS AS (raw # 0) STORED'
    yield 'DROP TABLE IF EXISTS docs, docs_clusters, fates'
    yield 'CREATE TABLE fates (tag int)'
    yield """CREATE TABLE docs (id bigint, part int, site text, lang text, %s,
        body text, ver bigint, note int DEFAULT 0, cluster bigint,
        cluster_since timestamptz, PRIMARY KEY (id, part)) %s""" % (
            fp, 'PARTITION BY LIST (part)' if test.parts else '')
    if test.parts:
        for part in range(3):
            yield """CREATE TABLE docs_%d PARTITION OF docs
                FOR VALUES IN (%d)""" % (part, part)
    yield 'CREATE INDEX ON docs (ver)'
    arguments = ["fp", test.kind, str(test.k), 'cluster=cluster',
                 'clusters=public.docs_clusters', 'since=cluster_since']
    if test.groups:
        arguments.append('within=' + ','.join(test.groups))
    if test.verified:
        arguments += ['document=body', 'profile=word-1', 'similarity=jaccard',
                      'at_least=%s' % SIMILAR]
    call = 'EXECUTE FUNCTION simhash_guard(%s)' % ', '.join(
        "'%s'" % argument for argument in arguments)
    if test.kind == 'star':
        yield """CREATE TABLE docs_clusters (
            cluster bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
            made timestamptz NOT NULL DEFAULT now(), fp bigint NOT NULL
            %s%s)""" % (
                ''.join(', %s text NOT NULL' % name for name in test.groups),
                ', body text' if test.verified else '')
        # a representative gets in slowly: first into this index
        yield """CREATE OR REPLACE FUNCTION hold(bigint) RETURNS bigint
            IMMUTABLE LANGUAGE plpgsql AS $$
            BEGIN
                IF random() < 0.1 THEN
                    PERFORM pg_sleep(random() * 0.003);
                END IF;
                RETURN $1;
            END $$"""
        yield 'CREATE INDEX ON docs_clusters (hold(cluster))'
        yield 'CREATE INDEX ON docs_clusters USING hamming (%sfp)' % groups
    else:
        yield """CREATE TABLE docs_clusters (
            cluster bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
            merged_into bigint, merged_at timestamptz, parent bigint,
            rank integer NOT NULL DEFAULT 0, current bigint NOT NULL)"""
        yield 'CREATE INDEX ON docs USING hamming (%sfp)' % (
            groups if test.number % 2 else '')
        yield """CREATE TRIGGER simhash_cluster_merge
            AFTER INSERT OR UPDATE ON docs FOR EACH ROW """ + call
    yield """CREATE TRIGGER simhash_cluster BEFORE INSERT OR UPDATE ON docs
        FOR EACH ROW """ + call
    yield """CREATE TRIGGER simhash_cluster_truncate AFTER TRUNCATE ON docs
        FOR EACH STATEMENT """ + call
    # what widens the gaps: before the row is in the index, before it merges
    yield """CREATE OR REPLACE FUNCTION pause() RETURNS trigger
        LANGUAGE plpgsql AS $$
        BEGIN
            IF random() < 0.1 THEN PERFORM pg_sleep(random() * 0.005); END IF;
            RETURN new;
        END $$"""
    for name, when in ('then_pause', 'BEFORE'), ('first_pause', 'AFTER'):
        yield """CREATE TRIGGER %s %s INSERT OR UPDATE ON docs FOR EACH ROW
            EXECUTE FUNCTION pause()""" % (name, when)


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
        self.prepared = queue.Queue()
        self.errors = collections.Counter()
        self.faults = []
        self.done = collections.Counter()
        self.pids = {}
        self.crash_at = None
        self.lock = threading.Lock()

    def fault(self, text):
        """Note a fault."""
        with self.lock:
            self.faults.append(text)

    def connect(self):
        """A session, as soon as the server is there."""
        for _ in range(600):
            try:
                return psycopg.connect(self.target, autocommit=True)
            except psycopg.OperationalError:
                time.sleep(0.1)
        raise Fault('the server does not come back')

    def step(self):
        """A transaction is over: in the middle of them the server may be
        stopped."""
        with self.lock:
            self.done['transactions'] += 1
            if self.done['transactions'] == self.crash_at:
                print('crash', flush=True)

    def may_be(self, error, level, several):
        """Is that an error that a writer of the round may see?"""
        code = error.sqlstate
        if code is None or code.startswith('57P'):
            return bool(self.test.more & {'crash', 'kills'})
        if code == '57014':
            return 'kills' in self.test.more
        if code == '40001':
            return level != LEVELS[0]
        # where rows are shared, see specs/clusters_conflict.spec
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
        self.mine = {}              # the rows that nobody else writes
        self.gone = set()           # ids of unknown fate: left alone
        self.connection = None
        self.tag = None             # of the transaction
        self.wrote = []
        self.touched = set()

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
        before = dict(self.mine)
        self.wrote, self.touched = [], set()
        try:
            end = self.statements(level, several, i)
        except Undone:
            self.mine, end = before, 'undone'
        except psycopg.Error as error:
            if not self.arena.may_be(error, level, several):
                raise
            self.arena.errors[error.sqlstate] += 1
            self.mine, end = before, 'failed'
            if self.connection.closed or self.connection.broken:
                end = 'lost'
            else:
                try:
                    self.connection.execute('ROLLBACK')
                except psycopg.OperationalError:
                    end = 'lost'
        if end in ('lost', 'prepared'):
            self.mine = {key: row for key, row in before.items()
                         if key not in self.touched}
            self.gone |= self.touched
        if end in ('lost', 'prepared', 'committed'):
            with self.arena.lock:
                self.arena.written += self.wrote
        if end == 'lost':
            self.connect()
        self.arena.done[end] += 1

    def statements(self, level, several, i):
        """Begin, write, end; returns how."""
        self.tag = next(self.arena.tags)
        if self.rng.random() < 0.2:
            return self.alone(level)
        self.connection.execute('BEGIN ISOLATION LEVEL ' + level)
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
        before, wrote = dict(self.mine), len(self.wrote)
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
            self.mine = before
            del self.wrote[wrote:]
        else:
            self.connection.execute('RELEASE here')

    def statement(self, n):
        """A statement at random, of so many rows."""
        kinds = [self.insert] * 4 + [self.copy, self.conflict]
        if self.test.changes:
            kinds += [self.update] * 3 + [self.merge, self.delete, self.other,
                                          self.reset]
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
        return (', '.join(COLUMNS) + ', cluster, cluster_since, '
                'cluster_since = now()')

    def write(self, query, parameters, new=()):
        """Execute what returns the rows that it wrote; rows of the ids new
        join whatever they were."""
        self.touched.update(new)
        self.note(self.connection.execute(
            query.replace('RETURNING', 'RETURNING ' + self.returning()),
            parameters).fetchall(), new)

    def look(self, rows, new=()):
        """Note what became of rows that were written without RETURNING."""
        self.touched.update(row.id for row in rows)
        self.note(self.connection.execute(
            'SELECT %s FROM docs WHERE ver = ANY (%%s) ORDER BY ver'
            % self.returning(),
            [[row.ver for row in rows]]).fetchall(), new)

    def note(self, found, new=()):
        """Note versions that were written, and look at their clusters."""
        model = self.arena.model
        for values in found:
            row = Version(*values[:-1], self.tag)
            old = self.mine.get(row.id)
            self.touched.add(row.id)
            if (row.cluster is None) != (model.group(row) is None):
                raise Fault('a row has got no cluster, or ought to have none: '
                            '%s' % (row,))
            if (old is not None and row.id not in new and
                    model.same(old, row)):
                if (old.cluster, old.since) != (row.cluster, row.since):
                    raise Fault('an update that changes nothing changes the '
                                'cluster: %s %s' % (old, row))
            elif row.cluster is not None and not values[-1]:
                raise Fault('a row joins at another time: %s' % (row,))
            self.wrote.append(row)
            if row.id not in SHARED:
                self.mine[row.id] = row

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
                'COPY docs (%s) FROM STDIN' % self.columns()) as copy:
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
            self.connection.execute('DELETE FROM docs WHERE id = %s',
                                    [rows[0].id])
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
        self.note(self.connection.execute("""UPDATE docs AS d
            SET ver = v.ver, %s FROM (VALUES %s) AS v (%s)
            WHERE d.id = v.id RETURNING %s""" % (
                ', '.join('%s = v.%s' % (name, name) for name in names),
                lines, self.columns(),
                ', '.join('d.' + name if name[0] != 'c' else name
                          for name in self.returning().split(', '))),
            parameters).fetchall())

    def merge(self, n):
        """MERGE, of rows that are there and others"""
        keys = self.keys(n // 2 if n > 1 else self.rng.randint(0, 1), True)
        rows = [self.draws.row(key)
                for key in keys + self.keys(n - len(keys), False)]
        lines, parameters = self.values(rows)
        self.touched.update(row.id for row in rows)
        self.connection.execute("""MERGE INTO docs AS d
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
            self.connection.execute('DELETE FROM docs WHERE id = %s', [key])
            del self.mine[key]

    def other(self, n):
        """UPDATE of what is of no concern, or of nothing at all"""
        keys = self.keys(n, True)
        what = self.rng.choice(('note = note + 1', '%s = %s, site = site' % (
            self.test.written, self.test.written)))
        self.write('UPDATE docs SET %s WHERE id = ANY (%%s) RETURNING' % what,
                   [keys])


    def reset(self, n):
        """UPDATE that has a row join once more"""
        for key in self.keys(n, True):
            self.write("""UPDATE docs SET ver = %s, cluster = NULL
                WHERE id = %s RETURNING""", [next(self.draws.versions), key],
                       [key])


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
    resolver = Resolver(arena)
    if 'crash' in arena.test.more:
        arena.crash_at = WRITERS * arena.test.transactions // 2
    for thread in writers + [resolver]:
        thread.start()
    kill_some(arena, writers)
    for writer in writers:
        writer.join()
    resolver.over = True
    resolver.join()
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

    def __init__(self, arena):
        self.arena, self.test, self.model = arena, arena.test, arena.model
        self.connection = arena.connect()
        self.rows = {}
        self.versions = []

    def ask(self, query, *parameters):
        """The rows of a query."""
        return self.connection.execute(query, parameters or None).fetchall()

    def expect(self, good, text, *values):
        """Note a fault unless it is good."""
        if not good:
            self.arena.fault(text % values)

    def fetch(self, writers):
        """The rows, and all versions that were ever committed."""
        for name, in self.ask('SELECT gid FROM pg_prepared_xacts'):
            self.connection.execute("COMMIT PREPARED '%s'" % name)
        committed = {tag for tag, in self.ask('SELECT tag FROM fates')}
        self.versions = [row for row in self.arena.written
                         if row.tag in committed]
        known = {row.ver: row for row in self.versions}
        mine = {key for writer in writers for key in writer.mine}
        gone = {key for writer in writers for key in writer.gone}
        for values in self.ask('SELECT %s, cluster, cluster_since FROM docs'
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

    def star(self):
        """What holds of clusters of kind star."""
        names = ['cluster', 'fp'] + list(self.test.groups)
        if self.test.verified:
            names.append('body')
        told = {}
        for values in self.ask('SELECT DISTINCT %s FROM docs_clusters'
                               % ', '.join(names)):
            values = dict(zip(names, values))
            row = Version(*[values.get(name) for name in Version._fields])
            self.expect(row.cluster not in told,
                        'a cluster has two representatives: %s, %s',
                        row, told.get(row.cluster))
            told[row.cluster] = row
        for row in self.versions:
            group = self.model.group(row)
            if group is None:
                continue
            first = told.get(row.cluster)
            self.expect(first is not None and
                        group == self.model.group(first) and
                        (self.model.near(first, row) or
                         self.model.vertex(first) == self.model.vertex(row)),
                        'a row is not near its representative: %s, %s',
                        row, first)
        for a, b in itertools.combinations(told.values(), 2):
            self.expect(self.model.group(a) != self.model.group(b) or
                        not self.model.near(a, b),
                        'representatives are near each other: %s, %s', a, b)
        return len(told)

    def forest(self):
        """The forest of merges is sound; returns what each id leads to."""
        trees = {row[0]: row for row in self.ask(
            """SELECT cluster, parent, rank, current, merged_into,
            merged_at IS NOT NULL FROM docs_clusters""")}
        members = collections.defaultdict(list)
        for cluster in trees:
            root, steps = cluster, 0
            while trees[root][1] not in (None, root):
                self.expect(trees[root][2] < trees[trees[root][1]][2],
                            'ranks do not grow: %s', trees[root])
                root, steps = trees[root][1], steps + 1
            members[root].append(cluster)
        current = {}
        for root, ids in members.items():
            self.expect(1 << trees[root][2] <= len(ids),
                        'a tree has too great a rank: %s, %s',
                        trees[root], ids)
            self.expect(trees[root][3] == min(ids),
                        'the current id is not the least: %s, %s',
                        trees[root], ids)
            for one in ids:
                current[one] = min(ids)
                into = trees[one][4]
                self.expect((into is None) == (one == min(ids)) and
                            trees[one][5] == (into is not None) and
                            (into is None or into < one and into in ids),
                            'a merge is recorded wrongly: %s', trees[one])
        return current

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

    def note(self, found, new=()):
        """The rows of a statement, in the order in which they were written."""
        super().note(found, new)
        for values in found:
            row = Version(*values[:-1], None)
            old = self.rows.get(row.id)
            if (old is None or row.id in new or
                    not self.arena.model.same(old, row)):
                self.rows.pop(row.id, None)
                if self.arena.model.group(row) is not None:
                    getattr(self, self.test.kind)(row)
            self.rows[row.id] = row

    def merge(self, n):
        """One row: of more the order is unknown"""
        super().merge(1)

    def conflict(self, n):
        """One row, which may leave a cluster without it being inserted"""
        super().conflict(1)
        if self.test.kind == 'star':
            names = ('cluster', 'fp') + self.test.groups + (
                ('body',) if self.test.verified else ())
            known = {row.cluster for row in self.representatives}
            for values in self.connection.execute(
                    'SELECT %s FROM docs_clusters' % ', '.join(names)):
                if values[0] not in known:
                    values = dict(zip(names, values))
                    self.representatives.append(Version(
                        *[values.get(name) for name in Version._fields]))
                    self.last = max(self.last, values['cluster'])

    def first(self, row):
        """A cluster that is new has the greatest id."""
        if row.cluster <= self.last:
            raise Fault('an id is not new: %s' % (row,))
        self.last = row.cluster

    def star(self, row):
        """The nearest representative, or a new one."""
        model = self.arena.model
        near = [(distance(row.fp, one.fp), one.cluster)
                for one in self.representatives
                if model.group(one) == model.group(row) and
                model.near(one, row)]
        if not near:
            self.first(row)
            self.representatives.append(row)
        elif (min(near)[0], row.cluster) not in near:
            raise Fault('a row is not in the nearest cluster: %s, %s' % (
                row, sorted(near)))

    def connected(self, row):
        """The least of those nearby, which become one; or a new one.  Within
        a statement, rows may get one that is merged at its end."""
        model = self.arena.model
        near = {self.union.find(one.cluster) for one in self.rows.values()
                if model.group(one) == model.group(row) and
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
            before = set(self.mine)
            self.connection.execute('BEGIN')
            self.statement(self.rng.choice((1, 1, 1, 3)))
            self.connection.execute('COMMIT')
            for key in before - set(self.mine):
                self.rows.pop(key, None)

    def truncate(self):
        """Start over."""
        self.connection.execute('TRUNCATE docs')
        left = self.value('SELECT count(*) FROM docs_clusters')
        if left:
            raise Fault('%d clusters are left by TRUNCATE' % left)
        self.mine, self.rows, self.representatives = {}, {}, []
        self.union = Union()

    def judge(self):
        """In the end each id leads to the one that it ought to."""
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
            judge = Judge(arena)
            judge.fetch(writers)
            clusters = getattr(judge, test.kind)()
            judge.leftovers()
            rows = len(judge.rows)
        print('%d rows, %d clusters; %s; errors %s' % (
            rows, clusters, dict(arena.done), dict(arena.errors)), flush=True)
    except Fault as fault:
        arena.fault(str(fault))
    for fault in arena.faults[:10]:
        print('FAULT: ' + fault, flush=True)
    return 1 if arena.faults else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
