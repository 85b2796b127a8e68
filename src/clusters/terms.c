/*-------------------------------------------------------------------------
 *
 * terms.c
 *		The deed, by which the table of the clusters is bound to the root, the table
 *		whose rows are in them.
 *
 * A trigger that writes to a table with rights that the user lacks must know which
 * table and which columns.  Arguments of the trigger cannot say so: any role with the
 * privilege TRIGGER can write them, and what they name may be renamed, or dropped and
 * made again.  So the trigger reads a policy of the table of the clusters:
 *
 *	CREATE POLICY simhash_clusters ON news_clusters AS RESTRICTIVE USING
 *		(COALESCE(true, EXISTS (SELECT _simhash_cluster_terms(ROW('kind', 'star',
 *			'k', 3, 'fingerprint', n.fp, 'fingerprint', news_clusters.fp, ...))
 *			FROM ONLY news AS n)));
 *
 * It is always true, and simplified to that; nothing of it is ever run.  But
 *
 * - only the owner of the table can make it, and it is believed only while both
 *	 tables have one owner;
 * - PostgreSQL keeps it as a tree of OIDs and numbers of columns.  It follows
 *	 renames, changes of schema, swaps, dump and restore;
 * - by its dependencies no column that it names, nor the table, is dropped
 *	 without CASCADE, and no type is changed.
 *
 * The triggers are on the other table, and have no arguments either.  Each has a
 * condition that is always true, too, and names the table of the clusters:
 *
 *	CREATE TRIGGER ... WHEN ('news_clusters'::regclass IS NOT NULL)
 *
 * So that table is not dropped without CASCADE.  A trigger that another role makes on
 * a table of its own, with such a condition, is refused: the deed of the table of the
 * clusters names another root.
 *
 * The argument of the call is a row, which no function of that name fits better: pairs
 * of a key and a value: a column of the root, or of the table of the clusters, from the
 * outer query; a constant; or the expression by which the column of the pair before is
 * generated.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

#include "catalog/indexing.h"
#include "catalog/partition.h"
#include "catalog/pg_policy.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/syscache.h"

PG_FUNCTION_INFO_V1(_simhash_cluster_terms);

/*
 * The columns, in the order in which a deed has them; those of rows may have any type
 * that a fingerprint, a group or a document has.
 */
const ClusterKey simhash_clusters_keys[CLUSTER_KEYS] = {
#define BOTH			(CLUSTER_STAR | CLUSTER_CONNECTED)
#define PLACE(member)	offsetof(ClusterTerms, member)
#define THEIRS(column)	PLACE(columns) + (column) * sizeof(AttrNumber)
	{"fingerprint", "fingerprint", false, InvalidOid, PLACE(terms.column), BOTH},
	{"fingerprint", "star fingerprint", true, InvalidOid, PLACE(fingerprint), CLUSTER_STAR},
	{"document", "document", false, InvalidOid, PLACE(terms.document), 0},
	{"document", "star document", true, InvalidOid, PLACE(document), 0},
	{"cluster", "cluster", false, INT8OID, PLACE(cluster), BOTH},
	{"cluster", "id", true, INT8OID, THEIRS(CLUSTER_ID), BOTH},
	{"since", "since", false, TIMESTAMPTZOID, PLACE(since), 0},
	{"copy_of", "copy_of", true, INT8OID, THEIRS(CLUSTER_COPY_OF), BOTH},
	{"made", "made", true, TIMESTAMPTZOID, THEIRS(CLUSTER_MADE), CLUSTER_STAR},
	{"unused_since", "unused_since", true, TIMESTAMPTZOID, THEIRS(CLUSTER_UNUSED_SINCE), BOTH},
	{"merged_into", "merged_into", true, INT8OID, THEIRS(CLUSTER_MERGED_INTO), CLUSTER_CONNECTED},
	{"merged_at", "merged_at", true, TIMESTAMPTZOID, THEIRS(CLUSTER_MERGED_AT), CLUSTER_CONNECTED}
};

