#!/bin/bash
# SPDX-License-Identifier: MIT
# The reasons for a GPU's low clock are those of nvidia-smi: a recording of a job beside
# which the GPU multiplies matrices until its power cap holds it has the clocks, the
# highest clock and the reasons that nvidia-smi told meanwhile. Prints both. Skipped
# without a GPU or PyTorch.
#
#   test/gpu/clocks.sh
#
# Must not leave processes or shared memory behind.
. "$(dirname "$0")/common.bash"
need_pytorch
build_program comms || exit 1
make_folder
use_plugin
jobs=()
# shellcheck disable=SC2317 # the trap calls it
at_end() { kill "${jobs[@]}" 2>/dev/null; }

# A job that leaves the GPU to the products.
"$build/gpu/comms" --alone --comms 100 --calls 3 >"$folder/log" 2>&1 &
jobs+=($!)
for _ in $(seq 180); do
	"$build/ncclstat" --dump=json >"$folder/dump" 2>/dev/null && break
	sleep 0.5
done
"$build/ncclstat" --record="$folder/job.ncs" --duration 16 2>"$folder/recorder" &
recorder=$!
jobs+=($recorder)
nvidia-smi --loop-ms=200 --format=csv,noheader,nounits -i 0 \
	--query-gpu=clocks.sm,clocks.max.sm,clocks_throttle_reasons.active \
	>"$folder/told" &
jobs+=($!)
sleep 4
"$python" -c 'import time, torch
end = time.monotonic() + 9
a = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
while time.monotonic() < end:
    for _ in range(50):
        b = a @ a
    torch.cuda.synchronize()'
wait $recorder
kill "${jobs[@]}" 2>/dev/null

describe_machine
PYTHONPATH=tui/share/python "$python" - "$folder/job.ncs" "$folder/told" <<'end'
import struct, sys
import ncclstat

PEAKS = 15  # chunks.def
HEAD, GPU = struct.Struct("<QII"), struct.Struct("<QQQQII")
REASONS = 0x2 | 0x4 | 0x8 | 0x20 | 0x40 | 0x80  # clock_reasons.def

read = set()
for kind, _, payload in ncclstat.chunks(sys.argv[1]):
    if kind != PEAKS:
        continue
    _, count, size = HEAD.unpack_from(payload)
    if count:
        _, _, _, held_by, clock, most = GPU.unpack_from(payload, HEAD.size)
        read.add((clock, most, held_by & REASONS))
told = set()
for line in open(sys.argv[2]):
    clock, most, held_by = line.split(",")
    told.add((int(clock), int(most), int(held_by, 16) & REASONS))
for name, of in ("recorded", read), ("nvidia-smi", told):
    print("| %s: %s" % (name, ", ".join(
        "%d of %d MHz (%#x)" % each for each in sorted(of))))
clocks = [clock for clock, _, _ in told]
right = (
    any(held & 0x4 for _, _, held in read)
    and {most for _, most, _ in read} == {most for _, most, _ in told}
    and {held for _, _, held in read} <= {held for _, _, held in told}
    and all(min(clocks) - 30 <= clock <= max(clocks) + 30 for clock, _, _ in read))
sys.exit(not right)
end
verdict clocks_are_those_of_nvidia_smi $?
exit $((failures > 0))
