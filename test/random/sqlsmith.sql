--
-- What test/random/sqlsmith.sh has queries made about
-- SPDX-License-Identifier: PostgreSQL
--
-- Every kind of object of the extension, with a little data, in the schema
-- smith, owned by the role that SQLsmith connects as.
--

CREATE EXTENSION simhash;
CREATE SCHEMA smith AUTHORIZATION :role;
GRANT EXECUTE ON FUNCTION hamming_index_check TO :role;
SET ROLE :role;
SET search_path = smith, public;

CREATE FUNCTION body(i int) RETURNS text LANGUAGE sql IMMUTABLE
RETURN (SELECT string_agg('word' || hashint8extended(w, i / 4) % 500, ' ' ORDER BY w)
        FROM generate_series(1, 40) AS w)
    || CASE i % 4 WHEN 0 THEN '' ELSE ' and ' || i END;
CREATE FUNCTION noise(i int) RETURNS bit(128) LANGUAGE sql IMMUTABLE
RETURN set_bit(hashint8extended(i / 4, 1)::bit(64) || hashint8extended(i / 4, 2)::bit(64), i % 128, i % 2)::bit(128);

-- Tables with indexes of every class, on columns, expressions, some rows.

CREATE TABLE docs (id int PRIMARY KEY, site int, lang text, body text, words text[],
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, fp2 bigint,
    wide bit(128) GENERATED ALWAYS AS (simhash_bits(body, 128)) STORED);
INSERT INTO docs (id, site, lang, body, words, fp2) SELECT i, i % 5, CASE i % 3 WHEN 0 THEN 'en' WHEN 1 THEN 'de' END, body(i),
    string_to_array(body(i), ' '), nullif(hashint8extended(i % 40, 7), i)
FROM generate_series(1, 400) AS i;
INSERT INTO docs (id) VALUES (0);
CREATE INDEX ON docs USING hamming (fp);
CREATE INDEX ON docs USING hamming (site, fp);
CREATE INDEX ON docs USING hamming (lang, wide);
CREATE INDEX ON docs USING hamming (wide);
CREATE INDEX ON docs USING hamming (fp2) WHERE site < 3;
CREATE INDEX ON docs USING hamming ((fp # fp2));
CREATE INDEX ON docs USING hamming (hamming_ball(fp, 8));

CREATE TABLE balls (id int PRIMARY KEY, ball hamming_ball, bits hamming_bit_ball, wide bit(128));
INSERT INTO balls SELECT i, CASE WHEN i % 9 <> 0 THEN hamming_ball(hashint8extended(i / 3, 1), i % 20) END,
    hamming_bit_ball(noise(i), i % 40), noise(i)
FROM generate_series(1, 200) AS i;
CREATE INDEX ON balls USING hamming (ball);
CREATE INDEX balls_bits_idx ON balls USING hamming (hamming_bit_ball(wide, 20));
CREATE INDEX ON balls USING hamming (wide) WITH (fillfactor = 50);

CREATE DOMAIN print AS bit(128);
CREATE TABLE parts (id int, site int, fp bigint, pdq print, PRIMARY KEY (id, site)) PARTITION BY LIST (site);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0, 1);
CREATE TABLE parts_1 (pdq print, fp bigint, id int NOT NULL, site int NOT NULL);
ALTER TABLE parts ATTACH PARTITION parts_1 DEFAULT;
INSERT INTO parts SELECT i, i % 4, hashint8extended(i / 3, 5), noise(i) FROM generate_series(1, 200) AS i;
CREATE INDEX ON parts USING hamming (fp);
CREATE INDEX ON parts USING hamming (pdq);

-- Key columns, constraints, guards.

CREATE TABLE keyed (id int PRIMARY KEY, site int, fp bigint);
INSERT INTO keyed SELECT i, i % 7, hashint8extended(i / 3, 3) # (1 << (i % 20)) FROM generate_series(1, 400) AS i;
SELECT simhash_add_keys('keyed', 'fp');
SELECT simhash_add_keys('keyed', 'fp', '{g0,g1,g2,g3}', '{site}');

CREATE TABLE kept (id int PRIMARY KEY, site int, fp bigint, pdq bit(128),
    EXCLUDE USING hamming (fp WITH ~=), EXCLUDE USING hamming (site WITH =, hamming_bit_ball(pdq, 20) WITH ~=));
INSERT INTO kept SELECT i, i % 5, hashint8extended(i, 3), noise(4 * i) FROM generate_series(1, 100) AS i;

CREATE TABLE guarded (id int PRIMARY KEY, site int, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED, twin int);
CREATE INDEX ON guarded USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'mark', '8', 'mark=twin', 'within=site');
INSERT INTO guarded SELECT i, i % 3, body(i) FROM generate_series(1, 100) AS i;
CREATE TABLE guarded_bits (id int PRIMARY KEY, body text, fp bit(128));
CREATE INDEX ON guarded_bits USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded_bits FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'skip', '16', 'document=body', 'fill=simhash', 'similarity=jaccard', 'at_least=0.5');
INSERT INTO guarded_bits SELECT i, body(i) FROM generate_series(1, 100) AS i;
CREATE TABLE guarded_keys (id int PRIMARY KEY, fp bigint);
SELECT simhash_add_keys('guarded_keys', 'fp');
CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON guarded_keys FOR EACH ROW EXECUTE FUNCTION
    simhash_guard('fp', 'reject', '3');
