--
-- wide.c: simhash_bits, minhash_bits, and simhash_tfidf_bits of tfidf.c
--
-- docs/fingerprint.md says what comes out; test/golden/reference_wide.py says so
-- independently, over real texts.  Here are the rules one by one.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE TABLE docs AS
SELECT i AS id, string_agg(md5((j * (i % 7 + 1))::text), ' ' ORDER BY j) AS body
FROM generate_series(1, 40) AS i, generate_series(1, i) AS j GROUP BY i
UNION ALL VALUES (0, ''), (101, 'a'), (102, 'Die GRÖSSE: 北京大学'),
    (103, repeat('to be or not to be ', 300)),
    (104, (SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 1500) AS i));
CREATE TABLE weights AS SELECT simhash_idf_agg(body, 'word-1') AS idf FROM docs;

-- the words of a fingerprint, as bigints
CREATE FUNCTION words(fp bit) RETURNS bigint[] LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT array_agg(substring(fp FROM 64 * w - 63 FOR 64)::bit(64)::bigint ORDER BY w)
    FROM generate_series(1, length(fp) / 64) AS w
$$;

----------------------------------------
-- the golden example of the specification
----------------------------------------

SELECT words(simhash_bits(t, 192, 'word-2')) AS simhash,
       words(minhash_bits(t, 192, 'word-2')) AS minhash
FROM (VALUES ('Die GRÖSSE: 北京大学')) AS v(t);

----------------------------------------
-- each is the beginning of all that are wider
----------------------------------------

CREATE TABLE wide AS
SELECT d.id, p.profile, n, simhash_bits(body, n, p.profile) AS simhash,
       minhash_bits(body, n, p.profile) AS minhash,
       simhash_bits(features, n, weights, p.profile) AS features
FROM docs AS d, unnest('{64,128,192,576,1024}'::bigint[]) AS n,
     (VALUES ('word-2-capped'), ('word-1'), ('word-2'), ('char-3-sqrt'),
      ('python-simhash'), ('clickhouse-ngram'),
      ('clickhouse-word-shingle')) AS p (profile),
     LATERAL (SELECT array_agg(feature), array_agg(weight)
              FROM simhash_features(body, p.profile)) AS f (features, weights);
SELECT id, profile, n FROM wide
WHERE length(simhash) <> n OR length(minhash) <> n;
SELECT a.id, a.profile, a.n FROM wide AS a JOIN wide AS b USING (id, profile)
WHERE b.n = 1024 AND (substring(b.simhash FOR a.n::int) IS DISTINCT FROM a.simhash
                      OR substring(b.minhash FOR a.n::int) IS DISTINCT FROM a.minhash);
SELECT w.id, w.profile FROM wide AS w JOIN docs AS d USING (id)
WHERE n = 64 AND ((words(simhash))[1] IS DISTINCT FROM simhash(body, profile)
                  OR (words(minhash))[1] IS DISTINCT FROM minhash(body, profile));
-- what the features with their weights give; without features other programs
-- have a fingerprint all the same
SELECT profile, n, simhash FROM wide
WHERE features IS DISTINCT FROM simhash
    AND id > 0 AND profile !~ 'clickhouse';
SELECT DISTINCT profile, simhash, minhash FROM wide WHERE id = 0 AND n = 64 ORDER BY 1;
-- words differ from each other, and words of one document from those of another
SELECT count(*) AS words, count(DISTINCT word) AS different
FROM wide, unnest(words(simhash) || words(minhash)) AS word
WHERE n = 1024 AND profile = 'word-1' AND id BETWEEN 5 AND 40;
-- the default profile is that of simhash
SELECT id FROM wide JOIN docs AS d USING (id)
WHERE profile = 'word-2-capped' AND n = 256
    AND (simhash_bits(body, n) IS DISTINCT FROM simhash
         OR simhash_bits(body, n, NULL) IS DISTINCT FROM simhash
         OR minhash_bits(body, n) IS DISTINCT FROM minhash);

----------------------------------------
-- other inputs
----------------------------------------

SELECT words(simhash_bits('{a,b,c}'::text[], 128)) AS features,
       words(simhash_bits('{a,b,c}'::text[], 128, '{3,2,-1e9}')) AS weighted,
       words(simhash_bits('{a,b,c}'::text[], 128, NULL, 'python-simhash')) AS profile,
       words(simhash_bits('a:1A b:2 c'::tsvector, 128)) AS lexemes,
       words(minhash_bits('{c,a,b,a}'::text[], 128)) AS minhash;
SELECT simhash('{a,b,c}'::text[]) AS features,
       simhash('{a,b,c}'::text[], '{3,2,-1e9}') AS weighted,
       simhash_bits('{a,b,c}'::text[], 64, NULL,
           'python-simhash')::bigint AS profile,
       simhash('a:1A b:2 c'::tsvector) AS lexemes,
       minhash('{a,b,c}'::text[]) AS minhash;
SELECT minhash_bits(body, n, 'word-2') = minhash_bits(ARRAY(
           SELECT feature FROM simhash_features(body, 'word-2')), n) AS same, count(*)
FROM docs, generate_series(64, 1024, 192) AS n WHERE id > 0 GROUP BY same;

