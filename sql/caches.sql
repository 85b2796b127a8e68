--
-- What a session remembers from call to call: nobody can make it take one
-- thing for another.  The attacks go by what a cache might know a thing by: a
-- length, a checksum, the ends, an address, the place in a TOAST table.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

----------------------------------------
-- idf_cache.c: simhash_idf values
----------------------------------------

-- two values of the same length, whose headers, with the checksum, are equal
SELECT simhash_idf_from(
    '{apple,pear,plum,grape,melon,cherry,fig,lemon,quince,peach}',
    '{0.1,9,0.2,8,0.3,7,0.4,6,0.5,5}') AS honest,
    '\x0101000000000000000005000a00000000000000ca950267fa8787a4'
    'b8fe6c3923e44bbea48c65a401cb96c01bc9074e642b037658b4440121340e3e'
    AS forged \gset
SELECT substr(:'honest', 1, 58) = substr(:'forged', 1, 58) AS header,
    :'honest' = :'forged' AS value;

CREATE TABLE made (id int GENERATED ALWAYS AS IDENTITY, words text[],
    fp bigint GENERATED ALWAYS AS (simhash_tfidf(words,
        :'honest'::simhash_idf)) STORED);
INSERT INTO made (words) VALUES ('{apple,pear,plum,grape,melon,cherry}');
\c -
SELECT simhash_tfidf('{x}'::text[], :'forged'::simhash_idf) IS NULL AS nothing;
INSERT INTO made (words) VALUES ('{apple,pear,plum,grape,melon,cherry}');
SELECT count(DISTINCT fp) FROM made;

-- values of one length, in each of which another word outweighs the others, and
-- the fingerprints that come of it
CREATE TABLE expected AS
SELECT weight, simhash(ARRAY[word]) AS fp
FROM unnest('{apple,pear,plum,grape,melon,cherry}'::text[])
    WITH ORDINALITY AS w (word, weight);
CREATE FUNCTION heaviest(heavy bigint) RETURNS simhash_idf LANGUAGE sql AS $$
    SELECT simhash_idf_from('{apple,pear,plum,grape,melon,cherry}',
        array_agg(CASE i WHEN heavy THEN 31 ELSE 5 END::float8 ORDER BY i))
    FROM generate_series(1, 6) AS i
$$;
CREATE FUNCTION fingerprint(idf simhash_idf) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT simhash_tfidf('{apple,pear,plum,grape,melon,cherry}'::text[], idf)
$$;
CREATE TABLE values_of (weight bigint, idf simhash_idf, filler text);
ALTER TABLE values_of SET (toast_tuple_target = 128);
ALTER TABLE values_of ALTER filler SET STORAGE PLAIN;
INSERT INTO values_of
SELECT weight, heaviest(weight), repeat('-', 2100) FROM expected;
SELECT count(DISTINCT length(idf::text)) AS lengths,
    count(DISTINCT idf::text) AS "values",
    (SELECT count(DISTINCT fp) FROM expected) AS fingerprints,
    pg_relation_size(reltoastrelid) > 0 AS toasted
FROM values_of, pg_class WHERE oid = 'values_of'::regclass
GROUP BY reltoastrelid;

-- from columns, more of them than are kept
SELECT bool_and(fingerprint(idf) = fp) AS same
FROM generate_series(1, 3) AS round, values_of JOIN expected USING (weight);
-- the row that a pointer leads to is another one by the next command
CREATE FUNCTION changes() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    same boolean := true;
    made bigint;
    variable simhash_idf;
