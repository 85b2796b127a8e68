/*-------------------------------------------------------------------------
 *
 * evidence.c
 *		What a line of a plan rests upon, as a number.
 *
 * A decision about two rows is made once, when the plan is.  The plan keeps the names
 * of the columns that were read for it, and of both rows a hash of their values:
 * while these are the same, so is the decision, and no expression has to be run again.
 * A person may have the other row go, unless one had to contain the other: only then
 * does their order matter.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "access/htup_details.h"
#include "common/hashfn.h"
#include "utils/typcache.h"

PG_FUNCTION_INFO_V1(simhash_hash_row);

/*
 * _simhash_hash_row(record) -> bigint
 *
 * A hash of the values of a row, byte by byte, whatever their types: settings that
 * texts of values depend on do not matter.  Rows whose values are equal by their
 * types, as 1.0 and 1.00, may have different ones.
 */
Datum
simhash_hash_row(PG_FUNCTION_ARGS)
{
	HeapTupleHeader row = simhash_get_row(PG_GETARG_DATUM(0));
	TupleDesc	columns = lookup_rowtype_tupdesc(HeapTupleHeaderGetTypeId(row),
												 HeapTupleHeaderGetTypMod(row));
	HeapTupleData tuple = {.t_len = HeapTupleHeaderGetDatumLength(row),.t_data = row};
	Datum	   *values = palloc(columns->natts * sizeof *values);
	bool	   *nulls = palloc(columns->natts * sizeof *nulls);
	uint64		hash = 0;

	heap_deform_tuple(&tuple, columns, values, nulls);
	for (int i = 0; i < columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(columns, i);
		const unsigned char *bytes = (const unsigned char *) &values[i];
		int			length = sizeof(Datum);

		if (nulls[i])
			length = 0;
		else if (column->attlen == -1)
		{
			struct varlena *value = PG_DETOAST_DATUM_PACKED(values[i]);

			bytes = (const unsigned char *) VARDATA_ANY(value);
			length = VARSIZE_ANY_EXHDR(value);
		}
		else if (!column->attbyval)
		{
			bytes = (const unsigned char *) DatumGetPointer(values[i]);
			length = column->attlen == -2 ? (int) strlen((const char *) bytes) : column->attlen;
		}
		hash = hash_combine64(hash * 2 + nulls[i],
							  DatumGetUInt64(hash_any_extended(bytes, length, i)));
	}
	ReleaseTupleDesc(columns);
	PG_RETURN_INT64((int64) hash);
}
