/*-------------------------------------------------------------------------
 *
 * word_places.c
 *		UTF-8 document -> its words, with their places.
 *
 * What text.c is for fingerprints this is for passages, which have to be found
 * again in the document as it was given.  Kinds, runs and pieces are the same.
 * A word here is a piece of a run of a spaced script; or one code point of an
 * unspaced script with the marks behind it.  docs/fingerprint.md specifies it.
 *
 * Most text is ASCII, of which 64 bytes are classified at once, as in ascii.c;
 * the mask tells where words start and end.  A block begins where the last one
 * had its last complete word, so that words need not be put together.  What is
 * not ASCII, and what a block does not hold, is read a character at a time.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/word_places.h"

#include <string.h>

#include "core/bits.h"
#include "core/text/characters.h"

/* The most words that a block of ASCII has. */
#define BLOCK_WORDS		(SH_ASCII_BLOCK / 2)

/* Part of the specification: add eight bytes to the hash of a word. */
static inline uint64_t
add_bytes(uint64_t hash, uint64_t bytes)
{
	hash = (hash ^ bytes) * SH_SCRAMBLE;
	return hash ^ hash >> 32;
}

/*
 * The hash of the normal form of a word.  Seven bytes behind it can be read,
 * whatever they are.
 */
static inline uint64_t
hash_word(const unsigned char *bytes, size_t length)
{
	uint64_t	hash = 0;

	for (; length > 8; length -= 8, bytes += 8)
		hash = add_bytes(hash, sh_load_little(bytes));
	return add_bytes(hash, sh_load_little(bytes) &
					 UINT64_MAX >> (64 - 8 * length));
}

/* The word being read is complete, if there is one. */
static void
end_word(ShWordReader *reader)
{
	unsigned char *normal = reader->normal;
	size_t		length;

	if (reader->piece.chars == 0)
		return;
	length = sh_piece_end(&reader->piece, normal);
	memset(normal + length, 0, 8);
	reader->word.hash = hash_word(normal, length > 0 ? length : 1);
	reader->word.quarters = reader->run == SH_PHONETIC ? 1 : SH_QUARTERS;
	reader->held[reader->n++] = reader->word;
}

/* Read one character, given as its class and its UTF-8 bytes. */
static inline void
read_place(ShWordReader *reader, int class, const unsigned char *p,
		   size_t length)
{
	ShKind		kind = (ShKind) (class & ~SH_INERT);
	bool		mark = kind == SH_MARK;

	if (kind == SH_IGNORED)
		return;
	if (mark)
		kind = reader->run;
	if (kind == SH_SYMBOL)
		kind = SH_SEPARATOR;
	if (kind != reader->run || reader->piece.chars == SH_PIECE_MAX ||
		(kind != SH_WORD && !mark))
		end_word(reader);
	reader->run = kind;
	if (kind == SH_SEPARATOR)
		return;
	if (reader->piece.chars == 0)
	{
		reader->word.start = reader->place;
		reader->word.byte = reader->byte;
	}
	sh_piece_add(&reader->piece, p, length, 1, (class & SH_INERT) != 0);
	reader->word.end = reader->place + (reader->bytes ? length : 1);
}

/*
 * Read the words that are seen to be complete in a block of bytes, the first of
 * which may begin one.  Returns how many bytes were read, which is 0 when the
 * block has to be read character by character.
 */
static inline size_t
read_block(ShWordReader *reader, const unsigned char *p)
{
	unsigned char normal[SH_ASCII_BLOCK + 8];
	ShBlock		block = reader->ascii->classify(p, normal);
	ShWord	   *word = reader->held + reader->n;
	uint64_t	ascii = block.other & -block.other;
	uint64_t	gaps = ~block.word;
	uint64_t	rest;
	size_t		read;

	/* Bits below that of the first byte that is not ASCII; all, if none is. */
	ascii--;
	gaps &= ascii;
	if (gaps == 0)
		return 0;
	read = 64 - (size_t) __builtin_clzll(gaps);
	rest = block.word & UINT64_MAX >> (64 - read);
	while (rest != 0)
	{
		unsigned	start = (unsigned) __builtin_ctzll(rest);
		unsigned	length = (unsigned) __builtin_ctzll(~(rest >> start));

		word->hash = hash_word(normal + start, length);
		word->start = reader->place + start;
		word->end = word->start + length;
		word->byte = reader->byte + start;
		word->quarters = SH_QUARTERS;
		word++;
		rest &= rest + (UINT64_C(1) << start);
	}
	reader->n = (size_t) (word - reader->held);
	reader->place += (uint32_t) read;
	reader->byte += (uint32_t) read;
	return read;
}

/* Begin a document.  With "bytes", its characters are bytes. */
void
sh_words_begin(ShWordReader *reader, bool bytes)
{
	reader->ascii = sh_ascii_fastest();
	reader->bytes = bytes;
	reader->one = false;
	reader->n = 0;
	reader->place = reader->byte = 0;
	reader->run = SH_SEPARATOR;
	sh_piece_begin(&reader->piece);
}

/*
 * Read the bytes from .. end - 1, or as many as there is room for; returns
 * the first that was not read.  The caller must not cut within a character.
 */
const unsigned char *
sh_words_feed(ShWordReader *reader, const unsigned char *from,
			  const unsigned char *end)
{
	while (from < end && reader->n + BLOCK_WORDS + 1 < SH_WORD_PLACES_HELD)
	{
		unsigned char lower;
		size_t		length;
		int32_t		c;

		if (reader->run == SH_SEPARATOR && end - from >= SH_ASCII_BLOCK &&
			(length = read_block(reader, from)) > 0)
		{
			from += length;
			continue;
		}
		c = sh_utf8_decode(from, end, &length);
		lower = (unsigned char) (c | 0x20);
		if (c >= 'A' && c <= 'Z')
			read_place(reader, SH_WORD | SH_INERT, &lower, 1);
		else
			read_place(reader, sh_classify(c), from, length);
		from += length;
		reader->place += reader->bytes ? (uint32_t) length : !reader->one;
		reader->byte += (uint32_t) length;
	}
	return from;
}

/* End the document: its last word is complete. */
void
sh_words_end(ShWordReader *reader)
{
	end_word(reader);
	reader->run = SH_SEPARATOR;
}
