--
-- compat_profiles.c: fingerprints that other implementations compute
--
-- The vectors are those that the others publish, or that they were seen to
-- return; test/check/check_compat.sh compares many more texts with test/golden/compat.py.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE FUNCTION unsigned(fingerprint bigint) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
    SELECT fingerprint + CASE WHEN fingerprint < 0 THEN 18446744073709551616
                         ELSE 0 END
$$;

SELECT profile, unit, min_tokens AS n, damping, description
FROM simhash_profiles()
WHERE profile ~ '^(python|seomoz|clickhouse|java|daft|mfonda)-' ORDER BY profile COLLATE "C";

----------------------------------------
-- python-simhash
----------------------------------------

SELECT unsigned(simhash('', 'python-simhash'));
SELECT simhash_bits(ARRAY['aaa', 'bbb'], 64, '{1,1}', 'python-simhash')::bigint;
SELECT simhash_agg(('x' || right(md5(feature), 16))::bit(64)::bigint, 1)
FROM unnest('{aaa,bbb}'::text[]) AS feature;
-- punctuation, spaces and case do not count; what is short is one feature
SELECT simhash('How are you? I AM fine. Thanks. And you?', 'python-simhash') =
    simhash('howareyouiamfinethanksandyou', 'python-simhash') AS joined,
    simhash('a.B', 'python-simhash') =
    ('x' || right(md5('ab'), 16))::bit(64)::bigint AS short;
-- windows of 4, counted, over a text of our own
SELECT simhash(body, 'python-simhash') = (
    SELECT simhash_agg(
        ('x' || right(md5(substr(body, i, 4)), 16))::bit(64)::bigint, 1)
    FROM generate_series(1, length(body) - 3) AS i) AS by_definition
FROM (SELECT repeat('abcdefg你好世界', 3) AS body) AS t;
-- a sigma at the end of a word, a dotted capital i
SELECT feature FROM simhash_features('ΑΣ ΑΣ', 'python-simhash');
SELECT feature FROM simhash_features('İSTB', 'python-simhash');

----------------------------------------
-- seomoz-shingle
----------------------------------------

SELECT simhash('The quick brown fox jumps', 'seomoz-shingle') = (
    SELECT simhash_agg(('x' || left(md5(f), 16))::bit(64)::bigint, 1)
    FROM unnest('{the quick brown fox,quick brown fox jumps}'::text[]) AS f)
    AS by_definition;
SELECT simhash('the quick brown', 'seomoz-shingle') AS too_short;
-- an end without a word makes an empty one, as re.split does
SELECT feature FROM simhash_features('One, two! Three?', 'seomoz-shingle');

----------------------------------------
-- clickhouse
----------------------------------------

SELECT profile, simhash('ClickHouse', profile) AS fingerprint
FROM unnest('{clickhouse-ngram,clickhouse-ngram-ci,clickhouse-ngram-utf8,
    clickhouse-ngram-ci-utf8}'::text[]) AS profile;
SELECT profile, simhash('what a cute cat.', profile) AS fingerprint
FROM simhash_profiles() WHERE profile ~ '^clickhouse'
ORDER BY profile COLLATE "C";
SELECT profile,
    array_agg(simhash(body, profile) ORDER BY body DESC) AS fingerprints
FROM simhash_profiles(), (VALUES
    ('It is the latest occurrence of the Southeast European haze, the '
     'issue that occurs in constant intensity during every wet season. It '
     'has mainly been caused by forest fires resulting from illegal '
     'slash-and-burn clearing performed on behalf of the palm oil industry'
     ' in Kazakhstan, principally on the islands, which then spread '
     'quickly in the dry season.'),
    ('It is the latest occurrence of the Southeast Asian haze, the issue '
     'that occurs in constant intensity during every wet season. It has '
     'mainly been caused by forest fires resulting from illegal '
     'slash-and-burn clearing performed on behalf of the palm oil industry'
     ' in Kazakhstan, principally on the islands, which then spread '
     'quickly in the dry season.'))
    AS v (body)
WHERE profile ~ '^clickhouse' GROUP BY profile ORDER BY profile COLLATE "C";
-- nothing, too little, exactly one n-gram
SELECT profile, unsigned(simhash('', profile)) AS nothing,
    simhash('ab', profile) AS two, simhash('abc', profile) AS three,
    simhash('abcd', profile) AS four
