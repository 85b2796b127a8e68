#
# A private PostgreSQL in a chroot that tools/matrix has made; to be sourced.
# SPDX-License-Identifier: PostgreSQL
#
# $1 is the version of the package there.  It takes root.  The server listens on a
# socket alone, and ends with the script; psql asks it.
#

server_version=$1
server_major=${1%%[.~]*}
chroot=${MATRIX:-/var/cache/simhash/matrix}/$server_major
server_bin=/usr/lib/postgresql/$server_major/bin
chroot "$chroot" dpkg-query -W -f '${Version}\n' "postgresql-$server_major" 2>/dev/null |
	grep -qxF "$server_version" ||
	{ echo "no chroot with PostgreSQL $server_version" >&2; exit 1; }
server=$(TMPDIR=$chroot/tmp mktemp -d)
in_chroot=${server#"$chroot"}
trap 'end_server' EXIT

end_server()
{
	inside "$server_bin/pg_ctl" -D "$in_chroot/data" -m immediate -s stop || :
	rm -rf "$server"
}

inside() { chroot --userspec=65534:65534 "$chroot" env -i LC_ALL=C "$@"; }

psql() { inside "$server_bin/psql" -h "$in_chroot" -U me -d postgres -X -q -A -t "$@"; }

chown 65534:65534 "$server"
inside "$server_bin/initdb" -D "$in_chroot/data" -A trust -U me --no-sync >/dev/null
inside "$server_bin/pg_ctl" -D "$in_chroot/data" -s -w -l "$in_chroot/log" \
	-o "-c listen_addresses= -k $in_chroot -c fsync=off -c dynamic_shared_memory_type=mmap" \
	start
echo "PostgreSQL $server_version"
