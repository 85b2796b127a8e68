#!/usr/bin/env python3
"""
Have the owner of tables plant whatever he may, and look at who runs it.

The law.  Nothing that an owner has planted runs with the rights of whoever
uses his tables, unless the same would happen without the extension; and none
of it, nor a function of the user's own that is not leakproof, is given a value
of a row that a policy hides.

The method.  Two databases have the same tables, with the same plants
(generator_owners.py), chosen at random.  In one of them the tables have
hamming indexes, key columns and a guard; in the other, the referee, btrees of
the same expressions and predicates.  A superuser, and a role that policies
apply to, use the tables: by SELECT with each operator, by every plan, by INSERT,
UPDATE and DELETE, and by a call of each function that the extension has
according to the catalogue.  The superuser calls the procedures, too, for which
nothing at all may run but as the owner.  A spy tells its name by a warning.
What it tells in the first database and not in the second, where the same query
is asked, or for a call the plain SELECT of what the call names, is a fault.

At the end of each round the owner, who owns the extension's schema too, puts
another in its place while a call waits in the middle of its work.

In the suite the rounds are always the same four; SIMHASH_SECONDS and SIMHASH_SEED
are as for check_generator.py, SIMHASH_FAULTS is how many different faults to
show (20).

SPDX-License-Identifier: PostgreSQL
"""

import collections
import os
import random
import re
import sys
import time

sys.dont_write_bytecode = True
os.environ.setdefault('SIMHASH_SECONDS', '0')
from psycopg import pq

from check_generator import INTERNAL, Session
from generator_owners import (
    FILL, GUARDED, GUARDS, HARMLESS, OWNER, READER, RELATIONS, SPIES, TABLES,
    TABLE_NAMES, Plants, spying)

ROUNDS = 4
SECONDS = float(os.environ['SIMHASH_SECONDS'])
STEPS = 100 if SECONDS else 25
SEED = int(os.environ.get('SIMHASH_SEED', random.randrange(1, 1 << 30)
                          if SECONDS else 1))
FAULTS = int(os.environ.get('SIMHASH_FAULTS', 20))
OURS, PLAIN = 'owners_ours', 'owners_plain'

# The functions that SQL can call.
FUNCTIONS = """
SELECT proname, prokind, proretset, format_type(prorettype, NULL),
    array_to_string(ARRAY(SELECT format_type(t, NULL)
                          FROM unnest(proargtypes) AS t), '|'),
    coalesce(array_to_string(proargnames[:pronargs], '|', ''), ''),
    coalesce((SELECT string_agg(coalesce(
        pg_get_function_arg_default(p.oid, i::int), ''), '|' ORDER BY i)
        FROM generate_series(1, pronargs) AS i), ''),
    pg_get_function_arguments(p.oid), pg_get_function_result(p.oid)
FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid
    AND d.classid = 'pg_proc'::regclass AND deptype = 'e'
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
    AND NOT 'internal'::regtype = ANY (proargtypes)
    AND prokind <> 'p'
    AND prorettype NOT IN ('index_am_handler'::regtype, 'trigger'::regtype)
ORDER BY p.oid::regprocedure::text
"""
OPERATORS = """
SELECT oprname, format_type(oprleft, NULL), format_type(oprright, NULL)
FROM pg_operator AS o JOIN pg_depend AS d ON d.objid = o.oid
    AND d.classid = 'pg_operator'::regclass AND deptype = 'e'
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
ORDER BY o.oid::regoperator::text
"""
FOREIGN = "SELECT FROM pg_available_extensions WHERE name = 'postgres_fdw'"
Function = collections.namedtuple(
    'Function', 'name kind set type types names defaults head result')

# Columns, and constants, of each type that an operator or a function takes.
VALUES = {
    'bigint': ['t.fp', 't.fp', 't.born', "near.same('key', t.fp)"],
    'bit': ['t.wide', 't.wide', "near.same('key', t.wide)"],
    'bit varying': ['t.wide::bit varying'],
    'ext.hamming_ball': ['t.ball', 'ROW(t.fp, 3)::ext.hamming_ball'],
    'ext.hamming_bit_ball': ['ROW(t.wide, 3)::ext.hamming_bit_ball'],
    'text': ['t.body'],
    'text[]': ["pg_catalog.string_to_array(t.body, ' ')"],
    'tsvector': ["pg_catalog.to_tsvector('simple', t.body)"],
    'bigint[]': ['ARRAY[t.fp]'],
    'integer': ['0'],
    'interval': ["'1 day'::pg_catalog.interval"],
    'boolean': ['true'],
    'real[]': ["'{0.1,0.2,0.4,1}'::real[]"],
    'double precision': ['0.5::double precision'],
    'numeric': ['1::pg_catalog.numeric'],
    'double precision[]': ['NULL::double precision[]'],
    'cstring': ["'x'::pg_catalog.cstring"],
    'name': ["'fp'::pg_catalog.name"],
    'regclass': ['NULL::pg_catalog.regclass'],
    'anyelement': ['NULL::bigint', 'NULL::near.fake'],
    'record': ["ROW('kind'::pg_catalog.text, t.fp)"],
    'ext.simhash_idf': [
        "ext.simhash_idf_from('{a}'::pg_catalog.text[],"
        " '{1}'::double precision[], NULL::pg_catalog.text)"]}
