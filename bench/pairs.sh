#!/bin/bash
#
# The engine of all pairs, beside a straight program.
# SPDX-License-Identifier: PostgreSQL
#
# usage: bench/pairs.sh [ROWS K]...
#
# The engine is compiled as the extension is; the straight program for this
# very processor.  For what the lines mean see bench/pairs.c.
#

set -euo pipefail
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -r "$dir"' EXIT
sources="bench/pairs.c src/core/pairs.c src/core/rows.c src/core/compare.c
	src/core/clusters.c"
flags="-std=gnu99 -Isrc/core -Itest"

${CC:-cc} -O2 $flags -o "$dir/engine" $sources
${CC:-cc} -O3 -march=native $flags -o "$dir/straight" $sources
[ $# != 0 ] || set -- 1e6 3 1e7 3 1e6 10
while [ $# -ge 2 ]; do
	"$dir/engine" "$1" "$2"
	[ "$2" != 3 ] || "$dir/straight" "$1" "$2" straight
	shift 2
done
