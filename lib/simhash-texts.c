/*-------------------------------------------------------------------------
 *
 * simhash-texts.c
 *		A program that reads texts and writes their fingerprints beside them.
 *
 * Records come in chunks, of whole records each.  A thread takes the next chunk,
 * computes, waits until all chunks before it are written, and writes: so the order
 * stays, and no more chunks are in memory than there are threads.  simhash-texts.1
 * says what the formats are.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "libsimhash.h"

/* Limits of the work done. */
#define CHUNK_BYTES		((size_t) 256 * 1024)	/* of a chunk, but for long
												 * records */
#define RECORD_MAX		((size_t) 2 * SIMHASHER_TEXT_MAX)
#define JOBS_MAX		1024
#define NESTED_MAX		1000	/* arrays and objects of JSON in each other */
#define PROGRESS_EVERY	0.5		/* seconds */

/* Bytes that grow. */
typedef struct ShBytes
{
	char	   *bytes;
	size_t		n;
	size_t		room;
} ShBytes;

/* Records that are worked on together. */
typedef struct ShChunk
{
	ShBytes		in;
	ShBytes		out;
	ShBytes		text;			/* a field without its escapes */
	ShBytes		key;			/* of JSON, and what is not wanted */
	uint64_t	number;
	const char *wrong;			/* in the record behind those in "out" */
} ShChunk;

/* How records are cut, and where the text in them is. */
typedef enum ShFormat
{
	SH_LINES,
	SH_NULL,
	SH_TEXT,
	SH_TSV,
	SH_CSV,
	SH_JSON
} ShFormat;

static const char *const formats[] = {"lines", "null", "text", "tsv", "csv", "json", NULL};

/* How fingerprints are written. */
typedef enum ShNotation
{
	SH_DECIMAL,
	SH_HEX,
	SH_BITS
} ShNotation;

static const char *const notations[] = {"decimal", "hex", "bits", NULL};

/* What the arguments say; nothing of it changes once there are threads. */
typedef struct ShOptions
{
	ShFormat	format;
	char		end;			/* of a record */
	char		delimiter;
	const char *column;
	bool		by_name;
	size_t		field;			/* its number, from 0 */
	bool		header;
	const char *profile;
	int			family;
	int			bits;
	ShNotation	notation;
	size_t		features;		/* that a text has at least */
	bool		alone;
	bool		invalid_null;
	const char *name;			/* of the column that is added */
	bool		progress;
	uint64_t	secret;
} ShOptions;

static ShOptions options = {.bits = 64,.name = "fp"};

/* What threads share, and take turns with. */
static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
static int	input;
static ShBytes rest;			/* of a record that is not complete */
static uint64_t chunks;
static uint64_t records;
static bool ended;

static pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t written = PTHREAD_COND_INITIALIZER;
static uint64_t turn;			/* the number of the chunk to write */
static uint64_t bytes_done;
static struct timespec begun;
static double shown;			/* when progress was, in seconds since then */

/* The number of the record that a thread is at. */
static __thread uint64_t at_record = 1;

/* --- errors and memory ----------------------------------------------------- */

/* End the program. */
static __attribute__((format(printf, 2, 3), noreturn))
void
die(int status, const char *format,...)
{
	va_list		arguments;

	va_start(arguments, format);
	fprintf(stderr, "%ssimhash-texts: ", options.progress ? "\r\033[K" : "");
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	_exit(status);
}

/* Make room for so many bytes more. */
static char *
make_room(ShBytes *buffer, size_t bytes)
{
	if (buffer->room - buffer->n < bytes)
	{
		buffer->room = 2 * buffer->room > buffer->n + bytes ? 2 * buffer->room :
			buffer->n + bytes;
		buffer->bytes = realloc(buffer->bytes, buffer->room);
		if (buffer->bytes == NULL)
			die(1, "record %" PRIu64 ": out of memory", at_record);
	}
	return buffer->bytes + buffer->n;
}

/* Append some. */
static void
append(ShBytes *buffer, const char *bytes, size_t n)
{
	if (n > 0)
		memcpy(make_room(buffer, n), bytes, n);
	buffer->n += n;
}

/* --- fields ---------------------------------------------------------------- */

