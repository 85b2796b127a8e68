/*-------------------------------------------------------------------------
 *
 * python.c
 *		Characters as Python sees them.
 *
 * Python reads characters with its own notions of lower case and of a letter.
 * They are properties of Unicode; we keep them at version 14.0, that of
 * Python 3.11, like everything else that a fingerprint depends on.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/foreign/foreign.h"

#include <utf8proc.h>

#include "core/text/characters.h"

#define STRETCH			(64 * 1024) /* bytes between two pauses */
#define SIGMA			0x3a3
#define FINAL_SIGMA		0x3c2
#define I_WITH_DOT		0x130
#define DOT_ABOVE		0x307

/* True for the ideographs of planes 2 and 3 that Unicode 14.0 has. */
static bool
is_late_ideograph(int32_t c)
{
	static const int32_t ranges[][2] = {
		{0x20000, 0x2a6df}, {0x2a700, 0x2b738}, {0x2b740, 0x2b81d},
		{0x2b820, 0x2cea1}, {0x2ceb0, 0x2ebe0}, {0x2f800, 0x2fa1d},
		{0x30000, 0x3134a}
	};

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
	{
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	}
	return false;
}

/*
 * The general category in Unicode 14.0.  Letters, marks and numbers that the
 * library knows and our table has as separators came later.
 */
static int
category(int32_t c)
{
	int			result;
	int			kind;

	if (c < 0)
		return UTF8PROC_CATEGORY_CN;
	result = utf8proc_category(c);
	if (result > UTF8PROC_CATEGORY_NO)
		return result;
	kind = sh_classify(c) & ~SH_INERT;
	if (kind == SH_SEPARATOR ||
		(c >= 0x20000 && c <= 0x3fffd && !is_late_ideograph(c)))
		return UTF8PROC_CATEGORY_CN;
	return result;
}

/* True for what the regular expression \w matches. */
bool
sh_python_is_letter(int32_t c)
{
	int			class;

	if (c >= 0 && c < 0x80)
		return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			(c >= 'A' && c <= 'Z') || c == '_';
	class = category(c);
	return (class >= UTF8PROC_CATEGORY_LU && class <= UTF8PROC_CATEGORY_LO) ||
		(class >= UTF8PROC_CATEGORY_ND && class <= UTF8PROC_CATEGORY_NO);
}

/* Unicode's Cased, for what is not Case_Ignorable. */
static bool
is_cased(int32_t c)
{
	int			class = category(c);

	return (class >= UTF8PROC_CATEGORY_LU && class <= UTF8PROC_CATEGORY_LT) ||
		c == 0xaa || c == 0xba || (c >= 0x2160 && c <= 0x217f) ||
		(c >= 0x24b6 && c <= 0x24e9) || (c >= 0x1f130 && c <= 0x1f149) ||
		(c >= 0x1f150 && c <= 0x1f169) || (c >= 0x1f170 && c <= 0x1f189);
}

/* Unicode's Case_Ignorable. */
static bool
is_case_ignorable(int32_t c)
{
	static const int32_t others[] = {
		0x27, 0x2e, 0x3a, 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024,
		0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a
	};

	switch (category(c))
	{
		case UTF8PROC_CATEGORY_MN:
		case UTF8PROC_CATEGORY_ME:
		case UTF8PROC_CATEGORY_CF:
		case UTF8PROC_CATEGORY_LM:
		case UTF8PROC_CATEGORY_SK:
			return true;
		default:
			break;
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
	{
		if (c == others[i])
			return true;
	}
	return false;
}

/* True when the next character that is not Case_Ignorable is Cased. */
static bool
cased_follows(const unsigned char *p, const unsigned char *end)
{
	while (p < end)
	{
		size_t		n;
		int32_t		c = sh_utf8_decode(p, end, &n);

		p += n;
		if (!is_case_ignorable(c))
			return is_cased(c);
	}
	return false;
}

/*
 * ShLower: write the lower case of a text, as Python's str.lower gives it, in at
 * most SH_LOWER_BYTES(length).
 */
size_t
sh_python_lower(unsigned char *to, const unsigned char *bytes, size_t length,
				void (*pause) (void))
{
	unsigned char *start = to;
	const unsigned char *end = bytes + length;
	const unsigned char *paused = bytes;
	bool		cased = false;	/* the last not Case_Ignorable was Cased */

	while (bytes < end)
	{
		size_t		n;
		int32_t		c = sh_utf8_decode(bytes, end, &n);
		bool		was_cased = cased;

		if (!is_case_ignorable(c))
			cased = is_cased(c);
		if (c < 0)
			*to++ = *bytes;
		else if (c == I_WITH_DOT)
		{
			to += utf8proc_encode_char('i', to);
			to += utf8proc_encode_char(DOT_ABOVE, to);
		}
		else if (c == SIGMA && was_cased && !cased_follows(bytes + n, end))
			to += utf8proc_encode_char(FINAL_SIGMA, to);
		else
			to += utf8proc_encode_char(category(c) == UTF8PROC_CATEGORY_CN ?
									   c : utf8proc_tolower(c), to);
		bytes += n;
		if (bytes - paused > STRETCH)
		{
			pause();
			paused = bytes;
		}
	}
	return (size_t) (to - start);
}
