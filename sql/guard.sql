--
-- guard_trigger.c, near_bind.c, near_statement.c, near_space.c, near_lock.c,
-- near_search.c: simhash_guard
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- fingerprints of n bits, the lowest ones
CREATE FUNCTION bits(n int) RETURNS bigint IMMUTABLE LANGUAGE sql AS
    'SELECT CASE n WHEN 64 THEN -1 ELSE (1::bigint << n) - 1 END';

----------------------------------------
-- as docs/guard.md has it
----------------------------------------

CREATE TABLE docs (id bigint PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO docs VALUES (1, 'the quick brown fox');
INSERT INTO docs VALUES (2, 'The quick, brown fox!'); -- error
ALTER TABLE docs ENABLE ALWAYS TRIGGER guard;
DROP TABLE docs;

----------------------------------------
-- reject
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, fp bigint, note text);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO docs VALUES (1, 0), (2, bits(8)), (3, NULL), (4, NULL);
DO $$ BEGIN INSERT INTO docs VALUES (5, bits(3));
EXCEPTION WHEN SQLSTATE '23P01' THEN RAISE NOTICE 'caught %', SQLSTATE; END $$;
INSERT INTO docs VALUES (5, bits(3)); -- error
INSERT INTO docs VALUES (5, bits(6)); -- error
INSERT INTO docs VALUES (5, bits(4));
INSERT INTO docs VALUES (6, bits(20)), (7, bits(40)), (8, bits(41)); -- error
INSERT INTO docs SELECT 10 + n, bits(n) FROM generate_series(40, 48) AS n; -- error
-- unchanged and changed
UPDATE docs SET note = 'seen', id = id WHERE id = 1;
UPDATE docs SET fp = fp WHERE id = 1;
UPDATE docs SET fp = fp # (1::bigint << 62) WHERE id = 1;
UPDATE docs SET fp = bits(7) WHERE id = 1; -- error
UPDATE docs SET fp = NULL WHERE id = 4;
UPDATE docs SET fp = bits(9) WHERE id = 4; -- error
DELETE FROM docs WHERE id = 2;
INSERT INTO docs VALUES (2, bits(9));
-- ON CONFLICT comes after the trigger, which passes over the row of the same key
INSERT INTO docs VALUES (2, bits(9)) ON CONFLICT DO NOTHING;
INSERT INTO docs VALUES (2, bits(30)) ON CONFLICT DO NOTHING;
INSERT INTO docs VALUES (2, bits(30)) ON CONFLICT (id) DO UPDATE SET fp = excluded.fp;
SELECT id, hamming(fp, 0) AS bits, note FROM docs ORDER BY id;
COPY docs (id, fp) FROM stdin; -- error
20	-1
21	-2
\.
SELECT count(*) FROM docs WHERE id > 19;

----------------------------------------
-- skip
----------------------------------------

CREATE TABLE skipped (id int PRIMARY KEY, fp bigint);
SELECT simhash_add_keys('skipped', 'fp') \g /dev/null
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON skipped
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
\set QUIET off
INSERT INTO skipped VALUES (1, 0);
INSERT INTO skipped VALUES (2, 1);
INSERT INTO skipped SELECT n, bits(n) FROM generate_series(2, 20) AS n;
COPY skipped (id, fp) FROM stdin;
30	-1
31	-2
32	-1
\.
UPDATE skipped SET fp = 0 WHERE id = 30;
\set QUIET on
SELECT id, hamming(fp, 0) AS bits FROM skipped ORDER BY id;
DROP TRIGGER guard ON skipped;
CREATE TRIGGER guard BEFORE INSERT ON skipped FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'notice');
INSERT INTO skipped VALUES (40, 3);

----------------------------------------
-- mark
----------------------------------------

CREATE TABLE marked (id int PRIMARY KEY, fp bigint, twin int REFERENCES marked);
CREATE INDEX ON marked USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON marked
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO marked (id, fp) VALUES (1, 0), (2, bits(3)), (3, bits(4)), (4, -1);
INSERT INTO marked VALUES (5, bits(30), 1), (6, NULL, 1);
UPDATE marked SET fp = 0 WHERE id = 5;
UPDATE marked SET fp = bits(40) WHERE id = 3;
SELECT id, hamming(fp, 0) AS bits, twin FROM marked ORDER BY id;
-- what changes nothing that is compared changes no mark, whatever it writes
CREATE TABLE noted (id int PRIMARY KEY, site text, body text, fp bigint, twin int);
CREATE INDEX ON noted USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON noted FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'mark', '3', 'mark=twin', 'within=site');
INSERT INTO noted VALUES (1, 'a', 'x', 0), (2, 'a', 'x', 1), (3, 'a', 'x', -1);
UPDATE noted SET twin = NULL WHERE id = 2 RETURNING *;
UPDATE noted SET twin = 7 WHERE id > 1 RETURNING *;
UPDATE noted SET (body, fp, twin) = ('y', fp, NULL) WHERE id = 2 RETURNING *;
INSERT INTO noted VALUES (2, 'a', 'z', 1) ON CONFLICT (id)
    DO UPDATE SET (body, twin) = ROW (excluded.body, NULL) RETURNING *;
UPDATE noted SET fp = 4, twin = NULL WHERE id = 2 RETURNING *;
UPDATE noted SET site = 'b', twin = 1 WHERE id = 2 RETURNING *;
UPDATE noted SET site = 'a' WHERE id = 2 RETURNING *;
UPDATE noted SET fp = NULL WHERE id = 2 RETURNING *;
DROP TABLE noted;
-- unless a foreign key writes it
CREATE TABLE tied (id int PRIMARY KEY, fp bigint,
    twin int REFERENCES tied ON DELETE SET NULL ON UPDATE CASCADE);
