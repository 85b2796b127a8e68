/*-------------------------------------------------------------------------
 *
 * tune_derivation.c
 *		How fingerprints are made, as expressions tell.
 *
 * Nothing is evaluated: expressions of generated columns and of indexes are
 * those of the owner of the table, and only looked at.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "tune/tune.h"

#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "utils/lsyscache.h"

#include "search/search.h"

/* Does an expression make fingerprints of 64 bits of a column? */
static bool
is_made_of(Node *expression, AttrNumber column, SimhashDerivation *derived)
{
	const Var  *document;

	if (!simhash_get_derivation(expression, derived) ||
		getBaseType(exprType(expression)) != INT8OID)
		return false;
	document = (const Var *) simhash_unlabeled(derived->document);
	return IsA(document, Var) && document->varattno == column;
}

/* Is one of the expressions of the indexes of a table made of that column? */
static bool
find_in_indexes(Relation relation, AttrNumber column,
				SimhashDerivation *derived)
{
	List	   *indexes = RelationGetIndexList(relation);
	bool		found = false;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		ListCell   *expression;

		foreach(expression, RelationGetIndexExpressions(index))
			found = found || is_made_of(lfirst(expression), column, derived);
		index_close(index, AccessShareLock);
		if (found)
			break;
	}
	list_free(indexes);
	return found;
}

/* Find what is made of a column, by a generated column or an index. */
static bool
find_in_table(Relation relation, AttrNumber column, SimhashDerivation *derived)
{
	for (int i = 0; i < RelationGetDescr(relation)->natts; i++)
	{
		Form_pg_attribute made = TupleDescAttr(RelationGetDescr(relation), i);

		if (made->attgenerated && !made->attisdropped &&
			is_made_of(build_column_default(relation, made->attnum), column,
					   derived))
			return true;
	}
	return find_in_indexes(relation, column, derived);
}

/*
 * Find how the fingerprints are made that go with the documents of a query: by
 * what it returns in the second column, or else by what its table has of the
 * documents.
 */
static bool
find_in_query(const Query *query, SimhashDerivation *derived)
{
	const TargetEntry *entry = get_tle_by_resno(query->targetList, 2);
	bool		made = entry != NULL && !entry->resjunk;
	Node	   *expression;
	const Var  *column;
	const RangeTblEntry *table;
	Relation	relation;
	bool		found;

	if (!made)
		entry = get_tle_by_resno(query->targetList, 1);
	expression = entry == NULL ? NULL
		: simhash_unlabeled((Node *) entry->expr);
	if (expression == NULL || query->setOperations != NULL)
		return false;
	if (!IsA(expression, Var))
		return made && simhash_get_derivation(expression, derived);
	column = (const Var *) expression;
	table = rt_fetch(column->varno, query->rtable);
	if (column->varlevelsup > 0 || column->varattno <= 0 ||
		table->rtekind != RTE_RELATION)
		return false;
	relation = relation_open(table->relid, AccessShareLock);
	if (!made)
		found = find_in_table(relation, column->varattno, derived);
	else
		found = TupleDescAttr(RelationGetDescr(relation),
							  column->varattno - 1)->attgenerated &&
			simhash_get_derivation(build_column_default(relation,
														column->varattno),
								   derived);
	relation_close(relation, AccessShareLock);
	return found;
}

/*
 * How the fingerprints are made that go with the documents of a query.  Where
 * nothing tells, minhash with the default profile is assumed; false if the
 * query returns fingerprints all the same, which are made in another way then.
 */
bool
simhash_query_derivation(const Query *query, SimhashDerivation *derived)
{
	const TargetEntry *second = get_tle_by_resno(query->targetList, 2);

	if (find_in_query(query, derived))
		return true;
	memset(derived, 0, sizeof *derived);
	derived->measure = SIMHASH_JACCARD;
	derived->profile = sh_default_profile;
	return second == NULL || second->resjunk;
}
