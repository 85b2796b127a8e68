/*-------------------------------------------------------------------------
 *
 * text.c
 *		UTF-8 document -> normalised text, cut into tokens.
 *
 * What comes out depends on the bytes alone: on no locale, no collation, no
 * version of a library.  docs/fingerprint.md specifies it; in short:
 *
 *	- Every code point has a kind, frozen at Unicode 14.0 (unicode_table.h).
 *	  A run is a longest stretch of one kind; marks continue the run they
 *	  stand in, ignored code points are not there.  Separators end a run, but
 *	  one of an unspaced script goes on behind them, since there they stand
 *	  where the writer, or the width of a line, has put them.
 *	- A run is normalised in pieces of SH_PIECE_MAX code points, so that no
 *	  document needs more than a fixed amount of memory.  The normal form is
 *	  NFKC_Casefold.  Unicode promises that neither it nor case folding ever
 *	  changes for code points that are assigned; the others are separators.
 *	- The normalised text is the runs, joined by one space each.  A piece of
 *	  a spaced script is a token; in an unspaced script each window of
 *	  1 (ideographic) or SH_PHONETIC_GRAM code points is one.  Symbols are
 *	  separators, or each of them a run and a token, as the profile has it.
 *
 * For example, "Die GRÖSSE: 北京大学" is normalised to "die grösse 北京大学",
 * with the tokens "die", "grösse", "北", "京", "大" and "学".
 *
 * Only one buffer of text is held at a time: the caller alternates between
 * sh_text_feed, which stops when the buffer is full, and sh_text_retire,
 * which forgets all but the last few tokens.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/text.h"

#include <string.h>

#include "core/text/fold.h"
#include "core/text/characters.h"
#include "core/text/unicode_table.h"

/* Part of the specification: code points of a phonetic gram. */
#define SH_PHONETIC_GRAM	4

/* Room that one flushed piece may need, with the space before it. */
#define PIECE_BYTES_MAX		(SH_FOLDED_MAX * 4 + 1)
#define PIECE_TOKENS_MAX	(SH_FOLDED_MAX + 1)

/* There must be such room when the longest tokens are kept for a window. */
typedef char sh_room_for_windows
[			(SH_WINDOW_MAX - 1) * (SH_PIECE_MAX * SH_FOLD_BYTES + 1) +
 PIECE_BYTES_MAX <= SH_TEXT_BYTES ? 1 : -1];

/* Offsets as they lie in an array, which need not be aligned as a vector is. */
typedef uint16_t ShOffsets __attribute__((vector_size(SH_ENDS_BEYOND * 2),
										  aligned(2), may_alias));

/* Set a token of the normalised text. */
static inline void
set_token(ShText *text, size_t i, size_t start, size_t end)
{
	text->starts[i] = (uint16_t) start;
	text->ends[i] = (uint16_t) end;
}

/* Add a token of the normalised text. */
static inline void
push_token(ShText *text, size_t start, size_t end)
{
	set_token(text, text->ntokens++, start, end);
	text->total++;
	text->run_cut = true;
}

/* Make each character from the given offset on a token. */
static void
cut_characters(ShText *text, size_t from)
{
	const unsigned char *bytes = text->bytes;
	size_t		used = text->used;
	size_t		tokens = text->ntokens;

	while (from < used)
	{
		/* Guessed, so that the next character need not wait for this one. */
		size_t		next = from + 3;

		if (__builtin_expect((bytes[from] & 0xf0) != 0xe0, 0))
			next = from + sh_utf8_length(bytes[from]);
		set_token(text, tokens++, from, next);
		from = next;
	}
	text->run_cut |= tokens > text->ntokens;
	text->gram_start = text->gram_end = used;
	text->total += tokens - text->ntokens;
	text->ntokens = tokens;
}

/* Make each complete gram of a phonetic run a token. */
static void
cut_grams(ShText *text)
{
	while (text->gram_end < text->used)
	{
		text->gram_end += sh_utf8_length(text->bytes[text->gram_end]);
		if (++text->gram_have < text->gram)
			continue;
		push_token(text, text->gram_start, text->gram_end);
		text->gram_start += sh_utf8_length(text->bytes[text->gram_start]);
		text->gram_have--;
	}
}

/*
 * Put a space before what is about to be written, unless it is the first of
 * the document.  "total" serves to know: each run leaves at least one token.
 */
static inline void
write_space(ShText *text)
{
	if (text->total > 0)
	{
		text->bytes[text->used++] = ' ';
		if (text->unit == SH_UNIT_CHARACTER)
			push_token(text, text->used - 1, text->used);
	}
}

/* Normalise the piece of the run that has been read, and cut its tokens. */
static void
flush_piece(ShText *text)
{
	bool		word = text->run == SH_WORD || text->run == SH_SYMBOL;
	size_t		start;

	if (word || !text->run_written)
	{
		write_space(text);
		text->run_cut = false;
		text->gram_start = text->gram_end = text->used;
		text->gram_have = 0;
	}
	start = text->used;
	text->used += sh_piece_end(&text->piece, text->bytes + start);
	text->run_written = true;
	if (text->unit == SH_UNIT_CHARACTER || text->run == SH_IDEOGRAPHIC)
		cut_characters(text, start);
	else if (word)
		push_token(text, start, text->used);
	else
		cut_grams(text);
}

