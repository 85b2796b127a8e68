--
-- hamming_validate.c, hamming_am.c: operator classes of all sorts
--

CREATE TABLE others (d date, t text, i bigint, ball hamming_ball);
INSERT INTO others VALUES ('2001-02-03', 'text', 7, (7, 3));

----------------------------------------
-- those that the index refuses
----------------------------------------

-- a type that is no fingerprint: not taken for one, nor for a pointer to one
CREATE OPERATOR CLASS of_date FOR TYPE date USING hamming AS
    OPERATOR 1 =, FUNCTION 1 (date, date) btint8cmp(bigint, bigint),
    STORAGE bigint;
CREATE INDEX ON others USING hamming (d of_date); -- error
CREATE OPERATOR CLASS of_text FOR TYPE text USING hamming AS
    FUNCTION 1 (text, text) btint8cmp(bigint, bigint), STORAGE bigint;
CREATE INDEX ON others USING hamming (t of_text); -- error

-- an operator that the index does not answer, or by another strategy
CREATE OPERATOR CLASS of_equal FOR TYPE bigint USING hamming AS
    OPERATOR 1 =, FUNCTION 1 btint8cmp(bigint, bigint);
CREATE INDEX ON others USING hamming (i of_equal); -- error
CREATE OPERATOR CLASS of_difference FOR TYPE bigint USING hamming AS
    OPERATOR 1 ~=,
    OPERATOR 3 # (bigint, bigint) FOR ORDER BY integer_ops,
    FUNCTION 1 btint8cmp(bigint, bigint);
CREATE INDEX ON others USING hamming (i of_difference); -- error
CREATE OPERATOR CLASS of_balls FOR TYPE hamming_ball USING hamming AS
    OPERATOR 2 ~= (hamming_ball, hamming_ball),
    FUNCTION 1 (hamming_ball, hamming_ball) btint8cmp(bigint, bigint),
    STORAGE bigint;
CREATE INDEX ON others USING hamming (ball of_balls); -- error

-- a support function that does not order the keys, or none
CREATE OPERATOR CLASS of_sum FOR TYPE bigint USING hamming AS
    OPERATOR 1 ~=, FUNCTION 1 int8pl(bigint, bigint);
CREATE INDEX ON others USING hamming (i of_sum); -- error
CREATE OPERATOR CLASS of_nothing FOR TYPE bigint USING hamming AS
    OPERATOR 1 ~=;
CREATE INDEX ON others USING hamming (i of_nothing); -- error

----------------------------------------
-- one that says the same as ours
----------------------------------------

CREATE OPERATOR CLASS of_ours FOR TYPE bigint USING hamming AS
    OPERATOR 1 ~=, FUNCTION 1 btint8cmp(bigint, bigint);
CREATE INDEX ON others USING hamming (i of_ours);
SET enable_seqscan = off;
SELECT i FROM others WHERE i ~= 6;
RESET enable_seqscan;

SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'of_ours';

----------------------------------------
-- properties of columns, of indexes and of the access method
----------------------------------------

CREATE INDEX others_bigint ON others USING hamming (i);
CREATE INDEX others_ball ON others USING hamming (ball);
CREATE INDEX others_ours ON others USING hamming (i of_ours);
SELECT property,
    pg_index_column_has_property('others_bigint', 1, property) AS of_bigint,
    pg_index_column_has_property('others_ball', 1, property) AS of_ball,
    pg_index_column_has_property('others_ours', 1, property) AS of_ours,
    pg_index_column_has_property('others_bigint', 2, property) AS none,
    pg_index_has_property('others_bigint', property) AS index,
    pg_indexam_has_property(oid, property) AS am
FROM unnest('{asc,desc,nulls_first,nulls_last,orderable,distance_orderable,
    returnable,search_array,search_nulls,clusterable,index_scan,bitmap_scan,
    backward_scan,can_order,can_unique,can_multi_col,can_exclude,can_include,
    nonsense}'::text[]) AS property, pg_am
WHERE amname = 'hamming';

DROP TABLE others;
DROP OPERATOR FAMILY of_date USING hamming CASCADE;
DROP OPERATOR FAMILY of_text USING hamming CASCADE;
DROP OPERATOR FAMILY of_equal USING hamming CASCADE;
DROP OPERATOR FAMILY of_difference USING hamming CASCADE;
DROP OPERATOR FAMILY of_balls USING hamming CASCADE;
DROP OPERATOR FAMILY of_sum USING hamming CASCADE;
DROP OPERATOR FAMILY of_nothing USING hamming CASCADE;
DROP OPERATOR FAMILY of_ours USING hamming CASCADE;
