--
-- When the owner's code runs beneath clusters that keep themselves: within statements,
-- as PostgreSQL runs triggers; never as a transaction ends, is prepared or rolled back
--
SET client_min_messages = warning;
CREATE ROLE regress_clusters_moments_owner;
CREATE ROLE regress_clusters_moments_other;
CREATE SCHEMA e AUTHORIZATION regress_clusters_moments_owner;
CREATE SCHEMA a AUTHORIZATION regress_clusters_moments_other;

SET ROLE regress_clusters_moments_other;
-- somebody else's table, whose constraints are checked at the commit
CREATE TABLE a.owner (id int PRIMARY KEY);
CREATE TABLE a.account (id int UNIQUE DEFERRABLE INITIALLY DEFERRED,
	owner int REFERENCES a.owner DEFERRABLE INITIALLY DEFERRED, amount int);
GRANT USAGE ON SCHEMA a TO regress_clusters_moments_owner;
GRANT INSERT ON a.account TO regress_clusters_moments_owner;

-- a document that does what the setting e.what says, and one of each kind of clusters
SET ROLE regress_clusters_moments_owner;
CREATE FUNCTION e.run(command text) RETURNS void LANGUAGE plpgsql AS
	'BEGIN EXECUTE command; END';
CREATE FUNCTION e.f(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF current_setting('e.what', true) <> '' THEN PERFORM e.run(current_setting('e.what')); END IF;
	RETURN t;
END $$;
CREATE TABLE e.docs (id int PRIMARY KEY, body text,
	fp bigint GENERATED ALWAYS AS (minhash(e.f(body))) STORED,
	wide bit(128) GENERATED ALWAYS AS (simhash_bits(e.f(body), 128)) STORED);
CREATE INDEX ON e.docs USING hamming (wide);
CALL simhash_add_clusters('e.docs', 'fp', 8, similarity => 'jaccard');
CALL simhash_add_clusters('e.docs', 'wide', 16, "column" => 'chain', kind => 'connected', similarity => 'cosine');
-- and constraints and triggers of the owner's on the table of the clusters
CREATE FUNCTION e.seen() RETURNS trigger LANGUAGE plpgsql AS
	'BEGIN PERFORM e.f(NULL); RETURN NEW; END';
ALTER TABLE e.docs_clusters ADD CHECK (e.f(document) IS NOT DISTINCT FROM document);
CREATE TRIGGER seen AFTER INSERT OR UPDATE OR DELETE ON e.docs_clusters FOR EACH ROW EXECUTE FUNCTION e.seen();

-- whatever a transaction has done, nothing is called once its statements are over
PREPARE fill AS INSERT INTO e.docs VALUES (1, 'one two three four five'), (2, 'one two three four six'),
	(1, 'seven eight nine ten'), (3, 'seven eight nine ten') ON CONFLICT DO NOTHING;
SET client_min_messages = notice;
CREATE FUNCTION e.called() RETURNS text LANGUAGE sql AS
	$$ SELECT set_config('e.what', 'DO $x$ BEGIN RAISE ''called''; END $x$', true) $$;
BEGIN; EXECUTE fill; SELECT e.called() <> ''; COMMIT;
SELECT count(*) FROM e.docs;
TRUNCATE e.docs;
BEGIN; EXECUTE fill; UPDATE e.docs SET body = body || '!'; DELETE FROM e.docs WHERE id = 1; SELECT e.called() <> ''; COMMIT;
SELECT count(*) FROM e.docs;
TRUNCATE e.docs;
BEGIN; SAVEPOINT s; EXECUTE fill; SELECT e.called() <> ''; ROLLBACK TO s; EXECUTE fill; SELECT e.called() <> ''; RELEASE s; COMMIT;
SELECT count(*) FROM e.docs;
BEGIN; DELETE FROM e.docs; SELECT e.called() <> ''; ROLLBACK;
-- a cursor, closed by the commit
TRUNCATE e.docs;
BEGIN; EXECUTE fill; DECLARE c CURSOR FOR SELECT id FROM e.docs; FETCH c; SELECT e.called() <> ''; COMMIT;

-- the deferred constraints of another's table hold, and no cursor is left behind
TRUNCATE e.docs;
BEGIN; INSERT INTO e.docs VALUES (1, 'one two three four five');
SET LOCAL e.what = 'INSERT INTO a.account VALUES (1, 999, -5)'; COMMIT;
BEGIN; INSERT INTO e.docs VALUES (1, 'one two three four five') ON CONFLICT DO NOTHING;
SET LOCAL e.what = 'DECLARE held CURSOR WITH HOLD FOR SELECT 1'; COMMIT;
SELECT name FROM pg_cursors WHERE name = 'held';
-- within a statement they do what PostgreSQL lets a trigger do
BEGIN; SET LOCAL e.what = 'INSERT INTO a.account VALUES (1, 999, -5)';
INSERT INTO e.docs VALUES (2, 'six seven eight');
SET LOCAL e.what = ''; COMMIT;
RESET ROLE;
SELECT count(*) FROM a.account;

-- the calls about clusters, by a superuser: each step ends, and nothing is called then
-- but as the owner, who can leave nothing behind
SET ROLE regress_clusters_moments_owner;
ALTER TABLE e.docs DISABLE TRIGGER USER;
INSERT INTO e.docs SELECT g, 'text ' || g || ' of some words ' || g * g FROM generate_series(10, 30) AS g;
ALTER TABLE e.docs ENABLE TRIGGER USER;
CREATE FUNCTION e.note() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF current_user <> 'regress_clusters_moments_owner' THEN RAISE 'called as %', current_user; END IF;
	BEGIN
		CREATE TEMPORARY VIEW pg_stats AS SELECT 1;
		RAISE 'a view is left behind';
	EXCEPTION WHEN insufficient_privilege OR read_only_sql_transaction THEN
	END;
END $$;
RESET ROLE;
SET e.what = 'SELECT e.note()';
CALL simhash_mend_clusters('e.docs');
CALL simhash_mend_clusters('e.docs', anew => 'id > 20');
CALL simhash_mend_clusters('e.docs', 'chain');
CALL simhash_trim_clusters('e.docs');
SELECT * FROM simhash_check_clusters('e.docs');
CALL simhash_drop_clusters('e.docs');
CALL simhash_add_clusters('e.docs', 'fp', 8, similarity => 'jaccard');
RESET e.what;
SELECT count(*) FROM e.docs WHERE cluster IS NULL;

SET client_min_messages = warning;
DROP SCHEMA e, a CASCADE;
DROP ROLE regress_clusters_moments_owner, regress_clusters_moments_other;
