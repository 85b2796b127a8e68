/*-------------------------------------------------------------------------
 *
 * keys.c
 *		Block keys, and the columns of a table that hold them.
 *
 * A pair of fingerprints within distance 3 agrees in at least one of the four
 * blocks, so that four btree indexes on the four keys find every such pair.
 * Here are the functions that compute keys, and those that add the columns
 * and indexes to a table; key_paths.c has queries use them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "search/search.h"
#include "search/source.h"

#include "access/relation.h"
#include "catalog/catalog.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "executor/spi.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "rewrite/rewriteHandler.h"
#include "storage/lmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/ruleutils.h"

#include "core/pairs/probes.h"

PG_FUNCTION_INFO_V1(simhash_key);
PG_FUNCTION_INFO_V1(simhash_keys);
PG_FUNCTION_INFO_V1(simhash_probes);
PG_FUNCTION_INFO_V1(simhash_add_keys);
PG_FUNCTION_INFO_V1(simhash_drop_keys);

/* A hint. */
static const char needs_table[] =
"Key columns can be added to tables and partitioned tables.";

/* Fail unless there is such a block. */
static inline void
check_block(int32 block)
{
	if (block < 0 || block >= SH_BLOCKS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("block %d is out of range", block),
				 errhint("The blocks of a fingerprint are 0 (most significant) to %d.",
						 SH_BLOCKS - 1)));
}

/*
 * simhash_key(fingerprint bigint, block integer) -> smallint
 *
 * The 16 bits of a block of the fingerprint, as a signed number.  Block 0 is
 * the most significant.
 *
 * Errors: invalid_parameter_value when the block is not in 0 .. 3.
 */
Datum
simhash_key(PG_FUNCTION_ARGS)
{
	int32		block = PG_GETARG_INT32(1);

	check_block(block);
	PG_RETURN_INT16(sh_block_key((uint64) PG_GETARG_INT64(0), block));
}

/* An array of keys. */
static ArrayType *
make_key_array(Datum *keys, int n)
{
	return construct_array(keys, n, INT2OID, sizeof(int16), true,
						   TYPALIGN_SHORT);
}

/*
 * simhash_keys(fingerprints bigint[], block integer) -> smallint[]
 *
 * The keys of several fingerprints in a block; NULLs have none.
 *
 * Errors: invalid_parameter_value when the block is not in 0 .. 3.
 */
Datum
simhash_keys(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int32		block = PG_GETARG_INT32(1);
	Datum	   *fingerprints;
	bool	   *nulls;
	int			count;
	int			n = 0;

	check_block(block);
	deconstruct_array(array, INT8OID, sizeof(int64), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &fingerprints, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!nulls[i])
			fingerprints[n++] =
				Int16GetDatum(sh_block_key((uint64) DatumGetInt64(fingerprints[i]),
										   block));
	}
	PG_RETURN_ARRAYTYPE_P(make_key_array(fingerprints, n));
}

/*
 * simhash_probes(center bigint, radius bigint, block integer) -> smallint[]
 *
 * The keys to look up in a block when searching within a radius (in bits) of
 * the center: every fingerprint in reach has one of them in at least one
 * block (Norouzi, Punjani and Fleet 2012, "Fast Search in Hamming Space with
 * Multi-Index Hashing").
 *
 * A radius of a row is taken for the number that it is, as by <@ (distance.c).
 *
 * Errors: invalid_parameter_value when the query says a radius that is not in
 * 0 .. 64, or a block not in 0 .. 3.
 */
Datum
simhash_probes(PG_FUNCTION_ARGS)
{
	uint64		center = (uint64) PG_GETARG_INT64(0);
	int64		radius = PG_GETARG_INT64(1);
	int32		block = PG_GETARG_INT32(2);
	int			reach;
	int			n = 0;
	Datum	   *keys;
	int16		key;
	ShProbes	probes;

	check_block(block);
	if (simhash_is_of_query(fcinfo->flinfo, 1))
		(void) simhash_check_radius(radius, SH_BITS);
	reach = sh_block_radius((int) Max(-1, Min(radius, SH_BITS)), block);
	keys = palloc(Max(1, sh_probe_count(reach)) * sizeof *keys);
	sh_probes_begin(&probes, sh_block_key(center, block), reach);
	while (sh_probes_next(&probes, &key) >= 0)
		keys[n++] = Int16GetDatum(key);
	PG_RETURN_ARRAYTYPE_P(make_key_array(keys, n));
}

/*
 * See whether an expression is a call of simhash_key for a known block, and
 * of which fingerprint.
 */
bool
simhash_is_key(Node *expression, Node **fingerprint, int *block)
{
	FuncExpr   *call = (FuncExpr *) expression;
	Const	   *number;

	if (expression == NULL || !IsA(expression, FuncExpr) ||
		list_length(call->args) != 2 ||
		simhash_c_function(call->funcid) != simhash_key)
		return false;
	number = lsecond(call->args);
	if (!IsA(number, Const) || number->constisnull)
		return false;
	*fingerprint = linitial(call->args);
	*block = DatumGetInt32(number->constvalue);
	return *block >= 0 && *block < SH_BLOCKS;
}

