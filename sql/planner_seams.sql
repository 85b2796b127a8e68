--
-- key_paths.c, selectivity.c, hamming_cost.c: the operators at
-- every place where SQL takes an expression
--
-- A query stands here with near<a; b> and within<a; b; k>, which become the
-- operators, or the same by other means.  Both must plan, and give the same.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- clusters of near-duplicates, NULLs, and tables of every kind
CREATE TABLE docs (id int PRIMARY KEY, site int, fp bigint);
INSERT INTO docs
SELECT n, n % 7, CASE WHEN n % 50 > 0
    THEN hashint8extended(n / 10, 1) # (1::bigint << n % 64) END
FROM generate_series(1, 600) AS n;
SELECT simhash_add_keys('docs', 'fp');
CREATE TABLE indexed AS SELECT id, site, fp FROM docs;
CREATE INDEX ON indexed USING hamming (fp);
CREATE INDEX ON indexed (id) WHERE fp ~= 42;
CREATE TABLE parts (id int, site int, fp bigint) PARTITION BY LIST (site);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0, 1, 2);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT PARTITION BY RANGE (id);
CREATE TABLE parts_2 PARTITION OF parts_1 DEFAULT;
INSERT INTO parts SELECT id, site, fp FROM docs;
CREATE INDEX ON parts USING hamming (fp);
CREATE TABLE parent (id int, site int, fp bigint);
CREATE TABLE child (more text) INHERITS (parent);
INSERT INTO parent SELECT id, site, fp FROM docs WHERE id <= 300;
INSERT INTO child SELECT id, site, fp FROM docs WHERE id > 300;
SELECT simhash_add_keys('child', 'fp');
CREATE MATERIALIZED VIEW kept AS SELECT * FROM docs;
CREATE INDEX ON kept USING hamming (fp);
CREATE VIEW shown WITH (security_barrier) AS
    SELECT id, site, fp FROM docs WHERE site < 6;
CREATE VIEW grouped AS SELECT min(id) AS id, site, fp FROM docs GROUP BY site, fp;
CREATE SEQUENCE numbers;
ANALYZE;

-- the query with the operators, or the same by other means
CREATE FUNCTION written(query text, ours boolean) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
SELECT regexp_replace(regexp_replace(query,
    'near<([^;>]*); ([^>]*)>',
    CASE WHEN ours THEN '((\1) ~= (\2))'
    ELSE '(bit_count(((\1) # (\2))::bit(64)) <= 3)' END, 'g'),
    'within<([^;>]*); ([^;>]*); ([^>]*)>',
    CASE WHEN ours THEN '((\1) <@ ((\2), (\3)))'
    ELSE '(bit_count(((\1) # (\2))::bit(64)) <= (\3))' END, 'g') $$;

-- what a query gives, in no order, and how many rows that is
CREATE FUNCTION result(query text, OUT n bigint, OUT content text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE 'WITH q AS (' || query || ')
        SELECT count(*), md5(string_agg(q::text, '','' ORDER BY q::text)) FROM q'
        INTO n, content;
END $$;

-- the number of rows that a query gives, planned in every way, or what is wrong
CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    truth record;
    ours record;
    ways text[] := '{enable_seqscan,enable_indexscan,enable_bitmapscan,
        enable_hashjoin,enable_nestloop}';
    way text;
BEGIN
    truth := result(written(query, false));
    ours := result(written(query, true));
    IF ours IS DISTINCT FROM truth THEN
        RETURN format('%s rows, not %s', ours.n, truth.n);
    END IF;
    FOREACH way IN ARRAY ways LOOP
        PERFORM set_config(way, 'off', true);
        EXECUTE 'EXPLAIN ' || written(query, true);
        ours := result(written(query, true));
        IF ours IS DISTINCT FROM truth THEN
            RETURN format('%s: %s rows, not %s', way, ours.n, truth.n);
        END IF;
        IF way <> 'enable_seqscan' THEN
            PERFORM set_config(way, 'on', true);
        END IF;
    END LOOP;
    PERFORM set_config('enable_seqscan', 'on', true);
    RETURN truth.n;
END $$;

----------------------------------------
-- over several relations
----------------------------------------

