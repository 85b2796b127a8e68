/*-------------------------------------------------------------------------
 *
 * borders.h
 *		Words -> borders of passages.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_BORDERS_H
#define SH_BORDERS_H

#include "core/text/word_places.h"

/* Limits of the words of a passage, on average. */
#define SH_PASSAGE_MIN	4
#define SH_PASSAGE_MAX	1000

/* Part of the specification: a passage has so many times the mean, at most. */
#define SH_PASSAGE_MOST	4

/* Room for the border hashes within reach, a power of two. */
#define SH_REACH_ROOM	4096

/* A place where a passage may begin: in quarters, characters, and bytes. */
typedef struct ShBorder
{
	uint64_t	hash;
	uint64_t	at;
	uint32_t	start;
	uint32_t	byte;
} ShBorder;

/* What the borders are handed to, in their order. */
typedef void (*ShBorderSink) (void *state, const ShBorder *border);

/* A document being cut. */
typedef struct ShPassages
{
	/* set as a document begins */
	uint64_t	reach;			/* quarters to which a border is the least */
	uint64_t	most;			/* quarters of a passage */
	ShBorderSink sink;
	void	   *state;

	/* how far it has been read */
	uint64_t	at;				/* quarters read */
	uint64_t	before;			/* hash of the last word */
	uint64_t	border;			/* where the passage being read begins */

	/* the least border hash within reach before the word that comes next */
	ShBorder	least;
	bool		hoped;			/* it was less than those before it, too */

	bool		overdue;		/* the passage has become too long ... */
	ShBorder	forced;			/* ... here */

	/* the last border hashes, in a ring, and how many quarters before each */
	size_t		n;				/* of the document */
	uint64_t	hashes[SH_REACH_ROOM];
	uint64_t	places[SH_REACH_ROOM];
} ShPassages;

extern void sh_passages_begin(ShPassages *passages, int words,
							  ShBorderSink sink, void *state);
extern void sh_passages_add(ShPassages *passages, const ShWord *words,
							size_t n);
extern void sh_passages_end(ShPassages *passages);

#endif							/* SH_BORDERS_H */
