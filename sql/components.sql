--
-- components.c: simhash_components
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SELECT * FROM simhash_components('VALUES (1, 2), (5, 4), (2, 3), (9, 9), (7, 4), (3, 1)');
SELECT * FROM simhash_components('SELECT 1, 2 WHERE false');
-- a NULL connects nothing, but what stands beside it is there
SELECT * FROM simhash_components('VALUES (1, NULL), (NULL, 2), (3, 4), (NULL, NULL)');
-- integers of every size, further columns
SELECT * FROM simhash_components('SELECT (-1)::smallint, 9223372036854775807, ''x'', NULL');

-- at random, against what a recursive query finds
SELECT setseed(0.5);
CREATE TABLE edges AS
SELECT (random() * 400)::bigint - 200 AS a, (random() * 400)::bigint - 200 AS b FROM generate_series(1, 170);
CREATE TABLE found AS SELECT * FROM simhash_components('SELECT a, b FROM edges');
WITH RECURSIVE ways AS (
    SELECT a, b FROM edges UNION SELECT b, a FROM edges UNION SELECT a, a FROM edges UNION SELECT b, b FROM edges),
reach (a, b) AS (
    SELECT a, b FROM ways UNION SELECT r.a, e.b FROM reach AS r JOIN ways AS e ON r.b = e.a)
SELECT count(*) AS ids, count(*) FILTER (WHERE f.representative IS DISTINCT FROM r.lowest) AS wrong,
    count(*) FILTER (WHERE f.size <> r.size) AS size_wrong, count(DISTINCT f.cluster) > 20 AS many
FROM found AS f FULL JOIN (SELECT a, min(b) AS lowest, count(*) AS size FROM reach GROUP BY a) AS r
    ON r.a = f.id;
SELECT count(*) AS wrong FROM (SELECT cluster, dense_rank() OVER (ORDER BY representative) AS rank FROM found) AS s
WHERE cluster <> rank;
-- a chain, in the worst order
SELECT count(*), min(representative), max(size)
FROM simhash_components('SELECT i, i + 1 FROM generate_series(100000, 1, -1) AS i');
-- as simhash_clusters has it
CREATE TABLE docs AS SELECT i AS id, hashint8extended(i / 3, 0) # (1::bigint << i % 3) AS fp FROM generate_series(1, 300) AS i;
SELECT count(*) AS rows, count(*) FILTER (WHERE c.id IS NULL OR d.id IS NULL OR c.representative <> d.representative
                                          OR c.cluster <> d.cluster OR c.size <> d.size) AS wrong
FROM simhash_components($$SELECT a, b FROM simhash_pairs('SELECT id, fp FROM docs')$$) AS c
    FULL JOIN simhash_clusters('SELECT id, fp FROM docs', kind => 'connected') AS d USING (id);

----------------------------------------
-- ids of other types
----------------------------------------

-- in their own order; a NULL is as above
SELECT * FROM simhash_components_as(NULL::text, $$VALUES ('d', 'b'), ('10', '9'), ('b', 'a'), (NULL, 'c'), ('9', '9')$$);
-- as those of numbers, whatever the type: of a length or none, by value or not; equal ones are one
CREATE DOMAIN place AS bigint;
CREATE FUNCTION compare(id_type anyelement, expression text) RETURNS TABLE (ids bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY EXECUTE format(
        'SELECT count(*), count(*) FILTER (WHERE ROW(c.id, c.cluster, c.representative, c.size) IS DISTINCT FROM
                                                 ROW(%1$s, f.cluster, %2$s, f.size))
         FROM (SELECT *, row_number() OVER () AS nth FROM simhash_components_as(%3$L::%4$s, %5$L)) AS c
             FULL JOIN (SELECT *, row_number() OVER () AS nth FROM found) AS f USING (nth)',
        format(expression, 'f.id'), format(expression, 'f.representative'), id_type, pg_typeof(id_type),
        format('SELECT %s, %s FROM edges', format(expression, 'a'), format(expression, 'b')));
END $$;
SELECT 'uuid' AS type, * FROM compare(NULL::uuid, 'lpad(to_hex(%s + 1000), 32, $z$0$z$)::uuid')
UNION ALL SELECT 'text', * FROM compare(NULL::text, 'repeat(''long'', 30000) || (%s + 5000)')
UNION ALL SELECT 'numeric', * FROM compare(NULL::numeric, 'round(%s::numeric, (random() * 9)::int)')
UNION ALL SELECT 'integer', * FROM compare(NULL::int, '%s::int')
UNION ALL SELECT 'date', * FROM compare(NULL::date, 'make_date(2000, 1, 1) + %s::int')
UNION ALL SELECT 'integer[]', * FROM compare(NULL::int[], 'ARRAY[%s::int, 7]')
UNION ALL SELECT 'place', * FROM compare(NULL::place, '%s::place')
UNION ALL SELECT 'bigint', * FROM compare(NULL::bigint, '%s::smallint');
-- with clusters of near-duplicates, and what joins them otherwise
SELECT * FROM simhash_components_as(NULL::text, $$
    SELECT a, b FROM simhash_pairs_as(NULL::text, 'SELECT ''doc '' || id, fp FROM docs WHERE id < 6')
    UNION ALL VALUES ('doc 2', 'another')$$);

----------------------------------------
-- bad input
----------------------------------------

SELECT fails($$SELECT * FROM simhash_components_as(NULL::uuid, 'SELECT 1, 2')$$);
SELECT fails($$SELECT * FROM simhash_components_as(NULL::int, 'SELECT 1, 2::bigint')$$);
SELECT fails($$SELECT * FROM simhash_components_as(NULL::point, 'SELECT point(1, 2), point(3, 4)')$$);
SELECT fails($$SELECT * FROM simhash_components_as(NULL::money, 'SELECT 1::money, 2::money')$$);
SELECT fails($$SELECT * FROM simhash_components_as(NULL::uuid, NULL)$$);

SELECT * FROM simhash_components(NULL);
SELECT fails($$SELECT * FROM simhash_components('SELECT 1')$$);
SELECT fails($$SELECT * FROM simhash_components('SELECT 1, ''a''::text')$$);
SELECT fails($$SELECT * FROM simhash_components('SELECT 1, 2.0')$$);
SELECT fails($$SELECT * FROM simhash_components('edges')$$);
SELECT fails($$SELECT * FROM simhash_components('DELETE FROM edges RETURNING a, b')$$);
SELECT fails($$SELECT * FROM simhash_components('SELECT 1, 2; SELECT 3, 4')$$);
SELECT fails($$SELECT * FROM simhash_components('SELECT 1 / (a - a), 2 FROM edges')$$);
SET maintenance_work_mem = '1MB';
SELECT regexp_replace(fails($$SELECT * FROM simhash_components('SELECT i, i FROM generate_series(1, 50000) AS i')$$), '\d+ bytes', 'N bytes') AS fails;
SELECT regexp_replace(fails($$SELECT * FROM simhash_components_as(NULL::text, 'SELECT i::text, i::text FROM generate_series(1, 50000) AS i')$$), '\d+ bytes', 'N bytes') AS fails;
RESET maintenance_work_mem;

DROP TABLE edges, found, docs;
DROP FUNCTION compare;
DROP DOMAIN place;
