#
# What the sections of the bench share; to be sourced by bash.
# SPDX-License-Identifier: PostgreSQL
#

# --- the server ----------------------------------------------------------

psql() { command psql -X -q -v ON_ERROR_STOP=1 "$@"; }
ask() { psql -At -c "$1"; }
calc() { awk "BEGIN { printf \"%.6g\", ($1) }"; }

# The numbers of rows that grow with the scale.
powers()
{
	case ${N:-$SCALE} in
		small) echo 100000 ;;
		full) printf '%s\n' 100000 1000000 10000000 ;;
		huge) printf '%s\n' 100000 1000000 10000000 100000000 ;;
		*) printf '%s\n' $N ;;
	esac
}

# The numbers of rows of a section that does not: those that the user gave,
# else the first at the small scale, and the others otherwise.
some()
{
	local small=$1
	shift

	printf '%s\n' ${N:-$(fixed "$small" "$*")}
}

# A number that depends on the scale alone: $1 if it is small, $2 otherwise.
fixed() { if [ "$SCALE" = small ]; then echo "$1"; else echo "$2"; fi; }

drop_tables()
{
	psql <<-'END'
		SET client_min_messages = warning;
		DROP SCHEMA IF EXISTS bench CASCADE;
		CREATE SCHEMA bench;
		ALTER DATABASE :"DBNAME" SET search_path = bench, public;
	END
}

# Is the relation $1 there?
have() { [ "$(ask "SELECT to_regclass('$1') IS NOT NULL")" = t ]; }

# A copy of everything in memory: relations that begin with $1.
warm()
{
	ask "SELECT sum(pg_prewarm(oid::regclass)) FROM pg_class
		WHERE relnamespace = 'bench'::regnamespace AND relname LIKE '$1%'
		AND relkind IN ('r', 'i')" >/dev/null
}

# Rows of random fingerprints in docs, and what is asked of them in queries:
# fingerprints of which hardly any has a near-duplicate, and ids.
make_docs()
{
	have docs && return
	psql -v rows="$1" <<-'END'
		CREATE TABLE docs AS SELECT n::int AS id, hashint8extended(n, 1) AS fp
		FROM generate_series(1, :rows::bigint) AS n;
		ALTER TABLE docs ADD PRIMARY KEY (id);
		CREATE TABLE queries AS SELECT n, hashint8extended(n, 2) AS q,
			((hashint8extended(n, 3) & 2147483647) % :rows + 1)::int AS id
		FROM generate_series(1, 20000) AS n;
		VACUUM ANALYZE docs;
		VACUUM ANALYZE queries;
	END
}

# Rows of which one of ten has near-duplicates, nineteen at least, in crowds;
# and fingerprints to ask for in asked, of three kinds.
make_crowds()
{
	have crowds && return
	psql -v rows="$1" <<-'END'
		CREATE FUNCTION flip(fp bigint, flips int, seed bigint)
		RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
			SELECT fp # bit_xor(1::bigint << (hashint8extended(seed, i) & 63)::int)
			FROM generate_series(1, flips) AS i
		$$;
		CREATE TABLE crowds AS SELECT n::int AS id, CASE WHEN n % 10 = 0
			THEN flip(hashint8extended(n / 200, 4), 3, n)
			ELSE hashint8extended(n, 1) END AS fp
		FROM generate_series(1, :rows::bigint) AS n;
		ALTER TABLE crowds ADD PRIMARY KEY (id);
		CREATE TABLE asked AS SELECT kind, CASE kind
			WHEN 'far' THEN hashint8extended(n, 2)
			ELSE flip(fp, 1, n) END AS q
		FROM generate_series(1, 2000) AS n
		CROSS JOIN (VALUES ('crowd', 10), ('lone', 1), ('far', 1)) AS k (kind, odd)
		JOIN crowds ON id = (hashint8extended(n, 3) & 2147483647)
			% (:rows / 20) * 10 + k.odd;
		VACUUM ANALYZE crowds;
		VACUUM ANALYZE asked;
	END
}

make_hamming()
{
	have docs_hamming ||
		psql -c 'CREATE INDEX docs_hamming ON docs USING hamming (fp)'
	warm docs
}

# --- measuring statements ------------------------------------------------

# What is compared in one go: names, statements and the settings for each.
names=() statements=() settings=() counts=()
declare -A us=()

# Each look-up is to be the inner side of a loop over the queries.
LOOP="SET enable_hashjoin = off; SET enable_mergejoin = off;
	SET enable_material = off; SET enable_memoize = off;"
SCAN="$LOOP SET enable_indexscan = off; SET enable_indexonlyscan = off;
	SET enable_bitmapscan = off;"
INDEX="$LOOP SET enable_seqscan = off; SET enable_bitmapscan = off;"
BITMAP="$LOOP SET enable_seqscan = off;"

# method NAME SETTINGS STATEMENT [COUNT]: a way to measure.  The statement does
# something :n times, a number that we choose unless COUNT is given.
method()
{
	names+=("$1")
	settings+=("$2")
	statements+=("$3")
	counts+=("${4:-0}")
}

# Print the script of one round over the methods whose numbers are given.
round()
{
	local i

	for i in "$@"; do
		echo "${settings[i]}"
		echo "\\set n ${counts[i]}"
		echo "\\warn @$i"
		echo 'SET client_min_messages = log; SET log_statement_stats = on;'
		echo "${statements[i]};"
		echo 'RESET ALL;'
	done
}

