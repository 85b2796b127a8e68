--
-- NULL wherever a value may stand: in each argument of each function, in a ball,
-- in an array, and in the rows of a query.  What the functions say to it, their
-- own tests compare; here the server has to live, which on a machine of 32 bits
-- it does not where a bigint is read before it is known to be one.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- values to put beside the NULLs; those of some types have one within
CREATE TABLE samples (type regtype, value text);
INSERT INTO samples VALUES
    ('bigint', '1'), ('integer', '1'), ('smallint', '1'), ('boolean', 'true'), ('float8', '1'), ('numeric', '1'),
    ('text', $$'word-1'$$), ('text', $$'near'$$), ('text', $$'fp'$$),
    ('text', $$'SELECT n, NULL::bigint FROM generate_series(1, 3) AS n'$$),
    ('text', $$'SELECT NULL::text, NULL::bigint FROM generate_series(1, 3) AS n'$$),
    ('text', $$'SELECT ''a b c ''::text || n, NULLIF(n, 2) FROM generate_series(1, 3::bigint) AS n'$$),
    ('text', $$'SELECT n, NULL::bit(64) FROM generate_series(1, 3) AS n'$$),
    ('text[]', $$'{a,NULL}'$$), ('text[]', $$'{a,b}'$$), ('name[]', $$'{fp,NULL}'$$),
    ('bigint[]', $$'{1,NULL}'$$), ('float8[]', $$'{1,NULL}'$$), ('float8[]', $$'{1,2}'$$), ('real[]', $$'{1,NULL,1,1}'$$),
    ('bit', $$B'0101'$$), ('varbit', $$B'0101'$$), ('hamming_ball', $$'(1,)'$$), ('hamming_ball', $$'(,1)'$$),
    ('hamming_bit_ball', $$'(0101,)'$$), ('hamming_bit_ball', $$'(,1)'$$),
    ('simhash_idf', $$simhash_idf_from('{a,b}', '{1,2}')$$), ('tsvector', $$'a:1 b:2A'$$),
    ('name', $$'cluster'$$), ('name', $$''$$), ('regclass', $$'docs'$$), ('interval', $$'1 day'$$), ('regclass', $$'docs_fp_idx'$$), ('anyelement', '1::bigint'), ('record', 'ROW(1)'), ('anyarray', $$'{1,NULL}'::bigint[]$$);
CREATE TABLE docs (id int, fp bigint, body text);
CREATE INDEX ON docs USING hamming (fp);
INSERT INTO docs VALUES (1, NULL, NULL), (2, 2, 'a b c');

-- the functions, with those of the operators; the types without samples
CREATE VIEW functions AS
SELECT p.oid::regprocedure AS function, pronamespace::regnamespace || '.' || quote_ident(proname) AS name, n, type
FROM pg_depend AS d JOIN pg_proc AS p ON d.objid = p.oid, unnest(proargtypes) WITH ORDINALITY AS a (type, n)
WHERE d.classid = 'pg_proc'::regclass AND d.deptype = 'e' AND prokind IN ('f', 'a')
    AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
    AND NOT proargtypes::oid[] && '{internal,cstring}'::regtype[]::oid[];
SELECT DISTINCT type::regtype FROM functions WHERE type NOT IN (SELECT type FROM samples);

-- each argument NULL, and none, beside twelve choices of samples
CREATE FUNCTION call_all() RETURNS TABLE (called bigint, failed_within text) LANGUAGE plpgsql AS $$
DECLARE
    f record;
    call text;
BEGIN
    called := 0;
    FOR f IN SELECT function, name, array_agg(type::regtype ORDER BY n) AS types FROM functions GROUP BY 1, 2 LOOP
        FOR call IN
            SELECT format('SELECT count(*) FROM (SELECT %s(%s)) AS s', f.name,
                          string_agg(CASE WHEN a.n = nulled THEN 'NULL' ELSE coalesce(value, 'NULL') END || '::' || a.type, ', ' ORDER BY a.n))
            FROM generate_series(0, cardinality(f.types)) AS nulled, generate_series(0, 11) AS choice,
                 LATERAL (SELECT t.type, t.n, (SELECT (array_agg(value ORDER BY value))[1 + (choice + (t.n - 1) * (choice / 6)) % count(*)] FROM samples AS s WHERE s.type = t.type) AS value
                          FROM unnest(f.types) WITH ORDINALITY AS t (type, n)) AS a
            GROUP BY nulled, choice
        LOOP
            called := called + 1;
            BEGIN
                EXECUTE regexp_replace(call, '::(anyelement|anyarray)', '', 'g');
            EXCEPTION WHEN internal_error OR data_corrupted THEN
                failed_within := concat_ws(' ', failed_within, call, SQLERRM);
            WHEN OTHERS THEN
            END;
        END LOOP;
    END LOOP;
    RETURN NEXT;
END $$;
SET client_min_messages = warning;
SELECT called > 1000 AS called, failed_within FROM call_all();
RESET client_min_messages;

DROP FUNCTION call_all;
DROP VIEW functions;
DROP TABLE docs, samples;
