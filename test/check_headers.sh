#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that each header includes what it needs: included alone, and twice, it
# compiles as C11; headers of include/ncclstat, which other programs use, also
# compile as C++17.
#
# Tables (.def) are not headers and are left out. First it checks a header that
# needs another, to see that this is noticed.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-headers.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

CC=${CC:-cc}
CXX=${CXX:-c++}
warn='-Wall -Wextra -Werror'
libs=$(pkg-config --cflags ncursesw jansson liblzma cmocka liburing libxxhash \
	libzstd 2>/dev/null) || libs=

# compile SUFFIX COMPILER FLAG...: compiles each header on standard input alone, by
# one command for all of them, which prints what is wrong.
compile() {
	suffix=$1
	shift
	rm -rf "$tmp/alone"
	mkdir "$tmp/alone"
	while read -r header; do
		name=${header#include/}
		printf '#include "%s"\n#include "%s"\n' "$name" "$name" \
			>"$tmp/alone/$(printf %s "$name" | tr / -).$suffix"
	done
	"$@" -D_GNU_SOURCE -Iinclude -I. -fsyntax-only "$tmp"/alone/* 2>&1
}

echo 'static inline size_t f(void) { return 0; }' >"$tmp/bad.h"
for suffix in c cc; do
	if { echo include/ncclstat/abi.h; echo "$tmp/bad.h"; } |
		compile "$suffix" "$CXX" >"$tmp/log" || ! grep -q size_t "$tmp/log"
	then
		echo "self-test: not noticed in .$suffix"
		exit 1
	fi
done

for folder in include shm plugin analysis record fleet tui test man; do
	[ ! -d "$folder" ] || find "$folder" -name '*.h' -type f
done >"$tmp/list"
status=0
# shellcheck disable=SC2086 # lists of words
compile c $CC -std=c11 $warn $libs <"$tmp/list" || status=1
# shellcheck disable=SC2086
grep '^include/' "$tmp/list" |
	compile cc "$CXX" -std=c++17 -pedantic $warn || status=1
exit "$status"
