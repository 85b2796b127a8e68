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
#include "utils/acl.h"

#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
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

#endif							/* SIMHASH_COMPAT_H */
