#!/bin/bash
# SPDX-License-Identifier: MIT
# Diagnoses of real jobs that go wrong (jobs.py), over NVLink, over sockets and on
# two "nodes" of half of the GPUs each (links: nvlink, socket, nodes): each must get its verdict in time, and a healthy job none. Prints a table.
# Skipped without a GPU or PyTorch; with one GPU only over sockets.
#
#   SCREENS=FOLDER KEEP=1 LOOKS=200 JOBS=1 test/gpu/troubles.sh [JOB[@GROUP]:LINK]...
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
	# With more GPUs, a trouble in each kind of communicator, on one node and
	# on two, whose link is loopback.
	[ "$gpus" -lt 4 ] || set -- "$@" 3d:nvlink 3d:nodes \
		host-late@tensor:nvlink {gpu-late,host-busy}@{tensor,pipe,data,all}:nvlink \
		stopped@pipe:nvlink gpu-busy@data:nvlink killed@all:nvlink \
		order@tensor:nvlink unmet@pipe:nvlink \
		host-late@tensor:nodes gpu-late@all:nodes \
		host-busy@{tensor,data}:nodes gpu-busy@pipe:nodes \
		size@pipe:nodes order@all:nodes slow-link@all:nodes
fi
export GPUS=$gpus
# shellcheck disable=SC2317 # the trap calls it
at_end() {
	# A recording of two nodes is a folder.
	[ ! -d "${SCREENS:-}" ] || find "$folder" -mindepth 1 -maxdepth 1 \
		! -name '*.shm' -exec cp -r {} "$SCREENS" \;
}
describe_machine
"$python" test/gpu/troubles.py "$build" "$folder" "$@"
