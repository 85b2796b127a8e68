/*-------------------------------------------------------------------------
 *
 * bag.h
 *		The features of a document with their weights, and what two documents
 *		have in common.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_BAG_H
#define SH_BAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text/profile.h"

/*
 * The features of a document, numbered from 1 as they first occur.  Feature i
 * has occurred counts[i] times since the section began, and weights[i] is what
 * it weighed in those before; in the end, all that it weighs.  The multiplier,
 * odd and best chosen at random, is as that of ShTally.  All is zero at first,
 * but for what the caller sets.
 */
typedef struct ShBag
{
	/* set by the caller, once; "allocate" may leave by longjmp */
	void	   *(*allocate) (void *context, size_t bytes);
	void		(*release) (void *memory);
	void	   *context;
	uint64_t	multiplier;

	/* the features of this document */
	ShDamping	damping;
	uint32_t	seen;			/* occurrences since the section began */
	size_t		n;				/* features */
	size_t		room;			/* of the arrays, with that for number 0 */
	uint64_t   *hashes;
	uint32_t   *counts;			/* behind the hashes; 0 for those to come */
	uint32_t   *weights;		/* behind the counts */
	size_t		slots;			/* of the table in use, a power of two */
	size_t		slots_room;		/* that there is memory for */
	uint32_t   *table;			/* numbers of features; 0: free */
	uint64_t	squares;		/* in the end: of the weights, their sum */
	uint64_t	total;			/* and that of the weights */
} ShBag;

/* The features of a document as a list: those of a bag, or what was kept. */
typedef struct ShFeatures
{
	size_t		n;
	uint64_t	squares;		/* of the weights, their sum */
	uint64_t	total;			/* the sum of the weights */
	const uint64_t *hashes;
	const uint32_t *weights;
} ShFeatures;

/* What a bag and a list have in common. */
typedef struct ShOverlap
{
	uint64_t	common;			/* features */
	uint64_t	dot;			/* the sum of the products of their weights */
	uint64_t	least;			/* and of the smaller ones of these */
} ShOverlap;

/* Those of a bag, as long as it does not change. */
static inline ShFeatures
sh_bag_features(const ShBag *bag)
{
	ShFeatures	list = {bag->n, bag->squares, bag->total, NULL, NULL};

	if (bag->n > 0)
	{
		list.hashes = bag->hashes + 1;
		list.weights = bag->weights + 1;
	}
	return list;
}

extern void sh_bag_begin(ShBag *bag, ShDamping damping);
extern void sh_bag_add(ShBag *bag, const uint64_t *hashes, size_t n);
extern void sh_bag_end(ShBag *bag);
extern void sh_bag_load(ShBag *bag, const ShFeatures *list);
extern bool sh_bag_jaccard(const ShBag *bag, const ShFeatures *list,
						   void (*pause) (void), double *similarity);
extern ShOverlap sh_bag_overlap(const ShBag *bag, const ShFeatures *list,
								void (*pause) (void));
extern bool sh_bag_cosine(const ShBag *bag, const ShFeatures *list,
						  void (*pause) (void), double *similarity);

#endif							/* SH_BAG_H */
