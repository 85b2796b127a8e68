/*-------------------------------------------------------------------------
 *
 * guard_terms.h
 *		By what rows of a table are near-duplicates.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_TERMS_H
#define SIMHASH_GUARD_TERMS_H

#include "guard/guard_fingerprint.h"
#include "search/measure.h"

/* What somebody asks for, by names. */
typedef struct GuardAsked
{
	const char *who;			/* asks, for messages */
	const char *hint;			/* what may be asked for; or NULL */
	const char *renamed;		/* what to do where a name is wrong; or NULL */
	const char *column;			/* of the fingerprint */
	int64		radius;
	List	   *within;			/* columns of the group */
	const char *document;		/* NULL for none, as what follows */
	const char *profile;
	const char *similarity;
	const char *at_least;		/* a number */
	SimhashMeasure fills;		/* what a trigger's own fingerprints estimate */
} GuardAsked;

/* That, in columns of a table. */
typedef struct GuardTerms
{
	AttrNumber	column;			/* of the fingerprint */
	GuardType	type;			/* what it has */
	int			radius;
	int			ngroup;			/* columns that a group has equal */
	AttrNumber *group;
	AttrNumber	document;		/* that is compared, or 0 */
	SimhashMeasure measure;		/* of the documents' similarity */
	double		at_least;		/* between near-duplicates */
	const ShProfile *profile;	/* of the document */
} GuardTerms;

/* guard_terms.c */
extern AttrNumber simhash_guard_column(Relation relation, const char *name,
									   const char *hint);
extern Node *simhash_guard_expression(Relation relation, AttrNumber column);
extern GuardTerms simhash_guard_read_terms(const GuardAsked *asked,
										   Relation relation);
extern bool simhash_guard_same_document(const text *document,
										const text *other);
extern double simhash_guard_similarity(const GuardTerms *terms,
									   text *document, text *other);

#endif							/* SIMHASH_GUARD_TERMS_H */
