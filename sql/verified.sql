--
-- documents.c, similar_rows.c: pairs, clusters, reports and DELETEs by the documents,
-- against brute force
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = warning;
SET jit = off;
CREATE SCHEMA verified;
SET search_path = verified, public;
\set verified :srcdir '/test/verified_tools.sql'
\set ECHO none
\i :verified
\set ECHO all

-- A text of a family: some words are others than in the next one.
CREATE FUNCTION variant(family int, n int, edits float8) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(CASE WHEN chance(n, i) < edits THEN 'x' || (1000 * chance(n, i + 1000))::int
                      ELSE 'w' || (family * 131 + i * (1 + family % 7)) % 5000 END, ' ' ORDER BY i)
    FROM generate_series(1, 30 + family % 40) AS i
$$;

-- Ids descend as the table does not, and "place" is a third order.  Some rows
-- have no document, an empty one, or that of another row.
CREATE TABLE docs (
    id int PRIMARY KEY, place int, site int, body text, words text[],
    fp bigint, mh bigint, wide bit(128), sets bigint);
INSERT INTO docs (id, place, site, body)
SELECT 2000 - n, hashint4(n), n % 3 / 2,
       CASE WHEN n % 97 > 0 THEN CASE WHEN n % 89 > 0 THEN
           variant((power(chance(n, 0), 3) * 120)::int, n, .04) ELSE '' END END
FROM generate_series(1, 900) AS n ORDER BY n;
INSERT INTO docs (id, place, site, body)
SELECT id - 1000, hashint4(-id), site, body FROM docs WHERE id % 5 = 0 ORDER BY id DESC;
UPDATE docs SET words = string_to_array(body, ' '), fp = simhash(body), mh = minhash(body),
    wide = minhash_bits(body, 128), sets = minhash(string_to_array(body, ' '));
-- documents differ, fingerprints do not
UPDATE docs SET mh = 0, fp = 0 WHERE id % 50 < 3;

----------------------------------------
-- against brute force
----------------------------------------

SELECT * FROM compare('mh', 8, 'jaccard', .8, 'body');
SELECT * FROM compare('mh', 12, 'jaccard', .6, 'body', ', site');
SELECT * FROM compare('fp', 6, 'cosine', .8, 'body');
SELECT * FROM compare('fp', 9, 'jaccard', .9, 'body', ', site', 'word-1');
SELECT * FROM compare('wide', 20, 'jaccard', .7, 'body');
SELECT * FROM compare('wide', 33, 'cosine', .9, 'body', ', site', 'char-4');
SELECT * FROM compare('sets', 10, 'cosine', .8, 'words');
SELECT * FROM compare('sets', 5, 'jaccard', .5, 'words', ', site');
-- at the ends: the same features, and any feature
SELECT * FROM compare('mh', 16, 'jaccard', 1, 'body');
SELECT * FROM compare('mh', 0, 'cosine', 0, 'body');
-- alike: rows that differ in numbers only are similar, but not alike, nor are those
-- that repeat the same words
SELECT * FROM compare('mh', 8, 'alike', .8, 'body');
SELECT * FROM compare('mh', 12, 'alike', .6, 'body', ', site');
SELECT * FROM compare('fp', 9, 'alike', .7, 'body', ', site', 'word-1');
SELECT * FROM compare('wide', 33, 'alike', .8, 'body', '', 'char-4');
SELECT * FROM compare('fp', 6, 'alike', .5, 'body', '', 'python-simhash');
SELECT * FROM compare('sets', 10, 'alike', .8, 'words');
SELECT * FROM compare('mh', 0, 'alike', 0, 'body');
CREATE TEMPORARY TABLE plainly AS SELECT * FROM docs;
UPDATE docs SET body = body || repeat(' all the same words', (40 * chance(id, 7))::int)
    || CASE id % 3 WHEN 0 THEN ' C' WHEN 1 THEN ' C++' ELSE '' END
WHERE id % 2 = 0;
SELECT (SELECT count(*) FROM simhash_pairs('SELECT id, mh, body FROM docs', 8, 'body', 'jaccard')) >
    (SELECT count(*) FROM simhash_pairs('SELECT id, mh, body FROM docs', 8, 'body')) AS fewer;
