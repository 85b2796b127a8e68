--
-- pairs.c, query_rows.c: what a call leaves behind, however it ends, and
-- where it may be made
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\set VERBOSITY terse

SET client_min_messages = warning;
CREATE TABLE docs AS SELECT n AS id, n / 2::bigint AS fp FROM generate_series(1, 20) AS n;
-- files of this session, memory, cursors, another name
CREATE VIEW left_over AS
SELECT (SELECT count(*) FROM pg_ls_tmpdir()
        WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%') AS files,
       (SELECT count(*) FROM pg_backend_memory_contexts
        WHERE name IN ('simhash rows', 'simhash documents', 'simhash document',
                       'simhash features')) AS contexts,
       (SELECT count(*) FROM pg_cursors) AS cursors,
       (SELECT application_name = current_setting('application_name')
        FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS name_is_back;

----------------------------------------
-- failures and cancels
----------------------------------------

-- reading
CREATE FUNCTION fault(n int, how text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    IF n <> 13 THEN
        RETURN n / 2;
    ELSIF how = 'cancel' THEN
        PERFORM pg_cancel_backend(pg_backend_pid()), pg_sleep(10);
    ELSIF how = 'fail' THEN
        RAISE 'fault';
    END IF;
    RETURN 6;
END $$;
SELECT * FROM simhash_pairs('SELECT id, fault(id, ''fail'') FROM docs');            -- error
SELECT * FROM simhash_pairs('SELECT id, fault(id, ''cancel'') FROM docs');          -- error
SELECT * FROM simhash_clusters('SELECT id, fault(id, ''fail'') FROM docs');         -- error
SELECT * FROM simhash_clusters('SELECT id, fault(id, ''cancel'') FROM docs');       -- error
SELECT * FROM simhash_pairs('SELECT id, fp, fault(id, ''fail'')::text AS body FROM docs',
    document => 'body');                                                            -- error
SELECT * FROM simhash_clusters('SELECT id, fp, fault(id, ''cancel'')::text AS body FROM docs',
    document => 'body');                                                            -- error
SELECT * FROM simhash_report('docs', 'fault(id, ''fail'')');                        -- error
SELECT * FROM simhash_report('docs', 'fault(id, ''cancel'')');                      -- error
-- sorting ids, by an order that goes wrong
CREATE TYPE odd;
CREATE FUNCTION odd_in(cstring) RETURNS odd LANGUAGE internal IMMUTABLE STRICT AS 'int4in';
CREATE FUNCTION odd_out(odd) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'int4out';
CREATE TYPE odd (INPUT = odd_in, OUTPUT = odd_out, LIKE = int);
CREATE CAST (int AS odd) WITHOUT FUNCTION;
CREATE CAST (odd AS int) WITHOUT FUNCTION;
CREATE FUNCTION odd_cmp(a odd, b odd) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
    PERFORM fault(n::int, current_setting('regress.fault', true))
    FROM unnest(ARRAY[a, b]) AS n;
    RETURN btint4cmp(a::int, b::int);
END $$;
CREATE FUNCTION odd_lt(a odd, b odd) RETURNS bool LANGUAGE sql AS 'SELECT odd_cmp(a, b) < 0';
CREATE FUNCTION odd_le(a odd, b odd) RETURNS bool LANGUAGE sql AS 'SELECT odd_cmp(a, b) <= 0';
CREATE FUNCTION odd_eq(a odd, b odd) RETURNS bool LANGUAGE sql AS 'SELECT odd_cmp(a, b) = 0';
CREATE FUNCTION odd_ge(a odd, b odd) RETURNS bool LANGUAGE sql AS 'SELECT odd_cmp(a, b) >= 0';
CREATE FUNCTION odd_gt(a odd, b odd) RETURNS bool LANGUAGE sql AS 'SELECT odd_cmp(a, b) > 0';
CREATE OPERATOR < (FUNCTION = odd_lt, LEFTARG = odd, RIGHTARG = odd);
CREATE OPERATOR <= (FUNCTION = odd_le, LEFTARG = odd, RIGHTARG = odd);
CREATE OPERATOR = (FUNCTION = odd_eq, LEFTARG = odd, RIGHTARG = odd);
CREATE OPERATOR >= (FUNCTION = odd_ge, LEFTARG = odd, RIGHTARG = odd);
CREATE OPERATOR > (FUNCTION = odd_gt, LEFTARG = odd, RIGHTARG = odd);
CREATE OPERATOR CLASS odd_ops DEFAULT FOR TYPE odd USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 odd_cmp(odd, odd);
SET regress.fault = 'none';
SELECT a, b, pg_typeof(a) FROM simhash_pairs_as(NULL::odd,
    'SELECT id::odd, fp FROM docs WHERE id < 6 ORDER BY -id', 0);
SET regress.fault = 'fail';
SELECT * FROM simhash_pairs_as(NULL::odd, 'SELECT id::odd, fp FROM docs ORDER BY -id');        -- error
SELECT * FROM simhash_clusters_as(NULL::odd, 'SELECT id::odd, fp FROM docs ORDER BY -id');     -- error
SET regress.fault = 'cancel';
SELECT * FROM simhash_pairs_as(NULL::odd, 'SELECT id::odd, fp FROM docs ORDER BY -id');        -- error
SELECT * FROM simhash_clusters_as(NULL::odd, 'SELECT id::odd, fp FROM docs ORDER BY -id');     -- error
TABLE left_over;
-- searching: each of these takes longer
SET statement_timeout = '200ms';
SELECT count(*) FROM simhash_pairs(
    'SELECT n, hashint8extended(n, 1) FROM generate_series(1, 300000) AS n', 16);           -- error
SELECT count(*) FROM simhash_clusters(
    'SELECT n, hashint8extended(n, 1) FROM generate_series(1, 300000) AS n', 16, 'connected');  -- error
SELECT count(*) FROM simhash_clusters(
    'SELECT n, hashint8extended(n, 1) FROM generate_series(1, 300000) AS n', 16, 'star');   -- error
-- comparing documents
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint, ''one two three '' || n AS body
    FROM generate_series(1, 20000) AS n', document => 'body', similarity => 'cosine', at_least => .9);  -- error
SELECT count(*) FROM simhash_clusters('SELECT n, n % 2000, ''some words that ''
    || md5((n / 100)::text) || repeat(md5(n::text), 50) AS body
    FROM generate_series(1, 100000::bigint) AS n', 16, 'star', document => 'body'); -- error
-- putting out more than anybody could wait for
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint FROM generate_series(1, 30000) AS n');  -- error
RESET statement_timeout;
TABLE left_over;
-- putting out, and sorting pairs for stars, with no room on the disk
SET work_mem = '64kB';
SET temp_file_limit = '100kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint FROM generate_series(1, 1000) AS n');   -- error
SELECT count(*) FROM simhash_pairs('SELECT n, n FROM generate_series(1, 20000::bigint) AS n');  -- error
SELECT count(*) FROM simhash_clusters('SELECT n, 1::bigint FROM generate_series(1, 20000) AS n');   -- error
SELECT count(*) FROM simhash_clusters(
    'SELECT n, n * 7 FROM generate_series(1, 20000::bigint) AS n', 4, 'star', min_size => 100000);  -- error
-- keeping documents, their features, and which are near
SELECT count(*) FROM simhash_clusters('SELECT n, n, repeat(''words '', 20) AS body
    FROM generate_series(1, 2000::bigint) AS n', 0, document => 'body');            -- error
SELECT count(*) FROM simhash_clusters('SELECT n, 1::bigint, md5(n::text) || '' a b c d e f g h'' AS body
    FROM generate_series(1, 1000::bigint) AS n', 0, document => 'body', at_least => 1);             -- error
SELECT count(*) FROM simhash_pairs('SELECT n, n & 15, ''x'' AS body
    FROM generate_series(1, 900::bigint) AS n', 1, 'body', at_least => 1);          -- error
\set VERBOSITY terse
RESET temp_file_limit;
TABLE left_over;
-- all goes on
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint FROM generate_series(1, 1000) AS n');
SELECT count(*), max(size) FROM simhash_clusters(
    'SELECT n, n * 7 FROM generate_series(1, 20000::bigint) AS n', 4, 'star');
RESET work_mem;

-- caught, again and again: no memory is kept
SET regress.fault = 'fail';
CREATE FUNCTION caught(times int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    n int := 0;
BEGIN
    FOR i IN 1..times LOOP
        BEGIN
            PERFORM FROM simhash_pairs('SELECT id, fault(id, ''fail'') FROM docs');
        EXCEPTION WHEN raise_exception THEN n := n + 1;
        END;
        BEGIN
            PERFORM FROM simhash_clusters_as(NULL::odd,
                'SELECT id::odd, fp FROM docs ORDER BY -id', kind => 'star');
        EXCEPTION WHEN raise_exception THEN n := n + 1;
        END;
        BEGIN
            PERFORM FROM simhash_clusters('SELECT id, fp, fault(id, ''fail'')::text AS body FROM docs',
                document => 'body');
        EXCEPTION WHEN raise_exception THEN n := n + 1;
        END;
        BEGIN
            PERFORM FROM simhash_report('docs', 'fp', document => 'id');
        EXCEPTION WHEN datatype_mismatch THEN n := n + 1;
        END;
        PERFORM FROM simhash_pairs('SELECT id, fp FROM docs');
        PERFORM FROM simhash_pairs('SELECT id, fp, ''a b c'' AS body FROM docs', document => 'body');
    END LOOP;
    RETURN n;
END $$;
SELECT caught(20);
SELECT memory_in_use() AS before \gset
SELECT caught(200);
SELECT memory_in_use() - :before < 500000 AS no_growth;
TABLE left_over;
-- in a transaction that goes on
BEGIN;
SAVEPOINT s;
SELECT * FROM simhash_clusters('SELECT id, fault(id, ''fail'') FROM docs');         -- error
ROLLBACK TO s;
SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs');
COMMIT;
TABLE left_over;

----------------------------------------
-- calls that are not read to the end, or made again
----------------------------------------

SET work_mem = '64kB';
SELECT * FROM simhash_pairs('SELECT n, 1::bigint FROM generate_series(1, 1000) AS n') LIMIT 2;
TABLE left_over;
BEGIN;
DECLARE c SCROLL CURSOR FOR
SELECT * FROM simhash_pairs('SELECT n, 1::bigint FROM generate_series(1, 1000) AS n');
FETCH 2 FROM c;
SELECT files > 0 AS files, contexts, cursors FROM left_over;
SAVEPOINT s;
DECLARE d CURSOR FOR
SELECT * FROM simhash_clusters('SELECT n, 1::bigint FROM generate_series(1, 20000) AS n');
FETCH 1 FROM d;
ROLLBACK TO s;
FETCH LAST FROM c;
FETCH FIRST FROM c;
CLOSE c;
TABLE left_over;
COMMIT;
RESET work_mem;
-- once for each row, with another text
SELECT query, n
FROM unnest(ARRAY['SELECT id, fp FROM docs', 'VALUES (1, 1::bigint), (2, 1)',
                  'SELECT id, fp FROM docs WHERE false', 'SELECT id::smallint, fp FROM docs',
                  'SELECT id, fp FROM docs'])
     WITH ORDINALITY AS q (query, place),
     LATERAL (SELECT count(*) FROM simhash_pairs(query, 0)) AS c (n)
ORDER BY place;
SELECT n, (SELECT max(size) FROM simhash_clusters('SELECT id, fp FROM docs WHERE id <= ' || n, 0))
FROM generate_series(0, 6, 2) AS n;
SELECT n, simhash_pairs('SELECT id, fp FROM docs WHERE id <= ' || n, 0)
FROM generate_series(1, 7, 3) AS n;
SELECT simhash_pairs('SELECT id, fp FROM docs', 0) LIMIT 1;
-- read again, not made again
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT n, count(*) FROM generate_series(1, 2) AS n
LEFT JOIN simhash_pairs('SELECT id, random()::bigint FROM docs', 1) ON true GROUP BY n;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- thousands of calls in one query keep no memory
WITH calls AS MATERIALIZED (
    SELECT count(*) FROM generate_series(1, 3000) AS n,
    LATERAL simhash_pairs('VALUES (' || n || ', 1::bigint), (0, 1)', 0))
SELECT count, contexts FROM calls, left_over;
WITH calls AS MATERIALIZED (
    SELECT count(*), sum(similarity) FROM generate_series(1, 1000) AS n,
    LATERAL simhash_clusters('SELECT ' || n || ', 1::bigint, ''a b c'' AS t UNION VALUES (0, 1, ''a b c'')',
                             0, 'star', document => 't'))
SELECT count, sum, files, contexts FROM calls, left_over;
-- prepared, with the text as a parameter, and when a column has changed
PREPARE pairs (text, int) AS SELECT count(*), min(pg_typeof(a)::text) FROM simhash_pairs($1, $2);
SET plan_cache_mode = force_generic_plan;
EXECUTE pairs ('SELECT id, fp FROM docs', 0);
EXECUTE pairs ('SELECT n, 1::bigint FROM generate_series(1, 5) AS n', 0);
EXECUTE pairs ('SELECT id::text, fp FROM docs', 0);                                 -- error
EXECUTE pairs (NULL, 0);                                                            -- error
ALTER TABLE docs ALTER id TYPE bigint;
EXECUTE pairs ('SELECT id, fp FROM docs', 0);
ALTER TABLE docs ALTER id TYPE text;
EXECUTE pairs ('SELECT id, fp FROM docs', 0);                                       -- error
ALTER TABLE docs ALTER id TYPE int USING id::int;
EXECUTE pairs ('SELECT id, fp FROM docs', 0);
RESET plan_cache_mode;

----------------------------------------
-- where it may be
----------------------------------------

-- not in a parallel worker, though the query may have some of its own
SELECT proname, proparallel, provolatile FROM pg_proc
WHERE proname ~ '^simhash_(pairs|clusters|report|dedup_sql)' ORDER BY 1, 2;
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 0);
SELECT count(*) AS gathers FROM plan('SELECT count(*) FROM docs,
    LATERAL simhash_pairs(''SELECT id, fp FROM docs'', 0)') AS p WHERE p ~ 'Gather';
RESET max_parallel_workers_per_gather;
RESET min_parallel_table_scan_size;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
-- in a transaction that is read only
BEGIN READ ONLY;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 0);
SELECT count(*) FROM simhash_report('docs', 'fp', 0);
COMMIT;
-- in a function that has written, whose rows it sees, and in a trigger
DO $$
DECLARE
    n bigint;
BEGIN
    INSERT INTO docs VALUES (21, 10);
    SELECT count(*) INTO n FROM simhash_pairs('SELECT id, fp FROM docs', 0);
    RAISE WARNING '% pairs', n;
    SELECT count(*) INTO n FROM simhash_pairs('SELECT id, fp FROM docs', 0)
    WHERE EXISTS (SELECT FROM simhash_pairs('SELECT id, fp FROM docs', 1) AS p WHERE p.distance = 1);
    RAISE WARNING '% pairs', n;
END $$;
CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING '% pairs', (SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 0));
    RETURN NULL;
END $$;
CREATE TRIGGER look AFTER INSERT ON docs EXECUTE FUNCTION look();
INSERT INTO docs VALUES (22, 10);
-- no function of the query writes, though it may in a SELECT
CREATE FUNCTION intrude(n int) RETURNS bigint LANGUAGE sql AS
    'INSERT INTO docs VALUES (n + 100, n) RETURNING fp';
SELECT * FROM simhash_pairs('SELECT id, intrude(id) FROM docs WHERE id < 3', 2);
SELECT * FROM docs WHERE id > 100 ORDER BY id;

----------------------------------------
-- ids of many types
----------------------------------------

CREATE TYPE key AS (x int, y text);
CREATE DOMAIN keydom AS key;
CREATE DOMAIN numbers AS int[];
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE DOMAIN few AS positive;
CREATE FUNCTION ids(expression text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE format('SELECT concat_ws('' '', min(a::text), min(b::text), min(pg_typeof(a)::text))
        FROM simhash_pairs_as(NULL::%s, ''SELECT %s, fp FROM docs WHERE id < 4'', 0)',
        type, replace(expression, '''', '''''')) INTO result;
    RETURN result;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT e, t, ids(e, t) FROM (VALUES
    ('ROW(id, ''x'')::key', 'key'), ('ROW(id, ''x'')::key::keydom', 'keydom'),
    ('ROW(id, ''x'')::key::keydom', 'key'), ('docs', 'docs'), ('ROW(id, ''x'')', 'record'),
    ('ARRAY[id]', 'int[]'), ('array_append(ARRAY[id], 3)', 'int[]'),
    ('ARRAY[id]::numbers', 'numbers'), ('ARRAY[id]::numbers', 'int[]'),
    ('id::positive', 'positive'), ('id::positive', 'int'), ('id::positive', 'bigint'),
    ('id::few', 'few'), ('id::few', 'positive'), ('id', 'positive'),
    ('int4range(id, id + 1)', 'int4range'), ('id::float4', 'float4'), ('id::oid', 'oid'),
    ('id::text::name', 'name'), ('id::text::"char"', '"char"'), ('id::text::varchar', 'varchar'),
    ('id::text::char(3)', 'bpchar'), ('id::text::varchar', 'text'),
    ('date ''2024-01-01'' + id', 'date'), ('''10.0.0.''::text || id', 'inet'),
    ('(''10.0.0.'' || id)::inet', 'inet'), ('id = 3', 'bool'),
    ('json_build_array(id)', 'json'), ('ROW(1, json_build_array(id))', 'record'),
    ('id::text::cstring', 'cstring'), ('''a''', 'text'), ('NULL', 'text')) AS v (e, t);
SELECT fails('SELECT * FROM simhash_pairs_as(NULL, ''SELECT id, fp FROM docs'', 0)');
SELECT fails('SELECT * FROM simhash_pairs_as(''x'', ''SELECT id, fp FROM docs'', 0)');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, NULL FROM docs'')');
SELECT fails('SELECT * FROM simhash_pairs(''SELECT id, ROW(fp) FROM docs'')');
-- small ones and large ones, in the memory that is asked for
CREATE TABLE ids AS SELECT n, repeat('x', n % 13 * (n % 5) * 300) || n AS id
FROM generate_series(1, 2000) AS n;
SELECT count(*), count(*) FILTER (WHERE x.n IS NULL OR y.n IS NULL) AS wrong
FROM simhash_pairs_as(NULL::text, 'SELECT id, n / 2::bigint FROM ids', 0)
LEFT JOIN ids AS x ON x.id = a LEFT JOIN ids AS y ON y.id = b;
SET maintenance_work_mem = '1MB';
SELECT fails('SELECT * FROM simhash_pairs_as(NULL::text, ''SELECT id, n / 2::bigint, repeat(''''x'''', 5000) || n / 2 FROM ids'')') AS told \gset
SELECT substring(:'told' FROM 'SET [^.]+MB''') AS command \gset
:command;
SELECT count(*) FROM simhash_pairs_as(NULL::text, 'SELECT id, n / 2::bigint, repeat(''x'', 5000) || n / 2 FROM ids', 0);
RESET maintenance_work_mem;

DROP TABLE docs, ids CASCADE;
DROP FUNCTION fault, caught, look, intrude, ids;
DROP TYPE odd CASCADE;
DROP TYPE key CASCADE;
DROP DOMAIN numbers, positive CASCADE;
DROP VIEW left_over;

-- a fingerprint by two calls, one of which makes none
CREATE TABLE either (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (coalesce(minhash(body), minhash(body, 'nonesuch'))) STORED);
INSERT INTO either VALUES (1, 'one two three four'), (2, 'one two three four'), (3, 'five six seven eight');
SELECT count(*) > 3 AS report FROM simhash_report('either', 'fp', document => 'body');
CREATE INDEX ON either USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON either FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'at_least=.9');
INSERT INTO either VALUES (4, 'one two three four'), (5, 'nine ten');
SELECT id FROM either ORDER BY id;
DROP TABLE either;

-- a query writes nothing, whatever its functions do about that
CREATE TABLE written (a int);
CREATE FUNCTION writes(command text) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        EXECUTE command;
    EXCEPTION WHEN OTHERS THEN
        NULL;
    END;
    BEGIN
        INSERT INTO written VALUES (1);
    EXCEPTION WHEN read_only_sql_transaction THEN
        RETURN 0;
    END;
    RETURN 1;
END $$;
SELECT command, c.id AS wrote
FROM unnest(ARRAY['RESET transaction_read_only', 'SET transaction_read_only TO DEFAULT',
                  'SET LOCAL transaction_read_only = off', 'SET TRANSACTION READ WRITE', 'RESET ALL',
                  'SELECT set_config(''transaction_read_only'', NULL, true)',
                  -- within another query
                  'SELECT simhash_pairs(''SELECT writes(''''RESET transaction_read_only''''), 1::bigint'')']) AS command,
    simhash_clusters(format('SELECT writes(%L), 1::bigint', command), min_size => 1) AS c;
-- nor as it is planned, but on PostgreSQL 19
SELECT (current_setting('server_version_num')::int >= 190000)::int AS in_planning \gset
CREATE FUNCTION planned(command text) RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS
    'BEGIN RETURN writes(command); END';
SELECT id - :in_planning AS wrote FROM simhash_clusters('SELECT planned(''RESET transaction_read_only''), 1::bigint', min_size => 1);
SELECT count(*) AS reads FROM simhash_pairs('SELECT writes(''RESET transaction_read_only''), 1::bigint FROM nonesuch'); -- error
BEGIN;
SELECT count(*) FROM simhash_pairs('SELECT 1 / writes(''RESET transaction_read_only''), 1::bigint'); -- error
ROLLBACK;
BEGIN;
SELECT writes('SELECT 1') AS wrote;
SELECT count(*) FROM simhash_clusters('SELECT 1, 1::bigint');
SHOW transaction_read_only;
SELECT writes('RESET transaction_read_only') AS wrote;
COMMIT;
SELECT count(*) - :in_planning AS count FROM written;
DROP TABLE written;
DROP FUNCTION writes, planned;

-- "keep" orders by columns of the table, and by nothing else that a query of ours yields
CREATE TABLE odd (id int PRIMARY KEY, fp bigint, body text, "simhash document" int);
INSERT INTO odd VALUES (1, 1, 'b', 2), (2, 1, 'a', 1), (3, 1, 'c', 3);
SELECT * FROM simhash_dedup_plan('odd', 'fp', document => 'body', at_least => 0, keep => '"simhash document"'); -- error
SELECT * FROM simhash_report('odd', 'fp', keep => 'body, U&"simhash\0020apart" DESC'); -- error
SELECT simhash_dedup_sql('odd', 'fp', keep => '2'); -- error
SELECT simhash_dedup_sql('odd', 'fp', keep => 'body,, id'); -- error
SELECT * FROM simhash_dedup_plan('odd', 'fp', similarity => 'none', keep => 'nosuch DESC'); -- error
SELECT gone, kept FROM simhash_dedup_plan('odd', 'fp', similarity => 'none', keep => 't."simhash document" DESC') ORDER BY 1;
DROP TABLE odd;
