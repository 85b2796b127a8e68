/*-------------------------------------------------------------------------
 *
 * key_paths.c
 *		The planner's way from ~=, <@ and @> to the four key indexes.
 *
 * Somebody who writes  fp ~= q  by hand for key columns writes
 *
 *		fp ~= q AND (k0 = simhash_key(q, 0) OR ... OR k3 = simhash_key(q, 3))
 *
 * and gets a BitmapOr of four index scans with ~= as a filter.  We offer the
 * planner that very path for the bare operator, as an alternative for it to
 * cost: the query itself is not rewritten.  So row estimates stay those of
 * the operator, a sequential scan tests the operator and nothing else, row
 * security and outer joins keep their meaning, and sub-selects on the query
 * side have become parameters by the time we see them.
 *
 * What makes the path right.  An index serves block b of an operand if its
 * first column is simhash_key(operand, b): either an expression index, or a
 * generated column of which that is the generation expression.  We accept
 * nothing less than that the operand there is the operand here, by equal(),
 * the relabelings of domains aside; the operand of a query that is itself a
 * generated column also counts as its own generation expression, since
 * generated columns cannot refer to each other.  The rows with a key in reach
 * (probes.c) contain all rows that match, and the operator is evaluated
 * for each of them.
 *
 * Row security does not restrict these paths.  What the index scan evaluates
 * ahead of a policy is the equality of smallint, which is leakproof, between
 * a key and what the query side gives; the operator itself stays where its
 * own leakproofness puts it.
 *
 * The path is made in set_rel_pathlist_hook.  No preloading is needed: the
 * operators' planner support function, called while a query is simplified,
 * is in this library, so that whoever plans such a query has loaded it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "core/pairs/probes.h"

/*
 * Beyond this radius a search looks up thousands of keys; no table is so
 * large that reading it were not the better choice.
 */
#define RADIUS_MAX			15

/* The planner takes arrays that it does not know to have this length. */
#define UNKNOWN_ARRAY		10

PG_FUNCTION_INFO_V1(hamming_support);

/* A clause  operand ~= center  or  operand <@ (center, radius). */
typedef struct KeySearch
{
	Node	   *operand;		/* of the relation alone */
	Node	   *operand_source; /* what generates it, or NULL */
	Node	   *center;			/* not of the relation */
	Node	   *radius;			/* an int8 expression */
	int			radius_known;	/* its value, or -1 */
} KeySearch;

/* An index whose first column is the key of a block of the operand. */
typedef struct KeyIndex
{
	IndexOptInfo *index;
	Expr	   *column;			/* the first column, as a query has it */
	FuncExpr   *key;			/* the call of simhash_key that defines it */
} KeyIndex;

static set_rel_pathlist_hook_type previous_hook = NULL;

/*
 * hamming_support(internal) -> internal
 *
 * Planner support function of the operators' functions.  Being called is all
 * that it is for: it has the library loaded, and with it the hook, before
 * paths are made.
 */
Datum
hamming_support(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_POINTER(NULL);
}

/* The generation expression of a column with the relation as varno, or NULL. */
static Node *
generation_expression(PlannerInfo *root, Relation relation, AttrNumber column,
					  Index varno)
{
	TupleDesc	desc = RelationGetDescr(relation);
	Node	   *expression;

	if (column <= 0 || TupleDescAttr(desc, column - 1)->attgenerated == '\0')
		return NULL;
	expression = build_column_default(relation, column);
	if (expression == NULL)
		return NULL;
	expression = eval_const_expressions(root, expression);
	ChangeVarNodes(expression, 1, varno, 0);
	return expression;
}

/*
 * Have a plan that is kept made anew when somebody alters the type of a ball:
 * what takes the ball apart at execution does so by the numbers of attributes.
 */
static void
depend_on_type(PlannerInfo *root, Node *part)
{
	PlannerGlobal *glob = root->glob;
	Oid			type;

	if (!IsA(part, FieldSelect))
		return;
	type = getBaseType(exprType((Node *) ((FieldSelect *) part)->arg));
	glob->relationOids = list_append_unique_oid(glob->relationOids,
												get_typ_typrelid(type));
}

