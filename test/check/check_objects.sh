#!/bin/bash
#
# What tools/stage compiles, and what it takes from an earlier run: an object is
# taken if all that it is made of is the same by content, and never else.
# SPDX-License-Identifier: PostgreSQL
#
# Three objects stand for all: two of the core, which include a header that is
# theirs and others that are not, and one of the unit programs.  Each step begins
# with a new copy of the tree, as tools/stage does.
#

. "$(dirname "$0")/tools.sh"
. tools/env.sh
. tools/objects.sh

tree=$PWD
OBJECTS=$work/objects
FOLD=src/core/text/fold.o
BAG=src/core/fingerprint/bag.o
UNIT_FOLD=test/unit/core/text/fold.o
ALL="$BAG $FOLD $UNIT_FOLD"
unset MAKEFLAGS
export CC=$work/cc COPT=

# A compiler of our own, to be another one.
compiler()
{
	printf '#!/bin/sh\ncase $1 in -v) echo "%s" >&2 ;; esac\nexec gcc "$@"\n' "$1" >"$CC"
	chmod +x "$CC"
}
compiler first

# What with_objects calls.
compile() { make -s CC="$CC" "$@"; }
build() { make -k CC="$CC" $ALL >"$work/said" 2>"$work/errors"; }

fresh()
{
	cd "$tree"
	rm -rf "$work/tree"
	mkdir -p "$work/tree/test"
	cp -R Makefile simhash.control simhash--*.sql "$work/tree/"
	copy_tree src "$work/tree/src"
	copy_tree test/unit "$work/tree/test/unit"
	cd "$work/tree"
}

# compiles NAME OBJECT...: a build in the tree here, called $called, compiles these.
called=one
compiles()
{
	local name=$1 compiled
	shift

	with_objects "$called" build >>"$work/said" 2>&1 || [ "$name" = "a fault" ] ||
		fail "$name: no build" "$work/errors"
	compiled=$(sed -n 's/.* -c -o \([^ ]*\) .*/\1/p' "$work/said" | LC_ALL=C sort)
	[ "$(echo $compiled)" = "$*" ] || fail "$name: compiled $compiled"
	ok "$name"
}

fresh
compiles "nothing is kept" $ALL
fresh
find . -type f -exec touch {} +
compiles "all is the same, but for the times"
called=two
fresh
compiles "all is the same in another tree"
fresh
sed -i '1i /* another */' src/core/text/fold.c
touch -d 2001-01-01 src/core/text/fold.c
compiles "a source that looks old" $FOLD $UNIT_FOLD
fresh
sed -i '1i /* another */' src/core/fingerprint/bag.h
touch -d 2001-01-01 src/core/fingerprint/bag.h
compiles "a header of one" $BAG
called=one
fresh
compiles "back again"
called=changed
fresh
cp src/core/text/fold.h "src/core/text/new${#ALL}.h"
compiles "one header more" $ALL
fresh
sed -i 's/^src\/core\/fingerprint\/minima.o: CFLAGS += /&-O1 /' Makefile
compiles "a rule" $ALL
called=one
fresh
sed -i 's/^tune = .*/&  /' Makefile
compiles "a list of files"
COPT=-O0
fresh
compiles "flags" $ALL
COPT=
fresh
compiles "flags as before"
compiler second
fresh
compiles "a compiler" $ALL

# Whatever befalls the archives, all that can happen is that more is compiled.
for archive in "$OBJECTS"/*.tar; do truncate -s 20000 "$archive"; done
fresh
compiles "archives that are cut off" $ALL
rm -r "$OBJECTS"
mkdir "$OBJECTS"
fresh
echo 'no C' >>src/core/text/fold.c
compiles "a fault" $ALL
fresh
compiles "only where the fault was" $FOLD $UNIT_FOLD
for ((i = 0; i < 25; i++)); do echo >"$OBJECTS/$i.tar"; done
called=three
fresh
echo >>src/core/fingerprint/bag.c
compiles "among many archives" $BAG
[ "$(ls "$OBJECTS" | wc -l)" = "$MOST_ARCHIVES" ] || fail "archives: $(ls "$OBJECTS")"
ok "as many as may be stay"

# make, in the tree itself.
asked() { make -n CC="$CC" $ALL "$@" | grep -o -- ' -c -o [^ ]*' | wc -l; }
[ "$(asked)" = 0 ] || fail "make would compile again"
[ "$(asked COPT=-O0)" = 3 ] || fail "make overlooks flags"
touch src/core/fingerprint/bag.h
[ "$(asked)" = 1 ] || fail "make overlooks a header"
rm src/core/text/fold.d
[ "$(asked)" = 2 ] || fail "make takes an object of unknown headers"
ok "make"
