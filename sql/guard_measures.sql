--
-- near_document.c: by which measure simhash_guard compares documents, and what a
-- document is
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- words from one number to another
CREATE FUNCTION words(a int, b int) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT string_agg('w' || i, ' ' ORDER BY i) FROM generate_series(a, b) AS i
$$;
-- make the guard, and say what it makes of a statement
CREATE FUNCTION guard(options text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TRIGGER IF EXISTS guard ON docs;
    EXECUTE 'CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION simhash_guard('
        || (SELECT string_agg(quote_literal(o), ', ') FROM unnest(options) AS o) || ')';
END $$;
CREATE FUNCTION says(command text) RETURNS text LANGUAGE sql AS $$
    SELECT split_part(fails(command), E'\n', 2)
$$;
SET client_min_messages = warning;

----------------------------------------
-- the measures
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);

-- 400 times one advertisement before somebody's text, so that he may not insert it
\set padded '''INSERT INTO docs VALUES (1, repeat(''''Buy now and save. '''', 400) || words(1, 200))'''
\set victim '''INSERT INTO docs VALUES (2, words(1, 200))'''
SELECT guard('{fp,reject,64,similarity=jaccard}');
SELECT fails(:padded);
SELECT says(:victim);
TRUNCATE docs;
SELECT guard('{fp,reject,64,similarity=alike}');
SELECT fails(:padded);
SELECT fails(:victim);
TRUNCATE docs;
-- which is what at_least takes
SELECT guard('{fp,reject,64,at_least=0.8}');
SELECT fails(:padded);
SELECT fails(:victim);
INSERT INTO docs VALUES (3, words(1, 200) || ' and one more'); -- error
TRUNCATE docs;
-- symbols
INSERT INTO docs VALUES (1, 'The GNU C compiler, which has version 12');
INSERT INTO docs VALUES (2, 'The GNU C++ compiler, which has version 12');
INSERT INTO docs VALUES (3, 'the GNU C++ compiler which has version 12'); -- error
TRUNCATE docs;

-- a new row that a row contains, and one that contains a row
SELECT guard('{fp,reject,64,similarity=containment,at_least=0.9}');
INSERT INTO docs VALUES (1, words(1, 100));
SELECT says($$INSERT INTO docs VALUES (2, words(20, 60))$$);
SELECT says($$INSERT INTO docs VALUES (2, words(1, 400))$$);
UPDATE docs SET body = words(100, 150) WHERE id = 1; -- error
SELECT guard('{fp,reject,64,similarity=none}');
INSERT INTO docs VALUES (3, ''); -- nothing is near NULL
DROP TABLE docs;

----------------------------------------
-- code of others runs before there is an error of ours
----------------------------------------

-- the document's function catches an error of its own, which empties the error stack
CREATE FUNCTION careful(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM body::int;
    RETURN body;
EXCEPTION WHEN OTHERS THEN
    RETURN lower(body);
END $$;
CREATE TABLE docs (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(careful(body))) STORED);
CREATE INDEX ON docs USING hamming (fp);
INSERT INTO docs VALUES (1, words(1, 100));
SELECT guard('{fp,reject,8,similarity=jaccard}');
INSERT INTO docs VALUES (2, upper(words(1, 100)));                              -- error
INSERT INTO docs SELECT 1 + n, upper(words(1, 100)) FROM generate_series(1, 2) AS n ON CONFLICT DO NOTHING; -- error
SET client_min_messages = notice;
SELECT guard('{fp,skip,8,notice,similarity=alike}');
INSERT INTO docs SELECT 1 + n, upper(words(1, 100)) FROM generate_series(1, 2) AS n;
SET client_min_messages = warning;
INSERT INTO docs SELECT 1 + n, upper(words(1, 100)) FROM generate_series(1, 2) AS n;
SELECT guard('{fp,skip,8,similarity=jaccard}');
INSERT INTO docs SELECT 1 + n, upper(words(1, 100)) FROM generate_series(1, 2) AS n;
SELECT count(*) FROM docs;
DROP TABLE docs;
DROP FUNCTION careful;

