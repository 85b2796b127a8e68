--
-- hamming_scan.c: stored balls, each of a radius of its own
--
-- Two balls are near when each has the other's center: when the distance is
-- at most the lesser radius.  The index knows centers alone.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- clusters of centers with any radius, whole NULLs, and NULL inside
CREATE TABLE plain (id int, ball hamming_ball);
INSERT INTO plain
SELECT n, CASE n % 100 WHEN 0 THEN NULL WHEN 1 THEN (NULL, 3)::hamming_ball
    WHEN 2 THEN (n, NULL)::hamming_ball WHEN 3 THEN (NULL, NULL)::hamming_ball
    ELSE (hashint8extended(n / 20, 1)
          # (hashint8extended(n, 2) & hashint8extended(n, 3) & hashint8extended(n, 4)),
          abs(hashint4(n)) % CASE WHEN n % 3 = 0 THEN 65 ELSE 20 END)::hamming_ball END
FROM generate_series(1, 3000) AS n;
INSERT INTO plain VALUES (3001, (0, 1)), (3002, (0, 10)), (3003, (0, 64)), (3004, (0, 0));
CREATE TABLE balls AS TABLE plain;
CREATE INDEX ON balls USING hamming (ball);
ANALYZE plain, balls;

-- what the operator means, by other means
CREATE FUNCTION balls_near(a hamming_ball, b hamming_ball) RETURNS boolean
LANGUAGE sql IMMUTABLE AS
$$ SELECT bit_count((a.center # b.center)::bit(64)) <= CASE WHEN a.radius < b.radius
    THEN a.radius WHEN b.radius <= a.radius THEN b.radius END $$;

----------------------------------------
-- ball ~= ball
----------------------------------------

-- by the index, as it comes and by a bitmap, and by reading the table
PREPARE near(hamming_ball) AS SELECT id FROM balls WHERE ball ~= $1 ORDER BY id;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SELECT id FROM balls WHERE ball ~= hamming_ball(31, 20) AND id > 3000 ORDER BY id;
SET enable_bitmapscan = off;
SELECT plan('EXECUTE near(NULL)');
EXECUTE near((31, 20));
DISCARD PLANS;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
SELECT plan('EXECUTE near(NULL)');
EXECUTE near((31, 20));
SET enable_indexscan = on;
EXECUTE near(NULL);
EXECUTE near((NULL, 3));
EXECUTE near((31, NULL));
SELECT fails('EXECUTE near((31, 65))');

-- every radius of the query, by every way there is; joins and two conditions
CREATE FUNCTION wrong(OUT way text, OUT queries bigint, OUT wrong bigint, OUT many boolean)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    FOREACH way IN ARRAY '{enable_bitmapscan,enable_indexscan}'::text[] LOOP
        PERFORM set_config(way, 'off', true);
        EXECUTE $q$
        SELECT count(*), count(*) FILTER (WHERE ours IS DISTINCT FROM theirs),
            sum(cardinality(ours)) > 10000
        FROM (SELECT ARRAY(SELECT id FROM balls AS b WHERE b.ball ~= q.ball ORDER BY id) AS ours,
                  ARRAY(SELECT id FROM plain AS p WHERE balls_near(p.ball, q.ball) ORDER BY id) AS theirs
              FROM (SELECT ((s.ball).center, k)::hamming_ball AS ball
                    FROM plain AS s, generate_series(0, 64) AS k
                    WHERE s.id IN (7, 14, 15, 999, 2000, 2001, 3001)) AS q) AS s $q$
        INTO queries, wrong, many;
        RETURN NEXT;
        PERFORM set_config(way, 'on', true);
    END LOOP;
END $$;
SELECT * FROM wrong();
SELECT plan('SELECT count(*) FROM plain a JOIN balls b ON a.ball ~= b.ball WHERE a.id < 300');
SELECT count(*) = (SELECT count(*) FROM plain a JOIN plain b ON balls_near(a.ball, b.ball)
                   WHERE a.id < 300) AS same, count(*) > 1000 AS many
FROM plain a JOIN balls b ON a.ball ~= b.ball WHERE a.id < 300;
SELECT count(*) = (SELECT count(*) FROM plain a, plain b, plain c
                   WHERE balls_near(c.ball, a.ball) AND balls_near(c.ball, b.ball)
                   AND a.id BETWEEN 20 AND 39 AND b.id BETWEEN 20 AND 39) AS same, count(*) > 500 AS many
FROM plain a, plain b, balls c
WHERE c.ball ~= a.ball AND b.ball ~= c.ball
    AND a.id BETWEEN 20 AND 39 AND b.id BETWEEN 20 AND 39;
-- in the order of something else
SELECT id FROM balls WHERE ball ~= (31, 20) ORDER BY (ball).radius DESC LIMIT 2;

----------------------------------------
-- exclusion constraints
----------------------------------------

CREATE TABLE excluded (id int, ball hamming_ball,
    CONSTRAINT near EXCLUDE USING hamming (ball WITH ~=));
INSERT INTO excluded VALUES (1, (0, 1));
INSERT INTO excluded VALUES (2, (31, 20)); -- 5 apart: no conflict
INSERT INTO excluded VALUES (3, (30, 4)); -- error
INSERT INTO excluded VALUES (4, (1, 1)); -- error
INSERT INTO excluded VALUES (5, NULL), (6, NULL), (7, (0, NULL)), (8, (0, NULL));
UPDATE excluded SET ball = (31, 5) WHERE id = 1; -- error
UPDATE excluded SET ball = (0, 4) WHERE id = 1;
SELECT * FROM excluded ORDER BY id;

-- row by row, what is let in has no other one near, and what is not, has
INSERT INTO excluded SELECT id + 10, ball FROM plain ON CONFLICT DO NOTHING;
SELECT count(*) > 150 AS many FROM excluded;
SELECT a.id, b.id FROM excluded a JOIN excluded b ON a.id < b.id AND balls_near(a.ball, b.ball);
SELECT p.id FROM plain p
WHERE NOT EXISTS (SELECT FROM excluded e WHERE e.id = p.id + 10)
    AND NOT EXISTS (SELECT FROM excluded e
                    WHERE balls_near(e.ball, p.ball) AND e.id < p.id + 10);
-- a constraint that comes later
ALTER TABLE excluded DROP CONSTRAINT near;
ALTER TABLE excluded ADD CONSTRAINT near EXCLUDE USING hamming (ball WITH ~=)
    DEFERRABLE INITIALLY DEFERRED;
BEGIN;
INSERT INTO excluded VALUES (1000, (0, 64)), (1001, (-1, 0));
DELETE FROM excluded WHERE id <> 1001;
INSERT INTO excluded VALUES (1002, (-4, 1));
COMMIT;
SELECT * FROM excluded ORDER BY id;
INSERT INTO excluded VALUES (1003, (-4, 2)); -- error
ALTER TABLE excluded DROP CONSTRAINT near;
INSERT INTO excluded VALUES (1003, (-4, 2));
ALTER TABLE excluded ADD CONSTRAINT near EXCLUDE USING hamming (ball WITH ~=); -- error

DROP TABLE plain, balls, excluded;
DROP FUNCTION wrong, balls_near;
