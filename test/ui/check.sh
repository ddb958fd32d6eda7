#!/bin/sh
# SPDX-License-Identifier: MIT
# ncclstat --check: which processes have NCCL in them, and how the plugin stands
# in each. The NCCL is a library of this test that has its name and tells a
# version.
# shellcheck disable=SC2016 # what is quoted is for the compiler to read

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
own_segments
plugin=$(realpath "$build/libnccl-profiler-ncclstat.so")
jobs=

at_end() {
	# shellcheck disable=SC2086 # a list of numbers
	[ -z "$jobs" ] || kill $jobs 2>/dev/null
}

# library FOLDER VERSION: makes an NCCL of that version.
library() {
	mkdir -p "$tmp/$1"
	echo 'const char version[] = "NCCL version '"$2"'+cuda12.9";' |
		${CC:-cc} -shared -fPIC -x c -o "$tmp/$1/libnccl.so.2" -
}
library new 2.28.9
library old 2.22.3

# process NAME LIBRARY...: starts a process that loads the libraries, with the
# variables of $variables, and sets $pid.
process() {
	name=$1
	shift
	# shellcheck disable=SC2086 # a list of assignments
	env $variables python3 -c '
import ctypes, sys, time
held = [ctypes.CDLL(path) for path in sys.argv[2:]]
open(sys.argv[1], "w").close()
time.sleep(600)' "$tmp/$name.ready" "$@" &
	pid=$!
	jobs="$jobs $pid"
	await [ -e "$tmp/$name.ready" ] || echo "not ok process $name starts"
}

# stands PID WORD: succeeds if that is how the plugin stands in the process.
stands() {
	"$ncclstat" --check >"$tmp/out" 2>"$tmp/err"
	grep -q "^ *$1  .*  $2  " "$tmp/out" && return
	cat "$tmp/out"
	return 1
}

# --- Before a job ------------------------------------------------------------

check 'without a job: status 0' run 0 --check
check 'the plugin is found and loads' \
	grep -qx "plugin    $plugin: loads" "$tmp/out"
check 'the folder can be written, and has space' \
	grep -q "^segments  $NCCLSTAT_DIR: writable, .*B free$" "$tmp/out"
check 'how to start a job is told' grep -q 'ncclstat run -- COMMAND' "$tmp/out"
mkdir -p "$tmp/env/bin" "$tmp/env/lib/python3.9/site-packages/nvidia/nccl/lib"
cp "$tmp/old/libnccl.so.2" \
	"$tmp/env/lib/python3.9/site-packages/nvidia/nccl/lib"
LD_LIBRARY_PATH="$tmp/new" PATH="$tmp/env/bin:$PATH" "$ncclstat" --check \
	>"$tmp/out"
check "the version of the loader's NCCL" \
	grep -qx "NCCL      2.28.9, $tmp/new/libnccl.so.2" "$tmp/out"
check "the version of Python's NCCL, which is too old" \
	grep -q "^NCCL      2.22.3, $tmp/env/lib/.*: too old for" "$tmp/out"
mkdir "$tmp/disk"
if [ "$(stat -f -c %T "$tmp/disk")" != tmpfs ]; then
	check 'a folder in which no job publishes: status 1' \
		run 1 --check --dir "$tmp/disk"
	check 'and why' grep -q 'not on a tmpfs' "$tmp/out"
fi
if [ "$(id -u)" -eq 0 ]; then
	check 'root is not told to use sudo' sh -c '! grep -q sudo "$1"' sh "$tmp/out"
fi

# --- Processes ---------------------------------------------------------------

# NCCL linked into a program: its functions are among the program's symbols.
echo 'const char version[] = "NCCL version 2.27.3+cuda12.9";
extern int pause(void);
int ncclCommInitRank(void) { return pause(); }
int main(void) { return version[0] ? ncclCommInitRank() : 0; }' |
	${CC:-cc} -x c -o "$tmp/linked" -
words=$(seq -s ' ' 200)
# shellcheck disable=SC2086 # a list of words
"$tmp/linked" $words last-word &
linked=$!
jobs="$jobs $linked"

ours=NCCL_PROFILER_PLUGIN=libnccl-profiler-ncclstat.so
variables="NCCL_PROFILER_PLUGIN="
process unset "$tmp/new/libnccl.so.2"
check 'a process whose environment does not name the plugin' stands "$pid" not_set
check 'the version of its NCCL is told' grep -q "^ *$pid .* 2\.28\.9 " "$tmp/out"
check 'what to do is told' grep -q 'ncclstat run -- COMMAND' "$tmp/out"
check 'a process that is not seen: status 1' run 1 --check
check 'NCCL that was linked into a program' \
	grep -q "^ *$linked .* 2\.27\.3  *not_set  *(NCCL linked into it)" "$tmp/out"
check 'in a pipe a command is not cut' grep -q "$linked .* 199 200 last-word$" "$tmp/out"
process old "$tmp/old/libnccl.so.2"
check 'an NCCL before plugins' stands "$pid" old_nccl
variables="NCCL_PROFILER_PLUGIN=libnccl-profiler-other.so"
process other "$tmp/new/libnccl.so.2"
check 'another plugin is named' stands "$pid" other_plugin
check 'and told' grep -q "$pid: libnccl-profiler-other.so" "$tmp/out"
variables="$ours LD_LIBRARY_PATH=$tmp/new"
process lost "$tmp/new/libnccl.so.2"
check 'the plugin is in no folder of the search path' stands "$pid" not_found
variables="$ours LD_LIBRARY_PATH=$tmp/new:${plugin%/*}"
process waits "$tmp/new/libnccl.so.2"
check 'the plugin is there, and not loaded yet' stands "$pid" not_yet
check 'no job: a diagnosis has none' run 3 --diagnose
check 'no job: a process before its first communicator is named' \
	grep -q "process $pid (.*) has NCCL in it and no communicator" "$tmp/err"
process loaded "$tmp/new/libnccl.so.2" "$plugin"
check 'it is loaded, without a communicator' stands "$pid" no_communicator
variables="$ours NCCLSTAT_DISABLE=1"
process disabled "$tmp/new/libnccl.so.2" "$plugin"
check 'it is loaded, and disabled' stands "$pid" disabled
variables="$ours NCCLSTAT_DIR=/elsewhere"
process elsewhere "$tmp/new/libnccl.so.2" "$plugin"
check 'it publishes elsewhere' stands "$pid" elsewhere
check 'and where is told' grep -q "$pid: /elsewhere" "$tmp/out"

# A job of the plugin, with NCCL loaded beside.
LD_PRELOAD="$tmp/new/libnccl.so.2" "$build/ncclreplay" --hold \
	test/captures/net-v5-hang/rank0.calllog.xz >"$tmp/said" 2>&1 &
jobs="$jobs $!"
pid_that_publishes() {
	pid=$("$ncclstat" --list 2>/dev/null | awk 'NR == 2 { print $1 }')
	[ -n "$pid" ] && stands "$pid" publishes
}
check 'a process that publishes' await pid_that_publishes

exit "$failed"
