/*-------------------------------------------------------------------------
 *
 * hamming_cost.c
 *		What a scan of a hamming index costs, for the planner.
 *
 * The plan that a scan would make tells how many leaf pages are read and how
 * many entries compared (entries.c).  A comparison is taken for a tenth
 * of cpu_operator_cost: measured against a sequential scan, whose row costs
 * cpu_tuple_cost and cpu_operator_cost and takes some 50 ns, one that takes a
 * nanosecond costs about that.
 *
 * A search within a group goes through the index as any other does, for the
 * rows of a group are spread evenly.  It meets rows of other groups, too, and
 * looks each of them up in the table: hardly any within a small radius, but all
 * of them on the way to the last row by distance.
 *
 * A scan that does not know the group, or has nothing to search for, returns
 * all rows of the index; it goes through all entries of one block for that.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include <math.h>

#include "access/sysattr.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_opfamily.h"
#include "optimizer/cost.h"
#include "optimizer/restrictinfo.h"
#include "utils/spccache.h"

#include "planner/planner.h"

/* Cost of comparing an entry, in units of cpu_operator_cost. */
#define HAMMING_COMPARE_COST	0.1

/*
 * Cost of a row that comes in order of distance: it is fetched from a random
 * place, and often has to wait in the executor's queue, as its distance was
 * but a lower bound.  In units of cpu_operator_cost.
 */
#define HAMMING_ORDERED_ROW_COST	50.0

/*
 * Cost of a row of another group that a scan in order of distance meets: it is
 * looked up in the table, takes some 2 us, and does not count for a LIMIT.
 */
#define HAMMING_STRANGER_COST		150.0

/*
 * Of the rows that a bitmap scan finds, the share for which the executor tests
 * the condition once more: those near the border of a ball.  Of one condition
 * that is nothing; of ANY (array) it is a test by half of the elements, which
 * cost_bitmap_heap_scan() would charge for all of the rows.
 */
#define HAMMING_RECHECKED			0.5

/*
 * Up to so many rows a bitmap takes longer to set up, 5 us, than it saves, which
 * cost_bitmap_heap_scan() does not know: to the planner they lie side by side.
 */
#define HAMMING_FEW_ROWS			4

/*
 * The radius of a search that is known at execution time only: the same that
 * key_paths.c assumes, lest the keys look better for a smaller radius.
 */
#define HAMMING_UNKNOWN_RADIUS	SH_NEAR

/* The same for fingerprints of several words: some bits of each. */
#define HAMMING_UNKNOWN_SHARE	7

/*
 * Most passes through all entries until the last row has come in order, and rows
 * for which one is enough.
 */
#define HAMMING_PASSES			4
#define HAMMING_PASS_ROWS		8192

/* More than any honest path. */
#define HAMMING_NEVER			1.0e12

/* What the conditions of a path ask for. */
typedef struct PathSearch
{
	const ShLayout *layout;
	bool		unfit;			/* it cannot be made by the index */
	int			fingerprint;	/* the column of fingerprints, from 0 on */
	Node	   *around;			/* if set, balls of other centers do not count */
	Bitmapset  *equal;			/* columns that are compared by = */
	int			radius;			/* the smallest of any ball; -1: none */
	double		times;			/* searches, where there is one for each of an
								 * array */
} PathSearch;

/*
 * See which column of an index has the fingerprints, and how they are cut.  One
 * that somebody only imagines has 64 bits in its last column, and one that serves
 * no search is as good as that.
 */
static void
examine_index(IndexOptInfo *info, PathSearch *search)
{
	HammingIndexState state = {.fingerprint = info->nkeycolumns - 1};

	search->layout = hamming_layout_of_width(SH_BITS);
	if (!info->hypothetical)
	{
		Relation	index = index_open(info->indexoid, NoLock);

		(void) hamming_known_state(index, &state);
		index_close(index, NoLock);
		search->unfit = state.layout == NULL;
		if (state.layout != NULL)
			search->layout = state.layout;
	}
	search->fingerprint = state.fingerprint;
}

