#!/bin/bash
#
# A library built with the headers of a minor does not load in the minor before.
#
# Surprising in PostgreSQL 15.20 (Debian 12): heap_getattr(), which headers inline, and
# PG_GETARG_HEAPTUPLEHEADER() call functions that 15.18 lacks, so that a library that
# uses either is refused there: "undefined symbol: heap_datum_check".  Expected: that a
# library serves all minors of its major, whichever had its headers, as the chapter on
# server API and ABI stability has it for a library built with the older ones.
#
# Packages depend on postgresql-15 alone, and images are built beside a server of
# yesterday with the headers of today.
#
# What is shown: a function of one line, built with the headers here, called in 15.18.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/server.bash" 15.18-0+deb12u1

headers=$(pg_config --includedir-server)
grep -q '"15\.20 ' "$headers/pg_config.h" || { echo 'no headers of 15.20' >&2; exit 1; }

# What the server says of a library with the function body $1.
try()
{
	cat >"$server/row.c" <<-END
		#include "postgres.h"
		#include "access/htup_details.h"
		#include "fmgr.h"
		PG_MODULE_MAGIC;
		PG_FUNCTION_INFO_V1(row_length);
		Datum row_length(PG_FUNCTION_ARGS) { $1 }
	END
	gcc -O2 -fPIC -shared -isystem "$headers" -o "$server/row.so" "$server/row.c"
	chmod 755 "$server/row.so"
	psql -c "CREATE OR REPLACE FUNCTION row_length(record) RETURNS int
		LANGUAGE c STRICT AS '$server/row', 'row_length'" \
		-c 'SELECT row_length(ROW(1))' 2>&1 | sed -nE 's/.*undefined symbol: //p; /^[0-9]+$/p' || :
}

macro=$(try 'PG_RETURN_INT32(PG_GETARG_HEAPTUPLEHEADER(0) != NULL);')
plain=$(try 'PG_RETURN_INT32(PG_DETOAST_DATUM(PG_GETARG_DATUM(0)) != NULL);')
inlined=$(try 'bool isnull; HeapTupleData row = {0};
	row.t_data = (HeapTupleHeader) PG_DETOAST_DATUM(PG_GETARG_DATUM(0));
	heap_getattr(&row, 1, (TupleDesc) fcinfo->context, &isnull); PG_RETURN_INT32(isnull);')
echo "in 15.18: the macro: $macro; heap_getattr(): $inlined; neither: $plain"
[ "$macro" = DatumGetHeapTupleHeader ] && [ "$inlined" = heap_datum_check ] &&
	[ "$plain" = 1 ] || { echo 'this has changed'; exit 1; }
