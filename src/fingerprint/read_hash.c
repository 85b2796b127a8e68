/*-------------------------------------------------------------------------
 *
 * read_hash.c
 *		simhash_read_hash: hashes as the programs that make them write them.
 *
 * A string is read in the one form that the caller says, and has to be a hash
 * of so many bits in it to the last digit: a form that is guessed, or digits that
 * are cut off or filled up, make another hash, which nobody notices.  What a
 * string looks like is for the error alone.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fingerprint/fingerprint.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/varbit.h"

#include "core/blocks/layout.h"

PG_FUNCTION_INFO_V1(simhash_read_hash);

/* Of a hash that is none an error shows so many bytes. */
#define SHOWN		40

/* So many zeros may be missing before one whose format an error guesses. */
#define FEW			4

#define ALL_FORMATS	"\"hex\", \"hex-short\", \"binary\", \"decimal\", \"base64\", \"base64url\" or \"jimp\""
#define DIGITS		"0123456789"
#define SMALL		"abcdefghijklmnopqrstuvwxyz"
#define CAPITALS	"ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* How hashes are written; an error looks for a string's form in this order. */
typedef struct HashFormat
{
	const char *name;
	const char *what;			/* its digits are called */
	const char *digits;			/* by their values */
	int			bits;			/* of a digit; 0: a decimal number */
	bool		abridged;		/* leading zeros may be missing */
	bool		octets;			/* RFC 4648: excess bits stand at the end */
} HashFormat;

static const HashFormat formats[] = {
	{"binary", "binary", DIGITS, 1, false, false},
	{"decimal", "decimal", DIGITS, 0, true, false},
	{"hex", "hexadecimal", DIGITS SMALL, 4, false, false},
	{"hex-short", "hexadecimal", DIGITS SMALL, 4, true, false},
	{"base64", "base64", CAPITALS SMALL DIGITS "+/", 6, false, true},
	{"base64url", "base64url", CAPITALS SMALL DIGITS "-_", 6, false, true},
	{"jimp", "jimp", DIGITS SMALL CAPITALS "$_", 6, false, false},
};

/* Parts of a hash that are in reverse order within larger ones, in bits. */
typedef struct Reversal
{
	const char *name;
	int			part;
	int			within;			/* or all of the hash, if it has fewer */
} Reversal;

static const Reversal reversals[] = {
	{"none", 1, 1},
	{"bits", 1, BITS_PER_BYTE},
	{"bytes", BITS_PER_BYTE, SH_BITS},
	{"words", SH_BITS, SH_MOST_WIDTH},
	{"all", 1, SH_MOST_WIDTH},
};

/* The value of a digit, or -1. */
static int
digit_value(const HashFormat *format, char digit)
{
	int			radix = format->bits == 0 ? 10 : 1 << format->bits;
	const char *found = memchr(format->digits,
							   radix <= 16 ? (char) pg_ascii_tolower((unsigned char) digit) : digit,
							   radix);

	return found == NULL ? -1 : (int) (found - format->digits);
}

/* Take off what may stand before digits, and the padding behind them; is it a minus? */
static bool
strip(const HashFormat *format, const char **hash, int *length)
{
	bool		negative = format->bits == 0 && *length > 1 && **hash == '-';
	int			before = negative ? 1 : 0;

	if (format->bits == 4 && *length > 2 && pg_strncasecmp(*hash, "0x", 2) == 0)
		before = 2;
	if (format->octets && *length > 2 && *length % 4 == 0 &&
		(*hash)[*length - 1] == '=')
		*length -= (*hash)[*length - 2] == '=' ? 2 : 1;
	*hash += before;
	*length -= before;
	return negative;
}

/* How many bytes at the beginning of a string are digits. */
static int
count_digits(const HashFormat *format, const char *hash, int length)
{
	int			n = 0;

	while (n < length && digit_value(format, hash[n]) >= 0)
	{
		CHECK_FOR_INTERRUPTS();
		n++;
	}
	return n;
}

