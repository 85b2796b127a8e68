--
-- key_scan.c: scans by covering btrees on key columns
--
-- At every radius test/t/001_exact.pl compares them with a sequential scan.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- families of rows within some bits of each other, so that many share the keys
-- of several blocks, and some have no fingerprint
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, site int, note int DEFAULT 0);
INSERT INTO docs SELECT n, CASE WHEN n % 50 > 0 THEN hashint8extended(n / 8, 1)
    # (1::bigint << n % 64) # (n % 3)::bigint END, n % 4
FROM generate_series(1, 8000) AS n;
SELECT simhash_add_keys('docs', 'fp');
VACUUM ANALYZE docs;

----------------------------------------
-- which indexes serve
----------------------------------------

SELECT plan('SELECT id FROM docs WHERE fp ~= 42');
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 5) AND site = 1');
SELECT plan('SELECT a.id, b.id FROM docs a JOIN docs b ON b.fp <~> a.fp <= 3 WHERE a.id = 7');
-- a bitmap where it is asked for, and for ANY (array)
CREATE FUNCTION way(query text, VARIADIC off text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    lines text;
BEGIN
    PERFORM set_config('enable_' || one, 'off', true) FROM unnest(off) AS one;
    SELECT string_agg(line, ' ') INTO lines FROM plan(query) AS line;
    PERFORM set_config('enable_' || one, 'on', true) FROM unnest(off) AS one;
    RETURN CASE WHEN lines ~ 'simhash_keys' THEN 'scan' WHEN lines ~ 'Bitmap' THEN 'bitmap' ELSE 'table' END;
END $$;
SELECT way('SELECT id FROM docs WHERE fp ~= 42', 'indexonlyscan') AS off,
    way('SELECT id FROM docs WHERE fp ~= ANY (''{42,43}'')') AS "any",
    way('SELECT id FROM docs WHERE fp ~= 42', 'bitmapscan', 'indexscan', 'seqscan') AS alone;
-- by hand: in any place, of any name, if all of them have it
CREATE TABLE made AS SELECT id, fp, site, fp # 1 AS other FROM docs;
CREATE INDEX a ON made (simhash_key(fp, 0), fp);
CREATE INDEX b ON made (simhash_key(fp, 1)) INCLUDE (site, fp);
CREATE INDEX c ON made (simhash_key(fp, 2)) INCLUDE (fp) WHERE site < 3;
CREATE INDEX d ON made (simhash_key(fp, 3)) INCLUDE (other);
ANALYZE made;
SELECT way('SELECT id FROM made WHERE fp ~= 42 AND site = 1') AS other_column,
    way('SELECT id FROM made WHERE fp <@ (42, 2) AND site = 1') AS three,
    way('SELECT id FROM made WHERE fp <@ (42, 2)') AS partial;
CREATE INDEX e ON made (site, simhash_key(fp, 3), id) INCLUDE (other, fp);
SELECT way('SELECT id FROM made WHERE fp ~= 42 AND site = 1') AS within_site,
    way('SELECT id FROM made WHERE fp ~= 42 AND site < 3') AS no_site;
-- an expression is one too
CREATE TABLE texts AS SELECT n AS id, 'text ' || n / 3 AS body FROM generate_series(1, 6000) AS n;
CREATE INDEX ON texts (simhash_key(simhash(body), 0), simhash(body));
CREATE INDEX ON texts (simhash_key(simhash(body), 1), simhash(body));
CREATE INDEX ON texts (simhash_key(simhash(body), 2), simhash(body));
CREATE INDEX ON texts (simhash_key(simhash(body), 3), simhash(body));
ANALYZE texts;
SELECT plan('SELECT id FROM texts WHERE simhash(body) <@ (simhash(''text 7''), 0)');
SELECT id FROM texts WHERE simhash(body) ~= simhash('text 7') ORDER BY id;
-- of an expression, the indexes are plain
ALTER TABLE texts ADD fp bigint GENERATED ALWAYS AS (simhash(body)) STORED;
SELECT simhash_add_keys('texts', 'simhash(body)', '{a,b,c,d}');
SELECT simhash_add_keys('texts', 'fp', '{e,f,g,h}');
SELECT indexdef FROM pg_indexes WHERE tablename = 'texts' AND indexname ~ '_[abcdefgh]_' ORDER BY 1;
ANALYZE texts;
SELECT way('SELECT id FROM texts WHERE fp ~= 42');

----------------------------------------
-- what is found
----------------------------------------

-- the same as in the table, each row once
CREATE FUNCTION differs(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text[];
    result text;
BEGIN
    FOR i IN 0 .. 1 LOOP
        PERFORM set_config('enable_seqscan', (i = 1)::text, true), set_config('enable_indexonlyscan', (i = 0)::text, true),
            set_config('enable_bitmapscan', 'off', true), set_config('enable_indexscan', 'off', true);
        IF (SELECT bool_or(line ~ 'simhash_keys') FROM plan(query) AS line) <> (i = 0) THEN
            RETURN 'not the way: ' || i;
        END IF;
        EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, '' '' ORDER BY q::text)), '''') FROM (%s) AS q', query)
            INTO result;
        found[i] := result;
    END LOOP;
    RETURN CASE WHEN found[0] = found[1] THEN (found[0] !~ '^0')::text ELSE 'DIFFERS' END;
END $$;
CREATE FUNCTION differ() RETURNS TABLE (n int, rows text) LANGUAGE sql AS $$
SELECT n::int, differs(query) FROM unnest(ARRAY[
    'SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp ~= b.fp WHERE a.id % 40 = 9',
    'SELECT a.id, b.id, b.xmin, b.ctid, b.tableoid, b FROM docs a JOIN docs b ON b.fp <@ (a.fp, a.id % 12) WHERE a.id % 150 = 8',
    'SELECT a.id, b.id FROM docs a LEFT JOIN docs b ON b.fp <~> a.fp <= a.note AND b.site = a.site WHERE a.id % 50 = 0',
    'SELECT a.id, b.id FROM docs a LEFT JOIN docs b ON b.fp <~> a.fp <= a.id % 200 - 5 WHERE a.id % 400 = 3',
    'SELECT a.id, s.id FROM docs a, LATERAL (SELECT id FROM made b WHERE b.fp <@ (a.fp, 2) AND b.site = 1 LIMIT 3) AS s WHERE a.id % 70 = 2',
    'SELECT a.id, b.id FROM docs a JOIN made b ON b.site = a.site AND b.site < 3 AND b.fp ~= a.fp WHERE a.id % 70 = 5',
    'SELECT a.id, b.id FROM texts a JOIN texts b ON b.fp ~= a.fp WHERE a.id % 300 = 2',
    'SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp ~= b.fp WHERE a.id % 40 = 9 AND current_setting(''search_path'') > ''''',
    'SELECT b.id FROM docs b WHERE b.fp ~= (SELECT fp FROM docs WHERE id = 9) AND (SELECT count(*) > 5 FROM made)',
    'SELECT a.id, s.id FROM docs a LEFT JOIN LATERAL (SELECT id FROM docs b WHERE b.fp ~= a.fp AND a.site < 7 AND now() > ''2000-01-01'') AS s ON true WHERE a.id % 90 = 3'])
    WITH ORDINALITY AS q (query, n) $$;
