/*-------------------------------------------------------------------------
 *
 * bind.h
 *		What binds the table of the clusters to the other.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_BIND_H
#define SIMHASH_CLUSTERS_BIND_H

#include "clusters/step.h"
#include "guard/guard.h"

/* bind.c */
extern bool simhash_clusters_has_triggers(Relation relation,
										  const ClusterTerms *terms);
extern bool simhash_clusters_make_triggers(ClusterCall *call,
										   const ClusterTerms *terms);
extern bool simhash_clusters_is_protected(const ClusterTerms *terms);
extern void simhash_clusters_protect(const ClusterCall *call,
									 const ClusterTerms *terms);
extern GuardSpace simhash_clusters_space(const ClusterCall *call,
										 const ClusterTerms *terms);
extern void simhash_clusters_make_index(const ClusterCall *call,
										const ClusterTerms *terms);
extern void simhash_clusters_depend(const ClusterCall *call,
									const ClusterTerms *terms);
extern void simhash_clusters_write_deed(const ClusterCall *call,
										const ClusterTerms *terms, bool anew);

#endif							/* SIMHASH_CLUSTERS_BIND_H */
