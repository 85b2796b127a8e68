#!/bin/bash
#
# The second family of fingerprints against its reference implementation.
# SPDX-License-Identifier: PostgreSQL
#
# As check_reference.sh does for the first: every text by every profile on both
# sides, in two encodings.  What the two families share is tested there.  Where
# Python has other Unicode data than the specification is frozen at, the golden
# vectors, which the reference wrote, stand in for it.
#

set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check NAME ENCODING INPUT [GOLDEN]: INPUT has rows of a label and a document,
# GOLDEN what the reference makes of them, if that is known.
check()
{
	local name=$1 encoding=$2 input=$3 golden=${4:-}
	local database=minhash_$(tr 'A-Z' 'a-z' <<<"$name") rows

	createdb -E "$encoding" --locale=C -T template0 "$database"
	PGCLIENTENCODING=UTF8 psql -X -q -v ON_ERROR_STOP=1 -d "$database" <<-END
		CREATE EXTENSION simhash;
		CREATE TABLE t (label text, body text);
		\\copy t FROM '$input'
		\\copy (SELECT label, profile, minhash(body, profile) FROM t, simhash_profiles() WHERE profile ~ '^(word|char)-') TO '$work/ours'
	END
	dropdb "$database"
	if [ -n "$golden" ]; then
		cp "$golden" "$work/theirs"
	else
		"$PYTHON" reference_minhash.py fingerprint <"$input" >"$work/theirs"
	fi
	rows=$(wc -l <"$work/theirs")
	if [ "$rows" -gt 0 ] &&
		diff <(LC_ALL=C sort "$work/ours") <(LC_ALL=C sort "$work/theirs") \
			>"$work/difference"; then
		echo "ok   $name in $encoding: $rows fingerprints agree"
	else
		echo "FAIL $name in $encoding"
		head -20 "$work/difference"
		failed=1
	fi
}

check golden UTF8 "$PWD/golden_texts.tsv" "$PWD/golden_minhash.tsv"

if [ "$("$PYTHON" -c 'import unicodedata; print(unicodedata.unidata_version)')" != 14.0.0 ]; then
	echo "this Python has other Unicode data than 14.0: golden vectors only"
	exit $failed
fi
"$PYTHON" reference_minhash.py --check

cut -f1,2 texts.tsv >"$work/texts"
awk -F'\t' '$3 ~ /EUC_JP/ { print $1 "\t" $2 }' texts.tsv >"$work/japanese"
xz -dc ../data/poems.tsv.xz | cut -f1,4 | awk 'NR % 6 == 1' >"$work/poems"
xz -dc ../data/licenses.tsv.xz | awk 'NR % 40 == 1' >"$work/licenses"

check texts UTF8 "$work/texts"
check poems UTF8 "$work/poems"
check licenses UTF8 "$work/licenses"
check texts_euc EUC_JP "$work/japanese"

exit $failed
