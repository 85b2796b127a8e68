#!/bin/bash
#
# Fingerprints of 1024 bits, and exact similarities, against their reference
# implementation.
# SPDX-License-Identifier: PostgreSQL
#
# As check_minhash.sh does for those of 64 bits: some texts by one profile on
# both sides, in two encodings.  Where Python has other Unicode data than the
# specification is frozen at, the golden vectors stand in for it.
#

. "$(dirname "$0")/compare.sh"
kind=wide
# PostgreSQL has no function from a bit string to hexadecimal digits: sixteen
# words are.
ours="SELECT label, family, profile,
	(SELECT string_agg(lpad(to_hex(substring(fp FROM 64 * w + 1 FOR 64)::bigint),
							16, '0'), '' ORDER BY w)
	 FROM generate_series(0, 15) AS w WHERE fp IS NOT NULL)
	FROM t, unnest('{simhash,minhash}'::text[]) AS family,
	unnest('{word-2-capped,word-2-capped-seed-4711,
		char-3-seed-9223372036854775807}'::text[]) AS profile,
	LATERAL (SELECT CASE family WHEN 'simhash' THEN simhash_bits(body, 1024, profile)
			 ELSE minhash_bits(body, 1024, profile) END) AS f (fp)"

theirs()
{
	"$PYTHON" reference_wide.py fingerprint
}

check golden UTF8 "$PWD/golden_texts.tsv" "$PWD/golden_wide.tsv"

same_unicode || exit $failed
"$PYTHON" reference_wide.py --check

cut -f1,2 texts.tsv >"$work/texts"
awk -F'\t' '$3 ~ /EUC_JP/ { print $1 "\t" $2 }' texts.tsv >"$work/japanese"
poems 60 >"$work/poems"

check texts UTF8 "$work/texts"
check texts_euc EUC_JP "$work/japanese"
check poems UTF8 "$work/poems"

# each text and the next one, which for poems are verses of one poem
theirs()
{
	"$PYTHON" reference_wide.py similarity
}

ours="SELECT label, next_label, profile, simhash_jaccard(body, next, profile),
	simhash_cosine(body, next, profile)
	FROM (SELECT label, coalesce(body, '') AS body,
		  coalesce(lead(label) OVER w, first_value(label) OVER w) AS next_label,
		  coalesce(lead(coalesce(body, '')) OVER w,
				   first_value(coalesce(body, '')) OVER w) AS next
		  FROM t WINDOW w AS (ORDER BY label COLLATE \"C\")) AS pairs,
	unnest('{word-2-capped,word-1,char-3,word-1-2-sqrt,symbol-2,
		word-2-capped-seed-4711}'::text[]) AS profile"
each=240
[ -z "${SIMHASH_SECONDS:-}" ] || each=60
poems 1 | awk -v n=$each 'NR % n < 12' >"$work/verses"
check similar_texts UTF8 "$work/texts"
check similar_poems UTF8 "$work/verses"
check similar_euc EUC_JP "$work/japanese"

exit $failed
