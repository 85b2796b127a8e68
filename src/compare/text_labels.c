/*-------------------------------------------------------------------------
 *
 * text_labels.c
 *		Numbers of pages and of items of a text, which are layout where they count up.
 *
 * Numbers of pages and items count up: a line that has but a number, with a word or
 * two, or the number that an item begins with, is layout if the next or the last
 * line of the kind has the next or the last number.  Between two pages there is
 * some text, and nothing else of their lines differs: rows of a table count up, too.
 * Items begin with 1, or 0: days of a month, and years, are written as they are.  A
 * sign stands for the number of a page, so that another one there is seen.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/text_lines.h"

#include <utf8proc.h>

#define LABEL_DIGITS	6		/* digits of a number of a page or an item */
#define LABEL_WORDS		3		/* words and numbers of a line of such a
								 * number */
#define LABEL_APART		100		/* bytes of words between the lines of two
								 * pages */
#define YEAR_FIRST		1900	/* no numbers of pages */
#define YEAR_LAST		2100

/*
 * The value of a decimal digit, of whatever script; of another number the code
 * point; -1 if it is none.  Unicode has the ten of a script in a row, and none
 * in Han.
 */
int32
simhash_digit_value(int32 c)
{
	int32		n = 0;
	utf8proc_category_t category;

	if (c < 0xb2 || (c > 0x3400 && c < 0xa620))
		return c >= '0' && c <= '9' ? c - '0' : -1;
	category = utf8proc_category(c);
	if (category != UTF8PROC_CATEGORY_ND)
		return category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO ? c : -1;
	while (n < 10 && utf8proc_category(c - n) == UTF8PROC_CATEGORY_ND)
		n++;
	return (n - 1) % 10;
}

/* Read a number of few digits; returns what is behind it, or NULL. */
static const unsigned char *
read_number(const unsigned char *from, const unsigned char *end, int32 *number)
{
	Size		length;
	int			digits = 0;

	*number = 0;
	for (; from < end; from += length)
	{
		int32		c = sh_utf8_decode(from, end, &length);
		int32		value = simhash_is_of_word(c) ? simhash_digit_value(c) : 10;

		if (value < 0 || value > 9)
			return digits > 0 && value >= 0 ? from : NULL;
		if (++digits > LABEL_DIGITS)
			return NULL;
		*number = *number * 10 + value;
	}
	return digits > 0 ? from : NULL;
}

/*
 * Is a line but a number, with a word or two?  Then it is the label of a page, of
 * such words; another number is one of them, as that of all pages.  "return 1;" is none.
 */
static bool
read_page(const unsigned char *from, const unsigned char *end, SimhashLabel *label)
{
	int			words = 0;
	bool		within = false;
	bool		found = false;
	Size		length;

	label->word = 0;
	for (; from < end; from += length)
	{
		int32		c = sh_utf8_decode(from, end, &length);
		const unsigned char *behind = NULL;

		if (simhash_is_of_word(c) && !within)
		{
			if (++words > LABEL_WORDS)
				return false;
			behind = found ? NULL : read_number(from, end, &label->number);
		}
		within = simhash_is_of_word(c);
		found |= behind != NULL;
		if (behind != NULL)
			length = (Size) (behind - from);
		else if (c == ';')
			return false;
		else if (!simhash_is_blank(c))
			label->word = label->word * SH_SCRAMBLE + (uint64) c;
	}
	return found;
}

/* Does a line begin with the number of an item, "3.", "3)" or "(3)", and have more? */
static bool
read_item(const unsigned char *from, const unsigned char *end, SimhashLabel *label)
{
	const unsigned char *behind;
	const unsigned char *next;

	from += from < end && *from == '(';
	behind = read_number(from, end, &label->number);
	if (behind == NULL || behind == end || (*behind != '.' && *behind != ')'))
		return false;
	label->word = *behind;
	label->end = behind + 1;
	next = simhash_skip(label->end, end, true);
	return next > label->end && next < end;
}

/* Note the label that a line may have. */
void
simhash_note_label(SimhashLabels *labels, const unsigned char *from, const unsigned char *end)
{
	SimhashLabel label = {.line = from,.end = end};

	label.item = read_item(from, end, &label);
	if (!label.item && (end - from > 64 || !read_page(from, end, &label)))
		return;
	simhash_make_room(labels->list, labels->n, labels->room, 64);
	labels->list[labels->n++] = label;
}

/* Is there some text in a stretch, however it is laid out? */
static bool
are_apart(const unsigned char *from, const unsigned char *end)
{
	Size		length;

	for (Size apart = 0; from < end; from += length)
	{
		if (simhash_is_of_word(sh_utf8_decode(from, end, &length)) &&
			(apart += length) >= LABEL_APART)
			return true;
	}
	return false;
}

/* For each label, whether the last or next one of its kind has the last or next number. */
void
simhash_find_counting(SimhashLabels *labels)
{
	SimhashLabel *last[2] = {NULL, NULL};

	for (uint32 i = 0; i < labels->n; i++)
	{
		SimhashLabel *label = &labels->list[i];
		SimhashLabel *before = last[label->item];

		label->first = label->number;
		if (before != NULL && before->word == label->word &&
			(before->number + 1 == label->number ||
			 (label->item && label->number == before->number && label->number <= 1)) &&
			(label->item || are_apart(before->end, label->line)))
		{
			label->first = before->first;
			if (label->item ? label->first <= 1 : label->number < YEAR_FIRST || label->number > YEAR_LAST)
				before->counts = label->counts = true;
		}
		last[label->item] = label;
	}
}
