/*-------------------------------------------------------------------------
 *
 * hamming_scan.h
 *		The state of a scan of a hamming index, and what its files share.
 *
 * A scan is made of parts, each of which is changed by one file only and
 * described there:
 *
 *	HammingConditions	what is asked				hamming_scan.c
 *	HammingTree			the way down the btree		hamming_tree.c
 *	HammingRuns			what to read next			hamming_runs.c
 *	HammingMatches		what was found				hamming_matches.c
 *	HammingNearest		ORDER BY distance			hamming_knn.c
 *
 * hamming_page.c reads the leaf pages that the runs name, and adds what it
 * finds to the matches; hamming_plan.c decides how a search goes, for which
 * hamming_survey.c looks for crowds.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_SCAN_H
#define HAMMING_SCAN_H

#include "access/tableam.h"

#include "index/hamming.h"

/*
 * Limits of the work done.
 *
 * HAMMING_AHEAD		runs whose pages are fetched into the cache ahead.
 * HAMMING_BATCH		matches gathered before they are handed out.
 */
#define HAMMING_AHEAD		8
#define HAMMING_BATCH		1024

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
typedef struct HammingConditions
{
	int			nballs;
	HammingBall *balls;
	bool		impossible;		/* a condition is NULL */
	bool		grouped;		/* there are columns besides; recheck all */
	bool		no_group;		/* but not all of them have conditions */
	uint64		shift;
	int			order_by;		/* ORDER BY that decides; -1: none */
	bool		open_order;		/* there is one that we know nothing of */
	ShValue		order_center;
	SimhashBits order_bits;		/* the same, if it is a bit string */
} HammingConditions;

/*
 * A page as its parent knows it: low <= keys <= high.  So is its right
 * neighbour, whose keys go up to next_high, if "next" is valid.
 */
typedef struct HammingChild
{
	BlockNumber blkno;
	BlockNumber next;
	int64		low;
	int64		high;
	int64		next_high;
} HammingChild;

/* A page of the path; inner ones are pinned while pages are read. */
typedef struct HammingStep
{
	Buffer		buffer;
	HammingChild page;
} HammingStep;

/* The path: the pages of the last descent. */
typedef struct HammingTree
{
	int			height;			/* level of the root */
	HammingStep path[HAMMING_MAX_HEIGHT];	/* by level */
	int			ncenters;
	HammingChild *centers;		/* by block: leaf pages where the query's own
								 * keys begin */
} HammingTree;

/*
 * What is searched of one block.  "done" tells what was searched of each block
 * before: see entries.c on the first finder.
 */
typedef struct HammingPass
{
	int			block;			/* within the word that is searched */
	ShReach		reach;
	ShReach		done[SH_WORD_BLOCKS];
	int64		center_key;		/* the query, as an entry of the block */
} HammingPass;

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
 * What to read next.  Candidates farther than max_distance from the center, or
 * nearer than min_distance, are no matches.  Runs are laid out pass by pass,
 * in the order of their keys; a ring buffer has the next few with their pages.
 */
typedef struct HammingRuns
{
	/* what passes let through */
	int			word;			/* the one that is searched */
	uint64		center;			/* what distances in it are taken from */
	int			min_distance;	/* of entries, wanted */
	int			max_distance;

	/* passes, and how far their runs have been laid out */
	int			npasses;
	int			pass;			/* the one at hand */
	uint64		next;			/* entry of it, bare */
	uint64		span;			/* between the bounds of the last page, bare */
	HammingPass passes[SH_WORD_BLOCKS];
	int			kept_for;		/* the k of the plan that these follow; -1:
								 * none */
	int			nkept;

	/* the run at hand, and those ahead */
	bool		have_run;
	HammingRun	run;
	int			nahead;
	int			next_ahead;
	HammingRun	ahead[HAMMING_AHEAD];
	int			page_entries;	/* that the last page had */
} HammingRuns;

/* A candidate within the radius, whose row the scan returns. */
typedef struct HammingMatch
{
	ItemPointerData tid;
	OffsetNumber offset;
	int16		page;			/* in HammingMatches.pages; -1: forgotten */
	int16		distance;		/* from the first ball or the order */
	bool		recheck;		/* may lie outside a ball after all */
	bool		killed;			/* its row is dead to everyone */
} HammingMatch;

/* A leaf page that matches came from. */
typedef struct HammingPage
{
	BlockNumber blkno;
	XLogRecPtr	lsn;
} HammingPage;

