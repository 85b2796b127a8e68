--
-- hamming_sort.c: building an index with next to no memory
--
-- 1,200,000 entries in stretches of 65,536, which are merged at the end.
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
-- more stretches than there is memory for a block of each: 136,000 rows have 64
-- entries each, 133 stretches, and 128 blocks are 1 MB
--
CREATE TABLE broad AS
  SELECT n AS id, ('x' || string_agg(md5(n || '.' || part), '' ORDER BY part))::bit(1024) AS fp
  FROM generate_series(1, 136000) AS n, generate_series(1, 8) AS part GROUP BY n;
SET maintenance_work_mem = '1MB';
CREATE INDEX broad_small ON broad USING hamming (fp);
RESET maintenance_work_mem;
SELECT hamming_index_check('broad_small', false);
SELECT count(*) AS searched, count(found.id) AS found
FROM broad AS b LEFT JOIN LATERAL (SELECT id FROM broad AS o WHERE o.fp <@ (b.fp, 15) AND o.id = b.id) AS found ON true
WHERE b.id % 1000 = 0;
DROP TABLE broad;

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
