--
-- near_terms.c: the options 'similarity' and 'at_least' of simhash_guard
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- a document of the words 1 to n, but for every m-th, which is another
CREATE FUNCTION doc(n int, m int DEFAULT 1000) RETURNS text IMMUTABLE LANGUAGE sql AS $$
    SELECT string_agg(CASE WHEN i % m = 0 THEN 'x' || i ELSE 'w' || i END, ' ' ORDER BY i)
    FROM generate_series(1, n) AS i
$$;

----------------------------------------
-- a generated fingerprint
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '64', 'similarity=jaccard', 'at_least=0.8', 'document=body');
INSERT INTO docs VALUES (1, doc(100)), (2, NULL), (3, '');
-- what is within the distance is not enough, what is similar is an error
SELECT m, round(simhash_jaccard(doc(100), doc(100, m))::numeric, 4) AS jaccard
FROM (VALUES (8), (20), (40)) AS v(m);
INSERT INTO docs VALUES (8, doc(100, 8));
INSERT INTO docs VALUES (40, doc(100, 40)); -- error
INSERT INTO docs VALUES (20, doc(100, 20)); -- error
DELETE FROM docs WHERE id = 1;
INSERT INTO docs VALUES (20, doc(100, 20));
INSERT INTO docs VALUES (40, doc(100, 40)); -- error
-- updates, those included that leave the fingerprint as it was
UPDATE docs SET id = 21 WHERE id = 20;
UPDATE docs SET body = doc(100, 19) WHERE id = 21;
UPDATE docs SET body = doc(100, 20) WHERE id = 8;
INSERT INTO docs VALUES (50, NULL);
UPDATE docs SET body = doc(100, 20) WHERE id = 50; -- error
DROP TABLE docs;

CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (7) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '0', 'similarity=cosine', 'at_least=0.9', 'document=body', 'profile=word-1');
INSERT INTO docs VALUES (1, 'a b c d'), (2, 'c d e f'), (3, NULL), (4, NULL);
INSERT INTO docs VALUES (5, 'd c b a'); -- error
-- the fingerprint is the same, the document is not
UPDATE docs SET body = 'a b c d' WHERE id = 2; -- error
UPDATE docs SET body = 'a b c d' WHERE id = 3; -- error
UPDATE docs SET body = body WHERE id = 2;
UPDATE docs SET body = 'C, D, E. F?' WHERE id = 2;
SELECT * FROM docs ORDER BY id;
DROP TABLE docs;

----------------------------------------
-- skip and mark; the document gives the fingerprint
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint, dup int);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'skip', '20', 'similarity=jaccard', 'at_least=0.5', 'document=body', 'fill=simhash', 'notice');
INSERT INTO docs SELECT m, doc(200, m) FROM generate_series(2, 60, 3) AS m ORDER BY m;
SELECT count(*), count(fp) FROM docs;
-- as brute force has it: no two rows are near-duplicates, and each that was
-- left out is one of an earlier row
SELECT a.id, b.id FROM docs AS a JOIN docs AS b ON a.id < b.id
WHERE hamming(a.fp, b.fp) <= 20 AND simhash_jaccard(a.body, b.body) >= 0.5;
SELECT m FROM generate_series(2, 60, 3) AS m
WHERE NOT EXISTS (SELECT FROM docs AS d WHERE d.id = m)
    AND NOT EXISTS (SELECT FROM docs AS d WHERE d.id < m AND hamming(d.fp, simhash(doc(200, m))) <= 20
                        AND simhash_jaccard(d.body, doc(200, m)) >= 0.5);
DROP TRIGGER guard ON docs;
TRUNCATE docs;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'mark', '30', 'similarity=cosine', 'at_least=0.6', 'document=body', 'fill=simhash', 'mark=dup');
INSERT INTO docs SELECT m, doc(200, m) FROM generate_series(2, 60, 3) AS m ORDER BY m;
-- each is marked with the original of one of the nearest rows before it
WITH near AS (SELECT d.id, coalesce(e.dup, e.id) AS original, hamming(e.fp, d.fp) AS distance,
        min(hamming(e.fp, d.fp)) OVER (PARTITION BY d.id) AS nearest
    FROM docs AS d JOIN docs AS e ON e.id < d.id AND hamming(e.fp, d.fp) <= 30 AND simhash_cosine(e.body, d.body) >= 0.6)
SELECT id, dup FROM docs AS d
WHERE CASE WHEN dup IS NULL THEN EXISTS (SELECT FROM near WHERE near.id = d.id)
    ELSE NOT EXISTS (SELECT FROM near WHERE near.id = d.id AND distance = nearest AND original = d.dup) END;
