/*-------------------------------------------------------------------------
 *
 * libsimhash.h
 *		The fingerprints of the extension simhash, without PostgreSQL.
 *
 * Whatever these functions compute is, bit for bit, what the extension's functions
 * of the same names compute in a database in UTF-8: docs/fingerprint.md specifies it,
 * and names the profiles.
 *
 * A simhasher is what one thread works with: threads may each have one, and must not
 * share one.  What functions return pointers to belongs to it, and stays as it is up
 * to the next call with it, which must not be given it as a text: copy it, or have two
 * simhashers; profiles stay until it is closed.
 *
 * Texts are UTF-8 without a byte 0, of up to SIMHASHER_TEXT_MAX bytes; what the server
 * would refuse is an error.  A function that can fail returns, or sets its result to,
 *
 *	SIMHASHER_OK		there is a result
 *	SIMHASHER_NONE		there is none, where SQL has NULL: a text has no feature
 *	SIMHASHER_INVALID	a text is no UTF-8, or has a byte 0
 *	SIMHASHER_NO_MEMORY	there is no memory
 *	SIMHASHER_ERROR		something else is wrong
 *
 * of which the last three are negative, and simhasher_error() says more.
 *
 * The library opens no file, starts no thread, and prints nothing.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef LIBSIMHASH_H
#define LIBSIMHASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define SIMHASHER_API	extern "C" __attribute__((visibility("default")))
#else
#define SIMHASHER_API	extern __attribute__((visibility("default")))
#endif

#define SIMHASHER_OK		1
#define SIMHASHER_NONE		0
#define SIMHASHER_ERROR		(-1)
#define SIMHASHER_INVALID	(-2)
#define SIMHASHER_NO_MEMORY	(-3)

/* Families of fingerprints: simhash() and minhash(). */
#define SIMHASHER_SIMHASH	0
#define SIMHASHER_MINHASH	1

/* Limits: bytes of a text, and words of 64 bits of a fingerprint. */
#define SIMHASHER_TEXT_MAX	((size_t) 0x3fffffff)
#define SIMHASHER_WORDS_MAX	16

typedef struct simhasher simhasher;
typedef struct simhasher_profile simhasher_profile;

/* A passage of a text: its place and length in bytes, and its MinHash. */
typedef struct simhasher_passage
{
	size_t		start;
	size_t		length;
	uint64_t	fingerprint;
	int			exists;			/* SIMHASHER_OK or SIMHASHER_NONE */
} simhasher_passage;

/*
 * Open one; NULL when there is no memory.  No result depends on the secret, which
 * keeps authors of texts from making features that are taken for one another, or
 * slow: a random number, or 0 where nobody would.
 */
SIMHASHER_API simhasher *simhasher_open(uint64_t secret);
SIMHASHER_API void simhasher_close(simhasher *hasher);

/* What was wrong in the last call that failed. */
SIMHASHER_API const char *simhasher_error(const simhasher *hasher);

/*
 * The profile of a name, as "word-2-html-fold-seed-4711", or of NULL, the default
 * one; NULL when there is none, or no memory: simhasher_error() says which.
 */
SIMHASHER_API const simhasher_profile *simhasher_find_profile(simhasher *hasher,
															  const char *name);

/*
 * The fingerprint of a text by a family, of 64 to 1024 bits, in words of 64 bits.
 * The first one is the bigint of SQL, as a number without a sign; a bit string of SQL
 * begins with the highest bit of the first word.
 */
SIMHASHER_API int simhasher_fingerprint(simhasher *hasher,
										const simhasher_profile *profile, int family,
										const char *text, size_t length, int bits,
										uint64_t *fingerprint);

/* How many different features a text has: the rows of simhash_features(). */
SIMHASHER_API int simhasher_count_features(simhasher *hasher,
										   const simhasher_profile *profile,
										   const char *text, size_t length,
										   size_t *features);

/* The text with its letters folded; that of a page of HTML, or of its article. */
SIMHASHER_API int simhasher_fold(simhasher *hasher, const char *text, size_t length,
								 const char **result, size_t *result_length);
SIMHASHER_API int simhasher_html(simhasher *hasher, const char *page, size_t length,
								 int article, const char **result,
								 size_t *result_length);

/* How similar the features of two texts are, as sets and as weights. */
SIMHASHER_API int simhasher_jaccard(simhasher *hasher,
									const simhasher_profile *profile,
									const char *a, size_t a_length,
									const char *b, size_t b_length, double *similarity);
SIMHASHER_API int simhasher_cosine(simhasher *hasher, const simhasher_profile *profile,
								   const char *a, size_t a_length,
								   const char *b, size_t b_length, double *similarity);

/*
 * The passages of a text, of so many words on average, from 4 to 1000, and the text
 * that they are of: by a profile of pages that of simhasher_html().
 */
SIMHASHER_API int simhasher_passages(simhasher *hasher,
									 const simhasher_profile *profile,
									 const char *text, size_t length, int words,
									 const char **cut,
									 const simhasher_passage **passages, size_t *n);

/* In how many bits two fingerprints of so many words differ. */
SIMHASHER_API int simhasher_distance(const uint64_t *a, const uint64_t *b, int words);

#endif							/* LIBSIMHASH_H */
