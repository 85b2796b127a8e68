#!/usr/bin/env python3
"""
A message says which argument is wrong.

Each function and procedure of the extension that has names for its arguments is
called with values that it takes, and then with one of them replaced: by NULL, by
numbers out of range, by words and names that there are not, by empty texts and
arrays.  So is the trigger simhash_guard, by its options.  Where the call fails,
the message, with its detail and hint, has the name of the argument or the value,
it has a hint or a detail, and its SQLSTATE is not that of an internal error.

SPDX-License-Identifier: PostgreSQL
"""

import collections
import sys

sys.dont_write_bytecode = True
from check_generator import Crash, Session

DATABASE = 'messages'

TABLES = """
CREATE EXTENSION simhash SCHEMA public;
CREATE SCHEMA play;
SET search_path = play, public;
CREATE TABLE docs (id bigint PRIMARY KEY, site int NOT NULL, body text, words text[],
                   fp bigint, wide bit(64), mark bigint);
INSERT INTO docs SELECT i, i % 3, md5(i::text) || ' a b c d', ARRAY['a', 'b', i::text],
    i, i::bit(64)
FROM generate_series(1, 30) AS i;
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE INDEX docs_wide ON docs USING hamming (wide);
CREATE TABLE kept (id bigint PRIMARY KEY, body text, fp bigint);
INSERT INTO kept SELECT i, 'a ' || i, i FROM generate_series(1, 20) AS i;
CALL simhash_add_clusters('kept', 'fp', 3);
CREATE TABLE chains (id bigint PRIMARY KEY, body text, fp bigint);
CREATE INDEX ON chains USING hamming (fp);
CALL simhash_add_clusters('chains', 'fp', 3, 'connected');
CREATE TABLE keyed (id bigint PRIMARY KEY, fp bigint);
SELECT simhash_add_keys('keyed', 'fp');
CREATE TABLE guarded (id bigint PRIMARY KEY, site int, body text, at timestamptz,
                      fp bigint, mark bigint, wide bit(64));
CREATE INDEX ON guarded USING hamming (fp);
CREATE INDEX ON guarded USING hamming (site, fp);
CREATE TABLE loaded (id bigint, fp bigint);
CREATE INDEX ON loaded USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON loaded
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
CREATE TABLE plan AS SELECT * FROM simhash_dedup_plan('docs', 'fp') LIMIT 0;
CALL simhash_dedup_apply('docs', 'plan', log => 'play.removed');
"""

DOCUMENTS = "(SELECT simhash_idf_agg(body) FROM docs)"

# What functions take, by the name of the argument, or else by its type.
GOOD = {
    'query': "'SELECT id, fp FROM docs'",
    'relation': "'docs'::regclass",
    'fingerprint': "'fp'",
    'index': "'docs_fp'::regclass",
    'kind': "'star'", 'plan': "'play.plan'::regclass",
    'profile': 'NULL', 'keep': 'NULL', 'document': 'NULL', 'similarity': 'NULL',
    'at_least': 'NULL', 'at_most': 'NULL', 'apart': 'NULL', 'log': 'NULL',
    'condition': 'NULL', 'moment': 'NULL', 'near_in': 'NULL',
    'children': 'NULL', 'family': 'NULL', 'unknown': 'NULL', 'id_type': 'NULL::bigint',
    'columns': "'{k0,k1,k2,k3}'::name[]", 'within': "'{}'",
    'radius': '3', 'distance': '3', 'k': '3', 'block': '1', 'bits': '64',
    'locale': "'zh'", 'weights': "'{1,2}'", 'idf': "simhash_idf_from('{a,b}', '{1,2}')",
    'features': "'{a,b}'", 'min_length': '1', 'center': '5', 'group': "'{}'",
    'cluster': '1', 'column': "'cluster'", 'words': '25',
    'sample': '10', 'digits': "'00000000000000a1'", 'format': "'hex'", 'reversed': "'none'",
}
BY_TYPE = {
    'text': "'a b c d'", 'text[]': "'{a,b}'", 'bigint': '5', 'integer': '1',
    'bit': '3::bit(64)', 'boolean': 'false', 'double precision': '0.5',
    'simhash_idf': GOOD['idf'], 'name': "'cluster'", 'regclass': GOOD['relation'],
    'hamming_ball': "'(1,3)'::hamming_ball", 'interval': "'0'",
    'bigint[]': "'{1,2}'", 'name[]': "'{}'::name[]", 'double precision[]': "'{1,2}'",
    'hamming_bit_ball': 'hamming_bit_ball(3::bit(64), 3)',
    'real[]': "'{1,1,1,1}'", 'tsvector': "'a b'", 'bit varying': "B'101'",
    'anyelement': 'NULL::bigint',
}
# Those of the names that stand for other things in other types.
BY_NAME = {'fingerprint': 'text', 'index': 'regclass', 'center': 'bigint',
           'column': 'name', 'k': 'bigint', 'words': 'bigint', 'similarity': 'text',
           'block': 'integer', 'idf': 'simhash_idf', 'weights': 'double precision[]',
           'features': 'text[]', 'document': 'text', 'bits': 'bigint'}
