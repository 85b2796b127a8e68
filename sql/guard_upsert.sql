--
-- simhash_guard and unique keys: INSERT ... ON CONFLICT, the option "except"
--

SET client_min_messages = warning;

----------------------------------------
-- the primary key, always
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, fp bigint, note text);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO docs VALUES (1, 0, 'a'), (2, -1, 'b');
-- the same again, another text, one near another row
INSERT INTO docs VALUES (1, 0, 'c') ON CONFLICT (id) DO UPDATE SET fp = excluded.fp, note = excluded.note;
INSERT INTO docs VALUES (1, 1, 'd') ON CONFLICT (id) DO UPDATE SET fp = excluded.fp, note = excluded.note;
INSERT INTO docs VALUES (1, 1, 'e') ON CONFLICT DO NOTHING;
INSERT INTO docs VALUES (1, -2, 'f') ON CONFLICT (id) DO UPDATE SET fp = excluded.fp; -- error
INSERT INTO docs VALUES (3, 1, 'g') ON CONFLICT (id) DO UPDATE SET fp = excluded.fp; -- error
-- what the conflict updates is examined as well
INSERT INTO docs VALUES (1, 0, 'h') ON CONFLICT (id) DO UPDATE SET fp = -1; -- error
INSERT INTO docs VALUES (1, 0, 'i') ON CONFLICT (id) DO UPDATE SET id = 9, note = 'i';
INSERT INTO docs VALUES (1, 0, 'j') ON CONFLICT (id) DO UPDATE SET id = 9; -- error
SELECT * FROM docs ORDER BY id;
-- without a clause for it the key is refused, not the text
INSERT INTO docs VALUES (9, 1, 'k'); -- error
UPDATE docs SET id = 2, fp = -2 WHERE id = 9; -- error
-- rows of our own transaction, of our own command
BEGIN;
INSERT INTO docs VALUES (20, 1023, 'l');
INSERT INTO docs VALUES (20, 1022, 'm') ON CONFLICT (id) DO UPDATE SET fp = excluded.fp;
UPDATE docs SET id = 21 WHERE id = 20;
INSERT INTO docs VALUES (20, 1023, 'n') ON CONFLICT (id) DO NOTHING; -- error
ROLLBACK;
INSERT INTO docs SELECT 30, 65535, n FROM generate_series(1, 3) AS n ON CONFLICT DO NOTHING;
INSERT INTO docs SELECT 31, 65535 # (15 << 20), n FROM generate_series(1, 2) AS n
    ON CONFLICT (id) DO UPDATE SET note = 'twice'; -- error
MERGE INTO docs USING (VALUES (30, 65534), (32, 255)) AS v (id, fp) ON docs.id = v.id
WHEN MATCHED THEN UPDATE SET fp = v.fp WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.fp, 'merged');
MERGE INTO docs USING (VALUES (33, 65535)) AS v (id, fp) ON docs.id = v.id
WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.fp, 'merged'); -- error
SELECT id, to_hex(fp), note FROM docs WHERE id >= 30 ORDER BY id;
-- skip, mark
ALTER TABLE docs ADD twin int;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
INSERT INTO docs VALUES (30, 65535, 'skip') ON CONFLICT (id) DO UPDATE SET note = excluded.note;
INSERT INTO docs VALUES (40, 65535, 'skip') ON CONFLICT (id) DO UPDATE SET note = excluded.note;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO docs VALUES (30, 65535, 'mark') ON CONFLICT (id) DO UPDATE SET note = excluded.note, twin = excluded.twin;
INSERT INTO docs VALUES (40, 65535, 'mark') ON CONFLICT (id) DO UPDATE SET note = excluded.note, twin = excluded.twin;
SELECT id, note, twin FROM docs WHERE id >= 30 ORDER BY id;
-- a deferrable key names rows, but two may have the same for a while
ALTER TABLE docs DROP CONSTRAINT docs_pkey, ADD PRIMARY KEY (id) DEFERRABLE INITIALLY DEFERRED;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
BEGIN;
INSERT INTO docs VALUES (32, 254); -- error
ROLLBACK;
DROP TABLE docs;

