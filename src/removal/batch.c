/*-------------------------------------------------------------------------
 *
 * batch.c
 *		The batches in which a plan is carried out, or taken back.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "removal/removal.h"

#include "access/xact.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"

/* Do what a call is for, with its progress shown; its first argument is the table. */
void
simhash_removal_call(Removal *removal, FunctionCallInfo fcinfo,
					 void (*act) (void *removal))
{
	removal->function = fcinfo->flinfo->fn_oid;
	removal->relation = PG_GETARG_OID(0);
	removal->context = CurrentMemoryContext;
	removal->atomic = simhash_is_atomic(fcinfo);
	if (!removal->atomic)
	{
		(void) SPI_connect_ext(SPI_OPT_NONATOMIC);
		simhash_end_transaction();
		(void) SPI_finish();
	}
	simhash_show_progress(get_func_name(removal->function), act, removal);
}

/*
 * Begin a batch: lock and describe the tables, and have constraints be checked at
 * once, so that what they refuse is known of which rows.
 */
void
simhash_removal_begin(Removal *removal)
{
	CHECK_FOR_INTERRUPTS();
	if (!removal->atomic)
		simhash_set("transaction_isolation", "read committed", GUC_ACTION_LOCAL);
	(void) SPI_connect_ext(removal->atomic ? 0 : SPI_OPT_NONATOMIC);
	removal->level = NewGUCNestLevel();

	/*
	 * Nothing here is worth compiling.  Comments of logs quote one way.
	 * Columns are compared as texts, which must not be those of other
	 * numbers.
	 */
	simhash_set("jit", "off", GUC_ACTION_SAVE);
	simhash_set("quote_all_identifiers", "off", GUC_ACTION_SAVE);
	simhash_set("extra_float_digits", "1", GUC_ACTION_SAVE);
	simhash_removal_find_table(removal);
	if (removal->undo)
		simhash_removal_read_logs(removal);
	simhash_removal_find_keys(removal);
	if (removal->log != NULL)
		simhash_removal_find_logs(removal);
	(void) simhash_removal_run(removal, "SET CONSTRAINTS ALL IMMEDIATE", 0);
}

/*
 * Begin one about a few lines.  Their rows are in memory once they are locked, and are
 * to be looked up, however small the table is: not all of it read for each statement.
 */
void
simhash_removal_begin_lines(Removal *removal)
{
	simhash_removal_begin(removal);
	simhash_set("random_page_cost", "0.1", GUC_ACTION_SAVE);
}

/* End a batch, with all that was allocated for it, and the transaction if we may. */
void
simhash_removal_end(Removal *removal)
{
	simhash_removal_check_partitions(removal);
	AtEOXact_GUC(false, removal->level);
	if (!removal->atomic)
		SPI_commit();
	(void) SPI_finish();
	removal->tables = removal->keys = removal->others = removal->words = NIL;
}
