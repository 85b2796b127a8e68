/*-------------------------------------------------------------------------
 *
 * ascii_loops.h
 *		The loops that read ASCII text, 64 bytes at a time.
 *
 * Most text is ASCII for the most part, and there a word is a run of letters
 * and digits.  Looking at one byte after another takes a few instructions for
 * each, and a jump that the processor cannot foresee at the end of each word;
 * copying one word after another takes more.  We take 64 bytes at once.
 *
 * First, bytes are classified, and copied aside in lower case with a space in
 * place of whatever is of no word.  Bit i of the mask "word" tells that byte i
 * is a letter or digit.  Shift that mask by one, the byte before the block
 * coming in, and each bit stands beside that of the byte before.  To be kept is
 * what is of a word or comes just behind one.
 *
 * Mostly words are one byte apart, and all is kept.  Otherwise what is kept
 * comes in stretches of several words, which are then moved together.  Each is
 * copied with whatever follows it, since copying 64 bytes takes less time than
 * asking how many it has to be, and the next one overwrites what is too much.
 * Three stretches are copied at a time, though some may be empty: how many a
 * block has cannot be foreseen, that it has no more than three mostly can.
 *
 * For example, in a block of eight bytes, byte 0 on the left:
 *
 *		bytes          O h , _ n o ! _		("_" is a space)
 *		copy           o h _ _ n o _ _
 *		word           1 1 0 0 1 1 0 0
 *		word << 1      0 1 1 0 0 1 1 0
 *		keep           1 1 1 0 1 1 1 0		"oh_" and "no_"
 *
 * Last, the spaces of what was written are found, 64 bytes at once again.  They
 * are where words end, and one behind each the next word starts.  The bits are
 * taken from the mask one by one, least significant first, four at a time: some
 * writes are in vain, but there is no jump for each word.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_ASCII_LOOPS_H
#define SH_ASCII_LOOPS_H

#include <string.h>

#include "core/text/ascii.h"

#define SH_ALWAYS_INLINE	static inline __attribute__((always_inline))

/* What the kinds implement; "copy" and "spaces" are for 64 bytes. */
typedef ShBlock (*ShClassify) (const unsigned char *bytes,
							   unsigned char *normal);
typedef void (*ShCopy) (unsigned char *to, const unsigned char *from);
typedef uint64_t (*ShSpaces) (const unsigned char *bytes);
typedef unsigned (*ShFirstBit) (uint64_t mask);

/*
 * Classify the first of n bytes, as far as words are seen to be complete.  Sets
 * the mask of what to keep of each block, and *blocks to how many there are.
 * Stops before a word that fills a block: it may be longer than a piece.
 */
SH_ALWAYS_INLINE size_t
sh_classify_blocks(const unsigned char *bytes, size_t n, unsigned char *normal,
				   uint64_t *keep, size_t *blocks, ShClassify classify)
{
	uint64_t	before = 0;		/* 1 when the byte before is of a word */
	uint64_t	between = 0;	/* what is of no word, in the last block */
	size_t		count = 0;
	size_t		whole;			/* bytes in whole blocks */
	unsigned char end[SH_ASCII_BLOCK];	/* the last block, when not whole */
	int			last;

	if (n > SH_ASCII_BYTES)
		n = SH_ASCII_BYTES;
	whole = n / SH_ASCII_BLOCK * SH_ASCII_BLOCK;
	if (whole < n)
	{
		/* What is behind the end is as little known as what is no ASCII. */
		memset(end, 0x80, sizeof end);
		memcpy(end, bytes + whole, n - whole);
	}
	for (size_t at = 0; at < n; at += SH_ASCII_BLOCK)
	{
		const unsigned char *from = at < whole ? bytes + at : end;
		ShBlock		block;
		uint64_t	rest;

		/* which may be beyond the text; then it does nothing */
		__builtin_prefetch((const void *) ((uintptr_t) bytes + at +
										   SH_ASCII_AHEAD));
		block = classify(from, normal + at);
		rest = ~block.word & ((block.other & -block.other) - 1);
		if (rest == 0)
			break;
		keep[count++] = block.word | block.word << 1 | before;
		between = rest;
		before = block.word >> 63;
		if (block.other != 0)
			break;
	}
	*blocks = count;
	if (count == 0)
		return 0;
	last = 63 - __builtin_clzll(between);
	keep[count - 1] &= (UINT64_C(2) << last) - 1;
	return (count - 1) * SH_ASCII_BLOCK + (size_t) last + 1;
}

/*
 * Copy the first stretch that is to be kept of a block, and take it out of the
 * mask; returns its length.  When there is none any 64 bytes may be copied.
 */
SH_ALWAYS_INLINE size_t
sh_copy_stretch(unsigned char *to, const unsigned char *block, uint64_t *keep,
				ShCopy copy, ShFirstBit first_bit)
{
	uint64_t	rest = *keep;
	uint64_t	carried = rest + (rest & -rest);	/* clears the stretch */

	copy(to, block + first_bit(rest));
	*keep = rest & carried;
	return (size_t) __builtin_popcountll(rest & ~carried);
}

/* See ShAsciiKind.read. */
SH_ALWAYS_INLINE size_t
sh_read_blocks(const unsigned char *bytes, size_t n, unsigned char *text,
			   size_t *used, ShClassify classify, ShCopy copy,
			   ShFirstBit first_bit)
{
	unsigned char normal[SH_ASCII_BYTES + SH_ASCII_BLOCK];
	uint64_t	keep[SH_ASCII_BYTES / SH_ASCII_BLOCK];
	size_t		blocks;
	size_t		done;
	unsigned char *to = text + *used;

	done = sh_classify_blocks(bytes, n, normal, keep, &blocks, classify);
	for (size_t i = 0; i < blocks; i++)
	{
		const unsigned char *block = normal + i * SH_ASCII_BLOCK;
		uint64_t	rest = keep[i];

		while (rest != 0)
		{
			to += sh_copy_stretch(to, block, &rest, copy, first_bit);
			to += sh_copy_stretch(to, block, &rest, copy, first_bit);
			to += sh_copy_stretch(to, block, &rest, copy, first_bit);
		}
	}
	*used = (size_t) (to - text);
	return done;
}

/* See ShAsciiKind.find_spaces. */
SH_ALWAYS_INLINE size_t
sh_find_blocks(const unsigned char *text, size_t from, size_t to,
			   uint16_t *places, ShSpaces spaces, ShFirstBit first_bit)
{
	size_t		count = 0;

	for (size_t at = from; at < to; at += SH_ASCII_BLOCK)
	{
		uint64_t	mask = spaces(text + at);
		uint16_t   *place = places + count;

		if (to - at < SH_ASCII_BLOCK)
			mask &= (UINT64_C(1) << (to - at)) - 1;
		count += (size_t) __builtin_popcountll(mask);
		for (; mask != 0; place += 4)
		{
			place[0] = (uint16_t) (at + first_bit(mask));
			mask &= mask - 1;
			place[1] = (uint16_t) (at + first_bit(mask));
			mask &= mask - 1;
			place[2] = (uint16_t) (at + first_bit(mask));
			mask &= mask - 1;
			place[3] = (uint16_t) (at + first_bit(mask));
			mask &= mask - 1;
		}
	}
	return count;
}

#endif							/* SH_ASCII_LOOPS_H */
