/*-------------------------------------------------------------------------
 *
 * starts.h
 *		Representatives that a transaction has added.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_STARTS_H
#define SIMHASH_CLUSTERS_STARTS_H

#include "clusters/terms.h"
#include "guard/guard.h"

/* starts.c */
extern void simhash_clusters_starts_init(void);
extern void simhash_clusters_note_start(const ClusterTerms *terms,
										int64 cluster, int64 number,
										const Guard *guard, AttrNumber column);
extern void simhash_clusters_note_join(const ClusterTerms *terms,
									   int64 cluster, const Guard *guard,
									   AttrNumber column);

#endif							/* SIMHASH_CLUSTERS_STARTS_H */