INSERT INTO guarded_keys SELECT i, hashint8extended(i, 3) FROM generate_series(1, 100) AS i;

-- Clusters that keep themselves, of each kind.
CREATE TABLE stars (id int PRIMARY KEY, site int, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO stars SELECT i, i % 3, body(i) FROM generate_series(1, 100) AS i;
CALL simhash_add_clusters('stars', 'fp', 8, since => 'since', within => '{site}',
    document => 'body', similarity => 'jaccard', at_least => 0.5);
CREATE TABLE connected (id int PRIMARY KEY, fp bigint);
CREATE INDEX ON connected USING hamming (fp);
INSERT INTO connected SELECT i, hashint8extended(i % 30, 3) # (1::bigint << i % 64) FROM generate_series(1, 100) AS i;
CALL simhash_add_clusters('connected', 'fp', 3, 'connected');

-- Arguments that make sense: weights, relations, queries, names.

CREATE TABLE idfs (id int, idf simhash_idf, weights float8[], labels real[], lexemes tsvector, words text[]);
INSERT INTO idfs SELECT 1, simhash_idf_agg(body), '{1,2,3}', '{0.1,0.2,0.4,1}', to_tsvector('simple', min(body)), '{a,b,c}'
FROM docs WHERE id < 50;
INSERT INTO idfs SELECT 2, simhash_idf_agg(words), '{NaN,Infinity,-1}', '{}', '', '{}' FROM docs;
INSERT INTO idfs VALUES (3, simhash_idf_from('{a,b,c}', '{1,2,0.5}'), '{}', NULL, 'a:1A b:2', '{a,NULL}');
CREATE TABLE words (relation regclass, index regclass, query text, name text, names name[], k bigint, bit int);
INSERT INTO words VALUES
    ('docs', 'docs_fp_idx', 'SELECT id, fp FROM smith.docs', 'word-2', '{k0,k1,k2,k3}', 3, 0),
    ('parts', 'docs_wide_idx', 'SELECT id, wide FROM smith.docs', 'fp', '{a,b,c,d}', 8, 1),
    ('kept', 'balls_bits_idx', 'SELECT id, fp, site FROM smith.docs', 'star', '{site}', 20, 2),
    ('guarded', 'docs_site_fp_idx', 'SELECT id, body FROM smith.docs', 'minhash', '{}', 0, 3),
    ('keyed', 'docs_pkey', 'SELECT body FROM smith.docs', 'first', NULL, 64, 63),
    ('balls', 'docs_lang_wide_idx', 'SELECT id, id / 2 FROM smith.docs', 'body', '{id}', -1, 127);

-- Views by every path.

CREATE VIEW near AS SELECT a.id AS a, b.id AS b, a.fp <~> b.fp AS distance
    FROM docs AS a JOIN docs AS b ON a.fp ~= b.fp AND a.id < b.id;
CREATE VIEW near_bits AS SELECT a.id AS a, b.id AS b, a.wide <~~> b.wide AS distance
    FROM docs AS a JOIN docs AS b ON a.wide <@ (b.wide, 20) AND a.lang = b.lang;
CREATE VIEW nearest AS SELECT d.id, l.* FROM docs AS d, LATERAL (
    SELECT id AS other, fp <~> d.fp AS distance FROM docs ORDER BY fp <~> d.fp LIMIT 5) AS l;
CREATE VIEW nearest_print AS SELECT b.id, l.* FROM balls AS b, LATERAL (
    SELECT p.id AS other, p.pdq::bit(128) AS pdq FROM parts AS p WHERE p.fp <@ b.ball OR p.pdq <@ b.bits
    ORDER BY p.pdq <~~> b.wide LIMIT 5) AS l;
CREATE VIEW apart AS SELECT a.id AS a, b.id AS b, a.fp, b.pdq::bit(128) AS wide
    FROM docs AS a LEFT JOIN parts AS b ON a.fp <~> b.fp <= 8 AND a.site = b.site
    WHERE a.wide <~~> b.pdq < 70 OR b.id IS NULL;
CREATE VIEW ringed AS SELECT * FROM docs AS d WHERE fp <~> fp2 BETWEEN 0 AND site * 7
    OR EXISTS (SELECT FROM keyed AS k WHERE 12 > hamming(k.fp, d.fp) AND k.site = d.site)
    OR wide <~~> (SELECT wide FROM balls ORDER BY id LIMIT 1) <= 50;
CREATE VIEW either AS SELECT id, fp FROM docs WHERE fp <~> 5 <= 30
    UNION ALL SELECT id, fp FROM parts WHERE hamming_within(fp, id, site);
CREATE VIEW barrier WITH (security_barrier) AS SELECT * FROM docs WHERE site <> 1;
CREATE VIEW pairs AS SELECT * FROM simhash_pairs('SELECT id, fp, site FROM smith.docs', 8);
CREATE VIEW clusters AS SELECT * FROM simhash_clusters('SELECT id, wide FROM smith.docs', 12, 'star');
CREATE VIEW report AS SELECT * FROM simhash_report('smith.docs', 'fp');
CREATE VIEW keywords AS SELECT d.id, k.* FROM docs AS d, idfs AS i, simhash_keywords(d.body, i.idf, 5) AS k
    WHERE i.id = 1 AND d.id < 20;
CREATE VIEW features AS SELECT d.id, f.* FROM docs AS d, simhash_features(d.body) AS f WHERE d.id < 20;
CREATE VIEW groups AS SELECT site, lang, simhash_agg(w, 1.5) AS fp, simhash_idf_agg(words) AS idf
    FROM docs, unnest(words) AS w WHERE id < 20 GROUP BY ROLLUP (site, lang);
CREATE MATERIALIZED VIEW copies AS SELECT id, site, fp, wide FROM docs;
CREATE INDEX ON copies USING hamming (fp);
CREATE INDEX ON copies USING hamming (site, wide);

-- Row security on a table, for which its owner is no exception.
CREATE TABLE hidden AS SELECT id, site, fp, wide FROM docs;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
ALTER TABLE hidden FORCE ROW LEVEL SECURITY;
CREATE POLICY p ON hidden USING (site <> 2) WITH CHECK (fp <@ (0, 64));
CREATE INDEX ON hidden USING hamming (fp);
CREATE INDEX ON hidden USING hamming (wide);
ANALYZE;

-- SQLsmith calls no functions that return sets: they get others that do.
DO $do$
DECLARE
    r record;
BEGIN
    FOR r IN
        SELECT p.oid::regproc AS name, 'rows_' || proname AS counting, pronargs,
            ARRAY(SELECT format_type(t, NULL) FROM unnest(proargtypes) AS t) AS types,
            (SELECT string_agg('$' || n, ', ') FROM generate_series(1, pronargs) AS n) AS arguments
        FROM pg_proc AS p JOIN pg_depend AS d ON d.classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
        WHERE refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash') AND proretset
    LOOP
        EXECUTE format('CREATE FUNCTION smith.%I(%s) RETURNS bigint LANGUAGE sql AS %L',
            r.counting, array_to_string(r.types, ', '),
            format('SELECT count(*) FROM %s(%s) AS r', r.name, r.arguments));
    END LOOP;
END $do$;

RESET ROLE;

-- SQLsmith finds functions in pg_proc by the search_path, which has pg_catalog
-- behind this schema.  Of the core's it is shown those that can be combined with
-- the extension's own, and that are immutable: nothing that ends sessions, sleeps
-- or reads files.
CREATE VIEW smith.pg_proc AS
SELECT oid, pronamespace, proname, prokind::text, proretset, prorettype, proargtypes
FROM pg_catalog.pg_proc
WHERE NOT '{internal,cstring}'::regtype[]::oid[] && proargtypes::oid[]
    AND (pronamespace <> 'pg_catalog'::regnamespace OR provolatile = 'i' AND provariadic = 0
        AND proargtypes::oid[] || prorettype <@ '{bigint, integer, boolean, double precision, text, name, bit, varbit,
            tsvector, tid, bigint[], text[], name[], double precision[], real[], anyelement, anyarray}'::regtype[]::oid[]);
GRANT SELECT ON smith.pg_proc TO :role;
-- Operators it reads from all schemas, some 800 of the core's, and takes one as
-- often as another.  What it writes is the name alone, which leads to the
-- operator of the extension.
DO $do$
DECLARE
    r record;
BEGIN
    FOR i IN 1 .. 300 LOOP
        EXECUTE format('CREATE SCHEMA more_%s', i);
        FOR r IN SELECT oprname, oprcode, oprleft::regtype, oprright::regtype FROM pg_operator
                 WHERE oprnamespace = 'public'::regnamespace LOOP
            EXECUTE format('CREATE OPERATOR more_%s.%s (FUNCTION = %s, LEFTARG = %s, RIGHTARG = %s)',
                i, r.oprname, r.oprcode, r.oprleft, r.oprright);
        END LOOP;
    END LOOP;
END $do$;
