--
-- fingerprint.c: simhash, simhash_profiles, simhash_features
--
-- docs/fingerprint.md says what comes out; test/golden/reference.py says so
-- independently, over real texts.  Here are the rules one by one.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all

-- the profiles of our own; compat_profiles.sql tests the others
CREATE VIEW own_profiles AS
SELECT * FROM simhash_profiles()
WHERE profile !~ '^(python|seomoz|clickhouse|java|daft|mfonda)-';

-- the fingerprint by its definition, from the features
CREATE FUNCTION by_definition(document text, profile text) RETURNS bigint
LANGUAGE sql AS $$
    SELECT bit_or(CASE WHEN total > 0 THEN 1::bigint << bit ELSE 0 END)
    FROM (SELECT bit, sum(CASE WHEN hash & (1::bigint << bit) <> 0
                               THEN weight ELSE -weight END) AS total
          FROM simhash_features(document, profile),
               generate_series(0, 63) AS bit
          GROUP BY bit) AS sums
$$;

----------------------------------------
-- simhash_profiles
----------------------------------------

SELECT profile, is_default, unit, min_tokens, max_tokens, damping
FROM own_profiles ORDER BY profile COLLATE "C";
SELECT count(*) AS defaults FROM simhash_profiles() WHERE is_default;
-- the default is frozen: by test/golden/reference.py these are the values
SELECT simhash('the cat and the dog and the cat') AS by_default,
       simhash('the cat and the dog and the cat', 'word-2') AS once;

-- patterns name others
SELECT profile, pattern, is_default, unit, min_tokens, damping
FROM simhash_profiles() WHERE pattern IS NOT NULL;
CREATE TABLE names AS
SELECT format('%s-%s%s%s', unit, n, '-' || m, '-' || damping) AS name,
       unit, n, coalesce(m, n) AS m,
       coalesce(damping, CASE WHEN unit = 'char' OR m > n THEN 'log'
                         WHEN n = 1 THEN 'count' ELSE 'binary' END) AS damping
FROM unnest('{word,char,symbol}'::text[]) AS unit, generate_series(1, 10) AS n,
     unnest(array_prepend(NULL, ARRAY(SELECT generate_series(n, 10)))) AS m,
     unnest('{NULL,count,sqrt,log,binary,capped}'::text[]) AS damping;
CREATE TABLE named AS
SELECT *, simhash(body, name) AS fp
FROM names, (SELECT string_agg(repeat(format('so it%s goes%s 北京%s ไทยไทยไท%s in %s ',
                                             i, i % 3, i, i % 5, i), i * i), '')
             FROM generate_series(1, 3) AS i) AS t (body);
-- a recipe has one fingerprint, and other recipes have others
SELECT count(*) AS names, count(DISTINCT (unit, n, m, damping)) AS recipes,
       count(DISTINCT fp) > 400 AS differ,
       count(DISTINCT (unit, n, m, damping, fp)) AS pairs
FROM named;
-- they are what their features add up to, and what the row of a profile says
SELECT name FROM named WHERE fp IS DISTINCT FROM by_definition(body, name);
SELECT name FROM named JOIN own_profiles ON name = profile
WHERE named.unit <> left(own_profiles.unit, 4) OR n <> min_tokens
   OR m <> max_tokens OR named.damping <> own_profiles.damping;
-- each damping weighs as it is to
SELECT name, weight FROM unnest('{word-1,word-1-count,word-1-sqrt,word-1-log,
    word-1-binary}'::text[]) AS name,
    simhash_features(repeat('so it goes ', 10), name) WHERE feature = 'so';
SELECT string_agg(feature, '|') FROM simhash_features('a b c d e', 'word-2-4');
-- the name kept is the shortest
SELECT (simhash_idf_stats(simhash_idf_agg('a b', name))).profile
FROM unnest('{word-2-2,word-2-binary,char-5-5-log,word-10-10-sqrt}'::text[])
    AS name GROUP BY name ORDER BY name;
SELECT name FROM unnest('{word-0,word-11,word-3-2,word-1-11,word-02,word-2-once,
    char-,word-2-,word-2-2-2,word-2-log-count,word--2,words-2}'::text[]) AS name
WHERE fails(format('SELECT simhash(''a'', %L)', name)) !~ '^42704 ';

----------------------------------------
-- simhash: what has no fingerprint
----------------------------------------

SELECT simhash(NULL::text), simhash(NULL, 'word-1'), simhash('a', NULL);
SELECT t, p.profile
FROM (VALUES (''), ('   '), ('!?.,;:-_()'), ('—「」。'), (E'\t\n')) AS v(t),
     own_profiles AS p
