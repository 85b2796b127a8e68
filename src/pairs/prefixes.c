/*-------------------------------------------------------------------------
 *
 * prefixes.c
 *		Rules out pairs of documents that have too few features in common,
 *		before they are compared.
 *
 * For example, thousands of rows are filled-in forms.  Two of them have 60 %
 * of their features in common, .8 is asked for, and their fingerprints are all
 * near.  To compare each with each takes time in the square of their number.
 *
 * Guarantee.  Among the rows found for a row are all that have been entered
 * before and have at least the Jaccard similarity asked for, t.  There may be
 * others.
 *
 * Mechanics (Bayardo, Ma and Srikant 2007; Xiao, Wang, Lin and Yu 2008).  Put
 * the features of each row in one order that is the same for all.  If two rows
 * are similar, the first feature that both have comes early:
 *
 *	- Let a row have n features.  One that is similar has at least t n of them,
 *	  as either has n or more.  The first of them is among the first
 *	  n - t n + 1: the rest are too few.  That is the row's outer prefix.
 *	- Let the smaller of the two have n features, and c of them be in both.
 *	  Together they have at least 2n - c, so c >= 2 t n / (1 + t).  The first of
 *	  the c is among the first n - 2 t n / (1 + t) + 1 of the smaller row.  That
 *	  is its inner prefix.
 *
 * So an index of the prefixes' features has all similar rows in its lists, if
 * a feature of one row's inner prefix is looked for in the outer prefix of the
 * other.  Rare features come first in the order.  Then those of the form come
 * last, and lists are short.  How often a feature occurs is counted for many
 * features together, by some bits of their hashes: that is still one order.
 *
 * In the example with 300 features, of which 75 are a row's own, the outer
 * prefix has 61 and the inner one 34: nobody meets at the form.  Of rows of
 * the same size, features of the form meet only if the form alone makes them
 * similar.
 *
 * Rows may be looked for only to be connected, as trees of rows.  What is on a
 * list behind a row of the tree that the row at hand belongs to by then, and
 * belongs to that tree as well, is skipped at once: trees grow together, and
 * never part, so it is known from the last time where the next tree begins.  So
 * 2,500 variants of one text, all on the lists of its words, take little time.
 *
 * Where memory is too little the index does not take all rows; those that it
 * has not taken are for the caller to look at.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include <math.h>

#include "common/pg_prng.h"

#define COUNTER_BITS	20		/* the most, of a counter's number */

/* A feature of the row at hand. */
typedef struct RankedFeature
{
	uint32		frequency;		/* of it, and of some others */
	uint64		hash;
} RankedFeature;

/* A row that has a feature in its prefix.  Number 0 is that of none. */
typedef struct Posting
{
	uint32		tag;			/* of the feature */
	uint32		row;
	uint32		next;			/* on the list of the feature, and of some
								 * others */
	uint32		skip;			/* behind it on that list; all between are of
								 * its row's tree */
} Posting;

#define POSTING_BYTES	((int64) (sizeof(Posting) + sizeof(uint32)))	/* with a head */

struct SimhashPrefixes
{
	/* what stays */
	SimhashDocuments *documents;
	uint64		seed;			/* any number, for hashes */
	int			counter_bits;
	uint32	   *counters;		/* occurrences */
	int			head_bits;
	uint32	   *heads;			/* of lists: postings */
	uint32		room;			/* for postings */

	/* what moves */
	uint32	   *trees;			/* of rows that are connected; NULL: none */
	Posting    *postings;
	uint32		used;
	bool		full;			/* no row is taken any more */

	/* the row at hand */
	uint32		row;
	RankedFeature *features;	/* from the rarest on */
	uint32		inner;			/* prefixes */
	uint32		outer;
};

/*
 * The least number of common features by which one row of n features can be
 * similar to another: to one that has no others, or to one of the same size.
 * Similarities are compared as rounded, so the number is one less while that
 * passes.
 */
