--
-- hamming_am.c, hamming_scan.c, hamming_nearest.c, hamming_check.c: the access
-- method hamming
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

----------------------------------------
-- what the index can do and cannot
----------------------------------------

SELECT opcname, opcdefault, amvalidate(oid)
FROM pg_opclass
WHERE opcmethod = (SELECT oid FROM pg_am WHERE amname = 'hamming')
ORDER BY opcname;

-- properties
SELECT p, pg_indexam_has_property(a.oid, p)
FROM pg_am a, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[]) AS p
WHERE amname = 'hamming'
ORDER BY p;

-- rows at distance n from zero, n = 0 .. 64; then some without a fingerprint
CREATE TABLE docs (id int, fp bigint);
INSERT INTO docs VALUES (0, 0);
INSERT INTO docs
SELECT n, (SELECT bit_or(1::bigint << (i * 29 % 64)) FROM generate_series(1, n) AS i)
FROM generate_series(1, 64) AS n;
INSERT INTO docs VALUES (100, NULL), (101, NULL);
CREATE INDEX docs_fp ON docs USING hamming (fp);
SELECT reltuples FROM pg_class WHERE relname = 'docs_fp';
ANALYZE docs;

-- reloptions
ALTER INDEX docs_fp SET (fillfactor = 50);
REINDEX INDEX docs_fp;
SELECT reloptions FROM pg_class WHERE relname = 'docs_fp';
ALTER INDEX docs_fp SET (fillfactor = 9); -- error
ALTER INDEX docs_fp SET (deduplicate_items = off); -- error

-- what it cannot be
CREATE INDEX ON docs USING hamming (id); -- error
CREATE INDEX ON docs USING hamming (hamming_ball(fp, 3), hamming_ball(fp, 4)); -- error
CREATE UNIQUE INDEX ON docs USING hamming (fp); -- error
CREATE INDEX ON docs USING hamming (fp) INCLUDE (id); -- error
SELECT fails('CREATE INDEX ON docs USING hamming (fp DESC)');

----------------------------------------
-- ~=, <@, @>
----------------------------------------

SET enable_seqscan = off;
SET enable_bitmapscan = off;

EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp ~= 0;
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;
SELECT id FROM docs WHERE 0 ~= fp ORDER BY id;

EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp <@ (0, 8);
SELECT k, count(*), max(id)
FROM generate_series(0, 64, 4) AS k, docs
WHERE fp <@ (0, k)
GROUP BY k ORDER BY k;
SELECT id FROM docs WHERE hamming_ball(-1, 2) @> fp ORDER BY id;

-- two conditions at once
SELECT id FROM docs WHERE fp <@ (0, 20) AND fp <@ (-1, 46) ORDER BY id;

-- nothing is within a radius of nothing
SELECT id FROM docs WHERE fp ~= NULL;
SELECT id FROM docs WHERE fp <@ NULL;
SELECT id FROM docs WHERE fp <@ (NULL, 3);
SELECT id FROM docs WHERE fp <@ (0, NULL);

-- out of range
SELECT id FROM docs WHERE fp <@ (0, -1); -- error
SELECT id FROM docs WHERE fp <@ (0, 65); -- error

-- as the inner side of a join
SELECT count(*) FROM docs a JOIN docs b ON a.fp ~= b.fp AND a.id < b.id;

-- together with another index
CREATE INDEX docs_id ON docs (id);
SET enable_bitmapscan = on;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF)
SELECT id FROM docs WHERE fp <@ (0, 2) OR id BETWEEN 2 AND 5;
SELECT id FROM docs WHERE fp <@ (0, 2) OR id BETWEEN 2 AND 5 ORDER BY id;
DROP INDEX docs_id;
SET enable_indexscan = on;
SET enable_bitmapscan = off;

----------------------------------------
-- ORDER BY <~>
----------------------------------------

EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY fp <~> 0 LIMIT 5;
SELECT id FROM docs ORDER BY fp <~> 0 LIMIT 5;
SELECT id FROM docs ORDER BY fp <~> -1 LIMIT 5;

-- to the end; rows without a fingerprint come last
SELECT array_agg(id) FROM
    (SELECT id FROM docs ORDER BY fp <~> 0 LIMIT 66) s WHERE id < 100;
SELECT count(*), count(fp) FROM (SELECT fp FROM docs ORDER BY fp <~> 0) s;
-- where rows are, the executor cannot tell in this order: others are taken
SELECT plan('SELECT ctid FROM docs ORDER BY fp <~> 0 LIMIT 5');
SELECT plan('SELECT id FROM docs ORDER BY fp <~> 0 LIMIT 5 FOR UPDATE');
SELECT plan($$SELECT id FROM docs WHERE ctid <> '(0,1)' ORDER BY fp <~> 0 LIMIT 5$$);
-- ties by another column: sorted behind the index from PostgreSQL 17 on; the next page
SELECT string_agg(line, '') ~ 'Incremental Sort.*Order By' =
    (current_setting('server_version_num')::int >= 170000) AS sorted