-- near rows let more pairs pass than two texts by themselves, and none fewer
SELECT count(*) > 100 AS many, count(*) FILTER (WHERE p.a IS NULL) AS missed
FROM docs AS x JOIN docs AS y ON x.id < y.id AND hamming(x.mh, y.mh) <= 8 AND simhash_alike(x.body, y.body, at_least => .7)
LEFT JOIN simhash_pairs('SELECT id, mh, body FROM docs', 8, 'body', 'alike', .7) AS p ON p.a = x.id AND p.b = y.id;
UPDATE docs SET body = p.body FROM plainly AS p WHERE p.id = docs.id;
DROP TABLE plainly;
-- one contains another one; fingerprints decide about fingerprints
SELECT * FROM compare('mh', 12, 'containment', .8, 'body');
SELECT * FROM compare('sets', 10, 'containment', .7, 'words');
SELECT * FROM compare('mh', 8, 'hamming', 0, 'wide', at_most => 20);
SELECT * FROM compare('wide', 33, 'hamming', 0, 'fp', ', site', at_most => 9);

----------------------------------------
-- a crowd
----------------------------------------

-- Thousands of rows, most of them within 8 bits of each other, of forty texts in
-- two sites; two centers may be too far from each other, or from a row.
CREATE TABLE crowd AS
SELECT (n * 7919) % 3001 AS id, n % 2 AS site, variant(n % 40, n, .008) AS body,
       (SELECT bit_or(1::bigint << (64 * chance(n, i))::int)
        FROM generate_series(1, 2 + n % 3 + n % 10 / 9 * 4) AS i) AS fp
FROM generate_series(1, 3000) AS n;
CREATE FUNCTION crowd_stars(similarity text) RETURNS TABLE (id int, center int) LANGUAGE plpgsql AS $$
DECLARE
    r crowd;
BEGIN
    CREATE TEMP TABLE centers AS SELECT * FROM crowd WHERE false;
    FOR r IN SELECT * FROM crowd ORDER BY crowd.id LOOP
        id := r.id;
        center := NULL;
        SELECT c.id INTO center FROM centers AS c
        WHERE c.site = r.site AND hamming(c.fp, r.fp) <= 8
            AND CASE similarity WHEN 'alike' THEN simhash_alike(c.body, r.body)
                ELSE simhash_jaccard(c.body, r.body) >= .8 END ORDER BY c.id LIMIT 1;
        IF center IS NULL THEN
            center := id;
            INSERT INTO centers SELECT r.*;
        END IF;
        RETURN NEXT;
    END LOOP;
    DROP TABLE centers;
END $$;
SELECT count(*) AS rows, count(DISTINCT cluster) AS clusters, min(similarity) >= .8 AS alike,
       count(*) FILTER (WHERE center IS DISTINCT FROM representative) AS wrong
FROM crowd_stars('jaccard') AS s
FULL JOIN simhash_clusters('SELECT id, fp, site, body FROM crowd', 8, 'star', min_size => 1,
                           document => 'body', similarity => 'jaccard') AS c ON c.id = s.id;
SELECT count(*) AS rows, count(DISTINCT cluster) AS clusters, min(similarity) >= .8 AS alike,
       count(*) FILTER (WHERE center IS DISTINCT FROM representative) AS wrong
FROM crowd_stars('alike') AS s
FULL JOIN simhash_clusters('SELECT id, fp, site, body FROM crowd', 8, 'star', min_size => 1,
                           document => 'body') AS c ON c.id = s.id;
-- what similar pairs connect, three texts that move on: each row is similar to one before
-- it and one after it; the index of rare features holds all rows, or some at a time
CREATE TABLE moving AS
SELECT n * 7919 % 3001 AS id, 1::bigint << n % 7 AS fp,
       (SELECT string_agg(format('w%s_%s', n % 3, i), ' ' ORDER BY i)
        FROM generate_series(n / 3 * 5, n / 3 * 5 + 59) AS i) AS body