----------------------------------------
-- a document that is what the fingerprint is made of
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, title text, body text, n int, dup int,
    fp bigint GENERATED ALWAYS AS (minhash(coalesce(title, '') || ' ' || coalesce(body, ''))) STORED);
CREATE INDEX ON docs USING hamming (fp);
SELECT guard('{fp,reject,64,similarity=jaccard,at_least=0.7}');
INSERT INTO docs VALUES (1, 'one two three', 'four five six seven eight'), (2, NULL, 'a b c d e f'), (3, 'lost', NULL);
SELECT says($$INSERT INTO docs VALUES (4, NULL, 'one two three four five six seven eight')$$);
SELECT says($$INSERT INTO docs VALUES (4, 'a b c', 'd e f')$$);
SELECT says($$INSERT INTO docs VALUES (4, 'Lost.')$$);
SELECT says($$INSERT INTO docs VALUES (4, 'one two three', 'g h i j k')$$);
-- what the update changes is compared, be it the one column or the other
UPDATE docs SET n = 7;
SELECT says($$UPDATE docs SET title = 'one two three', body = 'four five six seven eight' WHERE id = 4$$);
SELECT says($$UPDATE docs SET body = 'four five six seven eight' WHERE id = 4$$);
SELECT says($$UPDATE docs SET title = 'x', body = 'four five six seven eight' WHERE id = 4$$);
SELECT says($$UPDATE docs SET title = 'one two three four' WHERE id = 4$$);
-- what divides the columns changes neither document nor fingerprint
ALTER TABLE docs DISABLE TRIGGER guard;
INSERT INTO docs VALUES (5, 'a b', 'c d e f');
ALTER TABLE docs ENABLE TRIGGER guard;
UPDATE docs SET title = 'a', body = 'b c d e f' WHERE id = 5;
DELETE FROM docs WHERE id > 4;

-- who may not read both columns is not told how similar they are
CREATE ROLE regress_guard_measures_reader;
GRANT INSERT, SELECT (id, fp, title) ON docs TO regress_guard_measures_reader;
SET ROLE regress_guard_measures_reader;
SELECT says($$INSERT INTO docs VALUES (5, 'a b c', 'd e f')$$);
RESET ROLE;
GRANT SELECT (body) ON docs TO regress_guard_measures_reader;
SET ROLE regress_guard_measures_reader;
SELECT says($$INSERT INTO docs VALUES (5, 'a b c', 'd e f')$$);
RESET ROLE;

-- a mark is in no column of it; skip and mark
SELECT guard('{fp,mark,64,at_least=0.7,mark=title}');
INSERT INTO docs VALUES (5, 'a b c', 'd e f'); -- error
SELECT guard('{fp,mark,64,at_least=0.7,mark=dup}');
INSERT INTO docs VALUES (5, 'a b c', 'd e f');
SELECT guard('{fp,skip,64,at_least=0.7}');
INSERT INTO docs VALUES (6, 'a b c d', 'e f');
SELECT id, dup FROM docs WHERE id > 4;
-- a document that is named is compared in its place
SELECT guard('{fp,reject,64,at_least=0.7,document=title}');
SELECT says($$INSERT INTO docs VALUES (7, 'one two three', 'of something else')$$);
SELECT guard('{fp,reject,64,similarity=hamming,at_most=3}');
INSERT INTO docs VALUES (7, 'one two three'); -- error
DROP TABLE docs;
DROP ROLE regress_guard_measures_reader;

-- functions of its owner, a CASE around it; a row that has no fingerprint has no document
CREATE FUNCTION cleaned(text) RETURNS text IMMUTABLE LANGUAGE sql AS $$ SELECT regexp_replace($1, '[0-9]+', '', 'g') $$;
CREATE TABLE docs (id int PRIMARY KEY, line text, n int,
    fp bigint GENERATED ALWAYS AS (CASE WHEN n <> 0 THEN minhash(cleaned(line) || left('x', 1 / n), 'word-1') END) STORED);
CREATE INDEX ON docs USING hamming (fp);
SELECT guard('{fp,reject,3,at_least=0.8}');
INSERT INTO docs VALUES (1, 'login of 17 failed', 2), (2, 'logout', 0), (3, 'logout', NULL);
INSERT INTO docs VALUES (4, 'Login of 4711 failed', 3); -- error
UPDATE docs SET n = 0;
INSERT INTO docs VALUES (4, 'Login of 4711 failed', 3);
UPDATE docs SET n = 2 WHERE id = 1; -- error
DROP TABLE docs;

