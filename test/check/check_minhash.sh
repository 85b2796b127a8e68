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

. "$(dirname "$0")/compare.sh"
kind=minhash
profiles=$(cut -f2 golden_minhash.tsv | sort -u | paste -sd,)
ours="SELECT label, profile, minhash(body, profile) FROM t,
	unnest('{$profiles}'::text[]) AS profile"

theirs()
{
	"$PYTHON" reference_minhash.py fingerprint
}

check golden UTF8 "$PWD/golden_texts.tsv" "$PWD/golden_minhash.tsv"

same_unicode || exit $failed
"$PYTHON" reference_minhash.py --check

cut -f1,2 texts.tsv >"$work/texts"
awk -F'\t' '$3 ~ /EUC_JP/ { print $1 "\t" $2 }' texts.tsv >"$work/japanese"
poems 30 >"$work/poems"
licenses 200 >"$work/licenses"

check texts UTF8 "$work/texts"
check poems UTF8 "$work/poems"
check licenses UTF8 "$work/licenses"
check texts_euc EUC_JP "$work/japanese"

exit $failed
