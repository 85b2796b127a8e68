--
-- key_paths.c and selectivity.c: plans over key columns, and row estimates
--
-- That the plans give what a sequential scan gives is tested at random by
-- test/t/001_exact.pl.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- random fingerprints, and each tenth a near-duplicate of the one before
CREATE TABLE docs (id int PRIMARY KEY, fp bigint);
INSERT INTO docs
SELECT n, hashint8extended(n - (n % 10 = 0)::int, 1)
          # CASE WHEN n % 10 = 0 THEN 1::bigint << n % 64 ELSE 0 END
FROM generate_series(1, 20000) AS n;
SELECT simhash_add_keys('docs', 'fp', covering => false);
VACUUM ANALYZE docs;

----------------------------------------
-- the plan of each kind of query
----------------------------------------

-- constants
SELECT plan('SELECT id FROM docs WHERE fp ~= 42');
SELECT plan('SELECT id FROM docs WHERE 42 ~= fp');
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 1)');
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 0)');
SELECT plan('SELECT id FROM docs WHERE hamming_ball(42, 2) @> fp');
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 5)');

-- parameters, in a generic plan
SET plan_cache_mode = force_generic_plan;
PREPARE near(bigint) AS SELECT id FROM docs WHERE fp ~= $1;
SELECT plan('EXECUTE near(42)');
PREPARE within(bigint, int) AS SELECT id FROM docs WHERE fp <@ ($1, $2);
SELECT plan('EXECUTE within(42, 3)');
PREPARE ball(hamming_ball) AS SELECT id FROM docs WHERE fp <@ $1;
SELECT plan('EXECUTE ball(''(42,3)'')');
PREPARE document(text) AS SELECT id FROM docs WHERE fp ~= simhash($1);
SELECT plan('EXECUTE document(''a b'')');
RESET plan_cache_mode;

-- any of several
SELECT plan($$SELECT id FROM docs WHERE fp ~= ANY ('{42,43}')$$);
SELECT plan('SELECT a.id, b.id FROM docs a JOIN docs b ON b.fp ~= ANY (ARRAY[a.fp, ~ a.fp]) WHERE a.id < 3');
SET plan_cache_mode = force_generic_plan;
PREPARE near_any AS SELECT id FROM docs WHERE fp ~= ANY ($1) ORDER BY id;
SELECT plan('EXECUTE near_any(''{42}'')');
RESET plan_cache_mode;
-- a hamming index serves balls as well
CREATE TABLE indexed AS SELECT id, fp FROM docs;
CREATE INDEX indexed_fp ON indexed USING hamming (fp);
VACUUM ANALYZE indexed;
SET enable_seqscan = off;
SET plan_cache_mode = force_generic_plan;
PREPARE index_any AS SELECT id FROM indexed WHERE fp ~= ANY ($1);
PREPARE index_balls AS SELECT id FROM indexed WHERE fp <@ ANY ($1);
SELECT plan('EXECUTE index_any(''{42}'')');
SELECT plan('EXECUTE index_balls(''{"(42,5)"}'')');
RESET plan_cache_mode;
SELECT plan($$SELECT id FROM indexed WHERE fp ~= ANY ('{42,NULL}')$$);
SELECT plan('SELECT id FROM indexed WHERE fp ~= ANY (ARRAY(SELECT fp FROM docs WHERE id < 3))');
SELECT count(*) AS balls, count(*) FILTER (WHERE hamming(fp, 42) <= 22) AS "(42,22)"
FROM indexed WHERE fp <@ ANY ('{"(42,22)",NULL,"(,3)","(3,)","(-42,21)"}');
SELECT count(*) AS balls FROM indexed WHERE hamming(fp, 42) <= 22 OR hamming(fp, -42) <= 21;
RESET enable_seqscan;
-- arrays of each kind give what single searches give
PREPARE near_each AS SELECT id FROM docs WHERE EXISTS (SELECT FROM unnest($1::bigint[]) AS q WHERE fp ~= q OFFSET 0) ORDER BY id;
CREATE FUNCTION ids(query text, centers bigint[]) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    result int[];
BEGIN
    EXECUTE format('CREATE TEMP TABLE found AS EXECUTE %s(%L)', query, centers);
    EXECUTE 'SELECT coalesce(array_agg(id ORDER BY id), ''{}'') FROM found' INTO result;
    DROP TABLE found;
    RETURN result;
