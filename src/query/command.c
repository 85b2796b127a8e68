/*-------------------------------------------------------------------------
 *
 * command.c
 *		Commands that we have written and that change something, by SPI; and what an
 *		error rolls back of them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "query/query.h"

#include "access/transam.h"
#include "access/xact.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "parser/parse_node.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "relation.h"

/* What a command may name, and its parameters. */
typedef struct Names
{
	const List *relations;		/* besides those of pg_catalog; NIL: any */
	const Oid  *types;
} Names;

/* Fail: the name of a table, or that of its schema, is of another one by now. */
void
simhash_complain_of_renaming(Oid table)
{
	char	   *name = simhash_quoted_name(table);

	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("%s has been renamed", name),
			 errhint("Try again.")));
}

/*
 * PreParseColumnRefHook: does the command so far name other relations?  Whoever owns a
 * schema may rename it after the command was written, and put a table with triggers of
 * his own in the place of ours.
 */
static Node *
check_relations(ParseState *state, ColumnRef *column pg_attribute_unused())
{
	const Names *names = state->p_ref_hook_state;

	for (; state != NULL; state = state->parentParseState)
	{
		ListCell   *lc;

		foreach(lc, state->p_rtable)
		{
			const RangeTblEntry *entry = lfirst(lc);

			if (entry->rtekind == RTE_RELATION && entry->relid >= FirstNormalObjectId &&
				!list_member_oid(names->relations, entry->relid))
				simhash_complain_of_renaming(linitial_oid(names->relations));
		}
	}
	return NULL;
}

/* ParseParamRefHook */
static Node *
make_parameter(ParseState *state, ParamRef *reference)
{
	const Names *names = state->p_ref_hook_state;
	Param	   *parameter = makeNode(Param);

	parameter->paramkind = PARAM_EXTERN;
	parameter->paramid = reference->number;
	parameter->paramtype = names->types[reference->number - 1];
	parameter->paramtypmod = -1;
	parameter->paramcollid = get_typcollation(parameter->paramtype);
	parameter->location = reference->location;
	return (Node *) parameter;
}

/* ParserSetupHook */
static void
set_up_parser(ParseState *state, void *names)
{
	state->p_pre_columnref_hook = ((Names *) names)->relations == NIL ? NULL : check_relations;
	state->p_paramref_hook = make_parameter;
	state->p_ref_hook_state = names;
}

/*
 * Run a command, in a call that is connected to SPI; returns how many rows it is about.
 * SPI analyzes it once, right before it runs, by the parser's hooks that come with the
 * parameters.  SPI changes the context, and plans before it takes a snapshot; after a
 * commit there is none, and a plan that will do for this transaction alone, as by a new
 * index, wants one.
 */
uint64
simhash_run_hooked(const char *command, ParamListInfo params)
{
	MemoryContext context = CurrentMemoryContext;
	SPIExecuteOptions options = {.params = params};
	int			result;
	uint64		rows;

	PushActiveSnapshot(GetTransactionSnapshot());
	result = SPI_execute_extended(command, &options);
	rows = SPI_processed;
	PopActiveSnapshot();
	MemoryContextSwitchTo(context);
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not run a command of simhash: %s",
						SPI_result_code_string(result)),
				 errdetail("The command was: %s", command),
				 errhint("See whether a rule or a trigger of the table changes it.")));
	return rows;
}

/*
 * Run a command with so many parameters, likewise.  It fails where it names other
 * relations than these, if any are given.
 */
uint64
simhash_run_command(const List *relations, const char *command, int n, const Oid *types,
					const Datum *values)
{
	Names		names = {relations, types};
	ParamListInfo params = makeParamList(n);

	for (int i = 0; i < n; i++)
		params->params[i] = (ParamExternData)
	{
		values[i], false, PARAM_FLAG_CONST, types[i]
	};
	params->parserSetup = set_up_parser;
	params->parserSetupArg = &names;
	return simhash_run_hooked(command, params);
}

/* Is a procedure called where it may not end the transaction, as in a block? */
bool
simhash_is_atomic(FunctionCallInfo fcinfo)
{
	return fcinfo->context == NULL || !IsA(fcinfo->context, CallContext) ||
		castNode(CallContext, fcinfo->context)->atomic;
}

/*
 * End the transaction in which a procedure is called: it may have a snapshot, and an
 * isolation level.  Fail if its role ends with it, lest one of more rights goes on.
 */
void
simhash_end_transaction(void)
{
	Oid			user = GetUserId();

	SPI_commit();
	if (GetUserId() != user)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TRANSACTION_STATE),
				 errmsg("the role of the call ends with its transaction, which the call has to end"),
				 errhint("SET ROLE without LOCAL, or BEGIN a transaction block, and call it in that.")));
}

/*
 * Take a new relation from those whom default privileges have given it to: it has
 * values of rows that a policy may hide from them, and what they write into it
 * would be taken for ours.
 */
void
simhash_revoke_all(Oid relation)
{
	uint64		n = simhash_run_command(NIL, psprintf("SELECT DISTINCT pg_catalog.format('REVOKE ALL ON %%s FROM %%s', %s::pg_catalog.text,"
													  " CASE WHEN a.grantee OPERATOR(pg_catalog.=) '0' THEN 'PUBLIC'"
													  " ELSE a.grantee::pg_catalog.regrole::pg_catalog.text END)"
													  " FROM pg_catalog.pg_class AS c, pg_catalog.aclexplode(c.relacl) AS a"
													  " WHERE c.oid OPERATOR(pg_catalog.=) '%u'"
													  " AND a.grantee OPERATOR(pg_catalog.<>) c.relowner",
													  quote_literal_cstr(simhash_quoted_name(relation)), relation),
										0, NULL, NULL);
	SPITupleTable *found = SPI_tuptable;

	for (uint64 i = 0; i < n; i++)
		(void) simhash_run_command(NIL, SPI_getvalue(found->vals[i], found->tupdesc, 1), 0, NULL, NULL);
	SPI_freetuptable(found);
}

/*
 * Do something in a subtransaction; NULL, or the error that has rolled it back.  No error
 * must leave the subtransaction open: nobody else would end it.
 */
ErrorData  *
simhash_try(void (*work) (void *context), void *context)
{
	MemoryContext outer = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(outer);
	PG_TRY();
	{
		work(context);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(outer);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(outer);
	CurrentResourceOwner = owner;
	return error;
}
