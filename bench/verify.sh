#
# Clusters whose documents are compared, beside fingerprints alone.
# SPDX-License-Identifier: PostgreSQL
#
# Documents are of twenty sentences, 2 kB; one of ten is another one with a
# sentence exchanged.  A crowd is of rows all within 8 bits of each other, of 40
# texts of 300 words, in which two or so differ, as in a campaign; the same rows spread
# out have their fingerprints moved by text.  (Where five words differ, most rows stay, and
# the comparisons with these take minutes.)
# Forms are 300 words, of which 226 are the same in all, with fingerprints within 8
# bits of each other; ten times as many are the same again.  Strangers are 300 words
# of their own, and have one fingerprint.  Short
# rows are of a dozen words, one of twenty the same as another, and pages of ten
# documents, one of ten of them with a sentence more.
#

sizes() { some 20000 1000000; }

SENTENCES=100000
STRANGERS=5000
SHORT=2000

# What PostgreSQL has where nothing is set, of the settings that the bench has changed.
DEFAULTS="SET jit = on; SET maintenance_work_mem = '64MB';
	SET max_parallel_workers_per_gather = 2; SET max_parallel_maintenance_workers = 2;"

prepare()
{
	psql -v rows="$1" -v sentences=$SENTENCES -v crowd="$(crowd "$1")" \
		-v forms="$(forms "$1")" -v strangers=$STRANGERS -v short=$SHORT <<-'END'
		-- of letters: rows that differ in digits alone stay for a doubt
		CREATE FUNCTION word(n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS
		$$ SELECT 'w' || translate(n::text, '0123456789-', 'ghijklmnopq') $$;
		CREATE TABLE sentences AS SELECT n, (
			SELECT string_agg(word(hashint8extended(n * 16 + i, 5) & 32767), ' ')
			FROM generate_series(1, 16) AS i) AS sentence
		FROM generate_series(0, :sentences - 1) AS n;
		CREATE TABLE texts AS
		SELECT id, string_agg(sentence, ' ' ORDER BY i) AS body
		FROM (SELECT id, i, (hashint8extended(seed * 20 + i, 6) & 2147483647)
				% :sentences AS n
			FROM generate_series(1, :rows::bigint) AS id, generate_series(0, 19) AS i,
				LATERAL (SELECT CASE WHEN id % 10 = 0 AND i <> id / 10 % 20
					THEN id - 1 - id / 10 % 7 ELSE id END AS seed) AS s) AS p
		JOIN sentences USING (n) GROUP BY id;
		ALTER TABLE texts ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED,
			ADD PRIMARY KEY (id);
		CREATE TABLE crowd AS
		SELECT id, bit_xor(1::bigint << (hashint8extended(id, i) & 63)::int)
				FILTER (WHERE i <= 4) AS fp, hashint8extended(id % 40, 9) AS away,
			string_agg(word(hashint8extended(CASE WHEN
				(hashint8extended(id, i) & 127) = 0 THEN id * 1000 ELSE id % 40 END
				* 1000 + i, 7) & 32767), ' ' ORDER BY i) AS body
		FROM generate_series(1, :crowd::bigint) AS id, generate_series(1, 300) AS i
		GROUP BY id;
		CREATE TABLE forms AS
		SELECT id, bit_xor(1::bigint << (hashint8extended(id, i) & 63)::int)
				FILTER (WHERE i <= 4) AS fp,
			string_agg(word(CASE WHEN i <= 226 THEN i ELSE
				hashint8extended(id * 1000 + i, 7) END), ' ' ORDER BY i) AS body
		FROM generate_series(1, 10 * :forms::bigint) AS id,
			generate_series(1, 300) AS i GROUP BY id;
		CREATE TABLE strangers AS
		SELECT id, 7::bigint AS fp,
			string_agg(word(hashint8extended(id * 1000 + i, 7)), ' ') AS body
		FROM generate_series(1, :strangers) AS id, generate_series(1, 300) AS i
		GROUP BY id;
		CREATE TABLE short AS
		SELECT id, (SELECT string_agg(word(hashint8extended(n * 16 + i, 5) & 32767), ' ')
			FROM generate_series(1, 12) AS i) AS body
		FROM generate_series(1, :short) AS id,
			LATERAL (SELECT id - (id % 20 = 0)::int AS n) AS n;
		CREATE TABLE pages AS
		SELECT id / 10 AS id, string_agg(body, ' ' ORDER BY id) AS body
		FROM texts WHERE id < 200000 GROUP BY 1;
		INSERT INTO pages
		SELECT -id - 1, body || (SELECT ' ' || sentence FROM sentences WHERE n = id)
		FROM pages WHERE id % 10 = 0;
		ALTER TABLE short ADD PRIMARY KEY (id),
			ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED;
		ALTER TABLE pages ADD PRIMARY KEY (id),
			ADD fp bigint GENERATED ALWAYS AS (minhash(body)) STORED;
		VACUUM ANALYZE short, pages;
		VACUUM ANALYZE texts;
		VACUUM ANALYZE crowd, forms, strangers;
	END
	warm texts
	warm crowd
	warm forms
	warm strangers
}

# How many rows are in the crowd.
crowd() { calc "$1 / 10"; }

# How many forms there are at first.
forms() { calc "int($1 * 3 / 100)"; }

measure()
{
	local settings='SET maintenance_work_mem = 1000000;' both

	method minhash '' 'SELECT count(minhash(body)) FROM texts' 1
	method near "$settings" "$(clusters 'id, fp' texts NULL)" 1
	method verified "$settings" "$(clusters 'id, fp, body' texts "'body'")" 1
	method report "$settings" "SELECT count(*) FROM simhash_report('texts', 'fp', 8)" 1
	method plan "$settings" "SELECT count(*) FROM simhash_dedup_plan('texts', 'fp')" 1
	method crowd "$settings" "$(clusters 'id, fp, body' crowd "'body'")" 1
	method spread "$settings" "$(clusters 'id, fp # away, body' crowd "'body'")" 1
	method forms "$settings" "SELECT count(*) FROM simhash_clusters(
		'SELECT id, fp, body FROM forms WHERE id <= $(forms "$1")', 8,
		document => 'body')" 1
	method more "$settings" "SELECT count(*) FROM simhash_clusters(
		'SELECT id, fp, body FROM forms', 8, document => 'body')" 1
	method strangers "$settings" "SELECT count(*) FROM simhash_pairs(
		'SELECT id, fp, body FROM strangers', 0, 'body')" 1
	run 0 3
	both=$(calc "(${us[minhash]} + ${us[near]}) / 1e6")
	emit 'minhash(body) of all rows' "$(calc "${us[minhash]} / 1e6")" s
	emit 'clusters, star, k=8, by fingerprints' "$(calc "${us[near]} / 1e6")" s
	emit 'clusters, star, k=8, documents compared' \
		"$(calc "${us[verified]} / 1e6")" s 'both of these' "$both" 'ratio <= 2'
	emit 'report, k=8, documents compared' "$(calc "${us[report]} / 1e6")" s \
		'both of these' "$both" 'ratio <= 2'
	emit 'plan of what is to go' "$(calc "${us[plan]} / 1e6")" s \
		'both of these' "$both" 'ratio <= 2.2'
	emit "crowd of $(crowd "$1"), documents compared" \
		"$(calc "${us[crowd]} / 1e6")" s 'spread out' \
		"$(calc "${us[spread]} / 1e6")" 'ratio <= 3'
	emit "$(forms "$1") forms, documents compared" "$(calc "${us[forms]} / 1e6")" s \
		'' '' 'figure <= 10'
	emit "$((10 * $(forms "$1"))) forms, documents compared" \
		"$(calc "${us[more]} / 1e6")" s 'a tenth of them' \
		"$(calc "${us[forms]} / 1e6")" 'ratio <= 15'
	emit "$STRANGERS texts of one fingerprint, compared" \
		"$(calc "${us[strangers]} / 1e6")" s '' '' 'figure <= 1'

	method compiled "$DEFAULTS" "$(often report short 20)" 20
	method report '' "$(often report short 20)" 20
	method plan '' "$(often dedup_plan short 20)" 20
	method 'pages compiled' "$DEFAULTS" "$(often report pages 1)" 1
	method 'pages report' "$settings" "$(often report pages 1)" 1
	method 'pages plan' "$settings" "$(often dedup_plan pages 1)" 1
	run 0 3
	emit "report of $SHORT short rows, the server's defaults" "${us[compiled]}" us \
		'no JIT' "${us[report]}" 'ratio <= 1.1'
	emit "report of $SHORT short rows" "${us[report]}" us 'plan' "${us[plan]}" 'ratio <= 1.5'
	emit "report of pages of 20 kB, the server's defaults" "$(calc "${us[pages compiled]} / 1e6")" s \
		'no JIT' "$(calc "${us[pages report]} / 1e6")" 'ratio <= 1.1'
	emit 'report of pages of 20 kB' "$(calc "${us[pages report]} / 1e6")" s \
		'plan' "$(calc "${us[pages plan]} / 1e6")" 'ratio <= 1.5'
	psql -c 'DROP TABLE texts, crowd, forms, strangers, sentences, short, pages' \
		-c 'DROP FUNCTION word'
}

# The rows of simhash_$1 of a table, by so many statements, each planned anew.
often()
{
	echo "DO \$\$ BEGIN FOR i IN 1 .. $3 LOOP
		EXECUTE 'SELECT count(r) FROM simhash_$1(''$2'', ''fp'', 8) AS r';
		END LOOP; END \$\$"
}

# The call for the columns $1 of a table, with the document $3.
clusters()
{
	echo "SELECT count(*) FROM simhash_clusters('SELECT $1 FROM $2', 8, 'star',
		document => $3)"
}
