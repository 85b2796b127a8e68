--
-- What is promised about rights (docs/trust.md), each promise attacked.  What
-- the owner of a table may plant is in planted.sql, and whose rights a report
-- has in report_rights.sql.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET client_min_messages = warning;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
CREATE ROLE regress_security_reader;

----------------------------------------
-- leakproof
----------------------------------------

-- these and no others
SELECT p.oid::regprocedure AS leakproof
FROM pg_proc AS p JOIN pg_depend ON objid = p.oid AND classid = 'pg_proc'::regclass
WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash') AND proleakproof
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- They raise no error, whatever a row has in it.
CREATE TABLE numbers AS SELECT unnest('{0,1,-1,65,-9223372036854775808,9223372036854775807,
    4294967296,42,NULL}'::bigint[]) AS n;
CREATE TABLE balls AS SELECT (a.n, b.n)::hamming_ball AS ball FROM numbers AS a, numbers AS b
    UNION ALL SELECT NULL;
SELECT count(hamming(a.n, b.n)) AS hamming, count(a.n <~> b.n) AS distance, count(a.n ~= b.n) AS near,
    count(simhash_similarity(a.n, b.n)) AS cosine, count(minhash_similarity(a.n, b.n)) AS jaccard
FROM numbers AS a, numbers AS b;
SELECT count(*), count(n <@ ball) AS within, count(ball @> n) AS contains,
    bool_and((n <@ ball) = (ball @> n)) AS same,
    bool_and((n <@ ball) = (bit_count((n # (ball).center)::bit(64)) <= (ball).radius)) AS right
FROM numbers, balls;
SELECT fails('SELECT count(*) FROM balls WHERE 5 <@ (1, 65)');

-- A row with a bad radius, hidden, betrays itself by no operator or plan; nor
-- does a bit string of another width.
CREATE TABLE hidden (id int PRIMARY KEY, fp bigint, k bigint, ball hamming_ball, bits varbit);
INSERT INTO hidden SELECT n, n, 3, (n, 3)::hamming_ball, n::bit(64) FROM generate_series(1, 200) AS n;
INSERT INTO hidden SELECT -n, n, 70, (n, -n)::hamming_ball, n::bit(32) FROM generate_series(1, 200) AS n;
CREATE INDEX hidden_fp ON hidden USING hamming (fp);
ANALYZE hidden;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY shown ON hidden USING (id > 0);
GRANT SELECT ON hidden, numbers TO regress_security_reader;
-- a view that hides rows of a join
CREATE VIEW barrier WITH (security_barrier) AS
    SELECT a.id AS a, b.id AS b, a.fp, b.ball, b.k, b.fp AS other
    FROM hidden AS a JOIN hidden AS b ON a.id > 0 AND a.id < 5 AND a.id <> b.id
    WHERE (a.id + b.id)::text !~ '-';
GRANT SELECT ON barrier TO regress_security_reader;
CREATE FUNCTION every_plan(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    way text;
    n bigint;
    answers text[] := '{}';
BEGIN
    FOREACH way IN ARRAY '{enable_material,enable_seqscan,enable_indexscan,enable_bitmapscan,
            enable_hashjoin,enable_nestloop,enable_mergejoin}'::text[] LOOP
        PERFORM set_config(way, 'off', true);
        BEGIN
            EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO n;
            answers := answers || n::text;
        EXCEPTION WHEN OTHERS THEN
            answers := answers || SQLERRM;
        END;
        PERFORM set_config(way, 'on', true);
    END LOOP;
    RETURN (SELECT string_agg(DISTINCT a, ', ') FROM unnest(answers) AS a);
END $$;
CREATE TABLE attempts (n serial, query text);
INSERT INTO attempts (query) VALUES
    ('SELECT FROM hidden WHERE fp <@ ball'),
    ('SELECT FROM hidden WHERE 5 <@ ball'),
    ('SELECT FROM hidden WHERE ball @> 5'),
    ('SELECT FROM hidden WHERE fp <@ (fp, k)'),
    ('SELECT FROM hidden WHERE 5 <@ hamming_ball(fp, k)'),
    ('SELECT FROM hidden WHERE (5, 3)::hamming_ball ~= ball'),
    ('SELECT FROM hidden AS a JOIN hidden AS b ON a.fp <@ b.ball'),
    ('SELECT FROM hidden AS a JOIN hidden AS b ON a.fp <@ (b.fp, b.k)'),
    ('SELECT FROM hidden AS a LEFT JOIN hidden AS b ON a.fp <@ b.ball AND b.fp <@ a.ball'),
    ('SELECT FROM numbers AS a LEFT JOIN hidden AS b ON a.n <@ b.ball'),
    ('SELECT FROM numbers AS a, LATERAL (SELECT FROM hidden AS b WHERE b.fp <@ (a.n, b.k) LIMIT 3) AS c'),
    ('SELECT id FROM hidden WHERE bits <@ hamming_bit_ball(5::bit(64), 3)'),
    ('SELECT id FROM hidden WHERE bits <~~> 5::bit(64) < 3'),
    ('SELECT id FROM hidden WHERE simhash_similarity(bits, 5::bit(64)) > 0'),
    ('SELECT k FROM hidden GROUP BY k, ball HAVING 5 <@ ball'),
    ('SELECT FROM hidden WHERE 5 = ANY (simhash_probes(fp, k, 0))'),
    ('SELECT FROM barrier WHERE fp <@ ball'),
    ('SELECT FROM barrier WHERE fp <@ (other, k)'),
    ('SELECT FROM barrier WHERE 5 <@ (other, k)');
GRANT SELECT ON attempts TO regress_security_reader;
-- The owner, who sees all, gets errors where a function may raise one.
SELECT n, every_plan(query), query FROM attempts ORDER BY n;
SET ROLE regress_security_reader;
SELECT n, every_plan(query), query FROM attempts ORDER BY n;
RESET ROLE;

-- So the index serves under row security, and within views.
SET enable_seqscan = off;
SET ROLE regress_security_reader;
SELECT plan('SELECT id FROM hidden WHERE fp ~= 42');
SELECT plan('SELECT id FROM hidden WHERE fp <@ (42, 5)');
SELECT plan('SELECT id FROM hidden WHERE hamming_ball(42, 5) @> fp');
SELECT plan('SELECT h.id FROM numbers, hidden AS h WHERE h.fp <@ (n, 3)');
SELECT plan('SELECT h.id FROM numbers, hidden AS h WHERE h.fp <@ (n, n)');
SET plan_cache_mode = force_generic_plan;
PREPARE search AS SELECT id FROM hidden WHERE fp <@ ($1, $2) ORDER BY id;
SELECT plan('EXECUTE search(42, 1)');
EXECUTE search(42, 1);
SELECT fails('EXECUTE search(42, 65)');
RESET plan_cache_mode;
-- a call of a function that is not leakproof, of another row, comes after
SELECT plan('SELECT h.id FROM numbers, hidden AS h WHERE h.fp <@ hamming_ball(n, 3)');
RESET ROLE;
RESET enable_seqscan;

----------------------------------------
-- estimates
----------------------------------------

-- Half of the hidden rows are alike.  The estimate tells where it may, as for
-- = of the core, and does not where an operator is not leakproof.
CREATE TABLE sampled (id int, fp bigint, bits bit(64));
INSERT INTO sampled SELECT n, h, h::bit(64) FROM (
    SELECT n, CASE WHEN n > 2000 THEN 4711 ELSE hashint8extended(n, 1) END AS h
    FROM generate_series(1, 4000) AS n) AS s;
ALTER TABLE sampled ALTER fp SET STATISTICS 100, ALTER bits SET STATISTICS 100;
ANALYZE sampled;
ALTER TABLE sampled ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON sampled USING (id <= 2000);
GRANT SELECT ON sampled TO regress_security_reader;
CREATE FUNCTION shows(condition text) RETURNS boolean LANGUAGE sql AS
    'SELECT estimate(''SELECT FROM sampled WHERE '' || replace(condition, ''?'', ''4711'')) >
     10 * estimate(''SELECT FROM sampled WHERE '' || replace(condition, ''?'', ''1152921504606846975''))';
CREATE TABLE conditions (n serial, condition text);
INSERT INTO conditions (condition) VALUES ('fp = ?'), ('fp ~= ?'), ('fp <@ (?, 5)'),
    ('hamming_ball(?, 5) @> fp'), ('bits = ?::bit(64)'),
    ('bits <@ hamming_bit_ball(?::bit(64), 5)'), ('hamming_bit_ball(?::bit(64), 5) @> bits');
GRANT SELECT ON conditions TO regress_security_reader;
SELECT condition, shows(condition) FROM conditions ORDER BY n;
SET ROLE regress_security_reader;
SELECT condition, shows(condition) FROM conditions ORDER BY n;
RESET ROLE;

----------------------------------------
-- what tells of an index
----------------------------------------

CREATE INDEX sampled_fp ON sampled USING hamming (fp);
CREATE INDEX sampled_bits ON sampled USING hamming (bits);
SET ROLE regress_security_reader;
SELECT fails('SELECT * FROM hamming_search_plan(''sampled_fp'', (4711, 3))');
SELECT fails('SELECT * FROM hamming_bit_search_plan(''sampled_bits'', (4711::bit(64), 3))');
SELECT fails('SELECT hamming_index_check(''sampled_fp'')');
-- nor does a search say how it goes, with whoever's rights
RESET ROLE;
CREATE FUNCTION searched() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp SET enable_seqscan = off AS
    'SELECT count(*) FROM sampled WHERE fp <@ (4711, 3) AND bits <@ (4711::bit(64), 3)';
SELECT searched() > 0;
SET ROLE regress_security_reader;
SET client_min_messages = debug2;
SELECT searched() > 0;
SET client_min_messages = warning;
RESET ROLE;
-- a function that runs with the rights of its owner tells what he may know
CREATE FUNCTION told() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS
    'SELECT count(*) FROM hamming_search_plan(''sampled_fp'', (4711, 3))';
SET ROLE regress_security_reader;
SELECT told(), current_user;
RESET ROLE;

DROP FUNCTION every_plan, shows, searched, told;
DROP VIEW barrier;
DROP TABLE numbers, balls, hidden, attempts, sampled, conditions;

----------------------------------------
-- an extension of somebody who is no superuser
----------------------------------------

-- It is trusted: who may create objects in the database may create it, and owns
-- it, but none of its members.
DROP EXTENSION simhash;
CREATE ROLE regress_security_maker;
SELECT format('GRANT CREATE ON DATABASE %I TO regress_security_maker', current_database()) AS command \gset
:command;
SET ROLE regress_security_maker;
CREATE SCHEMA made;
CREATE EXTENSION simhash SCHEMA made;
SET search_path = made;
CREATE FUNCTION trap(internal) RETURNS internal LANGUAGE internal AS 'int8dec';     -- error
CREATE FUNCTION bad(bigint, bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE DOMAIN finger AS bigint CHECK (bad(VALUE, 1));
CREATE DOMAIN near_ball AS hamming_ball CHECK (bad((VALUE).center, 1));
CREATE TYPE twin AS (center bigint, radius bigint);
SELECT n, left(public.fails(command), 5) FROM (VALUES
    (1, 'CREATE OPERATOR CLASS mine FOR TYPE bigint USING hamming AS OPERATOR 1 ~= (bigint, bigint), FUNCTION 1 btint8cmp(bigint, bigint)'),
    (2, 'CREATE OPERATOR FAMILY mine USING hamming'),
    (3, 'ALTER OPERATOR FAMILY int8_hamming_ops USING hamming ADD OPERATOR 4 = (bigint, bigint)'),
    (4, 'ALTER OPERATOR CLASS int8_hamming_ops USING hamming OWNER TO regress_security_maker'),
    (5, 'ALTER OPERATOR ~= (bigint, bigint) SET (RESTRICT = eqsel)'),
    (6, 'CREATE OR REPLACE FUNCTION hamming_near(a bigint, b bigint) RETURNS boolean LANGUAGE sql AS ''SELECT true'''),
    (7, 'CREATE OR REPLACE FUNCTION hamming_support(internal) RETURNS internal LANGUAGE internal AS ''int8dec'''),
    (8, 'ALTER FUNCTION hamming_near(bigint, bigint) SUPPORT generate_series_int8_support'),
    (9, 'ALTER FUNCTION bad(bigint, bigint) SUPPORT hamming_support'),
    (10, 'ALTER FUNCTION bad(bigint, bigint) LEAKPROOF'),
    (11, 'CREATE FUNCTION leak(bigint) RETURNS boolean LANGUAGE c AS ''$libdir/simhash'', ''simhash_key'''),
    (12, 'ALTER TYPE hamming_ball ADD ATTRIBUTE more text'),
    (13, 'ALTER TYPE hamming_ball RENAME ATTRIBUTE center TO middle'),
    (14, 'ALTER TYPE simhash_idf SET (RECEIVE = simhash_idf_recv)'),
    (15, 'CREATE CAST (hamming_ball AS twin) WITHOUT FUNCTION'),
    (16, 'CREATE CAST (text AS hamming_ball) WITH INOUT AS IMPLICIT'),
    (17, 'CREATE CAST (bytea AS simhash_idf) WITHOUT FUNCTION'),
    (18, 'DROP FUNCTION hamming_near(bigint, bigint)'),
    (19, 'ALTER EXTENSION simhash DROP FUNCTION hamming(bigint, bigint)'),
    (20, 'GRANT EXECUTE ON FUNCTION hamming_index_check(regclass, boolean) TO regress_security_maker'),
    (21, 'SELECT hamming_index_check(''pg_class_oid_index'')'),
    (22, 'CREATE ACCESS METHOD mine TYPE INDEX HANDLER hamming_handler'),
    (23, 'SELECT hamming_handler(0::internal)'),
    (24, 'CREATE AGGREGATE mine(bigint) (SFUNC = simhash_agg_add_hash, STYPE = internal)'),
    (25, 'CREATE OPERATOR ~= (FUNCTION = bad, LEFTARG = bigint, RIGHTARG = bigint)'))
    AS v (n, command) ORDER BY n;
-- what one may do: operators, types and functions of the same names beside them
CREATE OPERATOR <@ (FUNCTION = bad, LEFTARG = bigint, RIGHTARG = bigint);
CREATE TABLE docs (id int, fp bigint, finger finger, ball near_ball, twin twin);
INSERT INTO docs SELECT n, n, n, (n, 3)::hamming_ball, (n, 3)::twin FROM generate_series(1, 100) AS n;
CREATE INDEX ON docs USING hamming (fp);
CREATE INDEX ON docs USING hamming (finger);
CREATE INDEX ON docs USING hamming (ball);
ANALYZE docs;
SELECT count(*) FROM docs WHERE fp <@ 5::bigint;
SELECT count(*) FROM docs AS a JOIN docs AS b ON a.fp <@ b.fp;
SELECT count(*) FROM docs WHERE fp <@ (5, 1) AND finger ~= 5;
-- a superuser who uses what is there runs nothing of the owner's
RESET ROLE;
SET search_path = made;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 1);
SELECT item, value FROM simhash_report('docs', 'fp', 0) WHERE section = 'table';
SELECT hamming_index_check('docs_fp_idx', true);
SET ROLE regress_security_maker;
SELECT left(public.fails('ALTER EXTENSION simhash SET SCHEMA public'), 5);
RESET search_path;
DROP EXTENSION simhash CASCADE;
RESET ROLE;
DROP SCHEMA made CASCADE;
DROP OWNED BY regress_security_maker;
DROP ROLE regress_security_maker, regress_security_reader;
CREATE EXTENSION simhash;
