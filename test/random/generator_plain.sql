--
-- The referee of check_generator.py: the operators in plain SQL
-- SPDX-License-Identifier: PostgreSQL
--
-- This database has no simhash.  It has operators and functions of the same
-- names, written from the documentation alone, without indexes, estimates or
-- planner support, so that the same text can be asked of both.  A radius is
-- looked at only when nothing is NULL, as there.  Bodies name their schema:
-- from version 17 on materialized views see pg_catalog alone.
--

CREATE TYPE hamming_ball AS (center bigint, radius bigint);

CREATE FUNCTION bad_radius(radius bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS
$$ BEGIN RAISE invalid_parameter_value USING MESSAGE = radius; END $$;

CREATE FUNCTION hamming_ball(center bigint, radius bigint)
RETURNS hamming_ball LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN center IS NULL OR radius IS NULL THEN NULL
    WHEN radius NOT BETWEEN 0 AND 64 AND public.bad_radius(radius) THEN NULL
    ELSE ROW(center, radius)::public.hamming_ball END $$;

CREATE FUNCTION hamming(a bigint, b bigint) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT bit_count((a # b)::bit(64))::int $$;

CREATE FUNCTION near(a bigint, b bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT bit_count((a # b)::bit(64)) <= 3 $$;

CREATE FUNCTION within(fingerprint bigint, ball hamming_ball) RETURNS boolean
LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE
    WHEN fingerprint IS NULL OR (ball).center IS NULL
        OR (ball).radius IS NULL THEN NULL
    WHEN (ball).radius NOT BETWEEN 0 AND 64 THEN public.bad_radius((ball).radius)
    ELSE bit_count((fingerprint # (ball).center)::bit(64)) <= (ball).radius
    END $$;

CREATE FUNCTION contains(ball hamming_ball, fingerprint bigint)
RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT public.within(fingerprint, ball) $$;

CREATE FUNCTION balls_near(a hamming_ball, b hamming_ball) RETURNS boolean
LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE
    WHEN (a).center IS NULL OR (a).radius IS NULL
        OR (b).center IS NULL OR (b).radius IS NULL THEN NULL
    WHEN (a).radius NOT BETWEEN 0 AND 64
        OR (b).radius NOT BETWEEN 0 AND 64
        THEN public.bad_radius(least((a).radius, (b).radius))
    ELSE bit_count(((a).center # (b).center)::bit(64))
        <= least((a).radius, (b).radius) END $$;

CREATE FUNCTION hamming_within(a bigint, b bigint, k bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT bit_count((a # b)::bit(64)) <= k $$;

CREATE OPERATOR <~> (FUNCTION = hamming, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR ~= (FUNCTION = near, LEFTARG = bigint, RIGHTARG = bigint);
CREATE OPERATOR <@ (FUNCTION = within,
    LEFTARG = bigint, RIGHTARG = hamming_ball);
CREATE OPERATOR @> (FUNCTION = contains,
    LEFTARG = hamming_ball, RIGHTARG = bigint);
CREATE OPERATOR ~= (FUNCTION = balls_near,
    LEFTARG = hamming_ball, RIGHTARG = hamming_ball);

CREATE TYPE hamming_bit_ball AS (center bit varying, radius bigint);

CREATE FUNCTION bits_apart(a bit varying, b bit varying) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT bit_count(a # b)::int $$;

-- The width is not known to the planner, which must not fail before a row does.
CREATE FUNCTION bits_within(fingerprint bit varying, ball hamming_bit_ball)
RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE
    WHEN fingerprint IS NULL OR (ball).center IS NULL
        OR (ball).radius IS NULL THEN NULL
    WHEN (ball).radius NOT BETWEEN 0 AND length((ball).center)
        THEN public.bad_radius((ball).radius + 0 * length((ball).center))
    ELSE bit_count(fingerprint # (ball).center) <= (ball).radius
    END $$;

CREATE FUNCTION bits_contain(ball hamming_bit_ball, fingerprint bit varying)
RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT public.bits_within(fingerprint, ball) $$;

CREATE FUNCTION bit_balls_near(a hamming_bit_ball, b hamming_bit_ball)
RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE
    WHEN (a).center IS NULL OR (a).radius IS NULL
        OR (b).center IS NULL OR (b).radius IS NULL THEN NULL
    WHEN (a).radius NOT BETWEEN 0 AND length((a).center)
        OR (b).radius NOT BETWEEN 0 AND length((b).center)
        THEN public.bad_radius(least((a).radius, (b).radius)
                               + 0 * length((a).center # (b).center))
    ELSE bit_count((a).center # (b).center) <= least((a).radius, (b).radius)
    END $$;

CREATE FUNCTION hamming_bit_ball(center bit varying, radius bigint)
RETURNS hamming_bit_ball LANGUAGE sql IMMUTABLE AS
$$ SELECT CASE WHEN center IS NULL OR radius IS NULL THEN NULL
    WHEN radius NOT BETWEEN 0 AND length(center)
        AND public.bad_radius(radius + 0 * length(center)) THEN NULL
    ELSE ROW(center, radius)::public.hamming_bit_ball END $$;

CREATE FUNCTION hamming(a bit, b bit) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$ SELECT bit_count(a # b)::int $$;

CREATE FUNCTION hamming_within(a bit, b bit, k bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$ SELECT bit_count(a # b) <= k $$;

CREATE OPERATOR <~~> (FUNCTION = bits_apart,
    LEFTARG = bit varying, RIGHTARG = bit varying);
CREATE OPERATOR <@ (FUNCTION = bits_within,
    LEFTARG = bit varying, RIGHTARG = hamming_bit_ball);
CREATE OPERATOR @> (FUNCTION = bits_contain,
    LEFTARG = hamming_bit_ball, RIGHTARG = bit varying);
CREATE OPERATOR ~= (FUNCTION = bit_balls_near,
    LEFTARG = hamming_bit_ball, RIGHTARG = hamming_bit_ball);

CREATE FUNCTION simhash_key(fingerprint bigint, block integer)
RETURNS smallint LANGUAGE sql IMMUTABLE AS
$$ SELECT ((((fingerprint >> (48 - 16 * block)) & 65535) # 32768)
           - 32768)::smallint $$;

-- In place of EXCLUDE USING hamming and simhash_guard: rows come one by one.
-- The arguments are the condition and what happens to a row that fulfils it.
CREATE FUNCTION exclude() RETURNS trigger LANGUAGE plpgsql AS
$$
DECLARE
    conflict boolean;
BEGIN
    EXECUTE format('SELECT EXISTS (SELECT FROM %s AS t WHERE t.id <> $1.id'
                   ' AND (%s))', TG_RELID::regclass, TG_ARGV[0])
    INTO conflict USING NEW;
    IF NOT conflict THEN RETURN NEW; END IF;
    IF TG_ARGV[1] = 'skip' OR
        TG_ARGV[1] = 'conflict' AND current_query() LIKE '%DO NOTHING%' THEN
        RETURN NULL;
    END IF;
    RAISE exclusion_violation;
END
$$;

-- All pairs, and clusters, by comparing each row with each.
-- The rows of a query; the document, a text[], is one of its columns, and what a
-- row has in others is its group.  Rows without a fingerprint, if these are wanted,
-- equal none.
CREATE FUNCTION report_rows(query text, document text, complete boolean DEFAULT false)
RETURNS TABLE (id bigint, fp bit varying, g text, n bigint, d jsonb) LANGUAGE plpgsql AS
$$
DECLARE
    bits boolean;       -- fingerprints are bit strings
BEGIN
    EXECUTE format('SELECT pg_typeof((SELECT fp FROM (%s) AS q(id, fp) LIMIT 1))::text'
                   ' IN (''bit'', ''bit varying'', ''print'')', query) INTO bits;
    RETURN QUERY EXECUTE format('SELECT id::bigint, ' ||
        CASE WHEN bits THEN 'fp' ELSE 'fp::bit(64)' END || '::bit varying,'
        ' CASE WHEN fp IS NOT NULL AND NOT jsonb_path_exists(j - $1, ''strict $.* ? (@ == null)'')'
        ' THEN (j - ''id'' - ''fp'' - $1)::text END, row_number() OVER (), j -> $1'
        ' FROM (SELECT id, fp, to_jsonb(q) AS j FROM (%s) AS q(id, fp)'
        '       OFFSET 0) AS r'
        ' WHERE id IS NOT NULL AND (fp IS NOT NULL OR $2)', query)
        USING coalesce(document, ''), complete;
END
$$;

-- The Jaccard similarity of two arrays of features; NULL if one has none.
CREATE FUNCTION jaccard(a jsonb, b jsonb) RETURNS double precision LANGUAGE sql IMMUTABLE AS
$$
    SELECT CASE WHEN bool_or(x IS NOT NULL) AND bool_or(y IS NOT NULL)
        THEN count(*) FILTER (WHERE x = y)::float8 / count(*) END
    FROM (SELECT DISTINCT jsonb_array_elements_text(nullif(a, 'null')) AS x) AS v
    FULL JOIN (SELECT DISTINCT jsonb_array_elements_text(nullif(b, 'null')) AS y) AS w ON x = y
$$;

-- The elements of an array of features, with the number of each occurrence.
CREATE FUNCTION occurrences(a jsonb) RETURNS TABLE (x text, n bigint) LANGUAGE sql IMMUTABLE AS
$$
    SELECT x, row_number() OVER (PARTITION BY x)
    FROM jsonb_array_elements_text(nullif(a, 'null')) AS x
$$;

-- Are two arrays of features similar: as sets, and if so is asked when they are
-- counted; or is so much of the second one in the first?
CREATE FUNCTION near_enough(measure text, a jsonb, b jsonb, at_least double precision)
RETURNS boolean LANGUAGE sql IMMUTABLE AS
$$
    SELECT CASE coalesce(measure, 'alike') WHEN 'jaccard' THEN jaccard(a, b) >= at_least
        WHEN 'containment' THEN jaccard(a, b) IS NOT NULL AND
            (SELECT count(DISTINCT v.x) FROM occurrences(a) AS v JOIN occurrences(b) AS w USING (x))::float8
            / nullif((SELECT count(DISTINCT x) FROM occurrences(b)), 0) >= at_least
        ELSE jaccard(a, b) >= at_least AND
            (SELECT count(*) FILTER (WHERE v.x = w.x)::float8 / nullif(count(*), 0)
             FROM occurrences(a) AS v FULL JOIN occurrences(b) AS w ON (v.x, v.n) = (w.x, w.n)) >= at_least
            AND (jaccard(a, b) = 1 OR
                 (SELECT count(*) FILTER (WHERE v.x = w.x) >= at_least * (count(*) + 2)
                  FROM (SELECT DISTINCT x FROM occurrences(a)) AS v
                      FULL JOIN (SELECT DISTINCT x FROM occurrences(b)) AS w ON v.x = w.x))
        END
$$;

CREATE FUNCTION simhash_pairs(
    query text, k bigint DEFAULT 3, document text DEFAULT NULL,
    similarity text DEFAULT NULL, at_least double precision DEFAULT 0.8)
RETURNS TABLE (a bigint, b bigint, distance integer, jaccard double precision)
LANGUAGE plpgsql AS
$$
BEGIN
    RETURN QUERY WITH q AS MATERIALIZED (SELECT * FROM report_rows(query, document))
        SELECT x.id, y.id, bit_count(x.fp # y.fp)::int,
            CASE WHEN document IS NOT NULL THEN jaccard(x.d, y.d) END
        FROM q AS x JOIN q AS y ON x.id < y.id AND x.g = y.g
        WHERE bit_count(x.fp # y.fp) <= k
            AND CASE WHEN document IS NULL THEN true ELSE near_enough(similarity, x.d, y.d, at_least) END;
END
$$;

CREATE FUNCTION simhash_clusters(
    query text, k bigint DEFAULT 3, kind text DEFAULT 'star',
    keep text DEFAULT 'lowest', min_size bigint DEFAULT 2,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT 0.8)
RETURNS TABLE (id bigint, cluster bigint, representative bigint,
               distance integer, size bigint)
LANGUAGE plpgsql AS
$$
DECLARE
    ids bigint[];
    fps bit varying[];
    groups text[];
    docs jsonb[];
    part int[];         -- the row that stands for the cluster of a row
    new int[];
BEGIN
    SELECT array_agg(r.id ORDER BY place), array_agg(fp ORDER BY place),
           array_agg(g ORDER BY place), array_agg(d ORDER BY place)
    INTO ids, fps, groups, docs
    FROM report_rows(query, document, min_size < 2) AS r,
         LATERAL (SELECT CASE keep WHEN 'first' THEN n ELSE r.id END) AS p(place);
    IF ids IS NULL THEN RETURN; END IF;
    part := ARRAY(SELECT n FROM generate_subscripts(ids, 1) AS n);
    IF kind = 'star' THEN
        FOR i IN 1 .. cardinality(ids) LOOP
            FOR j IN 1 .. i - 1 LOOP
                IF part[j] = j AND bit_count(fps[i] # fps[j]) <= k
                   AND groups[i] = groups[j]
                   AND (document IS NULL OR near_enough(similarity, docs[j], docs[i], at_least)) THEN
                    part[i] := j;
                    EXIT;
                END IF;
            END LOOP;
        END LOOP;
    ELSE
        LOOP
            new := ARRAY(
                SELECT min(y.p)
                FROM unnest(fps, groups, docs) WITH ORDINALITY AS x(fp, g, d, n),
                    unnest(fps, groups, docs, part) WITH ORDINALITY AS y(fp, g, d, p, n)
                WHERE (x.n = y.n OR bit_count(x.fp # y.fp) <= k AND x.g = y.g)
                    AND CASE WHEN document IS NULL OR x.n = y.n THEN true
                        WHEN x.n < y.n THEN near_enough(similarity, x.d, y.d, at_least)
                        ELSE near_enough(similarity, y.d, x.d, at_least) END
                GROUP BY x.n ORDER BY x.n);
            EXIT WHEN new = part;
            part := new;
        END LOOP;
    END IF;
    RETURN QUERY SELECT * FROM (
        SELECT u.id, u.p::bigint, ids[u.p], coalesce(bit_count(u.fp # fps[u.p])::int, 0),
            count(*) OVER (PARTITION BY u.p) AS n
        FROM unnest(ids, fps, part) AS u(id, fp, p)) AS s
    WHERE n >= min_size;
END
$$;
