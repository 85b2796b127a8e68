#
# Bit strings: hashes of images, by the hamming index, pgvector's HNSW index,
# and a sequential scan.
# SPDX-License-Identifier: PostgreSQL
#
# Rows of 256 bits, as PDQ has them.  One of ten is in a crowd of twenty, which
# differ from a common center in some 13 bits each, and so from each other in 25;
# the others are random.  Asked are the rows within 31 of fingerprints that are
# four bits off a row: one in a crowd, a lone one; and of random ones; and the
# ten nearest where there is a crowd.
#
# HNSW is asked for the 20 nearest, of which those within 31 count.  The recall
# is the share of what the hamming index finds; of the ten nearest, the share
# that are as near as the tenth.  hnsw.ef_search is raised until it is 0.99.
#

sizes() { some 5000 1000000; }

prepare()
{
	local begin

	have prints || psql -v rows="$1" <<-'END'
		CREATE FUNCTION noise(n bigint, seed bigint) RETURNS bit
		LANGUAGE sql IMMUTABLE AS $$
			SELECT hashint8extended(n, seed)::bit(64)
				|| hashint8extended(n, seed + 1)::bit(64)
				|| hashint8extended(n, seed + 2)::bit(64)
				|| hashint8extended(n, seed + 3)::bit(64)
		$$;
		CREATE TABLE prints (id int, fp bit(256));
		INSERT INTO prints SELECT n, CASE WHEN n % 10 = 0
			THEN noise(n / 200, 10) # CASE n % 20 WHEN 0
				THEN noise(n, 20) & noise(n, 30) & noise(n, 40) & noise(n, 50)
					& (noise(n, 60) | noise(n, 70))
				ELSE noise(n, 20) & noise(n, 30) & noise(n, 40) & noise(n, 50) END
			ELSE noise(n, 1) END
		FROM generate_series(1, :rows::bigint) AS n;
		ALTER TABLE prints ADD PRIMARY KEY (id);
		CREATE TABLE sought AS SELECT kind, CASE kind
			WHEN 'far' THEN noise(n, 80)
			ELSE fp # (1::bit(256) << n % 64) # (1::bit(256) << n % 50 + 64)
				# (1::bit(256) << n % 45 + 128) # (1::bit(256) << n % 39 + 192)
			END::bit(256) AS q
		FROM generate_series(1, 2000) AS n
		CROSS JOIN (VALUES ('crowd', 10), ('lone', 1), ('far', 1)) AS k (kind, odd)
		JOIN prints ON id = (hashint8extended(n, 3) & 2147483647)
			% (:rows / 20) * 10 + k.odd;
		VACUUM ANALYZE prints;
	END
	begin=$(date +%s.%N)
	psql -c 'CREATE INDEX prints_hamming ON prints USING hamming (fp)'
	emit 'build, 256 bits, hamming index' \
		"$(calc "($(date +%s.%N) - $begin) / $1 * 1e6")" us/row
	emit 'size, 256 bits, hamming index' "$(
		ask "SELECT pg_relation_size('prints_hamming') / $1.0 / 4")" \
		'bytes/row and word' '' '' "$(large "$1" 'figure <= 90')"
	psql <<-'END'
		ALTER TABLE sought ADD tenth int;
		SET enable_seqscan = off;
		UPDATE sought SET tenth = (SELECT max(d) FROM (
			SELECT fp <~~> q AS d FROM prints ORDER BY fp <~~> q LIMIT 10) AS s)
		WHERE kind = 'crowd';
		VACUUM FULL ANALYZE sought;
	END
	warm prints
	! vector || prepare_hnsw "$1"
}