CONSTANTS = {
    'bigint': ['0::bigint', '(SELECT fp FROM near.part_1 ORDER BY id LIMIT 1)',
               '-1::bigint'],
    'bit': ['0::bit(256)', '(SELECT wide FROM near.part_1 ORDER BY id LIMIT 1)'],
    'ext.hamming_ball': ['ext.hamming_ball(0::bigint, 8::bigint)',
                         '(0::bigint, 64::bigint)::ext.hamming_ball'],
    'ext.hamming_bit_ball': ['ext.hamming_bit_ball(0::bit(256), 100::bigint)']}
DISTANCES = {'<~>': 'bigint', '<~~>': 'bit'}
CONDITIONS = [
    '', '', ' AND t.live', ' AND t.live', ' AND t.grp = 1',
    ' AND t.grp IS NULL', ' AND t.fp IS NULL', " AND t.body > ''",
    " AND t.mood OPERATOR(pg_catalog.=) 'well'::near.mood",
    ' AND public.leak(t.body)', ' AND public.leak(t.fp)',
    ' AND t.live AND public.leak(t.wide)']
SWITCHES = ['enable_seqscan', 'enable_seqscan', 'enable_indexscan',
            'enable_bitmapscan', 'enable_sort', 'enable_material',
            'enable_hashjoin', 'enable_mergejoin', 'enable_nestloop',
            'enable_indexonlyscan', 'enable_memoize']
SPY = 'SPY00'

# The owner has clusters kept; a superuser changes that.
CLUSTERED = "CALL ext.simhash_add_clusters('near.clustered', 'fp', 3, '%s'%s)"
PROCEDURES = [
    "CALL ext.simhash_split_clusters('near.clustered')",
    "CALL ext.simhash_drop_clusters('near.clustered')",
    CLUSTERED % ('star', ", since => 'since', within => '{mood}', document => "
                 "'body', similarity => 'jaccard', at_least => 0.5"),
    "CALL ext.simhash_mend_clusters('near.clustered')",
    "CALL ext.simhash_trim_clusters('near.clustered')",
    "CALL ext.simhash_drop_clusters('near.clustered')",
    CLUSTERED % ('star', ", within => '{deep}', document => 'words', "
                 "similarity => 'jaccard', at_least => 0.5"),
    "CALL ext.simhash_drop_clusters('near.clustered')",
    CLUSTERED % ('connected', '')]


class Watched(Session):
    """A session that hears the spies."""

    def __init__(self, database):
        self.heard = set()
        super().__init__(database)
        self.conn.notice_handler = self.hear
        self.settle()

    def settle(self):
        self.must('RESET ALL; SET jit = off; '
                  'SET client_min_messages = warning; SET search_path = '
                  "pg_catalog; SET statement_timeout = '20s'; "
                  'SET log_min_messages = error')

    def hear(self, result):
        if result.error_field(pq.DiagnosticField.SQLSTATE) == SPY.encode():
            self.heard.add(result.error_field(
                pq.DiagnosticField.MESSAGE_PRIMARY).decode())

    def attempt(self, role, settings, sqls):
        """What the spies say of statements, each of which may fail; the last
        one's answer."""
        self.heard.clear()
        self.must('BEGIN')
        for sql in settings:
            self.must(sql)
        if role != 'postgres':
            self.must('SET LOCAL ROLE ' + role)
        for sql in sqls:
            self.must('SAVEPOINT s')
            answer = self.ask(sql)
            if answer.state:
                self.must('ROLLBACK TO s')
        self.must('ROLLBACK; DEALLOCATE ALL')
        return set(self.heard), answer

    def apart(self, settings, sql):
        """The same of a superuser's statement that ends transactions."""
        self.heard.clear()
        for setting in settings:
            self.must(setting.replace('SET LOCAL', 'SET'))
        answer = self.ask(sql)
        self.settle()
        return set(self.heard), answer


# --- what is there ----------------------------------------------------------


def strings(rows):
    return [[value.decode() for value in row] for row in rows]


