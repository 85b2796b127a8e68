--
-- guard_source.c: the fingerprint that a guard fills by an expression
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
SET client_min_messages = warning;
CREATE ROLE regress_owner;
CREATE ROLE regress_writer;
CREATE ROLE regress_evil;
CREATE SCHEMA app AUTHORIZATION regress_owner;
CREATE SCHEMA evil AUTHORIZATION regress_evil;
GRANT USAGE ON SCHEMA app, evil TO PUBLIC;

SET ROLE regress_owner;
CREATE FUNCTION app.words(body text) RETURNS text[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN string_to_array(lower(body), ' ');
CREATE TABLE app.docs (id int PRIMARY KEY, body varchar, title text,
                       gen text GENERATED ALWAYS AS (body || 'x') STORED,
                       fp bigint);
CREATE INDEX ON app.docs USING hamming (fp);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.docs TO regress_writer;
RESET ROLE;

-- make the trigger, insert, and say what came of it
CREATE FUNCTION guarded(expression text, variadic options text[] DEFAULT '{}')
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE '
                   'ON app.docs FOR EACH ROW EXECUTE FUNCTION '
                   'public.simhash_guard(''fp'', ''reject'', ''3'', %L%s)',
                   'fingerprint=' || expression,
                   (SELECT string_agg(format(', %L', o), '') FROM unnest(options)
                    AS o));
    DELETE FROM app.docs;
    SET LOCAL ROLE regress_writer;
    RETURN public.fails($q$INSERT INTO app.docs (id, body)
        VALUES (1, 'The quick brown fox jumps over the lazy dog')$q$);
END $$;
GRANT EXECUTE ON FUNCTION fails(text) TO PUBLIC;

----------------------------------------
-- what it does
----------------------------------------

SELECT guarded('simhash(words(body))');
SELECT fp = simhash(app.words(body)) AS filled FROM app.docs;
SELECT fails($$INSERT INTO app.docs (id, body)
    VALUES (2, 'the QUICK brown fox jumps over the lazy dog')$$);
INSERT INTO app.docs (id, body, fp) VALUES (3, 'something else entirely', 7);
INSERT INTO app.docs (id, body) VALUES (4, NULL);
SELECT id, fp IS NOT DISTINCT FROM simhash(app.words(body)) AS filled,
    fp IS NULL AS none FROM app.docs ORDER BY id;
UPDATE app.docs SET body = 'again something different', fp = 1 WHERE id = 3;
SELECT id, fp = simhash(app.words(body)) AS filled FROM app.docs WHERE id = 3;
SELECT fails($$UPDATE app.docs SET body = 'The quick brown fox jumps over the lazy dog'
    WHERE id = 3$$);
