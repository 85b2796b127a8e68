#
# What the scripts in tools/ share; to be sourced by bash.
# SPDX-License-Identifier: PostgreSQL
#

# The PostgreSQL majors this extension is written for, oldest first.
PG_MAJORS="15 16 17 18 19"

# Say something, or say why nothing more can be done and stop.
say() { echo "${0##*/}: $*"; }
die() { say "$*" >&2; exit 1; }

# The programs that may be pg_config here, one a line: the caller's choice
# alone when there is one, else the path's, then the usual places.
pg_config_candidates()
{
	local major

	if [ "${PG_CONFIG:-pg_config}" != pg_config ]; then
		echo "$PG_CONFIG"
		return
	fi
	command -v pg_config || :
	for major in $PG_MAJORS; do
		echo "/usr/lib/postgresql/$major/bin/pg_config"
		echo "/usr/pgsql-$major/bin/pg_config"
	done
}

# The major version of the PostgreSQL that $1 (a pg_config) belongs to.
pg_major() { "$1" --version 2>/dev/null | sed -E 's/^[^0-9]*([0-9]+).*/\1/'; }

# Can extensions be compiled with $1, and is its server here to test them?
pg_can_build()
{
	[ -f "$("$1" --includedir-server 2>/dev/null)/postgres.h" ] &&
		[ -f "$("$1" --pgxs)" ]
}

pg_can_test()
{
	local bindir tests

	bindir=$("$1" --bindir)
	tests=$(dirname "$("$1" --pgxs)")/../test
	[ -x "$bindir/postgres" ] && [ -x "$bindir/initdb" ] &&
		[ -x "$bindir/psql" ] && [ -x "$tests/regress/pg_regress" ]
}

# Print the first pg_config that serves to build and to test, or fail.
find_pg_config()
{
	local candidate

	while read -r candidate; do
		case " $PG_MAJORS " in *" $(pg_major "$candidate") "*) ;; *) continue ;; esac
		if pg_can_build "$candidate" && pg_can_test "$candidate"; then
			echo "$candidate"
			return
		fi
	done < <(pg_config_candidates)
	return 1
}

# Print a Python that knows xxHash and PostgreSQL, or fail.  The system's comes
# first: it is the one that apt gives modules to.
find_python()
{
	local candidate

	for candidate in ${PYTHON:-} /usr/bin/python3 python3; do
		if "$candidate" -c 'import xxhash, psycopg' 2>/dev/null; then
			command -v "$candidate"
			return
		fi
	done
	return 1
}

# Print the Debian that has PostgreSQL $1, and a second one that has only its
# packages, if there is one.
debian_of()
{
	case $1 in
		15) echo bookworm ;;
		16) echo bookworm ;;
		17) echo trixie ;;
		18) echo sid ;;
		19) echo sid experimental ;;
	esac
}

# Print the mirror of Debian that apt uses here, if there is one.
debian_mirror()
{
	apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' \
		'Origin: Debian' 'Component: main' 2>/dev/null | head -n 1
}

# Copy the sources, and nothing that was built from them, from $1 to $2.
copy_tree()
{
	mkdir -p "$2"
	tar -C "$1" --exclude-vcs --exclude='*.o' --exclude='*.d' --exclude='*.bc' \
		--exclude='*.so' --exclude='*.a' --exclude='*.run' --exclude=.flags \
		--exclude=./results --exclude=./output_iso --exclude=./tmp_check \
		--exclude=./log \
		-cf - . | tar -C "$2" --no-same-owner -xf -
}
