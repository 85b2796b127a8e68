--
-- Write what the page of share/report shows: two lines of JSON.
-- SPDX-License-Identifier: PostgreSQL
--
-- usage: psql -X -q -v table=docs [-v id=id] [-v body=body] [-v fp=fp] [-v k=8]
--             [-v upto=12] [-v within=site,lang] [-v document=body]
--             [-v similarity=jaccard] [-v at_least=0.8] [-v profile=word-2-capped]
--             [-v keep=created_at] [-v apart=docs_apart] [-v reviewed=300]
--             [-v shown=20] [-v members=12] [-v held=200000]
--             [-v set='maintenance_work_mem=1GB; work_mem=64MB'] -f share/report.sql
--
-- table, id, body and fp are SQL: a table's name and expressions over it, of any
-- type but fp, which is bigint or bit(n); an id of several columns is written
-- with commas, and is the primary key where it is not said.  within names columns.
-- k, document, similarity, at_least, profile, keep and apart are as for simhash_dedup_plan, but that the document is the body where
-- it is not known what the fingerprint is of; rows that are equal by keep, or all
-- without it, are in the order of id.  These searches serve the page:
--
--   - The plan: of those with a doubt, and of those that go, "reviewed" rows are on
--     the page, the largest families first, of each some "members", then the least
--     similar rows.
--   - What pairs within distance upto connect, each different fingerprint once:
--     no cluster for any k up to that crosses a border there, so the page can
--     make the clusters itself, from the fingerprints.  It holds the largest
--     of these parts, of "held" fingerprints together.
--   - The clusters for k, which are those of the plan, where the table is one that
--     can be deleted from: exact figures, however much is held.
--   - Where documents are compared, fingerprints are not enough to make clusters
--     of.  Then the page holds pairs of rows in place of them: each row that is
--     redundant with the one that represents it, and the same of clusters within
--     upto of rows of a similarity of .5; of at_least, where rows have to be alike.
--     At k and at_least the page makes the clusters for k of these; elsewhere it may
--     lack a pair.
--
-- Of the largest clusters and parts, of clusters drawn at random, and of some
-- pairs at each distance and similarity, the texts are there, cut at 20,000
-- characters, and which of their features are not in all texts of their part; of the
-- rows of the plan, the texts alone.
--
-- The table may belong to somebody whose code must not run here: what is
-- called or compared says pg_catalog, for the search_path is that of the
-- expressions, and ids and texts are written by concat(), not by a cast.
--

\set ON_ERROR_STOP on
\if :{?table}
\else
\warn 'usage: psql -X -q -v table=docs [-v id=id] [-v body=body] [-v fp=fp] [-v k=8] ...'
\quit
\endif
\if :{?id} \else \set id '' \endif
\if :{?fp} \else \set fp fp \endif
\if :{?k} \else \set k '' \endif
\if :{?within} \else \set within '' \endif
\if :{?document} \else \set document '' \endif
\if :{?similarity} \else \set similarity '' \endif
\if :{?at_least} \else \set at_least '' \endif
\if :{?profile} \else \set profile '' \endif
\if :{?keep} \else \set keep '' \endif
\if :{?apart} \else \set apart '' \endif
\if :{?reviewed} \else \set reviewed 300 \endif
\if :{?shown} \else \set shown 20 \endif
\if :{?members} \else \set members 12 \endif
\if :{?held} \else \set held 200000 \endif
\if :{?set} \else \set set '' \endif
\pset format unaligned
\pset tuples_only on
-- What is cut in SQL_ASCII, or is no UTF-8 there, is shown as far as it is.
SELECT CASE WHEN pg_catalog.current_setting('server_encoding') OPERATOR(pg_catalog.=) 'SQL_ASCII'
            THEN 'SQL_ASCII' ELSE 'UTF8' END AS encoding \gset
\encoding :encoding
-- Settings go to the server as names and values: nothing in them is run.
SELECT pg_catalog.count(pg_catalog.set_config(
           pg_catalog.btrim(pg_catalog.split_part(setting, '=', 1)),
           pg_catalog.btrim(pg_catalog.substr(setting,
               pg_catalog.strpos(setting, '=') OPERATOR(pg_catalog.+) 1)), false)) AS settings
FROM pg_catalog.unnest(pg_catalog.string_to_array(:'set', ';')) AS setting
WHERE pg_catalog.btrim(setting) OPERATOR(pg_catalog.<>) '' \gset
-- All from one snapshot, and nothing but read.  Names are looked up by each
-- statement: whoever owns a schema, or the extension, could rename or drop it
-- meanwhile, and put another one in its place.  A superuser keeps all of them from that,
-- for as long as it lasts; nobody else can, nor is it possible on a standby.
SELECT NOT pg_catalog.pg_is_in_recovery()
       AND pg_catalog.has_table_privilege('pg_catalog.pg_namespace', 'UPDATE')
       AS holds \gset
\if :holds
BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE;
SELECT pg_catalog.count(*) AS schemas
FROM (SELECT FROM pg_catalog.pg_namespace, pg_catalog.pg_extension FOR KEY SHARE) AS s \gset
SET TRANSACTION READ ONLY;
\else
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
\endif
-- Nobody knows how many rows will come: to sort all texts is slow, and to compile these
-- statements takes longer than most of them do.
SET LOCAL enable_mergejoin = off;
SET LOCAL jit = off;
-- Keys are written as a plan has them.
SET LOCAL datestyle = 'ISO';
SET LOCAL intervalstyle = 'postgres';
SET LOCAL extra_float_digits = 1;
SET LOCAL bytea_output = 'hex';

