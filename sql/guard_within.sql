--
-- near_group.c, near_space.c: the option within=column,... of simhash_guard
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- a table to guard within some columns, of a type that is asked for
CREATE FUNCTION make(columns text, within text, index text DEFAULT 'USING hamming (fp)')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS t;
    EXECUTE format('CREATE TABLE t (id int PRIMARY KEY, fp bigint, %s)', columns);
    EXECUTE 'CREATE INDEX ON t ' || index;
    EXECUTE format('CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON t FOR EACH ROW
        EXECUTE FUNCTION simhash_guard(''fp'', ''reject'', ''3'', %L)', 'within=' || within);
END $$;

----------------------------------------
-- what a group is
----------------------------------------

SET client_min_messages = warning;
SELECT make('site text, lang text', 'site,lang');
RESET client_min_messages;
INSERT INTO t VALUES (1, 0, 'a.example', 'en');
INSERT INTO t VALUES (2, 0, 'a.example', 'de'), (3, 0, 'b.example', 'en');
INSERT INTO t VALUES (4, 15, 'a.example', 'en');
INSERT INTO t VALUES (5, 7, 'a.example', 'en'); -- error
INSERT INTO t VALUES (5, 1, 'a.example', 'de'); -- error
INSERT INTO t SELECT 5, 0, 'c.example', 'en' UNION ALL SELECT 6, 0, 'c.example', 'en'; -- error
-- NULL is of no group
INSERT INTO t VALUES (10, 0, NULL, 'en'), (11, 0, NULL, 'en'), (12, 0, 'a.example', NULL),
    (13, 0, NULL, NULL), (14, 0, NULL, NULL);
INSERT INTO t VALUES (15, 2, 'a.example', 'en'); -- error
-- a changed group counts as a changed row
UPDATE t SET lang = 'en' WHERE id = 2; -- error
UPDATE t SET site = 'a.example' WHERE id = 3; -- error
UPDATE t SET site = 'a.example' WHERE id = 10; -- error
UPDATE t SET lang = 'fr' WHERE id = 2;
UPDATE t SET lang = 'de' WHERE id = 3;
UPDATE t SET lang = 'en' WHERE id = 3;
UPDATE t SET lang = NULL WHERE id = 1;
UPDATE t SET lang = 'en' WHERE id = 2;
UPDATE t SET lang = 'en' WHERE id = 1; -- error
-- neither fingerprint nor group changed: a row that was near before stays
ALTER TABLE t DISABLE TRIGGER guard;
INSERT INTO t VALUES (20, 1, 'a.example', 'en');
ALTER TABLE t ENABLE TRIGGER guard;
UPDATE t SET site = site WHERE id = 20;
UPDATE t SET fp = 2 WHERE id = 20; -- error
SELECT * FROM t ORDER BY id;

-- skip and mark
CREATE TABLE skipped (id int PRIMARY KEY, fp bigint, site int, twin int);
CREATE INDEX ON skipped USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON skipped FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'notice', 'within=site');
INSERT INTO skipped SELECT n, n % 4, n % 3 FROM generate_series(1, 9) AS n;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON skipped FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'within=site', 'mark=twin');
INSERT INTO skipped SELECT n, n % 4, n % 4 FROM generate_series(11, 18) AS n;
-- the mark of a row of no group is cleared
INSERT INTO skipped VALUES (20, 0, NULL, 77);
SELECT * FROM skipped ORDER BY id;
DROP TABLE skipped;

-- a generated column, computed after the guard; the fingerprint, too
CREATE TABLE born (id int, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    initial text GENERATED ALWAYS AS (left(body, 1)) STORED,
    size int GENERATED ALWAYS AS (length(body) / 10) STORED);
CREATE INDEX ON born USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON born FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=size,initial');
INSERT INTO born VALUES (1, 'one two three'), (2, 'One two three'), (3, 'One two, three'),
    (4, 'One,    two,   three'), (5, NULL), (6, NULL);
