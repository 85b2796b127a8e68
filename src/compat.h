/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between PostgreSQL 15 and 19, in one place: a block for
 *		each version that changed something.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#include "access/amapi.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/relation.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/lock.h"
#include "storage/smgr.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/tuplesort.h"

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

/*-------- Minor versions --------
 * A library is loaded by each minor of its major, so it may not need a function
 * that the first of them lack (test/check/check_exports.sh).
 * simhash_get_row: the row in a Datum; minors of 2026 have a function for it, which
 * marks the row as checked against its type
 * heap_getattr: the function that checks such a row is called where the server has it
 */
#ifndef DatumGetHeapTupleHeader
#pragma weak DatumGetHeapTupleHeader
#define simhash_get_row(datum) \
	(DatumGetHeapTupleHeader != NULL ? DatumGetHeapTupleHeader(datum) : \
	 (HeapTupleHeader) PG_DETOAST_DATUM(datum))
#else
#define simhash_get_row(datum)	DatumGetHeapTupleHeader(datum)
#endif

#ifdef HEAP_IS_DATUM
#pragma weak heap_datum_check
static inline Datum
simhash_getattr(HeapTuple row, int column, TupleDesc columns, bool *isnull)
{
	if (HeapTupleHeaderIsVersionedDatum(row->t_data) && heap_datum_check != NULL)
		heap_datum_check(row->t_data, columns);
	return column > (int) HeapTupleHeaderGetNatts(row->t_data) ?
		getmissingattr(columns, column, isnull) :
		fastgetattr(row, column, columns, isnull);
}
#define heap_getattr(row, column, columns, isnull) \
	simhash_getattr(row, column, columns, isnull)
#endif

/* 15.0 has it by this name alone, and no later minor of 15 lacks that. */
#if PG_VERSION_NUM < 160000
#define InitMaterializedSRF(fcinfo, flags)	SetSingleFuncCall(fcinfo, flags)
#endif

/*-------- PostgreSQL 16 --------
 * simhash_owns_relation, _may_use_schema, _may_execute: may the role do that?
 * simhash_alloc_page: a zeroed page that may be written past the buffer manager
 * simhash_reset_read_only: what RESET transaction_read_only is to set from now on;
 * returns what it was.  From 16 on there is no such command.
 * simhash_map_columns: by the number of each column of the one, that of the
 * column of that name in the other; fails unless there is one of the same type
 * simhash_adjust_to_child: an expression of a table, for a partition of it
 */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"

#define simhash_owns_relation(relation, role) \
	object_ownercheck(RelationRelationId, relation, role)
#define simhash_may_use_schema(schema, role) \
	(object_aclcheck(NamespaceRelationId, schema, role, ACL_USAGE) == ACLCHECK_OK)
#define simhash_may_execute(function, role) \
	(object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK)
#define simhash_alloc_page() \
	palloc_aligned(BLCKSZ, PG_IO_ALIGN_SIZE, MCXT_ALLOC_ZERO)
#define simhash_map_columns(from, to)	build_attrmap_by_name(to, from, false)
#define simhash_reset_read_only(value)	(value)
#define simhash_adjust_to_child(root, node, child) \
	adjust_appendrel_attrs_multilevel(root, node, child, (child)->top_parent)
#else
#include "utils/guc_tables.h"

static inline bool
simhash_reset_read_only(bool value)
{
	struct config_generic **settings = get_guc_variables();
	bool	   *reset = NULL;
	bool		was;

	for (int i = 0; i < GetNumConfigOptions(); i++)
	{
		if (strcmp(settings[i]->name, "transaction_read_only") == 0)
			reset = &((struct config_bool *) settings[i])->reset_val;
	}
	was = *reset;
	*reset = value;
	return was;
}

extern PGDLLEXPORT void _PG_init(void); /* fmgr.h declares it later */

#define simhash_owns_relation(relation, role) \
	pg_class_ownercheck(relation, role)
#define simhash_may_use_schema(schema, role) \
	(pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK)
