#!/bin/bash
#
# html-to-text joins the cells and rows of tables, and the entries of other lists.
#
# Surprising in html-to-text 10.0.1 (npm), by its defaults: of a table written without
# blanks between its tags, as programs write them, all cells become one word,
# "NamePricetea4".  So do the entries of <dl>, of <menu> and of <select>, and what
# <address>, <center>, <figcaption>, <legend> and <summary> set apart; not those of
# <ul>, nor cells of a table whose source has line ends between them.  The options have a
# format for tables that must be asked for, and a selector for each other element.
# Expected: a blank or a line end, as a browser's innerText has it.
#
# A copy of the page that went through a formatter has other words.
#
# What is shown: the text of a table in one line and of the same in many, and of lists.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/npm.bash" html-to-text@10.0.1

cat >text.mjs <<'END'
import { convert } from 'html-to-text';
const table = '<table><tr><th>Name</th><th>Price</th></tr><tr><td>tea</td><td>4</td></tr></table>';
console.log([
	convert(table), convert(table.replaceAll('><', '>\n<')),
	convert(table, { selectors: [{ selector: 'table', format: 'dataTable' }] }).split(/\s+/).join(' '),
	convert('<dl><dt>tea</dt><dd>hot</dd></dl>'), convert('<menu><li>tea</li><li>hot</li></menu>'),
	convert('<ul><li>tea</li><li>hot</li></ul>').split(/[\s*]+/).join(' ').trim(),
	convert('<p><select><option>tea</option><option>hot</option></select></p>'),
	convert('<details><summary>tea</summary>hot</details>')].join('; '));
END
came=$(node text.mjs)
echo "$came"
[ "$came" = 'NamePricetea4; Name Price tea 4; NAME PRICE tea 4; teahot; teahot; tea hot; teahot; teahot' ] ||
	{ echo 'this has changed'; exit 1; }
