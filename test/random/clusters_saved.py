#!/usr/bin/env python3
"""
Saves of objects in a table that keeps clusters, and the model that says what
each may do; test/t/034_clusters_saved.pl has the server.

usage: clusters_saved.py CONNECTION SEED ROUND SAVES

What frameworks do: they read a row, with its cluster and the time that it is
in it since; meanwhile rows come, change and go, clusters are merged, split,
trimmed and brought up to date; then they write the row, by one of

update      UPDATE of every column, or of those that have changed
upsert      INSERT ... ON CONFLICT DO UPDATE, of every column or of some
merge       MERGE, likewise
bulk        UPDATE of several rows, by CASE
insert      INSERT of every column, of a row that is new or has gone

with the cluster that they have read, NULL, one that was somebody's once, that
of another row, or a number that never was a cluster; and any time.

The model (clusters_model.py) judges each.  A save that leaves fingerprint,
group and document alone leaves cluster and time, but that a row takes what its
own cluster is called by now, and a number that never was one is an error.  A
save that changes them joins: of kind star the nearest of the representatives,
of kind connected the oldest of the clusters of rows nearby, the version that
it replaces among them.  After each batch all rows, and the table of the
clusters, are as the model has them.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import random
import sys

import psycopg

from clusters import Union, SIMILAR
from clusters_model import NEVER, Deed, Fault, Model, Row, expect

SPREAD = {'star': 9, 'connected': 14}   # in how many places a ball's differ
ROWS = 240                      # about how many there are
BATCH = 250
WRITTEN = Row._fields[1:]

ROUNDS = (
    # kind, and what else
    ('star', ()),
    ('connected', ()),
    ('star', ('within', 'parts')),
    ('connected', ('within',)),
    ('star', ('verified',)),
    ('connected', ('verified', 'parts')),
)

# Of each statement: its error, and the row after it, with what represents its
# star.
SAVES = """CREATE OR REPLACE PROCEDURE saves(INOUT results text[],
    statements text[], ids bigint[], ends boolean) LANGUAGE plpgsql AS $$
DECLARE
    state text; line text;
BEGIN
    FOR i IN 1 .. cardinality(ids) LOOP
        state := '';
        BEGIN
            EXECUTE statements[i];
        EXCEPTION WHEN others THEN
            state := SQLSTATE || ' ' || replace(SQLERRM, '|', '/');
        END;
        line := NULL;
        SELECT concat_ws('|', coalesce(cluster::text, '-'),
            coalesce(since::text, '-'), coalesce(since = now(), false),
            coalesce((SELECT %s FROM docs_clusters AS c
                      WHERE c.cluster = docs.cluster), '-'))
        INTO line FROM docs WHERE id = ids[i];
        results[i] := concat_ws('|', state, coalesce(line, '-|-|f|-'));
        IF ends THEN COMMIT; END IF;
    END LOOP;
