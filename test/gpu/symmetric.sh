#!/bin/bash
# SPDX-License-Identifier: MIT
# Collectives through symmetric buffers: by copy engines (from NCCL 2.29 on) they have
# times of their own, which are those that the calls measure within 10 %, and within
# 3 % from 16 MB on; a job of symmetric kernels, which NCCL does not report, has no
# verdict, in place of being well. Skipped without two GPUs, or with an NCCL that lacks
# symmetric buffers.
#
#   NCCL_HOME=FOLDER ROUNDS=40 test/gpu/symmetric.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 2
build_program symmetric || skip "no NCCL with symmetric buffers; set NCCL_HOME"
make_folder

# run NAME ARGUMENT...: a job, recorded, and judged at its end.
run() {
	local place=$folder/$1 recorder
	shift
	mkdir -p "$place/shm"
	NCCLSTAT_DIR=$place/shm "$build/ncclstat" --compress \
		--record="$place/recording" 2>/dev/null &
	recorder=$!
	job "$place" default "$build/gpu/symmetric" --rounds "${ROUNDS:-40}" "$@" \
		--at-end 'cd "$NCCLSTAT_DIR/.." &&
			"'"$build"'/ncclstat" --diagnose >look; echo $? >told'
	timeout 20 tail --pid=$recorder -f /dev/null || kill -INT $recorder
	wait $recorder
	[ "$(cat "$place/status")" = 0 ] && ! grep -q wrong "$place/out"
	verdict "sums_are_right${1:+_with_${1#--}}" $?
}

run copies --copy
"$build/ncclstat" --export=ndjson "$folder/copies/recording" \
	>"$folder/copies/lines" 2>/dev/null
if grep -q '"event":"ce_coll"' "$folder/copies/lines"; then
	"$python" test/gpu/tables.py copies "$folder/copies" "$(describe_machine)" - ||
		failures=$((failures + 1))
else
	echo "this NCCL does not report collectives by copy engines"
fi
run kernels
if grep -q 'no operation' "$folder/kernels/look"; then
	[ "$(cat "$folder/kernels/told")" = 4 ]
	verdict job_of_symmetric_kernels_has_no_verdict $?
fi
sed -n 3p "$folder/kernels/look"
exit $((failures > 0))
