-- The database whose dump tools/freeze keeps of a version: what users of that version
-- may have, and questions about it, with answers that no function of simhash gave.
--
-- t/043_frozen.pl restores the dump with the library in hand, and asks again.  What a
-- later version adds may be added here; the dumps of older versions stay as they are.

CREATE EXTENSION simhash;

----------------------------------------
-- questions
----------------------------------------

CREATE TABLE questions (n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    query text, brute text, answer text);

-- what a query says, or how it fails; what it changes is undone
CREATE FUNCTION ask(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
    place text;
BEGIN
    EXECUTE query INTO result;
    RAISE SQLSTATE 'UNDOS';
EXCEPTION WHEN SQLSTATE 'UNDOS' THEN
    RETURN coalesce(result, '');
WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS place = CONSTRAINT_NAME;
    RETURN SQLSTATE || ' ' || place;
END $$;

-- fingerprints near each other: families of three, and some between them
CREATE FUNCTION print(n int, seed int) RETURNS bigint LANGUAGE sql IMMUTABLE
AS 'SELECT hashint8extended(n / 3, seed) # (n % 3 * (1::bigint << n % 60))';

----------------------------------------
-- fingerprints of texts
----------------------------------------

-- by every profile that has a name; those of the default ones are generated, too
CREATE TABLE texts (label text PRIMARY KEY COLLATE "C", body text,
    simhash bigint GENERATED ALWAYS AS (simhash(body)) STORED,
    minhash bigint GENERATED ALWAYS AS (minhash(body)) STORED,
    wide bit(256) GENERATED ALWAYS AS (minhash_bits(body, 256)::bit(256)) STORED);
\copy texts (label, body) FROM 'test/golden/golden_texts.tsv'
CREATE TABLE by_profile AS
SELECT label, profile, simhash(body, profile) AS fp
FROM texts, simhash_profiles() WHERE profile IS NOT NULL AND body IS NOT NULL;
CREATE TABLE generated AS SELECT label, simhash, minhash, wide FROM texts;
INSERT INTO questions (query, brute) VALUES
($$SELECT count(*) FROM texts JOIN by_profile USING (label)
WHERE fp IS DISTINCT FROM simhash(body, profile)$$, 'SELECT 0'),
($$SELECT string_agg(profile, ' ') FROM (SELECT profile FROM by_profile
EXCEPT SELECT profile FROM simhash_profiles()) AS p$$, 'SELECT NULL'),
($$SELECT count(*) FROM texts AS t JOIN generated AS g USING (label)
WHERE (t.simhash, t.minhash, t.wide) IS DISTINCT FROM (g.simhash, g.minhash, g.wide)$$,
'SELECT 0');

-- golden vectors, which the references in test/golden wrote: a digest of each profile's
CREATE TEMP TABLE golden (label text COLLATE "C", profile text, value text);
CREATE TEMP TABLE golden_wide (label text COLLATE "C", family text, profile text, value text);
CREATE TABLE vectors (made_by text, profile text, digest text);
\set digest 'md5(string_agg(coalesce(value, \'-\'), E\'\\n\' ORDER BY label))'
\copy golden FROM 'test/golden/golden.tsv'
INSERT INTO vectors SELECT 'simhash(body, profile)', profile, :digest FROM golden GROUP BY profile;
TRUNCATE golden;
\copy golden FROM 'test/golden/golden_minhash.tsv'
INSERT INTO vectors SELECT 'minhash(body, profile)', profile, :digest FROM golden GROUP BY profile;
TRUNCATE golden;
\copy golden FROM 'test/golden/golden_fold.tsv'
INSERT INTO vectors SELECT 'simhash_fold(body)', profile, :digest FROM golden GROUP BY profile;
\copy golden_wide FROM 'test/golden/golden_wide.tsv'
UPDATE golden_wide SET value = ('x' || value)::bit(1024);
INSERT INTO vectors
SELECT format('%s_bits(body, 1024, profile)', family), profile, :digest
FROM golden_wide GROUP BY family, profile;
DO $$ BEGIN ASSERT (SELECT count(*) FROM vectors) > 50; END $$;
INSERT INTO questions (query, brute)
SELECT format($$SELECT string_agg(profile, ' ') FROM (
SELECT profile, digest, md5(string_agg(coalesce(%s::text, '-'), E'\n' ORDER BY label)) AS made
FROM vectors, texts WHERE made_by = %L GROUP BY profile, digest) AS v WHERE made <> digest$$,
    made_by, made_by), 'SELECT NULL'
FROM (SELECT DISTINCT made_by FROM vectors) AS v;

-- weights that were learned, and what they give
CREATE TABLE learned AS
SELECT simhash_idf_agg(body, 'word-1') AS idf FROM texts;
CREATE TABLE weighted AS
SELECT label, simhash_tfidf(body, idf) AS fp, simhash_tfidf(body, idf, 7) AS fp_7
FROM texts, learned WHERE body IS NOT NULL;
INSERT INTO questions (query, brute) VALUES
($$SELECT count(*) FROM texts JOIN weighted USING (label), learned WHERE (fp, fp_7)
IS DISTINCT FROM (simhash_tfidf(body, idf), simhash_tfidf(body, idf, 7))$$, 'SELECT 0');

----------------------------------------
-- hamming indexes
----------------------------------------

-- Their files are kept: each of these is built from one half of the rows, and the other
-- half is inserted.  An index leads to rows by their places, which are stated.  A
-- table that is made in the same transaction is not logged, so that the pages have no
-- place in a log.
BEGIN;
CREATE TABLE paged_64 (id int PRIMARY KEY, site text, fp bigint);
CREATE TABLE paged_128 (id int PRIMARY KEY, fp bit(128));
CREATE TABLE paged_256 (id int PRIMARY KEY, fp bit(256));
INSERT INTO paged_64 SELECT n, 'site ' || n % 5, CASE WHEN n % 50 > 0 THEN print(n, 1) END
FROM generate_series(1, 500) AS n;
INSERT INTO paged_128 SELECT n, (print(n, 2)::bit(64) || print(n, 3)::bit(64))::bit(128)
FROM generate_series(1, 150) AS n;
INSERT INTO paged_256 SELECT n, (print(n, 4)::bit(64) || print(n, 5)::bit(64)
    || print(n, 6)::bit(64) || print(n, 7)::bit(64))::bit(256)
FROM generate_series(1, 100) AS n;
CREATE INDEX paged_64_fp ON paged_64 USING hamming (fp);
CREATE INDEX paged_64_site ON paged_64 USING hamming (site, fp);
CREATE INDEX paged_128_fp ON paged_128 USING hamming (fp);
CREATE INDEX paged_256_fp ON paged_256 USING hamming (fp);
INSERT INTO paged_64 SELECT id + 500, site, fp # 5 FROM paged_64 WHERE id <= 150;
INSERT INTO paged_128 SELECT id + 150, ~fp FROM paged_128 WHERE id <= 50;
INSERT INTO paged_256 SELECT id + 100, ~fp FROM paged_256 WHERE id <= 50;
COMMIT;
CREATE TABLE places AS
SELECT tableoid::regclass::text AS relation, id, ctid AS place FROM paged_64
UNION ALL SELECT tableoid::regclass::text, id, ctid FROM paged_128
UNION ALL SELECT tableoid::regclass::text, id, ctid FROM paged_256;

-- fingerprints within a distance of each other, by the index and by counting bits
INSERT INTO questions (query, brute)
SELECT format($$SELECT count(*) || ' ' || sum(hashint8extended(d.id, q.id))
FROM %1$s AS q, %1$s AS d WHERE q.id %% 7 = 1 AND %2$s$$, relation, condition),
    format($$SELECT count(*) || ' ' || sum(hashint8extended(d.id, q.id))
FROM %1$s AS q, %1$s AS d WHERE q.id %% 7 = 1 AND %2$s$$, relation, plain)
FROM (VALUES
    ('paged_64', 'd.fp ~= q.fp', 'bit_count((d.fp # q.fp)::bit(64)) <= 3'),
    ('paged_64', 'd.fp <@ (q.fp, 8)', 'bit_count((d.fp # q.fp)::bit(64)) <= 8'),
    ('paged_64', 'd.fp <@ (q.fp, 25)', 'bit_count((d.fp # q.fp)::bit(64)) <= 25'),
    ('paged_64', 'd.site = q.site AND d.fp <@ (q.fp, 8)',
        'd.site = q.site AND bit_count((d.fp # q.fp)::bit(64)) <= 8'),
    ('paged_128', 'd.fp <@ (q.fp, 6)', 'bit_count(d.fp # q.fp) <= 6'),
    ('paged_128', 'd.fp <@ (q.fp, 40)', 'bit_count(d.fp # q.fp) <= 40'),
    ('paged_256', 'd.fp <@ (q.fp, 12)', 'bit_count(d.fp # q.fp) <= 12'),
    ('paged_256', 'd.fp <@ (q.fp, 90)', 'bit_count(d.fp # q.fp) <= 90'))
    AS v (relation, condition, plain);
INSERT INTO questions (query, brute) VALUES
($$SELECT string_agg(d::text, ' ' ORDER BY d) FROM (
SELECT fp <~> print(77, 1) AS d FROM paged_64 ORDER BY fp <~> print(77, 1) LIMIT 9) AS n$$,
$$SELECT string_agg(d::text, ' ' ORDER BY d) FROM (
SELECT bit_count((fp # print(77, 1))::bit(64)) AS d FROM paged_64 WHERE fp IS NOT NULL
ORDER BY 1 LIMIT 9) AS n$$),
($$SELECT count(*) FROM paged_64 WHERE fp IS NULL$$,
$$SELECT count(*) - count(fp) FROM paged_64$$),
($$SELECT count(*) || ' ' || sum(hashint8extended(a, b)) FROM simhash_pairs('SELECT id, fp FROM paged_64 WHERE fp IS NOT NULL')$$,
$$SELECT count(*) || ' ' || sum(hashint8extended(a.id, b.id)) FROM paged_64 AS a, paged_64 AS b
WHERE a.id < b.id AND bit_count((a.fp # b.fp)::bit(64)) <= 3$$);

-- in other forms: of an expression, partial, of stored balls; key columns
CREATE TABLE indexed (id int PRIMARY KEY, site text, fp bigint);
INSERT INTO indexed SELECT n, 'site ' || n % 2, print(n, 8) FROM generate_series(1, 600) AS n;
CREATE INDEX indexed_expression ON indexed USING hamming ((fp # 255)) WITH (fillfactor = 60)
    WHERE id % 2 = 0;
CREATE TABLE balls AS SELECT id, hamming_ball(fp, 2) AS ball, hamming_bit_ball(fp::bit(64), 2) AS bits
FROM indexed WHERE id % 3 = 0;
CREATE INDEX balls_ball ON balls USING hamming (ball);
SELECT simhash_add_keys('indexed', 'fp', within => '{site}') \g /dev/null
INSERT INTO questions (query, brute)
SELECT format('SELECT count(*) || %L || sum(hashint8extended(d.id, q.id)) FROM %s', ' ', q),
    format('SELECT count(*) || %L || sum(hashint8extended(d.id, q.id)) FROM %s', ' ', b)
FROM (VALUES
    ('indexed AS q, indexed AS d WHERE q.id % 7 = 1 AND d.id % 2 = 0 AND (d.fp # 255) <@ (q.fp # 255, 5)',
    'indexed AS q, indexed AS d WHERE q.id % 7 = 1 AND d.id % 2 = 0
    AND bit_count((d.fp # q.fp)::bit(64)) <= 5'),
    ('indexed AS q, indexed AS d WHERE q.id % 7 = 1 AND d.site = q.site AND d.fp ~= q.fp',
    'indexed AS q, indexed AS d WHERE q.id % 7 = 1 AND d.site = q.site
    AND bit_count((d.fp # q.fp)::bit(64)) <= 3'),
    ('indexed AS q, balls AS d WHERE q.id % 7 = 1 AND q.fp <@ d.ball',
    'indexed AS q, indexed AS d WHERE q.id % 7 = 1 AND d.id % 3 = 0
    AND bit_count((d.fp # q.fp)::bit(64)) <= 2')) AS v (q, b);

----------------------------------------
-- what keeps near-duplicates out
----------------------------------------

DO $$
DECLARE
    action text;
BEGIN
    FOREACH action IN ARRAY '{reject,conflict,skip,mark}'::text[] LOOP
        EXECUTE format('CREATE TABLE guard_%s (id int PRIMARY KEY, body text,
            fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, twin int)', action);
        EXECUTE format('CREATE INDEX ON guard_%s USING hamming (fp)', action);
        EXECUTE format('CREATE TRIGGER %1$s BEFORE INSERT OR UPDATE ON guard_%1$s
            FOR EACH ROW EXECUTE FUNCTION simhash_guard(''fp'', %1$L, ''8'', ''similarity=alike''%2$s)',
            action, CASE action WHEN 'mark' THEN ', ''mark=twin''' END);
        EXECUTE format('INSERT INTO guard_%s VALUES (1,
            ''a text of a few words that nobody else may bring in here once more, whoever he is'')', action);
    END LOOP;
END $$;
CREATE TABLE guard_keys (id int PRIMARY KEY, site text, hash bit(128));
CREATE INDEX ON guard_keys USING hamming (site, hash);
CREATE TRIGGER within BEFORE INSERT OR UPDATE ON guard_keys FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('hash', 'reject', '6', 'within=site');
INSERT INTO guard_keys SELECT id, 'site', fp FROM paged_128 WHERE id = 7;
CREATE TABLE alone (id int PRIMARY KEY, fp bigint,
    CONSTRAINT alone_fp EXCLUDE USING hamming (fp WITH ~=));
INSERT INTO alone VALUES (1, 0), (2, 15);
\set near '\'A text of a few words that nobody else may bring in here once more, whoever HE is!\''
INSERT INTO questions (query, brute) VALUES
(format('INSERT INTO guard_reject VALUES (2, %L)', :near), $$SELECT '23P01 reject'$$),
(format('INSERT INTO guard_conflict VALUES (2, %L)
ON CONFLICT (id) DO UPDATE SET twin = 7 RETURNING id || '' '' || twin', :near), $$SELECT '1 7'$$),
(format('INSERT INTO guard_skip VALUES (2, %L) RETURNING id', :near), 'SELECT NULL'),
(format('INSERT INTO guard_mark VALUES (2, %L) RETURNING twin', :near), 'SELECT 1'),
('INSERT INTO guard_mark VALUES (2, $$Tea is served at five.$$) RETURNING twin', 'SELECT NULL'),
('INSERT INTO guard_keys SELECT 8, site, set_bit(hash, 9, 1 - get_bit(hash, 9)) FROM guard_keys',
    $$SELECT '23P01 within'$$),
($$INSERT INTO guard_keys SELECT 8, 'other', hash FROM guard_keys RETURNING id$$, 'SELECT 8'),
('INSERT INTO alone VALUES (3, 8)', $$SELECT '23P01 alone_fp'$$),
('INSERT INTO alone VALUES (3, 255) RETURNING id', 'SELECT 3');

----------------------------------------
-- clusters that keep themselves
----------------------------------------

-- each family is one
CREATE TABLE stars AS SELECT n AS id, print(n, 9) AS fp FROM generate_series(3, 62) AS n;
CREATE TABLE connected AS TABLE stars;
ALTER TABLE stars ADD PRIMARY KEY (id);
ALTER TABLE connected ADD PRIMARY KEY (id);
CREATE INDEX connected_fp ON connected USING hamming (fp);
CALL simhash_add_clusters('stars', 'fp', 8, since => 'since');
CALL simhash_add_clusters('connected', 'fp', 8, 'connected');
-- a row between two families has made one of them
INSERT INTO connected VALUES (1001, 0), (1002, 4095), (1003, 63);
INSERT INTO questions (query, brute)
SELECT q, b FROM (VALUES ('stars'), ('connected')) AS t (r), LATERAL (VALUES
    (format('SELECT count(*) FROM simhash_check_clusters(%L)', r), 'SELECT 0'),
    (format('SELECT count(*) FROM %1$s AS a, %1$s AS b WHERE a.cluster = b.cluster AND a.id < 1000', r),
    'SELECT 20 * 3 * 3'),
    (format('INSERT INTO %1$s (id, fp) SELECT 2000, fp # 1 FROM %1$s WHERE id = 21
RETURNING cluster = (SELECT cluster FROM %1$s WHERE id = 22)', r), $$SELECT 'true'$$),
    (format('INSERT INTO %1$s (id, fp) VALUES (2000, 1234567890123)
RETURNING cluster > (SELECT max(cluster) FROM %1$s)', r), $$SELECT 'true'$$)) AS v (q, b);
INSERT INTO questions (query, brute) VALUES
($$SELECT count(DISTINCT simhash_current_cluster('connected', cluster)) || ' ' || count(DISTINCT cluster)
FROM connected WHERE id > 1000$$, $$SELECT '1 2'$$);

----------------------------------------
-- a table that was cleaned
----------------------------------------

CREATE TABLE cleaned (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
CREATE TABLE likes (who text, doc int REFERENCES cleaned, PRIMARY KEY (who, doc));
INSERT INTO cleaned SELECT n, CASE WHEN n % 2 = 0 THEN upper(t) ELSE t END
FROM generate_series(2, 21) AS n,
    LATERAL (SELECT string_agg(md5((n / 2 * 100 + i)::text), ' ') FROM generate_series(1, 20) AS i) AS s (t);
INSERT INTO likes SELECT 'reader ' || id, id FROM cleaned;
CREATE TABLE cleaned_plan AS SELECT * FROM simhash_dedup_plan('cleaned', 'fp');
CALL simhash_dedup_apply('cleaned', 'cleaned_plan', log => 'cleaned_log', children => 'move');
INSERT INTO questions (query, brute) VALUES
('SELECT string_agg(id::text, $$ $$ ORDER BY id) FROM cleaned',
'SELECT string_agg(n::text, $$ $$ ORDER BY n) FROM generate_series(2, 20, 2) AS n'),
('SELECT count(*) || $$ $$ || count(DISTINCT doc) FROM likes', $$SELECT '20 10'$$),
('SELECT string_agg(gone::text || $$ by $$ || kept::text, $$ $$ ORDER BY gone::text) FROM cleaned_plan WHERE done IS NOT NULL',
'SELECT string_agg(format($${%s} by {%s}$$, n + 1, n), $$ $$ ORDER BY $${$$ || n + 1 || $$}$$) FROM generate_series(2, 20, 2) AS n');

-- the log puts all back
CREATE FUNCTION put_back() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    CALL simhash_dedup_undo('cleaned', log => 'cleaned_log');
    RETURN (SELECT count(*) || ' ' || string_agg(DISTINCT left(who, 6), ' ') FROM cleaned JOIN likes ON id = doc);
END $$;
INSERT INTO questions (query, brute) VALUES ('SELECT put_back()', $$SELECT '20 reader'$$);

----------------------------------------
-- the answers
----------------------------------------

UPDATE questions SET answer = coalesce(ask(brute), '');
DO $$
DECLARE
    wrong questions;
BEGIN
    SELECT * INTO wrong FROM questions WHERE ask(query) <> answer LIMIT 1;
    IF FOUND THEN
        RAISE 'the answer to % is % by %, and % now', wrong.query, wrong.answer, wrong.brute, ask(wrong.query);
    END IF;
END $$;