END $$"""


def literal(value):
    """A value for SQL."""
    if value is None or isinstance(value, int):
        return 'NULL' if value is None else str(value)
    return value if value == 'now()' else "'%s'" % value


class Saver:
    """Who reads and saves."""

    def __init__(self, target, seed, number, saves):
        self.rng = random.Random('%d.%d' % (seed, number))
        self.kind, self.more = ROUNDS[number % len(ROUNDS)]
        self.model = Model(self.kind, self.more)
        self.connection = psycopg.connect(target, autocommit=True)
        spread = SPREAD[self.kind] - (4 if self.model.verified else 0)
        self.centers = [(self.rng.getrandbits(63), self.rng.sample(
            range(63), spread)) for _ in range(3)]
        self.keys, self.objects, self.saves = 0, [], saves
        self.done = collections.Counter()
        self.has = {name: self.ask("SELECT to_regproc(%s) IS NOT NULL",
                                   'simhash_' + name)[0][0] for name in (
                                       'trim_clusters', 'check_clusters')}

    def ask(self, query, *parameters):
        """The rows of a query."""
        return self.connection.execute(query, parameters).fetchall()

    def make(self):
        """The table."""
        run = self.connection.execute
        run('DROP TABLE IF EXISTS docs CASCADE')
        run('DROP TABLE IF EXISTS docs_clusters CASCADE')
        run("""CREATE TABLE docs (id bigint, part int, site text, fp bigint,
            body text, note int, PRIMARY KEY (id%s""" % (
                ', part)) PARTITION BY LIST (part)' if 'parts' in self.more
                else '))'))
        for part in range(2) if 'parts' in self.more else ():
            run('CREATE TABLE docs_%d PARTITION OF docs FOR VALUES IN (%d)' % (
                part, part))
        if self.kind == 'connected':
            run('CREATE INDEX ON docs USING hamming (fp)')
        run("""CALL simhash_add_clusters('docs', 'fp', 3, kind => '%s',
            since => 'since'%s%s)""" % (
                self.kind,
                ", within => '{site}'" if 'within' in self.more else '',
                """, document => 'body', profile => 'word-1',
                similarity => 'jaccard', at_least => %s""" % SIMILAR
                if self.model.verified else ''))
        run(SAVES % ("'-'" if self.kind == 'connected' else
                     "concat(c.fp, ' ', c.body)" if self.model.verified else
                     "concat(c.fp, ' ')"))

    # what is written

    def fingerprint(self):
        """In one of the balls, or anywhere, or none."""
        value, places = self.rng.choice(self.centers)
        for place in places:
            value ^= self.rng.getrandbits(1) << place
        return self.rng.choices((value, self.rng.getrandbits(63), None),
                                (90, 8, 2))[0]

    def body(self):
        """Eight of the ten words of a topic, or none."""
        words = [self.rng.choice('ab') + str(i) for i in range(10)]
        if self.rng.random() < 0.7:
            words = [words[0][0] + word[1:] for word in words]
        return None if self.rng.random() < 0.03 else ' '.join(
            self.rng.sample(words, 8))

    def site(self):
        """A site, or none."""
        return self.rng.choices(('a', 'b', None), (45, 45, 3))[0]

    def change(self, row):
        """What an application makes of an object."""
        dice = self.rng.random()
        if dice < 0.7:
            return row
        if dice < 0.8 and row.fp is not None:
            return row._replace(fp=row.fp ^ 1 << self.rng.randrange(63))
        what = self.rng.choice(('fp', 'fp', 'site', 'body', 'part'))
        if what == 'part':
            return row._replace(part=self.rng.randrange(2)) \
                if 'parts' in self.more else row
        return row._replace(**{what: getattr(self, dict(
            fp='fingerprint').get(what, what))()})

    def given(self, row):
        """Any cluster."""
        some = self.rng.choice(list(self.model.rows.values()) or [row])
        return self.rng.choices((
            row.cluster, None, self.rng.randint(1, self.model.last or 1),
            some.cluster, self.model.current(row),
            self.rng.choice((0, -1, self.model.last + NEVER))),
                                (6, 3, 2, 1, 1, 1))[0]

    def save(self):
        """Some object, or a new one."""
        if not self.objects or self.rng.random() < 0.03:
            return self.insert()
        old = self.rng.choice(self.objects)
        row = self.change(old)._replace(since=self.rng.choice((
            old.since, None, 'now()')), cluster=self.given(old))
        names = WRITTEN if self.rng.random() < 0.7 else tuple(
            name for name in WRITTEN
            if getattr(row, name) != getattr(old, name))
        how = self.rng.choices(
            (self.update, self.upsert, self.merge, self.bulk),
            (4, 0 if 'parts' in self.more else 2, 2, 1))[0]
        return how(row, names)

    def update(self, row, names):
        """UPDATE of what has changed, at least"""
        return Deed('update', row, names,
                    'UPDATE docs SET note = 1%s WHERE id = %d' % (''.join(
                        ', %s = %s' % (name, literal(getattr(row, name)))
                        for name in names), row.id))

    @staticmethod
    def line(row):
        """A row for SQL."""
        return ', '.join('%s::%s' % (literal(value), kind)
                         for value, kind in zip(row, (
                             'bigint', 'int', 'text', 'bigint', 'text',
                             'bigint', 'timestamptz')))

    def upsert(self, row, names):
        """INSERT ... ON CONFLICT DO UPDATE, or NOTHING"""
        if self.rng.random() < 0.2:
            names = self.rng.choice((names[3:], names[:1], ()))
        return Deed('upsert', row, names, """INSERT INTO docs (%s)
            VALUES (%s) ON CONFLICT (id) DO %s""" % (
                ', '.join(Row._fields), self.line(row),
                'UPDATE SET ' + ', '.join(
                    '%s = excluded.%s' % (name, name) for name in names)
                if names else 'NOTHING'))

    def merge(self, row, names):
        """MERGE"""
        return Deed('merge', row, names, """MERGE INTO docs AS d
            USING (SELECT %s) AS v (%s) ON d.id = v.id
            WHEN MATCHED THEN UPDATE SET note = 3%s
            WHEN NOT MATCHED THEN INSERT (%s) VALUES (v.%s)""" % (
                self.line(row), ', '.join(Row._fields), ''.join(
                    ', %s = v.%s' % (name, name) for name in names),
                ', '.join(Row._fields), ', v.'.join(Row._fields)))

    def bulk(self, row, names):
        """UPDATE of several, by CASE; only of one the cluster changes"""
        some = {one.id: one for one in self.rng.sample(
            self.objects, min(4, len(self.objects)))
                if one.id != row.id and one.cluster is not None}
        several = {row.id: row, **some}
        return Deed('update', row, names, """UPDATE docs SET note = 4%s
            WHERE id = ANY ('{%s}')""" % (''.join(
                ', %s = CASE id %s ELSE %s END' % (name, ' '.join(
                    'WHEN %d THEN %s' % (one.id, literal(getattr(one, name)))
                    for one in ([row] if name != 'cluster' else
                                several.values())), name)
                for name in names), ','.join(map(str, several))),
                    tuple(some.values()) if 'cluster' in names else ())

    def insert(self):
        """INSERT of a row that is new"""
        self.keys += 1
        row = Row(self.keys, self.rng.randrange(2), self.site(),
                  self.fingerprint(), self.body(), None, None)
        row = row._replace(cluster=self.given(row))
        return Deed('insert', row, (), 'INSERT INTO docs (%s) VALUES (%s)' % (
            ', '.join(Row._fields), self.line(row)))

    def other(self):
        """What happens meanwhile."""
        if len(self.model.rows) < ROWS * self.rng.random() * 2:
            return self.insert()
        row = self.rng.choice(list(self.model.rows.values()))
        if self.rng.random() < 0.3 and 'parts' in self.more:
            return self.move(row)
        if self.rng.random() < 0.8:
            return Deed('delete', row, (),
                        'DELETE FROM docs WHERE id = %d' % row.id)
        return Deed('refresh', row, (), """UPDATE docs
            SET cluster = simhash_current_cluster('docs', cluster)
            WHERE id = %d""" % row.id)

    @staticmethod
    def move(row):
        """A row is deleted here, and inserted there"""
        return Deed('move', row._replace(part=1 - row.part), ('part',),
                    """WITH d AS (DELETE FROM docs WHERE id = %d RETURNING *)
            INSERT INTO docs (%s) SELECT id, %d, %s FROM d""" % (
                row.id, ', '.join(Row._fields), 1 - row.part,
                ', '.join(Row._fields[2:])))

    # what concerns all of them

    def batch(self):
        """Some objects are read; deeds are done, and judged."""
        rows = list(self.model.rows.values())
        self.objects = (self.rng.sample(rows, min(60, len(rows))) +
                        self.objects)[:180]
        deeds = [self.save() if self.rng.random() < 0.8 else self.other()
                 for _ in range(BATCH)]
        ends = self.rng.random() < 0.5
        results, = self.ask('CALL saves(%s, %s, %s::bigint[], %s)', [],
                            [deed.query for deed in deeds],
                            [deed.row.id for deed in deeds], ends)[0]
        for deed, result in zip(deeds, results):
            self.done[deed.kind] += 1
            try:
                self.model.judge(deed, result)
            except Fault as fault:
                raise Fault('%s\nwas: %s\n%s\nis: %s' % (
                    fault, self.model.rows.get(deed.row.id), deed.query,
                    result)) from None
            self.model.settle()
        self.compare()

    def read(self):
        """The rows of the table."""
        return {row[0]: Row(*row) for row in self.ask(
            """SELECT id, part, site, fp, body, cluster, since::text
            FROM docs""")}

    def compare(self):
        """The table is as the model has it."""
        model, found = self.model, self.read()
        for key in found.keys() | model.rows.keys():
            expect(found.get(key) == model.rows.get(key),
                   'a row has changed: %s, not %s', found.get(key),
                   model.rows.get(key))
        if self.kind == 'star':
            stars = dict(self.ask('SELECT cluster, %s FROM docs_clusters' % (
                'body' if model.verified else 'NULL')))
            more = stars.keys() - model.stars.keys()
            expect(more <= model.left and model.stars.keys() <= stars.keys(),
                   'stars are too many, or too few: %s, %s', more,
                   model.stars.keys() - stars.keys())
            for cluster, body in stars.items() if model.verified else ():
                expect(body is None or cluster not in more and
                       body == model.stars[cluster].body,
                       'a text is left of cluster %s: %s', cluster, body)
            return
        for one, into in self.ask("""SELECT cluster, merged_into
            FROM docs_clusters WHERE merged_into IS NOT NULL"""):
            expect(model.union.find(one) == model.union.find(into),
                   '%s was not merged into %s', one, into)
        for key, now in self.ask("""SELECT id,
                simhash_current_cluster('docs', cluster) FROM docs"""):
            expect(now == model.current(found[key]), '%s is called %s',
                   found[key], now)

    def refresh(self):
        """All rows are brought up to date, as the page says"""
        self.connection.execute("""UPDATE docs
            SET cluster = simhash_current_cluster('docs', cluster)
            WHERE cluster IN (SELECT cluster FROM docs_clusters%s)""" % (
                ' WHERE merged_into IS NOT NULL' if self.kind == 'connected'
                else ''))
        self.model.rows = {key: row._replace(cluster=self.model.current(row))
                           for key, row in self.model.rows.items()}

    def split(self):
        """Of the parts of a cluster the largest keeps it"""
        model, parts = self.model, Union()
        if self.kind == 'star':
            return
        self.connection.execute("CALL simhash_split_clusters('docs')")
        found = self.read()
        rows = sorted((row for row in model.rows.values()
                       if row.cluster is not None), key=lambda row: row.id)
        for i, row in enumerate(rows):
            for other in rows[:i]:
                if model.beside(other, row):
                    parts.merge(other.id, row.id)
        clusters = collections.defaultdict(
            lambda: collections.defaultdict(list))
        for row in rows:
            clusters[model.current(row)][parts.find(row.id)].append(row)
        new = set()
        for cluster, its in sorted(clusters.items()):
            kept = set()
            for part in its.values():
                now = {model.current(found[row.id]) for row in part}
                expect(len(now) == 1, 'a part is split: %s, %s', part, now)
                now = now.pop()
                if now == cluster:
                    kept.add(len(part))
                    expect(all(found[row.id].since == row.since
                               for row in part), 'a part that stays is new')
                else:
                    expect(now > model.last and now not in new,
                           'a part has an id that is not new: %s', now)
                    new.add(now)
            expect(len(kept) == 1 and kept == {max(map(len, its.values()))},
                   'the largest part of %s does not stay: %s', cluster,
                   list(its.values()))
        for row in rows:
            model.rows[row.id] = row._replace(
                cluster=found[row.id].cluster, since=found[row.id].since)
        model.last = max(new, default=model.last)
        self.done['new parts'] += len(new)

    def trim(self):
        """What no row is in goes"""
        if not self.has['trim_clusters']:
            return
        self.connection.execute("CALL simhash_trim_clusters('docs')")
        used = {row.cluster for row in self.model.rows.values()}
        left = {row[0] for row in self.ask(
            'SELECT cluster FROM docs_clusters')}
        self.model.stars = {one: star for one, star in self.model.stars.items()
                            if one in used or one in left}

    def mute(self):
        """A row comes while triggers are off, and has no cluster yet"""
        deed = self.insert()
        row = deed.row._replace(cluster=None)
        self.connection.execute('SET session_replication_role = replica')
        self.connection.execute('INSERT INTO docs (%s) VALUES (%s)' % (
            ', '.join(Row._fields), self.line(row)))
        self.connection.execute('RESET session_replication_role')
        self.model.rows[row.id] = row

    def wake(self):
        """Rows without a cluster get one when they are updated."""
        for row in list(self.model.rows.values()):
            if row.cluster is None:
                result, = self.ask(
                    'CALL saves(%s, %s, %s::bigint[], false)', [],
                    ['UPDATE docs SET note = 5 WHERE id = %d' % row.id],
                    [row.id])[0]
                self.model.judge(Deed('update', row, (), ''), result[0])
                self.model.settle()

    def run(self):
        """Batch after batch, and between them what concerns all."""
        self.make()
        for _ in range(0, self.saves, BATCH):
            self.batch()
            act = self.rng.choice((self.refresh, self.split, self.trim,
                                   self.mute, self.mute, lambda: None))
            self.done[act.__name__] += 1
            act()
            self.compare()
        self.wake()
        self.split()
        self.trim()
        self.compare()
        if self.has['check_clusters']:
            faults = self.ask("SELECT * FROM simhash_check_clusters('docs')")
            expect(not faults, 'the check finds: %s', faults)


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) != 4:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    seed, number, saves = map(int, arguments[1:])
    saver = Saver(arguments[0], seed, number, saves)
    print('round %d: %s' % (number, ', '.join((saver.kind,) + saver.more)))
    status = 0
    try:
        saver.run()
    except Fault as fault:
        print('FAULT: %s' % fault)
        status = 1
    print('%d rows, %d clusters; %s' % (
        len(saver.model.rows), len({saver.model.current(row) for row in
                                    saver.model.rows.values()}),
        dict(saver.done)))
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
