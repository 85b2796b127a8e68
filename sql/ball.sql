--
-- ball.c: the type hamming_ball
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;
SET jit = off;

CREATE TABLE docs (id int PRIMARY KEY, fp bigint);
INSERT INTO docs
SELECT n, hashint8extended(n / 10, 1) # (1::bigint << n % 10)
FROM generate_series(1, 2000) AS n;
INSERT INTO docs VALUES (0, 0), (-1, -1);
SELECT simhash_add_keys('docs', 'fp', covering => false);
ANALYZE docs;

----------------------------------------
-- the radius: a number of any integer type
----------------------------------------

CREATE TABLE numbers (s smallint, i integer, b bigint);
INSERT INTO numbers VALUES (3, 3, 3);
SELECT 7::bigint <@ (0, s) AS smallint, 7::bigint <@ (0, i) AS integer,
    7::bigint <@ (0, b) AS bigint, 7::bigint <@ (s, '3') AS literal,
    7::bigint <@ ROW(b, 3) AS row, 7::bigint <@ (0, b)::hamming_ball AS "cast",
    hamming_ball(s, s) @> 7 AS function, hamming_ball(0, b) ~= (7, i) AS balls
FROM numbers;
PREPARE untyped AS SELECT id FROM docs WHERE fp <@ ($1, $2) ORDER BY id;
EXECUTE untyped(0, 1);
EXECUTE untyped(0::smallint, 1::bigint);
PREPARE narrow(int, smallint) AS SELECT id FROM docs WHERE fp <@ ($1, $2) ORDER BY id;
EXECUTE narrow(0, 1);
PREPARE wide(bigint, bigint) AS SELECT id FROM docs WHERE hamming_ball($1, $2) @> fp ORDER BY id;
EXECUTE wide(0, 1);
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
SELECT (hamming_ball(1, 2::smallint)).*, pg_typeof((hamming_ball(1, 2)).radius);
SELECT simhash_probes(0, 1::bigint, 3) AS bigint, simhash_probes(0, 1::smallint, 3) AS smallint;

-- one that is none, however large, by every operator and every plan
SELECT k, fails(format('SELECT 7::bigint <@ (0, %s)', k)) AS constant,
    fails(format('SELECT hamming_ball(0, %s)', k)) = fails(format('SELECT 7::bigint <@ (0, %s)', k)) AS function,
    fails(format('SELECT count(*) FROM docs WHERE fp <@ (42, %s)', k)) = fails(format('SELECT 7::bigint <@ (0, %s)', k)) AS search,
    fails(format('SELECT simhash_probes(42, %s, 0)', k)) = fails(format('SELECT 7::bigint <@ (0, %s)', k)) AS probes,
    fails(format('EXECUTE untyped(42, %s)', k)) = fails(format('SELECT 7::bigint <@ (0, %s)', k)) AS parameter
FROM unnest('{-1,65,2147483647,2147483648,4294967299,9223372036854775807,(-9223372036854775808)}'::text[]) AS k;
SELECT fails($$SELECT '(1,9223372036854775808)'::hamming_ball$$);
SELECT fails('SELECT 7::bigint <@ (0, 3.0)');
SELECT fails('SELECT 7::bigint <@ (0, 3, 3)');
-- planning asks for no more than the query does
SELECT plan('SELECT id FROM docs WHERE id = 1 AND fp <@ (42, 65)');
SELECT plan('SELECT a.id FROM docs a JOIN docs b ON a.fp <@ (b.fp, 4294967299) WHERE b.id = 1');
SELECT id FROM docs WHERE id = 5000 AND fp <@ (42, -1);
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, NULL)');
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
PREPARE generic AS SELECT id FROM docs WHERE fp <@ ($1, $2) ORDER BY id;
SELECT plan('EXECUTE generic(42, 1)');
EXECUTE generic(0, 1);
RESET enable_seqscan;
RESET plan_cache_mode;
-- the same estimate, however it is written
SELECT estimate('SELECT FROM docs WHERE fp <@ (0, 24)') = estimate('SELECT FROM docs WHERE fp <@ (0, 24::bigint)') AS bigint,
    estimate('SELECT FROM docs WHERE fp <@ (0, 24)') = estimate('SELECT FROM docs WHERE hamming_ball(0, 24) @> fp') AS function,
    estimate('SELECT FROM docs WHERE fp <@ (0, 24)') = estimate($$SELECT FROM docs WHERE fp <@ '(0,24)'$$) AS literal,
    estimate('SELECT FROM docs WHERE fp <@ (0, 24)') > estimate('SELECT FROM docs WHERE fp <@ (0, 3)') AS more,
    estimate('SELECT FROM docs a, docs b WHERE a.fp <@ (b.fp, 24)') > estimate('SELECT FROM docs a, docs b WHERE a.fp <@ (b.fp, 3)') AS more_pairs;

