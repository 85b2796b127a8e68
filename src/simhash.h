/*-------------------------------------------------------------------------
 *
 * simhash.h
 *		What the files of the extension share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_H
#define SIMHASH_H

#include "postgres.h"

#include "access/tupdesc.h"
#include "fmgr.h"
#include "nodes/pathnodes.h"
#include "storage/itemptr.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "compat.h"
#include "core/bits.h"
#include "core/compat.h"
#include "core/document.h"
#include "core/idf.h"

/*
 * Where it can, the compiler makes two versions of a function and lets the
 * dynamic linker choose: one for processors with a population count
 * instruction, one for the others.  Elsewhere the instruction belongs to the
 * baseline (on ARM, say), or the compiler's own code does the counting.
 * Clang will not clone a function that has been declared before.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && \
	defined(__GNUC__) && !defined(__clang__)
#define SIMHASH_POPCOUNT_CLONES __attribute__((target_clones("popcnt", "default")))
#else
#define SIMHASH_POPCOUNT_CLONES
#endif

/* What is sought: the rows within the radius of the center. */
typedef struct SimhashBall
{
	int64		center;
	int32		radius;
} SimhashBall;

/* The operators of Hamming search, by the shape of their arguments. */
typedef enum SimhashOperator
{
	SIMHASH_NOT_OURS,
	SIMHASH_NEAR,				/* bigint ~= bigint */
	SIMHASH_WITHIN,				/* bigint <@ hamming_ball */
	SIMHASH_CONTAINS,			/* hamming_ball @> bigint */
	SIMHASH_BALLS_NEAR			/* hamming_ball ~= hamming_ball */
} SimhashOperator;

/* What a text is handed to, in slices. */
typedef void (*SimhashReader) (void *state, const unsigned char *bytes,
							   Size length);

/* What the hashes of features are handed to; false when it has enough. */
typedef bool (*SimhashHashReader) (void *state, const uint64 *hashes,
								   size_t n);

/* A way from a document to its fingerprint; false when it has none. */
typedef bool (*SimhashFamily) (const ShProfile *profile, text *document,
							   uint64 *fingerprint);

/* A feature of a document, or of an array. */
typedef struct SimhashFeature
{
	uint64		hash;			/* the key of a hash table */
	int			ordinal;		/* in the order of first occurrence */
	int64		weight;			/* of an array's: times SH_IDF_ONE */
	text	   *feature;
} SimhashFeature;

/* fingerprint.c */
extern const ShProfile *simhash_get_profile(text *name);
extern ShDocument *simhash_begin_document(const ShProfile *profile);
extern bool simhash_remembered(SimhashFamily family, const ShProfile *profile,
							   text *document, uint64 *result);
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

/* words.c */
extern const ShIdfTable *simhash_words_idf(FunctionCallInfo fcinfo, int i);
extern void simhash_check_word(const ShIdfTable *table, ShDocument *workspace,
							   text *word);
extern bool simhash_word_counts(const ShIdfTable *table, text *word);
extern SimhashFeature **simhash_list_words(const ShIdfTable *table,
										   ArrayType *words, int *n);

/* compat_profiles.c */
extern void simhash_compat_begin(ShCompat *compat, const ShProfile *profile,
								 text *document);
extern void simhash_compat_end(ShCompat *compat, text *document);
extern bool simhash_compat_fingerprint(const ShProfile *profile,
									   text *document, uint64 *fingerprint);
extern text *simhash_compat_feature(const ShCompat *compat);

/* weighted.c */
extern int	simhash_get_elements(ArrayType *array, Oid type, int16 length,
								 bool byval, char align, const char *what,
								 Datum **elements);
extern double simhash_check_weight(double weight);
extern int	simhash_get_pairs(ArrayType *features_array,
							  ArrayType *weights_array,
							  Datum **features, Datum **weights);

/* idf.c */
extern void simhash_open_idf(ShIdf *idf, struct varlena *value);
extern struct varlena *simhash_make_idf(const ShIdf *idf, ShIdfEntry *entries);
extern void simhash_check_idf_entries(uint64 entries);

/* idf_table.c */
extern const ShIdfTable *simhash_idf_table(Datum datum);
extern const ShIdfTable *simhash_document_idf(Datum datum);

/* tfidf.c */
extern void simhash_apply_idf(const ShIdfTable *table, ShIdfEntry *entries,
							  size_t n);
extern size_t simhash_take_top(const ShIdfTable *table, ShIdfEntry *entries,
							   size_t n, size_t k);
extern size_t simhash_top_argument(FunctionCallInfo fcinfo, int i);
extern Datum simhash_fingerprint_entries(FunctionCallInfo fcinfo,
										 const ShIdfEntry *entries, size_t n);

/* minhash.c */
extern bool simhash_minhash(const ShProfile *profile, text *document,
							uint64 *result);

/* ball.c */
extern int	simhash_check_radius(int64 radius);
extern bool simhash_get_ball(Datum datum, SimhashBall *ball);
extern Datum simhash_make_ball(TupleDesc desc, const SimhashBall *ball);
extern bool simhash_ball_parts(PlannerInfo *root, Node *ball,
							   Node **center, Node **radius);
extern int	simhash_known_radius(Node *radius, int otherwise);

/* distance.c */
extern SimhashOperator simhash_operator(Oid function);
extern bool simhash_makes_ball(Oid function);
extern bool simhash_is_distance(Oid function);

/* hamming_am.c */
extern void hamming_init(void);

/* guard_lock.c */
extern void simhash_guard_inserted(Relation heap, Oid index,
								   uint64 fingerprint, ItemPointer tid);

/* keys.c */
extern bool simhash_is_key(Node *expression, Node **fingerprint, int *block);

/* key_paths.c */
extern RangeTblEntry *simhash_table_entry(PlannerInfo *root, RelOptInfo *rel);
extern bool simhash_find_keys(PlannerInfo *root, RelOptInfo *rel,
							  Node *operand, Expr *columns[SH_BLOCKS]);
extern void simhash_install_key_paths(void);

/* seq_scan.c */
extern void simhash_install_seq_scan(void);

#endif							/* SIMHASH_H */
