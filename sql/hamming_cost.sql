--
-- hamming_cost.c: which way the planner takes, given all of them at once
--

-- which indexes a plan uses, and whether in a nested loop
CREATE FUNCTION way(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || line || E'\n';
	END LOOP;
	RETURN concat_ws(' ',
		CASE WHEN plan ~ 'Nested Loop' THEN 'nested loop:' END,
		CASE WHEN plan ~ 'Sort' THEN 'sort:' END,
		coalesce(nullif(concat_ws(' and ',
			CASE WHEN plan ~ 'on d\d+_id|using d\d+_id' THEN 'index on id' END,
			CASE WHEN plan ~ 'd\d+_h\M' THEN 'hamming' END,
			CASE WHEN plan ~ 'd\d+_k\d_idx' THEN 'keys' END), ''), 'table'));
END $$;

-- tables of a hundred rows and more, each with a hamming index and with keys
CREATE TABLE d100 AS SELECT n AS id, hashint8extended(n, 1) AS fp
FROM generate_series(1, 100) AS n;
CREATE TABLE d5000 AS SELECT n AS id, hashint8extended(n, 1) AS fp
FROM generate_series(1, 5000) AS n;
CREATE TABLE d20000 AS SELECT n AS id, hashint8extended(n, 1) AS fp
FROM generate_series(1, 20000) AS n;
SELECT simhash_add_keys(t, 'fp', covering => false) FROM unnest('{d100,d5000,d20000}'::regclass[]) AS t;
CREATE INDEX d100_h ON d100 USING hamming (fp);
CREATE INDEX d5000_h ON d5000 USING hamming (fp);
CREATE INDEX d20000_h ON d20000 USING hamming (fp);
VACUUM ANALYZE d100, d5000, d20000;
SET max_parallel_workers_per_gather = 0;

-- A few rows are read through; more are searched, at every distance.
SELECT t, k, way(format('SELECT id FROM %I WHERE fp <@ (17, %s)', t, k))
FROM unnest('{d100,d5000,d20000}'::text[]) AS t,
	unnest('{0,3,4,8,12,16}'::int[]) AS k;
SELECT t, way(format('SELECT id FROM %I WHERE fp ~= 17', t))
FROM unnest('{d100,d5000,d20000}'::text[]) AS t;

-- At distance 64 all rows match.
SELECT way('SELECT id FROM d20000 WHERE fp <@ (17, 64)');

-- nearest first: a few; all
SELECT way('SELECT id FROM d20000 ORDER BY fp <~> 17 LIMIT 10');
SELECT way('SELECT id FROM d20000 ORDER BY fp <~> 17');

-- nearest first among those within a distance, which end there; whether the
-- index orders them or a sort does, depends on the version
SELECT k, ltrim(way(format('SELECT id FROM d20000 WHERE fp <@ (17, %s)
	ORDER BY fp <~> 17, id', k)), 'sort: ')
FROM unnest('{3,8}'::int[]) AS k;
SELECT ltrim(way('SELECT id FROM d20000 WHERE fp ~= 17
	ORDER BY fp <~> 17 LIMIT 1'), 'sort: ');

-- joins: a few rows with many, all with all
SELECT way('SELECT * FROM d100 a JOIN d20000 b ON a.fp ~= b.fp');
SELECT way('SELECT * FROM d100 a JOIN d20000 b ON b.fp <@ (a.fp, 8)');
SELECT way('SELECT * FROM d20000 a JOIN d20000 b ON a.fp ~= b.fp AND a.id < b.id');

-- a better index on another column; one or the other
CREATE INDEX d20000_id ON d20000 (id);
SELECT way('SELECT * FROM d20000 WHERE id = 4 AND fp <@ (17, 12)');
SELECT way('SELECT * FROM d20000 WHERE id = 4 OR fp ~= 17');

-- a parameter, in a plan for any value
SET plan_cache_mode = force_generic_plan;
PREPARE near(bigint) AS SELECT id FROM d20000 WHERE fp ~= $1;
SELECT way('EXECUTE near(17)');
PREPARE within(bigint, int) AS SELECT id FROM d20000 WHERE fp <@ ($1, $2);
SELECT way('EXECUTE within(17, 5)');
PREPARE nearest(bigint, int) AS SELECT id FROM d20000 WHERE fp <@ ($1, $2)
	ORDER BY fp <~> $1, id;
SELECT ltrim(way('EXECUTE nearest(17, 5)'), 'sort: ');
RESET plan_cache_mode;

-- The keys serve where there is no other index.
DROP INDEX d20000_h;
SELECT k, way(format('SELECT id FROM d20000 WHERE fp <@ (17, %s)', k))
FROM unnest('{0,3,8,16}'::int[]) AS k;

DROP TABLE d100, d5000, d20000;
DROP FUNCTION way;