/* The alias of the root in a deed, unlike the name of any table of clusters. */
#define ALIAS		"simhash_kept"

/* The deed of a table of clusters, as it was found. */
typedef struct Deed
{
	Oid			clusters;
	NameData	policy;
	Oid			root;
	RowExpr    *row;			/* NULL if there is none */
} Deed;

/* The deed read last, and how often any table has changed. */
static MemoryContext last_context = NULL;
static Deed last;
static uint64 changes = 0;

/* A table has changed: it may be that of the last deed, or one of its types. */
static void
forget(Datum arg, Oid table)
{
	(void) arg;
	changes++;
	if (!OidIsValid(table) || table == last.clusters)
		last.row = NULL;
}

/*
 * _simhash_cluster_terms(record) -> boolean
 *
 * Holds what a deed says.  It is never called: the condition around it is known
 * to be true.
 */
Datum
_simhash_cluster_terms(PG_FUNCTION_ARGS)
{
	(void) fcinfo;
	PG_RETURN_BOOL(true);
}

/* Complain of a table that has no deed which can be read. */
void
simhash_clusters_complain(Oid clusters)
{
	/* This fails if there is no such relation. */
	(void) simhash_quoted_name(clusters);
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" is not a table of clusters",
					get_rel_name(clusters)),
			 errdetail("Its policy simhash_clusters, which says for which table it has clusters, is missing or was not made by simhash_add_clusters."),
			 errhint("CALL simhash_drop_clusters(...), and then simhash_add_clusters(...).")));
}

/* Complain of a column that has no clusters. */
void
simhash_clusters_complain_of_none(Relation relation, const char *column)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("table \"%s\" keeps no clusters in column \"%s\"",
					RelationGetRelationName(relation), column),
			 errhint("CALL simhash_add_clusters(...) sets up clusters.")));
}

/*
 * The table of the clusters that the condition of a trigger names; InvalidOid if
 * it names none.
 */
Oid
simhash_clusters_of_trigger(const Trigger *trigger)
{
	NullTest   *test = trigger->tgqual == NULL ? NULL :
	stringToNode(trigger->tgqual);
	Const	   *table;

	if (test == NULL || !IsA(test, NullTest) || !IsA(test->arg, Const))
		return InvalidOid;
	table = (Const *) test->arg;
	return table->consttype == REGCLASSOID && !table->constisnull ?
		DatumGetObjectId(table->constvalue) : InvalidOid;
}

/*
 * The row in the condition of a policy, and the table in FROM; or NULL.  It is of
 * columns of the two tables, and of expressions such as a generated column has:
 * nothing in it is a query or an aggregate, or yields a set.
 */
static RowExpr *
find_row(Node *condition, Oid *root)
{
	CoalesceExpr *either = (CoalesceExpr *) condition;
	Query	   *query;
	RangeTblEntry *table;
	FuncExpr   *call;

	if (!IsA(either, CoalesceExpr) || list_length(either->args) != 2 ||
		!IsA(lsecond(either->args), SubLink))
		return NULL;
	query = (Query *) ((SubLink *) lsecond(either->args))->subselect;
	if (!IsA(query, Query) || list_length(query->targetList) != 1 ||
		list_length(query->rtable) != 1 || query->hasAggs ||
		query->hasWindowFuncs || query->hasTargetSRFs || query->hasSubLinks)
		return NULL;
	table = linitial(query->rtable);
	call = (FuncExpr *) linitial_node(TargetEntry, query->targetList)->expr;
	if (table->rtekind != RTE_RELATION || !IsA(call, FuncExpr) ||
		simhash_c_function(call->funcid) != _simhash_cluster_terms)
		return NULL;
	*root = table->relid;
	return IsA(linitial(call->args), RowExpr) ? linitial(call->args) : NULL;
}

/* A constant of that type; we write no other values, so anything else is an error. */
static Datum
get_constant(const ClusterTerms *terms, Node *value, Oid type)
{
	if (!IsA(value, Const) || ((Const *) value)->consttype != type ||
		((Const *) value)->constisnull)
		simhash_clusters_complain(terms->clusters);
	return ((Const *) value)->constvalue;
}

