--
-- keys.c, key_columns.c: simhash_key, simhash_probes, simhash_add_keys, simhash_drop_keys
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

----------------------------------------
-- simhash_key
----------------------------------------

SELECT block, to_hex(simhash_key(81985529216486895, block) & 65535) AS key
FROM generate_series(0, 3) AS block;            -- 0x0123456789abcdef
SELECT block, simhash_key(-1, block), simhash_key(NULL, block)
FROM generate_series(0, 3) AS block;
SELECT fails('SELECT simhash_key(1, -1)');
SELECT fails('SELECT simhash_key(1, 4)');

----------------------------------------
-- simhash_keys
----------------------------------------

SELECT simhash_keys('{-1,NULL,42,42}', 0), simhash_keys('{-1,NULL,42,42}', 3),
    simhash_keys('{}', 3) AS none, simhash_keys('{NULL}', 3) AS nulls, simhash_keys(NULL, 3) AS "null";
SELECT block FROM generate_series(0, 3) AS block
WHERE simhash_keys((SELECT array_agg(hashint8extended(n, 1) ORDER BY n) FROM generate_series(1, 1000) AS n), block) <>
    (SELECT array_agg(simhash_key(hashint8extended(n, 1), block) ORDER BY n) FROM generate_series(1, 1000) AS n);
SELECT fails($$SELECT simhash_keys('{1}', 4)$$);
SELECT fails($$SELECT simhash_keys('{1}', -1)$$);

----------------------------------------
-- simhash_probes
----------------------------------------

-- nearest first
SELECT simhash_probes(0, 3, 0), simhash_probes(0, 4, 0);
-- as many as the keys within the radius of the block
SELECT radius, array_agg(cardinality(simhash_probes(42, radius, block))
                         ORDER BY block) AS probes
FROM (SELECT * FROM generate_series(0, 15)
      UNION ALL VALUES (27), (28), (64)) AS v(radius),
     generate_series(0, 3) AS block