FROM generate_series(1, 3000) AS n;
CREATE FUNCTION connect_moving() RETURNS TABLE (smallest bigint, largest bigint, rows bigint)
LANGUAGE sql AS $$
    SELECT min(size), max(size), count(*)
    FROM simhash_clusters('SELECT id, fp, body FROM moving', 8, 'connected', document => 'body',
                          similarity => 'jaccard')
$$;
SELECT * FROM connect_moving();
SET maintenance_work_mem = '1MB';
SELECT * FROM connect_moving();
RESET maintenance_work_mem;
-- as many rows of one fingerprint, and of one document
SELECT count(*), count(DISTINCT cluster) AS clusters, min(similarity) >= .8 AS alike
FROM simhash_clusters('SELECT id, 5::bigint, body FROM crowd', 0, 'star', document => 'body',
                      similarity => 'jaccard');
SELECT kind, count(*), max(size), min(similarity)
FROM unnest('{connected,star}'::text[]) AS kind,
     simhash_clusters('SELECT n, n & 1::bigint, ''the same words again'' AS body
    FROM generate_series(1, 20000) AS n', 1, kind, document => 'body')
GROUP BY kind ORDER BY kind;
SELECT count(*) FROM simhash_pairs('SELECT n, n & 1::bigint, ''the same words again'' AS body
    FROM generate_series(1, 200) AS n', 1, 'body');

----------------------------------------
-- documents that are stored otherwise
----------------------------------------

CREATE TABLE large (id int, compressed text, apart text, squeezed text, words text[], fp bigint);
ALTER TABLE large ALTER compressed SET STORAGE main, ALTER apart SET STORAGE external,
    ALTER words SET STORAGE external;
INSERT INTO large
SELECT n, text, text, text, string_to_array(text, ' '), minhash(text)
FROM generate_series(1, 60) AS n,
     LATERAL (SELECT string_agg(CASE WHEN chance(n, i) < .002 * (n % 4) THEN md5(n || 'x' || i)
                                ELSE left(md5(n % 9 || 'x' || i), 14) END, ' ' ORDER BY i) AS text
              FROM generate_series(1, 900) AS i) AS t;
-- what goes is not read any more
DELETE FROM large WHERE id % 10 = 0;
UPDATE large SET apart = apart || ' end' WHERE id % 10 = 1;
CREATE FUNCTION expanded(text[]) RETURNS text[] LANGUAGE plpgsql AS
    'BEGIN $1[cardinality($1) + 1] := ''end''; RETURN $1; END';
SELECT name, count(p), count(*) FILTER (WHERE p.similarity IS DISTINCT FROM
    CASE name WHEN 'compressed' THEN simhash_jaccard(x.compressed, y.compressed)
              WHEN 'apart' THEN simhash_jaccard(x.apart, y.apart)
              WHEN 'squeezed' THEN simhash_jaccard(x.squeezed, y.squeezed)
              WHEN 'words' THEN simhash_jaccard(x.words, y.words)
              ELSE simhash_jaccard(expanded(x.words), expanded(y.words)) END) AS wrong
FROM (VALUES ('compressed', 'compressed'), ('apart', 'apart'), ('squeezed', 'squeezed'),
             ('words', 'words'), ('expanded(words)', 'expanded')) AS v (expression, name),
     LATERAL simhash_pairs(format('SELECT id, fp, %s AS %I FROM large', expression, name),
                           16, name, 'jaccard') AS p
JOIN large AS x ON x.id = a JOIN large AS y ON y.id = b
GROUP BY name ORDER BY name COLLATE "C";
-- features that do not stay in memory together are read again
SET work_mem = '64kB';
SET maintenance_work_mem = '2MB';
SELECT count(*), count(*) FILTER (WHERE p.similarity <> simhash_jaccard(x.body, y.body)) AS wrong
FROM simhash_pairs('SELECT id, 1::bigint, body FROM (
    SELECT id, string_agg(body, '' '') OVER (ORDER BY id ROWS 99 PRECEDING) AS body FROM docs) AS d
    WHERE id < 250', 0, 'body', 'jaccard', .5) AS p
JOIN LATERAL (SELECT string_agg(body, ' ') AS body FROM (
    SELECT body FROM docs WHERE id <= a ORDER BY id DESC LIMIT 100) AS d) AS x ON true
JOIN LATERAL (SELECT string_agg(body, ' ') AS body FROM (
    SELECT body FROM docs WHERE id <= b ORDER BY id DESC LIMIT 100) AS d) AS y ON true
WHERE a % 30 = 0;
-- 67 bytes a row are enough, however the ids are passed, in whatever order; 12 more where
-- a bigint is a pointer
CREATE TABLE numbered AS SELECT n, n / 2 AS fp, 'a b c ' || n AS body FROM generate_series(1, 62000::bigint) AS n;
SELECT set_config('maintenance_work_mem', CASE WHEN typbyval THEN '4MB' ELSE '5MB' END, false) > '3' AS room
FROM pg_type WHERE typname = 'int8';
SELECT count(*) FROM simhash_clusters('SELECT n, fp, body FROM numbered', 0, 'star', document => 'body', similarity => 'jaccard', at_least => .5);
SELECT count(*) FROM simhash_clusters_as(NULL::tid, 'SELECT ctid, fp, body FROM numbered', 0, document => 'body', similarity => 'jaccard', at_least => .5);
SELECT count(*) FROM simhash_pairs('SELECT -n, fp, body FROM numbered', 0, document => 'body', similarity => 'jaccard', at_least => .5);
SELECT count(*), min(representative), count(*) FILTER (WHERE representative % 2 <> 1 - size) AS wrong
FROM simhash_clusters('SELECT -n, fp, body FROM numbered', 0, document => 'body', similarity => 'jaccard', at_least => .5);
SELECT count(*) FROM simhash_clusters('SELECT -n, fp, body FROM numbered', 0, 'star', document => 'body', similarity => 'none');
DROP TABLE numbered;
RESET maintenance_work_mem;
RESET work_mem;

-- types that are stored as text is; the column may stand among those of groups
CREATE DOMAIN body AS varchar(40);
SELECT * FROM simhash_pairs($$SELECT 1, 1::bigint, 'one two three'::body AS t, 'x' AS g
    UNION ALL SELECT 2, 1, 'One, two, three.', 'x' UNION ALL SELECT 3, 1, 'one two three', 'y'$$,
    document => 't');
SELECT similarity FROM simhash_pairs($$SELECT n, 1::bigint, n % 1 AS g, '{a,b}'::varchar[] AS t
    FROM generate_series(1, 2) AS n$$, document => 't');
SELECT similarity FROM simhash_pairs($$SELECT n, 1::bigint, ARRAY['a', 'b']::body[] AS t
    FROM generate_series(1, 2) AS n$$, document => 't');

----------------------------------------
-- errors
----------------------------------------

SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', document => 'bodies')$$);
SELECT fails($$SELECT simhash_clusters('SELECT id, body, mh FROM docs', document => 'body')$$);
SELECT fails($$SELECT simhash_clusters('SELECT id, mh FROM docs', document => 'id')$$);
SELECT fails($$SELECT simhash_clusters('SELECT id, mh, site FROM docs', document => 'site')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body::char(20) FROM docs', document => 'body')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, 1 AS body FROM docs', document => 'body')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', 3, 'body', at_least => 'NaN')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', 3, 'body', at_least => 1.1)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', 3, 'body', at_least => -.1)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', 3, at_least => .8)$$);
SELECT fails($$SELECT simhash_clusters('SELECT id, mh FROM docs', similarity => 'cosine')$$);
SELECT fails($$SELECT simhash_clusters('SELECT id, mh FROM docs', profile => 'word-1')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', 3, 'body', 'dice')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', 3, 'body', profile => 'word-0')$$);
-- none: the documents are not looked at, whatever they are, and make no groups
SELECT count(*), count(similarity), count(*) = (
    SELECT count(*) FROM simhash_pairs('SELECT id, mh, site FROM docs', 8)) AS all_of_group
