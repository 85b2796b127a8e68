-- What tests of pairs and clusters by documents share: rows are in a table "docs".

-- The same on every server: a number from 0 to 1.
CREATE FUNCTION chance(a bigint, b bigint) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$
    SELECT (hashint8extended(a, b) & 1048575) / 1048576.0
$$;

-- The stars that pairs make, by the order of "rank": the first center near to a
-- row is the one it belongs to.
CREATE FUNCTION stars() RETURNS TABLE (id int, center int) LANGUAGE plpgsql AS $$
DECLARE
    centers boolean[];
    place bigint;
BEGIN
    FOR id, place IN SELECT r.id, rank FROM ranked AS r ORDER BY rank LOOP
        SELECT other INTO center FROM (
            SELECT b AS other FROM pair WHERE a = stars.id
            UNION ALL SELECT a FROM pair WHERE b = stars.id) AS p
        JOIN ranked AS r ON r.id = other WHERE centers[rank] ORDER BY rank LIMIT 1;
        IF center IS NULL THEN
            center := id;
            centers[place] := true;
        END IF;
        RETURN NEXT;
    END LOOP;
END $$;

-- What is found by a column of fingerprints, within k, by a measure of the
-- documents in a column; how much of it there is, and how much is wrong.  What is
-- contained is the row that comes later, here that of the higher id.
CREATE FUNCTION compare(fp text, k int, similarity text, at_least float8, document text,
                        groups text DEFAULT '', profile text DEFAULT NULL, at_most int DEFAULT NULL)
RETURNS TABLE (pairs bigint, stars bigint, connected bigint, wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
    query text := format('SELECT id, %I %s, %I FROM docs', fp, groups, document);
    by_profile text := coalesce(', ' || quote_literal(profile), '');
    measure text := CASE similarity
        WHEN 'alike' THEN format('CASE WHEN simhash_alike(x.%I, y.%1$I, at_least => %s %s) THEN simhash_jaccard(x.%1$I, y.%1$I %4$s) END',
                                 document, at_least, coalesce(', profile => ' || quote_literal(profile), ''), by_profile)
        WHEN 'containment' THEN format('simhash_containment(y.%I, x.%1$I %s)', document, by_profile)
        WHEN 'hamming' THEN format('CASE WHEN hamming(x.%I, y.%1$I) <= %s THEN 1 - hamming(x.%1$I, y.%1$I)'
                                   ' / CASE %1$L WHEN ''wide'' THEN 128 ELSE 64 END::float8 END', document, at_most)
        ELSE format('simhash_%s(x.%I, y.%2$I %s)', similarity, document, by_profile) END;
    keep text;
    q text;
    n bigint;
BEGIN
    EXECUTE format('CREATE TEMP TABLE pair AS SELECT * FROM (
        SELECT x.id AS a, y.id AS b, hamming(x.%1$I, y.%1$I) AS distance, %2$s AS similarity
        FROM docs AS x JOIN docs AS y ON x.id < y.id AND hamming(x.%1$I, y.%1$I) <= %3$s %4$s) AS p
        WHERE similarity >= %5$s', fp, measure, k,
        CASE WHEN groups <> '' THEN 'AND x.site = y.site' END, at_least);
    CREATE INDEX ON pair (a);
    CREATE INDEX ON pair (b);
    ANALYZE pair;

    SELECT count(f), count(*) FILTER (WHERE e IS DISTINCT FROM f)
    INTO pairs, wrong
    FROM pair AS e FULL JOIN (
        SELECT a::int, b::int, f.distance, f.similarity
        FROM simhash_pairs(query, k, document, compare.similarity, at_least, profile, at_most) AS f) AS f
        ON e.a = f.a AND e.b = f.b;

    -- of each center, with the similarity to it
    FOREACH keep IN ARRAY CASE similarity WHEN 'containment' THEN '{lowest}' ELSE '{first,lowest}' END::text[] LOOP
        q := query || CASE keep WHEN 'first' THEN ' ORDER BY place, id' ELSE '' END;
        CREATE TEMP TABLE ranked AS
        SELECT id, row_number() OVER (ORDER BY CASE keep WHEN 'first' THEN place END, id) AS rank FROM docs;
        SELECT count(DISTINCT s.center), count(*) FILTER (WHERE s.center IS DISTINCT FROM f.representative
            OR f.size <> s.size OR f.id = f.representative AND f.similarity <> 1
            OR f.id <> f.representative AND (p.similarity, p.distance)
                IS DISTINCT FROM (f.similarity, f.distance))
        INTO stars, n
        FROM (SELECT *, count(*) OVER (PARTITION BY center) AS size FROM stars() AS s) AS s
        FULL JOIN simhash_clusters(q, k, 'star', keep, 1, document, compare.similarity, at_least, profile, at_most) AS f ON f.id = s.id
        LEFT JOIN pair AS p ON a = least(s.id, center) AND b = greatest(s.id, center);
        wrong := wrong + n;
        DROP TABLE ranked;
    END LOOP;

    SELECT count(f), count(*) FILTER (WHERE e.representative IS DISTINCT FROM f.representative)
    INTO connected, n
    FROM simhash_components('SELECT a, b FROM pair') AS e
    FULL JOIN simhash_clusters(query, k, 'connected', document => document, profile => profile,
        similarity => compare.similarity, at_least => at_least, at_most => at_most) AS f ON f.id = e.id;
    wrong := wrong + n;
    DROP TABLE pair;
    RETURN NEXT;
END $$;
