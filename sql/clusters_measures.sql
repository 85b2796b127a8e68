--
-- clusters that keep themselves: by which measure documents are compared, and what a
-- document is
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE FUNCTION words(a int, b int) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT string_agg('w' || i, ' ' ORDER BY i) FROM generate_series(a, b) AS i
$$;
SET client_min_messages = warning;

----------------------------------------
-- the measures
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint DEFAULT 0);
CREATE INDEX ON docs USING hamming (fp);
-- padded by an advertisement, somebody's text is not in the cluster of the victim's
CALL simhash_add_clusters('docs', 'fp', document => 'body', similarity => 'alike', at_least => 0.8);
INSERT INTO docs VALUES (1, repeat('Buy now and save. ', 400) || words(1, 200)), (2, words(1, 200)),
    (3, words(1, 200) || ' and one more');
SELECT id, cluster FROM docs ORDER BY id;
SELECT * FROM simhash_check_clusters('docs');
CALL simhash_drop_clusters('docs');
CALL simhash_add_clusters('docs', 'fp', document => 'body', similarity => 'jaccard');
SELECT id, cluster FROM docs ORDER BY id;
CALL simhash_drop_clusters('docs');
-- what a row has that the representative has as well
TRUNCATE docs;
INSERT INTO docs VALUES (1, words(1, 100)), (2, words(20, 60)), (3, words(1, 400));
CALL simhash_add_clusters('docs', 'fp', document => 'body', similarity => 'containment', at_least => 0.9);
INSERT INTO docs VALUES (4, words(10, 30)), (5, words(1, 410)), (6, words(300, 320));
SELECT id, cluster FROM docs ORDER BY id;
SELECT * FROM simhash_check_clusters('docs');
CALL simhash_add_clusters('docs', 'fp', document => 'body', "column" => 'story', kind => 'connected', similarity => 'containment'); -- error
DROP TABLE docs;

----------------------------------------
-- a document that is what the fingerprint is made of
----------------------------------------

-- partitions have their columns in another order
CREATE TABLE docs (id int PRIMARY KEY, x int, body text, title text,
    fp bigint GENERATED ALWAYS AS (minhash(coalesce(title, '') || ' ' || coalesce(body, ''), 'word-1')) STORED)
    PARTITION BY RANGE (id);
ALTER TABLE docs DROP COLUMN x;
CREATE TABLE low (title text, fp bigint GENERATED ALWAYS AS (minhash(coalesce(title, '') || ' ' || coalesce(body, ''), 'word-1')) STORED,
    y int, id int NOT NULL, body text);