SELECT count(*) FROM docs AS d JOIN docs AS o ON o.id = d.dup WHERE o.dup IS NOT NULL;
SELECT count(*), count(dup) AS marked FROM docs;
DROP TABLE docs;

----------------------------------------
-- which row is found: the nearest that is similar, of several the first in the table
----------------------------------------

-- rows that are up to some ten bits away, with one of seven texts, some of them similar
CREATE TABLE docs (id serial PRIMARY KEY, fp bigint, body text, near text);
CREATE FUNCTION draw(n int) RETURNS TABLE (fp bigint, body text) LANGUAGE sql AS $$
    SELECT bit_or(CASE WHEN random() < .05 THEN 1::bigint << i ELSE 0 END), doc(60, 2 + (random() * 6)::int)
    FROM generate_series(0, 62) AS i WHERE n IS NOT NULL
$$;
-- by brute force; of the nearest so many are compared
CREATE FUNCTION nearest(new docs, radius int, similarity text, most int) RETURNS text LANGUAGE sql AS $$
    SELECT id::text FROM (
        SELECT *, row_number() OVER (ORDER BY hamming(d.fp, new.fp), ctid) AS place
        FROM docs AS d WHERE hamming(d.fp, new.fp) <= radius) AS d
    WHERE similarity = 'none' OR simhash_jaccard(d.body, new.body) >= .75 OR place > most
    ORDER BY place LIMIT 1
$$;
-- for how many of 40 rows one is found, and for how many another one than by brute force
CREATE FUNCTION differ(action text, radius int, similarity text, most int, OUT hits int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
    new docs;
    its text;
    says text;
BEGIN
    EXECUTE format('CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION simhash_guard(''fp'', %L, %L%s%s)',
        action, radius, CASE action WHEN 'mark' THEN ', ''mark=near''' END,
        ', ''similarity=' || nullif(similarity, 'none') || ''', ''at_least=0.75'', ''document=body'', ''compare=' || most || '''');
    hits := 0;
    wrong := 0;
    FOR i IN 1 .. 40 LOOP
        SELECT d.* INTO new.fp, new.body FROM draw(i) AS d;
        its := nearest(new, radius, similarity, most);
        says := 'skipped';
        BEGIN
            INSERT INTO docs (id, fp, body) VALUES (-i, new.fp, new.body) RETURNING near INTO STRICT says;
            DELETE FROM docs WHERE id = -i;
        EXCEPTION
            WHEN exclusion_violation THEN
                GET STACKED DIAGNOSTICS says = PG_EXCEPTION_DETAIL;
                says := substring(says FROM '\(id\)=\((\d+)\)');
            WHEN no_data_found THEN
                says := coalesce(its, 'skipped');
        END;
        hits := hits + (its IS NOT NULL)::int;
        wrong := wrong + (says IS DISTINCT FROM its)::int;
    END LOOP;
    DROP TRIGGER guard ON docs;
END $$;
SELECT setseed(.65);
INSERT INTO docs (fp, body) SELECT d.* FROM generate_series(1, 300) AS n, LATERAL draw(n) AS d;
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE TABLE tried AS
SELECT action, radius, similarity, most, d.*
FROM unnest('{mark,reject,skip}'::text[]) AS action, unnest('{0,3,6,8}'::int[]) AS radius,
    (VALUES ('none', 1000), ('jaccard', 1000), ('jaccard', 5)) AS v (similarity, most), differ(action, radius, similarity, most) AS d;
DROP INDEX docs_fp;
SELECT simhash_add_keys('docs', 'fp');
INSERT INTO tried
SELECT action, radius, similarity, most, d.*
FROM unnest('{mark,reject}'::text[]) AS action, unnest('{3,8}'::int[]) AS radius,
    (VALUES ('none', 1000), ('jaccard', 1000)) AS v (similarity, most), differ(action, radius, similarity, most) AS d;
SELECT * FROM tried WHERE wrong > 0;
SELECT similarity, most, sum(hits) > 100 AS some, sum(hits) < 600 AS others FROM tried GROUP BY 1, 2 ORDER BY 1, 2;
DROP FUNCTION draw, nearest, differ;
DROP TABLE docs, tried;

----------------------------------------
-- partitions that have their columns in another order; key columns; long rows
----------------------------------------

CREATE TABLE docs (id int, body text, fp bigint, PRIMARY KEY (id)) PARTITION BY RANGE (id);
CREATE TABLE low (fp bigint, x int, body text, id int NOT NULL);
ALTER TABLE low DROP COLUMN x;
ALTER TABLE docs ATTACH PARTITION low FOR VALUES FROM (0) TO (100);
CREATE TABLE high PARTITION OF docs FOR VALUES FROM (100) TO (200);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '20', 'similarity=jaccard', 'at_least=0.7', 'document=body', 'fill=simhash', 'profile=word-2');
INSERT INTO docs VALUES (1, doc(20000));
INSERT INTO docs VALUES (101, doc(20000, 50)); -- error
INSERT INTO docs VALUES (101, doc(20000, 10));
INSERT INTO docs VALUES (2, doc(20000, 10)); -- error
DROP TABLE docs;

CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint);
SELECT simhash_add_keys('docs', 'fp');
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'similarity=jaccard', 'at_least=0.995', 'document=body', 'fill=simhash');
INSERT INTO docs VALUES (1, doc(1000)), (2, doc(1000, 900));
SELECT hamming(a.fp, b.fp) <= 3 AS near FROM docs AS a, docs AS b WHERE a.id = 1 AND b.id = 2;
INSERT INTO docs VALUES (3, doc(1000)); -- error
DROP TABLE docs;

