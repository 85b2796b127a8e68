/*-------------------------------------------------------------------------
 *
 * faults.h
 *		What may be wrong with the clusters of a table.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_FAULTS_H
#define SIMHASH_CLUSTERS_FAULTS_H

#include "clusters/step.h"

typedef enum ClusterFault
{
	FAULT_NO_CLUSTER,
	FAULT_MISFIT,
	FAULT_ID_NOT_GIVEN,
	FAULT_BAD_ROW,
	FAULT_NOT_REPRESENTED,		/* star, as what follows */
	FAULT_NEAR_REPRESENTATIVES,
	FAULT_NOT_NEAR,
	FAULT_TEXT_LEFT,
	FAULT_NOT_CONNECTED,		/* connected, as what follows */
	FAULT_COME_APART
} ClusterFault;

#define CLUSTER_FAULTS	(FAULT_COME_APART + 1)

/* faults.c */
extern char *simhash_clusters_fault(const ClusterCall *call,
									const ClusterTerms *terms,
									ClusterFault fault);

/* trim.c */
extern void simhash_clusters_promote(const ClusterCall *call,
									 const ClusterTerms *terms, bool all);

#endif							/* SIMHASH_CLUSTERS_FAULTS_H */
