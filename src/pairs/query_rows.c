/*-------------------------------------------------------------------------
 *
 * query_rows.c
 *		The rows that a report is about: those of a query.
 *
 * The rows go straight into arrays.  Memory is counted against
 * maintenance_work_mem; when that is too little, an error says about how much
 * would be enough, by the rows that the planner expects.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "pairs/pairs.h"

#include "search/search.h"

#include "utils/builtins.h"
#include "utils/datum.h"
#include "utils/lsyscache.h"

#define FIRST_ROOM		1024	/* rows to have room for at first */
#define SPARE_BYTES		65536	/* to allocate for ids at a time */

/* How many bytes may be used. */
#define MEMORY_LIMIT	((int64) maintenance_work_mem * 1024)

/*
 * The memory for so many rows, with what their ids point to.  An id that does
 * not fit into what is spare may leave an eighth of that unused.  The table of
 * groups, which is taken to grow with the rows, has been freed when the search
 * begins, so only the larger of the two counts.
 */
static int64
needed_memory(const SimhashRows *rows, int64 n, int64 id_bytes)
{
	int64		bytes = n * (int64) (sizeof(uint64) * rows->words +
									 sizeof(Datum));
	uint32		some = (uint32) Min(n, SH_PAIRS_ROWS);
	int64		search = n * (int64) sizeof(uint32) +
	(int64) sh_pairs_bytes(some);
	double		groups = (double) rows->group_bytes / Max(rows->n, 1) * n;

	if (rows->words > 1)
		search += n * (int64) sizeof(uint64) + (int64) sh_wide_bytes(some);
	if (rows->groups != NULL)
		bytes += n * (int64) sizeof(uint32);
	if (rows->moments != NULL)
		bytes += n * (int64) sizeof *rows->moments;
	if (rows->documents != NULL)
		bytes += SIMHASH_DOCUMENTS_BYTES(n) + SIMHASH_SIMILAR_BYTES(n);
	if (rows->documents != NULL && simhash_have_families(rows->documents))
		bytes += SIMHASH_FAMILIES_BYTES(n);
	if (id_bytes > 0)
		bytes += id_bytes + id_bytes / 8 + SPARE_BYTES;
	return bytes + Max(search, (int64) groups);
}

/*
 * Fail: no more rows fit.  The numbers of rows are kept from the caller of a SECURITY
 * DEFINER function.
 */
static void
complain_of_memory(const SimhashRows *rows)
{
	bool		tell = !InLocalUserIdChange();
	double		read = rows->n + 1.0;
	double		enough = Min(1.1 * Max(rows->expected, read), SH_PAIRS_ROWS);
	int64		bytes = needed_memory(rows, (int64) enough,
									  (int64) (rows->id_bytes / read * enough));

	ereport(ERROR,
			(errcode(ERRCODE_OUT_OF_MEMORY),
			 errmsg("the rows need more memory than maintenance_work_mem allows"),
			 !tell ? 0 :
			 errdetail("It has room for some %u rows; about %.0f are expected.",
					   rows->n, Max(rows->expected, read)),
			 !tell ? errhint("Increase maintenance_work_mem.") :
			 errhint("About so much is enough: SET maintenance_work_mem = '" INT64_FORMAT "MB'.  If the machine has less, join the rows by their block keys, as the documentation shows.",
					 bytes / (1024 * 1024) + 1)));
}

/*
 * Say before the rows are read that by far not all that are expected will fit:
 * those that do are read in vain, which takes its time.
 */
static void
warn_of_memory(const SimhashRows *rows)
{
	double		expected = Min(rows->expected, SH_PAIRS_ROWS);

	if (!InLocalUserIdChange() &&
		needed_memory(rows, (int64) expected, 0) > 2 * MEMORY_LIMIT)
		ereport(NOTICE,
				(errmsg("about %.0f rows are expected, and maintenance_work_mem has room for less than half of them",
						rows->expected)));
}

/*
 * Fail unless the query yields ids of the type that they are to have.
 * Integers are widened to bigint.
 */
static void
check_id_type(SimhashRows *rows, Oid type)
{
	if (type != rows->id_type)
		type = getBaseType(type);
	rows->column_type = type;
	if (type == rows->id_type ||
		(rows->id_type == INT8OID && (type == INT4OID || type == INT2OID)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_DATATYPE_MISMATCH),
			 errmsg("the ids are of type %s, not %s", format_type_be(type),
					format_type_be(rows->id_type)),
			 errhint("Call simhash_pairs_as or simhash_clusters_as, with NULL::%s before the query.",
					 format_type_be(type))));
}