----------------------------------------
-- except=
----------------------------------------

CREATE TABLE pages (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, site text, url text,
    body text, fp bigint GENERATED ALWAYS AS (simhash(body)) STORED, low text GENERATED ALWAYS AS (lower(url)) STORED,
    UNIQUE (url));
CREATE INDEX ON pages USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON pages FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '8', 'except=url');
INSERT INTO pages (url, body) VALUES ('/a', 'All human beings are born free and equal in dignity and rights');
INSERT INTO pages (url, body) VALUES ('/a', 'All human beings are born free and equal in dignity, in rights')
    ON CONFLICT (url) DO UPDATE SET body = excluded.body;
INSERT INTO pages (url, body) VALUES ('/b', 'All human beings are born free and equal in dignity, in rights')
    ON CONFLICT (url) DO UPDATE SET body = excluded.body; -- error
-- NULL is no key
INSERT INTO pages (url, body) VALUES (NULL, 'something else');
INSERT INTO pages (url, body) VALUES (NULL, 'something else') ON CONFLICT (url) DO NOTHING; -- error
SELECT id, url, body FROM pages ORDER BY id;

-- which keys serve
CREATE FUNCTION try(columns text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON pages FOR EACH ROW
        EXECUTE FUNCTION simhash_guard(''fp'', ''reject'', ''8'', %L)', 'except=' || columns);
    INSERT INTO pages (url, site, body) VALUES ('/a', 's', 'all human beings are born free and equal in dignity, in rights')
        ON CONFLICT DO NOTHING;
    RETURN NEXT 'serves';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    RETURN NEXT SQLSTATE || ' ' || SQLERRM;
    RETURN NEXT hint;
END $$;
UPDATE pages SET site = 's';
SELECT try('url');
SELECT try('site');
SELECT try('gone');
SELECT try('');
SELECT try('url,url');
SELECT try('site,url');
CREATE UNIQUE INDEX pages_two ON pages (url, site);
SELECT try('site,url');
SELECT try('"site", "url"');
DROP INDEX pages_two;
CREATE UNIQUE INDEX pages_two ON pages (url, site) WHERE id > 0;
SELECT try('site,url');
DROP INDEX pages_two;
CREATE UNIQUE INDEX pages_two ON pages (url, lower(site));
SELECT try('site,url');
DROP INDEX pages_two;
CREATE INDEX pages_two ON pages (url, site);
SELECT try('site,url');
DROP INDEX pages_two;
CREATE UNIQUE INDEX pages_two ON pages (site, url) INCLUDE (body);
SELECT try('url,site');
SELECT try('url,site,body');
DROP INDEX pages_two;
ALTER TABLE pages ADD UNIQUE (site, url) DEFERRABLE;
SELECT try('url,site');
ALTER TABLE pages ADD UNIQUE (low);
SELECT try('low');
ALTER TABLE pages ADD EXCLUDE USING btree (site WITH =, id WITH =);
SELECT try('site,id');
DROP TABLE pages;

-- equality is the index's: its operator class, its collation
CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE keys (ci text COLLATE ci, c text COLLATE ci, fp bigint);
CREATE UNIQUE INDEX ON keys (ci);
CREATE UNIQUE INDEX ON keys (c COLLATE "C");
CREATE INDEX ON keys USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON keys FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'except=ci');
INSERT INTO keys VALUES ('a', 'a', 0);
INSERT INTO keys VALUES ('A', 'b', 0) ON CONFLICT DO NOTHING;
INSERT INTO keys VALUES ('b', 'a', 0) ON CONFLICT DO NOTHING; -- error
CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON keys FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'except=c');
INSERT INTO keys VALUES ('b', 'a', 0) ON CONFLICT DO NOTHING;
INSERT INTO keys VALUES ('b', 'A', 0) ON CONFLICT DO NOTHING; -- error
DROP TABLE keys;
DROP COLLATION ci;
-- domains, bytea, composite types, padded text, numbers equal in value
CREATE DOMAIN short AS varchar(10);
CREATE TYPE pair AS (a int, b text);
CREATE TABLE keys (n short, b bytea, p pair, c char(5), d numeric, e date[], fp bit(64), PRIMARY KEY (n, b, p, c, d, e));
CREATE INDEX ON keys USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON keys FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO keys VALUES ('n', 'b', '(1,x)', 'c', 1.0, '{2000-01-01}', 0::bit(64));
INSERT INTO keys VALUES ('n', 'b', '(1,x)', 'c   ', 1.00, '{2000-01-01}', 1::bit(64)) ON CONFLICT DO NOTHING;
INSERT INTO keys VALUES ('n', 'b', '(1,y)', 'c', 1.0, '{2000-01-01}', 1::bit(64)) ON CONFLICT DO NOTHING; -- error
INSERT INTO keys VALUES ('n', 'b', '(1,x)', 'c', 1.0, '{2000-01-02}', 1::bit(64)) ON CONFLICT DO NOTHING; -- error
DROP TABLE keys;
DROP TYPE pair;
DROP DOMAIN short;

