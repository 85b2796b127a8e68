/*-------------------------------------------------------------------------
 *
 * hamming_am.c
 *		The access method "hamming": its routines, and those of them that it
 *		has from the btree.
 *
 * The btree code is reached through its own IndexAmRoutine, as any caller
 * would.  It finds what it needs of the index in the relation: a comparison
 * function as support function 1 of the operator class, one key column of
 * type bigint, and options laid out as BTOptions.
 *
 * Vacuum counts entries where its caller counts rows, four for one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "access/reloptions.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "hamming.h"
#include "simhash.h"

PG_FUNCTION_INFO_V1(hamming_handler);

static relopt_kind hamming_options_kind;
static const IndexAmRoutine *btree;

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

/* The btree's own routines. */
const IndexAmRoutine *
hamming_btree(void)
{
	if (btree == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);

		btree = GetIndexAmRoutineByAmId(BTREE_AM_OID, false);
		MemoryContextSwitchTo(old);
	}
	return btree;
}

/* Write the metapage of an unlogged index to its init fork. */
static void
hamming_buildempty(Relation index)
{
	hamming_btree()->ambuildempty(index);
}

/* Remove the entries of dead rows. */
static IndexBulkDeleteResult *
hamming_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
				   IndexBulkDeleteCallback callback, void *state)
{
	return hamming_btree()->ambulkdelete(info, stats, callback, state);
}

/*
 * Clean up after vacuum, and turn numbers of entries into numbers of rows.
 * The btree would take a number of entries above that of the rows for a
 * miscount, so it is told that it does not know the latter.
 */
static IndexBulkDeleteResult *
hamming_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	IndexVacuumInfo unsure = *info;

	unsure.estimated_count = true;
	stats = hamming_btree()->amvacuumcleanup(&unsure, stats);
	if (stats == NULL || info->analyze_only)
		return stats;

	stats->num_index_tuples = floor(stats->num_index_tuples / SH_INDEX_BLOCKS);
	stats->tuples_removed = floor(stats->tuples_removed / SH_INDEX_BLOCKS);
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
 * What is known of the index that PostgreSQL does not find out by itself: the
 * column can be scanned in order of distance if its operator class has the
 * operator for it.  Whether it does is a question to the catalogue, where
 * hamming_validate() has seen to it that the strategy means that operator.
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
									   HAMMING_DISTANCE_STRATEGY));
	return true;
}

/* The name of a phase of a build. */
static char *
hamming_buildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case HAMMING_PHASE_SCAN:
			return "scanning table";
		case HAMMING_PHASE_SORT:
			return "sorting entries";
		case HAMMING_PHASE_LOAD:
			return "loading entries into the index";
		default:
			return NULL;
	}
}

/* Say what is wrong with an operator class, and with which part of it. */
static bool
complain(Form_pg_opclass class, const char *what, Oid part,
		 char *(*name) (Oid))
{
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator class \"%s\" of access method hamming %s%s%s",
					NameStr(class->opcname), what,
					name != NULL ? " " : "",
					name != NULL ? name(part) : "")));
	return false;
}

/*
 * Is an operator the one that a scan answers by that strategy?  A scan goes by
 * the number of the strategy alone, so no other will do.
 */
static bool
is_our_operator(Form_pg_amop form)
{
	Oid			function = get_opcode(form->amopopr);

	switch (form->amopstrategy)
	{
		case HAMMING_NEAR_STRATEGY:
			return form->amoppurpose == AMOP_SEARCH &&
				simhash_operator(function) ==
				(form->amoplefttype == INT8OID ? SIMHASH_NEAR :
				 SIMHASH_BALLS_NEAR);
		case HAMMING_BALL_STRATEGY:
			return form->amoppurpose == AMOP_SEARCH &&
				simhash_operator(function) == SIMHASH_WITHIN;
		case HAMMING_DISTANCE_STRATEGY:
			return form->amoppurpose == AMOP_ORDER &&
				simhash_is_distance(function);
		default:
			return false;
	}
}

