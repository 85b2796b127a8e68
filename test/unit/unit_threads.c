/*-------------------------------------------------------------------------
 *
 * unit_threads.c
 *		Several threads at once, each with a document of its own.
 *
 * What each computes is what one computes alone: the core keeps nothing that
 * they would share.  Letters are folded, profiles made, pages read and both
 * families taken, as the core once remembered some of each.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "unit.h"

#include <pthread.h>
#include <string.h>

#include "core/foreign/foreign.h"
#include "core/fingerprint/document.h"
#include "core/text/html.h"

#define THREADS		4
#define TEXTS		400
#define TEXT_BYTES	600
#define ROUNDS		15

/* What a thread has. */
typedef struct Worker
{
	ShProfiles	profiles;
	ShDocument	document;
	ShWalks		walks;
	ShHtmlNames names;
	ShMinima	minima;
	uint64_t	wrong;
}			Worker;

static unsigned char texts[TEXTS][TEXT_BYTES];
static size_t lengths[TEXTS];
static uint64_t expected[TEXTS][2];

static void
no_pause(void)
{
}

static void *
allocate(void *context, size_t bytes)
{
	(void) context;
	return malloc(bytes);
}

/*
 * Letters that fold, of several scripts, between words and tags; those that are
 * 0x1000 apart have one place where they are remembered.
 */
static void
make_texts(void)
{
	static const int32_t firsts[] = {0xc0, 0x10c0, 0x3aa, 0x13aa, 0x400, 0x1400, 'a'};

	for (int i = 0; i < TEXTS; i++)
	{
		unsigned char *p = texts[i];

		while (p < texts[i] + TEXT_BYTES - 8)
		{
			int32_t		c = firsts[random_below(7)] + (int32_t) random_below(26);

			if (random_below(5) == 0)
				*p++ = ' ';
			if (random_below(20) == 0)
				p += sprintf((char *) p, random_below(2) ? "<p>" : "</p>");
			if (c < 0x80)
				*p++ = (unsigned char) c;
			else if (c < 0x800)
			{
				*p++ = (unsigned char) (0xc0 | c >> 6);
				*p++ = (unsigned char) (0x80 | (c & 0x3f));
			}
			else
			{
				*p++ = (unsigned char) (0xe0 | c >> 12);
				*p++ = (unsigned char) (0x80 | (c >> 6 & 0x3f));
				*p++ = (unsigned char) (0x80 | (c & 0x3f));
			}
		}
		lengths[i] = (size_t) (p - texts[i]);
	}
}

/* ShDocumentSink: add the features to the minima. */
static bool
add_minima(void *state, ShWindows *windows)
{
	uint64_t	hashes[SH_BATCH];
	size_t		n;

	while ((n = sh_windows_hashes(windows, hashes)) > 0)
		sh_minima_add(&((Worker *) state)->minima, hashes, n);
	return true;
}

/* Both fingerprints of a text, by a profile that depends on it. */
static void
compute(Worker * worker, int i, uint64_t result[2])
{
	ShDocument *document = &worker->document;
	char		name[SH_PROFILE_NAME];
	unsigned char page[SH_HTML_BYTES(TEXT_BYTES)];
	const ShProfile *profile;
	size_t		n;

	sprintf(name, "%s-%d-fold-seed-%d", i % 2 ? "word" : "char", 1 + i % 3, i % 37);
	profile = sh_profile_find(&worker->profiles, name, strlen(name));
	CHECK(profile != NULL);
	n = sh_html_text(&worker->names, texts[i], lengths[i], page, false, NULL, no_pause);
	sh_document_begin(document, profile);
	sh_document_feed(document, page, n);
	CHECK(sh_document_end(document, &result[0]));
	sh_document_begin(document, profile);
	sh_minima_begin(&worker->minima);
	(void) sh_document_read(document, page, n, add_minima, worker);
	sh_document_read_end(document, add_minima, worker);
	CHECK(sh_minima_fingerprint(&worker->minima, &worker->walks, &result[1]));
	result[1] ^= sh_crc32c(SH_CRC32C_INIT, page, n, 0x20);
}

/* What begins with nothing made. */
static Worker *
new_worker(void)
{
	Worker	   *worker = calloc(1, sizeof *worker);

	CHECK(worker != NULL);
	worker->profiles.allocate = malloc;
	worker->document.tally.allocate = allocate;
	worker->document.tally.release = free;
	worker->document.tally.multiplier = 4711;
	return worker;
}

static void
end_worker(Worker * worker)
{
	sh_tally_end(&worker->document.tally);
	sh_profiles_release(&worker->profiles, free);
	free(worker);
}

/* A thread: all texts, from one of its own on. */
static void *
work(void *state)
{
	Worker	   *worker = state;
	int			start = (int) (worker->wrong * TEXTS / THREADS);

	worker->wrong = 0;
	for (int i = start; i < start + ROUNDS * TEXTS; i++)
	{
		uint64_t	result[2];

		compute(worker, i % TEXTS, result);
		worker->wrong += memcmp(result, expected[i % TEXTS], sizeof result) != 0;
	}
	return NULL;
}

int
main(void)
{
	Worker	   *workers[THREADS];
	pthread_t	threads[THREADS];

	seed_random();
	make_texts();
	workers[0] = new_worker();
	for (int i = 0; i < TEXTS; i++)
		compute(workers[0], i, expected[i]);
	end_worker(workers[0]);
	for (int t = 0; t < THREADS; t++)
	{
		workers[t] = new_worker();
		workers[t]->wrong = (uint64_t) t;
		CHECK(pthread_create(&threads[t], NULL, work, workers[t]) == 0);
	}
	for (int t = 0; t < THREADS; t++)
	{
		CHECK(pthread_join(threads[t], NULL) == 0);
		CHECK(workers[t]->wrong == 0);
		end_worker(workers[t]);
	}
	return 0;
}
