#!/bin/bash
#
# Strangers are near by jimp's pHash, and bright pictures resemble a blank one.
#
# Surprising in jimp 1.6.1 (npm): each of 64 coefficients is compared with their mean, of
# which a comment says that it leaves out the first.  It does not, and the first, the
# brightness, is many times the others: hardly any other is above the mean.  Expected: half
# of the bits set, and some 32 that differ between strangers.
#
# Of 19,900 pairs of 200 drawings 1,073 were within 8 bits, the distance that is often
# recommended for a pHash.
#
# What is shown: bits set of two unlike drawings with 100 added to their greys or not, and
# in how many each differs from a blank page.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/npm.bash" jimp@1.6.1

cat >hash.cjs <<'END'
const { Jimp } = require('jimp');
const hash = draw => {
	const image = new Jimp({ width: 64, height: 64 });
	image.scan(0, 0, 64, 64, (x, y, at) =>
		image.bitmap.data.set([draw(x, y), draw(x, y), draw(x, y), 255], at));
	return image.pHash();
};
const blank = hash(() => 255);
const distance = (a, b) => [...a].filter((bit, i) => bit != b[i]).length;
for (const draw of [(x, y) => 75 + 60 * Math.sin(x / 5) * Math.cos(y / 7),
	(x, y) => (x - 40) ** 2 + (y - 20) ** 2 < 300 ? 20 : y > 40 ? 90 : 140])
	for (const more of [0, 100]) {
		const bits = hash((x, y) => draw(x, y) + more);
		console.log(bits.replaceAll('0', '').length, distance(bits, blank));
	}
END
came=$(node hash.cjs | tr '\n' ';')
echo "bits set, distance from a blank page: $came"
[ "$came" = '7 6;4 3;19 18;13 12;' ] || { echo 'this has changed'; exit 1; }
