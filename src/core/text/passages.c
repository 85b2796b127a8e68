/*-------------------------------------------------------------------------
 *
 * passages.c
 *		Words -> borders of passages.
 *
 * A document that quotes another one has to be cut where the other one is, so
 * what is near a border decides whether it is one, and nothing else does.  The
 * border hash of a word is made of that word and the one before it.  A passage
 * begins at each word whose border hash is the least within reach: less than
 * those of the words before it, not greater than those of the words behind it.
 *
 * Let the reach be two words, and border hashes
 *
 *		0  7  5  3  8  3  9  2  6  4  1
 *
 * Passages begin at the first word (0, by definition) and at the eighth (2):
 * the fourth (3) is less than 5 and 7 before it, and not greater than 8 and 3
 * behind it, so one begins there, too; the sixth (3) is not less than the
 * fourth.  Of the last (1) it is not known what comes within reach.
 *
 * So borders are more than the reach apart, twice the reach on average, and
 * what is quoted is cut as in its source from the first border on that has the
 * reach of quoted words around it.  Where text repeats itself there may be no
 * least one for long, and a passage is cut when it has become too long.
 *
 * The border hashes within reach that no later one is less than are kept in a
 * queue, rising; a hash before which it becomes empty is less than all others.
 * Each word enters and leaves it once.  (The least of a sliding window; local
 * minima as borders: Bjorner, Blass and Gurevich 2010, "Content-dependent
 * chunking for differential compression, the local maximum approach".)
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/passages.h"

#include "core/bits.h"

#define RING(passages, i) \
	(&(passages)->reached[(i) & (SH_REACH_ROOM - 1)])

/* There must be room for all that are within reach, and one more. */
typedef char sh_room_for_reach
[			SH_PASSAGE_MAX / 2 * SH_QUARTERS + 2 <= SH_REACH_ROOM &&
 (SH_REACH_ROOM & (SH_REACH_ROOM - 1)) == 0 ? 1 : -1];

/* Part of the specification: the border hash between two words. */
static inline uint64_t
border_hash(uint64_t before, uint64_t hash)
{
	return sh_mix(before * SH_SCRAMBLE + hash);
}

/* Begin a document whose passages are to have so many words. */
void
sh_passages_begin(ShPassages *passages, int words, ShBorderSink sink,
				  void *state)
{
	passages->reach = (uint64_t) (words / 2) * SH_QUARTERS;
	passages->most = (uint64_t) words * SH_PASSAGE_MOST * SH_QUARTERS;
	passages->sink = sink;
	passages->state = state;
	passages->at = passages->before = passages->border = 0;
	passages->hoped = passages->overdue = false;
	passages->first = passages->behind = 0;
}

/* A passage begins there. */
static void
begin_passage(ShPassages *passages, const ShBorder *border)
{
	passages->border = border->at;
	passages->overdue = false;
	passages->sink(passages->state, border);
}

/* Put a border hash into the queue; true if it is less than all within reach. */
static inline bool
is_least(ShPassages *passages, uint64_t hash, uint64_t at)
{
	size_t		first = passages->first;
	size_t		behind = passages->behind;
	bool		equal = false;

	while (behind > first && RING(passages, behind - 1)->hash > hash)
		behind--;
	while (behind > first && RING(passages, first)->at + passages->reach < at)
		first++;
	equal = behind > first;
	RING(passages, behind)->hash = hash;
	RING(passages, behind)->at = at;
	passages->first = first;
	passages->behind = behind + 1;
	return !equal;
}

/* Add the next words of the document. */
void
sh_passages_add(ShPassages *passages, const ShWord *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t	at = passages->at;
		ShBorder	here = {0, at, words[i].start, words[i].byte};

		if (at > 0)
			here.hash = border_hash(passages->before, words[i].hash);
		passages->before = words[i].hash;
		passages->at += words[i].quarters;

		if (passages->hoped && at > passages->hope.at + passages->reach)
		{
			passages->hoped = false;
			if (passages->hope.at > passages->border)
				begin_passage(passages, &passages->hope);
		}
		if (is_least(passages, here.hash, at))
		{
			passages->hoped = true;
			passages->hope = here;
		}
		if (!passages->overdue && at >= passages->border + passages->most)
		{
			passages->overdue = true;
			passages->forced = here;
		}
		if (passages->overdue &&
			(!passages->hoped || passages->hope.at >= passages->forced.at))
			begin_passage(passages, &passages->forced);
	}
}

/* End the document. */
void
sh_passages_end(ShPassages *passages)
{
	if (passages->overdue)
		begin_passage(passages, &passages->forced);
}
