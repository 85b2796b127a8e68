--
-- pairs.c, wide_pairs.c: pairs, clusters and reports of bit strings
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

SELECT setseed(0.5);

-- Bits at random; a copy with some of them, maybe the same ones, set anew.
CREATE FUNCTION random_bits(width int) RETURNS bit varying LANGUAGE sql AS $$
    SELECT string_agg(CASE WHEN random() < .5 THEN '1' ELSE '0' END, '')::bit varying
    FROM generate_series(1, width)
$$;
CREATE FUNCTION vary(bits bit varying, times int) RETURNS bit varying
LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1 .. times LOOP
        bits := set_bit(bits, floor(random() * length(bits))::int,
                        (random() < .5)::int);
    END LOOP;
    RETURN bits;
END $$;

-- Some rows at random, others near to one of these, some with equal ones, some
-- with the same first half.
CREATE FUNCTION make_rows(width int, k int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    fps bit varying[] := '{}';
    fp bit varying;
BEGIN
    DROP TABLE IF EXISTS rows;
    CREATE TABLE rows (id int, fp bit varying, g int, h text);
    FOR i IN 1 .. 240 LOOP
        fp := random_bits(width);
        IF i % 3 > 0 AND i > 3 THEN
            fp := vary(fps[1 + floor(random() * (i - 1))::int],
                       floor(random() * 3 * k)::int);
        ELSIF i % 12 = 0 THEN
            fp := overlay(fp PLACING substring(fps[1] FOR width / 2) FROM 1);
        END IF;
        fps := fps || fp;
        INSERT INTO rows VALUES (i, fp, i % 2, chr(65 + i % 3));
    END LOOP;
    INSERT INTO rows VALUES (1000, NULL, 0, 'A');
    EXECUTE format('ALTER TABLE rows ALTER fp TYPE bit(%s)', width);
END $$;

-- Exactly the pairs that a join finds, each once; stars and connections of them.
CREATE FUNCTION check_rows(k int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text := '';
BEGIN
    CREATE TEMPORARY TABLE expected AS
    SELECT x.id::bigint AS a, y.id::bigint AS b, hamming(x.fp, y.fp) AS distance,
        x.g = y.g AND x.h = y.h AS together
    FROM rows AS x JOIN rows AS y ON x.id < y.id AND hamming(x.fp, y.fp) <= k;
    CREATE TEMPORARY TABLE found AS
    SELECT a, b, distance FROM simhash_pairs('SELECT id, fp FROM rows', k);
    IF EXISTS ((SELECT a, b, distance FROM expected EXCEPT ALL TABLE found)
               UNION ALL
               (TABLE found EXCEPT ALL SELECT a, b, distance FROM expected)) THEN
        result := result || ' pairs';
    END IF;
    IF EXISTS ((SELECT a, b, distance FROM expected WHERE together
                EXCEPT ALL
                SELECT a, b, distance FROM simhash_pairs('SELECT id, fp, g, h FROM rows', k))
               UNION ALL
               (SELECT a, b, distance FROM simhash_pairs('SELECT id, fp, g, h FROM rows', k)
                EXCEPT ALL
                SELECT a, b, distance FROM expected WHERE together)) THEN
        result := result || ' groups';
    END IF;
    IF EXISTS (SELECT id, representative
               FROM simhash_clusters('SELECT id, fp FROM rows', k, 'connected', min_size => 2)
               EXCEPT ALL
               SELECT id, representative
               FROM simhash_components('SELECT a, b FROM expected')) THEN
        result := result || ' connected';
    END IF;
    IF EXISTS (SELECT FROM simhash_clusters('SELECT id, fp FROM rows', k, 'star',
                                            min_size => 1) AS c
               JOIN rows AS x ON x.id = c.id
               JOIN rows AS y ON y.id = c.representative
               WHERE c.distance > k OR c.distance <> hamming(x.fp, y.fp))
       OR EXISTS (SELECT FROM (SELECT DISTINCT representative
                               FROM simhash_clusters('SELECT id, fp FROM rows', k,
                                                     'star', min_size => 1)) AS s
                  JOIN expected ON a = representative
                  JOIN (SELECT DISTINCT representative
                        FROM simhash_clusters('SELECT id, fp FROM rows', k,
                                              'star', min_size => 1)) AS t
                      ON b = t.representative) THEN
        result := result || ' stars';
    END IF;
    IF NOT EXISTS (SELECT FROM expected WHERE distance > 0) THEN
        result := result || ' nothing to find';
    END IF;
    DROP TABLE expected, found;
    RETURN CASE result WHEN '' THEN 'as brute force' ELSE 'wrong:' || result END;
END $$;

SET client_min_messages = warning;
SELECT width, k, make_rows(width, k) AS made, check_rows(k)
FROM (VALUES (32, 4), (33, 8), (63, 10), (64, 3), (64, 16), (65, 9), (72, 20),
      (100, 33), (128, 7), (128, 33), (256, 3), (256, 31), (256, 67),
      (576, 64), (576, 152), (1024, 5), (1024, 128), (1024, 271)) AS v (width, k);
RESET client_min_messages;

-- Up to 64 bits they are what a bigint of the same bits is.
SELECT make_rows(64, 8);
SELECT count(*) FROM (
    SELECT * FROM simhash_pairs('SELECT id, fp FROM rows', 8)
    EXCEPT ALL
    SELECT * FROM simhash_pairs('SELECT id, fp::bigint FROM rows', 8)) AS d;

-- Rows with a NULL are left out; equal fingerprints are pairs; ids of any type.
SELECT make_rows(256, 31);
SELECT count(*) FROM simhash_pairs('SELECT 1, fp FROM rows WHERE fp IS NULL', 31);
SELECT * FROM simhash_pairs_as(NULL::text,
    'SELECT v.id, fp FROM rows, (VALUES (''y''), (''x''), (''z'')) AS v (id)
     WHERE rows.id = 1', 0);

-- A hundred thousand equal ones take no longer than others.
SELECT count(*), min(size), max(distance)
FROM simhash_clusters('SELECT i, B''01''::bit(512) FROM generate_series(1, 100000) AS i', 31);

-- Bits of no known width have that of the first row, and all the same.
SELECT count(*) > 0 AS some FROM simhash_pairs('SELECT id, fp::bit varying FROM rows', 31);
SELECT fails($$ SELECT * FROM simhash_pairs('VALUES (1, B''01''::bit(80)), (2, B''01''::bit(96))') $$);
SELECT fails($$ SELECT * FROM simhash_clusters('VALUES (1, B''01''::bit(80)::bit varying), (2, B''01''::bit(32))') $$);
SELECT fails($$ SELECT * FROM simhash_pairs('VALUES (1, B''01'')') $$);
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT 1, NULL::bit(31)') $$);
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT 1, NULL::bit(1025)') $$);

-- How far.
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT id, fp FROM rows', 68) $$);
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT id, fp FROM rows', -1) $$);
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT id, fp::bit(64) FROM rows', 17) $$);
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT id, fp::bit varying FROM rows', 68) $$);
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT id, fp::bit varying FROM rows', 272) $$);
SELECT count(*) FROM simhash_pairs('SELECT id, fp::bit varying FROM rows LIMIT 0', 271);
SELECT count(*) FROM simhash_clusters('SELECT id, fp FROM rows LIMIT 0', 67, 'star');

-- What is said to be enough memory is enough; where a bigint is a pointer it is more.
SET maintenance_work_mem = '1MB';
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT i, i::bit(256) FROM generate_series(1, 20000) AS i', 3) $$) AS said \gset
SELECT regexp_replace(:'said', 'some \d+|\d+MB', 'so much', 'g') AS said,
    set_config('maintenance_work_mem', substring(:'said' FROM '\d+MB'), false) IN ('2MB', '3MB') AS little;
SELECT count(*) FROM simhash_pairs('SELECT i, i::bit(256) FROM generate_series(1, 20000) AS i', 0);
SET maintenance_work_mem = '1MB';
SELECT fails($$ SELECT * FROM simhash_pairs('SELECT i, i::bit(63) FROM generate_series(1, 30000) AS i', 0) $$) AS said \gset
SELECT regexp_replace(:'said', 'some \d+|\d+MB', 'so much', 'g') AS said,
    set_config('maintenance_work_mem', substring(:'said' FROM '\d+MB'), false) IN ('2MB', '3MB') AS little;
SELECT count(*) FROM simhash_pairs('SELECT i, i::bit(63) FROM generate_series(1, 30000) AS i', 0);
RESET maintenance_work_mem;

-- Reports, over columns, expressions and domains.
CREATE DOMAIN wide AS bit(128);
CREATE TABLE docs (id int PRIMARY KEY, body text,
    fp bit(128) GENERATED ALWAYS AS (simhash_bits(body, 128)) STORED, d wide);
INSERT INTO docs (id, body, d) VALUES
(1, 'The quick brown fox jumps over the lazy dog.', B'1'::bit(128)),
(2, '"The quick, brown fox jumps over the lazy dog!"', B'11'::bit(128)),
(3, 'Everyone has the right to life, liberty and security of person.', B'111'::bit(128)),
(4, NULL, NULL);
SELECT * FROM simhash_report('docs', 'fp', 16) WHERE section <> 'largest clusters';
SELECT item, left(value, 50) AS begins FROM simhash_report('docs', 'fp', 16)
WHERE section = 'largest clusters';
SELECT value FROM simhash_report('docs', 'd', 1) WHERE item = 'redundant rows';
SELECT value FROM simhash_report('docs', 'simhash_bits(body, 256)', 16, within => '{id}')
WHERE item = 'redundant rows';
SELECT simhash_dedup_sql('docs', 'd', 2);
SELECT simhash_dedup_sql('docs', 'fp', 16) \gexec
SELECT id FROM docs ORDER BY id;
CREATE TABLE children () INHERITS (docs);
INSERT INTO children SELECT id + 10, body FROM docs;
SELECT simhash_dedup_sql('docs', 'fp::bit varying') \gexec
SELECT tableoid::regclass, id FROM docs ORDER BY id;
SELECT fails($$ SELECT * FROM simhash_report('docs', 'fp', 34) $$);
SELECT fails($$ SELECT simhash_dedup_sql('docs', 'fp', 34) $$);
SELECT fails($$ SELECT simhash_dedup_sql('docs', 'd', 34) $$);
SELECT fails($$ SELECT simhash_dedup_sql('docs', 'bit ''1'' || fp', 272) $$);

DROP TABLE children, docs, rows;
DROP DOMAIN wide;
DROP FUNCTION random_bits, vary, make_rows, check_rows;