END $$;
SET enable_seqscan = off;
SELECT mode, n, cardinality(ids('near_any', centers)) AS rows, ids('near_any', centers) = ids('near_each', centers) AS same,
    ids('index_any', centers) = ids('near_each', centers) AS same_by_index
FROM unnest('{force_generic_plan,force_custom_plan}'::text[]) AS mode,
    set_config('plan_cache_mode', mode, false),
    LATERAL (VALUES (1, '{}'::bigint[]), (2, NULL), (3, '{NULL}'),
        (4, (SELECT array_agg(fp) FROM docs WHERE id = 9)),
        (5, (SELECT array_agg(fp ORDER BY id) || NULL || array_agg(fp # 3 ORDER BY id) FROM docs WHERE id < 20)),
        (6, (SELECT ARRAY[array_agg(fp), array_agg(fp # 7)] FROM docs WHERE id BETWEEN 50 AND 200))) AS v (n, centers)
ORDER BY mode, n;
RESET enable_seqscan;
RESET plan_cache_mode;
DROP FUNCTION ids;
DROP TABLE indexed;

-- a sub-select, evaluated once
SELECT plan('SELECT id FROM docs WHERE fp ~= (SELECT fp FROM docs WHERE id = 7)');

-- joins
SELECT plan('SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp ~= b.fp
             WHERE a.id < 10');
SELECT plan('SELECT a.id, b.id FROM docs a LEFT JOIN docs b
             ON b.fp <@ (a.fp, 5) AND b.id <> a.id WHERE a.id < 10');
SELECT plan('SELECT * FROM (VALUES (1::bigint), (2)) AS q(fp),
             LATERAL (SELECT id FROM docs WHERE docs.fp ~= q.fp LIMIT 5) AS d');
SELECT plan('SELECT id FROM docs a WHERE id < 10 AND EXISTS (
             SELECT FROM docs b WHERE b.fp ~= a.fp AND b.id < a.id)');

-- modifications
SELECT plan('DELETE FROM docs WHERE fp ~= 42');

----------------------------------------
-- other shapes of the same
----------------------------------------

-- the document itself, when the keys come from it
CREATE TABLE texts (id int, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
INSERT INTO texts SELECT n, md5(n::text) || ' ' || n FROM generate_series(1, 3000) n;
SELECT simhash_add_keys('texts', 'fp', covering => false);
ANALYZE texts;
SELECT plan('SELECT id FROM texts WHERE simhash(body) ~= 42');
SELECT plan('SELECT id FROM texts WHERE fp ~= 42');
-- another profile is another fingerprint
SELECT plan('SELECT id FROM texts WHERE simhash(body, ''word-1'') ~= 42');

-- expression indexes serve as well, without columns
CREATE TABLE bare AS SELECT * FROM docs;
CREATE INDEX ON bare (simhash_key(fp, 0));
CREATE INDEX ON bare (simhash_key(fp, 1));
CREATE INDEX ON bare (simhash_key(fp, 2));
SELECT plan('SELECT id FROM bare WHERE fp ~= 42');      -- one is missing
SELECT plan('SELECT id FROM bare WHERE fp <@ (42, 2)'); -- but not needed
CREATE INDEX ON bare (simhash_key(fp, 3));
ANALYZE bare;
SELECT plan('SELECT id FROM bare WHERE fp ~= 42');

-- views, partitions, children
CREATE VIEW a_view AS SELECT id AS number, fp AS print FROM docs WHERE id > 0;
SELECT plan('SELECT number FROM a_view WHERE print ~= 42');
CREATE TABLE parted (id int, fp bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10000);
CREATE TABLE parted_2 (fp bigint, id int);              -- another order
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (10000) TO (99999);
SELECT simhash_add_keys('parted', 'fp', covering => false);
INSERT INTO parted SELECT id, fp FROM docs;
ANALYZE parted;
SELECT plan('SELECT id FROM parted WHERE fp ~= 42');
CREATE TABLE parent (id int, fp bigint);
CREATE TABLE child (more text) INHERITS (parent);
SELECT simhash_add_keys('parent', 'fp', covering => false);
INSERT INTO parent SELECT id, fp FROM docs WHERE id % 2 = 0;
INSERT INTO child SELECT id, fp FROM docs WHERE id % 2 = 1;
ANALYZE parent, child;
SELECT plan('SELECT id FROM parent WHERE fp ~= 42');

-- row security: neither the operators nor the keys tell of hidden rows, so that
-- they may come before a policy
CREATE ROLE regress_key_paths_user;
GRANT SELECT ON docs TO regress_key_paths_user;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON docs USING (id % 2 = 0);
SET ROLE regress_key_paths_user;
SELECT plan('SELECT id FROM docs WHERE fp ~= 42');
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 3)');
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
REVOKE ALL ON docs FROM regress_key_paths_user;
DROP ROLE regress_key_paths_user;

----------------------------------------
-- hands off
----------------------------------------

-- a volatile query side
SELECT plan('SELECT id FROM docs WHERE fp ~= (random() * 100)::bigint');
-- a correlated sub-select on the query side
SELECT plan('SELECT a.id FROM docs a, docs b WHERE b.id = 1 AND a.fp ~=
             (SELECT max(c.fp) FROM docs c WHERE c.id = b.id OFFSET 0)');
-- both sides of the same row
SELECT plan('SELECT id FROM docs WHERE fp ~= id');
-- a sample of the table
SELECT plan('SELECT id FROM docs TABLESAMPLE SYSTEM (50) WHERE fp ~= 42');
-- ALL, ANY of balls, or of what stands to the left
SELECT plan($$SELECT id FROM docs WHERE fp ~= ALL ('{42,43}')$$);
SELECT plan($$SELECT id FROM docs WHERE fp <@ ANY ('{"(42,1)"}')$$);
SELECT plan('SELECT id FROM docs WHERE 42 ~= ANY (ARRAY[fp])');
-- NOT, OR
SELECT plan('SELECT id FROM docs WHERE NOT fp ~= 42');
-- the condition of an outer join that concerns the outer side
SELECT plan('SELECT a.id, b.id FROM docs a LEFT JOIN bare b
             ON a.id = b.id AND a.fp ~= 42');
-- a radius for which reading the table is cheaper
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 12)');
-- columns that only look like keys
CREATE TABLE fake (id int, fp bigint, k0 smallint, k1 smallint,
    k2 smallint, k3 smallint GENERATED ALWAYS AS (simhash_key(fp, 2)) STORED);
CREATE INDEX ON fake (k0);
CREATE INDEX ON fake (k1);
CREATE INDEX ON fake (k2);
CREATE INDEX ON fake (k3);
INSERT INTO fake SELECT id, fp FROM docs;
ANALYZE fake;
SELECT plan('SELECT id FROM fake WHERE fp ~= 42');
-- a column that has been altered
ALTER TABLE texts ALTER k2 DROP EXPRESSION;
SELECT plan('SELECT id FROM texts WHERE fp ~= 42');
-- an index that does not hold all rows
DROP INDEX parent_k1_idx;
CREATE INDEX parent_k1_idx ON parent (k1) WHERE id > 10;
SELECT plan('SELECT id FROM ONLY parent WHERE fp ~= 42');
SELECT plan('SELECT id FROM ONLY parent WHERE fp ~= 42 AND id > 10');

-- functions that the user may not execute
CREATE ROLE regress_key_paths_user;
GRANT SELECT ON docs TO regress_key_paths_user;
REVOKE EXECUTE ON FUNCTION simhash_key FROM PUBLIC;
SET ROLE regress_key_paths_user;
SELECT plan('SELECT id FROM docs WHERE fp ~= 42');
RESET ROLE;
GRANT EXECUTE ON FUNCTION simhash_key TO PUBLIC;
REVOKE ALL ON docs FROM regress_key_paths_user;
DROP ROLE regress_key_paths_user;

----------------------------------------
-- what a path evaluates
----------------------------------------

-- A bitmap of 64 kB has no room for so many pages: what it has forgotten is
-- evaluated again.  A third of the rows is hidden.
CREATE SEQUENCE calls;
CREATE SEQUENCE hidden_calls;
CREATE SEQUENCE seed_calls;
GRANT ALL ON SEQUENCE calls, hidden_calls, seed_calls TO PUBLIC;
CREATE FUNCTION seed() RETURNS int IMMUTABLE LANGUAGE plpgsql AS
    $$ BEGIN PERFORM nextval('public.seed_calls'); RETURN 0; END $$;
CREATE FUNCTION print(id int, word text, seed int DEFAULT 0) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM nextval('public.calls');
    PERFORM nextval('public.hidden_calls') WHERE id % 3 = 0;
    RETURN length(word);
END $$;
CREATE TABLE code (id int, word text, filler text DEFAULT repeat('x', 5000),
    fp bigint GENERATED ALWAYS AS (print(id, word)) STORED,
    seeded bigint GENERATED ALWAYS AS (print(id, word, seed())) STORED);
ALTER TABLE code ALTER filler SET STORAGE PLAIN;
INSERT INTO code SELECT n, 'word' FROM generate_series(1, 1500) AS n;
SELECT simhash_add_keys('code', 'seeded', covering => false);
CREATE INDEX ON code (simhash_key(print(id, word), 0));
CREATE INDEX ON code (simhash_key(print(id, word), 1));
CREATE INDEX ON code (simhash_key(print(id, word), 2));
CREATE INDEX ON code (simhash_key(print(id, word), 3));
ANALYZE code;
CREATE VIEW barred WITH (security_barrier) AS SELECT * FROM code WHERE id % 3 > 0;
CREATE ROLE regress_key_paths_user;
GRANT SELECT (id, fp, seeded) ON code TO regress_key_paths_user;
GRANT SELECT ON barred TO regress_key_paths_user;
REVOKE EXECUTE ON FUNCTION print FROM PUBLIC;
CREATE FUNCTION called() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    result := format('%s calls, %s of hidden rows, %s of the seed', nextval('public.calls') - 1,
        nextval('public.hidden_calls') - 1, nextval('public.seed_calls') - 1);
    PERFORM setval('calls', 1, false), setval('hidden_calls', 1, false), setval('seed_calls', 1, false);
    RETURN result;
END $$;
SELECT called() ~ '^[1-9].* [1-9].* [1-9]' AS while_made;
SET work_mem = '64kB';
SET enable_seqscan = off;

-- the column is not the expression that generates it
SELECT plan('SELECT id FROM code WHERE fp ~= 4');
SELECT count(*) FROM code WHERE fp ~= 4;
SET ROLE regress_key_paths_user;
SELECT count(*) FROM code WHERE fp ~= 4;
SELECT count(*) FROM barred WHERE fp ~= 4;
RESET ROLE;
SELECT called();
-- what is in the row can be compared, and so can keys of the column
SELECT plan('SELECT id FROM code WHERE seeded ~= 4');
SELECT count(*) FROM code WHERE seeded ~= 4;
CREATE INDEX ON code (simhash_key(fp, 0));
CREATE INDEX ON code (simhash_key(fp, 1));
CREATE INDEX ON code (simhash_key(fp, 2));
CREATE INDEX ON code (simhash_key(fp, 3));
SET ROLE regress_key_paths_user;
SELECT plan('SELECT id FROM code WHERE fp ~= 4');
SELECT count(*) FROM code WHERE fp ~= 4;
SELECT count(*) FROM code WHERE seeded ~= 4;
RESET ROLE;
SELECT called();
-- the expression itself, after a policy
GRANT EXECUTE ON FUNCTION print TO PUBLIC;
GRANT SELECT ON code TO regress_key_paths_user;
SELECT plan('SELECT id FROM code WHERE print(id, word) ~= 4');
ALTER TABLE code ENABLE ROW LEVEL SECURITY;
CREATE POLICY shown ON code USING (id % 3 > 0);
SET ROLE regress_key_paths_user;
SELECT plan('SELECT id FROM code WHERE print(id, word) ~= 4');
SELECT count(*) FROM code WHERE print(id, word) ~= 4;
SELECT called();
-- unless it is leakproof
RESET ROLE;
ALTER FUNCTION print LEAKPROOF;
SET ROLE regress_key_paths_user;
SELECT plan('SELECT id FROM code WHERE print(id, word) ~= 4') AS plan LIMIT 1;
RESET ROLE;
RESET work_mem;
RESET enable_seqscan;
DROP TABLE code CASCADE;
DROP FUNCTION print, seed, called;
DROP SEQUENCE calls, hidden_calls, seed_calls;
DROP ROLE regress_key_paths_user;

----------------------------------------
-- the library comes by itself
----------------------------------------

\c -
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT a.id FROM docs a JOIN docs b ON a.fp ~= b.fp;

----------------------------------------
-- the query side is evaluated once a scan
----------------------------------------

CREATE FUNCTION noted(n bigint) RETURNS bigint STABLE LANGUAGE plpgsql AS
$$ BEGIN RAISE NOTICE 'evaluated'; RETURN n; END $$;
SELECT count(*) FROM docs WHERE fp ~= (SELECT noted(42));

----------------------------------------
-- row estimates
----------------------------------------

CREATE FUNCTION counted_by(query text) RETURNS bigint LANGUAGE plpgsql AS
$$ DECLARE n bigint; BEGIN EXECUTE query INTO n; RETURN n; END $$;

-- within ten times of the truth (counting none as one) for every row
SELECT truth, count(*) AS searches,
       bool_and(estimate BETWEEN truth / 10.0 AND truth * 10) AS good
FROM (SELECT estimate(format('SELECT FROM docs WHERE fp ~= %L', fp)) AS estimate,
             (SELECT greatest(count(*), 1) FROM docs AS d
              WHERE hamming(d.fp, q.fp) <= 3) AS truth
      FROM docs AS q WHERE id % 400 IN (0, 1)) AS s
GROUP BY truth ORDER BY truth;
-- groups: 10 of a thousand near-duplicates each, some far larger
CREATE TABLE crowd (id int, fp bigint);
INSERT INTO crowd
SELECT n, hashint8extended(greatest(n % 1000 - 500, 0), 3)
          # (1::bigint << n / 1000 % 64)
FROM generate_series(0, 19999) AS n;
ANALYZE crowd;
SELECT k, count(*) AS searches,
       bool_and(estimate BETWEEN truth / 10.0 AND truth * 10) AS good
FROM (SELECT k, estimate(format('SELECT FROM crowd WHERE fp <@ (%L, %s)', fp, k))
                AS estimate,
             (SELECT greatest(count(*), 1) FROM crowd AS d
              WHERE hamming(d.fp, q.fp) <= k) AS truth
      FROM crowd AS q, unnest('{0,1,2,3,8}'::int[]) AS k
      WHERE id % 499 = 0) AS s
GROUP BY k ORDER BY k;
-- a radius that random fingerprints reach
SELECT k, estimate(format('SELECT FROM docs WHERE fp <@ (0, %s)', k))
          BETWEEN truth / 2 AND truth * 2 AS good
FROM unnest('{28,32,40,64}'::int[]) AS k,
     LATERAL (SELECT count(*) AS truth FROM docs WHERE hamming(fp, 0) <= k) AS t;
-- parameters, expressions without statistics, joins: never a guess of a third
SET plan_cache_mode = force_generic_plan;
PREPARE near(bigint) AS SELECT FROM docs WHERE fp ~= $1;
SELECT estimate('EXECUTE near(42)') < 100 AS parameter,
       estimate('SELECT FROM docs WHERE fp # 1 ~= 42') < 100 AS expression,
       estimate('SELECT FROM docs WHERE fp ~= id') < 100 AS same_row,
       estimate('SELECT FROM docs a, docs b WHERE a.fp ~= b.fp')
           BETWEEN 20000 AND 200000 AS "join",
       estimate('SELECT FROM docs a WHERE EXISTS (
                 SELECT FROM bare b WHERE a.fp ~= b.fp)') > 2000 AS semi;
-- joins of crowds: equal rows as many as "=" says, others within three times the
-- truth; of rare values each is near a few others
CREATE TABLE crowds AS
SELECT n AS id, h AS fp, (h::bit(64) || hashint8extended(h, 2)::bit(64) || h::bit(8))::bit(136) AS bits
FROM generate_series(1, 6000) AS n, LATERAL (SELECT CASE
    WHEN n % 30 = 0 THEN 77 WHEN n % 30 = 1 THEN 79 WHEN n % 30 < 5 THEN hashint8extended(n % 90, 1)
    WHEN n % 30 < 9 THEN hashint8extended(0, 1) # (1::bigint << n % 61) # (1::bigint << n % 59)
    ELSE hashint8extended(n, 1) END) AS l(h);
ANALYZE crowds;
SELECT kind, estimate(format('SELECT FROM crowds a, crowds b WHERE a.%s', condition)) / truth::numeric
    BETWEEN least AND most AS good
FROM (VALUES ('equal', 'fp <@ (b.fp, 0)', 'fp = b.fp', .9, 1.2),
             ('turned', 'fp IS NOT NULL AND hamming_ball(a.fp, 0) @> b.fp', 'fp = b.fp', .9, 1.2),
             ('limit', 'fp IS NOT NULL AND hamming_within(a.fp, b.fp, 0)', 'fp = b.fp', .9, 1.2),
             ('equal bits', 'bits <@ (b.bits, 0)', 'bits = b.bits', .9, 1.2),
             ('near', 'fp ~= b.fp', 'fp <~> b.fp <= 3', .33, 3),
             ('within 4', 'fp <@ (b.fp, 4)', 'fp <~> b.fp <= 4', .33, 3),
             ('bits within 8', 'bits <@ (b.bits, 8)', 'bits <~~> b.bits <= 8', .33, 3),
             ('all', 'fp <@ (b.fp, 64)', 'fp <~> b.fp <= 64', 1, 1))
         AS v (kind, condition, counted, least, most),
     LATERAL (SELECT counted_by(format('SELECT count(*) FROM crowds a, crowds b WHERE a.%s', counted)) AS truth) AS t;
-- rows that have a match, and that have none
SELECT estimate('SELECT FROM crowds a WHERE EXISTS (SELECT FROM crowds b WHERE a.fp ~= b.fp AND b.id > 0)') BETWEEN 5000 AND 6000 AS semi,
    estimate('SELECT FROM docs a WHERE EXISTS (SELECT FROM crowds b WHERE a.fp <@ (b.fp, 0))') <
        1.2 * estimate('SELECT FROM docs a WHERE EXISTS (SELECT FROM crowds b WHERE a.fp = b.fp)') AS strangers,
    estimate('SELECT FROM crowds a WHERE NOT EXISTS (SELECT FROM crowds b WHERE a.fp ~= b.fp AND b.id > 0)') < 1000 AS anti;
-- many common values are planned with in no more time
ALTER TABLE crowds ALTER fp SET STATISTICS 10000;
INSERT INTO crowds SELECT n, hashint8extended(n % 4000, 5) FROM generate_series(1, 14000) AS n;
ANALYZE crowds;
SELECT estimate('SELECT FROM crowds a, crowds b WHERE a.fp <@ (b.fp, 0)')
    BETWEEN .5 * count(*) AND 2 * count(*) AS many FROM crowds AS a JOIN crowds AS b USING (fp);
DROP TABLE crowds;
SELECT estimate('SELECT FROM docs WHERE fp ~= NULL') AS "null",
       estimate('SELECT FROM docs WHERE fp <@ (NULL, 3)') AS null_center;

DROP VIEW a_view;
DROP TABLE docs, texts, bare, parted, child, parent, fake, crowd;
DROP FUNCTION noted, counted_by;
