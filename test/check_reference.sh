#!/bin/bash
#
# The extension against the reference implementation, in several encodings.
# SPDX-License-Identifier: PostgreSQL
#
# Every document of the files is fingerprinted by every profile on both sides:
# short texts in many scripts, the corner cases of the golden vectors, poems,
# and some licences.  The same text has to give the same fingerprint whatever
# the encoding of the database, and invalid bytes, which a database in
# SQL_ASCII can hold, must give what the specification says.
#
# The reference needs a Python with the Unicode data that the specification is
# frozen at.  Under any other the golden vectors, which it wrote, stand in.
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
	local name=$1 encoding=$2 input=$3 golden=${4:-} client=UTF8
	local database=reference_$(tr 'A-Z' 'a-z' <<<"$name") rows

	[ "$encoding" != SQL_ASCII ] || client=SQL_ASCII
	createdb -E "$encoding" --locale=C -T template0 "$database"
	PGCLIENTENCODING=$client psql -X -q -v ON_ERROR_STOP=1 -d "$database" <<-END
		CREATE EXTENSION simhash;
		CREATE TABLE t (label text, body text);
		\\copy t FROM '$input'
		\\copy (SELECT label, profile, simhash(body, profile) FROM t, simhash_profiles() WHERE profile !~ '^(python|seomoz|clickhouse)-') TO '$work/ours'
	END
	dropdb "$database"
	if [ -n "$golden" ]; then
		cp "$golden" "$work/theirs"
	else
		"$PYTHON" reference.py fingerprint <"$input" >"$work/theirs"
	fi
	rows=$(wc -l <"$work/theirs")
	if [ "$rows" -gt 0 ] &&
		cmp -s <(LC_ALL=C sort "$work/ours") <(LC_ALL=C sort "$work/theirs"); then
		echo "ok   $name in $encoding: $rows fingerprints agree"
	else
		echo "FAIL $name in $encoding"
		"$PYTHON" reference.py compare "$work/ours" "$work/theirs" \
			<"$input" || :
		failed=1
	fi
}

# The rows of texts.tsv that an encoding can hold, as its third column says.
holding()
{
	awk -F'\t' -v e="$1" '$3 ~ "(^|[ ,])" e "($|[ ,])" { print $1 "\t" $2 }' \
		texts.tsv >"$work/$1"
	echo "$work/$1"
}

check golden UTF8 "$PWD/golden_texts.tsv" "$PWD/golden.tsv"
check bytes SQL_ASCII "$PWD/golden_bytes_texts.tsv" "$PWD/golden_bytes.tsv"

if [ "$("$PYTHON" -c 'import unicodedata; print(unicodedata.unidata_version)')" != 14.0.0 ]; then
	echo "this Python has other Unicode data than 14.0: golden vectors only"
	exit $failed
fi
"$PYTHON" reference.py --check

cut -f1,2 texts.tsv >"$work/texts"
xz -dc ../data/poems.tsv.xz | cut -f1,4 >"$work/poems"
xz -dc ../data/licenses.tsv.xz | awk 'NR % 20 == 1' >"$work/licenses"

check texts UTF8 "$work/texts"
check poems UTF8 "$work/poems"
check licenses UTF8 "$work/licenses"
for encoding in LATIN1 EUC_CN EUC_JP EUC_KR WIN1251; do
	check "texts_$encoding" "$encoding" "$(holding "$encoding")"
done
check texts_ascii SQL_ASCII "$work/texts"

exit $failed