UPDATE born SET body = lower(body) WHERE id = 2;
SELECT * FROM born ORDER BY id;
DROP TABLE born;
-- one that is computed when it is read, as PostgreSQL 18 has them
SELECT current_setting('server_version_num')::int >= 180000 AS virtual \gset
\if :virtual
CREATE TABLE read (site text, host text GENERATED ALWAYS AS (lower(site)) VIRTUAL, fp bigint);
CREATE INDEX ON read USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON read FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=host');
SELECT fails('INSERT INTO read (site, fp) VALUES (''a'', 0)') LIKE '42611 %"host" is virtual%' AS refused \gset
DROP TABLE read;
-- without STORED a fingerprint would be one, of a function that PostgreSQL does not trust
SELECT :'refused' AND fails('CREATE TABLE read (body text, fp bigint GENERATED ALWAYS AS (minhash(body)))')
    LIKE '0A000 %' AS refused \gset
-- and a primary key that is no btree
CREATE TABLE stays (rooms int4range, during daterange, fp bigint,
    PRIMARY KEY (rooms, during WITHOUT OVERLAPS));
CREATE INDEX ON stays USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON stays FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
SELECT :'refused' AND fails('INSERT INTO stays VALUES (''[1,2)'', ''[2020-01-01,2021-01-01)'', 0)')
    LIKE '55000 %key of table "stays" is WITHOUT OVERLAPS%' AS refused \gset
DROP TABLE stays;
\else
\set refused t
\endif
SELECT :'refused' AS refused;

----------------------------------------
-- columns of every type
----------------------------------------

-- A value, one that is equal to it, however it is written, and one that is
-- not: the third passes, the second does not.
CREATE TYPE mood AS ENUM ('well', 'ill');
CREATE TYPE place AS (shelf int, label text);
CREATE DOMAIN code AS varchar(8);
CREATE FUNCTION groups(type text, a text, same text, other text) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM make('g ' || type, 'g');
    EXECUTE format('INSERT INTO t VALUES (1, 0, %L), (2, 0, %L)', a, other);
    RETURN split_part(fails(format('INSERT INTO t VALUES (3, 1, %L)', same)), E'\n', 2);
END $$;
SELECT type, groups(type, a, same, other) FROM (VALUES
    ('smallint', '1', '01', '2'), ('integer', '1', '1', '-1'), ('bigint', '1', '1', '4294967297'),
    ('text', 'a', 'a', 'A'), ('varchar', 'a', 'a', 'a '), ('char(3)', 'a', 'a  ', 'b'),
    ('code', 'a', 'a', 'b'), ('name', 'a', 'a', 'b'), ('"char"', 'a', 'a', 'b'),
    ('uuid', '00000000-0000-0000-0000-00000000000a', '0000000000000000000000000000000A',
     '00000000-0000-0000-0000-00000000000b'),
    ('boolean', 'f', 'no', 't'), ('date', '2020-01-02', '20200102', '2020-01-03'),
    ('timestamp', '2020-01-02', '2020-01-02 00:00', '2020-01-02 00:01'),
    ('timestamptz', '2020-01-02 00:00+00', '2020-01-02 01:00+01', '2020-01-02 00:00+01'),
    ('interval', '1 day', '24:00', '2 days'), ('bytea', '\x01', '\x01', '\x02'),
    ('oid', '1', '1', '2'), ('numeric', '1.0', '1.00', '1.01'), ('float8', '0', '-0', '1'),
    ('mood', 'well', 'well', 'ill'), ('place', '(1,a)', '(01,a)', '(1,b)'),
    ('int[]', '{1,2}', '{1, 2}', '{2,1}'), ('int4range', '[1,3)', '[1,2]', '[1,3]'),
    ('inet', '10.0.0.1', '10.0.0.1/32', '10.0.0.1/8'), ('jsonb', '{"a":1}', '{"a": 1.0}', '{}'),
    -- btree alone, without a hash
    ('money', '1', '1.00', '2'), ('bit(2)', '01', '01', '11')) AS v (type, a, same, other);
