--
-- profiles with a seed: every function that takes one
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

CREATE TABLE docs (id int PRIMARY KEY, body text);
INSERT INTO docs
SELECT i, string_agg('w' || (i * j * j) % (7 + i % 90), ' ' ORDER BY j)
    || CASE WHEN i % 2 = 0 THEN ' Die GRÖSSE += 北京大学' ELSE '' END
FROM generate_series(1, 100) AS i, generate_series(1, 4 + i % 25) AS j
GROUP BY i;
CREATE TABLE profiles AS
SELECT plain, plain || '-seed-' || seed AS seeded
FROM unnest('{word-1,word-2,word-2-capped,word-1-2-sqrt,char-3,symbol-2}'::text[]) AS plain,
    unnest('{1,4711,9223372036854775807}'::bigint[]) AS seed;

----------------------------------------
-- names
----------------------------------------

-- one recipe, one seed, one profile
SELECT name, (simhash_idf_stats(simhash_idf_agg('a b', name))).profile
FROM unnest('{word-2-seed-4711,word-2-2-seed-4711,word-2-2-binary-seed-4711,
    word-2-seed-0,word-2-capped-seed-0,symbol-1-2-log-seed-9223372036854775807}'::text[])
    AS name GROUP BY name ORDER BY name COLLATE "C";
SELECT name FROM unnest('{word-2-seed,word-2-seed-,word-2-seed-01,word-2-seed--1,
    word-2-seed-9223372036854775808,word-2-seed-99999999999999999999,word-2-seed-1-seed-2,
    word-2-seed-0-seed-1,word-2-seed-1-sqrt,seed-1,-seed-1,-seed-0,word-11-seed-1,
    python-simhash-seed-1,clickhouse-ngram-seed-1,java-hashcode-seed-0}'::text[]) AS name
WHERE fails(format('SELECT simhash(''a'', %L)', name)) !~ '^42704 '
   OR fails(format('SELECT minhash(ARRAY[''a''], %L)', name)) !~ '^42704 ';
SELECT fails($$SELECT simhash('a', 'word-2-seed-')$$);
-- the one that stands for words that are given is no profile of documents
SELECT fails($$SELECT simhash('a', '-seed-4711')$$);
SELECT fails($$SELECT simhash_idf_agg('a', '-seed-4711')$$);
-- none of them is listed
SELECT count(*) FROM simhash_profiles() WHERE profile ~ 'seed';

----------------------------------------
-- the features are the same, their hashes are not
----------------------------------------

SELECT count(*) AS rows, count(*) FILTER (WHERE p.feature = s.feature AND p.weight = s.weight)
    AS same, count(*) FILTER (WHERE p.hash = s.hash) AS same_hashes
FROM docs, profiles, LATERAL simhash_features(body, plain) WITH ORDINALITY AS p
    FULL JOIN LATERAL simhash_features(body, seeded) WITH ORDINALITY AS s USING (ordinality);
-- XXH3 of its bytes, as test/golden/reference.py has it
SELECT plain, seeded, to_hex(hash) AS hash
FROM profiles, simhash_features('abc', seeded) WHERE plain = 'word-1';
-- the seed 0 is none
SELECT count(*) AS wrong FROM docs, profiles
WHERE simhash(body, plain) <> simhash(body, plain || '-seed-0')
   OR minhash(body, plain) <> minhash(body, plain || '-seed-0');

----------------------------------------
-- fingerprints of documents, of both families, at all widths
----------------------------------------

SELECT count(*) AS fingerprints,
    count(*) FILTER (WHERE simhash(body, plain) = simhash(body, seeded)) AS same_simhash,
    count(*) FILTER (WHERE minhash(body, plain) = minhash(body, seeded)) AS same_minhash,
    round(avg(simhash(body, plain) <~> simhash(body, seeded)), -1) AS bits,
    round(avg(minhash(body, plain) <~> minhash(body, seeded)), -1) AS minhash_bits
FROM docs, profiles;
-- they are the sums of their features
SELECT count(*) AS wrong FROM docs, profiles,
    LATERAL (SELECT simhash_agg(hash, weight) AS by_hash,
                 simhash_agg(feature, weight, seeded) AS by_feature,
                 array_agg(feature) AS features, array_agg(weight) AS weights
             FROM simhash_features(body, seeded)) AS f
