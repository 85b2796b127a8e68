/*-------------------------------------------------------------------------
 *
 * report_table.c
 *		What simhash_report and simhash_dedup_sql have to know of a table.
 *
 * The table may belong to somebody whom the caller does not trust: no code of
 * the owner's may run that would not run in a SELECT of the columns.  The
 * fingerprint is a bigint or a bit string, or of a domain over these, so that
 * a cast to these types runs no code.  No other value is cast, not even a
 * row: the owner may have made such a cast.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report.h"

#include "executor/spi.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/shortest_dec.h"
#include "search/search.h"

PG_FUNCTION_INFO_V1(simhash_compared);

/*
 * Have names looked up in pg_catalog alone until simhash_leave_catalog; an
 * error ends that, too.
 */
int
simhash_enter_catalog(void)
{
	int			level = NewGUCNestLevel();

	(void) set_config_option("search_path", "pg_catalog, pg_temp",
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	return level;
}

void
simhash_leave_catalog(int level)
{
	AtEOXact_GUC(true, level);
}

/* The first column of the first row of a query, as text; NULL if none. */
char	   *
simhash_ask(const char *query)
{
	MemoryContext old = CurrentMemoryContext;
	char	   *answer = NULL;

	SPI_connect();
	SPI_execute(query, true, 1);
	if (SPI_processed > 0)
		answer = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
	if (answer != NULL)
		answer = MemoryContextStrdup(old, answer);
	SPI_finish();
	return answer;
}

/*
 * Where are the rows of the table, with those of its partitions and children?
 * Rows that are not here have no ctid that tells them apart.  Citus lists the
 * tables that it has distributed in pg_dist_partition.
 */
static SimhashPlace
find_place(Oid relation, const List *parts)
{
	ListCell   *part;

	if (OidIsValid(get_relname_relid("pg_dist_partition",
									 PG_CATALOG_NAMESPACE)) &&
		simhash_ask(psprintf("SELECT 1 FROM pg_catalog.pg_dist_partition"
							 " WHERE logicalrelid"
							 " OPERATOR(pg_catalog.=) %u::pg_catalog.oid",
							 relation)) != NULL)
		return SIMHASH_DISTRIBUTED;
	foreach(part, parts)
	{
		if (get_rel_relkind(lfirst_oid(part)) == RELKIND_FOREIGN_TABLE)
			return SIMHASH_FOREIGN;
	}
	return SIMHASH_HERE;
}

/*
 * The columns of the primary key of a distributed table, each as an
 * expression; NIL if there is no key, or another type in it.  Only types of
 * PostgreSQL itself, as the key is cast to text with the rights of the
 * caller; and of these, those whose text depends on no setting, as Citus
 * wants it in a DELETE.
 */
static List *
find_key(Oid relation)
{
	Relation	table = relation_open(relation, NoLock);
	Oid			primary = RelationGetPrimaryKeyIndex(table, true);
	Relation	index = OidIsValid(primary) ?
	index_open(primary, AccessShareLock) : NULL;
	int			n = index == NULL ? 0
	: IndexRelationGetNumberOfKeyAttributes(index);
	List	   *key = NIL;

	for (int i = 0; i < n; i++)
	{
		AttrNumber	number = index->rd_index->indkey.values[i];
		Form_pg_attribute column = TupleDescAttr(RelationGetDescr(table),
												 number - 1);
		Oid			output;
		bool		varlena;

		getTypeOutputInfo(column->atttypid, &output, &varlena);
		if (column->atttypid < FirstUnpinnedObjectId &&
			func_volatile(output) == PROVOLATILE_IMMUTABLE)
			key = lappend(key,
						  psprintf("t.%s",
								   quote_identifier(NameStr(column->attname))));
	}
	if (index != NULL)
		index_close(index, AccessShareLock);
	relation_close(table, NoLock);
	return list_length(key) == n ? key : NIL;
}

/* Find the columns of groups. */
static void
find_groups(SimhashTable *table, ArrayType *within)
{
	Datum	   *names;
	bool	   *nulls;
	int			n;

	deconstruct_array(within, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls,
					  &n);
	for (int i = 0; i < n; i++)
	{
		char	   *name;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("within must not contain nulls")));
		name = TextDatumGetCString(names[i]);
		if (get_attnum(table->oid, name) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation %s does not exist",
							name, table->name),
					 errhint("within names the columns in which near-duplicates must be equal.")));
		table->groups = lappend(table->groups,
								psprintf("t.%s", quote_identifier(name)));
		table->columns = lappend(table->columns, psprintf("c%d", i + 1));
	}
}

/*
 * Complete what is said of documents.  The expression for the fingerprint, or
 * that of its generated column, may show which column the documents are in, by
 * which profile and which family it is made; what the caller has not said is
 * taken from there.
 */
static void
find_compared_document(SimhashTable *table,
					   const SimhashDocumentOptions *given, Node *expression)
{
	SimhashDocumentOptions *options = &table->compare;
	SimhashDerivation derived;
	bool		known = simhash_get_derivation(expression, &derived);
	Var		   *column = known ?
	(Var *) simhash_unlabeled(derived.document) : NULL;
	AttrNumber	number = 0;

	*options = *given;
	if (options->document != NULL)
		number = get_attnum(table->oid, options->document);
	else if (known && IsA(column, Var))
		number = column->varattno;
	if (options->document != NULL && number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation %s does not exist",
						options->document, table->name),
				 errhint("document names the column of the texts.")));
	table->decides = number > 0;
	if (options->similarity != NULL &&
		simhash_get_measure(options->similarity, NULL) == SIMHASH_NO_MEASURE)
	{
		table->decides = false;
		options->similarity = NULL;
	}
	else if (number <= 0 && (options->similarity != NULL || options->bounded ||
							 options->profile != NULL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot tell which documents \"%s\" is the fingerprint of",
						table->fingerprint),
				 errhint("Name the column that they are in: document => 'body'.")));
	if (number <= 0)
		return;
	options->document = get_attname(table->oid, number, false);
	if (options->similarity == NULL)
		options->similarity = known && derived.measure == SIMHASH_COSINE ?
			"cosine" : "jaccard";
	if (options->profile == NULL && known &&
		sh_profile_plain(derived.profile) != sh_default_profile)
		options->profile = sh_profile_plain(derived.profile)->name;
	options->bounded = true;
	table->documents = simhash_documents_begin(options);
	simhash_documents_type(table->documents, get_atttype(table->oid, number));
}

