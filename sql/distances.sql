--
-- distances.c: conditions on a distance, such as fp <~> q <= 8
--
-- That the plans give what plain SQL gives is tested at random by
-- test/check/check_generator.py.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- random fingerprints, and each tenth a near-duplicate of the one before
CREATE TABLE docs (id int PRIMARY KEY, site int, fp bigint, bits bit(72));
INSERT INTO docs
SELECT n, n % 7, h, ((h # n)::bit(64) || 'x5a')::bit(72)
FROM generate_series(1, 20000) AS n,
     LATERAL (SELECT hashint8extended(n - (n % 10 = 0)::int, 1)
          # CASE WHEN n % 10 = 0 THEN 1::bigint << n % 64 ELSE 0 END) AS l(h);
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE INDEX docs_bits ON docs USING hamming (bits);
VACUUM ANALYZE docs;

-- the first query of a session, which has not loaded the library
\c -
SET enable_bitmapscan = off;
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 8');
\c -
SELECT plan('SELECT id FROM docs WHERE bits <~~> 42::bit(72) <= 8');

SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET enable_bitmapscan = off;

----------------------------------------
-- each way to say it
----------------------------------------

CREATE TABLE ways (n serial, condition text);
INSERT INTO ways (condition) VALUES
    ('fp <~> 42 <= 8'), ('42 <~> fp <= 8'), ('hamming(fp, 42) <= 8'), ('hamming(42, fp) <= 8'),
    ('8 >= fp <~> 42'), ('fp <~> 42 < 9'), ('9 > fp <~> 42'),
    ('fp <~> 42 <= 8::bigint'), ('fp <~> 42 <= 8::smallint'), ('8::bigint >= fp <~> 42'),
    ('9::smallint > fp <~> 42'), ('fp <~> 42 < 9::bigint'),
    ('NOT fp <~> 42 > 8'), ('fp <~> 42 BETWEEN 0 AND 8'), ('fp <~> 42 >= 0 AND 8 >= fp <~> 42'),
    ('fp <~> 42 > -1 AND fp <~> 42 <= 8'),
    ('hamming_within(fp, 42, 8)'), ('hamming_within(42, fp, 8)');
-- all have the condition of an index that  fp <@ (42, 8)  has, and most a filter
CREATE FUNCTION condition(query text) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(trim(line), E'\n') FROM plan('SELECT id FROM docs WHERE ' || query) AS line WHERE line ~ 'Index Cond'
$$;
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 8)');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 8');
SELECT plan('SELECT id FROM docs WHERE hamming_within(fp, 42, 8)');
SELECT condition FROM ways WHERE condition(condition) IS DISTINCT FROM condition('fp <@ (42, 8)') ORDER BY n;
SELECT condition('fp <~> 42 = 0') = condition('fp <@ (42, 0)') AS nought,
    condition('fp <~> 42 <= 3') = condition('fp <@ (42, 3)') AS near,
    condition('0 = hamming(fp, 42)') = condition('fp <@ (42, 0)') AS turned,
    condition('fp <~> 42 < 1') = condition('fp <@ (42, 0)') AS below,
    condition('bits <~~> 42::bit(72) <= 8') = condition('bits <@ (42::bit(72), 8)') AS bits,
    condition('hamming(42::bit(72), bits) < 9') = condition('bits <@ (42::bit(72), 8)') AS turned_bits;
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 = 5');
-- with others, in order
SELECT plan('SELECT id FROM docs WHERE site = 3 AND (fp <~> 42 <= 3 AND id > 9)');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 LIMIT 5');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 20 ORDER BY fp <~> 42 LIMIT 10');
-- parameters
SET plan_cache_mode = force_generic_plan;
PREPARE most AS SELECT id FROM docs WHERE fp <~> $1 <= $2;
PREPARE below(bigint, bigint) AS SELECT id FROM docs WHERE hamming($1, fp) < $2;
PREPARE exact(bigint, smallint) AS SELECT id FROM docs WHERE $2 = fp <~> $1;
PREPARE bits(bit, int) AS SELECT id FROM docs WHERE bits <~~> $1 <= $2;
PREPARE known AS SELECT id FROM docs WHERE fp <~> $1 <= 8;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'most';
SELECT plan('EXECUTE most(42, 8)');
SELECT plan('EXECUTE below(42, 8)');
SELECT plan('EXECUTE exact(42, 8::smallint)');
SELECT plan('EXECUTE bits(B''1'', 8)');
SELECT plan('EXECUTE known(42)');
-- joins, whichever side has the index; and what depends on another table
SELECT plan('SELECT b.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 8 WHERE a.id = 7');
SELECT plan('SELECT a.id FROM docs a JOIN docs b ON a.fp <~> b.fp <= 8 WHERE b.id = 7');
SELECT plan('SELECT b.id FROM docs a JOIN docs b ON a.fp <~> b.fp = 5 WHERE a.id = 7');
SELECT plan('SELECT a.id, b.id FROM docs a LEFT JOIN docs b
             ON hamming(b.bits, a.bits) <= 8 AND b.id <> a.id WHERE a.id < 3');
SELECT plan('SELECT a.id FROM docs a WHERE a.id < 9 AND EXISTS (
             SELECT FROM docs b WHERE a.fp <~> b.fp BETWEEN 1 AND a.site)');
SELECT plan('SELECT a.id FROM docs a WHERE a.id < 9 AND NOT EXISTS (
             SELECT FROM docs b WHERE a.fp <~> b.fp <= 8 AND a.id <> b.id)');
SELECT plan('SELECT q.fp, d.id FROM (VALUES (1::bigint), (2)) AS q(fp),
             LATERAL (SELECT id FROM docs WHERE docs.fp <~> q.fp <= 8 LIMIT 5) AS d');
SELECT plan('SELECT id FROM docs WHERE fp <~> (SELECT fp FROM docs WHERE id = 7) <= 8');
-- UPDATE and DELETE
SELECT plan('DELETE FROM docs WHERE fp <~> 42 <= 8');
-- no index, or key columns
CREATE TABLE bare AS SELECT * FROM docs;
CREATE TABLE keyed AS SELECT id, fp FROM docs;
SELECT simhash_add_keys('keyed', 'fp');
VACUUM ANALYZE bare, keyed;
SELECT plan('SELECT id FROM bare WHERE fp <~> 42 <= 8');
SET enable_bitmapscan = on;
SELECT plan('SELECT id FROM keyed WHERE fp <~> 42 <= 3');
SELECT plan('SELECT b.id FROM keyed a JOIN keyed b ON a.fp <~> b.fp < 5 WHERE a.id = 7');
PREPARE keys AS SELECT id FROM keyed WHERE fp <~> $1 <= $2;
SELECT plan('EXECUTE keys(42, 8)');
SET enable_bitmapscan = off;
-- partitions, children, a view, groups
CREATE TABLE parts (id int, site int, fp bigint) PARTITION BY LIST (site);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0, 1, 2);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT id, site, fp FROM docs;
CREATE INDEX ON parts USING hamming (site, fp);
CREATE INDEX ON parts USING hamming (fp);
ANALYZE parts;
CREATE VIEW shown WITH (security_barrier) AS SELECT id, fp FROM parts WHERE site > 1;
SELECT plan('SELECT id FROM parts WHERE fp <~> 42 <= 3');
SELECT plan('SELECT id FROM parts WHERE fp <~> 42 <= 3 AND site = 2');
SELECT plan('SELECT d.id, p.id FROM docs d JOIN parts_0 p ON p.site = d.site AND p.fp <~> d.fp <= 3 WHERE d.id = 14');
CREATE TABLE flags AS SELECT id, fp, id % 2 = 0 AS even, site FROM docs;
CREATE INDEX ON flags USING hamming (even, fp, site);
ANALYZE flags;
-- ANY (array) is for bitmaps alone
SELECT plan('SELECT id FROM flags WHERE fp <~> 42 <= 3 AND site = ANY (''{1,2}'') AND NOT even');
SELECT plan('SELECT id FROM flags WHERE fp <~> 42 <= 3 AND site = ANY (''{1,2}'') AND NOT even ORDER BY fp <~> 42');
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT line FROM plan('SELECT id FROM flags WHERE fp <~> 42 <= 3 AND site = ANY (''{1,2}'') AND NOT even') AS line WHERE line !~ 'Recheck|Filter';
SELECT (SELECT array_agg(id ORDER BY id) FROM flags WHERE fp <~> 42 <= 20 AND site = ANY ('{1,2,NULL}') AND NOT even) =
    (SELECT array_agg(id ORDER BY id) FROM flags WHERE bit_count((fp # 42)::bit(64)) <= 20 AND site IN (1, 2) AND NOT even) AS same;
RESET enable_indexscan;
SET enable_bitmapscan = off;
SELECT plan('SELECT id FROM flags WHERE fp <~> 42 <= 8 AND site = 3 AND even ORDER BY fp <~> 42 LIMIT 5');
SELECT plan('SELECT id FROM flags WHERE fp <~> 42 <= 3 AND site = 1');
SELECT (SELECT array_agg(id ORDER BY id) FROM flags WHERE fp <~> 42 <= 22 AND site = 3 AND even) =
    (SELECT array_agg(id ORDER BY id) FROM flags WHERE bit_count((fp # 42)::bit(64)) <= 22 AND site = 3 AND even) AS same;
-- a boolean that is known only as the query runs
SELECT plan('SELECT f.id FROM docs d JOIN flags f ON f.even = (d.site > 3) AND f.site = d.site AND f.fp <~> d.fp <= 3 WHERE d.id = 14');
SELECT (SELECT array_agg(f.id ORDER BY f.id) FROM docs d JOIN flags f ON f.even = (d.site > 3) AND f.site = d.site AND f.fp <~> d.fp <= 22 WHERE d.id = 14) =
    (SELECT array_agg(f.id ORDER BY f.id) FROM docs d JOIN flags f ON f.even = (d.site > 3) AND f.site = d.site
     WHERE bit_count((f.fp # d.fp)::bit(64)) <= 22 AND d.id = 14) AS same;
DROP TABLE flags;
-- what an outer join asks of the rows that it keeps says nothing of a scan of them
SELECT plan('SELECT a.id FROM docs a LEFT JOIN parts_0 b ON a.id = b.id AND a.fp <~> 42 <= 3');
SELECT count(*) FROM docs a LEFT JOIN parts_0 b ON a.id = b.id AND a.fp <~> 42 <= 3;
SELECT plan('SELECT id FROM shown WHERE fp <~> 42 <= 3');
SELECT plan('SELECT id FROM (SELECT id, fp FROM docs WHERE id > 0 UNION ALL SELECT id, fp FROM bare WHERE id > 0) AS u
             WHERE fp <~> 42 <= 8');

----------------------------------------
-- any number is a bound, and none is an error
----------------------------------------

SELECT (SELECT count(*) FROM docs WHERE fp <~> 42 <= 100) AS "100",
    (SELECT count(*) FROM docs WHERE fp <~> 42 <= -1) AS "-1",
    (SELECT count(*) FROM docs WHERE fp <~> 42 < 0) AS "< 0",
    (SELECT count(*) FROM docs WHERE fp <~> 42 < '-9223372036854775808'::bigint) AS least,
    (SELECT count(*) FROM docs WHERE fp <~> 42 <= 9223372036854775807) AS most,
    (SELECT count(*) FROM docs WHERE fp <~> 42 <= NULL) AS "null",
    (SELECT count(*) FROM docs WHERE fp <~> NULL <= 8) AS nothing,
    (SELECT count(*) FROM docs WHERE bits <~~> 42::bit(72) <= 100) AS bits,
    (SELECT count(*) FROM docs WHERE bits <~~> 42::bit(72) <= -1) AS no_bits;
CREATE FUNCTION found(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint;
    answers text[] := '{}';
BEGIN
    FOREACH n IN ARRAY '{-9223372036854775808,-1,0,20,72,100,9223372036854775807}'::bigint[] LOOP
        EXECUTE format(query, quote_literal(n) || '::bigint') INTO n;
        answers := answers || n::text;
    END LOOP;
    RETURN array_to_string(answers, ' ');
END $$;
PREPARE most_of(bigint) AS SELECT count(*) FROM docs WHERE fp <~> 42 <= $1;
PREPARE below_of(bigint) AS SELECT count(*) FROM docs WHERE fp <~> 42 < $1;
PREPARE exact_of(bigint) AS SELECT count(*) FROM docs WHERE fp <~> 42 = $1;
PREPARE bits_of(bigint) AS SELECT count(*) FROM docs WHERE bits <~~> 42::bit(72) <= $1;
PREPARE bare_of(bigint) AS SELECT count(*) FROM bare WHERE fp <~> 42 <= $1;
PREPARE keys_of(bigint) AS SELECT count(*) FROM keyed WHERE fp <~> 42 <= $1;
SET enable_bitmapscan = on;
SET enable_seqscan = off;
SELECT found('EXECUTE most_of(%s)') = found('SELECT count(*) FROM docs WHERE bit_count((fp # 42)::bit(64)) <= %s') AS most,
    found('EXECUTE below_of(%s)') = found('SELECT count(*) FROM docs WHERE bit_count((fp # 42)::bit(64)) < %s') AS below,
    found('EXECUTE exact_of(%s)') = found('SELECT count(*) FROM docs WHERE bit_count((fp # 42)::bit(64)) = %s') AS exact,
    found('EXECUTE bits_of(%s)') = found('SELECT count(*) FROM docs WHERE bit_count(bits # 42::bit(72)) <= %s') AS bits,
    found('EXECUTE keys_of(%s)') = found('EXECUTE bare_of(%s)') AS keys,
    found('EXECUTE bare_of(%s)') AS bare;
RESET enable_seqscan;
RESET plan_cache_mode;

----------------------------------------
-- estimates
----------------------------------------

SELECT k, estimate(format('SELECT FROM bare WHERE hamming_within(fp, 42, %s)', k)) =
    estimate(format('SELECT FROM bare WHERE fp <@ (42, %s)', k)) AS same,
    estimate(format('SELECT FROM bare a JOIN docs b ON hamming_within(a.fp, b.fp, %s)', k)) =
    estimate(format('SELECT FROM bare a JOIN docs b ON a.fp <@ (b.fp, %s)', k)) AS same_join,
    estimate(format('SELECT FROM bare a WHERE EXISTS (SELECT FROM docs b WHERE hamming_within(a.fp, b.fp, %s))', k)) =
    estimate(format('SELECT FROM bare a WHERE EXISTS (SELECT FROM docs b WHERE a.fp <@ (b.fp, %s))', k)) AS same_semi,
    estimate(format('SELECT FROM bare WHERE hamming_within(bits, 42::bit(72), %s)', k)) =
    estimate(format('SELECT FROM bare WHERE bits <@ (42::bit(72), %s)', k)) AS same_bits
FROM unnest('{0,3,8,24,32,64}'::int[]) AS k;
-- a condition on a distance is to the planner what it is without us
SELECT estimate('SELECT FROM docs WHERE fp <~> 42 <= 8') = estimate('SELECT FROM docs WHERE abs(id) <= 8') AS same;
SELECT estimate('SELECT FROM bare WHERE hamming_within(fp, 42, -1)') AS nothing,
    estimate('SELECT FROM bare WHERE hamming_within(fp, 42, 100)') AS everything;
-- a string of fewer bits than the radius that is assumed
SET plan_cache_mode = force_generic_plan;
PREPARE short(bigint) AS SELECT FROM bare WHERE hamming_within(bits, B'1', $1);
SELECT estimate('EXECUTE short(8)');
RESET plan_cache_mode;

----------------------------------------
-- rights
----------------------------------------

CREATE ROLE regress_distances_user;
GRANT SELECT ON docs, bare TO regress_distances_user;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON docs USING (id % 2 = 0);
SET ROLE regress_distances_user;
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 8');
-- of bit strings a distance may be an error, which would tell of a hidden row
SELECT plan('SELECT id FROM docs WHERE bits <~~> 42::bit(72) <= 8');
SELECT plan('SELECT b.id FROM bare a JOIN docs b ON a.fp <~> b.fp <= a.site WHERE a.id = 7');
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
-- who may not call the function that makes the ball has the table read
REVOKE EXECUTE ON FUNCTION _hamming_reach(bigint, bigint) FROM public;
SET ROLE regress_distances_user;
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 8');
SELECT count(*) FROM docs WHERE fp <~> 42 <= 20;
RESET ROLE;
GRANT EXECUTE ON FUNCTION _hamming_reach(bigint, bigint) TO public;
-- nor does he get the plan of somebody else
REVOKE EXECUTE ON FUNCTION _hamming_reach(bigint, bigint) FROM public;
SET plan_cache_mode = force_generic_plan;
PREPARE shared AS SELECT id FROM docs WHERE fp <~> $1 <= 8;
SELECT plan('EXECUTE shared(42)');
SET ROLE regress_distances_user;
SELECT plan('EXECUTE shared(42)');
RESET ROLE;
SELECT plan('EXECUTE shared(42)');
RESET plan_cache_mode;
GRANT EXECUTE ON FUNCTION _hamming_reach(bigint, bigint) TO public;
-- and who may not ask for the distance is told so
REVOKE EXECUTE ON FUNCTION hamming(bigint, bigint) FROM public;
SET ROLE regress_distances_user;
SELECT count(*) FROM docs WHERE fp <~> 42 <= 20;                                -- error
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming(bigint, bigint) TO public;

----------------------------------------
-- hands off
----------------------------------------

-- a query side that changes from row to row, or is of the same row
SELECT plan('SELECT id FROM docs WHERE fp <~> (random() * 100)::bigint <= 8');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= random()');
SELECT plan('SELECT id FROM docs WHERE fp <~> id <= 8');
SELECT plan('SELECT b.id FROM docs a JOIN docs b ON a.fp <~> (a.id # b.fp) <= 8');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= site');
-- no upper bound, or none that is an integer
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 >= 8');
SELECT plan('SELECT id FROM docs WHERE NOT fp <~> 42 <= 8');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 8.0');
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 IN (0, 1)');
-- between ORs, and in a sample
SELECT plan('SELECT id FROM docs WHERE fp <~> 42 <= 3 OR fp <~> 43 <= 4');
SELECT plan('SELECT id FROM docs TABLESAMPLE system (100) WHERE fp <~> 42 <= 8');
-- conditions by the hundred: the first ones are looked at, and all are tested
SELECT string_agg(format('fp <~> %s BETWEEN 0 AND 40 - n', n), ' AND ') AS many,
    string_agg(format('bit_count((fp # %s)::bit(64)) <= 40 - n', n), ' AND ') AS plain FROM generate_series(1, 100) AS n \gset
SELECT (SELECT count(*) FROM docs, (VALUES (1), (2)) AS v(n) WHERE :many) =
    (SELECT count(*) FROM docs, (VALUES (1), (2)) AS v(n) WHERE :plain) AS same;
-- relations that are no tables
SELECT plan('SELECT fp FROM unnest(ARRAY[1, 42]) AS fp WHERE fp <~> 42 <= 8');
SELECT plan('SELECT 1 WHERE 5::bigint <~> 42 <= 8');
SELECT plan('SELECT count(*) FROM docs HAVING max(fp) <~> 42 <= 8');
-- indexes that are made for the distance itself serve as without us
CREATE INDEX bare_far ON bare ((fp <~> 42));
CREATE INDEX bare_near ON bare (id) WHERE fp <~> 43 <= 20;
ANALYZE bare;
SELECT plan('SELECT site FROM bare WHERE fp <~> 42 <= 8');
SELECT plan('SELECT site FROM bare WHERE fp <~> 43 < 9 ORDER BY id');
SELECT plan('SELECT site FROM bare WHERE fp <~> 44 < 9');
CREATE INDEX ON bare USING hamming (fp) WHERE fp <~> 42 <= 50;
SELECT plan('SELECT site FROM bare WHERE fp <~> 42 <= 50 AND fp <~> 44 < 9');
-- or for it and more
CREATE INDEX bare_both ON bare (id) WHERE fp <~> 45 <= 20 AND site = 3;
CREATE INDEX bare_between ON bare (id) WHERE fp <~> 46 BETWEEN 0 AND 20;
CREATE INDEX bare_truth ON bare ((fp <~> 47 <= 20));
ANALYZE bare;
SELECT plan('SELECT site FROM bare WHERE fp <~> 45 <= 20 AND site = 3 ORDER BY id');
SELECT plan('SELECT site FROM bare WHERE fp <~> 46 BETWEEN 0 AND 20 ORDER BY id');
SELECT plan('SELECT site FROM bare WHERE fp <~> 47 <= 20');
DROP INDEX bare_far, bare_near, bare_both, bare_between, bare_truth;
-- or partitions
CREATE TABLE rings (id int, fp bigint) PARTITION BY RANGE ((fp <~> 0), id);
CREATE TABLE rings_0 PARTITION OF rings FOR VALUES FROM (0, 0) TO (30, 0);
CREATE TABLE rings_30 PARTITION OF rings FOR VALUES FROM (30, 0) TO (65, 0);
SELECT plan('SELECT id FROM rings WHERE fp <~> 0 <= 8');
SELECT plan('SELECT id FROM rings WHERE fp <~> 1 <= 8');
-- what is made for something else, which follows all the same, serves
CREATE INDEX bare_fp ON bare USING hamming (fp) WHERE fp IS NOT NULL;
CREATE INDEX bare_null ON bare (id) WHERE fp IS NOT NULL AND site = 3;
SELECT plan('SELECT site FROM bare WHERE fp <~> 48 <= 8');
SELECT plan('SELECT site FROM bare WHERE fp <~> 48 = 5 AND site = 3');

DROP VIEW shown;
DROP TABLE docs, bare, keyed, parts, rings, ways;
DROP FUNCTION condition, found;
DROP ROLE regress_distances_user;
