/*-------------------------------------------------------------------------
 *
 * key_paths.c
 *		Offers the planner a path over btree indexes on key columns for a
 *		search by ~=, <@ or @>.
 *
 * For example, a table has the fingerprint fp and the key columns k0 to k3,
 * where k0 is GENERATED ALWAYS AS (simhash_key(fp, 0)) and so on, each with a
 * btree index.  To use the indexes by hand one would write, instead of
 * fp ~= q,
 *
 *		fp ~= q AND (k0 = simhash_key(q, 0) OR ... OR k3 = simhash_key(q, 3))
 *
 * and get a BitmapOr of four index scans with ~= as a filter.  We offer the
 * planner that very path for fp ~= q alone, as one more path whose cost it
 * compares with others.  The query itself is not rewritten: row estimates stay
 * those of the operator, a sequential scan tests the operator and nothing
 * else, row security and outer joins keep their meaning, and sub-selects on
 * the query side have become parameters by the time we see them.
 *
 * Where the index of each block holds the fingerprint as well, the path is that
 * of key_scan.c instead, which compares it there.
 *
 * Terms.  In this file a key is the 16 bits of one block of a fingerprint, a
 * smallint, as simhash_key returns it.  A key index is a btree index with such
 * a key in its first column, or behind columns for which the query has
 * conditions of equality (key_prefix.c).  The operand is the side of the operator that is
 * of the relation being scanned, here fp; the query side is the other one,
 * here q.
 *
 * Why the path finds all matches.  A fingerprint within the radius has, in at
 * least one block, a key that probes.c lists for q; the path looks up all
 * those keys, and evaluates the operator for each row that it finds.  This
 * holds if the key in the index for block b is simhash_key(operand, b), with the
 * very operand of the query.  The column may be an expression of
 * the index, or a generated column with that generation expression.  The two
 * operands must be equal(), once relabelings between a domain and its base
 * type are removed.  If the operand in the query is a generated column, its
 * generation expression is accepted in its place in key columns, since these have
 * to be generated from that: generated columns cannot refer to each other.
 *
 * What the path evaluates.  The condition on a key is evaluated again for each
 * row on a page of which the bitmap knows no more, and for a newer version of a
 * row that is to be locked.  A key column is in the row by then.  An expression
 * is code, which may be anybody's, and runs as whoever asks: so an index on it
 * serves only conditions on that very expression, never those on a column that
 * it generates.  And as with PostgreSQL's own indexes, these conditions are
 * leakproof, or no policy comes before them (clauses.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "planner/planner.h"

#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_am.h"
#include "catalog/pg_opfamily.h"
#include "optimizer/cost.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteHandler.h"
#include "rewrite/rewriteManip.h"

#include "core/blocks/probes.h"
#include "keys/keys.h"

/*
 * Beyond this radius a search looks up thousands of keys, and to read the
 * whole table is faster, however large it is.
 */
#define RADIUS_MAX			15

/* The number of elements that the planner expects in an unknown array. */
#define UNKNOWN_ARRAY		10

/*
 * A clause  operand ~= center,  operand ~= ANY (centers),
 * operand <@ (center, radius)  or  hamming_within(operand, center, k), or one
 * that is implied by  hamming(operand, center) <= k.
 */
typedef struct KeySearch
{
	Node	   *operand;		/* an expression of the relation alone */
	Node	   *operand_source; /* its generation expression, or NULL */
	Node	   *center;			/* an int8 expression of the query side, */
	bool		is_any;			/* or one for an array of int8 */
	Node	   *radius;			/* an int8 expression of the query side */
	int			radius_known;	/* the value of a constant radius, or -1 */
	bool		may_cover;		/* key_scan.c can search for it */
	Relids		relids;			/* the relation, and all that it depends on */
} KeySearch;

/* A key index of the operand. */
typedef struct KeyIndex
{
	IndexOptInfo *index;
	int			number;			/* the column of the key, from 0 */
	Expr	   *column;			/* that column, as a query has it */
	FuncExpr   *key;			/* the call of simhash_key that defines it */
	int			fingerprint;	/* the column of the operand, or -1 */
	List	   *prefix;			/* conditions on the columns before it */
} KeyIndex;

/*
 * The generation expression of a column with the relation as varno, or NULL.  It
 * is simplified, as the expressions of a query are, unless that may call a
 * function of an ordinary user's.
 */
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
	if (!simhash_calls_planted(expression, NULL))
		expression = eval_const_expressions(root, expression);
	ChangeVarNodes(expression, 1, varno, 0);
	return expression;
}

