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
SELECT * FROM where_they_are();
DROP FUNCTION where_they_are, change;
DROP TABLE p;
