/*-------------------------------------------------------------------------
 *
 * profile.h
 *		Profiles: frozen recipes from tokens to weighted feature hashes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PROFILE_H
#define SH_PROFILE_H

#include "text.h"

/* Part of the specification: features after which counting starts anew. */
#define SH_SECTION		(1 << 20)

/* Features handed out at a time. */
#define SH_BATCH		255

/* How the number of times that a feature occurs becomes its weight. */
typedef enum ShDamping
{
	SH_DAMP_COUNT,				/* n */
	SH_DAMP_SQRT,				/* floor(sqrt(n)) */
	SH_DAMP_LOG,				/* 1 + floor(log2(n)) */
	SH_DAMP_BINARY				/* 1 */
} ShDamping;

/* A profile: windows of min .. max successive tokens, weighted. */
typedef struct ShProfile
{
	const char *name;
	ShUnit		unit;
	int			min;
	int			max;
	ShDamping	damping;
	const char *description;
} ShProfile;

/* The features that the tokens held give, in batches. */
typedef struct ShWindows
{
	const ShProfile *profile;
	const ShText *text;
	bool		whole;			/* the document is one single feature */
	int			size;			/* tokens of the next window */
	size_t		last;			/* last token of the next window */
} ShWindows;

/*
 * How often each feature of a section has occurred.  The multiplier, odd and
 * best chosen at random, spreads hashes over the table in a way that the
 * author of a document cannot foresee; no result depends on it.
 */
typedef struct ShTally
{
	/* what stays */
	void	   *(*allocate) (size_t bytes);
	void		(*release) (void *memory);
	uint64_t	multiplier;

	/* what moves */
	size_t		slots;			/* a power of two, or 0 */
	size_t		occupied;
	uint32_t	seen;			/* features since the section began */
	uint64_t   *hashes;
	uint32_t   *counts;			/* behind the hashes; 0 marks a free slot */
} ShTally;

extern const ShProfile sh_profiles[];
extern const int sh_profile_count;
extern const ShProfile *const sh_default_profile;

extern const ShProfile *sh_profile_find(const char *name, size_t length);
extern const char *sh_damping_name(ShDamping damping);
extern const char *sh_unit_name(ShUnit unit);
extern void sh_windows_begin(ShWindows *windows, const ShProfile *profile,
							 const ShText *text, bool ended);
extern size_t sh_windows_next(ShWindows *windows, ShToken *features);
extern uint64_t sh_feature_hash(const unsigned char *feature, size_t length);

extern void sh_tally_begin(ShTally *tally);
extern uint32_t *sh_tally_count(ShTally *tally, uint64_t hash);
extern bool sh_tally_add(ShTally *tally, ShDamping damping, uint64_t hash);
extern void sh_tally_end(ShTally *tally);

#endif							/* SH_PROFILE_H */