CREATE INDEX ON tied USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON tied FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO tied VALUES (1, 0), (2, 1);
UPDATE tied SET id = 5 WHERE id = 1;
SELECT * FROM tied ORDER BY id;
DELETE FROM tied WHERE id = 5;
SELECT * FROM tied ORDER BY id;
DROP TABLE tied;
-- a key of several columns is a list in JSON
CREATE TABLE pairs (a int, b text, fp bigint, twin text, PRIMARY KEY (a, b));
CREATE INDEX ON pairs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON pairs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO pairs VALUES (1, 'x y', 0), (2, 'z', 1);
SELECT a, b, twin FROM pairs ORDER BY a;
-- whatever the settings of the session
CREATE TABLE written (day date, f float8, took interval, at timestamptz, b bytea, fp bigint, twin text,
    PRIMARY KEY (day, f, took, at, b));
CREATE INDEX ON written USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON written FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO written VALUES ('2026-02-01', 0.1::float8 + 0.2, '1 day 2 hours', '2026-02-01 00:00+00', 'a', 0);
BEGIN;
SET LOCAL datestyle = 'SQL, DMY'; SET LOCAL extra_float_digits = -5; SET LOCAL intervalstyle = 'sql_standard';
SET LOCAL timezone = 'Asia/Tokyo'; SET LOCAL bytea_output = 'escape';
INSERT INTO written VALUES ('02-01-2026', 1, '1 hour', '2026-02-02 00:00+00', 'b', 1);
SELECT day, twin FROM written ORDER BY day, f;
COMMIT;
SELECT day, twin FROM written ORDER BY day, f;
DROP TABLE written;
-- so that different keys are never alike
CREATE TABLE lists (a text, b text, fp bigint, twin text, PRIMARY KEY (a, b));
CREATE INDEX ON lists USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON lists FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'mark=twin');
INSERT INTO lists VALUES ('c, d', 'e', 0), ('c', 'd, e', -1), ('"', '\', bits(20)), ('', '["', bits(40)),
    ('near', '1', 1), ('near', '2', -2), ('near', '3', bits(21)), ('near', '4', bits(41));
SELECT a, b, twin, ARRAY(SELECT l.fp <~> lists.fp FROM lists AS l WHERE lists.twin::jsonb = jsonb_build_array(l.a, l.b)) AS distance
FROM lists WHERE a = 'near' ORDER BY b;
ALTER TABLE lists ALTER twin TYPE jsonb USING twin::jsonb;
INSERT INTO lists VALUES ('near', '5', bits(19)) RETURNING twin, twin ->> 1;
ALTER TABLE lists DROP CONSTRAINT lists_pkey, ADD PRIMARY KEY (b);
INSERT INTO lists VALUES ('near', '6', bits(18)) RETURNING twin;
DROP TABLE lists;
ALTER TABLE pairs DROP COLUMN twin;
ALTER TABLE pairs ADD COLUMN twin bigint;
INSERT INTO pairs VALUES (3, 'z', 1); -- error
ALTER TABLE pairs DROP CONSTRAINT pairs_pkey;
INSERT INTO pairs VALUES (3, 'z', 1); -- error

-- a deferrable key names rows as well
ALTER TABLE pairs DROP COLUMN twin;
ALTER TABLE pairs ADD COLUMN twin text,
    ADD PRIMARY KEY (b, a) DEFERRABLE INITIALLY DEFERRED;
INSERT INTO pairs VALUES (4, 'u', 2);
SELECT twin FROM pairs WHERE a = 4;
CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON pairs FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '0');
INSERT INTO pairs VALUES (5, 'u', 1); -- error

----------------------------------------
-- documents
----------------------------------------

-- filled by the trigger
CREATE TABLE texts (id int PRIMARY KEY, body text, fp bigint);
CREATE INDEX ON texts USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON texts FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'document=body', 'fill=simhash');
INSERT INTO texts VALUES (1, 'the quick brown fox'), (2, ''), (3, NULL);
SELECT id, fp = simhash(body) AS filled FROM texts ORDER BY id;
INSERT INTO texts VALUES (4, 'The quick, brown fox!'); -- error
UPDATE texts SET body = 'the QUICK brown fox' WHERE id = 1;
UPDATE texts SET body = 'something else altogether' WHERE id = 1;
SELECT id, fp = simhash(body) AS filled FROM texts ORDER BY id;
-- rows that were there before get their fingerprints, near each other or not
ALTER TABLE texts DISABLE TRIGGER guard;
INSERT INTO texts VALUES (5, 'The quick, brown fox'), (6, 'the quick brown FOX'), (7, 'Quick, the brown');
ALTER TABLE texts ENABLE TRIGGER guard;
UPDATE texts SET fp = NULL WHERE fp IS NULL AND body IS NOT NULL;
SELECT id, fp = simhash(body) AS filled FROM texts ORDER BY id;
UPDATE texts SET fp = NULL;
INSERT INTO texts VALUES (8, 'the quick brown fox'); -- error
UPDATE texts SET body = 'something else, altogether' WHERE id = 5; -- error
ALTER TABLE texts DISABLE TRIGGER guard;
UPDATE texts SET fp = NULL WHERE id IN (3, 7);
ALTER TABLE texts ENABLE TRIGGER guard;
UPDATE texts SET body = 'THE quick brown fox' WHERE id = 7; -- error
UPDATE texts SET body = 'THE quick brown fox' WHERE id = 3; -- error
CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON texts FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'skip', '3', 'document=body', 'fill=simhash', 'similarity=jaccard', 'at_least=0.5');
UPDATE texts SET body = 'THE quick brown fox' WHERE id = 7;
UPDATE texts SET id = 9 WHERE id = 7;
SELECT id, body, fp = simhash(body) AS filled FROM texts WHERE id > 5 ORDER BY id;
CREATE TABLE profiled (id int PRIMARY KEY, body text, fp bigint);
CREATE INDEX ON profiled USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON profiled FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'skip', '0', 'document=body', 'fill=simhash', 'profile=word-1');
INSERT INTO profiled VALUES (1, 'one two three'), (2, 'one two three');
SELECT id, fp = simhash(body, 'word-1') AS filled FROM profiled;
-- by minhash, whose measure is Jaccard's; one that is given has to be the same
CREATE TABLE filled (id int PRIMARY KEY, body text, fp bigint, note int);
CREATE INDEX ON filled USING hamming (fp);
INSERT INTO filled VALUES (0, 'from elsewhere', 77);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON filled FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '12', 'document=body', 'fill=minhash', 'similarity=jaccard', 'at_least=0.5');
INSERT INTO filled VALUES (1, 'all human beings are born free and equal in dignity'), (2, ''), (3, NULL);
SELECT id, fp = minhash(body) AS filled FROM filled ORDER BY id;
INSERT INTO filled VALUES (4, 'All human beings are born free and equal in rights'); -- error
INSERT INTO filled VALUES (4, 'four', 4); -- error
INSERT INTO filled VALUES (4, NULL, 4); -- error
INSERT INTO filled VALUES (4, 'four', simhash('four')); -- error
INSERT INTO filled VALUES (4, 'four', minhash('four')), (5, 'five', NULL);
COPY filled (id, body, fp) FROM stdin; -- error
6	six	6
\.
UPDATE filled SET fp = 4 WHERE id = 4; -- error
UPDATE filled SET fp = 4, body = 'vier' WHERE id = 4; -- error
UPDATE filled SET fp = minhash('vier'), body = 'vier' WHERE id = 4;
UPDATE filled SET fp = fp, body = 'quattro' WHERE id = 4;
INSERT INTO filled VALUES (5, 'cinque') ON CONFLICT (id) DO UPDATE SET (body, fp) = (excluded.body, excluded.fp);
SELECT id, body, fp = minhash(body) AS filled FROM filled WHERE id > 3 ORDER BY id;
UPDATE filled SET body = NULL WHERE id = 4 RETURNING fp;
-- what is stored stays as long as the document does
UPDATE filled SET note = 1, body = body, fp = 77 WHERE id = 0 RETURNING fp;
UPDATE filled SET fp = NULL WHERE id = 0 RETURNING fp = minhash(body) AS filled;
ALTER TABLE filled DISABLE TRIGGER guard;
UPDATE filled SET fp = 77 WHERE id = 0;
ALTER TABLE filled ENABLE TRIGGER guard;
UPDATE filled SET body = 'from here' WHERE id = 0 RETURNING fp = minhash(body) AS filled;
DROP TABLE filled;
-- generated, with a hamming index and with keys
CREATE TABLE generated (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
CREATE INDEX generated_fp ON generated USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON generated FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO generated VALUES (1, 'the quick brown fox');
INSERT INTO generated VALUES (2, 'The quick, brown fox!'); -- error
DROP INDEX generated_fp;
INSERT INTO generated VALUES (2, 'something else'); -- error
SELECT simhash_add_keys('generated', 'fp') \g /dev/null
INSERT INTO generated VALUES (2, 'The quick, brown fox!'); -- error
INSERT INTO generated VALUES (2, 'something else');
UPDATE generated SET id = 3 WHERE id = 2;
UPDATE generated SET body = 'the quick brown fox' WHERE id = 3; -- error

-- one that is another column, whose keys are the same
CREATE TABLE copied (id int PRIMARY KEY, n bigint, fp bigint GENERATED ALWAYS AS (n) STORED);
SELECT simhash_add_keys('copied', 'fp') \g /dev/null
CREATE TRIGGER guard BEFORE INSERT ON copied FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO copied VALUES (1, 0);
INSERT INTO copied VALUES (2, 1); -- error

-- one that asks which table it is
CREATE TABLE tables (id int PRIMARY KEY, fp bigint GENERATED ALWAYS AS
    (id # tableoid::int8 << 32) STORED);
CREATE INDEX ON tables USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON tables FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '1');
INSERT INTO tables VALUES (0);
INSERT INTO tables VALUES (1); -- error
DROP TABLE tables;
-- a row that another trigger takes back to what is stored, where columns are
-- missing that were added since
CREATE TABLE added (id int PRIMARY KEY);
INSERT INTO added VALUES (1);
ALTER TABLE added ADD body text DEFAULT 'stays', ADD fp bigint;
CREATE INDEX ON added USING hamming (fp);
CREATE FUNCTION take_back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN old; END';
CREATE TRIGGER before BEFORE UPDATE ON added FOR EACH ROW EXECUTE FUNCTION take_back();
CREATE TRIGGER guard BEFORE UPDATE ON added FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '1', 'document=body', 'fill=simhash');
UPDATE added SET id = 2;
SELECT id, body, fp = simhash(body) AS filled FROM added;
DROP TABLE added;
DROP FUNCTION take_back;

----------------------------------------
-- types of columns
----------------------------------------

-- what the trigger writes obeys the column's type, a domain's constraints too
CREATE DOMAIN small AS bigint CHECK (value < 100);
CREATE DOMAIN print AS bigint;
CREATE TABLE typed (id int PRIMARY KEY, body varchar(100), fp print, twin small);
CREATE INDEX ON typed USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON typed FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'document=body', 'fill=simhash', 'mark=twin');
INSERT INTO typed VALUES (7, 'one two three'), (200, 'four five six'), (8, 'One, two, three');
SELECT id, fp = simhash(body) AS filled, twin FROM typed ORDER BY id;
INSERT INTO typed VALUES (9, 'four five six'); -- error
ALTER DOMAIN print ADD CHECK (value <> simhash('seven eight nine'));
INSERT INTO typed VALUES (9, 'seven eight nine'); -- error
ALTER TABLE typed ALTER COLUMN twin TYPE varchar(2);
INSERT INTO typed VALUES (9, 'four five six'); -- error
ALTER TABLE typed ALTER COLUMN twin TYPE date USING NULL;
INSERT INTO typed VALUES (9, 'four five six'); -- error
-- a column that was dropped, one that is renamed, an index that goes
CREATE TABLE altered (gone int, id int PRIMARY KEY, fp bigint);
CREATE INDEX altered_fp ON altered USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON altered FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO altered VALUES (0, 1, 0);
ALTER TABLE altered DROP COLUMN gone, ADD COLUMN new int DEFAULT 7;
INSERT INTO altered VALUES (2, 1); -- error
INSERT INTO altered VALUES (2, -1);
ALTER TABLE altered ALTER COLUMN new TYPE text;
INSERT INTO altered VALUES (3, -2); -- error
DROP INDEX altered_fp;
INSERT INTO altered VALUES (3, bits(30)); -- error
UPDATE altered SET new = 'x' WHERE id = 1; -- nothing is searched
SELECT simhash_add_keys('altered', 'fp') \g /dev/null
INSERT INTO altered VALUES (3, -2); -- error
INSERT INTO altered VALUES (3, bits(30));
SELECT simhash_drop_keys('altered') \g /dev/null
CREATE INDEX altered_part ON altered USING hamming (fp) WHERE id > 0;
INSERT INTO altered VALUES (4, bits(40)); -- error
-- an index that is invalid, one of some rows alone, one of a constraint
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'altered_part'::regclass;
INSERT INTO altered VALUES (4, bits(40)); -- error
DROP INDEX altered_part;
CREATE INDEX "Altered fp" ON altered USING hamming (fp);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = '"Altered fp"'::regclass;
INSERT INTO altered VALUES (4, bits(31)); -- error
REINDEX INDEX CONCURRENTLY public."Altered fp";
INSERT INTO altered VALUES (4, bits(31)); -- error
DROP INDEX "Altered fp";
ALTER TABLE altered ADD CONSTRAINT altered_alone EXCLUDE USING hamming (fp WITH ~=);
UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'altered_alone'::regclass;
INSERT INTO altered VALUES (4, bits(31)); -- error
REINDEX INDEX public.altered_alone;
INSERT INTO altered VALUES (4, bits(31)); -- error
ALTER TABLE altered DROP CONSTRAINT altered_alone;
CREATE INDEX ON altered USING hamming (fp);
INSERT INTO altered VALUES (4, bits(31)); -- error
TRUNCATE altered;
INSERT INTO altered VALUES (4, bits(31));
ALTER TABLE altered RENAME COLUMN fp TO print;
INSERT INTO altered VALUES (5, -1); -- error
ALTER TABLE altered RENAME COLUMN print TO fp;
-- a document whose fingerprint cannot be computed
CREATE FUNCTION fail(body text) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF body = 'bad' THEN RAISE 'cannot read %', body; END IF;
    RETURN simhash(body);