-- an expression of two relations, aggregated or grouped by
SELECT rows_of('SELECT 1 FROM docs x, docs y WHERE x.id < 9 AND y.id < 9 HAVING near<max(x.fp # y.fp); 5>');
SELECT rows_of('SELECT 1 FROM docs x, docs y WHERE x.id = 1 AND y.id = 9 HAVING within<max(x.fp # y.fp); 0; 5>');
SELECT rows_of('SELECT x.fp # y.fp FROM docs x JOIN docs y USING (id) GROUP BY GROUPING SETS ((x.fp # y.fp), ()) HAVING near<x.fp # y.fp; 5>');
SELECT rows_of('SELECT count(*) FROM docs x JOIN docs y USING (id) GROUP BY ROLLUP (x.site # y.site, x.fp # y.fp) HAVING within<x.fp # y.fp; 1; 2>');
SELECT rows_of('SELECT x.id, y.id FROM docs x, docs y WHERE near<x.fp # y.fp; 0> AND x.id < 50');
SELECT rows_of('SELECT x.id, y.id FROM docs x, docs y WHERE within<x.fp # y.fp; x.fp # y.fp # 3; 2> AND x.id < 5 AND y.id < 5');
SELECT rows_of('SELECT x.id, y.id, z.id FROM docs x, indexed y, parts z WHERE near<x.fp # y.fp; z.fp # y.fp> AND x.id = 7 AND y.id < 9');
SELECT rows_of('SELECT x.id, y.id FROM docs x LEFT JOIN indexed y ON near<x.fp; y.fp> AND x.id <> y.id WHERE near<coalesce(y.fp, x.fp); 77> OR x.id < 20');
SELECT rows_of('SELECT x.id, y.id FROM docs x FULL JOIN indexed y ON x.id = y.id AND near<x.fp # y.fp; 0> WHERE near<coalesce(x.fp, y.fp); x.fp # y.fp> IS NOT TRUE');
SELECT rows_of('SELECT 1 FROM docs x, docs y WHERE x.id < 9 AND y.id < 9 GROUP BY x.site HAVING near<max(x.fp # y.fp); min(x.fp # y.fp)>');
-- over one
SELECT rows_of('SELECT site FROM docs GROUP BY site HAVING near<max(fp); 0> IS NOT NULL');
SELECT rows_of('SELECT fp FROM docs GROUP BY fp HAVING within<fp; 0; 24>');
SELECT rows_of('SELECT near<fp; 0>, count(*) FROM docs GROUP BY near<fp; 0> HAVING near<max(fp # 3); 5> IS NOT TRUE');
SELECT rows_of('SELECT fp, site, count(*) FROM docs GROUP BY CUBE (fp, site) HAVING within<fp; 9; 24>');

----------------------------------------
-- relations of every kind
----------------------------------------

SELECT source, rows_of(format('SELECT id FROM %s AS t WHERE near<fp; (SELECT fp FROM docs WHERE id = 25)>', source)) AS near,
    rows_of(format('SELECT id FROM %s AS t WHERE within<fp; 42; 24>', source)) AS within,
    rows_of(format('SELECT t.id, d.id FROM %s AS t JOIN docs AS d ON near<t.fp; d.fp> AND d.id < 60', source)) AS join,
    rows_of(format('SELECT d.id FROM docs AS d WHERE d.id < 60 AND NOT EXISTS (SELECT FROM %s AS t WHERE near<t.fp; d.fp> AND t.id <> d.id)', source)) AS anti
FROM unnest('{docs,indexed,parts,parent,ONLY parent,kept,shown,grouped,
    "(SELECT id, fp FROM docs TABLESAMPLE BERNOULLI (100))",
    "(SELECT id, fp FROM docs OFFSET 0)",
    "(SELECT id, fp FROM docs UNION ALL SELECT id, fp FROM indexed)",
    "(SELECT id, fp FROM docs EXCEPT SELECT id, fp FROM parent)",
    "(SELECT id, max(fp) OVER (PARTITION BY site) AS fp FROM docs)",
    "(SELECT column1 AS id, column2 AS fp FROM (VALUES (1, 42::bigint), (2, NULL), (3, 43)) AS v)",
    "(SELECT g::int AS id, g AS fp FROM generate_series(40::bigint, 60) AS g)",
    "(SELECT ordinality AS id, fp FROM unnest(ARRAY[42::bigint, 7]) WITH ORDINALITY AS u(fp))",
    "(SELECT 1 AS id, last_value AS fp FROM numbers)",
    "(SELECT id, fp FROM ROWS FROM (generate_series(1, 3), generate_series(4::bigint, 5)) AS r(id, fp))",
    "(SELECT * FROM json_to_recordset(''[{\"id\":1,\"fp\":42}]'') AS j(id int, fp bigint))",
    "(WITH RECURSIVE r(id, fp) AS (SELECT 1, 1::bigint UNION ALL SELECT id + 1, fp * 2 FROM r WHERE id < 9) SELECT * FROM r)",
    "(WITH m AS MATERIALIZED (SELECT * FROM docs) SELECT * FROM m)",
    "(SELECT d.id, l.fp FROM docs d, LATERAL (SELECT d.fp # 1 AS fp) AS l)",
    "(SELECT * FROM docs WHERE false)"}'::text[]) AS source;