-- A collation for which case makes no difference, and one for which it does.
-- Without ICU there are no collations of the first kind, and its tests get the
-- values with case taken away.
CREATE FUNCTION has_icu() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    RETURN true;
EXCEPTION WHEN feature_not_supported THEN
    CREATE COLLATION ignore_case FROM "C";
    RETURN false;
END $$;
SELECT has_icu() AS has_icu \gset
CREATE FUNCTION cased(value text, icu boolean) RETURNS text LANGUAGE sql AS
    'SELECT CASE WHEN icu THEN value ELSE lower(value) END';
SELECT groups('text COLLATE ignore_case', 'site', cased('sITE', :'has_icu'), 'other');
UPDATE t SET g = cased('SITE', :'has_icu') WHERE id = 1;
UPDATE t SET g = 'site', fp = 6 WHERE id = 2; -- error
SELECT groups('text COLLATE "C"', 'Site', 'Site', 'sITE');
-- long values
SELECT make('g text', 'g');
INSERT INTO t SELECT n, 0, repeat('x', 1000000) || n FROM generate_series(1, 2) AS n;
INSERT INTO t SELECT n, 0, repeat('x', 1000000) || n % 2 FROM generate_series(3, 4) AS n; -- error

----------------------------------------
-- indexes
----------------------------------------

