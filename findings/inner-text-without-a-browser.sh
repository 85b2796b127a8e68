#!/bin/bash
#
# innerText of two DOM libraries is not what a browser's is.
#
# Surprising in happy-dom 21.0.4 and linkedom 0.18.15 (npm), which both have innerText:
#
#   - happy-dom: list items, cells, and what <br> divides become one word, though
#     paragraphs do not.
#   - linkedom: cells become one word; the text has what <script>, <style> and <template>
#     hold.
#   - Both: a paragraph with the attribute hidden is part of it.
#
# Expected: that of Chromium, in which items and cells are apart and nothing is of what
# is not rendered; where a library cannot tell, no innerText, as in jsdom.  Texts taken
# by a crawler in a browser and by one in such a library are far from each other.
#
# What is shown: innerText of the same parts of a page, by both.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/npm.bash" happy-dom@21.0.4 linkedom@0.18.15

cat >text.mjs <<'END'
import { Window } from 'happy-dom';
import { parseHTML } from 'linkedom';
const parts = [
	'<p>a</p><p>b</p>', '<ul><li>a</li><li>b</li></ul>', 'a<br>b',
	'<table><tr><td>a</td><td>b</td></tr></table>', 'a<style>p {}</style>',
	'a<template>b</template>', 'a<p hidden>b</p>'];
const words = text => text.trim().split(/\s+/).join(' ');
function happy(part) {
	const { document } = new Window();
	document.body.innerHTML = part;
	return words(document.body.innerText);
}
function linked(part) {
	return words(parseHTML(`<html><body>${part}</body></html>`).document.body.innerText);
}
console.log(parts.map(happy).join('; ') + ' | ' + parts.map(linked).join('; '));
process.exit(0);
END
came=$(node text.mjs)
echo "$came"
[ "$came" = 'a b; ab; ab; ab; a; a; a b | a b; a b; a b; ab; ap {}; ab; a b' ] ||
	{ echo 'this has changed'; exit 1; }
