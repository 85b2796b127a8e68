/*-------------------------------------------------------------------------
 *
 * simhash.h
 *		What all wings share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_H
#define SIMHASH_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/hsearch.h"

#include "compat.h"
#include "core/bits.h"
#include "core/cpu.h"

/* Make a hash table in a context; each entry begins with its key. */
static inline HTAB *
simhash_make_hash(const char *name, int entries, Size key, Size entry,
				  MemoryContext context)
{
	HASHCTL		control = {.keysize = key,.entrysize = entry,.hcxt = context};

	return hash_create(name, entries, &control,
					   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

/*
 * Have a list that is full be twice as long, with room for so many at first; it is in
 * memory of the context that was current then.
 */
#define simhash_make_room(list, n, room, first) \
	do { \
		if ((n) == (room)) \
		{ \
			(room) = Max(2 * (room), first); \
			(list) = (list) == NULL ? palloc((room) * sizeof *(list)) : \
				repalloc_huge(list, (room) * sizeof *(list)); \
		} \
	} while (0)

/*
 * Set a setting until AtEOXact_GUC(), or a subtransaction ends (GUC_ACTION_SAVE), or
 * the transaction (GUC_ACTION_LOCAL).
 */
static inline void
simhash_set(const char *name, const char *value, GucAction action)
{
	(void) set_config_option(name, value, PGC_USERSET, PGC_S_SESSION, action, true,
							 0, false);
}

/* Fail if one of the arguments with these numbers is null, naming it. */
#define simhash_check_not_null(fcinfo, ...) \
	simhash_check_none_null(fcinfo, (const int[]) {__VA_ARGS__}, \
							sizeof (int[]) {__VA_ARGS__} / sizeof(int))
#define simhash_check_at_least(at_least) simhash_check_share("", "at_least", at_least)

/* arguments.c */
extern void simhash_check_none_null(FunctionCallInfo fcinfo,
									const int *arguments, int n);
pg_noreturn extern void simhash_complain_of_empty(FunctionCallInfo fcinfo,
												  int argument);
extern char *simhash_text_argument(FunctionCallInfo fcinfo, int argument);
extern char *simhash_optional_argument(FunctionCallInfo fcinfo, int argument);
extern bool simhash_choose(FunctionCallInfo fcinfo, int argument,
						   const char *yes, const char *no);
extern int64 simhash_check_range(const char *who, const char *name, int64 value,
								 int64 least, int64 most, int bits);
extern double simhash_check_share(const char *who, const char *argument, double share);
extern MemoryContext simhash_aggregate_context(FunctionCallInfo fcinfo);

#endif							/* SIMHASH_H */
