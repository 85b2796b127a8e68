/*-------------------------------------------------------------------------
 *
 * recipes.c
 *		Documents read as other implementations read them.
 *
 * For people who have fingerprints already, or want to check ours: what comes
 * out is equal, bit for bit, to what comes out there, oddities included.
 * docs/fingerprint.md specifies it; in short, a document is a row of pieces,
 * a feature is a window of successive pieces, each occurrence weighs 1, and a
 * row of the table below says
 *
 *	- what a piece is,
 *	- how a feature is hashed,
 *	- what becomes of a document with fewer pieces than the window, and
 *	- whether the first window is passed over, as ClickHouse does in UTF-8.
 *
 * Unlike text.c this wants the whole document at once.  It has to look ahead
 * as far as Python does (whether a Greek sigma is final depends on what comes
 * next), and pieces of any length have to be kept while the window covers
 * them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/foreign/foreign.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/text/characters.h"

#define STRETCH				(64 * 1024) /* bytes between two pauses */
#define JAVA_REPLACEMENT	0xfffd
#define CLICKHOUSE_WORD_MIN	4	/* bytes; shorter words are dropped */
#define FNV_INIT			UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME			UINT64_C(0x100000001b3)
#define KELVIN				0x212a
#define I_WITH_DOT			0x130

/* What becomes of a document that has fewer pieces than the window. */
typedef enum ShShort
{
	SHORT_WHOLE,				/* it is one feature, every byte of it */
	SHORT_JOINED,				/* its pieces are one feature, even if none */
	SHORT_JOINED_IF_ANY,		/* the same, but only if there is one */
	SHORT_NONE					/* it has no feature */
} ShShort;

/* How another implementation works. */
typedef struct ShScheme
{
	bool		(*next) (ShCompat *compat, ShPiece *piece);
	uint64_t	(*hash) (const ShCompat *compat);
	unsigned char mask;			/* OR'ed into each byte */
	ShLower    *lower;			/* NULL: reads the document as it is */
	bool		skips_first;
	ShShort		if_short;
	const char *joiner;			/* between the pieces of a feature */
	bool		half;			/* a bit is 1 if half of the features have it */
} ShScheme;

/* --- pieces -------------------------------------------------------------- */

/* The end of the document. */
static inline const unsigned char *
end_of(const ShCompat *compat)
{
	return compat->document.bytes + compat->document.length;
}

/*
 * Go on from compat->next over characters that are of a kind, or over those
 * that are not.
 */
static void
pass_over(ShCompat *compat, bool (*is_kind) (int32_t c), bool wanted)
{
	const unsigned char *end = end_of(compat);
	const unsigned char *paused = compat->next;

	while (compat->next < end)
	{
		size_t		n;
		int32_t		c = sh_utf8_decode(compat->next, end, &n);

		if (is_kind(c) != wanted)
			break;
		compat->next += n;
		if (compat->next - paused > STRETCH)
		{
			compat->pause();
			paused = compat->next;
		}
	}
}

/* A letter, wherever the next one is. */
static bool
next_letter(ShCompat *compat, ShPiece *piece)
{
	pass_over(compat, sh_python_is_letter, false);
	if (compat->next == end_of(compat))
		return false;
	piece->bytes = compat->next;
	(void) sh_utf8_decode(compat->next, end_of(compat), &piece->length);
	compat->next += piece->length;
	return true;
}

/*
 * What Python's re.split(r'\W+', text) returns next: a word, or the empty
 * one before a text that begins without one or after one that ends so.
 */
static bool
next_python_word(ShCompat *compat, ShPiece *piece)
{
	if (compat->read)
		return false;
	piece->bytes = compat->next;
	pass_over(compat, sh_python_is_letter, true);
	piece->length = (size_t) (compat->next - piece->bytes);
	compat->read = compat->next == end_of(compat);
	pass_over(compat, sh_python_is_letter, false);
	return true;
}

