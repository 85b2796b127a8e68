/*-------------------------------------------------------------------------
 *
 * hamming.h
 *		What the files of the hamming access method share.
 *
 * The index is an ordinary btree on one bigint key, kept by PostgreSQL's own
 * btree code: insertion, page splits, vacuum, write-ahead log and recovery are
 * the btree's.  Each row has four entries in it (core/entries.c).  Ours are
 * the bulk load, which writes the pages that a btree build would write, and
 * the scan, which reads leaf pages directly and compares fingerprints there.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef HAMMING_H
#define HAMMING_H

#include "access/amapi.h"
#include "access/genam.h"
#include "access/itup.h"
#include "access/nbtree.h"
#include "access/relscan.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "core/entries.h"

/*
 * Limits of the work done.
 *
 * HAMMING_MAX_HEIGHT	levels of a btree that a scan can remember.
 * HAMMING_AHEAD		runs whose pages are fetched into the cache ahead.
 * HAMMING_BATCH		matches gathered before they are handed out.
 * HAMMING_NEAREST		rows that the first pass of a nearest-first scan keeps.
 */
#define HAMMING_MAX_HEIGHT	16
#define HAMMING_AHEAD		8
#define HAMMING_BATCH		1024
#define HAMMING_NEAREST		8192

/* Strategies of the operator classes. */
#define HAMMING_NEAR_STRATEGY		1	/* ~= */
#define HAMMING_BALL_STRATEGY		2	/* <@ */
#define HAMMING_DISTANCE_STRATEGY	3	/* <~>, for ORDER BY */
#define HAMMING_STRATEGIES			3

/* Support functions of the operator classes. */
#define HAMMING_COMPARE_PROC		1	/* as the btree code wants it */
#define HAMMING_PROCS				1

/* Phases of a build, for pg_stat_progress_create_index. */
#define HAMMING_PHASE_SCAN			2
#define HAMMING_PHASE_SORT			3
#define HAMMING_PHASE_LOAD			4

/* A leaf entry: tuple header and key.  A line pointer comes besides. */
#define HAMMING_ENTRY_SIZE	(sizeof(IndexTupleData) + sizeof(int64))

/* Entries on a leaf page that page splits and fill factor leave, usually. */
#define HAMMING_PER_PAGE	330

/* The key of a leaf entry. */
static inline int64
hamming_tuple_key(IndexTuple itup)
{
	return *(int64 *) ((char *) itup + sizeof(IndexTupleData));
}

/* Unsigned entries in the order of the btree's signed keys, and back. */
static inline int64
hamming_key(uint64 entry)
{
	return (int64) (entry ^ (UINT64CONST(1) << 63));
}

static inline uint64
hamming_entry(int64 key)
{
	return (uint64) key ^ (UINT64CONST(1) << 63);
}

/* A tuple of a page. */
static inline IndexTuple
hamming_page_tuple(Page page, OffsetNumber offset)
{
	return (IndexTuple) PageGetItem(page, PageGetItemId(page, offset));
}

/* The upper bound of a page that is not the rightmost one. */
static inline int64
hamming_high_key(Page page)
{
	return hamming_tuple_key(hamming_page_tuple(page, P_HIKEY));
}

/* How far from its guessed place on a page an entry usually is. */
#define HAMMING_GUESS_SLACK		24

/*
 * "Within radius of center", one for each index condition.  No entry beyond
 * the radius can meet the condition; one that is at most "certain" away does,
 * and those between are rechecked.
 */
typedef struct HammingBall
{
	uint64		center;
	int			radius;
	int			certain;		/* below 0: recheck all */
} HammingBall;

/* An entry that the scan is to return, and where it was found. */
typedef struct HammingMatch
{
	ItemPointerData tid;
	OffsetNumber offset;
	int16		page;			/* in HammingScan.pages; -1: forgotten */
	uint8		distance;		/* d62 from the first ball or the order */
	bool		recheck;		/* may lie outside a ball after all */
	bool		killed;			/* its row is dead to everyone */
} HammingMatch;

/* A leaf page that matches came from. */
typedef struct HammingPage
{
	BlockNumber blkno;
	XLogRecPtr	lsn;
} HammingPage;

/* A page as its parent knows it: keys in [low, high] begin there. */
typedef struct HammingChild
{
	BlockNumber blkno;
	BlockNumber next;			/* what lies to the right, if known */
	int64		low;
	int64		high;
} HammingChild;

/* A page on the way down; inner ones are pinned at times. */
typedef struct HammingStep
{
	Buffer		buffer;
	HammingChild page;
} HammingStep;

/* The shells of one block to go through, and what other blocks have found. */
typedef struct HammingPass
{
	int			block;
	int			nearest;
	int			farthest;
	int			done[SH_INDEX_BLOCKS];
	int64		center_key;		/* the query, as an entry of the block */
	uint32		center_probe;
} HammingPass;

/* Keys [low, high] to be read, and the leaf page where they begin or go on. */
typedef struct HammingVisit
{
	const HammingPass *pass;
	int64		low;
	int64		high;
	BlockNumber blkno;
	BlockNumber next;			/* if valid, it goes on there */
	float		place;			/* where on that page, about: 0 first, 1 last */
} HammingVisit;