/* The radius of a search within it if nothing is known of that. */
static int
unknown_radius(const ShLayout *layout)
{
	return layout->words == 1 ? HAMMING_UNKNOWN_RADIUS :
		HAMMING_UNKNOWN_SHARE * layout->words;
}

/* Take a condition on the fingerprint. */
static void
take_search(PlannerInfo *root, IndexOptInfo *index, PathSearch *search,
			int strategy, Node *query)
{
	Node	   *center = NULL;
	Node	   *bound;
	int			radius = SH_NEAR;

	if (strategy == SIMHASH_EQUAL_STRATEGY)
		radius = 0;
	if (strategy == SIMHASH_EQUAL_STRATEGY ||
		(strategy == SIMHASH_NEAR_STRATEGY &&
		 index->opcintype[search->fingerprint] == INT8OID))
		center = query;
	else if (query == NULL)
		radius = unknown_radius(search->layout);
	else if (simhash_ball_parts(root, query, &center, &bound))
	{
		radius = simhash_known_radius(bound, unknown_radius(search->layout),
									  search->layout->width);

		/* A scan would not complain of it; the operator has to. */
		search->unfit |= index->opcintype[search->fingerprint] == INT8OID &&
			simhash_is_wrong_radius(bound);
	}
	if ((search->around == NULL || equal(center, search->around)) &&
		(search->radius < 0 || radius < search->radius))
		search->radius = radius;
}

/* Take a condition on a column. */
static void
take_clause(PlannerInfo *root, IndexOptInfo *index, PathSearch *search,
			int column, Node *clause)
{
	Oid			operator;
	List	   *args;
	Node	   *query = NULL;	/* unknown: one of many */
	int			strategy;

	if (IsA(clause, OpExpr))
	{
		operator = ((OpExpr *) clause)->opno;
		args = ((OpExpr *) clause)->args;
		query = lsecond(args);
	}
	else if (IsA(clause, ScalarArrayOpExpr))
	{
		operator = ((ScalarArrayOpExpr *) clause)->opno;
		args = ((ScalarArrayOpExpr *) clause)->args;
		search->times *= Max(simhash_array_length(root, lsecond(args)), 1);
	}
	else
		return;
	strategy = get_op_opfamily_strategy(operator, index->opfamily[column]);
	if (column == search->fingerprint)
		take_search(root, index, search, strategy, query);
	else if (strategy == SIMHASH_EQUAL_STRATEGY ||
			 index->opfamily[column] == BOOL_HASH_FAM_OID)
		search->equal = bms_add_member(search->equal, column);
}

/*
 * See what the conditions of a path ask for.  Of balls only those around the
 * given center count, if one is given.
 */
static void
examine_path(PlannerInfo *root, IndexPath *path, Node *around,
			 PathSearch *search)
{
	ListCell   *lc;

	*search = (PathSearch)
	{
		.around = around,.radius = -1,.times = 1
	};
	examine_index(path->indexinfo, search);
	foreach(lc, path->indexclauses)
	{
		IndexClause *clause = (IndexClause *) lfirst(lc);
		ListCell   *lq;

		foreach(lq, clause->indexquals)
			take_clause(root, path->indexinfo, search, clause->indexcol,
						(Node *) ((RestrictInfo *) lfirst(lq))->clause);
	}
}

/*
 * Does the index search for a path?  It has to know the group, and to search
 * for a fingerprint, or in order of the distance from one.  Any other scan
 * returns all rows.
 */
static bool
is_search(IndexPath *path, const PathSearch *search)
{
	if (bms_num_members(search->equal) != path->indexinfo->nkeycolumns - 1)
		return false;
	return path->indexorderbys == NIL ? search->radius >= 0 :
		linitial_int(path->indexorderbycols) == search->fingerprint;
}