END $$;
CREATE TABLE failing (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (fail(body)) STORED);
CREATE INDEX ON failing USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON failing FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
BEGIN;
INSERT INTO failing VALUES (1, 'a b c');
SAVEPOINT here;
INSERT INTO failing VALUES (2, 'd e f'), (3, 'bad'); -- error
ROLLBACK TO here;
INSERT INTO failing VALUES (4, 'd e f'), (5, 'A, b, c'), (6, NULL), (7, '...'), (8, '');
COMMIT;
SELECT id, body FROM failing ORDER BY id;

-- a type of ours that somebody has altered
DO $$
BEGIN
    ALTER TYPE hamming_ball ADD ATTRIBUTE more text;
    INSERT INTO altered VALUES (99, 0);
    RAISE 'not noticed';
EXCEPTION
    WHEN raise_exception THEN RAISE;
    WHEN OTHERS THEN NULL;      -- noticed, and undone
END $$;

----------------------------------------
-- replication, inheritance, MERGE
----------------------------------------

SET session_replication_role = replica;
INSERT INTO altered VALUES (6, bits(31));
DELETE FROM altered WHERE id = 6;
ALTER TABLE altered ENABLE ALWAYS TRIGGER guard;
INSERT INTO altered VALUES (6, bits(31)); -- error
RESET session_replication_role;
-- a child has neither the trigger nor the index, as with any index
CREATE TABLE child () INHERITS (altered);
INSERT INTO child VALUES (7, bits(31));
INSERT INTO altered VALUES (8, bits(50));
MERGE INTO altered AS a USING (VALUES (8, bits(31)), (9, bits(31))) AS v (id, fp)
    ON a.id = v.id WHEN MATCHED THEN UPDATE SET fp = v.fp
    WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.fp); -- error