def prepare(name):
    """A database where the owner has places to plant in."""
    admin = Session('postgres')
    admin.must('DROP DATABASE IF EXISTS %s WITH (FORCE)' % name)
    admin.must('CREATE DATABASE ' + name)
    admin.conn.finish()
    session = Watched(name)
    session.must(
        'CREATE SCHEMA ext AUTHORIZATION {0}; CREATE SCHEMA near AUTHORIZATION'
        ' {0}; GRANT USAGE ON SCHEMA ext TO PUBLIC; GRANT ALL ON SCHEMA public'
        ' TO PUBLIC; GRANT CREATE ON DATABASE {1} TO {0}; '
        'CREATE EXTENSION simhash SCHEMA ext'.format(OWNER, name))
    session.must(
        'CREATE FUNCTION public.wait(bigint) RETURNS bigint LANGUAGE plpgsql '
        "AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN $1; END';"
        'CREATE FUNCTION public.pass() RETURNS trigger LANGUAGE plpgsql AS '
        "'BEGIN RETURN NEW; END'")
    if session.must(FOREIGN):
        session.must(
            'CREATE EXTENSION postgres_fdw; CREATE SERVER loop FOREIGN DATA '
            "WRAPPER postgres_fdw OPTIONS (host '%s', port '%s', dbname '%s');"
            'GRANT USAGE ON FOREIGN SERVER loop TO PUBLIC; CREATE USER MAPPING'
            " FOR PUBLIC SERVER loop OPTIONS (user '%s', password_required "
            "'false')" % (os.environ['PGHOST'], os.environ['PGPORT'], name,
                          OWNER))
    return session


def catalogue(session):
    """The functions and the operators of the extension."""
    functions = [
        Function(name, kind, retset == 't', type_, split(types), split(names),
                 defaults.split('|'), head, result)
        for name, kind, retset, type_, types, names, defaults, head, result
        in strings(session.must(FUNCTIONS))]
    return functions, [tuple(row) for row in strings(session.must(OPERATORS))]


def split(text):
    return text.split('|') if text else []


def plant(sessions, rng, plants):
    """Make the tables and what is planted, the same in both databases but for
    what the extension adds.  What cannot be made, an index of expressions of no
    known width or the like, is left out."""
    pairs = list(plants.indexes())
    both = [HARMLESS] + plants.nests + [TABLES] + [FILL % name for name in (
        'parts', 'parent', 'child', 'guarded', 'clustered')] + list(
            plants.others()) + list(plants.derived())
    later = [SPIES.replace('{volatility}', rng.choice([
        'VOLATILE', 'VOLATILE', 'IMMUTABLE']))] + [sql for some in (
        plants.casts, plants.operators_, plants.overloads, plants.types)
        for sql in some()]
    foreign = list(plants.foreign())
    keys = rng.choice(['fp', 'finger', 'born', 'print'])
    trigger = rng.choice(GUARDS).format(rng.choice(GUARDED))
    for which, session in enumerate(sessions):
        session.must('SET SESSION AUTHORIZATION ' + OWNER)
        for sql in both:
            session.must(plants.fill(sql))
        indexes = [pair[which] for pair in pairs] + foreign
        if which == 0:
            indexes += [
                "SELECT ext.simhash_add_keys('near.parent', '%s')" % keys,
                'CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON near.guarded '
                'FOR EACH ROW EXECUTE FUNCTION ext.simhash_guard(%s)' % trigger,
                'CREATE INDEX ON near.clustered USING hamming (fp)',
                CLUSTERED % ('connected', '')]
        else:
            indexes.append('CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON '
                           'near.guarded FOR EACH ROW EXECUTE FUNCTION '
                           'public.pass()')
        for sql in indexes:
            session.ask(plants.fill(sql))
        session.must('ANALYZE near.docs, near.parts, near.parent')
        for sql in later:
            session.ask(sql)
        session.must('RESET SESSION AUTHORIZATION; SET ROLE ' + READER)
        session.must(
            'CREATE FUNCTION public.leak(v anyelement) RETURNS boolean '
            "COST 0.001 LANGUAGE plpgsql AS 'BEGIN PERFORM near.spy(''own'', "
            "pg_catalog.format(''%s'', v)); RETURN true; END'")
        session.must('RESET ROLE')


# --- what is asked ----------------------------------------------------------

# Ids of a query, by the end of the name of the function, or by their type.
IDS = {'ctid': ['t.ctid'], 'text': ['t.body'],
       'as': [('t.id', 'integer'), ('t.fake', 'near.fake'), ('t', 'near.docs'),
              ('t.body', 'text'), ('t.ctid', 'tid'), ('t.mood', 'near.mood'),
              ('t.finger', 'near.finger'), ('t.deep', '@deep@'), ('t.words', '@words@')]}
