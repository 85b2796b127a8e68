--
-- near_apart.c: rows that somebody has said are no near-duplicates of each other
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE FUNCTION says(command text) RETURNS text LANGUAGE sql AS $$
    SELECT split_part(fails(command), E'\n', 1)
$$;
SET client_min_messages = warning;

----------------------------------------
-- a series of pictures
----------------------------------------

CREATE TABLE pics (id int PRIMARY KEY, h bigint, note text);
CREATE INDEX ON pics USING hamming (h);
INSERT INTO pics SELECT n, 1::bigint << n FROM generate_series(1, 12) AS n;
CREATE TABLE apart (gone text[], kept text[], reviewed_by text);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON pics FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('h', 'reject', '8', 'apart=apart');
UPDATE pics SET note = 'seen' WHERE id = 1;
UPDATE pics SET h = 1 WHERE id = 1; -- error
-- the plan names those that stay; all that it connects are apart
INSERT INTO apart SELECT gone, kept FROM simhash_dedup_plan('pics', 'h', 8);
SELECT count(*) FROM apart;
UPDATE pics SET h = h # 1;
-- a row that comes, unless its key is named
INSERT INTO pics VALUES (13, 0);
INSERT INTO apart VALUES ('{13}', '{5}');
INSERT INTO pics VALUES (13, 0);
-- a key that changes: either of the two
UPDATE pics SET id = 14, h = 1 WHERE id = 13;
UPDATE pics SET h = 0 WHERE id = 14; -- error
UPDATE pics SET id = 13, h = 0 WHERE id = 14;
-- lines that name no row of the table
INSERT INTO apart VALUES (NULL, '{1}'), ('{}', '{1}'), ('{14,1}', '{1}'), ('{NULL}', '{1}'), ('{{14}}', '{1}');
UPDATE pics SET id = 14, h = 2 WHERE id = 13;
UPDATE pics SET h = 1 WHERE id = 14;
DELETE FROM apart WHERE gone = '{{14}}';
UPDATE pics SET h = 0 WHERE id = 14; -- error
-- what is no key at all is an error, as for the plan; but only if a row is near
INSERT INTO apart VALUES ('{x}', '{1}');
UPDATE pics SET h = -1 WHERE id = 14;
UPDATE pics SET h = 0 WHERE id = 14; -- error
SELECT says($$SELECT FROM simhash_dedup_plan('pics', 'h', 8, apart => 'apart')$$);
TRUNCATE apart;
-- the other actions
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON pics FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('h', 'conflict', '8', 'apart=apart');
INSERT INTO apart SELECT ARRAY[n::text], '{12}' FROM generate_series(1, 20) AS n WHERE n <> 3;
INSERT INTO pics VALUES (20, 0) ON CONFLICT (id) DO UPDATE SET note = 'met' RETURNING id;
INSERT INTO apart VALUES ('{3}', '{4}');
INSERT INTO pics VALUES (20, 0) ON CONFLICT (id) DO UPDATE SET note = 'met' RETURNING id;
DROP TABLE pics, apart;

----------------------------------------
-- keys of all kinds, as other sessions have written them
----------------------------------------

CREATE FUNCTION try_keys(type text, a text, b text, lines text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS t, apart;
    EXECUTE format('CREATE TABLE t (id %s PRIMARY KEY, fp bigint)', type);
    CREATE INDEX ON t USING hamming (fp);
    CREATE TABLE apart (kept text[], gone text[]);
    CREATE TRIGGER guard BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'apart=apart');
    INSERT INTO apart VALUES (lines[1:1], lines[2:2]);
    EXECUTE format('INSERT INTO t VALUES (%L, 0)', a);
    RETURN says(format('INSERT INTO t VALUES (%L, 1) RETURNING true', b));
