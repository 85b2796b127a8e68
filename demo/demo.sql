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
\echo '   CREATE INDEX ON licenses USING hamming (fp);'
\echo

CREATE EXTENSION IF NOT EXISTS simhash;
CREATE TABLE licenses (id text PRIMARY KEY, body text NOT NULL,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE INDEX ON licenses USING hamming (fp);
\copy licenses (id, body) FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
VACUUM ANALYZE licenses;

SELECT id, length(body) AS characters, to_hex(fp) AS fingerprint
FROM licenses WHERE id IN ('MIT', 'JSON', 'GPL-3.0-only', 'AGPL-3.0-only')
ORDER BY id;

\echo
\echo '2. Who copied MIT?  fp <@ (q, 8): within 8 of the 64 bits of MIT.'
\echo

SELECT d.id, d.fp <~> q.fp AS bits,
       round(minhash_similarity(d.fp, q.fp)::numeric, 2) AS estimate,
       left(regexp_replace(d.body, '\s+', ' ', 'g'), 44) AS begins
FROM licenses AS q JOIN licenses AS d ON d.fp <@ (q.fp, 8)
WHERE q.id = 'MIT' AND d.id <> 'MIT'
ORDER BY bits, d.id;

\echo
\echo '3. Families of near-duplicates: rows within 8 bits, alike by their texts.'
\echo '   The largest:'
\echo

SELECT size AS members, left(string_agg(id, ', ' ORDER BY id), 66) AS family
FROM simhash_clusters_as(NULL::text, 'SELECT id, fp, body FROM licenses', document => 'body')
GROUP BY cluster, size ORDER BY members DESC, family LIMIT 8;

\echo
\echo '4. Nobody scans the table: the index is searched.'
\echo

EXPLAIN (COSTS OFF) SELECT id FROM licenses WHERE fp ~= minhash('some text');

\echo
\echo '5. Chinese works out of the box: 3,000 Tang poems, no segmenter.'
\echo '   Here fp is simhash(body).  The same poem under two names, within 10 bits:'
\echo

CREATE TABLE poems (id int PRIMARY KEY, title text, author text, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
CREATE INDEX ON poems USING hamming (fp);
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
\echo '       EXECUTE FUNCTION simhash_guard(''fp'', ''reject'', ''8'', ''similarity=alike'');'
\echo

CREATE TRIGGER guard BEFORE INSERT ON licenses FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '8', 'similarity=alike');
\set ON_ERROR_STOP off
INSERT INTO licenses
SELECT 'MIT-mine', 'From a friend: ' || replace(body, 'Software', 'SOFTWARE')
FROM licenses WHERE id = 'MIT';
\set ON_ERROR_STOP on

\echo
\echo '8. Web pages as they come: minhash(html, ''word-2-capped-html'') sees what a browser'
\echo '   shows.  MIT on other sites, bits from its text:'
\echo

SELECT what, minhash(html) <~> fp AS as_it_is,
    minhash(html, 'word-2-capped-html') <~> fp AS by_html
FROM licenses, replace(replace(body, '<', '&lt;'), '"', '&quot;') AS text,
    LATERAL (VALUES
    ('its own page', '<title>MIT</title><style>p { color: #222 }</style><p>' || text),
    ('a mirror', '<table><tr><td>' || replace(text, E'\n', '<br>') || '</table>'),
    ('a counter', '<p>' || text || '<p>You are visitor number 41,507.'),
    ('an advert', '<p>' || replace(text, 'Permission', '<div class=ad><a href="/buy?id=7">'
        '<b>Te</b>apots, now half the price!</a></div>Permission')),
    ('a small change', '<p>' || replace(text, 'free of charge', 'at no cost')),
    ('copied with more', '<h1>My licences</h1><p>I took this one from a friend, who took it '
        'from somebody else, and so it is the oldest that I have.<pre>' || text || '</pre>'),
    ('another licence', '<p>' || (SELECT body FROM licenses WHERE id = 'Zlib')))
    AS page (what, html)
WHERE id = 'MIT';
