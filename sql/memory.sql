--
-- What a session keeps of documents and weights when a transaction has ended,
-- well or not
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- documents of 1.5 MB, with 200,000 different words
CREATE TABLE long AS
SELECT n, string_agg('w' || i * n, ' ') AS body
FROM generate_series(1, 4) AS n, generate_series(1, 200000) AS i GROUP BY n;

-- a statement that is cancelled on its way, if it takes long enough
CREATE PROCEDURE cancelled(command text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE command;
EXCEPTION WHEN query_canceled THEN
    NULL;
END $$;
-- how much more there is than at first, in megabytes, at most
CREATE FUNCTION kept(before bigint, most int) RETURNS text LANGUAGE sql AS $$
    SELECT CASE WHEN memory_in_use() - before <= most * 1000000 THEN 'little'
        ELSE ((memory_in_use() - before) / 1000000) || ' MB' END
$$;

-- all is loaded, and the catalogues are read, when the first measure is taken
SELECT simhash('a b', 'word-1-2') IS NOT NULL, minhash('a b') IS NOT NULL,
    simhash_jaccard('a b', 'a c'), kept(0, 0) IS NOT NULL;
SELECT memory_in_use() AS before \gset

-- calls that succeed
SELECT count(simhash(body, 'word-1-2')) FROM long;
SELECT kept(:before, 1) AS simhash;
SELECT count(minhash(body)) FROM long;
SELECT kept(:before, 1) AS minhash;
SELECT count(simhash_jaccard(a.body, b.body, 'word-1')) FROM long AS a, long AS b
WHERE a.n <> b.n AND a.n < 2;
SELECT kept(:before, 1) AS jaccard;
SELECT count(simhash_cosine(a.body, b.body, 'word-1-2')) FROM long AS a, long AS b
WHERE a.n + 1 = b.n;
SELECT kept(:before, 1) AS cosine;
SELECT length(simhash_idf_agg(body, 'word-2')::text) > 1000000 AS learnt FROM long;
SELECT kept(:before, 1) AS idf_agg;
-- within a transaction, no more than 16 MB of documents compared
BEGIN;
SELECT count(simhash_jaccard(a.body, b.body, 'word-1')) FROM long AS a, long AS b
WHERE a.n + 1 = b.n;
SELECT kept(:before, 32) AS within;
COMMIT;
SELECT kept(:before, 1) AS after;

-- calls that are cancelled
SET statement_timeout = '25ms';
CALL cancelled('SELECT simhash_jaccard(a.body, b.body) FROM long AS a, long AS b');
CALL cancelled('SELECT simhash_cosine(a.body, b.body, ''word-1-2'')
    FROM long AS a, long AS b');
CALL cancelled('SELECT simhash(body, ''word-1-10-count'') FROM long');
CALL cancelled('SELECT simhash(body, ''word-1-10'') FROM long');
CALL cancelled('SELECT simhash_idf_agg(body, ''word-1-10'') FROM long');
CALL cancelled('SELECT simhash_keywords(body, simhash_idf_from(''{a}'', ''{1}'',
    ''word-1''), 3) FROM long');
RESET statement_timeout;
SELECT kept(:before, 1) AS cancelled;
-- and those that an error ends
SELECT fails('SELECT simhash_jaccard(a.body, b.body), 1 / (a.n - 1)
    FROM long AS a, long AS b');
SELECT kept(:before, 1) AS failed;
BEGIN;
SAVEPOINT s;
SELECT simhash_jaccard(a.body, b.body, 'word-1') > 2, 1 / (b.n - 2)
FROM long AS a, long AS b WHERE a.n = 1 AND b.n = 2;
ROLLBACK;
SELECT kept(:before, 1) AS rolled_back;

-- the guard, which compares documents
CREATE TABLE guarded (n int, body text, fp bigint);
CREATE INDEX ON guarded USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'skip', '64', 'document=body', 'fill=simhash', 'similarity=jaccard', 'at_least=0.9');
INSERT INTO guarded SELECT n, body FROM long WHERE n < 3;
SELECT memory_in_use() AS guarding \gset
SELECT :guarding - :before < 1000000 AS guard;
SET statement_timeout = '25ms';
CALL cancelled('INSERT INTO guarded SELECT n, body FROM long');
CALL cancelled('INSERT INTO guarded SELECT n, body FROM long');
RESET statement_timeout;
SELECT kept(:before, 1) AS guard_cancelled;

-- clusters, whose representatives are looked at again as the statement ends
CREATE SEQUENCE most;
CREATE FUNCTION watched(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
    PERFORM setval('public.most', greatest(public.memory_in_use(), (SELECT last_value FROM public.most)));
    RETURN body;
END $$;
SELECT string_agg('body', ', ') AS many FROM generate_series(1, 99) \gset
CREATE TABLE clustered (body text,
    fp bigint GENERATED ALWAYS AS (minhash(watched(coalesce(:many)))) STORED);
CREATE TABLE clustered_too (LIKE clustered INCLUDING GENERATED);
CALL simhash_add_clusters('clustered', 'fp', similarity => 'alike');
CALL simhash_add_clusters('clustered_too', 'fp', similarity => 'alike');
BEGIN;
INSERT INTO clustered SELECT string_agg(md5((n * 10 + i)::text), ' ') FROM generate_series(1, 1000) AS n, generate_series(1, 9) AS i GROUP BY n;
SELECT setval('most', 1);
INSERT INTO clustered_too SELECT 'of the other table ' || body FROM clustered;
COMMIT;
SELECT last_value > 1 AS seen, last_value - memory_in_use() < 5000000 AS clusters FROM most;

-- constraints, which begin a scan for each row of a statement
CREATE TABLE apart (used bigint, tenant bigint, fp bigint,
    EXCLUDE USING hamming (tenant WITH =, fp WITH ~=),
    EXCLUDE USING hamming (hamming_bit_ball(fp::bit(64), 8) WITH ~=));
INSERT INTO apart SELECT CASE WHEN n IN (1, 5000) THEN memory_in_use() END, n % 9, hashint8extended(n, 1)
FROM generate_series(1, 5000) AS n;
SELECT max(used) - min(used) < 1000000 AS constraints FROM apart;

DROP TABLE long, guarded, clustered, clustered_too, apart;
DROP FUNCTION watched(text);
DROP SEQUENCE most;
DROP PROCEDURE cancelled(text);
DROP FUNCTION kept(bigint, int);
