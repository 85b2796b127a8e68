#
# Searches within one of a thousand tenants, by an index on (tenant, fp), beside
# the same searches in the whole table, by an index on (fp).
# SPDX-License-Identifier: PostgreSQL
#

sizes() { powers; }

TENANTS=1000

prepare()
{
	local begin index

	make_docs "$1"
	psql <<-END
		CREATE TABLE tenants AS SELECT id, id % $TENANTS AS tenant, fp FROM docs;
		ALTER TABLE tenants ADD PRIMARY KEY (id);
		VACUUM ANALYZE tenants;
	END
	have fresh || psql -c 'CREATE SEQUENCE fresh START 1000000001'
	for index in fp 'tenant, fp'; do
		begin=$(date +%s.%N)
		psql -c "CREATE INDEX ON tenants USING hamming ($index)"
		emit "build, ($index)" \
			"$(calc "($(date +%s.%N) - $begin) / $1 * 1e6")" us/row
		emit "size, ($index)" "$(ask "SELECT pg_relation_size(max(indexrelid))
			/ $1.0 FROM pg_index WHERE indrelid = 'tenants'::regclass")" bytes/row
	done
	for index in alone within; do
		psql -c "CREATE TABLE $index AS SELECT id::bigint, tenant, fp
			FROM tenants LIMIT 1000000" \
			-c "ALTER TABLE $index ADD PRIMARY KEY (id), ADD EXCLUDE USING hamming
				($([ $index = alone ] || echo 'tenant WITH =,') fp WITH ~=)"
	done
	psql -c VACUUM -c ANALYZE
	warm tenants
	warm alone
	warm within
}

each()
{
	echo "SELECT count(s.r) FROM (SELECT *, id % $TENANTS AS tenant FROM queries
		LIMIT :n) AS q, LATERAL (SELECT $1) AS s"
}

insert()
{
	echo "INSERT INTO $1 SELECT n, n % $TENANTS, hashint8extended(n, 1)
		FROM (SELECT nextval('fresh') AS n FROM generate_series(1, $2)) AS s"
}

measure()
{
	local k name tenant='tenant = q.tenant AND'

	for k in 3 8; do
		method "alone $k" "$INDEX" \
			"$(each "id AS r FROM tenants WHERE fp <@ (q.q, $k)")"
		method "within $k" "$INDEX" \
			"$(each "id AS r FROM tenants WHERE $tenant fp <@ (q.q, $k)")"
	done
	for name in alone within; do
		psql -c "$(insert $name 10000)"
		method "insert $name" '' "$(insert $name 10000)" 10000
	done
	run "$(fixed 0.1 0.5)" "$(fixed 5 15)"
	for k in 3 8; do
		emit "server, k=$k, whole table" "${us[alone $k]}" us
		emit "server, k=$k, within a tenant" "${us[within $k]}" us \
			'whole table' "${us[alone $k]}" \
			"$([ "$1" -lt 1000000 ] || echo 'ratio <= 1.2')"
	done
	emit 'insert, EXCLUDE (fp)' "${us[insert alone]}" us
	emit 'insert, EXCLUDE (tenant, fp)' "${us[insert within]}" us \
		'EXCLUDE (fp)' "${us[insert alone]}" \
		"$([ "$1" -lt 1000000 ] || echo 'ratio <= 1.2')"

	method near "$INDEX" "$(each 'id AS r FROM tenants
		ORDER BY fp <~> q.q LIMIT 10')"
	method tenant "$INDEX" "$(each "id AS r FROM tenants
		WHERE tenant = q.tenant ORDER BY fp <~> q.q LIMIT 10")"
	run "$(fixed 0.1 0.5)" "$(fixed 3 5)" 200
	emit 'ten nearest, whole table' "${us[near]}" us
	emit 'ten nearest, within a tenant' "${us[tenant]}" us \
		'whole table' "${us[near]}"
}