/*
 * Are the operators of a class those that a scan can answer?  One for the
 * type of the class must be among them, which vouches for the type.
 */
static bool
validate_operators(Form_pg_opclass class)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY,
										   ObjectIdGetDatum(class->opcfamily));
	bool		any = false;
	bool		fine = true;
	int			i;

	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		bool		ordering = form->amopstrategy == HAMMING_DISTANCE_STRATEGY;

		if (!is_our_operator(form))
			fine = complain(class, "has an operator that is none of its own:",
							form->amopopr, get_opname);
		else if (!check_amop_signature(form->amopopr,
									   ordering ? INT4OID : BOOLOID,
									   form->amoplefttype,
									   form->amoprighttype))
			fine = complain(class, "has an operator with a wrong signature:",
							form->amopopr, get_opname);
		else
			any |= form->amoplefttype == class->opcintype;
	}
	ReleaseSysCacheList(list);
	if (!any)
		fine = complain(class, "lacks an operator for its type", InvalidOid,
						NULL);
	return fine;
}

/* Are the support functions of a class there, and of the right kind? */
static bool
validate_functions(Form_pg_opclass class)
{
	CatCList   *list = SearchSysCacheList1(AMPROCNUM,
										   ObjectIdGetDatum(class->opcfamily));
	bool		compare = false;
	bool		fine = true;
	int			i;

	for (i = 0; i < list->n_members; i++)
	{
		Form_pg_amproc form =
		(Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple);

		if (form->amprocnum != HAMMING_COMPARE_PROC ||
			form->amproc != F_BTINT8CMP)
			fine = complain(class, "has a wrong support function:",
							form->amproc, format_procedure);
		else if (form->amproclefttype == class->opcintype)
			compare = true;
	}
	ReleaseSysCacheList(list);
	if (!compare)
		fine = complain(class, "lacks support function 1", InvalidOid,
						NULL);
	return fine;
}

/* Check an operator class; reports what is wrong, as amvalidate() wants it. */
bool
hamming_validate(Oid opclass)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
	Form_pg_opclass class;
	Oid			stored;
	bool		fine;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("operator class with OID %u does not exist",
						opclass)));
	class = (Form_pg_opclass) GETSTRUCT(tuple);
	stored = OidIsValid(class->opckeytype) ? class->opckeytype :
		class->opcintype;

	fine = validate_operators(class);
	fine &= validate_functions(class);
	if (stored != INT8OID)
		fine = complain(class, "does not store bigint", InvalidOid, NULL);
	ReleaseSysCache(tuple);
	return fine;
}

/*
 * hamming_handler(internal) -> index_am_handler
 */
Datum
hamming_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	(void) fcinfo;
	routine->amstrategies = HAMMING_STRATEGIES;
	routine->amsupport = HAMMING_PROCS;
	routine->amcanorderbyop = true;
	routine->amoptionalkey = true;
	routine->amstorage = true;
	routine->ampredlocks = true;
	routine->amparallelvacuumoptions =
		VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP;
	routine->amkeytype = INT8OID;

	routine->ambuild = hamming_build;
	routine->ambuildempty = hamming_buildempty;
	routine->aminsert = hamming_insert;
	routine->ambulkdelete = hamming_bulkdelete;
	routine->amvacuumcleanup = hamming_vacuumcleanup;
	routine->amcostestimate = hamming_costestimate;
	routine->amoptions = hamming_options;
	routine->amproperty = hamming_property;
	routine->ambuildphasename = hamming_buildphasename;
	routine->amvalidate = hamming_validate;
	routine->ambeginscan = hamming_beginscan;
	routine->amrescan = hamming_rescan;
	routine->amgettuple = hamming_gettuple;
	routine->amgetbitmap = hamming_getbitmap;
	routine->amendscan = hamming_endscan;

	PG_RETURN_POINTER(routine);
}
