/*-------------------------------------------------------------------------
 *
 * texts.h
 *		No text outlives its row.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_CLUSTERS_TEXTS_H
#define SIMHASH_CLUSTERS_TEXTS_H

#include "clusters/terms.h"

#include "executor/tuptable.h"

/* texts.c */
extern void simhash_clusters_take_document(const ClusterTerms *terms,
										   Relation clusters,
										   TupleTableSlot *slot);
extern void simhash_clusters_take_text(const ClusterTerms *terms, int64 id,
									   text *document);

#endif							/* SIMHASH_CLUSTERS_TEXTS_H */
