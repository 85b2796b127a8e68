/*-------------------------------------------------------------------------
 *
 * unit_compat.c
 *		Documents read as other implementations do: hostile bytes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "core/foreign/recipes.h"
#include "core/foreign/python.h"

#define ROUNDS		2000

static void
no_pause(void)
{
}

/* Fill a buffer with bytes that are apt to be trouble; returns the length. */
static size_t
make_document(unsigned char *bytes, size_t size)
{
	static const char *const pieces[] = {
		"\xce\xa3", "\xce\x91", "\xcc\x81", "\xca\xb0", "'", ".", "\xc4\xb0",
		"\xc8\xba", "\xe2\x85\xa7", "\xf0\xaf\xbf\xbf", "\xed\xa0\x80",
		"\xc0\x80", "\xf8", "\xe4\xb8\xad", "\xe4\xb8", "abcd", "A", "_", " ",
		"\xff"
	};
	size_t		most = random_below(size - 8);
	size_t		n = 0;
	bool		any = random_below(3) == 0;

	while (n < most)
	{
		const char *piece = pieces[random_below(sizeof pieces / sizeof *pieces)];

		if (any)
		{
			bytes[n++] = (unsigned char) random_bits();
			continue;
		}
		memcpy(bytes + n, piece, strlen(piece));
		n += strlen(piece);
	}
	return n;
}

/* Read random documents by every profile; none may have too many features. */
static void
test_hostile(void)
{
	for (int round = 0; round < ROUNDS; round++)
	{
		const ShProfile *profile = &sh_profiles[round % sh_profile_count];
		unsigned char made[600];
		size_t		length = make_document(made, sizeof made);
		unsigned char *bytes = malloc(SH_PYTHON_LOWER_BYTES(length));
		ShCompat	compat;
		uint64_t	hash;
		size_t		features = 0;

		if (sh_compat_profile(profile))
		{
			/* no more room than promised: the sanitizer watches the rest */
			if (sh_compat_lowers(profile))
				length = sh_python_lower(bytes, made, length, no_pause);
			else
				memcpy(bytes, made, length);
			sh_compat_begin(&compat, profile, bytes, length, no_pause);
			while (sh_compat_next(&compat, &hash))
			{
				CHECK(++features <= length + 1);
				for (int i = 0; i < compat.have; i++)
					CHECK(compat.pieces[i].bytes >= bytes &&
						  compat.pieces[i].bytes + compat.pieces[i].length <=
						  bytes + length);
			}
			CHECK(!sh_compat_next(&compat, &hash));
		}
		free(bytes);
	}
}

int
main(void)
{
	seed_random();
	test_hostile();
	return 0;
}
