--
-- row_groups.c: pairs and clusters within groups of rows
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- near and equal fingerprints in every group, and rows without a group
CREATE TABLE docs AS
SELECT n AS id, hashint8extended(n % 60, 1) # (1::bigint << n % 64) # (1::bigint << n * 7 % 64) AS fp,
       CASE WHEN n % 50 > 0 THEN 'site' || n % 5 END AS site,
       CASE WHEN n % 70 > 0 THEN n % 3 END AS lang
FROM generate_series(1, 900) AS n;

----------------------------------------
-- exact, whatever the distance
----------------------------------------

SELECT k, p.pairs, p.wrong, b.pairs - p.pairs AS missing
FROM unnest('{0,1,3,4,8,11,16}'::int[]) AS k,
     LATERAL (SELECT count(*) AS pairs,
                     count(*) FILTER (WHERE (x.site = y.site AND x.lang = y.lang) IS NOT TRUE
                         OR a >= b OR distance > k OR distance <> x.fp <~> y.fp) AS wrong
              FROM simhash_pairs('SELECT id, fp, site, lang FROM docs', k) AS p
              JOIN docs AS x ON x.id = a JOIN docs AS y ON y.id = b) AS p,
     LATERAL (SELECT count(*) AS pairs FROM docs AS x JOIN docs AS y USING (site, lang)
              WHERE x.id < y.id AND x.fp <~> y.fp <= k) AS b;
-- clusters are those that each group has by itself; who is in none is alone
SELECT k, kind, keep, count(*) AS rows, count(*) FILTER (WHERE c.representative IS DISTINCT FROM
    coalesce(g.representative, g.id) OR c.size <> g.size OR c.distance <> g.distance) AS wrong
