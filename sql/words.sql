--
-- words that are given as arrays: what documents have, they have
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- 100 arrays of words, some of which come again, in them and in others
CREATE TABLE docs AS
SELECT n AS id, ARRAY(SELECT CASE WHEN i % 7 = 0 THEN '的'
                             ELSE (ARRAY['北京', '大学', 'w', 'Wort', '数据库'])
                                  [1 + (n * i) % 5] || (i * i + n) % (2 + n % 9)
                             END
                      FROM generate_series(1, 5 + n % 40) AS i) AS words
FROM generate_series(1, 100) AS n;
INSERT INTO docs VALUES (101, '{}'), (102, NULL), (103, '{的,的}');

----------------------------------------
-- simhash_idf_agg(text[])
----------------------------------------

CREATE TABLE learnt AS SELECT simhash_idf_agg(words) AS idf FROM docs;
SELECT s.* FROM learnt, simhash_idf_stats(idf) AS s;
-- each word by the definition, and one never seen
SELECT count(*) AS words, bool_and(abs(simhash_idf_weight(idf, word) -
        (ln(103.0 / (1 + df)) + 1)) < 1e-5) AS right
FROM learnt, (SELECT word, count(DISTINCT id) AS df FROM docs, unnest(words)
              AS word GROUP BY word UNION ALL VALUES ('nie', 0)) AS d;
-- parts add up; parallel workers learn the same
SELECT (a + b)::text = idf::text AS parts
FROM learnt, (SELECT simhash_idf_agg(words) FILTER (WHERE id % 3 = 0) AS a,
              simhash_idf_agg(words) FILTER (WHERE id % 3 > 0) AS b
              FROM docs) AS p;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan('SELECT simhash_idf_agg(words) FROM docs');
SELECT simhash_idf_agg(words)::text = (SELECT idf::text FROM learnt) AS same
FROM docs;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT simhash_idf_agg(w) AS nothing FROM (VALUES (NULL::text[])) AS v (w)
WHERE false;
SELECT fails($$SELECT simhash_idf_agg(ARRAY['a', NULL])$$);
SELECT fails($$SELECT simhash_idf_agg(ARRAY[['a'], ['b']])$$);

-- documents and words are not mixed up
SELECT fails($$SELECT simhash_tfidf('北京大学'::text, idf) FROM learnt$$);
SELECT fails($$SELECT simhash_tfidf('北京大学'::text, idf, 3) FROM learnt$$);
SELECT fails($$SELECT simhash_keywords('北京大学'::text, idf, 3) FROM learnt$$);
SELECT fails($$SELECT idf + (SELECT simhash_idf_agg('a'::text, 'word-1'))
    FROM learnt$$);
-- words joined by blanks teach characters: no longer unnoticed
CREATE TABLE joined AS
SELECT simhash_idf_agg(array_to_string(words, ' '), 'word-1') AS idf FROM docs;
SELECT fails($$SELECT simhash_tfidf('{的,北京1}'::text[], idf) FROM joined$$);
SELECT fails($$SELECT simhash_keywords('{北京1}'::text[], idf, 1) FROM joined$$);
SELECT fails($$SELECT simhash_features(ARRAY[repeat('数', 100000)], idf)
    FROM joined$$);
-- what the profile can have as a feature is welcome
SELECT simhash_tfidf('{的,w,wort,Émile}'::text[], idf) IS NOT NULL AS words
FROM joined;
SELECT simhash_tfidf('{北京}'::text[], simhash_idf_agg('北京 大学', 'word-2'))
    IS NOT NULL AS pair;

----------------------------------------
-- simhash_idf_with
----------------------------------------

CREATE TABLE chosen AS
SELECT simhash_idf_with(idf, '{的,w0,nie}', 2, 'mean') AS idf FROM learnt;
SELECT s.* FROM chosen, simhash_idf_stats(idf) AS s;
SELECT word, simhash_idf_weight(c.idf, word) AS chosen,
    simhash_idf_weight(l.idf, word) AS before
FROM chosen AS c, learnt AS l, unnest('{的,w0,nie,w,w1,北,北京1}'::text[]) AS word;
-- the mean and the median of all words, by their definitions
SELECT abs((s).unknown - mean) < 1e-4 AS mean, (m).unknown = median AS median
FROM (SELECT simhash_idf_stats(simhash_idf_with(idf, unknown => 'mean')) AS s,
             simhash_idf_stats(simhash_idf_with(idf, unknown => 'median')) AS m,
             idf FROM learnt) AS v,
     LATERAL (SELECT avg(w) AS mean,
                     (array_agg(w ORDER BY w))[1 + count(*) / 2] AS median
              FROM (SELECT DISTINCT word, simhash_idf_weight(idf, word) AS w
                    FROM docs, unnest(words) AS word) AS d) AS x;
