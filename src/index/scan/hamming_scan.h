/*-------------------------------------------------------------------------
 *
 * hamming_scan.h
 *		The state of a scan of a hamming index, and what its files share.
 *
 * hamming_scan.c tells of the stages of a search.  Each has a part of the state
 * that it alone changes:
 *
 *	HammingQuestion		what is asked				hamming_question.c
 *	HammingPlan			how far each block is read	hamming_plan.c
 *	HammingCursor		which page is read			hamming_cursor.c
 *	HammingMatches		what was found				hamming_matches.c
 *	HammingNearest		ORDER BY distance			hamming_nearest.c
 *	HammingWords		searches in several words	hamming_words.c
 *
 * What makes a scan fast stands in hamming_tricks.c, each trick with a plain
 * fallback that gives the same answer.  Compile with -DHAMMING_PLAIN to have the
 * fallbacks.  README has the figures.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_SCAN_H
#define HAMMING_SCAN_H

#include "index/hamming.h"

/*
 * Limits of the work done.
 *
 * HAMMING_AHEAD		runs laid out ahead whose pages the disk is asked for.
 * HAMMING_AHEAD_CACHED	the same where they are in memory: they are fetched into
 *						the processor's cache.
 * HAMMING_BATCH		matches gathered before they are handed out.
 */
#define HAMMING_AHEAD		32
#define HAMMING_AHEAD_CACHED	8
#define HAMMING_BATCH		1024

/* A line of the processor's cache. */
#define HAMMING_CACHE_LINE		64

/*
 * "Within radius of center", one for each index condition.  No entry beyond
 * the radius can meet the condition; one that is at most "certain" away does,
 * and those between are rechecked.
 */
typedef struct HammingBall
{
	ShValue		center;
	int			radius;
	int			certain;		/* below 0: recheck all */
} HammingBall;

/*
 * What is asked.  The ball with the smallest radius comes first: it is the one
 * searched for, the others are tested on the candidates.  All centers are
 * moved by the shift of the group that is searched.
 */
typedef struct HammingQuestion
{
	int			nballs;
	HammingBall *balls;
	bool		impossible;		/* a condition is NULL */
	bool		nulls;			/* rows without a fingerprint meet them, too */
	bool		grouped;		/* there are columns besides; recheck all */
	bool		no_group;		/* but not all of them have conditions */
	uint64		shift;
	int			order_by;		/* ORDER BY that decides; -1: none */
	bool		open_order;		/* there is one that we know nothing of */
	ShValue		order_center;
} HammingQuestion;

/*
 * A page as its parent knows it: low <= keys <= high.  So is its right
 * neighbour, whose keys go up to next_high, if "next" is valid.
 */
typedef struct HammingBounds
{
	BlockNumber blkno;			/* InvalidBlockNumber: not known */
	BlockNumber next;
	int64		low;
	int64		high;
	int64		next_high;
	double		part;			/* share of all entries, about, that it has, */
	double		before;			/* and that is to the left of it */
} HammingBounds;

/* Do keys >= key begin on a page, going by its bounds? */
static inline bool
hamming_serves(const HammingBounds *page, int64 key)
{
	return BlockNumberIsValid(page->blkno) &&
		page->low <= key && key <= page->high;
}

/*
 * How far between the bounds of a page a key is.  That is where its entry is
 * to be expected, were keys spread evenly: 0 first, 1 last.
 */
static inline float
hamming_place(const HammingBounds *page, int64 key)
{
	uint64		span = (uint64) page->high - (uint64) page->low;

	return (float) ((uint64) key - (uint64) page->low) / ((float) span + 1);
}

/*
 * What is searched of one block.  "done" tells what was searched of each block
 * before: see entries.c on the first finder.
 */
typedef struct HammingPass
{
	int			block;			/* within the word that is searched */
	ShReach		reach;
	ShReach		done[SH_WORD_BLOCKS];
} HammingPass;

/* How to search a word for what is within k of a center. */
typedef struct HammingPlan
{
	int			word;
	uint64		center;
	int64		keys[SH_WORD_BLOCKS];	/* the center, as an entry of a block */
	int			k;				/* -1: nothing; HAMMING_UNPLANNED */

	/* what is known of the index */
	ShExtent	extent;
	bool		crowded;		/* extent is not even, for this center */
	HammingBounds starts[SH_WORD_BLOCKS];	/* where the center's own keys
											 * begin */

	/* what to do */
	ShSearchPlan search;
	bool		reads_all;		/* entries of block 0, and no others */
	int			npasses;
	HammingPass passes[SH_WORD_BLOCKS];
} HammingPlan;

#define HAMMING_UNPLANNED	(-2)

/*
 * Keys [low, high] to be read, and the leaf page where they begin or go on.
 * They end there, or on its right neighbour "next" if that is valid, unless
 * pages have been split since.
 */
typedef struct HammingRun
{
	const HammingPass *pass;
	int64		low;
	int64		high;
	BlockNumber blkno;
	BlockNumber next;
	float		place;			/* where on that page, about: 0 first, 1 last */
	BlockNumber steps;			/* to the right since it began */
} HammingRun;

/*
 * The page that is read, and what to read next.  Runs are laid out pass by
 * pass, in the order of their keys; a ring buffer has the next few with their
 * pages.
 */
