--
-- hamming indexes: rows without a fingerprint, or with a NULL in another column
--

\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS simhash;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET enable_sort = off;

----------------------------------------
-- many of them
----------------------------------------

-- by build and by insertion, in the order of the table and not
CREATE TABLE built (id int, fp bigint);
INSERT INTO built SELECT n, CASE WHEN n % 5 = 0 THEN -n END FROM generate_series(1, 20000) AS n;
CREATE TABLE inserted (id int, fp bigint);
CREATE INDEX inserted_fp ON inserted USING hamming (fp);
INSERT INTO inserted SELECT * FROM built WHERE id % 3 <> 0;
DELETE FROM inserted WHERE id % 7 = 0;
VACUUM inserted;
INSERT INTO inserted SELECT * FROM built WHERE id % 7 = 0 OR id % 3 = 0;
CREATE INDEX built_fp ON built USING hamming (fp);
SELECT hamming_index_check('built_fp', true), hamming_index_check('inserted_fp', true);
VACUUM ANALYZE built;
VACUUM ANALYZE inserted;
SELECT relname, reltuples FROM pg_class WHERE relname IN ('built_fp', 'inserted_fp') ORDER BY relname;

EXPLAIN (COSTS OFF) SELECT fp <~> 0 FROM built ORDER BY fp <~> 0;
SELECT count(*), count(fp), max(place) FILTER (WHERE fp IS NOT NULL) AS last,
    bool_and(d >= before OR before IS NULL) AS ordered, count(DISTINCT id) AS rows
FROM (SELECT id, fp, d, row_number() OVER () AS place, lag(d) OVER () AS before
      FROM (SELECT id, fp, fp <~> 0 AS d FROM built ORDER BY fp <~> 0) AS s) AS s;
SELECT count(*), count(fp), max(place) FILTER (WHERE fp IS NOT NULL) AS last,
    bool_and(d >= before OR before IS NULL) AS ordered, count(DISTINCT id) AS rows
FROM (SELECT id, fp, d, row_number() OVER () AS place, lag(d) OVER () AS before
      FROM (SELECT id, fp, fp <~> -1 AS d FROM inserted ORDER BY fp <~> -1) AS s) AS s;
-- the greatest entry there is stands before those of NULL
SELECT count(*), count(*) FROM inserted WHERE fp ~= -1;
INSERT INTO inserted SELECT -n, -1 FROM generate_series(1, 3000) AS n;
SELECT count(*) FROM inserted WHERE fp <@ (-1, 2);
SELECT count(*) FROM inserted WHERE fp = -1;
SELECT hamming_index_check('inserted_fp', true);
EXPLAIN (COSTS OFF) SELECT count(*) FROM inserted;
SELECT count(*) FROM inserted;
DELETE FROM inserted WHERE fp IS NULL AND id % 2 = 0;
SELECT count(*) FROM inserted;
VACUUM inserted;
SELECT count(*) FROM inserted;
SELECT hamming_index_check('inserted_fp', true);
DELETE FROM inserted WHERE fp IS NULL;
VACUUM inserted;
SELECT count(*), count(fp) FROM (SELECT fp FROM inserted ORDER BY fp <~> 0) AS s;
SELECT hamming_index_check('inserted_fp', true);

-- a cursor, over rows that go meanwhile
BEGIN;
DECLARE c CURSOR FOR SELECT fp IS NULL AS last FROM built ORDER BY fp <~> 0;
MOVE 3999 IN c;
FETCH 2 IN c;
DELETE FROM built WHERE fp IS NULL;
MOVE ALL IN c;
COMMIT;

-- to fill them in takes their entries away
UPDATE built SET fp = id WHERE fp IS NULL AND id % 2 = 0;
INSERT INTO built SELECT n, NULL FROM generate_series(1, 10) AS n;
UPDATE built SET fp = id WHERE fp IS NULL;
SELECT hamming_index_check('built_fp', true);
SELECT count(*), count(fp) FROM (SELECT fp FROM built ORDER BY fp <~> 0) AS s;
DROP TABLE built, inserted;

-- unlogged, temporary, none but NULL
CREATE UNLOGGED TABLE none (fp bigint, wide bit(256));
CREATE INDEX ON none USING hamming (fp);
CREATE INDEX ON none USING hamming (wide);
INSERT INTO none SELECT FROM generate_series(1, 1000);
SELECT count(*) FROM (SELECT FROM none ORDER BY fp <~> 0) AS s;
SELECT count(*) FROM (SELECT FROM none ORDER BY wide <~~> 0::bit(256)) AS s;
SELECT count(*) FROM none WHERE fp <@ (0, 64);
SELECT hamming_index_check('none_fp_idx', true), hamming_index_check('none_wide_idx', true);
DROP TABLE none;

----------------------------------------
-- constraints
----------------------------------------

-- NULL is in nobody's way, in either column
CREATE TABLE alone (site int, fp bigint, EXCLUDE USING hamming (site WITH =, fp WITH ~=));
CREATE TABLE single (fp bigint, EXCLUDE USING hamming (fp WITH ~=));
INSERT INTO alone VALUES (1, 7), (NULL, 7), (NULL, 7), (1, NULL), (1, NULL), (NULL, NULL), (2, 7);
INSERT INTO single VALUES (NULL), (7), (NULL), (NULL);
INSERT INTO alone VALUES (1, 6); -- error
INSERT INTO single VALUES (6); -- error
INSERT INTO alone VALUES (NULL, 6), (1, NULL) ON CONFLICT DO NOTHING;
INSERT INTO single VALUES (NULL), (5) ON CONFLICT DO NOTHING;
-- the hash of a group with NULL may be another's: such a row is there, and met
UPDATE alone SET site = 1 WHERE site = 2; -- error
SELECT count(*), count(site), count(fp) FROM alone;
SELECT count(*), count(fp) FROM single;
SELECT hamming_index_check('alone_site_fp_excl', true), hamming_index_check('single_fp_excl', true);
-- a constraint that is made of rows with NULLs
ALTER TABLE alone ADD EXCLUDE USING hamming (fp WITH ~=, site WITH =);
DROP TABLE alone, single;

-- the guard lets rows pass that have no fingerprint, or no group
CREATE TABLE guarded (site int, fp bigint);
CREATE INDEX ON guarded USING hamming (site, fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=site');
INSERT INTO guarded VALUES (NULL, 7), (NULL, 7), (1, NULL), (1, NULL), (1, 7), (2, 7);
INSERT INTO guarded VALUES (1, 6); -- error
SELECT count(*) FROM guarded;
DROP TABLE guarded;