WHERE simhash(t, p.profile) IS NOT NULL;
SELECT fails($$SELECT simhash('a', 'nonesuch')$$);
SELECT fails($$SELECT simhash('a', 'WORD-1')$$);
SELECT fails($$SELECT * FROM simhash_features('a', '')$$);
-- cut, but not within a character
SELECT fails($$SELECT simhash('a', 'non' || repeat('é', 40))$$);

----------------------------------------
-- simhash: what makes no difference
----------------------------------------

SELECT a, b, p.profile
FROM (VALUES ('Hello, World', 'hello world'),           -- case, punctuation
             ('hello  world', E'\thello\n\nworld. '),   -- white space
             ('STRASSE', 'straße'),                     -- full case folding
             ('ΣΊΣΥΦΟΣ', 'σίσυφος'),                    -- final sigma
             ('ﬁne ２０２１', 'fine 2021'),             -- compatibility forms
             (U&'caf\00E9', U&'cafe\0301'),             -- composition
             (U&'co\00ADop\200Berate', 'cooperate'),    -- ignored code points
             ('ｶﾞｷﾞ', 'ガギ'),                          -- half-width kana
             (U&'\1112\1161\11AB', U&'\D55C'))          -- Hangul jamo
     AS v(a, b), own_profiles AS p
WHERE simhash(a, p.profile) IS DISTINCT FROM simhash(b, p.profile);

-- where scripts have no spaces, lines end where there is room; a word in
-- another script, or another such script, stands between
SELECT a, b, p.profile
FROM (VALUES ('北京大学', E'北京\n大学'), ('北京大学', '北 京,大…学。'),
             ('東京都の「駅」', E'東京\u3000都\r\nの駅'),
             ('か゚さ', E'か\n゚ さ'), ('ภาษาไทยไม่', E'ภาษา\nไทย ไม่'),
             ('ກຂຄງ', 'ກ ຂ ຄ ງ'), ('北京 abc ไทย', E'北 京abc\nไ,ท,ย'),
             (repeat('北京大', 100), repeat(E'北京\n大', 100)))
     AS v(a, b), own_profiles AS p
WHERE simhash(a, p.profile) IS DISTINCT FROM simhash(b, p.profile);
SELECT a, b, p.profile
FROM (VALUES ('北京大学', '北京 a 大学'), ('北京大学', '北京1大学'),
             ('กขคง', 'กข 北 คง')) AS v(a, b), own_profiles AS p
WHERE simhash(a, p.profile) = simhash(b, p.profile);
-- a mark that stands on nothing, and what begins and ends an annotation
SELECT a, b, p.profile
FROM (VALUES (U&'\0301abc', 'abc'), (U&'ab \0301c', 'ab c'), (U&'北 \0301京', '北京'),
             (U&'+\20E3 a', 'a'), (U&'a\FFF9b\FFFAc\FFFBd', 'abcd'))
     AS v(a, b), own_profiles AS p
WHERE simhash(a, p.profile) IS DISTINCT FROM simhash(b, p.profile);
SELECT count(simhash(t, p.profile)) AS none
FROM (VALUES (U&'\0301'), (U&' \0301\0308 '), (U&'\FFF9\FFFB'), (U&'\+01F600\20E3'))
     AS v(t), own_profiles AS p;

-- what makes one
SELECT simhash('résumé') = simhash('resume') AS accents,
       simhash('a b') = simhash('b a') AS word_order,
       simhash('ab c') = simhash('a bc') AS word_ends;

----------------------------------------
-- simhash_features: tokens
----------------------------------------

SELECT feature, weight FROM simhash_features('To be, or not to BE.', 'word-1');
SELECT feature, weight FROM simhash_features('To be, or not to BE.', 'word-2');
SELECT feature, weight FROM simhash_features('To be, or not to BE.', 'word-4');
SELECT feature, weight FROM simhash_features('Ab, c.', 'char-3');
-- shorter than the shingle: the document is the feature
SELECT feature FROM simhash_features('one two', 'word-4');
SELECT feature FROM simhash_features('of', 'char-5');
-- scripts without spaces: characters, or grams of 4; a shorter run whole
SELECT feature FROM simhash_features('北京大学 abc', 'word-1');
SELECT feature FROM simhash_features('ສະບາຍ x ກ', 'word-1');
SELECT feature FROM simhash_features('iPhone手机15东', 'word-1');
SELECT feature FROM simhash_features('東京都', 'word-2');
SELECT feature FROM simhash_features(E'ไทย ก\nข', 'word-1');
SELECT feature FROM simhash_features(E'北\n京 大', 'word-2');
SELECT feature FROM simhash_features(U&'1\FE0F\20E3 *\FE0F\20E3 \0301', 'word-1');
-- by symbol each is a token; what only parts is none
SELECT feature, weight FROM simhash_features('for (i = 0; i++ < n;) a[i] *= 2, b.c', 'symbol-1');
SELECT feature FROM simhash_features('x+=1 // x-=1', 'symbol-2');
SELECT feature FROM simhash_features(U&'\20AC5 50% \2260 =\0338 C# 北+京 大', 'symbol-1');
SELECT simhash('a+b', 'symbol-2') = simhash('a + b', 'symbol-2') AS spaces,
       simhash('a+b', 'symbol-2') = simhash('a-b', 'symbol-2') AS another,
       simhash('a+b', 'word-2') = simhash('a-b', 'word-2') AS by_word,
       simhash('a, b. (c)', 'symbol-2') = simhash('a b c', 'word-2') AS no_symbols,
       simhash('?!') AS by_default, simhash('?!', 'symbol-1') IS NOT NULL AS some;
