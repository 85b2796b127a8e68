/*-------------------------------------------------------------------------
 *
 * html_references.c
 *		Character references of HTML: "&eacute;", "&eacute", "&#233;".
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "core/text/html.h"

#include <string.h>

#include <utf8proc.h>

/* Limits of the names, which end with zeros in the table. */
#define NAME_BYTES		32
#define NAME_ALONE_MAX	6		/* bytes of one that needs no semicolon */

/* A named reference, and what it stands for. */
typedef struct ShEntity
{
	char		name[NAME_BYTES];
	char		text[7];
	bool		alone;			/* it needs no semicolon */
} ShEntity;

#include "core/text/entity_table.h"

#define REPLACEMENT		0xfffd
#define BEYOND			0x110000

/* What numbers from 0x80 to 0x9f stand for: the characters of windows-1252. */
static const uint16_t windows_1252[32] = {
	0x20ac, 0x81, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
	0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d, 0x017d, 0x8f,
	0x90, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
	0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d, 0x017e, 0x0178
};

/* The value of a digit, in decimal or not; -1 if it is none. */
static int
digit_value(unsigned char c, bool hexadecimal)
{
	unsigned char letter = c | 0x20;

	if (c >= '0' && c <= '9')
		return c - '0';
	return hexadecimal && letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* Read the number behind "&#"; as sh_html_reference. */
static size_t
read_number(const unsigned char *p, const unsigned char *end,
			unsigned char *to, size_t *length)
{
	const unsigned char *start = p;
	bool		hexadecimal = end - p > 2 && (p[2] | 0x20) == 'x';
	const unsigned char *digits = p + (hexadecimal ? 3 : 2);
	uint32_t	c = 0;
	int			digit;

	for (p = digits; p < end && (digit = digit_value(*p, hexadecimal)) >= 0; p++)
		c = c >= BEYOND ? BEYOND : c * (hexadecimal ? 16 : 10) + (uint32_t) digit;
	if (p == digits)
		return 0;
	if (p < end && *p == ';')
		p++;
	if (c == 0 || c >= BEYOND || (c >= 0xd800 && c <= 0xdfff))
		c = REPLACEMENT;
	else if (c >= 0x80 && c <= 0x9f)
		c = windows_1252[c - 0x80];
	*length = (size_t) utf8proc_encode_char((int32_t) c, to);
	return (size_t) (p - start);
}

/* The reference of that name, or NULL. */
static const ShEntity *
find_entity(const unsigned char *name, size_t length)
{
	size_t		low = 0;
	size_t		high = sizeof entities / sizeof *entities;

	while (low < high)
	{
		size_t		middle = (low + high) / 2;
		const ShEntity *entity = &entities[middle];
		int			order = memcmp(name, entity->name, length);

		if (order == 0 && entity->name[length] == '\0')
			return entity;
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/*
 * Read the reference that "&" at p begins: write at most eight bytes that it
 * stands for, and their number; returns the bytes read, which is 0 if it is
 * none.  A name without its semicolon may be the start of a longer word.
 */
size_t
sh_html_reference(const unsigned char *p, const unsigned char *end,
				  unsigned char *to, size_t *length)
{
	const ShEntity *found = NULL;
	size_t		n = 0;
	size_t		most = (size_t) (end - ++p);

	if (most > 0 && *p == '#')
		return read_number(p - 1, end, to, length);
	while (n < most && n < NAME_BYTES &&
		   (digit_value(p[n], false) >= 0 ||
			((p[n] | 0x20) >= 'a' && (p[n] | 0x20) <= 'z')))
		n++;
	if (n < most && n < NAME_BYTES && p[n] == ';')
		found = find_entity(p, n++);
	if (found == NULL && n > NAME_ALONE_MAX)
		n = NAME_ALONE_MAX;
	for (; found == NULL && n > 1; n--)
	{
		found = find_entity(p, n);
		if (found != NULL && found->alone)
			break;
		found = NULL;
	}
	if (found == NULL)
		return 0;
	*length = strlen(found->text);
	memcpy(to, found->text, sizeof found->text);
	return n + 1;
}