/*
 * Have a cached plan become invalid when the type of a ball is altered:
 * the plan takes the center and the radius from the ball by attribute number.
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

/*
 * Fill in the center and the radius from the query side.  False if key indexes
 * cannot serve such a search.
 */
static bool
take_query(PlannerInfo *root, RelOptInfo *rel, const SimhashClause *clause,
		   KeySearch *search)
{
	Node	   *query = clause->query;

	search->radius_known = -1;
	search->relids = bms_union(clause->rinfo->clause_relids,
							   rel->lateral_relids);
	search->operand = clause->operand;
	search->operand_source = NULL;
	search->is_any = clause->is_any;
	search->may_cover = !clause->is_any && enable_indexonlyscan;
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
	depend_on_type(root, search->radius);
	if (exprType(search->center) !=
		(search->is_any ? INT8ARRAYOID : INT8OID) ||
		exprType(search->radius) != INT8OID)
		return false;
	if (IsA(search->radius, Const))
	{
		Const	   *radius = (Const *) search->radius;

		/* A radius out of range is an error that the operator raises. */
		if (radius->constisnull ||
			DatumGetInt64(radius->constvalue) < 0 ||
			DatumGetInt64(radius->constvalue) > RADIUS_MAX)
			return false;
		search->radius_known = (int) DatumGetInt64(radius->constvalue);
	}
	return true;
}

/*
 * See whether a column of an index is a key of the operand.  Sets *match, and
 * *block to which one.
 */
static bool
match_column(PlannerInfo *root, RelOptInfo *rel, Relation relation,
			 IndexOptInfo *index, int number, const KeySearch *search,
			 KeyIndex *match, int *block)
{
	Node	   *expression;
	Node	   *source = NULL;
	Node	   *operand;

	if (index->opfamily[number] != INTEGER_BTREE_FAM_OID)
		return false;
	if (index->indexkeys[number] != 0)
	{
		expression = generation_expression(root, relation,
										   index->indexkeys[number],
										   rel->relid);
		source = search->operand_source;
		match->column = (Expr *) makeVar(rel->relid, index->indexkeys[number],
										 INT2OID, -1, InvalidOid, 0);
	}
	else
	{
		int			before = 0;

		for (int i = 0; i < number; i++)
			before += index->indexkeys[i] == 0;
		expression = list_nth(index->indexprs, before);
		match->column = (Expr *) copyObject(expression);
	}
	if (expression == NULL || !simhash_is_key(expression, &operand, block))
		return false;
	operand = simhash_unlabeled(operand);
	if (!equal(operand, search->operand) && !equal(operand, source))
		return false;
	match->index = index;
	match->number = number;
	match->key = (FuncExpr *) expression;
	return true;
}

/*
 * Is it a key index of the operand that the search can use?  Sets *match, and
 * *block to which one.  Conditions on columns before the key need no more
 * relations than the search, or "further" ones.
 */
static bool
match_index(PlannerInfo *root, RelOptInfo *rel, Relation relation,
			IndexOptInfo *index, const KeySearch *search, bool further,
			KeyIndex *match, int *block)
{
	bool		found = false;

	if (index->relam != BTREE_AM_OID ||
		(index->indpred != NIL && !index->predOK))
		return false;
	for (int i = 0; !found && i < index->nkeycolumns; i++)
		found = match_column(root, rel, relation, index, i, search, match,
							 block);
	if (!found || !simhash_may_call(root, match->key->funcid))
		return false;
	match->fingerprint = -1;
	for (int i = 0; i < index->ncolumns; i++)
	{
		if (i != match->number &&
			match_index_to_operand(search->operand, i, index))
			match->fingerprint = i;
	}
	return simhash_equal_columns(root, rel, index, match->number, NULL,
								 search->relids, further, &match->prefix);
}

/* Is the first of two indexes for a block to be preferred? */
static bool
is_better(const KeySearch *search, const KeyIndex *a, const KeyIndex *b)
{
	if (b->index == NULL)
		return true;
	if (list_length(a->prefix) != list_length(b->prefix))
		return list_length(a->prefix) > list_length(b->prefix);
	if (search->may_cover && (a->fingerprint < 0) != (b->fingerprint < 0))
		return a->fingerprint >= 0;
	return a->index->pages < b->index->pages;
}

