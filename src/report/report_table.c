/*-------------------------------------------------------------------------
 *
 * report_table.c
 *		What a report and a removal have to know of a table.
 *
 * Where its rows are, what tells them apart, which of them take part and in which
 * order, and what is compared of them.  report_texts.c writes what queries say of it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "executor/spi.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "relation.h"
#include "search/search.h"

/*
 * Where are the rows of the table, with those of its partitions and children?
 * Rows that are not here have no ctid that tells them apart.  Citus lists the
 * tables that it has distributed in pg_dist_partition.
 */
static SimhashPlace
find_place(Oid relation, const List *parts)
{
	ListCell   *part;
	bool		distributed = OidIsValid(get_relname_relid("pg_dist_partition",
														   PG_CATALOG_NAMESPACE));

	if (distributed)
	{
		SPI_connect();
		SPI_execute(psprintf("SELECT 1 FROM pg_catalog.pg_dist_partition WHERE logicalrelid"
							 " OPERATOR(pg_catalog.=) %u::pg_catalog.oid", relation),
					true, 1);
		distributed = SPI_processed > 0;
		SPI_finish();
	}
	if (distributed)
		return SIMHASH_DISTRIBUTED;
	foreach(part, parts)
	{
		if (get_rel_relkind(lfirst_oid(part)) == RELKIND_FOREIGN_TABLE)
			return SIMHASH_FOREIGN;
	}
	return SIMHASH_HERE;
}

/*
 * The columns of the primary key, quoted; NIL if there is none.  A distributed
 * table's key is compared as text, with the rights of the caller: so it counts
 * only if its types are PostgreSQL's own, and their text depends on no setting, as
 * Citus wants it in a DELETE.
 */
static List *
find_primary_key(SimhashTable *table)
{
	Relation	relation = relation_open(table->oid, NoLock);
	Oid			primary = RelationGetPrimaryKeyIndex(relation, true);
	Relation	index = OidIsValid(primary) ?
	index_open(primary, AccessShareLock) : NULL;
	int			n = index == NULL ? 0
	: IndexRelationGetNumberOfKeyAttributes(index);
	List	   *key = NIL;

	for (int i = 0; i < n; i++)
	{
		AttrNumber	number = index->rd_index->indkey.values[i];
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation),
												 number - 1);
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(column->atttypid, &output, &varlena);
		table->key_types = lappend_oid(table->key_types,
									   getBaseType(column->atttypid));
		if (table->place != SIMHASH_DISTRIBUTED ||
			(column->atttypid < FirstUnpinnedObjectId &&
			 func_volatile(output) == PROVOLATILE_IMMUTABLE))
			key = lappend(key,
						  pstrdup(quote_identifier(NameStr(column->attname))));
	}
	if (index != NULL)
		index_close(index, AccessShareLock);
	relation_close(relation, NoLock);
	return list_length(key) == n ? key : NIL;
}

/* Find what tells the rows apart for those who read a plan. */
static void
find_key(SimhashTable *table)
{
	/* Rows of children by inheritance may have the key of another. */
	if (!table->parted || get_rel_relkind(table->oid) == RELKIND_PARTITIONED_TABLE)
		table->key = find_primary_key(table);
	table->keyed = table->key != NIL;
	if (table->keyed)
		return;
	table->key = table->key_types = NIL;
	if (table->parted)
	{
		table->key = list_make1("tableoid");
		table->key_types = list_make1_oid(OIDOID);
	}
	if (table->place == SIMHASH_HERE)
	{
		table->key = lappend(table->key, "ctid");
		table->key_types = lappend_oid(table->key_types, TIDOID);
	}
}

/* What the caller gives, as an expression over the table t: the name of a column stays one. */
static const char *
write_given(const SimhashTable *table, const char *given)
{
	return get_attnum(table->oid, given) > 0 ?
		psprintf("t.%s", quote_identifier(given)) : given;
}

/* Note the columns that an expression over the table reads. */
static void
note_columns(SimhashTable *table, Relation relation, Node *expression)
{
	List	   *columns = pull_vars_of_level(expression, 0);
	ListCell   *lc;

	foreach(lc, columns)
	{
		AttrNumber	column = lfirst_node(Var, lc)->varattno;

		if (column > 0)
			table->compared = bms_add_member(table->compared, column);
		else if (column == 0)
			table->compared = bms_add_range(table->compared, 1,
											RelationGetNumberOfAttributes(relation));
	}
}

/* Read an expression over the table t. */
static Node *
read_expression(SimhashTable *table, const char *source, SimhashSource kind)
{
	Relation	relation = relation_open(table->oid, NoLock);
	Node	   *expression = simhash_read_source(relation, source, kind);

	note_columns(table, relation, expression);
	relation_close(relation, NoLock);
	return expression;
}

