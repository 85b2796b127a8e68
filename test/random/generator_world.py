"""
What a round of check_generator.py is made of: its tables, its steps.

SPDX-License-Identifier: PostgreSQL
"""

import random

import generator_calls as calls
import generator_grammar as grammar

STATEMENTS = 200                # of a round
TIMEOUT = 2000                  # milliseconds that a statement may take
ROLE = 'regress_simhash_generator'


class Step:
    """
    Statements that belong together.

    kind      for the count
    sqls      the statements
    where     'both', or 'ours' where the referee knows nothing of it
    plain     what the referee is told instead
    ordered   rows must come in the same order
    tolerant  one side may fail where the other does not
    keeps     it changes something that later statements may depend on
    judge     is given the answers to the statements so far, after each, and
              says what is wrong with them, if anything
    """

    def __init__(self, kind, *sqls, where='both', ordered=False,
                 tolerant=False, keeps=False, judge=None, plain=None):
        self.kind = kind
        self.sqls = sqls
        self.where = where
        self.ordered = ordered
        self.tolerant = tolerant
        self.keeps = keeps
        self.judge = judge
        self.plain = plain

    def of_plain(self, sql):
        """What the referee is asked, None if nothing."""
        return None if self.where == 'ours' else self.plain or sql


class World:
    """The tables of a round: what the grammar may name."""

    def __init__(self, rng):
        self.rng = rng
        self.seeds = [rng.randrange(1 << 20) for _ in range(3)]
        self.relations, self.small, self.tiny = [], [], []
        self.bases, self.stored = [], []
        self.materialized, self.temporary = [], []
        self.centers = [0, 1, -1]
        self.frozen = ["'%d'::bigint" % rng.randrange(-1 << 63, 1 << 63)
                       for _ in range(2)]
        self.width = rng.choice([32, 40, 64, 72, 128, 128, 256, 500])
        self.radius = rng.choice([3, 8, 12])    # of balls in an index
        self.far = self.width // 2 - rng.randrange(self.width // 8)
        self.wide_centers = [digit * self.width for digit in '01']
        self.wide_frozen = "B'%s'" % ''.join(rng.choices('01', k=self.width))
        self.excluded = None

    def wide_center(self, rng):
        """A bit string of a table, or one near to it."""
        bits = list(rng.choice(self.wide_centers))
        for _ in range(rng.choice([0, 0, 0, 1, 2, 3, 4, 8, 12, 20])):
            bits[rng.randrange(self.width)] = rng.choice('01')
        return ''.join(bits)

    def wide(self, rng):
        """An expression for bit strings of rows."""
        seed = rng.choice(self.seeds)
        names = {name: '(%s)::bit(%d)' % (' || '.join(
            'hashint8extended(%s, %d)::bit(64)' % (of, seed + word)
            for word in range((self.width + 63) // 64)), self.width)
            for name, of in [('each', 'i'), ('some', 'i % 7'),
                             ('many', 'i % 40'), ('any', '1')]}
        return rng.choice(grammar.NULLS).format(
            rng.choice(grammar.WIDES).format(width=self.width, **names))

    def center(self, rng):
        """A fingerprint of a table, or one near to it."""
        center = rng.choice(self.centers)
        for _ in range(rng.choice([0, 0, 0, 1, 2, 3, 4, 8, 9, 12, 20])):
            center ^= 1 << rng.randrange(64)
        return (center + (1 << 63)) % (1 << 64) - (1 << 63)

    def rows(self, rng, first, last):
        """A list of what to SELECT that makes rows."""
        def fingerprint():
            return rng.choice(grammar.NULLS).format(
                rng.choice(grammar.FINGERPRINTS).format(
                    s=rng.choice(self.seeds)))

        return grammar.ROWS.format(
            cols=grammar.COLUMNS, first=first, last=last,
            k=rng.choice(grammar.K_COLUMN), ball=rng.choice(grammar.BALLS),
            fp=fingerprint(), fp2=fingerprint(), wide=self.wide(rng))

    def predicate(self):
        """A condition on a table, for indexes, policies and views."""
        template = grammar.choose(self.rng, grammar.RULES['predicate'])[1]
        return template.replace('{r}.', '').format(
            frozen=self.rng.choice(self.frozen), wfrozen=self.wide_frozen,
            wfar=self.far)

    def step(self, template, where='both', **names):
        sql = template.format(cols=grammar.COLUMNS, p=self.predicate(),
                              frozen=self.rng.choice(self.frozen),
                              wfrozen=self.wide_frozen, width=self.width,
                              wradius=self.radius, **names)
        return Step('setup', *sql.split('; '), where=where, keeps=True)

    def build(self):
        """The steps that make the tables."""
        rng = self.rng
        yield Step('setup', 'CREATE DOMAIN fingerprint AS bigint',
                   'CREATE DOMAIN some_ball AS hamming_ball',
                   'CREATE DOMAIN print AS bit(%d)' % self.width, keeps=True)
        for n in range(rng.choice([1, 2, 3])):
            yield from self.build_table('t%d' % n)
        yield from self.build_exclusion('e0')
        for n in range(rng.choice([0, 1, 2])):
            yield from self.build_view('v%d' % n)
        yield Step('setup', 'GRANT ALL ON %s TO %s' % (
            ', '.join(self.relations), ROLE), keeps=True)
        for name in self.relations:
            if rng.random() < 0.8:
                yield Step('setup', 'ANALYZE ' + name, where='ours',
                           keeps=True)

    def build_table(self, name):
        rng = self.rng
        columns = [('%s %s' % (column, rng.choice(types))).format(
            width=self.width) for column, types in grammar.COLUMN_TYPES.items()]
        rng.shuffle(columns)
        templates = grammar.choose(rng, grammar.TABLES)[1]
        for template in templates:
            yield self.step(template, t=name, c=', '.join(columns))
        if 'TEMP' in templates[0]:
            self.temporary.append(name)
        size = rng.choice([0, 30, 60, 120, 120, 300, 1000, 5000, 30000])
        early = rng.random() < 0.3
        if early:
            yield from self.build_indexes(name)
        first = 1
        while first <= size:        # several kinds of data in one table
            last = min(size, first + rng.choice([60, size]))
            yield Step('setup', 'INSERT INTO %s (%s) SELECT %s' % (
                name, grammar.COLUMNS, self.rows(rng, first, last)),
                keeps=True)
            first = last + 1
        if not early:
            yield from self.build_indexes(name)
        for template in grammar.EXTRAS:
            if rng.random() < 0.12:
                yield self.step(template, t=name)
        self.relations.append(name)
        self.bases.append(name)
        self.stored.append(name)
        self.small.append(name if size <= 300 else
                          '(SELECT * FROM %s WHERE id <= 100)' % name)
        self.tiny.append(name if size <= 60 else
                         '(SELECT * FROM %s WHERE id <= 30)' % name)

    def build_indexes(self, name):
        chosen = {grammar.choose(self.rng, grammar.INDEXES)[1]
                  for _ in range(self.rng.choice([1, 2, 4, 6]))}
        for template in sorted(chosen):
            yield self.step(template, where='ours', t=name)

    def build_exclusion(self, name):
        """A table whose rows are kept apart."""
        if self.rng.random() < 0.6:
            return
        commands, condition, action = self.rng.choice(grammar.KEPT_APART)
        for template in grammar.TABLES[0][1]:
            yield self.step(template, t=name, c='id int, grp int, k int, '
                            'fp bigint, fp2 bigint, ball hamming_ball, '
                            'body text, wide bit(%d)' % self.width)
        for command in commands[:-1]:
            yield self.step(command, where='ours', t=name)
        yield Step('setup', commands[-1].format(t=name), keeps=True,
                   plain="CREATE TRIGGER g BEFORE INSERT OR UPDATE ON %s "
                   "FOR EACH ROW EXECUTE FUNCTION exclude('%s', '%s')"
                   % (name, condition, action))
        for first in (1, 100):
            yield Step('change', 'INSERT INTO %s (%s) SELECT %s '
                       'ON CONFLICT DO NOTHING' % (
                           name, grammar.COLUMNS,
                           self.rows(self.rng, first, first + 40)),
                       keeps=True)
        self.excluded = name
        self.relations.append(name)
        self.small.append(name)
        self.tiny.append(name)

    def build_view(self, name):
        base = self.rng.choice(self.bases)
        _, template, changes = grammar.choose(self.rng, grammar.VIEWS)
        if 'MATERIALIZED' in template and base in self.temporary:
            return
        yield self.step(template, t=name, base=base)
        if 'MATERIALIZED' in template:
            yield from self.build_indexes(name)
            self.materialized.append(name)
        self.relations.append(name)
        if base in self.small:
            self.small.append(name)
        if changes:
            self.bases.append(name)


class Round:
    """A seed's sequence of steps."""

    def __init__(self, seed, functions):
        self.rng = random.Random(seed)
        self.world = World(self.rng)
        self.functions = functions

    def steps(self):
        """The steps, one after the other; centers are read in between."""
        yield from self.world.build()
        yield Step('centers', *(
            'SELECT fp FROM %s WHERE fp IS NOT NULL ORDER BY id LIMIT 15'
            % name for name in self.world.relations), judge=self.learn)
        yield Step('centers', *(
            'SELECT wide FROM %s WHERE wide IS NOT NULL ORDER BY id LIMIT 15'
            % name for name in self.world.relations), judge=self.learn_wide)
        for name, values in grammar.SETTINGS:
            if self.rng.random() < 0.5:
                yield self.set(name, values)
        yield Step('setting', 'SET statement_timeout = %d' % TIMEOUT,
                   keeps=True)
        kinds = [(weight, getattr(self, kind)) for weight, kind in self.KINDS]
        for _ in range(STATEMENTS):
            step = grammar.choose(self.rng, kinds)[1]()
            if step:
                yield step
        yield Step('setting', 'SET statement_timeout = 0')
        yield Step('index check', CHECK_INDEXES, where='ours',
                   judge=lambda answers: answers[-1].message)

    KINDS = [
        (120, 'query'), (25, 'prepared'), (8, 'cursor'), (22, 'change'),
        (8, 'upkeep'), (14, 'setting'), (4, 'role'), (5, 'report'),
        (10, 'call'), (4, 'exclusion'),
    ]

    def learn(self, answers):
        self.world.centers += [int(row[0]) for row in answers[-1].rows]

    def learn_wide(self, answers):
        self.world.wide_centers += [row[0].decode()
                                    for row in answers[-1].rows]

    def writer(self, parameters=None, hostile=0.03):
        return grammar.Writer(self.rng, self.world, parameters,
                              self.rng.random() < hostile)

    def query(self):
        writer = self.writer()
        text = writer.write('query')
        return Step('query', text.lstrip('!'), ordered=text[0] == '!',
                    tolerant=writer.hostile)

    def prepared(self):
        """A generic plan, or a custom one, with other values each time."""
        values = []
        writer = self.writer(values)
        text = writer.write('query')
        types = ''
        if values and self.rng.random() < 0.5:
            types = '(%s)' % ', '.join(
                self.rng.choice(['bit', 'bit varying'])
                if value[0] == 'B' else
                'int[]' if value.endswith('[]') else
                self.rng.choice(['int', 'bigint'])
                if value in grammar.RADII else 'bigint' for value in values)
        executions = []
        for _ in range(self.rng.choice([1, 1, 1, 2, 7])):
            executions.append('EXECUTE p' + (
                '(%s)' % ', '.join(values) if values else ''))
            values = [self.rng.choice([value, value, 'NULL', value])
                      for value in values]
        return Step('prepared', 'PREPARE p%s AS %s' % (
            types, text.lstrip('!')), *executions, 'DEALLOCATE p',
            ordered=text[0] == '!', tolerant=writer.hostile)

    def cursor(self):
        """What a cursor shows, forwards, backwards and from the middle."""
        writer = self.writer(hostile=0)
        text = writer.write('query').lstrip('!')
        n = self.rng.randrange(1, 6)

        def judge(seen):
            if len(seen) < 6 or any(answer.state for answer in seen):
                return None
            everything = seen[2].rows
            # a btree gives rows of one posting list in the same order both
            # ways (_bt_readpage), so backwards only which rows they are
            backwards = sorted(seen[3].rows, key=repr)
            if (backwards != sorted(everything, key=repr) or
                    seen[4].rows != everything[:n] or
                    seen[5].rows != everything[n + 1:n + 2]):
                return 'the cursor does not see the same rows again'

        return Step('cursor', 'BEGIN', 'DECLARE c SCROLL CURSOR FOR ' + text,
                    'FETCH ALL FROM c', 'FETCH BACKWARD ALL FROM c',
                    'FETCH %d FROM c' % n, 'FETCH RELATIVE 2 FROM c',
                    'ROLLBACK', where='ours', judge=judge)

    def change(self):
        writer = self.writer(hostile=0)
        text = writer.write('change')
        sqls = ['BEGIN', text]
        if self.rng.random() < 0.3:
            sqls = ['BEGIN', 'SAVEPOINT s', text, 'ROLLBACK TO s',
                    writer.write('query').lstrip('!')]
        if self.rng.random() < 0.3:
            sqls.append(self.writer(hostile=0).write('query').lstrip('!'))
        sqls.append(self.rng.choice(['COMMIT', 'COMMIT', 'ROLLBACK']))
        return Step('change', *sqls, keeps=True)

    def upkeep(self):
        if self.world.materialized and self.rng.random() < 0.3:
            return Step('upkeep', 'REFRESH MATERIALIZED VIEW '
                        + self.rng.choice(self.world.materialized),
                        keeps=True)
        return Step('upkeep', self.writer().write('upkeep'), where='ours',
                    keeps=True)

    def setting(self):
        return self.set(*self.rng.choice(grammar.SETTINGS))

    def set(self, name, values):
        return Step('setting', 'SET %s = %s' % (
            name, self.rng.choice(values)), where='ours', keeps=True)

    def role(self):
        return Step('setting', self.rng.choice(
            ['SET ROLE ' + ROLE] + ['RESET ROLE'] * 4), keeps=True)

    def report(self):
        """Pairs and clusters, against a comparison of each row with each."""
        width = self.world.width
        fingerprint, distances = self.rng.choice(calls.FINGERPRINTS + [
            ('wide AS fp', [0, 3, width // 8, width // 4])] * 2)
        verified = self.rng.random() < 0.4
        query = ("SELECT DISTINCT ON (id) id, %s%s%s FROM %s AS r WHERE id > %d "
                 "ORDER BY id, fp" % (fingerprint,
                                      self.rng.choice(calls.GROUPS),
                                      calls.DOCUMENT if verified else '',
                                      self.rng.choice(self.world.small),
                                      self.rng.randrange(50)))
        if self.rng.random() < 0.5:
            query = ('SELECT * FROM (%s) AS s ORDER BY md5(fp::text), id'
                     % query)
        sql = self.rng.choice(calls.VERIFIED if verified else calls.REPORTS)
        sql = sql.format(query=query.replace("'", "''"),
                         k=self.rng.choice(distances),
                         least=self.rng.choice([0, 0.3, 0.6, 0.8, 1]),
                         measure=self.rng.choice(
                             ['jaccard', 'alike', 'containment']))
        return Step('report', sql)

    def call(self):
        return Step('call', 'BEGIN', calls.write(self.rng, self.functions),
                    'ROLLBACK', where='ours')

    def exclusion(self):
        name = self.world.excluded
        if name is None:
            return None
        first = self.rng.randrange(200, 2000)
        sql = 'INSERT INTO %s (%s) SELECT %s' % (
            name, grammar.COLUMNS, self.world.rows(self.rng, first, first))
        return Step('change', self.rng.choice([
            sql, sql + ' ON CONFLICT DO NOTHING RETURNING id',
            'UPDATE %s SET fp = fp # 8, ball = (fp, 9)::hamming_ball '
            'WHERE id = (SELECT max(id) FROM %s)' % (name, name),
            'UPDATE %s SET wide = set_bit(wide, %d, 1) WHERE id %% 10 = 4'
            % (name, self.rng.randrange(self.world.width)),
            'DELETE FROM %s WHERE id %% 10 = 3' % name]), keeps=True)


CHECK_INDEXES = """
DO $$
DECLARE
    index regclass;
BEGIN
    RESET ROLE;
    FOR index IN SELECT c.oid FROM pg_class AS c JOIN pg_am AS a
        ON a.oid = c.relam WHERE amname = 'hamming' AND relkind = 'i'
        AND (relpersistence <> 't' OR relnamespace = pg_my_temp_schema())
    LOOP
        PERFORM hamming_index_check(index, true);
    END LOOP;
END $$"""
