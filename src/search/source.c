/*-------------------------------------------------------------------------
 *
 * source.c
 *		An expression over the columns of a table that a user gives as text.
 *
 * The type of the expression must be known before it goes into SQL of ours.
 * There a bigint or a bit string stays what it is; but a value of another type
 * might be converted, by a cast that the owner of that type has written,
 * perhaps the owner of the table, and that would run with the rights of the
 * caller.  So the text is parsed by itself, where nothing asks for a
 * conversion, and its type is looked at.  Nothing of it is evaluated.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"

#include "access/transam.h"
#include "catalog/namespace.h"
#include "nodes/makefuncs.h"
#include "parser/parse_clause.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "relation.h"

#define MAKES_FINGERPRINT "Name a bigint column or give an expression such as simhash(%s)."

/* What a source may be, in the order of SimhashSource. */
static const struct
{
	const char *argument;		/* that it is */
	const char *hint;			/* with a place for a document, where there is
								 * an example of one */
	const char *wanted;			/* types: these; NULL: any */
	Oid			types[3];
}			sources[] =

{
	{"fingerprint", MAKES_FINGERPRINT, "bigint", {INT8OID}},
	{"fingerprint", MAKES_FINGERPRINT, "bigint or bit",
	{INT8OID, BITOID, VARBITOID}},
	{"document", "Name a column or give an expression such as title || ' ' || %s.", NULL, {0}},
	{"condition", "Give a condition on a row, such as status = 'open'.", "boolean",
	{BOOLOID}},
	{"within", "Name a column or give an expression such as lower(site).", NULL, {0}},
	{"moment", "Name a column or give an expression such as to_timestamp(seconds).",
	"date, timestamp or timestamptz", {DATEOID, TIMESTAMPOID, TIMESTAMPTZOID}}
};

/* Have an error in the source point into it, not into the user's query. */
static void
source_error_callback(void *source)
{
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery((const char *) source);
	}
}

/* Parse the source: one expression, and nothing around it. */
static Node *
parse_source(const char *source, SimhashSource kind)
{
	List	   *statements = raw_parser(source, RAW_PARSE_PLPGSQL_EXPR);
	SelectStmt *select = (SelectStmt *) linitial_node(RawStmt, statements)->stmt;
	SelectStmt	bare;
	ResTarget  *target;

	if (list_length(select->targetList) == 1)
	{
		/* All else about the statement must be as if it were not written. */
		memset(&bare, 0, sizeof bare);
		bare.type = T_SelectStmt;
		bare.targetList = select->targetList;
		bare.limitOption = select->limitOption;
		target = linitial_node(ResTarget, select->targetList);
		if (equal(&bare, select) && target->name == NULL &&
			!(IsA(target->val, ColumnRef) &&
			  IsA(llast(((ColumnRef *) target->val)->fields), A_Star)))
			return target->val;
	}
	ereport(ERROR,
			(errcode(ERRCODE_SYNTAX_ERROR),
			 errmsg("argument \"%s\" is not an expression: %s",
					sources[kind].argument, source),
			 errhint(sources[kind].hint, "body")));
}

/*
 * Fail unless the source is of a type that is wanted, or of a domain over that:
 * nothing of ours converts it.
 */
static void
check_source_type(Node *expression, SimhashSource kind, const char *source)
{
	Oid			type = exprType(expression);
	Oid			base = getBaseType(type);
	bool		document = base == TEXTOID || base == VARCHAROID;

	for (size_t i = 0; i < lengthof(sources[kind].types); i++)
	{
		if (sources[kind].wanted == NULL || sources[kind].types[i] == base)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("argument \"%s\" is of type %s, not %s: %s",
					sources[kind].argument, format_type_be(type),
					sources[kind].wanted, source),
			 errhint(sources[kind].hint, document ? source : "body")));
}

/* Fail unless the source has one value for each row. */
static void
check_one_value(const ParseState *pstate, SimhashSource kind,
				const char *source)
{
	if (pstate->p_hasAggs || pstate->p_hasWindowFuncs ||
		pstate->p_hasTargetSRFs)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"%s\" must be computed from one row: %s",
						sources[kind].argument, source),
				 errhint(sources[kind].hint, "body")));
}

/* Begin to parse a source, in which columns of the relation, named t or not, are known. */
static ParseState *
begin_parse(Relation relation, const char *source, bool named)
{
	ParseState *pstate = make_parsestate(NULL);

	pstate->p_sourcetext = source;
	addNSItemToQuery(pstate,
					 addRangeTableEntryForRelation(pstate, relation, AccessShareLock,
												   named ? makeAlias("t", NIL) : NULL,
												   false, true),
					 false, true, true);
	return pstate;
}