/* Is the byte at p escaped, in COPY's format text, by what is before it from start on? */
static bool
is_escaped(const char *start, const char *p)
{
	size_t		escapes = 0;

	while (p - escapes > start && *(p - escapes - 1) == '\\')
		escapes++;
	return options.format == SH_TEXT && escapes % 2 == 1;
}

/*
 * The end of the record at start, or end if it is not complete.  It is sought from p on,
 * before which there is none; "within" quotes is p, and then the place returned.
 */
static const char *
record_end(const char *start, const char *p, const char *end, bool *within)
{
	for (; options.format == SH_CSV; p++)
	{
		if (*within)
			p = memchr(p, '"', (size_t) (end - p));
		while (!*within && p < end && *p != options.end && *p != '"')
			p++;
		if (p == NULL || p == end || *p != '"')
			return p == NULL ? end : p;
		*within = !*within;
	}
	for (;; p++)
	{
		p = memchr(p, options.end, (size_t) (end - p));
		if (p == NULL || !is_escaped(start, p))
			return p == NULL ? end : p;
	}
}

/* Which is the value of a hexadecimal digit, or -1? */
static int
hex_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
		(c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

/* Read up to "most" digits of a base; -1 if there are none. */
static int
read_digits(const char **p, const char *end, int base, int most)
{
	int			value = -1;

	for (; most > 0 && *p < end; most--, (*p)++)
	{
		int			digit = hex_value(**p);

		if (digit < 0 || digit >= base)
			break;
		value = (value < 0 ? 0 : value * base) + digit;
	}
	return value;
}

/* Append what a field of COPY's format text stands for, which is no longer than it. */
static void
unescape(ShBytes *text, const char *p, const char *end)
{
	char	   *to = make_room(text, (size_t) (end - p));

	while (p < end)
	{
		const char *escape = memchr(p, '\\', (size_t) (end - p));
		size_t		n = (size_t) ((escape == NULL ? end : escape) - p);

		memcpy(to, p, n);
		to += n;
		p += n;
		if (p == end || ++p == end) /* COPY drops a backslash there, too */
			break;
		if (*p >= '0' && *p <= '7')
			*to++ = (char) read_digits(&p, end, 8, 3);
		else if (*p == 'x' && end - p > 1 && hex_value(p[1]) >= 0)
		{
			p++;
			*to++ = (char) read_digits(&p, end, 16, 2);
		}
		else
		{
			char		c = *p++;

			*to++ = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' :
				c == 'b' ? '\b' : c == 'f' ? '\f' : c == 'v' ? '\v' : c;
		}
	}
	text->n = (size_t) (to - text->bytes);
}

/*
 * The field at *p of a record that ends at end, of which *p becomes the end; false
 * if it is NULL.  The text is in the record, or without escapes in "text".
 */
static bool
read_field(ShBytes *text, const char **p, const char *end, const char **field,
		   size_t *length)
{
	const char *start = *p;
	const char *at = start;
	bool		quoted = false;

	text->n = 0;
	for (bool within = false; options.format == SH_CSV; at++)
	{
		if (within)
			at = memchr(at, '"', (size_t) (end - at));
		while (!within && at < end && *at != options.delimiter && *at != '"')
			at++;
		if (at == NULL)
			at = end;
		if (at == end || *at != '"')
			break;
		/* What is before it counts, and of two quotes the second one. */
		append(text, start, (size_t) (at - start));
		if (!within && quoted && at == start && at > *p && at[-1] == '"')
			append(text, "\"", 1);
		within = !within;
		quoted = true;
		start = at + 1;
	}
	for (; options.format != SH_CSV; at++)
	{
		at = memchr(at, options.delimiter, (size_t) (end - at));
		if (at == NULL)
			at = end;
		if (at == end || !is_escaped(start, at))
			break;
	}
	*p = at;
	*field = start;
	*length = (size_t) (at - start);
	if (options.format == SH_TEXT && *length == 2 && memcmp(start, "\\N", 2) == 0)
		return false;
	if (quoted || (options.format == SH_TEXT && memchr(start, '\\', *length) != NULL))
	{
		if (quoted)
			append(text, start, *length);
		else
			unescape(text, start, at);
		*field = text->bytes;
		*length = text->n;
	}
	return quoted || options.format != SH_CSV || *length > 0;
}

/* Is that a name? */
static bool
is_name(const char *bytes, size_t n, const char *name)
{
	return n == strlen(name) && memcmp(bytes, name, n) == 0;
}

/* Behind the byte order mark that the first record may begin with. */
static const char *
skip_mark(const char *p, const char *end)
{
	return p + (at_record == 1 && end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
}

/* --- JSON ------------------------------------------------------------------ */

/* Behind blanks. */
static const char *
skip_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

/* Append a code point as UTF-8. */
static void
append_character(ShBytes *text, uint32_t c)
{
	unsigned	more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	char		bytes[4];

	for (unsigned i = more; i > 0; i--, c >>= 6)
		bytes[i] = (char) (0x80 | (c & 0x3f));
	bytes[0] = (char) (more == 0 ? c : (0xf00 >> (more + 1) & 0xff) | c);
	append(text, bytes, more + 1);
}

/*
 * Read what follows "\u"; false if that is no number.  0 and half a surrogate pair become
 * what no text may have, and are wrong in the column alone.
 */
static bool
read_unicode(const char **p, const char *end, ShBytes *text)
{
	const char *start = *p;
	int			c = read_digits(p, end, 16, 4);

	if (*p - start != 4)
		return false;
	if (c >= 0xd800 && c <= 0xdbff && end - *p >= 6 && memcmp(*p, "\\u", 2) == 0)
	{
		const char *next = *p + 2;
		int			low = read_digits(&next, end, 16, 4);

		if (low >= 0xdc00 && low <= 0xdfff)
		{
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			*p = next;
		}
	}
	append_character(text, (uint32_t) c);
	return true;
}

/* Read the string behind a quote into "text"; NULL if it is none, else what is behind. */
static const char *
read_string(const char *p, const char *end, ShBytes *text)
{
	static const char *const names = "\"\\/bfnrt",
			   *const values = "\"\\/\b\f\n\r\t";

	text->n = 0;
	for (const char *start = p; p < end; start = p)
	{
		const char *name;

		while (p < end && *p != '"' && *p != '\\' && (unsigned char) *p >= ' ')
			p++;
		append(text, start, (size_t) (p - start));
		if (p == end || (unsigned char) *p < ' ')
			return NULL;
		if (*p++ == '"')
			return p;
		if (p == end)
			return NULL;
		name = *p == '\0' ? NULL : strchr(names, *p);
		if (name != NULL)
			append(text, values + (name - names), 1);
		else if (*p != 'u')
			return NULL;
		p++;
		if (name == NULL && !read_unicode(&p, end, text))
			return NULL;
	}
	return NULL;
}

/* Behind digits, or NULL if there are none. */
static const char *
skip_digits(const char *p, const char *end)
{
	const char *start = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > start ? p : NULL;
}

/* Behind a number or a word, or NULL. */
static const char *
skip_scalar(const char *p, const char *end)
{
	static const char *const words[] = {"true", "false", "null"};

	for (int i = 0; i < 3; i++)
	{
		size_t		n = strlen(words[i]);

		if ((size_t) (end - p) >= n && memcmp(p, words[i], n) == 0)
			return p + n;
	}
	p += p < end && *p == '-';
	p = p < end && *p == '0' ? p + 1 : skip_digits(p, end);
	if (p != NULL && p < end && *p == '.')
		p = skip_digits(p + 1, end);
	if (p != NULL && end - p > 1 && (*p | 0x20) == 'e')
		p = skip_digits(p + 1 + (p[1] == '+' || p[1] == '-'), end);
	return p;
}

/* Read a key into "text"; NULL if it is none, else what is behind its colon. */
static const char *
read_key(const char *p, const char *end, ShBytes *text)
{
	p = skip_blanks(p, end);
	p = p < end && *p == '"' ? read_string(p + 1, end, text) : NULL;
	p = p == NULL ? end : skip_blanks(p, end);
	return p < end && *p == ':' ? skip_blanks(p + 1, end) : NULL;
}

/* Behind the value at p, or NULL if it is none. */
static const char *
skip_value(const char *p, const char *end, ShBytes *scratch, int depth)
{
	char		close;

	p = skip_blanks(p, end);
	if (p == end || depth > NESTED_MAX)
		return NULL;
	if (*p == '"')
		return read_string(p + 1, end, scratch);
	if (*p != '[' && *p != '{')
		return skip_scalar(p, end);
	close = *p == '[' ? ']' : '}';
	p = skip_blanks(p + 1, end);
	if (p < end && *p == close)
		return p + 1;
	for (;; p++)
	{
		if (close == '}')
			p = read_key(p, end, scratch);
		p = p == NULL ? NULL : skip_value(p, end, scratch, depth + 1);
		p = p == NULL ? end : skip_blanks(p, end);
		if (p == end || (*p != ',' && *p != close))
			return NULL;
		if (*p == close)
			return p + 1;
	}
}

/*
 * Read an object: the string of the key that is the column, into the text of the
 * chunk, which is "found" unless that is null or missing.  *brace, where the record
 * begins, becomes where the object ends.  Returns what is wrong, or NULL.
 */
static const char *
read_object(ShChunk *chunk, const char **brace, const char *end, bool *found, bool *empty)
{
	static const char wrong[] = "it is no object of JSON with the column as a string or null";
	const char *p = skip_blanks(skip_mark(*brace, end), end);

	*found = false;
	*empty = true;
	if (p == end || *p != '{')
		return wrong;
	p = skip_blanks(p + 1, end);
	for (; p < end && (!*empty || *p != '}'); p++)
	{
		bool		ours;

		*empty = false;
		p = read_key(p, end, &chunk->key);
		if (p == NULL)
			return wrong;
		if (!options.alone && is_name(chunk->key.bytes, chunk->key.n, options.name))
			return "it has the key that is to be added: --name gives another";
		ours = is_name(chunk->key.bytes, chunk->key.n, options.column);
		if (ours)
			*found = p < end && *p == '"';
		if (ours && p < end && *p != '"' && *p != 'n')
			return wrong;
		p = skip_value(p, end, ours ? &chunk->text : &chunk->key, 0);
		p = p == NULL ? end : skip_blanks(p, end);
		if (p == end || *p != ',')
			break;
	}
	*brace = p;
	return p < end && *p == '}' && skip_blanks(p + 1, end) == end ? NULL : wrong;
}

/* --- records --------------------------------------------------------------- */

/* Append a fingerprint, or what stands for none. */
static void
append_fingerprint(ShBytes *out, const uint64_t *words, bool exists)
{
	bool		quoted = options.format == SH_JSON && !options.alone;
	int			digit = options.notation == SH_HEX ? 4 : 1;

	if (!exists)
	{
		append(out, options.format == SH_JSON ? "null" : "\\N",
			   options.format == SH_JSON ? 4 : options.format == SH_CSV ? 0 : 2);
		return;
	}
	append(out, "\"", quoted);
	if (options.notation == SH_DECIMAL)
	{
		uint64_t	rest_of = words[0] >> 63 ? -words[0] : words[0];
		char		digits[24];
		char	   *p = digits + sizeof digits;

		do
			*--p = (char) ('0' + rest_of % 10);
		while ((rest_of /= 10) > 0);
		append(out, "-", words[0] >> 63);
		append(out, p, (size_t) (digits + sizeof digits - p));
	}
	else
	{
		for (int bit = 0; bit < options.bits; bit += digit)
			append(out, &"0123456789abcdef"[words[bit / 64] >> (64 - digit - bit % 64) &
											((1 << digit) - 1)], 1);
	}
	append(out, "\"", quoted);
}

/* Compute the fingerprint of a text; returns what simhasher_fingerprint does. */
static int
compute(simhasher *hasher, const simhasher_profile *profile, const char *text,
		size_t length, uint64_t *words)
{
	size_t		features;

	if (options.features > 0)
	{
		int			result = simhasher_count_features(hasher, profile, text, length,
													  &features);

		if (result != SIMHASHER_OK || features < options.features)
			return result == SIMHASHER_OK ? SIMHASHER_NONE : result;
	}
	return simhasher_fingerprint(hasher, profile, options.family, text, length,
								 options.bits, words);
}

/* Find the column in a record; false if there is none. */
static bool
find_text(ShChunk *chunk, const char *p, const char *end, const char **text,
		  size_t *length, bool *exists)
{
	*text = p;
	*length = (size_t) (end - p);
	*exists = true;
	if (options.format <= SH_NULL)
		return true;
	for (size_t i = 0;; i++, p++)
	{
		*exists = read_field(&chunk->text, &p, end, text, length);
		if (i == options.field)
			return true;
		if (p == end)
			return false;
	}
}

/* Work on a record; returns what is wrong in it, or NULL. */
static const char *
do_record(ShChunk *chunk, simhasher *hasher, const simhasher_profile *profile,
		  const char *p, const char *end)
{
	bool		header = at_record == 1 && options.header;
	const char *brace = options.format == SH_JSON ? p : end;
	const char *wrong = NULL;
	const char *text;
	size_t		length;
	bool		exists = true;
	bool		empty = false;
	int			result = SIMHASHER_NONE;
	uint64_t	words[SIMHASHER_WORDS_MAX];
	char		before = options.format == SH_JSON ? ',' : options.delimiter;

	if (options.format == SH_JSON)
	{
		wrong = read_object(chunk, &brace, end, &exists, &empty);
		text = chunk->text.bytes;
		length = chunk->text.n;
	}
	else if (!header && !find_text(chunk, p, end, &text, &length, &exists))
		wrong = "it lacks the column";
	if (wrong != NULL)
		return wrong;
	if (exists && !header)
		result = compute(hasher, profile, text, length, words);
	if (result < 0 && !(result == SIMHASHER_INVALID && options.invalid_null))
		return simhasher_error(hasher);
	if (!options.alone && options.format > SH_NULL)
	{
		append(&chunk->out, p, (size_t) (brace - p));
		append(&chunk->out, &before, !empty);
		if (options.format == SH_JSON)
		{
			append(&chunk->out, "\"", 1);
			append(&chunk->out, options.name, strlen(options.name));
			append(&chunk->out, "\":", 2);
		}
	}
	if (header)
		append(&chunk->out, options.name, strlen(options.name));
	else
		append_fingerprint(&chunk->out, words, result == SIMHASHER_OK);
	if (!options.alone && options.format <= SH_NULL)
	{
		append(&chunk->out, "\t", 1);
		append(&chunk->out, p, (size_t) (end - p));
	}
	else if (!options.alone)
		append(&chunk->out, brace, (size_t) (end - brace));
	return NULL;
}

/* Work on the records of a chunk, up to one that is wrong. */
static void
do_chunk(ShChunk *chunk, simhasher *hasher, const simhasher_profile *profile)
{
	const char *p = chunk->in.bytes;
	const char *end = p + chunk->in.n;
	const char *e;
	bool		within = false;

	chunk->out.n = 0;
	for (; p < end; p = e + 1, at_record++)
	{
		const char *last;
		const char *wrong;
		bool		none;

		e = record_end(p, p, end, &within);
		last = e - (options.format > SH_NULL && e > p && e[-1] == '\r' && !is_escaped(p, e - 1));
		/* What COPY takes for the end; blank lines between objects. */
		none = (options.format == SH_TEXT && last - p == 2 && memcmp(p, "\\.", 2) == 0) ||
			(options.format == SH_JSON && skip_blanks(skip_mark(p, last), last) == last);
		wrong = none ? NULL : do_record(chunk, hasher, profile, p, last);
		if (wrong != NULL)
		{
			chunk->wrong = wrong;
			return;
		}
		if (!options.alone)
			append(&chunk->out, none ? p : last, (size_t) (e + 1 - (none ? p : last)));
		else if (!none)
			append(&chunk->out, "\n", 1);
	}
}

/* --- chunks ---------------------------------------------------------------- */

/* Which column is meant, by the names in the first record? */
static void
find_column(ShChunk *chunk)
{
	const char *p = chunk->in.bytes;
	bool		within = false;
	const char *end = record_end(p, p, p + chunk->in.n, &within);
	const char *field;
	size_t		length;

	end -= end > p && end[-1] == '\r' && !is_escaped(p, end - 1);
	p = skip_mark(p, end);
	for (options.field = 0;; options.field++, p++)
	{
		(void) read_field(&chunk->text, &p, end, &field, &length);
		if (is_name(field, length, options.column))
			return;
		if (p == end)
			die(1, "there is no column \"%s\"", options.column);
	}
}

/* Read more of the input, up to whole CHUNK_BYTES; false at its end. */
static bool
read_more(ShBytes *in)
{
	size_t		most = CHUNK_BYTES - in->n % CHUNK_BYTES;
	ssize_t		n;

	(void) make_room(in, most + 1);
	do
		n = read(input, in->bytes + in->n, most);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		die(1, "the input cannot be read: %s", strerror(errno));
	in->n += (size_t) n;
	return n > 0;
}

/*
 * Get the next chunk: as many whole records as CHUNK_BYTES have, or as can be had
 * without waiting, but one at least; false if there is none.
 */
static bool
next_chunk(ShChunk *chunk)
{
	ShBytes    *in = &chunk->in;
	size_t		whole = 0;
	size_t		searched = 0;	/* for ends of records */
	bool		within = false;
	struct pollfd more = {.fd = input,.events = POLLIN};

	in->n = 0;
	at_record = records + 1;
	append(in, rest.bytes, rest.n);
	while (!ended && in->n <= RECORD_MAX)
	{
		ended = !read_more(in);
		if (ended && in->n > whole)
		{
			/* COPY drops a backslash at the end of a file. */
			in->n -= is_escaped(in->bytes + whole, in->bytes + in->n);
			in->bytes[in->n++] = options.end;
			searched = whole;
			within = false;
		}
		for (const char *e = in->bytes + searched, *end = in->bytes + in->n;
			 (e = record_end(in->bytes + whole, e, end, &within)) < end; records++)
			whole = (size_t) (++e - in->bytes);
		searched = in->n;
		if (whole > 0 && (in->n >= CHUNK_BYTES || poll(&more, 1, 0) <= 0))
			break;
	}
	rest.n = 0;
	if (in->n > whole && (ended || whole == 0))
	{
		chunk->wrong = ended ? "a quoted field has no end" : "it is longer than 2 GB";
		ended = true;
	}
	else
		append(&rest, in->bytes + whole, in->n - whole);
	in->n = whole;
	if (whole > 0 && chunks == 0 && options.by_name)
		find_column(chunk);
	chunk->number = chunks++;
	return whole > 0 || chunk->wrong != NULL;
}

/* Show how far we are. */
static void
show_progress(uint64_t n, bool last)
{
	struct timespec now;
	double		seconds;

	if (!options.progress)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (double) (now.tv_sec - begun.tv_sec) +
		(double) (now.tv_nsec - begun.tv_nsec) / 1e9;
	if (!last && seconds < shown + PROGRESS_EVERY)
		return;
	shown = seconds;
	fprintf(stderr, "\r\033[K%" PRIu64 " records, %.1f MB, %.1f MB/s%s", n,
			(double) bytes_done / 1e6, (double) bytes_done / 1e6 / seconds,
			last ? "\n" : "");
}

/* Write the output of a chunk when its turn has come. */
static void
write_chunk(ShChunk *chunk)
{
	pthread_mutex_lock(&writing);
	while (turn != chunk->number)
		pthread_cond_wait(&written, &writing);
	for (size_t done = 0; done < chunk->out.n;)
	{
		ssize_t		n = write(STDOUT_FILENO, chunk->out.bytes + done, chunk->out.n - done);

		if (n < 0 && errno != EINTR)
			die(1, "the output cannot be written: %s", strerror(errno));
		done += n < 0 ? 0 : (size_t) n;
	}
	if (chunk->wrong != NULL)
		die(1, "record %" PRIu64 ": %s", at_record, chunk->wrong);
	bytes_done += chunk->in.n;
	show_progress(at_record - 1, false);
	turn++;
	pthread_cond_broadcast(&written);
	pthread_mutex_unlock(&writing);
}

/* A thread: one chunk after the other, with memory anew after one that took much. */
static void *
work(void *unused)
{
	(void) unused;
	for (bool any = true; any;)
	{
		ShChunk		chunk = {.number = 0};
		simhasher  *hasher;
		const simhasher_profile *profile;

		pthread_mutex_lock(&reading);	/* the first one says what is wrong */
		hasher = simhasher_open(options.secret);
		if (hasher == NULL)
			die(1, "out of memory");
		profile = simhasher_find_profile(hasher, options.profile);
		if (profile == NULL)
			die(2, "%s", simhasher_error(hasher));
		pthread_mutex_unlock(&reading);
		make_room(&chunk.text, 1);
		do
		{
			pthread_mutex_lock(&reading);
			any = next_chunk(&chunk);
			pthread_mutex_unlock(&reading);
			if (any)
				do_chunk(&chunk, hasher, profile);
			if (any)
				write_chunk(&chunk);
		} while (any && chunk.in.room <= 4 * CHUNK_BYTES);
		simhasher_close(hasher);
		free(chunk.in.bytes);
		free(chunk.out.bytes);
		free(chunk.text.bytes);
		free(chunk.key.bytes);
	}
	return NULL;
}

/* --- arguments ------------------------------------------------------------- */

/* Which of some words is an argument? */
static int
choose(const char *argument, const char *const *words, const char *what)
{
	for (int i = 0; words[i] != NULL; i++)
	{
		if (strcmp(argument, words[i]) == 0)
			return i;
	}
	die(2, "there is no %s \"%s\"; simhash-texts --help lists them", what, argument);
}

/* The number that an argument is, in some limits. */
static size_t
read_number(const char *argument, size_t least, size_t most, const char *what)
{
	char	   *end;
	unsigned long long number = strtoull(argument, &end, 10);

	if (*argument < '0' || *argument > '9' || *end != '\0' || number < least ||
		number > most)
		die(2, "%s is a number from %zu to %zu, and not \"%s\"", what, least, most,
			argument);
	return (size_t) number;
}

static const char help[] =
"usage: simhash-texts [OPTION]... [FILE]\n"
"Read texts, and write their SimHash or MinHash fingerprints beside them.\n\n"
"  -f, --format=FORMAT     lines, null (records end with a byte 0), text (of COPY),\n"
"                          tsv, csv or json (an object a line)\n"
"  -c, --column=COLUMN     the text: a number from 1 (the default), a name if there\n"
"                          is a header, a key of JSON\n"
"  -H, --header            the first record has names\n"
"  -d, --delimiter=BYTE    what is between columns\n"
"  -p, --profile=NAME      word-2-capped unless it is said\n"
"  -m, --minhash           MinHash, and not SimHash\n"
"  -b, --bits=BITS         a multiple of 64, up to 1024\n"
"  -o, --output=NOTATION   decimal, hex or bits, the default for more than 64\n"
"  -n, --features=N        no fingerprint for a text with fewer different features\n"
"  -i, --invalid-null      none for what is no UTF-8 either: else that is an error\n"
"  -a, --alone             write the fingerprints alone\n"
"  -N, --name=NAME         of the column that is added: fp\n"
"  -j, --jobs=N            threads: as many as there are processors\n"
"  -q, --quiet             show no progress on a terminal\n"
"  -h, --help              write this\n";

/* Read the options; returns how many threads there are to be. */
static int
read_options(int argc, char **argv)
{
	static const struct option names[] = {
		{"format", 1, NULL, 'f'}, {"column", 1, NULL, 'c'}, {"header", 0, NULL, 'H'},
		{"delimiter", 1, NULL, 'd'}, {"profile", 1, NULL, 'p'},
		{"minhash", 0, NULL, 'm'}, {"bits", 1, NULL, 'b'}, {"output", 1, NULL, 'o'},
		{"features", 1, NULL, 'n'}, {"invalid-null", 0, NULL, 'i'},
		{"alone", 0, NULL, 'a'}, {"name", 1, NULL, 'N'}, {"jobs", 1, NULL, 'j'},
		{"quiet", 0, NULL, 'q'}, {"help", 0, NULL, 'h'}, {NULL, 0, NULL, 0}
	};
	long		processors = sysconf(_SC_NPROCESSORS_ONLN);
	int			jobs = processors < 1 ? 1 : processors < JOBS_MAX ? (int) processors : JOBS_MAX;
	int			notation = -1;
	bool		columns;

	options.progress = isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO);
	for (int c; (c = getopt_long(argc, argv, "f:c:Hd:p:mb:o:n:iaN:j:qh", names, NULL)) != -1;)
	{
		switch (c)
		{
			case 'f':
				options.format = (ShFormat) choose(optarg, formats, "format");
				break;
			case 'c':
				options.column = optarg;
				break;
			case 'H':
				options.header = true;
				break;
			case 'd':
				options.delimiter = strlen(optarg) == 1 ? *optarg : '"';
				break;
			case 'p':
				options.profile = optarg;
				break;
			case 'm':
				options.family = SIMHASHER_MINHASH;
				break;
			case 'b':
				options.bits = (int) read_number(optarg, 64, 1024, "--bits");
				if (options.bits % 64 != 0)
					die(2, "--bits is a multiple of 64");
				break;
			case 'o':
				notation = choose(optarg, notations, "notation");
				break;
			case 'n':
				options.features = read_number(optarg, 0, SIMHASHER_TEXT_MAX, "--features");
				break;
			case 'i':
				options.invalid_null = true;
				break;
			case 'a':
				options.alone = true;
				break;
			case 'N':
				options.name = optarg;
				break;
			case 'j':
				jobs = (int) read_number(optarg, 1, JOBS_MAX, "--jobs");
				break;
			case 'q':
				options.progress = false;
				break;
			case 'h':
				fputs(help, stdout);
				exit(fflush(stdout) == 0 ? 0 : 1);
			default:
				exit(2);
		}
	}
	if (notation == SH_DECIMAL && options.bits > 64)
		die(2, "a fingerprint of more than 64 bits is written as hex or bits");
	options.notation = notation >= 0 ? (ShNotation) notation :
		options.bits > 64 ? SH_BITS : SH_DECIMAL;
	columns = options.format > SH_NULL && options.format != SH_JSON;
	if (!columns && (options.header || options.delimiter != '\0' ||
					 (options.format <= SH_NULL && options.column != NULL)))
		die(2, "records of this format have no such columns");
	options.end = options.format == SH_NULL ? '\0' : '\n';
	if (options.delimiter == '\0')
		options.delimiter = options.format == SH_CSV ? ',' : '\t';
	if (strchr(options.format != SH_TEXT ? "\"\\\n\r-0123456789abcdef" :
			   "\"\\\n\r-.Nabcdefghijklmnopqrstuvwxyz0123456789", options.delimiter) != NULL)
		die(2, "a delimiter is a byte, none of \", \\, -, 0-9, a-f, line ends and, in text, "
			".Na-z");
	if (options.column == NULL)
		options.column = options.format == SH_JSON ? "text" : "1";
	if (*options.column == '\0')
		die(2, "--column is empty");
	for (const char *p = options.name; p == options.name || *p != '\0'; p++)
	{
		if ((unsigned char) *p < ' ' || *p == '"' || *p == '\\' || *p == options.delimiter)
			die(2, "--name is empty, or has a delimiter, \", \\ or control character");
	}
	options.by_name = options.header &&
		strspn(options.column, "0123456789") < strlen(options.column);
	if (columns && !options.by_name)
		options.field = read_number(options.column, 1, SIMHASHER_TEXT_MAX, "--column") - 1;
	return jobs;
}

int
main(int argc, char **argv)
{
	int			jobs = read_options(argc, argv);
	pthread_t	threads[JOBS_MAX];

	if (optind + 1 < argc)
		die(2, "more than one file; give them to cat");
	if (optind < argc && strcmp(argv[optind], "-") != 0)
	{
		input = open(argv[optind], O_RDONLY);
		if (input < 0)
			die(2, "%s: %s", argv[optind], strerror(errno));
	}
	if (getentropy(&options.secret, sizeof options.secret) != 0)
		options.secret = (uint64_t) time(NULL);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (int i = 1; i < jobs; i++)
	{
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			jobs = i;
	}
	work(NULL);
	for (int i = 1; i < jobs; i++)
		pthread_join(threads[i], NULL);
	show_progress(records, true);
	return 0;
}
