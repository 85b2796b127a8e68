/*-------------------------------------------------------------------------
 *
 * describe.c
 *		What differs between two documents, for people.
 *
 *		dear [ann | bob] the meeting, on [monday | friday] in the
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "compare/compare.h"

#define PLACES_SHOWN	4
#define WORDS_AROUND	2
#define WORDS_SHOWN		6

/* Append some words, in UTF-8. */
static void
append_words(StringInfo out, const SimhashWords *words, uint32 from, uint32 n)
{
	for (uint32 i = from; i < from + Min(n, WORDS_SHOWN); i++)
	{
		if (i > from)
			appendStringInfoChar(out, ' ');
		appendBinaryStringInfo(out, words->forms + words->list[i].start,
							   words->list[i].length);
	}
	if (n > WORDS_SHOWN)
		appendStringInfoString(out, " ...");
}

/* Append a place: the words of both in brackets, and those around them. */
static void
append_place(StringInfo out, const SimhashWords *a, const SimhashWords *b,
			 const SimhashDifference *place)
{
	uint32		before = Min(place->a, WORDS_AROUND);
	uint32		behind = Min(a->n - place->a - place->na, WORDS_AROUND);

	append_words(out, a, place->a - before, before);
	appendStringInfoString(out, before > 0 ? " [" : "[");
	append_words(out, a, place->a, place->na);
	appendStringInfoString(out, " | ");
	append_words(out, b, place->b, place->nb);
	appendStringInfoString(out, behind > 0 ? "] " : "]");
	append_words(out, a, place->a + place->na, behind);
}

/* The first places in which the words of two documents differ. */
text	   *
simhash_describe(const SimhashWords *a, const SimhashWords *b)
{
	SimhashDifference *places;
	StringInfoData out;
	uint32		n;

	if (!simhash_align(a, b, SIMHASH_ALIGNED_MOST, &places, &n))
		return NULL;
	initStringInfo(&out);
	for (uint32 i = 0; i < Min(n, PLACES_SHOWN); i++)
	{
		appendStringInfoString(&out, i > 0 ? ", " : "");
		append_place(&out, a, b, &places[i]);
	}
	if (n > PLACES_SHOWN)
		appendStringInfo(&out, ", and in %u places more", n - PLACES_SHOWN);
	return simhash_feature_text((unsigned char *) out.data, (Size) out.len);
}
