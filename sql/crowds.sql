--
-- similar_rows.c, prefixes.c: more rows near each other than are compared one with
-- each; pairs.c: more pairs than there is room for
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set verified :srcdir '/test/verified_tools.sql'
\set ECHO none
\i :tools
\i :verified
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = warning;
SET jit = off;

----------------------------------------
-- against brute force
----------------------------------------

-- Forms: some words are those of all or of half the rows, others of a few, or a
-- row's own; their number varies.  "spread" are within a few bits of each other,
-- "same" is one fingerprint of nearly all.
CREATE TABLE docs AS
SELECT id, place, site, string_to_array(body, ' ') AS words, body, spread, same,
       spread::bit(64) || (1::bit(64) << (64 * chance(id, 77))::int) AS wide
FROM (SELECT 1250 - n AS id, hashint4(n) AS place, (n % 9 = 0)::int AS site,
             CASE WHEN n % 101 > 0 THEN (
                 SELECT string_agg(CASE WHEN i <= 8 THEN 'form' || i
                                        WHEN i <= 11 THEN 'half' || n % 2 || i
                                        WHEN chance(n, i) < .3 THEN 'few' || (n / 13 * 31 + i)
                                        ELSE 'own' || n || 'x' || i END, ' ' ORDER BY i)
                 FROM generate_series(1 + n % 10, 12 + n % 3 + n % 10 / 9 * 4) AS i) END AS body,
             (SELECT bit_or(1::bigint << (64 * chance(n, i))::int)
              FROM generate_series(1, 2 + n % 3 + n % 10 / 9 * 4) AS i) AS spread,
             CASE WHEN n % 16 > 0 THEN 0 ELSE 1::bigint << n % 60 END AS same
      FROM generate_series(1, 1250) AS n) AS r;

SELECT * FROM compare('spread', 8, 'jaccard', .8, 'words');
SELECT * FROM compare('spread', 7, 'jaccard', .65, 'words', ', site');
SELECT * FROM compare('spread', 8, 'cosine', .9, 'words');
SELECT * FROM compare('same', 2, 'jaccard', .5, 'words');
SELECT * FROM compare('same', 0, 'jaccard', 1, 'words');
SELECT * FROM compare('wide', 9, 'jaccard', .8, 'words', ', site');
-- any feature, and none
SELECT least, count(*), (
    SELECT count(*) FROM docs AS x JOIN docs AS y ON x.id < y.id AND x.same = y.same
    WHERE simhash_jaccard(x.words, y.words) >= least AND x.id > 200) AS wanted
FROM unnest('{0, 1e-300}'::float8[]) AS least,
     simhash_pairs('SELECT id, same, words FROM docs WHERE id > 200', 0, 'words', 'jaccard', least)
GROUP BY least ORDER BY least;
-- where other rows leave the index no room for all of them
CREATE VIEW more AS SELECT id, spread, words FROM docs
UNION ALL SELECT 10000 + n, hashint8extended(n, 1), NULL FROM generate_series(1, 8000) AS n;
CREATE TABLE right_pairs AS
SELECT * FROM simhash_pairs('SELECT id, spread, words FROM docs', 8, 'words', 'jaccard', .65);
CREATE TABLE right_stars AS
SELECT * FROM simhash_clusters('SELECT id, spread, words FROM docs', 8, 'star', document => 'words', similarity => 'jaccard', at_least => .65);
SET maintenance_work_mem = '1MB';
SELECT count(p), count(*) FILTER (WHERE r IS DISTINCT FROM p) AS wrong
FROM right_pairs AS r
FULL JOIN simhash_pairs('TABLE more', 8, 'words', 'jaccard', .65) AS p USING (a, b);
SELECT count(s), count(*) FILTER (WHERE r IS DISTINCT FROM s) AS wrong
FROM right_stars AS r
FULL JOIN simhash_clusters('TABLE more', 8, 'star', document => 'words', similarity => 'jaccard', at_least => .65) AS s USING (id);
RESET maintenance_work_mem;

DROP VIEW more;
DROP TABLE right_pairs, right_stars;
DROP TABLE docs;

----------------------------------------
-- more pairs than there is room for
----------------------------------------

SET client_min_messages = notice;
\set VERBOSITY default
SET temp_file_limit = '170MB';
-- listing 10,001,628 pairs is said first; their ids, long as they are, do not fit
SELECT replace(fails($$SELECT simhash_pairs_as(NULL::text,
    'SELECT n || repeat(''x'', 200), 1::bigint FROM generate_series(1, 4473) AS n')$$), '"', '') AS fails;
-- that they do not fit is known at once
SELECT fails($$SELECT simhash_pairs('SELECT n, n % 2::bigint FROM generate_series(1, 131020) AS n')$$);
SELECT fails($$SELECT simhash_pairs('SELECT n, repeat(''1'', 99)::bit(99) FROM generate_series(1, 4473) AS n')$$);
SELECT fails($$SELECT simhash_pairs('SELECT n, 1::bigint, n % 9 FROM generate_series(1, 131020) AS n')$$);
-- few in each group, or few enough
SET temp_file_limit = '1MB';
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint, n / 20 FROM generate_series(1, 1000) AS n');
-- they fit into memory
SET work_mem = '100MB';
SELECT count(*) FROM simhash_pairs('SELECT n, 1::bigint FROM generate_series(1, 500) AS n');
RESET work_mem;
-- the number is kept from who may not see the rows
CREATE FUNCTION counted(n int) RETURNS bigint LANGUAGE sql SECURITY DEFINER AS $$
    SELECT count(*) FROM simhash_pairs(format('SELECT n, 1::bigint FROM generate_series(1, %s) AS n', n))
$$;
SELECT fails('SELECT counted(4473)');
DROP FUNCTION counted;
RESET temp_file_limit;
-- lines of one template stay for a doubt, however many; each has a copy, which goes
CREATE TABLE lines AS SELECT n AS id, body, minhash(body) AS fp FROM generate_series(1, 3000) AS n,
    LATERAL (SELECT string_agg('w' || translate(i::text, '0123456789', 'ghijklmnop'), ' ' ORDER BY i) AS words
             FROM generate_series(1, 60) AS i) AS w, LATERAL (SELECT words || ' ticket ' || n % 1500) AS b (body);
ALTER TABLE lines ADD PRIMARY KEY (id);
SELECT doubt, count(*), bool_and(gone[1]::int = kept[1]::int + 1500) AS copies
FROM simhash_dedup_plan('lines', 'fp', document => 'body') GROUP BY doubt ORDER BY doubt;
DROP TABLE lines;
