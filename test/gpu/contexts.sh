#!/bin/bash
# SPDX-License-Identifier: MIT
# An application makes and destroys CUDA contexts, or resets its devices, in each
# order with communicators and launches (contexts.c): ROUNDS rounds a device, in
# one process. The plugin harms none, and says which launches it left alone.
# Skipped without a GPU.
#
#   ROUNDS=240 PLUGIN=build/libnccl-profiler-ncclstat.so test/gpu/contexts.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_gpus 1
build_program contexts || exit 1
make_folder
job "$folder/job" all "$build/gpu/contexts" \
	"${PLUGIN:-$build/libnccl-profiler-ncclstat.so}" "${ROUNDS:-240}" \
	"$dump_here"
status=$(cat "$folder/job/status")
[ "$status" = 0 ] || tail -n 12 "$folder/job/out" | sed 's/^/| /'
[ "$status" = 0 ]
verdict contexts_come_and_go $?
"$python" -c '
import json, sys
words = {}
for rank in json.load(open(sys.argv[1]))["ranks"]:
    launches = rank["launches"]
    words.setdefault(launches["status"], []).append(launches)
print("| " + ", ".join("%s: %d" % (word, len(words[word])) for word in sorted(words)))
assert all(l["other_context"] == 20 and l["launched"] == 0
           for l in words["other_context"])
# The others were timed until their device was reset.
assert any(l["timed"] > 0 for l in words["failed"])
' "$folder/job/json"
verdict launches_in_other_contexts_are_told $?
exit $((failures > 0))
