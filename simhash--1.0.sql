/* simhash--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION simhash" to load this file. \quit

-- Every function is a C function of the same name, unless it says otherwise.
-- COST is in units of a simple operator: a fingerprint takes microseconds.

----------------------------------------------------------------------------
-- Fingerprints of documents
----------------------------------------------------------------------------

CREATE FUNCTION simhash(document text) RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text) IS
'SimHash fingerprint of a document, by the default profile';

CREATE FUNCTION simhash(document text, profile text) RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text, text) IS
'SimHash fingerprint of a document, by a profile';

CREATE FUNCTION simhash_profiles(
    OUT profile text, OUT is_default boolean, OUT unit text,
    OUT min_tokens integer, OUT max_tokens integer, OUT damping text,
    OUT description text, OUT pattern text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_profiles'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE ROWS 20;
COMMENT ON FUNCTION simhash_profiles() IS
'the profiles, recipes from document to features, and patterns that name more';

CREATE FUNCTION simhash_fold(document text) RETURNS text
AS 'MODULE_PATHNAME', 'simhash_fold'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION simhash_fold(text) IS
'a document in lower case, without accents, as another keyboard would write it';

CREATE FUNCTION simhash_html(document text) RETURNS text
AS 'MODULE_PATHNAME', 'simhash_html'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION simhash_html(text) IS
'the text that a reader of a page of HTML sees';

CREATE FUNCTION simhash_article(document text) RETURNS text
AS 'MODULE_PATHNAME', 'simhash_article'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 300;
COMMENT ON FUNCTION simhash_article(text) IS
'the article of a page of HTML, without the site around it';

----------------------------------------------------------------------------
-- Features of documents
----------------------------------------------------------------------------

CREATE FUNCTION simhash_features(
    document text,
    OUT feature text, OUT weight double precision, OUT hash bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION simhash_features(text) IS
'features of a document, by the default profile';

CREATE FUNCTION simhash_features(
    document text, profile text,
    OUT feature text, OUT weight double precision, OUT hash bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION simhash_features(text, text) IS
'features of a document, by a profile';

----------------------------------------------------------------------------
-- Fingerprints of features with weights
----------------------------------------------------------------------------

-- Not STRICT: weights of NULL mean 1 each.  simhash('literal') and
-- simhash(NULL) stay the function of a document, because text is preferred
-- for an argument of unknown type.
CREATE FUNCTION simhash(
    features text[], weights double precision[] DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_by_weights'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text[], double precision[]) IS
'SimHash fingerprint of features with weights, 1 each when not given';

CREATE FUNCTION simhash(
    lexemes tsvector, weights real[] DEFAULT '{0.1,0.2,0.4,1.0}')
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_tsvector'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(tsvector, real[]) IS
'SimHash fingerprint of lexemes, weighted by label: {D,C,B,A}';

CREATE FUNCTION simhash_features(
    lexemes tsvector, weights real[] DEFAULT '{0.1,0.2,0.4,1.0}',
    OUT feature text, OUT weight double precision, OUT hash bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_tsvector_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION simhash_features(tsvector, real[]) IS
'lexemes, with what they weigh by their labels';

-- The sums of doubles round as cppjieba's do.  They depend on the order of
-- addition, which is that of the array: hence IMMUTABLE all the same.
CREATE FUNCTION simhash_cppjieba(
    features text[], weights double precision[])
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_cppjieba'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION simhash_cppjieba(text[], double precision[]) IS
'the fingerprint that cppjieba gives to keywords with weights';

CREATE FUNCTION simhash_hashbits(tokens text[], bits bigint DEFAULT 128)
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_hashbits'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_hashbits(text[], bigint) IS
'the fingerprint of any width that a well-known Python class gives to tokens';

CREATE FUNCTION simhash_read_hash(digits text, bits bigint DEFAULT 64,
    format text DEFAULT 'hex', reversed text DEFAULT 'none')
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_read_hash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_read_hash(text, bigint, text, text) IS
'the hash of so many bits that another program has written';

-- The parts of simhash_agg.  The transition functions are not STRICT: that
-- would make the first row the initial state, and a row is no value of type
-- internal.  They ignore rows with a NULL themselves.

CREATE FUNCTION simhash_agg_add_feature(
    state internal, feature text, weight double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_add_feature'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_add_feature(internal, text, double precision) IS
'adds a row to simhash_agg';

CREATE FUNCTION simhash_agg_add_feature(
    state internal, feature text, weight double precision, profile text)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_add_feature'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_add_feature(internal, text, double precision, text) IS
'adds a row to simhash_agg';

CREATE FUNCTION simhash_agg_remove_feature(
    state internal, feature text, weight double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_remove_feature'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_remove_feature(internal, text, double precision) IS
'removes a row that has left the window from simhash_agg';

CREATE FUNCTION simhash_agg_remove_feature(
    state internal, feature text, weight double precision, profile text)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_remove_feature'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_remove_feature(internal, text, double precision, text) IS
'removes a row that has left the window from simhash_agg';

CREATE FUNCTION simhash_agg_add_hash(
    state internal, hash bigint, weight double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_add_hash'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_add_hash(internal, bigint, double precision) IS
'adds a row to simhash_agg';

CREATE FUNCTION simhash_agg_remove_hash(
    state internal, hash bigint, weight double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_remove_hash'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_remove_hash(internal, bigint, double precision) IS
'removes a row that has left the window from simhash_agg';

CREATE FUNCTION simhash_agg_combine(internal, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_combine(internal, internal) IS
'combines what parallel workers have added up for simhash_agg';

CREATE FUNCTION simhash_agg_serial(internal) RETURNS bytea
AS 'MODULE_PATHNAME', 'simhash_agg_serial'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_serial(internal) IS
'passes what simhash_agg has added up to another process';

CREATE FUNCTION simhash_agg_deserial(bytea, internal) RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_deserial'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_deserial(bytea, internal) IS
'receives what simhash_agg has added up in another process';

CREATE FUNCTION simhash_agg_final(internal) RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_final(internal) IS
'the fingerprint of what simhash_agg has added up';

-- Sums are exact, so that rows can be added in any order, by any number of
-- workers, and be removed again: the moving-aggregate mode is the same.

CREATE AGGREGATE simhash_agg(feature text, weight double precision) (
    SFUNC = simhash_agg_add_feature, STYPE = internal, SSPACE = 3000,
    FINALFUNC = simhash_agg_final,
    COMBINEFUNC = simhash_agg_combine,
    SERIALFUNC = simhash_agg_serial, DESERIALFUNC = simhash_agg_deserial,
    MSFUNC = simhash_agg_add_feature, MINVFUNC = simhash_agg_remove_feature,
    MSTYPE = internal, MSSPACE = 3000, MFINALFUNC = simhash_agg_final,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text, double precision) IS
'SimHash fingerprint of rows of features with weights';

CREATE AGGREGATE simhash_agg(
    feature text, weight double precision, profile text) (
    SFUNC = simhash_agg_add_feature, STYPE = internal, SSPACE = 3000,
    FINALFUNC = simhash_agg_final,
    COMBINEFUNC = simhash_agg_combine,
    SERIALFUNC = simhash_agg_serial, DESERIALFUNC = simhash_agg_deserial,
    MSFUNC = simhash_agg_add_feature, MINVFUNC = simhash_agg_remove_feature,
    MSTYPE = internal, MSSPACE = 3000, MFINALFUNC = simhash_agg_final,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(text, double precision, text) IS
'SimHash fingerprint of rows of features with weights, hashed as by a profile';

CREATE AGGREGATE simhash_agg(hash bigint, weight double precision) (
    SFUNC = simhash_agg_add_hash, STYPE = internal, SSPACE = 3000,
    FINALFUNC = simhash_agg_final,
    COMBINEFUNC = simhash_agg_combine,
    SERIALFUNC = simhash_agg_serial, DESERIALFUNC = simhash_agg_deserial,
    MSFUNC = simhash_agg_add_hash, MINVFUNC = simhash_agg_remove_hash,
    MSTYPE = internal, MSSPACE = 3000, MFINALFUNC = simhash_agg_final,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_agg(bigint, double precision) IS
'SimHash fingerprint of rows of hashes with weights';

----------------------------------------------------------------------------
-- Rarity of features: the type simhash_idf
----------------------------------------------------------------------------

CREATE TYPE simhash_idf;

CREATE FUNCTION simhash_idf_in(cstring)
RETURNS simhash_idf
AS 'MODULE_PATHNAME', 'simhash_idf_in'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_in(cstring) IS
'I/O';

CREATE FUNCTION simhash_idf_out(simhash_idf)
RETURNS cstring
AS 'MODULE_PATHNAME', 'simhash_idf_out'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_out(simhash_idf) IS
'I/O';

CREATE FUNCTION simhash_idf_recv(internal)
RETURNS simhash_idf
AS 'MODULE_PATHNAME', 'simhash_idf_recv'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_recv(internal) IS
'I/O';

CREATE FUNCTION simhash_idf_send(simhash_idf)
RETURNS bytea
AS 'byteasend'
LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_send(simhash_idf) IS
'I/O';

-- STORAGE is external, for hashes do not compress, and the header of a value
-- can then be read without the rest.
CREATE TYPE simhash_idf (
    INPUT = simhash_idf_in, OUTPUT = simhash_idf_out,
    RECEIVE = simhash_idf_recv, SEND = simhash_idf_send,
    STORAGE = external);
COMMENT ON TYPE simhash_idf IS
'how rare features are: document frequencies, or weights that were given';

CREATE FUNCTION simhash_idf_from(
    features text[], weights double precision[], profile text DEFAULT NULL)
RETURNS simhash_idf
AS 'MODULE_PATHNAME', 'simhash_idf_from'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_idf_from(text[], double precision[], text) IS
'a simhash_idf value of given weights';

-- Not STRICT: what is NULL stays as it is.
CREATE FUNCTION simhash_idf_with(
    idf simhash_idf, stop_words text[] DEFAULT NULL,
    min_length bigint DEFAULT NULL, unknown text DEFAULT NULL)
RETURNS simhash_idf
AS 'MODULE_PATHNAME', 'simhash_idf_with'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_idf_with(simhash_idf, text[], bigint, text) IS
'weights with stop words, a shortest word, another weight of unknown features';

CREATE FUNCTION simhash_idf_stats(
    idf simhash_idf,
    OUT profile text, OUT documents bigint, OUT features bigint,
    OUT unknown double precision, OUT min_length integer)
AS 'MODULE_PATHNAME', 'simhash_idf_stats'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_idf_stats(simhash_idf) IS
'profile, documents and features of a simhash_idf value, weight of the others';

----------------------------------------------------------------------------
-- Learning the rarity of features
----------------------------------------------------------------------------

CREATE FUNCTION simhash_idf_add(a simhash_idf, b simhash_idf)
RETURNS simhash_idf
AS 'MODULE_PATHNAME', 'simhash_idf_add'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_idf_add(simhash_idf, simhash_idf) IS
'implementation of + operator';

CREATE OPERATOR + (
    FUNCTION = simhash_idf_add,
    LEFTARG = simhash_idf, RIGHTARG = simhash_idf, COMMUTATOR = +);
COMMENT ON OPERATOR + (simhash_idf, simhash_idf) IS
'what is learnt from the documents of both';

-- The parts of simhash_idf_agg.  The transition functions are not STRICT, for
-- the reason given for simhash_agg.

CREATE FUNCTION simhash_idf_agg_learn(state internal, document text)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_idf_agg_learn'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_idf_agg_learn(internal, text) IS
'learns from a document, by the default profile';

CREATE FUNCTION simhash_idf_agg_learn(
    state internal, document text, profile text)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_idf_agg_learn'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_idf_agg_learn(internal, text, text) IS
'learns from a document, by a profile';

CREATE FUNCTION simhash_idf_agg_learn(state internal, features text[])
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_idf_agg_learn_words'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_idf_agg_learn(internal, text[]) IS
'learns from words that are given';

CREATE FUNCTION simhash_idf_agg_learn(
    state internal, features text[], profile text)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_idf_agg_learn_words'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_idf_agg_learn(internal, text[], text) IS
'learns from words that are given, with the seed of a profile';

CREATE FUNCTION simhash_idf_agg_merge(state internal, idf simhash_idf)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_idf_agg_merge'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10000;
COMMENT ON FUNCTION simhash_idf_agg_merge(internal, simhash_idf) IS
'learns what another value has learnt';

CREATE FUNCTION simhash_idf_agg_combine(internal, internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_idf_agg_combine'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_agg_combine(internal, internal) IS
'combines what parallel workers have learnt';

CREATE FUNCTION simhash_idf_agg_serial(internal)
RETURNS bytea
AS 'MODULE_PATHNAME', 'simhash_idf_agg_serial'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_agg_serial(internal) IS
'passes what was learnt to another process';

CREATE FUNCTION simhash_idf_agg_deserial(bytea, internal)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_idf_agg_deserial'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_agg_deserial(bytea, internal) IS
'receives what was learnt in another process';

CREATE FUNCTION simhash_idf_agg_final(internal)
RETURNS simhash_idf
AS 'MODULE_PATHNAME', 'simhash_idf_agg_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_idf_agg_final(internal) IS
'the value of what was learnt';

CREATE AGGREGATE simhash_idf_agg(document text) (
    SFUNC = simhash_idf_agg_learn, STYPE = internal, SSPACE = 1000000,
    FINALFUNC = simhash_idf_agg_final,
    COMBINEFUNC = simhash_idf_agg_combine,
    SERIALFUNC = simhash_idf_agg_serial,
    DESERIALFUNC = simhash_idf_agg_deserial,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_idf_agg(text) IS
'document frequencies of features, by the default profile';

CREATE AGGREGATE simhash_idf_agg(document text, profile text) (
    SFUNC = simhash_idf_agg_learn, STYPE = internal, SSPACE = 1000000,
    FINALFUNC = simhash_idf_agg_final,
    COMBINEFUNC = simhash_idf_agg_combine,
    SERIALFUNC = simhash_idf_agg_serial,
    DESERIALFUNC = simhash_idf_agg_deserial,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_idf_agg(text, text) IS
'document frequencies of features, by a profile';

CREATE AGGREGATE simhash_idf_agg(features text[]) (
    SFUNC = simhash_idf_agg_learn, STYPE = internal, SSPACE = 1000000,
    FINALFUNC = simhash_idf_agg_final,
    COMBINEFUNC = simhash_idf_agg_combine,
    SERIALFUNC = simhash_idf_agg_serial,
    DESERIALFUNC = simhash_idf_agg_deserial,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_idf_agg(text[]) IS
'document frequencies of words that are given';

CREATE AGGREGATE simhash_idf_agg(features text[], profile text) (
    SFUNC = simhash_idf_agg_learn, STYPE = internal, SSPACE = 1000000,
    FINALFUNC = simhash_idf_agg_final,
    COMBINEFUNC = simhash_idf_agg_combine,
    SERIALFUNC = simhash_idf_agg_serial,
    DESERIALFUNC = simhash_idf_agg_deserial,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_idf_agg(text[], text) IS
'document frequencies of words that are given, with the seed of a profile';

CREATE AGGREGATE simhash_idf_agg(idf simhash_idf) (
    SFUNC = simhash_idf_agg_merge, STYPE = internal, SSPACE = 1000000,
    FINALFUNC = simhash_idf_agg_final,
    COMBINEFUNC = simhash_idf_agg_combine,
    SERIALFUNC = simhash_idf_agg_serial,
    DESERIALFUNC = simhash_idf_agg_deserial,
    PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_idf_agg(simhash_idf) IS
'the sum of values learnt from parts of a corpus';

----------------------------------------------------------------------------
-- Fingerprints and keywords by rarity (TF-IDF)
----------------------------------------------------------------------------

-- Not called simhash: simhash($1, $2) and simhash(text[], '{1,2}') would be
-- ambiguous.  Not STRICT: a top_k of NULL means all.
CREATE FUNCTION simhash_tfidf(
    document text, idf simhash_idf, top_k bigint DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_tfidf'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 700;
COMMENT ON FUNCTION simhash_tfidf(text, simhash_idf, bigint) IS
'SimHash fingerprint of a document, features weighted by TF-IDF';

CREATE FUNCTION simhash_tfidf(
    features text[], idf simhash_idf, top_k bigint DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_word_tfidf'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_tfidf(text[], simhash_idf, bigint) IS
'SimHash fingerprint of words, weighted by TF-IDF';

CREATE FUNCTION simhash_keywords(
    document text, idf simhash_idf, top_k bigint,
    OUT feature text, OUT weight double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_keywords'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 ROWS 20;
COMMENT ON FUNCTION simhash_keywords(text, simhash_idf, bigint) IS
'the features of a document with the greatest TF-IDF';

CREATE FUNCTION simhash_keywords(
    features text[], idf simhash_idf, top_k bigint,
    OUT feature text, OUT weight double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_word_keywords'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 ROWS 20;
COMMENT ON FUNCTION simhash_keywords(text[], simhash_idf, bigint) IS
'the words with the greatest TF-IDF';

CREATE FUNCTION simhash_idf_weight(idf simhash_idf, feature text)
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_idf_weight'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_idf_weight(simhash_idf, text) IS
'inverse document frequency of a feature';

-- Not STRICT: an idf of NULL weighs all features the same.
CREATE FUNCTION simhash_features(
    features text[], idf simhash_idf DEFAULT NULL,
    OUT feature text, OUT weight double precision, OUT hash bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_word_features'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 500;
COMMENT ON FUNCTION simhash_features(text[], simhash_idf) IS
'features that are given, each once, with what they weigh';

----------------------------------------------------------------------------
-- Explanations
----------------------------------------------------------------------------

-- Bit i of a fingerprint by simhash is the sign of a sum, the margin: what the
-- features weigh whose hash has the bit set, less what the others weigh.  A margin
-- far from 0 survives any small change of the document; one close to it is decided by
-- a few features, and a tie, which counts as a 0, by none.  Two documents differ at a
-- bit because their margins there lie on both sides of 0.  What a feature weighs more
-- in one of them, with the sign that the bit of its hash gives it, is its part of the
-- difference.
CREATE FUNCTION _simhash_explain(
    features_a text[], weights_a double precision[], hashes_a bigint[],
    features_b text[], weights_b double precision[], hashes_b bigint[], most bigint,
    OUT "bit" integer, OUT margin_a double precision,
    OUT margin_b double precision, OUT differs boolean, OUT features text[])
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 5000 ROWS 64
BEGIN ATOMIC
WITH f AS MATERIALIZED (
    SELECT hash, min(feature COLLATE "C") AS feature, sum(a) AS a, sum(b) AS b
    FROM (SELECT feature, hash, weight AS a, 0 AS b
          FROM unnest(features_a, weights_a, hashes_a) AS of_a (feature, weight, hash)
          UNION ALL
          SELECT feature, hash, 0, weight
          FROM unnest(features_b, weights_b, hashes_b) AS of_b (feature, weight, hash)) AS of_both
    GROUP BY hash
), known AS MATERIALIZED (
    SELECT bool_or(a <> 0) AS a, bool_or(b <> 0) AS b FROM f
), bits AS MATERIALIZED (
    SELECT n, sum(CASE hash >> n & 1 WHEN 1 THEN f.a ELSE -f.a END) AS a,
        sum(CASE hash >> n & 1 WHEN 1 THEN f.b ELSE -f.b END) AS b
    FROM generate_series(0, 63) AS n LEFT JOIN f ON true GROUP BY n
)
SELECT n, CASE WHEN known.a THEN bits.a END, CASE WHEN known.b THEN bits.b END, of_bit.differs,
    CASE WHEN of_bit.differs THEN
        -- the largest first
        ARRAY(SELECT f.feature FROM f
              WHERE (bits.a > bits.b) = (CASE hash >> n & 1 WHEN 1 THEN f.a - f.b ELSE f.b - f.a END > 0)
                  AND f.a <> f.b
              ORDER BY abs(f.a - f.b) DESC, hash < 0, hash
              LIMIT coalesce(most, 10))
    END
FROM bits, known, LATERAL (
    SELECT CASE WHEN known.a AND known.b THEN (bits.a > 0) <> (bits.b > 0) END AS differs
) AS of_bit
ORDER BY n;
END;

COMMENT ON FUNCTION _simhash_explain(text[], double precision[], bigint[], text[], double precision[], bigint[], bigint) IS
'what simhash_explain says of two lists of features';

-- For each bit, the least significant first: the margins of two documents, whether
-- their fingerprints differ there, and if so the features that carry the difference,
-- at most so many.  A profile of NULL is the default one, and an idf of NULL weighs all
-- features the same.  Margins are NULL without features; no row where a document is
-- NULL.  Errors: undefined_object for a profile that there is not,
-- invalid_row_count_in_limit_clause for a negative number of features,
-- program_limit_exceeded for a document with more than a million of them.
CREATE FUNCTION simhash_explain(
    a text, b text, profile text DEFAULT NULL, most bigint DEFAULT 10,
    OUT "bit" integer, OUT margin_a bigint, OUT margin_b bigint,
    OUT differs boolean, OUT features text[])
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 5000 ROWS 64
BEGIN ATOMIC
SELECT e.bit, e.margin_a::bigint, e.margin_b::bigint, e.differs, e.features
FROM (SELECT array_agg(feature) AS features, array_agg(weight) AS weights, array_agg(hash) AS hashes
      FROM simhash_features(a, coalesce(profile, 'word-2-capped'))) AS of_a,
    (SELECT array_agg(feature) AS features, array_agg(weight) AS weights, array_agg(hash) AS hashes
     FROM simhash_features(b, coalesce(profile, 'word-2-capped'))) AS of_b,
    _simhash_explain(of_a.features, of_a.weights, of_a.hashes,
                     of_b.features, of_b.weights, of_b.hashes, most) AS e
WHERE a IS NOT NULL AND b IS NOT NULL;
END;
COMMENT ON FUNCTION simhash_explain(text, text, text, bigint) IS
'the bits of two fingerprints: margins, differences, features behind them';

CREATE FUNCTION simhash_explain(
    a text[], b text[], idf simhash_idf DEFAULT NULL, most bigint DEFAULT 10,
    OUT "bit" integer, OUT margin_a double precision,
    OUT margin_b double precision, OUT differs boolean, OUT features text[])
RETURNS SETOF record
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 5000 ROWS 64
BEGIN ATOMIC
SELECT e.*
FROM (SELECT array_agg(feature) AS features, array_agg(weight) AS weights, array_agg(hash) AS hashes
      FROM simhash_features(a, idf)) AS of_a,
    (SELECT array_agg(feature) AS features, array_agg(weight) AS weights, array_agg(hash) AS hashes
     FROM simhash_features(b, idf)) AS of_b,
    _simhash_explain(of_a.features, of_a.weights, of_a.hashes,
                     of_b.features, of_b.weights, of_b.hashes, most) AS e
WHERE a IS NOT NULL AND b IS NOT NULL;
END;
COMMENT ON FUNCTION simhash_explain(text[], text[], simhash_idf, bigint) IS
'the same for features that are given';

----------------------------------------------------------------------------
-- Words of languages without spaces
----------------------------------------------------------------------------

-- STABLE: a newer ICU has a newer dictionary.
CREATE FUNCTION simhash_segment(document text, locale text DEFAULT 'zh')
RETURNS text[]
AS 'MODULE_PATHNAME', 'simhash_segment'
LANGUAGE C STABLE STRICT PARALLEL SAFE COST 5000;
COMMENT ON FUNCTION simhash_segment(text, text) IS
'the words of a document, by the dictionaries of ICU';

----------------------------------------------------------------------------
-- MinHash
----------------------------------------------------------------------------

CREATE FUNCTION minhash(document text) RETURNS bigint
AS 'MODULE_PATHNAME', 'minhash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash(text) IS
'MinHash fingerprint of a document, by the default profile';

CREATE FUNCTION minhash(document text, profile text) RETURNS bigint
AS 'MODULE_PATHNAME', 'minhash'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash(text, text) IS
'MinHash fingerprint of a document, by a profile';

CREATE FUNCTION minhash(features text[]) RETURNS bigint
AS 'MODULE_PATHNAME', 'minhash_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(text[]) IS
'MinHash fingerprint of a set of features';

CREATE FUNCTION minhash(features text[], profile text) RETURNS bigint
AS 'MODULE_PATHNAME', 'minhash_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(text[], text) IS
'MinHash fingerprint of a set of features, hashed as by a profile';

----------------------------------------------------------------------------
-- Fingerprints of more than 64 bits
----------------------------------------------------------------------------

-- Their first 64 bits, read from the left, are those of the function that
-- returns a bigint.  Not STRICT: a NULL profile is the default one, and NULL
-- weights are 1 each.
CREATE FUNCTION simhash_bits(
    document text, bits bigint, profile text DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_bits'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 800;
COMMENT ON FUNCTION simhash_bits(text, bigint, text) IS
'SimHash fingerprint of a document, in so many bits';

CREATE FUNCTION simhash_bits(
    features text[], bits bigint, weights double precision[] DEFAULT NULL,
    profile text DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_by_weights'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bits(
    text[], bigint, double precision[], text) IS
'SimHash fingerprint of features with weights, in so many bits';

CREATE FUNCTION simhash_bits(
    lexemes tsvector, bits bigint,
    weights real[] DEFAULT '{0.1,0.2,0.4,1.0}')
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_tsvector'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bits(tsvector, bigint, real[]) IS
'SimHash fingerprint of lexemes, weighted by label, in so many bits';

CREATE FUNCTION simhash_tfidf_bits(
    document text, idf simhash_idf, bits bigint, top_k bigint DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_tfidf'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1400;
COMMENT ON FUNCTION simhash_tfidf_bits(text, simhash_idf, bigint, bigint) IS
'SimHash fingerprint of a document by TF-IDF, in so many bits';

CREATE FUNCTION simhash_tfidf_bits(
    features text[], idf simhash_idf, bits bigint, top_k bigint DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_word_tfidf'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1400;
COMMENT ON FUNCTION simhash_tfidf_bits(text[], simhash_idf, bigint, bigint) IS
'SimHash fingerprint of words by TF-IDF, in so many bits';

CREATE FUNCTION minhash_bits(
    document text, bits bigint, profile text DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'minhash_bits'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 800;
COMMENT ON FUNCTION minhash_bits(text, bigint, text) IS
'MinHash fingerprint of a document, in so many bits';

CREATE FUNCTION minhash_bits(
    features text[], bits bigint, profile text DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'minhash_features_bits'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 300;
COMMENT ON FUNCTION minhash_bits(text[], bigint, text) IS
'MinHash fingerprint of a set of features, in so many bits';

----------------------------------------------------------------------------
-- Exact similarity
----------------------------------------------------------------------------

-- Not STRICT: a NULL profile is the default one.
CREATE FUNCTION simhash_jaccard(a text, b text, profile text DEFAULT NULL)
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_jaccard'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_jaccard(text, text, text) IS
'Jaccard similarity of the sets of features of two documents, exactly';

CREATE FUNCTION simhash_cosine(a text, b text, profile text DEFAULT NULL)
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_cosine'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_cosine(text, text, text) IS
'cosine similarity of the weighted features of two documents, exactly';

CREATE FUNCTION simhash_jaccard(a text[], b text[])
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_jaccard_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION simhash_jaccard(text[], text[]) IS
'Jaccard similarity of two sets of features, exactly';

CREATE FUNCTION simhash_cosine(a text[], b text[])
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_cosine_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION simhash_cosine(text[], text[]) IS
'cosine similarity of two lists of features, exactly';

CREATE FUNCTION simhash_alike(
    a text, b text, similarity text DEFAULT 'alike',
    at_least double precision DEFAULT 0.8, profile text DEFAULT NULL)
RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_alike'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION simhash_alike(text, text, text, double precision, text) IS
'whether of two documents one may go for the other';

CREATE FUNCTION simhash_alike(
    a text[], b text[], at_least double precision DEFAULT 0.8)
RETURNS boolean
AS 'MODULE_PATHNAME', 'simhash_alike_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION simhash_alike(text[], text[], double precision) IS
'whether two arrays of features are alike, as sets and counted';

CREATE FUNCTION simhash_containment(
    a text, b text, profile text DEFAULT NULL)
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_containment'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_containment(text, text, text) IS
'share of the features of document a that document b has, exactly';

CREATE FUNCTION simhash_containment(a text[], b text[])
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_containment_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 200;
COMMENT ON FUNCTION simhash_containment(text[], text[]) IS
'share of the features a that are among the features b, exactly';

----------------------------------------------------------------------------
-- Passages of documents
----------------------------------------------------------------------------

-- Not STRICT: a NULL profile is the default one.
CREATE FUNCTION simhash_passages(
    document text, profile text DEFAULT NULL, words bigint DEFAULT 25,
    OUT nr integer, OUT start integer, OUT length integer, OUT fp bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_passages'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 20;
COMMENT ON FUNCTION simhash_passages(text, text, bigint) IS
'passages of a document, cut where its content says so, with a fingerprint each';

CREATE FUNCTION simhash_shared(
    a text, b text, min_words bigint DEFAULT 8,
    OUT a_start integer, OUT a_length integer,
    OUT b_start integer, OUT b_length integer, OUT words integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_shared'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2000 ROWS 10;
COMMENT ON FUNCTION simhash_shared(text, text, bigint) IS
'passages that two documents share, with their places in both';

CREATE FUNCTION simhash_boilerplate_learn(
    state internal, document text, share double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_boilerplate_learn'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 200;
COMMENT ON FUNCTION
simhash_boilerplate_learn(internal, text, double precision) IS
'count the lines of a document';

CREATE FUNCTION simhash_boilerplate_final(internal)
RETURNS text
AS 'MODULE_PATHNAME', 'simhash_boilerplate_final'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_boilerplate_final(internal) IS
'the lines that many documents have';

CREATE AGGREGATE simhash_boilerplate(document text, share double precision) (
    SFUNC = simhash_boilerplate_learn, STYPE = internal, SSPACE = 1000000,
    FINALFUNC = simhash_boilerplate_final, PARALLEL = SAFE);
COMMENT ON AGGREGATE simhash_boilerplate(text, double precision) IS
'lines that more than a share of documents have, and more than five of them';

-- Not STRICT: where no boilerplate is known, the document is its own.
CREATE FUNCTION simhash_without(document text, boilerplate text)
RETURNS text
AS 'MODULE_PATHNAME', 'simhash_without'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 100;
COMMENT ON FUNCTION simhash_without(text, text) IS
'the document without the lines of the boilerplate';

----------------------------------------------------------------------------
-- Choosing a profile and a distance
----------------------------------------------------------------------------

-- Volatile: it runs a query, and draws a random sample of what that returns.
-- Not STRICT: a NULL profile, family or similarity is as the query tells.
CREATE FUNCTION simhash_tune(
    query text, similarity text DEFAULT NULL, at_least double precision DEFAULT 0.8,
    profile text DEFAULT NULL, family text DEFAULT NULL, sample bigint DEFAULT 1000,
    OUT k integer, OUT pairs bigint, OUT "precision" double precision,
    OUT recall double precision, OUT comparisons double precision,
    OUT recommended boolean, OUT advice text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_tune'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 25;
COMMENT ON FUNCTION simhash_tune(
    text, text, double precision, text, text, bigint) IS
'precision and recall of searches within each distance, on documents of yours';

----------------------------------------------------------------------------
-- Distance and search
----------------------------------------------------------------------------

-- A LEAKPROOF function must raise no error that tells of a row.  <@ and @> of
-- bigints are LEAKPROOF, for a radius out of range is an error only where it is
-- not of the row that is scanned (distance.c).  hamming_ball() is not, nor is
-- what compares two balls.

-- The radius is a bigint, so that in a row (center, radius) it can be an integer
-- of any type: a row constructor is not cast implicitly to a type with a smaller
-- column.  The functions check that it is in range.
CREATE TYPE hamming_ball AS (center bigint, radius bigint);
COMMENT ON TYPE hamming_ball IS
'the fingerprints within a Hamming distance of a center';

CREATE FUNCTION hamming_ball(center bigint, radius bigint)
RETURNS hamming_ball
AS 'MODULE_PATHNAME', 'hamming_ball'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_ball(bigint, bigint) IS
'the ball with that center and radius';

CREATE FUNCTION hamming_support(internal) RETURNS internal
AS 'MODULE_PATHNAME', 'hamming_support'
LANGUAGE C STRICT;
COMMENT ON FUNCTION hamming_support(internal) IS
'planner support of Hamming search';

-- The support function sees to it that  hamming(fp, q) <= 8  is a search.
CREATE FUNCTION hamming(a bigint, b bigint) RETURNS integer
AS 'MODULE_PATHNAME', 'hamming'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming(bigint, bigint) IS
'Hamming distance: number of bits in which the fingerprints differ';

-- Not LEAKPROOF, as bit strings of different widths are an error.
CREATE FUNCTION hamming(a bit, b bit) RETURNS integer
AS 'MODULE_PATHNAME', 'hamming_bit'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming(bit, bit) IS
'Hamming distance: number of bits in which the bit strings differ';

-- Lest a call with bit varying goes to the function of that name in pg_similarity, a
-- similarity, which would be nearer than hamming(bit, bit).
CREATE FUNCTION hamming(a bit varying, b bit varying) RETURNS integer
AS 'MODULE_PATHNAME', 'hamming_bit'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming(bit varying, bit varying) IS
'Hamming distance: number of bits in which the bit strings differ';

-- The cosine of the angle between two vectors of features whose SimHash fingerprints
-- differ in so many of their bits (Charikar 2002, "Similarity estimation techniques
-- from rounding algorithms").
CREATE FUNCTION simhash_similarity(a bigint, b bigint)
RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
RETURN cosd(180.0::double precision * hamming(a, b) / 64);
COMMENT ON FUNCTION simhash_similarity(bigint, bigint) IS
'cosine similarity that the distance of two SimHash fingerprints estimates';

CREATE FUNCTION simhash_similarity(a bit, b bit)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1
RETURN cosd(180.0::double precision * hamming(a, b) / nullif(bit_length(a), 0));
COMMENT ON FUNCTION simhash_similarity(bit, bit) IS
'cosine similarity that the distance of two SimHash fingerprints estimates';

-- The Jaccard similarity of two sets of features whose MinHash fingerprints differ in
-- so many of their bits (Li and Konig 2010, "b-bit minwise hashing").
CREATE FUNCTION minhash_similarity(a bigint, b bigint)
RETURNS double precision
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1
RETURN 1 - 2.0::double precision * hamming(a, b) / 64;
COMMENT ON FUNCTION minhash_similarity(bigint, bigint) IS
'Jaccard similarity that the distance of two MinHash fingerprints estimates';

CREATE FUNCTION minhash_similarity(a bit, b bit)
RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1
RETURN 1 - 2.0::double precision * hamming(a, b) / nullif(bit_length(a), 0);
COMMENT ON FUNCTION minhash_similarity(bit, bit) IS
'Jaccard similarity that the distance of two MinHash fingerprints estimates';

CREATE FUNCTION hamming_near(a bigint, b bigint) RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_near'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_near(bigint, bigint) IS
'implementation of ~= operator';

CREATE FUNCTION hamming_within(fp bigint, ball hamming_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_within'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_within(bigint, hamming_ball) IS
'implementation of <@ operator';

CREATE FUNCTION hamming_contains(ball hamming_ball, fp bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_contains'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_contains(hamming_ball, bigint) IS
'implementation of @> operator';

CREATE FUNCTION hamming_balls_near(a hamming_ball, b hamming_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_balls_near'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_balls_near(hamming_ball, hamming_ball) IS
'implementation of ~= operator';

-- What the planner makes of  hamming(a, b) <= k , for any k: no operator, so
-- that an index on either side may serve it.
CREATE FUNCTION hamming_within(a bigint, b bigint, k bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_within_k'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_within(bigint, bigint, bigint) IS
'true if the fingerprints differ in at most k bits';

CREATE FUNCTION _hamming_reach(center bigint, distance bigint)
RETURNS hamming_ball
AS 'MODULE_PATHNAME', 'hamming_reach'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION _hamming_reach(bigint, bigint) IS
'the ball of all within any distance; NULL if that is negative';

CREATE FUNCTION hamming_sel(internal, oid, internal, integer)
RETURNS double precision
AS 'MODULE_PATHNAME', 'hamming_sel'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_sel(internal, oid, internal, integer) IS
'restriction selectivity of Hamming search';

CREATE FUNCTION hamming_joinsel(internal, oid, internal, smallint, internal)
RETURNS double precision
AS 'MODULE_PATHNAME', 'hamming_joinsel'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_joinsel(internal, oid, internal, smallint, internal) IS
'join selectivity of Hamming search';

CREATE OPERATOR <~> (
    FUNCTION = hamming, LEFTARG = bigint, RIGHTARG = bigint,
    COMMUTATOR = <~>);
COMMENT ON OPERATOR <~> (bigint, bigint) IS 'Hamming distance';

CREATE OPERATOR ~= (
    FUNCTION = hamming_near, LEFTARG = bigint, RIGHTARG = bigint,
    COMMUTATOR = ~=, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR ~= (bigint, bigint) IS
'near-duplicates: Hamming distance at most 3';

CREATE OPERATOR <@ (
    FUNCTION = hamming_within, LEFTARG = bigint, RIGHTARG = hamming_ball,
    COMMUTATOR = @>, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR <@ (bigint, hamming_ball) IS
'within the radius of the center';

CREATE OPERATOR @> (
    FUNCTION = hamming_contains, LEFTARG = hamming_ball, RIGHTARG = bigint,
    COMMUTATOR = <@, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR @> (hamming_ball, bigint) IS
'has within the radius of its center';

CREATE OPERATOR ~= (
    FUNCTION = hamming_balls_near,
    LEFTARG = hamming_ball, RIGHTARG = hamming_ball,
    COMMUTATOR = ~=, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR ~= (hamming_ball, hamming_ball) IS
'each center lies within the radius of the other';

----------------------------------------------------------------------------
-- Search among bit strings
----------------------------------------------------------------------------

-- The operator of the distance is <~~>: pgvector has a <~> of its own for bit
-- strings, and both are to go into one schema.  The ball has a type and a
-- constructor of its own, for hamming_ball($1, $2) would be ambiguous if there
-- were two.  None of this is LEAKPROOF: to compare bit strings of different widths
-- is an error.

-- The center is of any width, which a column of type bit would not be.
CREATE TYPE hamming_bit_ball AS (center bit varying, radius bigint);
COMMENT ON TYPE hamming_bit_ball IS
'the bit strings within a Hamming distance of a center';

CREATE FUNCTION hamming_bit_ball(center bit, radius bigint)
RETURNS hamming_bit_ball
AS 'MODULE_PATHNAME', 'hamming_bit_ball'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_bit_ball(bit, bigint) IS
'the ball of bit strings with that center and radius';

CREATE FUNCTION hamming_within(fp bit, ball hamming_bit_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_within'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_within(bit, hamming_bit_ball) IS
'implementation of <@ operator';

CREATE FUNCTION hamming_contains(ball hamming_bit_ball, fp bit)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_contains'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_contains(hamming_bit_ball, bit) IS
'implementation of @> operator';

CREATE FUNCTION hamming_balls_near(a hamming_bit_ball, b hamming_bit_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_balls_near'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION hamming_balls_near(hamming_bit_ball, hamming_bit_ball) IS
'implementation of ~= operator';

CREATE FUNCTION hamming_within(a bit, b bit, k bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_within_k'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_within(bit, bit, bigint) IS
'true if the bit strings differ in at most k bits';

CREATE FUNCTION _hamming_reach(center bit, distance bigint)
RETURNS hamming_bit_ball
AS 'MODULE_PATHNAME', 'hamming_bit_reach'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION _hamming_reach(bit, bigint) IS
'the ball of all within any distance; NULL if that is negative';

CREATE OPERATOR <~~> (
    FUNCTION = hamming, LEFTARG = bit, RIGHTARG = bit,
    COMMUTATOR = <~~>);
COMMENT ON OPERATOR <~~> (bit, bit) IS 'Hamming distance';

CREATE OPERATOR <@ (
    FUNCTION = hamming_within, LEFTARG = bit, RIGHTARG = hamming_bit_ball,
    COMMUTATOR = @>, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR <@ (bit, hamming_bit_ball) IS
'within the radius of the center';

CREATE OPERATOR @> (
    FUNCTION = hamming_contains, LEFTARG = hamming_bit_ball, RIGHTARG = bit,
    COMMUTATOR = <@, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR @> (hamming_bit_ball, bit) IS
'has within the radius of its center';

CREATE OPERATOR ~= (
    FUNCTION = hamming_balls_near,
    LEFTARG = hamming_bit_ball, RIGHTARG = hamming_bit_ball,
    COMMUTATOR = ~=, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR ~= (hamming_bit_ball, hamming_bit_ball) IS
'each center lies within the radius of the other';

----------------------------------------------------------------------------
-- Hamming index
----------------------------------------------------------------------------

CREATE FUNCTION hamming_handler(internal) RETURNS index_am_handler
AS 'MODULE_PATHNAME', 'hamming_handler'
LANGUAGE C VOLATILE STRICT;
COMMENT ON FUNCTION hamming_handler(internal) IS
'handler of the access method hamming';

CREATE ACCESS METHOD hamming TYPE INDEX HANDLER hamming_handler;
COMMENT ON ACCESS METHOD hamming IS
'exact search by Hamming distance';

-- Support function 1 of every class compares what the index stores, which is
-- bigint whatever the type of the column; PostgreSQL's btree code, on which the
-- index is built, calls that of the first column.
CREATE OPERATOR CLASS int8_hamming_ops
DEFAULT FOR TYPE bigint USING hamming AS
    OPERATOR 1 ~= (bigint, bigint),
    OPERATOR 2 <@ (bigint, hamming_ball),
    OPERATOR 3 <~> (bigint, bigint) FOR ORDER BY pg_catalog.integer_ops,
    OPERATOR 4 pg_catalog.= (bigint, bigint),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint);
ALTER OPERATOR FAMILY int8_hamming_ops USING hamming ADD
    OPERATOR 4 pg_catalog.= (bigint, integer),
    OPERATOR 4 pg_catalog.= (bigint, smallint);
COMMENT ON OPERATOR CLASS int8_hamming_ops USING hamming IS
'fingerprints, searched by ~=, <@ and ORDER BY <~>';
COMMENT ON OPERATOR FAMILY int8_hamming_ops USING hamming IS
'fingerprints, searched by ~=, <@ and ORDER BY <~>';

CREATE OPERATOR CLASS hamming_ball_ops
DEFAULT FOR TYPE hamming_ball USING hamming AS
    OPERATOR 1 ~= (hamming_ball, hamming_ball),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    STORAGE bigint;
COMMENT ON OPERATOR CLASS hamming_ball_ops USING hamming IS
'balls, for exclusion constraints at a distance of choice';
COMMENT ON OPERATOR FAMILY hamming_ball_ops USING hamming IS
'balls, for exclusion constraints at a distance of choice';

-- Columns that divide the rows into groups, within which near-duplicates are
-- sought: an index on (site, fp).  Support function 2 is a 64-bit hash, that of
-- PostgreSQL's own hash operator class for the type.  The default class of
-- bigint is that of fingerprints; the last of several columns that have it is
-- the fingerprint, so (fp, tenant_id int8_equal_ops) needs the name of another.
-- There is no name to give in an exclusion constraint, where
-- (tenant_id WITH =, fp WITH ~=) says which is which.
--
-- In the list: the class, whether it is that of its type, the type, the hash function
-- with the type that it takes, and the family of classes that are compared.
CREATE OPERATOR FAMILY integer_equal_ops USING hamming;
CREATE OPERATOR FAMILY text_equal_ops USING hamming;

DO $$
DECLARE
    its record;
BEGIN
    FOR its IN VALUES
        ('int2', 'DEFAULT', 'smallint', 'hashint2extended(smallint', 'integer'),
        ('int4', 'DEFAULT', 'integer', 'hashint4extended(integer', 'integer'),
        ('int8', '', 'bigint', 'hashint8extended(bigint', 'integer'),
        ('text', 'DEFAULT', 'text', 'hashtextextended(text', 'text'),
        ('name', 'DEFAULT', 'name', 'hashnameextended(name', 'text'),
        ('bpchar', 'DEFAULT', 'character', 'hashbpcharextended(character', NULL),
        ('char', 'DEFAULT', '"char"', 'hashcharextended("char"', NULL),
        ('uuid', 'DEFAULT', 'uuid', 'uuid_hash_extended(uuid', NULL),
        ('bool', 'DEFAULT', 'boolean', 'hashcharextended("char"', NULL),
        ('date', 'DEFAULT', 'date', 'hashint4extended(integer', NULL),
        ('timestamp', 'DEFAULT', 'timestamp', 'timestamp_hash_extended(timestamp', NULL),
        ('timestamptz', 'DEFAULT', 'timestamptz', 'timestamp_hash_extended(timestamp', NULL),
        ('bytea', 'DEFAULT', 'bytea', 'hashvarlenaextended(internal', NULL),
        ('oid', 'DEFAULT', 'oid', 'hashoidextended(oid', NULL),
        ('numeric', 'DEFAULT', 'numeric', 'hash_numeric_extended(numeric', NULL),
        ('enum', 'DEFAULT', 'anyenum', 'hashenumextended(anyenum', NULL)
    LOOP
        EXECUTE pg_catalog.format(
            'CREATE OPERATOR CLASS %s_equal_ops %s FOR TYPE %s USING hamming %s AS
                 OPERATOR 4 pg_catalog.= (%3$s, %3$s),
                 FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
                 FUNCTION 2 pg_catalog.%5$s, bigint)',
            its.column1, its.column2, its.column3,
            pg_catalog.format(CASE WHEN its.column5 IS NOT NULL THEN 'FAMILY %s_equal_ops'
                                   ELSE '' END, its.column5), its.column4);
        EXECUTE pg_catalog.format(
            'COMMENT ON OPERATOR CLASS %s_equal_ops USING hamming IS %L',
            its.column1, 'columns compared by =, beside a column of fingerprints');
        EXECUTE pg_catalog.format(
            'COMMENT ON OPERATOR FAMILY %s_equal_ops USING hamming IS %L',
            coalesce(its.column5, its.column1),
            'columns compared by =, beside a column of fingerprints');
    END LOOP;
END
$$;

ALTER OPERATOR FAMILY integer_equal_ops USING hamming ADD
    OPERATOR 4 pg_catalog.= (smallint, integer),
    OPERATOR 4 pg_catalog.= (smallint, bigint),
    OPERATOR 4 pg_catalog.= (integer, smallint),
    OPERATOR 4 pg_catalog.= (integer, bigint),
    OPERATOR 4 pg_catalog.= (bigint, smallint),
    OPERATOR 4 pg_catalog.= (bigint, integer);
ALTER OPERATOR FAMILY text_equal_ops USING hamming ADD
    OPERATOR 4 pg_catalog.= (text, name),
    OPERATOR 4 pg_catalog.= (name, text);

-- Bit strings are all of one width, that of the column.
CREATE OPERATOR CLASS bit_hamming_ops
DEFAULT FOR TYPE bit USING hamming AS
    OPERATOR 2 <@ (bit, hamming_bit_ball),
    OPERATOR 3 <~~> (bit, bit) FOR ORDER BY pg_catalog.integer_ops,
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    STORAGE bigint;
COMMENT ON OPERATOR CLASS bit_hamming_ops USING hamming IS
'bit strings of 32 to 1,024 bits, searched by <@ and ORDER BY <~~>';
COMMENT ON OPERATOR FAMILY bit_hamming_ops USING hamming IS
'bit strings of 32 to 1,024 bits, searched by <@ and ORDER BY <~~>';

CREATE OPERATOR CLASS hamming_bit_ball_ops
DEFAULT FOR TYPE hamming_bit_ball USING hamming AS
    OPERATOR 1 ~= (hamming_bit_ball, hamming_bit_ball),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    STORAGE bigint;
COMMENT ON OPERATOR CLASS hamming_bit_ball_ops USING hamming IS
'balls of bit strings, for exclusion constraints';
COMMENT ON OPERATOR FAMILY hamming_bit_ball_ops USING hamming IS
'balls of bit strings, for exclusion constraints';

-- Reads some inner pages of an index, whose state decides.  It may be that of
-- a temporary table, which parallel workers cannot read.  The function itself
-- asks whether the caller may read the table.
CREATE FUNCTION hamming_search_plan(
    index regclass, ball hamming_ball, within text[] DEFAULT '{}',
    OUT block integer, OUT radius integer, OUT probes bigint,
    OUT pages double precision, OUT candidates double precision,
    OUT crowd double precision, OUT crowd_beside double precision,
    OUT reads_all boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hamming_search_plan'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100 ROWS 4;
COMMENT ON FUNCTION hamming_search_plan(regclass, hamming_ball, text[]) IS
'what a search of a hamming index is going to read, block by block';

-- Not called hamming_search_plan: the ball may be a row, of no type yet.
CREATE FUNCTION hamming_bit_search_plan(
    index regclass, ball hamming_bit_ball, within text[] DEFAULT '{}',
    OUT block integer, OUT radius integer, OUT probes bigint,
    OUT pages double precision, OUT candidates double precision,
    OUT crowd double precision, OUT crowd_beside double precision,
    OUT reads_all boolean)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'hamming_bit_search_plan'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 100 ROWS 16;
COMMENT ON FUNCTION hamming_bit_search_plan(
    regclass, hamming_bit_ball, text[]) IS
'what a search of a hamming index of bit strings is going to read';

-- Reads whole tables and keeps vacuum out meanwhile: it looks itself whether the caller
-- owns the index, or has been granted it by name.
CREATE FUNCTION hamming_index_check(
    index regclass, heapallindexed boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'hamming_index_check'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION hamming_index_check(regclass, boolean) IS
'raise an error if a hamming index is damaged or does not agree with its table';

----------------------------------------------------------------------------
-- Key columns
----------------------------------------------------------------------------

CREATE FUNCTION simhash_key(fp bigint, block integer)
RETURNS smallint
AS 'MODULE_PATHNAME', 'simhash_key'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION simhash_key(bigint, integer) IS
'the 16 bits of a block of a fingerprint; block 0 is the most significant';

CREATE FUNCTION simhash_keys(fingerprints bigint[], block integer)
RETURNS smallint[]
AS 'MODULE_PATHNAME', 'simhash_keys'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_keys(bigint[], integer) IS
'block keys of several fingerprints, for ~= ANY (array)';

CREATE FUNCTION simhash_probes(
    center bigint, radius bigint, block integer)
RETURNS smallint[]
AS 'MODULE_PATHNAME', 'simhash_probes'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION simhash_probes(bigint, bigint, integer) IS
'the keys to look up in a block when searching within a radius';

CREATE FUNCTION simhash_add_keys(
    relation regclass, fingerprint text,
    columns name[] DEFAULT '{k0,k1,k2,k3}', within text[] DEFAULT '{}',
    covering boolean DEFAULT true)
RETURNS void
AS 'MODULE_PATHNAME', 'simhash_add_keys'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_add_keys(regclass, text, name[], text[], boolean) IS
'add the four key columns, generated from the fingerprint, and their indexes';

CREATE FUNCTION simhash_drop_keys(relation regclass)
RETURNS void
AS 'MODULE_PATHNAME', 'simhash_drop_keys'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_drop_keys(regclass) IS
'remove the key columns of a table and their indexes';

----------------------------------------------------------------------------
-- Pairs and clusters of near-duplicates
----------------------------------------------------------------------------

-- Ids are bigint, or an integer that becomes one.  Of what other type they
-- are, the functions whose names end in _as are told by their first argument:
-- its type counts, its value does not.  It comes first, and the names differ,
-- so that neither the query nor k can be taken for it, whatever type the
-- client sends them as, or none at all.  A default for it instead of two
-- functions would not do: in FROM, the type of the result would be unknown.
-- The queries may be anything and run with the rights of the caller: hence
-- VOLATILE and UNSAFE.
--
-- ROWS are a guess, and no support function makes a better one.  It would have
-- to plan the text of the query while the call is being planned: a mistake in
-- the text would fail where the call is only explained, or never reached; its
-- tables would be locked, and its stable functions called, ahead of time; and
-- still nobody knew how many of the rows have near-duplicates.  So the guess
-- is on the side where it harms less.  Whoever expects too few rows looks up
-- each in the other table, all over the disk; whoever expects too many reads
-- that table once, as the call has most often just done itself.  100,000 rows
-- are enough for the planner to do so with tables of ten million.  COST says
-- no more than that the call is dear: it is made after whatever can keep it
-- from being made.
--
-- Columns of the query after the fingerprint confine the search to groups: only
-- rows that are equal in all of them make a pair.

CREATE FUNCTION simhash_pairs(
    query text, k bigint DEFAULT NULL,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL,
    OUT a bigint, OUT b bigint, OUT distance integer,
    OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_pairs'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs(
    text, bigint, text, text, double precision, text, bigint) IS
'all pairs of rows of a query (id, fingerprint, columns of groups) within distance k, and of similar documents';

CREATE FUNCTION simhash_pairs_as(
    id_type anyelement, query text, k bigint DEFAULT NULL,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL,
    OUT a anyelement, OUT b anyelement, OUT distance integer,
    OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_pairs'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs_as(
    anyelement, text, bigint, text, text, double precision, text, bigint) IS
'all pairs of rows of a query within distance k, with ids of a type of choice';

CREATE FUNCTION simhash_clusters(
    query text, k bigint DEFAULT NULL, kind text DEFAULT 'star',
    keep text DEFAULT 'lowest', min_size bigint DEFAULT 2,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL,
    OUT id bigint, OUT cluster bigint, OUT representative bigint,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters(
    text, bigint, text, text, bigint, text, text, double precision, text,
    bigint) IS
'the rows of a query (id, fingerprint, columns of groups) in clusters of near-duplicates';

CREATE FUNCTION simhash_clusters_as(
    id_type anyelement, query text, k bigint DEFAULT NULL,
    kind text DEFAULT 'star', keep text DEFAULT 'lowest',
    min_size bigint DEFAULT 2,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL,
    OUT id anyelement, OUT cluster bigint, OUT representative anyelement,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters_as(
    anyelement, text, bigint, text, text, bigint, text, text, double precision,
    text, bigint) IS
'the rows of a query in clusters, with ids of a type of choice';

CREATE FUNCTION simhash_components(
    query text,
    OUT id bigint, OUT cluster bigint, OUT representative bigint,
    OUT size bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_components'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_components(text) IS
'the ids that the pairs of a query (id, id) connect, in clusters';

CREATE FUNCTION simhash_components_as(
    id_type anyelement, query text,
    OUT id anyelement, OUT cluster bigint, OUT representative anyelement,
    OUT size bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_components'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_components_as(anyelement, text) IS
'the same with ids of a type of choice';

----------------------------------------------------------------------------
-- Reports about a table
----------------------------------------------------------------------------

-- The table may belong to somebody whom the caller does not trust: no code of
-- the owner's may run that would not run in a SELECT of the columns.  So the texts of
-- a report, a plan, a DELETE and a script are written by functions whose bodies are
-- bound to what they call when they are created, not by names that somebody could
-- plant.  What is known of the table comes from C (src/report); what decides which
-- rows go is one and the same call.
--
-- Nobody knows beforehand how many rows they will find, so that PostgreSQL would have
-- their statements compiled, which takes seconds, for a report of milliseconds: each of
-- these functions turns the JIT compiler off.

CREATE FUNCTION _simhash_dedup_table(
    relation regclass, fingerprint text, k bigint, kind text, keep text,
    within text[], document text, similarity text, at_least double precision,
    profile text, at_most bigint, apart regclass, condition text, moment text,
    near_in interval, reports boolean,
    OUT name text, OUT source text, OUT place text, OUT id text, OUT key text,
    OUT rows text, OUT fp text, OUT doc text, OUT similarity text,
    OUT profile text, OUT bound text, OUT series text, OUT k bigint,
    OUT decides boolean, OUT by_text boolean, OUT arrays boolean,
    OUT at_most bigint, OUT compared text[])
RETURNS record
AS 'MODULE_PATHNAME', 'simhash_dedup_table'
LANGUAGE C STABLE PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION _simhash_dedup_table(
    regclass, text, bigint, text, text, text[], text, text, double precision,
    text, bigint, regclass, text, text, interval, boolean) IS
'internal: what the texts of a report and of a removal are made of';

CREATE FUNCTION _simhash_plan_rows(
    relation regclass, query text, apart regclass,
    OUT gone text[], OUT kept text[], OUT distance integer,
    OUT similarity double precision, OUT doubt text, OUT family bigint,
    OUT differs text, OUT evidence bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_query_rows'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000
-- Keys are read by sessions with other settings.
SET datestyle = 'ISO' SET intervalstyle = 'postgres'
SET extra_float_digits = 1 SET bytea_output = 'hex';
COMMENT ON FUNCTION _simhash_plan_rows(regclass, text, regclass) IS
'internal: the rows of a plan, by the query for it';

CREATE FUNCTION _simhash_report_rows(
    relation regclass, query text, apart regclass,
    OUT kind text, OUT cluster bigint, OUT n bigint, OUT bytes bigint,
    OUT distance integer, OUT similarity double precision,
    OUT doubt text, OUT family bigint, OUT value text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_query_rows'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION _simhash_report_rows(regclass, text, regclass) IS
'internal: what a report is made of, by the query for it';

-- The foreign keys to a table, or to partitions and children of it: without those that
-- another of them has made, but with what a key to a table that it is a partition of has
-- made for it.
CREATE FUNCTION _simhash_referring(relation regclass)
RETURNS SETOF oid
LANGUAGE sql STABLE PARALLEL SAFE COST 100 ROWS 10
SET jit = off
BEGIN ATOMIC
WITH RECURSIVE tree AS (
    SELECT relation::oid AS oid
    UNION
    SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = tree.oid
), keys AS (
    SELECT c.oid, conparentid FROM pg_constraint AS c JOIN tree ON confrelid = tree.oid
    WHERE contype = 'f'
)
SELECT oid FROM keys WHERE conparentid NOT IN (SELECT oid FROM keys);
END;
COMMENT ON FUNCTION _simhash_referring(regclass) IS
'internal: the foreign keys whose rows refer to those of a table';

-- Of a table of which rows go, move or come back: its columns, those that an INSERT can
-- set, the generated ones, and the columns of its primary key with the operators by which
-- they are equal; none unless all of it is by operators of the server.
CREATE FUNCTION _simhash_removal_columns(
    relation regclass, OUT every text[], OUT settable text[], OUT generated text[],
    OUT key text[], OUT equals text[])
RETURNS record
LANGUAGE sql STABLE PARALLEL SAFE COST 200
SET jit = off
BEGIN ATOMIC
WITH key AS (
    SELECT u.attnum, quote_ident(attname) AS name,
        format('OPERATOR(%I.%s)', nspname, oprname) AS equals
    FROM pg_index JOIN pg_class AS i ON i.oid = indexrelid JOIN pg_am AS m ON m.oid = relam,
        unnest(indkey::int2[], indclass::oid[]) AS u (attnum, class)
        JOIN pg_attribute AS a ON a.attrelid = relation AND a.attnum = u.attnum
        JOIN pg_opclass AS o ON o.oid = class
        JOIN pg_amop ON amopfamily = opcfamily AND amopstrategy = 3
            AND amoplefttype = opcintype AND amoprighttype = opcintype
        JOIN pg_operator AS e ON e.oid = amopopr
        JOIN pg_namespace AS s ON s.oid = oprnamespace
    WHERE indrelid = relation AND indisprimary AND amname = 'btree'
        AND NOT EXISTS (SELECT FROM unnest(indclass::oid[]) AS u (class) WHERE class >= 16384)
)
SELECT array_agg(quote_ident(attname) ORDER BY attnum),
    array_agg(quote_ident(attname) ORDER BY attnum) FILTER (WHERE attgenerated = ''),
    array_agg(quote_ident(attname) ORDER BY attnum) FILTER (WHERE attgenerated <> ''),
    (SELECT array_agg(name ORDER BY attnum) FROM key),
    (SELECT array_agg(key.equals ORDER BY attnum) FROM key)
FROM pg_attribute
WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped;
END;
COMMENT ON FUNCTION _simhash_removal_columns(regclass) IS
'internal: the columns of a table of which rows go, move or come back';

-- The foreign keys to a table: whose they are, whether rows of the table itself refer by
-- them, may be where others are once they move, are found by an index; the columns of
-- both sides, and by which operators they are equal; why the rows cannot move; which keys
-- would take rows along that refer to those that collide; and the action of the key.
CREATE FUNCTION _simhash_removal_keys(
    relation regclass, OUT oid oid, OUT child oid, OUT refers_to oid, OUT own boolean,
    OUT collides boolean, OUT indexed boolean, OUT theirs text[], OUT ours text[],
    OUT equals text[], OUT unfit text, OUT action text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 10
SET jit = off
BEGIN ATOMIC
SELECT c.oid, conrelid, confrelid,
    coalesce(pg_partition_root(conrelid), conrelid)
        = coalesce(pg_partition_root(relation), relation),
    collides,
    EXISTS (SELECT FROM pg_index
            WHERE indrelid = conrelid AND indisvalid AND indpred IS NULL AND indkey[0] = ANY (conkey)),
    columns.theirs, columns.ours,
    (SELECT array_agg(format('OPERATOR(%I.%s)', nspname, oprname) ORDER BY n)
     FROM unnest(conpfeqop) WITH ORDINALITY AS u (operator, n)
         JOIN pg_operator AS o ON o.oid = operator JOIN pg_namespace AS s ON s.oid = oprnamespace),
    CASE WHEN EXISTS (SELECT FROM unnest(conkey, confkey) AS u (h, o)
                          JOIN pg_attribute AS h ON h.attrelid = conrelid AND h.attnum = u.h
                          JOIN pg_attribute AS o ON o.attrelid = confrelid AND o.attnum = u.o
                      WHERE ROW(h.atttypid, h.atttypmod, h.attcollation)
                          <> ROW(o.atttypid, o.atttypmod, o.attcollation)) THEN
        'its columns have other types or collations'
    WHEN EXISTS (SELECT FROM pg_attribute
                 WHERE attrelid = conrelid AND attnum = ANY (conkey) AND (attgenerated <> '' OR attidentity = 'a')) THEN
        'it is generated'
    WHEN 16384 <= ANY (conpfeqop) THEN
        'its operators are not those of the server'
    WHEN EXISTS (SELECT FROM pg_constraint AS x
                 WHERE x.conrelid = c.conrelid AND contype = 'f' AND x.conkey OPERATOR(pg_catalog.&&) c.conkey
                     AND (x.conkey <> c.conkey OR x.confrelid = c.confrelid AND x.confkey <> c.confkey
                          OR coalesce(pg_partition_root(x.confrelid), x.confrelid)
                              <> coalesce(pg_partition_root(c.confrelid), c.confrelid))) THEN
        'another foreign key has one of its columns'
    WHEN EXISTS (SELECT FROM _simhash_referring(conrelid) AS r (oid) JOIN pg_constraint AS x USING (oid)
                     JOIN pg_attribute AS o ON o.attrelid = x.confrelid AND o.attnum = ANY (x.confkey)
                     JOIN pg_attribute AS h ON h.attrelid = c.conrelid AND h.attname = o.attname
                 WHERE h.attnum = ANY (c.conkey) OR h.attgenerated <> '') THEN
        'a foreign key refers to one of its columns, or to a generated one'
    WHEN EXISTS (SELECT FROM pg_inherits JOIN pg_class AS p ON p.oid = inhparent
                 WHERE conrelid IN (inhparent, inhrelid) AND relkind <> 'p') THEN
        'inheritance'
    WHEN (SELECT amname FROM pg_class AS i JOIN pg_am AS a ON a.oid = relam WHERE i.oid = conindid) <> 'btree' THEN
        'periods' END,
    -- from 18 on, a key that is not enforced does nothing
    CASE WHEN to_jsonb(c) ->> 'conenforced' IS DISTINCT FROM 'false' THEN
        CASE confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT' END END
FROM _simhash_referring(relation) AS r (oid) JOIN pg_constraint AS c USING (oid)
    JOIN pg_class AS t ON t.oid = conrelid,
    LATERAL (SELECT array_agg(quote_ident(h.attname) ORDER BY n), array_agg(quote_ident(o.attname) ORDER BY n)
             FROM unnest(conkey, confkey) WITH ORDINALITY AS u (h, o, n)
                 JOIN pg_attribute AS h ON h.attrelid = conrelid AND h.attnum = u.h
                 JOIN pg_attribute AS o ON o.attrelid = confrelid AND o.attnum = u.o) AS columns (theirs, ours),
    -- an exclusion constraint is such an index, too; partitions may have their own
    LATERAL (SELECT EXISTS (
        SELECT FROM pg_index
        WHERE (indrelid = conrelid OR indrelid IN (SELECT relid FROM pg_partition_tree(conrelid)))
            AND (indisunique OR indisexclusion)
            AND (indexprs IS NOT NULL OR indpred IS NOT NULL OR EXISTS (
                SELECT FROM pg_attribute
                WHERE attrelid = indrelid AND attnum = ANY (indkey::int2[])
                    AND (quote_ident(attname) = ANY (columns.theirs) OR attgenerated <> '')))) AS collides) AS l
ORDER BY relname, c.oid;
END;
COMMENT ON FUNCTION _simhash_removal_keys(regclass) IS
'internal: the foreign keys to a table, and whether rows that refer by them can move';

-- What is known of the table, and texts: the call that decides which rows go
-- (decided), what is asked of documents (standard), and the arguments that are given, for
-- somebody to read (said).
CREATE FUNCTION _simhash_dedup_parts(
    relation regclass, fingerprint text, k bigint, kind text, keep text,
    within text[], document text, similarity text, at_least double precision,
    profile text, at_most bigint, apart regclass, condition text, moment text,
    near_in interval, reports boolean,
    OUT name text, OUT source text, OUT place text, OUT id text, OUT key text,
    OUT fp text, OUT doc text, OUT similarity text, OUT profile text,
    OUT k bigint, OUT decides boolean, OUT arrays boolean,
    OUT at_least double precision, OUT at_most bigint, OUT compared text[],
    OUT schema text, OUT decided text, OUT standard text, OUT said text)
RETURNS record
LANGUAGE sql STABLE PARALLEL UNSAFE COST 200
SET jit = off
-- Intervals are read by sessions with other settings.
SET intervalstyle = 'postgres'
BEGIN ATOMIC
SELECT p.name, source, place, id, key, fp, doc, p.similarity, p.profile, p.k,
    decides, arrays, bound::double precision, p.at_most, compared, schema,
    format(E'%s._simhash_plan_by_%s(\n'
           '        %L::pg_catalog.text,\n'
           '        k => %s::pg_catalog.int8, kind => %L::pg_catalog.text,\n'
           '        keep => ''first''::pg_catalog.text, min_size => 2::pg_catalog.int8,\n'
           '        document => %L::pg_catalog.text, similarity => %L::pg_catalog.text,\n'
           '        at_least => %s::pg_catalog.float8, profile => %L::pg_catalog.text,\n'
           '        at_most => %s::pg_catalog.int8, apart => %L::pg_catalog.text)',
           schema, CASE WHEN by_text THEN 'text' ELSE 'ctid' END, rows, p.k, kind,
           CASE WHEN decides THEN 'simhash document' END,
           CASE WHEN decides THEN p.similarity END,
           CASE WHEN decides AND bound IS NOT NULL THEN bound ELSE 'NULL' END,
           CASE WHEN decides THEN p.profile END,
           CASE WHEN decides AND p.at_most IS NOT NULL THEN p.at_most::text ELSE 'NULL' END,
           series),
    CASE WHEN fp = doc THEN NULL WHEN p.at_most IS NOT NULL THEN
        format('fingerprints at most %s bits apart', p.at_most)
    WHEN decides THEN
        format('%s >= %s', regexp_replace(p.similarity, '^alike.*', 'jaccard'), bound) END,
    said
FROM _simhash_dedup_table(relation, fingerprint, k, kind, keep, within, document, similarity,
        at_least, profile, at_most, apart, condition, moment, near_in, reports) AS p,
    LATERAL (SELECT string_agg(parameter || ' => ' || value, ', ' ORDER BY n) AS said
             FROM (VALUES
                 (1, 'relation', quote_literal(p.name)),
                 (2, 'fingerprint', quote_literal(fingerprint)),
                 (3, 'k', _simhash_dedup_parts.k::text),
                 (4, 'kind', quote_literal(nullif(kind, 'star'))),
                 (5, 'keep', quote_literal(keep)),
                 (6, 'within', quote_literal(nullif(within, '{}')::text)),
                 (7, 'document', quote_literal(document)),
                 (8, 'similarity', quote_literal(_simhash_dedup_parts.similarity)),
                 (9, 'at_least', at_least::text),
                 (10, 'profile', quote_literal(_simhash_dedup_parts.profile)),
                 (11, 'at_most', _simhash_dedup_parts.at_most::text),
                 (12, 'apart', (SELECT quote_literal(format('%I.%I', nspname, relname))
                                FROM pg_class AS c JOIN pg_namespace AS s ON s.oid = relnamespace
                                WHERE c.oid = apart)),
                 (13, 'condition', quote_literal(_simhash_dedup_parts.condition)),
                 (14, 'moment', quote_literal(_simhash_dedup_parts.moment)),
                 (15, 'near_in', quote_literal(near_in::text)))
                 AS v (n, parameter, value)) AS a,
    LATERAL (SELECT quote_ident(nspname) AS schema
             FROM pg_proc AS f JOIN pg_namespace AS s ON s.oid = pronamespace
             WHERE f.oid = '_simhash_dedup_table'::regproc) AS s;
END;
COMMENT ON FUNCTION _simhash_dedup_parts(
    regclass, text, bigint, text, text, text[], text, text, double precision,
    text, bigint, regclass, text, text, interval, boolean) IS
'internal: what a report, a plan and a DELETE have in common';

CREATE FUNCTION simhash_dedup_plan(
    relation regclass, fingerprint text, k bigint DEFAULT NULL,
    kind text DEFAULT 'star', keep text DEFAULT NULL,
    within text[] DEFAULT '{}',
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL, apart regclass DEFAULT NULL,
    condition text DEFAULT NULL, moment text DEFAULT NULL,
    near_in interval DEFAULT NULL,
    OUT gone text[], OUT kept text[], OUT distance integer,
    OUT similarity double precision, OUT needed double precision,
    OUT doubt text, OUT family bigint, OUT differs text, OUT compared text[],
    OUT evidence bigint)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000
SET jit = off
BEGIN ATOMIC
SELECT r.gone, r.kept, r.distance, r.similarity, CASE WHEN decides THEN p.at_least END,
    r.doubt, r.family, r.differs, compared, r.evidence
FROM _simhash_dedup_parts(relation, fingerprint, k, kind, keep, within, document, similarity,
        at_least, profile, at_most, apart, condition, moment, near_in, false) AS p,
    -- of rows on other servers nothing is kept, as no call removes them
    LATERAL (SELECT CASE WHEN place <> 'here' THEN 'NULL::pg_catalog.int8'
                 ELSE format('%s._simhash_hash_row(ROW(%s))', schema,
                             string_agg(format('t.%I', name), ', ' ORDER BY n)) END AS hash
             FROM unnest(compared) WITH ORDINALITY AS u (name, n)) AS h,
    LATERAL _simhash_plan_rows(relation, apart => coalesce(apart, relation), query => format(
        'SELECT g.key, s.key, p.distance, p.similarity, p.doubt, p.family, p.differs,'
        ' %6$s FROM %1$s AS p'
        ' JOIN (SELECT %2$s AS id, %3$s AS key, %4$s AS hash FROM %5$s AS t) AS g'
        ' ON g.id OPERATOR(pg_catalog.=) p.id'
        ' JOIN (SELECT %2$s AS id, %3$s AS key, %4$s AS hash FROM %5$s AS t) AS s'
        ' ON s.id OPERATOR(pg_catalog.=) p.representative'
        ' WHERE p.id OPERATOR(pg_catalog.<>) p.representative',
        decided, id, key, hash, source, CASE place WHEN 'here' THEN
            format('%s._simhash_hash_row(ROW(%s))', schema,
                   CASE p.similarity WHEN 'containment' THEN 'g.hash, s.hash, true'
                   ELSE 'least(g.hash, s.hash), greatest(g.hash, s.hash)' END) ELSE hash END)) AS r;
END;
COMMENT ON FUNCTION simhash_dedup_plan(
    regclass, text, bigint, text, text, text[], text, text, double precision,
    text, bigint, regclass, text, text, interval) IS
'the rows that the DELETE would take, each with the row that stays for it, and those that there is a doubt about';

-- The query for what a report says.  It sees the table by the names of the caller, so
-- all others are qualified.  A row of it is of a kind: "table" with the number of all
-- rows; "summary" with that of those that have a fingerprint (n) and of those without a
-- group (cluster); "center", that stays for others; "row", that goes, or would but for a
-- doubt; "shown", of the largest clusters; and "drawn", a pair by the fingerprints
-- alone, with its similarity.
CREATE FUNCTION _simhash_report_query(
    relation regclass, condition text, source text, id text, doc text, profile text,
    decides boolean, arrays boolean, decided text, schema text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE COST 100
SET jit = off
BEGIN ATOMIC
SELECT concat(
    format('WITH plan AS MATERIALIZED (SELECT * FROM %s)'
        ' SELECT ''table'', NULL::pg_catalog.int8, pg_catalog.count(*),'
        ' NULL::pg_catalog.int8, NULL::pg_catalog.int4, NULL::pg_catalog.float8,'
        ' NULL, NULL::pg_catalog.int8, NULL FROM %s AS t%s'
        ' UNION ALL SELECT CASE WHEN p.id IS NULL THEN ''summary'''
        ' WHEN p.id OPERATOR(pg_catalog.=) p.representative THEN ''center'' ELSE ''row'' END,'
        ' p.cluster, p.size, %s, CASE WHEN p.id OPERATOR(pg_catalog.<>) p.representative THEN'
        ' p.distance END, p.similarity, p.doubt, p.family, p.differs FROM plan AS p',
        decided, source, ' WHERE (' || condition || ')',
        coalesce(CASE WHEN id IS NOT NULL THEN '28::pg_catalog.int8' || string_agg(
            format(' OPERATOR(pg_catalog.+) coalesce(pg_catalog.pg_column_size(t.%I), 0)', attname),
            '' ORDER BY attnum) FILTER (WHERE attgenerated <> 'v') END, 'NULL')),
    CASE WHEN id IS NOT NULL THEN format(
        ' LEFT JOIN %2$s AS t ON %1$s OPERATOR(pg_catalog.=) p.id'
        ' AND p.id OPERATOR(pg_catalog.<>) p.representative'
        ' UNION ALL SELECT ''shown'', p.cluster, NULL, NULL, NULL, NULL, NULL,'
        ' NULL, t.value FROM (SELECT id, cluster FROM plan'
        ' WHERE id OPERATOR(pg_catalog.=) representative'
        ' ORDER BY size DESC, cluster LIMIT 5) AS p JOIN (SELECT %1$s AS id,'
        ' pg_catalog.substring(pg_catalog.left(pg_catalog.concat(ROW(%3$s)), 154), %4$L) AS value'
        ' FROM %2$s AS t) AS t ON t.id OPERATOR(pg_catalog.=) p.id', id, source,
        -- not t.*, which has all of a row fetched where it is joined
        string_agg(format('t.%I', attname), ', ' ORDER BY attnum),
        -- in SQL_ASCII, where UTF-8 has several characters for one, not within it
        '^.{0,150}(?![\u0080-\u00BF])') END,
    CASE WHEN NOT decides AND doc IS NOT NULL AND id IS NOT NULL THEN format(
        ' UNION ALL SELECT ''drawn'', NULL, NULL, NULL, NULL, %s.simhash_jaccard(g.doc, s.doc%s),'
        ' NULL, NULL, NULL FROM (SELECT id, representative FROM plan'
        ' WHERE id OPERATOR(pg_catalog.<>) representative'
        ' ORDER BY pg_catalog.hashtext(id::pg_catalog.text) LIMIT 1000) AS p'
        ' JOIN (SELECT %s AS id, %s AS doc FROM %s AS t) AS g'
        ' ON g.id OPERATOR(pg_catalog.=) p.id'
        ' JOIN (SELECT %3$s AS id, %4$s AS doc FROM %5$s AS t) AS s'
        ' ON s.id OPERATOR(pg_catalog.=) p.representative',
        schema, CASE WHEN NOT arrays THEN format(', %L::pg_catalog.text', profile) END,
        id, doc, source) END)
FROM pg_attribute WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped;
END;
COMMENT ON FUNCTION _simhash_report_query(
    regclass, text, text, text, text, text, boolean, boolean, text, text) IS
'internal: the query for what a report says';

-- What to do, by what is known of a table and its near-duplicates.
CREATE FUNCTION _simhash_report_advice(
    relation regclass, within text[], name text, place text, k bigint, standard text,
    at_least double precision, documents boolean, said text, total numeric, present numeric,
    alone numeric, rows bigint, doubtful bigint, bytes numeric, tried bigint, alike bigint,
    lowest numeric, OUT nth integer, OUT item text, OUT value text)
RETURNS SETOF record
LANGUAGE sql STABLE PARALLEL SAFE COST 1000 ROWS 5
SET jit = off
BEGIN ATOMIC
SELECT * FROM (VALUES
    (1, 'delete', CASE WHEN rows + doubtful > 0 THEN
        format('%s of %s rows (%s %%%s) could go, each within distance %s of a row'
               ' that would stay%s%s.%s', to_char(rows, 'FM999,999,999,990'),
               to_char(total, 'FM999,999,999,990'), round(100.0 * rows / total, 1),
               ', ' || pg_size_pretty(bytes), k, ' and similar to it (' || standard || ')',
               to_char(nullif(doubtful, 0), '"; there is a doubt about "FM999,999,999,990" more"'),
               CASE place WHEN 'view' THEN
            ' The rows of a materialized view are those of its tables: look there.'
        WHEN 'foreign' THEN ' Make the report on each server to have a plan.'
        WHEN 'distributed' THEN
            format(' simhash_dedup_sql(%s) writes the DELETE; read it before you run it.', said) END)
    ELSE format('No two rows%s are within distance %s%s.',
                CASE WHEN standard IS NOT NULL THEN ' of similar documents' END, k,
                CASE WHEN within <> '{}' THEN ' in a group' END) END),
    (2, 'estimate', CASE WHEN rows > 0 AND standard IS NULL THEN
        'Rows would go by their fingerprints alone: no document is compared.'
        || CASE WHEN documents IS NOT TRUE THEN
            ' Name the column of the documents, as in document => ''body''.'
        WHEN tried = 0 THEN ''
        ELSE format(' But of the %s rows that could go, %s were drawn at random and'
                    ' compared: %s %% of these have a similarity (jaccard) of %s or more to'
                    ' the row that would stay; the least similar has %s. Leave out'
                    ' similarity => ''none'' to have all compared.', rows, tried,
                    round(100.0 * alike / tried, 1), at_least, lowest) END END),
    (3, 'foreign keys', CASE WHEN rows > 0 THEN (
        SELECT format('Other rows, which are not counted, may refer to those that would go: %s.'
                      ' simhash_dedup_apply with children => ''move'' has them refer to'
                      ' those that stay.',
                      string_agg(format('%s (%s)', identity, conname), ', '
                                 ORDER BY i.schema COLLATE "C", i.name COLLATE "C", conname))
        FROM pg_constraint, pg_identify_object('pg_class'::regclass, conrelid, 0) AS i
        WHERE oid = ANY (ARRAY(SELECT _simhash_referring(relation)))
        HAVING count(*) > 0) END),
    -- a name of several lines would be another one in a line
    (4, 'to have a plan', CASE WHEN rows + doubtful > 0 AND place = 'here' AND name !~ E'[\n\r]' THEN
        format('CREATE TABLE plan AS SELECT * FROM simhash_dedup_plan(%s);', said) END),
    (5, 'to carry it out', CASE WHEN rows + doubtful > 0 AND place = 'here' AND name !~ E'[\n\r]' THEN
        format('CALL simhash_dedup_apply(%L, ''plan'', log => ''gone''%s);', name,
               CASE WHEN EXISTS (SELECT FROM _simhash_referring(relation)) THEN
                   ', children => ''move''' END) END),
    (6, 'no fingerprint', CASE WHEN total > present THEN
        format('The rows without a fingerprint (%s) match nothing and are not part of'
               ' this report.', total - present) END),
    (7, 'no group', CASE WHEN alone > 0 THEN
        format('The rows with a NULL in "within" or "moment" (%s) match nothing.', alone) END))
    AS l (nth, item, value)
WHERE l.value IS NOT NULL;
END;
COMMENT ON FUNCTION _simhash_report_advice(
    regclass, text[], text, text, bigint, text, double precision, boolean, text, numeric,
    numeric, numeric, bigint, bigint, numeric, bigint, bigint, numeric) IS
'internal: what a report advises';

CREATE FUNCTION simhash_report(
    relation regclass, fingerprint text, k bigint DEFAULT NULL, keep text DEFAULT NULL,
    within text[] DEFAULT '{}', document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL, apart regclass DEFAULT NULL, condition text DEFAULT NULL,
    moment text DEFAULT NULL, near_in interval DEFAULT NULL,
    OUT section text, OUT item text, OUT value text)
RETURNS SETOF record
LANGUAGE sql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 50
SET jit = off
BEGIN ATOMIC
WITH parts AS MATERIALIZED (
    SELECT * FROM _simhash_dedup_parts(relation, fingerprint, k, 'star', keep, within, document,
        similarity, at_least, profile, at_most, apart, condition, moment, near_in, true)
), found AS MATERIALIZED (
    SELECT r.*
    FROM parts AS p, LATERAL _simhash_report_rows(relation, _simhash_report_query(
        relation, condition, source, id, doc, p.profile, decides, arrays, decided, schema),
        coalesce(apart, relation)) AS r
), facts AS (
    SELECT sum(n) FILTER (WHERE kind = 'table') AS total,
        sum(n) FILTER (WHERE kind = 'summary') AS present,
        sum(cluster) FILTER (WHERE kind = 'summary') AS alone,
        count(*) FILTER (WHERE kind = 'center') AS clusters,
        count(*) FILTER (WHERE goes) AS rows,
        count(*) FILTER (WHERE kind = 'row' AND NOT goes) AS doubtful,
        count(*) FILTER (WHERE goes AND distance = 0) AS equal,
        sum(bytes) FILTER (WHERE goes) AS bytes,
        round((min(f.similarity) FILTER (WHERE goes))::numeric, 3) AS least,
        count(f.similarity) FILTER (WHERE kind = 'drawn') AS tried,
        count(*) FILTER (WHERE kind = 'drawn' AND f.similarity >= (SELECT p.at_least FROM parts AS p)) AS alike,
        round((min(f.similarity) FILTER (WHERE kind = 'drawn'))::numeric, 3) AS lowest
    FROM (SELECT *, kind = 'row' AND doubt IS NULL AS goes FROM found) AS f
), line (part, place, section, item, value) AS (
    SELECT l.* FROM facts AS f, parts, LATERAL (VALUES
        (0, 0::numeric, 'table', 'condition', simhash_report.condition),
        (0, 1, 'table', 'near in time', simhash_report.near_in || ', by ' || simhash_report.moment),
        (1, 0, 'table', 'rows', total::text),
        (2, 0, 'table', 'fingerprints', present::text),
        (3, 0, 'table', 'rows without a fingerprint', (total - present)::text),
        (4, 0, 'table', 'rows without a group', CASE WHEN within <> '{}' THEN alone::text END),
        (6, 0, 'duplicates', 'clusters', clusters::text),
        (7, 0, 'duplicates', 'redundant rows', rows::text),
        (8, 0, 'duplicates', 'redundant rows, same fingerprint', equal::text),
        (9, 0, 'duplicates', 'bytes of redundant rows', CASE WHEN id IS NOT NULL THEN coalesce(f.bytes, 0)::text END),
        (9, 1, 'duplicates', 'lowest similarity to the row that stays', least::text))
        AS l (part, place, section, item, value) WHERE l.value IS NOT NULL
    UNION ALL
    SELECT 9, 2, 'doubts', doubt, format('%s rows stay, though they are similar to another one:'
        ' %s simhash_dedup_plan lists them.', count(*), CASE WHEN doubt IN ('digits', 'signs') THEN
            format('%1$s differ. Where these mean nothing, take similarity => ''alike-but-%1$s''.', doubt)
        WHEN doubt = 'entries' THEN
            'they differ where nearly all rows near to them do, as the entries of a form.'
        WHEN doubt = 'order' THEN
            'words stand elsewhere, as a menu does, or a value in another entry.'
        ELSE 'a word stands for another, and too few rows are near to them to tell an entry from an edit.' END)
    FROM found WHERE doubt IS NOT NULL GROUP BY doubt
    UNION ALL
    (SELECT 9, 2 + row_number() OVER (ORDER BY count(*) DESC, family), 'families',
        format('family %s: %s', family, doubt), format('%s rows, as %s', count(*), left(min(f.value), 100))
    FROM found AS f WHERE doubt IS NOT NULL GROUP BY family, doubt ORDER BY count(*) DESC, family LIMIT 10)
    UNION ALL
    SELECT 10, nth, 'sizes', format('clusters of %s to %s rows', 1::bigint << nth, (2::bigint << nth) - 1), count(*)::text
    FROM (SELECT 64 - position(B'1' IN n::bit(64)) AS nth FROM found WHERE kind = 'center') AS f GROUP BY nth
    UNION ALL
    SELECT 11, distance, 'distances', format('redundant rows at distance %s', distance), count(*)::text
    FROM found WHERE kind = 'row' AND doubt IS NULL GROUP BY distance
    UNION ALL
    SELECT 12, row_number() OVER (ORDER BY c.n DESC, cluster), 'largest clusters',
        format('%s rows, up to distance %s', c.n, max(f.distance)), max(f.value)
    FROM (SELECT cluster, n FROM found WHERE kind = 'center' ORDER BY n DESC, cluster LIMIT 5) AS c
        JOIN found AS f USING (cluster) GROUP BY cluster, c.n
    UNION ALL
    SELECT 13, a.nth, 'advice', a.item, a.value
    FROM facts, parts AS p, LATERAL _simhash_report_advice(relation, within, name, p.place, p.k,
        standard, p.at_least, doc <> fp, said, total, present, alone, rows, doubtful,
        facts.bytes, tried, alike, lowest) AS a
)
-- Each is one line, whatever names and texts hold.
SELECT section, item, regexp_replace(value, '[[:cntrl:]\u2028\u2029]+', ' ', 'g')
FROM line ORDER BY part, place, item;
END;
COMMENT ON FUNCTION simhash_report(
    regclass, text, bigint, text, text[], text, text, double precision, text,
    bigint, regclass, text, text, interval) IS
'summary of the near-duplicates in a table, or within groups of its rows, with advice';

-- Others may change the table meanwhile.  The clusters are those of the snapshot of
-- the statement, so each row of a cluster that loses one is locked before that goes.
-- Locking waits for a transaction that is changing the row.  If that has deleted the
-- row, it is not among those locked; if it has updated the row, the new version is
-- locked, which has another ctid.  A row is deleted only if it was locked as it was
-- found, and if the row that stays in its stead was, too, which nobody can change from
-- then on until the transaction ends.  Other rows of such a cluster stay until the
-- statement is run again.  Rows are always locked in the same order, so of two such
-- statements one waits for the other, and never the other way round.  Rows are not
-- locked in a distributed table: Citus does not join it with the clusters, which are
-- local, but compares its keys with a list of them.
CREATE FUNCTION simhash_dedup_sql(
    relation regclass, fingerprint text, k bigint DEFAULT NULL,
    kind text DEFAULT 'star', keep text DEFAULT NULL,
    within text[] DEFAULT '{}', document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL, apart regclass DEFAULT NULL,
    condition text DEFAULT NULL, moment text DEFAULT NULL,
    near_in interval DEFAULT NULL)
RETURNS text
LANGUAGE sql STABLE PARALLEL UNSAFE COST 100
SET jit = off
BEGIN ATOMIC
WITH parts AS MATERIALIZED (
    SELECT p.*, place = 'distributed' AS distributed,
        format(E'%s\n    WHERE id OPERATOR(pg_catalog.<>) representative AND doubt IS NULL',
               decided) AS redundant
    FROM _simhash_dedup_parts(relation, fingerprint, k, kind, keep, within, document,
                              similarity, at_least, profile, at_most, apart, condition,
                              moment, near_in, false) AS p
), remarks (n, line) AS (
    SELECT 1, CASE WHEN standard IS NULL THEN
            E'by an estimate: rows go by their fingerprints, no document is compared;\n'
            '-- simhash_report says how similar they are, where it can read the documents'
        ELSE format('each row that goes is similar to %s: %s',
                    CASE WHEN kind = 'star' THEN 'the row that stays'
                    ELSE 'another row of its cluster' END,
                    translate(standard, E'\n\r', '  ')) END
    FROM parts
    UNION ALL
    SELECT 2, 'and only for an edit; simhash_dedup_plan lists where other words, digits or signs stand'
    FROM parts WHERE decides AND parts.similarity = 'alike'
    UNION ALL
    SELECT 2, translate(of_rows, E'\n\r', '  ')
    FROM (VALUES ('of rows that meet the condition: ' || simhash_dedup_sql.condition),
          ('within ' || near_in || ' of it, by ' || simhash_dedup_sql.moment)) AS v (of_rows)
    WHERE of_rows IS NOT NULL
    UNION ALL
    SELECT 2 + row_number() OVER (ORDER BY nspname, relname, conname),
        translate(format('%I.%I refers to it by %I: %s', nspname, relname, conname,
                         CASE confdeltype
                         WHEN 'c' THEN 'ON DELETE CASCADE takes rows along'
                         WHEN 'n' THEN 'ON DELETE SET NULL'
                         WHEN 'd' THEN 'ON DELETE SET DEFAULT'
                         ELSE 'may refuse the DELETE' END), E'\n\r', '  ')
    FROM pg_constraint JOIN pg_class AS c ON c.oid = conrelid
        JOIN pg_namespace AS s ON s.oid = relnamespace
    WHERE pg_constraint.oid IN (SELECT _simhash_referring(relation))
    UNION ALL
    SELECT 1000000, 'row security: only rows that you may see'
    WHERE row_security_active(relation)
    UNION ALL
    SELECT 1000001, format(E'distributed: rows are not locked; before it, in the same transaction,\n'
        '-- LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', translate(name, E'\n\r', '  '))
    FROM parts WHERE distributed
)
SELECT (SELECT string_agg(format(E'-- %s\n', line), '' ORDER BY n) FROM remarks)
    || CASE WHEN distributed THEN
        format(E'DELETE FROM %s AS t\nWHERE %s OPERATOR(pg_catalog.=) ANY (\n'
               '    SELECT id FROM %s)%s', name, id, redundant, E'\n    AND (' || condition || ')')
    ELSE
        format(E'WITH redundant AS MATERIALIZED (\n'
               '    SELECT id, representative\n'
               '    FROM %1$s\n'
               '), locked AS MATERIALIZED (\n'
               '    SELECT %2$s AS id\n'
               '    FROM %3$s AS t JOIN (\n'
               '        SELECT id FROM redundant\n'
               '        UNION SELECT representative FROM redundant) AS r\n'
               '        ON %2$s OPERATOR(pg_catalog.=) r.id\n'
               '    ORDER BY t.tableoid, t.ctid FOR UPDATE OF t\n'
               ')\n'
               'DELETE FROM %3$s AS t\n'
               'USING redundant AS r, locked AS gone, locked AS kept\n'
               'WHERE gone.id OPERATOR(pg_catalog.=) r.id\n'
               '    AND kept.id OPERATOR(pg_catalog.=) r.representative\n'
               '    AND %2$s OPERATOR(pg_catalog.=) r.id', redundant, id, source)
    END
FROM parts;
END;
COMMENT ON FUNCTION simhash_dedup_sql(
    regclass, text, bigint, text, text, text[], text, text, double precision,
    text, bigint, regclass, text, text, interval) IS
'the DELETE that would keep one row of each cluster, as text to read';

-- A hash of the values of a row: while that of two rows is the same, so is what was
-- decided of them.  Nothing that is planted fits a row better.
CREATE FUNCTION _simhash_hash_row(record)
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_hash_row'
LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION _simhash_hash_row(record) IS
'internal: a hash of the values of a row';

CREATE PROCEDURE simhash_dedup_apply(
    relation regclass, plan regclass, log text DEFAULT NULL,
    children text DEFAULT NULL, batch bigint DEFAULT 1000)
AS 'MODULE_PATHNAME', 'simhash_dedup_apply'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_dedup_apply(regclass, regclass, text, text, bigint) IS
'remove the rows that a plan says may go, in batches, with a log to put them back';

-- Its arguments are in the order of simhash_dedup_apply, so the log, without which
-- there is nothing to do, has to have a default.
CREATE PROCEDURE simhash_dedup_undo(
    relation regclass, plan regclass DEFAULT NULL, log regclass DEFAULT NULL)
AS 'MODULE_PATHNAME', 'simhash_dedup_undo'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_dedup_undo(regclass, regclass, regclass) IS
'put back what simhash_dedup_apply has kept in a log';

-- Internal: for the DELETE of simhash_dedup_sql, for commands about clusters that
-- keep themselves, and for share/report.sql, which call them with all arguments, of
-- just these types.  Whoever may create functions in the schema of the extension
-- could plant one that fits better than a polymorphic function, or than one with
-- defaults; none fits better than the very types.
--
-- ROWS is low, since the DELETE joins what they return three times: estimates
-- that grow with its cube would have it compiled (jit_above_cost) for any table.

CREATE FUNCTION _simhash_clusters_by_ctid(
    query text, k bigint, kind text, keep text, min_size bigint,
    document text, similarity text, at_least double precision, profile text,
    at_most bigint,
    OUT id tid, OUT cluster bigint, OUT representative tid,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters_alone'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION _simhash_clusters_by_ctid(
    text, bigint, text, text, bigint, text, text, double precision, text,
    bigint) IS
'internal: clusters that a column keeps, for ids of type tid';

CREATE FUNCTION _simhash_plan_by_ctid(
    query text, k bigint, kind text, keep text, min_size bigint,
    document text, similarity text, at_least double precision, profile text,
    at_most bigint, apart text,
    OUT id tid, OUT cluster bigint, OUT representative tid,
    OUT distance integer, OUT size bigint, OUT similarity double precision,
    OUT doubt text, OUT family bigint, OUT differs text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION _simhash_plan_by_ctid(
    text, bigint, text, text, bigint, text, text, double precision, text,
    bigint, text) IS
'internal: what simhash_dedup_plan is made of, for ids of type tid';

CREATE FUNCTION _simhash_clusters_by_text(
    query text, k bigint, kind text, keep text, min_size bigint,
    document text, similarity text, at_least double precision, profile text,
    at_most bigint,
    OUT id text, OUT cluster bigint, OUT representative text,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters_alone'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION _simhash_clusters_by_text(
    text, bigint, text, text, bigint, text, text, double precision, text,
    bigint) IS
'internal: clusters that a column keeps, for ids of type text';

CREATE FUNCTION _simhash_plan_by_text(
    query text, k bigint, kind text, keep text, min_size bigint,
    document text, similarity text, at_least double precision, profile text,
    at_most bigint, apart text,
    OUT id text, OUT cluster bigint, OUT representative text,
    OUT distance integer, OUT size bigint, OUT similarity double precision,
    OUT doubt text, OUT family bigint, OUT differs text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION _simhash_plan_by_text(
    text, bigint, text, text, bigint, text, text, double precision, text,
    bigint, text) IS
'internal: what simhash_dedup_plan is made of, for ids of type text';

----------------------------------------------------------------------------
-- Guard
----------------------------------------------------------------------------

-- Its arguments are those of CREATE TRIGGER: column, action, distance, options.
CREATE FUNCTION simhash_guard() RETURNS trigger
AS 'MODULE_PATHNAME', 'simhash_guard'
LANGUAGE C;
COMMENT ON FUNCTION simhash_guard() IS
'trigger that rejects, skips or marks rows that are near-duplicates of others';

-- Inserts rows, and returns those that it leaves out.
CREATE FUNCTION simhash_guard_load(
    relation regclass, query text,
    OUT id text, OUT near text, OUT distance integer, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_guard_load'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000;
COMMENT ON FUNCTION simhash_guard_load(regclass, text) IS
'inserts the rows of a query into a guarded table, and returns the near-duplicates left out';

-- Internal: stands in the statement of simhash_guard_load, before each row.
CREATE FUNCTION _simhash_guard_load_row(id anyelement) RETURNS boolean
AS 'MODULE_PATHNAME', '_simhash_guard_load_row'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION _simhash_guard_load_row(anyelement) IS
'internal: says which row of a load is at hand';

----------------------------------------------------------------------------
-- Clusters that keep themselves
----------------------------------------------------------------------------

-- Its condition says of which table; it takes no arguments.
CREATE FUNCTION simhash_cluster() RETURNS trigger
AS 'MODULE_PATHNAME', 'simhash_cluster'
LANGUAGE C;
COMMENT ON FUNCTION simhash_cluster() IS
'trigger that gives rows the ids of their clusters, made by simhash_add_clusters';

-- Internal: stands in the policy that binds a table of clusters to another table
-- (src/clusters/terms.c), and is never called.
CREATE FUNCTION _simhash_cluster_terms(record) RETURNS boolean
AS 'MODULE_PATHNAME', '_simhash_cluster_terms'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _simhash_cluster_terms(record) IS
'internal: holds by what the clusters of a table are kept';

CREATE FUNCTION simhash_current_cluster(
    relation regclass, cluster bigint, "column" name DEFAULT 'cluster')
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_current_cluster'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_current_cluster(regclass, bigint, name) IS
'what a cluster of a table is now, as clusters are merged';

-- They end the transaction between steps, where they may, and do what they do
-- with the rights of the owner of the table (src/clusters/step.c).

CREATE PROCEDURE simhash_add_clusters(
    relation regclass, fingerprint text, k bigint DEFAULT 3,
    kind text DEFAULT 'star', "column" name DEFAULT 'cluster',
    since name DEFAULT NULL, within text[] DEFAULT '{}',
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    at_most bigint DEFAULT NULL, indexed boolean DEFAULT true,
    schema name DEFAULT NULL, adopt boolean DEFAULT false)
AS 'MODULE_PATHNAME', 'simhash_add_clusters'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_add_clusters(
    regclass, text, bigint, text, name, name, text[], text, text,
    double precision, text, bigint, boolean, name, boolean) IS
'have a table keep the clusters of its rows in a column';

CREATE PROCEDURE simhash_drop_clusters(
    relation regclass, "column" name DEFAULT 'cluster')
AS 'MODULE_PATHNAME', 'simhash_drop_clusters'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_drop_clusters(regclass, name) IS
'undo what simhash_add_clusters has made';

CREATE PROCEDURE simhash_split_clusters(
    relation regclass, "column" name DEFAULT 'cluster')
AS 'MODULE_PATHNAME', 'simhash_split_clusters'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_split_clusters(regclass, name) IS
'have parts of clusters that are connected no more be clusters of their own';

-- It ends transactions, and waits for those of others.
CREATE PROCEDURE simhash_trim_clusters(
    relation regclass, "column" name DEFAULT 'cluster',
    older_than interval DEFAULT '0')
AS 'MODULE_PATHNAME', 'simhash_trim_clusters'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_trim_clusters(regclass, name, interval) IS
'take from the table of the clusters what no row is in any more';

CREATE FUNCTION simhash_check_clusters(
    relation regclass, "column" name DEFAULT 'cluster',
    OUT fault text, OUT number bigint, OUT example bigint, OUT remedy text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_check_clusters'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 10;
COMMENT ON FUNCTION simhash_check_clusters(regclass, name) IS
'what is not as it should be about the clusters of a table, and what mends it';

CREATE PROCEDURE simhash_mend_clusters(
    relation regclass, "column" name DEFAULT 'cluster',
    anew text DEFAULT NULL)
AS 'MODULE_PATHNAME', 'simhash_mend_clusters'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_mend_clusters(regclass, name, text) IS
'put right what simhash_check_clusters finds, and have rows join clusters anew';

-- Operators and functions that somebody has put into the schema beforehand may fit a
-- call above better than those that are meant.  None of that is to be part of what
-- others run.
SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
    planted text;
BEGIN
    WITH RECURSIVE member (classid, objid) AS (
        SELECT d.classid, d.objid
        FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
        WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
            AND e.extname = 'simhash'
        UNION
        SELECT d.classid, d.objid
        FROM member AS m JOIN pg_depend AS d
            ON d.refclassid = m.classid AND d.refobjid = m.objid
        WHERE d.deptype IN ('i', 'a')
    )
    SELECT pg_describe_object(d.refclassid, d.refobjid, 0) INTO planted
    FROM member AS m JOIN pg_depend AS d USING (classid, objid)
    WHERE d.refobjid >= 16384 AND d.deptype <> 'e'
        AND d.refclassid <> 'pg_namespace'::regclass
        AND (d.refclassid, d.refobjid) NOT IN (SELECT classid, objid FROM member)
    LIMIT 1;
    IF planted IS NOT NULL THEN
        RAISE 'extension "simhash" would call %', planted
            USING ERRCODE = 'duplicate_object',
            HINT = 'Create it in a schema of its own.';
    END IF;
END $$;
