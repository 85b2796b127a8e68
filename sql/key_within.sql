--
-- key_prefix.c, key_columns.c: key columns behind columns of groups, such as (site, k0)
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SET max_parallel_workers_per_gather = 0;
SET jit = off;

-- 20 sites that share their texts
CREATE TABLE docs (id int PRIMARY KEY, fp bigint, site text, lang varchar, live boolean);
INSERT INTO docs
SELECT n, hashint8extended(n % 2000, 1) # CASE WHEN n % 3 = 0 THEN 1::bigint << n % 64 ELSE 0 END,
    's' || n % 20, CASE WHEN n % 7 > 0 THEN 'l' || n % 2 END, n % 5 > 0
FROM generate_series(1, 20000) AS n;

----------------------------------------
-- simhash_add_keys
----------------------------------------

SELECT simhash_add_keys('docs', 'fp', within => '{site}', covering => false);
VACUUM ANALYZE docs;
\d docs
CREATE TABLE odd (fp bigint, "The, site" int, lang text);
SELECT simhash_add_keys('odd', 'fp', '{a,b,c,d}', '{"The, site",lang}');
SELECT indexdef FROM pg_indexes WHERE tablename = 'odd' ORDER BY indexname;
SELECT simhash_drop_keys('odd');
SELECT count(*) FROM pg_indexes WHERE tablename = 'odd';
ALTER TABLE odd ADD data json;
SELECT fails('SELECT simhash_add_keys(''odd'', ''fp'', within => ''{site}'')');
SELECT fails('SELECT simhash_add_keys(''odd'', ''fp'', within => ''{lang,lang}'')');
SELECT fails('SELECT simhash_add_keys(''odd'', ''fp'', within => ''{lang,NULL}'')');
SELECT fails('SELECT simhash_add_keys(''odd'', ''fp'', within => ''{ctid}'')');
SELECT fails('SELECT simhash_add_keys(''odd'', ''fp'', within => ''{data}'')');
SELECT fails(format('SELECT simhash_add_keys(''odd'', ''fp'', within => %L)',
    (SELECT array_agg('c' || n) FROM generate_series(1, 32) AS n)));
\d odd
DROP TABLE odd;

----------------------------------------
-- the plan of each kind of query
----------------------------------------

