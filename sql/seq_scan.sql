--
-- seq_scan.c: the sequential scan that tests the distance first
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;

-- NULLs, a column of varying length before the fingerprint, a dropped column,
-- and a fingerprint that older rows only have as the default of a new column
CREATE TABLE docs (id int, gone text, body text, fp bigint);
INSERT INTO docs
SELECT i, 'gone', CASE WHEN i % 3 > 0 THEN repeat('x', i % 50) END,
    CASE WHEN i % 7 > 0 THEN hashint8extended(i % 100, 42) # (1::bigint << i % 64) END
FROM generate_series(1, 3000) AS i;
ALTER TABLE docs DROP COLUMN gone;
ALTER TABLE docs ADD COLUMN later bigint DEFAULT 7;
INSERT INTO docs SELECT id + 3000, body, fp, fp FROM docs;
ANALYZE docs;

----------------------------------------
-- plans
----------------------------------------

SELECT plan('SELECT * FROM docs WHERE fp ~= 42');
SELECT plan('SELECT * FROM docs WHERE 42 ~= fp AND id > 3');
SELECT plan('SELECT * FROM docs WHERE fp <@ (42, 8)');
SELECT plan('SELECT * FROM docs WHERE hamming_ball(42, 8) @> fp');
-- the query side is evaluated once
SELECT plan('SELECT * FROM docs WHERE fp ~= (SELECT 42::bigint)');
SELECT plan('UPDATE docs SET body = NULL WHERE fp ~= 42');
-- of several searches one is tested first, and all are in the end
SELECT plan('SELECT * FROM docs WHERE fp <@ (42, 30) AND later ~= 42');

-- not when the query side depends on the row, or differs each time
SELECT plan('SELECT * FROM docs WHERE fp ~= later');
SELECT plan('SELECT * FROM docs WHERE fp ~= (random() * 9)::bigint');
-- not for what is no column
SELECT plan('SELECT * FROM docs WHERE fp + 1 ~= 42');
SELECT plan('SELECT * FROM docs TABLESAMPLE system (10) WHERE fp ~= 42');
-- not when nearly all rows are in reach, or it is not wanted
SELECT plan('SELECT * FROM docs WHERE fp <@ (42, 64)');
BEGIN;
SET LOCAL simhash.enable_seq_scan = off;
SELECT plan('SELECT * FROM docs WHERE fp ~= 42');
ROLLBACK;
-- no other setting is taken for one of ours
SET simhash.enable_seqscan = off; -- error
-- it is as disabled as the plain one
BEGIN;
CREATE INDEX ON docs (id);
SET LOCAL enable_seqscan = off;
SELECT plan('SELECT * FROM docs WHERE id > 0 AND fp ~= 42');
ROLLBACK;

