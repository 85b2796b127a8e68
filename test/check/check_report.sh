#!/bin/bash
#
# Write pages by make report, of tables of many kinds and of none, and look at
# their data; check_page.py looks at the pages.
# SPDX-License-Identifier: PostgreSQL
#

. "$(dirname "$0")/tools.sh"
new_database check_report

psql <<-'END'
	CREATE EXTENSION simhash;
	CREATE TABLE texts (n int, body text);
	INSERT INTO texts SELECT n, (SELECT string_agg('word' || w, ' ')
	    FROM generate_series(1, 300) AS w) ||
	    ' </script><script>document.title="bad"</script> 近似' || CASE n WHEN 1 THEN '' ELSE ' more' END
	FROM generate_series(1, 4) AS n;
	INSERT INTO texts VALUES (5, 'quite another text'), (6, NULL);
END

# The data of a page, by Python's rules for JSON.
data()
{
	"$PYTHON" -c 'import json, re, sys
page = open(sys.argv[1]).read()
lines = re.search(r"id=\"data\">\n(.*)\n(.*)\n</script>", page)
data = {**json.loads(lines[1]), **json.loads(lines[2])}
assert page.rstrip().endswith("</html>")
print(eval(sys.argv[2], {"d": data}))' "$work/page.html" "$1"
}

# Write a page with the rest as make's variables, and compare what $2 says.
expect()
{
	local wanted=$1 expression=$2 got

	shift 2
	make -s report FP='simhash(body)' K=16 PAGE="$work/page.html" "$@" \
		>"$work/log" 2>&1 || fail "$*:" "$work/log"
	got=$(data "$expression")
	[ "$got" = "$wanted" ] || fail "$*: $got, not $wanted"
	rm "$work/page.html"
}

# No page, not even half of one; and what was there stays.
refuse()
{
	local message=$1

	shift
	echo before >"$work/page.html"
	! make -s report FP='simhash(body)' PAGE="$work/page.html" "$@" \
		>"$work/log" 2>&1 || fail "$*: no error"
	grep -q -- "$message" "$work/log" || fail "$*:" "$work/log"
	[ "$(cat "$work"/page.html*)" = before ] ||
		fail "$*: left $(ls "$work")"
	rm "$work/page.html"
}

ids="[m[0] for m in d['largest'][0]['members']]"
psql <<-'END'
	CREATE TABLE keyed AS SELECT n, md5(n::text)::uuid AS u, 'a "b" ''c'' ' || n AS t,
	    CASE n WHEN 3 THEN 'odd' ELSE 'even' END AS "Kind", body
	FROM texts;
	CREATE VIEW seen AS SELECT * FROM keyed;
END
expect "['1', '2', '3', '4']" "sorted($ids)" TABLE=texts ID=n
# compiled, too, as queries of that cost are on most servers
PGOPTIONS='-c jit=on -c jit_above_cost=0' \
	expect "['1', '2', '3', '4']" "sorted($ids)" TABLE=texts ID=n
# the first by the order of the type, not of its text
expect "10" "($ids)[0]" TABLE=texts ID='n + 9'
expect "6 3 1" "'%d %d %d' % (d['rows'], d['redundant'], d['clusters'])" \
	TABLE=texts ID=n
expect "eccbc87e-4b5c-e2fe-2830-8fd9f2a7baf3" "max($ids)" TABLE=keyed ID=u
expect "a \"b\" 'c' 4" "max($ids)" TABLE=keyed ID=t
expect "(4,even)" "max($ids)" TABLE=keyed ID='n, "Kind"'
expect "['1', '2', '3', '4']" "sorted($ids)" TABLE=seen ID=n
expect "x'y\"z\\\\ \$1" "d['texts'][0]['text'][:10]" TABLE=texts ID=n \
	BODY="'x''y\"z\\\\ \$\$1' || body"
expect "t" "d['table'][0]" TABLE='texts AS t' ID=t.n
# settings, which are names and values whatever is in them
expect "1MB, x'y, 2MB" "d['texts'][0]['text']" TABLE=texts ID=n \
	SET="work_mem=1MB; check.report = x'y ;maintenance_work_mem=2MB;" \
	BODY="concat_ws(', ', current_setting('work_mem'), current_setting('check.report'),
		current_setting('maintenance_work_mem'))"
refuse 'unrecognized configuration parameter "nonesuch"' TABLE=texts ID=n SET='nonesuch=1'
refuse "invalid value for parameter \"work_mem\": \"1', false)" TABLE=texts ID=n \
	SET="work_mem=1', false)"
