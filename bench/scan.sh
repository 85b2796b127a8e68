#
# Sequential scans: the operators beside what one writes without them.
# SPDX-License-Identifier: PostgreSQL
#
# A scan of docs that counts what is near one fingerprint.  All rows are in
# memory, visible, and without an index that would serve.
#

sizes() { some 100000 1000000 10000000; }

prepare() { make_docs "$1"; warm docs; }

# The scan under a condition, :n rows in all.
scan() { echo "/* :n */ SELECT count(*) FROM docs WHERE $1"; }

Q=1311768467294899695
BY_HAND="bit_count((fp # $Q)::bit(64)) <= 3"

measure()
{
	local off='SET enable_indexscan = off; SET enable_bitmapscan = off;'
	local unit=us/row

	method near "$off" "$(scan "fp ~= $Q")" "$1"
	method hand "$off" "$(scan "$BY_HAND")" "$1"
	method within "$off" "$(scan "fp <@ ($Q, 8)")" "$1"
	method distance "$off" "$(scan "hamming(fp, $Q) <= 8")" "$1"
	method plain "$off" "$(scan "fp = $Q")" "$1"
	run 0 "$(fixed 5 9)"

	emit 'bit_count by hand, k=3' "${us[hand]}" $unit 'fp ~= q' "${us[near]}"
	emit 'fp ~= q' "${us[near]}" $unit 'fp = q' "${us[plain]}"
	emit 'fp <@ (q, 8)' "${us[within]}" $unit 'fp = q' "${us[plain]}"
	emit 'hamming(fp, q) <= 8' "${us[distance]}" $unit 'fp = q' "${us[plain]}"
	emit 'fp = q' "${us[plain]}" $unit
}