# What one function takes otherwise.
OWN = {
    ('simhash_drop_keys', 'relation'): "'keyed'::regclass",
    ('simhash_dedup_undo', 'log'): "'play.removed'::regclass",
    ('simhash_clusters', 'keep'): "'first'",
    ('simhash_clusters_as', 'keep'): "'first'",
    ('simhash_idf_add', 'a'): DOCUMENTS, ('simhash_idf_add', 'b'): DOCUMENTS,
    ('simhash_tune', 'query'): "'SELECT body FROM docs'",
    ('simhash_tune', 'at_least'): '0.8',
    ('simhash_alike', 'at_least'): '0.8',
    ('simhash_components', 'query'): "'SELECT id, id + 1 FROM docs'",
    ('simhash_features', 'document'): "'a b c'",
    ('simhash_mend_clusters', 'anew'): 'NULL',
    ('simhash_split_clusters', 'relation'): "'chains'::regclass",
    ('hamming_bit_search_plan', 'index'): "'docs_wide'::regclass",
    ('simhash_add_clusters', 'document'): 'NULL',
    ('simhash_add_clusters', 'since'): "'since'",
    ('simhash_add_clusters', 'schema'): 'NULL',
    ('simhash_add_clusters', 'indexed'): 'false',
    ('simhash_add_clusters', 'column'): "'other'",
    ('simhash_guard_load', 'relation'): "'loaded'::regclass",
    ('simhash_current_cluster', 'relation'): "'kept'::regclass",
    ('simhash_check_clusters', 'relation'): "'kept'::regclass",
    ('simhash_mend_clusters', 'relation'): "'kept'::regclass",
    ('simhash_drop_clusters', 'relation'): "'kept'::regclass",
}

# What is wrong, by type.
BAD = {
    'bigint': ['-1', '9223372036854775807', "'-9223372036854775808'"],
    'integer': ['-1', '2147483647'],
    'double precision': ['-1', '2', "'NaN'", "'Infinity'"],
    'text': ["''", "' '", "'no such'"],
    'name': ["''", "'no_such'"],
    'text[]': ["'{no_such}'", "'{NULL}'", "'{{a},{b}}'"],
    'name[]': ["'{no_such}'::name[]", "'{NULL}'::name[]", "'{{a},{b}}'::name[]"],
    'double precision[]': ["'{1,NULL}'", "'{{1},{2}}'", "'{1}'", "'{NaN,1}'"],
    'regclass': ["'docs_pkey'::regclass", "'pg_class'::regclass"],
}