DO $$BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension
                   WHERE extname OPERATOR(pg_catalog.=) 'simhash') THEN
        RAISE 'extension "simhash" is not in database "%"', pg_catalog.current_database()
            USING HINT = 'Name the database of the table: DB=name.';
    END IF;
END$$;
SELECT pg_catalog.quote_ident(nspname) AS schema
FROM pg_catalog.pg_extension JOIN pg_catalog.pg_namespace AS n
    ON n.oid OPERATOR(pg_catalog.=) extnamespace
WHERE extname OPERATOR(pg_catalog.=) 'simhash' \gset

-- Is it a name, or another item of FROM?  Then nothing can be deleted, and
-- nothing is known about bytes.
SELECT coalesce(CASE WHEN (:'table')::pg_catalog.text OPERATOR(pg_catalog.~)
    $re$^\s*(([^\s."'(),;]+|"([^"]|"")+")\s*\.\s*)*([^\s."'(),;]+|"([^"]|"")+")\s*$$re$
    THEN pg_catalog.to_regclass(:'table')::pg_catalog.oid END, 0) AS relation \gset

-- Rows are told apart by the primary key, unless it is said how.
SELECT CASE WHEN :'id' OPERATOR(pg_catalog.<>) '' THEN :'id' ELSE coalesce(
    pg_catalog.string_agg(pg_catalog.quote_ident(attname), ', ' ORDER BY attnum), 'id') END AS id
FROM pg_catalog.pg_index JOIN pg_catalog.pg_attribute
    ON attrelid OPERATOR(pg_catalog.=) indrelid AND attnum OPERATOR(pg_catalog.=) ANY (indkey)
WHERE indisprimary AND indrelid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid \gset

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

-- Rows on other servers, in foreign tables or by Citus, cannot be deleted.
SELECT pg_catalog.to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AS citus \gset
\if :citus
SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition
               WHERE logicalrelid::pg_catalog.oid
                   OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid) AS distributed \gset
\else
\set distributed false
\endif
SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class AS c
    WHERE c.oid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid
        AND relkind OPERATOR(pg_catalog.=) ANY ('{r,p}')
        AND NOT (:'distributed')::boolean
        AND NOT EXISTS (WITH RECURSIVE tree AS (
                SELECT c.oid AS relid
                UNION SELECT inhrelid FROM tree JOIN pg_catalog.pg_inherits
                    ON inhparent OPERATOR(pg_catalog.=) relid)
            SELECT FROM tree JOIN pg_catalog.pg_class AS part
                ON part.oid OPERATOR(pg_catalog.=) relid
            WHERE part.relkind OPERATOR(pg_catalog.=) 'f')) AS deletes \gset

-- The table has its own name in id and body; in a plan it is t.
SELECT coalesce(pg_catalog.max(pg_catalog.concat(E'(^|[^\\w.$"\'])',
           pg_catalog.regexp_replace(pg_catalog.quote_ident(relname), E'(\\W)', E'\\\\\\1', 'g'),
           E'\\s*[.]')), '$.') AS own
FROM pg_catalog.pg_class AS c
WHERE c.oid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid \gset

-- What is compared, besides fingerprints, and within which distance?  The extension
-- knows where the table is one that can be deleted from: then the document is what the
-- fingerprint is of.  Else it is the body.
SELECT :'document' OPERATOR(pg_catalog.=) '' AND :'similarity' OPERATOR(pg_catalog.<>) 'none'
           AS by_body \gset
\if :by_body
\if :deletes
SELECT doc IS NULL AS by_body
FROM :schema._simhash_dedup_parts(
    (:'relation')::pg_catalog.oid::pg_catalog.regclass, (:'fp')::pg_catalog.text,
    NULL::pg_catalog.int8, 'star'::pg_catalog.text, NULL::pg_catalog.text,
    '{}'::pg_catalog._text, NULL::pg_catalog.text, 'none'::pg_catalog.text,
    NULL::pg_catalog.float8, NULL::pg_catalog.text, NULL::pg_catalog.int8,
    NULL::pg_catalog.regclass, NULL::pg_catalog.text, NULL::pg_catalog.text,
    NULL::pg_catalog.interval, false) \gset
\endif
\endif
\if :by_body
\if :{?body} \else \set body body \endif
SELECT pg_catalog.regexp_replace(pg_catalog.format(
           CASE WHEN typcategory OPERATOR(pg_catalog.=) ANY ('{S,A}') THEN '%s'
           ELSE 'pg_catalog.concat(%s)' END, :'body'), :'own', E'\\1t.', 'g') AS document
FROM pg_catalog.pg_type
WHERE oid OPERATOR(pg_catalog.=) pg_catalog.pg_typeof((SELECT (:body) FROM :table LIMIT 1)) \gset
\endif
SELECT pg_catalog.format('%L::pg_catalog.int8', CASE WHEN k OPERATOR(pg_catalog.<>) '' THEN k END)
           AS k_given,
       pg_catalog.format('%L::pg_catalog._text', pg_catalog.concat('{', :'within', '}'))
           AS within_given,
       pg_catalog.format('%L::pg_catalog.text, %L::pg_catalog.text, %L::pg_catalog.float8,'
                         ' %L::pg_catalog.text, NULL::pg_catalog.int8',
           CASE WHEN d OPERATOR(pg_catalog.<>) '' THEN d END,
           CASE WHEN s OPERATOR(pg_catalog.<>) '' THEN s END,
           CASE WHEN a OPERATOR(pg_catalog.<>) '' THEN a END,
           CASE WHEN p OPERATOR(pg_catalog.<>) '' THEN p END) AS documents_given
FROM (SELECT (:'k')::pg_catalog.text AS k, (:'document')::pg_catalog.text AS d,
             (:'similarity')::pg_catalog.text AS s, (:'at_least')::pg_catalog.text AS a,
             (:'profile')::pg_catalog.text AS p) AS w \gset
\if :deletes
SELECT decides AS compared, CASE WHEN decides THEN similarity ELSE 'none' END AS similarity,
       coalesce(CASE WHEN decides THEN at_least END, 1) AS at_least,
       coalesce(CASE WHEN decides THEN profile END, :'profile') AS profile,
       coalesce(CASE WHEN document OPERATOR(pg_catalog.~) E'^t[.]("([^"]|"")+"|[^\\W\\d]\\w*)$'
                THEN (pg_catalog.parse_ident(pg_catalog.substr(document, 3)))[1]
                ELSE document END, '') AS document,
       -- an expression over the table t, which has another name here
       coalesce(pg_catalog.format('(SELECT %s FROM (SELECT %I.*) AS t)', document, relname), '')
           AS expression,
       coalesce(document, '') AS document_of_t, k, source, key AS key_of_t, 'tableoid AS part, ctid AS place' AS place,
       -- where one contains the others, the longest stays
       CASE WHEN similarity OPERATOR(pg_catalog.=) 'containment'
       THEN pg_catalog.format('pg_catalog.%s(%%s) DESC NULLS LAST',
            CASE WHEN arrays THEN 'cardinality' ELSE 'length' END)
       ELSE '' END AS longest
FROM (SELECT *, CASE WHEN decides THEN
                    pg_catalog.regexp_replace(doc, E'^\\((.*)\\)::[^()]*$', E'\\1') END AS document
      FROM :schema._simhash_dedup_parts(
          (:'relation')::pg_catalog.oid::pg_catalog.regclass, (:'fp')::pg_catalog.text,
          :k_given, 'star'::pg_catalog.text, NULL::pg_catalog.text, :within_given,
          :documents_given, NULL::pg_catalog.regclass, NULL::pg_catalog.text,
          NULL::pg_catalog.text, NULL::pg_catalog.interval, false)) AS p
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid \gset
\else
SELECT :'document' OPERATOR(pg_catalog.<>) ''
           AND :'similarity' OPERATOR(pg_catalog.<>) 'none' AS compared,
       CASE WHEN :'similarity' OPERATOR(pg_catalog.<>) '' THEN :'similarity'
       ELSE 'jaccard' END AS similarity,
       CASE WHEN :'at_least' OPERATOR(pg_catalog.<>) '' THEN :'at_least'
       ELSE '0.8' END AS at_least,
       CASE WHEN (:'by_body')::boolean THEN :'document'
       ELSE pg_catalog.quote_ident(:'document') END AS expression,
       -- no plan, of no rows
       '(SELECT NULL::pg_catalog.oid AS tableoid, NULL::pg_catalog.tid AS ctid)' AS source,
       'NULL::pg_catalog._text' AS key_of_t,
       'NULL::pg_catalog.oid AS part, NULL::pg_catalog.tid AS place' AS place,
       '' AS longest, '' AS document_of_t \gset
SELECT coalesce(:k_given, CASE WHEN (:'compared')::boolean THEN 8 ELSE 3 END) AS k \gset
\endif

-- What comes first stays: by "keep", and then by id.  In a plan a number would be the
-- place of a column.
SELECT coalesce(first OPERATOR(pg_catalog.||) ', (' OPERATOR(pg_catalog.||) :'id'
                OPERATOR(pg_catalog.||) ')', '') AS first,
       pg_catalog.concat_ws(', ', first_of_t, id) AS keep_first
FROM (SELECT coalesce(CASE WHEN :'keep' OPERATOR(pg_catalog.<>) '' THEN :'keep' END,
                      pg_catalog.format(CASE WHEN :'longest' OPERATOR(pg_catalog.<>) '' THEN :'longest' END, :'expression')) AS first,
             coalesce(CASE WHEN :'keep' OPERATOR(pg_catalog.<>) '' THEN :'keep' END,
                      pg_catalog.format(CASE WHEN :'longest' OPERATOR(pg_catalog.<>) '' THEN :'longest' END, :'document_of_t')) AS first_of_t,
             CASE WHEN :'id' OPERATOR(pg_catalog.!~) E'^[\\s\\d()]*$'
             THEN pg_catalog.regexp_replace(:'id', :'own', E'\\1t.', 'g') END AS id) AS o \gset

\if :{?body}
\elif :compared
\set body :expression
\else
\set body body
\endif

SELECT coalesce(pg_catalog.string_agg(pg_catalog.format(
           ', %I AS "report: %s"', name, number), ''), '') AS columns,
       coalesce(pg_catalog.string_agg(pg_catalog.format(
           ', "report: %s"', number), ''), '') AS groups
FROM pg_catalog.unnest(pg_catalog.concat('{', :'within', '}')::pg_catalog.text[])
    WITH ORDINALITY AS u (name, number) \gset
SELECT pg_catalog.format('CASE WHEN (%s) IS NOT NULL THEN pg_catalog.concat((%1$s)) END', :'id') AS key \gset
SELECT pg_catalog.format(query, :'groups', :'id', :'fp', :'columns', :'table') AS query,
       pg_catalog.format(query, pg_catalog.concat(outside, :'groups'), :'id', :'fp',
                         pg_catalog.concat(inside, :'columns'), :'table') AS documents
FROM (SELECT pg_catalog.concat('SELECT CASE WHEN "report: key" IS NOT NULL'
             ' THEN pg_catalog.concat("report: key") END, "report: fp"%s'
             ' FROM (SELECT (%s) AS "report: key", (%s) AS "report: fp"%s',
             CASE WHEN :'first' OPERATOR(pg_catalog.<>) ''
             THEN pg_catalog.concat(', pg_catalog.row_number() OVER (ORDER BY ',
                      pg_catalog.replace(:'first', '%', '%%'), ') AS "report: place"') END,
             ' FROM %s) AS "report: rows" ORDER BY ',
             CASE WHEN :'first' OPERATOR(pg_catalog.<>) '' THEN '"report: place"'
             ELSE '"report: key"' END),
             CASE WHEN (:'compared')::boolean THEN ', "report: document"' END,
             CASE WHEN (:'compared')::boolean
             THEN pg_catalog.format(', %s AS "report: document"', :'expression') END)
     AS q (query, outside, inside) \gset

-- The arguments about documents, for k and for what may be near.
SELECT pg_catalog.format(words, document, :'similarity', :'at_least', profile) AS verify,
       pg_catalog.format(words, document, :'similarity', lowest, profile) AS verify_widely,
       lowest
FROM (SELECT '%L::pg_catalog.text, %L::pg_catalog.text, %L::pg_catalog.float8,'
             ' %L::pg_catalog.text, NULL::pg_catalog.int8',
             CASE WHEN (:'compared')::boolean THEN 'report: document' END,
             CASE WHEN :'profile' OPERATOR(pg_catalog.<>) '' THEN :'profile' END,
             -- to judge whether rows are alike at .5 takes long
             CASE WHEN :'similarity' OPERATOR(pg_catalog.~) '^alike' THEN (:'at_least')::pg_catalog.float8
             ELSE least((:'at_least')::pg_catalog.float8, 0.5) END)
     AS w (words, document, profile, lowest) \gset

-- Is the fingerprint a bigint or a bit string?  Nothing else is taken; the
-- lock on the table sees to it that it stays what it is.
SELECT FROM :schema._simhash_clusters_by_text(
    pg_catalog.concat(:'documents', ' LIMIT 0'), (:'k')::bigint,
    'star'::pg_catalog.text, 'first'::pg_catalog.text, 2::bigint, :verify);
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

-- As far as a search goes, but for the reader's wish; and no farther than k where rows
-- have to be alike: to judge those farther apart takes longer than all the rest.
\if :{?upto}
\else
SELECT CASE WHEN :'similarity' OPERATOR(pg_catalog.~) '^alike' THEN (:'k')::bigint
       ELSE least(greatest(8, (:'k')::bigint OPERATOR(pg_catalog.*) 3
                      OPERATOR(pg_catalog./) 2),
             17 OPERATOR(pg_catalog.*) (((:'width')::bigint OPERATOR(pg_catalog.+) 63)
             OPERATOR(pg_catalog./) 64) OPERATOR(pg_catalog.-) 1) END AS upto \gset
\endif
SELECT greatest((:'upto')::bigint, (:'k')::bigint) AS upto \gset
-- The table of pairs that are no duplicates.
SELECT coalesce(pg_catalog.string_agg(pg_catalog.format('%I.%I', nspname, relname), ''), '')
           AS apart
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
    ON n.oid OPERATOR(pg_catalog.=) relnamespace
WHERE c.oid OPERATOR(pg_catalog.=) (CASE WHEN :'apart' OPERATOR(pg_catalog.<>) ''
                                   THEN :'apart' END)::pg_catalog.regclass
    AND (:'deletes')::boolean \gset
-- What the reader's own SQL is made of: the table, the arguments, and names for a plan,
-- a log, and pairs that are no duplicates.  These have no schema, and nothing that
-- cannot be seen: the table may be somebody else's.
SELECT coalesce(CASE WHEN (:'deletes')::boolean THEN pg_catalog.json_build_object('schema', :'schema',
           'table', name, 'said', pg_catalog.concat(
               pg_catalog.format('%s, %L, %s', name, :'fp', (:'k')::bigint), said,
               CASE WHEN (:'compared')::boolean
               THEN pg_catalog.concat(', at_least => ', (:'at_least')::pg_catalog.float8) END),
           'keep', :'keep_first', 'keyed', EXISTS (SELECT FROM pg_catalog.pg_index
               WHERE indrelid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid AND indisprimary),
           'plan', pg_catalog.format('%I', pg_catalog.concat(short, '_plan_',
               pg_catalog.to_char(pg_catalog.now(), 'YYYYMMDDHH24MISS'))),
           'log', pg_catalog.format('%I', pg_catalog.concat(short, '_log_',
               pg_catalog.to_char(pg_catalog.now(), 'YYYYMMDDHH24MISS'))),
           'apart', CASE WHEN :'apart' OPERATOR(pg_catalog.<>) '' THEN :'apart'
                    ELSE pg_catalog.format('%I', pg_catalog.concat(short, '_apart')) END)
           END, 'null') AS calls,
    coalesce((SELECT pg_catalog.json_agg(pg_catalog.format('%s (%s)',
                  conrelid::pg_catalog.regclass, conname) ORDER BY conname)
              FROM pg_catalog.pg_constraint
              WHERE contype OPERATOR(pg_catalog.=) 'f'
                  AND oid OPERATOR(pg_catalog.=) ANY (ARRAY(
                      SELECT :schema._simhash_referring((:'relation')::pg_catalog.oid::pg_catalog.regclass)))), '[]') AS referring
FROM (SELECT pg_catalog.concat(
                 CASE WHEN :'keep_first' OPERATOR(pg_catalog.<>) ''
                 THEN pg_catalog.format(', keep => %L', :'keep_first') END,
                 CASE WHEN :'within' OPERATOR(pg_catalog.<>) ''
                 THEN pg_catalog.format(', within => %L', pg_catalog.concat('{', :'within', '}')) END,
                 CASE WHEN :'apart' OPERATOR(pg_catalog.<>) ''
                 THEN pg_catalog.format(', apart => %L', :'apart') END,
                 CASE WHEN (:'compared')::boolean
                 THEN pg_catalog.format(', document => %L, similarity => %L', :'document', :'similarity')
                 ELSE ', similarity => ''none''' END,
                 CASE WHEN (:'compared')::boolean AND :'profile' OPERATOR(pg_catalog.<>) ''
                 THEN pg_catalog.format(', profile => %L', :'profile') END) AS said) AS s
LEFT JOIN (SELECT pg_catalog.quote_literal(pg_catalog.format('%I.%I', nspname, relname)) AS name,
                  pg_catalog.regexp_replace(pg_catalog.left(relname::pg_catalog.text,
                      CASE WHEN pg_catalog.octet_length(relname::pg_catalog.text)
                          OPERATOR(pg_catalog.<=) 40 THEN 40 ELSE 10 END),
                      '[^[:alnum:]_]', '_', 'g') AS short
           FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n
               ON n.oid OPERATOR(pg_catalog.=) relnamespace
           WHERE c.oid OPERATOR(pg_catalog.=) (:'relation')::pg_catalog.oid) AS c ON true \gset
-- The plan; of no table that can be deleted from, none.  All arguments are of the very
-- types: no function that somebody has planted fits better.
\if :deletes
SELECT pg_catalog.concat_ws(', ',
           pg_catalog.format('%L::pg_catalog.regclass, %L::pg_catalog.text', :'relation', :'fp'),
           :'k_given') AS asked,
       pg_catalog.format('%L::pg_catalog.text', CASE WHEN :'keep_first' OPERATOR(pg_catalog.<>) '' THEN :'keep_first' END) AS keep_given,
       pg_catalog.format('%L::pg_catalog.regclass', CASE WHEN :'apart' OPERATOR(pg_catalog.<>) '' THEN :'apart' END) AS apart_given \gset
SELECT pg_catalog.format('%s.simhash_dedup_plan(%s, ''star''::pg_catalog.text, %s, %s, %s, %s)',
           :'schema', :'asked', :'keep_given', :'within_given', :'documents_given',
           :'apart_given') AS plan \gset
\else
SELECT '(SELECT NULL::pg_catalog._text AS gone, NULL::pg_catalog._text AS kept, 0 AS distance,'
       ' NULL::pg_catalog.float8 AS similarity, NULL::pg_catalog.text AS doubt, 0::bigint AS family,'
       ' NULL::pg_catalog.text AS differs WHERE false)' AS plan \gset
\endif
SELECT CASE WHEN :'profile' OPERATOR(pg_catalog.<>) '' THEN :'profile'
       ELSE profile END AS profile
FROM :schema.simhash_profiles() WHERE is_default \gset

-- (the quoted names are not those of a table, whatever it is called)
WITH "report: member" AS MATERIALIZED (
    SELECT *
    FROM :schema._simhash_clusters_by_text((:'query')::pg_catalog.text,
        (:'upto')::bigint, 'connected'::pg_catalog.text,
        'first'::pg_catalog.text, 2::bigint, NULL::pg_catalog.text,
        NULL::pg_catalog.text, NULL::pg_catalog.float8, NULL::pg_catalog.text,
        NULL::pg_catalog.int8)
        WITH ORDINALITY AS m (id, part, first, away, rows, none, line)
), "report: id" AS MATERIALIZED (
    SELECT :key AS id, :place FROM :table WHERE (:'deletes')::boolean
), "report: wide" AS MATERIALIZED (
    SELECT *
    FROM :schema._simhash_clusters_by_text((:'documents')::pg_catalog.text,
        (:'upto')::bigint, 'star'::pg_catalog.text, 'first'::pg_catalog.text,
        2::bigint, :verify_widely) AS w (id, pool, near, near_distance, n, near_similarity)
    -- within k they are those of the plan
    WHERE (:'compared')::boolean AND ((:'upto')::bigint OPERATOR(pg_catalog.>) (:'k')::bigint
        OR (:'lowest')::pg_catalog.float8 OPERATOR(pg_catalog.<) (:'at_least')::pg_catalog.float8)
), "report: plan" AS MATERIALIZED (
    SELECT p.gone, p.kept, p.distance, p.similarity, p.doubt, p.family, p.differs,
           pg_catalog.count(*) OVER (PARTITION BY p.family, p.doubt) AS size
    FROM :plan AS p
), "report: keyed" AS MATERIALIZED (
    SELECT p.key, i.id
    FROM (SELECT gone AS key FROM "report: plan" UNION SELECT kept FROM "report: plan") AS p
    JOIN (SELECT :key_of_t AS key, t.tableoid AS part, t.ctid AS place FROM :source AS t) AS t
        ON t.key OPERATOR(pg_catalog.=) p.key
    JOIN "report: id" AS i ON i.part OPERATOR(pg_catalog.=) t.part
        AND i.place OPERATOR(pg_catalog.=) t.place
), "report: named" AS MATERIALIZED (
    -- the rows of the plan by the ids of the page; a row alone is no family
    SELECT p.*, g.id AS gone_id, s.id AS kept_id,
           pg_catalog.row_number() OVER (PARTITION BY p.family, p.doubt
               ORDER BY p.similarity, p.distance DESC, p.gone) AS member
    FROM (SELECT gone, kept, distance, similarity, doubt, differs,
                 CASE WHEN size OPERATOR(pg_catalog.>) 1 THEN family END AS family,
                 CASE WHEN size OPERATOR(pg_catalog.>) 1 AND family IS NOT NULL
                 THEN size ELSE 1 END AS size
          FROM "report: plan") AS p
    LEFT JOIN "report: keyed" AS g ON g.key OPERATOR(pg_catalog.=) gone
    LEFT JOIN "report: keyed" AS s ON s.key OPERATOR(pg_catalog.=) kept
), "report: star" AS MATERIALIZED (
    SELECT id, line AS star, kept_id AS representative, distance,
           pg_catalog.count(*) OVER (PARTITION BY kept_id) AS size, similarity
    FROM (SELECT gone_id AS id, kept_id, distance, similarity
          FROM "report: named" WHERE doubt IS NULL
          UNION ALL
          SELECT DISTINCT kept_id, kept_id, 0,
                 CASE WHEN (:'compared')::boolean THEN 1::pg_catalog.float8 END
          FROM "report: named" WHERE doubt IS NULL) AS p
    JOIN (SELECT id AS first, line FROM "report: member") AS m
        ON first OPERATOR(pg_catalog.=) kept_id
    WHERE (:'deletes')::boolean
    UNION ALL
    SELECT *
    FROM :schema._simhash_clusters_by_text((:'documents')::pg_catalog.text,
        (:'k')::bigint, 'star'::pg_catalog.text, 'first'::pg_catalog.text,
        2::bigint, :verify)
    WHERE NOT (:'deletes')::boolean
), "report: review" AS MATERIALIZED (
    -- half of them with a doubt, or more where there are not as many without
    SELECT *, pg_catalog.row_number() OVER (ORDER BY doubt IS NULL, nth_of_these) AS nth
    FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY doubt IS NULL
                        ORDER BY size DESC, family, doubt, similarity, distance DESC, gone)
                        AS nth_of_these
          FROM "report: named"
          WHERE family IS NULL OR member OPERATOR(pg_catalog.<=) (:'members')::bigint
          ORDER BY nth_of_these, doubt IS NULL LIMIT (:'reviewed')::bigint) AS p
), "report: row" AS MATERIALIZED (
    SELECT m.*, s.star, s.representative, s.distance, s.size, s.similarity,
           s.id OPERATOR(pg_catalog.<>) s.representative AS redundant,
           CASE WHEN (:'compared')::boolean THEN w.pool ELSE m.part END AS pool,
           w.near, w.near_distance, w.near_similarity,
           d.fp, d.bytes,
           pg_catalog.row_number() OVER (PARTITION BY m.part, d.fp
               ORDER BY m.line) OPERATOR(pg_catalog.>) 1 AS copy
    FROM "report: member" AS m
    JOIN (SELECT :key AS id, :hex AS fp, :bytes AS bytes FROM :table) AS d
        ON d.id OPERATOR(pg_catalog.=) m.id
    LEFT JOIN "report: star" AS s ON s.id OPERATOR(pg_catalog.=) m.id
    LEFT JOIN "report: wide" AS w ON w.id OPERATOR(pg_catalog.=) m.id
), "report: part" AS (
    SELECT part, rows, pg_catalog.count(*) AS nodes,
           pg_catalog.json_agg(node ORDER BY line) AS list
    FROM (SELECT part, rows, pg_catalog.min(line) AS line,
                 pg_catalog.json_build_array(fp, pg_catalog.count(*),
                     pg_catalog.left(pg_catalog.min(id) FILTER (WHERE NOT copy), 40),
                     pg_catalog.sum(bytes),
                     pg_catalog.sum(bytes) FILTER (WHERE NOT copy)) AS node
          FROM "report: row" WHERE NOT (:'compared')::boolean
          GROUP BY part, rows, fp
          UNION ALL
          SELECT r.part, r.rows, r.line,
                 pg_catalog.json_build_array(r.line, pg_catalog.left(r.id, 40),
                     bytes, s.line, distance, similarity,
                     w.line, near_distance, near_similarity)
          FROM "report: row" AS r
          LEFT JOIN "report: member" AS s
              ON s.id OPERATOR(pg_catalog.=) representative AND redundant
          LEFT JOIN "report: member" AS w
              ON w.id OPERATOR(pg_catalog.=) near
              AND w.id OPERATOR(pg_catalog.<>) r.id
          WHERE (:'compared')::boolean
              AND coalesce(star, pool) IS NOT NULL) AS n
    GROUP BY part, rows
), "report: held" AS MATERIALIZED (
    SELECT *
    FROM (SELECT *, pg_catalog.sum(nodes) OVER (ORDER BY rows DESC, part) AS so_far
          FROM "report: part"
          WHERE nodes OPERATOR(pg_catalog.<=) (:'held')::bigint) AS p
    WHERE so_far OPERATOR(pg_catalog.<=) (:'held')::bigint
),

-- Whose texts are shown: first of all fingerprints that differ, the farthest
-- first, or the least similar.
"report: place" AS MATERIALIZED (
    SELECT *, pg_catalog.row_number() OVER (PARTITION BY star
                  ORDER BY redundant, copy, similarity, distance DESC, line) AS star_place,
           pg_catalog.row_number() OVER (PARTITION BY pool
                  ORDER BY copy, line) AS pool_place
    FROM "report: row"
), "report: shown" AS MATERIALIZED (
    (SELECT 'largest'::pg_catalog.text AS kind, star AS number
     FROM "report: star" WHERE id OPERATOR(pg_catalog.=) representative
     ORDER BY size DESC, star LIMIT (:'shown')::bigint)
    UNION ALL
    (SELECT 'random', star
     FROM "report: star" WHERE id OPERATOR(pg_catalog.=) representative
     ORDER BY pg_catalog.random() LIMIT (:'shown')::bigint)
    UNION ALL
    (SELECT 'pool', pool
     FROM "report: row" WHERE pool IS NOT NULL
     GROUP BY pool ORDER BY pg_catalog.count(*) DESC, pool LIMIT (:'shown')::bigint)
), "report: cluster" AS MATERIALIZED (
    SELECT kind, number, p.size, pg_catalog.json_build_object(
               'rows', p.size, 'farthest', pg_catalog.max(distance),
               'freed', pg_catalog.sum(bytes) FILTER (WHERE redundant),
               'members', pg_catalog.json_agg(
                   pg_catalog.json_build_array(id, distance, similarity)
                   ORDER BY star_place)
               FILTER (WHERE star_place
                   OPERATOR(pg_catalog.<=) (:'members')::bigint)) AS cluster
    FROM "report: place" AS p JOIN "report: shown"
        ON p.star OPERATOR(pg_catalog.=) number
    WHERE kind OPERATOR(pg_catalog.<>) 'pool' GROUP BY kind, number, p.size
), "report: pair" AS (
    SELECT first, id, away, NULL::pg_catalog.float8 AS similarity, line
    FROM "report: row"
    WHERE NOT (:'compared')::boolean AND id OPERATOR(pg_catalog.<>) first
        AND away OPERATOR(pg_catalog.<=) (:'upto')::bigint
    UNION
    SELECT representative, id, distance, similarity, line
    FROM "report: row" WHERE (:'compared')::boolean AND redundant
    UNION
    SELECT near, id, near_distance, near_similarity, line
    FROM "report: row" WHERE id OPERATOR(pg_catalog.<>) near
), "report: example" AS MATERIALIZED (
    SELECT first, id, away, similarity
    FROM (SELECT *, pg_catalog.row_number() OVER (PARTITION BY away
                        ORDER BY nth, line) AS example,
                 pg_catalog.row_number() OVER (PARTITION BY alike
                        ORDER BY away OPERATOR(pg_catalog.>) (:'k')::bigint,
                            nth_alike, line) AS example_alike
          FROM (SELECT *, pg_catalog.row_number() OVER (
                              PARTITION BY first, away ORDER BY line) AS nth,
                       pg_catalog.row_number() OVER (
                              PARTITION BY first, alike ORDER BY line) AS nth_alike
                FROM (SELECT *, pg_catalog.floor(similarity
                                    OPERATOR(pg_catalog.*) 50) AS alike
                      FROM "report: pair") AS p) AS p) AS e
    WHERE example OPERATOR(pg_catalog.<=) 3
        OR (alike IS NOT NULL AND example_alike OPERATOR(pg_catalog.<=) 2)
)
-- no text may end the script element, whatever standard_conforming_strings is
SELECT pg_catalog.replace(pg_catalog.json_build_object(
    'table', :'table', 'within', :'within', 'made', pg_catalog.now(),
    'k', (:'k')::bigint, 'upto', (:'upto')::bigint,
    'members', (:'members')::bigint, 'shown', (:'shown')::bigint,
    'profile', :'profile', 'bytes', (:'bytes') OPERATOR(pg_catalog.<>) 'NULL::bigint',
    'rows', (:'rows')::bigint, 'present', (:'present')::bigint,
    'nameless', (:'nameless')::bigint,
    'compared', CASE WHEN (:'compared')::boolean THEN pg_catalog.json_build_object(
        'document', :'document', 'similarity', :'similarity',
        'lowest', (:'lowest')::pg_catalog.float8) END,
    'at_least', CASE WHEN (:'compared')::boolean
                THEN (:'at_least')::pg_catalog.float8 ELSE 0 END,
    'calls', (:'calls')::pg_catalog.json,
    'planned', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(doubt, n)
                           ORDER BY doubt), '[]')
                FROM (SELECT doubt, pg_catalog.count(*) AS n
                      FROM "report: plan" GROUP BY doubt) AS p),
    'review', (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(
                   gone, kept, gone_id, kept_id, distance, similarity, doubt,
                   family, size, differs)
                   ORDER BY nth), '[]') FROM "report: review"),
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
    'similarities', (SELECT coalesce(pg_catalog.json_agg(
                         pg_catalog.json_build_array(low, n) ORDER BY low), '[]')
                     FROM (SELECT pg_catalog.floor(similarity
                                      OPERATOR(pg_catalog.*) 20) AS low,
                                  pg_catalog.count(*) AS n
                           FROM "report: row" WHERE redundant
                               AND similarity IS NOT NULL GROUP BY 1) AS h),
    'largest', (SELECT coalesce(pg_catalog.json_agg(cluster
                    ORDER BY size DESC, number), '[]')
                FROM "report: cluster" WHERE kind OPERATOR(pg_catalog.=) 'largest'),
    'random', (SELECT coalesce(pg_catalog.json_agg(cluster ORDER BY number), '[]')
               FROM "report: cluster" WHERE kind OPERATOR(pg_catalog.=) 'random'),
    'parts', (SELECT pg_catalog.count(*) FROM "report: part"),
    'nodes', (SELECT pg_catalog.sum(nodes) FROM "report: part"),
    'held', (SELECT coalesce(pg_catalog.json_agg(
                 pg_catalog.json_build_array(part, list) ORDER BY so_far), '[]')
             FROM "report: held"),
    'examples', (SELECT coalesce(pg_catalog.json_agg(
                     pg_catalog.json_build_array(first, id, away, similarity)), '[]')
                 FROM "report: example"))::pg_catalog.text, '<', E'\\u003c') AS data,
    (SELECT coalesce(pg_catalog.json_agg(pg_catalog.json_build_object('id', r.id,
                'part', part, 'fp', fp, 'line', line, 'explained', explained)), '[]')
     FROM (SELECT id, pg_catalog.bool_or(explained) AS explained FROM (
           SELECT id, true AS explained FROM "report: place" JOIN "report: shown"
               ON CASE WHEN kind OPERATOR(pg_catalog.=) 'pool' THEN pool ELSE star END
                   OPERATOR(pg_catalog.=) number
           WHERE CASE WHEN kind OPERATOR(pg_catalog.=) 'pool' THEN pool_place
                 ELSE star_place END OPERATOR(pg_catalog.<=) (:'members')::bigint
           UNION
           SELECT id, true FROM "report: example"
           UNION
           SELECT first, true FROM "report: example"
           UNION
           SELECT gone_id, false FROM "report: review"
           UNION
           SELECT kept_id, false FROM "report: review") AS e GROUP BY id
           -- that many are there at most: now the planner knows, too
           LIMIT 3::bigint OPERATOR(pg_catalog.*) (:'shown')::bigint
               OPERATOR(pg_catalog.*) (:'members')::bigint OPERATOR(pg_catalog.+)
               6::bigint OPERATOR(pg_catalog.*)
               ((:'upto')::bigint OPERATOR(pg_catalog.+) 35::bigint)
               OPERATOR(pg_catalog.+) 2::bigint OPERATOR(pg_catalog.*)
               (:'reviewed')::bigint) AS p
     JOIN (SELECT id, part, fp, line FROM "report: row") AS r
         ON r.id OPERATOR(pg_catalog.=) p.id) AS chosen \gset
