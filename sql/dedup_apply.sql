--
-- removal/: simhash_dedup_apply and simhash_dedup_undo as they are called: what they
-- refuse before the first batch, whatever things are called, in batches, in a
-- transaction block, and by roles that are no superusers
--

\set SHOW_CONTEXT never
CREATE SCHEMA apply;
SET search_path = apply, public;
CREATE FUNCTION body(n int DEFAULT 0) RETURNS text LANGUAGE sql IMMUTABLE AS
$$ SELECT 'The quick brown fox jumps over the lazy dog, which does not even wake up at all today.'
    || repeat(' But another one, of which nobody has heard, does so, and barks at a fox that is called ' || n, sign(n)::int) $$;
-- What a call says if it fails.
CREATE FUNCTION fails(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE call;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = pg_exception_detail, hint = pg_exception_hint;
    RETURN concat_ws(E'\n', sqlstate || ' ' || sqlerrm, nullif(detail, ''), nullif(hint, ''));
END $$;
-- The same of a removal from docs, of which nothing may be left.
CREATE FUNCTION refuses(more text DEFAULT $$, log => 'gone', children => 'move'$$) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text := fails(format('CALL simhash_dedup_apply(''docs'', ''plan'' %s)', more));
BEGIN
    RETURN said || CASE WHEN (SELECT count(*) FROM docs) <> 4 OR to_regclass('gone') IS NOT NULL THEN ' - too late' ELSE '' END;
END $$;
\pset format unaligned
\pset tuples_only on

CREATE TABLE docs (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO docs SELECT n, body(n / 3) FROM generate_series(1, 4) AS n;
CREATE TABLE plan AS SELECT * FROM simhash_dedup_plan('docs', 'fp');
SELECT gone, kept, doubt, compared FROM plan ORDER BY gone;

----------------------------------------
-- what is refused before the first batch
----------------------------------------

SELECT fails($$CALL simhash_dedup_apply(NULL, 'plan')$$), fails($$CALL simhash_dedup_apply('docs', NULL)$$),
    fails($$CALL simhash_dedup_undo(NULL, log => 'plan')$$), fails($$CALL simhash_dedup_undo('docs', log => NULL)$$);
SELECT refuses(', children => ''leave'''), refuses(', batch => 0'), refuses(', log => ''a.b.c.d'''), refuses(', log => '''''),
    refuses(', log => ''nowhere.gone''');
SELECT fails($$CALL simhash_dedup_apply('docs', 0::oid::regclass)$$), fails($$CALL simhash_dedup_apply(0::oid::regclass, 'plan')$$);
-- no table, no plan, no log
CREATE VIEW view AS TABLE docs;
CREATE VIEW plan_view AS TABLE plan;
CREATE TABLE bare AS TABLE docs;
SELECT fails($$CALL simhash_dedup_apply('view', 'plan')$$), fails($$CALL simhash_dedup_apply('bare', 'plan')$$),
    fails($$CALL simhash_dedup_apply('docs', 'plan_view')$$), fails($$CALL simhash_dedup_apply('docs', 'docs')$$),
    fails($$CALL simhash_dedup_undo('docs', log => 'plan')$$), refuses(', log => ''plan''');
DROP VIEW view, plan_view;
DROP TABLE bare;
-- lines of two plans, and of columns that are gone
INSERT INTO plan (gone, kept, compared) VALUES ('{9}', '{8}', '{body}');
BEGIN;
CALL simhash_dedup_apply('docs', 'plan');
SELECT gone, done FROM plan ORDER BY gone;
ROLLBACK;
DELETE FROM plan WHERE compared = '{body}';
UPDATE plan SET compared = '{body,text,fp}';
SELECT refuses('');
UPDATE plan SET compared = '{body,fp}';
-- rules, that could do anything with rows that go, move or come back
CREATE TABLE child (n int PRIMARY KEY, doc int REFERENCES docs ON DELETE CASCADE, note text);
CREATE TABLE other AS TABLE child;
CREATE RULE also AS ON UPDATE TO child DO ALSO INSERT INTO other VALUES (NEW.n);
SELECT refuses();
DROP RULE also ON child;
CREATE RULE also AS ON DELETE TO docs DO ALSO INSERT INTO other VALUES (OLD.id);
SELECT refuses();
DROP RULE also ON docs;
CREATE RULE instead AS ON DELETE TO docs DO INSTEAD NOTHING;
SELECT refuses(), refuses('');
DROP RULE instead ON docs;
CREATE RULE also AS ON INSERT TO plan DO ALSO INSERT INTO other VALUES (1);
SELECT refuses();
DROP RULE also ON plan;
-- row security, for whom it holds; a column that is generated, or an identity; other owners
CREATE ROLE regress_dedup_apply_owner;
CREATE ROLE regress_dedup_apply_other;
GRANT ALL ON SCHEMA apply TO regress_dedup_apply_owner, regress_dedup_apply_other;
GRANT ALL ON plan, docs, child TO regress_dedup_apply_other;
ALTER TABLE plan OWNER TO regress_dedup_apply_other;
ALTER TABLE child ENABLE ROW LEVEL SECURITY;
SET ROLE regress_dedup_apply_other;
SELECT refuses(), refuses(', children => ''stay''');
RESET ROLE;
ALTER TABLE child DISABLE ROW LEVEL SECURITY;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON docs USING (id <> 2);
SET ROLE regress_dedup_apply_other;
BEGIN; -- a row that is hidden stays
CALL simhash_dedup_apply('docs', 'plan');
SELECT gone, done FROM plan ORDER BY gone;
ROLLBACK;
RESET ROLE;
-- a role that the call would end, with its transaction
DO $$ BEGIN SET LOCAL ROLE regress_dedup_apply_other; CALL simhash_dedup_apply('docs', 'plan'); END $$;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
DROP POLICY seen ON docs;
REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON docs FROM regress_dedup_apply_other;
SET ROLE regress_dedup_apply_other;
SELECT refuses();
RESET ROLE;
ALTER TABLE plan OWNER TO CURRENT_USER;
ALTER TABLE child OWNER TO regress_dedup_apply_owner;
SELECT refuses();
DROP TABLE child;
CREATE TABLE child (n int PRIMARY KEY, doc int GENERATED ALWAYS AS IDENTITY REFERENCES docs ON DELETE CASCADE);
SELECT refuses();
DROP TABLE child;
CREATE TABLE child (n int PRIMARY KEY, base int, doc int GENERATED ALWAYS AS (base + 1) STORED REFERENCES docs);
SELECT refuses();
DROP TABLE child;
-- heirs, of the table and of what refers to it; a log would have to tell rows by a key
CREATE TABLE child (n int, doc int REFERENCES docs ON DELETE CASCADE);
SELECT refuses();
CREATE TABLE heir () INHERITS (child);
SELECT refuses(), refuses(', children => ''move''');
DROP TABLE heir;
CREATE TABLE heir () INHERITS (docs);
SELECT refuses(''), refuses();
DROP TABLE heir, child;

----------------------------------------
-- whatever things are called
----------------------------------------

CREATE SCHEMA "Odd ""s"" {to} %1 $1 \ ' $$ |";
CREATE TABLE "Odd ""s"" {to} %1 $1 \ ' $$ |"."Docs {table} ""%s"" \' $1 | }" ("Key {key} ' "" %1 $1 \ |" text COLLATE "C" PRIMARY KEY,
    "simhash step" int DEFAULT 7, "simhash_ step" int, "simhash__now 1" text, "{step}" text, "Body %2 $2 \ '" text,
    "fp {|} %3" bigint GENERATED ALWAYS AS (minhash("Body %2 $2 \ '")) STORED);
CREATE TABLE "Odd ""s"" {to} %1 $1 \ ' $$ |"."Child ""{theirs|%1}"" \' $$" ("n ""{""" int, "simhash action" text, "simhash_ now 1" int,
    "doc ' %1 {} \ ""$1" text COLLATE "C" REFERENCES "Odd ""s"" {to} %1 $1 \ ' $$ |"."Docs {table} ""%s"" \' $1 | }" ON DELETE CASCADE,
    PRIMARY KEY ("doc ' %1 {} \ ""$1", "n ""{"""));
SET search_path = "Odd ""s"" {to} %1 $1 \ ' $$ |", apply, public;
INSERT INTO "Docs {table} ""%s"" \' $1 | }" SELECT key, n, n, 'now', 'step', body() FROM unnest('{a,"b ''\" {}%1 $1 \\\\","c,d"}'::text[]) WITH ORDINALITY AS u (key, n);
INSERT INTO "Child ""{theirs|%1}"" \' $$" SELECT n, 'moved?', n, key FROM (SELECT "simhash step", "Key {key} ' "" %1 $1 \ |" FROM "Docs {table} ""%s"" \' $1 | }") AS t (doc, key),
    generate_series(1, doc) AS n;
CREATE TABLE "Before ""d""" AS TABLE "Docs {table} ""%s"" \' $1 | }";
CREATE TABLE "Before ""c""" AS TABLE "Child ""{theirs|%1}"" \' $$";
CREATE TABLE "Plan {plan} ' "" $1 %1 \ |" AS SELECT * FROM simhash_dedup_plan('"Docs {table} ""%s"" \'' $1 | }"', '"fp {|} %3"');
SELECT gone, kept, compared FROM "Plan {plan} ' "" $1 %1 \ |" ORDER BY gone;
CALL simhash_dedup_apply('"Docs {table} ""%s"" \'' $1 | }"', '"Plan {plan} '' "" $1 %1 \ |"', log => '"Log {log} "" '' $1 %1 \ | }"', children => 'move', batch => 1);
SELECT gone, kept, done FROM "Plan {plan} ' "" $1 %1 \ |" ORDER BY gone;
TABLE "Child ""{theirs|%1}"" \' $$";
SELECT obj_description('"Log {log} "" '' $1 %1 \ | }"'::regclass);
SELECT relname, array_agg(attname ORDER BY attnum) FROM pg_class AS c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0
WHERE relname LIKE 'Log %' AND relkind = 'r' GROUP BY relname ORDER BY relname;
CALL simhash_dedup_undo('"Docs {table} ""%s"" \'' $1 | }"', '"Plan {plan} '' "" $1 %1 \ |"', '"Log {log} "" '' $1 %1 \ | }"');
SELECT done, count(*) FROM "Plan {plan} ' "" $1 %1 \ |" GROUP BY done;
(TABLE "Before ""d""" EXCEPT TABLE "Docs {table} ""%s"" \' $1 | }") UNION ALL (TABLE "Docs {table} ""%s"" \' $1 | }" EXCEPT TABLE "Before ""d""");
(TABLE "Before ""c""" EXCEPT TABLE "Child ""{theirs|%1}"" \' $$") UNION ALL (TABLE "Child ""{theirs|%1}"" \' $$" EXCEPT TABLE "Before ""c""");
-- a log in another schema, by its name there
CALL simhash_dedup_apply('"Docs {table} ""%s"" \'' $1 | }"', '"Plan {plan} '' "" $1 %1 \ |"', log => 'apply."Gone"', children => 'move');
UPDATE "Plan {plan} ' "" $1 %1 \ |" SET done = NULL;
CALL simhash_dedup_apply('"Docs {table} ""%s"" \'' $1 | }"', '"Plan {plan} '' "" $1 %1 \ |"', log => 'apply."Gone"', children => 'move');
SET search_path = apply, public;
CALL simhash_dedup_undo('"Odd ""s"" {to} %1 $1 \ '' $$ |"."Docs {table} ""%s"" \'' $1 | }"', log => '"Gone"');
SELECT count(*) FROM "Odd ""s"" {to} %1 $1 \ ' $$ |"."Docs {table} ""%s"" \' $1 | }";
SET client_min_messages = warning;
DROP SCHEMA "Odd ""s"" {to} %1 $1 \ ' $$ |" CASCADE;
DROP TABLE "Gone", "Gone_Child ""{theirs|%1}"" \' $$_1";
RESET client_min_messages;