static uint32
least_common(double least, uint32 n, bool same_size)
{
	double		want = ceil(same_size ? 2 * least / (1 + least) * n : least * n);
	double		common = Min(want, n);

	while (common > 1)
	{
		double		fewer = common - 1;
		volatile double similarity = fewer / (same_size ? 2.0 * n - fewer : n);

		if (similarity < least)
			break;
		common = fewer;
	}
	return (uint32) Max(common, 1);
}

/* How many of a row's n features are in a prefix? */
static uint32
prefix_of(const SimhashPrefixes *prefixes, uint32 n, bool inner)
{
	return n == 0 ? 0
		: n - least_common(prefixes->documents->comparison.at_least, n, inner) + 1;
}

/* The counter of a feature. */
static inline uint32 *
counter_of(const SimhashPrefixes *prefixes, uint64 hash)
{
	return &prefixes->counters[sh_mix(hash + prefixes->seed) >>
							   (64 - prefixes->counter_bits)];
}

/*
 * Allocate what there is room for in most of the memory that is for features,
 * for so many rows; false if that is too little.
 */
static bool
allocate_index(SimhashPrefixes *prefixes, int64 postings, uint32 features,
			   int64 rows)
{
	SimhashDocuments *documents = prefixes->documents;
	MemoryContext context = documents->context;
	int64		budget = documents->kept_limit / 4 * 3;
	int64		left;
	int64		room;

	prefixes->counter_bits = Min(COUNTER_BITS,
								 sh_bit_length(budget / (8 * sizeof(uint32))));
	left = budget - (int64) ((sizeof(uint32) << prefixes->counter_bits) +
							 features * sizeof(RankedFeature)) -
		rows * (int64) (2 * sizeof(ListCell));
	room = Min(Min(postings, PG_INT32_MAX),
			   left / POSTING_BYTES - 1);
	if (room <= 0)
		return false;
	prefixes->room = (uint32) room;
	prefixes->head_bits = sh_bit_length((uint64) room + 1) - 1;
	prefixes->counters = MemoryContextAllocExtended(context, sizeof(uint32) << prefixes->counter_bits,
													MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	prefixes->heads = MemoryContextAllocExtended(context, sizeof(uint32) << prefixes->head_bits,
												 MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	prefixes->postings = MemoryContextAllocHuge(context, sizeof(Posting) *
												((Size) prefixes->room + 1));
	prefixes->features = MemoryContextAllocHuge(context, sizeof(RankedFeature) *
												((Size) features + 1));
	documents->kept_limit -= budget - left + (room + 1) * POSTING_BYTES;
	return true;
}

/*
 * Begin with no row.  Those that will be entered or looked for are given by
 * "wanted": their features, which have been read, are counted.  NULL if there
 * is no room.
 */
SimhashPrefixes *
simhash_prefixes_begin(SimhashDocuments *documents, SimhashRowTest wanted,
					   void *context)
{
	SimhashPrefixes *prefixes = MemoryContextAllocZero(documents->context,
													   sizeof *prefixes);
	int64		postings = 0;
	int64		rows = 0;
	uint32		most = 0;

	prefixes->documents = documents;
	prefixes->seed = pg_prng_uint64(&pg_global_prng_state);
	for (uint32 row = 0; row < documents->n; row++)
	{
		most = Max(most, documents->count[row]);
		if (!wanted(context, row))
			continue;
		postings += prefix_of(prefixes, documents->count[row], false);
		rows++;
	}
	if (!allocate_index(prefixes, postings, most, rows))
		return NULL;
	for (uint32 row = 0; row < documents->n; row++)
	{
		ShFeatures	list;

		if (!wanted(context, row))
			continue;
		CHECK_FOR_INTERRUPTS();
		list = simhash_documents_get(documents, row).features;
		for (size_t i = 0; i < list.n; i++)
			++* counter_of(prefixes, list.hashes[i]);
	}
	return prefixes;
}

/*
 * Forget the rows that have been entered.  Of those that will be, all that may be similar
 * are looked for, or only what connects trees.
 */
void
simhash_prefixes_clear(SimhashPrefixes *prefixes, uint32 *trees)
{
	prefixes->trees = trees;
	prefixes->used = 0;
	prefixes->full = false;
	memset(prefixes->heads, 0, sizeof(uint32) << prefixes->head_bits);
}

/* For qsort: the rarest feature first. */
static int
compare_ranks(const void *a, const void *b)
{
	const RankedFeature *x = a;
	const RankedFeature *y = b;

	CHECK_FOR_INTERRUPTS();
	if (x->frequency != y->frequency)
		return x->frequency < y->frequency ? -1 : 1;
	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* Take a row at hand, to look for those similar to it, or to enter it. */
static void
take_row(SimhashPrefixes *prefixes, uint32 row)
{
	ShFeatures	list = simhash_documents_get(prefixes->documents, row).features;

	for (size_t i = 0; i < list.n; i++)
	{
		prefixes->features[i].hash = list.hashes[i];
		prefixes->features[i].frequency = *counter_of(prefixes,
													  list.hashes[i]);
	}
	qsort(prefixes->features, list.n, sizeof(RankedFeature), compare_ranks);
	prefixes->row = row;
	prefixes->inner = prefix_of(prefixes, (uint32) list.n, true);
	prefixes->outer = prefix_of(prefixes, (uint32) list.n, false);
}

/* What stands for feature i in inner prefixes, or in the rest of outer ones. */
static inline uint64
list_of(const SimhashPrefixes *prefixes, uint32 i, bool inner)
{
	return sh_mix(prefixes->features[i].hash - prefixes->seed - !inner);
}

/* Where a list begins. */
static inline uint32 *
head_of(const SimhashPrefixes *prefixes, uint64 list)
{
	return &prefixes->heads[list >> (64 - prefixes->head_bits)];
}

/*
 * The next on a list; where a row is in the tree of the row at hand, the next that may be
 * in another one.
 */
static uint32
next_posting(SimhashPrefixes *prefixes, uint32 at)
{
	Posting    *postings = prefixes->postings;
	uint32	   *trees = prefixes->trees;
	uint32		tree;
	uint32		skip;

	if (trees == NULL)
		return postings[at].next;
	tree = sh_cluster_of(trees, postings[at].row);
	if (tree != sh_cluster_of(trees, prefixes->row))
		return postings[at].next;
	while ((skip = postings[at].skip) != 0 &&
		   sh_cluster_of(trees, postings[skip].row) == tree)
		postings[at].skip = postings[skip].skip;
	return skip;
}

/*
 * Find rows that may be similar to one, in any order, some more than once.  The sink may
 * connect them.  False when there are more than so many on the lists: it takes no longer
 * to look at all.
 */
bool
simhash_prefixes_find(SimhashPrefixes *prefixes, uint32 row, uint32 most,
					  SimhashRowSink sink, void *context)
{
	uint32		seen = 0;

	take_row(prefixes, row);
	for (uint32 i = 0; i < prefixes->outer; i++)
	{
		for (int rest = 0; rest <= (i < prefixes->inner); rest++)
		{
			uint64		list = list_of(prefixes, i, rest == 0);
			uint32		at = *head_of(prefixes, list);

			for (; at != 0; at = next_posting(prefixes, at))
			{
				if (seen++ == most)
					return false;
				if (prefixes->postings[at].tag == (uint32) list)
					sink(context, prefixes->postings[at].row);
			}
		}
	}
	return true;
}

/*
 * Enter the row that was last looked for.  False when there is no room, from
 * then on.
 */
bool
simhash_prefixes_enter(SimhashPrefixes *prefixes)
{
	prefixes->full = prefixes->full ||
		prefixes->outer > prefixes->room - prefixes->used;
	for (uint32 i = 0; i < prefixes->outer && !prefixes->full; i++)
	{
		uint64		list = list_of(prefixes, i, i < prefixes->inner);
		uint32	   *head = head_of(prefixes, list);
		Posting    *posting = &prefixes->postings[++prefixes->used];

		posting->tag = (uint32) list;
		posting->row = prefixes->row;
		posting->next = posting->skip = *head;
		*head = prefixes->used;
	}
	return !prefixes->full;
}
