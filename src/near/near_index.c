/*-------------------------------------------------------------------------
 *
 * near_index.c
 *		By which index a table is searched: a hamming index if it has one,
 *		otherwise the btree indexes of its four key columns; and what to say to
 *		those who have neither.
 *
 * An index serves if it has all rows, and no other columns than the
 * fingerprint, or its keys, and columns of the group, compared as the guard
 * does.  Expressions of indexes are compared as they are stored, and never
 * evaluated; near_space.c says why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "catalog/pg_index.h"
#include "catalog/pg_opfamily.h"
#include "commands/defrem.h"

#include "index/hamming.h"
#include "keys/keys.h"
#include "relation.h"

/*
 * Which of these columns of the group a column of an index, or of a partition
 * key, is; -1 for none.  It must be compared there, by the operator of that
 * strategy, as the guard does.
 */
int
simhash_near_in_group(const NearSpace *space, const AttrNumber *group,
					  AttrNumber column, Oid collation, Oid family, Oid type,
					  StrategyNumber equal)
{
	for (int i = 0; i < space->terms.ngroup; i++)
	{
		if (group[i] == column &&
			space->group[i].equality.collation == collation &&
			space->group[i].operator ==
			get_opfamily_member(family, type, type, equal))
			return i;
	}
	return -1;
}

/* See whether a column of an index is a key of a column; which block's. */
static bool
is_index_of_key(Relation relation, Relation index, int i, AttrNumber column,
				int *block)
{
	AttrNumber	number = index->rd_index->indkey.values[i];
	Node	   *expression;
	Node	   *operand;

	if (index->rd_opfamily[i] != INTEGER_BTREE_FAM_OID || number < 0)
		return false;
	expression = number == 0 ? hamming_column_expression(index, i) :
		simhash_near_expression(relation, number);
	if (!simhash_is_key(expression, &operand, block))
		return false;
	if (IsA(operand, Var) && ((Var *) operand)->varattno == column)
		return true;
	return equal(operand, simhash_near_expression(relation, column));
}

/*
 * Note an index whose first columns are what is sought, by that strategy and
 * type, and columns of the group.  The more of these there are the better.
 */
static void
note_index(const NearSpace *space, const NearTable *table,
		   Relation index, int ncolumns, int sought, StrategyNumber strategy,
		   Oid type, NearIndex *best)
{
	StrategyNumber equal = strategy == SIMHASH_BALL_STRATEGY ?
	SIMHASH_EQUAL_STRATEGY : BTEqualStrategyNumber;
	NearIndex	found = {RelationGetRelid(index), ncolumns, NULL, NULL};

	if (ncolumns <= best->ncolumns)
		return;
	found.group = palloc(ncolumns * sizeof *found.group);
	found.conditions = palloc(ncolumns * sizeof *found.conditions);
	for (int i = 0; i < ncolumns; i++)
	{
		StrategyNumber wanted;
		Oid			argument;
		Oid			operator;

		found.group[i] = i == sought ? -1 :
			simhash_near_in_group(space, table->terms.group,
								  index->rd_index->indkey.values[i],
								  index->rd_indcollation[i],
								  index->rd_opfamily[i],
								  index->rd_opcintype[i], equal);
		if (i != sought && found.group[i] < 0)
			return;
		wanted = i == sought ? strategy : equal;
		argument = i == sought ? type : index->rd_opcintype[i];
		operator = get_opfamily_member(index->rd_opfamily[i],
									   index->rd_opcintype[i], argument, wanted);
		ScanKeyEntryInitialize(&found.conditions[i], 0, i + 1, wanted, argument,
							   index->rd_indcollation[i],
							   get_opcode(operator), (Datum) 0);
	}
	*best = found;
}

/*
 * Note an index of keys: one block's key, behind nothing or columns of the
 * group.  Adds to *keys the block of any key in the index: a guard of other
 * groups may search by that.
 */
static void
note_key_index(const NearSpace *space, Relation relation,
			   Relation index, NearTable *table, int *keys)
{
	for (int i = 0; i < index->rd_index->indnkeyatts; i++)
	{
		int			block;

		if (is_index_of_key(relation, index, i, table->terms.column, &block))
		{
			*keys |= 1 << block;
			note_index(space, table, index, i + 1, i,
					   BTEqualStrategyNumber, INT2OID, &table->keys[block]);
			return;
		}
	}
}

/*
 * Write a column of the group as CREATE INDEX wants it; nothing if a hamming
 * index cannot have columns of its type.
 */
