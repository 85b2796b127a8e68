#!/bin/bash
#
# Ghostscript takes the two bytes of a letter for one where letters come as a range.
#
# Surprising in Ghostscript 10.00.0 (Debian 12), device txtwrite: where a font of a PDF
# says by a range (bfrange) which letters its codes are, the first letter becomes the
# character that its high and its low byte make by OR, and the others follow: "абвгде",
# from U+0430, is read as "456789".  Where the font says it letter by letter (bfchar), the
# text is right.  What prints pages to PDF, as Chromium, writes both, so that "Хищник" is
# "%8щA8>".  Nothing is said, and the exit code is 0.
# Expected: the same text by both, as of pdftotext and mutool.
#
# Documents in all languages but those of Latin letters become strange words of ASCII.
#
# What is shown: the text of a page of six letters, by a range and letter by letter.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
scripts=$(realpath "$(dirname "$0")")
. "$scripts/packages.bash" ghostscript=10.0.0~dfsg-11+deb12u9 \
	libgs10=10.0.0~dfsg-11+deb12u9 \
	libgs10-common=10.0.0~dfsg-11+deb12u9 libgs-common=10.0.0~dfsg-11+deb12u9
resources=$folder/root/usr/share/ghostscript/10.00.0
export GS_LIB=$resources/Resource/Init:$resources/lib:$resources/Resource/Font

PYTHONPATH=$scripts python3 - <<'END'
from pdf import page
line = 'BT /F 12 Tf 72 700 Td (ABCDEF) Tj ET'
page('range.pdf', line, '1 beginbfrange <41> <46> <0430> endbfrange')
page('letters.pdf', line, '6 beginbfchar <41> <0430> <42> <0431> <43> <0432> <44> <0433> '
     '<45> <0434> <46> <0435> endbfchar')
END
came=
for file in range.pdf letters.pdf; do
	came+="$(gs -q -dNOPAUSE -dBATCH -sDEVICE=txtwrite -sOutputFile=- "$file" | tr -d ' \r\n'); "
done
echo "$came"
[ "$came" = '456789; абвгде; ' ] || { echo 'this has changed'; exit 1; }
