/*-------------------------------------------------------------------------
 *
 * windows.c
 *		Tokens -> features, and their hashes.
 *
 * A feature is a window of successive tokens, as the bytes of the normalised
 * text from the start of the first to the end of the last; its hash is the
 * XXH3 (64 bits, seed 0) of those bytes.
 *
 * XXH3 is four algorithms, by the length of what is hashed.  Which one a
 * feature needs is as good as random, so that the processor, which must guess,
 * is often wrong, and a wrong guess costs more than a hash.  So a batch of
 * features is sorted by length first, without a jump: the number of a feature
 * is appended to the lists of all lengths, of which only the right one grows.
 * Then each list is hashed by a loop that knows which algorithm it needs, and
 * the processor works on several features at once.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "windows.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* The lengths for which XXH3 has an algorithm of its own; longer ones. */
typedef enum ShLength
{
	UP_TO_3,
	UP_TO_8,
	UP_TO_16,
	UP_TO_128,
	LONGER,
	LENGTHS
} ShLength;

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

/*
 * Get up to SH_BATCH features, as ranges of text->bytes, in the order of the
 * token that they end with, shorter ones first.  Returns 0 at the end.
 */
size_t
sh_windows_next(ShWindows *windows, ShToken *features)
{
	const ShText *text = windows->text;
	size_t		n = 0;

	if (windows->whole)
	{
		windows->whole = false;
		features[0].start = text->tokens[0].start;
		features[0].end = text->tokens[text->ntokens - 1].end;
		windows->last = text->ntokens;
		return 1;
	}
	while (n < SH_BATCH && windows->last < text->ntokens)
	{
		if (windows->last + 1 >= (size_t) windows->size)
		{
			size_t		first = windows->last + 1 - (size_t) windows->size;

			features[n].start = text->tokens[first].start;
			features[n].end = text->tokens[windows->last].end;
			n++;
		}
		if (++windows->size > windows->profile->max)
		{
			windows->size = windows->profile->min;
			windows->last++;
		}
	}
	return n;
}

/* The hash of a feature. */
uint64_t
sh_feature_hash(const unsigned char *feature, size_t length)
{
	return XXH3_64bits(feature, length);
}

/*
 * Hash the features of a list, whose lengths are all from least to most.  To
 * be inlined with constants for both, so that only one algorithm of XXH3 is
 * left of it.
 */
static inline void
hash_list(const unsigned char *bytes, const ShToken *features,
		  const uint8_t * list, size_t n, size_t least, size_t most,
		  uint64_t *hashes)
{
	for (size_t i = 0; i < n; i++)
	{
		ShToken		feature = features[list[i]];
		size_t		length = feature.end - feature.start;

		if (length < least || length > most)
			__builtin_unreachable();
		hashes[list[i]] = XXH3_64bits(bytes + feature.start, length);
	}
}

/*
 * The hashes of the next features, up to SH_BATCH, in the order in which
 * sh_windows_next gives them.  Returns 0 at the end.
 */
__attribute__((flatten))
size_t
sh_windows_hashes(ShWindows *windows, uint64_t *hashes)
{
	const unsigned char *bytes = windows->text->bytes;
	ShToken		features[SH_BATCH];
	uint8_t		lists[LENGTHS][SH_BATCH];
	size_t		n[LENGTHS] = {0};
	size_t		count = sh_windows_next(windows, features);

	for (size_t i = 0; i < count; i++)
	{
		size_t		length = features[i].end - features[i].start;

		lists[UP_TO_3][n[UP_TO_3]] = (uint8_t) i;
		lists[UP_TO_8][n[UP_TO_8]] = (uint8_t) i;
		lists[UP_TO_16][n[UP_TO_16]] = (uint8_t) i;
		lists[UP_TO_128][n[UP_TO_128]] = (uint8_t) i;
		lists[LONGER][n[LONGER]] = (uint8_t) i;
		n[UP_TO_3] += length <= 3;
		n[UP_TO_8] += length > 3 && length <= 8;
		n[UP_TO_16] += length > 8 && length <= 16;
		n[UP_TO_128] += length > 16 && length <= 128;
		n[LONGER] += length > 128;
	}
	hash_list(bytes, features, lists[UP_TO_3], n[UP_TO_3], 1, 3, hashes);
	hash_list(bytes, features, lists[UP_TO_8], n[UP_TO_8], 4, 8, hashes);
	hash_list(bytes, features, lists[UP_TO_16], n[UP_TO_16], 9, 16, hashes);
	hash_list(bytes, features, lists[UP_TO_128], n[UP_TO_128], 17, 128, hashes);
	hash_list(bytes, features, lists[LONGER], n[LONGER], 129, SIZE_MAX, hashes);
	return count;
}
