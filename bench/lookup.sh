#
# Look-ups: the rows within distance k of a fingerprint, by method.
# SPDX-License-Identifier: PostgreSQL
#
# Server time: look-ups by LATERAL in one statement.  Client: one look-up after
# another, prepared, over the socket.  Random fingerprints in docs; keyed has
# them with key columns and four btrees, keyed_covering with covering ones, and
# covered with four that have the id as well, read by hand.
#

sizes() { powers; }

prepare()
{
	make_docs "$1"
	make_hamming
	have keyed || psql <<-'END'
		CREATE TABLE keyed AS SELECT id, fp FROM docs;
		SELECT simhash_add_keys('keyed', 'fp', covering => false) \g /dev/null
		CREATE TABLE keyed_covering AS SELECT id, fp FROM docs;
		SELECT simhash_add_keys('keyed_covering', 'fp') \g /dev/null
		CREATE TABLE covered AS SELECT id, fp, simhash_key(fp, 0) AS k0,
			simhash_key(fp, 1) AS k1, simhash_key(fp, 2) AS k2,
			simhash_key(fp, 3) AS k3 FROM docs;
		CREATE INDEX ON covered (k0) INCLUDE (fp, id);
		CREATE INDEX ON covered (k1) INCLUDE (fp, id);
		CREATE INDEX ON covered (k2) INCLUDE (fp, id);
		CREATE INDEX ON covered (k3) INCLUDE (fp, id);
		VACUUM ANALYZE keyed;
		VACUUM ANALYZE keyed_covering;
		VACUUM ANALYZE covered;
	END
	warm keyed
	warm covered
	prepare_bktree "$1"
}

# The BK-tree, if the server has it.  Its operators share their names with
# ours, so they are kept in a schema of their own.  A scan of the whole index
# yields nothing, so nobody else may meet it: it has a table of its own.
prepare_bktree()
{
	local begin

	offers bktree && ! have treed || return 0
	psql <<-'END'
		SET client_min_messages = warning;
		CREATE SCHEMA IF NOT EXISTS bktree;
		CREATE EXTENSION IF NOT EXISTS bktree SCHEMA bktree;
		CREATE TABLE treed AS SELECT id, fp FROM docs;
		VACUUM ANALYZE treed;
	END
	begin=$(date +%s.%N)
	psql -c 'CREATE INDEX treed_fp ON treed USING spgist (fp bktree.bktree_ops)'
	emit 'build, BK-tree (SP-GiST)' \
		"$(calc "($(date +%s.%N) - $begin) / $1 * 1e6")" us/row
	emit 'size, BK-tree (SP-GiST)' \
		"$(ask "SELECT pg_relation_size('treed_fp') / $1.0")" bytes/row
	warm treed
}

# A look-up for each query: its column and what it asks of which table.
each()
{
	echo "SELECT count(s.r) FROM (SELECT * FROM queries LIMIT :n) AS q,
		LATERAL (SELECT $1) AS s"
}

BY_HAND='bit_count((fp # q.q)::bit(64)) <= 3'

# What one writes without simhash, over key columns.
or_by_hand()
{
	each "id AS r FROM keyed WHERE $BY_HAND AND (k0 = simhash_key(q.q, 0)
		OR k1 = simhash_key(q.q, 1) OR k2 = simhash_key(q.q, 2)
		OR k3 = simhash_key(q.q, 3))"
}

covering_by_hand()
{
	local k part=

	for k in 0 1 2 3; do
		part="$part ${part:+UNION} SELECT id AS r FROM covered
			WHERE k$k = simhash_key(q.q, $k) AND $BY_HAND"
	done
	echo "SELECT count(s.r) FROM (SELECT * FROM queries LIMIT :n) AS q,
		LATERAL ($part) AS s"
}

measure()
{
	server "$1"
	client "$1"
}

