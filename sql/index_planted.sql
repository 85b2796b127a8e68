--
-- hamming indexes whose predicates and expressions are the owner's code: no
-- scan may run it, as it would run with the rights of whoever asks
--

\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS simhash;
CREATE ROLE regress_index_planted_planter;
CREATE ROLE regress_index_planted_reader;
CREATE SCHEMA planted AUTHORIZATION regress_index_planted_planter;
GRANT USAGE ON SCHEMA planted TO PUBLIC;
CREATE SEQUENCE planted.calls;
GRANT ALL ON SEQUENCE planted.calls TO PUBLIC;
SET ROLE regress_index_planted_planter;

----------------------------------------
-- what is planted
----------------------------------------

-- Counts the calls by anybody but the owner.
CREATE FUNCTION planted.note() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'regress_index_planted_planter' THEN
        PERFORM nextval('planted.calls');
    END IF;
END $$;

-- The functions of the indexes: as they are made, and as they are later.
CREATE FUNCTION planted.calm() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE OR REPLACE FUNCTION planted.holds(a int) RETURNS bool LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN RETURN a % 2 = 0; END';
    CREATE OR REPLACE FUNCTION planted.ever() RETURNS bool LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN RETURN true; END';
    CREATE OR REPLACE FUNCTION planted.pair(OUT a int, OUT b int) LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN a := 1; b := 2; END';
    CREATE OR REPLACE FUNCTION planted.fine(a int) RETURNS bool LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN RETURN true; END';
    CREATE OR REPLACE FUNCTION planted.site(a int) RETURNS int LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN RETURN a % 3; END';
    CREATE OR REPLACE FUNCTION planted.same(f bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN RETURN f; END';
    CREATE OR REPLACE FUNCTION planted.same(f bit) RETURNS bit LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN RETURN f; END';
END $$;
CREATE FUNCTION planted.spring() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    CREATE OR REPLACE FUNCTION planted.holds(a int) RETURNS bool LANGUAGE plpgsql VOLATILE
        AS 'BEGIN PERFORM planted.note(); RETURN a % 2 = 0; END';
    CREATE OR REPLACE FUNCTION planted.ever() RETURNS bool LANGUAGE plpgsql VOLATILE
        AS 'BEGIN PERFORM planted.note(); RETURN true; END';
    CREATE OR REPLACE FUNCTION planted.pair(OUT a int, OUT b int) LANGUAGE plpgsql IMMUTABLE
        AS 'BEGIN PERFORM planted.note(); a := 1; b := 2; END';
    CREATE OR REPLACE FUNCTION planted.fine(a int) RETURNS bool LANGUAGE plpgsql VOLATILE
        AS 'BEGIN PERFORM planted.note(); RETURN true; END';
    CREATE OR REPLACE FUNCTION planted.site(a int) RETURNS int LANGUAGE plpgsql VOLATILE
        AS 'BEGIN PERFORM planted.note(); RETURN a % 3; END';
    CREATE OR REPLACE FUNCTION planted.same(f bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE
        AS 'BEGIN PERFORM planted.note(); RETURN f; END';
    CREATE OR REPLACE FUNCTION planted.same(f bit) RETURNS bit LANGUAGE plpgsql VOLATILE
        AS 'BEGIN PERFORM planted.note(); RETURN f; END';
END $$;

SELECT planted.calm();
CREATE DOMAIN planted.fussy AS int CHECK (planted.fine(VALUE));

-- Of 2000 rows 500 are live, and one of 12 is near to zero.  Some fingerprints
-- are NULL, and some sites.
CREATE FUNCTION planted.word(n int, seed int) RETURNS text LANGUAGE sql AS $$
SELECT (CASE WHEN n % 12 = 0 THEN 1::bigint << ((n / 12 + seed) % 60)
             ELSE hashint8extended(n, seed) END)::bit(64)::text
$$;
CREATE TABLE planted.docs (
    id int, site int, live bool, fp bigint, wide bit(256));
INSERT INTO planted.docs
SELECT n, nullif(n % 5, 4), n % 4 = 0,
       CASE WHEN n % 7 > 0 THEN planted.word(n, 0)::bit(64)::bigint END,
       CASE WHEN n % 7 > 0 THEN (planted.word(n, 1) || planted.word(n, 2) || planted.word(n, 3) ||
                                 planted.word(n, 4))::bit(256) END
FROM generate_series(1, 2000) AS n;
ALTER TABLE planted.docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON planted.docs USING (id % 8 = 0);
GRANT SELECT ON planted.docs TO PUBLIC;

----------------------------------------
-- who asks
----------------------------------------

RESET ROLE;
-- How the planner has a query run, and how many rows come; as whoever asks.
CREATE FUNCTION asked(query text, OUT scan text, OUT rows bigint) LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        scan := coalesce(scan, substring(line, '(Bitmap Index|Index Only|Index|Seq) Scan'));
    END LOOP;
    EXECUTE 'SELECT count(*) FROM (' || query || ') AS q' INTO rows;
END $$;

-- All kinds of scans of an index on a column, by several fingerprints near and
-- far, with and without a site.  Shows each kind that the planner takes, and how
-- many rows come; "differs" if a scan of the table returns another number.
CREATE FUNCTION ask_all(fp text, zero text, near text, far text, width text,
                        OUT query text, OUT scan text, OUT rows bigint, OUT differs text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    want bigint;
    bitmap text;
BEGIN
    FOREACH query IN ARRAY ARRAY[
        'FP ~= ZERO', 'FP <@ (ZERO, NEAR)', 'FP <@ (ZERO, FAR)', 'FP <@ (ZERO, WIDTH)', 'true',
        'hamming(FP, ZERO) <= FAR', 'site = 2 AND hamming(FP, ZERO) <= FAR',
        'true ORDER BY FP <~> ZERO', 'true ORDER BY FP <~> ZERO LIMIT 10',
        'FP <@ (ZERO, FAR) ORDER BY FP <~> ZERO',
        'site = 2', 'site = 2 AND FP <@ (ZERO, FAR)', 'site = 2 ORDER BY FP <~> ZERO',
        'site = 2 ORDER BY FP <~> ZERO LIMIT 10', 'site = 4']
    LOOP
        CONTINUE WHEN query ~ '~=' AND width <> '64';
        query := replace(query, '<~>', CASE width WHEN '64' THEN '<~>' ELSE '<~~>' END);
        query := replace(replace(replace(replace(replace(query, 'FP', fp), 'ZERO', zero), 'NEAR', near), 'FAR', far),
                         'WIDTH', width);
        FOREACH bitmap IN ARRAY ARRAY['off', 'on'] LOOP
            CONTINUE WHEN bitmap = 'on' AND query ~ 'ORDER';
            PERFORM set_config(setting, 'off', true)
            FROM unnest(ARRAY['enable_indexscan', 'enable_indexonlyscan', 'enable_bitmapscan', 'enable_sort']) AS s (setting);
            SET LOCAL enable_seqscan = on;
            want := (asked('SELECT id FROM planted.docs WHERE live AND ' || query)).rows;
            SET LOCAL enable_seqscan = off;
            PERFORM set_config(CASE bitmap WHEN 'on' THEN 'enable_bitmapscan' ELSE 'enable_indexscan' END, 'on', true);
            SELECT a.scan, a.rows, CASE WHEN a.rows <> want THEN want END
            FROM asked('SELECT id FROM planted.docs WHERE live AND ' || query) AS a INTO scan, rows, differs;
            RETURN NEXT;
        END LOOP;
    END LOOP;
    -- of no column
    SET LOCAL enable_indexonlyscan = on;
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_bitmapscan = off;
    query := 'count(*)';
    SELECT a.scan, a.rows, CASE WHEN a.rows <> 1 THEN 1 END
    FROM asked('SELECT count(*) FROM planted.docs WHERE live') AS a INTO scan, rows, differs;
    RETURN NEXT;
END $$;

-- Ask as a superuser, and as somebody from whom a policy hides half of the rows.
CREATE FUNCTION planted_in(index text, fp text, zero text, near text, far text, width text,
                           OUT query text, OUT scan text, OUT rows bigint, OUT differs text)
RETURNS SETOF record LANGUAGE plpgsql AS $$
BEGIN
    PERFORM planted.calm();
    EXECUTE 'CREATE INDEX planted ON planted.docs USING hamming ' || index;
    PERFORM planted.spring();
    RETURN QUERY SELECT * FROM ask_all(fp, zero, near, far, width);
    SET LOCAL ROLE regress_index_planted_reader;
    RETURN QUERY SELECT * FROM ask_all(fp, zero, near, far, width) AS a WHERE a.differs IS NOT NULL;
    SET LOCAL ROLE NONE;
    DROP INDEX planted.planted;
END $$;

\set bigint '''0::bigint'', ''3'', ''20'', ''64'''
\set wide '''0::bit(256)'', ''12'', ''60'', ''256'''

----------------------------------------
-- indexes of bigints
----------------------------------------

SELECT * FROM planted_in('(fp) WHERE live OR planted.holds(id)', 'fp', :bigint);
-- whose predicate does not even look at the row
SELECT * FROM planted_in('(fp) WHERE live OR planted.ever()', 'fp', :bigint);
-- the same of a function whose result the planner does not compute
SELECT * FROM planted_in('(fp) WHERE live OR planted.pair() IS NOT NULL', 'fp', :bigint);
-- and of a constant that the check of a domain looks at
SELECT * FROM planted_in('(fp) WHERE live OR (1::planted.fussy)::int = 1', 'fp', :bigint);
SELECT * FROM planted_in('(site, fp) WHERE live OR planted.holds(id)', 'fp', :bigint);
-- a group that nobody asks for
SELECT * FROM planted_in('(planted.site(id), site, fp) WHERE live', 'fp', :bigint);
SELECT is_called AS called FROM planted.calls;

----------------------------------------
-- of bit strings
----------------------------------------

SELECT * FROM planted_in('(wide) WHERE live OR planted.holds(id)', 'wide', :wide);
SELECT * FROM planted_in('(site, wide) WHERE live OR planted.holds(id)', 'wide', :wide);
SELECT * FROM planted_in('(planted.site(id), site, wide) WHERE live', 'wide', :wide);
SELECT is_called AS called FROM planted.calls;

----------------------------------------
-- the fingerprint is the owner's code
----------------------------------------

-- Where a query names that expression, the query calls it.  Here none does.
SELECT * FROM planted_in('((planted.same(fp))) WHERE live', 'fp', :bigint) WHERE scan <> 'Seq';
SELECT * FROM planted_in('((planted.same(wide)::bit(256))) WHERE live', 'wide', :wide) WHERE scan <> 'Seq';
SELECT * FROM planted_in('(site, (planted.same(fp))) WHERE live', 'fp', :bigint) WHERE scan <> 'Seq';
SELECT is_called AS called FROM planted.calls;

DROP FUNCTION planted_in, ask_all, asked;
DROP SCHEMA planted CASCADE;
DROP ROLE regress_index_planted_planter;
DROP ROLE regress_index_planted_reader;

----------------------------------------
-- an order by an expression, under row security
----------------------------------------

-- An ordered scan has its expression computed again for each row that it finds,
-- before any condition.  The one who wrote it would see what a policy hides.
CREATE FUNCTION seen(fp bigint) RETURNS bigint IMMUTABLE COST 1 LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'seen %', fp;
    RETURN fp;
END $$;
SET client_min_messages = warning;
CREATE TABLE hidden (id int, fp bigint);
INSERT INTO hidden SELECT n, n FROM generate_series(1, 6) AS n;
CREATE INDEX ON hidden USING hamming (seen(fp));
CREATE INDEX ON hidden USING hamming (fp);
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON hidden USING (id % 2 = 0);
CREATE ROLE regress_index_planted_looker;
GRANT SELECT ON hidden TO regress_index_planted_looker;
SET client_min_messages = notice;
SET enable_seqscan = off;
SET enable_sort = off;
SET ROLE regress_index_planted_looker;
SELECT id FROM hidden ORDER BY seen(fp) <~> 0;
-- a column has nothing to tell
EXPLAIN (COSTS OFF) SELECT id FROM hidden ORDER BY fp <~> 0;
RESET ROLE;
-- nor does anything where nothing is hidden
EXPLAIN (COSTS OFF) SELECT id FROM hidden ORDER BY seen(fp) <~> 0;
RESET enable_seqscan;
RESET enable_sort;
DROP TABLE hidden;
DROP FUNCTION seen(bigint);
DROP ROLE regress_index_planted_looker;
