#
# pgvector's HNSW index, which is approximate, beside the hamming index.
# SPDX-License-Identifier: PostgreSQL
#
# Asked are the rows within distance 3 of fingerprints one bit off a row: one in
# a crowd, which has nineteen near-duplicates, or a lone one.  The recall is the
# share of what the hamming index finds; hnsw.ef_search is raised until it is
# 0.99.
#

sizes() { some 5000 1000000; }

prepare()
{
	local begin

	vector || return 0
	make_crowds "$1"
	have crowds_hamming || psql -c 'CREATE INDEX crowds_hamming ON crowds
		USING hamming (fp)'
	psql -c 'CREATE EXTENSION IF NOT EXISTS vector SCHEMA public' -c '
		CREATE TABLE bits AS SELECT id, fp::bit(64) AS fp FROM crowds' \
		-c 'VACUUM ANALYZE bits'
	begin=$(date +%s.%N)
	psql -c 'SET client_min_messages = warning' \
		-c 'SET max_parallel_maintenance_workers = 2' \
		-c 'CREATE INDEX bits_hnsw ON bits USING hnsw (fp bit_hamming_ops)'
	emit 'build, HNSW, 2 workers' \
		"$(calc "($(date +%s.%N) - $begin) / $1 * 1e6")" us/row
	emit 'size, HNSW' "$(ask "SELECT pg_relation_size('bits_hnsw') / $1.0")" \
		bytes/row
	warm crowds
	warm bits
}

measure()
{
	local kind

	if ! vector; then
		skip 'HNSW (pgvector)' 'install pgvector 0.7 or later'
		return
	fi
	for kind in crowd lone; do
		near_duplicates "$1" $kind
	done
}

# The near-duplicates of fingerprints of a kind, by both indexes.
near_duplicates()
{
	local asked="FROM (SELECT * FROM asked WHERE kind = '$2' LIMIT :n) AS q"
	local hamming="SELECT count(s.id) $asked,
		LATERAL (SELECT id FROM crowds WHERE fp ~= q.q) AS s"
	local hnsw="SELECT count(s.id) $asked,
		LATERAL (SELECT id, fp FROM bits ORDER BY fp <~> q.q::bit(64) LIMIT 20)
		AS s WHERE s.fp <~> q.q::bit(64) <= 3"
	local ef found all recall

	all=$(answer "$INDEX" "$hamming")
	for ef in 20 40 100 200 400 800 1000; do
		found=$(answer "$INDEX SET hnsw.ef_search = $ef;" "$hnsw")
		recall=$(calc "$found / $all")
		method near "$INDEX" "$hamming"
		method hnsw "$INDEX SET hnsw.ef_search = $ef;" "$hnsw"
		run "$(fixed 0.1 0.7)" "$(fixed 3 5)" 2000
		emit "server, $2, HNSW, ef_search=$ef, recall=$(printf %.3f "$recall")" \
			"${us[hnsw]}" us 'hamming index' "${us[near]}" "$(
				[ "$1" -lt 1000000 ] || awk -v r="$recall" \
					'BEGIN { if (r >= 0.99) print "ratio >= 100" }')"
		[ "$(calc "$recall >= 0.99")" = 0 ] || break
	done
	emit "server, $2, fp ~= q, hamming index" "${us[near]}" us
}
