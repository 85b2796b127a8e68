#
# Fingerprinting: documents to fingerprints, beside md5 and to_tsvector.
# SPDX-License-Identifier: PostgreSQL
#
# Documents of about 2 kB, in memory, not compressed: English is what the
# licences of data/ yield in pieces of 2,000 characters, but for pieces without
# a "the", which are in other languages; Chinese is ten poems in a row.  Short
# texts are 70 characters of the licences.  Long ones are 200 kB of them, out of
# line: as they are, and compressed ("toasted").  What it takes to get at them
# is measured apart, by ascii(body), which needs but the first byte and yet has
# the whole brought in.
#
# Rounds are short and many: on a machine that others use too, what takes its
# time from computing suffers more, in bad moments, than what waits for its own
# last step, as md5 does.
#
# MB/s are of the bytes of the documents.
#

sizes() { echo 0; }

prepare()
{
	local table

	psql <<-'END'
		CREATE TABLE english (body text);
		CREATE TABLE chinese (body text);
		ALTER TABLE english ALTER body SET STORAGE PLAIN;
		ALTER TABLE chinese ALTER body SET STORAGE PLAIN;
		CREATE TABLE texts (id text, body text);
		\copy texts FROM PROGRAM 'xz -dc data/licenses.tsv.xz' ENCODING 'UTF8'
		CREATE TABLE poems (id int, title text, author text, body text);
		\copy poems FROM PROGRAM 'xz -dc data/poems.tsv.xz' ENCODING 'UTF8'
		INSERT INTO english SELECT piece FROM texts,
			LATERAL generate_series(0, length(body) / 2000 - 1) AS i,
			LATERAL substr(body, i * 2000 + 1, 2000) AS piece
		WHERE piece ~ ' the ';
		INSERT INTO chinese SELECT string_agg(body, E'\n' ORDER BY n) FROM (
			SELECT body, row_number() OVER (ORDER BY id) AS n FROM poems) AS p
		GROUP BY n / 10;
		CREATE TABLE short AS SELECT substr(body, i * 70 + 1, 70) AS body
		FROM texts, LATERAL generate_series(0, length(body) / 70 - 1) AS i;
		CREATE TABLE long (body text);
		ALTER TABLE long ALTER body SET STORAGE EXTERNAL;
		CREATE TABLE toasted (body text);
		INSERT INTO long SELECT substr(body, i * 200000 + 1, 200000)
		FROM (SELECT string_agg(body, E'\n' ORDER BY id) AS body FROM texts) AS t,
			LATERAL generate_series(0, length(body) / 200000 - 1) AS i;
		INSERT INTO toasted TABLE long;
		DROP TABLE texts, poems;
	END
	for table in english chinese short long toasted; do
		psql -c "VACUUM ANALYZE $table"
		warm $table
	done
	compile_peer cppjieba
}

measure()
{
	local language
	local passages='(SELECT count(fp) FROM simhash_passages(body))'
	local -A bytes=()

	for language in english chinese short long toasted; do
		bytes[$language]=$(ask "SELECT sum(octet_length(body)) FROM $language")
	done
	for language in english chinese; do
		over $language 'simhash(body)' 3
		over $language 'minhash(body)' 3
		over $language 'md5(body)' 3
		over $language "to_tsvector('simple', body)" 1
	done
	over english 'simhash_bits(body, 128)' 3
	over english 'simhash_bits(body, 256)' 3
	over english "$passages" 1
	over english 'hashtextextended(body, 0)' 3
	over short 'simhash(body)' 1
	over short 'md5(body)' 1
	for language in long toasted; do
		over $language 'simhash(body)' 4
		over $language 'md5(body)' 4
		over $language 'ascii(body)' 4
	done
	run 0 "$(fixed 3 25)"
	for language in english chinese; do
		result $language 'md5(body)'
		result $language 'simhash(body)'
		result $language 'minhash(body)'
		result $language "to_tsvector('simple', body)"
	done
	result english 'simhash_bits(body, 128)'
	result english 'simhash_bits(body, 256)'
	result english "$passages"
	result english 'hashtextextended(body, 0)'
	for language in short long toasted; do
		result $language 'md5(body)'
		result $language 'simhash(body)'
		[ $language = short ] || result $language 'ascii(body)'
	done
	python_simhash
	cppjieba
}

# A method: $2 of all documents of a language, $3 times over.  The last few
# documents are remembered, so the same one must not come twice in a row.
over()
{
	local again i

	again=$(for ((i = 1; i < $3; i++)); do echo "UNION ALL TABLE $1"; done)
	method "$1 $2" '' "SELECT count($2) FROM (TABLE $1 $again) AS t" \
		"$((bytes[$1] * $3))"
}

# The row of $2 in a language; what is compared is time.
result()
{
	local rate bar='' against='simhash(body)'

	case "$1 $2" in
		'english simhash(body)')
			against='md5(body)' bar='ratio >= 1'
			;;
		'chinese simhash(body)') against='' bar='figure >= 100' ;;
		*' simhash(body)') against='md5(body)' ;;
		*' simhash_bits(body, 128)') bar='ratio >= 1 / 1.6' ;;
		*' simhash_bits(body, 256)') bar='ratio >= 1 / 3.0' ;;
		*simhash_passages*) bar='ratio >= 1 / 2.0' ;;
		'english to_tsvector'*) bar='ratio <= 0.1' ;;
	esac
	rate=$(calc "1 / ${us[$1 $2]}")
	emit "$1, $2" "$rate" MB/s "$against" \
		"${against:+$(calc "1 / ${us[$1 ${against:-$2}]}")}" "$bar"
}

# The package simhash of Python, on the same English documents.
python_simhash()
{
	local rate

	rate=$(psql -At -c "SELECT json_build_array(body) FROM english LIMIT 300" |
		PYTHONPATH="${PEERS:+$PEERS/python}" "${PYTHON:-python3}" \
			bench/python_simhash.py)
	if [ -n "$rate" ]; then
		emit "english, Python's simhash" "$rate" MB/s 'simhash(body)' \
			"$(calc "1 / ${us[english simhash(body)]}")"
	else
		skip "Python's simhash" \
			'install its package, where Python looks or in PEERS/python'
	fi
}

# yanyiwu's simhash, on the same Chinese documents.
cppjieba()
{
	local rate

	if [ -x "$HOME/cppjieba" ]; then
		rate=$(psql -At -c "SELECT translate(body, E'\n', '') FROM chinese" |
			"$HOME/cppjieba" "$PEERS/dict" 2>/dev/null)
		emit 'chinese, yanyiwu/simhash (cppjieba)' "$rate" MB/s 'simhash(body)' \
			"$(calc "1 / ${us[chinese simhash(body)]}")"
	else
		skip 'yanyiwu/simhash (cppjieba)' \
			'install the headers of both in PEERS/include, and PEERS/dict'
	fi
}
