-- simhash at work on real texts; make demo runs this on a private server.

\set QUIET on
\pset footer off
\pset null '-'
\pset format aligned
\pset border 1
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

\echo
\echo simhash: near-duplicate texts, found inside PostgreSQL
\echo ======================================================
\echo
\echo '1. 725 licences of the SPDX list, each with its fingerprint.'
\echo '   CREATE TABLE licenses (id text, body text,'
\echo '       fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);'
\echo '   SELECT simhash_add_keys(''licenses'', ''fp'');'
\echo

CREATE EXTENSION IF NOT EXISTS simhash;
CREATE TABLE licenses (id text PRIMARY KEY, body text NOT NULL,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
SELECT simhash_add_keys('licenses', 'fp') \g /dev/null
\copy licenses (id, body) FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
VACUUM ANALYZE licenses;

SELECT id, length(body) AS characters, to_hex(fp) AS fingerprint
FROM licenses WHERE id IN ('MIT', 'JSON', 'GPL-3.0-only', 'AGPL-3.0-only')
ORDER BY id;

\echo
\echo '2. Who copied MIT?  fp <@ (q, 8): within 8 of the 64 bits of MIT.'
\echo

SELECT d.id, d.fp <~> q.fp AS bits,
       round(minhash_similarity(d.fp, q.fp)::numeric, 2) AS similarity,
       left(regexp_replace(d.body, '\s+', ' ', 'g'), 44) AS begins
FROM licenses AS q JOIN licenses AS d ON d.fp <@ (q.fp, 8)
WHERE q.id = 'MIT' AND d.id <> 'MIT'
ORDER BY bits, d.id;

\echo
\echo '3. Near-duplicate families: d.fp ~= e.fp is within 3 bits.  The largest:'
\echo

WITH RECURSIVE pair AS MATERIALIZED (
    SELECT a.id, b.id AS other
    FROM licenses AS a JOIN licenses AS b ON a.fp ~= b.fp
), family AS (
    SELECT id, id AS member FROM pair
    UNION
    SELECT f.id, p.other FROM family AS f JOIN pair AS p ON p.id = f.member
)
SELECT count(*) AS members,
       left(string_agg(id, ', ' ORDER BY id), 66) AS family
FROM (SELECT id, min(member) AS head FROM family GROUP BY id) AS f
GROUP BY head HAVING count(*) > 1
ORDER BY members DESC, head LIMIT 8;

\echo
\echo '4. Nobody scans the table: the planner looks up four 16-bit keys.'
\echo

EXPLAIN (COSTS OFF) SELECT id FROM licenses WHERE fp ~= minhash('some text');

\echo
\echo '5. Chinese works out of the box: 3,000 Tang poems, no segmenter.'
\echo '   Here fp is simhash(body).  The same poem under two names, within 10 bits:'
\echo

CREATE TABLE poems (id int PRIMARY KEY, title text, author text, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
SELECT simhash_add_keys('poems', 'fp') \g /dev/null
\copy poems (id, title, author, body) FROM PROGRAM 'xz -dc data/poems.tsv.xz' ENCODING 'UTF8'
VACUUM ANALYZE poems;

SELECT a.fp <~> b.fp AS bits, a.author || ' ' || a.title AS one,
       b.author || ' ' || b.title AS other
FROM poems AS a JOIN poems AS b ON a.fp <@ (b.fp, 10) AND a.id < b.id
WHERE a.author <> b.author
ORDER BY bits, a.id LIMIT 8;

\echo
\echo '   What differs, in the first of them that is not equal:'
\echo

WITH pair AS (
    SELECT a.body AS a, b.body AS b
    FROM poems AS a JOIN poems AS b ON a.fp <@ (b.fp, 10) AND a.id < b.id
    WHERE a.author <> b.author AND a.fp <> b.fp
    ORDER BY a.fp <~> b.fp, a.id LIMIT 1)
SELECT l.line AS one, m.line AS other
FROM pair, regexp_split_to_table(a, '\n') WITH ORDINALITY AS l(line, n)
     JOIN pair AS p ON true,
     regexp_split_to_table(p.b, '\n') WITH ORDINALITY AS m(line, n)
WHERE l.n = m.n AND l.line <> m.line
ORDER BY l.n;

\echo
\echo '6. How close is close?  Pairs of poems by distance.'
\echo

SELECT bits, count(*) AS pairs, repeat('#', (count(*) + 3)::int / 4) AS chart
FROM (SELECT a.fp <~> b.fp AS bits
      FROM poems AS a JOIN poems AS b ON a.fp <@ (b.fp, 15) AND a.id < b.id) AS d
GROUP BY bits ORDER BY bits;

\echo
\echo '7. Keeping near-duplicates out: MIT again, in other letters, from another source.'
\echo '   CREATE TRIGGER guard BEFORE INSERT ON licenses FOR EACH ROW'
\echo '       EXECUTE FUNCTION simhash_guard(''fp'', ''reject'', ''3'');'
\echo

CREATE TRIGGER guard BEFORE INSERT ON licenses FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
\set ON_ERROR_STOP off
INSERT INTO licenses
SELECT 'MIT-mine', 'From a friend: ' || replace(body, 'Software', 'SOFTWARE')
FROM licenses WHERE id = 'MIT';
\set ON_ERROR_STOP on
\echo
