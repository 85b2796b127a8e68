--
-- report_disk.c: pairs and clusters of more rows than maintenance_work_mem
-- holds, the same as in memory
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;

-- random ones, some with copies; a crowd; and 300 with the same fingerprint
CREATE TABLE docs AS
SELECT n AS id, n % 3 AS g, CASE WHEN n % 10 > 0 THEN hashint8extended(n, 1)
    ELSE hashint8extended(n - n % 7 - 1, 1) # (1::bigint << n % 64)
        # (1::bigint << n * 7 % 64) END AS fp
FROM generate_series(1, 29400) AS n;
INSERT INTO docs SELECT n + 29400, n % 3, 4242 # (hashint8extended(n, 3) & hashint8extended(n, 4)
    & hashint8extended(n, 5) & hashint8extended(n, 6) & hashint8extended(n, 7))
FROM generate_series(1, 300) AS n;
INSERT INTO docs SELECT n + 29700, n % 3, 42 FROM generate_series(1, 300) AS n;

-- What a call yields, in memory and on disk.
CREATE FUNCTION sums(call text, memory text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    sums text;
BEGIN
    PERFORM set_config('maintenance_work_mem', memory, true);
    EXECUTE 'SELECT (count(*), sum(hashtextextended(x::text, 0)))::text FROM ' || call || ' AS x' INTO sums;
    RETURN sums;
END $$;
CREATE TABLE calls (call text);
INSERT INTO calls
SELECT format('simhash_pairs(''SELECT id, fp%s FROM docs ORDER BY fp'', %s)', g, k)
FROM unnest('{0,1,2,3,4,5,6,7,8,12}'::int[]) AS k, unnest('{"",", g"}'::text[]) AS g;
INSERT INTO calls
SELECT format('simhash_clusters(''SELECT id, fp%s FROM docs ORDER BY -id'', %s, %L, %L, %s)', g, k, kind, keep, k / 3)
FROM unnest('{0,3,5,8}'::int[]) AS k, unnest('{"",", g"}'::text[]) AS g,
    unnest('{connected,star}'::text[]) AS kind, unnest('{lowest,first}'::text[]) AS keep;
-- by the upper blocks most rows are in the same part, which is cut into pieces
INSERT INTO calls VALUES
    ('simhash_pairs(''SELECT id, CASE id % 2 WHEN 0 THEN fp & 4294967295 ELSE fp END, g FROM docs'', 3)'),
    ('simhash_pairs(''SELECT id, hashint8extended(id % 15000, 1) & CASE WHEN id % 15000 < 10000 THEN 4294967295 ELSE -1 END FROM docs'', 4)'),
    ('simhash_clusters(''SELECT id, CASE id % 2 WHEN 0 THEN fp & 4294967295 ELSE fp END, g FROM docs'', 5)'),
    ('simhash_clusters(''SELECT id, CASE id % 2 WHEN 0 THEN fp & 4294967295 ELSE fp END, g FROM docs'', 9, ''star'')'),
    ('simhash_clusters(''SELECT id, CASE WHEN id % 3 > 0 THEN 7 ELSE fp END, g FROM docs'', 3)'),
    ('simhash_clusters(''SELECT id, CASE WHEN id % 3 > 0 THEN id % 4 ELSE fp END, g FROM docs'', 1, ''star'')');
-- ids and fingerprints of other kinds
INSERT INTO calls VALUES
    ('simhash_pairs_as(NULL::text, ''SELECT repeat(id::text, 3), fp FROM docs'', 3)'),
    ('simhash_pairs_as(NULL::tid, ''SELECT ctid, fp FROM docs'', 3)'),
    ('simhash_pairs(''SELECT id, fp & 65535 FROM docs WHERE id < 29400'', 1)'),
    ('simhash_clusters_as(NULL::text, ''SELECT repeat(id::text, 3), fp FROM docs'', 5)');
SET client_min_messages = warning;
SELECT call AS differs FROM calls WHERE sums(call, '1GB') IS DISTINCT FROM sums(call, '1MB');
RESET client_min_messages;

-- against brute force
SET maintenance_work_mem = '1MB';
SELECT count(*), sum(distance) FROM simhash_pairs('SELECT id, fp FROM docs', 6)
WHERE a > 28000 AND b <= 29700;
SELECT count(*), sum(hamming(x.fp, y.fp)) FROM docs AS x JOIN docs AS y ON x.id < y.id AND hamming(x.fp, y.fp) <= 6
WHERE x.id > 28000 AND y.id <= 29700;

-- what is said: skipped rows as well
SELECT count(*) FROM simhash_pairs('SELECT nullif(id, 1), nullif(fp, 42) FROM docs');

-- the same id twice; an error of the query, a cancel, a disk that is full
SELECT count(*) FROM simhash_pairs('SELECT id / 2, fp FROM docs');  -- error
SELECT count(*) FROM simhash_clusters('SELECT -(id / 2), fp FROM docs', keep => 'first');  -- error
SELECT count(*) FROM simhash_pairs('SELECT id, fp / (29000 - id) FROM docs');  -- error
SET client_min_messages = warning;
-- where it is by then depends on the machine
\set VERBOSITY terse
SET statement_timeout = '1s';
SELECT count(*) FROM simhash_pairs('SELECT n, hashint8extended(n, 1) FROM generate_series(1, 1000000) AS n', 8);  -- error
RESET statement_timeout;
\set VERBOSITY default
RESET client_min_messages;
SET temp_file_limit = '1MB';
\set VERBOSITY sqlstate
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs');  -- error
SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs');  -- error
\set VERBOSITY default
RESET temp_file_limit;
SELECT * FROM pg_ls_tmpdir();

-- what still needs memory: groups that are many, and clusters of more rows than
-- are to be kept
-- how much it needs depends on assertions
\set VERBOSITY terse
SELECT count(*) FROM simhash_pairs('SELECT id, fp, repeat(id::text, 20) FROM docs');  -- error
\set VERBOSITY default
SELECT count(*) FROM simhash_clusters('SELECT n, n FROM generate_series(1, 200000::bigint) AS n');  -- error

-- no memory is left behind
SET client_min_messages = warning;
SELECT count(*) FROM simhash_pairs('SELECT id, fp, g FROM docs');
SELECT memory_in_use() AS before \gset
SELECT count(*) FROM generate_series(1, 5), LATERAL simhash_clusters('SELECT id, fp, g FROM docs', 0);
SELECT memory_in_use() - :before < 500000 AS no_growth;
RESET client_min_messages;
RESET maintenance_work_mem;
RESET max_parallel_workers_per_gather;
DROP TABLE docs, calls;
DROP FUNCTION sums;
