#!/bin/bash
#
# fpcalc fails at the end of a file, after it has printed the fingerprint.
#
# Surprising in Chromaprint 1.5.1 (Debian 12, with ffmpeg 5.1): of a WAV file that is
# shorter than what it is to read, 120 seconds by default, it prints the fingerprint, which
# is right, then "Error decoding audio frame (End of file)", and its exit code is 3.
# Expected: 0, as for a part of the same file.  A script that minds exit codes drops the
# fingerprints of all short recordings.
#
# What is shown: exit code and words for ten seconds of a tone, whole and the first five.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
command -v fpcalc >/dev/null || { echo 'needs fpcalc of libchromaprint-tools' >&2; exit 1; }
fpcalc -version
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

python3 - "$folder/tone.wav" <<'END'
import math, struct, sys, wave
with wave.open(sys.argv[1], 'wb') as file:
    file.setparams((1, 2, 11025, 0, 'NONE', None))
    file.writeframes(b''.join(struct.pack('<h', int(20000 * math.sin(i / (5 + i // 9000))))
                              for i in range(110250)))
END
came=
for seconds in 120 5; do
	code=0
	words=$(fpcalc -raw -plain -length "$seconds" "$folder/tone.wav" 2>/dev/null) || code=$?
	came+="$code $(tr ',' '\n' <<<"$words" | wc -l); "
done
echo "exit code and words, whole and five seconds: $came"
[ "$came" = '3 59; 0 19; ' ] || { echo 'this has changed'; exit 1; }
