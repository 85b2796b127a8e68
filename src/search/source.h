/*-------------------------------------------------------------------------
 *
 * source.h
 *		An expression over the columns of a table that a user gives as text.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_SOURCE_H
#define SIMHASH_SOURCE_H

#include "parser/parse_node.h"

/* source.c */
extern void simhash_enter_source(ErrorContextCallback *callback,
								 const char *source);
extern void simhash_leave_source(ErrorContextCallback *callback);
extern Node *simhash_parse_source(const char *source, bool of_keys);
extern Node *simhash_transform_source(ParseState *pstate, Relation relation,
									  const char *alias, Node *raw,
									  ParseExprKind kind);
extern Node *simhash_check_fingerprint(Oid oid, const char *source, Oid *type,
									   int *width);
extern void simhash_check_source_type(Node *expression, bool of_keys,
									  const char *source);

#endif							/* SIMHASH_SOURCE_H */
