/*-------------------------------------------------------------------------
 *
 * weights.h
 *		Features and weights of the user's own.
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

/* explain.c */
extern PGDLLEXPORT Datum simhash_min_features(PG_FUNCTION_ARGS);

/* weighted.c */
extern uint64 simhash_hash_text(const ShProfile *profile, Datum feature);
extern void simhash_begin_exact(ShExact *sums, MemoryContext context);
extern Datum simhash_return_exact(FunctionCallInfo fcinfo, ShExact *sums);

/* words.c */
extern const ShIdfTable *simhash_words_idf(FunctionCallInfo fcinfo, int i);
extern void simhash_check_word(const ShIdfTable *table, ShDocument *workspace,
							   text *word);
extern bool simhash_word_counts(const ShIdfTable *table, text *word);
extern SimhashFeature **simhash_list_words(const ShIdfTable *table,
										   ArrayType *words, int *n);

/* idf_type.c */
extern void simhash_open_idf(ShIdf *idf, struct varlena *value);
extern struct varlena *simhash_make_idf(const ShIdf *idf, ShIdfEntry *entries);
extern void simhash_check_idf_entries(uint64 entries);

/* idf_cache.c */
extern const ShIdfTable *simhash_idf_table(FunctionCallInfo fcinfo, int i);
extern const ShIdfTable *simhash_document_idf(FunctionCallInfo fcinfo, int i);

/* tfidf.c */
extern void simhash_apply_idf(const ShIdfTable *table, ShIdfEntry *entries,
							  size_t n);
extern size_t simhash_take_top(const ShIdfTable *table, ShIdfEntry *entries,
							   size_t n, size_t k);
extern size_t simhash_top_argument(FunctionCallInfo fcinfo, int i);
extern bool simhash_fingerprint_entries(const ShIdfEntry *entries, size_t n,
										int words, uint64 *result);

#endif							/* SIMHASH_WEIGHTS_H */
