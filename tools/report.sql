--
-- Write what the page of tools/report shows: two lines of JSON.
-- SPDX-License-Identifier: PostgreSQL
--
-- usage: psql -X -q -v table=docs [-v id=id] [-v body=body] [-v fp=fp] [-v k=3]
--             [-v upto=8] [-v within=site,lang] [-v profile=word-2-capped]
--             [-v shown=20] [-v members=12] [-v held=200000]
--             -f tools/report.sql
--
-- table, id, body and fp are SQL: a table's name and expressions over it, of any
-- type but fp, which is bigint or bit(n); an id of several columns is written
-- with commas.  within names columns.  Two searches serve the page:
--
--   - What pairs within distance upto connect, each different fingerprint once:
--     no cluster for any k up to that crosses a border there, so the page can
--     make the clusters itself, from the fingerprints.  It holds the largest
--     of these parts, of "held" fingerprints together.
--   - The clusters for k, as simhash_dedup_sql has them: exact figures, however
--     much is held.
--
-- Of the largest clusters and parts, and of some pairs at each distance, the
-- texts are there, cut at 20,000 characters, and which of their features are
-- not in all texts of their part.
--
-- The table may belong to somebody whose code must not run here: what is
-- called or compared says pg_catalog, for the search_path is that of the
-- expressions, and ids and texts are written by concat(), not by a cast.
--

\set ON_ERROR_STOP on
\if :{?table}
\else
\warn 'usage: psql -X -q -v table=docs [-v id=id] [-v body=body] [-v fp=fp] [-v k=3] ...'
\quit
\endif
\if :{?id} \else \set id id \endif
\if :{?body} \else \set body body \endif
\if :{?fp} \else \set fp fp \endif
\if :{?k} \else \set k 3 \endif
\if :{?within} \else \set within '' \endif
\if :{?profile} \else \set profile '' \endif
\if :{?shown} \else \set shown 20 \endif
\if :{?members} \else \set members 12 \endif
\if :{?held} \else \set held 200000 \endif
\pset format unaligned
\pset tuples_only on
\encoding UTF8
-- All from one snapshot, and nothing but read.  Names are looked up by each
-- statement: whoever owns a schema could rename it meanwhile, and put another one
-- in its place.  A superuser keeps all schemas from that, for as long as it lasts;
-- nobody else can, nor is it possible on a standby.
SELECT NOT pg_catalog.pg_is_in_recovery()
       AND pg_catalog.has_table_privilege('pg_catalog.pg_namespace', 'UPDATE')
       AS holds \gset
\if :holds
BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE;
SELECT pg_catalog.count(*) AS schemas
FROM (SELECT FROM pg_catalog.pg_namespace FOR KEY SHARE) AS s \gset
SET TRANSACTION READ ONLY;
\else
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
\endif
-- Nobody knows how many rows will come, and to sort all texts is slow.
SET LOCAL enable_mergejoin = off;

SELECT pg_catalog.quote_ident(nspname) AS schema
FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace AS n
    ON n.oid OPERATOR(pg_catalog.=) extnamespace
WHERE extname OPERATOR(pg_catalog.=) 'simhash' \gset

