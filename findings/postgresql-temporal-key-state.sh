#!/bin/bash
#
# A primary key that is violated need not be a unique violation.
#
# Surprising in PostgreSQL 18.6 and 19rc1: the SQLSTATE for a primary key WITHOUT OVERLAPS
# is 23P01, exclusion_violation, even if the key of the other row is the very same.
# Expected: 23505, unique_violation, as for any other PRIMARY KEY and as
# information_schema.table_constraints calls it; "WHEN unique_violation" does not catch
# it, and programs that retry an insert by 23505 do not see it.
#
# What is shown: the SQLSTATE, and the kind of constraint by the information schema.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail
. "$(dirname "$0")/matrix.bash" 18.6-3

psql -c 'CREATE TABLE stays (rooms int4range, during daterange,
	PRIMARY KEY (rooms, during WITHOUT OVERLAPS))'
kind=$(psql -c "SELECT constraint_type FROM information_schema.table_constraints
	WHERE constraint_name = 'stays_pkey'")
row="INSERT INTO stays VALUES ('[1,2)', '[2020-01-01,2021-01-01)')"
psql -c "$row"
state=$(psql -v VERBOSITY=sqlstate -c "$row" 2>&1 | sed 's/^ERROR: *//' || :)
echo "a $kind is violated: $state"
[ "$kind, $state" = 'PRIMARY KEY, 23P01' ] || { echo 'this has changed'; exit 1; }
