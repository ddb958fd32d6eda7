#!/bin/sh
# SPDX-License-Identifier: MIT
# Slurm's Prolog, as root on each node of a job that begins: starts the node's watch, as
# ncclstat-watch.service does, for nodes without that unit. It goes on after the job; if
# one runs already, the next one ends at once. What it says, as why it cannot start, goes
# to the system's log; the job begins in any case.
#
#   slurm.conf: Prolog=/etc/slurm/slurm-prolog.sh
#
# Slurm kills the process group of a prolog that has ended: the watch is started by a
# shell that is in a session of its own already, which setsid -f does not wait for.
#
# Tested (test/ui/fleet_slurm.sh) with Slurm 22.05.
setsid sh -c 'ncclstat watch --interval=2 --archive=/var/lib/ncclstat \
	--archive-size=1G 2>&1 >/dev/null |
	grep --line-buffered -v "another watch writes there" |
	logger -t ncclstat &' </dev/null >/dev/null 2>&1
exit 0