/*
 * Find in what the rows of a group are equal: columns, or expressions.  These are in
 * parentheses, and so are columns that a query of ours has to call something else.
 */
static void
find_groups(SimhashTable *table, ArrayType *within)
{
	Datum	   *names;
	int			n = simhash_get_texts(within, "names in argument \"within\"", &names);

	for (int i = 0; i < n; i++)
	{
		const char *name = TextDatumGetCString(names[i]);
		const char *group = write_given(table, name);
		bool		plain = group != name && strncmp(name, "simhash ", 8) != 0;

		(void) read_expression(table, group, SIMHASH_GROUP);
		table->groups = lappend(table->groups,
								psprintf(plain ? "%s" : "(%s)", group));
	}
}

/* Find which rows take part. */
static void
find_condition(SimhashTable *table, FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(SIMHASH_OF_CONDITION))
		return;
	table->condition = write_given(table, simhash_text_argument(fcinfo, SIMHASH_OF_CONDITION));
	(void) read_expression(table, table->condition, SIMHASH_CONDITION);
}

/* Find when a row is, and how far from others in time it may be. */
static void
find_moment(SimhashTable *table, FunctionCallInfo fcinfo)
{
	Interval	zero = {0};
	const char *moment;
	Datum		near_in;
	Oid			type;

	if (PG_ARGISNULL(SIMHASH_OF_MOMENT) != PG_ARGISNULL(SIMHASH_OF_NEAR_IN))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("\"moment\" and \"near_in\" belong together"),
				 errhint("For example, moment => 'created_at', near_in => '7 days' leaves alone what is further apart.")));
	if (PG_ARGISNULL(SIMHASH_OF_MOMENT))
		return;
	near_in = PG_GETARG_DATUM(SIMHASH_OF_NEAR_IN);
	table->near_in = DatumGetCString(DirectFunctionCall1(interval_out, near_in));
	if (DatumGetBool(DirectFunctionCall2(interval_lt, near_in, IntervalPGetDatum(&zero))))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"near_in\" is \"%s\"", table->near_in),
				 errhint("It must be an interval that is not negative, such as '30 days'.")));
	moment = write_given(table, simhash_text_argument(fcinfo, SIMHASH_OF_MOMENT));
	type = exprType(read_expression(table, moment, SIMHASH_MOMENT));
	table->moment = simhash_write_cast(moment, type, getBaseType(type) == TIMESTAMPTZOID ?
									   TIMESTAMPTZOID : TIMESTAMPOID);
}

/*
 * The document, as an expression over the table t: what the caller says, a
 * column or an expression; or else what the fingerprint is made of, if that runs
 * no code of the table's owner, as text neither.  NULL if that is not known.
 */
static Node *
find_document(SimhashTable *table, const char *given,
			  const SimhashDerivation *derived)
{
	Node	   *document;

	if (given != NULL)
		table->document = write_given(table, given);
	else if (derived != NULL && simhash_is_of_core(derived->document))
		table->document = deparse_expression(derived->document,
											 deparse_context_for("t", table->oid), true, false);
	else
		return NULL;
	document = read_expression(table, table->document, SIMHASH_DOCUMENT);
	if (given == NULL && !simhash_is_of_core(document))
		return NULL;
	if (given == NULL && !OidIsValid(simhash_document_type(SIMHASH_JACCARD, exprType(document))))
	{
		/* the fingerprint has a cast of it that is not written, as of char(n) */
		table->document = simhash_write_cast(table->document, exprType(document), TEXTOID);
		document = read_expression(table, table->document, SIMHASH_DOCUMENT);
	}
	table->document_type = exprType(document);
	return document;
}

/*
 * Say that the fingerprints of whole documents do not find an excerpt, which shares
 * few of the features: at half the length, it is within 8 bits in 2 cases of 100.
 */
static void
say_of_excerpts(const SimhashTable *table)
{
	ereport(NOTICE,
			(errmsg("excerpts below half the length of a document are seldom near it by \"%s\"",
					table->fingerprint),
			 errhint("Give a fingerprint of what both have, as a title or the first passage, and the document: fingerprint => '(SELECT fp FROM simhash_passages(t.body, words => 8) WHERE nr = 1)', document => 'body'.")));
}

/*
 * Fail if documents are to decide, but are not known: if something is said of them, or
 * if the fingerprint is an expression that loses sight of them.
 */
