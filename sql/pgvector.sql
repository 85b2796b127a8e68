--
-- simhash and pgvector in one schema
--
-- Where pgvector is not installed, its objects for bit strings are made up: the
-- same names and types, which is what two extensions may quarrel over.
--

\set database :DBNAME
CREATE DATABASE regression_simhash_pgvector;
\c regression_simhash_pgvector
SET client_min_messages = warning;
CREATE SCHEMA shared;
SET search_path = shared;
SELECT count(*) > 0 AS have_vector FROM pg_available_extension_versions
WHERE name = 'vector' AND string_to_array(version, '.')::int[] >= '{0,7,0}' \gset
\if :have_vector
CREATE EXTENSION vector;
\else
CREATE FUNCTION hamming_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE AS
'SELECT pg_catalog.bit_count($1 OPERATOR(pg_catalog.#) $2)::float8';
CREATE FUNCTION jaccard_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE AS 'SELECT 0.0::float8';
CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = hamming_distance, COMMUTATOR = '<~>');
CREATE OPERATOR <%> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = jaccard_distance, COMMUTATOR = '<%>');
\endif
CREATE EXTENSION simhash;
SELECT B'1010' <~> B'0110' AS theirs, B'1010' <~~> B'0110' AS ours,
       1::bigint <~> 2::bigint AS of_bigints, B'1010' <@ (B'0110', 2) AS within;
CREATE TABLE images (id int, pdq bit(256));
INSERT INTO images SELECT id, ('x' || md5(id::text) || md5((id / 3)::text))::bit(256)
FROM generate_series(1, 1000) AS id;
CREATE INDEX ON images USING hamming (pdq);
\if :have_vector
CREATE INDEX ON images USING hnsw (pdq bit_hamming_ops);
\endif
SET enable_seqscan = off;
SELECT count(*) AS wrong FROM images AS q WHERE id <= 50
    AND ARRAY(SELECT id FROM images WHERE pdq <@ (q.pdq, 100) ORDER BY id)
     <> ARRAY(SELECT id FROM images WHERE bit_count(pdq # q.pdq) <= 100 ORDER BY id);
\c :database
DROP DATABASE regression_simhash_pgvector;