/*
 * Fail unless the engine can search for such a distance, in bit strings or in
 * bigints.
 */
void
simhash_check_distance(int64 k, bool bits, int width)
{
	(void) simhash_check_range("", "k", k, 0, sh_wide_most(width),
							   bits ? width : 0);
}

/* Note how wide fingerprints are. */
static void
set_width(SimhashRows *rows, int width)
{
	simhash_check_width(width);
	simhash_check_distance(rows->k, rows->bits, width);
	rows->width = width;
	rows->words = sh_words_of(width);
	if (rows->words == 1)
		return;
	rows->fingerprints = repalloc_huge(rows->fingerprints, sizeof(uint64) *
									   rows->words * rows->room);
	/* Rows before had no fingerprint. */
	memset(rows->fingerprints, 0, sizeof(uint64) * rows->words * rows->n);
}

/*
 * Look at the type of the fingerprints.  That of bit strings need not say how
 * wide they are; the first one does then.
 */
static void
begin_fingerprints(SimhashRows *rows, Form_pg_attribute attribute)
{
	int32		typmod = attribute->atttypmod;
	Oid			type = getBaseTypeAndTypmod(attribute->atttypid, &typmod);

	rows->bits = type == BITOID || type == VARBITOID;
	if (!rows->bits && type != INT8OID)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the second column of the query must be a fingerprint, of type bigint or bit"),
				 errdetail("It is of type %s.", format_type_be(type)),
				 errhint("For example, 'SELECT id, minhash(body) FROM docs'.")));
	if (!rows->bits)
		set_width(rows, SH_BITS);
	else if (type == BITOID && typmod > 0)
		set_width(rows, typmod);
	else
		simhash_check_distance(rows->k, true, SH_MOST_WIDTH);
}

/* The column of that name, and of one of two types, behind the first two, or -1. */
static int
find_named_column(TupleDesc desc, const char *name, Oid type, Oid another)
{
	for (int i = 2; name != NULL && i < desc->natts; i++)
	{
		Oid			given = TupleDescAttr(desc, i)->atttypid;

		if (strcmp(NameStr(TupleDescAttr(desc, i)->attname), name) == 0 &&
			(type == InvalidOid || given == type || given == another))
			return i;
	}
	return -1;
}

/*
 * Find the columns that are none of groups: the id, the fingerprint, documents, even
 * where these are not compared, and those of apart.c.
 */
static Bitmapset *
find_named_columns(SimhashRows *rows, TupleDesc desc)
{
	int			columns[4] = {find_named_column(desc, rows->document, InvalidOid, 0), -1, -1, -1};
	Bitmapset  *named = bms_add_range(NULL, 0, 1);

	if (rows->plan)
	{
		if (rows->series != NULL)
			columns[1] = find_named_column(desc, SIMHASH_APART_COLUMN, INT8OID, 0);
		columns[2] = find_named_column(desc, SIMHASH_MOMENT_COLUMN,
									   TIMESTAMPOID, TIMESTAMPTZOID);
		columns[3] = find_named_column(desc, SIMHASH_EARLIEST_COLUMN,
									   TIMESTAMPOID, TIMESTAMPTZOID);
	}
	rows->document_column = columns[0];
	rows->apart_column = columns[1];
	rows->moment_column = columns[2];
	rows->earliest_column = columns[3];
	for (size_t i = 0; i < lengthof(columns); i++)
	{
		if (columns[i] >= 0)
			named = bms_add_member(named, columns[i]);
	}
	if (rows->document != NULL && rows->document_column < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the query yields no document \"%s\" after the id and the fingerprint",
						rows->document),
				 errhint("For example, 'SELECT id, fp, body FROM docs' with document => 'body'.")));
	if (rows->documents != NULL && rows->document_column >= 0)
		simhash_documents_type(rows->documents,
							   TupleDescAttr(desc, rows->document_column)->atttypid);
	return named;
}

/*
 * SimhashRowReader.columns: the id, the fingerprint, and maybe a document; by
 * what comes besides, rows are in groups, and each without a fingerprint in its own.
 */
