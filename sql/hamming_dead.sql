--
-- Dead entries of a small index
--
-- All four entries of a row lie on one page here.  Searches mark them dead,
-- insertions that need room remove them.
--
CREATE TABLE few (id int, fp bigint) WITH (autovacuum_enabled = off);
CREATE INDEX few_fp ON few USING hamming (fp);
INSERT INTO few SELECT n, hashint8extended(n, 1) FROM generate_series(1, 80) AS n;
DELETE FROM few WHERE id % 2 = 0;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM few WHERE fp <@ (0, 64);
INSERT INTO few SELECT n, hashint8extended(n, 1) FROM generate_series(81, 200) AS n;
SELECT count(*) FROM few WHERE fp <@ (0, 64);

-- updates that leave the fingerprint alone
ALTER TABLE few ADD other int;
CREATE INDEX ON few (other);
DO $$
BEGIN
  FOR n IN 1 .. 20 LOOP
    UPDATE few SET other = n;
  END LOOP;
END $$;
SELECT count(*) FROM few WHERE fp <@ (0, 64);
SELECT hamming_index_check('few_fp', true);
DROP TABLE few;
