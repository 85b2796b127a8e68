--
-- tune_edits.c: simhash_edits, simhash_tune_edits
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

-- what the edits are: of a language with spaces, of Chinese, of Thai
\pset format unaligned
SELECT * FROM simhash_edits(
    'The first sentence stands here. The second one follows. And a third.',
    'Something else entirely! Said by somebody.');
SELECT * FROM simhash_edits('天地玄黄。宇宙洪荒！日月盈昃，辰宿列张。',
                            '寒来暑往。秋收冬藏。');
SELECT * FROM simhash_edits(
    'มนุษย์ทั้งหลายเกิดมามีอิสระ และเสมอภาคกัน ต่างมีเหตุผล', 'ทุกคนมีสิทธิ ในชีวิต');
-- a title has no sentence to drop; what stays as it is was not edited
SELECT * FROM simhash_edits('Tea', 'No, at six.');
SELECT * FROM simhash_edits('茶', '茶');
\pset format aligned
SELECT count(*) FROM simhash_edits('');
SELECT count(*) FROM simhash_edits(NULL);
SELECT count(*) FROM simhash_edits(NULL, 'a');
-- without another document its own words are put into it
SELECT count(*) AS edits,
       count(*) FILTER (WHERE a IS DISTINCT FROM b) AS different,
       count(*) FILTER (WHERE a IS DISTINCT FROM c) AS different
FROM simhash_edits('One two three. Four five six.') AS a
     FULL JOIN simhash_edits('One two three. Four five six.', '') AS b
     USING (edit)
     FULL JOIN simhash_edits('One two three. Four five six.',
                             'One two three. Four five six.') AS c
     USING (edit);

-- texts of 5 to 50 sentences, seven words each, in paragraphs of four
CREATE TABLE texts AS
SELECT n, (SELECT string_agg('Word' || n * i % 97 || ' is no' || n * i % 31 ||
                             ' of ' || md5(n || ' ' || i) || ', so ' ||
                             left(md5(i || ' ' || n), 1 + i % 6) ||
                             CASE WHEN i % 4 = 0 THEN E'.\n\n' ELSE '. ' END, '')
           FROM generate_series(1, 4 + n) AS i) AS body
FROM generate_series(1, 46) AS n;

-- each does what it is to do
CREATE TABLE copies AS
SELECT n, body, b.other, e.*
FROM texts AS a,
     LATERAL (SELECT body FROM texts AS b WHERE b.n = a.n % 46 + 1) AS b(other),
     simhash_edits(a.body, b.other) AS e;
SELECT edit, light, count(*), count(*) FILTER (WHERE edited = body) AS unedited
FROM copies GROUP BY edit, light ORDER BY light DESC, edit;
SELECT count(*) AS wrong FROM copies
WHERE edit = 'source' AND
      NOT (right(edited, length(body) + 1) = E'\n' || body AND
           length(edited) - length(body) BETWEEN 2 AND 110 AND
           position(split_part(edited, E'\n', 1)
                    IN translate(other, E'\n', ' ')) > 0);
SELECT count(*) AS wrong FROM copies
WHERE edit = 'advert' AND
      NOT (left(edited, length(body) + 1) = body || E'\n' AND
           length(edited) - length(body) <= 250 AND
           position(substr(edited, length(body) + 2)
                    IN translate(other, E'\n', ' ')) > 0);
SELECT count(*) AS wrong FROM copies
WHERE edit = 'cut' AND edited <> left(body, length(body) - length(body) / 5);
SELECT count(*) AS wrong FROM copies
WHERE edit = 'template' AND
      NOT (position(E'\n' || body || E'\n' IN edited) BETWEEN 30 AND 120 AND
           right(edited, 1) <> E'\n');
SELECT count(*) AS wrong FROM copies
WHERE edit = 'case' AND
      lower(translate(edited, '.,;:!-', '')) <> lower(translate(body, '.,', ''));
-- the same sentences, of which one is gone, or another text's, or elsewhere
CREATE FUNCTION sentences(document text) RETURNS text[] LANGUAGE sql AS $$
    SELECT array_remove(regexp_split_to_array(document, '(?<=\.)\s+'), '')
