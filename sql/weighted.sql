--
-- weighted.c, weighted_agg.c: arrays, lexemes, aggregates
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

-- the definition, in plain SQL and exact arithmetic, to compare with
CREATE TYPE pair AS (hash bigint, weight numeric);
CREATE FUNCTION by_definition(pairs pair[]) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT bit_or(CASE WHEN s > 0 THEN 1::bigint << bit ELSE 0 END)
    FROM (SELECT bit,
                 sum(CASE WHEN (hash >> bit) & 1 = 1 THEN weight
                     ELSE -weight END) AS s
          FROM unnest(pairs), generate_series(0, 63) AS bit
          WHERE weight <> 0
          GROUP BY bit) AS sums
$$;
CREATE FUNCTION feature_hash(feature text) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$ SELECT simhash(ARRAY[feature]) $$;

----------------------------------------
-- simhash(text[], float8[])
----------------------------------------

SELECT simhash(ARRAY['a']) = (SELECT hash FROM simhash_features('a', 'word-1'))
    AS one_feature_is_its_hash;
SELECT simhash(ARRAY['a', 'b', 'c']) = by_definition(ARRAY[
    (feature_hash('a'), 1), (feature_hash('b'), 1), (feature_hash('c'), 1)
    ]::pair[]) AS unweighted;
SELECT simhash(ARRAY['a', 'b', 'c'], ARRAY[0.5, 2, 0.25]) =
    by_definition(ARRAY[
    (feature_hash('a'), 0.5), (feature_hash('b'), 2), (feature_hash('c'), 0.25)
    ]::pair[]) AS weighted;
-- a weight repeated is a weight added
SELECT simhash(ARRAY['a', 'b', 'b', 'c']) =
    simhash(ARRAY['a', 'b', 'c'], ARRAY[1, 2, 1]) AS repeated;
-- 1000 pseudo-random sets of pairs
SELECT count(*) AS sets, count(*) FILTER (WHERE simhash(f, w) = d) AS equal
FROM (SELECT n, array_agg('f' || (i * n) % 97) AS f,
             array_agg((((i * n * 7919) % 2001) - 1000) / 64.0::float8) AS w,
             by_definition(array_agg((feature_hash('f' || (i * n) % 97),
                 (((i * n * 7919) % 2001) - 1000) / 64.0)::pair)) AS d
      FROM generate_series(1, 1000) AS n, generate_series(1, 20) AS i
      GROUP BY n) AS sets;
-- negative weights push away
SELECT simhash(ARRAY['a'], ARRAY[-1]) = ~simhash(ARRAY['a']) AS opposite;
-- what cancels weighs nothing, whatever makes a fingerprint of it
SELECT simhash(ARRAY['a', 'a'], ARRAY[-0.1, 0.1]) AS "array",
    simhash_bits(ARRAY['a', 'a'], 256, ARRAY[-0.1, 0.1]) AS bits,
    simhash('a:1A,2B'::tsvector, '{0,0,-0.5,0.5}') AS lexemes,
    simhash_bits('a:1A,2B'::tsvector, 128, '{0,0,-0.5,0.5}') AS lexeme_bits,
    (SELECT simhash_agg(f, w) FROM (VALUES ('a', 3), ('b', 1e300), ('a', -3),
        ('b', -1e300)) AS v (f, w)) AS rows,
    (SELECT simhash_agg(f, w) FROM (VALUES (7::bigint, 0.1), (7, -0.1)) AS v (f, w))
        AS hashes,
    (SELECT array_agg(fp) FROM (SELECT simhash_agg('a'::text, w) OVER (
        ORDER BY i ROWS 1 PRECEDING) IS NULL AS fp
     FROM (VALUES (1, 0.1), (2, -0.1), (3, -0.1), (4, 0.1)) AS v (i, w)) AS u)
        AS frames;
