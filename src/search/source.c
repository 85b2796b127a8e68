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

#include "nodes/makefuncs.h"
#include "parser/parse_collate.h"
#include "parser/parse_expr.h"
#include "parser/parse_relation.h"
#include "parser/parser.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

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

/* From here to simhash_leave_source, errors are about the source. */
void
simhash_enter_source(ErrorContextCallback *callback, const char *source)
{
	callback->callback = source_error_callback;
	callback->arg = unconstify(char *, source);
	callback->previous = error_context_stack;
	error_context_stack = callback;
}

void
simhash_leave_source(ErrorContextCallback *callback)
{
	error_context_stack = callback->previous;
}

/*
 * Parse the source: one expression, and nothing around it.  Messages call it
 * the source of the keys, or else the fingerprint.
 */
Node	   *
simhash_parse_source(const char *source, bool of_keys)
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
			 errmsg(of_keys ? "source of the keys is not an expression: %s" :
					"fingerprint is not an expression: %s", source),
			 errhint("Name a bigint column or give an expression such as simhash(body).")));
}

/*
 * Look up what the parsed source names.  The columns are those of the
 * relation, by themselves or, if it has one, with its alias.
 */
Node	   *
simhash_transform_source(ParseState *pstate, Relation relation,
						 const char *alias, Node *raw, ParseExprKind kind)
{
	ParseNamespaceItem *item;
	Node	   *expression;

	item = addRangeTableEntryForRelation(pstate, relation, AccessShareLock,
										 alias ? makeAlias(alias, NIL) : NULL,
										 false, true);
	addNSItemToQuery(pstate, item, false, true, true);
	expression = transformExpr(pstate, raw, kind);
	assign_expr_collations(pstate, expression);
	return expression;
}

/*
 * Fail unless the source is a bigint, or of a domain over that.  A fingerprint
 * may be a bit string, too.
 */
void
simhash_check_source_type(Node *expression, bool of_keys,
						  const char *source)
{
	Oid			type = exprType(expression);
	Oid			base = getBaseType(type);
	bool		document = base == TEXTOID || base == VARCHAROID;

	if (base == INT8OID || (!of_keys && (base == BITOID || base == VARBITOID)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 of_keys ?
			 errmsg("source of the keys is of type %s, not bigint",
					format_type_be(type)) :
			 errmsg("fingerprint \"%s\" is of type %s, not bigint or bit", source,
					format_type_be(type)),
			 errhint("Name a bigint column or give an expression such as simhash(%s).",
					 document ? source : "body")));
}

/* Fail unless the source has one value for each row. */
static void
check_one_value(const ParseState *pstate, const char *source)
{
	if (pstate->p_hasAggs || pstate->p_hasWindowFuncs ||
		pstate->p_hasTargetSRFs)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("fingerprint must be computed from one row: %s",
						source),
				 errhint("Name a bigint column or give an expression such as simhash(body).")));
}

/*
 * Fail unless the fingerprint is an expression over the columns of the
 * relation, which may be called t, and of type bigint or bit.  Sets the type
 * that it can be cast to without running code, and the width of a bit string
 * if its type has one.  Returns the expression, or if it is a generated column
 * what generates that.
 *
 * Errors: undefined_table, syntax_error, undefined_column and others of the
 * names in the expression, datatype_mismatch, invalid_parameter_value for one
 * that is not of a row.
 */
Node	   *
simhash_check_fingerprint(Oid oid, const char *source, Oid *type, int *width)
{
	Relation	relation = try_relation_open(oid, AccessShareLock);
	ParseState *pstate = make_parsestate(NULL);
	ErrorContextCallback callback;
	Node	   *expression;
	int32		typmod;

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", oid)));
	simhash_enter_source(&callback, source);
	pstate->p_sourcetext = source;
	expression = simhash_transform_source(pstate, relation, "t",
										  simhash_parse_source(source, false),
										  EXPR_KIND_SELECT_TARGET);
	simhash_leave_source(&callback);
	check_one_value(pstate, source);
	simhash_check_source_type(expression, false, source);
	typmod = exprTypmod(expression);
	*type = getBaseTypeAndTypmod(exprType(expression), &typmod);
	*width = *type == BITOID && typmod > 0 ? typmod : 0;
	expression = simhash_unlabeled(expression);
	if (IsA(expression, Var) && ((Var *) expression)->varattno > 0 &&
		TupleDescAttr(RelationGetDescr(relation),
					  ((Var *) expression)->varattno - 1)->attgenerated)
		expression = build_column_default(relation,
										  ((Var *) expression)->varattno);
	free_parsestate(pstate);
	relation_close(relation, NoLock);
	return expression;
}
