/*-------------------------------------------------------------------------
 *
 * simhash.c
 *		Module magic and initialisation.
 *
 * SPDX-License-Identifier: PostgreSQL
 *
 *-------------------------------------------------------------------------
 */
#include "simhash.h"

#include "actions.h"
#include "near/near.h"
#include "index/hamming.h"
#include "planner/planner.h"
#include "query/query.h"

SIMHASH_MODULE_MAGIC;

/* Called by the server when it loads the library. */
void
_PG_init(void)
{
	simhash_profiles_init();
	simhash_progress_init();
	hamming_init();
	simhash_install_planner(hamming_costestimate);
	simhash_near_init();
	simhash_actions_init();
	MarkGUCPrefixReserved("simhash");
}
