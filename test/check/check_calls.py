#!/usr/bin/env python3
"""
Call every function of the extension with whatever its types allow.

The calls are those of generator_calls.py: hostile numbers, texts and arrays,
and values of every type in binary form, most of them damaged, as a driver may
send them.  No referee says what comes out.  The server must survive, raise no
internal error, and answer true where a query asks whether something holds.
What a session answers depends on nothing that was asked of it before: now and
then a new one is asked the last calls again, in the opposite order.
SIMHASH_SECONDS (4) and SIMHASH_SEED are as for check_generator.py.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import os
import random
import sys
import time

sys.dont_write_bytecode = True
import generator_calls as calls
from check_generator import CANCELLED, INTERNAL, SEED, Crash, Session

SECONDS = float(os.environ.get('SIMHASH_SECONDS', 4))
DATABASE = 'calls'
AGAIN = 300

# What the calls name.
TABLES = """
CREATE EXTENSION simhash SCHEMA public;
CREATE SCHEMA play;
SET search_path = play, public;
CREATE TABLE t0 (id int PRIMARY KEY, grp int, body text, fp bigint,
                 ball hamming_ball, wide bit(64));
INSERT INTO t0 SELECT i, i % 3, md5(i::text) || ' a b c', i, hamming_ball(i, 3),
    i::bit(64)
FROM generate_series(1, 100) AS i;
CREATE INDEX t0_fp_hamming ON t0 USING hamming (fp);
CREATE INDEX t0_ball_hamming ON t0 USING hamming (ball);
CREATE INDEX t0_bits_hamming ON t0 USING hamming (wide);
CREATE TABLE t1 AS TABLE t0;
CREATE VIEW v0 AS TABLE t0;
ANALYZE
"""


def wrong(sql, answer):
    """What is wrong with an answer, if anything."""
    if answer.state in INTERNAL:
        return answer.message
    if ' AS holds' in sql and not answer.state and answer.rows != [(b't',)]:
        return 'does not hold: %s' % answer.rows
    return None


def differs(asked):
    """A call, of those asked, that a new session answers otherwise."""
    session = begin()
    try:
        for sql, before in reversed(asked):
            session.must('BEGIN')
            again = session.ask(sql)
            session.must('ROLLBACK')
            # Of two faults of a call the plan decides which is found first.
            if wrong(sql, again) or (
                    CANCELLED not in (before.state, again.state) and
                    (not before.state, before.rows) != (not again.state,
                                                        again.rows)):
                return sql, 'a new session says %s, not %s' % (
                    again.state or again.rows, before.state or before.rows)
    finally:
        session.conn.finish()
    return None


def begin():
    session = Session(DATABASE)
    session.must("SET statement_timeout = '5s'")
    return session


def main():
    admin = Session('postgres')
    admin.must('DROP DATABASE IF EXISTS %s WITH (FORCE)' % DATABASE)
    admin.must('CREATE DATABASE ' + DATABASE)
    session = begin()
    session.must(TABLES)
    known = calls.functions(session)
    rng = random.Random(SEED)
    print('SIMHASH_SEED=%d' % SEED, flush=True)
    states = collections.Counter()
    asked = []
    faults = 0
    until = time.monotonic() + SECONDS
    while time.monotonic() < until and not faults:
        sql = calls.write(rng, known)
        kind = 'binary' if isinstance(sql, calls.Binary) else 'call'
        try:
            session.must('BEGIN')
            answer = session.ask(sql)
            session.must('ROLLBACK')
            said = wrong(sql, answer)
            asked.append((sql, answer))
            if len(asked) == AGAIN and not said:
                sql, said = differs(asked) or (sql, None)
                asked.clear()
        except Crash as crash:
            said = str(crash)
        states[kind, 'accepted' if not answer.state else 'refused'] += 1
        if said:
            faults += 1
            print('%s\n%s' % (sql, said))
    session.conn.finish()
    admin.must('DROP DATABASE %s WITH (FORCE)' % DATABASE)
    print(', '.join('%d of %s %s' % (n, *key)
                    for key, n in sorted(states.items())))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