ALTER TABLE low DROP COLUMN y;
ALTER TABLE docs ATTACH PARTITION low FOR VALUES FROM (0) TO (100);
CREATE TABLE high PARTITION OF docs FOR VALUES FROM (100) TO (1000);
CREATE INDEX ON docs USING hamming (fp);
CREATE FUNCTION document(title text, body text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT coalesce(title, '') || ' ' || coalesce(body, '')
$$;
CREATE FUNCTION some_words() RETURNS text VOLATILE LANGUAGE sql AS $$
    SELECT CASE WHEN random() < 0.2 THEN NULL ELSE
        (SELECT string_agg('w' || floor(random() * 8), ' ') FROM generate_series(1, 1 + (random() * 4)::int)) END
$$;
SELECT setseed(0.46);
INSERT INTO docs (id, title, body) SELECT n * 19, some_words(), some_words() FROM generate_series(1, 50) AS n;
CALL simhash_add_clusters('docs', 'fp', 16, similarity => 'jaccard', at_least => 0.6);
CALL simhash_add_clusters('docs', 'fp', 16, similarity => 'jaccard', at_least => 0.6); -- they are there
CALL simhash_add_clusters('docs', 'fp', 16, similarity => 'jaccard', at_least => 0.6, document => 'title'); -- error
CALL simhash_add_clusters('docs', 'fp', 16, similarity => 'jaccard', at_least => 0.6, kind => 'connected', "column" => 'story');
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'docs_clusters'::regclass AND attnum > 0 ORDER BY attnum;

-- how many rows are not where brute force has them, or clusters
CREATE FUNCTION differences(OUT star bigint, OUT kept bigint, OUT near bigint, OUT connected bigint) LANGUAGE sql AS $$
    WITH RECURSIVE d AS MATERIALIZED (SELECT id, cluster, simhash_current_cluster('docs', story, 'story') AS story,
        document(title, body) AS document, fp FROM docs),
    -- lists, as the planner takes them for short: PostgreSQL 19 makes room for what it expects
    near AS MATERIALIZED (SELECT a.id, array_agg(b.id) AS ids FROM d AS a JOIN d AS b ON hamming(a.fp, b.fp) <= 16
        AND simhash_jaccard(a.document, b.document, 'word-1') >= 0.6 GROUP BY a.id),
    reach(a, b) AS (SELECT id, id FROM near UNION SELECT a, unnest(ids) FROM reach JOIN near ON id = b),
    same AS (SELECT a.id, b.id FROM d AS a JOIN d AS b USING (story))
    SELECT
        -- rows that are not similar to their representative, as far as its document is there
        (SELECT count(*) FROM d LEFT JOIN docs_clusters AS t USING (cluster) WHERE (d.fp IS NULL) <> (cluster IS NULL)
            OR t.document IS NOT NULL AND (hamming(d.fp, t.fp) > 16
                OR simhash_jaccard(d.document, t.document, 'word-1') < 0.6)),
        -- documents that no row has
        (SELECT count(*) FROM docs_clusters AS t WHERE document IS NOT NULL
            AND NOT EXISTS (SELECT FROM d WHERE d.cluster = coalesce(copy_of, t.cluster) AND d.document = t.document)),
        -- representatives that are near each other
        (SELECT count(*) FROM docs_clusters AS a JOIN docs_clusters AS b ON a.cluster < b.cluster AND a.cluster > 0
            AND hamming(a.fp, b.fp) <= 16 AND simhash_jaccard(a.document, b.document, 'word-1') >= 0.6),
        -- rows in the same connected cluster that nothing connects, or the other way round
        (SELECT count(*) FROM ((TABLE same EXCEPT TABLE reach) UNION ALL (TABLE reach EXCEPT TABLE same)) AS p)
$$;
SELECT * FROM differences();
SELECT count(DISTINCT cluster) BETWEEN 5 AND 45 AS some FROM docs;
INSERT INTO docs (id, title, body) SELECT n * 19 + 1, some_words(), some_words() FROM generate_series(1, 50) AS n;
SELECT * FROM differences();
-- the one column, the other, both, neither, and the same words divided in another place
UPDATE docs SET title = some_words() WHERE id % 19 = 0 AND id % 4 = 1;
UPDATE docs SET body = some_words() WHERE id % 19 = 0 AND id % 4 = 2;
UPDATE docs SET title = some_words(), body = some_words() WHERE id % 19 = 0 AND id % 4 = 3;
CREATE TEMPORARY TABLE was AS SELECT id, cluster, story FROM docs;
UPDATE docs SET title = split_part(document(title, body), ' ', 1),
    body = substr(document(title, body), strpos(document(title, body), ' ') + 1) WHERE fp IS NOT NULL;
SELECT count(*) FROM docs JOIN was USING (id) WHERE docs.cluster <> was.cluster OR docs.story <> was.story;
CALL simhash_split_clusters('docs', 'story');
SELECT * FROM differences();
SELECT * FROM simhash_check_clusters('docs') UNION ALL SELECT * FROM simhash_check_clusters('docs', 'story');
-- rows that move to the other partition stay in their clusters, as do those of a row whose text is gone
CREATE TEMPORARY TABLE was2 AS SELECT id, cluster, story FROM docs;
UPDATE docs SET id = id + 100 WHERE id < 100 AND id % 19 = 1;
SELECT count(*) FROM docs JOIN was2 ON docs.id = was2.id + 100 AND was2.id < 100 AND was2.id % 19 = 1
WHERE docs.cluster <> was2.cluster;
DELETE FROM docs WHERE id % 3 = 0;
SELECT count(*) > 0 AS gone FROM docs_clusters WHERE document IS NULL;
INSERT INTO docs (id, title, body) SELECT n * 19 + 5, some_words(), some_words() FROM generate_series(1, 50) AS n;
CALL simhash_split_clusters('docs', 'story');
SELECT * FROM differences();
SELECT * FROM simhash_check_clusters('docs') UNION ALL SELECT * FROM simhash_check_clusters('docs', 'story');
-- what mends and what trims
ALTER TABLE docs DISABLE TRIGGER USER;
DELETE FROM docs WHERE id % 5 = 0;
UPDATE docs SET cluster = NULL WHERE id % 5 = 1;
UPDATE docs SET body = 'w1 w2 w3', title = NULL WHERE id % 5 = 2;
ALTER TABLE docs ENABLE TRIGGER USER;
CALL simhash_mend_clusters('docs');
CALL simhash_trim_clusters('docs');
CALL simhash_trim_clusters('docs');
SELECT kept FROM differences();
CALL simhash_drop_clusters('docs', 'story');
CALL simhash_drop_clusters('docs');
DROP TABLE docs, was, was2;

-- what the owner has made is evaluated for who writes, and for the owner when somebody
-- else commits
CREATE ROLE regress_clusters_measures_owner;
GRANT CREATE ON SCHEMA public TO regress_clusters_measures_owner;
CREATE FUNCTION cleaned(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'regress_clusters_measures_owner' THEN
        RAISE EXCEPTION 'evaluated by another role';
    END IF;
    RETURN regexp_replace($1, '[0-9]', '', 'g');
END $$;
CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(cleaned(body))) STORED);
CREATE INDEX ON docs USING hamming (fp);
ALTER TABLE docs OWNER TO regress_clusters_measures_owner;
CALL simhash_add_clusters('docs', 'fp', similarity => 'alike');
BEGIN;
SET ROLE regress_clusters_measures_owner;
INSERT INTO docs VALUES (1, 'row 1 of some');
SAVEPOINT s;
INSERT INTO docs VALUES (2, 'another one');
ROLLBACK TO s;
INSERT INTO docs VALUES (3, 'and the third'), (4, 'row 2 of some');
DELETE FROM docs WHERE id = 3;
RESET ROLE;
COMMIT;
SELECT id, cluster FROM docs ORDER BY id;
SELECT cluster, document FROM docs_clusters ORDER BY cluster;
SELECT * FROM simhash_check_clusters('docs');
DROP TABLE docs;
DROP FUNCTION cleaned;
REVOKE CREATE ON SCHEMA public FROM regress_clusters_measures_owner;
DROP ROLE regress_clusters_measures_owner;