/*
 * Read a source: an expression over the columns of the relation, which all but
 * that of keys may call t.
 *
 * Errors: syntax_error, undefined_column and others of the names in the
 * expression, datatype_mismatch, invalid_parameter_value for one that is not of
 * a row.
 */
Node	   *
simhash_read_source(Relation relation, const char *source, SimhashSource kind)
{
	ParseState *pstate = begin_parse(relation, source, kind != SIMHASH_KEYS);
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = source_error_callback,
		.arg = unconstify(char *, source)
	};
	Node	   *expression;

	error_context_stack = &callback;
	expression = transformExpr(pstate, parse_source(source, kind),
							   kind == SIMHASH_KEYS ?
							   EXPR_KIND_GENERATED_COLUMN :
							   EXPR_KIND_SELECT_TARGET);
	assign_expr_collations(pstate, expression);
	error_context_stack = callback.previous;
	check_one_value(pstate, kind, source);
	check_source_type(expression, kind, source);
	free_parsestate(pstate);
	return expression;
}

/* What generates an expression that is a generated column; or else NULL. */
Node	   *
simhash_generation(Relation relation, const Node *expression)
{
	const Var  *column = (const Var *) expression;

	return !IsA(column, Var) || column->varattno <= 0 ||
		!TupleDescAttr(RelationGetDescr(relation),
					   column->varattno - 1)->attgenerated ? NULL :
		build_column_default(relation, column->varattno);
}

/*
 * Read a fingerprint of a relation.  Sets the type that it can be cast to
 * without running code, and the width of a bit string if its type has one.
 *
 * Errors: undefined_table, and those of simhash_read_source.
 */
Node	   *
simhash_check_fingerprint(Oid oid, const char *source, Oid *type, int *width)
{
	Relation	relation = try_relation_open(oid, AccessShareLock);
	Node	   *expression;
	int32		typmod;

	if (relation == NULL)
		simhash_complain_of_missing(oid);
	expression = simhash_read_source(relation, source, SIMHASH_FINGERPRINT);
	relation_close(relation, NoLock);
	typmod = exprTypmod(expression);
	*type = getBaseTypeAndTypmod(exprType(expression), &typmod);
	*width = *type == BITOID && typmod > 0 ? typmod : 0;
	return simhash_unlabeled(expression);
}

/*
 * check_function_callback: is it no immutable function of the core, or one of any
 * types?  Somebody may make one of the same name that fits these better, once the
 * expression is text.
 */
static bool
is_foreign_function(Oid function, void *context pg_attribute_unused())
{
	Oid		   *types;
	int			n;

	if (function >= FirstUnpinnedObjectId ||
		func_volatile(function) != PROVOLATILE_IMMUTABLE)
		return true;
	(void) get_func_signature(function, &types, &n);
	for (int i = 0; i < n; i++)
	{
		if (IsPolymorphicType(types[i]) || types[i] == ANYOID)
			return true;
	}
	return false;
}

/*
 * expression_tree_walker: is there something that others may have made, or that
 * as text may mean something of theirs?  NULLIF, CASE with an operand and IS
 * DISTINCT FROM do not say whose operator "=" is.
 */
static bool
has_foreign_code(Node *node, void *context)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Var:
		case T_Const:
		case T_List:
		case T_RelabelType:
		case T_CollateExpr:
		case T_FuncExpr:
		case T_OpExpr:
		case T_ScalarArrayOpExpr:
		case T_CoerceViaIO:
		case T_CoalesceExpr:
		case T_CaseExpr:
		case T_CaseWhen:
		case T_BoolExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_ArrayExpr:
			return check_functions_in_node(node, is_foreign_function, context) ||
				expression_tree_walker(node, has_foreign_code, context);
		default:
			return true;
	}
}

/*
 * Does an expression of somebody else's, as that of a generated column, run no
 * code but immutable functions of the core?  Then anybody may evaluate it with
 * his own rights.
 */
bool
simhash_is_of_core(Node *expression)
{
	return !has_foreign_code(expression, NULL);
}

/*
 * Fail unless a text is what may follow ORDER BY in a query of ours, by columns of the
 * table.  A number there is the place of a column that the query yields, and a bare
 * name that the query may give to such a column comes before that of the table's.
 */
