#!/usr/bin/env python3
"""
Make the calls of check_clients.sh by psycopg, and print what comes of them.

usage: clients.py plain|prepared|int8|binary <calls

Whole numbers go as the smallest type that holds them, or always as int8; in
text, or in binary where psycopg can; with the statement prepared or not.

SPDX-License-Identifier: PostgreSQL
"""

import json
import re
import sys

import psycopg
from psycopg.types.numeric import Int8


def wide(parameter):
    return Int8(parameter) if isinstance(parameter, int) else parameter


def main(how):
    with psycopg.connect() as connection:
        cursor = connection.cursor()
        for line in sys.stdin:
            call, parameters = line.rstrip('\n').split('\t')
            place = '%b' if how == 'binary' else '%s'
            parameters = json.loads(parameters)
            if how == 'int8':
                parameters = [wide(p) for p in parameters]
            cursor.execute('SELECT ' + re.sub(r'\$\d', place, call),
                           parameters, prepare=how == 'prepared')
            print(cursor.fetchone()[0])


main(sys.argv[1])
