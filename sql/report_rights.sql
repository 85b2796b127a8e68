--
-- pairs.c, dedup.c: whose rights count, and which names
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET client_min_messages = warning;
CREATE ROLE regress_report_rights_reader;
CREATE TABLE secret (id int PRIMARY KEY, fp bigint, reader text);
INSERT INTO secret VALUES (1, 5, 'regress_report_rights_reader'), (2, 5, 'regress_report_rights_reader'),
    (3, 4, 'another'), (4, 4, 'another');

----------------------------------------
-- the rights of the caller
----------------------------------------

-- a view gives no right to what a text in it names
CREATE VIEW copies AS SELECT * FROM simhash_pairs('SELECT id, fp FROM secret');
GRANT SELECT ON copies TO regress_report_rights_reader;
-- a function that runs with the rights of its owner does
CREATE FUNCTION count_copies(k int) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS
    'SELECT count(*) FROM simhash_pairs(''SELECT id, fp FROM secret'', k)';
-- one that runs with those of the caller does not
CREATE FUNCTION clustered(query text) RETURNS bigint LANGUAGE plpgsql AS
    'BEGIN RETURN count(*) FROM simhash_clusters(query); END';

SET ROLE regress_report_rights_reader;
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, fp FROM secret'')');
SELECT fails('SELECT * FROM simhash_clusters(''SELECT id, fp FROM secret'')');
SELECT fails('SELECT * FROM simhash_report(''secret'', ''fp'')');
SELECT fails('SELECT * FROM simhash_report(''secret'', ''1::bigint'')');
SELECT fails('SELECT * FROM copies');
SELECT count_copies(0), current_user;
SELECT fails('SELECT count_copies(17)');
SELECT current_user;
SELECT fails('SELECT clustered(''SELECT id, fp FROM secret'')');
-- nor is the DELETE written, and no lock is kept
BEGIN;
SELECT fails('SELECT simhash_dedup_sql(''secret'', ''fp'')');
SELECT fails('SELECT _simhash_dedup_parts(''secret'', ''fp'', NULL, ''star'', NULL, ''{}'', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true)');
SELECT count(*) AS locks FROM pg_locks WHERE relation = 'secret'::regclass;
COMMIT;
RESET ROLE;
-- nor what the caller may not even name
CREATE SCHEMA hidden;
CREATE TABLE hidden.docs (fp bigint);
GRANT SELECT ON hidden.docs TO regress_report_rights_reader;
SELECT 'hidden.docs'::regclass::oid AS hidden \gset
SET ROLE regress_report_rights_reader;
SELECT fails('SELECT simhash_dedup_sql(' || :'hidden' || ', ''fp'')');
RESET ROLE;
DROP SCHEMA hidden CASCADE;
-- how many rows there are is not said where a function has read them
CREATE FUNCTION notices(query text) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS
    'SELECT count(*) FROM simhash_pairs(query)';
SET client_min_messages = notice;
SELECT notices('VALUES (1, NULL::bigint, 1), (2, NULL, 1), (3, 5, NULL)');
SELECT count(*) FROM simhash_pairs('VALUES (1, NULL::bigint, 1), (2, NULL, 1), (3, 5, NULL)');
SET client_min_messages = warning;
SET maintenance_work_mem = '1MB';
SELECT fails('SELECT notices(''SELECT n, n FROM generate_series(1, 100000::bigint) AS n'')');
RESET maintenance_work_mem;
-- columns
GRANT SELECT (id) ON secret TO regress_report_rights_reader;
SET ROLE regress_report_rights_reader;
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, fp FROM secret'')');
SELECT * FROM simhash_pairs('SELECT id, id::bigint FROM secret', 1) ORDER BY a, b;
SELECT fails('SELECT * FROM simhash_report(''secret'', ''fp'')');
-- the whole row is shown there
SELECT fails('SELECT * FROM simhash_report(''secret'', ''id::bigint'', 1)');
RESET ROLE;

----------------------------------------
-- row security
----------------------------------------

GRANT SELECT ON secret TO regress_report_rights_reader;
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secret USING (reader = current_user);
PREPARE pairs AS SELECT * FROM simhash_pairs('SELECT id, fp FROM secret') ORDER BY a, b;
EXECUTE pairs;
SET ROLE regress_report_rights_reader;
EXECUTE pairs;
SELECT id, representative, size FROM simhash_clusters('SELECT id, fp FROM secret',
    min_size => 1) ORDER BY id;
