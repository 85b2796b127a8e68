--
-- guard_mark.c: a mark leads to the original, which is not marked itself
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE FUNCTION bits(n int) RETURNS bigint IMMUTABLE LANGUAGE sql AS
    'SELECT CASE n WHEN 64 THEN -1 ELSE (1::bigint << n) - 1 END';

----------------------------------------
-- what becomes of marks when rows come, change and go
----------------------------------------

CREATE TABLE docs (id bigint PRIMARY KEY, fp bigint, twin bigint);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
-- each is nearest to the one before it
INSERT INTO docs VALUES (1, 0), (2, bits(2)), (3, bits(4)), (4, bits(6));
SELECT id, hamming(fp, 0), twin FROM docs ORDER BY id;
-- the original is edited: it is nearest to a copy of its own, and stays an original
UPDATE docs SET fp = bits(2) WHERE id = 1 RETURNING id, twin;
-- unless another original is near; copies of its own do not hide that
ALTER TABLE docs DISABLE TRIGGER guard;
INSERT INTO docs VALUES (12, bits(1));
ALTER TABLE docs ENABLE TRIGGER guard;
UPDATE docs SET fp = bits(3) WHERE id = 1 RETURNING id, twin;
-- an original becomes a copy: marks that lead to it stay, new ones lead on
SELECT id, twin FROM docs ORDER BY id;
INSERT INTO docs VALUES (5, bits(7)) RETURNING id, twin;
-- and a row that such a mark leads to is no copy of itself
DELETE FROM docs WHERE id IN (2, 4, 5);
UPDATE docs SET fp = bits(5) WHERE id = 12 RETURNING id, twin;
-- the original goes: its copy is the last that is there
DELETE FROM docs WHERE id IN (1, 12);
INSERT INTO docs VALUES (6, bits(5)) RETURNING id, twin;
-- and comes again, be it by its key alone
INSERT INTO docs VALUES (1, bits(4)) RETURNING id, twin;
INSERT INTO docs VALUES (7, bits(5)) RETURNING id, twin;
-- marks in a circle, as there may be from before
ALTER TABLE docs DISABLE TRIGGER guard;
TRUNCATE docs;
INSERT INTO docs VALUES (1, 0, 2), (2, 0, 3), (3, 0, 4), (4, 0, 2), (5, -1, 5);
ALTER TABLE docs ENABLE TRIGGER guard;
INSERT INTO docs VALUES (6, 1) RETURNING id, twin BETWEEN 2 AND 4 AS in_the_circle;
INSERT INTO docs VALUES (7, -2) RETURNING id, twin;
UPDATE docs SET fp = 1 WHERE id = 3 RETURNING id, twin;
DROP TABLE docs;

-- a foreign key
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, twin int REFERENCES docs ON DELETE SET NULL);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO docs VALUES (1, 0), (2, 1), (3, 3), (4, 7);
DELETE FROM docs WHERE id = 1;
SELECT id, twin FROM docs ORDER BY id;
INSERT INTO docs VALUES (5, 3) RETURNING id, twin;
DROP TABLE docs;

-- partitions; an update moves the original
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, twin int) PARTITION BY RANGE (id);
CREATE TABLE low PARTITION OF docs FOR VALUES FROM (0) TO (100);
CREATE TABLE high (twin int, fp bigint, id int NOT NULL);
ALTER TABLE docs ATTACH PARTITION high FOR VALUES FROM (100) TO (200);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO docs VALUES (1, 0), (101, 1), (2, 3), (102, 7);
SELECT * FROM docs ORDER BY id;
UPDATE docs SET id = 103, fp = 1 WHERE id = 1 RETURNING *;
UPDATE docs SET id = 3, fp = 3 WHERE id = 103 RETURNING *;
INSERT INTO docs VALUES (104, 15) RETURNING *;
DROP TABLE docs;

-- the key as text, in JSON, of several columns: the mark of the nearest row
CREATE FUNCTION try_types(keys text, mark text, second text DEFAULT 'id') RETURNS TABLE (id text, twin text)
LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS docs;
    EXECUTE format('CREATE TABLE docs (id %s, lot int DEFAULT 9, fp bigint, twin %s, PRIMARY KEY (%s))', keys, mark, second);
    CREATE INDEX ON docs USING hamming (fp);
    CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
        EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
    INSERT INTO docs (id, fp) VALUES ('1', 0), ('2', 1), ('3', 3), ('4', 7);
    UPDATE docs SET fp = 1 WHERE docs.id = '1';
    INSERT INTO docs (id, fp) VALUES ('5', -1);
    UPDATE docs SET fp = -1 WHERE docs.id = '1';
    INSERT INTO docs (id, fp) VALUES ('6', 7);
    RETURN QUERY SELECT docs.id::text, docs.twin::text FROM docs ORDER BY 1;
END $$;
SET client_min_messages = warning;
SELECT keys, mark, second, array_agg((id, twin)::text ORDER BY id) FROM (VALUES
    ('bigint', 'bigint', 'id'), ('int', 'bigint', 'id'), ('int', 'text', 'id'), ('text', 'text', 'id'), ('varchar(9)', 'text', 'id'),
    ('text', 'jsonb', 'id'), ('int', 'jsonb', 'id'), ('text', 'json', 'id, lot'), ('int', 'text', 'id, lot'), ('numeric', 'numeric', 'id'))
    AS v (keys, mark, second), try_types(keys, mark, second) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
