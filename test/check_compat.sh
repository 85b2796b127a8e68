#!/bin/bash
#
# The compatibility profiles against test/compat.py, in several encodings.
# SPDX-License-Identifier: PostgreSQL
#
# As check_reference.sh does for the profiles of our own: short texts in many
# scripts, the corner cases of the golden vectors, poems, some licences.
#

. "$(dirname "$0")/compare.sh"
kind=compat
ours="SELECT label, profile, simhash(body, profile) FROM t,
	simhash_profiles() WHERE profile ~ '^(python|seomoz|clickhouse)-'"

theirs()
{
	"$PYTHON" compat.py
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

# Later versions of Unicode have letters where ours has nothing.
cp golden_texts.tsv "$work/golden"
same_unicode || sed -i -E \
	"/^(edge-unicode-15-16|assigned after Unicode 14|range .*, outside)\t/d" \
	"$work/texts" "$work/golden"

check cases UTF8 "$work/cases"
check texts UTF8 "$work/texts"
check golden UTF8 "$work/golden"
check poems UTF8 "$work/poems"
check licenses UTF8 "$work/licenses"
for encoding in LATIN1 EUC_CN WIN1251; do
	check "texts_$encoding" "$encoding" "$(holding "$encoding")"
done

exit $failed