SELECT item, value FROM simhash_report('secret', 'fp', 0) WHERE section IN ('table', 'duplicates');
SELECT count_copies(1);
-- a leaky expression does not see what is hidden
CREATE FUNCTION pg_temp.tell(id int, fp bigint) RETURNS bigint LANGUAGE plpgsql COST 0.0001 AS
    'BEGIN RAISE WARNING ''row %'', id; RETURN fp; END';
SELECT * FROM simhash_pairs('SELECT id, fp FROM secret WHERE pg_temp.tell(id, fp) > 0');
DROP FUNCTION pg_temp.tell;
RESET ROLE;
EXECUTE pairs;
SET row_security = off;
SET ROLE regress_report_rights_reader;
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, fp FROM secret'')');
RESET ROLE;
RESET row_security;

----------------------------------------
-- a plan or a log that somebody else has made, with triggers, is not taken
----------------------------------------

CREATE TABLE replies (id int PRIMARY KEY, secret int REFERENCES secret);
CREATE FUNCTION carry_out() RETURNS void LANGUAGE plpgsql AS
$$ BEGIN CALL simhash_dedup_apply('secret', 'planned', log => 'removed', children => 'move'); END $$;
CREATE FUNCTION with_strangers(names text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    name text;
    result text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        EXECUTE format('ALTER TABLE %I OWNER TO regress_report_rights_reader', name);
    END LOOP;
    result := fails('SELECT carry_out()');
    FOREACH name IN ARRAY names LOOP
        EXECUTE format('ALTER TABLE %I OWNER TO CURRENT_USER', name);
    END LOOP;
    RETURN result;
END $$;
CREATE TABLE planned AS SELECT *, 'no'::text AS done FROM simhash_dedup_plan('secret', 'fp', 0) LIMIT 0;
SELECT fails('SELECT carry_out()'); -- makes the logs
SELECT with_strangers('{planned}');
SELECT with_strangers('{removed}');
SELECT with_strangers('{removed_replies_1}');
-- what the table's own owner has made is as good as the table
SELECT with_strangers('{planned,removed,removed_replies_1,replies,secret}');
SELECT with_strangers('{}');
-- and so is what was made by a role that has the owner's rights
CREATE ROLE regress_report_rights_owner;
GRANT regress_report_rights_owner TO regress_report_rights_reader;
ALTER TABLE secret OWNER TO regress_report_rights_owner;
ALTER TABLE replies OWNER TO regress_report_rights_owner;
SELECT with_strangers('{planned,removed,removed_replies_1}');
ALTER TABLE secret OWNER TO CURRENT_USER;
ALTER TABLE replies OWNER TO CURRENT_USER;
DROP ROLE regress_report_rights_owner;
-- operators of strangers fit nothing that is asked better than PostgreSQL's
DO $$
DECLARE
    types regtype[] := '{oid,regclass,name,text,tid,integer,bigint}';
    l regtype;
    r regtype;
    operator text;
BEGIN
    FOR l, r, operator IN
        SELECT * FROM unnest(types) AS a, unnest(types) AS b, unnest('{=,<>,<,<=,>,>=}'::text[]) AS o
        WHERE to_regoperator(format('pg_catalog.%s(%s,%s)', o, a, b)) IS NULL
    LOOP
        EXECUTE format('CREATE OR REPLACE FUNCTION strange(%s, %s) RETURNS boolean LANGUAGE plpgsql'
                       ' AS ''BEGIN RAISE ''''strange operator''''; END''', l, r);
        EXECUTE format('CREATE OPERATOR %s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = strange)',
                       operator, l, r);
    END LOOP;
END $$;
SELECT with_strangers('{}');
SELECT fails($$CALL simhash_dedup_undo('secret', 'planned', 'removed')$$);
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN SELECT oid::regprocedure FROM pg_proc WHERE proname = 'strange' LOOP
        EXECUTE format('DROP FUNCTION %s CASCADE', name);
    END LOOP;
END $$;
-- a stranger's plan is not taken to put all back either
ALTER TABLE planned OWNER TO regress_report_rights_reader;
SELECT fails($$CALL simhash_dedup_undo('secret', 'planned', 'removed')$$);
ALTER TABLE planned OWNER TO CURRENT_USER;
ALTER TABLE replies OWNER TO regress_report_rights_reader;
SELECT fails($$CALL simhash_dedup_undo('secret', 'planned', 'removed')$$);
DROP FUNCTION carry_out, with_strangers;
DROP TABLE planned, removed, removed_replies_1, replies;

----------------------------------------
-- the search_path
----------------------------------------

-- Whatever the reports might call, as somebody else would have it.
CREATE SCHEMA trap;
CREATE FUNCTION trap.traps() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n bigint := 0;
BEGIN
    FOR r IN SELECT p.oid, proname, oprname, oprleft, oprright,
                    pg_get_function_identity_arguments(p.oid) AS arguments,
                    pg_get_function_result(p.oid) AS result
             FROM pg_proc AS p LEFT JOIN pg_operator AS o ON oprcode = p.oid
             WHERE p.pronamespace = 'pg_catalog'::regnamespace AND NOT proretset
               AND (proname IN ('count', 'sum', 'max', 'min', 'round', 'floor',
                                'log', 'left', 'concat', 'pg_column_size',
                                'string_agg', 'pg_size_pretty', 'translate',
                                'current_setting', 'set_config',
                                'pg_partition_tree', 'row_security_active')
                    OR oprleft IN (SELECT oid FROM pg_type WHERE typname IN
                         ('oid', 'name', 'text', 'tid', 'int4', 'int8', 'char',
                          'numeric', 'float8'))
                       AND oprname IN ('=', '<>', '<', '>', '<=', '>=', '+',
                                       '-', '*', '/', '^', '||', '<<'))
               AND NOT EXISTS (SELECT FROM unnest(p.proargtypes || p.prorettype) AS a (type)
                               JOIN pg_type AS t ON t.oid = type WHERE typtype = 'p') LOOP
        n := n + 1;
        EXECUTE format('CREATE OR REPLACE FUNCTION trap.%I(%s) RETURNS %s LANGUAGE plpgsql AS '
                       '$t$BEGIN RAISE ''trapped''; END$t$',
                       r.proname, r.arguments, r.result);
        IF r.oprname IS NOT NULL THEN
            EXECUTE format('CREATE OPERATOR trap.%s (FUNCTION = trap.%I, LEFTARG = %s, RIGHTARG = %s)',
                           r.oprname, r.proname, r.oprleft::regtype, r.oprright::regtype);
        END IF;
    END LOOP;
    FOR r IN SELECT unnest(ARRAY['format(text, regclass)', 'format(text, text, regclass)',
                                 'concat(oid, tid)', 'count(bigint)']) AS signature LOOP
        EXECUTE format('CREATE FUNCTION trap.%s RETURNS text LANGUAGE plpgsql AS '
                       '$t$BEGIN RAISE ''trapped''; END$t$', r.signature);
    END LOOP;
    RETURN n;
END $$;
SELECT trap.traps() > 100 AS many;
CREATE SCHEMA own;
CREATE FUNCTION own.finger(fp bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT fp';
CREATE TABLE own.things AS SELECT id, fp, fp / 5 AS fp2 FROM public.secret;
CREATE TABLE own.parts (id int, fp bigint) PARTITION BY LIST (id);
CREATE TABLE own.parts_1 PARTITION OF own.parts FOR VALUES IN (1);
INSERT INTO own.parts VALUES (1, 5), (1, 4);
SET search_path = trap, own, pg_catalog, public;
\set VERBOSITY terse
SELECT 1 = 1;                                                   -- error
SELECT count(fp) FROM things;                                   -- error
-- the expression is the caller's, all else is not
SELECT * FROM simhash_report('things', 'finger(fp)');
SELECT item, value FROM simhash_report('parts', 'finger(fp)', 3);
SELECT * FROM simhash_pairs('SELECT id, finger(fp) FROM things', 0);
SELECT id, representative FROM simhash_clusters('SELECT id, finger(fp) FROM things', 1);
SELECT simhash_dedup_sql('things', 'finger(fp)');
SELECT simhash_dedup_sql('parts', 'finger(fp)');
SHOW search_path;
-- after a failure too, and within a transaction
BEGIN;
SAVEPOINT s;
SELECT * FROM simhash_report('things', 'nonesuch(fp)');          -- error
ROLLBACK TO s;
SHOW search_path;
SELECT item, value FROM simhash_report('things', 'finger(fp)', 0) LIMIT 1;
SHOW search_path;
SET search_path = own, public;
COMMIT;
SHOW search_path;
RESET search_path;
SHOW search_path;

DROP SCHEMA trap, own CASCADE;
DROP VIEW copies;
DROP FUNCTION count_copies, clustered;
DROP TABLE secret;
DROP ROLE regress_report_rights_reader;
