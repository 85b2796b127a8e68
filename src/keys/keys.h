/*-------------------------------------------------------------------------
 *
 * keys.h
 *		Block keys, for searches by ordinary btree indexes.
 *
 * Comes in: fingerprints.  Goes out: of each fingerprint four numbers, its
 * keys, one for each block of 16 bits; for a search, the keys to look up; for
 * a table, columns with keys and indexes on them (key columns), and a scan by
 * those that cover (key_scan.c).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_KEYS_H
#define SIMHASH_KEYS_H

#include "simhash.h"

#include "nodes/pathnodes.h"

/* keys.c */
extern PGDLLEXPORT Datum simhash_keys(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum simhash_probes(PG_FUNCTION_ARGS);
extern bool simhash_is_key(Node *expression, Node **fingerprint, int *block);

/* key_scan.c */
extern Path *simhash_key_scan_path(PlannerInfo *root, RelOptInfo *rel,
								   Node *center, Node *radius, List *paths,
								   List *places, Relids outer,
								   double loop_count);
extern void simhash_register_key_scan(void);

#endif							/* SIMHASH_KEYS_H */
