#!/usr/bin/python3
"""
The rate of Python's package simhash, in megabytes a second.

usage: bench/python_simhash.py <DOCUMENTS

A document is a line: a JSON array of one string.  Prints nothing when the
package is not installed.

SPDX-License-Identifier: PostgreSQL
"""

import json
import sys
import time

documents = [json.loads(line)[0] for line in sys.stdin]
try:
    import simhash
except ImportError:
    sys.exit()

begin = time.process_time()
for document in documents:
    simhash.Simhash(document)
taken = time.process_time() - begin
print('%.4g' % (sum(len(d.encode()) for d in documents) / 1e6 / taken))
