/*-------------------------------------------------------------------------
 *
 * edits.c
 *		Distances between documents and lightly edited copies of them.
 *
 * usage: edits DRAWS TEXTS < documents
 *        edits show < documents
 *
 * The documents are read as documents.h says.  TEXTS of them at most, of
 * different clusters and chosen at random, are edited in every way that
 * edit.h knows, DRAWS times each, with other random choices.  Each draw
 * has a hash function of its own, too, for what one hash function does to a
 * set of documents another may not; the first draw has that of the profiles.
 *
 * The output has a row for each combination that occurs: family, profile, kind
 * of edit, length class of the document, distance, copies.  All of it depends
 * on the documents alone.
 *
 * "show" prints the copies instead, each document edited once, with what is
 * taken of the next one: cluster, kind of edit, whether that is a light one, and
 * the copy in hexadecimal.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "documents.h"
#include "edit.c"

#define LENGTHS			4		/* shorter than 400, 1500, 6000; longer */
#define FAMILIES		2

static const char *const family_names[FAMILIES] = {"simhash", "minhash"};

/* A document that is edited, and what it is edited with. */
typedef struct Trial
{
	Entry	   *entry;
	Entry	   *copies[SH_EDITS];	/* NULL where it cannot be edited so */
	int			length;
} Trial;

static ShEditor editor;
static ShPoints around;
static long (*counts)[SH_EDITS][LENGTHS][SH_BITS + 1];

/* Change the size of memory or give up. */
static void *
resize(void *memory, size_t bytes)
{
	void	   *result = realloc(memory, bytes);

	if (result == NULL)
		exit(2);
	return result;
}

/* The edited copy as an entry. */
static Entry *
make_entry(void)
{
	Entry	   *entry = allocate(sizeof *entry);

	entry->bytes = allocate(SH_EDIT_BYTES(&editor.result) + 1);
	entry->length = sh_edit_write(&editor.result, entry->bytes);
	return entry;
}

/* A document of another cluster. */
static const Entry *
choose_other(const Entry *entry, uint64_t *state)
{
	const Entry *other = entry;

	for (int tries = 0; tries < 100 && other->cluster == entry->cluster; tries++)
		other = &entries[sh_edit_random(state, nentries)];
	return other;
}

/* Edit a document in every way; "state" makes the choices of this draw. */
static void
edit_entry(Trial *trial, Entry *entry, uint64_t draw, uint64_t *state)
{
	size_t		n;

	trial->entry = entry;
	sh_edit_read(&editor, &editor.text, entry->bytes, entry->length);
	n = editor.text.n;
	trial->length = (n >= 400) + (n >= 1500) + (n >= 6000);
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		const Entry *source = choose_other(entry, state);
		const Entry *frame = &entries[mix(draw) % nentries];

		sh_edit_read(&editor, &editor.other, source->bytes, source->length);
		sh_edit_read(&editor, &around, frame->bytes, frame->length);
		trial->copies[kind] = NULL;
		if (sh_edit(&editor, (ShEdit) kind, &around, draw, state))
			trial->copies[kind] = make_entry();
	}
}

/* Give the memory of the copies back. */
static void
forget_copies(Trial *trial)
{
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		if (trial->copies[kind] != NULL)
			free(trial->copies[kind]->bytes);
		free(trial->copies[kind]);
	}
}

/* Fingerprints of a document by a draw's hash function, of both families. */
static bool
both_fingerprints(HashList *list, const ShProfile *profile,
				  const Entry *entry, uint64_t draw, uint64_t *results)
{
	list_hashes(list, profile, entry);
	redraw(list, draw);
	return by_simhash(list, profile, &results[0]) &&
		by_minhash(list, &results[1]);
}

