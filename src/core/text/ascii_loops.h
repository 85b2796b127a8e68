/*-------------------------------------------------------------------------
 *
 * ascii_loops.h
 *		How ASCII text is read, 64 bytes at a time: included by ascii.c once for
 *		each kind of processor.
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
 * The file that includes this has defined
 *
 *		KIND(name)	the name with that of the kind behind it
 *		TARGET		what functions need that use its instructions, or nothing
 *		VECTOR		a vector of bytes
 *		SIGNED		one of signed bytes, as many
 *
 * and KIND(gather).
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#define VECTORS		(SH_ASCII_BLOCK / sizeof(VECTOR))

/*
 * Of the bytes of a vector, those from first to last.  Some processors compare
 * signed bytes only, so the range is moved down to where these begin.
 */
#define WITHIN(c, first, last) \
	((SIGNED) ((c) + (128 - (first))) <= (last) - (first) - 128)

/* See ShAsciiKind.classify. */
static inline TARGET ShBlock
KIND(classify) (const unsigned char *bytes, unsigned char *normal)
{
	VECTOR		word[VECTORS];
	VECTOR		other[VECTORS];

#pragma GCC unroll 4
	for (size_t i = 0; i < VECTORS; i++)
	{
		VECTOR		c = ((const VECTOR *) bytes)[i];

		word[i] = (VECTOR) (WITHIN(c | 0x20, 'a', 'z') | WITHIN(c, '0', '9'));
		other[i] = c;
		((VECTOR *) normal)[i] = (c & word[i]) | 0x20;
	}
	return (ShBlock)
	{
		KIND(gather) (word), KIND(gather) (other)
	};
}

/* The spaces among 64 bytes. */
static inline TARGET uint64_t
KIND(spaces) (const unsigned char *bytes)
{
	VECTOR		set[VECTORS];

#pragma GCC unroll 4
	for (size_t i = 0; i < VECTORS; i++)
		set[i] = (VECTOR) (((const VECTOR *) bytes)[i] == ' ');
	return KIND(gather) (set);
}


/*
 * Classify the first of n bytes, as far as words are seen to be complete.  Sets
 * the mask of what to keep of each block, and *blocks to how many there are.
 * Stops before a word that fills a block: it may be longer than a piece.
 */
static inline TARGET size_t
KIND(classify_blocks) (const unsigned char *bytes, size_t n, unsigned char *normal,
					   uint64_t *keep, size_t *blocks)
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
		block = KIND(classify) (from, normal + at);
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
static inline TARGET size_t
KIND(copy_stretch) (unsigned char *to, const unsigned char *block,
					uint64_t *keep)
{
	uint64_t	rest = *keep;
	uint64_t	carried = rest + (rest & -rest);	/* clears the stretch */

	memcpy(to, block + first_bit(rest), SH_ASCII_BLOCK);
	*keep = rest & carried;
	return (size_t) __builtin_popcountll(rest & ~carried);
}

/* See ShAsciiKind.read. */
static TARGET size_t
KIND(read) (const unsigned char *bytes, size_t n, unsigned char *text,
			size_t *used)
{
	unsigned char normal[SH_ASCII_BYTES + SH_ASCII_BLOCK];
	uint64_t	keep[SH_ASCII_BYTES / SH_ASCII_BLOCK];
	size_t		blocks;
	size_t		done;
	unsigned char *to = text + *used;

	done = KIND(classify_blocks) (bytes, n, normal, keep, &blocks);
	for (size_t i = 0; i < blocks; i++)
	{
		const unsigned char *block = normal + i * SH_ASCII_BLOCK;
		uint64_t	rest = keep[i];

		while (rest != 0)
		{
			to += KIND(copy_stretch) (to, block, &rest);
			to += KIND(copy_stretch) (to, block, &rest);
			to += KIND(copy_stretch) (to, block, &rest);
		}
	}
	*used = (size_t) (to - text);
	return done;
}

/* See ShAsciiKind.find_spaces. */
static TARGET size_t
KIND(find_spaces) (const unsigned char *text, size_t from, size_t to,
				   uint16_t *places)
{
	size_t		count = 0;

	for (size_t at = from; at < to; at += SH_ASCII_BLOCK)
	{
		uint64_t	mask = KIND(spaces) (text + at);
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

#undef VECTORS
#undef WITHIN
#undef KIND
#undef TARGET
#undef VECTOR
#undef SIGNED
