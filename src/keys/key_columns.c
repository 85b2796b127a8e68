/*-------------------------------------------------------------------------
 *
 * key_columns.c
 *		Key columns: four generated columns of a table, which hold the block
 *		keys of its fingerprints (keys.c), and an index on each.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "keys/keys.h"

#include "catalog/pg_inherits.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "rewrite/rewriteHandler.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "query/query.h"
#include "relation.h"
#include "search/search.h"

PG_FUNCTION_INFO_V1(simhash_add_keys);
PG_FUNCTION_INFO_V1(simhash_drop_keys);

/* A hint. */
static const char needs_table[] =
"Key columns can be added to tables and partitioned tables.";

/*
 * Make an expression of the table's columns of the source, which can stand in a
 * generated column; fails if it is not a bigint.  Say whether the expression is
 * not the caller's own but that of a generated column, and how CREATE INDEX
 * includes the column that the source is, if it is one.
 */
static Node *
read_source(Relation relation, const char *source, bool *generated,
			char **include)
{
	Node	   *expression = simhash_read_source(relation, source, SIMHASH_KEYS);
	Node	   *column = simhash_unlabeled(expression);
	Node	   *generation = simhash_generation(relation, column);

	*generated = generation != NULL;
	if (include != NULL && IsA(column, Var))
		*include =
			psprintf(" INCLUDE (%s)",
					 quote_identifier(get_attname(RelationGetRelid(relation),
												  ((Var *) column)->varattno, false)));
	return *generated ? generation : expression;
}

/* An expression as text of the columns of the table. */
static char *
write_source(Relation relation, Node *expression)
{
	return simhash_write_expression(relation, expression,
									RelationGetRelationName(relation), false);
}

/*
 * Is that column a key of some fingerprint?  Sets *fingerprint to which, without
 * a cast that changes nothing.
 */
static bool
is_key_column(Relation relation, AttrNumber number, Node **fingerprint)
{
	int			block;

	if (number <= 0 || !TupleDescAttr(RelationGetDescr(relation), number - 1)->attgenerated ||
		!simhash_is_key(build_column_default(relation, number), fingerprint, &block))
		return false;
	*fingerprint = simhash_unlabeled(*fingerprint);
	return true;
}

/*
 * Fail as the table has a column of that name, and say if it is a key of another
 * fingerprint than the source: ALTER TABLE ... SET EXPRESSION leaves it so.
 */
static void
refuse_name(Relation relation, const char *name, AttrNumber number, Node *source)
{
	Node	   *keyed = NULL;
	bool		other = is_key_column(relation, number, &keyed) &&
	!equal(keyed, simhash_unlabeled(source));
	const char *held = other ? write_source(relation, keyed) : NULL;
	const char *wanted = other ? write_source(relation, source) : NULL;

	ereport(ERROR,
			(errcode(ERRCODE_DUPLICATE_COLUMN),
			 errmsg("column \"%s\" of relation \"%s\" already exists",
					name, RelationGetRelationName(relation)),
			 other ? errdetail("It holds keys of %s, which no search for %s takes.", held, wanted) : 0,
			 errhint("Give other names for the key columns, or remove those that are there with simhash_drop_keys.")));
}

/* The four column names of the array, for the keys of the source. */
static void
get_column_names(ArrayType *array, Relation relation, Node *source,
				 char *names[SH_BLOCKS])
{
	AttrNumber	number;
	Datum	   *values;
	int			n = simhash_get_elements(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
										 "names in argument \"columns\"", &values);

	if (n != SH_BLOCKS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"columns\" must have %d names", SH_BLOCKS),
				 errhint("Give an array of names, one for each block, such as '{k0,k1,k2,k3}'.")));
	for (int i = 0; i < n; i++)
	{
		names[i] = NameStr(*DatumGetName(values[i]));
		number = get_attnum(RelationGetRelid(relation), names[i]);
		if (number != InvalidAttrNumber)
			refuse_name(relation, names[i], number, source);
	}
}

/*
 * The columns that come before the keys in their indexes, as CREATE INDEX has
 * them: each with a comma after it.
 */
static char *
get_prefix(ArrayType *array, Oid table)
{
	StringInfoData prefix;
	List	   *columns = simhash_get_columns(array, "within");
	ListCell   *lc;

	initStringInfo(&prefix);
	if (list_length(columns) >= INDEX_MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("argument \"within\" must have at most %d names of columns",
						INDEX_MAX_KEYS - 1),
				 errhint("Give an array of names, such as '{site,lang}'.")));
	foreach(lc, columns)
	{
		char	   *name = lfirst(lc);

		(void) simhash_find_column(table, name, "within", "");
		for (int j = 0; j < foreach_current_index(lc); j++)
		{
			if (strcmp(name, list_nth(columns, j)) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is named twice", name),
						 errhint("Argument \"within\" names each column once.")));
		}
		appendStringInfo(&prefix, "%s, ", quote_identifier(name));
	}
	return prefix.data;
}

/* Run a utility command with the rights of the current user. */
static void
run_command(const char *command)
{
	SPI_connect();
	(void) simhash_run_command(NIL, command, 0, NULL, NULL);
	SPI_finish();
}

