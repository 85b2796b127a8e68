#!/usr/bin/env python3
"""
Forge deeds of clusters, and use the tables all the same.

The law.  A table's owner may write whatever PostgreSQL takes into the policy that
binds a table of clusters (src/clusters/terms.c), and alter the tables beneath it.
What he gets is an error that says so, or clusters in his own tables: no internal
error, no crash, nothing that does not come to an end, and no value of another type
taken for a number, which shows as one that no row has.

The method.  Tables with clusters of either kind, partitioned or not, of which all
numbers are small.  Their deed is taken as PostgreSQL prints it; values of it are
exchanged for others, at random, moved, left out and given twice, or all of it is put
into another query; tables are altered; and then the owner, a role that may write and
a superuser do all that can be done with clusters.  Most rounds are rolled back; in
the others all is committed, so that procedures end transactions.

In the suite the rounds are always the same; SIMHASH_SECONDS and SIMHASH_SEED are as
for check_generator.py.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import os
import random
import re
import sys
import time

sys.dont_write_bytecode = True
import psycopg

SECONDS = float(os.environ.get('SIMHASH_SECONDS', 0))
SEED = int(os.environ.get('SIMHASH_SEED',
                          random.randrange(1, 1 << 30) if SECONDS else 1))
FAULTS = int(os.environ.get('SIMHASH_FAULTS', 5))
ROUNDS = 25                     # after an exchange of each column
COMMITTED = 10                  # one round in so many
DATABASE = 'deeds'
OWNER, WRITER = 'deeds_owner', 'deeds_writer'

TABLES = """
CREATE SCHEMA d;
CREATE DOMAIN d.word AS text;
CREATE FUNCTION d.other(VARIADIC a int[]) RETURNS boolean LANGUAGE sql RETURN true;
GRANT USAGE ON SCHEMA d TO PUBLIC;
CREATE TABLE d.star (id int PRIMARY KEY, site text DEFAULT 'a', body text,
    n numeric DEFAULT 7, fp bigint GENERATED ALWAYS AS (minhash(body) & 255) STORED,
    r real DEFAULT 1.5, at timestamptz, w bit(128), words text[], d date,
    twin bigint DEFAULT 3);
CREATE TABLE d.text (LIKE d.star INCLUDING ALL);
ALTER TABLE d.text DROP fp, ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED;
CREATE TABLE d.bits (LIKE d.star INCLUDING ALL) PARTITION BY RANGE (id);
CREATE TABLE d.bits1 PARTITION OF d.bits FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE d.bits2 (twin bigint, words text[], d date, w bit(128), at timestamptz,
    r real, n numeric, gone int, body text, site text,
    fp bigint GENERATED ALWAYS AS (minhash(body) & 255) STORED, id int NOT NULL);
ALTER TABLE d.bits2 DROP gone;
ALTER TABLE d.bits ATTACH PARTITION d.bits2 FOR VALUES FROM (10) TO (MAXVALUE);
CREATE TABLE d.conn (LIKE d.star INCLUDING ALL);
CREATE INDEX ON d.conn USING hamming (fp);
CREATE VIEW d.v AS SELECT * FROM d.star;
INSERT INTO d.star SELECT i, 'a', 'one two ' || i FROM generate_series(1, 12) AS i;
INSERT INTO d.text SELECT i, 'b', 'one two three four ' || i / 3
    FROM generate_series(1, 12) AS i;
INSERT INTO d.bits SELECT i, 'a', 'x ' || i FROM generate_series(1, 12) AS i;
INSERT INTO d.conn SELECT i, 'a', 'one two ' || i FROM generate_series(1, 12) AS i;
"""
# What forged deeds may name besides, of {t}.
MORE = """
ALTER TABLE d.{t}_clusters ADD extra numeric DEFAULT 9, ADD w bit(128),
    ADD gen bigint GENERATED ALWAYS AS (cluster) STORED, ADD n numeric DEFAULT 7;
ALTER TABLE d.{t} ADD gen bigint GENERATED ALWAYS AS (id) STORED,
    ADD extra int DEFAULT 4;
