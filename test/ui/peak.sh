#!/bin/sh
# SPDX-License-Identifier: MIT
# The peak of NVLinks beside the bandwidth of a job over NVLink, as a fake of
# NVIDIA's management library tells it: in the view, in JSON, and from recordings
# and streams, where the library is not there.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

library=$build/test/next/nvml
if [ ! -x "$build/ncclreplay" ] || [ ! -e "$library/libnvidia-ml.so.1" ]; then
	echo "ncclreplay or the fake of NVML has not been built"
	exit 77
fi

# Eight GPUs with 18 links of an H200; see test/plugin/next/fake_nvml.c.
with_nvml() {
	LD_LIBRARY_PATH=$library "$@"
}
export FAKE_NVML='8 18 26562 0 0 0'

# links FILE: the peaks of the communicator of all ranks in the last sample.
links() {
	python3 -c 'import json, sys
last = json.loads(open(sys.argv[1]).read().splitlines()[-1])
print(*[(c["peak_link"], c["peak_gbs"]) for c in last["communicators"]
	if c["ranks_seen"] == 8])' "$1"
}
nvlink="('nvlink', 478.116)"
none='(None, None)'

"$build/ncclreplay" --gpus --loop 0 test/captures/nvlink-v5-ddp8 \
	>"$tmp/log" 2>&1 </dev/null &
background=$!

has_ended() {
	"$ncclstat" --dump=json >"$tmp/json" 2>/dev/null && python3 -c '
import json, sys
ranks = json.load(open(sys.argv[1]))["ranks"]
sys.exit(len(ranks) != 8 or any((r["launches"]["ended"] or 0) <= 20 for r in ranks))' \
		"$tmp/json"
}
soon has_ended

# --- JSON ------------------------------------------------------------------

# tells VERDICT COMMAND...: whether two samples end with these peaks.
tells() {
	wanted=$1
	shift
	"$@" --dump=json --interval 0.5 --count 3 >"$tmp/json" 2>/dev/null
	[ "$(links "$tmp/json")" = "$wanted" ]
}

soon tells "$nvlink" with_nvml "$ncclstat"
verdict 'JSON tells the peak of the links of a GPU' $?
tells "$none" "$ncclstat"
verdict 'without the library there is no peak' $?
FAKE_NVML='8 18 26562 18 0 0' tells "$none" with_nvml "$ncclstat"
verdict 'links that are down make no peak' $?
FAKE_NVML='8 18 26562 0 3 0' tells "$none" with_nvml "$ncclstat"
verdict 'a GPU that the others do not reach makes that unknown' $?

# --- Metrics -----------------------------------------------------------------

# uuids COUNT COMMAND...: whether the last metrics have as many GPUs with the UUID
# that the library tells, which ends with the number of the bus.
uuids() {
	wanted=$1
	shift
	"$@" --dump=openmetrics --interval 0.5 --count 3 2>/dev/null |
		grep '_info{comm' | tail -n 8 >"$tmp/ranks"
	[ "$(grep -c ":0\([1-8]\):00.0\",UUID=\"GPU-01234567-89ab-cdef-fedc-ba987654320\1\"" \
		"$tmp/ranks")" -eq "$wanted" ]
}

soon uuids 8 with_nvml "$ncclstat"
verdict 'metrics have the UUIDs of GPUs' $?
uuids 0 "$ncclstat"
verdict 'without the library they are empty' $?

# --- Recordings and streams ------------------------------------------------

with_nvml "$ncclstat" --record "$tmp/job.ncs" --duration 4 2>"$tmp/record.err"
"$ncclstat" --dump=json "$tmp/job.ncs" >"$tmp/json" 2>/dev/null &&
	[ "$(links "$tmp/json")" = "$nvlink" ]
verdict 'a recording has the peak' $?
"$ncclstat" --dump=openmetrics "$tmp/job.ncs" 2>/dev/null |
	grep -q ',UUID="GPU-01234567-89ab-cdef-fedc-ba9876543208"'
verdict 'and the UUIDs' $?
"$ncclstat" --export=parquet --output="$tmp/tables" "$tmp/job.ncs" \
	2>"$tmp/export.err" &&
	python3 -c '
import glob, sys
sys.path.insert(0, "test/parquet")
import reader
path, = glob.glob(sys.argv[1] + "/*.states.parquet")
found = set(reader.read(path).columns["gpu_uuid"])
sys.exit(found != {"GPU-01234567-89ab-cdef-fedc-ba987654320%d" % bus
                   for bus in range(1, 9)})' "$tmp/tables"
verdict 'and so have its tables' $?
with_nvml "$ncclstat" --stream --interval 0.1 </dev/null 2>/dev/null |
	tells "$nvlink" "$ncclstat" --follow -
verdict 'a head has it from its agent' $?

# --- The view --------------------------------------------------------------

open 80x24 "exec env LD_LIBRARY_PATH=$library $ncclstat --interval 0.5"
started && sees ' of 478 GB/s NVLink$' && press b &&
	sees ' of 3825 Gb/s NVL$'
verdict 'the view has it beside the bandwidth' $?
open 80x24 "exec $ncclstat $tmp/job.ncs"
sees ' of 478 GB/s NVLink$'
verdict 'so has the view of a recording' $?

# --- A clock that is held down ---------------------------------------------

kill "$background"
wait "$background"
mkdir "$tmp/late"
python3 test/ui/fleet_job.py straggler 4 "$tmp/late"
"$build/ncclreplay" --gpus --loop 0 "$tmp/late" >"$tmp/log" 2>&1 </dev/null &
background=$!

# clocked COMMAND...: whether a command ends with a late rank, and tells of the
# clock of its GPU.
clocked() {
	"$@" >"$tmp/said" 2>&1
	grep -q 'verdict: late_rank' "$tmp/said" &&
		grep -q ': its GPU clocks at 1290 of 1980 MHz: power cap$' \
			"$tmp/said"
}
# Rank 1 is late.
export FAKE_CLOCKS='2 1290 1980 4'
soon clocked with_nvml "$ncclstat" --diagnose --wait 5
verdict 'a finding on a rank tells that the clock of its GPU is held down' $?
# is_recorded: whether a recording tells so, too; another rank is late at times.
is_recorded() {
	with_nvml "$ncclstat" --record "$tmp/late.ncs" --duration 5 \
		2>"$tmp/record.err"
	clocked "$ncclstat" --diagnose "$tmp/late.ncs"
}
is_recorded || is_recorded || is_recorded
verdict 'so does a recording' $?
is_late() {
	with_nvml "$ncclstat" --diagnose --wait 5 >"$tmp/said" 2>&1
	grep -q 'verdict: late_rank' "$tmp/said"
}
FAKE_CLOCKS='3 1290 1980 4'
soon is_late && ! grep 'GPU clocks' "$tmp/said"
verdict 'that of another rank is no evidence' $?

# --- A library that hangs ---------------------------------------------------

# The library's start takes a minute: nobody waits for it.
export FAKE_NVML='8 18 26562 0 0 60000'
open 80x24 "exec env LD_LIBRARY_PATH=$library $ncclstat"
started && sees '^SPEED .* busbw .* GB/s' && press q && soon test -s "$tmp/status"
verdict 'a library that hangs does not hang the view' $?

finish
