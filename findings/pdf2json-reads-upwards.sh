#!/bin/bash
#
# pdf2json's text of a page begins with its last line.
#
# Surprising in pdf2json 4.0.3 (npm): getRawTextContent() sorts the lines from the bottom
# of the page to its top, whatever their order in the file.  Nor are the pieces of a word
# that are set apart by a little, as between "di" and "fferent", always one word: in 60
# pages that Chromium printed, 6,366 of 99,762 words are missing so, 352 by pdftotext.
# Expected: from the top.
#
# The words of a line are right, the pairs of words between lines are others: a page read
# by pdf2json is no near-duplicate of itself by profiles of pairs, as the default one.
#
# What is shown: the text of a page of three lines, first to last in the file and not.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
scripts=$(realpath "$(dirname "$0")")
. "$scripts/npm.bash" pdf2json@4.0.3

PYTHONPATH=$scripts python3 - <<'END'
from pdf import page
lines = [(700, 'one'), (680, 'two'), (660, 'three')]
for name, order in (('down.pdf', lines), ('up.pdf', lines[::-1])):
    page(name, ' '.join('BT /F 12 Tf 72 %d Td (%s) Tj ET' % line for line in order))
END
cat >text.cjs <<'END'
const PDFParser = require('pdf2json');
const parser = new PDFParser(null, 1);
parser.on('pdfParser_dataError', error => { throw error.parserError; });
parser.on('pdfParser_dataReady', () => process.stdout.write(parser.getRawTextContent()));
parser.loadPDF(process.argv[2]);
END
came=
for file in down.pdf up.pdf; do
	came+="$(node text.cjs "$file" 2>/dev/null | tr -d '\r' | grep -xE 'one|two|three' | tr '\n' ' '); "
done
echo "$came"
[ "$came" = 'three two one ; three two one ; ' ] || { echo 'this has changed'; exit 1; }
