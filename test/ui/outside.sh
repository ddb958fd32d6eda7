#!/bin/sh
# SPDX-License-Identifier: MIT
# Captured jobs that communicate outside NCCL, or may do so, are never called well:
# live, in JSON, in metrics and in recordings. Their kernels are those of a fake
# CUPTI; their libraries are loaded, and do nothing.
# shellcheck source=test/ui/checks
. "$(dirname "$0")/checks"

if [ ! -x "$replay" ] || [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi
export FAKE_CUPTI_KERNEL=
allreduce=_ZN4vllm26cross_device_reduce_1stageIfLi2EEEvPv
cupti=$PWD/$build/test/next/cupti.so
late=$PWD/$build/test/next/late.so
mkdir "$tmp/lib"
cp "$build/test/next/cupti.so" "$tmp/lib/later.so"
cp "$build/test/next/cupti.so" "$tmp/lib/deep_ep_cpp.so"
cp "$build/test/next/one_sided.so" "$tmp/lib/libmine.so"

# has_begun NUMBER: whether each of the 8 ranks has begun so many operations.
has_begun() {
	"$ncclstat" --dump=json 2>/dev/null | python3 -c '
import json, sys
ranks = json.load(sys.stdin)["ranks"]
begun = [sum(f["operations"] or 0 for f in r["functions"]) for r in ranks]
sys.exit(len(begun) != 8 or min(begun) < int(sys.argv[1]))' "$1"
}

# is_never_well: whether no look at a job that is not seen as a whole calls it well.
is_never_well() {
	for _ in 1 2 3; do
		"$ncclstat" --diagnose -i 0.1 >"$tmp/out"
		! grep "^well" "$tmp/out" || return 1
	done
}

# play CAPTURE NAME=VALUE...: plays a captured job for ever, with these variables.
play() {
	export NCCLSTAT_DIR="$tmp/shm"
	shm_folder "$tmp/shm"
	capture=$1
	shift
	env "$@" "$replay" --loop 0 "test/captures/$capture" \
		>"$tmp/said" 2>&1 &
	job=$!
	await has_begun 8
}

stop() {
	end_job
	rm "$tmp/shm"
}

# says STATUS PATTERN [RECORDING]: whether the diagnosis has this exit status and a
# verdict like this. Where a machine is busy a rank is late at times.
says() {
	wanted=$1 pattern=$2
	shift 2
	run "$wanted" --diagnose "$@" && grep "$pattern" "$tmp/out"
}

# is_recorded PATTERN: whether a recording has no verdict either, with this reason;
# again, twice at most, if a rank of it is late.
is_recorded() {
	for _ in 1 2 3; do
		run 0 --record "$tmp/job.ncs" --duration 2 || return
		says 4 "$1" "$tmp/job.ncs" && return
		! grep "^well" "$tmp/out" || return 1
	done
	return 1
}

# json EXPRESSION: whether it holds for the dump d.
json() {
	"$ncclstat" --dump=json >"$tmp/out" && python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert eval("(" + sys.argv[2] + ")"), d["verdict_line"]' "$tmp/out" "$1"
}

unseen='^no verdict: communication outside NCCL'
else='is not seen; else nothing is wrong: [0-9]* of 8 ranks level, '
ddp=net-v5-ddp8

play $ddp NCCLSTAT_CUPTI="$cupti" FAKE_CUPTI_KERNEL=gelu
check 'kernels that compute: well' await says 0 '^well: nothing is wrong: '
check 'kernels that compute: JSON' json '
	all(r["outside_code"] == [] for r in d["ranks"]) and
	sum(r["cupti"]["busy_ns"] or 0 for r in d["ranks"]) == 8 * 4000 and
	sum(r["cupti"]["outside_kernels"] or 0 for r in d["ranks"]) == 0'
stop

play $ddp NCCLSTAT_CUPTI="$cupti" FAKE_CUPTI_KERNEL=$allreduce
check 'kernels that communicate: no verdict, their share' \
	await says 4 "$unseen (25 % of the GPUs' time) $else"
check 'kernels that communicate: never well' is_never_well
check 'kernels that communicate: are not checked' await says 4 \
	"^not checked: communication outside NCCL: 25 % of the"
check 'kernels that communicate: JSON' await json '
	sum(r["cupti"]["outside_kernels"] or 0 for r in d["ranks"]) == 8 and
	sum(r["cupti"]["outside_busy_ns"] or 0 for r in d["ranks"]) == 8000 and
	d["verdict_line"].startswith("no verdict: communication outside")'
check 'kernels that communicate: --dump' await sh -c '
	"$1" --dump >"$2" && tr -s " \n" " " <"$2" |
	grep -q "communication outside NCCL (25 % of the GPUs. time)"' \
	sh "$ncclstat" "$tmp/out"
check 'kernels that communicate: metrics' sh -c '
	"$1" --dump=prometheus --metrics=all >"$2" &&
	[ "$(grep -c "^ncclstat_gpu_outside_seconds_total{.*} 0.000001000$" "$2")" \
		= 8 ]' sh "$ncclstat" "$tmp/out"
check 'kernels that communicate: a recording' \
	is_recorded "$unseen (25 % of the GPUs' time) "
stop

play $ddp LD_PRELOAD="$tmp/lib/deep_ep_cpp.so"
check 'a library: no verdict, its name' await says 4 "$unseen (DeepEP) $else"
check 'a library: never well' is_never_well
check 'a library: JSON' json \
	'all(r["outside_code"] == ["DeepEP"] for r in d["ranks"])'
check 'a library: a recording' is_recorded "$unseen (DeepEP) "
stop

play $ddp LD_PRELOAD="$tmp/lib/deep_ep_cpp.so" NCCLSTAT_CUPTI="$cupti"
check 'a library that is not used: well' await says 0 '^well: nothing is wrong: '
stop

play $ddp LD_PRELOAD="$tmp/lib/libmine.so" NCCLSTAT_CUPTI="$cupti"
check 'calls of one-sided functions: no verdict' \
	await says 4 "$unseen (one-sided calls, device API) $else"
check 'calls of one-sided functions: never well' is_never_well
stop

play $ddp LD_PRELOAD="$late" LATE_LIBRARY="$tmp/lib/libmscclpp.so"
check 'a library that is not there yet: well' await says 0 '^well: nothing is wrong: '
"$ncclstat" --record "$tmp/late.ncs" >/dev/null 2>&1 &
recorder=$!
mv "$tmp/lib/later.so" "$tmp/lib/libmscclpp.so"
check 'a library that is loaded later: no verdict' \
	await says 4 "$unseen (MSCCL++) $else"
check 'a library that is loaded later: a recording' \
	await says 4 "$unseen (MSCCL++) " "$tmp/late.ncs"
kill "$recorder"
wait "$recorder"
check 'a library that is loaded later: the whole recording is not well' sh -c '
	! "$1" --diagnose "$2" >"$3" && ! grep "^well" "$3"' - \
	"$ncclstat" "$tmp/late.ncs" "$tmp/out"
stop

# Finds what is wrong with NCCL, too: a hang of half a minute.
export NCCLSTAT_DIR="$tmp/shm"
shm_folder "$tmp/shm"
NCCLSTAT_CUPTI=$cupti FAKE_CUPTI_KERNEL=$allreduce "$replay" --hold \
	--speed 0.2 test/captures/net-v5-hang >"$tmp/said" 2>&1 &
job=$!
check 'a job that hangs: is stuck all the same' \
	sh -c 'timeout 60 "$1" --diagnose --wait=50 >"$2"
		[ $? = 2 ]' sh "$ncclstat" "$tmp/out"
check 'a job that hangs: what is not seen is listed' \
	grep -q "^not checked: communication outside NCCL: 25 %" "$tmp/out"

exit "$failed"
