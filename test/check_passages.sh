#!/bin/bash
#
# Passages against their reference implementation.
# SPDX-License-Identifier: PostgreSQL
#
# As check_reference.sh does for fingerprints: every text cut on both sides, in
# several encodings, in which places are counted in characters of their own.
#

. "$(dirname "$0")/compare.sh"
kind=passages
ours="SELECT label, words, (SELECT coalesce(string_agg(format('%s+%s=%s',
	start, length, fp), ' ' ORDER BY nr), '')
	FROM simhash_passages(body, words => words))
	FROM t, unnest('{4,25}'::int[]) AS words"

theirs()
{
	"$PYTHON" reference_passages.py passages
}

check golden UTF8 "$PWD/golden_texts.tsv" "$PWD/golden_passages.tsv"

same_unicode || exit $failed
"$PYTHON" reference_passages.py --check

cut -f1,2 texts.tsv >"$work/texts"
xz -dc ../data/poems.tsv.xz | cut -f1,4 | awk 'NR % 20 == 1' >"$work/poems"
xz -dc ../data/licenses.tsv.xz | awk 'NR % 40 == 1' >"$work/licenses"

check texts UTF8 "$work/texts"
check poems UTF8 "$work/poems"
check licenses UTF8 "$work/licenses"
check texts_latin1 LATIN1 "$(holding LATIN1)"
check texts_euc EUC_JP "$(holding EUC_JP)"

# Where places are not those of code points: substr() gives the passage, and
# passages are the document.
whole()
{
	local encoding=$1 input=$2 wrong client=UTF8

	[ "$encoding" != SQL_ASCII ] || client=SQL_ASCII
	new_database -E "$encoding" --locale=C -T template0 "whole_${encoding,,}"
	PGCLIENTENCODING=$client psql <<-END
		CREATE EXTENSION simhash;
		CREATE TABLE t (label text, body text);
		\\copy t FROM '$input'
	END
	wrong=$(psql -At <<-'END'
		SELECT count(*) FROM t, LATERAL (
			SELECT string_agg(part, '' ORDER BY nr) = body
				AND bool_and(fp = minhash(part)) AS correct
			FROM simhash_passages(body, words => 4),
				substr(body, start, length) AS part) AS p
		WHERE NOT correct
	END
	)
	dropdb "$PGDATABASE"
	if [ "$wrong" = 0 ]; then
		ok "whole in $encoding"
	else
		echo "FAIL whole in $encoding: $wrong texts"
		failed=1
	fi
}

# In EUC_JIS_2004 the second letter is one character, and two code points.
printf 'a\tone \xe3\x81\x8b\xe3\x82\x9a two \xe3\x81\x8b\xe3\x82\x9a %s\n' \
	"$(seq 100 | tr '\n' ' ')" >"$work/combined"
whole EUC_JIS_2004 "$work/combined"
whole SQL_ASCII "$PWD/golden_bytes_texts.tsv"
whole EUC_KR "$(holding EUC_KR)"

exit $failed
