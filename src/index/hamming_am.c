/*-------------------------------------------------------------------------
 *
 * hamming_am.c
 *		The access method "hamming": its routines, those of them that it has
 *		from the btree, and what a user may name as a hamming index.
 *
 * The btree code works on a view of the index (hamming_btree.c).  The options
 * are laid out as BTOptions.
 *
 * Vacuum counts entries where its caller counts rows, four for one or more.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include <math.h>

#include "access/reloptions.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "utils/lsyscache.h"

PG_FUNCTION_INFO_V1(hamming_handler);

static relopt_kind hamming_options_kind;

/* Make the options of the index known; called when the library is loaded. */
void
hamming_init(void)
{
	hamming_options_kind = add_reloption_kind();
	add_int_reloption(hamming_options_kind, "fillfactor",
					  "Packs hamming index pages only to this percentage",
					  BTREE_DEFAULT_FILLFACTOR, BTREE_MIN_FILLFACTOR, 100,
					  ShareUpdateExclusiveLock);
}

/* Have the btree code remove entries of dead rows; without callback, clean up. */
static IndexBulkDeleteResult *
hamming_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				   IndexBulkDeleteCallback callback, void *state)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "hamming vacuum",
												  ALLOCSET_SMALL_SIZES);
	IndexVacuumInfo its_info = *info;
	IndexBulkDeleteResult *result;

	its_info.index = hamming_btree_view(info->index, context);
	hamming_show_view(its_info.index, info->index);
	result = callback != NULL ?
		btbulkdelete(&its_info, stats, callback, state) :
		btvacuumcleanup(&its_info, stats);
	hamming_leave_view(its_info.index, info->index);
	MemoryContextDelete(context);
	return result;
}

/*
 * Clean up after vacuum, and turn numbers of entries into numbers of rows.
 * The btree would take a number of entries above that of the rows for a
 * miscount, so it is told that the number of rows is an estimate.  If the type
 * of the column does not tell any more how many entries a row has, entries are
 * counted.
 */
static IndexBulkDeleteResult *
hamming_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	IndexVacuumInfo unsure = *info;
	HammingIndexState state;
	int			row_entries;

	(void) hamming_known_state(info->index, &state);
	row_entries = state.layout == NULL ? 1 : hamming_row_entries(state.layout);
	unsure.estimated_count = true;
	stats = hamming_bulkdelete(&unsure, stats, NULL, NULL);
	if (stats == NULL || info->analyze_only)
		return stats;

	stats->num_index_tuples = floor(stats->num_index_tuples / row_entries);
	stats->tuples_removed = floor(stats->tuples_removed / row_entries);
	if (!info->estimated_count &&
		stats->num_index_tuples > info->num_heap_tuples)
		stats->num_index_tuples = info->num_heap_tuples;
	return stats;
}

/* Options of the index, where the btree looks for them. */
static bytea *
hamming_options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt table[] = {
		{.optname = "fillfactor",.opttype = RELOPT_TYPE_INT,
		.offset = offsetof(BTOptions, fillfactor)}
	};

	return (bytea *) build_reloptions(reloptions, validate,
									  hamming_options_kind, sizeof(BTOptions),
									  table, lengthof(table));
}

/*
 * A property of the index that PostgreSQL does not find out without us: a column
 * can be scanned in order of distance if its operator class has the operator for
 * that.  The catalogue tells, where hamming_validate() has seen to it that the
 * strategy means that operator.
 */
static bool
hamming_property(Oid index, int column, IndexAMProperty property,
				 const char *name, bool *result, bool *isnull)
{
	Oid			opclass;
	Oid			family;
	Oid			type;

	(void) name;
	if (column == 0 || property != AMPROP_DISTANCE_ORDERABLE)
		return false;
	opclass = get_index_column_opclass(index, column);
	*isnull = !OidIsValid(opclass) ||
		!get_opclass_opfamily_and_input_type(opclass, &family, &type);
	*result = !*isnull &&
		OidIsValid(get_opfamily_member(family, type, type,
									   SIMHASH_DISTANCE_STRATEGY));
	return true;
}

/* The name of a phase of a build. */
static char *
hamming_buildphasename(int64 phase)
{
	static char *const names[] = {
		[PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE] = "initializing",
		[HAMMING_PHASE_SCAN] = "scanning table",
		[HAMMING_PHASE_SORT] = "sorting entries",
		[HAMMING_PHASE_LOAD] = "loading entries into the index",
	};

	return phase < 0 || phase >= (int) lengthof(names) ? NULL : names[phase];
}

/*
 * Open an index that a user names, and its table, which is locked first, as is
 * usual.  While we wait for that lock the index may be dropped, as by REINDEX
 * CONCURRENTLY, which gives its name to another.
 *
 * Errors: wrong_object_type for a relation that is no index, undefined_object
 * for one that is not there, or no more.
 */
Relation
hamming_open_index(Oid oid, LOCKMODE table_lock, Relation *table)
{
	Oid			tableid = IndexGetRelation(oid, true);
	char	   *name = get_rel_name(oid);
	Relation	index = NULL;

	if (!OidIsValid(tableid) && name != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index", name)));
	*table = OidIsValid(tableid) ?
		try_relation_open(tableid, table_lock) : NULL;
	if (*table != NULL)
		index = try_relation_open(oid, AccessShareLock);
	if (index == NULL || index->rd_index == NULL ||
		index->rd_index->indrelid != tableid)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("index with OID %u does not exist", oid),
				 errhint("It may have been dropped, or rebuilt by REINDEX CONCURRENTLY, since its name was looked up.")));
	return index;
}

/*
 * Fail unless an index that a user names is a hamming index, and one that can
 * be read.
 *
 * Errors: wrong_object_type for any other index, and for a partitioned one,
 * object_not_in_prerequisite_state for an invalid one.
 */
void
hamming_require_usable(Relation index)
{
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is a partitioned index",
						RelationGetRelationName(index)),
				 errhint("Name the index of one partition.")));
	if (index->rd_indam->ambuild != hamming_build)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a hamming index",
						RelationGetRelationName(index))));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary tables of other sessions")));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid",
						RelationGetRelationName(index)),
				 errhint("Drop it, or REINDEX it.")));
	if (RecoveryInProgress() &&
		index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access unlogged tables during recovery")));
}

/* What the access method can do, and by what. */
static const IndexAmRoutine am_routine = {
	.type = T_IndexAmRoutine,
	.amstrategies = SIMHASH_STRATEGIES,
	.amsupport = HAMMING_PROCS,
	.amcanorderbyop = true,
	.amcanmulticol = true,
	.amoptionalkey = true,
	.amstorage = true,
	.ampredlocks = true,
	.amparallelvacuumoptions =
	VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP,
	.amkeytype = INT8OID,

	.ambuild = hamming_build,
	.ambuildempty = btbuildempty,
	.aminsert = hamming_insert,
	.ambulkdelete = hamming_bulkdelete,
	.amvacuumcleanup = hamming_vacuumcleanup,
	.amcostestimate = hamming_costestimate,
	.amoptions = hamming_options,
	.amproperty = hamming_property,
	.ambuildphasename = hamming_buildphasename,
	.amvalidate = hamming_validate,
	.ambeginscan = hamming_beginscan,
	.amrescan = hamming_rescan,
	.amgettuple = hamming_gettuple,
	.amgetbitmap = hamming_getbitmap,
	.amendscan = hamming_endscan,
};

/*
 * hamming_handler(internal) -> index_am_handler
 */
Datum
hamming_handler(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_POINTER(simhash_am_routine(&am_routine));
}
