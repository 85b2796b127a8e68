"""
What clusters that keep themselves ought to be, by a model of another make: it
knows fingerprints, groups and documents, and looks at every row.

clusters_saved.py judges each statement by it, clusters_years.py and
clusters_beside.py what is there in the end.

SPDX-License-Identifier: PostgreSQL
"""

import collections

from clusters import Union, distance, similar

NEVER = 1000000                 # so far beyond the last id nobody has come

Row = collections.namedtuple(
    'Row', 'id part site fp body cluster since')

# What is done: the row that is written, in which of its columns, if it is
# there; and others, of which only the cluster is.
Deed = collections.namedtuple('Deed', 'kind row names query others',
                              defaults=[()])


class Fault(Exception):
    """Something that must not be."""


def expect(truth, text, *what):
    """A fault unless something is true."""
    if not truth:
        raise Fault(text % what if what else text)


def pairs(fingerprints, k=3):
    """The pairs of different fingerprints within a distance: these agree in
    one of k + 1 pieces at least."""
    width = -(-64 // (k + 1))
    for piece in range(k + 1):
        alike = collections.defaultdict(list)
        for one in fingerprints:
            alike[one >> piece * width & (1 << width) - 1].append(one)
        for some in alike.values():
            for i, one in enumerate(some):
                for other in some[:i]:
                    if distance(one, other) <= k:
                        yield one, other


class Star:
    """What represents a cluster."""

    def __init__(self, row, last, doubtful=False):
        self.fp, self.site, self.body = row.fp, row.site, row.body
        self.last = last            # the last id that was given before
        self.doubtful = doubtful    # has its text gone, or is it there at all?


class Model:
    """The rows as they ought to be."""

    def __init__(self, kind, more, k=3):
        self.kind, self.more, self.k = kind, more, k
        self.verified = 'verified' in more
        self.rows, self.stars, self.union, self.last = {}, {}, Union(), 0
        # of the statement: stars that it has started, and those of rows that
        # did not get in, whose ids nobody has seen
        self.started, self.ghosts = set(), []
        self.left = set()           # stars that may be left without a row

    def vertex(self, row):
        """All that is compared; None if the row can be in no cluster."""
        if row.fp is None or 'within' in self.more and row.site is None:
            return None
        return (row.fp, row.site if 'within' in self.more else None,
                row.body if self.verified else None)

    def near(self, a, b):
        """Are two fingerprints of one group near each other?"""
        return (distance(a.fp, b.fp) <= self.k and
                ('within' not in self.more or a.site == b.site))

    def current(self, row):
        """What the cluster of a row is called by now."""
        return row.cluster if row.cluster is None else \
            self.union.find(row.cluster)

    def first(self, cluster, row):
        """A cluster that is new has the greatest id."""
        expect(cluster > self.last, 'an id is not new: %s, %s', cluster, row)
        self.last = cluster

    def texts(self, cluster):
        """What a star may be compared by."""
        star = self.stars[cluster]
        texts = [] if star.body is None else [star.body]
        if star.body is None or star.doubtful:
            texts += [row.body for row in self.rows.values()
                      if row.cluster == cluster]
        return texts

    def look(self, row):
        """The distances of the stars that a row is near, for sure or perhaps;
        and the ghosts."""
        sure, perhaps = {}, {}
        for one, star in self.stars.items():
            if not self.near(star, row):
                continue
            alike = [True]
            if self.verified:
                alike = [similar(text, row.body) for text in self.texts(one)]
            if any(alike):
                perhaps[one] = distance(star.fp, row.fp)
            if alike and all(alike):
                sure[one] = perhaps[one]
        ghosts = [ghost for ghost in self.ghosts if self.near(ghost, row) and
                  (not self.verified or similar(ghost.body, row.body))]
        return sure, perhaps, ghosts

    def star(self, row, cluster, star):
        """A row joins the nearest, or what may be that, or starts one."""
        sure, perhaps, ghosts = self.look(row)
        nearest = min(sure.values(), default=self.k)
        if cluster not in self.stars:
            its = [ghost for ghost in ghosts if cluster > ghost.last and
                   distance(ghost.fp, row.fp) <= nearest and
                   star == '%d %s' % (
                       ghost.fp, ghost.body if self.verified else '')]
            if its:
                self.ghosts.remove(its[0])
                its[0].doubtful = False
            else:
                expect(not sure and all(ghost.doubtful for ghost in ghosts),
                       'a star is started near %s: %s', sure, row)
                self.first(cluster, row)
            self.stars[cluster] = its[0] if its else Star(row, self.last)
            self.last = max(self.last, cluster)
            self.started.add(cluster)
            return
        nearest = min([nearest] + [distance(ghost.fp, row.fp)
                                   for ghost in ghosts if not ghost.doubtful])
        expect(perhaps.get(cluster, self.k + 1) <= nearest,
               'not the nearest: %s, of %s, %s', cluster,
               sorted(perhaps.items()), row)

    def propose(self, row):
        """A row is inserted, and does not get in: it may start a star."""
        if self.kind == 'star' and self.vertex(row) is not None:
            sure, perhaps, ghosts = self.look(row)
            if not sure and all(ghost.doubtful for ghost in ghosts):
                self.ghosts.append(Star(row, self.last,
                                        bool(perhaps or ghosts)))

    def settle(self):
        """The statement ends: stars that it has started go if no row is in
        them, and their texts if no row has them."""
        for one in self.started:
            its = [row.body for row in self.rows.values()
                   if row.cluster == one]
            if not its:
                star = self.stars.pop(one)
                if self.verified and star.doubtful:
                    self.left.add(one)      # its text was taken before
            elif self.stars[one].body not in its:
                self.stars[one].body = None
        self.started, self.ghosts = set(), []

    def connected(self, row, cluster, _):
        """A row joins the oldest nearby, and these become one.  The version
        that it replaces is still among the rows."""
        near = {self.current(other) for other in self.rows.values()
                if self.beside(other, row)}
        if not near:
            self.first(cluster, row)
            return
        expect(cluster == min(near), 'not the oldest: %s, of %s, %s',
               cluster, near, row)
        for one in near:
            self.union.merge(one, cluster)

    def beside(self, other, row):
        """Is a row one that another joins?"""
        return (other.cluster is not None and self.vertex(other) is not None
                and self.near(other, row) and
                (not self.verified or similar(other.body, row.body)))

    def leaves(self, old):
        """A version is gone, and with it the text of the star, or not if
        another has that too."""
        star = self.stars.get(old.cluster) if old else None
        if star and star.body is not None and star.body == old.body:
            star.doubtful = True
            if not any(row.cluster == old.cluster and row.body == old.body
                       for row in self.rows.values()):
                star.body = None

    def keep(self, old, given):
        """The cluster of a row that stays as it is."""
        return given if given == self.current(old) else old.cluster

    def judge(self, deed, result):
        """A deed is done: was that what it ought to do?"""
        state, cluster, since, fresh, star = result.split('|')
        cluster = None if cluster == '-' else int(cluster)
        old = self.rows.get(deed.row.id)
        now = (cluster, None if since == '-' else since)
        for one in deed.others if not state else ():
            self.follow(one)
        if deed.kind == 'delete' or (
                old is None and deed.kind in ('update', 'refresh', 'move')):
            expect(not state and now == (None, None), 'a row is left')
            if self.rows.pop(deed.row.id, None):
                self.leaves(old)
            return
        if deed.kind == 'upsert' and old is not None:
            self.propose(deed.row)
        if deed.kind == 'upsert' and old is not None and not deed.names:
            expect(now == (old.cluster, old.since), 'a row that is not '
                   'written changes: %s, not %s', now, old)
            return
        row = deed.row if old is None else old._replace(**{
            name: getattr(deed.row, name) for name in deed.names})
        stays = old is not None and self.vertex(old) == self.vertex(row)
        given = row.cluster if 'cluster' in deed.names or old is None \
            else None
        if deed.kind == 'refresh':
            given = self.current(old)
        elif deed.kind == 'upsert' and old is not None:
            given = None            # the trigger has put another in its place
        if (stays and given is not None and not 1 <= given < NEVER and
                (state or old.cluster is not None)):
            expect(state.startswith('23514') and
                   now == (old.cluster, old.since),
                   'cluster %s is no error, but %s', given, result)
            return
        expect(not state, 'an error: %s', state)
        if self.vertex(row) is None:
            expect(now == (None, None), 'a row is in a cluster: %s', now)
        elif stays and old.cluster is not None and deed.kind != 'move':
            right = {self.keep(old, given)}
            if deed.kind == 'upsert':
                right.add(self.current(old))
            expect(cluster in right and now[1] == old.since,
                   'a save changes the cluster: %s, not %s, %s', now, right,
                   old)
        elif deed.kind == 'move' and old.cluster is not None and (
                self.beside(old, row) if self.kind == 'connected' else
                cluster == old.cluster):
            expect(now == (self.current(old), old.since),
                   'a row that moves is in another cluster: %s, not %s', now,
                   old)
        else:
            expect(cluster is not None and (fresh == 't' or (
                old is None and self.union.find(given) == cluster)),
                   'a row joins at another time, or nothing: %s', result)
            getattr(self, self.kind)(row, cluster, star)
        self.rows[row.id] = row._replace(cluster=cluster, since=now[1])
        self.leaves(old)

    def follow(self, row):
        """A row of several that stay as they are."""
        old = self.rows.get(row.id)
        if old is not None and old.cluster is not None:
            self.rows[row.id] = old._replace(
                cluster=self.keep(old, row.cluster))
