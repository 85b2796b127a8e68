#!/usr/bin/python3
"""
Print the pages of a folder as lines for COPY.

usage: bench/html_pages.py DIRECTORY

SPDX-License-Identifier: PostgreSQL
"""

import pathlib
import sys

for path in sorted(pathlib.Path(sys.argv[1]).glob('*.html')):
    page = path.read_text(encoding='utf-8', errors='replace').replace('\\', '\\\\')
    for char, name in (('\t', 't'), ('\n', 'n'), ('\r', 'r')):
        page = page.replace(char, '\\' + name)
    print(page)