FROM simhash_pairs('SELECT id, mh, site, place FROM docs', 8, 'place', 'none', .9);
SELECT count(*) = (SELECT count(*) FROM simhash_clusters('SELECT id, mh FROM docs', 8)) AS all
FROM simhash_clusters('SELECT id, mh, body FROM docs', 8, document => 'body', similarity => 'none');
SELECT fails($$SELECT simhash_pairs('SELECT id, mh FROM docs', 8, 'body', 'none')$$);
-- a document that needs more memory than there may be
CREATE TABLE huge AS SELECT n AS id, 1::bigint AS fp, string_agg('w' || i, ' ') AS body
FROM generate_series(1, 2) AS n, generate_series(1, 150000) AS i GROUP BY n;
SET maintenance_work_mem = '2MB';
SELECT fails($$SELECT simhash_pairs('TABLE huge', 0, 'body')$$);
SELECT fails($$SELECT simhash_clusters('TABLE huge', 0, 'star', document => 'body')$$);
SET maintenance_work_mem = '64MB';
SELECT * FROM simhash_pairs('TABLE huge', 0, 'body');
RESET maintenance_work_mem;

----------------------------------------
-- reports, and their DELETE
----------------------------------------

CREATE TABLE made (
    id int PRIMARY KEY, site int, body text, words text[], title varchar(30), plain bigint,
    mh bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    "M H" bigint GENERATED ALWAYS AS (minhash(body, 'char-4')) STORED,
    sets bigint GENERATED ALWAYS AS (minhash(words)) STORED,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    f1 bigint GENERATED ALWAYS AS (simhash(body, 'word-1')) STORED,
    bits bit(128) GENERATED ALWAYS AS (simhash_bits(body, 128, 'word-2')) STORED,
    mbits bit(128) GENERATED ALWAYS AS (minhash_bits(body, 128)) STORED,
    msets bit(128) GENERATED ALWAYS AS (minhash_bits(words, 128)) STORED,
    sometimes bigint GENERATED ALWAYS AS (CASE WHEN length(title) > 3 THEN minhash(body) END) STORED,
    titles bigint GENERATED ALWAYS AS (minhash(title)) STORED,
    either bigint GENERATED ALWAYS AS (coalesce(minhash(title), minhash(body))) STORED,
    both_of bigint GENERATED ALWAYS AS (minhash(title || body)) STORED,
    lowered bigint GENERATED ALWAYS AS (minhash(lower(body))) STORED);