/* True when the search does not need to look into a block. */
static inline bool
spares_block(const KeySearch *search, int block)
{
	return search->radius_known >= 0 &&
		sh_block_radius(search->radius_known, block) < 0;
}

/*
 * Find the index for each block that has most conditions, of several one that
 * covers, or else the smallest; false when one is missing that the search needs.
 */
static bool
find_key_indexes(PlannerInfo *root, RelOptInfo *rel, Relation relation,
				 KeySearch *search, bool further, KeyIndex found[SH_BLOCKS])
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
						further, &match, &block) &&
			is_better(search, &match, &found[block]))
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
 * A call, or its value if its arguments are constants.  Note: no other call
 * may be simplified here.  The center and the radius have been simplified
 * already, and may contain other relations; ball_field says what would go
 * wrong.
 */
static Node *
known_value(PlannerInfo *root, const KeySearch *search, FuncExpr *call)
{
	if (IsA(search->center, Const) && IsA(search->radius, Const))
		return eval_const_expressions(root, (Node *) call);
	return (Node *) call;
}

/*
 * The call that gives the keys to look up in a block: simhash_keys(centers,
 * block) or simhash_probes(center, radius, block), for the block that the
 * number says.  NULL if the user may not call it.
 */
static FuncExpr *
keys_call(PlannerInfo *root, const KeySearch *search, const KeyIndex *match,
		  Node *number)
{
	static const Oid types[][3] = {
		{INT8OID, INT8OID, INT4OID}, {INT8ARRAYOID, INT4OID}
	};
	bool		any = search->is_any;
	Oid			schema = get_func_namespace(match->key->funcid);
	Node	   *center = copyObject(search->center);
	List	   *args = any ? list_make2(center, number) :
	list_make3(center, copyObject(search->radius), number);
	Oid			function = simhash_own_function(root, schema,
												any ? "simhash_keys" : "simhash_probes",
												any ? simhash_keys : simhash_probes,
												list_length(args), types[any]);

	if (!OidIsValid(function))
		return NULL;
	return makeFuncExpr(function, INT2ARRAYOID, args, InvalidOid, InvalidOid,
						COERCE_EXPLICIT_CALL);
}

/*
 * The condition on the key of a block: that it equals simhash_key(center,
 * block), or with "single" false, any of the keys to look up.  NULL if the user
 * may not call what gives these.
 */
