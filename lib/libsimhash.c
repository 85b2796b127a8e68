/*-------------------------------------------------------------------------
 *
 * libsimhash.c
 *		The fingerprints of the extension simhash, without PostgreSQL.
 *
 * What the extension's wing fingerprint/ does for a server, done for a program: texts
 * are checked and handed to the core, and all that the core keeps is in a simhasher.
 * The core asks for memory where it cannot fail, so it is left by longjmp when there
 * is none.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "libsimhash.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/fingerprint/bag.h"
#include "core/fingerprint/document.h"
#include "core/foreign/foreign.h"
#include "core/text/borders.h"
#include "core/text/html.h"

/* WebAssembly has no longjmp: there a want of memory ends the program. */
#ifndef __wasm__
#include <setjmp.h>
#else
typedef int jmp_buf[1];
#define setjmp(buffer)			0
#define longjmp(buffer, value)	((void) (buffer), __builtin_trap())
#endif

/* Limits of the work done. */
#define FOLDED_AT_ONCE		(16 * 1024) /* bytes of a text */
#define ERROR_BYTES			400
#define NAME_SHOWN			64	/* bytes of the name of a profile unknown */

/* Bytes that grow. */
typedef struct ShBuffer
{
	unsigned char *bytes;
	size_t		n;
	size_t		room;
} ShBuffer;

struct simhasher
{
	ShProfiles	profiles;
	uint64_t	secret;
	ShDocument	document;
	ShWalks		walks;
	ShHtmlNames names;
	ShLetters	letters;
	ShBag		bags[2];
	ShBuffer	page;			/* the text of a page */
	ShBuffer	lower;			/* a text in lower case, or folded */
	ShBuffer	found;			/* passages */

	/* the document being read */
	ShWideMinima minima;
	const unsigned char *text;	/* of passages */
	const simhasher_profile *profile;
	size_t		place;			/* where the next passage begins */
	ShWordReader reader;
	ShPassages	cut;

	jmp_buf		no_memory;
	char		error[ERROR_BYTES];
};

/*
 * Between setjmp and what may leave by longjmp is a call, so that no variable is
 * kept in a register that is lost.
 */
#define NOT_INLINE	__attribute__((noinline))

/* A profile is the core's. */
static const ShProfile *
of_core(const simhasher_profile *profile)
{
	return profile == NULL ? sh_default_profile : (const ShProfile *) profile;
}

/* --- errors ---------------------------------------------------------------- */

/* Append to the error as much of some bytes as there is room for. */
static void
add_to_error(simhasher *hasher, const char *bytes, size_t n)
{
	size_t		used = strlen(hasher->error);

	if (n > ERROR_BYTES - 1 - used)
		n = ERROR_BYTES - 1 - used;
	memcpy(hasher->error + used, bytes, n);
	hasher->error[used + n] = '\0';
}

/* Append words. */
static void
add_words(simhasher *hasher, const char *words)
{
	add_to_error(hasher, words, strlen(words));
}

/* Append a number, to some base. */
static void
add_number(simhasher *hasher, size_t number, unsigned base)
{
	char		digits[24];
	char	   *p = digits + sizeof digits;

	do
		*--p = "0123456789abcdef"[number % base];
	while ((number /= base) > 0);
	add_to_error(hasher, p, (size_t) (digits + sizeof digits - p));
}

/* Begin an error. */
static int
fail(simhasher *hasher, const char *message)
{
	hasher->error[0] = '\0';
	add_words(hasher, message);
	return SIMHASHER_ERROR;
}

/* There is no memory. */
static int
fail_for_memory(simhasher *hasher)
{
	(void) fail(hasher, "out of memory");
	return SIMHASHER_NO_MEMORY;
}

/* --- memory ---------------------------------------------------------------- */

/* ShTally.allocate, and ShBag.allocate. */
static void *
allocate(void *context, size_t bytes)
{
	simhasher  *hasher = context;
	void	   *result = malloc(bytes);

	if (result == NULL)
		longjmp(hasher->no_memory, 1);
	return result;
}

/* Make room for so many bytes more. */
static void
make_room(simhasher *hasher, ShBuffer *buffer, size_t bytes)
{
	size_t		room = buffer->n + bytes;
	unsigned char *larger;

	if (room <= buffer->room)
		return;
	if (buffer->n > 0 && room < 2 * buffer->room)
		room = 2 * buffer->room;
	larger = realloc(buffer->bytes, room);
	if (larger == NULL)
		longjmp(hasher->no_memory, 1);
	buffer->bytes = larger;
	buffer->room = room;
}