MERGE INTO altered AS a USING (VALUES (8, bits(51)), (9, bits(60))) AS v (id, fp)
    ON a.id = v.id WHEN MATCHED THEN UPDATE SET fp = v.fp
    WHEN NOT MATCHED THEN INSERT VALUES (v.id, v.fp);
SELECT tableoid::regclass, id, hamming(fp, 0) AS bits FROM altered ORDER BY id;

----------------------------------------
-- distances
----------------------------------------

CREATE TABLE far (id serial PRIMARY KEY, fp bigint);
CREATE INDEX far_fp ON far USING hamming (fp);
CREATE FUNCTION try(k int) RETURNS TABLE (inside int, outside int)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON far
        FOR EACH ROW EXECUTE FUNCTION simhash_guard(fp, skip, %s)', k);
    TRUNCATE far;
    INSERT INTO far (fp) VALUES (0);
    INSERT INTO far (fp) VALUES (bits(k));
    GET DIAGNOSTICS inside = ROW_COUNT;
    INSERT INTO far (fp) SELECT bits(k + 1) WHERE k < 64;
    GET DIAGNOSTICS outside = ROW_COUNT;
    RETURN NEXT;
END $$;
SELECT k, try(k) FROM unnest(ARRAY[0, 1, 3, 4, 8, 9, 20, 64]) AS k;
DROP INDEX far_fp;
SELECT simhash_add_keys('far', 'fp') \g /dev/null
SELECT k, try(k) FROM unnest(ARRAY[0, 1, 3, 4, 8, 9, 20, 64]) AS k;