server()
{
	local k pk hamming

	# These two by themselves: they are compared most, and are so short that
	# it matters what the processor's caches were used for in between.
	method pk "$INDEX" "$(each 'fp AS r FROM docs WHERE id = q.id')"
	method near "$INDEX" "$(each 'id AS r FROM docs WHERE fp ~= q.q')"
	run "$(fixed 0.1 0.5)" "$(fixed 5 15)"
	pk=${us[pk]} hamming=${us[near]}

	method keys "$BITMAP" "$(each 'id AS r FROM keyed WHERE fp ~= q.q')"
	method keys_covering "$BITMAP" \
		"$(each 'id AS r FROM keyed_covering WHERE fp ~= q.q')"
	method hand "$BITMAP" "$(or_by_hand)"
	method covering "$INDEX" "$(covering_by_hand)"
	for k in 0 7 8 10 12; do
		method "hamming $k" "$INDEX" \
			"$(each "id AS r FROM docs WHERE fp <@ (q.q, $k)")"
	done
	for k in 0 7 8; do
		method "keys $k" "$BITMAP" \
			"$(each "id AS r FROM keyed WHERE fp <@ (q.q, $k)")"
		method "keys_covering $k" "$BITMAP" \
			"$(each "id AS r FROM keyed_covering WHERE fp <@ (q.q, $k)")"
	done
	method scan "$SCAN" "$(each 'id AS r FROM docs WHERE fp ~= q.q')"
	method 'scan 12' "$SCAN" "$(each 'id AS r FROM docs WHERE fp <@ (q.q, 12)')"
	if have treed; then
		method bktree "$BITMAP" "$(each 'id AS r FROM treed WHERE
			fp OPERATOR(bktree.<@) (q.q, 3)::bktree.bktree_area')"
	fi
	run "$(fixed 0.1 0.7)" "$(fixed 3 5)"

	emit 'server, primary key' "$pk" us
	emit 'server, k=3, hamming index' "$hamming" us 'primary key' "$pk" "$(
		case $1 in
			1000000) echo 'ratio <= 3' ;;
			10000000) echo 'ratio <= 4' ;;
		esac)"
	emit 'server, k=3, key columns' "${us[keys]}" us 'primary key' "$pk"
	emit 'server, k=3, key columns, covering' "${us[keys_covering]}" us \
		'key columns' "${us[keys]}" "$([ "$1" != 1000000 ] || echo 'ratio <= .35')"
	emit 'server, k=3, key columns, OR by hand' "${us[hand]}" us \
		'primary key' "$pk"
	emit 'server, k=3, covering btrees by hand' "${us[covering]}" us \
		'primary key' "$pk"
	emit 'server, k=3, sequential scan' "${us[scan]}" us 'primary key' "$pk"
	if [ -n "${us[bktree]:-}" ]; then
		emit 'server, k=3, BK-tree (SP-GiST)' "${us[bktree]}" us \
			'hamming index' "$hamming" \
			"$([ "$1" != 10000000 ] || echo 'ratio >= 100')"
	else
		skip 'BK-tree (SP-GiST)' \
			'install the extension bktree of fake-name/pg-spgist_hamming'
	fi
	for k in 0 7 8 10 12; do
		emit "server, k=$k, hamming index" "${us[hamming $k]}" us \
			'primary key' "$pk" "$(case $k,$1 in
				8,10000000) echo 'figure < 1000' ;;
				12,10000000) echo 'figure < 5000' ;; esac)"
	done
	for k in 0 7 8; do
		emit "server, k=$k, key columns" "${us[keys $k]}" us 'primary key' "$pk"
		emit "server, k=$k, key columns, covering" "${us[keys_covering $k]}" us \
			'key columns' "${us[keys $k]}" \
			"$([ $k,$1 != 8,1000000 ] || echo 'ratio <= .3')"
	done
	emit 'server, k=12, sequential scan' "${us[scan 12]}" us 'primary key' "$pk"
}

client()
{
	local q='\set q hash_murmur2(random(1, 1000000000))' pk

	method pk '' "\\set id random(1, $1)
		SELECT fp FROM docs WHERE id = :id;"
	method near '' "$q
		SELECT id FROM docs WHERE fp ~= :q;"
	method keys '' "$q
		SELECT id FROM keyed WHERE fp ~= :q;"
	client_times "$(fixed 3 5)" "$(fixed 1000 3000)"
	pk=${us[pk]}
	emit 'client, primary key' "$pk" us
	emit 'client, k=3, hamming index' "${us[near]}" us 'primary key' "$pk" \
		"$([ "$1" -lt 1000000 ] || echo 'ratio <= 1.5')"
	emit 'client, k=3, key columns' "${us[keys]}" us 'primary key' "$pk"
}
