/*-------------------------------------------------------------------------
 *
 * key_scan.c
 *		A scan of a table by covering btrees on its keys: those that hold the
 *		fingerprint as well, as  (k0) INCLUDE (fp)  does.
 *
 * A bitmap of all rows that share a key has the table's pages read for some
 * sixty candidates a match in a million rows, and more for greater distances.
 * Here the fingerprint is compared where the key was found, in the index, and
 * only rows that match are fetched, each by the snapshot as in any index scan.
 * So it makes no difference whether vacuum has marked pages all-visible, which
 * an index-only scan of the executor's would ask for each candidate.
 *
 * Each row once.  A match may have keys that are looked up in several blocks. It
 * is taken from the first of these, which its fingerprint tells.  That holds
 * since a row is in all the indexes, with one fingerprint: a row that is given
 * another one gets new entries in every index that holds it.
 *
 * The node is a CustomScan.  Its children are index scans as the planner makes
 * them, one for each block: they have the conditions and what EXPLAIN shows of
 * them, but are never asked for a row.  We go through their indexes ourselves.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "keys/keys.h"

#include "access/relscan.h"
#include "commands/explain.h"
#include "executor/nodeCustom.h"
#include "nodes/extensible.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/restrictinfo.h"

#include "core/blocks/probes.h"

/* An index as the scan goes through it. */
typedef struct KeyScanIndex
{
	IndexScanState *state;
	int			block;
	AttrNumber	fingerprint;	/* the column that holds it */
} KeyScanIndex;

typedef struct KeyScan
{
	CustomScanState custom;
	ExprState  *center;
	ExprState  *radius;
	KeyScanIndex indexes[SH_BLOCKS];
	int			nindexes;

	bool		begun;			/* since the last rescan */
	int			current;		/* the index that is gone through */
	uint64		around;			/* the value of the center, */
	int64		reach;			/* and of the radius */
} KeyScan;

/* Ask the indexes for their keys, and evaluate the ball. */
static void
begin_search(KeyScan *scan)
{
	ScanState  *ss = &scan->custom.ss;
	ExprContext *econtext = ss->ps.ps_ExprContext;
	Datum		center;
	Datum		radius;
	bool		no_center;
	bool		no_radius;

	for (int i = 0; i < scan->nindexes; i++)
	{
		IndexScanState *index = scan->indexes[i].state;

		if (index->iss_ScanDesc == NULL)
		{
			index->iss_ScanDesc =
				simhash_index_beginscan(ss->ss_currentRelation,
										index->iss_RelationDesc,
										ss->ps.state->es_snapshot,
										index->iss_NumScanKeys);
			index->iss_ScanDesc->xs_want_itup = true;
			simhash_instrument(index->iss_ScanDesc, index);
		}
		ExecReScan(&index->ss.ps);
	}
	center = ExecEvalExprSwitchContext(scan->center, econtext, &no_center);
	radius = ExecEvalExprSwitchContext(scan->radius, econtext, &no_radius);
	scan->reach = -1;
	if (!no_center && !no_radius)
	{
		scan->around = (uint64) DatumGetInt64(center);
		scan->reach = Min(DatumGetInt64(radius), SH_BITS);
	}
	scan->current = 0;
	scan->begun = true;
}

/*
 * Is a fingerprint a match, and is the given block the first in which its key
 * is looked up?
 */
static bool
is_first(const KeyScan *scan, int64 fingerprint, int block)
{
	uint64		differ = (uint64) fingerprint ^ scan->around;

	if (sh_distance(differ, 0) > scan->reach)
		return false;
	for (int b = 0; b < block; b++)
	{
		if (sh_distance((uint16) sh_block_key(differ, b), 0) <=
			sh_block_radius((int) scan->reach, b))
			return false;
	}
	return true;
}

/* The next entry of an index whose fingerprint is such a match; false at the end. */
static bool
next_entry(const KeyScan *scan, const KeyScanIndex *index)
{
	IndexScanDesc desc = index->state->iss_ScanDesc;
	NodeInstrumentation *instrument = index->state->ss.ps.instrument;

	for (;;)
	{
		ItemPointer tid;
		bool		isnull;
		Datum		fingerprint;

		CHECK_FOR_INTERRUPTS();
		if (instrument)
			InstrStartNode(instrument);
		tid = index_getnext_tid(desc, ForwardScanDirection);
		if (instrument)
			InstrStopNode(instrument, tid != NULL);
		if (tid == NULL)
			return false;
		fingerprint = index_getattr(desc->xs_itup, index->fingerprint,
									desc->xs_itupdesc, &isnull);
		if (!isnull && is_first(scan, DatumGetInt64(fingerprint), index->block))
			return true;
	}
}

/* ExecScanAccessMtd: the next match that the snapshot sees. */
static TupleTableSlot *
next_row(ScanState *node)
{
	KeyScan    *scan = (KeyScan *) node;
	TupleTableSlot *slot = node->ss_ScanTupleSlot;

	if (!scan->begun)
		begin_search(scan);
	for (; scan->current < scan->nindexes; scan->current++)
	{
		const KeyScanIndex *index = &scan->indexes[scan->current];

		while (next_entry(scan, index))
		{
			if (index_fetch_heap(index->state->iss_ScanDesc, slot))
				return slot;
		}
	}
	return ExecClearTuple(slot);
}

/* ExecScanRecheckMtd: the node's own conditions say all that the indexes do. */
static bool
recheck_row(ScanState *node, TupleTableSlot *slot)
{
	(void) node;
	(void) slot;
	return true;
}

static TupleTableSlot *
exec_key_scan(CustomScanState *node)
{
	return ExecScan(&node->ss, next_row, recheck_row);
}

