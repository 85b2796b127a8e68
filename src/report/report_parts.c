/*-------------------------------------------------------------------------
 *
 * report_parts.c
 *		The search for pairs among more rows than memory holds.
 *
 * A row is an entry of a fingerprint, a number and a group; the entries are in
 * a temporary file.  The engine in core/ cuts fingerprints into blocks, and
 * looks for pairs block by block.  For each block we put the entries into parts,
 * a temporary file each, by the leading bits of their keys.  Pairs within the
 * block's radius are then in the same part, or in two whose numbers differ in
 * no more bits than that.  So each part is read and searched, and each two
 * parts that meet.  A part that many rows share, since the data are skewed, is
 * cut into pieces, and any two of its pieces are read together; pairs within
 * one of the two are not wanted then.
 *
 * For example, ten million rows are to be searched for k = 3 with memory for
 * two million.  There are four blocks of radius 0, and the entries are put into
 * 16 parts of some 625,000 by each.  For a block of radius 1 each of 16 parts
 * is searched by itself and with four others: 16 + 32 searches.
 *
 * As most time would go into sorting the same parts again and again, a piece
 * that has been searched by itself is written back as it has been sorted.  In
 * parts the bits of values are turned round such that the block comes first, so
 * two pieces of different parts, one after the other, are sorted as well.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "report/report_disk.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "core/pairs/parts.h"

#define ENTRY_BYTES		46		/* of memory, when an entry is searched */
#define BATCH			512		/* entries to read at a time */

/* Read the next entries of a file, up to BATCH. */
static void
read_entries(BufFile *file, SimhashEntry *entries, uint32 n)
{
	CHECK_FOR_INTERRUPTS();
	if (BufFileRead(file, entries, n * sizeof *entries) != n * sizeof *entries)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not read from a temporary file: %m")));
}

/* Move to an entry of a file. */
static void
seek_entry(BufFile *file, uint32 number)
{
	if (BufFileSeek(file, 0, (off_t) number * (off_t) sizeof(SimhashEntry),
					SEEK_SET) != 0)
		ereport(ERROR,
				(errcode_for_file_access(),
				 errmsg("could not seek in a temporary file: %m")));
}

/* The block that we are at, as it is in parts. */
static inline const ShKeyBlock *
block_of(const SimhashParts *search)
{
	return &search->turned.block[search->block];
}

/* Put the entries into parts. */
static void
make_parts(SimhashParts *search)
{
	const ShKeyBlock *block = block_of(search);
	SimhashEntry entry[BATCH];

	search->prefix = 0;
	while (search->prefix < SIMHASH_PREFIX_MAX &&
		   search->prefix < block->width &&
		   (search->n >> search->prefix) * 1.05 > search->piece)
		search->prefix++;
	memset(search->count, 0, sizeof search->count);
	for (int i = 0; i < 1 << search->prefix; i++)
		search->parts[i] = BufFileCreateTemp(false);
	seek_entry(search->entries, 0);
	for (uint32 i = 0; i < search->n; i += BATCH)
	{
		uint32		some = Min(search->n - i, BATCH);

		read_entries(search->entries, entry, some);
		for (uint32 j = 0; j < some; j++)
		{
			uint32		part;

			entry[j].value = sh_turn(entry[j].value, search->turn);
			part = sh_part_of(entry[j].value, block, search->prefix);
			search->count[part]++;
			BufFileWrite(search->parts[part], &entry[j], sizeof *entry);
		}
	}
}

/* Read a piece of a part. */
static void
load_piece(SimhashParts *search, uint32 part, uint32 start)
{
	uint32		n = Min(search->count[part] - start, search->piece);
	SimhashEntry entry[BATCH];

	seek_entry(search->parts[part], start);
	for (uint32 i = 0; i < n; i += BATCH)
	{
		uint32		some = Min(n - i, BATCH);

		read_entries(search->parts[part], entry, some);
		for (uint32 j = 0; j < some; j++)
		{
			search->values[search->at_hand] = entry[j].value;
			search->row[search->at_hand] = entry[j].row;
			search->group[search->at_hand++] = entry[j].group;
		}
	}
}

