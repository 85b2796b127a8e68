/*-------------------------------------------------------------------------
 *
 * starts.c
 *		Representatives that a transaction has added, and takes back if no row is in
 *		their cluster when it ends.
 *
 * A representative, or a copy of one, is added before its row is in, and the row may
 * not get in: ON CONFLICT may leave it out, or another trigger; or the transaction
 * deletes it again.  What has become of it is known in the end, and asked of the index
 * on the column of clusters, in all tables where rows of ours have joined.  If there
 * are rows, but none has the document that was taken from the first, that goes.
 * Where there is no index all stays, until simhash_trim_clusters() finds it.
 *
 * Who has joined meanwhile, in another transaction, has made a copy (trigger.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/starts.h"

#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "storage/lmgr.h"
#include "utils/hsearch.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "clusters/members.h"
#include "clusters/table.h"
#include "clusters/texts.h"

/*
 * Limits of the work done.
 *
 * STARTS_MAX	of them that are remembered of a transaction; others stay.
 */
#define STARTS_MAX	65536

/* A cluster is known by its table and id. */
typedef struct StartKey
{
	int64		cluster;
	Oid			clusters;		/* the table of the clusters */
	uint32		unused;			/* 0 */
} StartKey;

/* What represents a cluster, added by the transaction. */
typedef struct Start
{
	StartKey	key;
	int64		number;			/* the id, or that of a copy */
	List	   *tables;			/* of StartTable: where rows of ours may be in
								 * it */
} Start;

/* A table, and its columns. */
typedef struct StartTable
{
	Oid			table;
	AttrNumber	cluster;
	AttrNumber	document;		/* that is compared, or 0 */
} StartTable;

/* Those of the transaction; NULL if there are none. */
static HTAB *starts = NULL;

/* A row of a table may be in a cluster. */
static void
add_table(Start *start, const Guard *guard, AttrNumber column)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	StartTable *table = palloc(sizeof *table);

	table->table = guard->table;
	table->cluster = column;
	table->document = guard->terms.document;
	start->tables = lappend(start->tables, table);
	MemoryContextSwitchTo(old);
}

/*
 * A row has added what represents a cluster, by that number; the column of its table
 * is that of the cluster.
 */
void
simhash_clusters_note_start(const ClusterTerms *terms, int64 cluster,
							int64 number, const Guard *guard,
							AttrNumber column)
{
	StartKey	key = {cluster, terms->clusters, 0};
	Start	   *start;

	if (starts == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof key,
			.entrysize = sizeof *start,
			.hcxt = TopTransactionContext
		};

		starts = hash_create("simhash starts", 64, &control,
							 HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (hash_get_num_entries(starts) >= STARTS_MAX)
		return;
	start = hash_search(starts, &key, HASH_ENTER, NULL);
	start->number = number;
	start->tables = NIL;
	add_table(start, guard, column);
}

/* A row joins a cluster. */
void
simhash_clusters_note_join(const ClusterTerms *terms, int64 cluster,
						   const Guard *guard, AttrNumber column)
{
	StartKey	key = {cluster, terms->clusters, 0};
	Start	   *start = starts == NULL ? NULL :
	hash_search(starts, &key, HASH_FIND, NULL);
	ListCell   *lc;

	if (start == NULL)
		return;
	foreach(lc, start->tables)
	{
		if (((StartTable *) lfirst(lc))->table == guard->table)
			return;
	}
	add_table(start, guard, column);
}

/*
 * Is a row in a cluster, and one of them with that document?  Nothing is known of a
 * table that is gone, or has no index.
 */
static bool
find_rows(const Start *start, text *document, bool *any)
{
	bool		found = false;
	ListCell   *lc;

	*any = false;
	foreach(lc, start->tables)
	{
		const StartTable *table = lfirst(lc);
		Relation	relation = try_table_open(table->table, AccessShareLock);

		if (relation == NULL)
			found = *any = true;
		else
		{
			found |= simhash_clusters_find_row(relation, table->cluster,
											   start->key.cluster, document,
											   table->document, any);
			table_close(relation, AccessShareLock);
		}
	}
	return found;
}

/*
 * Take back what represents a cluster, or its document, if it is there: a
 * subtransaction that added it may have been rolled back, or the table dropped.
 */
static void
take_back(const Start *start)
{
	ClusterTerms *terms =
	get_rel_relkind(start->key.clusters) == RELKIND_RELATION ?
	simhash_clusters_read(start->key.clusters) : NULL;
	Relation	clusters;
	TupleTableSlot *slot;

	if (terms == NULL)
		return;
	LockRelationOid(terms->clusters, RowExclusiveLock);
	clusters = simhash_clusters_open(terms);
	(void) simhash_clusters_searched(terms, clusters);
	slot = table_slot_create(clusters, NULL);
	if (simhash_clusters_find_number(terms, clusters, start->number, slot) &&
		simhash_clusters_of(terms, slot) == start->key.cluster)
	{
		bool		none = true;
		bool		any;
		Datum		document = terms->document == 0 ? (Datum) 0 :
		slot_getattr(slot, terms->document, &none);

		if (!find_rows(start, none ? NULL : (text *) DatumGetPointer(document), &any))
		{
			if (!any)
				simhash_clusters_delete(clusters, &slot->tts_tid);
			else
				simhash_clusters_take_document(terms, clusters, slot);
		}
	}
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, AccessShareLock);
}

/* The transaction is about to be committed. */
static void
take_back_all(void)
{
	HASH_SEQ_STATUS status;
	Start	   *start;

/* What the last command has added is to be seen. */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	hash_seq_init(&status, starts);
	while ((start = hash_seq_search(&status)) != NULL)
	{
		bool		any;

		/* Most have rows, and no document. */
		if (((StartTable *) linitial(start->tables))->document != 0 ||
			!find_rows(start, NULL, &any))
			take_back(start);
	}
	PopActiveSnapshot();
}

/* A transaction ends, which frees what is remembered of it. */
static void
end_xact(XactEvent event, void *arg)
{
	(void) arg;
	if (starts != NULL &&
		(event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE))
		take_back_all();
	else if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT ||
			 event == XACT_EVENT_PREPARE)
		starts = NULL;
}

/* Learn of the ends of transactions, from now on. */
void
simhash_clusters_starts_init(void)
{
	RegisterXactCallback(end_xact, NULL);
}