/* Fill in what the query side says; false if that rules out the keys. */
static bool
take_query(PlannerInfo *root, const SimhashClause *clause,
		   KeySearch *search)
{
	Node	   *query = clause->query;

	search->radius_known = -1;
	search->operand = clause->operand;
	search->operand_source = NULL;
	if (!clause->is_ball)
	{
		search->center = query;
		search->radius = (Node *) makeConst(INT8OID, -1, InvalidOid,
											sizeof(int64),
											Int64GetDatum(SH_NEAR),
											false, FLOAT8PASSBYVAL);
	}
	else if (!simhash_ball_parts(root, query,
								 &search->center, &search->radius))
		return false;
	depend_on_type(root, search->center);
	if (exprType(search->center) != INT8OID ||
		exprType(search->radius) != INT8OID)
		return false;
	if (IsA(search->radius, Const))
	{
		Const	   *radius = (Const *) search->radius;

		/* The operator itself will complain of a bad one. */
		if (radius->constisnull ||
			DatumGetInt64(radius->constvalue) < 0 ||
			DatumGetInt64(radius->constvalue) > RADIUS_MAX)
			return false;
		search->radius_known = (int) DatumGetInt64(radius->constvalue);
	}
	return true;
}

/*
 * See whether an index serves a block of the operand.  Sets *block.
 */
static bool
match_index(PlannerInfo *root, RelOptInfo *rel, Relation relation,
			IndexOptInfo *index, const KeySearch *search,
			KeyIndex *match, int *block)
{
	Node	   *expression;
	Node	   *operand;

	if (index->relam != BTREE_AM_OID ||
		index->opfamily[0] != INTEGER_BTREE_FAM_OID ||
		(index->indpred != NIL && !index->predOK))
		return false;
	if (index->indexkeys[0] != 0)
	{
		expression = generation_expression(root, relation,
										   index->indexkeys[0], rel->relid);
		match->column = (Expr *) makeVar(rel->relid, index->indexkeys[0],
										 INT2OID, -1, InvalidOid, 0);
	}
	else
	{
		expression = linitial(index->indexprs);
		match->column = (Expr *) copyObject(expression);
	}
	if (expression == NULL || !simhash_is_key(expression, &operand, block))
		return false;
	operand = simhash_unlabeled(operand);
	if (!equal(operand, search->operand) &&
		!equal(operand, search->operand_source))
		return false;
	if (!simhash_may_execute(((FuncExpr *) expression)->funcid, GetUserId()))
		return false;
	match->index = index;
	match->key = (FuncExpr *) expression;
	return true;
}

/* True when the search does not need to look into a block. */
static inline bool
spares_block(const KeySearch *search, int block)
{
	return search->radius_known >= 0 &&
		sh_block_radius(search->radius_known, block) < 0;
}

/*
 * Find the smallest index for each block; false when one is missing that the
 * search needs.
 */
static bool
find_indexes(PlannerInfo *root, RelOptInfo *rel, Relation relation,
			 KeySearch *search, KeyIndex found[SH_BLOCKS])
{
	ListCell   *lc;

	if (IsA(search->operand, Var) &&
		((Var *) search->operand)->varno == (int) rel->relid)
		search->operand_source =
			simhash_unlabeled(generation_expression(root, relation,
													((Var *) search->operand)->varattno,
													rel->relid));
	memset(found, 0, SH_BLOCKS * sizeof *found);
	foreach(lc, rel->indexlist)
	{
		KeyIndex	match;
		int			block;

		if (match_index(root, rel, relation, lfirst(lc), search,
						&match, &block) &&
			(found[block].index == NULL ||
			 match.index->pages < found[block].index->pages))
			found[block] = match;
	}
	for (int block = 0; block < SH_BLOCKS; block++)
	{
		if (found[block].index == NULL && !spares_block(search, block))
			return false;
	}
	return true;
}

/*
 * Find the columns, or expressions, that hold the keys of an operand and have
 * an index, for the sake of their statistics.  False unless there are four;
 * there are none of what is no table.
 */