/* Nothing of ours need be interrupted. */
static void
no_pause(void)
{
}

/* --- texts ----------------------------------------------------------------- */

/* The first byte that is no part of UTF-8 without a byte 0, or the end. */
static const unsigned char *
find_invalid(const unsigned char *p, const unsigned char *end)
{
	const uint64_t low = UINT64_C(0x0101010101010101);

	while (p < end)
	{
		uint64_t	bytes[4];
		size_t		length;

		/* ASCII, without a byte 0: taking 1 off sets no high bit. */
		for (; end - p >= (ptrdiff_t) sizeof bytes; p += sizeof bytes)
		{
			memcpy(bytes, p, sizeof bytes);
			if (((bytes[0] | bytes[1] | bytes[2] | bytes[3] | (bytes[0] - low) |
				  (bytes[1] - low) | (bytes[2] - low) | (bytes[3] - low)) &
				 low << 7) != 0)
				break;
		}
		for (int i = 0; i < (int) sizeof bytes && p < end; i++, p += length)
		{
			if (sh_utf8_decode(p, end, &length) <= 0)
				return p;
		}
	}
	return p;
}

/* SIMHASHER_OK if that is a text; if not, say what is wrong. */
static int
check_text(simhasher *hasher, const char *text, size_t length)
{
	const unsigned char *start = (const unsigned char *) text;
	const unsigned char *end = start + length;
	const unsigned char *wrong;

	if (length > SIMHASHER_TEXT_MAX)
		return fail(hasher, "text is longer than 1 GB");
	wrong = find_invalid(start, end);
	if (wrong == end)
		return SIMHASHER_OK;
	fail(hasher, "invalid UTF-8 at byte ");
	add_number(hasher, (size_t) (wrong - start) + 1, 10);
	add_words(hasher, ":");
	for (size_t i = 0; i < sh_utf8_length(*wrong) && wrong + i < end; i++)
	{
		add_words(hasher, wrong[i] < 0x10 ? " 0x0" : " 0x");
		add_number(hasher, wrong[i], 16);
	}
	return SIMHASHER_INVALID;
}

/* Put the text, with its letters folded, in a buffer. */
static NOT_INLINE void
fold_text(simhasher *hasher, const unsigned char *bytes, size_t length)
{
	ShBuffer   *out = &hasher->lower;

	out->n = 0;
	make_room(hasher, out, 1);
	for (size_t done = 0, n; done < length; done += n)
	{
		n = length - done <= FOLDED_AT_ONCE ? length - done :
			sh_utf8_cut(bytes + done, FOLDED_AT_ONCE);
		make_room(hasher, out, SH_LETTERS_BYTES(n));
		out->n += sh_letters_fold(&hasher->letters, bytes + done,
								  bytes + done + n, out->bytes + out->n);
	}
}

/* Put the text of a page in its buffer. */
static NOT_INLINE void
read_page(simhasher *hasher, const char *page, size_t length, bool article)
{
	hasher->page.n = 0;
	make_room(hasher, &hasher->page, SH_HTML_BYTES(length));
	hasher->page.n = sh_html_text(&hasher->names, (const unsigned char *) page,
								  length, hasher->page.bytes, article, NULL,
								  no_pause);
}

/* The text that a profile reads of a document, which may be the document; sets its length. */
static const unsigned char *
visible_text(simhasher *hasher, const ShProfile *profile, const char *text,
			 size_t *length)
{
	if (profile->markup == SH_MARKUP_NONE)
		return (const unsigned char *) text;
	read_page(hasher, text, *length, profile->markup == SH_MARKUP_ARTICLE);
	*length = hasher->page.n;
	return hasher->page.bytes;
}

/* --- hashes of features ---------------------------------------------------- */

