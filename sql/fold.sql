--
-- simhash_fold
--
-- docs/fingerprint.md, section 17, says what comes out; test/golden/reference.py says so
-- independently, over texts of all planes.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

-- languages
SELECT t AS document, simhash_fold(t) AS folded
FROM (VALUES ('ÖĞRENCİ Iğdır'), ('Łódź ŻÓŁĆ'), ('Tiếng Việt, Đường'), ('Straße ẞ Œuvre Ærø'),
             ('Þórður Ŋ ŧ'), ('Ƙasa Ɓaure ɔdɔ Ọṣun əyə'), ('Hawaiʻi Oʼahu'),
             ('Ἀθῆναι ΆΈ ᾳ'), ('Ёлка й Їжак'), ('شَرِكَة إلى ٱلله آب كتـاب'), ('کتاب یک ہے'),
             ('۱۲۳ ٤٥٦'), ('בְּרֵאשִׁית'), ('हिन्दी தமிழ்'), ('がギ ｶﾞ 한국 ภาษา 北京'), ('½ Ⅷ ﬃ ㎏ ①'))
     AS v(t);
-- an accent of its own, and one with its letter, go alike; one that has no letter
-- goes too
SELECT simhash_fold(U&'e\0301 \00E9 E\0301 \0301 \1EC7 e\0323\0302') AS folded;
-- what is no letter stays: separators, symbols, line ends; what is ignored goes
SELECT simhash_fold(E'A,\tB!\r\n«C» +\u2044= \u201cD\u201d €5 😀') = E'a,\tb!\r\n«c» +\u2044= \u201cd\u201d €5 😀' AS stays,
    simhash_fold(U&'co\00ADop\200B\FEFF\FE0F\FFF9x') AS ignored;
-- ASCII becomes lower case
SELECT count(*) AS wrong FROM generate_series(1, 127) AS n WHERE simhash_fold(chr(n)) <> lower(chr(n) COLLATE "C");
SELECT simhash_fold('') = '' AS empty, simhash_fold(NULL) AS no_document;
-- twice is once
SELECT count(*) AS letters, count(*) FILTER (WHERE simhash_fold(simhash_fold(chr(n))) <> simhash_fold(chr(n))) AS others
FROM generate_series(1, 1114111) AS n WHERE n NOT BETWEEN 55296 AND 57343;
-- each by itself, wherever slices end
SELECT count(*) AS wrong
FROM generate_series(0, 20) AS n,
     (SELECT string_agg(chr(192 + i % 400) || 'Ab' || chr(19968 + i % 100), '') FROM generate_series(1, 5000) AS i) AS d(t)
WHERE simhash_fold(repeat('-', n) || t) <> repeat('-', n) || simhash_fold(t);
SELECT length(simhash_fold(repeat('Ŋé', 500000))), length(simhash_fold(repeat(U&'\FDFA', 100000)));

-- before a profile, where accents make no difference
SELECT simhash(simhash_fold('Öğrenci İşleri Müdürlüğü')) = simhash(simhash_fold('ogrenci isleri mudurlugu')) AS same,
    minhash(simhash_fold('café'), 'char-3') = minhash('cafe', 'char-3') AS as_plain;
CREATE TABLE docs (id int, body text, fp bigint GENERATED ALWAYS AS (simhash(simhash_fold(body))) STORED);
INSERT INTO docs VALUES (1, 'Crème brûlée et thé'), (2, 'CREME BRULEE ET THE');
SELECT count(DISTINCT fp) AS fingerprints FROM docs;
CREATE INDEX ON docs (simhash_fold(body));
SELECT id FROM docs WHERE simhash_fold(body) = 'creme brulee et the' ORDER BY id;
DROP TABLE docs;

-- a profile that folds is the profile of the folded document, in both families and
-- at all widths, however long the document is
SELECT profile, count(*) AS documents,
    count(*) FILTER (WHERE simhash(body, profile || '-fold') IS DISTINCT FROM simhash(simhash_fold(body), profile)
                        OR minhash(body, profile || '-fold') IS DISTINCT FROM minhash(simhash_fold(body), profile)
                        OR simhash_bits(body, 192, profile || '-fold-seed-7')
                           IS DISTINCT FROM simhash_bits(simhash_fold(body), 192, profile || '-seed-7')) AS wrong
FROM unnest('{word-2-capped,word-2,word-1-2-sqrt,char-3,symbol-1-2}'::text[]) AS profile,
     (SELECT string_agg(chr(192 + (i * 7 + n) % 400) || 'Ab ' || chr(19968 + i % 100) || chr(1611 + i % 9), '')
      FROM generate_series(1, 30) AS n, generate_series(1, n * n * 4) AS i GROUP BY n) AS d(body)
GROUP BY 1 ORDER BY 1;
SELECT feature FROM simhash_features('Été à Noël', 'word-2-fold');
SELECT simhash('É', 'word-2-fold-seed-0') = simhash('e') AS seed_of_none,
    simhash('É', 'word-2-2-binary-fold') = simhash('e') AS other_name;
SELECT simhash('a', 'word-2-fold-fold'); -- error
SELECT simhash('a', 'word-2' || repeat('-fold', 5000000)); -- error
SELECT simhash('a', 'word-2-seed-7-fold'); -- error
SELECT simhash('a', 'python-simhash-fold'); -- error
SELECT simhash('a', '-fold'); -- error

-- what searches, compares, guards and reports by one takes accents for nothing
SELECT simhash_jaccard('Élève été à Noël', 'eleve ete a noel', 'word-2-fold') AS folded,
    simhash_jaccard('Élève été à Noël', 'eleve ete a noel', 'word-2') AS plain;
CREATE TABLE news (id int PRIMARY KEY, body text,
    fp bigint GENERATED ALWAYS AS (minhash(body, 'word-2-fold-seed-7')) STORED);
CREATE INDEX ON news USING hamming (fp);
CREATE TRIGGER guard BEFORE INSERT ON news FOR EACH ROW
    EXECUTE FUNCTION simhash_guard('fp', 'mark', '3', 'at_least=.9', 'mark=near');
ALTER TABLE news ADD near int;
INSERT INTO news VALUES (1, 'Élève été à Noël, une fois de plus'), (2, 'eleve ete a noel une fois de plus'),
    (3, 'quelque chose de tout à fait différent');
SELECT id, near FROM news ORDER BY id;
SELECT kind, name, value FROM simhash_report('news', 'fp', 3) AS r(kind, name, value) WHERE name = 'delete';
DROP TABLE news;