static void
begin_columns(void *context, TupleDesc desc)
{
	SimhashRows *rows = context;
	Bitmapset  *named;

	if (desc->natts < 2)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("the query must yield an id and a fingerprint"),
				 errdetail_plural("It yields %d column.",
								  "It yields %d columns.",
								  desc->natts, desc->natts),
				 errhint("For example, 'SELECT id, fp FROM docs'.")));
	begin_fingerprints(rows, TupleDescAttr(desc, 1));
	check_id_type(rows, TupleDescAttr(desc, 0)->atttypid);
	named = find_named_columns(rows, desc);
	warn_of_memory(rows);
	if (rows->moment_column >= 0 && rows->earliest_column >= 0)
		rows->moments = MemoryContextAlloc(rows->context,
										   sizeof *rows->moments * rows->room);
	if (!rows->complete && desc->natts == bms_num_members(named))
		return;
	rows->groups = MemoryContextAlloc(rows->context,
									  sizeof(uint32) * rows->room);
	rows->grouping = simhash_groups_begin(desc, named, rows->context);
}

/*
 * Make room for more rows; fail when that is more than is allowed.  Rows of
 * a few bytes are counted by the thousand.
 */
static void
make_room(SimhashRows *rows)
{
	if (rows->id_by_value && rows->n < rows->room && rows->n % 1024 != 0)
		return;
	if (rows->n >= SH_PAIRS_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the query yields more than %d rows", SH_PAIRS_ROWS)));
	if (needed_memory(rows, (int64) rows->n + 1, rows->id_bytes) > MEMORY_LIMIT)
		complain_of_memory(rows);
	if (rows->n < rows->room)
		return;
	rows->room = (uint32) Min((int64) rows->room + rows->room / 2,
							  SH_PAIRS_ROWS);
	rows->fingerprints = repalloc_huge(rows->fingerprints,
									   sizeof(uint64) * rows->words *
									   rows->room);
	rows->ids = repalloc_huge(rows->ids, sizeof(Datum) * rows->room);
	if (rows->groups != NULL)
		rows->groups = repalloc_huge(rows->groups,
									 sizeof(uint32) * rows->room);
	if (rows->moments != NULL)
		rows->moments = repalloc_huge(rows->moments,
									  sizeof *rows->moments * rows->room);
}

/* An id in the representation of the type wanted, detoasted. */
static Datum
usable_id(const SimhashRows *rows, Datum id)
{
	Datum		inside = 0;

	if (rows->column_type != rows->id_type)
		return Int64GetDatum(simhash_integer(id, rows->column_type));
	if (rows->id_length == -1)
		return PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
	if (!rows->id_inside)
		return id;
	memcpy(&inside, DatumGetPointer(id), (Size) rows->id_length);
	return inside;
}

/*
 * Keep an id that takes so many bytes.  Ids are many and small: they share
 * what is allocated, without a header or rounding for each.
 */
static Datum
keep_id(SimhashRows *rows, Datum id, Size bytes)
{
	char	   *copy = rows->spare;
	Size		room = MAXALIGN(bytes);

	if (bytes == 0)
		return id;
	if (room > SPARE_BYTES / 8)
		copy = MemoryContextAllocHuge(rows->context, room);
	else
	{
		if (room > rows->spare_bytes)
		{
			rows->spare = MemoryContextAlloc(rows->context, SPARE_BYTES);
			rows->spare_bytes = SPARE_BYTES;
			copy = rows->spare;
		}
		rows->spare += room;
		rows->spare_bytes -= room;
	}
	memcpy(copy, DatumGetPointer(id), bytes);
	return PointerGetDatum(copy);
}

/*
 * The bit string in a datum, which is to be as wide as all others.  If it is
 * the first one, it says how wide these are.
 */
static SimhashBits
get_bits(SimhashRows *rows, Datum datum)
{
	SimhashBits bits = simhash_get_bits(datum);

	if (rows->width == 0)
		set_width(rows, bits.width);
	simhash_check_widths(rows->width, bits.width);
	return bits;
}

/*
 * Keep a row, for which there is room.  One without a fingerprint has zeroes, and no
 * document.
 */
static void
keep_row(SimhashRows *rows, TupleTableSlot *slot, Datum id,
		 const SimhashBits *bits)
{
	uint64	   *words = rows->fingerprints + (Size) rows->n * rows->words;
	bool		missing = slot->tts_isnull[1];

	if (missing)
		memset(words, 0, sizeof(uint64) * rows->words);
	else if (rows->bits)
		sh_cut_whole(rows->width, bits->bytes, words);
	else
		words[0] = (uint64) DatumGetInt64(slot->tts_values[1]);
	if (rows->grouping != NULL)
	{
		bool		alone;

		rows->groups[rows->n] = simhash_group_number(rows->grouping, slot,
													 &alone);
		rows->without_group += alone && !missing;
		rows->group_bytes = simhash_groups_bytes(rows->grouping);
	}
	if (rows->document_column >= 0 && rows->documents != NULL)
		simhash_documents_put(rows->documents,
							  slot->tts_values[rows->document_column],
							  missing || slot->tts_isnull[rows->document_column]);
	if (rows->apart_column >= 0 && !slot->tts_isnull[rows->apart_column])
		simhash_apart_put(rows, rows->n,
						  DatumGetInt64(slot->tts_values[rows->apart_column]));
	if (rows->moments != NULL)
		simhash_moment_put(rows, rows->n, slot);
	rows->ids[rows->n++] = id;
}

/* SimhashRowReader.row */
static void
take_query_row(void *context, TupleTableSlot *slot)
{
	SimhashRows *rows = context;
	SimhashBits bits = {0, NULL};
	Datum		given = slot->tts_values[0];
	Datum		fingerprint = slot->tts_values[1];
	bool		missing = slot->tts_isnull[1];
	bool		skipped = slot->tts_isnull[0] || (missing && !rows->complete);
	Size		bytes;
	Datum		id;

	if (missing && (!rows->complete || !slot->tts_isnull[0]))
		rows->without_fingerprint++;
	else if (skipped)
		rows->without_id++;
	if (skipped)
		return;
	id = usable_id(rows, given);
	bytes = rows->id_by_value ? 0 : datumGetSize(id, false, rows->id_length);
	if (rows->bits && !missing)
	{
		fingerprint = PointerGetDatum(PG_DETOAST_DATUM_PACKED(fingerprint));
		bits = get_bits(rows, fingerprint);
	}
	rows->id_bytes += (int64) MAXALIGN(bytes);
	make_room(rows);
	keep_row(rows, slot, keep_id(rows, id, bytes), &bits);
	if (rows->n % SIMHASH_SAY_EVERY == 0)
		simhash_progress_rows("reading", rows->n);
	if (rows->id_length == -1 && id != given)
		pfree(DatumGetPointer(id));
	if (fingerprint != slot->tts_values[1])
		pfree(DatumGetPointer(fingerprint));
}

/* Say how many rows there are that match no other row. */
static void
say_rows(const char *verb, int64 rows, const char *what)
{
	const char *number = InLocalUserIdChange() ? "" :
	psprintf(INT64_FORMAT " ", rows);

	if (rows > 0)
		ereport(NOTICE,
				(errmsg("%s %s%s %s", verb, number,
						rows == 1 && *number != '\0' ? "row" : "rows", what)));
}

/*
 * Run the query; its rows go into memory of the current context, in the order
 * of their ids if so wanted.  Fail if the engine cannot search them within that
 * distance, or if memory is too little.
 */
void
simhash_read_rows(SimhashRows *rows, const SimhashStatement *query, bool sort)
{
	SimhashRowReader reader = {begin_columns, take_query_row, rows};
	void	   *memory;

	rows->words = 1;
	get_typlenbyval(rows->id_type, &rows->id_length, &rows->id_by_value);
	rows->id_inside = !rows->id_by_value && rows->id_length > 0 &&
		rows->id_length <= (int) sizeof(Datum);
	rows->id_by_value = rows->id_by_value || rows->id_inside;
	rows->context = AllocSetContextCreate(CurrentMemoryContext,
										  "simhash rows",
										  ALLOCSET_DEFAULT_SIZES);
	rows->room = FIRST_ROOM;
	rows->fingerprints = MemoryContextAlloc(rows->context,
											sizeof(uint64) * rows->room);
	rows->ids = MemoryContextAlloc(rows->context, sizeof(Datum) * rows->room);
	simhash_read(query, &reader);

	/* Without a row, take the width with which any k is in range. */
	if (rows->width == 0)
		set_width(rows, SH_MOST_WIDTH);
	if (rows->complete)
		say_rows("found", rows->without_fingerprint,
				 "without a fingerprint, which nothing can match");
	else
		say_rows("skipped", rows->without_fingerprint, "without a fingerprint");
	say_rows("skipped", rows->without_id, "without an id");
	say_rows("found", rows->without_group,
			 "with NULL in a group column, which nothing can match");
	simhash_groups_end(rows->grouping);
	memory = MemoryContextAllocHuge(rows->context,
									2 * sizeof(uint64) * ((Size) rows->n + 1));
	simhash_order_rows(rows, sort, memory);
	pfree(memory);
	if (rows->documents != NULL)
		simhash_documents_complete(rows->documents, rows->n, MEMORY_LIMIT -
								   needed_memory(rows, rows->n,
												 rows->id_bytes));
}
