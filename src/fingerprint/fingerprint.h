/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *		From a document to its features, and to its fingerprint.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_FINGERPRINT_H
#define SIMHASH_FINGERPRINT_H

#include "simhash.h"

#include "utils/array.h"

#include "core/foreign/recipes.h"
#include "core/fingerprint/bag.h"
#include "core/fingerprint/document.h"
#include "core/fingerprint/wide.h"

/* What a text is handed to, in slices. */
typedef void (*SimhashReader) (void *state, const unsigned char *bytes,
							   Size length);

/* What the hashes of features are handed to; false when it has enough. */
typedef bool (*SimhashHashReader) (void *state, const uint64 *hashes,
								   size_t n);

/* A way from a document to its fingerprint; false when it has none. */
typedef bool (*SimhashFamily) (const ShProfile *profile, text *document,
							   uint64 *fingerprint);

/* The same to a fingerprint of so many words. */
typedef bool (*SimhashWideFamily) (const ShProfile *profile, text *document,
								   int words, uint64 *fingerprint);

/* How similar two documents are, by their features. */
typedef enum SimhashMeasure
{
	SIMHASH_JACCARD,			/* of the sets */
	SIMHASH_COSINE,				/* of the weights */
	SIMHASH_NO_MEASURE			/* they are not compared */
} SimhashMeasure;

/* A feature of a document, or of an array. */
typedef struct SimhashFeature
{
	uint64		hash;			/* the key of a hash table */
	int			ordinal;		/* in the order of first occurrence */
	int64		weight;			/* of an array's: times SH_IDF_ONE */
	text	   *feature;
} SimhashFeature;

/* fingerprint.c */
extern PGDLLEXPORT Datum simhash(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum simhash_by_profile(PG_FUNCTION_ARGS);
extern const ShProfile *simhash_get_profile(text *name);
extern MemoryContext simhash_lasting_context(MemoryContextCallbackFunction forget);
extern ShDocument *simhash_begin_document(const ShProfile *profile);
extern bool simhash_remembered(SimhashWideFamily family,
							   const ShProfile *profile, text *document,
							   int words, uint64 *result);
extern bool simhash_fingerprint(const ShProfile *profile, text *document,
								uint64 *result);

/* hashes.c */
extern void simhash_read_hashes(ShDocument *workspace, text *document,
								SimhashHashReader read, void *state);

/* utf8.c */
extern void simhash_read_utf8(const char *bytes, Size length,
							  SimhashReader read, void *state);
extern const unsigned char *simhash_whole_utf8(const char *bytes,
											   Size *length);
extern void simhash_pause(void);
extern uint64 simhash_hash_feature(const ShProfile *profile,
								   const char *bytes, Size length);
extern text *simhash_feature_text(const unsigned char *bytes, Size length);

/* features.c */
extern SimhashFeature **simhash_list_features(const ShProfile *profile,
											  text *document, int *n);

/* compat_profiles.c */
extern void simhash_compat_begin(ShCompat *compat, const ShProfile *profile,
								 text *document);
extern void simhash_compat_end(ShCompat *compat, text *document);
extern bool simhash_compat_fingerprint(const ShProfile *profile,
									   text *document, uint64 *fingerprint);
extern text *simhash_compat_feature(const ShCompat *compat);

/* arrays.c */
extern int	simhash_get_elements(ArrayType *array, Oid type, int16 length,
								 bool byval, char align, const char *what,
								 Datum **elements);
extern double simhash_check_weight(double weight);
extern int	simhash_get_pairs(ArrayType *features_array,
							  ArrayType *weights_array,
							  Datum **features, Datum **weights);

/* similarity.c */
extern void simhash_init_bag(ShBag *bag, void *(*allocate) (size_t bytes));
extern void simhash_fill_bag(ShBag *bag, const ShProfile *profile,
							 text *document);
extern void simhash_fill_bag_of(ShBag *bag, ArrayType *features);
extern bool simhash_compare_features(SimhashMeasure measure, const ShBag *bag,
									 const ShFeatures *list,
									 double *similarity);
extern bool simhash_exact_similarity(SimhashMeasure measure,
									 const ShProfile *profile, text *a,
									 text *b, double *similarity);

/* wide.c */
extern PGDLLEXPORT Datum simhash_bits(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum minhash_bits(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum minhash_features_bits(PG_FUNCTION_ARGS);
extern int	simhash_words(int64 bits);
extern int	simhash_words_argument(FunctionCallInfo fcinfo, int i);
extern Datum simhash_make_bits(const uint64 *fingerprint, int words);
extern bool simhash_wide_fingerprint(const ShProfile *profile, text *document,
									 int words, uint64 *result);

/* minhash.c */
extern PGDLLEXPORT Datum minhash(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum minhash_by_profile(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum minhash_features(PG_FUNCTION_ARGS);
extern int	simhash_hash_set(ArrayType *array, uint64 **hashes);
extern bool simhash_minhash(const ShProfile *profile, text *document,
							uint64 *result);

#endif							/* SIMHASH_FINGERPRINT_H */
