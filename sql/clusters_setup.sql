--
-- Clusters that keep themselves: how they are set up, taken down and mended.
-- (What the triggers do is in clusters.sql; set-ups beside writers are in t/.)
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS simhash;
RESET client_min_messages;
\set VERBOSITY terse
\getenv srcdir PG_ABS_SRCDIR
\set shared :srcdir '/test/clusters_tools.sql'
\set ECHO none
\i :shared
\set ECHO all
-- what there is of clusters besides the tables themselves
CREATE VIEW remains AS
SELECT relkind, relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v', 'S', 'p')
	AND relname NOT IN ('remains', 'docs', 'chain', 'parts', 'parts_a', 'parts_b', 'Docs"x')
UNION ALL SELECT 't', tgname FROM pg_trigger WHERE NOT tgisinternal AND tgname LIKE 'simhash%';

--
-- star
--
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, body text, site text COLLATE "C");
INSERT INTO docs SELECT i, hashint8extended(i % 20, 1) # (1::bigint << i % 5),
	'text ' || i % 20, CASE WHEN i % 3 > 0 THEN 'site ' || i % 3 END
FROM generate_series(1, 100) AS i;
INSERT INTO docs VALUES (101, NULL, 'none', 'site 1');
-- are the invariants of a star kept?
CREATE FUNCTION star(groups text DEFAULT 'true') RETURNS TABLE (rows bigint, missing bigint,
	far bigint, near bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT count(*), count(*) FILTER (WHERE d.cluster IS NULL),
		count(*) FILTER (WHERE NOT EXISTS (SELECT FROM docs_clusters AS c
			WHERE c.cluster = d.cluster AND hamming(c.fp, d.fp) <= 3 AND %1$s)),
		(SELECT count(*) FROM docs_clusters AS c JOIN docs_clusters AS d
			ON c.cluster < d.cluster AND hamming(c.fp, d.fp) <= 3 AND %1$s)
		FROM docs AS d WHERE fp IS NOT NULL AND coalesce(%2$s, ''x'') IS NOT NULL', groups, 'body');
END $$;
CALL simhash_add_clusters('docs', 'fp', since => 'joined');
SELECT * FROM star();
-- ids go by the order of the rows; nobody knows when these joined
SELECT id, cluster, joined FROM docs WHERE id <= 5 OR id > 99 ORDER BY id;
INSERT INTO docs (id, fp) VALUES (102, (SELECT fp FROM docs WHERE id = 7)), (103, 0)
RETURNING cluster = (SELECT cluster FROM docs WHERE id = 7) AS joins, cluster > 20 AS new, joined = now() AS now;
\d docs
\d docs_clusters
-- there is nothing more to do; other arguments are a mistake
CALL simhash_add_clusters('docs', 'fp', since => 'joined');
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp') $$);
SELECT complain($$ CALL simhash_split_clusters('docs') $$);
-- a second one beside it
CALL simhash_add_clusters('docs', 'fp', 0, "column" => 'same', indexed => false);
SELECT count(DISTINCT same), count(DISTINCT cluster) FROM docs;
SELECT * FROM remains ORDER BY 1, 2;
CALL simhash_drop_clusters('docs', 'same');
SELECT complain($$ CALL simhash_drop_clusters('docs', 'same') $$);
CALL simhash_drop_clusters('docs');
SELECT * FROM remains ORDER BY 1, 2;
\d docs

-- within, verified
CALL simhash_add_clusters('docs', 'fp', 8, within => '{site}', document => 'body',
	similarity => 'jaccard', at_least => 0.99);
SELECT count(*), count(*) FILTER (WHERE d.cluster IS NULL) AS missing,
	count(*) FILTER (WHERE NOT EXISTS (SELECT FROM docs_clusters AS c WHERE c.cluster = d.cluster
		AND hamming(c.fp, d.fp) <= 8 AND simhash_jaccard(c.body, d.body) >= 0.99 AND c.site = d.site)) AS far
FROM docs AS d WHERE site IS NOT NULL AND fp IS NOT NULL;
SELECT count(*) FROM docs WHERE site IS NULL AND cluster IS NOT NULL;
\d docs_clusters
CALL simhash_drop_clusters('docs');

-- in a transaction block all of it is that transaction
BEGIN;
CALL simhash_add_clusters('docs', 'fp');
SELECT * FROM star();
ROLLBACK;
SELECT * FROM remains ORDER BY 1, 2;
BEGIN ISOLATION LEVEL REPEATABLE READ;
CALL simhash_add_clusters('docs', 'fp');
ROLLBACK;

--
-- to go on where it was stopped: step by step
--
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.id % 50 = 49 THEN RAISE 'stopped'; END IF;
	RETURN NEW;
END $$;
CREATE FUNCTION stop_ddl() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE 'stopped at %', tg_tag;
END $$;
-- 1: nothing has been made
CREATE EVENT TRIGGER stop ON ddl_command_start WHEN TAG IN ('CREATE TRIGGER') EXECUTE FUNCTION stop_ddl();
CALL simhash_add_clusters('docs', 'fp');
DROP EVENT TRIGGER stop;
SELECT * FROM remains ORDER BY 1, 2;
-- 2: nothing has been computed
CREATE EVENT TRIGGER stop ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION stop_ddl();
CALL simhash_add_clusters('docs', 'fp');
DROP EVENT TRIGGER stop;
SELECT * FROM remains ORDER BY 1, 2;
INSERT INTO docs VALUES (201, 5), (202, 6), (203, 1), (204, -1);
SELECT count(cluster) FROM docs;
-- 3: nothing is filled in
CREATE TRIGGER fail BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fail();
CALL simhash_add_clusters('docs', 'fp');
DROP TRIGGER fail ON docs;
SELECT * FROM remains ORDER BY 1, 2;
SELECT count(cluster) FROM docs;
-- rows that come, go and change now
INSERT INTO docs VALUES (205, 5), (206, 56);
UPDATE docs SET body = 'changed' WHERE id = 10;
UPDATE docs SET fp = fp # 1 WHERE id BETWEEN 20 AND 29;
DELETE FROM docs WHERE id BETWEEN 30 AND 39;
-- 4: no index
CREATE EVENT TRIGGER stop ON ddl_command_start WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION stop_ddl();
CALL simhash_add_clusters('docs', 'fp');
DROP EVENT TRIGGER stop;
SELECT * FROM remains ORDER BY 1, 2;
SELECT count(cluster) FROM docs;
UPDATE docs SET fp = fp # 1 WHERE id = 60;
-- 5: it is done, but for rows that came meanwhile
CREATE TRIGGER fail BEFORE UPDATE ON docs FOR EACH ROW WHEN (NEW.id = 205) EXECUTE FUNCTION fail();
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$;
CALL simhash_add_clusters('docs', 'fp');
SELECT * FROM remains ORDER BY 1, 2;
SELECT count(*) - count(cluster) > 0 AS left FROM docs WHERE fp IS NOT NULL;
-- what does not let itself be updated is an error, not an endless loop
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CALL simhash_add_clusters('docs', 'fp');
DROP TRIGGER fail ON docs;
CALL simhash_add_clusters('docs', 'fp');
SELECT * FROM star();
CALL simhash_drop_clusters('docs');

-- a table that was rewritten meanwhile: no row is taken for another
CREATE TRIGGER fail BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fail();
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$;
CALL simhash_add_clusters('docs', 'fp');
DROP TRIGGER fail ON docs;
DELETE FROM docs WHERE id < 10;
VACUUM FULL docs;
CALL simhash_add_clusters('docs', 'fp');
SELECT * FROM star();
CALL simhash_drop_clusters('docs');
-- a half-finished one goes, too
CREATE TRIGGER fail BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fail();
CALL simhash_add_clusters('docs', 'fp');
DROP TRIGGER fail ON docs;
CALL simhash_drop_clusters('docs');
SELECT * FROM remains ORDER BY 1, 2;
-- a table that moves to another schema meanwhile: all is computed once
CREATE TRIGGER fail BEFORE UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION fail();
CALL simhash_add_clusters('docs', 'fp');
DROP TRIGGER fail ON docs;
CREATE SCHEMA elsewhere;
ALTER TABLE docs SET SCHEMA elsewhere;
CALL simhash_add_clusters('elsewhere.docs', 'fp');
SELECT count(*) - count(DISTINCT cluster) AS twice FROM docs_clusters;
ALTER TABLE elsewhere.docs SET SCHEMA public;
CALL simhash_drop_clusters('docs');
DROP SCHEMA elsewhere;
SELECT * FROM remains ORDER BY 1, 2;
-- rows that get their clusters one by one leave nothing in memory
CALL simhash_add_clusters('docs', 'fp');
ALTER TABLE docs DISABLE TRIGGER USER;
INSERT INTO docs SELECT i, hashint8extended(i, 2) FROM generate_series(1001, 4000) AS i;
ALTER TABLE docs ENABLE TRIGGER USER;
CREATE TABLE memory (id int, bytes numeric);
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO memory SELECT NEW.id, sum(total_bytes) FROM pg_backend_memory_contexts;
	RETURN NEW;
END $$;
CREATE TRIGGER fail BEFORE UPDATE ON docs FOR EACH ROW WHEN (NEW.id IN (2000, 4000)) EXECUTE FUNCTION fail();
CALL simhash_add_clusters('docs', 'fp');
SELECT count(*), max(bytes) - min(bytes) < 4000000 AS little FROM memory;
DROP TABLE memory;
CALL simhash_drop_clusters('docs');
DROP TRIGGER fail ON docs;
DELETE FROM docs WHERE id > 1000;
DROP FUNCTION fail, stop_ddl;

--
-- a table of clusters that the user has changed
--
CREATE TABLE changed (id int, fp bigint);
CALL simhash_add_clusters('changed', 'fp');
ALTER TABLE changed_clusters ADD COLUMN gone int NOT NULL DEFAULT 1,
	ADD COLUMN state text NOT NULL DEFAULT 'o' || 'pen', ADD COLUMN note text,
	ADD COLUMN half bigint GENERATED ALWAYS AS (fp / 2) STORED;
ALTER TABLE changed_clusters DROP COLUMN gone;
INSERT INTO changed VALUES (1, 6), (2, 6), (3, -2);
SELECT cluster, made = (SELECT max(made) FROM changed_clusters) AS made, fp, state, note, half
FROM changed_clusters ORDER BY 1;
DROP TABLE changed;
-- that a crash would empty
CREATE UNLOGGED TABLE changed (id int, fp bigint);
CALL simhash_add_clusters('changed', 'fp');
INSERT INTO changed VALUES (1, 6);
ALTER TABLE changed SET LOGGED;
SELECT complain($$ INSERT INTO changed VALUES (2, 6) $$);
ALTER TABLE changed_clusters SET LOGGED;
INSERT INTO changed VALUES (2, 6) RETURNING cluster;
CALL simhash_drop_clusters('changed');
DROP TABLE changed;

--
-- connected, and split
--
CREATE TABLE chain (id int PRIMARY KEY, fp bigint);
INSERT INTO chain SELECT i, (1::bigint << 3 * i) - 1 FROM generate_series(0, 20) AS i;
SELECT complain($$ CALL simhash_add_clusters('chain', 'fp', kind => 'connected') $$);
CREATE INDEX ON chain USING hamming (fp);
CALL simhash_add_clusters('chain', 'fp', kind => 'connected');
SELECT cluster, count(*) FROM chain GROUP BY 1;
-- what the cache has of a trigger goes at any time (where the server can do so)
DO $$ BEGIN
	PERFORM set_config(name, '1', false) FROM pg_settings
	WHERE name = 'debug_discard_caches' AND max_val <> '0';
END $$;
SELECT simhash_current_cluster('chain', 1);
RESET debug_discard_caches;
-- of a chain that is cut, the longest part keeps the id
DELETE FROM chain WHERE id IN (5, 12);
INSERT INTO chain VALUES (30, -1), (31, -64), (32, -8);
SELECT simhash_current_cluster('chain', cluster) AS cluster, count(*) AS size FROM chain GROUP BY 1 ORDER BY 1;
CALL simhash_split_clusters('chain');
SELECT cluster, min(id), max(id), count(*) FROM chain GROUP BY 1 ORDER BY 1;
CALL simhash_split_clusters('chain');
SELECT simhash_current_cluster('chain', cluster) AS cluster, count(*) AS size FROM chain GROUP BY 1 ORDER BY 1;
-- a row that connects two of them again
INSERT INTO chain VALUES (5, (1::bigint << 15) - 1);
SELECT simhash_current_cluster('chain', cluster) AS cluster, count(*) AS size FROM chain GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM (
	SELECT min(id) OVER (PARTITION BY simhash_current_cluster('chain', cluster)) AS kept, id FROM chain) AS a
FULL JOIN (SELECT min(id) OVER (PARTITION BY cluster) AS scratch, id
	FROM simhash_clusters('SELECT id, fp FROM public.chain', 3, 'connected', min_size => 1)) AS b
USING (id) WHERE kept IS DISTINCT FROM scratch;
CALL simhash_drop_clusters('chain');
SELECT * FROM remains ORDER BY 1, 2;

--
-- partitions, bit strings
--
CREATE TABLE parts (id int, wide bit(128), lang text) PARTITION BY LIST (lang);
CREATE TABLE parts_b (lang text, gone int, wide bit(128), id int);
ALTER TABLE parts_b DROP COLUMN gone;
CREATE TABLE parts_a PARTITION OF parts FOR VALUES IN ('a');
ALTER TABLE parts ATTACH PARTITION parts_b FOR VALUES IN ('b');
INSERT INTO parts SELECT i, (i % 7)::bit(64) || (i % 50)::bit(64), CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END
FROM generate_series(1, 100) AS i;
CALL simhash_add_clusters('parts', 'wide', 2);
SELECT tableoid::regclass::text, count(*), count(cluster) FROM parts GROUP BY 1 ORDER BY 1;
SELECT count(*) FILTER (WHERE NOT EXISTS (SELECT FROM parts_clusters AS c
	WHERE c.cluster = d.cluster AND hamming(c.wide, d.wide) <= 2)) AS far FROM parts AS d;
SELECT count(*) AS near FROM parts_clusters AS c JOIN parts_clusters AS d
ON c.cluster < d.cluster AND hamming(c.wide, d.wide) <= 2;
CALL simhash_drop_clusters('parts');
CREATE INDEX ON parts USING hamming (wide);
CALL simhash_add_clusters('parts', 'wide', 2, kind => 'connected', within => '{lang}');
SELECT count(*) FROM (
	SELECT min(id) OVER (PARTITION BY simhash_current_cluster('parts', cluster)) AS kept, id FROM parts) AS a
FULL JOIN (SELECT min(id) OVER (PARTITION BY cluster) AS scratch, id
	FROM simhash_clusters('SELECT id, wide, lang FROM public.parts', 2, 'connected', min_size => 1)) AS b
USING (id) WHERE kept IS DISTINCT FROM scratch;
DELETE FROM parts WHERE id % 3 = 0;
CALL simhash_split_clusters('parts');
SELECT count(*) FROM (
	SELECT min(id) OVER (PARTITION BY cluster) AS kept, id FROM parts) AS a
FULL JOIN (SELECT min(id) OVER (PARTITION BY cluster) AS scratch, id
	FROM simhash_clusters('SELECT id, wide, lang FROM public.parts', 2, 'connected', min_size => 1)) AS b
USING (id) WHERE kept IS DISTINCT FROM scratch;
CALL simhash_drop_clusters('parts');
SELECT * FROM remains ORDER BY 1, 2;
DROP TABLE parts;

--
-- names
--
CREATE TABLE "Docs""x" ("F p" bigint, "a,b" text, "T'ext" text);
INSERT INTO "Docs""x" VALUES (1, 'g', 'one two'), (3, 'g', 'one two'), (3, 'h', 'one two');
CREATE TABLE "Docs""x_Clu%s""ters" ();
CALL simhash_add_clusters('"Docs""x"', 'F p', "column" => 'Clu%s"ter', since => 'si''nce',
	within => '{"a,b"}', document => 'T''ext', similarity => 'cosine');
SELECT "a,b", "Clu%s""ter" FROM "Docs""x";
INSERT INTO "Docs""x" VALUES (7, 'h', 'one two') RETURNING "Clu%s""ter", "si'nce" = now();
SELECT * FROM remains ORDER BY 1, 2;
CALL simhash_add_clusters('"Docs""x"', 'F p', "column" => 'Clu%s"ter', since => 'si''nce',
	within => '{"a,b"}', document => 'T''ext', similarity => 'cosine');
CALL simhash_drop_clusters('"Docs""x"', 'Clu%s"ter');
DROP TABLE "Docs""x_Clu%s""ters", "Docs""x";
SELECT * FROM remains ORDER BY 1, 2;

--
-- a table of somebody else, who hates the caller
--
CREATE ROLE regress_clusters_setup_owner;
CREATE SCHEMA hostile AUTHORIZATION regress_clusters_setup_owner;
SET ROLE regress_clusters_setup_owner;
CREATE FUNCTION hostile.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'regress_clusters_setup_owner' THEN RAISE 'called as %', current_user; END IF;
	PERFORM set_config('application_name', 'hostile', false);
	RETURN NEW;
END $$;
CREATE FUNCTION hostile.fingerprint(text) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'regress_clusters_setup_owner' THEN RAISE 'computed as %', current_user; END IF;
	RETURN length($1);
END $$;
CREATE TABLE hostile.docs (body text, fp bigint GENERATED ALWAYS AS (hostile.fingerprint(body)) STORED);
CREATE INDEX ON hostile.docs (hostile.fingerprint(body));
CREATE TRIGGER note BEFORE INSERT OR UPDATE ON hostile.docs FOR EACH ROW EXECUTE FUNCTION hostile.note();
ALTER TABLE hostile.docs ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
INSERT INTO hostile.docs VALUES ('x');
RESET ROLE;
ALTER TABLE hostile.docs DISABLE ROW LEVEL SECURITY;
SET ROLE regress_clusters_setup_owner;
INSERT INTO hostile.docs VALUES ('a'), ('bb'), ('ccccccccccccccc');
ALTER TABLE hostile.docs ENABLE ROW LEVEL SECURITY;
RESET ROLE;
SET application_name = 'mine';
CALL simhash_add_clusters('hostile.docs', 'fp', 1);
SHOW application_name;
ALTER TABLE hostile.docs DISABLE ROW LEVEL SECURITY;
SELECT body, cluster FROM hostile.docs ORDER BY body;
SELECT relname, relowner::regrole FROM pg_class
WHERE relnamespace = 'hostile'::regnamespace AND relkind IN ('r', 'v', 'S') ORDER BY 1;
-- others may not
CREATE ROLE regress_clusters_setup_nobody;
GRANT USAGE ON SCHEMA hostile TO regress_clusters_setup_nobody;
SET ROLE regress_clusters_setup_nobody;
CALL simhash_add_clusters('hostile.docs', 'fp', 1);
CALL simhash_drop_clusters('hostile.docs');
CALL simhash_split_clusters('hostile.docs');
RESET ROLE;
DO $$ BEGIN SET LOCAL ROLE regress_clusters_setup_nobody; CALL simhash_split_clusters('hostile.docs'); END $$;
CALL simhash_drop_clusters('hostile.docs');
-- the work table is his, too: it is found whatever it is called, and what he makes of
-- it is an error at worst
SET ROLE regress_clusters_setup_owner;
CREATE TABLE hostile.docs_clusters_fill (mine int);
CREATE FUNCTION hostile.stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$;
CREATE TRIGGER stop BEFORE UPDATE ON hostile.docs FOR EACH ROW EXECUTE FUNCTION hostile.stop();
CALL simhash_add_clusters('hostile.docs', 'fp', 1);
DROP TRIGGER stop ON hostile.docs;
ALTER TABLE hostile.docs_clusters_fill_1 RENAME TO work;
DROP TABLE hostile.work;
RESET ROLE;
CREATE FUNCTION spoil(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN complain('CALL simhash_add_clusters(''hostile.docs'', ''fp'', 1)');
END $$;
BEGIN; SELECT spoil('ALTER TABLE hostile.work ALTER node TYPE text'); ROLLBACK;
BEGIN; SELECT spoil('ALTER TABLE hostile.work ALTER node TYPE text USING ''some'''); ROLLBACK;
-- without the hints, which are others from PostgreSQL 19 on
BEGIN; SELECT split_part(spoil('ALTER TABLE hostile.work ALTER cluster TYPE text'), E'\n', 1); ROLLBACK;
BEGIN; SELECT split_part(spoil('ALTER TABLE hostile.work ALTER place TYPE text'), E'\n', 1); ROLLBACK;
BEGIN; SELECT spoil('ALTER TABLE hostile.work DROP part'); ROLLBACK;
BEGIN; SELECT spoil('INSERT INTO hostile.work VALUES (NULL)'); ROLLBACK;
BEGIN; SELECT spoil('INSERT INTO hostile.work VALUES (1, 1, ''(0,1)'', ''1'', 1)'); ROLLBACK;
BEGIN; SELECT spoil('INSERT INTO hostile.work VALUES (''pg_class''::regclass, 1, ''(0,1)'', ''1'', 1)'); ROLLBACK;
BEGIN; SELECT spoil('TRUNCATE hostile.work'); SELECT count(*), count(cluster) FROM hostile.docs; ROLLBACK;
BEGIN; SET LOCAL ROLE regress_clusters_setup_owner; DROP TABLE hostile.work CASCADE; SELECT complain('INSERT INTO hostile.docs VALUES (''x'')');
SELECT complain('CALL simhash_add_clusters(''hostile.docs'', ''fp'', 1)'); CALL simhash_drop_clusters('hostile.docs');
SELECT complain('INSERT INTO hostile.docs VALUES (''x'')'); ROLLBACK;
DROP FUNCTION spoil;
SET ROLE regress_clusters_setup_owner;
CALL simhash_add_clusters('hostile.docs', 'fp', 1);
SELECT count(*), count(cluster) FROM hostile.docs;
CALL simhash_drop_clusters('hostile.docs');
TABLE hostile.docs_clusters_fill;
DROP TABLE hostile.docs_clusters_fill;
-- the table of the clusters in a schema where the owner may make one
CALL simhash_add_clusters('hostile.docs', 'fp', 1, schema => 'pg_catalog');
RESET ROLE;
CREATE SCHEMA simhash_elsewhere;
CALL simhash_add_clusters('hostile.docs', 'fp', 1, schema => 'simhash_elsewhere');
GRANT ALL ON SCHEMA simhash_elsewhere TO regress_clusters_setup_owner;
CREATE TABLE simhash_elsewhere.docs_clusters ();
CALL simhash_add_clusters('hostile.docs', 'fp', 1, schema => 'simhash_elsewhere');
SELECT relname, nullif(relowner, current_user::regrole)::regrole AS owner FROM pg_class
WHERE relnamespace = 'simhash_elsewhere'::regnamespace AND relkind IN ('r', 'v', 'S') ORDER BY 1;
CALL simhash_add_clusters('hostile.docs', 'fp', 1);
CALL simhash_drop_clusters('hostile.docs');
DROP TABLE simhash_elsewhere.docs_clusters;
DROP SCHEMA simhash_elsewhere;
CALL simhash_add_clusters('hostile.docs', 'fp', 1, schema => 'simhash_elsewhere');
-- what is made shows nobody what a policy hides, whatever the default privileges
SET ROLE regress_clusters_setup_owner;
ALTER DEFAULT PRIVILEGES IN SCHEMA hostile GRANT ALL ON TABLES TO regress_clusters_setup_nobody, PUBLIC;
CREATE TABLE hostile.shared (body text, who name, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
ALTER TABLE hostile.shared ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON hostile.shared USING (who = current_user);
INSERT INTO hostile.shared VALUES ('the secret of the harbour', 'regress_clusters_setup_owner'),
	('tea is served at five', 'regress_clusters_setup_nobody');
CALL simhash_add_clusters('hostile.shared', 'fp', 3, document => 'body', similarity => 'jaccard');
INSERT INTO hostile.shared VALUES ('another secret', 'regress_clusters_setup_owner');
SET ROLE regress_clusters_setup_nobody;
SELECT * FROM hostile.shared_clusters;
DELETE FROM hostile.shared_clusters;
INSERT INTO hostile.shared VALUES ('tea is served at five', 'regress_clusters_setup_nobody') RETURNING cluster;
SET ROLE regress_clusters_setup_owner;
SELECT cluster, count(*) FROM hostile.shared GROUP BY 1 ORDER BY 1;
SELECT cluster, body FROM hostile.shared_clusters ORDER BY 1;
ALTER DEFAULT PRIVILEGES IN SCHEMA hostile REVOKE ALL ON TABLES FROM regress_clusters_setup_nobody, PUBLIC;
RESET ROLE;
-- the owner himself, whose deferred triggers fire
SET ROLE regress_clusters_setup_owner;
CREATE FUNCTION hostile.count() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER deferred AFTER UPDATE ON hostile.docs INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION hostile.count();
CALL simhash_add_clusters('hostile.docs', 'fp', 1);
CALL simhash_drop_clusters('hostile.docs');
RESET ROLE;
RESET application_name;
SET client_min_messages = warning;
DROP SCHEMA hostile CASCADE;
RESET client_min_messages;
DROP ROLE regress_clusters_setup_owner, regress_clusters_setup_nobody;

--
-- errors
--
\pset format unaligned
\pset tuples_only on
CREATE TABLE bad (cluster bigint, made bigint, n int, body text, x xml, generated text GENERATED ALWAYS AS (body || 'x') STORED, id bigint GENERATED ALWAYS AS IDENTITY);
CREATE VIEW v AS TABLE bad;
CREATE TABLE parent (fp bigint);
CREATE TABLE child () INHERITS (parent);
CREATE TEMP TABLE passing (fp bigint);
SELECT complain($$ CALL simhash_add_clusters('bad', 'cluster') $$);
SELECT complain($$ CALL simhash_add_clusters('bad', 'cluster', "column" => 'c') $$);
SELECT complain($$ CALL simhash_add_clusters('bad', 'made', "column" => 'c') $$);
SELECT complain($$ CALL simhash_add_clusters('bad', 'n', "column" => 'c') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', since => 'body') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'nothing') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', 65) $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', 23) $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', -1) $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', 5000000000) $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', kind => 'square') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', kind => 'connected') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', within => '{nothing}') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', within => '{NULL}') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', within => '{fp}') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', within => '{ctid}') $$);
SELECT complain($$ CALL simhash_add_clusters('bad', 'made', "column" => 'c', within => '{x}') $$);
SELECT complain($$ CALL simhash_add_clusters('bad', 'made', "column" => 'c', within => '{id}', kind => 'connected') $$);
SELECT complain($$ CALL simhash_add_clusters('bad', 'id', "column" => 'c') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', document => 'id') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', document => 'body') $$);
CALL simhash_add_clusters('docs', 'fp', document => 'id', similarity => 'jaccard');
CALL simhash_add_clusters('bad', 'made', "column" => 'c', document => 'generated', similarity => 'jaccard');
SELECT attname FROM pg_attribute WHERE attrelid IN ('docs'::regclass, 'bad'::regclass) AND attname IN ('c', 'cluster');
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', profile => 'nothing') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', profile => 'word-1') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', document => 'body', similarity => 'nothing') $$);
-- not given, it is whether they are alike
BEGIN;
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', document => 'body', at_least => 0.9) $$);
SELECT pg_get_expr(polqual, polrelid) ~ $$'similarity'::text, 'alike'::text$$ AS alike FROM pg_policy WHERE polrelid = 'docs_clusters'::regclass;
ROLLBACK;
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', document => 'body', similarity => 'jaccard', at_least => 2) $$);
SELECT complain($$ CALL simhash_add_clusters('docs', 'fp', similarity => 'jaccard') $$);
SELECT complain($$ CALL simhash_add_clusters('docs', NULL) $$);
SELECT complain($$ CALL simhash_drop_clusters('docs', NULL) $$);
SELECT complain($$ CALL simhash_drop_clusters(NULL, 'cluster') $$);
SELECT complain($$ CALL simhash_split_clusters('docs', NULL) $$);
SELECT complain($$ CALL simhash_split_clusters(NULL, 'cluster') $$);
SELECT complain($$ CALL simhash_add_clusters('v', 'cluster') $$);
SELECT complain($$ CALL simhash_add_clusters('pg_class', 'oid') $$);
SELECT complain($$ CALL simhash_add_clusters(1::oid, 'oid') $$);
SELECT complain($$ CALL simhash_add_clusters('parent', 'fp') $$);
SELECT complain($$ CALL simhash_add_clusters('passing', 'fp') $$);
-- a trigger made by hand, which names no table of clusters
SELECT complain($$ CALL simhash_drop_clusters('bad') $$);
SELECT complain($$ CALL simhash_split_clusters('bad') $$);
SELECT complain($$ SELECT simhash_current_cluster('bad', 1) $$);
CREATE TRIGGER mine BEFORE INSERT ON bad FOR EACH ROW EXECUTE FUNCTION simhash_cluster();
SELECT complain($$ CALL simhash_split_clusters('bad') $$);
SELECT complain($$ SELECT simhash_current_cluster('bad', 1) $$);
SELECT complain($$ INSERT INTO bad VALUES (1) $$);
CALL simhash_drop_clusters('bad');
SELECT complain($$ INSERT INTO bad VALUES (1) $$);
BEGIN; CREATE TABLE docs_clusters_fill (); SELECT complain($$ CALL simhash_add_clusters('docs', 'fp') $$); SELECT * FROM remains ORDER BY 1, 2; ROLLBACK;
-- an empty table
CALL simhash_add_clusters('parent', 'fp');
DROP TABLE child;
CALL simhash_add_clusters('parent', 'fp');
INSERT INTO parent VALUES (1) RETURNING cluster;
CREATE VIEW mine AS SELECT cluster FROM parent;
SELECT complain($$ CALL simhash_drop_clusters('parent') $$);
\pset format aligned
\pset tuples_only off

