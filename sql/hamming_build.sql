--
-- hamming_sort.c: building an index with next to no memory
--
-- 1,200,000 entries in runs of 65,536, sixteen of which are merged at a time:
-- the first sixteen while the table is being read, the others at the end.
--

CREATE TABLE many AS
  SELECT n AS id, hashint8extended(n % 250000, 1) AS fp FROM generate_series(1, 300000) AS n;
SET max_parallel_maintenance_workers = 0;
SET maintenance_work_mem = '1MB';
CREATE INDEX many_small ON many USING hamming (fp);
SET maintenance_work_mem = '64MB';
CREATE INDEX many_large ON many USING hamming (fp);
SELECT hamming_index_check('many_small', true);
-- the same entries, wherever they were sorted
SELECT pg_relation_size('many_small') = pg_relation_size('many_large') AS same;
DROP INDEX many_large;
SET enable_seqscan = off;
SET jit = off;
SELECT count(*) FROM many WHERE fp ~= hashint8extended(1, 1);
SELECT count(*) FROM many WHERE fp <@ (0, 20);
SELECT count(*) FROM many WHERE bit_count(fp::bit(64)) <= 20;
DROP TABLE many;

--
-- hamming_parallel.c: several processes write what one would have written
--
-- Unlogged, since then no page says where in the log it stands, and the files
-- can be compared byte by byte.  2,160,000 entries of 540,000 rows, of which
-- every fingerprint but those of 3 is there 12 times: many a page begins within
-- rows of the same one.  There are 33 runs, sixteen of which one process has at
-- least, and merges before the others read them.
--

CREATE UNLOGGED TABLE shared WITH (autovacuum_enabled = off) AS
  SELECT n AS id, CASE WHEN n % 90000 >= 3 THEN hashint8extended(n % 45000, 1) END AS fp
  FROM generate_series(1, 540000) AS n;
SET maintenance_work_mem = '1MB';
CREATE INDEX shared_one ON shared USING hamming (fp);
CREATE INDEX shared_part_one ON shared USING hamming ((fp # 1)) WITH (fillfactor = 30)
  WHERE id % 7 = 0;
SET max_parallel_maintenance_workers = 4;
ALTER TABLE shared SET (parallel_workers = 1);
CREATE INDEX shared_two ON shared USING hamming (fp);
ALTER TABLE shared SET (parallel_workers = 4);
SET maintenance_work_mem = '64MB';
CREATE INDEX shared_five ON shared USING hamming (fp);
CREATE INDEX shared_part_five ON shared USING hamming ((fp # 1)) WITH (fillfactor = 30)
  WHERE id % 7 = 0;
CREATE FUNCTION content(index regclass) RETURNS text LANGUAGE sql AS
  $$ SELECT md5(pg_read_binary_file(pg_relation_filepath(index))) $$;
SELECT content('shared_one') = content('shared_two') AS two,
  content('shared_one') = content('shared_five') AS five,
  content('shared_part_one') = content('shared_part_five') AS part,
  content('shared_one') = content('shared_part_one') AS other;
SELECT hamming_index_check('shared_five', true);
SELECT hamming_index_check('shared_part_five', true);

-- no row, none with a fingerprint, one, and rows of one fingerprint only
CREATE UNLOGGED TABLE few (fp bigint) WITH (parallel_workers = 2);
CREATE INDEX few_none ON few USING hamming (fp);
SELECT hamming_index_check('few_none', true), pg_relation_size('few_none') / 8192 AS pages;
INSERT INTO few SELECT NULL FROM generate_series(1, 1000);
REINDEX INDEX few_none;
SELECT hamming_index_check('few_none', true), pg_relation_size('few_none') / 8192 AS pages;
INSERT INTO few VALUES (1);
REINDEX INDEX few_none;
SELECT hamming_index_check('few_none', true), pg_relation_size('few_none') / 8192 AS pages;
INSERT INTO few SELECT 1 FROM generate_series(1, 50000);
REINDEX INDEX few_none;
ALTER TABLE few SET (parallel_workers = 0);
CREATE INDEX few_alone ON few USING hamming (fp);
SELECT hamming_index_check('few_none', true), content('few_none') = content('few_alone') AS same;
DROP TABLE shared, few;
DROP FUNCTION content;