void
simhash_check_order(Relation relation, const char *order)
{
	char	   *source = psprintf("ORDER BY %s", order);
	ParseState *pstate = begin_parse(relation, source, true);
	ErrorContextCallback callback = {
		.previous = error_context_stack,
		.callback = source_error_callback,
		.arg = source
	};
	List	   *targets = NIL;
	SelectStmt *select;
	ListCell   *lc;

	error_context_stack = &callback;
	select = (SelectStmt *) linitial_node(RawStmt, raw_parser(source, RAW_PARSE_PLPGSQL_EXPR))->stmt;
	(void) transformSortClause(pstate, copyObject(select->sortClause), &targets,
							   EXPR_KIND_ORDER_BY, true);
	error_context_stack = callback.previous;
	free_parsestate(pstate);
	foreach(lc, select->sortClause)
	{
		ColumnRef  *key = (ColumnRef *) lfirst_node(SortBy, lc)->node;

		if (IsA(key, A_Const) ||
			(IsA(key, ColumnRef) && IsA(linitial(key->fields), String) &&
			 list_length(key->fields) == 1 &&
			 strncmp(strVal(linitial(key->fields)), "simhash ", 8) == 0))
			ereport(ERROR,
					(errcode(ERRCODE_AMBIGUOUS_COLUMN),
					 errmsg("\"keep\" is ambiguous: %s", order),
					 errhint("Numbers, and names that begin with \"simhash \", are of columns of the query for the rows: write t.%s.",
							 IsA(key, A_Const) ? "name" :
							 quote_identifier(strVal(linitial(key->fields))))));
	}
}

/* Would "=", as text, be an operator that others can make one before? */
static bool
is_ambiguous(const OpExpr *compared)
{
	bool		bare = IsA(compared, OpExpr);	/* of a CASE: no coercions */
	Node	   *left = linitial(compared->args);
	Node	   *right = lsecond(compared->args);

	return OpernameGetOprid(list_make1(makeString("=")),
							exprType(bare ? strip_implicit_coercions(left) : left),
							exprType(bare ? strip_implicit_coercions(right) : right)) !=
		compared->opno || compared->opno >= FirstUnpinnedObjectId;
}

/* expression_tree_walker: are operands compared by an "=" that text does not tell? */
static bool
has_ambiguous_operator(Node *node, void *context)
{
	return node != NULL &&
		(((IsA(node, NullIfExpr) || IsA(node, DistinctExpr) ||
		   (IsA(node, OpExpr) &&
			IsA(strip_implicit_coercions(linitial(((OpExpr *) node)->args)),
				CaseTestExpr))) &&
		  is_ambiguous((OpExpr *) node)) ||
		 expression_tree_walker(node, has_ambiguous_operator, context));
}

/* check_function_callback: note a function that is not one of the server's own. */
static bool
note_function(Oid function, void *functions)
{
	List	  **list = functions;

	if (function >= FirstUnpinnedObjectId)
		*list = list_append_unique_oid(*list, function);
	return false;
}

/* expression_tree_walker: note all such functions, in a list of theirs. */
static bool
note_functions(Node *node, void *functions)
{
	return node != NULL &&
		(check_functions_in_node(node, note_function, functions) ||
		 expression_tree_walker(node, note_functions, functions));
}

/*
 * What an expression over a relation is read as, once it is text: perhaps another
 * tree, with casts elsewhere; or NULL if it calls other functions then.  Nothing is
 * evaluated.
 */
Node	   *
simhash_read_again(Relation relation, Node *expression)
{
	List	   *context = deparse_context_for("t", RelationGetRelid(relation));
	List	   *meant = NIL;
	List	   *called = NIL;
	Node	   *again =
	simhash_read_source(relation,
						deparse_expression(expression, context, true, false),
						SIMHASH_DOCUMENT);

	(void) note_functions(expression, &meant);
	(void) note_functions(again, &called);
	return list_difference_oid(called, meant) == NIL &&
		list_difference_oid(meant, called) == NIL ? again : NULL;
}

/*
 * An expression as text for a command, its table under an alias.  Fails where the text
 * may call something else.  NULLIF, CASE with an operand and IS DISTINCT FROM do not
 * say whose "=" is meant; and what takes arguments of any type, or has defaults, is
 * found by the types of the arguments, which somebody may have made another one of
 * the same name for.
 */
char	   *
simhash_write_expression(Relation relation, Node *expression, const char *alias,
						 bool prefixed)
{
	char	   *text = deparse_expression(expression,
										  deparse_context_for(alias, RelationGetRelid(relation)),
										  prefixed, false);

	if (has_ambiguous_operator(expression, NULL) ||
		simhash_read_again(relation, expression) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("expression may call something else once it is text: %s", text),
				 errdetail("NULLIF, IS DISTINCT FROM and CASE with an operand do not say whose \"=\" they call, and some function or operator may fit arguments better than the one that is meant."),
				 errhint("Write CASE WHEN a = b, or drop what fits better.")));
	return text;
}
