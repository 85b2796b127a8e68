#!/usr/bin/env python3
"""
Force every path on random queries, and hear which functions of the owner run.

The law.  Of a query that takes a path of ours, a function is called only for
rows for which PostgreSQL's own scan of the whole table calls it, too, or where
the query names the function, of rows that neither a policy nor the barrier of
a view hides.  Planning calls none that is in no index, though what it stands in
could be simplified.  And the query answers, or fails, as with that scan.

The method.  A table is made by an owner whose functions stand in generated
columns, key columns, expressions and predicates of indexes, a policy and a
view, chosen at random; each says its name, who runs it, and of which row.
Most rows lie within one distance, each on a page of its own, so that bitmaps
become lossy.  A superuser and a role, which may have rights on some columns
alone, not on the functions, and be under row security, ask at random: of
columns and of expressions, by every operator, through views, in joins and
sub-selects, by prepared statements, in an order, and with locks on rows that
another session changes meanwhile.  Each question is asked first with no index,
then by every kind of path.

What is left out: PostgreSQL evaluates the predicate of a btree index again in
a lossy bitmap, whoever asks for what; so does a path over key indexes.

In the suite the rounds are always the same; SIMHASH_SECONDS and SIMHASH_SEED
are as for check_generator.py.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import os
import random
import sys
import time

sys.dont_write_bytecode = True
os.environ.setdefault('SIMHASH_SECONDS', '0')
from psycopg import pq

from check_generator import INTERNAL, Session

ROUNDS = 3
QUESTIONS = 20
SECONDS = float(os.environ['SIMHASH_SECONDS'])
SEED = int(os.environ.get('SIMHASH_SEED', random.randrange(1, 1 << 30)
                          if SECONDS else 3))
DATABASE = 'paths'
OWNER, READER = 'regress_simhash_paths_owner', 'regress_simhash_paths_reader'
SPY = 'SPY00'
CALLED = ['print', 'same', 'site', 'holds', 'policy', 'barrier', 'key_holds',
          'hamming_holds', 'seed']

# A function tells of itself, unless the owner runs it.  The row of a document is
# the number that it begins with.
FUNCTIONS = """
CREATE FUNCTION m.spy(plant text, id int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> '%s' THEN
        RAISE WARNING USING ERRCODE = '%s', MESSAGE =
            concat_ws('|', plant, current_user, id);
    END IF;
END $$;
CREATE FUNCTION m.seed() RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN PERFORM m.spy('seed', 0); RETURN 1; END $$;
CREATE FUNCTION m.print(body text, seed int DEFAULT 1) RETURNS bigint
IMMUTABLE COST {cost} LANGUAGE plpgsql AS $$
BEGIN
    PERFORM m.spy('print', split_part(body, ' ', 1)::int);
    RETURN hashtextextended(split_part(body, ' ', 2), seed);
END $$;
CREATE FUNCTION m.same(id int, fp bigint) RETURNS bigint IMMUTABLE COST {cost}
LANGUAGE plpgsql AS $$ BEGIN PERFORM m.spy('same', id); RETURN fp; END $$;
CREATE FUNCTION m.site(id int, grp int) RETURNS int IMMUTABLE COST {cost}
LANGUAGE plpgsql AS $$ BEGIN PERFORM m.spy('site', id); RETURN grp; END $$;
""" % (OWNER, SPY)
HOLDS = """
CREATE FUNCTION m.{0}(id int) RETURNS boolean IMMUTABLE COST {cost}
LANGUAGE plpgsql AS $$
BEGIN PERFORM m.spy('{0}', id); RETURN id % 3 <> 0; END $$;
"""
# A crowd of 1,500 rows, more than a bitmap of 64 kB has room for pages.
TABLE = """
CREATE TABLE m.docs (id int PRIMARY KEY, grp int, live boolean, body text,
    raw bigint, note int DEFAULT 0, filler text DEFAULT repeat('x', 5000),
    fp bigint GENERATED ALWAYS AS ({print}) STORED,
    born bigint GENERATED ALWAYS AS (m.same(id, raw)) STORED,
    wide bit(64) GENERATED ALWAYS AS ({print}::bit(64)) STORED);
ALTER TABLE m.docs ALTER filler SET STORAGE PLAIN;
INSERT INTO m.docs (id, grp, live, body, raw)
SELECT n, n / 400 % 3, n % 9 > 0,
    n || CASE WHEN n > 200 THEN ' crowd' ELSE ' word' || n / 4 END,
    hashint8extended(CASE WHEN n > 200 THEN 0 ELSE n / 4 END, 5) # (n % 4)
FROM generate_series(1, 1700) AS n;
"""
RIGHTS = """
CREATE TABLE m.parts (LIKE m.docs INCLUDING GENERATED INCLUDING STORAGE)
    PARTITION BY LIST (grp);
ALTER TABLE m.parts ATTACH PARTITION m.docs DEFAULT;
CREATE VIEW m.plain AS SELECT * FROM m.docs;
CREATE VIEW m.barred WITH (security_barrier) AS SELECT * FROM m.docs WHERE {bar};
CREATE VIEW m.own WITH (security_invoker, security_barrier) AS
    SELECT * FROM m.docs WHERE {bar};
CREATE POLICY shown ON m.docs USING ({policy});
CREATE POLICY shown ON m.parts USING ({policy});
GRANT USAGE ON SCHEMA m TO PUBLIC;
GRANT SELECT, UPDATE ON m.plain, m.barred, m.own TO PUBLIC;
GRANT SELECT (id, grp, live, raw, note, fp, born, wide), UPDATE (note)
    ON m.docs, m.parts TO PUBLIC;
"""
SOURCES = ['docs', 'docs', 'docs', 'parts', 'plain', 'barred', 'own']
COLUMNS = ['fp', 'fp', 'fp', 'raw', 'born']
NAMED = ['m.print(t.body)', 'm.same(t.id, t.raw)']
CODE = ['m.print(body)', 'm.same(id, raw)']
KEY_PREDICATES = ['', '', '', ' WHERE live', ' WHERE live OR m.key_holds(id)']
GROUPS = ['', '', '', 'grp, ', 'live, ', 'm.site(id, grp), ']
EXTRA = ['', '', ' AND t.live', ' AND t.grp = 1', ' AND m.site(t.id, t.grp) = 1',
         ' AND m.holds(t.id)', " AND current_setting('port') > ''", ' AND now() > $$2000-01-01$$']
CONDITIONS = [
    '{x} ~= {q}', '{x} ~= {q}', '{q} ~= {x}', '{x} <@ ({q}, {k})::hamming_ball',
    '{x} <@ ({q}, {k})', 'hamming_ball({q}, {k}) @> {x}',
    '{x} ~= ANY (ARRAY[{q}, 1])', '{x} <~> {q} <= {k}', '{k} >= hamming({x}, {q})',
    'hamming_within({x}, {q}, {k})']
BITS = ['{x} <@ ({q}, {k})', '{x} <~~> {q} <= {k}', 'hamming_within({x}, {q}, {k})']
PATHS = {
    'bitmap': ['seqscan', 'indexscan', 'indexonlyscan', 'hashjoin', 'mergejoin'],
    'index': ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin'],
    'any': ['seqscan', 'material', 'hashjoin', 'mergejoin']}
NO_PATH = ['indexscan', 'indexonlyscan', 'bitmapscan']


class Watched(Session):
    """A session that hears the functions."""

    def __init__(self):
        super().__init__(DATABASE)
        self.heard = set()
        self.conn.notice_handler = self.hear
        self.must("SET search_path = public; SET work_mem = '64kB'; "
                  'SET max_parallel_workers_per_gather = 0; '
                  "SET client_min_messages = warning; SET timezone = 'UTC'")

    def hear(self, result):
        if result.error_field(pq.DiagnosticField.SQLSTATE) == SPY.encode():
            name, user, row = result.error_field(
                pq.DiagnosticField.MESSAGE_PRIMARY).decode().split('|')
            self.heard.add((name, user, int(row)))

    def attempt(self, question, without, other=None):
        """The answer to a question asked without some kinds of plans, and what
        was heard; another session changes rows meanwhile."""
        self.must('BEGIN')
        for name in without:
            self.must('SET LOCAL enable_%s = off' % name)
        for sql in question.before:
            self.must(sql)
        if question.role == READER:
            self.must('SET LOCAL ROLE ' + READER)
        self.heard.clear()
        if other:
            other.must('BEGIN; UPDATE m.docs SET note = note + 1 '
                       'WHERE id % 50 < 2')
        self.send(question.sql)
        if other:
            self.wait(other)
            other.must('COMMIT')
        answer = self.receive()
        heard = set(self.heard)
        self.must('ROLLBACK; DEALLOCATE ALL')
        return answer, heard

    def wait(self, other):
        """Wait until the other session holds us up, or we are done."""
        pid = self.conn.backend_pid
        while True:
            self.conn.consume_input()
            if not self.conn.is_busy() or other.must(
                    'SELECT WHERE cardinality(pg_blocking_pids(%d)) > 0' % pid):
                return
            time.sleep(0.002)


# "whole" is the query, asked so that the scan of the table is not left at the
# first match, whose place depends on the order that a plan reads rows in.
Question = collections.namedtuple('Question',
                                  'role before sql whole names hidden lock')


# --- what there is ----------------------------------------------------------


def indexes(rng):
    """Of what kinds there are indexes: statements."""
    kinds = [(rng.choice(CODE), '', '')] + [
        (rng.choice(CODE + COLUMNS), rng.choice(GROUPS), rng.choice(KEY_PREDICATES))
        for _ in range(2)]
    for expression, group, where in kinds:
        covers = rng.choice([')', ', %s)' % expression] + (
            [') INCLUDE (%s)' % expression] if expression in COLUMNS else []))
        for block in range(4):
            yield 'CREATE INDEX ON m.docs (%ssimhash_key(%s, %d)%s%s' % (
                group, expression, block, covers, where)
    if rng.random() < 0.4:
        yield "SELECT simhash_add_keys('m.docs', '%s', covering => %s)" % (
            rng.choice(['fp', 'born', 'raw']), rng.random() < 0.5)
    for _ in range(rng.randrange(3)):
        yield 'CREATE INDEX ON m.docs USING hamming (%s%s)%s' % (
            rng.choice(GROUPS), rng.choice(
                ['fp', 'wide', '(m.print(body))', '(m.same(id, raw))']),
            rng.choice(['', ' WHERE live', ' WHERE live OR m.hamming_holds(id)']))


def make(session, rng):
    """The table of a round, and what it says of itself."""
    words = {'cost': rng.choice([1, 100, 10000]),
             'print': rng.choice(['m.print(body)', 'm.print(body)',
                                  'm.print(body, m.seed())']),
             'bar': rng.choice(['id % 3 <> 0', 'm.barrier(id)']),
             'policy': rng.choice(['id % 3 <> 0', 'm.policy(id)'])}
    session.must('SET SESSION AUTHORIZATION ' + OWNER)
    for sql in [FUNCTIONS] + [HOLDS.replace('{0}', name) for name in CALLED
                              if name not in ('print', 'same', 'site', 'seed')]:
        session.must(sql.replace('{cost}', str(words['cost'])))
    session.must(TABLE.format(**words))
    made = [sql for sql in indexes(rng)]
    for sql in made:
        session.must(sql)
    session.must('ANALYZE m.docs;' + RIGHTS.format(**words))
    under_policy = rng.random() < 0.6
    if under_policy:
        session.must('ALTER TABLE m.docs ENABLE ROW LEVEL SECURITY; '
                     'ALTER TABLE m.parts ENABLE ROW LEVEL SECURITY')
    if rng.random() < 0.5:
        session.must('GRANT SELECT ON m.docs, m.parts TO PUBLIC')
    if rng.random() < 0.3:
        session.must('REVOKE EXECUTE ON FUNCTION m.%s FROM PUBLIC' % rng.choice(
            ['print', 'same', 'site']))
    session.must('RESET SESSION AUTHORIZATION')
    session.must('VACUUM m.docs')
    return under_policy, made


# --- what is asked ----------------------------------------------------------


def condition(rng, operand, center, parameter):
    """A search, of the table or of what another one gives."""
    form = rng.choice(BITS if operand == 't.wide' else CONDITIONS)
    if operand == 't.wide':
        parameter = parameter + '::bit(64)'
    return form.format(x=operand, q=parameter or center, k=rng.choice([0, 2, 3, 6]))


def question(rng, crowd, under_policy):
    """A query, and who asks it."""
    role = rng.choice(['superuser', READER])
    source = rng.choice(SOURCES)
    operand = rng.choice(['t.' + rng.choice(COLUMNS)] * 3 + NAMED + ['t.wide'])
    center = '%d::bigint' % crowd[operand]
    form, extra = rng.randrange(10), rng.choice(EXTRA)
    where = 'm.%s AS t WHERE %s%s' % (source, condition(
        rng, operand, center, {5: 'u.q', 6: 'u.q', 7: 'u.q', 8: '$1'}.get(
            form, center)), extra)
    before, lock, whole = [], False, None
    few = rng.choice([
        '(VALUES (%s), (5)) AS u (q)' % center,
        '(SELECT m.print(t.body) AS q FROM m.docs AS t WHERE t.id IN (4, 400))'
        ' AS u'])
    if form < 3:
        lock, sql = True, rng.choice([
            'SELECT t.id FROM %s FOR UPDATE', 'SELECT t.id FROM %s FOR SHARE',
            'SELECT count(*) FROM (SELECT t.id FROM %s FOR UPDATE) AS s']) % where
        if rng.random() < 0.1:
            sql = 'UPDATE m.%s AS t SET note = 7 WHERE %s RETURNING t.id' % (
                source, where.split(' WHERE ', 1)[1])
    elif form == 3 and operand != 't.wide':
        sql = 'SELECT t.id FROM m.%s AS t WHERE true%s ORDER BY %s <~> %s LIMIT 40' % (
            source, extra, operand, center)
        sql = 'SELECT count(*) FROM (%s) AS s' % sql
    elif form < 5:
        sql = 'SELECT t.id FROM ' + where
    elif form == 5:
        sql = 'SELECT t.id FROM %s, LATERAL (SELECT t.id FROM %s) AS t' % (few, where)
    elif form == 6:
        sql = 'SELECT u.q, t.id FROM %s LEFT JOIN %s' % (
            few, where.replace(' WHERE ', ' ON ', 1))
    elif form == 7:
        sql = 'SELECT u.q FROM %s WHERE EXISTS (SELECT FROM %s)' % (few, where)
        whole = 'SELECT DISTINCT u.q FROM %s JOIN %s' % (
            few, where.replace(' WHERE ', ' ON ', 1))
    else:
        sql = 'SELECT t.id FROM ' + where
        if '$1' in sql:
            before = ['SET LOCAL plan_cache_mode = force_generic_plan',
                      'PREPARE p (bigint) AS ' + sql]
            sql = 'EXECUTE p (%d)' % crowd[operand]
    names = {name for name in CALLED if 'm.%s(' % name in ' '.join(before + [sql])}
    hidden = source in ('barred', 'own') or under_policy and role == READER \
        and source in ('docs', 'parts')
    return Question(role, before, sql, whole or sql, names, hidden, lock)


# --- the law ----------------------------------------------------------------


def unlawful(question, plain, heard):
    """What should not have been heard.  We plan what takes no path, too, so that
    it does not tell what is heard in planning."""
    return {(name, who, row) for name, who, row in heard
            if name == 'seed' or (name, who, row) not in plain and
            name != 'key_holds' and not (
                name in question.names and (who == READER) == (
                    question.role == READER) and
                not (question.hidden and row % 3 == 0))}


def judge(question, path, answer, plain, bad):
    """Show a fault; is it one?"""
    same = (answer.state, sorted(answer.rows)) == (plain.state, sorted(plain.rows))
    if not bad and same and answer.state not in INTERNAL:
        return False
    print('--- by %s, as %s\n%s' % (path, question.role, ';\n'.join(
        question.before + [question.sql])))
    for name in sorted({name for name, _, _ in bad}):
        rows = sorted(row for other, _, row in bad if other == name)
        print('"%s" is called for %d rows, such as %d' % (
            name, len(rows), rows[0]))
    if not same:
        print('%s%d rows, not %s%d' % (answer.message, len(answer.rows),
                                       plain.message, len(plain.rows)))
    sys.stdout.flush()
    return True


def prepare():
    """A database and two sessions there."""
    admin = Session('postgres')
    admin.must('DROP DATABASE IF EXISTS %s WITH (FORCE)' % DATABASE)
    admin.must('CREATE DATABASE ' + DATABASE)
    admin.must('DROP ROLE IF EXISTS %s, %s' % (OWNER, READER))
    admin.must('CREATE ROLE %s; CREATE ROLE %s' % (OWNER, READER))
    sessions = Watched(), Watched()
    sessions[0].must('CREATE EXTENSION simhash')
    return admin, sessions


def play(sessions, rng, counts):
    """A round; how many faults it has."""
    session, other = sessions
    session.must('DROP SCHEMA IF EXISTS m CASCADE; '
                 'CREATE SCHEMA m AUTHORIZATION ' + OWNER)
    under_policy, made = make(session, rng)
    fp, raw = (int(value) for value in session.must(
        'SELECT fp, raw FROM m.docs WHERE id = 1000')[0])
    crowd = collections.defaultdict(lambda: raw, {
        't.fp': fp, 't.wide': fp, 'm.print(t.body)': fp})
    faults = 0
    for _ in range(QUESTIONS):
        asked = question(rng, crowd, under_policy)
        meanwhile = other if asked.lock else None
        plain, lawful = session.attempt(asked._replace(sql=asked.whole), NO_PATH,
                                        meanwhile)
        counts['refused' if plain.state else 'answered'] += 1
        for path, without in PATHS.items():
            answer, heard = session.attempt(asked, without, meanwhile)
            counts['calls heard'] += len(heard)
            bad = unlawful(asked, lawful, heard)
            faults += judge(asked, path, answer, plain, bad)
    if faults:
        print(';\n'.join(made) + ';', flush=True)
    return faults


def main():
    admin, sessions = prepare()
    start = time.monotonic()
    print('SIMHASH_SEED=%d' % SEED, flush=True)
    counts = collections.Counter()
    number = faults = 0
    while not faults and (number < ROUNDS or time.monotonic() < start + SECONDS):
        faults = play(sessions, random.Random(SEED + number), counts)
        if faults:
            print('SIMHASH_SEED=%d' % (SEED + number))
        number += 1
    for session in sessions:
        session.conn.finish()
    admin.must('DROP DATABASE %s WITH (FORCE)' % DATABASE)
    admin.must('DROP ROLE %s, %s' % (OWNER, READER))
    print('%d rounds in %d s: %s' % (number, time.monotonic() - start, ', '.join(
        '%d %s' % (n, kind) for kind, n in sorted(counts.items()))))
    print('%d faults' % faults)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