SELECT plan('SELECT id FROM docs WHERE site = ''s1'' AND fp ~= 42');
SELECT plan('SELECT id FROM docs WHERE fp <@ (42, 2) AND ''s1'' = site AND lang = ''l1''');
SELECT plan('SELECT id FROM docs WHERE site = ANY (''{s1,s2}'') AND fp ~= 42');
SELECT plan('SELECT id FROM docs WHERE site IN (''s1'', ''s2'') AND fp <@ (42, 4)');
SET plan_cache_mode = force_generic_plan;
PREPARE near(text, bigint) AS SELECT id FROM docs WHERE site = $1 AND fp ~= $2;
SELECT plan('EXECUTE near(''s1'', 42)');
PREPARE within(text[], bigint, int) AS SELECT id FROM docs WHERE site = ANY ($1) AND fp <@ ($2, $3);
SELECT plan('EXECUTE within(''{s1}'', 42, 3)');
RESET plan_cache_mode;
-- joins
SELECT plan('SELECT a.id, b.id FROM docs a JOIN docs b ON a.site = b.site AND a.fp ~= b.fp
             WHERE a.id < 10');
SELECT plan('SELECT a.id, b.id FROM docs a LEFT JOIN docs b ON b.site = a.site
             AND b.fp <@ (a.fp, 3) AND b.id <> a.id WHERE a.id < 10');
SELECT plan('SELECT id FROM docs a WHERE id < 10 AND EXISTS (
             SELECT FROM docs b WHERE b.fp ~= a.fp AND b.site = a.site AND b.id < a.id)');
SELECT plan('SELECT * FROM (VALUES (1::bigint, ''s1''), (2, ''s2'')) AS q(fp, site),
             LATERAL (SELECT id FROM docs WHERE docs.fp ~= q.fp AND docs.site = q.site LIMIT 5) AS d');
-- the site from another relation than the fingerprint, or from one alone
CREATE TABLE sites (site text, owner int);
INSERT INTO sites SELECT 's' || n, n FROM generate_series(1, 3) AS n;
ANALYZE sites;
SELECT plan('SELECT id FROM docs JOIN sites USING (site) WHERE owner = 2 AND fp ~= 42');
SELECT plan('SELECT a.id FROM docs a, docs b, sites s WHERE b.id = 7 AND s.owner = 2
             AND a.site = s.site AND a.fp ~= b.fp');
-- modifications
SELECT plan('DELETE FROM docs WHERE fp ~= 42 AND site = ''s1''');

-- boolean columns, expressions, several columns, keys that are no columns
CREATE TABLE bare AS SELECT id, fp, site, lang, live FROM docs;
CREATE INDEX bare_0 ON bare (live, lower(site), simhash_key(fp, 0), id);
CREATE INDEX bare_1 ON bare (lower(site), live, simhash_key(fp, 1));
CREATE INDEX bare_2 ON bare (live, simhash_key(fp, 2));
CREATE INDEX bare_3 ON bare (simhash_key(fp, 3));
ANALYZE bare;
SELECT plan('SELECT id FROM bare WHERE live AND lower(site) = ''s1'' AND fp ~= 42');
SELECT plan('SELECT id FROM bare WHERE NOT live AND lower(site) = ''s1'' AND fp ~= 42');
SELECT plan('SELECT id FROM bare WHERE live = true AND lower(site) = ''s1'' AND fp ~= 42');

-- indexes with a site and without: one with most conditions is taken
CREATE TABLE both_ways AS SELECT id, fp, site FROM docs;
SELECT simhash_add_keys('both_ways', 'fp', covering => false);
CREATE INDEX site_0 ON both_ways (site, k0);
CREATE INDEX site_1 ON both_ways (site, k1);
CREATE INDEX site_2 ON both_ways (site, k2);
CREATE INDEX site_3 ON both_ways (site, k3);
ANALYZE both_ways;
SELECT plan('SELECT id FROM both_ways WHERE site = ''s1'' AND fp ~= 42');
SELECT plan('SELECT id FROM both_ways WHERE fp ~= 42');
SELECT plan('SELECT a.id, b.id FROM both_ways a JOIN both_ways b ON a.site = b.site AND a.fp ~= b.fp
             WHERE a.id = 10');
SELECT plan('SELECT a.id, b.id FROM both_ways a JOIN both_ways b ON a.fp ~= b.fp
             WHERE a.id = 10');

----------------------------------------
-- hands off
----------------------------------------

-- Does the plan look up keys?  What it does instead is up to the planner.
CREATE FUNCTION looks_up(condition text) RETURNS boolean LANGUAGE sql AS
    $$ SELECT string_agg(line, ' ') ~ 'Index Cond:.*(k0|simhash_key)'
       FROM plan('SELECT d.id FROM docs AS d ' || condition) AS line $$;
SELECT condition, looks_up(condition) FROM unnest(ARRAY[
    'WHERE fp ~= 42 AND site = ''s1''',
    -- no condition, or none of equality
    'WHERE fp ~= 42', 'WHERE fp ~= 42 AND site > ''s1''', 'WHERE fp ~= 42 AND site IS NULL',
    'WHERE fp ~= 42 AND site <> ALL (''{s1}'')', 'WHERE fp ~= 42 AND (site = ''s1'' OR id = 1)',
    -- another collation, a volatile value, a column of the same row, another type
    'WHERE fp ~= 42 AND site = ''s1'' COLLATE "C"', 'WHERE fp ~= 42 AND site = ''s'' || random()',
    'WHERE fp ~= 42 AND site = lang', 'WHERE fp ~= 42 AND site::name = ''s1''::name',
    -- a join in which the condition is about the outer side
    'LEFT JOIN sites AS s ON d.site = s.site AND fp ~= 42'])
    WITH ORDINALITY AS c (condition, n) ORDER BY n;

-- Row security: the policy's own condition serves, and so does one of the user
-- that is leakproof; one that is not must not come before the policy.
CREATE ROLE regress_key_within_user;
GRANT SELECT ON docs TO regress_key_within_user;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON docs USING (site = 's3');
SET ROLE regress_key_within_user;
SELECT plan('SELECT id FROM docs WHERE fp ~= 42');
RESET ROLE;
DROP POLICY own ON docs;
CREATE POLICY even ON docs USING (id % 2 = 0);
SET ROLE regress_key_within_user;
SELECT plan('SELECT id FROM docs WHERE fp ~= 42 AND site = ''s3''');
RESET ROLE;
CREATE FUNCTION leaks(text, text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN RAISE NOTICE ''%'', $1; RETURN $1 = $2; END';
CREATE OPERATOR === (FUNCTION = leaks, LEFTARG = text, RIGHTARG = text, COMMUTATOR = ===);
CREATE FUNCTION below(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 < $2';
CREATE OPERATOR <<< (FUNCTION = below, LEFTARG = text, RIGHTARG = text);
CREATE OPERATOR FAMILY leaking USING btree;
CREATE OPERATOR CLASS leaking FOR TYPE text USING btree FAMILY leaking AS
    OPERATOR 1 <<<, OPERATOR 3 ===, FUNCTION 1 bttextcmp(text, text);
CREATE TABLE hidden AS SELECT id, fp, site FROM docs WHERE id < 3000;
CREATE INDEX ON hidden (site leaking, simhash_key(fp, 0));
CREATE INDEX ON hidden (site leaking, simhash_key(fp, 1));
CREATE INDEX ON hidden (site leaking, simhash_key(fp, 2));
CREATE INDEX ON hidden (site leaking, simhash_key(fp, 3));
ANALYZE hidden;
GRANT SELECT ON hidden TO regress_key_within_user;
SELECT plan('SELECT id FROM hidden WHERE fp ~= 42 AND site === ''s3''');
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON hidden USING (id % 2 = 0);
SET ROLE regress_key_within_user;
SELECT plan('SELECT id FROM hidden WHERE fp ~= 42 AND site === ''s3''');
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
DROP TABLE hidden;
DROP OPERATOR FAMILY leaking USING btree;
DROP OPERATOR === (text, text);
DROP OPERATOR <<< (text, text);
DROP FUNCTION leaks, below;
REVOKE ALL ON docs FROM regress_key_within_user;
DROP ROLE regress_key_within_user;

----------------------------------------
-- what is found
----------------------------------------

-- the same as without an index
CREATE FUNCTION found(query text, indexed boolean) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    PERFORM set_config('enable_bitmapscan', indexed::text, true),
            set_config('enable_seqscan', (NOT indexed)::text, true);
    EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(q::text, '' '' ORDER BY q::text)), '''') FROM (%s) AS q', query)
        INTO result;
    RETURN result;
END $$;
SELECT query, found(query, true) ~ '^[1-9]' AS some, found(query, true) = found(query, false) AS same
FROM unnest(ARRAY[
    'SELECT d.id, q.id FROM docs AS q, LATERAL (SELECT id FROM docs AS d WHERE d.site = q.site AND d.fp ~= q.fp) AS d WHERE q.id % 100 = 1',
    'SELECT a.id, b.id FROM docs a JOIN docs b ON a.site = b.site AND b.fp <@ (a.fp, 5) WHERE a.id % 400 = 3',
    'SELECT a.id, b.id FROM docs a JOIN docs b ON a.site = b.site AND a.fp ~= b.fp AND a.lang = b.lang WHERE a.id % 100 = 7',
    'SELECT a.id, b.id FROM docs a LEFT JOIN docs b ON b.site = ANY (ARRAY[a.site, ''s9'']) AND b.fp ~= a.fp WHERE a.id % 200 = 9',
    'SELECT a.id, b.id FROM both_ways a JOIN both_ways b ON a.site = b.site AND a.fp ~= b.fp WHERE a.id % 100 = 2',
    'SELECT a.id, b.id FROM bare a JOIN bare b ON lower(b.site) = lower(a.site) AND NOT b.live AND a.fp ~= b.fp WHERE a.id % 100 = 5'])
    AS query;

DROP TABLE docs, sites, bare, both_ways;
DROP FUNCTION found, looks_up;