static void
complain_of_document(const SimhashTable *table, const char *argument,
					 bool lost)
{
	if (argument != NULL || lost)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot tell which documents \"%s\" is the fingerprint of",
						table->fingerprint),
				 argument != NULL ?
				 errdetail("Argument \"%s\" is about documents.", argument) :
				 errdetail("Without them the distance alone would decide."),
				 errhint("Name their column, or give an expression: document => 'body'.  With similarity => 'none' the distance alone decides.")));
}

/*
 * Complete what is said of documents.  The expression for the fingerprint, or
 * that of its generated column, may show what it is made of, and by which
 * profile; what the caller has not said is taken from there.
 */
static void
find_compared_document(SimhashTable *table,
					   const SimhashDocumentOptions *given, Node *expression)
{
	SimhashDocumentOptions *options = &table->compare;
	SimhashDerivation derived;
	Relation	relation = relation_open(table->oid, NoLock);
	int			made = simhash_find_derivations(relation, expression, &derived);
	bool		known = made == 1;
	bool		wanted = simhash_get_measure(given->similarity) != SIMHASH_NO_MEASURE;
	Bitmapset  *others = bms_copy(table->compared);
	Node	   *document = find_document(table, given->document,
										 known ? &derived : NULL);

	relation_close(relation, NoLock);
	*options = *given;
	table->decides = document != NULL && wanted;
	if (!table->decides)
		table->compared = others;
	if (document == NULL)
	{
		if (wanted)
			complain_of_document(table, simhash_document_argument(options),
								 made > 0 && !IsA(expression, Var));
		options->similarity = NULL;
		return;
	}
	if (table->decides && known &&
		equal(document, strip_implicit_coercions(derived.document)) &&
		simhash_get_measure(options->similarity) == SIMHASH_CONTAINMENT)
		say_of_excerpts(table);
	if (!table->decides || options->similarity == NULL)
		options->similarity = "alike";
	options->document = SIMHASH_DOCUMENT_COLUMN;
	if (options->profile == NULL && known &&
		sh_profile_plain(derived.profile) != sh_default_profile)
		options->profile = sh_profile_plain(derived.profile)->name;
	options->bounded = true;
	table->documents = simhash_documents_begin(options);
	table->documents->document = table->document;
	simhash_documents_type(table->documents, exprType(document));
}

/*
 * Fail unless the caller may read something of a table, and name it, before
 * it is locked: a lock stays until the end of the transaction, and others may
 * have to wait for it.
 */
static void
check_table_rights(Oid relation)
{
	Oid			user = GetUserId();
	Oid			schema = get_rel_namespace(relation);

	if (!simhash_may_use_schema(schema, user))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SCHEMA,
					   get_namespace_name(schema));
	if (pg_class_aclcheck(relation, user, ACL_SELECT) != ACLCHECK_OK &&
		pg_attribute_aclcheck_all(relation, user, ACL_SELECT,
								  ACLMASK_ANY) != ACLCHECK_OK)
		aclcheck_error(ACLCHECK_NO_PRIV,
					   get_relkind_objtype(get_rel_relkind(relation)),
					   get_rel_name(relation));
}

/* Find the name of a table that is locked, where its rows are, and what tells them apart. */
void
simhash_find_rows(SimhashTable *table)
{
	List	   *parts = find_all_inheritors(table->oid, NoLock, NULL);

	table->name = simhash_quoted_name(table->oid);
	table->place = find_place(table->oid, parts);
	table->parted = table->place == SIMHASH_HERE &&
		(get_rel_relkind(table->oid) == RELKIND_PARTITIONED_TABLE || list_length(parts) > 1);
	table->source = table->place == SIMHASH_HERE && !table->parted ?
		psprintf("ONLY %s", table->name) : table->name;
	find_key(table);
}

/*
 * Find a table, and fail unless its relkind is one of "relkinds"; returns the
 * expression for the fingerprint.  It stays locked against changes, but its schema may
 * be renamed.
 */
static Node *
find_relation(SimhashTable *table, const char *relkinds)
{
	Oid			relation = table->oid;
	char		relkind = get_rel_relkind(relation);
	Node	   *expression;
	Relation	locked;

	if (relkind != '\0')
	{
		table->name = simhash_quoted_name(relation);
		if (strchr(relkinds, relkind) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 errmsg("%s is not a table", table->name),
					 errhint("Name the table that the rows are in; simhash_clusters and simhash_pairs take any query.")));
		check_table_rights(relation);
	}
	expression = simhash_check_fingerprint(relation, table->fingerprint,
										   &table->type, &table->width);
	locked = relation_open(relation, NoLock);
	note_columns(table, locked, expression);
	relation_close(locked, NoLock);
	/* That has locked it: before, another could be put in its place. */
	simhash_find_rows(table);
	return expression;
}