WHERE simhash(body, seeded) <> by_hash OR simhash(body, seeded) <> by_feature
   OR minhash(body, seeded) <> minhash(features, seeded)
   OR simhash_bits(features, 192, weights, seeded) <> simhash_bits(body, 192, seeded)
   OR minhash_bits(features, 192, seeded) <> minhash_bits(body, 192, seeded);
SELECT bits, count(*) FILTER (WHERE substring(simhash_bits(body, bits, seeded) FOR 64)::bigint
        <> simhash(body, seeded)) AS simhash,
    count(*) FILTER (WHERE substring(minhash_bits(body, bits, seeded) FOR 64)::bigint
        <> minhash(body, seeded)) AS minhash,
    count(*) FILTER (WHERE substring(simhash_bits(body, 1024, seeded) FOR bits)
        <> simhash_bits(body, bits, seeded)) AS wider
FROM docs, profiles, unnest('{64,128,1024}'::int[]) AS bits WHERE id < 20
GROUP BY bits ORDER BY bits;
-- what has none has none
SELECT simhash('...', 'word-2-seed-7'), minhash('', 'word-2-seed-7'),
    simhash_bits('...', 128, 'word-2-seed-7'), minhash_bits('?', 128, 'char-3-seed-7');
-- likeness stays: by the distance of both
SELECT simhash(a, p) <~> simhash(b, p) < 32 AS near, minhash(a, p) <~> minhash(b, p) < 20 AS nearer
FROM (VALUES (repeat('one two three four five ', 9) || 'six', repeat('one two three four five ', 9))) AS v (a, b),
    unnest('{word-2,word-2-seed-7}'::text[]) AS p;

----------------------------------------
-- features that are given
----------------------------------------

-- hashed as the profile hashes, also one that another program has
SELECT minhash('{a,b,c}'::text[], 'word-1') = minhash('{a,b,c}'::text[]) AS default_hash,
    minhash('{a,b,c}'::text[], 'word-1-seed-7') = minhash('a b c', 'word-1-seed-7') AS seeded,
    minhash('{a,b,c}'::text[], 'word-1-seed-7') = minhash('{c,b,a,a}'::text[], 'char-5-seed-7') AS cut,
    minhash('{a,b,c}'::text[], 'python-simhash') <> minhash('{a,b,c}'::text[]) AS foreign;
SELECT minhash_bits('{a,b,c}'::text[], 64)::bigint = minhash('{a,b,c}'::text[]) AS plain,
    minhash_bits('{a,b,c}'::text[], 64, NULL)::bigint = minhash('{a,b,c}'::text[]) AS no_profile,
    minhash_bits('{a,b,c}'::text[], profile => 'word-1-seed-7', bits => 64)::bigint
        = minhash('{a,b,c}'::text[], 'word-1-seed-7') AS seeded;
SELECT minhash('{}'::text[], 'word-1-seed-7'), minhash(NULL::text[], 'word-1-seed-7'),
    minhash('{a}'::text[], NULL), minhash_bits(NULL::text[], 64, 'word-1'),
    minhash_bits('{a}'::text[], NULL, 'word-1'), minhash_bits('{}'::text[], 64, 'word-1-seed-7');
SELECT fails($$SELECT minhash('{a}'::text[], 'nonesuch')$$);
SELECT fails($$SELECT minhash('{a,NULL}'::text[], 'word-1-seed-7')$$);
SELECT fails($$SELECT minhash_bits('{a}'::text[], 63, 'word-1-seed-7')$$);
SELECT fails($$SELECT minhash_bits('{a}'::text[], 64, 'word-1-seed-')$$);
-- a literal is a document
SELECT minhash('a b', 'word-1-seed-7') = minhash('a b'::text, 'word-1-seed-7'::text) AS document;

