/*-------------------------------------------------------------------------
 *
 * idf_type.c
 *		The type simhash_idf: how rare features are, learnt or given.
 *
 * idf.c says what is in a value.  This file makes values of features and
 * weights that a user gives, and reads those that a client sends, which are
 * checked byte by byte before anything else uses them.  idf_agg.c learns values
 * from documents.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "weights/weights.h"

#include <math.h>

#include "access/htup_details.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(simhash_idf_in);
PG_FUNCTION_INFO_V1(simhash_idf_out);
PG_FUNCTION_INFO_V1(simhash_idf_recv);
PG_FUNCTION_INFO_V1(simhash_idf_from);
PG_FUNCTION_INFO_V1(simhash_idf_with);
PG_FUNCTION_INFO_V1(simhash_idf_stats);

/* --- values -------------------------------------------------------------- */

/* Fail unless all of a value could be read. */
void
simhash_check_idf(bool whole)
{
	if (!whole)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("simhash_idf value is damaged")));
}

/* Open a value that the server has stored. */
void
simhash_open_idf(ShIdf *idf, struct varlena *value)
{
	const char *wrong = sh_idf_open(&simhash_known_profiles, idf, (unsigned char *) VARDATA_ANY(value),
									VARSIZE_ANY_EXHDR(value));

	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("simhash_idf value is damaged"),
				 errdetail("%s", wrong)));
}

/* Make a value of bytes that a client sends; fails unless they are valid. */
static struct varlena *
accept_value(const char *bytes, Size length)
{
	ShIdf		idf;
	const char *wrong = sh_idf_open(&simhash_known_profiles, &idf, (const unsigned char *) bytes,
									length);

	if (wrong == NULL)
		wrong = sh_idf_check(&idf, simhash_pause);
	if (wrong != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid simhash_idf value"),
				 errdetail("%s", wrong),
				 errhint("Such values are made by simhash_idf_agg and simhash_idf_from.")));
	return cstring_to_text_with_len(bytes, length);
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

/* Sort entries by hash. */
#define ST_SORT sort_idf_entries
#define ST_ELEMENT_TYPE ShIdfEntry
#define ST_COMPARE(a, b) ((a)->hash < (b)->hash ? -1 : (a)->hash > (b)->hash)
#define ST_SCOPE static
#define ST_CHECK_FOR_INTERRUPTS
#define ST_DEFINE
#include "lib/sort_template.h"

/* Make a value; sorts the entries. */
struct varlena *
simhash_make_idf(const ShIdf *idf, ShIdfEntry *entries)
{
	struct varlena *result;
	Size		length;

	sort_idf_entries(entries, idf->entries);
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
given_weight(const char *argument, double idf)
{
	if (!(idf >= 0 && idf < 32768))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" has a weight of %g", argument, idf),
				 errhint("It must be at least 0 and less than 32768.")));
	return (uint32) Min(floor(idf * SH_IDF_ONE + 0.5), SH_IDF_WEIGHT_MAX);
}

/* The median weight.  Changes the order of the entries. */
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
 * simhash_idf_from(features text[], weights double precision[],
 *		profile text DEFAULT NULL) -> simhash_idf
 *
 * The value that gives these weights to these features, and to all others
 * their median.  They are features of documents cut by the profile; when it
 * is NULL, words for arrays, and of no document.
 *
 * Errors: as simhash(features, weights); invalid_parameter_value for a weight
 * below 0, or of 32768 and more, or a feature given twice; undefined_object.
 */
Datum
simhash_idf_from(PG_FUNCTION_ARGS)
{
	ShIdf		idf = {.kind = SH_IDF_GIVEN,.profile = &sh_no_profile};
	ShIdfEntry *entries;
	Datum	   *features;
	Datum	   *weights;
	int			n;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	if (!PG_ARGISNULL(2))
		idf.profile = simhash_profile_argument(fcinfo, 2);
	n = simhash_get_pairs(PG_GETARG_ARRAYTYPE_P(0), PG_GETARG_ARRAYTYPE_P(1),
						  &features, &weights);
	simhash_check_idf_entries(n);
	entries = MemoryContextAllocHuge(CurrentMemoryContext,
									 Max(n, 1) * sizeof *entries);
	for (int i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		entries[i].hash = simhash_hash_text(idf.profile, features[i]);
		entries[i].value = given_weight("weights", DatumGetFloat8(weights[i]));
	}
	sort_idf_entries(entries, n);
	check_duplicates(entries, n);
	idf.entries = n;
	idf.fallback = median_weight(entries, n);
	PG_RETURN_POINTER(simhash_make_idf(&idf, entries));
}

/* --- choices -------------------------------------------------------------- */

/* The mean weight: what cppjieba gives to unknown words. */
static uint32
mean_weight(const ShIdfEntry *entries, size_t n)
{
	uint64		sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += entries[i].value;
	return n == 0 ? SH_IDF_ONE : (uint32) ((sum + n / 2) / n);
}

/* What unknown features are to weigh, by a word or a number. */
static uint32
chosen_weight(text *choice, ShIdfEntry *entries, size_t n)
{
	char	   *word = text_to_cstring(choice);
	char	   *end;
	double		number;

	if (strcmp(word, "median") == 0)
		return median_weight(entries, n);
	if (strcmp(word, "mean") == 0)
		return mean_weight(entries, n);
	number = strtod(word, &end);
	if (end == word || *end != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"unknown\" is \"%s\"", word),
				 errhint("It must be \"median\", \"mean\", or a number.")));
	return given_weight("unknown", number);
}