GROUPED = ['', '', '', ', t.grp', ', t.mood, t.body']
EXPRESSIONS = ['fp', 'finger', 'print', 'born', 'wide', 'print::bit(32)',
               "near.same('key', fp)"]
NO_FINGERPRINTS = ['fake', 'mood', 't', 'body', 'deep']
TEXTS = {'kind': ['star', 'connected'], 'keep': ['first', 'lowest'],
         'within': ['{}'] * 6 + ['{grp}', '{mood}', '{body,grp}', '{fake}', '{deep}',
                                 '{words,other}'],
         'family': ['simhash', 'minhash'], 'measure': ['jaccard', 'cosine'],
         'columns': ['{k0,k1,k2,k3}'], 'unknown': [None],
         'profile': ['word-2', None, None],
         'document': ['body', 'body', 'pg_catalog.lower(t.body)', 'mood', 'words', 'words',
                      'words', 'words::@words@', 'deep', 'print', None, None, None],
         'similarity': ['jaccard', 'cosine', 'none', 'alike', 'containment',
                        'hamming', None, None]}
NUMBERS = {'k': [0, 3, 3], 'bits': [128], 'sample': [20], 'most': [3],
           'top_k': [5], 'words': [4, 25], 'min_length': [2], 'min_words': [1, 8],
         'at_least': [0, 0.2, 0.8, None], 'at_most': [None] * 6 + [3]}


def literal(value, type_):
    """A value of that very type, whatever the search_path has of its name."""
    if type_.split('[')[0] in ('text', 'name', 'regclass', 'oid', 'tid'):
        type_ = 'pg_catalog.' + type_
    if value is None:
        return 'NULL::' + type_
    return "'%s'::%s" % (str(value).replace("'", "''"), type_)


def known(type_):
    """What a column of that type may be."""
    if type_ not in VALUES:
        sys.exit('VALUES has none of type %s, which a function takes' % type_)
    return VALUES[type_]


class First:
    """Draws nothing."""

    choice = staticmethod(lambda of: of[0])
    random = staticmethod(lambda: 0)


def query(rng, function, relation, expression, id_):
    """What a function may take for its query."""
    source = '(%s)%s FROM near.%s AS t%s' % (
        expression, rng.choice(GROUPED), relation,
        rng.choice(['', ' WHERE t.live', ' ORDER BY t.id']))
    if 'tune' in function.name:
        return 'SELECT t.body FROM near.%s AS t' % relation
    if 'components' in function.name:
        return 'SELECT t.id, (t.id) FROM near.%s AS t' % relation
    if not function.name.endswith('_as'):
        id_ = IDS.get(function.name.split('_')[-1], ['t.id'])[0]
    if rng.random() < 0.5:
        source = source.replace(' FROM', rng.choice([', t.body FROM', ', t.words FROM']), 1)
    return 'SELECT %s, %s' % (id_, source)


def call(rng, function, relation, expression, indexes):
    """A call of a function that takes a relation, or a query, and the plain
    queries of what it names."""
    arguments, names = [], ['SELECT * FROM near.' + relation]
    id_, id_type = rng.choice(IDS['as'])
    for type_, name, default in zip(function.types, function.names,
                                    function.defaults):
        if name == 'keep' and 'relation' in function.names:
            value = literal(rng.choice(['t.id', 't.id', 't.deep', 't.words DESC']), type_)
        elif name == 'relation' and 'load' not in function.name:  # that INSERTs
            value = literal('near.' + relation, type_)
        elif name == 'apart':
            value = literal(rng.choice([None, 'near.apart']), type_)
        elif name == 'index':
            fit = [i for i in indexes if ('bit' in function.name) == (
                'wide' in i or 'print' in i)]
            value = literal(rng.choice(fit or indexes), type_)
        elif name == 'query':
            sql = query(rng, function, relation, expression, id_)
            names.append(sql)
            value = literal(sql, type_)
        elif type_ == 'anyelement':
            value = literal('NULL', id_type).replace("'", '')
            names.append('SELECT ' + value)
        elif name == 'fingerprint':
            names.append('SELECT %s FROM near.%s AS t' % (expression, relation))
            value = literal(expression, type_)
        elif name in TEXTS and type_ != 'real[]':
            value = literal(rng.choice(TEXTS[name]), type_)
        elif name in NUMBERS:
            value = literal(rng.choice(NUMBERS[name]), type_)
        elif default and rng.random() < 0.8:
            value = literal(None if default.startswith('NULL') else
                            default.split('::')[0].strip("'"), type_)
        else:
            value = (CONSTANTS.get(type_) or known(type_))[0]
        arguments.append(value)
    sql = 'ext.%s(%s)' % (function.name, ', '.join(arguments))
    if function.set:
        return 'SELECT count(*) FROM %s AS r' % sql, names
    return 'SELECT ' + sql, names