--
-- columns that are there: what earlier clusters have left
--
CREATE TABLE left_docs (id int PRIMARY KEY, fp bigint, body text);
CREATE INDEX ON left_docs USING hamming (fp);
INSERT INTO left_docs SELECT i, hashint8extended(i % 20, 1) # (1::bigint << i % 3), 'text' FROM generate_series(1, 100) AS i;
CALL simhash_add_clusters('left_docs', 'fp', since => 'since');
INSERT INTO left_docs VALUES (101, NULL), (102, (SELECT fp FROM left_docs WHERE id = 7)), (103, 0);
-- the table of the clusters is gone, and with it the triggers
DROP TABLE left_docs_clusters CASCADE;
CREATE TABLE saved AS SELECT id, cluster, since, xmin::text AS version FROM left_docs;
-- one part of a cluster has left it, two clusters have become one, one row never had any
UPDATE left_docs SET fp = fp # -1 WHERE id % 20 = 5 AND id < 45;
UPDATE left_docs SET fp = (SELECT fp FROM left_docs WHERE id = 8) WHERE id IN (9, 29, 49, 69, 89);
UPDATE left_docs SET cluster = 77 WHERE id = 101;
INSERT INTO left_docs VALUES (104, 0);
SELECT complain($$ CALL simhash_add_clusters('left_docs', 'fp', since => 'since') $$);
SELECT complain(format('CALL simhash_add_clusters(''left_docs'', ''fp'', adopt => true, %s => %L)', a, c))
FROM (VALUES ('"column"', 'fp'), ('"column"', 'id'), ('"column"', 'ctid'), ('since', 'body'), ('since', 'cluster')) AS t (a, c);
-- rows that are changed while it goes on get theirs in the end, whatever they had
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$;
CREATE TRIGGER fail BEFORE UPDATE ON left_docs FOR EACH ROW EXECUTE FUNCTION fail();
CALL simhash_add_clusters('left_docs', 'fp', since => 'since', adopt => true);
DROP FUNCTION fail CASCADE;
UPDATE left_docs SET body = 'changed' WHERE id IN (9, 10);
CALL simhash_add_clusters('left_docs', 'fp', since => 'since', adopt => true);
-- who keeps its id keeps the time, and is not even touched
SELECT d.cluster IS NOT DISTINCT FROM b.cluster AS same, count(*), count(*) FILTER (WHERE d.xmin::text = version) AS untouched,
	count(*) FILTER (WHERE d.since IS DISTINCT FROM b.since) AS other_time
