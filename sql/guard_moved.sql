--
-- simhash_guard and rows that an UPDATE moves to another partition, which is a
-- DELETE and an INSERT: the decision is that of BEFORE UPDATE, and no row is
-- lost.  The rows are near each other since before the guard was there.
--

CREATE TABLE p (id int, day date, fp bigint, twin text) PARTITION BY RANGE (day);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE INDEX ON p USING hamming (fp);
ALTER TABLE p ADD PRIMARY KEY (id, day);
CREATE FUNCTION where_they_are() RETURNS TABLE (part regclass, ids int[])
LANGUAGE sql BEGIN ATOMIC
    SELECT tableoid::regclass, array_agg(id ORDER BY id) FROM p
    GROUP BY tableoid ORDER BY tableoid::regclass::text;
END;
INSERT INTO p SELECT i, '2026-01-05', i & 3 FROM generate_series(1, 5) AS i;

-- skip: nothing compared changes, so each row moves
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
UPDATE p SET day = '2026-02-15';
SELECT * FROM where_they_are();

-- the fingerprint changes, and is near others: the update leaves the old row
UPDATE p SET day = '2026-01-20', fp = 7 WHERE id = 3;
SELECT tableoid::regclass, day, fp FROM p WHERE id = 3;

-- the fingerprint changes, and is near no other: the row moves
UPDATE p SET day = '2026-01-20', fp = -1 WHERE id = 3;
SELECT * FROM where_they_are();

-- without a fingerprint
UPDATE p SET fp = NULL WHERE id = 3;
UPDATE p SET day = '2026-02-20' WHERE id = 3;
SELECT * FROM where_they_are();

-- MERGE: what it moves stays, what it inserts is compared
MERGE INTO p USING (VALUES (1), (99), (2)) AS v(id) ON p.id = v.id
WHEN MATCHED THEN UPDATE SET day = '2026-01-15'
WHEN NOT MATCHED THEN INSERT VALUES (99, '2026-01-03', 1);
SELECT * FROM where_they_are();

-- an update that does not move, and an insert like it, in one statement
INSERT INTO p VALUES (1, '2026-01-15', 1), (98, '2026-01-15', 1)
ON CONFLICT (id, day) DO UPDATE SET twin = 'again';
SELECT * FROM where_they_are();

-- another trigger changes the row on its way: refused, as it cannot be skipped
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.fp := 3; RETURN NEW; END $$;
CREATE TRIGGER change BEFORE INSERT ON p2 FOR EACH ROW EXECUTE FUNCTION change();
UPDATE p SET day = '2026-02-02' WHERE id = 1;   -- error
DROP TRIGGER change ON p2;
SELECT * FROM where_they_are();

-- nor when it gives a fingerprint to a row that had none
CREATE TRIGGER change BEFORE INSERT ON p1 FOR EACH ROW EXECUTE FUNCTION change();
UPDATE p SET day = '2026-01-02' WHERE id = 3;   -- error
DROP TRIGGER change ON p1;
SELECT * FROM where_they_are();

-- reject and mark
DROP TRIGGER guard ON p;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
UPDATE p SET day = '2026-02-16';
SELECT * FROM where_they_are();
DROP TRIGGER guard ON p;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
UPDATE p SET day = '2026-01-16';
SELECT * FROM where_they_are();
SELECT count(twin) AS marked FROM p;
DROP TRIGGER guard ON p;

-- a guard that skips and cannot know of moves is refused, and loses nothing
CREATE TRIGGER guard BEFORE INSERT ON p
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
UPDATE p SET day = '2026-02-16';                -- error
DROP TRIGGER guard ON p;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OF fp ON p
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
UPDATE p SET day = '2026-02-16';                -- error
DROP TRIGGER guard ON p;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p2
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
UPDATE p SET day = '2026-02-16';                -- error
DROP TRIGGER guard ON p2;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p FOR EACH ROW WHEN (NEW.id > 0)
EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
UPDATE p SET day = '2026-02-16';                -- error
DROP TRIGGER guard ON p;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON p
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
ALTER TABLE p1 DISABLE TRIGGER guard;
UPDATE p SET day = '2026-02-16';                -- error
ALTER TABLE p1 ENABLE ALWAYS TRIGGER guard;
UPDATE p SET day = '2026-02-16';                -- error
ALTER TABLE p1 ENABLE TRIGGER guard;
UPDATE p SET day = '2026-02-16';
SELECT * FROM where_they_are();
ALTER TABLE p2 DISABLE TRIGGER guard;
UPDATE p SET day = '2026-01-16';                -- error
ALTER TABLE p2 ENABLE TRIGGER guard;
UPDATE p SET day = '2026-01-16';
DROP TRIGGER guard ON p;
-- one for updates alone skips none that moves
CREATE TRIGGER guard BEFORE UPDATE OF fp ON p
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
UPDATE p SET fp = 7 WHERE id = 1;
UPDATE p SET day = '2026-02-16';
UPDATE p SET day = '2026-01-16';
SELECT id, fp FROM p WHERE id = 1;
DROP TRIGGER guard ON p;
SELECT * FROM where_they_are();
DROP FUNCTION where_they_are, change;
DROP TABLE p;

-- what another trigger changes on the way is compared: the document, the group
CREATE TABLE d (id int, part int, site text, body text,
    fp bigint GENERATED ALWAYS AS (simhash(left(body, 60))) STORED) PARTITION BY LIST (part);
