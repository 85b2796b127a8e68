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

-- Not called simhash: simhash($1, $2, $3) would be ambiguous.
CREATE FUNCTION simhash_weighted(
    features text[], weights double precision[] DEFAULT NULL,
    profile text DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'simhash_weighted'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 500;
COMMENT ON FUNCTION simhash_weighted(text[], double precision[], text) IS
'SimHash fingerprint of features with weights, hashed as the profile does';

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

CREATE FUNCTION simhash_sums(document text, profile text DEFAULT NULL)
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'simhash_document_sums'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 600;
COMMENT ON FUNCTION simhash_sums(text, text) IS
'the 64 sums whose signs are the fingerprint of a document';

CREATE FUNCTION simhash_sums(
    features text[], weights double precision[] DEFAULT NULL,
    profile text DEFAULT NULL)
RETURNS double precision[]
AS 'MODULE_PATHNAME', 'simhash_sums'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 600;
COMMENT ON FUNCTION simhash_sums(text[], double precision[], text) IS
'the 64 sums whose signs are the fingerprint of features with weights';

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

CREATE FUNCTION simhash_agg_remove_feature(
    state internal, feature text, weight double precision)
RETURNS internal
AS 'MODULE_PATHNAME', 'simhash_agg_remove_feature'
LANGUAGE C IMMUTABLE PARALLEL SAFE;
COMMENT ON FUNCTION simhash_agg_remove_feature(internal, text, double precision) IS
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

CREATE FUNCTION simhash_confidence(
    document text, profile text DEFAULT NULL,
    OUT features integer, OUT weight bigint, OUT weakest bigint,
    OUT ties integer, OUT fragile integer)
AS 'MODULE_PATHNAME', 'simhash_confidence'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION simhash_confidence(text, text) IS
'how firm a fingerprint is: features, weakest margin, ties, fragile bits';

CREATE FUNCTION simhash_explain(
    a text[], b text[], idf simhash_idf DEFAULT NULL, most bigint DEFAULT 10,
    OUT "bit" integer, OUT margin_a double precision,
    OUT margin_b double precision, OUT differs boolean, OUT features text[])
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_word_explain'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 5000 ROWS 64;
COMMENT ON FUNCTION simhash_explain(text[], text[], simhash_idf, bigint) IS
'the same for features that are given';

CREATE FUNCTION simhash_confidence(
    features text[], idf simhash_idf DEFAULT NULL,
    OUT features integer, OUT weight double precision,
    OUT weakest double precision, OUT ties integer, OUT fragile integer)
AS 'MODULE_PATHNAME', 'simhash_word_confidence'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 2000;
COMMENT ON FUNCTION simhash_confidence(text[], simhash_idf) IS
'how firm the fingerprint of features that are given is';

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

CREATE FUNCTION minhash_bits(features text[], bits bigint) RETURNS bit
AS 'MODULE_PATHNAME', 'minhash_features_bits'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 300;
COMMENT ON FUNCTION minhash_bits(text[], bigint) IS
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

----------------------------------------------------------------------------
-- Choosing a profile and a distance
----------------------------------------------------------------------------

-- Volatile: it runs a query, and draws a random sample of what that returns.
CREATE FUNCTION simhash_tune(
    query text, sample bigint DEFAULT 1000,
    profile text DEFAULT 'word-2-capped', family text DEFAULT 'simhash',
    similarity double precision DEFAULT 0.5, measure text DEFAULT 'jaccard',
    OUT k integer, OUT pairs bigint, OUT "precision" double precision,
    OUT recall double precision, OUT f1 double precision,
    OUT recommended boolean, OUT verified_f1 double precision,
    OUT verifications double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_tune'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 1000000 ROWS 25;
COMMENT ON FUNCTION simhash_tune(
    text, bigint, text, text, double precision, text) IS
'precision and recall of searches within each distance, on documents of yours';

-- Not STRICT: without another document its own words are put into it.
CREATE FUNCTION simhash_edits(
    document text, other text DEFAULT NULL,
    OUT edit text, OUT light boolean, OUT edited text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_edits'
LANGUAGE C IMMUTABLE PARALLEL SAFE COST 1000 ROWS 10;
COMMENT ON FUNCTION simhash_edits(text, text) IS
'copies of a document, each edited in another way, with words of another one';

-- Volatile: it runs a query.  Not STRICT: NULLs mean the usual profiles and the
-- light edits.
CREATE FUNCTION simhash_tune_edits(
    query text, sample bigint DEFAULT 200, profiles text[] DEFAULT NULL,
    edits text[] DEFAULT NULL,
    OUT family text, OUT profile text, OUT k integer, OUT copies bigint,
    OUT recall double precision, OUT worst_edit text,
    OUT worst_recall double precision, OUT strangers double precision)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_tune_edits'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 102;
COMMENT ON FUNCTION simhash_tune_edits(text, bigint, text[], text[]) IS
'which share of light edits of your documents is found within each distance';

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
AS 'MODULE_PATHNAME', 'hamming_bits'
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

CREATE FUNCTION hamming_bits_within(fingerprint bit, ball hamming_bit_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bits_within'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_bits_within(bit, hamming_bit_ball) IS
'implementation of <@ operator';

CREATE FUNCTION hamming_bits_contains(ball hamming_bit_ball, fingerprint bit)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bits_contains'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 1;
COMMENT ON FUNCTION hamming_bits_contains(hamming_bit_ball, bit) IS
'implementation of @> operator';

CREATE FUNCTION hamming_bit_balls_near(a hamming_bit_ball, b hamming_bit_ball)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bit_balls_near'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 2;
COMMENT ON FUNCTION hamming_bit_balls_near(hamming_bit_ball, hamming_bit_ball) IS
'implementation of ~= operator';

CREATE FUNCTION hamming_within(a bit, b bit, k bigint)
RETURNS boolean
AS 'MODULE_PATHNAME', 'hamming_bits_within_k'
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
    FUNCTION = hamming_bits_within, LEFTARG = bit, RIGHTARG = hamming_bit_ball,
    COMMUTATOR = @>, RESTRICT = hamming_sel, JOIN = hamming_joinsel);
COMMENT ON OPERATOR <@ (bit, hamming_bit_ball) IS
'within the radius of the center';

CREATE OPERATOR @> (
    FUNCTION = hamming_bits_contains, LEFTARG = hamming_bit_ball, RIGHTARG = bit,
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

-- Support function 1 compares what the index stores, which is bigint whatever
-- the type of the column; PostgreSQL's btree code, on which the index is built,
-- calls it.
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
    FUNCTION 1 (hamming_ball, hamming_ball)
        pg_catalog.btint8cmp(bigint, bigint),
    STORAGE bigint;
COMMENT ON OPERATOR CLASS hamming_ball_ops USING hamming IS
'balls, for exclusion constraints at a distance of choice';
COMMENT ON OPERATOR FAMILY hamming_ball_ops USING hamming IS
'balls, for exclusion constraints at a distance of choice';

-- Columns that divide the rows into groups, within which near-duplicates are
-- sought: an index on (site, fp).  Support function 1 is a 64-bit hash, that of
-- PostgreSQL's own hash operator class for the type.  The default class of
-- bigint is that of fingerprints, so (tenant_id int8_equal_ops, fp) needs the
-- name of another; it has no name to give in an exclusion constraint, where
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
    FUNCTION 1 pg_catalog.hashint2extended(smallint, bigint);
COMMENT ON OPERATOR CLASS int2_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS int4_equal_ops
DEFAULT FOR TYPE integer USING hamming FAMILY integer_equal_ops AS
    OPERATOR 4 pg_catalog.= (integer, integer),
    FUNCTION 1 pg_catalog.hashint4extended(integer, bigint);
COMMENT ON OPERATOR CLASS int4_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS int8_equal_ops
FOR TYPE bigint USING hamming FAMILY integer_equal_ops AS
    OPERATOR 4 pg_catalog.= (bigint, bigint),
    FUNCTION 1 pg_catalog.hashint8extended(bigint, bigint);
COMMENT ON OPERATOR CLASS int8_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS text_equal_ops
DEFAULT FOR TYPE text USING hamming FAMILY text_equal_ops AS
    OPERATOR 4 pg_catalog.= (text, text),
    FUNCTION 1 pg_catalog.hashtextextended(text, bigint);
COMMENT ON OPERATOR CLASS text_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS name_equal_ops
DEFAULT FOR TYPE name USING hamming FAMILY text_equal_ops AS
    OPERATOR 4 pg_catalog.= (name, name),
    FUNCTION 1 pg_catalog.hashnameextended(name, bigint);
COMMENT ON OPERATOR CLASS name_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS bpchar_equal_ops
DEFAULT FOR TYPE character USING hamming AS
    OPERATOR 4 pg_catalog.= (character, character),
    FUNCTION 1 pg_catalog.hashbpcharextended(character, bigint);
COMMENT ON OPERATOR CLASS bpchar_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY bpchar_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS char_equal_ops
DEFAULT FOR TYPE "char" USING hamming AS
    OPERATOR 4 pg_catalog.= ("char", "char"),
    FUNCTION 1 pg_catalog.hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS char_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY char_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS uuid_equal_ops
DEFAULT FOR TYPE uuid USING hamming AS
    OPERATOR 4 pg_catalog.= (uuid, uuid),
    FUNCTION 1 pg_catalog.uuid_hash_extended(uuid, bigint);
COMMENT ON OPERATOR CLASS uuid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY uuid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS bool_equal_ops
DEFAULT FOR TYPE boolean USING hamming AS
    OPERATOR 4 pg_catalog.= (boolean, boolean),
    FUNCTION 1 (boolean, boolean)
        pg_catalog.hashcharextended("char", bigint);
COMMENT ON OPERATOR CLASS bool_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY bool_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS date_equal_ops
DEFAULT FOR TYPE date USING hamming AS
    OPERATOR 4 pg_catalog.= (date, date),
    FUNCTION 1 (date, date)
        pg_catalog.hashint4extended(integer, bigint);
COMMENT ON OPERATOR CLASS date_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY date_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS timestamp_equal_ops
DEFAULT FOR TYPE timestamp without time zone USING hamming AS
    OPERATOR 4 pg_catalog.= (timestamp without time zone, timestamp without time zone),
    FUNCTION 1 pg_catalog.timestamp_hash_extended(timestamp without time zone, bigint);
COMMENT ON OPERATOR CLASS timestamp_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY timestamp_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS timestamptz_equal_ops
DEFAULT FOR TYPE timestamp with time zone USING hamming AS
    OPERATOR 4 pg_catalog.= (timestamp with time zone, timestamp with time zone),
    FUNCTION 1 (timestamp with time zone, timestamp with time zone)
        pg_catalog.timestamp_hash_extended(timestamp without time zone, bigint);
COMMENT ON OPERATOR CLASS timestamptz_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY timestamptz_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS bytea_equal_ops
DEFAULT FOR TYPE bytea USING hamming AS
    OPERATOR 4 pg_catalog.= (bytea, bytea),
    FUNCTION 1 (bytea, bytea)
        pg_catalog.hashvarlenaextended(internal, bigint);
COMMENT ON OPERATOR CLASS bytea_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY bytea_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS oid_equal_ops
DEFAULT FOR TYPE oid USING hamming AS
    OPERATOR 4 pg_catalog.= (oid, oid),
    FUNCTION 1 pg_catalog.hashoidextended(oid, bigint);
COMMENT ON OPERATOR CLASS oid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY oid_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS numeric_equal_ops
DEFAULT FOR TYPE numeric USING hamming AS
    OPERATOR 4 pg_catalog.= (numeric, numeric),
    FUNCTION 1 pg_catalog.hash_numeric_extended(numeric, bigint);
COMMENT ON OPERATOR CLASS numeric_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';
COMMENT ON OPERATOR FAMILY numeric_equal_ops USING hamming IS
'columns compared by =, beside a column of fingerprints';

CREATE OPERATOR CLASS enum_equal_ops
DEFAULT FOR TYPE anyenum USING hamming AS
    OPERATOR 4 pg_catalog.= (anyenum, anyenum),
    FUNCTION 1 pg_catalog.hashenumextended(anyenum, bigint);
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
    FUNCTION 1 (bit, bit) pg_catalog.btint8cmp(bigint, bigint),
    STORAGE bigint;
COMMENT ON OPERATOR CLASS bit_hamming_ops USING hamming IS
'bit strings of 32 to 1,024 bits, searched by <@ and ORDER BY <~~>';
COMMENT ON OPERATOR FAMILY bit_hamming_ops USING hamming IS
'bit strings of 32 to 1,024 bits, searched by <@ and ORDER BY <~~>';

CREATE OPERATOR CLASS hamming_bit_ball_ops
DEFAULT FOR TYPE hamming_bit_ball USING hamming AS
    OPERATOR 1 ~= (hamming_bit_ball, hamming_bit_ball),
    FUNCTION 1 (hamming_bit_ball, hamming_bit_ball)
        pg_catalog.btint8cmp(bigint, bigint),
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
    OUT a bigint, OUT b bigint, OUT distance integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_pairs'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs(text, bigint) IS
'all pairs of rows of a query (id, fingerprint, columns of groups) within distance k';

CREATE FUNCTION simhash_pairs_as(
    id_type anyelement, query text, k bigint DEFAULT 3,
    OUT a anyelement, OUT b anyelement, OUT distance integer)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_pairs'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_pairs_as(anyelement, text, bigint) IS
'all pairs of rows of a query within distance k, with ids of a type of choice';

CREATE FUNCTION simhash_clusters(
    query text, k bigint DEFAULT 3, kind text DEFAULT 'connected',
    keep text DEFAULT 'lowest', min_size bigint DEFAULT 2,
    OUT id bigint, OUT cluster bigint, OUT representative bigint,
    OUT distance integer, OUT size bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters(text, bigint, text, text, bigint) IS
'the rows of a query (id, fingerprint, columns of groups) in clusters of near-duplicates';

CREATE FUNCTION simhash_clusters_as(
    id_type anyelement, query text, k bigint DEFAULT 3,
    kind text DEFAULT 'connected', keep text DEFAULT 'lowest',
    min_size bigint DEFAULT 2,
    OUT id anyelement, OUT cluster bigint, OUT representative anyelement,
    OUT distance integer, OUT size bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters_as(
    anyelement, text, bigint, text, text, bigint) IS
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

-- Both functions are in PL/pgSQL, since all they do is to write queries and to
-- run them.  The table may belong to somebody whom the caller does not trust:
-- no code of the owner's may run that would not run in a SELECT of the columns.
--
-- Names are looked up with care.  Functions of this extension are called by its
-- schema, which need not be on the search_path.  Functions of PostgreSQL must
-- not be found in another schema, where anybody may have put one that fits
-- better.  But the expression for the fingerprint is the caller's, and its names
-- are for the caller's search_path.  So a query that contains the expression
-- runs with that search_path, and says pg_catalog at each name of its own; all
-- else runs with a search_path of pg_catalog.  Types of variables say pg_catalog
-- too, for they are looked up before the first statement sets the search_path.
--
-- No value of the table is cast to another type, not even a row: the owner may
-- have made such a cast.  simhash_check_fingerprint sees to it that the
-- fingerprint is a bigint or a bit string, or of a domain over these, so that
-- the cast to bigint or bit varying runs no code; and concat() writes a row by
-- the output functions of its types.

CREATE FUNCTION simhash_report(
    relation regclass, fingerprint text, k bigint DEFAULT 3,
    within text[] DEFAULT '{}',
    OUT section text, OUT item text, OUT value text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 50
AS $function$
DECLARE
    path pg_catalog.text := pg_catalog.current_setting('search_path');
    schema pg_catalog.text;     -- of this extension
    target pg_catalog.text;     -- the table
    elsewhere pg_catalog.text;  -- where its rows are, if not here
    key pg_catalog.text[];      -- the columns of the key of such rows
    source pg_catalog.text;     -- the table, or a copy of what is asked of it
    type pg_catalog.text;       -- of the fingerprint, without domains
    value_sql pg_catalog.text;  -- the fingerprint
    bytes_sql pg_catalog.text;  -- the size of a row
    stored pg_catalog.text;     -- the same, where the row is
    parted boolean;             -- it has children: ctid is not enough
    id pg_catalog.text;         -- what tells rows apart
    clusters pg_catalog.text;   -- the function that finds them
    columns pg_catalog.text[];  -- of groups
    listed pg_catalog.text;     -- these, each after a comma
    grouped pg_catalog.text;    -- the condition that none of them is null
    commands pg_catalog.text[];
    total bigint;               -- rows
    present bigint;             -- rows with a fingerprint
    matching bigint;            -- these, but for rows in no group
    mates double precision;     -- the sum of their groups' squared sizes
    expected double precision;  -- rows to a look-up if keys were even
    blocks pg_catalog.json;     -- how their keys are used
    lines pg_catalog.json;      -- what was found
    redundant bigint;           -- rows in clusters but the representatives
    bytes numeric;              -- that these take
    worst double precision := 1;    -- candidates of a look-up, compared with
                                    -- even keys
    referring pg_catalog.text;  -- foreign keys
    r record;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF relation IS NULL OR fingerprint IS NULL OR k IS NULL
       OR within IS NULL THEN
        RAISE null_value_not_allowed USING
            MESSAGE = 'relation, fingerprint, k and within must not be null';
    ELSIF (SELECT relkind NOT IN ('r', 'p', 'm', 'f') FROM pg_class
           WHERE oid = relation) THEN
        RAISE wrong_object_type USING
            MESSAGE = format('%s is not a table or materialized view', relation),
            HINT = 'simhash_clusters and simhash_pairs take any query.';
    END IF;
    schema := (SELECT extnamespace::regnamespace FROM pg_extension
               WHERE extname = 'simhash');
    target := (SELECT format('%I.%I', nspname, relname)
               FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
               WHERE c.oid = relation);
    commands[1] := format('SELECT %s.simhash_check_fingerprint($1, $2)', schema);
    PERFORM set_config('search_path', path, true);
    EXECUTE commands[1] INTO type USING relation, fingerprint;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    EXECUTE format('SELECT %s.simhash_elsewhere($1)', schema)
        INTO elsewhere USING relation;
    -- What a row takes where it is: its header, its pointer, and its columns, as
    -- they are compressed or stored apart; a whole row would have to be fetched.
    stored := '28::bigint' || (
        SELECT coalesce(string_agg(
            format(' OPERATOR(pg_catalog.+)'
                   ' coalesce(pg_catalog.pg_column_size(t.%I), 0)', attname),
            '' ORDER BY attnum), '')
        FROM pg_attribute
        WHERE attrelid = relation AND attnum > 0 AND NOT attisdropped
            AND attgenerated <> 'v');
    IF elsewhere IS NOT NULL THEN
        source := 'pg_temp.simhash_report_rows';
        value_sql := 't.simhash_fp';
        bytes_sql := 't.simhash_bytes';
    ELSE
        source := target;
        value_sql := fingerprint;
        bytes_sql := stored;
    END IF;
    parted := elsewhere IS NULL
        AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = relation);
    id := CASE WHEN parted THEN 'pg_catalog.concat(t.tableoid, t.ctid)'
          ELSE 't.ctid' END;
    clusters := CASE WHEN parted THEN 'simhash_clusters_by_text'
                ELSE 'simhash_clusters_by_ctid' END;
    EXECUTE format('SELECT %s.simhash_group_columns($1, $2)', schema)
        INTO columns USING relation, within;
    listed := coalesce((SELECT string_agg(', ' || c, '')
                        FROM unnest(columns) AS c), '');
    grouped := coalesce((SELECT string_agg(c || ' IS DISTINCT FROM NULL', ' AND ')
                         FROM unnest(columns) AS c), 'true');
    commands[1] := format($query$
        SELECT pg_catalog.sum(total), pg_catalog.sum(present),
               pg_catalog.sum(mates),
               pg_catalog.sum(mates OPERATOR(pg_catalog.*) mates)
        FROM (SELECT pg_catalog.count(*) AS total,
                     pg_catalog.count((%1$s)) AS present,
                     CASE WHEN %3$s THEN pg_catalog.count((%1$s)) END
                     ::pg_catalog.float8 AS mates
              FROM %2$s AS t GROUP BY ()%4$s) AS g$query$,
        value_sql, source, grouped, listed);

    -- How rows share keys: a look-up of a row's fingerprint reads, in each
    -- block, the rows of its group that have its key.  Bit strings have as many
    -- blocks of 16 bits as they have room for.
    commands[2] := format($query$
        SELECT pg_catalog.json_agg(b) FROM (
            SELECT block, pg_catalog.max(rows) AS most,
                   pg_catalog.sum(rows OPERATOR(pg_catalog.*) rows)
                   OPERATOR(pg_catalog./) pg_catalog.sum(rows) AS mean
            FROM (SELECT block, %7$s AS key,
                         pg_catalog.count(*)::pg_catalog.float8 AS rows
                  FROM (SELECT (%2$s)::%1$s%4$s FROM %3$s AS t
                        WHERE %5$s OFFSET 0) AS f (fp%6$s),
                       pg_catalog.generate_series(0, %8$s) AS block
                  WHERE fp IS NOT NULL GROUP BY 1, 2%6$s) AS g
            GROUP BY block) AS b$query$,
        type, value_sql, source, listed, grouped,
        coalesce((SELECT string_agg(', c' || n, '')
                  FROM generate_subscripts(columns, 1) AS n), ''),
        CASE WHEN type = 'pg_catalog.int8'
        THEN format('%s.simhash_key(fp, block)', schema)
        ELSE 'pg_catalog.substring(fp, block OPERATOR(pg_catalog.*) 16'
             ' OPERATOR(pg_catalog.+) 1, 16)' END,
        CASE WHEN type = 'pg_catalog.int8' THEN '3'
        ELSE 'pg_catalog.length(fp) OPERATOR(pg_catalog./) 16'
             ' OPERATOR(pg_catalog.-) 1' END);

    -- One search serves all that follows: that of the DELETE that
    -- simhash_dedup_sql writes, so that what is told is what would go.
    commands[3] := format($query$
        WITH member AS MATERIALIZED (
            SELECT *, id OPERATOR(pg_catalog.<>) representative AS redundant
            FROM %1$s.%3$I(
                %2$L::pg_catalog.text, %4$s::pg_catalog.int8,
                'star'::pg_catalog.text, %7$L::pg_catalog.text,
                2::pg_catalog.int8)
        ), cluster AS (
            SELECT cluster, representative, size,
                   pg_catalog.max(distance) AS farthest
            FROM member GROUP BY cluster, representative, size
        ), line AS (
        SELECT 1 AS part, 0::bigint AS place, pg_catalog.count(*) AS number,
               NULL::int AS farthest, NULL::pg_catalog.text AS value
        FROM cluster
        UNION ALL
        SELECT 2, 0, pg_catalog.count(*), NULL, NULL
        FROM member WHERE redundant
        UNION ALL
        SELECT 3, 0, pg_catalog.count(*), NULL, NULL
        FROM member WHERE redundant AND distance OPERATOR(pg_catalog.=) 0
        UNION ALL
        SELECT 4, 0, pg_catalog.sum(%8$s), NULL, NULL
        FROM %5$s AS t JOIN member AS m ON m.id OPERATOR(pg_catalog.=) %6$s
        WHERE m.redundant
        UNION ALL
        SELECT 5, pg_catalog.floor(pg_catalog.log(2, size))::bigint,
               pg_catalog.sum(number), NULL, NULL
        FROM (SELECT size, pg_catalog.count(*) AS number
              FROM cluster GROUP BY size) AS s GROUP BY 2
        UNION ALL
        SELECT 6, distance, pg_catalog.count(*), NULL, NULL
        FROM member WHERE redundant GROUP BY distance
        UNION ALL
        SELECT 7, c.cluster, c.size, c.farthest,
               %9$s
        FROM (SELECT * FROM cluster ORDER BY size DESC, cluster LIMIT 5) AS c
        JOIN %5$s AS t ON c.representative OPERATOR(pg_catalog.=) %6$s)
        SELECT pg_catalog.json_agg(line) FROM line$query$,
        schema,
        format('SELECT %s, (%s)%s FROM %s AS t WHERE (%2$s) IS NOT NULL',
               id, value_sql, listed, source) ||
        CASE WHEN parted THEN ' ORDER BY t.tableoid, t.ctid' ELSE '' END,
        clusters, k, source, id,
        CASE WHEN parted THEN 'first' ELSE 'lowest' END, bytes_sql,
        CASE WHEN elsewhere IS NULL
        THEN 'pg_catalog.left(pg_catalog.concat(t.*), 200)'
        ELSE 'pg_catalog.concat(t.simhash_fp)' END);

    -- What is elsewhere is fetched once, in the order that the DELETE has it
    -- in.  For a representative any row with its fingerprint will do: that is
    -- of the same cluster.
    IF elsewhere = 'distributed' THEN
        EXECUTE format('SELECT %s.simhash_row_key($1)', schema)
            INTO key USING relation;
    END IF;
    commands[4] := format($query$
        CREATE TEMPORARY TABLE simhash_report_rows AS
        SELECT (%s)::%s AS simhash_fp,
               %s AS simhash_bytes%s
        FROM %s AS t$query$, fingerprint, type, stored, listed, target) ||
        coalesce(' ORDER BY ' || array_to_string(key, ', '), '');
    commands[5] := format($query$
        SELECT pg_catalog.left(pg_catalog.concat(t.*), 200) FROM %2$s AS t
        WHERE %3$s(%1$s)::%4$s OPERATOR(pg_catalog.=) $1::%4$s LIMIT 1$query$,
        fingerprint, target,
        CASE WHEN type = 'pg_catalog.int8'
        THEN format('(%s) OPERATOR(%s.~=) $1::%s AND ', fingerprint, schema, type)
        END, type);
    EXECUTE format('SELECT FROM %s.simhash_clusters_by_ctid($1, $2, $3, $4, $5)',
                   schema)
        USING format('SELECT NULL::tid, NULL::%s LIMIT 0', type), k,
              text 'star', text 'first', bigint '2';

    PERFORM set_config('search_path', path, true);
    IF elsewhere IS NOT NULL THEN
        EXECUTE commands[4];
    END IF;
    EXECUTE commands[1] INTO total, present, matching, mates;
    EXECUTE commands[2] INTO blocks;
    EXECUTE commands[3] INTO lines;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    total := coalesce(total, 0);
    present := coalesce(present, 0);
    matching := coalesce(matching, 0);
    expected := 1 + (coalesce(mates / nullif(matching, 0), 0) - 1) / 65536;

    section := 'table';
    item := 'rows'; value := total; RETURN NEXT;
    item := 'fingerprints'; value := present; RETURN NEXT;
    item := 'rows without a fingerprint'; value := total - present; RETURN NEXT;
    IF columns <> '{}' THEN
        item := 'rows without a group';
        value := present - matching;
        RETURN NEXT;
    END IF;

    section := 'keys';
    FOR r IN SELECT * FROM json_to_recordset(blocks)
             AS (block int, most float8, mean float8) ORDER BY block LOOP
        item := format('block %s', r.block);
        value := format('%s rows to a look-up where %s are to be expected;'
                        ' its commonest key has %s %% of the rows',
                        round(r.mean), round(expected),
                        round((100 * r.most / matching)::numeric, 1));
        RETURN NEXT;
        worst := greatest(worst, r.mean / expected);
    END LOOP;

    FOR r IN SELECT * FROM json_to_recordset(lines)
             AS (part int, place bigint, number bigint, farthest int,
                 value text)
             ORDER BY part, CASE part WHEN 7 THEN -number END, place LOOP
        section := CASE WHEN r.part <= 4 THEN 'duplicates'
                        WHEN r.part = 5 THEN 'sizes'
                        WHEN r.part = 6 THEN 'distances'
                        ELSE 'largest clusters' END;
        value := coalesce(r.value, r.number::text, '0');
        CASE r.part
            WHEN 1 THEN
                item := 'clusters';
            WHEN 2 THEN
                item := 'redundant rows';
                redundant := r.number;
            WHEN 3 THEN
                item := 'of them with the same fingerprint';
            WHEN 4 THEN
                item := 'bytes of redundant rows';
                bytes := r.number;
            WHEN 5 THEN
                item := format('clusters of %s to %s rows',
                               1::bigint << r.place::int,
                               (2::bigint << r.place::int) - 1);
            WHEN 6 THEN
                item := format('rows at distance %s', r.place);
            WHEN 7 THEN
                item := format('%s rows, up to distance %s',
                               r.number, r.farthest);
                IF elsewhere IS NOT NULL THEN
                    PERFORM set_config('search_path', path, true);
                    EXECUTE commands[5] INTO value USING r.value;
                    PERFORM pg_catalog.set_config(
                        'search_path', 'pg_catalog, pg_temp', true);
                END IF;
        END CASE;
        RETURN NEXT;
    END LOOP;

    IF elsewhere IS NOT NULL THEN
        DROP TABLE pg_temp.simhash_report_rows;
    END IF;
    section := 'advice';
    item := 'delete';
    IF redundant > 0 THEN
        value := format('%s of %s rows (%s %%, %s) could go, each within'
                        ' distance %s of a row that would stay.',
                        redundant, total,
                        round(100.0 * redundant / total, 1),
                        pg_size_pretty(bytes), k) ||
            CASE WHEN (SELECT relkind FROM pg_class WHERE oid = relation) = 'm'
            THEN ' The rows of a materialized view are those of its tables:'
                 ' look there.'
            WHEN elsewhere = 'foreign'
            THEN ' Make the report on each server to have the DELETE written.'
            ELSE format(' simhash_dedup_sql(%L, %L, %s%s) writes the DELETE;'
                        ' read it before you run it.', relation, fingerprint, k,
                        CASE WHEN columns <> '{}'
                        THEN format(', within => %L', within) END)
            END;
    ELSE
        value := format('No two rows are within distance %s%s.', k,
                        CASE WHEN columns <> '{}' THEN ' in a group' END);
    END IF;
    RETURN NEXT;
    SELECT string_agg(format('%s (%s)', conrelid::regclass, conname), ', '
                      ORDER BY conrelid::regclass::text, conname)
    INTO referring FROM pg_constraint
    WHERE contype = 'f' AND confrelid = relation AND conparentid = 0;
    IF redundant > 0 AND referring IS NOT NULL THEN
        item := 'foreign keys';
        value := format('Other rows may refer to those that would go: %s.'
                        ' Point them to the rows that stay first: a DELETE fails'
                        ' otherwise, or takes them along.', referring);
        RETURN NEXT;
    END IF;
    IF total > present THEN
        item := 'no fingerprint';
        value := format('The rows without a fingerprint (%s) match nothing'
                        ' and are not part of this report.',
                        total - present);
        RETURN NEXT;
    END IF;
    IF matching < present THEN
        item := 'no group';
        value := format('The rows with a NULL in a column of "within" (%s) match'
                        ' nothing.', present - matching);
        RETURN NEXT;
    END IF;
    IF worst > 10 AND present > 65536 THEN
        item := 'keys';
        value := format('Some keys are common: in one block a look-up reads'
                        ' %s times as many rows as it would if keys were even.'
                        ' The largest clusters, or a constant part of all texts,'
                        ' are the likely cause.', round(worst));
        RETURN NEXT;
    END IF;
    PERFORM set_config('search_path', path, true);
END
$function$;
COMMENT ON FUNCTION simhash_report(regclass, text, bigint, text[]) IS
'summary of the near-duplicates in a table, or within groups of its rows, with advice';

-- Rows are told apart by ctid, so a table needs no key; in a table with
-- partitions or children by tableoid and ctid.  That is text, whose order says
-- nothing: the query orders the rows, and the first of them is kept.
CREATE FUNCTION simhash_dedup_sql(
    relation regclass, fingerprint text, k bigint DEFAULT 3,
    kind text DEFAULT 'star', keep text DEFAULT NULL,
    within text[] DEFAULT '{}')
RETURNS text
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
AS $function$
DECLARE
    path pg_catalog.text := pg_catalog.current_setting('search_path');
    schema pg_catalog.text;     -- of this extension
    target pg_catalog.text;     -- the table
    elsewhere pg_catalog.text;  -- where its rows are, if not here
    key pg_catalog.text[];      -- the columns of the key of such rows
    parted boolean;             -- it has children: ctid is not enough
    id pg_catalog.text;         -- what tells rows apart
    columns pg_catalog.text[];  -- of groups
    remarks pg_catalog.text := '';
    query pg_catalog.text;
    command pg_catalog.text;
    type pg_catalog.text;       -- of the fingerprint, without domains
    r record;
BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    IF relation IS NULL OR fingerprint IS NULL OR k IS NULL OR kind IS NULL
       OR within IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE =
            'relation, fingerprint, k, kind and within must not be null';
    ELSIF (SELECT relkind NOT IN ('r', 'p', 'f') FROM pg_class
           WHERE oid = relation) THEN
        RAISE wrong_object_type USING
            MESSAGE = format('%s is not a table', relation),
            HINT = 'Name the table that the rows are in.';
    END IF;
    schema := (SELECT extnamespace::regnamespace FROM pg_extension
               WHERE extname = 'simhash');
    target := (SELECT format('%I.%I', nspname, relname)
               FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
               WHERE c.oid = relation);
    EXECUTE format('SELECT %s.simhash_elsewhere($1)', schema)
        INTO elsewhere USING relation;
    IF elsewhere = 'distributed' THEN
        EXECUTE format('SELECT %s.simhash_row_key($1)', schema)
            INTO key USING relation;
    END IF;
    IF elsewhere IS NOT NULL AND key IS NULL THEN
        RAISE feature_not_supported USING
            MESSAGE = format(CASE elsewhere
                WHEN 'foreign' THEN '%s has rows on other servers'
                ELSE '%s is distributed and has no primary key of numbers,'
                     ' texts or uuids' END, relation),
            HINT = 'Delete by a column that tells rows apart: '
                   || format('DELETE FROM %s WHERE id IN (SELECT id'
                             ' FROM simhash_clusters(%L, %s, %L)'
                             ' WHERE id <> representative).', relation,
                             format('SELECT id, %s FROM %s', fingerprint,
                                    relation), k, kind);
    END IF;
    parted := elsewhere IS NULL
        AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = relation);
    id := CASE WHEN key IS NOT NULL THEN
              (SELECT string_agg(CASE WHEN cardinality(key) = 1
                                 THEN c || '::pg_catalog.text'
                                 ELSE format('pg_catalog.quote_literal('
                                             '%s::pg_catalog.text)', c) END,
                                 E' OPERATOR(pg_catalog.||) \',\''
                                 ' OPERATOR(pg_catalog.||) ' ORDER BY n)
               FROM unnest(key) WITH ORDINALITY AS u (c, n))
          WHEN parted THEN 'pg_catalog.concat(t.tableoid, t.ctid)'
          ELSE 't.ctid' END;
    EXECUTE format('SELECT %s.simhash_group_columns($1, $2)', schema)
        INTO columns USING relation, within;
    command := format('SELECT %s.simhash_check_fingerprint($1, $2)', schema);
    PERFORM set_config('search_path', path, true);
    EXECUTE command INTO type USING relation, fingerprint;
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    EXECUTE format('SELECT FROM %s.simhash_clusters_by_ctid($1, $2, $3, $4, $5)',
                   schema)
        USING format('SELECT NULL::tid, NULL::%s LIMIT 0', type), k, kind,
              text 'first', bigint '2';

    FOR r IN SELECT conrelid::regclass AS referring, conname,
                    CASE confdeltype
                        WHEN 'c' THEN 'ON DELETE CASCADE takes rows along'
                        WHEN 'n' THEN 'ON DELETE SET NULL'
                        WHEN 'd' THEN 'ON DELETE SET DEFAULT'
                        ELSE 'may refuse the DELETE' END AS action
             FROM pg_constraint
             WHERE contype = 'f' AND confrelid = relation AND conparentid = 0
             ORDER BY conrelid::regclass::text, conname LOOP
        remarks := remarks || translate(
            format('-- %s refers to it by %I: %s',
                   r.referring, r.conname, r.action), E'\n\r', '  ') || E'\n';
    END LOOP;
    IF row_security_active(relation) THEN
        remarks := remarks || E'-- row security: only rows that you may see\n';
    END IF;
    -- ORDER BY must not take the text of a key for the column itself.
    query := format('SELECT %s, (%s)%s FROM %s AS t WHERE (%2$s) IS NOT NULL',
                    id || CASE WHEN key IS NOT NULL THEN ' AS simhash_key'
                          ELSE '' END, fingerprint,
                    (SELECT string_agg(', ' || c, '') FROM unnest(columns) AS c),
                    target) ||
        CASE WHEN keep IS NOT NULL THEN ' ORDER BY ' || keep
             WHEN key IS NOT NULL
             THEN ' ORDER BY ' || array_to_string(key, ', ')
             WHEN parted THEN ' ORDER BY t.tableoid, t.ctid' ELSE '' END;
    -- It is run by the caller's search_path: as above.  What is distributed
    -- is joined with nothing that is here, but can be compared with it.
    command := format(E'%s.simhash_clusters_by_%s(\n'
                      '    %L::pg_catalog.text,\n'
                      '    k => %s::pg_catalog.int8,'
                      ' kind => %L::pg_catalog.text,\n'
                      '    keep => %L::pg_catalog.text,'
                      ' min_size => 2::pg_catalog.int8) AS c\n'
                      'WHERE ', schema,
                      CASE WHEN parted OR key IS NOT NULL THEN 'text'
                           ELSE 'ctid' END, query, k, kind,
                      CASE WHEN keep IS NULL AND NOT parted AND key IS NULL
                           THEN 'lowest' ELSE 'first' END);
    command := format(CASE WHEN key IS NOT NULL THEN
                          E'DELETE FROM %1$s AS t\n'
                          'WHERE %3$s OPERATOR(pg_catalog.=) ANY (\n'
                          'SELECT c.id FROM %2$sc.id'
                          ' OPERATOR(pg_catalog.<>) c.representative)'
                      ELSE
                          E'DELETE FROM %1$s AS t\nUSING %2$s'
                          '%3$s OPERATOR(pg_catalog.=) c.id\n'
                          '    AND c.id OPERATOR(pg_catalog.<>) c.representative'
                      END, target, command, id);
    command := remarks || command;
    PERFORM set_config('search_path', path, true);
    RETURN command;
END
$function$;
COMMENT ON FUNCTION simhash_dedup_sql(
    regclass, text, bigint, text, text, text[]) IS
'the DELETE that would keep one row of each cluster, as text to read';

----------------------------------------------------------------------------
-- What the reports call
----------------------------------------------------------------------------

-- For simhash_report and the DELETE of simhash_dedup_sql, which call them with
-- all arguments, of just these types.  Whoever may create functions in the
-- schema of the extension could plant one that fits better than a polymorphic
-- function, or than one with defaults; none fits better than the very types.

CREATE FUNCTION simhash_clusters_by_ctid(
    query text, k bigint, kind text, keep text, min_size bigint,
    OUT id tid, OUT cluster bigint, OUT representative tid,
    OUT distance integer, OUT size bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters_by_ctid(text, bigint, text, text, bigint) IS
'simhash_clusters_as for ids of type tid';

CREATE FUNCTION simhash_clusters_by_text(
    query text, k bigint, kind text, keep text, min_size bigint,
    OUT id text, OUT cluster bigint, OUT representative text,
    OUT distance integer, OUT size bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'simhash_clusters'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 1000000 ROWS 100000;
COMMENT ON FUNCTION simhash_clusters_by_text(text, bigint, text, text, bigint) IS
'simhash_clusters_as for ids of type text';

-- The names are qualified by t, as the queries call the table.
CREATE FUNCTION simhash_group_columns(relation regclass, within text[])
RETURNS text[]
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    name text;
    columns text[] := '{}';
BEGIN
    FOREACH name IN ARRAY within LOOP
        IF name IS NULL THEN
            RAISE null_value_not_allowed USING
                MESSAGE = 'within must not contain nulls';
        ELSIF NOT EXISTS (SELECT FROM pg_attribute
                          WHERE attrelid = relation AND attname = name
                          AND attnum > 0 AND NOT attisdropped) THEN
            RAISE undefined_column USING
                MESSAGE = format('column "%s" of relation %s does not exist',
                                 name, relation),
                HINT = 'within names the columns in which near-duplicates'
                       ' must be equal.';
        END IF;
        columns := columns || format('t.%I', name);
    END LOOP;
    RETURN columns;
END
$function$;
COMMENT ON FUNCTION simhash_group_columns(regclass, text[]) IS
'the columns that a report is confined to, checked and quoted';

-- Rows that are on other servers have no ctid that tells them apart.  Citus
-- lists the tables that it has distributed in pg_dist_partition.
CREATE FUNCTION simhash_elsewhere(relation regclass) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    distributed boolean := false;
BEGIN
    IF to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL THEN
        EXECUTE 'SELECT EXISTS (SELECT FROM pg_catalog.pg_dist_partition'
                ' WHERE logicalrelid = $1)' INTO distributed USING relation;
    END IF;
    RETURN CASE WHEN distributed THEN 'distributed'
        WHEN EXISTS (WITH RECURSIVE tree AS (
                         SELECT relation::oid AS relid
                         UNION SELECT inhrelid FROM tree
                         JOIN pg_inherits ON inhparent = relid)
                     SELECT FROM tree JOIN pg_class ON oid = relid
                     WHERE relkind = 'f') THEN 'foreign' END;
END
$function$;
COMMENT ON FUNCTION simhash_elsewhere(regclass) IS
'whether rows of a table are on other servers: distributed, foreign, or NULL';

-- Only types of PostgreSQL itself, as the key is cast to text with the rights of
-- the caller; and of these, those whose text depends on no setting, as Citus
-- wants it in a DELETE.
CREATE FUNCTION simhash_row_key(relation regclass) RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $function$
    SELECT array_agg(format('t.%I', attname) ORDER BY place)
    FROM pg_index CROSS JOIN unnest(indkey) WITH ORDINALITY AS u (number, place)
    JOIN pg_attribute ON attrelid = indrelid AND attnum = number
    JOIN pg_type AS y ON y.oid = atttypid
    WHERE indrelid = relation AND indisprimary AND indisvalid
        AND place <= indnkeyatts
    HAVING bool_and(typnamespace = 'pg_catalog'::regnamespace
                    AND (SELECT provolatile = 'i' FROM pg_proc AS p
                         WHERE p.oid = typoutput))
$function$;
COMMENT ON FUNCTION simhash_row_key(regclass) IS
'the columns of the primary key of a table, quoted; NULL without a fit one';

CREATE FUNCTION simhash_check_fingerprint(relation regclass, fingerprint text)
RETURNS text
AS 'MODULE_PATHNAME', 'simhash_check_fingerprint'
LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION simhash_check_fingerprint(regclass, text) IS
'the type of an expression over a relation; an error unless that is bigint or bit';

----------------------------------------------------------------------------
-- Guard
----------------------------------------------------------------------------

-- Its arguments are those of CREATE TRIGGER: column, action, distance, options.
CREATE FUNCTION simhash_guard() RETURNS trigger
AS 'MODULE_PATHNAME', 'simhash_guard'
LANGUAGE C;
COMMENT ON FUNCTION simhash_guard() IS
'trigger that rejects, skips or marks rows that are near-duplicates of others';

-- A trigger of a table that Citus has distributed sees one shard.  But rows
-- within distance 3 share a block.  So each row goes into four more tables as
-- well, one for each block, which are distributed by its key and guarded within
-- it.  They are filled before they have triggers: what is in the table already
-- may have near-duplicates.
CREATE FUNCTION simhash_guard_distributed(
    relation regclass, id name, fingerprint name, k bigint DEFAULT 3)
RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    ours text;                  -- the schema of this extension
    schema name;                -- that of the table
    called name;
    id_type text;
    fingerprint_type text;
    elsewhere text;             -- where its rows are, if not here
    guarded text;               -- one of the four tables
    claims text := '';
    releases text := '';
    command text;
BEGIN
    IF relation IS NULL OR id IS NULL OR fingerprint IS NULL OR k IS NULL THEN
        RAISE null_value_not_allowed USING MESSAGE =
            'relation, id, fingerprint and k must not be null';
    ELSIF k NOT BETWEEN 0 AND 3 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = 'k must be between 0 and 3',
            HINT = 'Rows that are further apart need not share a block.';
    END IF;
    SELECT extnamespace::regnamespace INTO ours FROM pg_extension
        WHERE extname = 'simhash';
    SELECT nspname, relname INTO schema, called
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace
        WHERE c.oid = relation;
    SELECT format_type(atttypid, atttypmod) INTO id_type FROM pg_attribute
        WHERE attrelid = relation AND attname = id
        AND attnum > 0 AND NOT attisdropped;
    IF id_type IS NULL THEN
        RAISE undefined_column USING MESSAGE =
            format('column "%s" of relation %s does not exist', id, relation);
    END IF;
    EXECUTE format('SELECT %s.simhash_check_fingerprint($1, $2)', ours)
        INTO fingerprint_type USING relation, quote_ident(fingerprint);
    IF fingerprint_type <> 'pg_catalog.int8' THEN
        RAISE datatype_mismatch USING
            MESSAGE = format('fingerprint column "%s" is not of type bigint',
                             fingerprint);
    END IF;
    EXECUTE format('SELECT %s.simhash_elsewhere($1)', ours)
        INTO elsewhere USING relation;
    IF elsewhere IS DISTINCT FROM 'distributed' THEN
        RAISE wrong_object_type USING
            MESSAGE = format('%s is not distributed by Citus', relation),
            HINT = 'On one server a trigger that calls simhash_guard() guards'
                   ' the whole table.';
    END IF;

    -- Functions come first, and all goes by one connection to each worker:
    -- Citus wants it so in one transaction.
    PERFORM set_config('citus.multi_shard_modify_mode', 'sequential', true),
            set_config('citus.enable_unsafe_triggers', 'on', true);
    FOR block IN 0 .. 3 LOOP
        guarded := format('%I.%I', schema, called || '_guard_' || block);
        claims := claims || format(
            E'    INSERT INTO %s VALUES (%s.simhash_key($2, %s), $1, $2);\n',
            guarded, ours, block);
        releases := releases || format(
            E'    DELETE FROM %s WHERE key = %s.simhash_key($2, %s)'
            ' AND %s.id = $1;\n', guarded, ours, block,
            quote_ident(called || '_guard_' || block));
    END LOOP;
    command := 'CREATE FUNCTION %I.%I(id %s, fp bigint) RETURNS void'
               ' LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS %L';
    EXECUTE format(command, schema, called || '_claim', id_type, format(
        E'BEGIN\n    IF $2 IS NULL THEN RETURN; END IF;\n%sEND', claims));
    EXECUTE format(command, schema, called || '_release', id_type, format(
        E'BEGIN\n%sEND', releases));

    EXECUTE format('LOCK TABLE %I.%I IN SHARE ROW EXCLUSIVE MODE',
                   schema, called);
    FOR block IN 0 .. 3 LOOP
        guarded := format('%I.%I', schema, called || '_guard_' || block);
        EXECUTE format('CREATE TABLE %s (key smallint, id %s,'
                       ' fp bigint NOT NULL, PRIMARY KEY (key, id))',
                       guarded, id_type);
        EXECUTE 'SELECT create_distributed_table($1, ''key'')'
            USING guarded::regclass;
        -- For a domain over bigint some other function might fit better.
        EXECUTE format('INSERT INTO %1$s'
                       ' SELECT %2$s.simhash_key(%3$I::int8, %4$s),'
                       ' %5$I, %3$I FROM %6$I.%7$I WHERE %3$I IS NOT NULL',
                       guarded, ours, fingerprint, block, id, schema, called);
        EXECUTE format('CREATE INDEX ON %s USING hamming (fp)', guarded);
        EXECUTE format('CREATE TRIGGER guard BEFORE INSERT OR UPDATE ON %s'
                       ' FOR EACH ROW EXECUTE FUNCTION %s.simhash_guard('
                       '''fp'', ''reject'', %L, ''within=key'')',
                       guarded, ours, k);
    END LOOP;
END
$function$;
COMMENT ON FUNCTION simhash_guard_distributed(regclass, name, name, bigint) IS
'make what keeps near-duplicates out of a table that Citus has distributed';