----------------------------------------
-- a generated column; arrays
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, line text, fp bigint DEFAULT 0, tags text[],
    clean text GENERATED ALWAYS AS (regexp_replace(line, '[0-9]+', '', 'g')) STORED);
CREATE INDEX ON docs USING hamming (fp);
INSERT INTO docs (id, line, tags) VALUES (1, 'login of 17 failed', '{a,b,c}'), (2, 'logout of 17', '{a,b,d}');
CALL simhash_add_clusters('docs', 'fp', document => 'clean', similarity => 'jaccard');
CALL simhash_add_clusters('docs', 'fp', document => 'clean', similarity => 'jaccard', kind => 'connected', "column" => 'story');
CALL simhash_add_clusters('docs', 'fp', document => 'tags', similarity => 'jaccard', at_least => 0.5, "column" => 'tagged');
INSERT INTO docs (id, line, tags) VALUES (3, 'login of 18 failed', '{x,y}'), (4, 'logout of 19', '{y,x}'), (5, NULL, NULL);
SELECT id, cluster, story, tagged FROM docs ORDER BY id;
-- the text goes with its row
UPDATE docs SET line = 'logout of 7' WHERE id = 1;
DELETE FROM docs WHERE id = 3;
SELECT cluster, clean FROM docs_clusters ORDER BY 1;
INSERT INTO docs (id, line, tags) VALUES (6, 'login of 20 failed', '{}');
SELECT id, cluster, story, tagged FROM docs ORDER BY id;
-- a row that did not get in leaves none
BEGIN;
SAVEPOINT s;
INSERT INTO docs (id, line, tags) VALUES (7, 'something else', '{p,q}');
ROLLBACK TO s;
INSERT INTO docs (id, line, tags) VALUES (8, 'nothing else', '{r,s}') ON CONFLICT DO NOTHING;
INSERT INTO docs (id, line, tags) VALUES (8, 'never at all', '{t,u}') ON CONFLICT DO NOTHING;
COMMIT;
SELECT cluster, clean FROM docs_clusters ORDER BY 1;
SELECT cluster, tags FROM docs_taggeds ORDER BY 1;
SELECT 'cluster' AS of, * FROM simhash_check_clusters('docs') UNION ALL SELECT 'story', * FROM simhash_check_clusters('docs', 'story')
UNION ALL SELECT 'tagged', * FROM simhash_check_clusters('docs', 'tagged');
DROP TABLE docs;

