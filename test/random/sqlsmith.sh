#!/bin/bash
#
# Have SQLsmith, which makes queries at random of whatever a database has, run
# against a database that has every kind of object of the extension.
# SPDX-License-Identifier: PostgreSQL
#
# Not a test of the suite: it needs the package sqlsmith, and takes
# SIMHASH_SECONDS (600).  SIMHASH_SEED repeats the queries, as far as they do
# not depend on time.
#
#     SIMHASH_SECONDS=3600 make sqlsmith
#     make sqlsmith PG_CONFIG=$(tools/asserts --build)      with assertions
#
# A finding is a server that went down, an assertion that failed, a query that
# goes on long after it was to be cancelled, an index that does not agree with
# its table, and an internal error (SQLSTATE XX000) that is not known to be the
# core's own.  OUT=dir keeps the log of the server, which has every error.
#

. "$(dirname "$0")/../check/tools.sh"
seconds=${SIMHASH_SECONDS:-600}
seed=${SIMHASH_SEED:-$(date +%s)}
timeout=10                      # seconds that a query may take
role=check_sqlsmith
found=0

# Where the core raises internal errors about arguments that SQLsmith makes up.
core='check_float8_array'

command -v sqlsmith >/dev/null || fail "sqlsmith is needed (package sqlsmith)"

# Make the database, owned by a role that is no superuser.
make_database()
{
	new_database sqlsmith
	psql -c "CREATE ROLE $role LOGIN"
	psql -v role=$role -f test/random/sqlsmith.sql >"$work/made" 2>&1 ||
		fail "cannot make the database" "$work/made"
	psql <<-END
		ALTER DATABASE sqlsmith SET statement_timeout = '$timeout s';
		ALTER DATABASE sqlsmith SET search_path = smith, pg_catalog, public;
		ALTER DATABASE sqlsmith SET log_error_verbosity = verbose;
		ALTER DATABASE sqlsmith SET track_functions = 'all';
		ALTER DATABASE sqlsmith SET random_page_cost = 0.1;
		ALTER DATABASE sqlsmith SET client_min_messages = 'error';
	END
}

# Print again and again which queries are still at it long after their time.
watch()
{
	while sleep 5; do
		psql -At -c "SELECT now() - query_start, query FROM pg_stat_activity
			WHERE datname = current_database() AND state = 'active'
			AND query_start < now() - interval '$((3 * timeout)) s'" || :
	done 2>/dev/null
}

# Print the internal errors in the log $1: how often, which, raised where.
internal_errors()
{
	awk '/ERROR:  XX/ { sub(/^.*ERROR:  /, ""); message = $0 }
		message && /LOCATION:/ {
			sub(/^.*LOCATION:  /, "")
			code = substr(message, 1, 5)
			gsub(/[0-9]+/, "N", message)
			print code substr(message, 4) " (" $0 ")"
			message = ""
		}' "$1" | grep -Ev "\(($core)," | sort | uniq -c
}

# finding TEXT FILE: show the file if there is anything in it, which is bad.
finding()
{
	[ -s "$2" ] || return 0
	echo "FOUND $1"
	cat "$2"
	found=1
}

echo "SIMHASH_SEED=$seed"
make_database
lines=$(wc -l <"$SERVER_LOG")
watch >"$work/endless" &
watch=$!
timeout -s INT "$seconds" sqlsmith --verbose --exclude-catalog --seed="$seed" \
	--target="dbname=sqlsmith user=$role" >"$work/said" 2>&1 || :
kill $watch
queries=$(sed -n 's/^queries: \([0-9]*\).*/\1/p' "$work/said" | tail -n 1)
[ -n "$queries" ] || fail "SQLsmith has made no queries" "$work/said"
tail -n +$((lines + 1)) "$SERVER_LOG" >"$work/sqlsmith.log"
cp "$work/sqlsmith.log" "$RESULTS/"

grep -aE 'terminated by signal|PANIC:|TRAP:' "$work/sqlsmith.log" \
	>"$work/crashes" || :
internal_errors "$work/sqlsmith.log" >"$work/internal" || :
until psql -c 'SELECT' >/dev/null 2>&1; do sleep 1; done
psql -c "SELECT hamming_index_check(c.oid, true) FROM pg_class AS c
	JOIN pg_am AS a ON a.oid = relam
	WHERE amname = 'hamming' AND relkind = 'i'" 2>"$work/indexes" >"$work/checked" || :
finding "crash" "$work/crashes"
finding "internal error" "$work/internal"
finding "query that was not cancelled" "$work/endless"
finding "damaged index" "$work/indexes"
psql -At -v seconds="$seconds" -v queries="$queries" <<-'END'
	SELECT format('%s queries in %s s: %s calls of %s functions, %s scans of %s hamming indexes',
	    :'queries', :'seconds', calls, functions, scans, indexes)
	FROM (SELECT sum(calls) AS calls, count(*) AS functions FROM pg_stat_user_functions
	      WHERE schemaname = 'public') AS f,
	    (SELECT sum(idx_scan) AS scans, count(*) AS indexes FROM pg_stat_user_indexes
	     JOIN pg_class AS c ON c.oid = indexrelid JOIN pg_am AS a ON a.oid = relam
	     WHERE amname = 'hamming' AND idx_scan > 0) AS i
END
exit $found