----------------------------------------
-- who may not read the documents is not told how similar they are
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '8', 'similarity=jaccard', 'at_least=0.8', 'document=body');
INSERT INTO docs VALUES (1, 'some text');
CREATE ROLE regress_guard_verify_writer;
GRANT INSERT, SELECT (id, fp) ON docs TO regress_guard_verify_writer;
SET ROLE regress_guard_verify_writer;
INSERT INTO docs VALUES (2, 'Some text'); -- error
RESET ROLE;
GRANT SELECT (body) ON docs TO regress_guard_verify_writer;
SET ROLE regress_guard_verify_writer;
INSERT INTO docs VALUES (2, 'Some text'); -- error
RESET ROLE;
DROP TABLE docs;
DROP ROLE regress_guard_verify_writer;

----------------------------------------
-- what is compared follows from how the fingerprint is made
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body varchar, title text, odd text, tags text[],
    s bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    s1 bigint GENERATED ALWAYS AS (simhash(profile => 'word-1', document => body)) STORED,
    m bigint GENERATED ALWAYS AS (minhash(title)) STORED,
    m1 bigint GENERATED ALWAYS AS (CASE WHEN length(title) > 3 THEN minhash(title, 'word-1') END) STORED,
    b bit(64) GENERATED ALWAYS AS (simhash_bits(title, 64)) STORED,
    mb bit(128) GENERATED ALWAYS AS (minhash_bits(body, bits => 128, profile => 'word-1')) STORED,
    lowered bigint GENERATED ALWAYS AS (minhash(lower(body))) STORED,
    two bigint GENERATED ALWAYS AS (coalesce(minhash(body), minhash(title))) STORED,
    tagged bigint GENERATED ALWAYS AS (minhash(tags)) STORED,
    strange bigint GENERATED ALWAYS AS (simhash(body, lower(odd))) STORED,
    seven bigint GENERATED ALWAYS AS (7) STORED,
    plain bigint);