/* A number as it is read again, whatever the settings of the session. */
char	   *
simhash_write_number(double number)
{
	char	   *text = palloc(DOUBLE_SHORTEST_DECIMAL_LEN);

	(void) double_to_shortest_decimal_buf(number, text);
	return text;
}

/* What is said of documents, as further arguments of a call. */
char	   *
simhash_write_options(const SimhashDocumentOptions *options)
{
	StringInfoData text;

	initStringInfo(&text);
	if (options->document != NULL)
		appendStringInfo(&text, ", document => %s",
						 quote_literal_cstr(options->document));
	if (options->similarity != NULL)
		appendStringInfo(&text, ", similarity => %s",
						 quote_literal_cstr(options->similarity));
	if (options->bounded)
		appendStringInfo(&text, ", at_least => %s",
						 simhash_write_number(options->at_least));
	if (options->profile != NULL)
		appendStringInfo(&text, ", profile => %s",
						 quote_literal_cstr(options->profile));
	return text.data;
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

/*
 * Find out about a table, from its name, the expression for the fingerprint,
 * the columns of groups, and what is said of documents.  Fail unless its
 * relkind is one of "relkinds".  The table stays locked against changes, but
 * its schema may be renamed.
 */
void
simhash_find_table(SimhashTable *table, Oid relation, const char *relkinds,
				   const char *fingerprint, ArrayType *within, int64 k,
				   const SimhashDocumentOptions *options)
{
	char		relkind = get_rel_relkind(relation);
	Node	   *expression;
	List	   *parts;

	memset(table, 0, sizeof *table);
	table->oid = relation;
	table->relkind = relkind;
	table->fingerprint = fingerprint;
	if (relkind != '\0')
	{
		table->name =
			quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									   get_rel_name(relation));
		if (strchr(relkinds, relkind) == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_WRONG_OBJECT_TYPE),
					 strchr(relkinds, RELKIND_MATVIEW) != NULL ?
					 errmsg("%s is not a table or materialized view", table->name) :
					 errmsg("%s is not a table", table->name),
					 strchr(relkinds, RELKIND_MATVIEW) != NULL ?
					 errhint("simhash_clusters and simhash_pairs take any query.") :
					 errhint("Name the table that the rows are in.")));
		check_table_rights(relation);
	}
	expression = simhash_check_fingerprint(relation, fingerprint,
										   &table->type, &table->width);
	find_compared_document(table, options, expression);
	parts = find_all_inheritors(relation, NoLock, NULL);
	table->place = find_place(relation, parts);
	if (table->place == SIMHASH_DISTRIBUTED)
		table->key = find_key(relation);
	table->parted = table->place == SIMHASH_HERE &&
		(relkind == RELKIND_PARTITIONED_TABLE || list_length(parts) > 1);
	table->source = table->place == SIMHASH_HERE && !table->parted ?
		psprintf("ONLY %s", table->name) : table->name;
	find_groups(table, within);
	simhash_check_distance(k, table->type != INT8OID,
						   table->type == INT8OID ? SH_BITS :
						   table->width > 0 ? table->width : SH_MOST_WIDTH);
}

/* Some expressions, each with something before it, or between them. */
char	   *
simhash_list(const List *expressions, const char *before, const char *between)
{
	StringInfoData list;
	ListCell   *cell;

	initStringInfo(&list);
	foreach(cell, expressions)
	{
		if (cell != list_head(expressions))
			appendStringInfoString(&list, between);
		appendStringInfo(&list, "%s%s", before, (char *) lfirst(cell));
	}
	return list.data;
}

/*
 * _simhash_compared(relation regclass, fingerprint text, document text,
 * similarity text, at_least double precision, profile text) -> (document text,
 * similarity text, at_least double precision, profile text)
 *
 * What simhash_dedup_sql compares for such arguments, completed by how the
 * fingerprint is made; all NULL if distances alone decide.  For tools/report.
 *
 * Errors: as simhash_dedup_sql.
 */
Datum
simhash_compared(PG_FUNCTION_ARGS)
{
	SimhashDocumentOptions given = simhash_document_options(fcinfo, 2);
	const SimhashDocumentOptions *options;
	SimhashTable table;
	TupleDesc	columns;
	Datum		values[4] = {0};
	bool		nulls[4] = {true, true, true, true};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	simhash_find_table(&table, PG_GETARG_OID(0), "rpf",
					   text_to_cstring(PG_GETARG_TEXT_PP(1)),
					   construct_empty_array(TEXTOID), 0, &given);
	if (get_call_result_type(fcinfo, NULL, &columns) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	options = &table.compare;
	if (table.decides)
	{
		values[0] = CStringGetTextDatum(options->document);
		values[1] = CStringGetTextDatum(options->similarity);
		values[2] = Float8GetDatum(options->at_least);
		nulls[3] = options->profile == NULL;
		if (!nulls[3])
			values[3] = CStringGetTextDatum(options->profile);
		nulls[0] = nulls[1] = nulls[2] = false;
	}
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns),
													  values, nulls)));
}
