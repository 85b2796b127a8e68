/*-------------------------------------------------------------------------
 *
 * command.c
 *		Commands that we have written and that change something, by SPI; and what an
 *		error rolls back of them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "query/query.h"

#include "access/xact.h"
#include "executor/spi.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

/*
 * Run a command with so many parameters, in a call that is connected to SPI; returns how
 * many rows it is about.  SPI changes the context, and plans before it takes a snapshot;
 * after a commit there is none, and a plan that will do for this transaction alone, as by
 * a new index, wants one.
 */
uint64
simhash_run_command(const char *command, int n, Oid *types, Datum *values)
{
	MemoryContext context = CurrentMemoryContext;
	int			result;
	uint64		rows;

	PushActiveSnapshot(GetTransactionSnapshot());
	result = SPI_execute_with_args(command, n, types, values, NULL, false, 0);
	rows = SPI_processed;
	PopActiveSnapshot();
	MemoryContextSwitchTo(context);
	if (result < 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("could not run a command of simhash: %s",
						SPI_result_code_string(result)),
				 errdetail("The command was: %s", command),
				 errhint("See whether a rule or a trigger of the table changes it.")));
	return rows;
}

/*
 * Do something in a subtransaction; NULL, or the error that has rolled it back.  No error
 * must leave the subtransaction open: nobody else would end it.
 */
ErrorData  *
simhash_try(void (*work) (void *context), void *context)
{
	MemoryContext outer = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile error = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(outer);
	PG_TRY();
	{
		work(context);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(outer);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(outer);
	CurrentResourceOwner = owner;
	return error;
}
