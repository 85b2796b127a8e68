#
# A tenth of the rows that a guarded table has, by simhash_guard_load and row by row.
# SPDX-License-Identifier: PostgreSQL
#
# One of ten is near a row that is there.  By fingerprints alone, and verified: texts of
# 24 words, the near ones with two words more.  Alone, and while three sessions insert
# rows into each of the two tables, one by one, 150 a second.  Each run has rows of its own.
#

sizes() { some 100000 1000000; }

LOADS="fp text"
ROUNDS=3

prepare()
{
	psql -v rows="$1" -v runs=$((4 * ROUNDS)) <<-'END'
		CREATE FUNCTION words(n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
			SELECT translate(regexp_replace(md5(n || 'a') || md5(n || 'b') || md5(n || 'c'),
				'(....)', '\1 ', 'g'), '0123456789', 'ghijklmnop') $$;
		CREATE TABLE load_fp (id bigint PRIMARY KEY, fp bigint);
		CREATE TABLE load_text (id bigint PRIMARY KEY, body text,
			fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
		INSERT INTO load_fp SELECT n, hashint8extended(n, 1)
		FROM generate_series(1, :rows::bigint) AS n;
		INSERT INTO load_text SELECT id, words(id) FROM load_fp;
		CREATE TABLE incoming AS SELECT run, id, hashint8extended(n, 1) # more AS fp,
			words(n) || CASE WHEN more > 0 THEN 'again today' ELSE '' END AS body
		FROM generate_series(1, :runs) AS run, generate_series(1, :rows / 10) AS i,
			LATERAL (SELECT (run * 10 + 100) * :rows::bigint + i AS id,
				CASE WHEN i % 10 = 0 THEN 4369 ELSE 0 END AS more) AS a,
			LATERAL (SELECT CASE WHEN more > 0 THEN (i * 7 + run) % :rows + 1 ELSE id END AS n) AS b;
		CREATE INDEX ON incoming (run, id);
		CREATE SEQUENCE runs_fp;
		CREATE SEQUENCE runs_text;
		CREATE INDEX ON load_fp USING hamming (fp);
		CREATE INDEX ON load_text USING hamming (fp);
		CREATE TRIGGER guard BEFORE INSERT ON load_fp FOR EACH ROW
		EXECUTE FUNCTION simhash_guard('fp', 'skip', '8');
		CREATE TRIGGER guard BEFORE INSERT ON load_text FOR EACH ROW
		EXECUTE FUNCTION simhash_guard('fp', 'skip', '8', 'similarity=alike');
		VACUUM ANALYZE load_fp, load_text, incoming;
	END
	warm load_
}

# The rows of the run at hand, for a table; with the fingerprints for a load.
rows_of()
{
	local columns='id, fp'

	[ "$1" = fp ] || columns="id, body${2:+, minhash(body) AS fp}"
	echo "SELECT $columns FROM incoming WHERE run = (SELECT last_value FROM runs_$1) ORDER BY id"
}

# Both ways, in turn.
both_ways()
{
	local what next

	for what in $LOADS; do
		next="SET maintenance_work_mem = '1GB'; SELECT nextval('runs_$what');"
		method 'row by row' "$next" "INSERT INTO load_$what $(rows_of "$what")" 1
		method 'at once' "$next" \
			"SELECT count(*) FROM simhash_guard_load('load_$what', '$(rows_of "$what" fp)')" 1
		run 0 $ROUNDS
		emit "load, $what, $2" "$(calc "${us[at once]} / 1e6")" s \
			'row by row' "$(calc "${us[row by row]} / 1e6")" \
			"$([ "$1" -lt 1000000 ] || echo 'ratio <= 1 / 7')"
	done
}

measure()
{
	local what others=

	both_ways "$1" alone
	for what in $LOADS; do
		cat >"$HOME/insert_$what" <<-END
			\\set n random(1, 1000000000000)
			INSERT INTO load_$what (id, ${what/text/body}) VALUES (-:n,
			$([ "$what" = fp ] && echo 'hashint8extended(-:n, 1)' || echo 'words(-:n)'));
		END
		pgbench -n -c 3 -R 150 -T 100000 -f "$HOME/insert_$what" >/dev/null 2>&1 &
		others="$others $!"
	done
	both_ways "$1" 'beside six sessions'
	kill $others
	wait $others || :
}
