--
-- idf.c, tfidf.c: simhash_idf, and features weighted by it
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

CREATE TABLE corpus (id int, body text);
INSERT INTO corpus
SELECT i, string_agg('w' || (i * j * j) % (7 + i % 90), ' ')
    || CASE WHEN i % 2 = 0 THEN ' Die GRÖSSE 北京大学' ELSE '' END
FROM generate_series(1, 300) AS i, generate_series(1, 1 + i % 25) AS j
GROUP BY i;
INSERT INTO corpus VALUES (301, ''), (302, '...'), (303, NULL);

-- document frequencies and weights, by their definition
CREATE TEMP TABLE df AS
SELECT profile, feature, f.hash, count(*) AS df
FROM corpus,
    unnest('{word-1,word-1-2,word-2,word-2-capped,char-3,python-simhash}'::text[])
        AS profile,
    simhash_features(body, profile) AS f
GROUP BY profile, feature, f.hash;
ANALYZE df;
SELECT mixed(1) = 6238072747940578789 AS mixed;
CREATE TEMP TABLE places AS SELECT hash, mixed(hash) AS place
FROM (SELECT DISTINCT hash FROM df) AS h;
ANALYZE places;
CREATE FUNCTION idf_of(df bigint) RETURNS float8 LANGUAGE sql AS $$
    SELECT floor((ln(303.0::float8 / (1 + df)) + 1) * 65536 + 0.5) / 65536
$$;

ANALYZE corpus;

CREATE TABLE learnt AS
SELECT profile, simhash_idf_agg(body, profile) AS idf
FROM corpus,
    unnest('{word-1,word-1-2,word-2,word-2-capped,char-3,python-simhash}'::text[])
        AS profile
GROUP BY profile;

----------------------------------------
-- simhash_idf_agg, simhash_idf_stats, simhash_idf_weight
----------------------------------------

SELECT l.profile, s.profile = l.profile AS same, s.documents,
    s.features = (SELECT count(*) FROM df WHERE df.profile = l.profile)
        AS features,
    s.unknown = idf_of(0) AS unknown
FROM learnt AS l, simhash_idf_stats(idf) AS s
ORDER BY l.profile COLLATE "C";
SELECT profile, count(*) > 50 AS many,
    bool_and(simhash_idf_weight(idf, feature) = idf_of(df)) AS same
FROM df JOIN learnt USING (profile) GROUP BY profile
ORDER BY profile COLLATE "C";
SELECT simhash_idf_weight(idf, 'never seen') = idf_of(0) AS unknown
FROM learnt WHERE profile = 'word-1';
-- the default profile
SELECT simhash_idf_agg(body)::text = simhash_idf_agg(body, NULL)::text AS same,
    (SELECT profile FROM simhash_idf_stats(simhash_idf_agg(body)))
        = (SELECT profile FROM simhash_profiles() WHERE is_default) AS profile
FROM corpus;
-- the same from any order
SELECT simhash_idf_agg(body, 'word-1' ORDER BY id DESC)::text
    = simhash_idf_agg(body, 'word-1' ORDER BY body)::text AS same FROM corpus;
-- nothing learnt, nothing to learn from
SELECT simhash_idf_agg(body) AS no_rows FROM corpus WHERE id < 0;
SELECT s.* FROM simhash_idf_stats((SELECT simhash_idf_agg(body, 'word-1')
    FROM corpus WHERE id = 303)) AS s;

SELECT fails($$SELECT simhash_idf_agg('a', 'nonesuch')$$);
SELECT fails($$SELECT simhash_idf_agg('a', p)
    FROM unnest('{word-1,word-2}'::text[]) AS p$$);

----------------------------------------
-- values add up
----------------------------------------

SELECT (a + b)::text = whole::text AS added, (b + a)::text = whole::text
    AS either_way, merged::text = whole::text AS merged
FROM (SELECT simhash_idf_agg(body, 'word-1') FILTER (WHERE id % 3 = 0) AS a,
          simhash_idf_agg(body, 'word-1') FILTER (WHERE id % 3 > 0) AS b,
          simhash_idf_agg(body, 'word-1') AS whole FROM corpus) AS v,
    (SELECT simhash_idf_agg(part) AS merged
     FROM (SELECT simhash_idf_agg(body, 'word-1') AS part
           FROM corpus GROUP BY id % 7) AS p) AS m;
