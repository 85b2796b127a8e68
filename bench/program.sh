#
# The program simhash-texts, beside minhash(body) in the server.
# SPDX-License-Identifier: PostgreSQL
#
# The English documents of fingerprint.sh, eight times over: in a table, in memory and
# not compressed, and as COPY writes them as text, in the cache of files.  One thread by
# the time of its processor, all work of the program in it; two by the time that passes,
# beside one.  The machine has to have both processors for that.
#

sizes() { echo 0; }

prepare()
{
	make -s lib >&2
	psql <<-END
		CREATE TABLE written (body text);
		ALTER TABLE written ALTER body SET STORAGE PLAIN;
		CREATE TABLE texts (id text, body text);
		\copy texts FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
		INSERT INTO written SELECT piece FROM texts,
			generate_series(1, 8),
			LATERAL generate_series(0, length(body) / 2000 - 1) AS i,
			LATERAL substr(body, i * 2000 + 1, 2000) AS piece
		WHERE piece ~ ' the ';
		\copy written TO '$HOME/written'
		DROP TABLE texts;
	END
	psql -c "VACUUM ANALYZE written"
	warm written
}

# Milliseconds of the processor and elapsed, of the program with $1 threads.
program()
{
	local TIMEFORMAT='%U %S %R'

	{ time lib/build/simhash-texts -f text -m -a -j "$1" "$HOME/written" \
		>/dev/null; } 2>&1 | awk '{ print 1000 * ($1 + $2), 1000 * $3 }'
}

measure()
{
	local r bytes server one two passed

	bytes=$(ask "SELECT sum(octet_length(body)) FROM written")
	# Once before it counts, as each round has a session of its own.
	method server "SELECT count(minhash(body)) FROM written;" \
		"SELECT count(minhash(body)) FROM written" 1
	for ((r = 0; r < $(fixed 5 25); r++)); do
		round 0 | times | sed 's/^0/server/'
		program 1 | sed 's/^/one /'
		program 2 | sed 's/^/two /'
	done >"$HOME/rounds"
	median_of() { awk -v name="$1" -v field="$2" '$1 == name { print $field }' \
		"$HOME/rounds" | median; }
	server=$(median_of server 2) one=$(median_of one 2)
	passed=$(median_of one 3) two=$(median_of two 3)
	names=() statements=() settings=() counts=()
	emit 'English, simhash-texts --minhash' "$bytes / $one / 1000" MB/s \
		'minhash(body)' "$(calc "$bytes / $server / 1000")" 'ratio >= 1'
	emit 'English, two threads, elapsed' "$bytes / $two / 1000" MB/s \
		'one thread' "$(calc "$bytes / $passed / 1000")" 'ratio >= 1.9'
}
