"""
What the owner of tables may plant, for check_owners.py.

All of it is made by the role OWNER, in schemas where it may create: its own,
"near", the public one, and "ext", the extension's.  Each plant calls
near.spy(), which says the plant's name when it runs with somebody else's
rights, and whether it was given something of a hidden row.  Of a hidden row
every value begins with a minus, with "hidden", or with the bits 11,
which is so of no other row.

SPDX-License-Identifier: PostgreSQL
"""

# Marks in SQL, which fill() replaces: a type whose arrays are documents, and two that
# are nested at random.
NESTED = ('@words@', '@deep@', '@other@')
OWNER, READER = 'regress_simhash_owner', 'regress_simhash_reader'

# Indexes are made while these are what they seem to be.  Those that become
# volatile are called for each row; those that lie are called in planning too.
HARMLESS = """
CREATE FUNCTION near.same(plant text, v anyelement) RETURNS anyelement
    LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN v; END';
CREATE FUNCTION near.yes(plant text, v anyelement) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN true; END';
"""
SPIES = """
CREATE FUNCTION near.spy(plant text, seen text DEFAULT '') RETURNS void
    LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF current_user <> '%s' THEN
        RAISE WARNING USING ERRCODE = 'SPY00', MESSAGE = plant ||
            CASE WHEN seen ~ '^[("{]*(-|hidden|11[01]{62})' THEN '|hidden' ELSE '|' END;
    END IF;
END $$;
CREATE OR REPLACE FUNCTION near.same(plant text, v anyelement)
    RETURNS anyelement LANGUAGE plpgsql {volatility} AS
    'BEGIN PERFORM near.spy(plant, pg_catalog.format(''%%s'', v)); RETURN v; END';
CREATE OR REPLACE FUNCTION near.yes(plant text, v anyelement) RETURNS boolean
    LANGUAGE plpgsql {volatility} AS
    'BEGIN PERFORM near.spy(plant, pg_catalog.format(''%%s'', v)); RETURN true; END';
CREATE FUNCTION near.fire() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM near.spy(''trigger''); RETURN NEW; END';
CREATE TRIGGER fire BEFORE INSERT OR UPDATE ON near.clustered
    FOR EACH ROW EXECUTE FUNCTION near.fire();
GRANT USAGE ON SCHEMA near TO PUBLIC;
GRANT ALL ON ALL TABLES IN SCHEMA near TO PUBLIC;
""" % OWNER

COLUMNS = """id int, grp int, live boolean, body text, fp bigint,
    finger near.finger, print near.print, wide bit(256), ball ext.hamming_ball,
    fake near.fake, words @words@, deep @deep@, other @other@,
    mood near.mood DEFAULT near.same('default', 'well'::near.mood)"""
TABLES = """
CREATE DOMAIN near.finger AS bigint CHECK (near.yes('domain', VALUE));
CREATE DOMAIN near.print AS bit(64) CHECK (near.yes('domain', VALUE));
CREATE TYPE near.fake AS (fp bigint);
CREATE TYPE near.mood AS ENUM ('well', 'ill');
CREATE TABLE near.docs (%(columns)s,
    born bigint GENERATED ALWAYS AS (near.same('generated', fp)) STORED);
CREATE TABLE near.parts (LIKE near.docs INCLUDING ALL) PARTITION BY LIST (grp);
CREATE TABLE near.part_1 PARTITION OF near.parts FOR VALUES IN (1, 2);
CREATE TABLE near.part_2 PARTITION OF near.parts DEFAULT;
CREATE TABLE near.parent (LIKE near.docs INCLUDING ALL);
CREATE TABLE near.child (more text) INHERITS (near.parent);
CREATE TABLE near.apart (gone text[], kept text[]);
INSERT INTO near.apart VALUES ('{(0,1)}', '{(0,4)}'), ('{7}', '{4}');
CREATE TABLE near.guarded (LIKE near.docs INCLUDING ALL, marked text,
    PRIMARY KEY (id));
CREATE TABLE near.clustered (LIKE near.docs INCLUDING ALL);
CREATE INDEX ON near.clustered (near.same('clustered', fp))
    WHERE near.yes('clustered', body);
INSERT INTO near.docs
SELECT CASE WHEN n %% 3 = 0 THEN -n ELSE n END, nullif(n %% 7, 3), n %% 24 < 2,
    CASE WHEN n %% 3 = 0 THEN 'hidden ' ELSE 'shown ' END || md5((n / 4)::text),
    h, h, h::bit(64), (h::bit(64) || repeat(h::bit(64)::text, 3))::bit(256),
    ROW(h, 3)::ext.hamming_ball, ROW(h)::near.fake,
    CASE WHEN n %% 3 > 0 THEN @words value@ END, @deep value@, @other value@
FROM (SELECT n, CASE WHEN n %% 11 > 0 THEN
        CASE WHEN n %% 3 = 0 THEN -1 ELSE 0 END # (
            (hashint8extended(n / 4, 1) & 4611686018427387903)
            # (n %% 4)) END AS h
      FROM generate_series(1, 240) AS n) AS s;
""" % {'columns': COLUMNS}
FILL = """
INSERT INTO near.%s (id, grp, live, body, fp, finger, print, wide, ball, fake, words, deep, other)
SELECT id, grp, live, body, fp, finger, print, wide, ball, fake, words, deep, other FROM near.docs
"""
POLICIES = ['id > 0', "id > 0 AND near.yes('policy', id)", 'NOT id < 0']
TABLE_NAMES = ['docs', 'parts', 'parent', 'child', 'guarded']
RELATIONS = TABLE_NAMES + ['part_1', 'seen', 'kept', 'far', 'fars']

