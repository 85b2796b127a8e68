#!/bin/bash
#
# Converters to text drop the line breaks in paragraphs, and two words become one.
#
# Surprising in docx2txt 1.4, odt2txt 0.5 and catdoc 0.95 (Debian 12): "one", a line
# break and "two" come out as "onetwo".  Expected: a line end or a blank.
#
#   - docx2txt knows <w:br/>, but not <w:br />, the same in XML, as pandoc writes it.
#   - odt2txt: <text:line-break/>, and not <text:line-break />, likewise.
#   - catdoc does not know RTF's \line.
#
# A page of mail headers or of verse is far from itself: 14 of 64 bits by minhash.
#
# What is shown: the words that come of each, without and with the blank in the tag.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/packages.bash" docx2txt=1.4-5 odt2txt=0.5-7 catdoc=1:0.95-6~deb12u1

# A file $1 of the format of a zip with the one member $2, which has the text $3.
packed()
{
	python3 -c 'import sys, zipfile
zipfile.ZipFile(sys.argv[1], "w").writestr(*sys.argv[2:])' "$@"
}

# Documents of one paragraph, whose tag of a line break ends in $1.
documents()
{
	packed text.docx word/document.xml "<w:document xmlns:w='w'><w:body><w:p><w:r>
<w:t>one</w:t><w:br$1><w:t>two</w:t></w:r></w:p></w:body></w:document>"
	packed text.odt content.xml "<office:document-content xmlns:office='o'
xmlns:text='t'><office:body><office:text><text:p>one<text:line-break$1>two</text:p>
</office:text></office:body></office:document-content>"
}

# The words that come in, a blank between each two.
words() { tr -s '\n\t ' ' ' | sed 's/^ //; s/ $//'; }

came=
for end in / ' /'; do
	documents "$end"
	came+="$(docx2txt text.docx - | words), $(odt2txt.odt2txt text.odt | words); "
done
for path in charset map; do echo "${path}_path=$folder/root/usr/share/catdoc"; done >.catdocrc
echo '{\rtf1\ansi one\line two\par}' >text.rtf
came+=$(HOME=$folder catdoc text.rtf | words)
echo "docx2txt, odt2txt; with a blank; catdoc: $came"
[ "$came" = 'one two, one two; onetwo, onetwo; onetwo' ] ||
	{ echo 'this has changed'; exit 1; }
