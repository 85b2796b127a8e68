/*-------------------------------------------------------------------------
 *
 * relation.h
 *		Tables that a caller names.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_RELATION_H
#define SIMHASH_RELATION_H

#include "simhash.h"

#include "access/attnum.h"
#include "catalog/pg_class.h"
#include "storage/lockdefs.h"
#include "utils/relcache.h"

/* Who a session was before it became another role, and its settings. */
typedef struct SimhashRole
{
	Oid			user;
	int			context;
	int			level;			/* of settings */
} SimhashRole;

extern FormData_pg_class simhash_class(Oid table);
extern SimhashRole simhash_become(Oid owner, int flags);
extern void simhash_become_again(const SimhashRole *before);
pg_noreturn extern void simhash_complain_of_missing(Oid relation);
extern void simhash_check_owner(Oid relation);
extern Oid	simhash_lock_extension(Oid function);
extern Relation simhash_open_table(Oid oid, LOCKMODE lockmode,
								   Oid function, const char *hint);
extern AttrNumber simhash_find_column(Oid table, const char *name,
									  const char *argument, const char *more);
extern char *simhash_quoted_name(Oid relation);
extern void simhash_refuse_foreign_tables(Oid table, LOCKMODE lockmode,
										  const char *columns,
										  const char *hint);

#endif							/* SIMHASH_RELATION_H */
