/*-------------------------------------------------------------------------
 *
 * unit_idf.c
 *		Inverse document frequencies: round trips, hostile bytes, sums.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <string.h>

#include "idf.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ENTRIES		300
#define VICTIMS		200
#define MUTATIONS	200

static ShIdfEntry entries[ENTRIES];

static void
no_pause(void)
{
}

/* qsort: by hash. */
static int
by_hash(const void *a, const void *b)
{
	uint64_t	x = ((const ShIdfEntry *) a)->hash;
	uint64_t	y = ((const ShIdfEntry *) b)->hash;

	return x < y ? -1 : x > y;
}

/* Make a random value with n entries; the caller frees it. */
static unsigned char *
make_value(ShIdf *idf, size_t *length)
{
	unsigned char *bytes;

	memset(idf, 0, sizeof *idf);
	idf->kind = random_below(2) ? SH_IDF_LEARNT : SH_IDF_GIVEN;
	idf->profile = &sh_profiles[random_below((uint64_t) sh_profile_count)];
	if (idf->kind == SH_IDF_LEARNT)
		idf->documents = (uint32_t) random_below(UINT32_MAX) + 1;
	else
		idf->fallback = (uint32_t) random_below(SH_IDF_WEIGHT_MAX);
	idf->entries = random_below(ENTRIES);
	for (uint64_t i = 0; i < idf->entries; i++)
	{
		entries[i].hash = random_bits();
		entries[i].value = idf->kind == SH_IDF_LEARNT ?
			1 + (uint32_t) random_below(idf->documents) :
			(uint32_t) random_below(SH_IDF_WEIGHT_MAX);
	}
	if (idf->entries > 1)
	{
		entries[0].hash = 0;
		entries[1].hash = UINT64_MAX;
	}
	qsort(entries, idf->entries, sizeof *entries, by_hash);
	*length = sh_idf_write(NULL, idf, entries);
	bytes = malloc(*length);
	CHECK(sh_idf_write(bytes, idf, entries) == *length);
	return bytes;
}

/* Open, check and use bytes; true when they are a value. */
static bool
use_value(const unsigned char *bytes, size_t length, ShIdf *idf)
{
	ShIdfTable	table;
	size_t		header;
	uint64_t	hashes[3] = {0, UINT64_MAX, random_bits()};
	uint32_t	weights[3];
	ShIdfReader reader;
	ShIdfEntry	entry;
	bool		filled;
	bool		valid;

	if (sh_idf_open(idf, bytes, length, length, &header) != NULL)
		return false;
	valid = sh_idf_check(idf, no_pause) == NULL;

	/* what is damaged must do no harm either */
	table.slots = sh_idf_slots(idf);
	table.multiplier = random_bits() | 1;
	table.entries = malloc(table.slots * sizeof *table.entries);
	filled = sh_idf_fill(&table, idf, no_pause);
	CHECK(filled || !valid);
	sh_idf_look_up(&table, hashes, weights, 3);
	sh_idf_read(&reader, idf);
	while (valid && sh_idf_next(&reader, &entry))
	{
		sh_idf_look_up(&table, &entry.hash, weights, 1);
		CHECK(weights[0] == (idf->kind == SH_IDF_GIVEN ? entry.value :
							 sh_idf_weight(idf->documents, entry.value)));
	}
	free(table.entries);
	return valid;
}

/* What is written can be read. */
static void
test_round_trip(void)
{
	for (int round = 0; round < VICTIMS; round++)
	{
		ShIdf		idf;
		ShIdf		again;
		ShIdfReader reader;
		ShIdfEntry	entry;
		size_t		length;
		unsigned char *bytes = make_value(&idf, &length);

		CHECK(use_value(bytes, length, &again));
		CHECK(again.kind == idf.kind && again.profile == idf.profile &&
			  again.documents == idf.documents &&
			  again.fallback == idf.fallback && again.entries == idf.entries);
		sh_idf_read(&reader, &again);
		for (uint64_t i = 0; i < idf.entries; i++)
		{
			CHECK(sh_idf_next(&reader, &entry));
			CHECK(entry.hash == entries[i].hash &&
				  entry.value == entries[i].value);
		}
		CHECK(!sh_idf_next(&reader, &entry));
		free(bytes);
	}
}

/* Bytes changed, with the checksum made right again by the attacker. */
static void
test_hostile(void)
{
	int			accepted = 0;

	for (int round = 0; round < VICTIMS; round++)
	{
		ShIdf		idf;
		size_t		length;
		unsigned char *victim = make_value(&idf, &length);
		size_t		header = 4 + strlen(idf.profile->name) + 24;

		for (int i = 0; i < MUTATIONS; i++)
		{
			size_t		n = random_below(4) ? length : random_below(length + 1);
			unsigned char *bytes = malloc(n > 0 ? n : 1);
			uint64_t	changes = random_below(4);

			memcpy(bytes, victim, n);
			for (uint64_t c = 0; n > 0 && c < changes; c++)
				bytes[random_below(n)] = (unsigned char) random_bits();
			if (n >= header && random_below(4))
			{
				uint64_t	sum = XXH3_64bits(bytes + header, n - header);

				for (int b = 0; b < 8; b++)
					bytes[header - 8 + (size_t) b] = (unsigned char) (sum >> (8 * b));
			}
			accepted += use_value(bytes, n, &idf);
			free(bytes);
		}
		free(victim);
	}
	CHECK(accepted > 0);
}

/* Sums of weights, against 64 additions each. */
static void
test_sums(void)
{
	for (int round = 0; round < 200; round++)
	{
		ShIdfSums	sums;
		int64_t		expected[SH_BITS] = {0};
		uint64_t	fingerprint;
		uint64_t	wanted = 0;
		uint64_t	n = random_below(3000);
		uint64_t	total = 0;

		sh_idf_sums_begin(&sums);
		for (uint64_t i = 0; i < n; i++)
		{
			uint64_t	hash = random_bits();
			uint64_t	weight = random_bits() >> (20 + random_below(44));

			sh_idf_sums_add(&sums, hash, weight);
			total += weight;
			for (int bit = 0; bit < SH_BITS; bit++)
				expected[bit] += hash >> bit & 1 ?
					(int64_t) weight : -(int64_t) weight;
		}
		for (int bit = 0; bit < SH_BITS; bit++)
			wanted |= (uint64_t) (expected[bit] > 0) << bit;
		CHECK(sh_idf_sums_fingerprint(&sums, &fingerprint) == (total > 0));
		CHECK(fingerprint == wanted);
	}
}

int
main(void)
{
	seed_random();
	test_round_trip();
	test_hostile();
	test_sums();
	return 0;
}