# Run scripts of rounds; print the number of the method and milliseconds: of
# the processor, or elapsed for those whose name says so.
times()
{
	{ echo '\o /dev/null'; cat; } | psql -f - 2>&1 >/dev/null |
		awk -v names="$(printf '%s\n' "${names[@]}")" '
			BEGIN { split(names, name, "\n") }
			/^psql.*ERROR/ { print > "/dev/stderr" }
			/^(psql:.*: )?@[0-9]+$/ { sub(/.*@/, ""); i = $0; next }
			i != "" && / s user, .* s system, .* s elapsed/ {
				print i, 1000 * (name[i + 1] ~ /elapsed/ ? $8 : $2 + $5)
				i = ""
			}'
}

# run SECONDS ROUNDS [MOST]: measure all methods in turn, ROUNDS times, each so
# often in a round that it takes about SECONDS, and at most MOST times.
# us[NAME] becomes the median of rounds, microseconds for each time.
run()
{
	local i ms found r most=${3:-20000}

	us=()
	# A first round tells how long each takes, and warms up.
	for i in "${!names[@]}"; do
		[ "${counts[i]}" != 0 ] && continue
		counts[i]=1
		ms=$(round "$i" | times | cut -d' ' -f2)
		counts[i]=$(awk "BEGIN { n = int($1 * 1000 / ($ms + 0.01))
			print (n < 1 ? 1 : n > $most ? $most : n) }")
	done
	found=$(for ((r = 0; r < $2; r++)); do round "${!names[@]}"; done | times)
	for i in "${!names[@]}"; do
		us[${names[i]}]=$(echo "$found" | awk -v i="$i" '$1 == i { print $2 }' |
			median | awk -v n="${counts[i]}" '{ print $1 * 1000 / n }')
	done
	names=() statements=() settings=() counts=()
}

# What a statement about 1,000 queries counts, by the settings $1.
answer() { psql -At -v n=1000 <<<"$1 $2;"; }

median()
{
	sort -g | awk '{ v[NR] = $1 } END {
		print (v[int((NR + 1) / 2)] + v[int((NR + 2) / 2)]) / 2 }'
}

# --- measuring clients ---------------------------------------------------

# client_times ROUNDS TRANSACTIONS: what clients see who run the statements of
# all methods, as scripts of pgbench, prepared, in turn; medians in us[NAME].
# All rounds ask for the same, of which the first one brings the pages into memory.
client_times()
{
	local dir i r

	us=()
	dir=$(mktemp -d)
	for ((r = 0; r <= $1; r++)); do
		for i in "${!names[@]}"; do
			printf '%s\n' "${statements[i]}" >"$dir/script"
			(cd "$dir" && PGOPTIONS="${settings[i]}" pgbench -n -M prepared \
				-f script -t "$2" -l --log-prefix="log.$i.$r" \
				--random-seed=1 >/dev/null 2>err) || cat "$dir/err" >&2
		done
		[ "$r" -gt 0 ] || rm "$dir"/log.*
	done
	for i in "${!names[@]}"; do
		us[${names[i]}]=$(cut -d' ' -f3 "$dir/log.$i."* | median)
	done
	names=() statements=() settings=() counts=()
	rm -r "$dir"
}

# --- results -------------------------------------------------------------

# emit WHAT FIGURE UNIT [AGAINST FIGURE [BAR]]: a row of the result.  The ratio
# is the first figure by the second.  BAR says what ratio or figure ought to
# be, as in 'ratio <= 3'.
emit()
{
	local figure ratio= met=

	figure=$(calc "$2")
	[ -z "${5:-}" ] || ratio=$(calc "$2 / $5")
	if [ -n "${6:-}" ]; then
		met=$(awk -v figure="$figure" -v ratio="$ratio" \
			"BEGIN { print (${6}) ? \"met\" : \"missed\" }")
	fi
	write "$1" "$figure" "$3" "${4:-}" "$ratio" "${6:-}" "$met"
}

# skip WHAT HOW: say that a peer is not here, and how to get it.
skip() { write "$1" '' '' '' '' '' "skipped: $2"; }

write()
{
	local IFS=$'\t'

	echo "$section	$rows	$*	$COMMIT" >>"$BENCH_ROWS"
}

# --- peers ---------------------------------------------------------------

# compile_peer PROGRAM FLAGS...: compile bench/PROGRAM.cpp with what a peer has
# installed; it cannot be done where there is none.
compile_peer()
{
	local program=$1
	shift

	${CXX:-c++} -O3 -march=native -o "$HOME/$program" "bench/$program.cpp" \
		${PEERS:+-I"$PEERS/include" -L"$PEERS/lib"} "$@" 2>/dev/null || :
}

# Can this server create the extension $1?
offers() { [ -n "$(ask "SELECT 1 FROM pg_available_extensions
	WHERE name = '$1'")" ]; }

# Can it create pgvector's, with Hamming distance over bit strings?  That came
# with 0.7.
vector()
{
	[ -n "$(ask "SELECT 1 FROM pg_available_extension_versions
		WHERE name = 'vector'
		AND string_to_array(version, '.')::int[] >= '{0,7}'")" ]
}

# --- the machine ---------------------------------------------------------

# What all figures depend on, a line each.
machine()
{
	lscpu | awk -F': *' '/^Model name/ { cpu = $2 } /^CPU family/ { f = $2 }
		/^Model:/ { m = $2 } END {
		printf "CPU: %s (family %s, model %s)\n", cpu, f, m }'
	echo "cores: $(nproc)"
	awk '/MemTotal/ { printf "memory: %.0f GB\n", $2 / 1048576 }' /proc/meminfo
	echo "kernel: $(uname -sr)"
	echo "server: $(ask 'SELECT version()')"
	echo "shared_buffers: $(ask 'SHOW shared_buffers')"
	echo "compiler: $(${CC:-cc} --version | head -n 1)"
	echo "scale: $SCALE"
}
