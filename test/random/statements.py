#!/usr/bin/env python3
"""
Statements of the server's own version on tables with guards, clusters, keys and
indexes; test/t/052_statements.pl has the server.

usage: statements.py CONNECTION SEED SECONDS

A round makes four tables: t; p, which is partitioned; s, whose primary key is WITHOUT
OVERLAPS (18); and c, which keeps clusters.  The others have a guard.  Then come
transactions of a few statements, some rolled back, each drawn from those that the
version has.  What the server does not know is left out if it is MAYBE, as some have come
and gone with betas; it is a fault elsewhere.

pairs       no two rows of a table are within the distance of its guard
answers     a search by an index gives the rows that one by none does
check       simhash_check_clusters and hamming_index_check find nothing
errors      none is internal, and none ends the session

SPDX-License-Identifier: PostgreSQL
"""

import collections
import random
import sys
import time

import psycopg

MAYBE = 'maybe'
SYNTAX = '42601'


def fingerprint(rng):
    """One of some that are near each other, or far away."""
    value = rng.choice((0, -1, 0x123456789abcdef, -(1 << 62)))
    for _ in range(rng.choice((0, 1, 2, 4, 9, 30))):
        value ^= 1 << rng.randrange(62)
    return value


# The parts of a statement.  Values are drawn for each word in braces.
WORDS = {
    'id': lambda r: r.randint(1, 40),
    'site': lambda r: r.randint(0, 9),
    'n': fingerprint,
    'k': lambda r: r.choice((0, 1, 3, 8, 20)),
    'day': lambda r: r.randint(1, 28),
    'days': lambda r: '[2026-01-%02d,2026-%02d-01)' % (r.randint(1, 28),
                                                      r.randint(2, 12)),
    'row': lambda r: '(%d, %d, %d)' % (r.randint(1, 40), r.randint(0, 9),
                                       fingerprint(r)),
    'rows': lambda r: ', '.join('(%d, %d, %d)' % (i, r.randint(0, 9), fingerprint(r))
                                for i in r.sample(range(1, 41), r.randint(1, 4))),
    'table': lambda r: r.choice(('t', 'p', 'c')),
    'guarded': lambda r: r.choice(('t', 'p')),
    'some': lambda r: r.choice(('id = %d' % r.randint(1, 40), 'id % 5 = 0',
                                'site = %d' % r.randint(0, 9),
                                'fp <@ (%d, %d)' % (fingerprint(r), r.randint(0, 9)))),
    'kept': lambda r: r.choice(('', ' RETURNING *', ' RETURNING id, fp')),
    'lock': lambda r: r.choice(('', ' FOR UPDATE', ' FOR NO KEY UPDATE', ' FOR SHARE',
                                ' FOR KEY SHARE')),
}