----------------------------------------
-- partitions
----------------------------------------

CREATE TABLE parts (id int, part int, fp bigint, PRIMARY KEY (part, id)) PARTITION BY LIST (part);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (gone text, fp bigint, part int NOT NULL, id int NOT NULL);
ALTER TABLE parts_2 DROP gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
CREATE INDEX ON parts USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parts FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO parts VALUES (1, 1, 0), (2, 2, -1);
INSERT INTO parts VALUES (1, 1, 1) ON CONFLICT (part, id) DO UPDATE SET fp = excluded.fp;
INSERT INTO parts VALUES (2, 2, -2) ON CONFLICT (part, id) DO UPDATE SET fp = excluded.fp;
INSERT INTO parts_2 VALUES (-2, 2, 2) ON CONFLICT DO NOTHING;
INSERT INTO parts VALUES (1, 2, 1) ON CONFLICT DO NOTHING; -- error
-- a key of one partition is none of the others
CREATE UNIQUE INDEX ON parts_1 (id);
INSERT INTO parts VALUES (3, 1, 255);
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON parts FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'except=id');
INSERT INTO parts VALUES (3, 1, 254) ON CONFLICT DO NOTHING;
INSERT INTO parts VALUES (3, 2, 254) ON CONFLICT DO NOTHING; -- error
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON parts FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'except=id,part');
UPDATE parts SET part = 2 WHERE id = 3;
INSERT INTO parts VALUES (4, 1, 65535);
UPDATE parts SET part = 2, id = 3, fp = 254 WHERE id = 4; -- error
SELECT tableoid::regclass, id, fp FROM parts ORDER BY id, part;
DROP TABLE parts;

----------------------------------------
-- rights
----------------------------------------

-- what the owner planted is not called: an operator of the name, a cast
CREATE ROLE regress_guard_upsert_owner;
CREATE ROLE regress_guard_upsert_writer;
CREATE SCHEMA planted AUTHORIZATION regress_guard_upsert_owner;
GRANT USAGE ON SCHEMA planted TO regress_guard_upsert_writer;
SET ROLE regress_guard_upsert_owner;
CREATE FUNCTION planted.evil(a varchar, b varchar) RETURNS bool LANGUAGE plpgsql AS
    $$ BEGIN RAISE 'evil ran as %', current_user; END $$;
CREATE OPERATOR planted.= (LEFTARG = varchar, RIGHTARG = varchar, FUNCTION = planted.evil);
CREATE TABLE planted.docs (url varchar PRIMARY KEY, fp bigint);
CREATE INDEX ON planted.docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON planted.docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
GRANT INSERT ON planted.docs TO regress_guard_upsert_writer;
SET ROLE regress_guard_upsert_writer;
SET search_path = planted, public;
INSERT INTO docs VALUES ('/a', 0);
INSERT INTO docs VALUES ('/a', 0) ON CONFLICT DO NOTHING;
INSERT INTO docs VALUES ('/b', 0) ON CONFLICT DO NOTHING; -- error
RESET search_path;
RESET ROLE;
DROP SCHEMA planted CASCADE;
DROP ROLE regress_guard_upsert_owner, regress_guard_upsert_writer;
DROP FUNCTION try;
