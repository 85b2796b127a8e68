/*-------------------------------------------------------------------------
 *
 * guard_group.h
 *		Groups of rows, each of which is guarded by itself.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_GROUP_H
#define SIMHASH_GUARD_GROUP_H

#include "simhash.h"
#include "fmgr.h"
#include "utils/rel.h"

/* How two values of a column are compared. */
typedef struct GuardEquality
{
	FmgrInfo	equals;
	Oid			collation;
} GuardEquality;

/* A column that rows of one group have equal. */
typedef struct GuardColumn
{
	AttrNumber	column;
	Oid			operator;		/* equality, as the type has it by default */
	GuardEquality equality;
	FmgrInfo	hash;			/* fn_oid is invalid if the type has none */
	bool		in_locks;		/* part of every guard of the fingerprint */
} GuardColumn;

/* guard_group.c */
extern void simhash_guard_bind_group(GuardColumn *group, Relation relation,
									 int n, const AttrNumber *columns);
extern bool simhash_guard_equal(GuardEquality *equality,
								Datum value, Datum other);
extern uint64 simhash_guard_group_hash(GuardColumn *group, int n,
									   const Datum *values);

#endif							/* SIMHASH_GUARD_GROUP_H */