$$;
CREATE FUNCTION less(a text[], b text[]) RETURNS text[] LANGUAGE sql AS $$
    SELECT ARRAY(SELECT unnest(a) EXCEPT ALL SELECT unnest(b))
$$;
SELECT edit, count(*) FILTER (
           WHERE cardinality(less(sentences(body), sentences(edited))) <>
                 (edit <> 'move')::int OR
                 cardinality(less(sentences(edited), sentences(body))) <>
                 (edit = 'replace')::int) AS wrong,
       count(*) FILTER (WHERE sentences(edited) = sentences(body)) AS same,
       count(*) FILTER (
           WHERE NOT less(sentences(edited), sentences(body)) <@
                     sentences(other)) AS not_from_other
FROM copies WHERE edit IN ('drop', 'replace', 'move')
GROUP BY edit ORDER BY edit;
-- one in a hundred, at least one; a word may be replaced by the same one
CREATE FUNCTION differing(a text[], b text[]) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(*) FILTER (WHERE x IS DISTINCT FROM y)
    FROM unnest(a, b) AS u (x, y)
$$;
SELECT count(*) FILTER (WHERE changed NOT BETWEEN wanted * 9 / 10 AND wanted)
       AS wrong, max(changed) > 1 AS several
FROM (SELECT differing(string_to_array(body, NULL),
                       string_to_array(edited, NULL)) AS changed,
             greatest(1, (length(body) + 50) / 100) AS wanted
      FROM copies WHERE edit = 'characters') AS c;
SELECT count(*) FILTER (WHERE changed NOT BETWEEN 1 AND wanted) AS wrong,
       max(changed) > 1 AS several
FROM (SELECT differing(regexp_split_to_array(body, '\s+'),
                       regexp_split_to_array(edited, '\s+')) AS changed,
             greatest(1, (array_length(sentences(body), 1) * 7 + 50) / 100)
             AS wanted
      FROM copies WHERE edit = 'words') AS c;

-- simhash_tune_edits against its definition: the texts with the smallest
-- hashes, each edited with words of the next
INSERT INTO texts SELECT n, body FROM texts WHERE n % 3 = 0;
INSERT INTO texts VALUES (0, NULL), (0, ''), (100, '??? !'), (101, 'Tea'),
    (102, 'No, at six'), (103, '天地玄黄。宇宙洪荒！日月盈昃，辰宿列张。');
CREATE FUNCTION by_definition(sample int, profiles text[], edits text[])
RETURNS TABLE (family text, profile text, k int, copies bigint, recall float8,
               worst_recall float8, strangers float8) LANGUAGE sql AS $$
    WITH sample AS MATERIALIZED (
        SELECT body, row_number() OVER w AS n,
               coalesce(lead(body) OVER w, first_value(body) OVER w) AS other
        FROM (SELECT body, simhash(ARRAY[body]) # (-9223372036854775808) AS hash
              FROM texts WHERE body <> ''
              GROUP BY body ORDER BY hash LIMIT sample) AS t
        WINDOW w AS (ORDER BY hash)),
    recipes AS (
        SELECT * FROM unnest(profiles) AS profile,
                      unnest('{simhash,minhash}'::text[]) AS family),
    prints AS MATERIALIZED (
        SELECT family, profile, n, body, other,
               CASE family WHEN 'simhash' THEN simhash(body, profile)
                           ELSE minhash(body, profile) END AS fp
        FROM sample, recipes),
    distances AS MATERIALIZED (
        SELECT family, profile, edit,
               coalesce(fp <~> CASE family WHEN 'simhash'
                               THEN simhash(edited, profile)
                               ELSE minhash(edited, profile) END, 65) AS d
        FROM prints, simhash_edits(body, other)
        WHERE fp IS NOT NULL AND edit = ANY (edits)),
    recalls AS (
        SELECT family, profile, k, edit, count(*) AS copies,
               avg((d <= k)::int)::float8 AS recall
        FROM distances, generate_series(0, 16) AS k
        GROUP BY family, profile, k, edit),
    pairs AS MATERIALIZED (
        SELECT a.family, a.profile, a.fp <~> b.fp AS d
        FROM prints AS a JOIN prints AS b USING (family, profile)
        WHERE a.n < b.n AND a.fp IS NOT NULL AND b.fp IS NOT NULL)
    SELECT family, profile, k, sum(copies)::bigint, avg(recall), min(recall),
           (SELECT avg((d <= k)::int)::float8 FROM pairs AS p
            WHERE (p.family, p.profile) = (r.family, r.profile))
    FROM recalls AS r GROUP BY family, profile, k