----------------------------------------
-- a generated column
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, line text, fp bigint,
    clean text GENERATED ALWAYS AS (cleaned(line)) STORED);
CREATE INDEX ON docs USING hamming (fp);
SELECT guard('{fp,reject,3,similarity=jaccard,document=clean}');
INSERT INTO docs VALUES (1, 'login of 17 failed', 0), (2, 'logout of 17', 0), (3, NULL, 0);
SELECT says($$INSERT INTO docs VALUES (4, 'login of 18 failed', 0)$$);
SELECT says($$UPDATE docs SET line = '18 login of failed' WHERE id = 2$$);
SELECT says($$UPDATE docs SET line = 'logout of 18' WHERE id = 2$$);
SELECT says($$UPDATE docs SET line = 'logout of 18' WHERE id = 3$$);
-- it fills no fingerprint, as that has to be there before it is
SELECT guard('{fp,reject,3,document=clean,fill=minhash}');
INSERT INTO docs VALUES (4, 'login of 18 failed'); -- error
DROP TABLE docs;

----------------------------------------
-- arrays of features
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, tags text[], names varchar[], ids int[],
    fp bigint GENERATED ALWAYS AS (minhash(tags)) STORED);
CREATE INDEX ON docs USING hamming (fp);
SELECT guard('{fp,reject,64,similarity=jaccard,at_least=0.5}');
INSERT INTO docs VALUES (1, '{a,b,c}', '{x,y}'), (2, '{}', NULL), (3, NULL, NULL);
SELECT says($$INSERT INTO docs VALUES (4, '{b,c,d}')$$);
SELECT says($$INSERT INTO docs VALUES (4, '{c,d,e}')$$);
SELECT says($$UPDATE docs SET tags = '{c,b,a}' WHERE id = 3$$);
SELECT measure, guard(ARRAY['fp', 'reject', '64', 'similarity=' || measure, 'at_least=0.01']),
    says($$INSERT INTO docs VALUES (5, '{a,a,a,b}')$$)
FROM unnest('{cosine,containment,alike}'::text[]) AS measure;
SELECT guard('{fp,reject,64,similarity=jaccard,document=names}');
SELECT says($$INSERT INTO docs VALUES (5, '{z}', '{y,x}')$$);
SELECT guard('{fp,reject,64,similarity=jaccard,document=ids}');
INSERT INTO docs VALUES (5, '{z}', '{y,x}'); -- error
-- an array and a text of the same bytes
SELECT guard('{fp,reject,64,similarity=jaccard}');
INSERT INTO docs VALUES (6, '{only}');
SELECT simhash_jaccard('{only}'::text, 'only'::text), says($$INSERT INTO docs VALUES (7, '{only}')$$);
DROP TABLE docs;

----------------------------------------
-- a second fingerprint decides
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, phash bigint, pdq bit(256), dhash bigint, made bit(128)
    GENERATED ALWAYS AS (substring(pdq FROM 1 FOR 128)::bit(128)) STORED, body text, bits text[], loose bit varying);
