--
-- distance.c, hamming_value.c, hamming_words.c: bit strings of any width
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;
SET jit = off;

----------------------------------------
-- operators
----------------------------------------

SELECT B'1010' <~~> B'0110' AS distance, B'1010' <@ (B'0110', 2) AS within,
       B'1010' <@ (B'0110', 1) AS beyond, (B'0110', 2)::hamming_bit_ball @> B'1010' AS contains,
       hamming_bit_ball(B'1010', 2) ~= (B'0110', 2) AS near,
       hamming_bit_ball(B'1010', 2) ~= (B'0110', 1) AS not_near,
       B'' <@ (B'', 0) AS nothing;
SELECT hamming_bit_ball(B'1010', 4), hamming_bit_ball(NULL, 4), hamming_bit_ball(B'1', NULL);
SELECT B'1010' <@ NULL::hamming_bit_ball AS a, NULL::bit(4) <@ (B'0110', 2) AS b,
       B'1010' <@ (NULL, 2) AS c, B'1010' <@ (B'1010', NULL) AS d,
       (NULL, 2)::hamming_bit_ball ~= (B'1', 1) AS e;
-- no bit string is filled up to the width of another
SELECT fails($$SELECT B'1010' <~~> B'101'$$);
SELECT fails($$SELECT B'1010' <@ (B'10100', 1)$$);
SELECT fails($$SELECT (B'10100', 1)::hamming_bit_ball @> B'1010'$$);
SELECT fails($$SELECT hamming_bit_ball(B'1010', 1) ~= hamming_bit_ball(B'101', 1)$$);
-- nor is a radius cut down to it
SELECT fails($$SELECT hamming_bit_ball(B'1010', 5)$$);
SELECT fails($$SELECT B'1010' <@ (B'1010', 5)$$);
SELECT fails($$SELECT B'1010' <@ (B'1010', -1)$$);
-- but that of a row is taken for what it is, as by bigints, and by an index
SELECT k, B'1010' <@ (B'0110', k) AS bits, 10::bigint <@ (6, k) AS bigint, hamming(B'1010', B'0110') <= k AS definition
FROM unnest('{-9223372036854775808,-1,0,1,2,65,9223372036854775807}'::bigint[]) AS k;
CREATE TABLE radii AS SELECT k, n::bit(64) AS b FROM generate_series(0, 40) AS n, unnest('{-1,0,1,2,64,65,4294967296}'::bigint[]) AS k;
CREATE INDEX ON radii USING hamming (b);
ANALYZE radii;
SET enable_seqscan = off;
SELECT plan('SELECT count(*) FROM radii t JOIN (VALUES (-1::bigint), (65)) AS q (k) ON t.b <@ (7::bigint::bit(64), q.k)');
SELECT q.k, count(t.b) AS found, count(*) FILTER (WHERE hamming(t.b, 7::bigint::bit(64)) <= q.k) AS right
FROM (SELECT DISTINCT k FROM radii) q LEFT JOIN radii t ON t.b <@ (7::bigint::bit(64), q.k) GROUP BY 1 ORDER BY 1;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT q.k, count(t.b) AS found FROM (SELECT DISTINCT k FROM radii) q LEFT JOIN radii t ON t.b <@ (7::bigint::bit(64), q.k) GROUP BY 1 ORDER BY 1;
RESET enable_seqscan;
RESET enable_indexscan;
RESET enable_bitmapscan;
SELECT fails($$SELECT * FROM hamming_bit_search_plan('radii_b_idx', (7::bigint::bit(64), -1))$$);
DROP TABLE radii;
SELECT fails($$SELECT B'1010' <@ hamming_ball(1, 1)$$);
SELECT fails($$SELECT 1::bigint <@ hamming_bit_ball(B'1', 1)$$);
-- one ball after the other, long and short, compressed and not
SELECT count(*) FILTER (WHERE (fp <@ ball) IS DISTINCT FROM (bit_count(fp # (ball).center) <= (ball).radius)) AS wrong,
       count(*) FILTER (WHERE fp <@ ball) AS many
FROM (SELECT repeat('0', n)::varbit AS fp,
             (overlay(repeat('0', n) PLACING repeat('1', n / 3) FROM 1)::varbit, n / 4 + n % 2)::hamming_bit_ball AS ball
      FROM unnest('{5,3,70,8,9000,7,300000,5,5,300001,64}'::int[]) AS n) AS s;

----------------------------------------
-- the index, against the definition
----------------------------------------

CREATE FUNCTION noise(bits int, seed bigint) RETURNS bit varying LANGUAGE sql IMMUTABLE AS
$$ SELECT left(string_agg(hashint8extended(seed, w)::bit(64)::text, '' ORDER BY w), bits)::bit varying
   FROM generate_series(1, (bits + 63) / 64) AS w $$;
-- clusters that are tight or wide, lone rows, halves that are all zeros, NULLs
CREATE FUNCTION sample(bits int, id int) RETURNS bit varying LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN id % 101 = 0 THEN NULL ELSE
       noise(bits, id / 20) # CASE id % 5
           WHEN 0 THEN noise(bits, 0) & ~noise(bits, 0)
           WHEN 1 THEN noise(bits, -id) & noise(bits, -id - 100000) & noise(bits, -id - 200000) & noise(bits, -id - 300000)
           WHEN 2 THEN noise(bits, -id) & noise(bits, -id - 100000) & noise(bits, -id - 200000)
           WHEN 3 THEN noise(bits, -id) & noise(bits, -id - 100000)
           ELSE noise(bits, -id) END
       & CASE WHEN id % 8 <> 1 THEN (repeat('1', bits / 2) || repeat('0', bits - bits / 2))::bit varying
              ELSE repeat('1', bits)::bit varying END END $$;

/*
 * How many answers are wrong: of searches within any of some distances by a
 * bitmap and by a plain scan, and of the nearest rows.
 */
CREATE FUNCTION wrong_answers(bits int, rows int, OUT searches bigint, OUT matches bigint, OUT wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
    way text;
    q record;
    ours int[];
    theirs int[];
    ks int[] := ARRAY(SELECT DISTINCT least(k, bits) FROM unnest(ARRAY[0, 1, 2, 3, 4, 5, 6, 7, 8,
        bits / 32, bits / 16, bits / 8, bits / 8 - 1, bits / 6, bits / 4, bits / 3, bits / 2, bits]) AS k ORDER BY 1);
BEGIN
    searches := 0; matches := 0; wrong := 0;
    PERFORM set_config('enable_seqscan', 'off', true);
    FOREACH way IN ARRAY '{enable_bitmapscan,enable_indexscan}'::text[] LOOP
        PERFORM set_config(way, 'off', true);
        FOR q IN SELECT fp, k FROM (SELECT fp FROM sampled WHERE id IN (1, 20, 66, 69, rows / 2)
                                    UNION ALL SELECT noise(bits, -7)
                                    UNION ALL SELECT repeat('0', bits)::bit varying) AS s, unnest(ks) AS k LOOP
            EXECUTE 'SELECT array_agg(id ORDER BY id) FROM sampled WHERE fp <@ ($1, $2)' INTO ours USING q.fp, q.k;
            SELECT array_agg(id ORDER BY id) FROM sampled WHERE bit_count(fp # q.fp) <= q.k INTO theirs;
            searches := searches + 1;
            matches := matches + coalesce(cardinality(theirs), 0);
            wrong := wrong + (ours IS DISTINCT FROM theirs)::int;
        END LOOP;
        PERFORM set_config(way, 'on', true);
    END LOOP;
    PERFORM set_config('enable_bitmapscan', 'off', true);
    PERFORM set_config('enable_sort', 'off', true);
    FOR q IN SELECT fp, k FROM sampled, unnest(ARRAY[1, 3, 40, rows + 1]) AS k
             WHERE id IN (1, 20, 66, 69) LOOP
        EXECUTE 'SELECT array_agg(d) FROM (SELECT fp <~~> $1 AS d FROM sampled ORDER BY fp <~~> $1 LIMIT $2) AS s'
            INTO ours USING q.fp, q.k;
        SELECT array_agg(d) FROM (SELECT bit_count(fp # q.fp) AS d FROM sampled ORDER BY 1 LIMIT q.k) AS s INTO theirs;
        searches := searches + 1;
        wrong := wrong + (ours IS DISTINCT FROM theirs)::int;
        EXECUTE 'SELECT array_agg(d) FROM (SELECT fp <~~> $1 AS d FROM sampled WHERE fp <@ ($1, $2) ORDER BY fp <~~> $1) AS s'
            INTO ours USING q.fp, bits / 8;
        SELECT array_agg(d) FROM (SELECT bit_count(fp # q.fp) AS d FROM sampled
                                  WHERE bit_count(fp # q.fp) <= bits / 8 ORDER BY 1) AS s INTO theirs;
        wrong := wrong + (ours IS DISTINCT FROM theirs)::int;
    END LOOP;
    PERFORM set_config('enable_bitmapscan', 'on', true);
    PERFORM set_config('enable_sort', 'on', true);
    PERFORM set_config('enable_seqscan', 'on', true);
END $$;

-- words of one length and of two, one word and sixteen; half of the rows come
-- after the index
CREATE FUNCTION test_width(bits int, rows int, OUT searches bigint, OUT many boolean, OUT wrong bigint)
LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS sampled;
    EXECUTE format('CREATE TABLE sampled (id int, fp bit(%s)) WITH (autovacuum_enabled = off)', bits);
    INSERT INTO sampled SELECT id, sample(bits, id) FROM generate_series(1, rows / 2) AS id;
    CREATE INDEX sampled_fp ON sampled USING hamming (fp);
    INSERT INTO sampled SELECT id, sample(bits, id) FROM generate_series(rows / 2 + 1, rows) AS id;
    ANALYZE sampled;
    PERFORM hamming_index_check('sampled_fp', true);
    SELECT w.searches, w.matches > w.searches, w.wrong FROM wrong_answers(bits, rows) AS w
    INTO searches, many, wrong;
END $$;
SET client_min_messages = warning;
SELECT bits, w.* FROM unnest('{32,33,41,64,65,72,100,128,256,300,576,1023,1024}'::int[]) AS bits,
    LATERAL test_width(bits, 400) AS w;
SELECT w.* FROM test_width(256, 30000) AS w;

-- plans
SELECT plan($$SELECT * FROM sampled WHERE fp <@ (repeat('0', 256)::bit(256), 31)$$);
SELECT plan($$SELECT * FROM sampled WHERE (fp, 31)::hamming_bit_ball @> repeat('0', 256)::bit(256)$$);
SELECT plan($$SELECT * FROM sampled WHERE hamming_bit_ball(repeat('0', 256)::bit(256), 31) @> fp$$);
SELECT plan($$SELECT * FROM sampled ORDER BY fp <~~> repeat('0', 256)::bit(256) LIMIT 3$$);
SELECT plan($$SELECT a.id, b.id FROM sampled a JOIN sampled b ON b.fp <@ (a.fp, 31) WHERE a.id < 5$$);
-- four words are searched within 3 each; where two are crowded, the others are
SELECT block / 4 AS word, sum(radius + 1) AS lone, max(crowd) AS crowd
FROM hamming_bit_search_plan('sampled_fp', (sample(256, 9), 15)) GROUP BY 1 ORDER BY 1;
SELECT block / 4 AS word, sum(radius + 1) AS crowded, max(crowd) > 1000 AS crowd
FROM hamming_bit_search_plan('sampled_fp', (sample(256, 66), 15)) GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM hamming_bit_search_plan('sampled_fp', (NULL, 31));
SELECT fails($$SELECT hamming_search_plan('sampled_fp', (1, 3))$$);
SELECT fails($$SELECT hamming_bit_search_plan('sampled_fp', (B'1', 1))$$);
-- more rows than a batch holds, each once, and within little memory
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET work_mem = '64kB';
SELECT count(*), count(DISTINCT id), count(*) = (SELECT count(fp) FROM sampled) AS "all"
FROM sampled WHERE fp <@ (sample(256, 5), 256);
SELECT array_agg(d ORDER BY n) = array_agg(d ORDER BY d) AS ordered, count(*) FROM (
    SELECT fp <~~> sample(256, 5) AS d, row_number() OVER () AS n
    FROM (SELECT fp FROM sampled ORDER BY fp <~~> sample(256, 5) OFFSET 0) AS o) AS s;
RESET work_mem;
-- other orders beside the one that decides
SELECT count(*) FROM (SELECT FROM sampled ORDER BY fp <~~> sample(256, 5), fp <~~> sample(256, 9) LIMIT 20) AS s;
SELECT array_agg(a ORDER BY n) = array_agg(a ORDER BY a, b) AS ordered FROM (
    SELECT fp <~~> sample(256, 5) AS a, fp <~~> sample(256, 9) AS b, row_number() OVER () AS n FROM
    (SELECT fp FROM sampled ORDER BY fp <~~> sample(256, 5), fp <~~> sample(256, 9) LIMIT 200) AS o) AS s;
SELECT fails($$SELECT count(*) FROM sampled WHERE fp <@ (B'1', 1)$$);
SELECT fails($$SELECT count(*) FROM (SELECT FROM sampled ORDER BY fp <~~> B'1' LIMIT 1) AS s$$);
SELECT count(*) FROM sampled WHERE fp <@ (NULL, 1);
SELECT count(*) FROM (SELECT FROM sampled ORDER BY fp <~~> NULL LIMIT 7) AS s;
-- rows that go, and come
DELETE FROM sampled WHERE id % 20 < 10;
UPDATE sampled SET fp = sample(256, id + 1) WHERE id % 20 = 12;
SELECT w.wrong FROM wrong_answers(256, 30000) AS w;
SELECT w.wrong FROM wrong_answers(256, 30000) AS w;
VACUUM sampled;
SELECT hamming_index_check('sampled_fp', true);
SELECT w.wrong FROM wrong_answers(256, 30000) AS w;
RESET enable_seqscan;
RESET enable_bitmapscan;

----------------------------------------
-- what is indexed
----------------------------------------

CREATE TABLE shapes (id int, varying bit varying, limited bit varying(128), one bit, wide bit(1025),
                     ball hamming_bit_ball, hex text, site text);
CREATE DOMAIN pdq AS bit(256);
ALTER TABLE shapes ADD fp pdq;
CREATE INDEX ON shapes USING hamming (varying); -- error: no width
CREATE INDEX ON shapes USING hamming (limited); -- error: any width up to 128
CREATE INDEX ON shapes USING hamming (one); -- error: too narrow
CREATE INDEX ON shapes USING hamming (wide); -- error: too wide
CREATE INDEX ON shapes USING hamming (ball); -- error: no width
CREATE INDEX ON shapes USING hamming ((('x' || hex)::bit varying)); -- error: no width
CREATE INDEX by_hex ON shapes USING hamming ((('x' || hex)::bit(256)));
CREATE INDEX by_domain ON shapes USING hamming (fp);
CREATE INDEX by_ball ON shapes USING hamming (hamming_bit_ball(fp, 31));
CREATE INDEX by_site ON shapes USING hamming (site, fp);
INSERT INTO shapes (id, site, hex) SELECT id, id % 3, md5(id::text) || md5((id / 2)::text)
FROM generate_series(1, 200) AS id;
UPDATE shapes SET fp = ('x' || hex)::bit(256);
SELECT fails($$INSERT INTO shapes (fp) VALUES (B'1')$$);
SELECT hamming_index_check(i::regclass, true) FROM unnest('{by_hex,by_domain,by_ball,by_site}'::text[]) AS i;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan($$SELECT id FROM shapes WHERE ('x' || hex)::bit(256) <@ (('x' || repeat('c', 64))::bit(256), 9)$$);
SELECT plan($$SELECT id FROM shapes WHERE site = '1' AND fp <@ (('x' || repeat('c', 64))::bit(256), 9)$$);
SELECT count(*) AS wrong FROM shapes AS q
WHERE ARRAY(SELECT id FROM shapes WHERE site = q.site AND fp <@ (q.fp, 110) ORDER BY id)
    <> ARRAY(SELECT id FROM shapes WHERE site = q.site AND bit_count(fp # q.fp) <= 110 ORDER BY id)
   OR ARRAY(SELECT fp <~~> q.fp FROM shapes WHERE site = q.site ORDER BY fp <~~> q.fp LIMIT 5)
    <> ARRAY(SELECT bit_count(fp # q.fp)::int FROM shapes WHERE site = q.site ORDER BY 1 LIMIT 5)
   OR ARRAY(SELECT id FROM shapes WHERE hamming_bit_ball(fp, 31) ~= (q.fp, 100) ORDER BY id)
    <> ARRAY(SELECT id FROM shapes WHERE bit_count(fp # q.fp) <= 31 ORDER BY id);
RESET enable_seqscan;
RESET enable_bitmapscan;
ALTER TABLE shapes ALTER fp TYPE bit(64);
SELECT hamming_index_check('by_domain', true);
SELECT fails($$ALTER TABLE shapes ALTER fp TYPE bit varying$$);
-- The server takes an index on the column itself for one of the new type.  It is
-- of no use to queries then, and refuses rows, but stands in nobody's way.
DROP INDEX by_ball;
CREATE INDEX by_fp ON shapes USING hamming (fp);
ALTER TABLE shapes ALTER fp TYPE bit varying;
SELECT plan($$SELECT id FROM shapes WHERE fp <@ (0::bit(256), 9)$$);
SELECT plan($$SELECT id FROM shapes ORDER BY fp <~~> 0::bit(256) LIMIT 1$$);
DELETE FROM shapes WHERE id > 150;
VACUUM ANALYZE shapes;
SELECT fails($$INSERT INTO shapes (fp) VALUES (0::bit(256))$$);
SELECT fails($$SELECT hamming_index_check('by_fp')$$);
SELECT fails($$SELECT * FROM hamming_bit_search_plan('by_fp', (0::bit(256), 3))$$);
ALTER TABLE shapes ALTER fp TYPE bit(256);
SELECT hamming_index_check(i::regclass, true) FROM unnest('{by_fp,by_domain,by_site}'::text[]) AS i;
INSERT INTO shapes (fp) VALUES (0::bit(256));
-- How many bits there are is told by the expression as it was written, not by
-- what a function in it turns out to be.
CREATE FUNCTION wide_print(text) RETURNS bit LANGUAGE sql IMMUTABLE AS 'SELECT public.simhash_bits($1, 64)::bit(64)';
CREATE INDEX ON shapes USING hamming (wide_print(hex)); -- error: no width
CREATE INDEX by_function ON shapes USING hamming ((wide_print(hex)::bit(64)));

-- entries of 64 bits are those of the same bits in a bigint
CREATE EXTENSION pageinspect;
CREATE TABLE both_types AS SELECT id, fp, fp::bit(64) AS bits
FROM (SELECT id, hashint8extended(id, 1) AS fp FROM generate_series(1, 60) AS id) AS s;
CREATE INDEX fp64 ON both_types USING hamming (fp);
CREATE INDEX bits64 ON both_types USING hamming (bits);
SELECT array_agg(a.data ORDER BY a.itemoffset) = array_agg(b.data ORDER BY b.itemoffset) AS same, count(*)
FROM bt_page_items(get_raw_page('fp64', 1)) AS a JOIN bt_page_items(get_raw_page('bits64', 1)) AS b USING (itemoffset);
DROP TABLE both_types;
DROP EXTENSION pageinspect;

-- 32 bits in a bigint, or by themselves: within 0 to 8, exactly
CREATE TABLE narrow AS
SELECT id, (hashint8extended(id / 10, 1) # (hashint8extended(id, 2) & hashint8extended(id, 3) & hashint8extended(id, 4)))
           & 4294967295 AS fp FROM generate_series(1, 40000) AS id;
ALTER TABLE narrow ADD bits bit(32) GENERATED ALWAYS AS ((fp::bit(64) << 32)::bit(32)) STORED;
CREATE INDEX narrow_fp ON narrow USING hamming (fp);
CREATE INDEX narrow_bits ON narrow USING hamming (bits);
ANALYZE narrow;
SET enable_seqscan = off;
SELECT k, sum(cardinality(a)) > 0 AS some, count(*) FILTER (WHERE a <> b) AS wrong_bigint,
       count(*) FILTER (WHERE a <> c) AS wrong_bits
FROM (SELECT k, ARRAY(SELECT id FROM narrow WHERE bit_count((fp # q.fp)::bit(64)) <= k ORDER BY id) AS a,
          ARRAY(SELECT id FROM narrow WHERE fp <@ (q.fp, k) ORDER BY id) AS b,
          ARRAY(SELECT id FROM narrow WHERE bits <@ (q.bits, k) ORDER BY id) AS c
      FROM generate_series(0, 8) AS k, narrow AS q WHERE q.id % 8000 = 7) AS s GROUP BY k ORDER BY k;
-- without reading all: a block that has nothing is left out
SELECT k, max(probes) FILTER (WHERE block < 2) AS upper_half, bool_or(reads_all) AS reads_all
FROM generate_series(0, 5) AS k, hamming_search_plan('narrow_fp', ((SELECT fp FROM narrow WHERE id = 7), k)) GROUP BY k ORDER BY k;
SELECT k, bool_or(reads_all) AS reads_all
FROM generate_series(0, 5) AS k, hamming_bit_search_plan('narrow_bits', ((SELECT bits FROM narrow WHERE id = 7), k)) GROUP BY k ORDER BY k;
RESET enable_seqscan;

----------------------------------------
-- exclusion constraints
----------------------------------------

CREATE TABLE images (id int, pdq bit(256),
    CONSTRAINT near EXCLUDE USING hamming (hamming_bit_ball(pdq, 31) WITH ~=));
INSERT INTO images SELECT id, sample(256, id) FROM generate_series(1, 500) AS id ON CONFLICT DO NOTHING;
SELECT count(*) > 50 AS many FROM images;
SELECT a.id, b.id FROM images a JOIN images b ON a.id < b.id AND bit_count(a.pdq # b.pdq) <= 31;
SELECT n FROM generate_series(1, 500) AS n
WHERE n % 101 <> 0 AND n NOT IN (SELECT id FROM images)
    AND NOT EXISTS (SELECT FROM images AS i WHERE i.id < n AND bit_count(i.pdq # sample(256, n)) <= 31);
INSERT INTO images SELECT -1, pdq # (1::bit(256) >> 7) FROM images WHERE id = 1; -- error
UPDATE images SET pdq = ~pdq WHERE id = 1;
SELECT hamming_index_check('near', true);
DROP TABLE images, sampled, narrow, shapes;
DROP FUNCTION noise;
