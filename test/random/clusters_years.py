#!/usr/bin/env python3
"""
Two years of a crawler's table that keeps clusters; test/t/035_clusters_years.pl has
the server.

usage: clusters_years.py CONNECTION SEED KIND MONTHS ROWS KEPT

KIND is star, connected, or verified: star with documents that are compared.
Each day ROWS pages are written, new ones and some that were there, with the
same text, with one that is little changed, or with another; some come again,
and ON CONFLICT DO NOTHING drops them.  Each week some are deleted.  Each month
has a partition, which goes after KEPT months; and then, as the page says,
columns are brought up to date, clusters trimmed and checked.

Each month the model asks: has every page a cluster, and is it the one that it
had, or what that is called by now, unless its text has changed?  Is it near
what represents the cluster, and are these apart?  Are pages near each other
together?  In the end what time and space it takes is compared with an early
month, and with clusters that are made anew.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import random
import statistics
import sys
import time

import psycopg

from clusters import Union, distance, similar, SIMILAR
from clusters_model import Fault, expect, pairs

DAYS = 30
STATEMENT = 50                  # rows that are written at once
PROBES = 200

Page = collections.namedtuple('Page', 'id month fp body')

MAKE = """CREATE TABLE %s (id bigint, month int, fp bigint, body text,
    seen int, PRIMARY KEY (id, month))"""


class Crawler:
    """Who writes, and remembers what."""

    def __init__(self, target, seed, kind, months, rows, kept):
        self.rng = random.Random('%d.%s' % (seed, kind))
        self.verified = kind == 'verified'
        self.kind = 'star' if self.verified else kind
        self.months, self.rows, self.kept = months, rows, kept
        self.connection = psycopg.connect(target, autocommit=True)
        self.pages = {}             # by id
        self.recent = collections.deque(maxlen=500)
        self.known = {}             # the clusters of those that do not change
        self.keys, self.day = 0, 0
        self.took = []
        self.early = {}

    def run(self, query, *parameters):
        """Execute a query."""
        return self.connection.execute(query, parameters)

    def ask(self, query, *parameters):
        """The rows of a query."""
        return self.run(query, *parameters).fetchall()

    # the table

    def make(self):
        """A table of pages, with clusters."""
        for name in ('pages', 'pages_clusters', 'anew', 'anew_clusters'):
            self.run('DROP TABLE IF EXISTS %s CASCADE' % name)
        self.run(MAKE % 'pages' + ' PARTITION BY LIST (month)')
        self.begin_month(1)
        self.add('pages')

    def add(self, table):
        """Have a table keep clusters."""
        if self.kind == 'connected':
            self.run('CREATE INDEX ON %s USING hamming (fp)' % table)
        self.run("""CALL simhash_add_clusters('%s', 'fp', 3, kind => '%s',
            since => 'since'%s)""" % (table, self.kind, """,
            document => 'body', profile => 'word-1',
            similarity => 'jaccard', at_least => %s""" % SIMILAR
            if self.verified else ''))

    def begin_month(self, month):
        """A partition is made, and one dropped, by one of the ways"""
        self.run('CREATE TABLE pages_%d PARTITION OF pages FOR VALUES IN (%d)'
                 % (month, month))
        old = month - self.kept
        if old < 1:
            return
        way = self.rng.randrange(3)
        if way == 1:
            self.run('TRUNCATE pages_%d' % old)
        elif way == 2:
            self.run('ALTER TABLE pages DETACH PARTITION pages_%d' % old)
        self.run('DROP TABLE pages_%d' % old)
        self.forget([key for key, page in self.pages.items()
                     if page.month == old])

    def forget(self, keys):
        """Pages are gone."""
        for key in keys:
            del self.pages[key]
            self.known.pop(key, None)

    # what is written

    def words(self, n):
        """So many words, or nothing where documents do not count."""
        return [str(self.rng.randrange(100000)) for _ in range(n)] \
            if self.verified else []

    def text(self, other=None, bits=0, words=0):
        """A fingerprint and a text: new, or near another's."""
        if other is None:
            return self.rng.getrandbits(63), ' '.join(self.words(12))
        fp, body = other.fp, other.body.split()
        for place in self.rng.sample(range(63), bits):
            fp ^= 1 << place
        return fp, ' '.join(body[min(words, len(body)):] + self.words(words))

    def some(self, n):
        """Pages of the last months, some of them."""
        there = [page for page in self.recent if page.id in self.pages]
        pages = self.rng.sample(there, min(n // 2, len(there)))
        keys = list(self.pages) if len(self.pages) < 1000 else \
            [self.rng.randrange(1, self.keys + 1) for _ in range(4 * n)]
        self.rng.shuffle(keys)
        pages += [self.pages[key] for key in keys if key in self.pages][:n]
        return list({page.id: self.pages[page.id] for page in pages}.values())

    def arrival(self, month):
        """A new page, often near one that is there"""
        self.keys += 1
        other, bits, words = None, 0, 0
        if self.pages and self.rng.random() < 0.3:
            other = self.rng.choice(self.some(4))
            bits, words = self.rng.choice(((0, 0), (1, 1), (2, 1), (3, 5)))
        return Page(self.keys, month, *self.text(other, bits, words))

    def again(self, page):
        """A page that is seen again: as it was, or changed"""
        change = self.rng.choices(((0, 0), (1, 1), None), (60, 25, 15))[0]
        return page._replace(**dict(zip(('fp', 'body'), self.text(
            page if change else None, *(change or ())))))

    def write(self, pages, action):
        """Write pages, in statements of some."""
        for i in range(0, len(pages), STATEMENT):
            some = pages[i:i + STATEMENT]
            began = time.perf_counter()
            self.run("""INSERT INTO pages (id, month, fp, body, seen)
                SELECT *, %s FROM unnest(%s::bigint[], %s::int[],
                    %s::bigint[], %s::text[])
                ON CONFLICT (id, month) DO """ + action, self.day,
                     *map(list, zip(*some)))
            self.took.append((time.perf_counter() - began) / len(some))

    def one_day(self, month):
        """New pages, pages again, and pages that are there already"""
        self.day += 1
        new = [self.arrival(month) for _ in range(self.rows * 6 // 10)]
        again = [self.again(page) for page in self.some(
            self.rows * 4 // 10)] if self.pages else []
        pages = new + again
        self.rng.shuffle(pages)
        self.write(pages, """UPDATE SET fp = excluded.fp,
            body = excluded.body, seen = excluded.seen""" + self.rng.choice(
                ('', ', cluster = excluded.cluster, since = excluded.since')))
        for page in pages:
            if self.pages.get(page.id, page)[2:] != page[2:]:
                self.known.pop(page.id, None)
            self.pages[page.id] = page
            self.recent.append(page)
        self.drop(month)
        if self.day % 7 == 0:
            gone = [page.id for page in self.some(self.rows // 4)]
            self.run('DELETE FROM pages WHERE id = ANY (%s)', gone)
            self.forget(gone)

    def drop(self, month):
        """Pages that are there already, with other texts; some of these come
        with pages that are new, too"""
        there = [page._replace(**dict(zip(('fp', 'body'), self.text())))
                 for page in self.some(self.rows // 10)]
        new = []
        for page in there[::4]:
            self.keys += 1
            new.append(page._replace(id=self.keys, month=month))
        pages = there + new
        self.rng.shuffle(pages)
        self.write(pages, 'NOTHING')
        self.pages.update((page.id, page) for page in new)
        self.recent.extend(new)

    # what is asked

    def current(self, clusters):
        """What clusters are called by now."""
        return dict(self.ask("""SELECT c, simhash_current_cluster('pages', c)
            FROM unnest(%s::bigint[]) AS c""", list(clusters)))

    def judge(self):
        """Pages and clusters are what they ought to be; returns the cluster of
        each page, by what it is called now."""
        found = {row[0]: row for row in self.ask(
            'SELECT id, cluster, fp, body FROM pages')}
        expect({key: row[2:] for key, row in found.items()} ==
               {key: page[2:] for key, page in self.pages.items()},
               'other pages are there than were written')
        for row in found.values():
            expect(row[1] is not None, 'a page has no cluster: %s', row)
        now = self.current({row[1] for row in found.values()}.union(
            self.known.values()))
        for key, cluster in self.known.items():
            expect(now[found[key][1]] == now[cluster],
                   'page %s was in cluster %s, and is in %s', key, cluster,
                   found[key][1])
        if self.kind == 'star':
            self.judge_stars(found)
        else:
            texts = collections.defaultdict(set)
            for row in found.values():
                texts[row[2]].add(now[row[1]])
            for fp, clusters in texts.items():
                expect(len(clusters) == 1, 'equal pages are in clusters %s',
                       clusters)
            for one, other in pairs(texts):
                expect(texts[one] == texts[other], 'pages that are near are '
                       'in clusters %s, %s', texts[one], texts[other])
        return {key: now[row[1]] for key, row in found.items()}

    def judge_stars(self, found):
        """Each page is near what represents its cluster; these are apart."""
        stars = {row[0]: row[1:] for row in self.ask(
            'SELECT cluster, fp, %s FROM pages_clusters WHERE cluster > 0' % (
                'body' if self.verified else 'NULL'))}
        for row in found.values():
            expect(row[1] in stars and
                   distance(stars[row[1]][0], row[2]) <= 3 and (
                       stars[row[1]][1] is None or
                       similar(stars[row[1]][1], row[3])),
                   'a page is not near its star: %s, %s', row,
                   stars.get(row[1]))
        by_text = collections.defaultdict(list)
        for cluster, (fp, body) in stars.items():
            by_text[fp].append((cluster, body))
        several = [some for some in by_text.values()]
        several += [by_text[one] + by_text[other]
                    for one, other in pairs(by_text)]
        for some in several:
            for i, (cluster, body) in enumerate(some):
                for other, its in some[:i]:
                    expect(self.verified and not similar(body, its),
                           'stars are near each other: %s, %s', cluster,
                           other)

    def judge_split(self, before):
        """Clusters are what hangs together; the largest part of what they were
        has kept the id"""
        parts, sizes = Union(), collections.defaultdict(collections.Counter)
        for one, other in pairs({page.fp for page in self.pages.values()}):
            parts.merge(one, other)
        both = {(parts.find(self.pages[key].fp), cluster)
                for key, cluster in self.known.items()}
        expect(len(both) == len({part for part, _ in both}) ==
               len({cluster for _, cluster in both}),
               'clusters are not what hangs together')
        last = max(before.values())
        for key, cluster in self.known.items():
            sizes[before[key]][cluster] += 1
        for old, its in sizes.items():
            expect(its[old] == max(its.values()) and all(
                new > last for new in its if new != old),
                   'cluster %s has become %s', old, its)

    def end_month(self, month):
        """As the page says"""
        before = self.judge()
        self.probe(month)
        if self.kind == 'connected':
            self.run("""UPDATE pages
                SET cluster = simhash_current_cluster('pages', cluster)
                WHERE cluster IN (SELECT cluster FROM pages_clusters
                                  WHERE merged_into IS NOT NULL)""")
        self.run("CALL simhash_trim_clusters('pages')")
        self.run('VACUUM pages_clusters')
        self.run('REINDEX TABLE CONCURRENTLY pages_clusters')
        self.known = dict(self.ask('SELECT id, cluster FROM pages'))
        expect(self.known == before, 'ids change by a trim, in month %s',
               month)
        if self.kind == 'connected':
            self.run("CALL simhash_split_clusters('pages')")
            self.known = dict(self.ask('SELECT id, cluster FROM pages'))
            self.judge_split(before)
        faults = self.ask("SELECT * FROM simhash_check_clusters('pages')")
        expect(not faults, 'month %s: the check finds %s', month, faults)
        left = self.ask("""SELECT cluster FROM pages_clusters AS c
            WHERE NOT EXISTS (SELECT FROM pages AS p
                              WHERE p.cluster = c.cluster)""")
        expect(not left, 'a trim leaves %s clusters that no page is in: %s',
               len(left), left[:3])
        if self.verified:
            left = self.ask("""SELECT cluster FROM pages_clusters AS c
                WHERE body IS NOT NULL AND NOT EXISTS (SELECT FROM pages AS p
                    WHERE p.cluster = c.cluster AND p.body = c.body)""")
            expect(not left, 'texts are left of %s clusters: %s', len(left),
                   left[:3])

    # time and space

    def probe(self, month):
        """What a look-up takes, and an insert; and what writes took"""
        took = collections.defaultdict(list)
        pages = self.some(PROBES)
        for page in pages:
            for what, query, parameters in (
                    ('look-up', 'SELECT count(*) FROM %s WHERE fp <@ (%%s, 3)'
                     % ('pages_clusters' if self.kind == 'star' else 'pages'),
                     [page.fp ^ 5]),
                    ('insert', """INSERT INTO pages (id, month, fp, body)
                     VALUES (%s, %s, %s, %s)""",
                     [-page.id, month, *self.text()])):
                with self.connection.transaction(force_rollback=True):
                    began = time.perf_counter()
                    self.run(query, *parameters)
                    took[what].append(time.perf_counter() - began)
        its = {what: statistics.median(times) for what, times in took.items()}
        its['written row'] = statistics.median(self.took)
        self.took.clear()
        if month in (min(4, self.months // 2), self.months):
            print('month %d: %d pages; %s' % (
                month, len(self.pages), ', '.join('%s %.0f us (%.2f)' % (
                    what, 1e6 * its[what], its[what] / self.early.get(
                        what, its[what])) for what in its)), flush=True)
            self.early = its

    def size(self):
        """The space of the clusters, and of the same made anew"""
        self.run(MAKE % 'anew')
        self.run("""INSERT INTO anew SELECT id, month, fp, body, seen
            FROM pages ORDER BY id""")
        self.add('anew')
        sizes = []
        for table in 'pages_clusters', 'anew_clusters':
            self.run('VACUUM ' + table)
            sizes.append(self.ask(
                'SELECT pg_total_relation_size(%s::regclass)', table)[0][0])
        print('clusters take %d kB, made anew %d kB: %.2f' % (
            sizes[0] >> 10, sizes[1] >> 10, sizes[0] / sizes[1]), flush=True)
        # a few pages, or months, are nothing to go by
        expect(self.rows < 1000 or sizes[0] <= 1.5 * max(sizes[1], 1 << 18),
               'clusters take more than 1.5 times as much')

    def work(self):
        """Month after month."""
        self.make()
        for month in range(1, self.months + 1):
            if month > 1:
                self.begin_month(month)
            for _ in range(DAYS):
                self.one_day(month)
            self.end_month(month)
        self.size()


def main(arguments):
    """The command line; returns the exit status."""
    if len(arguments) != 6:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    target, seed, kind = arguments[0], int(arguments[1]), arguments[2]
    crawler = Crawler(target, seed, kind, *map(int, arguments[3:]))
    status = 0
    try:
        crawler.work()
    except Fault as fault:
        print('FAULT: day %d: %s' % (crawler.day, fault))
        status = 1
    print('%d days, %d pages were written, %d are there, in %d clusters' % (
        crawler.day, crawler.keys, len(crawler.pages),
        len(set(crawler.known.values()))))
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