CREATE INDEX ON docs USING hamming (phash);
CREATE FUNCTION pdq(n int) RETURNS bit(256) IMMUTABLE LANGUAGE sql AS $$ SELECT (repeat('1', n) || repeat('0', 256 - n))::bit(256) $$;
SELECT guard('{phash,reject,8,similarity=hamming,at_most=31,document=pdq}');
INSERT INTO docs VALUES (1, 0, pdq(0), 0), (2, 255, pdq(32), 255), (3, 0, NULL, NULL), (4, NULL, pdq(0), 0);
SELECT fails($$INSERT INTO docs VALUES (5, 1, pdq(63))$$);
SELECT says($$INSERT INTO docs VALUES (6, 0, pdq(64))$$);
SELECT says($$INSERT INTO docs VALUES (7, -1, pdq(64))$$);
SELECT says($$UPDATE docs SET pdq = pdq(31) WHERE id = 6$$);
SELECT says($$UPDATE docs SET pdq = pdq(100) WHERE id = 6$$);
-- a bigint; a generated one
DELETE FROM docs WHERE id > 4;
SELECT guard('{phash,reject,8,similarity=hamming,at_most=3,document=dhash}');
SELECT says($$INSERT INTO docs VALUES (5, 0, NULL, 7)$$);
SELECT says($$INSERT INTO docs VALUES (5, 0, NULL, 15)$$);
SELECT says($$INSERT INTO docs VALUES (6, 0, NULL, NULL)$$);
SELECT says($$UPDATE docs SET dhash = -9223372036854775808 WHERE id = 6$$);
SELECT guard('{phash,reject,8,similarity=hamming,at_most=0,document=made}');
SELECT says($$INSERT INTO docs VALUES (8, 2, pdq(127), 7)$$);
SELECT says($$INSERT INTO docs VALUES (9, 2, pdq(128), 7)$$);
SELECT says($$INSERT INTO docs VALUES (10, 2, pdq(129), 7)$$);
-- another trigger gives what the column could not have
CREATE FUNCTION widen() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.pdq := B'1'; RETURN NEW; END $$;
CREATE TRIGGER a BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION widen();
SELECT guard('{phash,reject,8,similarity=hamming,at_most=31,document=pdq}');
SELECT fails($$INSERT INTO docs VALUES (11, 0, pdq(0))$$);
DROP TRIGGER a ON docs;
-- positions of the bits that are set, as arrays, still do
SELECT guard('{phash,reject,8,similarity=jaccard,at_least=0.8,document=bits}');
INSERT INTO docs VALUES (12, 0, NULL, NULL, DEFAULT, NULL, '{1,2,3,4,5}');
SELECT says($$INSERT INTO docs VALUES (13, 0, NULL, NULL, DEFAULT, NULL, '{1,2,3,4}')$$);
-- bad arguments
SELECT options, guard('{phash,reject,8}' || options), fails($$INSERT INTO docs VALUES (14, 0)$$)
FROM (VALUES ('{similarity=hamming}'::text[]), ('{similarity=hamming,document=pdq}'), ('{at_most=31}'),
    ('{document=pdq,at_most=31}'), ('{document=pdq,similarity=jaccard,at_most=31}'),
    ('{document=pdq,similarity=hamming,at_most=31,at_least=0.8}'),
    ('{document=pdq,similarity=hamming,at_most=257}'), ('{document=dhash,similarity=hamming,at_most=65}'),
    ('{document=pdq,similarity=hamming,at_most=-1}'), ('{document=pdq,similarity=hamming,at_most=}'),
    ('{document=pdq,similarity=hamming,at_most=3.5}'), ('{document=body,similarity=hamming,at_most=3}'),
    ('{document=bits,similarity=hamming,at_most=3}'), ('{document=loose,similarity=hamming,at_most=3}'),
    ('{document=pdq,similarity=jaccard}'), ('{document=pdq,similarity=none,at_most=3}'),
    ('{document=body,similarity=hamming,at_most=3,fill=minhash}')) AS v(options);
DROP TABLE docs;

----------------------------------------
-- at random, as brute force has it: partitions whose columns have other numbers,
-- rows that are inserted, changed in either column, and moved
----------------------------------------

CREATE TABLE docs (id int, x int, body text, title text,
    fp bigint GENERATED ALWAYS AS (minhash(coalesce(title, '') || ' ' || coalesce(body, ''), 'word-1')) STORED,
    PRIMARY KEY (id)) PARTITION BY RANGE (id);
ALTER TABLE docs DROP COLUMN x;
CREATE TABLE low (title text, fp bigint GENERATED ALWAYS AS (minhash(coalesce(title, '') || ' ' || coalesce(body, ''), 'word-1')) STORED,
    y int, id int NOT NULL, body text);
ALTER TABLE low DROP COLUMN y;
ALTER TABLE docs ATTACH PARTITION low FOR VALUES FROM (0) TO (100);
CREATE TABLE high PARTITION OF docs FOR VALUES FROM (100) TO (200);
CREATE INDEX ON docs USING hamming (fp);