-- of two documents 3 of 4 words are equal and 2 of 3 pairs of neighbours; the
-- default profile has the words in pairs
CREATE FUNCTION guarded(fp text, VARIADIC options text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    EXECUTE format('CREATE INDEX key ON docs USING hamming (%I)', fp);
    EXECUTE format('CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION '
        'simhash_guard(%L, ''reject'', 64', fp)
        || (SELECT coalesce(string_agg(', ' || quote_literal(o), ''), '') FROM unnest(options) AS o) || ')';
    INSERT INTO docs (id, body, title, odd, tags, plain) VALUES (1, 'a b c d', 'e f g h', 'WORD-2', '{u}', 7);
    said := fails($i$INSERT INTO docs (id, body, title, odd, tags, plain) VALUES (2, 'a b c x', 'e f g y', 'WORD-2', '{v}', 7)$i$);
    DELETE FROM docs;
    DROP TRIGGER guard ON docs;
    DROP INDEX key;
    RETURN coalesce(substring(said FROM 'has a [^\n]*'), substring(said FROM '[^\n]*'));
EXCEPTION WHEN OTHERS THEN
    RETURN SQLERRM;
END $$;
\pset format unaligned
SELECT fp, guarded(fp, 'similarity=jaccard', 'at_least=0.1') FROM unnest('{s,s1,m,m1,b,mb,lowered,two,tagged,strange,seven,plain}'::text[]) AS fp;
-- unless the options say it
SELECT fp, guarded(fp, 'similarity=cosine', 'at_least=0.1', 'document=title', 'profile=word-1')
FROM unnest('{s,mb,lowered,two,strange,seven,plain}'::text[]) AS fp;
SELECT fp, guarded(fp, 'similarity=jaccard', 'at_least=0.1', 'document=title')
FROM unnest('{s,s1,m1,mb,lowered,two,strange,seven,plain}'::text[]) AS fp;
-- .8 by default; none
SELECT guarded('s1', 'similarity=jaccard'), guarded('s1', 'similarity=jaccard', 'at_least=0.6');
SELECT guarded('s', 'similarity=none'), guarded('s', 'similarity=none', 'at_least=0.9', 'document=title'),
    guarded('plain', 'similarity=none', 'document=title');
\pset format aligned
DROP TABLE docs;
DROP FUNCTION guarded;

----------------------------------------
-- a function of the document that alters the partitions yet to be searched
----------------------------------------

CREATE FUNCTION run(statement text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN EXECUTE statement; END $$;
CREATE FUNCTION altering(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql
SET search_path = public AS $$
DECLARE
    ddl text := current_setting('test.ddl', true);
BEGIN
    IF body = 'here' AND ddl <> '' THEN
        PERFORM set_config('test.ddl', '', false), run(ddl);
    END IF;
    RETURN body;
END $$;
CREATE TABLE docs (id int, site text, body text,
    fp bigint GENERATED ALWAYS AS (minhash(altering(body))) STORED) PARTITION BY LIST (id);
CREATE TABLE docs_1 PARTITION OF docs FOR VALUES IN (1, 11);
CREATE TABLE docs_2 PARTITION OF docs FOR VALUES IN (2);
CREATE TABLE docs_3 PARTITION OF docs FOR VALUES IN (3);
CREATE INDEX ON docs USING hamming (fp);
INSERT INTO docs VALUES (1, 'a', 'here'), (2, 'a', 'there'), (3, 'a', 'everywhere');
SET client_min_messages = warning;
CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '64', 'within=site', 'similarity=jaccard');
BEGIN;
SET test.ddl = 'ALTER TABLE docs DETACH PARTITION docs_2; ALTER TABLE docs_2 ALTER site TYPE int USING 1';
INSERT INTO docs_1 VALUES (11, 'a', 'nowhere');
SELECT tableoid::regclass, body FROM docs ORDER BY id;
ROLLBACK;
BEGIN;
SET test.ddl = 'DROP TABLE docs_2';
INSERT INTO docs_1 VALUES (11, 'a', 'everywhere'); -- error
ROLLBACK;
BEGIN;
SET test.ddl = 'ALTER TABLE docs DETACH PARTITION docs_3';
INSERT INTO docs_1 VALUES (11, 'a', 'everywhere');
ROLLBACK;
RESET client_min_messages;
DROP TABLE docs;
DROP FUNCTION altering, run;

----------------------------------------
-- bad arguments
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body text, n int, fp bigint,
    lower text GENERATED ALWAYS AS (lower(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE FUNCTION try(VARIADIC options text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION '
        'simhash_guard(''fp'', ''reject'', 8, '
        || (SELECT string_agg(quote_literal(o), ', ') FROM unnest(options) AS o) || ')';
    RETURN fails('INSERT INTO docs VALUES (1, ''a'', 1)');
END $$;
SELECT try('similarity=jaccard', 'at_least=0.8');
DROP TRIGGER guard ON docs;
SELECT try('similarity=jaccard');
DROP TRIGGER guard ON docs;
SELECT try('at_least=0.8');
DROP TRIGGER guard ON docs;
SELECT try('similarity=jaccard', 'document=n');
DROP TRIGGER guard ON docs;
SELECT try('at_least=0.8', 'document=body');
DROP TRIGGER guard ON docs;
DELETE FROM docs;
SELECT try('similarity=jaccard', 'document=lower');
DROP TRIGGER guard ON docs;
DELETE FROM docs;
SELECT try('verify=jaccard>=0.8', 'document=body');
DROP TRIGGER guard ON docs;
DO $$
DECLARE
    option text;
BEGIN
    FOREACH option IN ARRAY '{similarity,similarity=,similarity=jacc,similarity=Jaccard,similarity=jaccard>=0.8,
        similarity=hamming,similarity=jaccard,similarity=cosine,similarity=none,
        at_least,at_least=,at_least=-0.1,at_least=1.1,at_least=0.8x,at_least=nan,at_least=inf,at_least=80%,
        at_least=0,at_least=-0,at_least=1,at_least=1e-3}'::text[]
    LOOP
        RAISE NOTICE '%: %', option, replace(try(option, 'document=body', 'fill=simhash'), E'\n', ' | ');
        DROP TRIGGER guard ON docs;
        DELETE FROM docs;
    END LOOP;
END $$;
DROP TABLE docs;
DROP FUNCTION doc, try;
