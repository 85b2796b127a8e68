/*-------------------------------------------------------------------------
 *
 * windows.c
 *		Tokens -> features, and their hashes.
 *
 * A feature is a window of successive tokens, as the bytes of the normalised
 * text from the start of the first to the end of the last; its hash is the
 * XXH3 (64 bits, with the seed of the profile) of those bytes.
 *
 * XXH3 is several algorithms, by the length of what is hashed.  Which one a
 * feature needs is as good as random, so that the processor, which must guess,
 * is often wrong, and a wrong guess costs more than a hash.  So the lengths of
 * 64 features are compared at once, with the vectors that every x86-64 and
 * every AArch64 has, and three masks tell which features are brief (up to 8
 * bytes), of middle length (up to 16) and lengthy.  Then the bits of each mask
 * are taken one by one, by a loop that knows what length to expect, and the
 * processor works on several features at once.
 *
 * For example, "the", "quick fox", "an", "jumped over the dog" give the masks
 * 0101, 0010 and 1000, the first feature on the right: "the" and "an" are
 * hashed, then "quick fox", then "jumped over the dog".  Each hash goes where
 * its feature's place is.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/windows.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/bits.h"
#include "core/lanes.h"

#if XXH_VERSION_NUMBER < 800
#error "simhash needs xxHash 0.8 or later, of which XXH3 stays the same"
#endif

/* Windows of one size, ending with successive tokens. */
typedef struct ShRun
{
	const unsigned char *bytes;
	const uint16_t *starts;		/* where the windows start ... */
	const uint16_t *ends;		/* ... and end; SH_LANES more can be read */
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
next_feature(ShWindows *windows, ShFeature *feature)
{
	const ShText *text = windows->text;

	if (windows->whole)
	{
		windows->whole = false;
		feature->start = text->starts[0];
		feature->end = text->ends[text->ntokens - 1];
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
			feature->start = text->starts[last + 1 - size];
			feature->end = text->ends[last];
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
sh_windows_next(ShWindows *windows, ShFeature *features)
{
	size_t		n = 0;

	while (n < SH_BATCH && next_feature(windows, &features[n]))
		n++;
	return n;
}

/*
 * Part of the specification: the hash of some bytes.  XXH3 of a few bytes can be
 * inverted, and the fingerprint of a single feature is its hash.  So that it does
 * not give away the seed, this is mixed in before and behind.
 */
static inline uint64_t
hash_bytes(const unsigned char *bytes, size_t length, uint64_t seed)
{
	uint64_t	hash = XXH3_64bits_withSeed(bytes, length, seed);

	return seed == 0 ? hash :
		sh_mix(hash ^ sh_mix(seed)) ^ sh_mix(seed + SH_SCRAMBLE);
}

/* The hash of a feature. */
uint64_t
sh_feature_hash(const ShProfile *profile, const unsigned char *feature,
				size_t length)
{
	return hash_bytes(feature, length, profile->seed);
}

/*
 * Hash the windows in the mask, whose lengths are all from least to most.  To
 * be inlined with constants for both, so that little of XXH3 is left.
 */
static inline __attribute__((always_inline))
void
hash_masked(const unsigned char *bytes, const uint16_t *starts,
			const uint16_t *lengths, uint64_t mask, uint64_t *hashes,
			size_t step, size_t least, size_t most, uint64_t seed)
{
	for (; mask != 0; mask &= mask - 1)
	{
		size_t		which = (size_t) __builtin_ctzll(mask);
		size_t		length = lengths[which];

		if (length < least || length > most)
			__builtin_unreachable();
		hashes[which * step] = hash_bytes(bytes + starts[which], length, seed);
	}
}

/* Hash a run of windows.  To be inlined with 0 as the seed, or with another. */
static inline __attribute__((always_inline))
void
hash_seeded(const ShRun *run, uint64_t seed)
{
	const unsigned char *bytes = run->bytes;
	size_t		step = run->step;

	for (size_t i = 0; i < run->n; i += SH_LANES)
	{
		const uint16_t *starts = run->starts + i;
		uint64_t   *hashes = run->hashes + i * step;
		uint16_t	lengths[SH_LANES];
		uint64_t	all = UINT64_MAX;
		uint64_t	brief;
		uint64_t	up_to_16;

		for (int j = 0; j < SH_LANES; j++)
			lengths[j] = (uint16_t) (run->ends[i + j] - starts[j]);
		brief = sh_at_most(lengths, 8);
		up_to_16 = sh_at_most(lengths, 16);
		if (run->n - i < SH_LANES)
			all = (UINT64_C(1) << (run->n - i)) - 1;
		hash_masked(bytes, starts, lengths, all & brief, hashes, step, 1, 8,
					seed);
		hash_masked(bytes, starts, lengths, all & up_to_16 & ~brief, hashes,
					step, 9, 16, seed);
		hash_masked(bytes, starts, lengths, all & ~up_to_16, hashes, step,
					17, SIZE_MAX, seed);
	}
}

/* The two ways. */
static __attribute__((flatten))
void
hash_run(const ShRun *run)
{
	hash_seeded(run, 0);
}

static __attribute__((flatten))
void
hash_run_seeded(const ShRun *run, uint64_t seed)
{
	hash_seeded(run, seed);
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
	ShFeature	feature;

	/* The first tokens of a document do not end windows of every size. */
	while ((windows->whole || windows->last + 1 < max ||
			windows->size != windows->profile->min) &&
		   n < SH_BATCH && next_feature(windows, &feature))
		hashes[n++] = sh_feature_hash(windows->profile,
									  text->bytes + feature.start,
									  feature.end - feature.start);

	run.bytes = text->bytes;
	run.ends = text->ends + windows->last;
	run.step = max - min + 1;
	run.n = (SH_BATCH - n) / run.step;
	if (run.n > text->ntokens - windows->last)
		run.n = text->ntokens - windows->last;
	for (size_t size = min; size <= max && run.n > 0; size++)
	{
		run.starts = text->starts + windows->last + 1 - size;
		run.hashes = hashes + n + (size - min);
		if (windows->profile->seed == 0)
			hash_run(&run);
		else
			hash_run_seeded(&run, windows->profile->seed);
	}
	windows->last += run.n;
	return n + run.n * run.step;
}