-- the aggregate, with NULLs, by groups, as a window, and by workers
SELECT simhash_agg(f, w, 'word-1-seed-7') = simhash_bits(array_agg(f), 64, array_agg(w), 'word-1-seed-7')::bigint AS same,
    simhash_agg(f, w, 'word-1-seed-7') <> simhash_agg(f, w) AS differs,
    simhash_agg(f, w, NULL) = simhash_agg(f, w) AS no_profile,
    simhash_agg(f, w, 'word-2-seed-0') = simhash_agg(f, w) AS no_seed,
    simhash_agg(CASE WHEN f <> 'd' THEN f END, CASE WHEN f <> 'c' THEN w END, 'word-1-seed-7')
        = simhash_bits('{a,b}', 64, '{1,2}', 'word-1-seed-7')::bigint AS nulls,
    simhash_agg(f, w, 'word-1-seed-7') FILTER (WHERE false) AS none
FROM (VALUES ('a', 1.0::float8), ('b', 2), ('c', 3.5), ('d', -1)) AS v (f, w);
CREATE TABLE features AS
SELECT i, i % 7 AS g, 'f' || i % 97 AS f, (i * 7919 % 2001 - 1000) / 64.0::float8 AS w
FROM generate_series(1, 20000) AS i;
SELECT count(*) AS frames, count(*) FILTER (WHERE moving IS DISTINCT FROM (
    SELECT simhash_bits(array_agg(f), 64, array_agg(w), 'char-3-seed-4711')::bigint
    FROM features AS o WHERE o.g = r.g AND o.i BETWEEN r.i - 35 AND r.i)) AS wrong
FROM (SELECT *, simhash_agg(f, w, 'char-3-seed-4711') OVER (
          PARTITION BY g ORDER BY i ROWS 5 PRECEDING) AS moving
      FROM features WHERE i < 500) AS r;
SELECT simhash_agg(f, w, 'char-3-seed-4711') AS alone FROM features \gset
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT plan('SELECT simhash_agg(f, w, ''char-3-seed-4711'') FROM features');
SELECT simhash_agg(f, w, 'char-3-seed-4711') = :alone AS same FROM features;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;
SELECT fails($$SELECT simhash_agg('a', 1, 'nonesuch')$$);
SELECT fails($$SELECT simhash_agg('a', 'NaN', 'word-1-seed-7')$$);
DROP TABLE features;

----------------------------------------
-- passages
----------------------------------------

SELECT count(*) AS passages, bool_and(p.start = s.start AND p.length = s.length) AS places,
    bool_and(s.fp = minhash(substr(body, s.start::int, s.length::int), 'word-2-seed-4711')) AS fingerprints,
    bool_or(p.fp = s.fp) AS same
FROM docs, LATERAL simhash_passages(body, 'word-2', 4) AS p
    JOIN LATERAL simhash_passages(body, 'word-2-seed-4711', 4) AS s USING (nr);

----------------------------------------
-- TF-IDF
----------------------------------------

CREATE TABLE learnt AS
SELECT plain, seeded, (SELECT simhash_idf_agg(body, plain) FROM docs) AS idf,
    (SELECT simhash_idf_agg(body, seeded) FROM docs) AS seeded_idf
FROM profiles WHERE seeded ~ '4711';
SELECT plain, s.profile = seeded AS profile, s.documents = p.documents AS documents,
    s.features = p.features AS features, s.unknown = p.unknown AS unknown, s.min_length
FROM learnt, simhash_idf_stats(idf) AS p, simhash_idf_stats(seeded_idf) AS s ORDER BY plain;
-- the words are as rare, and so are the keywords but for the order of equals
SELECT plain, count(*) AS documents, bool_and(same) AS weights,
    bool_or(simhash_tfidf(body, idf) = simhash_tfidf(body, seeded_idf)) AS same,
    bool_and(simhash_tfidf(body, seeded_idf) = (SELECT simhash_agg(feature, weight, seeded)
        FROM simhash_keywords(body, seeded_idf, 100000))) AS sums,
    bool_and(substring(simhash_tfidf_bits(body, seeded_idf, 128, 5) FOR 64)::bigint
        = simhash_tfidf(body, seeded_idf, 5)) AS bits
FROM learnt, docs, LATERAL (
    SELECT array_agg(weight ORDER BY weight, feature) = (
        SELECT array_agg(weight ORDER BY weight, feature) FROM simhash_keywords(body, seeded_idf, 100000)) AS same
    FROM simhash_keywords(body, idf, 100000)) AS k