static void
write_index_column(const NearSpace *space, const NearColumn *column,
				   StringInfo columns)
{
	Oid			type = getBaseType(get_atttype(space->root,
											   column->column));
	Oid			class = GetDefaultOpClass(type,
										  get_index_am_oid("hamming", false));
	Oid			input;

	if (!OidIsValid(class))
		return;
	input = get_opclass_input_type(class);
	if (get_opfamily_member(get_opclass_family(class), input, input,
							SIMHASH_EQUAL_STRATEGY) != column->operator)
		return;
	appendStringInfoString(columns,
						   quote_identifier(get_attname(space->root,
														column->column,
														false)));

	/* By default a bigint is a fingerprint. */
	if (type == INT8OID)
	{
		Oid			ball = get_typ_typrelid(space->ball_type);

		appendStringInfo(columns, " %s",
						 quote_qualified_identifier(get_namespace_name(get_rel_namespace(ball)),
													"int8_equal_ops"));
	}
	appendStringInfoString(columns, ", ");
}

/*
 * The columns of a hamming index for the rows of a group, as CREATE INDEX has
 * them.
 */
char	   *
simhash_near_index_columns(const NearSpace *space)
{
	StringInfoData columns;

	initStringInfo(&columns);
	for (int i = 0; i < space->terms.ngroup; i++)
		write_index_column(space, &space->group[i], &columns);
	appendStringInfoString(&columns,
						   quote_identifier(get_attname(space->root,
														space->terms.column,
														false)));
	return columns.data;
}

/*
 * Say what index to make, or to make again if one could not be built, and that one
 * which is there is partial.  Writers go on meanwhile, where PostgreSQL lets them.
 */
static void
complain_of_no_index(const NearSpace *space, Relation relation,
					 AttrNumber column, Oid invalid, Oid partial)
{
	const char *name = get_attname(RelationGetRelid(relation), column, false);
	Oid			root = space->root;
	bool		alone = OidIsValid(invalid) ?
	OidIsValid(get_index_constraint(invalid)) :
	get_rel_relkind(root) == RELKIND_PARTITIONED_TABLE;
	const char *concurrently = alone ? "" : "CONCURRENTLY ";
	char	   *named = simhash_quoted_name(OidIsValid(invalid) ? invalid : root);
	char	   *columns = simhash_near_index_columns(space);

	if (OidIsValid(invalid))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" on column \"%s\" of table \"%s\" is invalid",
						get_rel_name(invalid), name,
						RelationGetRelationName(relation)),
				 errhint("Run: REINDEX INDEX %s%s;", concurrently, named)));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("there is no hamming index on column \"%s\" of table \"%s\"",
					name, RelationGetRelationName(relation)),
			 OidIsValid(partial) ?
			 errdetail("Index \"%s\" is partial: a guard compares with all rows.",
					   get_rel_name(partial)) : 0,
			 errhint("Run: CREATE INDEX %sON %s USING hamming (%s);",
					 concurrently, named, columns)));
}

/*
 * Find the index to search a table by: a hamming index if there is one,
 * otherwise those of the keys.
 */
void
simhash_near_find_indexes(const NearSpace *space, Relation relation,
						  NearTable *table)
{
	List	   *indexes = RelationGetIndexList(relation);
	ListCell   *lc;
	int			keys = 0;
	int			hamming = 0;
	Oid			invalid = InvalidOid;
	Oid			partial = InvalidOid;

	foreach(lc, indexes)
	{
		Relation	index = index_open(lfirst_oid(lc), AccessShareLock);
		bool		all_rows = heap_attisnull(index->rd_indextuple,
											  Anum_pg_index_indpred, NULL);
		bool		usable = all_rows && index->rd_index->indisvalid;

		if (simhash_c_function(index->rd_amhandler) == hamming_handler)
		{
			int			column = hamming_fingerprint_column(index);

			/* An index that could not be built may have no such column. */
			if (column >= 0 &&
				index->rd_index->indkey.values[column] == table->terms.column)
			{
				hamming++;
				if (usable)
					note_index(space, table, index,
							   index->rd_index->indnkeyatts, column,
							   SIMHASH_BALL_STRATEGY, space->ball_type,
							   &table->hamming);
				else
					*(all_rows ? &invalid : &partial) = RelationGetRelid(index);
			}
		}
		else if (usable && index->rd_rel->relam == BTREE_AM_OID)
			note_key_index(space, relation, index, table, &keys);
		index_close(index, NoLock);
	}
	list_free(indexes);
	for (int block = 0; block < SH_BLOCKS; block++)
	{
		if (!OidIsValid(table->hamming.index) &&
			!OidIsValid(table->keys[block].index))
			complain_of_no_index(space, relation, table->terms.column, invalid,
								 partial);
	}

	/*
	 * While an index comes or goes, as REINDEX CONCURRENTLY has it, other
	 * sessions may search by another than ours.
	 */
	table->only_way = OidIsValid(table->hamming.index) && hamming == 1 &&
		keys != (1 << SH_BLOCKS) - 1;
}
