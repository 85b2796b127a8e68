/*-------------------------------------------------------------------------
 *
 * seq_scan.c
 *		A sequential scan that tests the distance before it makes a row.
 *
 * Where no index serves a search, every row of the table is read.  Counting
 * bits takes a nanosecond; what takes the time in a Seq Scan is to put each
 * row in a slot, take it apart up to the fingerprint's column, and run the
 * executor's interpreter over the condition.  The custom scan here asks the
 * heap for its next visible tuple, fetches the one column, counts, and goes
 * on within one loop; only a tuple in reach becomes a row.
 *
 * What makes it right.  The scan drops rows and does nothing else: a row is
 * dropped when a condition  fp ~= q,  fp <@ ball  or  ball @> fp  is not true
 * for it, and all conditions of the query, that one among them, stay in the
 * node's filter.  So rechecks after a concurrent update, row security and the
 * order of conditions are the executor's, as ever.  Nothing of a policy can
 * leak, for what is dropped here runs no code that could tell of it.
 *
 * The column is a plain bigint column of a heap table, the query side does
 * not depend on the table and gives the same for all its rows.  Snapshots,
 * predicate locks and the division of a table among parallel workers are the
 * table access method's.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "executor/instrument.h"
#include "nodes/extensible.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/spccache.h"

/*
 * The CPU cost of a row that is dropped, in units of cpu_operator_cost.  A
 * Seq Scan takes cpu_tuple_cost and the operator, 5 such units by default.
 */
#define DROP_OPERATORS		2

/* A condition that the scan can test by itself. */
typedef struct SeqSearch
{
	SimhashClause clause;
	AttrNumber	column;			/* of the fingerprint */
	Selectivity selectivity;
} SeqSearch;

/* What is at custom_private of a path and of a plan: two integers. */
enum
{
	PRIVATE_COLUMN,
	PRIVATE_IS_BALL
};

/* The node as it is executed. */
typedef struct HammingSeqScan
{
	CustomScanState css;		/* must be first */

	/* what stays */
	AttrNumber	column;
	bool		is_ball;
	ExprState  *query;

	/* what moves */
	bool		begun;			/* is the ball known? */
	bool		none;			/* it is NULL, so that no row matches */
	SimhashBall ball;
} HammingSeqScan;

static bool enable_seq_scan = true;
static set_rel_pathlist_hook_type previous_hook = NULL;

static Plan *plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					   List *tlist, List *clauses, List *custom_plans);
static Node *create_scan_state(CustomScan *plan);
static void begin_scan(CustomScanState *node, EState *estate, int eflags);
static TupleTableSlot *exec_scan(CustomScanState *node);
static void end_scan(CustomScanState *node);
static void rescan(CustomScanState *node);
static Size estimate_dsm(CustomScanState *node, ParallelContext *pcxt);
static void initialize_dsm(CustomScanState *node, ParallelContext *pcxt,
						   void *coordinate);
static void reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
							 void *coordinate);
static void initialize_worker(CustomScanState *node, shm_toc *toc,
							  void *coordinate);

static const CustomPathMethods path_methods = {
	.CustomName = "Hamming Seq Scan",
	.PlanCustomPath = plan_scan
};

static const CustomScanMethods scan_methods = {
	.CustomName = "Hamming Seq Scan",
	.CreateCustomScanState = create_scan_state
};

static const CustomExecMethods exec_methods = {
	.CustomName = "Hamming Seq Scan",
	.BeginCustomScan = begin_scan,
	.ExecCustomScan = exec_scan,
	.EndCustomScan = end_scan,
	.ReScanCustomScan = rescan,
	.EstimateDSMCustomScan = estimate_dsm,
	.InitializeDSMCustomScan = initialize_dsm,
	.ReInitializeDSMCustomScan = reinitialize_dsm,
	.InitializeWorkerCustomScan = initialize_worker
};

/* --- planning ----------------------------------------------------------- */

/* See whether the operand is a stored bigint column of the relation. */
static bool
take_column(RelOptInfo *rel, Node *operand, AttrNumber *column)
{
	Var		   *var = (Var *) operand;

	if (!IsA(operand, Var) || var->varno != (int) rel->relid ||
		var->varlevelsup != 0 || var->varattno <= 0)
		return false;
	*column = var->varattno;
	return true;
}

/* Does a condition have a radius that its operator has to complain of? */
static bool
is_wrong(PlannerInfo *root, const SimhashClause *clause)
{
	Node	   *center;
	Node	   *radius;

	return clause->is_ball &&
		simhash_ball_parts(root, clause->query, &center, &radius) &&
		simhash_is_wrong_radius(radius);
}

/* See whether the condition is one that the scan can test. */
static bool
take_clause(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo,
			SeqSearch *search)
{
	for (int side = 0; side <= 1; side++)
	{
		if (!simhash_match_clause(root, rel, rinfo, side, &search->clause) ||
			search->clause.is_any ||
			!take_column(rel, search->clause.operand, &search->column) ||
			is_wrong(root, &search->clause))
			continue;
		search->selectivity = clause_selectivity(root, (Node *) rinfo, 0,
												 JOIN_INNER, NULL);
		return true;
	}
	return false;
}