/*
 * What was found and is being handed out.  Matches of one page are neighbours.
 * If keep_pin is set they are all of one page, which stays pinned.
 */
typedef struct HammingMatches
{
	bool		keep_pin;
	Buffer		pinned;			/* leaf page of the matches, if keep_pin */
	int			count;
	int			next;			/* to be handed out */
	int			npages;
	int			nkilled;
	HammingMatch *items;
	HammingPage *pages;
} HammingMatches;

struct HammingNearest;
struct HammingWords;

/* The state of a scan. */
typedef struct HammingScan
{
	const ShLayout *layout;
	HammingConditions asked;
	HammingTree tree;
	HammingRuns runs;
	HammingMatches matches;
	struct HammingNearest *nearest; /* with ORDER BY */
	struct HammingWords *words; /* a search in several words */

	/* how the search is planned */
	bool		started;
	bool		repeats;		/* a row may be returned more than once */
	ShExtent	extent;
	bool		crowded;		/* extent is not even, for this query */
	int			plan_k;			/* what the plan was made for; -1: none */
	ShSearchPlan plan;

	/* rows with a NULL fingerprint, which are not in the index */
	bool		want_nulls;
	struct Tuplesortstate *nulls;
	IndexTuple	nothing;		/* for those who want no column */
} HammingScan;

/* hamming_knn.c */
extern void hamming_nearest_reset(HammingScan *so);
extern bool hamming_nearest_fill(IndexScanDesc scan);

/* hamming_plan.c */
extern void hamming_plan(IndexScanDesc scan);
extern void hamming_even_extent(IndexScanDesc scan);
extern void hamming_turn_to_word(HammingScan *so, int word,
								 const ShValue *center, int k);
extern void hamming_plan_word(IndexScanDesc scan, bool survey);
extern void hamming_log_plan(IndexScanDesc scan);
extern void hamming_add_passes(HammingScan *so);

/* hamming_rights.c */
extern bool hamming_may_show_plan(Relation index);
extern void hamming_check_rights(Relation index);

/* hamming_words.c */
extern void hamming_words_reset(HammingScan *so);
extern bool hamming_words_fill(IndexScanDesc scan);
extern bool hamming_words_show(IndexScanDesc scan);

/* hamming_scan.c */
extern bool hamming_take_ball(Relation index, const ShLayout *layout,
							  Datum datum, HammingBall *ball);

/* hamming_table.c */
extern struct Tuplesortstate *hamming_begin_numbers(HammingScan *so,
													int64 bound);
extern void hamming_read_table(IndexScanDesc scan,
							   IndexBuildCallback callback, void *state);

/* hamming_survey.c */
extern bool hamming_survey(IndexScanDesc scan);

/* hamming_page.c */
extern bool hamming_read_page(IndexScanDesc scan);

/* hamming_matches.c */
extern void hamming_prepare_matches(HammingScan *so);
extern int	hamming_note_page(HammingMatches *matches, Buffer buffer);
extern void hamming_check_tid(IndexScanDesc scan, ItemPointer tid);
extern void hamming_drop_matches(IndexScanDesc scan);
extern void hamming_free_matches(HammingMatches *matches);

/* hamming_runs.c */
extern void hamming_drop_passes(HammingRuns *runs);
extern void hamming_add_pass(HammingScan *so, int block, ShReach reach,
							 const ShReach *done);
extern void hamming_keep_passes(HammingScan *so);
extern bool hamming_next_run(IndexScanDesc scan);
extern bool hamming_next_run_on_page(HammingRuns *runs, BlockNumber blkno);

/* hamming_tree.c */
extern void hamming_lock_page(IndexScanDesc scan, Buffer buffer);
extern void hamming_fell_off(IndexScanDesc scan);
extern void hamming_went_back(IndexScanDesc scan);
extern void hamming_note_step(IndexScanDesc scan, BlockNumber *steps);
extern bool hamming_descend(IndexScanDesc scan, int64 key,
							HammingChild *page);
extern HammingChild *hamming_center(HammingScan *so, int block);
extern void hamming_find_centers(IndexScanDesc scan);
extern void hamming_place(const HammingChild *leaf, HammingRun *run);
extern const HammingChild *hamming_locate(IndexScanDesc scan, HammingRun *run);
extern bool hamming_reaches(HammingTree *tree, int64 from, int64 to,
							int pages);
extern double hamming_share(IndexScanDesc scan, int64 key);
extern void hamming_unpin_path(HammingTree *tree);
extern void hamming_forget_path(HammingTree *tree);

#endif							/* HAMMING_SCAN_H */
