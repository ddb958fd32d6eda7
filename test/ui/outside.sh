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

# has_begun NUMBER: whether the ranks have begun so many operations.
has_begun() {
	"$ncclstat" --dump=json 2>/dev/null | python3 -c '
import json, sys
ranks = json.load(sys.stdin)["ranks"]
sys.exit(sum(f["operations"] or 0 for r in ranks for f in r["functions"]) <
         int(sys.argv[1]))' "$1"
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
	await has_begun 50
}

stop() {
	end_job
	rm "$tmp/shm"
}

# says STATUS PATTERN [RECORDING]: whether the diagnosis has this exit status and a
# verdict like this.
says() {
	wanted=$1 pattern=$2
	shift 2
	run "$wanted" --diagnose "$@" && grep "$pattern" "$tmp/out"
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
check 'kernels that compute: well' says 0 '^well: nothing is wrong: '
check 'kernels that compute: JSON' json '
	all(r["outside_code"] == [] for r in d["ranks"]) and
	sum(r["cupti"]["busy_ns"] or 0 for r in d["ranks"]) == 8 * 4000 and
	sum(r["cupti"]["outside_kernels"] or 0 for r in d["ranks"]) == 0'
stop

play $ddp NCCLSTAT_CUPTI="$cupti" FAKE_CUPTI_KERNEL=$allreduce
check 'kernels that communicate: no verdict, their share' \
	says 4 "$unseen (25 % of the GPUs' time) $else"
check 'kernels that communicate: are not checked' \
	grep -q "^not checked: communication outside NCCL: 25 % of the" \
	"$tmp/out"
check 'kernels that communicate: JSON' json '
	sum(r["cupti"]["outside_kernels"] or 0 for r in d["ranks"]) == 8 and
	sum(r["cupti"]["outside_busy_ns"] or 0 for r in d["ranks"]) == 8000 and
	d["verdict_line"].startswith("no verdict: communication outside")'
check 'kernels that communicate: --dump' sh -c '
	"$1" --dump >"$2" && tr -s " \n" " " <"$2" |
	grep -q "communication outside NCCL (25 % of the GPUs. time)"' \
	sh "$ncclstat" "$tmp/out"
check 'kernels that communicate: metrics' sh -c '
	"$1" --dump=prometheus --metrics=all >"$2" &&
	[ "$(grep -c "^ncclstat_gpu_outside_seconds_total{.*} 0.000001000$" "$2")" \
		= 8 ]' sh "$ncclstat" "$tmp/out"
run 0 --record "$tmp/kernels.ncs" --duration 2
stop
check 'kernels that communicate: a recording' \
	says 4 "$unseen (25 % of the GPUs' time) " "$tmp/kernels.ncs"

play $ddp LD_PRELOAD="$tmp/lib/deep_ep_cpp.so"
check 'a library: no verdict, its name' says 4 "$unseen (DeepEP) $else"
check 'a library: JSON' json \
	'all(r["outside_code"] == ["DeepEP"] for r in d["ranks"])'
run 0 --record "$tmp/library.ncs" --duration 2
stop
check 'a library: a recording' says 4 "$unseen (DeepEP) " "$tmp/library.ncs"

play $ddp LD_PRELOAD="$tmp/lib/deep_ep_cpp.so" NCCLSTAT_CUPTI="$cupti"
check 'a library that is not used: well' says 0 '^well: nothing is wrong: '
stop

play $ddp LD_PRELOAD="$tmp/lib/libmine.so" NCCLSTAT_CUPTI="$cupti"
check 'calls of one-sided functions: no verdict' \
	says 4 "$unseen (one-sided calls, device API) $else"
stop

play $ddp LD_PRELOAD="$late" LATE_LIBRARY="$tmp/lib/libmscclpp.so"
check 'a library that is not there yet: well' says 0 '^well: nothing is wrong: '
"$ncclstat" --record "$tmp/late.ncs" --duration 6 >/dev/null 2>&1 &
recorder=$!
mv "$tmp/lib/later.so" "$tmp/lib/libmscclpp.so"
check 'a library that is loaded later: no verdict' \
	await says 4 "$unseen (MSCCL++) $else"
wait "$recorder"
stop
check 'a library that is loaded later: a recording' \
	says 4 "$unseen (MSCCL++) " "$tmp/late.ncs"

# Finds what is wrong with NCCL, too.
export NCCLSTAT_DIR="$tmp/shm"
shm_folder "$tmp/shm"
NCCLSTAT_CUPTI=$cupti FAKE_CUPTI_KERNEL=$allreduce "$replay" --hold \
	test/captures/net-v5-hang >"$tmp/said" 2>&1 &
job=$!
check 'a job that hangs: is stuck all the same' \
	sh -c 'timeout 60 "$1" --diagnose --wait=50 >"$2"
		[ $? = 2 ]' sh "$ncclstat" "$tmp/out"
check 'a job that hangs: what is not seen is listed' \
	grep -q "^not checked: communication outside NCCL: 25 %" "$tmp/out"

exit "$failed"
