#!/bin/bash
#
# html2text leaves hexadecimal character references, and cuts others to 16 bits.
#
# Surprising in html2text 1.3.2a (Debian 12), though its output is UTF-8:
#
#   - "caf&#xe9;" stays as it is, where "caf&#233;" becomes "café": in HTML since 1997
#     both are the same.  What comes of it are two words, "caf" and "xe9".
#   - "&#134071;", U+20BB7, becomes U+0BB7, a letter of Tamil: another character
#     without a word of warning.  As a character of the page it comes through.
#   - Where a page has a field of HTML 5, as to search, three words are put in.
#
# Expected: the same text for the same page.  Two copies of a page, one of them written
# by a program that escapes what is not ASCII, have few words in common.
#
# What is shown: what comes of the same two words, written in three ways, and of a field.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/packages.bash" html2text=1.3.2a-28

came=
for page in 'café 𠮷野家' 'caf&#233; &#134071;&#37326;&#23478;' \
	'caf&#xe9; &#x20BB7;&#x91ce;&#x5bb6;' 'a <input type=search> b'; do
	printf '<p>%s</p>' "$page" >page.html
	came+="$(html2text -utf8 -nobs page.html); "
done
echo "$came"
[ "$came" = 'café 𠮷野家; café ஷ野家; caf&#xe9; &#x20BB7;&#x91ce;&#x5bb6;; a [Unknown INPUT type] b; ' ] ||
	{ echo 'this has changed'; exit 1; }
