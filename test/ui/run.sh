#!/bin/sh
# SPDX-License-Identifier: MIT
# ncclstat run and ncclstat env: the environment with which NCCL loads the
# plugin.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
plugin=$(realpath "$build/libnccl-profiler-ncclstat.so")
program=$(realpath "$ncclstat")
unset NCCL_PROFILER_PLUGIN NVTX_INJECTION64_PATH NCCLSTAT_CHAIN \
	NCCLSTAT_NVTX_CHAIN LD_LIBRARY_PATH 2>/dev/null || :

# says TEXT COMMAND...: succeeds if the command prints the text.
says() {
	wanted=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err"
	[ "$(cat "$tmp/out")" = "$wanted" ] && return
	echo "wanted: $wanted"
	echo "got: $(cat "$tmp/out")"
	return 1
}

check 'a command gets the variables of the plugin' \
	says "libnccl-profiler-ncclstat.so ${plugin%/*} $plugin" "$ncclstat" run -- \
	sh -c 'echo $NCCL_PROFILER_PLUGIN $LD_LIBRARY_PATH $NVTX_INJECTION64_PATH'
check 'its dynamic linker finds the plugin by that name' \
	"$ncclstat" run -- python3 -c '
import ctypes, os
ctypes.CDLL(os.environ["NCCL_PROFILER_PLUGIN"]).ncclProfiler_v1'
check 'the program is found by its own place, not by the current folder' \
	says "${plugin%/*}" env -C / "$program" run -- sh -c 'echo $LD_LIBRARY_PATH'
check 'folders of libraries that were there stay, behind it' \
	says "${plugin%/*}:/opt/lib" env LD_LIBRARY_PATH=/opt/lib \
	"$ncclstat" run -- sh -c 'echo $LD_LIBRARY_PATH'
check 'another profiler plugin and another NVTX tool are chained behind' \
	says 'libnccl-profiler-other.so /opt/tool.so' \
	env NCCL_PROFILER_PLUGIN=libnccl-profiler-other.so \
	NVTX_INJECTION64_PATH=/opt/tool.so \
	"$ncclstat" run -- sh -c 'echo $NCCLSTAT_CHAIN $NCCLSTAT_NVTX_CHAIN'
check 'our own plugin is not chained behind itself' \
	says unset env "NCCL_PROFILER_PLUGIN=$plugin" "$ncclstat" run -- \
	sh -c 'echo ${NCCLSTAT_CHAIN-unset}'
check 'a chain that the user has set stays' \
	says mine env NCCL_PROFILER_PLUGIN=other.so NCCLSTAT_CHAIN=mine \
	"$ncclstat" run -- sh -c 'echo $NCCLSTAT_CHAIN'
check 'arguments and the exit status are those of the command' \
	run 7 run -- sh -c '[ "$1" = "a  b" ] && exit 7' sh 'a  b'
check 'dashes may be left out' run 0 run true
check 'no such command: status 127' run 127 run -- ./no-such-command
check 'a file that is no program: status 126' run 126 run -- ./README.md
check 'no command: status 64, and a usage' run 64 run --
check 'the usage names the command' grep -q -e '-- COMMAND' "$tmp/err"

quoted() {
	mkdir -p "$tmp/it's here"
	cp "$program" "$plugin" "$tmp/it's here"
	eval "$("$tmp/it's here/ncclstat" env)"
	[ "$LD_LIBRARY_PATH" = "$tmp/it's here" ] &&
		[ "$NCCL_PROFILER_PLUGIN" = libnccl-profiler-ncclstat.so ]
}
check 'env prints what a shell can read' quoted
check 'env with an argument: status 64' run 64 env x

check 'run: help of its own' run 0 run --help
check 'with the options that it takes, and no others' sh -c '
[ "$(grep -o "^      --[^ ]*" "$1/out" | tr -d "\n ")" = \
	"--watch=FILE--on=WHEN:COMMAND" ]' \
	sh "$tmp"
check 'a command: help of its own' run 0 record --help
check 'with its options, and no others' \
	sh -c 'grep -q -e --rotate "$1/out" && ! grep -q -e --listen "$1/out"' \
	sh "$tmp"
check 'a mistyped short command: status 64' run 64 rn
check 'and the nearest command' grep -q 'did you mean ncclstat run?' "$tmp/err"
check 'a mistyped command that is an option: status 64' run 64 dmup
check 'and the nearest option' grep -q 'did you mean --dump?' "$tmp/err"
check 'a mistyped run: status 64' run 64 runn -- true
check 'and the word that may have been meant' \
	grep -q "did you mean ncclstat run" "$tmp/err"
: >"$tmp/runs"
"$ncclstat" "$tmp/runs" >/dev/null 2>"$tmp/err"
check 'a file whose name is like it is a recording' \
	sh -c "! grep -q 'did you mean' '$tmp/err'"
check 'a mistyped option of run: status 64' run 64 run --wach=x -- true
check 'and the nearest one' grep -q 'did you mean --watch?' "$tmp/err"
check 'a mistyped word of --set: status 64' run 64 --set sampel=4
check 'and the nearest word' grep -q 'did you mean sample?' "$tmp/err"
check 'a mistyped group of events: status 64' run 64 --set events=all-stesp
check 'and the nearest group' grep -q 'did you mean steps?' "$tmp/err"
check 'a number is like no word: status 64' run 64 --set sample=3
check 'and none is named' sh -c "! grep -q 'did you mean' '$tmp/err'"

without_plugin() {
	mkdir -p "$tmp/alone"
	cp "$program" "$tmp/alone"
	status=0
	"$tmp/alone/ncclstat" run -- true 2>"$tmp/err" || status=$?
	[ "$status" -eq 126 ] && grep -q 'libnccl-profiler-ncclstat.so' "$tmp/err"
}
check 'without the plugin nothing is run, and a message says why' without_plugin

exit "$failed"
