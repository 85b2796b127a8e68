/*-------------------------------------------------------------------------
 *
 * guard_space.h
 *		Which tables are searched, and by which indexes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_GUARD_SPACE_H
#define SIMHASH_GUARD_SPACE_H

#include "guard/guard_group.h"
#include "guard/guard_terms.h"

#include "access/attmap.h"
#include "access/skey.h"

/* An index to search by: of fingerprints, or of the keys of a block. */
typedef struct GuardIndex
{
	Oid			index;			/* or InvalidOid */
	int			ncolumns;		/* up to the last that has a condition */
	int		   *group;			/* which column of the group each of them is,
								 * or -1 for what is sought */
	ScanKey		conditions;		/* on all of them, but for the values */
} GuardIndex;

/* A table to search, with the way to find rows in it. */
typedef struct GuardTable
{
	Oid			table;
	AttrNumber	column;			/* of the fingerprint */
	AttrNumber	document;		/* that is compared, or 0 */
	AttrNumber *group;			/* the columns of the group */
	AttrNumber	carried;		/* what is read of a row found, or 0 */
	GuardIndex	hamming;
	GuardIndex	keys[SH_BLOCKS];	/* otherwise */
	bool		only_way;		/* all sessions search by that hamming index */
} GuardTable;

/*
 * The tables to search for the rows of a table: those below the root, a
 * partition, or that table itself.
 */
typedef struct GuardScope
{
	Oid			top;
	int			ntables;
	GuardTable *tables;
} GuardScope;

/* What is searched below a root. */
typedef struct GuardSpace
{
	/* what stays */
	Oid			root;
	TupleDesc	desc;			/* of the root, as it was in the beginning */
	GuardTerms	terms;			/* in columns of the root */
	AttrNumber	carried;
	GuardColumn *group;
	Oid			ball_type;		/* hamming_ball, or hamming_bit_ball */
	bool		keyed;			/* the tables need primary keys */

	/* where to search, and how */
	bool		stale;			/* to be found out (again) */
	uint32		times_found;
	MemoryContext context;		/* of the members that follow */
	List	   *watched;		/* tables that matter, partitioned ones too */
	List	   *scopes;			/* of GuardScope */
} GuardSpace;

/* Where the rows of a table are searched for, in one state of the space. */
typedef struct GuardPlace
{
	Oid			table;
	bool		moves;			/* a row may go to another partition */
	uint32		found_for;		/* 0 before the first time */
	const GuardScope *scope;
	const GuardTable *own;		/* how to search that table */
} GuardPlace;

/* guard_space.c */
pg_noreturn extern void simhash_guard_complain_of_change(Oid table);
extern void simhash_guard_bind_space(GuardSpace *space, Relation root,
									 const GuardTerms *terms,
									 AttrNumber carried, Oid schema);
extern AttrMap *simhash_guard_map_columns(const GuardSpace *space,
										  Relation table);
extern void simhash_guard_find(GuardSpace *space, GuardPlace *place);
extern List *simhash_guard_primary_key(Oid table);
extern char *simhash_guard_index_columns(const GuardSpace *space);

#endif							/* SIMHASH_GUARD_SPACE_H */
