/*-------------------------------------------------------------------------
 *
 * near_apart.c
 *		The option apart=table of simhash_guard(): rows that somebody has said are no
 *		near-duplicates of each other.
 *
 * The table is that of simhash_dedup_plan(): a line names two rows by their primary
 * keys, as arrays of texts.  Rows that lines connect are a family, and all apart from
 * each other: of a series of twelve pictures eleven lines say all.  An update that
 * changes a key has the families of both keys.
 *
 * Who inserts needs no right to the table, and must not have one to it by our help
 * either.  So it belongs to the owner of the table that is guarded, who lets rows in by
 * it; it is found by its schema, which is that of the guarded table where none is
 * given, never by a search_path; and it is read as it is stored, without any
 * expression, policy or view that could run code of somebody's.
 *
 * It is read when a row has been found, from its beginning, as it is by then.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "near/near.h"

#include "access/tableam.h"
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "utils/array.h"
#include "utils/snapmgr.h"
#include "utils/varlena.h"

#include "core/pairs/clusters.h"

/* A key that a line names, and which place it has there. */
typedef struct ApartKey
{
	const char *key;
	uint32		number;			/* of the two in line i: 2 i and 2 i + 1 */
} ApartKey;

/* The column of a table with that name, of arrays of texts; 0 for none. */
static AttrNumber
find_names(Relation relation, const char *name)
{
	AttrNumber	column = get_attnum(RelationGetRelid(relation), name);

	return column > 0 &&
		simhash_near_attribute(relation, column)->atttypid == TEXTARRAYOID &&
		!simhash_near_attribute(relation, column)->attgenerated ? column : 0;
}

/* Open a table of lines, which the session itself may have altered; or fail. */
static Relation
open_apart(Oid table)
{
	Relation	relation = try_relation_open(table, AccessShareLock);

	if (relation == NULL ||
		(relation->rd_rel->relkind != RELKIND_RELATION &&
		 relation->rd_rel->relkind != RELKIND_PARTITIONED_TABLE) ||
		find_names(relation, "gone") == 0 || find_names(relation, "kept") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("option \"apart\" names no table with the columns \"gone\" and \"kept\" of type text[]"),
				 errhint("Keep rows of simhash_dedup_plan in it.")));
	return relation;
}

/*
 * The tables that a name stands for, locked: one, or its partitions.  NIL if that is no
 * name.  Nobody has a table locked that is not of the owner of the guarded one.
 */
List	   *
simhash_near_find_apart(Relation root, const char *name)
{
	Oid			owner = root->rd_rel->relowner;
	List	   *names;
	Oid			schema;
	Oid			table;
	Relation	relation = NULL;

	if (!SplitGUCList(pstrdup(name), '.', &names) || list_length(names) > 2 || names == NIL)
		return NIL;
	schema = list_length(names) == 1 ? RelationGetNamespace(root) :
		get_namespace_oid(linitial(names), true);
	table = OidIsValid(schema) ? get_relname_relid(llast(names), schema) : InvalidOid;
	if (OidIsValid(table) && simhash_owns_relation(table, owner))
		relation = open_apart(table);
	if (relation == NULL || relation->rd_rel->relowner != owner)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("argument \"apart\" is \"%s\", which is no table of the owner of table \"%s\"",
						name, RelationGetRelationName(root)),
				 errhint("Without a schema it is in that of the guarded table.")));
	table_close(relation, NoLock);
	return find_all_inheritors(table, AccessShareLock, NULL);
}

/* How a part of a key is read and written; it is not if its type is not the core's. */
typedef struct KeyPart
{
	bool		is_core;
	FmgrInfo	input;
	Oid			parameter;
	FmgrInfo	output;
} KeyPart;

/* Prepare to read the keys of a table. */
static List *
find_parts(Relation relation, List *columns)
{
	List	   *parts = NIL;
	ListCell   *lc;

	foreach(lc, columns)
	{
		KeyPart    *part = palloc0(sizeof *part);
		Oid			type = getBaseType(simhash_near_attribute(relation, lfirst_int(lc))->atttypid);
		Oid			function;
		bool		varlena;

		part->is_core = type < FirstUnpinnedObjectId;
		getTypeInputInfo(type, &function, &part->parameter);
		fmgr_info(function, &part->input);
		getTypeOutputInfo(type, &function, &varlena);
		fmgr_info(function, &part->output);
		parts = lappend(parts, part);
	}
	return parts;
}

/*
 * A key in a line, as such keys are written now: another session may have written a
 * date in another way.  NULL if it is no key of the table.
 */