----------------------------------------
-- two guards of a row, and triggers that insert
----------------------------------------

CREATE TABLE two (id int PRIMARY KEY, fp bigint, twin int);
CREATE INDEX ON two USING hamming (fp);
CREATE TRIGGER a BEFORE INSERT ON two FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'skip', '1');
CREATE TRIGGER b BEFORE INSERT ON two FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '6', 'mark=twin');
CREATE FUNCTION insert_half() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id < 100 THEN INSERT INTO two VALUES (new.id + 100, ~new.fp); END IF;
    RETURN new;
END $$;
CREATE TRIGGER c BEFORE INSERT ON two FOR EACH ROW
    EXECUTE FUNCTION insert_half();
INSERT INTO two VALUES (1, 0), (2, 1), (3, 3);
SELECT * FROM two ORDER BY id;

-- nested deeply: each row inserts the next one, before it is in and after
CREATE TABLE deep (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON deep USING hamming (fp);
CREATE TRIGGER a BEFORE INSERT ON deep FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
CREATE FUNCTION insert_next() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id % 100 < 50 THEN
        INSERT INTO deep VALUES (new.id + 1, hashint8extended(new.id, 3));
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER b BEFORE INSERT ON deep FOR EACH ROW
    EXECUTE FUNCTION insert_next();
INSERT INTO deep VALUES (1, 0);
CREATE OR REPLACE TRIGGER b AFTER INSERT ON deep FOR EACH ROW
    EXECUTE FUNCTION insert_next();
INSERT INTO deep VALUES (101, -1);
SELECT id / 100 AS hundreds, count(*) FROM deep GROUP BY 1 ORDER BY 1;

----------------------------------------
-- how long locks are held
----------------------------------------

CREATE TABLE held (id int PRIMARY KEY, fp bigint);
CREATE INDEX held_fp ON held USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON held FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO held VALUES (1, 0);
CREATE FUNCTION guard_locks() RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FROM pg_locks
    WHERE pid = pg_backend_pid() AND locktype = 'advisory' $$;
-- a row is refused, while what has inserted it lives on: a function in SQL
CREATE FUNCTION insert_held(id int, fp bigint) RETURNS int LANGUAGE sql AS
    'INSERT INTO held VALUES (id, fp) RETURNING id';
DO $$
DECLARE
    done int;
BEGIN
    BEGIN
        done := insert_held(2, 1);
    EXCEPTION WHEN SQLSTATE '23P01' THEN
        RAISE NOTICE 'refused; % locks', guard_locks();
    END;
END $$;
-- a cursor that was opened before the savepoint
DO $$
DECLARE
    rows refcursor;
    done int;
BEGIN
    OPEN rows FOR EXECUTE 'INSERT INTO held VALUES (2, 1) RETURNING id';
    BEGIN
        FETCH rows INTO done;
    EXCEPTION WHEN SQLSTATE '23P01' THEN
        RAISE NOTICE 'refused; % locks', guard_locks();
    END;
    INSERT INTO held VALUES (3, -1);
    CLOSE rows;
    RAISE NOTICE 'closed; % locks', guard_locks();
END $$;
-- in a trigger of another row, whose own locks stay
CREATE FUNCTION try_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id < 100 THEN
        RAISE NOTICE 'row %: % locks', new.id, guard_locks();
        BEGIN
            INSERT INTO held VALUES (new.id + 100, 1);
        EXCEPTION WHEN SQLSTATE '23P01' THEN
            RAISE NOTICE 'refused; % locks', guard_locks();
        END;
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER try BEFORE INSERT ON held FOR EACH ROW
    EXECUTE FUNCTION try_again();
INSERT INTO held VALUES (5, bits(20)), (6, bits(40));
DROP TRIGGER try ON held;
-- a constraint inserts a row of the same fingerprint, and takes it back, before
-- the row that it checks is in: the locks of that one stay
CREATE FUNCTION insert_same(id int, fp bigint) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    IF id = 7 THEN
        BEGIN
            INSERT INTO held VALUES (107, fp);
            RAISE 'back';
        EXCEPTION WHEN raise_exception THEN
            RAISE NOTICE '% locks', guard_locks();
        END;
    END IF;
    RETURN true;
END $$;
ALTER TABLE held ADD CHECK (insert_same(id, fp));
INSERT INTO held VALUES (7, bits(30));
-- each insertion of a loop is a statement: what has changed since is seen
DO $$
BEGIN
    FOR i IN 10 .. 13 LOOP
        INSERT INTO held VALUES (i, hashint8extended(i, 1));
        IF i = 10 THEN
            DROP INDEX held_fp;
            PERFORM simhash_add_keys('held', 'fp');
        ELSIF i = 11 THEN
            CREATE INDEX held_fp ON held USING hamming (fp);
            PERFORM simhash_drop_keys('held');
        ELSIF i = 12 THEN
            DROP INDEX held_fp;
        END IF;
    END LOOP;
END $$; -- error
SELECT count(*) FROM held;

----------------------------------------
-- partitions
----------------------------------------

CREATE TABLE parted (fp bigint, id int, region text, PRIMARY KEY (id, region))
    PARTITION BY LIST (region);
CREATE TABLE parted_n PARTITION OF parted FOR VALUES IN ('n');
CREATE TABLE parted_s (region text NOT NULL, id int NOT NULL, fp bigint);
ALTER TABLE parted ATTACH PARTITION parted_s FOR VALUES IN ('s');
CREATE INDEX parted_fp ON parted USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parted
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO parted VALUES (0, 1, 'n'), (-1, 2, 's');
INSERT INTO parted VALUES (1, 3, 's'); -- error
INSERT INTO parted VALUES (-2, 3, 's'); -- error
INSERT INTO parted_n VALUES (-2, 3, 'n'); -- error
UPDATE parted SET region = 's' WHERE id = 1;
SELECT tableoid::regclass, * FROM parted ORDER BY id;
-- a partition that comes, and one that goes
CREATE TABLE parted_w (LIKE parted);
INSERT INTO parted_w VALUES (bits(50), 9, 'w');
ALTER TABLE parted ATTACH PARTITION parted_w FOR VALUES IN ('w');
INSERT INTO parted VALUES (bits(51), 3, 'n'); -- error
ALTER TABLE parted DETACH PARTITION parted_w;
INSERT INTO parted VALUES (bits(51), 3, 'n');
INSERT INTO parted_w VALUES (bits(51), 3, 'n');
-- partitions of partitions, and rows that move between them
CREATE TABLE parted_e PARTITION OF parted FOR VALUES IN ('e1', 'e2')
    PARTITION BY LIST (region);
CREATE TABLE parted_e1 PARTITION OF parted_e FOR VALUES IN ('e1');
CREATE TABLE parted_e2 PARTITION OF parted_e FOR VALUES IN ('e2');
INSERT INTO parted VALUES (bits(30), 4, 'e1');
INSERT INTO parted VALUES (bits(31), 5, 'e2'); -- error
UPDATE parted SET region = 'e2' WHERE id = 4;
UPDATE parted SET region = 'n', fp = bits(31) WHERE id = 4;
UPDATE parted SET region = 'e1', fp = bits(49) WHERE id = 4; -- error
COPY parted FROM stdin; -- error
6148914691236517205	6	n
6148914691236517204	7	e1
\.
-- the trigger goes on after an error, in a loop, and as partitions come and go
DO $$
BEGIN
    FOR i IN 1 .. 6 LOOP
        BEGIN
            INSERT INTO parted SELECT hashint8extended(100 * (i % 4) + n, 1),
                100 * i + n, CASE n % 2 WHEN 0 THEN 'n' ELSE 's' END
            FROM generate_series(1, 4) AS n;
            RAISE NOTICE 'round %: inserted', i;
        EXCEPTION WHEN SQLSTATE '23P01' THEN
            RAISE NOTICE 'round %: %', i, SQLERRM;
        END;
        IF i = 2 THEN
            ALTER TABLE parted DETACH PARTITION parted_s;
            CREATE TABLE parted_t PARTITION OF parted FOR VALUES IN ('s');
        ELSIF i = 4 THEN
            DROP TABLE parted_t;
            ALTER TABLE parted ATTACH PARTITION parted_s FOR VALUES IN ('s');
        END IF;
    END LOOP;
END $$;
SELECT tableoid::regclass, count(*) FROM parted GROUP BY 1 ORDER BY 1;
-- a trigger that alters the partitions meanwhile
CREATE FUNCTION alter_partitions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id = 1001 THEN
        CREATE INDEX parted_more ON parted_u USING hamming (fp);
    ELSIF new.id = 1002 THEN
        DROP INDEX parted_more;
    ELSIF new.id = 1003 THEN
        INSERT INTO parted VALUES (hashint8extended(1004, 2), 1, 'u');
    ELSIF new.id = 1005 THEN
        DROP TABLE parted_u;
    END IF;
    RETURN new;
END $$;
CREATE TRIGGER later BEFORE INSERT ON parted_s FOR EACH ROW
    EXECUTE FUNCTION alter_partitions();
CREATE TABLE parted_u PARTITION OF parted FOR VALUES IN ('u');
INSERT INTO parted SELECT hashint8extended(n, 2), n, 's'
FROM generate_series(1001, 1004) AS n; -- error
INSERT INTO parted SELECT hashint8extended(n % 2, 2), n, 's'
FROM generate_series(1005, 1007) AS n; -- error
INSERT INTO parted SELECT hashint8extended(n, 2), n, 's'
FROM generate_series(1005, 1007) AS n;
DROP TRIGGER later ON parted_s;
DROP FUNCTION alter_partitions;
-- a partition that cannot be searched
CREATE FOREIGN DATA WRAPPER regress_guard_writer;
CREATE SERVER regress_guard_writer FOREIGN DATA WRAPPER regress_guard_writer;
CREATE TABLE mixed (fp bigint, region text) PARTITION BY LIST (region);
CREATE TABLE mixed_n PARTITION OF mixed FOR VALUES IN ('n');
CREATE FOREIGN TABLE mixed_f PARTITION OF mixed FOR VALUES IN ('f')
    SERVER regress_guard_writer;
CREATE INDEX ON mixed USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON mixed
    FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
INSERT INTO mixed VALUES (0, 'n'); -- error
DROP FOREIGN TABLE mixed_f;
INSERT INTO mixed VALUES (0, 'n');
DROP SERVER regress_guard_writer;
DROP FOREIGN DATA WRAPPER regress_guard_writer;
DROP INDEX parted_fp;
INSERT INTO parted VALUES (bits(30), 3, 's'); -- error

----------------------------------------
-- partitions of many rows
----------------------------------------

CREATE TABLE spread (id int, fp bigint) PARTITION BY LIST (mod(id, 10));
SELECT format('CREATE TABLE spread_%1$s PARTITION OF spread FOR VALUES IN (%1$s)', n)
FROM generate_series(0, 9) AS n \gexec
INSERT INTO spread SELECT n, hashint8extended(n, 1) FROM generate_series(1, 4000) AS n;
-- a crowd, which agrees in block 1 and fills several pages
INSERT INTO spread SELECT 10 * n, hashint8extended(n, 2) & ~(65535::bigint << 32)
FROM generate_series(401, 1400) AS n;
CREATE INDEX ON spread USING hamming (fp);
-- insert rows that are up to five bits from others; how many are kept, and how
-- many of all should not have been, or not been skipped
CREATE FUNCTION try_near(k int, rows int) RETURNS text LANGUAGE plpgsql
SET enable_indexscan = off SET enable_bitmapscan = off AS $$
DECLARE
    first int := (SELECT max(id) FROM spread);
    kept int;
    wrong int;
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT OR UPDATE ON spread
        FOR EACH ROW EXECUTE FUNCTION simhash_guard(''fp'', ''skip'', ''%s'')', k);
    CREATE TEMP TABLE tried ON COMMIT DROP AS
    SELECT first + n AS id, s.fp # (SELECT bit_or(CASE WHEN i < n % 6 THEN 1::bigint << (n * (2 * i + 1) % 64)
                                                  ELSE 0 END)
                                    FROM generate_series(0, 4) AS i) AS fp
    FROM generate_series(1, rows) AS n, (SELECT row_number() OVER (ORDER BY id) AS nth, fp FROM spread) AS s
    WHERE nth = (first + n * 37) % (SELECT count(*) FROM spread) + 1;
    INSERT INTO spread SELECT * FROM tried ORDER BY id;
    SELECT count(*) FILTER (WHERE is_in), count(*) FILTER (WHERE is_in = is_near) INTO kept, wrong
    FROM (SELECT EXISTS (SELECT FROM spread AS m WHERE m.id = t.id) AS is_in,
              EXISTS (SELECT FROM spread AS m WHERE m.id < t.id AND hamming(m.fp, t.fp) <= k) AS is_near
          FROM tried AS t) AS s;
    DROP TABLE tried;
    RETURN format('within %s: kept %s, wrong %s', k, kept, wrong);
