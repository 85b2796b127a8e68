/*-------------------------------------------------------------------------
 *
 * actions.h
 *		What foreign keys do of themselves, ON DELETE and ON UPDATE.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_ACTIONS_H
#define SIMHASH_ACTIONS_H

#include "simhash.h"

/* What no action may change right now. */
typedef struct SimhashWatch
{
	Oid			table;			/* InvalidOid for none */
	bool		updates;		/* nor update its rows, not only delete them */
	bool		others;			/* nor change rows of other tables */
	int			depth;			/* of triggers, behind which these actions are */
} SimhashWatch;

extern void simhash_actions_init(void);
extern SimhashWatch simhash_begin_watch(Oid table, bool updates, bool others);
extern void simhash_end_watch(SimhashWatch before);

#endif							/* SIMHASH_ACTIONS_H */