FROM left_docs AS d LEFT JOIN saved AS b USING (id) GROUP BY 1 ORDER BY 1;
SELECT id, d.cluster, b.cluster AS old FROM left_docs AS d LEFT JOIN saved AS b USING (id)
WHERE d.cluster IS DISTINCT FROM b.cluster OR id > 100 OR id = 10 ORDER BY id;
INSERT INTO left_docs VALUES (105, 1234567890) RETURNING cluster;
-- the index that is searched is gone, and the trigger with it
DROP INDEX left_docs_clusters_fp_idx CASCADE;
SELECT complain($$ CALL simhash_add_clusters('left_docs', 'fp', since => 'since') $$);
CALL simhash_add_clusters('left_docs', 'fp', since => 'since', adopt => true);
SELECT count(DISTINCT cluster), max(cluster) FROM left_docs;
DROP TABLE left_docs_clusters;
-- clusters of another kind take them over as well
CALL simhash_drop_clusters('left_docs');
ALTER TABLE left_docs ADD cluster bigint;
UPDATE left_docs SET cluster = -id;
CALL simhash_add_clusters('left_docs', 'fp', kind => 'connected', adopt => true);
SELECT count(*), count(DISTINCT cluster), min(cluster), max(cluster) FROM left_docs WHERE fp IS NOT NULL;
\d left_docs
CALL simhash_drop_clusters('left_docs');
DROP TABLE left_docs, saved;

