--
-- pairs.c: simhash_pairs, simhash_clusters
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- 8 and 9 are equal; 1 - 2 - 3 - 4 is a chain, two bits from each to the next
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, born date);
INSERT INTO docs VALUES
    (1, 0, '2024-01-04'), (2, 3, '2024-01-03'), (3, 15, '2024-01-02'),
    (4, 63, '2024-01-01'), (5, -1, '2024-01-05'), (6, NULL, '2024-01-06'),
    (7, -72057594037927936, '2024-01-07'), (8, 81985529216486895, '2024-01-08'),
    (9, 81985529216486895, '2024-01-09'), (10, 81985529216486894, '2024-01-10');

----------------------------------------
-- simhash_pairs
----------------------------------------

SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 2) ORDER BY a, b;
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 0) ORDER BY a, b;
-- a < b whatever the order of the query; ids of other types
SELECT a, b, distance, pg_typeof(a) FROM simhash_pairs_as(NULL::text,
    'SELECT id::text || ''é'', fp FROM docs ORDER BY id DESC', k => 1) ORDER BY a, b;
SELECT a, b, pg_typeof(a) FROM simhash_pairs_as(NULL::uuid,
    'SELECT md5(id::text)::uuid, fp FROM docs', 0);
SELECT a, b, pg_typeof(a) FROM simhash_pairs_as(NULL::tid,
    'SELECT ctid, fp FROM docs', 0);
-- ids of six and of eight bytes, which are passed by reference
SELECT * FROM simhash_pairs_as(NULL::tid, $$VALUES ('(4294967294,65535)'::tid, 7::bigint),
    ('(0,65535)', 7), ('(70000,3)', 8)$$, 4);
SELECT id, cluster, representative FROM simhash_clusters_as(NULL::macaddr8, $$SELECT
    ('08:00:2b:01:02:03:04:' || n)::macaddr8, 7::bigint FROM generate_series(13, 11, -1) AS n$$, 0, keep => 'first');
SELECT fails($$SELECT * FROM simhash_pairs_as(NULL::tid, 'SELECT ''(1,2)''::tid, n FROM generate_series(1, 2::bigint) AS n')$$);
SELECT a, b FROM simhash_pairs('SELECT id::smallint, fp FROM docs', 0);
CREATE DOMAIN article AS int;
SELECT a, b FROM simhash_pairs('SELECT id::article, fp FROM docs', 0);
SELECT a, b, pg_typeof(a) FROM simhash_pairs_as(NULL::article,
    'SELECT id::article, fp FROM docs', 0);
-- ids that are stored out of line, in an array, or numeric
CREATE TABLE long (id text, fp bigint);
ALTER TABLE long ALTER id SET STORAGE EXTERNAL;
INSERT INTO long SELECT repeat(n::text, 10000), n / 2 FROM generate_series(1, 4) n;
SELECT length(a), left(a, 3) AS a, left(b, 3) AS b, distance
FROM simhash_pairs_as(NULL::text, 'SELECT * FROM long', 1) ORDER BY 2, 3;
SELECT a, b FROM simhash_pairs_as(NULL::int[], 'SELECT ARRAY[id, 0], fp FROM docs', 0);
SELECT a, b FROM simhash_pairs_as(NULL::numeric, 'SELECT id + 0.5, fp FROM docs', 0);
-- no row, one row
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs WHERE false');
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs WHERE id = 1');
-- rows to skip
SELECT * FROM simhash_pairs('SELECT nullif(id, 8), fp FROM docs', 0);
-- a query of any form that yields rows
SELECT * FROM simhash_pairs('VALUES (1, 5::bigint), (2, 4)');
-- no two are born on the same day
SELECT * FROM simhash_pairs('TABLE docs', 3);
SELECT * FROM simhash_pairs('WITH d AS (TABLE docs) SELECT id, fp FROM d', 0);

-- exact, whatever the distance
CREATE TABLE many AS
SELECT n AS id, CASE WHEN n % 3 = 0 THEN hashint8extended(n, 1) ELSE
    hashint8extended(n % 50, 2) #
    (hashint8extended(n, 3) & hashint8extended(n, 4) & hashint8extended(n, 5)
     & (hashint8extended(n, 6) | -4294967296)) END AS fp
