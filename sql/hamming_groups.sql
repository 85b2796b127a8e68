--
-- hamming_columns.c: an index on several columns, searched within a group
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE SCHEMA groups;
SET search_path = groups, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- near-duplicates of a text on several sites, and NULL in every column
CREATE TABLE plain (id int, site text, lang varchar(9), tenant bigint, fp bigint);
INSERT INTO plain
SELECT n, CASE WHEN n % 53 <> 0 THEN 'site ' || hashint4(n) % 7 END,
    CASE WHEN n % 59 <> 0 THEN 'l' || n % 3 END,
    CASE WHEN n % 61 <> 0 THEN hashint4(n / 3) % 11 END,
    CASE WHEN n % 67 <> 0 THEN hashint8extended(n / 40, 1)
        # (hashint8extended(n, 2) & hashint8extended(n, 3) & hashint8extended(n, 4)
           & hashint8extended(n, 5)) END
FROM generate_series(1, 6000) AS n;
CREATE TABLE docs AS TABLE plain;
CREATE INDEX docs_site ON docs USING hamming (site, fp);
CREATE INDEX docs_both ON docs USING hamming (lang, fp, site);
CREATE INDEX docs_tenant ON docs USING hamming (fp, tenant int8_equal_ops);
ANALYZE plain, docs;

CREATE FUNCTION check_all(t regclass) RETURNS TABLE (index regclass, problem text)
LANGUAGE sql AS
$$ SELECT indexrelid::regclass, fails(format('SELECT hamming_index_check(%s, true)', indexrelid))
   FROM pg_index JOIN pg_class AS c ON c.oid = indexrelid
   WHERE indrelid = t AND relam = (SELECT oid FROM pg_am WHERE amname = 'hamming')
   ORDER BY indexrelid::regclass::text $$;
SELECT * FROM check_all('docs');

----------------------------------------
-- plans
----------------------------------------

SELECT plan($$SELECT id FROM docs WHERE site = 'site 3' AND fp ~= 77$$);
SELECT plan($$SELECT id FROM docs WHERE fp <@ (77, 5) AND lang = 'l1' AND site = 'site 3' AND id > 7$$);
SELECT plan($$SELECT id FROM docs WHERE tenant = 5 AND fp = 77$$);
SELECT plan($$SELECT id FROM docs WHERE site = 'site 3' ORDER BY fp <~> 77 LIMIT 5$$);
SELECT plan($$SELECT id FROM docs WHERE site = ANY ('{site 3,site 4}') AND fp ~= 77$$);
SELECT plan($$SELECT id FROM docs WHERE site = 'site 3' AND fp ~= ANY ('{77,78}')$$);
SELECT plan($$SELECT id FROM docs WHERE site = 'site 3' AND tenant = 4 AND fp ~= 77$$);
SELECT plan($$SELECT count(*) FROM plain a JOIN docs b ON a.site = b.site AND a.fp ~= b.fp$$);
SET enable_hashjoin = off;
SELECT plan($$SELECT count(*) FROM plain a JOIN docs b ON a.id = b.tenant AND b.fp <@ (a.fp, 4)$$);
RESET enable_hashjoin;
-- in order of distance a small group is cheaper by a btree, a large one is not
CREATE TABLE many AS SELECT n AS id, CASE WHEN n % 2 = 0 THEN 0 ELSE n % 1999 END AS g,
    hashint8extended(n, 1) AS fp FROM generate_series(1, 50000) AS n;
CREATE INDEX many_hamming ON many USING hamming (g, fp);
CREATE INDEX many_btree ON many (g);
ANALYZE many;
SELECT plan($$SELECT id FROM many WHERE g = 7 ORDER BY fp <~> 77 LIMIT 5$$);
SELECT plan($$SELECT id FROM many WHERE g = 0 ORDER BY fp <~> 77 LIMIT 5$$);
SELECT plan($$SELECT id FROM many WHERE g = 7 AND fp ~= 77$$);
SELECT plan($$SELECT id FROM many WHERE g = 0 AND fp ~= 77$$);
DROP INDEX many_btree;
SELECT plan($$SELECT id FROM many WHERE g = 7 ORDER BY fp <~> 77 LIMIT 5$$);
DROP TABLE many;

-- without a condition on each column an index returns all rows: not as long as
-- the table may be read
SELECT plan($$SELECT id FROM docs WHERE site = 'site 3'$$);
SELECT plan($$SELECT id FROM docs ORDER BY fp <~> 77 LIMIT 1$$);
SELECT line FROM plan($$SELECT id FROM plain AS q JOIN docs USING (id) WHERE docs.fp ~= q.fp$$) AS line WHERE line ~ 'Join';
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT plan($$SELECT id FROM docs WHERE fp ~= 77$$);
SELECT plan($$SELECT id FROM docs WHERE lang = 'l1' AND fp ~= 77$$);
SELECT plan($$SELECT id FROM docs WHERE site = 'site 3'$$);
SELECT plan($$SELECT id FROM docs WHERE site < 'site 3' AND fp ~= 77$$);
SELECT plan($$SELECT id FROM docs WHERE site IS NULL AND fp ~= 77$$);
SELECT plan($$SELECT id FROM docs ORDER BY fp <~> 77$$);
SELECT plan($$SELECT count(*) FROM docs$$);
RESET enable_seqscan;
RESET enable_bitmapscan;