refuse 'usage: DB='
refuse 'column "nonesuch" does not exist' TABLE=texts ID=nonesuch
refuse 'is of type text, not bigint or bit' TABLE=texts ID=n FP=body
refuse 'must be a fingerprint, of type bigint' TABLE=seen ID=n FP=body
refuse 'argument "k" is 17' TABLE=texts ID=n K=17
refuse 'invalid input syntax for type bigint' TABLE=texts ID=n K='3) OR (1'
refuse 'more than once' TABLE=texts ID=0
refuse 'division by zero' TABLE=texts ID=n BODY='(1 / (n - 1))::text'

# what is compared: the document that the fingerprint is of, or that is named
psql <<-'END'
	CREATE TABLE odd (n int, "a'\ "", document => 'x'::pg_catalog.text" text,
	    fp bigint GENERATED ALWAYS AS
	        (minhash("a'\ "", document => 'x'::pg_catalog.text", 'word-1')) STORED);
	INSERT INTO odd SELECT n, body FROM texts;
END
what="[d['compared'] and list(d['compared'].values()), d['at_least'], d['profile']]"
expect "[['body', 'alike', 0.8], 0.8, 'word-2-capped']" "$what" TABLE=texts ID=n
expect "[['body', 'jaccard', 0.25], 0.25, 'word-1']" "$what" TABLE=texts ID=n \
	DOCUMENT=body SIMILARITY=jaccard AT_LEAST=.25 PROFILE=word-1
expect "a'\\ \", document => 'x'::pg_catalog.text word-1 3" \
	"'%s %s %d' % (d['compared']['document'], d['profile'], d['redundant'])" TABLE=odd ID=n FP=fp K=3
psql -c "ALTER TABLE odd ADD lower bigint GENERATED ALWAYS AS (minhash(upper(\"a'\\ \"\", document => 'x'::pg_catalog.text\"))) STORED"
expect "['upper(t.\"a\'\\\\ \"\", document => \'x\'::pg_catalog.text\")', 3]" \
	"[d['compared']['document'], d['redundant']]" TABLE=odd ID=odd.n FP=lower BODY=odd.n::text
expect "[None, 0, 'word-2-capped', 3]" "$what + [d['redundant']]" TABLE=texts ID=n \
	SIMILARITY=none
expect "[None, 0, 'word-2-capped']" "$what" TABLE=seen ID=n SIMILARITY=none
for by in DOCUMENT BODY; do
	expect "[['body', 'jaccard', 0.5], 0.8, 'word-2-capped', 3]" "$what + [d['redundant']]" \
		TABLE=seen ID=n $by=body
done
# which is the body, where nothing is known of a fingerprint
psql -c "CREATE TABLE plain AS SELECT n AS \"N\", body AS \"Body\", to_json(body) AS j, minhash(body) AS fp FROM texts"
document="[d['compared']['document'], d['k'], d['redundant']]"
expect "['Body', 8, 3]" "$document" TABLE=plain ID='"N"' FP=fp K= DOCUMENT=Body BODY=plain.j
expect "['Body', 8, 3]" "$document" TABLE=plain ID='"N"' FP=fp K= BODY=plain.'"Body"'
expect "['pg_catalog.concat(j)', 8, 3]" "$document" TABLE=plain ID='"N"' FP=fp K= BODY=j
expect "['pg_catalog.lower(t.\"Body\")', 8, 3]" "$document" TABLE=plain ID='"N"' FP=fp K= \
	BODY='pg_catalog.lower(plain."Body")'
expect "[None, 3, 'as it is']" "[d['compared'], d['k'], d['texts'][0]['text']]" TABLE=plain ID='"N"' FP=fp K= \
	BODY="'as it is'" SIMILARITY=none
# the database is an option
PGDATABASE=nonesuch expect 6 "d['rows']" DB=check_report TABLE=plain ID='"N"' FP=fp BODY='"Body"'
refuse 'extension "simhash" is not in database "template1"' DB=template1 TABLE=plain
refuse 'It must be from 0 to 1' TABLE=texts ID=n AT_LEAST=2
refuse 'column "nonesuch"' TABLE=texts ID=n DOCUMENT=nonesuch

# what is reviewed: the plan, with what is asked for
psql <<-'END'
	CREATE TABLE planned (n int PRIMARY KEY, born int, body text,
	    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED) PARTITION BY RANGE (n);
	CREATE TABLE planned_1 PARTITION OF planned FOR VALUES FROM (0) TO (3);
	CREATE TABLE planned_2 PARTITION OF planned FOR VALUES FROM (3) TO (30);
	INSERT INTO planned SELECT n, -n, (SELECT string_agg('word' || translate(w::text, '0123456789', 'abcdefghij'), ' ')
	    FROM generate_series(1, 100 + n) AS w) || CASE n WHEN 4 THEN ' 7.5' WHEN 5 THEN ' 8.5' ELSE '' END
	FROM generate_series(1, 6) AS n;
	CREATE TABLE apart AS SELECT gone, kept FROM simhash_dedup_plan('planned', 'fp') WHERE gone = '{2}';
