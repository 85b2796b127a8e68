#
# Eight clients that insert one row after another, by pgbench.
# SPDX-License-Identifier: PostgreSQL
#
# Random fingerprints, so that rows hardly ever conflict; each row is a
# transaction.  fsync is off: what is measured is work, not the disk.
#

sizes() { some 100000 1000000; }

. bench/insert.sh
INTO=clients_
TABLES="nothing hamming exclusion guard"

measure()
{
	local name r seconds rounds
	local -A found=()

	seconds=$(fixed 1 5) rounds=$(fixed 2 4)
	for ((r = 0; r < rounds; r++)); do
		for name in $TABLES; do
			found[$name]+="$(one_client_run "$name" "$seconds") "
		done
	done
	for name in $TABLES; do
		found[$name]=$(printf '%s\n' ${found[$name]} | median)
	done
	emit '8 clients, hamming index alone' "${found[hamming]}" rows/s
	emit '8 clients, exclusion constraint' "${found[exclusion]}" rows/s \
		'hamming index alone' "${found[hamming]}"
	emit '8 clients, guard' "${found[guard]}" rows/s \
		'hamming index alone' "${found[hamming]}"
	emit '8 clients, no index on fp' "${found[nothing]}" rows/s \
		'hamming index alone' "${found[hamming]}"
}

# Rows a second that eight clients insert for $2 seconds.
one_client_run()
{
	local script

	script=$(mktemp)
	cat >"$script" <<-END
		INSERT INTO $INTO$1 SELECT n, hashint8extended(n, 1)
		FROM nextval('fresh') AS n;
	END
	pgbench -n -M prepared -c 8 -j 2 -T "$2" -f "$script" 2>&1 |
		sed -n 's/^tps = \([0-9.]*\).*/\1/p'
	rm "$script"
}
