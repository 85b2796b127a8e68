#!/usr/bin/env python3
"""
Trim, split, mend and check beside six writers; test/t/036_clusters_beside.pl has
the server.

usage: clusters_beside.py CONNECTION SEED KIND ROWS SECONDS BAR

KIND is star, connected, or split: connected, and split meanwhile.  A table of
ROWS rows keeps clusters; some of these have gone wrong.  Writers, each of rows
of its own, insert, change and delete, a statement a transaction, while
somebody else calls one procedure after the other.  Afterwards the model asks:

both        every row has a cluster, and the check finds nothing; a row that
            nobody wrote, nor gave a cluster anew, is in the one that it was
            in, or in what that is called by now, if it was not split
star        each row is near what represents its cluster; these are apart
connected   rows that are near each other are in one cluster; a cluster hangs
            together by versions that were there

How long statements of writers take is printed.  A session that writes to a
table of no concern says how long the machine has had everybody wait: that is
taken off.  If what is left is more than BAR seconds it is a fault; 0 is no
bar.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import random
import sys
import threading
import time

import psycopg

from clusters import Union, distance
from clusters_model import Fault, expect, pairs

WRITERS = 6
HOT = 20                        # as many balls are everybody's
STAY = range(4)                 # rows that nobody writes
ANEW = 50                       # of so many rows one is given a cluster anew

# How long a transaction waits before it ends.  Of kind connected, others wait
# for it if they write rows near its row.
PAUSE = {'star': 0.02, 'connected': 0.005}

# What may fail beside others: deadlocks of rows near each other.
MAY_FAIL = {'connected': (psycopg.errors.DeadlockDetected,), 'star': ()}


class Arena:
    """What is shared."""

    def __init__(self, target, seed, kind, rows, seconds):
        self.target, self.seed, self.rows = target, seed, rows
        self.kind = 'connected' if kind == 'split' else kind
        self.splits = kind == 'split'
        rng = random.Random('%d.%s' % (seed, kind))
        self.centers = [(rng.getrandbits(63), rng.sample(range(63), 12))
                        for _ in range(HOT + rows // 8)]
        self.over = time.time() + seconds
        self.versions = set()       # fingerprints that were there
        self.written = set()        # rows that somebody wrote
        self.known, self.suspect = {}, set()
        self.broken = []            # rows of some of the balls
        self.first = {}             # fingerprints of the first rows
        # those that rows had, of which there may be no more
        self.left = collections.deque(maxlen=20)
        self.done, self.faults = collections.Counter(), []
        self.statements, self.machine = [], []

    def connect(self):
        """A session."""
        return psycopg.connect(self.target, autocommit=True)

    def fingerprint(self, rng, hot=0.3):
        """In one of the balls."""
        value, places = self.centers[rng.randrange(
            HOT if rng.random() < hot else len(self.centers))]
        return self.member(rng, value, places)

    @staticmethod
    def member(rng, value, places):
        """One of a ball."""
        for place in rng.sample(places, rng.randrange(7)):
            value ^= 1 << place
        return value

    def make(self):
        """The table, as others have left it."""
        rng = random.Random(self.seed)
        balls = [rng.randrange(len(self.centers)) for _ in range(self.rows)]
        fingerprints = [self.member(rng, *self.centers[ball])
                        for ball in balls]
        self.broken = [key for key, ball in enumerate(balls)
                       if ball % ANEW == HOT]
        self.versions.update(fingerprints)
        with self.connect() as connection:
            run = connection.execute
            for table in 'docs', 'docs_clusters', 'other':
                run('DROP TABLE IF EXISTS %s CASCADE' % table)
            run('CREATE TABLE other (id bigint PRIMARY KEY, fp bigint)')
            run('CREATE TABLE docs (id bigint PRIMARY KEY, fp bigint)')
            run('CREATE INDEX ON docs USING hamming (fp)')
            run("""CALL simhash_add_clusters('docs', 'fp', 3, '%s',
                since => 'since')""" % self.kind)
            run("""INSERT INTO docs SELECT n - 1, fp FROM unnest(%s::bigint[])
                WITH ORDINALITY AS u (fp, n)""", [fingerprints])
            # clusters that no row is in, or that have come apart
            run('DELETE FROM docs WHERE id % 5 = 4')
            self.known = dict(run(
                'SELECT id, cluster FROM docs').fetchall())
            self.first = {key: fingerprints[key] for key in self.known}
            self.damage(run)

    def damage(self, run):
        """What is to be mended: rows without cluster, stars that are lost"""
        run('SET session_replication_role = replica')
        run('UPDATE docs SET cluster = NULL WHERE id = ANY (%s)',
            [self.broken[::3]])
        if self.kind == 'star':
            run("""DELETE FROM docs_clusters WHERE cluster IN (
                SELECT cluster FROM docs WHERE id = ANY (%s))""",
                [self.broken[::2]])
        self.suspect = set(self.broken).union(range(0, self.rows, ANEW))

    def timed(self, connection, query, parameters, into):
        """A statement, and when it began and ended."""
        began = time.perf_counter()
        try:
            connection.execute(query, parameters)
        finally:
            into.append((began, time.perf_counter()))

    def guarded(self, what):
        """A thread that notes what goes wrong in it."""
        def run():
            try:
                what()
            except Exception as error:  # pylint: disable=broad-except
                self.faults.append('%s: %s' % (type(error).__name__, error))
        return threading.Thread(target=run, daemon=True)

    # who is there

    def write(self, number):
        """A writer, of rows with every sixth id."""
        rng = random.Random('%d.%d' % (self.seed, number))
        mine = {key: fp for key, fp in self.first.items()
                if key % WRITERS == number and key not in STAY}
        new = self.rows + WRITERS - self.rows % WRITERS + number
        with self.connect() as connection:
            while time.time() < self.over:
                dice, fp = rng.random(), self.fingerprint(rng)
                if self.left and rng.random() < 0.4:
                    fp = rng.choice(self.left)
                key = rng.choice(list(mine)[-100:]) if mine else -1
                if dice < 0.4:
                    key, query = new, 'INSERT INTO docs VALUES (%s, %s)'
                    new += WRITERS
                    parameters = key, fp
                elif dice < 0.6:
                    query = 'DELETE FROM docs WHERE id = %s'
                    parameters = [key]
                else:
                    query = 'UPDATE docs SET fp = %s WHERE id = %s'
                    parameters = fp, key
                try:
                    if not self.stays(connection, rng, query, parameters):
                        continue
                except MAY_FAIL[self.kind] as error:
                    self.done[type(error).__name__] += 1
                    continue
                self.written.add(key)
                self.versions.add(fp)
                if key in mine:
                    self.left.append(mine.pop(key))
                if not 0.4 <= dice < 0.6 and key >= 0:
                    mine[key] = fp

    def stays(self, connection, rng, query, parameters):
        """Execute a statement; is there something left of it?"""
        dice = rng.random()
        if dice < 0.1 and query.startswith('INSERT'):
            # a row that does not get in, nor ought its star
            query += ' ON CONFLICT DO NOTHING'
            parameters = rng.choice(STAY), parameters[1]
        elif dice < 0.3:
            # others may have seen it before it is there, or gone
            with connection.transaction(force_rollback=dice < 0.15):
                self.timed(connection, query, parameters, self.statements)
                time.sleep(rng.random() * PAUSE[self.kind])
            return dice >= 0.15
        self.timed(connection, query, parameters, self.statements)
        return not query.endswith('NOTHING')

    def idle(self):
        """Somebody of no concern."""
        with self.connect() as connection:
            for i in range(1 << 30):
                if time.time() > self.over:
                    return
                self.timed(connection, 'INSERT INTO other VALUES (%s, 1)', [i],
                           self.machine)
                time.sleep(0.001)

    def keep_house(self):
        """One procedure after the other; in the second half none that mends
        what another has broken"""
        calls = ["simhash_trim_clusters('docs')",
                 "simhash_trim_clusters('docs', older_than => '.05 s')"]
        if self.splits:
            calls.append("simhash_split_clusters('docs')")
        mends = ["simhash_mend_clusters('docs')",
                 "simhash_mend_clusters('docs', anew => 'id %% %d = 0')"
                 % ANEW]
        half = (time.time() + self.over) / 2
        rng = random.Random(self.seed)
        with self.connect() as connection:
            while time.time() < self.over:
                some = calls + (mends if time.time() < half else [])
                for call in rng.sample(some, len(some)):
                    connection.execute('CALL ' + call)
                    self.done[call[8:13]] += 1
                    time.sleep(rng.random() / 20)
                connection.execute(
                    "SELECT * FROM simhash_check_clusters('docs')")

    def run(self):
        """All at once."""
        threads = [self.guarded(self.idle), self.guarded(self.keep_house)]
        threads += [self.guarded(lambda n=n: self.write(n))
                    for n in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expect(not self.faults, '%s', self.faults)
        if self.splits:
            with self.connect() as connection:
                connection.execute("CALL simhash_split_clusters('docs')")

    # what they have left

    def judge(self):
        """What holds of both kinds."""
        with self.connect() as connection:
            def ask(query, *parameters):
                return connection.execute(query, parameters).fetchall()
            found = {row[0]: row for row in ask(
                'SELECT id, fp, cluster FROM docs')}
            lost = [row for row in found.values() if row[2] is None]
            expect(not lost, '%s rows have no cluster: %s', len(lost),
                   lost[:3])
            faults = [row for row in ask(
                "SELECT * FROM simhash_check_clusters('docs')")
                      if self.splits or 'split_clusters' not in row[3]]
            expect(not faults, 'the check finds: %s', faults)
            same = {key: cluster for key, cluster in self.known.items()
                    if key not in self.written and key not in self.suspect}
            current = dict(ask(
                """SELECT c, simhash_current_cluster('docs', c)
                FROM unnest(%s::bigint[]) AS c""",
                list({row[2] for row in found.values()} |
                     set(same.values()))))
            expect(same.keys() <= found.keys(), 'rows are gone')
            changed = [(found[key], cluster) for key, cluster in same.items()
                       if current[found[key][2]] != current[cluster]]
            expect(self.splits or not changed,
                   '%s rows are in another cluster, such as %s, which was in '
                   '%s', len(changed), *(changed or [(0, 0)])[0])
            # of some there may be a copy alone, until the next trim
            stars = ask("""SELECT DISTINCT coalesce(copy_of, cluster), fp
                FROM docs_clusters""") if self.kind == 'star' else ()
        if self.kind == 'star':
            self.judge_stars(found, stars)
        else:
            self.judge_connected(found, current)
        print('%d rows in %d clusters; %s' % (
            len(found), len({current[row[2]] for row in found.values()}),
            dict(self.done)))

    @staticmethod
    def judge_stars(found, stars):
        """Each row is near what represents its cluster; these are apart."""
        by_id = dict(stars)
        far = [row for row in found.values() if row[2] not in by_id or
               distance(by_id[row[2]], row[1]) > 3]
        expect(not far, '%s rows are not near their star, such as %s: %s',
               len(far), *((far[0], by_id.get(far[0][2])) if far else '--'))
        expect(len(set(by_id.values())) == len(stars), 'stars are there twice')
        near = list(pairs(set(by_id.values())))
        expect(not near, '%s stars are near each other: %s', len(near),
               near[:1])

    def judge_connected(self, found, current):
        """Near rows are together, and clusters hang together by what was
        there."""
        now = collections.defaultdict(set)
        for row in found.values():
            now[row[1]].add(current[row[2]])
        ever, now = Union(), dict(now)
        for one, other in pairs(self.versions | now.keys()):
            ever.merge(one, other)
            expect(one not in now or other not in now or
                   now[one] == now[other], 'rows that are near are in '
                   'clusters %s, %s', now.get(one), now.get(other))
        parts = collections.defaultdict(set)
        for fp, clusters in now.items():
            expect(len(clusters) == 1, 'equal rows are in clusters %s',
                   clusters)
            parts[min(clusters)].add(ever.find(fp))
        for cluster, its in parts.items():
            expect(len(its) == 1, 'cluster %s does not hang together: %s',
                   cluster, its)

    def measure(self, bar):
        """How long writers were kept, and by the machine."""
        waits = sorted((end - began, began, end)
                       for began, end in self.statements)
        slow = [(began, end) for began, end in self.machine
                if end - began > 0.02]
        longest = [(took - sum(max(0, min(end, late) - max(began, early))
                               for early, late in slow), took)
                   for took, began, end in waits[-100:]]
        print('%d statements of writers; 99.9 of 100 take less than %.1f ms, '
              'the longest %.1f ms, without the machine %.1f ms; elsewhere '
              '%.1f ms' % (
                  len(waits), 1e3 * waits[len(waits) * 999 // 1000][0],
                  1e3 * waits[-1][0], 1e3 * max(longest)[0],
                  1e3 * max(end - began for began, end in self.machine)))
        expect(bar == 0 or max(longest)[0] <= bar,
               'a writer is behind for %.3f s', max(longest)[0])


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) != 6:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    arena = Arena(arguments[0], int(arguments[1]), arguments[2],
                  int(arguments[3]), float(arguments[4]))
    arena.make()
    arena.over = time.time() + float(arguments[4])
    try:
        arena.run()
        arena.judge()
        arena.measure(float(arguments[5]))
    except Fault as fault:
        print('FAULT: %s; %s' % (fault, dict(arena.done)))
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
