/*-------------------------------------------------------------------------
 *
 * compat.h
 *		What differs between PostgreSQL 15 and 18, in one place.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPAT_H
#define SIMHASH_COMPAT_H

#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "utils/acl.h"

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

#if PG_VERSION_NUM < 160000
/* fmgr.h declares it from version 16 on. */
extern PGDLLEXPORT void _PG_init(void);
#endif

/* True when the role owns the relation. */
static inline bool
simhash_owns_relation(Oid relation, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation, role);
#else
	return pg_class_ownercheck(relation, role);
#endif
}

/* True when the role may call the function. */
static inline bool
simhash_may_execute(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role,
						   ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

#endif							/* SIMHASH_COMPAT_H */