FROM plan('SELECT id FROM docs ORDER BY fp <~> 0, id LIMIT 5') AS line;
SELECT string_agg(line, '') ~ 'Index Cond: \(fp <@' AS paged
FROM plan('SELECT id FROM docs WHERE fp <@ (0, 8) AND (fp <~> 0, id) > (4, 17)
    ORDER BY fp <~> 0, id LIMIT 5') AS line;

-- more rows at distance 9 than are kept at first, when one at 10 has been handed
-- out early; and with so little memory that full passes take over: each comes
-- once, in order
CREATE TABLE shells AS SELECT n AS id, CASE WHEN n < 60000
	THEN hashint8extended(n, 1) WHEN n = 60000 THEN 1023 << 2
	ELSE (SELECT bit_or(1::bigint << (
		low + 4 * i + (hashint8extended(n, low + i) & 3)::int))
		FROM unnest('{48,32,17,2}'::int[]) AS low,
			generate_series(0, CASE low WHEN 2 THEN 2 ELSE 1 END) AS i) END AS fp
FROM generate_series(1, 71500) AS n;
CREATE INDEX shells_fp ON shells USING hamming (fp);
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM shells ORDER BY fp <~> 0;
SELECT count(*), count(DISTINCT id), bool_and(d >= before) FROM
    (SELECT id, d, lag(d) OVER () AS before FROM
        (SELECT id, fp <~> 0 AS d FROM shells ORDER BY fp <~> 0) s) s;
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT id), bool_and(d >= before) FROM
    (SELECT id, d, lag(d) OVER () AS before FROM
        (SELECT id, fp <~> 0 AS d FROM shells ORDER BY fp <~> 0) s) s;
RESET work_mem;
RESET enable_sort;
DROP TABLE shells;

-- among those within a radius
SELECT id FROM docs WHERE fp <@ (0, 6) ORDER BY fp <~> -1 LIMIT 3;

-- a distance to nothing is no order
SELECT count(*) FROM (SELECT fp FROM docs ORDER BY fp <~> NULL) s;

-- forward only
BEGIN;
DECLARE nearest SCROLL CURSOR FOR SELECT id FROM docs ORDER BY fp <~> 0;
FETCH 2 FROM nearest;
FETCH BACKWARD 1 FROM nearest;
COMMIT;

----------------------------------------
-- exclusion constraints
----------------------------------------

CREATE TABLE alone (id int, fp bigint, CONSTRAINT alone_fp EXCLUDE USING hamming (fp WITH ~=));
INSERT INTO alone VALUES (1, 0), (2, 15), (3, NULL), (4, NULL);
INSERT INTO alone VALUES (5, 1); -- error
INSERT INTO alone VALUES (5, 1), (6, 255) ON CONFLICT DO NOTHING;
UPDATE alone SET fp = 14 WHERE id = 6; -- error
UPDATE alone SET fp = 4095 WHERE id = 2;
SELECT * FROM alone ORDER BY id;
COPY alone FROM stdin; -- error
7	-1
8	-2
\.

-- on texts, at a distance of choice
CREATE TABLE texts (id int, body text);
INSERT INTO texts VALUES
    (1, 'The quick brown fox jumps over the lazy dog, and then again.'),
    (2, 'The quick brown fox jumps over the lazy dog, and then again!'),
    (3, 'A text of quite another kind, about nothing in particular.');
\set VERBOSITY terse
ALTER TABLE texts ADD CONSTRAINT texts_alone
    EXCLUDE USING hamming (hamming_ball(simhash(body), 8) WITH ~=); -- error
\set VERBOSITY default
DELETE FROM texts WHERE id = 2;
ALTER TABLE texts ADD CONSTRAINT texts_alone
    EXCLUDE USING hamming (hamming_ball(simhash(body), 8) WITH ~=);
INSERT INTO texts VALUES
    (4, 'the quick brown fox jumps over the lazy dog, and then again')
    ON CONFLICT DO NOTHING;
INSERT INTO texts VALUES (5, NULL), (6, ''), (7, '');
SELECT id FROM texts ORDER BY id;

