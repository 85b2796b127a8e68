--
-- guard_load.c, near_known.c: many rows through the guards of a table at once
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

----------------------------------------
-- rows by names, what is left out
----------------------------------------

CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, site text, body text, state text DEFAULT 'new',
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '8', 'within=site', 'similarity=alike');
CREATE TABLE staging (n int, body text, site text);
INSERT INTO docs (site, body) VALUES ('a', 'The ferry to Oslo leaves at nine from the old harbour.');
INSERT INTO staging VALUES
    (1, 'THE FERRY to Oslo leaves at nine, from the old harbour!', 'a'),
    (2, 'THE FERRY to Oslo leaves at nine, from the old harbour!', 'b'),
    (3, 'The ferry to Oslo leaves at nine, from the old harbour', 'b'),
    (4, 'The ferry to Oslo leaves at ten from the old harbour.', 'a'),
    (5, NULL, 'a'), (6, NULL, 'a'),
    (7, 'The ferry to Oslo leaves at nine from the old harbour.', NULL),
    (NULL, 'The ferry to Oslo leaves at ten from the old harbour.', 'a');
CREATE TABLE left_out AS SELECT * FROM simhash_guard_load('docs',
    'SELECT n, site, body, minhash(body) AS fp FROM staging ORDER BY n');
SELECT * FROM left_out;
SELECT * FROM docs ORDER BY id;
-- again: all that can be near
SELECT * FROM simhash_guard_load('docs', 'SELECT n, site, body, minhash(body) AS fp FROM staging ORDER BY n');
-- the order is that of the query
TRUNCATE docs RESTART IDENTITY;
SELECT * FROM simhash_guard_load('docs', 'SELECT n, site, body, minhash(body) AS fp FROM staging ORDER BY n DESC -- the last first');
-- nothing
SELECT * FROM simhash_guard_load('docs', 'SELECT n, body, minhash(body) AS fp FROM staging WHERE false; -- none');
-- rows of a join come in an order of its own, and by their own ids
SELECT count(*), count(DISTINCT id) FROM simhash_guard_load('docs',
    'SELECT s.n, s.site, s.body, minhash(s.body) AS fp FROM staging AS s JOIN generate_series(1, 7) AS n USING (n)');

----------------------------------------
-- what is wrong
----------------------------------------

SELECT fails($$SELECT simhash_guard_load(NULL, 'SELECT 1')$$);
SELECT fails($$SELECT simhash_guard_load('docs', NULL)$$);
SELECT fails($$SELECT simhash_guard_load('docs', 'staging')$$);
SELECT fails($$SELECT simhash_guard_load('docs', 'DELETE FROM staging RETURNING *')$$);
SELECT fails($$SELECT simhash_guard_load('docs', 'SELECT n, body FROM staging) AS q; DROP TABLE docs; --')$$);
SELECT fails($$SELECT simhash_guard_load('docs', 'SELECT n, body FROM staging')$$);
SELECT fails($$SELECT simhash_guard_load('docs', 'SELECT n, body, 1 AS fp FROM staging')$$);
SELECT fails($$SELECT simhash_guard_load('docs', 'SELECT n, body AS text, minhash(body) AS fp FROM staging')$$);
SELECT fails($$SELECT simhash_guard_load('docs', 'SELECT FROM staging')$$);
SELECT fails($$SELECT simhash_guard_load('staging', 'SELECT 1')$$);
SELECT fails($$SELECT simhash_guard_load(0, 'SELECT 1')$$);
SELECT fails($$SELECT simhash_guard_load('docs_pkey', 'SELECT 1')$$);
CREATE VIEW seen AS SELECT * FROM docs;
SELECT fails($$SELECT simhash_guard_load('seen', 'SELECT 1')$$);
DROP VIEW seen;
SELECT _simhash_guard_load_row(1), _simhash_guard_load_row(NULL::text);
-- nothing is left behind
INSERT INTO docs (site, body) SELECT site, body FROM staging WHERE n = 1; -- error

----------------------------------------
-- actions
----------------------------------------

