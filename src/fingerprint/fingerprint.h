/*-------------------------------------------------------------------------
 *
 * fingerprint.h
 *		From a document to its features, and to its fingerprint.
 *
 * The SQL face of core/text, core/fingerprint and core/foreign.  In come texts, in
 * whatever encoding the database has, arrays of features, and names of profiles; out
 * go fingerprints, features, passages and exact similarities, to SQL and to the
 * wings above.  What is done here is what the core cannot: encodings, memory
 * contexts, interrupts, errors, and remembering the last documents of a transaction.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_FINGERPRINT_H
#define SIMHASH_FINGERPRINT_H

#include "simhash.h"

#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/tuplestore.h"

#include "core/foreign/foreign.h"
#include "core/fingerprint/bag.h"
#include "core/fingerprint/document.h"
#include "core/text/word_places.h"

/* What a text is handed to, in slices. */
typedef void (*SimhashReader) (void *state, const unsigned char *bytes,
							   Size length);

/* What the words of a document are handed to, some at a time. */
typedef void (*SimhashWordsReader) (void *state, const ShWord *words,
									size_t n);

/*
 * A way from a document to its fingerprint of so many words, which are set
 * anyway; false when it has none.
 */
typedef bool (*SimhashWideFamily) (const ShProfile *profile, text *document,
								   int words, uint64 *fingerprint);

/* A feature of a document, or of an array. */
typedef struct SimhashFeature
{
	uint64		hash;
	int64		weight;			/* of an array's: times SH_IDF_ONE */
	text	   *feature;
} SimhashFeature;

/* Features, in the order of their first occurrence; all zero at first. */
typedef struct SimhashFeatures
{
	SimhashFeature *list;
	int			n;
	int			allocated;
	ShTally    *numbers;		/* of each hash: where it is listed, from 1 */
} SimhashFeatures;

/* Add a row to those that a function returns. */
static inline void
simhash_put_row(FunctionCallInfo fcinfo, Datum *values, bool *nulls)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/* fingerprint.c */
extern ShProfiles simhash_known_profiles;
extern void simhash_profiles_init(void);
extern PGDLLEXPORT Datum simhash(PG_FUNCTION_ARGS);
extern const ShProfile *simhash_get_profile(text *name);
extern const ShProfile *simhash_comparing_profile(const ShProfile *profile);
extern const ShProfile *simhash_profile_argument(FunctionCallInfo fcinfo,
												 int i);
extern MemoryContext simhash_lasting_context(MemoryContextCallbackFunction forget);
extern bool simhash_is_copy(const StringInfoData *copy, text *document);
extern void simhash_make_copy(StringInfo copy, MemoryContext context,
							  text *document);
extern void simhash_init_tally(ShTally *tally, MemoryContext context);
extern ShDocument *simhash_begin_document(const ShProfile *profile);
extern Datum simhash_of_document(FunctionCallInfo fcinfo,
								 SimhashWideFamily family, int bits);
extern bool simhash_wide_fingerprint(const ShProfile *profile, text *document,
									 int words, uint64 *result);

/* hashes.c */
extern void simhash_read_hashes(ShDocument *workspace, text *document,
								ShHashReader read, void *state);

/* passages.c */
extern uint32 simhash_read_words(text *document, SimhashWordsReader read,
								 void *state);

/* utf8.c */
extern bool simhash_server_is_utf8(void);
extern void simhash_read_utf8(const char *bytes, Size length,
							  SimhashReader read, void *state);
extern const unsigned char *simhash_whole_utf8(const char *bytes,
											   Size *length);
extern void simhash_read_slices(const unsigned char *bytes, Size length,
								SimhashReader read, void *state);
extern void simhash_pause(void);
extern void *simhash_allocate(void *context, size_t bytes);
extern uint64 simhash_hash_feature(const ShProfile *profile,
								   const char *bytes, Size length);
extern uint64 simhash_hash_text(const ShProfile *profile, Datum feature);
extern text *simhash_feature_text(const unsigned char *bytes, Size length);

/* pages.c */
extern const unsigned char *simhash_visible_utf8(const ShProfile *profile,
												 text *document, const char *empty,
												 Size *length);
extern text *simhash_visible_text(const ShProfile *profile, text *document);
extern void simhash_read_text(const ShProfile *profile, text *document,
							  SimhashReader read, void *state);

/* features.c */
extern SimhashFeature *simhash_list_hash(SimhashFeatures *features,
										 uint64 hash);
extern void simhash_list_features(SimhashFeatures *features,
								  const ShProfile *profile, text *document);
extern void simhash_put_feature(FunctionCallInfo fcinfo, text *feature,
								double weight, uint64 hash);

/* compat_profiles.c */
extern void simhash_compat_begin(ShCompat *compat, const ShProfile *profile,
								 text *document);
extern void simhash_compat_end(ShCompat *compat, text *document);
extern text *simhash_compat_feature(const ShCompat *compat);

/* arrays.c */
extern int	simhash_get_elements(ArrayType *array, Oid type, int16 length,
								 bool byval, char align, const char *what,
								 Datum **elements);
extern int	simhash_get_texts(ArrayType *array, const char *what,
							  Datum **texts);
extern List *simhash_get_columns(ArrayType *array, const char *argument);
extern double simhash_check_weight(double weight);
extern int	simhash_get_pairs(ArrayType *features_array,
							  ArrayType *weights_array,
							  Datum **features, Datum **weights);

/* bags.c */
extern void simhash_init_bag(ShBag *bag, MemoryContext context);
extern void simhash_fill_bag(ShBag *bag, ShDamping damping,
							 const ShProfile *profile, text *document);
extern void simhash_fill_bag_of(ShBag *bag, ArrayType *features);

/* wide.c */
extern PGDLLEXPORT Datum simhash_bits(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum minhash_bits(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum minhash_features_bits(PG_FUNCTION_ARGS);
extern int	simhash_words(int64 bits);
extern int	simhash_words_argument(FunctionCallInfo fcinfo, int i);
extern Datum simhash_make_bits(const uint64 *fingerprint, int words);
extern Datum simhash_return(FunctionCallInfo fcinfo, bool exists,
							const uint64 *fingerprint, int words);

/* minhash.c */
extern PGDLLEXPORT Datum minhash(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum minhash_features(PG_FUNCTION_ARGS);
extern ShWalks simhash_walks;
extern int	simhash_hash_set(ArrayType *array, const ShProfile *profile,
							 uint64 **hashes);
extern bool simhash_wide_minhash(const ShProfile *profile, text *document,
								 int words, uint64 *result);

#endif							/* SIMHASH_FINGERPRINT_H */
