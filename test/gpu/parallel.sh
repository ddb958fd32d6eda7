#!/bin/bash
# SPDX-License-Identifier: MIT
# A job with tensor, pipeline and data parallelism in small (jobs.py): five
# communicators a rank, collectives and point-to-point calls mixed. Every launch is
# timed, nothing is lost, the job is told healthy, and each view shows it. Skipped
# without two GPUs or PyTorch.
#
# The views are left in $SCREENS if that is a folder. Must not leave processes or
# shared memory behind.
. "$(dirname "$0")/common.bash"
need_pytorch
need_gpus 2
make_folder
use_plugin
job=

# shellcheck disable=SC2317 # the trap calls it
at_end() {
	end_job
	[ ! -d "${SCREENS:-}" ] || cp "$folder"/*.screen "$SCREENS"
}

"$python" test/gpu/jobs.py 3d --ranks $((gpus >= 8 ? 8 : gpus >= 4 ? 4 : 2)) --before 2 --port 29590 \
	--told "$folder/told" >"$folder/log" 2>&1 &
job=$!
for _ in $(seq 120); do
	grep -q trouble "$folder/told" 2>/dev/null && break
	sleep 0.5
done
describe_machine
"$build/ncclstat" --diagnose | sed 's/^/| /'
verdict "healthy_job_is_told_healthy" "${PIPESTATUS[0]}"
for view in ranks communicators collectives sizes timeline diagnose; do
	{
		echo wait 2
		echo save "$folder/$view.screen"
		echo q
	} >"$folder/keys"
	TERM=xterm timeout 30 "$python" -c '
import os, pty, sys
os.environ.update(LINES="40", COLUMNS="160")
status = pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 65536))
sys.exit(os.waitstatus_to_exitcode(status))' "$build/ncclstat" --view $view \
		--ascii --keys "$folder/keys" >/dev/null </dev/null
	[ -s "$folder/$view.screen" ] || [ $view = diagnose ]
	verdict "view_shows_$view" $?
	sed 's/^/| /' "$folder/$view.screen"
done
"$build/ncclstat" --dump=json >"$folder/json"
"$python" test/gpu/tables.py parallel "$folder/json" "$(describe_machine)" 5
verdict everything_is_timed $?
exit $((failures > 0))