# (version, weight, statement, MAYBE)
STATEMENTS = [
    (15, 8, 'INSERT INTO {table} VALUES {rows}{kept}'),
    (15, 4, 'UPDATE {table} SET n = {n} WHERE {some}{kept}'),
    (15, 2, 'UPDATE {table} SET site = {site} WHERE {some}{kept}'),
    (15, 1, 'UPDATE {table} SET id = id + 100, n = ~ n WHERE {some}'),
    (15, 2, 'DELETE FROM {table} WHERE {some}{kept}'),
    (15, 4, 'INSERT INTO {conflict} VALUES {rows} ON CONFLICT ({key}) DO NOTHING{kept}'),
    (15, 4, 'INSERT INTO {conflict} VALUES {rows} ON CONFLICT ({key}) DO UPDATE'
     ' SET n = excluded.n{kept}'),
    (15, 4, 'MERGE INTO {table} x USING (VALUES {rows}) AS y (id, site, n) ON x.id = y.id'
     ' WHEN MATCHED AND y.site < 3 THEN DELETE WHEN MATCHED THEN UPDATE SET n = y.n'
     ' WHEN NOT MATCHED THEN INSERT (id, site, n) VALUES (y.id, y.site, y.n)'),
    (15, 1, 'WITH gone AS (DELETE FROM {table} WHERE {some} RETURNING id, site, n)'
     ' INSERT INTO t SELECT * FROM gone'),
    (15, 1, 'WITH new AS (INSERT INTO t VALUES {rows} RETURNING *)'
     ' UPDATE c SET n = new.n FROM new WHERE c.id = new.id'),
    (15, 1, 'ALTER TABLE p DETACH PARTITION p0; ALTER TABLE p ATTACH PARTITION p0'
     ' FOR VALUES FROM (0) TO (5)'),
    (15, 1, 'REINDEX TABLE {table}'),
    (15, 1, 'CLUSTER {table} USING {table}_pkey'),
    (15, 1, "SELECT simhash_add_keys('{table}', 'fp')"),
    (15, 1, "SELECT simhash_drop_keys('{table}')"),
    (15, 3, 'CREATE INDEX IF NOT EXISTS {table}_fp ON {table} USING hamming (fp)'),
    (15, 1, 'TRUNCATE t'),
    (17, 3, 'MERGE INTO {table} x USING (VALUES {rows}) AS y (id, site, n) ON x.id = y.id'
     ' WHEN NOT MATCHED BY SOURCE AND x.site = {site} THEN DELETE'
     ' WHEN NOT MATCHED BY SOURCE AND x.site = {site} THEN UPDATE SET n = {n}'
     ' WHEN NOT MATCHED BY TARGET THEN INSERT (id, site, n) VALUES (y.id, y.site, y.n)'
     ' RETURNING merge_action(), x.*'),
    (17, 1, 'ALTER TABLE {guarded} ALTER fp SET EXPRESSION AS (n # {n})'),
    (18, 3, 'UPDATE {table} SET n = {n}, site = {site} WHERE {some}'
     ' RETURNING old.fp, new.fp, old.v, new.v'),
    (18, 3, 'INSERT INTO {conflict} VALUES {rows} ON CONFLICT ({key}) DO UPDATE'
     ' SET n = excluded.n WHERE {conflict}.v > 3 RETURNING WITH (OLD AS o, NEW AS w)'
     ' o.id, o.fp, w.fp, w.v'),
    (18, 3, 'MERGE INTO {table} x USING (VALUES {rows}) AS y (id, site, n) ON x.id = y.id'
     ' WHEN MATCHED THEN UPDATE SET n = y.n, site = y.site'
     ' WHEN NOT MATCHED THEN INSERT (id, site, n) VALUES (y.id, y.site, y.n)'
     ' RETURNING merge_action(), old.fp, new.fp, new.v'),
    (18, 2, 'DELETE FROM {table} WHERE v > {site} AND {some} RETURNING old.v, new.v'),
    (18, 1, 'ALTER TABLE {table} DROP IF EXISTS w,'
     ' ADD w bigint GENERATED ALWAYS AS (n # 1)'),
    (18, 4, "INSERT INTO s VALUES ('[{id},{id}]', {site}, {n}, '{days}')"),
    (18, 2, "UPDATE s SET n = {n}, during = '{days}' WHERE site = {site}"
     ' RETURNING old.fp, new.during'),
    (18, 2, 'DELETE FROM s WHERE site = {site}'),
    (19, 4, 'INSERT INTO {conflict} VALUES {rows} ON CONFLICT ({key}) DO SELECT{lock}'
     ' RETURNING *', MAYBE),
    (19, 2, 'INSERT INTO {conflict} VALUES {row} ON CONFLICT ({key}) DO SELECT{lock}'
     ' WHERE {conflict}.site > 4 RETURNING id, fp', MAYBE),
    (19, 4, "UPDATE s FOR PORTION OF during FROM '2026-02-{day}' TO '2026-04-{day}'"
     ' SET n = {n} WHERE site = {site} RETURNING *', MAYBE),
    (19, 4, "DELETE FROM s FOR PORTION OF during FROM '2026-02-{day}' TO '2026-04-{day}'"
     ' WHERE site = {site} RETURNING *', MAYBE),
    (19, 2, 'ALTER TABLE p SPLIT PARTITION p0 INTO'
     ' (PARTITION p0 FOR VALUES FROM (0) TO (3), PARTITION p3 FOR VALUES FROM (3) TO (5))',
     MAYBE),
    (19, 2, 'ALTER TABLE p MERGE PARTITIONS (p0, p3) INTO p0', MAYBE),
    (19, 1, 'REPACK {table}', MAYBE),
    (19, 1, 'REPACK {table} USING INDEX {table}_pkey', MAYBE),
]


