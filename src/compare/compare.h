/*-------------------------------------------------------------------------
 *
 * compare.h
 *		Two documents: how similar they are, and whether one may go for the other.
 *
 * In come documents; a document is a text, an array of features or a fingerprint
 * (measures.c has the measures, as a table, and which types they take).  What is known
 * of a document to compare it are its features, in a bag or a list,
 * and, where one is to go for another, its words in their order: text_layout.c leaves
 * out of a text all that is layout, read_document.c cuts the rest.  align.c finds what
 * differs between two lists of words; judge.c says what that means, with what families.c
 * knows of the rows near to both.  Guards, pairs, clusters, plans, reports and removals
 * all ask here.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef SIMHASH_COMPARE_H
#define SIMHASH_COMPARE_H

#include "fingerprint/fingerprint.h"

/* --- measures --------------------------------------------------------------- */

/* How similar two documents are. */
typedef enum SimhashMeasure
{
	SIMHASH_JACCARD,			/* of the sets of features */
	SIMHASH_COSINE,				/* of their weights */
	SIMHASH_NO_MEASURE,			/* documents are not compared */
	SIMHASH_CONTAINMENT,		/* of the first set in the second */
	SIMHASH_BY_ALIKE,			/* Jaccard, and what judge.c asks besides */
	SIMHASH_BUT_DIGITS,			/* the same, where digits do not count */
	SIMHASH_BUT_SIGNS,			/* ... signs do not */
	SIMHASH_BY_WORDS,			/* ... neither do */
	SIMHASH_HAMMING				/* they are fingerprints, so many bits apart */
} SimhashMeasure;

/* What there is to know of a measure. */
typedef struct SimhashMeasureKind
{
	const char *name;			/* as arguments have it */
	const char *called;			/* in messages */
	bool		sets;			/* at_least bounds a Jaccard similarity */
	bool		aligned;		/* the words are compared in their order, too */
	int			omitted;		/* kinds of words that do not count */
} SimhashMeasureKind;

extern const SimhashMeasureKind simhash_measures[];

/* "at_least" where it is not said. */
#define SIMHASH_AT_LEAST	0.8

/* --- words ------------------------------------------------------------------ */

/* What a word is. */
typedef enum SimhashWordKind
{
	SIMHASH_WORD = 1,
	SIMHASH_NUMBER = 2,			/* it has a digit */
	SIMHASH_SIGN = 4,			/* that may not be put in or left out */
	SIMHASH_UNIT = 8,			/* a sign that may, as a word: of currencies,
								 * % */
	SIMHASH_SOFT_SIGN = 16,		/* one that counts only for another */
	SIMHASH_LABEL = 32,			/* where that of a page counts up: only for a
								 * number that does not */
	SIMHASH_EMPTY = 64			/* a field that is empty: only for words that
								 * fill it */
} SimhashWordKind;

#define SIMHASH_SOFT	(SIMHASH_SOFT_SIGN | SIMHASH_LABEL | SIMHASH_EMPTY)
#define SIMHASH_LABEL_SIGN	0x1d0f5 /* what stands for one */
#define SIMHASH_EMPTY_SIGN	0x2423
#define SIMHASH_EMPTY_MARK	"\342\220\243"	/* in UTF-8 */
#define SIMHASH_BAR_SIGN	0x2502	/* ... for a bar of a table */
#define SIMHASH_SIGNS	(SIMHASH_SIGN | SIMHASH_UNIT | SIMHASH_SOFT_SIGN)

/* A word of a document. */
typedef struct SimhashWord
{
	uint64		hash;			/* nobody can foresee it */
	uint32		start;			/* of its normal form, among these */
	uint16		length;			/* of that, in bytes */
	uint16		kind;
} SimhashWord;

/* The words of a document in their order. */
typedef struct SimhashWords
{
	uint32		n;
	uint32		room;
	uint32		bytes;			/* of the normal forms */
	uint32		bytes_room;
	uint64		signs;			/* hashes of the kind SIMHASH_SIGN, added up */
	SimhashWord *list;
	char	   *forms;
} SimhashWords;

/* Have two lists the same words, one after the other?  They are equally long. */
static inline bool
simhash_same_words(const SimhashWords *a, const SimhashWords *b)
{
	for (uint32 i = 0; i < a->n; i++)
	{
		if (a->list[i].hash != b->list[i].hash)
			return false;
	}
	return true;
}

/* Make a list one of its own, in a memory context. */
static inline void
simhash_copy_words(SimhashWords *words, MemoryContext context)
{
	Size		bytes = words->n * sizeof *words->list;

	words->list = memcpy(MemoryContextAllocHuge(context, bytes + 1), words->list, bytes);
	words->forms = memcpy(MemoryContextAllocHuge(context, words->bytes + 1), words->forms,
						  words->bytes);
}

/* A place in which two lists of words differ: some words of each. */
typedef struct SimhashDifference
{
	uint32		a;
	uint32		na;
	uint32		b;
	uint32		nb;
} SimhashDifference;

/* --- documents -------------------------------------------------------------- */

/* What is known of a document to compare it with others. */
typedef struct SimhashDocument
{
	ShFeatures	features;
	SimhashWords words;			/* if the measure is aligned, of a text */
} SimhashDocument;