SELECT simhash_idf_agg(idf) AS nothing FROM learnt WHERE false;
SELECT fails($$SELECT a.idf + b.idf FROM learnt AS a, learnt AS b
    WHERE a.profile = 'word-1' AND b.profile = 'char-3'$$);
-- parallel workers
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT plan('SELECT simhash_idf_agg(body, ''word-1'') FROM corpus');
SELECT simhash_idf_agg(body, 'word-1')::text
    = (SELECT idf::text FROM learnt WHERE profile = 'word-1') AS same
FROM corpus;
SELECT count(*) FILTER (WHERE simhash_tfidf(body, idf) IS NOT NULL) AS rows
FROM corpus, learnt WHERE profile = 'word-1';
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
RESET max_parallel_workers_per_gather;

----------------------------------------
-- simhash_tfidf(document, idf [, top_k]), simhash_keywords
----------------------------------------

-- TF-IDF by its definition
CREATE TEMP TABLE tfidf AS
SELECT l.profile, c.id, f.feature, f.hash, f.weight * idf_of(df) AS weight,
    row_number() OVER (PARTITION BY l.profile, c.id
        ORDER BY f.weight * idf_of(df) DESC, place) AS rank
FROM learnt AS l, corpus AS c, simhash_features(c.body, l.profile) AS f, df,
    places
WHERE df.profile = l.profile AND df.hash = f.hash AND places.hash = f.hash;
CREATE INDEX ON tfidf (profile, id, rank);
ANALYZE tfidf;

SELECT l.profile, count(*) AS documents, bool_and(simhash_tfidf(body, idf)
    IS NOT DISTINCT FROM (SELECT simhash_agg(hash, weight) FROM tfidf AS t
                          WHERE (t.profile, t.id) = (l.profile, c.id)))
    AS same
FROM learnt AS l, corpus AS c
WHERE body <> '' AND body <> '...'
GROUP BY l.profile ORDER BY l.profile COLLATE "C";
SELECT l.profile, k, bool_and(simhash_tfidf(body, idf, k)
    IS NOT DISTINCT FROM (SELECT simhash_agg(hash, weight) FROM tfidf AS t
                          WHERE (t.profile, t.id) = (l.profile, c.id)
                              AND rank <= k)) AS same
FROM learnt AS l, corpus AS c, unnest('{1,7,1000}'::int[]) AS k
WHERE body <> '' AND body <> '...'
GROUP BY l.profile, k ORDER BY l.profile COLLATE "C", k;
SELECT l.profile, bool_and((SELECT array_agg((feature, weight)::text)
        FROM simhash_keywords(body, idf, 7))
    = (SELECT array_agg((feature, weight)::text ORDER BY rank)
       FROM tfidf AS t
       WHERE (t.profile, t.id) = (l.profile, c.id) AND rank <= 7)) AS same
FROM learnt AS l, corpus AS c
WHERE body <> '' AND body <> '...' AND l.profile <> 'char-3'
GROUP BY l.profile ORDER BY l.profile COLLATE "C";
-- keywords are what is added up
SELECT bool_and(simhash_tfidf(body, idf, 5) = (
    SELECT simhash(array_agg(feature), array_agg(weight))
    FROM simhash_keywords(body, idf, 5))) AS same
FROM learnt, corpus WHERE profile = 'word-1-2' AND body ~ 'w';
SELECT * FROM simhash_keywords('Die Grösse w1 w1 unheard', (SELECT idf
    FROM learnt WHERE profile = 'word-1'), 3);
-- of more than a million features, c d is not the heaviest of the first million
SELECT profile, simhash_tfidf(body, idf, 1) = simhash('{c d}'::text[], '{6}') AS same
FROM unnest('{word-2-capped,word-2,word-1-2}'::text[]) AS profile,
    simhash_idf_from('{a b,c d,a,b,c,d,f,g,h,i}', '{5,3,0,0,0,0,0,0,0,0}',
        profile) AS idf,
    (SELECT 'a b c d ' || repeat('f g h i j k l m n o ', 110000) || ' c d')
        AS d(body);
