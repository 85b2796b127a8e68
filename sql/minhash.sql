--
-- minhash.c: minhash, minhash_similarity
--
-- docs/fingerprint.md says what comes out; test/golden/reference_minhash.py says so
-- independently, over real texts.  Here are the rules one by one.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

----------------------------------------
-- minhash: what has no fingerprint
----------------------------------------

SELECT minhash(NULL::text), minhash(NULL, 'word-1'), minhash('a', NULL),
       minhash(NULL::text[]), minhash('{}'::text[]);
SELECT t, p.profile
FROM (VALUES (''), ('   '), ('!?.,;:-_()'), ('—「」。')) AS v(t),
     simhash_profiles() AS p
WHERE p.profile ~ '^(word|char)-' AND minhash(t, p.profile) IS NOT NULL;
SELECT fails($$SELECT minhash('a', 'nonesuch')$$);
SELECT fails($$SELECT minhash(ARRAY['a', NULL])$$);
SELECT fails($$SELECT minhash(ARRAY[['a'], ['b']])$$);

----------------------------------------
-- minhash: of a set of features
----------------------------------------

-- the default profile is that of simhash
SELECT minhash(t) = minhash(t, p.profile) AS by_default
FROM (VALUES ('The quick brown fox jumps over the lazy dog')) AS v(t),
     simhash_profiles() AS p
WHERE p.is_default;

-- the golden example of the specification
SELECT minhash('Die GRÖSSE: 北京大学'), minhash('Die GRÖSSE: 北京大学', 'word-1');

-- a document has the fingerprint of the set of its features, by any profile
SELECT p.profile
FROM (VALUES ('a'), ('to be or not to be, that is the question'),
             ('Mixed 北京大学 and ไทย text'),
             ((SELECT string_agg(md5(i::text), ' ')
               FROM generate_series(1, 999) AS i))) AS v(t),
     simhash_profiles() AS p
WHERE p.profile ~ '^(word|char)-' AND minhash(t, p.profile) IS DISTINCT FROM
      minhash(ARRAY(SELECT feature FROM simhash_features(t, p.profile)));

-- neither order nor number matters, but features do
SELECT minhash('{a,b,c}'::text[]) = minhash('{c,a,b}'::text[]) AS "order",
       minhash('{a,b,c}'::text[]) = minhash('{a,b,a,c,c}'::text[]) AS number,
       minhash('{a,b,c}'::text[]) = minhash('{a,b,d}'::text[]) AS features,
       minhash('{a}'::text[]) = minhash('{A}'::text[]) AS "case";
SELECT minhash(repeat('a b c ', 1000)) = minhash(repeat('a b c ', 2)) AS same;

-- wherever the borders of slices and buffers fall
SELECT count(DISTINCT minhash(repeat('-', n) || t))
FROM (SELECT string_agg(chr(19968 + i * 7 % 20000) || 'ab' || i % 50, ' é')
      FROM generate_series(1, 20000) AS i) AS d(t),
     generate_series(0, 5) AS n;

-- not mistaken for the other family among the documents remembered
SELECT count(DISTINCT minhash(t)), count(DISTINCT simhash(t)),
       bool_or(minhash(t) = simhash(t))
FROM (VALUES ('one two three'), ('one two three'), ('one two three')) AS v(t);

----------------------------------------
-- minhash_similarity
----------------------------------------

SELECT minhash_similarity(0, 0), minhash_similarity(0, 7),
       minhash_similarity(0, -1), minhash_similarity(42, NULL);

-- the estimate over 200 pairs of sets is close to the Jaccard similarity
SELECT size, shared, round(exact, 3) AS exact,
       abs(mean - exact) < 0.05 AS close
FROM (VALUES (10, 5), (10, 9), (40, 30), (200, 100), (2000, 1800))
     AS v(size, shared),
     LATERAL (SELECT shared / (2.0 * size - shared)) AS e(exact),
     LATERAL (SELECT avg(minhash_similarity(
         minhash(ARRAY(SELECT n || ' ' || i
                       FROM generate_series(1, size) AS i)),
         minhash(ARRAY(SELECT n || ' ' || i FROM generate_series(
             size - shared + 1, 2 * size - shared) AS i))))
      FROM generate_series(1, 200) AS n) AS m(mean);

-- the operators of search are the same
SELECT a ~= b AS near, a <~> b < 32 AS nearer_than_by_chance,
       a <@ hamming_ball(b, 20) AS within
FROM (SELECT minhash('The quick brown fox jumps over the lazy dog today'),
             minhash('the quick brown fox jumps over the lazy dog')) AS v(a, b);