/* Take a column of either table; false if there is no such key. */
static bool
take_column(ClusterTerms *terms, const char *key, const Var *column)
{
	bool		ours = column->varlevelsup == 0;
	NearTerms  *near = &terms->terms;

	/* That of the table of the clusters comes right after the other. */
	if (strcmp(key, "within") == 0 && (ours || near->ngroup > 0))
	{
		if (ours)
			near->group[near->ngroup++] = column->varattno;
		else
			terms->group[near->ngroup - 1] = column->varattno;
		return true;
	}
	for (int i = 0; i < CLUSTER_KEYS; i++)
	{
		if (strcmp(key, simhash_clusters_keys[i].key) == 0 &&
			simhash_clusters_keys[i].theirs != ours)
		{
			*simhash_clusters_column(terms, i) = column->varattno;
			return true;
		}
	}
	return false;
}

/* Take the expression by which the column before it is generated. */
static void
take_expression(ClusterTerms *terms, const Var *column, Node *expression)
{
	ClusterGenerated *generated = palloc(sizeof *generated);

	if (column == NULL || column->varlevelsup != 0 || column->varattno <= 0 ||
		contain_vars_of_level(expression, 1))
		simhash_clusters_complain(terms->clusters);
	generated->column = column->varattno;
	generated->expression = copyObject(expression);
	terms->generated = lappend(terms->generated, generated);
}

/* Take the value of a key that is not one of columns. */
static void
take_value(ClusterTerms *terms, const char *key, Node *value, Var *before)
{
	if (strcmp(key, "generated") == 0)
		take_expression(terms, before, value);
	else if (strcmp(key, "kind") == 0)
	{
		const char *kind = TextDatumGetCString(get_constant(terms, value, TEXTOID));

		terms->star = strcmp(kind, "star") == 0;
		if (!terms->star && strcmp(kind, "connected") != 0)
			simhash_clusters_complain(terms->clusters);
	}
	else if (strcmp(key, "k") == 0)
		terms->terms.radius = DatumGetInt32(get_constant(terms, value, INT4OID));
	else if (strcmp(key, "similarity") == 0)
		terms->terms.compare.measure =
			simhash_get_measure(TextDatumGetCString(get_constant(terms, value, TEXTOID)));
	else if (strcmp(key, "at_least") == 0)
		terms->terms.compare.at_least =
			simhash_check_at_least(DatumGetFloat8(get_constant(terms, value,
															   FLOAT8OID)));
	else if (strcmp(key, "at_most") == 0)
		terms->terms.compare.at_most = DatumGetInt32(get_constant(terms, value, INT4OID));
	else if (strcmp(key, "profile") == 0)
		terms->terms.compare.profile =
			simhash_get_profile(DatumGetTextPP(get_constant(terms, value, TEXTOID)));
	else if (strcmp(key, "later") == 0)
		terms->later = DatumGetBool(get_constant(terms, value, BOOLOID));
	else if (strcmp(key, "work") == 0)
		terms->work = DatumGetObjectId(get_constant(terms, value, REGCLASSOID));
	else
		simhash_clusters_complain(terms->clusters);
}

/* Where documents are no column, they are what the fingerprint is made of. */
static void
find_expression(ClusterTerms *terms)
{
	ListCell   *lc;

	foreach(lc, terms->generated)
	{
		ClusterGenerated *generated = lfirst(lc);
		SimhashDerivation derived;

		if (generated->column == terms->terms.column &&
			simhash_get_derivation(generated->expression, &derived))
			terms->terms.expression = derived.document;
	}
}

/*
 * Is a column there, of that type unless that is invalid?  Those that we write, of
 * either table, must not be generated.
 */
