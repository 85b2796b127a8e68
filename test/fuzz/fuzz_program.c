/*-------------------------------------------------------------------------
 *
 * fuzz_program.c
 *		Any bytes as records of any format, for lib/simhash-texts.c.
 *
 * Whatever they are, what is written begins with the records that were read, or is
 * one fingerprint for each; and records are read to the end, or one is wrong.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE

#include "fuzz.h"

#undef CHECK
#define main	program
#include "../../lib/simhash-texts.c"
#undef main

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
	static ShChunk chunk;
	static simhasher *hasher = NULL;
	Input		input_bytes = {bytes, length};
	size_t		ends = 0;
	bool		within = false;

	if (hasher == NULL)
		hasher = simhasher_open(4711);
	options.format = (ShFormat) take_between(&input_bytes, SH_LINES, SH_JSON);
	options.end = options.format == SH_NULL ? '\0' : '\n';
	options.delimiter = options.format == SH_CSV ? ',' : '\t';
	options.column = options.format == SH_JSON ? "a" : "2";
	options.field = (size_t) take_between(&input_bytes, 0, 2);
	options.alone = take_between(&input_bytes, 0, 1);
	options.invalid_null = take_between(&input_bytes, 0, 3) > 0;
	options.header = options.format != SH_JSON && take_between(&input_bytes, 0, 1);
	chunk.in.n = 0;
	chunk.wrong = NULL;
	at_record = 1;
	append(make_room(&chunk.text, 1) == NULL ? NULL : &chunk.in,
		   (const char *) input_bytes.bytes, input_bytes.left);
	append(&chunk.in, &options.end, 1);
	/* As it comes from next_chunk: of whole records, and room behind them. */
	for (const char *p = chunk.in.bytes, *e, *end = p + chunk.in.n;
		 (e = record_end(p, p, end, &within)) < end; p = e + 1)
		ends = (size_t) (e + 1 - chunk.in.bytes);
	chunk.in.n = ends;
	chunk.in.bytes = realloc(chunk.in.bytes, chunk.in.room = ends + 1);
	do_chunk(&chunk, hasher, simhasher_find_profile(hasher, "word-1-2-html"));
	if (chunk.wrong == NULL && !options.alone && chunk.out.n < ends)
		abort();
	return 0;
}
