#!/bin/bash
#
# A whole row in the output of a join is put together below it, for every row read.
#
# Surprising in PostgreSQL 15.20 (Debian 12): of 2,000 rows whose documents are stored
# out of line a hash join keeps five, and its output has concat(t.*).  The scan below
# the join makes t.* of all 2,000, and to make it fetches and decompresses every
# document.  Expected: as for columns that are named, concat(t.id, t.body), whose
# documents are fetched for the five rows alone, as pointers to them pass the join.
#
# What is shown: pages read by both, as EXPLAIN (ANALYZE, BUFFERS) counts them.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/server.bash" 15.20-0+deb12u1

psql <<'SQL'
SET client_min_messages = warning;
CREATE TABLE t (id int, body text);
ALTER TABLE t ALTER body SET STORAGE EXTERNAL;
INSERT INTO t SELECT g, repeat(md5(g::text), 300) FROM generate_series(1, 2000) AS g;
CREATE TABLE few AS SELECT g AS id FROM generate_series(1, 5) AS g;
ANALYZE t, few;
SQL

# The pages that a query for the output $1 touches, in thousands, rounded down.
pages()
{
	psql -c 'SET enable_nestloop = off' -c 'SET enable_mergejoin = off' \
		-c "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF)
			SELECT $1 FROM t JOIN few USING (id)" |
		sed -nE '/Planning/q; s/^ +Buffers: shared hit=([0-9]+)( read=([0-9]+))?.*/\1 \3/p' |
		awk 'NR == 1 { print int(($1 + $2) / 1000) }'
}

whole=$(pages 'length(concat(t.*))')
named=$(pages 'length(concat(t.id, t.body))')
echo "thousands of pages: $whole for the whole row, $named for its columns"
[ "$whole" -ge 2 ] && [ "$named" = 0 ] || { echo 'this has changed'; exit 1; }
