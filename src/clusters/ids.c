/*-------------------------------------------------------------------------
 *
 * ids.c
 *		The ids of clusters, which an identity column of the table of the clusters
 *		gives, and none of them twice.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

#include "catalog/pg_sequence.h"
#include "commands/sequence.h"
#include "utils/syscache.h"

/* The sequence of the ids. */
Oid
simhash_clusters_sequence(const ClusterTerms *terms)
{
	AttrNumber	column = terms->columns[CLUSTER_ID];
	Oid			sequence = InvalidOid;

	if (get_atttype(terms->clusters, column) == INT8OID)
		sequence = simhash_identity_sequence(terms->clusters, column);
	if (!OidIsValid(sequence))
		simhash_clusters_complain(terms->clusters);
	return sequence;
}

/* The last id that was given, or 0. */
int64
simhash_clusters_last(const ClusterTerms *terms)
{
	LOCAL_FCINFO(fcinfo, 1);
	SimhashRole before;
	Datum		last;

	InitFunctionCallInfoData(*fcinfo, NULL, 1, InvalidOid, NULL, NULL);
	fcinfo->args[0].value = ObjectIdGetDatum(simhash_clusters_sequence(terms));
	fcinfo->args[0].isnull = false;
	before = simhash_become(simhash_class(terms->clusters).relowner,
							SECURITY_LOCAL_USERID_CHANGE | SECURITY_NOFORCE_RLS);
	last = pg_sequence_last_value(fcinfo);
	simhash_become_again(&before);
	return fcinfo->isnull ? 0 : DatumGetInt64(last);
}

/* Fail if the owner has had the sequence give numbers that it has given. */
static void
check_cycle(const ClusterTerms *terms)
{
	Oid			sequence = simhash_clusters_sequence(terms);
	char	   *name = simhash_quoted_name(sequence);
	HeapTuple	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(sequence));
	bool		cycles = HeapTupleIsValid(tuple) &&
	(((Form_pg_sequence) GETSTRUCT(tuple))->seqcycle ||
	 ((Form_pg_sequence) GETSTRUCT(tuple))->seqincrement < 1);

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	if (cycles)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the sequence of \"%s\" may give the same number twice",
						get_rel_name(terms->clusters)),
				 errhint("ALTER SEQUENCE %s INCREMENT BY 1 NO CYCLE.", name)));
}

/* What a session remembers of the greatest id of a table, for a while. */
typedef struct GreatestId
{
	Oid			clusters;		/* the table */
	int64		id;
	int64		last;			/* the greatest that the sequence was seen at */
	TimestampTz until;
} GreatestId;

/* Of how many tables. */
#define GREATEST_MAX	32

/* What the session remembers, of one table among those of that remainder. */
static GreatestId known[GREATEST_MAX];

/*
 * The greatest id that is there.  Unless the caller needs it now, one that was found
 * serves a hundred times as long as finding it took, so that a session spends no more
 * than a hundredth of its time on this.  To find it waits for the locks of partitions:
 * call this before the locks of a row are taken.
 */
int64
simhash_clusters_see_greatest(const ClusterTerms *terms, bool now)
{
	GreatestId *greatest = &known[terms->clusters % GREATEST_MAX];
	TimestampTz start = GetCurrentTimestamp();
	Relation	clusters;

	if (!now && greatest->clusters == terms->clusters && start < greatest->until)
		return greatest->id;

	/* Of a table that is dropped in mid-statement the search complains. */
	if (!now && get_rel_relkind(terms->clusters) == '\0')
		return 0;
	greatest->clusters = InvalidOid;
	check_cycle(terms);
	clusters = simhash_clusters_open(terms);
	greatest->id = simhash_clusters_greatest(terms, clusters);
	greatest->last = simhash_clusters_last(terms);
	table_close(clusters, NoLock);
	greatest->clusters = terms->clusters;
	greatest->until = GetCurrentTimestamp();
	greatest->until += (greatest->until - start) * 100;
	return greatest->id;
}

/*
 * Fail if there are ids that the sequence is yet to give: it is left behind where
 * rows were written without the triggers, by logical replication or a restore.
 */
void
simhash_clusters_check_sequence(const ClusterTerms *terms)
{
	int64		greatest = simhash_clusters_see_greatest(terms, true);
	int64		last = simhash_clusters_last(terms);

	if (greatest > last)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the ids of the clusters of \"%s\" would be given twice",
						get_rel_name(terms->root)),
				 errdetail("There is a cluster " INT64_FORMAT ", but the sequence of \"%s\" is at " INT64_FORMAT ".",
						   greatest, get_rel_name(terms->clusters), last),
				 errhint("CALL simhash_mend_clusters(...) moves the sequence beyond it.")));
}

/*
 * A number that no other row of the table has: the id of a new cluster, or that of a
 * copy, which is negative.  The owner may have altered the sequence, or set it back
 * behind what it has given since the greatest id was looked up.
 */
int64
simhash_clusters_new(const ClusterTerms *terms, bool copy)
{
	GreatestId *greatest = &known[terms->clusters % GREATEST_MAX];
	int64		least = copy ? 0 : simhash_clusters_see_greatest(terms, false);
	int64		last = simhash_clusters_last(terms);
	int64		number;

	if (!copy && last < Max(least, greatest->last))
		simhash_clusters_check_sequence(terms);
	number = nextval_internal(simhash_clusters_sequence(terms), false);
	if (number < 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("the sequence of \"%s\" gave " INT64_FORMAT ", not a positive number",
						get_rel_name(terms->clusters), number)));
	if (greatest->clusters == terms->clusters)
		greatest->last = Max(last, number);
	return copy ? -number : number;
}
