--
-- group_hash.c, hamming_columns.c: columns compared by =, of every type that
-- has a hash operator class, under collations of every kind
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE SCHEMA equality;
SET search_path = equality, public;
SET client_min_messages = warning;
SET jit = off;

----------------------------------------
-- types, their values, and collations
----------------------------------------

CREATE TYPE mood AS ENUM ('sad', 'happy', 'both');
CREATE DOMAIN word AS varchar(7);
CREATE DOMAIN padded AS char(6);
CREATE TYPE pair AS (n numeric, t text);

-- each class of a hash index, with values that are equal in spite of their looks
CREATE TABLE types (class text, type text, literals text[]);
INSERT INTO types VALUES
    ('text_ops', 'text', '{}'), ('varchar_ops', 'varchar', '{}'), ('varchar_ops', 'word', '{}'),
    ('text_pattern_ops', 'text', '{}'), ('varchar_pattern_ops', 'varchar(6)', '{}'),
    ('bpchar_ops', 'char(6)', '{}'), ('bpchar_ops', 'bpchar', '{}'), ('bpchar_ops', 'padded', '{}'),
    ('bpchar_pattern_ops', 'char(9)', '{}'), ('name_ops', 'name', '{}'),
    ('bool_ops', 'boolean', '{t,true,f,no}'), ('char_ops', '"char"', '{a,A,b," "}'),
    ('bytea_ops', 'bytea', E'{"\\\\\\\\x00","\\\\\\\\x0000","\\\\\\\\000",""}'),
    ('int2_ops', 'smallint', '{0,-1,7,007}'), ('int4_ops', 'integer', '{0,-1,7,007}'), ('int8_ops', 'bigint', '{0,-1,7,5000000000}'),
    ('float4_ops', 'real', '{0,-0,1,NaN,-NaN,Infinity,0.1}'), ('float8_ops', 'float8', '{0,-0,1,NaN,-NaN,Infinity,0.1}'),
    ('numeric_ops', 'numeric', '{0,0.00,-0,1,1.0,1e0,1000,1e3,NaN,0.1,Infinity}'),
    ('oid_ops', 'oid', '{0,7,4294967295}'), ('oid_ops', 'regtype', '{int4,integer,text}'), ('oidvector_ops', 'oidvector', '{1 2,1 3,1}'),
    ('date_ops', 'date', '{2000-01-01,"Jan 1 2000",1999-12-31,infinity}'),
    ('time_ops', 'time', '{12:00,12:00:00.0,00:00,24:00}'), ('timetz_ops', 'timetz', '{12:00+00,13:00+01,12:00+01}'),
    ('timestamp_ops', 'timestamp', '{2000-01-01,"2000-01-01 00:00:00.0",-infinity}'),
    ('timestamptz_ops', 'timestamptz', '{2000-01-01 00:00+00,2000-01-01 01:00+01,2000-01-01 00:00+01}'),
    ('interval_ops', 'interval', '{1 day,24 hours,1 month,30 days,720 hours,-1 day,"1 mon -30 days",0}'),
    ('uuid_ops', 'uuid', '{00000000-0000-0000-0000-00000000000a,0000000000000000000000000000000A,00000000-0000-0000-0000-00000000000b}'),
    ('inet_ops', 'inet', '{1.2.3.4,1.2.3.4/32,1.2.3.4/24,::1}'), ('cidr_ops', 'cidr', '{1.2.3.4,1.2.3.4/32,1.2.3.0/24,::1}'),
    ('macaddr_ops', 'macaddr', '{08:00:2b:01:02:03,08002B010203,08:00:2b:01:02:04}'),
    ('macaddr8_ops', 'macaddr8', '{08:00:2b:ff:fe:01:02:03,08:00:2b:01:02:03,08:00:2b:ff:fe:01:02:04}'),
    ('jsonb_ops', 'jsonb', '{1,1.0,"{\"a\": 1, \"b\": 2}","{\"b\": 2.0, \"a\": 1.00}","\"a\"","\"A\"",null}'),
    ('pg_lsn_ops', 'pg_lsn', '{0/A,0/0a,1/0}'), ('tid_ops', 'tid', '{"(0,1)","(0,01)","(1,1)"}'),
    ('aclitem_ops', 'aclitem', '{"=r/pg_monitor","=w/pg_monitor","=r/pg_monitor"}'),
    ('enum_ops', 'mood', '{sad,happy,both,sad}'),
    ('array_ops', 'numeric[]', '{"{1,2}","{1.0,2.00}","{2,1}","{}","{NULL}"}'),
    ('array_ops', 'text[]', '{}'), ('array_ops', 'varchar(7)[]', '{}'),
    ('array_ops', 'char(6)[]', '{}'), ('array_ops', 'name[]', '{}'),
    ('record_ops', 'pair', '{"(1,a)","(1.0,a)","(1,A)","(,)"}'),
    ('range_ops', 'numrange', '{"[1,2)","[1.0,2.00)",empty,"[2,2)","(,)"}'), ('range_ops', 'int4range', '{"[1,2]","[1,3)","(0,2]",empty}'),
    ('multirange_ops', 'nummultirange', '{"{[1,2)}","{[1.0,2.00)}","{[1,1.5),[1.5,2)}","{}"}');