#define simhash_may_execute(function, role) \
	(pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK)
#define simhash_alloc_page()	palloc0(BLCKSZ)

/*
 * The headers of PostgreSQL 15 do not say what arguments a walker takes.  For
 * C23, the default of new compilers, that means none.
 */
#define simhash_walker(walker)	((bool (*) ()) (void (*) (void)) (walker))
#define expression_tree_walker(node, walker, context) \
	expression_tree_walker(node, simhash_walker(walker), context)
#define raw_expression_tree_walker(node, walker, context) \
	raw_expression_tree_walker(node, simhash_walker(walker), context)

/* The physical identity of a relation had other names. */
#define rd_locator						rd_node
#define rd_newRelfilelocatorSubid		rd_newRelfilenodeSubid
#define rd_firstRelfilelocatorSubid		rd_firstRelfilenodeSubid
#define RelFileLocatorEquals(a, b)		RelFileNodeEquals(a, b)

#define simhash_map_columns(from, to)	build_attrmap_by_name(to, from)
#define simhash_adjust_to_child(root, node, child) \
	adjust_appendrel_attrs_multilevel(root, node, (child)->relids, \
									  (child)->top_parent_relids)

/* Below, calls are written with the arguments that newer versions want. */
#define tuplesort_getdatum(sort, forward, copy, value, isnull, abbreviated) \
	tuplesort_getdatum(sort, forward, value, isnull, abbreviated)
#define EvalPlanQualInit(state, estate, plan, rowmarks, param, relations) \
	EvalPlanQualInit(state, estate, plan, rowmarks, param)
#define ExecuteTruncateGuts(tables, oids, logged, behavior, restart, as_owner) \
	ExecuteTruncateGuts(tables, oids, logged, behavior, restart)
#endif

/* Does the planner match conditions on boolean columns by itself? */
#define SIMHASH_KNOWS_BOOLEAN_COLUMNS	(PG_VERSION_NUM >= 160000)

/*-------- PostgreSQL 17 --------
 * simhash_test_old_snapshot: 17 did away with old_snapshot_threshold
 * RestrictSearchPath: functions of others find names in pg_catalog alone, until
 * AtEOXact_GUC()
 */
#if PG_VERSION_NUM >= 170000
#define simhash_test_old_snapshot(snapshot, rel, page)	((void) 0)
#define smgrclearowner(owner, smgr)	(smgrunpin(smgr), *(owner) = NULL)
#define simhash_lock_held(tag, mode)	LockHeldByMe(tag, mode, false)
#define simhash_array_length(root, array)	estimate_array_length(root, array)
#else
#define simhash_test_old_snapshot(snapshot, rel, page) \
	TestForOldSnapshot(snapshot, rel, page)
#define RestrictSearchPath() \
	simhash_set("search_path", "pg_catalog, pg_temp", GUC_ACTION_SAVE)
#define simhash_lock_held(tag, mode)	LockHeldByMe(tag, mode)
#define simhash_array_length(root, array)	estimate_array_length(array)
#define getIdentitySequence(relation, column, missing_ok) \
	getIdentitySequence(RelationGetRelid(relation), column, missing_ok)
#endif

/*-------- PostgreSQL 18 --------
 * SIMHASH_MODULE_MAGIC: pg_get_loaded_modules() tells name and version
 * simhash_count_search: EXPLAIN (ANALYZE) shows how many index searches ran
 * simhash_is_virtual: is a column computed when it is read, and NULL in the
 * rows of the table?
 * simhash_disable_path: have the planner take any other path rather than this;
 * before 18, its cost says so
 */
#if PG_VERSION_NUM >= 180000
#define SIMHASH_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "simhash", .version = "1.0.0")
#define simhash_count_search(scan) \
	do { \
		if ((scan)->instrument) \
			(scan)->instrument->nsearches++; \
	} while (0)
#define simhash_is_virtual(attribute) \
	((attribute)->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL)