static char *
read_key(Datum array, List *parts)
{
	List	   *texts = NIL;
	Datum	   *values;
	bool	   *nulls;
	int			n;

	deconstruct_array(DatumGetArrayTypeP(array), TEXTOID, -1, false, TYPALIGN_INT,
					  &values, &nulls, &n);
	if (n != list_length(parts))
		return NULL;
	for (int i = 0; i < n; i++)
	{
		KeyPart    *part = list_nth(parts, i);
		char	   *written;

		if (nulls[i])
			return NULL;
		written = TextDatumGetCString(values[i]);
		if (part->is_core)
			written = OutputFunctionCall(&part->output,
										 InputFunctionCall(&part->input, written, part->parameter, -1));
		texts = lappend(texts, written);
	}
	return simhash_near_join_key(texts);
}

/* Add a line. */
static void
put_line(NearApart *apart, const char *gone, const char *kept)
{
	if (gone == NULL || kept == NULL)
		return;
	simhash_make_room(apart->keys, apart->n, apart->size, 64);
	apart->keys[apart->n] = (ApartKey)
	{
		gone, apart->n
	};
	apart->keys[apart->n + 1] = (ApartKey)
	{
		kept, apart->n + 1
	};
	apart->n += 2;
}

/* Add the lines of a table. */
static void
read_table(NearApart *apart, Oid table, List *parts)
{
	Relation	relation = open_apart(table);
	AttrNumber	gone = find_names(relation, "gone");
	AttrNumber	kept = find_names(relation, "kept");
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	Snapshot	snapshot = RegisterSnapshot(GetLatestSnapshot());
	TableScanDesc scan = simhash_table_beginscan(relation, snapshot);

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		CHECK_FOR_INTERRUPTS();
		slot_getsomeattrs(slot, Max(gone, kept));
		if (!slot->tts_isnull[gone - 1] && !slot->tts_isnull[kept - 1])
			put_line(apart, read_key(slot->tts_values[gone - 1], parts),
					 read_key(slot->tts_values[kept - 1], parts));
	}
	table_endscan(scan);
	UnregisterSnapshot(snapshot);
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, NoLock);
}

/* Compare two keys, for qsort() and bsearch(). */
static int
compare_keys(const void *a, const void *b)
{
	return strcmp(((const ApartKey *) a)->key, ((const ApartKey *) b)->key);
}

/*
 * Read all lines, and connect those that name a key in common.  The first line is made
 * up: the key of the row at hand before and after an update, or the one that it has.
 */
static void
read_lines(NearApart *apart)
{
	const TriggerData *data = apart->data;
	Relation	relation = data->tg_relation;
	List	   *columns = simhash_near_primary_key(RelationGetRelid(relation));
	List	   *parts = find_parts(relation, columns);
	char	   *key;
	ListCell   *lc;

	apart->is_read = true;
	apart->names_own = false;
	apart->n = 0;
	apart->size = 0;
	apart->keys = NULL;
	ExecStoreHeapTuple(apart->row, apart->slot, false);
	key = simhash_near_write_key(apart->slot, columns);
	ExecClearTuple(apart->slot);
	put_line(apart, TRIGGER_FIRED_BY_UPDATE(data->tg_event) ?
			 simhash_near_write_key(data->tg_trigslot, columns) : key, key);
	if (apart->n == 0)
		return;
	foreach(lc, apart->tables)
	{
		if (get_rel_relkind(lfirst_oid(lc)) != RELKIND_PARTITIONED_TABLE)
			read_table(apart, lfirst_oid(lc), parts);
	}
	apart->parent = palloc_extended(apart->n * sizeof *apart->parent, MCXT_ALLOC_HUGE);
	for (int i = 0; i < apart->n; i++)
		apart->parent[i] = i / 2 * 2;
	qsort(apart->keys, apart->n, sizeof *apart->keys, compare_keys);
	for (int i = 1; i < apart->n; i++)
	{
		uint32		a = apart->keys[i - 1].number;
		uint32		b = apart->keys[i].number;

		if (compare_keys(&apart->keys[i - 1], &apart->keys[i]) != 0)
			continue;
		sh_join(apart->parent, a, b);
		apart->names_own |= Min(a, b) < 2 && Max(a, b) >= 2;
	}
}

/* Has somebody said that a row is no near-duplicate of the row at hand? */
bool
simhash_near_is_apart(NearApart *apart, const NearTable *table, TupleTableSlot *slot)
{
	ApartKey	sought = {0};
	const ApartKey *found;

	if (!apart->is_read)
		read_lines(apart);
	if (!apart->names_own)
		return false;
	sought.key = simhash_near_write_key(slot, simhash_near_primary_key(table->table));
	found = bsearch(&sought, apart->keys, apart->n, sizeof sought, compare_keys);
	return found != NULL &&
		sh_cluster_of(apart->parent, found->number) == sh_cluster_of(apart->parent, 0);
}
