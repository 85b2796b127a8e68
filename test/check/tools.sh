#
# What the scripts in test/ share; to be sourced by bash.
# SPDX-License-Identifier: PostgreSQL
#
# They run in the root of the tree, with the server that the environment names,
# and have a directory of their own, $work, that is gone afterwards.
#

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
databases=()
trap finish EXIT

# Remove what the test has made, however it ends.
finish()
{
	local database

	rm -rf "$work"
	for database in "${databases[@]}"; do
		dropdb --if-exists "$database" 2>/dev/null || :
	done
}

psql() { command psql -X -q -v ON_ERROR_STOP=1 "$@"; }

# new_database [OPTION...] NAME: make a database, to be used from now on; the
# options are those of createdb.
new_database()
{
	createdb "$@"
	export PGDATABASE=${!#}
	databases+=("$PGDATABASE")
}

# ok TEXT: say what was found right.
ok() { echo "ok   $*"; }

# fail TEXT [FILE...]: say what was not, show the files, and end the test.
fail()
{
	echo "FAIL $1"
	shift
	[ $# = 0 ] || cat "$@"
	exit 1
}