----------------------------------------
-- a second fingerprint decides
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, phash bigint, pdq bit(256), dhash bigint, loose bit varying);
CREATE INDEX ON docs USING hamming (phash);
CREATE FUNCTION pdq(n int) RETURNS bit(256) IMMUTABLE LANGUAGE sql AS $$ SELECT (repeat('1', n) || repeat('0', 256 - n))::bit(256) $$;
INSERT INTO docs VALUES (1, 0, pdq(0), 0), (2, 0, pdq(32), 15), (3, 255, pdq(1), 1), (4, 0, NULL, NULL);
CALL simhash_add_clusters('docs', 'phash', 8, document => 'pdq', similarity => 'hamming', at_most => 31);
CALL simhash_add_clusters('docs', 'phash', 8, document => 'dhash', similarity => 'hamming', at_most => 3, "column" => 'd');
CALL simhash_add_clusters('docs', 'phash', 8, document => 'pdq', similarity => 'hamming', at_most => 31, kind => 'connected', "column" => 'story');
CALL simhash_add_clusters('docs', 'phash', 8, document => 'dhash', similarity => 'hamming', at_most => 3, kind => 'connected', "column" => 'e');
SELECT id, cluster, d, story, e FROM docs ORDER BY id;
INSERT INTO docs VALUES (5, 1, pdq(63), 15), (6, 1, pdq(64), -1), (7, -1, pdq(64), -1), (8, 7, pdq(20), 3);
SELECT id, cluster, d, story, e FROM docs ORDER BY id;
UPDATE docs SET dhash = 15 WHERE id = 6;
DELETE FROM docs WHERE id IN (1, 7);
SELECT cluster, phash, length(ltrim(pdq::text, '0')) IS NOT NULL AS pdq FROM docs_clusters ORDER BY 1;
SELECT cluster, phash, dhash FROM docs_ds ORDER BY 1;
INSERT INTO docs VALUES (9, 0, pdq(1), 1);
SELECT id, cluster, d, story, e FROM docs ORDER BY id;
SELECT c.name, f.* FROM unnest('{cluster,d,story,e}'::name[]) AS c(name), simhash_check_clusters('docs', c.name) AS f;
CALL simhash_add_clusters('docs', 'phash', 8, document => 'pdq', similarity => 'hamming', at_most => 31);
CALL simhash_add_clusters('docs', 'phash', 8, document => 'pdq', similarity => 'hamming', at_most => 30); -- error
-- refused where it is asked for
SELECT fails(format('CALL simhash_add_clusters(''docs'', ''phash'', 8, "column" => ''f'', %s)', options))
FROM unnest(ARRAY['document => ''pdq'', similarity => ''hamming''', 'document => ''pdq'', at_most => 3',
    'similarity => ''hamming'', at_most => 3', 'document => ''pdq'', similarity => ''hamming'', at_most => 257',
    'document => ''loose'', similarity => ''hamming'', at_most => 3', 'document => ''pdq'', similarity => ''jaccard''',
    'similarity => ''jaccard''', 'document => ''pdq''']) AS options;
DROP TABLE docs;

-- an expression that is another one once it was text: of casts of elements
CREATE TABLE arrays (id int PRIMARY KEY, a varchar(9), b varchar(20), body text,
    fp bigint GENERATED ALWAYS AS (minhash(ARRAY[a, b])) STORED,
    fq bigint GENERATED ALWAYS AS (minhash(CASE WHEN a = ANY (ARRAY[b]) THEN lower(body) ELSE body END)) STORED);