/* A byte. */
static bool
next_byte(ShCompat *compat, ShPiece *piece)
{
	if (compat->next == end_of(compat))
		return false;
	piece->bytes = compat->next++;
	piece->length = 1;
	return true;
}

/* A character, by what its first byte promises. */
static bool
next_character(ShCompat *compat, ShPiece *piece)
{
	size_t		left = (size_t) (end_of(compat) - compat->next);
	unsigned char first;
	size_t		n;

	if (left == 0)
		return false;
	first = *compat->next;
	n = first < 0xc0 || first >= 0xf8 ? 1 : first < 0xe0 ? 2 :
		first < 0xf0 ? 3 : 4;
	piece->bytes = compat->next;
	piece->length = n < left ? n : left;
	compat->next += piece->length;
	return true;
}

/* True for what belongs to a word: letters, digits and all beyond ASCII. */
static inline bool
is_clickhouse_letter(unsigned char c)
{
	return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9');
}

/* A word that is not too short. */
static bool
next_clickhouse_word(ShCompat *compat, ShPiece *piece)
{
	const unsigned char *end = end_of(compat);
	const unsigned char *paused = compat->next;

	while (compat->next < end)
	{
		piece->bytes = compat->next;
		while (compat->next < end && is_clickhouse_letter(*compat->next))
			compat->next++;
		piece->length = (size_t) (compat->next - piece->bytes);
		if (piece->length >= CLICKHOUSE_WORD_MIN)
			return true;
		if (compat->next < end)
			compat->next++;
		if (compat->next - paused > STRETCH)
		{
			compat->pause();
			paused = compat->next;
		}
	}
	return false;
}

/*
 * What Java's text.split(" ") returns next: what stands between two blanks,
 * though it be empty, but no empty strings in the end.  An empty text is one
 * empty string.
 */
static bool
next_java_word(ShCompat *compat, ShPiece *piece)
{
	ShPiece    *document = &compat->document;
	const unsigned char *end;

	if (compat->read)
		return false;
	if (compat->next == document->bytes && document->length > 0)
	{
		while (document->length > 0 &&
			   document->bytes[document->length - 1] == ' ')
			document->length--;
		compat->read = document->length == 0;
		if (compat->read)
			return false;
	}
	piece->bytes = compat->next;
	end = memchr(compat->next, ' ', (size_t) (end_of(compat) - compat->next));
	compat->read = end == NULL;
	if (end == NULL)
		end = end_of(compat);
	piece->length = (size_t) (end - compat->next);
	compat->next = compat->read ? end : end + 1;
	return true;
}

/* True for ASCII's letters and digits, and the underscore: Go's \w. */
static inline bool
is_go_letter(int32_t c)
{
	return c >= 0 && c < 0x80 && sh_python_is_letter(c);
}

/* True for what a word consists of in Go's mfonda/simhash. */
static bool
is_go_word(int32_t c)
{
	return c == '\'' || is_go_letter(c);
}

/* True for what follows :// there. */
static bool
is_go_path(int32_t c)
{
	return c == '.' || c == '/' || is_go_letter(c);
}

/* A word, and the path of a URL of which it is the scheme. */
static bool
next_go_word(ShCompat *compat, ShPiece *piece)
{
	const unsigned char *end = end_of(compat);

	pass_over(compat, is_go_word, false);
	piece->bytes = compat->next;
	pass_over(compat, is_go_word, true);
	if (end - compat->next > 3 && memcmp(compat->next, "://", 3) == 0 &&
		is_go_path(compat->next[3]))
	{
		compat->next += 3;
		pass_over(compat, is_go_path, true);
	}
	piece->length = (size_t) (compat->next - piece->bytes);
	return piece->length > 0;
}

/*
 * ShLower: write what Go's bytes.ToLower makes of the letters of words.  Beyond
 * ASCII, two characters become such letters.
 */