def value_call(rng, function):
    """A query with a call of a function that takes values."""
    relation = rng.choice(RELATIONS[:7])
    arguments = []
    for i, (type_, name) in enumerate(zip(
            function.types, function.names or [''] * len(function.types))):
        values = known(type_)
        if name in NUMBERS or i and name in ('radius', 'distance'):
            values = [literal(v, type_) for v in NUMBERS.get(name, [8])]
        elif i and name in TEXTS and type_ == 'text':
            values = [literal(v, type_) for v in TEXTS[name]]
        elif i and type_ in CONSTANTS and rng.random() < 0.7:
            values = CONSTANTS[type_]
        arguments.append(rng.choice(values))
    sql = 'ext.%s(%s)' % (function.name, ', '.join(arguments))
    source = 'near.%s AS t' % relation
    where = ' WHERE true' + rng.choice(CONDITIONS)
    if function.set:
        return 'SELECT count(*) FROM %s, LATERAL %s AS r%s' % (
            source, sql, where)
    if function.kind == 'a':
        return 'SELECT %s FROM %s%s' % (sql, source, where)
    if function.type == 'boolean':
        where += ' AND ' + sql
    elif function.type in ('integer', 'bigint', 'double precision'):
        where += ' AND %s %s' % (sql, rng.choice(['< 8', '<= 0', 'IS NULL']))
    return 'SELECT %s FROM %s%s' % (rng.choice(['t.id', 't.id', sql]), source,
                                    where)


def condition(rng, operator, other=None):
    """A condition by an operator, of a column and of a constant or a column."""
    name, left, right = operator
    swap = right in VALUES and left.startswith('ext.') and rng.random() < 0.8
    column = rng.choice(VALUES[right if swap else left])
    far = left if swap else right
    constant = rng.choice(CONSTANTS[far])
    if other:
        constant = re.sub(r'\bt\.', other + '.', rng.choice(VALUES[far]))
    sides = (constant, column) if swap else (column, constant)
    if not other and not swap and rng.random() < 0.1:
        sides = column, 'ANY (ARRAY[%s, %s])' % (constant, constant)
    sql = '%s OPERATOR(ext.%s) %s' % (sides[0], name, sides[1])
    if name in DISTANCES:
        sql = '(%s) %s' % (sql, rng.choice(['< 8', '<= 3', '= 0']))
    return sql


def search(rng, operators):
    """Statements with an operator somewhere."""
    operator = rng.choice(operators)
    relation, extra = rng.choice(RELATIONS[:8]), rng.choice(CONDITIONS)
    source = 'near.%s AS t' % relation
    here = condition(rng, operator) + extra
    form = rng.randrange(10)
    if form < 3:
        sql = 'SELECT t.id FROM %s WHERE %s' % (source, here)
    elif form < 6:
        name = rng.choice(sorted(DISTANCES))
        type_ = DISTANCES[name]
        sql = ('SELECT t.id FROM %s WHERE true%s ORDER BY %s OPERATOR(ext.%s) '
               '%s LIMIT %d' % (
                   source, rng.choice([extra, ' AND t.live', ' AND ' + here]),
                   rng.choice(VALUES[type_]), name,
                   rng.choice(CONSTANTS[type_]), rng.choice([2, 30, 1000])))
    elif form == 6:
        sql = ('SELECT count(*) FROM near.%s AS u %s JOIN %s ON %s%s '
               'WHERE u.id BETWEEN 1 AND 12') % (
            rng.choice(RELATIONS[:4]), rng.choice(['', 'LEFT']), source,
            condition(rng, operator, 'u'), extra)
    elif form == 7:
        sql = ('SELECT u.id, n.id FROM near.part_1 AS u, LATERAL (SELECT t.id '
               'FROM %s WHERE t.grp = u.grp%s ORDER BY t.fp '
               'OPERATOR(ext.<~>) u.fp LIMIT 3) AS n' % (source, extra))
    elif form == 8:
        return [rng.choice(['DELETE FROM %s', 'UPDATE %s SET grp = 9']) % source
                + ' WHERE ' + here]
    else:
        sql = ('SELECT u.id FROM near.part_1 AS u WHERE %s (SELECT FROM %s WHERE '
               '%s%s)' % (rng.choice(['EXISTS', 'NOT EXISTS']), source,
                          condition(rng, operator, 'u'), extra))
    way = rng.randrange(8)
    if way == 0:
        return ['PREPARE p AS ' + sql] + ['EXECUTE p'] * 2
    if way == 1:
        return ['DECLARE c SCROLL CURSOR FOR ' + sql, 'FETCH 3 FROM c',
                'FETCH ALL FROM c', 'FETCH BACKWARD 2 FROM c']
    if way == 2:
        return ['EXPLAIN (ANALYZE, VERBOSE) ' + sql]
    return [sql]