static bool
is_column(Oid table, AttrNumber column, Oid type, bool written)
{
	HeapTuple	tuple = column <= 0 ? NULL : SearchSysCacheAttNum(table, column);
	Form_pg_attribute attribute;
	bool		fits;

	if (!HeapTupleIsValid(tuple))
		return false;
	attribute = (Form_pg_attribute) GETSTRUCT(tuple);
	fits = (!OidIsValid(type) || attribute->atttypid == type) &&
		!(written && attribute->attgenerated);
	ReleaseSysCache(tuple);
	return fits;
}

/* Has the table of the clusters a column for one of the root, of the same base type? */
static bool
is_kept(const ClusterTerms *terms, AttrNumber column, AttrNumber theirs)
{
	Oid			types[2];
	int32		modifiers[2];
	Oid			collations[2];

	if (!is_column(terms->root, column, InvalidOid, false) ||
		!is_column(terms->clusters, theirs, InvalidOid, true))
		return false;
	get_atttypetypmodcoll(terms->root, column, &types[0], &modifiers[0], &collations[0]);
	get_atttypetypmodcoll(terms->clusters, theirs, &types[1], &modifiers[1], &collations[1]);
	for (int i = 0; i < 2; i++)
		types[i] = getBaseTypeAndTypmod(types[i], &modifiers[i]);
	return types[0] == types[1] && modifiers[0] == modifiers[1] &&
		collations[0] == collations[1];
}

/*
 * Is everything there that the kind needs, in columns of the two tables as they are?
 * Whoever has terms may rely on that as long as these cannot be altered.
 */
bool
simhash_clusters_complete(const ClusterTerms *terms)
{
	const NearTerms *near = &terms->terms;
	int			kind = terms->star ? CLUSTER_STAR : CLUSTER_CONNECTED;
	bool		compared = near->compare.measure != SIMHASH_NO_MEASURE;
	bool		complete = compared == (near->document > 0 || near->expression != NULL);

	complete &= (terms->document > 0) == (terms->star && compared);
	for (int i = 0; i < CLUSTER_KEYS; i++)
	{
		const ClusterKey *key = &simhash_clusters_keys[i];
		AttrNumber	column = *simhash_clusters_column(terms, i);

		complete &= column == 0 ? (key->kinds & kind) == 0 :
			is_column(key->theirs ? terms->clusters : terms->root, column, key->type,
					  key->theirs || OidIsValid(key->type));
	}
	complete &= !terms->star || is_kept(terms, near->column, terms->fingerprint);
	if (terms->star && compared)
		complete &= near->document != 0 ? is_kept(terms, near->document, terms->document) :
			is_column(terms->clusters, terms->document, exprType(near->expression), true);
	for (int i = 0; i < near->ngroup; i++)
		complete &= terms->star ? is_kept(terms, near->group[i], terms->group[i]) :
			is_column(terms->root, near->group[i], InvalidOid, false);
	return complete;
}

/* Read the row, into memory of the caller's. */
static ClusterTerms *
read_row(const Deed *deed)
{
	ClusterTerms *terms = palloc0(sizeof *terms);
	const List *args = deed->row->args;
	int			n = list_length(args);
	Var		   *before = NULL;

	terms->clusters = deed->clusters;
	terms->policy = deed->policy;
	terms->root = deed->root;
	terms->terms.compare.measure = SIMHASH_NO_MEASURE;
	terms->terms.compare.profile = sh_default_profile;
	terms->terms.group = palloc0(n * sizeof(AttrNumber));
	terms->group = palloc0(n * sizeof(AttrNumber));
	if (n % 2 != 0)
		simhash_clusters_complain(deed->clusters);
	for (int i = 0; i < n; i += 2)
	{
		const char *key =
		TextDatumGetCString(get_constant(terms, list_nth(args, i),
										 TEXTOID));
		Node	   *value = list_nth(args, i + 1);

		if (!IsA(value, Var) || !take_column(terms, key, (Var *) value))
			take_value(terms, key, value, before);
		if (IsA(value, Var))
			before = (Var *) value;
	}
	if (terms->terms.compare.measure != SIMHASH_NO_MEASURE &&
		terms->terms.compare.measure != SIMHASH_HAMMING && terms->terms.document == 0)
		find_expression(terms);
	if (!simhash_clusters_complete(terms))
		simhash_clusters_complain(terms->clusters);
	return terms;
}

