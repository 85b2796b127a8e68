/*-------------------------------------------------------------------------
 *
 * documents.h
 *		The documents that bench/quality.c and bench/edits.c read, and what
 *		the core makes of them.
 *
 * Documents come on the standard input, each as a line of its cluster (a
 * number) and its length in bytes, the bytes, and a line end.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef DOCUMENTS_H
#define DOCUMENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/foreign/foreign.h"
#include "core/fingerprint/document.h"
#include "core/fingerprint/families.h"

/* A document of the input. */
typedef struct Entry
{
	long		cluster;
	size_t		length;
	unsigned char *bytes;
	uint64_t   *set;			/* its features, sorted, each once */
	size_t		features;
	bool		exists;			/* it has a fingerprint */
	uint64_t	fingerprint;
	uint64_t	minhash;
}			Entry;

/* A growing list of hashes. */
typedef struct HashList
{
	uint64_t   *hashes;
	size_t		n;
	size_t		allocated;
}			HashList;

static Entry * entries;
static size_t nentries;
static ShDocument document;
static ShWalks walks;

/* Get memory or give up. */
static void *
allocate(size_t bytes)
{
	void	   *result = malloc(bytes);

	if (result == NULL)
		exit(2);
	return result;
}

/* Append n hashes. */
static void
append(HashList * list, const uint64_t *hashes, size_t n)
{
	if (list->n + n > list->allocated)
	{
		list->allocated = 2 * (list->n + n);
		list->hashes = realloc(list->hashes,
							   list->allocated * sizeof *list->hashes);
		if (list->hashes == NULL)
			exit(2);
	}
	memcpy(list->hashes + list->n, hashes, n * sizeof *hashes);
	list->n += n;
}

/* ShDocumentSink: append the hashes of the features. */
static bool
append_windows(void *state, ShWindows *windows)
{
	uint64_t	hashes[SH_BATCH];
	size_t		n;

	while ((n = sh_windows_hashes(windows, hashes)) > 0)
		append((HashList *) state, hashes, n);
	return true;
}

/* What the core calls between long stretches of work. */
static void
no_pause(void)
{
}

/* The hashes of the features by a profile of another implementation. */
static void
append_compat(HashList * list, const ShProfile *profile, const Entry * entry)
{
	ShCompat	compat;
	const unsigned char *bytes = entry->bytes;
	unsigned char *lowered = NULL;
	size_t		length = entry->length;
	ShLower    *lower = sh_compat_lower(profile);
	uint64_t	hash;

	if (lower != NULL)
	{
		lowered = allocate(SH_LOWER_BYTES(length));
		length = lower(lowered, bytes, length, no_pause);
		bytes = lowered;
	}
	sh_compat_begin(&compat, profile, bytes, length, no_pause);
	while (sh_compat_next(&compat, &hash))
		append(list, &hash, 1);
	free(lowered);
}

/* The hashes of the features of a document, as they occur. */
static void
list_hashes(HashList * list, const ShProfile *profile, const Entry * entry)
{
	list->n = 0;
	if (sh_compat_profile(profile))
	{
		append_compat(list, profile, entry);
		return;
	}
	sh_document_begin(&document, profile);
	(void) sh_document_read(&document, entry->bytes, entry->length,
							append_windows, list);
	sh_document_read_end(&document, append_windows, list);
}

/* A value whose bits all depend on all bits of x. */
static uint64_t
mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Make of the hashes what another hash function might have: none for draw 0. */
static void
redraw(HashList * list, uint64_t draw)
{
	for (size_t i = 0; draw > 0 && i < list->n; i++)
		list->hashes[i] = mix(list->hashes[i] +
							  draw * UINT64_C(0x9e3779b97f4a7c15));
}

/* The SimHash fingerprint of the hashes. */
static bool
by_simhash(const HashList * list, const ShProfile *profile, uint64_t *result)
{
	ShSums		sums = {0};

	sh_tally_begin(&document.tally);
	for (size_t i = 0; i < list->n; i++)
	{
		for (uint32_t gain = sh_tally_add(&document.tally, profile->damping,
										  list->hashes[i]); gain > 0; gain--)
			sh_sums_add(&sums, &list->hashes[i], 1);
	}
	return sh_sums_fingerprint(&sums, result);
}

/* The MinHash fingerprint of the hashes. */
static bool
by_minhash(const HashList * list, uint64_t *result)
{
	ShMinima	minima;

	sh_minima_begin(&minima);
	sh_minima_add(&minima, list->hashes, list->n);
	return sh_minima_fingerprint(&minima, &walks, result);
}

/* Read the documents. */
static void
read_documents(void)
{
	long		cluster;
	size_t		length;
	size_t		allocated = 0;

	while (scanf("%ld %zu", &cluster, &length) == 2 && getchar() == '\n')
	{
		Entry	   *entry;

		if (nentries == allocated)
		{
			allocated = 2 * allocated + 64;
			entries = realloc(entries, allocated * sizeof *entries);
			if (entries == NULL)
				exit(2);
		}
		entry = &entries[nentries++];
		entry->cluster = cluster;
		entry->length = length;
		entry->bytes = allocate(length + 1);
		if (fread(entry->bytes, 1, length, stdin) != length)
			exit(2);
	}
}

/* ShTally's allocate; where memory comes from takes no context. */
static void *
allocate_in(void *context, size_t bytes)
{
	(void) context;
	return allocate(bytes);
}

/* Ready the core for documents. */
static void
begin_documents(void)
{
	document.tally.allocate = allocate_in;
	document.tally.release = free;
	document.tally.multiplier = UINT64_C(0x9e3779b97f4a7c15);
	read_documents();
}

#endif							/* DOCUMENTS_H */