# Keys of indexes: an expression, and what a btree and a search want it to be.
KEYS = ['fp', 'finger', 'print', 'wide', 'ball', "near.same('key', fp)",
        "near.same('key', wide)", "near.same('key', print)",
        "near.same('key', ball)", "((near.same('key', fp) # 1))",
        "ext.simhash(near.same('key', body))"]
GROUPS = ['', '', 'grp, ', 'mood, ', 'body, ', "near.same('group', grp), "]
PREDICATES = ['', '', 'live', "live OR near.yes('predicate', id)",
              "live OR near.yes('predicate', body)",
              "grp = 1 OR near.yes('predicate', fp)",
              "fp IS NULL OR near.yes('predicate', wide)",
              "near.yes('predicate', 1)", "live AND near.yes('predicate', ball)"]
OTHERS = ["hash (near.same('hash', body))", "btree (near.same('btree', fp))",
          "gist (pg_catalog.int8range(near.same('gist', fp), NULL))",
          "brin (near.same('brin', id))", "btree (fp) INCLUDE (body)",
          "gin (pg_catalog.string_to_array(near.same('gin', body), ' '))"]
# The guard fills no fingerprint here: one of its own would look like that of a
# hidden row as often as not.
GUARDED = ['fp', 'wide', 'finger', 'print', 'born']
GUARDS = ["'{}', 'reject', '3'", "'{}', 'skip', '3', 'notice'",
          "'{}', 'mark', '3', 'mark=marked'",
          "'{}', 'skip', '3', 'within=grp'", "'{}', 'skip', '3', 'within=mood'",
          "'born', 'skip', '12', 'document=body', 'similarity=jaccard', 'at_least=0.5'",
          "'born', 'mark', '8', 'document=body', 'mark=marked', 'within=body'",
          "'born', 'skip', '12', 'document=words', 'similarity=jaccard', 'at_least=0.5'",
          "'born', 'skip', '12', 'within=deep', 'document=words', 'at_least=0.5'"]

# Types that a plant may be for, and what they may be taken for.
TYPES = ['near.docs', 'near.parts', 'near.far', 'near.finger', 'near.print',
         'near.fake', 'near.mood', 'bigint', 'bit', 'int', 'text', 'varchar',
         'name', 'oid', 'tid', 'regclass', 'numeric', 'ext.hamming_ball']
PLANTED = TYPES[:7]
TARGETS = ['text', 'varchar', 'name', 'json', 'jsonb', 'bigint', 'int',
           'smallint', 'numeric', 'float8', 'tid', 'oid', 'regclass', 'bytea',
           'boolean', 'text[]', 'bit', 'varbit', 'ext.hamming_ball', 'varchar[]',
           'bigint[]', 'name[]']
CORE_OPERATORS = ['=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '/', '^', '||',
                  '<<', '#', '&']
CORE_FUNCTIONS = [
    'round', 'floor', 'log', 'left', 'pg_column_size', 'replace', 'format',
    'json_build_object', 'pg_size_pretty', 'translate', 'set_config', 'concat',
    'current_setting', 'quote_ident', 'quote_literal', 'row_security_active',
    'length', 'substring', 'bit_count', 'count', 'max', 'sum', 'row_to_json']
CORE_TYPES = ['text', 'json', 'tid', 'int8', 'int4', 'float8', 'oid', 'name',
              'regclass', 'bit', 'varbit', 'bool']