-- Is it a name, or another item of FROM?  Then nothing can be deleted, and
-- nothing is known about bytes.
SELECT coalesce(CASE WHEN (:'table')::pg_catalog.text OPERATOR(pg_catalog.~)
    $re$^\s*(([^\s."'(),;]+|"([^"]|"")+")\s*\.\s*)*([^\s."'(),;]+|"([^"]|"")+")\s*$$re$
    THEN pg_catalog.to_regclass(:'table')::pg_catalog.oid END, 0) AS relation \gset

-- What a row takes: its header, its pointer, and its columns, compressed or
-- elsewhere as they may be.
SELECT coalesce('28::bigint' OPERATOR(pg_catalog.||) pg_catalog.string_agg(
           pg_catalog.format(' OPERATOR(pg_catalog.+) coalesce('
                             'pg_catalog.pg_column_size(%I.%I), 0)',
                             relname, attname), ''), 'NULL::bigint') AS bytes
FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class AS c
    ON c.oid OPERATOR(pg_catalog.=) attrelid
WHERE attrelid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid
    AND attnum OPERATOR(pg_catalog.>) 0 AND NOT attisdropped
    AND attgenerated OPERATOR(pg_catalog.<>) 'v'
HAVING pg_catalog.bool_and(
    pg_catalog.has_column_privilege(c.oid, attnum, 'SELECT'))
UNION ALL SELECT 'NULL::bigint' LIMIT 1 \gset

SELECT coalesce(pg_catalog.string_agg(pg_catalog.format(
           ', %I AS "report: %s"', name, number), ''), '') AS columns,
       coalesce(pg_catalog.string_agg(pg_catalog.format(
           ', "report: %s"', number), ''), '') AS groups
FROM pg_catalog.unnest(pg_catalog.concat('{', :'within', '}')::pg_catalog.text[])
    WITH ORDINALITY AS u (name, number) \gset
SELECT pg_catalog.format('CASE WHEN (%s) IS NOT NULL THEN pg_catalog.concat((%1$s)) END', :'id') AS key \gset
SELECT pg_catalog.format(
    'SELECT CASE WHEN "report: key" IS NOT NULL'
    ' THEN pg_catalog.concat("report: key") END, "report: fp"%s'
    ' FROM (SELECT (%s) AS "report: key", (%s) AS "report: fp"%s FROM %s)'
    ' AS "report: rows" ORDER BY "report: key"',
    :'groups', :'id', :'fp', :'columns', :'table') AS query \gset

-- Is the fingerprint a bigint or a bit string?  Nothing else is taken; the
-- lock on the table sees to it that it stays what it is.
SELECT FROM :schema._simhash_clusters_by_text(
    pg_catalog.concat(:'query', ' LIMIT 0'), (:'k')::bigint,
    'star'::pg_catalog.text, 'first'::pg_catalog.text, 2::bigint);
SELECT typcategory OPERATOR(pg_catalog.=) 'V' AS bits FROM pg_catalog.pg_type
WHERE oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof((SELECT (:fp) FROM :table LIMIT 1)) \gset
\if :bits
\set hex 'pg_catalog.substr(pg_catalog.encode(pg_catalog.varbit_send((' :fp ')), ''hex''), 9)'
\set width 'pg_catalog.length((' :fp '))'
\else
\set hex 'pg_catalog.lpad(pg_catalog.to_hex((' :fp ')), 16, ''0'')'
\set width 64
\endif
SELECT pg_catalog.count(*) AS rows, pg_catalog.count((:fp)) AS present,
       pg_catalog.count((:fp)) FILTER (WHERE (:key) IS NULL) AS nameless,
       coalesce(pg_catalog.max(:width), 64) AS width
FROM :table \gset

-- As far as a search goes, but for the reader's wish.
\if :{?upto}
\else
SELECT least(greatest(8, (:'k')::bigint OPERATOR(pg_catalog.*) 3
                      OPERATOR(pg_catalog./) 2),
             17 OPERATOR(pg_catalog.*) (((:'width')::bigint OPERATOR(pg_catalog.+) 63)
             OPERATOR(pg_catalog./) 64) OPERATOR(pg_catalog.-) 1) AS upto \gset
\endif
SELECT greatest((:'upto')::bigint, (:'k')::bigint) AS upto \gset
SELECT CASE WHEN :'profile' OPERATOR(pg_catalog.<>) '' THEN :'profile'
       ELSE profile END AS profile
FROM :schema.simhash_profiles() WHERE is_default \gset

-- What would delete: the text before k, and that after it; nothing where rows are
-- on other servers, in foreign tables or by Citus.
SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS citus \gset
\if :citus
SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition
               WHERE logicalrelid::pg_catalog.oid
                   OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid) AS distributed \gset
\else
\set distributed false
\endif
SELECT coalesce((SELECT pg_catalog.json_build_array(
    pg_catalog.format('SELECT %s.simhash_dedup_sql(%L, %L, ', :'schema',
                      pg_catalog.format('%I.%I', nspname, relname), :'fp'),
    pg_catalog.concat(pg_catalog.format(', keep => %L', :'id'),
                      CASE WHEN :'within' OPERATOR(pg_catalog.<>) ''
                      THEN pg_catalog.format(', within => %L',
                          pg_catalog.concat('{', :'within', '}')) END, ')'))
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
        ON n.oid OPERATOR(pg_catalog.=) relnamespace
    WHERE c.oid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid
        AND relkind OPERATOR(pg_catalog.=) ANY ('{r,p}')
        AND NOT :distributed
        AND NOT EXISTS (WITH RECURSIVE tree AS (
                SELECT c.oid AS relid
                UNION SELECT inhrelid FROM tree JOIN pg_catalog.pg_inherits
                    ON inhparent OPERATOR(pg_catalog.=) relid)
            SELECT FROM tree JOIN pg_catalog.pg_class AS part
                ON part.oid OPERATOR(pg_catalog.=) relid
            WHERE part.relkind OPERATOR(pg_catalog.=) 'f')), 'null')
    AS delete,
    coalesce((SELECT pg_catalog.json_agg(pg_catalog.format('%s (%s)',
                  conrelid::pg_catalog.regclass, conname) ORDER BY conname)
              FROM pg_catalog.pg_constraint
              WHERE contype OPERATOR(pg_catalog.=) 'f'
                  AND confrelid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid
                  AND conparentid OPERATOR(pg_catalog.=) 0), '[]') AS referring \gset

-- (the quoted names are not those of a table, whatever it is called)
WITH "report: member" AS MATERIALIZED (
    SELECT *
    FROM :schema._simhash_clusters_by_text((:'query')::pg_catalog.text,
        (:'upto')::bigint, 'connected'::pg_catalog.text,
        'first'::pg_catalog.text, 2::bigint) WITH ORDINALITY
        AS m (id, part, first, away, rows, line)
), "report: star" AS MATERIALIZED (
    SELECT *
    FROM :schema._simhash_clusters_by_text((:'query')::pg_catalog.text,
        (:'k')::bigint, 'star'::pg_catalog.text, 'first'::pg_catalog.text,
        2::bigint) AS s (id, star, representative, distance, size)
), "report: row" AS MATERIALIZED (
    SELECT m.*, s.star, s.representative, s.distance, s.size,
           s.id OPERATOR(pg_catalog.<>) s.representative AS redundant,
           d.fp, d.bytes,
           pg_catalog.row_number() OVER (PARTITION BY m.part, d.fp
               ORDER BY m.line) OPERATOR(pg_catalog.>) 1 AS copy
    FROM "report: member" AS m
    JOIN (SELECT :key AS id, :hex AS fp, :bytes AS bytes FROM :table) AS d
        ON d.id OPERATOR(pg_catalog.=) m.id
    LEFT JOIN "report: star" AS s ON s.id OPERATOR(pg_catalog.=) m.id
), "report: part" AS (
    SELECT part, rows, pg_catalog.count(*) AS nodes,
           pg_catalog.json_agg(node ORDER BY line) AS list
    FROM (SELECT part, rows, pg_catalog.min(line) AS line,
                 pg_catalog.json_build_array(fp, pg_catalog.count(*),
                     pg_catalog.left(pg_catalog.min(id) FILTER (WHERE NOT copy), 40),
                     pg_catalog.sum(bytes),
                     pg_catalog.sum(bytes) FILTER (WHERE NOT copy)) AS node
          FROM "report: row" GROUP BY part, rows, fp) AS n
    GROUP BY part, rows
), "report: held" AS MATERIALIZED (
    SELECT *
    FROM (SELECT *, pg_catalog.sum(nodes) OVER (ORDER BY rows DESC, part) AS so_far
          FROM "report: part"
          WHERE nodes OPERATOR(pg_catalog.<=) (:'held')::bigint) AS p
    WHERE so_far OPERATOR(pg_catalog.<=) (:'held')::bigint
),

-- Whose texts are shown: first of all fingerprints that differ, the farthest
-- first.
"report: place" AS MATERIALIZED (
    SELECT *, pg_catalog.row_number() OVER (PARTITION BY star
                  ORDER BY redundant, copy, distance DESC, line) AS star_place,
           pg_catalog.row_number() OVER (PARTITION BY part
                  ORDER BY copy, line) AS part_place,
           pg_catalog.row_number() OVER (PARTITION BY part, away
                  ORDER BY line) AS nth
    FROM "report: row"
), "report: largest" AS MATERIALIZED (
    SELECT star AS number, true AS star FROM (
        SELECT star FROM "report: star"
        WHERE id OPERATOR(pg_catalog.=) representative
        ORDER BY size DESC, star LIMIT (:'shown')::bigint) AS s
    UNION ALL
    SELECT part, false FROM (
        SELECT part FROM "report: member"
        WHERE id OPERATOR(pg_catalog.=) first
        ORDER BY rows DESC, part LIMIT (:'shown')::bigint) AS p
), "report: example" AS MATERIALIZED (
    SELECT first, id, away
    FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY away
                        ORDER BY nth, line) AS example
          FROM "report: place"
          WHERE id OPERATOR(pg_catalog.<>) first
              AND away OPERATOR(pg_catalog.<=) (:'upto')::bigint) AS e
    WHERE example OPERATOR(pg_catalog.<=) 3
)
-- no text may end the script element, whatever standard_conforming_strings is
SELECT pg_catalog.replace(pg_catalog.json_build_object(
    'table', :'table', 'within', :'within', 'made', pg_catalog.now(),
    'k', (:'k')::bigint, 'upto', (:'upto')::bigint,
    'members', (:'members')::bigint, 'shown', (:'shown')::bigint,
    'profile', :'profile', 'bytes', (:'bytes') OPERATOR(pg_catalog.<>) 'NULL::bigint',
    'rows', (:'rows')::bigint, 'present', (:'present')::bigint,
    'nameless', (:'nameless')::bigint,
    'delete', (:'delete')::pg_catalog.json,
    'referring', (:'referring')::pg_catalog.json,
    'clusters', (SELECT pg_catalog.count(*) FROM "report: star"
                 WHERE id OPERATOR(pg_catalog.=) representative),
    'redundant', (SELECT pg_catalog.count(*) FROM "report: row" WHERE redundant),
    'freed', (SELECT pg_catalog.sum(bytes) FROM "report: row" WHERE redundant),
    'sizes', (SELECT coalesce(pg_catalog.json_agg(
                  pg_catalog.json_build_array(low, n) ORDER BY low), '[]')
              FROM (SELECT pg_catalog.floor(pg_catalog.log(2, size))::int AS low,
                           pg_catalog.sum(n) AS n
                    FROM (SELECT size, pg_catalog.count(*) AS n
                          FROM "report: star"
                          WHERE id OPERATOR(pg_catalog.=) representative
                          GROUP BY size) AS s
                    GROUP BY 1) AS h),
    'distances', (SELECT coalesce(pg_catalog.json_agg(
                      pg_catalog.json_build_array(distance, n)
                      ORDER BY distance), '[]')
                  FROM (SELECT distance, pg_catalog.count(*) AS n
                        FROM "report: row" WHERE redundant GROUP BY 1) AS h),
    'largest', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
                    'rows', size, 'farthest', farthest, 'freed', freed,
                    'members', members) ORDER BY size DESC, number), '[]')
                FROM (SELECT number, p.size, pg_catalog.max(distance) AS farthest,
                             pg_catalog.sum(bytes) FILTER (WHERE redundant) AS freed,
                             pg_catalog.json_agg(
                                 pg_catalog.json_build_array(id, distance)
                                 ORDER BY star_place)
                             FILTER (WHERE star_place
                                 OPERATOR(pg_catalog.<=) (:'members')::bigint)
                             AS members
                      FROM "report: place" AS p JOIN "report: largest" AS l
                          ON p.star OPERATOR(pg_catalog.=) number
                      WHERE l.star GROUP BY number, p.size) AS s),
    'parts', (SELECT pg_catalog.count(*) FROM "report: part"),
    'nodes', (SELECT pg_catalog.sum(nodes) FROM "report: part"),
    'held', (SELECT coalesce(pg_catalog.json_agg(
                 pg_catalog.json_build_array(part, list) ORDER BY so_far), '[]')
             FROM "report: held"),
    'examples', (SELECT coalesce(pg_catalog.json_agg(
                     pg_catalog.json_build_array(first, id, away)), '[]')
                 FROM "report: example"))::pg_catalog.text, '<', E'\\u003c') AS data,
    (SELECT coalesce(pg_catalog.json_agg(r), '[]')
     FROM (SELECT id FROM "report: place" AS p JOIN "report: largest" AS l
               ON p.star OPERATOR(pg_catalog.=) number
           WHERE l.star AND star_place OPERATOR(pg_catalog.<=) (:'members')::bigint
           UNION
           SELECT id FROM "report: place" AS p JOIN "report: largest" AS l
               ON part OPERATOR(pg_catalog.=) number
           WHERE NOT l.star
               AND part_place OPERATOR(pg_catalog.<=) (:'members')::bigint
           UNION
           SELECT id FROM "report: example"
           UNION
           SELECT first FROM "report: example"
           -- that many are there at most: now the planner knows, too
           LIMIT 2::bigint OPERATOR(pg_catalog.*) (:'shown')::bigint
               OPERATOR(pg_catalog.*) (:'members')::bigint OPERATOR(pg_catalog.+)
               6::bigint OPERATOR(pg_catalog.*)
               ((:'upto')::bigint OPERATOR(pg_catalog.+) 1::bigint)) AS p
     JOIN (SELECT id, part, fp, line FROM "report: row") AS r
         ON r.id OPERATOR(pg_catalog.=) p.id) AS chosen \gset
