#!/bin/bash
#
# The bench runs, and what it writes has a figure in every row; its programs compile;
# and the picture of the README is of the results that it names.
# SPDX-License-Identifier: PostgreSQL
#
# With so few rows the figures say nothing; that they are there is all that
# is asked.
#

. "$(dirname "$0")/tools.sh"
sections="scan lookup dense nearest build join bits"

new_database bench
PGOPTIONS='-c jit=off' RESULTS=$work HOME=$work \
	SCALE=small N=2000 SECTIONS=$sections bash bench/run.sh >"$work/log" 2>&1 ||
	fail "the bench does not run" "$work/log"

"$PYTHON" bench/report.py "$work/bench" /dev/null "$work/rows" "$work/machine"
"$PYTHON" - "$sections" "$work/bench" <<'END'
import sys
import xml.dom.minidom

sections, results = sys.argv[1].split(), sys.argv[2]
rows = [line.rstrip('\n').split('\t') for line in open(results + '.tsv')][1:]
assert sorted({row[0] for row in rows}) == sorted(sections), rows
for row in rows:
    assert row[8].startswith('skipped') or float(row[3]) > 0, row
xml.dom.minidom.parse(results + '.svg')
print('ok   %d rows' % len(rows))
END

for program in bench/*.c; do
	${CC:-gcc} -std=gnu99 -Wall -Wextra -Werror -fsyntax-only -Isrc -Itest/unit "$program" ||
		fail "$program does not compile"
done
ok "programs of the bench"

results=$(grep -o -m 1 'bench/results/bench-[-0-9]*' README.md).tsv
"$PYTHON" bench/latency.py "$results" "$work/latency.svg"
cmp -s "$work/latency.svg" docs/latency.svg ||
	fail "docs/latency.svg is not what bench/latency.py makes of $results"
ok docs/latency.svg