INSERTED = ('id, grp, live, body, fp, finger, print, wide, ball, fake, words, '
            'deep, other')


def change(rng):
    """Statements that come upon a guard, or make something of a table."""
    table = rng.choice(TABLE_NAMES)
    return rng.choice([
        ['INSERT INTO near.guarded (%s) SELECT 1000 + %s FROM near.docs AS t '
         'WHERE id > 0%s ORDER BY t.id LIMIT %d%s' % (
             INSERTED, INSERTED, rng.choice(CONDITIONS[:6]),
             rng.choice([1, 5]), rng.choice(['', ' ON CONFLICT DO NOTHING']))],
        ["INSERT INTO near.guarded (id, fp, wide, finger, print, body) VALUES "
         "(5000, %d, 3::bit(256), 77, 5::bit(64), 'shown')" % rng.randrange(99)],
        ["UPDATE near.guarded SET fp = fp # 1, wide = wide # 1::bit(256), body = 'shown'"],
        ['REINDEX TABLE near.' + table], ['ANALYZE near.' + table],
        ['CREATE INDEX ON near.%s USING hamming (fp) WHERE live OR '
         "near.yes('predicate', id)" % table,
         'SELECT id FROM near.%s AS t WHERE live ORDER BY fp '
         'OPERATOR(ext.<~>) 0 LIMIT 50' % table],
        ['CREATE INDEX ON near.%s USING hamming (mood, fp)' % table,
         "DELETE FROM near.%s WHERE mood = 'well' AND fp OPERATOR(ext.~=) 0"
         % table]])


def settings(rng):
    """Of the planner, most of all; and which names come first."""
    kinds = ["SET LOCAL %s = off" % name for name in rng.sample(
        SWITCHES, rng.randrange(5))]
    if rng.random() < 0.6:
        kinds += ['SET LOCAL enable_seqscan = off', 'SET LOCAL enable_sort = off']
    if rng.random() < 0.2:
        kinds += ['SET LOCAL plan_cache_mode = force_generic_plan']
    if rng.random() < 0.2:
        kinds += ['SET LOCAL client_min_messages = debug2']
    if rng.random() < 0.2:
        kinds += ['SET LOCAL %s = 0' % name for name in (
            'parallel_setup_cost', 'parallel_tuple_cost',
            'min_parallel_table_scan_size', 'min_parallel_index_scan_size')]
    if rng.random() < 0.3:
        kinds.append('SET LOCAL search_path = ' + rng.choice([
            'near, ext, public', 'near, ext, public, pg_catalog']))
    return kinds


# --- the law ----------------------------------------------------------------


class Trial:
    """What has been seen in all rounds."""

    def __init__(self):
        self.faults = set()
        self.counts = collections.Counter()
        self.states = collections.Counter()
        self.called = collections.Counter()
        self.answered = collections.Counter()

    def judge(self, kind, role, said, sqls, heard, lawful):
        """Note a fault, if the spies say more than they might."""
        if role == 'postgres':          # nothing is hidden from a superuser
            heard, lawful = ({name.split('|')[0] for name in names}
                             for names in (heard, lawful))
        for name in heard - lawful:
            key = kind, name.split()[0]
            if key not in self.faults:
                self.faults.add(key)
                print('--- %s: "%s" runs as %s\n%s' % (
                    kind, name, role, ';\n'.join(said + sqls)), flush=True)

    def answer(self, kind, answer):
        self.counts[kind, bool(answer.state)] += 1
        if answer.state:
            self.states[kind, re.sub('".*?"', '...',
                                     answer.message.split('\n')[0])] += 1
        if answer.state in INTERNAL:
            print('--- %s' % answer.message)
            self.faults.add((kind, answer.message))