\qecho :data

-- The texts of the chosen rows, in a statement of its own: so the planner knows
-- that they are few.
WITH "report: text" AS MATERIALIZED (
    SELECT p.*, pg_catalog.left(d.body, 20000) AS body,
           pg_catalog.length(d.body) AS characters,
           pg_catalog.count(*) OVER (PARTITION BY p.part) AS texts
    FROM pg_catalog.json_to_recordset((:'chosen')::pg_catalog.json)
         AS p (id pg_catalog.text, part bigint, fp pg_catalog.text, line bigint)
    JOIN (SELECT :key AS id, pg_catalog.concat((:body)) AS body FROM :table) AS d
        ON d.id OPERATOR(pg_catalog.=) p.id
), "report: feature" AS MATERIALIZED (
    SELECT t.part, t.id, f.feature, f.weight, f.place,
           pg_catalog.count(*) OVER (PARTITION BY t.part, f.feature)
           OPERATOR(pg_catalog.=) t.texts AS common
    FROM "report: text" AS t,
         :schema.simhash_features(t.body, (:'profile')::pg_catalog.text)
         WITH ORDINALITY AS f (feature, weight, hash, place)
), "report: common" AS (
    SELECT part, feature, pg_catalog.max(weight) AS weight,
           pg_catalog.min(place) AS place
    FROM "report: feature" WHERE common GROUP BY part, feature
)
SELECT pg_catalog.replace(pg_catalog.json_build_object(
    'common', (SELECT coalesce(pg_catalog.json_agg(
                   pg_catalog.json_build_array(part, n, list)), '[]')
               FROM (SELECT part, pg_catalog.count(*) AS n,
                            pg_catalog.json_agg(feature ORDER BY nth)
                            FILTER (WHERE nth OPERATOR(pg_catalog.<=) 12) AS list
                     FROM (SELECT *, pg_catalog.row_number() OVER (
                               PARTITION BY part ORDER BY weight DESC, place) AS nth
                           FROM "report: common") AS c
                     GROUP BY part) AS c),
    'texts', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
                  'id', t.id, 'part', part, 'fp', fp, 'characters', characters,
                  'text', body, 'rest', rest) ORDER BY part, line), '[]')
              FROM "report: text" AS t LEFT JOIN (
                  SELECT id, pg_catalog.json_agg(feature ORDER BY place) AS rest
                  FROM "report: feature" WHERE NOT common GROUP BY id) AS f
                  ON f.id OPERATOR(pg_catalog.=) t.id))::pg_catalog.text,
    '<', E'\\u003c');
COMMIT;
