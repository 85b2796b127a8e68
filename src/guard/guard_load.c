/*-------------------------------------------------------------------------
 *
 * guard_load.c
 *		simhash_guard_load(): the rows of a query into a guarded table, all but
 *		near-duplicates.
 *
 * One INSERT with the rights of the caller, so that defaults, partitions, policies,
 * triggers and constraints are the server's.  What the guards do in it otherwise than
 * ever: they leave out what they would reject, and say so; and what is near to the rows
 * of the query is known beforehand (near_known.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include "catalog/pg_attribute.h"
#include "catalog/pg_trigger.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "storage/lmgr.h"

#include "query/query.h"
#include "relation.h"

PG_FUNCTION_INFO_V1(simhash_guard_load);
PG_FUNCTION_INFO_V1(_simhash_guard_load_row);

/* A call of simhash_guard_load. */
typedef struct LoadCall
{
	NearLoad	load;
	Oid			function;
	Oid			row_function;	/* _simhash_guard_load_row */
	Oid			table;
	SimhashStatement query;
	char	   *select;			/* its text, without a semicolon */
	TupleDesc	columns;		/* of the query */
	List	   *places;			/* in that, of the fingerprints of load.known */
} LoadCall;

/*
 * Lock the table at the root of what a guard searches, with all below it, as one may
 * who may UPDATE, DELETE or TRUNCATE it.
 */
static void
lock_table(Oid table)
{
	Relation	relation;

	(void) simhash_run_command(NIL, psprintf("LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE",
											 simhash_quoted_name(table)), 0, NULL, NULL);
	relation = try_relation_open(table, AccessShareLock);
	if (relation == NULL)
		simhash_complain_of_missing(table);
	if (!CheckRelationLockedByMe(relation, ShareRowExclusiveLock, true))
		simhash_complain_of_renaming(table);
	relation_close(relation, NoLock);
}

/* Where the query has the fingerprints of a column; fails if it does not. */
static int
find_fingerprints(const LoadCall *call, const char *name)
{
	for (int i = 0; i < call->columns->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(call->columns, i);

		if (strcmp(NameStr(column->attname), name) == 0 &&
			getBaseType(column->atttypid) == INT8OID)
			return i;
	}
	ereport(ERROR,
			(errcode(ERRCODE_UNDEFINED_COLUMN),
			 errmsg("the query yields no column \"%s\" of type bigint", name),
			 errdetail("By the fingerprints in it is found what is near to the rows."),
			 errhint("Have the query compute them as the table does.")));
}

/* Find the guards of the table, and what can be known beforehand for them. */
static void
find_guards(LoadCall *call, List **scopes)
{
	Relation	relation = table_open(call->table, AccessShareLock);
	TriggerDesc *all = CopyTriggerDesc(relation->trigdesc);
	bool		any = false;

	for (int i = 0; all != NULL && i < all->numtriggers; i++)
	{
		Trigger    *trigger = &all->triggers[i];
		NearPlace	place = {.table = call->table};
		NearSpace	space = {0};
		NearOrigin	origin;
		GuardArguments *arguments;
		NearKnown  *known;
		Relation	root;

		if (!TRIGGER_FOR_INSERT(trigger->tgtype) ||
			simhash_c_function(trigger->tgfoid) != simhash_guard)
			continue;
		any = true;
		origin = simhash_near_origin(relation, trigger);
		if (origin.table != call->table)
			lock_table(origin.table);
		root = table_open(origin.table, NoLock);
		arguments = simhash_guard_read_arguments(root, trigger);
		simhash_near_bind_space(&space, root, &arguments->terms, 0);
		table_close(root, NoLock);
		simhash_near_find(&space, &place);
		known = simhash_near_known_begin(origin.trigger, &arguments->terms, place.scope);
		if (known == NULL)
			continue;
		call->load.known = lappend(call->load.known, known);
		call->places = lappend_int(call->places,
								   find_fingerprints(call, get_attname(origin.table, arguments->terms.column, false)));
		*scopes = lappend(*scopes, place.scope);
	}
	if (!any)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("table \"%s\" has no trigger simhash_guard for INSERT",
						RelationGetRelationName(relation)),
				 errhint("CREATE TRIGGER ... BEFORE INSERT OR UPDATE ... EXECUTE FUNCTION simhash_guard(...) makes one.")));
	table_close(relation, NoLock);
}

