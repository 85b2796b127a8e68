--
-- Clusters that keep themselves: what the triggers do.  (What sets them up is
-- in clusters_setup.sql, what happens at the same time in t/ and specs/.)
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS simhash;
RESET client_min_messages;
CREATE FUNCTION complain(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	code text; message text; hint text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE,
		message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(E'\n', code || ' ' || message, nullif(hint, ''));
END $$;

--
-- star
--
CREATE TABLE docs (id int PRIMARY KEY, fp bigint);
CALL simhash_add_clusters('docs', 'fp', "column" => 'story', since => 'joined');

-- 7 is near 0; 63 is near 7, which represents nobody, and not near 0; 56 is
-- near both 0 and 63, and as near: one of them
INSERT INTO docs VALUES (1, 0), (2, 7), (3, 63), (4, 56), (5, -1), (6, NULL);
SELECT id, fp, CASE WHEN id = 4 THEN story IN (1, 2) ELSE story = story END AS kept,
	CASE WHEN id <> 4 THEN story END AS story, joined <= now() AS joined
FROM docs ORDER BY id;
SELECT cluster, fp FROM docs_storys ORDER BY 1;

-- the nearest, not the first
INSERT INTO docs VALUES (7, 62) RETURNING story;
-- an id that is given is not taken
INSERT INTO docs VALUES (8, 1, 99) RETURNING story;
-- an update of something else leaves it, and so does one to the same
UPDATE docs SET id = 80, joined = 'epoch' WHERE id = 8 RETURNING story, joined = 'epoch';
UPDATE docs SET fp = 1 WHERE id = 80 RETURNING story, joined = 'epoch';
-- what is written by hand is not taken, not even NULL, nor that of a cluster which
-- is there
UPDATE docs SET story = 99 WHERE id = 80 RETURNING story, joined = 'epoch';
UPDATE docs SET story = NULL, joined = NULL WHERE id = 80 RETURNING story, joined = 'epoch';
UPDATE docs SET story = 2, fp = fp WHERE id = 80 RETURNING story;
-- nor if a row joins anew at the same time, or leaves
UPDATE docs SET story = 1, fp = -2 WHERE id = 80 RETURNING story, joined = now();
UPDATE docs SET story = 3, fp = NULL WHERE id = 80 RETURNING story, joined;
UPDATE docs SET story = 3, joined = 'epoch' WHERE id = 80 RETURNING story, joined;
UPDATE docs SET fp = 1 WHERE id = 80 RETURNING story;
-- a row that has none gets one by any update
ALTER TABLE docs DISABLE TRIGGER USER;
UPDATE docs SET story = NULL WHERE id = 80;
ALTER TABLE docs ENABLE TRIGGER USER;
UPDATE docs SET story = 2, joined = 'epoch' WHERE id = 80 RETURNING story, joined = now();
-- a document that changes leaves and joins, to a cluster that is there and to a new one
UPDATE docs SET fp = -2 WHERE id = 80 RETURNING story;
UPDATE docs SET fp = 4095 WHERE id = 80 RETURNING story;
UPDATE docs SET fp = NULL WHERE id = 80 RETURNING story, joined;
-- the representative outlives its row
DELETE FROM docs WHERE fp = -1;
INSERT INTO docs VALUES (5, -8) RETURNING story;
-- COPY, ON CONFLICT, MERGE, a savepoint rolled back
COPY docs (id, fp) FROM stdin;
20	-1
21	1048575
22	1048574
\.
INSERT INTO docs VALUES (20, 1048572), (23, 1048572) ON CONFLICT DO NOTHING;
INSERT INTO docs VALUES (20, 1048572) ON CONFLICT (id) DO UPDATE SET fp = excluded.fp;
MERGE INTO docs USING (VALUES (20, -1::bigint), (24, -1)) AS new (id, fp) ON docs.id = new.id
WHEN MATCHED THEN UPDATE SET fp = new.fp
WHEN NOT MATCHED THEN INSERT (id, fp) VALUES (new.id, new.fp);
BEGIN;
SAVEPOINT s;
INSERT INTO docs VALUES (25, 1431655765);
ROLLBACK TO s;
INSERT INTO docs VALUES (26, 1431655764);
COMMIT;
SELECT id, fp, story FROM docs WHERE id >= 20 ORDER BY id;
SELECT cluster, fp FROM docs_storys ORDER BY 1;
-- every row is within 3 of its representative, and no two of these are
SELECT count(*) AS rows, count(*) FILTER (WHERE hamming(d.fp, r.fp) > 3) AS far
FROM docs AS d LEFT JOIN docs_storys AS r ON r.cluster = d.story WHERE d.fp IS NOT NULL;
SELECT count(*) AS near FROM docs_storys AS a JOIN docs_storys AS b
ON a.cluster < b.cluster AND hamming(a.fp, b.fp) <= 3;
SELECT simhash_current_cluster('docs', 2, 'story');
-- to start over; ids are not used again
TRUNCATE docs;
SELECT count(*) FROM docs_storys;
INSERT INTO docs VALUES (1, 0) RETURNING story > 5 AS new;

--
-- within groups, verified, partitioned
--
CREATE TABLE pages (id int, site text COLLATE "C", lang text, body text,
	wide bit(128) GENERATED ALWAYS AS (simhash_bits(body, 128)) STORED) PARTITION BY LIST (lang);
CREATE TABLE pages_de PARTITION OF pages FOR VALUES IN ('de');
-- whose columns are in another order
CREATE TABLE pages_en (wide bit(128) GENERATED ALWAYS AS (simhash_bits(body, 128)) STORED, gone int,
	body text, lang text, site text COLLATE "C", id int);
ALTER TABLE pages_en DROP COLUMN gone;
ALTER TABLE pages ATTACH PARTITION pages_en FOR VALUES IN ('en');
CALL simhash_add_clusters('pages', 'wide', 33, document => 'body', within => '{site}',
    similarity => 'cosine', at_least => 0.9);
INSERT INTO pages (id, site, lang, body) VALUES
	(1, 'a', 'de', 'one two three four five six seven eight nine ten'),
	(2, 'a', 'en', 'One two three four five six seven eight nine ten!'),
	(3, 'b', 'en', 'one two three four five six seven eight nine ten'),
	(4, 'a', 'de', 'one two three four five six seven eight nine eleven'),
	(5, 'a', 'de', NULL), (6, NULL, 'de', 'one two'), (7, 'a', 'de', '');
SELECT id, cluster FROM pages ORDER BY id;
-- within 33 bits, but not similar by .9
SELECT hamming(a.wide, b.wide) <= 33 AS near, simhash_cosine(a.body, b.body) < 0.9 AS dissimilar
FROM pages AS a, pages AS b WHERE a.id = 1 AND b.id = 4;
SELECT cluster, site, body FROM pages_clusters ORDER BY cluster;
-- a row that moves to another partition keeps its cluster, by whatever it moves
UPDATE pages SET lang = 'en' WHERE id = 1 RETURNING id, cluster, tableoid::regclass;
-- and whatever the update writes
UPDATE pages SET lang = 'de', cluster = 77 WHERE id = 1 RETURNING id, cluster, tableoid::regclass;
-- but not if it changes its group, or its document, on the way
UPDATE pages SET lang = 'en', site = 'b' WHERE id = 1 RETURNING id, cluster, tableoid::regclass;
UPDATE pages SET lang = 'de', body = 'something else' WHERE id = 1
RETURNING cluster > 3 AS new, tableoid::regclass;

--
-- connected
--
CREATE TABLE chain (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON chain USING hamming (fp);
CALL simhash_add_clusters('chain', 'fp', kind => 'connected');
-- what differs from simhash_clusters, made of all rows at once
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM (
		SELECT min(id) OVER (PARTITION BY simhash_current_cluster('chain', cluster)) AS kept, id FROM chain
		WHERE fp IS NOT NULL) AS a
	FULL JOIN (
		SELECT min(id) OVER (PARTITION BY cluster) AS scratch, id
		FROM simhash_clusters('SELECT id, fp FROM public.chain WHERE fp IS NOT NULL', 3, min_size => 1)) AS b
	USING (id) WHERE kept IS DISTINCT FROM scratch $$;

INSERT INTO chain VALUES (1, 0), (2, 63), (3, 4095), (4, NULL);
SELECT id, cluster FROM chain ORDER BY id;
SELECT count(*) FROM chain_clusters;
-- near 0 and 63: merges
INSERT INTO chain VALUES (5, 7) RETURNING cluster;
SELECT cluster, merged_into, merged_at <= now() AS recorded FROM chain_clusters ORDER BY 1;
SELECT id, cluster, simhash_current_cluster('chain', cluster) FROM chain ORDER BY id;
-- a row that does not get in merges nothing
INSERT INTO chain VALUES (5, 511), (5, 510) ON CONFLICT DO NOTHING;
INSERT INTO chain VALUES (5, 7) ON CONFLICT (id) DO UPDATE SET fp = chain.fp;
SELECT differences();
BEGIN;
INSERT INTO chain VALUES (6, 511) RETURNING cluster;
SELECT simhash_current_cluster('chain', 3);
ROLLBACK;
SELECT simhash_current_cluster('chain', 3);
-- an update merges as an arrival does, and a row that leaves splits nothing
UPDATE chain SET fp = 511 WHERE id = 5 RETURNING cluster;
SELECT simhash_current_cluster('chain', 3), simhash_current_cluster('chain', 2);
-- to look up ids that were never given is no error
SELECT simhash_current_cluster('chain', 1000000), simhash_current_cluster('chain', NULL);
-- no id is written by hand that is not what the row's own cluster is called now: not
-- that of another, nor that of one merged into it, nor one that is none
UPDATE chain SET cluster = NULL WHERE id = 2 RETURNING cluster;
UPDATE chain SET cluster = 4 WHERE id = 2 RETURNING cluster;
UPDATE chain SET cluster = -1 WHERE id = 2 RETURNING cluster;
UPDATE chain SET cluster = 3 WHERE id = 2 RETURNING cluster;
-- old ids may be brought up to date by hand, and then stay
UPDATE chain SET cluster = simhash_current_cluster('chain', cluster)
WHERE cluster <> simhash_current_cluster('chain', cluster) RETURNING id, cluster;
UPDATE chain SET cluster = 2 WHERE id = 2 RETURNING cluster;
TRUNCATE chain;
SELECT count(*) FROM chain_clusters;

-- A chain that comes in an order of which each merge is with an older one, and
-- in any order: few steps to the root, and the oldest id stays.
INSERT INTO chain SELECT i, (1::bigint << 3 * i) - 1 FROM generate_series(20, 0, -2) AS i;
INSERT INTO chain SELECT i, (1::bigint << 3 * i) - 1 FROM generate_series(19, 1, -2) AS i;
SELECT max(rank) <= 4 AS low FROM chain_clusters;
SELECT count(DISTINCT cluster) AS given, count(DISTINCT simhash_current_cluster('chain', cluster)) AS now,
	bool_and(simhash_current_cluster('chain', cluster) = (SELECT min(cluster) FROM chain)) AS oldest
FROM chain;
TRUNCATE chain;
SELECT setseed(0.5);
DO $$
BEGIN
	FOR round IN 1 .. 300 LOOP
		INSERT INTO chain
		SELECT round * 10 + i, hashint8extended(floor(random() * 40)::int, 0) # (((1::bigint << floor(random() * 7)::int) - 1) << floor(random() * 56)::int)
		FROM generate_series(0, floor(random() * 3)::int) AS i
		ON CONFLICT DO NOTHING;
	END LOOP;
END $$;
SELECT differences(), count(DISTINCT simhash_current_cluster('chain', cluster)) < count(DISTINCT cluster) AS merged FROM chain;
-- every id that is not current is recorded
SELECT count(*) FROM chain LEFT JOIN chain_clusters USING (cluster)
WHERE (simhash_current_cluster('chain', cluster) <> cluster) <> (merged_into IS NOT NULL);

--
-- rows wait for their clusters
--
CREATE TABLE late (fp bigint);
CREATE INDEX ON late USING hamming (fp);
CREATE FUNCTION stop() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stopped'; END $$;
CREATE EVENT TRIGGER stop ON ddl_command_start WHEN TAG IN ('CREATE TABLE AS') EXECUTE FUNCTION stop();
CALL simhash_add_clusters('late', 'fp', kind => 'connected', since => 'joined');
DROP EVENT TRIGGER stop;
DROP FUNCTION stop;
INSERT INTO late VALUES (0, 5), (1, 6);
UPDATE late SET cluster = 7, joined = now() WHERE fp = 1;
TABLE late;
UPDATE late SET fp = 2, cluster = 7 WHERE fp = 1;
TABLE late;
TRUNCATE late;

--
-- triggers made by hand: they get no further than those of the set-up
--
CREATE FUNCTION attempt(kind text, condition text DEFAULT '',
	command text DEFAULT 'INSERT INTO bad VALUES (0)', relation text DEFAULT 'bad') RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TRIGGER mine %s %s EXECUTE FUNCTION simhash_cluster(''some'')',
		replace(kind, '@', relation), 'WHEN (' || nullif(condition, '') || ')');
	RETURN complain(command);
END $$;
CREATE TABLE bad (fp bigint, cluster bigint, other int);
CREATE INDEX ON bad USING hamming (fp);
INSERT INTO bad VALUES (100);
CREATE VIEW v AS TABLE bad;
\pset format unaligned
\pset tuples_only on
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', 'NEW.fp = 0'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', 'NEW.other IS NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '1::oid IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', 'NOT ''chain_clusters''::regclass IS NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', 'NULL::regclass IS NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''0''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''4294967295''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''bad''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''v''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''pg_class''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''chain_clusters''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('AFTER INSERT ON @ FOR EACH ROW', '''chain_clusters''::regclass IS NOT NULL'); ROLLBACK;
-- merges are looked for only after a row that may connect some
BEGIN; INSERT INTO chain VALUES (-1, 144115188075855872), (-2, 144115188075855935), (-3, 144115188075855879);
SELECT attempt('AFTER INSERT ON @ FOR EACH ROW', '''chain_clusters''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''docs_storys''::regclass IS NOT NULL'); ROLLBACK;
BEGIN; SELECT attempt('AFTER TRUNCATE ON @', '''docs_storys''::regclass IS NOT NULL', 'TRUNCATE bad'); ROLLBACK;
BEGIN; SELECT attempt('AFTER TRUNCATE ON @', '''bad''::regclass IS NOT NULL', 'TRUNCATE bad'); ROLLBACK;
BEGIN; SELECT attempt('AFTER TRUNCATE ON @', '', 'TRUNCATE bad'); ROLLBACK;
-- nor are they fired by anything else
BEGIN; SELECT attempt('BEFORE DELETE ON @ FOR EACH ROW', '''chain_clusters''::regclass IS NOT NULL', 'DELETE FROM chain', 'chain'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE INSERT ON @', '''chain_clusters''::regclass IS NOT NULL', 'INSERT INTO chain VALUES (-1)', 'chain'); ROLLBACK;
BEGIN; SELECT attempt('BEFORE TRUNCATE ON @', '''chain_clusters''::regclass IS NOT NULL', 'TRUNCATE chain', 'chain'); ROLLBACK;
BEGIN; SELECT attempt('INSTEAD OF INSERT ON @ FOR EACH ROW', '', 'INSERT INTO v VALUES (1)', 'v'); ROLLBACK;
SELECT complain('SELECT simhash_cluster()');
-- once more the same, or on a partition, does no harm
BEGIN; SELECT attempt('BEFORE INSERT ON @ FOR EACH ROW', '''docs_storys''::regclass IS NOT NULL', 'INSERT INTO docs VALUES (1000, 0)', 'docs');
SELECT story, count(*) FROM docs JOIN docs_storys ON cluster = story GROUP BY 1; ROLLBACK;
BEGIN; SELECT attempt('AFTER TRUNCATE ON @', '''pages_clusters''::regclass IS NOT NULL', 'TRUNCATE pages_de', 'pages_de');
SELECT count(*) > 0 AS there FROM pages_clusters; ROLLBACK;

--
-- tables that are not what they should be, as far as they can be made such
--
SELECT complain('DROP TABLE docs_storys');
SELECT complain('ALTER TABLE docs_storys DROP fp');
SELECT complain('ALTER TABLE docs_storys DROP made');
SELECT complain('ALTER TABLE docs_storys DROP cluster');
SELECT complain('ALTER TABLE docs_storys ALTER fp TYPE int');
SELECT complain('ALTER TABLE docs_storys ALTER made TYPE text');
SELECT complain('ALTER TABLE docs_storys ALTER cluster TYPE int');
SELECT complain('DROP INDEX docs_storys_fp_idx');
SELECT complain('ALTER TABLE docs DROP story');
SELECT complain('ALTER TABLE docs DROP joined');
SELECT complain('ALTER TABLE docs DROP fp');
SELECT complain('ALTER TABLE docs ALTER story TYPE int');
SELECT complain('ALTER TABLE docs ALTER joined TYPE timestamp');
SELECT complain('ALTER TABLE docs ALTER fp TYPE int');
SELECT complain('ALTER TABLE pages DROP site');
SELECT complain('ALTER TABLE pages DROP body');
SELECT complain('ALTER TABLE pages ALTER site TYPE text');
SELECT complain('ALTER TABLE pages_clusters DROP site');
SELECT complain('ALTER TABLE pages_clusters DROP body');
SELECT complain('ALTER TABLE pages_clusters ALTER body TYPE varchar');
SELECT complain('ALTER TABLE chain_clusters DROP rank');
SELECT complain('ALTER TABLE chain_clusters ALTER rank TYPE bigint');
SELECT complain('DROP INDEX chain_fp_idx');
BEGIN; ALTER TABLE docs_storys ALTER cluster DROP IDENTITY; SELECT complain('INSERT INTO docs VALUES (1000, 6148914691236517205)'); ROLLBACK;
BEGIN; ALTER TABLE chain_clusters DROP CONSTRAINT chain_clusters_pkey; SELECT complain('INSERT INTO chain VALUES (-1, 0), (-2, 63), (-3, 7)'); SELECT complain($$ SELECT simhash_current_cluster('chain', 1) $$); ROLLBACK;
BEGIN; ALTER TABLE chain_clusters DROP CONSTRAINT chain_clusters_pkey, ADD PRIMARY KEY (cluster, rank); SELECT complain($$ SELECT simhash_current_cluster('chain', 1) $$); ROLLBACK;
BEGIN; ALTER TABLE docs_storys SET UNLOGGED; SELECT complain('INSERT INTO docs VALUES (1000, 0)'); ROLLBACK;
-- row security of its own does not keep anybody from what the triggers do
BEGIN;
ALTER TABLE docs_storys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE chain_clusters ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
INSERT INTO docs VALUES (1000, 0), (1001, 1) RETURNING id, story > 0 AS given;
INSERT INTO chain VALUES (-1, 72057594037927936), (-2, 72057594037927999), (-3, 72057594037927943);
SELECT count(DISTINCT simhash_current_cluster('chain', cluster)) FROM chain WHERE id < 0;
ROLLBACK;

--
-- the policy by which the table is bound
--
SELECT polname, polpermissive, polcmd FROM pg_policy WHERE polrelid = 'docs_storys'::regclass;
BEGIN; ALTER POLICY simhash_clusters ON docs_storys RENAME TO other; INSERT INTO docs VALUES (1000, 0) RETURNING story > 0; ROLLBACK;
BEGIN; DROP POLICY simhash_clusters ON docs_storys; SELECT complain('INSERT INTO docs VALUES (1000, 0)');
SELECT complain('TRUNCATE docs'); SELECT complain($$ SELECT simhash_current_cluster('docs', 1, 'story') $$); ROLLBACK;
BEGIN; ALTER POLICY simhash_clusters ON docs_storys USING (true); SELECT complain('INSERT INTO docs VALUES (1000, 0)'); ROLLBACK;
BEGIN; ALTER POLICY simhash_clusters ON docs_storys USING (COALESCE(true, EXISTS (SELECT FROM docs))); SELECT complain('INSERT INTO docs VALUES (1000, 0)'); ROLLBACK;
-- a table of somebody else's
BEGIN;
CREATE ROLE simhash_other;
ALTER TABLE docs OWNER TO simhash_other;
ALTER TABLE chain_clusters OWNER TO simhash_other;
SELECT complain('INSERT INTO docs VALUES (1000, 0)');
SELECT complain('INSERT INTO chain VALUES (-1, 0)');
SELECT complain('TRUNCATE chain');
SELECT complain($$ SELECT simhash_current_cluster('chain', 1) $$);
ROLLBACK;
-- merges that lead nowhere
BEGIN;
INSERT INTO chain_clusters (cluster, parent, current) VALUES (-1, -2, -1), (-2, -1, -2);
SELECT complain($$ SELECT simhash_current_cluster('chain', -1) $$);
ROLLBACK;
SELECT complain($$ SELECT simhash_current_cluster('chain_clusters', 1) $$);
SELECT complain($$ SELECT simhash_current_cluster('docs', 1) $$);
SELECT complain($$ SELECT simhash_current_cluster(1::oid, 1) $$);
BEGIN;
CREATE ROLE simhash_other;
SET LOCAL ROLE simhash_other;
SELECT complain($$ SELECT simhash_current_cluster('public.chain', 1) $$);
ROLLBACK;
\pset format aligned
\pset tuples_only off

-- a cluster whose id somebody has made 0 is one like others: no merge of it goes
-- on for ever
BEGIN;
INSERT INTO chain VALUES (200000, -1), (200001, -64);
ALTER TABLE chain DISABLE TRIGGER USER;
UPDATE chain SET cluster = 0 WHERE id = 200000;
ALTER TABLE chain ENABLE TRIGGER USER;
SET LOCAL statement_timeout = '60s';
INSERT INTO chain VALUES (200002, -8);
INSERT INTO chain VALUES (200003, -8);
SELECT id, simhash_current_cluster('chain', cluster) FROM chain WHERE id >= 200000 ORDER BY id;
ROLLBACK;

-- whoever may insert needs no rights on the table of the clusters
BEGIN;
CREATE ROLE simhash_other;
GRANT SELECT, INSERT ON docs, chain TO simhash_other;
SET LOCAL ROLE simhash_other;
INSERT INTO docs VALUES (100, 123456789) RETURNING story IS NOT NULL AS given;
INSERT INTO chain VALUES (100000, -1), (100001, -64), (100002, -8);
SELECT count(DISTINCT simhash_current_cluster('chain', cluster)) FROM chain WHERE id >= 100000;
ROLLBACK;

-- with the table goes that of the clusters
DROP VIEW v;
DROP TABLE docs, pages, chain, late, bad;
SELECT relname FROM pg_class WHERE relname ~ '_(storys|clusters)';
DROP FUNCTION complain, differences, attempt;
