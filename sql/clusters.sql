--
-- Clusters that keep themselves: what the triggers do.  (What sets them up is
-- in clusters_setup.sql, what happens at the same time in test/t and test/specs.)
--
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS simhash;
RESET client_min_messages;
\getenv srcdir PG_ABS_SRCDIR
\set shared :srcdir '/test/clusters_tools.sql'
\set ECHO none
\i :shared
\set ECHO all

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
-- what is written by hand is not taken: not NULL, nor a cluster which is there
UPDATE docs SET story = NULL, joined = NULL WHERE id = 80 RETURNING story, joined = 'epoch';
UPDATE docs SET story = 2, fp = fp WHERE id = 80 RETURNING story;
INSERT INTO docs VALUES (80, 1) ON CONFLICT (id) DO UPDATE SET story = 3 RETURNING story;
-- a number that never was one is an error, however it is written
\pset format unaligned
\pset tuples_only on
SELECT complain('UPDATE docs SET story = 99 WHERE id = 80');
SELECT complain('UPDATE docs SET story = 4, fp = fp WHERE id = 80');
SELECT complain('UPDATE docs SET story = 0 WHERE id = 80');
SELECT complain('UPDATE docs SET story = -1 WHERE id = 80');
SELECT complain('UPDATE docs SET story = 9223372036854775807');
SELECT complain('INSERT INTO docs VALUES (80, 1) ON CONFLICT (id) DO UPDATE SET story = 99');
SELECT complain('MERGE INTO docs USING (VALUES (80)) AS new (id) ON docs.id = new.id WHEN MATCHED THEN UPDATE SET story = -5');
\pset format aligned
\pset tuples_only off
-- nor is it taken if a row joins anew at the same time, or leaves
UPDATE docs SET story = 1, fp = -2 WHERE id = 80 RETURNING story, joined = now();
UPDATE docs SET story = 99, fp = -4 WHERE id = 80 RETURNING story, joined = now();
UPDATE docs SET story = 3, fp = NULL WHERE id = 80 RETURNING story, joined;
UPDATE docs SET story = 3, joined = 'epoch' WHERE id = 80 RETURNING story, joined;
SELECT complain('UPDATE docs SET story = 99 WHERE id = 80');
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
-- a cluster that is taken back has had its number: that is left, and not an error
INSERT INTO docs VALUES (20, 6148914691236517205) ON CONFLICT DO NOTHING;
UPDATE docs SET story = 6 WHERE id = 20 RETURNING story;
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
-- and whatever the update writes, but for what never was a cluster
UPDATE pages SET lang = 'de', cluster = 2 WHERE id = 1 RETURNING id, cluster, tableoid::regclass;
SELECT complain($$ UPDATE pages SET lang = 'en', cluster = 77 WHERE id = 1 $$);
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
		FROM simhash_clusters('SELECT id, fp FROM public.chain WHERE fp IS NOT NULL', 3, 'connected', min_size => 1)) AS b
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
SELECT cluster, merged_into FROM chain_clusters ORDER BY 1;
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
UPDATE chain SET cluster = 3 WHERE id = 2 RETURNING cluster;
SELECT complain('UPDATE chain SET cluster = -1 WHERE id = 2');
SELECT complain('UPDATE chain SET cluster = 0');
SELECT complain('UPDATE chain SET cluster = cluster + 1000');
SELECT complain('INSERT INTO chain VALUES (2, 0) ON CONFLICT (id) DO UPDATE SET cluster = 1000');
SELECT complain('INSERT INTO chain VALUES (2, 0, 0) ON CONFLICT (id) DO UPDATE SET cluster = excluded.cluster - 1');
-- old ids may be brought up to date by hand, and then stay
UPDATE chain SET cluster = simhash_current_cluster('chain', cluster)
WHERE cluster <> simhash_current_cluster('chain', cluster) RETURNING id, cluster;
UPDATE chain SET cluster = 2 WHERE id = 2 RETURNING cluster;
TRUNCATE chain;
SELECT count(*) FROM chain_clusters;

-- A chain of which each merge is with an older one, or each with a younger one, or
-- pairs, pairs of these and so on are merged: each id but the oldest has one link,
-- to a lesser one, and the oldest stays.
CREATE FUNCTION merge_chain(VARIADIC ids int[]) RETURNS TABLE (given bigint, now bigint, oldest boolean,
	links bigint, sound boolean) LANGUAGE plpgsql AS $$
DECLARE
	i int;
BEGIN
	TRUNCATE chain;
	INSERT INTO chain SELECT n, (1::bigint << 3 * n) - 1 FROM generate_series(0, 20, 2) AS n;
	FOREACH i IN ARRAY ids LOOP
		INSERT INTO chain VALUES (i, (1::bigint << 3 * i) - 1);
	END LOOP;
	RETURN QUERY SELECT count(DISTINCT cluster), count(DISTINCT simhash_current_cluster('chain', cluster)),
		bool_and(simhash_current_cluster('chain', cluster) = (SELECT min(cluster) FROM chain)),
		(SELECT count(*) FROM chain_clusters),
		(SELECT bool_and(merged_into < cluster AND merged_into > 0 AND copy_of IS NULL) FROM chain_clusters) FROM chain;
