#
# The self-join: every row's near-duplicates, through the index.
# SPDX-License-Identifier: PostgreSQL
#

sizes() { some 100000 1000000; }

prepare() { make_docs "$1"; make_hamming; }

measure()
{
	method join "$INDEX" 'SELECT count(*) FROM docs a JOIN docs b
		ON a.fp ~= b.fp' "$1"
	method pk "$INDEX" 'SELECT count(b.fp) FROM docs a JOIN docs b
		ON b.id = (a.fp & 65535)::int + 1' "$1"
	run 0 3
	emit 'self-join a.fp ~= b.fp, hamming index' "${us[join]}" us/row \
		'join by primary key' "${us[pk]}" \
		"$([ "$1" != 1000000 ] || echo 'figure <= 10')"
	emit 'join by primary key' "${us[pk]}" us/row
}
