#
# Look-ups beside libraries that keep all fingerprints in the memory of one process.
# SPDX-License-Identifier: PostgreSQL
#
# mih-rs and faiss hash the blocks, dyft keeps tries of them, made for one distance
# each.  All search the same random fingerprints for the same queries, by one thread,
# and must find as many.  The hamming index is asked by one statement: what a client
# waits for the server is not in it.
#

sizes() { some 100000 10000000; }

# What is asked: a distance, or + and how many nearest ones, and how often.
ASKED='3,20000 5,10000 8,2000 12,400 +10,200'

prepare()
{
	make_docs "$1"
	make_hamming
	psql <<-END
		\\copy (SELECT fp FROM docs) TO '$HOME/fingerprints'
		\\copy (SELECT q FROM queries ORDER BY n) TO '$HOME/queries'
	END
	compile_peer memory_faiss -fopenmp -lfaiss -lopenblas
	compile_peer memory_dyft -std=c++17 ${PEERS:+-I"$PEERS/include/dyft"}
	[ ! -x "${PEERS:-}/bin/memory_mih" ] ||
		ln -sf "$(realpath "$PEERS/bin/memory_mih")" "$HOME"
}

# The search by SQL for K,N.
by_sql()
{
	local k=${1%,*} n=${1#*,} from

	from="FROM (SELECT * FROM queries ORDER BY n LIMIT $n) AS q, LATERAL"
	case $k in
		+*) echo "SELECT sum(s.fp <~> q.q) $from (SELECT fp FROM docs
			ORDER BY fp <~> q.q LIMIT ${k#+}) AS s" ;;
		*) echo "SELECT count(s.id) $from (SELECT id FROM docs
			WHERE fp <@ (q.q, $k)) AS s" ;;
	esac
}

# What is asked, in words.
what()
{
	case $1 in
		+*) echo 'ten nearest' ;;
		*) echo "k=${1%,*}" ;;
	esac
}

measure()
{
	local asked name figure found
	local -A ours=() answers=()

	for asked in $ASKED; do
		method "$asked" "$INDEX" "$(by_sql "$asked")" "${asked#*,}"
		answers[$asked]=$(psql -At -c "$INDEX" -c "$(by_sql "$asked")")
	done
	run 0 3
	for asked in $ASKED; do
		ours[$asked]=${us[$asked]}
		emit "$(what "$asked"), hamming index" "${us[$asked]}" us
	done
	for name in mih faiss dyft; do
		if [ ! -x "$HOME/memory_$name" ]; then
			skip "$name" 'bench/README.md says what to install'
			continue
		fi
		while read -r asked figure found; do
			[ "$found" = "${answers[$asked]}" ] || {
				echo "bench: $name finds $found by $asked, not ${answers[$asked]}" >&2
				return 1
			}
			emit "$(what "$asked"), ${name/mih/mih-rs}" "$figure" us 'hamming index' \
				"${ours[$asked]}"
		done < <("$HOME/memory_$name" "$HOME/queries" $ASKED \
			<"$HOME/fingerprints")
	done
	rm -f "$HOME/fingerprints" "$HOME/queries"
}
