----------------------------------------------------------------------------
-- hamming_search_plan(): what a search is going to read, and what it reads
----------------------------------------------------------------------------
CREATE TABLE docs AS SELECT n AS id, hashint8extended(n, 1) AS fp
FROM generate_series(1, 60000) AS n;
CREATE INDEX docs_fp ON docs USING hamming (fp);
ANALYZE docs;

SELECT block, radius, probes, crowd, crowd_beside, reads_all
FROM hamming_search_plan('docs_fp', (17, 0));
SELECT block, radius, probes, crowd, crowd_beside, reads_all
FROM hamming_search_plan('docs_fp', (17, 3));
SELECT block, radius, probes, crowd, crowd_beside, reads_all
FROM hamming_search_plan('docs_fp', (17, 6));
SELECT block, radius, probes, crowd, crowd_beside, reads_all
FROM hamming_search_plan('docs_fp', (17, 30));

-- The rows that agree with a query on block b but for so many bits: those are
-- the entries under the probes.  Blocks have 16, 16, 15 and 15 bits.
CREATE FUNCTION candidates(relation regclass, q bigint, block int, radius int)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	result bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM %s WHERE bit_count(
			(((fp # $1) >> $2) & ((1 << $3) - 1))::bit(64)) <= $4', relation)
	INTO result
	USING q, ('{48,32,17,2}'::int[])[block + 1],
		('{16,16,15,15}'::int[])[block + 1], radius;
	RETURN result;
END $$;

-- The index pages that a search touches.
CREATE FUNCTION touched(relation regclass, q bigint, k int)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT FROM %s
			WHERE fp <@ (%s, %s)', relation, q, k)
	INTO plan;
	plan := jsonb_path_query_first(plan,
		'$.**?(@."Node Type" == "Bitmap Index Scan")');
	RETURN (plan ->> 'Shared Hit Blocks')::bigint +
		(plan ->> 'Shared Read Blocks')::bigint;
END $$;
SET enable_seqscan = off;
SET enable_indexscan = off;
SET max_parallel_workers_per_gather = 0;
SET effective_io_concurrency = 0; -- asks for no page ahead where one was slow

-- How the estimates compare, as sums over four queries.  Pages count once for
-- each probe that begins there, so there may be fewer; one above the leaf pages
-- comes besides, for each run of keys on a page or two.
CREATE FUNCTION compare(relation regclass, index regclass, k int,
	OUT candidates text, OUT pages text) LANGUAGE sql AS $$
	SELECT CASE WHEN sum(p.candidates) BETWEEN 0.8 * sum(c) AND 1.25 * sum(c)
			THEN 'as counted' ELSE sum(p.candidates) || ', in fact ' || sum(c) END,
		CASE WHEN sum(t) BETWEEN 0.3 * sum(p.pages) AND 1.6 * sum(p.pages)
			THEN 'as touched' ELSE sum(p.pages) || ', in fact ' || sum(t) END
	FROM generate_series(1, 4) AS n, hashint8extended(n, 2) AS q,
		LATERAL (SELECT sum(h.candidates) AS candidates, sum(h.pages) AS pages,
				sum(candidates(relation, q, block, coalesce(radius, -1))) AS c
			FROM hamming_search_plan(index, (q, k)) AS h) AS p,
		touched(relation, q, k) AS t $$;
SELECT k, (compare('docs', 'docs_fp', k)).*
FROM unnest('{5,8,10,40}'::int[]) AS k;

----------------------------------------------------------------------------
-- crowds
----------------------------------------------------------------------------

-- Half of the rows have the same block 0.
CREATE TABLE menus AS SELECT id, CASE WHEN id % 2 = 0 THEN fp
	ELSE fp & ((1::bigint << 48) - 1) END AS fp FROM docs;
CREATE INDEX menus_fp ON menus USING hamming (fp);
ANALYZE menus;

-- among them, all of block 0 is passed over; elsewhere, nothing is different
SELECT block, radius, probes, candidates,
	crowd > 10000 AS crowded, crowd_beside < 2 AS alone, reads_all
FROM hamming_search_plan('menus_fp', (17, 3));
SELECT block, radius, probes, candidates,
	crowd > 10000 AS crowded, crowd_beside < 2 AS alone, reads_all
FROM hamming_search_plan('menus_fp', (-17, 3));
SELECT candidates('menus', 17, 0, 0) > 29000 AS crowd,
	sum(candidates('menus', 17, block, coalesce(radius, -1))) < 100 AS passed_over
FROM hamming_search_plan('menus_fp', (17, 3));

-- All rows share three blocks: the fourth alone is searched, as long as that
-- costs less than to read all.
CREATE TABLE twins AS SELECT id, fp & 65535 AS fp FROM docs;
CREATE INDEX twins_fp ON twins USING hamming (fp);
ANALYZE twins;
SELECT block, radius, crowd > 10000 AS crowded, reads_all
FROM hamming_search_plan('twins_fp', (17, 3));
SELECT block, radius, crowd > 10000 AS crowded, reads_all
FROM hamming_search_plan('twins_fp', (17, 12));

----------------------------------------------------------------------------
-- other indexes, and balls
----------------------------------------------------------------------------
SELECT * FROM hamming_search_plan(NULL, (17, 3));
SELECT * FROM hamming_search_plan('docs_fp', NULL);
SELECT * FROM hamming_search_plan('docs_fp', (NULL, 3));
SELECT * FROM hamming_search_plan('docs_fp', (17, NULL));
SELECT * FROM hamming_search_plan('docs_fp', (17, 65)); -- error
SELECT * FROM hamming_search_plan('docs', (17, 3)); -- error
SELECT * FROM hamming_search_plan(0, (17, 3)); -- error
SELECT * FROM hamming_search_plan('pg_class_oid_index', (17, 3)); -- error

-- of balls, empty, temporary, unlogged
CREATE TEMPORARY TABLE few (fp bigint);
CREATE INDEX few_ball ON few USING hamming (hamming_ball(fp, 8));
SELECT * FROM hamming_search_plan('few_ball', (17, 3));
CREATE UNLOGGED TABLE fleeting (fp bigint);
CREATE INDEX fleeting_fp ON fleeting USING hamming (fp);
SELECT * FROM hamming_search_plan('fleeting_fp', (17, 3));

-- partitioned
CREATE TABLE parts (id int, fp bigint) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE INDEX parts_fp ON parts USING hamming (fp);
SELECT * FROM hamming_search_plan('parts_fp', (17, 3)); -- error
SELECT hamming_index_check('parts_fp'); -- error
SELECT block, radius FROM hamming_search_plan('parts_1_fp_idx', (17, 3));

-- not valid
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'twins_fp'::regclass;
SELECT * FROM hamming_search_plan('twins_fp', (17, 3)); -- error

----------------------------------------------------------------------------
-- who may ask: who may read what is indexed, in all rows
----------------------------------------------------------------------------
CREATE ROLE regress_hamming_plan_reader;
CREATE INDEX docs_sum ON docs USING hamming ((fp + id));
CREATE INDEX docs_part ON docs USING hamming (fp) WHERE id < 5;
SET ROLE regress_hamming_plan_reader;
SELECT count(*) FROM hamming_search_plan('docs_fp', (17, 3)); -- error
RESET ROLE;

-- the column will do, but not for an index that other columns are part of
GRANT SELECT (fp) ON docs TO regress_hamming_plan_reader;
SET ROLE regress_hamming_plan_reader;
SELECT count(*) FROM hamming_search_plan('docs_fp', (17, 3));
SELECT count(*) FROM hamming_search_plan('docs_sum', (17, 3)); -- error
SELECT count(*) FROM hamming_search_plan('docs_part', (17, 3)); -- error
RESET ROLE;
GRANT SELECT ON docs TO regress_hamming_plan_reader;
SET ROLE regress_hamming_plan_reader;
SELECT count(*) FROM hamming_search_plan('docs_sum', (17, 3));
SELECT count(*) FROM hamming_search_plan('docs_part', (17, 3));
RESET ROLE;

-- not where rows are hidden; the owner sees them all
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON docs USING (id < 100);
SET ROLE regress_hamming_plan_reader;
SELECT count(*) FROM hamming_search_plan('docs_fp', (17, 3)); -- error
SET row_security = off;
SELECT count(*) FROM hamming_search_plan('docs_fp', (17, 3)); -- error
RESET row_security;
RESET ROLE;
SELECT count(*) FROM hamming_search_plan('docs_fp', (17, 3));

DROP TABLE docs, menus, twins, few, fleeting, parts;
DROP ROLE regress_hamming_plan_reader;
DROP FUNCTION compare, candidates, touched;
