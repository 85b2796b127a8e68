#!/bin/bash
#
# Run the sections of the bench beside the server that tools/stage started.
# SPDX-License-Identifier: PostgreSQL
#
# usage: bench/run.sh                             from bench/bench.sh
#        bench/run.sh PHASE ROWS SECTION...       one phase of sections
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
# For each number of rows all sections are prepared before they are measured.
#

set -uo pipefail
cd "$(dirname "$0")/.."
. bench/lib.sh

ALL="fingerprint html program weights scan lookup memory dense partitions groups nearest build join insert guard load clients clusters pairs verify removal hnsw bits trgm plain disk"

# One phase of one section, in a shell of its own that stops at an error.
run_section()
{
	bash -euo pipefail -c '. bench/lib.sh
		phase=$1 rows=$2 section=$3
		. "bench/$section.sh"
		"$phase" "$rows"' bash "$@"
}

# One phase of the sections $3..., whatever becomes of each.
run_phase()
{
	local phase=$1 rows=$2 section begin failed=0
	shift 2

	for section in "$@"; do
		begin=$SECONDS
		if run_section "$phase" "$rows" "$section"; then
			echo "$section, $rows rows: $phase took $((SECONDS - begin)) s" >&2
		else
			echo "bench: $section with $rows rows failed to $phase" >&2
			failed=1
		fi
	done
	return $failed
}

if [ $# -ge 3 ]; then
	run_phase "$@"
	exit
fi

export SCALE=${SCALE:-full} N=${N:-} PEERS=${PEERS:-}
export COMMIT=${COMMIT:-unknown} BENCH_ROWS=$RESULTS/rows
UNDER=${UNDER:-}
SECTIONS=${SECTIONS:-$ALL}
failed=
: >"$BENCH_ROWS"
psql -c 'CREATE EXTENSION simhash' -c 'CREATE EXTENSION pg_prewarm' || exit 1

# Lines of a number of rows and the sections for it, smallest first.
plan=$(for section in $SECTIONS; do
	(. "bench/$section.sh"; sizes | sed "s/\$/ $section/")
done | sort -s -n -k1,1 | awk 'NR == 1 || $1 != last { printf "%s%s", (NR > 1 ? "\n" : ""),
	$1; last = $1 } { printf " %s", $2 } END { print "" }')
while read -r rows sections; do
	drop_tables
	for phase in prepare measure; do
		$UNDER ${UNDER:+$phase} bash bench/run.sh $phase "$rows" $sections \
			</dev/null || failed=1
	done
done <<<"$plan"

machine >"$RESULTS/machine"
[ -z "$failed" ]
