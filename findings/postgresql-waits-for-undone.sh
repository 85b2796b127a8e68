#!/bin/bash
#
# A unique index waits for a row that nobody can ever see.
#
# Surprising in PostgreSQL 15.20 (Debian 12): a transaction inserts a key and deletes
# that row again, and stays open.  Another session that inserts the same key waits for
# it, until it ends.  Expected: no wait, as no outcome of the first transaction, nor of
# a part of it, brings the row back: inserted and deleted by one and the same
# transaction id, it is gone if that commits and was never there if it is rolled back.
#
# The look-up for conflicts sees rows of transactions in progress (SnapshotDirty) and
# asks who has inserted a row before it asks who has deleted it.  So whoever searches
# as a unique index does has to look at both ids of the row.
#
# What is shown: with lock_timeout, the second session fails by 55P03; once the first
# transaction is rolled back, it succeeds.  In the second part the row is deleted by a
# savepoint that can still be rolled back: there the wait is right.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/server.bash" 15.20-0+deb12u1

psql -c 'CREATE TABLE keys (id int PRIMARY KEY)'

# In one session $1, which then stays open for a while; another inserts the key.
try()
{
	local holder

	psql -c 'TRUNCATE keys' >/dev/null
	# One connection: the statements, then time for the other session.
	(echo "BEGIN; $1"; echo "SELECT pg_sleep(4); ROLLBACK;") |
		psql >/dev/null &
	holder=$!
	sleep 1.5
	psql -v VERBOSITY=sqlstate -c "SET lock_timeout = '500ms'" \
		-c 'INSERT INTO keys VALUES (1)' 2>&1 | sed 's/^ERROR: *//' || :
	wait "$holder"
	psql -c "SET lock_timeout = '500ms'" -c 'INSERT INTO keys VALUES (1)' 2>&1
	echo "rows: $(psql -c 'SELECT count(*) FROM keys')"
}

undone=$(try 'INSERT INTO keys VALUES (1); DELETE FROM keys;')
savepoint=$(try 'INSERT INTO keys VALUES (1); SAVEPOINT s; DELETE FROM keys;')
echo "inserted and deleted by one transaction: ${undone//$'\n'/, then }"
echo "deleted by a savepoint of it:            ${savepoint//$'\n'/, then }"
[ "$undone" = $'55P03\nrows: 1' ] && [ "$savepoint" = $'55P03\nrows: 1' ] ||
	{ echo 'this has changed'; exit 1; }