FROM generate_series(1, 600) AS n;
SELECT k, p.pairs, p.wrong, b.pairs - p.pairs AS missing
FROM generate_series(0, 16) AS k,
     LATERAL (SELECT count(*) AS pairs,
                     count(*) FILTER (WHERE a >= b OR distance > k OR
                         distance <> x.fp <~> y.fp) AS wrong
              FROM simhash_pairs('SELECT * FROM many', k) AS p
              JOIN many AS x ON x.id = a JOIN many AS y ON y.id = b) AS p,
     LATERAL (SELECT count(*) AS pairs FROM many AS x, many AS y
              WHERE x.id < y.id AND x.fp <~> y.fp <= k) AS b;

----------------------------------------
-- simhash_clusters
----------------------------------------

SELECT * FROM simhash_clusters('SELECT id, fp FROM docs', 2, 'connected')
ORDER BY cluster, id;
-- a star, which is the default, reaches no further than k
SELECT * FROM simhash_clusters('SELECT id, fp FROM docs', 2, 'star')
ORDER BY cluster, id;
SELECT array_agg(c ORDER BY id) = (
    SELECT array_agg(d ORDER BY id) FROM simhash_clusters('SELECT id, fp FROM docs WHERE fp IS NOT NULL', 2, 'star') AS d) AS default
FROM simhash_clusters('SELECT id, fp FROM docs WHERE fp IS NOT NULL', 2) AS c;
-- keep the oldest
SELECT * FROM simhash_clusters('SELECT id, fp FROM docs ORDER BY born', 2,
    'connected', 'first') ORDER BY cluster, id;
SELECT * FROM simhash_clusters('SELECT id, fp FROM docs ORDER BY born', 2,
    'star', 'first', 1) ORDER BY cluster, id;
SELECT * FROM simhash_clusters('SELECT id, fp FROM docs', 2, 'connected', min_size => 4)
ORDER BY cluster, id;
SELECT * FROM simhash_clusters_as(NULL::text, 'SELECT ''n'' || id, fp FROM docs', k => 0);
-- properties of clusters of many rows
SELECT k, kind, sum(size) FILTER (WHERE c.id = representative) = count(*) AS sizes,
       count(*) = 600 AS everyone,
       bool_and(distance = x.fp <~> y.fp) AS distances,
       bool_and(distance <= k) OR kind = 'connected' AS within,
       bool_and(representative <= c.id) AS lowest,
       count(DISTINCT cluster) = max(cluster) AS numbers
FROM (VALUES (0), (3), (10), (16)) AS v(k),
     (VALUES ('connected'), ('star')) AS w(kind),
     LATERAL simhash_clusters('SELECT * FROM many', k, kind, min_size => 1) AS c
     JOIN many AS x ON x.id = c.id JOIN many AS y ON y.id = c.representative
GROUP BY k, kind ORDER BY k, kind;
-- connected clusters are what pairs connect, and no more
WITH RECURSIVE pairs AS MATERIALIZED (
    SELECT a, b FROM simhash_pairs('SELECT * FROM many', 5)
), reached AS (
    SELECT id::bigint AS id, id::bigint AS start FROM many
    UNION
    SELECT CASE WHEN a = r.id THEN b ELSE a END, start
    FROM reached AS r JOIN pairs ON r.id IN (a, b)
)
SELECT count(*), count(*) FILTER (WHERE c.representative IS DISTINCT FROM lowest)
    AS wrong
FROM (SELECT id, min(start) AS lowest FROM reached GROUP BY id) AS r
FULL JOIN simhash_clusters('SELECT * FROM many', 5, 'connected', min_size => 1) AS c USING (id);
-- many equal ones cost nothing much
SELECT count(*), min(size), max(distance)
FROM unnest('{connected,star}'::text[]) AS kind,
    simhash_clusters('SELECT n, 42::bigint FROM generate_series(1, 100000) n', kind => kind)
GROUP BY kind;

----------------------------------------
-- what a query may do
----------------------------------------

