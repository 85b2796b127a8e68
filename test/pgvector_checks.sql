-- What sql/pgvector.sql asks in each database: both extensions are in one
-- schema; :have_vector says whether the other one is pgvector itself.

SELECT count(DISTINCT extnamespace) AS schemas FROM pg_extension WHERE extname IN ('vector', 'simhash');
-- each one's operators: typed; untyped beside something typed; by parameters
SELECT B'1010' <~> B'0110' AS theirs, B'1010' <~~> B'0110' AS ours, 1::bigint <~> 2::bigint AS of_bigints,
       B'1010' <@ (B'0110', 2) AS within, 7::bigint <@ (0, 3) AS of_bigint, 1::bigint ~= 2::bigint AS near;
SELECT B'1010' <~> '0110' AS theirs, '1010' <~~> B'0110' AS ours, 1::bigint <~> '2' AS of_bigints, '7' <~> 1::bigint AS right,
       '1010' <~~> '0110' AS both;
PREPARE theirs AS SELECT B'1010' <~> $1;
PREPARE ours AS SELECT $1 <~~> $2, $3::bit(4) <@ (B'0110', $4), $5::bigint <~> $6, $7::bigint <@ ($8, $9), $10 ~= $11::bigint;
SELECT name, parameter_types FROM pg_prepared_statements ORDER BY name;
EXECUTE theirs('0110');
EXECUTE ours('1010', '0110', '1010', '2', '1', '2', '7', '0', '3', '1', '2');
DEALLOCATE ALL;

-- indexes of both on one column
CREATE TABLE images (id int, pdq bit(256), fp bigint);
INSERT INTO images SELECT id, ('x' || md5(id::text) || md5((id / 3)::text))::bit(256), hashint8extended(id / 2, 1)
FROM generate_series(1, 1000) AS id;
CREATE INDEX images_hamming ON images USING hamming (pdq);
CREATE INDEX images_bigint ON images USING hamming (fp);
\if :have_vector
CREATE INDEX images_hnsw ON images USING hnsw (pdq bit_hamming_ops);
\endif
ANALYZE images;
CREATE FUNCTION uses(index text, query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
    RETURN plan::text LIKE '%"' || index || '"%';
END $$;
SET enable_seqscan = off;
SET enable_sort = off;
SELECT uses('images_hamming', 'SELECT id FROM images WHERE pdq <@ (0::bit(256), 31)') AS within,
       uses('images_hamming', 'SELECT id FROM images ORDER BY pdq <~~> 0::bit(256) LIMIT 3') AS nearest,
       uses('images_bigint', 'SELECT id FROM images WHERE fp <@ (0, 3)') AS within_bigint,
       uses('images_bigint', 'SELECT id FROM images ORDER BY fp <~> 0 LIMIT 3') AS nearest_bigint;
SELECT NOT :'have_vector'::boolean
    OR uses('images_hnsw', 'SELECT id FROM images ORDER BY pdq <~> 0::bit(256) LIMIT 3') AS nearest_of_theirs;
SELECT count(*) AS wrong FROM images AS q WHERE id <= 50
    AND (ARRAY(SELECT id FROM images WHERE pdq <@ (q.pdq, 100) ORDER BY id)
      <> ARRAY(SELECT id FROM images WHERE bit_count(pdq # q.pdq) <= 100 ORDER BY id)
    OR ARRAY(SELECT pdq <~~> q.pdq FROM images ORDER BY pdq <~~> q.pdq LIMIT 5)
      <> ARRAY(SELECT bit_count(pdq # q.pdq)::int FROM images ORDER BY 1 LIMIT 5));
SELECT min(d) AS theirs FROM (SELECT pdq <~> (SELECT pdq FROM images WHERE id = 7) AS d FROM images
    ORDER BY pdq <~> (SELECT pdq FROM images WHERE id = 7) LIMIT 1) AS s;
RESET enable_seqscan;
RESET enable_sort;

-- the guard, and the exclusion constraint
CREATE TRIGGER guard BEFORE INSERT ON images FOR EACH ROW EXECUTE FUNCTION simhash_guard('pdq', 'skip', '31');
INSERT INTO images SELECT -id, pdq, fp FROM images;
SELECT count(*) FROM images WHERE id < 0;
CREATE TABLE lone (pdq bit(256), EXCLUDE USING hamming (hamming_bit_ball(pdq, 31) WITH ~=));
INSERT INTO lone VALUES (0::bit(256)), (1::bit(256)) ON CONFLICT DO NOTHING;
SELECT count(*) FROM lone;

-- either goes without the other
DROP TABLE lone, images;
DROP EXTENSION simhash;
SELECT B'1010' <~> B'0110' AS theirs;