INSERT INTO made (id, site, body, words, title, plain)
SELECT id, site, body, words, left(body, 30), mh FROM docs ORDER BY id DESC;
VACUUM ANALYZE made;

-- What is compared, as the DELETE says it.
CREATE FUNCTION said(fingerprint text, relation regclass DEFAULT 'made') RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN d ~ '^-- by an estimate' AND d ~ 'document => NULL' THEN 'by an estimate'
           ELSE concat_ws(', ', substring(d, '^-- each row that goes is similar to .*?: (.*?)
'),
                          split_part(split_part(d, ') AS "simhash document"', 1), ', (', -1),
                          substring(d, 'profile => ''(.*?)''')) END
    FROM simhash_dedup_sql(relation, fingerprint) AS d
$$;
SELECT fingerprint, said(fingerprint) FROM unnest(ARRAY[
    'mh', '"M H"', 'sets', 'fp', 'f1', 'bits', 'mbits', 'msets', 'sometimes', 'titles',
    'minhash(body)', 'simhash(body, ''word-1'')', 'simhash(body, NULL::text)', 'simhash_bits(t.body, 64)',
    'minhash(title::text)', 'mh # 5', 'minhash_bits(words, 64)',
    'either', 'both_of', 'lowered', 'plain', 'mh # plain', 'minhash(left(body, 100))',
    'simhash_tfidf(body, simhash_idf_from(''{a}'', ''{1}''))', 'simhash(words, ''{1}'')']) AS fingerprint;

-- The DELETE takes what the report says; each row that went is near and similar
-- to one that stays, and no two of these are.  It is undone.
CREATE FUNCTION undone(relation regclass, fp text, k int, measure text, at_least float8,
                       args text DEFAULT '', grouped boolean DEFAULT false)
RETURNS TABLE (many boolean, reported boolean, unlike boolean, left_over boolean)
LANGUAGE plpgsql AS $$
DECLARE
    command text;
    near text;
    said bigint;
BEGIN
    EXECUTE format('SELECT simhash_dedup_sql(%L, %L, %s %s)', relation, fp, k, args) INTO command;
    EXECUTE format('SELECT simhash_report.value::bigint FROM simhash_report(%L, %L, %s %s)
        WHERE item = ''redundant rows''', relation, fp, k,
        regexp_replace(args, ', kind => ''.*?''', '')) INTO said;
    EXECUTE format('CREATE TEMP TABLE before AS SELECT %s AS finger, * FROM %s AS t', fp, relation);
    BEGIN
        EXECUTE command;
        EXECUTE format('CREATE TEMP TABLE stay AS SELECT %s AS finger, * FROM %s AS t', fp, relation);
        CREATE TEMP TABLE gone AS SELECT * FROM before WHERE id NOT IN (SELECT id FROM stay);
        SELECT count(*) > 300, count(*) = said INTO many, reported FROM gone;
        near := format('hamming(x.finger, y.finger) <= %s AND %s >= %s %s', k, measure, at_least,
                       CASE WHEN grouped THEN 'AND x.site = y.site' END);
        EXECUTE 'SELECT count(*) > 0 FROM gone AS x WHERE NOT EXISTS (SELECT FROM stay AS y WHERE '
            || near || ')' INTO unlike;
        EXECUTE 'SELECT count(*) > 0 FROM stay AS x JOIN stay AS y ON x.id < y.id AND ' || near
            INTO left_over;
        RAISE 'undone';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    DROP TABLE before;
    RETURN NEXT;