END $$;
SELECT try_near(k, 150) FROM generate_series(1, 3, 2) AS k;
-- pages that are split meanwhile
INSERT INTO spread SELECT n, hashint8extended(n, 1) FROM generate_series(20001, 24000) AS n;
SELECT try_near(k, 150) FROM generate_series(1, 3, 2) AS k;
-- rows that are dead, and pages that are deleted
DELETE FROM spread WHERE id % 4 > 0;
SELECT try_near(k, 150) FROM generate_series(1, 3, 2) AS k;
DELETE FROM spread WHERE fp > 0;
VACUUM spread;
SELECT try_near(k, 150) FROM generate_series(1, 3, 2) AS k;
DROP TABLE spread;
DROP FUNCTION try_near;

----------------------------------------
-- names, and those who may not read
----------------------------------------

CREATE SCHEMA "Odd ""one";
CREATE TABLE "Odd ""one"."My Docs" ("The Id" int PRIMARY KEY, "F,P" bigint);
CREATE TRIGGER "g'd" BEFORE INSERT ON "Odd ""one"."My Docs" FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('F,P', 'reject', '3');
INSERT INTO "Odd ""one"."My Docs" VALUES (1, 0); -- error
CREATE INDEX ON "Odd ""one"."My Docs" USING hamming ("F,P");
-- names in the way of those that the guard goes by
CREATE FUNCTION "Odd ""one".simhash_key(bigint, int) RETURNS smallint
    LANGUAGE sql AS 'SELECT 0::smallint';
