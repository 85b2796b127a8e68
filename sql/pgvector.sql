--
-- simhash and pgvector in one schema, whichever comes first
--
-- Where pgvector is not installed, its objects for bit strings are made up: the
-- same names and types, which is what two extensions may quarrel over.  Run by
-- make pgvector PGVECTOR=dir, which installs it.
--

\getenv srcdir PG_ABS_SRCDIR
\set checks :srcdir '/test/pgvector_checks.sql'
SELECT count(*) > 0 AS have_vector FROM pg_available_extension_versions
WHERE name = 'vector' AND string_to_array(version, '.')::int[] >= '{0,7,0}' \gset
\if :have_vector
\set make_vector 'CREATE EXTENSION vector;'
\else
\set make_vector 'CREATE FUNCTION hamming_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE AS ''SELECT pg_catalog.bit_count($1 OPERATOR(pg_catalog.#) $2)::float8''; CREATE FUNCTION jaccard_distance(bit, bit) RETURNS float8 LANGUAGE sql IMMUTABLE AS ''SELECT 0.0::float8''; CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = hamming_distance, COMMUTATOR = ''<~>''); CREATE OPERATOR <%> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = jaccard_distance, COMMUTATOR = ''<%>'');'
\endif

\set database :DBNAME
CREATE DATABASE regression_simhash_pgvector;
\c regression_simhash_pgvector
SET client_min_messages = warning;
CREATE SCHEMA shared;
SET search_path = shared;
\set ECHO none
:make_vector
\set ECHO all
CREATE EXTENSION simhash;
\i :checks
\c :database
DROP DATABASE regression_simhash_pgvector;

----------------------------------------
-- the other order
----------------------------------------

CREATE DATABASE regression_simhash_pgvector;
\c regression_simhash_pgvector
SET client_min_messages = warning;
CREATE SCHEMA shared;
SET search_path = shared;
CREATE EXTENSION simhash;
\set ECHO none
:make_vector
\set ECHO all
\i :checks
\c :database
DROP DATABASE regression_simhash_pgvector;
