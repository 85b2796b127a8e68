--
-- near_fingerprint.c, near_lock.c: simhash_guard on a column of type bit(n)
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- so many bits, drawn by a seed
CREATE FUNCTION noise(width int, seed bigint) RETURNS bit varying LANGUAGE sql IMMUTABLE AS $$
    SELECT left(string_agg(hashint8extended(seed, w)::bit(64)::text, '' ORDER BY w), width)::bit varying
    FROM generate_series(1, (width + 63) / 64) AS w
$$;
-- a bit string with n of its bits changed
CREATE FUNCTION flip(fp bit varying, n int, seed bigint) RETURNS bit varying LANGUAGE sql IMMUTABLE AS $$
    SELECT fp # string_agg(CASE WHEN place <= n THEN '1' ELSE '0' END, '' ORDER BY i)::bit varying
    FROM (SELECT i, row_number() OVER (ORDER BY hashint8extended(i, seed)) AS place
          FROM generate_series(1, length(fp)) AS i) AS s
$$;
SELECT length(flip(noise(100, 1), 7, 2)), bit_count(noise(100, 1) # flip(noise(100, 1), 7, 2));

----------------------------------------
-- reject, skip, mark
----------------------------------------

CREATE TABLE images (id int PRIMARY KEY, pdq bit(256), note text);
CREATE INDEX ON images USING hamming (pdq);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON images
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('pdq', 'reject', '31');
INSERT INTO images VALUES (1, noise(256, 1)), (2, NULL), (3, NULL), (4, flip(noise(256, 1), 32, 4));
INSERT INTO images VALUES (5, flip(noise(256, 1), 31, 5)); -- error
INSERT INTO images VALUES (5, noise(256, 1)); -- error
INSERT INTO images VALUES (5, noise(256, 5)), (6, flip(noise(256, 5), 20, 6)); -- error
UPDATE images SET note = 'seen', pdq = pdq WHERE id = 1;
UPDATE images SET pdq = flip(pdq, 3, 7) WHERE id = 1;
UPDATE images SET pdq = flip(noise(256, 1), 10, 8) WHERE id = 2; -- error
UPDATE images SET pdq = noise(256, 2) WHERE id = 2;
DELETE FROM images WHERE id = 1;
INSERT INTO images VALUES (1, flip(noise(256, 1), 1, 9)) ON CONFLICT DO NOTHING;
SELECT id, bit_count(pdq # noise(256, 1)::bit(256)) AS bits FROM images ORDER BY id;
-- an index is needed: of the column itself, and of all rows
DROP INDEX images_pdq_idx;
INSERT INTO images VALUES (7, noise(256, 7)); -- error
CREATE INDEX ON images USING hamming (pdq) WHERE id > 0;
INSERT INTO images VALUES (7, noise(256, 7)); -- error
CREATE INDEX ON images USING hamming (hamming_bit_ball(pdq, 31));
INSERT INTO images VALUES (7, noise(256, 7)); -- error
CREATE INDEX ON images (pdq);
INSERT INTO images VALUES (7, noise(256, 7)); -- error
DROP TABLE images;

-- which rows stay, by brute force, at widths and distances of each kind: single
-- blocks, pairs of blocks, one lock for all, words that are not whole
CREATE FUNCTION try(width int, k int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    kept bigint;
    wrong bigint;
BEGIN
    EXECUTE format($f$
        CREATE TABLE tried_rows AS SELECT id, flip(noise(%1$s, id / 6), id %% 6 * (%2$s / 4), id)::bit(%1$s) AS fp
        FROM generate_series(1, 120) AS id;
        CREATE TABLE kept_rows (id int PRIMARY KEY, fp bit(%1$s));
        CREATE INDEX ON kept_rows USING hamming (fp);
        CREATE TRIGGER guard BEFORE INSERT ON kept_rows FOR EACH ROW
            EXECUTE FUNCTION simhash_guard('fp', 'skip', '%2$s');
        INSERT INTO kept_rows SELECT * FROM tried_rows ORDER BY id;
    $f$, width, k);
    SELECT count(*) INTO kept FROM kept_rows;
    SELECT count(*) INTO wrong FROM tried_rows AS r
    WHERE EXISTS (SELECT FROM kept_rows AS o WHERE o.id = r.id) =
          EXISTS (SELECT FROM kept_rows AS o WHERE o.id < r.id AND bit_count(o.fp # r.fp) <= k);
    DROP TABLE tried_rows, kept_rows;
    RETURN format('%s kept, %s wrong', CASE WHEN kept BETWEEN 2 AND 119 THEN 'some' ELSE kept::text END, wrong);
END $$;
SELECT width, k, try(width, k)
FROM (VALUES (32, 0), (32, 3), (32, 8), (50, 6), (64, 3), (64, 12), (72, 5), (128, 16), (256, 8), (256, 31),
             (256, 100), (576, 31), (576, 60), (1000, 64), (1024, 31), (1024, 300)) AS v (width, k);

-- mark: the nearest
CREATE TABLE marked (id int PRIMARY KEY, fp bit(128), twin int);
CREATE INDEX ON marked USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON marked
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'mark', '12', 'mark=twin');
INSERT INTO marked SELECT id, flip(noise(128, id / 5), id % 5 * 3, id) FROM generate_series(1, 60) AS id;
SELECT count(*) AS rows, count(twin) > 20 AS some, count(*) FILTER (WHERE (m.twin IS NULL) <> (least IS NULL)
        OR bit_count(m.fp # (SELECT fp FROM marked WHERE id = m.twin)) <> least) AS wrong
FROM marked AS m, LATERAL (SELECT min(bit_count(o.fp # m.fp)) AS least FROM marked AS o
                           WHERE o.id < m.id AND bit_count(o.fp # m.fp) <= 12) AS n;
DROP TABLE marked;

----------------------------------------
-- locks: near-duplicates share one, and it is released when the row is in
----------------------------------------

CREATE TABLE noted (id int, lock oid);
CREATE FUNCTION note_locks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO noted SELECT new.id, objid FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'advisory';
    RETURN new;
END $$;
-- of pairs at the given distance: how many have no lock in common; of unrelated
-- ones, how many have
CREATE FUNCTION locks(width int, k int, OUT locks int, OUT apart int, OUT together int, OUT kept int)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format($f$
        CREATE TABLE locked (id int PRIMARY KEY, fp bit(%1$s));
        CREATE INDEX ON locked USING hamming (fp);
        CREATE TRIGGER guard BEFORE INSERT ON locked FOR EACH ROW
            EXECUTE FUNCTION simhash_guard('fp', 'skip', '%2$s');
        CREATE TRIGGER a_note BEFORE INSERT ON locked FOR EACH ROW EXECUTE FUNCTION note_locks();
        CREATE TRIGGER note BEFORE INSERT ON locked FOR EACH ROW EXECUTE FUNCTION note_locks();
        CREATE TRIGGER after AFTER INSERT ON locked FOR EACH ROW EXECUTE FUNCTION note_locks();
    $f$, width, k);
    FOR i IN 1 .. 60 LOOP
        INSERT INTO locked VALUES (i, noise(width, i));
        DELETE FROM locked;
        INSERT INTO locked VALUES (-i, flip(noise(width, i), k, i));
        DELETE FROM locked;
    END LOOP;
    SELECT max(n) INTO locks FROM (SELECT count(DISTINCT lock) AS n FROM noted GROUP BY id) AS s;
    -- noted before the guard, or after the row is in: none is left of another row
    SELECT count(*) INTO kept FROM (SELECT count(*) - count(DISTINCT lock) AS n FROM noted GROUP BY id) AS s WHERE n > 0;
    SELECT count(*) INTO apart FROM generate_series(1, 60) AS i
    WHERE NOT EXISTS (SELECT FROM noted AS a JOIN noted AS b USING (lock) WHERE a.id = i AND b.id = -i);
    SELECT count(*) INTO together FROM generate_series(1, 59) AS i
    WHERE EXISTS (SELECT FROM noted AS a JOIN noted AS b USING (lock) WHERE a.id = i AND b.id = i + 1);
    DROP TABLE locked;
    DELETE FROM noted;
END $$;
SELECT width, k, l.locks, l.apart, CASE WHEN l.together <= 12 THEN 'few' ELSE l.together::text END AS together, l.kept
FROM (VALUES (32, 3), (64, 0), (64, 3), (64, 5), (64, 8), (64, 11), (64, 20), (100, 7), (128, 8), (128, 16),
             (256, 0), (256, 16), (256, 31), (256, 64), (576, 31), (576, 60), (1000, 64), (1024, 64)) AS v (width, k),
     LATERAL locks(width, k) AS l;
DROP TABLE noted;

----------------------------------------
-- within groups; partitions; domains
----------------------------------------

CREATE DOMAIN print AS bit(256);
CREATE TABLE parted (id int, site text, fp print, PRIMARY KEY (id, site)) PARTITION BY LIST (site);
CREATE TABLE parted_a (x int, fp print, site text NOT NULL, id int NOT NULL);
ALTER TABLE parted_a DROP COLUMN x;
ALTER TABLE parted ATTACH PARTITION parted_a FOR VALUES IN ('a');
CREATE TABLE parted_b PARTITION OF parted FOR VALUES IN ('b', 'c', 'd');
CREATE INDEX ON parted USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parted
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '31');
INSERT INTO parted VALUES (1, 'a', noise(256, 1)::bit(256));
INSERT INTO parted VALUES (2, 'b', flip(noise(256, 1), 31, 1)::bit(256)); -- error
DROP TRIGGER guard ON parted;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parted
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '31', 'within=site');
INSERT INTO parted VALUES (2, 'b', flip(noise(256, 1), 31, 1)::bit(256)), (3, 'c', flip(noise(256, 1), 31, 2)::bit(256));
INSERT INTO parted VALUES (4, 'b', flip(noise(256, 1), 10, 1)::bit(256)); -- error
UPDATE parted SET site = 'b' WHERE id = 1; -- error
UPDATE parted SET site = 'd' WHERE id = 1;
SELECT tableoid::regclass, id, site FROM parted ORDER BY id;
-- an index on several columns serves as well
CREATE TABLE grouped (id int PRIMARY KEY, site text, fp bit(256));
CREATE INDEX ON grouped USING hamming (site, fp);
CREATE TRIGGER guard BEFORE INSERT ON grouped FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '31', 'within=site');
INSERT INTO grouped SELECT id, id % 3, flip(noise(256, id / 9), id % 4 * 8, id) FROM generate_series(1, 200) AS id;
SELECT count(*) BETWEEN 50 AND 199 AS some FROM grouped;
SELECT a.id, b.id FROM grouped AS a JOIN grouped AS b ON a.id < b.id AND a.site = b.site AND bit_count(a.fp # b.fp) <= 31;
SELECT s.id FROM generate_series(1, 200) AS s (id)
WHERE NOT EXISTS (SELECT FROM grouped AS g WHERE g.id = s.id)
    AND NOT EXISTS (SELECT FROM grouped AS g WHERE g.id < s.id AND g.site = (s.id % 3)::text
                    AND bit_count(g.fp # flip(noise(256, s.id / 9), s.id % 4 * 8, s.id)) <= 31);
DROP TABLE grouped;

----------------------------------------
-- documents
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, body text,
    fp bit(256) GENERATED ALWAYS AS (minhash_bits(body, 256)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '100', 'similarity=jaccard', 'at_least=0.8', 'document=body');
INSERT INTO docs VALUES (1, 'a b c d e f g h i j k l m n o p'), (2, ''), (3, NULL);
INSERT INTO docs VALUES (4, 'a b c d e f g h i j k l m n o x'); -- error
INSERT INTO docs VALUES (4, 'a b c d x f g h i j y l m n o p');
SELECT hamming(a.fp, b.fp) <= 100 AS near FROM docs AS a, docs AS b WHERE a.id = 1 AND b.id = 4;
DROP TABLE docs;

-- filled by the trigger
CREATE TABLE docs (id int PRIMARY KEY, body text, fp bit(128));
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '16', 'document=body', 'fill=simhash', 'profile=word-1');
INSERT INTO docs VALUES (1, 'one two three'), (2, ''), (3, 'Two, one; three'), (4, 'something else');
SELECT id, fp = simhash_bits(body, 128, 'word-1') AS filled FROM docs ORDER BY id;
TRUNCATE docs;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON docs FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '16', 'document=body', 'fill=minhash', 'profile=word-1');
INSERT INTO docs VALUES (1, 'one two three', NULL), (2, '', NULL), (4, 'else', minhash_bits('else', 128, 'word-1'));
SELECT id, fp = minhash_bits(body, 128, 'word-1') AS filled FROM docs ORDER BY id;
INSERT INTO docs VALUES (3, 'Two, one; three'); -- error
INSERT INTO docs VALUES (3, 'some', simhash_bits('some', 128, 'word-1')); -- error
UPDATE docs SET fp = fp # (1::bit(128) << 7) WHERE id = 1; -- error

----------------------------------------
-- errors
----------------------------------------

CREATE TABLE wrong (id int PRIMARY KEY, body text, fp bit(256), narrow bit(31), wide bit(1025), short bit(100), varying bit varying(256));
CREATE INDEX ON wrong USING hamming (fp);
CREATE INDEX ON wrong USING hamming (short);
CREATE FUNCTION complain(VARIADIC options text[]) RETURNS text LANGUAGE sql AS $$
    SELECT fails(format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON wrong FOR EACH ROW
        EXECUTE FUNCTION simhash_guard(%s);
        INSERT INTO wrong (id, body) VALUES (1, ''a b c'');
        DELETE FROM wrong', (SELECT string_agg(quote_literal(o), ', ') FROM unnest(options) AS o)))
$$;
SELECT complain('fp', 'skip', '256');
SELECT complain('fp', 'skip', '257');
SELECT complain('short', 'skip', '101');
SELECT complain('narrow', 'skip', '3');
SELECT complain('wide', 'skip', '3');
SELECT complain('varying', 'skip', '3');
SELECT complain('short', 'skip', '3', 'document=body', 'fill=simhash');
SELECT complain('fp', 'skip', '3', 'fingerprint=simhash_bits(body, 256)');
-- bit strings of any width, and one that another trigger makes too short
CREATE TABLE mixed AS SELECT 1 AS id, simhash_bits('some text', 128) AS fp;
CREATE TRIGGER guard BEFORE INSERT ON mixed FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
INSERT INTO mixed VALUES (2, simhash_bits('some text', 256)); -- error
INSERT INTO wrong (id, fp) VALUES (2, noise(255, 1)); -- error

DROP TABLE docs, parted, mixed, wrong;
DROP DOMAIN print;
DROP FUNCTION noise, flip, try, note_locks, locks, complain;
