#!/bin/bash
#
# The hamming index: what building, searching and inserting cost.
# SPDX-License-Identifier: PostgreSQL
#
# usage: CONF='shared_buffers = 4GB' tools/stage bench/hamming.sh [ROWS]
#
# Random fingerprints, all in memory, one process.  Times are of the server's
# processor, in microseconds for each search or row, the better of two runs;
# look-ups run as the inner side of a join in one statement.
#

set -euo pipefail

rows=${1:-1000000}
setup="SET max_parallel_workers_per_gather = 0; SET jit = off;
	SET max_parallel_maintenance_workers = 0; SET synchronous_commit = off;
	SET enable_seqscan = off; SET enable_bitmapscan = off;
	SET enable_hashjoin = off; SET enable_mergejoin = off;
	SET enable_material = off; SET enable_memoize = off;"

# measure NAME N STATEMENT: processor time of a statement, divided by N.
measure()
{
	local us

	us=$(psql -X -q -v ON_ERROR_STOP=1 2>&1 <<-END | sed -n \
			's/^!\t\([0-9.]*\) s user, \([0-9.]*\) s system.*/\1 \2/p' |
		$setup
		SET client_min_messages = log; SET log_statement_stats = on;
		$3;
		$4
	END
		awk -v n="$2" '{ t = ($1 + $2) * 1e6 / n
			if (t * n > 50 && (!best || t < best)) best = t }
			END { printf "%.2f", best }')
	printf '| %-40s | %12s |\n' "$1" "$us"
}

twice() { measure "$1" "$2" "$3" "$3;"; }

psql -X -q -v ON_ERROR_STOP=1 -v rows="$rows" <<-'END' >/dev/null
	SET client_min_messages = warning;
	CREATE EXTENSION IF NOT EXISTS simhash;
	DROP TABLE IF EXISTS docs, queries, alone, four;
	CREATE TABLE docs AS SELECT n AS id, hashint8extended(n, 1) AS fp
		FROM generate_series(1, :rows) AS n;
	ALTER TABLE docs ADD PRIMARY KEY (id);
	CREATE TABLE queries AS SELECT n, hashint8extended(n, 2) AS q,
		(hashint8extended(n, 3) & 2147483647) % :rows + 1 AS id
		FROM generate_series(1, 20000) AS n;
	CREATE TABLE alone (id int, fp bigint, EXCLUDE USING hamming (fp WITH ~=));
	CREATE TABLE four (id int, fp bigint);
	CREATE INDEX ON four (fp); CREATE INDEX ON four ((fp # 1));
	CREATE INDEX ON four ((fp # 2)); CREATE INDEX ON four ((fp # 3));
	VACUUM ANALYZE;
END

printf '| %-40s | %12s |\n' "$rows rows" microseconds
echo '| :--------------------------------------- | -----------: |'
measure 'build: one btree, a row' "$rows" \
	'CREATE INDEX docs_btree ON docs (fp)' ''
measure 'build: hamming, a row' "$rows" \
	'CREATE INDEX docs_fp ON docs USING hamming (fp)' ''
psql -X -q -c 'VACUUM ANALYZE docs' -c 'SELECT sum(length(docs::text)) FROM docs' >/dev/null
twice 'look-up by primary key' 20000 \
	'SELECT count(*) FROM queries q, LATERAL (SELECT fp FROM docs WHERE id = q.id) s'
twice 'fp ~= q' 20000 \
	'SELECT count(*) FROM queries q, LATERAL (SELECT id FROM docs WHERE fp ~= q.q) s'
for k in 8 12; do
	twice "fp <@ (q, $k)" 200 \
		"SELECT count(*) FROM (SELECT q FROM queries LIMIT 200) q, LATERAL (SELECT id FROM docs WHERE fp <@ (q.q, $k)) s"
done
twice 'ten nearest, of random rows' 50 \
	'SELECT count(*) FROM (SELECT q FROM queries LIMIT 50) q, LATERAL (SELECT id FROM docs ORDER BY fp <~> q.q LIMIT 10) s'
measure 'insert: four btrees, a row' 100000 \
	"INSERT INTO four SELECT id, fp FROM docs WHERE id <= 100000" ''
measure 'insert: exclusion constraint, a row' 100000 \
	"INSERT INTO alone SELECT id, fp FROM docs WHERE id <= 100000" ''
size=$(psql -X -At -c "SELECT pg_relation_size('docs_fp') / count(*) FROM docs")
printf '| %-40s | %12s |\n' 'size, bytes a row' "$size"
