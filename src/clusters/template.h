/*-------------------------------------------------------------------------
 *
 * template.h
 *		Commands about clusters, written from templates.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_TEMPLATE_H
#define SIMHASH_CLUSTERS_TEMPLATE_H

#include "clusters/step.h"

/* template.c */
extern char *simhash_cluster_escape(const char *text);
extern char *simhash_cluster_write(const ClusterCall *call,
								   const ClusterTerms *terms,
								   const char *template);
extern uint64 simhash_cluster_do(const ClusterCall *call,
								 const ClusterTerms *terms,
								 const char *template);
extern uint64 simhash_clusters_write_table(const ClusterCall *call,
										   const ClusterTerms *terms,
										   const char *template);

#endif							/* SIMHASH_CLUSTERS_TEMPLATE_H */
