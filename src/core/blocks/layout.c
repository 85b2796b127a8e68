/*-------------------------------------------------------------------------
 *
 * layout.c
 *		How a fingerprint of any width is cut into words, blocks and entries.
 *
 * Words
 *
 * An entry of an index has 64 bits.  So a fingerprint of up to 64 bits is one
 * word, and a wider one is cut into as few words of at most 64 bits as will
 * do, all of the same length, or of two lengths that differ by one bit: 576
 * bits are nine words of 64, and 72 bits two of 36, rather than one of 64 and
 * one of 8, in which next to nothing could be found.  A row that is within k
 * of a query is, in one word of W at least, within k / W of it.
 *
 * Blocks
 *
 * Each word is cut into as many blocks of about 16 bits as it has room for: a
 * key of 16 bits leaves 15 of a million rows.  All words have the same number
 * of blocks, and the block of a number has the same width in all.
 *
 * Entries
 *
 * An entry is the number of its block, among those of all words, and the bits
 * of the word, rotated so that those of the block come first.  What the number
 * takes is lacking at the lower end of each word, the same bits in all of the
 * word's entries:
 *
 *	width	words	bits of each	blocks of each		number	kept	lost
 *	   32	 1		32				2: 16 16			1 bit	32		0
 *	   64	 1		64				4: 16 16 15 15		2		62		2
 *	   72	 2		36				2: 18 18			2		36		0
 *	  100	 2		50				3: 17 17 16			3		50		0
 *	  128	 2		64				4: 16 15 15 15		3		61		3
 *	  256	 4		64				4: 15 15 15 15		4		60		4
 *	  576	 9		64				4: 15 15 14 14		6		58		6
 *	 1024	16		64				4: 15 15 14 14		6		58		6
 *
 * Where number and word leave bits over, these are 0 at the lower end of the
 * entry.  For 64 bits this is the layout that entries.h describes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/blocks/layout.h"

/* Bits of an entry. */
#define ENTRY_BITS		64

/* How wide blocks ought to be, and what else a word may have for one more. */
#define BLOCK_BITS		16
#define SPARE_BITS		7

/* The words that fingerprints of a width are cut into. */
int
sh_words_of(int width)
{
	return (width + ENTRY_BITS - 1) / ENTRY_BITS;
}

/*
 * The layout of fingerprints of a width; false if there is none.
 */
bool
sh_make_layout(int width, ShLayout *layout)
{
	int			shortest;
	int			number = 0;
	int			offset = 0;

	if (width < SH_LEAST_WIDTH || width > SH_MOST_WIDTH)
		return false;
	layout->width = width;
	layout->words = sh_words_of(width);
	shortest = width / layout->words;
	layout->blocks = (shortest + SPARE_BITS) / BLOCK_BITS;
	while (1 << number < layout->words * layout->blocks)
		number++;
	layout->shift = ENTRY_BITS - number;
	layout->kept = shortest < layout->shift ? shortest : layout->shift;
	layout->lost = width - layout->words * layout->kept;
	for (int block = 0; block < layout->blocks; block++)
	{
		layout->offsets[block] = offset;
		layout->widths[block] = layout->kept / layout->blocks +
			(block < layout->kept % layout->blocks);
		offset += layout->widths[block];
	}
	for (int block = 0; block < layout->blocks; block++)
	{
		int			end = layout->kept;

		for (int i = 0; i < layout->blocks; i++)
		{
			end -= layout->widths[(block + i) % layout->blocks];
			layout->ends[block][i] = end;
		}
	}
	return true;
}

/*
 * Up to 64 bits of a fingerprint, from "start" to "end", which is given as
 * bytes with the first bit at the top of the first one.
 */
static uint64_t
bits_between(const unsigned char *bytes, int start, int end)
{
	uint64_t	word = 0;

	for (int i = start / 8; 8 * i < end; i++)
	{
		int			beyond = 8 * (i + 1) - end;

		word = beyond <= 0 ? word << 8 | bytes[i]
			: word << (8 - beyond) | bytes[i] >> beyond;
	}
	return word & ~UINT64_C(0) >> (64 - (end - start));
}

/* Cut a fingerprint into what its entries keep of each word. */
void
sh_cut(const ShLayout *layout, const unsigned char *bytes, ShValue *value)
{
	for (int w = 0; w < layout->words; w++)
	{
		int			start = layout->width * w / layout->words;

		value->words[w] = bits_between(bytes, start, start + layout->kept);
	}
}

/* Cut a fingerprint into its words, of which all bits are kept. */
void
sh_cut_whole(int width, const unsigned char *bytes, uint64_t *words)
{
	int			n = sh_words_of(width);

	for (int w = 0; w < n; w++)
		words[w] = bits_between(bytes, width * w / n, width * (w + 1) / n);
}

/* Cut a fingerprint of one word. */
void
sh_cut_word(const ShLayout *layout, uint64_t fingerprint, ShValue *value)
{
	value->words[0] = fingerprint >> (layout->width - layout->kept);
}