CREATE TABLE d1 PARTITION OF d FOR VALUES IN (1);
CREATE TABLE d2 PARTITION OF d FOR VALUES IN (2);
CREATE INDEX ON d USING hamming (fp);
CREATE FUNCTION shared() RETURNS text LANGUAGE sql AS
$$ SELECT 'All human beings are born free and equal in dignity and rights.' $$;
INSERT INTO d VALUES
    (1, 1, 'a', shared() || ' They are endowed with reason and conscience and should act so.'),
    (2, 2, 'b', shared() || ' ' || (SELECT string_agg(md5(n::text), ' ') FROM generate_series(1, 30) AS n));
CREATE FUNCTION become() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.body := (SELECT body FROM d WHERE id = 2); NEW.site := 'b'; RETURN NEW; END $$;
CREATE TRIGGER become BEFORE INSERT ON d2 FOR EACH ROW EXECUTE FUNCTION become();
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON d FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'similarity=jaccard', 'document=body');
UPDATE d SET part = 2 WHERE id = 1;             -- error
DROP TABLE d;
-- a fingerprint from elsewhere, beside a fill: it stays as long as its document,
-- in a group or in none
CREATE TABLE f (id int, part int, site text, body text, fp bigint) PARTITION BY LIST (part);
CREATE TABLE f1 PARTITION OF f FOR VALUES IN (1);
CREATE TABLE f2 (fp bigint, body text, site text, part int, id int);
ALTER TABLE f ATTACH PARTITION f2 FOR VALUES IN (2);
CREATE INDEX ON f USING hamming (fp);
INSERT INTO f VALUES (1, 1, 'a', 'from elsewhere', 77), (2, 1, NULL, 'from there', 78),
    (3, 1, 'a', NULL, 79 # -1), (4, 1, 'a', 'from nowhere', NULL);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON f FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'document=body', 'fill=minhash', 'within=site');
UPDATE f SET part = 2;
SELECT id, part, body, fp, fp = minhash(body) AS filled FROM f ORDER BY id;
UPDATE f SET part = 1, body = body || ' again' RETURNING id, fp = minhash(body) AS filled;
UPDATE f SET part = 2, fp = 77 WHERE id = 1;    -- error
CREATE FUNCTION change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.body := NEW.body || ' and again'; RETURN NEW; END $$;
CREATE TRIGGER change BEFORE INSERT ON f2 FOR EACH ROW EXECUTE FUNCTION change();
UPDATE f SET part = 2 RETURNING id, body, fp = minhash(body) AS filled;
DROP TABLE f;
DROP FUNCTION change;
-- rows that were near each other before there was a guard that fills
CREATE TABLE f (id int, part int, body text, fp bigint) PARTITION BY LIST (part);
CREATE TABLE f1 PARTITION OF f FOR VALUES IN (1);
CREATE TABLE f2 PARTITION OF f FOR VALUES IN (2);
CREATE INDEX ON f USING hamming (fp);
INSERT INTO f SELECT n, 1, body, minhash(body) FROM generate_series(1, 2) AS n, (VALUES ('the same text')) AS v(body);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON f FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'document=body', 'fill=minhash');
UPDATE f SET part = 2 RETURNING id, part;
DROP TABLE f;
CREATE TABLE g (id int, part int, site text, fp bigint) PARTITION BY LIST (part);
CREATE TABLE g1 PARTITION OF g FOR VALUES IN (1);
CREATE TABLE g2 PARTITION OF g FOR VALUES IN (2);
CREATE INDEX ON g USING hamming (fp);
INSERT INTO g VALUES (1, 1, 'a', 0), (2, 2, 'b', 1);
CREATE OR REPLACE FUNCTION become() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN NEW.site := 'b'; RETURN NEW; END $$;
CREATE TRIGGER become BEFORE INSERT ON g2 FOR EACH ROW EXECUTE FUNCTION become();
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON g FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'within=site');
CREATE TRIGGER other BEFORE INSERT OR UPDATE ON g FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '0', 'within=part');
UPDATE g SET part = 2 WHERE id = 1;             -- error
DROP TABLE g;

-- in a table that is no heap, too: an insert beside an update is compared
CREATE ACCESS METHOD heap2 TYPE TABLE HANDLER heap_tableam_handler;
CREATE TABLE plain (id int PRIMARY KEY, fp bigint, n int) USING heap2;
CREATE TABLE parts (LIKE plain) PARTITION BY LIST (n);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1) USING heap2;
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2) USING heap2;
CREATE INDEX ON plain USING hamming (fp);
CREATE INDEX ON parts USING hamming (fp);
INSERT INTO plain VALUES (1, 0);
INSERT INTO parts VALUES (1, 0, 1), (2, 1, 1);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON plain
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parts
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
INSERT INTO plain VALUES (1, 0), (2, 0) ON CONFLICT (id) DO UPDATE SET n = 1;   -- error
MERGE INTO parts USING (VALUES (1), (99), (2)) AS v(id) ON parts.id = v.id
WHEN MATCHED THEN UPDATE SET n = 2 WHEN NOT MATCHED THEN INSERT VALUES (99, 0, 1);
SELECT tableoid::regclass, id FROM parts ORDER BY id;
DROP TABLE plain, parts;
DROP ACCESS METHOD heap2;
DROP FUNCTION shared, become;