-- a row that is not known yet becomes a call, as other servers are sent those;
-- a NULL in either finds nothing, and what is known to be wrong stays a row
PREPARE row_ball AS SELECT id FROM docs WHERE ROW($1, $2)::hamming_ball @> fp ORDER BY id;
SET plan_cache_mode = force_generic_plan;
SET enable_bitmapscan = off;
SELECT plan('EXECUTE row_ball(0, 1)');
RESET enable_bitmapscan;
EXECUTE row_ball(0, 1);
EXECUTE row_ball(NULL, 1);
EXECUTE row_ball(0, NULL);
EXECUTE row_ball(NULL, 65);
SELECT fails('EXECUTE row_ball(0, 65)');
PREPARE wrong(bigint) AS SELECT id FROM docs WHERE id = 1 AND fp <@ ($1, 65);
SELECT plan('EXECUTE wrong(0)');
PREPARE two(bigint) AS SELECT (n, $1)::hamming_ball ~= (n + 1, $1) FROM generate_series(0, 1) AS n;
EXECUTE two(0);
EXECUTE two(2);
EXECUTE two(NULL);
-- nor for those who may not call the function
CREATE ROLE regress_ball_user;
GRANT SELECT ON docs TO regress_ball_user;
REVOKE EXECUTE ON FUNCTION hamming_ball(bigint, bigint) FROM PUBLIC;
SET ROLE regress_ball_user;
PREPARE mine(bigint, bigint) AS SELECT id FROM docs WHERE fp <@ ($1, $2) ORDER BY id;
EXECUTE mine(0, 1);
RESET ROLE;
GRANT EXECUTE ON FUNCTION hamming_ball(bigint, bigint) TO PUBLIC;
REVOKE ALL ON docs FROM regress_ball_user;
DROP ROLE regress_ball_user;
RESET plan_cache_mode;

----------------------------------------
-- domains
----------------------------------------

CREATE DOMAIN fingerprint AS bigint CHECK (VALUE <> 13);
CREATE DOMAIN reach AS smallint CHECK (VALUE < 10);
CREATE DOMAIN small_ball AS hamming_ball CHECK ((VALUE).radius < 10);
CREATE DOMAIN smaller_ball AS small_ball CHECK ((VALUE).radius < 5);
CREATE DOMAIN any_ball AS hamming_ball;
CREATE TABLE domains (id int, fp fingerprint, k reach, ball smaller_ball);
INSERT INTO domains SELECT id, fp, abs(id % 5), hamming_ball(fp, abs(id % 5)) FROM docs;
SELECT simhash_add_keys('domains', 'fp');
CREATE INDEX ON domains USING hamming (fp);
CREATE INDEX ON domains USING hamming (ball);
ANALYZE domains;
SELECT 7::fingerprint ~= 0 AS near, 7::fingerprint <@ (0::fingerprint, 3::reach) AS row,
    7::fingerprint <@ (0, 3)::small_ball AS ball, 7::bigint <@ (0, 3)::smaller_ball AS smaller,
    (0, 3)::any_ball @> 7::fingerprint AS contains,
    (0, 3)::any_ball ~= (7, 3)::smaller_ball AS balls,
    7::bigint <@ NULL::small_ball AS none;
