/*-------------------------------------------------------------------------
 *
 * trigger.h
 *		What the set-up of clusters tells the trigger that keeps them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_TRIGGER_H
#define SIMHASH_CLUSTERS_TRIGGER_H

#include "clusters/cluster.h"

/* trigger.c */
extern Oid	simhash_clusters_fill(Oid table);

#endif							/* SIMHASH_CLUSTERS_TRIGGER_H */
