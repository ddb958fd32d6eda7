#!/bin/sh
# SPDX-License-Identifier: MIT
# For "ncclstat --watch --on=stuck:hook-py-spy.sh": keeps the stacks of all threads of
# the processes on this node, with values of variables, as PID.txt in $STACKS or the
# working directory. Each process pauses while its own are read.
#
# Tested by test/ui/recipes.sh.
ncclstat --list | awk '/ alive / && !seen[$1]++ { print $1 }' |
	while read -r pid; do
		py-spy dump --locals --pid "$pid" </dev/null \
			>"${STACKS:-.}/$pid.txt" 2>&1
	done
