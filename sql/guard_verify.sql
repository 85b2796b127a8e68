--
-- guard_verify.c: the option 'verify' of simhash_guard
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
    simhash_guard('fp', 'reject', '64', 'verify=jaccard>=0.8', 'document=body');
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
    simhash_guard('fp', 'reject', '0', 'verify=cosine>=0.9', 'document=body', 'profile=word-1');
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
    simhash_guard('fp', 'skip', '20', 'verify=jaccard>=0.5', 'document=body', 'notice');
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
    simhash_guard('fp', 'mark', '30', 'verify=cosine>=0.6', 'document=body', 'mark=dup');
INSERT INTO docs SELECT m, doc(200, m) FROM generate_series(2, 60, 3) AS m ORDER BY m;
SELECT id FROM docs AS d
WHERE dup IS DISTINCT FROM (
    SELECT id FROM docs AS e WHERE e.id < d.id AND hamming(e.fp, d.fp) <= 30
        AND simhash_cosine(e.body, d.body) >= 0.6
    ORDER BY hamming(e.fp, d.fp), dup LIMIT 1)
  AND hamming(fp, (SELECT fp FROM docs AS o WHERE o.id = d.dup)) IS DISTINCT FROM (
    SELECT min(hamming(e.fp, d.fp)) FROM docs AS e WHERE e.id < d.id
        AND simhash_cosine(e.body, d.body) >= 0.6);
SELECT count(*), count(dup) AS marked FROM docs;
DROP TABLE docs;

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
    simhash_guard('fp', 'reject', '20', 'verify=jaccard>=0.7', 'document=body', 'profile=word-2');
INSERT INTO docs VALUES (1, doc(20000));
INSERT INTO docs VALUES (101, doc(20000, 50)); -- error
INSERT INTO docs VALUES (101, doc(20000, 10));
INSERT INTO docs VALUES (2, doc(20000, 10)); -- error
DROP TABLE docs;

CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint);
SELECT simhash_add_keys('docs', 'fp');
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'verify=jaccard>=0.995', 'document=body');
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
    simhash_guard('fp', 'reject', '8', 'verify=jaccard>=0.8', 'document=body');
INSERT INTO docs VALUES (1, 'some text');
CREATE ROLE regress_writer;
GRANT INSERT, SELECT (id, fp) ON docs TO regress_writer;
SET ROLE regress_writer;
INSERT INTO docs VALUES (2, 'Some text'); -- error
RESET ROLE;
GRANT SELECT (body) ON docs TO regress_writer;
SET ROLE regress_writer;
INSERT INTO docs VALUES (2, 'Some text'); -- error
RESET ROLE;
DROP TABLE docs;
DROP ROLE regress_writer;

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
    RETURN fails('INSERT INTO docs VALUES (1, ''a'', 1, 1)');
END $$;
SELECT try('verify=jaccard>=0.8');
DROP TRIGGER guard ON docs;
SELECT try('verify=jaccard>=0.8', 'document=n');
DROP TRIGGER guard ON docs;
SELECT try('verify=jaccard>=0.8', 'document=lower');
DROP TRIGGER guard ON docs;
DO $$
DECLARE
    value text;
BEGIN
    FOREACH value IN ARRAY '{"",jaccard,jaccard>=,jaccard>0.8,jaccard>=0,jaccard>=1.1,jaccard>=-1,
        jaccard>=0.8x,jaccard>=0x1,jaccard>= 0.8,jaccard >=0.8,jacc>=0.8,>=0.8,cosine>=nan,cosine>=inf,hamming>=0.8,
        jaccard>=1,cosine>=1e-3}'::text[]
    LOOP
        RAISE NOTICE '%: %', value, split_part(try('verify=' || value, 'document=body'), E'\n', 1);
        DROP TRIGGER guard ON docs;
        DELETE FROM docs;
    END LOOP;
END $$;
DROP TABLE docs;
DROP FUNCTION doc, try;
