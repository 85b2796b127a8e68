#
# Look-ups in partitioned tables, and rows that a guard lets into them, beside
# the same rows in one table.
# SPDX-License-Identifier: PostgreSQL
#
# The rows are spread by the hash of a site, of which there are 1,024, so that
# a search may name the site and read one partition.
#

sizes() { some 100000 1000000; }

PARTITIONS="1 16 24 64 256"

prepare()
{
	local parts

	have fresh || psql -c 'CREATE SEQUENCE fresh START 1000000001'
	psql <<-'END'
		-- Searches that are planned one by one.
		CREATE FUNCTION planned(name text, times bigint, condition text)
		RETURNS void LANGUAGE plpgsql AS $$
		BEGIN
			FOR i IN 1 .. times LOOP
				EXECUTE format('SELECT id FROM %I WHERE fp ~= %s ', name,
					hashint8extended(i, 2)) || condition;
			END LOOP;
		END $$;
	END
	for parts in $PARTITIONS; do
		psql -v rows="$1" -v parts="$parts" -v name="parts_$parts" \
			-v generic="generic_$parts" -v pruned="pruned_$parts" <<-'END'
			CREATE TABLE :name (id bigint, site int, fp bigint)
			PARTITION BY HASH (site);
			SELECT format('CREATE TABLE %1$s_%2$s PARTITION OF %1$s
				FOR VALUES WITH (MODULUS %3$s, REMAINDER %2$s)', :'name', n, :parts)
			FROM generate_series(0, :parts - 1) AS n \gexec
			INSERT INTO :name SELECT n, n % 1024, hashint8extended(n, 1)
			FROM generate_series(1, :rows::bigint) AS n;
			CREATE INDEX ON :name USING hamming (fp);
			CREATE TRIGGER guard BEFORE INSERT ON :name FOR EACH ROW
			EXECUTE FUNCTION simhash_guard('fp', 'reject', '3');
			VACUUM ANALYZE :name;
			-- Those of one plan.
			SELECT format('CREATE FUNCTION %1$s(times bigint) RETURNS void
				LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
				DECLARE found bigint;
				BEGIN FOR i IN 1 .. times LOOP
					SELECT id INTO found FROM %2$s
					WHERE fp ~= hashint8extended(i, 2) %3$s;
				END LOOP; END $$', function, :'name', condition)
			FROM (VALUES (:'generic', ''), (:'pruned', 'AND site = i % 1024'))
				AS f (function, condition) \gexec
		END
	done
	# What a btree takes for the same.
	psql <<-'END'
		CREATE INDEX ON parts_24 (id);
		CREATE FUNCTION equal_24(times bigint) RETURNS void
		LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
		DECLARE found bigint;
		BEGIN FOR i IN 1 .. times LOOP
			SELECT site INTO found FROM parts_24 WHERE id = i * 7;
		END LOOP; END $$;
	END
	warm parts_
}

measure()
{
	local parts what

	for parts in $PARTITIONS; do
		method "$parts, planned each time" '' \
			"SELECT planned('parts_$parts', :n, '')"
		method "$parts, generic plan" '' "SELECT generic_$parts(:n)"
		method "$parts, partition named, planned each time" '' \
			"SELECT planned('parts_$parts', :n, 'AND site = 7')"
		method "$parts, partition named, generic plan" '' \
			"SELECT pruned_$parts(:n)"
		method "$parts, many in one statement" "$BITMAP" \
			"SELECT count(*) FROM generate_series(1, :n) AS i, LATERAL
			(SELECT id FROM parts_$parts
			WHERE fp ~= hashint8extended(i, 2) OFFSET 0) AS s"
	done
	method 'btree' '' 'SELECT equal_24(:n)'
	run "$(fixed 0.2 2)" 5
	emit 'look-up, partitions: 24, generic plan, beside a btree' "${us[24, generic plan]}" us \
		'btree by =' "${us[btree]}" 'ratio <= 1.5'
	for parts in $PARTITIONS; do
		for what in 'planned each time' 'generic plan' 'many in one statement' \
			'partition named, planned each time' \
			'partition named, generic plan'; do
			emit "look-up, partitions: $parts, $what" \
				"${us[$parts, $what]}" us "1, $what" "${us[1, $what]}"
		done
	done

	for parts in $PARTITIONS; do
		method "$parts" '' "INSERT INTO parts_$parts
			SELECT n, n % 1024, hashint8extended(n, 1) FROM (SELECT
			nextval('fresh') AS n FROM generate_series(1, :n)) AS s" 10000
	done
	run 0 "$(fixed 3 9)"
	for parts in $PARTITIONS; do
		emit "insert, guard, partitions: $parts" "${us[$parts]}" us \
			'1 partition' "${us[1]}"
	done
}