bool
simhash_find_keys(PlannerInfo *root, RelOptInfo *rel, Node *operand,
				  Expr *columns[SH_BLOCKS])
{
	RangeTblEntry *rte = simhash_table_entry(root, rel);
	KeySearch	search = {simhash_unlabeled(operand), NULL, NULL, NULL, -1};
	KeyIndex	found[SH_BLOCKS];
	Relation	relation;
	bool		result;

	if (rte == NULL || rel->indexlist == NIL)
		return false;
	relation = table_open(rte->relid, NoLock);
	result = find_indexes(root, rel, relation, &search, found);
	table_close(relation, NoLock);
	for (int block = 0; result && block < SH_BLOCKS; block++)
		columns[block] = found[block].column;
	return result;
}

/* The function simhash_probes that stands beside the given simhash_key. */
static Oid
probes_function(Oid key_function)
{
	Oid			types[3] = {INT8OID, INT8OID, INT4OID};

	return GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid,
						   CStringGetDatum("simhash_probes"),
						   PointerGetDatum(buildoidvector(types, 3)),
						   ObjectIdGetDatum(get_func_namespace(key_function)));
}

/*
 * The value of a call, where that is known.  The center and the radius have
 * been simplified before, and must not be again: what they may have of other
 * relations is what these will give (see ball_field).
 */
static Node *
known_value(PlannerInfo *root, const KeySearch *search, FuncExpr *call)
{
	if (IsA(search->center, Const) && IsA(search->radius, Const))
		return eval_const_expressions(root, (Node *) call);
	return (Node *) call;
}