$$;
SELECT family, profile, count(*) AS distances,
       count(*) FILTER (WHERE t.copies IS DISTINCT FROM d.copies OR
                        abs(t.recall - d.recall) > 1e-9 OR
                        abs(t.worst_recall - d.worst_recall) > 1e-9 OR
                        abs(t.strangers - d.strangers) > 1e-9) AS wrong,
       count(DISTINCT t.recall) > 3 AS recalls_differ,
       max(t.strangers) > 0 AS some_strangers
FROM simhash_tune_edits('SELECT body FROM texts', 1000,
                        '{word-2,word-1-2,char-4,clickhouse-ngram}') AS t
     FULL JOIN by_definition(1000, '{word-2,word-1-2,char-4,clickhouse-ngram}',
                             '{source,advert,drop,replace,words,characters}')
     AS d USING (family, profile, k)
GROUP BY family, profile ORDER BY family, profile COLLATE "C";
-- of a sample, by edits of our choice, whatever the order of the rows
SELECT family, count(*) AS distances,
       count(*) FILTER (WHERE t.copies IS DISTINCT FROM d.copies OR
                        abs(t.recall - d.recall) > 1e-9 OR
                        abs(t.worst_recall - d.worst_recall) > 1e-9 OR
                        abs(t.strangers - d.strangers) > 1e-9) AS wrong
FROM simhash_tune_edits('SELECT body FROM texts ORDER BY md5(body)', 15,
                        '{word-2}', '{cut,move,case,template,cut}') AS t
     FULL JOIN by_definition(15, '{word-2}', '{cut,move,case,template}') AS d
     USING (family, profile, k)
GROUP BY family ORDER BY family;
SELECT count(*) AS different
FROM (SELECT * FROM simhash_tune_edits('SELECT body FROM texts', 15) EXCEPT
      SELECT * FROM simhash_tune_edits(
          'SELECT body::varchar FROM texts ORDER BY n DESC', 15)) AS t;
-- one kind alone is the worst, and the mean is that of all
CREATE TABLE alone AS
SELECT t.* FROM unnest('{source,advert,drop,replace,words,characters}'::text[])
                AS edit,
     simhash_tune_edits('SELECT body FROM texts', edits => ARRAY[edit]) AS t
WHERE t.worst_edit = edit AND t.worst_recall = t.recall;
SELECT count(*) AS rows,
       count(*) FILTER (WHERE abs(t.recall - a.recall) > 1e-9 OR
                        t.copies <> a.copies) AS wrong,
       count(*) FILTER (WHERE NOT EXISTS (
           SELECT FROM alone AS b
           WHERE (b.family, b.profile, b.k) = (t.family, t.profile, t.k) AND
                 (b.worst_edit, b.recall) = (t.worst_edit, t.worst_recall)))
       AS worst_wrong
FROM simhash_tune_edits('SELECT body FROM texts') AS t
     JOIN LATERAL (SELECT avg(recall) AS recall, sum(copies) AS copies
                   FROM alone AS a WHERE (a.family, a.profile, a.k) =
                                         (t.family, t.profile, t.k)) AS a
     ON true;

-- the profiles if none are named begin with the default one
SELECT count(DISTINCT (family, profile)) * 17 = count(*) AS each_once,
       (array_agg(profile ORDER BY line))[1] =
           (SELECT profile FROM simhash_profiles() WHERE is_default)
       AS default_first,
       (array_agg(family ORDER BY line))[1]