END $$;
SELECT * FROM merge_chain(1, 3, 5, 7, 9, 11, 13, 15, 17, 19);
SELECT * FROM merge_chain(19, 17, 15, 13, 11, 9, 7, 5, 3, 1);
SELECT * FROM merge_chain(1, 5, 9, 13, 17, 3, 11, 7, 15, 19);
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
-- every id that is not current has a link, as has each that no row has by now
SELECT count(*) FROM chain LEFT JOIN chain_clusters USING (cluster)
WHERE (simhash_current_cluster('chain', cluster) <> cluster) <> (merged_into IS NOT NULL);
SELECT count(*) FROM chain_clusters WHERE merged_into >= cluster OR copy_of IS NOT NULL;

--
-- connected: a small edit keeps the id, as the row that was there counts
--
CREATE TABLE edits (id int, site text, body text, fp bigint, wide bit(128), PRIMARY KEY (id, site)) PARTITION BY LIST (site);
CREATE TABLE edits_a PARTITION OF edits FOR VALUES IN ('a', 'c');
CREATE TABLE edits_b (wide bit(128), site text NOT NULL, fp bigint, gone int, body text, id int NOT NULL);
ALTER TABLE edits_b DROP COLUMN gone;
ALTER TABLE edits ATTACH PARTITION edits_b FOR VALUES IN ('b');
CREATE INDEX ON edits USING hamming (fp);
CREATE INDEX ON edits USING hamming (wide);
CALL simhash_add_clusters('edits', 'fp', kind => 'connected', since => 'since');
CALL simhash_add_clusters('edits', 'fp', kind => 'connected', "column" => 'grouped', within => '{site}');
CALL simhash_add_clusters('edits', 'fp', kind => 'connected', "column" => 'alike', document => 'body',
	similarity => 'jaccard', profile => 'word-1', at_least => 0.7);
CALL simhash_add_clusters('edits', 'wide', kind => 'connected', "column" => 'wides');
INSERT INTO edits SELECT id, site, body, fp, fp::bit(64) || fp::bit(64) FROM (VALUES
	(1, 'a', 'a b c d e f g h', 0::bigint), (2, 'b', 'p q r s t u v w', -1), (3, 'b', 'p q r s t u v w', -2)) AS v (id, site, body, fp);
SELECT id, cluster, grouped, alike, wides FROM edits ORDER BY id;
-- alone, and with neighbours
UPDATE edits SET since = NULL, fp = fp # 6, wide = wide # (6::bit(64) || 0::bit(64)) RETURNING id, cluster, grouped, alike, wides, since = now() AS joined;
UPDATE edits SET fp = fp # 7, wide = wide # 7::bit(128), body = body || ' x' RETURNING id, cluster, grouped, alike, wides;
-- a great one does not, be it of the text alone
UPDATE edits SET body = 'one two three' WHERE id = 1 RETURNING id, cluster, grouped, alike, wides;
UPDATE edits SET fp = fp # 15, wide = wide # 15::bit(128) WHERE id = 1 RETURNING id, cluster, grouped, alike, wides;
-- to another partition, which is another group; and to another group of the same
UPDATE edits SET site = 'b', fp = fp # 3 WHERE id = 1 RETURNING id, cluster, grouped, alike, wides, tableoid::regclass;
UPDATE edits SET site = 'a', fp = fp # 3 WHERE id = 1 RETURNING id, cluster, grouped, alike, wides, tableoid::regclass;
UPDATE edits SET site = 'c', fp = fp # 3 WHERE id = 1 RETURNING id, cluster, grouped, alike, wides, tableoid::regclass;
-- what had no cluster has nothing to keep
UPDATE edits SET fp = NULL, wide = NULL WHERE id = 1 RETURNING id, cluster, grouped, alike, wides;
UPDATE edits SET fp = 15, wide = 15::bit(128) WHERE id = 1 RETURNING id, cluster, grouped, alike, wides;
-- an edit that comes near another cluster merges it with that of before, the older
-- of which stays
INSERT INTO edits VALUES (4, 'a', 'one two three', 1023, 1023::bit(128)), (5, 'a', 'one two four', 1023, 1023::bit(128))
RETURNING id, cluster, grouped, alike, wides;
UPDATE edits SET fp = 127, wide = 127::bit(128) WHERE id = 4 RETURNING id, cluster, grouped, alike, wides;
UPDATE edits SET fp = 31, wide = 31::bit(128) WHERE id = 4 RETURNING id, cluster, grouped, alike, wides;
SELECT id, simhash_current_cluster('edits', cluster) AS cluster, simhash_current_cluster('edits', grouped, 'grouped') AS grouped,
	simhash_current_cluster('edits', alike, 'alike') AS alike, simhash_current_cluster('edits', wides, 'wides') AS wides
FROM edits ORDER BY id;
DROP TABLE edits;

--
-- star: what a row started that did not get in is taken back
--
CREATE TABLE taken (id int, lang text, site text, body text, fp bigint,
	wide bit(128) GENERATED ALWAYS AS (fp::bit(64) || fp::bit(64)) STORED, PRIMARY KEY (id, lang)) PARTITION BY LIST (lang);
CREATE TABLE taken_a PARTITION OF taken FOR VALUES IN ('a');
CREATE TABLE taken_b (wide bit(128) GENERATED ALWAYS AS (fp::bit(64) || fp::bit(64)) STORED, lang text NOT NULL, fp bigint,
	gone int, body text, id int NOT NULL, site text);
