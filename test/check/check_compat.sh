#!/bin/bash
#
# The compatibility profiles against test/golden/compat.py, in several encodings.
# SPDX-License-Identifier: PostgreSQL
#
# As check_reference.sh does for the profiles of our own: short texts in many
# scripts, the corner cases of the golden vectors, poems, some licences.
#

. "$(dirname "$0")/compare.sh"
kind=compat
ours="SELECT label, profile, simhash(body, profile) FROM t,
	simhash_profiles() WHERE profile ~ '^(python|seomoz|clickhouse|java|daft|mfonda)-'"

theirs()
{
	"$PYTHON" compat.py
}

"$PYTHON" compat.py --check

cut -f1,2 texts.tsv >"$work/texts"
poems 60 >"$work/poems"
licenses 240 >"$work/licenses"

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

printf '%s\t%s\n' blanks1 ' a' blanks2 'a  ' blanks3 ' ' blanks4 '  a   b  ' \
	blanks5 '' planes '𝒳 a𝒳b 😀😀' >"$work/blanks"
check blanks UTF8 "$work/blanks"

# What the programs made of the texts: Daft's function of its commit 4c85eda (August
# 2026), compiled with xxhash-rust 0.8.18, and mfonda/simhash of its commit 79f94a1.
cut -f1,2 texts.tsv >"$work/texts_of_any"
ours=${ours/'(python|seomoz|clickhouse|java|daft|mfonda)'/'(daft|mfonda)'}
check programs UTF8 "$work/texts_of_any" golden_programs.tsv

theirs()
{
	"$PYTHON" compat.py hashbits
}
ours="SELECT label, bits,
	simhash_hashbits(CASE WHEN coalesce(body, '') = '' THEN ARRAY['']
					 ELSE string_to_array(body, ' ') END, bits)
	FROM t, unnest('{1,31,32,33,64,100,128,576,1024}'::bigint[]) AS bits"
check hashbits_blanks UTF8 "$work/blanks"
check hashbits_texts UTF8 "$work/texts"
check hashbits_latin LATIN1 "$(holding LATIN1)"

exit $failed
