#
# What the scripts have in common that compare our fingerprints with others'.
# SPDX-License-Identifier: PostgreSQL
#
# To be sourced by bash.  check_reference.sh and its like set
#
#   kind    a name, for databases
#   ours    an SQL query over t (label, body): label, profile, fingerprint
#
# and define the function "theirs", which makes the same rows of those of its
# input, a label and a document each.
#

. "$(dirname "${BASH_SOURCE[0]}")/tools.sh"
cd test/golden
failed=0

# check NAME ENCODING INPUT [GOLDEN]: INPUT has rows of a label and a document,
# GOLDEN what the others make of them, if that is known.
check()
{
	local name=$1 encoding=$2 input=$3 golden=${4:-} client=UTF8
	local rows

	[ "$encoding" != SQL_ASCII ] || client=SQL_ASCII
	use_database "$encoding"
	PGCLIENTENCODING=$client psql <<-END
		CREATE TABLE t (label text, body text);
		\\copy t FROM '$input'
		\\copy (${ours//$'\n'/ }) TO '$work/ours'
		DROP TABLE t;
	END
	if [ -n "$golden" ]; then
		cp "$golden" "$work/theirs"
	else
		theirs <"$input" >"$work/theirs"
	fi
	rows=$(wc -l <"$work/theirs")
	if [ "$rows" -gt 0 ] &&
		diff -a <(LC_ALL=C sort "$work/ours") <(LC_ALL=C sort "$work/theirs") \
			>"$work/difference"; then
		ok "$name in $encoding: $rows fingerprints agree"
	else
		echo "FAIL $name in $encoding"
		explain "$input"
		failed=1
	fi
}

# Use the database in an encoding from now on; the first time it is made.
use_database()
{
	local name=${kind}_${1,,}

	case " ${databases[*]} " in
		*" $name "*) PGDATABASE=$name ;;
		*) new_database -E "$1" --locale=C -T template0 "$name"
			psql -c 'CREATE EXTENSION simhash' ;;
	esac
}

# Show the difference that was found in what was made of an input.
explain()
{
	head -20 "$work/difference"
}

# Real texts, of which there are 3,000 and 725: one of so many.  A long run, which
# SIMHASH_SECONDS asks for, has five times as many.
poems() { one_of "$1" poems | cut -f1,4; }
licenses() { one_of "$1" licenses; }
one_of()
{
	local each=$1

	[ -z "${SIMHASH_SECONDS:-}" ] || each=$(((each + 4) / 5))
	xz -dc "../../data/$2.tsv.xz" | awk -v n="$each" 'NR % n == 1 % n'
}

# Check random texts that the program $1 writes, $2 of them; a long run has $3, and
# goes on with the next seeds.
check_random()
{
	local n=$2 round

	[ -z "${SIMHASH_SECONDS:-}" ] || n=$3
	for ((round = 0; failed == 0 && (round == 0 ||
		SECONDS < ${SIMHASH_SECONDS:-0}); round++)); do
		"$PYTHON" "$1" random "$((seed + round))" "$n" >"$work/texts"
		check "seed_$((seed + round))" UTF8 "$work/texts"
	done
	echo "$((round * n)) texts"
}

# The rows of texts.tsv that an encoding can hold, as its third column says.
holding()
{
	awk -F'\t' -v e="$1" '$3 ~ "(^|[ ,])" e "($|[ ,])" { print $1 "\t" $2 }' \
		texts.tsv >"$work/$1"
	echo "$work/$1"
}

# True under a Python with the Unicode data that the specification is frozen at.
same_unicode()
{
	local version

	version=$("$PYTHON" -c 'import unicodedata as u; print(u.unidata_version)')
	[ "$version" = 14.0.0 ] ||
		{ echo "this Python has Unicode $version"; false; }
}
