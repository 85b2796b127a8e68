--
-- Clusters: what is stored about them, and may be forged, altered or taken.
--
\set VERBOSITY terse
CREATE FUNCTION outcome(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE command;
	RETURN 'done';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE ROLE regress_clusters_stored_owner;
CREATE SCHEMA s AUTHORIZATION regress_clusters_stored_owner;

--
-- a deed that its owner has forged: whoever uses the clusters is told so
--
SET ROLE regress_clusters_stored_owner;
CREATE TABLE s.docs (id int PRIMARY KEY, n numeric DEFAULT 7, body text, site text DEFAULT 'x',
	fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, gen bigint GENERATED ALWAYS AS (id) STORED);
CALL simhash_add_clusters('s.docs', 'fp', within => '{site}', document => 'body', similarity => 'jaccard');
INSERT INTO s.docs VALUES (1, 7, 'one two three'), (2, 0.5, 'four five');
ALTER TABLE s.docs_clusters ADD n numeric DEFAULT 7, ADD gen bigint GENERATED ALWAYS AS (cluster) STORED;
SELECT pg_get_expr(polqual, polrelid) AS deed FROM pg_policy WHERE polrelid = 's.docs_clusters'::regclass \gset
RESET ROLE;
CREATE FUNCTION forged(deed text, what text, by text, name text DEFAULT 'cluster') RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	ASSERT strpos(deed, what) > 0;
	EXECUTE format('ALTER POLICY simhash_clusters ON s.docs_clusters USING (%s)', replace(deed, what, by));
	RETURN QUERY SELECT outcome(c) FROM unnest(ARRAY[
		format('SELECT * FROM simhash_check_clusters(''s.docs'', %L)', name),
		format('CALL simhash_mend_clusters(''s.docs'', %L)', name),
		'INSERT INTO s.docs VALUES (3, 1, ''six seven'')', 'UPDATE s.docs SET body = ''x'' WHERE id = 1',
		'DELETE FROM s.docs', 'TRUNCATE s.docs', 'TRUNCATE s.docs_clusters',
		format('SELECT simhash_current_cluster(''s.docs'', 1, %L)', name)]) AS c
		GROUP BY 1 ORDER BY 1;
END $$;
\pset format unaligned
\pset tuples_only on
BEGIN;
-- numbers that are none
SELECT forged(:'deed', 'simhash_kept.cluster', 'simhash_kept.n', 'n');
SELECT forged(:'deed', 'simhash_kept.cluster', 'simhash_kept.id', 'id');
SELECT forged(:'deed', 'docs_clusters.cluster', 'docs_clusters.n');
SELECT forged(:'deed', 'docs_clusters.copy_of', 'docs_clusters.n');
SELECT forged(:'deed', 'docs_clusters.made', 'docs_clusters.copy_of');
-- what is generated is not written
SELECT forged(:'deed', 'simhash_kept.cluster', 'simhash_kept.gen', 'gen');
SELECT forged(:'deed', 'docs_clusters.copy_of', 'docs_clusters.gen');
-- what represents a cluster has the types of the rows
SELECT forged(:'deed', 'docs_clusters.fp', 'docs_clusters.n');
SELECT forged(:'deed', 'docs_clusters.site', 'docs_clusters.fp');
SELECT forged(:'deed', 'docs_clusters.body', 'docs_clusters.copy_of');
-- expressions that no generated column has
SELECT forged(:'deed', 'minhash(simhash_kept.body)', 'docs_clusters.fp');
SELECT forged(:'deed', 'minhash(simhash_kept.body)', 'minhash(simhash_kept.body || docs_clusters.n)');
-- constants and places
SELECT forged(:'deed', '''star''::text', '''square''::text');
SELECT forged(:'deed', ', ''within''::text, docs_clusters.site', '');
SELECT forged(:'deed', '''k''::text, 3', '''k''::text, 3, ''k''::text');
-- queries, sets and aggregates: then it is no deed, and who deletes goes on without
SELECT forged(:'deed', 'minhash(simhash_kept.body)', '(SELECT docs_clusters.fp FROM s.docs AS d LIMIT 1)');
SELECT forged(:'deed', 'minhash(simhash_kept.body)', 'generate_series(1, simhash_kept.fp)');
SELECT forged(:'deed', 'minhash(simhash_kept.body)', 'count(*) OVER ()');
ROLLBACK;
\pset format aligned
\pset tuples_only off
SELECT * FROM simhash_check_clusters('s.docs');

--
-- where the table of the clusters may be
--
CREATE TABLE s.news (fp bigint);
CREATE TEMP TABLE mine (i int);
SELECT pg_my_temp_schema()::regnamespace AS temporary \gset
CREATE FUNCTION s.without_number(said text) RETURNS text RETURN regexp_replace(said, '_temp_\d+', '_temp_N');
SELECT s.without_number(outcome(format('CALL simhash_add_clusters(''s.news'', ''fp'', schema => %L)', name)))
FROM unnest(ARRAY[:'temporary', replace(:'temporary', 'pg_temp', 'pg_toast_temp'), 'pg_temp', 'nowhere']) AS name;
-- a type has its name: it takes another
CREATE TYPE s.news_clusters AS ENUM ('a');
CREATE DOMAIN s.news_clusters_1 AS int;
CREATE TYPE s.news_clusters_2_fill AS (i int);
CALL simhash_add_clusters('s.news', 'fp');
SELECT relname FROM pg_class WHERE relnamespace = 's'::regnamespace AND relkind = 'r' AND relname LIKE 'news%' ORDER BY 1;

--
-- locks that the owner's code takes in the session of somebody else
--
CREATE FUNCTION s.locks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_lock(1), pg_advisory_lock_shared(2), pg_advisory_lock(2, 3), pg_advisory_lock(7);
	RETURN new;
END $$;
CREATE VIEW s.held AS SELECT classid, objid, objsubid, mode FROM pg_locks
	WHERE locktype = 'advisory' AND pid = pg_backend_pid() ORDER BY 1, 2, 3;
CREATE TRIGGER a BEFORE UPDATE ON s.news FOR EACH ROW EXECUTE FUNCTION s.locks();
INSERT INTO s.news VALUES (0), (-1);
ALTER TABLE s.news OWNER TO regress_clusters_stored_owner;
ALTER TABLE s.news_clusters_2 OWNER TO regress_clusters_stored_owner;
SELECT pg_advisory_lock(7), pg_advisory_lock_shared(8);
CALL simhash_mend_clusters('s.news', anew => 'true');
SELECT * FROM s.held;
-- as the owner, they are his
SET ROLE regress_clusters_stored_owner;
CALL simhash_mend_clusters('s.news', anew => 'true');
RESET ROLE;
SELECT count(*) FROM s.held;
SELECT pg_advisory_unlock_all();

--
-- how many rows there are is not told to the caller of a SECURITY DEFINER function
--
CREATE TABLE s.many AS SELECT i, i::bigint << 20 AS fp FROM generate_series(1, 65536) AS i;
CREATE FUNCTION s.pairs() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM simhash_pairs('SELECT i, fp FROM s.many WHERE i > 1 OR pg_sleep(1.1) IS NOT NULL', 0)
$$;
CREATE FUNCTION s.hidden_pairs() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT s.pairs()';
SET simhash.progress = 'notice';
SELECT s.pairs();
SELECT s.hidden_pairs();
RESET simhash.progress;

SET client_min_messages = warning;
DROP SCHEMA s CASCADE;
DROP ROLE regress_clusters_stored_owner;