-- any expression over the columns
SELECT guarded('CASE WHEN id > 0 THEN minhash(coalesce(title, body)) END');
SELECT fp = minhash(body) AS filled FROM app.docs;
SELECT guarded($$simhash(body, 'word-1-3') # 5::int8$$);
SELECT fp = simhash(body, 'word-1-3') # 5 AS filled FROM app.docs;
-- that of a generated column may ask which table it is
CREATE TABLE app.tables (id int PRIMARY KEY, fp bigint GENERATED ALWAYS AS
    (id # tableoid::int8 << 32) STORED);
CREATE INDEX ON app.tables USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON app.tables FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '1');
INSERT INTO app.tables VALUES (0);
SELECT fails('INSERT INTO app.tables VALUES (1)');
DROP TABLE app.tables;
-- a row that another trigger takes back to what is stored, where columns are
-- missing that were added since
CREATE TABLE app.added (id int PRIMARY KEY);
INSERT INTO app.added VALUES (1);
ALTER TABLE app.added ADD body text DEFAULT 'stays', ADD fp bigint;
CREATE INDEX ON app.added USING hamming (fp);
CREATE FUNCTION app.take_back() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RETURN old; END';
CREATE TRIGGER before BEFORE UPDATE ON app.added FOR EACH ROW
    EXECUTE FUNCTION app.take_back();
CREATE TRIGGER guard BEFORE UPDATE ON app.added FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '1', 'fingerprint=simhash(body)');
UPDATE app.added SET id = 2;
SELECT id, body, fp = simhash(body) AS filled FROM app.added;
DROP TABLE app.added;
DROP FUNCTION app.take_back();

----------------------------------------
-- whose names they are
----------------------------------------

-- the search_path of the session plays no part, nor do its temporary objects
SET ROLE regress_evil;
CREATE FUNCTION evil.words(body text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE
AS $$BEGIN RAISE 'evil.words ran'; END$$;
CREATE FUNCTION evil.words(body varchar) RETURNS text[] LANGUAGE plpgsql
IMMUTABLE AS $$BEGIN RAISE 'evil.words ran'; END$$;
CREATE FUNCTION evil.lower(body varchar) RETURNS text LANGUAGE plpgsql
IMMUTABLE AS $$BEGIN RAISE 'evil.lower ran'; END$$;
CREATE FUNCTION evil.yes(anyelement) RETURNS bool LANGUAGE plpgsql
IMMUTABLE AS $$BEGIN RAISE 'evil.yes ran'; END$$;
CREATE DOMAIN evil.trap AS text CHECK (evil.yes(VALUE));
CREATE TYPE evil.row AS (trap evil.trap);
CREATE FUNCTION evil.words(body varchar, r evil.row) RETURNS text[]
LANGUAGE sql IMMUTABLE RETURN '{a}'::text[];
RESET ROLE;
SELECT words FROM evil.words('x'::text);                        -- error
SET search_path = evil, public;
SELECT guarded('simhash(words(lower(body)))');
SET search_path = '';
SELECT public.guarded('simhash(words(body))');
SET search_path = public;
CREATE TEMP TABLE unused (a int);
CREATE DOMAIN pg_temp.text AS text CHECK (false);
SELECT guarded('simhash(body::text)');
SELECT fp = simhash(body) AS filled FROM app.docs;
DROP DOMAIN pg_temp.text;
CREATE DOMAIN pg_temp.trap AS text CHECK (evil.yes(VALUE));
CREATE TYPE pg_temp.pair AS (trap trap);
SELECT guarded($$simhash('x'::trap)$$);
SELECT guarded($$simhash('(x)'::pair::text)$$);
SELECT guarded($$simhash(trap('x'))$$);
SELECT guarded($$simhash('(x)'::pg_temp.pair::text)$$);
DROP TYPE pg_temp.pair;
DROP DOMAIN pg_temp.trap;

-- where others may create, names are not looked up, and cannot be told
GRANT CREATE ON SCHEMA app TO regress_evil;
SELECT guarded('simhash(words(body))');
SELECT guarded('simhash(app.words(body))');
SELECT guarded($$simhash(body || 'x'::app.trap)$$);
SELECT guarded($$simhash(body) OPERATOR(app.+) 1$$);
REVOKE CREATE ON SCHEMA app FROM regress_evil;
SELECT guarded('simhash(app.words(body))');
GRANT CREATE ON SCHEMA app TO PUBLIC;
SELECT guarded('simhash(words(body))');
SELECT guarded('simhash(nonesuch)');
INSERT INTO app.docs VALUES (2);                                -- error
REVOKE CREATE ON SCHEMA app FROM PUBLIC;
SELECT guarded('simhash(evil.words(body))');
SELECT guarded($$simhash(evil.words(body, '(x)'))$$);
SELECT guarded($$simhash(ARRAY['(x)'::evil.row::text])$$);
SELECT guarded($$simhash(evil.trap 'x')$$);
-- what was created there before, or was given there, is not trusted either
CREATE FUNCTION app.lower(body varchar) RETURNS text LANGUAGE plpgsql
IMMUTABLE AS $$BEGIN RAISE 'app.lower ran as %', current_user; END$$;
CREATE DOMAIN app.trap AS text CHECK (evil.yes(VALUE));
GRANT CREATE ON SCHEMA app TO regress_evil;
ALTER FUNCTION app.lower(varchar) OWNER TO regress_evil;
ALTER DOMAIN app.trap OWNER TO regress_evil;
REVOKE CREATE ON SCHEMA app FROM regress_evil;
SELECT guarded('simhash(lower(body))');
SELECT guarded('simhash(body::trap)');
SELECT guarded($$simhash(lower('a'::varchar))$$);
-- roles that can act as the owner are no others
GRANT regress_owner TO regress_evil;
SELECT guarded('simhash(lower(body))');
REVOKE regress_owner FROM regress_evil;
-- but the owner being able to act as them does not make them so
GRANT regress_evil TO regress_owner;
SELECT guarded('simhash(lower(body))');
REVOKE regress_evil FROM regress_owner;
DROP FUNCTION app.lower(varchar);
DROP DOMAIN app.trap;
-- it runs as whoever inserts, who must be allowed to
REVOKE EXECUTE ON FUNCTION app.words(text) FROM PUBLIC;
CREATE FUNCTION app.who(body text) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
AS $$BEGIN RETURN simhash(body || current_user); END$$;
SELECT guarded('simhash(app.words(body))');
SELECT guarded('app.who(body)');
SELECT fp = simhash(body || 'regress_writer') AS filled FROM app.docs;
GRANT EXECUTE ON FUNCTION app.words(text) TO PUBLIC;

----------------------------------------
-- partitions: the names are those of the table that has the trigger
----------------------------------------

CREATE TABLE app.parted (id int, body text, fp bigint) PARTITION BY LIST (id);
CREATE TABLE evil.one (fp bigint, extra int, body text, id int);
ALTER TABLE evil.one DROP COLUMN extra;
CREATE TABLE app.two PARTITION OF app.parted FOR VALUES IN (2);
CREATE INDEX ON app.parted USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON app.parted FOR EACH ROW
EXECUTE FUNCTION simhash_guard('fp', 'reject', '3',
                               'fingerprint=simhash(words(body))');
ALTER TABLE app.parted ATTACH PARTITION evil.one FOR VALUES IN (1);
-- a superuser's table does not trust the owner of the schema
SELECT fails($$INSERT INTO app.parted VALUES (1, 'a')$$);
ALTER TABLE app.parted OWNER TO regress_owner;
INSERT INTO app.parted VALUES (1, 'The quick brown fox jumps over the lazy dog');
SELECT tableoid::regclass, fp = simhash(app.words(body)) AS filled FROM app.parted;
SELECT fails($$INSERT INTO app.parted
    VALUES (2, 'the QUICK brown fox jumps over the lazy dog')$$);
DROP TABLE app.parted;

----------------------------------------
-- what is no such expression
----------------------------------------

SELECT guarded('simhash(words(nobody))');
SELECT guarded('length(body)');
SELECT guarded('body');
SELECT guarded('NULL');
SELECT guarded('');
SELECT guarded('simhash(body) AS fp');
SELECT guarded('simhash(body), 1');
SELECT guarded('*');
SELECT guarded('simhash(body) FROM app.docs');
SELECT guarded('1; DROP TABLE app.docs');
SELECT guarded('(SELECT simhash(body))');
SELECT guarded('count(*)');
SELECT guarded('count(*) OVER ()');
SELECT guarded('generate_series(1, 2)::bigint');
SELECT guarded('simhash($1)');
SELECT guarded('simhash(body || now())');
SELECT guarded('(random() * 10)::bigint');
SELECT guarded('simhash(gen)');
SELECT guarded('simhash(docs::text)');
SELECT guarded('simhash(docs.*::text)');
SELECT guarded('xmin::text::bigint');
SELECT guarded('simhash(body)', 'document=body');
SELECT guarded('simhash(body)', 'profile=word-1');
ALTER TABLE app.docs ADD made bigint GENERATED ALWAYS AS (simhash(body)) STORED;
CREATE TRIGGER other BEFORE INSERT ON app.docs FOR EACH ROW EXECUTE FUNCTION
simhash_guard('made', 'reject', '3', 'fingerprint=simhash(body)');
SELECT guarded('simhash(body)');

DROP SCHEMA app, evil CASCADE;
DROP FUNCTION guarded;
DROP ROLE regress_owner, regress_writer, regress_evil;
