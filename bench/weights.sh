#
# Weights: simhash_tfidf(document, idf), of all features and of the top k,
# beside simhash(document, profile).
# SPDX-License-Identifier: PostgreSQL
#
# Documents are pieces of the licences of data/, of 70 characters ("short") or
# 2,000 ("medium"), and twice as many of 2,000 whose words are drawn at random from
# them ("random"), in which hardly any pair of words comes twice: each feature
# is looked up at a place of its own.  No text that people write is harder on
# the processor's cache.  The values of simhash_idf are learnt from all three
# ("large", about a million features) or from one document in a hundred of each
# ("small", ten to twenty thousand).
#
# No document comes twice in a row, so that none is remembered.
#

sizes() { echo 0; }

prepare()
{
	psql -v step="$(fixed 5 1)" <<-'END'
		CREATE TABLE texts (id text, body text);
		\copy texts FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
		CREATE FUNCTION pieces(length int)
		RETURNS TABLE (n bigint, body text) LANGUAGE sql AS $$
			SELECT row_number() OVER (ORDER BY id, i),
				substr(body, i * length + 1, length)
			FROM texts, generate_series(0, length(body) / length - 1) AS i
		$$;
		CREATE TABLE weigh_short AS SELECT * FROM pieces(70) WHERE n % :step = 0;
		CREATE TABLE weigh_medium (n bigint, body text);
		CREATE TABLE weigh_random (LIKE weigh_medium);
		ALTER TABLE weigh_medium ALTER body SET STORAGE PLAIN;
		ALTER TABLE weigh_random ALTER body SET STORAGE PLAIN;
		INSERT INTO weigh_medium SELECT * FROM pieces(2000) WHERE n % :step = 0;
		CREATE TABLE vocabulary AS
		SELECT row_number() OVER (ORDER BY word COLLATE "C") - 1 AS place, word
		FROM (SELECT DISTINCT unnest(regexp_split_to_array(lower(body),
			'[^a-z]+')) AS word FROM texts) AS w WHERE word <> '';
		ANALYZE vocabulary;
		INSERT INTO weigh_random
		SELECT n, left(string_agg(word, ' ' ORDER BY i), 2000)
		FROM (SELECT n FROM weigh_medium UNION ALL
				SELECT -n FROM weigh_medium) AS m,
			generate_series(1, 320) AS i, vocabulary
		WHERE place = (hashint8extended(n, i) & 2147483647)
			% (SELECT count(*) FROM vocabulary) GROUP BY n;
		CREATE TABLE idfs AS
		SELECT profile, size, simhash_idf_agg(body, profile) AS idf
		FROM (TABLE weigh_short UNION ALL TABLE weigh_medium UNION ALL
				TABLE weigh_random) AS d,
			unnest('{word-2-capped,word-1-2}'::text[]) AS profile,
			(VALUES ('small', 100), ('large', 1)) AS s (size, part)
		WHERE n / :step % part = 0
		GROUP BY profile, size;
		DROP TABLE texts, vocabulary;
		VACUUM ANALYZE weigh_short;
		VACUUM ANALYZE weigh_medium;
		VACUUM ANALYZE weigh_random;
	END
}

measure()
{
	local table profile size

	for table in short medium random; do
		for profile in word-2-capped word-1-2; do
			over $table $profile 'simhash' "simhash(body, '$profile')"
			for size in small large; do
				over $table $profile "idf, $size" \
					"simhash_tfidf(body, ($(idf $profile $size)))"
				over $table $profile "idf, $size, top 20" \
					"simhash_tfidf(body, ($(idf $profile $size)), 20)"
			done
		done
	done
	run 0 "$(fixed 3 9)"
	for table in short medium random; do
		for profile in word-2-capped word-1-2; do
			emit "$table, $profile, simhash" \
				"${us[$table $profile simhash]}" us
			for size in small large; do
				result $table $profile "idf, $size"
				result $table $profile "idf, $size, top 20"
			done
		done
	done
}

# The idf by a profile, of a size.
idf() { echo "SELECT idf FROM idfs WHERE (profile, size) = ('$1', '$2')"; }

# A method: $4 of all documents of a table, by a profile.
over()
{
	method "$1 $2 $3" '' "SELECT count($4) FROM weigh_$1" \
		"$(ask "SELECT count(*) FROM weigh_$1")"
}

# The row of a method; what people write has to meet the bar.
result()
{
	local bar='ratio <= 3'

	[ "$1" != random ] || bar=
	emit "$1, $2, $3" "${us[$1 $2 $3]}" us 'simhash' \
		"${us[$1 $2 simhash]}" "$bar"
}