class Round:
    """Two databases, and questions to them."""

    def __init__(self, trial, seed):
        self.trial = trial
        self.rng = random.Random(seed)
        self.ours, self.plain = prepare(OURS), prepare(PLAIN)
        self.functions, operators = catalogue(self.ours)
        self.operators = [o for o in operators if o[1] in VALUES
                          and o[2] in VALUES and o[2] != 'ext.simhash_idf']
        self.plants = Plants(self.rng, [(f.name, f.types) for f in self.functions],
                             sorted({name for name, _, _ in operators}))
        plant((self.ours, self.plain), self.rng, self.plants)
        self.indexes = [row[0] for row in strings(self.ours.must(
            "SELECT indexrelid::regclass::text FROM pg_index "
            "JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS a "
            "ON a.oid = relam WHERE relkind = 'i' AND amname = 'hamming' OR "
            "relname = 'docs_fp_idx' ORDER BY 1"))]
        # the referee takes none of our paths
        self.without = ["SET LOCAL %s = off" % row[0] for row in strings(
            self.plain.must("LOAD 'simhash'; SELECT name FROM pg_settings "
                            "WHERE name LIKE 'simhash.enable%'"))]

    def role(self):
        return self.rng.choice(['postgres', READER])

    def compare(self, kind, sqls):
        """Ask both the same."""
        role, said = self.role(), settings(self.rng)
        heard, answer = self.ours.attempt(role, said, sqls)
        self.trial.answer(kind, answer)
        if heard:
            lawful, _ = self.plain.attempt(role, said + self.without, [
                'SELECT * FROM ' + name for name in re.findall(
                    r'\bnear\.(?:%s)\b' % '|'.join(RELATIONS), ' '.join(sqls))
            ] + [sql.replace('USING hamming', 'USING btree') for sql in sqls])
            # what the query names itself, as far as nothing is hidden: nothing is
            # in a view, which reads as its owner, nor in what was kept of it
            shown = re.search(r'\bnear\.(?:seen|kept)\b', ' '.join(sqls))
            lawful |= {name for name in heard if (shown or name.endswith('|'))
                       and "'%s'" % name.split('|')[0] in ' '.join(sqls)}
            self.trial.judge(kind, role, said, sqls, heard, lawful)
        return answer

    def call(self, function, relation, expression):
        """Call a function that takes a relation, or a query."""
        if 'current' in function.name or 'check' in function.name:
            relation = 'clustered'
        sql, names = call(self.rng, function, relation, expression, self.indexes)
        sql, names = self.plants.fill(sql), [self.plants.fill(name) for name in names]
        role, said = self.role(), settings(self.rng)
        kind = function.name
        if 'index' in function.names or 'keys' in function.name:
            role = 'postgres'           # a role under policies is refused
        heard, answer = self.ours.attempt(role, said, [sql])
        self.trial.called[kind] += 1
        self.trial.answered[kind] += not answer.state
        self.trial.answer('calls of what takes a table', answer)
        # a statement that comes back is run
        if answer.rows and (command := answer.rows[0][0] or b'').startswith(
                b'DELETE'):
            command = command.decode()
            names.append('DELETE FROM near.' + relation)
            more, answer = self.ours.attempt(role, said, [command])
            self.trial.answer('statements written', answer)
            heard |= more
        if heard:
            lawful, _ = self.plain.attempt(role, said + self.without, names)
            if 'anyelement' in function.types:  # the user's call may mean it
                lawful |= {'%s.%s|' % (schema, function.name)
                           for schema in ('ext', 'public')}
            self.trial.judge(kind, role, said, [sql], heard, lawful)

    def procedure(self, sql):
        """Call a procedure, which does all it does as the owner."""
        said = settings(self.rng)
        heard, answer = self.ours.apart(said, sql)
        name = re.search(r'simhash_\w+', sql).group()
        self.trial.called[name] += 1
        self.trial.answered[name] += not answer.state
        self.trial.answer('calls of procedures', answer)
        self.trial.judge(name, 'postgres', said, [sql], heard, set())

    def replace_schema(self, function):
        """Put another schema in the place of the extension's while a call
        waits; whatever the function calls by name is in it."""
        sql, names = call(First, function, 'docs', 'public.wait(fp)', self.indexes)
        sql = self.plants.fill(sql)
        owner = Session(OURS)
        owner.must('SET SESSION AUTHORIZATION ' + OWNER)
        owner.must("SET lock_timeout = '1s'; SELECT pg_advisory_lock(1)")
        self.ours.heard.clear()
        self.ours.send(sql)
        waits = False
        for _ in range(100):
            waits = owner.must(
                "SELECT FROM pg_locks AS l JOIN pg_database AS d "
                "ON d.oid = l.database WHERE NOT granted "
                "AND locktype = 'advisory' AND datname = current_database()")
            if waits:
                break
            self.ours.conn.consume_input()
            if not self.ours.conn.is_busy():
                break
            time.sleep(0.01)
        moved = waits and not owner.ask(
            'ALTER SCHEMA ext RENAME TO ext2').state
        if moved:
            owner.must('CREATE SCHEMA ext; GRANT USAGE ON SCHEMA ext TO PUBLIC')
            for f in self.functions:
                nothing = f.set or f.result in ('record', 'void')
                owner.ask(
                    'CREATE FUNCTION ext.%s(%s) RETURNS %s LANGUAGE plpgsql AS '
                    "$$BEGIN PERFORM near.spy('in place of %s'); RETURN%s; END"
                    '$$' % (f.name, f.head.replace('ext.', 'ext2.'),
                            f.result.replace('ext.', 'ext2.'), f.name,
                            '' if nothing else ' NULL'))
            for name, left, right in self.operators:
                left, right = (t.replace('ext.', 'ext2.') for t in (left, right))
                owner.ask('CREATE OR REPLACE ' + spying(
                    'ext.op', left + ', ' + right, 'boolean')[7:])
                owner.ask('CREATE OPERATOR ext.%s (FUNCTION = ext.op, LEFTARG ='
                          ' %s, RIGHTARG = %s)' % (name, left, right))
        owner.must('SELECT pg_advisory_unlock(1)')
        answer = self.ours.receive()
        self.trial.answer('calls in a schema that is replaced', answer)
        heard = set(self.ours.heard)
        lawful, _ = self.plain.attempt('postgres', [], names)
        self.trial.judge(function.name, 'postgres', ['-- schema replaced'],
                         [sql], heard, lawful)
        if moved:
            owner.must('DROP SCHEMA ext CASCADE;'
                       'ALTER SCHEMA ext2 RENAME TO ext')
        owner.conn.finish()

    def takes(self):
        """The functions that take a relation, or a query."""
        return [f for f in self.functions
                if {'relation', 'query', 'index'} & set(f.names)]

    def run(self, calls):
        takes = self.takes()
        values = [f for f in self.functions if f not in takes]
        for function, relation, expression in calls:
            self.call(function, relation, expression)
        for function in values:
            self.trial.called[function.name] += 1
            answer = self.compare('calls of values', [
                value_call(self.rng, function)])
            self.trial.answered[function.name] += not answer.state
        for _ in range(STEPS):
            self.compare('searches', search(self.rng, self.operators))
            if self.rng.random() < 0.3:
                self.compare('changes', change(self.rng))
        for sql in PROCEDURES:
            self.procedure(sql)
        for function in takes:
            if 'index' not in function.names:
                self.replace_schema(function)
        self.ours.conn.finish()
        self.plain.conn.finish()


