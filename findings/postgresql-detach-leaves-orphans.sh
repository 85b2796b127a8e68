#!/bin/bash
#
# A DELETE leaves rows that refer to nothing, and their foreign key is called valid.
#
# Surprising in PostgreSQL 15.20: after a cancelled DETACH PARTITION ... CONCURRENTLY a
# partition is not found through the partitioned table any more, by the triggers of its
# foreign key either.  Deleting a row that the partition's rows refer to neither fails
# nor takes them along (ON DELETE CASCADE).  FINALIZE then makes the partition a table
# with a foreign key that pg_constraint calls valid.  Expected: as the key holds before
# and after, the rows go along, or the DELETE or FINALIZE fails.
#
# What is shown: rows that refer to nothing, and whether their key is valid.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/server.bash" 15.20-0+deb12u1

psql <<'E'
CREATE TABLE docs (id int PRIMARY KEY);
CREATE TABLE likes (part int, doc int REFERENCES docs ON DELETE CASCADE)
	PARTITION BY LIST (part);
CREATE TABLE likes_1 PARTITION OF likes FOR VALUES IN (1);
INSERT INTO docs VALUES (1);
INSERT INTO likes VALUES (1, 1);
E
# Another session has read the table and goes on: what is second in detaching waits.
psql -c 'BEGIN' -c 'SELECT count(*) FROM likes' -c 'SELECT pg_sleep(4)' >/dev/null &
until [ "$(psql -c "SELECT count(*) FROM pg_stat_activity
	WHERE query LIKE 'SELECT pg_sleep(4)'")" = 1 ]; do sleep .1; done
psql -c "SET statement_timeout = '1s'" \
	-c 'ALTER TABLE likes DETACH PARTITION likes_1 CONCURRENTLY' || :
wait
psql -c 'DELETE FROM docs' -c 'ALTER TABLE likes DETACH PARTITION likes_1 FINALIZE'
orphans=$(psql -c 'SELECT count(*) FROM likes_1 WHERE doc NOT IN (SELECT id FROM docs)')
valid=$(psql -c "SELECT convalidated FROM pg_constraint
	WHERE conrelid = 'likes_1'::regclass AND contype = 'f'")
echo "rows that refer to nothing: $orphans; their key is valid: $valid"
[ "$orphans, $valid" = '1, t' ] || { echo 'this has changed'; exit 1; }
