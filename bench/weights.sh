#
# Weights: simhash(document, idf), of all features and of the top k, beside
# simhash(document, profile).
# SPDX-License-Identifier: PostgreSQL
#
# Documents of words drawn at random from those of the licences of data/, about
# 70 characters ("short") or 2 kB ("medium").  Hardly any pair of words comes
# twice, so that most features are looked up at a place of their own: no text
# that people write is harder on the processor's cache.  The values of
# simhash_idf are learnt from these documents ("large", some 1.2 million
# features by pairs of words) or from one in a hundred ("small").
#
# No document comes twice in a row, so that none is remembered.
#

sizes() { echo 0; }

prepare()
{
	psql -v short="$(fixed 12000 60000)" -v medium="$(fixed 400 2000)" <<-'END'
		CREATE TABLE texts (id text, body text);
		\copy texts FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
		CREATE TABLE vocabulary AS
		SELECT row_number() OVER (ORDER BY word COLLATE "C") - 1 AS place, word
		FROM (SELECT DISTINCT unnest(regexp_split_to_array(lower(body),
			'[^a-z]+')) AS word FROM texts) AS w WHERE word <> '';
		ANALYZE vocabulary;
		CREATE FUNCTION documents(first int, last int, words int, length int)
		RETURNS TABLE (n int, body text) LANGUAGE sql AS $$
			SELECT n, left(string_agg(word, ' ' ORDER BY i), length)
			FROM generate_series(first, last) AS n,
				generate_series(1, words) AS i, vocabulary
			WHERE place = (hashint8extended(n, i) & 2147483647)
				% (SELECT count(*) FROM vocabulary) GROUP BY n
		$$;
		CREATE TABLE short AS
		SELECT * FROM documents(1, :short, 12, 70);
		CREATE TABLE medium (n int, body text);
		ALTER TABLE medium ALTER body SET STORAGE PLAIN;
		INSERT INTO medium SELECT * FROM documents(1 - :medium, 0, 320, 2000);
		CREATE TABLE idfs AS
		SELECT profile, size, simhash_idf_agg(body, profile) AS idf
		FROM (TABLE short UNION ALL TABLE medium) AS documents,
			unnest('{word-2,word-1-2}'::text[]) AS profile,
			(VALUES ('small', 100), ('large', 1)) AS s (size, step)
		WHERE n % step = 0
		GROUP BY profile, size;
		DROP TABLE texts, vocabulary;
		VACUUM ANALYZE short;
		VACUUM ANALYZE medium;
	END
}

measure()
{
	local table profile size

	for table in short medium; do
		for profile in word-2 word-1-2; do
			over $table $profile 'simhash' "simhash(body, '$profile')"
			for size in small large; do
				over $table $profile "idf, $size" \
					"simhash(body, ($(idf $profile $size)))"
				over $table $profile "idf, $size, top 20" \
					"simhash(body, ($(idf $profile $size)), 20)"
			done
		done
	done
	run 0 "$(fixed 3 9)"
	for table in short medium; do
		for profile in word-2 word-1-2; do
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
	method "$1 $2 $3" '' "SELECT count($4) FROM $1" \
		"$(ask "SELECT count(*) FROM $1")"
}

# The row of a method.
result()
{
	emit "$1, $2, $3" "${us[$1 $2 $3]}" us 'simhash' \
		"${us[$1 $2 simhash]}" 'ratio <= 2'
}
