/*-------------------------------------------------------------------------
 *
 * key_prefix.c
 *		Conditions on the columns that come before the key in an index of keys,
 *		such as site in (site, k0), or beside fp in a hamming index (site, fp).
 *
 * Such an index serves a search (key_paths.c) only if the query says what each
 * of these columns is equal to: by  column = value,  column = ANY (array),  a
 * boolean column or NOT of it, or the equality with a column of another
 * relation in a join.  The planner matches conditions to indexes by functions
 * of its own, which are not for others to call; here is what they do, for
 * equality alone.
 *
 * A join makes the path one for the inner side of a nested loop.  An equality
 * of two columns is no condition by the time that we look for it but an
 * equivalence class, which is asked for what it implies.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_operator.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

/* A column of a btree index, or of a hamming index. */
typedef struct IndexColumn
{
	IndexOptInfo *index;
	int			number;
} IndexColumn;

/*
 * Does the index compare the column as an operator under a collation does?  A
 * boolean column of a hamming index can have the family of hash indexes, in
 * which PostgreSQL 15 finds it (hooks.c).
 */
static bool
column_compares(const IndexColumn *column, Oid operator, Oid collation)
{
	Oid			own = column->index->indexcollations[column->number];
	Oid			family = column->index->opfamily[column->number];
	int			equal = column->index->relam == BTREE_AM_OID ?
	BTEqualStrategyNumber :
	family == BOOL_HASH_FAM_OID ? HTEqualStrategyNumber :
	SIMHASH_EQUAL_STRATEGY;

	return (!OidIsValid(own) || own == collation) &&
		OidIsValid(operator) &&
		get_op_opfamily_strategy(operator, family) == equal;
}

/* Is one expression the column, and the other known before the row is? */
static bool
match_sides(PlannerInfo *root, const IndexColumn *column, Node *own,
			Node *other)
{
	return match_index_to_operand(own, column->number, column->index) &&
		!bms_is_member(column->index->rel->relid, pull_varnos(root, other)) &&
		!contain_volatile_functions(other);
}

/* The condition of the index for column = value, or NULL. */
static RestrictInfo *
match_equality(PlannerInfo *root, const IndexColumn *column,
			   RestrictInfo *rinfo)
{
	OpExpr	   *op = (OpExpr *) rinfo->clause;
	Oid			commutator;

	if (list_length(op->args) != 2)
		return NULL;
	if (match_sides(root, column, linitial(op->args), lsecond(op->args)))
		return column_compares(column, op->opno, op->inputcollid) ? rinfo : NULL;
	if (!match_sides(root, column, lsecond(op->args), linitial(op->args)))
		return NULL;
	commutator = get_commutator(op->opno);
	return column_compares(column, commutator, op->inputcollid) ?
		commute_restrictinfo(rinfo, commutator) : NULL;
}

/* The same for column = ANY (array). */
static RestrictInfo *
match_any(PlannerInfo *root, const IndexColumn *column, RestrictInfo *rinfo)
{
	ScalarArrayOpExpr *any = (ScalarArrayOpExpr *) rinfo->clause;

	return any->useOr &&
		match_sides(root, column, linitial(any->args), lsecond(any->args)) &&
		column_compares(column, any->opno, any->inputcollid) ? rinfo : NULL;
}

/* The same for a boolean column, which is a condition without an operator. */
static RestrictInfo *
match_boolean(PlannerInfo *root, const IndexColumn *column,
			  RestrictInfo *rinfo)
{
	Node	   *own = (Node *) rinfo->clause;
	bool		value = true;

	if (!op_in_opfamily(BooleanEqualOperator,
						column->index->opfamily[column->number]))
		return NULL;
	if (is_notclause(own))
	{
		own = (Node *) get_notclausearg((Expr *) own);
		value = false;
	}
	if (!match_index_to_operand(own, column->number, column->index))
		return NULL;
	return make_simple_restrictinfo(root,
									make_opclause(BooleanEqualOperator, BOOLOID,
												  false, (Expr *) copyObject(own),
												  (Expr *) makeBoolConst(value, false),
												  InvalidOid, InvalidOid));
}

/* The condition of the index that a condition of the query is, or NULL. */
static RestrictInfo *
match_condition(PlannerInfo *root, const IndexColumn *column,
				RestrictInfo *rinfo)
{
	if (rinfo->pseudoconstant ||
		!restriction_is_securely_promotable(rinfo, column->index->rel))
		return NULL;
	if (IsA(rinfo->clause, OpExpr))
		return match_equality(root, column, rinfo);
	if (IsA(rinfo->clause, ScalarArrayOpExpr))
		return match_any(root, column, rinfo);
	return match_boolean(root, column, rinfo);
}

/* ec_matches_callback_type: may an equivalence class have the column? */
static bool
is_equivalent(PlannerInfo *root, RelOptInfo *rel, EquivalenceClass *ec,
			  EquivalenceMember *em, void *arg)
{
	const IndexColumn *column = arg;
	Oid			own = column->index->indexcollations[column->number];

	(void) root;
	(void) rel;
	return (column->index->relam != BTREE_AM_OID ||
			list_member_oid(ec->ec_opfamilies,
							column->index->opfamily[column->number])) &&
		(!OidIsValid(own) || own == ec->ec_collation) &&
		match_index_to_operand((Node *) em->em_expr, column->number,
							   column->index);
}

/* All conditions that may concern a column, those on the relation alone first. */
static List *
list_conditions(PlannerInfo *root, RelOptInfo *rel, IndexColumn *column)
{
	List	   *conditions = simhash_conditions(rel);

	if (rel->has_eclass_joins)
		conditions = list_concat(conditions,
								 generate_implied_equalities_for_column(root, rel,
																		is_equivalent,
																		column,
																		rel->lateral_referencers));
	return conditions;
}

/*
 * The condition on a column: the first that needs no other relations than the
 * given ones, or else, if there may be further ones, the first of all.  NULL
 * when there is none.
 */
static IndexClause *
find_condition(PlannerInfo *root, RelOptInfo *rel, IndexColumn *column,
			   Relids given, bool further)
{
	IndexClause *result = NULL;
	ListCell   *lc;

	foreach(lc, list_conditions(root, rel, column))
	{
		RestrictInfo *rinfo = lfirst(lc);
		RestrictInfo *condition = match_condition(root, column, rinfo);
		bool		enough = bms_is_subset(rinfo->clause_relids, given);

		if (condition == NULL || (!enough && (result != NULL || !further)))
			continue;
		result = simhash_index_clause(rinfo, condition, column->number, false);
		if (enough)
			break;
	}
	return result;
}

/*
 * Find the conditions on the columns of an index before the end, a list of
 * IndexClause in which "own", if there is one, is that on its column; false if
 * there is none on one of them.  They need the given relations, or further ones
 * if these are welcome.
 */
bool
simhash_equal_columns(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
					  int end, IndexClause *own, Relids given, bool further,
					  List **conditions)
{
	*conditions = NIL;
	for (int i = 0; i < end; i++)
	{
		IndexColumn column = {index, i};
		IndexClause *condition = own != NULL && own->indexcol == i ? own :
		find_condition(root, rel, &column, given, further);

		if (condition == NULL)
			return false;
		*conditions = lappend(*conditions, condition);
	}
	return true;
}