SELECT fails('SELECT 7::bigint <@ (0, 12)::small_ball');
SELECT fails('SELECT 7::bigint <@ (0, 7)::smaller_ball');
SELECT fails('SELECT 7::bigint <@ (0, 65)::any_ball');
SELECT fails('SELECT 7::bigint <@ (13::fingerprint, 3)');
SELECT fails('SELECT 7::bigint <@ (0, 12::reach)');
SELECT plan('SELECT id FROM docs WHERE fp <@ (0, 1)::any_ball');
SELECT id FROM docs WHERE fp <@ (0, 1)::small_ball ORDER BY id;
SELECT id FROM domains WHERE fp <@ (0, 1)::any_ball ORDER BY id;
SELECT id FROM domains WHERE ball ~= (0, 4)::small_ball ORDER BY id;
SELECT count(*), count(*) FILTER (WHERE bit_count((a.fp # b.fp)::bit(64)) > (b.ball).radius) AS wrong
FROM domains b JOIN domains a ON a.fp <@ b.ball WHERE b.id < 300;
SELECT count(*), count(*) FILTER (WHERE bit_count((a.fp # b.fp)::bit(64)) > b.k) AS wrong
FROM domains b JOIN domains a ON a.fp <@ (b.fp, b.k) WHERE b.id < 300;
-- a crowd shows in the keys of a domain too
INSERT INTO domains SELECT 10000 + n, 42, 0, hamming_ball(42, 0) FROM generate_series(1, 300) AS n;
ANALYZE domains;
SELECT estimate('SELECT FROM domains WHERE fp ~= 43') > 200 AS crowd;

----------------------------------------
-- balls that another relation gives
----------------------------------------

CREATE FUNCTION near_docs(integer) RETURNS SETOF hamming_ball ROWS 3
LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT fp, 3::bigint FROM docs WHERE id BETWEEN 0 AND $1; END $$;
CREATE TABLE typed OF hamming_ball;
INSERT INTO typed SELECT * FROM near_docs(20);
CREATE TABLE nested (id int, inner_ball small_ball, several hamming_ball[]);
INSERT INTO nested SELECT 1, hamming_ball(t.center, t.radius), ARRAY[(t.*)::hamming_ball] FROM typed AS t;
ANALYZE typed, nested;
-- of a relation that gives whole rows only, the plan asks for nothing else
SET enable_seqscan = off;
SELECT plan('SELECT d.id FROM near_docs(3) AS b JOIN docs AS d ON d.fp <@ b');
SELECT d.id FROM near_docs(3) AS b JOIN docs AS d ON d.fp <@ b ORDER BY d.id LIMIT 3;
SELECT source, ball, fails(format($$
    DO 'DECLARE ours int; theirs int; BEGIN
        SELECT count(*) INTO ours FROM %s JOIN docs AS d ON d.fp <@ %s;
        SELECT count(*) INTO theirs FROM %1$s JOIN docs AS d
            ON bit_count((d.fp # (%2$s::hamming_ball).center)::bit(64)) <= (%2$s::hamming_ball).radius;
        IF ours <> theirs OR ours < 20 THEN RAISE ''%% not %%'', ours, theirs; END IF;
    END'$$, source, ball)) AS wrong
FROM (VALUES ('near_docs(20) AS b', 'b'), ('near_docs(20) AS b', 'hamming_ball(b.center, b.radius)'),
    ('typed AS b', 'b'), ('typed AS b', 'b::hamming_ball::small_ball'), ('typed AS b', '(b.center, b.radius)'),
    ('(SELECT DISTINCT center, radius FROM typed) AS b', 'b'),
    ('(SELECT b FROM near_docs(20) AS b) AS s', 's.b'),
    ('(SELECT b FROM near_docs(20) AS b OFFSET 0) AS s', 's.b'),
    ('(SELECT * FROM nested CROSS JOIN LATERAL near_docs(nested.id * 20) AS b) AS s', '(s.center, s.radius)'),
    ('(SELECT nested.id, b FROM nested CROSS JOIN LATERAL near_docs(nested.id * 20) AS b) AS s', 's.b'),
    ('nested AS n CROSS JOIN LATERAL (SELECT b.* FROM typed AS b WHERE b.center = (n.inner_ball).center) AS b', 'b'),
    ('nested AS n', 'n.inner_ball'), ('nested AS n', 'n.several[1]'),
    ('nested AS n CROSS JOIN LATERAL unnest(n.several) AS b', 'b'),
    ('near_docs(20) AS b LEFT JOIN nested AS n ON n.id < 0', 'b'),
    ('nested AS n LEFT JOIN near_docs(20) AS b ON n.id > 0', 'b'),
    ('nested AS n LEFT JOIN near_docs(20) AS b ON n.id > 0', 'coalesce(b, n.inner_ball)'))
    AS v(source, ball);
RESET enable_seqscan;
DROP TABLE typed, nested;
DROP FUNCTION near_docs;

----------------------------------------
-- attributes that were added and dropped
----------------------------------------

CREATE TABLE balls (id int, ball hamming_ball);
INSERT INTO balls SELECT id, hamming_ball(fp, id % 5 + 1) FROM docs;
ANALYZE balls;
CREATE VIEW seen AS SELECT id FROM docs WHERE fp <@ (0, 1) OR fp <@ hamming_ball(-1, 0);
CREATE TABLE guarded (id int, fp bigint);
CREATE INDEX ON guarded USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
CREATE FUNCTION all_uses(OUT use text, OUT result text) RETURNS SETOF record
LANGUAGE plpgsql AS $$
BEGIN
    FOREACH use IN ARRAY ARRAY[
        'SELECT count(*) FROM docs WHERE fp <@ (0, 1)',
        'SELECT count(*) FROM docs WHERE hamming_ball(0, 1) @> fp',
        'SELECT count(*) FROM docs WHERE fp <@ ''(0,1)''',
        'SELECT count(*) FROM docs WHERE fp <@ (SELECT ball FROM balls WHERE id = 0)',
        'SELECT count(*) FROM balls b JOIN docs d ON d.fp <@ b.ball WHERE b.id < 100',
        'SELECT count(*) FROM balls b JOIN docs d ON d.fp <@ ((b.ball).center, 1) WHERE b.id < 100',
        'SELECT count(*) FROM balls WHERE ball ~= (0, 1)',
        'SELECT hamming_ball(1, 2)',
        'SELECT count(*) FROM seen',
        'SELECT count(*) FROM docs WHERE fp <@ (0, 1)::small_ball',
        'SELECT count(*) FROM domains WHERE ball ~= (0, 1)',
        'WITH new AS (INSERT INTO guarded VALUES (1, 0), (2, 7), (3, 15) RETURNING id) SELECT count(*) FROM new']
    LOOP
        BEGIN
            EXECUTE use INTO result;
        EXCEPTION WHEN OTHERS THEN
            result := SQLERRM;
        END;
        RETURN NEXT;
    END LOOP;
END $$;
SELECT * FROM all_uses();
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
PREPARE kept(hamming_ball) AS SELECT id FROM docs WHERE fp <@ $1;
EXECUTE kept((0, 1));
RESET plan_cache_mode;
RESET enable_seqscan;
BEGIN;
SET LOCAL client_min_messages = warning;
ALTER TYPE hamming_ball ADD ATTRIBUTE z int;
ALTER TYPE hamming_ball DROP ATTRIBUTE z;
TRUNCATE guarded;
SELECT * FROM all_uses();
CREATE INDEX ON balls USING hamming (ball);
SET LOCAL enable_seqscan = off;
SELECT plan('SELECT count(*) FROM balls WHERE ball ~= (0, 1)');
SELECT * FROM all_uses();
-- the plan has the keys, from row and value
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 1)');
SELECT plan('SELECT d.id FROM balls b JOIN docs d ON d.fp <@ (b.id, 1) WHERE b.id = 7');
-- the radius itself: what was stored before has none now
ALTER TYPE hamming_ball ADD ATTRIBUTE more text;
ALTER TYPE hamming_ball DROP ATTRIBUTE radius CASCADE, DROP ATTRIBUTE more;
ALTER TYPE hamming_ball ADD ATTRIBUTE radius bigint;
-- a plan that was made before finds the radius that is there now
SET LOCAL plan_cache_mode = force_generic_plan;
EXECUTE kept((0, 1));
SET LOCAL plan_cache_mode = auto;
TRUNCATE guarded;
SELECT * FROM all_uses() WHERE use !~ 'small_ball|seen|domains';
SELECT plan('SELECT d.id FROM balls b JOIN docs d ON d.fp <@ (b.id, 1) WHERE b.id = 7');
UPDATE balls SET ball.radius = 1;
SELECT count(*) FROM balls b JOIN docs d ON d.fp <@ b.ball WHERE b.id < 100;
-- a ball no more: other attributes, in another order, of other types or names
SAVEPOINT altered;
ALTER TYPE hamming_ball ADD ATTRIBUTE z int;
SELECT DISTINCT result COLLATE "C" AS result FROM all_uses()
WHERE use ~ 'SELECT hamming_ball|small_ball|seen|balls' ORDER BY 1;
SELECT fails('SELECT count(*) FROM docs WHERE fp <@ (0, 1, 0)');
ROLLBACK TO altered;
ALTER TYPE hamming_ball DROP ATTRIBUTE center CASCADE;
SELECT fails('SELECT hamming_ball(1, 1)');
ALTER TYPE hamming_ball ADD ATTRIBUTE center bigint;
SELECT fails('SELECT hamming_ball(1, 1)');
SELECT fails('SELECT count(*) FROM docs WHERE fp <@ (0, 1)');
ROLLBACK TO altered;
ALTER TYPE hamming_ball RENAME ATTRIBUTE radius TO r;
SELECT fails('SELECT count(*) FROM docs WHERE fp <@ (0, 1)');
ROLLBACK;
SELECT fails('SELECT count(*) FROM docs WHERE fp <@ (0, 1)');

DROP VIEW seen;
DROP TABLE docs, numbers, domains, balls, guarded;
DROP DOMAIN fingerprint, reach, any_ball, smaller_ball, small_ball;
DROP FUNCTION all_uses;
DEALLOCATE ALL;
