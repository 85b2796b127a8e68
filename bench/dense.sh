#
# Look-ups where many more entries share a key of a block than chance has it.
# SPDX-License-Identifier: PostgreSQL
#
# Fingerprints of which each block has 13 or 9 random bits, the others being
# zero, in dense13 and dense9: 10 million of them lie as densely as 80 million
# or 1.3 billion random ones do.  Beside the same look-up among random
# fingerprints, and one by primary key.
#

sizes() { some 100000 10000000; }

# The bits of a fingerprint that are random, $1 in each of the four blocks that
# entries have, and the two beyond.
bits()
{
	echo "(SELECT bit_or((1::bigint << $1) - 1 << low) | 3
		FROM unnest('{48,32,17,2}'::int[]) AS low)"
}

prepare()
{
	local free

	make_docs "$1"
	make_hamming
	for free in 13 9; do
		have dense$free || psql <<-END
			CREATE TABLE dense$free AS SELECT id, fp & $(bits $free) AS fp
			FROM docs;
			CREATE INDEX ON dense$free USING hamming (fp);
			VACUUM ANALYZE dense$free;
		END
	done
	warm dense
}

# Look-ups among all rows of $1 that are within $2 of a query, cut to bits $3.
within()
{
	echo "SELECT count(s.r) FROM (SELECT q${3:+ & $3} AS q FROM queries
		LIMIT :n) AS q, LATERAL (SELECT id AS r FROM $1
		WHERE fp <@ (q.q, $2)) AS s"
}

measure()
{
	local pk free k

	method pk "$INDEX" "SELECT count(s.r) FROM (SELECT id FROM queries
		LIMIT :n) AS q, LATERAL (SELECT fp AS r FROM docs WHERE id = q.id) AS s"
	method random "$INDEX" "$(within docs 3)"
	for free in 13 9; do
		for k in 3 5; do
			method "$free $k" "$INDEX" \
				"$(within dense$free $k "$(bits $free)")"
		done
	done
	run "$(fixed 0.1 0.5)" "$(fixed 3 9)"
	pk=${us[pk]}

	emit 'dense, primary key' "$pk" us
	emit 'dense, k=3, 16 random bits a block' "${us[random]}" us \
		'primary key' "$pk"
	emit 'dense, k=3, 13 random bits a block' "${us[13 3]}" us \
		'primary key' "$pk" "$([ "$1" != 10000000 ] || echo 'ratio <= 10')"
	emit 'dense, k=3, 9 random bits a block' "${us[9 3]}" us \
		'primary key' "$pk" "$([ "$1" != 10000000 ] || echo 'ratio <= 32')"
	emit 'dense, k=5, 13 random bits a block' "${us[13 5]}" us \
		'primary key' "$pk"
	emit 'dense, k=5, 9 random bits a block' "${us[9 5]}" us \
		'primary key' "$pk"
}