END $$;
SELECT type, lines, try_keys(type, a, b, lines) FROM (VALUES
    ('int', '1', '2', '{1,2}'::text[]), ('int', '1', '2', '{2,1}'), ('int', '1', '2', '{01," 2"}'), ('int', '1', '2', '{1,3}'),
    ('text', 'one', 'two', '{one,two}'), ('text', 'one', 'two', '{one,"two "}'), ('char(9)', 'one', 'two', '{one,two}'),
    ('uuid', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12',
        '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11,A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12}'),
    ('date', '2026-02-01', '2026-02-03', '{2026-02-01,"Feb 3, 2026"}'), ('numeric', '1.0', '2', '{1.0,2}'),
    ('timestamptz', '2026-02-01 00:00+00', '2026-02-02 00:00+00', '{2026-02-01 01:00+01,2026-02-02 00:00Z}'),
    ('bytea', 'a', 'b', E'{a,"\\\\x62"}')) AS v (type, a, b, lines);
SET datestyle = 'SQL, DMY';
SELECT try_keys('date', '2026-02-01', '2026-02-03', '{01/02/2026,2026-02-03}');
RESET datestyle;
DROP TABLE t, apart;
DROP FUNCTION try_keys;
-- of two columns; partitions of both tables
CREATE TABLE t (part int, name text, fp bigint, PRIMARY KEY (name, part)) PARTITION BY LIST (part);
CREATE TABLE t1 PARTITION OF t FOR VALUES IN (1);
CREATE TABLE t2 (fp bigint, name text NOT NULL, part int NOT NULL);
ALTER TABLE t ATTACH PARTITION t2 FOR VALUES IN (2);
CREATE INDEX ON t USING hamming (fp);
CREATE TABLE apart (at date DEFAULT '2026-01-01', gone text[], kept text[]) PARTITION BY RANGE (at);
CREATE TABLE apart1 PARTITION OF apart DEFAULT;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'apart=apart');
INSERT INTO t VALUES (1, 'a, "b', 0);
SELECT says($$INSERT INTO t VALUES (2, 'c', 0) RETURNING true$$);
INSERT INTO apart (gone, kept) VALUES ('{"a, \"b",1}', '{c,2}');
SELECT says($$INSERT INTO t VALUES (2, 'c', 0) RETURNING true$$);
SELECT says($$INSERT INTO t VALUES (2, 'a', 0) RETURNING true$$);
SELECT says($$UPDATE t SET part = 1, fp = 1 WHERE name = 'c' RETURNING true$$);
DROP TABLE t, apart;

----------------------------------------
-- whose table it is
----------------------------------------

