#!/bin/bash
#
# simhash-js keeps the features that it is to drop, and counts bits of other numbers.
#
# Surprising in simhash-js 1.0.0 (npm): of the shingles of a text "this many number of
# minimum shingles will be combined", 128, but Array.splice(128) returns those behind the
# 128 least ones.  A text of 513 to 516 characters has one left, so that most others can
# go and the fingerprint stays.  A text of one shingle gives a string, which becomes 0
# unless its digits happen to be decimal.  The distance of its Comparator is twice that of
# the decimal digits of two numbers read as hexadecimal, as >> 32 shifts by none.
# Expected: the 128 least ones; the hash; 1 and 4.
#
# What is shown: of 100 texts of 512 and of 516 random letters, how many keep their
# fingerprint though the first half is replaced; how many of 100 texts of four letters
# have the fingerprint 0; the distances between 8 and 10, and 10 and 5.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/npm.bash" simhash-js@1.0.0

cat >hash.cjs <<'END'
const { SimHash, Comparator } = require('simhash-js');
let state = 1;
const letter = () => String.fromCharCode(97 +
	((state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16) % 26);
const letters = length => Array.from({ length }, letter).join('');
const hash = text => new SimHash().hash(text);
for (const length of [512, 516]) {
	let same = 0;
	for (let i = 0; i < 100; i++) {
		const end = letters(length - 256);
		same += hash(letters(256) + end) == hash(letters(256) + end);
	}
	console.log(same);
}
console.log(Array.from({ length: 100 }, () => hash(letters(4))).filter(h => h == 0).length);
console.log(Comparator.hammingDistance(8, 10), Comparator.hammingDistance(10, 5));
END
came=$(node hash.cjs | tr '\n' ';')
echo "unchanged of 512 and 516 letters; zeros; distances: $came"
[ "$came" = '0;37;100;4 6;' ] || { echo 'this has changed'; exit 1; }
