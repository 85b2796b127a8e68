#!/bin/bash
#
# The pg_dump of other minors writes an option of columns that other servers refuse.
#
# Surprising in PostgreSQL 15.20 (Debian 12): it marks each column of each table by an
# option, pg_attver in pg_attribute.attoptions, which its own pg_dump leaves out.  The
# pg_dump of 15.18, and those of 18.6 and 19rc1, write it, as "ALTER COLUMN id SET
# (pg_attver=22158912)": 15.20 takes that and ignores it, 15.18, 18.6 and 19rc1 refuse
# it.  After a restore by psql all is there; pg_upgrade from 15.20 to 18.6 ends with
# "unrecognized parameter", for any table at all.  Expected: no mark in what programs of
# other versions read and write.
#
# What is shown: how often dumps of a table of two columns have the option, by the
# programs of 15.18 and of 15.20, and what the servers say of it.
# SPDX-License-Identifier: PostgreSQL
#
set -euo pipefail

# In a server of the version $1, make the table, and dump it by the programs of both.
try()
(
	. "$(dirname "$0")/server.bash" "$1" >/dev/null
	psql -c 'CREATE TABLE t (id int, body text)'
	for version in 15.18 15.20; do
		mkdir "$server/$version"
		(cd "$server/$version" && apt-get -q download \
			"postgresql-client-15=$version-0+deb12u1" >/dev/null 2>&1 && dpkg -x ./*.deb .)
		PGHOST=$server/s PGUSER=me "$server/$version$server_in/pg_dump" postgres |
			grep -c pg_attver || :
	done
	psql -c 'ALTER TABLE t ALTER id SET (pg_attver=1)' 2>&1 &&
		psql -c "SELECT array_to_string(attoptions, '') <> 'pg_attver=1'
			FROM pg_attribute WHERE attname = 'id' AND attrelid = 't'::regclass" || :
)

server_in=/usr/lib/postgresql/15/bin
older=$(try 15.18-0+deb12u1) newer=$(try 15.20-0+deb12u1)
echo "of 15.18, by 15.18, by 15.20, and taken: ${older//$'\n'/, }"
echo "of 15.20, by 15.18, by 15.20, ignored:   ${newer//$'\n'/, }"
[ "$older" = $'0\n0\nERROR:  unrecognized parameter "pg_attver"' ] &&
	[ "$newer" = $'2\n0\nt' ] || { echo 'this has changed'; exit 1; }
