#!/bin/bash
#
# ON CONFLICT DO SELECT returns a row of its own statement, but cannot lock it.
#
# Surprising in PostgreSQL 19rc1 (Debian experimental): of two rows with one key that a
# statement inserts, DO SELECT returns the first for the second.  DO SELECT FOR KEY SHARE
# fails with 21000, "command cannot affect row a second time", though it affects none.
# Expected: the same answer, as the transaction holds its own row anyway; if both rows
# meet one that was there before, it is locked and returned twice.
#
# What is shown: the rows that come back, or the SQLSTATE, by both, for a key that the
# statement makes and for one that is there.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/matrix.bash" 19~rc1-1

psql -c 'CREATE TABLE keys (id int PRIMARY KEY)'

# What comes of two rows with the key $1, by the action $2.
try()
{
	psql -v VERBOSITY=sqlstate -c "INSERT INTO keys VALUES ($1), ($1)
		ON CONFLICT (id) DO $2 RETURNING id" 2>&1 | sed 's/^ERROR: *//' | paste -sd ' ' || :
}

new=$(try 1 SELECT) locked=$(try 2 'SELECT FOR KEY SHARE')
there=$(try 1 'SELECT FOR KEY SHARE')
echo "a new key: $new; locked: $locked; one that is there, locked: $there"
[ "$new; $locked; $there" = '1 1; 21000; 1 1' ] || { echo 'this has changed'; exit 1; }
