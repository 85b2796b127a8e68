/*-------------------------------------------------------------------------
 *
 * near_shard.c
 *		Which shards of a distributed table simhash_guard() may guard.
 *
 * Citus makes a trigger of a distributed table one of each of its shards, and
 * there a guard sees no more than the rows of that shard: of two
 * near-duplicates in different shards both would stay, and nobody would
 * notice.  So a shard is guarded only if no near-duplicate of its rows can be
 * elsewhere.  That holds when the table has one shard, or when the option
 * within names the column by which it is distributed, as all rows of a group
 * are in one shard then.
 *
 * What is distributed, and how, is in tables that Citus has in pg_catalog and
 * keeps on all its servers.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "executor/spi.h"

/*
 * If a relation is one of several shards of a distributed table, the column by
 * which the table is distributed; otherwise no row.
 */
static const char shard_query[] =
"SELECT pg_catalog.column_to_column_name(p.logicalrelid, p.partkey)"
" FROM pg_catalog.pg_dist_shard AS s"
" JOIN pg_catalog.pg_dist_partition AS p"
" ON p.logicalrelid OPERATOR(pg_catalog.=) s.logicalrelid"
" WHERE p.partkey IS NOT NULL"
" AND s.shardid OPERATOR(pg_catalog.=) pg_catalog.substring($1, '_([0-9]{1,18})$')::pg_catalog.int8"
" AND pg_catalog.relation_is_a_known_shard($2)"
" AND EXISTS (SELECT FROM pg_catalog.pg_dist_shard AS o"
" WHERE o.logicalrelid OPERATOR(pg_catalog.=) s.logicalrelid"
" AND o.shardid OPERATOR(pg_catalog.<>) s.shardid)";

/* That column, in memory of the current context; NULL if there is none. */
static char *
distribution_column(Relation relation)
{
	static SPIPlanPtr plan = NULL;
	MemoryContext context = CurrentMemoryContext;
	Oid			types[] = {TEXTOID, REGCLASSOID};
	Datum		values[] = {
		CStringGetTextDatum(RelationGetRelationName(relation)),
		ObjectIdGetDatum(RelationGetRelid(relation))
	};
	char	   *column = NULL;

	SPI_connect();
	if (plan == NULL)
	{
		plan = SPI_prepare(shard_query, lengthof(types), types);
		SPI_keepplan(plan);
	}
	if (SPI_execute_plan(plan, values, NULL, true, 1) == SPI_OK_SELECT &&
		SPI_processed == 1)
	{
		column = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
		if (column != NULL)
			column = MemoryContextStrdup(context, column);
	}
	SPI_finish();
	return column;
}

/* Fail if near-duplicates of the relation's rows can be in other shards. */
void
simhash_near_check_shard(const char *name, Relation relation,
						 const NearTerms *terms)
{
	char	   *column;

	if (!OidIsValid(get_relname_relid("pg_dist_shard", PG_CATALOG_NAMESPACE)))
		return;
	column = distribution_column(relation);
	if (column == NULL)
		return;
	for (int i = 0; i < terms->ngroup; i++)
	{
		if (strcmp(NameStr(simhash_near_attribute(relation, terms->group[i])->attname), column) == 0)
			return;
	}
	ereport(ERROR,
			(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
			 errmsg("trigger \"%s\" would see only the rows of shard \"%s\"",
					name, RelationGetRelationName(relation)),
			 errdetail("The table is distributed by column \"%s\": near-duplicates may be in other shards.",
					   column),
			 errhint("Guard each group of rows by itself, with the option \"within=%s\".",
					 column)));
}