END $$;
SELECT * FROM undone('made', 'mh', 8, 'simhash_jaccard(x.body, y.body)', .8,
    ', similarity => ''jaccard''');
SELECT * FROM undone('made', 'mh', 8, 'simhash_alike(x.body, y.body)::int', 1);
SELECT * FROM undone('made', 'both_of', 8, 'simhash_alike(x.title || x.body, y.title || y.body, at_least => .7)::int', 1,
    ', at_least => .7');
SELECT * FROM undone('made', 'plain', 8, 'simhash_jaccard(lower(x.body), lower(y.body))', .8,
    ', document => ''lower(t.body)'', similarity => ''jaccard''');
SELECT * FROM undone('made', 'mh', 8, '(hamming(x.mbits, y.mbits) <= 20)::int', 1,
    ', document => ''mbits'', similarity => ''hamming'', at_most => 20');
SELECT * FROM undone('made', 'f1', 6, 'simhash_cosine(x.body, y.body, ''word-1'')', .8,
    ', similarity => ''cosine''');
SELECT * FROM undone('made', 'msets', 20, 'simhash_jaccard(x.words, y.words)', .6,
    ', similarity => ''jaccard'', at_least => .6');
SELECT * FROM undone('made', 'plain', 12, 'simhash_cosine(x.body, y.body, ''word-1'')', .7,
    ', document => ''body'', similarity => ''cosine'', at_least => .7, profile => ''word-1''');
SELECT * FROM undone('made', 'fp', 6, 'simhash_cosine(x.body, y.body)', .8,
    ', within => ''{site}'', similarity => ''cosine''', true);
-- the report counts what goes by the same order
SELECT * FROM undone('made', 'minhash(t.body)', 8, 'simhash_jaccard(x.body, y.body)', .9,
    ', keep => ''length(body) DESC, id'', similarity => ''jaccard'', at_least => .9');
-- the longest stays, which contains the others
SELECT * FROM undone('made', 'mh', 12, 'simhash_containment(x.body, y.body)', .9,
    ', similarity => ''containment'', at_least => .9');
-- connected: each is similar to some row of its cluster, not to the one that stays
SELECT * FROM undone('made', 'mh', 8, 'simhash_jaccard(x.body, y.body)', .8,
    ', similarity => ''jaccard'', kind => ''connected''');
-- partitions
CREATE TABLE parts (id int, body text, "Finger" bigint GENERATED ALWAYS AS (minhash(body)) STORED)
    PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (1000) TO (5000);
INSERT INTO parts SELECT id, body FROM docs;
SELECT * FROM undone('parts', '"Finger"', 8, 'simhash_jaccard(x.body, y.body)', .8,
    ', similarity => ''jaccard''');