BEGIN
    INSERT INTO values_of SELECT 0, idf, filler FROM values_of WHERE weight = 1;
    FOR w IN 1..6 LOOP
        UPDATE values_of SET idf = heaviest(w)
        WHERE weight = 0;
        SELECT fingerprint(idf) INTO made
        FROM values_of WHERE weight = 0;
        same := same AND made = (SELECT fp FROM expected WHERE weight = w);
        -- from a variable, the address of which is the same again and again
        SELECT simhash_idf_in(idf::text::cstring) INTO variable FROM values_of
        WHERE weight = w;
        made := simhash_tfidf(
            '{apple,pear,plum,grape,melon,cherry}'::text[], variable);
        same := same AND made = (SELECT fp FROM expected WHERE weight = w);
        -- what is rolled back
        BEGIN
            DELETE FROM values_of;
            INSERT INTO values_of VALUES
                (0, heaviest(1 + w % 6), repeat('-', 2100));
            PERFORM fingerprint(idf)
            FROM values_of;
            RAISE division_by_zero;
        EXCEPTION WHEN division_by_zero THEN
        END;
        SELECT fingerprint(idf) INTO made
        FROM values_of WHERE weight = 0;
        same := same AND made = (SELECT fp FROM expected WHERE weight = w);
    END LOOP;
    RETURN same;
END $$;
BEGIN;
SELECT changes();
ROLLBACK;
-- a constant of one query is not that of the next, nor that of another call
SELECT bool_and(same) AS same FROM expected AS e, LATERAL (
    SELECT fingerprint((SELECT idf FROM values_of AS v
                        WHERE v.weight = e.weight)) = e.fp AS same) AS s;
CREATE FUNCTION constants() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    same boolean := true;
    once boolean;
BEGIN
    FOR w IN 1..6 LOOP
        EXECUTE format('SELECT bool_and(simhash_tfidf(words, %L::simhash_idf)
                = %s AND simhash_tfidf(words, %L::simhash_idf) = %s)
            FROM (SELECT ''{apple,pear,plum,grape,melon,cherry}''::text[] AS words
                  FROM generate_series(1, 3)) AS v',
            heaviest(w), (SELECT fp FROM expected WHERE weight = w),
            heaviest(7 - w), (SELECT fp FROM expected WHERE weight = 7 - w))
        INTO once;
        same := same AND once;
    END LOOP;
    RETURN same;
END $$;
SELECT constants();
PREPARE given(simhash_idf, bigint) AS
SELECT simhash_tfidf('{apple,pear,plum,grape,melon,cherry}'::text[], $1)
    = (SELECT fp FROM expected WHERE weight = $2) AS same;
SET plan_cache_mode = force_generic_plan;
EXECUTE given(heaviest(1), 1);
EXECUTE given(heaviest(2), 2);
EXECUTE given(heaviest(3), 3);
RESET plan_cache_mode;
DEALLOCATE given;

-- large values go when the transaction ends, the others stay within a bound
CREATE TABLE heavy AS
SELECT n, simhash_idf_from(array_agg('w' || i * n),
    array_agg(i % 1000 + n::float8)) AS idf
FROM generate_series(1, 3) AS n, generate_series(1, 1000000) AS i
GROUP BY n;
SELECT count(simhash_tfidf('{w1,w2,w3}'::text[], idf)) FROM heavy;
SELECT sum(total_bytes) BETWEEN 1000000 AND 65 * 1048576 AS bounded
FROM pg_backend_memory_contexts WHERE name = 'simhash_idf';

----------------------------------------
-- fingerprint.c, similarity.c: documents
----------------------------------------

-- documents of one length that differ in a single letter, anywhere
CREATE TABLE alike AS
SELECT i, overlay((SELECT string_agg('word' || j % 37, ' ')
                   FROM generate_series(1, 60) AS j)
                  PLACING 'x' FROM 1 + i * 5) AS body
FROM generate_series(0, 70) AS i;
SELECT count(DISTINCT length(body)) AS lengths, count(DISTINCT body) AS bodies
FROM alike;
-- each after the others, and thrice, as what has come again is copied
SELECT bool_and(simhash(body) = (SELECT simhash_agg(hash, weight)
                                 FROM simhash_features(body))) AS same,
    bool_and(minhash(body) = (SELECT minhash(array_agg(feature))
                              FROM simhash_features(body))) AS sets,
    bool_and(substring(simhash_bits(body, 128) FOR 64)
             = simhash(body)::bit(64)) AS wide
FROM generate_series(1, 3) AS a, alike, generate_series(1, 3) AS b;
SELECT bool_and(simhash(body, 'char-3') = (SELECT simhash_agg(hash, weight)
        FROM simhash_features(body, 'char-3'))
    AND simhash(body, 'word-1') = (SELECT simhash_agg(hash, weight)
        FROM simhash_features(body, 'word-1'))) AS profiles
