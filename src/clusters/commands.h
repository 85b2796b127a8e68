/*-------------------------------------------------------------------------
 *
 * commands.h
 *		Commands about clusters, and what they are made of.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_QUERY_H
#define SIMHASH_CLUSTERS_QUERY_H

#include "clusters/template.h"

/* commands.c */
extern char *simhash_cluster_id(const ClusterCall *call, const char *alias);
extern char *simhash_cluster_current(const ClusterCall *call);
extern char *simhash_cluster_query(const ClusterCall *call,
								   const ClusterTerms *terms,
								   const char *within, const char *condition,
								   bool representatives);
extern char *simhash_cluster_represented(const ClusterCall *call,
										 const ClusterTerms *terms,
										 bool theirs);
extern char *simhash_cluster_without(const ClusterCall *call,
									 const ClusterTerms *terms);
extern char *simhash_cluster_misfit(const ClusterCall *call,
									const ClusterTerms *terms);
extern const char *simhash_cluster_bad_row(const ClusterTerms *terms);
extern char *simhash_cluster_not_near(const ClusterCall *call,
									  const ClusterTerms *terms);
extern const char *simhash_cluster_text_left(void);

#endif							/* SIMHASH_CLUSTERS_QUERY_H */
