"""
Calls of functions, for check_generator.py.

The functions are whatever the extension has, by the catalogue; the arguments
are of the right types, and hostile otherwise.

SPDX-License-Identifier: PostgreSQL
"""

class Binary(str):
    """A query with a parameter that is sent in binary form."""

    def __new__(cls, sql, value):
        self = super().__new__(cls, '%s -- \\x%s' % (sql, value.hex()))
        self.sql, self.value = sql, value
        return self



# Functions whose answer is compared with that of generator_plain.sql.
REPORTS = [
    "SELECT a, b, distance FROM simhash_pairs('{query}', {k})",
    "SELECT a, b, distance FROM simhash_pairs('{query}', k => {k})",
    "SELECT id, representative, distance, size "
    "FROM simhash_clusters('{query}', {k})",
    "SELECT id, representative, distance, size "
    "FROM simhash_clusters('{query}', {k}, 'connected')",
    "SELECT id, representative, distance, size "
    "FROM simhash_clusters('{query}', {k}, 'star', 'first', 1)",
    "SELECT id, representative, distance, size FROM "
    "simhash_clusters('{query}', {k}, 'connected', 'first', 3)",
    "SELECT count(DISTINCT cluster), count(DISTINCT representative) "
    "FROM simhash_clusters('{query}', {k}, 'connected')",
]

# The same of rows that are compared by their documents, and of these, by which
# some rows are alike and some have none.
VERIFIED = [
    "SELECT a, b, distance FROM simhash_pairs('{query}', {k}, 'doc', "
    "at_least => {least})",
    "SELECT a, b, distance FROM simhash_pairs('{query}', {k}, 'doc', "
    "'{measure}', {least})",
    "SELECT id, representative, distance, size FROM "
    "simhash_clusters('{query}', {k}, 'connected', document => 'doc', "
    "similarity => '{measure}', at_least => {least})",
    "SELECT id, representative, distance, size FROM "
    "simhash_clusters('{query}', {k}, 'star', 'first', 1, 'doc', "
    "'{measure}', {least})",
    "SELECT id, representative, distance, size FROM "
    "simhash_clusters('{query}', {k}, 'star', document => 'doc', "
    "at_least => {least})",
]
DOCUMENT = (", CASE WHEN id % 11 > 0 THEN string_to_array("
            "left(md5((id / 3)::text), (id % 4)::int + 3), NULL) END AS doc")

# Columns after the fingerprint, by which rows are in groups.
GROUPS = ['', '', '', ', id % 3 AS g', ', nullif(id % 4, 0) AS g, id % 2 = 0 AS h',
          ', left(md5(id::text), 1) AS g', ', NULL::int AS g',
          ', ARRAY[id % 2, NULL] AS g, 1 AS h']

# Fingerprints, and distances that reports of them allow.
FINGERPRINTS = [('fp', [0, 1, 3, 3, 4, 5, 8, 12, 16])] * 3 + [
    ('fp::bit(40) AS fp', [0, 3, 8, 16]),
    ('fp::bit(72) AS fp', [1, 4, 9, 33]),
    ('(fp::bit(64) || fp2::bit(64))::bit(128) AS fp', [0, 3, 16, 33]),
    ('fp::bit(64) || fp2::bit(64) || (fp # fp2)::bit(64) AS fp', [2, 8, 50]),
]

IDF = "simhash_idf_from('{a,b,c}', '{1,2,0.5}')"