-- call the same functions
SELECT * FROM simhash_pairs(
    'SELECT id, fp FROM docs WHERE id IN (SELECT a FROM simhash_pairs(
        ''SELECT id, fp FROM docs'', 0) UNION SELECT 10)', 1) ORDER BY a, b;
-- be volatile; the caller may stop early, or ask again
SELECT count(*) FROM simhash_pairs('SELECT n, (random() * 0)::bigint
    FROM generate_series(1, 20) AS n');
SELECT count(*) FROM (SELECT * FROM simhash_pairs(
    'SELECT n, 1::bigint FROM generate_series(1, 100) AS n') LIMIT 3) AS p;
SELECT k, count(*) FROM generate_series(0, 2) AS k,
    LATERAL simhash_pairs('SELECT id, fp FROM docs', k) GROUP BY k ORDER BY k;
-- write nothing, not even by a function
CREATE FUNCTION intrude() RETURNS bigint LANGUAGE sql AS
    'INSERT INTO docs VALUES (99, 1) RETURNING fp';
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, fp FROM docs FOR UPDATE'')');
SELECT fails('SELECT * FROM simhash_pairs(
    ''WITH d AS (SELECT * FROM docs FOR UPDATE) SELECT id, fp FROM d'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, fp INTO other FROM docs'')');
BEGIN READ ONLY;
SELECT fails('SELECT * FROM simhash_pairs(''SELECT 1, intrude()'')');
ROLLBACK;
DROP FUNCTION intrude;
-- out of a cursor that outlives the transaction
BEGIN;
DECLARE c CURSOR WITH HOLD FOR
SELECT a, b FROM simhash_pairs('SELECT id, fp FROM docs', 0);
COMMIT;
FETCH ALL FROM c;
CLOSE c;

-- a distance of NULL is the default one
SELECT count(*) FROM simhash_pairs('VALUES (1, 0::bigint), (2, 7), (3, 240)', NULL);

----------------------------------------
-- what cannot be done
----------------------------------------

