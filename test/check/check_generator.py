#!/usr/bin/env python3
"""
Ask random queries of the extension and of plain SQL, and compare.

The method.  Two databases hold the same tables.  One has the extension, with
indexes of every kind on the tables; the other, the referee, has operators of
the same names in plain SQL (generator_plain.sql), and no index on anything
but ids.  So every statement is one text, asked of both: first EXPLAIN, which
must not fail where the query works, then the query.  Both must give the same
rows, or fail both.  What may stand where is a grammar (generator_grammar.py);
how functions are called with whatever their types allow, without a referee,
is in generator_calls.py: there no more is asked than that the server
survives and reports no internal error.

A run is a sequence of rounds (generator_world.py).  A round has a seed, from
which all of it follows: a few tables with their indexes, then two hundred
steps: queries, prepared statements, cursors, changes that are committed or
rolled back, vacuum, settings of the planner.  In the end every hamming index
is checked against its table.

On a fault the statements of the round are replayed with parts left out, as
long as the fault is still there, and what remains is printed.  In the suite
the rounds are always the same ones, so that a change fails by what it does
and not by the luck of the draw.  Given a time, SIMHASH_SECONDS, the run begins
at a random round, which SIMHASH_SEED repeats; it stops at the first fault, or
after SIMHASH_FAULTS of them:

    SIMHASH_SECONDS=36000 make staged-test REGRESS= ISOLATION= TAP= UNIT= \\
        CHECK=test/check/check_generator.py

A query with a radius out of range fails or not depending on whether its plan
comes to look at it; one side may fail alone then, but rows must be the same.
A statement that either side takes too long for is not compared, nor one that the
referee has no memory for: PostgreSQL 19 makes room for all rows that it expects of a
recursive query, and plain SQL knows no better.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import os
import random
import re
import select
import sys
import time

sys.dont_write_bytecode = True
from psycopg import OperationalError, pq

import generator_calls as calls
from generator_world import ROLE, Round

SECONDS = float(os.environ.get('SIMHASH_SECONDS', 7))
FAULTS = int(os.environ.get('SIMHASH_FAULTS', 1))
SEED = int(os.environ.get(
    'SIMHASH_SEED', random.randrange(1, 1 << 30)
    if 'SIMHASH_SECONDS' in os.environ else 1))
HANG = 120                      # seconds after which it is not coming back
REDUCE_SECONDS = 60
OURS, PLAIN = 'generator_ours', 'generator_plain'
RANDOM = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'random')

CANCELLED = '57014'
OUT_OF_MEMORY = '53200'
ABORTED = '25P02'
INTERNAL = ('XX000', 'XX001', 'XX002')
EXPLAINED = re.compile(r'(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|EXECUTE'
                       r'|VALUES)\b')
# How a plan may find rows: name, pattern in the output of EXPLAIN.
USES = [(name, re.compile(pattern)) for name, pattern in [
    ('hamming index on fingerprints',
     r'(using|on) \w+_(fp|expr|part|center|hash)_hamming'),
    ('hamming index on balls', r'(using|on) \w+_(ball|pball|made)_hamming'),
    ('hamming index within groups',
     r'(using|on) \w+_(grp|body|gball|two)_hamming'),
    ('hamming index on bit strings',
     r'(using|on) \w+_(\w?bits|bball|wide|narrow|gwide)_hamming'),
    ('a distance as a search', r'hamming_within\(|hamming_\w*reach\('),
    ('ordered by an index', r'Order By:'),
    ('key columns', r'(using|on) \w+_(key\d|pkey\d|k\d_idx|[abcd]_idx)'),
    ('Gather', r'Gather'),
]]

# --- the servers ------------------------------------------------------------

Answer = collections.namedtuple('Answer', 'state message rows')


class Crash(Exception):
    """The server went away, or does not answer."""


class Session:
    """A connection that can be waited for together with another."""

    def __init__(self, database):
        for attempt in range(100):      # it may be starting up again
            self.conn = pq.PGconn.connect(b'dbname=' + database.encode())
            if self.conn.status == pq.ConnStatus.OK:
                break
            time.sleep(0.2)
        else:
            raise Crash('no connection: %s' % self.conn.error_message)
        self.conn.notice_handler = None
        self.must('SET client_min_messages = error; SET jit = off; '
                  'SET search_path = play, public')
        # From 18 on a self-join that is eliminated may lose a condition: of
        #   t a JOIN u b ON a.n + 1 = b.n JOIN t c ON c.id = a.id
        #   WHERE c.n = b.n
        # rows are left without us.  A second fault of the planner is met only
        # by collations that are not deterministic, which no rule makes: a
        # semi-join  x COLLATE ci IN (SELECT y ...)  whose inner side is made
        # unique under the collation of y.
        if self.conn.server_version >= 180000:
            self.must('SET enable_self_join_elimination = off')

    def send(self, sql):
        try:
            if isinstance(sql, calls.Binary):
                self.conn.send_query_params(
                    sql.sql.encode(), [sql.value],
                    param_formats=[pq.Format.BINARY])
            else:
                self.conn.send_query(sql.encode())
        except OperationalError as error:
            raise Crash(str(error))

    def receive(self):
        """The answer to what was sent, once it is there."""
        last = None
        while (result := self.conn.get_result()) is not None:
            last = result
        return self.answer(last)

    def answer(self, result):
        if result is None or self.conn.status == pq.ConnStatus.BAD:
            raise Crash(self.conn.error_message.decode(errors='replace'))
        if result.status == pq.ExecStatus.FATAL_ERROR:
            state = result.error_field(pq.DiagnosticField.SQLSTATE) or b''
            if state.decode() in ('57P01', '57P02', '57P03', ''):
                raise Crash(result.error_message.decode(errors='replace'))
            return Answer(state.decode(),
                          result.error_message.decode(errors='replace'), [])
        fields = range(result.nfields)
        return Answer('', '', [
            tuple(result.get_value(i, j) for j in fields)
            for i in range(result.ntuples)])

    def ask(self, sql):
        return ask([(self, sql)])[0]

    def must(self, sql):
        answer = self.ask(sql)
        if answer.state:
            sys.exit('%s%s' % (answer.message, sql))
        return answer.rows


def ask(questions):
    """Ask several sessions at once; their answers in the same order."""
    waiting = {}
    for session, sql in questions:
        session.send(sql)
        waiting[session.conn.socket] = session
    until = time.monotonic() + HANG
    while waiting:
        ready = select.select(list(waiting), [], [],
                              max(0, until - time.monotonic()))[0]
        if not ready:
            raise Crash('no answer within %d s' % HANG)
        for socket in ready:
            try:
                waiting[socket].conn.consume_input()
            except OperationalError as error:
                raise Crash(str(error))
            if not waiting[socket].conn.is_busy():
                del waiting[socket]
    return [session.receive() for session, sql in questions]


# --- faults -----------------------------------------------------------------


class Fault(Exception):
    """Kind, and what to say of it."""


class Abandon(Exception):
    """A change was cancelled in one of the databases."""


class Arena:
    """Both databases, and what was seen of them."""

    def __init__(self):
        self.counts = collections.Counter()
        self.uses = collections.Counter()
        self.states = collections.Counter()
        self.samples = {}
        self.plans = 0
        self.cancelled = False

    def open(self):
        """New sessions, an empty schema."""
        self.ours = Session(OURS)
        self.plain = Session(PLAIN)
        for session in (self.ours, self.plain):
            session.must("SET statement_timeout = '60s';"
                         'DROP SCHEMA IF EXISTS play CASCADE;'
                         'CREATE SCHEMA play; GRANT ALL ON SCHEMA play TO '
                         + ROLE)
        for name in ('parallel_setup_cost', 'parallel_tuple_cost',
                     'min_parallel_table_scan_size',
                     'min_parallel_index_scan_size'):
            self.ours.must('SET %s = 0' % name)
        self.ours.must('SET max_parallel_workers_per_gather = 0')

    def close(self):
        for session in (self.ours, self.plain):
            session.conn.finish()

    def run(self, step):
        """Carry out a step; raise a Fault if that shows one."""
        try:
            answers = []
            for sql in step.sqls:
                self.counts[step.kind] += 1
                explained = self.explain(sql, step)
                ours, plain = self.ask(step, sql)
                go_on = self.compare(step, sql, explained, ours, plain)
                answers.append(ours)
                if step.judge and not self.cancelled and (
                        said := step.judge(answers)):
                    raise Fault('answer', sql, said)
                if not go_on:
                    self.give_up(step, sql)
                    return
        except Crash as crash:
            time.sleep(1)       # let all sessions of before end
            raise Fault('crash', sql, str(crash).strip())

    def ask(self, step, sql):
        """The answers of both; None for the referee if it is not asked."""
        other = step.of_plain(sql)
        if other is None:
            return self.ours.ask(sql), None
        return ask([(self.ours, sql), (self.plain, other)])

    def give_up(self, step, sql):
        """Neither side may be a step ahead, be it that COMMIT took too long."""
        if self.cancelled and step.keeps and (
                step.sqls[0] != 'BEGIN' or sql == 'COMMIT'):
            raise Abandon()
        for session in (self.ours, self.plain):
            for end in ('ROLLBACK', 'DEALLOCATE ALL'):
                if session.ask(end).state:      # cancelled as well
                    raise Abandon()

    def explain(self, sql, step):
        """
        The answer to EXPLAIN, which now and then runs the query too; but not
        one that fails or not by how far its workers come.
        """
        if step.kind == 'call' or not EXPLAINED.match(sql):
            return None
        options = 'VERBOSE'
        if (sql.startswith('SELECT') and len(sql) % 10 == 0
                and not step.tolerant):
            options = 'ANALYZE, VERBOSE'
        answer = self.ours.ask('EXPLAIN (%s) %s' % (options, sql))
        if not answer.state:
            plan = '\n'.join(row[0].decode() for row in answer.rows)
            self.plans += 1
            for name, pattern in USES:
                self.uses[name] += pattern.search(plan) is not None
        return answer

    def compare(self, step, sql, explained, ours, plain):
        """
        True to go on, False when the rest of the step makes no sense; raises
        a Fault when the answers cannot both be right.
        """
        if explained and explained.state and ours.state == ABORTED:
            ours = explained            # in a transaction that is lost by that
        if ours.state:
            self.states[ours.state] += 1
            self.samples[ours.state] = '%s %s' % (
                ours.message.split('\n')[0], sql[:200])
        self.cancelled = CANCELLED in (
            ours.state, plain and plain.state, explained and explained.state
        ) or bool(plain and plain.state == OUT_OF_MEMORY)
        if self.cancelled:
            return False
        if ours.state in INTERNAL and not (plain and plain.state):
            raise Fault('internal error', sql, ours.message)
        if step.where == 'both':
            if bool(ours.state) != bool(plain.state):
                if step.tolerant:
                    return False
                raise Fault('error', sql, 'ours: %s\nplain: %s' % (
                    ours.message.strip() or 'no error',
                    plain.message.strip() or 'no error'))
            if not ours.state:
                self.compare_rows(step, sql, ours.rows, plain.rows)
        if explained and explained.state and not ours.state:
            raise Fault('error', sql, 'EXPLAIN: ' + explained.message)
        return not ours.state

    def compare_rows(self, step, sql, ours, plain):
        """Raise a Fault unless both have the same rows."""
        if ours == plain:
            return
        extra = collections.Counter(ours)
        extra.subtract(plain)
        if not any(extra.values()) and not step.ordered:
            return
        shown = [(row, n) for row, n in extra.items() if n][:5]
        raise Fault('answer', sql, '%d rows, plain SQL has %d\n%s' % (
            len(ours), len(plain), '\n'.join(
                '%+d time(s) %s' % (n, tuple(
                    v if v is None else v.decode() for v in row))
                for row, n in shown)))


def replay(arena, steps):
    """The fault that the last of these steps shows, if it does."""
    try:
        arena.open()
        for step in steps[:-1]:
            for sql in step.sqls:
                if CANCELLED in [answer.state for answer
                                 in arena.ask(step, sql) if answer]:
                    return None
        arena.run(steps[-1])
    except Fault as fault:
        return fault
    except (Crash, Abandon):
        return None
    finally:
        arena.close()


def reduce(steps, fault):
    """The same fault with fewer steps before the last."""
    arena = Arena()
    kind = fault.args[0]
    before, last = steps[:-1], steps[-1]
    until = time.monotonic() + REDUCE_SECONDS
    chunk = max(1, len(before) // 2)
    while chunk:
        start = 0
        while start < len(before) and time.monotonic() < until:
            fewer = before[:start] + before[start + chunk:]
            shown = replay(arena, fewer + [last])
            if shown and shown.args[0] == kind:
                before, fault = fewer, shown
            else:
                start += chunk
        chunk //= 2
    return before + [last], fault


def describe(seed, number, steps, fault):
    """Print what repeats a fault."""
    kind, sql, said = fault.args
    print('--- %s, seed %d, statement %d' % (kind, seed, number))
    for step in steps[:-1]:
        for line in step.sqls:
            print('%s;%s' % (line, '  -- not asked of plain SQL'
                             if step.where == 'ours' else ''))
    for line in steps[-1].sqls:
        print('%s;%s' % (line, '  -- here' if line == sql else ''))
    print(re.sub('^', '-- ', said.strip(), flags=re.M), flush=True)


# --- the run ----------------------------------------------------------------


def prepare(admin):
    """Make both databases and the role."""
    clean(admin)
    admin.must('CREATE ROLE ' + ROLE)
    for database in (OURS, PLAIN):
        admin.must('CREATE DATABASE ' + database)
    ours = Session(OURS)
    ours.must('CREATE EXTENSION simhash SCHEMA public')
    functions = calls.functions(ours)
    ours.conn.finish()
    plain = Session(PLAIN)
    with open(os.path.join(RANDOM, 'generator_plain.sql')) as script:
        plain.must('SET search_path = public;' + script.read())
    plain.conn.finish()
    return functions


def clean(admin):
    for database in (OURS, PLAIN):
        admin.must('DROP DATABASE IF EXISTS %s WITH (FORCE)' % database)
    admin.must('DROP ROLE IF EXISTS ' + ROLE)


def play(arena, seed, functions, until):
    """A round; returns the fault that ended it, and what led there."""
    kept = []
    number = 0
    try:
        arena.open()
        for step in Round(seed, functions).steps():
            if time.monotonic() > until:
                break
            number += 1
            arena.run(step)
            if step.keeps and not arena.cancelled:
                kept.append(step)
    except Fault as fault:
        return fault, number, kept + [step]
    except Abandon:
        pass
    finally:
        arena.close()


def main():
    start = time.monotonic()
    until = start + SECONDS
    arena = Arena()
    faults = 0
    seed = SEED
    print('SIMHASH_SEED=%d' % seed, flush=True)
    functions = prepare(Session('postgres'))
    while time.monotonic() < until and faults < FAULTS:
        found = play(arena, seed, functions, until)
        if found:
            fault, number, steps = found
            faults += 1
            print('--- found after %d s' % (time.monotonic() - start))
            steps, fault = reduce(steps, fault)
            describe(seed, number, steps, fault)
        seed += 1
    clean(Session('postgres'))
    print('%d rounds, %d statements in %d s: %s' % (
        seed - SEED, sum(arena.counts.values()), time.monotonic() - start,
        ', '.join('%d %s' % (n, kind)
                  for kind, n in arena.counts.most_common())))
    print('%d plans: %s' % (arena.plans, ', '.join(
        '%d by %s' % (arena.uses[name], name) for name, _ in USES)))
    print('errors, in both alike:')
    for state, n in arena.states.most_common(12):
        print('%6d %s, such as %s' % (n, state, arena.samples[state]))
    print('%d faults' % faults)
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
