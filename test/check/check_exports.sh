#!/bin/bash
#
# The library loads in each minor of its major: what it takes from the server the
# first minor has, too.  Headers of later minors may call what earlier ones lack, in
# functions that they inline.
# SPDX-License-Identifier: PostgreSQL
#
# test/exports has the names that first minors have (of 16 it is 16.1).  A name that is
# not there is new: look it up by "nm -D postgres" in those, or in their sources, and
# add it.
#

. "$(dirname "$0")/tools.sh"

names() { nm -D "$@" | awk '{ print $NF }' | sed 's/@.*//' | LC_ALL=C sort -u; }

major=$("$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
server=$("$PG_CONFIG" --bindir)/postgres
[ ! -e "$server.bare" ] || server+=.bare
library=$("$PG_CONFIG" --pkglibdir)/simhash.so

# Weak ones may be missing.
nm -D --undefined-only "$library" | awk '$1 == "U" { print $2 }' |
	LC_ALL=C sort -u >"$work/taken"
names --defined-only "$server" >"$work/server"
[ -s "$work/server" ] || fail "$server exports nothing"
LC_ALL=C comm -12 "$work/taken" "$work/server" >"$work/needed"
awk -v major="$major" '/^lacking/ { has = $0 !~ major; next }
	has && !/^#/ { for (i = 1; i <= NF; i++) print $i }' test/exports |
	LC_ALL=C sort >"$work/first"
if [ "$major" -gt 18 ]; then
	echo "skipped: $major has no first minor that is known"
	exit
fi
if "$PG_CONFIG" --configure | grep -q enable-cassert; then
	echo "skipped: assertions take names that no other library takes"
	exit
fi
LC_ALL=C comm -23 "$work/needed" "$work/first" >"$work/missing"
[ ! -s "$work/missing" ] ||
	fail "the first minor of $major may not have:" "$work/missing"
ok "all $(wc -l <"$work/needed") names that a server of $major has to have"