def deal(rng, takes):
    """Every call of what takes a table, in ROUNDS parts: each relation, with
    each expression, and one that is no fingerprint."""
    every = [(f, r, e) for f in takes for r in RELATIONS for e in (
        EXPRESSIONS + [rng.choice(NO_FINGERPRINTS)] if {
            'query', 'fingerprint', 'index'} & set(f.names) else ['fp'])]
    # those that write SQL of their own, by either role
    every += [(f, r, e) for f, r, e in every if 'fingerprint' in f.names] * 2
    rng.shuffle(every)
    return [every[i::ROUNDS] for i in range(ROUNDS)]


def main():
    admin = Session('postgres')
    if not admin.must(FOREIGN):
        print('left out: foreign tables, for want of postgres_fdw')
    admin.must('DROP ROLE IF EXISTS %s, %s' % (OWNER, READER))
    admin.must('CREATE ROLE %s LOGIN; CREATE ROLE %s' % (OWNER, READER))
    trial = Trial()
    start = time.monotonic()
    print('SIMHASH_SEED=%d' % SEED, flush=True)
    number = 0
    while number < ROUNDS or time.monotonic() < start + SECONDS:
        round_ = Round(trial, SEED + number)
        if not number % ROUNDS:
            parts = deal(random.Random(SEED + number), round_.takes())
        round_.run(parts[number % ROUNDS])
        number += 1
        if len(trial.faults) >= FAULTS:
            break
    for name in (OURS, PLAIN):
        admin.must('DROP DATABASE %s WITH (FORCE)' % name)
    admin.must('DROP ROLE %s, %s' % (OWNER, READER))
    print('%d rounds in %d s' % (number, time.monotonic() - start))
    for (kind, state), n in sorted(trial.counts.items()):
        print('%6d %s, %s' % (n, kind, 'refused' if state else 'answered'))
    for (kind, said), n in trial.states.most_common(20):
        print('%6d %s: %s' % (n, kind, said))
    print('never answered:', ' '.join(sorted(
        name for name in trial.called if not trial.answered[name])) or 'none')
    print('%d faults' % len(trial.faults))
    return 1 if trial.faults else 0


if __name__ == '__main__':
    sys.exit(main())
