/*-------------------------------------------------------------------------
 *
 * cluster.h
 *		Clusters that keep themselves: what the rest of the module knows of
 *		them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTER_H
#define SIMHASH_CLUSTER_H

#include "simhash.h"

/* terms.c */
extern PGDLLEXPORT Datum _simhash_cluster_terms(PG_FUNCTION_ARGS);

/* trigger.c */
extern void simhash_clusters_init(void);
extern PGDLLEXPORT Datum simhash_cluster(PG_FUNCTION_ARGS);

#endif							/* SIMHASH_CLUSTER_H */