static Expr *
key_condition(PlannerInfo *root, const KeySearch *search,
			  const KeyIndex *match, int block, bool single)
{
	Oid			equals = get_opfamily_member(INTEGER_BTREE_FAM_OID, INT2OID,
											 INT2OID, BTEqualStrategyNumber);
	Node	   *number = (Node *) makeConst(INT4OID, -1, InvalidOid,
											sizeof(int32),
											Int32GetDatum(block), false, true);
	FuncExpr   *call;
	ScalarArrayOpExpr *any;

	if (single)
	{
		call = makeFuncExpr(match->key->funcid, INT2OID,
							list_make2(copyObject(search->center), number),
							InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
		return make_opclause(equals, BOOLOID, false, match->column,
							 (Expr *) known_value(root, search, call),
							 InvalidOid, InvalidOid);
	}
	call = keys_call(root, search, match, number);
	if (call == NULL)
		return NULL;
	any = makeNode(ScalarArrayOpExpr);
	any->opno = equals;
	any->opfuncid = get_opcode(equals);
	any->useOr = true;
	any->args = list_make2(match->column, known_value(root, search, call));
	any->location = -1;
	return (Expr *) any;
}

/*
 * Make the path that scans the key index of one block; NULL when there can be
 * no condition.  Where the planner cannot know how many keys will be looked
 * up, it has taken their number for UNKNOWN_ARRAY, and its estimates are
 * scaled.
 */
static IndexPath *
make_block_path(PlannerInfo *root, const KeySearch *search,
				const KeyIndex *match, int block, Relids outer,
				double loop_count)
{
	int			radius = search->radius_known >= 0 ?
	search->radius_known : SH_NEAR;
	int			probes = sh_probe_count(sh_block_radius(radius, block));
	bool		single = search->radius_known >= 0 && probes == 1 &&
	!search->is_any;
	Expr	   *condition = key_condition(root, search, match, block, single);
	RestrictInfo *rinfo;
	IndexClause *clause;
	IndexPath  *path;

	if (condition == NULL)
		return NULL;
	rinfo = make_simple_restrictinfo(root, condition);
	clause = simhash_index_clause(rinfo, rinfo, match->number, false);
	path = create_index_path(root, match->index,
							 lappend(list_copy(match->prefix), clause),
							 NIL, NIL, NIL, ForwardScanDirection, false,
							 outer, loop_count, false);
	if (!single &&
		!IsA(lsecond(((ScalarArrayOpExpr *) condition)->args), Const))
	{
		double		scale = (double) probes / UNKNOWN_ARRAY;

		if (search->is_any)
			scale *= simhash_array_length(root, search->center);
		path->indextotalcost *= scale;
		path->indexselectivity = Min(1.0, path->indexselectivity * scale);
	}
	return path;
}

/*
 * How often a path that is parameterised by other relations will be run: as
 * often as the smallest of them has rows, as get_loop_count() in indxpath.c
 * assumes, but without its look at semi-joins.
 */
double
simhash_count_loops(PlannerInfo *root, Relids outer)
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

/* Offer a bitmap heap scan. */
void
simhash_add_bitmap(PlannerInfo *root, RelOptInfo *rel, Path *bitmap,
				   Relids outer, double loop_count)
{
	add_path(rel, (Path *) create_bitmap_heap_path(root, rel, bitmap, outer,
												   loop_count, 0));
	if (rel->consider_parallel && outer == NULL)
		create_partial_bitmap_paths(root, rel, bitmap);
}

/*
 * Offer the path over the key indexes: where all hold the fingerprint, a scan
 * that compares it there (key_scan.c), else a bitmap heap scan over the BitmapOr
 * of one scan for each block that the search has to look into.
 */
static void
add_key_path(PlannerInfo *root, RelOptInfo *rel, const KeySearch *search,
			 const KeyIndex found[SH_BLOCKS], Relids outer)
{
	double		loop_count = simhash_count_loops(root, outer);
	bool		covers = search->may_cover;
	List	   *paths = NIL;
	List	   *places = NIL;
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
		covers &= found[block].fingerprint >= 0;
		places = lappend_int(places, block);
		places = lappend_int(places, found[block].fingerprint + 1);
	}
	if (covers)
	{
		add_path(rel, simhash_key_scan_path(root, rel, search->center,
											search->radius, paths, places,
											outer, loop_count));
		return;
	}
	if (list_length(paths) == 1)
		both = linitial(paths);
	else
		both = (Path *) create_bitmap_or_path(root, rel, paths);
	simhash_add_bitmap(root, rel, both, outer, loop_count);
}

/*
 * The other relations that a search needs, and the conditions on columns
 * before the keys.
 */
static Relids
find_outer(RelOptInfo *rel, const KeySearch *search,
		   const KeyIndex found[SH_BLOCKS])
{
	Relids		outer = bms_copy(search->relids);

	for (int block = 0; block < SH_BLOCKS; block++)
	{
		ListCell   *lc;

		if (spares_block(search, block))
			continue;
		foreach(lc, found[block].prefix)
		{
			IndexClause *condition = lfirst(lc);

			outer = bms_add_members(outer, condition->rinfo->clause_relids);
		}
	}
	outer = bms_del_member(outer, rel->relid);
	return bms_is_empty(outer) ? NULL : outer;
}

/*
 * Offer paths for a search if key indexes serve it: one with the relations
 * that it needs anyway, and one with those that conditions on columns before
 * the keys need besides.
 */
static void
consider_clause(PlannerInfo *root, RelOptInfo *rel, Relation relation,
				const SimhashClause *clause)
{
	KeySearch	search;
	KeyIndex	found[SH_BLOCKS];
	Relids		given;

	if (!take_query(root, rel, clause, &search))
		return;
	given = bms_del_member(bms_copy(search.relids), rel->relid);
	for (int further = 0; further <= 1; further++)
	{
		Relids		outer;

		if (!find_key_indexes(root, rel, relation, &search, further, found))
			continue;
		outer = find_outer(rel, &search, found);
		if (!further || !bms_equal(outer, given))
			add_key_path(root, rel, &search, found, outer);
	}
}

/* Offer paths over key indexes for all searches of a table. */
void
simhash_add_key_paths(PlannerInfo *root, RelOptInfo *rel)
{
	List	   *searches = simhash_list_searches(root, rel, false);
	Relation	relation;
	ListCell   *lc;

	if (searches == NIL)
		return;
	relation = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	foreach(lc, searches)
		consider_clause(root, rel, relation, lfirst(lc));
	table_close(relation, NoLock);
}
