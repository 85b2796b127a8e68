/*-------------------------------------------------------------------------
 *
 * idf.c
 *		The type simhash_idf: how rare features are, learnt or given.
 *
 * core/idf.c says what is in a value.  Here values come from arrays of
 * features with their weights, and from the outside, where they are checked
 * byte by byte before anything else looks at them; idf_agg.c learns them from
 * documents.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "simhash.h"

#include <math.h>

#include "common/pg_prng.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(simhash_idf_in);
PG_FUNCTION_INFO_V1(simhash_idf_out);
PG_FUNCTION_INFO_V1(simhash_idf_recv);
PG_FUNCTION_INFO_V1(simhash_idf_send);
PG_FUNCTION_INFO_V1(simhash_idf_from);
PG_FUNCTION_INFO_V1(simhash_idf_stats);

/* --- values -------------------------------------------------------------- */

/* Open a value that the server has stored. */
void
simhash_open_idf(ShIdf *idf, struct varlena *value)
{
	size_t		header;
	const char *wrong = sh_idf_open(idf, (unsigned char *) VARDATA_ANY(value),
									VARSIZE_ANY_EXHDR(value),
									VARSIZE_ANY_EXHDR(value), &header);

	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("simhash_idf value is damaged"),
				 errdetail("%s", wrong)));
}

/* Make a value of bytes that come from outside, if they are one. */
static struct varlena *
accept_value(const char *bytes, Size length)
{
	struct varlena *result;
	ShIdf		idf;
	size_t		header;
	const char *wrong = sh_idf_open(&idf, (const unsigned char *) bytes,
									length, length, &header);

	if (wrong == NULL)
		wrong = sh_idf_check(&idf, simhash_pause);
	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid simhash_idf value"),
				 errdetail("%s", wrong),
				 errhint("Such values are made by simhash_idf_agg and simhash_idf_from.")));
	result = palloc(VARHDRSZ + length);
	SET_VARSIZE(result, VARHDRSZ + length);
	memcpy(VARDATA(result), bytes, length);
	return result;
}

/*
 * simhash_idf_in(cstring) -> simhash_idf
 *
 * The bytes in hexadecimal, as for bytea.
 */
Datum
simhash_idf_in(PG_FUNCTION_ARGS)
{
	bytea	   *bytes = DatumGetByteaPP(DirectFunctionCall1(byteain,
															PG_GETARG_DATUM(0)));

	PG_RETURN_POINTER(accept_value(VARDATA_ANY(bytes),
								   VARSIZE_ANY_EXHDR(bytes)));
}

/*
 * simhash_idf_out(simhash_idf) -> cstring
 *
 * Always in hexadecimal, whatever bytea_output says.
 */
Datum
simhash_idf_out(PG_FUNCTION_ARGS)
{
	struct varlena *value = PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0));
	Size		length = VARSIZE_ANY_EXHDR(value);
	char	   *result = palloc(2 * length + 3);

	result[0] = '\\';
	result[1] = 'x';
	result[2 + hex_encode(VARDATA_ANY(value), length, result + 2)] = '\0';
	PG_RETURN_CSTRING(result);
}

/*
 * simhash_idf_recv(internal) -> simhash_idf
 */
Datum
simhash_idf_recv(PG_FUNCTION_ARGS)
{
	StringInfo	in = (StringInfo) PG_GETARG_POINTER(0);
	int			length = in->len - in->cursor;

	PG_RETURN_POINTER(accept_value(pq_getmsgbytes(in, length), length));
}

/*
 * simhash_idf_send(simhash_idf) -> bytea
 */
Datum
simhash_idf_send(PG_FUNCTION_ARGS)
{
	return byteasend(fcinfo);
}

/* Make a value; sorts the entries. */
struct varlena *
simhash_make_idf(const ShIdf *idf, ShIdfEntry *entries)
{
	struct varlena *result;
	Size		length;

	sh_idf_sort(entries, idf->entries, simhash_pause);
	length = sh_idf_write(NULL, idf, entries);
	result = palloc(VARHDRSZ + length);
	SET_VARSIZE(result, VARHDRSZ + length);
	sh_idf_write((unsigned char *) VARDATA(result), idf, entries);
	return result;
}