/*
 * Fail unless the user may alter the table and it is one; lock it.  The hint
 * says what needs a table.
 */
Relation
simhash_open_table(Oid oid, LOCKMODE lockmode, const char *hint)
{
	Relation	relation;
	char	   *name = get_rel_name(oid);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", oid)));
	if (!simhash_owns_relation(oid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(get_rel_relkind(oid)), name);
	relation = try_relation_open(oid, lockmode);
	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation \"%s\" does not exist", name)));

	/* Before the lock was there it may have got another owner. */
	if (!simhash_owns_relation(oid, GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(relation->rd_rel->relkind), name);
	if (relation->rd_rel->relkind != RELKIND_RELATION &&
		relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table", name),
				 errhint("%s", hint)));
	if (IsSystemRelation(relation))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("\"%s\" is a system catalog", name)));
	return relation;
}

/* The schema-qualified, quoted name of a relation. */
char *
simhash_quoted_name(Oid relation)
{
	const char *name = get_rel_name(relation);

	if (name == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relation)),
									  name);
}

/*
 * The generation expression of the column that the source names, if it is a
 * generated column; otherwise NULL.
 */
static Node *
generated_source(Relation relation, Node *source)
{
	ColumnRef  *reference = (ColumnRef *) source;
	AttrNumber	column;

	if (!IsA(source, ColumnRef) || list_length(reference->fields) != 1 ||
		!IsA(linitial(reference->fields), String))
		return NULL;
	column = get_attnum(RelationGetRelid(relation),
						strVal(linitial(reference->fields)));
	if (column <= 0 ||
		TupleDescAttr(RelationGetDescr(relation), column - 1)->attgenerated == '\0')
		return NULL;
	return build_column_default(relation, column);
}

/*
 * Make an expression of the table's columns of the source, as text that can
 * stand in a generated column; fails if it is not a bigint.  Say whether the
 * expression is not the caller's own but that of a generated column.
 */
static char *
deparse_source(Relation relation, const char *source, bool *generated)
{
	ErrorContextCallback callback;
	Node	   *raw;
	Node	   *expression;

	simhash_enter_source(&callback, source);
	raw = simhash_parse_source(source, true);
	expression = generated_source(relation, raw);
	*generated = expression != NULL;
	if (expression == NULL)
	{
		ParseState *pstate = make_parsestate(NULL);

		pstate->p_sourcetext = source;
		expression = simhash_transform_source(pstate, relation, NULL, raw,
											  EXPR_KIND_GENERATED_COLUMN);
		free_parsestate(pstate);
	}
	simhash_leave_source(&callback);
	simhash_check_source_type(expression, true, source);
	return deparse_expression(expression,
							  deparse_context_for(RelationGetRelationName(relation),
												  RelationGetRelid(relation)),
							  false, false);
}

/* The names in an array; returns how many there are, or -1 if one is NULL. */
static int
read_names(ArrayType *array, Datum **names)
{
	bool	   *nulls;
	int			n;

	deconstruct_array(array, NAMEOID, NAMEDATALEN, false, TYPALIGN_CHAR,
					  names, &nulls, &n);
	return array_contains_nulls(array) ? -1 : n;
}

/* The four column names of the array. */
static void
get_column_names(ArrayType *array, Oid table, char *names[SH_BLOCKS])
{
	Datum	   *values;
	int			n = read_names(array, &values);

	if (n != SH_BLOCKS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%d names are needed for the key columns", SH_BLOCKS),
				 errhint("Give an array of names, one for each block, such as '{k0,k1,k2,k3}'.")));
	for (int i = 0; i < n; i++)
	{
		names[i] = NameStr(*DatumGetName(values[i]));
		if (get_attnum(table, names[i]) != InvalidAttrNumber)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" already exists",
							names[i], get_rel_name(table)),
					 errhint("Give other names for the key columns, or remove those that are there with simhash_drop_keys.")));
	}
}

/*
 * Fail if rows of the table are in a foreign table, which would be asked for
 * columns that its server does not have.
 */
void
simhash_refuse_foreign_tables(Oid table, LOCKMODE lockmode, const char *columns,
							  const char *hint)
{
	List	   *tables = find_all_inheritors(table, lockmode, NULL);
	ListCell   *lc;

	foreach(lc, tables)
	{
		if (get_rel_relkind(lfirst_oid(lc)) == RELKIND_FOREIGN_TABLE)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("\"%s\" has partitions or children that are foreign tables",
							get_rel_name(table)),
					 errdetail("The %s would be missing on the server of \"%s\".",
							   columns, get_rel_name(lfirst_oid(lc))),
					 errhint("%s", hint)));
	}
}

/* Run a utility command with the rights of the current user. */
void
simhash_run_command(const char *command)
{
	if (SPI_execute(command, false, 0) != SPI_OK_UTILITY)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("command did not run: %s", command)));
}

/*
 * The columns that keys stand behind in their indexes, as CREATE INDEX has
 * them: each with a comma after it.
 */
