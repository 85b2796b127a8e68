--
-- What a table of clusters is bound to, and by whom: names change, others have
-- rights on the table, and nothing but its own clusters is ever written.
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

--
-- the statement itself alters the tables, between two of its rows
--
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, body text, site varchar(20));
CREATE INDEX ON docs USING hamming (fp);
CALL simhash_add_clusters('docs', 'fp', within => '{site}', document => 'body', similarity => 'jaccard', since => 'since');
CALL simhash_add_clusters('docs', 'fp', kind => 'connected', "column" => 'chain', within => '{site}');
CREATE TABLE plain (id int PRIMARY KEY, fp bigint);
CALL simhash_add_clusters('plain', 'fp');
-- runs a command after the first row, and says what has become of it
CREATE FUNCTION alter_tables(id int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	IF id = 2 THEN
		EXECUTE current_setting('test.command');
	END IF;
	RETURN id;
EXCEPTION WHEN OTHERS THEN
	RAISE NOTICE '%', regexp_replace(SQLERRM, 'in a (policy|trigger) def', 'in a def');
	RETURN id;
END $$;
-- all in one statement: near pairs are 1 and 3, 2 and 4, and in another site 5
CREATE FUNCTION between_rows(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	row record;
	found text := '';
BEGIN
	PERFORM set_config('test.command', command, true);
	TRUNCATE docs, plain;
	INSERT INTO docs SELECT alter_tables(i), CASE WHEN i % 2 = 1 THEN 0 ELSE -1 END, 'one two three four', CASE WHEN i < 5 THEN 'a' ELSE 'b' END
	FROM generate_series(1, 5) AS i;
	PERFORM set_config('test.command', 'SELECT', true);
	FOR row IN SELECT dense_rank() OVER (ORDER BY one) AS one, dense_rank() OVER (ORDER BY two) AS two
		FROM (SELECT to_jsonb(d)->>'id' AS id, (SELECT min(value) FROM jsonb_each_text(to_jsonb(d)) WHERE key IN ('cluster', 'story'))::int AS one,
			(SELECT min(value) FROM jsonb_each_text(to_jsonb(d)) WHERE key IN ('chain', 'chained'))::int AS two FROM docs AS d) AS d ORDER BY id
	LOOP
		found := found || row.one || row.two || ' ';
	END LOOP;
	RETURN found || (SELECT count(*) FROM docs_clusters);
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || regexp_replace(SQLERRM, 'OID \d+', 'OID ...');
END $$;
\pset format unaligned
\pset tuples_only on
SELECT between_rows('SELECT');
BEGIN; SELECT between_rows('ALTER TABLE docs RENAME fp TO other'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs RENAME site TO other'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs RENAME body TO other'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs RENAME cluster TO story'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs RENAME chain TO chained'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs RENAME since TO other'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs RENAME cluster TO story; ALTER TABLE docs RENAME chain TO cluster; ALTER TABLE docs RENAME story TO chain'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters RENAME fp TO other; ALTER TABLE docs_clusters RENAME cluster TO fp'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters RENAME body TO other; ALTER TABLE docs_clusters RENAME site TO body'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_chains RENAME merged_into TO other; ALTER TABLE docs_chains RENAME copy_of TO merged_into'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_chains RENAME TO other; ALTER TABLE plain_clusters RENAME TO docs_chains'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_chains SET SCHEMA pg_catalog'); ROLLBACK;
-- what types they have, and what there is, cannot be changed at all
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters ALTER fp TYPE numeric'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters ALTER site TYPE text'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters ALTER body TYPE bigint USING 1'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters ALTER made TYPE text'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters ALTER cluster TYPE int'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_chains ALTER merged_into TYPE text'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters DROP fp CASCADE'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters ADD extra bigint NOT NULL DEFAULT 1'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs ALTER fp TYPE numeric'); ROLLBACK;
BEGIN; SELECT between_rows('DROP TABLE docs_clusters'); ROLLBACK;
BEGIN; SELECT between_rows('DROP TABLE docs_clusters CASCADE'); ROLLBACK;
BEGIN; SELECT between_rows('DROP INDEX docs_clusters_site_fp_idx'); ROLLBACK;
BEGIN; SELECT between_rows('DROP INDEX docs_clusters_site_fp_idx CASCADE'); ROLLBACK;
BEGIN; SELECT between_rows('DROP POLICY simhash_clusters ON docs_clusters'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER POLICY simhash_clusters ON docs_clusters USING (true)'); ROLLBACK;
BEGIN; SELECT between_rows('TRUNCATE docs_clusters, docs_chains'); ROLLBACK;
BEGIN; SELECT between_rows('ALTER TABLE docs_clusters ALTER cluster DROP IDENTITY'); ROLLBACK;
BEGIN; SELECT between_rows('CALL simhash_drop_clusters(''docs'')'); ROLLBACK;
BEGIN; SELECT between_rows('CALL simhash_split_clusters(''docs'', ''chain'')'); ROLLBACK;
-- the triggers of other tables in between
BEGIN; SELECT between_rows('INSERT INTO plain VALUES (1, 0), (2, -1), (3, 5)'); TABLE plain; ROLLBACK;
\pset format aligned
\pset tuples_only off
DROP TABLE docs, plain;
DROP FUNCTION alter_tables, between_rows;

--
-- somebody who has all rights on the table, and does not own it
--
CREATE ROLE regress_clusters_bound_guest;
CREATE ROLE regress_clusters_bound_owner;
GRANT CREATE ON SCHEMA public TO regress_clusters_bound_owner, regress_clusters_bound_guest;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_clusters_bound_owner', current_database()); END $$;
SET ROLE regress_clusters_bound_owner;
CREATE SCHEMA audit CREATE TABLE log (fp bigint, cluster bigint) CREATE TABLE docs (id int, fp bigint);
GRANT USAGE ON SCHEMA audit TO regress_clusters_bound_guest;
CREATE TABLE docs (id int, fp bigint, site name);
CREATE TABLE others (id int, fp bigint, site name);
CREATE INDEX ON others USING hamming (fp);
INSERT INTO audit.log SELECT 1, 1 FROM generate_series(1, 10);
INSERT INTO others VALUES (1, 0), (2, 63), (3, 7), (4, -1);
CALL simhash_add_clusters('others', 'fp');
CALL simhash_add_clusters('others', 'fp', kind => 'connected', "column" => 'chain');
CALL simhash_add_clusters('docs', 'fp');
GRANT ALL ON docs TO regress_clusters_bound_guest;
INSERT INTO docs VALUES (1, 0), (2, -1);
SET ROLE regress_clusters_bound_guest;
CREATE FUNCTION attack(target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text := '';
	command text;
BEGIN
	EXECUTE format('CREATE TRIGGER t AFTER TRUNCATE ON docs WHEN (%L::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster()', target);
	EXECUTE format('CREATE TRIGGER b BEFORE INSERT OR UPDATE ON docs FOR EACH ROW WHEN (%L::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster()', target);
	EXECUTE format('CREATE TRIGGER z AFTER INSERT OR UPDATE ON docs FOR EACH ROW WHEN (%L::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster()', target);
	FOREACH command IN ARRAY ARRAY['INSERT INTO docs VALUES (3, 0)', 'UPDATE docs SET fp = 5', 'TRUNCATE docs'] LOOP
		said := concat_ws(E'\n', nullif(said, ''), complain(command));
	END LOOP;
	RETURN said;
END $$;
-- the same by triggers of the kinds that look at rows when they are in, or gone
CREATE FUNCTION attack_after(target text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text := '';
	command text;
BEGIN
	EXECUTE format('CREATE TRIGGER s AFTER INSERT ON docs WHEN (%L::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster()', target);
	EXECUTE format('CREATE TRIGGER d AFTER UPDATE OR DELETE ON docs FOR EACH ROW WHEN (%L::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster()', target);
	FOREACH command IN ARRAY ARRAY['INSERT INTO docs VALUES (3, 0)', 'UPDATE docs SET fp = 5', 'DELETE FROM docs'] LOOP
		said := concat_ws(E'\n', nullif(said, ''), complain(command));
	END LOOP;
	RETURN said;
END $$;
\pset format unaligned
\pset tuples_only on
BEGIN; SELECT attack_after('audit.log'); ROLLBACK;
BEGIN; SELECT attack_after('others_clusters'); ROLLBACK;
BEGIN; SELECT attack_after('others_chains'); ROLLBACK;
BEGIN; SELECT attack_after('docs_clusters'); ROLLBACK;
BEGIN; SELECT attack('audit.log'); ROLLBACK;
BEGIN; SELECT attack('pg_class'); ROLLBACK;
BEGIN; SELECT attack('pg_authid'); ROLLBACK;
BEGIN; SELECT attack('others'); ROLLBACK;
BEGIN; SELECT attack('others_clusters'); ROLLBACK;
BEGIN; SELECT attack('others_chains'); ROLLBACK;
BEGIN; SELECT attack('others_fp_idx'); ROLLBACK;
BEGIN; SELECT attack('docs_clusters_cluster_seq'); ROLLBACK;
-- nor by a table of his own, with a deed that he has written of that of the owner
CREATE TABLE mine (cluster bigint GENERATED BY DEFAULT AS IDENTITY, made timestamptz, fp bigint, unused_since timestamptz, copy_of bigint);
CREATE INDEX ON mine USING hamming (fp);
CREATE POLICY simhash_clusters ON mine AS RESTRICTIVE USING (COALESCE(true, EXISTS (
	SELECT _simhash_cluster_terms(ROW('kind'::text, 'star'::text, 'k'::text, 3, 'fingerprint'::text, d.fp,
		'fingerprint'::text, mine.fp, 'cluster'::text, d.cluster, 'cluster'::text, mine.cluster, 'made'::text, mine.made,
		'copy_of'::text, mine.copy_of, 'unused_since'::text, mine.unused_since))
	FROM ONLY docs AS d)));
BEGIN; SELECT attack('mine'); ROLLBACK;
BEGIN; SELECT attack_after('mine'); ROLLBACK;
-- nor by a partition of his own
CREATE TABLE parts (id int, fp bigint, site name) PARTITION BY LIST (id);
SELECT complain('ALTER TABLE parts ATTACH PARTITION docs FOR VALUES IN (1)');
-- the trigger that is there is taken as it is, once more too
BEGIN; SELECT attack('docs_clusters'); ROLLBACK;
SELECT complain('CALL simhash_drop_clusters(''docs'')');
SELECT complain('CALL simhash_add_clusters(''docs'', ''fp'')');
SELECT complain('DROP TRIGGER simhash_cluster ON docs');
SELECT complain('ALTER TABLE docs_clusters ADD mine int');
SELECT complain('CREATE POLICY more ON docs_clusters USING (true)');
SELECT complain('ALTER POLICY simhash_clusters ON docs_clusters USING (true)');
RESET ROLE;
SELECT (SELECT count(*) FROM audit.log), (SELECT count(*) FROM pg_authid) > 1,
	(SELECT count(*) FROM others_clusters), (SELECT count(*) FROM others_chains), (SELECT count(*) FROM docs_clusters);
DROP OWNED BY regress_clusters_bound_guest CASCADE;
\pset format aligned
\pset tuples_only off
SET ROLE regress_clusters_bound_owner;

--
-- default privileges, and rights that others have on the schema: the table of the
-- clusters, its sequence and the work table are nobody else's
--
ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO regress_clusters_bound_guest, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT ALL ON SEQUENCES TO regress_clusters_bound_guest, PUBLIC;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO regress_clusters_bound_guest WITH GRANT OPTION;
CREATE TABLE given (id int, fp bigint);
CREATE INDEX ON given USING hamming (fp);
INSERT INTO given VALUES (1, 0);
CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$;
CREATE TRIGGER stop BEFORE UPDATE ON given FOR EACH ROW EXECUTE FUNCTION stop();
CALL simhash_add_clusters('given', 'fp');
CALL simhash_add_clusters('given', 'fp', kind => 'connected', "column" => 'chain');
SELECT relname, bool_or(grantee <> relowner) AS others FROM pg_class, aclexplode(coalesce(relacl, acldefault('r', relowner)))
WHERE relname ~ '^given' AND relkind IN ('r', 'S') GROUP BY 1 ORDER BY 1;
DROP TRIGGER stop ON given;
CALL simhash_add_clusters('given', 'fp');
CALL simhash_add_clusters('given', 'fp', kind => 'connected', "column" => 'chain');
ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM regress_clusters_bound_guest, PUBLIC;
ALTER DEFAULT PRIVILEGES REVOKE ALL ON SEQUENCES FROM regress_clusters_bound_guest, PUBLIC;
SET ROLE regress_clusters_bound_guest;
SELECT complain('TABLE given_clusters');
SELECT complain('SELECT nextval(''given_clusters_cluster_seq'')');
SELECT complain('SELECT setval(''given_chains_cluster_seq'', 1)');
INSERT INTO given VALUES (2, 1), (3, -1) RETURNING cluster, chain;
SET ROLE regress_clusters_bound_owner;
TABLE given ORDER BY id;
DROP TABLE given;
DROP FUNCTION stop;

--
-- row security: nobody reaches a cluster that is not his row's own
--
CREATE TABLE tenants (id int PRIMARY KEY, who name, fp bigint);
CREATE INDEX ON tenants USING hamming (fp);
CALL simhash_add_clusters('tenants', 'fp', kind => 'connected', within => '{who}');
CALL simhash_add_clusters('tenants', 'fp', "column" => 'story', within => '{who}', since => 'since');
INSERT INTO tenants VALUES (1, 'regress_clusters_bound_owner', 0), (2, 'regress_clusters_bound_owner', 63), (3, 'regress_clusters_bound_owner', 4095),
	(11, 'regress_clusters_bound_guest', 0), (12, 'regress_clusters_bound_guest', 63), (13, 'regress_clusters_bound_guest', 4095);
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON tenants USING (who = current_user);
GRANT ALL ON tenants TO regress_clusters_bound_guest;
CREATE VIEW forest AS SELECT cluster, merged_into, copy_of FROM tenants_clusters;
SELECT id, cluster, story FROM tenants ORDER BY id;
SET ROLE regress_clusters_bound_guest;
SELECT id, cluster, story FROM tenants ORDER BY id;
-- by ids of another tenant's, of none, and of his own other rows
UPDATE tenants SET cluster = 1, story = 1 WHERE id = 11 RETURNING cluster, story;
UPDATE tenants SET cluster = -1, story = -1 WHERE id = 11 RETURNING cluster, story;
UPDATE tenants SET cluster = 5, story = 5 WHERE id = 11 RETURNING cluster, story;
UPDATE tenants SET cluster = NULL, story = NULL, since = NULL WHERE id = 11 RETURNING cluster, story, since IS NULL AS unknown;
UPDATE tenants SET cluster = 9223372036854775807, story = -9223372036854775808 WHERE id = 11 RETURNING cluster, story;
INSERT INTO tenants VALUES (14, 'regress_clusters_bound_guest', 7, 1, 1) RETURNING cluster, story;
INSERT INTO tenants VALUES (11, 'regress_clusters_bound_guest', 0) ON CONFLICT (id) DO UPDATE SET cluster = 2, story = 2, since = NULL RETURNING cluster, story;
UPDATE tenants SET cluster = 1 WHERE id = 12 RETURNING cluster, simhash_current_cluster('tenants', cluster);
UPDATE tenants SET cluster = simhash_current_cluster('tenants', cluster) RETURNING id, cluster;
UPDATE tenants SET fp = 31, cluster = 1, story = 1 WHERE id = 11 RETURNING cluster, story;
-- nor by another tenant's name, which the policy refuses
UPDATE tenants SET who = 'regress_clusters_bound_owner' WHERE id = 11;
INSERT INTO tenants VALUES (15, 'regress_clusters_bound_owner', 7);
SELECT complain('TABLE tenants_clusters');
SET ROLE regress_clusters_bound_owner;
SELECT id, who, cluster, simhash_current_cluster('tenants', cluster) AS current, story FROM tenants ORDER BY id;
TABLE forest ORDER BY 1;
RESET ROLE;
SELECT id, who, cluster, simhash_current_cluster('tenants', cluster) AS current, story FROM tenants ORDER BY id;
SET ROLE regress_clusters_bound_owner;
DROP VIEW forest;
DROP TABLE tenants;

--
-- a row that a statement updates, and then one that it inserts (this must not be
-- taken for the first, moved to another partition)
--
CREATE TABLE upserted (id int PRIMARY KEY, site text, fp bigint);
CREATE INDEX ON upserted USING hamming (fp);
CALL simhash_add_clusters('upserted', 'fp', within => '{site}');
CALL simhash_add_clusters('upserted', 'fp', kind => 'connected', "column" => 'chain', within => '{site}');
INSERT INTO upserted VALUES (1, 'a', 0);
INSERT INTO upserted VALUES (1, 'a', 0), (2, 'b', 0), (3, 'a', 1) ON CONFLICT (id) DO UPDATE SET site = excluded.site
RETURNING id, site, cluster, chain;
INSERT INTO upserted VALUES (1, 'a', 0), (4, 'c', 0), (2, 'b', 0), (5, 'c', -1) ON CONFLICT (id) DO UPDATE SET fp = excluded.fp
RETURNING id, site, cluster, chain;
INSERT INTO upserted VALUES (1, 'b', 0), (6, 'a', 0) ON CONFLICT (id) DO UPDATE SET site = excluded.site
RETURNING id, site, cluster, chain;
-- the same where rows may move to another partition
CREATE TABLE parted (id int PRIMARY KEY, site text, fp bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20);
CREATE INDEX ON parted USING hamming (fp);
CALL simhash_add_clusters('parted', 'fp', within => '{site}');
CALL simhash_add_clusters('parted', 'fp', kind => 'connected', "column" => 'chain', within => '{site}');
INSERT INTO parted VALUES (1, 'a', 0);
INSERT INTO parted VALUES (1, 'a', 0), (2, 'b', 0), (11, 'c', 0), (3, 'a', 1) ON CONFLICT (id) DO UPDATE SET site = excluded.site
RETURNING id, site, cluster, chain;
MERGE INTO parted USING (VALUES (1, 'a', 0::bigint), (12, 'd', 0), (2, 'b', 0), (13, 'b', 1)) AS new (id, site, fp) ON parted.id = new.id
WHEN MATCHED THEN UPDATE SET fp = new.fp WHEN NOT MATCHED THEN INSERT (id, site, fp) VALUES (new.id, new.site, new.fp);
WITH moved AS (UPDATE parted SET id = id + 15 WHERE id = 1 RETURNING id)
INSERT INTO parted SELECT 4, 'e', 0 FROM moved;
SELECT id, site, cluster, chain FROM parted ORDER BY id;
-- whatever ids are written
INSERT INTO upserted VALUES (1, 'a', 0, 1, 1), (7, 'f', 0, 1, 1) ON CONFLICT (id) DO UPDATE SET site = excluded.site
RETURNING id, site, cluster, chain;
INSERT INTO parted VALUES (2, 'b', 0, 2, 2), (5, 'f', 0, 2, 2), (3, 'b', 0, 2, 2), (6, 'g', 0, 2, 2) ON CONFLICT (id) DO UPDATE SET site = excluded.site
RETURNING id, site, cluster, chain;
-- a row that is moved, and is changed as it arrives
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.site := 'z'; RETURN NEW; END $$;
CREATE TRIGGER change BEFORE INSERT ON parted_2 FOR EACH ROW WHEN (NEW.id = 14) EXECUTE FUNCTION change();
UPDATE parted SET id = 14 WHERE id = 4 RETURNING id, site, cluster, chain;
UPDATE parted SET id = 15 WHERE id = 5 RETURNING id, site, cluster, chain;
DROP TABLE upserted, parted;
DROP FUNCTION change;

--
-- names that stand for something else by now
--
CREATE FUNCTION clusters_of(VARIADIC tables text[]) RETURNS TABLE (rows text, clusters text) LANGUAGE plpgsql AS $$
DECLARE
	name text;
BEGIN
	FOREACH name IN ARRAY tables LOOP
		RETURN QUERY EXECUTE format('SELECT string_agg(id || '':'' || cluster, '' '' ORDER BY id),
			(SELECT string_agg(cluster || '':'' || fp, '' '' ORDER BY cluster) FROM %s_clusters) FROM %1$s', name);
	END LOOP;
END $$;
CREATE TABLE news (id int, fp bigint);
CALL simhash_add_clusters('news', 'fp');
INSERT INTO news VALUES (1, 0), (2, -1), (3, 65535);
-- the old year is put away, a new one begun
ALTER TABLE news RENAME TO news_2025;
ALTER TABLE news_clusters RENAME TO news_2025_clusters;
CREATE TABLE news (id int, fp bigint);
CALL simhash_add_clusters('news', 'fp');
INSERT INTO news VALUES (11, 255);
INSERT INTO news_2025 VALUES (4, 7);
SELECT * FROM clusters_of('news', 'news_2025');
BEGIN; TRUNCATE news_2025; SELECT * FROM clusters_of('news', 'news_2025'); ROLLBACK;
BEGIN; TRUNCATE news; SELECT * FROM clusters_of('news', 'news_2025'); ROLLBACK;
CALL simhash_drop_clusters('news_2025');
INSERT INTO news VALUES (12, 254);
SELECT * FROM clusters_of('news');
SELECT relname FROM pg_class WHERE relname ~ '^news' ORDER BY 1;
CALL simhash_drop_clusters('news');
DROP TABLE news, news_2025;
-- one schema in the place of another, with tables of the same names
CREATE SCHEMA live CREATE TABLE news (id int, fp bigint);
CREATE SCHEMA next CREATE TABLE news (id int, fp bigint);
CALL simhash_add_clusters('live.news', 'fp');
CALL simhash_add_clusters('next.news', 'fp');
INSERT INTO live.news VALUES (1, 0), (2, -1);
INSERT INTO next.news VALUES (11, 65535);
PREPARE live AS INSERT INTO live.news VALUES ($1, $2);
EXECUTE live(3, 1);
ALTER SCHEMA live RENAME TO old;
ALTER SCHEMA next RENAME TO live;
EXECUTE live(12, 0);
INSERT INTO old.news VALUES (4, 4294967295);
SELECT * FROM clusters_of('live.news', 'old.news');
BEGIN; TRUNCATE old.news; SELECT * FROM clusters_of('live.news', 'old.news'); ROLLBACK;
BEGIN; TRUNCATE live.news; SELECT * FROM clusters_of('live.news', 'old.news'); ROLLBACK;
CALL simhash_drop_clusters('old.news');
EXECUTE live(13, 3);
SELECT * FROM clusters_of('live.news');
-- tables of clusters that change names with each other
CALL simhash_add_clusters('old.news', 'fp');
ALTER TABLE old.news_clusters SET SCHEMA public;
ALTER TABLE live.news_clusters SET SCHEMA old;
ALTER TABLE public.news_clusters SET SCHEMA live;
INSERT INTO live.news VALUES (14, 1431655765);
INSERT INTO old.news VALUES (5, 858993459);
SELECT string_agg(cluster || ':' || fp, ' ' ORDER BY cluster) AS of_live FROM old.news_clusters;
SELECT string_agg(cluster || ':' || fp, ' ' ORDER BY cluster) AS of_old FROM live.news_clusters;
CALL simhash_drop_clusters('live.news');
SELECT oid::regclass FROM pg_class WHERE relname ~ '^news' AND relkind = 'r' ORDER BY oid::regclass::text;
CALL simhash_drop_clusters('old.news');
DEALLOCATE live;
SET client_min_messages = warning;
DROP SCHEMA live, old CASCADE;
RESET client_min_messages;
DROP FUNCTION clusters_of;
-- columns: the user's own of the old name stays
CREATE TABLE news (id int, fp bigint);
CREATE INDEX ON news USING hamming (fp);
CALL simhash_add_clusters('news', 'fp', kind => 'connected', since => 'since');
ALTER TABLE news RENAME cluster TO story;
ALTER TABLE news RENAME since TO seen;
ALTER TABLE news RENAME fp TO print;
ALTER TABLE news ADD COLUMN cluster text DEFAULT 'mine', ADD COLUMN fp bigint DEFAULT 0, ADD COLUMN since timestamptz DEFAULT 'epoch';
INSERT INTO news (id, print) VALUES (1, 0), (2, 63), (3, 7), (4, -1);
SELECT id, story, simhash_current_cluster('news', story, 'story') AS current, cluster, fp, since = 'epoch' AS epoch, seen > since AS seen FROM news ORDER BY id;
SELECT complain($$ SELECT simhash_current_cluster('news', 1) $$);
SELECT complain($$ CALL simhash_drop_clusters('news') $$);
SELECT complain($$ CALL simhash_split_clusters('news') $$);
SELECT complain($$ CALL simhash_add_clusters('news', 'fp', kind => 'connected', since => 'since') $$);
SELECT complain($$ CALL simhash_add_clusters('news', 'print', "column" => 'story', kind => 'connected', since => 'since') $$);
CALL simhash_add_clusters('news', 'print', "column" => 'story', kind => 'connected', since => 'seen');
DELETE FROM news WHERE id = 3;
CALL simhash_split_clusters('news', 'story');
SELECT id, story, cluster FROM news ORDER BY id;
-- in the table of the clusters, too
ALTER TABLE news_clusters RENAME merged_into TO into_what;
ALTER TABLE news_clusters RENAME cluster TO id;
ALTER TABLE news_clusters ADD COLUMN cluster text;
INSERT INTO news (id, print) VALUES (3, 7) RETURNING story;
SELECT id, into_what, cluster FROM news_clusters ORDER BY id;
CALL simhash_drop_clusters('news', 'story');
SELECT attname FROM pg_attribute WHERE attrelid = 'news'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum;
SELECT relname FROM pg_class WHERE relname ~ '^news' ORDER BY 1;
DROP TABLE news;

--
-- nothing that is bound is dropped without CASCADE; with it, what is left says so
--
CREATE TABLE news (id int, fp bigint, site text, body text);
CREATE INDEX ON news USING hamming (fp);
CALL simhash_add_clusters('news', 'fp', within => '{site}', document => 'body', similarity => 'jaccard', since => 'since');
CALL simhash_add_clusters('news', 'fp', kind => 'connected', "column" => 'chain', within => '{site}');
INSERT INTO news VALUES (1, 0, 'a', 'one two'), (2, 1, 'a', 'one two');
CREATE FUNCTION dropped(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	name text;
BEGIN
	said := 'without: ' || split_part(complain(command), E'\n', 1);
	EXECUTE command || ' CASCADE';
	said := concat_ws(E'\n', said, 'insert: ' || complain('INSERT INTO news (id) VALUES (3)'),
		'insert: ' || complain('INSERT INTO news (id, fp) VALUES (3, 7)'),
		'truncate: ' || complain('TRUNCATE news'));
	FOREACH name IN ARRAY ARRAY['cluster', 'chain'] LOOP
		said := concat_ws(E'\n', said, name || ': ' || complain(format('CALL simhash_drop_clusters(''news'', %L)', name)));
	END LOOP;
	RETURN concat_ws(E'\n', said, 'insert: ' || complain('INSERT INTO news (id) VALUES (3)'),
		'left: ' || (SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class WHERE relname ~ '^news' AND relkind = 'r'),
		'columns: ' || (SELECT string_agg(attname, ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'news'::regclass AND attnum > 0 AND NOT attisdropped),
		'triggers: ' || (SELECT string_agg(tgname, ', ' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = 'news'::regclass));
END $$;
\pset format unaligned
\pset tuples_only on
BEGIN; SELECT dropped('DROP TABLE news_clusters'); ROLLBACK;
BEGIN; SELECT dropped('DROP TABLE news_chains'); ROLLBACK;
BEGIN; SELECT dropped('ALTER TABLE news DROP COLUMN cluster'); ROLLBACK;
BEGIN; SELECT dropped('ALTER TABLE news DROP COLUMN chain'); ROLLBACK;
BEGIN; SELECT dropped('ALTER TABLE news DROP COLUMN since'); ROLLBACK;
BEGIN; SELECT dropped('ALTER TABLE news DROP COLUMN body'); ROLLBACK;
BEGIN; SELECT dropped('ALTER TABLE news_clusters DROP COLUMN site'); ROLLBACK;
BEGIN; SELECT dropped('ALTER TABLE news_clusters DROP COLUMN cluster'); ROLLBACK;
BEGIN; SELECT dropped('ALTER TABLE news_chains DROP COLUMN merged_at'); ROLLBACK;
BEGIN; SELECT dropped('DROP INDEX news_clusters_site_fp_idx'); ROLLBACK;
BEGIN; SELECT dropped('DROP INDEX news_fp_idx'); ROLLBACK;
SELECT complain('DROP SEQUENCE news_clusters_cluster_seq CASCADE');
-- what cannot be refused
BEGIN; ALTER TABLE news_clusters ALTER cluster DROP IDENTITY; SELECT dropped('DROP POLICY IF EXISTS simhash_clusters ON news_chains'); ROLLBACK;
BEGIN; DROP POLICY simhash_clusters ON news_clusters; SELECT dropped('DROP POLICY IF EXISTS simhash_clusters ON news_chains'); ROLLBACK;
-- all of it goes with the table itself
BEGIN; DROP TABLE news; SELECT count(*) FROM pg_class WHERE relname ~ '^news'; ROLLBACK;
BEGIN; ALTER TABLE news_clusters SET SCHEMA audit; DROP TABLE news; SELECT count(*) FROM pg_class WHERE relname ~ '^news'; ROLLBACK;
CALL simhash_drop_clusters('news', 'chain');
CALL simhash_drop_clusters('news');
\pset format aligned
\pset tuples_only off
DROP TABLE news;
DROP FUNCTION dropped;
-- a column that is not computed any more as it was
CREATE TABLE news (body text, who text, fp bigint GENERATED ALWAYS AS (length(body)) STORED,
	site varchar(3) GENERATED ALWAYS AS (lower(who)) STORED);
CALL simhash_add_clusters('news', 'fp', within => '{site}');
INSERT INTO news VALUES ('', 'A'), ('x', 'a') RETURNING cluster;
BEGIN; ALTER TABLE news ALTER fp DROP EXPRESSION; SELECT complain('INSERT INTO news VALUES (''xxx'', ''a'')'); ROLLBACK;
BEGIN; ALTER TABLE news ALTER site DROP EXPRESSION; SELECT complain('UPDATE news SET body = ''xxx'''); ROLLBACK;
INSERT INTO news VALUES ('xxx', 'a') RETURNING cluster;
DROP TABLE news;

--
-- names that need quotes, whatever is quoted
--
CREATE SCHEMA "Sche""ma; -- /* 'x'";
CREATE FUNCTION odd(quoted bool) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	tab CONSTANT text := '"Sche""ma; -- /* ''x''"."Ta""ble; -- /* ''x'' %s $1"';
	col CONSTANT name := 'Clu"ster; -- /* ''x'' %s $1';
	kind text;
	found text;
BEGIN
	PERFORM set_config('quote_all_identifiers', quoted::text, true);
	EXECUTE 'CREATE TABLE ' || tab || ' ("Id" int PRIMARY KEY, "F p; -- /* ''""" bigint, "a,b{}""'' -- " text, "select" text, "T''ext""%I" text)';
	EXECUTE 'CREATE INDEX ON ' || tab || ' USING hamming ("F p; -- /* ''""")';
	FOREACH kind IN ARRAY ARRAY['star', 'connected'] LOOP
		EXECUTE 'INSERT INTO ' || tab || ' VALUES (1, 0, ''a'', ''b'', ''one two''), (2, 63, ''a'', ''b'', ''one two'')';
		-- once to set it up, and once to say that this is done
		FOR i IN 1 .. 2 LOOP
			CALL simhash_add_clusters(tab::regclass, 'F p; -- /* ''"', kind => kind, "column" => col, since => 'Since"; -- /* ''',
				within => ARRAY['a,b{}"'' -- ', 'select'], document => 'T''ext"%I', similarity => 'jaccard', schema => 'Sche"ma; -- /* ''x''');
		END LOOP;
		EXECUTE 'INSERT INTO ' || tab || ' VALUES (3, 7, ''a'', ''b'', ''one two''), (4, 7, ''b'', ''b'', ''one two''), (5, 7, ''a'', ''b'', ''six'')';
		EXECUTE format('SELECT string_agg("Id" || '':'' || simhash_current_cluster(%L, %2$I, %2$L), '' '' ORDER BY "Id") FROM %s', tab, col, tab) INTO found;
		RETURN NEXT kind || ' ' || found;
		IF kind = 'connected' THEN
			EXECUTE 'DELETE FROM ' || tab || ' WHERE "Id" = 3';
			CALL simhash_split_clusters(tab::regclass, col);
			EXECUTE format('SELECT string_agg("Id" || '':'' || %I, '' '' ORDER BY "Id") FROM %s', col, tab) INTO found;
			RETURN NEXT 'split ' || found;
		END IF;
		RETURN QUERY SELECT relname::text FROM pg_class WHERE relnamespace = '"Sche""ma; -- /* ''x''"'::regnamespace AND relkind = 'r' ORDER BY relname;
		CALL simhash_drop_clusters(tab::regclass, col);
		EXECUTE 'DELETE FROM ' || tab;
	END LOOP;
	RETURN QUERY SELECT relname::text FROM pg_class WHERE relnamespace = '"Sche""ma; -- /* ''x''"'::regnamespace AND relkind = 'r';
	EXECUTE 'DROP TABLE ' || tab;
END $$;
SELECT odd(false);
SELECT odd(true);
DROP FUNCTION odd;
DROP SCHEMA "Sche""ma; -- /* 'x'";
-- the longest, of columns that differ in their ends
CREATE TABLE long_________1_________2_________3_________4_________5_________ (fp_________1_________2_________3_________4_________5_________ bigint,
	site_________1_________2_________3_________4_________5_________ text);
CALL simhash_add_clusters('long_________1_________2_________3_________4_________5_________', 'fp_________1_________2_________3_________4_________5_________',
	"column" => 'column_______1_________2_________3_________4_________5________a', within => '{site_________1_________2_________3_________4_________5_________}');
CALL simhash_add_clusters('long_________1_________2_________3_________4_________5_________', 'fp_________1_________2_________3_________4_________5_________',
	"column" => 'column_______1_________2_________3_________4_________5________b', since => 'column_______1_________2_________3_________4_________5________c');
INSERT INTO long_________1_________2_________3_________4_________5_________ VALUES (0, 'a'), (1, 'b')
RETURNING column_______1_________2_________3_________4_________5________a AS a, column_______1_________2_________3_________4_________5________b AS b;
SELECT relname FROM pg_class WHERE relname ~ '^long' AND relkind = 'r' ORDER BY 1;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'long_________1_________2_________3_________4_________5_________'::regclass ORDER BY 1;
CALL simhash_drop_clusters('long_________1_________2_________3_________4_________5_________', 'column_______1_________2_________3_________4_________5________b');
CALL simhash_drop_clusters('long_________1_________2_________3_________4_________5_________', 'column_______1_________2_________3_________4_________5________a');
DROP TABLE long_________1_________2_________3_________4_________5_________;

--
-- functions, operators and types of those names that come first
--
CREATE SCHEMA planted;
CREATE FUNCTION planted.trap(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR planted.= (FUNCTION = planted.trap, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR planted.<> (FUNCTION = planted.trap, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR planted.> (FUNCTION = planted.trap, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR planted.< (FUNCTION = planted.trap, LEFTARG = bigint, RIGHTARG = bigint);
CREATE FUNCTION planted.trap(varchar, varchar) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR planted.= (FUNCTION = planted.trap, LEFTARG = varchar, RIGHTARG = varchar);
CREATE FUNCTION planted.trap(timestamptz, timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR planted.> (FUNCTION = planted.trap, LEFTARG = timestamptz, RIGHTARG = timestamptz);
CREATE FUNCTION planted.trap(tid, tid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR planted.= (FUNCTION = planted.trap, LEFTARG = tid, RIGHTARG = tid);
CREATE OPERATOR planted.>= (FUNCTION = planted.trap, LEFTARG = tid, RIGHTARG = tid);
CREATE FUNCTION planted.trap(oid, oid) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE OPERATOR planted.= (FUNCTION = planted.trap, LEFTARG = oid, RIGHTARG = oid);
CREATE FUNCTION planted.now() RETURNS timestamptz LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.count() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.max(bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.min(bigint) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.sum(bigint) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.array_agg(tid) RETURNS tid[] LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.hamming(bigint, bigint) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.nextval(regclass) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.unnest(bigint[]) RETURNS SETOF bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.simhash_current_cluster(regclass, bigint, name) RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted._simhash_cluster_terms(VARIADIC text[]) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.simhash_cluster() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'trapped'; END $$;
CREATE FUNCTION planted.lower(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$ BEGIN RETURN 'trapped'; END $$;
CREATE DOMAIN planted.regclass AS integer;
CREATE DOMAIN planted.int8 AS text;
CREATE DOMAIN planted.text AS integer;
CREATE DOMAIN planted.name AS integer;
-- with casts in the expressions that the user did not write
CREATE TABLE news (id int, lang text, raw text, fp bigint GENERATED ALWAYS AS (length(raw)) STORED,
	site varchar(3) GENERATED ALWAYS AS (lower(lang) || 'x') STORED, wide bit(64) GENERATED ALWAYS AS (length(raw)::bit(64)) STORED);
CREATE INDEX ON news USING hamming (fp);
INSERT INTO news VALUES (1, 'A', '');
SET search_path = planted, pg_catalog, public;
CALL simhash_add_clusters('public.news', 'fp', within => '{site}', since => 'since');
CALL simhash_add_clusters('public.news', 'fp', kind => 'connected', "column" => 'chain', within => '{site}');
CALL simhash_add_clusters('public.news', 'wide', 0, "column" => 'third');
INSERT INTO public.news VALUES (2, 'a', 'xxxxxxxxxxxxxxx'), (3, 'A', 'xxx'), (4, 'b', 'xxx');
SELECT id, fp, site, cluster, chain, public.simhash_current_cluster('public.news', chain, 'chain') AS current, third FROM public.news ORDER BY id;
DELETE FROM public.news WHERE id = 3;
CALL public.simhash_split_clusters('public.news', 'chain');
CALL public.simhash_add_clusters('public.news', 'fp', within => '{site}', since => 'since');
SELECT id, cluster, chain, third FROM public.news ORDER BY id;
SELECT 'nothing' AS wrong FROM public.simhash_check_clusters('public.news'), public.simhash_check_clusters('public.news', 'chain') LIMIT 1;
-- all that can be wrong
ALTER TABLE public.news DISABLE TRIGGER USER;
ALTER TABLE public.news_clusters DISABLE TRIGGER USER;
ALTER TABLE public.news_chains DISABLE TRIGGER USER;
UPDATE public.news SET cluster = NULL, chain = 77 WHERE id OPERATOR(pg_catalog.=) 1;
UPDATE public.news SET cluster = -5, chain = NULL, third = 99 WHERE id OPERATOR(pg_catalog.=) 2;
INSERT INTO public.news (id, lang, raw, cluster, chain, third) VALUES (5, 'a', '', 3, 88, 1), (6, NULL, '', 3, 3, 3);
INSERT INTO public.news_clusters (cluster, fp, site, copy_of) VALUES (-30, 0, 'ax', NULL), (20, 1, 'ax', NULL), (-40, 3, 'bx', 3), (-50, 5, 'cx', -4);
INSERT INTO public.news_chains (cluster, merged_into, copy_of) VALUES (50, 60, NULL), (-60, 2, 4), (45, 44, NULL), (-61, 2, -4);
SELECT fault, number FROM public.simhash_check_clusters('public.news') LIMIT 1;
ALTER TABLE public.news ENABLE TRIGGER USER;
ALTER TABLE public.news_clusters ENABLE TRIGGER USER;
ALTER TABLE public.news_chains ENABLE TRIGGER USER;
SELECT fault, number FROM public.simhash_check_clusters('public.news');
SELECT fault, number FROM public.simhash_check_clusters('public.news', 'chain');
SELECT fault, number FROM public.simhash_check_clusters('public.news', 'third');
-- rows of one are updated, and so need no fault of the other that keeps them from it
CALL public.simhash_mend_clusters('public.news', 'chain', 'd.id OPERATOR(pg_catalog.=) 4');
CALL public.simhash_mend_clusters('public.news');
CALL public.simhash_mend_clusters('public.news', 'third');
CALL public.simhash_trim_clusters('public.news');
CALL public.simhash_trim_clusters('public.news', 'chain');
CALL public.simhash_trim_clusters('public.news', 'third');
SELECT fault, number FROM public.simhash_check_clusters('public.news');
SELECT fault, number FROM public.simhash_check_clusters('public.news', 'chain');
SELECT fault, number FROM public.simhash_check_clusters('public.news', 'third');
-- a row of a number below 1 that is no copy of a cluster takes no place in a trim
ALTER TABLE public.news_clusters DISABLE TRIGGER USER;
INSERT INTO public.news_clusters (cluster, fp, site, copy_of) VALUES (-70, 0, 'ax', NULL), (-71, 5, 'cx', -4);
ALTER TABLE public.news_clusters ENABLE TRIGGER USER;
CALL public.simhash_trim_clusters('public.news');
SELECT cluster, copy_of FROM public.news_clusters WHERE cluster OPERATOR(pg_catalog.<) 1 ORDER BY cluster USING OPERATOR(pg_catalog.<);
CALL public.simhash_mend_clusters('public.news');
SELECT fault, number FROM public.simhash_check_clusters('public.news');
CALL public.simhash_drop_clusters('public.news', 'chain');
CALL public.simhash_drop_clusters('public.news', 'third');
CALL public.simhash_drop_clusters('public.news');
RESET search_path;
DROP TABLE news;
SET client_min_messages = warning;
DROP SCHEMA planted CASCADE;
RESET client_min_messages;

--
-- a function of the types that a deed has does not take its place
--
CREATE FUNCTION _simhash_cluster_terms(text, text, text, int, text, bigint, text, bigint, text, bigint, text, bigint,
	text, bigint, text, timestamptz, text, timestamptz, text, boolean) RETURNS boolean LANGUAGE sql RETURN true;
CREATE TABLE fitted (fp bigint);
CALL simhash_add_clusters('fitted', 'fp');
INSERT INTO fitted VALUES (0) RETURNING cluster;
DROP TABLE fitted;
DROP FUNCTION _simhash_cluster_terms(text, text, text, int, text, bigint, text, bigint, text, bigint, text, bigint,
	text, bigint, text, timestamptz, text, timestamptz, text, boolean);

--
-- a policy that the owner has written by hand: he gets no further than to his own
-- tables, and does the server no harm
--
CREATE TABLE news (id int, fp bigint, body text, site text, cluster bigint, since timestamptz, wide bit(128));
CREATE TABLE t (cluster bigint GENERATED BY DEFAULT AS IDENTITY, made timestamptz, fp bigint, site text, body text, rank int, wide bit(128), last timestamptz,
	unused_since timestamptz, copy_of bigint);
CREATE INDEX ON t USING hamming (fp);
CREATE INDEX ON news USING hamming (fp);
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON news FOR EACH ROW WHEN ('t'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
CREATE TRIGGER a AFTER INSERT OR UPDATE ON news FOR EACH ROW WHEN ('t'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
CREATE TRIGGER r AFTER TRUNCATE ON news WHEN ('t'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
CREATE FUNCTION by_hand(more text, what text DEFAULT '-', by text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	terms text := $x$'kind'::text, 'star'::text, 'k'::text, 3, 'fingerprint'::text, d.fp, 'fingerprint'::text, t.fp,
		'cluster'::text, d.cluster, 'cluster'::text, t.cluster, 'made'::text, t.made, 'copy_of'::text, t.copy_of,
		'unused_since'::text, t.unused_since$x$;
BEGIN
	DROP POLICY IF EXISTS simhash_clusters ON t;
	EXECUTE format('CREATE POLICY simhash_clusters ON t AS RESTRICTIVE USING (COALESCE(true, EXISTS (
		SELECT _simhash_cluster_terms(ROW(%s)) FROM ONLY news AS d)))', replace(terms, what, by) || more);
	INSERT INTO news VALUES (1, 0, 'one two', 'x'), (2, 7, 'one two', 'x'), (3, 1, 'three', 'y'), (4, -1, 'q', 'y');
	UPDATE news SET fp = fp # 15, cluster = 9;
	TRUNCATE news;
	CALL simhash_add_clusters('news', 'fp', within => CASE WHEN more ~ 'within' THEN '{site}'::text[] ELSE '{}' END,
		since => CASE WHEN more ~ 'since' THEN 'since' END);
	RAISE 'nothing wrong';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SET client_min_messages = warning;
\pset format unaligned
\pset tuples_only on
SELECT by_hand('');
SELECT by_hand(', ''since''::text, d.since');
SELECT by_hand(', ''since''::text, d.id');
SELECT by_hand(', ''since''::text, d.ctid');
SELECT by_hand(', ''document''::text, d.id, ''document''::text, t.rank');
SELECT by_hand(', ''document''::text, d.body, ''document''::text, t.body');
SELECT by_hand(', ''document''::text, d.id, ''document''::text, t.rank, ''similarity''::text, ''jaccard''::text, ''at_least''::text, ''0.8''::float8');
SELECT by_hand(', ''document''::text, d.body, ''document''::text, t.rank, ''similarity''::text, ''jaccard''::text, ''at_least''::text, ''0.8''::float8');
SELECT by_hand(', ''document''::text, d.body, ''document''::text, t.body, ''similarity''::text, ''jaccard''::text, ''at_least''::text, ''NaN''::float8');
SELECT by_hand(', ''document''::text, d.body, ''document''::text, t.body, ''similarity''::text, ''nothing''::text');
SELECT by_hand(', ''similarity''::text, ''jaccard''::text');
SELECT by_hand(', ''profile''::text, ''nothing''::text');
SELECT by_hand('', '''k''::text, 3', '''k''::text, -3');
SELECT by_hand('', '''k''::text, 3', '''k''::text, 65');
SELECT by_hand('', '''k''::text, 3', '''k''::text, 100000');
SELECT by_hand('', '''k''::text, 3', '''k''::text, 3::bigint');
SELECT by_hand('', '''k''::text, 3', '''k''::text, NULL::int');
SELECT by_hand('', '''k''::text, 3', '''k''::text, (SELECT 3)');
SELECT by_hand('', '''star''', '''square''');
SELECT by_hand('', '''star''', '''connected''');
SELECT by_hand(', ''within''::text, d.site, ''within''::text, t.site');
SELECT by_hand(', ''within''::text, d.site, ''within''::text, t.rank');
SELECT by_hand(', ''within''::text, t.site, ''within''::text, d.site');
SELECT by_hand(', ''within''::text, d.ctid, ''within''::text, t.site');
SELECT by_hand(', ''within''::text, d, ''within''::text, t');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, 1');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, 1 IS NULL');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, ''2026-01-01''::timestamptz IS NULL');
SELECT by_hand(', ''made''::text, t.last, ''generated''::text, ''2026-01-01''::timestamptz IS NULL, ''made''::text, t.made');
SELECT by_hand(', ''since''::text, d.ctid, ''generated''::text, ''(0,1)''::tid IS NULL, ''since''::text, d.since');
SELECT by_hand(', ''since''::text, d, ''generated''::text, NULL::news IS NULL, ''since''::text, d.since');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, t.made IS NULL');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, d.ctid IS NULL');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, d IS NULL');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, (SELECT now()) IS NULL');
SELECT by_hand(', ''since''::text, d.since, ''generated''::text, (SELECT t.made FROM news AS d) IS NULL');
SELECT by_hand('', 'd.fp', 'd.wide');
SELECT by_hand('', 'd.fp', 'd.body');
SELECT by_hand('', 't.fp', 't.wide');
SELECT by_hand('', 'd.cluster', 'd.id');
SELECT by_hand('', 't.cluster', 't.fp');
SELECT by_hand('', 't.made', 't.body');
SELECT by_hand('', 't.copy_of', 't.rank');
SELECT by_hand('', 't.copy_of', 'd.fp');
SELECT by_hand('', '''copy_of''::text, t.copy_of', '''copy_of''::text, 7');
SELECT by_hand('', 't.unused_since', 't.copy_of');
SELECT by_hand('', ', ''copy_of''::text, t.copy_of');
SELECT by_hand('', ', ''copy_of''::text, t.copy_of', ', ''merged_into''::text, t.copy_of');
SELECT by_hand(', ''later''::text, true, ''work''::text, ''news''::regclass');
SELECT by_hand(', ''later''::text, true, ''work''::text, ''pg_authid''::regclass');
SELECT by_hand(', ''later''::text, true, ''work''::text, ''4294967295''::regclass');
SELECT by_hand(', NULL::text, 1');
SELECT by_hand(', d.body, d.id');
SELECT by_hand(', ''nothing''::text, d.id');
-- bound to itself
CREATE TABLE self (id bigint GENERATED BY DEFAULT AS IDENTITY, fp bigint, cluster bigint, made timestamptz, unused_since timestamptz, copy_of bigint);
CREATE INDEX ON self USING hamming (fp);
CREATE POLICY simhash_clusters ON self AS RESTRICTIVE USING (COALESCE(true, EXISTS (SELECT _simhash_cluster_terms(ROW(
	'kind'::text, 'star'::text, 'k'::text, 3, 'fingerprint'::text, d.fp, 'fingerprint'::text, self.fp,
	'cluster'::text, d.cluster, 'cluster'::text, self.id, 'made'::text, self.made, 'copy_of'::text, self.copy_of,
	'unused_since'::text, self.unused_since)) FROM ONLY self AS d)));
CREATE TRIGGER b BEFORE INSERT OR UPDATE ON self FOR EACH ROW WHEN ('self'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
CREATE TRIGGER r AFTER TRUNCATE ON self WHEN ('self'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
SELECT split_part(complain('INSERT INTO self (fp) VALUES (0)'), E'\n', 1);
SELECT complain('TRUNCATE self');
SELECT complain('CALL simhash_drop_clusters(''self'')');
\pset format aligned
\pset tuples_only off
RESET ROLE;
DROP OWNED BY regress_clusters_bound_owner, regress_clusters_bound_guest CASCADE;
RESET client_min_messages;
DROP ROLE regress_clusters_bound_owner, regress_clusters_bound_guest;
--
-- columns of the table of clusters that get another type while a statement runs,
-- its deed gone; and deeds of columns that never had the right one
--
CREATE TABLE kept (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON kept USING hamming (fp);
CALL simhash_add_clusters('kept', 'fp');
CALL simhash_add_clusters('kept', 'fp', kind => 'connected', "column" => 'chain');
CREATE FUNCTION alter_it() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NEW.id = 2 THEN
		EXECUTE current_setting('test.command');
	END IF;
	RETURN NEW;
END $$;
CREATE TRIGGER aaa BEFORE INSERT ON kept FOR EACH ROW EXECUTE FUNCTION alter_it();
CREATE FUNCTION insert_after(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('test.command', command, true);
	RETURN complain('INSERT INTO kept VALUES (1, 0), (2, -1), (3, 63), (4, 7)');
END $$;
\t on
\a
BEGIN; SELECT insert_after('DROP POLICY simhash_clusters ON kept_clusters; DROP TRIGGER simhash_clusters ON kept_clusters; ALTER TABLE kept_clusters ALTER made DROP DEFAULT, ALTER made TYPE text'); ROLLBACK;
BEGIN; SELECT insert_after('DROP POLICY simhash_clusters ON kept_clusters; DROP TRIGGER simhash_clusters ON kept_clusters; ALTER TABLE kept_clusters DROP made'); ROLLBACK;
BEGIN; SELECT insert_after('DROP POLICY simhash_clusters ON kept_clusters; DROP TRIGGER simhash_clusters ON kept_clusters; ALTER TABLE kept_clusters ALTER cluster DROP IDENTITY, ALTER cluster TYPE text'); ROLLBACK;
BEGIN; SELECT insert_after('DROP POLICY simhash_clusters ON kept_chains; DROP TRIGGER simhash_clusters ON kept_chains; ALTER TABLE kept_chains ALTER merged_into TYPE text'); ROLLBACK;
BEGIN; SELECT insert_after('DROP POLICY simhash_clusters ON kept_chains; DROP TRIGGER simhash_clusters ON kept_chains; ALTER TABLE kept_chains ALTER copy_of TYPE text USING ''x'''); ROLLBACK;
BEGIN; SELECT insert_after('DROP POLICY simhash_clusters ON kept_chains; DROP TRIGGER simhash_clusters ON kept_chains; ALTER TABLE kept_chains ALTER merged_at TYPE text'); ROLLBACK;
-- a column that takes the name of another while the table is written to
CREATE FUNCTION exchange() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'kept_chains'::regclass AND attname = 'tmp') THEN
		ALTER TABLE kept_chains RENAME merged_into TO tmp;
		ALTER TABLE kept_chains RENAME extra TO merged_into;
	END IF;
	RETURN NEW;
END $$;
BEGIN;
ALTER TABLE kept_chains ADD extra text DEFAULT 'abcdefghijk';
CREATE TRIGGER exchange BEFORE INSERT ON kept_chains FOR EACH ROW EXECUTE FUNCTION exchange();
SELECT insert_after('SELECT 1');
ROLLBACK;
-- rows that do not get there: an error, not another try for ever
CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
BEGIN;
CREATE TRIGGER nothing BEFORE INSERT ON kept_chains FOR EACH ROW EXECUTE FUNCTION nothing();
SELECT insert_after('SELECT 1');
ROLLBACK;
-- a table that inherits it has nothing to say
BEGIN;
CREATE TABLE heir () INHERITS (kept_chains);
INSERT INTO heir (cluster, merged_into) VALUES (1, 1), (2, 2), (3, 3), (4, 9);
SELECT insert_after('SELECT 1');
SELECT cluster = merged_into + 2 AS merged, tableoid::regclass FROM kept_chains ORDER BY 2, cluster;
ROLLBACK;
\t off
\a
DROP TABLE kept;
CREATE TABLE sc (cluster text, made timestamptz, fp bigint, unused_since timestamptz, copy_of bigint);
CREATE INDEX ON sc USING hamming (fp);
INSERT INTO sc VALUES ('abcdefgh', now(), 0);
CREATE TABLE s (id int, fp bigint, cluster bigint);
CREATE POLICY simhash_clusters ON sc AS RESTRICTIVE USING (COALESCE(true, EXISTS (SELECT _simhash_cluster_terms(ROW(
	'kind'::text, 'star'::text, 'k'::text, 3, 'fingerprint'::text, n.fp, 'fingerprint'::text, sc.fp,
	'cluster'::text, n.cluster, 'cluster'::text, sc.cluster, 'made'::text, sc.made, 'copy_of'::text, sc.copy_of,
	'unused_since'::text, sc.unused_since)) FROM ONLY s AS n)));
CREATE TRIGGER s BEFORE INSERT ON s FOR EACH ROW WHEN ('sc'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
SELECT complain('INSERT INTO s VALUES (1, 0)');
DROP TABLE s, sc CASCADE;
--
-- somebody who may make triggers leads the owner's calls to a table of his own
--
CREATE ROLE regress_clusters_bound_alice;
CREATE ROLE regress_clusters_bound_mallory;
CREATE SCHEMA app AUTHORIZATION regress_clusters_bound_alice;
CREATE SCHEMA own AUTHORIZATION regress_clusters_bound_mallory;
GRANT USAGE ON SCHEMA own TO PUBLIC;
SET ROLE regress_clusters_bound_alice;
GRANT USAGE ON SCHEMA app TO regress_clusters_bound_mallory;
CREATE TABLE app.t (id int PRIMARY KEY, fp bigint);
CALL simhash_add_clusters('app.t', 'fp');
INSERT INTO app.t VALUES (1, 0), (2, -1);
GRANT SELECT, INSERT, UPDATE, TRIGGER, REFERENCES ON app.t TO regress_clusters_bound_mallory;
SET ROLE regress_clusters_bound_mallory;
CREATE FUNCTION own.evil() RETURNS oid LANGUAGE plpgsql AS
$$ BEGIN RAISE WARNING 'evil, run by %', current_user; RETURN 'app.t'::regclass::oid; END $$;
CREATE VIEW own.w AS SELECT own.evil() AS part, 1::oid AS node, '(0,1)'::tid AS place, '(0,1)'::tid AS ctid, 5::bigint AS cluster;
GRANT SELECT ON own.w TO PUBLIC;
CREATE TABLE own.v (cluster bigint GENERATED BY DEFAULT AS IDENTITY, made timestamptz, fp bigint, unused_since timestamptz, copy_of bigint);
CREATE POLICY simhash_clusters ON own.v AS RESTRICTIVE USING (COALESCE(true, EXISTS (SELECT _simhash_cluster_terms(ROW(
	'kind'::text, 'star'::text, 'k'::text, 3, 'fingerprint'::text, n.fp, 'fingerprint'::text, v.fp,
	'cluster'::text, n.cluster, 'cluster'::text, v.cluster, 'made'::text, v.made,
	'copy_of'::text, v.copy_of, 'unused_since'::text, v.unused_since, 'later'::text, true, 'work'::text, 'own.w'::regclass)) FROM ONLY app.t AS n)));
CREATE TABLE own.odd (cluster bigint);
CREATE POLICY simhash_clusters ON own.odd AS RESTRICTIVE USING (COALESCE(true, EXISTS (SELECT _simhash_cluster_terms(ROW(
	'odd'::text, n.id)) FROM ONLY app.t AS n)));
CREATE TRIGGER aaa AFTER DELETE ON app.t FOR EACH ROW WHEN ('own.v'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
CREATE TRIGGER aab AFTER DELETE ON app.t FOR EACH ROW WHEN ('own.odd'::regclass IS NOT NULL) EXECUTE FUNCTION simhash_cluster();
SET ROLE regress_clusters_bound_alice;
CALL simhash_add_clusters('app.t', 'fp');
SELECT simhash_current_cluster('app.t', 1);
CALL simhash_drop_clusters('app.t');
SELECT complain('CALL simhash_add_clusters(''app.t'', ''fp'')');
RESET ROLE;
SELECT cluster, complain('CALL simhash_drop_clusters(''app.t'')') FROM app.t;
SET client_min_messages = warning;
DROP SCHEMA app, own CASCADE;
DROP ROLE regress_clusters_bound_alice, regress_clusters_bound_mallory;
DROP FUNCTION complain, insert_after, alter_it, exchange, nothing;