FROM simhash_profiles() WHERE profile ~ '^clickhouse'
ORDER BY profile COLLATE "C";
-- the case: bit 0x20 of every byte
SELECT simhash('CLICK', 'clickhouse-ngram-ci') =
    simhash('click', 'clickhouse-ngram-ci') AS same,
    simhash('click', 'clickhouse-ngram-ci') =
    simhash('click', 'clickhouse-ngram') AS lower;
-- words of fewer than 4 bytes are dropped, the others joined
SELECT feature FROM simhash_features(
    'the latest of the Southeast European haze', 'clickhouse-word-shingle');

----------------------------------------
-- searching fingerprints of 32 bits
----------------------------------------

-- keys 0 and 1 are 0 in every row, and search is exact all the same,
-- by key columns, by a hamming index, and on bits that were spread; "hamming"
-- is a plain function, so what it filters is the truth
CREATE FUNCTION spread_clickhouse(fp bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN (fp & 255) | (((fp >> 8) & 255) << 16) |
    (((fp >> 16) & 255) << 32) | (((fp >> 24) & 255) << 48);
CREATE TABLE clickhouse AS
SELECT row_number() OVER () AS id, simhash(body, profile) AS fp
FROM (VALUES ('clickhouse-ngram'),
             ('clickhouse-word-shingle-ci')) AS p (profile),
     generate_series(1, 100) AS n, generate_series(0, 9) AS v,
     LATERAL (SELECT string_agg(CASE WHEN i % 9 < v AND i % 10 = v
                                THEN 'otherwise' ELSE md5(n || ' ' || i)
                                END, ' ') AS body
              FROM generate_series(1, 60) AS i) AS d;
INSERT INTO clickhouse VALUES (0, simhash('', 'clickhouse-ngram')), (-1, NULL);
CREATE TABLE by_keys AS TABLE clickhouse;
SELECT simhash_add_keys('by_keys', 'fp');
CREATE TABLE by_index AS TABLE clickhouse;
CREATE INDEX ON by_index USING hamming (fp);
CREATE TABLE by_spread AS TABLE clickhouse;
CREATE INDEX ON by_spread USING hamming (spread_clickhouse(fp));
ANALYZE by_keys, by_index, by_spread;
SELECT count(DISTINCT k0) AS k0, count(DISTINCT k1) AS k1,
    count(DISTINCT k2) > 100 AS k2, count(DISTINCT k3) > 100 AS k3
FROM by_keys WHERE id > 0;

CREATE TABLE found AS
SELECT c.id AS center, c.fp AS q, k, array_agg(r.id ORDER BY r.id) AS truth
FROM clickhouse AS c, generate_series(0, 8) AS k, clickhouse AS r
WHERE c.id % 40 = 0 AND hamming(c.fp, r.fp) <= k
GROUP BY c.id, c.fp, k;
SET enable_seqscan = off;
SELECT * FROM plan('SELECT id FROM by_keys WHERE fp ~= 5');
SELECT * FROM plan('SELECT id FROM by_index WHERE fp <@ (5, 8)');
SELECT k, count(*) AS searches, sum(cardinality(truth)) > count(*) AS found,
    bool_and(truth = ARRAY(SELECT id FROM by_keys AS t
                           WHERE t.fp <@ (q, k) ORDER BY id)) AS keys,
    bool_and(truth = ARRAY(SELECT id FROM by_index AS t
                           WHERE t.fp <@ (q, k) ORDER BY id)) AS index,
    bool_and(truth = ARRAY(SELECT id FROM by_spread AS t
                           WHERE spread_clickhouse(t.fp)
                               <@ (spread_clickhouse(q), k)
                           ORDER BY id)) FILTER (WHERE center > 0) AS spread
FROM found GROUP BY k ORDER BY k;
RESET enable_seqscan;
DROP TABLE found, by_spread, by_index, by_keys, clickhouse;
DROP FUNCTION spread_clickhouse(bigint);

----------------------------------------
-- simhash_features
----------------------------------------

-- what is listed adds up; features cut within a character are shown in hex
SELECT profile, bool_and(f = fingerprint) AS adds_up
FROM (SELECT profile, simhash(body, profile) AS fingerprint,
          (SELECT simhash_agg(hash, weight)
           FROM simhash_features(body, profile)) AS f
      FROM simhash_profiles(), (VALUES
          ('The quick brown fox jumps over the lazy dog, over the lazy dog'),
          ('我是蓝翔技工拖拉机学院手扶拖拉机专业的 Большой Привет')) AS v (body)
      WHERE profile ~ '^(python|seomoz|clickhouse|java|daft|mfonda)-') AS s
WHERE f IS NOT NULL
GROUP BY profile ORDER BY profile COLLATE "C";
SELECT feature, weight FROM simhash_features('中国', 'clickhouse-ngram');

----------------------------------------
-- simhash_cppjieba
----------------------------------------

SELECT unsigned(simhash_cppjieba('{蓝翔,CEO,升职,加薪,手扶拖拉机}',
    '{11.7392,11.7392,10.8562,10.6426,10.0089}'));
SELECT simhash_cppjieba('{}', '{}') AS nothing,
    simhash_cppjieba(NULL, '{}') AS null_features;
SELECT fails($$SELECT simhash_cppjieba('{a,b}', '{1}')$$);
SELECT fails($$SELECT simhash_cppjieba('{a,NULL}', '{1,1}')$$);
SELECT fails($$SELECT simhash_cppjieba('{a,b}', '{1,NaN}')$$);
SELECT fails($$SELECT simhash_bits(ARRAY['a', 'b'], 64, '{1,1}', 'no-such-profile')$$);

DROP FUNCTION unsigned(bigint);

----------------------------------------
-- java-hashcode
----------------------------------------

SELECT text, simhash(text, 'java-hashcode')
FROM unnest(ARRAY['this is string1', 'this is string2', '6', '8', '', '  ', 'a  b', ' a ']) AS text;
SELECT feature, weight, hash FROM simhash_features('  a b 𝒳 b  ', 'java-hashcode');
SELECT simhash_bits('{this,is,string1}'::text[], 64, '{1,1,1}', 'java-hashcode')::bigint;
-- 32 bits in a bigint are searched exactly
CREATE TABLE narrow AS SELECT i AS id, simhash(md5(i::text) || ' ' || i % 9 || ' word', 'java-hashcode') AS fp
FROM generate_series(1, 3000) AS i;
CREATE INDEX narrow_fp ON narrow USING hamming (fp);
SET enable_seqscan = off;
SELECT k, count(*) AS found, count(*) = (SELECT count(*) FROM narrow AS o JOIN narrow AS p
                                         ON p.id <= 20 AND hamming(o.fp, p.fp) <= k) AS right
FROM generate_series(0, 8) AS k, narrow AS q JOIN LATERAL
    (SELECT FROM narrow AS n WHERE n.fp <@ (q.fp, k)) AS s ON true
WHERE q.id <= 20 GROUP BY k ORDER BY k;
RESET enable_seqscan;
DROP TABLE narrow;

----------------------------------------
-- daft-ngram, mfonda-word
----------------------------------------

-- as the programs themselves said; of features of which half have a bit, one has it
SELECT text, simhash(text, 'daft-ngram') AS daft, simhash(text, 'mfonda-word') AS mfonda
FROM unnest(ARRAY['', 'ab', '北京', '北京大学', 'a b', 'The quick brown fox jumps over the lazy dog',
    'İstanbul: 5 K, http://a.b/C?d=e don''t x:// _1']) AS text;
SELECT feature, hash FROM simhash_features('añ😀b', 'daft-ngram');
SELECT feature, weight FROM
    simhash_features('İSTANBUL: 5 K, HTTP://a.b/C?d=e don''t x:// é_1', 'mfonda-word');
SELECT simhash_bits('', 128, 'mfonda-word') = repeat('1', 128)::bit(128) AS ones,
    simhash_bits('a b c', 128, 'mfonda-word')::bit(64)::bigint = simhash('a b c', 'mfonda-word') AS first;

----------------------------------------
-- simhash_hashbits
----------------------------------------

SELECT simhash_hashbits('{this,is,a,test}') AS by_default, length(simhash_hashbits('{a}', 1)) AS one;
SELECT simhash_hashbits('{}', 8) AS none, simhash_hashbits('{""}', 8) AS empty,
    simhash_hashbits('{a,b}', 8) AS ties, simhash_hashbits(NULL) AS "null";
SELECT n, fails(format('SELECT simhash_hashbits(''{a}'', %s)', n))
FROM unnest('{0,-1,1025,4294967297}'::bigint[]) AS n;
SELECT fails($$SELECT simhash_hashbits('{a,NULL}')$$);
SELECT fails($$SELECT simhash_hashbits('{{a},{b}}')$$);
