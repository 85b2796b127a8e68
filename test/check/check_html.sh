#!/bin/bash
#
# The text of pages against its reference implementation.
# SPDX-License-Identifier: PostgreSQL
#
# Pages are random ones: tags that fit badly, and what is easily read wrongly.
# SIMHASH_SEED repeats a run, with SIMHASH_SECONDS there are more of them.
#

. "$(dirname "$0")/compare.sh"
kind=html
seed=${SIMHASH_SEED:-$RANDOM$RANDOM}
echo "SIMHASH_SEED=$seed"
ours="SELECT label, what, text FROM t,
	LATERAL (VALUES ('html', simhash_html(body)),
		('article', simhash_article(body))) AS v (what, text)"

theirs()
{
	"$PYTHON" reference_html.py text
}

check golden UTF8 "$PWD/golden_html_texts.tsv" "$PWD/golden_html.tsv"
"$PYTHON" reference_html.py --check

check_random reference_html.py 600 20000
"$PYTHON" reference_html.py random "$seed" 200 | iconv -c -f UTF-8 -t LATIN1 |
	iconv -f LATIN1 -t UTF-8 | grep -v '&' >"$work/pages"
check latin1 LATIN1 "$work/pages"
check bytes SQL_ASCII "$work/pages"

exit $failed