-- of random weights, each once more with the other sign, in another order
SELECT count(*) AS sets, count(fp) AS kept, count(agg) AS agg_kept
FROM (SELECT n, simhash(array_agg(f ORDER BY w), array_agg(w ORDER BY w)) AS fp,
          simhash_agg(f, w) AS agg
      FROM (SELECT n, 'f' || i % 7 AS f, s * sin(i * n) * 10.0 ^ (i % 40 - 20) AS w
            FROM generate_series(1, 200) AS n, generate_series(1, 20) AS i,
                unnest('{1,-1}'::int[]) AS s) AS v
      GROUP BY n) AS sets;
-- nothing that weighs anything: no fingerprint
SELECT simhash('{}'::text[]) AS empty, simhash('{}'::text[], '{}') AS empties,
       simhash(NULL::text[]) AS no_features,
       simhash(ARRAY['a', 'b'], ARRAY[0, -0.0]) AS zeros;
SELECT simhash(ARRAY['a', 'b'], ARRAY[1, 0]) = simhash(ARRAY['a'])
    AS zero_is_absent;
SELECT simhash(ARRAY['a', 'b'], NULL) = simhash(ARRAY['a', 'b'], '{1,1}')
    AS null_is_ones;
-- the largest and the smallest doubles neither overflow nor vanish
SELECT simhash(ARRAY['a', 'b', 'c'], ARRAY['1.7976931348623157e308'::float8,
    '1.7976931348623157e308', '-1.7976931348623157e308']) =
    by_definition(ARRAY[
    (feature_hash('a'), 1), (feature_hash('b'), 1), (feature_hash('c'), -1)
    ]::pair[]) AS largest,
    simhash(ARRAY['a', 'b', 'c'], ARRAY['5e-324'::float8, '5e-324', '1e-323'])
    = by_definition(ARRAY[(feature_hash('a'), 1), (feature_hash('b'), 1),
    (feature_hash('c'), 2)]::pair[]) AS smallest;
-- sums that doubles cannot hold: 1 decides where 1e16 cancels
SELECT simhash(ARRAY['a', 'b', 'a'], ARRAY[1e16, 1, -1e16]) =
    simhash(ARRAY['b']) AS exact,
    simhash(ARRAY['b', 'a', 'a'], ARRAY['1e-300'::float8, 1e300, -1e300]) =
    simhash(ARRAY['b']) AS more_exact;

-- a literal is a document, whatever it looks like
SELECT pg_typeof(simhash('{a,b}')), simhash('{a,b}') = simhash('{a,b}'::text)
    AS as_text, simhash('a b', 'word-1') = simhash('a b'::text, 'word-1'::text)
    AS with_profile, simhash(NULL) AS null_literal;

-- what simhash_features lists adds up to the fingerprint
CREATE TEMP TABLE doc (id serial, body text);
INSERT INTO doc (body) VALUES
    ('The quick brown fox jumps over the lazy dog, and over the dog again'),
    ('Die GRÖSSE: 北京大学 北京大学 大學生'),
    ('ภาษาไทยไม่เว้นวรรค'), ('a'), ('');
SELECT p.profile,
       bool_and(simhash(body, p.profile) IS NOT DISTINCT FROM
           (SELECT simhash(array_agg(feature), array_agg(weight))
            FROM simhash_features(body, p.profile))) AS arrays,
       bool_and(simhash(body, p.profile) IS NOT DISTINCT FROM
           (SELECT simhash_agg(feature, weight)
            FROM simhash_features(body, p.profile))) AS features,
       bool_and(simhash(body, p.profile) IS NOT DISTINCT FROM
           (SELECT simhash_agg(hash, weight)
            FROM simhash_features(body, p.profile))) AS hashes
FROM doc, (VALUES ('word-1-2'), ('word-1'), ('word-2'), ('word-2-capped'),
        ('char-3'))
    AS p (profile)
GROUP BY p.profile ORDER BY p.profile;

