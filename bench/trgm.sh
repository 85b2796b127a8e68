#
# Near-duplicates by pg_trgm's similarity, with a GIN index, beside fingerprints.
# SPDX-License-Identifier: PostgreSQL
#
# Texts are pieces of the licences of data/: of 2,000 characters, and of 70, the
# length of a title, of which there are 20,000 at most.  Asked are light edits
# of a hundred of them, by bench/edits.c; in short ones a character or a word is
# changed.  The recall is the share of the edits for which the text that they
# were made of is found, and beside it stands how many rows a look-up finds.
# Both ways begin with the text: the fingerprint's time is counted.
#

sizes() { echo 0; }

prepare()
{
	local kind

	offers pg_trgm || return 0
	psql <<-'END'
		CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
		CREATE TABLE licences (id text, body text);
		\copy licences FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
		CREATE FUNCTION pieces(size int, most int) RETURNS TABLE (body text)
		LANGUAGE sql AS $$
			SELECT DISTINCT substr(body, i * size + 1, size) COLLATE "C"
			FROM licences,
				LATERAL generate_series(0, length(body) / size - 1) AS i
			ORDER BY 1 LIMIT most
		$$;
		CREATE TABLE trgm_long AS SELECT row_number() OVER ()::int AS id, body,
			minhash(body) AS fp FROM pieces(2000, NULL);
		CREATE TABLE trgm_short AS SELECT row_number() OVER ()::int AS id, body,
			minhash(body) AS fp, minhash(body, 'char-4') AS fp_char
		FROM pieces(70, 20000);
		CREATE TABLE edited (id int, edit text, light boolean, body text);
		CREATE TABLE edits (kind text, id int, body text, n bigint);
		DROP TABLE licences;
		CREATE INDEX long_fp ON trgm_long USING hamming (fp);
		CREATE INDEX short_fp ON trgm_short USING hamming (fp);
		CREATE INDEX short_fp_char ON trgm_short USING hamming (fp_char);
	END
	make -s bench/edits.run
	for kind in long short; do
		psql -At -c "SELECT id || E'\t' || octet_length(body) || E'\n' || body
			FROM (SELECT * FROM trgm_$kind ORDER BY md5(body) LIMIT 100) AS a" |
			bench/edits.run show | psql -c 'TRUNCATE edited' -c 'COPY edited FROM STDIN' \
			-c "INSERT INTO edits SELECT '$kind', id,
				convert_from(decode(body, 'hex'), 'UTF8'), row_number() OVER ()
				FROM edited WHERE CASE '$kind' WHEN 'long' THEN light
					ELSE edit IN ('words', 'characters') END"
		psql -c "CREATE INDEX ${kind}_trgm ON trgm_$kind
			USING gin (body gin_trgm_ops)" -c "VACUUM ANALYZE trgm_$kind"
		warm trgm_$kind
		warm ${kind}_
	done
	psql -c 'VACUUM ANALYZE edits'
}

measure()
{
	local kind

	if ! offers pg_trgm; then
		skip 'pg_trgm' 'install the extension pg_trgm'
		return
	fi
	for kind in long short; do
		compare $kind
	done
}

# Look-ups of a kind of texts, by both ways.
compare()
{
	local i way texts
	local -a ways=() set=() where=()

	for i in 8 12; do
		ways+=("minhash, k=$i")
		set+=("$INDEX")
		where+=("t.fp <@ (minhash(q.body), $i)")
	done
	if [ "$1" = short ]; then
		ways+=("minhash of char-4, k=12")
		set+=("$INDEX")
		where+=("t.fp_char <@ (minhash(q.body, 'char-4'), 12)")
	fi
	for i in 0.9 0.8 0.6; do
		# Of long texts nearly all would be candidates.
		[ "$1,$i" != long,0.6 ] || continue
		ways+=("pg_trgm, similarity $i")
		set+=("$BITMAP SET pg_trgm.similarity_threshold = $i;")
		where+=("t.body % q.body")
	done
	for i in "${!ways[@]}"; do
		method "${ways[i]}" "${set[i]}" "SELECT count(s.id)
			FROM (SELECT * FROM edits WHERE kind = '$1' ORDER BY n LIMIT :n)
			AS q, LATERAL (SELECT id FROM trgm_$1 AS t WHERE ${where[i]} OFFSET 0) AS s"
	done
	run "$(fixed 0.1 0.7)" "$(fixed 3 5)" 100
	texts=$(ask "SELECT count(*) FROM trgm_$1")
	for i in "${!ways[@]}"; do
		way=${ways[i]}
		emit "$1, $texts texts, $way" "${us[$way]}" us \
			'minhash, k=8' "${us["minhash, k=8"]}"
		share "$1" "$way" "${set[i]}" "${where[i]}"
	done
	emit "$1, size, hamming index" "$(size "${1}_fp" "trgm_$1")" bytes/row
	emit "$1, size, GIN index of trigrams" "$(size "${1}_trgm" "trgm_$1")" bytes/row
}

size() { ask "SELECT pg_relation_size('$1') / count(*)::float8 FROM $2"; }

# What share of the edits is found in this way, and among how many rows.
share()
{
	local found

	found=$(psql -At <<-END
		$3
		SELECT avg(here::int), avg(rows) FROM (
			SELECT count(s.id) AS rows,
				coalesce(bool_or(s.id = q.id), false) AS here
			FROM (SELECT * FROM edits WHERE kind = '$1' ORDER BY n
				LIMIT $(fixed 60 600)) AS q LEFT JOIN
				LATERAL (SELECT id FROM trgm_$1 AS t WHERE $4 OFFSET 0) AS s ON true
			GROUP BY q.n) AS f;
	END
	)
	emit "$1, recall, $2" "${found%|*}" share
	emit "$1, rows found, $2" "${found#*|}" rows
}