# What to pass, by type.
VALUES = {
    'bigint': ['0', '1', '3', '3', '8', '16', '17', '64', '65', '-1', '128',
               '1024',
               "'-9223372036854775808'", '9223372036854775807',
               '4294967299', '1000000', 'NULL'],
    'integer': ['0', '1', '3', '-1', '64', '65', '16', '17', '1000000',
                '2147483647', '(-2147483648)', 'NULL'],
    'smallint': ['0', '-32768', 'NULL'],
    'boolean': ['true', 'false', 'NULL'],
    'double precision': ['0', '1', '-1', "'NaN'", "'Infinity'",
                         "'-Infinity'", '1e308', '1e-320', '0.5', 'NULL'],
    'text': ["''", "'a'", "'a b c d e f g'", 'NULL', "'default'", "'word-2'",
             "'word-1'", "'char-4'", "'star'", "'connected'", "'first'",
             "'lowest'", "'simhash'", "'minhash'", "'jaccard'", "'zh'",
             "'cosine'", "'java-hashcode'", "'word-1-3-sqrt'",
             "'xx-nowhere'", "'fp'", "'body'", "'id'", "'(fp # 1)'",
             "'simhash(body)'", "'t.fp'", "'SELECT id, fp FROM t0'",
             "'SELECT 1, 2::bigint'", "'SELECT fp, fp FROM t0'",
             "'SELECT id::text, body FROM t0'", "'SELECT body FROM t0'",
             "'TABLE t0'", "'VALUES (1, 2), (2, 3)'", "'SELECT'", "'t0'",
             "'DROP TABLE t0'", "'; SELECT 1'", "'1); SELECT (1'",
             "'nonsense'", "'SELECT id, fp FROM t0, generate_series(1, 3)'",
             "repeat('word ', 5000)", "repeat('x', 100000)",
             "'the quick brown fox ' || repeat('jumps ', 20)",
             "E'\\u4e2d\\u6587\\u5206\\u8bcd \\U0001F600 \\u0301\\u0301'",
             "chr(65533) || chr(1114111) || chr(1)",
             "(SELECT string_agg(md5(i::text), ' ') "
             "FROM generate_series(1, 300) AS i)"],
    'text[]': ["'{}'", "'{a}'", "'{a,b,c}'", "'{a,NULL,c}'", 'NULL',
               "'{{a,b},{c,d}}'", "'[5:6]={x,y}'::text[]", "'{\"\"}'",
               "array_fill('w'::text, ARRAY[3000])",
               "'[-3:-1]={a,b,c}'::text[]", "'{{{a}},{{b}},{{c}}}'::text[]",
               "array_fill(NULL::text, ARRAY[3])",
               "ARRAY[repeat('x', 3000), 'b', chr(1)]"],
    'double precision[]': ["'{}'", "'{1}'", "'{1,2,3}'", "'{1,NULL,3}'",
                           'NULL', "'{NaN,1,2}'", "'{Infinity,-1,1e308}'",
                           "'{{1,2},{3,4}}'", "'{-1,-2,-3}'",
                           'array_fill(1e300::float8, ARRAY[3000])',
                           "'[-3:-1]={1,2,3}'", "'[5:6]={1,0}'",
                           "'{{{1}},{{2}},{{3}}}'", "'{-0,0,1e-320}'",
                           "'{1e308,1e308,-1e308}'", "'{NULL,NULL,NULL}'",
                           "'{Infinity,-Infinity,1}'"],
    'real[]': ["'{0.1,0.2,0.4,1}'", "'{}'", "'{1}'", "'{NaN,0,0,0}'", 'NULL',
               "'{1,2,3,4,5}'", "'{{1,2},{3,4}}'", "'{1,NULL,3,4}'",
               "'[0:3]={1,2,3,4}'", "'{Infinity,1,1,1}'", "'{1,-1,1,0}'",
               "'{3e38,3e38,3e38,3e38}'", "'{1e-45,0,0,0}'"],
    'tsvector': ["'a:1A b:2 c'", "''", 'NULL', "to_tsvector('simple', "
                 "repeat('x y z ', 200))"],
    'name[]': ["'{k0,k1,k2,k3}'", "'{}'", "'{a,b}'", "'{fp,fp,fp,fp}'",
               "'{x1,x2,x3,NULL}'", 'NULL', "'{\"a b\",\"\",c,d}'"],
    'name': ["'fp'", "'id'", "'nonsense'", "''", 'NULL'],
    'regclass': ["'t0'", "'t0'", "'t1'", "'v0'", "'t0_fp_hamming'",
                 "'t0_ball_hamming'", "'t0_pkey'", "'pg_class'",
                 "'pg_class_oid_index'", '0', '4294967295', 'NULL'],
    'simhash_idf': [
        IDF, 'NULL', "simhash_idf_from('{}', '{}')",
        "(SELECT simhash_idf_agg(md5(i::text) || ' a b') "
        "FROM generate_series(1, 20) AS i)",
        "(%s + %s)" % (IDF, IDF),
        "(overlay((%s)::text placing 'f' from 9))::simhash_idf" % IDF,
        "(overlay((%s)::text placing 'ff' from 40))::simhash_idf" % IDF,
        "(left((%s)::text, -4))::simhash_idf" % IDF,
        "((%s)::text || '00')::simhash_idf" % IDF],
    'hamming_ball': ["'(1,3)'", "'(,)'", "'(1,-1)'", 'NULL', "'(5,64)'",
                     "'(5,65)'"],
    'hamming_bit_ball': ["hamming_bit_ball(3::bit(64), 3)", 'NULL', "'(,)'",
                         "'(0101,5)'", "'(0101,4)'", '\'("",0)\'',
                         "(repeat('01', 64)::bit(128), -1)",
                         "(NULL, 3)", "(repeat('110', 400)::bit(1200), 7)"],
    'bit varying': ["B''", "B'1'", '3::bit(64)', 'NULL',
                    "repeat('110', 400)::bit varying"],
    'anyelement': ['NULL::bigint', 'NULL::text', 'NULL::uuid', '1',
                   'NULL::tid', 'NULL::point', 'NULL::hamming_ball',
                   'NULL::bigint[]', 'NULL'],
    'bit': ["B''", "B'1'", "B'101'", '3::bit(64)', '0::bit(128)', 'NULL',
            "repeat('01', 32)::bit(64)", "repeat('110', 400)::bit varying"],
    'cstring': ["''", "'x'", "'\\x00'"],
    'bytea': ["''", "'\\x00'", "decode(repeat('ff', 300), 'hex')",
              "decode(repeat('00', 3000), 'hex')", 'NULL'],
    'oid': ['0', '23', 'NULL'],
}

