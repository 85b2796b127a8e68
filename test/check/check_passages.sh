#!/bin/bash
#
# Passages against their reference implementation.
# SPDX-License-Identifier: PostgreSQL
#
# As check_reference.sh does for fingerprints: every text cut on both sides, in
# several encodings, in which places are counted in characters of their own; and
# each compared with the next one.  Texts are real ones, and random ones made of
# what is easily got wrong.
#
# Environment: SIMHASH_SEED, which repeats the random texts of a run, and
# SIMHASH_SECONDS, with which there are more of them.
#

. "$(dirname "$0")/compare.sh"
kind=passages
seed=${SIMHASH_SEED:-$RANDOM}
echo "SIMHASH_SEED=$seed"

passages="SELECT label, words || '/' || profile,
	(SELECT coalesce(string_agg(format('%s+%s=%s', start, length, fp), ' '
		ORDER BY nr), '')
	FROM simhash_passages(body, profile, words))
	FROM t, (VALUES (4, 'word-2-capped'), (25, 'word-2-capped'),
		(4, 'char-3-seed-4711'), (25, 'symbol-2-seed-9223372036854775807'))
		AS v (words, profile)"
pairs="(SELECT label, coalesce(body, '') AS body,
	coalesce(lead(label) OVER w, first_value(label) OVER w) AS next_label,
	coalesce(lead(coalesce(body, '')) OVER w,
		first_value(coalesce(body, '')) OVER w) AS next
	FROM t WINDOW w AS (ORDER BY label COLLATE \"C\")) AS pairs"
shared="SELECT label, next_label, least, (SELECT coalesce(string_agg(
	format('%s+%s=%s+%s*%s', a_start, a_length, b_start, b_length, words),
	' ' ORDER BY b_start), '') FROM simhash_shared(body, next, least))
	FROM $pairs, unnest('{1,2,8}'::int[]) AS least"
containment="SELECT label, next_label, profile, CASE profile WHEN 'array'
	THEN simhash_containment(string_to_array(body, ' '),
		string_to_array(next, ' '))
	ELSE simhash_containment(body, next, profile) END
	FROM $pairs,
	unnest('{word-2-capped,word-1,char-3,word-1-2-sqrt,symbol-2,
		word-2-capped-seed-4711,array}'::text[]) AS profile"

# COPY converts some bytes at a time, and can part two code points that are one
# character of EUC_JIS_2004.  One that stands for both is loaded.  (They are
# written as bytes, as in the locale C there is no other way.)
both=$'\xe3\x81\x8b\xe3\x82\x9a' one=$'\xe4\xbb\x9d'
joined="(SELECT label, replace(body, '$one', '$both') AS body FROM t) AS t"

# What check asks of us, and of the reference; the encoding is that of check.
what=passages ours=$passages
theirs()
{
	local -a arguments=("$what")

	[ $what = containment ] || arguments+=("$encoding")
	sed "s/$one/$both/g" | "$PYTHON" reference_passages.py "${arguments[@]}"
}

# check_all NAME ENCODING INPUT
check_all()
{
	for what in passages shared containment; do
		ours=${!what}
		[ "$2" != EUC_JIS_2004 ] || ours=${ours//FROM t/FROM $joined}
		check "${what}_$1" "$2" "$3"
	done
}

check golden UTF8 "$PWD/golden_texts.tsv" "$PWD/golden_passages.tsv"

same_unicode || exit $failed
"$PYTHON" reference_passages.py --check

cut -f1,2 texts.tsv >"$work/texts"
poems 60 >"$work/poems"
licenses 120 >"$work/licenses"

texts=25
[ -z "${SIMHASH_SECONDS:-}" ] || texts=100
check_all texts UTF8 "$work/texts"
check_all poems UTF8 "$work/poems"
check_all licenses UTF8 "$work/licenses"
check_all texts_latin1 LATIN1 "$(holding LATIN1)"
check_all texts_euc EUC_JP "$(holding EUC_JP)"
check_all bytes SQL_ASCII "$PWD/golden_bytes_texts.tsv"
for encoding in UTF8 LATIN1 WIN1251 EUC_JP EUC_JIS_2004 SQL_ASCII; do
	"$PYTHON" reference_passages.py random "$encoding" "$seed" $texts |
		if [ "$encoding" = EUC_JIS_2004 ]; then
			sed "s/$both/$one/g"
		else
			cat
		fi >"$work/random_$encoding"
	check_all "random_$encoding" "$encoding" "$work/random_$encoding"
done

# What is promised of passages: each is a part of the document and has its
# fingerprint, by any profile, and together they are the document.
whole()
{
	local encoding=$1 input=$2 wrong client=UTF8

	[ "$encoding" != SQL_ASCII ] || client=SQL_ASCII
	use_database "$encoding"
	PGCLIENTENCODING=$client psql <<-END
		CREATE TABLE t (label text, body text);
		\\copy t FROM '$input'
		$([ "$encoding" != EUC_JIS_2004 ] ||
			echo "UPDATE t SET body = replace(body, '$one', '$both');")
	END
	wrong=$(psql -At <<-'END'
		SELECT count(*) FROM t, unnest('{4,11,25,1000}'::int[]) AS words,
			unnest('{word-1,word-2-capped,char-4}'::text[]) AS profile,
			LATERAL (
			SELECT string_agg(part, '' ORDER BY nr) = body
				AND min(nr) = 1 AND max(nr) = count(*) AND bool_and(
					length > 0 AND length(part) = length
					AND start = before + 1 AND fp = minhash(part, profile))
			FROM (SELECT *, coalesce(sum(length) OVER (ORDER BY nr ROWS
					BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before
				FROM simhash_passages(body, profile, words)) AS p,
				substr(body, start, length) AS part) AS p (correct)
		WHERE correct IS DISTINCT FROM CASE
			WHEN minhash(body, profile) IS NOT NULL THEN true END
	END
	)
	psql -c 'DROP TABLE t'
	if [ "$wrong" = 0 ]; then
		ok "whole in $encoding"
	else
		echo "FAIL whole in $encoding: $wrong texts"
		failed=1
	fi
}

# The second letter is one character, and two code points.
printf 'a\tone %s two %s %s\n' "$both" "$both" \
	"$(seq 100 | tr '\n' ' ')" >"$work/combined"
whole EUC_JIS_2004 "$work/combined"
whole SQL_ASCII "$PWD/golden_bytes_texts.tsv"
whole EUC_KR "$(holding EUC_KR)"
for encoding in UTF8 LATIN1 WIN1251 EUC_JP EUC_JIS_2004 SQL_ASCII; do
	whole "$encoding" "$work/random_$encoding"
done

exit $failed
