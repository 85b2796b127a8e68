/*-------------------------------------------------------------------------
 *
 * row_families.c
 *		Families among the rows of a query: rows that are similar to one and the same.
 *
 * Where in some rows something stands for something else, families decide.  They are
 * found first: what the similarity of features by itself connects, whatever is made of
 * the rows then, and in whatever order they come.  So rows of two families are not
 * similar enough.  What a family knows (src/compare/families.c), and what it knows of a
 * row, is learnt when it is first asked for, and forgotten when memory is short; of very
 * long rows nothing is.  Two rows of a family with other entries need not be aligned, so
 * a table of a single form takes no longer than others.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "common/hashfn.h"

#define FAMILY_MOST		40		/* rows that are looked at */
#define FAMILY_WORDS	100000	/* of a row, with more of which nothing is
								 * known */
#define FAMILIES_BYTES	(16 * 1024 * 1024)	/* that those learnt may take */

/* A family that has been learnt. */
typedef struct KnownFamily
{
	uint32		base;			/* the key */
	SimhashFamily *family;		/* NULL if it has too few rows */
} KnownFamily;

/* What the family of a row knows of it. */
typedef struct KnownMember
{
	uint32		row;			/* the key */
	SimhashMember member;
} KnownMember;

/* A hash of the fingerprint of a row, which is the same in all sessions. */
static uint64
hash_fingerprint(SimhashRowSearch *search, uint32 row)
{
	const ShPairs *pairs = &search->pairs;
	uint32		number = search->similar.number[row];

	if (search->rows.words > 1)
		return sh_mix(search->rows.fingerprints[(Size) number * search->rows.words]);
	return sh_mix(pairs->values[number] ^ (pairs->groups == NULL ? 0 :
										   sh_group_hash(pairs->seed, sh_pairs_group(pairs, number))));
}

/*
 * A hash of the words of a row, likewise, taken once, as its document may have to be
 * read for it.
 */
static uint32
hash_words(SimhashRowSearch *search, uint32 row)
{
	uint32	   *known = &search->similar.kin[row];
	SimhashDocument document;

	if (search->similar.text[row] != row)
		return 0;
	if (*known == SIMHASH_NO_ROW)
	{
		document = simhash_documents_get(search->rows.documents, row);
		*known = (uint32) (hash_bytes_extended((unsigned char *) document.words.forms,
											   (int) document.words.bytes, 0) >> 33);
	}
	return *known;
}

/* For qsort_arg: rows by their fingerprints and words, in whatever order they came. */
static int
compare_rows(const void *a, const void *b, void *arg)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;
	uint64		hash_x = hash_fingerprint(arg, x);
	uint64		hash_y = hash_fingerprint(arg, y);

	CHECK_FOR_INTERRUPTS();
	if (hash_x == hash_y && x != y)
	{
		hash_x = hash_words(arg, x);
		hash_y = hash_words(arg, y);
	}
	if (hash_x != hash_y)
		return hash_x < hash_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Begin to keep families that are learnt. */
static void
keep_families(SimhashSimilar *similar)
{
	MemoryContextReset(similar->families_context);
	similar->families = simhash_make_hash("simhash families", 256, sizeof(uint32),
										  sizeof(KnownFamily), similar->families_context);
	similar->members = simhash_make_hash("simhash members", 256, sizeof(uint32),
										 sizeof(KnownMember), similar->families_context);
}

/*
 * Families have been found, as trees of rows: list the rows of each, those first that
 * would be in whatever order the rows came.
 */
void
simhash_families_found(SimhashRowSearch *search)
{
	SimhashSimilar *similar = &search->similar;
	uint32		n = search->rows.n;
	uint32	   *rows = similar->last;	/* not needed now */
	uint32	   *first = similar->before;

	for (uint32 i = 0; i < n; i++)
	{
		rows[i] = i;
		first[i] = similar->kin[i] = SIMHASH_NO_ROW;
	}
	qsort_arg(rows, n, sizeof *rows, compare_rows, search);
	for (uint32 i = 0; i < n; i++)
		similar->kin[i] = SIMHASH_NO_ROW;
	for (uint32 i = n; i-- > 0;)
	{
		uint32		row = rows[i];
		uint32		tree = sh_cluster_of(similar->base, row);

		CHECK_FOR_INTERRUPTS();
		if (similar->text[row] != row)
			continue;
		similar->kin[row] = first[tree];
		first[tree] = row;
	}
	for (uint32 i = 0; i < n; i++)
		rows[i] = first[sh_cluster_of(similar->base, i)];
	memcpy(similar->base, rows, n * sizeof *rows);
	similar->families_context = AllocSetContextCreate(search->rows.context, "simhash families",
													  ALLOCSET_DEFAULT_SIZES);
	keep_families(similar);
}

