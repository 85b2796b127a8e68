-- What the regression tests share; read by each that needs it.

-- what an error says: its SQLSTATE, message, detail and hint; without the last
-- two where a function or an operator is missing, as versions word them anew
CREATE OR REPLACE FUNCTION fails(command text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    state text; message text; detail text; hint text;
BEGIN
    EXECUTE command;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE,
        message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
        hint = PG_EXCEPTION_HINT;
    IF state = '42883' AND message ~ ' does not exist' THEN
        RETURN state || ' ' || message;
    END IF;
    RETURN concat_ws(E'\n', state || ' ' || message, nullif(detail, ''),
                     nullif(hint, ''));
END $$;

-- the plan of a query, without costs, as version 15 writes it
CREATE OR REPLACE FUNCTION plan(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        CONTINUE WHEN line ~ '^ +Disabled: true$';
        line := regexp_replace(line, '(InitPlan|SubPlan) (?:expr|array)_(\d)', '\1 \2', 'g');
        line := regexp_replace(line, '\(InitPlan (\d)\)\.col1', '$0', 'g');
        line := replace(line, 'on unnamed_subquery_1', 'on "*SELECT* 2"');
        line := replace(line, 'on unnamed_subquery', 'on "*SELECT* 1"');
        IF line ~ '^ +(Index|Recheck) Cond: ' THEN
            line := regexp_replace(line, '\(([a-z]\w*\.\w+) = ([a-z]\w*)\)', '(\2 = \1)', 'g');
        END IF;
        RETURN NEXT regexp_replace(line, ' \(returns \$0\)', '');
    END LOOP;
END $$;

-- how many rows the planner expects at the top of a query
CREATE OR REPLACE FUNCTION estimate(query text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    result json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO result;
    RETURN result -> 0 -> 'Plan' ->> 'Plan Rows';
END $$;

-- what the planner expects a query to cost
CREATE OR REPLACE FUNCTION cost_of(query text) RETURNS float8
LANGUAGE plpgsql AS $$
DECLARE
    plan json;
BEGIN
    EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
    RETURN plan -> 0 -> 'Plan' ->> 'Total Cost';
END $$;

-- the session's memory, without the catalogue's cache: that grows by blocks of
-- up to a megabyte with what the session has looked up
CREATE OR REPLACE FUNCTION memory_in_use() RETURNS bigint
LANGUAGE sql AS $$
    SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts
    WHERE name <> 'CacheMemoryContext'
$$;

-- a hash mixed, by which keywords of equal weight are ordered
CREATE OR REPLACE FUNCTION mixed(hash bigint) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    x bigint := hash;
    product numeric;
BEGIN
    x := x # ((x >> 30) & ((1::bigint << 34) - 1));
    FOR i IN 1..2 LOOP
        product := mod(x * (ARRAY[13787848793156543929,
                                  10723151780598845931])[i], 2::numeric ^ 64);
        x := CASE WHEN product >= 2::numeric ^ 63 THEN product - 2::numeric ^ 64
                  WHEN product < -(2::numeric ^ 63) THEN product + 2::numeric ^ 64
                  ELSE product END;
        x := x # CASE i WHEN 1 THEN (x >> 27) & ((1::bigint << 37) - 1)
                        ELSE (x >> 31) & ((1::bigint << 33) - 1) END;
    END LOOP;
    RETURN CASE WHEN x < 0 THEN x + 2::numeric ^ 64 ELSE x END;
END $$;