CREATE FUNCTION document(title text, body text) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT coalesce(title, '') || ' ' || coalesce(body, '')
$$;
CREATE FUNCTION some_words() RETURNS text VOLATILE LANGUAGE sql AS $$
    SELECT CASE WHEN random() < 0.2 THEN NULL ELSE
        (SELECT string_agg('w' || floor(random() * 4), ' ') FROM generate_series(1, 1 + (random() * 4)::int)) END
$$;
-- is such a row a near-duplicate of another one?
CREATE FUNCTION is_duplicate(own int, document text, measure text, bound float8) RETURNS boolean STABLE LANGUAGE sql AS $$
    SELECT EXISTS (SELECT FROM docs AS d
        WHERE d.id <> own AND hamming(d.fp, minhash(document, 'word-1')) <= 24
        AND CASE measure WHEN 'alike' THEN simhash_alike(document, document(d.title, d.body), 'alike', bound, 'word-1')
            WHEN 'containment' THEN simhash_containment(document, document(d.title, d.body), 'word-1') >= bound
            WHEN 'cosine' THEN simhash_cosine(document, document(d.title, d.body), 'word-1') >= bound
            ELSE simhash_jaccard(document, document(d.title, d.body), 'word-1') >= bound END)
$$;
CREATE FUNCTION trial(measure text, bound float8, OUT wrong int, OUT refused boolean, OUT passed boolean, OUT moved boolean)
LANGUAGE plpgsql AS $$
DECLARE
    was docs; now docs; expected boolean; got boolean; n int := 0; rows int;
    refusals int := 0; passes int := 0; moves int := 0;
BEGIN
    wrong := 0;
    TRUNCATE docs;
    PERFORM guard(ARRAY['fp', 'reject', '24', 'similarity=' || measure, 'at_least=' || bound]);
    FOR round IN 1 .. 300 LOOP
        SELECT * INTO was FROM docs ORDER BY random() LIMIT 1;
        now := was;
        IF was.id IS NULL OR random() < 0.4 THEN
            was := NULL;
            now.id := n + CASE WHEN random() < 0.5 THEN 100 ELSE 0 END;
            n := (n + 1) % 100;
            now.title := some_words();
            now.body := some_words();
            CONTINUE WHEN EXISTS (SELECT FROM docs WHERE id % 100 = now.id % 100);
        ELSE
            IF random() < 0.5 THEN now.title := some_words(); END IF;
            IF random() < 0.5 THEN now.body := some_words(); END IF;
            IF random() < 0.3 THEN now.id := (was.id + 100) % 200; END IF;
            -- the same document, divided in another place
            IF random() < 0.2 THEN now.body := was.body; now.title := was.title || ''; END IF;
        END IF;
        expected := is_duplicate(coalesce(was.id, -1), document(now.title, now.body), measure, bound)
            AND (was.id IS NULL OR document(now.title, now.body) IS DISTINCT FROM document(was.title, was.body));
        BEGIN
            IF was.id IS NULL THEN
                INSERT INTO docs (id, title, body) VALUES (now.id, now.title, now.body);
            ELSE
                UPDATE docs SET id = now.id, title = now.title, body = now.body WHERE id = was.id;
                GET DIAGNOSTICS rows = ROW_COUNT;
                moves := moves + (now.id <> was.id)::int;
            END IF;
            got := false;
        EXCEPTION WHEN SQLSTATE '23P01' THEN
            got := true;
        END;
        refusals := refusals + got::int;
        passes := passes + (NOT got)::int;
        IF got <> coalesce(expected, false) THEN
            wrong := wrong + 1;
            RAISE WARNING '%: % -> %: %, not %', measure, was, now, got, expected;
        END IF;
    END LOOP;
    refused := refusals > CASE measure WHEN 'alike' THEN 5 ELSE 20 END;
    passed := passes > 20;
    moved := moves > 5;
END $$;
SELECT setseed(0.46);
SELECT measure, (trial(measure, bound)).*
FROM (VALUES ('alike', 0.5), ('jaccard', 0.6), ('containment', 0.7), ('cosine', 0.7)) AS v(measure, bound);
DROP TABLE docs;
DROP FUNCTION trial, is_duplicate, some_words, document, pdq, cleaned, widen, guard, says, words;
