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
#include "clusters/terms.h"

/* How the trigger takes clusters that a command of ours writes to a table. */
typedef enum ClusterWriting
{
	CLUSTERS_AS_GIVEN,
	CLUSTERS_ANEW				/* rows join as if they arrived */
} ClusterWriting;

typedef struct ClusterWriter
{
	Oid			table;			/* InvalidOid for none */
	ClusterWriting how;
	int			depth;			/* of triggers, where it fires ours */
} ClusterWriter;

/* trigger.c */
extern AttrNumber simhash_clusters_other_expression(Relation relation,
													const ClusterTerms *terms);
extern ClusterWriter simhash_clusters_set_writer(Oid table,
												 ClusterWriting how);
extern void simhash_clusters_reset_writer(ClusterWriter before);

#endif							/* SIMHASH_CLUSTERS_TRIGGER_H */
