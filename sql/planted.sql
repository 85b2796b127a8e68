--
-- source.c and all that runs SQL over a table: the owner of the table may
-- plant casts, operators, functions and types wherever he may create
-- something.  None of them may run with the rights of whoever looks for
-- near-duplicates in the table.
--

\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS simhash;
CREATE ROLE regress_planted_owner;
CREATE SCHEMA near AUTHORIZATION regress_planted_owner;
-- where anybody may create, as it was before PostgreSQL 15
CREATE SCHEMA open;
GRANT ALL ON SCHEMA open TO PUBLIC;
GRANT CREATE ON SCHEMA public TO regress_planted_owner;
SET ROLE regress_planted_owner;

----------------------------------------
-- what is planted
----------------------------------------

-- The owner's own code fails for anybody else.
CREATE FUNCTION near.trap() RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF current_user <> 'regress_planted_owner' THEN
        RAISE 'trapped';
    END IF;
END $$;
CREATE FUNCTION near.spring(whoever anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN PERFORM near.trap(); RETURN whoever; END';

CREATE DOMAIN near.finger AS bigint;
CREATE DOMAIN near.print AS bit(64);
CREATE DOMAIN near.body AS text;
CREATE DOMAIN near.body_list AS near.body[];
CREATE TYPE near.fake AS (fp bigint);
CREATE TYPE near.mood AS ENUM ('well', 'ill');
CREATE TYPE near.span AS RANGE (subtype = bigint);
CREATE TABLE near.docs (
    id int, fp bigint, finger near.finger, print near.print, fake near.fake, mood near.mood,
    span near.span, body near.body, moods near.mood[], words near.body[],
    born bigint GENERATED ALWAYS AS (near.spring(fp)) STORED);
CREATE TABLE near.parts (LIKE near.docs INCLUDING GENERATED) PARTITION BY LIST (id);
CREATE TABLE near.parts_1 PARTITION OF near.parts DEFAULT;
-- with a NULL in each column, for whom a cast would still be called
INSERT INTO near.docs (id, fp, finger, print, fake, mood, span, body, moods, words)
SELECT n, n / 2, n / 2, (n / 2)::bit(64), ROW(n)::near.fake, 'well', '[1,2)', 'some body ' || n / 3, '{well}', ARRAY['a', 'b', n::text]
FROM generate_series(1, 6) AS n;
INSERT INTO near.docs (id) VALUES (7);
INSERT INTO near.parts (id, fp, finger, print, fake, mood, span, body, moods)
SELECT id, fp, finger, print, fake, mood, span, body, moods FROM near.docs;

-- casts from each type to whatever one may be taken for
CREATE FUNCTION near.plant_casts() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n bigint := 0;
BEGIN
    FOR r IN SELECT s, t, context
             FROM unnest(ARRAY['near.docs', 'near.parts', 'near.parts_1',
                               'near.finger', 'near.body', 'near.fake', 'near.mood',
                               'near.span', 'near.print', 'near.mood[]', 'near.body[]',
                               'near.body_list[]']) WITH ORDINALITY AS s (s, i),
                  unnest(ARRAY['text', 'varchar', 'name', 'json', 'jsonb', 'bigint', 'int',
                               'smallint', 'numeric', 'float8', 'tid', 'oid', 'regclass',
                               'bytea', 'boolean', 'text[]', 'tsvector', 'bit', 'varbit']) WITH ORDINALITY AS t (t, j),
                  unnest(ARRAY['AS IMPLICIT', 'AS ASSIGNMENT', '']) WITH ORDINALITY AS c (context, k)
             WHERE (i + j) % 3 + 1 = k LOOP
        n := n + 1;
        EXECUTE format('CREATE FUNCTION near.cast_%s(%s) RETURNS %s LANGUAGE plpgsql IMMUTABLE AS '
                       '$t$BEGIN PERFORM near.trap(); RETURN NULL; END$t$', n, r.s, r.t);
        EXECUTE format('CREATE CAST (%s AS %s) WITH FUNCTION near.cast_%s %s',
                       r.s, r.t, n, r.context);
    END LOOP;
    RETURN n;
END $$;
SELECT near.plant_casts() AS casts;
-- those that matter most are implicit
DROP CAST (near.body[] AS text[]);
CREATE FUNCTION near.to_texts(near.body[]) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN PERFORM near.trap(); RETURN NULL; END';
CREATE CAST (near.body[] AS text[]) WITH FUNCTION near.to_texts AS IMPLICIT;
DROP CAST (near.docs AS text);
CREATE CAST (near.docs AS text) WITH FUNCTION near.cast_1 AS IMPLICIT;
DROP CAST (near.fake AS bigint);
CREATE FUNCTION near.to_bigint(near.fake) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN PERFORM near.trap(); RETURN 1; END';
CREATE CAST (near.fake AS bigint) WITH FUNCTION near.to_bigint AS IMPLICIT;

-- functions and operators that fit as well as PostgreSQL's, or better; types
-- of the names that PostgreSQL's have
CREATE FUNCTION near.plant_functions(place text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    r record;
    n bigint := 0;
BEGIN
    FOR r IN SELECT proname, pg_get_function_identity_arguments(p.oid) AS arguments,
                    pg_get_function_result(p.oid) AS result, oprname,
                    oprleft::regtype AS l, oprright::regtype AS r
             FROM pg_proc AS p LEFT JOIN pg_operator AS o ON oprcode = p.oid AND oprleft <> 0
             WHERE p.pronamespace = 'pg_catalog'::regnamespace AND NOT proretset
               AND prokind = 'f'
               AND (proname IN ('round', 'floor', 'log', 'left', 'pg_column_size',
                                'replace', 'format', 'json_build_object', 'coalesce',
                                'pg_size_pretty', 'translate', 'set_config', 'current_setting',
                                'quote_ident', 'quote_literal', 'row_security_active', 'length',
                                'substring', 'bit_count')
                    OR oprname IN ('=', '<>', '<', '>', '<=', '>=', '+', '-', '*', '/', '^',
                                   '||', '<<'))
               AND NOT EXISTS (SELECT FROM unnest(p.proargtypes || p.prorettype) AS a (type)
                               JOIN pg_type AS t ON t.oid = type WHERE typtype = 'p') LOOP
        n := n + 1;
        EXECUTE format('CREATE OR REPLACE FUNCTION %I.%I(%s) RETURNS %s LANGUAGE plpgsql AS '
                       '$t$BEGIN PERFORM near.trap(); RETURN NULL; END$t$',
                       place, r.proname, r.arguments, r.result);
        IF r.oprname IS NOT NULL THEN
            EXECUTE format('CREATE OPERATOR %1$I.%2$s (FUNCTION = %1$I.%3$I, LEFTARG = %4$s, RIGHTARG = %5$s)',
                           place, r.oprname, r.proname, r.l, r.r);
        END IF;
    END LOOP;
    FOR r IN SELECT unnest(ARRAY[
        'substring(near.print, int, int)', 'length(near.print)', 'hamming(near.print, bit)',
        'simhash_key(near.finger, int)', 'simhash_key(near.fake, int)', 'concat(near.docs)',
        'concat(oid, tid)', 'concat(near.body)', 'concat(int)', 'concat(text)', 'count(bigint)',
        'count(near.finger)', 'left(near.body, int)', 'left(near.docs, int)',
        'pg_column_size(near.docs)', 'pg_column_size(near.parts)', 'simhash(near.body)',
        'json_agg(record)', 'max(int)', 'sum(bigint)', 'format(text, regclass)',
        'row_to_json(near.docs)']) AS signature LOOP
        EXECUTE format('CREATE FUNCTION %I.%s RETURNS text LANGUAGE plpgsql AS '
                       '$t$BEGIN PERFORM near.trap(); RETURN NULL; END$t$', place, r.signature);
    END LOOP;
    FOR r IN SELECT name, base FROM (VALUES
        ('text', 'text'), ('json', 'json'), ('tid', 'tid'), ('int8', 'bigint'),
        ('float8', 'float8'), ('oid', 'oid'), ('name', 'name'), ('regclass', 'regclass'),
        ('regnamespace', 'regnamespace'), ('bit', 'bit'), ('varbit', 'varbit')) AS v (name, base) LOOP
        EXECUTE format('CREATE DOMAIN %I.%I AS pg_catalog.%3$I CHECK (near.spring(1) = 1)',
                       place, r.name, (SELECT typname FROM pg_catalog.pg_type WHERE oid = r.base::regtype));
    END LOOP;
    RETURN n;
END $$;
SELECT near.plant_functions('near') > 100 AS many, near.plant_functions('open') > 100 AS many;
CREATE FUNCTION public.simhash_key(near.finger, int) RETURNS smallint LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN PERFORM near.trap(); RETURN NULL; END';
-- those that fit better than a polymorphic function, or than one with defaults;
-- one that fits as well, by a default, would make calls ambiguous, no more
CREATE FUNCTION near.plant_overloads() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    signature text;
    n bigint := 0;
BEGIN
    FOREACH signature IN ARRAY ARRAY[
        'simhash_clusters_as(tid, text, bigint)',
        'simhash_clusters_as(tid, text, bigint, text, text)',
        'simhash_clusters_as(text, text, bigint, text, text)',
        'simhash_clusters(text, bigint)', 'simhash_clusters(text, bigint, text)',
        '_simhash_clusters_by_ctid(text, bigint, text, text)',
        '_simhash_clusters_by_ctid(varchar, bigint, text, text, bigint)',
        '_simhash_clusters_by_ctid(text, bigint, text, varchar, int)',
        '_simhash_clusters_by_ctid(text, bigint, text, VARIADIC text[])',
        '_simhash_clusters_by_text(text, bigint, text, text)',
        '_simhash_clusters_by_text(varchar, bigint, text, text, bigint)',
        'simhash_clusters(text, bigint, text, text, bigint, text, text, float8)',
        'simhash_pairs(text, bigint, text, text, float8)',
        'simhash_clusters_as(tid, text, bigint, text, text, bigint, text, text, float8, text)',
        'simhash_clusters_as(text, text, bigint, text, text, bigint, text, text, float8, text)',
        '_simhash_clusters_by_ctid(text, bigint, text, text, bigint, text, text, float8)',
        '_simhash_clusters_by_ctid(varchar, bigint, text, text, bigint, text, text, float8, text)',
        '_simhash_clusters_by_ctid(text, bigint, text, text, bigint, text, text, numeric, text)',
        '_simhash_clusters_by_ctid(text, bigint, text, text, bigint, near.body, text, float8, text)',
        '_simhash_clusters_by_text(text, bigint, text, text, bigint, text, text, float8)',
        '_simhash_clusters_by_text(varchar, bigint, text, text, bigint, text, text, float8, text)',
        '_simhash_clusters_by_text(text, bigint, text, text, bigint, text, text, real, text)',
        '_simhash_clusters_by_ctid(text, bigint, text, text, bigint, text, text, float8, text, int)',
        '_simhash_clusters_by_text(text, bigint, text, text, bigint, text, text, float8, varchar, bigint)',
        '_simhash_plan_by_ctid(text, bigint, text, text, bigint, text, text, float8, text)',
        '_simhash_plan_by_ctid(varchar, bigint, text, text, bigint, text, text, float8, text, bigint)',
        '_simhash_plan_by_ctid(text, bigint, text, text, bigint, text, text, float8, text, numeric)',
        '_simhash_plan_by_ctid(text, bigint, text, text, bigint, text, text, float8, VARIADIC text[])',
        '_simhash_plan_by_text(text, bigint, text, text, bigint, text, text, float8, text)',
        '_simhash_plan_by_text(text, bigint, text, text, bigint, near.body, text, float8, text, bigint)',
        'simhash_dedup_plan(regclass, text, int)'] LOOP
        n := n + 1;
        EXECUTE format('CREATE FUNCTION public.%s RETURNS SETOF text LANGUAGE plpgsql AS '
                       '$t$BEGIN PERFORM near.trap(); END$t$', signature);
    END LOOP;
    RETURN n;
END $$;
SELECT near.plant_overloads() AS overloads;
RESET ROLE;

----------------------------------------
-- who steps on it
----------------------------------------

-- it works
SELECT docs::text FROM near.docs LIMIT 1;                                       -- error
SELECT simhash_key(finger, 0) FROM near.docs LIMIT 1;                           -- error
SET search_path = near, open, public, pg_catalog;
SELECT 1 = 1;                                                                   -- error
RESET search_path;
SELECT words::text[] FROM near.docs LIMIT 1;                                    -- error
-- what may be read without it
SELECT fp, finger, print, fake, mood, span, body, moods, born FROM near.docs WHERE id = 1;

-- PostgreSQL's own names first, as always, or last
CREATE FUNCTION all_calls(source text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    call text;
    document text;
    n bigint;
    command text;
BEGIN
    FOREACH call IN ARRAY ARRAY[
        'SELECT * FROM public.simhash_report(''docs'', %L)',
        'SELECT * FROM public.simhash_report(''parts'', %L)',
        'SELECT * FROM public.simhash_pairs(''SELECT id, (%1$s) FROM near.docs'')',
        'SELECT * FROM public.simhash_clusters(''SELECT id, (%1$s) FROM near.docs'')',
        'SELECT * FROM public.simhash_report(''docs'', %L, document => ''body'')',
        'SELECT * FROM public.simhash_report(''parts'', %L, document => ''body'', similarity => ''none'')',
        'SELECT * FROM public.simhash_pairs(''SELECT id, (%1$s), body FROM near.docs'', document => ''body'')'] LOOP
        BEGIN
            EXECUTE pg_catalog.format(call, source);
            GET DIAGNOSTICS n = ROW_COUNT;
            RETURN NEXT n;
        EXCEPTION WHEN OTHERS THEN
            RETURN NEXT pg_catalog.concat(SQLSTATE, ' ', SQLERRM);
        END;
    END LOOP;
    FOREACH call IN ARRAY ARRAY['docs', 'parts'] LOOP
        FOREACH document IN ARRAY ARRAY[NULL, 'body'] LOOP
            BEGIN
                command := public.simhash_dedup_sql(call::pg_catalog.regclass, source,
                                                    document => document);
                EXECUTE command;
                GET DIAGNOSTICS n = ROW_COUNT;
                RAISE 'deleted %', n;
            EXCEPTION WHEN OTHERS THEN
                RETURN NEXT pg_catalog.concat(SQLSTATE, ' ', SQLERRM);
            END;
        END LOOP;
    END LOOP;
END $$;
SET search_path = near, open, public;
SELECT public.all_calls('fp');
SELECT public.all_calls('finger');
SELECT public.all_calls('print');
SELECT public.all_calls('print::bit(32)');
SELECT public.all_calls('born');
SELECT public.all_calls('fake');
SELECT public.all_calls('mood');
SELECT public.all_calls('t');
SET search_path = near, open, public, pg_catalog;
SELECT public.all_calls('fp');
SELECT public.all_calls('finger');
SELECT public.all_calls('print');
SELECT public.all_calls('fake');
RESET search_path;
-- the rows are shown
SELECT item, value FROM simhash_report('near.docs', 'finger', 0)
WHERE section = 'largest clusters' ORDER BY 2 LIMIT 1;
-- ids of types of the owner
SELECT * FROM simhash_pairs_as(NULL::near.fake, 'SELECT fake, fp FROM near.docs', 0) ORDER BY a;
SELECT * FROM simhash_pairs_as(NULL::record, 'SELECT ROW(id, mood, finger), fp FROM near.docs', 0) ORDER BY a;
SELECT * FROM simhash_pairs('SELECT fake, fp FROM near.docs', 0);               -- error
SELECT count(*) FROM simhash_clusters_as(NULL::near.docs, 'SELECT t, fp FROM near.docs AS t');
-- documents of a type of the owner, of none that has features, and arrays
SELECT * FROM simhash_pairs('SELECT id, fp, words FROM near.docs', 0, 'words', at_least => 0) ORDER BY a;
SELECT * FROM simhash_pairs('SELECT id, fp, moods FROM near.docs', 0, 'moods');  -- error
SELECT item FROM simhash_report('near.docs', 'fp', 3, document => 'words', similarity => 'none')
WHERE item = 'estimate';
SELECT item FROM simhash_report('near.docs', 'fp', 3, document => 'words::near.body_list', similarity => 'none')
WHERE item = 'estimate';
SELECT count(*) FROM simhash_dedup_plan('near.docs', 'fp', 3, document => 'words', similarity => 'containment', at_least => 0.5);
CREATE TABLE near.listed AS SELECT id, fp, words FROM near.docs WHERE id < 7;
ALTER TABLE near.listed OWNER TO regress_planted_owner, ADD PRIMARY KEY (id);
\set ECHO none
BEGIN;
SELECT simhash_dedup_sql('near.listed', 'fp', 3, document => 'words', similarity => 'jaccard', at_least => 0.4) \gexec
SELECT count(*) AS left_by_delete FROM near.listed;
ROLLBACK;
\set ECHO all
CREATE TABLE near_plan AS SELECT * FROM simhash_dedup_plan('near.listed', 'fp', 3, document => 'words', similarity => 'jaccard', at_least => 0.4);
CALL simhash_dedup_apply('near.listed', 'near_plan');
SELECT done, count(*) FROM near_plan GROUP BY done;
DROP TABLE near_plan, near.listed;
SELECT simhash_report('near.docs', 'fp', document => 'ARRAY[words::near.body_list]'); -- error
SELECT * FROM simhash_report('near.docs', 'fp', document => 'fake');             -- error
SELECT * FROM simhash_report('near.docs', 'fp', document => 'mood');             -- error
SET search_path = near, open, public;
SELECT count(*) FROM simhash_tune('SELECT body FROM docs');
SELECT count(*) FROM simhash_tune('SELECT mood FROM docs');                     -- error
SELECT count(*) FROM simhash_tune('SELECT docs FROM docs');                     -- error
RESET search_path;

-- what a fingerprint is made of is evaluated with the rights of the caller, who did
-- not write it: so only where it runs nothing but the core's own code, whatever may
-- be found by the same names
SET ROLE regress_planted_owner;
CREATE TYPE near.state AS ENUM ('new', 'old');
CREATE TABLE near.derived (
    id int PRIMARY KEY, title varchar, body text, odd near.body, state near.state, n int,
    lowered bigint GENERATED ALWAYS AS (public.minhash(lower(body))) STORED,
    both_of bigint GENERATED ALWAYS AS (public.minhash(coalesce(title, '') || ' ' || body)) STORED,
    odd_one bigint GENERATED ALWAYS AS (public.minhash(upper(odd))) STORED,
    nulled bigint GENERATED ALWAYS AS (public.minhash(nullif(title, ''))) STORED,
    simple bigint GENERATED ALWAYS AS (public.minhash(CASE n WHEN 1 THEN title ELSE body END)) STORED,
    stated bigint GENERATED ALWAYS AS (public.minhash(CASE state WHEN 'old' THEN title ELSE body END)) STORED,
    searched bigint GENERATED ALWAYS AS (public.minhash(CASE WHEN n IN (1, 2) AND title <> body THEN title ELSE body END)) STORED,
    same bigint GENERATED ALWAYS AS (public.minhash(CASE WHEN title IS DISTINCT FROM body THEN title ELSE body END)) STORED,
    spring bigint GENERATED ALWAYS AS (public.minhash(near.spring(body))) STORED,
    cast_by bigint GENERATED ALWAYS AS (public.minhash((odd)::text || 'x')) STORED);
INSERT INTO near.derived (id, title, body, odd, state, n)
SELECT i, 'a title of it', 'some body of it', 'odd it is', 'new', i / 3 FROM generate_series(1, 4) AS i;
-- a better fit than the operators of the core, for varchar
CREATE FUNCTION open.varchars(pg_catalog.varchar, pg_catalog.varchar) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN true; END';
CREATE FUNCTION open.texts(pg_catalog.varchar, pg_catalog.text) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN true; END';
CREATE FUNCTION open.states(near.state, near.state) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN true; END';
CREATE OPERATOR open.= (FUNCTION = open.varchars, LEFTARG = pg_catalog.varchar, RIGHTARG = pg_catalog.varchar);
CREATE OPERATOR open.= (FUNCTION = open.texts, LEFTARG = pg_catalog.varchar, RIGHTARG = pg_catalog.text);
CREATE OPERATOR open.= (FUNCTION = open.states, LEFTARG = near.state, RIGHTARG = near.state);
CREATE FUNCTION open.concatenated(pg_catalog.varchar, pg_catalog.text) RETURNS pg_catalog.text LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN ''''; END';
CREATE OPERATOR open.|| (FUNCTION = open.concatenated, LEFTARG = pg_catalog.varchar, RIGHTARG = pg_catalog.text);
CREATE FUNCTION open.lower(pg_catalog.text) RETURNS pg_catalog.text LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN ''''; END';
CREATE FUNCTION open.upper(near.body) RETURNS pg_catalog.text LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN ''''; END';
CREATE FUNCTION open.upper(pg_catalog.text) RETURNS pg_catalog.text LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN ''''; END';
RESET ROLE;
CREATE FUNCTION derived_calls(fingerprint text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text := '';
    n bigint;
    call text;
BEGIN
    FOREACH call IN ARRAY ARRAY[
        'SELECT * FROM public.simhash_dedup_plan(''near.derived'', %L)',
        'SELECT * FROM public.simhash_report(''near.derived'', %L) WHERE item OPERATOR(pg_catalog.=) ''estimate''',
        NULL] LOOP
        BEGIN
            EXECUTE pg_catalog.format(coalesce(call, public.simhash_dedup_sql('near.derived', fingerprint)), fingerprint);
            GET DIAGNOSTICS n = ROW_COUNT;
            RAISE '%', n;
        EXCEPTION WHEN OTHERS THEN
            said := pg_catalog.concat(said, ' ', SQLERRM);
        END;
    END LOOP;
    RETURN said;
END $$;
-- (gone by the plan; whether it is by an estimate; deleted)
SELECT fp, derived_calls(fp) FROM unnest('{lowered,both_of,odd_one,nulled,simple,stated,searched,same,spring,cast_by}'::text[]) AS fp;
SET search_path = near, open, public, pg_catalog;
SELECT fp, public.derived_calls(fp) FROM pg_catalog.unnest('{lowered,both_of,odd_one,nulled,simple,stated,searched,same,spring,cast_by}'::pg_catalog.text[]) AS fp;
SET search_path = open, public, near;
SELECT fp, public.derived_calls(fp) FROM unnest('{lowered,both_of,odd_one,nulled,simple,stated,searched,same,spring,cast_by}'::pg_catalog.text[]) AS fp;
RESET search_path;
-- the key and what is apart are read as any SELECT reads them
SET ROLE regress_planted_owner;
CREATE TABLE near.keyed (mood near.mood, odd near.body, span near.span, fp bigint, PRIMARY KEY (mood, odd, span));
INSERT INTO near.keyed VALUES ('well', 'a', '[1,2)', 7), ('well', 'b', '[1,2)', 7), ('ill', 'a', '[3,4)', 7), ('ill', 'a', '[5,6)', 6);
CREATE TABLE near.apart (gone pg_catalog.text[], kept pg_catalog.text[]);
INSERT INTO near.apart VALUES ('{ill,a,"[5,6)"}', '{well,a,"[1,2)"}');
RESET ROLE;
SELECT gone, kept FROM simhash_dedup_plan('near.keyed', 'fp') ORDER BY gone;
SET search_path = near, open, public, pg_catalog;
SELECT gone, kept FROM public.simhash_dedup_plan('keyed', 'fp') AS p ORDER BY gone::pg_catalog.text COLLATE "C" USING OPERATOR(pg_catalog.<);
SELECT gone, kept FROM public.simhash_dedup_plan('keyed', 'fp', apart => 'apart') AS p ORDER BY gone::pg_catalog.text COLLATE "C" USING OPERATOR(pg_catalog.<);
SELECT value FROM public.simhash_report('keyed', 'fp', apart => 'apart') WHERE item OPERATOR(pg_catalog.=) 'redundant rows'::pg_catalog.text;
BEGIN;
SELECT public.simhash_dedup_sql('keyed', 'fp', apart => 'apart') \gexec
SELECT mood, odd, span FROM keyed ORDER BY fp, span;
ROLLBACK;
RESET search_path;
-- what is apart may be of another type once there is a text
SET ROLE regress_planted_owner;
CREATE TABLE near.numbered (id int PRIMARY KEY, fp bigint);
INSERT INTO near.numbered VALUES (1, 7), (2, 7);
CREATE TABLE near.changing (gone text[], kept text[]);
CREATE TYPE near.changed AS (id int);
CREATE FUNCTION near.to_int(near.changed) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
    'BEGIN PERFORM near.trap(); RETURN 1; END';
CREATE CAST (near.changed AS int) WITH FUNCTION near.to_int AS IMPLICIT;
RESET ROLE;
SELECT simhash_dedup_sql('near.numbered', 'fp', apart => 'near.changing') AS written \gset
SET ROLE regress_planted_owner;
ALTER TABLE near.changing ALTER gone TYPE near.changed[] USING ARRAY[ROW(1)::near.changed];
INSERT INTO near.changing VALUES (ARRAY[ROW(2)::near.changed], '{1}');
RESET ROLE;
SELECT ((gone)[1])::int FROM near.changing;                                     -- error
\set ECHO none
:written;                                                                       -- error
\set ECHO all
SET search_path = near, open, public, pg_catalog;
RESET search_path;
-- apart has to be a table of arrays of text, and of nothing that is like them
SET ROLE regress_planted_owner;
CREATE TABLE near.likely (gone near.body[], kept near.body[]);
RESET ROLE;
SELECT simhash_dedup_plan('near.keyed', 'fp', apart => 'near.likely');          -- error
DROP FUNCTION derived_calls;

-- key columns are computed as the owner where the code is the owner's
SELECT simhash_add_keys('near.docs', 'fake');                                   -- error
SELECT simhash_add_keys('near.docs', 'finger');
SELECT count(k0) FROM near.docs;
SELECT simhash_drop_keys('near.docs');
SELECT simhash_add_keys('near.docs', 'born');
SELECT count(k0), current_user = session_user AS itself FROM near.docs;
SELECT simhash_drop_keys('near.docs');
SET search_path = near, open, public, pg_catalog;
SELECT simhash_add_keys('docs', 'finger');
SELECT simhash_drop_keys('docs');
RESET search_path;
-- so are the expressions of an index that is checked
SET ROLE regress_planted_owner;
CREATE INDEX spring ON near.docs USING hamming (near.spring(fp)) WHERE near.spring(id) > 0;
RESET ROLE;
SELECT hamming_index_check('near.spring', true), current_user = session_user AS itself;
DROP INDEX near.spring;
-- what is constant is computed as soon as somebody asks for the expressions;
-- domains check what is given
SET ROLE regress_planted_owner;
CREATE DOMAIN near.site AS text CHECK (near.spring(1) = 1);
CREATE TABLE near.sites (site near.site, fp bigint, bits bit(64));
INSERT INTO near.sites SELECT 'a', n, n::bit(64) FROM generate_series(1, 9) AS n;
CREATE INDEX constant ON near.sites USING hamming ((near.spring(1::bit(64))::bit(64)));
CREATE INDEX ball ON near.sites USING hamming ((ROW(near.spring(1)::bit(64), 3)::hamming_bit_ball));
CREATE INDEX part ON near.sites USING hamming (site, fp) WHERE near.spring(1) = 1;
RESET ROLE;
SELECT hamming_index_check(i, true) FROM unnest('{near.constant,near.ball,near.part}'::regclass[]) AS i;
SELECT count(*) FROM hamming_bit_search_plan('near.constant', (1::bit(64), 3));
SELECT count(*) FROM hamming_bit_search_plan('near.ball', (1::bit(64), 3));
SELECT count(*) FROM hamming_search_plan('near.part', (1, 3), '{a}');
-- bit strings of a domain, in an index of expressions too, and of a ball
SET ROLE regress_planted_owner;
CREATE INDEX print ON near.docs USING hamming (print);
CREATE INDEX printed ON near.docs USING hamming (hamming_bit_ball(near.spring(print), 3)) WHERE near.spring(id) > 0;
RESET ROLE;
SET search_path = near, open, public, pg_catalog;
SET enable_seqscan = off;
SELECT public.hamming_index_check(i, true), current_user OPERATOR(pg_catalog.=) session_user AS itself FROM pg_catalog.unnest('{near.print,near.printed}'::pg_catalog.regclass[]) AS i;
SELECT id FROM docs WHERE print <@ public.hamming_bit_ball(2::pg_catalog.bit(64), 0);
SELECT id FROM docs ORDER BY print <~~> 2::pg_catalog.bit(64) LIMIT 2;
RESET enable_seqscan;
RESET search_path;
-- a guard asks no SQL
SET ROLE regress_planted_owner;
CREATE TABLE near.guarded (id int, fp bigint, mood near.mood DEFAULT 'well');
CREATE INDEX ON near.guarded USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON near.guarded
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
RESET ROLE;
SET search_path = near, open, public, pg_catalog;
INSERT INTO guarded VALUES (1, 5);
INSERT INTO guarded VALUES (2, 5);                                              -- error
RESET search_path;
SET ROLE regress_planted_owner;
CREATE TABLE near.guarded_print (id int, print near.print, mood near.mood DEFAULT 'well');
CREATE INDEX ON near.guarded_print USING hamming (print);
CREATE TRIGGER guard BEFORE INSERT ON near.guarded_print
FOR EACH ROW EXECUTE FUNCTION simhash_guard('print', 'reject', '3', 'within=mood');
RESET ROLE;
SET search_path = near, open, public, pg_catalog;
INSERT INTO guarded_print VALUES (1, repeat('01', 32)::pg_catalog.bit(64));
INSERT INTO guarded_print VALUES (2, repeat('01', 32)::pg_catalog.bit(64));     -- error
RESET search_path;
-- but for one question about a table that Citus may have distributed: its
-- catalogues, as far as they are asked
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partkey text);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint);
CREATE FUNCTION pg_catalog.column_to_column_name(regclass, text) RETURNS text
    LANGUAGE sql IMMUTABLE AS 'SELECT $2';
CREATE FUNCTION pg_catalog.relation_is_a_known_shard(regclass) RETURNS boolean
    LANGUAGE sql IMMUTABLE AS 'SELECT true';
SET ROLE regress_planted_owner;
CREATE FUNCTION open.same(regclass, regclass) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN PERFORM near.trap(); RETURN true; END';
CREATE OPERATOR open.= (FUNCTION = open.same, LEFTARG = regclass, RIGHTARG = regclass);
CREATE TABLE near.shard_1 (LIKE near.guarded);
CREATE INDEX ON near.shard_1 USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON near.shard_1
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
RESET ROLE;
INSERT INTO pg_catalog.pg_dist_partition VALUES ('near.guarded', 'id');
INSERT INTO pg_catalog.pg_dist_shard VALUES ('near.guarded', 1), ('near.guarded', 2);
SET search_path = near, open, public;
INSERT INTO shard_1 VALUES (1, 5);                                              -- error
RESET search_path;
DROP TABLE pg_catalog.pg_dist_partition, pg_catalog.pg_dist_shard;
DROP FUNCTION pg_catalog.column_to_column_name, pg_catalog.relation_is_a_known_shard;
RESET allow_system_table_mods;

-- nor does what a third role has planted get into keys and clusters: NULLIF, CASE with an
-- operand and IS DISTINCT FROM do not say whose "=" is meant
CREATE TABLE spelled (
    id int PRIMARY KEY, words text[], body text,
    nulled bigint GENERATED ALWAYS AS (minhash(NULLIF(words, '{}'))) STORED,
    simple bigint GENERATED ALWAYS AS (minhash(CASE words WHEN '{}' THEN lower(body) ELSE body END)) STORED,
    same bigint GENERATED ALWAYS AS (minhash(CASE WHEN words IS DISTINCT FROM '{}' THEN body END)) STORED,
    plain bigint GENERATED ALWAYS AS (minhash(CASE NULLIF(body, '') WHEN 'a' THEN 'b' ELSE body END)) STORED);
INSERT INTO spelled SELECT i, '{a,b}', 'A few words of ' || i FROM generate_series(1, 4) AS i;
CREATE FUNCTION open.arrays(text[], text[]) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN RAISE ''trapped''; END';
SELECT simhash_add_keys('spelled', s) FROM unnest('{nulled}'::text[]) AS s;             -- error, before it is planted
CREATE OPERATOR open.= (FUNCTION = open.arrays, LEFTARG = text[], RIGHTARG = text[]);
CREATE FUNCTION open.texts(text, text) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN RAISE ''trapped''; END';
CREATE OPERATOR open.= (FUNCTION = open.texts, LEFTARG = text, RIGHTARG = text);
SET search_path = open, public;
SELECT NULLIF(words, '{}') FROM spelled;                                                -- error
SELECT simhash_add_keys('spelled', 'nulled');                                           -- error
SELECT simhash_add_keys('spelled', 'simple');                                           -- error
SELECT simhash_add_keys('spelled', 'same');                                             -- error
CALL simhash_add_clusters('spelled', 'nulled');                                         -- error
CALL simhash_add_clusters('spelled', 'simple', 8, similarity => 'alike');               -- error
SELECT simhash_add_keys('spelled', 'plain');
SELECT simhash_drop_keys('spelled');
SET search_path = open, public, pg_catalog;
SELECT simhash_add_keys('spelled', 'plain');                                            -- error
RESET search_path;
DROP TABLE spelled CASCADE;

-- nor a function that fits better than one of any types, in the very schema of that
CREATE FUNCTION open.any_of(anyelement) RETURNS anyelement IMMUTABLE LANGUAGE sql AS 'SELECT $1';
CREATE TABLE fitted (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(open.any_of(body))) STORED);
INSERT INTO fitted SELECT i, 'A few words of ' || i FROM generate_series(1, 4) AS i;
SELECT simhash_add_keys('fitted', 'fp'), simhash_drop_keys('fitted');
SET ROLE regress_planted_owner;
CREATE FUNCTION open.any_of(text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
    'BEGIN RAISE ''trapped''; END';
RESET ROLE;
SELECT simhash_add_keys('fitted', 'fp');                                                -- error
CREATE INDEX ON fitted USING hamming (fp);
CALL simhash_add_clusters('fitted', 'fp', 8, similarity => 'alike');                    -- error
DROP TABLE fitted CASCADE;

-- and what is made once there are clusters is not called by an INSERT
CREATE FUNCTION open.any_one(anyelement) RETURNS varchar IMMUTABLE LANGUAGE sql AS 'SELECT $1::text';
CREATE TABLE fitted (id int PRIMARY KEY, body varchar,
    fp bigint GENERATED ALWAYS AS (minhash(ARRAY[open.any_one(body), body])) STORED);
CALL simhash_add_clusters('fitted', 'fp');
INSERT INTO fitted VALUES (1, 'A few words');
SET ROLE regress_planted_owner;
CREATE FUNCTION open.trapped() RETURNS varchar IMMUTABLE LANGUAGE plpgsql AS
    'BEGIN RAISE ''trapped as %'', current_user; END';
CREATE FUNCTION open.any_one(varchar) RETURNS varchar IMMUTABLE LANGUAGE sql AS 'SELECT open.trapped()';
RESET ROLE;
INSERT INTO fitted VALUES (2, 'A few words');                                           -- error
CALL simhash_drop_clusters('fitted');
DROP TABLE fitted CASCADE;

-- nor, with texts that a writer may not read, or with the owner's rights, what he has
-- before others in his search_path
CREATE ROLE regress_planted_writer;
CREATE SCHEMA writers AUTHORIZATION regress_planted_writer;
CREATE FUNCTION near.clean(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
    'BEGIN RETURN lower(body); END';
CREATE FUNCTION near.clean_sql(body text) RETURNS text IMMUTABLE LANGUAGE sql AS
    'SELECT lower(body)';
CREATE TABLE near.plain (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(near.clean(body))) STORED,
    fs bigint GENERATED ALWAYS AS (minhash(near.clean_sql(body))) STORED);
CREATE INDEX ON near.plain USING hamming (fp);
CREATE INDEX ON near.plain USING hamming (fs);
INSERT INTO near.plain VALUES (1, 'The word that opens the door is swordfish, and nobody knows');
CALL simhash_add_clusters('near.plain', 'fp', 8, similarity => 'alike');
CALL simhash_add_clusters('near.plain', 'fs', 8, 'connected', 'story', similarity => 'alike');
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON near.plain
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '16', 'similarity=jaccard', 'at_least=0.5');
CREATE TRIGGER guard_sql BEFORE INSERT OR UPDATE ON near.plain
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fs', 'skip', '16', 'similarity=jaccard', 'at_least=0.5');
CREATE INDEX of_expression ON near.plain USING hamming (minhash(near.clean(body)));
GRANT USAGE ON SCHEMA near TO regress_planted_writer;
GRANT INSERT, DELETE ON near.plain TO regress_planted_writer;
GRANT EXECUTE ON FUNCTION hamming_index_check TO regress_planted_writer;
CREATE FUNCTION writers.lower(body text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    IF body ~ 'swordfish' OR current_user <> 'regress_planted_writer' THEN
        RAISE 'trapped';
    END IF;
    RETURN pg_catalog.lower(body);
END $$;
GRANT USAGE ON SCHEMA writers TO PUBLIC;
SET ROLE regress_planted_writer;
SET search_path = writers, pg_catalog, public;
SELECT hamming_index_check('near.of_expression', true);
INSERT INTO near.plain VALUES (2, 'The word that opens the door is cuttlefish, and nobody knows');
INSERT INTO near.plain VALUES (3, 'Something else altogether');
DELETE FROM near.plain;
RESET search_path;
RESET ROLE;
SELECT count(*) FROM near.plain;
CALL simhash_drop_clusters('near.plain');
CALL simhash_drop_clusters('near.plain', 'story');
DROP TABLE near.plain;

-- PL/pgSQL keeps types that its first call finds, so at the commit the writer stays who he is
CREATE DOMAIN public.cleaned AS text;
CREATE FUNCTION near.kept(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
    'DECLARE kept cleaned := body; BEGIN RETURN kept; END';
CREATE TABLE near.plain (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(near.kept(body))) STORED);
CALL simhash_add_clusters('near.plain', 'fp', 8, similarity => 'alike');
GRANT INSERT ON near.plain TO regress_planted_writer;
SET ROLE regress_planted_writer;
CREATE FUNCTION writers.stays() RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
    IF current_user <> 'regress_planted_writer' THEN
        RAISE 'trapped as %', current_user;
    END IF;
    RETURN true;
END $$;
CREATE DOMAIN writers.cleaned AS text CHECK (writers.stays());
SET search_path = writers, public;
INSERT INTO near.plain VALUES (1, 'A few words');
BEGIN;
INSERT INTO near.plain VALUES (2, 'Something else altogether');
RESET ROLE;
COMMIT;
RESET search_path;
CALL simhash_drop_clusters('near.plain');
DROP TABLE near.plain;

-- nor do triggers of the table of the clusters run with the rights of its owner
CREATE TABLE near.plain (id int PRIMARY KEY, fp bigint);
CALL simhash_add_clusters('near.plain', 'fp', 3);
CREATE FUNCTION near.tell() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM stays(); RETURN NULL; END';
CREATE TRIGGER tell AFTER TRUNCATE ON near.plain_clusters EXECUTE FUNCTION near.tell();
GRANT INSERT, TRUNCATE ON near.plain TO regress_planted_writer;
SET ROLE regress_planted_writer;
SET search_path = writers, public;
INSERT INTO near.plain VALUES (1, 0);
TRUNCATE near.plain;
RESET search_path;
RESET ROLE;
SELECT count(*) FROM near.plain_clusters;
CALL simhash_drop_clusters('near.plain');
DROP TABLE near.plain;

-- nor is a document computed as a row goes by a foreign key, or a function of the owner's
CREATE FUNCTION near.held(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
    'DECLARE held cleaned := body; BEGIN RETURN held; END';
CREATE TABLE near.origin (id int PRIMARY KEY);
CREATE TABLE near.plain (id int PRIMARY KEY, origin int REFERENCES near.origin ON DELETE CASCADE,
    body text, fp bigint GENERATED ALWAYS AS (minhash(near.held(body))) STORED);
CREATE FUNCTION near.remove(int) RETURNS void SECURITY DEFINER SET search_path = pg_temp
    LANGUAGE sql AS 'DELETE FROM near.plain WHERE id = $1';
INSERT INTO near.origin VALUES (1);
CALL simhash_add_clusters('near.plain', 'fp', 8, similarity => 'alike');
INSERT INTO near.plain VALUES (1, 1, 'A few words'), (2, 1, 'Something else altogether');
CREATE OR REPLACE FUNCTION near.held(body text) RETURNS text IMMUTABLE LANGUAGE plpgsql AS
    'DECLARE held cleaned := body; BEGIN RETURN held; END';
GRANT SELECT, DELETE ON near.origin TO regress_planted_writer;
SET ROLE regress_planted_writer;
SET search_path = writers, public;
SELECT near.held('as of now, by the type of the writer');
SELECT near.remove(1);
DELETE FROM near.origin;
RESET search_path;
RESET ROLE;
SELECT cluster, document FROM near.plain_clusters ORDER BY cluster;
CALL simhash_drop_clusters('near.plain');
DROP TABLE near.plain, near.origin;
DROP DOMAIN cleaned;
DROP SCHEMA writers CASCADE;
DROP OWNED BY regress_planted_writer;
DROP ROLE regress_planted_writer;

DROP FUNCTION all_calls;
DROP OWNED BY regress_planted_owner CASCADE;
DROP SCHEMA open CASCADE;
DROP ROLE regress_planted_owner;