# HNSW has a table of its own: either operator <~~> or <~> is to be used there.
prepare_hnsw()
{
	local begin

	psql -c 'CREATE EXTENSION IF NOT EXISTS vector SCHEMA public' \
		-c 'CREATE TABLE vectors AS SELECT id, fp FROM prints' \
		-c 'ALTER TABLE vectors ALTER fp TYPE bit(256)' \
		-c 'VACUUM ANALYZE vectors'
	begin=$(date +%s.%N)
	psql -c 'SET client_min_messages = warning' \
		-c 'SET max_parallel_maintenance_workers = 2' \
		-c 'CREATE INDEX vectors_hnsw ON vectors USING hnsw (fp bit_hamming_ops)'
	emit 'build, 256 bits, HNSW, 2 workers' \
		"$(calc "($(date +%s.%N) - $begin) / $1 * 1e6")" us/row
	emit 'size, 256 bits, HNSW' \
		"$(ask "SELECT pg_relation_size('vectors_hnsw') / $1.0 / 4")" \
		'bytes/row and word'
	warm vectors
}

# A bar $2, which is looked at from a million rows on.
large() { [ "$1" -lt 1000000 ] || echo "$2"; }

# Statements about :n queries of a kind.
asked() { echo "FROM (SELECT * FROM sought WHERE kind = '$1' LIMIT :n) AS q"; }

within_31()
{
	echo "SELECT count(s.id) $(asked "$1"),
		LATERAL (SELECT id FROM prints WHERE fp <@ (q.q, 31)) AS s"
}

ten_nearest()
{
	echo "SELECT count(*) $(asked crowd), LATERAL (SELECT fp <~~> q.q AS d
		FROM prints ORDER BY fp <~~> q.q LIMIT 10) AS s WHERE s.d <= q.tenth"
}

measure()
{
	local kind

	for kind in crowd lone far; do
		method "$kind" "$INDEX" "$(within_31 $kind)"
		method "scan $kind" "$SCAN" "$(within_31 $kind)"
	done
	method ten "$INDEX" "$(ten_nearest)"
	method 'scan ten' "$SCAN" "$(ten_nearest)"
	run "$(fixed 0.1 0.7)" "$(fixed 3 5)" 2000
	for kind in crowd lone far; do
		emit "server, $kind, within 31 of 256 bits, hamming index" \
			"${us[$kind]}" us '' '' "$(large "$1" 'figure < 1000')"
		emit "server, $kind, within 31 of 256 bits, sequential scan" \
			"${us[scan $kind]}" us 'hamming index' "${us[$kind]}" \
			"$(large "$1" 'ratio >= 50')"
	done
	emit 'server, crowd, ten nearest of 256 bits, hamming index' \
		"${us[ten]}" us
	emit 'server, crowd, ten nearest of 256 bits, sequential scan' \
		"${us[scan ten]}" us 'hamming index' "${us[ten]}"
	if ! vector; then
		skip 'HNSW (pgvector)' 'install pgvector 0.7 or later'
		return
	fi
	for kind in crowd lone; do
		beside_hnsw "$kind, within 31" "$(within_31 $kind)" \
			"SELECT count(s.id) $(asked $kind),
			LATERAL (SELECT id, fp FROM vectors ORDER BY fp <~> q.q LIMIT 20)
			AS s WHERE s.fp <~> q.q <= 31"
	done
	beside_hnsw 'crowd, ten nearest' "$(ten_nearest)" \
		"SELECT count(*) $(asked crowd), LATERAL (SELECT fp <~> q.q AS d
		FROM vectors ORDER BY fp <~> q.q LIMIT 10) AS s WHERE s.d <= q.tenth"
}

# beside_hnsw WHAT STATEMENT STATEMENT: the same question to both indexes.
beside_hnsw()
{
	local ef recall all

	all=$(answer "$INDEX" "$2")
	for ef in 20 40 100 200 400 800 1000; do
		recall=$(calc "$(answer "$INDEX SET hnsw.ef_search = $ef;" "$3") / $all")
		[ "$(calc "$recall >= 0.99 || $ef == 1000")" = 1 ] || continue
		method hamming "$INDEX" "$2"
		method hnsw "$INDEX SET hnsw.ef_search = $ef;" "$3"
		run "$(fixed 0.1 0.7)" "$(fixed 3 5)" 2000
		emit "server, $1, HNSW, ef_search=$ef, recall=$(printf %.3f "$recall")" \
			"${us[hnsw]}" us 'hamming index' "${us[hamming]}"
		break
	done
}