/* SimhashRowReader.row: the fingerprints of a row to come. */
static void
take_coming_row(void *context, TupleTableSlot *slot)
{
	LoadCall   *call = context;
	ListCell   *known;
	ListCell   *place;

	forboth(known, call->load.known, place, call->places)
	{
		if (!slot->tts_isnull[lfirst_int(place)])
			simhash_near_known_add(lfirst(known),
								   (uint64) DatumGetInt64(slot->tts_values[lfirst_int(place)]), true);
	}
}

/* Add the fingerprints of the rows that a table has, unless they are too many. */
static void
read_table(NearKnown *known, const NearTable *table, Snapshot snapshot)
{
	Relation	relation = table_open(table->table, NoLock);
	TableScanDesc scan = simhash_table_beginscan(relation, snapshot);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	bool		fits = true;

	while (fits && table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		bool		isnull;
		Datum		value = slot_getattr(slot, table->terms.column, &isnull);

		CHECK_FOR_INTERRUPTS();
		fits = isnull || simhash_near_known_add(known, (uint64) DatumGetInt64(value), false);
	}
	ExecDropSingleTupleTableSlot(slot);
	table_endscan(scan);
	table_close(relation, NoLock);
}

/* Find what is near to the rows of the query, for each guard for which that pays. */
static void
find_near(LoadCall *call)
{
	SimhashRowReader reader = {NULL, take_coming_row, call};
	List	   *scopes = NIL;
	List	   *found = NIL;
	ListCell   *lc;
	Snapshot	latest;

	find_guards(call, &scopes);
	if (call->load.known == NIL)
		return;
	simhash_progress_step("reading");
	PushActiveSnapshot(GetTransactionSnapshot());
	simhash_read(&call->query, &reader);
	PopActiveSnapshot();
	latest = RegisterSnapshot(GetLatestSnapshot());
	foreach(lc, call->load.known)
	{
		const NearScope *scope = list_nth(scopes, foreach_current_index(lc));
		NearKnown  *known = lfirst(lc);

		for (int i = 0; i < scope->ntables; i++)
			read_table(known, &scope->tables[i], latest);
		if (simhash_near_known_find(known))
			found = lappend(found, known);
	}
	UnregisterSnapshot(latest);
	call->load.known = found;
}

/*
 * The statement that inserts the rows: columns by their names, but for those that the
 * table generates.  The first one tells rows apart, and need not be of the table.
 * Without OFFSET the call might come before rows are in their order.
 */
static char *
write_insert(const LoadCall *call)
{
	Relation	relation = table_open(call->table, NoLock);
	StringInfoData names;
	char	   *command;

	initStringInfo(&names);
	for (int i = 0; i < call->columns->natts; i++)
	{
		const char *name = NameStr(TupleDescAttr(call->columns, i)->attname);
		AttrNumber	column = i > 0 || get_attnum(call->table, name) > 0 ?
		simhash_find_column(call->table, name, "query", " The first one may have any name.") : 0;
		Form_pg_attribute attribute = column == 0 ? NULL :
		simhash_near_attribute(relation, column);

		if (attribute != NULL && attribute->attgenerated == '\0' &&
			attribute->attidentity != ATTRIBUTE_IDENTITY_ALWAYS)
			appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", quote_identifier(name));
	}
	command = psprintf("INSERT INTO %s %s SELECT %s FROM (SELECT * FROM (%s\n) AS q OFFSET 0) AS s WHERE $1",
					   simhash_quoted_name(call->table),
					   names.len > 0 ? psprintf("(%s)", names.data) : "", names.data,
					   call->select);
	table_close(relation, NoLock);
	return command;
}

/*
 * ParseParamRefHook: what $1 of that statement stands for, a call for its first column.
 * By now it is known of which table the statement is, and what it reads: others may have
 * renamed a schema since the names were written.
 */
static Node *
make_row_call(ParseState *state, ParamRef *parameter pg_attribute_unused())
{
	const LoadCall *call = state->p_ref_hook_state;
	ParseNamespaceItem *from = linitial(state->p_namespace);
	ParseNamespaceColumn *first = from->p_nscolumns;
	Var		   *column;

	while (state->parentParseState != NULL)
		state = state->parentParseState;
	if (RelationGetRelid(state->p_target_relation) != call->table ||
		from->p_rte->eref->colnames == NIL)
		simhash_complain_of_renaming(call->table);
	column = makeVar(from->p_rtindex, 1, first->p_vartype, first->p_vartypmod,
					 first->p_varcollid, 0);
	return (Node *) makeFuncExpr(call->row_function, BOOLOID, list_make1(column), InvalidOid,
								 InvalidOid, COERCE_EXPLICIT_CALL);
}

