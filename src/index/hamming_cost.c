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
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"

#include "index/hamming.h"
#include "search/search.h"

/* Cost of comparing an entry, in units of cpu_operator_cost. */
#define HAMMING_COMPARE_COST	0.1

/*
 * Cost of a row that comes in order of distance: it is fetched from a random
 * place, and often has to wait in the executor's queue, as its distance was
 * but a lower bound.  In units of cpu_operator_cost.
 */
#define HAMMING_ORDERED_ROW_COST	50.0

/*
 * The radius of a search that is known at execution time only: the same that
 * key_paths.c assumes, lest the keys look better for a smaller radius.
 */
#define HAMMING_UNKNOWN_RADIUS	SH_NEAR

/* Most passes through all entries until the last row has come in order. */
#define HAMMING_PASSES			4

/* More than any honest path. */
#define HAMMING_NEVER			1.0e12

/*
 * The smallest radius among the conditions of a path, or among those around
 * the given center; -1: none.
 */
static int
path_radius(PlannerInfo *root, IndexPath *path, Node *around)
{
	IndexOptInfo *index = path->indexinfo;
	int			least = -1;
	ListCell   *lc;

	foreach(lc, get_quals_from_indexclauses(path->indexclauses))
	{
		OpExpr	   *op = (OpExpr *) ((RestrictInfo *) lfirst(lc))->clause;
		Node	   *center = NULL;
		Node	   *bound;
		int			radius = SH_NEAR;

		if (!IsA(op, OpExpr) || list_length(op->args) != 2)
			continue;
		if (index->opcintype[0] == INT8OID &&
			get_op_opfamily_strategy(op->opno, index->opfamily[0]) ==
			SIMHASH_NEAR_STRATEGY)
			center = lsecond(op->args);
		else if (simhash_ball_parts(root, lsecond(op->args), &center, &bound))
			radius = simhash_known_radius(bound, HAMMING_UNKNOWN_RADIUS);
		if ((around == NULL || equal(center, around)) &&
			(least < 0 || radius < least))
			least = radius;
	}
	return least;
}

/* How far a search goes that is to find some rows, were the rows random. */
static int
nearest_radius(double rows)
{
	int			radius = 0;

	while (radius < SH_INDEX_BITS &&
		   rows * sh_ball_size(SH_INDEX_BITS, radius) <
		   ldexp(1.0, SH_INDEX_BITS))
		radius++;
	return radius;
}

/* The cost of one plan: pages that are not cached, and comparisons. */
static Cost
plan_cost(PlannerInfo *root, IndexOptInfo *index, const ShSearchPlan *plan,
		  double loop_count)
{
	double		random_cost;
	double		sequential_cost;
	double		pages = plan->total.pages;

	get_tablespace_page_costs(index->reltablespace, &random_cost,
							  &sequential_cost);
	if (loop_count > 1)
		pages = index_pages_fetched(pages * loop_count, index->pages,
									index->pages, root) / loop_count;
	return pages * (sh_is_pass(plan) ? sequential_cost : random_cost) +
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
	ShSearchPlan pass;

	sh_plan_search(extent, SH_INDEX_BITS, &pass);
	return Min(plan_cost(root, index, plan, loop_count),
			   plan_cost(root, index, &pass, loop_count));
}

/*
 * Estimate a nearest-first scan.
 *
 * It begins to return rows when it has come as far as the nearest ones are
 * likely to be, and ends where a condition lets no row be further away, or
 * else when it has come to the last one, after a few passes through all
 * entries.
 */
static void
estimate_nearest(PlannerInfo *root, IndexPath *path, const ShExtent *extent,
				 double loop_count, double rows,
				 Cost *startup, Cost *total, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	OpExpr	   *order = (OpExpr *) linitial(path->indexorderbys);
	int			farthest = path_radius(root, path, lsecond(order->args));
	int			nearest = nearest_radius(extent->rows);
	ShSearchPlan first;
	ShSearchPlan all;
	double		passes = 1;

	if (farthest < 0)
		farthest = SH_INDEX_BITS;
	sh_plan_search(extent, Min(nearest, farthest), &first);
	sh_plan_search(extent, farthest, &all);
	if (sh_is_pass(&all))
		passes = Min(1 + rows / HAMMING_NEAREST, HAMMING_PASSES);
	*startup = search_cost(root, index, extent, &first, loop_count);
	*total = Max(*startup,
				 passes * search_cost(root, index, extent, &all, loop_count)) +
		rows * HAMMING_ORDERED_ROW_COST * cpu_operator_cost;
	*pages = all.total.pages;
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
	int			radius;

	sh_even_extent(&extent, Max(index->tuples, 1.0), HAMMING_PER_PAGE);

	*selectivity =
		clauselist_selectivity(root,
							   add_predicate_to_index_quals(index, quals),
							   index->rel->relid, JOIN_INNER, NULL);
	*correlation = 0.0;

	if (path->indexorderbys != NIL)
	{
		estimate_nearest(root, path, &extent, loop_count,
						 *selectivity * extent.rows, startup, total, pages);
		return;
	}

	radius = path_radius(root, path, NULL);
	sh_plan_search(&extent, radius < 0 ? SH_INDEX_BITS : radius, &plan);
	*startup = 0.0;
	*total = search_cost(root, index, &extent, &plan, loop_count);
	*pages = plan.total.pages;
	if (radius < 0)
		*startup = *total = HAMMING_NEVER;
}