/* The distance, which must be within what the engine can search. */
static int64
find_distance(const SimhashTable *table, FunctionCallInfo fcinfo)
{
	int64		k = simhash_distance_argument(fcinfo, SIMHASH_OF_K, table->decides);

	simhash_check_distance(k, table->type != INT8OID,
						   table->type == INT8OID ? SH_BITS :
						   table->width > 0 ? table->width : SH_MOST_WIDTH);
	return k;
}

/* The table of pairs that are no duplicates, whose two columns are text[]. */
static const char *
find_apart(Oid relation)
{
	/*
	 * Its owner may run code by a view, and put one in its place until it is
	 * locked.
	 */
	check_table_rights(relation);
	LockRelationOid(relation, AccessShareLock);
	if (strchr("rp", get_rel_relkind(relation)) == NULL ||
		get_atttype(relation, get_attnum(relation, "gone")) != TEXTARRAYOID ||
		get_atttype(relation, get_attnum(relation, "kept")) != TEXTARRAYOID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("argument \"apart\" is no table with the columns \"gone\" and \"kept\" of type text[]"),
				 errhint("Keep rows of simhash_dedup_plan in it.")));
	return simhash_quoted_name(relation);
}

/*
 * Have the fingerprints decide as documents do: what is said of single pairs is
 * heeded where pairs are compared.
 */
static void
compare_fingerprints(SimhashTable *table, int64 k)
{
	SimhashDocumentOptions options = {
		.document = SIMHASH_DOCUMENT_COLUMN,.similarity = "hamming",
		.limited = true,.at_most = k
	};

	table->document = table->fingerprint;
	table->document_type = table->type;
	table->compare = options;
	table->documents = simhash_documents_begin(&options);
	simhash_documents_type(table->documents, table->type);
	table->decides = true;
}

/*
 * Take what argument "keep" says of the order of the rows.  Rows that are equal by "keep" are in the order of the primary key,
 * so that of a plan, a report and a DELETE all say the same.  Without "keep", the
 * longest document is first where one contains the others.
 */
static void
find_order(SimhashTable *table, FunctionCallInfo fcinfo)
{
	StringInfoData order;

	initStringInfo(&order);
	if (!PG_ARGISNULL(SIMHASH_OF_KEEP))
	{
		char	   *said = simhash_text_argument(fcinfo, SIMHASH_OF_KEEP);
		Relation	relation = relation_open(table->oid, NoLock);

		simhash_check_order(relation, said);
		relation_close(relation, NoLock);
		appendStringInfo(&order, "%s, ", said);
	}
	else if (table->decides &&
			 table->documents->comparison.measure == SIMHASH_CONTAINMENT)
		appendStringInfo(&order, "pg_catalog.%s(%s) DESC NULLS LAST, ",
						 table->documents->comparison.arrays ? "cardinality" : "length",
						 table->documents->comparison.arrays ? table->document :
						 simhash_write_cast(table->document, table->document_type,
											table->documents->type));
	if (table->key != NIL)
		appendStringInfoString(&order, simhash_list(table->key, "t.", ", "));
	if (table->keyed && table->parted)
		appendStringInfoString(&order, ", t.tableoid, t.ctid");
	table->order = order.data;
}

/* Find out about a table, from the arguments of a call; returns the distance. */
int64
simhash_find_table(SimhashTable *table, FunctionCallInfo fcinfo)
{
	SimhashDocumentOptions options = simhash_document_options(fcinfo, SIMHASH_OF_DOCUMENT);
	Node	   *expression;
	int64		k;

	(void) simhash_check_at_least(options.at_least);
	simhash_check_not_null(fcinfo, SIMHASH_OF_RELATION, SIMHASH_OF_FINGERPRINT,
						   SIMHASH_OF_KIND, SIMHASH_OF_WITHIN);
	memset(table, 0, sizeof *table);
	table->oid = PG_GETARG_OID(SIMHASH_OF_RELATION);
	table->fingerprint = simhash_text_argument(fcinfo, SIMHASH_OF_FINGERPRINT);
	expression = find_relation(table, PG_GETARG_BOOL(SIMHASH_OF_REPORTS) ? "rpmf" : "rpf");
	find_compared_document(table, &options, expression);
	find_groups(table, PG_GETARG_ARRAYTYPE_P(SIMHASH_OF_WITHIN));
	find_condition(table, fcinfo);
	find_moment(table, fcinfo);
	k = find_distance(table, fcinfo);
	find_order(table, fcinfo);
	if (!PG_ARGISNULL(SIMHASH_OF_APART))
		table->apart = find_apart(PG_GETARG_OID(SIMHASH_OF_APART));
	if ((table->apart != NULL || table->moment != NULL) && !table->decides)
		compare_fingerprints(table, k);
	return k;
}