GROUP BY radius ORDER BY radius;
-- different keys, and those of the nearest distances
SELECT radius, block
FROM generate_series(0, 24) AS radius, generate_series(0, 3) AS block,
     LATERAL (SELECT count(DISTINCT key) AS keys, count(*) AS rows,
                     max(bit_count((key # simhash_key(987654321, block))::int::bit(16)))
                         AS farthest
              FROM unnest(simhash_probes(987654321, radius, block)) AS key) AS p
WHERE keys <> rows
   OR farthest <> radius / 4 - (block > radius % 4)::int
      AND NOT (farthest IS NULL AND radius < block);
-- the guarantee: a fingerprint at distance k has a key among the probes
SELECT count(*) AS escaped
FROM (SELECT hashint8extended(n, 7) AS center, n % 17 AS k,
             (SELECT bit_or(1::bigint << (abs(hashint8extended(n, j)) % 64)::int)
              FROM generate_series(1, n % 17) AS j) AS flip
      FROM generate_series(1, 400) AS n) AS s,
     LATERAL (SELECT center # coalesce(flip, 0) AS near) AS t
WHERE NOT EXISTS (
    SELECT FROM generate_series(0, 3) AS block
    WHERE simhash_key(near, block) = ANY (simhash_probes(center, k, block)));
SELECT fails('SELECT simhash_probes(1, 65, 0)');
SELECT fails('SELECT simhash_probes(1, -1, 0)');
SELECT fails('SELECT simhash_probes(1, 3, 4)');

----------------------------------------
-- simhash_add_keys
----------------------------------------

-- from a column, an expression, a column that is generated itself
CREATE TABLE plain (id int, fp bigint);
SELECT simhash_add_keys('plain', 'fp');
\d plain
CREATE TABLE documents (id int, body text);
SELECT simhash_add_keys('documents', 'simhash(body, ''word-1'')');
\d documents
CREATE TABLE generated (
    body text, fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
SELECT simhash_add_keys('generated', 'fp', '{a,b,"C c",d}');
\d generated
INSERT INTO generated VALUES ('some text'), (''), (NULL);
SELECT (a = simhash_key(fp, 0)) AS a, (b = simhash_key(fp, 1)) AS b,
       ("C c" = simhash_key(fp, 2)) AS c, (d = simhash_key(fp, 3)) AS d
FROM generated;

-- odd names, another schema, partitions, children
CREATE SCHEMA "Odd Schema";
CREATE TABLE "Odd Schema"."T a'b" ("Fp ""1" bigint);
SELECT simhash_add_keys('"Odd Schema"."T a''b"', '"Fp ""1"');
\d "Odd Schema"."T a'b"
CREATE TABLE parted (id int, fp bigint) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
SELECT simhash_add_keys('parted', 'fp');
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES FROM (10) TO (20);
CREATE TABLE parent (id int, fp bigint);
CREATE TABLE child (more text) INHERITS (parent);
SELECT simhash_add_keys('parent', 'fp');
SELECT tablename, count(*) AS indexes FROM pg_indexes
WHERE tablename IN ('parted', 'parted_1', 'parted_2', 'parent', 'child')
GROUP BY tablename ORDER BY tablename;

-- what cannot be done
CREATE VIEW a_view AS SELECT * FROM documents;
CREATE MATERIALIZED VIEW a_matview AS SELECT * FROM documents;
CREATE SEQUENCE a_sequence;
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE a_foreign_table (fp bigint) SERVER nowhere;
SELECT fails('SELECT simhash_add_keys(''a_view'', ''1'')');
SELECT fails('SELECT simhash_add_keys(''a_matview'', ''1'')');
SELECT fails('SELECT simhash_add_keys(''a_sequence'', ''last_value'')');
SELECT fails('SELECT simhash_add_keys(''a_foreign_table'', ''fp'')');
-- nor to those that have one among their partitions or children
CREATE TABLE spread (id int, fp bigint) PARTITION BY LIST (id);
CREATE TABLE spread_here PARTITION OF spread FOR VALUES IN (1);
CREATE TABLE spread_more PARTITION OF spread DEFAULT PARTITION BY LIST (id);
CREATE FOREIGN TABLE spread_away PARTITION OF spread_more DEFAULT SERVER nowhere;
CREATE TABLE spread_parent (id int, fp bigint);
CREATE FOREIGN TABLE spread_child () INHERITS (spread_parent) SERVER nowhere;
SELECT fails('SELECT simhash_add_keys(''spread'', ''fp'')');
SELECT fails('SELECT simhash_add_keys(''spread_parent'', ''fp'')');
CREATE INDEX ON spread USING hamming (fp);
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'spread_here'::regclass;
DROP FOREIGN TABLE spread_away, spread_child;
SELECT simhash_add_keys('spread', 'fp');
DROP TABLE spread, spread_parent;
SELECT fails('SELECT simhash_add_keys(''plain_id'', ''fp'')');
SELECT fails('SELECT simhash_add_keys(''pg_class'', ''1'')');
SELECT fails('SELECT simhash_add_keys(0, ''1'')');
SELECT fails('SELECT simhash_add_keys(''parted_1'', ''fp'', ''{a,b,c,d}'')');
-- the table has such columns already
SELECT fails('SELECT simhash_add_keys(''plain'', ''fp'')');
SELECT fails('SELECT simhash_add_keys(''plain'', ''fp'', ''{x0,x1,k2,x3}'')');
SELECT fails('SELECT simhash_add_keys(''plain'', ''fp'', ''{x0,x1,x2,x2}'')');
SELECT fails('SELECT simhash_add_keys(''plain'', ''fp'', ''{x0,x1,x2}'')');
SELECT fails('SELECT simhash_add_keys(''plain'', ''fp'', ''{x0,x1,x2,NULL}'')');
SELECT fails('SELECT simhash_add_keys(''plain'', ''fp'', ''{x0,x1,x2,ctid}'')');
-- they are of the expression that fp had: no search on fp takes them, and that is said
CREATE TABLE changed (id int, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO changed SELECT i, md5(i::text) || ' ' || i FROM generate_series(1, 300) AS i;
SELECT simhash_add_keys('changed', 'fp', covering => false);
SELECT fails('SELECT simhash_add_keys(''changed'', ''fp'')');
SELECT current_setting('server_version_num')::int >= 170000 AS sets \gset
\if :sets
ALTER TABLE changed ALTER fp SET EXPRESSION AS (simhash(body, 'word-1'));
\else
ALTER TABLE changed DROP fp, ADD fp bigint GENERATED ALWAYS AS (simhash(body, 'word-1')) STORED;
\endif
SELECT fails('SELECT simhash_add_keys(''changed'', ''fp'')');
SELECT fails('SELECT simhash_add_keys(''changed'', ''minhash(body)'')');
SET enable_seqscan = off;
SELECT bool_and(line !~ 'k[0-3]') AS not_taken FROM plan('SELECT id FROM changed WHERE fp ~= 1') AS line;
SELECT bool_or(line ~ 'k[0-3]') AS taken FROM plan('SELECT id FROM changed WHERE minhash(body) ~= 1') AS line;
RESET enable_seqscan;
DROP TABLE changed;

-- the source will not do
CREATE TABLE bare (id int, body text, fp bigint);
SELECT fails('SELECT simhash_add_keys(''bare'', ''nonesuch'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''body'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''id'')');
-- an error points into the source
SELECT simhash_add_keys('bare', 'fp + nosuch'); -- error
SELECT fails('SELECT simhash_add_keys(''bare'', '''')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''fp +'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''fp, fp'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''fp FROM bare'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''DISTINCT fp'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''fp AS x'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''fp UNION SELECT 1'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''fp); DROP TABLE bare; --'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''*'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''$1'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''(SELECT 1::bigint)'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''sum(fp)'')');
SELECT fails('SELECT simhash_add_keys(''bare'', ''(random() * 9)::bigint'')');
SELECT fails('SELECT simhash_add_keys(''generated'', ''fp + 1'', ''{k0,k1,k2,k3}'')');
-- nothing was half done
\d bare
-- not the owner
CREATE ROLE regress_keys_user;
GRANT ALL ON bare TO regress_keys_user;
SET ROLE regress_keys_user;
SELECT simhash_add_keys('bare', 'fp');          -- error
SELECT simhash_drop_keys('plain');              -- error
RESET ROLE;
DROP OWNED BY regress_keys_user;
DROP ROLE regress_keys_user;

----------------------------------------
-- simhash_drop_keys
----------------------------------------

SELECT simhash_drop_keys('plain');
\d plain
SELECT simhash_drop_keys('generated');
\d generated
SELECT fails('SELECT simhash_drop_keys(''plain'')');
SELECT fails('SELECT simhash_drop_keys(''a_view'')');
-- what depends on them is not lost
SELECT split_part(fails('SELECT simhash_drop_keys(''documents'')'), E'\n', 1);

----------------------------------------
-- one document, one fingerprint
----------------------------------------

-- Fingerprint and keys are each generated from the document.  That they cost
-- one fingerprint a row and not five is for the bench; here, that they agree.
CREATE TABLE five (id serial, body text,
    fp bigint GENERATED ALWAYS AS (simhash(body)) STORED);
SELECT simhash_add_keys('five', 'fp');
INSERT INTO five (body) SELECT 'text ' || n % 7 FROM generate_series(1, 50) n;
UPDATE five SET body = body || ' more' WHERE id % 3 = 0;
UPDATE five SET body = NULL WHERE id % 10 = 0;
SELECT count(*) AS wrong FROM five
WHERE (fp, k0, k1, k2, k3) IS DISTINCT FROM
    (simhash(body), simhash_key(simhash(body), 0),
     simhash_key(simhash(body), 1), simhash_key(simhash(body), 2),
     simhash_key(simhash(body), 3));

DROP VIEW a_view;
DROP MATERIALIZED VIEW a_matview;
DROP SEQUENCE a_sequence;
DROP FOREIGN DATA WRAPPER nothing CASCADE;
DROP SCHEMA "Odd Schema" CASCADE;
DROP TABLE plain, documents, generated, parted, parent, child, bare, five;

-- a domain over bigint serves as well, and its statistics
CREATE DOMAIN fingerprint AS bigint;
CREATE TABLE in_domain (fp fingerprint);
SELECT simhash_add_keys('in_domain', 'fp');
INSERT INTO in_domain SELECT n << 20 FROM generate_series(1, 1000) AS n;
INSERT INTO in_domain SELECT 7 FROM generate_series(1, 500);
ANALYZE in_domain;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT * FROM in_domain WHERE fp ~= 4398046511104;
RESET enable_seqscan;
SELECT estimate('SELECT * FROM in_domain WHERE fp ~= 7') BETWEEN 400 AND 600;
DROP TABLE in_domain;
DROP DOMAIN fingerprint;