/* Whether one of two documents may go for the other. */
typedef enum SimhashVerdict
{
	SIMHASH_UNLIKE,
	SIMHASH_ALIKE,
	SIMHASH_ALIKE_IN_FAMILY,	/* by what is known of the rows near to both */

	/* they are similar enough, but something stands for something else: */
	SIMHASH_OTHER_ENTRIES,		/* in a place where any two of a family differ */
	SIMHASH_OTHER_WORDS,
	SIMHASH_OTHER_DIGITS,
	SIMHASH_OTHER_SIGNS,
	SIMHASH_OTHER_ORDER			/* nothing does, but words stand elsewhere */
} SimhashVerdict;

extern const char *const simhash_doubts[];

/* May the one go for the other? */
static inline bool
simhash_is_alike(SimhashVerdict verdict)
{
	return verdict == SIMHASH_ALIKE || verdict == SIMHASH_ALIKE_IN_FAMILY;
}

/* How documents are compared: what a comparison keeps. */
typedef struct SimhashComparison
{
	SimhashMeasure measure;
	double		at_least;
	const ShProfile *profile;
	bool		arrays;			/* documents are arrays of features */
	int64		at_most;		/* bits apart, of fingerprints */
	int			width;			/* of these */
} SimhashComparison;

/* Words that differ, before nothing is alike. */
#define SIMHASH_ALIGNED_MOST	2000

/* Rows of a family, without which nothing is known. */
#define SIMHASH_FAMILY_LEAST	5

/* How documents are compared, as the arguments of a call say. */
typedef struct SimhashDocumentOptions
{
	const char *document;		/* NULL: it is not said */
	const char *similarity;		/* the same */
	bool		bounded;		/* at_least is said */
	double		at_least;
	const char *profile;		/* NULL: the default one */
	bool		limited;		/* at_most is said */
	int64		at_most;
} SimhashDocumentOptions;

/* What is known of rows that are near to each other; see families.c. */
typedef struct SimhashFamily SimhashFamily;

/* What a family knows of one of its texts. */
typedef struct SimhashMember
{
	int32	   *map;			/* which word of the base each word is, or -1 */
	SimhashDifference *entries; /* by entry: the words that stand there; NULL
								 * if it is too different from the base */
} SimhashMember;

/* text_labels.c */
extern int32 simhash_digit_value(int32 c);

/* text_layout.c */
extern Size simhash_leave_layout(const unsigned char *from, Size length,
								 unsigned char *out, bool *signs);

/* read_document.c */
extern ShFeatures simhash_read_features(const SimhashComparison *comparison, ShBag *bag,
										Datum value);
extern SimhashWords simhash_read_aligned(const SimhashComparison *comparison,
										 text *document);
extern SimhashDocument simhash_read_document(const SimhashComparison *comparison,
											 ShBag *bag, Datum value);

/* align.c */
extern bool simhash_align(const SimhashWords *a, const SimhashWords *b,
						  uint32 most, SimhashDifference **differences,
						  uint32 *n);

/* facts.c */
extern uint32 simhash_count_negations(const SimhashWords *words, uint32 from, uint32 n);
extern uint32 simhash_count_numerals(const SimhashWords *words, uint32 from, uint32 n);
extern bool simhash_is_number_word(const SimhashWords *words, uint32 at);
extern bool simhash_change_number(const SimhashWords *words, uint32 from, uint32 n,
								  uint32 beside);

/* slips.c */
extern bool simhash_are_slips(const SimhashWords *x, const SimhashWords *y,
							  const SimhashDifference *place, uint32 *slips);

/* judge.c */
extern SimhashVerdict simhash_judge_features(const SimhashComparison *comparison,
											 const SimhashDocument *a,
											 const SimhashDocument *b,
											 const ShBag *bag, ShOverlap *overlap,
											 double *similarity);
extern SimhashVerdict simhash_judge_words(const SimhashComparison *comparison,
										  const SimhashDocument *a,
										  const SimhashDocument *b,
										  const ShOverlap *overlap,
										  SimhashFamily *family);
extern SimhashVerdict simhash_judge(const SimhashComparison *comparison,
									const SimhashDocument *a,
									const SimhashDocument *b, const ShBag *bag,
									SimhashFamily *family, double *similarity);

/* families.c */
extern SimhashFamily *simhash_family_begin(const SimhashWords *base, uint32 most);
extern void simhash_family_add(SimhashFamily *family, const SimhashWords *words);
extern void simhash_family_end(SimhashFamily *family);
extern SimhashMember simhash_family_member(const SimhashFamily *family,
										   const SimhashWords *words);
extern bool simhash_family_differ(SimhashFamily *family, const SimhashWords *a,
								  const SimhashMember *of_a, const SimhashWords *b,
								  const SimhashMember *of_b);
extern bool simhash_family_has_entry(const SimhashFamily *family, const SimhashWords *a,
									 const SimhashWords *b,
									 const SimhashDifference *place);

/* describe.c */
extern text *simhash_describe(const SimhashWords *a, const SimhashWords *b);

/* measures.c */
extern SimhashMeasure simhash_get_measure(const char *similarity);
extern Oid	simhash_document_type(SimhashMeasure measure, Oid type);

/* similarity.c */
extern SimhashVerdict simhash_compare(const SimhashComparison *comparison, text *a,
									  text *b, double *similarity);

#endif							/* SIMHASH_COMPARE_H */
