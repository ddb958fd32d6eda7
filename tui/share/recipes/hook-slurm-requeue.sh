#!/bin/sh
# SPDX-License-Identifier: MIT
# For "ncclstat --watch --on=stuck:hook-slurm-requeue.sh" in a job of Slurm that
# continues from its checkpoint: puts the job back into the queue, three times at
# most, and lets its comment tell why.
#
# Tested by test/ui/recipes.sh.
[ "${SLURM_RESTART_COUNT:-0}" -lt 3 ] || exit 1
scontrol update "JobId=$SLURM_JOB_ID" "Comment=$NCCLSTAT_SENTENCE"
exec scontrol requeue "$SLURM_JOB_ID"
