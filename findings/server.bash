#
# A private PostgreSQL from Debian's packages, in a temporary folder; to be sourced.
# SPDX-License-Identifier: PostgreSQL
#
# $1 is the version of the packages.  The server listens on a socket alone, and ends
# with the script; psql asks it.
#

server_version=$1
server_major=${1%%.*}
server=$(mktemp -d)
trap 'end_server' EXIT

end_server()
{
	[ ! -f "$server/data/postmaster.pid" ] ||
		as_user "$server_bin/pg_ctl" -D "$server/data" -m immediate -s stop || :
	rm -rf "$server"
}

# The server refuses to run as root.
as_user()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME="$server" "$@"
	else
		"$@"
	fi
}

psql()
{
	PGHOST=$server/s PGUSER=me PGDATABASE=postgres \
		"$server_bin/psql" -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

chmod 755 "$server"
mkdir "$server/packages" "$server/s"
(cd "$server/packages" &&
	apt-get -q download "postgresql-$server_major=$server_version" \
		"postgresql-client-$server_major=$server_version" >/dev/null 2>&1) ||
	{ echo "no packages of PostgreSQL $server_version" >&2; exit 1; }
for package in "$server"/packages/*.deb; do dpkg -x "$package" "$server/root"; done
server_bin=$server/root/usr/lib/postgresql/$server_major/bin
[ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$server"
as_user "$server_bin/initdb" -D "$server/data" -A trust -U me --no-sync >/dev/null
as_user "$server_bin/pg_ctl" -D "$server/data" -s -w -l "$server/log" \
	-o "-c listen_addresses= -k $server/s -c fsync=off" start
echo "PostgreSQL $server_version"
