/*-------------------------------------------------------------------------
 *
 * xact.c
 *		What a transaction remembers of clusters until it ends: which of its rows may
 *		connect some, and which representatives it has added.
 *
 * connected.  What a row connects is looked up before it is in; merged it is after
 * that (connected.c).  A note of it says which rows have to be looked up again.
 *
 * star.  A representative, or a copy of one, is added before its row is in, and the
 * row may not get in: ON CONFLICT may leave it out, or another trigger; or the
 * transaction deletes it again.  What has become of it is known in the end, and asked
 * of the index on the column of clusters, in all tables where rows of ours have
 * joined.  If no row is in the cluster, the transaction takes back what it has added.
 * If there are rows, but none has the document that was taken from the first, that
 * goes.  Where there is no index all stays, until simhash_trim_clusters() finds it.
 *
 * A row that has joined meanwhile, in another transaction, has a copy (star.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/cluster.h"

#include "common/hashfn.h"
#include "utils/memutils.h"

/*
 * Limits of the work done.
 *
 * NOTES_MAX	rows that may connect clusters that are noted of a transaction; with
 *				more, all rows are looked up again.  And representatives that are
 *				noted; others stay.
 */
#define NOTES_MAX	65536

/* What is remembered of a cluster: it is known by its table and id. */
typedef struct NoteKey
{
	int64		cluster;
	uint64		fingerprint;	/* a hash of that of the row that connects, or
								 * 0 */
	Oid			clusters;		/* the table of the clusters */
	uint32		unused;			/* 0 */
} NoteKey;

/* A representative that the transaction has added, or a copy of one. */
typedef struct Start
{
	NoteKey		key;
	int64		number;			/* the id, or that of a copy */
	Oid			user;			/* who added it */
	List	   *tables;			/* where rows of ours may be in it */
} Start;

/* What the transaction remembers; NULL if nothing. */
static HTAB *merges = NULL;		/* of NoteKey */
static HTAB *starts = NULL;		/* of Start */

static void end_xact(XactEvent event, void *arg);

/* Enter a key, unless so many are there; NULL then. */
static void *
enter_note(HTAB **notes, const NoteKey *key, Size size)
{
	static bool watching = false;

	if (!watching)
		RegisterXactCallback(end_xact, NULL);
	watching = true;
	if (*notes == NULL)
		*notes = simhash_make_hash("simhash clusters", 64, sizeof *key, size,
								   TopTransactionContext);
	return hash_get_num_entries(*notes) >= NOTES_MAX ? NULL :
		hash_search(*notes, key, HASH_ENTER, NULL);
}

/* The key of a row that connects clusters. */
static NoteKey
merge_key(Oid clusters, int64 cluster, const GuardFingerprint *fingerprint)
{
	NoteKey		key = {cluster, 0, clusters, 0};

	for (int i = 0; i < GUARD_WORDS(fingerprint->width); i++)
		key.fingerprint = hash_combine64(key.fingerprint, fingerprint->words[i]);
	return key;
}

/* Note that a row connects clusters. */
void
simhash_clusters_note_merge(Oid clusters, int64 cluster,
							const GuardFingerprint *fingerprint)
{
	NoteKey		key = merge_key(clusters, cluster, fingerprint);

	(void) enter_note(&merges, &key, sizeof key);
}

/* May any row of the transaction connect clusters? */
bool
simhash_clusters_any_merge(void)
{
	return merges != NULL;
}

/* May a row connect clusters? */
bool
simhash_clusters_is_merge(Oid clusters, int64 cluster,
						  const GuardFingerprint *fingerprint)
{
	NoteKey		key = merge_key(clusters, cluster, fingerprint);

	return hash_get_num_entries(merges) >= NOTES_MAX ||
		hash_search(merges, &key, HASH_FIND, NULL) != NULL;
}

/*
 * The row of a trigger joins a cluster; or it has added what represents one, by that
 * number.
 */
void
simhash_clusters_note_row(const ClusterTrigger *its, int64 cluster, int64 number)
{
	NoteKey		key = {cluster, 0, its->terms->clusters, 0};
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	Start	   *start = NULL;

	if (number != 0)
		start = enter_note(&starts, &key, sizeof *start);
	else if (starts != NULL)
		start = hash_search(starts, &key, HASH_FIND, NULL);
	if (start != NULL && number != 0)
	{
		start->number = number;
		start->user = GetUserId();
		start->tables = list_make1_oid(its->guard.table);
	}
	else if (start != NULL)
		start->tables = list_append_unique_oid(start->tables, its->guard.table);
	MemoryContextSwitchTo(old);
}