static size_t
lower_go(unsigned char *to, const unsigned char *bytes, size_t length,
		 void (*pause) (void))
{
	unsigned char *start = to;
	const unsigned char *end = bytes + length;
	const unsigned char *paused = bytes;

	while (bytes < end)
	{
		size_t		n;
		int32_t		c = sh_utf8_decode(bytes, end, &n);

		if (c == KELVIN || c == I_WITH_DOT)
			*to++ = c == KELVIN ? 'k' : 'i';
		else if (c >= 'A' && c <= 'Z')
			*to++ = (unsigned char) (c | 0x20);
		else
		{
			memcpy(to, bytes, n);
			to += n;
		}
		bytes += n;
		if (bytes - paused > STRETCH)
		{
			pause();
			paused = bytes;
		}
	}
	return (size_t) (to - start);
}

/* --- hashes -------------------------------------------------------------- */

/* The eight bytes of the feature's MD5 from one on, the most significant first. */
static uint64_t
hash_md5(const ShCompat *compat, int from)
{
	const char *joiner = compat->scheme->joiner;
	unsigned char digest[SH_MD5_BYTES];
	uint64_t	hash = 0;
	ShMd5		md5;

	sh_md5_begin(&md5);
	for (int i = 0; i < compat->have; i++)
	{
		const unsigned char *bytes = compat->pieces[i].bytes;
		size_t		length = compat->pieces[i].length;

		if (i > 0)
			sh_md5_feed(&md5, (const unsigned char *) joiner, strlen(joiner));
		for (; length > STRETCH; bytes += STRETCH, length -= STRETCH)
		{
			sh_md5_feed(&md5, bytes, STRETCH);
			compat->pause();
		}
		sh_md5_feed(&md5, bytes, length);
	}
	sh_md5_end(&md5, digest);
	for (int i = from; i < from + 8; i++)
		hash = hash << 8 | digest[i];
	return hash;
}

static uint64_t
hash_md5_first(const ShCompat *compat)
{
	return hash_md5(compat, 0);
}

static uint64_t
hash_md5_last(const ShCompat *compat)
{
	return hash_md5(compat, SH_MD5_BYTES - 8);
}

/*
 * The CRC-32C of the pieces, one after another.  ClickHouse starts with 64
 * ones and loses half of them in the first step; where there is no step, for
 * the empty document, all of them remain.
 */
static uint64_t
hash_crc32c(const ShCompat *compat)
{
	unsigned char mask = compat->scheme->mask;
	uint32_t	crc = SH_CRC32C_INIT;

	if (compat->document.length == 0)
		return ~UINT64_C(0);
	for (int i = 0; i < compat->have; i++)
	{
		const unsigned char *bytes = compat->pieces[i].bytes;
		size_t		length = compat->pieces[i].length;

		for (; length > STRETCH; bytes += STRETCH, length -= STRETCH)
		{
			crc = sh_crc32c(crc, bytes, STRETCH, mask);
			compat->pause();
		}
		crc = sh_crc32c(crc, bytes, length, mask);
	}
	return crc;
}

/*
 * Java's String.hashCode(), of UTF-16.  What is not UTF-8 counts as Java reads
 * it, a replacement character for each byte.
 */
static uint64_t
hash_java(const ShCompat *compat)
{
	const unsigned char *next = compat->pieces[0].bytes;
	const unsigned char *end = next + compat->pieces[0].length;
	const unsigned char *paused = next;
	uint32_t	hash = 0;

	while (next < end)
	{
		size_t		n;
		int32_t		c = sh_utf8_decode(next, end, &n);

		next += n;
		if (c < 0)
			c = JAVA_REPLACEMENT;
		if (c > 0xffff)
		{
			hash = 31 * hash + (0xd800 + (((uint32_t) c - 0x10000) >> 10));
			c = 0xdc00 + (c & 0x3ff);
		}
		hash = 31 * hash + (uint32_t) c;
		if (next - paused > STRETCH)
		{
			compat->pause();
			paused = next;
		}
	}
	return hash;
}

