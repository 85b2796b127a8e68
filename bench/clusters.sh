#
# Clusters that keep themselves: eight clients that insert row by row, beside a
# guard that marks near-duplicates; and the rows that cost most.
# SPDX-License-Identifier: PostgreSQL
#
# The rows in place are each alone; of the new ones one of four is near another.
# fsync is off: what is measured is work, not the disk.
#

sizes() { some 100000 1000000; }

KEEPERS="mark star connected"
CROWD=10000

# Have the table $1 keep clusters, of kind $2, by distance $3.
keep_clusters()
{
	[ "$2" = star ] || echo "CREATE INDEX ON $1 USING hamming (fp);"
	echo "CALL simhash_add_clusters('$1', 'fp', $3, '$2', indexed => false);"
}

# A table of the rows of a query (id, fp).
make_rows()
{
	echo "CREATE TABLE $1 (id bigint PRIMARY KEY, fp bigint);
		INSERT INTO $1 $2;"
}

# A table of the rows of a query (id, fp, cluster), as if they were in these
# connected clusters: triggers do not fire for a replica.
make_connected()
{
	make_rows "$1" 'SELECT 1, 1 WHERE false'
	keep_clusters "$1" connected 3
	echo "SET session_replication_role = replica;
		INSERT INTO $1 $2;
		RESET session_replication_role;
		SELECT setval(pg_get_serial_sequence('$1_clusters', 'cluster'),
			(SELECT max(cluster) FROM $1));"
}

# Rows within 3 bits of 0, each in the cluster $1.
crowd()
{
	echo "SELECT n, bit_xor(1::bigint << (hashint8extended(n, i) & 63)::int), $1
		FROM generate_series(1, $CROWD) AS n, generate_series(1, 3) AS i GROUP BY n"
}

prepare()
{
	local k name alone

	alone="SELECT n, hashint8extended(n, 1) FROM generate_series(1, $1) AS n"
	have fresh || psql -c 'CREATE SEQUENCE fresh START 1000000001'
	{
		echo 'SET client_min_messages = warning;'
		make_rows kept_nothing "$alone"
		for k in 3 8; do
			for name in $KEEPERS; do
				make_rows "kept_$name$k" "$alone"
				if [ $name = mark ]; then
					echo "ALTER TABLE kept_mark$k ADD cluster bigint;
						CREATE INDEX ON kept_mark$k USING hamming (fp);
						CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON kept_mark$k
						FOR EACH ROW EXECUTE FUNCTION
						simhash_guard('fp', 'mark', '$k', 'mark=cluster');"
				else
					keep_clusters "kept_$name$k" $name $k
				fi
			done
		done

		# two clusters of so many rows each, some of which are 6 bits apart
		make_connected kept_halves "SELECT n, CASE WHEN n > $1 AND n <= $1 + 20
				THEN hashint8extended(n - $1, 1) # 63 ELSE hashint8extended(n, 1) END,
				CASE WHEN n > $1 THEN 2 ELSE 1 END
			FROM generate_series(1, 2 * $1) AS n"

		make_connected kept_crowd "$(crowd 1)"
		make_connected kept_many "$(crowd n)"
		cat <<-'END'
			-- milliseconds that it takes to insert a row, which is then taken back
			CREATE FUNCTION cost(relation regclass, fp bigint) RETURNS float8
			LANGUAGE plpgsql AS $$
			DECLARE
				begun timestamptz := clock_timestamp();
				ended timestamptz;
			BEGIN
				EXECUTE format('INSERT INTO %s (id, fp) VALUES (0, $1)', relation)
				USING fp;
				ended := clock_timestamp();
				RAISE SQLSTATE 'BACK0';
			EXCEPTION
				WHEN SQLSTATE 'BACK0' THEN
					RETURN extract(epoch FROM ended - begun) * 1000;
			END $$;
		END
	} | psql >/dev/null
	psql -c VACUUM -c ANALYZE
	warm kept_
}

measure()
{
	local name k r seconds rounds least
	local -A found=()

	seconds=$(fixed 1 5) rounds=$(fixed 2 4)
	for ((r = 0; r < rounds; r++)); do
		for name in nothing mark3 star3 connected3 mark8 star8 connected8; do
			found[$name]+="$(insert_near "$name" "$1" "$seconds") "
		done
	done
	for name in "${!found[@]}"; do
		found[$name]=$(printf '%s\n' ${found[$name]} | median)
	done
	emit '8 clients, no trigger' "${found[nothing]}" rows/s
	for k in 3 8; do
		least=$([ $k != 3 ] || echo ' && figure >= 10000')
		emit "8 clients, k=$k, guard that marks" "${found[mark$k]}" rows/s \
			'no trigger' "${found[nothing]}"
		for name in star connected; do
			emit "8 clients, k=$k, clusters, $name" "${found[$name$k]}" rows/s \
				'guard that marks' "${found[mark$k]}" \
				"$([ "$1" -lt 1000000 ] || echo "ratio >= 0.5$least")"
		done
	done

	found[alone]=$(cost_of kept_halves '~hashint8extended(n, 1)')
	emit 'a row near none' "${found[alone]}" ms
	emit "a row that merges two clusters of $1 rows" \
		"$(cost_of kept_halves 'hashint8extended(n, 1) # 7')" ms \
		'near none' "${found[alone]}"
	emit "a row near $CROWD of one cluster" "$(cost_of kept_crowd 0)" ms \
		'near none' "${found[alone]}"
	emit "a row that merges $CROWD clusters" "$(cost_of kept_many 0)" ms \
		'near none' "${found[alone]}"
}

# Rows a second that eight clients insert into the table $1 of $2 rows for $3
# seconds, one of four of them two bits off a row in place.
insert_near()
{
	local script

	script=$(mktemp)
	cat >"$script" <<-END
		INSERT INTO kept_$1 (id, fp)
		SELECT n, CASE WHEN n % 4 = 0
			THEN hashint8extended((hashint8extended(n, 2) & 2147483647) % $2 + 1, 1)
				# (1::bigint << (n / 4 % 64)::int) # (1::bigint << (n / 256 % 64)::int)
			ELSE hashint8extended(n, 1) END
		FROM nextval('fresh') AS n;
	END
	pgbench -n -M prepared -c 8 -j 2 -T "$3" -f "$script" 2>&1 |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p'
	rm "$script"
}

# What rows of the fingerprints $2 cost in the table $1, by the clock.
cost_of()
{
	ask "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY c) FROM
		(SELECT cost('$1', $2) AS c FROM generate_series(1, 20) AS n) AS s"
}
