#!/bin/bash
#
# Call the functions by real clients, which send parameters as they see fit:
# psycopg gives whole numbers the smallest type that holds them and texts
# none, node's pg gives none to anything.
# SPDX-License-Identifier: PostgreSQL
#
# Needs, on Debian, python3-psycopg and node-pg, or the package pg of npm in
# $NODE_MODULES; a client that is not here is left out, and named.  So is
# PgBouncer, by which the calls go once more, several sessions to a server's.
#

. "$(dirname "$0")/tools.sh"
new_database check_clients

# Rows within 8 bits of each other, of which fewer are within 3.
psql <<-'END'
	CREATE EXTENSION simhash;
	CREATE TABLE docs AS SELECT n AS id, (n * 5)::bigint AS fp, 'some text ' || n AS body
	FROM generate_series(1, 50) AS n;
	CREATE TABLE weights AS SELECT simhash_idf_agg(body, 'word-1') AS idf FROM docs;
END

# An expression, a tab, its parameters as JSON.
cat >"$work/calls" <<-'END'
	(SELECT count(*) FROM simhash_pairs($1, $2))	["SELECT id, fp FROM docs", 8]
	(SELECT count(*) FROM simhash_pairs_as(NULL::text, $1, $2))	["SELECT body, fp FROM docs", 8]
	(SELECT count(*) FROM simhash_clusters($1, $2, $3, $4, $5))	["SELECT id, fp FROM docs", 1, "star", "first", 3]
	(SELECT count(*) FROM simhash_clusters_as(NULL::text, $1, $2))	["SELECT body, fp FROM docs", 1]
	(SELECT max(value) FROM simhash_report('docs', $1, $2) WHERE item = 'clusters')	["fp", 1]
	md5(simhash_dedup_sql('docs', $1, $2, $3, $4))	["fp", 8, "star", "id"]
	(SELECT count(*) FROM simhash_tune($1, $2, $3))	["SELECT body FROM docs", "cosine", 0.5]
	(SELECT count(*) FROM simhash_explain($1, $2, $3, $4))	["some text", "other text", "word-1", 5]
	simhash($1)	["some text"]
	simhash($1, $2)	["some text", "word-1"]
	minhash($1, $2)	["some text", "word-1"]
	(SELECT simhash_tfidf($1, idf) FROM weights)	["some text"]
	(SELECT simhash_tfidf($1, idf, $2) FROM weights)	["some text", 1]
	(SELECT count(*) FROM weights, simhash_keywords($1, idf, $2))	["some text", 1]
	simhash_bits($1::text[], $2, $3, $4)::text	[["a", "b"], 128, [1.5, 2.5], "word-1"]
	hamming($1::bigint, $2)	[5, 9007199254740991]
END

# What psql says, with literals in the place of parameters.
while IFS=$'\t' read -r call parameters; do
	psql -At -c "SELECT $("$PYTHON" - "$call" "$parameters" <<-'END'
		import json, re, sys
		def literal(p):
		    if isinstance(p, list):
		        return "ARRAY[%s]" % ', '.join(map(literal, p))
		    return "'%s'" % p if isinstance(p, str) else str(p)
		parameters = json.loads(sys.argv[2])
		print(re.sub(r'\$(\d)', lambda m: literal(parameters[int(m[1]) - 1]), sys.argv[1]))
	END
	)"
done <"$work/calls" >"$work/expected"
[ "$(wc -l <"$work/calls")" = "$(grep -c . "$work/expected")" ] ||
	fail "a call has no result" "$work/expected"

# Compare what a client has got.
compare()
{
	diff "$work/expected" "$work/$1" >"$work/diff" ||
		fail "$2 differs:" "$work/diff"
	ok "$2: $(wc -l <"$work/expected") calls"
}

for python in "$PYTHON" /usr/bin/python3 ""; do
	! "$python" -c 'import psycopg' 2>/dev/null || break
done
if [ -n "$python" ]; then
	for how in plain prepared int8 binary; do
		"$python" test/check/clients.py $how <"$work/calls" >"$work/psycopg"
		compare psycopg "psycopg, $how"
	done
else
	echo "left out: psycopg, for want of Debian's python3-psycopg"
fi

# Transactions of more clients than that take turns in two sessions of the
# server: what one leaves behind must not matter to the next.  First the calls,
# then near-duplicates, of which the guard has to let no two in.
bouncer=$(PATH=$PATH:/usr/sbin command -v pgbouncer) || :
if [ -n "$python" ] && [ -n "$bouncer" ]; then
	cat >"$work/pgbouncer.ini" <<-END
		[databases]
		* = host=$PGHOST port=$PGPORT user=$PGUSER
		[pgbouncer]
		listen_addr =
		unix_socket_dir = $work
		auth_type = any
		pool_mode = transaction
		default_pool_size = 2
	END
	"$bouncer" -q "$work/pgbouncer.ini" 2>"$work/pgbouncer.log" &
	bouncer=$!
	trap 'kill $bouncer 2>/dev/null || :; finish' EXIT
	while [ ! -S "$work/.s.PGSQL.6432" ]; do
		kill -0 $bouncer || fail "PgBouncer does not start" "$work/pgbouncer.log"
		sleep 0.05
	done
	clients=()
	for client in 1 2 3 4; do
		PGHOST=$work PGPORT=6432 "$python" test/check/clients.py plain \
			<"$work/calls" >"$work/bounced$client" 2>&1 &
		clients+=($!)
	done
	wait "${clients[@]}" || :
	for client in 1 2 3 4; do
		compare bounced$client "psycopg, by PgBouncer"
	done

	psql <<-'END'
		CREATE TABLE guarded (id bigint GENERATED ALWAYS AS IDENTITY, fp bigint);
		CREATE INDEX ON guarded USING hamming (fp);
		CREATE TRIGGER guard BEFORE INSERT ON guarded
		FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
	END
	cat >"$work/script" <<-'END'
		\set n random(1, 200)
		\set bit random(0, 63)
		BEGIN;
		INSERT INTO guarded (fp) VALUES (hashint8extended(:n, 0) # (1::bigint << :bit));
		COMMIT;
	END
	PGHOST=$work PGPORT=6432 pgbench -n -c 8 -t 100 -f "$work/script" \
		>"$work/pgbench" 2>&1 || fail "pgbench by PgBouncer" "$work/pgbench"
	kill -INT $bouncer
	wait $bouncer || :
	psql -At >"$work/pairs" <<-'END'
		SELECT (SELECT count(*) BETWEEN 150 AND 200 FROM guarded),
			(SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM guarded')),
			(SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database
			 WHERE locktype = 'advisory' AND datname = current_database());
	END
	[ "$(cat "$work/pairs")" = 't|0|0' ] || fail "the guard" "$work/pairs"
	ok "a guard, by PgBouncer"
else
	echo "left out: PgBouncer, for want of Debian's pgbouncer"
fi

export NODE_PATH=${NODE_MODULES:-/usr/share/nodejs}
if node -e 'require("pg")' 2>/dev/null; then
	node test/check/clients.js <"$work/calls" >"$work/node"
	compare node "node's pg"
else
	echo "left out: node's pg, for want of Debian's node-pg"
fi