# Options of simhash_guard that are wrong: the column, the action, the distance, the
# options, and what a message has to name.
GUARDS = [
    ('nofp', 'reject', '3', [], '"nofp"'),
    ('body', 'reject', '3', [], '"body"'),
    ('fp', 'nothing', '3', [], '"nothing"'),
    ('fp', 'reject', '70', [], '"distance"'),
    ('fp', 'reject', '-1', [], '"distance"'),
    ('fp', 'reject', '99999999999', [], '"distance"'),
    ('fp', 'reject', 'x', [], 'distance'),
    ('fp', 'reject', '3', ['within=no'], '"within"'),
    ('fp', 'reject', '3', ['within=fp'], '"within"'),
    ('fp', 'reject', '3', ['within='], '"within"'),
    ('fp', 'reject', '3', ['document=no', 'at_least=.8'], '"document"'),
    ('fp', 'reject', '3', ['document=fp', 'at_least=.8'], '"fp"'),
    ('fp', 'reject', '3', ['document=body', 'at_least=2'], '"at_least"'),
    ('fp', 'reject', '3', ['document=body', 'at_least=NaN'], '"at_least"'),
    ('fp', 'reject', '3', ['document=body', 'at_least=x'], '"at_least"'),
    ('fp', 'reject', '3', ['document=body', 'similarity=x'], '"similarity"'),
    ('fp', 'reject', '3', ['document=wide', 'similarity=hamming', 'at_most=65'],
     '"at_most"'),
    ('fp', 'reject', '3', ['document=wide', 'similarity=hamming', 'at_most=1.5'],
     '"at_most"'),
    ('fp', 'reject', '3', ['document=wide', 'similarity=hamming', 'at_most=x'],
     '"at_most"'),
    ('fp', 'reject', '3', ['document=body', 'at_least=.8', 'profile=no'], '"no"'),
    ('fp', 'reject', '3', ['document=body', 'at_least=.8', 'compare=0'], '"compare"'),
    ('fp', 'reject', '3', ['time=no', 'for=1 day'], '"time"'),
    ('fp', 'reject', '3', ['time=body', 'for=1 day'], '"body"'),
    ('fp', 'reject', '3', ['time=at', 'for=-1 day'], '"for"'),
    ('fp', 'reject', '3', ['time=at', 'for=x'], '"for"'),
    ('fp', 'reject', '3', ['time=at'], '"time"'),
    ('fp', 'reject', '3', ['apart=no'], '"apart"'),
    ('fp', 'reject', '3', ['apart=a.b.c'], '"apart"'),
    ('fp', 'reject', '3', ['apart=apart', 'apart=apart'], '"apart"'),
    ('fp', 'reject', '3', ['except=no'], '"except"'),
    ('fp', 'reject', '3', ['except=body'], '"except"'),
    ('fp', 'mark', '3', [], 'mark'),
    ('fp', 'mark', '3', ['mark=no'], '"mark"'),
    ('fp', 'mark', '3', ['mark=fp'], '"mark"'),
    ('fp', 'reject', '3', ['notice'], '"notice"'),
    ('fp', 'reject', '3', ['other=1'], '"other=1"'),
]

FUNCTIONS = """
SELECT proname, prokind, proretset, array_to_string(proargnames[1:pronargs], '|'),
    array_to_string(ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes) AS t), '|')
FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid
    AND d.classid = 'pg_proc'::regclass AND deptype = 'e'
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
    AND proargnames IS NOT NULL AND prokind IN ('f', 'p') AND pronargs > 0
    AND proname !~ '^_' AND NOT 'internal'::regtype = ANY (proargtypes)
ORDER BY p.oid::regprocedure::text
"""

faults = []
counts = collections.Counter()


def try_it(session, sql):
    session.must('BEGIN')
    answer = session.ask(sql)
    session.must('ROLLBACK')
    return answer