----------------------------------------
-- answers
----------------------------------------

-- what each way of asking finds, and what plain SQL finds
CREATE FUNCTION wrong(OUT way text, OUT queries bigint, OUT wrong bigint, OUT rows numeric)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
    condition text;
BEGIN
    FOREACH condition IN ARRAY ARRAY['d.site = q.site', 'd.lang = q.lang AND d.site = q.site',
        'd.tenant = q.tenant', 'd.tenant = q.id % 20', 'd.tenant = 4', 'd.tenant = 4::smallint',
        'd.site = ANY (ARRAY[q.site, ''site 1'', NULL])', 'd.site = q.site AND d.site = ''site 1''',
        'd.site = q.site AND d.fp ~= (q.fp # 1)', 'd.site = q.site AND d.fp = q.fp'] LOOP
        EXECUTE format($q$ CREATE TEMP TABLE truth AS
            SELECT q.*, k, ARRAY(SELECT d.id FROM plain AS d
                WHERE bit_count((d.fp # q.fp)::bit(64)) <= k AND %s ORDER BY 1) AS theirs
            FROM plain AS q, unnest('{0,1,3,8,20,64}'::int[]) AS k
            WHERE q.id %% 401 = 0 $q$, condition);
        FOREACH way IN ARRAY '{enable_bitmapscan,enable_indexscan}'::text[] LOOP
            PERFORM set_config(way, 'off', true);
            EXECUTE format($q$
                SELECT count(*), count(*) FILTER (WHERE ours IS DISTINCT FROM theirs), sum(cardinality(ours))
                FROM (SELECT theirs, ARRAY(SELECT d.id FROM docs AS d
                          WHERE d.fp <@ (q.fp, k) AND %s ORDER BY 1) AS ours
                      FROM truth AS q) AS s $q$, condition)
            INTO queries, wrong, rows;
            PERFORM set_config(way, 'on', true);
            RETURN QUERY SELECT concat(way, ' ', condition), queries, wrong, rows;
        END LOOP;
        DROP TABLE truth;
    END LOOP;
END $$;
SET enable_seqscan = off;
SELECT way, queries, wrong, rows > 0 AS any FROM wrong();

-- a fingerprint that equals an integer of any width
CREATE TABLE small AS SELECT n::bigint - 1000 AS fp FROM generate_series(1, 2000) AS n;
CREATE INDEX ON small USING hamming (fp);
ANALYZE small;
SELECT plan('SELECT * FROM small WHERE fp = -7');
SELECT (SELECT count(*) FROM small WHERE fp = -7), (SELECT count(*) FROM small WHERE fp = 7::smallint),
    (SELECT count(*) FROM small WHERE fp = -1::bigint), (SELECT count(*) FROM small WHERE fp = 5000000000),
    (SELECT array_agg(fp) FROM small WHERE fp = ANY ('{-3,4}'::int[])), (SELECT count(*) FROM small WHERE fp = NULL);
DROP TABLE small;

-- in order of distance; what is without a distance comes last
SELECT count(*) AS queries, count(*) FILTER (WHERE ours IS DISTINCT FROM theirs) AS wrong,
    sum(cardinality(ours)) AS rows
FROM (SELECT ARRAY(SELECT coalesce(d.fp <~> q.fp, -1) FROM docs AS d WHERE d.site = q.site
                   ORDER BY d.fp <~> q.fp LIMIT n) AS ours,
          ARRAY(SELECT coalesce(bit_count((d.fp # q.fp)::bit(64))::int, -1) FROM plain AS d WHERE d.site = q.site
                ORDER BY bit_count((d.fp # q.fp)::bit(64)) LIMIT n) AS theirs
      FROM plain AS q, unnest('{1,10,100,2000}'::int[]) AS n
      WHERE q.id % 300 = 7) AS s;
SELECT plan($$SELECT d.id FROM docs AS d WHERE d.site = 'site 1' AND d.fp <@ (5, 30) ORDER BY d.fp <~> 7 LIMIT 9$$);
SELECT count(*) = (SELECT count(*) FROM plain WHERE site = 'site 1' AND bit_count((fp # 5)::bit(64)) <= 30) AS same
FROM (SELECT FROM docs AS d WHERE d.site = 'site 1' AND d.fp <@ (5, 30) ORDER BY d.fp <~> 7) AS s;

-- joins
SELECT count(*) = (SELECT count(*) FROM plain a JOIN plain b ON a.site = b.site AND bit_count((a.fp # b.fp)::bit(64)) <= 3) AS same,
    count(*) > 6000 AS many
FROM plain a JOIN docs b ON a.site = b.site AND a.fp ~= b.fp;
SELECT count(*) = (SELECT count(*) FROM plain a JOIN plain b ON a.site = b.site AND a.lang = b.lang AND bit_count((a.fp # b.fp)::bit(64)) <= 3) AS same
FROM docs a JOIN docs b ON a.site = b.site AND a.lang = b.lang AND a.fp ~= b.fp;
RESET enable_seqscan;

-- a scan that knows no group has to be right all the same (some versions of
-- PostgreSQL can be brought to begin one)
SET seq_page_cost = 1e14;
SET enable_seqscan = off;
SELECT count(*), (SELECT count(*) FROM plain WHERE bit_count((fp # 77)::bit(64)) <= 30) AS plain
FROM docs WHERE fp <@ (77, 30);
SELECT count(*), (SELECT count(*) FROM plain WHERE site = 'site 1') AS plain FROM docs WHERE site = 'site 1';
SELECT count(*), (SELECT count(*) FROM plain) AS plain FROM docs;
SELECT array_agg(fp <~> 77) = ARRAY(SELECT bit_count((fp # 77)::bit(64))::int FROM plain ORDER BY 1) AS same
FROM (SELECT fp FROM docs ORDER BY fp <~> 77) AS s;
RESET seq_page_cost;
RESET enable_seqscan;

----------------------------------------
-- every type that has a class
----------------------------------------

CREATE TYPE mood AS ENUM ('sad', 'happy', 'both');
CREATE DOMAIN short AS varchar(9) CHECK (value <> 'x');
CREATE TABLE types (type text, made text, query text);
INSERT INTO types VALUES
    ('smallint', '(n % 5)::smallint', '3'), ('integer', 'n % 5', '3::bigint'),
    ('text', '''t'' || n % 5', '''t3'''), ('varchar', '''t'' || n % 5', '''t3'''), ('short', '''t'' || n % 5', '''t3'''),
    ('char(5)', '''t'' || n % 5', '''t3'''), ('name', '''t'' || n % 5', '''t3''::text'),
    ('"char"', 'chr(65 + n % 5)', '''C'''), ('uuid', 'md5((n % 5)::text)::uuid', 'md5(''3'')::uuid'),
    ('boolean', 'n % 5 = 3', 'true'), ('date', 'date ''2000-01-01'' + n % 5', '''2000-01-04'''),
    ('timestamp', 'date ''2000-01-01'' + n % 5', '''2000-01-04'''), ('timestamptz', 'date ''2000-01-01'' + n % 5', '''2000-01-04'''),
    ('bytea', 'int4send(n % 5)', 'int4send(3)'), ('oid', '(n % 5)::oid', '3'),
    ('numeric', 'CASE WHEN n % 2 = 0 THEN 1.50 ELSE 1.5 END * (n % 5)', '4.5'),
    ('mood', 'CASE n % 5 WHEN 1 THEN ''sad'' WHEN 3 THEN ''happy'' ELSE ''both'' END::mood', '''happy''');
CREATE FUNCTION try_type(type text, made text, query text, OUT kept bigint, OUT ours bigint, OUT plain bigint, OUT plan text, OUT problem text)
LANGUAGE plpgsql AS $$
DECLARE
    rows text;
BEGIN
    EXECUTE format('CREATE TABLE typed (g %s, fp bigint, EXCLUDE USING hamming (g WITH =, fp WITH ~=))', type);
    rows := format('INSERT INTO typed SELECT %s, hashint8extended(n %% 24, 1) # (1 << n %% 9)
        FROM generate_series(1, 1200) AS n', made);
    EXECUTE rows || ' ON CONFLICT DO NOTHING';
    SELECT count(*) INTO kept FROM typed;
    ALTER TABLE typed DROP CONSTRAINT typed_g_fp_excl;
    EXECUTE rows;
    CREATE INDEX typed_index ON typed USING hamming (g, fp);
    problem := fails($q$SELECT hamming_index_check('typed_index', true)$q$);
    SELECT string_agg(btrim(p), ' ') INTO plan FROM plan(format(
        'SELECT count(*) FROM typed WHERE g = %s AND fp ~= hashint8extended(17, 1)', query)) AS p WHERE p ~ 'Index';
    EXECUTE format('SELECT count(*) FROM typed WHERE g = %s AND fp ~= hashint8extended(13, 1)', query) INTO ours;
    DROP INDEX typed_index;
    EXECUTE format('SELECT count(*) FROM typed WHERE g = %s AND fp ~= hashint8extended(13, 1)', query) INTO plain;
    DROP TABLE typed;
END $$;
SET enable_seqscan = off;
SELECT type, t.* FROM types, try_type(type, made, query) AS t;
RESET enable_seqscan;

-- equality that is not that of bytes
CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE cased (site text COLLATE anycase, fp bigint, EXCLUDE USING hamming (site WITH =, fp WITH ~=));
INSERT INTO cased VALUES ('Abc', 0), ('abd', 0);
INSERT INTO cased VALUES ('aBC', 1); -- error
SELECT plan($$SELECT * FROM cased WHERE site = 'ABC' AND fp ~= 7$$);
SELECT * FROM cased WHERE site = 'ABC' AND fp ~= 7;
-- another collation than the index has
SELECT plan($$SELECT * FROM cased WHERE site = 'ABC' COLLATE "C" AND fp ~= 7$$);
CREATE TABLE padded (site char(5), fp bigint, amount numeric,
    EXCLUDE USING hamming (site WITH =, fp WITH ~=), EXCLUDE USING hamming (amount WITH =, fp WITH ~=));
INSERT INTO padded VALUES ('a', 0, 1.0);
INSERT INTO padded VALUES ('a  ', 1, 2); -- error
INSERT INTO padded VALUES ('b', 1, 1.000); -- error
DROP TABLE cased, padded;

-- thirty-two columns, the fingerprint in their midst
DO $$
BEGIN
    EXECUTE 'CREATE TABLE wide (' || (SELECT string_agg('c' || i || ' int', ', ') FROM generate_series(1, 31) AS i) || ', fp bigint)';
    EXECUTE 'CREATE INDEX wide_index ON wide USING hamming (' || (SELECT string_agg('c' || i, ', ') FROM generate_series(1, 15) AS i)
        || ', fp, ' || (SELECT string_agg('c' || i, ', ') FROM generate_series(16, 31) AS i) || ')';
    EXECUTE 'INSERT INTO wide SELECT ' || repeat('n % 2, ', 31) || ' n FROM generate_series(1, 2000) AS n';
    EXECUTE 'INSERT INTO wide SELECT ' || repeat('0, ', 30) || '1, n FROM generate_series(1, 2000) AS n';
END $$;
SET enable_seqscan = off;
DO $$
DECLARE
    query text := 'SELECT count(*) FROM wide WHERE fp ~= 64 AND ' || (SELECT string_agg('c' || i || ' = 0', ' AND ') FROM generate_series(1, 31) AS i);
    found bigint;
BEGIN
    EXECUTE query INTO found;
    RAISE NOTICE '%, by the index: %', found, (SELECT bool_or(p ~ 'wide_index') FROM plan(query) AS p);
END $$;
RESET enable_seqscan;
SELECT count(*) FROM wide WHERE bit_count((fp # 64)::bit(64)) <= 3 AND c1 = 0 AND c31 = 0;
SELECT * FROM check_all('wide');
DROP TABLE wide;

----------------------------------------
-- exclusion constraints
----------------------------------------

-- any order, bigint on both sides of ~=, balls, NULL
CREATE TABLE kept (id int, site text, tenant bigint, fp bigint,
    CONSTRAINT near EXCLUDE USING hamming (site WITH =, fp WITH ~=, tenant WITH =),
    CONSTRAINT ball EXCLUDE USING hamming (hamming_ball(fp, 5) WITH ~=, site WITH =) WHERE (id < 0));
INSERT INTO kept VALUES (1, 'a', 1, 0), (2, 'b', 1, 0), (3, 'a', 2, 0);
INSERT INTO kept VALUES (4, 'a', 1, 7); -- error
INSERT INTO kept VALUES (4, NULL, 1, 0), (5, NULL, 1, 0), (6, 'a', NULL, 0), (7, 'a', NULL, 0), (8, 'a', 1, NULL), (9, 'a', 1, NULL);
INSERT INTO kept VALUES (-1, 'a', 7, 0);
INSERT INTO kept VALUES (-2, 'a', 8, 31); -- error
INSERT INTO kept VALUES (-2, 'b', 8, 31);
UPDATE kept SET site = 'b' WHERE id = 1; -- error
UPDATE kept SET site = 'c' WHERE id = 1;
SELECT plan($$SELECT id FROM kept WHERE tenant = 1 AND site = 'b' AND fp ~= 1$$);
SELECT id FROM kept WHERE tenant = 1 AND site = 'b' AND fp ~= 1;
-- by the distance of a bigint that is not the fingerprint
CREATE TABLE ordered AS SELECT n % 3 AS g, CASE WHEN n % 7 > 0 THEN n END::bigint AS fp, n::bigint % 50 AS tenant
FROM generate_series(1, 500) AS n;
ALTER TABLE ordered ADD EXCLUDE USING hamming (tenant WITH =, fp WITH ~=, g WITH =) WHERE (false);
ALTER TABLE ordered ADD CONSTRAINT whole EXCLUDE USING hamming (tenant WITH =, (fp * 1009 # fp << 40) WITH ~=, g WITH =);
ANALYZE ordered;
SET seq_page_cost = 1e14;
SET random_page_cost = 1e-3;
SET enable_seqscan = off;
SET enable_sort = off;
SELECT array_agg(d) = (SELECT array_agg(bit_count((tenant # 5)::bit(64))::int ORDER BY bit_count((tenant # 5)::bit(64))) FROM ordered) AS same
FROM (SELECT tenant <~> 5 AS d FROM ordered ORDER BY tenant <~> 5) AS s;
SELECT array_agg(d) AS tenant_4 FROM (SELECT tenant <~> 5 AS d FROM ordered WHERE tenant = 4 AND g = 1 ORDER BY tenant <~> 5) AS s;
SELECT array_agg(d) AS tenant_4 FROM (SELECT (fp * 1009 # fp << 40) <~> 5 AS d FROM ordered WHERE tenant = 4 AND g = 1
    ORDER BY tenant <~> 5, (fp * 1009 # fp << 40) <~> 5) AS s;
SELECT array_agg(d ORDER BY d) AS sorted FROM (SELECT bit_count(((fp * 1009 # fp << 40) # 5)::bit(64)) AS d FROM ordered WHERE tenant = 4 AND g = 1) AS s;
RESET seq_page_cost;
RESET random_page_cost;
RESET enable_seqscan;
RESET enable_sort;
DROP TABLE ordered;
SELECT * FROM check_all('kept');
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'kept'::regclass ORDER BY conname;
DROP TABLE kept;

-- partitions: one constraint for all from PostgreSQL 17 on, else one for each
CREATE TABLE parts (id int, tenant bigint, site text, fp bigint) PARTITION BY LIST (tenant);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1, 2);
CREATE TABLE parts_2 (fp bigint, gone int, site text, tenant bigint, id int);
ALTER TABLE parts_2 DROP gone;
ALTER TABLE parts ATTACH PARTITION parts_2 DEFAULT;
SELECT current_setting('server_version_num')::int >= 170000 AS whole \gset
\if :whole
ALTER TABLE parts ADD EXCLUDE USING hamming (tenant WITH =, fp WITH ~=);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES IN (3);
\else
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES IN (3);
ALTER TABLE parts_1 ADD EXCLUDE USING hamming (tenant WITH =, fp WITH ~=);
ALTER TABLE parts_2 ADD EXCLUDE USING hamming (tenant WITH =, fp WITH ~=);
ALTER TABLE parts_3 ADD EXCLUDE USING hamming (tenant WITH =, fp WITH ~=);
\endif
INSERT INTO parts VALUES (1, 1, 'a', 0), (2, 2, 'a', 0), (3, 3, 'a', 0), (4, 4, 'a', 0), (5, 5, 'a', 0);
INSERT INTO parts VALUES (6, 2, 'a', 1); -- error
INSERT INTO parts VALUES (6, 3, 'a', 1); -- error
INSERT INTO parts VALUES (6, 4, 'a', 1); -- error
UPDATE parts SET tenant = 5 WHERE id = 1; -- error
CREATE INDEX ON parts USING hamming (tenant int8_equal_ops, fp, site);
INSERT INTO parts SELECT n, n % 5 + 10, 's' || n % 3, hashint8extended(n, 1) FROM generate_series(1, 3000) AS n;
ANALYZE parts;
SELECT plan($$SELECT id FROM parts WHERE tenant = 11 AND site = 's2' AND fp ~= 1$$);
SELECT id FROM parts WHERE tenant = 4 AND site = 'a' AND fp ~= 1;
SELECT * FROM check_all('parts_2');
DROP TABLE parts;

-- row by row, what is let in has no other one near, and what is not, has
CREATE TABLE excluded (LIKE plain, EXCLUDE USING hamming (tenant WITH =, fp WITH ~=));
INSERT INTO excluded SELECT * FROM plain ON CONFLICT DO NOTHING;
SELECT count(*) FROM excluded;
SELECT count(*) FROM excluded a JOIN excluded b ON a.id < b.id AND a.tenant = b.tenant AND bit_count((a.fp # b.fp)::bit(64)) <= 3;
SELECT count(*) FROM plain p
WHERE NOT EXISTS (SELECT FROM excluded e WHERE e.id = p.id)
    AND NOT EXISTS (SELECT FROM excluded e
                    WHERE e.tenant = p.tenant AND bit_count((e.fp # p.fp)::bit(64)) <= 3 AND e.id < p.id);
SELECT * FROM check_all('excluded');

----------------------------------------
-- rows that come and go
----------------------------------------

CREATE INDEX CONCURRENTLY docs_late ON docs USING hamming (tenant int8_equal_ops, site, fp);
DELETE FROM docs WHERE id % 3 = 0;
VACUUM docs;
SELECT * FROM check_all('docs');
INSERT INTO docs SELECT * FROM plain WHERE id % 3 = 0;
UPDATE docs SET site = 'other' WHERE id % 7 = 0;
UPDATE docs SET id = id;
VACUUM docs;
SELECT * FROM check_all('docs');
DELETE FROM docs WHERE site <> 'other';
VACUUM docs;
SELECT * FROM check_all('docs');
REINDEX INDEX docs_both;
REINDEX TABLE CONCURRENTLY docs;
SELECT * FROM check_all('docs');
-- the size is that of the fingerprint alone
CREATE TABLE sized AS SELECT n % 10 AS g, 'site ' || n AS site, hashint8extended(n, 1) AS fp FROM generate_series(1, 20000) AS n;
CREATE INDEX sized_one ON sized USING hamming (fp);
CREATE INDEX sized_three ON sized USING hamming (g, site, fp);
SELECT pg_relation_size('sized_three') = pg_relation_size('sized_one') AS same;
-- page after page deleted
INSERT INTO sized SELECT n % 10, 'late ' || n, hashint8extended(n, 2) FROM generate_series(1, 20000) AS n;
DELETE FROM sized WHERE g <> 4;
VACUUM sized;
INSERT INTO sized SELECT n % 10, 'later ' || n, hashint8extended(n, 3) FROM generate_series(1, 20000) AS n;
SELECT * FROM check_all('sized');
TRUNCATE sized;
INSERT INTO sized SELECT n % 10, 'site', n FROM generate_series(1, 2000) AS n;
SELECT * FROM check_all('sized');
DROP TABLE sized;
-- without WAL
CREATE UNLOGGED TABLE fleeting AS TABLE plain;
CREATE INDEX ON fleeting USING hamming (lang, fp);
INSERT INTO fleeting SELECT * FROM plain;
SELECT * FROM check_all('fleeting');
DROP TABLE fleeting;
-- the shift is part of the index file and is to stay as it is: SplitMix64 over
-- PostgreSQL's hashes; pages without WAL have no marks of time in them
CREATE FUNCTION signed(n numeric) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT ((n + 9223372036854775808) % 18446744073709551616 - 9223372036854775808)::bigint $$;
CREATE FUNCTION shift_right(n bigint, bits int) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT (n >> bits) & ((1::bigint << (64 - bits)) - 1) $$;
CREATE FUNCTION add_to_shift(shift bigint, hash bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS
$$ SELECT c # groups.shift_right(c, 31)
   FROM groups.signed((shift # hash)::numeric + 11400714819323198485 + 18446744073709551616) AS a,
       groups.signed((a # groups.shift_right(a, 30))::numeric * 13787848793156543929 % 18446744073709551616 + 18446744073709551616) AS b,
       groups.signed((b # groups.shift_right(b, 27))::numeric * 10723151780598845931 % 18446744073709551616 + 18446744073709551616) AS c $$;
CREATE UNLOGGED TABLE golden (g int, s text, fp bigint);
INSERT INTO golden SELECT n % 3, 's' || n % 2, n FROM generate_series(0, 150000) AS n;
SELECT array_agg(add_to_shift(0, hashint4extended(g, 32485540945294184)) ORDER BY g) AS one
FROM generate_series(0, 2) AS g \gset
SELECT array_agg(add_to_shift(add_to_shift(0, hashtextextended('s' || s, 32485540945294184)),
                              hashint4extended(g, 32485540945294184)) ORDER BY g, s) AS two
FROM generate_series(0, 2) AS g, generate_series(0, 1) AS s \gset
CREATE INDEX golden_one ON golden USING hamming (g, fp);
CREATE INDEX golden_one_plain ON golden USING hamming ((fp # (:'one'::bigint[])[g + 1]));
CREATE INDEX golden_two ON golden USING hamming (fp, s, g);
CREATE INDEX golden_two_plain ON golden USING hamming
    ((fp # (:'two'::bigint[])[2 * g + right(s, 1)::int + 1]));
SELECT md5(pg_read_binary_file(pg_relation_filepath('golden_one')))
    = md5(pg_read_binary_file(pg_relation_filepath('golden_one_plain'))) AS one,
    md5(pg_read_binary_file(pg_relation_filepath('golden_two')))
    = md5(pg_read_binary_file(pg_relation_filepath('golden_two_plain'))) AS two;

-- the plan of a search: all rows of a group share what they begin with
SELECT block, crowd > 1000 AS crowd FROM hamming_search_plan('golden_one', (5, 3), '{1}');
SELECT block, crowd > 1000 AS crowd FROM hamming_search_plan('golden_one', (5, 3), '{7}');
SELECT block, crowd > 1000 AS crowd FROM hamming_search_plan('golden_two', (5, 3), '{s1,1}');
SELECT * FROM hamming_search_plan('golden_two', (5, 3), '{a,NULL}');
SELECT * FROM hamming_search_plan('golden_two', (5, 3), '{a}'); -- error
SELECT * FROM hamming_search_plan('golden_two', (5, 3)); -- error
SELECT * FROM hamming_search_plan('golden_two', (5, 3), '{a,b}'); -- error
DROP TABLE golden;

----------------------------------------
-- which column has the fingerprint
----------------------------------------

-- of several of type bigint the last, unless a class or a constraint tells
CREATE TABLE several (id int, a bigint, b bigint, c bit(64));
INSERT INTO several SELECT n, n % 5, hashint8extended(n / 3, 1), hashint8extended(n / 5, 2)::bit(64) FROM generate_series(1, 3000) AS n;
CREATE INDEX several_last ON several USING hamming (a, b);
CREATE INDEX several_first ON several USING hamming (b, a int8_equal_ops);
CREATE INDEX several_bits ON several USING hamming (a, c);
CREATE INDEX several_ball ON several USING hamming (hamming_ball(b, 3), a);
SELECT * FROM check_all('several');
CREATE FUNCTION searches(condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    ours bigint[]; theirs bigint[];
BEGIN
    RETURN QUERY SELECT p FROM plan('SELECT FROM several WHERE ' || condition) AS p WHERE p ~ 'Scan using|Scan on several_';
    EXECUTE 'SELECT array_agg(id ORDER BY id) FROM several WHERE ' || condition INTO ours;
    SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off;
    EXECUTE 'SELECT array_agg(id ORDER BY id) FROM several WHERE ' || condition INTO theirs;
    RESET enable_indexscan; RESET enable_bitmapscan;
    RETURN NEXT concat(ours IS NOT DISTINCT FROM theirs, ' ', cardinality(ours));
END $$;
SET enable_seqscan = off;
SELECT searches('a = 2 AND b ~= ' || (hashint8extended(7, 1) # 3));
SELECT searches('a = 2::smallint AND b ~= ' || (hashint8extended(7, 1) # 3));
SELECT searches('a = 2 AND a ~= 3 AND a <@ (7, 4) AND b ~= ' || (hashint8extended(7, 1) # 3));
SELECT searches('a = 4 AND c <@ ' || format('hamming_bit_ball(%L::bit(64), 3)', hashint8extended(7, 2)::bit(64)));
DROP INDEX several_first;
SELECT searches('b = 4 AND a ~= 5 OR id = 5');
SELECT searches('a ~= 4 AND b ~= ' || (hashint8extended(7, 1) # 3));
DROP TABLE several;

-- a column gets another type: its indexes, constraints and guards go on
CREATE TABLE altered (id int PRIMARY KEY, tenant int, site varchar(9), fp bigint, bits bit(64),
    CONSTRAINT altered_tenant EXCLUDE USING hamming (tenant WITH =, fp WITH ~=) WHERE (id < 1000),
    CONSTRAINT altered_site EXCLUDE USING hamming (fp WITH ~=, site WITH =) WHERE (id < 1000),
    CONSTRAINT altered_ball EXCLUDE USING hamming (tenant WITH =, hamming_ball(fp, 3) WITH ~=) WHERE (id < 1000));
CREATE INDEX altered_index ON altered USING hamming (tenant, fp);
CREATE INDEX altered_both ON altered USING hamming (site, tenant, fp);
CREATE INDEX altered_bits ON altered USING hamming (bits, tenant);
CREATE TRIGGER guard BEFORE INSERT ON altered FOR EACH ROW WHEN (new.id > 1000)
    EXECUTE FUNCTION simhash_guard('fp', 'reject', '3', 'within=tenant,site');
INSERT INTO altered SELECT n, n % 7, 's' || n % 3, hashint8extended(n, 1), hashint8extended(n, 1)::bit(64) FROM generate_series(1, 500) AS n;
CREATE FUNCTION try_altered() RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    RETURN NEXT format('%s %s', pg_typeof(tenant), pg_typeof(site)) FROM altered LIMIT 1;
    RETURN QUERY SELECT format('%s %s', index, problem) FROM check_all('altered');
    RETURN QUERY SELECT p FROM plan('SELECT FROM altered WHERE tenant = 5 AND fp ~= 77') AS p;
    RETURN QUERY SELECT p FROM plan('SELECT FROM altered WHERE tenant = 5 AND site = ''s2'' AND fp ~= 77') AS p;
    RETURN QUERY SELECT p FROM plan('SELECT FROM altered WHERE tenant = 5 AND bits <@ hamming_bit_ball(repeat(''0'', 64)::bit(64), 3)') AS p;
    RETURN NEXT count(*) FROM altered a JOIN altered b ON a.tenant = b.tenant AND a.site = b.site AND b.fp ~= a.fp;
    RETURN NEXT fails('INSERT INTO altered SELECT id + 500, tenant, NULL, fp # 1 FROM altered WHERE id = 1');
    RETURN NEXT fails('INSERT INTO altered SELECT id + 500, NULL, site, fp # 1 FROM altered WHERE id = 1');
    RETURN NEXT fails('INSERT INTO altered SELECT id + 1500, tenant, site, fp # 1 FROM altered WHERE id = 1');
END $$;
SELECT try_altered();
ALTER TABLE altered ALTER tenant TYPE bigint;
SELECT try_altered();
ALTER TABLE altered ALTER site TYPE text;
SELECT try_altered();
ALTER TABLE altered ALTER tenant TYPE smallint, ALTER site TYPE char(4);
SELECT try_altered();
RESET enable_seqscan;
DROP TABLE altered;

----------------------------------------
-- indexes that cannot be
----------------------------------------

CREATE INDEX ON plain USING hamming (site); -- error
CREATE INDEX ON plain USING hamming (site, lang); -- error
CREATE INDEX ON plain USING hamming (tenant int8_equal_ops, fp int8_equal_ops); -- error
CREATE INDEX ON plain USING hamming (site, (fp::bit(64)), hamming_ball(fp, 3)); -- error
CREATE INDEX ON plain USING hamming (site, fp) INCLUDE (id); -- error
CREATE INDEX ON plain USING hamming ((ROW(id, site)), fp); -- error
CREATE INDEX ON plain USING hamming ((site::json), fp); -- error
ALTER TABLE plain ADD EXCLUDE USING hamming (tenant WITH =, fp WITH =); -- error
ALTER TABLE plain ADD EXCLUDE USING hamming (tenant WITH ~=, fp WITH ~=); -- error
ALTER TABLE plain ADD EXCLUDE USING hamming (site WITH <>, fp WITH ~=); -- error
ALTER TABLE plain ADD EXCLUDE USING hamming (site WITH =); -- error

----------------------------------------
-- classes of the user's own
----------------------------------------

CREATE FUNCTION same(a text, b text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE STRICT AS
'BEGIN RETURN lower(a) = lower(b); END';
CREATE FUNCTION same_hash(a text, seed bigint) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS
'SELECT hashtextextended(lower(a), seed)';
CREATE FUNCTION same_hash32(a text) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS
'SELECT hashtext(lower(a))';
CREATE OPERATOR === (FUNCTION = same, LEFTARG = text, RIGHTARG = text, COMMUTATOR = ===,
    RESTRICT = eqsel, JOIN = eqjoinsel, HASHES);
CREATE OPERATOR CLASS same_ops FOR TYPE text USING hamming AS
    OPERATOR 4 ===, FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 same_hash(text, bigint);
CREATE TABLE own (site text, fp bigint, EXCLUDE USING hamming (site same_ops WITH ===, fp WITH ~=));
INSERT INTO own VALUES ('Abc', 0), ('abd', 0);
INSERT INTO own VALUES ('aBC', 1); -- error
SET enable_seqscan = off;
SELECT plan($$SELECT * FROM own WHERE site === 'ABC' AND fp ~= 7$$);
SELECT * FROM own WHERE site === 'ABC' AND fp ~= 7;
RESET enable_seqscan;
CREATE OPERATOR CLASS same_ops FOR TYPE text USING hash AS
    OPERATOR 1 ===, FUNCTION 1 same_hash32(text), FUNCTION 2 same_hash(text, bigint);

-- those that would miss rows
CREATE FUNCTION validates(class text) RETURNS boolean LANGUAGE sql AS
$$ SELECT amvalidate(o.oid) FROM pg_opclass AS o JOIN pg_am AS a ON a.oid = opcmethod
   WHERE opcname = class AND amname = 'hamming' $$;
SELECT validates('same_ops');
CREATE OPERATOR CLASS bad_1 FOR TYPE text USING hamming AS
    OPERATOR 4 ===, FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 hashtextextended(text, bigint);
SELECT validates('bad_1');
CREATE INDEX ON own USING hamming (site bad_1, fp); -- error
CREATE OPERATOR CLASS bad_2 FOR TYPE text USING hamming AS
    OPERATOR 4 <, FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 hashtextextended(text, bigint);
SELECT validates('bad_2');
CREATE OPERATOR CLASS bad_3 FOR TYPE character USING hamming AS
    OPERATOR 4 =, FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 (character, character) hashtextextended(text, bigint);
SELECT validates('bad_3');
CREATE OPERATOR CLASS bad_4 FOR TYPE text USING hamming AS
    OPERATOR 4 =, FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 (text, text) hashtext(text);
SELECT validates('bad_4');
CREATE OPERATOR CLASS bad_5 FOR TYPE text USING hamming AS OPERATOR 4 =;
SELECT validates('bad_5');
CREATE OPERATOR CLASS bad_6 FOR TYPE text USING hamming AS
    OPERATOR 1 =, FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 hashtextextended(text, bigint);
SELECT validates('bad_6');
CREATE OPERATOR CLASS bad_7 FOR TYPE text USING hamming AS
    OPERATOR 4 =, FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 hashtextextended(text, bigint), STORAGE integer;
SELECT validates('bad_7');
CREATE OPERATOR CLASS bad_8 FOR TYPE integer USING hamming AS
    OPERATOR 4 = (integer, integer), OPERATOR 4 = (integer, bigint), FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 hashint4extended(integer, bigint);
SELECT validates('bad_8');
CREATE OPERATOR CLASS bad_9 FOR TYPE text USING hamming AS
    OPERATOR 4 =, FUNCTION 1 hashtextextended(text, bigint);
SELECT validates('bad_9');
CREATE OPERATOR CLASS bad_10 FOR TYPE text USING hamming AS
    OPERATOR 4 =, FUNCTION 2 hashtextextended(text, bigint);
SELECT validates('bad_10');

--
-- A type that is taken for text, and has an = of its own, as citext has
--
CREATE TYPE folded;
SET client_min_messages = warning;
CREATE FUNCTION folded_in(cstring) RETURNS folded LANGUAGE internal IMMUTABLE STRICT AS 'textin';
CREATE FUNCTION folded_out(folded) RETURNS cstring LANGUAGE internal IMMUTABLE STRICT AS 'textout';
RESET client_min_messages;
CREATE TYPE folded (INPUT = folded_in, OUTPUT = folded_out, LIKE = text, CATEGORY = 'S', COLLATABLE = true);
CREATE CAST (folded AS text) WITHOUT FUNCTION AS IMPLICIT;
CREATE FUNCTION folded_eq(a folded, b folded) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT
RETURN lower(a::text) = lower(b::text);
CREATE OPERATOR = (LEFTARG = folded, RIGHTARG = folded, FUNCTION = folded_eq);
CREATE FUNCTION folded_cmp(a folded, b folded) RETURNS int LANGUAGE sql IMMUTABLE STRICT
RETURN bttextcmp(lower(a::text), lower(b::text));
CREATE OPERATOR CLASS folded_ops DEFAULT FOR TYPE folded USING btree AS
    OPERATOR 3 =, FUNCTION 1 folded_cmp(folded, folded);
CREATE TABLE typed (site folded, fp bigint);
INSERT INTO typed VALUES ('a', 1), ('A', 2), ('b', 3);
CREATE INDEX typed_site ON typed USING hamming (site, fp);
CREATE INDEX typed_lower ON typed USING hamming (lower(site), fp);
SET enable_seqscan = off;
SELECT count(*) FROM typed WHERE site = 'a' AND fp ~= 0;
EXPLAIN (COSTS OFF) SELECT * FROM typed WHERE lower(site) = 'a' AND fp ~= 0;
SELECT count(*) FROM typed WHERE lower(site) = 'a' AND fp ~= 0;
RESET enable_seqscan;
\set VERBOSITY terse
DROP TYPE folded CASCADE;
DROP TABLE typed;

SET client_min_messages = warning;
DROP SCHEMA groups CASCADE;