INSERT INTO arrays VALUES (1, 'a', 'b', 'tea is served at five');
CREATE INDEX ON arrays USING hamming (fq);
CALL simhash_add_clusters('arrays', 'fp', similarity => 'alike');
CALL simhash_add_clusters('arrays', 'fq', 3, 'connected', 'story', similarity => 'alike');
INSERT INTO arrays VALUES (2, 'a', 'b', 'Tea is served at five!'), (3, 'c', 'd', 'something else');
UPDATE arrays SET b = 'd' WHERE id = 2;
SELECT id, cluster, story FROM arrays ORDER BY id;
SELECT c.name, f.* FROM unnest('{cluster,story}'::name[]) AS c(name), simhash_check_clusters('arrays', c.name) AS f;
DROP TABLE arrays;

-- two texts are judged alone, whether rows arrive or are there: in a family any word here
-- would be an edit, and no call could mend what the trigger does
CREATE TABLE there (id int PRIMARY KEY, body text, fp bigint DEFAULT 0);
INSERT INTO there (id, body)
SELECT i, replace('the lift of house four has been out of order since the storm of last monday and the keeper'
    ' told all tenants this morning that nobody should use the stairs of the garden before the roof is dry',
    word, 'window')
FROM unnest('{of no use,lift,order,storm,keeper,tenants,stairs,garden}'::text[]) WITH ORDINALITY AS w (word, i);
CREATE INDEX ON there USING hamming (fp);
CREATE TABLE arrived (LIKE there INCLUDING ALL);
SELECT format('CALL simhash_add_clusters(%L, ''fp'', kind => %L, "column" => %2$L, document => ''body'', similarity => ''alike'')', t, c)
FROM unnest('{there,arrived}'::text[]) AS t, unnest('{star,connected}'::text[]) AS c \gexec
INSERT INTO arrived (id, body) SELECT id, body FROM there ORDER BY id;
SELECT id, t.star = a.star AND t.connected = a.connected AS same, a.star, a.connected
FROM there AS t JOIN arrived AS a USING (id) ORDER BY id;
SELECT count(DISTINCT cluster) FROM simhash_clusters('SELECT id, fp, body FROM there', document => 'body', min_size => 1);
SELECT t, c, f.* FROM unnest('{there,arrived}'::regclass[]) AS t, unnest('{star,connected}'::name[]) AS c, simhash_check_clusters(t, c) AS f;
DROP TABLE there, arrived CASCADE;

