#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches the C library and all libraries that ncclstat needs for aarch64, from
# the same Debian or Ubuntu as this machine's, into a folder.
#
#   test/aarch64/fetch.sh FOLDER
#
# apt-get works in that folder, with an empty list of installed packages: this
# machine gets no foreign architecture, nothing is installed, and no package's
# script runs. Does nothing if FOLDER is complete. If something cannot be
# fetched, prints the reason and exits with status 1.

set -eu

packages="libc6-dev libncurses-dev libjansson-dev liblzma-dev liburing-dev
	libxxhash-dev libzstd-dev libcmocka-dev"

folder=${1:?usage: fetch.sh FOLDER}

no() {
	echo "no libraries for aarch64: $*"
	exit 1
}

[ ! -e "$folder/complete" ] || exit 0
command -v apt-get >/dev/null 2>&1 || no "there is no apt-get"
command -v dpkg >/dev/null 2>&1 || no "there is no dpkg"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
tmp=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM
mkdir -p "$tmp/state/lists/partial" "$tmp/cache/archives/partial"
: >"$tmp/status"

# _apt, as whom apt fetches otherwise, may not enter the folder.
apt() {
	apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 \
		-o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=true \
		-o Dir::State="$tmp/state" -o Dir::State::status="$tmp/status" \
		-o Dir::Cache="$tmp/cache" "$@" >>"$tmp/log" 2>&1
}

apt update || no "apt-get update: $(tail -n 1 "$tmp/log")"
# shellcheck disable=SC2086 # a list of words
apt install -y --no-install-recommends --download-only $packages ||
	no "apt-get: $(grep '^E:' "$tmp/log" | tail -n 1)"
for package in "$tmp"/cache/archives/*.deb; do
	dpkg -x "$package" "$folder" || no "$package cannot be unpacked"
done
: >"$folder/complete"
