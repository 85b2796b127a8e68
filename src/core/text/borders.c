/*-------------------------------------------------------------------------
 *
 * borders.c
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
 * While the least hash within reach is one that was less than all those before
 * it, a word has but to be compared with that.  Otherwise the least one gets out
 * of reach some time, and the next is looked for among the last hashes: twice a
 * passage, mostly, and at worst, where hashes grow, for each word, which is why
 * words are limited.
 * (Local minima as borders: Bjorner, Blass and Gurevich 2010, "Content-dependent
 * chunking for differential compression, the local maximum approach".)
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/borders.h"

#include "core/bits.h"

/* There must be room for all that are within reach, and one more. */
typedef char sh_room_for_reach
[			SH_PASSAGE_MAX / 2 * SH_QUARTERS + 2 <= SH_REACH_ROOM &&
 (SH_REACH_ROOM & (SH_REACH_ROOM - 1)) == 0 ? 1 : -1];

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
	passages->n = 0;
	passages->least.hash = UINT64_MAX;
	passages->least.at = 0;
}

/* The border before a word. */
static inline ShBorder
border_at(const ShWord *word, uint64_t hash, uint64_t at)
{
	return (ShBorder)
	{
		hash, at, word->start, word->byte
	};
}

/* A passage begins there. */
static void
begin_passage(ShPassages *passages, const ShBorder *border)
{
	passages->border = border->at;
	passages->overdue = false;
	passages->sink(passages->state, border);
}

/*
 * The least border hash within reach of a place, of those before it: the last
 * one of those that are the same, which stays within reach for longest.
 */
static void
look_back(ShPassages *passages, uint64_t at)
{
	ShBorder   *least = &passages->least;

	least->hash = UINT64_MAX;
	for (size_t i = passages->n; i-- > 0;)
	{
		uint64_t	hash = passages->hashes[i % SH_REACH_ROOM];
		uint64_t	place = passages->places[i % SH_REACH_ROOM];

		if (place + passages->reach < at)
			break;
		if (hash < least->hash)
		{
			least->hash = hash;
			least->at = place;
		}
	}
}

/* The least one has got out of reach: if it was hoped for, it is a border. */
static void
leave_least(ShPassages *passages, uint64_t at)
{
	if (passages->hoped && passages->least.at > passages->border)
		begin_passage(passages, &passages->least);
	passages->hoped = false;
	look_back(passages, at);
}

/* Is the passage that is being read too long?  No border is hoped for in it. */
static void
check_length(ShPassages *passages, ShBorder here)
{
	if (!passages->overdue)
		passages->forced = here;
	passages->overdue = true;
	if (!passages->hoped || passages->least.at >= passages->forced.at)
		begin_passage(passages, &passages->forced);
}

/*
 * Add the next words of the document.  What happens at few words is elsewhere,
 * so that the loop is short.
 */
void
sh_passages_add(ShPassages *passages, const ShWord *words, size_t n)
{
	uint64_t	before = passages->before;
	uint64_t	at = passages->at;

	for (size_t i = 0; i < n; i++)
	{
		const ShWord *word = &words[i];
		size_t		slot = passages->n % SH_REACH_ROOM;

		/* Part of the specification: the border hash between two words. */
		uint64_t	hash = at > 0 ? sh_mix(before * SH_SCRAMBLE + word->hash) : 0;

		if (at > passages->least.at + passages->reach)
			leave_least(passages, at);
		passages->hashes[slot] = hash;
		passages->places[slot] = at;
		passages->n++;
		if (hash < passages->least.hash)
		{
			passages->least = border_at(word, hash, at);
			passages->hoped = true;
		}
		if (at >= passages->border + passages->most)
			check_length(passages, border_at(word, hash, at));
		before = word->hash;
		at += word->quarters;
	}
	passages->before = before;
	passages->at = at;
}

/* End the document. */
void
sh_passages_end(ShPassages *passages)
{
	if (passages->overdue)
		begin_passage(passages, &passages->forced);
}
