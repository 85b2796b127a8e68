-- The guard's action 'conflict', its options time, for and compare, and what its
-- messages show.

CREATE SCHEMA door;
SET search_path = door, public;

-- Run a statement: what it returns, or what it says.
CREATE FUNCTION says(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    row record;
    message text;
    detail text;
BEGIN
    EXECUTE statement INTO row;
    RETURN coalesce(row::text, 'no row');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL;
    RETURN concat_ws(' ', sqlstate, message, nullif(detail, ''));
END $$;

----------------------------------------
-- conflict: insert, or find
----------------------------------------

CREATE TABLE docs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text,
    seen integer DEFAULT 1, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON docs USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON docs
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');

CREATE FUNCTION put(body text) RETURNS text LANGUAGE sql AS $$
SELECT says(format('INSERT INTO docs (body) VALUES (%L) ON CONFLICT (id)
    DO UPDATE SET seen = docs.seen + 1 RETURNING id, seen', body)) $$;
SELECT put('Tea is served at five in the garden.');
SELECT put('TEA is served: at five in the garden!');
SELECT put('The museum is closed on Mondays.');
SELECT put('Tea is served, at five, in the garden.');

-- two rows of one statement
SELECT says($$INSERT INTO docs (body) VALUES ('The ferry leaves at nine.'), ('THE FERRY leaves at nine')
    ON CONFLICT (id) DO UPDATE SET seen = docs.seen + 1$$);
INSERT INTO docs (body) VALUES ('The ferry leaves at nine.'), ('THE FERRY leaves at nine'),
    ('tea is served at five in the garden') ON CONFLICT (id) DO NOTHING RETURNING body;

-- without ON CONFLICT, by MERGE, by COPY: the key is there
SELECT says($$INSERT INTO docs (body) VALUES ('tea is served at five in the garden')$$);
SELECT says($$MERGE INTO docs USING (VALUES ('tea is served at five in the garden')) AS v (body) ON false
    WHEN NOT MATCHED THEN INSERT (body) VALUES (v.body)$$);
COPY docs (body) FROM STDIN;
tea is served at five in the garden
\.
-- another unique key is not what it is about
ALTER TABLE docs ADD url text UNIQUE;
SELECT says($$INSERT INTO docs (body, url) VALUES ('tea is served at five in the garden', '/tea')
    ON CONFLICT (url) DO UPDATE SET seen = docs.seen + 1$$);
-- an update is refused, one that changes nothing about the text is not
SELECT says($$UPDATE docs SET body = 'THE MUSEUM is closed on Mondays' WHERE body ~ '^Tea' RETURNING id$$);
SELECT says($$UPDATE docs SET seen = 9 WHERE body ~ '^Tea' RETURNING id, seen$$);
SELECT id, seen, body FROM docs ORDER BY id;
-- two rows of one statement, to be returned and locked
SELECT current_setting('server_version_num')::int >= 190000 AS selects \gset
\if :selects
SELECT says($$INSERT INTO docs (body) VALUES ('Bread is baked at six.'), ('BREAD is baked at six')
    ON CONFLICT (id) DO SELECT FOR UPDATE RETURNING id$$) LIKE '21000 %' AS refused \gset
\else
\set refused t
\endif
SELECT :'refused' AS refused;

-- the nearest row is met
CREATE TABLE codes (id text PRIMARY KEY, fp bigint, n integer DEFAULT 0);
CREATE INDEX ON codes USING hamming (fp);
INSERT INTO codes VALUES ('three', 7), ('one', 1), ('two', 3);
CREATE TRIGGER guard BEFORE INSERT ON codes
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
INSERT INTO codes VALUES ('new', 0) ON CONFLICT (id) DO UPDATE SET n = codes.n + 1 RETURNING id, n;
-- a row of the same key is no other row
INSERT INTO codes VALUES ('one', 1) ON CONFLICT (id) DO UPDATE SET n = codes.n + 1 RETURNING id, n;
-- that of our own key is met before nearer ones, be it near or far
INSERT INTO codes VALUES ('three', 1) ON CONFLICT (id) DO UPDATE SET n = codes.n + 10 RETURNING id, n;
INSERT INTO codes VALUES ('three', -1) ON CONFLICT (id) DO UPDATE SET n = codes.n + 100 RETURNING id, n;
-- a row whose text is NULL, or far
INSERT INTO codes VALUES ('none', NULL), ('far', -1) ON CONFLICT (id) DO NOTHING RETURNING id;

-- keys of several columns, of domains, in another order
CREATE DOMAIN site AS text CHECK (value <> '');
CREATE TABLE pages (n integer, fp bigint, site site, note text, PRIMARY KEY (site, n));
CREATE INDEX ON pages USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON pages
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
INSERT INTO pages VALUES (1, 0, 'a'), (2, 255, 'b');
INSERT INTO pages VALUES (3, 254, 'c', 'new') ON CONFLICT (site, n) DO UPDATE SET note = excluded.note
RETURNING n, site, fp, note;

-- who may not know the key is told of no row, and meets none
CREATE ROLE regress_guard_find_user;
GRANT USAGE ON SCHEMA door TO regress_guard_find_user;
GRANT INSERT, UPDATE (n), SELECT (id, n) ON codes TO regress_guard_find_user;
CREATE FUNCTION put_code() RETURNS text LANGUAGE sql AS $$
SELECT says($q$INSERT INTO codes VALUES ('new', 1) ON CONFLICT (id) DO UPDATE SET n = codes.n + 1 RETURNING id, n$q$) $$;
SET ROLE regress_guard_find_user;
SELECT put_code();
RESET ROLE;
GRANT SELECT (fp) ON codes TO regress_guard_find_user;
SET ROLE regress_guard_find_user;
SELECT put_code();
RESET ROLE;
ALTER TABLE codes ENABLE ROW LEVEL SECURITY;
CREATE POLICY new_only ON codes USING (id = 'new') WITH CHECK (true);
SET ROLE regress_guard_find_user;
SELECT put_code();
RESET ROLE;
REVOKE ALL ON codes FROM regress_guard_find_user;
REVOKE USAGE ON SCHEMA door FROM regress_guard_find_user;
DROP ROLE regress_guard_find_user;

-- within
CREATE TABLE tenants (id serial PRIMARY KEY, tenant text, fp bigint);
CREATE INDEX ON tenants USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON tenants
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3', 'within=tenant');
INSERT INTO tenants (tenant, fp) VALUES ('a', 0), ('b', 0), ('b', 1), ('a', 3)
ON CONFLICT (id) DO NOTHING RETURNING id, tenant;

-- no key, a generated one, one of another partition
CREATE TABLE keyless (fp bigint);
CREATE INDEX ON keyless USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON keyless
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
SELECT says('INSERT INTO keyless VALUES (0)');
CREATE TABLE generated (a text, id text GENERATED ALWAYS AS (upper(a)) STORED PRIMARY KEY, fp bigint);
CREATE INDEX ON generated USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON generated
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
INSERT INTO generated VALUES ('x', DEFAULT, 0);
SELECT says($$INSERT INTO generated VALUES ('y', DEFAULT, 1) ON CONFLICT (id) DO NOTHING$$);
CREATE TABLE parts (id integer, part integer, fp bigint, PRIMARY KEY (id, part)) PARTITION BY LIST (part);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts2 (fp bigint, part integer NOT NULL, id integer NOT NULL);
ALTER TABLE parts ATTACH PARTITION parts2 FOR VALUES IN (2);
CREATE INDEX ON parts USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON parts
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
INSERT INTO parts VALUES (1, 1, 0), (2, 2, 255);
SELECT says('INSERT INTO parts VALUES (3, 2, 254) ON CONFLICT (id, part) DO UPDATE SET fp = parts.fp RETURNING id, part');
SELECT says('INSERT INTO parts VALUES (3, 1, 254) ON CONFLICT (id, part) DO UPDATE SET fp = parts.fp RETURNING id, part');
-- an update that moves a row to another partition
SELECT says('UPDATE parts SET part = 2 WHERE id = 1 RETURNING id, part');
SELECT says('UPDATE parts SET part = 1, fp = 254 WHERE id = 1 RETURNING id, part');
-- partitions and children with keys of their own: another table's key is not taken
CREATE TABLE own (id integer, part integer, fp bigint, note text) PARTITION BY LIST (part);
CREATE TABLE own1 PARTITION OF own (PRIMARY KEY (id)) FOR VALUES IN (1);
CREATE TABLE own2 PARTITION OF own (PRIMARY KEY (id)) FOR VALUES IN (2);
CREATE INDEX ON own USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON own
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
INSERT INTO own VALUES (7, 1, 255), (7, 2, 65535);
SELECT says($$INSERT INTO own1 VALUES (99, 1, 65534) ON CONFLICT (id) DO UPDATE SET note = 'overwritten' RETURNING id$$);
SELECT says('INSERT INTO own VALUES (99, 2, 254) RETURNING id');
SELECT says($$INSERT INTO own1 VALUES (99, 1, 254) ON CONFLICT (id) DO UPDATE SET note = 'found' RETURNING id, note$$);
CREATE TABLE parent (id integer PRIMARY KEY, fp bigint, note text);
CREATE TABLE child (PRIMARY KEY (id)) INHERITS (parent);
CREATE INDEX ON parent USING hamming (fp);
CREATE INDEX ON child USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON parent FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
CREATE TRIGGER guard BEFORE INSERT ON child FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
INSERT INTO parent VALUES (1, 255);
INSERT INTO child VALUES (1, 0);
SELECT says($$INSERT INTO parent VALUES (9, 1) ON CONFLICT (id) DO UPDATE SET note = 'found' RETURNING id, note$$);
SELECT says($$INSERT INTO parent VALUES (10, 254) ON CONFLICT (id) DO UPDATE SET note = 'found' RETURNING id, note$$);
SELECT id, tableoid::regclass AS "table", note FROM parent ORDER BY 2;
-- a key that is checked later
CREATE TABLE later (id integer PRIMARY KEY DEFERRABLE, fp bigint);
CREATE INDEX ON later USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON later
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'conflict', '3');
SELECT says('INSERT INTO later VALUES (1, 0)');

----------------------------------------
-- not again within a time
----------------------------------------

SET timezone = 'UTC';
CREATE FUNCTION try_time(type text) RETURNS TABLE (id integer, at text, fp bigint, said text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    DROP TABLE IF EXISTS posts;
    EXECUTE format('CREATE TABLE posts (id integer PRIMARY KEY, fp bigint, at %s)', type);
    CREATE INDEX ON posts USING hamming (fp);
    CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON posts FOR EACH ROW EXECUTE FUNCTION
        simhash_guard('fp', 'reject', '3', 'time=at', 'for=7 days');
    RETURN QUERY SELECT v.id, v.at, v.fp::bigint, says(format('INSERT INTO posts VALUES (%s, %s, %L) RETURNING id', v.id, v.fp, v.at))
    FROM (VALUES (1, '2026-03-01', 0), (2, '2026-03-08', 1), (3, '2026-03-09', 1), (4, '2026-03-09', 255),
        (5, '2026-02-01', 1), (6, NULL, 0), (7, NULL, -1), (8, '2026-03-09', -1), (9, 'infinity', 2),
        (10, '-infinity', 65535)) AS v (id, at, fp);
END $$;
SELECT * FROM try_time('timestamptz');
SELECT (SELECT array_agg(t ORDER BY id) FROM try_time('timestamp') AS t) =
    (SELECT array_agg(t ORDER BY id) FROM try_time('timestamptz') AS t) AS timestamps,
    (SELECT array_agg(t ORDER BY id) FROM try_time('date') AS t) =
    (SELECT array_agg(t ORDER BY id) FROM try_time('timestamptz') AS t) AS dates;
-- an update of the time is compared, one of something else is not
SELECT says($$UPDATE posts SET at = '2026-03-04' WHERE id = 3 RETURNING id$$);
SELECT says($$UPDATE posts SET at = '2026-03-10' WHERE id = 3 RETURNING id$$);
SELECT says($$UPDATE posts SET id = 33 WHERE id = 3 RETURNING id$$);
-- times at both ends, and a domain
CREATE DOMAIN day AS date;
CREATE FUNCTION try_ends(type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
BEGIN
    PERFORM try_time(type);
    TRUNCATE posts;
    SELECT string_agg(says(format('INSERT INTO posts VALUES (%s, %s, %L) RETURNING id', id, fp, at)), '; ' ORDER BY id) INTO said
    FROM (VALUES (1, '4714-11-24 BC', 0), (2, '4714-11-25 BC', 1), (3, '4714-12-03 BC', 3), (4, '290000-01-01', 3),
        (5, '290000-01-10', 0)) AS v (id, at, fp);
    RETURN said;
END $$;
SELECT type, try_ends(type) FROM unnest(ARRAY['date', 'timestamp', 'timestamptz', 'day']) AS type;
-- whichever of two rows comes first, the earlier one counts from the later one less the
-- interval on: pairs of times at random
SELECT setseed(.62);
CREATE TABLE pairs (id integer, fp bigint, at timestamptz);
CREATE INDEX ON pairs USING hamming (fp);
CREATE FUNCTION try_pairs(period interval, zone text) RETURNS TABLE (pairs bigint, wrong bigint) LANGUAGE plpgsql AS $$
DECLARE
    ours timestamptz;
    its timestamptz;
    near boolean;
    print bigint;
    inserted bigint;
BEGIN
    TRUNCATE pairs;
    PERFORM set_config('timezone', zone, false);
    EXECUTE format('CREATE OR REPLACE TRIGGER guard BEFORE INSERT ON pairs FOR EACH ROW EXECUTE FUNCTION
        simhash_guard(''fp'', ''skip'', ''3'', ''time=at'', ''for=%s'')', period);
    pairs := 0;
    wrong := 0;
    FOR i IN 1 .. 300 LOOP
        ours := timestamptz '2026-02-25 UTC' + random() * interval '40 days';
        its := CASE WHEN random() < .05 THEN NULL WHEN random() < .05 THEN 'infinity' WHEN random() < .05 THEN '-infinity'
            WHEN random() < .1 THEN ours - period WHEN random() < .1 THEN ours + period
            ELSE ours + (random() - .5) * 3 * period END;
        near := its IS NULL OR NOT isfinite(its) OR greatest(ours, its) - period <= least(ours, its);
        FOR turn IN 1 .. 2 LOOP
            print := hashint8extended(pairs, 1);
            INSERT INTO pairs VALUES (1, print, CASE turn WHEN 1 THEN ours ELSE its END), (2, print # 1, CASE turn WHEN 1 THEN its ELSE ours END);
            GET DIAGNOSTICS inserted = ROW_COUNT;
            pairs := pairs + 1;
            IF near <> (inserted = 1) THEN
                wrong := wrong + 1;
                RAISE NOTICE '% %', ours, its;
            END IF;
        END LOOP;
    END LOOP;
    PERFORM set_config('timezone', 'UTC', false);
    RETURN NEXT;
END $$;
SELECT period, zone, (try_pairs(period, zone)).* FROM unnest(ARRAY['1 second', '7 days', '1 month', '0']::interval[]) AS period,
    unnest(ARRAY['UTC', 'Europe/Berlin']) AS zone;
DROP TABLE pairs;
DROP FUNCTION try_pairs;
-- films as long as each other to a second: what is shorter is none of a longer one
CREATE TABLE films (id integer PRIMARY KEY, fp bigint, at timestamp);
CREATE INDEX ON films USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON films FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '8', 'time=at', 'for=1 second');
SELECT id, seconds, says(format('INSERT INTO films VALUES (%s, %s, %L) RETURNING id', id, 40 + id, timestamp '2000-01-01' + seconds * interval '1 second'))
FROM (VALUES (1, 600.0), (2, 600.7), (3, 1200), (4, 300), (5, 301), (6, 299), (7, 302.5)) AS v (id, seconds);
SELECT says($$UPDATE films SET at = '2000-01-01 00:19:59.5' WHERE id = 4 RETURNING id$$);
DROP TABLE films;
-- a date that no timestamp has
SELECT count(*) FROM try_time('date');
TRUNCATE posts;
INSERT INTO posts VALUES (1, 0, '300000-01-01');
SELECT says('INSERT INTO posts VALUES (2, 1, ''2026-01-01'') RETURNING id');
-- a row of a partition that an update moves
CREATE TABLE news (id integer, at date, fp bigint) PARTITION BY RANGE (at);
CREATE TABLE news1 PARTITION OF news FOR VALUES FROM ('2026-01-01') TO ('2026-02-01');
CREATE TABLE news2 PARTITION OF news FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
CREATE INDEX ON news USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON news FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'skip', '3', 'time=at', 'for=7 days');
INSERT INTO news VALUES (1, '2026-01-28', 0), (2, '2026-02-02', 0), (3, '2026-02-10', 0);
UPDATE news SET at = '2026-02-07' WHERE id = 1;
UPDATE news SET at = '2026-02-18' WHERE id = 1;
SELECT id, at, tableoid::regclass FROM news ORDER BY id;
-- a partition whose columns are in another order
CREATE TABLE news3 (fp bigint, id integer, at date);
ALTER TABLE news ATTACH PARTITION news3 FOR VALUES FROM ('2026-03-01') TO ('2026-04-01');
INSERT INTO news VALUES (4, '2026-03-05', -1), (5, '2026-03-20', -1), (6, '2026-03-21', -1);
SELECT id FROM news WHERE fp = -1 ORDER BY id;
-- a row that moves, and that another trigger changes on its way
CREATE TABLE moving (id integer, part integer, at date, fp bigint) PARTITION BY LIST (part);
CREATE TABLE moving1 PARTITION OF moving FOR VALUES IN (1);
CREATE TABLE moving2 PARTITION OF moving FOR VALUES IN (2);
CREATE INDEX ON moving USING hamming (fp);
INSERT INTO moving VALUES (1, 1, '2026-01-30', 0), (2, 2, '2026-01-01', 0);
CREATE FUNCTION change_at() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.at := '2026-01-02'; RETURN new; END $$;
CREATE TRIGGER a BEFORE INSERT ON moving FOR EACH ROW EXECUTE FUNCTION change_at();
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON moving FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'skip', '3', 'time=at', 'for=7 days');
SELECT says('UPDATE moving SET part = 2 WHERE id = 1 RETURNING id, part');
-- seven days are not always 168 hours
CREATE TABLE hours (id integer PRIMARY KEY, fp bigint, at timestamptz, local timestamp);
CREATE INDEX ON hours USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON hours FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'time=at', 'for=7 days');
SET timezone = 'Europe/Berlin';
INSERT INTO hours VALUES (1, 0, '2026-03-22 10:30Z', '2026-03-22 12:30');
SELECT says($$INSERT INTO hours VALUES (2, 1, '2026-03-29 12:00') RETURNING id$$);
DROP TRIGGER guard ON hours;
DELETE FROM hours WHERE id = 2;
CREATE TRIGGER guard BEFORE INSERT ON hours FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'time=local', 'for=7 days');
SELECT says($$INSERT INTO hours VALUES (3, 1, NULL, '2026-03-29 12:00') RETURNING id$$);
SET timezone = 'UTC';
-- a month ago may be before the first timestamp: months of 31 days are the longest
CREATE TABLE early (id integer PRIMARY KEY, fp bigint, at timestamp);
CREATE INDEX ON early USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON early FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'time=at', 'for=1 month');
INSERT INTO early VALUES (1, 0, '4714-11-24 BC');
SELECT at, says(format('INSERT INTO early VALUES (2, 0, %L) RETURNING id', at))
FROM unnest(ARRAY['4714-12-22 BC', '4714-12-23 BC', '4714-12-24 BC']) AS at;
-- a partition that generates the time, which the trigger would read before that: NULL;
-- or the time that clusters write.  PostgreSQL 16 refuses such a partition.
CREATE TABLE dated (id integer, at timestamptz, fp bigint) PARTITION BY LIST (id);
CREATE TABLE dated1 (fp bigint, id integer, at timestamptz GENERATED ALWAYS AS ('2026-01-01 UTC') STORED);
CREATE TABLE dated2 PARTITION OF dated FOR VALUES IN (2);
CREATE INDEX ON dated USING hamming (fp);
CREATE FUNCTION try_generated(command text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE dated ATTACH PARTITION dated1 FOR VALUES IN (1);
    EXECUTE command;
    RETURN 'done';
EXCEPTION WHEN invalid_column_definition OR datatype_mismatch THEN
    RETURN 'refused';
END $$;
CREATE TRIGGER guard BEFORE INSERT ON dated FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'time=at', 'for=7 days');
SELECT try_generated('INSERT INTO dated (id, fp) VALUES (1, -1)');
INSERT INTO dated VALUES (2, '2026-01-02', 0);
SELECT says('INSERT INTO dated VALUES (2, ''2026-01-03'', 1) RETURNING id');
DROP TRIGGER guard ON dated;
SELECT try_generated('CALL simhash_add_clusters(''dated'', ''fp'', since => ''at'', adopt => true)');
CALL simhash_add_clusters('dated', 'fp', since => 'at', adopt => true);
ALTER TABLE dated1 ADD cluster bigint;
SELECT try_generated('INSERT INTO dated (id, fp) VALUES (1, -1)');
DROP TABLE early, dated, dated1;
DROP FUNCTION try_generated;
-- what is no time, or no interval
SELECT type, says(format($$SELECT said FROM try_time(%L) WHERE id = 1$$, type))
FROM unnest(ARRAY['text', 'time', 'bigint']) AS type;
CREATE FUNCTION try_options(VARIADIC options text[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS posts;
    CREATE TABLE posts (id integer PRIMARY KEY, fp bigint, body text, at date,
        later date GENERATED ALWAYS AS (at + 1) STORED);
    CREATE INDEX ON posts USING hamming (fp);
    EXECUTE format('CREATE TRIGGER guard BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION
        simhash_guard(''fp'', ''reject'', ''8'', %s)', (SELECT string_agg(quote_literal(o), ', ') FROM unnest(options) AS o));
    RETURN says('INSERT INTO posts VALUES (1, 0) RETURNING id');
END $$;
SELECT try_options('time=at', 'for=7 days');
SELECT try_options('time=at');
SELECT try_options('for=7 days');
SELECT try_options('time=at', 'for=a week or so');
SELECT try_options('time=at', 'for=-7 days');
SELECT try_options('time=at', 'for=0');
SELECT try_options('time=at', 'for=300000 years');
SELECT try_options('time=nowhere', 'for=1 day');
SELECT try_options('time=later', 'for=1 day');
SELECT try_options('document=body', 'similarity=alike', 'compare=100');
SELECT try_options('document=body', 'similarity=alike', 'compare=0');
SELECT try_options('document=body', 'similarity=alike', 'compare=many');
SELECT try_options('compare=100');
SELECT try_options('notice');
DROP TRIGGER guard ON posts;
CREATE TRIGGER marks BEFORE INSERT ON posts FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'mark', '3', 'time=at', 'for=1 day', 'mark=at');
SELECT says('INSERT INTO posts VALUES (2, -1) RETURNING id');
DROP TABLE posts;

----------------------------------------
-- a bound on what one row is compared with
----------------------------------------

-- many texts of one fingerprint that have nothing in common
CREATE FUNCTION try_bound(action text, bound integer) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    DROP TABLE IF EXISTS crowd;
    CREATE TABLE crowd (id integer PRIMARY KEY, fp bigint, body text, near integer);
    CREATE INDEX ON crowd USING hamming (fp);
    INSERT INTO crowd SELECT n, 0, md5(n::text) || ' ' || md5(n || 'x') || ' ' || md5(n || 'y') FROM generate_series(1, 20) AS n;
    EXECUTE format('CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON crowd FOR EACH ROW EXECUTE FUNCTION
        simhash_guard(''fp'', %L, ''3'', ''document=body'', ''similarity=jaccard'', ''compare=%s''%s)', action, bound,
        CASE action WHEN 'mark' THEN ', ''mark=near''' ELSE '' END);
    RETURN says('INSERT INTO crowd VALUES (0, 0, ''Tea is served at five in the garden'') ON CONFLICT (id)
        DO UPDATE SET near = -1 RETURNING id, near IS NULL');
END $$;
SELECT action, bound, try_bound(action, bound) FROM unnest(ARRAY['reject', 'skip', 'mark', 'conflict']) AS action,
    unnest(ARRAY[19, 20]) AS bound;
-- what it says
SELECT try_bound('reject', 5) IS NULL;
INSERT INTO crowd VALUES (0, 0, 'Tea is served at five in the garden');
-- the row that is alike is found before the bound
UPDATE crowd SET body = 'Tea is served at five in the garden' WHERE id = 1;
DROP TRIGGER guard ON crowd;
UPDATE crowd SET body = 'Tea is served at five in the garden' WHERE id = 1;
CREATE TRIGGER guard BEFORE INSERT ON crowd FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'conflict', '3', 'document=body', 'similarity=jaccard', 'compare=20');
INSERT INTO crowd VALUES (0, 0, 'Tea is served at five in the garden') ON CONFLICT (id) DO UPDATE SET near = -1 RETURNING id;

-- the nearest are compared, whatever is similar among the others
TRUNCATE crowd;
INSERT INTO crowd VALUES (500, 1, 'Tea is served at five in the garden');
ALTER TABLE crowd DISABLE TRIGGER guard;
INSERT INTO crowd SELECT n, 0, md5(n::text) || ' ' || md5(n || 'x') || ' ' || md5(n || 'y') FROM generate_series(1, 30) AS n;
ALTER TABLE crowd ENABLE TRIGGER guard;
SELECT says('INSERT INTO crowd VALUES (0, 3, ''Tea is served at five in the garden'') ON CONFLICT (id) DO UPDATE SET near = -1 RETURNING id');
SELECT says('INSERT INTO crowd VALUES (0, 0, ''Tea is served at five in the garden'') ON CONFLICT (id) DO UPDATE SET near = -1 RETURNING id');
-- a row whose key is there is that row, whatever else is near, and how many are
SELECT id, says(format('INSERT INTO crowd VALUES (%s, 0, ''Tea is served at five in the garden'') ON CONFLICT (id) DO UPDATE SET near = -1 RETURNING id', id))
FROM unnest(ARRAY[1, 20, 30, 500]) AS id;
-- the bound is for each row
CREATE TABLE few (id integer PRIMARY KEY, fp bigint, body text);
CREATE INDEX ON few USING hamming (fp);
INSERT INTO few VALUES (1, 0, 'one two three four'), (2, 0, 'alpha beta gamma delta');
CREATE TRIGGER guard BEFORE INSERT ON few FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3', 'document=body', 'similarity=jaccard', 'compare=4');
INSERT INTO few VALUES (3, 0, 'x1 x2 x3 x4'), (4, 0, 'z1 z2 z3 z4') RETURNING id;
-- by key columns, which find most rows four times
DROP INDEX crowd_fp_idx;
SELECT simhash_add_keys('crowd', 'fp');
SELECT says('INSERT INTO crowd VALUES (0, 0, ''Coffee is at four'') ON CONFLICT (id) DO UPDATE SET near = -2 RETURNING id');
DELETE FROM crowd WHERE id BETWEEN 5 AND 499;
SELECT says('INSERT INTO crowd VALUES (0, 0, ''Coffee is at four'') ON CONFLICT (id) DO UPDATE SET near = -2 RETURNING id');
-- a partition by keys, the other by an index
CREATE TABLE mixed (id integer, part integer, fp bigint) PARTITION BY LIST (part);
CREATE TABLE mixed1 PARTITION OF mixed FOR VALUES IN (1);
CREATE TABLE mixed2 PARTITION OF mixed FOR VALUES IN (2);
SELECT simhash_add_keys('mixed', 'fp');
CREATE INDEX ON mixed2 USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON mixed FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
INSERT INTO mixed VALUES (1, 2, 0), (2, 2, 1), (3, 1, 2);
SELECT id FROM mixed;

----------------------------------------
-- what messages show
----------------------------------------

CREATE TABLE keys (id text, lang text, fp bigint, PRIMARY KEY (id, lang));
CREATE INDEX ON keys USING hamming (fp) WHERE lang <> 'x';
CREATE TRIGGER guard BEFORE INSERT ON keys
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
-- an index that has not all rows
INSERT INTO keys VALUES ('a', 'x', 0);
CREATE INDEX ON keys USING hamming (fp);
-- long keys, and bytes that a terminal would obey
INSERT INTO keys VALUES (repeat('é', 100), E'\x1b[2J\n\x7f', 0);
INSERT INTO keys VALUES ('b', 'y', 1);
INSERT INTO keys VALUES (E'C:new\u202e\u0085\u2028', E'\u00e9\u200b\u3164\ufe0f', -1);
INSERT INTO keys VALUES ('b', 'y', -2);

-- a distance that has one lock for all says so, once a session
CREATE TABLE wide (id integer PRIMARY KEY, site text, fp bigint);
CREATE INDEX ON wide USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON wide
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '20');
INSERT INTO wide VALUES (1, 'a', 0);
INSERT INTO wide VALUES (2, 'a', -1);
CREATE TRIGGER guard_within BEFORE UPDATE ON wide
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '20', 'within=site');
UPDATE wide SET fp = 1 WHERE id = 1;
-- the widest distance of a column counts
CREATE TABLE wider (id integer PRIMARY KEY, fp bigint);
CREATE INDEX ON wider USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON wider FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
CREATE TRIGGER guard_update BEFORE UPDATE ON wider FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '20');
INSERT INTO wider VALUES (1, 0);

DROP SCHEMA door CASCADE;
