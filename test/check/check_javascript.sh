#!/bin/bash
#
# lib/javascript, built for WebAssembly, computes the golden vectors in Node.js.
# SPDX-License-Identifier: PostgreSQL
#

. "$(dirname "$0")/tools.sh"

for needed in node:nodejs clang:clang wasm-ld:lld /usr/include/wasm32-wasi:wasi-libc \
	dpkg-source:dpkg-dev; do
	[ -e "${needed%:*}" ] || command -v "${needed%:*}" >/dev/null || {
		echo "skipped: needs ${needed#*:}"
		exit
	}
done
make -s wasm >"$work/log" 2>&1 || {
	grep -q '^E: ' "$work/log" || fail "it is not built" "$work/log"
	echo "skipped: apt has no source of utf8proc"
	exit
}
grep -i warning "$work/log" && fail "it is not built without warnings" "$work/log"
ln -s "$PWD/lib/javascript/simhasher.mjs" "$PWD/lib/build/libsimhash.wasm" "$work"
node --preserve-symlinks --preserve-symlinks-main test/check/simhasher.mjs \
	"$work/simhasher.mjs" || fail "they differ"
ok "the golden vectors, in WebAssembly"