/* Find the deed of a table. */
static Deed
find_deed(Oid clusters)
{
	Relation	policies = table_open(PolicyRelationId, AccessShareLock);
	Deed		deed = {.clusters = clusters};
	SysScanDesc scan;
	ScanKeyData key;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_policy_polrelid, BTEqualStrategyNumber, F_OIDEQ,
				ObjectIdGetDatum(clusters));
	scan = systable_beginscan(policies, PolicyPolrelidPolnameIndexId, true,
							  NULL, 1, &key);
	while (deed.row == NULL && HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		bool		isnull;
		Datum		condition = heap_getattr(tuple, Anum_pg_policy_polqual,
											 RelationGetDescr(policies),
											 &isnull);
		Form_pg_policy policy = (Form_pg_policy) GETSTRUCT(tuple);

		if (isnull || policy->polpermissive)
			continue;
		deed.row = find_row(stringToNode(TextDatumGetCString(condition)),
							&deed.root);
		deed.policy = policy->polname;
	}
	systable_endscan(scan);
	table_close(policies, AccessShareLock);
	return deed;
}

/*
 * Read the deed of a table of clusters, which need not be locked; NULL if it has
 * none.
 */
ClusterTerms *
simhash_clusters_read(Oid clusters)
{
	Deed		deed;

	AcceptInvalidationMessages();
	deed = last;
	if (deed.row == NULL || deed.clusters != clusters)
	{
		MemoryContext old;
		uint64		before;

		last.row = NULL;
		if (last_context == NULL)
		{
			last_context = AllocSetContextCreate(CacheMemoryContext,
												 "simhash clusters",
												 ALLOCSET_SMALL_SIZES);
			CacheRegisterRelcacheCallback(forget, (Datum) 0);
		}
		MemoryContextReset(last_context);
		old = MemoryContextSwitchTo(last_context);
		before = changes;
		deed = find_deed(clusters);
		MemoryContextSwitchTo(old);

		/* What has changed since it was found will not be told again. */
		if (before == changes)
			last = deed;
	}
	return deed.row == NULL ? NULL : read_row(&deed);
}

/*
 * The same of a table that may be missing, or be any other; NULL as well if it has
 * another owner.
 */
ClusterTerms *
simhash_clusters_read_owned(Oid clusters, Oid owner)
{
	if (get_rel_relkind(clusters) != RELKIND_RELATION ||
		simhash_class(clusters).relowner != owner)
		return NULL;
	return simhash_clusters_read(clusters);
}

/*
 * The terms of the clusters in a column of a table, or of a table that it is a
 * partition of, or also if that is "since", their time; NULL if it keeps none.  Another
 * role may have made a trigger that names a table of its own, so only deeds of the
 * table's owner are read.
 */
static ClusterTerms *
find_terms(Relation relation, const char *column, bool also_time)
{
	Oid			table = RelationGetRelid(relation);
	List	   *roots = lcons_oid(table, get_partition_ancestors(table));
	int			n = relation->trigdesc == NULL ? 0 :
	relation->trigdesc->numtriggers;
	List	   *tables = NIL;
	ListCell   *lc;

	/* What follows may have the relation's description rebuilt. */
	for (int i = 0; i < n; i++)
		tables = list_append_unique_oid(tables,
										simhash_clusters_of_trigger(&relation->trigdesc->triggers[i]));
	foreach(lc, tables)
	{
		Oid			clusters = lfirst_oid(lc);
		ListCell   *root;

		foreach(root, roots)
		{
			ClusterTerms *terms =
			simhash_clusters_read_owned(clusters,
										simhash_class(lfirst_oid(root)).relowner);

			if (terms != NULL && terms->root == lfirst_oid(root) &&
				(get_attnum(terms->root, column) == terms->cluster ||
				 (also_time && get_attnum(terms->root, column) == terms->since)))
				return terms;
		}
	}
	return NULL;
}