----------------------------------------
-- children without an index have one for the time of the call
----------------------------------------

CREATE TABLE child (n int PRIMARY KEY, doc int REFERENCES docs ON DELETE CASCADE);
CREATE TABLE left_alone (n int PRIMARY KEY, doc int REFERENCES docs);
INSERT INTO child SELECT n, 1 + n % 4 FROM generate_series(1, 8) AS n;
CREATE FUNCTION note_indexes() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'indexes: %', (SELECT array_agg(regexp_replace(relname, '\d+$', 'N') ORDER BY relname) FROM pg_class WHERE relname ~ '^simhash_removal');
    RETURN NULL;
END $$;
CREATE TRIGGER notes AFTER DELETE ON docs FOR EACH STATEMENT EXECUTE FUNCTION note_indexes();
CALL simhash_dedup_apply('docs', 'plan', log => 'gone', children => 'move', batch => 1);
CALL simhash_dedup_undo('docs', 'plan', 'gone');
SELECT count(*) FROM pg_class WHERE relname ~ '^simhash_removal';
-- one that was left by a call that has not come to its end is used, and dropped
UPDATE plan SET done = NULL;
CREATE FUNCTION stop_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE insufficient_privilege USING MESSAGE = 'stopped';
END $$;
CREATE TRIGGER stops BEFORE DELETE ON docs FOR EACH ROW WHEN (OLD.id = 2) EXECUTE FUNCTION stop_it();
CALL simhash_dedup_apply('docs', 'plan', log => 'gone', children => 'move', batch => 1);
SELECT id FROM docs ORDER BY id;
SELECT gone, done FROM plan ORDER BY gone;
SELECT count(*) FROM pg_class WHERE relname ~ '^simhash_removal';
DROP TRIGGER stops ON docs;
CALL simhash_dedup_apply('docs', 'plan', log => 'gone', children => 'move', batch => 1);
SELECT count(*) FROM pg_class WHERE relname ~ '^simhash_removal';
CALL simhash_dedup_undo('docs', 'plan', 'gone');
SELECT id FROM docs ORDER BY id;
TABLE child ORDER BY n;
-- one of that name on another table is not
CREATE TABLE taken (n int);
DO $$ BEGIN
    EXECUTE (SELECT format('CREATE INDEX simhash_removal_child_%s ON taken (n)', oid) FROM pg_constraint WHERE conrelid = 'child'::regclass AND contype = 'f');
