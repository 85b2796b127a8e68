--
-- tune.c: simhash_tune
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- what is recommended is told in a notice, of each call
SET client_min_messages = warning;

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

SELECT t.k, t.pairs, t.pairs = e.pairs AS pairs_right,
       round(t.precision::numeric, 3) AS precision,
       t.precision IS NOT DISTINCT FROM e.precision AS precision_right,
       round(t.recall::numeric, 3) AS recall,
       t.recall = e.recall AS recall_right,
       abs(t.f1 - 2 * t.precision * t.recall / (t.precision + t.recall)) < 1e-9
       AS f1_right, recommended
FROM simhash_tune('SELECT body FROM texts') AS t,
     LATERAL (SELECT count(*) FILTER (WHERE d <= k),
                     (count(*) FILTER (WHERE d <= k AND alike))::float8 /
                     nullif(count(*) FILTER (WHERE d <= k), 0),
                     (count(*) FILTER (WHERE d <= k AND alike))::float8 /
                     count(*) FILTER (WHERE alike)
              FROM pairs) AS e(pairs, precision, recall)
ORDER BY k;
-- verified, what is found is alike; each document found is compared
SELECT count(*) AS distances, bool_or(verified_f1 > f1 + 0.05) AS gains,
       count(*) FILTER (WHERE abs(verified_f1 - 2 * recall / (1 + recall)) > 1e-9) AS f1_wrong,
       count(*) FILTER (WHERE abs(verifications - pairs::float8 /
           (SELECT count(*) FROM texts WHERE simhash(body) IS NOT NULL)) > 1e-9) AS verifications_wrong
FROM simhash_tune('SELECT body FROM texts');
-- what to search, and what to verify
SET client_min_messages = notice;
SELECT k FROM simhash_tune('SELECT body FROM texts') WHERE recommended;
SELECT k FROM simhash_tune('SELECT body FROM texts', family => 'minhash', measure => 'cosine') WHERE recommended;
SET client_min_messages = warning;
SELECT count(*) AS wrong
FROM simhash_tune('SELECT body::varchar FROM texts', 1000, 'word-2',
                  'minhash') AS t
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
       count(*) FILTER (WHERE t.precision IS DISTINCT FROM e.precision)
           AS precision_wrong,
       count(*) FILTER (WHERE t.recall IS DISTINCT FROM e.recall)
           AS recall_wrong
FROM (VALUES ('word-1'), ('word-1-2'), ('word-2')) AS p (profile),
     (VALUES ('simhash'), ('minhash')) AS y (family),
     simhash_tune(format('SELECT body FROM weighed WHERE profile = %L',
                         profile),
                  1000, profile, family, 0.7, 'cosine') AS t,
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
SELECT measure, max(pairs) AS pairs, round(max(recall)::numeric, 3) AS recall
FROM unnest('{jaccard,cosine}'::text[]) AS measure,
     simhash_tune($$VALUES ('a b b'), ('b a b b b a'), ('a a b')$$,
                  profile => 'word-1', similarity => 1, measure => measure)
GROUP BY measure ORDER BY measure COLLATE "C";

----------------------------------------
-- arrays of words, and fingerprints that are given
----------------------------------------

-- arrays of words are judged as documents are that a profile cuts into them
SELECT family, measure, count(*) AS distances,
       count(*) FILTER (WHERE (w.pairs, w.precision, w.recall, w.f1)
                        IS DISTINCT FROM (d.pairs, d.precision, d.recall, d.f1))
       AS wrong, count(DISTINCT w.recall) > 5 AS recalls_differ
FROM (VALUES ('simhash'), ('minhash')) AS y (family),
     (VALUES ('jaccard'), ('cosine')) AS m (measure),
     simhash_tune($$SELECT body FROM weighed WHERE profile = 'word-1'$$,
                  profile => 'word-1', family => family, similarity => 0.7,
                  measure => measure) AS d
     JOIN LATERAL simhash_tune($$SELECT string_to_array(body, ' ') FROM weighed
                               WHERE profile = 'word-1'$$,
                  family => family, similarity => 0.7, measure => measure) AS w
     USING (k)
GROUP BY family, measure ORDER BY family, measure;
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
-- samples
----------------------------------------

-- a part of the texts gives a part of the pairs; what it says is near
SELECT count(*), bool_and(s.pairs < a.pairs) AS fewer,
       bool_and(abs(s.recall - a.recall) < 0.5) AS near
FROM simhash_tune('SELECT body FROM texts', 50) AS s
     JOIN simhash_tune('SELECT body FROM texts') AS a USING (k)
WHERE k >= 8;

-- no pairs alike: nothing to recommend
SELECT count(*), count(precision), count(recall), count(f1),
       bool_or(recommended) AS any
FROM simhash_tune('SELECT body FROM texts WHERE n <= 20');
SELECT max(pairs), count(recall) FROM simhash_tune('SELECT ''a b''::text');
SELECT max(pairs), count(recall)
FROM simhash_tune('SELECT body FROM texts WHERE false');
SELECT count(*) FROM simhash_tune(NULL);

----------------------------------------
-- what fails
----------------------------------------

SELECT fails($$SELECT * FROM simhash_tune('SELECT n FROM texts')$$);
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
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', 0)$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', 10,
    'nonesuch')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', 10,
    'word-2', 'md5')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts', 10,
    'word-2', 'simhash', 'NaN')$$);
SELECT fails($$SELECT * FROM simhash_tune('SELECT body FROM texts',
    measure => 'dice')$$);

DROP TABLE cosines;
DROP TABLE weighed;
DROP TABLE pairs;
DROP VIEW exact;
DROP TABLE texts;