FROM simhash_tune_edits('SELECT body FROM texts') WITH ORDINALITY
     AS t (family, profile, k, copies, recall, worst_edit, worst_recall,
           strangers, line);
SELECT DISTINCT profile
FROM simhash_tune_edits('SELECT body FROM texts', profiles => '{word-2-2}');
-- nothing to tell
SELECT copies, recall, worst_edit, worst_recall, strangers, count(*)
FROM simhash_tune_edits('SELECT body FROM texts WHERE n = 0', 10, '{word-2}')
GROUP BY 1, 2, 3, 4, 5;
SELECT DISTINCT copies, recall, worst_edit, worst_recall, strangers
FROM simhash_tune_edits('SELECT body FROM texts WHERE n = 100', 10, '{word-2}');
SELECT DISTINCT copies, strangers
FROM simhash_tune_edits('SELECT body FROM texts WHERE n = 20', 10, '{word-2}');
SELECT DISTINCT copies, recall
FROM simhash_tune_edits('SELECT body FROM texts', edits => '{}');
SELECT count(*) FROM simhash_tune_edits('SELECT body FROM texts',
                                        profiles => '{}');
SELECT count(*) FROM simhash_tune_edits(NULL);
SELECT count(*) FROM simhash_tune_edits('SELECT body FROM texts', NULL);
SELECT count(*) > 0 AS some
FROM simhash_tune_edits('SELECT body FROM texts', 10, NULL, NULL);

-- of long documents the beginning, up to a character
CREATE TABLE long AS
SELECT string_agg(md5(i::text), ' ') AS body FROM generate_series(1, 40000) AS i;
INSERT INTO long SELECT '天' || string_agg('天地玄黄' || i, '') FROM generate_series(1, 70000) AS i;
INSERT INTO texts SELECT 200, body FROM long;
SELECT octet_length(body) > 1024 * 1024 AS long FROM long;
SELECT count(*) AS rows, count(*) FILTER (WHERE a <> b) AS different
FROM simhash_tune_edits('SELECT body FROM long', 10, '{word-2}') AS a
     JOIN simhash_tune_edits('SELECT CASE WHEN body < ''g'' THEN left(body, 1024 * 1024)
        ELSE convert_from(substr(convert_to(body, ''UTF8''), 1, 1024 * 1024 - 1), ''UTF8'') END
        FROM long', 10, '{word-2}') AS b USING (family, profile, k);
-- a file in base64 is no word to be put into a text ten thousand times
SELECT edit, length(edited) FROM simhash_edits(repeat('天', 300000), repeat('x', 1000000))
WHERE edit = 'words';
SELECT fails('SELECT simhash_edits(body) FROM long LIMIT 1');
SELECT fails('SELECT simhash_edits(''a'', body) FROM long LIMIT 1');
\set VERBOSITY terse
SET statement_timeout = '50ms';
SELECT count(*) FROM simhash_tune_edits('SELECT body FROM long');       -- error
SELECT count(*) FROM simhash_edits(repeat('??', 500000) || 'a');        -- error
RESET statement_timeout;
\set VERBOSITY default

-- what fails
CREATE DOMAIN title AS text;
CREATE TYPE mood AS ENUM ('sad', 'happy');
SELECT count(*) > 0 AS domain_counts
FROM simhash_tune_edits('SELECT body::title FROM texts WHERE n < 9');
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT n FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT ''sad''::mood')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT texts FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT ARRAY[body] FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body, 1::bigint FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT FROM texts')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('DELETE FROM texts RETURNING body')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('texts')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body FROM texts', 0)$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body FROM texts', 5000000000)$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body FROM texts',
    profiles => '{word-2,nonesuch}')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body FROM texts',
    profiles => '{word-2,NULL}')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body FROM texts',
    profiles => '{{word-2,word-1}}')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body FROM texts',
    edits => '{cut,erase}')$$);
SELECT fails($$SELECT * FROM simhash_tune_edits('SELECT body FROM texts',
    edits => '{NULL}')$$);

DROP TABLE texts, copies, alone, long;
DROP DOMAIN title;
DROP TYPE mood;
DROP FUNCTION sentences, less, differing, by_definition;
