#!/bin/sh
# SPDX-License-Identifier: MIT
# For "ncclstat --watch --on=stuck:hook-kubectl-label.sh" in a pod whose service
# account may patch pods: labels the pod with the verdict, and adds the sentence.
#
# Tested by test/ui/recipes.sh.
pod=${POD_NAME:-$(hostname)}
kubectl label --overwrite pod "$pod" "ncclstat=$NCCLSTAT_VERDICT" &&
	exec kubectl annotate --overwrite pod "$pod" \
		"ncclstat=$NCCLSTAT_SENTENCE"
