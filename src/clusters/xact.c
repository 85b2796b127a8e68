/*-------------------------------------------------------------------------
 *
 * xact.c
 *		What a transaction remembers of clusters: which of its rows may connect
 *		some, which representatives its statements have added, and which command of
 *		ours is writing.
 *
 * connected.  What a row connects is looked up before it is in; merged it is after
 * that (connected.c).  A note of the row says that it has to be looked up again.
 *
 * star.  A representative, or a copy of one, is added before its row is in.  A note of
 * it says which tables have got rows of its cluster from then on.  It is read, and
 * forgotten, at the end of the statement (star.c).
 *
 * The end of the transaction only forgets the notes: what is to be done about them is
 * done by triggers, while PostgreSQL runs triggers.
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
 *				more, all rows are looked up again.  Representatives have no limit: for
 *				each the server remembers a trigger as well, until that reads the note.
 */
#define NOTES_MAX	65536

/* A note is known by a cluster: its table and id. */
typedef struct NoteKey
{
	int64		cluster;
	uint64		fingerprint;	/* a hash of that of the row that connects, or
								 * 0 */
	Oid			clusters;		/* the table of the clusters */
	uint32		unused;			/* 0 */
} NoteKey;

/* A representative that a statement has added, or a copy of one. */
typedef struct Start
{
	NoteKey		key;
	int64		number;			/* the id, or that of a copy */
	List	   *tables;			/* where rows of ours may be in the cluster */
} Start;

/* What the transaction remembers; NULL if nothing. */
static HTAB *merges = NULL;		/* of NoteKey */
static HTAB *starts = NULL;		/* of Start */

static ClusterWriter writer;

/* How many triggers are at work, one inside the other. */
static int
trigger_depth(void)
{
	return DatumGetInt32(OidFunctionCall0(F_PG_TRIGGER_DEPTH));
}

/* A command of ours begins to write to a table; returns the one that did before. */
ClusterWriter
simhash_clusters_begin_writing(Oid table, ClusterWriting how)
{
	ClusterWriter before = writer;

	writer = (ClusterWriter)
	{
		table, how, trigger_depth() + 1
	};
	return before;
}

/* That command has ended. */
void
simhash_clusters_end_writing(ClusterWriter before)
{
	writer = before;
}

/* Is it writing in that way, and not one of a trigger that fires for it? */
bool
simhash_clusters_are_written(Oid table, ClusterWriting how)
{
	return writer.table == table && writer.how == how &&
		writer.depth == trigger_depth();
}

/* A transaction has ended, which frees its notes. */
static void
end_xact(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT ||
		event == XACT_EVENT_PREPARE)
		starts = merges = NULL;
}

/* Enter a key. */
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
	return hash_search(*notes, key, HASH_ENTER, NULL);
}

/* The key of a row that connects clusters. */
static NoteKey
merge_key(Oid clusters, int64 cluster, const NearFingerprint *fingerprint)
{
	NoteKey		key = {cluster, 0, clusters, 0};

	for (int i = 0; i < NEAR_WORDS(fingerprint->width); i++)
		key.fingerprint = hash_combine64(key.fingerprint, fingerprint->words[i]);
	return key;
}

/* Note that a row connects clusters. */
void
simhash_clusters_note_merge(Oid clusters, int64 cluster,
							const NearFingerprint *fingerprint)
{
	NoteKey		key = merge_key(clusters, cluster, fingerprint);

	if (merges == NULL || hash_get_num_entries(merges) < NOTES_MAX)
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
						  const NearFingerprint *fingerprint)
{
	NoteKey		key = merge_key(clusters, cluster, fingerprint);

	return hash_get_num_entries(merges) >= NOTES_MAX ||
		hash_search(merges, &key, HASH_FIND, NULL) != NULL;
}

/*
 * The row of a trigger joins a cluster; or it has added a representative, by that
 * number.
 */
void
simhash_clusters_note_row(const ClusterTrigger *trigger, int64 cluster, int64 number)
{
	NoteKey		key = {cluster, 0, trigger->terms->clusters, 0};
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	Start	   *start = NULL;

	if (number != 0)
		start = enter_note(&starts, &key, sizeof *start);
	else if (starts != NULL)
		start = hash_search(starts, &key, HASH_FIND, NULL);
	if (start != NULL && number != 0)
	{
		start->number = number;
		start->tables = list_make1_oid(trigger->near.table);
	}
	else if (start != NULL)
		start->tables = list_append_unique_oid(start->tables, trigger->near.table);
	MemoryContextSwitchTo(old);
}

/*
 * Forget the note of a representative; returns the tables where rows of ours may be in
 * its cluster, or NIL if there is no note.
 */
List	   *
simhash_clusters_forget_start(Oid clusters, int64 cluster, int64 number)
{
	NoteKey		key = {cluster, 0, clusters, 0};
	Start	   *start = starts == NULL ? NULL :
	hash_search(starts, &key, HASH_FIND, NULL);
	List	   *tables;

	if (start == NULL || start->number != number)
		return NIL;
	tables = start->tables;
	(void) hash_search(starts, &key, HASH_REMOVE, NULL);
	return tables;
}
