/*-------------------------------------------------------------------------
 *
 * idf.c
 *		How rare features are: inverse document frequencies.
 *
 * A feature that every document has tells little, a rare one much.  A value
 * of this kind says how much, for the features of one profile:
 *
 *	- learnt: from N documents, of which df have the feature, by
 *	  idf = ln((1 + N) / (1 + df)) + 1, which is never 0 and is defined for
 *	  features never seen (df = 0).  It keeps N and the df, not the weights,
 *	  so that values learnt from parts of a corpus add up to the value learnt
 *	  from the whole, in any order.
 *	- given: the weights themselves, as in the files of word segmenters, and
 *	  what an unknown feature weighs.
 *
 * The features may also be words of no profile, those of arrays; then weights
 * can say how long a word must be to count.
 *
 * Weights are rounded to multiples of 2^-16.  What is added up is whole
 * numbers, exact in every order, and the last digit of a logarithm does not
 * show.
 *
 * The bytes of a value, numbers little-endian:
 *
 *	version (1 byte), kind (1), length of the profile's name (1), characters
 *	of the shortest word that counts (1), the name, documents (4), fallback weight (4), entries (8),
 *	checksum (8: XXH3 of what follows), and for each feature, in ascending
 *	order of the hashes: the difference to the hash before (to 0 for the
 *	first), and the frequency or weight, both in base 128 with the lowest
 *	digit first and the high bit set in all bytes but the last.
 *
 * Hashes spread evenly, so a million of them lie 2^44 apart: seven bytes for
 * the hash, and one for most frequencies, since most features are rare.
 *
 * The bytes may come from anywhere.  sh_idf_check says whether they are what
 * they should be, and no function here reads beyond them if they are not.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/weights/idf.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define VARINT_MAX		10		/* bytes of the longest number */
#define HEADER_MAX		128		/* bytes; every header is shorter */

/* --- bytes --------------------------------------------------------------- */

/* A number of n bytes. */
static uint64_t
read_number(const unsigned char *p, int n)
{
	uint64_t	result = 0;

	for (int i = n - 1; i >= 0; i--)
		result = result << 8 | p[i];
	return result;
}

static unsigned char *
write_number(unsigned char *p, uint64_t value, int n)
{
	for (int i = 0; i < n; i++)
		*p++ = (unsigned char) (value >> (8 * i));
	return p;
}

/* A number in base 128; false when it is cut off, too large or too long. */
static inline bool
read_varint(const unsigned char **p, const unsigned char *end, uint64_t *value)
{
	uint64_t	result = 0;

	for (int shift = 0; *p < end && shift < 64; shift += 7)
	{
		unsigned char byte = *(*p)++;

		if (shift == 63 && byte > 1)
			return false;
		result |= (uint64_t) (byte & 0x7f) << shift;
		if (byte < 0x80)
		{
			*value = result;
			return byte != 0 || shift == 0;
		}
	}
	return false;
}

static inline unsigned char *
write_varint(unsigned char *p, uint64_t value)
{
	while (value >= 0x80)
	{
		*p++ = (unsigned char) value | 0x80;
		value >>= 7;
	}
	*p++ = (unsigned char) value;
	return p;
}

/* Read the header of a value.  Returns NULL, or what is wrong. */
const char *
sh_idf_open(ShProfiles *profiles, ShIdf *idf, const unsigned char *bytes,
			size_t length)
{
	const unsigned char *p;
	size_t		header;

	if (length < 4)
		return "It is truncated.";
	if (bytes[0] != SH_IDF_VERSION)
		return "It is of another version.";
	if (bytes[1] > SH_IDF_GIVEN)
		return "Its kind is unknown.";
	header = 4 + (size_t) bytes[2] + 24;
	if (header > HEADER_MAX)
		return "The name of its profile is too long.";
	if (header > length)
		return "It is truncated.";
	idf->kind = (ShIdfKind) bytes[1];
	idf->profile = bytes[2] == 0 ? &sh_no_profile :
		sh_profile_find(profiles, (const char *) bytes + 4, bytes[2]);
	if (idf->profile == NULL)
		return "Its profile does not exist.";
	idf->shortest = bytes[3];
	p = bytes + 4 + bytes[2];
	idf->documents = (uint32_t) read_number(p, 4);
	idf->fallback = (uint32_t) read_number(p + 4, 4);
	idf->entries = read_number(p + 8, 8);
	idf->checksum = read_number(p + 16, 8);
	idf->payload = bytes + header;
	idf->length = length - header;
	if (idf->entries > SH_IDF_ENTRIES_MAX || idf->entries > idf->length / 2)
		return "It is truncated.";
	if (idf->fallback > SH_IDF_WEIGHT_MAX ||
		(idf->kind == SH_IDF_LEARNT ? idf->fallback : idf->documents) != 0 ||
		(idf->shortest != 0 && (idf->kind == SH_IDF_LEARNT ||
								!sh_profile_given(idf->profile))))
		return "Its header contradicts itself.";
	return NULL;
}

