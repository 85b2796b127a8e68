/*-------------------------------------------------------------------------
 *
 * notes.h
 *		Which rows of a transaction may connect clusters.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_NOTES_H
#define SIMHASH_CLUSTERS_NOTES_H

#include "guard/guard.h"

/* notes.c */
extern void simhash_clusters_note_init(void);
extern void simhash_clusters_note(Oid clusters, int64 cluster,
								  const GuardFingerprint *fingerprint);
extern bool simhash_clusters_any_notes(void);
extern bool simhash_clusters_is_noted(Oid clusters, int64 cluster,
									  const GuardFingerprint *fingerprint);

#endif							/* SIMHASH_CLUSTERS_NOTES_H */