-- what is refused
SELECT fails($$SELECT simhash(ARRAY['a', NULL])$$);
SELECT fails($$SELECT simhash(ARRAY['a', 'b'], ARRAY[1, NULL])$$);
SELECT fails($$SELECT simhash(ARRAY['a', 'b'], ARRAY[1])$$);
SELECT fails($$SELECT simhash(ARRAY['a'], '{}')$$);
SELECT fails($$SELECT simhash(ARRAY[['a', 'b'], ['c', 'd']])$$);
SELECT fails($$SELECT simhash(ARRAY['a', 'b'], ARRAY[[1, 2]])$$);
SELECT fails($$SELECT simhash(ARRAY['a'], ARRAY['NaN'::float8])$$);
SELECT fails($$SELECT simhash(ARRAY['a'], ARRAY['Infinity'::float8])$$);
SELECT fails($$SELECT simhash(ARRAY['a'], ARRAY['-Infinity'::float8])$$);
SELECT fails($$SELECT simhash_agg('a', 'NaN')$$);
SELECT fails($$SELECT simhash_agg(1, '-Infinity')$$);

----------------------------------------
-- simhash(tsvector, float4[])
----------------------------------------

SELECT simhash('a:1A b:2,5 c:3B,4C'::tsvector) = by_definition(ARRAY[
    (feature_hash('a'), 1), (feature_hash('b'), 2 * 0.1),
    (feature_hash('c'), 0.4 + 0.2)]::pair[]) AS labels;
SELECT simhash('a:1A b:2,5 c:3B,4C'::tsvector, '{1,2,3,-4}') = by_definition(
    ARRAY[(feature_hash('a'), -4), (feature_hash('b'), 2 * 1),
    (feature_hash('c'), 3 + 2)]::pair[]) AS given;
SELECT simhash(strip('a:1A b:2,5 c:3B,4C'::tsvector)) =
    simhash(ARRAY['a', 'b', 'c']) AS stripped;
-- stemming and stop words are those of the configuration
SELECT simhash(to_tsvector('english', 'The fox jumped over the dogs')) =
    simhash(to_tsvector('english', 'Foxes jump over a dog')) AS stemmed;
SELECT simhash(''::tsvector) AS empty, simhash(NULL::tsvector) AS nothing,
    simhash('a:1D'::tsvector, '{0,1,1,1}') AS weightless;
SELECT fails($$SELECT simhash('a'::tsvector, '{1,1,1}')$$);
SELECT fails($$SELECT simhash('a'::tsvector, '{1,1,1,NULL}')$$);
SELECT fails($$SELECT simhash('a'::tsvector, '{{1,1},{1,1}}')$$);
SELECT fails($$SELECT simhash('a'::tsvector, '{1,1,1,NaN}')$$);

----------------------------------------
-- simhash_agg
----------------------------------------

SELECT simhash_agg(f, w) = by_definition(ARRAY[(feature_hash('a'), 3),
    (feature_hash('b'), -1)]::pair[]) AS nulls_ignored
FROM (VALUES ('a', 3), ('b', -1), (NULL, 5), ('c', NULL)) AS v (f, w);
SELECT simhash_agg(f, 1) AS no_rows FROM (SELECT 'a' WHERE false) AS v (f);
SELECT simhash_agg(f, w) AS only_nulls
FROM (VALUES (NULL::text, 1)) AS v (f, w);

-- parallel workers give the same as one process
CREATE TABLE feature (grp int, feature text, hash bigint, weight float8);
INSERT INTO feature
SELECT i % 3, 'f' || i % 1009, feature_hash('f' || i % 1009),
    CASE i % 4 WHEN 0 THEN 1e16 WHEN 1 THEN -1e16 WHEN 2 THEN 0.1
    ELSE 1e-9 END
FROM generate_series(1, 20000) AS i;
ANALYZE feature;
SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE serial AS
SELECT grp, simhash_agg(feature, weight) AS by_feature,
    simhash_agg(hash, weight) AS by_hash FROM feature GROUP BY grp;
SELECT grp, by_feature = by_hash AS same,
    by_feature = (SELECT simhash_agg(feature, weight ORDER BY weight)
                  FROM feature AS f WHERE f.grp = s.grp) AS ascending,
    by_feature = (SELECT simhash_agg(feature, weight ORDER BY abs(weight) DESC)
                  FROM feature AS f WHERE f.grp = s.grp) AS descending
