#!/bin/bash
#
# Each child of a custom scan gets a gate of its own for a condition without columns.
#
# Surprising in PostgreSQL 15.20 (Debian 12): the plan that PlanCustomPath gets for a
# child path is not of the kind of that path, if the query has a condition without a
# column of the table, as current_setting('port') <> '': a Result with that condition as
# One-Time Filter stands above the child, though the same gate stands above the custom
# scan.  Expected: that the gate is there once, and a child of the kind that it has where
# the query has no such condition; the chapter on custom scans tells of none.
#
# A custom scan that goes by the kind of its children is wrong about them in such queries
# alone, which tests may not have.
#
# What is shown: the plan of a custom scan with a sequential scan below it, without such
# a condition and with one.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/server.bash" 15.20-0+deb12u1

cat >"$server/above.c" <<'END'
#include "postgres.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
PG_MODULE_MAGIC;
void _PG_init(void);

static void begin(CustomScanState *node, EState *state, int flags)
{
	Plan *child = linitial(((CustomScan *) node->ss.ps.plan)->custom_plans);

	node->custom_ps = list_make1(ExecInitNode(child, state, flags));
}
static TupleTableSlot *none(CustomScanState *node) { return NULL; }
static void end(CustomScanState *node) { ExecEndNode(linitial(node->custom_ps)); }
static void again(CustomScanState *node) { ExecReScan(linitial(node->custom_ps)); }
static const CustomExecMethods exec = {.CustomName = "above", .BeginCustomScan = begin,
	.ExecCustomScan = none, .EndCustomScan = end, .ReScanCustomScan = again};

static Node *make_state(CustomScan *scan)
{
	CustomScanState *state = makeNode(CustomScanState);

	state->methods = &exec;
	return (Node *) state;
}
static const CustomScanMethods scans = {"above", make_state};

static Plan *make_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
	List *clauses, List *children)
{
	CustomScan *scan = makeNode(CustomScan);

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = extract_actual_clauses(clauses, false);
	scan->scan.scanrelid = rel->relid;
	scan->custom_plans = children;
	scan->methods = &scans;
	return &scan->scan.plan;
}
static const CustomPathMethods paths = {.CustomName = "above", .PlanCustomPath = make_plan};

static void add_path(PlannerInfo *root, RelOptInfo *rel, Index i, RangeTblEntry *entry)
{
	CustomPath *path = makeNode(CustomPath);

	path->path = *(Path *) linitial(rel->pathlist);
	path->path.type = T_CustomPath;
	path->path.pathtype = T_CustomScan;
	path->custom_paths = rel->pathlist;
	path->methods = &paths;
	rel->pathlist = list_make1(path);
}
void _PG_init(void) { set_rel_pathlist_hook = add_path; }
END
gcc -O2 -fPIC -shared -isystem "$(pg_config --includedir-server)" -o "$server/above.so" "$server/above.c"
chmod 755 "$server/above.so"
psql -c 'CREATE TABLE texts (id int)'

# The nodes of the plan of a query with the condition $1.
plan()
{
	psql -c "LOAD '$server/above'" -c "EXPLAIN (COSTS OFF) SELECT id FROM texts WHERE $1" |
		sed -E '/Filter/d; s/^ *(-> *)?//; s/ on texts//' | paste -sd ,
}

without=$(plan 'id > 5')
with=$(plan "current_setting('port') <> ''")
echo "without: $without"
echo "with: $with"
[ "$without" = 'Custom Scan (above),Seq Scan' ] &&
	[ "$with" = 'Result,Custom Scan (above),Result,Seq Scan' ] ||
	{ echo 'this has changed'; exit 1; }
