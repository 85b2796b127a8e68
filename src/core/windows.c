/*-------------------------------------------------------------------------
 *
 * windows.c
 *		Tokens -> features, and their hashes.
 *
 * A feature is a window of successive tokens, as the bytes of the normalised
 * text from the start of the first to the end of the last; its hash is the
 * XXH3 (64 bits, seed 0) of those bytes.
 *
 * XXH3 is several algorithms, by the length of what is hashed.  Which one a
 * feature needs is as good as random, so that the processor, which must guess,
 * is often wrong, and a wrong guess costs more than a hash.  So a batch of
 * features is sorted by length first, without a jump: the number of a feature
 * is appended to the lists of all lengths, of which only the right one grows.
 * Then each list is hashed by a loop that knows what length to expect, and the
 * processor works on several features at once.
 *
 * For example, "the", "quick fox", "an" with the lists brief (up to 8 bytes),
 * middle (up to 16) and lengthy: 0 is written to all three, and brief is now
 * one long; 1 is written behind it, and at the start of the other two, and
 * middle grows; 2 overwrites the 1 in brief, which grows.  Then brief holds 0
 * and 2, middle holds 1, and lengthy is empty.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "windows.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Windows of one size that end with successive tokens. */
typedef struct ShRun
{
	const unsigned char *bytes;
	const ShToken *first;		/* the first token of the first window */
	const ShToken *last;		/* ... and its last one */
	size_t		n;
	uint64_t   *hashes;			/* where its hash goes */
	size_t		step;			/* ... and how much further the next one */
} ShRun;

/*
 * Begin to enumerate the features that end with a fresh token.  "ended" tells
 * that the document has ended: one that is shorter than the shortest window
 * is then a single feature, whole.
 */
void
sh_windows_begin(ShWindows *windows, const ShProfile *profile,
				 const ShText *text, bool ended)
{
	windows->profile = profile;
	windows->text = text;
	windows->whole = ended && text->total > 0 &&
		text->total < (uint64_t) profile->min;
	windows->size = profile->min;
	windows->last = text->fresh;
}

/* Get one feature, as a range of text->bytes; false at the end. */
static inline bool
next_feature(ShWindows *windows, ShToken *feature)
{
	const ShText *text = windows->text;

	if (windows->whole)
	{
		windows->whole = false;
		feature->start = text->tokens[0].start;
		feature->end = text->tokens[text->ntokens - 1].end;
		windows->last = text->ntokens;
		return true;
	}
	while (windows->last < text->ntokens)
	{
		size_t		last = windows->last;
		size_t		size = (size_t) windows->size;

		if (++windows->size > windows->profile->max)
		{
			windows->size = windows->profile->min;
			windows->last++;
		}
		if (last + 1 >= size)
		{
			feature->start = text->tokens[last + 1 - size].start;
			feature->end = text->tokens[last].end;
			return true;
		}
	}
	return false;
}

/*
 * Get up to SH_BATCH features, as ranges of text->bytes, in the order of the
 * token that they end with, shorter ones first.  Returns 0 at the end.
 */
size_t
sh_windows_next(ShWindows *windows, ShToken *features)
{
	size_t		n = 0;

	while (n < SH_BATCH && next_feature(windows, &features[n]))
		n++;
	return n;
}

/* The hash of a feature. */
uint64_t
sh_feature_hash(const unsigned char *feature, size_t length)
{
	return XXH3_64bits(feature, length);
}

/*
 * Hash the listed windows, whose lengths are all from least to most.  To be
 * inlined with constants for both, so that little of XXH3 is left.
 */
static inline __attribute__((always_inline))
void
hash_list(const ShRun *run, const uint8_t * list, size_t n,
		  size_t least, size_t most)
{
	const unsigned char *bytes = run->bytes;
	const ShToken *first = run->first;
	const ShToken *last = run->last;
	uint64_t   *hashes = run->hashes;
	const size_t step = run->step;

	for (size_t i = 0; i < n; i++)
	{
		size_t		which = list[i];
		size_t		start = first[which].start;
		size_t		length = last[which].end - start;

		if (length < least || length > most)
			__builtin_unreachable();
		hashes[which * step] = XXH3_64bits(bytes + start, length);
	}
}

/* Hash a run of windows. */
static __attribute__((flatten))
void
hash_run(const ShRun *run)
{
	uint8_t		brief[SH_BATCH];
	uint8_t		middle[SH_BATCH];
	uint8_t		lengthy[SH_BATCH];
	size_t		nbrief = 0;
	size_t		nmiddle = 0;
	size_t		nlengthy = 0;

	for (size_t i = 0; i < run->n; i++)
	{
		size_t		length = run->last[i].end - run->first[i].start;

		brief[nbrief] = middle[nmiddle] = lengthy[nlengthy] = (uint8_t) i;
		nbrief += length <= 8;
		nmiddle += length - 9 <= 16 - 9;
		nlengthy += length > 16;
	}
	hash_list(run, brief, nbrief, 1, 8);
	hash_list(run, middle, nmiddle, 9, 16);
	hash_list(run, lengthy, nlengthy, 17, SIZE_MAX);
}

/*
 * The hashes of the next features, up to SH_BATCH, in the order in which
 * sh_windows_next gives the features.  Returns 0 at the end.
 */
size_t
sh_windows_hashes(ShWindows *windows, uint64_t *hashes)
{
	const ShText *text = windows->text;
	size_t		min = (size_t) windows->profile->min;
	size_t		max = (size_t) windows->profile->max;
	size_t		n = 0;
	ShRun		run;
	ShToken		feature;

	/* The first tokens of a document do not end windows of every size. */
	while ((windows->whole || windows->last + 1 < max ||
			windows->size != windows->profile->min) &&
		   n < SH_BATCH && next_feature(windows, &feature))
		hashes[n++] = sh_feature_hash(text->bytes + feature.start,
									  feature.end - feature.start);

	run.bytes = text->bytes;
	run.last = text->tokens + windows->last;
	run.step = max - min + 1;
	run.n = (SH_BATCH - n) / run.step;
	if (run.n > text->ntokens - windows->last)
		run.n = text->ntokens - windows->last;
	for (size_t size = min; size <= max && run.n > 0; size++)
	{
		run.first = run.last + 1 - size;
		run.hashes = hashes + n + (size - min);
		hash_run(&run);
	}
	windows->last += run.n;
	return n + run.n * run.step;
}