-- the owner changes while the set-up runs: there is nothing of the new owner's
CREATE TABLE given (id bigint PRIMARY KEY, fp bigint);
CREATE FUNCTION give() RETURNS event_trigger LANGUAGE plpgsql AS
$$ BEGIN ALTER TABLE given OWNER TO pg_monitor; END $$;
CREATE EVENT TRIGGER gives ON ddl_command_end WHEN tag IN ('CREATE TRIGGER') EXECUTE FUNCTION give();
CALL simhash_add_clusters('given', 'fp');
DROP EVENT TRIGGER gives;
DROP TABLE given, given_clusters;
DROP FUNCTION give;
-- a commit within the call fails: an error, and no warning about locks
CREATE TABLE given (id bigint PRIMARY KEY, fp bigint);
INSERT INTO given VALUES (1, 1), (2, 2);
CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not so'; END $$;
CREATE CONSTRAINT TRIGGER fails AFTER UPDATE ON given DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION fail();
CALL simhash_add_clusters('given', 'fp');
DROP TRIGGER fails ON given;
CALL simhash_add_clusters('given', 'fp');
SELECT count(DISTINCT cluster) FROM given;
CALL simhash_drop_clusters('given');
DROP TABLE given;
DROP FUNCTION fail;

DROP VIEW mine, v, remains;
CALL simhash_drop_clusters('parent');
DROP TABLE docs, chain, bad, parent;
DROP FUNCTION complain, star;