ALTER TABLE taken_b DROP COLUMN gone;
ALTER TABLE taken ATTACH PARTITION taken_b FOR VALUES IN ('b');
CALL simhash_add_clusters('taken', 'fp');
CALL simhash_add_clusters('taken', 'wide', 6, "column" => 'story', within => '{site}', document => 'body',
	similarity => 'jaccard', profile => 'word-1', at_least => 0.7);
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
CREATE TRIGGER then_refuse BEFORE INSERT OR UPDATE ON taken FOR EACH ROW WHEN (NEW.id < 0) EXECUTE FUNCTION refuse();
\pset format unaligned
\pset tuples_only on
-- the stars, with how many rows each has
CREATE FUNCTION stars() RETURNS TABLE (kind text, stars text) LANGUAGE sql AS $$
	SELECT 'taken', string_agg(to_hex(fp) || ' ' || (SELECT count(*) FROM taken WHERE taken.cluster = c.cluster), ', ' ORDER BY c.cluster)
	FROM taken_clusters AS c
	UNION ALL SELECT 'story', string_agg(concat_ws(' ', site, to_hex(substring(wide FROM 1 FOR 64)::bigint), body, (SELECT count(*) FROM taken WHERE story = c.cluster)), ', ' ORDER BY c.cluster)
	FROM taken_storys AS c $$;