CREATE FUNCTION "Odd ""one".never(bigint, hamming_ball) RETURNS bool
    LANGUAGE sql AS 'SELECT false';
CREATE OPERATOR "Odd ""one".<@ (LEFTARG = bigint, RIGHTARG = hamming_ball,
    FUNCTION = "Odd ""one".never);
CREATE TYPE "Odd ""one".hamming_ball AS (x int);
SET search_path = "Odd ""one", public, pg_catalog;
INSERT INTO "My Docs" VALUES (1, 0);
INSERT INTO "My Docs" VALUES (2, 0); -- error
TRUNCATE "My Docs";
SET search_path = '';
INSERT INTO "Odd ""one"."My Docs" VALUES (1, 0);
INSERT INTO "Odd ""one"."My Docs" VALUES (2, 0); -- error
RESET search_path;
CREATE ROLE regress_guard_writer;
GRANT INSERT ON docs TO regress_guard_writer;
SET ROLE regress_guard_writer;
INSERT INTO docs VALUES (50, bits(4)); -- error
RESET ROLE;
GRANT SELECT (id) ON docs TO regress_guard_writer;
SET ROLE regress_guard_writer;
INSERT INTO docs VALUES (50, bits(4)); -- error
RESET ROLE;
GRANT SELECT (fp) ON docs TO regress_guard_writer;
SET ROLE regress_guard_writer;
INSERT INTO docs VALUES (50, bits(4)); -- error
RESET ROLE;
REVOKE SELECT (id, fp) ON docs FROM regress_guard_writer;
-- the owner of a function may be told, whoever calls it
CREATE FUNCTION insert_docs() RETURNS void SECURITY DEFINER LANGUAGE sql AS
    'INSERT INTO docs VALUES (50, bits(4))';