/*
 * Read digits of some bits each into bits, one a byte, the first at the top;
 * false where a bit is set that is none of the hash's.
 */
static bool
read_digits(const HashFormat *format, const char *hash, int length, int width,
			unsigned char *bits)
{
	int			at = format->octets ? 0 : width - length * format->bits;

	for (int i = 0; i < length; i++)
	{
		int			value = digit_value(format, hash[i]);

		for (int bit = format->bits - 1; bit >= 0; bit--, at++)
		{
			if ((value >> bit & 1) == 0)
				continue;
			if (at < 0 || at >= width)
				return false;
			bits[at] = 1;
		}
	}
	return true;
}

/* Likewise a decimal number, of which the negative ones have the highest bit set. */
static bool
read_decimal(const HashFormat *format, const char *hash, int length, int width,
			 bool negative, unsigned char *bits)
{
	int			carry = negative;

	for (int i = 0; i < length; i++)
	{
		int			sum = digit_value(format, hash[i]);

		for (int at = width - 1; at >= 0; at--, sum >>= 1)
		{
			sum += 10 * bits[at];
			bits[at] = sum & 1;
		}
		if (sum != 0)
			return false;
	}
	for (int at = width - 1; negative && at >= 0; at--, carry >>= 1)
	{
		carry += !bits[at];
		bits[at] = carry & 1;
	}
	return !negative || bits[0] == 1;
}

/* Read a hash of so many bits; false if it is none in that format. */
static bool
read_hash(const HashFormat *format, const char *hash, int length, int width,
		  unsigned char *bits)
{
	bool		negative = strip(format, &hash, &length);
	int			digits;

	if (length == 0 || length > SH_MOST_WIDTH ||
		count_digits(format, hash, length) < length ||
		(format->octets && width % BITS_PER_BYTE != 0))
		return false;
	memset(bits, 0, width);
	if (format->bits == 0)
		return read_decimal(format, hash, length, width, negative, bits);
	digits = (width + format->bits - 1) / format->bits;
	return (length == digits || (format->abridged && length < digits)) &&
		read_digits(format, hash, length, width, bits);
}

/*
 * What a string that is no hash in a format looks like: the first format in which
 * it is one, but for a few zeros at most, or else one of simple digits that it is made of, or that format.
 */
static const HashFormat *
guess(const HashFormat *format, const char *hash, int length, int width, bool *fits)
{
	unsigned char bits[SH_MOST_WIDTH];
	const HashFormat *end = formats + lengthof(formats);

	*fits = true;
	for (const HashFormat *f = formats; f < end; f++)
		if (read_hash(f, hash, length, width, bits) &&
			(f->bits == 0 || !f->abridged || length + FEW >= width / f->bits))
			return f;
	*fits = false;
	for (const HashFormat *f = formats; f->bits <= 4; f++)
		if (count_digits(f, hash, length) == length)
			return f;
	return format;
}

/* Fail because a string is no hash, and say what it looks like. */
pg_noreturn static void
complain(const HashFormat *format, const char *hash, int length, int width)
{
	bool		fits;
	const HashFormat *like = guess(format, hash, length, width, &fits);
	int			clipped = pg_mbcliplen(hash, length, SHOWN);
	char	   *shown = pnstrdup(hash, clipped);
	const char *dots = clipped < length ? "..." : "";
	int			good;

	(void) strip(like, &hash, &length);
	good = count_digits(like, hash, length);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("argument \"digits\" is \"%s%s\", which is no hash of %d bits in format \"%s\"",
					shown, dots, width, format->name),
			 length == 0 ? errdetail("It is empty.") : good == length ?
			 errdetail("It looks like %d %s digits.", length, like->what) :
			 errdetail("After %d %s digits comes something else.", good, like->what),
			 length == 0 ? errhint("Pass nullif(digits, '') where a program writes nothing.") : fits ?
			 errhint("If that is how its program writes hashes, the format is \"%s\".", like->name) :
			 errhint("Say how many \"bits\" the program's hashes have; a \"format\" is %s.",
					 ALL_FORMATS)));
}