INSERT INTO taken VALUES (1, 'a', 'x', 'one', 0), (2, 'b', 'x', 'two', -1);
SELECT * FROM stars();
-- one; more of a statement; of a text that another of them has, which gets in, before
-- or after it, in this partition or another
INSERT INTO taken VALUES (1, 'a', 'x', 'one', 255) ON CONFLICT DO NOTHING;
INSERT INTO taken VALUES (1, 'a', 'x', 'one', 255), (2, 'b', 'x', 'two', 254), (1, 'a', 'y', 'three', 65535), (2, 'b', 'y', NULL, NULL) ON CONFLICT DO NOTHING;
INSERT INTO taken_b VALUES (DEFAULT, 'b', 255, 'one', 2, 'x') ON CONFLICT DO NOTHING;
SELECT * FROM stars();
INSERT INTO taken VALUES (1, 'a', 'x', 'one', 255), (3, 'a', 'x', 'one', 254), (2, 'b', 'x', 'one', 253) ON CONFLICT DO NOTHING;
INSERT INTO taken VALUES (1, 'a', 'x', 'one', 65535), (4, 'b', 'x', 'one', 65534), (1, 'a', 'x', 'one', 65533) ON CONFLICT DO NOTHING;
INSERT INTO taken VALUES (5, 'a', 'x', 'one', 1048575), (1, 'a', 'x', 'one', 1048574), (2, 'b', 'x', 'one', 1048573) ON CONFLICT DO NOTHING;
SELECT * FROM stars();
-- of other groups, and of other texts
INSERT INTO taken VALUES (1, 'a', 'y', 'one', 0), (1, 'a', 'x', 'three', 0), (6, 'b', 'y', 'three', 0) ON CONFLICT DO NOTHING;
SELECT * FROM stars();
DELETE FROM taken WHERE id > 2;
-- a trigger that comes later, by INSERT, COPY, UPDATE and MERGE
INSERT INTO taken VALUES (-1, 'a', 'x', 'one', 85), (-2, 'b', 'x', 'one', 84), (3, 'b', 'x', 'one', 3855), (-3, 'b', 'x', 'one', 3854);
COPY taken (id, lang, site, body, fp) FROM stdin;
-1	a	x	one	1431655765
-2	b	x	one	1431655765
-3	a	y	one	-2
4	a	x	one	1431655764
\.
MERGE INTO taken USING (VALUES (-1, 'a', 'x', 'one', 858993459::bigint), (5, 'b', 'y', 'one', -2)) AS new (id, lang, site, body, fp) ON taken.id = new.id
WHEN NOT MATCHED THEN INSERT (id, lang, site, body, fp) VALUES (new.id, new.lang, new.site, new.body, new.fp);
SELECT * FROM stars();
-- DO UPDATE, to the text that was to be inserted and to another one
INSERT INTO taken VALUES (1, 'a', 'x', 'one', 252645135) ON CONFLICT (id, lang) DO UPDATE SET fp = excluded.fp;
INSERT INTO taken VALUES (1, 'a', 'x', 'one', 16711935) ON CONFLICT (id, lang) DO UPDATE SET fp = 0, body = 'one';
SELECT * FROM stars();
-- several commands of one, and a savepoint
WITH a AS (INSERT INTO taken VALUES (1, 'a', 'x', 'one', 85), (7, 'a', 'x', 'one', 1431655765) ON CONFLICT DO NOTHING RETURNING id)
INSERT INTO taken SELECT n, 'b', 'x', 'one', 84 FROM generate_series(1, 2) AS n WHERE n = 2 ON CONFLICT DO NOTHING;
BEGIN;
SAVEPOINT s;
INSERT INTO taken VALUES (8, 'a', 'x', 'eight', 8738);
ROLLBACK TO s;
INSERT INTO taken VALUES (1, 'a', 'x', 'eight', 8738) ON CONFLICT DO NOTHING;
INSERT INTO taken VALUES (-1, 'a', 'x', 'eight', 8738);
RELEASE s;
COMMIT;
SELECT * FROM stars();
-- a row of the statement's own trigger, which joins what another has started
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO taken VALUES (9, 'b', NEW.site, NEW.body, NEW.fp # 1);
	RETURN NULL;
END $$;
CREATE TRIGGER then_again BEFORE INSERT ON taken FOR EACH ROW WHEN (NEW.id = 0) EXECUTE FUNCTION again();
INSERT INTO taken VALUES (0, 'a', 'x', 'nine', 286331153);
SELECT * FROM stars();
-- and in the end every row has a representative near it
SELECT count(*) FROM taken WHERE NOT EXISTS (SELECT FROM taken_clusters AS c WHERE c.cluster = taken.cluster AND hamming(c.fp, taken.fp) <= 3)
	OR NOT EXISTS (SELECT FROM taken_storys AS c WHERE c.cluster = taken.story AND hamming(c.wide, taken.wide) <= 6);
\pset format aligned
\pset tuples_only off
DROP TABLE taken;
DROP FUNCTION refuse, again, stars;

--
-- star, verified: no text outlives its row
--
CREATE TABLE saved (id int, lang text, site text, body text, fp bigint,
	wide bit(128) GENERATED ALWAYS AS (fp::bit(64) || fp::bit(64)) STORED, PRIMARY KEY (id, lang)) PARTITION BY LIST (lang);
CREATE TABLE saved_a PARTITION OF saved FOR VALUES IN ('a');
CREATE TABLE saved_b (wide bit(128) GENERATED ALWAYS AS (fp::bit(64) || fp::bit(64)) STORED, gone int, lang text NOT NULL,
	fp bigint, body text, id int NOT NULL, site text);
ALTER TABLE saved_b DROP COLUMN gone;
ALTER TABLE saved ATTACH PARTITION saved_b FOR VALUES IN ('b');
CALL simhash_add_clusters('saved', 'wide', 6, within => '{site}', document => 'body',
	similarity => 'jaccard', profile => 'word-1', at_least => 0.7);
CREATE FUNCTION texts() RETURNS TABLE (cluster bigint, site text, text text, rows text) LANGUAGE sql AS $$
	SELECT cluster, site, body, (SELECT string_agg(id::text, ' ' ORDER BY id) FROM saved WHERE saved.cluster = c.cluster)
	FROM saved_clusters AS c ORDER BY cluster $$;
INSERT INTO saved VALUES (1, 'a', 'x', 'a b c d e f g h', 0), (2, 'a', 'x', 'a b c d e f g i', 1), (3, 'b', 'x', 'a b c d e f g h', 3),
	(4, 'a', 'x', 'p q r s t u v w', 0), (5, 'a', 'y', 'a b c d e f g h', 0), (6, 'b', 'x', 'one two', -1);
SELECT * FROM texts();
-- a row with another text of the cluster goes, or changes its text, and that of the
-- representative stays; a row whose text does not change leaves it, too
DELETE FROM saved WHERE id = 2;
UPDATE saved SET fp = 1, id = 7 WHERE id = 3;
INSERT INTO saved VALUES (2, 'b', 'x', 'a b c d e f g j', 1) RETURNING cluster;
UPDATE saved SET body = 'a b c d e f g k' WHERE id = 2 RETURNING cluster;
SELECT * FROM texts();
-- the row goes: from then on rows are compared with one that is there.  That they
-- are similar to the text that has gone does not count
BEGIN;
DELETE FROM saved WHERE id IN (1, 7);
SELECT * FROM texts();
INSERT INTO saved VALUES (8, 'a', 'x', 'a b c d e l g k', 1) RETURNING cluster;
INSERT INTO saved VALUES (9, 'a', 'x', 'a b c d x f g h', 1) RETURNING cluster > 4 AS new;
SELECT * FROM texts();
ROLLBACK;
SELECT * FROM texts();
-- of two rows with the text one goes: the other is compared with
BEGIN;
DELETE FROM saved WHERE id IN (1, 2);
SELECT * FROM texts();
INSERT INTO saved VALUES (8, 'b', 'x', 'a b c d x f g h', 1) RETURNING cluster;
-- and then there is none: a cluster without rows is joined by nobody
DELETE FROM saved WHERE id IN (7, 8);
INSERT INTO saved VALUES (8, 'b', 'x', 'a b c d e f g h', 0) RETURNING cluster > 4 AS new;
SELECT * FROM texts();
ROLLBACK;
-- a row that changes its text, and stays in its cluster or leaves it
BEGIN;
UPDATE saved SET body = 'a b c d e f g m' WHERE id = 1 RETURNING cluster;
SELECT * FROM texts();
UPDATE saved SET body = 'entirely new' WHERE id = 4 RETURNING cluster > 4 AS new;
UPDATE saved SET body = NULL WHERE id = 6 RETURNING cluster;
SELECT * FROM texts();
ROLLBACK;
-- a row that moves to another cluster with its text: by its fingerprint, its group,
-- and having none; one that moves to another partition stays
BEGIN;
UPDATE saved SET fp = 65535 WHERE id = 1 RETURNING cluster > 4 AS new;
UPDATE saved SET site = 'x' WHERE id = 5 RETURNING cluster;
UPDATE saved SET fp = NULL WHERE id = 4 RETURNING cluster;
UPDATE saved SET lang = 'a' WHERE id = 6 RETURNING cluster;
SELECT * FROM texts();
INSERT INTO saved VALUES (8, 'a', 'x', 'one two', -2) RETURNING cluster;
ROLLBACK;
-- by ON CONFLICT, MERGE, and in the statement that has made it
BEGIN;
INSERT INTO saved VALUES (1, 'a', 'x', 'a b c d e f g n', 0) ON CONFLICT (id, lang) DO UPDATE SET body = excluded.body RETURNING cluster;
MERGE INTO saved USING (VALUES (4)) AS new (id) ON saved.id = new.id WHEN MATCHED THEN DELETE;
SELECT * FROM texts();
WITH new AS (INSERT INTO saved VALUES (8, 'a', 'x', 'eight', 255) RETURNING id)
INSERT INTO saved SELECT id, 'a', 'x', 'eight', 255 FROM new ON CONFLICT (id, lang) DO NOTHING;
DELETE FROM saved WHERE id = 8;
SELECT * FROM texts();
ROLLBACK;
-- copies have it no longer, either
BEGIN;
SET LOCAL session_replication_role = replica;
INSERT INTO saved_clusters (cluster, site, wide, body, copy_of) SELECT -100, site, wide, body, cluster FROM saved_clusters WHERE cluster = 1;
SET LOCAL session_replication_role = origin;
DELETE FROM saved WHERE id = 1;
SELECT * FROM texts();
ROLLBACK;
-- whoever may delete needs no rights on the table of the clusters, nor to read others
BEGIN;
CREATE ROLE regress_clusters_other;
GRANT SELECT (id), DELETE, INSERT ON saved TO regress_clusters_other;
SET LOCAL ROLE regress_clusters_other;
DELETE FROM saved WHERE id = 1;
INSERT INTO saved VALUES (8, 'a', 'x', 'a b c d e f g h', 0);
RESET ROLE;
SELECT * FROM texts();
ROLLBACK;
DROP TABLE saved;
DROP FUNCTION texts;

--
-- the table of the clusters is written to by nobody else
--
CREATE TABLE mine (id int PRIMARY KEY, lang text, fp bigint);
CREATE INDEX ON mine USING hamming (fp);
CALL simhash_add_clusters('mine', 'fp', within => '{lang}');
CALL simhash_add_clusters('mine', 'fp', kind => 'connected', "column" => 'chain');
INSERT INTO mine VALUES (1, 'a', 0), (2, 'a', 63), (3, 'b', 7);
ALTER TABLE mine_clusters ADD title text DEFAULT 'none', ADD seen int;
ALTER TABLE mine_chains ADD title text;
CREATE FUNCTION all_complain(VARIADIC commands text[]) RETURNS TABLE (command text, said text) LANGUAGE plpgsql AS $$
BEGIN
	FOREACH command IN ARRAY commands LOOP
		said := split_part(complain(command), E'\n', 1);
		RETURN NEXT;
	END LOOP;
END $$;
\pset format unaligned
\pset tuples_only on
SELECT complain('DELETE FROM mine_clusters');
SELECT * FROM all_complain('INSERT INTO mine_clusters (lang, fp) VALUES (''a'', -1)', 'INSERT INTO mine_clusters DEFAULT VALUES',
	'COPY mine_clusters FROM ''/dev/null''', 'UPDATE mine_clusters SET fp = 1 WHERE cluster = 1', 'UPDATE mine_clusters SET cluster = cluster + 100',
	'UPDATE mine_clusters SET made = now(), title = ''x''', 'UPDATE mine_clusters SET lang = lang', 'UPDATE mine_clusters SET unused_since = now()',
	'UPDATE mine_clusters SET copy_of = 1 WHERE false', 'DELETE FROM mine_clusters WHERE false', 'TRUNCATE mine_clusters',
	'TRUNCATE mine_clusters RESTART IDENTITY CASCADE', 'TRUNCATE mine_clusters, mine_chains',
	'INSERT INTO mine_clusters (lang, fp) VALUES (''a'', -1) ON CONFLICT DO NOTHING',
	'INSERT INTO mine_clusters (cluster, lang, fp) VALUES (1, ''a'', -1) ON CONFLICT (cluster) DO UPDATE SET title = ''x''',
	'MERGE INTO mine_clusters AS c USING mine ON c.cluster = mine.cluster WHEN MATCHED THEN DELETE');
SELECT * FROM all_complain('INSERT INTO mine_chains (cluster, merged_into) VALUES (3, 1)', 'UPDATE mine_chains SET merged_into = 1',
	'UPDATE mine_chains SET merged_at = now()', 'UPDATE mine_chains SET cluster = 5', 'UPDATE mine_chains SET copy_of = NULL',
	'DELETE FROM mine_chains', 'TRUNCATE mine_chains');
-- but for what the user has added
SELECT * FROM all_complain('UPDATE mine_clusters SET title = ''first'' WHERE cluster = 1', 'UPDATE mine_clusters SET (title, seen) = (title, 5)',
	'UPDATE mine_chains SET title = ''x''', 'MERGE INTO mine_clusters AS c USING mine ON c.cluster = mine.cluster AND mine.id = 3 WHEN MATCHED THEN UPDATE SET seen = 7',
	'SELECT 1 FROM mine_clusters FOR UPDATE');
SELECT cluster, lang, fp, title, seen FROM mine_clusters ORDER BY 1;
-- TRUNCATE of both tables is one of the table
BEGIN; TRUNCATE mine, mine_clusters, mine_chains; SELECT count(*) FROM mine_clusters; ROLLBACK;
BEGIN; TRUNCATE mine_chains, mine_clusters, mine; SELECT count(*) FROM mine_clusters; INSERT INTO mine VALUES (1, 'a', 0) RETURNING cluster > 2; ROLLBACK;
BEGIN; DELETE FROM mine; TRUNCATE mine_clusters; SELECT count(*) FROM mine_clusters; ROLLBACK;
-- what restores and replicates fires no triggers
BEGIN; ALTER TABLE mine_clusters DISABLE TRIGGER USER; DELETE FROM mine_clusters; ROLLBACK;
BEGIN; SET LOCAL session_replication_role = replica; UPDATE mine_chains SET merged_into = 1; INSERT INTO mine_chains VALUES (3, 1); ROLLBACK;
-- nor is it written to by somebody who has the rights
BEGIN; CREATE ROLE regress_clusters_other; GRANT ALL ON mine_clusters TO regress_clusters_other; SET LOCAL ROLE regress_clusters_other;
SELECT * FROM all_complain('DELETE FROM public.mine_clusters', 'TRUNCATE public.mine_clusters', 'UPDATE public.mine_clusters SET seen = 8'); ROLLBACK;
-- the row of a user's trigger does not make the way free for his own
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN DELETE FROM mine_clusters; RETURN NEW; END $$;
BEGIN; CREATE TRIGGER meddle BEFORE INSERT ON mine FOR EACH ROW EXECUTE FUNCTION meddle(); SELECT complain('INSERT INTO mine VALUES (9, ''a'', -1)'); ROLLBACK;
\pset format aligned
\pset tuples_only off
DROP FUNCTION meddle;

--
-- a sequence that is behind the ids of the rows
--
CREATE TABLE behind (id int, lang text, fp bigint, wide bit(128) GENERATED ALWAYS AS (fp::bit(64) || fp::bit(64)) STORED) PARTITION BY LIST (lang);
CREATE TABLE behind_a PARTITION OF behind FOR VALUES IN ('a');
CREATE TABLE behind_b PARTITION OF behind FOR VALUES IN ('b');
CREATE INDEX ON behind USING hamming (wide);
CALL simhash_add_clusters('behind', 'wide', within => '{lang}');
CALL simhash_add_clusters('behind', 'wide', kind => 'connected', "column" => 'chain', indexed => false);
INSERT INTO behind VALUES (1, 'a', 0), (2, 'b', -1), (3, 'b', 4095);
\pset format unaligned
\pset tuples_only on
-- as it is where rows have been written without the triggers.  A session asks before
-- it gives an id, whatever it writes to
SELECT setval('behind_clusters_cluster_seq', 2);
\c -
SELECT complain('INSERT INTO behind VALUES (4, ''a'', 1431655765)');
SELECT complain('INSERT INTO behind_b VALUES (4, ''b'', 4094)');
SELECT complain('UPDATE behind SET fp = 1048575 WHERE id = 1');
SELECT complain('MERGE INTO behind USING (VALUES (4)) AS new (id) ON behind.id = new.id WHEN NOT MATCHED THEN INSERT VALUES (4, ''a'', 1431655765)');
SELECT complain('DELETE FROM behind WHERE id = 4');
SELECT setval('behind_clusters_cluster_seq', 1, false);
\c -
COPY behind (id, lang, fp) FROM stdin;
4	a	1431655765
\.
SELECT setval('behind_clusters_cluster_seq', 3), setval('behind_chains_cluster_seq', 2);
\c -
SELECT complain('INSERT INTO behind VALUES (4, ''a'', 1431655765)');
SELECT complain('UPDATE behind SET fp = 1048575 WHERE id = 1');
SELECT setval('behind_chains_cluster_seq', 3);
\c -
INSERT INTO behind VALUES (4, 'a', 0), (5, 'b', 1048575) RETURNING id, cluster, chain;
-- ids that are written by hand, past the triggers, count as well
ALTER TABLE behind DISABLE TRIGGER USER;
UPDATE behind SET chain = 1000 WHERE id = 5;
ALTER TABLE behind ENABLE TRIGGER USER;
\c -
SELECT complain('INSERT INTO behind VALUES (6, ''a'', 1431655765)');
SELECT setval('behind_chains_cluster_seq', 1000);
-- it is asked with the rights of the owner, whatever rows others may see
CREATE ROLE regress_clusters_other;
GRANT INSERT ON behind TO regress_clusters_other;
ALTER TABLE behind ENABLE ROW LEVEL SECURITY;
CREATE POLICY more ON behind FOR INSERT WITH CHECK (true);
SELECT setval('behind_clusters_cluster_seq', 2);
\c -
BEGIN;
SET LOCAL ROLE regress_clusters_other;
SELECT complain($$ INSERT INTO public.behind VALUES (6, 'a', 1431655765) $$);
ROLLBACK;
SELECT setval('behind_clusters_cluster_seq', 4);
BEGIN;
SET LOCAL ROLE regress_clusters_other;
INSERT INTO public.behind VALUES (6, 'a', 1431655765);
ROLLBACK;
\pset format aligned
\pset tuples_only off
DROP TABLE mine, behind;
DROP FUNCTION all_complain;
DROP ROLE regress_clusters_other;

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
SELECT complain('ALTER TABLE docs_storys DROP unused_since');
SELECT complain('ALTER TABLE docs_storys ALTER unused_since TYPE date');
SELECT complain('ALTER TABLE docs_storys DROP copy_of');
SELECT complain('ALTER TABLE chain_clusters DROP merged_into');
SELECT complain('ALTER TABLE chain_clusters ALTER merged_into TYPE int');
SELECT complain('ALTER TABLE chain_clusters DROP merged_at');
SELECT complain('ALTER TABLE chain_clusters DROP copy_of');
SELECT complain('ALTER TABLE chain_clusters ALTER copy_of TYPE int');
SELECT complain('DROP INDEX chain_fp_idx');
BEGIN; ALTER TABLE docs_storys ALTER cluster DROP IDENTITY; SELECT complain('INSERT INTO docs VALUES (1000, 6148914691236517205)'); ROLLBACK;
BEGIN; ALTER TABLE chain_clusters DROP CONSTRAINT chain_clusters_pkey; SELECT complain('INSERT INTO chain VALUES (-1, 0), (-2, 63), (-3, 7)'); SELECT complain($$ SELECT simhash_current_cluster('chain', 1) $$); ROLLBACK;
BEGIN; ALTER TABLE chain_clusters DROP CONSTRAINT chain_clusters_pkey, ADD PRIMARY KEY (cluster, merged_into); SELECT complain($$ SELECT simhash_current_cluster('chain', 1) $$); ROLLBACK;
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
CREATE ROLE regress_clusters_other;
ALTER TABLE docs OWNER TO regress_clusters_other;
ALTER TABLE chain_clusters OWNER TO regress_clusters_other;
SELECT complain('INSERT INTO docs VALUES (1000, 0)');
SELECT complain('INSERT INTO chain VALUES (-1, 0)');
SELECT complain('TRUNCATE chain');
SELECT complain($$ SELECT simhash_current_cluster('chain', 1) $$);
ROLLBACK;
-- links that somebody has written, to no lesser id: to the same, a greater one, and
-- round; a copy of nothing
BEGIN;
SET LOCAL session_replication_role = replica;
INSERT INTO chain_clusters (cluster, merged_into, copy_of) VALUES (2000, 2000, NULL), (2001, 2002, NULL),
	(2003, 2004, NULL), (2004, 2003, NULL), (2005, 2000, NULL);
SET LOCAL session_replication_role = origin;
SELECT complain($$ SELECT simhash_current_cluster('chain', 2000) $$);
SELECT complain($$ SELECT simhash_current_cluster('chain', 2001) $$);
SELECT complain($$ SELECT simhash_current_cluster('chain', 2003) $$);
SELECT complain($$ SELECT simhash_current_cluster('chain', 2005) $$);
SELECT complain($$ SELECT simhash_current_cluster('chain', 2006) $$);
SET LOCAL session_replication_role = replica;
INSERT INTO chain_clusters (cluster, merged_into, copy_of) VALUES (-2000, 1, 2000);
SET LOCAL session_replication_role = origin;
SELECT complain($$ SELECT simhash_current_cluster('chain', 2006) $$);
SET LOCAL session_replication_role = replica;
DELETE FROM chain_clusters WHERE cluster = 2000 OR cluster = -2000;
INSERT INTO chain_clusters (cluster, merged_into, copy_of) VALUES (-2000, 1, NULL);
SET LOCAL session_replication_role = origin;
SELECT complain($$ SELECT simhash_current_cluster('chain', 2006) $$);
ROLLBACK;
SELECT complain($$ SELECT simhash_current_cluster('chain_clusters', 1) $$);
SELECT complain($$ SELECT simhash_current_cluster('docs', 1) $$);
SELECT complain($$ SELECT simhash_current_cluster(1::oid, 1) $$);
BEGIN;
CREATE ROLE regress_clusters_other;
SET LOCAL ROLE regress_clusters_other;
SELECT complain($$ SELECT simhash_current_cluster('public.chain', 1) $$);
ROLLBACK;
\pset format aligned
\pset tuples_only off

-- copies: what either leads to is one cluster, as is what others of them lead to;
-- when there are many a merge makes links of those that it can
CREATE FUNCTION copies() RETURNS TABLE (links bigint, copies bigint, now bigint) LANGUAGE sql AS $$
	SELECT count(*) FILTER (WHERE cluster > 0), count(*) FILTER (WHERE cluster < 0),
		(SELECT count(DISTINCT simhash_current_cluster('chain', cluster)) FROM chain WHERE id >= 0)
	FROM chain_clusters $$;
BEGIN;
TRUNCATE chain;
INSERT INTO chain SELECT n, (1::bigint << 3 * n) - 1 FROM generate_series(0, 20, 2) AS n;
SELECT min(cluster) AS first FROM chain \gset
SELECT * FROM copies();
SET LOCAL session_replication_role = replica;
INSERT INTO chain_clusters (cluster, merged_into, copy_of) SELECT -1000000 - n, :first + n - 1, :first + n FROM generate_series(1, 10) AS n;
SET LOCAL session_replication_role = origin;
SELECT * FROM copies();
SELECT bool_and(simhash_current_cluster('chain', cluster) = :first) AS oldest FROM chain;
INSERT INTO chain VALUES (-1, -1), (-2, -64), (-3, -8);
SELECT * FROM copies();
SET LOCAL session_replication_role = replica;
INSERT INTO chain_clusters (cluster, merged_into, copy_of) SELECT -2000000 - n, :first + n - 1, :first + 10 FROM generate_series(1, 10) AS n;
SET LOCAL session_replication_role = origin;
INSERT INTO chain VALUES (-4, -4096), (-5, -512);
SELECT * FROM copies();
SELECT bool_and(simhash_current_cluster('chain', cluster) = :first) AS oldest, count(*) FROM chain WHERE id >= 0;
SELECT count(*) FROM chain_clusters WHERE merged_into >= cluster AND cluster > 0;
ROLLBACK;
DROP FUNCTION copies;

-- a number below 1 that somebody has written is no cluster: nothing is merged into it,
-- and rows near each other that have it join others as they are mended
BEGIN;
INSERT INTO chain VALUES (200000, -1), (200001, -64);
ALTER TABLE chain DISABLE TRIGGER USER;
UPDATE chain SET cluster = 0 WHERE id = 200000;
INSERT INTO chain (id, fp, cluster) VALUES (200004, -2, 0);
ALTER TABLE chain ENABLE TRIGGER USER;
SET LOCAL statement_timeout = '60s';
INSERT INTO chain VALUES (200002, -8);
UPDATE chain SET fp = -4 WHERE id = 200004;
SELECT id, cluster > 0 AS given, dense_rank() OVER (ORDER BY simhash_current_cluster('chain', cluster)) FROM chain WHERE id >= 200000 ORDER BY id;
UPDATE chain SET fp = -1 WHERE id = 200004;
ALTER TABLE chain DISABLE TRIGGER USER;
UPDATE chain SET cluster = 0 WHERE id IN (200000, 200004);
SET LOCAL session_replication_role = replica;
INSERT INTO chain_clusters (cluster, merged_into) SELECT cluster, -3 FROM chain WHERE id = 200001;
SET LOCAL session_replication_role = origin;
ALTER TABLE chain ENABLE TRIGGER USER;
SELECT fault, number FROM simhash_check_clusters('chain') WHERE fault ~ '^rows';
CALL simhash_mend_clusters('chain');
SELECT fault, number FROM simhash_check_clusters('chain') WHERE fault ~ '^rows';
SELECT count(DISTINCT simhash_current_cluster('chain', cluster)), min(cluster) > 0 AS given FROM chain WHERE id >= 200000;
ROLLBACK;

-- whoever may insert needs no rights on the table of the clusters
BEGIN;
CREATE ROLE regress_clusters_other;
GRANT SELECT, INSERT ON docs, chain TO regress_clusters_other;
SET LOCAL ROLE regress_clusters_other;
INSERT INTO docs VALUES (100, 123456789) RETURNING story IS NOT NULL AS given;
INSERT INTO chain VALUES (100000, -1), (100001, -64), (100002, -8);
SELECT count(DISTINCT simhash_current_cluster('chain', cluster)) FROM chain WHERE id >= 100000;
ROLLBACK;

-- a text is taken by no trigger's leave, as the statement ends, by its role
CREATE ROLE regress_clusters_texts;
GRANT CREATE ON SCHEMA public TO regress_clusters_texts;
SET ROLE regress_clusters_texts;
CREATE TABLE texts (id int PRIMARY KEY, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON texts USING hamming (fp);
CALL simhash_add_clusters('texts', 'fp', 8, similarity => 'alike');
CREATE FUNCTION tell(body text) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN RAISE NOTICE ''% as %'', body, replace(current_user, session_user, ''superuser'');
    RETURN true; END';
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN RAISE NOTICE ''% % as %'', TG_WHEN, TG_OP, current_user; RETURN NEW; END';
ALTER TABLE texts_clusters ADD CHECK (tell(body));
CREATE TRIGGER before BEFORE UPDATE ON texts_clusters FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TRIGGER after AFTER UPDATE ON texts_clusters FOR EACH ROW EXECUTE FUNCTION tell();
CREATE TABLE notes (cluster bigint REFERENCES texts_clusters);
INSERT INTO texts VALUES (1, 'some other text');
RESET ROLE;
BEGIN;
SET LOCAL ROLE regress_clusters_texts;
INSERT INTO texts VALUES (1, 'one and the same text') ON CONFLICT DO NOTHING;
INSERT INTO texts VALUES (2, 'One and the same text');
RESET ROLE;
COMMIT;
BEGIN;
INSERT INTO texts VALUES (3, 'this text goes again');
DELETE FROM texts WHERE id > 1;
COMMIT;
SELECT cluster, body FROM texts_clusters ORDER BY cluster;
DROP TABLE notes, texts;
DROP FUNCTION tell(text), tell();
REVOKE CREATE ON SCHEMA public FROM regress_clusters_texts;
DROP ROLE regress_clusters_texts;

-- with the table goes that of the clusters
DROP VIEW v;
DROP TABLE docs, pages, chain, late, bad;
SELECT relname FROM pg_class WHERE relname ~ '_(storys|clusters)';
DROP FUNCTION complain, differences, merge_chain, attempt;