SET ROLE regress_guard_writer;
SELECT insert_docs(); -- error
RESET ROLE;
DROP FUNCTION insert_docs;
GRANT SELECT ON docs TO regress_guard_writer;
SET ROLE regress_guard_writer;
INSERT INTO docs VALUES (50, bits(4)); -- error
RESET ROLE;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY all_in ON docs FOR INSERT WITH CHECK (true);
SET ROLE regress_guard_writer;
INSERT INTO docs VALUES (50, bits(4)); -- error
RESET ROLE;
-- the owner of a partition has no code run for rows of other partitions
RESET ROLE;
CREATE TABLE shared (id int, fp bigint) PARTITION BY RANGE (id);
CREATE TABLE shared_1 PARTITION OF shared FOR VALUES FROM (0) TO (100);
CREATE TABLE shared_2 PARTITION OF shared FOR VALUES FROM (100) TO (200);
SELECT simhash_add_keys('shared', 'fp') \g /dev/null
CREATE TRIGGER guard BEFORE INSERT ON shared FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
CREATE SCHEMA regress_guard_writer AUTHORIZATION regress_guard_writer;
ALTER TABLE shared_2 SET SCHEMA regress_guard_writer;
ALTER TABLE regress_guard_writer.shared_2 OWNER TO regress_guard_writer;
SET ROLE regress_guard_writer;
CREATE FUNCTION regress_guard_writer.planted(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'regress_guard_writer' THEN
        RAISE NOTICE 'run by another user';
    END IF;
    RETURN $1;
END $$;
CREATE INDEX ON regress_guard_writer.shared_2 ((id + regress_guard_writer.planted(1)));
CREATE INDEX ON regress_guard_writer.shared_2 (id) WHERE id > regress_guard_writer.planted(1);
RESET ROLE;
INSERT INTO shared (id, fp) VALUES (1, 0);
INSERT INTO shared (id, fp) VALUES (2, 1); -- error
DROP TABLE shared;
DROP OWNED BY regress_guard_writer;
DROP ROLE regress_guard_writer;

----------------------------------------
-- a long transaction
----------------------------------------

-- fingerprints at random from a fixed seed: none is near another
CREATE TABLE many (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON many USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON many FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '8');
-- what is held just before a statement ends: the locks of one row
CREATE FUNCTION count_locks() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% locks of the guard', (SELECT count(*) FROM pg_locks
        WHERE pid = pg_backend_pid() AND locktype = 'advisory');
    RETURN NULL;
END $$;
CREATE TRIGGER locks AFTER INSERT ON many FOR EACH STATEMENT
    EXECUTE FUNCTION count_locks();
BEGIN;
INSERT INTO many SELECT n, hashint8extended(n, 1) FROM generate_series(1, 20000) AS n;
SELECT count(*) FILTER (WHERE locktype = 'advisory') AS guard_locks,
       count(*) < 30 AS few FROM pg_locks WHERE pid = pg_backend_pid();
SAVEPOINT here;
INSERT INTO many SELECT 0, fp # 1 FROM many WHERE id = 77; -- error
ROLLBACK TO here;
SELECT count(*) FROM pg_locks
WHERE pid = pg_backend_pid() AND locktype = 'advisory';
INSERT INTO many VALUES (0, 12345);
COMMIT;
SELECT count(*) FROM many;

----------------------------------------
-- triggers that are declared wrongly
----------------------------------------

CREATE TABLE wrong (id int PRIMARY KEY, fp bigint, twin int, body text,
    gen bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    twice text GENERATED ALWAYS AS (body || body) STORED);
CREATE INDEX ON wrong USING hamming (fp);
CREATE INDEX ON wrong USING hamming (gen);
CREATE FUNCTION complain(arguments text, kind text DEFAULT 'BEFORE INSERT')
RETURNS text LANGUAGE sql AS $$
    SELECT fails(format('CREATE OR REPLACE TRIGGER guard %s ON wrong FOR EACH ROW
        EXECUTE FUNCTION simhash_guard(%s);
        INSERT INTO wrong VALUES (1, 0);
        DELETE FROM wrong', kind, arguments))
$$;
SELECT complain($$ 'fp', 'skip', '3' $$);
SELECT complain($$ $$);
SELECT complain($$ 'fp', 'skip' $$);
SELECT complain($$ 'no', 'skip', '3' $$);
SELECT complain($$ 'body', 'skip', '3' $$);
SELECT complain($$ 'fp', 'drop', '3' $$);
SELECT complain($$ 'fp', 'skip', '' $$);
SELECT complain($$ 'fp', 'skip', '3x' $$);
SELECT complain($$ 'fp', 'skip', '-1' $$);
SELECT complain($$ 'fp', 'skip', '65' $$);
SELECT complain($$ 'fp', 'skip', '99999999999999999999' $$);
SELECT complain($$ 'fp', 'skip', '3', 'what' $$);
SELECT complain($$ 'fp', 'mark', '3' $$);
SELECT complain($$ 'fp', 'skip', '3', 'mark=twin' $$);
SELECT complain($$ 'fp', 'mark', '3', 'mark=no' $$);
SELECT complain($$ 'fp', 'mark', '3', 'mark=gen' $$);
SELECT complain($$ 'fp', 'mark', '3', 'mark=fp' $$);
SELECT complain($$ 'fp', 'reject', '3', 'notice' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=id', 'fill=simhash' $$);
SELECT complain($$ 'fp', 'skip', '3', 'profile=word-1' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=body' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=body', 'profile=word-1' $$);
SELECT complain($$ 'gen', 'skip', '3', 'document=body' $$);
SELECT complain($$ 'fp', 'skip', '3', 'fill=simhash' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=body', 'fill' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=body', 'fill=' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=body', 'fill=Simhash' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=body', 'fill=simhash', 'profile=no' $$);
SELECT complain($$ 'gen', 'skip', '3', 'document=body', 'fill=simhash' $$);
SELECT complain($$ 'fp', 'skip', '3', 'document=twice', 'fill=simhash' $$);
SELECT complain($$ 'fp', 'skip', '3' $$, 'AFTER INSERT');
SELECT complain($$ 'fp', 'skip', '3' $$, 'BEFORE DELETE OR INSERT');
SELECT simhash_guard(); -- error

SET client_min_messages = warning;
DROP SCHEMA "Odd ""one" CASCADE;
DROP TABLE docs, skipped, marked, pairs, texts, profiled, generated, far, two,
    parted, parted_w, mixed, many, wrong, typed, altered, failing, deep,
    held CASCADE;
DROP DOMAIN small, print;
DROP FUNCTION bits, try, insert_half, count_locks, complain, fail, insert_next,
    insert_held, guard_locks, try_again, insert_same;