-- 80000 for b, in 1 / 65536, is more than 32 bits hold
SELECT simhash_tfidf('a b b b b c d e f g h', idf, 1)
    = simhash('{b}'::text[], '{1}') AS same
FROM simhash_idf_from('{a,b,c,d,e,f,g,h}', '{30000,20000,1,1,1,1,1,1}',
    'word-1') AS idf;
-- no feature, no fingerprint
SELECT simhash_tfidf('...', idf) AS nothing, simhash_tfidf('...', idf, 5) AS top,
    (SELECT count(*) FROM simhash_keywords('...', idf, 5)) AS keywords
FROM learnt WHERE profile = 'word-1';
SELECT simhash_tfidf(NULL::text, idf) AS no_document,
    simhash_tfidf('a', NULL::simhash_idf) AS no_idf
FROM learnt WHERE profile = 'word-1';
SELECT fails($$SELECT simhash_tfidf('a', idf, 0) FROM learnt$$);
SELECT fails($$SELECT simhash_tfidf('a', idf, -1) FROM learnt$$);
SELECT fails($$SELECT simhash_keywords('a', idf, 0) FROM learnt$$);

-- a backend keeps four values; here are eight, in turn, in and out of TOAST
SELECT count(*) AS rows, bool_and(f = simhash_tfidf(body, plain)) AS same
FROM (SELECT id, profile, body, simhash_tfidf(body, idf) AS f,
          simhash_idf_in(idf::text::cstring) AS plain
      FROM corpus, learnt WHERE id < 20 AND body ~ 'w'
      ORDER BY id, profile) AS v;
-- a value that changes between two statements, and within one
UPDATE learnt SET idf = (SELECT simhash_idf_agg(body, 'word-1')
    FROM corpus WHERE id < 100) WHERE profile = 'word-1';
SELECT documents FROM learnt, simhash_idf_stats(idf)
WHERE learnt.profile = 'word-1';
SELECT count(DISTINCT simhash_idf_weight(idf, 'w1')) AS weights
FROM (SELECT simhash_idf_agg(body, 'word-1') AS idf
      FROM corpus GROUP BY id % 20) AS v;

----------------------------------------
-- simhash_idf_from: weights that are given
----------------------------------------

CREATE TABLE given AS
SELECT simhash_idf_from('{蓝翔,CEO,升职,加薪,的}',
    '{11.7392,11.5,10.8562,10.625,0.25}', 'word-1') AS idf;
SELECT s.* FROM given, simhash_idf_stats(idf) AS s;
SELECT w AS word, simhash_idf_weight(idf, w) AS idf
FROM given, unnest('{CEO,的,蓝翔,ceo}'::text[]) AS w;
-- words from a segmenter, counted, weighted, the top k
SELECT k.* FROM given, simhash_keywords(
    '{升职,的,的,加薪,CEO,的,加薪}'::text[], idf, 3) AS k;
SELECT simhash_tfidf('{升职,的,的,加薪,CEO,的,加薪}'::text[], idf, 3) =
        simhash('{加薪,CEO,升职}', ARRAY[21.25, 11.5,
            simhash_idf_weight(idf, '升职')]) AS top_three,
    simhash_tfidf('{升职,的,的,加薪,CEO,的,加薪}'::text[], idf) =
        simhash('{加薪,CEO,升职,的}', ARRAY[21.25, 11.5,
            simhash_idf_weight(idf, '升职'), 0.75]) AS all_words
FROM given;
SELECT simhash_tfidf('{}'::text[], idf) AS nothing,
    simhash_tfidf('{a}'::text[], idf) = simhash('{a}'::text[]) AS unknown
FROM given;
-- weights of 0 do not count
SELECT simhash_tfidf('{a,b}'::text[], simhash_idf_from('{a,b,c}', '{0,1,2}')) =
    simhash('{b}'::text[]) AS zero;
SELECT simhash_idf_from(NULL, '{}') AS no_features,
    (SELECT features FROM simhash_idf_stats(simhash_idf_from('{}', '{}')))
        AS none;