SELECT fails('SELECT * FROM simhash_pairs(NULL)');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT 1, 2::bigint'', -1)');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT 1, 2::bigint'', 17)');
-- not a query
SELECT fails('SELECT * FROM simhash_pairs('''')');
SELECT fails('SELECT * FROM simhash_pairs(''nonsense'')');
SELECT fails('SELECT * FROM simhash_pairs(''docs'')');
SELECT fails('SELECT * FROM simhash_clusters(''"docs"'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, fp FORM docs'')');
SELECT fails('SELECT * FROM simhash_pairs('' ( select id, fp FROM docs'')');
SELECT fails('SELECT * FROM simhash_pairs(''DELETE FROM docs RETURNING id, fp'')');
SELECT fails('SELECT * FROM simhash_pairs(''DELETE FROM docs'')');
SELECT fails('SELECT * FROM simhash_pairs(
    ''WITH d AS (DELETE FROM docs RETURNING *) SELECT id, fp FROM d'')');
SELECT fails('SELECT * FROM simhash_pairs(''DROP TABLE docs'')');
SELECT fails('SELECT * FROM simhash_pairs(''SHOW work_mem'')');
SELECT fails('SELECT * FROM simhash_pairs(''COMMIT'')');
SELECT fails('SELECT * FROM simhash_pairs(
    ''SELECT 1, 2::bigint; SELECT 3, 4::bigint'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, fp FROM nonesuch'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT 1 / 0, 2::bigint'')');
-- another shape, another type
SELECT fails('SELECT * FROM simhash_pairs(''SELECT fp FROM docs'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT FROM docs'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT fp, id FROM docs'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id::text, fp FROM docs'')');
SELECT fails('SELECT * FROM simhash_pairs_as(NULL::point, ''SELECT point(1, 2), 3::bigint'')');
SELECT fails('SELECT * FROM simhash_pairs_as(NULL, ''SELECT NULL, 3::bigint'', 3)');
-- the same id twice
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id / 2, fp FROM docs'')');
SELECT fails('SELECT * FROM simhash_clusters(
    ''SELECT id % 4, fp FROM docs'', keep => ''first'')');
-- words that are not known
SELECT fails('SELECT * FROM simhash_clusters(''SELECT 1, 2::bigint'', 3, ''round'')');
SELECT fails('SELECT * FROM simhash_clusters(''SELECT 1, 2::bigint'', 3, NULL)');
SELECT fails('SELECT * FROM simhash_clusters(''SELECT 1, 2::bigint'', keep => ''last'')');
SELECT fails('SELECT * FROM simhash_clusters(''SELECT 1, 2::bigint'', min_size => NULL)');
-- not enough memory
SET maintenance_work_mem = '1MB';
SELECT regexp_replace(fails('SELECT * FROM simhash_clusters(
    ''SELECT n, n FROM generate_series(1, 200000::bigint) n'')'), 'some \d+|\d+MB', 'so much', 'g') AS fails;
SELECT regexp_replace(fails('SELECT * FROM simhash_clusters_as(NULL::text,
    ''SELECT repeat(n::text, 100), n FROM generate_series(1, 200000::bigint) n'')'), 'some \d+|\d+MB', 'so much', 'g') AS fails;
RESET maintenance_work_mem;
-- cancelled midway
SET statement_timeout = '300ms';
SELECT count(*) FROM simhash_pairs(
    'SELECT n, n FROM generate_series(1, 100000::bigint) n', 16);  -- error
RESET statement_timeout;
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 0);

-- the rights of the caller
CREATE ROLE regress_report_reader;
SET ROLE regress_report_reader;
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs');         -- error
RESET ROLE;
DROP ROLE regress_report_reader;

-- what the planner expects: enough rows to read a table once, not row by row
CREATE TABLE joined AS SELECT n AS id, n AS fp FROM generate_series(1, 50000::bigint) AS n;
ALTER TABLE joined ADD PRIMARY KEY (id);
ANALYZE joined;
SELECT estimate('SELECT * FROM simhash_pairs(''SELECT id, fp FROM joined'')') AS pairs,
       estimate('SELECT * FROM simhash_clusters(''SELECT id, fp FROM joined'')') AS clusters;
EXPLAIN (COSTS OFF) UPDATE joined SET fp = c.representative
FROM simhash_clusters('SELECT id, fp FROM joined') AS c WHERE joined.id = c.id;
EXPLAIN (COSTS OFF) SELECT x.fp, y.fp
FROM simhash_pairs('SELECT id, fp FROM joined')
JOIN joined AS x ON x.id = a JOIN joined AS y ON y.id = b;
-- but row by row when only a few are wanted
EXPLAIN (COSTS OFF) SELECT x.fp, y.fp
FROM simhash_pairs('SELECT id, fp FROM joined')
JOIN joined AS x ON x.id = a JOIN joined AS y ON y.id = b LIMIT 10;
-- a query that cannot be run can be explained
EXPLAIN (COSTS OFF) SELECT * FROM simhash_pairs('SELECT id, fp FROM nonesuch');
DROP TABLE joined;

-- progress
SELECT fails('SET simhash.progress = ''loud''');
SHOW simhash.progress;
SELECT application_name = current_setting('application_name') AS name_is_back
FROM pg_stat_activity WHERE pid = pg_backend_pid();

DROP TABLE docs, long, many;

----------------------------------------
-- simhash_report, simhash_dedup_sql
----------------------------------------

CREATE TABLE "Some docs" (id int, body text, born date, fp bigint
    GENERATED ALWAYS AS (length(body)::bigint << length(body) % 40) STORED);
INSERT INTO "Some docs"
SELECT n, CASE WHEN n <= 5 THEN 'an apple' WHEN n <= 8 THEN 'a pear'
    WHEN n < 12 THEN repeat('x', n * n) END, date '2024-01-31' - n