GROUP BY plain ORDER BY plain;
SELECT plain, bool_and(simhash_idf_weight(idf, feature) = simhash_idf_weight(seeded_idf, feature)) AS same
FROM learnt, docs, simhash_features(body, plain) WHERE id < 20 GROUP BY plain ORDER BY plain;
-- values of one seed add up, and read what they write
SELECT bool_and((a + b)::text = whole::text AND whole::text::simhash_idf::text = whole::text) AS same
FROM profiles, LATERAL (SELECT simhash_idf_agg(body, seeded) FILTER (WHERE id % 3 = 0) AS a,
    simhash_idf_agg(body, seeded) FILTER (WHERE id % 3 > 0) AS b,
    simhash_idf_agg(body, seeded) AS whole FROM docs) AS v;
SELECT fails($$SELECT simhash_idf_agg('a', 'word-1') + simhash_idf_agg('a', 'word-1-seed-7')$$);
SELECT fails($$SELECT simhash_idf_agg('a', 'word-1-seed-8') + simhash_idf_agg('a', 'word-1-seed-7')$$);

-- of words that are given
CREATE TABLE words AS
SELECT simhash_idf_agg(string_to_array(body, ' ')) AS plain,
    simhash_idf_agg(string_to_array(body, ' '), 'word-1-seed-4711') AS seeded,
    simhash_idf_agg(string_to_array(body, ' '), 'char-5-seed-4711') AS other,
    simhash_idf_agg(string_to_array(body, ' '), 'word-1') AS no_seed,
    simhash_idf_agg(string_to_array(body, ' '), NULL) AS no_profile FROM docs;
SELECT plain::text = no_seed::text AS no_seed, plain::text = no_profile::text AS no_profile,
    seeded::text = other::text AS other, seeded::text <> plain::text AS seeded FROM words;
SELECT p.*, s.* FROM words, simhash_idf_stats(plain) AS p, simhash_idf_stats(seeded) AS s;
SELECT bool_and(simhash_idf_weight(plain, w) = simhash_idf_weight(seeded, w)) AS weights,
    bool_or(simhash_tfidf(ARRAY[w], plain) = simhash_tfidf(ARRAY[w], seeded)) AS same,
    bool_and(simhash_tfidf(ARRAY[w], seeded) = simhash_bits(ARRAY[w], 64, NULL, 'word-1-seed-4711')::bigint) AS hashes
FROM words, docs, unnest(string_to_array(body, ' ')) AS w;
SELECT bool_and(simhash_tfidf(string_to_array(body, ' '), seeded) = (
        SELECT simhash_agg(feature, weight, 'word-1-seed-4711')
        FROM simhash_keywords(string_to_array(body, ' '), seeded, 100000))) AS sums,
    bool_and(substring(simhash_tfidf_bits(string_to_array(body, ' '), seeded, 128) FOR 64)::bigint
        = simhash_tfidf(string_to_array(body, ' '), seeded)) AS bits
FROM words, docs;
-- stop words and short ones count for nothing, though hashed otherwise
SELECT simhash_tfidf('{w1,w22,w3}'::text[], simhash_idf_with(seeded, '{w1}', 3))
    = simhash_tfidf('{w22}'::text[], seeded) AS same,
    (simhash_idf_stats(simhash_idf_with(seeded, '{w1}', 3))).min_length FROM words;
SELECT seeded::text::simhash_idf::text = seeded::text AS read,
    (seeded + more)::text = (more + seeded)::text AS added,
    (simhash_idf_stats(seeded + more)).documents
FROM words, (SELECT simhash_idf_agg('{a}'::text[], 'word-2-seed-4711') AS more) AS m;
SELECT fails($$SELECT simhash_tfidf('a b', seeded) FROM words$$);
SELECT fails($$SELECT simhash_features('a b'::text, seeded) FROM words$$);
SELECT fails($$SELECT seeded + plain FROM words$$);
SELECT fails($$SELECT seeded + (SELECT simhash_idf_agg('a', 'word-1-seed-4711')) FROM words$$);
SELECT fails($$SELECT simhash_idf_agg('{a}'::text[], p) FROM unnest('{word-1-seed-1,word-1-seed-2}'::text[]) AS p$$);
SELECT fails($$SELECT simhash_idf_agg('{a}'::text[], 'nonesuch')$$);
-- weights that are given
SELECT simhash_tfidf('a b c', simhash_idf_from('{a,b,c}', '{1,2,4}', 'word-1-seed-7'))
    = simhash_bits('{a,b,c}', 64, '{1,2,4}', 'word-1-seed-7')::bigint AS same;