/*
 * Begin, with a slot of the table's own kind: the executor has made one that
 * knows neither xmin nor where a row is.
 */
static void
begin_key_scan(CustomScanState *node, EState *estate, int eflags)
{
	KeyScan    *scan = (KeyScan *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;
	Relation	table = node->ss.ss_currentRelation;
	ListCell   *lc;

	ExecInitScanTupleSlot(estate, &node->ss, RelationGetDescr(table),
						  table_slot_callbacks(table), 0);
	ExecAssignScanProjectionInfo(&node->ss);
	node->ss.ps.qual = ExecInitQual(plan->scan.plan.qual, &node->ss.ps);
	scan->center = ExecInitExpr(linitial(plan->custom_exprs), &node->ss.ps);
	scan->radius = ExecInitExpr(lsecond(plan->custom_exprs), &node->ss.ps);
	foreach(lc, plan->custom_plans)
	{
		KeyScanIndex *index = &scan->indexes[scan->nindexes];
		PlanState  *child = ExecInitNode(lfirst(lc), estate, eflags);

		index->state = castNode(IndexScanState, child);
		index->block = list_nth_int(plan->custom_private, 2 * scan->nindexes);
		index->fingerprint = (AttrNumber)
			list_nth_int(plan->custom_private, 2 * scan->nindexes + 1);
		scan->nindexes++;
		node->custom_ps = lappend(node->custom_ps, child);
	}
}

/* Begin anew when there is a row to be had, with other values perhaps. */
static void
rescan_key_scan(CustomScanState *node)
{
	ListCell   *lc;

	foreach(lc, node->custom_ps)
		UpdateChangedParamSet(lfirst(lc), node->ss.ps.chgParam);
	((KeyScan *) node)->begun = false;
	ExecScanReScan(&node->ss);
}

static void
end_key_scan(CustomScanState *node)
{
	ListCell   *lc;

	foreach(lc, node->custom_ps)
		ExecEndNode(lfirst(lc));
}

static const CustomExecMethods exec_methods = {
	.CustomName = "simhash_keys",
	.BeginCustomScan = begin_key_scan,
	.ExecCustomScan = exec_key_scan,
	.EndCustomScan = end_key_scan,
	.ReScanCustomScan = rescan_key_scan
};

static Node *
make_state(CustomScan *plan)
{
	KeyScan    *scan = (KeyScan *) newNode(sizeof *scan, T_CustomScanState);

	(void) plan;
	scan->custom.methods = &exec_methods;
	return (Node *) scan;
}

static const CustomScanMethods scan_methods = {"simhash_keys", make_state};

/*
 * PlanCustomPath.  The node evaluates all conditions of the query, and its
 * children none; of these without a column the planner makes a gate above the
 * node, and above each child, too, which is left out there.
 */
static Plan *
make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);
	ListCell   *lc;

	(void) root;
	foreach(lc, children)
	{
		Plan	   *child = lfirst(lc);

		if (IsA(child, Result))
			lfirst(lc) = child = outerPlan(child);
		if (!IsA(child, IndexScan))
			elog(ERROR, "a scan by key columns got a plan that is no index scan");
		child->targetlist = NIL;
		child->qual = NIL;
	}
	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_plans = children;
	scan->custom_exprs = list_copy_head(path->custom_private, 2);
	scan->custom_private = lthird(path->custom_private);
	scan->methods = &scan_methods;
	return &scan->scan.plan;
}

/*
 * ReparameterizeCustomPathByChild: the ball comes from a partition of the table
 * that it came from.
 */
static List *
reparameterize(PlannerInfo *root, List *private, RelOptInfo *child)
{
	return list_make3(simhash_adjust_to_child(root, linitial(private), child),
					  simhash_adjust_to_child(root, lsecond(private), child),
					  lthird(private));
}

static const CustomPathMethods path_methods = {
	.CustomName = "simhash_keys",
	.PlanCustomPath = make_plan,
	.ReparameterizeCustomPathByChild = reparameterize
};

/*
 * The path of such a scan.  "paths" are those of its indexes; "places" has for
 * each of them its block, and the column that holds the fingerprint.
 */
Path	   *
simhash_key_scan_path(PlannerInfo *root, RelOptInfo *rel, Node *center,
					  Node *radius, List *paths, List *places, Relids outer,
					  double loop_count)
{
	CustomPath *result = makeNode(CustomPath);
	Path	   *path = &result->path;
	double		candidates = 0;
	double		index_pages = 0;
	double		matches;
	ListCell   *lc;

	path->pathtype = T_CustomScan;
	path->parent = rel;
	path->pathtarget = rel->reltarget;
	path->param_info = get_baserel_parampathinfo(root, rel, outer);
	path->parallel_safe = rel->consider_parallel;
	path->rows = path->param_info ? path->param_info->ppi_rows : rel->rows;
	foreach(lc, paths)
	{
		IndexPath  *index = lfirst(lc);

		index->path.rows = index->indexselectivity * rel->tuples;
		index->path.total_cost = index->indextotalcost;
		candidates += index->path.rows;
		index_pages += index->indexinfo->pages;
		path->total_cost += index->indextotalcost;
	}
	matches = Min(candidates, path->rows);
	path->total_cost += candidates * cpu_operator_cost +
		matches * (cpu_tuple_cost + rel->baserestrictcost.per_tuple) +
		random_page_cost / loop_count *
		index_pages_fetched(matches * loop_count, rel->pages, index_pages, root);
	result->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	result->custom_paths = paths;
	result->custom_private = list_make3(center, radius, places);
	result->methods = &path_methods;
	return path;
}

/* Make the node known, for those who read a plan from what another wrote. */
void
simhash_register_key_scan(void)
{
	RegisterCustomScanMethods(&scan_methods);
}