FROM serial AS s ORDER BY grp;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF)
SELECT simhash_agg(feature, weight), simhash_agg(hash, weight) FROM feature;
SELECT bool_and(p.by_feature = s.by_feature AND p.by_hash = s.by_hash) AS same
FROM (SELECT grp, simhash_agg(feature, weight) AS by_feature,
          simhash_agg(hash, weight) AS by_hash FROM feature GROUP BY grp) AS p
JOIN serial AS s USING (grp);
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- a moving window, where rows leave: the same as adding up each frame
SELECT count(*) AS frames,
    count(*) FILTER (WHERE moving IS NOT DISTINCT FROM fresh) AS equal,
    count(*) FILTER (WHERE moving IS NULL) AS empty
FROM (SELECT i, simhash_agg(f, w) OVER (ORDER BY i
                 ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) AS moving,
             simhash(array_agg(f) FILTER (WHERE f IS NOT NULL) OVER frame,
                     array_agg(w) FILTER (WHERE f IS NOT NULL) OVER frame)
                 AS fresh
      FROM (SELECT i, CASE WHEN i % 5 <> 0 THEN 'f' || i * i % 31 END AS f,
                CASE i % 3 WHEN 0 THEN 1e300 WHEN 1 THEN 1e-300
                ELSE -0.1 END AS w
            FROM generate_series(1, 500) AS i) AS v
      WINDOW frame AS (ORDER BY i ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING))
    AS frames;
-- and with hashes
SELECT bool_and(a = b) AS same
FROM (SELECT simhash_agg(hash, weight) OVER w AS a,
             simhash_agg(feature, weight) OVER w AS b
      FROM feature WHERE grp = 1
      WINDOW w AS (ORDER BY feature, weight
                   ROWS BETWEEN 10 PRECEDING AND CURRENT ROW)) AS v;

-- random frames (drawn from a fixed seed), against the aggregate of their rows
CREATE TABLE rows_in AS
SELECT i, i % 5 AS part, hashint8extended(i % 90, 1) AS hash,
    'f' || i * i % 37 AS feature,
    (ARRAY[NULL, 0, 1, -2.5, 0.1, 1e300, 1e-300, 7])[1 + i * 7 % 8]::float8
        AS weight
FROM generate_series(1, 200) AS i;
DO $$
DECLARE
    frame text;
    differ bigint;
BEGIN
    PERFORM setseed(0.5);
    FOR n IN 1 .. 40 LOOP
        frame := format('%s BETWEEN %s PRECEDING AND %s %s %s',
            (ARRAY['ROWS', 'GROUPS'])[1 + n % 2],
            20 + floor(random() * 20), floor(random() * 20),
            (ARRAY['PRECEDING', 'FOLLOWING'])[1 + n / 2 % 2],
            (ARRAY['', 'EXCLUDE CURRENT ROW', 'EXCLUDE TIES'])[1 + n % 3]);
        EXECUTE format('
            SELECT count(*) FROM (
                SELECT array_agg(i) OVER w AS frame,
                    simhash_agg(hash, weight) OVER w AS a,
                    simhash_agg(feature, weight) OVER w AS b
                FROM rows_in
                WINDOW w AS (PARTITION BY part ORDER BY i / 3 %s)) AS v
            WHERE ROW(a, b) IS DISTINCT FROM (
                SELECT ROW(simhash_agg(hash, weight),
                           simhash_agg(feature, weight))
                FROM rows_in WHERE i = ANY (frame))', frame) INTO differ;
        IF differ > 0 THEN
            RAISE WARNING '% rows differ: %', differ, frame;
        END IF;
    END LOOP;
END $$;
DROP TABLE rows_in;

DROP TABLE feature;
DROP FUNCTION by_definition(pair[]);
DROP FUNCTION feature_hash(text);
DROP TYPE pair;
