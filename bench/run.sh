#!/bin/bash
#
# Run the sections of the bench beside the server that tools/stage started.
# SPDX-License-Identifier: PostgreSQL
#
# usage: bench/run.sh                          from bench/bench.sh
#        bench/run.sh PHASE SECTION ROWS       one phase of a section
#
# Leaves in $RESULTS the rows of the result, and what the machine is.
#
# A section is a file bench/SECTION.sh with three functions:
#
#   sizes    prints the numbers of rows that it measures at this SCALE; 0 if
#            it knows none
#   prepare  makes the tables for one of them; need not be quiet
#   measure  measures, and writes the rows of the result
#

set -euo pipefail
cd "$(dirname "$0")/.."
. bench/lib.sh

ALL="fingerprint scan lookup nearest build join insert clients pairs hnsw"

# Run a phase of a section, the way the user wants it done.
phase()
{
	local begin=$SECONDS

	if $UNDER ${UNDER:+"$1"} bash bench/run.sh "$@"; then
		echo "$2, $3 rows: $1 took $((SECONDS - begin)) s" >&2
	else
		echo "bench: $2 with $3 rows failed to $1" >&2
		failed=1
	fi
}

if [ $# = 3 ]; then
	section=$2 rows=$3
	. "bench/$2.sh"
	"$1" "$3"
	exit
fi

export SCALE=${SCALE:-full} N=${N:-} PEERS=${PEERS:-} UNDER=${UNDER:-}
export COMMIT=${COMMIT:-unknown} BENCH_ROWS=$RESULTS/rows
SECTIONS=${SECTIONS:-$ALL}
failed=
: >"$BENCH_ROWS"
psql -c 'CREATE EXTENSION simhash' -c 'CREATE EXTENSION pg_prewarm'

# Smallest first; tables live as long as their number of rows is at hand.
plan=$(for section in $SECTIONS; do
	(. "bench/$section.sh"; sizes | sed "s/\$/ $section/")
done | sort -s -n -k1,1)
last=
while read -r rows section; do
	[ "$rows" = "$last" ] || drop_tables
	last=$rows
	phase prepare "$section" "$rows" </dev/null &&
		phase measure "$section" "$rows" </dev/null
done <<<"$plan"

machine >"$RESULTS/machine"
[ -z "$failed" ]
