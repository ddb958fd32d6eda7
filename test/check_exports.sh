#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks what the plugin shows to the process that loads it: it exports exactly
# the tables ncclProfiler_v1 to v7, padded, NVTX's entry and the calls for ranges; it
# needs libc only, and none newer than 2.17; all symbols are bound when it is loaded (so that none is
# looked up in a callback); and it is never unloaded (NCCL closes a plugin while
# threads may still be in it).
#
#   test/check_exports.sh [PLUGIN]
#
# Prints what is wrong. First it checks a library that breaks each rule, to see
# that each fault is noticed.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-exports.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

CC=${CC:-cc}
plugin=${1:-${BUILD:-build}/libnccl-profiler-ncclstat.so}

for v in 1 2 3 4 5 6 7; do
	echo "ncclProfiler_v$v"
done >"$tmp/names"
for call in push pop start end mark; do
	echo "ncclstat_range_$call"
done >>"$tmp/names"
echo InitializeInjectionNvtx2 >>"$tmp/names"
sort "$tmp/names" >"$tmp/wanted"

# check LIBRARY: prints what is wrong.
check() {
	nm -D --defined-only "$1" | awk '{ sub(/@.*/, "", $3); print $3 }' |
		sort >"$tmp/exported"
	comm -23 "$tmp/wanted" "$tmp/exported" | sed 's/^/not exported: /'
	comm -13 "$tmp/wanted" "$tmp/exported" | sed 's/^/exported too: /'
	readelf -dW "$1" >"$tmp/dynamic"
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$tmp/dynamic" |
		grep -v -e '^libc\.so\.6$' -e '^ld-linux' \
			-e '^libdl\.so\.2$' -e '^libpthread\.so\.0$' |
		sed 's/^/needs: /' || :
	nm -D --undefined-only "$1" |
		sed -n 's/.* \([^@]*\)@*GLIBC_2\.\([0-9]*\).*/\2 \1/p' |
		awk '$1 > 17 { print "needs glibc 2." $1 ": " $2 }'
	# Six words, and eight zeros for functions that a later NCCL may look
	# for; what is initialized with no value is 0.
	readelf -sW "$1" | awk '$8 ~ /^ncclProfiler_v/ && $3 < 112 {
		print $8 " is not padded: " $3 " bytes" }' | sort -u
	for flag in NODELETE NOW; do
		grep -q "(FLAGS_1).*$flag" "$tmp/dynamic" || echo "not $flag"
	done
}

cat >"$tmp/bad.c" <<'END'
#include <math.h>
#include <sys/stat.h>
double extra(double x);
double extra(double x) { return cos(x); }
int newer(struct stat *status);
int newer(struct stat *status) { return stat("/", status); }
void *ncclProfiler_v1[6];
END
$CC -shared -fPIC -Wl,-z,lazy -o "$tmp/bad.so" "$tmp/bad.c" -lm
check "$tmp/bad.so" >"$tmp/found"
for want in 'not exported: ncclProfiler_v7' 'exported too: extra' \
	'needs: libm' 'needs glibc 2.33: stat' \
	'ncclProfiler_v1 is not padded' 'not NODELETE' 'not NOW'; do
	if ! grep -q "$want" "$tmp/found"; then
		echo "self-test: not noticed: $want"
		exit 1
	fi
done

if [ ! -e "$plugin" ]; then
	echo "$plugin has not been built"
	exit 1
fi
check "$plugin" >"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ]