-- texts that some collation takes for others: case, accents, blanks, digits
CREATE TABLE texts (t text);
INSERT INTO texts SELECT DISTINCT left(stem, 3) || tail || blanks
FROM unnest('{ab,Ab,AB,áb,ÁB,áb,a-b,a b,ß,ss,SS,1,01,x y,"",ﬁ,fi}'::text[]) AS stem,
    unnest('{"",z,Z}'::text[]) AS tail, unnest('{"","  "}'::text[]) AS blanks;
UPDATE types SET literals = ARRAY(SELECT CASE WHEN type ~ '\[]' THEN ARRAY[t]::text ELSE t END FROM texts ORDER BY t COLLATE "C")
WHERE literals = '{}';

CREATE COLLATION level1 (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE COLLATION level2 (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION case_first (provider = icu, locale = 'und-u-ks-level1-kc', deterministic = false);
CREATE COLLATION shifted (provider = icu, locale = 'und-u-ka-shifted-ks-level3', deterministic = false);
CREATE COLLATION numbers (provider = icu, locale = 'und-u-kn-ks-level2', deterministic = false);
CREATE COLLATION whole (provider = icu, locale = 'und', deterministic = false);
CREATE COLLATION german (provider = icu, locale = 'de');
-- rules of one's own are there from version 16 on
SELECT current_setting('server_version_num')::int >= 160000 AS rules \gset
\if :rules
CREATE COLLATION ruled (provider = icu, locale = 'und', rules = '&a = b', deterministic = false);
\else
CREATE COLLATION ruled (provider = icu, locale = 'und-u-ks-level1-kc-ka-shifted', deterministic = false);
\endif
CREATE TABLE collations (name text);
INSERT INTO collations VALUES ('"C"'), ('"default"'), ('german'), ('level1'), ('level2'), ('case_first'),
    ('shifted'), ('numbers'), ('whole'), ('ruled');

-- no class is left out, but those whose 64-bit hash is that of integers in older
-- versions, and so is refused, and that of a type of version 19
SELECT opcname FROM pg_opclass AS c JOIN pg_am AS a ON a.oid = opcmethod
WHERE amname = 'hash' AND opcname NOT IN (SELECT class FROM types) AND c.oid < 16384
    AND opcname NOT IN ('xid_ops', 'cid_ops', 'xid8_ops', 'oid8_ops')
ORDER BY 1;

-- classes of the index for all types of hash indexes; those of the extension
-- stay where they are the default
DO $$
DECLARE
    c record;
BEGIN
    FOR c IN SELECT opcname, opcintype, opcintype::regtype AS type, amproc, amopopr FROM pg_opclass
        JOIN pg_am AS a ON a.oid = opcmethod
        JOIN pg_amproc ON amprocfamily = opcfamily AND amproclefttype = opcintype AND amprocnum = 2
        JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype
        WHERE amname = 'hash' AND opcname IN (SELECT class FROM types) LOOP
        EXECUTE format('CREATE OPERATOR CLASS %I FOR TYPE %s USING hamming AS OPERATOR 4 %s,
                        FUNCTION 1 btint8cmp(bigint, bigint), FUNCTION 2 (%s, %s) %s',
                       'own_' || c.opcname, c.type, c.amopopr::regoperator, c.type, c.type, c.amproc::regprocedure);
    END LOOP;
END $$;

----------------------------------------
-- what is found, and what a sequential scan finds
----------------------------------------

-- Answers of the index, of its exclusion constraint, of the guard and of a
-- report for one type, class and collation; NULL where it is refused.
CREATE FUNCTION try(type text, class text, collate_as text, literals text[], OUT pairs bigint, OUT by_index bigint,
    OUT excluded bigint, OUT guarded bigint, OUT reported bigint, OUT refused text) LANGUAGE plpgsql AS $$
DECLARE
    rows text := 'INSERT INTO %I SELECT n, l, (n % 5 - 2) * 3 * (n % 3) FROM unnest($1) WITH ORDINALITY AS t(l, n)';
    near text := 'a.g = b.g AND bit_count((a.fp # b.fp)::bit(64)) <= 3';
    sorted text := 'SELECT count(*), coalesce(sum(hashint8extended(a.id * 1000 + b.id, 0)), 0)';
    truth record; found record;
BEGIN
    EXECUTE format('CREATE TABLE plain (id int, g %s %s, fp bigint)', type, 'COLLATE ' || collate_as);
    EXECUTE format('INSERT INTO plain SELECT n, l::%s, (n %% 5 - 2) * 3 * (n %% 3) FROM unnest($1) WITH ORDINALITY AS t(l, n)', type)
        USING literals;
    CREATE TABLE docs AS TABLE plain;
    EXECUTE format('ALTER TABLE docs ALTER g TYPE %s %s', type, 'COLLATE ' || collate_as);
    EXECUTE sorted || ' FROM plain a JOIN plain b ON ' || near INTO truth;
    pairs := truth.count;
    BEGIN
        EXECUTE format('CREATE INDEX docs_fp ON docs USING hamming (g %s, fp)', class);
        EXECUTE sorted || ' FROM plain a JOIN docs b ON a.g = b.g AND b.fp <@ (a.fp, 3)' INTO found;
        IF NOT EXISTS (SELECT FROM plan('SELECT FROM plain a JOIN docs b ON a.g = b.g AND b.fp <@ (a.fp, 3)') AS p WHERE p ~ 'docs_fp') THEN
            RAISE EXCEPTION 'index not used: %', (SELECT string_agg(p, E'\n') FROM plan('SELECT FROM plain a JOIN docs b ON a.g = b.g AND b.fp <@ (a.fp, 3)') AS p);
        END IF;
        by_index := (truth IS DISTINCT FROM found)::int;
        DROP INDEX docs_fp;
        IF class = '' THEN
            -- what stays has nothing near, and what does not has
            CREATE TABLE kept (LIKE docs);
            ALTER TABLE kept ADD EXCLUDE USING hamming (g WITH =, fp WITH ~=);
            INSERT INTO kept SELECT * FROM plain ORDER BY id ON CONFLICT DO NOTHING;
            EXECUTE 'SELECT (SELECT count(*) FROM kept a JOIN kept b ON a.id < b.id AND ' || near || ') + (SELECT count(*) FROM plain a
                WHERE g IS NOT NULL AND id NOT IN (SELECT id FROM kept) AND NOT EXISTS (SELECT FROM kept b WHERE ' || near || '))' INTO excluded;
            DROP TABLE kept;
        END IF;
    EXCEPTION WHEN feature_not_supported OR invalid_object_definition OR undefined_object THEN
        refused := SQLERRM;
        DROP TABLE IF EXISTS kept;
        DROP INDEX IF EXISTS docs_fp;
    END;
    EXECUTE format('CREATE INDEX ON docs USING hamming (%s fp)', CASE WHEN class = '' AND by_index IS NOT NULL THEN 'g,' END);
    CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3', 'within=g');
    TRUNCATE docs;
    INSERT INTO docs SELECT * FROM plain ORDER BY id;
    EXECUTE 'SELECT (SELECT count(*) FROM docs a JOIN docs b ON a.id < b.id AND ' || near || ') + (SELECT count(*) FROM plain a
        WHERE g IS NOT NULL AND id NOT IN (SELECT id FROM docs) AND NOT EXISTS (SELECT FROM docs b WHERE ' || near || '))' INTO guarded;
    BEGIN
        EXECUTE sorted || $q$ FROM simhash_pairs('SELECT id, fp, g FROM plain') AS p(a_id, b_id),
            LATERAL (SELECT least(a_id, b_id) AS id) AS a, LATERAL (SELECT greatest(a_id, b_id) AS id) AS b$q$ INTO found;
        EXECUTE sorted || ' FROM plain a JOIN plain b ON a.id < b.id AND ' || near INTO truth;
        reported := (truth IS DISTINCT FROM found)::int;
    EXCEPTION WHEN feature_not_supported THEN
        refused := concat_ws('; ', refused, SQLERRM);
    END;
    DROP TABLE plain, docs;