SELECT string_agg(chr(n), '' ORDER BY n) AS symbols FROM generate_series(32, 126) AS n
WHERE simhash(chr(n), 'symbol-1') IS NOT NULL AND chr(n) !~ '[a-zA-Z0-9]';
SELECT name FROM unnest('{symbol-0,symbol-11,symbol-2-1,symbol-02,symbols-2,symbol}'::text[]) AS name
WHERE fails(format('SELECT simhash(''a'', %L)', name)) !~ '^42704 ';
-- a word of more than 128 code points is cut
SELECT length(feature), weight FROM simhash_features(repeat('x', 300), 'word-1');
SELECT length(feature), weight FROM simhash_features(repeat('é', 300), 'word-1');
-- weights: 1 + floor(log2 n)
SELECT n, weight, 1 + floor(log(2, n)) AS expected
FROM generate_series(1, 9) AS n,
     simhash_features(repeat('again, ', n), 'char-5')
WHERE feature = 'again';

----------------------------------------
-- simhash: the sum of its features
----------------------------------------

CREATE TABLE sample AS
SELECT t FROM (VALUES
    ('a'), ('Mixed 北京大学 and ไทย text'), ('the cat sat on the mat'),
    (repeat('lorem ipsum dolor sit amet ', 50)),
    ((SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 999) i)),
    ((SELECT string_agg(chr(19968 + i * 7 % 5000), '')
      FROM generate_series(1, 12000) i))) AS v(t);
SELECT left(t, 20), p.profile
FROM sample, own_profiles AS p
WHERE simhash(t, p.profile) IS DISTINCT FROM by_definition(t, p.profile);

-- hashes are XXH3 of the feature
SELECT feature, to_hex(hash) FROM simhash_features('a b', 'word-1');

-- wherever the borders of slices and buffers fall in it
SELECT p.profile, count(DISTINCT simhash(repeat('-', n) || t, p.profile))
FROM (SELECT string_agg(chr(19968 + i * 7 % 20000) || 'ab' || i % 50, ' é')
      FROM generate_series(1, 20000) AS i) AS d(t),
     generate_series(0, 5) AS n, own_profiles AS p
GROUP BY p.profile HAVING count(DISTINCT
    simhash(repeat('-', n) || t, p.profile)) <> 1;
SELECT fails($$SELECT count(*) FROM simhash_features(
    (SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 600000) i),
    'word-1-2')$$);

----------------------------------------
-- the document remembered
----------------------------------------

-- several in turn, and by several profiles
SELECT count(*) AS wrong
FROM generate_series(1, 3) AS round, generate_series(1, 9) AS n,
     LATERAL (SELECT 'word ' || n % 6 || repeat(' x', n % 3)) AS d(t),
     LATERAL (SELECT p.profile FROM own_profiles AS p
              OFFSET 0) AS p(profile)
WHERE simhash(t, p.profile) <> by_definition(t, p.profile);
-- many that come once, and some of one length
SELECT count(*) AS wrong
FROM generate_series(1, 300) AS n,
     LATERAL (SELECT CASE WHEN n % 200 < 150 THEN n || ' came once'
              ELSE repeat('this one came ', 20) || n % 3 END) AS d(t)
WHERE simhash(t) <> by_definition(t, 'word-2-capped');
-- one that has no fingerprint is remembered as such
SELECT simhash(t) IS NULL AS none
FROM (VALUES ('?'), ('?'), ('a'), ('?')) AS v(t);

DROP TABLE sample;
DROP FUNCTION by_definition;
DROP VIEW own_profiles;
DROP TABLE names, named;