#define simhash_disable_path(index_path) \
	((index_path)->path.disabled_nodes += 2)
#define simhash_run_executor(query)	ExecutorRun(query, ForwardScanDirection, 0)
#else
#define SIMHASH_MODULE_MAGIC	PG_MODULE_MAGIC
#define simhash_count_search(scan)	((void) 0)
#define simhash_is_virtual(attribute)	((void) (attribute), false)
#define simhash_disable_path(index_path)	((void) (index_path))
#define RelationGetPrimaryKeyIndex(table, deferrable_ok) \
	RelationGetPrimaryKeyIndex(table)
#define simhash_run_executor(query) \
	ExecutorRun(query, ForwardScanDirection, 0, true)
#ifndef pg_noreturn
#define pg_noreturn		pg_attribute_noreturn()
#endif
#endif

/*-------- PostgreSQL 19 --------
 * simhash_am_routine: what an index handler returns, of which earlier versions
 * want a copy that they may free
 * simhash_finalize_columns: say that all columns of a descriptor of ours are there
 * simhash_set_checksum: set the checksum of a page that no other process sees
 * simhash_table_delete: delete a row, unless another transaction is about to
 * simhash_keeps_read_only: is a relation of this kind on a server whose transaction
 * is read-only to its end if ours was when it began there?
 * simhash_instrument: have EXPLAIN (ANALYZE) show of an index scan how many searches
 * ran, which 18 and later count
 * SIMHASH_RELATION_HOOK...: the hook in which an extension sees what the
 * planner has found out of a relation and its indexes, and its arguments
 */
#if PG_VERSION_NUM >= 190000
#define simhash_am_routine(routine)	(routine)
#define simhash_set_checksum(page, blkno)	PageSetChecksum(page, blkno)
#define SIMHASH_RELATION_HOOK			build_simple_rel_hook
#define SIMHASH_RELATION_HOOK_TAKES \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define SIMHASH_RELATION_HOOK_GETS		root, rel, rte
typedef build_simple_rel_hook_type SimhashRelationHook;
#define simhash_finalize_columns(columns)	TupleDescFinalize(columns)
#define simhash_plan_query(query, text, options, parameters) \
	pg_plan_query(query, text, options, parameters, NULL)
#define simhash_table_beginscan(table, snapshot) \
	table_beginscan(table, snapshot, 0, NULL, SO_NONE)
#define simhash_index_beginscan(table, index, snapshot, nkeys) \
	index_beginscan(table, index, snapshot, NULL, nkeys, 0, SO_NONE)
#define simhash_table_delete(table, tid, failure) \
	table_tuple_delete(table, tid, GetCurrentCommandId(true), 0, \
					   InvalidSnapshot, InvalidSnapshot, false, failure)
#define simhash_keeps_read_only(kind)	((kind) == RELKIND_FOREIGN_TABLE)
#define simhash_instrument(scan, node)	((scan)->instrument = (node)->iss_Instrument)
#else
typedef Instrumentation NodeInstrumentation;
#define ExecInitScanTupleSlot(estate, node, columns, kind, flags) \
	ExecInitScanTupleSlot(estate, node, columns, kind)
#define simhash_keeps_read_only(kind)	((void) (kind), false)
#define simhash_am_routine(routine) \
	memcpy(palloc(sizeof(IndexAmRoutine)), routine, sizeof(IndexAmRoutine))
#define simhash_set_checksum(page, blkno)	PageSetChecksumInplace(page, blkno)
#define SIMHASH_RELATION_HOOK			get_relation_info_hook
#define SIMHASH_RELATION_HOOK_TAKES \
	PlannerInfo *root, Oid table, bool inherited, RelOptInfo *rel
#define SIMHASH_RELATION_HOOK_GETS		root, table, inherited, rel
typedef get_relation_info_hook_type SimhashRelationHook;
#define simhash_finalize_columns(columns)	((void) (columns))
#define simhash_plan_query(query, text, options, parameters) \
	pg_plan_query(query, text, options, parameters)
