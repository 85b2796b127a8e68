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
AS 'MODULE_PATHNAME', 'simhash_by_profile'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash(text, text) IS
'SimHash fingerprint of a document, by a profile';

CREATE FUNCTION simhash(document text, profile text, min_features bigint)
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_min_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 600;
COMMENT ON FUNCTION simhash(text, text, bigint) IS
'SimHash fingerprint of a document; NULL when it has too few features';

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
AS 'MODULE_PATHNAME', 'simhash_idf_send'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
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
    features text[], idf double precision[], profile text DEFAULT NULL)
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

-- Not STRICT: a profile of NULL is the default one, and an idf of NULL weighs
-- all features the same.
CREATE FUNCTION simhash_explain(
    a text, b text, profile text DEFAULT NULL, most bigint DEFAULT 10,
    OUT "bit" integer, OUT margin_a bigint, OUT margin_b bigint,
    OUT differs boolean, OUT features text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_explain'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5000 ROWS 64;
COMMENT ON FUNCTION simhash_explain(text, text, text, bigint) IS
'the bits of two fingerprints: margins, differences, features behind them';

CREATE FUNCTION simhash_explain(
    a text[], b text[], idf simhash_idf DEFAULT NULL, most bigint DEFAULT 10,
    OUT "bit" integer, OUT margin_a double precision,
    OUT margin_b double precision, OUT differs boolean, OUT features text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_word_explain'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5000 ROWS 64;
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
AS 'MODULE_PATHNAME', 'minhash_by_profile'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 500;
COMMENT ON FUNCTION minhash(text, text) IS
'MinHash fingerprint of a document, by a profile';

CREATE FUNCTION minhash(features text[]) RETURNS bigint
AS 'MODULE_PATHNAME', 'minhash_features'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(text[]) IS
'MinHash fingerprint of a set of features';

CREATE FUNCTION minhash(features text[], profile text) RETURNS bigint
AS 'MODULE_PATHNAME', 'minhash_features_by_profile'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 100;
COMMENT ON FUNCTION minhash(text[], text) IS
'MinHash fingerprint of a set of features, hashed as by a profile';

CREATE FUNCTION minhash_similarity(bigint, bigint) RETURNS double precision
AS 'MODULE_PATHNAME', 'minhash_similarity'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1;
COMMENT ON FUNCTION minhash_similarity(bigint, bigint) IS
'Jaccard similarity that the distance of two MinHash fingerprints estimates';

CREATE FUNCTION minhash_similarity(a bit, b bit) RETURNS double precision
AS 'MODULE_PATHNAME', 'minhash_similarity_bits'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION minhash_similarity(bit, bit) IS
'Jaccard similarity that the distance of two MinHash fingerprints estimates';

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
AS 'MODULE_PATHNAME', 'simhash_by_weights_bits'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bits(
    text[], bigint, double precision[], text) IS
'SimHash fingerprint of features with weights, in so many bits';

CREATE FUNCTION simhash_bits(
    lexemes tsvector, bits bigint,
    weights real[] DEFAULT '{0.1,0.2,0.4,1.0}')
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_tsvector_bits'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION simhash_bits(tsvector, bigint, real[]) IS
'SimHash fingerprint of lexemes, weighted by label, in so many bits';

CREATE FUNCTION simhash_tfidf_bits(
    document text, idf simhash_idf, bits bigint, top_k bigint DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_tfidf_bits'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1400;
COMMENT ON FUNCTION simhash_tfidf_bits(text, simhash_idf, bigint, bigint) IS
'SimHash fingerprint of a document by TF-IDF, in so many bits';

CREATE FUNCTION simhash_tfidf_bits(
    features text[], idf simhash_idf, bits bigint, top_k bigint DEFAULT NULL)
RETURNS bit
AS 'MODULE_PATHNAME', 'simhash_word_tfidf_bits'
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

----------------------------------------------------------------------------
-- Choosing a profile and a distance
----------------------------------------------------------------------------

-- Volatile: it runs a query, and draws a random sample of what that returns.
-- Not STRICT: a NULL profile, family or similarity is as the query tells.
CREATE FUNCTION simhash_tune(
    query text, sample bigint DEFAULT 1000, profile text DEFAULT NULL,
    family text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT 0.8,
    OUT k integer, OUT pairs bigint, OUT "precision" double precision,
    OUT recall double precision, OUT comparisons double precision,
    OUT recommended boolean, OUT advice text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_tune'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 25;
COMMENT ON FUNCTION simhash_tune(
    text, bigint, text, text, text, double precision) IS
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

CREATE FUNCTION simhash_similarity(a bigint, b bigint)
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_similarity'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1;
COMMENT ON FUNCTION simhash_similarity(bigint, bigint) IS
'cosine similarity that the distance of two SimHash fingerprints estimates';

CREATE FUNCTION simhash_similarity(a bit, b bit)
RETURNS double precision
AS 'MODULE_PATHNAME', 'simhash_similarity_bits'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION simhash_similarity(bit, bit) IS
'cosine similarity that the distance of two SimHash fingerprints estimates';

CREATE FUNCTION hamming_near(a bigint, b bigint) RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_near'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_near(bigint, bigint) IS
'implementation of ~= operator';

CREATE FUNCTION hamming_within(fingerprint bigint, ball hamming_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_within'
LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_within(bigint, hamming_ball) IS
'implementation of <@ operator';

CREATE FUNCTION hamming_contains(ball hamming_ball, fingerprint bigint)
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

CREATE FUNCTION hamming_reach(center bigint, distance bigint)
RETURNS hamming_ball
AS 'MODULE_PATHNAME', 'hamming_reach'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_reach(bigint, bigint) IS
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
-- were two; so would calls of the other functions.  None of this is LEAKPROOF:
-- to compare bit strings of different widths is an error.

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

CREATE FUNCTION hamming_bit_within(fingerprint bit, ball hamming_bit_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_within'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_bit_within(bit, hamming_bit_ball) IS
'implementation of <@ operator';

CREATE FUNCTION hamming_bit_contains(ball hamming_bit_ball, fingerprint bit)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_contains'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_bit_contains(hamming_bit_ball, bit) IS
'implementation of @> operator';

CREATE FUNCTION hamming_bit_balls_near(a hamming_bit_ball, b hamming_bit_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_balls_near'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION hamming_bit_balls_near(hamming_bit_ball, hamming_bit_ball) IS
'implementation of ~= operator';

CREATE FUNCTION hamming_within(a bit, b bit, k bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_within_k'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1
SUPPORT hamming_support;
COMMENT ON FUNCTION hamming_within(bit, bit, bigint) IS
'true if the bit strings differ in at most k bits';

CREATE FUNCTION hamming_bit_reach(center bit, distance bigint)
RETURNS hamming_bit_ball
AS 'MODULE_PATHNAME', 'hamming_bit_reach'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_bit_reach(bit, bigint) IS
'the ball of all within any distance; NULL if that is negative';

CREATE OPERATOR <~~> (
    FUNCTION = hamming, LEFTARG = bit, RIGHTARG = bit,
    COMMUTATOR = <~~>);
COMMENT ON OPERATOR <~~> (bit, bit) IS 'Hamming distance';

CREATE OPERATOR <@ (
    FUNCTION = hamming_bit_within, LEFTARG = bit, RIGHTARG = hamming_bit_ball,
    COMMUTATOR = @>, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR <@ (bit, hamming_bit_ball) IS
'within the radius of the center';

CREATE OPERATOR @> (
    FUNCTION = hamming_bit_contains, LEFTARG = hamming_bit_ball, RIGHTARG = bit,
    COMMUTATOR = <@, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR @> (hamming_bit_ball, bit) IS
'has within the radius of its center';

CREATE OPERATOR ~= (
    FUNCTION = hamming_bit_balls_near,
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
CREATE OPERATOR FAMILY integer_equal_ops USING hamming;
COMMENT ON OPERATOR FAMILY integer_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
CREATE OPERATOR FAMILY text_equal_ops USING hamming;
COMMENT ON OPERATOR FAMILY text_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS int2_equal_ops
DEFAULT FOR TYPE smallint USING hamming FAMILY integer_equal_ops AS
    OPERATOR 4 pg_catalog.= (smallint, smallint),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashint2extended(smallint, bigint);
COMMENT ON OPERATOR CLASS int2_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS int4_equal_ops
DEFAULT FOR TYPE integer USING hamming FAMILY integer_equal_ops AS
    OPERATOR 4 pg_catalog.= (integer, integer),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashint4extended(integer, bigint);
COMMENT ON OPERATOR CLASS int4_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS int8_equal_ops
FOR TYPE bigint USING hamming FAMILY integer_equal_ops AS
    OPERATOR 4 pg_catalog.= (bigint, bigint),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashint8extended(bigint, bigint);
COMMENT ON OPERATOR CLASS int8_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS text_equal_ops
DEFAULT FOR TYPE text USING hamming FAMILY text_equal_ops AS
    OPERATOR 4 pg_catalog.= (text, text),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashtextextended(text, bigint);
COMMENT ON OPERATOR CLASS text_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS name_equal_ops
DEFAULT FOR TYPE name USING hamming FAMILY text_equal_ops AS
    OPERATOR 4 pg_catalog.= (name, name),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashnameextended(name, bigint);
COMMENT ON OPERATOR CLASS name_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS bpchar_equal_ops
DEFAULT FOR TYPE character USING hamming AS
    OPERATOR 4 pg_catalog.= (character, character),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashbpcharextended(character, bigint);
COMMENT ON OPERATOR CLASS bpchar_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY bpchar_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS char_equal_ops
DEFAULT FOR TYPE "char" USING hamming AS
    OPERATOR 4 pg_catalog.= ("char", "char"),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS char_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY char_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS uuid_equal_ops
DEFAULT FOR TYPE uuid USING hamming AS
    OPERATOR 4 pg_catalog.= (uuid, uuid),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.uuid_hash_extended(uuid, bigint);
COMMENT ON OPERATOR CLASS uuid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY uuid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS bool_equal_ops
DEFAULT FOR TYPE boolean USING hamming AS
    OPERATOR 4 pg_catalog.= (boolean, boolean),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS bool_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY bool_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS date_equal_ops
DEFAULT FOR TYPE date USING hamming AS
    OPERATOR 4 pg_catalog.= (date, date),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashint4extended(integer, bigint);
COMMENT ON OPERATOR CLASS date_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY date_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS timestamp_equal_ops
DEFAULT FOR TYPE timestamp without time zone USING hamming AS
    OPERATOR 4 pg_catalog.= (timestamp without time zone, timestamp without time zone),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.timestamp_hash_extended(timestamp without time zone, bigint);
COMMENT ON OPERATOR CLASS timestamp_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY timestamp_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS timestamptz_equal_ops
DEFAULT FOR TYPE timestamp with time zone USING hamming AS
    OPERATOR 4 pg_catalog.= (timestamp with time zone, timestamp with time zone),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.timestamp_hash_extended(timestamp without time zone, bigint);
COMMENT ON OPERATOR CLASS timestamptz_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY timestamptz_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS bytea_equal_ops
DEFAULT FOR TYPE bytea USING hamming AS
    OPERATOR 4 pg_catalog.= (bytea, bytea),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashvarlenaextended(internal, bigint);
COMMENT ON OPERATOR CLASS bytea_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY bytea_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS oid_equal_ops
DEFAULT FOR TYPE oid USING hamming AS
    OPERATOR 4 pg_catalog.= (oid, oid),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashoidextended(oid, bigint);
COMMENT ON OPERATOR CLASS oid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY oid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS numeric_equal_ops
DEFAULT FOR TYPE numeric USING hamming AS
    OPERATOR 4 pg_catalog.= (numeric, numeric),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hash_numeric_extended(numeric, bigint);
COMMENT ON OPERATOR CLASS numeric_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY numeric_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS enum_equal_ops
DEFAULT FOR TYPE anyenum USING hamming AS
    OPERATOR 4 pg_catalog.= (anyenum, anyenum),
    FUNCTION 1 pg_catalog.btint8cmp(bigint, bigint),
    FUNCTION 2 pg_catalog.hashenumextended(anyenum, bigint);
COMMENT ON OPERATOR CLASS enum_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY enum_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

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

-- Reads whole tables and keeps vacuum out meanwhile, so not for everybody.
CREATE FUNCTION hamming_index_check(
    index regclass, heapallindexed boolean DEFAULT false)
RETURNS void
AS 'MODULE_PATHNAME', 'hamming_index_check'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
REVOKE ALL ON FUNCTION hamming_index_check(regclass, boolean) FROM PUBLIC;
COMMENT ON FUNCTION hamming_index_check(regclass, boolean) IS
'raise an error if a hamming index is damaged or does not agree with its table';

----------------------------------------------------------------------------
-- Key columns
----------------------------------------------------------------------------

CREATE FUNCTION simhash_key(fingerprint bigint, block integer)
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
    relation regclass, source text,
    columns name[] DEFAULT '{k0,k1,k2,k3}', within name[] DEFAULT '{}')
RETURNS void
AS 'MODULE_PATHNAME', 'simhash_add_keys'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION simhash_add_keys(regclass, text, name[], name[]) IS
'add the four key columns, generated from the source, and their indexes';

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
    query text, k bigint DEFAULT 3,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    OUT a bigint, OUT b bigint, OUT distance integer,
    OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_pairs'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs(
    text, bigint, text, text, double precision, text) IS
'all pairs of rows of a query (id, fingerprint, columns of groups) within distance k, and of similar documents';

CREATE FUNCTION simhash_pairs_as(
    id_type anyelement, query text, k bigint DEFAULT 3,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    OUT a anyelement, OUT b anyelement, OUT distance integer,
    OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_pairs'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs_as(
    anyelement, text, bigint, text, text, double precision, text) IS
'all pairs of rows of a query within distance k, with ids of a type of choice';

CREATE FUNCTION simhash_clusters(
    query text, k bigint DEFAULT 3, kind text DEFAULT 'connected',
    keep text DEFAULT 'lowest', min_size bigint DEFAULT 2,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    OUT id bigint, OUT cluster bigint, OUT representative bigint,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters(
    text, bigint, text, text, bigint, text, text, double precision, text) IS
'the rows of a query (id, fingerprint, columns of groups) in clusters of near-duplicates';

CREATE FUNCTION simhash_clusters_as(
    id_type anyelement, query text, k bigint DEFAULT 3,
    kind text DEFAULT 'connected', keep text DEFAULT 'lowest',
    min_size bigint DEFAULT 2,
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    OUT id anyelement, OUT cluster bigint, OUT representative anyelement,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters_as(
    anyelement, text, bigint, text, text, bigint, text, text, double precision,
    text) IS
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

----------------------------------------------------------------------------
-- Reports about a table
----------------------------------------------------------------------------

-- The table may belong to somebody whom the caller does not trust: no code of
-- the owner's may run that would not run in a SELECT of the columns.  So both are
-- in C: there what is called is known, and not by a name
-- (src/report/simhash_report.c).

CREATE FUNCTION simhash_report(
    relation regclass, fingerprint text, k bigint DEFAULT 3,
    within text[] DEFAULT '{}',
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL,
    OUT section text, OUT item text, OUT value text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_report'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 50;
COMMENT ON FUNCTION simhash_report(
    regclass, text, bigint, text[], text, text, double precision, text) IS
'summary of the near-duplicates in a table, or within groups of its rows, with advice';

CREATE FUNCTION simhash_dedup_sql(
    relation regclass, fingerprint text, k bigint DEFAULT 3,
    kind text DEFAULT 'star', keep text DEFAULT NULL,
    within text[] DEFAULT '{}',
    document text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, profile text DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'simhash_dedup_sql'
LANGUAGE C STABLE PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION simhash_dedup_sql(
    regclass, text, bigint, text, text, text[], text, text, double precision,
    text) IS
'the DELETE that would keep one row of each cluster, as text to read';

-- Internal: for the DELETE of simhash_dedup_sql, and for tools/report.sql, which
-- call them with all arguments, of just these types.  Whoever may create
-- functions in the schema of the extension could plant one that fits better than
-- a polymorphic function, or than one with defaults; none fits better than the
-- very types.
--
-- ROWS is low, since the DELETE joins what they return three times: estimates
-- that grow with its cube would have it compiled (jit_above_cost) for any table.

CREATE FUNCTION _simhash_clusters_by_ctid(
    query text, k bigint, kind text, keep text, min_size bigint,
    document text, similarity text, at_least double precision, profile text,
    OUT id tid, OUT cluster bigint, OUT representative tid,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION _simhash_clusters_by_ctid(
    text, bigint, text, text, bigint, text, text, double precision, text) IS
'internal: simhash_clusters_as for ids of type tid';

CREATE FUNCTION _simhash_clusters_by_text(
    query text, k bigint, kind text, keep text, min_size bigint,
    document text, similarity text, at_least double precision, profile text,
    OUT id text, OUT cluster bigint, OUT representative text,
    OUT distance integer, OUT size bigint, OUT similarity double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 1000;
COMMENT ON FUNCTION _simhash_clusters_by_text(
    text, bigint, text, text, bigint, text, text, double precision, text) IS
'internal: simhash_clusters_as for ids of type text';

CREATE FUNCTION _simhash_compared(
    relation regclass, fingerprint text, INOUT document text,
    INOUT similarity text, INOUT at_least double precision,
    INOUT profile text)
RETURNS record
AS 'MODULE_PATHNAME', 'simhash_compared'
LANGUAGE C STABLE PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION _simhash_compared(
    regclass, text, text, text, double precision, text) IS
'internal: what simhash_dedup_sql compares for such arguments';

----------------------------------------------------------------------------
-- Guard
----------------------------------------------------------------------------

-- Its arguments are those of CREATE TRIGGER: column, action, distance, options.
CREATE FUNCTION simhash_guard() RETURNS trigger
AS 'MODULE_PATHNAME', 'simhash_guard'
LANGUAGE C;
COMMENT ON FUNCTION simhash_guard() IS
'trigger that rejects, skips or marks rows that are near-duplicates of others';

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
CREATE FUNCTION _simhash_cluster_terms(VARIADIC "any") RETURNS boolean
AS 'MODULE_PATHNAME', '_simhash_cluster_terms'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION _simhash_cluster_terms(VARIADIC "any") IS
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
    relation regclass, fp name, k bigint DEFAULT 3, kind text DEFAULT 'star',
    "column" name DEFAULT 'cluster', since name DEFAULT NULL,
    within name[] DEFAULT '{}', document name DEFAULT NULL,
    profile text DEFAULT NULL, similarity text DEFAULT NULL,
    at_least double precision DEFAULT NULL, index boolean DEFAULT true,
    schema name DEFAULT NULL, adopt boolean DEFAULT false)
AS 'MODULE_PATHNAME', 'simhash_add_clusters'
LANGUAGE C;
COMMENT ON PROCEDURE simhash_add_clusters(
    regclass, name, bigint, text, name, name, name[], name, text, text,
    double precision, boolean, name, boolean) IS
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
    keep interval DEFAULT '0')
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
