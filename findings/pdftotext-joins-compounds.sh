#!/bin/bash
#
# pdftotext takes the hyphen out of a compound that a line ends in.
#
# Surprising in poppler 22.12 (Debian 12): what stands as "US-" at the end of a line and
# "ASCII" on the next becomes "USASCII".  Expected: a hyphen before a capital or a digit
# stays, as hyphenation of words never puts one there; or an option that keeps them all.
# There is none for running text: only -layout and -raw, which order the text otherwise,
# keep hyphens, and line ends with them.
#
# Of 63 compounds at line ends in six manuals of Debian 12, known by the manuals' text
# files, it joins 58.
#
# What is shown: the words of a PDF of two lines, by each of the three.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/packages.bash" poppler-utils=22.12.0-2+deb12u3 \
	libpoppler126=22.12.0-2+deb12u3

# No table of its objects: poppler looks for them.
cat >text.pdf <<'END'
%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 4 0 R
/Resources <</Font <</F 5 0 R>>>>>> endobj
4 0 obj <</Length 77>> stream
BT /F 12 Tf 14 TL 20 200 Td (the table of US-) Tj T* (ASCII in a manual) Tj ET

endstream endobj
5 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> endobj
trailer <</Root 1 0 R>>
END

# The words of the page by the option $1.
words() { pdftotext $1 text.pdf - 2>/dev/null | tr -s '\n\f ' ' '; }

plain=$(words '') layout=$(words -layout) raw=$(words -raw)
printf '%-8s %s\n' plain "$plain" -layout "$layout" -raw "$raw"
[[ $plain = *USASCII* && $layout = *'US- ASCII'* && $raw = *'US- ASCII'* ]] ||
	{ echo 'this has changed'; exit 1; }
