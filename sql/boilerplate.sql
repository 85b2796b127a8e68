--
-- simhash_boilerplate, simhash_without
--

-- Pages of sites in their templates, of 400, 60, 6 and 5 pages; on each, five pages
-- have one article.
CREATE TABLE pages (site text, id int, body text, PRIMARY KEY (site, id));
INSERT INTO pages
SELECT 's' || s, i, concat_ws(E'\n',
    'Home', E'  News \t of site ' || s, '', 'Updated ' || i % 7 || ':' || 10 + i,
    i % 5 || ' | ' || i % 3, 'Section ' || chr(65 + i % 45), string_agg(translate(
        'w' || hashint4extended(j, greatest(5, i + 1000 * s * (i / 6)::bool::int)) % 5000,
        '0123456789', 'abcdefghij'), CASE j % 12 WHEN 0 THEN E'\r\n' ELSE ' ' END
        ORDER BY j),
    E'\u00a9 20' || 10 + i % 3, E'Imprint\n')
FROM generate_series(1, 4) AS s, generate_series(1, ('{400,60,6,5}'::int[])[s]) AS i,
    generate_series(1, 60) AS j
GROUP BY s, i;

CREATE FUNCTION learn(share float) RETURNS TABLE (site text, line text)
LANGUAGE sql AS $$
    SELECT site, string_to_table(rtrim(lines, E'\n'), E'\n') FROM (
        SELECT site, simhash_boilerplate(body, share ORDER BY id) AS lines
        FROM pages GROUP BY site) AS b $$;
SELECT site, array_agg(line) AS lines FROM learn(0.02) WHERE site <> 's1'
GROUP BY site ORDER BY site;

-- against the definition
CREATE FUNCTION normal(line text) RETURNS text IMMUTABLE
RETURN btrim(regexp_replace(line, E'[\\x01-\\x20]+', ' ', 'g'));
CREATE FUNCTION hidden(line text) RETURNS text IMMUTABLE
RETURN CASE WHEN line ~ E'[A-Za-z\\u0080-\\uffff]'
    THEN regexp_replace(line, '[0-9]+', '#', 'g') ELSE line END;
CREATE TABLE counts AS
SELECT site, hidden(normal(line)) AS line, count(DISTINCT id) AS n
FROM pages AS p, string_to_table(body, E'\n') AS line WHERE normal(line) <> ''
GROUP BY 1, 2;
CREATE FUNCTION expected(share float) RETURNS TABLE (site text, line text)
LANGUAGE sql AS $$
    SELECT site, line FROM counts
    WHERE n > greatest(5, share * (
        SELECT count(*) FROM pages WHERE pages.site = counts.site)) $$;
SELECT share, (SELECT count(*) FROM expected(share)) AS lines,
    (SELECT count(*) FROM (
        SELECT * FROM expected(share) EXCEPT SELECT * FROM learn(share)) AS e) AS missing,
    (SELECT count(*) FROM (
        SELECT * FROM learn(share) EXCEPT SELECT * FROM expected(share)) AS e) AS wrong
FROM unnest('{0,0.001,0.02,0.2,0.9,1}'::float[]) AS share;
SELECT simhash_boilerplate(body, 'NaN') FROM pages; -- error
SELECT simhash_boilerplate(body, 50) FROM pages; -- error

-- a document without it, against the definition
CREATE TABLE boilerplate AS
SELECT site, simhash_boilerplate(body, 0.02) AS lines FROM pages GROUP BY site;
SELECT site, count(*) AS pages, sum(length(body)) AS length, sum(length(own)) AS own,
    count(*) FILTER (WHERE own IS DISTINCT FROM e) AS wrong
FROM pages AS p JOIN boilerplate USING (site), simhash_without(body, lines) AS own,
    LATERAL (
        SELECT string_agg(line, E'\n' ORDER BY nr) AS e
        FROM string_to_table(body, E'\n') WITH ORDINALITY AS l(line, nr)
        WHERE normal(line) = '' OR (site, hidden(normal(line))) NOT IN (
            SELECT site, line FROM expected(0.02))) AS e
GROUP BY site ORDER BY site;

-- lines as they are, and but for numbers
SELECT simhash_without(E'x = 1\ny = 2\n\n x  =\t3 \nz = #', E'x = #\ny = 1\n');
SELECT simhash_without('Price 19.99', 'Price #.#') AS price,
    simhash_without('19.99', '#.#') AS number, simhash_without('19.99', '19.99 ') AS same;
SELECT simhash_without(E'a\nb', 'a') = 'b' AS one, simhash_without(E'a\nb\n', 'b') = E'a\n' AS other,
    simhash_without(E'a\nb', E'b\r\na') AS both, simhash_without(E' \n', 'a') AS blanks,
    simhash_without('a', NULL) AS whole, simhash_without(NULL, 'a') AS none;

-- no document, no text; a NULL is none
SELECT simhash_boilerplate(body, 0) AS none FROM pages WHERE false;
SELECT simhash_boilerplate(NULL, 0) AS nulls, simhash_boilerplate('x', NULL) AS share,
    simhash_boilerplate('', 0) = '' AS blank FROM pages;
SELECT simhash_boilerplate(CASE WHEN id % 10 = 0 THEN 'x' END, 0.9) AS x FROM pages;
-- a line of a document counts once, however often it is there
SELECT simhash_boilerplate(repeat(E'x\n', 10), 0) AS x FROM generate_series(1, 5);
SELECT simhash_boilerplate(repeat(E'x\n', 10), 0) AS x FROM generate_series(1, 6);

DROP TABLE pages, counts, boilerplate;
DROP FUNCTION learn, expected, normal, hidden;