/* The condition on the key of a block: one value, or any of an array. */
static Expr *
key_condition(PlannerInfo *root, const KeySearch *search,
			  const KeyIndex *match, int block, bool single)
{
	Oid			equals = get_opfamily_member(INTEGER_BTREE_FAM_OID, INT2OID,
											 INT2OID, BTEqualStrategyNumber);
	Node	   *number = (Node *) makeConst(INT4OID, -1, InvalidOid,
											sizeof(int32),
											Int32GetDatum(block), false, true);
	Node	   *center = copyObject(search->center);
	FuncExpr   *call;
	Node	   *value;
	ScalarArrayOpExpr *any;
	Oid			probes;

	if (single)
	{
		call = makeFuncExpr(match->key->funcid, INT2OID,
							list_make2(center, number), InvalidOid,
							InvalidOid, COERCE_EXPLICIT_CALL);
		value = known_value(root, search, call);
		return make_opclause(equals, BOOLOID, false, match->column,
							 (Expr *) value, InvalidOid, InvalidOid);
	}
	probes = probes_function(match->key->funcid);
	if (!OidIsValid(probes) || !simhash_may_execute(probes, GetUserId()))
		return NULL;
	call = makeFuncExpr(probes, INT2ARRAYOID,
						list_make3(center, copyObject(search->radius), number),
						InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
	value = known_value(root, search, call);
	any = makeNode(ScalarArrayOpExpr);
	any->opno = equals;
	any->opfuncid = get_opcode(equals);
	any->useOr = true;
	any->args = list_make2(match->column, value);
	any->location = -1;
	return (Expr *) any;
}

/*
 * Make the path that scans the index of one block; NULL when it cannot be.
 */
static IndexPath *
make_block_path(PlannerInfo *root, const KeySearch *search,
				const KeyIndex *match, int block, Relids outer,
				double loop_count)
{
	int			radius = search->radius_known >= 0 ?
	search->radius_known : SH_NEAR;
	int			probes = sh_probe_count(sh_block_radius(radius, block));
	bool		single = search->radius_known >= 0 && probes == 1;
	Expr	   *condition = key_condition(root, search, match, block, single);
	IndexClause *clause;
	IndexPath  *path;

	if (condition == NULL)
		return NULL;
	clause = makeNode(IndexClause);
	clause->rinfo = make_simple_restrictinfo(root, condition);
	clause->indexquals = list_make1(clause->rinfo);
	clause->lossy = false;
	clause->indexcol = 0;
	clause->indexcols = NIL;
	path = create_index_path(root, match->index, list_make1(clause),
							 NIL, NIL, NIL, ForwardScanDirection, false,
							 outer, loop_count, false);
	if (!single &&
		!IsA(lsecond(((ScalarArrayOpExpr *) condition)->args), Const))
	{
		double		scale = (double) probes / UNKNOWN_ARRAY;

		path->indextotalcost *= scale;
		path->indexselectivity = Min(1.0, path->indexselectivity * scale);
	}
	return path;
}

/* The least number of rows of a table that the path is parameterised by. */
static double
count_loops(PlannerInfo *root, Relids outer)
{
	double		result = 0.0;
	int			relid = -1;

	while ((relid = bms_next_member(outer, relid)) >= 0)
	{
		RelOptInfo *rel = relid < root->simple_rel_array_size ?
		root->simple_rel_array[relid] : NULL;

		if (rel != NULL && !IS_DUMMY_REL(rel) &&
			(result == 0.0 || rel->rows < result))
			result = rel->rows;
	}
	return Max(result, 1.0);
}

/* Offer the path over the four indexes. */
static void
add_key_path(PlannerInfo *root, RelOptInfo *rel, const KeySearch *search,
			 const KeyIndex found[SH_BLOCKS], Relids outer)
{
	double		loop_count = count_loops(root, outer);
	List	   *paths = NIL;
	Path	   *both;

	for (int block = 0; block < SH_BLOCKS; block++)
	{
		IndexPath  *path;

		if (spares_block(search, block))
			continue;
		path = make_block_path(root, search, &found[block], block,
							   outer, loop_count);
		if (path == NULL)
			return;
		paths = lappend(paths, path);
	}
	if (list_length(paths) == 1)
		both = linitial(paths);
	else
		both = (Path *) create_bitmap_or_path(root, rel, paths);
	add_path(rel, (Path *) create_bitmap_heap_path(root, rel, both, outer,
												   loop_count, 0));
	if (rel->consider_parallel && outer == NULL)
		create_partial_bitmap_paths(root, rel, both);
}

/* Offer a path for a search if key indexes serve it. */
static void
consider_clause(PlannerInfo *root, RelOptInfo *rel, Relation relation,
				const SimhashClause *clause)
{
	KeySearch	search;
	KeyIndex	found[SH_BLOCKS];
	Relids		outer;

	if (!take_query(root, clause, &search) ||
		!find_indexes(root, rel, relation, &search, found))
		return;
	outer = bms_union(clause->rinfo->clause_relids, rel->lateral_relids);
	outer = bms_del_member(outer, rel->relid);
	if (bms_is_empty(outer))
		outer = NULL;
	add_key_path(root, rel, &search, found, outer);
}

/* Append the searches of the relation that a condition is. */
static List *
add_clauses(PlannerInfo *root, RelOptInfo *rel, RestrictInfo *rinfo,
			List *clauses)
{
	for (int side = 0; side <= 1; side++)
	{
		SimhashClause *clause = palloc(sizeof *clause);

		if (simhash_match_clause(root, rel, rinfo, side, clause))
			clauses = lappend(clauses, clause);
	}
	return clauses;
}

/* set_rel_pathlist_hook: offer paths over key indexes. */
static void
add_key_paths(PlannerInfo *root, RelOptInfo *rel, Index rti,
			  RangeTblEntry *rte)
{
	List	   *clauses = NIL;
	Relation	relation;
	ListCell   *lc;

	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if (simhash_table_entry(root, rel) == NULL || rte->tablesample ||
		rel->indexlist == NIL || IS_DUMMY_REL(rel))
		return;
	foreach(lc, rel->baserestrictinfo)
		clauses = add_clauses(root, rel, lfirst(lc), clauses);
	foreach(lc, rel->joininfo)
	{
		if (join_clause_is_movable_to(lfirst(lc), rel))
			clauses = add_clauses(root, rel, lfirst(lc), clauses);
	}
	if (clauses == NIL)
		return;
	relation = table_open(rte->relid, NoLock);
	foreach(lc, clauses)
		consider_clause(root, rel, relation, lfirst(lc));
	table_close(relation, NoLock);
}

/* Put the hook in place. */
void
simhash_install_key_paths(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_key_paths;
}
