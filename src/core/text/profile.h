/*-------------------------------------------------------------------------
 *
 * profile.h
 *		Profiles: frozen recipes from documents to weighted features.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_PROFILE_H
#define SH_PROFILE_H

#include "core/text/damping.h"
#include "core/text/text.h"

#define SH_PROFILE_NAME 32		/* bytes of a name, at most, with its end */

/*
 * A profile: windows of min .. max successive tokens, weighted.  There is one
 * of a kind, whatever name it was asked for by, so pointers can be compared.
 */
typedef struct ShProfile
{
	char		name[SH_PROFILE_NAME];
	ShUnit		unit;
	int			min;
	int			max;
	ShDamping	damping;
	const char *description;
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

extern const ShProfile *sh_profile_find(const char *name, size_t length);
extern const char *sh_damping_name(ShDamping damping);
extern const char *sh_unit_name(ShUnit unit);

#endif							/* SH_PROFILE_H */
