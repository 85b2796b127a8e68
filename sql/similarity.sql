--
-- similarity.c: simhash_jaccard, simhash_cosine
--
-- test/golden/reference_wide.py computes the same independently, over real texts.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- the same by their definitions, from the features
CREATE FUNCTION jaccard(a text, b text, profile text) RETURNS double precision
LANGUAGE sql AS $$
    SELECT count(*) FILTER (WHERE f.weight > 0 AND g.weight > 0) / nullif(count(*), 0)::float8
    FROM simhash_features(a, profile) AS f FULL JOIN simhash_features(b, profile) AS g USING (hash)
$$;
CREATE FUNCTION cosine(a text, b text, profile text) RETURNS double precision
LANGUAGE sql AS $$
    SELECT coalesce(sum(f.weight * g.weight), 0) / sqrt(sum(f.weight ^ 2) * sum(g.weight ^ 2))
    FROM simhash_features(a, profile) AS f FULL JOIN simhash_features(b, profile) AS g USING (hash)
$$;

CREATE TABLE docs (id int, body text);
INSERT INTO docs VALUES (0, ''), (1, 'a'), (2, 'a b'), (3, 'a b c d'), (4, 'A  b, c! e'),
    (5, 'to be or not to be'), (6, repeat('to be or not to be ', 50)),
    (7, 'Die GRÖSSE: 北京大学'), (8, '北京大学 x'), (9, 'ไทยไทยไทย');
INSERT INTO docs
SELECT 100 + i, string_agg(md5((hashint8extended(j, i / 4) % (50 + 3 * i))::text), ' ' ORDER BY j)
FROM generate_series(1, 20) AS i, generate_series(1, i * 30) AS j GROUP BY i;

SELECT p.profile, a.id, b.id FROM docs AS a, docs AS b,
    unnest('{word-2-capped,word-1,char-4,word-1-2-sqrt,python-simhash}'::text[]) AS p (profile)
WHERE (a.id < 10 AND b.id < 10 OR b.id - a.id IN (1, 3))
  AND NOT (abs(simhash_jaccard(a.body, b.body, profile) - jaccard(a.body, b.body, profile)) < 1e-12
           AND abs(simhash_cosine(a.body, b.body, profile) - cosine(a.body, b.body, profile)) < 1e-12)
  AND a.id > 0 AND b.id > 0;
-- they are of every size
SELECT count(*) AS pairs, count(*) FILTER (WHERE j = 0) AS zero,
    count(*) FILTER (WHERE j > 0 AND j < 1) AS between, count(*) FILTER (WHERE j = 1) AS one,
    count(*) FILTER (WHERE c = 1) AS cosine_one
FROM docs AS a, docs AS b, simhash_jaccard(a.body, b.body, 'word-1') AS j,
    simhash_cosine(a.body, b.body, 'word-1') AS c;
-- a and b can change places; a document is like itself
SELECT a.id, b.id FROM docs AS a, docs AS b
WHERE simhash_jaccard(a.body, b.body) IS DISTINCT FROM simhash_jaccard(b.body, a.body)
   OR simhash_cosine(a.body, b.body) IS DISTINCT FROM simhash_cosine(b.body, a.body)
   OR simhash_jaccard(a.body, b.body, NULL) IS DISTINCT FROM simhash_jaccard(a.body, b.body)
   OR simhash_jaccard(a.body, b.body, 'word-2-capped') IS DISTINCT FROM simhash_jaccard(a.body, b.body);
SELECT DISTINCT simhash_jaccard(body, body), simhash_cosine(body, body), id = 0 AS empty FROM docs;
-- as they come: the same documents again and again, in turn, by several profiles
SELECT count(DISTINCT (j1, c1)) AS one
FROM generate_series(1, 20) AS i, docs AS a, docs AS b,
    LATERAL (SELECT simhash_jaccard(a.body, b.body, CASE i % 3 WHEN 0 THEN 'word-1' ELSE 'word-2' END),
                    simhash_cosine(b.body, a.body, CASE i % 3 WHEN 0 THEN 'word-1' ELSE 'word-2' END)
            ) AS s (j1, c1)
WHERE a.id = 115 AND b.id IN (115 + i % 2) AND i % 3 > 0 AND i % 2 = 0;

----------------------------------------
-- long documents: several sections, and more than is remembered
----------------------------------------

CREATE TABLE long AS SELECT repeat('a b c d e f g ', 170000) || 'x y z' AS a;
CREATE TABLE weights AS
SELECT word, sum(1 + floor(log(2, n))) AS weight
FROM (SELECT word, count(*) AS n FROM long, string_to_table(a, ' ') WITH ORDINALITY AS t (word, i)
      GROUP BY word, (i - 1) >> 20) AS s
GROUP BY word;
SELECT simhash_jaccard(a, 'a a a a b x', 'word-1-log') = 0.3 AS jaccard,
    abs(simhash_cosine(a, 'a a a a b x', 'word-1-log') -
        (SELECT sum(weight * CASE word WHEN 'a' THEN 3 ELSE 1 END) FILTER (WHERE word IN ('a', 'b', 'x'))
                / sqrt(11 * sum(weight ^ 2)) FROM weights)) < 1e-12 AS cosine
FROM long;
DROP TABLE weights;
SELECT simhash_jaccard(a, a || ' and one more') FROM (
    SELECT string_agg(md5(i::text), ' ') AS a FROM generate_series(1, 300000) AS i) AS s;
DROP TABLE long;

----------------------------------------
-- features that are given
----------------------------------------

SELECT simhash_jaccard('{a,b,c}'::text[], '{b,c,d,d}'), simhash_cosine('{a,b,c}'::text[], '{b,c,d,d}'),
    2 / sqrt(3 * 6) AS same, simhash_jaccard('{a}'::text[], '{A}') AS "case";
SELECT a.id, b.id FROM docs AS a, docs AS b, LATERAL string_to_array(nullif(a.body, ''), ' ') AS x,
    LATERAL string_to_array(nullif(b.body, ''), ' ') AS y
WHERE a.id > 100 AND b.id > 100
  AND (simhash_jaccard(x, y) <> simhash_jaccard(a.body, b.body, 'word-1')
       OR simhash_cosine(x, y) <> simhash_cosine(a.body, b.body, 'word-1'));

----------------------------------------
-- bad input
----------------------------------------

SELECT simhash_jaccard(NULL, 'a'), simhash_jaccard('a', NULL), simhash_jaccard('', 'a'),
    simhash_cosine('a', '...'), simhash_cosine('', ''), simhash_jaccard('{}'::text[], '{a}'),
    simhash_cosine(NULL::text[], '{a}'), simhash_jaccard('', '', 'clickhouse-ngram') AS clickhouse;
SELECT fails($$SELECT simhash_jaccard('a', 'b', 'nonesuch')$$);
SELECT fails($$SELECT simhash_cosine('a', 'b', '')$$);
SELECT fails($$SELECT simhash_jaccard('{a,NULL}'::text[], '{a}')$$);
SELECT fails($$SELECT simhash_cosine('{a}'::text[], '{{a},{b}}')$$);

DROP TABLE docs;
DROP FUNCTION jaccard, cosine;