/* Count the distances between a document and its copies by a profile. */
static void
count_trial(HashList *list, int number, const Trial *trial, uint64_t draw)
{
	const ShProfile *profile = &sh_profiles[number];
	uint64_t	original[FAMILIES];
	uint64_t	copy[FAMILIES];

	if (!both_fingerprints(list, profile, trial->entry, draw, original))
		return;
	for (int kind = 0; kind < SH_EDITS; kind++)
	{
		if (trial->copies[kind] == NULL ||
			!both_fingerprints(list, profile, trial->copies[kind], draw, copy))
			continue;
		for (int f = 0; f < FAMILIES; f++)
			counts[FAMILIES * number + f][kind][trial->length]
				[sh_distance(original[f], copy[f])]++;
	}
}

/* Print what was counted. */
static void
print_counts(void)
{
	for (int row = 0; row < FAMILIES * sh_profile_count; row++)
		for (int kind = 0; kind < SH_EDITS; kind++)
			for (int length = 0; length < LENGTHS; length++)
				for (int d = 0; d <= SH_BITS; d++)
				{
					if (counts[row][kind][length][d] > 0)
						printf("%s\t%s\t%s\t%d\t%d\t%ld\n",
							   family_names[row % FAMILIES],
							   sh_profiles[row / FAMILIES].name,
							   sh_edit_names[kind], length, d,
							   counts[row][kind][length][d]);
				}
}

/* Put the documents into a random order. */
static void
shuffle(uint64_t *state)
{
	for (size_t i = nentries; i > 1; i--)
	{
		size_t		j = sh_edit_random(state, i);
		Entry		entry = entries[i - 1];

		entries[i - 1] = entries[j];
		entries[j] = entry;
	}
}

/* Print the edited copies of each document. */
static void
show_copies(void)
{
	uint64_t	state = 1;

	for (size_t i = 0; i < nentries; i++)
	{
		const Entry *next = &entries[(i + 1) % nentries];

		sh_edit_read(&editor, &editor.text, entries[i].bytes,
					 entries[i].length);
		sh_edit_read(&editor, &editor.other, next->bytes, next->length);
		for (int kind = 0; kind < SH_EDITS; kind++)
		{
			Entry	   *copy;

			if (!sh_edit(&editor, (ShEdit) kind, &editor.other, 0, &state))
				continue;
			copy = make_entry();
			printf("%ld\t%s\t%c\t", entries[i].cluster, sh_edit_names[kind],
				   kind < SH_LIGHT_EDITS ? 't' : 'f');
			for (size_t j = 0; j < copy->length; j++)
				printf("%02x", copy->bytes[j]);
			printf("\n");
			free(copy->bytes);
			free(copy);
		}
	}
}

int
main(int argc, char **argv)
{
	HashList	list = {0};
	uint64_t	state = 1;
	long		draws = argc == 3 ? atol(argv[1]) : 0;
	long		texts = argc == 3 ? atol(argv[2]) : 0;
	bool	   *met;
	bool		show = argc == 2 && strcmp(argv[1], "show") == 0;

	if (!show && (draws < 1 || texts < 1))
		return 2;
	begin_documents();
	editor.resize = resize;
	editor.pause = no_pause;
	if (show)
	{
		show_copies();
		return 0;
	}
	met = calloc(nentries + 1, sizeof *met);
	counts = calloc((size_t) (FAMILIES * sh_profile_count), sizeof *counts);
	if (met == NULL || counts == NULL)
		return 2;
	shuffle(&state);
	for (size_t i = 0; i < nentries && texts > 0; i++)
	{
		if (met[entries[i].cluster])
			continue;
		met[entries[i].cluster] = true;
		texts--;
		for (long draw = 0; draw < draws; draw++)
		{
			Trial		trial;

			edit_entry(&trial, &entries[i], (uint64_t) draw, &state);
			for (int p = 0; p < sh_profile_count; p++)
			{
				if (!sh_compat_profile(&sh_profiles[p]))
					count_trial(&list, p, &trial, (uint64_t) draw);
			}
			forget_copies(&trial);
		}
	}
	print_counts();
	return 0;
}