/* Hand over the features, read as another implementation does. */
static void
read_compat(simhasher *hasher, const ShProfile *profile,
			const unsigned char *bytes, size_t length, ShHashReader read, void *state)
{
	ShCompat	compat;

	if (sh_compat_lower(profile) != NULL)
	{
		hasher->lower.n = 0;
		make_room(hasher, &hasher->lower, SH_LOWER_BYTES(length));
		length = sh_compat_lower(profile) (hasher->lower.bytes, bytes, length, no_pause);
		bytes = hasher->lower.bytes;
	}
	sh_compat_begin(&compat, profile, bytes, length, no_pause);
	sh_compat_read(&compat, read, state);
}

/* Hand over the hashes of the features of a text, each as often as it occurs. */
static void
read_hashes(simhasher *hasher, const ShProfile *profile,
			const unsigned char *bytes, size_t length, ShHashReader read, void *state)
{
	ShHashStream stream = {read, state};

	if (sh_compat_profile(profile))
	{
		read_compat(hasher, profile, bytes, length, read, state);
		return;
	}
	sh_document_begin(&hasher->document, profile);
	(void) sh_document_read(&hasher->document, bytes, length,
							sh_document_hand_hashes, &stream);
	sh_document_read_end(&hasher->document, sh_document_hand_hashes, &stream);
}

/* ShHashReader: add the hashes to the bag. */
static void
add_to_bag(void *bag, const uint64_t *hashes, size_t n)
{
	sh_bag_add(bag, hashes, n);
}

/*
 * The SimHash fingerprint of what a profile reads, of so many words; false if there is
 * none.
 */
static bool
simhash(simhasher *hasher, const ShProfile *profile, const unsigned char *bytes,
		size_t length, int words, uint64_t *fingerprint)
{
	ShDocument *document = &hasher->document;

	sh_document_begin(document, profile);
	document->words = words;
	if (sh_compat_profile(profile))
		read_compat(hasher, profile, bytes, length, sh_document_add_hashes, document);
	else
		sh_document_feed(document, bytes, length);
	return sh_document_end(document, fingerprint);
}

/* The MinHash fingerprint, likewise. */
static bool
minhash(simhasher *hasher, const ShProfile *profile, const unsigned char *bytes,
		size_t length, int words, uint64_t *fingerprint)
{
	sh_wide_minima_begin(&hasher->minima, words);
	read_hashes(hasher, profile, bytes, length, sh_wide_minima_add, &hasher->minima);
	return sh_wide_minima_fingerprint(&hasher->minima, &hasher->walks, fingerprint);
}

/* Either. */
static NOT_INLINE bool
fingerprint_of(simhasher *hasher, const ShProfile *profile, int family,
			   const char *text, size_t length, int words, uint64_t *fingerprint)
{
	const unsigned char *bytes = visible_text(hasher, profile, text, &length);

	return family == SIMHASHER_SIMHASH ?
		simhash(hasher, profile, bytes, length, words, fingerprint) :
		minhash(hasher, profile, bytes, length, words, fingerprint);
}

/*
 * Put the features of a text in a bag.  Their hashes have a seed that the authors of
 * texts do not know.  Returns what check_text() does.
 */
static NOT_INLINE int
fill_bag(simhasher *hasher, int bag, ShDamping damping, const ShProfile *profile,
		 const char *text, size_t length)
{
	const ShProfile *seeded = sh_profile_seeded(&hasher->profiles, profile,
												hasher->secret);
	const unsigned char *bytes;
	int			result = check_text(hasher, text, length);

	if (result != SIMHASHER_OK)
		return result;
	if (seeded == NULL)
		longjmp(hasher->no_memory, 1);
	bytes = visible_text(hasher, profile, text, &length);
	sh_bag_begin(&hasher->bags[bag], damping);
	read_hashes(hasher, seeded, bytes, length, add_to_bag, &hasher->bags[bag]);
	sh_bag_end(&hasher->bags[bag]);
	return SIMHASHER_OK;
}

/* Compare the features of two texts by a measure, which has weights by that damping. */
static int
compare_texts(simhasher *hasher, const ShProfile *profile, ShDamping damping,
			  bool (*measure) (const ShBag *, const ShFeatures *, void (*) (void), double *),
			  const char *a, size_t a_length, const char *b, size_t b_length,
			  double *similarity)
{
	ShFeatures	features;
	int			result;

	if (setjmp(hasher->no_memory))
		return fail_for_memory(hasher);
	result = fill_bag(hasher, 0, damping, profile, a, a_length);
	if (result == SIMHASHER_OK)
		result = fill_bag(hasher, 1, damping, profile, b, b_length);
	if (result != SIMHASHER_OK)
		return result;
	features = sh_bag_features(&hasher->bags[1]);
	return measure(&hasher->bags[0], &features, no_pause, similarity);
}