END
wanted()
{
	psql -At -c "SELECT coalesce(json_agg(json_build_array(gone, kept, doubt) ORDER BY doubt IS NULL,
			size DESC, CASE WHEN size > 1 THEN family END, doubt, similarity, distance DESC, gone), '[]')
		FROM (SELECT *, CASE WHEN family IS NULL THEN 1 ELSE count(*) OVER (PARTITION BY family, doubt) END AS size
			FROM simhash_dedup_plan('planned', 'fp'$1)) AS p" |
		"$PYTHON" -c 'import json; print(json.load(open(0)))'
}
review="[[r[0], r[1], r[6]] for r in d['review']]"
expect "$(wanted '')" "$review" TABLE=planned ID=n FP=fp K=
expect "$(wanted ', 3')" "$review" TABLE=planned ID=planned.n FP=fp K=3
expect "$(wanted ", keep => 'born'")" "$review" TABLE=planned ID=n FP=fp K= KEEP=born
expect "$(wanted ", keep => 'n % 2, born'")" "$review" TABLE=planned ID=born FP=fp K= KEEP='n % 2'
expect "$(wanted ", similarity => 'containment'")" "$review" TABLE=planned ID=n FP=fp K= \
	SIMILARITY=containment
expect "$(wanted ", apart => 'apart'")" "$review" TABLE=planned ID=n FP=fp K= APART=apart
expect "$(wanted ", similarity => 'none', apart => 'apart'")" "$review" TABLE=planned ID=n \
	FP=fp K= APART=apart SIMILARITY=none
expect "1 True" "'%d %s' % (len(d['review']), sum(n for _, n in d['planned']) > 1)" TABLE=planned \
	ID=n FP=fp K= REVIEWED=1
# the clusters are those of the plan, and the row that stays comes first
kept="[r[3] for r in d['review'] if r[6] is None][0] == d['largest'][0]['members'][0][0]"
gone="d['redundant'] == sum(n for doubt, n in d['planned'] if doubt is None) > 0"
for keep in n born 'born DESC, n'; do
	expect "True True" "'%s %s' % ($kept, $gone)" TABLE=planned ID=n FP=fp K= KEEP="$keep"
done
expect "True True" "'%s %s' % ($kept, $gone)" TABLE=planned ID=n FP=fp K= SIMILARITY=containment
expect 6 "d['largest'][0]['members'][0][0]" TABLE='planned AS t' ID=n \
	FP=fp K=8 KEEP=born SIMILARITY=none
expect 8 "d['k']" TABLE=planned ID=n FP=fp K=
expect 3 "d['k']" TABLE=planned ID=n FP=fp K= SIMILARITY=none
expect 3 "d['k']" TABLE='planned AS t' ID=n FP=fp K= SIMILARITY=none
expect 8 "d['k']" TABLE='planned AS t' ID=n FP=fp K=
refuse 'column "nonesuch" does not exist' TABLE=planned ID=n FP=fp KEEP=nonesuch
refuse 'relation "nonesuch" does not exist' TABLE=planned ID=n FP=fp APART=nonesuch
refuse 'argument "apart" is no table' TABLE=planned ID=n FP=fp APART=planned
psql -c 'DROP TABLE planned, apart'

# casts of the owner of the table do not run
psql <<-'END'
	CREATE ROLE check_report_owner;
	CREATE SCHEMA near AUTHORIZATION check_report_owner;
	SET ROLE check_report_owner;
	CREATE TYPE near.mood AS ENUM ('well', 'ill', 'odd', 'so', 'none', 'any');
	CREATE TABLE near.docs (id near.mood, body text, fp bigint);
	CREATE FUNCTION near.trap(near.mood) RETURNS text LANGUAGE plpgsql AS
	    $$BEGIN RAISE 'trapped'; END$$;
	CREATE CAST (near.mood AS text) WITH FUNCTION near.trap AS IMPLICIT;
	CREATE FUNCTION near.same(text, text) RETURNS boolean LANGUAGE plpgsql AS
	    $$BEGIN RAISE 'trapped'; END$$;
	CREATE OPERATOR near.= (FUNCTION = near.same, LEFTARG = text, RIGHTARG = text);
	RESET ROLE;
	INSERT INTO near.docs SELECT (enum_range(NULL::near.mood))[n], body, n FROM texts;
END
PGOPTIONS="-c search_path=near,public,pg_catalog" \
	expect "['well', 'ill', 'odd', 'so']" "$ids" TABLE=docs BODY=id
psql -c 'DROP SCHEMA near CASCADE; DROP ROLE check_report_owner' 2>/dev/null

