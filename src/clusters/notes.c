/*-------------------------------------------------------------------------
 *
 * notes.c
 *		Which rows of a transaction may connect clusters: noted before they are
 *		in, asked for after.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "clusters/notes.h"

#include "access/xact.h"
#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

/*
 * Limits of the work done.
 *
 * NOTES_MAX	rows of a transaction of which it is noted; with more, all rows
 *				are looked up again.
 */
#define NOTES_MAX	65536

/* A note: rows of that fingerprint in that cluster may connect others. */
typedef struct MergeNote
{
	int64		cluster;
	uint64		fingerprint;	/* hash */
	Oid			clusters;		/* the table */
	uint32		unused;			/* 0 */
} MergeNote;

/* Notes of the transaction; NULL if there are none. */
static HTAB *notes = NULL;

/* Forget the notes, as the transaction ends, which frees them. */
static void
forget(XactEvent event, void *arg)
{
	(void) arg;
	if (event == XACT_EVENT_ABORT || event == XACT_EVENT_COMMIT ||
		event == XACT_EVENT_PREPARE)
		notes = NULL;
}

/* Learn of the ends of transactions, from now on. */
void
simhash_clusters_note_init(void)
{
	RegisterXactCallback(forget, NULL);
}

/* The note for a row. */
static MergeNote
make_note(Oid clusters, int64 cluster, const GuardFingerprint *fingerprint)
{
	MergeNote	note = {cluster, 0, clusters, 0};

	for (int i = 0; i < GUARD_WORDS(fingerprint->width); i++)
		note.fingerprint = hash_combine64(note.fingerprint,
										  fingerprint->words[i]);
	return note;
}

/* Note that a row connects clusters. */
void
simhash_clusters_note(Oid clusters, int64 cluster,
					  const GuardFingerprint *fingerprint)
{
	MergeNote	note = make_note(clusters, cluster, fingerprint);

	if (notes == NULL)
	{
		HASHCTL		control = {
			.keysize = sizeof note,
			.entrysize = sizeof note,
			.hcxt = TopTransactionContext
		};

		notes = hash_create("simhash merges", 64, &control,
							HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	if (hash_get_num_entries(notes) < NOTES_MAX)
		(void) hash_search(notes, &note, HASH_ENTER, NULL);
}

/* May any row of the transaction connect clusters? */
bool
simhash_clusters_any_notes(void)
{
	return notes != NULL;
}

/* May a row connect clusters? */
bool
simhash_clusters_is_noted(Oid clusters, int64 cluster,
						  const GuardFingerprint *fingerprint)
{
	MergeNote	note = make_note(clusters, cluster, fingerprint);

	return hash_get_num_entries(notes) >= NOTES_MAX ||
		hash_search(notes, &note, HASH_FIND, NULL) != NULL;
}