/*
 * Create the index of a key column.  An index on a partitioned table makes
 * those of its partitions; the children of an inheritance parent have to
 * get their own.
 */
static void
create_key_index(Oid table, const char *prefix, const char *column,
				 const char *include)
{
	List	   *tables = list_make1_oid(table);
	ListCell   *lc;

	if (get_rel_relkind(table) == RELKIND_RELATION)
		tables = find_all_inheritors(table, AccessExclusiveLock, NULL);
	foreach(lc, tables)
		run_command(psprintf("CREATE INDEX ON %s (%s%s)%s",
							 simhash_quoted_name(lfirst_oid(lc)),
							 prefix, quote_identifier(column), include));
}

/*
 * Run a command that computes the expression of a generated column, which the
 * owner of the table has written: with his rights, not with the caller's.
 */
static void
run_as_owner(Oid table, const char *command)
{
	Relation	relation = relation_open(table, NoLock);
	SimhashRole before = simhash_become(relation->rd_rel->relowner,
										SECURITY_RESTRICTED_OPERATION);

	relation_close(relation, NoLock);
	run_command(command);
	simhash_become_again(&before);
}

/*
 * simhash_add_keys(relation regclass, fingerprint text,
 *		columns name[] DEFAULT '{k0,k1,k2,k3}',
 *		within text[] DEFAULT '{}', covering boolean DEFAULT true) -> void
 *
 * Add the four key columns to a table, generated from the fingerprint, and an
 * index on each, behind the columns that searches are within.  A covering one
 * includes the fingerprint, if that is a column.  The fingerprint is a bigint column
 * or an expression of the table's columns such as minhash(body); a column that is
 * itself generated is replaced by its generation expression.  The table is
 * rewritten, under an exclusive lock.
 *
 * Errors: wrong_object_type for what is not a table, insufficient_privilege
 * without ownership, duplicate_column when a column is there already or named
 * twice, undefined_column when one to be within is not there,
 * syntax_error, undefined_column, datatype_mismatch or
 * invalid_object_definition for a fingerprint that cannot be used,
 * feature_not_supported for a table with foreign partitions.
 */
Datum
simhash_add_keys(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	Oid			self = fcinfo->flinfo->fn_oid;
	Relation	relation = simhash_open_table(oid, AccessExclusiveLock, self,
											  needs_table);
	bool		generated;
	Node	   *source;
	char	   *written;
	char	   *include = "";
	char	   *function;
	char	   *prefix;
	char	   *names[SH_BLOCKS];
	StringInfoData command;

	simhash_refuse_foreign_tables(oid, AccessExclusiveLock, "key columns",
								  "A hamming index needs no columns, and serves those that are tables.");
	source = read_source(relation, text_to_cstring(PG_GETARG_TEXT_PP(1)),
						 &generated, PG_GETARG_BOOL(4) ? &include : NULL);
	get_column_names(PG_GETARG_ARRAYTYPE_P(2), relation, source, names);
	prefix = get_prefix(PG_GETARG_ARRAYTYPE_P(3), oid);
	written = write_source(relation, source);
	relation_close(relation, NoLock);

	/* For a domain over bigint some other function might fit better. */
	function = quote_qualified_identifier(get_namespace_name(get_func_namespace(self)),
										  "simhash_key");
	initStringInfo(&command);
	appendStringInfo(&command, "ALTER TABLE %s", simhash_quoted_name(oid));
	for (int i = 0; i < SH_BLOCKS; i++)
		appendStringInfo(&command,
						 "%s ADD COLUMN %s smallint GENERATED ALWAYS AS"
						 " (%s((%s)::pg_catalog.int8, %d)) STORED",
						 i > 0 ? "," : "", quote_identifier(names[i]),
						 function, written, i);
	if (generated)
		run_as_owner(oid, command.data);
	else
		run_command(command.data);
	for (int i = 0; i < SH_BLOCKS; i++)
		create_key_index(oid, prefix, names[i], include);
	PG_RETURN_VOID();
}

/*
 * simhash_drop_keys(relation regclass) -> void
 *
 * Remove the columns of a table that are generated by simhash_key, and with
 * them their indexes.
 *
 * Errors: undefined_column when there are none; otherwise as
 * simhash_add_keys.
 */
Datum
simhash_drop_keys(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	Relation	relation = simhash_open_table(oid, AccessExclusiveLock,
											  fcinfo->flinfo->fn_oid, needs_table);
	TupleDesc	desc = RelationGetDescr(relation);
	StringInfoData command;
	int			found = 0;

	initStringInfo(&command);
	appendStringInfo(&command, "ALTER TABLE %s", simhash_quoted_name(oid));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		Node	   *fingerprint;

		if (column->attisdropped ||
			!is_key_column(relation, column->attnum, &fingerprint))
			continue;
		appendStringInfo(&command, "%s DROP COLUMN %s",
						 found++ > 0 ? "," : "",
						 quote_identifier(NameStr(column->attname)));
	}
	relation_close(relation, NoLock);
	if (found == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("relation \"%s\" has no key columns",
						get_rel_name(oid)),
				 errhint("simhash_add_keys adds them.")));
	run_command(command.data);
	PG_RETURN_VOID();
}