-- by idf
SELECT id, k, n FROM docs, weights, generate_series(64, 1024, 320) AS n,
    (VALUES (NULL), (1), (20), (1000)) AS v(k)
WHERE (words(simhash_tfidf_bits(body, idf, n, k)))[1] IS DISTINCT FROM simhash_tfidf(body, idf, k)
   OR simhash_tfidf_bits(body, idf, n, k) IS DISTINCT FROM simhash_bits(ARRAY(
          SELECT feature FROM simhash_keywords(body, idf, coalesce(k, 10000))), n, ARRAY(
          SELECT weight FROM simhash_keywords(body, idf, coalesce(k, 10000))), 'word-1');
SELECT id, k, n FROM docs, weights, generate_series(64, 1024, 320) AS n,
    (VALUES (NULL), (1), (20)) AS v(k), LATERAL string_to_array(body, ' ') AS list
WHERE id <> 102 AND ((words(simhash_tfidf_bits(list, idf, n, k)))[1] IS DISTINCT FROM simhash_tfidf(list, idf, k)
   OR simhash_tfidf_bits(list, idf, n, k) IS DISTINCT FROM simhash_bits(ARRAY(
          SELECT feature FROM simhash_keywords(list, idf, coalesce(k, 10000))), n, ARRAY(
          SELECT weight FROM simhash_keywords(list, idf, coalesce(k, 10000)))));

----------------------------------------
-- as a column
----------------------------------------

CREATE TABLE stored (body text, fp bit(256) GENERATED ALWAYS AS (simhash_bits(body, 256)) STORED);
INSERT INTO stored SELECT body FROM docs;
SELECT count(*), count(fp), min(length(fp)), max(length(fp)) FROM stored;
ALTER TABLE stored ADD small bigint;
UPDATE stored SET small = fp::bit(64)::bigint;
SELECT count(*) FROM stored WHERE small <> simhash(body);
DROP TABLE stored;
CREATE TABLE stored (body text, fp bit(128) GENERATED ALWAYS AS (simhash_bits(body, 64)) STORED);
SELECT fails($$INSERT INTO stored VALUES ('a')$$);
DROP TABLE stored;

-- a document that comes again is remembered by its width, too
SELECT n, length(simhash_bits('a b c', n)), simhash_bits('a b c', n) = simhash_bits('a b c', n) AS same
FROM (VALUES (64), (128), (64), (1024), (128), (960), (64), (1024)) AS v(n);

----------------------------------------
-- the estimate
----------------------------------------

-- of two documents that share words 1 to 400 of 600 and 500: cosine .73,
-- Jaccard .57, wide fingerprints come nearer
CREATE TABLE two AS
SELECT array_agg('w' || i) FILTER (WHERE i <= 600) AS a,
       array_agg('w' || i) FILTER (WHERE i <= 400 OR i > 600) AS b
FROM generate_series(1, 700) AS i;
SELECT abs(simhash_similarity(simhash_bits(a, 1024), simhash_bits(b, 1024))
           - 400 / sqrt(600 * 500)) < .1 AS cosine,
       abs(minhash_similarity(minhash_bits(a, 1024), minhash_bits(b, 1024))
           - 400.0 / 700) < .1 AS jaccard
FROM two;
DROP TABLE two;

----------------------------------------
-- bad input
----------------------------------------

SELECT simhash_bits(NULL::text, 64) AS document, simhash_bits('a', NULL) AS bits,
       simhash_bits(NULL::text[], 64) AS features, simhash_bits('{}'::text[], 64) AS empty,
       simhash_bits(''::tsvector, 64) AS lexemes, minhash_bits('{}'::text[], 64) AS set,
       minhash_bits('', 64) AS minhash, simhash_tfidf_bits('a', NULL, 64) AS idf;
SELECT n, fails(format('SELECT simhash_bits(''a'', %s)', n))
FROM unnest('{0,-64,32,63,65,100,1088,2048,4294967360,-9223372036854775808}'::bigint[]) AS n;
SELECT fails($$SELECT simhash_bits('{a}'::text[], 100)$$);
SELECT fails($$SELECT simhash_bits('a'::tsvector, 100)$$);
SELECT fails($$SELECT minhash_bits('a', 0)$$);
SELECT fails($$SELECT minhash_bits('{a}'::text[], 100)$$);
SELECT fails($$SELECT simhash_tfidf_bits('a', idf, 100) FROM weights$$);
SELECT fails($$SELECT simhash_tfidf_bits('{a}'::text[], idf, 100) FROM weights$$);
SELECT fails($$SELECT simhash_tfidf_bits('a', idf, 64, 0) FROM weights$$);
SELECT fails($$SELECT simhash_bits('a', 64, 'nonesuch')$$);
SELECT fails($$SELECT simhash_bits('{a,NULL}'::text[], 64)$$);
SELECT fails($$SELECT simhash_bits('{a,b}'::text[], 64, '{1}')$$);
SELECT fails($$SELECT simhash_bits('{a}'::text[], 64, '{NaN}')$$);
SELECT fails($$SELECT simhash_bits('a'::tsvector, 64, '{1}')$$);
SELECT fails($$SELECT hamming(simhash_bits('a', 64), simhash_bits('a', 128))$$);

DROP TABLE docs, weights, wide;
DROP FUNCTION words;