CREATE ROLE regress_guard_apart_owner;
CREATE ROLE regress_guard_apart_writer;
CREATE SCHEMA ours AUTHORIZATION regress_guard_apart_owner;
CREATE SCHEMA "Odd.one" AUTHORIZATION regress_guard_apart_owner;
GRANT USAGE ON SCHEMA ours TO regress_guard_apart_writer;
GRANT CREATE, TEMPORARY ON DATABASE :DBNAME TO regress_guard_apart_writer;
SET ROLE regress_guard_apart_owner;
CREATE TABLE ours.t (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON ours.t USING hamming (fp);
CREATE TABLE ours.apart (gone text[], kept text[]);
CREATE TABLE "Odd.one"."Apart" (gone text[], kept text[]);
INSERT INTO "Odd.one"."Apart" VALUES ('{1}', '{2}');
ALTER TABLE "Odd.one"."Apart" ENABLE ROW LEVEL SECURITY;
ALTER TABLE "Odd.one"."Apart" FORCE ROW LEVEL SECURITY;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON ours.t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'apart=apart');
GRANT INSERT, UPDATE, TRIGGER, SELECT ON ours.t TO regress_guard_apart_writer;
INSERT INTO ours.t VALUES (1, 0);
-- a writer without rights to it, whose own tables come first on the path
SET ROLE regress_guard_apart_writer;
CREATE TEMPORARY TABLE apart (gone text[], kept text[]);
INSERT INTO apart VALUES ('{1}', '{2}');
CREATE SCHEMA mine;
CREATE TABLE mine.apart (gone text[], kept text[]);
INSERT INTO mine.apart VALUES ('{1}', '{2}');
SET search_path = mine, public;
SELECT says('INSERT INTO ours.t VALUES (2, 1)');
SELECT says($$INSERT INTO ours.apart VALUES ('{1}', '{2}')$$);
-- nor may he make a guard by it
CREATE FUNCTION try_name(name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER guard2 BEFORE INSERT OR UPDATE ON ours.t FOR EACH ROW
        EXECUTE FUNCTION public.simhash_guard(''fp'', ''skip'', ''3'', %L)', 'apart=' || name);
    RETURN public.says('INSERT INTO ours.t VALUES (3, -1)');
END $$;
SELECT name, try_name(name) FROM unnest(ARRAY['mine.apart', 'pg_temp.apart', '"mine".apart', 'pg_catalog.pg_class', 'none', 'none.apart',
    '', '.', 'a.b.c', '"apart', 't', 'ours.t_pkey', '"Odd.one".apart', '"Odd.one"."Apart"', 'ours.apart', 'apart']) AS name;
DROP SCHEMA mine CASCADE;
RESET search_path;
RESET ROLE;
DROP TRIGGER guard2 ON ours.t;
DROP TABLE pg_temp.apart;
-- the owner's line lets it in, for the writer as for anybody
INSERT INTO ours.apart VALUES ('{1}', '{2}');
SET ROLE regress_guard_apart_writer;
SELECT says('INSERT INTO ours.t VALUES (2, 1) RETURNING true');
RESET ROLE;
-- a table of which nobody may see a row by its policies
DELETE FROM ours.t WHERE id = 2;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON ours.t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'apart="Odd.one"."Apart"');
SET ROLE regress_guard_apart_writer;
SELECT says('INSERT INTO ours.t VALUES (2, 1) RETURNING true');
RESET ROLE;
-- a view, a column that is generated or of another type, no primary key
CREATE FUNCTION try_table(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL ROLE regress_guard_apart_owner;
    DROP TABLE IF EXISTS ours.apart;
    EXECUTE command;
    RETURN public.says('INSERT INTO ours.t VALUES (4, 5)');
END $$;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON ours.t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'apart=apart');
SELECT try_table('CREATE TABLE ours.apart (gone text[], kept varchar[])');
SELECT try_table('CREATE TABLE ours.apart (gone text[])');
SELECT try_table('CREATE TABLE ours.apart (gone text[], kept text[] GENERATED ALWAYS AS (gone) STORED)');
SELECT try_table('CREATE VIEW ours.apart AS SELECT NULL::text[] AS gone, NULL::text[] AS kept');
DROP VIEW ours.apart;
SELECT try_table('CREATE TABLE ours.apart (gone text[], kept text[])');
SELECT try_table('CREATE TABLE ours.apart (gone text[], kept text[]); ALTER TABLE ours.t DROP CONSTRAINT t_pkey');
-- altered between two rows of a statement
ALTER TABLE ours.t ADD PRIMARY KEY (id);
CREATE FUNCTION alter_it(n int, command text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    IF n = 2 THEN EXECUTE command; END IF;
    RETURN 4 + n;
END $$;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON ours.t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'apart=apart');
SELECT command, says(format('INSERT INTO ours.t SELECT alter_it(n, %L), 0 FROM generate_series(0, 3) AS n', command))
FROM unnest(ARRAY['DROP TABLE ours.apart', 'ALTER TABLE ours.apart DROP gone', 'ALTER TABLE ours.apart RENAME gone TO went',
    'ALTER TABLE ours.apart ALTER kept TYPE text USING NULL']) AS command;
DROP SCHEMA ours, "Odd.one" CASCADE;
REVOKE ALL ON DATABASE :DBNAME FROM regress_guard_apart_writer;
DROP ROLE regress_guard_apart_owner, regress_guard_apart_writer;
DROP FUNCTION try_table, alter_it;