class World:
    """A round: its tables, and what has been asked of them."""

    def __init__(self, connection, version, seed, counts, unknown):
        self.connection, self.version = connection, version
        self.counts, self.unknown = counts, unknown
        self.rng = random.Random(seed)
        self.said, self.guards = [], {}

    def fail(self, what):
        sys.exit('%s\n%s' % (what, ';\n'.join(self.said[-25:])))

    def run(self, statement):
        """The rows, or the SQLSTATE that it fails by."""
        if not statement.startswith(('SELECT id, fp', 'SET ', 'RESET')):
            self.said.append(statement)
        try:
            cursor = self.connection.execute(statement)
            return cursor.fetchall() if cursor.description else []
        except psycopg.Error as error:
            if self.connection.closed or not error.sqlstate or \
                    error.sqlstate.startswith('XX') or error.sqlstate == '57014':
                self.fail('%s %s' % (error.sqlstate, error))
            self.said[-1] += ' -- %s' % error.sqlstate
            return error.sqlstate

    def must(self, statement):
        rows = self.run(statement)
        if isinstance(rows, str):
            self.fail('failed: ' + rows)
        return rows

    def make(self):
        rng, virtual = self.rng, ''
        self.must('DROP TABLE IF EXISTS t, p, s, c CASCADE')
        self.must('DROP TABLE IF EXISTS c_clusters CASCADE')
        if self.version >= 18:
            virtual = ', v bigint GENERATED ALWAYS AS (site + id % 3) VIRTUAL'
        columns = ('id int, site int, n bigint, fp bigint GENERATED ALWAYS AS (n) STORED'
                   + virtual)
        self.must('CREATE TABLE t (%s, PRIMARY KEY (id))' % columns)
        self.must('CREATE TABLE c (%s, PRIMARY KEY (id))' % columns)
        self.must('CREATE TABLE p (%s, PRIMARY KEY (id, site)) PARTITION BY RANGE (site);'
                  ' CREATE TABLE p0 PARTITION OF p FOR VALUES FROM (0) TO (5);'
                  ' CREATE TABLE p5 PARTITION OF p FOR VALUES FROM (5) TO (9);'
                  ' CREATE TABLE pd PARTITION OF p DEFAULT' % columns)
        if self.version >= 18:
            self.must('CREATE TABLE s (id int4range, site int, n bigint, during daterange,'
                      ' fp bigint GENERATED ALWAYS AS (n) STORED,'
                      ' PRIMARY KEY (id, during WITHOUT OVERLAPS))')
        for table in ('t', 'p', 's', 'c') if self.version >= 18 else ('t', 'p', 'c'):
            within = table != 'c' and rng.random() < .4
            if rng.random() < .2 and table != 'c':
                self.must("SELECT simhash_add_keys('%s', 'fp')" % table)
            else:
                self.must('CREATE INDEX %s_fp ON %s USING hamming (%s)' % (
                    table, table, 'site, fp' if within and rng.random() < .5 else 'fp'))
            k = rng.choice((0, 3, 8, 15))
            if table == 'c':
                self.must("CALL simhash_add_clusters('c', 'fp', %d, '%s')" % (
                    min(k, 8), rng.choice(('star', 'connected'))))
                continue
            action = rng.choice(('reject', 'skip', 'conflict'))
            if table != 't' and action == 'conflict':
                action = 'skip'
            self.guards[table] = k, within
            self.must('CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON %s FOR EACH ROW'
                      " EXECUTE FUNCTION simhash_guard('fp', '%s', '%d'%s)" % (
                          table, action, k, ", 'within=site'" if within else ''))

    def statement(self):
        """A statement that is drawn, and whether the server may not know it."""
        known = [s for s in STATEMENTS
                 if s[0] <= self.version and s[2] not in self.unknown]
        one = self.rng.choices(known, [s[1] for s in known])[0]
        words = {word: draw(self.rng) for word, draw in WORDS.items()}
        words['conflict'] = words['table']
        words['key'] = 'id, site' if words['table'] == 'p' else 'id'
        return one[2], one[2].format(**words), len(one) > 3

    def transaction(self):
        begun = self.rng.random() < .4
        if begun:
            self.must('BEGIN')
        for _ in range(self.rng.randint(1, 5) if begun else 1):
            kind, statement, maybe = self.statement()
            if begun:
                self.must('SAVEPOINT one')
            came = self.run(statement)
            self.counts[kind, came if isinstance(came, str) else 'done'] += 1
            if came == SYNTAX:
                if not maybe:
                    self.fail('not known')
                self.unknown.add(kind)
            if begun and (isinstance(came, str) or self.rng.random() < .1):
                self.must('ROLLBACK TO one')
        if begun:
            self.must(self.rng.choice(('COMMIT', 'COMMIT', 'ROLLBACK')))

    def ask(self, table, plan, condition):
        """The rows of a condition, by indexes or by none."""
        self.must('; '.join('SET enable_%s = %s' % (
            kind, 'on' if (kind == 'seqscan') != plan else 'off')
            for kind in ('seqscan', 'indexscan', 'bitmapscan', 'indexonlyscan')))
        rows = self.must('SELECT id, fp FROM %s WHERE %s ORDER BY 1, 2' % (table, condition))
        self.must('RESET ALL')
        return rows

    def judge(self):
        for table, (k, within) in self.guards.items():
            near = self.ask(table, False, 'EXISTS (SELECT FROM %s AS o WHERE hamming(o.fp,'
                            ' %s.fp) <= %d AND o.ctid::text || o.tableoid <> %s.ctid::text'
                            ' || %s.tableoid%s)' % (table, table, k, table, table,
                                                    ' AND o.site = %s.site' % table
                                                    if within else ''))
            if near:
                self.fail('rows of %s within %d: %s' % (table, k, near))
        for table in (*self.guards, 'c'):
            condition = 'fp <@ (%d, %d)' % (fingerprint(self.rng), self.rng.choice((0, 3, 9, 20)))
            if self.rng.random() < .5:
                condition += ' AND site = %d' % self.rng.randint(0, 9)
            by_index, by_none = (self.ask(table, plan, condition) for plan in (True, False))
            if by_index != by_none:
                self.fail('%s where %s: %s, not %s' % (table, condition, by_index, by_none))

    def end(self):
        faults = self.must("SELECT fault FROM simhash_check_clusters('c')"
                           " WHERE fault <> 'clusters that have come apart'")
        if faults:
            self.fail('clusters: %s' % faults)
        self.must("SELECT hamming_index_check(i.oid, heapallindexed => true) FROM pg_class AS i"
                  " JOIN pg_am AS a ON a.oid = relam WHERE amname = 'hamming'"
                  " AND relkind = 'i'")


def main():
    target, seed, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    over = time.time() + seconds
    counts, unknown, rounds = collections.Counter(), set(), 0
    with psycopg.connect(target, autocommit=True,
                         options='-c statement_timeout=300s') as connection:
        version = connection.info.server_version // 10000
        while rounds == 0 or time.time() < over:
            world = World(connection, version, '%d.%d' % (seed, rounds), counts,
                          unknown)
            world.make()
            for _ in range(60):
                world.transaction()
                world.judge()
            world.end()
            rounds += 1
    print('round 1 to %d of seed %d on PostgreSQL %d: %d statements, %d of which failed' % (
        rounds, seed, version, sum(counts.values()),
        sum(n for (_, came), n in counts.items() if came != 'done')))
    for (kind, came), n in sorted(counts.items()):
        print('%6d %-5s %s' % (n, came, kind[:90]))


if __name__ == '__main__':
    main()