END $$;

SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
CREATE TABLE tried AS
SELECT type, types.class, own.class AS hamming_class, c.name AS collate_as, t.*
FROM types, LATERAL (SELECT '' AS class UNION ALL SELECT opcname FROM pg_opclass WHERE opcname = 'own_' || types.class) AS own,
    LATERAL (SELECT name FROM collations
             WHERE EXISTS (SELECT FROM pg_type WHERE oid = to_regtype(regexp_replace(type, '\(\d+\)', '')) AND typcollation <> 0)
             UNION ALL SELECT NULL WHERE NOT EXISTS
             (SELECT FROM pg_type WHERE oid = to_regtype(regexp_replace(type, '\(\d+\)', '')) AND typcollation <> 0)) AS c,
    LATERAL try(type, own.class, c.name, literals) AS t;
RESET enable_seqscan;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
RESET enable_memoize;
-- none is wrong
SELECT * FROM tried WHERE by_index <> 0 OR excluded <> 0 OR guarded <> 0 OR reported <> 0;
-- groups of more than one row are there wherever values may be equal
SELECT type, class, count(DISTINCT collate_as) AS collations, bool_and(pairs > 0) AS any,
    count(by_index) > 0 AS indexed, count(excluded) > 0 AS excluded
FROM tried GROUP BY 1, 2 ORDER BY 2, 1;
-- what is refused
SELECT type, r AS refused, string_agg(DISTINCT collate_as, ' ' ORDER BY collate_as) AS collations
FROM tried, unnest(string_to_array(refused, '; ')) AS r
WHERE r !~ 'has no default operator class|own_' GROUP BY 1, 2 ORDER BY 1, 2;
CREATE TYPE plain_pair AS (n int, t char(6) COLLATE "C");
CREATE TYPE ci_pair AS (n int, t char(6) COLLATE level2);
CREATE TYPE nested AS (n int, p ci_pair[]);
CREATE TYPE names AS RANGE (subtype = name, collation = level2);
CREATE TABLE parts (id int, plain plain_pair, ci ci_pair, nested nested, names names, fp bigint);
CREATE INDEX ON parts USING hamming (plain own_record_ops, fp);
\set VERBOSITY terse
CREATE INDEX ON parts USING hamming (ci own_record_ops, fp); -- error
CREATE INDEX ON parts USING hamming (nested own_record_ops, fp); -- error
CREATE INDEX ON parts USING hamming (names own_range_ops, fp); -- error
\set VERBOSITY default
SELECT fails($$SELECT * FROM simhash_pairs('SELECT id, fp, nested FROM parts')$$);
SELECT fails($$SELECT * FROM simhash_pairs('SELECT id, fp, ROW(id, fp) FROM parts')$$);
DROP TABLE parts;

