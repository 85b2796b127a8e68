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

#include "core/weights/idf.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define ENTRIES		300
#define VICTIMS		200
#define MUTATIONS	200

static ShProfiles profiles = {.allocate = malloc};
static ShIdfEntry entries[ENTRIES];

static void
no_pause(void)
{
}

static uint64_t pauses;

static void
count_pause(void)
{
	pauses++;
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
	idf->profile = random_below(3) == 0 ? &sh_no_profile :
		&sh_profiles[random_below((uint64_t) sh_profile_count)];
	if (idf->profile->unit < SH_UNIT_COMPAT && random_below(3) == 0)
		idf->profile = sh_profile_seeded(&profiles, idf->profile,
										 4711 + random_below(3));
	idf->shortest = 0;
	if (idf->kind == SH_IDF_GIVEN && sh_profile_given(idf->profile))
		idf->shortest = (int) random_below(SH_IDF_SHORTEST_MAX + 1);
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
		entries[0].hash = random_below(4) ? 0 : 1;
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
	uint64_t	hashes[3] = {0, UINT64_MAX, random_bits()};
	uint32_t	weights[3];
	ShIdfReader reader;
	ShIdfEntry	entry;
	bool		filled;
	bool		valid;

	if (sh_idf_open(&profiles, idf, bytes, length) != NULL)
		return false;
	valid = sh_idf_check(idf, no_pause) == NULL;

	/* what is damaged must do no harm either */
	table.n = sh_idf_buckets(idf);
	table.multiplier = random_bits() | 1;
	table.buckets = malloc(table.n * sizeof *table.buckets);
	filled = sh_idf_fill(&table, idf, no_pause);
	CHECK(filled || !valid);
	sh_idf_look_up(&table, hashes, weights, 3);
	sh_idf_read(&reader, idf);
	while (valid && sh_idf_next(&reader, &entry))
	{
		sh_idf_look_up(&table, &entry.hash, weights, 1);
		CHECK(weights[0] == (idf->kind == SH_IDF_GIVEN ? entry.value :
							 sh_idf_weight(idf->documents,
										   (uint32_t) entry.value)));
	}
	free(table.buckets);
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
			  again.shortest == idf.shortest &&
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

/*
 * Hashes that are there and that are not, in batches of any size, in tables of
 * the usual size and in ones that are as full as they can be, where most
 * features are far from where they belong.
 */
static void
test_look_up(void)
{
	static uint64_t hashes[2 * ENTRIES + 1];
	static uint32_t weights[2 * ENTRIES + 1];

	for (int round = 0; round < VICTIMS; round++)
	{
		ShIdf		idf;
		size_t		length;
		unsigned char *bytes = make_value(&idf, &length);
		size_t		n = 2 * (size_t) idf.entries;
		ShIdfTable	table;

		CHECK(sh_idf_open(&profiles, &idf, bytes, length) == NULL);
		table.n = round % 2 ? sh_idf_buckets(&idf) :
			(size_t) idf.entries / SH_IDF_BUCKET + 1;
		table.multiplier = random_bits() | 1;
		table.buckets = malloc(table.n * sizeof *table.buckets);
		CHECK(sh_idf_fill(&table, &idf, no_pause));
		for (size_t i = 0; i < n; i += 2)
		{
			hashes[i] = entries[i / 2].hash;
			hashes[i + 1] = entries[i / 2].hash + 1;
		}
		hashes[n++] = 0;
		sh_idf_look_up(&table, hashes, weights, n);
		for (size_t i = 0; i < n; i++)
		{
			ShIdfEntry	key = {hashes[i], 0};
			const ShIdfEntry *entry = bsearch(&key, entries, idf.entries,
											  sizeof key, by_hash);

			CHECK(weights[i] == (entry == NULL ? table.unknown :
								 idf.kind == SH_IDF_GIVEN ? entry->value :
								 sh_idf_weight(idf.documents,
											   (uint32_t) entry->value)));
		}
		free(table.buckets);
		free(bytes);
	}
}

/* Sums of weights, against 64 additions each: all at once and one by one. */
static void
test_sums(void)
{
	for (int round = 0; round < 200; round++)
	{
		static uint64_t hashes[3000];
		static uint32_t weights[3000];
		ShIdfSums	sums;
		int64_t		expected[SH_BITS] = {0};
		uint64_t	fingerprint;
		uint64_t	wanted = 0;
		uint64_t	n = random_below(3000);
		uint64_t	total = 0;
		bool		singly = random_below(2);

		sh_idf_sums_begin(&sums);
		for (uint64_t i = 0; i < n; i++)
		{
			uint64_t	weight = random_bits() >> (20 + random_below(44));

			hashes[i] = random_bits();
			weights[i] = (uint32_t) weight;
			if (singly)
				sh_idf_sums_add(&sums, hashes[i], weight);
			else
				weight = weights[i];
			total += weight;
			for (int bit = 0; bit < SH_BITS; bit++)
				expected[bit] += hashes[i] >> bit & 1 ?
					(int64_t) weight : -(int64_t) weight;
		}
		if (!singly)
			sh_idf_sums_add_all(&sums, hashes, weights, n);
		for (int bit = 0; bit < SH_BITS; bit++)
			wanted |= (uint64_t) (expected[bit] > 0) << bit;
		CHECK(sh_idf_sums_fingerprint(&sums, &fingerprint) == (total > 0));
		CHECK(fingerprint == wanted);
	}
}

/* qsort: the heaviest first, of equals as sh_idf_before says. */
static int
by_weight(const void *a, const void *b)
{
	return sh_idf_before(a, b) ? -1 : sh_idf_before(b, a);
}

/* Entries of different hashes, with values that are few, or of any bits. */
static void
draw_entries(ShIdfEntry *drawn, size_t n)
{
	uint64_t	values = random_below(2) ? 1 + random_below(5) :
	1 + (random_bits() >> random_below(64)) / 2;

	for (size_t i = 0; i < n; i++)
	{
		drawn[i].hash = i * (random_state | 1);
		drawn[i].value = random_below(values);
	}
}

/* The first k, against qsort. */
static void
test_top(void)
{
	enum
	{
		MANY = 5000
	};
	static ShIdfEntry drawn[MANY];
	static ShIdfEntry sorted[MANY];

	for (int round = 0; round < 400; round++)
	{
		size_t		n = random_below(random_below(2) ? MANY : 70);
		size_t		k = random_below(random_below(2) ? n + 2 : 40);

		draw_entries(drawn, n);
		memcpy(sorted, drawn, sizeof drawn);
		qsort(sorted, n, sizeof *sorted, by_weight);
		k = sh_idf_take_top(drawn, n, k, random_bits(), no_pause);
		qsort(drawn, k, sizeof *drawn, by_weight);
		CHECK(k <= n);
		CHECK(memcmp(drawn, sorted, k * sizeof *drawn) == 0);
	}
}

/* What takes long pauses, whatever the hashes are. */
static void
test_pauses(void)
{
	size_t		n = 40 * SH_IDF_STRETCH;
	ShIdfEntry *many = malloc(n * sizeof *many);

	for (int shape = 0; shape < 3; shape++)
	{
		for (size_t i = 0; i < n; i++)
		{
			many[i].hash = shape == 0 ? random_bits() :
				shape == 1 ? n - i : i % 2;
			many[i].value = i;
		}
		pauses = 0;
		sh_idf_take_top(many, n, n / 2, random_bits(), count_pause);
		CHECK(pauses >= n / SH_IDF_STRETCH);
		pauses = 0;
		sh_idf_take_top(many, n / 2, 20, random_bits(), count_pause);
		CHECK(pauses >= n / 2 / SH_IDF_STRETCH);
	}
	free(many);
}

int
main(void)
{
	seed_random();
	test_round_trip();
	test_hostile();
	test_look_up();
	test_sums();
	test_top();
	test_pauses();
	return 0;
}