END $$;
UPDATE plan SET done = NULL;
SET client_min_messages = warning;
CALL simhash_dedup_apply('docs', 'plan', log => 'gone', children => 'move');
ALTER TABLE child RENAME TO renamed;
CALL simhash_dedup_undo('docs', 'plan', 'gone');
ALTER TABLE renamed RENAME TO child;
-- rows do not come back to another table, such as a copy that has the same columns; but they
-- do where the table itself has another name by now
CREATE TABLE docs_copy (LIKE docs INCLUDING ALL);
CALL simhash_dedup_undo('docs_copy', 'plan', 'gone');
ALTER TABLE docs RENAME TO docs_before;
ALTER TABLE docs_copy RENAME TO docs;
CALL simhash_dedup_undo('docs_before', 'plan', 'gone');
DROP TABLE docs;
-- another version may have quoted names of columns that this one does not
SELECT format('COMMENT ON TABLE gone IS %L', replace(obj_description('gone'::regclass), '["id"]', '["\"id\""]')) \gexec
CALL simhash_dedup_undo('docs_before', 'plan', 'gone');
SELECT count(*) FROM gone;
ALTER TABLE docs_before RENAME TO docs;
CALL simhash_dedup_apply('docs', 'plan', log => 'gone', children => 'move');
RESET client_min_messages;
SELECT indrelid::regclass FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid WHERE relname ~ '^simhash_removal';
DROP TABLE taken;

