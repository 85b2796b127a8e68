--
-- the functions as clients call them: with parameters of no type, or with
-- whole numbers of any type
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

CREATE TABLE docs AS SELECT n AS id, (n << n % 7)::bigint AS fp, 'some text ' || n AS body
FROM generate_series(1, 20) AS n;
CREATE TABLE weights AS SELECT simhash_idf_agg(body, 'word-1') AS idf FROM docs;

----------------------------------------
-- parameters of no type
----------------------------------------

-- a function that may be called with so many parameters of no type is found,
-- and is the one of documents where there are several; but where there are two,
-- of bigints and of bit strings, one of the parameters needs a type
CREATE FUNCTION untyped(name text, arguments int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    types text;
BEGIN
    EXECUTE format('PREPARE p AS SELECT %s(%s)', name,
                   (SELECT string_agg('$' || n, ', ') FROM generate_series(1, arguments) AS n));
    SELECT parameter_types INTO types FROM pg_prepared_statements AS s WHERE s.name = 'p';
    DEALLOCATE p;
    RETURN types;
EXCEPTION WHEN OTHERS THEN
    RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT DISTINCT proname, n, untyped(proname, n)
FROM pg_proc AS p JOIN pg_depend AS d
     ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e',
     LATERAL generate_series(greatest(pronargs - pronargdefaults, 1), pronargs) AS n
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
      AND prokind IN ('f', 'a')
      AND NOT EXISTS (SELECT FROM unnest(proargtypes) AS a (t)
                      WHERE t IN ('internal'::regtype, 'cstring'::regtype, 'anyelement'::regtype))
ORDER BY proname, n;
PREPARE hamming AS SELECT hamming($1::bigint, $2), hamming(fp, $3) FROM docs WHERE id = 1;
EXECUTE hamming (5, 9007199254740991, 7);

----------------------------------------
-- one name, type and place for each argument
----------------------------------------

-- the arguments of what users call: not of parts of operators and aggregates, nor of
-- what begins with an underscore
CREATE VIEW argument AS
SELECT p.oid::regprocedure AS function, name, type, n
FROM pg_proc AS p JOIN pg_depend AS d
     ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e',
     LATERAL unnest(proargnames[1:pronargs], proargtypes::regtype[]) WITH ORDINALITY AS a (name, type, n)
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
      AND proname !~ '^_' AND 'internal'::regtype <> ALL (proargtypes)
      AND p.oid NOT IN (SELECT oprcode FROM pg_operator) AND name <> '';
SELECT name, array_agg(DISTINCT type::text) AS types FROM argument
WHERE name NOT IN (
    'a', 'b',           -- two of a kind, whatever that is
    'center', 'ball',   -- of bigints, or of bit strings
    'weights',          -- of lexemes they are real[], as in ts_rank
    'log')              -- the name of a table to be made, or the table
GROUP BY name HAVING count(DISTINCT type) > 1 ORDER BY name;
SELECT x.name, y.name AS after, min(x.function::text) AS function, min(v.function::text) AS otherwise
FROM argument AS x JOIN argument AS y ON y.function = x.function AND y.n > x.n
     JOIN argument AS v ON v.name = y.name JOIN argument AS w ON w.name = x.name AND w.function = v.function AND w.n > v.n
WHERE x.name < y.name GROUP BY x.name, y.name ORDER BY x.name, y.name;
DROP VIEW argument;

----------------------------------------
-- whole numbers
----------------------------------------

-- a whole number that somebody passes may be a bigint: those that may not are
-- parts of what is stored or of PostgreSQL's own interfaces
SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_depend AS d
     ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
WHERE d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
      AND 'integer'::regtype = ANY (proargtypes)
      AND NOT 'internal'::regtype = ANY (proargtypes)
ORDER BY p.oid::regprocedure::text COLLATE "C";

-- k is k, whatever its type
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 8);
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 8::bigint);
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 8::smallint);
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', '8');
PREPARE pairs AS SELECT count(*) FROM simhash_pairs($1, $2);
EXECUTE pairs ('SELECT id, fp FROM docs', 8);
PREPARE pairs_as AS SELECT count(*), min(a) FROM simhash_pairs_as(NULL::text, $1, $2);
EXECUTE pairs_as ('SELECT body, fp FROM docs', 8);
PREPARE clusters AS SELECT count(*) FROM simhash_clusters($1, $2, $3, $4, $5);
EXECUTE clusters ('SELECT id, fp FROM docs', 8, 'star', 'first', 2);
SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs', 8::bigint, min_size => 2::bigint);
SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs', min_size => 5000000000);
SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM docs', min_size => -5000000000);
SELECT fails('SELECT simhash_pairs(''SELECT id, fp FROM docs'', 8.0)');
SELECT fails('SELECT simhash_pairs(''SELECT id, fp FROM docs'', 5000000000)');
SELECT fails('SELECT simhash_clusters(''SELECT id, fp FROM docs'', -5000000000)');
SELECT fails('SELECT simhash_report(''docs'', ''fp'', 5000000000)');
SELECT fails('SELECT simhash_dedup_sql(''docs'', ''fp'', 5000000000)');
SELECT count(*) FROM simhash_report('docs', 'fp', 3::bigint);
-- and the others
PREPARE one AS SELECT simhash($1) = simhash('some text'::text) AS same;
EXECUTE one ('some text');
PREPARE two AS SELECT simhash($1, $2) = simhash('some text'::text, 'word-1') AS same;
EXECUTE two ('some text', 'word-1');
PREPARE tfidf AS SELECT simhash_tfidf($1, idf) = simhash_tfidf($1, idf, $2) AS same FROM weights;
EXECUTE tfidf ('some text', NULL);
EXECUTE tfidf ('some text', 9);
SELECT simhash_tfidf('some text', idf, 5000000000) = simhash_tfidf('some text', idf) AS same
FROM weights;
SELECT count(*) FROM weights, simhash_keywords('some text', idf, 5000000000);
SELECT fails('SELECT simhash_explain(''a'', ''b'', NULL, 5000000000)');
SELECT fails('SELECT simhash_tune(''SELECT body FROM docs'', sample => 5000000000)');
SELECT fails('SELECT simhash_tune(''SELECT body FROM docs'', sample => -5000000000)');
SELECT fails('SELECT simhash_tfidf(''a'', idf, -5000000000) FROM weights');
SELECT count(*) FROM simhash_tune('SELECT body FROM docs', sample => 10::bigint);

DROP TABLE docs, weights;
DROP FUNCTION untyped;
