#!/bin/sh
# SPDX-License-Identifier: MIT
# For "ncclstat --watch --on=stuck:hook-stacks.sh": keeps the verdict and the stacks
# of all ranks in a file for each finding, in $STACKS or the working directory.
#
# Tested by test/ui/recipes.sh.
ncclstat --diagnose --stacks=all >"$(mktemp \
	"${STACKS:-.}/$NCCLSTAT_VERDICT-$(date +%Y%m%dT%H%M%S).XXXXXX")" 2>&1
# These are verdicts; others are failures.
[ $? -le 2 ]
