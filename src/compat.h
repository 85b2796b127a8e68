/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between PostgreSQL 15 and 19, in one place.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#include "access/amapi.h"
#include "access/genam.h"
#include "access/tableam.h"
#include "access/relation.h"
#include "catalog/catalog.h"
#include "catalog/dependency.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_proc.h"
#include "commands/tablecmds.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
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

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM < 160000
/* fmgr.h declares it from version 16 on. */
extern PGDLLEXPORT void _PG_init(void);
#endif

/* From PostgreSQL 18 on it has another name, and comes first. */
#ifndef pg_noreturn
#define pg_noreturn		pg_attribute_noreturn()
#endif

/* From PostgreSQL 18 on pg_get_loaded_modules() tells name and version. */
#if PG_VERSION_NUM >= 180000
#define SIMHASH_MODULE_MAGIC \
	PG_MODULE_MAGIC_EXT(.name = "simhash", .version = "1.0.0")
#else
#define SIMHASH_MODULE_MAGIC	PG_MODULE_MAGIC
#endif

/*
 * The headers of PostgreSQL 15 do not say what arguments a walker takes.  For
 * C23, the default of new compilers, that means none.
 */
#if PG_VERSION_NUM < 160000
#define simhash_walker(walker)	((bool (*) ()) (void (*) (void)) (walker))
#define expression_tree_walker(node, walker, context) \
	expression_tree_walker(node, simhash_walker(walker), context)
#define raw_expression_tree_walker(node, walker, context) \
	raw_expression_tree_walker(node, simhash_walker(walker), context)
#endif

/* True when the role owns the relation. */
static inline bool
simhash_owns_relation(Oid relation, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation, role);
#else
	return pg_class_ownercheck(relation, role);
#endif
}

/* True when the role may name what is in the schema. */
static inline bool
simhash_may_use_schema(Oid schema, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(NamespaceRelationId, schema, role,
						   ACL_USAGE) == ACLCHECK_OK;
#else
	return pg_namespace_aclcheck(schema, role, ACL_USAGE) == ACLCHECK_OK;
#endif
}

/* The index of the primary key of a table, or InvalidOid. */
#if PG_VERSION_NUM >= 180000
#define simhash_primary_key(table)	RelationGetPrimaryKeyIndex(table, true)
#else
#define simhash_primary_key(table)	RelationGetPrimaryKeyIndex(table)
#endif

