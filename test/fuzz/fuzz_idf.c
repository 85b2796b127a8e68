/*-------------------------------------------------------------------------
 *
 * fuzz_idf.c
 *		Any bytes as a stored value of document frequencies.
 *
 * Bytes that are no value are refused, or do no harm; those that are one mean
 * what is written when their entries are written again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "core/weights/idf.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static ShProfiles profiles = {.allocate = malloc};

/* Look features up as a fingerprint does; the value may be damaged. */
static void
look_up(const ShIdf *idf, bool valid)
{
	ShIdfTable	table;
	ShIdfReader reader;
	ShIdfEntry	entry;
	uint64_t	hashes[3] = {0, UINT64_MAX, UINT64_C(0x0123456789abcdef)};
	uint32_t	weights[3];
	bool		filled;

	table.n = sh_idf_buckets(idf);
	table.multiplier = 1;
	table.buckets = malloc(table.n * sizeof *table.buckets);
	filled = sh_idf_fill(&table, idf, no_pause);
	CHECK(filled || !valid);
	sh_idf_look_up(&table, hashes, weights, 3);
	sh_idf_read(&reader, idf);
	while (valid && sh_idf_next(&reader, &entry))
	{
		sh_idf_look_up(&table, &entry.hash, weights, 1);
		CHECK(weights[0] == sh_idf_entry_weight(idf, &entry));
	}
	free(table.buckets);
}

/* Write a value again: what is read from it is the same. */
static void
write_again(const ShIdf *idf)
{
	ShIdfEntry *entries = malloc((idf->entries + 1) * sizeof *entries);
	uint64_t	n = 0;
	ShIdfReader reader;
	ShIdf		again;
	ShIdfEntry	entry;
	size_t		length;
	uint8_t    *bytes;

	sh_idf_read(&reader, idf);
	while (sh_idf_next(&reader, &entry))
	{
		CHECK(n < idf->entries);
		CHECK(n == 0 || entries[n - 1].hash < entry.hash);
		entries[n++] = entry;
	}
	CHECK(n == idf->entries);
	length = sh_idf_write(NULL, idf, entries);
	bytes = malloc(length);
	CHECK(sh_idf_write(bytes, idf, entries) == length);
	CHECK(sh_idf_open(&profiles, &again, bytes, length) == NULL);
	CHECK(sh_idf_check(&again, no_pause) == NULL);
	CHECK(again.kind == idf->kind && again.profile == idf->profile &&
		  again.shortest == idf->shortest &&
		  again.documents == idf->documents &&
		  again.fallback == idf->fallback && again.entries == idf->entries);
	sh_idf_read(&reader, &again);
	for (n = 0; sh_idf_next(&reader, &entry); n++)
		CHECK(entry.hash == entries[n].hash && entry.value == entries[n].value);
	CHECK(n == idf->entries);
	free(bytes);
	free(entries);
}

/*
 * The first byte says whether to make the checksum right, as somebody who
 * means harm would.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	Input		input = {bytes, length};
	bool		forge = take(&input, 1) % 2 == 1;
	uint8_t    *copy = malloc(input.left + 1);
	ShIdf		idf;
	bool		valid;

	if (input.left > 0)
		memcpy(copy, input.bytes, input.left);
	if (sh_idf_open(&profiles, &idf, copy, input.left) == NULL)
	{
		if (forge)
			idf.checksum = XXH3_64bits(idf.payload, idf.length);
		valid = sh_idf_check(&idf, no_pause) == NULL;
		look_up(&idf, valid);
		if (valid)
			write_again(&idf);
	}
	free(copy);
	return 0;
}