----------------------------------------
-- expressions of every kind
----------------------------------------

SELECT rows_of('SELECT CASE WHEN near<fp; 42> THEN 1 WHEN within<fp; 0; 30> THEN 2 ELSE 3 END FROM docs');
SELECT rows_of('SELECT id FROM docs WHERE CASE WHEN site = 1 THEN near<fp; 42> ELSE within<fp; 0; site + 24> END');
SELECT rows_of('SELECT id FROM docs WHERE within<fp; fp # 7; site>');
SELECT rows_of('SELECT id FROM docs WHERE near<fp; CASE WHEN site = 1 THEN fp ELSE 0 END>');
SELECT rows_of('SELECT id, sum(id) OVER (PARTITION BY near<fp; 5> ORDER BY near<fp; 7> DESC, id), count(*) FILTER (WHERE within<fp; 0; 30>) OVER () FROM docs');
SELECT rows_of('SELECT id FROM (SELECT id, fp, lag(fp) OVER (ORDER BY id) AS before FROM docs) AS s WHERE near<fp; before>');
SELECT rows_of('SELECT count(*) FILTER (WHERE near<fp; 42>), max(id) FROM docs');
SELECT rows_of('SELECT DISTINCT ON (near<fp; 42>, site) near<fp; 42>, site FROM docs ORDER BY near<fp; 42>, site, id');
SELECT rows_of('SELECT (SELECT count(*) FROM indexed i WHERE near<i.fp; d.fp>) FROM docs d WHERE d.id < 40');
SELECT rows_of('SELECT id FROM docs d WHERE near<(SELECT max(i.fp) FROM indexed i WHERE i.id = d.id); d.fp>');
SELECT rows_of('SELECT id FROM docs d WHERE id < 60 AND EXISTS (SELECT FROM indexed i WHERE near<i.fp # d.fp; 0> AND i.id < d.id)');
SELECT rows_of('SELECT id FROM docs d WHERE id < 60 AND d.id IN (SELECT i.id FROM indexed i WHERE within<i.fp; d.fp; 0>)');
SELECT rows_of('SELECT id FROM docs d WHERE id < 60 AND (SELECT bool_or(near<d.fp # i.fp; 5>) FROM indexed i GROUP BY i.site HAVING near<d.fp; max(i.fp # d.fp # i.fp)> AND i.site = 3)');
SELECT rows_of('SELECT id FROM docs WHERE near<fp; 42> OR NOT within<fp; 0; 30> OR fp IS NULL');
SELECT rows_of('SELECT id FROM docs WHERE near<fp; NULL> IS UNKNOWN AND near<fp; 3> IS NOT TRUE');
SELECT rows_of('SELECT d.id, s.n FROM docs d, LATERAL (SELECT count(*) AS n FROM indexed i WHERE near<i.fp; d.fp>) AS s WHERE d.id < 20');
SELECT rows_of('SELECT d.id, s.id FROM docs d, LATERAL (SELECT i.id FROM parts i WHERE within<i.fp; d.fp; 2> ORDER BY i.id LIMIT 2) AS s WHERE d.id < 20');
SELECT rows_of('SELECT id FROM docs WHERE near<fp; 42> UNION SELECT id FROM parts WHERE within<fp; 42; 24> UNION ALL (SELECT id FROM kept WHERE within<fp; 42; 25> INTERSECT SELECT id FROM docs)');
SELECT rows_of('SELECT d.id FROM docs a JOIN docs b USING (id) JOIN (docs c JOIN docs d USING (site)) ON near<a.fp # b.fp; c.fp # d.fp> WHERE a.id = 5 AND c.id = 6');
SELECT rows_of('SELECT t.id FROM docs t WHERE t.id < 99 AND near<t.fp; (t.*::docs).fp> AND near<(ARRAY[t.fp])[1]; t.fp>');

----------------------------------------
-- statements that write
----------------------------------------

