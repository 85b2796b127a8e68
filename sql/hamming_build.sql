--
-- hamming_sort.c: building an index with next to no memory
--
-- 1,200,000 entries in runs of 65,536, sixteen of which are merged at a time:
-- the first sixteen while the table is being read, the others at the end.
--

CREATE TABLE many AS
  SELECT n AS id, hashint8extended(n % 250000, 1) AS fp FROM generate_series(1, 300000) AS n;
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
-- hamming_load.c: next to nothing to load
--

-- no row, none with a fingerprint, one, and rows of one fingerprint only
CREATE TABLE few (fp bigint);
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
SELECT hamming_index_check('few_none', true);
-- a page that is half empty
CREATE INDEX few_half ON few USING hamming ((fp # 1)) WITH (fillfactor = 50);
SELECT hamming_index_check('few_half', true);
DROP TABLE few;
