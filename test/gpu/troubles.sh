#!/bin/bash
# SPDX-License-Identifier: MIT
# Diagnoses of real jobs that go wrong (jobs.py), over NVLink and over sockets:
# each must get its verdict in time, and a healthy job none. Prints a table.
# Skipped without a GPU or PyTorch; with one GPU only over sockets.
#
#   SCREENS=FOLDER KEEP=1 LOOKS=200 JOBS=1 test/gpu/troubles.sh [JOB:nvlink|JOB:socket]...
#
# Diagnoses, dumps and logs, and with KEEP=1 recordings, are left in $SCREENS if
# that is a folder. Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_pytorch
make_folder
use_plugin
if [ $# = 0 ]; then
	for job in healthy idle compute host-late gpu-late stopped killed \
		host-busy gpu-busy order calls size sendrecv unmet; do
		[ "$gpus" -lt 2 ] || set -- "$@" $job:nvlink
		set -- "$@" $job:socket
	done
fi
# shellcheck disable=SC2317 # the trap calls it
at_end() {
	[ ! -d "${SCREENS:-}" ] || find "$folder" -maxdepth 1 -type f -exec \
		cp {} "$SCREENS" \;
}
describe_machine
"$python" test/gpu/troubles.py "$build" "$folder" "$@"
