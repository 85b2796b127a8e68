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

#include "tally.h"
#include "text.h"

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

extern const ShProfile sh_profiles[];
extern const int sh_profile_count;
extern const ShProfile *const sh_default_profile;

extern const ShProfile *sh_profile_find(const char *name, size_t length);
extern const char *sh_damping_name(ShDamping damping);
extern const char *sh_unit_name(ShUnit unit);

#endif							/* SH_PROFILE_H */