# Queries for values to be sent in binary form, by type, and those they are sent
# to.  A value of a composite type has the types of its columns in it.
SENT = [
    ('simhash_idf', "SELECT simhash_idf_send(v) FROM unnest(ARRAY[%s, "
     "simhash_idf_from('{}', '{}'), (SELECT "
     "simhash_idf_agg(md5(i::text) || ' a b') FROM generate_series(1, 20) "
     "AS i)]) AS v" % IDF),
    ('hamming_ball', "SELECT record_send(hamming_ball(5, 3))"),
    ('hamming_bit_ball', "SELECT record_send(hamming_bit_ball(v, 1)) "
     "FROM unnest(ARRAY[B'1', 5::bit(64), 5::bit(100), 5::bit(1024)]) AS v"),
    ('bit', 'SELECT bit_send(5::bit(64))'),
    ('float8[]', "SELECT array_send(v) FROM (VALUES ('{1,2,3}'::float8[]), "
     "('{NaN,-Infinity,NULL}'), ('{{1,2},{3,4}}'), ('[3:3]={1}'), ('{}')) "
     "AS v (v)"),
    ('text[]', "SELECT array_send(v) FROM (VALUES ('{a,b,c}'::text[]), "
     "('{a,NULL,c}'), ('{{a,b},{c,d}}'), ('[3:5]={a,b,c}'), ('{}')) AS v (v)"),
]
RECEIVED = {
    'simhash_idf': [
        'SELECT simhash_idf_stats($1::simhash_idf)',
        'SELECT ($1::simhash_idf + $1)::text',
        "SELECT simhash_idf_weight($1, 'a')",
        "SELECT simhash_keywords('a b c d', $1, 3)",
        "SELECT simhash_tfidf('a b c d', $1::simhash_idf)",
        "SELECT simhash_tfidf(ARRAY['a','b'], $1::simhash_idf, 1)",
        "SELECT simhash_idf_with($1, '{a}', 2)",
        "SELECT simhash_idf_agg(v) FROM unnest(ARRAY[$1::simhash_idf, $1]) v",
        # what is accepted comes back as it was
        'SELECT v::text::simhash_idf::text = v::text AND simhash_idf_send(v)'
        ' = simhash_idf_send(v::text::simhash_idf) AS holds'
        ' FROM CAST($1 AS simhash_idf) AS v',
    ],
    'hamming_ball': [
        'SELECT 5::bigint <@ $1::hamming_ball',
        'SELECT $1::hamming_ball @> 5::bigint',
        'SELECT $1::hamming_ball ~= $1, $1::text',
        # a row's radius is taken for what it is: nothing is in one below 0
        'SELECT ((v).center <@ v) = ((v).radius >= 0) IS NOT FALSE AS holds'
        ' FROM (SELECT $1::hamming_ball OFFSET 0) AS s (v)',
        'SELECT id FROM t0 WHERE fp <@ $1::hamming_ball',
        'SELECT id FROM t0 WHERE ball ~= $1',
        "SELECT count(*) FROM hamming_search_plan('t0_fp_hamming', $1)",
    ],
    'hamming_bit_ball': [
        'SELECT 5::bit(64) <@ $1::hamming_bit_ball',
        'SELECT $1::hamming_bit_ball @> 5::bit(64)',
        'SELECT $1::hamming_bit_ball ~= $1, $1::text',
        'SELECT ((v).center <@ v) = ((v).radius >= 0) IS NOT FALSE AS holds'
        ' FROM (SELECT $1::hamming_bit_ball OFFSET 0) AS s (v)',
        'SELECT id FROM t0 WHERE wide <@ $1::hamming_bit_ball',
        "SELECT count(*) FROM hamming_bit_search_plan('t0_bits_hamming', $1)",
    ],
    'bit': [
        'SELECT $1::bit varying <~~> $1',
        'SELECT 5::bit(64) <@ hamming_bit_ball($1, 3)',
        'SELECT id FROM t0 ORDER BY wide <~~> $1::bit varying LIMIT 3',
        'SELECT minhash_similarity($1, 5::bit(64))',
    ],
    'float8[]': [
        "SELECT simhash('{a,b,c}'::text[], $1::float8[])",
        "SELECT simhash_bits('{a,b,c}'::text[], 128, $1)",
        "SELECT simhash_bits('{a,b,c}'::text[], 64, $1, 'word-1')",
        "SELECT simhash_cppjieba('{a,b,c}', $1)",
        "SELECT simhash_idf_from('{a,b,c}', $1)::text",
    ],
    'text[]': [
        "SELECT simhash($1::text[], '{1,2,3}')", 'SELECT minhash($1::text[])',
        'SELECT simhash_bits($1::text[], 192)',
        'SELECT simhash_hashbits($1)',
        'SELECT simhash_idf_agg($1::text[])::text',
        "SELECT simhash_idf_from($1, '{1,2,3}')::text",
        'SELECT simhash_jaccard($1, $1), simhash_cosine($1::text[], $1)',
        'SELECT simhash_features($1::text[])',
        'SELECT count(*) FROM simhash_explain($1::text[], $1)',
        "SELECT count(*) FROM simhash_report('t0', 'fp', 3, within => $1)",
    ],
}