typedef struct HammingCursor
{
	const HammingPlan *plan;

	/* how far runs have been laid out */
	int			pass;			/* the one at hand */
	uint64		next;			/* entry of it, bare */
	uint64		span;			/* between the bounds of the last page, bare */
	HammingBounds leaf;			/* that page, */
	HammingBounds parent;		/* and the one above it */
	int			nahead;
	int			next_ahead;
	int			nasked;			/* of those, whose pages the disk was asked
								 * for */
	BlockNumber asked;			/* the last of these, */
	int			streak;			/* and how many follow each other up to it */
	HammingRun	ahead[HAMMING_AHEAD];

	/* the run at hand, and the page, share-locked */
	bool		have_run;
	HammingRun	run;
	Buffer		buffer;
	BlockNumber blkno;			/* as the run named it */
	OffsetNumber offset;		/* where the run is on the page */
	int			page_entries;	/* that it has, or the last one had */
} HammingCursor;

/* A candidate within the radius, whose row the scan returns. */
typedef struct HammingMatch
{
	ItemPointerData tid;
	int16		distance;		/* from the first ball or the order */
	bool		recheck;		/* may lie outside a ball after all */
} HammingMatch;

/*
 * What was found and is being handed out.  If keep_pin is set matches are all
 * of one page, which stays pinned.
 */
typedef struct HammingMatches
{
	bool		keep_pin;
	Buffer		pinned;			/* leaf page of the matches, if keep_pin */
	int			count;
	int			next;			/* to be handed out */
	HammingMatch *items;
} HammingMatches;

/* Leaf pages from left to right. */
typedef struct HammingWalk
{
	BlockNumber next;			/* P_NONE: no more */
	BlockNumber steps;
} HammingWalk;

/* How each word is searched. */
typedef struct HammingWords
{
	int			word;			/* the one that is read; -1: none yet */
	struct HammingSort *found;	/* rows of several words, unless they may
								 * repeat */
	int64		last_tid;
	HammingPlan plans[FLEXIBLE_ARRAY_MEMBER];
} HammingWords;

struct HammingNearest;
struct HammingScan;

/* Compares a run, by the instructions of some processor. */
typedef struct HammingCompareKind
{
	bool		(*usable) (void);
	void		(*run) (struct HammingScan *so);
} HammingCompareKind;

/* The state of a scan. */
typedef struct HammingScan
{
	HammingIndexState index;
	const ShLayout *layout;		/* of that */
	double		rows;			/* about, in the index; -1: not known yet */
	bool		measured;		/* by the size that its file has now */
	bool		started;
	bool		repeats;		/* a row may be returned more than once */

	HammingQuestion asked;
	HammingWords *words;		/* the plans, one for each word */
	HammingCursor cursor;
	const HammingCompareKind *compare;
	int			max_distance;	/* of entries from the plan's center that are
								 * matches */
	HammingMatches matches;

	struct HammingNearest *nearest; /* with ORDER BY */
	bool		in_nulls;		/* rows without a fingerprint, which come last */
	HammingWalk nulls;
	IndexTuple	nothing;		/* for those who want no column */
} HammingScan;

/* hamming_question.c */
extern void hamming_ask(IndexScanDesc scan);
extern int	hamming_farthest(const HammingScan *so);

/* hamming_plan.c */
extern void hamming_plan_search(HammingPlan *plan, int k);
extern void hamming_plan_passes(HammingPlan *plan);
extern void hamming_plan_word(IndexScanDesc scan, HammingPlan *plan, int word,
							  const ShValue *center, int k);

/* hamming_tree.c */
extern Buffer hamming_get_page(IndexScanDesc scan, BlockNumber blkno);
extern void hamming_note_step(IndexScanDesc scan, BlockNumber *steps);
extern BlockNumber hamming_right_page(IndexScanDesc scan, Page page);
extern bool hamming_find_child(Page page, int64 key, const HammingBounds *here,
							   HammingBounds *child);
extern bool hamming_descend(IndexScanDesc scan, int64 key,
							HammingBounds *parent, HammingBounds *leaf);

/* hamming_tricks.c */
extern Buffer hamming_pin_page(Relation rel, BlockNumber blkno);
extern void hamming_fetch_ahead(Relation rel, BlockNumber blkno, float place,
								int entries);
extern int	hamming_disk_concurrency(Relation rel);
extern void hamming_ask_disk(Relation rel, BlockNumber blkno);
extern OffsetNumber hamming_find_entry(Page page, OffsetNumber first,
									   int64 key, float place);
extern const char *hamming_known_page(Relation rel, BlockNumber blkno);

/* hamming_cursor.c */
extern void hamming_cursor_begin(HammingCursor *cursor,
								 const HammingPlan *plan);
extern bool hamming_cursor_next_page(IndexScanDesc scan,
									 HammingCursor *cursor);
extern bool hamming_cursor_next_run(IndexScanDesc scan,
									HammingCursor *cursor);
extern void hamming_begin_walk(IndexScanDesc scan, int64 key,
							   HammingWalk *walk);
extern Buffer hamming_walk(IndexScanDesc scan, HammingWalk *walk);

/* hamming_compare.c */
extern const HammingCompareKind *hamming_compare_fastest(void);
extern bool hamming_read_page(IndexScanDesc scan);

/* hamming_matches.c */
extern HammingMatch *hamming_add_match(HammingScan *so, ItemPointer tid);
extern void hamming_leave_page(HammingMatches *matches, Buffer buffer,
							   int before);

/* hamming_words.c */
extern void hamming_words_fill(IndexScanDesc scan);
extern void hamming_plan_all_rows(IndexScanDesc scan);
extern double hamming_plan_words(IndexScanDesc scan, const ShValue *center,
								 int k, const int *least);
extern double hamming_words_cost(HammingScan *so, int k);
extern bool hamming_read_words(IndexScanDesc scan);

/* hamming_nearest.c */
extern void hamming_nearest_reset(HammingScan *so);
extern void hamming_nearest_fill(IndexScanDesc scan);

#endif							/* HAMMING_SCAN_H */
