#
# share/plain.sql, which needs no extension, beside the extension: look-ups, and rows
# inserted through a guard.
# SPDX-License-Identifier: PostgreSQL
#
# Random fingerprints in docs; plain_docs has them with the columns and indexes of
# plain.add_keys, plain_keyed with those of simhash_add_keys.  Each look-up is one of
# many by LATERAL in one statement, and each row that is inserted one of many, too.
#

sizes() { some 100000 1000000; }

prepare()
{
	make_docs "$1"
	make_hamming
	have plain_docs && return
	psql <<-'END'
		SET client_min_messages = warning;
		DROP SCHEMA IF EXISTS plain CASCADE;
		\o /dev/null
		\i share/plain.sql
		CREATE TABLE plain_docs AS SELECT id, fp FROM docs;
		CALL plain.add_keys('plain_docs');
		CREATE TABLE plain_keyed AS SELECT id, fp FROM docs;
		SELECT simhash_add_keys('plain_keyed', 'fp');
		CREATE SEQUENCE IF NOT EXISTS fresh START 1000000001;
		VACUUM ANALYZE plain_docs;
		VACUUM ANALYZE plain_keyed;
	END
	warm plain
}

# A look-up for each query, of what comes from which table.
each_near()
{
	echo "SELECT count(s.id) FROM (SELECT q FROM queries LIMIT :n) AS q,
		LATERAL (SELECT id FROM $1) AS s"
}

# Guard a table by $2, in a transaction to be rolled back, and insert into it.
guarded()
{
	method "$1" "ROLLBACK; VACUUM $1; BEGIN; $2" "INSERT INTO $1 (id, fp)
		SELECT n, hashint8extended(n, 1) FROM (SELECT nextval('fresh') AS n
		FROM generate_series(1, 5000)) AS s" 5000
}

measure()
{
	local k

	for k in 3 8; do
		method "plain $k" "$LOOP" "$(each_near "plain_docs_near(q.q, $k)")"
		method "keys $k" "$LOOP" "$(each_near "plain_keyed WHERE fp <@ (q.q, $k)")"
		method "hamming $k" "$INDEX" "$(each_near "docs WHERE fp <@ (q.q, $k)")"
	done
	run "$(fixed 0.3 1)" "$(fixed 5 9)"
	for k in 3 8; do
		emit "plain.sql, k=$k" "${us[plain $k]}" us 'key columns, covering' "${us[keys $k]}" \
			"$([ "$1" != 1000000 ] || echo "1 / ratio >= $([ $k = 3 ] && echo .35 || echo .3)")"
		emit "plain.sql, k=$k" "${us[plain $k]}" us 'hamming index' "${us[hamming $k]}"
	done

	emit 'size, plain.sql' "$(ask "SELECT sum(pg_relation_size(indexrelid)) / $1.0
		FROM pg_index WHERE indrelid = 'plain_docs'::regclass")" bytes/row

	guarded plain_docs "CALL plain.add_guard('plain_docs');"
	guarded plain_keyed "CREATE TRIGGER guard BEFORE INSERT ON plain_keyed FOR EACH ROW
		EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');"
	guarded docs "CREATE TRIGGER guard BEFORE INSERT ON docs FOR EACH ROW
		EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');"
	run 0 "$(fixed 3 7)"
	emit 'guarded row, plain.sql' "${us[plain_docs]}" us 'guard, key columns' "${us[plain_keyed]}"
	emit 'guarded row, plain.sql' "${us[plain_docs]}" us 'guard, hamming index' "${us[docs]}"
	psql -c 'VACUUM plain_docs, plain_keyed, docs'
}
