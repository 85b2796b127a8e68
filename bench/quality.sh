#!/bin/bash
#
# The fingerprints that take SQL: TF-IDF, text search, words cut by ICU.
# SPDX-License-Identifier: PostgreSQL
#
# usage: OUT=DIRECTORY tools/stage bench/quality.sh DIRECTORY
#
# DIRECTORY has a file SET.copy for each set of documents, rows of number,
# whether the set is Chinese, and document.  For each, DIRECTORY gets a file
# SET.fingerprints of rows of recipe, number and fingerprint.  Where it has a
# file idf.txt of words with weights, as word segmenters bring it along, the
# words of Chinese sets are weighed by that, too.
#
# Frequencies are learnt from the set itself.
#

set -euo pipefail
input=$1
export PGOPTIONS='-c client_min_messages=warning'
psql() { command psql -X -q -v ON_ERROR_STOP=1 "$@"; }

psql <<-END
	CREATE EXTENSION simhash;
	CREATE TABLE jieba (word text, idf float8);
	CREATE TABLE recipes (chinese boolean, name text, expression text);
	INSERT INTO recipes VALUES
	    (NULL, 'word-1, idf', 'simhash_tfidf(body, idf1)'),
	    (NULL, 'word-1, idf, top 100', 'simhash_tfidf(body, idf1, 100)'),
	    (NULL, 'word-1, idf, top 20', 'simhash_tfidf(body, idf1, 20)'),
	    (NULL, 'word-1-2, idf', 'simhash_tfidf(body, idf12)'),
	    (NULL, 'word-2, idf', 'simhash_tfidf(body, idf2)'),
	    (NULL, 'word-2, idf, top 100', 'simhash_tfidf(body, idf2, 100)'),
	    (NULL, 'tsvector simple', 'simhash(to_tsvector(''simple'', body))'),
	    (false, 'tsvector english', 'simhash(to_tsvector(''english'', body))');
END

words=NULL::text[]
if psql -c "SELECT simhash_segment('a')" >/dev/null; then
	words='CASE WHEN chinese THEN simhash_segment(body) END'
	psql <<-END
		INSERT INTO recipes VALUES
		    (true, 'ICU words', 'simhash(words)'),
		    (true, 'ICU words, pairs', 'simhash(pairs)'),
		    (true, 'ICU words, tsvector', 'simhash(to_tsvector(''simple'',
		        array_to_string(words, '' '')))');
	END
fi
if [ "$words" != "NULL::text[]" ] && [ -e "$input/idf.txt" ]; then
	psql <<-END
		\\copy jieba FROM '$input/idf.txt' (DELIMITER ' ')
		INSERT INTO recipes VALUES
		    (true, 'ICU words, jieba', 'simhash_tfidf(words, jieba)'),
		    (true, 'ICU words, jieba, top 100',
		     'simhash_tfidf(words, jieba, 100)'),
		    (true, 'ICU words, jieba, top 20',
		     'simhash_tfidf(words, jieba, 20)');
	END
fi

for file in "$input"/*.copy; do
	set=$(basename "$file" .copy)
	psql <<-END
		CREATE TABLE documents (n int, chinese boolean, body text);
		\\copy documents FROM '$file'
		CREATE TABLE weights AS
		SELECT simhash_idf_agg(body, 'word-1') AS idf1,
		       simhash_idf_agg(body, 'word-1-2') AS idf12,
		       simhash_idf_agg(body, 'word-2') AS idf2,
		       (SELECT simhash_idf_from(array_agg(word), array_agg(idf),
		                                'word-1') FROM jieba) AS jieba
		FROM documents;
		CREATE TABLE segmented AS
		SELECT n, chinese, body, words,
		       (SELECT array_agg(DISTINCT words[i] || ' ' || words[i + 1])
		        FROM generate_series(1, cardinality(words) - 1) AS i) AS pairs
		FROM (SELECT *, $words AS words FROM documents OFFSET 0) AS d;
		SELECT 'CREATE TABLE fingerprints AS ' || string_agg(format(
		    'SELECT %L AS recipe, n, %s AS fp FROM segmented, weights
		     WHERE chinese = %L OR %4\$L', name, expression,
		    coalesce(chinese, true), chinese IS NULL), ' UNION ALL ')
		FROM recipes
		\\gexec
		\\copy (SELECT * FROM fingerprints ORDER BY recipe, n) TO '$RESULTS/$set.fingerprints'
		DROP TABLE documents, weights, segmented, fingerprints;
	END
	echo "fingerprinted $set" >&2
done
