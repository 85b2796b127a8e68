--
-- Dead entries, and entries of one row that share a page
--
-- All four entries of a row lie on one page of a small index, some do where a
-- block ends and the next begins.  Entries of dead rows stay until vacuum comes.
--

SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off;

-- the size of an index, in pages
CREATE FUNCTION pages(index regclass) RETURNS bigint LANGUAGE sql AS $$
  SELECT pg_relation_size(index) / current_setting('block_size')::int
$$;

----------------------------------------
-- updates that are not HOT
----------------------------------------

-- Each leaves four entries, on a page that has those of the same row already.
-- Vacuum removes them, and what comes then finds place where they were.
CREATE TABLE few (id int, fp bigint, other int) WITH (autovacuum_enabled = off);
INSERT INTO few SELECT n, hashint8extended(n, 1) FROM generate_series(1, 80) AS n;
CREATE INDEX few_fp ON few USING hamming (fp);
CREATE INDEX ON few (other);
CREATE PROCEDURE wear(rounds int) LANGUAGE plpgsql AS $$
BEGIN
  FOR n IN 1 .. rounds LOOP
    UPDATE few SET other = n;
    COMMIT;
  END LOOP;
END $$;
CALL wear(10);
SELECT count(*) FROM few WHERE fp <@ (0, 64);
SELECT hamming_index_check('few_fp', true);
VACUUM (INDEX_CLEANUP ON) few;
SELECT pages('few_fp') AS pages \gset
SELECT count(*) FROM few WHERE fp <@ (0, 64);
SELECT hamming_index_check('few_fp', true);
CALL wear(5);
VACUUM (INDEX_CLEANUP ON) few;
CALL wear(5);
SELECT pages('few_fp') <= :pages + 1 AS room_used_again;
SELECT hamming_index_check('few_fp', true);
DROP TABLE few;
DROP PROCEDURE wear;

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
