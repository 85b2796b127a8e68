/*-------------------------------------------------------------------------
 *
 * profile.h
 *		Profiles: frozen recipes from documents to weighted features.
 *
 * A profile is its unit (what a token is), how many tokens a feature has, and how
 * the number of times that a feature occurs becomes its weight (damping); it may read
 * a document as a page of HTML, or its article, and fold letters first, and hash
 * features by a seed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PROFILE_H
#define SH_PROFILE_H

#include <math.h>

#include "core/bits.h"
#include "core/text/text.h"

/* How the number of times that a feature occurs becomes its weight. */
typedef enum ShDamping
{
	SH_DAMP_COUNT,				/* n */
	SH_DAMP_SQRT,				/* floor(sqrt(n)) */
	SH_DAMP_LOG,				/* 1 + floor(log2(n)) */
	SH_DAMP_BINARY,				/* 1 */
	SH_DAMP_CAPPED				/* 2 min(n, 4) - 1 */
} ShDamping;

/* What a document is. */
typedef enum ShMarkup
{
	SH_MARKUP_NONE,				/* text */
	SH_MARKUP_HTML,				/* a page */
	SH_MARKUP_ARTICLE,			/* ... of which the article counts */
	SH_MARKUPS
} ShMarkup;

/* Part of the specification: what occurs more often weighs no more. */
#define SH_CAP			4

/*
 * What a feature weighs that occurs n times in a section: what sh_tally_add
 * (tally.c) adds up one by one, for those who count first.
 */
static inline uint32_t
sh_damp(ShDamping damping, uint32_t n)
{
	switch (damping)
	{
		case SH_DAMP_COUNT:
			return n;
		case SH_DAMP_SQRT:
			return (uint32_t) sqrt((double) n);
		case SH_DAMP_LOG:
			return (uint32_t) sh_bit_length(n);
		case SH_DAMP_BINARY:
			return n > 0;
		case SH_DAMP_CAPPED:
			return n == 0 ? 0 : 2 * (n < SH_CAP ? n : SH_CAP) - 1;
	}
	return 0;
}

/*
 * Limits of the work done.
 *
 * SH_PROFILE_NAME		bytes of a name, with its end.
 * SH_PROFILE_SEEDED	profiles with a seed that are found by names.
 * SH_PROFILE_LISTS		lists of profiles that were made.
 */
#define SH_PROFILE_NAME 64
#define SH_PROFILE_LISTS 4096
#define SH_PROFILE_SEEDED 65536

/*
 * A profile: windows of min .. max successive tokens, weighted.  Among those of
 * one ShProfiles there is one of a kind, whatever name it was asked for by, so
 * pointers can be compared.
 */
typedef struct ShProfile
{
	char		name[SH_PROFILE_NAME];
	ShUnit		unit;
	int			min;
	int			max;
	ShDamping	damping;
	const char *description;
	bool		folds;			/* letters, before all else but markup */
	ShMarkup	markup;
	const struct ShProfile *of_text;	/* without a seed and markup, which it
										 * has */
	uint64_t	seed;			/* of the hash of features */
	const struct ShProfile *plain;	/* without a seed; NULL: this one */
} ShProfile;

/* Profiles that are named by a rule, as word-N. */
typedef struct ShPattern
{
	const char *name;
	const char *prefix;			/* what such names begin with */
	ShUnit		unit;
	const char *description;
} ShPattern;

extern const ShProfile sh_profiles[];
extern const int sh_profile_count;
extern const ShProfile *const sh_default_profile;
extern const ShProfile sh_no_profile;
extern const ShPattern sh_patterns[];
extern const int sh_pattern_count;

/*
 * The profiles that have no row, made when they are first asked for: the caller's,
 * all zero at first but for what it sets, and there until it releases them.
 */
typedef struct ShProfiles
{
	void	   *(*allocate) (size_t bytes); /* NULL: nothing is left */
	int			seeded;			/* those that have a seed */
	struct ShMade *made[SH_PROFILE_LISTS];
} ShProfiles;

extern const ShProfile *sh_profile_find(ShProfiles *profiles, const char *name,
										size_t length);
extern bool sh_profile_exists(ShProfiles *profiles, const char *name,
							  size_t length);
extern const ShProfile *sh_profile_seeded(ShProfiles *profiles,
										  const ShProfile *profile, uint64_t seed);
extern bool sh_profiles_full(const ShProfiles *profiles);
extern void sh_profiles_release(ShProfiles *profiles, void (*release) (void *));
extern const char *sh_damping_name(ShDamping damping);
extern const char *sh_unit_name(ShUnit unit);

/* The profile for the text of a document. */
static inline const ShProfile *
sh_profile_of_text(ShProfiles *profiles, const ShProfile *profile)
{
	return profile->of_text == NULL ? profile :
		sh_profile_seeded(profiles, profile->of_text, profile->seed);
}

/* The profile without a seed. */
static inline const ShProfile *
sh_profile_plain(const ShProfile *profile)
{
	return profile->plain == NULL ? profile : profile->plain;
}

/* Is it sh_no_profile, for features that are given, or that with a seed? */
static inline bool
sh_profile_given(const ShProfile *profile)
{
	return sh_profile_plain(profile) == &sh_no_profile;
}

#endif							/* SH_PROFILE_H */