FROM (VALUES (0), (3), (8), (16)) AS v(k),
     (VALUES ('connected', 'lowest'), ('star', 'lowest'), ('star', 'first')) AS w(kind, keep),
     LATERAL (SELECT c.* FROM (SELECT DISTINCT site, lang FROM docs
                               WHERE site IS NOT NULL AND lang IS NOT NULL) AS s,
              LATERAL simhash_clusters(format('SELECT id, fp FROM docs WHERE site = %L
                  AND lang = %s ORDER BY id %% 7, id', site, lang), k, kind, keep, 1) AS c
              UNION ALL
              SELECT id, 0, id, 0, 1, NULL FROM docs WHERE site IS NULL OR lang IS NULL) AS g
     FULL JOIN simhash_clusters('SELECT id, fp, lang, site FROM docs ORDER BY id % 7, id',
         k, kind, keep, 1) AS c USING (id)
GROUP BY k, kind, keep ORDER BY k, kind, keep;
-- a crowd in each of three groups, and two groups of one row each
CREATE TABLE crowd AS
SELECT n AS id, (hashint8extended(n, 1) & hashint8extended(n, 2) & hashint8extended(n, 3)
                 & hashint8extended(n, 4)) AS fp, n % 3 AS g
FROM generate_series(1, 9000) AS n;
INSERT INTO crowd VALUES (9001, 0, 3), (9002, 0, 4);
SELECT g, count(*) = max(size) AS one, min(representative) = min(id) AS lowest
FROM simhash_clusters('TABLE crowd', 16, 'connected', min_size => 1) AS c JOIN crowd USING (id)
GROUP BY g ORDER BY g;
SELECT count(*) FILTER (WHERE x.g <> y.g OR x.fp <~> y.fp > 10) AS wrong
FROM simhash_clusters('TABLE crowd', 10, 'star') AS c
JOIN crowd AS x USING (id) JOIN crowd AS y ON y.id = representative;
-- without a fingerprint a row is in a group of its own, too, where all rows are asked for
CREATE TABLE hits (rank int, id int, fp bigint, wide bit varying(100), site int, body text);
INSERT INTO hits VALUES (1, 30, NULL, NULL, 1, 'a b c d e f'), (2, 10, 7, (7::bit(100)), 1, 'a b c d e f'), (3, 20, 7, 7::bit(100), 1, 'a b c d e f'),
    (4, 5, NULL, NULL, NULL, 'a b c d e f'), (5, 1, 8, 8::bit(100), NULL, 'a b c d e f'), (6, NULL, NULL, NULL, 1, NULL), (7, NULL, 8, 8::bit(100), 1, NULL);
SELECT * FROM simhash_clusters('SELECT id, fp FROM hits ORDER BY rank', keep => 'first', min_size => 1);
SELECT * FROM simhash_clusters('SELECT id, fp FROM hits ORDER BY rank', keep => 'first');
SELECT * FROM simhash_clusters('SELECT id, wide, body FROM hits ORDER BY rank', min_size => -1, document => 'body', at_least => .5);
SELECT * FROM simhash_clusters('SELECT id, fp, site FROM hits ORDER BY rank', kind => 'connected', keep => 'first', min_size => 1);
SELECT * FROM simhash_clusters('SELECT id, NULL::bit varying FROM hits WHERE rank < 5', min_size => 1);
SELECT fails($$SELECT * FROM simhash_clusters('SELECT rank % 6, fp FROM hits', min_size => 1)$$);
SET client_min_messages = warning;
SELECT keep, kind, k, count(*) FILTER (WHERE (a.representative, a.size, a.distance) IS DISTINCT FROM
    (coalesce(b.representative, a.id), coalesce(b.size, 1), coalesce(b.distance, 0))) AS wrong, count(*) AS rows
FROM (VALUES ('lowest'), ('first')) AS v(keep), (VALUES ('star'), ('connected')) AS w(kind), unnest('{0,3,8}'::int[]) AS k,
     LATERAL simhash_clusters('SELECT id, CASE WHEN id % 4 > 0 THEN fp END, site FROM docs ORDER BY id % 7, id', k, kind, keep, 1) AS a
     LEFT JOIN LATERAL simhash_clusters('SELECT id, fp, site FROM docs WHERE id % 4 > 0 ORDER BY id % 7, id', k, kind, keep, 1) AS b USING (id)
GROUP BY keep, kind, k ORDER BY keep, kind, k;
RESET client_min_messages;
-- ids of other types
SELECT count(*) FROM simhash_pairs_as(NULL::text, 'SELECT id::text, fp, site FROM docs', 0);
SELECT count(*) FROM simhash_clusters_as(NULL::tid, 'SELECT ctid, fp, site FROM docs', 0);
-- as many groups as rows, one group, no row
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint, n FROM generate_series(1, 100000) AS n');
SELECT max(size) FROM simhash_clusters('SELECT n, 1::bigint, 1 FROM generate_series(1, 100000) AS n');
SELECT count(*) FROM simhash_clusters('SELECT id, fp, site FROM docs WHERE false', min_size => 1);
-- rows without a fingerprint or an id are skipped, and make no group
SELECT * FROM simhash_pairs('VALUES (1, 5::bigint, 1), (2, 5, 1), (3, NULL, 1), (NULL, 5, 1), (4, 5, NULL)');

----------------------------------------
-- what is equal
----------------------------------------

-- pairs of rows whose values are told to be equal are those found
CREATE FUNCTION equals(type text, VARIADIC list text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
    expected text;
BEGIN
    EXECUTE format('SELECT string_agg(a || ''='' || b, '' '' ORDER BY a, b) FROM simhash_pairs(
        ''SELECT n, 7::bigint, v::%s FROM unnest(%s::text[]) WITH ORDINALITY AS u (v, n)'')',
        type, replace(quote_literal(list), '''', '''''')) INTO result;
    EXECUTE format('SELECT string_agg(x.n || ''='' || y.n, '' '' ORDER BY x.n, y.n)
        FROM unnest($1) WITH ORDINALITY AS x (v, n), unnest($1) WITH ORDINALITY AS y (v, n)
        WHERE x.n < y.n AND x.v::%1$s = y.v::%1$s', type) INTO expected USING list;
    RETURN coalesce(result, 'none') ||
        CASE WHEN result IS DISTINCT FROM expected THEN ' instead of ' || expected ELSE '' END;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE TYPE mood AS ENUM ('well', 'ill');
CREATE TYPE place AS (site text, lang numeric);
CREATE DOMAIN positive AS int CHECK (value > 0);
SELECT equals('smallint', '1', '2', '1'), equals('bigint', '1', '-1', '1'),
       equals('text', 'a', 'A', 'a ', 'a', repeat('a', 10000), repeat('a', 10000));
SELECT equals('char(5)', 'a', 'a ', 'b'), equals('varchar', 'a', 'a ', 'a'), equals('name', 'a', 'b', 'a'),
       equals('"char"', 'a', 'b', 'a'), equals('bytea', '\x00', '\x0000', '\x00');
SELECT equals('numeric', '1', '1.00', '1.01', 'NaN', 'NaN'), equals('float8', '0', '-0', '1', 'NaN', 'NaN'),
       equals('float4', '0', '-0', '1e-40');
SELECT equals('boolean', 't', 'f', 'true'), equals('uuid', repeat('0', 32), repeat('1', 32), repeat('0', 32)),
       equals('oid', '1', '2', '1'), equals('date', '2024-01-01', '2024-01-02', '20240101');
SELECT equals('timestamptz', '2024-01-01 00:00 UTC', '2024-01-01 01:00+01', '2024-01-02'),
       equals('interval', '1 day', '24 hours', '25 hours'), equals('inet', '1.2.3.4', '1.2.3.4/32', '1.2.3.5'),
       equals('jsonb', '{"a": 1, "b": 2}', '{"b":2,"a":1.0}', '{}'), equals('int4range', '[1,3)', '(0,2]', '[1,3]');
SELECT equals('mood', 'well', 'ill', 'well'), equals('positive', '1', '2', '1'),
       equals('int[]', '{1,NULL}', '{1}', '{1,NULL}'), equals('place', '(a,1)', '(a,1.0)', '(a,)', '(a,)'),
       equals('tid', '(0,1)', '(0,2)', '(0,1)');
SELECT equals('text', 'a', NULL, 'a', NULL), equals('place', NULL, '(,)', NULL);
-- by the collation of the column
CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
SELECT equals('text COLLATE blind', 'a', 'A', 'b'), equals('text', 'a', 'A', 'b');
SELECT * FROM simhash_pairs('SELECT n, 1::bigint, v COLLATE blind, v COLLATE "C" FROM
    (VALUES (1, ''a''), (2, ''A''), (3, ''a'')) AS t (n, v)');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT n, 1::bigint, v COLLATE "C" || v COLLATE blind
    FROM (VALUES (1, ''''a'''')) AS t (n, v)'')');
-- what has no hash
SELECT equals('point', '(1,2)'), equals('money', '1'), equals('json', '{}'), equals('int[]', '{}', '{}');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT 1, 2::bigint, 3, ARRAY[point(1, 2)]'')');
-- a type whose equality fails: as in any query
SET client_min_messages = warning;
CREATE TYPE odd;
CREATE FUNCTION odd_in(cstring) RETURNS odd LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION odd_out(odd) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE odd (INPUT = odd_in, OUTPUT = odd_out, LIKE = int);
RESET client_min_messages;
CREATE CAST (odd AS int) WITHOUT FUNCTION;
CREATE FUNCTION odd_eq(a odd, b odd) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    IF a::int = 3 THEN RAISE 'odd'; END IF;
    RETURN a::int = b::int;
END $$;
CREATE FUNCTION odd_hash(a odd) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR = (FUNCTION = odd_eq, LEFTARG = odd, RIGHTARG = odd);
SELECT equals('odd', '1', '2', '1');
CREATE OPERATOR CLASS odd_ops DEFAULT FOR TYPE odd USING hash AS OPERATOR 1 =, FUNCTION 1 odd_hash(odd);
SELECT equals('odd', '1', '2', '1'), equals('odd', '3', '2', '1');
SELECT count(*) FROM pg_backend_memory_contexts WHERE name ~ '^simhash';
DROP TYPE odd CASCADE;

----------------------------------------
-- memory
----------------------------------------

SET maintenance_work_mem = '1MB';
SELECT fails('SELECT * FROM simhash_pairs(''SELECT n, n, repeat(n::text, 20)
    FROM generate_series(1, 20000::bigint) n'')') AS told \gset
SELECT substring(:'told' FROM 'SET [^.]+MB''') AS command \gset
:command;
SELECT count(*) FROM simhash_pairs('SELECT n, n, repeat(n::text, 20) FROM generate_series(1, 20000::bigint) n');
RESET maintenance_work_mem;
-- no memory is left behind
SELECT count(*) FROM generate_series(1, 3), LATERAL simhash_pairs('SELECT id, fp, site FROM docs', 0);
SELECT memory_in_use() AS before \gset
SELECT count(*) FROM generate_series(1, 300), LATERAL simhash_pairs('SELECT id, fp, site FROM docs', 0);
SELECT memory_in_use() - :before < 500000 AS no_growth;

----------------------------------------
-- simhash_report, simhash_dedup_sql
----------------------------------------

CREATE TABLE "Docs" (id int, fp bigint, "Site's" text, "Lang ""x""" int);
INSERT INTO "Docs" VALUES (1, 5, 'a', 1), (2, 5, 'a', 1), (3, 4, 'a', 2), (4, 5, 'b', 1), (5, 5, 'b', 1),
    (6, 7, 'b', 1), (7, 5, NULL, 1), (8, 5, NULL, 1), (9, NULL, 'a', 1);
SELECT * FROM simhash_report('"Docs"', 'fp', 1, within => '{Site''s,"Lang \"x\""}');
SELECT section, item, value FROM simhash_report('"Docs"', 'fp', within => '{Site''s}')
WHERE section IN ('table', 'duplicates', 'advice');
SELECT simhash_dedup_sql('"Docs"', 'fp', 1, keep => 'id DESC', within => '{Site''s,"Lang \"x\""}')
AS command \gset
\echo :command
BEGIN;
:command;
TABLE "Docs" ORDER BY id;
ROLLBACK;
CREATE TABLE parts (site int, fp bigint) PARTITION BY LIST (site);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 5), (1, 4), (2, 5), (2, 77);
SELECT section, item, value FROM simhash_report('parts', 'fp', within => '{site}')
WHERE section IN ('table', 'duplicates', 'largest clusters');
SELECT simhash_dedup_sql('parts', 'fp', within => '{site}') AS command \gset
\echo :command
BEGIN;
:command;
TABLE parts ORDER BY site, fp;
ROLLBACK;
-- a table without rows, and one without a row in a group
CREATE TABLE bare (id int, fp bigint, g int, p point);
SELECT item, value FROM simhash_report('bare', 'fp', within => '{g}');
INSERT INTO bare VALUES (1, 5, NULL), (2, 5, NULL);
SELECT item, value FROM simhash_report('bare', 'fp', within => '{g}');
-- what cannot be
SELECT fails('SELECT * FROM simhash_report(''bare'', ''fp'', within => ''{nonesuch}'')');
SELECT fails('SELECT * FROM simhash_report(''bare'', ''fp'', within => ''{ctid}'')');
SELECT fails('SELECT * FROM simhash_report(''bare'', ''fp'', within => ''{g,NULL}'')');
SELECT fails('SELECT * FROM simhash_report(''bare'', ''fp'', within => NULL)');
SELECT fails('SELECT * FROM simhash_report(''bare'', ''fp'', within => ''{p}'')');
SELECT fails('SELECT * FROM simhash_report(''bare'', ''fp'', within => ''{"g, id"}'')');
SELECT fails('SELECT simhash_dedup_sql(''bare'', ''fp'', within => ''{nonesuch}'')');
SELECT fails('SELECT simhash_dedup_sql(''bare'', ''fp'', within => NULL)');

DROP TABLE docs, crowd, "Docs", parts, bare;
DROP FUNCTION equals;
DROP TYPE mood;
DROP TYPE place;
DROP DOMAIN positive;
DROP COLLATION blind;
