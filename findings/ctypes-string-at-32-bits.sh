#!/bin/bash
#
# ctypes.string_at() takes the length of a string modulo 2^32.
#
# Surprising in Python 3.11 (Debian 12): of a length that is a size_t of a C library,
# string_at() and wstring_at() use the low 32 bits, as an int.  2^32 + 5 bytes come as 5,
# without a word; from 2 GB to 4 GB there is a SystemError about a negative size; 2^32 - 1
# bytes end at the first byte 0.  Expected: all bytes, or an error that names the limit.
# PyBytes_FromStringAndSize(), by ctypes.pythonapi, takes a size_t.
#
# What is shown: what comes of twelve bytes of memory, with these lengths.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/packages.bash" {python3.11-minimal,libpython3.11-minimal,libpython3.11-stdlib}=3.11.2-6+deb12u9

cat >lengths.py <<'END'
import ctypes
letters, wide = ctypes.create_string_buffer(b'hello world'), ctypes.create_unicode_buffer('hello')
print(ctypes.string_at(letters, 2**32 + 5), ctypes.wstring_at(wide, 2**32 + 3))
print(ctypes.string_at(letters, 2**32 - 1))
try:
    print(len(ctypes.string_at(letters, 2**31)))
except SystemError as error:
    print(error)
END
seen=$(PYTHONHOME=$folder/root/usr python3.11 -S lengths.py)
echo "$seen"
[[ $seen = "b'hello' hel
b'hello world'
Negative size"* ]] || { echo 'this has changed'; exit 1; }