-- a table that got children after the DELETE was written: these lose nothing,
-- though they have rows at the same places
CREATE TABLE parent AS SELECT id, body, mh FROM docs;
SELECT simhash_dedup_sql('parent', 'mh', document => 'body') AS command \gset
CREATE TABLE child () INHERITS (parent);
INSERT INTO child SELECT -id, 'other ' || id FROM docs;
BEGIN;
:command;
SELECT count(*) = (SELECT count(*) FROM docs) AS all_there FROM child;
ROLLBACK;
CREATE TABLE none_yet (id int, body text, fp bigint) PARTITION BY LIST (id);
SELECT simhash_dedup_sql('none_yet', 'fp', similarity => 'none') ~ 'tableoid, t.ctid\) AS .*, \(fp\) FROM verified' AS by_table;
DROP TABLE parent, child, none_yet;
-- where it is off or not known, the report says so, and draws a sample if it can;
-- the numbers go by how rows lie in the table, which differs with their alignment
SELECT item, regexp_replace(value, '[0-9]+(\.[0-9]+)?', 'N', 'g') AS value FROM simhash_report('made', 'mh', 10)
WHERE section = 'advice' OR item ~ 'similar';
SELECT item, regexp_replace(value, '[0-9]+(\.[0-9]+)?', 'N', 'g') AS value FROM simhash_report('made', 'mh', 10, similarity => 'none')
WHERE section = 'advice' OR item ~ 'similar';
SELECT item, regexp_replace(value, '[0-9]+(\.[0-9]+)?', 'N', 'g') AS value FROM simhash_report('made', 'plain', 10) WHERE item = 'estimate' OR item ~ 'similar';
SELECT item, regexp_replace(value, '[0-9]+(\.[0-9]+)?', 'N', 'g') AS value FROM simhash_report('made', 'plain', 10, document => 'body', similarity => 'none')
WHERE item = 'estimate';
SELECT item, regexp_replace(value, '[0-9]+(\.[0-9]+)?', 'N', 'g') AS value FROM simhash_report('made', 'plain', 3, within => '{site}', document => 'words', at_least => .75)
WHERE item = 'delete';
SELECT said('mh'), simhash_dedup_sql('made', 'mh', similarity => 'none') ~ '^-- by an estimate' AS estimate,
       simhash_dedup_sql('made', 'mh', kind => 'connected') ~ '^-- .* similar to another row' AS another;
-- documents are missing altogether, which the sample says in fewer words
CREATE TABLE bare (id int, body text, fp bigint);
INSERT INTO bare SELECT n, NULL, 7 FROM generate_series(1, 4) AS n;
SELECT item, value FROM simhash_report('bare', 'fp', document => 'body')
WHERE section = 'advice';
SELECT item, value FROM simhash_report('bare', 'fp', document => 'body')
WHERE section = 'advice';
-- what other distance finds more, by rows drawn at random
SELECT regexp_replace(value, '[0-9.]+( %| doc|\. )', 'N\1', 'g') ~
    '^[0-9]+ rows drawn .* Distance 0 finds N % of these, and compares N documents a row; distance (8|9|10|11) finds N %, and compares N\. To search within \1, give \1 in place of 0\.$' AS distance
FROM simhash_report('made', 'mh', 0) WHERE item = 'distance';
SELECT item, value FROM simhash_report('bare', 'fp', document => 'body', similarity => 'none')
WHERE item = 'estimate';
-- xml and the like are stored as text is
CREATE TABLE papers (id int, body xml, fp bigint GENERATED ALWAYS AS (minhash(body::text)) STORED);
SELECT said('fp', 'papers');
SELECT count(*) FROM simhash_report('papers', 'fp');
DROP TABLE papers;
-- the DELETE of a small table is not worth compiling
SELECT cost_of(simhash_dedup_sql('made', 'mh')) < current_setting('jit_above_cost')::float8 AS cheap;
-- by another collation, and by a profile that there is not
CREATE TABLE papers (id int, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body COLLATE "C", 'char-4' COLLATE "C")) STORED,
    none bigint GENERATED ALWAYS AS (minhash(body, 'nonesuch')) STORED);