/*
 * Make the path from that of the plain sequential scan, whose cost for pages,
 * for being disabled and for parallel workers is ours too.  Of its cost for
 * rows we take the share that is left when most of them are dropped early.
 */
static CustomPath *
make_path(PlannerInfo *root, RelOptInfo *rel, const SeqSearch *search,
		  int workers)
{
	Path	   *plain = create_seqscan_path(root, rel, NULL, workers);
	CustomPath *path = makeNode(CustomPath);
	double		row_cost = cpu_tuple_cost + rel->baserestrictcost.per_tuple;
	double		share = 1.0;
	double		page_cost;
	Cost		rows_cost;

	if (row_cost > 0)
		share = Min(share, search->selectivity +
					DROP_OPERATORS * cpu_operator_cost / row_cost);
	get_tablespace_page_costs(rel->reltablespace, NULL, &page_cost);
	rows_cost = plain->total_cost - plain->startup_cost -
		page_cost * rel->pages;
	path->path = *plain;
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->path.total_cost -= Max(0, rows_cost) * (1 - share);
	path->flags = CUSTOMPATH_SUPPORT_BACKWARD_SCAN |
		CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_private = list_make1((void *) search);
	path->methods = &path_methods;
	return path;
}

/* True when the relation is stored in a heap, which the scan reads. */
static bool
is_heap(Oid relid)
{
	Relation	relation = table_open(relid, NoLock);
	bool		result = relation->rd_tableam == GetHeapamTableAmRoutine();

	table_close(relation, NoLock);
	return result;
}

/* set_rel_pathlist_hook: offer the scan for the most selective search. */
static void
add_seq_scan(PlannerInfo *root, RelOptInfo *rel, Index rti,
			 RangeTblEntry *rte)
{
	SeqSearch  *best = NULL;
	ListCell   *lc;
	int			workers;

	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if (!enable_seq_scan || simhash_table_entry(root, rel) == NULL ||
		rte->tablesample || IS_DUMMY_REL(rel) ||
		!bms_is_empty(rel->lateral_relids))
		return;
	foreach(lc, rel->baserestrictinfo)
	{
		SeqSearch	search;

		if (!take_clause(root, rel, lfirst(lc), &search))
			continue;
		if (best == NULL)
			best = palloc(sizeof *best);
		else if (best->selectivity <= search.selectivity)
			continue;
		*best = search;
	}
	if (best == NULL || !is_heap(rte->relid))
		return;
	add_path(rel, &make_path(root, rel, best, 0)->path);
	if (!rel->consider_parallel)
		return;
	workers = compute_parallel_worker(rel, rel->pages, -1,
									  max_parallel_workers_per_gather);
	if (workers > 0)
		add_partial_path(rel, &make_path(root, rel, best, workers)->path);
}

/* PlanCustomPath: every condition stays in the filter. */
static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
		  List *clauses, List *custom_plans)
{
	const SeqSearch *search = linitial(path->custom_private);
	CustomScan *plan = makeNode(CustomScan);

	(void) root;
	(void) custom_plans;
	plan->scan.plan.targetlist = tlist;
	plan->scan.plan.qual = extract_actual_clauses(clauses, false);
	plan->scan.scanrelid = rel->relid;
	plan->flags = path->flags;
	plan->custom_exprs = list_make1(search->clause.query);
	plan->custom_private = list_make2_int(search->column, search->clause.is_ball);
	plan->methods = &scan_methods;
	return &plan->scan.plan;
}

/* --- execution ---------------------------------------------------------- */

/* CreateCustomScanState */
static Node *
create_scan_state(CustomScan *plan)
{
	HammingSeqScan *scan = palloc0(sizeof *scan);

	NodeSetTag(scan, T_CustomScanState);
	scan->css.methods = &exec_methods;
	scan->column = list_nth_int(plan->custom_private, PRIVATE_COLUMN);
	scan->is_ball = list_nth_int(plan->custom_private, PRIVATE_IS_BALL);
	return (Node *) scan;
}

/*
 * BeginCustomScan.  A custom scan is taken to make virtual tuples; ours are
 * the heap's, with their system columns, so what has been prepared for the
 * former is prepared anew.
 */
static void
begin_scan(CustomScanState *node, EState *estate, int eflags)
{
	HammingSeqScan *scan = (HammingSeqScan *) node;
	CustomScan *plan = (CustomScan *) node->ss.ps.plan;

	(void) eflags;
	simhash_init_table_slot(estate, &node->ss);
	ExecAssignScanProjectionInfoWithVarno(&node->ss, plan->scan.scanrelid);
	node->ss.ps.qual = ExecInitQual(plan->scan.plan.qual, &node->ss.ps);
	scan->query = ExecInitExpr(linitial(plan->custom_exprs), &node->ss.ps);
}

