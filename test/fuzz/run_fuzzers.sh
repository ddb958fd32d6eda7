#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs libFuzzer's programs, each for FUZZ_SECONDS, and reports the results.
#
#   BUILD=folder FUZZ_BUILD=folder FUZZ_SECONDS=60 test/fuzz/run_fuzzers.sh NAME...
#
# Each has a corpus in FUZZ_BUILD, which begins with seeds that the plain build
# in BUILD makes, and grows from run to run.  An input that crashes a program is
# kept in FUZZ_BUILD/crashes; give it to the same program as its argument.  The
# script must not write anywhere else.  The last line is "N passed, N failed".

set -eu
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
fuzz=${FUZZ_BUILD:-$build-fuzz}
seconds=${FUZZ_SECONDS:-60}
passed=0
failed=0

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-fuzz.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM
mkdir -p "$fuzz/crashes"

# seeds NAME FOLDER: writes valid inputs to begin with.
seeds() {
	case $1 in
	fuzz_segment)
		"$build/test/unit/shm/read/test_fuzz_segment" "$2/segment" >/dev/null
		;;
	fuzz_recording)
		"$build/test/unit/record/read/test_fuzz_recording" "$2/recording" >/dev/null
		;;
	fuzz_stream)
		"$build/test/unit/fleet/stream/test_fuzz_stream" "$2/stream" >/dev/null
		;;
	fuzz_text)
		cat >"$2/config" <<-END
		# comment
		interval = 0.5
		sort = ranks:-host
		columns = channels:bytes,-peer
		mouse = off
		END
		printf 'dp* data parallel\n0x1f? tensor\n' >"$2/aliases"
		printf 'events=all,kernel=64,sample=8' >"$2/set"
		;;
	esac
}

for name; do
	corpus=$fuzz/corpus/$name
	mkdir -p "$corpus"
	seeds "$name" "$corpus"
	status=0
	"$fuzz/fuzz/$name" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=4096 -print_final_stats=1 \
		-artifact_prefix="$fuzz/crashes/$name-" \
		"$corpus" >"$tmp/log" 2>&1 </dev/null || status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$tmp/log")
	if [ "$status" -eq 0 ] && [ "${runs:-0}" -gt 0 ]; then
		echo "ok $name: $runs inputs in $seconds s"
		passed=$((passed + 1))
	else
		tail -n 60 "$tmp/log"
		echo "not ok $name: status $status; see $fuzz/crashes"
		failed=$((failed + 1))
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