----------------------------------------
-- values of one type compared to a column of another
----------------------------------------

CREATE FUNCTION cross_types(left_type text, right_type text, collate_as text, literals text[], OUT pairs bigint, OUT wrong int)
LANGUAGE plpgsql AS $$
DECLARE
    answer text := 'SELECT count(*), coalesce(sum(hashint8extended(a.id * 1000 + b.id, 0)), 0) FROM plain a JOIN docs b ON a.g = b.g AND ';
    truth record; found record;
BEGIN
    EXECUTE format('CREATE TABLE plain (id int, g %s %s, fp bigint)', left_type, 'COLLATE ' || collate_as);
    EXECUTE format('CREATE TABLE docs (id int, g %s %s, fp bigint)', right_type, 'COLLATE ' || collate_as);
    EXECUTE format('INSERT INTO plain SELECT n, l::%s, n %% 3 FROM unnest($1) WITH ORDINALITY AS t(l, n)', left_type) USING literals;
    EXECUTE format('INSERT INTO docs SELECT n, l::%s, n %% 5 FROM unnest($1) WITH ORDINALITY AS t(l, n)', right_type) USING literals;
    EXECUTE answer || 'bit_count((a.fp # b.fp)::bit(64)) <= 3' INTO truth;
    pairs := truth.count;
    EXECUTE format('CREATE INDEX docs_fp ON docs USING hamming (g %s, fp)', CASE right_type WHEN 'bigint' THEN 'int8_equal_ops' WHEN 'float8' THEN 'own_float8_ops' WHEN 'real' THEN 'own_float4_ops' END);
    EXECUTE answer || 'b.fp <@ (a.fp, 3)' INTO found;
    IF NOT EXISTS (SELECT FROM plan(answer || 'b.fp <@ (a.fp, 3)') AS p WHERE p ~ 'docs_fp') THEN
        RAISE EXCEPTION 'index not used for % and %', left_type, right_type;
    END IF;
    wrong := (truth IS DISTINCT FROM found)::int;
    DROP TABLE plain, docs;