/* --- passages -------------------------------------------------------------- */

/* The passage that ends before a place is complete. */
static void
end_passage(simhasher *hasher, size_t end)
{
	simhasher_passage passage = {hasher->place, end - hasher->place, 0, 0};
	const ShProfile *profile = sh_profile_of_text(&hasher->profiles,
												  of_core(hasher->profile));

	if (profile == NULL)
		longjmp(hasher->no_memory, 1);
	passage.exists = minhash(hasher, profile, hasher->text + passage.start,
							 passage.length, 1, &passage.fingerprint);
	hasher->place = end;
	make_room(hasher, &hasher->found, sizeof passage);
	memcpy(hasher->found.bytes + hasher->found.n, &passage, sizeof passage);
	hasher->found.n += sizeof passage;
}

/* ShBorderSink: another one begins. */
static void
at_border(void *state, const ShBorder *border)
{
	end_passage(state, border->byte);
}

/* Find the passages of a text. */
static NOT_INLINE void
find_passages(simhasher *hasher, const char *text, size_t length, int words)
{
	const unsigned char *bytes = visible_text(hasher, of_core(hasher->profile),
											  text, &length);
	const unsigned char *end = bytes + length;

	hasher->text = bytes;
	hasher->place = 0;
	hasher->found.n = 0;
	sh_passages_begin(&hasher->cut, words, at_border, hasher);
	sh_words_begin(&hasher->reader, false);
	while ((bytes = sh_words_feed(&hasher->reader, bytes, end)) < end)
	{
		sh_passages_add(&hasher->cut, hasher->reader.held, hasher->reader.n);
		hasher->reader.n = 0;
	}
	sh_words_end(&hasher->reader);
	sh_passages_add(&hasher->cut, hasher->reader.held, hasher->reader.n);
	sh_passages_end(&hasher->cut);
	if (hasher->cut.at > 0)
		end_passage(hasher, length);
}

/* --- what others call; libsimhash.h says what for -------------------------- */

simhasher  *
simhasher_open(uint64_t secret)
{
	simhasher  *hasher = calloc(1, sizeof *hasher);

	if (hasher == NULL)
		return NULL;
	hasher->secret = sh_mix(secret) | 1;
	hasher->profiles.allocate = malloc;
	hasher->document.tally.allocate = allocate;
	hasher->document.tally.release = free;
	hasher->document.tally.context = hasher;
	hasher->document.tally.multiplier = hasher->secret;
	for (int i = 0; i < 2; i++)
	{
		hasher->bags[i].allocate = allocate;
		hasher->bags[i].release = free;
		hasher->bags[i].context = hasher;
		hasher->bags[i].multiplier = hasher->secret;
	}
	return hasher;
}

void
simhasher_close(simhasher *hasher)
{
	if (hasher == NULL)
		return;
	sh_tally_end(&hasher->document.tally);
	for (int i = 0; i < 2; i++)
	{
		if (hasher->bags[i].room > 0)
			free(hasher->bags[i].hashes);
		if (hasher->bags[i].slots_room > 0)
			free(hasher->bags[i].table);
	}
	sh_profiles_release(&hasher->profiles, free);
	free(hasher->page.bytes);
	free(hasher->lower.bytes);
	free(hasher->found.bytes);
	free(hasher);
}

const char *
simhasher_error(const simhasher *hasher)
{
	return hasher->error;
}

const simhasher_profile *
simhasher_find_profile(simhasher *hasher, const char *name)
{
	size_t		length = name == NULL ? 0 : strlen(name);
	const ShProfile *profile = sh_default_profile;

	errno = 0;
	if (name != NULL)
		profile = sh_profile_find(&hasher->profiles, name, length);
	if (profile != NULL && !sh_profile_given(profile))
		return (const simhasher_profile *) profile;
	if (profile == NULL && errno == ENOMEM)
	{
		(void) fail_for_memory(hasher);
		return NULL;
	}
	fail(hasher, "profile \"");
	add_to_error(hasher, name, length < NAME_SHOWN ? length : NAME_SHOWN);
	add_words(hasher, profile == NULL &&
			  sh_profile_exists(&hasher->profiles, name, length) ?
			  "\" is one too many with a seed" :
			  "\" does not exist; others than those with a name of their own are "
			  "word-N, word-N-M, and the same of char and symbol, N and M from 1 to "
			  "10, each also with -count, -sqrt, -log, -binary or -capped; behind all "
			  "of these -html or -article, then -fold, and then -seed-S");
	return NULL;
}