#define simhash_table_beginscan(table, snapshot) \
	table_beginscan(table, snapshot, 0, NULL)
#define simhash_table_delete(table, tid, failure) \
	table_tuple_delete(table, tid, GetCurrentCommandId(true), \
					   InvalidSnapshot, InvalidSnapshot, false, failure, false)
#if PG_VERSION_NUM >= 180000
#define simhash_index_beginscan(table, index, snapshot, nkeys) \
	index_beginscan(table, index, snapshot, NULL, nkeys, 0)
#define simhash_instrument(scan, node) \
	((scan)->instrument = &(node)->iss_Instrument)
#else
#define simhash_index_beginscan(table, index, snapshot, nkeys) \
	index_beginscan(table, index, snapshot, nkeys, 0)
#define simhash_instrument(scan, node)	((void) 0)
#endif
#endif

/*-------- The same in all versions, by the names above --------*/

#define simhash_locator(rel)	(&(rel)->rd_locator)

/* Let a relation be where another is, and its changes part of the same. */
static inline void
simhash_copy_locator(Relation to, Relation from)
{
	to->rd_createSubid = from->rd_createSubid;
	to->rd_locator = from->rd_locator;
	to->rd_newRelfilelocatorSubid = from->rd_newRelfilelocatorSubid;
	to->rd_firstRelfilelocatorSubid = from->rd_firstRelfilelocatorSubid;
}

/*
 * Let go of the storage manager's handle of a relation that is not in the cache
 * of relations, without closing it.
 */
static inline void
simhash_release_storage(Relation rel)
{
	if (rel->rd_smgr != NULL)
		smgrclearowner(&rel->rd_smgr, rel->rd_smgr);
}

/*
 * Give a bigint to a sort, and get the next of it, leaving no copy behind where
 * a bigint is passed by reference.
 */
static inline void
simhash_sort_int64(Tuplesortstate *sort, int64 value)
{
	Datum		datum = Int64GetDatum(value);

	tuplesort_putdatum(sort, datum, false);
	if (!FLOAT8PASSBYVAL)
		pfree(DatumGetPointer(datum));
}

static inline bool
simhash_sorted_int64(Tuplesortstate *sort, int64 *value)
{
	Datum		datum;
	bool		isnull;

	if (!tuplesort_getdatum(sort, true, true, &datum, &isnull, NULL))
		return false;
	*value = DatumGetInt64(datum);
	if (!FLOAT8PASSBYVAL)
		pfree(DatumGetPointer(datum));
	return true;
}

/* The sequence of an identity column, if it is one. */
static inline Oid
simhash_identity_sequence(Oid table, AttrNumber column)
{
	Relation	relation = relation_open(table, AccessShareLock);
	Oid			sequence = getIdentitySequence(relation, column, true);

	relation_close(relation, NoLock);
	return sequence;
}

/* Truncate a table that is open and locked; its triggers fire. */
static inline void
simhash_truncate(Relation relation)
{
	List	   *oids = list_make1_oid(RelationGetRelid(relation));

	ExecuteTruncateGuts(list_make1(relation), oids,
						RelationIsLogicallyLogged(relation) ? oids : NIL,
						DROP_RESTRICT, false, false);
}

/* Replace a row that is locked; no trigger of the table fires. */
static inline void
simhash_update_row(Relation relation, TupleTableSlot *old, TupleTableSlot *new)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);
	EPQState	epqstate;

	EvalPlanQualInit(&epqstate, estate, NULL, NIL, -1, NIL);
	InitResultRelInfo(result, relation, 0, NULL, 0);
	result->ri_TrigDesc = NULL;
	ExecOpenIndices(result, false);
	ExecSimpleRelationUpdate(result, estate, &epqstate, old, new);
	ExecCloseIndices(result);
	EvalPlanQualEnd(&epqstate);
	FreeExecutorState(estate);
}

#endif							/* SIMHASH_COMPAT_H */