----------------------------------------
-- by a role that has what it needs, and no more; in a transaction block
----------------------------------------

SET ROLE regress_dedup_apply_owner;
CREATE TABLE pages (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO pages SELECT n, body(n / 3) FROM generate_series(1, 4) AS n;
CREATE TABLE votes (n int PRIMARY KEY, page int REFERENCES pages);
INSERT INTO votes SELECT n, n FROM generate_series(1, 4) AS n;
GRANT SELECT, UPDATE, DELETE, INSERT ON pages, votes TO regress_dedup_apply_other;
SET ROLE regress_dedup_apply_other;
CREATE TABLE plan_pages AS SELECT * FROM simhash_dedup_plan('pages', 'fp');
CALL simhash_dedup_apply('pages', 'pg_catalog.pg_class');
BEGIN;
CALL simhash_dedup_apply('pages', 'plan_pages', log => 'gone_pages', children => 'move', batch => 1);
TABLE votes ORDER BY n;
SELECT gone, done FROM plan_pages ORDER BY gone;
CALL simhash_dedup_undo('pages', 'plan_pages', 'gone_pages');
TABLE votes ORDER BY n;
SELECT done FROM plan_pages;
ROLLBACK;
SELECT count(*), to_regclass('gone_pages') IS NULL AS no_log FROM pages;
CALL simhash_dedup_apply('pages', 'plan_pages', log => 'gone_pages', children => 'move', batch => 1);
SELECT relname, relowner::regrole FROM pg_class WHERE relname ~ '^gone_pages' AND relkind = 'r' ORDER BY relname;
SET ROLE regress_dedup_apply_owner;
SELECT fails($$CALL simhash_dedup_undo('pages', log => 'gone_pages')$$);
SET ROLE regress_dedup_apply_other;
CALL simhash_dedup_undo('pages', 'plan_pages', 'gone_pages');
TABLE votes ORDER BY n;
DROP TABLE gone_pages, gone_pages_votes_1;
-- without the right to move what refers, or to read it
RESET ROLE;
REVOKE ALL ON votes FROM regress_dedup_apply_other;
GRANT SELECT ON votes TO regress_dedup_apply_other;
UPDATE plan_pages SET done = NULL;
SET ROLE regress_dedup_apply_other;
SELECT fails($$CALL simhash_dedup_apply('pages', 'plan_pages', children => 'move')$$);
RESET ROLE;
REVOKE ALL ON votes FROM regress_dedup_apply_other;
GRANT UPDATE ON votes TO regress_dedup_apply_other;
SET ROLE regress_dedup_apply_other;
SELECT fails($$CALL simhash_dedup_apply('pages', 'plan_pages', children => 'move')$$);
-- where rows that refer keep theirs
CALL simhash_dedup_apply('pages', 'plan_pages');
SELECT gone, done FROM plan_pages ORDER BY gone;
RESET ROLE;

----------------------------------------
-- what others have changed meanwhile
----------------------------------------

-- of a child, a key that nobody has touched is put back; the line has what else it was
ALTER TABLE child ADD note text DEFAULT 'old', ADD other int REFERENCES docs;
DROP TABLE left_alone;
DROP TRIGGER notes ON docs;
UPDATE child SET other = doc;
UPDATE plan SET done = NULL;
SET client_min_messages = warning;
CALL simhash_dedup_apply('docs', 'plan', log => 'gone_2', children => 'move');
TABLE child ORDER BY n;
UPDATE child SET note = 'new' WHERE n IN (1, 5);
UPDATE child SET other = 3 WHERE n = 1;
UPDATE child SET doc = 3 WHERE n = 3;
CALL simhash_dedup_undo('docs', 'plan', 'gone_2');
TABLE child ORDER BY n;
SELECT n, doc, note, other, "simhash action" FROM gone_2_child_1 ORDER BY "simhash step", n;
DROP TABLE gone_2, gone_2_child_1, child;
-- rows that have changed since the plan stay, in what was compared, though in the same way;
-- a person may have the other one go, but not where one contains the other
UPDATE plan SET done = NULL;
UPDATE docs SET body = body || ' And today?' WHERE id = 4;
BEGIN;
CALL simhash_dedup_apply('docs', 'plan');
SELECT gone, done FROM plan ORDER BY gone;
ROLLBACK;
BEGIN;
UPDATE docs SET body = body || ' And today?' WHERE id < 3;
CALL simhash_dedup_apply('docs', 'plan');
SELECT gone, done FROM plan WHERE kept = '{1}';
ROLLBACK;
BEGIN;
UPDATE plan SET gone = kept, kept = gone WHERE gone = '{2}';
CALL simhash_dedup_apply('docs', 'plan');
SELECT gone, kept, done FROM plan WHERE kept = '{2}';
ROLLBACK;
UPDATE docs SET body = CASE id WHEN 1 THEN body() || body(1) || body(2) ELSE body() || body(1) END WHERE id < 3;
CREATE TABLE plan_parts AS SELECT * FROM simhash_dedup_plan('docs', 'fp', 16, similarity => 'containment') WHERE gone = '{2}';
SELECT gone, kept FROM plan_parts;
BEGIN;
UPDATE plan_parts SET gone = kept, kept = gone;
CALL simhash_dedup_apply('docs', 'plan_parts');
SELECT gone, done FROM plan_parts;
ROLLBACK;
BEGIN;
CALL simhash_dedup_apply('docs', 'plan_parts');
SELECT gone, done FROM plan_parts;
ROLLBACK;
UPDATE docs AS a SET body = b.body FROM docs AS b WHERE a.id IN (1, 2) AND b.id = 3 - a.id;
CALL simhash_dedup_apply('docs', 'plan_parts');
SELECT gone, done FROM plan_parts;

----------------------------------------
-- who refuses what comes back
----------------------------------------

CREATE TABLE guarded (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON guarded USING hamming (fp);
INSERT INTO guarded SELECT n, body() FROM generate_series(1, 3) AS n;
CREATE TABLE plan_guarded AS SELECT * FROM simhash_dedup_plan('guarded', 'fp');
CALL simhash_dedup_apply('guarded', 'plan_guarded', log => 'gone_guarded');
CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
CALL simhash_dedup_undo('guarded', 'plan_guarded', 'gone_guarded');
DROP TRIGGER guard ON guarded;
CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
CALL simhash_dedup_undo('guarded', 'plan_guarded', 'gone_guarded');
SELECT gone, done FROM plan_guarded ORDER BY gone;
ALTER TABLE guarded DISABLE TRIGGER guard;
CALL simhash_dedup_undo('guarded', 'plan_guarded', 'gone_guarded');
SELECT gone, done FROM plan_guarded ORDER BY gone;
SELECT count(*) FROM guarded;

----------------------------------------
-- a table that keeps its clusters: rows come back, by other ids and times than they had
----------------------------------------

CREATE TABLE kept (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON kept USING hamming (fp);
INSERT INTO kept SELECT n, body(n / 4) FROM generate_series(1, 6) AS n;
CALL simhash_add_clusters('kept', 'fp', since => 'since');
SELECT id, cluster FROM kept ORDER BY id;
CREATE TABLE plan_kept AS SELECT * FROM simhash_dedup_plan('kept', 'fp');
CALL simhash_dedup_apply('kept', 'plan_kept', log => 'gone_kept');
SELECT id, "cluster" FROM kept ORDER BY id;
DELETE FROM kept;
CALL simhash_trim_clusters('kept');
INSERT INTO kept VALUES (7, body(7)), (4, body(1));
SELECT id, "cluster" FROM kept ORDER BY id;
CALL simhash_dedup_undo('kept', 'plan_kept', 'gone_kept');
SELECT id, body = body(id / 4) AS same, "cluster" FROM kept ORDER BY id;
SELECT count(*) FROM simhash_check_clusters('kept');
SELECT count(*) FROM gone_kept;

----------------------------------------
-- a batch keeps no memory, and what went in the end did not stay; a row is its columns
----------------------------------------

CREATE TABLE chain (id int PRIMARY KEY, up int REFERENCES chain, was int, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
ALTER TABLE chain DROP COLUMN was;
CREATE INDEX ON chain (up);
INSERT INTO chain SELECT n, CASE WHEN n < 40 THEN n + 1 END, body() FROM generate_series(1, 41) AS n;
CREATE TABLE plan_chain AS SELECT * FROM simhash_dedup_plan('chain', 'fp', keep => 'id DESC', condition => 't IS DISTINCT FROM NULL');
SELECT DISTINCT kept, compared FROM plan_chain;
CREATE FUNCTION weigh() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'results: %', CASE WHEN (SELECT count(*) FROM pg_backend_memory_contexts WHERE name = 'SPI TupTable') < 20 THEN 'few' ELSE 'many' END;
    RETURN OLD;
END $$;
CREATE TRIGGER weighs BEFORE DELETE ON chain FOR EACH ROW WHEN (OLD.id = 40) EXECUTE FUNCTION weigh();
SET client_min_messages = notice;
CALL simhash_dedup_apply('chain', 'plan_chain', children => 'move', batch => 1);
SET client_min_messages = warning;
SELECT done, count(*) FROM plan_chain GROUP BY done;

----------------------------------------
-- long keys
----------------------------------------

CREATE FUNCTION noise(n int, length int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(string_agg(md5(n || '/' || i), '' ORDER BY i), length) FROM generate_series(1, 90) AS i $$;
CREATE TABLE long (id text COLLATE "C" PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE TABLE refers (n int PRIMARY KEY, long text COLLATE "C" REFERENCES long ON DELETE CASCADE);
INSERT INTO long SELECT noise(n, 2400), body() FROM generate_series(1, 4) AS n;
INSERT INTO long SELECT noise(n, 2600), body() FROM generate_series(5, 6) AS n;
INSERT INTO refers SELECT n, noise(n, CASE WHEN n > 4 THEN 2600 ELSE 2400 END) FROM generate_series(1, 6) AS n;
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE '%', repeat('This row is held. ', 30); END $$;
CREATE TABLE plan_long AS SELECT * FROM simhash_dedup_plan('long', 'fp');
CREATE TRIGGER holds BEFORE DELETE ON long FOR EACH ROW WHEN (OLD.id = noise(3, 2400) OR OLD.id = noise(6, 2600)) EXECUTE FUNCTION hold();
CALL simhash_dedup_apply('long', 'plan_long', log => 'gone_long', children => 'move');
SELECT done, count(*) FROM plan_long GROUP BY done ORDER BY done;
SELECT count(DISTINCT long) FROM refers;
CALL simhash_dedup_undo('long', 'plan_long', 'gone_long');
SELECT count(*), count(*) FILTER (WHERE long = noise(n, CASE WHEN n > 4 THEN 2600 ELSE 2400 END)) AS same FROM refers;
-- no index has such keys; a doubt that is empty is none
CREATE TABLE longer (id bytea PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO longer SELECT decode(noise(n, 1000 + 900 * n), 'hex'), body() FROM generate_series(0, 2) AS n;
CREATE TABLE plan_longer AS SELECT * FROM simhash_dedup_plan('longer', 'fp', keep => 'octet_length(id)');
CALL simhash_dedup_apply('longer', 'plan_longer'); -- error
DROP TABLE plan_longer;
CREATE TABLE plan_longer AS SELECT * FROM simhash_dedup_plan('longer', 'fp', keep => 'octet_length(id)', condition => 'octet_length(id) < 1300');
UPDATE plan_longer SET doubt = '';
CALL simhash_dedup_apply('longer', 'plan_longer');
SELECT octet_length(gone[1]), octet_length(kept[1]), done FROM plan_longer;

----------------------------------------
-- where all rows are refused, each by itself, the log is not read for each of them
----------------------------------------

CREATE TABLE held (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO held SELECT n, body() FROM generate_series(1, 601) AS n;
CREATE TABLE plan_held AS SELECT * FROM simhash_dedup_plan('held', 'fp');
CALL simhash_dedup_apply('held', 'plan_held', log => 'gone_held', batch => 100);
CREATE TRIGGER holds BEFORE INSERT ON held FOR EACH ROW EXECUTE FUNCTION hold();
BEGIN;
SET LOCAL client_min_messages = error;
CALL simhash_dedup_undo('held', 'plan_held', 'gone_held');
SELECT count(*) FROM gone_held;
SELECT seq_tup_read + idx_tup_fetch < 60000 AS few FROM pg_stat_xact_user_tables WHERE relname = 'gone_held';
COMMIT;

----------------------------------------
-- whatever the session writes of numbers, a line whose number would be another stays
----------------------------------------

CREATE TABLE numbers (id int PRIMARY KEY, body text, x float8, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO numbers SELECT n, body(), 0.1234567890123456 FROM generate_series(1, 2) AS n;
CREATE TABLE plan_numbers AS SELECT * FROM simhash_dedup_plan('numbers', 'fp');
CALL simhash_dedup_apply('numbers', 'plan_numbers', log => 'gone_numbers');
ALTER TABLE numbers ALTER x TYPE numeric;
SET extra_float_digits = 0;
CALL simhash_dedup_undo('numbers', 'plan_numbers', 'gone_numbers');
RESET extra_float_digits;
SELECT x FROM gone_numbers;

\pset tuples_only off
\pset format aligned
RESET search_path;
DROP SCHEMA apply CASCADE;
DROP ROLE regress_dedup_apply_owner, regress_dedup_apply_other;