/* End the run that is being read, if any. */
static void
end_run(ShText *text)
{
	if (text->run == SH_SEPARATOR)
		return;
	if (text->piece.chars > 0)
		flush_piece(text);
	if (text->run_written && !text->run_cut)
		push_token(text, text->gram_start, text->used);
	text->run = SH_SEPARATOR;
	text->run_written = text->gap = false;
}

/* Read one code point, given as its class and its UTF-8 bytes. */
static inline void
read_character(ShText *text, int class, const unsigned char *p, size_t length)
{
	ShKind		kind = (ShKind) (class & ~SH_INERT);
	bool		mark = kind == SH_MARK;

	if (kind == SH_IGNORED)
		return;
	if (mark)
		kind = text->gap ? SH_SEPARATOR : text->run;
	if (kind == SH_SEPARATOR ||
		(kind == SH_SYMBOL && text->unit != SH_UNIT_SYMBOL))
	{
		if (text->run == SH_IDEOGRAPHIC || text->run == SH_PHONETIC)
			text->gap = true;
		else
			end_run(text);
		return;
	}
	if (kind != text->run || (kind == SH_SYMBOL && !mark))
	{
		end_run(text);
		text->run = kind;
	}
	text->gap = false;
	sh_piece_add(&text->piece, p, length, 1, (class & SH_INERT) != 0);
	if (text->piece.chars == SH_PIECE_MAX)
		flush_piece(text);
}

/*
 * Read on within a run as far as code points are of its kind and inert: these
 * go to the piece all at once.  Most text that is not ASCII is like this.
 * Returns where reading goes on.
 */
static const unsigned char *
read_inert(ShText *text, const unsigned char *p, const unsigned char *end)
{
	const unsigned char *start = p;
	int			class = text->run | SH_INERT;
	int			room = SH_PIECE_MAX - text->piece.chars;
	int			chars = 0;

	while (chars < room && p < end)
	{
		size_t		length;
		int32_t		c = sh_utf8_decode(p, end, &length);

		if (c < 0 || sh_classify(c) != class)
			break;
		p += length;
		chars++;
	}
	sh_piece_add(&text->piece, start, (size_t) (p - start), chars, true);
	if (chars == room)
		flush_piece(text);
	return p;
}

/*
 * Read on within an ideographic run, of which only inert code points wait in the
 * piece, as far as there are separators and unified ideographs from U+4E00 to
 * U+9FFF, which are inert as well: most Chinese text.  What is inert is its own
 * normal form whatever stands around it, so that it need not go through the
 * piece, which only counts it.  Returns where reading goes on.
 */
static const unsigned char *
read_ideographs(ShText *text, const unsigned char *p, const unsigned char *end)
{
	int			chars = text->piece.chars;
	size_t		tokens;
	size_t		used;

	flush_piece(text);
	tokens = text->ntokens;
	used = text->used;
	while (chars < SH_PIECE_MAX && end - p >= 4)
	{
		uint32_t	c = (uint32_t) p[0] << 16 | p[1] << 8 | p[2];
		size_t		length;
		int			class;

		if (c - 0xe4b880 <= 0xe9bfbf - 0xe4b880 && (c & 0xc0c0) == 0x8080)
		{
			/* Four bytes are one instruction; the last one is overwritten. */
			memcpy(text->bytes + used, p, 4);
			set_token(text, tokens++, used, used + 3);
			used += 3;
			p += 3;
			chars++;
			text->gap = false;
			continue;
		}
		class = sh_classify(sh_utf8_decode(p, end, &length));
		if (class != SH_SEPARATOR)
			break;
		text->gap = true;
		p += length;
	}
	text->total += tokens - text->ntokens;
	text->run_cut |= tokens > text->ntokens;
	text->ntokens = tokens;
	text->used = text->gram_start = text->gram_end = used;
	text->piece.chars = chars % SH_PIECE_MAX;
	return p;
}

/*
 * Make the words written from the one offset to the other tokens, each of
 * which has a space behind it.
 */
static void
cut_words(ShText *text, size_t from, size_t to)
{
	uint16_t   *starts = text->starts + text->ntokens;
	uint16_t   *ends = text->ends + text->ntokens;
	size_t		n = text->ascii->find_spaces(text->bytes, from, to, ends);

	/* A word starts one byte behind where the one before it ends. */
	starts[0] = (uint16_t) from;
	for (size_t i = 0; i < n; i += SH_ENDS_BEYOND)
		*(ShOffsets *) (starts + i + 1) = *(ShOffsets *) (ends + i) + 1;
	text->ntokens += n;
	text->total += n;
}

/*
 * Read ASCII from p on, between runs, as far as words are seen to be complete.
 * Returns where reading goes on, which is p when a word is there that has to be
 * read character by character.
 */