static char *
get_prefix(ArrayType *array, Oid table)
{
	StringInfoData prefix;
	Datum	   *values;
	int			n = read_names(array, &values);

	initStringInfo(&prefix);
	if (n < 0 || n >= INDEX_MAX_KEYS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the groups of rows need up to %d names of columns, none of them NULL",
						INDEX_MAX_KEYS - 1),
				 errhint("Give an array of names, such as '{site,lang}'.")));
	for (int i = 0; i < n; i++)
	{
		char	   *name = NameStr(*DatumGetName(values[i]));

		if (get_attnum(table, name) <= 0)
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_COLUMN),
					 errmsg("column \"%s\" of relation \"%s\" does not exist",
							name, get_rel_name(table)),
					 errhint("The groups of rows are told apart by columns of the table.")));
		for (int j = 0; j < i; j++)
		{
			if (strcmp(name, NameStr(*DatumGetName(values[j]))) == 0)
				ereport(ERROR,
						(errcode(ERRCODE_DUPLICATE_COLUMN),
						 errmsg("column \"%s\" is named twice", name)));
		}
		appendStringInfo(&prefix, "%s, ", quote_identifier(name));
	}
	return prefix.data;
}

/*
 * Create the index of a key column.  An index on a partitioned table makes
 * those of its partitions; the children of an inheritance parent have to
 * get their own.
 */
static void
create_key_index(Oid table, const char *prefix, const char *column)
{
	List	   *tables = list_make1_oid(table);
	ListCell   *lc;

	if (get_rel_relkind(table) == RELKIND_RELATION)
		tables = find_all_inheritors(table, AccessExclusiveLock, NULL);
	foreach(lc, tables)
	{
		char		kind = get_rel_relkind(lfirst_oid(lc));

		if (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE)
			simhash_run_command(psprintf("CREATE INDEX ON %s (%s%s)",
								 simhash_quoted_name(lfirst_oid(lc)), prefix,
								 quote_identifier(column)));
	}
}

/*
 * Run a command that computes the expression of a generated column, which the
 * owner of the table has written: with his rights, not with the caller's.
 */
static void
run_as_owner(Oid table, const char *command)
{
	Relation	relation = relation_open(table, NoLock);
	int			level = NewGUCNestLevel();
	Oid			user;
	int			context;

	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(relation->rd_rel->relowner,
						   context | SECURITY_RESTRICTED_OPERATION);
	relation_close(relation, NoLock);
	simhash_run_command(command);
	AtEOXact_GUC(false, level);
	SetUserIdAndSecContext(user, context);
}

/*
 * simhash_add_keys(relation regclass, source text,
 *		columns name[] DEFAULT '{k0,k1,k2,k3}',
 *		within name[] DEFAULT '{}') -> void
 *
 * Add the four key columns to a table, generated from the source, and an
 * index on each, behind the columns that searches are within.  The source is a
 * bigint column or an expression of the table's columns such as simhash(body);
 * a column that is itself generated is replaced by its generation expression.
 * The table is rewritten, under an exclusive lock.
 *
 * Errors: wrong_object_type for what is not a table, insufficient_privilege
 * without ownership, duplicate_column when a column is there already or named
 * twice, undefined_column when one to be within is not there,
 * syntax_error, undefined_column, datatype_mismatch or
 * invalid_object_definition for a source that will not do,
 * feature_not_supported for a table with foreign partitions.
 */
Datum
simhash_add_keys(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	Oid			self = fcinfo->flinfo->fn_oid;
	Relation	relation = simhash_open_table(oid, AccessExclusiveLock,
											  needs_table);
	bool		generated;
	char	   *source;
	char	   *function;
	char	   *prefix;
	char	   *names[SH_BLOCKS];
	StringInfoData command;

	simhash_refuse_foreign_tables(oid, AccessExclusiveLock, "key columns",
								  "A hamming index needs no columns, and serves those that are tables.");
	get_column_names(PG_GETARG_ARRAYTYPE_P(2), oid, names);
	prefix = get_prefix(PG_GETARG_ARRAYTYPE_P(3), oid);
	source = deparse_source(relation, text_to_cstring(PG_GETARG_TEXT_PP(1)),
							&generated);
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
						 function, source, i);
	SPI_connect();
	if (generated)
		run_as_owner(oid, command.data);
	else
		simhash_run_command(command.data);
	for (int i = 0; i < SH_BLOCKS; i++)
		create_key_index(oid, prefix, names[i]);
	SPI_finish();
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
											  needs_table);
	TupleDesc	desc = RelationGetDescr(relation);
	StringInfoData command;
	int			found = 0;

	initStringInfo(&command);
	appendStringInfo(&command, "ALTER TABLE %s", simhash_quoted_name(oid));
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute column = TupleDescAttr(desc, i);
		Node	   *fingerprint;
		int			block;

		if (column->attisdropped || column->attgenerated == '\0' ||
			!simhash_is_key(build_column_default(relation, column->attnum),
							&fingerprint, &block))
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
						get_rel_name(oid))));
	SPI_connect();
	simhash_run_command(command.data);
	SPI_finish();
	PG_RETURN_VOID();
}
