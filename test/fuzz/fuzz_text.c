/*-------------------------------------------------------------------------
 *
 * fuzz_text.c
 *		Any bytes as a document, by any profile.
 *
 * Whether it is read at once or in slices, and whether features are added up
 * as they come or counted first and weighed in the end, the fingerprint is the
 * same; profiles of other programs read no byte beyond the document.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "fuzz.h"

#include "core/fingerprint/bag.h"
#include "core/fingerprint/document.h"
#include "core/foreign/foreign.h"

static ShProfiles profiles = {.allocate = malloc};

/* A document is what is left of the input, to be read by a profile. */
static const ShProfile *profile;
static Input text;

/* A profile that has a row, or one that is named by a rule. */
static const ShProfile *
take_profile(Input * input)
{
	static const char *const dampings[] = {
		"", "-count", "-sqrt", "-log", "-binary", "-capped"
	};
	int			number = take_between(input, 0, 2 * sh_profile_count - 1);
	int			min = take_between(input, 1, SH_WINDOW_MAX);
	int			max = take_between(input, min, SH_WINDOW_MAX);
	int			damping = take_between(input, 0, 5);
	static const char *const units[] = {"word", "char", "symbol"};
	char		name[SH_PROFILE_NAME];

	if (number < sh_profile_count)
		return &sh_profiles[number];
	snprintf(name, sizeof name, "%s-%d-%d%s%s", units[number % 3],
			 min, max, dampings[damping], number % 5 ? "" : "-seed-4711");
	return sh_profile_find(&profiles, name, strlen(name));
}

/* The end of the next slice, not within a character. */
static const uint8_t *
slice_end(const uint8_t *from, const uint8_t *end, size_t slice)
{
	if ((size_t) (end - from) <= slice)
		return end;
	for (from += slice; from < end && (*from & 0xc0) == 0x80;)
		from++;
	return from;
}

/* ShTally.allocate, and ShBag.allocate */
static void *
allocate(void *context, size_t bytes)
{
	(void) context;
	return malloc(bytes);
}

/* The fingerprint of the document, read in slices. */
static bool
fingerprint(size_t slice, uint64_t *result)
{
	static ShDocument document = {
		.tally = {.allocate = allocate,.release = free,.multiplier = 1}
	};
	const uint8_t *from = text.bytes;
	const uint8_t *end = text.bytes + text.left;

	sh_document_begin(&document, profile);
	while (from < end)
	{
		const uint8_t *stop = slice_end(from, end, slice);

		sh_document_feed(&document, from, (size_t) (stop - from));
		from = stop;
	}
	return sh_document_end(&document, result);
}

/* ShDocumentSink: put the features into a bag. */
static bool
put_into_bag(void *bag, ShWindows *windows)
{
	uint64_t	hashes[SH_GAINED(SH_BATCH)];
	size_t		n;

	while ((n = sh_windows_hashes(windows, hashes)) > 0)
		sh_bag_add(bag, hashes, n);
	return true;
}

/*
 * Count the features of the document, read in slices: the text of each is
 * forgotten as soon as it can be.
 */
static void
count_features(ShBag *bag, size_t slice)
{
	static ShDocument document = {
		.tally = {.allocate = allocate,.release = free,.multiplier = 1}
	};
	const uint8_t *from = text.bytes;
	const uint8_t *end = text.bytes + text.left;

	sh_document_begin(&document, profile);
	sh_bag_begin(bag, profile->damping);
	while (from < end)
	{
		from = sh_text_feed(&document.text, from, slice_end(from, end, slice));
		sh_document_hand_over(&document, false, put_into_bag, bag);
	}
	sh_document_read_end(&document, put_into_bag, bag);
	sh_bag_end(bag);
}

/* The fingerprint of features with their weights, by definition. */
static bool
fingerprint_of_bag(const ShBag *bag, uint64_t *result)
{
	*result = 0;
	for (int bit = 0; bit < 64; bit++)
	{
		int64_t		sum = 0;

		for (size_t i = 1; i <= bag->n; i++)
			sum += bag->hashes[i] >> bit & 1 ? bag->weights[i]
				: -(int64_t) bag->weights[i];
		*result |= (uint64_t) (sum > 0) << bit;
	}
	return bag->n > 0;
}

/* A document by a profile of our own. */
static void
read_as_ours(size_t slice)
{
	static ShBag bag = {.allocate = allocate,.release = free,.multiplier = 1};
	uint64_t	whole = 0;
	uint64_t	sliced = 0;
	uint64_t	counted;
	ShFeatures	list;
	double		similarity;
	bool		exists = fingerprint(SIZE_MAX, &whole);

	CHECK(fingerprint(slice, &sliced) == exists && sliced == whole);
	count_features(&bag, slice);
	CHECK(fingerprint_of_bag(&bag, &counted) == exists);
	CHECK(!exists || counted == whole);
	list = sh_bag_features(&bag);
	CHECK(sh_bag_jaccard(&bag, &list, no_pause, &similarity) == exists);
	CHECK(!exists || similarity == 1);
}

/* A document as another program reads it. */
static void
read_as_theirs(void)
{
	size_t		length = text.left;
	uint8_t    *bytes = malloc(SH_LOWER_BYTES(length));
	ShCompat	compat;
	uint64_t	hash;
	size_t		features = 0;

	if (sh_compat_lower(profile) != NULL)
		length = sh_compat_lower(profile) (bytes, text.bytes, length, no_pause);
	else if (length > 0)
		memcpy(bytes, text.bytes, length);
	sh_compat_begin(&compat, profile, bytes, length, no_pause);
	while (sh_compat_next(&compat, &hash))
	{
		CHECK(++features <= length + 1);
		for (int i = 0; i < compat.have; i++)
			CHECK(compat.pieces[i].bytes >= bytes &&
				  compat.pieces[i].bytes + compat.pieces[i].length <=
				  bytes + length);
	}
	free(bytes);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	Input		input = {bytes, length};
	size_t		slice;

	profile = take_profile(&input);
	CHECK(profile != NULL);
	slice = 1 + (size_t) take(&input, 1);
	text = input;
	if (sh_compat_profile(profile))
		read_as_theirs();
	else
		read_as_ours(slice);
	return 0;
}