/*
 * Plan a search within k.  Of several words each has its share of the k, and
 * the plan is that of the first word but for the totals.
 */
static void
plan_search(const ShExtent *extent, int k, ShSearchPlan *plan)
{
	int			words = extent->layout->words;
	ShSearchWork total = {0};

	for (int w = words - 1; w >= 0; w--)
	{
		sh_plan_search(extent, hamming_even_units(extent->layout, k, w) - 1,
					   plan);
		total.pages += plan->total.pages;
		total.cost += plan->total.cost;
	}
	plan->total.pages = total.pages;
	plan->total.cost = total.cost;
}

/* The cost of one plan: pages that are not cached, and comparisons. */
static Cost
plan_cost(PlannerInfo *root, IndexOptInfo *index, const ShLayout *layout,
		  const ShSearchPlan *plan, double loop_count)
{
	double		random_cost;
	double		sequential_cost;
	double		pages = plan->total.pages;

	get_tablespace_page_costs(index->reltablespace, &random_cost,
							  &sequential_cost);
	if (loop_count > 1)
		pages = index_pages_fetched(pages * loop_count, index->pages,
									index->pages, root) / loop_count;
	return pages * (sh_is_pass(layout, plan) ? sequential_cost : random_cost) +
		plan->total.cost * HAMMING_COMPARE_COST * cpu_operator_cost;
}

/*
 * The cost of a search within a radius.  The scan itself takes probes or a
 * pass, whichever is faster when pages are in memory; random_page_cost counts
 * probes for more, but no search is worse than a pass.
 */
static Cost
search_cost(PlannerInfo *root, IndexOptInfo *index, const ShExtent *extent,
			const ShSearchPlan *plan, double loop_count)
{
	int			words = extent->layout->words;
	ShSearchPlan pass;

	sh_plan_pass(extent, &pass);
	pass.total.pages *= words;
	pass.total.cost *= words;
	return Min(plan_cost(root, index, extent->layout, plan, loop_count),
			   plan_cost(root, index, extent->layout, &pass, loop_count));
}

/*
 * Estimate a nearest-first scan.
 *
 * Were fingerprints of several words random, the nearest would be so far away
 * that no index helps.  Who asks for them has some that are near, so the scan
 * is expected to find these when it has searched within one bit of each block.
 *
 * It begins to return rows when it has come as far as the nearest ones of the
 * group are likely to be, and visits rows of all groups on the way.  It ends
 * where a condition lets no row be further away, or
 * else when it has come to the last one, after a few passes through all
 * entries.
 */
static void
estimate_nearest(PlannerInfo *root, IndexPath *path, const ShExtent *extent,
				 double loop_count, double rows, double visited,
				 Cost *startup, Cost *total, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	OpExpr	   *order = (OpExpr *) linitial(path->indexorderbys);
	const ShLayout *layout = extent->layout;
	int			nearest = layout->words == 1 ? hamming_random_radius(layout, rows) :
	2 * hamming_row_entries(layout) - 1;
	int			farthest;
	PathSearch	search;
	ShSearchPlan first;
	ShSearchPlan all;
	double		passes = 1;

	examine_path(root, path, lsecond(order->args), &search);
	farthest = search.radius >= 0 ? search.radius : layout->width;
	plan_search(extent, Min(nearest, farthest), &first);
	plan_search(extent, farthest, &all);
	if (sh_is_pass(layout, &all) && layout->words == 1)
		passes = Min(1 + visited / HAMMING_PASS_ROWS, HAMMING_PASSES);
	*startup = search_cost(root, index, extent, &first, loop_count);
	*total = Max(*startup,
				 passes * search_cost(root, index, extent, &all, loop_count)) +
		(rows * HAMMING_ORDERED_ROW_COST +
		 (visited - rows) * HAMMING_STRANGER_COST) * cpu_operator_cost;
	*pages = all.total.pages;
}

