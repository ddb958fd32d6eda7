#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches the DuckDB that query.mjs runs, from the npm registry.
#
#   test/duckdb/fetch.sh FOLDER
#
# Accepts the packages of package-lock.json by its checksums only, which npm
# compares; npm leaves out of the file what is for other machines than the one
# that it was made on, an x86-64 with glibc. Runs no script of a package; only query.mjs loads them. Does nothing
# if FOLDER already has them. If they cannot be fetched, prints the reason and
# exits with status 1; tests that need them are then skipped.

set -eu
cd "$(dirname "$0")"

case ${1:?usage: fetch.sh FOLDER} in
/*) folder=$1 ;;
*) folder=$OLDPWD/$1 ;;
esac

no() {
	echo "no DuckDB: $*"
	exit 1
}

! cmp -s package-lock.json "$folder/locked" || exit 0
command -v node >/dev/null 2>&1 || no "Node.js is not installed"
command -v npm >/dev/null 2>&1 || no "npm is not installed"
mkdir -p "${folder%/*}"
tmp=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

# With a cache of its own, npm leaves nothing outside the folder.
cp package.json package-lock.json "$tmp"
cp package-lock.json "$tmp/locked"
(cd "$tmp" && npm install --ignore-scripts --no-audit --no-fund \
	--cache "$tmp/cache" >log 2>&1) ||
	no "npm could not fetch its packages:" "$(grep -m 1 'npm error' "$tmp/log")"
node query.mjs "$tmp" 'SELECT 1' >/dev/null 2>"$tmp/log" ||
	no "it does not run here:" "$(tail -n 1 "$tmp/log")"
rm -rf "$tmp/cache" "$tmp/log" "$folder"
mv "$tmp" "$folder"
chmod 755 "$folder"
