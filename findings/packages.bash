#
# Debian packages unpacked in a temporary folder, to be sourced.
# SPDX-License-Identifier: PostgreSQL
#
# The arguments are PACKAGE=VERSION.  Their programs come first on PATH; the libraries
# that they need beside those in the packages are the system's.  The folder is $folder,
# where the script goes on, and goes away with it.
#

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
apt-get -q download "$@" >/dev/null 2>&1 || { echo "no packages $*" >&2; exit 1; }
for package in *.deb; do dpkg -x "$package" root; done
PATH=$folder/root/usr/bin:$PATH
export LD_LIBRARY_PATH=$folder/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
export LC_ALL=C.UTF-8
echo "$*"
