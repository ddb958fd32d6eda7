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

# compiles HEADER LANGUAGE COMPILER FLAG...
compiles() {
	header=$1
	lang=$2
	shift 2
	printf '#include "%s"\n#include "%s"\n' "$header" "$header" |
		"$@" -D_GNU_SOURCE -Iinclude -I. -fsyntax-only -x "$lang" -
}

# all: prints all headers that do not compile.
all() {
	for f in include shm plugin analysis record tui test man; do
		[ ! -d "$f" ] || find "$f" -name '*.h' -type f
	done | sort >"$tmp/list"
	while read -r header; do
		name=${header#include/}
		# shellcheck disable=SC2086 # lists of words
		compiles "$name" c $CC -std=c11 $warn $libs \
			>"$tmp/log" 2>&1 || {
			echo "$header does not compile alone as C11:"
			cat "$tmp/log"
		}
		[ "$name" != "$header" ] || continue
		# shellcheck disable=SC2086
		compiles "$name" c++ "$CXX" -std=c++17 -pedantic $warn \
			>"$tmp/log" 2>&1 || {
			echo "$header does not compile alone as C++17:"
			cat "$tmp/log"
		}
	done <"$tmp/list"
}

echo 'static inline size_t f(void) { return 0; }' >"$tmp/bad.h"
for lang in c c++; do
	if compiles "$tmp/bad.h" "$lang" "$CXX" >"$tmp/log" 2>&1 ||
	   ! grep -q size_t "$tmp/log"; then
		echo "self-test: not noticed in $lang"
		exit 1
	fi
done

all >"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ]
