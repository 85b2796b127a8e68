#!/bin/bash
#
# Latency of one search within distance 3, by method.
# SPDX-License-Identifier: PostgreSQL
#
# usage: CONF='shared_buffers = 2GB' tools/stage bench/lookup.sh [ROWS...]
#
# A client that prepares its statement asks, one after another, for the
# near-duplicates of random fingerprints in a table of random fingerprints.
# All is in memory.  Medians of what pgbench logs, in milliseconds; the ratio
# is to a look-up of one row by its primary key, in the same run.
#

set -euo pipefail

# median SCRIPT TRANSACTIONS: the median latency, in milliseconds.
median()
{
	local dir

	dir=$(mktemp -d)
	echo "$1" >"$dir/script"
	(cd "$dir" && pgbench -n -M prepared -f script -t "$2" -D rows="$rows" \
		-l --random-seed=1 >/dev/null 2>pgbench.err) || cat "$dir/pgbench.err" >&2
	cut -d' ' -f3 "$dir"/pgbench_log.* | sort -n |
		awk '{ v[NR] = $1 } END { printf "%.3f", v[int((NR + 1) / 2)] / 1000 }'
	rm -r "$dir"
}

# Print a row of the table; the first is what the others are compared with.
row()
{
	local name=$1 transactions=$2 script=$3 ms

	ms=$(median "$script" "$transactions")
	[ -n "${unit:-}" ] || unit=$ms
	printf '| %10d | %-34s | %9s | %8s |\n' "$rows" "$name" "$ms" \
		"$(awk "BEGIN { printf \"%.1f\", $ms / $unit }")"
}

echo '|       rows | method                             |        ms |    ratio |'
echo '| ---------: | :--------------------------------- | --------: | -------: |'
for rows in "${@:-1000000}"; do
	unit=
	psql -X -q -v ON_ERROR_STOP=1 -v rows="$rows" <<-'END' >/dev/null
		SET client_min_messages = warning;
		SET maintenance_work_mem = '1GB';
		CREATE EXTENSION IF NOT EXISTS simhash;
		CREATE EXTENSION IF NOT EXISTS pg_prewarm;
		DROP TABLE IF EXISTS docs;
		CREATE TABLE docs (id int, fp bigint);
		INSERT INTO docs SELECT n, hashint8extended(n, 1)
		FROM generate_series(1, :rows) AS n;
		ALTER TABLE docs ADD PRIMARY KEY (id);
		SELECT simhash_add_keys('docs', 'fp');
		VACUUM ANALYZE docs;
		SELECT pg_prewarm(oid) FROM pg_class WHERE relname LIKE 'docs%';
	END
	# Random fingerprints, hardly any of which is in the table.
	q='\set q hash_murmur2(random(1, 1000000000))'
	row 'primary key' 5000 '\set id random(1, :rows)
SELECT id FROM docs WHERE id = :id;'
	row '~= with key columns' 5000 "$q
SELECT id FROM docs WHERE fp ~= :q;"
	row 'OR over the keys, by hand' 5000 "$q
SELECT id FROM docs WHERE bit_count((fp # :q)::bit(64)) <= 3 AND (
k0 = simhash_key(:q, 0) OR k1 = simhash_key(:q, 1) OR
k2 = simhash_key(:q, 2) OR k3 = simhash_key(:q, 3));"
	row '<@ (q, 7) with key columns' 500 "$q
SELECT id FROM docs WHERE fp <@ (:q, 7);"
	row 'sequential scan, ~=' 30 "$q
/* no keys */ SELECT id FROM docs WHERE fp # 0 ~= :q;"
	row 'sequential scan, bit_count' 20 "$q
SELECT id FROM docs WHERE bit_count((fp # :q)::bit(64)) <= 3;"
done