-- checked at commit
CREATE TABLE late (id int, fp bigint, EXCLUDE USING hamming (fp WITH ~=) DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO late VALUES (1, 0), (2, 1);
DELETE FROM late WHERE id = 1;
COMMIT;
INSERT INTO late VALUES (3, 0); -- error

----------------------------------------
-- kinds of tables, and commands on them
----------------------------------------

CREATE TABLE parts (id int, fp bigint) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
CREATE INDEX ON parts USING hamming (fp);
INSERT INTO parts SELECT n, hashint8extended(n, 0) FROM generate_series(0, 199) AS n;
ANALYZE parts;
EXPLAIN (COSTS OFF) SELECT id FROM parts ORDER BY fp <~> 0 LIMIT 1;
SELECT count(*) FROM parts a JOIN parts b ON a.fp ~= b.fp;

CREATE UNLOGGED TABLE fleeting (id int, fp bigint);
CREATE INDEX ON fleeting USING hamming (fp);
INSERT INTO fleeting SELECT n, n FROM generate_series(0, 999) AS n;
SELECT count(*) FROM fleeting WHERE fp ~= 0;

CREATE TEMPORARY TABLE passing (id int, fp bigint);
CREATE INDEX ON passing USING hamming (fp);
INSERT INTO passing SELECT n, n FROM generate_series(0, 999) AS n;
SELECT count(*) FROM passing WHERE fp ~= 0;

-- part of a table; without a condition the index would have to return rows
-- that it does not hold, and does
CREATE INDEX parts_few ON parts_1 USING hamming (fp) WHERE id < 10;
SELECT count(*) FROM parts_1 WHERE id < 10 AND fp <@ (0, 64);
INSERT INTO parts_1 VALUES (5, NULL);
SELECT count(*) FROM parts_1 WHERE id < 10;

-- where no column is wanted, the planner may go by the index alone, twice: with
-- pages all visible, and not
SELECT count(*) FROM parts_2;
VACUUM parts_2;
SELECT count(*) FROM parts_2;

CREATE INDEX CONCURRENTLY docs_again ON docs USING hamming (fp);
REINDEX INDEX CONCURRENTLY docs_again;
SELECT hamming_index_check('docs_again', true);

DELETE FROM docs WHERE id % 2 = 1;
VACUUM docs;
SELECT reltuples FROM pg_class WHERE relname = 'docs_again';
SELECT id FROM docs WHERE fp <@ (0, 4) ORDER BY id;
TRUNCATE docs;
SELECT id FROM docs WHERE fp <@ (0, 64);
INSERT INTO docs VALUES (1, 1);
SELECT id FROM docs WHERE fp ~= 0;

----------------------------------------
-- hamming_index_check
----------------------------------------

SELECT hamming_index_check('docs_fp');
SELECT hamming_index_check('docs_fp', true);
SELECT hamming_index_check('alone_fp', true);
SELECT hamming_index_check('docs', true); -- error
SELECT hamming_index_check('pg_class_oid_index', true); -- error
SELECT hamming_index_check(NULL, true);

-- rows whose fingerprint has changed behind the back of the index
CREATE FUNCTION shifty(fp bigint) RETURNS bigint LANGUAGE plpgsql
IMMUTABLE AS 'BEGIN RETURN fp; END';
CREATE TABLE shifting (id int, fp bigint);
INSERT INTO shifting VALUES (1, 1), (2, 2);
CREATE INDEX shifting_fp ON shifting USING hamming (shifty(fp));
SELECT hamming_index_check('shifting_fp', true);
CREATE OR REPLACE FUNCTION shifty(fp bigint) RETURNS bigint LANGUAGE plpgsql
IMMUTABLE AS 'BEGIN RETURN fp + 4; END';
SELECT hamming_index_check('shifting_fp');
SELECT hamming_index_check('shifting_fp', true); -- error
REINDEX INDEX shifting_fp;
SELECT hamming_index_check('shifting_fp', true);

-- a row that the index was not told of
UPDATE pg_index SET indisready = false WHERE indexrelid = 'shifting_fp'::regclass;
INSERT INTO shifting VALUES (3, 3);
UPDATE pg_index SET indisready = true WHERE indexrelid = 'shifting_fp'::regclass;
SELECT hamming_index_check('shifting_fp', true); -- error

-- an index left invalid
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'shifting_fp'::regclass;
SELECT hamming_index_check('shifting_fp'); -- error
SELECT count(*) FROM shifting WHERE shifty(fp) ~= 0;

-- not for everybody
CREATE ROLE regress_hamming_nobody;
SET ROLE regress_hamming_nobody;
SELECT hamming_index_check('docs_fp'); -- error
RESET ROLE;
DROP ROLE regress_hamming_nobody;

-- but for the owner of the index, whom nobody has to grant it
CREATE ROLE regress_hamming_owner;
CREATE TABLE theirs (fp bigint);
CREATE INDEX theirs_fp ON theirs USING hamming (fp);
ALTER TABLE theirs OWNER TO regress_hamming_owner;
SET ROLE regress_hamming_owner;
SELECT hamming_index_check('theirs_fp');
RESET ROLE;
DROP TABLE theirs;
DROP ROLE regress_hamming_owner;

RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE docs, alone, texts, late, parts, fleeting, passing, shifting;
DROP FUNCTION shifty(bigint);
