--
-- report_table.c, report_texts.c, apart.c: which rows of a table take part, and which of them are
-- compared: a condition, a window of time, groups by expressions; and expressions for
-- the fingerprint
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA terms;
SET search_path = terms, public;
SET datestyle = 'ISO, MDY';
SET timezone = 'Europe/Berlin';

-- Texts of a few families, each hundreds of times, so that some make a crowd; with
-- variants, states, sites in capitals or not, lengths, and times, of which some are NULL.
CREATE FUNCTION word(family int, i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'w' || translate(((hashint4extended(family * 1000 + i, 1) & 1048575) % 5000)::text, '0123456789', 'abcdefghij')
$$;
CREATE FUNCTION body(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(word(CASE WHEN i = 20 + variant THEN 100 + variant ELSE family END, i), ' ' ORDER BY i)
    FROM generate_series(1, 50) AS i
$$;
CREATE FUNCTION chance(n int, seed int, below int) RETURNS int LANGUAGE sql IMMUTABLE AS
    'SELECT (hashint4extended(n, seed) & 1048575)::int % below';
CREATE TABLE posts (
    id int PRIMARY KEY, state text, site text, seconds numeric, seen date, at timestamp, atz timestamptz, body text,
    plain bigint, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO posts (id, state, site, seconds, seen, at, atz, body)
SELECT n, (ARRAY['open', 'closed', NULL])[1 + chance(n, 1, 7) / 3], (ARRAY['A.org', 'a.ORG', 'b.net'])[1 + chance(n, 2, 3)],
    600 + chance(n, 3, 40) / 8.0, date '2026-03-01' + CASE WHEN chance(n, 4, 20) > 0 THEN chance(n, 5, 90) END,
    timestamp '2026-03-01' + chance(n, 6, 90 * 24 * 4) * interval '15 minutes',
    timestamptz '2026-03-01 00:00' + chance(n, 7, 90 * 24) * interval '1 hour',
    body(chance(n, 8, 3) * (n % 5) / 2, chance(n, 9, 2) * chance(n, 10, 8))
FROM generate_series(1, 500) AS n;
UPDATE posts SET plain = fp # (1 << chance(id, 11, 40));
UPDATE posts SET at = (ARRAY['infinity', '-infinity', NULL])[1 + id % 3]::timestamp WHERE id % 50 < 3;

-- Which rows go for which, one row after the other: each goes for the first that stays,
-- takes part, is near in bits and similar, equal in its group and near in time.
CREATE FUNCTION brute(fp text, k int, alike text, condition text DEFAULT 'true', within text DEFAULT '1',
                      near text DEFAULT 'true')
RETURNS TABLE (gone int, kept int) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    stay int[] := '{}';
BEGIN
    EXECUTE format('CREATE TEMP TABLE taking AS SELECT id, (%s) AS fp, (%s) AS grp FROM posts AS t WHERE %s', fp, within, condition);
    EXECUTE format('CREATE TEMP TABLE near AS SELECT g.id AS gone, s.id AS kept FROM taking AS a JOIN taking AS b ON b.id < a.id'
                   ' AND hamming(a.fp, b.fp) <= %s AND a.grp = b.grp JOIN posts AS g ON g.id = a.id JOIN posts AS s ON s.id = b.id'
                   ' WHERE (%s) AND (%s)', k, near, alike);
    FOR gone IN SELECT id FROM taking WHERE fp IS NOT NULL ORDER BY id LOOP
        SELECT min(n.kept) INTO kept FROM near AS n WHERE n.gone = brute.gone AND n.kept = ANY (stay);
        IF kept IS NOT NULL THEN
            RETURN NEXT;
        ELSE
            stay := stay || gone;
        END IF;
    END LOOP;
    DROP TABLE taking, near;
END $$;

-- What plan, report, DELETE and removal say, told the same: how many go.
CREATE FUNCTION agree(fp text, args text, expected text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    command text;
    said text;
    undone text;
BEGIN
    EXECUTE format('CREATE TEMP TABLE expected AS SELECT ARRAY[gone::text] AS gone, ARRAY[kept::text] AS kept FROM brute(%s)', expected);
    EXECUTE format('CREATE TEMP TABLE planned AS SELECT * FROM simhash_dedup_plan(''posts'', %L, %s)', fp, args);
    EXECUTE format('SELECT max(value) FROM simhash_report(''posts'', %L, %s) WHERE item = ''redundant rows''', fp, args) INTO said;
    said := concat_ws(', ', (SELECT count(*) FROM planned),
        CASE WHEN said::bigint <> (SELECT count(*) FROM planned) THEN 'the report says ' || said END,
        CASE WHEN EXISTS (SELECT gone, kept FROM planned EXCEPT TABLE expected) THEN 'too many' END,
        CASE WHEN EXISTS (TABLE expected EXCEPT SELECT gone, kept FROM planned) THEN 'too few' END);
    EXECUTE format('SELECT simhash_dedup_sql(''posts'', %L, %s)', fp, args) INTO command;
    FOR way IN 1 .. 2 LOOP
        BEGIN
            SET LOCAL intervalstyle = 'sql_standard';
            IF way = 1 THEN
                EXECUTE command;
            ELSE
                CALL simhash_dedup_apply('posts', 'planned', batch => NULL);
            END IF;
            SELECT CASE WHEN EXISTS (SELECT FROM planned JOIN posts ON id = gone[1]::int) OR count(*) + (SELECT count(*) FROM planned) <> 500
                THEN 'the ' || (ARRAY['DELETE', 'removal'])[way] || ' leaves ' || count(*) END INTO undone FROM posts;
            RAISE 'undone';
        EXCEPTION WHEN raise_exception THEN
            said := concat_ws(', ', said, undone);
        END;
    END LOOP;
    DROP TABLE planned, expected;
    RETURN said;
END $$;

----------------------------------------
-- rows that take part
----------------------------------------

SELECT agree('fp', 'similarity => ''jaccard''', $$'fp', 8, 'simhash_jaccard(g.body, s.body) >= .8'$$) AS "all",
    agree('fp', $$similarity => 'jaccard', condition => 'state = ''open'''$$,
          $$'fp', 8, 'simhash_jaccard(g.body, s.body) >= .8', 'state = ''open'''$$) AS open,
    agree('plain', $$k => 5, condition => 'state IS DISTINCT FROM ''closed'' AND t.id > 30'$$,
          $$'plain', 5, 'true', 'state IS DISTINCT FROM ''closed'' AND id > 30'$$) AS by_distance,
    agree('fp', $$similarity => 'none', k => 3, condition => 'id IN (SELECT id FROM terms.posts WHERE seen > ''2026-04-01'')'$$,
          $$'fp', 3, 'true', 'seen > ''2026-04-01'''$$) AS subquery;
-- the heading
SELECT item, value FROM simhash_report('posts', 'fp', condition => $$state = 'open'
    AND seconds > 601$$, moment => 'seen', near_in => '1 month -1 day') WHERE section = 'table';
SELECT line FROM regexp_split_to_table(simhash_dedup_sql('posts', 'fp', condition => $$state = 'open'
    AND seconds > 601$$, moment => 'seen', near_in => '1 month'), '\n') AS line WHERE line ~ '^--';
SELECT value ~ 'condition => ''state = ''''open'''''', moment => ''seen'', near_in => ''2 days''\)' AS says_all
FROM simhash_report('posts', 'fp', condition => 'state = ''open''', moment => 'seen', near_in => '2 days') WHERE item = 'to have a plan';
-- a column is a condition, too, and a row of which nothing is known takes no part
ALTER TABLE posts ADD "Is open" boolean;
UPDATE posts SET "Is open" = state = 'open';
SELECT count(*) FILTER (WHERE g."Is open" AND k."Is open") = count(*) AS open, count(*) > 100 AS many
FROM simhash_dedup_plan('posts', 'fp', condition => 'Is open') JOIN posts AS g ON g.id = gone[1]::int JOIN posts AS k ON k.id = kept[1]::int;
-- what is closed once the plan is there stays, and nothing goes for it
BEGIN;
CREATE TABLE closing AS SELECT * FROM simhash_dedup_plan('posts', 'fp', condition => '"Is open"');
SELECT gone[1]::int AS a FROM closing WHERE doubt IS NULL ORDER BY 1 LIMIT 1 \gset
SELECT kept[1]::int AS b FROM closing WHERE doubt IS NULL AND kept <> (SELECT kept FROM closing WHERE gone = ARRAY[:'a'])
GROUP BY kept ORDER BY count(*), kept LIMIT 1 \gset
UPDATE posts SET "Is open" = id = :b AND NULL WHERE id IN (:a, :b);
CALL simhash_dedup_apply('posts', 'closing');
SELECT done, count(*) > 1 AS several, bool_and(gone[1]::int = :a OR kept[1]::int = :b) AS closed FROM closing WHERE doubt IS NULL GROUP BY done ORDER BY done;
SELECT count(*) FROM posts WHERE id IN (:a, :b);
ROLLBACK;

----------------------------------------
-- a window of time
----------------------------------------

SELECT type, agree('fp', format('similarity => ''jaccard'', moment => %L, near_in => %L', type, near_in),
                   format('''fp'', 8, ''simhash_jaccard(g.body, s.body) >= .8'', near => %L',
                          replace('greatest(g.m, s.m) - interval ''' || near_in || ''' <= least(g.m, s.m) AND g.m IS NOT NULL AND s.m IS NOT NULL', '.m', '.' || type)))
FROM (VALUES ('seen', '7 days'), ('at', '3 days 02:15'), ('atz', '2 days'), ('atz', '1 mon -2 days'), ('seen', '0')) AS v (type, near_in);
-- distances alone; with groups, a condition, and expressions
SELECT agree('plain', $$k => 5, moment => 'seen', near_in => '7 days'$$,
             $$'plain', 5, 'true', near => 'abs(g.seen - s.seen) <= 7'$$) AS by_distance,
    agree('fp', $$similarity => 'none', k => 3, moment => 'seen + 1', near_in => '7 days'$$,
          $$'fp', 3, 'true', near => 'abs(g.seen - s.seen) <= 7'$$) AS "none",
    agree('fp', $$similarity => 'jaccard', moment => 'to_timestamp(seconds)', near_in => '00:00:01', within => '{lower(site)}',
                  condition => 'state = ''open'''$$,
          $$'fp', 8, 'simhash_jaccard(g.body, s.body) >= .8', 'state = ''open''', 'lower(site)', 'abs(g.seconds - s.seconds) <= 1'$$) AS lengths;
-- where no document is compared, it is said as ever
SELECT value FROM simhash_report('posts', 'plain', 5, moment => 'seen', near_in => '7 days') WHERE item = 'estimate';
SELECT substring(simhash_dedup_sql('posts', 'plain', 5, moment => 'seen', near_in => '7 days'), '^--.*?\n') AS first;
-- 200 texts on six days: each copy goes for one within 7 days of it
CREATE TABLE jobs (id int PRIMARY KEY, seen date, body text, fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO jobs SELECT g * 100 + n, date '2026-01-01' + d, (SELECT string_agg(word(g, i), ' ' ORDER BY i) FROM generate_series(1, 60) AS i)
FROM generate_series(1, 200) AS g, (VALUES (1, 0), (2, 1), (3, 20), (4, 21), (5, 22), (6, 50)) AS v(n, d);
SELECT kind, count(*), max(abs(g.seen - k.seen)), bool_and(g.id / 100 = k.id / 100) AS same
FROM unnest('{star,connected}'::text[]) AS kind, simhash_dedup_plan('jobs', 'fp', kind => kind, keep => 'seen', moment => 'seen', near_in => '7 days') AS p
JOIN jobs AS g ON g.id = p.gone[1]::int JOIN jobs AS k ON k.id = p.kept[1]::int GROUP BY kind;
-- a row that is at another moment than when the plan was made, or at none, stays
BEGIN;
CREATE TABLE moved AS SELECT * FROM simhash_dedup_plan('jobs', 'fp', moment => 'seen', near_in => '7 days');
UPDATE jobs SET seen = CASE id WHEN 102 THEN seen + 7 WHEN 202 THEN seen + 6 WHEN 301 THEN seen - 7 WHEN 405 THEN NULL ELSE seen - 4 END
WHERE id IN (102, 202, 301, 405, 504);
CALL simhash_dedup_apply('jobs', 'moved');
SELECT done, count(*), min(gone) FILTER (WHERE done = 'changed'), max(gone) FILTER (WHERE done = 'changed') FROM moved GROUP BY done ORDER BY done;
SELECT id FROM jobs WHERE id IN (102, 202, 301, 302, 405, 504) ORDER BY id;
ROLLBACK;
-- in a crowd of one text, too, whatever compares it
CREATE TABLE crowd AS SELECT n AS id, body(1, 0) AS body, minhash(body(1, 0)) AS fp, date '2026-01-01' + chance(n, 1, 1000) AS seen
FROM generate_series(1, 3000) AS n;
ALTER TABLE crowd ADD PRIMARY KEY (id);
DO $$
DECLARE
    stay int[] := '{}';
    day int;
    first int;
BEGIN
    CREATE TABLE of_crowd (gone text[], kept text[]);
    CREATE TEMP TABLE center (id int, seen date);
    FOR n IN 1 .. 3000 LOOP
        SELECT min(c.id) INTO first FROM center AS c, crowd AS r WHERE r.id = n AND abs(c.seen - r.seen) <= 7;
        IF first IS NULL THEN
            INSERT INTO center SELECT id, seen FROM crowd WHERE id = n;
        ELSE
            INSERT INTO of_crowd VALUES (ARRAY[n], ARRAY[first]);
        END IF;
    END LOOP;
END $$;
CREATE FUNCTION of_crowd(args text, OUT gone bigint, OUT missing bigint, OUT wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SELECT count(p), count(*) FILTER (WHERE p.gone IS NULL), count(*) FILTER (WHERE o.gone IS NULL)'
                   ' FROM simhash_dedup_plan(''crowd'', ''fp'', %s moment => ''seen'', near_in => ''7 days'') AS p'
                   ' FULL JOIN of_crowd AS o USING (gone, kept)', args) INTO gone, missing, wrong;
END $$;
SELECT args, c.* FROM unnest(ARRAY['', 'document => ''body'', similarity => ''jaccard'', ', 'document => ''body'', ',
                                   'document => ''body'', similarity => ''cosine'', ']) AS args, of_crowd(args) AS c;
-- beside pairs that are apart
CREATE TABLE apart AS SELECT gone, kept FROM simhash_dedup_plan('jobs', 'fp', moment => 'seen', near_in => '7 days') ORDER BY gone LIMIT 10;
SELECT count(*), count(*) FILTER (WHERE p = ANY (SELECT a FROM apart AS a)) AS apart
FROM simhash_dedup_plan('jobs', 'fp', moment => 'seen', near_in => '7 days', apart => 'apart') AS q, LATERAL (SELECT ROW(q.gone, q.kept)::apart AS p) AS r;
-- days are those of the session's time zone: in spring one has 23 hours
CREATE TABLE spring AS SELECT n AS id, 7::bigint AS fp, timestamptz '2026-03-28 12:00 Europe/Berlin' + after AS at
FROM (VALUES (1, interval '0'), (2, '23:00'), (3, '23:30')) AS v (n, after);
SELECT id FROM simhash_dedup_plan('spring', 'fp', moment => 'at', near_in => '1 day') JOIN spring ON ctid = gone[1]::tid ORDER BY id;
SET timezone = 'UTC';
SELECT id FROM simhash_dedup_plan('spring', 'fp', moment => 'at', near_in => '1 day') JOIN spring ON ctid = gone[1]::tid ORDER BY id;
-- a row without a moment, or that has none, is near no other, and not even counted as a center
SELECT item, value FROM simhash_report('posts', 'plain', 64 / 4, moment => 'CASE WHEN id > 2 THEN NULL ELSE seen END', near_in => '1 year')
WHERE item IN ('rows', 'fingerprints', 'clusters', 'redundant rows', 'no group');

----------------------------------------
-- groups by expressions
----------------------------------------

SELECT agree('fp', $$similarity => 'jaccard', within => '{lower(site)}'$$,
             $$'fp', 8, 'simhash_jaccard(g.body, s.body) >= .8', within => 'lower(site)'$$) AS sites,
    agree('plain', $$k => 5, within => '{round(t.seconds),site}'$$,
          $$'plain', 5, 'true', within => 'ROW(round(seconds), site)::text'$$) AS lengths,
    agree('fp', $$similarity => 'jaccard', within => '{"nullif(site, ''b.net'')"}'$$,
          $$'fp', 8, 'simhash_jaccard(g.body, s.body) >= .8', within => 'nullif(site, ''b.net'')'$$) AS nulls;
-- a name of a column stays one; what a query of ours calls its columns changes no order
CREATE TABLE odd (id int PRIMARY KEY, "lower(site)" int, "simhash moment" int, round int, site text, fp bigint);
INSERT INTO odd VALUES (1, 1, 1, 9, 'A', 7), (2, 2, 1, 8, 'a', 7), (3, 1, 2, 7, 'B', 7), (4, 2, 2, 6, 'b', 7);
SELECT gone, kept FROM simhash_dedup_plan('odd', 'fp', within => '{lower(site)}') ORDER BY gone;
SELECT gone, kept FROM simhash_dedup_plan('odd', 'fp', within => '{t.lower(site)}') ORDER BY gone;      -- error
SELECT gone, kept FROM simhash_dedup_plan('odd', 'fp', within => '{lower(t.site)}') ORDER BY gone;
SELECT gone, kept FROM simhash_dedup_plan('odd', 'fp', within => '{simhash moment}') ORDER BY gone;
SELECT gone, kept FROM simhash_dedup_plan('odd', 'fp', within => '{round(id / 2.0 - .1)}', keep => 'round') ORDER BY gone;
SELECT gone, kept FROM simhash_dedup_plan('odd', 'fp', within => '{tableoid}', keep => 'round') ORDER BY gone;

----------------------------------------
-- what is refused
----------------------------------------

SELECT args, fails(format('SELECT simhash_dedup_plan(''posts'', ''fp'', %s)', args))
FROM unnest(ARRAY[$$condition => 'id'$$, $$condition => 'count(*) > 1'$$, $$condition => 'generate_series(1, 2) > 1'$$,
    $$condition => ''$$, $$condition => 'true; DROP TABLE posts'$$, $$condition => 'state = open'$$, $$condition => 'true) OR (false'$$,
    $$condition => '(SELECT true, false)'$$, $$condition => 'true AS a'$$,
    $$moment => 'seen'$$, $$near_in => '1 day'$$, $$moment => 'id', near_in => '1 day'$$, $$moment => '''2026-01-01''', near_in => '1 day'$$,
    $$moment => 'max(seen)', near_in => '1 day'$$, $$moment => 'seen', near_in => '-1 day'$$, $$moment => 'nonesuch', near_in => '1 day'$$,
    $$within => '{max(seen)}'$$, $$within => '{"point(1, 2)"}'$$, $$within => '{nonesuch}'$$, $$within => '{"site, state"}'$$]) AS args;

----------------------------------------
-- expressions for the fingerprint
----------------------------------------

CREATE FUNCTION cleaned(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE TABLE made (id int PRIMARY KEY, state text, title text, body text, name text, hash bigint,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, long bigint GENERATED ALWAYS AS (minhash(body, 'word-6')) STORED,
    titled bigint GENERATED ALWAYS AS (minhash(title)) STORED, hashed bigint GENERATED ALWAYS AS (hashtextextended(body, 0)) STORED,
    clean bigint GENERATED ALWAYS AS (minhash(cleaned(body))) STORED, wide bit(64) GENERATED ALWAYS AS (minhash_bits(body, 64)) STORED,
    "Finger" bigint GENERATED ALWAYS AS (minhash(body)) STORED, other bigint GENERATED ALWAYS AS (minhash(body, 'nonesuch')) STORED);
-- what is compared: the document and the profile, or an error
CREATE FUNCTION compared(fingerprint text, args text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    command text;
BEGIN
    EXECUTE format('SELECT simhash_dedup_sql(''made'', %L %s)', fingerprint, args) INTO command;
    RETURN CASE WHEN command ~ 'document => NULL' THEN 'the distance alone'
        ELSE concat_ws(', ', split_part(split_part(command, ') AS "simhash document"', 1), ', (', -1), substring(command, 'profile => ''(.*?)''')) END;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN SQLERRM;
END $$;
SELECT fp, compared(fp) FROM unnest(ARRAY[
    -- of one column
    'CASE WHEN state = ''open'' THEN fp END', 'CASE state WHEN ''open'' THEN fp END', 'coalesce(fp, 5)', 'nullif(fp, 0)',
    'CASE WHEN state = ''open'' THEN "Finger" END', 't.fp', '(t).fp', 'fp # hashtextextended(state, 0)', 'CASE WHEN state = ''open'' THEN long END',
    'CASE WHEN state = ''open'' THEN wide END', 'fp::bit(64)', '(SELECT fp)', '(SELECT max(CASE WHEN state = p.state THEN t.fp END) FROM terms.posts AS p)',
    -- of several that are of one document
    'coalesce(fp, "Finger")', 'coalesce(fp, minhash(body))', 'CASE WHEN state = ''open'' THEN fp ELSE hash END', 'coalesce(fp, other)',
    -- of several documents, or measures, or of one that is not known
    'coalesce(fp, titled)', 'CASE WHEN state = ''open'' THEN fp ELSE minhash(title) END', 'coalesce(fp, long)', 'coalesce(fp, simhash(body))',
    'CASE WHEN state = ''open'' THEN clean END', 'coalesce(clean)', 'minhash(cleaned(body))', 'minhash(body, name)', '(SELECT minhash(body))', 'nullif(other, 0)',
    -- of no document
    'hash', 'CASE WHEN state = ''open'' THEN hash END', 'hash # 5', 'hashed', 'coalesce(hashed, hash)', 'clean', 'other', 'id::bigint', 'hashtextextended(body, 0)']) AS fp;
SELECT args, compared('coalesce(fp, titled)', args) FROM unnest(ARRAY[', document => ''body''', ', similarity => ''none''', ', at_least => .9',
    ', condition => ''state = ''''open'''''', document => ''title''']) AS args;
SELECT fails($$SELECT simhash_report('made', 'coalesce(fp, titled)')$$);
SELECT fails($$SELECT simhash_report('made', 'coalesce(fp, titled)', moment => 'now()', near_in => '1 day')$$);
-- with a condition in it, it is as with a condition
ALTER TABLE made DROP other;
INSERT INTO made (id, state, body) VALUES (1, 'open', 'The C compiler'), (2, 'open', 'The C++ compiler'), (3, 'closed', 'The C compiler'), (4, 'open', 'The C compiler');
SELECT gone, kept, distance, similarity, needed, doubt, family, differs, compared FROM simhash_dedup_plan('made', 'CASE WHEN state = ''open'' THEN fp END') ORDER BY gone;
SELECT gone, kept, distance, similarity, needed, doubt, family, differs, compared FROM simhash_dedup_plan('made', 'fp', condition => 'state = ''open''') ORDER BY gone;

----------------------------------------
-- whose rights count, and whose code runs
----------------------------------------

CREATE ROLE regress_report_terms_owner;
CREATE ROLE regress_report_terms_reader;
REVOKE EXECUTE ON FUNCTION cleaned, chance FROM PUBLIC;
GRANT USAGE ON SCHEMA terms TO regress_report_terms_reader, regress_report_terms_owner;
GRANT CREATE ON SCHEMA terms TO regress_report_terms_owner;
SET ROLE regress_report_terms_owner;
-- what the owner would have run: casts to boolean and times, and what is called as it is
CREATE FUNCTION trap() RETURNS void LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END';
CREATE TYPE flag AS ENUM ('yes', 'no');
CREATE FUNCTION to_boolean(flag) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT terms.trap(); SELECT true';
CREATE CAST (flag AS boolean) WITH FUNCTION to_boolean(flag) AS IMPLICIT;
CREATE FUNCTION to_time(flag) RETURNS timestamp LANGUAGE sql IMMUTABLE AS 'SELECT terms.trap(); SELECT now()::timestamp';
CREATE CAST (flag AS timestamp) WITH FUNCTION to_time(flag) AS IMPLICIT;
CREATE DOMAIN day AS date;
CREATE DOMAIN truth AS boolean;
CREATE TABLE owned (id int PRIMARY KEY, flag flag, day day, truth truth, reader name, fp bigint);
INSERT INTO owned SELECT n, 'yes', date '2026-01-01' + n, n <> 2, CASE WHEN n < 4 THEN 'regress_report_terms_reader' ELSE 'another' END, 7
FROM generate_series(1, 5) AS n;
GRANT SELECT ON owned TO regress_report_terms_reader;
CREATE TABLE partly (id int PRIMARY KEY, secret text, fp bigint);
GRANT SELECT (id, fp) ON partly TO regress_report_terms_reader;
RESET ROLE;
SET ROLE regress_report_terms_reader;
SELECT 1 FROM owned WHERE flag LIMIT 1;                                              -- error
SELECT fails($$SELECT simhash_dedup_plan('owned', 'fp', condition => 'flag')$$);
SELECT fails($$SELECT simhash_dedup_plan('owned', 'fp', moment => 'flag', near_in => '1 day')$$);
SELECT gone, kept FROM simhash_dedup_plan('owned', 'fp', condition => 'truth', moment => 'day', near_in => '1 day') ORDER BY gone;
-- run as the caller, who may read and call no more than in a SELECT
SELECT gone, kept FROM simhash_dedup_plan('owned', 'fp', condition => 'reader = current_user') ORDER BY gone;
SELECT call, fails(format('SELECT * FROM %s', call)) FROM unnest(ARRAY[
    $$simhash_dedup_plan('owned', 'fp', condition => 'id IN (SELECT id FROM terms.posts)')$$,
    $$simhash_report('owned', 'fp', condition => 'id IN (SELECT id FROM terms.posts)')$$,
    $$simhash_dedup_plan('owned', 'fp', condition => 'terms.cleaned(reader) > ''''')$$,
    $$simhash_dedup_plan('owned', 'fp', moment => 'day + terms.chance(id, 1, 1)', near_in => '1 day')$$,
    $$simhash_dedup_plan('owned', 'fp', within => '{terms.cleaned(reader)}')$$,
    $$simhash_dedup_plan('partly', 'fp', condition => 'secret = ''b''')$$,
    $$simhash_report('partly', 'fp', within => '{upper(secret)}')$$]) AS call;
RESET ROLE;
-- a leaky condition does not see what is hidden
ALTER TABLE owned ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON owned USING (reader = current_user);
SET ROLE regress_report_terms_reader;
CREATE FUNCTION pg_temp.tell(id int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS
    'BEGIN RAISE WARNING ''row %'', id; RETURN true; END';
SELECT gone, kept FROM simhash_dedup_plan('owned', 'fp', condition => 'pg_temp.tell(id)') ORDER BY gone;
SELECT item, value FROM simhash_report('owned', 'fp', condition => 'true') WHERE item = 'rows';
DROP FUNCTION pg_temp.tell;
RESET ROLE;

SET search_path = public;
DROP SCHEMA terms CASCADE;
DROP ROLE regress_report_terms_owner, regress_report_terms_reader;
