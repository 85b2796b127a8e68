/*-------------------------------------------------------------------------
 *
 * join.h
 *		Rows that are there join clusters.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_JOIN_H
#define SIMHASH_CLUSTERS_JOIN_H

#include "clusters/step.h"

/* join.c */
extern bool simhash_clusters_try(const char *command, Oid table,
								 ClusterWriting how, bool wait);
extern Relation simhash_clusters_open_part(const ClusterCall *call, Oid table);
extern uint64 simhash_clusters_join(ClusterCall *call, const char *condition,
									bool once);
extern uint64 simhash_clusters_join_rest(ClusterCall *call);

#endif							/* SIMHASH_CLUSTERS_JOIN_H */
