/*-------------------------------------------------------------------------
 *
 * rows.c
 *		Rows sorted and collapsed by fingerprint, before pairs are sought.
 *
 * A radix sort by the leading eleven bits that vary, then each part likewise;
 * rows with equal fingerprints stay in order.  A hundred thousand rows with
 * the same fingerprint cost no more here than as many different ones, and
 * nothing afterwards.
 *
 * Rows may be in groups, and then only rows of the same group make a pair.  Let
 * h be a hash of the group.  In place of a fingerprint f we take f ^ h: as
 * (f ^ h) ^ (g ^ h) = f ^ g, distances within a group stay, and groups lie as
 * if at random to each other.  So the search need not know of groups, and finds
 * hardly more pairs than among random fingerprints; then the groups of the two
 * rows are compared.  But two rows of different groups with the same f ^ h would
 * be collapsed into one.  Where that happens, all begins anew with other hashes:
 * among ten million rows once in 400,000 times.
 *
 * Fingerprints of several words are collapsed by a hash of these and of the
 * group, with the same care.  wide_pairs.c searches them word by word.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/pairs/engine.h"

#include <string.h>

#define INSERTION		32		/* rows few enough to sort by insertion */
#define TICK			(1 << 20)	/* rows that take a while */

/* Leading bits by which to look up one of n values: of some 4 to 8 each. */
static int
directory_bits(uint32_t n)
{
	int			bits = sh_bit_length(n) - 3;

	return bits < 0 ? 0 : bits;
}

/* Bits of the keys by which to search n values: about one value to a key. */
int
sh_pairs_key_bits(uint32_t n)
{
	int			bits = sh_bit_length(n) - 1;

	return bits < SH_DIGIT ? SH_DIGIT : bits > SH_KEYS_MAX ? SH_KEYS_MAX : bits;
}

/* The memory that n rows need, besides their fingerprints. */
size_t
sh_pairs_bytes(uint32_t n)
{
	return (size_t) n * (2 * sizeof(uint64_t) + 2 * sizeof(uint32_t)) +
		(((size_t) 1 << directory_bits(n)) + 3 +
		 ((size_t) 1 << sh_pairs_key_bits(n))) * sizeof(uint32_t);
}

/* Begin with the fingerprints of n rows, and that much memory. */
void
sh_pairs_begin(ShPairs *pairs, uint64_t *values, void *memory, uint32_t n)
{
	memset(pairs, 0, sizeof *pairs);
	pairs->n = n;
	pairs->values = values;
	pairs->work = memory;
	pairs->spare = pairs->work + n;
	pairs->rows = (uint32_t *) (pairs->spare + n);
	pairs->first = pairs->rows + n;
	pairs->directory = pairs->first + n + 1;
	pairs->ends = pairs->directory + ((size_t) 1 << directory_bits(n)) + 2;
	pairs->kind = sh_compare_fastest();
	pairs->progress_share = 1;
}

/* Rows that are being sorted, and room for as many. */
typedef struct ShRows
{
	uint64_t   *values;
	uint32_t   *rows;
} ShRows;

/* Sort a few rows by insertion; equal ones stay in order. */
static void
insert_rows(ShRows at, size_t n)
{
	for (size_t i = 1; i < n; i++)
	{
		uint64_t	value = at.values[i];
		uint32_t	row = at.rows[i];
		size_t		j = i;

		for (; j > 0 && at.values[j - 1] > value; j--)
		{
			at.values[j] = at.values[j - 1];
			at.rows[j] = at.rows[j - 1];
		}
		at.values[j] = value;
		at.rows[j] = row;
	}
}

/*
 * Sort rows by the last so many bits of their values, the others being equal:
 * by the leading ones of these, into the other room and back, and then each
 * part likewise.
 */
static void
sort_rows(const ShPairs *pairs, ShRows at, ShRows other, size_t n, int bits)
{
	uint32_t	ends[SH_PARTS];
	int			digit = bits < SH_DIGIT ? bits : SH_DIGIT;
	uint32_t	mask = (UINT32_C(1) << digit) - 1;
	uint32_t	start = 0;

	if (n <= INSERTION || bits == 0)
	{
		insert_rows(at, n);
		return;
	}
	bits -= digit;
	memset(ends, 0, (mask + 1) * sizeof *ends);
	for (size_t i = 0; i < n; i++)
		ends[at.values[i] >> bits & mask]++;
	if (n >= TICK)
		sh_pairs_tell(pairs, 0);
	if (ends[at.values[0] >> bits & mask] == n)
	{
		sort_rows(pairs, at, other, n, bits);
		return;
	}
	sh_sizes_to_starts(ends, mask + 1, 0);
	for (size_t i = 0; i < n; i++)
	{
		uint32_t	to = ends[at.values[i] >> bits & mask]++;

		other.values[to] = at.values[i];
		other.rows[to] = at.rows[i];
	}
	memcpy(at.values, other.values, n * sizeof *at.values);
	memcpy(at.rows, other.rows, n * sizeof *at.rows);
	for (uint32_t part = 0; part <= mask; start = ends[part++])
	{
		ShRows		part_at = {at.values + start, at.rows + start};
		ShRows		part_other = {other.values + start, other.rows + start};

		if (ends[part] - start > 1)
			sort_rows(pairs, part_at, part_other, ends[part] - start, bits);
		if (n >= TICK)
			sh_pairs_tell(pairs, 0);
	}
}

