#!/bin/sh
# SPDX-License-Identifier: MIT
# NCCL's RAS service as a second witness of ranks that are not seen here: one
# rank of a job that hangs, and a fake service that answers well or ill.
set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
server=
own_segments

at_end() {
	for p in $server; do
		kill "$p" 2>/dev/null
	done
}

# serve WAY: lets the service answer in this way from now on.
serve() {
	[ -z "$server" ] || { kill "$server"; wait "$server"; } 2>/dev/null
	: >"$tmp/port"
	python3 test/ui/ras_server.py "$1" "${id:-ec4d4bcc85a70266}" \
		"${port:-0}" \
		>"$tmp/port" &
	server=$!
	await test -s "$tmp/port" || echo "not ok the service starts: $1"
	port=$(cat "$tmp/port")
}

# diagnosed: succeeds if there is the verdict that there is without RAS.
diagnosed() {
	"$ncclstat" --diagnose "$@" >"$tmp/out" 2>"$tmp/err"
	grep -q '^  verdict: rank_missing, possible' "$tmp/out"
}

# answered ARGUMENT...: the same, and RAS has answered within its time.
answered() {
	diagnosed "$@" && ! grep -q 'RAS was asked' "$tmp/out"
}

serve well
NCCL_RAS_ADDR="localhost:$port" "$replay" --speed 0.05 \
	test/captures/net-v5-hang/rank0* 2>"$tmp/replayed" &
job=$!
check 'a rank that is not seen is missing' await answered --wait=30
check 'RAS says how often it has called, in the evidence' grep -q \
	'^  seen: RAS: rank 1 on host 10.0.0.1 has called AllReduce 41 times, the others 42$' \
	"$tmp/out"
check 'RAS says which rank does not answer' grep -q \
	'^  seen: RAS: rank 2 on host 10.0.0.3 does not answer$' "$tmp/out"
check 'nothing is said of ranks that are seen, or of other communicators' \
	sh -c '! grep -q "RAS: rank [09]" "$1"' sh "$tmp/out"
has_json() {
	"$ncclstat" --diagnose=json >"$tmp/out" 2>"$tmp/err"
	grep -q '"RAS: rank 1 on host' "$tmp/out"
}
check 'JSON has it, too' await has_json
for way in slow huge garbage old mute; do
	serve "$way"
	check "$way: the verdict is the same" diagnosed
	check "$way: why there is no answer is said once a finding" sh -c \
		'[ "$(grep -c "RAS was asked" "$1")" -eq "$(grep -c "^  verdict" "$1")" ]' \
		sh "$tmp/out"
done
kill "$server"
wait "$server" 2>/dev/null
server=
check 'no service: the verdict is the same' diagnosed
check 'no service: it is said' grep -q 'RAS was asked.*refused' "$tmp/out"

# Over NVLink only a kernel tells that the rank waits.
kill "$job"
wait "$job" 2>/dev/null
mkdir "$tmp/nvlink"
python3 test/ui/faulty_job.py nvlink 2 "$tmp/nvlink"
id=fa171
serve well
NCCL_RAS_ADDR="localhost:$port" "$replay" --hold "$tmp/nvlink/rank0.calllog" \
	2>"$tmp/replayed" &
job=$!
waits() {
	"$ncclstat" --diagnose --wait=30 >"$tmp/out" 2>"$tmp/err"
	grep -q '^  verdict: peer_wait, possible' "$tmp/out" &&
		! grep -q 'RAS was asked' "$tmp/out"
}
check 'a kernel waits for a rank that is not seen' await waits
check 'RAS says of that rank how often it has called' grep -q \
	'^  seen: RAS: rank 1 on host 10.0.0.1 has called AllReduce 41 times, the others 42$' \
	"$tmp/out"

exit "$failed"