/* Write the piece at hand back, now that it has been sorted. */
static void
store_piece(SimhashParts *search, uint32 part, uint32 start)
{
	const ShPairs *pairs = &search->pairs;
	SimhashEntry entry[BATCH];
	uint32		n = 0;

	seek_entry(search->parts[part], start);
	for (uint32 a = 0; a < pairs->distinct; a++)
	{
		for (uint32 i = pairs->first[a]; i < pairs->first[a + 1]; i++)
		{
			entry[n].value = pairs->values[a];
			entry[n].row = search->row[pairs->rows[i]];
			entry[n++].group = search->group[pairs->rows[i]];
			if (n < BATCH)
				continue;
			CHECK_FOR_INTERRUPTS();
			BufFileWrite(search->parts[part], entry, sizeof entry);
			n = 0;
		}
	}
	BufFileWrite(search->parts[part], entry, n * sizeof *entry);
}

/* ShPairs.progress */
static void
tell_progress(void *context, double done pg_attribute_unused())
{
	simhash_progress_done(NULL, ((SimhashParts *) context)->done);
}

/* Search one piece, or one with another. */
static void
search_pieces(SimhashParts *search, uint32 x, uint32 from_x, uint32 y,
			  uint32 from_y)
{
	ShPairs    *pairs = &search->pairs;
	bool		alone = x == y && from_x == from_y;

	search->at_hand = search->split = 0;
	load_piece(search, x, from_x);
	if (!alone)
	{
		search->split = search->at_hand;
		load_piece(search, y, from_y);
	}
	sh_pairs_begin(pairs, search->values, search->memory, search->at_hand);
	pairs->progress = tell_progress;
	pairs->progress_context = search;
	sh_pairs_collapse(pairs);
	sh_pairs_tell(pairs, 0);
	if (alone && block_of(search)->radius > 0)
		store_piece(search, x, from_x);
	for (uint32 a = 0; search->block == 0 && x == y && a < pairs->distinct; a++)
	{
		if (pairs->first[a + 1] - pairs->first[a] > 1)
			search->sink(search->context, a, a, 0);
	}
	sh_pairs_begin_search(pairs);
	sh_pairs_find_in_parts(pairs, &search->turned, search->block,
						   search->prefix, search->k, search->ends,
						   search->sink, search->context);
}

/*
 * Search two parts with each other, or one by itself.  "share" is what that
 * adds to the work done.
 */
static void
search_parts(SimhashParts *search, uint32 x, uint32 y, double share)
{
	for (uint32 i = 0; i < search->count[x]; i += search->piece)
	{
		for (uint32 j = x == y ? i : 0; j < search->count[y];
			 j += search->piece)
			search_pieces(search, x, i, y, j);
	}
	search->done += share;
}

/* Search by a block: the parts by themselves, and then those that meet. */
static void
search_block(SimhashParts *search)
{
	const ShKeyBlock *block = block_of(search);
	uint32		parts;
	double		share;

	search->turn = sh_turn_plan(&search->plan, search->block, &search->turned);
	make_parts(search);
	search->ends = palloc(2 * sizeof *search->ends <<
						  (block->width - search->prefix));
	parts = UINT32_C(1) << search->prefix;
	share = block->share * 2 /
		(parts * (sh_keys_within(search->prefix, block->radius) + 1));
	for (uint32 x = 0; x < parts; x++)
		search_parts(search, x, x, share);
	for (uint32 x = 0; x < parts; x++)
	{
		for (uint32 y = x + 1; y < parts; y++)
		{
			if (sh_parts_meet(block, x, y))
				search_parts(search, x, y, share);
		}
	}
	for (uint32 x = 0; x < parts; x++)
		BufFileClose(search->parts[x]);
	pfree(search->ends);
}

/* Search the entries, by so much memory, which "context" gives. */
void
simhash_search_parts(SimhashParts *search, MemoryContext context, Size memory)
{
	uint32		room;

	/* A quarter is left to the files and what the engine counts in. */
	search->piece = (uint32) Min(memory / 4 * 3 / ENTRY_BYTES / 2, search->n);
	room = 2 * search->piece;
	sh_pairs_plan_parts(&search->plan, search->bits, search->n, search->k);
	search->values = MemoryContextAllocHuge(context, sizeof(uint64) * room);
	search->memory = MemoryContextAllocHuge(context, sh_pairs_bytes(room));
	search->row = MemoryContextAllocHuge(context, sizeof(uint32) * room);
	search->group = MemoryContextAllocHuge(context, sizeof(uint32) * room);
	search->done = 0;
	for (search->block = 0; search->block < search->plan.blocks;
		 search->block++)
		search_block(search);
	MemoryContextReset(context);
}
