#
# Inserting: rows a second, one session, in batches of 10,000.
# SPDX-License-Identifier: PostgreSQL
#
# The tables differ in what keeps up with their fingerprints; all have the
# same random rows in place, and a primary key.
#

sizes() { some 100000 1000000; }

INTO=into_
TABLES="nothing keys covering hamming exclusion guard guard8 btrees"

prepare()
{
	local name

	have fresh || psql -c 'CREATE SEQUENCE fresh START 1000000001'
	for name in $TABLES; do
		{
			echo "CREATE TABLE $INTO$name (id bigint PRIMARY KEY, fp bigint);
				INSERT INTO $INTO$name SELECT n, hashint8extended(n, 1)
				FROM generate_series(1, $1) AS n;"
			keep_up "$name"
		} | psql >/dev/null
	done
	psql -c VACUUM -c ANALYZE
	warm "$INTO"
}

# What keeps up with the fingerprints of a table.
keep_up()
{
	local index="CREATE INDEX ON $INTO$1"

	case $1 in
		keys | covering) echo "SELECT simhash_add_keys('$INTO$1', 'fp',
			covering => '$1' = 'covering');" ;;
		hamming) echo "$index USING hamming (fp);" ;;
		exclusion)
			echo "ALTER TABLE $INTO$1 ADD EXCLUDE USING hamming (fp WITH ~=);"
			;;
		guard) guarded guard "'reject', '3'" ;;
		guard8) guarded guard8 "'skip', '8'" ;;
		btrees)
			echo "$index (fp); $index ((fp # 1)); $index ((fp # 2));
				$index ((fp # 3));"
			;;
	esac
}

# A guard with these arguments, and the index that it asks; within 8 bits of a random
# fingerprint there is now and then a row.
guarded()
{
	echo "CREATE INDEX ON $INTO$1 USING hamming (fp);
		CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON $INTO$1
		FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', $2);"
}

insert()
{
	echo "INSERT INTO $INTO$1 (id, fp) SELECT n, hashint8extended(n, 1)
		FROM (SELECT nextval('fresh') AS n FROM generate_series(1, $2)) AS s"
}

measure()
{
	local name

	# Once to warm up, then in turn.
	for name in $TABLES; do
		psql -c "$(insert "$name" 10000)"
		method "$name" '' "$(insert "$name" 10000)" 10000
	done
	run 0 "$(fixed 5 15)"
	emit 'insert, four btrees on bigint' "$(rate btrees)" rows/s
	emit 'insert, nothing' "$(rate nothing)" rows/s \
		'four btrees' "$(rate btrees)"
	emit 'insert, key columns' "$(rate keys)" rows/s \
		'four btrees' "$(rate btrees)"
	emit 'insert, key columns, covering' "$(rate covering)" rows/s \
		'four btrees' "$(rate btrees)"
	emit 'insert, hamming index' "$(rate hamming)" rows/s \
		'four btrees' "$(rate btrees)"
	emit 'insert, exclusion constraint' "$(rate exclusion)" rows/s \
		'four btrees' "$(rate btrees)" \
		"$([ "$1" -lt 1000000 ] || echo 'ratio >= 0.5')"
	emit 'insert, guard' "$(rate guard)" rows/s 'four btrees' "$(rate btrees)"
	emit 'insert, guard within 3' "$(rate guard)" rows/s 'hamming index' "$(rate hamming)"
	emit 'insert, guard within 8' "$(rate guard8)" rows/s 'hamming index' "$(rate hamming)"
	for name in hamming guard; do
		one_transaction "$1" "$name"
	done
}

rate() { calc "1e6 / ${us[$1]}"; }

# As many rows as there are, by one statement into a table: does it slow down
# as it goes, and more so with the guard than without?
one_transaction()
{
	local first last

	psql -c "ALTER TABLE $INTO$2 ADD at timestamptz" \
		-c "INSERT INTO $INTO$2
			SELECT 2000000000 + n, hashint8extended(-n, 1), clock_timestamp()
			FROM generate_series(1, $1) AS n"
	first=$(tenth "$1" 1 "$2") last=$(tenth "$1" 10 "$2")
	emit "one transaction of $1 rows, $2, first tenth" "$first" rows/s
	emit "one transaction of $1 rows, $2, last tenth" "$last" rows/s \
		'first tenth' "$first"
}

# The rate at which the tenth numbered $2 of $1 rows went into the table $3.
tenth()
{
	ask "SELECT round($1 / 10 / extract(epoch FROM max(at) - min(at)))
		FROM $INTO$3 WHERE id BETWEEN 2000000000 + ($2 - 1) * $1 / 10 + 1
		AND 2000000000 + $2 * $1 / 10"
}