# no text ends the script element, whatever the database has strings mean
if psql -c 'SET standard_conforming_strings = off' 2>/dev/null; then
	PGOPTIONS="-c standard_conforming_strings=off" make -s report TABLE=texts \
		ID=n FP='simhash(body)' K=16 PAGE="$work/page.html" >"$work/log" 2>&1 ||
		fail "standard_conforming_strings:" "$work/log"
	[ "$(grep -o '</script>' "$work/page.html" | wc -l)" = 2 ] ||
		fail "a text ends the script element"
fi

# what nothing is known of: views have no rows of their own, joins no bytes
deletes="[bool(d['calls']), d['bytes']]"
expect "[True, True]" "$deletes" TABLE='public . "texts"' ID=n
expect "[False, True]" "$deletes" TABLE=seen ID=n
expect "[False, False]" "$deletes" TABLE='texts AS t' ID=n
expect "[False, False]" "$deletes" TABLE='texts JOIN (SELECT 1) AS one ON true' ID=n
expect "[False, False]" "$deletes" TABLE='(SELECT * FROM texts) AS t' ID=n
expect "[True, True, 3]" "$deletes + [d['redundant']]" TABLE=keyed ID=n WITHIN='"Kind"' \
	SIMILARITY=none FP="length(body)::bigint / 2000"
# rows without an id are left out, and told
expect "4 1" "'%d %d' % (d['present'], d['nameless'])" TABLE="(SELECT CASE
	WHEN n < 4 THEN n END AS n, body FROM texts WHERE n < 5) AS t" ID=n

# the page waits for a lock: meanwhile nobody can put another schema in place of
# the extension's, whose name needs quotes, or of the table's, nor drop the extension
psql <<-'END'
	CREATE ROLE check_report_owner;
	CREATE SCHEMA "Ext" AUTHORIZATION check_report_owner;
	ALTER EXTENSION simhash SET SCHEMA "Ext";
	DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO check_report_owner',
	    current_database()); END $$;
END
coproc holder { command psql -XqAt; }
echo 'SELECT pg_advisory_lock(7);' >&"${holder[1]}"
read -r -u "${holder[0]}"
make -s report TABLE=texts ID=n FP='"Ext".simhash(body)' K=16 PAGE="$work/page.html" \
	BODY='body || pg_advisory_lock_shared(7)' >"$work/log" 2>&1 &
page=$!
until [ "$(psql -At -c "SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d
	ON d.oid = l.database WHERE locktype = 'advisory' AND NOT granted
	AND datname = current_database()")" = 1 ]; do
	kill -0 $page || fail "the page does not wait:" "$work/log"
	sleep 0.05
done
! psql -c "SET ROLE check_report_owner; SET lock_timeout = '500ms';
	ALTER SCHEMA \"Ext\" RENAME TO ext2" 2>"$work/renamed" || fail "a schema was renamed"
grep -q 'lock timeout' "$work/renamed" || fail "renaming:" "$work/renamed"
! psql -c "SELECT FROM pg_extension FOR UPDATE NOWAIT" 2>"$work/dropped" ||
	fail "the extension was not kept"
grep -q 'could not obtain lock' "$work/dropped" || fail "dropping:" "$work/dropped"
echo '\q' >&"${holder[1]}"
wait "$page" || fail "a page, while a schema is renamed:" "$work/log"
psql <<-'END'
	ALTER EXTENSION simhash SET SCHEMA public;
	DROP SCHEMA "Ext";
	DROP OWNED BY check_report_owner;
	DROP ROLE check_report_owner;
END

# what is installed does the same
TABLE=texts ID=n FP='simhash(body)' K=16 PAGE="$work/page.html" \
	"$("${PG_CONFIG:-pg_config}" --sharedir)/simhash/report" >"$work/log" 2>&1 ||
	fail "the report that is installed:" "$work/log"
! grep -E '(src|href)=|https?://' "$work/page.html" ||
	fail "the page needs something else"

# in SQL_ASCII a page shows what is no UTF-8, or is cut within a character, as far as it is
new_database -T template0 -E SQL_ASCII --locale=C check_report_bytes
PGCLIENTENCODING=SQL_ASCII psql <<-'END'
	CREATE EXTENSION simhash;
	CREATE TABLE "表" AS SELECT n, E'\xe9xx ' || repeat('近似 ', 5000) AS body
	FROM generate_series(1, 2) AS n;
END
TABLE='"表"' ID=n FP='simhash(body)' PAGE="$work/bytes.html" share/report >"$work/log" 2>&1 ||
	fail "a page of SQL_ASCII:" "$work/log"
"$PYTHON" -c 'import sys; print(open(sys.argv[1], errors="replace").read())' \
	"$work/bytes.html" >"$work/page.html"
got=$(data "ascii((d['table'], d['texts'][0]['text'][:3], d['texts'][0]['text'][-3:]))")
[ "$got" = "('\"\u8868\"', '\ufffdxx', ' \u8fd1\ufffd')" ] || fail "a page of SQL_ASCII: $got"