SELECT said('fp', 'papers'), said('none', 'papers');
SELECT said('minhash(body COLLATE "C")', 'papers');
SELECT count(*) FROM simhash_report('papers', 'none');
SELECT fails($$SELECT simhash_report('papers', 'none', at_least => .9)$$);
DROP TABLE papers;
-- wrong arguments
SELECT fails($$SELECT simhash_report('made', 'mh', document => 'bodies')$$);
SELECT fails($$SELECT simhash_report('made', 'mh', document => 'ctid')$$);
SELECT fails($$SELECT simhash_report('made', 'mh', document => 'id')$$);
SELECT fails($$SELECT simhash_report('made', 'plain', at_least => .9)$$);
SELECT fails($$SELECT simhash_report('made', 'plain', similarity => 'jaccard')$$);
SELECT fails($$SELECT simhash_dedup_sql('made', 'either', profile => 'word-1')$$);
SELECT fails($$SELECT simhash_dedup_sql('made', 'mh', document => 'bodies')$$);
SELECT fails($$SELECT simhash_dedup_sql('made', 'mh', at_least => 'NaN')$$);
SELECT fails($$SELECT simhash_dedup_sql('made', 'mh', similarity => 'edits')$$);
SELECT fails($$SELECT simhash_dedup_sql('made', 'mh', profile => 'word-0')$$);
SELECT fails($$SELECT simhash_dedup_sql('made', 'mh', document => 'id')$$);
-- a document that does not fit into memory: nothing goes
SET maintenance_work_mem = '2MB';
SELECT simhash_dedup_sql('huge', 'fp', document => 'body') AS command \gset
SELECT fails(:'command');
RESET maintenance_work_mem;
SELECT count(*) FROM huge;

----------------------------------------
-- a row without document has no similarity, not even to itself
----------------------------------------

SELECT id, size, similarity FROM simhash_clusters(
    $$VALUES (1, 7::bigint, 'one two'), (2, 7, NULL), (3, 7, ''), (4, 7, 'one two')$$, 0,
    document => 'column3', similarity => 'jaccard', min_size => 1) ORDER BY id;

----------------------------------------
-- the order of rows is by columns, whatever the fingerprint is called
----------------------------------------

CREATE TABLE called (id int, simhash int, body text);
INSERT INTO called VALUES (1, 2, 'the same'), (2, 1, 'the same');
SELECT simhash_dedup_sql('called', 'simhash(body)', 0, keep => 'simhash') AS command \gset
BEGIN;
:command;
SELECT id AS stays FROM called;
ROLLBACK;
DROP TABLE called;

----------------------------------------
-- rights
----------------------------------------

CREATE ROLE regress_verified_reader;
GRANT USAGE ON SCHEMA verified TO regress_verified_reader;
GRANT SELECT (id, plain, mh), DELETE, UPDATE ON made TO regress_verified_reader;
SET ROLE regress_verified_reader;
SELECT simhash_dedup_sql('made', 'mh', 3, similarity => 'jaccard') AS command \gset
SELECT fails(:'command');
SELECT fails($$SELECT simhash_report('made', 'mh', document => 'body')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM made', document => 'body')$$);
RESET ROLE;
SELECT (SELECT count(*) FROM made) = (SELECT count(*) FROM docs) AS all_there;
GRANT SELECT ON made TO regress_verified_reader;
SET ROLE regress_verified_reader;
BEGIN;
:command;
SELECT count(*) BETWEEN 600 AND 700 AS some FROM made;
ROLLBACK;
RESET ROLE;
DROP OWNED BY regress_verified_reader;
DROP ROLE regress_verified_reader;

-- rows near to both know nothing of rows of more than 100,000 words
SELECT n, (SELECT count(*) FROM simhash_pairs(format($$
    SELECT row, 0::bigint AS fp, string_agg(CASE WHEN i = row * 100 THEN 'other' || chr(96 + row)
        ELSE translate(i::text, '0123456789', 'abcdefghij') END, ' ' ORDER BY i) AS body
    FROM generate_series(1, 6) AS row, generate_series(1, %s) AS i GROUP BY row $$, n),
    3, document => 'body', similarity => 'alike')) AS pairs
FROM (VALUES (1000), (100001)) AS v (n);

RESET search_path;
DROP SCHEMA verified CASCADE;
