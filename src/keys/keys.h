/*-------------------------------------------------------------------------
 *
 * keys.h
 *		Block keys, for searches by ordinary btree indexes.
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
