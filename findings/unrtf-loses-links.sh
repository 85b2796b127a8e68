#!/bin/bash
#
# unrtf writes a link's address in place of its words.
#
# Surprising in unrtf 0.21.10 (Debian 12): of a field HYPERLINK, whose result is what a
# reader sees, --text has the address in quotes, and --html the word "hyperlink", with
# the quotes in the address doubled; the result is lost.  And letters beyond ASCII,
# \u233?, are question marks in --text, while --html has them.  Expected: the words.
#
# Ten pages of documentation, written as RTF by pandoc, are so 19 of 64 bits from their
# text on average, and 2 by pandoc's own reader.
#
# What is shown: the text of a paragraph with a link and a letter.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/packages.bash" unrtf=0.21.10-clean-1

echo '{\rtf1\ansi see {\field{\*\fldinst{HYPERLINK "http://a.example/"}}{\fldrslt{the' \
	'manual}}} at the caf\u233?\par}' >text.rtf
text=$(unrtf -P root/usr/share/unrtf --text text.rtf 2>/dev/null | tail -n 1)
html=$(unrtf -P root/usr/share/unrtf --html text.rtf 2>/dev/null | grep see)
printf '%-7s %s\n' --text "$text" --html "$html"
[[ $text = *a.example*'caf?' && $html = *hyperlink*'caf&eacute;'* &&
	$text$html != *manual* ]] ||
	{ echo 'this has changed'; exit 1; }