/* ParserSetupHook */
static void
set_up_parser(ParseState *state, void *call)
{
	state->p_paramref_hook = make_row_call;
	state->p_ref_hook_state = call;
}

/* Run the statement. */
static void
insert_rows(LoadCall *call)
{
	Oid			type = ANYELEMENTOID;
	ParamListInfo params = makeParamList(0);

	call->row_function = simhash_own_function(NULL, get_func_namespace(call->function),
											  "_simhash_guard_load_row",
											  _simhash_guard_load_row, 1, &type);
	if (!OidIsValid(call->row_function))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_FUNCTION),
				 errmsg("function _simhash_guard_load_row of extension \"simhash\" does not exist")));
	params->parserSetup = set_up_parser;
	params->parserSetupArg = call;
	(void) simhash_run_hooked(write_insert(call), params);
}

/* A load from its beginning to its end, in a call that is connected to SPI. */
static void
load_rows(void *context)
{
	LoadCall   *call = context;

	simhash_analyze(&call->query);
	call->select = pstrdup(call->query.text);
	if (call->query.query->stmt_len > 0)
		call->select[call->query.query->stmt_location + call->query.query->stmt_len] = '\0';
	call->columns = simhash_columns(&call->query);
	if (call->columns->natts == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the query yields no column"),
				 errhint("The first one tells its rows apart.")));
	lock_table(call->table);
	find_near(call);
	call->load.outer = simhash_near_loading;
	PG_TRY();
	{
		simhash_near_loading = &call->load;
		insert_rows(call);
	}
	PG_FINALLY();
	{
		simhash_near_loading = call->load.outer;
	}
	PG_END_TRY();
}

/*
 * simhash_guard_load(relation regclass, query text)
 *		-> setof (id text, near text, distance integer, similarity double precision)
 *
 * Insert the rows of the query into a table with guards, one after the other, but for
 * those that a guard rejects, skips or has conflict; these are returned, by the first
 * column of the query, with the primary key of the row that each is near to, or NULLs
 * where the caller may not read that.  Nobody else can write to the table until the
 * transaction ends.
 *
 * Errors: null_value_not_allowed, invalid_parameter_value (no SELECT), undefined_column
 * (of the table, or of fingerprints), object_not_in_prerequisite_state (no guard, or a
 * table that is renamed meanwhile), insufficient_privilege (to lock the table), whatever
 * the query, the guards and INSERT raise.
 */
Datum
simhash_guard_load(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	LoadCall   *call = palloc0(sizeof *call);

	simhash_check_not_null(fcinfo, 0, 1);
	InitMaterializedSRF(fcinfo, 0);
	call->load.command = InvalidCommandId;
	call->load.result = result->setResult;
	call->load.columns = result->setDesc;
	call->load.context = CurrentMemoryContext;
	call->function = fcinfo->flinfo->fn_oid;
	call->table = PG_GETARG_OID(0);
	call->query.text = simhash_text_argument(fcinfo, 1);
	call->query.example = "SELECT id, body, fp FROM staging ORDER BY id";
	SPI_connect();
	MemoryContextSwitchTo(call->load.context);
	simhash_show_progress("simhash_guard_load", load_rows, call);
	SPI_finish();
	return (Datum) 0;
}

/*
 * _simhash_guard_load_row(id anyelement) -> boolean
 *
 * The statement of a load comes to a row, which it inserts before it comes to the next.
 */
Datum
_simhash_guard_load_row(PG_FUNCTION_ARGS)
{
	NearLoad   *load = simhash_near_loading;

	if (load != NULL && load->command == InvalidCommandId)
		load->command = GetActiveSnapshot()->curcid;
	if (load == NULL || load != simhash_near_load_at_work())
		PG_RETURN_BOOL(true);
	if (load->id != NULL)
		pfree(load->id);
	load->id = NULL;
	if (!PG_ARGISNULL(0))
		load->id = MemoryContextStrdup(load->context,
									   simhash_write_value(PG_GETARG_DATUM(0),
														   get_fn_expr_argtype(fcinfo->flinfo, 0)));
	if (++load->rows % SIMHASH_SAY_EVERY == 0)
		simhash_progress_rows("inserting", load->rows);
	PG_RETURN_BOOL(true);
}
