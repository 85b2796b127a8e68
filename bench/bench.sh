#!/bin/bash
#
# Measure speed and size, beside others; see bench/README.md.
# SPDX-License-Identifier: PostgreSQL
#
# usage: bench/bench.sh
#
# Starts a private server by tools/stage, runs bench/run.sh beside it, and puts
# the table and the plot into bench/results.
#
# Environment: SCALE (small, full or huge), N (numbers of rows instead),
# SECTIONS (these only), PEERS (where peers are installed), UNDER (a program
# that runs each phase of a section: its arguments are prepare or measure, and
# the command), and what tools/stage takes.
#

set -euo pipefail
cd "$(dirname "$0")/.."

# A quarter of the memory, as one would give a server, but not beyond need.
scale=${SCALE:-full}
case $scale in
	small) most=512 ;;
	full) most=6144 ;;
	huge) most=65536 ;;
	*) echo "bench: SCALE is small, full or huge" >&2; exit 2 ;;
esac
memory=$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
shared=$((memory / 4 < most ? memory / 4 : most))
work=$((shared / 4))

out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
commit=$(git describe --always --dirty 2>/dev/null) || commit=unknown

CONF="shared_buffers = ${shared}MB
maintenance_work_mem = ${work}MB
max_wal_size = 8GB
checkpoint_timeout = 1h
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
${CONF:-}" OUT=$out tools/stage env SCALE="$scale" N="${N:-}" \
	SECTIONS="${SECTIONS:-}" PEERS="${PEERS:-}" UNDER="${UNDER:-}" \
	COMMIT="$commit" bash bench/run.sh || status=$?

# What else was measured today is kept, but for the small scale.
name=bench/results/bench-$(date -u +%Y-%m-%d) old=$name.tsv
[ "$scale" != small ] || name=bench/results/bench-small old=/dev/null
[ -s "$out/rows" ] || exit 1
python3 bench/report.py "$name" "$old" "$out/rows" "$out/machine"
cat "$name.md"
exit ${status:-0}
