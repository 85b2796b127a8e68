#!/bin/bash
#
# puzzle-diff calls a black picture and a white one the same.
#
# Surprising in libpuzzle 0.11 (Debian 12): their distance is 0, as that of a picture from
# itself, since the signature of a picture of one colour is 544 zeros.  Expected: an error
# that there is nothing to compare, or the distance of strangers, .9 and more.
#
# What is shown: distances between a black, a white and a striped picture.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/packages.bash" libpuzzle-bin=0.11-3+b1 libpuzzle1=0.11-3+b1

# A picture $1.png of 64 to 64 greys, of the expression $2 of x and y.
picture()
{
	python3 - "$1.png" "$2" <<'END'
import struct, sys, zlib
rows = b''.join(b'\0' + bytes(int(eval(sys.argv[2])) for x in range(64)) for y in range(64))
def part(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
open(sys.argv[1], 'wb').write(b'\x89PNG\r\n\x1a\n' + part(b'IHDR', struct.pack(
    '>IIBBBBB', 64, 64, 8, 0, 0, 0, 0)) + part(b'IDAT', zlib.compress(rows)) + part(b'IEND', b''))
END
}

picture black 0
picture white 255
picture stripes '255 * (x // 8 % 2)'
plain=$(puzzle-diff black.png white.png)
striped=$(puzzle-diff white.png stripes.png)
echo "black and white: $plain; white and stripes: $striped"
[[ $plain = 0 && $striped != 0 ]] || { echo 'this has changed'; exit 1; }