/* The FNV-1 of the piece, in 64 bits. */
static uint64_t
hash_fnv(const ShCompat *compat)
{
	uint64_t	hash = FNV_INIT;

	for (size_t i = 0; i < compat->pieces[0].length; i++)
	{
		hash = hash * FNV_PRIME ^ compat->pieces[0].bytes[i];
		if (i % STRETCH == STRETCH - 1)
			compat->pause();
	}
	return hash;
}

/* The XXH3 of the pieces, which follow each other in the document. */
static uint64_t
hash_xxh3(const ShCompat *compat)
{
	const ShPiece *last = &compat->pieces[compat->have - 1];
	const unsigned char *first = compat->pieces[0].bytes;

	return XXH3_64bits(first, (size_t) (last->bytes + last->length - first));
}

/* --- the implementations -------------------------------------------------- */

/* The implementations, by the units that they cut into. */
static const ShScheme schemes[] = {
	[SH_UNIT_PYTHON_LETTER - SH_UNIT_COMPAT] =
	{next_letter, hash_md5_last, 0, sh_python_lower, false, SHORT_JOINED, "", false},
	[SH_UNIT_PYTHON_WORD - SH_UNIT_COMPAT] =
	{next_python_word, hash_md5_first, 0, sh_python_lower, false, SHORT_NONE, " ", false},
	[SH_UNIT_BYTE - SH_UNIT_COMPAT] =
	{next_byte, hash_crc32c, 0, NULL, false, SHORT_WHOLE, "", false},
	[SH_UNIT_BYTE_CI - SH_UNIT_COMPAT] =
	{next_byte, hash_crc32c, 0x20, NULL, false, SHORT_WHOLE, "", false},
	[SH_UNIT_UTF8 - SH_UNIT_COMPAT] =
	{next_character, hash_crc32c, 0, NULL, true, SHORT_WHOLE, "", false},
	[SH_UNIT_UTF8_CI - SH_UNIT_COMPAT] =
	{next_character, hash_crc32c, 0x20, NULL, true, SHORT_WHOLE, "", false},
	[SH_UNIT_CLICKHOUSE_WORD - SH_UNIT_COMPAT] =
	{next_clickhouse_word, hash_crc32c, 0, NULL, false,
	SHORT_JOINED_IF_ANY, " ", false},
	[SH_UNIT_CLICKHOUSE_WORD_CI - SH_UNIT_COMPAT] =
	{next_clickhouse_word, hash_crc32c, 0x20, NULL, false,
	SHORT_JOINED_IF_ANY, " ", false},
	[SH_UNIT_JAVA_WORD - SH_UNIT_COMPAT] =
	{next_java_word, hash_java, 0, NULL, false, SHORT_NONE, "", false},
	[SH_UNIT_DAFT_CHARACTER - SH_UNIT_COMPAT] =
	{next_character, hash_xxh3, 0, NULL, false, SHORT_NONE, "", false},
	[SH_UNIT_GO_WORD - SH_UNIT_COMPAT] =
	{next_go_word, hash_fnv, 0, lower_go, false, SHORT_NONE, "", true}
};

/* The scheme of a profile. */
static inline const ShScheme *
scheme_of(const ShProfile *profile)
{
	return &schemes[profile->unit - SH_UNIT_COMPAT];
}

/* True when the profile is one of those read here. */
bool
sh_compat_profile(const ShProfile *profile)
{
	return profile->unit >= SH_UNIT_COMPAT;
}

/* What brings the document to lower case first, or NULL. */
ShLower    *
sh_compat_lower(const ShProfile *profile)
{
	return scheme_of(profile)->lower;
}

/* True when a bit is 1 that half of the features have, or all of none. */
bool
sh_compat_half(const ShProfile *profile)
{
	return scheme_of(profile)->half;
}

/* What stands between the pieces of a feature when it is shown. */
const char *
sh_compat_joiner(const ShProfile *profile)
{
	return scheme_of(profile)->joiner;
}

/* --- features ------------------------------------------------------------ */