CREATE TABLE target (id int PRIMARY KEY, fp bigint CHECK (NOT fp ~= -42),
    CHECK (NOT fp <@ (1048575, 1)));
CREATE UNIQUE INDEX ON target (fp) WHERE fp ~= 0;
CREATE INDEX ON target ((fp ~= 7), (fp # 7));
INSERT INTO target SELECT id, fp FROM docs WHERE id < 100;
INSERT INTO target VALUES (500, -43); -- error
INSERT INTO target VALUES (500, 1048574); -- error
INSERT INTO target VALUES (500, 1), (501, 1)
    ON CONFLICT (fp) WHERE fp ~= 0 DO UPDATE SET fp = 2
    WHERE target.fp ~= excluded.fp AND target.fp # excluded.fp <@ (0, 0)
    RETURNING id, fp, fp ~= 5 AS near, fp <@ (1, 2) AS within; -- error
INSERT INTO target VALUES (500, 1) RETURNING fp ~= 5 AS near;
INSERT INTO target VALUES (501, 1)
    ON CONFLICT (fp) WHERE fp ~= 0 DO UPDATE SET fp = 2
    WHERE target.fp ~= excluded.fp AND target.fp # excluded.fp <@ (0, 0)
    RETURNING id, fp, fp ~= 5 AS near, fp <@ (1, 2) AS within;
UPDATE target t SET fp = d.fp FROM docs d
WHERE t.fp # d.fp ~= 0 AND t.id <> d.id AND t.id < 3 AND d.id < 5
RETURNING t.fp ~= d.fp AS near, t.fp # d.fp <@ (d.fp # t.fp, d.site) AS within;
WITH gone AS (DELETE FROM target t USING docs d
              WHERE t.fp ~= d.fp AND t.id = d.id AND t.id % 9 = 0
              RETURNING t.id, t.fp # d.fp ~= 1 AS near)
SELECT count(*), min(id), bool_and(near) FROM gone;
MERGE INTO target t USING docs d ON t.fp ~= d.fp AND t.id = d.id
WHEN MATCHED AND t.fp # d.fp ~= 0 AND t.id < 20 THEN DELETE
WHEN NOT MATCHED AND d.id < 20 AND NOT d.fp <@ (0, 2) THEN INSERT VALUES (d.id, d.fp);
SELECT count(*), min(id), max(id) FROM target;

-- an array with more elements than the table has rows
SELECT format('SELECT id FROM indexed WHERE fp ~= ANY (''%s'')', array_agg(hashint8extended(n / 10, 1) # (n % 7))) AS many FROM generate_series(1, 5000) AS n \gset
SELECT rtrim(line) FROM plan(:'many') AS line WHERE line !~ 'Cond:|Filter:';

-- row security: two tables in the condition of a policy
CREATE ROLE regress_planner_seams_reader;
GRANT SELECT ON docs, indexed, target TO regress_planner_seams_reader;
CREATE POLICY near ON indexed FOR SELECT USING (EXISTS (
    SELECT FROM docs AS d WHERE d.fp # indexed.fp ~= 0 AND d.site = 1
    GROUP BY d.site HAVING max(d.fp # indexed.fp) ~= 0));
ALTER TABLE indexed ENABLE ROW LEVEL SECURITY;
SET ROLE regress_planner_seams_reader;
SELECT rows_of('SELECT id FROM indexed WHERE near<fp; (SELECT fp FROM docs WHERE id = 15)>');
SELECT rows_of('SELECT id FROM indexed WHERE within<fp; 0; 30>');
RESET ROLE;

-- planning loads nobody else's library: of a function of one that is gone, in
-- an index that the query has no use for, it need not know anything
CREATE FUNCTION gone(bigint, integer) RETURNS smallint AS '$libdir/simhash', 'simhash_key' LANGUAGE C IMMUTABLE STRICT;
CREATE INDEX ON docs (gone(fp, 0));
UPDATE pg_proc SET probin = '$libdir/nowhere' WHERE oid = 'gone'::regproc;
\c -
SELECT fails('SELECT gone(1, 2)') ~ 'could not access file' AS gone;
SELECT count(*) > 0 AS found FROM docs WHERE fp ~= (SELECT fp FROM docs WHERE id = 15);
DROP FUNCTION gone CASCADE;

DROP VIEW shown, grouped;
DROP MATERIALIZED VIEW kept;
DROP TABLE docs, indexed, parts, parent, child, target;
DROP SEQUENCE numbers;
DROP FUNCTION rows_of, result, written;
DROP ROLE regress_planner_seams_reader;