----------------------------------------
-- lines and rows at random, and what a query says of them
----------------------------------------

CREATE TABLE t (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON t USING hamming (fp);
CREATE TABLE apart (gone text[], kept text[]);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'apart=apart');
CREATE FUNCTION family_of(a int) RETURNS TABLE (key int) LANGUAGE sql AS $$
    WITH RECURSIVE f AS (
        SELECT a AS key
        UNION
        SELECT CASE WHEN gone[1]::int = f.key THEN kept[1]::int ELSE gone[1]::int END
        FROM f, apart WHERE f.key IN (gone[1]::int, kept[1]::int))
    SELECT key FROM f
$$;
CREATE FUNCTION try_random(steps int) RETURNS TABLE (let_in int, by_lines int, kept_out int) LANGUAGE plpgsql AS $$
DECLARE
    old_key int;
    key int;
    print bigint;
    is_near boolean;
    passes boolean;
    done bigint;
BEGIN
    let_in := 0; by_lines := 0; kept_out := 0;
    FOR i IN 1 .. steps LOOP
        key := 1 + floor(random() * 40);
        print := hashint8extended(floor(random() * 5)::int, 1) # (1::bigint << floor(random() * 60)::int);
        CASE floor(random() * 8)::int
            WHEN 0 THEN DELETE FROM apart WHERE random() < .1; CONTINUE;
            WHEN 1 THEN DELETE FROM t WHERE id = key; CONTINUE;
            WHEN 2, 3, 4 THEN INSERT INTO apart VALUES (ARRAY[key], ARRAY[1 + floor(random() * 40)::int]); CONTINUE;
            ELSE NULL;
        END CASE;
        SELECT id INTO old_key FROM t WHERE random() < .5 ORDER BY random() LIMIT 1;
        IF NOT EXISTS (SELECT FROM t WHERE id = key) AND random() < .5 THEN
            old_key := NULL;
        ELSIF EXISTS (SELECT FROM t WHERE id = key) OR old_key IS NULL THEN
            CONTINUE WHEN NOT EXISTS (SELECT FROM t WHERE id = key);
            old_key := key;
        END IF;
        CONTINUE WHEN (SELECT fp = print FROM t WHERE id = old_key);
        is_near := EXISTS (SELECT FROM t WHERE id IS DISTINCT FROM old_key AND hamming(fp, print) <= 3);
        passes := NOT EXISTS (SELECT FROM t WHERE id IS DISTINCT FROM old_key AND hamming(fp, print) <= 3
            AND id NOT IN (SELECT family_of(key) UNION ALL SELECT family_of(old_key) WHERE old_key IS NOT NULL));
        IF old_key IS NULL THEN
            INSERT INTO t VALUES (key, print);
        ELSE
            UPDATE t SET id = key, fp = print WHERE id = old_key;
        END IF;
        GET DIAGNOSTICS done = ROW_COUNT;
        IF passes <> (done = 1) THEN
            RAISE 'step %: % -> %, % is % in place of %', i, old_key, key, print, done, passes;
        END IF;
        let_in := let_in + done;
        by_lines := by_lines + (is_near AND passes)::int;
        kept_out := kept_out + 1 - done;
    END LOOP;
    RETURN NEXT;
END $$;
SELECT setseed(.4062);
SELECT let_in > 300 AS many_let_in, by_lines > 100 AS many_by_lines, kept_out > 200 AS many_kept_out FROM try_random(4000);
-- a long path of lines, and many of them
TRUNCATE t, apart;
INSERT INTO apart SELECT ARRAY[n::text], ARRAY[(n + 1)::text] FROM generate_series(1, 20000) AS n ORDER BY hashint4(n);
INSERT INTO t VALUES (1, 0), (20001, 1), (20002, 3), (10000, 7);
SELECT id FROM t ORDER BY id;
DROP TABLE t, apart;
DROP FUNCTION says, family_of, try_random;