int
simhasher_fingerprint(simhasher *hasher, const simhasher_profile *profile,
					  int family, const char *text, size_t length, int bits,
					  uint64_t *fingerprint)
{
	int			result;

	if (bits < SH_BITS || bits > SH_BITS * SH_WORDS || bits % SH_BITS != 0)
		return fail(hasher, "bits are a multiple of 64, up to 1024");
	if (family != SIMHASHER_SIMHASH && family != SIMHASHER_MINHASH)
		return fail(hasher, "there is no such family");
	result = check_text(hasher, text, length);
	if (result != SIMHASHER_OK)
		return result;
	if (setjmp(hasher->no_memory))
		return fail_for_memory(hasher);
	return fingerprint_of(hasher, of_core(profile), family, text, length,
						  bits / SH_BITS, fingerprint);
}

int
simhasher_count_features(simhasher *hasher, const simhasher_profile *profile,
						 const char *text, size_t length, size_t *features)
{
	int			result;

	if (setjmp(hasher->no_memory))
		return fail_for_memory(hasher);
	result = fill_bag(hasher, 0, SH_DAMP_COUNT, of_core(profile), text, length);
	*features = hasher->bags[0].n;
	return result;
}

int
simhasher_fold(simhasher *hasher, const char *text, size_t length,
			   const char **result, size_t *result_length)
{
	int			checked = check_text(hasher, text, length);

	if (checked != SIMHASHER_OK)
		return checked;
	if (setjmp(hasher->no_memory))
		return fail_for_memory(hasher);
	fold_text(hasher, (const unsigned char *) text, length);
	*result = (const char *) hasher->lower.bytes;
	*result_length = hasher->lower.n;
	return SIMHASHER_OK;
}

int
simhasher_html(simhasher *hasher, const char *page, size_t length, int article,
			   const char **result, size_t *result_length)
{
	int			checked = check_text(hasher, page, length);

	if (checked != SIMHASHER_OK)
		return checked;
	if (setjmp(hasher->no_memory))
		return fail_for_memory(hasher);
	read_page(hasher, page, length, article != 0);
	*result = (const char *) hasher->page.bytes;
	*result_length = hasher->page.n;
	return SIMHASHER_OK;
}

int
simhasher_jaccard(simhasher *hasher, const simhasher_profile *profile,
				  const char *a, size_t a_length, const char *b, size_t b_length,
				  double *similarity)
{
	return compare_texts(hasher, of_core(profile), SH_DAMP_COUNT, sh_bag_jaccard,
						 a, a_length, b, b_length, similarity);
}

int
simhasher_cosine(simhasher *hasher, const simhasher_profile *profile,
				 const char *a, size_t a_length, const char *b, size_t b_length,
				 double *similarity)
{
	return compare_texts(hasher, of_core(profile), of_core(profile)->damping, sh_bag_cosine,
						 a, a_length, b, b_length, similarity);
}

int
simhasher_passages(simhasher *hasher, const simhasher_profile *profile,
				   const char *text, size_t length, int words, const char **cut,
				   const simhasher_passage **passages, size_t *n)
{
	int			result;

	if (words < SH_PASSAGE_MIN || words > SH_PASSAGE_MAX)
		return fail(hasher, "words of a passage are from 4 to 1000");
	result = check_text(hasher, text, length);
	if (result != SIMHASHER_OK)
		return result;
	if (setjmp(hasher->no_memory))
		return fail_for_memory(hasher);
	hasher->profile = profile;
	find_passages(hasher, text, length, words);
	*cut = (const char *) hasher->text;
	*passages = (const simhasher_passage *) hasher->found.bytes;
	*n = hasher->found.n / sizeof **passages;
	return *n > 0;
}

int
simhasher_distance(const uint64_t *a, const uint64_t *b, int words)
{
	int			distance = 0;

	for (int w = 0; w < words; w++)
		distance += sh_distance(a[w], b[w]);
	return distance;
}
