#!/bin/bash
# SPDX-License-Identifier: MIT
# Diagnoses of real NCCL jobs that go wrong (troubles.py): each must get its
# verdict, and a healthy job none. Skipped without a GPU or PyTorch.
#
# Diagnoses are left in $SCREENS if that is a folder. Must not leave processes
# or shared memory behind.
#
# usage: troubles.sh [TROUBLE]...
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/gpu/common.bash
need_pytorch

make_folder
use_plugin
job=

end_job() {
	[ -z "$job" ] || kill "$job" 2>/dev/null
	[ -z "$job" ] || wait "$job" 2>/dev/null
	job=
	"$build/ncclstat" --clean >/dev/null
}
at_end() {
	end_job
}

# expected TROUBLE: prints the exit status, and the verdicts one of which must
# come first; "-" if there must be none.
expected() {
	case $1 in
	none | idle | compute) echo 0 - ;;
	missing) echo 2 rank_missing ;;
	order) echo 2 order_mismatch ;;
	size) echo 2 size_mismatch ;;
	killed) echo 2 rank_died ;;
	stopped) echo 1 rank_stopped ;;
	gpu) echo 2 gpu_late consumer_late ;;
	p2p) echo 1 not_begun ;;
	circle) echo 2 deadlock ;;
	straggler) echo 0 - ;;
	esac
}

first_verdict() {
	"$python" -c 'import json, sys
found = json.load(sys.stdin)["findings"]
print(found[0]["verdict"] if found else "-")' <"$folder/json"
}

# said TROUBLE: waits for the expected diagnosis.
said() {
	read -r status verdicts < <(expected "$1")
	got=
	for _ in $(seq 20); do
		"$build/ncclstat" --diagnose=json >"$folder/json" 2>/dev/null
		code=$?
		got=$(first_verdict)
		case " $verdicts " in
		*" $got "*)
			[ "$code" = "$status" ] && return 0
			;;
		*)
			# A healthy job must never get a verdict.
			[ "$status" = 0 ] && return 1
			;;
		esac
	done
	return 1
}

[ $# -gt 0 ] || set -- none idle compute missing order size killed stopped gpu \
	p2p circle straggler
for trouble; do
	"$python" test/gpu/troubles.py "$trouble" >"$folder/log" 2>&1 &
	job=$!
	for _ in $(seq 60); do
		"$build/ncclstat" --dump 2>/dev/null | grep -q AllReduce && break
		sleep 1
	done
	# Waits until the trouble has begun.
	sleep 6
	said "$trouble"
	verdict "$trouble: $got, status $code" $?
	"$build/ncclstat" --diagnose >"$folder/text" 2>&1
	sed 's/^/    /' "$folder/text"
	if [ -d "${SCREENS:-}" ]; then
		cp "$folder/text" "$SCREENS/$trouble.txt"
		cp "$folder/log" "$SCREENS/$trouble.log"
		"$build/ncclstat" --dump >"$SCREENS/$trouble-dump.txt" 2>&1
	fi
	end_job
done
[ "$failures" = 0 ]
