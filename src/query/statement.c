/*-------------------------------------------------------------------------
 *
 * statement.c
 *		The queries that reports run: analyzed once, run then, or later.
 *
 * Names are looked up when a query is analyzed, and not again: a report that
 * takes minutes calls the functions and reads the tables that had these names
 * when it began, even if somebody renames a schema meanwhile and puts others
 * in their place.  SPI would look the names up once more when something has
 * changed.  A report makes further queries as it runs: by then, names have to
 * mean what it is about.
 *
 * A query that we have written is never compiled: nobody knows how many rows it will
 * yield, and what the planner takes for granted can make it wait a thousand times as
 * long for the JIT compiler as it runs.  One of the user's is planned as any other.
 *
 * A query is planned and run as in a transaction that is read-only, so that functions
 * which it calls cannot write either, nor end that by RESET on PostgreSQL 15; but not
 * one of foreign tables on PostgreSQL 19: simhash_keeps_read_only says why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "query/query.h"

#include "executor/tstoreReceiver.h"
#include "nodes/nodeFuncs.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "parser/scansup.h"

#include "relation.h"
#include "search/search.h"

/* What the statement may read that is running, and the query for its rows; or NIL. */
List	   *simhash_readable = NIL;

/* Does the text begin as a query does? */
static bool
looks_like_query(const char *start)
{
	static const char *const begins[] = {"select", "with", "values", "table"};

	while (scanner_isspace(*start) || *start == '(')
		start++;

	for (size_t i = 0; i < lengthof(begins); i++)
	{
		if (pg_strncasecmp(start, begins[i], strlen(begins[i])) == 0)
			return true;
	}
	return false;
}

/*
 * An error in a query, or while it runs: its position is one in that text.  If
 * the text does not even begin as a query, as where it is the name of a table,
 * a hint shows what a query looks like.
 */
static void
statement_error_callback(void *arg)
{
	const SimhashStatement *statement = arg;
	int			position = geterrposition();

	if (statement->example != NULL &&
		geterrcode() == ERRCODE_SYNTAX_ERROR &&
		!looks_like_query(statement->text))
		errhint("Give a query, such as '%s'.", statement->example);
	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(statement->text);
	}
	else
		errcontext("SQL statement \"%s\"", statement->text);
}

/*
 * Errors are about the statement, until error_context_stack is what it was
 * before.
 */
static void
enter_statement(const SimhashStatement *statement,
				ErrorContextCallback *callback)
{
	callback->callback = statement_error_callback;
	callback->arg = unconstify(SimhashStatement *, statement);
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

/* Fail: the query does more than read. */
static void
complain_of_query(const SimhashStatement *statement)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("the query must be a single SELECT that changes and locks nothing"),
			 errhint("Give a query, such as '%s'.", statement->example)));
}

/*
 * query_or_expression_tree_walker: does FROM have what a statement may not read?  Who
 * owns a schema could have renamed it, and put other tables, or functions, in their
 * place; and on PostgreSQL 15 a rule makes a view of an empty table.  Subqueries of
 * expressions are the caller's, who may read anything there.
 */
static bool
reads_other(Node *node, void *context)
{
	const SimhashStatement *statement = context;

	if (node == NULL || IsA(node, SubLink))
		return false;
	if (IsA(node, RangeTblEntry))
		return ((RangeTblEntry *) node)->rtekind == RTE_RELATION &&
			(((RangeTblEntry *) node)->relkind == RELKIND_VIEW ||
			 !list_member_oid(statement->relations, ((RangeTblEntry *) node)->relid));
	if (IsA(node, RangeTblFunction))
	{
		Node	   *call = ((RangeTblFunction *) node)->funcexpr;

		return statement->source != NULL &&
			(!IsA(call, FuncExpr) || simhash_c_function(((FuncExpr *) call)->funcid) != statement->source);
	}
	if (IsA(node, Query))
		return query_tree_walker((Query *) node, reads_other, context,
								 QTW_EXAMINE_RTES_BEFORE);
	return expression_tree_walker(node, reads_other, context);
}

/*
 * Analyze a query; fail unless it only reads, and by its names what it may.  The
 * caller has set the text and an example for the hint.
 */
void
simhash_analyze(SimhashStatement *statement)
{
	ErrorContextCallback callback;
	List	   *parsed;
	List	   *queries = NIL;
	Query	   *query;

	enter_statement(statement, &callback);
	parsed = raw_parser(statement->text, RAW_PARSE_DEFAULT);
	if (list_length(parsed) == 1)
	{
		/* Before policies of row security bring in others. */
		query = parse_analyze_fixedparams(linitial_node(RawStmt, parsed),
										  statement->text, NULL, 0, NULL);
		if (statement->relations != NIL && reads_other((Node *) query, statement))
			simhash_complain_of_renaming(linitial_oid(statement->relations));
		queries = pg_rewrite_query(query);
	}
	error_context_stack = callback.previous;
	query = list_length(queries) == 1 ? linitial_node(Query, queries) : NULL;
	if (query == NULL || query->commandType != CMD_SELECT ||
		query->hasModifyingCTE || query->rowMarks != NIL)
		complain_of_query(statement);
	statement->query = query;
}

