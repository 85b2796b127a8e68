/*-------------------------------------------------------------------------
 *
 * layout.h
 *		How a fingerprint of any width is cut into words, and these into blocks.
 *
 * Nothing here knows of PostgreSQL; layout.c begins with the reasoning and
 * examples.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SH_LAYOUT_H
#define SH_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Limits of the work done.
 *
 * SH_LEAST_WIDTH	bits of the narrowest fingerprint that can be indexed,
 * SH_MOST_WIDTH	and of the widest one.
 * SH_MAX_WORDS		words of the widest one.
 * SH_WORD_BLOCKS	blocks of a word at most.
 */
#define SH_LEAST_WIDTH		32
#define SH_MOST_WIDTH		1024
#define SH_MAX_WORDS		(SH_MOST_WIDTH / 64)
#define SH_WORD_BLOCKS		4

/* How fingerprints of one width are cut. */
typedef struct ShLayout
{
	int			width;			/* bits of a fingerprint */
	int			words;
	int			blocks;			/* of each word */
	int			kept;			/* bits of a word that its entries keep */
	int			lost;			/* bits of a fingerprint that they do not */
	int			shift;			/* bits of an entry below the block's number */
	int			widths[SH_WORD_BLOCKS]; /* bits of each block */
	int			offsets[SH_WORD_BLOCKS];	/* from the top of the kept ones */
	int			ends[SH_WORD_BLOCKS][SH_WORD_BLOCKS];	/* see sh_ring_end() */
} ShLayout;

/* A fingerprint, as its entries keep it: the kept bits of each word. */
typedef struct ShValue
{
	uint64_t	words[SH_MAX_WORDS];
} ShValue;

extern bool sh_make_layout(int width, ShLayout *layout);
extern void sh_cut(const ShLayout *layout, const unsigned char *bytes,
				   ShValue *value);
extern int	sh_words_of(int width);
extern void sh_cut_whole(int width, const unsigned char *bytes,
						 uint64_t *words);
extern void sh_cut_word(const ShLayout *layout, uint64_t fingerprint,
						ShValue *value);

#endif							/* SH_LAYOUT_H */