/* The shortest word that counts; fails when it is out of range. */
static int
chosen_length(int64 length, const ShIdf *idf)
{
	(void) simhash_check_range("", "min_length", length, 0, SH_IDF_SHORTEST_MAX, 0);
	if (length > 0 && !sh_profile_given(idf->profile))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("simhash_idf value is of documents cut by \"%s\", not of words",
						idf->profile->name),
				 errhint("min_length is for words that are given as text[].")));
	return (int) length;
}

/*
 * The entries of a value as weights, in an array with room for more; fails
 * when they are damaged.
 */
static ShIdfEntry *
read_weights(const ShIdf *idf, uint64 more)
{
	ShIdfEntry *entries;
	ShIdfReader reader;
	uint64		n = 0;

	simhash_check_idf_entries(idf->entries + more);
	entries = MemoryContextAllocHuge(CurrentMemoryContext,
									 (idf->entries + more + 1) *
									 sizeof *entries);
	sh_idf_read(&reader, idf);
	while (sh_idf_next(&reader, &entries[n]))
	{
		CHECK_FOR_INTERRUPTS();
		entries[n].value = sh_idf_entry_weight(idf, &entries[n]);
		n++;
	}
	simhash_check_idf(reader.left == 0);
	return entries;
}

/*
 * Add stop words, which weigh 0, to n entries; of one that is there already
 * the 0 stays.  Returns the number of entries.
 */
static uint64
add_stop_words(const ShIdf *idf, ShIdfEntry *entries, uint64 n,
			   const Datum *words, int nwords)
{
	uint64		kept = 0;

	for (int i = 0; i < nwords; i++)
	{
		CHECK_FOR_INTERRUPTS();
		entries[n].hash = simhash_hash_text(idf->profile, words[i]);
		entries[n++].value = 0;
	}
	sort_idf_entries(entries, n);
	for (uint64 i = 0; i < n; i++)
	{
		if (kept == 0 || entries[kept - 1].hash != entries[i].hash)
			entries[kept++] = entries[i];
		else
			entries[kept - 1].value = Min(entries[kept - 1].value,
										  entries[i].value);
	}
	return kept;
}

/*
 * simhash_idf_with(idf simhash_idf, stop_words text[] DEFAULT NULL,
 *		min_length bigint DEFAULT NULL, unknown text DEFAULT NULL)
 *		-> simhash_idf
 *
 * The weights of a value with other choices, of which those that are NULL stay
 * as they are: features that weigh nothing, the characters of the shortest
 * word that counts, and what features weigh that are not in it: the median or
 * the mean of all, or a number.  They are given weights: such values do not
 * add up.
 *
 * Errors: as simhash(features, weights) for the array,
 * invalid_parameter_value for other arguments out of range.
 */
Datum
simhash_idf_with(PG_FUNCTION_ARGS)
{
	ShIdf		idf;
	ShIdfEntry *entries;
	Datum	   *words = NULL;
	int			nwords = 0;
	uint32		fallback;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	simhash_open_idf(&idf, PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
	if (!PG_ARGISNULL(1))
		nwords = simhash_get_texts(PG_GETARG_ARRAYTYPE_P(1), "stop words",
								   &words);
	if (!PG_ARGISNULL(2))
		idf.shortest = chosen_length(PG_GETARG_INT64(2), &idf);
	entries = read_weights(&idf, (uint64) nwords);
	fallback = PG_ARGISNULL(3) ? sh_idf_unknown_weight(&idf) :
		chosen_weight(PG_GETARG_TEXT_PP(3), entries, idf.entries);
	idf.entries = add_stop_words(&idf, entries, idf.entries, words, nwords);
	idf.kind = SH_IDF_GIVEN;
	idf.documents = 0;
	idf.fallback = fallback;
	PG_RETURN_POINTER(simhash_make_idf(&idf, entries));
}

/*
 * simhash_idf_stats(simhash_idf)
 *		-> (profile text, documents bigint, features bigint,
 *			unknown double precision, min_length integer)
 *
 * What is in a value: the profile (NULL for words that are given as arrays),
 * how many documents it was learnt from (NULL when it was given), how many
 * features it knows, what the others weigh, and how many characters a word
 * must have to count.
 */
Datum
simhash_idf_stats(PG_FUNCTION_ARGS)
{
	ShIdf		idf;
	TupleDesc	desc;
	Datum		values[5];
	bool		nulls[5] = {false};

	(void) get_call_result_type(fcinfo, NULL, &desc);
	simhash_open_idf(&idf, PG_DETOAST_DATUM_PACKED(PG_GETARG_DATUM(0)));
	values[0] = CStringGetTextDatum(idf.profile->name);
	nulls[0] = idf.profile == &sh_no_profile;
	values[1] = Int64GetDatum((int64) idf.documents);
	nulls[1] = idf.kind == SH_IDF_GIVEN;
	values[2] = Int64GetDatum((int64) idf.entries);
	values[3] = Float8GetDatum((double) sh_idf_unknown_weight(&idf) /
							   SH_IDF_ONE);
	values[4] = Int32GetDatum(sh_profile_given(idf.profile) ? idf.shortest : 1);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