FROM generate_series(1, 12) AS n;
SELECT * FROM simhash_report('"Some docs"', 'fp', 2);
SELECT * FROM simhash_report('"Some docs"', 'fp', 3) WHERE section = 'advice';
-- not a fingerprint of a row
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''body'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''id'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''fpp'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''fp, id'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''t.*'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''max(fp)'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''row_number() OVER ()'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''generate_series(fp, fp)'')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', '''')');
SELECT fails('SELECT * FROM simhash_report(''"Some docs"'', ''fp) OR (true'')');
SELECT fails('SELECT * FROM simhash_report(0::regclass, ''fp'')');
SELECT fails('SELECT simhash_dedup_sql(''"Some docs"'', ''body'')');
SELECT fails('SELECT simhash_dedup_sql(''"Some docs"'', ''fpp'')');
SELECT fails('SELECT simhash_dedup_sql(''"Some docs"'', ''fp'', 17)');
SELECT fails('SELECT simhash_dedup_sql(''"Some docs"'', ''fp'', 3, ''round'')');
SELECT fails('SELECT simhash_dedup_sql(0::regclass, ''fp'')');
-- an error points into the expression, and shows no query of ours
\set SHOW_CONTEXT never
SELECT * FROM simhash_report('"Some docs"', 'length(bodyy)');       -- error
\set SHOW_CONTEXT errors
-- a subquery will do
SELECT value FROM simhash_report('"Some docs"',
    '(SELECT max(id) / 2::bigint FROM "Some docs" AS s WHERE s.id <= t.id)', 0)
WHERE item = 'redundant rows';
SELECT * FROM simhash_report('"Some docs"', 'id::bigint', 0)
WHERE section IN ('duplicates', 'advice');
SELECT simhash_dedup_sql('"Some docs"', 'fp', 2);
SELECT simhash_dedup_sql('"Some docs"', 'fp', 2, keep => 'born, id') AS command \gset
\echo :command
-- what is kept: one of each
BEGIN;
:command;
SELECT id, body FROM "Some docs" ORDER BY id;
ROLLBACK;
CREATE TABLE parts (id int, fp bigint) PARTITION BY LIST (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts VALUES (1, 5), (2, 5), (2, 77);
SELECT * FROM simhash_report('parts', 'fp') WHERE section IN ('duplicates', 'largest clusters');
SELECT simhash_dedup_sql('parts', 'fp') AS command \gset
\echo :command
BEGIN;
:command;
SELECT tableoid::regclass, * FROM parts ORDER BY id, fp;
ROLLBACK;
SELECT simhash_dedup_sql('parts', 'fp', 0, keep => 'id DESC') AS command \gset
BEGIN;
:command;
SELECT tableoid::regclass, * FROM parts ORDER BY id, fp;
ROLLBACK;
-- names that need quotes, a composite key, rows that refer to the table
CREATE SCHEMA "Odd ""schema""";
CREATE TABLE "Odd ""schema"""."a'b" ("Key 1" int, "Key 2" text, "fp'" bigint,
    PRIMARY KEY ("Key 1", "Key 2"));
CREATE TABLE refers (n int, a int, b text, CONSTRAINT "Refers" FOREIGN KEY (a, b)
    REFERENCES "Odd ""schema"""."a'b" ON DELETE CASCADE);
INSERT INTO "Odd ""schema"""."a'b" VALUES (1, 'x', 5), (1, 'y', 4), (2, 'x', 77);
INSERT INTO refers VALUES (1, 1, 'x'), (2, 1, 'y');
SELECT * FROM simhash_report('"Odd ""schema"""."a''b"', '"fp''"')
WHERE section = 'advice';
SELECT simhash_dedup_sql('"Odd ""schema"""."a''b"', '"fp''"', 3,
    keep => '"Key 2" DESC') AS command \gset
\echo :command
BEGIN;
:command;
TABLE "Odd ""schema"""."a'b" ORDER BY 1, 2;
TABLE refers;
ROLLBACK;
DROP TABLE refers, "Odd ""schema"""."a'b";
DROP SCHEMA "Odd ""schema""";
-- each value is one line, whatever names and texts hold
CREATE TABLE "two
lines" AS SELECT n AS id, E'a\n\nb\r\n\tc\x7f' || repeat('d', 300) AS body, 7::bigint AS fp FROM generate_series(1, 1235) AS n;
SELECT section, item, value FROM simhash_report(E'"two\nlines"', 'fp', condition => E'id > 0\n')
WHERE section IN ('table', 'largest clusters', 'advice');
DROP TABLE "two
lines";
-- row security: what the caller does not see is neither compared nor deleted
CREATE ROLE regress_report_reader;
CREATE TABLE guarded (id int, fp bigint);
INSERT INTO guarded VALUES (1, 5), (2, 5), (3, 5);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY others ON guarded USING (id > 1);
GRANT ALL ON guarded TO regress_report_reader;
SET ROLE regress_report_reader;
SELECT simhash_dedup_sql('guarded', 'fp') AS command \gset
\echo :command
BEGIN;
:command;
RESET ROLE;
TABLE guarded;
ROLLBACK;
RESET ROLE;
DROP TABLE guarded;
DROP ROLE regress_report_reader;
-- not a table
CREATE VIEW seen AS TABLE parts;
CREATE MATERIALIZED VIEW kept AS TABLE parts;
SELECT fails('SELECT simhash_dedup_sql(''seen'', ''fp'')');
SELECT fails('SELECT simhash_dedup_sql(''kept'', ''fp'')');
SELECT fails('SELECT * FROM simhash_report(''seen'', ''fp'')');
SELECT * FROM simhash_report('kept', 'fp') WHERE section IN ('duplicates', 'advice');
DROP VIEW seen;
DROP MATERIALIZED VIEW kept;
SELECT fails('SELECT simhash_dedup_sql(NULL, ''fp'')');
SELECT fails('SELECT * FROM simhash_report(''parts'', NULL)');
SELECT fails('SELECT * FROM simhash_report(''parts'', ''nonesuch'')');
CREATE TABLE empty (fp bigint);
SELECT * FROM simhash_report('empty', 'fp');
-- what is told is what would be deleted: chains, and crowds around centers
CREATE TABLE chains AS
SELECT n AS id, CASE WHEN n <= 300 THEN -1::bigint << n % 60
    ELSE hashint8extended(n % 7, 1) # (hashint8extended(n, 2) & hashint8extended(n, 3)
        & hashint8extended(n, 4) & hashint8extended(n, 5)) END AS fp
FROM generate_series(1, 600) AS n;
CREATE TABLE chained (LIKE chains) PARTITION BY LIST (id);
CREATE TABLE chained_2 PARTITION OF chained DEFAULT;
CREATE TABLE chained_1 PARTITION OF chained FOR VALUES IN (3, 5, 8, 13, 21, 34, 55, 89, 144, 233);
INSERT INTO chained TABLE chains;
CREATE FUNCTION deleted(relation regclass, k int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    n bigint := -1;
BEGIN
    EXECUTE simhash_dedup_sql(relation, 'fp', k);
    GET DIAGNOSTICS n = ROW_COUNT;
    RAISE 'undo';
EXCEPTION WHEN raise_exception THEN
    RETURN n;
END $$;
SELECT relation, k, max(value) FILTER (WHERE item = 'redundant rows') AS told,
       deleted(relation, k),
       max(value) FILTER (WHERE item = 'delete') LIKE deleted(relation, k) || ' of 600 rows (%' AS advised,
       sum(value::bigint) FILTER (WHERE section = 'distances') = deleted(relation, k) AS bars,
       max(substr(item, 28)::int) FILTER (WHERE section = 'distances') <= k AS near
FROM unnest('{chains,chained}'::regclass[]) AS relation, generate_series(0, 8, 2) AS k,
     LATERAL simhash_report(relation, 'fp', k)
GROUP BY relation, k ORDER BY relation, k;
DROP TABLE chains, chained;
DROP FUNCTION deleted;
-- bytes are those that the table takes, with texts that are compressed or apart
CREATE TABLE sized AS
SELECT n AS id, 1::bigint AS fp, CASE n % 3 WHEN 0 THEN 'short' WHEN 1 THEN repeat('to compress ', 2000)
    ELSE (SELECT string_agg(md5((m * n)::text), ' ') FROM generate_series(1, 200) AS m) END AS body
FROM generate_series(1, 999) AS n;
SELECT value::numeric / pg_table_size('sized') BETWEEN 0.7 AND 1 AS told
FROM simhash_report('sized', 'fp') WHERE item = 'bytes of redundant rows';
DROP TABLE sized;
-- rows on another server
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE TABLE spread (id int, fp bigint) PARTITION BY LIST (id);
CREATE FOREIGN TABLE spread_1 PARTITION OF spread DEFAULT SERVER nowhere;
CREATE TABLE parent (id int, fp bigint);
CREATE FOREIGN TABLE child () INHERITS (parent) SERVER nowhere;
SELECT fails('SELECT simhash_dedup_sql(''spread'', ''fp'')');
SELECT fails('SELECT simhash_dedup_sql(''parent'', ''fp'')');
DROP TABLE spread, parent CASCADE;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
-- Rows that Citus has distributed go by their key; here its list of tables does
-- for Citus.  No two keys of several columns may be taken for the same.
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass);
CREATE TABLE keys (a text, b text, fp bigint, PRIMARY KEY (a, b));
INSERT INTO pg_catalog.pg_dist_partition VALUES ('keys');
INSERT INTO keys SELECT a, b, row_number() OVER () * 1000000
FROM unnest(ARRAY['', '''', ',', ''',''', '\', 'E', 'x']) AS a,
    unnest(ARRAY['', '''', ',', ''',''', '\', 'E', 'x']) AS b;
INSERT INTO keys SELECT 'copy of ' || a, b, fp FROM keys;
SELECT simhash_dedup_sql('keys', 'fp', 0, keep => 'length(a)') AS command \gset
:command;
SELECT count(*), count(DISTINCT fp), count(*) FILTER (WHERE a LIKE 'copy%') AS copies FROM keys;
DROP TABLE keys, pg_catalog.pg_dist_partition;
RESET allow_system_table_mods;
DROP TABLE "Some docs", parts, empty;

----------------------------------------
-- the recipes of docs/dedup.md
----------------------------------------

-- clusters kept up to date
CREATE TABLE docs (id bigint PRIMARY KEY, fp bigint);
INSERT INTO docs VALUES (1, 0), (2, 1), (3, -1), (4, NULL);
CREATE INDEX docs_fp ON docs USING hamming (fp);
ALTER TABLE docs ADD cluster bigint;
UPDATE docs SET cluster = c.representative
FROM simhash_clusters('SELECT id, fp FROM docs', kind => 'star',
                      min_size => 1) AS c
WHERE docs.id = c.id;
CREATE FUNCTION docs_cluster() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT cluster INTO NEW.cluster FROM docs
    WHERE fp ~= NEW.fp ORDER BY fp <~> NEW.fp, id LIMIT 1;
    NEW.cluster := coalesce(NEW.cluster, NEW.id);
    RETURN NEW;
END $$;
CREATE TRIGGER docs_cluster BEFORE INSERT ON docs
FOR EACH ROW EXECUTE FUNCTION docs_cluster();
INSERT INTO docs VALUES (5, -2), (6, 255), (7, 3), (8, 127);
SELECT * FROM docs ORDER BY id;
-- the look-up of the trigger goes to the index
INSERT INTO docs SELECT n, hashint8extended(n, 1), n
FROM generate_series(1000, 10000) AS n;
ANALYZE docs;
PREPARE nearest (bigint) AS
    SELECT cluster FROM docs
    WHERE fp ~= $1 ORDER BY fp <~> $1, id LIMIT 1;
SET plan_cache_mode = force_generic_plan;
DO $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) EXECUTE nearest (7)' INTO plan;
    RAISE NOTICE 'index docs_fp: %', plan::text ~ '"Index Name": "docs_fp"';
END $$;
RESET plan_cache_mode;
-- a new batch against an archive
CREATE TABLE batch AS SELECT n AS id, (n * 5)::bigint AS fp
FROM generate_series(1, 3) AS n;
ANALYZE batch;
EXPLAIN (COSTS OFF)
SELECT b.id, a.id, a.fp <~> b.fp AS distance
FROM batch AS b JOIN docs AS a ON a.fp ~= b.fp;
SELECT b.id, a.id, a.fp <~> b.fp AS distance
FROM batch AS b JOIN docs AS a ON a.fp ~= b.fp ORDER BY 1, 2;
SELECT -a AS batch_id, b AS archive_id, distance
FROM simhash_pairs('SELECT -id, fp FROM batch UNION ALL
                    SELECT id, fp FROM docs', 3)
WHERE a < 0 AND b > 0 ORDER BY 1, 2;
DROP TABLE docs, batch;
DROP FUNCTION docs_cluster;
