#
# A guard that compares documents, beside one that does not.
# SPDX-License-Identifier: PostgreSQL
#
# The rows are the licences of data/, 6.9 kB each, and copies of them without one of
# their sentences, twenty of each; the new rows are more such copies.  So dozens of rows
# are within 8 bits of a new one, and some of these are alike.
#

sizes() { some 2900 14500; }

NEW=300

prepare()
{
	psql -v rows="$1" -v new=$NEW <<-'END'
		CREATE TABLE licences (name text, body text);
		\copy licences FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
		CREATE TABLE copies AS
		SELECT row_number() OVER (ORDER BY version, name) AS id,
			(SELECT string_agg(sentence, '. ' ORDER BY i)
			FROM unnest(sentences) WITH ORDINALITY AS s (sentence, i)
			WHERE version = 0 OR i <> 1 + (hashtextextended(name, version) & 1023)
				% greatest(cardinality(sentences), 2)) AS body
		FROM licences, string_to_array(body, '. ') AS sentences,
			generate_series(0, (:rows + :new) / 725) AS version;
		CREATE TABLE guarded (id bigint PRIMARY KEY, near bigint, body text,
			fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
		INSERT INTO guarded (id, body) SELECT id, body FROM copies WHERE id <= :rows;
		CREATE INDEX ON guarded USING hamming (fp);
		CREATE TABLE arrivals AS
		SELECT id, body FROM copies WHERE id > :rows ORDER BY id LIMIT :new;
		DROP TABLE licences, copies;
		VACUUM ANALYZE;
	END
	warm guarded
}

# Guard, by an action $1 and options $2, in a transaction to be rolled back.
guarded()
{
	echo "ROLLBACK; VACUUM guarded; BEGIN;
		CREATE TRIGGER guard BEFORE INSERT ON guarded FOR EACH ROW
		EXECUTE FUNCTION simhash_guard('fp', '$1', '8'$2);"
}

# Insert the new rows, each whatever becomes of the others where $1 rejects.
arrive()
{
	if [ "$1" = reject ]; then
		echo 'DO $$ DECLARE r record; BEGIN FOR r IN SELECT id, body FROM arrivals LOOP
			BEGIN INSERT INTO guarded (id, body) VALUES (r.id, r.body);
			EXCEPTION WHEN exclusion_violation THEN NULL; END; END LOOP; END $$'
	else
		echo 'INSERT INTO guarded (id, body) SELECT id, body FROM arrivals'
	fi
}

measure()
{
	local action options

	for action in mark reject skip; do
		options=
		[ $action = mark ] && options=", 'mark=near'"
		method "$action" "$(guarded $action "$options")" "$(arrive $action)" $NEW
		method "$action alike" "$(guarded $action "$options, 'similarity=alike'")" \
			"$(arrive $action)" $NEW
	done
	run 0 5
	for action in mark reject skip; do
		emit "guard, $action, k=8, documents compared" "${us[$action alike]}" us 'not compared' \
			"${us[$action]}" "ratio <= $([ $action = skip ] && echo 6 || echo 3)"
	done
	psql -c 'DROP TABLE guarded, arrivals'
}