DROP TABLE words, learnt;

----------------------------------------
-- what differs
----------------------------------------

-- each bit is explained by the hashes of that seed
SELECT count(*) AS bits, bool_and(differs = ((simhash(a, p) >> bit) & 1 <> (simhash(b, p) >> bit) & 1)) AS differs,
    bool_and(margin_a = (SELECT sum(CASE WHEN (hash >> bit) & 1 = 1 THEN weight ELSE -weight END)
                         FROM simhash_features(a, p))) AS margins
FROM (VALUES ('the quick brown fox', 'the quick brown cat', 'word-1-2-seed-4711')) AS v (a, b, p),
    simhash_explain(a, b, p);

-- documents are compared by their features, whatever the seed
SELECT count(*) AS pairs, bool_and(simhash_jaccard(a.body, b.body, plain) = simhash_jaccard(a.body, b.body, seeded)
    AND simhash_cosine(a.body, b.body, plain) = simhash_cosine(a.body, b.body, seeded)
    AND simhash_containment(a.body, b.body, plain) = simhash_containment(a.body, b.body, seeded)) AS same
FROM docs AS a JOIN docs AS b ON b.id = a.id + 9, profiles;
-- of other programs by the bytes that these hash, however they are cut into words
SELECT simhash_jaccard('abcd efghi jklm', 'abcde fghi jklm', 'clickhouse-word-shingle') AS bytes,
    simhash_jaccard('ABCD efgh ijkl', 'abcd efgh ijkl', 'clickhouse-word-shingle-ci') AS any_case,
    simhash_jaccard('ABCD efgh ijkl', 'abcd efgh ijkl', 'clickhouse-word-shingle') AS this_case,
    simhash_jaccard('one two three four five', 'one two three four six', 'seomoz-shingle') AS shingles;

----------------------------------------
-- tables: tune, report, guard
----------------------------------------

CREATE TABLE texts (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body, 'word-1-seed-8619240217')) STORED,
    wide bit(128) GENERATED ALWAYS AS (simhash_bits(body, 128, 'word-2-capped-seed-8619240217')) STORED);
INSERT INTO texts SELECT id, body FROM docs;
INSERT INTO texts SELECT id + 1000, body || ' more' FROM docs WHERE id % 10 = 0;
CREATE INDEX ON texts USING hamming (fp);

SELECT bool_or(recommended) AS recommends, sum(pairs) > 0 AS pairs,
    substring(string_agg(advice, ' '), 'with profile [^:]*') AS verify
FROM simhash_tune('SELECT body FROM texts', profile => 'word-1-seed-8619240217', family => 'minhash');
-- the fingerprints of the table are those that the seed makes, and none else
SELECT count(*) FILTER (WHERE a.pairs <> b.pairs) AS wrong, count(*) > 5 AS rows
FROM simhash_tune('SELECT body FROM texts', profile => 'word-1-seed-8619240217', family => 'minhash') AS a
    JOIN simhash_tune('SELECT body, fp FROM texts') AS b USING (k);

SELECT count(*) FILTER (WHERE t::text ~ '8619240217|seed') AS told FROM simhash_tune('SELECT body, fp FROM texts') AS t;

-- the report verifies by the profile, and does not tell the seed
SELECT section, item, value FROM simhash_report('texts', 'fp', 8) WHERE section ~ 'table|advice' OR item ~ 'verif';
SELECT count(*) > 10 AS rows, count(*) FILTER (WHERE r::text ~ '8619240217|seed') AS told
FROM (SELECT * FROM simhash_report('texts', 'fp', 8)
      UNION ALL SELECT * FROM simhash_report('texts', 'wide', 8)
      UNION ALL SELECT * FROM simhash_report('texts', 'fp', 8, document => 'body')
      UNION ALL SELECT * FROM simhash_report('texts', 'wide', 8, document => 'body', at_least => 0.5)) AS r;
