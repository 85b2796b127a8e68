#!/bin/bash
#
# The compatibility profiles against test/compat.py, in several encodings.
# SPDX-License-Identifier: PostgreSQL
#
# As check_reference.sh does for the profiles of our own: short texts in many
# scripts, the corner cases of the golden vectors, poems, some licences.
#

set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# check NAME ENCODING INPUT: INPUT has rows of a label and a document.
check()
{
	local name=$1 encoding=$2 input=$3
	local database=compat_$(tr 'A-Z' 'a-z' <<<"$name") rows

	createdb -E "$encoding" --locale=C -T template0 "$database"
	PGCLIENTENCODING=UTF8 psql -X -q -v ON_ERROR_STOP=1 -d "$database" <<-END
		CREATE EXTENSION simhash;
		CREATE TABLE t (label text, body text);
		\\copy t FROM '$input'
		\\copy (SELECT label, profile, simhash(body, profile) FROM t, simhash_profiles() WHERE profile ~ '^(python|seomoz|clickhouse)-') TO '$work/ours'
	END
	dropdb "$database"
	"$PYTHON" compat.py <"$input" >"$work/theirs"
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

# The rows of texts.tsv that an encoding can hold, as its third column says.
holding()
{
	awk -F'\t' -v e="$1" '$3 ~ "(^|[ ,])" e "($|[ ,])" { print $1 "\t" $2 }' \
		texts.tsv >"$work/$1"
	echo "$work/$1"
}

"$PYTHON" compat.py --check

cut -f1,2 texts.tsv >"$work/texts"
xz -dc ../data/poems.tsv.xz | cut -f1,4 | awk 'NR % 20 == 1' >"$work/poems"
xz -dc ../data/licenses.tsv.xz | awk 'NR % 80 == 1' >"$work/licenses"

# A sigma is final or not by what stands around it, however far away.
printf '%s\t%s\n' \
	sigma1 'ΟΔΥΣΣΕΥΣ ΣΑΣ. ΣΑΣ.Α Σ Σ.ΑΣʰʰʰʰ ΑΣ·ʰ·Α ⅠΣ ⓐΣ' \
	sigma2 "ΑΣ''''Α ΑΣ1 1Σ ªΣ ªΣª ʰΣ ΣΣΣ αΣ" \
	dotted 'İSTANBUL DİYARBAKIR Iİıi K Å ǅ ẞ' \
	numbers '½ ⅷ ㈠ ٣ ४ _a_ a_b' >"$work/cases"

check cases UTF8 "$work/cases"
check texts UTF8 "$work/texts"
check golden UTF8 "$PWD/golden_texts.tsv"
check poems UTF8 "$work/poems"
check licenses UTF8 "$work/licenses"
for encoding in LATIN1 EUC_CN WIN1251; do
	check "texts_$encoding" "$encoding" "$(holding "$encoding")"
done

exit $failed