-- shared out among workers
BEGIN;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT plan('SELECT count(*) FROM docs WHERE fp <@ (42, 20)');
SELECT k,
    (SELECT count(*) FROM docs WHERE fp <@ (42, k)) =
    (SELECT count(*) FROM docs WHERE bit_count((fp # 42)::bit(64)) <= k) AS same
FROM (VALUES (20), (30)) AS v(k);
-- read anew by the same workers' places
SET LOCAL enable_material = off;
SELECT count(*) FROM (VALUES (1), (2), (3)) AS v(i)
    CROSS JOIN (SELECT count(*) AS n FROM docs WHERE fp <@ (42, 30)) AS s
WHERE n = (SELECT count(*) FROM docs WHERE bit_count((fp # 42)::bit(64)) <= 30);
ROLLBACK;

----------------------------------------
-- answers
----------------------------------------

-- the same as by other means, in one scan for each query
PREPARE near AS SELECT fp AS q, k,
    ARRAY(SELECT id FROM docs AS d WHERE d.fp <@ (q.fp, k) ORDER BY id) AS ours,
    ARRAY(SELECT id FROM docs AS d
          WHERE bit_count((d.fp # q.fp)::bit(64)) <= k ORDER BY id) AS theirs
FROM (SELECT fp FROM docs WHERE id < 40) AS q,
    (VALUES (0), (1), (2), (3), (8), (16), (24), (32), (63)) AS v(k);
CREATE TABLE result AS EXECUTE near;
SELECT count(*) AS queries, count(*) FILTER (WHERE ours <> theirs) AS wrong,
    sum(cardinality(ours)) > 10000 AS many FROM result;
SELECT count(*) FROM docs WHERE later ~= 7 AND id <= 3000;
SELECT count(*) = (SELECT count(*) FROM docs
                   WHERE bit_count((later # 7)::bit(64)) <= 3) AS same
FROM docs WHERE later ~= 7;

-- the columns that every table has, and whole rows
SELECT tableoid::regclass, ctid, xmin::text = pg_current_xact_id()::text AS now,
    docs
FROM docs WHERE fp ~= (SELECT fp FROM docs WHERE id = 4) AND id < 200
ORDER BY id;

-- nothing is near NULL
SELECT count(*) FROM docs WHERE fp ~= (SELECT NULL::bigint);
SELECT count(*) FROM docs WHERE fp <@ (SELECT NULL::hamming_ball);
SELECT count(*) FROM docs WHERE fp <@ (SELECT (42, NULL)::hamming_ball);
-- a radius that is out of range is one that the query says, or else a number
SELECT fails('SELECT count(*) FROM docs WHERE fp <@ (42, 65)');
SELECT count(*) = (SELECT count(fp) FROM docs) AS all FROM docs
WHERE fp <@ (SELECT (42, 65)::hamming_ball);
SELECT count(*) FROM docs WHERE fp <@ (SELECT (42, -1)::hamming_ball);

-- forwards and backwards
BEGIN;
DECLARE c SCROLL CURSOR FOR
    SELECT id FROM docs WHERE fp ~= (SELECT fp FROM docs WHERE id = 4);
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH LAST FROM c;
FETCH ABSOLUTE 2 FROM c;
ROLLBACK;

-- rows are locked, changed and deleted
BEGIN;
SELECT count(*) FROM (SELECT FROM docs WHERE fp ~= (SELECT fp FROM docs WHERE id = 4)
                      FOR UPDATE) AS s;
UPDATE docs SET fp = ~fp WHERE fp ~= (SELECT fp FROM docs WHERE id = 4);
SELECT count(*) FROM docs WHERE fp ~= (SELECT ~fp FROM docs WHERE id = 4);
DELETE FROM docs WHERE fp ~= (SELECT fp FROM docs WHERE id = 4);
SELECT count(*) FROM docs WHERE id = 4;
ROLLBACK;

-- a generic plan gets its query from the parameter
SET plan_cache_mode = force_generic_plan;
PREPARE search(bigint, int) AS
    SELECT count(*) FROM docs WHERE fp <@ ($1, $2);
EXPLAIN (COSTS OFF) EXECUTE search(42, 3);
EXECUTE search(42, 64);
EXECUTE search(NULL, 3);
SELECT fp AS center FROM docs WHERE id = 4 \gset
EXECUTE search(:center, 3);
EXECUTE search(:center, 0);
RESET plan_cache_mode;

-- a domain, an unlogged table, partitions
CREATE DOMAIN fingerprint AS bigint;
CREATE TABLE parent (id int, fp fingerprint) PARTITION BY RANGE (id);
CREATE UNLOGGED TABLE child1 PARTITION OF parent FOR VALUES FROM (0) TO (3001);
CREATE TABLE child2 (fp fingerprint, id int);
ALTER TABLE parent ATTACH PARTITION child2 FOR VALUES FROM (3001) TO (6001);
INSERT INTO parent SELECT id, fp FROM docs;
ANALYZE parent;
SELECT plan('SELECT id FROM parent WHERE fp ~= 42');
SELECT count(*) FROM parent WHERE fp ~= :center;

----------------------------------------
-- row security
----------------------------------------

-- the policy still comes before a condition that could tell of hidden rows
CREATE ROLE regress_simhash_reader;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON docs FOR SELECT USING (id % 2 = 0);
GRANT SELECT ON docs TO regress_simhash_reader;
SET ROLE regress_simhash_reader;
CREATE FUNCTION pg_temp.tell(id int) RETURNS boolean COST 1e-9 LANGUAGE plpgsql AS
$$ BEGIN IF id % 2 = 1 THEN RAISE 'row %', id; END IF; RETURN true; END $$;
SELECT plan('SELECT * FROM docs WHERE pg_temp.tell(id) AND fp <@ (42, 3)');
SELECT count(*), min(id % 2), max(id % 2) FROM docs
WHERE pg_temp.tell(id) AND fp <@ (:center, 3);
RESET ROLE;

DROP TABLE docs, result, parent;
DROP DOMAIN fingerprint;
DROP FUNCTION pg_temp.tell;
DROP ROLE regress_simhash_reader;
