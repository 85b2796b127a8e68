-- No statement that we have written is compiled, whatever it is thought to cost: what
-- it calls finds the compiler off.
\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
CREATE EXTENSION IF NOT EXISTS simhash;
SET client_min_messages = warning;
SET jit = on;
SET jit_above_cost = 0;
-- A function can write nothing where we call it, but it can lock.
CREATE FUNCTION note(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM pg_advisory_lock_shared(61, (current_setting('jit') = 'on')::int)
    WHERE NOT EXISTS (SELECT FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'
                          AND objid::int = (current_setting('jit') = 'on')::int);
    RETURN t;
END $$;
CREATE FUNCTION noted() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found text := (SELECT string_agg(DISTINCT CASE objid WHEN 0 THEN 'off' ELSE 'on' END, ', ')
                   FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory');
BEGIN
    PERFORM pg_advisory_unlock_all();
    RETURN coalesce(found, 'not called') || ', then ' || current_setting('jit');
END $$;
CREATE FUNCTION jit_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE query;
    RETURN noted();
END $$;
CREATE TABLE made (id int PRIMARY KEY, body text, fp bigint);
INSERT INTO made
SELECT n, t, minhash(t)
FROM (SELECT n, string_agg(translate(md5((n / 2 * 100 + i)::text), '0123456789', 'ghijklmnop'), ' ' ORDER BY i) AS t
      FROM generate_series(1, 40) AS n, generate_series(1, 30) AS i GROUP BY n) AS s;

SELECT call, jit_of(call) AS jit
FROM (VALUES ($$SELECT simhash_report('made', 'fp', document => 'note(body)')$$),
    ($$SELECT simhash_report('made', 'fp', document => 'note(body)', similarity => 'none')$$),
    ($$SELECT simhash_report('made', 'minhash(note(body))', document => 'body')$$),
    ($$SELECT simhash_dedup_plan('made', 'fp', document => 'note(body)')$$),
    ($$SELECT * FROM simhash_dedup_plan('made', 'fp', document => 'note(body)', kind => 'connected')$$),
    ($$SELECT count(*) FROM simhash_dedup_plan('made', 'minhash(note(body))', similarity => 'none')$$),
    -- a query of the user's own is planned as the user has it
    ($$SELECT simhash_pairs('SELECT id, fp, note(body) AS body FROM made', 3, 'body')$$),
    ($$SELECT simhash_tune('SELECT note(body), fp FROM made')$$))
    AS c (call);
-- so does the DELETE, for the rows that it reads
SELECT simhash_dedup_sql('made', 'fp', document => 'note(body)') AS delete \gset
BEGIN;
:delete;
SELECT count(*) FROM made;
SELECT noted();
ROLLBACK;

-- clusters
CREATE TABLE kept (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(note(body))) STORED);
INSERT INTO kept SELECT id, body FROM made WHERE id <= 20;
SELECT noted();
CALL simhash_add_clusters('kept', 'fp', 8, similarity => 'jaccard');
SELECT noted();
SELECT * FROM simhash_check_clusters('kept');
SELECT noted();
CALL simhash_mend_clusters('kept', anew => 'note(body) IS NOT NULL');
SELECT noted();

-- by construction: functions that run statements of ours turn it off
SELECT p.oid::regprocedure AS has_it_on
FROM pg_proc AS p JOIN pg_language AS l ON l.oid = prolang
    JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension AS e ON e.oid = d.refobjid
WHERE extname = 'simhash' AND lanname = 'sql'
    -- an immutable one becomes part of the query that calls it
    AND provolatile <> 'i' AND ('jit=off' = ANY (proconfig)) IS NOT TRUE;
-- and a query that calls one of ours, and sorts its rows, is not worth compiling
RESET jit_above_cost;
SELECT count(*) FILTER (WHERE cost < current_setting('jit_above_cost')::float8) AS cheap,
    max(cost) FILTER (WHERE cost >= current_setting('jit_above_cost')::float8) AS dear
FROM pg_proc AS p
    JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
    JOIN pg_extension AS e ON e.oid = d.refobjid,
    LATERAL (SELECT cost_of(format('SELECT * FROM %s(%s) AS f ORDER BY f::text', proname,
        (SELECT string_agg(format('NULL::%s', replace(format_type(t, NULL), 'anyelement', 'int')), ', ' ORDER BY n)
         FROM unnest(proargtypes::oid[]) WITH ORDINALITY AS u (t, n)))) AS cost) AS c
WHERE extname = 'simhash' AND proretset;

CALL simhash_drop_clusters('kept');
DROP TABLE made, kept;
DROP FUNCTION note, noted, jit_of;