/* True when the role may call the function. */
static inline bool
simhash_may_execute(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role,
						   ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

/* PostgreSQL 17 did away with old_snapshot_threshold. */
#if PG_VERSION_NUM < 170000
#define simhash_test_old_snapshot(snapshot, rel, page) \
	TestForOldSnapshot(snapshot, rel, page)
#else
#define simhash_test_old_snapshot(snapshot, rel, page)	((void) 0)
#endif

/* PostgreSQL 18 counts index searches for EXPLAIN (ANALYZE). */
#if PG_VERSION_NUM >= 180000
#define simhash_count_search(scan) \
	do { \
		if ((scan)->instrument) \
			(scan)->instrument->nsearches++; \
	} while (0)
#else
#define simhash_count_search(scan)	((void) 0)
#endif

/*
 * What an index handler returns: PostgreSQL 19 wants the table itself, earlier
 * ones a copy that they may free.
 */
static inline const IndexAmRoutine *
simhash_am_routine(const IndexAmRoutine *routine)
{
#if PG_VERSION_NUM >= 190000
	return routine;
#else
	IndexAmRoutine *copy = palloc(sizeof *copy);

	*copy = *routine;
	return copy;
#endif
}

/* The physical identity of a relation. */
#if PG_VERSION_NUM >= 160000
#define simhash_locator(rel)	(&(rel)->rd_locator)
#else
#define simhash_locator(rel)	(&(rel)->rd_node)
#define RelFileLocatorEquals(a, b)	RelFileNodeEquals(a, b)
#endif

/* Let a relation be where another is, and its changes part of the same. */
static inline void
simhash_copy_locator(Relation to, Relation from)
{
	to->rd_createSubid = from->rd_createSubid;
#if PG_VERSION_NUM >= 160000
	to->rd_locator = from->rd_locator;
	to->rd_newRelfilelocatorSubid = from->rd_newRelfilelocatorSubid;
	to->rd_firstRelfilelocatorSubid = from->rd_firstRelfilelocatorSubid;
#else
	to->rd_node = from->rd_node;
	to->rd_newRelfilenodeSubid = from->rd_newRelfilenodeSubid;
	to->rd_firstRelfilenodeSubid = from->rd_firstRelfilenodeSubid;
#endif
}

/*
 * Let go of the storage manager's handle of a relation that is not in the cache
 * of relations, without closing it.
 */
static inline void
simhash_release_storage(Relation rel)
{
	if (rel->rd_smgr == NULL)
		return;
#if PG_VERSION_NUM >= 170000
	smgrunpin(rel->rd_smgr);
	rel->rd_smgr = NULL;
#else
	smgrclearowner(&rel->rd_smgr, rel->rd_smgr);
#endif
}

/* Say that all columns of a descriptor that we make are there. */
static inline void
simhash_finalize_columns(TupleDesc columns)
{
#if PG_VERSION_NUM >= 190000
	TupleDescFinalize(columns);
#else
	(void) columns;
#endif
}

/* A zeroed page that may be written past the buffer manager. */
static inline char *
simhash_alloc_page(void)
{
#if PG_VERSION_NUM >= 160000
	return palloc_aligned(BLCKSZ, PG_IO_ALIGN_SIZE, MCXT_ALLOC_ZERO);
#else
	return palloc0(BLCKSZ);
#endif
}

/* Set the checksum of a page that no other process sees. */
static inline void
simhash_set_checksum(Page page, BlockNumber blkno)
{
#if PG_VERSION_NUM >= 190000
	PageSetChecksum(page, blkno);
#else
	PageSetChecksumInplace(page, blkno);
#endif
}

/* Have functions of others look for names in pg_catalog alone. */
#if PG_VERSION_NUM >= 170000
#define simhash_restrict_search_path()	RestrictSearchPath()
#else
#define simhash_restrict_search_path()	((void) 0)
#endif

/* Plan a query that has been analyzed. */
static inline PlannedStmt *
simhash_plan_query(Query *query, const char *text, int options,
				   ParamListInfo parameters)
{
#if PG_VERSION_NUM >= 190000
	return pg_plan_query(query, text, options, parameters, NULL);
#else
	return pg_plan_query(query, text, options, parameters);
#endif
}

/* Run a query that has been started to its end, once. */
static inline void
simhash_run_executor(QueryDesc *query)
{
#if PG_VERSION_NUM >= 180000
	ExecutorRun(query, ForwardScanDirection, 0);
#else
	ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
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

#if PG_VERSION_NUM >= 160000
	if (!tuplesort_getdatum(sort, true, false, &datum, &isnull, NULL))
		return false;
	*value = DatumGetInt64(datum);
#else
	if (!tuplesort_getdatum(sort, true, &datum, &isnull, NULL))
		return false;
	*value = DatumGetInt64(datum);
	if (!FLOAT8PASSBYVAL)
		pfree(DatumGetPointer(datum));
#endif
	return true;
}

/* True when the session has the lock. */
static inline bool
simhash_lock_held(const LOCKTAG *tag, LOCKMODE mode)
{
#if PG_VERSION_NUM >= 170000
	return LockHeldByMe(tag, mode, false);
#else
	return LockHeldByMe(tag, mode);
#endif
}

/* Begin an index scan without order-by keys. */
static inline IndexScanDesc
simhash_index_beginscan(Relation table, Relation index, Snapshot snapshot,
						int nkeys)
{
#if PG_VERSION_NUM >= 190000
	return index_beginscan(table, index, snapshot, NULL, nkeys, 0, SO_NONE);
#elif PG_VERSION_NUM >= 180000
	return index_beginscan(table, index, snapshot, NULL, nkeys, 0);
#else
	return index_beginscan(table, index, snapshot, nkeys, 0);
#endif
}

/* Begin a scan of a whole table. */
static inline TableScanDesc
simhash_table_beginscan(Relation table, Snapshot snapshot)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan(table, snapshot, 0, NULL, SO_NONE);
#else
	return table_beginscan(table, snapshot, 0, NULL);
#endif
}

/* Begin to scan this process's share of a table. */
static inline TableScanDesc
simhash_table_beginscan_parallel(Relation table, ParallelTableScanDesc shared)
{
#if PG_VERSION_NUM >= 190000
	return table_beginscan_parallel(table, shared, SO_NONE);
#else
	return table_beginscan_parallel(table, shared);
#endif
}

