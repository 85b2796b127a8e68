/*-------------------------------------------------------------------------
 *
 * unit_align.c
 *		Unit tests of the alignment of two lists of words.
 *
 * Lists are random ones, in which a few words recur or many.  What the alignment says
 * is compared with the length of a longest common part, by the table of all prefixes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "../../src/compare/align.c"

#undef fprintf
#undef printf
#include "unit.h"

#define WORDS_MOST	400			/* of the first list; the other has up to
								 * twice as many */
#define FORM		8			/* bytes of a word at most */

/* What the alignment asks of the server. */
volatile	sig_atomic_t InterruptPending = false;
void		ProcessInterrupts(void);
void	   *palloc(Size bytes);
void	   *palloc0(Size bytes);

#ifdef USE_ASSERT_CHECKING
void
#if PG_VERSION_NUM < 160000
ExceptionalCondition(const char *condition, const char *type pg_attribute_unused(),
					 const char *file, int line)
#else
ExceptionalCondition(const char *condition, const char *file, int line)
#endif
{
	fprintf(stderr, "%s:%d: %s\n", file, line, condition);
	abort();
}
#endif

/* Memory goes after each pair of lists. */
static void *memory[4 * SIMHASH_ALIGNED_MOST];
static size_t blocks;

void
ProcessInterrupts(void)
{
}

void	   *
palloc0(Size bytes)
{
	CHECK(blocks < lengthof(memory));
	memory[blocks] = calloc(1, bytes);
	CHECK(memory[blocks] != NULL);
	return memory[blocks++];
}

void	   *
palloc(Size bytes)
{
	return palloc0(bytes);
}

/* A list of random words, of which no two read the same. */
static void
random_words(SimhashWords * words, uint32 n, uint64 vocabulary)
{
	words->n = n;
	for (uint32 i = 0; i < n; i++)
	{
		SimhashWord *word = &words->list[i];
		uint32		number = (uint32) random_below(vocabulary);

		word->hash = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
		word->start = number * FORM;
		word->length = (uint16) (FORM - word->hash % 4);
		memcpy(words->forms + word->start, &word->hash, FORM);
	}
}

/* Another list, in which so many of a hundred words are edited. */
static void
edit_words(SimhashWords * words, const SimhashWords * of, uint64 share)
{
	words->n = 0;
	for (uint32 i = 0; i < of->n; i++)
	{
		uint64		edit = random_below(100) < share ? random_below(3) : 3;

		if (edit < 2)
			words->list[words->n++] = of->list[random_below(of->n)];
		if (edit > 0)
			words->list[words->n++] = of->list[i];
	}
}

/* How many words are in one list alone, by the table of all prefixes? */
static uint32
count_words(const SimhashWords * a, const SimhashWords * b)
{
	static uint32 common[WORDS_MOST + 1][2 * WORDS_MOST + 1];

	for (uint32 i = 1; i <= a->n; i++)
	{
		for (uint32 j = 1; j <= b->n; j++)
			common[i][j] = a->list[i - 1].hash == b->list[j - 1].hash ?
				common[i - 1][j - 1] + 1 : Max(common[i - 1][j], common[i][j - 1]);
	}
	return a->n + b->n - 2 * common[a->n][b->n];
}

/* Are all words outside of the places the same?  Counts those in them. */
static uint32
check_places(const SimhashWords * a, const SimhashWords * b,
			 const SimhashDifference * places, uint32 n)
{
	uint32		i = 0;
	uint32		j = 0;
	uint32		count = 0;

	for (uint32 at = 0; at <= n; at++)
	{
		uint32		end = at < n ? places[at].a : a->n;

		while (i < end)
			CHECK(j < b->n && a->list[i++].hash == b->list[j++].hash);
		CHECK(j == (at < n ? places[at].b : b->n));
		if (at == n)
			break;
		i += places[at].na;
		j += places[at].nb;
		count += places[at].na + places[at].nb;
	}
	return count;
}

/* Align two lists, which differ by so many words, in both directions. */
static void
check_alignment(const SimhashWords * a, const SimhashWords * b, uint32 words, uint32 most)
{
	SimhashDifference *places;
	SimhashDifference *others;
	uint32		n;
	uint32		m;

	CHECK(simhash_align(a, b, most, &places, &n) == (words <= most));
	CHECK(simhash_align(b, a, most, &others, &m) == (words <= most));
	if (words > most)
		return;
	CHECK(check_places(a, b, places, n) >= words);
	CHECK(n == m);
	for (uint32 i = 0; i < n; i++)
		CHECK(places[i].a == others[i].b && places[i].na == others[i].nb &&
			  places[i].b == others[i].a && places[i].nb == others[i].na);
}

int
main(void)
{
	static SimhashWord lists[2][2 * WORDS_MOST];
	static char forms[(WORDS_MOST + 2) * FORM];
	SimhashWords a = {.list = lists[0],.forms = forms};
	SimhashWords b = {.list = lists[1],.forms = forms};

	seed_random();
	for (int i = long_run() ? 3000 : 300; i > 0; i--)
	{
		uint32		words;

		random_words(&a, 1 + (uint32) random_below(WORDS_MOST), 2 + random_below(WORDS_MOST));
		edit_words(&b, &a, random_below(100));
		words = count_words(&a, &b);
		check_alignment(&a, &b, words, words + (uint32) random_below(WORDS_MOST));
		if (words > 0)
			check_alignment(&a, &b, words, words - 1 - (uint32) random_below(words));
		while (blocks > 0)
			free(memory[--blocks]);
	}
	return 0;
}