SELECT (simhash_idf_stats(simhash_idf_with(idf, unknown => '0.5'))).unknown,
    simhash_tfidf('{nie}'::text[], simhash_idf_with(idf, unknown => '0')) AS no_word
FROM learnt;
-- without choices the weights stay; choices can be made one after another
SELECT bool_and(simhash_tfidf(words, w) IS NOT DISTINCT FROM
                simhash_tfidf(words, idf)) AS same
FROM docs, learnt, simhash_idf_with(idf) AS w;
SELECT simhash_idf_with(simhash_idf_with(simhash_idf_with(idf, unknown => 'mean'),
    '{的,w0}', 2), '{nie,的}')::text = (SELECT idf::text FROM chosen) AS in_turn
FROM learnt;
-- of documents too, but a shortest word
SELECT simhash_tfidf('the fox'::text, simhash_idf_with(idf, '{the}')) =
    simhash_tfidf('fox'::text, idf) AS stopped
FROM (SELECT simhash_idf_agg('the fox'::text, 'word-1') AS idf OFFSET 0) AS i;
SELECT simhash_idf_with(NULL, '{a}') AS nothing;
-- the empty word has no characters
SELECT min_length, simhash_tfidf('{"",cat}'::text[], idf) = simhash_tfidf('{cat}'::text[], idf) AS left_out,
    simhash_tfidf('{"",é}'::text[], idf) IS NULL AS none, (simhash_idf_stats(idf)).min_length
FROM (SELECT min_length, simhash_idf_with(simhash_idf_from('{cat,é,""}', '{1,2,3}'), min_length => min_length) AS idf
    FROM (VALUES (NULL), (0), (1), (2)) AS v (min_length)) AS w;
SELECT fails($$SELECT simhash_idf_with(idf, min_length => 2) FROM joined$$);
SELECT fails($$SELECT simhash_idf_with(idf, min_length => 256) FROM learnt$$);
SELECT fails($$SELECT simhash_idf_with(idf, min_length => -1) FROM learnt$$);
SELECT fails($$SELECT simhash_idf_with(idf, unknown => 'most') FROM learnt$$);
SELECT fails($$SELECT simhash_idf_with(idf, unknown => '1.5x') FROM learnt$$);
SELECT fails($$SELECT simhash_idf_with(idf, unknown => '') FROM learnt$$);
SELECT fails($$SELECT simhash_idf_with(idf, unknown => 'nan') FROM learnt$$);
SELECT fails($$SELECT simhash_idf_with(idf, unknown => '-1') FROM learnt$$);
SELECT fails($$SELECT simhash_idf_with(idf, '{a,NULL}') FROM learnt$$);
SELECT fails($$SELECT idf + idf FROM chosen$$);

-- such a value is written and read like any other
SELECT idf::text::simhash_idf::text = idf::text AS text FROM chosen
UNION ALL SELECT idf::text::simhash_idf::text = idf::text FROM learnt;
-- learnt from words, it has no shortest one
SELECT fails(format('SELECT %L::simhash_idf', overlay(idf::text PLACING '02'
    FROM 9 FOR 2))) FROM learnt;

----------------------------------------
-- simhash_features
----------------------------------------

SELECT * FROM simhash_features('{b,a,b,B,的}'::text[]);
SELECT feature, weight FROM chosen,
    simhash_features('{的,w1,大学1,w1,w,未知}'::text[], idf);
SELECT count(*) FROM simhash_features('{}'::text[]);
SELECT count(*) FROM simhash_features(NULL::text[]);
SELECT fails($$SELECT simhash_features(ARRAY['a', NULL])$$);
-- they add up to the fingerprint, with and without idf
SELECT count(*) AS documents,
    count(*) FILTER (WHERE simhash(words) IS DISTINCT FROM
        (SELECT simhash_agg(feature, weight) FROM simhash_features(words)))
    AS wrong,
    count(*) FILTER (WHERE simhash_tfidf(words, idf) IS DISTINCT FROM
        (SELECT simhash_agg(hash, weight) FROM simhash_features(words, idf)))
    AS idf_wrong
FROM docs, (TABLE learnt UNION ALL TABLE chosen) AS i;
-- lexemes
SELECT * FROM simhash_features(setweight('a:1'::tsvector, 'A') || 'a:2 b:1'
                               || strip('c:1'::tsvector), '{1,2,4,8}');