-- key columns behind those of the group, some of them, or none; whichever
-- serves best does, and all find the same
CREATE FUNCTION conflicts(index text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM make('site text, lang text', 'site,lang', '(id)');
    ALTER TABLE t DISABLE TRIGGER guard;
    FOR block IN 0 .. 3 LOOP
        EXECUTE format('CREATE INDEX ON t ' || index, format('simhash_key(fp, %s)', block));
    END LOOP;
    INSERT INTO t SELECT n, hashint8extended(n % 50, 1), 's' || n % 3, 'l' || n % 2
    FROM generate_series(1, 300) AS n;
    ALTER TABLE t ENABLE TRIGGER guard;
    RETURN (SELECT string_agg(coalesce(substring(fails(format('INSERT INTO t VALUES (%s, %s, ''s%s'', ''l%s'')',
        1000 + n, hashint8extended(n, 1) # 5, n % 4, n % 2)), '\(id\)=\(\d+\)'), '-'), ' ' ORDER BY n)
        FROM generate_series(40, 52) AS n);
END $$;
SELECT index, conflicts(index) FROM (VALUES ('(%s)'), ('(site, %s)'), ('(lang, site, %s)'),
    ('(site, lang, %s, id)'), ('(site DESC, %s DESC)')) AS v (index);
-- Hamming indexes within all columns of the group, some, or none: of several
-- the one with most columns is searched.
CREATE FUNCTION by_hamming(columns text, VARIADIC indexes text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    index text;
BEGIN
    PERFORM make(columns, 'site,lang', '(id)');
    ALTER TABLE t DISABLE TRIGGER guard;
    FOREACH index IN ARRAY indexes LOOP
        EXECUTE 'CREATE INDEX ON t USING hamming ' || index;
    END LOOP;
    FOR n IN 1 .. 300 LOOP
        EXECUTE format('INSERT INTO t VALUES (%s, %s, %L, %L)', n, hashint8extended(n % 50, 1), n % 3, n % 2);
    END LOOP;
    ALTER TABLE t ENABLE TRIGGER guard;
    RETURN (SELECT string_agg(coalesce(substring(fails(format('INSERT INTO t VALUES (%s, %s, %L, %L)',
        1000 + n, hashint8extended(n, 1) # 5, n % 4, n % 2)), '\(id\)=\(\d+\)'), '-'), ' ' ORDER BY n)
        FROM generate_series(40, 52) AS n);
END $$;
SELECT columns, by_hamming(columns, VARIADIC indexes::text[]) FROM (VALUES
    ('site int, lang text', '{(fp)}'), ('site int, lang text', '{"(site, fp)"}'),
    ('site numeric, lang bytea', '{"(fp, lang)"}'), ('site text, lang char(5)', '{"(lang, fp, site)"}'),
    ('site bigint, lang int', '{"(site int8_equal_ops, lang, fp)"}'),
    ('site text COLLATE ignore_case, lang name', '{"(site, fp)"}'),
    ('site int, lang text', '{(fp),"(site, fp)","(lang, site, fp)","(lang, fp)"}')) AS v (columns, indexes);
-- locks are released as the row arrives in the index, or in all of them
SELECT make('site int, lang text', 'site,lang', 'USING hamming (site, fp)');
CREATE FUNCTION guard_locks() RETURNS bigint LANGUAGE sql AS
    $$ SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory' $$;
CREATE FUNCTION note_locks() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE NOTICE '% locks', guard_locks(); RETURN new; END $$;
CREATE TRIGGER note AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION note_locks();
INSERT INTO t VALUES (1, 0, 1, 'x'), (2, 0, 1, 'y');
CREATE INDEX ON t USING hamming (fp);
INSERT INTO t VALUES (3, 0, 1, 'z');
DROP FUNCTION guard_locks, note_locks CASCADE;
-- an index that could not be built
SELECT make('site int, lang int, more bigint', 'site,lang', 'USING hamming (site, lang, fp)');
CREATE INDEX CONCURRENTLY broken ON t USING hamming (hamming_ball(fp, 3), hamming_ball(more, 3)); -- error
INSERT INTO t VALUES (1, 0, 0, 1);
INSERT INTO t VALUES (2, 0, 0, 1); -- error
-- what they do not serve
SELECT make('site int, lang text', 'site,lang', 'USING hamming (id, fp)');
INSERT INTO t VALUES (1, 0, 1, 'x'); -- error
CREATE FUNCTION refused(index text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM conflicts(index);
    RETURN fails('INSERT INTO t VALUES (0, 0, ''s0'', ''l0'')');
END $$;
SELECT index, refused(index) FROM (VALUES ('(id, %s)'), ('(%s) WHERE id > 0'),
    ('(site COLLATE "POSIX", %s)'), ('(lower(site), %s)')) AS v (index);
-- the index that the hint names has the columns of the group, where it can, and
-- serves
CREATE FUNCTION hinted(columns text, within text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
BEGIN
    PERFORM make(columns, within);
    DROP INDEX t_fp_idx;
    INSERT INTO t VALUES (1, 0);
    RETURN 'inserted';
EXCEPTION WHEN object_not_in_prerequisite_state THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    PERFORM make(columns, within);
    DROP INDEX t_fp_idx;
    EXECUTE replace(substr(hint, 6), ' CONCURRENTLY ', ' ');
    INSERT INTO t VALUES (1, 0);
    RETURN hint || E'\n' || fails('INSERT INTO t VALUES (2, 1)');
END $$;
SELECT hinted(format('site %1$s DEFAULT %2$L, "Of It" %1$s DEFAULT %2$L', type, value),
    'site,"Of It"')
FROM (VALUES ('text', 'a'), ('varchar(9)', 'a'), ('mood', 'ill'), ('code', 'aa'),
    ('bigint', '7'), ('bit(3)', '101'), ('jsonb', '{}')) AS v (type, value);
DROP FUNCTION hinted;

----------------------------------------
-- locks
----------------------------------------

-- As many as without the option, of the group: another one's differ.
CREATE FUNCTION note_locks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO noted SELECT new.id, objid FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'advisory';
    RETURN new;
END $$;
CREATE TABLE noted (id int, lock oid);
-- how many locks the insertion of two rows has in common
CREATE FUNCTION in_common(a text, b text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM noted;
    EXECUTE format('INSERT INTO t VALUES (1, 0, %s); INSERT INTO t VALUES (2, 1, %s); DELETE FROM t', a, b);
    RETURN (SELECT count(*) FROM noted AS a JOIN noted AS b USING (lock) WHERE a.id = 1 AND b.id = 2);
END $$;
SELECT make('site text, lang text', 'site,lang');
CREATE TRIGGER note BEFORE INSERT OR UPDATE ON t FOR EACH ROW EXECUTE FUNCTION note_locks();
SELECT in_common($$ 'a', 'x' $$, $$ 'b', 'x' $$), in_common($$ 'a', 'x' $$, $$ 'a', 'y' $$),
       in_common($$ 'a', 'b' $$, $$ 'b', 'a' $$);
-- far enough that there is one lock for a group
CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '20', 'within=lang,site');
SELECT in_common($$ 'a', 'x' $$, $$ 'b', 'x' $$);
SELECT id, count(*) FROM noted GROUP BY id ORDER BY id;
-- another guard, for updates, has rows of one site meet
CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=lang,site');
CREATE TRIGGER also BEFORE UPDATE ON t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=site');
SELECT in_common($$ 'a', 'x' $$, $$ 'b', 'x' $$), in_common($$ 'a', 'x' $$, $$ 'a', 'y' $$);
CREATE OR REPLACE TRIGGER also BEFORE UPDATE ON t FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
SELECT in_common($$ 'a', 'x' $$, $$ 'b', 'x' $$), in_common($$ 'a', 'x' $$, $$ 'a', 'y' $$);
DROP TABLE noted;
DROP FUNCTION note_locks CASCADE;

----------------------------------------
-- partitions
----------------------------------------

-- Partitioned by columns of the group, a row is looked up in its partition
-- alone: others are not even locked.
CREATE FUNCTION locked(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE command;
    RETURN (SELECT string_agg(DISTINCT relation::regclass::text, ' ' ORDER BY relation::regclass::text)
            FROM pg_locks JOIN pg_class AS c ON c.oid = relation
            WHERE pid = pg_backend_pid() AND relkind IN ('r', 'p') AND relname ~ '^p(_|$)');
END $$;
CREATE TABLE p (id int, fp bigint, site text, lang text) PARTITION BY LIST (site);
CREATE TABLE p_a PARTITION OF p FOR VALUES IN ('a');
CREATE TABLE p_b PARTITION OF p FOR VALUES IN ('b') PARTITION BY HASH (lang);
CREATE TABLE p_b0 PARTITION OF p_b FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p_b1 PARTITION OF p_b FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE p_c (lang text, gone int, site text, fp bigint, id int);
ALTER TABLE p_c DROP COLUMN gone;
ALTER TABLE p ATTACH PARTITION p_c DEFAULT;
CREATE INDEX ON p USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=site');
INSERT INTO p VALUES (1, 0, 'a', 'en'), (2, 0, 'b', 'en'), (3, 0, 'c', 'en'), (4, 0, 'd', 'en');
BEGIN;
SELECT locked($$ INSERT INTO p VALUES (5, -1, 'a', 'en') $$);
SELECT locked($$ INSERT INTO p VALUES (6, -1, 'b', 'en') $$);
ROLLBACK;
INSERT INTO p VALUES (7, 1, 'b', 'de'); -- error
INSERT INTO p VALUES (7, 1, 'd', 'de'); -- error
INSERT INTO p VALUES (7, 1, 'a', 'de'); -- error
INSERT INTO p VALUES (7, 1, 'e', 'de');
-- rows that move to another partition
UPDATE p SET site = 'a' WHERE id = 7; -- error
UPDATE p SET lang = 'xx' WHERE id = 2;
-- also where nothing looks at them as they get there
CREATE OR REPLACE TRIGGER guard BEFORE UPDATE ON p FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=site');
UPDATE p SET site = 'a' WHERE id = 7; -- error
UPDATE p SET site = 'b' WHERE id = 7; -- error
UPDATE p SET site = 'f' WHERE id = 7;
-- both columns
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON p FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=lang,site');
BEGIN;
SELECT locked($$ INSERT INTO p VALUES (8, -1, 'b', 'en') $$);
ROLLBACK;
UPDATE p SET site = 'b', lang = 'xx' WHERE id = 1; -- error
-- by neither
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON p FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=lang');
BEGIN;
SELECT locked($$ INSERT INTO p VALUES (9, -1, 'a', 'en') $$);
ROLLBACK;
INSERT INTO p VALUES (10, 0, 'b', 'de'); -- error
SELECT tableoid::regclass, id, fp, site, lang FROM p ORDER BY id;
DROP TABLE p;
-- partitions that tell apart what the guard takes for one
CREATE TABLE p (id int, fp bigint, site text COLLATE ignore_case)
    PARTITION BY HASH (site COLLATE "C");
CREATE TABLE p_0 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE p_1 PARTITION OF p FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX ON p USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=site');
INSERT INTO p SELECT n, 0, cased(site, :'has_icu') FROM unnest('{site,Site,sIte,SITE,siTE,sitE,sItE,SiTe,other}'::text[])
    WITH ORDINALITY AS s (site, n);
SELECT * FROM p ORDER BY id;
DROP TABLE p;
-- an expression
CREATE TABLE p (id int, fp bigint, site text) PARTITION BY LIST (left(site, 1));
CREATE TABLE p_a PARTITION OF p FOR VALUES IN ('a');
CREATE TABLE p_b PARTITION OF p FOR VALUES IN ('b');
CREATE INDEX ON p USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=site');
INSERT INTO p VALUES (1, 0, 'a'), (2, 0, 'a'), (3, 0, 'b');
SELECT * FROM p ORDER BY id;
DROP TABLE p;

----------------------------------------
-- rights
----------------------------------------

-- The owner of the table plants operators that fit its columns better; what is
-- compared with is that of the type.
CREATE ROLE regress_guard_within_writer;
CREATE SCHEMA planted AUTHORIZATION regress_guard_within_writer;
SET ROLE regress_guard_within_writer;
CREATE FUNCTION planted.trap(a anyelement, b anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_user <> 'regress_guard_within_writer' THEN RAISE 'trapped %', current_user; END IF;
    RETURN false;
END $$;
CREATE TYPE planted.kind AS ENUM ('a', 'b');
CREATE TYPE planted.pair AS (kind planted.kind, label text);
CREATE DOMAIN planted.label AS text;
CREATE FUNCTION planted.same(planted.kind, planted.kind) RETURNS boolean LANGUAGE sql IMMUTABLE
    AS 'SELECT planted.trap(1, 2)';
CREATE FUNCTION planted.same(planted.pair, planted.pair) RETURNS boolean LANGUAGE sql IMMUTABLE
    AS 'SELECT planted.trap(1, 2)';
CREATE FUNCTION planted.same(planted.label, planted.label) RETURNS boolean LANGUAGE sql IMMUTABLE
    AS 'SELECT planted.trap(1, 2)';
CREATE OPERATOR planted.= (FUNCTION = planted.same, LEFTARG = planted.kind, RIGHTARG = planted.kind);
CREATE OPERATOR planted.= (FUNCTION = planted.same, LEFTARG = planted.pair, RIGHTARG = planted.pair);
CREATE OPERATOR planted.= (FUNCTION = planted.same, LEFTARG = planted.label, RIGHTARG = planted.label);
CREATE FUNCTION planted.cast(planted.kind) RETURNS text LANGUAGE sql IMMUTABLE
    AS 'SELECT planted.trap(1, 2)::text';
CREATE CAST (planted.kind AS text) WITH FUNCTION planted.cast AS IMPLICIT;
CREATE TABLE planted.docs (id int, fp bigint, kind planted.kind, pair planted.pair, label planted.label);
CREATE INDEX ON planted.docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON planted.docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=kind,pair,label');
RESET ROLE;
SET search_path = planted, public, pg_catalog;
INSERT INTO docs VALUES (1, 0, 'a', '(a,x)', 'x'), (2, 0, 'b', '(a,x)', 'x'), (3, 0, 'a', '(b,x)', 'x');
INSERT INTO docs VALUES (4, 0, 'a', '(a,x)', 'x'); -- error
UPDATE docs SET kind = 'a' WHERE pg_catalog.int4eq(id, 2); -- error
RESET search_path;
DROP OWNED BY regress_guard_within_writer CASCADE;
DROP ROLE regress_guard_within_writer;

----------------------------------------
-- a foreign key moves rows to another group
----------------------------------------

CREATE ROLE regress_guard_within_mover;
CREATE TABLE sites (site int, part int, PRIMARY KEY (site, part));
CREATE TABLE pages (id int PRIMARY KEY, fp bigint, site int, part int,
    FOREIGN KEY (site, part) REFERENCES sites ON UPDATE CASCADE);
CREATE INDEX ON pages USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON pages FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=site');
INSERT INTO sites VALUES (1, 1), (1, 2), (2, 1);
INSERT INTO pages VALUES (1, 0, 1, 1), (2, 1, 2, 1);
GRANT SELECT, UPDATE ON sites TO regress_guard_within_mover;
-- nothing is skipped, or it would refer to nothing; nor is anybody told what it met
\set SHOW_CONTEXT never
SET ROLE regress_guard_within_mover;
UPDATE sites SET site = 1, part = 3 WHERE site = 2; -- error
RESET ROLE;
UPDATE pages SET site = 1 WHERE id = 2;
UPDATE sites SET site = 3 WHERE site = 2;
\set SHOW_CONTEXT errors
SELECT * FROM pages ORDER BY id;
-- what a trigger inserts meanwhile finds what is there
CREATE TABLE seen (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, fp bigint, times int DEFAULT 1);
CREATE INDEX ON seen USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON seen FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO seen (fp) VALUES (NEW.fp) ON CONFLICT (id) DO UPDATE SET times = seen.times + 1;
    RETURN NEW;
END $$;
CREATE TRIGGER see BEFORE UPDATE ON pages FOR EACH ROW EXECUTE FUNCTION see();
INSERT INTO seen (fp) VALUES (0);
UPDATE sites SET site = 4 WHERE site = 3;
SELECT * FROM seen;
DROP TABLE pages, sites, seen;
DROP FUNCTION see;
DROP ROLE regress_guard_within_mover;

----------------------------------------
-- triggers that are declared wrongly
----------------------------------------

CREATE TABLE wrong (id int PRIMARY KEY, fp bigint, site text, "odd, one" int, twin int,
    data json, at point);
CREATE INDEX ON wrong USING hamming (fp);
CREATE FUNCTION complain(within text, more text DEFAULT '') RETURNS text LANGUAGE sql AS $$
    SELECT fails(format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON wrong FOR EACH ROW
        EXECUTE FUNCTION simhash_guard(''fp'', ''%s'', ''3'', %L%s);
        INSERT INTO wrong VALUES (1, 0, ''a'', 1);
        DELETE FROM wrong', CASE WHEN more = '' THEN 'skip' ELSE 'mark' END, within, more))
$$;
SELECT complain('within=site');
SELECT complain('within= site , "odd, one" ');
SELECT complain('within=');
SELECT complain('within=site,');
SELECT complain('within=site;id');
SELECT complain('within="site');
SELECT complain('within');
SELECT complain('within=Site');
SELECT complain('within=site,nosuch');
SELECT complain('within=site,id,site');
SELECT complain('within=ctid');
SELECT complain('within=fp');
SELECT complain('within=twin', $$, 'mark=twin'$$);
SELECT complain('within=data');
SELECT complain('within=site,at');
-- it names columns as they were
CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON wrong FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=site');
ALTER TABLE wrong RENAME site TO host;
INSERT INTO wrong VALUES (1, 0, 'a'); -- error

DROP TABLE t, wrong;
DROP FUNCTION make, groups, conflicts, refused, by_hamming, in_common, locked, complain,
    has_icu, cased;
DROP TYPE mood, place;
DROP DOMAIN code;
DROP COLLATION ignore_case;