/* Those in a column. */
ClusterTerms *
simhash_clusters_find(Relation relation, const char *column)
{
	return find_terms(relation, column, false);
}

/* Is a column of a table one that clusters fill, with their number or their time? */
bool
simhash_clusters_fill(Relation relation, const char *column)
{
	return find_terms(relation, column, true) != NULL;
}

/*
 * Set the type of the fingerprint, which a deed does not say, and check the distance:
 * a deed that was written by hand may have any.
 */
void
simhash_clusters_set_type(ClusterTerms *terms)
{
	Relation	root = table_open(terms->root, AccessShareLock);

	terms->terms.type = simhash_near_type(root, terms->terms.column);
	(void) simhash_check_range("", "k", terms->terms.radius, 0, terms->terms.type.width,
							   terms->terms.type.width);
	table_close(root, NoLock);
}

/*
 * Write a column, unless it is 0, and of one of the root the expression by which it is
 * generated, if it is.
 */
static void
write_column(StringInfo text, const ClusterTerms *terms, const char *key,
			 bool theirs, AttrNumber column)
{
	Oid			table = theirs ? terms->clusters : terms->root;
	Relation	relation;
	Node	   *expression;

	if (column == 0)
		return;
	appendStringInfo(text, ", '%s'::pg_catalog.text, %s.%s", key,
					 theirs ? quote_identifier(get_rel_name(table)) : ALIAS,
					 quote_identifier(get_attname(table, column, false)));
	relation = table_open(table, AccessShareLock);
	expression = theirs ? NULL : simhash_near_expression(relation, column);
	if (expression != NULL)
		appendStringInfo(text, ", 'generated'::pg_catalog.text, (%s)",
						 simhash_write_expression(relation, expression, ALIAS, true));
	table_close(relation, NoLock);
}

/* The condition of the policy that says so; the function is one in our schema. */
char	   *
simhash_clusters_write(const ClusterTerms *terms, Oid function)
{
	const NearTerms *near = &terms->terms;
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfo(&text, "COALESCE(true, EXISTS (SELECT %s._simhash_cluster_terms(ROW("
					 "'kind'::pg_catalog.text, '%s'::pg_catalog.text,"
					 " 'k'::pg_catalog.text, '%d'::pg_catalog.int4",
					 quote_identifier(get_namespace_name(get_func_namespace(function))),
					 terms->star ? "star" : "connected", near->radius);
	for (int i = 0; i < CLUSTER_KEYS; i++)
		write_column(&text, terms, simhash_clusters_keys[i].key,
					 simhash_clusters_keys[i].theirs,
					 *simhash_clusters_column(terms, i));
	for (int i = 0; i < near->ngroup; i++)
	{
		write_column(&text, terms, "within", false, near->group[i]);
		write_column(&text, terms, "within", true, terms->group[i]);
	}
	if (near->compare.measure != SIMHASH_NO_MEASURE)
		appendStringInfo(&text, ", 'similarity'::pg_catalog.text, '%s'::pg_catalog.text"
						 ", 'at_least'::pg_catalog.text, '%.17g'::pg_catalog.float8"
						 ", 'profile'::pg_catalog.text, %s::pg_catalog.text",
						 simhash_measures[terms->terms.compare.measure].name, near->compare.at_least,
						 quote_literal_cstr(near->compare.profile->name));
	if (near->compare.measure == SIMHASH_HAMMING)
		appendStringInfo(&text, ", 'at_most'::pg_catalog.text, '%d'::pg_catalog.int4",
						 (int) near->compare.at_most);
	if (terms->later)
		appendStringInfoString(&text, ", 'later'::pg_catalog.text, true");
	if (OidIsValid(terms->work))
		appendStringInfo(&text, ", 'work'::pg_catalog.text, '%u'::pg_catalog.regclass",
						 terms->work);
	appendStringInfo(&text, ")) FROM ONLY %s AS %s))",
					 simhash_quoted_name(terms->root), ALIAS);
	return text.data;
}
