#!/bin/bash
#
# pandoc writes ODT without the cells that are heads of rows.
#
# Surprising in pandoc 2.17.1.1 (Debian 12): of a table whose rows begin with <th>, the
# ODT has the other cells alone; HTML to DOCX or to text has all.  Expected: all cells.
#
# What is shown: the text of a table of one row, by way of ODT and of DOCX.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/packages.bash" pandoc=2.17.1.1-2~deb12u1 \
	pandoc-data=2.17.1.1-2~deb12u1

# The words of the table, by way of the format $1.
words()
{
	echo '<table><tr><th>Status</th><td>Core</td></tr></table>' |
		pandoc --data-dir "$folder/root/usr/share/pandoc/data" -f html -o "text.$1"
	pandoc --data-dir "$folder/root/usr/share/pandoc/data" "text.$1" -t plain |
		tr -s '\n -' ' ' | sed 's/^ //; s/ $//'
}

docx=$(words docx) odt=$(words odt)
printf '%-5s %s\n' docx "$docx" odt "$odt"
[ "$docx/$odt" = 'Status Core/Core' ] || { echo 'this has changed'; exit 1; }
