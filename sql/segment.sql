--
-- segment.c: words by ICU's dictionaries
--
-- Which words they are is for ICU to say, and differs by version.  What holds
-- for every version is tested here, and nothing where there is no ICU.
--

\getenv srcdir PG_ABS_SRCDIR
\set tools :srcdir '/test/tools.sql'
\set ECHO none
\i :tools
\set ECHO all
\pset null NULL

CREATE FUNCTION has_icu() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM simhash_segment('a');
    RETURN true;
EXCEPTION WHEN feature_not_supported THEN
    RETURN false;
END $$;

-- true, or there is nothing to say
CREATE FUNCTION holds(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    result boolean := true;
BEGIN
    IF has_icu() THEN
        EXECUTE 'SELECT ' || condition INTO result;
    END IF;
    RETURN result;
END $$;

-- no word is lost, none is made up, punctuation is left out
SELECT holds($$array_to_string(simhash_segment('我爱北京天安门，CEO 2024。'), '')
    = '我爱北京天安门CEO2024'$$) AS joined;
SELECT holds($$simhash_segment('The quick, brown fox!') =
    '{The,quick,brown,fox}'$$) AS spaced;
SELECT holds($$array_to_string(simhash_segment('ภาษาไทยไม่เว้นวรรค', 'th'), '')
    = 'ภาษาไทยไม่เว้นวรรค'$$) AS thai;
-- by dictionary: fewer words than characters
SELECT holds($$cardinality(simhash_segment('中华人民共和国国务院总理')) < 12$$)
    AS words;
SELECT holds($$simhash_segment('') = '{}'$$) AS empty,
    holds($$simhash_segment(' ,.! ') = '{}'$$) AS nothing,
    holds($$simhash_segment(NULL) IS NULL$$) AS none;
-- outside the basic plane
SELECT holds($$array_to_string(simhash_segment('𠀀𠀁 𐐀y'), ' ')
    ~ '^𠀀 ?𠀁 𐐀y$'$$) AS astral;
-- full-width and half-width forms, ligatures, letters and marks apart
SELECT holds($$simhash_segment('ＣＥＯ，２０２４年　ﾃﾞｰﾀﾍﾞｰｽ ﬁn cafe' || U&'\0301') =
    simhash_segment('CEO,2024年 データベース fin café')$$) AS folded,
    holds($$'{CEO,fin,café}' <@ simhash_segment('ＣＥＯ ﬁn cafe' || U&'\0301')$$)
    AS to_usual_forms;
SELECT holds($$simhash_segment(repeat('ａ㍿', 50000)) =
    simhash_segment(repeat('a株式会社', 50000))$$) AS long_folded;
-- pieces that a long text is given to ICU in: no word is cut at a gap, no
-- letter from its marks, and many marks in a row end soon
SELECT holds($$simhash_segment(repeat('word, ' || repeat('中华人民共和国 ', 3) || 'ภาษาไทย。', 5000))
    = (SELECT array_agg(w ORDER BY n, i) FROM generate_series(1, 5000) AS n,
       unnest(simhash_segment('word, ' || repeat('中华人民共和国 ', 3) || 'ภาษาไทย。'))
       WITH ORDINALITY AS u (w, i))$$) AS pieces,
    holds($$simhash_segment(repeat(' e' || repeat(U&'\0323\0302', 5), 20000)) =
    simhash_segment(repeat(U&' \1EC7' || repeat(U&'\0323', 4) || repeat(U&'\0302', 4), 20000))$$)
    AS marks;
SET statement_timeout = '20s';
SELECT holds($$cardinality(simhash_segment('a' || repeat(U&'\0301\0323', 100000))) >= 1$$)
    AS many_marks,
    holds($$cardinality(simhash_segment(repeat('x', 3000000))) < 20$$) AS no_gap;
RESET statement_timeout;
-- they are features like others
SELECT holds($$simhash(simhash_segment('one two one')) =
    simhash('{one,two}'::text[], '{2,1}')$$) AS features;
SELECT holds($$cardinality(simhash_segment(repeat('北京大学 ', 100000)))
    BETWEEN 100000 AND 400000$$) AS long;
SELECT provolatile AS volatility
FROM pg_proc WHERE proname = 'simhash_segment';

DROP FUNCTION holds(text);
DROP FUNCTION has_icu();
