/*-------------------------------------------------------------------------
 *
 * idf.h
 *		How rare features are: inverse document frequencies.
 *
 * The job of this folder: in come hashes of features with weights; out come
 * exact sums of them and fingerprints.  Weights are real numbers (exact.c), or
 * those of a simhash_idf value, whose bytes idf.c reads and writes, and which
 * idf_table.c looks up, idf_sums.c adds up, and idf_top.c compares.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_IDF_H
#define SH_IDF_H

#include "core/fingerprint/families.h"
#include "core/text/profile.h"

/* Part of the format. */
#define SH_IDF_VERSION		1

/* Limits of the work done. */
#define SH_IDF_ENTRIES_MAX	(UINT64_C(1) << 25) /* features of a value */
#define SH_IDF_DOCUMENTS_MAX UINT32_MAX
#define SH_IDF_ONE			65536	/* weights are multiples of 1 / this */
#define SH_IDF_WEIGHT_MAX	(INT32_MAX - 1) /* just below 32768 */
#define SH_IDF_SHORTEST_MAX	255 /* characters */
#define SH_IDF_STRETCH		65536	/* entries between two pauses */

/* Where the weights come from. */
typedef enum ShIdfKind
{
	SH_IDF_LEARNT,				/* from document frequencies */
	SH_IDF_GIVEN				/* from the user */
} ShIdfKind;

/*
 * A feature: a document frequency, or a weight times SH_IDF_ONE, which in a
 * document may have more than 32 bits.
 */
typedef struct ShIdfEntry
{
	uint64_t	hash;
	uint64_t	value;
} ShIdfEntry;

/* A stored value; see idf.c for its bytes. */
typedef struct ShIdf
{
	ShIdfKind	kind;
	const ShProfile *profile;	/* sh_profile_given() for words that are given */
	int			shortest;		/* characters of the shortest word that counts */
	uint32_t	documents;		/* learnt from; 0 when given */
	uint32_t	fallback;		/* weight of unknown features when given */
	uint64_t	entries;
	uint64_t	checksum;		/* of the payload */
	const unsigned char *payload;
	size_t		length;			/* of the payload */
} ShIdf;

/* The entries of a value, one by one. */
typedef struct ShIdfReader
{
	const unsigned char *next;
	const unsigned char *end;
	uint32_t	least;			/* of what an entry's value can be */
	uint32_t	most;
	uint64_t	left;
	bool		begun;
	uint64_t	hash;
} ShIdfReader;

/*
 * Features with their weights, times SH_IDF_ONE, in a table: as many as the 64
 * bytes have room for that a processor fetches at once.
 */
#define SH_IDF_BUCKET		5
typedef struct ShIdfBucket
{
	uint64_t	hashes[SH_IDF_BUCKET];
	uint32_t	weights[SH_IDF_BUCKET + 1]; /* the last: of all others */
} ShIdfBucket;

/*
 * A value prepared for look-ups.  The caller allocates the buckets, best at a
 * multiple of their size.
 */
typedef struct ShIdfTable
{
	ShIdfKind	kind;
	const ShProfile *profile;
	int			shortest;		/* as in ShIdf */
	uint64_t	multiplier;		/* odd; see ShTally */
	uint32_t	unknown;		/* weight of features that are not in it */
	size_t		n;				/* buckets */
	ShIdfBucket *buckets;
} ShIdfTable;

/* 64 sums of whole weights. */
typedef struct ShIdfSums
{
	uint64_t	total;
	uint64_t	ones[SH_BITS];
	uint32_t	low_total;		/* of what is not yet in the above */
	uint32_t	low[SH_BITS];
} ShIdfSums;

/* idf.c */
extern const char *sh_idf_open(ShProfiles *profiles, ShIdf *idf, const unsigned char *bytes,
							   size_t length);
extern const char *sh_idf_check(const ShIdf *idf, void (*pause) (void));
extern void sh_idf_read(ShIdfReader *reader, const ShIdf *idf);
extern bool sh_idf_next(ShIdfReader *reader, ShIdfEntry *entry);
extern size_t sh_idf_write(unsigned char *to, const ShIdf *idf,
						   const ShIdfEntry *entries);

extern uint32_t sh_idf_weight(uint32_t documents, uint32_t frequency);
extern uint32_t sh_idf_entry_weight(const ShIdf *idf, const ShIdfEntry *entry);
extern uint32_t sh_idf_unknown_weight(const ShIdf *idf);

/* idf_table.c */
extern size_t sh_idf_buckets(const ShIdf *idf);
extern bool sh_idf_fill(ShIdfTable *table, const ShIdf *idf,
						void (*pause) (void));
extern void sh_idf_look_up(const ShIdfTable *table, const uint64_t *hashes,
						   uint32_t *weights, size_t n);

/* idf_sums.c */
extern void sh_idf_sums_begin(ShIdfSums *sums);
extern void sh_idf_sums_add(ShIdfSums *sums, uint64_t hash, uint64_t weight);
extern void sh_idf_sums_add_all(ShIdfSums *sums, const uint64_t *hashes,
								const uint32_t *weights, size_t n);
extern bool sh_idf_sums_fingerprint(ShIdfSums *sums, uint64_t *fingerprint);

/* idf_top.c */
extern size_t sh_idf_take_top(ShIdfEntry *entries, size_t n, size_t k,
							  uint64_t seed, void (*pause) (void));

/*
 * Does an entry come before another one?  The heavier does; of equals, that
 * with the smaller mixed hash.  By the hashes themselves those of which the
 * high bits are zeros would come first, and so the high bits of fingerprints
 * would be zeros.  Part of the specification (docs/fingerprint.md).
 */
static inline bool
sh_idf_before(const ShIdfEntry *a, const ShIdfEntry *b)
{
	return (a->value > b->value) |
		((a->value == b->value) & (sh_mix(a->hash) < sh_mix(b->hash)));
}

#endif							/* SH_IDF_H */