/* Have nothing written until then, whatever is RESET. */
static void
forbid_writing(void)
{
	simhash_set("transaction_read_only", "on", GUC_ACTION_LOCAL);
	(void) simhash_reset_read_only(true);
}

/*
 * Plan a query and run it.  The planner may call functions, too; but where it may begin
 * a transaction on another server, it is known only afterwards whether that is so.
 */
static void
plan_and_run(const SimhashStatement *statement, DestReceiver *receiver)
{
	bool		keeps = simhash_keeps_read_only(RELKIND_FOREIGN_TABLE);
	bool		foreign = false;
	PlannedStmt *plan;
	QueryDesc  *running;
	ListCell   *lc;

	if (statement->ours)
		simhash_set("jit", "off", GUC_ACTION_LOCAL);
	if (!keeps)
		forbid_writing();
	plan = simhash_plan_query(copyObject(statement->query), statement->text,
							  CURSOR_OPT_PARALLEL_OK, NULL);
	if (plan->rowMarks != NIL)
		complain_of_query(statement);
	foreach(lc, plan->rtable)
		foreign |= simhash_keeps_read_only(lfirst_node(RangeTblEntry, lc)->relkind);
	if (keeps && !foreign)
		forbid_writing();
	if (statement->expected != NULL)
		*statement->expected = plan->planTree->plan_rows;
	running = CreateQueryDesc(plan, statement->text, GetActiveSnapshot(),
							  InvalidSnapshot, receiver, NULL, NULL, 0);
	ExecutorStart(running, 0);
	simhash_run_executor(running);
	ExecutorFinish(running);
	ExecutorEnd(running);
	FreeQueryDesc(running);
}

/*
 * Run a query that has been analyzed, in the snapshot of the caller; its rows
 * go to a receiver.
 */
static void
run_statement(const SimhashStatement *statement, DestReceiver *receiver)
{
	ErrorContextCallback callback;
	List	   *outer = simhash_readable;
	bool		reset = simhash_reset_read_only(XactReadOnly);
	int			level = NewGUCNestLevel();

	enter_statement(statement, &callback);
	PushActiveSnapshot(GetActiveSnapshot());
	PG_TRY();
	{
		simhash_readable = statement->relations;
		plan_and_run(statement, receiver);
	}
	PG_FINALLY();
	{
		simhash_readable = outer;
		(void) simhash_reset_read_only(reset);
	}
	PG_END_TRY();
	PopActiveSnapshot();
	AtEOXact_GUC(false, level);
	error_context_stack = callback.previous;
}

/* The same; the rows go to a store. */
void
simhash_run_into(const SimhashStatement *statement, Tuplestorestate *store)
{
	DestReceiver *receiver = CreateTuplestoreDestReceiver();

	SetTuplestoreDestReceiverParams(receiver, store, CurrentMemoryContext,
									false, NULL, NULL);
	run_statement(statement, receiver);
}

/* The columns that a query yields. */
TupleDesc
simhash_columns(const SimhashStatement *statement)
{
	return ExecCleanTypeFromTL(statement->query->targetList);
}

/* --- rows to a function of the caller ------------------------------------- */

/* A receiver that hands rows over to a reader. */
typedef struct ReaderReceiver
{
	DestReceiver pub;
	const SimhashRowReader *reader;
} ReaderReceiver;

static void
reader_startup(DestReceiver *self, int operation pg_attribute_unused(),
			   TupleDesc desc)
{
	const SimhashRowReader *reader = ((ReaderReceiver *) self)->reader;

	if (reader->columns != NULL)
		reader->columns(reader->context, desc);
}

static bool
reader_receive(TupleTableSlot *slot, DestReceiver *self)
{
	const SimhashRowReader *reader = ((ReaderReceiver *) self)->reader;

	CHECK_FOR_INTERRUPTS();
	slot_getallattrs(slot);
	reader->row(reader->context, slot);
	return true;
}

/* A DestReceiver's last two functions: there is nothing to do. */
static void
reader_end(DestReceiver *self pg_attribute_unused())
{
}

/* The same for a query whose rows go to a reader. */
void
simhash_read(const SimhashStatement *statement, const SimhashRowReader *reader)
{
	ReaderReceiver receiver = {
		{reader_receive, reader_startup, reader_end, reader_end, DestNone},
		reader
	};

	run_statement(statement, &receiver.pub);
}