SELECT simhash_dedup_sql('texts', f, 8, document => 'body') ~ '8619240217|seed' AS told
FROM unnest('{fp,wide}'::text[]) AS f;
SELECT substring(simhash_dedup_sql('texts', 'fp', 8, document => 'body'), 'similarity => [^)]*') AS verifies;
-- a profile that is asked for is said as it was
SELECT count(*) FILTER (WHERE value ~ 'word-1-seed-5') > 0 AS said
FROM simhash_report('texts', 'fp', 8, document => 'body', profile => 'word-1-seed-5');
SELECT count(*), count(*) FILTER (WHERE simhash_jaccard(a.body, b.body, 'word-1') >= 0.8) AS similar
FROM simhash_pairs('SELECT id, fp, body FROM texts', 8, 'body', 'jaccard', 0.8, 'word-1-seed-3') AS p
    JOIN texts AS a ON a.id = p.a JOIN texts AS b ON b.id = p.b;
SELECT array_agg(p ORDER BY p.*) = (SELECT array_agg(q ORDER BY q.*)
        FROM simhash_pairs('SELECT id, fp, body FROM texts', 8, 'body', 'jaccard', 0.8, 'word-1') AS q) AS same
FROM simhash_pairs('SELECT id, fp, body FROM texts', 8, 'body', 'jaccard', 0.8, 'word-1-seed-3') AS p;

-- a guard takes the profile from the generated column
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON texts FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '24', 'similarity=jaccard', 'at_least=0.7', 'document=body');
INSERT INTO texts VALUES (5001, 'one two three four five six seven eight nine ten');
INSERT INTO texts VALUES (5002, 'ten nine eight seven six five four three two one'); -- error
INSERT INTO texts VALUES (5003, 'one two three four five six seven eight nine other'); -- error
INSERT INTO texts VALUES (5004, 'one two three four five six seven other words here');
-- one that fills, without a seed, and one with a seed in its own option
CREATE TABLE filled (id int PRIMARY KEY, body text, fp bigint);
CREATE INDEX ON filled USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON filled FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'fill=simhash', 'document=body', 'profile=word-1-seed-4711');
INSERT INTO filled VALUES (1, 'one two three');
SELECT fp = simhash(body, 'word-1-seed-4711') AS filled FROM filled;
INSERT INTO filled VALUES (2, 'three two one'); -- error

-- clusters are of the profile that the generated column has, too
DROP TRIGGER guard ON texts;
CALL simhash_add_clusters('texts', 'fp', 8, document => 'body', similarity => 'jaccard');
SELECT pg_get_expr(polqual, polrelid) ~ $$'profile'::text, 'word-1'::text$$ AS profile
FROM pg_policy WHERE polrelid = 'texts_clusters'::regclass;
INSERT INTO texts VALUES (6001, 'apples pears plums'), (6002, 'plums apples pears'), (6003, 'apples pears cherries');
SELECT a.id, b.id FROM texts AS a JOIN texts AS b USING (cluster) WHERE a.id > 6000 AND a.id < b.id;

DROP TABLE docs, profiles, texts, filled;

----------------------------------------
-- so many, and no more, in a session
----------------------------------------

\c -
\pset null NULL
SELECT fails($$SELECT count(simhash('a', 'word-1-seed-' || n)) FROM generate_series(1, 70000) AS n$$);
SELECT simhash('a b') IS NOT NULL AS without, simhash('a', 'word-1-seed-65000') IS NOT NULL AS used,
    simhash('a', 'word-1-count-seed-65000') IS NOT NULL AS of_another_name;
SELECT fails($$SELECT simhash('a', 'word-1-seed-70001')$$);
-- an error in the name is told as one
SELECT fails($$SELECT simhash('a', 'word-1-sead-70001')$$) ~ '^42704 ' AS does_not_exist;
-- documents can still be compared
SELECT simhash_jaccard('a b', 'a c', 'word-1') AS jaccard, simhash_cosine('a b', 'a b', 'char-3') AS cosine,
    simhash_jaccard('a b', 'a c', 'word-1-seed-65000') AS seeded;
\c -
SELECT simhash('a', 'word-1-seed-70001') IS NOT NULL AS of_another_session;
