-- What the regression tests of clusters share; each drops it in the end.

-- what an error says, but for its detail; of a trigger and a policy that use a
-- column, the server names either
CREATE FUNCTION complain(command text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    code text; message text; hint text;
BEGIN
    EXECUTE command;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE,
        message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    message := regexp_replace(message, 'in a (policy|trigger) def', 'in a def');
    RETURN concat_ws(E'\n', code || ' ' || message, nullif(hint, ''));
END $$;