/* Begin to read a document, of which the caller keeps the bytes. */
void
sh_compat_begin(ShCompat *compat, const ShProfile *profile,
				const unsigned char *bytes, size_t length,
				void (*pause) (void))
{
	memset(compat, 0, sizeof *compat);
	compat->profile = profile;
	compat->scheme = scheme_of(profile);
	compat->document.bytes = compat->next = bytes;
	compat->document.length = length;
	compat->pause = pause;
}

/* Fill the window for the first time; false when there is no such feature. */
static bool
first_window(ShCompat *compat)
{
	const ShScheme *scheme = compat->scheme;

	while (compat->have < compat->profile->max &&
		   scheme->next(compat, &compat->pieces[compat->have]))
		compat->have++;
	if (compat->have == compat->profile->max)
		return !scheme->skips_first;

	compat->ended = true;
	switch (scheme->if_short)
	{
		case SHORT_WHOLE:
			compat->pieces[0] = compat->document;
			compat->have = 1;
			return true;
		case SHORT_JOINED:
			return true;
		case SHORT_JOINED_IF_ANY:
			return compat->have > 0;
		case SHORT_NONE:
			break;
	}
	return false;
}

/*
 * The hash of the feature that was just read: that of the other program, or where
 * the profile has a seed one by which features are compared, that of the bytes
 * that the other program would hash, however they are cut into pieces.
 */
static uint64_t
hash_feature(const ShCompat *compat)
{
	const ShScheme *scheme = compat->scheme;
	size_t		blank = scheme->hash == hash_md5_first;
	unsigned char some[64];
	uint64_t	hash = compat->profile->seed;
	size_t		n = 0;
	size_t		done = 0;

	if (hash == 0)
		return scheme->hash(compat);
	for (int i = 0; i < compat->have; i++)
	{
		const ShPiece *piece = &compat->pieces[i];
		size_t		before = i > 0 ? blank : 0;

		for (size_t at = 0; at < before + piece->length; at++)
		{
			if (n == sizeof some)
			{
				hash = XXH3_64bits_withSeed(some, n, hash);
				n = 0;
				if (++done % (STRETCH / sizeof some) == 0)
					compat->pause();
			}
			some[n++] = at < before ? ' ' :
				piece->bytes[at - before] | scheme->mask;
		}
	}
	return XXH3_64bits_withSeed(some, n, hash);
}

/*
 * Read the next feature and its hash; false when there is none left.  The
 * fingerprint of a document without any is 0.
 */
bool
sh_compat_next(ShCompat *compat, uint64_t *hash)
{
	const ShScheme *scheme = compat->scheme;
	ShPiece		piece;

	if (!compat->begun)
	{
		compat->begun = true;
		if (first_window(compat))
		{
			*hash = hash_feature(compat);
			return true;
		}
	}
	if (compat->ended || !scheme->next(compat, &piece))
	{
		compat->ended = true;
		return false;
	}
	memmove(compat->pieces, compat->pieces + 1,
			(size_t) (compat->have - 1) * sizeof piece);
	compat->pieces[compat->have - 1] = piece;
	*hash = hash_feature(compat);
	return true;
}

/* Hand the hashes of all features to the reader. */
void
sh_compat_read(ShCompat *compat, ShHashReader read, void *state)
{
	uint64_t	hashes[SH_BATCH];
	size_t		n;

	do
	{
		compat->pause();
		for (n = 0; n < SH_BATCH && sh_compat_next(compat, &hashes[n]);)
			n++;
		if (n > 0)
			read(state, hashes, n);
	} while (n == SH_BATCH);
}

/* The hash of a feature that is given. */
uint64_t
sh_compat_hash(const ShProfile *profile,
			   const unsigned char *bytes, size_t length,
			   void (*pause) (void))
{
	ShCompat	compat;

	sh_compat_begin(&compat, profile, bytes, length, pause);
	compat.pieces[0] = compat.document;
	compat.have = 1;
	return hash_feature(&compat);
}
