#!/bin/sh
# SPDX-License-Identifier: MIT
# Slurm's TaskProlog: loads the plugin into all jobs that do not choose another
# one. What it prints, Slurm puts into the environment of each task. Jobs without
# NCCL do not notice; ranks are labelled with the job's and step's ids.
#
#   slurm.conf: TaskProlog=/etc/slurm/slurm-task-prolog.sh
#               Prolog=/etc/slurm/slurm-prolog.sh
#               Epilog=/etc/slurm/slurm-epilog.sh
#
# Tested (test/ui/fleet_slurm.sh) with Slurm 22.05 and a task that has what
# NCCL would load.
[ -n "${NCCL_PROFILER_PLUGIN-}" ] || ncclstat env | sed -n \
	's/^export \([A-Za-z0-9_]*\)='"'\(.*\)'"'$/export \1=\2/p'
