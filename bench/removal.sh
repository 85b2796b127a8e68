#
# A plan carried out, and taken back, beside the two statements that are the least.
# SPDX-License-Identifier: PostgreSQL
#
# One document of ten has a copy, of 1 kB each; three rows of another table refer to
# each document.  The least is one UPDATE of those that refer to a copy and one DELETE
# of the copies, of which nothing is logged, compared again or locked beforehand; it
# is also what a removal without children is measured beside.
#

sizes() { some 10000 200000; }

prepare()
{
	psql -v rows="$1" <<-'END'
		SET client_min_messages = warning;
		CREATE TABLE kept_docs AS SELECT n AS id, (
			SELECT string_agg('w' || translate(hashint8extended(d * 150 + i, 5)::text,
				'-0123456789', 'xabcdefghij'), ' ') FROM generate_series(1, 50) AS i) AS body
		FROM generate_series(1, :rows::bigint) AS n,
			LATERAL (SELECT n - (n % 10 = 0)::int AS d) AS d;
		CREATE TABLE kept_likes AS SELECT n AS id, n % :rows + 1 AS doc
		FROM generate_series(1, 3 * :rows::bigint) AS n;
		CREATE PROCEDURE make_docs(children boolean) LANGUAGE plpgsql AS $$ BEGIN
			DROP TABLE IF EXISTS likes, docs_plan, docs_log, docs_log_likes_1;
			DROP TABLE IF EXISTS removal_docs;
			CREATE TABLE removal_docs (id bigint PRIMARY KEY, body text,
				fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
			INSERT INTO removal_docs SELECT * FROM kept_docs;
			IF children THEN
				CREATE TABLE likes AS TABLE kept_likes;
				ALTER TABLE likes ADD PRIMARY KEY (id);
				CREATE INDEX ON likes (doc);
				ALTER TABLE likes ADD FOREIGN KEY (doc) REFERENCES removal_docs;
			END IF;
			CREATE TABLE docs_plan AS SELECT * FROM simhash_dedup_plan('removal_docs', 'fp');
			ANALYZE removal_docs, docs_plan;
		END $$;
	END
}

# Tables as they are before a removal, with rows that refer to them or without, and
# what else has to be there.
ready()
{
	echo "SET client_min_messages = warning; CALL make_docs($1); CHECKPOINT; ${2:-}"
}

# The least that takes the copies away, with rows that refer to them or without.
least()
{
	echo "DO \$\$ BEGIN IF $1 THEN UPDATE likes SET doc = kept[1]::bigint FROM docs_plan
		WHERE doc = gone[1]::bigint; END IF;
		DELETE FROM removal_docs USING docs_plan WHERE id = gone[1]::bigint; END \$\$"
}

apply() { echo "CALL simhash_dedup_apply('removal_docs', 'docs_plan', log => 'docs_log'$1)"; }

measure()
{
	local gone with=", children => 'move'" undo="CALL simhash_dedup_undo('removal_docs',
		'docs_plan', 'docs_log')"

	psql -c 'SET client_min_messages = warning' -c 'CALL make_docs(true)'
	gone=$(ask 'SELECT count(*) FROM docs_plan')
	method 'least, alone' "$(ready false)" "$(least false)" "$gone"
	method 'removal, alone' "$(ready false)" "$(apply '')" "$gone"
	method least "$(ready true)" "$(least true)" "$gone"
	method removal "$(ready true)" "$(apply "$with")" "$gone"
	method undo "$(ready true "$(apply "$with");")" "$undo" "$gone"
	run 0 3
	emit "removal of $gone rows" "${us['removal, alone']}" us \
		'one DELETE' "${us['least, alone']}"
	emit "removal of $gone rows, three to move for each" "${us[removal]}" us \
		'one UPDATE and one DELETE' "${us[least]}"
	emit "$gone rows put back, three moved for each" "${us[undo]}" us \
		'removal' "${us[removal]}"
	psql -c 'DROP TABLE likes, docs_plan, docs_log, docs_log_likes_1, removal_docs' \
		-c 'DROP TABLE kept_docs, kept_likes' -c 'DROP PROCEDURE make_docs'
}
