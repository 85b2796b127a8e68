/*-------------------------------------------------------------------------
 *
 * weights.h
 *		Features and weights of the user's own.
 *
 * In come features that are not those of a profile (text[], lexemes, hashes,
 * words that ICU has found), or weights for features: given, or learnt as
 * simhash_idf values from documents.  Out come fingerprints, bigint or bit
 * strings, and lists that explain them: features with their weights, and
 * keywords.
 *
 * Sums are exact, so no answer depends on the order of rows, on parallel
 * workers, or on a window that moves.  idf_type.c and idf_agg.c make simhash_idf
 * values, idf_cache.c prepares them for look-ups; tfidf.c, keywords.c and
 * words.c weigh by them; weighted.c and weighted_agg.c add up real weights.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_WEIGHTS_H
#define SIMHASH_WEIGHTS_H

#include "fingerprint/fingerprint.h"

#include "core/weights/exact.h"
#include "core/weights/idf.h"

/* words.c */
extern bool simhash_word_counts(const ShIdfTable *table, text *word);
extern void simhash_apply_idf(const ShIdfTable *table,
							  SimhashFeatures *features);
extern void simhash_list_words(SimhashFeatures *features,
							   const ShIdfTable *table, ArrayType *words);

/* idf_type.c */
extern void simhash_check_idf(bool whole);
extern void simhash_open_idf(ShIdf *idf, struct varlena *value);
extern struct varlena *simhash_make_idf(const ShIdf *idf, ShIdfEntry *entries);
extern void simhash_check_idf_entries(uint64 entries);

/* idf_cache.c */
extern const ShIdfTable *simhash_idf_table(FunctionCallInfo fcinfo, int i);
extern const ShIdfTable *simhash_document_idf(FunctionCallInfo fcinfo, int i);

/* tfidf.c */
extern size_t simhash_top_argument(FunctionCallInfo fcinfo, int i);
extern ShIdfEntry *simhash_feature_entries(const SimhashFeatures *features);

#endif							/* SIMHASH_WEIGHTS_H */
