--
-- distance.c: hamming, <~>, ~=, <@, @>, hamming_ball, simhash_similarity
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- the same by other means
CREATE FUNCTION distance(a bigint, b bigint) RETURNS integer
LANGUAGE sql IMMUTABLE STRICT AS
$$ SELECT bit_count((a # b)::bit(64))::integer $$;

CREATE TABLE pair AS
SELECT a, a # flip AS b
FROM (SELECT hashint8extended(i, 1), bit_or(1::bigint << j % 64)
      FROM generate_series(1, 64) AS i, generate_series(1, i) AS j
      GROUP BY i) AS s(a, flip)
UNION ALL VALUES (0, 0), (0, -1), (-1, -1), (1, -9223372036854775808),
    (9223372036854775807, -9223372036854775808);

----------------------------------------
-- hamming and <~>
----------------------------------------

SELECT * FROM pair
WHERE hamming(a, b) <> distance(a, b) OR (a <~> b) <> distance(a, b);
SELECT hamming(0, -1) AS most, hamming(7, 7) AS least,
       hamming(NULL, 1) AS none;

----------------------------------------
-- ~=
----------------------------------------

SELECT * FROM pair WHERE (a ~= b) <> (distance(a, b) <= 3);
SELECT 0::bigint ~= 7 AS three, 0::bigint ~= 15 AS four,
       0::bigint ~= NULL AS none;

----------------------------------------
-- <@ and @>
----------------------------------------

SELECT a, b, k FROM pair, generate_series(0, 64) AS k
WHERE (a <@ (b, k)) <> (distance(a, b) <= k)
   OR (hamming_ball(b, k) @> a) <> (distance(a, b) <= k);
-- however the ball is written
SELECT 1::bigint <@ (3, 1) AS bare, 1::bigint <@ ROW(3, 1) AS row,
       1::bigint <@ (3, 1)::hamming_ball AS "cast",
       1::bigint <@ hamming_ball(3, 1) AS function,
       1::bigint <@ '(3,1)'::hamming_ball AS text;
-- NULL in, NULL out
SELECT 1::bigint <@ (NULL, 1) AS center, 1::bigint <@ (1, NULL) AS radius,
       1::bigint <@ NULL::hamming_ball AS ball,
       NULL::bigint <@ (1, 1) AS fingerprint,
       hamming_ball(NULL, 1) AS constructor;
SELECT fails($$SELECT 1::bigint <@ (1, -1)$$);
SELECT fails($$SELECT 1::bigint <@ (1, 65)$$);
SELECT fails($$SELECT hamming_ball(1, 65) @> 1$$);
SELECT fails($$SELECT hamming_ball(1, 2147483647)$$);
-- one that only the data has is no error, but a number as any other: it could
-- be that of a hidden row
SELECT k, count(*) = (SELECT count(*) FROM pair) AS "all", count(a) = 0 AS none
FROM (VALUES (-1), (65), (99)) AS v(k) LEFT JOIN pair ON a <@ (b, k) GROUP BY k ORDER BY k;
SELECT k, count(*) = (SELECT count(*) FROM pair) AS "all", count(a) = 0 AS none
FROM (VALUES (NULL), (9223372036854775807), (-9223372036854775808)) AS v(k)
    LEFT JOIN pair ON (b, k)::hamming_ball @> a GROUP BY k ORDER BY k;

----------------------------------------
-- ball ~= ball
----------------------------------------

SELECT a, b, j, k FROM pair, generate_series(0, 64, 4) AS j,
    generate_series(1, 64, 7) AS k
WHERE (hamming_ball(a, j) ~= hamming_ball(b, k)) <>
      (distance(a, b) <= least(j, k));
SELECT (1, NULL)::hamming_ball ~= (1, 3)::hamming_ball AS none;
SELECT fails($$SELECT (1, 65)::hamming_ball ~= (1, 3)::hamming_ball$$);

-- the row type cannot be altered, or if it can, that is noticed
CREATE FUNCTION alter_and(use text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    ALTER TYPE hamming_ball ALTER ATTRIBUTE center TYPE text;
    EXECUTE use;
    RAISE 'not noticed';
EXCEPTION
    WHEN raise_exception THEN RETURN SQLERRM;
    WHEN OTHERS THEN RETURN 'noticed';      -- and undone
END $$;
SELECT use, alter_and(use)
FROM (VALUES ('SELECT 1::bigint <@ ''(abc,1)''::hamming_ball'),
             ('SELECT hamming_ball(1, 1)'),
             ('SELECT ''(abc,1)''::hamming_ball ~= ''(abc,1)''::hamming_ball'))
    AS v(use);
DROP FUNCTION alter_and;

----------------------------------------
-- simhash_similarity
----------------------------------------

SELECT d, round(simhash_similarity(0, bit)::numeric, 14) AS similarity
FROM (VALUES (0, 0::bigint), (16, 65535), (32, 4294967295), (64, -1))
    AS v(d, bit);
SELECT a, b FROM pair
WHERE abs(simhash_similarity(a, b) - cos(pi() * distance(a, b) / 64)) > 1e-12;

----------------------------------------
-- bit strings
----------------------------------------

-- of every width up to 200, each with all numbers of bits that differ
CREATE TABLE bits AS
SELECT n, d, zeros, overlay(zeros PLACING repeat('1', d)::varbit FROM n - d + 1)::bit varying AS ones
FROM (SELECT n, d, repeat('0', n)::varbit AS zeros
      FROM generate_series(1, 200) AS n, generate_series(1, n) AS d) AS s;
SELECT n, d FROM bits
WHERE hamming(zeros, ones) <> d OR hamming(ones, zeros) <> d OR hamming(ones, ones) <> 0
   OR abs(simhash_similarity(zeros, ones) - cos(pi() * d / n)) > 1e-12
   OR abs(minhash_similarity(zeros, ones) - (1 - 2.0 * d / n)) > 1e-12;
DROP TABLE bits;
SELECT a, b FROM pair
WHERE hamming(a::bit(64), b::bit(64)) <> hamming(a, b)
   OR simhash_similarity(a::bit(64), b::bit(64)) <> simhash_similarity(a, b)
   OR minhash_similarity(a::bit(64), b::bit(64)) <> minhash_similarity(a, b);
-- long ones, as they are and compressed
CREATE TABLE bits (a bit varying, b bit varying);
INSERT INTO bits SELECT repeat('01', 100000)::varbit, repeat('10', 100000)::varbit;
SELECT hamming(a, b), pg_column_size(a) < 25000 AS compressed FROM bits;
DROP TABLE bits;
SELECT hamming(B'', B'') AS least, simhash_similarity(B'', B'') AS none,
       minhash_similarity(B'', B'') AS nothing, hamming(NULL, B'1') AS "null";
SELECT fails($$SELECT hamming(B'101', B'1010')$$);
SELECT fails($$SELECT hamming(B'101', B'')$$);
SELECT fails($$SELECT simhash_similarity(B'101', 1::bit(64))$$);
SELECT fails($$SELECT minhash_similarity(B'101', 1::bit(64))$$);

-- bit varying: beside pg_similarity, whose hamming is a similarity, a call is ours, be it
-- of two or of one, and both in one schema are an error
CREATE SCHEMA elsewhere;
CREATE FUNCTION elsewhere.hamming(bit varying, bit varying) RETURNS float8
LANGUAGE sql RETURN 0.75;
SET search_path = public, elsewhere;
SELECT hamming(B'1011'::varbit, B'1001'::varbit) AS two, hamming(B'1011'::varbit, B'1001') AS one,
       hamming(B'1011', B'1001'::varbit) AS other, hamming(B'1011', B'1001') AS none;
SELECT fails('ALTER FUNCTION elsewhere.hamming(varbit, varbit) SET SCHEMA public');
RESET search_path;
DROP SCHEMA elsewhere CASCADE;

----------------------------------------
-- the catalogue
----------------------------------------

-- what tells of no row by failing is leakproof, and nothing else
SELECT p.oid::regprocedure AS function, proleakproof, provolatile,
    proparallel, proisstrict
FROM pg_proc AS p
WHERE proname IN ('hamming', 'hamming_near', 'hamming_within',
    'hamming_contains', 'hamming_balls_near', 'hamming_ball',
    'hamming_bit_ball',
    'simhash_similarity', 'minhash_similarity')
ORDER BY proname COLLATE "C", p.oid::regprocedure::text COLLATE "C";
-- each operator has its commutator and estimators
SELECT oprleft::regtype, oprname, oprright::regtype, oprcom::regoperator,
    oprrest, oprjoin
FROM pg_operator JOIN pg_proc AS p ON p.oid = oprcode
WHERE proname LIKE 'hamming%'
ORDER BY proname COLLATE "C", oprleft::regtype::text COLLATE "C";
-- every object has a comment
SELECT pg_describe_object(classid, objid, 0)
FROM pg_depend AS d
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
    AND pg_describe_object(classid, objid, 0) NOT LIKE 'type %[]'
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
    AND obj_description(objid, classid::regclass::name) IS NULL;

DROP TABLE pair;
DROP FUNCTION distance;
-- no other setting is taken for one of ours
SET simhash.enable_search = off; -- error
