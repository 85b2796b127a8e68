#
# Objects that a later build need not compile again; to be sourced by bash.
# SPDX-License-Identifier: PostgreSQL
#
# tools/stage builds a copy of the tree.  What it has compiled is kept in a folder
# of the user's cache, for every tree, server and set of flags as a file of its own:
#
#   ${XDG_CACHE_HOME:-~/.cache}/simhash/objects/NAME.tar
#
# or, for root, below /var/cache, where it belongs to the user that tests run as.
# An object is taken from there, whichever tree it was compiled in, when all that it
# was made of has the same content now: its source, each header of ours that it
# includes, how it is compiled (.flags, of the Makefile), and everything from
# outside (the compiler, the headers of the server and of the system).  Times count
# for nothing.  So the folder may be removed at any time, and without one all is
# compiled.  The MOST_ARCHIVES used last are kept, of some 20 to 35 MB each.
#
# An archive begins with "made-of", lines "OBJECT FILE SUM".  It is written beside
# its place and moved there, so that runs at the same time disturb each other
# nowhere: one that reads goes on reading the archive that it has opened.
#

MOST_ARCHIVES=12

# Print the folder of the archives.
objects_folder()
{
	if [ "$(id -u)" = 0 ]; then
		echo "${XDG_CACHE_HOME:-/var/cache}/simhash/objects"
	elif [ -n "${XDG_CACHE_HOME:-${HOME:-}}" ]; then
		echo "${XDG_CACHE_HOME:-$HOME/.cache}/simhash/objects"
	fi
}

# Print a sum of what is outside the tree here and gets into objects for the server
# of $1: the compiler, the server's headers, and those of libraries.
sum_of_outside()
{
	local cc=${CC:-$("$1" --cc)}

	{
		"$1" --version
		$cc -v
		clang -v
		find "$("$1" --includedir-server)" -type f | LC_ALL=C sort |
			xargs -d '\n' cat
		find src -name '*.[ch]' -exec grep -ohE '^#include <[^>]+>' {} + |
			sort -u | sed 's/^#include \(<.*>\)/#if __has_include(\1)\n&\n#endif/' |
			$cc ${COPT:-} -E -x c -
	} 2>&1 | sha256sum | cut -d' ' -f1
}

# Print what each object here was made of, by the notes of the compiler.
made_of()
{
	find src test/unit -name '*.d' -exec awk '
		/^[^ ]+:$/ { next }
		{
			for (i = 1; i <= NF; i++)
				if ($i ~ /:$/) {
					object = substr($i, 1, length($i) - 1)
					print object, (object ~ /^test/ ? "test/unit/" : "") ".flags"
					print object, "outside"
				} else if ($i != "\\")
					print object, $i
		}' {} +
}

# Print the sum of each file here that an object may be made of, that of what is
# outside being $1: lines "SUM FILE".
sums_now()
{
	{
		find src test/unit -name '*.[ch]' -exec sha256sum {} +
		sha256sum .flags test/unit/.flags
		echo "$1 outside"
	} | awk '{ print $1, $2 }'
}

# Of the objects that are made of the lines in the file "then" of the directory $1,
# print those, with their notes, that would be made of the same "now" and are not
# here yet.
still_good()
{
	find src test/unit -name '*.o' >"$1/here"
	awk 'FILENAME ~ /here$/ { bad[$1] = 1; next }
		FILENAME ~ /now$/ { now[$2] = $1; next }
		{ objects[$1] = 1 }
		now[$2] != $3 { bad[$1] = 1 }
		END {
			for (object in objects)
				if (!(object in bad)) {
					print object
					sub(/\.o$/, ".d", object)
					print object
				}
		}' "$1/here" "$1/now" "$1/then"
}

# Take what can be had from the archives in the folder $1, the first being $2, into
# the tree here, which has .flags.  $3 is an empty directory to work in.
take_objects()
{
	local archive

	sums_now "$(sum_of_outside "$PG_CONFIG")" >"$3/now"
	for archive in "$2" $(ls -t "$1" 2>/dev/null | sed -n "s|.*\.tar\$|$1/&|p"); do
		tar -xOf "$archive" --occurrence=1 made-of >"$3/then" 2>/dev/null || continue
		still_good "$3" >"$3/good"
		[ ! -s "$3/good" ] || tar -xmf "$archive" -T "$3/good" 2>/dev/null ||
			xargs rm -f <"$3/good"
	done
	touch "$3/taken"
}

# Keep the objects that are here in the archive $2 of the folder $1, unless it has
# them.  $3 is the directory that take_objects has worked in.
keep_objects()
{
	local new=$2.$$

	if [ -e "$2" ] && [ -z "$(find src test/unit -name '*.o' -newer "$3/taken" \
		-print -quit)" ]; then
		touch "$2"
		return
	fi
	made_of | awk 'FILENAME ~ /now$/ { now[$2] = $1; next }
		{ print $0, ($2 in now ? now[$2] : "-") }' "$3/now" - >"$3/made-of"
	find src test/unit -name '*.o' -o -name '*.d' >"$3/all"
	tar -cf "$new" -C "$3" made-of -C "$PWD" -T "$3/all" && mv "$new" "$2" ||
		rm -f "$new"
	find "$1" -name '*.tar.*' -mmin +60 -delete
	ls -t "$1"/*.tar | tail -n +$((MOST_ARCHIVES + 1)) | xargs -r -d '\n' rm -f
}

# Run the command $2 ..., which compiles for the server of $PG_CONFIG in the tree
# here, with the objects that are kept, and keep its own.  $1 tells which tree it is.
with_objects()
{
	local name scratch status=0

	name=$(printf '%s\n' "$1" "$PG_CONFIG" "${CC:-}" "${COPT:-}" | sha256sum | cut -c1-16)
	shift
	if [ -z "$OBJECTS" ] || ! mkdir -p "$OBJECTS" 2>/dev/null || [ ! -w "$OBJECTS" ]; then
		"$@"
		return
	fi
	scratch=$(mktemp -d)
	compile .flags test/unit/.flags
	take_objects "$OBJECTS" "$OBJECTS/$name.tar" "$scratch" || :
	"$@" || status=$?
	keep_objects "$OBJECTS" "$OBJECTS/$name.tar" "$scratch" || :
	rm -rf "$scratch"
	return $status
}