END $$;
-- text = current_user, as a name, is of this kind
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT l, r, count(*) AS collations, min(pairs) > 0 AS any, sum(wrong) AS wrong
FROM (VALUES ('text', 'name'), ('name', 'text'), ('name', 'varchar(9)'), ('varchar', 'name')) AS t(l, r), collations,
    cross_types(l, r, name, ARRAY(SELECT t FROM texts ORDER BY t COLLATE "C")) AS c GROUP BY 1, 2 ORDER BY 1, 2;
SELECT l, r, pairs > 0 AS any, wrong
FROM unnest('{smallint,integer,bigint}'::text[]) AS l, unnest('{smallint,integer,bigint}'::text[]) AS r,
    cross_types(l, r, NULL, '{0,-1,7,-32768,32767}') WHERE l <> r ORDER BY 1, 2;
RESET enable_seqscan;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- what a user meets: blanks and case that do not count
CREATE TABLE sites (site char(6) COLLATE level2, owner text COLLATE level2, fp bigint,
    EXCLUDE USING hamming (site WITH =, fp WITH ~=));
INSERT INTO sites VALUES ('ab ', 'POSTGRES', 0);
INSERT INTO sites VALUES ('aB', 'Postgres', 1); -- error
INSERT INTO sites VALUES ('abc', 'postgres'::name, 1);
CREATE INDEX ON sites USING hamming (owner, fp);
SET enable_seqscan = off;
SELECT plan('SELECT FROM sites WHERE owner = ''postGRES''::name COLLATE level2 AND fp ~= 0');
SELECT count(*) FROM sites WHERE owner = 'postGRES'::name COLLATE level2 AND fp ~= 0;
SELECT count(*) FROM sites WHERE site = 'AB'::char(9) AND fp ~= 0;
RESET enable_seqscan;

DROP SCHEMA equality CASCADE;
