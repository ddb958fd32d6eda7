#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks that each header includes what it needs: included alone, it compiles as
# C11; headers of include/ncclstat, which other programs use, also compile as
# C++17. Included twice, all of them still compile.
#
# The first line of most headers' own source includes them, so that the build has
# compiled them alone. The others are compiled here. Tables (.def) are not headers
# and are left out. First it checks a header that needs another, to see that this
# is noticed.

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

# first_included: prints the header that each source begins with, of those sources
# that the tests build.
first_included() {
	find shm plugin analysis record fleet tui test man -name '*.c' \
		! -path 'test/fuzz/*' ! -path 'test/bench/*' ! -path 'test/gpu/*' \
		-exec awk -F '"' '
		FNR == 1 { begins = 1 }
		begins && /^#/ {
			begins = 0
			folder = FILENAME
			sub("[^/]*$", "", folder)
			if (/^#include "/)
				print folder $2, "include/" $2, $2
		}' {} + |
		while read -r beside public rooted; do
			for header in "$beside" "$public" "$rooted"; do
				[ ! -e "$header" ] || { echo "$header"; break; }
			done
		done
}

for folder in include shm plugin analysis record fleet tui test man; do
	[ ! -d "$folder" ] || find "$folder" -name '*.h' -type f
done | sort >"$tmp/list"
first_included | sort -u >"$tmp/first"
comm -23 "$tmp/list" "$tmp/first" >"$tmp/others"
status=0
# shellcheck disable=SC2086 # lists of words
compile c $CC -std=c11 $warn $libs <"$tmp/others" || status=1
sed 's,^include/,,; s,.*,#include "&",' "$tmp/list" "$tmp/list" >"$tmp/twice.c"
# shellcheck disable=SC2086
$CC -std=c11 $warn $libs -D_GNU_SOURCE -Iinclude -I. -fsyntax-only \
	"$tmp/twice.c" || status=1
# shellcheck disable=SC2086
grep '^include/' "$tmp/list" |
	compile cc "$CXX" -std=c++17 -pedantic $warn || status=1
exit "$status"
