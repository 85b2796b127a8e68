--
-- dedup.c: simhash_dedup_plan says what the DELETE of simhash_dedup_sql takes, and
-- simhash_report counts
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE SCHEMA plan;
SET search_path = plan, public;
SET datestyle = 'ISO, MDY';
SET timezone = 'UTC';

-- Texts of four families: in variants some words are added.
CREATE FUNCTION word(family int, i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'w' || translate(((hashint4extended(family * 1000 + i, 1) & 1048575) % 5000)::text, '0123456789', 'abcdefghij')
$$;
CREATE FUNCTION body(family int, variant int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT string_agg(word(CASE WHEN i > 50 + 6 * (variant % 2) THEN 100 + variant ELSE family END, i), ' ' ORDER BY i)
    FROM generate_series(1, 50 + 6 * (variant % 2) + variant % 3) AS i
$$;
CREATE TABLE texts AS
SELECT n, body(n % 4, n / 4) AS body FROM generate_series(1, 26) AS n;

-- What a plan, the DELETE and a report say, told the same: how many rows go, and how
-- many are doubtful; or who says something else.  "called" is what the plan calls rows.
CREATE FUNCTION agree(relation regclass, fp text, args text DEFAULT '', called text DEFAULT 'ARRAY[id::text]')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    command text;
    reported bigint;
    doubtful bigint;
    said text;
BEGIN
    EXECUTE format('CREATE TEMP TABLE planned AS SELECT * FROM simhash_dedup_plan(%L, %L %s)', relation, fp, args);
    EXECUTE format('CREATE TEMP TABLE before AS SELECT %s AS key FROM %s AS t', called, relation);
    EXECUTE format('SELECT coalesce(max(value) FILTER (WHERE item = ''redundant rows''), ''0''),'
                   ' coalesce(sum(substring(value FROM ''^[0-9]+'')::bigint) FILTER (WHERE section = ''doubts''), 0)'
                   ' FROM simhash_report(%L, %L %s)', relation, fp, regexp_replace(args, ', kind => ''.*?''', ''))
    INTO reported, doubtful;
    EXECUTE format('SELECT simhash_dedup_sql(%L, %L %s)', relation, fp, args) INTO command;
    BEGIN
        EXECUTE command;
        EXECUTE format('CREATE TEMP TABLE stays AS SELECT %s AS key FROM %s AS t', called, relation);
        CREATE TEMP TABLE deleted AS SELECT key FROM before EXCEPT SELECT key FROM stays;
        SELECT concat_ws(', ', (SELECT count(*) FROM deleted) || ' gone',
            nullif((SELECT count(*) FROM planned WHERE doubt IS NOT NULL), 0) || ' doubtful',
            CASE WHEN EXISTS (TABLE deleted EXCEPT SELECT gone FROM planned WHERE doubt IS NULL) OR
                      EXISTS (SELECT gone FROM planned WHERE doubt IS NULL EXCEPT TABLE deleted) THEN 'the plan says others' END,
            CASE WHEN (SELECT count(DISTINCT gone) <> count(*) FROM planned) THEN 'some twice' END,
            CASE WHEN EXISTS (SELECT kept FROM planned EXCEPT TABLE stays) THEN 'what stays is gone' END,
            CASE WHEN EXISTS (SELECT gone FROM planned WHERE doubt IS NOT NULL EXCEPT TABLE stays) THEN 'doubtful ones are gone' END,
            CASE WHEN args !~ 'kind' AND (SELECT count(*) FROM planned WHERE doubt IS NULL) <> reported THEN 'the report says ' || reported END,
            CASE WHEN args !~ 'kind' AND (SELECT count(*) FROM planned WHERE doubt IS NOT NULL) <> doubtful THEN 'the report doubts ' || doubtful END)
        INTO said;
        RAISE 'undone';
    EXCEPTION WHEN raise_exception THEN NULL;
    END;
    DROP TABLE planned, before;
    RETURN said;
END $$;

----------------------------------------
-- one table, and what may be told
----------------------------------------

CREATE TABLE docs (id int PRIMARY KEY, site int, born date, body text, words text[], plain bigint, other bit(128),
    mh bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    fp bigint GENERATED ALWAYS AS (simhash(body, 'word-1')) STORED,
    wide bit(128) GENERATED ALWAYS AS (minhash_bits(body, 128)) STORED,
    sets bigint GENERATED ALWAYS AS (minhash(words)) STORED,
    cleaned bigint GENERATED ALWAYS AS (minhash(regexp_replace(body, '[a-c]', '', 'g'))) STORED);
-- the table is in another order than the key
INSERT INTO docs (id, site, born, body, words, plain, other)
SELECT n, n % 3, date '2024-01-01' + n % 5, body, string_to_array(body, ' '), minhash(body), minhash_bits(body, 128)
FROM texts ORDER BY n * 7 % 27;
SELECT gone, kept, distance, similarity, needed, doubt, family, differs, compared FROM simhash_dedup_plan('docs', 'mh') ORDER BY gone[1]::int;
SELECT agree('docs', 'mh'), agree('docs', 'mh', ', 3'), agree('docs', 'mh', ', 0'), agree('docs', 'mh', ', 16');
SELECT agree('docs', 'fp'), agree('docs', 'wide', ', 20'), agree('docs', 'sets'), agree('docs', 'cleaned', ', 12'),
       agree('docs', 'plain'), agree('docs', 'minhash(t.body)');
-- who stays: the first by the key, by "keep", then by the key
SELECT DISTINCT kept FROM simhash_dedup_plan('docs', 'mh') ORDER BY kept;
SELECT DISTINCT kept FROM simhash_dedup_plan('docs', 'mh', keep => 'id DESC') ORDER BY kept;
SELECT DISTINCT kept FROM simhash_dedup_plan('docs', 'mh', keep => 'born DESC') ORDER BY kept;
SELECT DISTINCT kept FROM simhash_dedup_plan('docs', 'mh', keep => 'site IS NULL') ORDER BY kept;
UPDATE docs SET site = site WHERE id < 5;
SELECT DISTINCT kept FROM simhash_dedup_plan('docs', 'mh') ORDER BY kept;
SELECT agree('docs', 'mh', ', keep => ''id DESC'''), agree('docs', 'mh', ', keep => ''born DESC'''),
       agree('docs', 'mh', ', keep => ''length(body), t.id DESC'''), agree('docs', 'mh', ', within => ''{site}'''),
       agree('docs', 'plain', ', within => ''{site,born}'', keep => ''id DESC''');
SELECT agree('docs', 'mh', ', kind => ''connected'''), agree('docs', 'mh', ', kind => ''connected'', within => ''{site}''');
-- similar by what
SELECT measure, agree('docs', 'mh', format(', similarity => %L, at_least => %s', measure, bound))
FROM unnest('{alike,jaccard,cosine,containment}'::text[]) AS measure, unnest('{1,.9,.5}'::float8[]) AS bound;
SELECT agree('docs', 'mh', ', similarity => ''none'''), agree('docs', 'plain', ', document => ''words'''),
       agree('docs', 'plain', ', 8, document => ''upper(t.body)'', profile => ''char-4'''),
       agree('docs', 'plain', ', document => ''concat_ws('''' '''', body, site)'', similarity => ''jaccard'''),
       agree('docs', 'mh', ', document => ''wide'', similarity => ''hamming'', at_most => 9'),
       agree('docs', 'wide', ', document => ''mh'', similarity => ''hamming'', at_most => 2'),
       agree('docs', 'mh', ', document => ''minhash(lower(t.body))'', similarity => ''hamming'', at_most => 0');
-- the longest stays where it contains the others; "keep" says otherwise
SELECT gone, kept, distance, similarity, needed, doubt, family, differs, length(g.body) <= length(k.body) AS longest FROM simhash_dedup_plan('docs', 'mh', 12, similarity => 'containment') AS p
JOIN docs AS g ON g.id = gone[1]::int JOIN docs AS k ON k.id = kept[1]::int WHERE g.id % 4 = 1 ORDER BY g.id;
SELECT count(*), bool_and(length(g.body) <= length(k.body)) AS longest
FROM simhash_dedup_plan('docs', 'mh', 12, keep => 'length(body)', similarity => 'containment', at_least => .6) AS p
JOIN docs AS g ON g.id = gone[1]::int JOIN docs AS k ON k.id = kept[1]::int;
SELECT count(*), bool_and(similarity = simhash_containment(g.words, k.words)) AS of_what_goes
FROM simhash_dedup_plan('docs', 'sets', 12, similarity => 'containment', at_least => .6) AS p
JOIN docs AS g ON g.id = gone[1]::int JOIN docs AS k ON k.id = kept[1]::int;
-- an excerpt is not near its text by a fingerprint of the whole, which is said, but by the first passage
CREATE TABLE feeds (id int PRIMARY KEY, title text, body varchar, wide bit(128) GENERATED ALWAYS AS (minhash_bits(title || body, 128)) STORED,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, title_fp bigint GENERATED ALWAYS AS (minhash(title, 'char-4')) STORED);
INSERT INTO feeds (id, title, body) SELECT g, word(g, 0) || ' ' || word(g, 1), (SELECT string_agg(word(g, i), ' ' ORDER BY i) FROM generate_series(2, 500) AS i) FROM generate_series(1, 50) AS g;
INSERT INTO feeds (id, title, body) SELECT 100 + id, title, left(body, 200) || ' continue reading' FROM feeds WHERE id % 5 = 0;
SET client_min_messages = notice;
SELECT count(*) FROM simhash_dedup_plan('feeds', 'fp', 16, similarity => 'containment');
SELECT count(*) FROM simhash_dedup_plan('feeds', 'fp', document => 't.body', similarity => 'containment');
SELECT simhash_dedup_sql('feeds', 'wide', similarity => 'containment') ~ 'containment' AS written;
SELECT value FROM simhash_report('feeds', 'minhash(lower(body))', similarity => 'containment') WHERE item = 'redundant rows';
SELECT count(*), bool_and(gone[1]::int - 100 = kept[1]::int) AS wholes
FROM simhash_dedup_plan('feeds', '(SELECT fp FROM simhash_passages(t.body, words => 8) WHERE nr = 1)', 3, document => 'body', similarity => 'containment');
SELECT count(*), bool_and(gone[1]::int - 100 = kept[1]::int) AS wholes FROM simhash_dedup_plan('feeds', 'title_fp', 3, document => 'body', similarity => 'containment');
SET client_min_messages = warning;
-- similarities and distances are those of the pair
SELECT count(*), count(*) FILTER (WHERE distance <> hamming(g.mh, k.mh) OR similarity <> simhash_jaccard(g.body, k.body)
                                  OR needed <> .7) AS wrong
FROM simhash_dedup_plan('docs', 'mh', at_least => .7) AS p
JOIN docs AS g ON g.id = gone[1]::int JOIN docs AS k ON k.id = kept[1]::int;
-- rows without a fingerprint, or without a document, stay
INSERT INTO docs (id, body, plain) VALUES (101, NULL, (SELECT plain FROM docs WHERE id = 1)), (102, '', (SELECT plain FROM docs WHERE id = 1)),
    (103, NULL, NULL), (104, (SELECT body FROM docs WHERE id = 1), (SELECT plain FROM docs WHERE id = 1));
SELECT gone, kept FROM simhash_dedup_plan('docs', 'plain', document => 'body') WHERE gone[1]::int > 100;
SELECT agree('docs', 'plain', ', document => ''body'''), agree('docs', 'plain'), agree('docs', 'mh'),
       agree('docs', 'plain', ', document => ''other'', similarity => ''hamming'', at_most => 5');
DELETE FROM docs WHERE id > 100;

----------------------------------------
-- keys of all types
----------------------------------------

CREATE TYPE mood AS ENUM ('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'q', 'r', 's', 't',
                          'u', 'v', 'w', 'x', 'y', 'z');
CREATE DOMAIN positive AS int CHECK (value > 0);
CREATE DOMAIN moment AS timestamptz;
CREATE TYPE pair AS (a int, b text);
CREATE TABLE types (type text, source text);
INSERT INTO types VALUES ('int', 'n'), ('bigint', 'n * 5000000000'), ('date', 'date ''2024-01-01'' + n'),
    ('timestamptz', 'timestamptz ''2024-03-31 00:30 UTC'' + n * interval ''1 hour'''),
    ('timestamp', 'timestamp ''2024-03-31 00:30'' + n * interval ''1 us'''), ('interval', 'n * interval ''25 hours'''),
    ('uuid', 'md5(n::text)::uuid'), ('text', '''a "b", \ {'' || n'), ('char(4)', 'n::text'), ('mood', 'chr(96 + n)::mood'),
    ('positive', 'n'), ('moment', 'timestamptz ''2024-03-31 00:30 UTC'' + n * interval ''1 hour'''), ('numeric', 'n / 7.0'),
    ('float8', 'n / 7.0'), ('bytea', 'convert_to(n::text, ''UTF8'')'), ('inet', '''10.0.0.0''::inet + n'),
    ('int[]', 'ARRAY[n, n]'), ('pair', 'ROW(n, ''x'')::pair'), ('int4range', 'int4range(n, n + 1)'), ('name', '''n'' || n'),
    ('boolean', 'n = 1'), ('bit(8)', 'n::bit(8)'), ('time', 'time ''00:00'' + n * interval ''1 minute''');
-- for each: what plan, DELETE and report say; whether pairs that are apart stay, though
-- the session writes them otherwise by now
-- as a plan writes it, whatever the settings
CREATE FUNCTION lasting(value anyelement) RETURNS text LANGUAGE sql STABLE
SET datestyle = 'ISO' SET intervalstyle = 'postgres' SET extra_float_digits = 1 SET bytea_output = 'hex'
AS $$ SELECT format('%s', value) $$;
CREATE FUNCTION by_key(type text, source text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    said text;
    together bigint;
BEGIN
    EXECUTE format('CREATE TABLE keyed (id %s PRIMARY KEY, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED)', type);
    EXECUTE format('INSERT INTO keyed SELECT %s, body FROM texts %s', source, CASE type WHEN 'boolean' THEN 'WHERE n IN (1, 5)' END);
    CREATE TABLE apart AS SELECT gone, kept FROM simhash_dedup_plan('keyed', 'mh') ORDER BY gone LIMIT 3;
    said := agree('keyed', 'mh', called => 'ARRAY[lasting(id)]');
    SET datestyle = 'ISO, DMY';
    SET timezone = 'Asia/Kolkata';
    SET intervalstyle = 'iso_8601';
    SET bytea_output = 'escape';
    SET extra_float_digits = 0;
    said := concat_ws('; ', said, agree('keyed', 'mh', ', apart => ''apart''', called => 'ARRAY[lasting(id)]'));
    EXECUTE format('SELECT count(*) FROM simhash_dedup_plan(''keyed'', ''mh'', apart => ''apart'') AS p JOIN apart AS a'
                   ' ON (p.gone[1]::%1$s, p.kept[1]::%1$s) = (a.gone[1]::%1$s, a.kept[1]::%1$s)', type) INTO together;
    said := concat_ws(', not apart: ', said, nullif(together, 0));
    SET datestyle = 'ISO, MDY';
    SET timezone = 'UTC';
    RESET intervalstyle;
    RESET bytea_output;
    RESET extra_float_digits;
    DROP TABLE keyed, apart;
    RETURN said;
END $$;
SELECT type, by_key(type, source) FROM types ORDER BY type COLLATE "C";

-- of several columns; names that need quotes
CREATE TABLE "Composed" ("Key's" int, "other ""key""" text, at timestamptz, body text, "Finger" bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    PRIMARY KEY ("other ""key""", "Key's", at));
INSERT INTO "Composed" SELECT n % 2, 'k,' || n % 3, timestamptz '2024-01-01 UTC' + n * interval '1 day', body FROM texts;
SELECT agree('"Composed"', '"Finger"', called => 'ARRAY["other ""key""", "Key''s"::text, at::text]');
SELECT gone, kept, distance, similarity, needed, doubt, family, differs, compared FROM simhash_dedup_plan('"Composed"', '"Finger"') ORDER BY gone LIMIT 2;
SELECT DISTINCT kept FROM simhash_dedup_plan('"Composed"', '"Finger"', keep => 'at DESC', within => '{Key''s}') ORDER BY kept;
SELECT agree('"Composed"', '"Finger"', ', keep => ''at DESC'', within => ''{Key''''s}''', 'ARRAY["other ""key""", "Key''s"::text, at::text]');

-- none: the place in the table
CREATE TABLE keyless AS SELECT n, body, minhash(body) AS mh FROM texts;
SELECT agree('keyless', 'mh', called => 'ARRAY[ctid::text]'), agree('keyless', 'mh', ', keep => ''n DESC''', 'ARRAY[ctid::text]'),
       agree('keyless', 'mh', ', document => ''body''', 'ARRAY[ctid::text]');
SELECT kept, bool_and((SELECT n FROM keyless WHERE ctid::text = kept[1]) < (SELECT n FROM keyless WHERE ctid::text = gone[1])) AS first
FROM simhash_dedup_plan('keyless', 'mh', document => 'body') GROUP BY kept ORDER BY kept;

-- partitions, with a key and without one; children that have rows of the same key
CREATE TABLE parts (id int, site int, body text, mh bigint, PRIMARY KEY (id, site)) PARTITION BY LIST (site);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
CREATE TABLE parts_1 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT n, n % 3, body, minhash(body) FROM texts;
CREATE TABLE bare (id int, site int, body text, mh bigint) PARTITION BY LIST (site);
CREATE TABLE bare_0 PARTITION OF bare FOR VALUES IN (0);
CREATE TABLE bare_1 PARTITION OF bare DEFAULT;
INSERT INTO bare TABLE parts;
CREATE TABLE parent (id int PRIMARY KEY, body text, mh bigint);
CREATE TABLE child (more text) INHERITS (parent);
INSERT INTO parent SELECT n, body, minhash(body) FROM texts WHERE n % 3 = 1;
INSERT INTO child SELECT n - n % 2, body, minhash(body) FROM texts;
SELECT agree('parts', 'mh', ', document => ''body''', 'ARRAY[id::text, site::text]'),
       agree('parts', 'mh', ', document => ''body'', within => ''{site}'', keep => ''id DESC''', 'ARRAY[id::text, site::text]'),
       agree('bare', 'mh', ', document => ''body''', 'ARRAY[tableoid::text, ctid::text]'),
       agree('bare', 'mh', '', 'ARRAY[tableoid::text, ctid::text]');
SELECT gone, kept FROM simhash_dedup_plan('parts', 'mh', document => 'body') ORDER BY gone[1]::int LIMIT 2;
-- rows of a key that is there twice are told apart, though not by their names
SELECT (SELECT count(*) FROM simhash_dedup_plan('parent', 'mh', document => 'body')) AS gone, value AS reported
FROM simhash_report('parent', 'mh', document => 'body') WHERE item = 'redundant rows';
BEGIN;
SELECT simhash_dedup_sql('parent', 'mh', document => 'body') AS command \gset
SELECT count(*) FROM parent;
:command;
SELECT count(*) FROM parent;
ROLLBACK;
SELECT agree('child', 'mh', ', document => ''body''', 'ARRAY[ctid::text]');

----------------------------------------
-- pairs that are apart
----------------------------------------

CREATE TABLE apart (gone text[], kept text[], why text, at timestamptz DEFAULT now());
CREATE TEMPORARY TABLE stored AS SELECT * FROM simhash_dedup_plan('docs', 'mh');
SELECT gone, kept FROM stored WHERE kept = '{1}' ORDER BY gone[1]::int;
INSERT INTO apart SELECT gone, kept, 'no duplicate' FROM stored WHERE gone = '{13}';
SELECT gone, kept FROM simhash_dedup_plan('docs', 'mh', apart => 'apart') WHERE '{1,13}' && (gone || kept) ORDER BY gone[1]::int;
-- the other way round, and twice
UPDATE apart SET gone = kept, kept = gone;
INSERT INTO apart TABLE apart;
SELECT gone, kept FROM simhash_dedup_plan('docs', 'mh', apart => 'apart') WHERE '{1,13}' && (gone || kept) ORDER BY gone[1]::int;
SELECT agree('docs', 'mh', ', apart => ''apart'''), agree('docs', 'mh', ', apart => ''apart'', similarity => ''jaccard'', at_least => .5'),
       agree('docs', 'mh', ', apart => ''apart'', within => ''{site}'''), agree('docs', 'mh', ', apart => ''apart'', keep => ''id DESC''');
-- where fingerprints decide, too: of equal rows
CREATE TABLE equal AS SELECT n AS id, 7::bigint AS fp, 'the same text for all of them' AS body FROM generate_series(1, 6) AS n;
ALTER TABLE equal ADD PRIMARY KEY (id);
CREATE TABLE distinct_ones (gone text[], kept text[]);
INSERT INTO distinct_ones VALUES ('{2}', '{1}'), ('{3}', '{1}'), ('{3}', '{2}'), ('{99}', '{1}'), ('{x}', '{1}'), (NULL, NULL);
SELECT fails($$SELECT * FROM simhash_dedup_plan('equal', 'fp', apart => 'distinct_ones')$$);
SELECT gone FROM simhash_dedup_plan('equal', 'fp', keep => '(SELECT count(*) FROM simhash_clusters(''SELECT id, mh FROM docs WHERE id < 3'', min_size => 1), generate_series(1, t.id)) DESC') ORDER BY gone;
CREATE VIEW viewed_ones AS TABLE distinct_ones;
SELECT fails($$SELECT * FROM simhash_dedup_plan('equal', 'fp', apart => 'viewed_ones')$$),
       fails($$SELECT * FROM simhash_dedup_plan('equal', 'fp', apart => 1)$$);
DROP VIEW viewed_ones;
DELETE FROM distinct_ones WHERE gone = '{x}';
-- a line that lacks a key says nothing
INSERT INTO distinct_ones VALUES ('{4}', NULL), (NULL, '{5}'), ('{6}', '{}'), ('{NULL}', '{1}');
SELECT gone, kept, similarity FROM simhash_dedup_plan('equal', 'fp', apart => 'distinct_ones') ORDER BY gone;
SELECT gone, kept, similarity FROM simhash_dedup_plan('equal', 'fp', document => 'body', apart => 'distinct_ones') ORDER BY gone;
SELECT gone, kept, similarity FROM simhash_dedup_plan('equal', 'fp', document => 'body', similarity => 'none', apart => 'distinct_ones') ORDER BY gone;
SELECT agree('equal', 'fp', ', apart => ''distinct_ones'''), agree('equal', 'fp', ', document => ''body'', apart => ''distinct_ones'''),
       agree('equal', 'fp', ', document => ''body'', similarity => ''none'', apart => ''distinct_ones''');
-- what lines connect is one series, though only some of its rows are still there
CREATE TABLE series AS SELECT n AS id, (1::bigint << n) AS fp FROM generate_series(1, 12) AS n;
ALTER TABLE series ADD PRIMARY KEY (id);
CREATE TABLE kept_ones AS SELECT gone, kept FROM simhash_dedup_plan('series', 'fp');
SELECT count(*), (SELECT count(*) FROM simhash_dedup_plan('series', 'fp', apart => 'kept_ones')) AS again,
       (SELECT count(*) FROM simhash_dedup_plan('series', 'fp', kind => 'connected', apart => 'kept_ones')) AS connected FROM kept_ones;
DELETE FROM series WHERE id = 1;
INSERT INTO series VALUES (13, 1);
INSERT INTO kept_ones SELECT gone, kept FROM simhash_dedup_plan('series', 'fp', apart => 'kept_ones') RETURNING *;
SELECT count(*) FROM simhash_dedup_plan('series', 'fp', apart => 'kept_ones');
SELECT agree('series', 'fp', ', apart => ''kept_ones''');
-- drawn at random, beside a model: a row goes for the first center that is not of its series
CREATE FUNCTION models(n int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    one int[] := ARRAY(SELECT generate_series(1, 40));
    stays int[] := '{}';
    expected text[] := '{}';
    center int;
    line record;
BEGIN
    TRUNCATE kept_ones;
    INSERT INTO kept_ones SELECT ARRAY[1 + random() * 39]::int[]::text[], ARRAY[1 + random() * 39]::int[]::text[] FROM generate_series(1, n);
    FOR line IN SELECT gone[1]::int AS a, kept[1]::int AS b FROM kept_ones LOOP
        one := array_replace(one, one[line.a], one[line.b]);
    END LOOP;
    FOR i IN 1..30 LOOP
        center := (SELECT min(c) FROM unnest(stays) AS c WHERE one[c] <> one[i]);
        IF center IS NULL THEN
            stays := stays || i;
        ELSE
            expected := expected || format('%s to %s', i, center);
        END IF;
    END LOOP;
    RETURN (SELECT nullif(coalesce(string_agg(format('%s to %s', gone[1], kept[1]), ', ' ORDER BY gone[1]::int), ''), array_to_string(expected, ', '))
            FROM simhash_dedup_plan('equal', 'fp', apart => 'kept_ones'));
END $$;
INSERT INTO equal SELECT n, 7, 'the same text for all of them' FROM generate_series(7, 30) AS n;
SELECT setseed(.62);
SELECT count(models(n)) AS wrong FROM generate_series(1, 60) AS n;
DELETE FROM equal WHERE id > 6;
-- by place: without a key
CREATE TABLE placed AS SELECT n, body, minhash(body) AS mh FROM texts;
CREATE TABLE places AS SELECT gone, kept FROM simhash_dedup_plan('placed', 'mh', document => 'body') ORDER BY gone LIMIT 4;
SELECT agree('placed', 'mh', ', document => ''body''', 'ARRAY[ctid::text]'),
       agree('placed', 'mh', ', document => ''body'', apart => ''places''', 'ARRAY[ctid::text]');
-- of several columns, in partitions
CREATE TABLE parts_apart AS SELECT gone, kept FROM simhash_dedup_plan('parts', 'mh', document => 'body') ORDER BY gone LIMIT 4;
SELECT agree('parts', 'mh', ', document => ''body'', apart => ''parts_apart''', 'ARRAY[id::text, site::text]');
-- no such table
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', apart => 'docs')$$);
SELECT fails($$SELECT simhash_dedup_sql('docs', 'mh', apart => 'texts')$$);
SELECT fails($$SELECT simhash_report('docs', 'mh', apart => 'nonesuch')$$);
SELECT fails($$SELECT simhash_report('docs', 'mh', apart => 0::regclass)$$);

----------------------------------------
-- doubts
----------------------------------------

CREATE TABLE doubtful (id int PRIMARY KEY, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO doubtful
SELECT n, 'One of the ' || word(n / 2, 1) || ' things that say ' || word(n / 2, 2) || ' ' || word(n / 2, 3) || ' and '
    || word(n / 2, 4) || ' in C' || CASE n % 2 WHEN 1 THEN '++' ELSE '' END
FROM generate_series(1, 7) AS n
UNION ALL
SELECT 10 + n, repeat('buy this now ', CASE n WHEN 2 THEN 300 ELSE 1 END) || body(7, 1) FROM generate_series(1, 3) AS n
UNION ALL
SELECT 20 + n, body(8, n) FROM generate_series(1, 2) AS n;
SELECT gone, kept, distance, similarity, needed, doubt, family, differs FROM simhash_dedup_plan('doubtful', 'mh', 16, at_least => .7) ORDER BY gone[1]::int;
SELECT section, item, value FROM simhash_report('doubtful', 'mh', 16, at_least => .7)
WHERE section = 'doubts' OR item IN ('redundant rows', 'delete') ORDER BY 1, 2;
SELECT agree('doubtful', 'mh', ', 16, at_least => .7'), agree('doubtful', 'mh', ', 16, similarity => ''jaccard'', at_least => .7');
-- what is told of symbols as the report says: a document without them
SELECT agree('doubtful', 'mh', ', 16, document => ''regexp_replace(body, ''''[+]+'''', '''''''', ''''g'''')'', at_least => .7');

-- Records that share a long text, and have thirty words of their own: entries.
CREATE TABLE records (id int PRIMARY KEY, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO records
SELECT n, (SELECT string_agg(word(50, i), ' ' ORDER BY i) FROM generate_series(1, 300) AS i) || ' '
    || (SELECT string_agg(word(1000 + n / CASE WHEN n > 150 THEN 2 ELSE 1 END, i), ' ' ORDER BY i) FROM generate_series(1, 30) AS i)
    || CASE n % 2 WHEN 1 THEN ' end' ELSE '' END
FROM generate_series(1, 160) AS n;
SELECT count(*) FILTER (WHERE doubt IS NULL) AS gone, count(*) FILTER (WHERE doubt = 'entries') AS entries,
       count(DISTINCT family) FILTER (WHERE doubt IS NOT NULL) AS families, bool_and(needed = .8) AS needed
FROM simhash_dedup_plan('records', 'mh', 16);
SELECT gone, kept FROM simhash_dedup_plan('records', 'mh', 16) WHERE doubt IS NULL ORDER BY gone[1]::int;
SELECT agree('records', 'mh', ', 16') ~ '^10 gone, \d+ doubtful$' AS agree, agree('records', 'mh', ', 16, similarity => ''jaccard''');
SELECT section, item, regexp_replace(value, '\d+(\.\d+)?', 'N', 'g') AS value FROM simhash_report('records', 'mh', 16)
WHERE section IN ('doubts', 'families');

-- ads that have the text of their employer, and a few words of their own
CREATE TABLE ads (id int PRIMARY KEY, employer int, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO ads
SELECT e * 100 + n, e, (SELECT string_agg(word(200 + e, i), ' ' ORDER BY i) FROM generate_series(1, 200) AS i) || '. '
    || (SELECT string_agg(word(3000 + e * 50 + n, i), ' ' ORDER BY i) FROM generate_series(1, 15) AS i)
FROM generate_series(1, 8) AS e, generate_series(1, 12) AS n;
SELECT w AS within, count(*) FILTER (WHERE doubt IS NULL) AS gone, count(*) > 80 AS many, count(DISTINCT family) AS families
FROM unnest('{"",employer}'::text[]) AS w, simhash_dedup_plan('ads', 'mh', within => string_to_array(w, ',')) GROUP BY 1 ORDER BY 1;

-- reports of crashes: their numbers differ, and frames do, of which there are few
CREATE TABLE crashes (id int PRIMARY KEY, kind int, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO crashes
SELECT k * 100 + n, k, (SELECT string_agg('at app ' || word(400 + k, i), E'\n' ORDER BY i) FROM generate_series(1, 4) AS i) || E'\n'
    || (SELECT string_agg('at frame ' || word(400, i), E'\n' ORDER BY i) FROM generate_series(1, 40) AS i) || E'\nreport ' || n * 37 + k
FROM generate_series(1, 12) AS k, generate_series(1, 6) AS n;
CALL simhash_add_clusters('crashes', 'mh', 8, similarity => 'alike-but-digits');
SELECT s, (SELECT count(*) FROM simhash_dedup_plan('crashes', 'mh', similarity => s) WHERE doubt IS NULL) AS gone,
       (SELECT count(*) FROM simhash_clusters('SELECT id, mh, body FROM crashes', document => 'body', similarity => s, min_size => 1) WHERE id = representative) AS clusters,
       (SELECT count(*) FROM simhash_pairs('SELECT id, mh, body FROM crashes', document => 'body', similarity => s) WHERE a / 100 <> b / 100) AS of_two_kinds
FROM unnest('{alike,alike-but-digits}'::text[]) AS s;
SELECT count(DISTINCT cluster) AS stored, count(DISTINCT (cluster, kind)) AS kinds FROM crashes;
CALL simhash_drop_clusters('crashes');
DROP TABLE ads, crashes;

-- forms of long questions and short answers: who answers otherwise is another
CREATE TABLE forms (id int PRIMARY KEY, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO forms
SELECT n, (SELECT string_agg((SELECT string_agg(word(50 + q, i), ' ') FROM generate_series(1, 40) AS i)
                             || CASE hashint4(n * 31 + q) & 1 WHEN 1 THEN ' yes ' ELSE ' no ' END, '' ORDER BY q)
           FROM generate_series(1, 20) AS q)
FROM generate_series(1, 90) AS n;
INSERT INTO forms SELECT id + 100, upper(body) FROM forms WHERE id <= 5;
SELECT count(DISTINCT body) AS texts, count(DISTINCT mh) < 50 AS few FROM forms;
SELECT count(*) FILTER (WHERE doubt IS NULL) AS gone, count(*) FILTER (WHERE doubt = 'entries') AS entries
FROM simhash_dedup_plan('forms', 'mh');
SELECT agree('forms', 'mh', '') ~ '^5 gone, \d+ doubtful$' AS agree;

-- in copies with light edits another word is one, too, but a word that negates is none
CREATE TABLE edits (id int PRIMARY KEY, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO edits
SELECT n, (SELECT string_agg(CASE WHEN i <> 20 + 4 * n THEN word(70, i) ELSE '' END, ' ' ORDER BY i) FROM generate_series(1, 80) AS i)
FROM generate_series(1, 9) AS n;
INSERT INTO edits
SELECT 10 + n, replace(body, word(70, 8), (ARRAY['other', 'not ' || word(70, 8)])[n]) FROM edits, generate_series(1, 2) AS n WHERE id = 1;
SELECT gone, doubt, differs FROM simhash_dedup_plan('edits', 'mh') WHERE gone[1]::int > 10 ORDER BY gone;
-- nor is a number in words or in letters, or a word beside a number, or one that changed places
DELETE FROM edits WHERE id > 10;
UPDATE edits SET body = replace(body, word(70, 9), 'five million euros for 12 kg of part II and first trzy');
INSERT INTO edits
SELECT 10 + n, replace(body, x[1], x[2])
FROM edits, unnest('{of=in,five=six,million=billion,euros=million euros,kg=pounds,II=IV,of part=part of,first=second,trzy=dwa}'::text[]) WITH ORDINALITY AS u (u, n), string_to_array(u, '=') AS x
WHERE id = 1;
SELECT gone, doubt, differs FROM simhash_dedup_plan('edits', 'mh') WHERE gone[1]::int > 10 ORDER BY gone;
-- ... nor are some words in another order
DELETE FROM edits WHERE id > 10;
UPDATE edits SET body = body || ' ann berger beat tom ' || (SELECT string_agg(word(71, i), ' ' ORDER BY i) FROM generate_series(1, 70) AS i);
INSERT INTO edits
SELECT 10 + n, replace(body, 'ann berger beat tom', (ARRAY['tom beat ann berger', 'eve miller met jim'])[n]) FROM edits, generate_series(1, 2) AS n WHERE id = 1;
-- ... nor what two or three places have, of other lengths
INSERT INTO edits
SELECT 12 + n, replace(replace(replace(replace(body, 'ann berger', '@'), word(71, 30), 'ann berger'), CASE n WHEN 2 THEN word(71, 60) ELSE '@' END, word(71, 30)), '@', word(71, 60))
FROM edits, generate_series(1, 2) AS n WHERE id = 1;
SELECT gone, doubt, differs FROM simhash_dedup_plan('edits', 'mh') WHERE gone[1]::int > 10 ORDER BY gone;
DROP TABLE edits;
-- what stands elsewhere is a doubt, whether it is the same or not
CREATE TABLE pages (id int PRIMARY KEY, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO pages SELECT n, CASE n WHEN 1 THEN menu || body WHEN 2 THEN body || menu WHEN 3 THEN body ELSE body || ' read on tomorrow' END
FROM generate_series(1, 4) AS n, (SELECT ' home news sport ' AS menu, string_agg(word(72, i), ' ' ORDER BY i) AS body FROM generate_series(1, 80) AS i) AS t;
SELECT gone, kept, doubt, differs FROM simhash_dedup_plan('pages', 'mh', keep => 'id') ORDER BY gone;
SELECT item, value FROM simhash_report('pages', 'mh', 8, keep => 'id') WHERE section = 'doubts';
DROP TABLE pages;
-- an entry is one at the end, too, in whichever rows it is; and what fewer than five have says nothing
CREATE TABLE ends (id int PRIMARY KEY, body text, mh bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO ends
SELECT 20 * f + n, (SELECT string_agg(word(200 + f, i), ' ' ORDER BY i) FROM generate_series(1, 80) AS i WHERE n <= 5 OR i <> 4 * n)
       || CASE WHEN n <= 5 THEN ' ' || word(299, n) ELSE '' END
FROM generate_series(1, 10) AS f, generate_series(1, 10) AS n;
SELECT count(*) FILTER (WHERE doubt IS NULL) AS gone, count(*) FILTER (WHERE doubt = 'entries') AS entries
FROM simhash_dedup_plan('ends', 'mh') WHERE gone[1]::int % 20 <= 5 AND kept[1]::int % 20 <= 5;
TRUNCATE ends;
INSERT INTO ends
SELECT n, (SELECT string_agg(word(300, CASE WHEN n = 20 AND i = 320 THEN 999 ELSE i END), ' ' ORDER BY i)
           FROM generate_series(1, (40 * 1.13 ^ least(n, 19))::int) AS i)
FROM generate_series(1, 20) AS n;
SELECT gone, kept, doubt FROM simhash_dedup_plan('ends', 'mh', 12) WHERE gone = '{20}';
DROP TABLE ends;

----------------------------------------
-- fingerprints that decide
----------------------------------------

SELECT gone, kept, distance, similarity, needed, doubt, family, differs, compared, hamming(g.wide, k.wide) AS bits FROM simhash_dedup_plan('docs', 'mh', 12, document => 'wide', similarity => 'hamming', at_most => 12) AS p
JOIN docs AS g ON g.id = gone[1]::int JOIN docs AS k ON k.id = kept[1]::int WHERE kept = '{1}' ORDER BY g.id;
SELECT simhash_dedup_sql('docs', 'mh', document => 'wide', similarity => 'hamming', at_most => 12) ~ 'fingerprints \(t\.wide\) at most 12 bits apart' AS said;
SELECT value FROM simhash_report('docs', 'mh', document => 'wide', similarity => 'hamming', at_most => 12) WHERE item = 'delete';
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => 'wide', similarity => 'hamming')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => 'wide', at_most => 3)$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => 'body', similarity => 'jaccard', at_most => 3)$$);
SELECT fails($$SELECT simhash_report('docs', 'plain', similarity => 'hamming', at_most => 3)$$);
SELECT fails($$SELECT simhash_dedup_sql('docs', 'plain', at_most => 3)$$);
SELECT fails($$SELECT simhash_report('docs', 'mh', similarity => 'hamming', at_most => 3)$$);
SELECT fails($$SELECT simhash_report('docs', 'mh', document => 'wide')$$);
SELECT fails($$SELECT simhash_report('docs', 'mh', document => 'site', similarity => 'hamming', at_most => 3)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, wide FROM docs', document => 'wide')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, body FROM docs', document => 'body', similarity => 'hamming', at_most => 3)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh, wide FROM docs', document => 'wide', similarity => 'hamming')$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, mh FROM docs', at_most => 3)$$);
SELECT fails($$SELECT simhash_clusters('SELECT id, mh, body FROM docs', document => 'body', at_most => 3)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, 1::bigint, id::bit(64)::bit varying AS b FROM docs UNION ALL SELECT 99, 1, B''1010''',
    document => 'b', similarity => 'hamming', at_most => 3)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, 1::bigint, id::bit(64) || id::bit(65) AS b FROM docs UNION ALL SELECT 99, 1, 5::bit(64)',
    document => 'b', similarity => 'hamming', at_most => 3)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, 1::bigint, repeat(''1'', 1100)::varbit AS b FROM docs',
    document => 'b', similarity => 'hamming', at_most => 3)$$);
SELECT fails($$SELECT simhash_pairs('SELECT id, 1::bigint, ''''::varbit AS b FROM docs',
    document => 'b', similarity => 'hamming', at_most => 3)$$);
SELECT count(*) FROM simhash_pairs('SELECT id, 1::bigint, NULL::bit(64) AS b FROM docs', document => 'b', similarity => 'hamming', at_most => 3);
SELECT count(*) FROM simhash_pairs('SELECT id, 1::bigint, mh FROM docs', document => 'mh', similarity => 'hamming', at_most => 64);
SELECT count(*) FROM simhash_pairs('SELECT id, 1::bigint, mh FROM docs', document => 'mh', similarity => 'hamming', at_most => -1);
SELECT count(*) FROM simhash_clusters('SELECT id, 1::bigint, mh FROM docs', document => 'mh', similarity => 'hamming', at_most => -1);
SELECT count(*) FROM simhash_pairs('SELECT id, 1::bigint, mh FROM docs', document => 'mh', similarity => 'hamming', at_most => 5000000000);

----------------------------------------
-- what cannot be
----------------------------------------

CREATE VIEW seen AS TABLE docs;
CREATE MATERIALIZED VIEW kept AS TABLE docs;
SELECT fails($$SELECT simhash_dedup_plan('seen', 'mh')$$);
SELECT fails($$SELECT simhash_dedup_plan('kept', 'mh')$$);
SELECT fails($$SELECT simhash_dedup_plan(NULL, 'mh')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', NULL)$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', kind => NULL)$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', within => NULL)$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', 17)$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', kind => 'round')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'body')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', keep => 'nonesuch')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', within => '{nonesuch}')$$);
-- a document is an expression for one row
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => 'max(body)')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => 'body, id')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => 'body) OR (true')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => '')$$);
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => 't.*')$$);
SELECT fails($$SELECT simhash_report('docs', 'mh', document => 'regexp_split_to_table(body, '' '')')$$);
SELECT fails($$SELECT simhash_dedup_sql('docs', 'mh', document => 'row_number() OVER ()')$$);
-- one that fails for a row
SELECT fails($$SELECT simhash_dedup_plan('docs', 'mh', document => '(1 / (id - 3))::text')$$);
-- empty, and of one row
CREATE TABLE none (id int PRIMARY KEY, fp bigint, body text);
SELECT agree('none', 'fp'), agree('none', 'fp', ', document => ''body''');
INSERT INTO none VALUES (1, 5, 'x');
SELECT agree('none', 'fp'), agree('none', 'fp', ', document => ''body''');

