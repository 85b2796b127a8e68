--
-- hamming_build.c, hamming_sort.c, hamming_tricks.c: an index when things go
-- wrong
--

----------------------------------------
-- builds that are short of memory, or fail
----------------------------------------

CREATE TABLE docs AS SELECT n AS id, hashint8extended(n, 1) AS fp
FROM generate_series(1, 50000) AS n;

-- several runs are written and merged
SET maintenance_work_mem = '1MB';
CREATE INDEX docs_fp ON docs USING hamming (fp);
SELECT hamming_index_check('docs_fp', true);
DROP INDEX docs_fp;

-- An error half-way leaves no index, and no temporary file.
CREATE FUNCTION fp_until(id int, fp bigint) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	IF id = 49000 THEN
		RAISE EXCEPTION 'row 49000';
	END IF;
	RETURN fp;
END $$;
CREATE INDEX docs_until ON docs USING hamming (fp_until(id, fp)); -- error
SELECT count(*) FROM pg_class WHERE relname = 'docs_until';
SELECT count(*) FROM pg_ls_tmpdir() WHERE name LIKE 'pgsql_tmp' || pg_backend_pid() || '.%';

-- A concurrent build leaves an index that is not valid.  Nothing is searched
-- in it, insertion goes on, and it can be built again.
CREATE INDEX CONCURRENTLY docs_until ON docs USING hamming (fp_until(id, fp)); -- error
SELECT indisvalid FROM pg_index WHERE indexrelid = 'docs_until'::regclass;
SELECT hamming_index_check('docs_until', true); -- error
INSERT INTO docs VALUES (50001, 1), (50002, 3);
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp_until(id, fp) ~= 0;
REINDEX INDEX CONCURRENTLY docs_until; -- error
DELETE FROM docs WHERE id = 49000;
VACUUM docs;
DROP INDEX docs_until_ccnew;
SET enable_seqscan = off;
REINDEX INDEX CONCURRENTLY docs_until;
SELECT indisvalid FROM pg_index WHERE indexrelid = 'docs_until'::regclass;
SELECT hamming_index_check('docs_until', true);
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp_until(id, fp) ~= 0;
SELECT id FROM docs WHERE fp_until(id, fp) ~= 0 ORDER BY id;
DROP INDEX docs_until;
RESET maintenance_work_mem;

----------------------------------------
-- transactions that are rolled back
----------------------------------------

CREATE INDEX docs_fp ON docs USING hamming (fp);

-- in part
BEGIN;
INSERT INTO docs VALUES (60001, 5);
SAVEPOINT here;
INSERT INTO docs VALUES (60002, 6);
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;
ROLLBACK TO here;
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;
COMMIT;
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;

-- Pages of another file take the place of those that are remembered.
BEGIN;
TRUNCATE docs;
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;
INSERT INTO docs SELECT n, hashint8extended(n, 2) FROM generate_series(1, 20000) AS n;
INSERT INTO docs VALUES (70001, 7);
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;
ROLLBACK;
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;
REINDEX INDEX docs_fp;
SELECT id FROM docs WHERE fp ~= 0 ORDER BY id;
SELECT hamming_index_check('docs_fp', true);

-- the same for pages that no other session sees
CREATE TEMPORARY TABLE passing AS SELECT id, fp FROM docs;
CREATE INDEX passing_fp ON passing USING hamming (fp);
SELECT id FROM passing WHERE fp ~= 0 ORDER BY id;
BEGIN;
TRUNCATE passing;
INSERT INTO passing VALUES (80001, 8);
SELECT id FROM passing WHERE fp ~= 0 ORDER BY id;
ROLLBACK;
SELECT id FROM passing WHERE fp ~= 0 ORDER BY id;

DROP TABLE docs, passing;
DROP FUNCTION fp_until;