/* Learn what is sought. */
static void
learn_ball(HammingSeqScan *scan)
{
	ExprContext *context = scan->css.ss.ps.ps_ExprContext;
	MemoryContext old = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
	bool		isnull;
	Datum		query = ExecEvalExpr(scan->query, context, &isnull);

	if (isnull)
		scan->none = true;
	else if (scan->is_ball)
		scan->none = !simhash_get_scanned_ball(query, &scan->ball);
	else
	{
		scan->none = false;
		scan->ball.center = DatumGetInt64(query);
		scan->ball.radius = SH_NEAR;
	}
	MemoryContextSwitchTo(old);
}

/* Learn what is sought, and open the table unless workers share it. */
static void
start_reading(HammingSeqScan *scan)
{
	ScanState  *ss = &scan->css.ss;

	learn_ball(scan);
	scan->begun = true;
	if (ss->ss_currentScanDesc == NULL && !scan->none)
		ss->ss_currentScanDesc =
			simhash_table_beginscan(ss->ss_currentRelation,
									ss->ps.state->es_snapshot, ss);
}

/*
 * The next row in reach, for ExecScan, or an empty slot.
 *
 * The heap lets a query be cancelled at each page.
 */
SIMHASH_POPCOUNT_CLONES
static TupleTableSlot *
next_in_reach(ScanState *ss)
{
	HammingSeqScan *scan = (HammingSeqScan *) ss;
	TupleTableSlot *slot = ss->ss_ScanTupleSlot;
	TupleDesc	desc = slot->tts_tupleDescriptor;
	ScanDirection direction = ss->ps.state->es_direction;
	uint64		dropped = 0;
	HeapScanDesc heap;
	HeapTuple	tuple;

	if (!scan->begun)
		start_reading(scan);
	if (scan->none)
		return ExecClearTuple(slot);
	heap = (HeapScanDesc) ss->ss_currentScanDesc;
	while ((tuple = heap_getnext(&heap->rs_base, direction)) != NULL)
	{
		bool		isnull;
		Datum		fingerprint = heap_getattr(tuple, scan->column, desc,
											   &isnull);

		if (!isnull &&
			sh_distance((uint64) DatumGetInt64(fingerprint),
						(uint64) scan->ball.center) <= scan->ball.radius)
			break;
		dropped++;
	}
	InstrCountFiltered1(ss, dropped);
	if (tuple == NULL)
		return ExecClearTuple(slot);
	return ExecStoreBufferHeapTuple(tuple, slot, heap->rs_cbuf);
}

/* A row changed by others is tested by the filter, as any other. */
static bool
recheck(ScanState *ss, TupleTableSlot *slot)
{
	(void) ss;
	(void) slot;
	return true;
}

/* ExecCustomScan */
static TupleTableSlot *
exec_scan(CustomScanState *node)
{
	return ExecScan(&node->ss, next_in_reach, recheck);
}

/* EndCustomScan */
static void
end_scan(CustomScanState *node)
{
	if (node->ss.ss_currentScanDesc != NULL)
		table_endscan(node->ss.ss_currentScanDesc);
}

/* ReScanCustomScan */
static void
rescan(CustomScanState *node)
{
	if (node->ss.ss_currentScanDesc != NULL)
		table_rescan(node->ss.ss_currentScanDesc, NULL);
	((HammingSeqScan *) node)->begun = false;
	ExecScanReScan(&node->ss);
}

/* EstimateDSMCustomScan */
static Size
estimate_dsm(CustomScanState *node, ParallelContext *pcxt)
{
	(void) pcxt;
	return table_parallelscan_estimate(node->ss.ss_currentRelation,
									   node->ss.ps.state->es_snapshot);
}

/* InitializeDSMCustomScan */
static void
initialize_dsm(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	(void) pcxt;
	table_parallelscan_initialize(node->ss.ss_currentRelation, coordinate,
								  node->ss.ps.state->es_snapshot);
	initialize_worker(node, NULL, coordinate);
}

/* ReInitializeDSMCustomScan */
static void
reinitialize_dsm(CustomScanState *node, ParallelContext *pcxt,
				 void *coordinate)
{
	(void) pcxt;
	table_parallelscan_reinitialize(node->ss.ss_currentRelation, coordinate);
}

/* InitializeWorkerCustomScan */
static void
initialize_worker(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	(void) toc;
	node->ss.ss_currentScanDesc =
		simhash_table_beginscan_parallel(node->ss.ss_currentRelation,
										 coordinate, &node->ss);
}

/* --- the way in --------------------------------------------------------- */

/* Define the setting, and put the hook in place. */
void
simhash_install_seq_scan(void)
{
	DefineCustomBoolVariable("simhash.enable_seq_scan",
							 "Lets the planner use sequential scans that test the distance before they make a row.",
							 NULL, &enable_seq_scan, true,
							 PGC_USERSET, GUC_EXPLAIN, NULL, NULL, NULL);
	RegisterCustomScanMethods(&scan_methods);
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_seq_scan;
}