-- a table that is NULL is refused, by every plan
SELECT call, fails(format('SELECT * FROM ' || call, n))
FROM unnest(ARRAY['simhash_report(%s, ''fp'')', 'simhash_dedup_plan(%s, ''fp'')',
    'simhash_dedup_sql(%s, ''fp'')']) AS call,
    unnest(ARRAY['NULL', '(SELECT oid::regclass FROM pg_class WHERE relname = '''')']) AS n
ORDER BY call, n;

-- a fingerprint of char(n), or of a name, has a cast that is not written
CREATE TABLE padded (id int PRIMARY KEY, body char(60), name name, of_body bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    of_name bigint GENERATED ALWAYS AS (minhash(name, 'char-4')) STORED);
INSERT INTO padded SELECT n, CASE n WHEN 3 THEN 'five ' ELSE '' END || 'tea is served in the garden of the old house', 'tea in the garden' FROM generate_series(1, 3) AS n;
SELECT gone, kept, compared FROM simhash_dedup_plan('padded', 'of_body') ORDER BY gone;
SELECT gone, kept, compared FROM simhash_dedup_plan('padded', 'of_name') ORDER BY gone;
SELECT simhash_dedup_sql('padded', 'of_body') AS delete \gexec
SELECT id FROM padded ORDER BY id;

----------------------------------------
-- rights
----------------------------------------

CREATE ROLE regress_dedup_plan_reader;
GRANT USAGE ON SCHEMA plan TO regress_dedup_plan_reader;
GRANT SELECT (id, mh, ctid, tableoid) ON docs TO regress_dedup_plan_reader;
SET ROLE regress_dedup_plan_reader;
SELECT fails($$SELECT * FROM simhash_dedup_plan('docs', 'mh')$$);
SELECT count(*) > 0 AS some FROM simhash_dedup_plan('docs', 'mh', similarity => 'none');
SELECT fails($$SELECT * FROM simhash_dedup_plan('docs', 'mh', similarity => 'none', apart => 'apart')$$);
RESET ROLE;
GRANT SELECT ON docs, apart TO regress_dedup_plan_reader;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON docs USING (site = 1);
SET ROLE regress_dedup_plan_reader;
SELECT count(*) FILTER (WHERE gone[1]::int % 3 <> 1 OR kept[1]::int % 3 <> 1) AS hidden, count(*) > 0 AS some
FROM simhash_dedup_plan('docs', 'mh', apart => 'apart');
RESET ROLE;
DROP OWNED BY regress_dedup_plan_reader;
DROP ROLE regress_dedup_plan_reader;

RESET search_path;
RESET timezone;
RESET datestyle;
DROP SCHEMA plan CASCADE;
