#
# The ten nearest neighbours, exactly.
# SPDX-License-Identifier: PostgreSQL
#
# One row of ten of crowds is one of twenty that lie within three bits of a
# common center each; the others are random.  Asked are fingerprints one bit
# off a row of a crowd, one bit off a lone row, and random ones.
#

sizes() { powers; }

prepare()
{
	make_crowds "$1"
	have crowds_hamming || psql -c 'CREATE INDEX crowds_hamming ON crowds
		USING hamming (fp)'
	warm crowds
}

nearest()
{
	echo "SELECT sum(s.fp <~> q.q) FROM (SELECT * FROM asked
		WHERE kind = '$1' LIMIT :n) AS q, LATERAL (SELECT fp FROM crowds
		ORDER BY fp <~> q.q LIMIT 10) AS s"
}

measure()
{
	local kind bar

	for kind in crowd lone far; do
		method "$kind" "$INDEX" "$(nearest $kind)"
	done
	method scan "$SCAN" "$(nearest crowd)"
	run "$(fixed 0.1 1)" "$(fixed 3 5)" 2000

	bar=$([ "$1" != 10000000 ] || echo 'figure < 1000')
	emit 'ten nearest, near a crowd, hamming index' "${us[crowd]}" us \
		'sequential scan' "${us[scan]}" "$bar"
	emit 'ten nearest, near a lone row, hamming index' "${us[lone]}" us \
		'sequential scan' "${us[scan]}"
	emit 'ten nearest, far, hamming index' "${us[far]}" us \
		'sequential scan' "${us[scan]}" 'ratio <= 1'
	emit 'ten nearest, sequential scan' "${us[scan]}" us
}