/*
 * Estimate a scan that returns all rows, and leaves it to the executor which
 * of them are wanted.  If in some order, none can go on before all are there.
 */
static void
estimate_all(PlannerInfo *root, IndexPath *path, const ShExtent *extent,
			 double times, double loop_count, Cost *startup, Cost *total,
			 double *pages)
{
	ShSearchPlan pass;
	QualCost	recheck;

	sh_plan_pass(extent, &pass);
	cost_qual_eval(&recheck, get_quals_from_indexclauses(path->indexclauses),
				   root);
	*startup = 0.0;
	*total = recheck.startup + recheck.per_tuple * extent->rows +
		times * plan_cost(root, path->indexinfo, extent->layout, &pass,
						  loop_count * times);
	if (path->indexorderbys != NIL)
		*startup = *total +=
			extent->rows * HAMMING_STRANGER_COST * cpu_operator_cost;
	*pages = pass.total.pages;
}

/*
 * The share of unrelated rows that a search finds within a radius, in any word;
 * -1: any radius.
 */
static double
random_share(const ShLayout *layout, int radius)
{
	if (radius < 0 || radius >= layout->kept * layout->words)
		return 1;
	return Min(layout->words * ldexp(sh_ball_size(layout->kept,
												  radius / layout->words),
									 -layout->kept), 1);
}

/*
 * Does the query want to know where the rows of a table are, as FOR UPDATE does?
 * Of a row that had to wait for its turn in a scan by distance, the executor
 * does not know it any more: ExecForceStoreHeapTuple() drops tts_tid.
 */
static bool
wants_places(RelOptInfo *rel)
{
	Bitmapset  *columns = NULL;

	pull_varattnos((Node *) rel->reltarget->exprs, rel->relid, &columns);
	pull_varattnos((Node *) extract_actual_clauses(rel->baserestrictinfo, false),
				   rel->relid, &columns);
	return bms_is_member(SelfItemPointerAttributeNumber -
						 FirstLowInvalidHeapAttributeNumber, columns);
}

/*
 * Estimate a scan.
 */
void
hamming_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
					 Cost *startup, Cost *total, Selectivity *selectivity,
					 double *correlation, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	List	   *quals = get_quals_from_indexclauses(path->indexclauses);
	ShExtent	extent;
	ShSearchPlan plan;
	PathSearch	search;
	double		rows;

	examine_path(root, path, NULL, &search);
	sh_even_extent(&extent, search.layout, Max(index->tuples, 1.0),
				   HAMMING_PER_PAGE);
	*selectivity =
		clauselist_selectivity(root,
							   add_predicate_to_index_quals(index, quals),
							   index->rel->relid, JOIN_INNER, NULL);
	rows = *selectivity * extent.rows;
	*correlation = 0.0;
	if (index->nkeycolumns > 1)
		*selectivity = Max(*selectivity, random_share(search.layout, search.radius));

	if (!is_search(path, &search))
	{
		*selectivity = Min(extent.rows / Max(index->rel->tuples, 1.0), 1.0);
		estimate_all(root, path, &extent, search.times, loop_count,
					 startup, total, pages);
	}
	else if (path->indexorderbys != NIL)
		estimate_nearest(root, path, &extent, loop_count,
						 rows, *selectivity * extent.rows,
						 startup, total, pages);
	else
	{
		plan_search(&extent, search.radius < 0 ? search.layout->width :
					search.radius, &plan);
		*correlation = rows <= HAMMING_FEW_ROWS ? 1.0 : 0.0;
		*startup = 0.0;
		*total = search.times *
			search_cost(root, index, &extent, &plan, loop_count * search.times);
		*pages = plan.total.pages;
		if (search.times > 1)
			*selectivity *= HAMMING_RECHECKED;
	}
	if (search.unfit ||
		(path->indexorderbys != NIL && wants_places(index->rel)))
	{
		*startup = *total = HAMMING_NEVER;
		simhash_disable_path(path);
	}
}