/* Begin to read the entries of a value. */
void
sh_idf_read(ShIdfReader *reader, const ShIdf *idf)
{
	reader->next = idf->payload;
	reader->end = idf->payload + idf->length;
	reader->least = idf->kind == SH_IDF_LEARNT ? 1 : 0;
	reader->most = idf->kind == SH_IDF_LEARNT ?
		idf->documents : SH_IDF_WEIGHT_MAX;
	reader->left = idf->entries;
	reader->begun = false;
	reader->hash = 0;
}

/* Read the next entry; false when there is none, or no valid one. */
bool
sh_idf_next(ShIdfReader *reader, ShIdfEntry *entry)
{
	uint64_t	step;
	uint64_t	value;

	if (reader->left == 0 ||
		!read_varint(&reader->next, reader->end, &step) ||
		!read_varint(&reader->next, reader->end, &value) ||
		value < reader->least || value > reader->most)
		return false;
	if (reader->begun && (step == 0 || reader->hash + step < reader->hash))
		return false;
	reader->begun = true;
	reader->left--;
	reader->hash += step;
	entry->hash = reader->hash;
	entry->value = (uint32_t) value;
	return true;
}

/* Check all of a value that was opened.  Returns NULL, or what is wrong. */
const char *
sh_idf_check(const ShIdf *idf, void (*pause) (void))
{
	ShIdfReader reader;
	ShIdfEntry	entry;

	if (XXH3_64bits(idf->payload, idf->length) != idf->checksum)
		return "Its checksum is wrong.";
	sh_idf_read(&reader, idf);
	while (sh_idf_next(&reader, &entry))
	{
		if (reader.left % SH_IDF_STRETCH == 0)
			pause();
	}
	if (reader.left > 0 || reader.next < reader.end)
		return "Its features are damaged.";
	return NULL;
}

/*
 * Write a value, of which the caller has filled in the fields up to "entries",
 * with entries in ascending order of their hashes.  Returns the bytes that it
 * takes; to NULL, only says how many.
 */
size_t
sh_idf_write(unsigned char *to, const ShIdf *idf, const ShIdfEntry *entries)
{
	size_t		name = strlen(idf->profile->name);
	size_t		header = 4 + name + 24;
	size_t		length = header;
	uint64_t	last = 0;
	unsigned char *p = to;

	for (uint64_t i = 0; i < idf->entries; i++)
	{
		unsigned char bytes[2 * VARINT_MAX];
		size_t		n;

		n = (size_t) (write_varint(write_varint(bytes, entries[i].hash - last),
								   entries[i].value) - bytes);
		if (to != NULL)
			memcpy(to + length, bytes, n);
		length += n;
		last = entries[i].hash;
	}
	if (to == NULL)
		return length;
	*p++ = SH_IDF_VERSION;
	*p++ = (unsigned char) idf->kind;
	*p++ = (unsigned char) name;
	*p++ = (unsigned char) idf->shortest;
	memcpy(p, idf->profile->name, name);
	p = write_number(p + name, idf->documents, 4);
	p = write_number(p, idf->fallback, 4);
	p = write_number(p, idf->entries, 8);
	write_number(p, XXH3_64bits(to + header, length - header), 8);
	return length;
}

/* The weight of a feature that so many of the documents have. */
uint32_t
sh_idf_weight(uint32_t documents, uint32_t frequency)
{
	double		idf = log((1.0 + documents) / (1.0 + frequency)) + 1;

	return (uint32_t) floor(idf * SH_IDF_ONE + 0.5);
}

/* The weight of a feature of a value. */
uint32_t
sh_idf_entry_weight(const ShIdf *idf, const ShIdfEntry *entry)
{
	return idf->kind == SH_IDF_GIVEN ? (uint32_t) entry->value :
		sh_idf_weight(idf->documents, (uint32_t) entry->value);
}

/* The weight of the features that are not in a value. */
uint32_t
sh_idf_unknown_weight(const ShIdf *idf)
{
	return idf->kind == SH_IDF_GIVEN ? idf->fallback :
		sh_idf_weight(idf->documents, 0);
}