/* Is a row in a cluster, and one of them with that document? */
static bool
find_rows(const ClusterTerms *terms, const Start *start, text *document, bool *any)
{
	bool		found = false;
	ListCell   *lc;

	*any = false;
	foreach(lc, start->tables)
		found |= simhash_clusters_find_row(terms, lfirst_oid(lc), start->key.cluster,
										   document, any);
	return found;
}

/*
 * Take back a representative, or its document, if no row needs it.  It may be gone: a
 * subtransaction that added it may have been rolled back.
 */
static void
take_back(const ClusterTerms *terms, const Start *start)
{
	Relation	clusters;
	Relation	key;
	TupleTableSlot *slot;
	GuardTerms	searched;
	GuardDocument kept;
	Oid			user;
	int			context;
	int			level = NewGUCNestLevel();

	/*
	 * Whoever commits may not be who has inserted: the owner's expressions
	 * are evaluated as by that role, whose session may have had functions
	 * remember types of its own, whatever the path is now.
	 */
	RestrictSearchPath();
	GetUserIdAndSecContext(&user, &context);
	SetUserIdAndSecContext(start->user, context | SECURITY_LOCAL_USERID_CHANGE);
	LockRelationOid(terms->clusters, RowExclusiveLock);
	clusters = simhash_clusters_open(terms);
	searched = simhash_clusters_searched(terms, clusters);
	kept = simhash_guard_bind_document(clusters, &searched);
	slot = table_slot_create(clusters, NULL);
	key = simhash_clusters_open_key(terms, clusters);
	if (simhash_clusters_find_number(clusters, key, SnapshotSelf, start->number,
									 slot) &&
		simhash_clusters_of(terms, slot) == start->key.cluster)
	{
		bool		any;
		bool		found;

		found = find_rows(terms, start, simhash_guard_get_document(&kept, slot), &any);
		if (!any)
			simhash_clusters_delete(clusters, &slot->tts_tid);
		else if (!found)
			simhash_clusters_take_document(terms, clusters, slot);
	}
	index_close(key, AccessShareLock);
	ExecDropSingleTupleTableSlot(slot);
	table_close(clusters, AccessShareLock);
	SetUserIdAndSecContext(user, context);
	AtEOXact_GUC(false, level);
}

/*
 * The terms of a table of clusters, which may have been dropped; read once, as starts
 * of several tables come in any order.
 */
static ClusterTerms *
read_once(List **all, Oid clusters)
{
	ClusterTerms *terms = NULL;
	ListCell   *lc;

	foreach(lc, *all)
	{
		if (((ClusterTerms *) lfirst(lc))->clusters == clusters)
			return lfirst(lc);
	}
	if (get_rel_relkind(clusters) == RELKIND_RELATION)
		terms = simhash_clusters_read(clusters);
	if (terms != NULL)
		*all = lappend(*all, terms);
	return terms;
}

/* The transaction is about to be committed. */
static void
take_back_all(void)
{
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext scratch = AllocSetContextCreate(outer, "simhash clusters",
												  ALLOCSET_DEFAULT_SIZES);
	List	   *all = NIL;
	HASH_SEQ_STATUS status;
	Start	   *start;

	/* What the last command has added is to be seen. */
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	hash_seq_init(&status, starts);
	while ((start = hash_seq_search(&status)) != NULL)
	{
		ClusterTerms *terms = read_once(&all, start->key.clusters);
		bool		any;

		CHECK_FOR_INTERRUPTS();

		/* Most have rows, and no document. */
		MemoryContextSwitchTo(scratch);
		if (terms != NULL &&
			(terms->document != 0 || !find_rows(terms, start, NULL, &any)))
			take_back(terms, start);
		MemoryContextSwitchTo(outer);
		MemoryContextReset(scratch);
	}
	MemoryContextDelete(scratch);
	PopActiveSnapshot();
}

/* A transaction ends, which frees what is remembered of it. */
static void
end_xact(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE)
	{
		if (starts != NULL)
			take_back_all();
	}
	else if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT ||
			 event == XACT_EVENT_PREPARE)
		starts = merges = NULL;
}
