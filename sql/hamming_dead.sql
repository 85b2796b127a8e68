--
-- Dead entries, and entries of one row that share a page
--
-- All four entries of a row lie on one page of a small index, some do where a
-- block ends and the next begins.  Searches mark dead entries, insertions that
-- need room remove them.
--

SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off;

-- the size of an index, in pages
CREATE FUNCTION pages(index regclass) RETURNS bigint LANGUAGE sql AS $$
  SELECT pg_relation_size(index) / current_setting('block_size')::int
$$;

----------------------------------------
-- entries that searches have marked
----------------------------------------

-- A page has room for 407 entries.  Of 320 one half dies, so that 160 more find
-- place.  (What other sessions see does not matter to a temporary table.)
CREATE TEMP TABLE few (id int, fp bigint);
CREATE INDEX few_fp ON few USING hamming (fp);
INSERT INTO few SELECT n, hashint8extended(n, 1) FROM generate_series(1, 80) AS n;
DELETE FROM few WHERE id % 2 = 0;
SELECT count(*) FROM few WHERE fp <@ (0, 64);
INSERT INTO few SELECT n, hashint8extended(n, 1) FROM generate_series(81, 120) AS n;
SELECT pages('few_fp');
SELECT count(*) FROM few WHERE fp <@ (0, 64);
SELECT hamming_index_check('few_fp', true);

-- without marks there is no room
DELETE FROM few WHERE id > 80;
INSERT INTO few SELECT n, hashint8extended(n, 1) FROM generate_series(81, 120) AS n;
SELECT pages('few_fp') > 2 AS grown;
SELECT hamming_index_check('few_fp', true);

DROP TABLE few;

----------------------------------------
-- updates that are not HOT
----------------------------------------

-- Updates that leave the fingerprint alone, and are not HOT: their entries go
-- without any search (bottom-up).  160 rows 100 times are 64,000 entries, which
-- would fill 160 pages.
CREATE TABLE few (id int, fp bigint, other int) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT n, hashint8extended(n, 1) FROM generate_series(1, 160) AS n;
CREATE INDEX few_fp ON few USING hamming (fp);
CREATE INDEX ON few (other);
DO $$
BEGIN
  FOR n IN 1 .. 100 LOOP
    UPDATE few SET other = n;
    COMMIT;
  END LOOP;
END $$;
SELECT pages('few_fp') < 40 AS small;
SELECT count(*) FROM few WHERE fp <@ (0, 64);
SELECT hamming_index_check('few_fp', true);
DROP TABLE few;

----------------------------------------
-- changes drawn at random
----------------------------------------

-- Updates of either kind, deletions, insertions and searches drawn at random,
-- for indexes of one page and of several.  Fingerprints are drawn from few, so
-- that entries have equal keys, and from the ends of the blocks.  SIMHASH_SEED
-- repeats a run; the server's log has the seed.
\getenv seed SIMHASH_SEED
\if :{?seed}
\else
SELECT (random() * 1e9)::bigint AS seed \gset
\endif
CREATE FUNCTION some_fp() RETURNS bigint LANGUAGE sql AS $$
  SELECT CASE (random() * 3)::int
    WHEN 0 THEN hashint8extended((random() * 5)::int8, 1)
    WHEN 1 THEN (random() * 3)::int8
    WHEN 2 THEN -1 - (random() * 3)::int8
    ELSE hashint8extended((random() * 1e9)::int8, 1) END
$$;
CREATE TABLE much (id int, fp bigint, other int) WITH (autovacuum_enabled = off);
CREATE INDEX much_other ON much (other);
CREATE PROCEDURE churn(rows int, rounds int, seed bigint)
LANGUAGE plpgsql AS $$
DECLARE
  center bigint;
  k int;
  dice float8;
  found int;
  wanted int;
BEGIN
  RAISE LOG 'churn(%, %): SIMHASH_SEED=%', rows, rounds, seed;
  PERFORM setseed(seed % 1000000000 / 1e9);
  TRUNCATE much;
  INSERT INTO much SELECT n, some_fp(), 0 FROM generate_series(1, rows) AS n;
  CREATE INDEX much_fp ON much USING hamming (fp);
  COMMIT;
  FOR n IN 1 .. rounds LOOP
    dice := random();
    IF dice < 0.4 THEN
      UPDATE much SET other = n;
    ELSIF dice < 0.7 THEN
      UPDATE much SET fp = some_fp() WHERE id % 3 = n % 3;
    ELSE
      DELETE FROM much WHERE id % 4 = n % 4;
      INSERT INTO much SELECT id, some_fp(), n FROM generate_series(1, rows) AS id
        WHERE id % 4 = n % 4;
    END IF;
    IF random() < 0.1 THEN ROLLBACK; ELSE COMMIT; END IF;

    center := some_fp();
    k := random() * 64;
    SELECT count(*) INTO found FROM much WHERE fp <@ (center, k);
    SELECT count(*) INTO wanted FROM much
      WHERE bit_count((fp # center)::bit(64)) <= k;
    IF found <> wanted THEN
      RAISE EXCEPTION '% rows in place of % within % of %; SIMHASH_SEED=%',
        found, wanted, k, center, seed;
    END IF;
  END LOOP;
  PERFORM hamming_index_check('much_fp', true);
  DROP INDEX much_fp;
END $$;
CALL churn(5, 200, :seed);
CALL churn(40, 200, :seed);
CALL churn(100, 200, :seed);
CALL churn(400, 100, :seed);
DROP TABLE much;
DROP FUNCTION pages, some_fp;
DROP PROCEDURE churn;