GRANT ALL ON ALL TABLES IN SCHEMA d TO {writer};
"""
COLUMNS_OF_TABLES = """
SELECT attrelid::regclass::text, quote_ident(attname), atttypid FROM pg_attribute
WHERE attrelid::regclass::text LIKE 'd.%' AND attnum > 0 AND NOT attisdropped
ORDER BY attrelid::regclass::text, attnum
"""
# Of each: its arguments, the kind, and the column.
CLUSTERED = {
    'star': "'fp', 8, within => '{site}', since => 'at2'",
    'text': "'fp', 8, similarity => 'jaccard', at_least => 0.5",
    'bits': "'fp', 3, document => 'body', similarity => 'alike'",
    'conn': "'fp', 1, kind => 'connected', within => '{site}'",
}
KEYS = ("'kind'", "'k'", "'fingerprint'", "'document'", "'cluster'", "'since'",
        "'copy_of'", "'made'", "'unused_since'", "'merged_into'", "'merged_at'",
        "'within'", "'generated'", "'similarity'", "'at_least'", "'at_most'",
        "'profile'", "'later'", "'work'", "'nothing'")
VALUES = (
    "'star'::text", "'connected'::text", "'square'::text", "''::text", 'NULL',
    'NULL::text', 'NULL::int', 'NULL::bigint', 'NULL::boolean', '3', '0', '-1', '64',
    '70', '2147483647', '3::bigint', '3.5', '3::smallint', "'3'::numeric", 'true',
    'false', "'0.5'::float8", "'NaN'::float8", "'Infinity'::float8", "'-1'::float8",
    "'jaccard'::text", "'hamming'::text", "'alike'::text", "'containment'::text",
    "'none'::text", "'word-2'::text", "'word-2-seed-5'::text", "'x'::name",
    "'star'::varchar", "'star'::d.word", "'\\x00'::bytea", "ARRAY['star']", 'ROW(1, 2)',
    "ROW('kind'::text, 'star'::text)", 'now()', 'current_user', 'random()',
    "'d.star'::regclass", "'pg_class'::regclass", "'d.v'::regclass", "'0'::regclass",
    "'4294967295'::regclass", '{t}', 'kept', 'kept.ctid', '{t}.ctid', 'kept.tableoid',
    '{t}.xmin', 'kept.cmax', '(SELECT 3)', '(SELECT {t}.cluster)', '(SELECT kept.id)',
    'EXISTS (SELECT FROM d.star WHERE star.id = kept.id)', 'ARRAY(SELECT kept.id)',
    'count(*)', 'sum({t}.cluster)', 'max(kept.id)', 'row_number() OVER ()',
    'generate_series(1, 2)', 'unnest(kept.words)', 'grouping(kept.id)',
    'concat(VARIADIC kept.words)', 'num_nulls(VARIADIC ARRAY[1])', 'minhash(kept.body)',
    'minhash({t}::text)', 'minhash(kept::text)', 'minhash(kept.body || kept.n::text)',
    '(minhash(kept.body) & 255)', 'simhash(kept.body)', 'kept.site COLLATE "C"',
    'kept.words[1]', 'CASE WHEN kept.id > 1 THEN kept.fp END',
    'COALESCE(kept.fp, {t}.cluster)', 'NULLIF(kept.id, 1)', 'kept.id IS NULL', '1 / 0',
    '(kept.id)::text', '(NULL::d.star).id', '(ROW(kept.*)::d.star).id',
    '_simhash_cluster_terms(ROW(1))', 'json_build_array(kept.id)', "DATE '2026-01-01'",
    'length(kept.body)', 'pg_sleep(0)', 'kept.body::d.word', 'ROW(kept.*)',
    'ROW({t}.*)',
)
COLUMNS = ('id', 'site', 'body', 'n', 'fp', 'r', 'at', 'w', 'words', 'd', 'twin',
           'cluster', 'at2', 'made', 'copy_of', 'unused_since', 'merged_into',
           'merged_at', 'document', 'extra', 'gen', 'virt')
# Queries that the row of a deed may stand in.
QUERIES = ('SELECT {f}({row}) FROM ONLY {r} AS kept',) * 12 + (
    'SELECT {f}({row}) FROM {r} AS kept', 'SELECT {f}({row}) FROM ONLY d.v AS kept',
    'SELECT {f}({row}) FROM ONLY d.{other} AS kept',
    'SELECT {f}({row}) FROM ONLY d.{other}_clusters AS kept',
    'SELECT {f}({row}) FROM ONLY pg_class AS kept',
    'SELECT {f}({row}) FROM (SELECT * FROM {r}) AS kept',
    'SELECT {f}({row}) FROM ONLY {r} AS kept, d.star AS more',
    'SELECT {f}({row}), 1 FROM ONLY {r} AS kept', 'SELECT {row} FROM ONLY {r} AS kept',
    'SELECT {f}({row}) FROM ONLY {r} AS kept GROUP BY kept.id',
    'WITH c AS (SELECT 1) SELECT {f}({row}) FROM ONLY {r} AS kept',
    'SELECT {f}({row}) FROM ONLY {r} AS kept WHERE kept.id > 1 LIMIT 1',
    'SELECT DISTINCT {f}({row}) FROM ONLY {r} AS kept',
    'SELECT {f}({row}) FROM ONLY {r} AS kept TABLESAMPLE SYSTEM (10)',
    'SELECT {f}({row}) FROM ONLY {r} AS kept UNION ALL SELECT true',
    'SELECT {f}(ROW({row})) FROM ONLY {r} AS kept',
    'SELECT {f}(kept) FROM ONLY {r} AS kept', 'SELECT d.other(VARIADIC ARRAY[1, 2])',
    'SELECT {f}({row})', 'SELECT {f}(NULL) FROM ONLY {r} AS kept',
    'SELECT FROM ONLY {r} AS kept', 'VALUES (1)')
CONDITIONS = ('COALESCE(true, EXISTS ({query}))',) * 20 + (
    'COALESCE(EXISTS ({query}), true)', 'COALESCE(true, ({query}))', 'EXISTS ({query})',
    'COALESCE(true, NOT EXISTS ({query}))', 'COALESCE(true, true IN ({query}))',
    'COALESCE(false, EXISTS ({query}))', 'COALESCE(NULL::boolean, EXISTS ({query}))',
    'COALESCE(true, false, EXISTS ({query}))', 'true',
    'COALESCE(true, true)', '{t}.cluster > 1')
ALTERATIONS = (
    'ALTER TABLE {x} DROP COLUMN {c} CASCADE',
    'ALTER TABLE {x} RENAME COLUMN {c} TO other',
    'ALTER TABLE {x} ALTER COLUMN {c} TYPE text',
    'ALTER TABLE {x} ALTER COLUMN {c} TYPE int USING 1',
    'ALTER TABLE {x} ALTER COLUMN {c} TYPE numeric USING 5',
    'ALTER TABLE {x} ALTER COLUMN {c} DROP EXPRESSION',
    'ALTER TABLE {x} ALTER COLUMN {c} SET EXPRESSION AS (minhash(body) & 15)',
    'ALTER TABLE {x} ALTER COLUMN {c} DROP NOT NULL',
    'ALTER TABLE {x} ALTER COLUMN {c} DROP IDENTITY',
    'ALTER TABLE {x} ALTER COLUMN {c} SET DEFAULT NULL',
    'ALTER TABLE {x} DROP CONSTRAINT IF EXISTS {x2}_pkey CASCADE',
    'ALTER TABLE {x} RENAME TO moved', 'ALTER TABLE {x} SET SCHEMA public',
    'DROP TABLE {x} CASCADE',
    'ALTER TABLE {t} RENAME TO moved;'
    ' ALTER TABLE {r} RENAME TO {t2}; ALTER TABLE d.moved RENAME TO {r2}',
    'ALTER TABLE {x} DISABLE TRIGGER USER',
    'ALTER TABLE {t} DISABLE TRIGGER USER; INSERT INTO {t} DEFAULT VALUES',
    'ALTER TABLE {t} DISABLE TRIGGER USER;'
    ' UPDATE {t} SET {c} = NULL; ALTER TABLE {t} ENABLE TRIGGER USER',
    'ALTER TABLE d.bits DETACH PARTITION d.bits2', 'DROP VIEW d.v',
    'ALTER SEQUENCE {t}_cluster_seq RESTART',
    'ALTER SEQUENCE {t}_cluster_seq AS smallint', 'DROP INDEX d.{t2}_fp_idx CASCADE',
)
USES = (
    "INSERT INTO {r} (id, site, body) VALUES (101, 'a', 'one two 1'), (102, 'z',"
    " 'q'), (8, 'a', NULL)",
    "INSERT INTO {r} (id, site, body, cluster) VALUES (103, 'a', 'one two', 2)"
    ' ON CONFLICT DO NOTHING',
    "UPDATE {r} SET body = body || ' more' WHERE id < 4",
    'UPDATE {r} SET cluster = 1 WHERE id > 6', 'UPDATE {r} SET id = 30 WHERE id = 1',
    'DELETE FROM {r} WHERE id > 9',
    "SELECT simhash_current_cluster('{r}', 1, '{c}'),"
    " simhash_current_cluster('{r}', 3, '{c}')",
    "SELECT number, example, fault, remedy FROM simhash_check_clusters('{r}', '{c}')",
    "CALL simhash_mend_clusters('{r}', '{c}')",
    "CALL simhash_mend_clusters('{r}', '{c}', anew => 'd.id < 5')",
    "CALL simhash_split_clusters('{r}', '{c}')",
    "CALL simhash_trim_clusters('{r}', '{c}')",
    'CALL simhash_add_clusters(\'{r}\', {arguments}, "column" => \'{c}\')',
    'CALL simhash_add_clusters(\'{r}\', {arguments}, "column" => \'{c}\', adopt =>'
    ' true)',
    'SELECT cluster FROM {r}', 'INSERT INTO {t} DEFAULT VALUES', 'TRUNCATE {t}',
    'TRUNCATE {r}', 'TRUNCATE {r}, {t}', "CALL simhash_drop_clusters('{r}', '{c}')",
)
# What is done with each exchange.
FIRST = (USES[7], USES[0], USES[6], USES[2], USES[7], USES[8], USES[14], USES[12])
# What is not one of the numbers above, nor an OID, but a place in memory.
ADDRESS = re.compile(r'(?<![\d.])-?[1-9]\d{10,}(?![\d.])')


class Fault(Exception):
    pass


def split(text):
    """The arguments of the first ROW in a condition."""
    depth, start, found = 0, text.index('ROW(') + 4, []
    for i in range(start, len(text)):
        quoted = text[:i].count("'") % 2
        if text[i] in '([' and not quoted:
            depth += 1
        elif text[i] in ')]' and not quoted:
            depth -= 1
        if (text[i] == ',' and depth == 0 and not quoted) or depth < 0:
            found.append(text[start:i].strip())
            start = i + 1
        if depth < 0:
            return found


class World:
    """The tables, and who uses them."""

    def __init__(self):
        self.connect()
        self.counts = collections.Counter()

    def connect(self):
        self.db = psycopg.connect('dbname=' + DATABASE, autocommit=True)
        self.db.execute("SET client_min_messages = error; SET jit = off;"
                        " SET statement_timeout = '30s'")

    def make(self):
        self.db.execute('DROP SCHEMA IF EXISTS d CASCADE;'
                        ' DROP TABLE IF EXISTS public.moved CASCADE; SET ROLE ' + OWNER)
        self.db.execute(TABLES)
        self.deeds = {}
        for table, arguments in CLUSTERED.items():
            self.db.execute("CALL simhash_add_clusters('d.%s', %s)" % (table, arguments))
            self.deeds[table] = self.ask(
                "SELECT pg_get_expr(polqual, polrelid) FROM pg_policy"
                " WHERE polrelid = 'd.%s_clusters'::regclass" % table)[0][0]
            self.db.execute(MORE.format(t=table, writer=WRITER))
            if self.db.info.server_version >= 180000:
                self.db.execute('ALTER TABLE d.%s ADD virt bigint'
                                ' GENERATED ALWAYS AS (id) VIRTUAL' % table)
        self.db.execute('RESET ROLE')
        self.columns, self.types = collections.defaultdict(list), {}
        for table, column, type_of in self.ask(COLUMNS_OF_TABLES):
            self.columns[table].append(column)
            self.types[table, column] = type_of

    def ask(self, sql):
        cursor = self.db.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def attempt(self, sql, judged=True):
        """Run a statement; its error, if any, is one that it may have."""
        self.log.append(sql)
        try:
            rows = repr(self.ask(sql))
        except psycopg.Error as error:
            state = error.sqlstate or ''
            rows = error.diag.message_primary or str(error)
            self.counts[state] += 1
            if self.db.closed or state[:2] in ('', 'XX', '58') or \
                    (judged and state in ('57014', '54001')):
                raise Fault('%s: %s' % (state, rows))
            if judged and ADDRESS.search(rows):
                raise Fault('a strange number: ' + rows)
            return False
        if judged and ADDRESS.search(rows):
            raise Fault('a strange number: ' + rows)
        self.counts['done'] += 1
        return True


def arguments_of(deed):
    """What a deed says; its root has the same alias in all, so that values fit."""
    return [re.sub(r'\bsimhash_kept\b', 'kept', a) for a in split(deed)]


def exchanges(world):
    """Each column of a deed, with a column of each type in its place."""
    for table, deed in world.deeds.items():
        arguments = arguments_of(deed)
        for i, argument in enumerate(arguments):
            side = argument.split('.')[0]
            if side not in ('kept', table + '_clusters'):
                continue
            types = {}
            of = 'd.' + (table if side == 'kept' else side)
            for column in world.columns[of]:
                types.setdefault(world.types[of, column], column)
            for column in [*types.values(), 'gen', 'ctid', 'cluster']:
                yield table, 'COALESCE(true, EXISTS (%s))' % QUERIES[0].format(
                    f='_simhash_cluster_terms', r='d.' + table,
                    row='ROW(%s)' % ', '.join(
                        arguments[:i] + [side + '.' + column] + arguments[i + 1:]))


def forge(rng, deed, table, columns):
    """Another deed."""
    columns_of = {'kept': columns['d.' + table],
                  table + '_clusters': columns['d.%s_clusters' % table]}
    names = {'t': table + '_clusters', 'r': 'd.' + table, 'f': '_simhash_cluster_terms',
             'other': rng.choice([*CLUSTERED])}
    arguments = arguments_of(deed)

    def value(columns=0.5):
        if rng.random() < columns:
            of = rng.choice(['kept', names['t']])
            return '%s.%s' % (of, rng.choice(columns_of[of]))
        return rng.choice(VALUES).replace('{t}', names['t'])

    # One column in place of another is what comes nearest to be believed.
    if rng.random() < 0.5:
        i = rng.choice([i for i, a in enumerate(arguments) if re.match(r'[\w.]+\.', a)])
        arguments[i] = value(0.9)
        return 'COALESCE(true, EXISTS (%s))' % QUERIES[0].format(
            row='ROW(%s)' % ', '.join(arguments), **names)

    for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 3])):
        i = rng.randrange(len(arguments) // 2) * 2
        act = rng.randrange(8)
        if act < 3:
            arguments[i + 1] = value()
        elif act == 3:
            arguments[i:i] = [rng.choice(KEYS) + '::text', value()]
        elif act == 4:
            arguments.extend([rng.choice(KEYS) + '::text', value()])
        elif act == 5:
            del arguments[i:i + rng.choice([1, 2, 2])]
        elif act == 6:
            arguments[i] = value() if rng.random() < 0.3 else rng.choice(KEYS) + '::text'
        else:
            j = rng.randrange(len(arguments) // 2) * 2
            arguments[i + 1], arguments[j + 1] = arguments[j + 1], arguments[i + 1]
        if len(arguments) < 2:
            break
    names['row'] = 'ROW(%s)' % ', '.join(arguments)
    query = rng.choice(QUERIES).format(**names)
    return rng.choice(CONDITIONS).format(query=query, **names)


def play(rng, world, committed, exchange):
    table = exchange[0] if exchange else rng.choice([*CLUSTERED])
    names = {'r': 'd.' + table, 'r2': table, 't': 'd.%s_clusters' % table,
             't2': table + '_clusters', 'arguments': CLUSTERED[table]}
    world.log = []
    role = '%s ROLE ' % ('SET' if committed else 'SET LOCAL')
    if not committed:
        world.db.execute('BEGIN')

    def alter():
        names['x2'] = rng.choice([names['r2'], names['t2']])
        names['x'] = 'd.' + names['x2']
        return rng.choice(ALTERATIONS).format(**{**names, 'c': rng.choice(COLUMNS)})

    def attempt(sql, judged=True):
        if not committed:
            world.db.execute('SAVEPOINT s')
        done = world.attempt(sql, judged)
        if not committed:
            world.db.execute('RELEASE s' if done else 'ROLLBACK TO s')
        return done

    world.attempt(role + OWNER)
    for _ in range(0 if exchange else rng.choice([0, 0, 0, 1, 2])):
        attempt(alter(), False)
    names['c'] = 'cluster'
    for _ in range(20):
        deed = exchange[1] if exchange else forge(
            rng, world.deeds[table], table, world.columns)
        if attempt('ALTER POLICY simhash_clusters ON %s USING (%s)'
                   % (names['t'], deed), False):
            world.counts['forged'] += 1
            # The procedures know the clusters by their column.
            found = re.findall(r"'cluster'::text, kept\.(\w+)", deed)
            names['c'] = found[-1] if found and rng.random() < 0.9 else 'cluster'
            break
    for _ in range(0 if exchange else rng.choice([0, 0, 0, 0, 1, 2])):
        attempt(alter(), False)
    for who in ['NONE'] if exchange else rng.sample(
            [OWNER, WRITER, 'NONE', 'NONE'], 3):
        world.attempt(role + who)
        uses = FIRST if exchange else rng.sample(USES[:-3], 12) + [rng.choice(USES)]
        for use in uses:
            attempt(use.format(**names))
    if committed:
        world.db.execute('RESET ROLE')
        world.make()
    else:
        world.db.execute('ROLLBACK')


def main():
    admin = psycopg.connect('dbname=postgres', autocommit=True)
    admin.execute('DROP DATABASE IF EXISTS %s WITH (FORCE)' % DATABASE)
    for role in (OWNER, WRITER):
        admin.execute('DROP ROLE IF EXISTS %s' % role)
        admin.execute('CREATE ROLE %s' % role)
    admin.execute('CREATE DATABASE ' + DATABASE)
    faults, number, began = 0, 0, time.time()
    world = World()
    world.db.execute('CREATE EXTENSION simhash; GRANT CREATE ON SCHEMA public TO %s;'
                     ' GRANT CREATE ON DATABASE %s TO %s' % (OWNER, DATABASE, OWNER))
    world.make()
    print('SIMHASH_SEED=%d' % SEED)
    exchanged = list(exchanges(world))
    while faults < FAULTS and (time.time() - began < SECONDS if SECONDS else
                               number < ROUNDS + len(exchanged)):
        rng = random.Random('%d %d' % (SEED, number))
        exchange = exchanged[number] if number < len(exchanged) else None
        try:
            play(rng, world, not exchange and number % COMMITTED == 0, exchange)
        except Fault as fault:
            faults += 1
            print('round %d: %s\n    %s' % (number, fault, ';\n    '.join(world.log)))
            world.db.close()
            world.connect()
            world.make()
        number += 1
    world.db.close()
    admin.execute('DROP DATABASE %s WITH (FORCE)' % DATABASE)
    admin.execute('DROP ROLE %s, %s' % (OWNER, WRITER))
    counts = world.counts
    print('%d rounds, %d deeds forged, %d statements done, %d errors of %d kinds'
          % (number, counts['forged'], counts['done'],
             sum(n for state, n in counts.items() if state not in ('done', 'forged')),
             len(counts) - 2))
    assert counts['forged'] > number / 2, 'few deeds are taken'
    return faults > 0


sys.exit(main())
