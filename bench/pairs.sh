#
# All pairs and clusters: the engine, the SQL calls, and other programs.
# SPDX-License-Identifier: PostgreSQL
#
# The engine is compiled as the extension is, the others for this very
# processor.  bench/pairs.c says what the fingerprints are, and what the
# straight program does; all work on the same ones.
#

sizes() { some 100000 1000000 10000000; }

PROGRAMS=$HOME/pairs

prepare()
{
	local sources=$(echo src/core/pairs/*.c src/core/blocks/*.c)
	local flags='-std=gnu99 -Isrc -Itest/unit'

	mkdir -p "$PROGRAMS"
	${CC:-cc} -O2 $flags -o "$PROGRAMS/engine" bench/pairs.c $sources
	${CC:-cc} -O3 -march=native $flags -o "$PROGRAMS/straight" bench/pairs.c \
		$sources
	compile_peer find_all -lsimhash
	"$PROGRAMS/engine" "$1" write >"$PROGRAMS/fingerprints"
	psql <<-END
		CREATE TABLE pairs (id bigint GENERATED ALWAYS AS IDENTITY, fp bigint);
		\\copy pairs (fp) FROM '$PROGRAMS/fingerprints'
		VACUUM ANALYZE pairs;
	END
	warm pairs
}

# The seconds of a program on its own: which, what it is to do, k, and rows.
alone()
{
	"$PROGRAMS/$1" "${4:-$rows}" "$2" "${3:-3}" | cut -d' ' -f1
}

# How the engine's time for k = 8 grows with the rows: more take no less.
growth()
{
	local n r seconds first='' last=0

	for n in 1000000 1500000 2000000 2500000 3000000 10000000; do
		seconds=$(for r in 1 2 3; do alone engine engine 8 $n; done | median)
		emit "pairs, k=8, engine, $n rows" "$seconds" s 'a million' \
			"${first:=$seconds}" "figure > $last && ratio <= $(
				case $n in 2000000) echo 3 ;; 3000000) echo 6.5 ;; *) echo 99 ;; esac)"
		last=$seconds
	done
}

measure()
{
	local r engine='' straight='' clusters='' call='' seconds blocks

	for r in 1 2 3; do
		engine+="$(alone engine engine) "
		straight+="$(alone straight straight) "
		clusters+="$(alone engine clusters) "
	done
	engine=$(middle $engine) straight=$(middle $straight)
	clusters=$(middle $clusters)
	emit 'pairs, k=3, straight C program' "$straight" s
	emit 'pairs, k=3, engine' "$engine" s 'straight C program' "$straight" \
		"$([ "$1" != 10000000 ] || echo 'ratio <= 1.5')"
	emit 'memory, k=3, engine' "$("$PROGRAMS/engine" "$1" bytes)" bytes/row
	[ "$1" -lt 100000 ] || emit 'memory, k=3, simhash_pairs()' \
		"$(memory "$1")" bytes/row '' '' 'figure <= 64'

	[ "$1" != 10000000 ] || growth

	method call '' "$(call pairs 3)" 1
	method clusters '' "$(call clusters 3)" 1
	method eight '' "$(call pairs 8)" 1
	run 0 3
	call=$(calc "${us[call]} / 1e6")
	emit 'pairs, k=3, simhash_pairs()' "$call" s 'straight C program' \
		"$straight"
	emit 'pairs, k=8, simhash_pairs()' "$(calc "${us[eight]} / 1e6")" s
	emit 'clusters, k=3, engine' "$clusters" s
	emit 'clusters, k=3, simhash_clusters()' \
		"$(calc "${us[clusters]} / 1e6")" s 'engine' "$clusters" \
		"$([ "$1" != 10000000 ] || echo 'figure < 10')"
	if [ -x "$HOME/find_all" ]; then
		# It is left to us to know the best number of blocks.
		read -r seconds r blocks < <("$HOME/find_all" 4 5 6 \
			<"$PROGRAMS/fingerprints" | sort -g | head -n 1)
		emit "pairs, k=3, simhash-cpp find_all, $blocks blocks" "$seconds" s \
			'simhash_pairs()' "$call" \
			"$([ "$1" != 10000000 ] || echo 'ratio >= 5')"
	else
		skip 'simhash-cpp find_all' \
			'install PEERS/include/simhash.h and PEERS/lib/libsimhash.a of it'
	fi
	if [ "$1" -le 1000000 ]; then
		method ten '' "$(call pairs 10)" 1
		run 0 1
		emit 'pairs, k=10, simhash_pairs()' "$(calc "${us[ten]} / 1e6")" s \
			'' '' "$([ "$1" != 1000000 ] || echo 'figure < 60')"
		method wide '' "$(call pairs 31 "$WIDE")" 1
		method word '' "$(call pairs 7 'fp::bit(64)')" 1
		run 0 3
		emit 'pairs, k=7, the first word' "$(calc "${us[word]} / 1e6")" s
		emit 'pairs, k=31, four words, bit(256)' \
			"$(calc "${us[wide]} / 1e6")" s 'the first word' \
			"$(calc "${us[word]} / 1e6")"
	fi
	psql -c 'DROP TABLE pairs'
}

# The call of simhash_pairs() or simhash_clusters() within a distance, for a
# fingerprint of choice.
call()
{
	echo "SELECT count(*)
		FROM simhash_$1('SELECT id, ${3:-fp} FROM pairs', $2)"
}

# A fingerprint of four words, near where fp is: each has as many bits apart.
WIDE='fp::bit(64) || (fp # 1)::bit(64) || (fp # 2)::bit(64) || (fp # 3)::bit(64)'

# The memory of a row: simhash_pairs() asks for that of a tenth more rows when it
# has a megabyte.
memory()
{
	local megabytes

	megabytes=$({ echo 'SET maintenance_work_mem = 1024;'; call pairs 3; } |
		psql 2>&1 | sed -n "s/.*HINT:.*'\([0-9]*\)MB'.*/\1/p")
	calc "$megabytes * 1048576 / 1.1 / $1"
}

middle() { printf '%s\n' "$@" | median; }
