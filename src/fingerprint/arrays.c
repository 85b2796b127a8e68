/*-------------------------------------------------------------------------
 *
 * arrays.c
 *		Arrays of features and of weights that a user passes, read and checked.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/builtins.h"

/* Fails unless the weight is finite. */
double
simhash_check_weight(double weight)
{
	if (!isfinite(weight))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("weight must be finite"),
				 isnan(weight) ? errdetail("A weight is NaN.") :
				 errdetail("A weight is infinite."),
				 errhint("A feature that should not count can be left out, or weigh 0.")));
	return weight;
}

/*
 * Get the elements of an array of one dimension (or empty) without NULLs;
 * fails if it is not one.  "what" names the elements in messages.
 */
int
simhash_get_elements(ArrayType *array, Oid type, int16 length, bool byval,
					 char align, const char *what, Datum **elements)
{
	int			n;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("array of %s must have one dimension", what),
				 errdetail("It has %d dimensions.", ARR_NDIM(array))));
	if (array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array of %s must not contain nulls", what),
				 errhint("array_remove(array, NULL) removes them.")));
	deconstruct_array(array, type, length, byval, align, elements, NULL, &n);
	return n;
}

/* The same of an array of texts, or of a type that is stored as text is. */
int
simhash_get_texts(ArrayType *array, const char *what, Datum **texts)
{
	return simhash_get_elements(array, ARR_ELEMTYPE(array), -1, false,
								TYPALIGN_INT, what, texts);
}

/* The names of columns in an argument, as strings. */
List	   *
simhash_get_columns(ArrayType *array, const char *argument)
{
	List	   *columns = NIL;
	Datum	   *values;
	int			n = simhash_get_texts(array, psprintf("names in argument \"%s\"", argument), &values);

	for (int i = 0; i < n; i++)
		columns = lappend(columns, TextDatumGetCString(values[i]));
	return columns;
}

/*
 * Get features and their weights from two arrays, the weights as doubles that
 * may still be of any value; fails unless there is one for each feature.
 * Without an array of weights *weights is NULL.
 */
int
simhash_get_pairs(ArrayType *features_array, ArrayType *weights_array,
				  Datum **features, Datum **weights)
{
	int			n = simhash_get_texts(features_array, "features", features);
	int			n_weights = n;

	*weights = NULL;
	if (weights_array != NULL)
		n_weights = simhash_get_elements(weights_array, FLOAT8OID,
										 sizeof(float8), FLOAT8PASSBYVAL,
										 TYPALIGN_DOUBLE, "weights", weights);
	if (n != n_weights)
		ereport(ERROR,
				(errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				 errmsg("arrays of features and of weights must have the same length"),
				 errdetail("There are %d features and %d weights.",
						   n, n_weights),
				 errhint("array_agg() over the same rows makes arrays that agree.")));
	return n;
}