FROM alike, generate_series(1, 3);
WITH sets AS MATERIALIZED (
    SELECT i, body, (SELECT array_agg(feature) FROM simhash_features(body))
        AS features
    FROM alike WHERE i % 5 = 0)
SELECT bool_and(simhash_jaccard(a.body, b.body)
                = simhash_jaccard(a.features, b.features)) AS same
FROM sets AS a, sets AS b;

----------------------------------------
-- distance.c: balls
----------------------------------------

CREATE TABLE balls AS
SELECT i, (CASE WHEN i % 7 > 0 THEN hashint8extended(i, 1) END,
           CASE WHEN i % 11 > 0 THEN i % 65 END)::hamming_ball AS ball,
    (CASE WHEN i % 7 > 0 THEN (hashint8extended(i, 1)::bit(64)
        || hashint8extended(i, 2)::bit(64)) END,
     CASE WHEN i % 11 > 0 THEN i % 129 END)::hamming_bit_ball AS wide
FROM generate_series(1, 1000) AS i;
SELECT count(*) FILTER (WHERE (i <@ ball) IS DISTINCT FROM
        (hamming(i, (ball).center) <= (ball).radius)) AS wrong,
    count(*) FILTER (WHERE (x <@ wide) IS DISTINCT FROM
        (hamming(x, (wide).center::bit(128)) <= (wide).radius)) AS wide_wrong
FROM (SELECT b.ball, b.wide, j::bigint AS i,
          hashint8extended(j, 3)::bit(64) || hashint8extended(j, 4)::bit(64) AS x
      FROM balls AS b, generate_series(1, 3) AS j) AS v;

----------------------------------------
-- the index: pages and their order after others have taken their place
----------------------------------------

CREATE TABLE rows (id int, fp bigint);
CREATE FUNCTION search() RETURNS bigint LANGUAGE sql AS $$
    SELECT sum(id) FROM rows WHERE fp ~= 1
$$;
INSERT INTO rows SELECT i, i % 16 FROM generate_series(1, 2000) AS i;
CREATE INDEX rows_fp ON rows USING hamming (fp);
SET enable_seqscan = off;
SELECT search();
UPDATE rows SET fp = ~fp WHERE id % 2 = 0;
REINDEX INDEX rows_fp;
SELECT search() AS indexed, (SELECT sum(id) FROM rows
    WHERE hamming(fp, 1) <= 3) AS plain;
TRUNCATE rows;
INSERT INTO rows SELECT i, i % 64 FROM generate_series(1, 2000) AS i;
SELECT search() AS indexed, (SELECT sum(id) FROM rows
    WHERE hamming(fp, 1) <= 3) AS plain;
BEGIN;
DROP INDEX rows_fp;
DELETE FROM rows WHERE id % 3 = 0;
CREATE INDEX rows_fp ON rows USING hamming (fp);
SELECT search() AS indexed, (SELECT sum(id) FROM rows
    WHERE hamming(fp, 1) <= 3) AS plain;
ROLLBACK;
SELECT search() AS indexed, (SELECT sum(id) FROM rows
    WHERE hamming(fp, 1) <= 3) AS plain;
RESET enable_seqscan;

----------------------------------------
-- the guard: what it knows of its table
----------------------------------------

CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON rows
FOR EACH ROW EXECUTE FUNCTION simhash_guard('fp', 'skip', '3');
TRUNCATE rows;
INSERT INTO rows VALUES (1, 0), (2, 1);
ALTER TABLE rows RENAME fp TO other;
ALTER TABLE rows ADD fp bigint;
SELECT fails('INSERT INTO rows VALUES (3, 0, 0)') ~ '^55000' AS no_index;
CREATE INDEX ON rows USING hamming (fp);
INSERT INTO rows VALUES (5, 0, 0), (6, 0, -1);
SELECT id, other, fp FROM rows ORDER BY id;

DROP TABLE made, expected, values_of, heavy, alike, balls, rows;
DROP FUNCTION heaviest(bigint), fingerprint(simhash_idf), changes(),
    constants(), search();