/* Note where the values with each beginning of the bits that vary start. */
static void
make_directory(ShPairs *pairs)
{
	uint64_t	base = pairs->values[0];
	int			shift = sh_bit_length(pairs->values[pairs->distinct - 1] - base) -
	directory_bits(pairs->n);
	uint64_t	next = 0;

	shift = shift < 0 ? 0 : shift < SH_BITS ? shift : SH_BITS - 1;
	pairs->directory_shift = shift;
	for (uint32_t i = 0; i < pairs->distinct; i++)
	{
		for (; next <= (pairs->values[i] - base) >> shift; next++)
			pairs->directory[next] = i;
	}
	pairs->directory[next] = pairs->distinct;
}

/* Sort the rows by fingerprint, and number the distinct fingerprints. */
static void
collapse_equal(ShPairs *pairs)
{
	ShRows		at = {pairs->values, pairs->rows};
	ShRows		other = {pairs->work, pairs->first};
	uint64_t   *values = pairs->values;
	uint32_t	distinct = 0;

	for (uint32_t i = 0; i < pairs->n; i++)
		pairs->rows[i] = i;
	sort_rows(pairs, at, other, pairs->n, SH_BITS);
	for (uint32_t i = 0; i < pairs->n; i++)
	{
		if (i == 0 || values[i] != values[distinct - 1])
		{
			values[distinct] = values[i];
			pairs->first[distinct++] = i;
		}
	}
	pairs->first[distinct] = pairs->n;
	pairs->distinct = distinct;
}

/* --- hashes --------------------------------------------------------------- */

/* Are two rows of different groups, or of different words? */
static bool
rows_differ(const ShPairs *pairs, uint32_t a, uint32_t b)
{
	size_t		words = (size_t) pairs->words;

	return (pairs->groups != NULL && pairs->groups[a] != pairs->groups[b]) ||
		(pairs->wide != NULL && memcmp(pairs->wide + a * words,
									   pairs->wide + b * words,
									   words * sizeof *pairs->wide) != 0);
}

/* Have rows been collapsed that differ? */
static bool
unlike_rows_meet(const ShPairs *pairs)
{
	for (uint32_t i = 0; i < pairs->distinct; i++)
	{
		uint32_t	row = pairs->rows[pairs->first[i]];

		for (uint32_t j = pairs->first[i] + 1; j < pairs->first[i + 1]; j++)
		{
			if (rows_differ(pairs, pairs->rows[j], row))
				return true;
		}
	}
	return false;
}

/* Give the rows their own fingerprints back, in the order of the rows. */
static void
separate_rows(ShPairs *pairs)
{
	for (uint32_t i = 0; i < pairs->distinct; i++)
	{
		for (uint32_t j = pairs->first[i]; j < pairs->first[i + 1]; j++)
		{
			uint32_t	row = pairs->rows[j];

			pairs->work[row] = pairs->values[i] ^
				sh_group_hash(pairs->seed, pairs->groups[row]);
		}
	}
	memcpy(pairs->values, pairs->work, pairs->n * sizeof *pairs->values);
}

/*
 * What rows are collapsed by: the hash of its words and group, or a fingerprint
 * combined with the group.
 */
static uint64_t
collapsing_value(const ShPairs *pairs, uint32_t row)
{
	uint64_t	hash = pairs->groups == NULL ? pairs->seed
	: sh_group_hash(pairs->seed, pairs->groups[row]);
	size_t		words = (size_t) pairs->words;

	if (pairs->wide == NULL)
		return pairs->values[row] ^ hash;
	for (size_t i = 0; i < words; i++)
		hash = sh_mix(hash ^ pairs->wide[row * words + i]) + pairs->seed;
	return hash;
}

/*
 * Sort the rows by fingerprint, and collapse those that have the same; by other
 * hashes once more where two met that differ.
 */
void
sh_pairs_collapse(ShPairs *pairs)
{
	bool		hashed = pairs->wide != NULL || pairs->groups != NULL;

	for (;; pairs->seed++)
	{
		for (uint32_t i = 0; hashed && i < pairs->n; i++)
			pairs->values[i] = collapsing_value(pairs, i);
		collapse_equal(pairs);
		if (!hashed || !unlike_rows_meet(pairs))
			break;
		if (pairs->wide == NULL)
			separate_rows(pairs);
		sh_pairs_tell(pairs, 0);
	}
	if (pairs->distinct > 0)
		make_directory(pairs);
}

/* Where to look for the number of a fingerprint. */
static inline const uint32_t *
directory_entry(const ShPairs *pairs, uint64_t value)
{
	return pairs->directory +
		((value - pairs->values[0]) >> pairs->directory_shift);
}

/* The number of a fingerprint that is there will be asked for. */
void
sh_pairs_fetch_number(const ShPairs *pairs, uint64_t value)
{
	__builtin_prefetch(&pairs->values[*directory_entry(pairs, value)]);
}

/* The number of a fingerprint that is there. */
uint32_t
sh_pairs_number(const ShPairs *pairs, uint64_t value)
{
	const uint32_t *entry = directory_entry(pairs, value);
	uint32_t	low = entry[0];
	uint32_t	high = entry[1];

	while (high - low > 1)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (pairs->values[middle] <= value)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * The number of the fingerprint of each row, in the first half of the array
 * "work".
 */
uint32_t   *
sh_pairs_number_rows(const ShPairs *pairs)
{
	uint32_t   *number = (uint32_t *) pairs->work;

	for (uint32_t i = 0; i < pairs->distinct; i++)
	{
		if (i % TICK == 0)
			sh_pairs_tell(pairs, 1);
		for (uint32_t j = pairs->first[i]; j < pairs->first[i + 1]; j++)
			number[pairs->rows[j]] = i;
	}
	return number;
}