/*
 * Is a column computed when it is read, and NULL in the rows of the table?
 * From PostgreSQL 18 on generated columns are, by default.
 */
static inline bool
simhash_is_virtual(Form_pg_attribute attribute)
{
#if PG_VERSION_NUM >= 180000
	return attribute->attgenerated == ATTRIBUTE_GENERATED_VIRTUAL;
#else
	(void) attribute;
	return false;
#endif
}

/* How many elements an array has, about. */
static inline double
simhash_array_length(PlannerInfo *root, Node *array)
{
#if PG_VERSION_NUM >= 170000
	return estimate_array_length(root, array);
#else
	(void) root;
	return estimate_array_length(array);
#endif
}

/* The sequence of an identity column, if it is one. */
static inline Oid
simhash_identity_sequence(Oid table, AttrNumber column)
{
#if PG_VERSION_NUM >= 170000
	Relation	relation = relation_open(table, AccessShareLock);
	Oid			sequence = getIdentitySequence(relation, column, true);

	relation_close(relation, NoLock);
	return sequence;
#else
	return getIdentitySequence(table, column, true);
#endif
}

/* Truncate a table that is open and locked; its triggers fire. */
static inline void
simhash_truncate(Relation relation)
{
	List	   *oids = list_make1_oid(RelationGetRelid(relation));

	ExecuteTruncateGuts(list_make1(relation), oids,
						RelationIsLogicallyLogged(relation) ? oids : NIL,
						DROP_RESTRICT, false
#if PG_VERSION_NUM >= 160000
						,false
#endif
		);
}

/* Replace a row that is locked, as logical replication does. */
static inline void
simhash_update_row(Relation relation, TupleTableSlot *old, TupleTableSlot *new)
{
	EState	   *estate = CreateExecutorState();
	ResultRelInfo *result = makeNode(ResultRelInfo);
	EPQState	epqstate;

#if PG_VERSION_NUM >= 160000
	EvalPlanQualInit(&epqstate, estate, NULL, NIL, -1, NIL);
#else
	EvalPlanQualInit(&epqstate, estate, NULL, NIL, -1);
#endif
	InitResultRelInfo(result, relation, 0, NULL, 0);
	ExecOpenIndices(result, false);
	ExecSimpleRelationUpdate(result, estate, &epqstate, old, new);
	ExecCloseIndices(result);
	EvalPlanQualEnd(&epqstate);
	FreeExecutorState(estate);
}

/*
 * By the number of each column of the one, that of the column of that name in
 * the other; fails unless there is one of the same type.
 */
#if PG_VERSION_NUM >= 160000
#define simhash_map_columns(from, to)	build_attrmap_by_name(to, from, false)
#else
#define simhash_map_columns(from, to)	build_attrmap_by_name(to, from)
#endif

/*
 * The hook in which an extension sees what the planner has found out of a
 * relation and its indexes, and what it is called with.
 */
#if PG_VERSION_NUM >= 190000
typedef build_simple_rel_hook_type SimhashRelationHook;
#define SIMHASH_RELATION_HOOK			build_simple_rel_hook
#define SIMHASH_RELATION_HOOK_TAKES \
	PlannerInfo *root, RelOptInfo *rel, RangeTblEntry *rte
#define SIMHASH_RELATION_HOOK_GETS		root, rel, rte
#else
typedef get_relation_info_hook_type SimhashRelationHook;
#define SIMHASH_RELATION_HOOK			get_relation_info_hook
#define SIMHASH_RELATION_HOOK_TAKES \
	PlannerInfo *root, Oid table, bool inherited, RelOptInfo *rel
#define SIMHASH_RELATION_HOOK_GETS		root, table, inherited, rel
#endif

/* Does the planner match conditions on boolean columns by itself? */
#define SIMHASH_KNOWS_BOOLEAN_COLUMNS	(PG_VERSION_NUM >= 160000)

/* Have the planner take any other path rather than this one. */
static inline void
simhash_disable_path(IndexPath *path)
{
#if PG_VERSION_NUM >= 180000
	path->path.disabled_nodes += 2;
#else
	(void) path;				/* its cost says so */
#endif
}

#endif							/* SIMHASH_COMPAT_H */
