#
# Searches and insertions where table and index are larger than the memory.
# SPDX-License-Identifier: PostgreSQL
#
# Each statement asks cold, when the system has forgotten the files, and the
# server has nothing of what is asked but the upper pages; then it asks the same
# once more, warm.
# By the clock, since what counts is waiting for the disk.  It takes 100 bytes of
# disk a row beside what is sorted when the index is built, as much again.
#

sizes()
{
	if [ -n "${N:-}" ] || [ "$SCALE" = huge ]; then
		some 300000000 300000000
	fi
}

prepare()
{
	local begin

	# In one transaction: where wal_level is minimal, none of it is logged.
	begin=$(date +%s.%N)
	psql -v rows="$1" <<-'END'
		BEGIN;
		CREATE TABLE vast AS SELECT n::int AS id, hashint8extended(n, 1) AS fp
		FROM generate_series(1, :rows::bigint) AS n;
		SELECT extract(epoch FROM clock_timestamp()) AS begin \gset
		CREATE INDEX vast_hamming ON vast USING hamming (fp);
		SELECT (extract(epoch FROM clock_timestamp()) - :begin) * 1e6 / :rows
			AS built \gset
		CREATE TABLE built AS SELECT :built AS us;
		COMMIT;
		CREATE TABLE vast_sought AS SELECT n, hashint8extended(n, 2) AS q
		FROM generate_series(1, 20000) AS n;
		VACUUM ANALYZE vast;
		VACUUM ANALYZE vast_sought;
	END
}

# Have the system write the files of the relations, and forget them.
forget()
{
	local directory path file

	directory=$(ask 'SHOW data_directory')
	psql -c CHECKPOINT
	for path in $(ask "SELECT pg_relation_filepath(oid) FROM pg_class
			WHERE relname IN ('vast', 'vast_hamming')"); do
		for file in "$directory/$path"*; do
			sync "$file"
			dd if="$file" iflag=nocache count=0 2>/dev/null
		done
	done
}

# The time of each of $3 things that the statement $2 does at once, from the
# query :first on, which is $4: while the disk is asked for several pages ahead,
# and for other queries without that.
cold_and_warm()
{
	local what=$1 each asks times=()

	each="WITH done AS ($2) SELECT 1e6 / $3 * extract(epoch
		FROM clock_timestamp() - statement_timestamp())
		FROM (SELECT count(*) FROM done) AS done"
	for asks in 0 16; do
		forget
		times+=("$(psql -At -v first=$(($4 + $3 * (asks > 0))) \
			<<<"$INDEX SET effective_io_concurrency = $asks; $each;")")
	done
	times+=("$(psql -At -v first=$(($4 + $3)) <<<"$INDEX $each;")")
	emit "$what, cold, one page at a time" "${times[0]}" us
	emit "$what, cold" "${times[1]}" us 'one page at a time' "${times[0]}" \
		'ratio <= 0.33'
	emit "$what, warm" "${times[2]}" us 'cold' "${times[1]}"
}

# Look for $2 queries by $1.
seek()
{
	echo "SELECT count(s.id) FROM (SELECT * FROM vast_sought WHERE n > :first
		ORDER BY n LIMIT $2) AS q, LATERAL (SELECT id FROM vast $1) AS s"
}

measure()
{
	emit 'build, hamming index' "$(ask 'SELECT us FROM built')" us/row
	emit 'size, hamming index' \
		"$(ask "SELECT pg_relation_size('vast_hamming') / $1.0")" bytes/row
	# The upper pages of the index, which any use brings in.
	psql -v first=15000 <<<"$INDEX $(seek 'WHERE fp ~= q.q' 5000)" >/dev/null
	cold_and_warm 'look-up, k=3' "$(seek 'WHERE fp ~= q.q' 2000)" 2000 0
	cold_and_warm 'look-up, k=8' "$(seek 'WHERE fp <@ (q.q, 8)' 50)" 50 4000
	cold_and_warm 'ten nearest' \
		"$(seek 'ORDER BY fp <~> q.q LIMIT 10' 10)" 10 5000
	cold_and_warm 'insert' "INSERT INTO vast SELECT -n, q FROM vast_sought
		WHERE n > :first ORDER BY n LIMIT 2000 RETURNING id" 2000 6000
}