def look(sql, answer, words):
    """Note a fault unless an answer is a success, or names one of the words."""
    counts['refused' if answer.state else 'accepted'] += 1
    if not answer.state:
        return
    said = answer.message
    wrong = ''
    if answer.state[:2] in ('XX', 'P0'):
        wrong = 'internal error'
    elif not any(word in said for word in words):
        wrong = 'names none of %s' % ', '.join(words)
    elif answer.state in ('22004', '22023') and 'identifier' not in said and not (
            'HINT:' in said or 'DETAIL:' in said):
        wrong = 'no hint'
    if wrong:
        faults.append('%s\n  %s: %s %s' % (sql, wrong, answer.state, said.strip()))


def call(name, kind, retset, values):
    arguments = '%s(%s)' % (name, ', '.join(values))
    return ('CALL ' if kind == 'p' else 'SELECT * FROM ') + arguments


def argument(name, argument_, type_):
    """A value that a function takes for an argument, cast to its type."""
    value = GOOD.get(argument_)
    if argument_ in BY_NAME and BY_NAME[argument_] != type_:
        value = None
    value = OWN.get((name, argument_)) or value or BY_TYPE.get(type_, 'NULL')
    if type_ == 'anyelement' or '::' in value or '(' in value:
        return value
    return '%s::%s' % (value, type_)


def functions(session):
    """Call all functions."""
    for row in session.must(FUNCTIONS):
        name, kind, retset, names, types = (value.decode() for value in row)
        names, types = names.split('|'), types.split('|')
        good = [argument(name, n, t) for n, t in zip(names, types)]
        if name == 'simhash_trim_clusters':     # not in a transaction block
            continue
        if name.startswith(('simhash_tfidf', 'simhash_keywords')) and types[0] == 'text':
            good[1] = DOCUMENTS
        answer = try_it(session, call(name, kind, retset, map(str, good)))
        if answer.state:
            faults.append('%s\n  is not a call that works: %s' % (
                call(name, kind, retset, map(str, good)), answer.message.strip()))
            continue
        counts['functions'] += 1
        for i, (n, type_) in enumerate(zip(names, types)):
            for bad in (['NULL'] if type_ != 'anyelement' else []) + BAD.get(type_, []):
                values = list(good)
                values[i] = bad if '::' in bad else '%s::%s' % (bad, type_)
                sql = call(name, kind, retset, values)
                words = ['"%s"' % n, '%s "' % n]
                words += ['weight must be finite'] if n == 'weights' else []
                words += ['of features', 'of weights', 'of tokens', 'of stop words'] if type_.endswith('[]') else []
                words += ['the query'] if n == 'query' else []
                words += ['invalid name syntax'] if n == 'log' else []
                words += ['column "fp"'] if type_ == 'regclass' else []
                text = bad.split('::')[0].strip("'{}")
                if text.strip() and text != 'NULL':
                    words.append(text)
                look(sql, try_it(session, sql), words)


def guards(session):
    """Try what triggers are given."""
    for column, action, distance, options, word in GUARDS:
        arguments = ', '.join("'%s'" % value for value in
                              [column, action, distance, *options])
        session.must('BEGIN')
        session.must('CREATE TRIGGER wrong BEFORE INSERT ON guarded FOR EACH ROW '
                     'EXECUTE FUNCTION simhash_guard(%s)' % arguments)
        answer = session.ask("INSERT INTO guarded VALUES (1, 1, 'a b', now(), 5)")
        session.must('ROLLBACK')
        if not answer.state:
            faults.append('simhash_guard(%s) is not refused' % arguments)
        look('simhash_guard(%s)' % arguments, answer, [word])


def main():
    admin = Session('postgres')
    admin.must('DROP DATABASE IF EXISTS %s WITH (FORCE)' % DATABASE)
    admin.must('CREATE DATABASE ' + DATABASE)
    session = Session(DATABASE)
    try:
        session.must(TABLES)
        functions(session)
        guards(session)
    except Crash as crash:
        faults.append(str(crash))
    session.conn.finish()
    admin.must('DROP DATABASE %s WITH (FORCE)' % DATABASE)
    print('\n'.join(faults))
    print(', '.join('%d %s' % (n, what) for what, n in sorted(counts.items())))
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
