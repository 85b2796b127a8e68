/*-------------------------------------------------------------------------
 *
 * guard_action.c
 *		What simhash_guard() does about the row found: reject the new one, skip
 *		it, mark it, or have it conflict.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "guard/guard.h"

#include <utf8proc.h>

#include "access/sysattr.h"
#include "catalog/pg_conversion.h"
#include "catalog/pg_namespace.h"
#include "mb/pg_wchar.h"
#include "utils/rls.h"
#include "utils/tuplestore.h"

#define KEY_SHOWN		64		/* bytes of each value of a key */

/* May the user read a column of the table that the trigger was made for? */
static bool
may_read_column(Oid root, AttrNumber column)
{
	return pg_class_aclcheck(root, GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
		pg_attribute_aclcheck(root, column, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
}

/*
 * May the user know the key and the distance of the row found?  A user who may
 * not read them is told only that there is such a row, as by a unique index.
 */
static bool
may_be_told(const GuardTrigger *guard, const NearMatch *match, List *columns)
{
	const NearSpace *space = &guard->near.statement->space;
	ListCell   *lc;

	foreach(lc, columns)
	{
		const char *name = get_attname(match->table->table, lfirst_int(lc),
									   false);

		if (!may_read_column(space->root, get_attnum(space->root, name)))
			return false;
	}
	return columns != NIL && may_read_column(space->root, space->terms.column) &&
		check_enable_rls(space->root, InvalidOid, true) != RLS_ENABLED;
}

/*
 * Would a terminal obey a character, or show nothing of it?  In SQL_ASCII a byte may be
 * part of any character, which a cut leaves half; of some bytes nobody knows.
 */
static bool
is_control(const char *at, int length)
{
	int			encoding = GetDatabaseEncoding();
	utf8proc_uint8_t utf8[MAX_CONVERSION_GROWTH * MAX_MULTIBYTE_CHAR_LEN + 1];
	utf8proc_int32_t c = (unsigned char) *at;

	if (encoding == PG_UTF8)
		utf8proc_iterate((const utf8proc_uint8_t *) at, length, &c);
	else if (IS_HIGHBIT_SET(*at))
	{
		Oid			conversion = FindDefaultConversion(PG_CATALOG_NAMESPACE,
													   encoding, PG_UTF8);

		if (!OidIsValid(conversion) ||
			pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8,
										  (unsigned char *) unconstify(char *, at),
										  length, utf8, sizeof utf8, true) < length)
			return true;
		utf8proc_iterate(utf8, -1, &c);
	}

	/*
	 * Zl, Zp, Cc, Cf, Cs and Co are the last ones; a few letters and marks
	 * are ignorable.
	 */
	return utf8proc_category(c) >= UTF8PROC_CATEGORY_ZL ||
		utf8proc_get_property(c)->ignorable;
}

/* Append a value to a message: the beginning of a long one, in one line. */
static void
append_shown(StringInfo message, const char *value)
{
	int			shown = pg_mbcliplen(value, (int) strlen(value), KEY_SHOWN);
	int			length;

	for (const char *at = value; at < value + shown; at += length)
	{
		length = pg_mblen(at);
		if (!is_control(at, length))
			appendBinaryStringInfo(message, at, length);
		else
			for (int i = 0; i < length; i++)
				appendStringInfo(message, "\\x%02X", (unsigned char) at[i]);
	}
	if (value[shown] != '\0')
		appendStringInfoString(message, "...");
}

/*
 * The similarity of the row found; -1 if documents are not compared, or the
 * user may not read what they are had from.
 */
static double
match_similarity(const GuardTrigger *guard, const NearMatch *match)
{
	const NearSpace *space = &guard->near.statement->space;
	const NearDocument *document = &match->table->document;
	Bitmapset  *columns = simhash_near_document_columns(&space->terms);

	if (space->terms.compare.measure == SIMHASH_NO_MEASURE)
		return -1;
	for (int i = -1; (i = bms_next_member(columns, i)) >= 0;)
	{
		if (!may_read_column(space->root,
							 i + FirstLowInvalidHeapAttributeNumber))
			return -1;
	}
	return simhash_near_similarity(&space->terms, document,
								   guard->near.search.document,
								   simhash_near_get_document(document, match->slot));
}

/*
 * The row found, its distance, and its similarity if known, which takes the owner's
 * code where that makes the document.
 */
static char *
match_detail(const GuardTrigger *guard, const NearMatch *match, List *columns)
{
	const SimhashMeasureKind *kind = &simhash_measures[guard->arguments.terms.compare.measure];
	double		similarity = match_similarity(guard, match);
	StringInfoData names;
	StringInfoData values;
	ListCell   *lc;

	initStringInfo(&names);
	initStringInfo(&values);
	foreach(lc, columns)
	{
		const char *comma = lc == list_head(columns) ? "" : ", ";

		appendStringInfo(&names, "%s%s", comma,
						 get_attname(match->table->table, lfirst_int(lc),
									 false));
		appendStringInfoString(&values, comma);
		append_shown(&values, simhash_near_write_key(match->slot,
													 list_make1_int(lfirst_int(lc))));
	}
	if (similarity < 0)
		return psprintf("The row with key (%s)=(%s) is at distance %d.",
						names.data, values.data, match->distance);
	if (guard->arguments.terms.compare.measure == SIMHASH_HAMMING)
		return psprintf("The row with key (%s)=(%s) is at distance %d, and its document at distance %.0f.",
						names.data, values.data, match->distance, similarity);
	return psprintf("The row with key (%s)=(%s) is at distance %d%s%s%s and has a %s similarity of %.4f.",
					names.data, values.data, match->distance,
					kind->aligned ? ", " : "", kind->aligned ? kind->name : "",
					kind->aligned ? "," : "", kind->called,
					similarity);
}

/* Beside errmsg: what the trigger takes for near-duplicates. */
static int
guard_hint(const char *name, const NearTerms *terms, bool unseen)
{
	const SimhashMeasureKind *kind = &simhash_measures[terms->compare.measure];

	if (unseen)
		return errhint("Trigger \"%s\" compares a row with at most %d documents, and takes further rows within distance %d for near-duplicates.",
					   name, terms->most, terms->radius);
	if (terms->compare.measure == SIMHASH_NO_MEASURE)
		return errhint("Trigger \"%s\" takes rows within distance %d for near-duplicates.",
					   name, terms->radius);
	if (terms->compare.measure == SIMHASH_HAMMING)
		return errhint("Trigger \"%s\" takes rows within distance %d, with documents within distance %d, for near-duplicates.",
					   name, terms->radius, (int) terms->compare.at_most);
	return errhint("Trigger \"%s\" takes rows within distance %d, %s%swith a %s similarity of at least %g, for near-duplicates.",
				   name, terms->radius, kind->aligned ? kind->name : "",
				   kind->aligned ? ", " : "", kind->called, terms->compare.at_least);
}

/*
 * Refuse the row, or notice that it is left out.  What a foreign key does, it does as
 * the owner, whoever has caused that, who is not to be told.
 */
static void
report_match(const GuardTrigger *guard, TriggerData *data,
			 const NearMatch *match, int level)
{
	List	   *columns = simhash_near_primary_key(match->table->table);
	const char *root = get_rel_name(guard->near.statement->space.root);
	char	   *detail = NULL;

	/* Code of others, which may catch errors, runs before there is this one. */
	if (message_level_is_interesting(level) &&
		!InNoForceRLSOperation() && may_be_told(guard, match, columns))
		detail = match_detail(guard, match, columns);
	ereport(level,
			(errcode(ERRCODE_EXCLUSION_VIOLATION),
			 level == ERROR ?
			 errmsg("row is a near-duplicate of another in table \"%s\"", root) :
			 errmsg("row skipped: it is a near-duplicate of another in table \"%s\"",
					root),
			 detail != NULL ? errdetail("%s", detail) : 0,
			 guard_hint(guard->near.name, &guard->arguments.terms,
						match->unseen),
			 errtableconstraint(data->tg_relation, guard->near.name)));
}

/* In a load the row is left out: say so, and for which one. */
static void
leave_out(const GuardTrigger *guard, NearLoad *load, const NearMatch *match)
{
	List	   *columns = simhash_near_primary_key(match->table->table);
	bool		told = may_be_told(guard, match, columns);
	double		similarity = told ? match_similarity(guard, match) : -1;
	char	   *key = told ? simhash_near_write_key(match->slot, columns) : NULL;
	Datum		values[4] = {
		load->id == NULL ? (Datum) 0 : CStringGetTextDatum(load->id),
		key == NULL ? (Datum) 0 : CStringGetTextDatum(key),
		Int32GetDatum(match->distance), Float8GetDatum(similarity)
	};
	bool		nulls[4] = {load->id == NULL, key == NULL, !told, similarity < 0};

	tuplestore_putvalues(load->result, load->columns, values, nulls);
}

/*
 * May the row conflict with the one found?  It cannot with one of another table, it is
 * not to with one that was not compared, and a user who may not know the key would
 * learn it.
 */
bool
simhash_guard_may_conflict(const GuardTrigger *guard, const TriggerData *data)
{
	const NearMatch *match = &guard->near.search.match;

	return guard->arguments.action == GUARD_CONFLICT &&
		TRIGGER_FIRED_BY_INSERT(data->tg_event) && !match->unseen &&
		match->table->table == RelationGetRelid(data->tg_relation) &&
		may_be_told(guard, match,
					simhash_near_primary_key(match->table->table));
}

/*
 * The row with the primary key of the row found, so that INSERT ... ON CONFLICT
 * meets that one.
 */
static HeapTuple
take_key(const TriggerData *data, const NearMatch *match, HeapTuple row)
{
	Relation	relation = data->tg_relation;
	List	   *columns = simhash_near_primary_key(match->table->table);
	ListCell   *lc;

	foreach(lc, columns)
	{
		AttrNumber	column = lfirst_int(lc);
		bool		isnull;
		Datum		value = slot_getattr(match->slot, column, &isnull);

		simhash_near_refuse_generated(relation, column,
									  "The action \"conflict\" takes a primary key of plain columns.");
		row = simhash_near_set_column(row, relation, column, value, isnull);
	}
	return row;
}

/*
 * The row as it goes into the table, or NULL if it does not: act on the row
 * found, if there is one, and forget that.  A row that an update has moved here
 * is gone from where it was: to skip it would be to delete it.  And ON UPDATE CASCADE
 * does not look whether the row refers to its new key by now.
 */
HeapTuple
simhash_guard_act(GuardTrigger *guard, TriggerData *data, HeapTuple row,
				  bool moved)
{
	const GuardArguments *arguments = &guard->arguments;
	NearSearch *search = &guard->near.search;
	NearLoad   *load = simhash_near_load_at_work();
	bool		found = search->match.slot != NULL;
	bool		reject = moved || arguments->action != GUARD_SKIP ||
	(TRIGGER_FIRED_BY_UPDATE(data->tg_event) && InNoForceRLSOperation());

	if (arguments->action == GUARD_MARK)
		row = simhash_near_set_column(row, data->tg_relation, arguments->mark,
									  found ? guard->original : (Datum) 0, !found);
	else if (found && guard->conflicts)
		row = take_key(data, &search->match, row);
	else if (found)
	{
		if (load != NULL)
			leave_out(guard, load, &search->match);
		else if (reject || arguments->notice)
			report_match(guard, data, &search->match, reject ? ERROR : NOTICE);
		simhash_near_unlock(&guard->near.statement->locks);
		row = NULL;
	}
	simhash_near_forget_match(search);
	return row;
}
