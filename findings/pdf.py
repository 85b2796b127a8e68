"""
A PDF of one page, for scripts that read one.
SPDX-License-Identifier: PostgreSQL
"""


def page(path, content, mapping=''):
    """Write a page with this content, whose font F says which letters its codes are."""
    letters = ('/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def '
               '1 begincodespacerange <00> <FF> endcodespacerange ' + mapping +
               ' endcmap CMapName currentdict /CMap defineresource pop end end')
    objects = ['<</Type/Catalog/Pages 2 0 R>>', '<</Type/Pages/Kids[3 0 R]/Count 1>>',
               '<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R'
               '/Resources<</Font<</F 5 0 R>>>>>>',
               '<</Length %d>>stream\n%s\nendstream' % (len(content), content),
               '<</Type/Font/Subtype/Type1/BaseFont/Helvetica%s>>' %
               ('/ToUnicode 6 0 R' if mapping else ''),
               '<</Length %d>>stream\n%s\nendstream' % (len(letters), letters)]
    pdf, places = '%PDF-1.5\n', []
    for number, words in enumerate(objects, 1):
        places.append(len(pdf))
        pdf += '%d 0 obj\n%s\nendobj\n' % (number, words)
    end = len(pdf)
    pdf += 'xref\n0 7\n0000000000 65535 f \n'
    pdf += ''.join('%010d 00000 n \n' % place for place in places)
    pdf += 'trailer<</Size 7/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n' % end
    with open(path, 'w', encoding='ascii') as file:
        file.write(pdf)
