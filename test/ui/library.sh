#!/bin/sh
# SPDX-License-Identifier: MIT
# What is installed for those who write programs: the example of libncclstat(3)
# is compiled against an installation as the page says, and finds the ranks of a
# job.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
own_segments

there_are() {
	[ "$("$ncclstat" --list 2>/dev/null | grep -c alive)" -ge "$1" ]
}

# What is built is installed, whatever it was built with.
installs() {
	make -o all BUILD="$build" PREFIX="$tmp/usr" install
}

compiles() {
	sed -n '/^#include <inttypes/,/^\.Ed/p' man/libncclstat.3.in |
		sed 's/\\e/\\/g; /^\.Ed/d' >"$tmp/example.c" &&
		# shellcheck disable=SC2046 # a list of words
		${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror \
			-o "$tmp/example" "$tmp/example.c" \
			$(PKG_CONFIG_PATH="$tmp/usr/lib/pkgconfig" pkg-config \
				--cflags --libs libncclstat)
}

finds_both() {
	"$tmp/example" >"$tmp/out" 2>"$tmp/err" &&
		[ "$(grep -c '^pid [0-9]* rank [01]: [1-9][0-9]* AllReduce, alive$' \
			"$tmp/out")" -eq 2 ]
}

check 'it is installed' installs
check 'the example of libncclstat(3) is compiled as the page says' compiles
check 'without a job it finds nothing' "$tmp/example"
"$replay" --loop 0 --speed 0.2 test/captures/net-v5-mix >/dev/null 2>&1 &
job=$!
await there_are 2
check 'it finds both ranks of a job, and what they called' await finds_both

exit "$failed"