SELECT fails($$SELECT simhash_idf_from('{a}', '{1,2}')$$);
SELECT fails($$SELECT simhash_idf_from('{a,a}', '{1,1}')$$);
SELECT fails($$SELECT simhash_idf_from('{a}', '{-1}')$$);
SELECT fails($$SELECT simhash_idf_from('{a}', '{32768}')$$);
SELECT simhash_idf_weight(simhash_idf_from('{a}', '{32767.9999999}'), 'a')
    AS largest;
SELECT fails($$SELECT simhash_idf_from('{a}', '{NaN}')$$);
SELECT fails($$SELECT simhash_idf_from('{NULL}', '{1}')$$);
SELECT fails($$SELECT simhash_idf_from('{a}', '{1}', 'nonesuch')$$);
SELECT fails($$SELECT idf + idf FROM given$$);
SELECT fails($$SELECT simhash_tfidf('{a,NULL}'::text[], idf) FROM given$$);
SELECT fails($$SELECT simhash_tfidf('{a}'::text[], idf, 0) FROM given$$);

----------------------------------------
-- in, out, send, recv
----------------------------------------

SELECT bool_and(simhash_idf_in(idf::text::cstring)::text = idf::text) AS text
FROM learnt;
CREATE TABLE copied (LIKE learnt);
\copy learnt TO 'results/idf.bin' (FORMAT binary)
\copy copied FROM 'results/idf.bin' (FORMAT binary)
SELECT count(*) AS values, bool_and(a.idf::text = b.idf::text) AS binary
FROM learnt AS a JOIN copied AS b USING (profile);
DROP TABLE copied;

-- bytes that are not a value
SELECT fails($$SELECT ''::simhash_idf$$);
SELECT fails($$SELECT '\x'::simhash_idf$$);
SELECT fails($$SELECT '\x01'::simhash_idf$$);
SELECT fails($$SELECT '\x0200'::simhash_idf$$);
SELECT fails($$SELECT '\x02000000'::simhash_idf$$);
SELECT fails($$SELECT '\x01020000'::simhash_idf$$);
SELECT fails($$SELECT '\x0100ff00'::simhash_idf$$);
SELECT fails($$SELECT '\x01000600776f72642d31'::simhash_idf$$);
SELECT fails($$SELECT
    '\x01000600776f6f642d38000000000000000000000000000000000000000000000000'::simhash_idf$$);
SELECT fails($$SELECT 'nonsense'::simhash_idf$$);
-- every truncation, and every byte changed: an error, or a value that works
CREATE FUNCTION survives(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    idf simhash_idf;
BEGIN
    idf := bytes::text::simhash_idf;
    PERFORM simhash_tfidf('some w1 words', idf), simhash_tfidf('w1 w2', idf, 1),
        simhash_tfidf('{w1}'::text[], idf),
        simhash_idf_weight(idf, 'w1'), simhash_idf_stats(idf);
    RETURN 'accepted';
EXCEPTION WHEN invalid_binary_representation THEN
    RETURN 'rejected';
END $$;
SET bytea_output = hex;
CREATE TEMP TABLE victim AS
SELECT simhash_idf_send(simhash_idf_agg(body, 'word-1')) AS bytes
FROM corpus WHERE id < 12;
SELECT survives(substr(bytes, 1, n)) AS truncated, count(*) > 100 AS many
FROM victim, generate_series(0, length(bytes) - 1) AS n GROUP BY 1;
SELECT survives(bytes || '\x00'::bytea) AS longer FROM victim;
SELECT CASE WHEN n >= 4 + 6 + 24 THEN 'payload' WHEN n BETWEEN 10 AND 13
        THEN 'documents' ELSE 'header' END AS part,
    survives(set_byte(bytes, n, (get_byte(bytes, n) + d) % 256)) AS changed,
    count(*) > 0 AS some
FROM victim, generate_series(0, length(bytes) - 1) AS n,
    unnest('{1,128,255}'::int[]) AS d
GROUP BY 1, 2 ORDER BY 1, 2;

DROP TABLE corpus, learnt, given;
DROP FUNCTION idf_of(bigint);
DROP FUNCTION survives(bytea);