struct HammingNearest;

/*
 * The state of a scan.  The first part stays for a rescan, the others move.
 */
typedef struct HammingScan
{
	/* what is asked */
	int			nballs;
	HammingBall *balls;
	bool		impossible;		/* a condition is NULL */
	int			order_by;		/* ORDER BY that decides; -1: none */
	uint64		order_center;
	ShExtent	extent;

	/* what passes let through */
	uint64		center;			/* fingerprint that distances are taken from */
	int			min_distance;	/* d62 wanted */
	int			max_distance;

	/* passes, and how far their runs have been laid out */
	int			npasses;
	int			pass;			/* the one at hand */
	uint32		next_probe;
	HammingPass passes[SH_INDEX_BLOCKS];
	bool		visiting;		/* there is a visit to go on with */
	HammingVisit visit;
	int			nahead;			/* visits to come whose pages are known */
	int			next_ahead;
	int			page_entries;	/* that the last page had */
	HammingVisit ahead[HAMMING_AHEAD];

	/* the way down the tree */
	int			height;			/* level of the root */
	HammingStep path[HAMMING_MAX_HEIGHT];	/* by level */
	HammingChild centers[SH_INDEX_BLOCKS];	/* where the query's keys begin */
	bool		crowded;		/* extent is not even, for this query */

	/* an ordinary search */
	bool		started;
	int			plan_k;			/* what the plan was made for; -1: none */
	ShSearchPlan plan;
	struct HammingNearest *knn;
	int			done[SH_INDEX_BLOCKS];	/* shells passed, nearest first */

	/* rows with a NULL fingerprint, which are not in the index */
	bool		want_nulls;
	struct Tuplesortstate *nulls;
	IndexTuple	nothing;		/* for those who want no column */

	/* matches being handed out */
	bool		keep_pin;
	Buffer		pinned;			/* leaf page of the matches, if keep_pin */
	int			nmatches;
	int			next_match;
	int			npages;
	int			nkilled;
	HammingMatch *matches;
	HammingPage *pages;
} HammingScan;

/* hamming_am.c */
extern Datum hamming_handler(PG_FUNCTION_ARGS);
extern const IndexAmRoutine *hamming_btree(void);
extern bool hamming_validate(Oid opclass);

/* hamming_buffer.c */
extern Buffer hamming_pin_page(Relation rel, BlockNumber blkno);
extern Buffer hamming_recent_buffer(Relation rel, BlockNumber blkno);

/* hamming_build.c */
extern IndexBuildResult *hamming_build(Relation heap, Relation index,
									   IndexInfo *info);
extern bool hamming_datum_fingerprint(Relation index, Datum value,
									  uint64 *fingerprint);

/* hamming_insert.c */
extern bool hamming_insert(Relation index, Datum *values, bool *isnull,
						   ItemPointer tid, Relation heap,
						   IndexUniqueCheck check, bool unchanged,
						   IndexInfo *info);

/* hamming_page.c */
extern bool hamming_read_page(IndexScanDesc scan);
extern void hamming_kill(IndexScanDesc scan);

/* hamming_runs.c */
extern void hamming_begin_passes(HammingScan *so);
extern void hamming_add_pass(HammingScan *so, int block, int nearest,
							 int farthest, const int *done);
extern bool hamming_next_visit(IndexScanDesc scan);
extern bool hamming_next_on_page(HammingScan *so, BlockNumber blkno);

/* hamming_survey.c */
extern bool hamming_survey(IndexScanDesc scan);

/* hamming_scan.c */
extern IndexScanDesc hamming_beginscan(Relation index, int nkeys,
									   int norderbys);
extern void hamming_rescan(IndexScanDesc scan, ScanKey keys, int nkeys,
						   ScanKey orderbys, int norderbys);
extern bool hamming_gettuple(IndexScanDesc scan, ScanDirection dir);
extern int64 hamming_getbitmap(IndexScanDesc scan, TIDBitmap *tbm);
extern void hamming_endscan(IndexScanDesc scan);
extern void hamming_prepare_matches(HammingScan *so);

/* hamming_knn.c */
extern void hamming_nearest_reset(HammingScan *so);
extern bool hamming_nearest_fill(IndexScanDesc scan);

/* hamming_tree.c */
extern void hamming_lock_page(IndexScanDesc scan, Buffer buffer);
extern void hamming_fell_off(IndexScanDesc scan);
extern OffsetNumber hamming_search(Page page, OffsetNumber low,
								   OffsetNumber high, int64 key);
extern bool hamming_descend(IndexScanDesc scan, int64 key,
							HammingChild *page);
extern bool hamming_locate(IndexScanDesc scan, HammingVisit *visit);
extern bool hamming_reaches(HammingScan *so, int64 from, int64 to,
							int pages);
extern double hamming_share(IndexScanDesc scan, int64 key);
extern void hamming_unpin_path(HammingScan *so);
extern void hamming_forget_path(HammingScan *so);

/* hamming_cost.c */
extern void hamming_costestimate(PlannerInfo *root, IndexPath *path,
								 double loop_count, Cost *startup,
								 Cost *total, Selectivity *selectivity,
								 double *correlation, double *pages);

#endif							/* HAMMING_H */
