#!/bin/bash
#
# What tools/test says where something is missing that it cannot install, and the
# compiler where a library is too old.
# SPDX-License-Identifier: PostgreSQL
#
# It has to name what is missing, and to keep the errors of sudo and apt, which
# do not help, to itself.  Programs of the same names stand in for these.
#

. "$(dirname "$0")/tools.sh"
mkdir "$work/bin"

# A system without make and xz, as far as can be seen.
IFS=: read -ra dirs <<<"$PATH"
for dir in "${dirs[@]}"; do
	find -L "$dir" -maxdepth 1 -type f -perm -u+x ! -name make ! -name xz \
		! -name sudo ! -name apt-get ! -name dpkg-query -print0 2>/dev/null |
		xargs -0r ln -s -t "$work/bin" 2>/dev/null || :
done

# program NAME: its script is the input.
program()
{
	rm -f "$work/bin/$1"
	{ echo '#!/bin/sh'; cat; } >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}

# says NAME TEXT: tools/test fails, says TEXT, and lists what is missing.
says()
{
	if env -u PG_CONFIG PATH="$work/bin" PYTHON="$work/bin/python3" tools/test >"$work/out" 2>&1 </dev/null ||
		! grep -qF "$2" "$work/out" ||
		! grep -q '^Missing here: .*make xz-utils$' "$work/out" ||
		grep -E '^(sudo|E|W):' "$work/out"; then
		fail "$1:" "$work/out"
	fi
	ok "$1"
}

[ "$(id -u)" != 0 ] || fail "root may install all"
program dpkg-query <<<'exit 1'
# What takes long to look for is there, and a list of packages that takes long to read.
program python3 <<<'exit 0'
for name in gcc clang; do program $name <<<'cat >/dev/null'; done
program apt-cache <<<'echo Candidate: 1'

says "no apt" 'there is no apt'
program apt-get <<<'echo "E: Unable to locate package" >&2; exit 100'
says "no sudo" 'installing it takes root or sudo'
program sudo <<<'echo "sudo: a password is required" >&2; exit 1'
says "no rights" 'installing it takes root or sudo'
program sudo <<<'case "$*" in *apt-get*) exec "$@" ;; esac'
says "no network" 'is there a network?'
program apt-get <<<'case "$*" in *update) ;; *) echo "E: broken" >&2; exit 1 ;; esac'
says "no package" 'could not install'

# With a compiler that takes nothing, and Citus to be built.
! env -u PG_CONFIG PATH="$work/bin" CITUS=. CC=false tools/setup \
	>"$work/out" 2>&1 &&
	grep -q '^Missing here: .*libzstd-dev' "$work/out" ||
	fail "Citus needs zstd:" "$work/out"
ok "Citus needs zstd"

# Libraries of which fingerprints would be others: refused NAME FILE, when the
# header that is the input says how old it is.
refused()
{
	mkdir -p "$work/old"
	{ echo "#include_next <$1.h>"; cat; } >"$work/old/$1.h"
	! ${CC:-gcc} -I"$work/old" -Isrc -fsyntax-only "$2" 2>"$work/out" &&
		grep -q '#error "simhash needs' "$work/out" ||
		fail "an old $1:" "$work/out"
	ok "an old $1"
}
refused utf8proc src/core/text/fold.c <<<'#undef UTF8PROC_VERSION_MINOR
#define UTF8PROC_VERSION_MINOR 6'
refused xxhash src/core/text/windows.c <<<'#undef XXH_VERSION_MINOR
#define XXH_VERSION_MINOR 7'