/* Fails when a value would have too many features. */
void
simhash_check_idf_entries(uint64 entries)
{
	if (entries > SH_IDF_ENTRIES_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many features for a simhash_idf value"),
				 errdetail("It can hold %llu.",
						   (unsigned long long) SH_IDF_ENTRIES_MAX),
				 errhint("Learn from a sample of the documents, or by a profile of single words.")));
}

/* --- given weights ------------------------------------------------------- */

/* The weight given for a feature, as a whole number. */
static uint32
given_weight(double idf)
{
	simhash_check_weight(idf);
	if (idf < 0 || idf > (double) SH_IDF_WEIGHT_MAX / SH_IDF_ONE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("inverse document frequency %g is out of range", idf),
				 errdetail("It must be at least 0 and less than 32768.")));
	return (uint32) floor(idf * SH_IDF_ONE + 0.5);
}

/*
 * The median weight; leaves the entries in another order.  None is lost, as
 * half of them are taken.
 */
static uint32
median_weight(ShIdfEntry *entries, size_t n)
{
	uint64		least;
	size_t		upper;

	if (n == 0)
		return SH_IDF_ONE;
	upper = sh_idf_take_top(entries, n, n - n / 2,
							pg_prng_uint64(&pg_global_prng_state),
							simhash_pause);
	least = entries[0].value;
	for (size_t i = 1; i < upper; i++)
		least = Min(least, entries[i].value);
	return (uint32) least;
}

/* Fails when a feature occurs twice; the entries are sorted by hash. */
static void
check_duplicates(const ShIdfEntry *entries, int n)
{
	for (int i = 1; i < n; i++)
	{
		if (entries[i].hash == entries[i - 1].hash)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a feature is given twice"),
					 errhint("Take one of them, for example by GROUP BY feature.")));
	}
}

/*
 * simhash_idf_from(features text[], idf double precision[],
 *		profile text DEFAULT NULL) -> simhash_idf
 *
 * The value that gives these weights to these features, and to all others
 * their median.  They are features of documents cut by the profile, the
 * default one when it is NULL.
 *
 * Errors: as simhash(features, weights); invalid_parameter_value for a weight
 * below 0 or above 32767, or a feature given twice; undefined_object.
 */
Datum
simhash_idf_from(PG_FUNCTION_ARGS)
{
	ShIdf		idf = {.kind = SH_IDF_GIVEN,.profile = sh_default_profile};
	ShIdfEntry *entries;
	Datum	   *features;
	Datum	   *weights;
	int			n;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(2))
		idf.profile = simhash_get_profile(PG_GETARG_TEXT_PP(2));
	n = simhash_get_pairs(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1),
						  &features, &weights);
	simhash_check_idf_entries(n);
	entries = MemoryContextAllocHuge(CurrentMemoryContext,
									 Max(n, 1) * sizeof *entries);
	for (int i = 0; i < n; i++)
	{
		text	   *feature = DatumGetTextPP(features[i]);

		CHECK_FOR_INTERRUPTS();
		entries[i].hash = simhash_hash_feature(idf.profile,
											   VARDATA_ANY(feature),
											   VARSIZE_ANY_EXHDR(feature));
		entries[i].value = given_weight(DatumGetFloat8(weights[i]));
	}
	sh_idf_sort(entries, n, simhash_pause);
	check_duplicates(entries, n);
	idf.entries = n;
	idf.fallback = median_weight(entries, n);
	PG_RETURN_POINTER(simhash_make_idf(&idf, entries));
}

/*
 * simhash_idf_stats(simhash_idf)
 *		-> (profile text, documents bigint, features bigint,
 *			unknown double precision)
 *
 * What is in a value: the profile, how many documents it was learnt from
 * (NULL when it was given), how many features it knows, and what the others
 * weigh.
 */
Datum
simhash_idf_stats(PG_FUNCTION_ARGS)
{
	ShIdf		idf;
	TupleDesc	desc;
	Datum		values[4];
	bool		nulls[4] = {false};
	uint32		unknown;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("function returning record called in context that cannot accept type record")));
	simhash_open_idf(&idf, PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
	unknown = idf.kind == SH_IDF_GIVEN ? idf.fallback :
		sh_idf_weight(idf.documents, 0);
	values[0] = CStringGetTextDatum(idf.profile->name);
	values[1] = Int64GetDatum((int64) idf.documents);
	nulls[1] = idf.kind == SH_IDF_GIVEN;
	values[2] = Int64GetDatum((int64) idf.entries);
	values[3] = Float8GetDatum((double) unknown / SH_IDF_ONE);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
