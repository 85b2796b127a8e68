#!/bin/bash
#
# The extension against the reference implementation, in several encodings.
# SPDX-License-Identifier: PostgreSQL
#
# Every document of the files is fingerprinted by every profile on both sides
# that has a row, and by some that are named by a pattern: short texts in many
# scripts, the corner cases of the golden vectors, poems, and some licences;
# and the poems by all names of profiles in turn.  The same text has to give the
# same fingerprint whatever the encoding of the database, and invalid bytes, which
# a database in SQL_ASCII can hold, must give what the specification says.
#
# The reference needs a Python with the Unicode data that the specification is
# frozen at.  Under any other the golden vectors, which it wrote, stand in.
#

. "$(dirname "$0")/compare.sh"
kind=reference
profiles=$(cut -f2 golden.tsv | sort -u | paste -sd,)
ours="SELECT label, profile, simhash(body, profile) FROM t,
	unnest('{$profiles}'::text[]) AS profile"

# TF-IDF, by what all documents teach: of all features, and of the heaviest
tfidf="SELECT label, profile || '/' || coalesce(k::text, 'all'),
		simhash_tfidf(body, idf, k)
	FROM t, unnest('{7,50,NULL}'::bigint[]) AS k,
		(SELECT profile, simhash_idf_agg(body, profile) AS idf
		 FROM t, unnest('{word-1,word-3,char-3,word-1-seed-4711,
			char-3-seed-9223372036854775807,symbol-2-seed-4711}'::text[])
			AS profile
		 WHERE body IS NOT NULL GROUP BY profile) AS learnt
	WHERE body IS NOT NULL"

fold="SELECT label, 'fold', simhash_fold(body) FROM t"

theirs()
{
	"$PYTHON" reference.py fingerprint
}

explain()
{
	"$PYTHON" reference.py compare "$work/ours" "$work/theirs" <"$1" || :
}

check golden UTF8 "$PWD/golden_texts.tsv" "$PWD/golden.tsv"
check bytes SQL_ASCII "$PWD/golden_bytes_texts.tsv" "$PWD/golden_bytes.tsv"
plain=$ours ours=$tfidf
check golden_tfidf UTF8 "$PWD/golden_texts.tsv" "$PWD/golden_tfidf.tsv"
ours=$fold
check golden_fold UTF8 "$PWD/golden_texts.tsv" "$PWD/golden_fold.tsv"
check bytes_fold SQL_ASCII "$PWD/golden_bytes_texts.tsv" \
	"$PWD/golden_bytes_fold.tsv"
ours=$plain

same_unicode || exit $failed
"$PYTHON" reference.py --check

cut -f1,2 texts.tsv >"$work/texts"
poems 15 >"$work/poems"
licenses 100 >"$work/licenses"

check texts UTF8 "$work/texts"
check poems UTF8 "$work/poems"
check licenses UTF8 "$work/licenses"
for encoding in LATIN1 EUC_CN EUC_JP EUC_KR WIN1251; do
	check "texts_$encoding" "$encoding" "$(holding "$encoding")"
done
check texts_ascii SQL_ASCII "$work/texts"

theirs()
{
	"$PYTHON" reference.py sample
}

ours="SELECT label, profile, simhash(body, profile)
	FROM (SELECT format('%s-%s%s%s', unit, n, '-' || m, '-' || damping)
			  AS profile,
		  row_number() OVER (ORDER BY place, n, m NULLS FIRST, i) - 1 AS k
		  FROM unnest('{word,char,symbol}'::text[])
			  WITH ORDINALITY AS u (unit, place), generate_series(1, 10) AS n,
		  unnest(array_prepend(NULL, array(SELECT generate_series(n, 10)))) AS m,
		  unnest('{NULL,count,sqrt,log,binary,capped}'::text[])
			  WITH ORDINALITY AS d (damping, i)) AS names
	JOIN (SELECT *, row_number() OVER (ORDER BY label) - 1 AS j,
		  count(*) OVER () AS texts FROM t) AS numbered ON k % texts = j"
check names UTF8 "$work/poems"

theirs()
{
	"$PYTHON" reference.py tfidf
}

ours="$tfidf"
check tfidf UTF8 "$PWD/golden_texts.tsv"
check tfidf_poems UTF8 "$work/poems"

theirs()
{
	"$PYTHON" reference.py fold "$encoding"
}

ours="$fold"
check fold_texts UTF8 "$work/texts"
check fold_poems UTF8 "$work/poems"
for encoding in LATIN1 EUC_CN EUC_JP EUC_KR WIN1251; do
	check "fold_$encoding" "$encoding" "$(holding "$encoding")"
done
check fold_ascii SQL_ASCII "$work/texts"

exit $failed
