#
# npm packages in a temporary folder, to be sourced.
# SPDX-License-Identifier: PostgreSQL
#
# The arguments are PACKAGE@VERSION.  The folder is $folder, where the script goes on, and
# goes away with it; what the packages need beside themselves is what npm finds today.
#

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --no-audit --no-fund --silent "$@" >/dev/null 2>&1 ||
	{ echo "no packages $*" >&2; exit 1; }
echo "$*"
