--
-- tune.c: simhash_tune
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- figures have three digits
CREATE FUNCTION digits(figure double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE RETURN to_char(figure, '9.99EEEE')::double precision;

-- 60 texts of 40 words; all but the first twenty with two revisions, in which
-- two words are others; and an identical copy of each
CREATE TABLE texts AS
SELECT n, v, (SELECT string_agg(CASE WHEN i % 20 = v AND v > 0
                                     THEN 'other' ELSE md5(n || ' ' || i) END,
                                ' ')
              FROM generate_series(1, 40) AS i) AS body
FROM generate_series(1, 60) AS n, generate_series(0, 2) AS v
WHERE v = 0 OR n > 20;
INSERT INTO texts SELECT n, 3, body FROM texts WHERE v = 0;
INSERT INTO texts VALUES (0, 0, NULL), (0, 0, ''), (0, 0, '???');

----------------------------------------
-- measures of likeness
----------------------------------------

-- as exact as can be where the sample is all there is
CREATE VIEW exact AS
SELECT a.body <> b.body AS pair, simhash(a.body) <~> simhash(b.body) AS d,
       minhash(a.body) <~> minhash(b.body) AS md,
       (SELECT count(*) FROM (SELECT feature FROM simhash_features(a.body)
        INTERSECT SELECT feature FROM simhash_features(b.body)) AS f)::float8 /
       (SELECT count(*) FROM (SELECT feature FROM simhash_features(a.body)
        UNION SELECT feature FROM simhash_features(b.body)) AS f) >= 0.8
       AS alike
FROM texts AS a, texts AS b
WHERE simhash(a.body) IS NOT NULL AND simhash(b.body) IS NOT NULL;
CREATE TABLE pairs AS SELECT * FROM exact WHERE pair;

SELECT t.k, t.pairs, t.precision, t.recall, t.comparisons, t.recommended,
       t.pairs = e.pairs AS pairs_right,
       t.precision IS NOT DISTINCT FROM digits(e.precision) AS precision_right,
       t.recall = digits(e.recall) AS recall_right,
       t.comparisons = digits(e.pairs::float8 /
           (SELECT count(*) FROM texts WHERE simhash(body) IS NOT NULL))
           AS comparisons_right
FROM simhash_tune('SELECT body FROM texts', family => 'simhash',
                  similarity => 'jaccard') AS t,
     LATERAL (SELECT count(*) FILTER (WHERE d <= k),
                     (count(*) FILTER (WHERE d <= k AND alike))::float8 /
                     nullif(count(*) FILTER (WHERE d <= k), 0),
                     (count(*) FILTER (WHERE d <= k AND alike))::float8 /
                     count(*) FILTER (WHERE alike)
              FROM pairs) AS e(pairs, precision, recall)
ORDER BY k;
-- what to search, and what to verify
SELECT k, advice FROM simhash_tune('SELECT body FROM texts') WHERE recommended;
SELECT k, advice FROM simhash_tune('SELECT body FROM texts',
    family => 'simhash') WHERE advice IS NOT NULL;
SELECT k, advice FROM simhash_tune('SELECT body FROM texts',
    similarity => 'cosine', at_least => 0.9) WHERE recommended;
SELECT count(*) AS wrong
FROM simhash_tune('SELECT body::varchar FROM texts', profile => 'word-2',
                  family => 'minhash') AS t
WHERE pairs <> (SELECT count(*) FROM pairs WHERE md <= k);

-- by the cosine of the weights, against its definition; word-1 counts words,
-- word-1-2 damps them
CREATE TABLE weighed AS
SELECT p.profile, row_number() OVER () AS id, body,
       simhash(body, p.profile) AS fp, minhash(body, p.profile) AS mh,
       (SELECT sum(weight * weight) FROM simhash_features(body, p.profile))
       AS square
FROM (SELECT body || repeat(' ' || left(body, 32), v) ||
             repeat(' and so on', n % 7) AS body
      FROM texts WHERE n % 4 = 0) AS t,
     (VALUES ('word-1'), ('word-1-2'), ('word-2')) AS p (profile)
WHERE simhash(body) IS NOT NULL;
CREATE TABLE cosines AS
WITH f AS MATERIALIZED (
    SELECT w.profile, w.id, f.hash, f.weight
    FROM weighed AS w, simhash_features(w.body, w.profile) AS f)
SELECT a.profile, a.fp <~> b.fp AS d, a.mh <~> b.mh AS md,
       coalesce(p.product, 0) >= 0.7 * sqrt(a.square * b.square) AS alike
FROM weighed AS a
     JOIN weighed AS b ON a.profile = b.profile AND a.body <> b.body
     LEFT JOIN (SELECT x.id AS a, y.id AS b,
                       sum(x.weight * y.weight) AS product
                FROM f AS x JOIN f AS y USING (profile, hash)
                GROUP BY x.id, y.id) AS p ON (p.a, p.b) = (a.id, b.id);
SELECT profile, family, count(*) AS distances,
       count(DISTINCT t.recall) > 5 AS recalls_differ,
       count(*) FILTER (WHERE t.pairs <> e.pairs) AS pairs_wrong,
       count(*) FILTER (WHERE t.precision IS DISTINCT FROM digits(e.precision))
           AS precision_wrong,
       count(*) FILTER (WHERE t.recall IS DISTINCT FROM digits(e.recall))
           AS recall_wrong
FROM (VALUES ('word-1'), ('word-1-2'), ('word-2')) AS p (profile),
     (VALUES ('simhash'), ('minhash')) AS y (family),
     simhash_tune(format('SELECT body FROM weighed WHERE profile = %L',
                         profile),
                  'cosine', 0.7, profile, family) AS t,
     LATERAL (SELECT count(*) FILTER (WHERE near),
                     (count(*) FILTER (WHERE near AND alike))::float8 /
                     nullif(count(*) FILTER (WHERE near), 0),
                     (count(*) FILTER (WHERE near AND alike))::float8 /
                     count(*) FILTER (WHERE alike)
              FROM (SELECT alike, CASE family WHEN 'simhash' THEN d ELSE md END
                                  <= k AS near
                    FROM cosines AS c WHERE c.profile = p.profile) AS c)
         AS e (pairs, precision, recall)
GROUP BY profile, family ORDER BY profile COLLATE "C", family COLLATE "C";
-- the first two have the same words in the same proportion, the third not
SELECT similarity, max(pairs) AS pairs, max(recall) AS recall
FROM unnest('{jaccard,cosine}'::text[]) AS similarity,
     simhash_tune($$VALUES ('a b b'), ('b a b b b a'), ('a a b')$$,
                  profile => 'word-1', similarity => similarity, at_least => 1)
GROUP BY similarity ORDER BY similarity COLLATE "C";

----------------------------------------
-- arrays of words, and fingerprints that are given
----------------------------------------

-- arrays of words are judged as documents are that a profile cuts into them
SELECT family, similarity, count(*) AS distances,
       count(*) FILTER (WHERE (w.pairs, w.precision, w.recall)
                        IS DISTINCT FROM (d.pairs, d.precision, d.recall))
       AS wrong, count(DISTINCT w.recall) > 5 AS recalls_differ
FROM (VALUES ('simhash'), ('minhash')) AS y (family),
     (VALUES ('jaccard'), ('cosine')) AS m (similarity),
     simhash_tune($$SELECT body FROM weighed WHERE profile = 'word-1'$$,
                  profile => 'word-1', family => family,
                  similarity => similarity, at_least => 0.7) AS d
     JOIN LATERAL simhash_tune($$SELECT string_to_array(body, ' ') FROM weighed
                               WHERE profile = 'word-1'$$,
                  family => family, similarity => similarity,
                  at_least => 0.7) AS w
     USING (k)
GROUP BY family, similarity ORDER BY family, similarity;
-- fingerprints that are given are those that count
SELECT count(*) FILTER (WHERE g.pairs <> d.pairs OR g.recall <> d.recall)
       AS wrong, count(*) FILTER (WHERE z.pairs <> (SELECT count(*) FROM pairs))
       AS zero_wrong
FROM simhash_tune('SELECT body, minhash(body) FROM texts') AS g
     JOIN simhash_tune('SELECT body FROM texts', family => 'minhash') AS d
     USING (k)
     JOIN simhash_tune('SELECT body, 0::bigint FROM texts') AS z USING (k);
CREATE TABLE word_idf AS
SELECT simhash_idf_agg(string_to_array(body, ' ')) AS idf FROM texts;
SELECT max(pairs) > 0 AS some, bool_or(recommended) AS any
FROM simhash_tune($$SELECT string_to_array(body, ' '),
    simhash_tfidf(string_to_array(body, ' '), (SELECT idf FROM word_idf), 30)
    FROM texts$$);
SELECT max(pairs) AS none FROM simhash_tune('SELECT body, NULL::bigint FROM texts');
SELECT max(pairs) AS none
FROM simhash_tune($$VALUES ('{}'::text[]), (NULL), ('{}')$$);
DROP TABLE word_idf;

----------------------------------------
-- fingerprints of the query
----------------------------------------

-- what is stored as a text is a document, as in pairs and guards
SELECT bool_and(v.pairs = d.pairs) AS same
FROM simhash_tune('SELECT string_to_array(body, '' '')::varchar[] FROM texts') AS v
     JOIN simhash_tune('SELECT string_to_array(body, '' '') FROM texts') AS d USING (k);
CREATE TABLE made AS SELECT body, minhash(body, 'word-3') AS few FROM texts;
-- they may be made in any way, so advice names no family
SELECT advice FROM simhash_tune('SELECT body, few FROM made') WHERE recommended;
SELECT advice FROM simhash_tune('SELECT body, few FROM made', profile => 'word-3') WHERE recommended;
-- bit strings
ALTER TABLE made
    ADD wide bit(256) GENERATED ALWAYS AS (minhash_bits(body, 256)) STORED,
    ADD narrow bit(64) GENERATED ALWAYS AS (minhash_bits(body, 64)) STORED;
SELECT bool_and((n.pairs, n.recall) = (d.pairs, d.recall)) AS same
FROM simhash_tune('SELECT body, narrow FROM made') AS n
     JOIN simhash_tune('SELECT body FROM texts', family => 'minhash') AS d
     USING (k);
SELECT count(*), count(*) FILTER (WHERE w.pairs <> e.pairs) AS wrong,
       max(w.advice) AS advice
FROM simhash_tune('SELECT body, wide FROM made') AS w,
     LATERAL (SELECT count(*) FILTER (WHERE hamming(a.wide, b.wide) <= k)
              FROM made AS a, made AS b WHERE a.body <> b.body) AS e (pairs);
DROP TABLE made;

----------------------------------------
-- samples
----------------------------------------

-- a part of the texts gives a part of the pairs; what it says is near
SELECT count(*), bool_and(s.pairs < a.pairs) AS fewer,
       bool_and(abs(s.recall - a.recall) < 0.5) AS near
FROM simhash_tune('SELECT body FROM texts', sample => 50) AS s
     JOIN simhash_tune('SELECT body FROM texts') AS a USING (k)
WHERE k >= 8;

-- no pairs alike: nothing to recommend
SELECT count(*), count(precision), count(recall), count(comparisons),
       bool_or(recommended) AS any
FROM simhash_tune('SELECT body FROM texts WHERE n <= 20');
SELECT k, advice FROM simhash_tune('SELECT body FROM texts WHERE n <= 20')
WHERE advice IS NOT NULL;
SELECT max(pairs), count(recall) FROM simhash_tune('SELECT ''a b''::text');
SELECT max(pairs), count(recall)
FROM simhash_tune('SELECT body FROM texts WHERE false');

----------------------------------------
-- what fails
----------------------------------------

SELECT fails($$SELECT * FROM simhash_tune('SELECT n FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body, body FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body, 1 FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT ARRAY[body, NULL] FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('DROP TABLE texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('EXPLAIN SELECT body FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('DELETE FROM texts RETURNING body')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT n FROM texts WHERE false')$$);
SELECT fails($$SELECT * FROM simhash_tune(
    'INSERT INTO texts VALUES (1) RETURNING body')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT 1; SELECT 2')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', sample => 0)$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', sample => 10,
    profile => 'nonesuch')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', sample => 10,
    profile => 'word-2', family => 'md5')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', sample => 10,
    at_least => 'NaN')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts',
    similarity => 'dice')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts',
    similarity => 'none')$$);
SELECT fails($$SELECT * FROM simhash_tune(NULL)$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body, B''101'' FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body,
    CASE WHEN n % 2 = 0 THEN simhash_bits(body, 64)
    ELSE simhash_bits(body, 128) END FROM texts')$$);

DROP TABLE cosines;
DROP TABLE weighed;
DROP TABLE pairs;
DROP VIEW exact;
DROP TABLE texts;
DROP FUNCTION digits;