SELECT simhash(v) = (SELECT simhash_agg(feature, weight)
                     FROM simhash_features(v)) AS adds_up
FROM to_tsvector('english', 'The fat rats, and the fattest of rats') AS v;
SELECT fails($$SELECT simhash_features('a'::tsvector, '{1,2}')$$);

----------------------------------------
-- simhash_keywords
----------------------------------------

-- the best by weight, without stop words and words too short
SELECT k.* FROM chosen, simhash_keywords(
    '{的,w1,大学1,w1,w,w0,未知,北}'::text[], idf, 10) AS k;
SELECT count(*) AS documents, bool_and(k.listed = b.listed) AS right,
    bool_and(simhash_tfidf(words, idf, 4) IS NOT DISTINCT FROM k.fp) AS adds_up
FROM chosen, docs, LATERAL (
    SELECT array_agg(feature) AS listed, simhash_agg(feature, weight) AS fp
    FROM simhash_keywords(words, idf, 4)) AS k,
    LATERAL (SELECT array_agg(word ORDER BY weight DESC, h) AS listed
             FROM (SELECT word, count(*) * simhash_idf_weight(idf, word) AS weight,
                   (SELECT mixed(hash) FROM simhash_features(ARRAY[word])) AS h
                   FROM unnest(words) AS word
                   WHERE word NOT IN ('的', 'w0', 'nie') AND length(word) > 1
                   GROUP BY word ORDER BY weight DESC, h LIMIT 4) AS s) AS b;

----------------------------------------
-- simhash_explain
----------------------------------------

-- margins are the sums, features those that carry the difference
CREATE TABLE explained AS
SELECT a.id, a.words AS a, b.words AS b, i.idf, e.*
FROM (SELECT idf FROM learnt UNION ALL SELECT NULL) AS i, docs AS a
    JOIN docs AS b ON b.id = a.id + 5, simhash_explain(a.words, b.words, i.idf, 2)
    AS e
WHERE a.id <= 20;
CREATE FUNCTION fp(w text[], i simhash_idf) RETURNS bigint LANGUAGE sql
RETURN CASE WHEN i IS NULL THEN simhash(w) ELSE simhash_tfidf(w, i) END;
SELECT count(*) AS bits,
    count(*) FILTER (WHERE margin_a <> (
        SELECT sum(CASE WHEN hash >> bit & 1 = 1 THEN weight ELSE -weight END)
        FROM simhash_features(a, idf))) AS margins_wrong,
    count(*) FILTER (WHERE differs <>
        ((fp(a, idf) # fp(b, idf)) >> bit & 1 = 1)) AS differs_wrong,
    count(*) FILTER (WHERE differs AND features <> (
        SELECT array_agg(feature ORDER BY abs(w) DESC, h) FROM (
            SELECT feature, sum(w) AS w, min(hash::numeric + CASE WHEN hash < 0
                   THEN 2::numeric ^ 64 ELSE 0 END) AS h
            FROM (SELECT feature, weight AS w, hash FROM simhash_features(a, idf)
                  UNION ALL
                  SELECT feature, -weight, hash FROM simhash_features(b, idf)) AS u
            GROUP BY feature, hash
            HAVING sum(w) <> 0) AS d
        WHERE (w > 0) = (((SELECT hash FROM simhash_features(ARRAY[feature]))
                          >> bit & 1 = 1) = (margin_a > margin_b)))
        [1:2]) AS features_wrong
FROM explained;
SELECT count(*) AS rows, count(margin_a) AS a, count(margin_b) AS b,
    count(differs) AS differ
FROM simhash_explain('{}'::text[], '{a}'::text[]);
SELECT count(*) FROM simhash_explain(NULL::text[], '{a}');
SELECT fails($$SELECT simhash_explain('{a}'::text[], '{b}', NULL, 1001)$$);

----------------------------------------
-- parameters whose types the client does not tell
----------------------------------------

PREPARE a2 AS SELECT count(*) FROM simhash_explain($1, $2, $3, $4);
PREPARE a3 AS SELECT count(*) FROM simhash_features($1, $2);
PREPARE a4 AS SELECT count(*) FROM simhash_features($1);
PREPARE a6 AS SELECT simhash_idf_agg($1);
PREPARE a7 AS SELECT simhash_idf_with($1, $2, $3, $4);
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
DEALLOCATE ALL;

DROP TABLE docs, learnt, joined, chosen, explained;
DROP FUNCTION fp;
