#
# Building indexes and their sizes.
# SPDX-License-Identifier: PostgreSQL
#

sizes() { powers; }

prepare() { make_docs "$1"; warm docs; }

# Make indexes of the definitions that follow, with names made of $1.
create()
{
	local i=0 definition script=
	local name=$1
	shift

	for definition in "$@"; do
		i=$((i + 1))
		script="$script CREATE INDEX ${name}_$i ON $definition;"
	done
	echo "DO \$\$ BEGIN $script END \$\$"
}

# Drop them, quietly, if they are there.
drop()
{
	echo "SET client_min_messages = warning; DROP INDEX IF EXISTS
		$(printf "$1_%d, " 1 2 3)$1_4;"
}

measure()
{
	local k keys=() four=('docs (fp)' 'docs (fp)' 'docs (fp)' 'docs (fp)')
	local unit="us/row" name

	for k in 0 1 2 3; do
		keys+=("docs (simhash_key(fp, $k))")
	done
	method four "$(drop four)" "$(create four "${four[@]}")" "$1"
	method hamming "$(drop hamming)" \
		"$(create hamming 'docs USING hamming (fp)')" "$1"
	method keys "$(drop keys)" "$(create keys "${keys[@]}")" "$1"
	run 0 "$([ "$1" -le 1000000 ] && echo 3 || echo 2)"

	emit 'build, four btrees on bigint' "${us[four]}" $unit
	emit 'build, hamming index' "${us[hamming]}" $unit 'four btrees' \
		"${us[four]}" "$([ "$1" -lt 1000000 ] || echo 'ratio <= 1.5')"
	emit 'build, four btrees on keys' "${us[keys]}" $unit 'four btrees' \
		"${us[four]}"
	size four "$1"
	emit 'size, four btrees on bigint' "$bytes" 'bytes/row'
	size hamming "$1"
	emit 'size, hamming index' "$bytes" 'bytes/row' '' '' \
		"$([ "$1" -lt 1000000 ] || echo 'figure <= 90')"
	size keys "$1"
	emit 'size, four btrees on keys' "$bytes" 'bytes/row'
	for name in four hamming keys; do
		psql -c "$(drop $name)"
	done
}

# Set bytes to what the indexes named after $1 take for each of $2 rows.
size()
{
	bytes=$(ask "SELECT sum(pg_relation_size(oid)) / $2.0 FROM pg_class
		WHERE relname ~ '^$1_[1-4]\$'")
}
