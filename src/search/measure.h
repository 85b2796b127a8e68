/*-------------------------------------------------------------------------
 *
 * measure.h
 *		How similar near-duplicates must be by their documents, as the guard
 *		and the reports are told by "similarity" and "at_least".
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_MEASURE_H
#define SIMHASH_MEASURE_H

#include "fingerprint/fingerprint.h"

/* "at_least" where only "similarity" is given. */
#define SIMHASH_AT_LEAST	0.8

/* How an expression makes a fingerprint of a document. */
typedef struct SimhashDerivation
{
	SimhashMeasure measure;		/* that distances estimate */
	const ShProfile *profile;	/* the default one for text[] */
	Node	   *document;		/* of type text or text[] */
} SimhashDerivation;

/* measure.c */
extern SimhashMeasure simhash_get_measure(const char *similarity,
										  const SimhashDerivation *derived);
extern double simhash_check_at_least(double at_least);
extern const char *simhash_measure_name(SimhashMeasure measure);
extern bool simhash_get_derivation(Node *expression,
								   SimhashDerivation *derived);

#endif							/* SIMHASH_MEASURE_H */