-- others have triggers on the table of the clusters, such as of a foreign key
CREATE TABLE referred (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CALL simhash_add_clusters('referred', 'fp', 8, similarity => 'jaccard');
CREATE TABLE titles (cluster bigint REFERENCES referred_clusters, title text);
INSERT INTO referred VALUES (1, 'tea is served at five in the garden');
INSERT INTO titles SELECT cluster, 'tea' FROM referred;
UPDATE referred SET body = 'something else is served at six';
DELETE FROM referred;
SELECT title, r.body FROM titles JOIN referred_clusters AS r USING (cluster);
DROP TABLE titles, referred CASCADE;

-- one that leads to the table itself must not have rows go with clusters
CREATE TABLE kept (id int PRIMARY KEY, fp bigint);
CALL simhash_add_clusters('kept', 'fp');
INSERT INTO kept VALUES (1, 0), (2, 255);
ALTER TABLE kept ADD CONSTRAINT kept_cluster_fkey FOREIGN KEY (cluster) REFERENCES kept_clusters ON DELETE CASCADE;
ALTER TABLE kept_clusters DISABLE TRIGGER ALL;
UPDATE kept_clusters SET fp = 1 WHERE cluster = 2;
ALTER TABLE kept_clusters ENABLE TRIGGER ALL;
CALL simhash_mend_clusters('kept');
ALTER TABLE kept DROP CONSTRAINT kept_cluster_fkey;
CREATE TABLE stories (id int PRIMARY KEY REFERENCES kept_clusters ON DELETE CASCADE);
INSERT INTO stories VALUES (1), (2);
ALTER TABLE kept ADD story int REFERENCES stories ON DELETE CASCADE;
UPDATE kept SET story = id;
CALL simhash_mend_clusters('kept');
UPDATE kept SET fp = 0 WHERE id = 2;
CALL simhash_trim_clusters('kept');
SELECT * FROM kept ORDER BY id;
ALTER TABLE kept DROP COLUMN story;
UPDATE kept SET fp = 255 WHERE id = 2;
CALL simhash_mend_clusters('kept');
CALL simhash_trim_clusters('kept');
SELECT * FROM kept ORDER BY id;
SELECT * FROM stories;
SELECT * FROM simhash_check_clusters('kept');
DROP TABLE kept, stories CASCADE;

-- a text of a domain without NULL goes with its row, too
CREATE DOMAIN some_text AS varchar(99) COLLATE "C" NOT NULL;
CREATE TABLE stated (id int PRIMARY KEY, body some_text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CALL simhash_add_clusters('stated', 'fp', 3, similarity => 'alike');
CREATE TABLE lowered (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(lower(body)::some_text)) STORED);
CALL simhash_add_clusters('lowered', 'fp', 3, similarity => 'alike');
SELECT attrelid::regclass, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid IN ('stated_clusters'::regclass, 'lowered_clusters'::regclass) AND attname IN ('body', 'document');
INSERT INTO stated VALUES (1, 'Tea is served at five.'), (2, 'The museum is closed.');
ALTER TABLE stated DISABLE TRIGGER USER;
DELETE FROM stated WHERE id = 1;
ALTER TABLE stated ENABLE TRIGGER USER;
CALL simhash_trim_clusters('stated', older_than => '1 day');
SELECT cluster, body FROM stated_clusters ORDER BY cluster;
INSERT INTO stated VALUES (3, 'Tea is served at FIVE.');
SELECT id, cluster FROM stated ORDER BY id;
SELECT * FROM simhash_check_clusters('stated');
DROP TABLE stated, lowered CASCADE;
DROP DOMAIN some_text;

----------------------------------------
-- groups whose values have NULL in them, and of a domain over an enum
----------------------------------------

CREATE TYPE place AS (country text, city text);
CREATE TYPE tongue AS ENUM ('en', 'no');
CREATE DOMAIN known_tongue AS tongue;
CREATE TABLE placed (id int, fp bigint, place place, tongue known_tongue);
INSERT INTO placed VALUES (1, 0, '(no,)', 'no'), (2, 1, '(no,)', 'no'), (3, 0, NULL, 'no');
CALL simhash_add_clusters('placed', 'fp', 3, within => '{place, tongue}');
INSERT INTO placed VALUES (4, 0, '(,)', 'no');
SELECT id, cluster FROM placed ORDER BY id;
ALTER TABLE placed DISABLE TRIGGER USER;
UPDATE placed SET tongue = 'en' WHERE id = 2;
ALTER TABLE placed ENABLE TRIGGER USER;
SELECT * FROM simhash_check_clusters('placed');
CALL simhash_mend_clusters('placed');
SELECT * FROM simhash_check_clusters('placed');
SELECT id, cluster FROM placed ORDER BY id;
DROP TABLE placed CASCADE;
DROP DOMAIN known_tongue;
DROP TYPE tongue, place;

----------------------------------------
-- an expression that drops a table where the document of a star is looked for
----------------------------------------

CREATE FUNCTION dropping(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql
SET search_path = public AS $$
BEGIN
    IF body = 'here' THEN
        PERFORM public.fails(current_setting('test.ddl', true));
    END IF;
    RETURN body;
END $$;
CREATE TABLE docs (id int, body text,
    fp bigint GENERATED ALWAYS AS (minhash(public.dropping(body))) STORED) PARTITION BY LIST (id);
CREATE TABLE docs_1 PARTITION OF docs FOR VALUES IN (1, 2, 3);
CREATE TABLE docs_2 PARTITION OF docs FOR VALUES IN (4);
CALL simhash_add_clusters('docs', 'fp', 3, similarity => 'jaccard');
INSERT INTO docs VALUES (1, 'HERE'), (2, 'here');
DELETE FROM docs WHERE id = 1;
SET test.ddl = 'DROP TABLE docs_2';
INSERT INTO docs_1 VALUES (3, 'HERE');
SELECT to_regclass('docs_2');
SELECT tableoid::regclass, id, cluster FROM docs ORDER BY id;
DROP TABLE docs;
DROP FUNCTION dropping;