/* Learn what a family knows; NULL if it has too few rows. */
static SimhashFamily *
learn_family(SimhashRowSearch *search, uint32 base)
{
	const SimhashSimilar *similar = &search->similar;
	SimhashDocuments *documents = search->rows.documents;
	MemoryContext scratch;
	MemoryContext old;
	SimhashFamily *family;
	uint32		rows = 1;
	SimhashDocument document;

	for (uint32 row = similar->kin[base]; row != SIMHASH_NO_ROW && rows < FAMILY_MOST;
		 row = similar->kin[row])
		rows++;
	if (rows < SIMHASH_FAMILY_LEAST)
		return NULL;
	document = simhash_documents_get(documents, base);
	if (document.words.n > FAMILY_WORDS)
		return NULL;
	old = MemoryContextSwitchTo(similar->families_context);
	family = simhash_family_begin(&document.words, rows);
	scratch = AllocSetContextCreate(CurrentMemoryContext, "simhash alignment",
									ALLOCSET_DEFAULT_SIZES);
	for (uint32 row = similar->kin[base]; row != SIMHASH_NO_ROW && --rows > 0;
		 row = similar->kin[row])
	{
		document = simhash_documents_get(documents, row);
		MemoryContextSwitchTo(scratch);
		simhash_family_add(family, &document.words);
		MemoryContextReset(scratch);
	}
	MemoryContextSwitchTo(similar->families_context);
	simhash_family_end(family);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(scratch);
	return family;
}

/* A number for the family of a row. */
int64
simhash_families_number(const SimhashRowSearch *search, uint32 row)
{
	return (int64) search->similar.base[row] + 1;
}

/* What is known of the family of a row; NULL if nothing is. */
static SimhashFamily *
find_family(SimhashRowSearch *search, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	KnownFamily *known;
	uint32		base = similar->base[row];
	bool		found;

	known = hash_search(similar->families, &base, HASH_ENTER, &found);
	if (found)
		return known->family;
	known->family = NULL;
	known->family = learn_family(search, base);
	return known->family;
}

/* What the family of a row knows of it. */
static const SimhashMember *
find_member(SimhashRowSearch *search, const SimhashFamily *family, uint32 row)
{
	SimhashSimilar *similar = &search->similar;
	SimhashDocument document;
	KnownMember *known;
	MemoryContext old;
	bool		found;

	known = hash_search(similar->members, &row, HASH_ENTER, &found);
	if (found)
		return &known->member;
	document = simhash_documents_get(search->rows.documents, row);
	old = MemoryContextSwitchTo(similar->families_context);
	known->member = simhash_family_member(family, &document.words);
	MemoryContextSwitchTo(old);
	return &known->member;
}

/*
 * The family of two rows, to judge them by; NULL if nothing is known of it.  Sets
 * whether they have other entries there.
 */
SimhashFamily *
simhash_families_ask(SimhashRowSearch *search, uint32 row, uint32 other, bool *differ)
{
	SimhashSimilar *similar = &search->similar;
	SimhashDocuments *documents = search->rows.documents;
	SimhashFamily *family;
	const SimhashMember *mine;
	const SimhashMember *theirs;
	SimhashDocument document;

	*differ = false;
	if (MemoryContextMemAllocated(similar->families_context, true) > FAMILIES_BYTES)
		keep_families(similar);
	family = find_family(search, other);
	if (family == NULL)
		return NULL;
	mine = find_member(search, family, row);
	theirs = find_member(search, family, other);
	simhash_documents_load(documents, row);
	document = simhash_documents_get(documents, other);
	*differ = simhash_family_differ(family, &documents->current.words, mine,
									&document.words, theirs);
	return family;
}