FUNCTIONS = """
SELECT p.oid::regproc, prokind, proretset, pronargdefaults,
    array_to_string(ARRAY(SELECT format_type(t, NULL)
                          FROM unnest(proargtypes) AS t), '|')
FROM pg_proc AS p JOIN pg_depend AS d ON d.objid = p.oid
    AND d.classid = 'pg_proc'::regclass AND deptype = 'e'
    AND NOT 'internal'::regtype = ANY (proargtypes)
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
ORDER BY p.oid::regprocedure::text
"""


def functions(session):
    """
    The functions of the extension, as (name, kind, set, defaults, types), and
    values in binary form, as (type, bytes).
    """
    rows = [[value.decode() for value in row]
            for row in session.must(FUNCTIONS)]
    return ([(name, kind, retset == 't', int(defaults),
              types.split('|') if types else [])
             for name, kind, retset, defaults, types in rows],
            [(type_, bytes.fromhex(row[0].decode()[2:]))
             for type_, query in SENT
             for row in session.must(query)])


def value(rng, type_):
    """Something of a type, cast where it would be of another otherwise."""
    text = rng.choice(VALUES.get(type_, ['NULL']))
    if type_ == 'anyelement' or type_ not in VALUES:
        return text
    return '(%s)::%s' % (text, type_)


def write(rng, known):
    """A call of what functions() has found."""
    functions_, sent = known
    if rng.random() < 0.25:
        return write_binary(rng, rng.choice(sent))
    name, kind, retset, defaults, types = rng.choice(functions_)
    if kind == 'a':
        return write_aggregate(rng, name, types)
    if defaults:
        types = types[:len(types) - rng.randrange(defaults + 1)]
    call = '%s(%s)' % (name, ', '.join(value(rng, t) for t in types))
    if retset:
        return 'SELECT count(*) FROM %s AS r' % call
    return 'SELECT octet_length(%s::text)' % call


def write_aggregate(rng, name, types):
    """A call over some rows, as a whole, of groups, or of moving frames."""
    arguments = ', '.join('(ARRAY[%s])[1 + i %% 3]' % ', '.join(
        value(rng, t) for _ in range(3)) for t in types)
    call = '%s(%s%s)' % (name, rng.choice(['', '', 'DISTINCT '])
                         if 'idf' not in arguments else '', arguments)
    suffix = rng.choice([
        '', ' FILTER (WHERE i % 2 = 0)',
        ' OVER (ORDER BY i ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)',
        ' OVER (PARTITION BY i % 3 ORDER BY i ROWS BETWEEN CURRENT ROW '
        'AND 1 FOLLOWING)'])
    if 'OVER' in suffix:
        call = call.replace('DISTINCT ', '')
    return ('SELECT octet_length((%s%s)::text) '
            'FROM generate_series(1, %d) AS i%s' % (
                call, suffix, rng.choice([0, 1, 3, 50]),
                '' if 'OVER' in suffix else rng.choice(
                    ['', ' GROUP BY i % 4', ' GROUP BY ROLLUP (i % 4)'])))


def write_binary(rng, value):
    """A call with a value in binary form, which is mostly damaged."""
    type_, sent = value
    bytes_ = bytearray(sent)
    for _ in range(rng.choice([0, 1, 1, 2, 5])):
        at = rng.randrange(len(bytes_))
        bytes_[at] = rng.choice([0, 1, 127, 255, bytes_[at] ^ 1 << (at % 8)])
    del bytes_[rng.choice([len(bytes_), len(bytes_),
                           rng.randrange(len(bytes_))]):]
    if rng.random() < 0.1:
        bytes_ += bytes(rng.choice([1, 4, 100]))
    return Binary(rng.choice(RECEIVED[type_]), bytes(bytes_))