# A value that is nearer to a literal, or to an array, than the declared one.
NEARER = {'text': ['varchar', 'name', 'near.mood'], 'bigint': ['int', 'near.finger'],
          'regclass': ['text', 'oid'], 'bit': ['near.print', 'varbit'],
          'text[]': ['varchar[]', 'VARIADIC text[]'], 'tid': ['text'],
          'anyelement': ['text', 'bigint', 'tid', 'near.fake'],
          'integer': ['bigint', 'smallint'], 'name': ['text'],
          'ext.hamming_ball': ['text', 'near.docs'], 'bigint[]': ['int[]']}


def spying(name, arguments, result='text'):
    """A function that tells of itself, and returns nothing."""
    return ("CREATE FUNCTION %s(%s) RETURNS %s LANGUAGE plpgsql AS $$BEGIN "
            "PERFORM near.spy('%s'); RETURN NULL; END$$" % (
                name, arguments, result, name.replace("'", '')))


class Plants:
    """What is planted in a round; the same for the same numbers drawn."""

    def __init__(self, rng, functions, operators):
        self.rng = rng
        self.functions = functions
        self.operators = operators
        self.number = 0
        self.nests = []             # commands that make the nested types
        self.nested = []            # these, and what they are made of
        self.marks = {}
        for mark in NESTED:
            self.nest(mark)

    def nest(self, mark):
        """Three types, each made of the one before; the column's is the last."""
        if mark == '@words@':
            kind, value = self.rng.choice(['text', 'varchar']), 'hidden'
            makers = self.rng.choice([['domain', 'array', 'domain'],
                                      ['domain', 'array'], ['domain', 'domain', 'array']])
        else:
            kind, value = self.rng.choice([
                ('text', 'hidden'), ('bigint', '-1'), ('varchar', 'hidden'),
                ('name', 'hidden'), ('bit(64)', '11' * 32)])
            makers = self.some(3, ['domain', 'array', 'composite', 'range', 'multirange'])
        for maker in makers:
            name = 'near.nest_%d' % (len(self.nests) + 1)
            quoted = '"%s"' % value.replace('\\', r'\\').replace('"', r'\"')
            if maker == 'array' and not kind.endswith(']'):
                kind, value = kind + '[]', '{%s}' % quoted
            elif maker in ('array', 'domain'):
                self.nests.append('CREATE DOMAIN %s AS %s' % (name, kind))
                kind = name
            elif maker == 'composite':
                self.nests.append('CREATE TYPE %s AS (a %s, b int)' % (name, kind))
                kind, value = name, '(%s,1)' % quoted
            else:
                self.nests.append('CREATE TYPE %s AS RANGE (subtype = %s, '
                                  'multirange_type_name = %s_m)' % (name, kind, name))
                kind, value = name, '[%s,%s]' % (quoted, quoted)
                if maker == 'multirange':
                    kind, value = name + '_m', '{%s}' % value
            self.nested += [kind] if kind.endswith(']') else [kind, kind + '[]']
        self.marks[mark] = kind
        self.marks[mark[:-1] + ' value@'] = "'%s'::%s" % (value, kind)

    def fill(self, sql):
        """SQL with the nested types of this round."""
        for mark, text in self.marks.items():
            sql = sql.replace(mark, text)
        return sql

    def some(self, n, of):
        return [self.rng.choice(of) for _ in range(n)]

    def indexes(self):
        """Pairs: a hamming index, and a btree in its place."""
        for table in self.some(14, TABLE_NAMES[:4]):
            group = self.rng.choice(GROUPS)
            key = self.rng.choice(KEYS)
            where = self.rng.choice(PREDICATES)
            yield tuple('CREATE INDEX ON near.%s USING %s (%s%s)%s' % (
                table, method, group, key, where and ' WHERE ' + where)
                for method in ('hamming', 'btree'))
        for key in GUARDED:
            for group, where in (('', ''), (self.rng.choice(GROUPS),
                                            self.rng.choice(PREDICATES))):
                yield tuple('CREATE INDEX ON near.guarded USING %s (%s%s)%s' % (
                    method, group, key, where and ' WHERE ' + where)
                    for method in ('hamming', 'btree'))

    def others(self):
        for table in TABLE_NAMES:
            for what in self.some(2, OTHERS):
                # the core checks the predicate again of what these find
                where = '' if what[:3] in ('gin', 'bri') else (
                    self.rng.choice(PREDICATES))
                yield 'CREATE INDEX ON near.%s USING %s%s' % (
                    table, what, where and ' WHERE ' + where)
        yield "CREATE STATISTICS near.stat ON (near.same('statistics', fp)), grp FROM near.docs"
        yield ("CREATE RULE also AS ON DELETE TO near.child DO ALSO "
               "SELECT near.same('rule', OLD.fp)")

    def derived(self):
        """Views and what is like them, and policies."""
        yield ("CREATE VIEW near.seen AS SELECT id, grp, live, body, fp, finger,"
               " print, wide, ball, fake, mood, near.same('view', born) AS born"
               " FROM near.docs")
        yield 'CREATE MATERIALIZED VIEW near.kept AS TABLE near.docs'
        for table in TABLE_NAMES + ['part_1', 'part_2', 'clustered']:
            yield 'ALTER TABLE near.%s ENABLE ROW LEVEL SECURITY' % table
            yield 'CREATE POLICY shown ON near.%s USING (%s)' % (
                table, self.rng.choice(POLICIES))

    def foreign(self):
        for name in ('far', 'fars'):
            yield ('CREATE FOREIGN TABLE near.%s (%s, born bigint) SERVER loop'
                   " OPTIONS (schema_name 'near', table_name '%s')" % (
                       name, COLUMNS, {'far': 'docs', 'fars': 'parts'}[name]))

    def casts(self):
        for source in PLANTED + self.nested:
            for target in TARGETS:
                if self.rng.random() < 0.5:
                    continue
                self.number += 1
                name = 'near.cast_%d' % self.number
                yield spying(name, source, target).replace(
                    "spy('%s" % name, "spy('cast %s %s" % (source, target))
                yield 'CREATE CAST (%s AS %s) WITH FUNCTION %s %s' % (
                    source, target, name,
                    self.rng.choice(['AS IMPLICIT', 'AS ASSIGNMENT', '']))
                if self.rng.random() < 0.1:
                    yield 'DROP CAST (%s AS %s)' % (source, target)
                    yield 'CREATE CAST (%s AS %s) WITH INOUT' % (source, target)

    def operators_(self):
        """Operators of the extension's names beside it, for every pair of
        types, some elsewhere, and some of the core's names."""
        for name in self.operators:
            for left in ('near.finger', 'near.print', 'near.fake', 'bigint',
                         'bit'):
                for right in ('bigint', 'bit', 'near.finger', 'near.print',
                              'int', 'text', 'record', 'ext.hamming_ball'):
                    if left.startswith('near') or self.rng.random() < 0.5:
                        yield from self.operator('ext', name, left, right)
                    if self.rng.random() < 0.1:
                        yield from self.operator(
                            self.rng.choice(['near', 'public']), name, left,
                            right)
        for _ in range(150):
            yield from self.operator(
                self.rng.choice(['ext', 'near', 'public']),
                self.rng.choice(CORE_OPERATORS), self.rng.choice(TYPES + self.nested),
                self.rng.choice(TYPES + self.nested))

    def operator(self, schema, name, left, right):
        self.number += 1
        function = '%s.op_%d' % (schema, self.number)
        yield spying(function, '%s, %s' % (left, right),
                     'int' if name.startswith('<~') else 'boolean').replace(
            "spy('%s" % function, "spy('operator %s %s %s" % (left, name, right))
        yield 'CREATE OPERATOR %s.%s (FUNCTION = %s, LEFTARG = %s, RIGHTARG = %s)' % (
            schema, name, function, left, right)

    def overloads(self):
        """Functions that fit as well as the extension's, or better."""
        for name, types in self.functions:
            if types and self.rng.random() < 0.6:
                i = self.rng.randrange(len(types))
                nearer = self.rng.choice(NEARER.get(types[i], ['near.docs']) + self.nested[:4])
                if nearer.startswith('VARIADIC'):
                    types = types[:i]
                else:
                    types = types[:i] + types[i + 1:]
                types = types[:i] + [nearer] + types[i:]
                yield spying('%s.%s' % (self.rng.choice(['ext', 'public']), name),
                             ', '.join(types), 'SETOF text').replace(
                    'RETURN NULL', 'RETURN')
        for name in CORE_FUNCTIONS:
            yield spying('%s.%s' % (self.rng.choice(['ext', 'near', 'public']), name),
                         ', '.join(self.some(self.rng.choice([1, 1, 2, 3]), TYPES + self.nested)))

    def types(self):
        for name in self.rng.sample(CORE_TYPES, 6):
            yield ("CREATE DOMAIN %s.%s AS pg_catalog.%s "
                   "CHECK (near.yes('type %s', 1))" % (
                       self.rng.choice(['ext', 'near']), name, name, name))