\qecho :data

-- The texts of the chosen rows, in a statement of its own: so the planner knows
-- that they are few.
WITH "report: text" AS MATERIALIZED (
    SELECT p.*, pg_catalog.left(d.body, 20000) AS body,
           pg_catalog.length(d.body) AS characters,
           pg_catalog.count(*) FILTER (WHERE explained) OVER (PARTITION BY p.part) AS texts
    FROM pg_catalog.json_to_recordset((:'chosen')::pg_catalog.json)
         AS p (id pg_catalog.text, part bigint, fp pg_catalog.text, line bigint,
               explained boolean)
    JOIN (SELECT :key AS id, pg_catalog.concat((:body)) AS body FROM :table) AS d
        ON d.id OPERATOR(pg_catalog.=) p.id
), "report: feature" AS MATERIALIZED (
    SELECT t.part, t.id, f.feature, f.weight, f.place,
           pg_catalog.count(*) OVER (PARTITION BY t.part, f.feature)
           OPERATOR(pg_catalog.=) t.texts AS common
    FROM "report: text" AS t,
         :schema.simhash_features(t.body, (:'profile')::pg_catalog.text)
         WITH ORDINALITY AS f (feature, weight, hash, place)
    WHERE explained
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
                  'id', t.id, 'part', part, 'fp', fp, 'line', line, 'characters', characters,
                  'explained', explained,
                  'text', body, 'rest', rest) ORDER BY part, line), '[]')
              FROM "report: text" AS t LEFT JOIN (
                  SELECT id, pg_catalog.json_agg(feature ORDER BY place) AS rest
                  FROM "report: feature" WHERE NOT common GROUP BY id) AS f
                  ON f.id OPERATOR(pg_catalog.=) t.id))::pg_catalog.text,
    '<', E'\\u003c');
COMMIT;