static const unsigned char *
read_ascii(ShText *text, const unsigned char *p, const unsigned char *end)
{
	size_t		used = text->used;
	size_t		from = used + (text->total > 0);
	size_t		to = from;

	p += text->ascii->read(p, (size_t) (end - p), text->bytes, &to);
	if (to == from)
		return p;
	write_space(text);
	/* The space behind the last word is written when another one comes. */
	text->used = to - 1;
	if (text->unit == SH_UNIT_CHARACTER)
	{
		while (from < text->used)
		{
			push_token(text, from, from + 1);
			from++;
		}
	}
	else
		cut_words(text, from, to);
	return p;
}

/*
 * Read ASCII from p on, between runs, where symbols are tokens, as far as words
 * and symbols are seen to be complete: no mark follows them.  Returns where
 * reading goes on, as above.
 */
static const unsigned char *
read_ascii_symbols(ShText *text, const unsigned char *p,
				   const unsigned char *end)
{
	while (p < end && *p < 0x80 && !sh_text_full(text))
	{
		const unsigned char *start = p;
		int			kind = sh_classify(*p++) & ~SH_INERT;
		size_t		from;

		if (kind == SH_SEPARATOR)
			continue;
		while (kind == SH_WORD && p < end && *p < 0x80 &&
			   (sh_classify(*p) & ~SH_INERT) == SH_WORD)
			p++;
		if (p == end || *p >= 0x80 || p - start > SH_PIECE_MAX)
			return start;
		write_space(text);
		from = text->used;
		/* The bit makes capitals small, and digits have it. */
		for (; start < p; start++)
			text->bytes[text->used++] = kind == SH_WORD ? *start | 0x20 : *start;
		push_token(text, from, text->used);
	}
	return p;
}

/* Begin a document. */
void
sh_text_begin(ShText *text, ShUnit unit)
{
	memset(text, 0, offsetof(ShText, piece));
	text->unit = unit;
	text->gram = SH_PHONETIC_GRAM;
	text->ascii = sh_ascii_fastest();
	sh_piece_begin(&text->piece);
}

/* True when there is no room for one piece more: the caller has to retire. */
bool
sh_text_full(const ShText *text)
{
	return text->used + PIECE_BYTES_MAX > SH_TEXT_BYTES ||
		text->ntokens + PIECE_TOKENS_MAX + 1 > SH_TEXT_TOKENS;
}

/*
 * Read the bytes from .. end - 1, or as many as there is room for; returns
 * the first that was not read.  The caller must not cut within a character.
 */
const unsigned char *
sh_text_feed(ShText *text, const unsigned char *from, const unsigned char *end)
{
	while (from < end && !sh_text_full(text))
	{
		const unsigned char *next = from;
		unsigned char lower;
		size_t		length;
		int32_t		c;

		if (text->gap && *from < 0x80 &&
			(sh_classify(*from) & ~SH_INERT) == SH_WORD)
		{
			end_run(text);
			continue;
		}
		if (text->run == SH_SEPARATOR)
		{
			if (*from < 0x80)
				next = text->unit == SH_UNIT_SYMBOL ?
					read_ascii_symbols(text, from, end) :
					read_ascii(text, from, end);
		}
		else if (text->run == SH_IDEOGRAPHIC && text->piece.inert &&
				 *from >= 0xe4 && *from <= 0xe9)
			next = read_ideographs(text, from, end);
		else if (!text->gap && text->run != SH_SYMBOL)
			next = read_inert(text, from, end);
		if (next > from)
		{
			from = next;
			continue;
		}
		c = sh_utf8_decode(from, end, &length);
		lower = (unsigned char) (c | 0x20);
		if (c >= 'A' && c <= 'Z')
			read_character(text, SH_WORD | SH_INERT, &lower, 1);
		else
			read_character(text, sh_classify(c), from, length);
		from += length;
	}
	return from;
}

/*
 * End the document: the last run is complete.  There must be room for it, so
 * the caller retires first if the text is full.
 */
void
sh_text_end(ShText *text)
{
	end_run(text);
}

/*
 * Forget the text held, but for the last "keep" tokens and what belongs to a
 * run that is not complete.  The tokens kept are no longer fresh.
 */
void
sh_text_retire(ShText *text, size_t keep)
{
	size_t		drop = text->ntokens > keep ? text->ntokens - keep : 0;
	size_t		from = text->used;

	if (drop < text->ntokens)
		from = text->starts[drop];
	if (text->run_written && text->run != SH_WORD &&
		text->unit != SH_UNIT_CHARACTER)
	{
		if (text->gram_start < from)
			from = text->gram_start;
		text->gram_start -= from;
		text->gram_end -= from;
	}
	memmove(text->bytes, text->bytes + from, text->used - from);
	text->used -= from;
	for (size_t i = drop; i < text->ntokens; i++)
	{
		set_token(text, i - drop, text->starts[i] - from, text->ends[i] - from);
	}
	text->ntokens -= drop;
	text->fresh = text->ntokens;
}