SELECT * FROM differ();
-- rows deleted, changed in place and elsewhere, put back, and dead for a while
DELETE FROM docs WHERE id % 11 = 0;
UPDATE docs SET note = 3 WHERE id % 5 = 0;
UPDATE docs SET fp = fp # 6 WHERE id % 7 = 0;
UPDATE docs SET fp = fp # 6 WHERE id % 14 = 0;
BEGIN;
UPDATE docs SET fp = fp # 1;
DELETE FROM docs WHERE id % 2 = 0;
ROLLBACK;
SELECT * FROM differ() WHERE n < 5;
VACUUM docs;
SELECT * FROM differ() WHERE n < 5;

-- what the query side may be: nothing, out of range
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
PREPARE within(bigint, bigint) AS SELECT count(*) FROM docs WHERE fp <@ ($1, $2);
SELECT plan('EXECUTE within(42, 3)');
EXECUTE within(NULL, 3);
EXECUTE within(42, NULL);
EXECUTE within(42, 64);
EXECUTE within(42, 0);
SELECT fails('EXECUTE within(42, 65)');
SELECT fails('EXECUTE within(42, -1)');
RESET plan_cache_mode;
SELECT fails('SELECT b.id FROM (VALUES (42::bigint, 65)) AS q (fp, k) JOIN docs b ON b.fp <@ (q.fp, q.k)') LIKE '22%' AS complains;
SELECT plan('SELECT id FROM docs WHERE fp ~= (SELECT fp FROM docs WHERE id = 9)');

-- read in pieces, locked, changed by what a cursor is on
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM docs WHERE fp <@ ((SELECT fp FROM docs WHERE id = 41), 0);
MOVE FORWARD ALL IN c;
FETCH BACKWARD 1 FROM c;
DECLARE u CURSOR FOR SELECT id FROM docs WHERE fp <@ ((SELECT fp FROM docs WHERE id = 41), 0) FOR UPDATE;
FETCH u;
UPDATE docs SET note = 99 WHERE CURRENT OF u RETURNING id;
DECLARE w CURSOR FOR SELECT id FROM docs WHERE fp <@ ((SELECT fp FROM docs WHERE id = 54), 0);
FETCH w;
DELETE FROM docs WHERE CURRENT OF w RETURNING id;
WITH gone AS (DELETE FROM docs WHERE fp ~= (hashint8extended(5, 1) # (1::bigint << 40)) RETURNING id, note)
SELECT * FROM gone ORDER BY id;
ROLLBACK;

-- what EXPLAIN (ANALYZE) counts, from 18 on
CREATE FUNCTION searches() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXPLAIN (ANALYZE) SELECT id FROM docs WHERE fp ~= 42 LOOP
        IF line ~ 'Index Searches: 0' THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END $$;
SELECT searches();

-- a worker reads the plan that another process has written
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
RESET enable_seqscan;
SET enable_bitmapscan = off;
SELECT plan('SELECT count(b.id) FROM docs a, docs b WHERE a.note < 99 AND b.fp ~= a.fp');
SELECT count(b.id) = (SELECT count(*) FROM docs a, docs b WHERE a.note < 99 AND hamming(a.fp, b.fp) <= 3 AND a.id < 400) AS same
FROM docs a, docs b WHERE a.note < 99 AND b.fp ~= a.fp AND a.id < 400;
RESET max_parallel_workers_per_gather;

-- partitions joined one by one
CREATE TABLE parts (id int, site int, fp bigint) PARTITION BY LIST (site);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2, 3);
INSERT INTO parts SELECT id, site, fp FROM docs;
SELECT simhash_add_keys('parts', 'fp');
ANALYZE parts;
SET enable_partitionwise_join = on;
SET max_parallel_workers_per_gather = 0;
SELECT plan('SELECT a.id, b.id FROM parts a JOIN parts b ON a.site = b.site AND b.fp ~= a.fp');
SELECT differs('SELECT a.id, b.id FROM parts a JOIN parts b ON a.site = b.site AND b.fp ~= a.fp WHERE a.id < 1000');

DROP TABLE docs, made, texts, parts;
DROP FUNCTION way, differs, differ, searches;
