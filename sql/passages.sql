--
-- simhash_passages, simhash_shared, simhash_containment
--

CREATE TABLE texts (id int, body text);
INSERT INTO texts
SELECT i, string_agg(chr(97 + (i * j * j) % 23) || (j * j + i) % 211, ' '
    ORDER BY j)
FROM generate_series(1, 20) AS i, generate_series(1, 200 * (i % 5)) AS j
GROUP BY i;
INSERT INTO texts VALUES
(101, repeat('北京大学图书馆，今天开放。', 30)),
(102, repeat('ภาษาไทยไม่มีช่องว่าง ', 40)),
(103, E'  \t...one\u0301 two,three'),
(104, repeat('word', 2000)),
(105, repeat('Straße ', 500));

-- simhash_passages: fp is minhash of the passage, passages are the document
SELECT count(*) > 300 AS many, bool_and(fp = minhash(part)) AS fingerprints
FROM texts, simhash_passages(body) AS p, substr(body, start, length) AS part;
SELECT bool_and(fp = minhash(part, 'char-4')) AS fingerprints
FROM texts, simhash_passages(body, 'char-4', 10) AS p,
    substr(body, start, length) AS part;
SELECT words, count(*) AS texts, bool_and(whole) AS whole
FROM (VALUES (4), (5), (25), (1000)) AS w(words), texts, LATERAL (
    SELECT string_agg(substr(body, start, length), '' ORDER BY nr) = body
        AND min(nr) = 1 AND max(nr) = count(*)
    FROM simhash_passages(body, words => words)) AS p(whole)
GROUP BY words ORDER BY words;

-- how long they are, in words
SELECT words, min(n) > words / 2 AS least, max(n) <= 4 * words AS most,
    round(avg(n) / words, 1) AS mean
FROM (VALUES (8), (25), (100)) AS w(words), LATERAL (
    SELECT p.*, count(*) OVER () AS passages FROM (
        SELECT string_agg(md5(i::text), ' ' ORDER BY i) AS body
        FROM generate_series(1, 20000) AS i) AS t,
        simhash_passages(body, words => words) AS p) AS p,
    LATERAL (SELECT (length + 1) / 33 AS n) AS l
GROUP BY words ORDER BY words;

-- one word again and again is cut at the greatest length
SELECT length, count(*) FROM simhash_passages(repeat('word ', 10000)) GROUP BY 1;
SELECT count(*), min(length), max(length)
FROM simhash_passages(repeat('word ', 1000000));
SELECT length, count(*) FROM simhash_passages(repeat('ก', 1000000), words => 1000)
GROUP BY 1 ORDER BY 1;
SELECT count(*), sum(length) FROM simhash_passages(repeat('word', 1000000));

-- what is quoted is cut as in its source
WITH quote AS (
    SELECT string_agg(md5(i::text), ' ' ORDER BY i) AS body
    FROM generate_series(1, 150) AS i),
host AS (
    SELECT string_agg(md5(i::text), ' ' ORDER BY i) AS body
    FROM generate_series(1001, 2000) AS i),
parts AS (
    SELECT substr(body, start, length) AS part FROM quote, simhash_passages(body))
SELECT count(*) > 4 AS passages,
    count(*) FILTER (WHERE part IN (
        SELECT substr(b, start, length)
        FROM quote, host, concat(host.body, ' ', quote.body, ' ', host.body) AS b,
            simhash_passages(b))) >= count(*) - 2 AS found
FROM parts;

-- no word, no row
SELECT nr, start, length, fp FROM simhash_passages('');
SELECT nr, start, length, fp FROM simhash_passages(E'... \u200b\u00ad --');
SELECT nr, start, length, fp FROM simhash_passages(NULL);
SELECT nr, start, length, fp FROM simhash_passages('a', words => NULL);
SELECT nr, start, length, fp = minhash('a') AS same
FROM simhash_passages(' a. ', NULL);
SELECT simhash_passages('a', 'no such profile');	-- error
SELECT simhash_passages('a', words => 3);	-- error
SELECT simhash_passages('a', words => 1001);	-- error

-- simhash_shared: places of the same words in both
SELECT s.*, substr(a, a_start, a_length) AS in_a, substr(b, b_start, b_length) AS in_b
FROM (VALUES ('It is not: the same, old STORY again!',
              '«The same old story», 北京大学, again the same old story...')) AS t(a, b),
    simhash_shared(a, b, 4) AS s;
SELECT * FROM simhash_shared('她在北京大学图书馆', '北京大学的图书馆', 3);
SELECT * FROM simhash_shared('a b c d e f g', 'a b c d e f g');
SELECT * FROM simhash_shared('a b c d e f g h', 'a b c d e f g h');
SELECT * FROM simhash_shared('', 'a', 1);
SELECT * FROM simhash_shared('a', '', 1);
SELECT * FROM simhash_shared('a', 'b A a', 1);
SELECT * FROM simhash_shared('a', NULL);
SELECT * FROM simhash_shared('a b', 'a b', 2147483647);
SELECT * FROM simhash_shared(repeat('word ', 1000000), repeat('word ', 1000000));
-- the most places of a window that are looked at
SELECT * FROM simhash_shared(repeat('a b c. ', 15) || 'a b c d', 'a b c d', 3);
SELECT * FROM simhash_shared(repeat('a b c. ', 16) || 'a b c d', 'a b c d', 3);
SELECT * FROM simhash_shared('a', 'a', 0);	-- error

-- simhash_containment against its definition
SELECT count(*) AS pairs, count(*) FILTER (WHERE simhash_containment(a.body, b.body)
    IS DISTINCT FROM (
        SELECT (count(*) FILTER (WHERE feature IN (
            SELECT feature FROM simhash_features(b.body))))::float / count(*)
        FROM simhash_features(a.body))) AS wrong
FROM texts AS a, texts AS b WHERE a.id % 3 = 1 AND b.id % 2 = 1;
SELECT simhash_containment('', 'a b') AS none, simhash_containment('a b', '') AS nothing,
    simhash_containment('a b', 'x a b x') AS whole,
    simhash_containment('x a', 'a b', 'word-1') AS half,
    simhash_containment(NULL, 'a') IS NULL AND simhash_containment('a', NULL) IS NULL
        AS nulls;
SELECT simhash_containment('{a,b,b}'::text[], '{b,c}') AS half,
    simhash_containment('{}'::text[], '{b}') AS none,
    simhash_containment('{a}'::text[], '{}') AS nothing;
SELECT simhash_containment('a', 'b', 'no such profile');	-- error
SELECT simhash_containment('{a,NULL}'::text[], '{a}');	-- error

DROP TABLE texts;
