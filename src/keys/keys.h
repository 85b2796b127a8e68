/*-------------------------------------------------------------------------
 *
 * keys.h
 *		Block keys, for searches by ordinary btree indexes.
 *
 * Comes in: fingerprints.  Goes out: of each fingerprint four numbers, its
 * keys, one for each block of 16 bits; for a search, the keys to look up; for
 * a table, columns with keys and indexes on them (key columns).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_KEYS_H
#define SIMHASH_KEYS_H

#include "simhash.h"

#include "nodes/nodes.h"

/* keys.c */
extern PGDLLEXPORT Datum simhash_keys(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum simhash_probes(PG_FUNCTION_ARGS);
extern bool simhash_is_key(Node *expression, Node **fingerprint, int *block);

#endif							/* SIMHASH_KEYS_H */
