/*-------------------------------------------------------------------------
 *
 * hamming_btree.c
 *		The btree code that a hamming index is built on, and the index as that
 *		code gets to see it.
 *
 * The btree code is reached through its entry points (nbtree.h), which its own
 * handler names.  What it has to know of an index it reads in the relation.  But an
 * entry of ours is one bigint, however many columns the index has
 * (hamming_columns.c), and the entry of the relation cache tells of all the
 * columns.  So the btree code is handed a relation of our own, a view: that of
 * a btree index on one column of type bigint, in the same file.
 *
 * The entry of the relation cache is not changed, nor is any part of it lent
 * that the cache may free or overwrite while the btree code works.  Such a
 * thing is a copy here, or our own: the rows of pg_class and pg_index, the
 * tuple descriptor, the options, the cached metapage, the storage manager's
 * handle.  What is shared lives as long as the index is open.  README goes
 * through the members one by one.  All others are zero, so that a new version
 * of PostgreSQL that reads one more shows it in its first test.
 *
 * A view serves one statement, or one vacuum.  It belongs to a memory context,
 * which releases it, and must not be used after the index is closed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "index/hamming.h"

#include "catalog/pg_am.h"
#include "pgstat.h"
#include "utils/memutils.h"

/* Complain of damage, of which the message tells; it has a place for the name. */
void
hamming_corrupted(Relation index, const char *message)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg(message, RelationGetRelationName(index)),
			 errhint("Please REINDEX it.")));
}

/* An index as the btree code sees it. */
typedef struct HammingBtree
{
	RelationData relation;		/* the view itself */
	FormData_pg_class class;
	FormData_pg_index index;
	BTOptions	options;
	MemoryContextCallback release;
} HammingBtree;

/* The columns of every view: one bigint. */
static TupleDesc
view_columns(void)
{
	static TupleDesc columns;

	if (columns == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(TopMemoryContext);
		TupleDesc	made = CreateTemplateTupleDesc(1);

		TupleDescInitBuiltinEntry(made, 1, "entry", INT8OID, -1, 0);
		simhash_finalize_columns(made);
		columns = made;
		MemoryContextSwitchTo(old);
	}
	return columns;
}

/* The memory of a view is about to be freed. */
static void
release_view(void *arg)
{
	simhash_release_storage((Relation) arg);
}

/* Keep a copy of a metapage with a relation. */
void
hamming_copy_metapage(Relation to, const void *meta)
{
	if (to->rd_amcache == NULL)
		to->rd_amcache = MemoryContextAlloc(to->rd_indexcxt,
											sizeof(BTMetaPageData));
	memcpy(to->rd_amcache, meta, sizeof(BTMetaPageData));
}

/*
 * Make the rows of pg_class and pg_index that tell of an index of one column.
 * Only assertions of the btree code ask for the access method.
 */
static void
describe_view(HammingBtree *btree, Relation index)
{
	memcpy(&btree->class, index->rd_rel, CLASS_TUPLE_SIZE);
	btree->class.relam = BTREE_AM_OID;
	btree->class.relnatts = 1;
	btree->index.indexrelid = index->rd_index->indexrelid;
	btree->index.indrelid = index->rd_index->indrelid;
	btree->index.indnatts = 1;
	btree->index.indnkeyatts = 1;
	btree->index.indimmediate = true;
	btree->index.indisvalid = index->rd_index->indisvalid;
	btree->index.indisready = index->rd_index->indisready;
	btree->index.indislive = index->rd_index->indislive;
}

/* The index as the btree code is to see it, as long as the context lives. */
Relation
hamming_btree_view(Relation index, MemoryContext context)
{
	HammingBtree *btree = MemoryContextAllocZero(context, sizeof *btree);
	Relation	view = &btree->relation;

	describe_view(btree, index);
	view->rd_rel = &btree->class;
	view->rd_index = &btree->index;
	view->rd_att = view_columns();
	if (index->rd_options != NULL)
	{
		btree->options = *(BTOptions *) index->rd_options;
		view->rd_options = (bytea *) &btree->options;
	}

	/* Where the index is, who may see it, and what its changes are part of. */
	view->rd_id = index->rd_id;
	view->rd_lockInfo = index->rd_lockInfo;
	view->rd_backend = index->rd_backend;
	view->rd_islocaltemp = index->rd_islocaltemp;
	view->rd_isvalid = true;
	simhash_copy_locator(view, index);

	/* What is known of its first column, whose comparison it has now. */
	index_getprocinfo(index, 1, HAMMING_COMPARE_PROC);
	view->rd_amhandler = index->rd_amhandler;
	view->rd_indam = index->rd_indam;
	view->rd_support = index->rd_support;
	view->rd_supportinfo = index->rd_supportinfo;
	view->rd_opfamily = index->rd_opfamily;
	view->rd_opcintype = index->rd_opcintype;
	view->rd_opcoptions = index->rd_opcoptions;
	view->rd_indoption = index->rd_indoption;
	view->rd_indcollation = index->rd_indcollation;

	view->rd_indexcxt = context;
	if (index->rd_amcache != NULL)
		hamming_copy_metapage(view, index->rd_amcache);
	btree->release.func = release_view;
	btree->release.arg = view;
	MemoryContextRegisterResetCallback(context, &btree->release);
	return view;
}

/*
 * Before the btree code is called: have what it reads, writes and extends
 * counted as that of the index.
 */
void
hamming_show_view(Relation view, Relation index)
{
	Assert(view->rd_id == index->rd_id);
	Assert(RelFileLocatorEquals(*simhash_locator(view),
								*simhash_locator(index)));
	view->pgstat_info = pgstat_should_count_relation(index) ?
		index->pgstat_info : NULL;
}

/*
 * After it has been called: the index has the storage manager's handle back,
 * which before PostgreSQL 17 has one owner, and what was read of the metapage.
 */
void
hamming_leave_view(Relation view, Relation index)
{
	(void) RelationGetSmgr(index);
	if (view->rd_amcache != NULL)
		hamming_copy_metapage(index, view->rd_amcache);
}