-- a mark that its own key does not fit
CREATE OR REPLACE FUNCTION try_fit(keys text, key text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS docs;
    EXECUTE format('CREATE TABLE docs (id %s PRIMARY KEY, fp bigint, twin varchar(2))', keys);
    CREATE INDEX ON docs USING hamming (fp);
    CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
        EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
    INSERT INTO docs (id, fp) VALUES ('1', 0), ('2', 1);
    EXECUTE format('INSERT INTO docs (id, fp) VALUES (%L, 1)', key);
    RETURN (SELECT twin FROM docs WHERE docs.id::text = key);
END $$;
SELECT try_fit('int', '12345'), try_fit('text', 'none that fits');
DROP TABLE docs;
DROP FUNCTION try_types, try_fit;

----------------------------------------
-- rows at random, and what a model says of their marks
----------------------------------------

-- the original that a row leads to; NULL if it leads to the row with the key "own", -1 in circles
CREATE TABLE docs (id bigint PRIMARY KEY, fp bigint, twin bigint);
CREATE FUNCTION follow(start bigint, own bigint, direct boolean) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    at bigint := start;
    mark bigint;
    seen bigint[] := '{}';
BEGIN
    LOOP
        SELECT twin INTO mark FROM docs WHERE id = at;
        IF mark = own THEN RETURN NULL;
        ELSIF mark IS NULL OR (direct AND NOT EXISTS (SELECT FROM docs WHERE id = mark)) THEN RETURN at;
        ELSIF NOT direct THEN RETURN mark;
        ELSIF mark = ANY (seen) THEN RETURN -1;
        END IF;
        seen := seen || mark;
        at := mark;
    END LOOP;
END $$;
-- what the mark of a row may be, for each of the nearest rows
CREATE FUNCTION allowed(own bigint, print bigint, direct boolean) RETURNS bigint[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN (WITH near AS MATERIALIZED (SELECT follow(id, own, direct) AS original, hamming(fp, print) AS distance
        FROM docs WHERE id <> own AND hamming(fp, print) <= 3)
    SELECT array_agg(DISTINCT original) FROM near
    WHERE distance = (SELECT min(distance) FROM near WHERE original IS NOT NULL) AND original IS NOT NULL);
END $$;
CREATE FUNCTION some_print() RETURNS bigint LANGUAGE sql VOLATILE AS $$
    SELECT hashint8extended(floor(random() * 4)::int, 1) # bits(floor(random() * 7)::int)
$$;
CREATE FUNCTION try_model(steps int, type text, index text) RETURNS TABLE (marked bigint, led_on bigint, own bigint, circles bigint)
LANGUAGE plpgsql AS $$
DECLARE
    key bigint;
    print bigint;
    mark bigint;
    expected bigint[];
    direct boolean := type = 'bigint';
BEGIN
    marked := 0; led_on := 0; own := 0; circles := 0;
    DROP TABLE IF EXISTS docs;
    EXECUTE format('CREATE TABLE docs (id bigint PRIMARY KEY, fp bigint, twin %s)', type);
    EXECUTE index;
    CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
        EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
    FOR i IN 1 .. steps LOOP
        key := 1 + floor(random() * 60);
        print := some_print();
        expected := allowed(key, print, direct);
        IF random() < .1 THEN
            DELETE FROM docs WHERE id = key;
            CONTINUE;
        ELSIF NOT EXISTS (SELECT FROM docs WHERE id = key) THEN
            INSERT INTO docs VALUES (key, print) RETURNING twin INTO mark;
        ELSIF (SELECT fp = print FROM docs WHERE id = key) THEN
            CONTINUE;
        ELSE
            UPDATE docs SET fp = print WHERE id = key RETURNING twin INTO mark;
        END IF;
        IF -1 = ANY (expected) THEN
            circles := circles + 1;
            CONTINUE;
        END IF;
        IF (CASE WHEN mark IS NULL THEN expected IS NOT NULL ELSE mark <> ALL (coalesce(expected, '{}')) END) THEN
            RAISE 'step %: row % is marked % in place of %', i, key, mark, expected;
        END IF;
        -- what a mark leads to is marked only if its own mark leads nowhere
        IF direct AND EXISTS (SELECT FROM docs AS o JOIN docs AS m ON m.id::text = o.twin::text WHERE o.id = mark) THEN
            RAISE 'step %: row % is marked %, which is marked', i, key, mark;
        END IF;
        marked := marked + (mark IS NOT NULL)::int;
        led_on := led_on + (mark IS NOT NULL AND NOT EXISTS (SELECT FROM docs WHERE id = mark AND hamming(fp, print) <= 3))::int;
        own := own + (mark IS NULL AND EXISTS (SELECT FROM docs WHERE id <> key AND hamming(fp, print) <= 3))::int;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT setseed(.1062);
SELECT type, marked > 800 AS many_marked, led_on > 100 AS many_led_on, own > 20 AS own, circles = 0 AS no_circles
FROM unnest('{bigint,text}'::text[]) AS type,
    try_model(2000, type, 'CREATE INDEX ON docs USING hamming (fp)');
SELECT type, marked > 200 AS many_marked, circles = 0 AS no_circles
FROM unnest('{bigint,text}'::text[]) AS type,
    try_model(600, type, $$SELECT simhash_add_keys('docs', 'fp')$$);

DROP TABLE docs;
DROP FUNCTION bits, follow, allowed, some_print, try_model;
