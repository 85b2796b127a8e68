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

#include "core/foreign/foreign.h"

#define ROUNDS		2000

static ShProfiles profiles = {.allocate = malloc};

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
		unsigned char *bytes = malloc(SH_LOWER_BYTES(length));
		ShCompat	compat;
		uint64_t	hash;
		size_t		features = 0;

		if (sh_compat_profile(profile))
		{
			/* no more room than promised: the sanitizer watches the rest */
			if (sh_compat_lower(profile) != NULL)
				length = sh_compat_lower(profile) (bytes, made, length, no_pause);
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

/* A feature, as the bytes that the other program hashes. */
typedef struct Feature
{
	size_t		length;
	unsigned char bytes[4 * 200 + 3];
	uint64_t	plain;			/* its hash by the profile */
	uint64_t	seeded[2];		/* ... and by two seeds */
}			Feature;

/* List the features of a document; returns how many they are. */
static size_t
list_features(Feature * features, const ShProfile *profile,
			  const unsigned char *bytes, size_t length)
{
	const uint64_t seeds[] = {0, 4711, UINT64_MAX};
	bool		words = strncmp(profile->name, "seomoz", 6) == 0;
	bool		lower = strstr(profile->name, "-ci") != NULL;
	size_t		n = 0;

	for (int i = 0; i < 3; i++)
	{
		ShCompat	compat;
		uint64_t	hash;

		n = 0;
		sh_compat_begin(&compat, sh_profile_seeded(&profiles, profile, seeds[i]), bytes,
						length, no_pause);
		for (; sh_compat_next(&compat, &hash); n++)
		{
			Feature    *feature = &features[n];

			feature->length = 0;
			for (int j = 0; j < compat.have; j++)
			{
				if (words && j > 0)
					feature->bytes[feature->length++] = ' ';
				memcpy(feature->bytes + feature->length,
					   compat.pieces[j].bytes, compat.pieces[j].length);
				feature->length += compat.pieces[j].length;
			}
			for (size_t j = 0; lower && j < feature->length; j++)
				feature->bytes[j] |= 0x20;
			*(i == 0 ? &feature->plain : &feature->seeded[i - 1]) = hash;
		}
	}
	return n;
}

/*
 * By a seed features are the same when their bytes are, however these were cut
 * into pieces; and then other programs say so too.
 */
static void
test_seeded(void)
{
	static const char *const pieces[] = {
		"abcd", "efgh", " ", " ", "ABCD", "b", "", "0123456789abcdef",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	};
	static Feature features[700];

	for (int round = 0; round < ROUNDS; round++)
	{
		const ShProfile *profile = &sh_profiles[round % sh_profile_count];
		unsigned char bytes[700];
		size_t		n;
		size_t		length = 0;

		if (!sh_compat_profile(profile))
			continue;
		if (round % 3 == 0)
			length = make_document(bytes, 200);
		else
		{
			size_t		most = random_below(200);

			while (length < most)
			{
				const char *piece = pieces[random_below(9)];

				memcpy(bytes + length, piece, strlen(piece));
				length += strlen(piece);
			}
		}
		n = list_features(features, profile, bytes, length);
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < i; j++)
			{
				Feature    *a = &features[i];
				Feature    *b = &features[j];
				bool		same = a->length == b->length &&
				memcmp(a->bytes, b->bytes, a->length) == 0;

				CHECK((a->seeded[0] == b->seeded[0]) == same);
				CHECK((a->seeded[1] == b->seeded[1]) == same);
				CHECK(!same || a->plain == b->plain);
			}
	}
}

/* Two features of which the one's words seem to be the other's, cut elsewhere. */
static void
test_cut_elsewhere(void)
{
	static const char block[] =
	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	const ShProfile *profile =
	sh_profile_seeded(&profiles, sh_profile_find(&profiles, "seomoz-shingle", 14), 4711);
	char		text[2][300];
	uint64_t	hash[2];

	sprintf(text[0], "%sb c %s d", block, block);
	sprintf(text[1], "%s b c %sd", block, block);
	for (int i = 0; i < 2; i++)
	{
		ShCompat	compat;

		sh_compat_begin(&compat, profile, (unsigned char *) text[i],
						strlen(text[i]), no_pause);
		CHECK(sh_compat_next(&compat, &hash[i]));
	}
	CHECK(hash[0] != hash[1]);
}

/* A feature that is given is hashed by the seed, too. */
static void
test_given(void)
{
	for (int i = 0; i < sh_profile_count; i++)
	{
		const unsigned char *bytes = (const unsigned char *) "some word";
		const ShProfile *profile = &sh_profiles[i];
		uint64_t	hash;

		if (!sh_compat_profile(profile))
			continue;
		hash = sh_compat_hash(sh_profile_seeded(&profiles, profile, 4711), bytes, 9,
							  no_pause);
		CHECK(hash != sh_compat_hash(profile, bytes, 9, no_pause));
		CHECK(hash != sh_compat_hash(sh_profile_seeded(&profiles, profile, 4712), bytes,
									 9, no_pause));
		CHECK(hash == sh_compat_hash(sh_profile_seeded(&profiles, profile, 4711), bytes,
									 9, no_pause));
	}
}

int
main(void)
{
	seed_random();
	test_hostile();
	test_seeded();
	test_cut_elsewhere();
	test_given();
	return 0;
}