/* Fail because an argument is none of the words that it may be. */
pg_noreturn static void
complain_of_word(const char *argument, const char *word, const char *words)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("argument \"%s\" is \"%s\"", argument, word),
			 errhint("It must be %s.", words)));
}

/* The format that a word says. */
static const HashFormat *
get_format(const char *word)
{
	for (int i = 0; i < (int) lengthof(formats); i++)
		if (strcmp(word, formats[i].name) == 0)
			return &formats[i];
	complain_of_word("format", word, ALL_FORMATS);
}

/* The reversal that a word says, which has to be one of whole parts. */
static const Reversal *
get_reversal(const char *word, int width)
{
	for (int i = 0; i < (int) lengthof(reversals); i++)
	{
		const Reversal *found = &reversals[i];
		int			whole = found->within == SH_MOST_WIDTH ? found->part : Min(found->within, width);

		if (strcmp(word, found->name) != 0)
			continue;
		if (width % whole != 0 || whole % found->part != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("argument \"bits\" is %d, and \"reversed\" is \"%s\"", width, word),
					 errhint("So many bits do not make whole %s.",
							 found->part == 1 ? "bytes" : word)));
		return found;
	}
	complain_of_word("reversed", word, "\"none\", \"bits\", \"bytes\", \"words\" or \"all\"");
}

/*
 * simhash_read_hash(digits text, bits bigint DEFAULT 64, format text DEFAULT 'hex',
 *                   reversed text DEFAULT 'none') -> bit
 *
 * A hash of so many bits, from 1 to 1024, as a program writes it:
 *
 *	hex			all its digits, small or capital, 0x before them or not
 *	hex-short	likewise, but leading zeros may be missing, as with %x
 *	binary		0 and 1
 *	decimal		a number without a sign, or, with the highest bit set, with a minus
 *	base64		the bytes by RFC 4648, section 4, padded or not; base64url: section 5
 *	jimp		the number to base 64, by the digits of the npm package jimp
 *
 * The first digit has the highest bits, unless the hash is reversed: the bits in
 * each byte, the bytes in each word of 64 bits, the words, or all bits.
 *
 * Errors: invalid_text_representation for all other strings, invalid_parameter_value
 * for other formats and reversals, and for bits that a reversal has no whole parts of.
 */
Datum
simhash_read_hash(PG_FUNCTION_ARGS)
{
	text	   *hash = PG_GETARG_TEXT_PP(0);
	int			width = (int) simhash_check_range("", "bits", PG_GETARG_INT64(1), 1,
												  SH_MOST_WIDTH, 0);
	const HashFormat *format = get_format(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	const Reversal *reversal = get_reversal(text_to_cstring(PG_GETARG_TEXT_PP(3)), width);
	int			part = reversal->part;
	int			within = Min(reversal->within, width);
	unsigned char bits[SH_MOST_WIDTH];
	VarBit	   *result = palloc0(VARBITTOTALLEN(width));

	if (!read_hash(format, VARDATA_ANY(hash), VARSIZE_ANY_EXHDR(hash), width, bits))
		complain(format, VARDATA_ANY(hash), VARSIZE_ANY_EXHDR(hash), width);
	SET_VARSIZE(result, VARBITTOTALLEN(width));
	VARBITLEN(result) = width;
	for (int at = 0; at < width; at++)
	{
		int			first = at - at % within;
		int			from = first + within - part - at % within / part * part + at % part;

		if (bits[from])
			VARBITS(result)[at / BITS_PER_BYTE] |= HIGHBIT >> at % BITS_PER_BYTE;
	}
	PG_RETURN_VARBIT_P(result);
}