CREATE FUNCTION guard(VARIADIC arguments text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS t;
    CREATE TABLE t (id int PRIMARY KEY, fp bigint, twin int);
    CREATE INDEX ON t USING hamming (fp);
    INSERT INTO t VALUES (1, 0), (2, -1);
    EXECUTE 'CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION simhash_guard('
        || (SELECT string_agg(quote_literal(a), ', ') FROM unnest(arguments) AS a) || ')';
END $$;
CREATE TABLE s (id int, fp bigint);
INSERT INTO s VALUES (11, 7), (12, 255), (13, 511), (14, -2), (15, NULL), (16, 65535), (17, 65535);
SET client_min_messages = warning;
SELECT guard('fp', 'reject', '3');
RESET client_min_messages;
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
SELECT guard('fp', 'skip', '3', 'notice');
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
SELECT guard('fp', 'conflict', '3');
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
SELECT guard('fp', 'mark', '3', 'mark=twin');
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
SELECT * FROM t ORDER BY id;
-- a distance at which only equal ones are near, and one that is searched row by row
SELECT guard('fp', 'skip', '0');
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
SELECT guard('fp', 'skip', '17');
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
-- a value of another type, and a key that is there, are errors
SELECT fails($$SELECT simhash_guard_load('t', 'SELECT 1, 12345678::bigint AS fp, ''1''::text AS id')$$);
SELECT fails($$SELECT simhash_guard_load('t', 'SELECT 1, 12345678::bigint AS fp, 1 AS id')$$);

----------------------------------------
-- what is not known beforehand
----------------------------------------

-- more than a few are near; and a crowd
SELECT guard('fp', 'skip', '3');
CREATE TABLE many AS SELECT 100 + n AS id, (1::bigint << (n % 64)) # (1::bigint << (n / 64)) AS fp FROM generate_series(1, 2500) AS n;
ALTER TABLE t DISABLE TRIGGER guard;
INSERT INTO t SELECT * FROM many WHERE id > 200;
ALTER TABLE t ENABLE TRIGGER guard;
SELECT count(*), count(near), max(distance) FROM simhash_guard_load('t', 'SELECT * FROM many WHERE id <= 200 ORDER BY id');

-- a trigger changes fingerprints, or inserts rows of its own
SELECT guard('fp', 'skip', '3');
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id = 12 THEN
        new.fp := 1000000;
    ELSIF new.id = 13 AND TG_ARGV[0] = 'insert' THEN
        INSERT INTO t VALUES (99, 65534);
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER aaa BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION meddle();
UPDATE s SET fp = 1000001 WHERE id = 16;
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
SELECT * FROM t ORDER BY id;
SELECT guard('fp', 'skip', '3');
UPDATE s SET fp = 65535 WHERE id = 16;
CREATE TRIGGER aaa BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION meddle('insert');
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
-- a near-duplicate among those is rejected as ever
CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
DELETE FROM t WHERE id IN (13, 99);
INSERT INTO t VALUES (98, 65535);
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s WHERE id = 13'); -- error

-- the fingerprints of the query are others
SELECT guard('fp', 'skip', '3', 'document=body', 'fill=minhash', 'similarity=jaccard') FROM (SELECT fails('DROP TABLE t')) AS d;
ALTER TABLE t ADD body text;
TRUNCATE t;
SELECT * FROM simhash_guard_load('t', $$SELECT id, body, minhash(body) AS fp FROM (VALUES (1, 'a b c d'), (2, 'A b c d'), (3, 'x y z')) AS v (id, body)$$);
SELECT * FROM simhash_guard_load('t', $$SELECT id, body, NULL::bigint AS fp FROM (VALUES (4, 'a b c d'), (5, 'e f g h'), (6, 'E f g h')) AS v (id, body)$$);
SELECT * FROM simhash_guard_load('t', $$SELECT id, body, 1::bigint AS fp FROM (VALUES (7, 'a b c d'), (8, 'o p q')) AS v (id, body)$$); -- error

-- too little memory
SELECT guard('fp', 'skip', '3');
SET maintenance_work_mem = '1MB';
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
RESET maintenance_work_mem;

-- no rows at all
TRUNCATE t;
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s WHERE id < 11');
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s WHERE id = 15');

-- a load that a trigger of a load begins, into the same table
SELECT guard('fp', 'skip', '3');
CREATE FUNCTION load_more() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id = 13 THEN
        RAISE NOTICE 'left out: %', (SELECT json_agg(l) FROM simhash_guard_load('t', 'SELECT id + 100 AS id, fp FROM s WHERE id IN (13, 14, 17)') AS l);
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER aaa BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION load_more();
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s ORDER BY id');
SELECT * FROM t ORDER BY id;

-- bit strings and key columns
CREATE TABLE wide (id int PRIMARY KEY, fp bit(128));
CREATE INDEX ON wide USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON wide FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
SELECT * FROM simhash_guard_load('wide', $$SELECT n AS id, n::bit(128) AS fp FROM generate_series(1, 40, 13) AS n$$);
CREATE TABLE keyed (id int PRIMARY KEY, fp bigint);
SELECT simhash_add_keys('keyed', 'fp');
CREATE TRIGGER guard BEFORE INSERT ON keyed FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
SELECT * FROM simhash_guard_load('keyed', $$SELECT n AS id, n::bigint AS fp FROM generate_series(1, 40, 13) AS n$$);
-- all by default
ALTER TABLE keyed ALTER id SET DEFAULT 99;
SELECT * FROM simhash_guard_load('keyed', 'SELECT 7 AS n');
SELECT id, fp FROM keyed ORDER BY id;

----------------------------------------
-- several guards, partitions, rights
----------------------------------------

CREATE TABLE parts (id int, part int, fp bigint, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (fp bigint, part int NOT NULL, id int NOT NULL);
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
CREATE INDEX ON parts USING hamming (fp);
CREATE TRIGGER near BEFORE INSERT ON parts FOR EACH ROW WHEN (new.id < 100) EXECUTE FUNCTION simhash_guard('fp', 'reject', '1');
CREATE TRIGGER far BEFORE INSERT ON parts FOR EACH ROW WHEN (new.id >= 100) EXECUTE FUNCTION simhash_guard('fp', 'reject', '4');
SELECT * FROM simhash_guard_load('parts', $$VALUES (1, 1, 0::bigint), (2, 2, 1), (3, 2, 3), (100, 1, 15), (4, 1, 15), (5, 2, 31)$$); -- error
SELECT * FROM simhash_guard_load('parts', $$SELECT * FROM (VALUES (1, 1, 0::bigint), (2, 2, 1), (3, 2, 3), (100, 1, 15), (4, 1, 15), (5, 2, 31), (101, 2, 63))
    AS v (id, part, fp) ORDER BY id % 100, id$$);
SELECT tableoid::regclass, * FROM parts ORDER BY id;
-- into one partition, with those of the others
SELECT * FROM simhash_guard_load('parts_2', $$SELECT 6 AS id, 2 AS part, 14::bigint AS fp$$);
SELECT fails($$SELECT simhash_guard_load('parts_2', 'SELECT 6 AS id, 1 AS part, 1000::bigint AS fp')$$);

-- a trigger attaches another one
CREATE TABLE parts_3 (LIKE parts_2);
INSERT INTO parts_3 VALUES (1023, 3, 7);
CREATE FUNCTION attach() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE parts ATTACH PARTITION parts_3 FOR VALUES IN (3);
    RETURN NULL;
END $$;
CREATE TRIGGER attach BEFORE INSERT ON parts_2 EXECUTE FUNCTION attach();
SELECT * FROM simhash_guard_load('parts_2', $$SELECT 8 AS id, 2 AS part, 1022::bigint AS fp$$);
DROP TRIGGER attach ON parts_2;

-- the id as it is shown, by no cast of whoever owns the type
CREATE TYPE kind AS ENUM ('small');
CREATE FUNCTION call(kind) RETURNS text LANGUAGE sql AS $$ SELECT 'called' $$;
CREATE CAST (kind AS text) WITH FUNCTION call(kind);
SELECT * FROM simhash_guard_load('parts_2', $$SELECT 'small'::kind AS kind, 8 AS id, 2 AS part, 1022::bigint AS fp$$);
DROP TYPE kind CASCADE;

CREATE ROLE regress_guard_load_some;
GRANT SELECT ON s TO regress_guard_load_some;
GRANT INSERT ON t TO regress_guard_load_some;
SET ROLE regress_guard_load_some;
SELECT fails($$SELECT simhash_guard_load('t', 'SELECT * FROM s')$$);
RESET ROLE;
GRANT UPDATE (twin), DELETE ON t TO regress_guard_load_some;
TRUNCATE t;
INSERT INTO t VALUES (1, 0);
SET ROLE regress_guard_load_some;
-- who may not read the row that is near is not told
SELECT * FROM simhash_guard_load('t', 'SELECT * FROM s WHERE id < 13 ORDER BY id');
SELECT fails($$SELECT simhash_guard_load('t', 'SELECT * FROM docs')$$);
RESET ROLE;
GRANT SELECT ON t TO regress_guard_load_some;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON t FOR INSERT WITH CHECK (id > 20);
CREATE POLICY read ON t FOR SELECT USING (id > 20);
SET ROLE regress_guard_load_some;
SELECT fails($$SELECT simhash_guard_load('t', 'SELECT * FROM s WHERE id = 16')$$);
SELECT * FROM simhash_guard_load('t', 'SELECT id + 10 AS id, fp FROM s WHERE id IN (11, 14) ORDER BY id');
RESET ROLE;
SELECT * FROM t ORDER BY id;
-- the lock stays
BEGIN;
SELECT count(*) FROM simhash_guard_load('parts', 'SELECT 200 AS id, 1 AS part, NULL::bigint AS fp');
SELECT relation::regclass, mode FROM pg_locks
WHERE pid = pg_backend_pid() AND mode = 'ShareRowExclusiveLock' ORDER BY 1;
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory';
ROLLBACK;
DROP OWNED BY regress_guard_load_some;
DROP ROLE regress_guard_load_some;
