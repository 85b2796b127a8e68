--
-- simhash_explain, a least number of features
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

CREATE TEMP TABLE pair (a text, b text);
INSERT INTO pair VALUES
    ('red fish', 'blue fish'),
    ('The quick brown fox jumps over the lazy dog',
     'The quick brown cat jumps over the lazy dog'),
    ('the the the the dog', 'the dog dog dog dog dog dog dog dog'),
    ('Die GRÖSSE: 北京大学', '北京大学在北京'),
    ('same text', 'same text');

-- the margins by their definition, from the features
CREATE TEMPORARY VIEW margin AS
SELECT p.profile, t.document, bit,
    (SELECT sum(CASE WHEN (hash >> bit) & 1 = 1 THEN weight ELSE -weight END)
     FROM simhash_features(t.document, p.profile)) AS margin
FROM (SELECT a FROM pair UNION SELECT b FROM pair) AS t (document),
    (VALUES ('word-1'), ('word-1-2'), ('char-3'), ('python-simhash'))
        AS p (profile),
    generate_series(0, 63) AS bit;

----------------------------------------
-- simhash_explain
----------------------------------------

SELECT bit, margin_a, margin_b, differs, features
FROM simhash_explain('red fish', 'blue fish', 'word-1') WHERE bit < 8;

-- a row a bit; margins as defined; differing bits as in the fingerprints
SELECT p.profile, count(*) AS rows,
    bool_and(e.margin_a = ma.margin AND e.margin_b = mb.margin) AS margins,
    bool_and(e.differs = ((simhash(a, p.profile) >> e.bit) & 1
        <> (simhash(b, p.profile) >> e.bit) & 1)) AS differs,
    bool_and((e.features IS NULL) = NOT e.differs) AS explained,
    bool_and(e.features <> '{}') AS carried
FROM pair, (SELECT DISTINCT profile FROM margin) AS p,
    simhash_explain(a, b, p.profile) AS e
JOIN margin AS ma ON ma.bit = e.bit
JOIN margin AS mb ON mb.bit = e.bit
WHERE (ma.profile, ma.document) = (p.profile, a)
    AND (mb.profile, mb.document) = (p.profile, b)
GROUP BY p.profile ORDER BY p.profile;

-- the carriers: what goes the way of the difference, the most first
SELECT p.profile, count(*) AS bits, bool_and(e.features = (
    SELECT array_agg(feature ORDER BY abs(w) DESC, hash < 0, hash)
    FROM (SELECT feature, hash,
              coalesce(fa.weight, 0) - coalesce(fb.weight, 0) AS w
          FROM simhash_features(a, p.profile) AS fa
          FULL JOIN simhash_features(b, p.profile) AS fb
              USING (feature, hash)) AS f
    WHERE w <> 0 AND sign(CASE WHEN (hash >> e.bit) & 1 = 1 THEN w ELSE -w END)
        = sign(e.margin_a - e.margin_b))) AS same
FROM pair, (SELECT DISTINCT profile FROM margin) AS p,
    simhash_explain(a, b, p.profile, 1000) AS e
WHERE e.differs
GROUP BY p.profile ORDER BY p.profile;

-- no more names than asked for, ten unless told
SELECT most, max(cardinality(features)) AS named
FROM pair, unnest('{0,1,3}'::int[]) AS most,
    simhash_explain(a, b, 'char-3', most)
GROUP BY most ORDER BY most;
SELECT max(cardinality(features)) AS named
FROM pair, simhash_explain(a, b, 'char-3');

-- the default profile, named and unnamed
SELECT bool_and(x = y) AS same
FROM pair, simhash_explain(a, b) AS x, simhash_explain(a, b, NULL) AS y
WHERE x.bit = y.bit;

-- a document without features has no margins; a NULL one no rows
SELECT DISTINCT margin_a, margin_b IS NOT NULL AS has_b, differs, features
FROM simhash_explain('...', 'word', 'word-1');
SELECT count(*) FROM simhash_explain(NULL, 'word');
SELECT count(*) FROM simhash_explain('word', NULL);

SELECT fails($$SELECT simhash_explain('a', 'b', 'nonesuch')$$);
SELECT fails($$SELECT simhash_explain('a', 'b', NULL, -1)$$);
SELECT fails($$SELECT simhash_explain('a', 'b', NULL, 1001)$$);

DROP VIEW margin;
