#!/bin/sh
# SPDX-License-Identifier: MIT
# --stream: the agent writes looks, is never held up by its reader, and ends
# when it should. Jobs are replayed against the plugin.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
own_segments

start_job() {
	"$replay" --loop 0 --speed 0.2 "$@" >/dev/null 2>&1 7>&- &
	job=$!
	await there_are 2
}

# looks FILE CONDITION: succeeds if the condition holds for `looks`, a list of
# (number, dropped, chunks, flags, ranks, denied, unreadable), and `types`, the
# types of all chunks.
looks() {
	python3 - "$1" "$2" <<'PY'
import struct, sys
data, at, looks, types = open(sys.argv[1], "rb").read(), 0, [], []
while at + 64 <= len(data):
    magic, kind, rank, size = struct.unpack_from("<QIIQ", data, at)
    assert magic == 0x6b6e75686353434e, at
    types.append(kind)
    if kind == 10:
        v = struct.unpack_from("<10Q6I", data, at + 64)
        looks.append((v[2], v[3], v[7], v[10], v[12], v[13], v[14]))
    at += 64 + (size + 63) // 64 * 64
assert at == len(data), "cut"
assert eval(sys.argv[2]), (looks, types)
PY
}

# --- What is in a stream -----------------------------------------------------

stream() {
	"$ncclstat" --stream "$@" </dev/null >"$tmp/stream" 2>"$tmp/err" &&
		[ ! -s "$tmp/err" ]
}

check "without a job the stream is valid" stream -i 0.1 -n 3
check "its looks are empty" looks "$tmp/stream" \
	'[l[0] for l in looks] == [0, 1, 2] and all(l[4] == 0 for l in looks)'

echo "no segment" >"$NCCLSTAT_DIR/ncclstat.77.1.0"
check "a segment that cannot be read is no error" stream -i 0.1 -n 1
check "it is told with its reason" looks "$tmp/stream" \
	'looks[0][6] == 1 and types.count(11) == 1'
rm "$NCCLSTAT_DIR/ncclstat.77.1.0"

start_job test/captures/net-v5-mix
check "a job is streamed" stream -i 0.1 -n 4
check "each look has the state of each rank" looks "$tmp/stream" \
	'[l[4] for l in looks] == [2] * 4'
check "the first look can be read by itself" looks "$tmp/stream" \
	'looks[0][3] == 1 and types[0] == 1'
check "records are left out" looks "$tmp/stream" '5 not in types'
check "a stream in a file can be listed" run 0 --list "$tmp/stream"
check "and diagnosed" run 0 --diagnose "$tmp/stream"
check "records are in it if asked for" stream --records -i 0.5 -n 3
check "there are some" looks "$tmp/stream" '5 in types'
check "a file of them is a recording" run 0 --export=ndjson -o "$tmp/all" \
	"$tmp/stream"
check "with its records" grep -q '"event":"coll"' "$tmp/all"

lines() {
	"$ncclstat" --stream=lines -i 0.1 -n 2 </dev/null >"$tmp/lines" || return
	grep -qE '^ncclstat1:[A-Za-z0-9._-]+:[0-9a-f]{8}:0:' "$tmp/lines" &&
		awk '!/^ncclstat1:/ || length > 999 { exit 1 }' "$tmp/lines"
}
check "lines have at most 1000 bytes" lines
decode() {
	cut -d: -f5 "$tmp/lines" | while read -r line; do
		echo "$line" | base64 -d
	done >"$tmp/stream"
}
check "they are base64" decode
check "of the same stream" looks "$tmp/stream" 'len(looks) == 2'

packed() {
	"$ncclstat" --stream=packed -i 0.1 -n 3 </dev/null >"$tmp/lines" || return
	decode
	python3 -c 'import struct, sys
data, at, kinds = open(sys.argv[1], "rb").read(), 0, []
while at < len(data):
    magic, kind, rank, size = struct.unpack_from("<QIIQ", data, at)
    kinds.append(kind)
    at += 64 + (size + 63) // 64 * 64
assert kinds == [12] * 3, kinds' "$tmp/stream" || return
	"$ncclstat" --follow --list "$tmp/lines" >"$tmp/out" 2>"$tmp/err"
	[ "$(grep -c ' alive ' "$tmp/out")" -eq 2 ]
}
check "packed looks are one chunk each, and can be followed" packed
# The input ends only after the second in which its end means nothing.
orders() {
	rm -f "$tmp/stream"
	{
		await looks "$tmp/stream" 'len(looks) > 14'
		printf '\nwhat\npa' >&3
		sleep 0.2
		printf 'ck\n' >&3
		await looks "$tmp/stream" 'types.count(12) > 2'
	} 3>&1 >/dev/null 2>&1 |
		"$ncclstat" --stream -i 0.1 --heartbeat 60 >"$tmp/stream"
	looks "$tmp/stream" \
		'types.index(12) > 9 and set(types[types.index(12):]) == {12}'
}
check "looks are packed once the reader says so" orders
check "it reads all of them" sh -c '"$1" --follow --list "$2" >"$3"
	[ "$(grep -c " alive " "$3")" -eq 2 ]' sh "$ncclstat" "$tmp/stream" "$tmp/out"
for mode in "--record=$tmp/none.ncs" --stream=lines; do
	check "${mode%%=*}: a stream that cannot be opened is an error" \
		run 1 "$mode" --follow "$tmp/absent"
done

end_job
appear() {
	rm -f "$tmp/stream"
	"$ncclstat" --stream -i 0.1 </dev/null >"$tmp/stream" &
	agent=$!
	await looks "$tmp/stream" 'looks' 2>/dev/null
	start_job test/captures/net-v5-mix
	await looks "$tmp/stream" '[l[4] for l in looks[-3:]] == [2] * 3' \
		2>/dev/null
	kill "$agent"
	wait "$agent"
	# The look after the one with a new rank.
	looks "$tmp/stream" '(looks[0][4] == 0 and looks[-1][4] == 2 and
all(c[3] == 1 for a, b, c in zip(looks, looks[1:], looks[2:])
    if b[4] > a[4] and b[3] == 0))'
}
check "once segments have appeared a look can be read by itself" appear

# --- A reader that is slow ---------------------------------------------------

# A pipe holds 64 KiB; nothing is read until it is full.
slow() {
	mkfifo "$tmp/fifo" && exec 8<>"$tmp/fifo"
	exec 9<"$tmp/fifo"
	"$ncclstat" --stream -i 0.1 <"$tmp/in" >"$tmp/fifo" 7>&- 8>&- 9<&- &
	agent=$!
	exec 8>&-
	sleep 3
	timeout 2 cat <&9 >"$tmp/stream"
	kill "$agent" && wait "$agent"
	cat <&9 >>"$tmp/stream"
	exec 9<&-
}
mkfifo "$tmp/in"
exec 7<>"$tmp/in"
end_job
start_job --speed 1 test/captures/net-v5-ddp8
await there_are 8
check "a reader that waits for 3 s gets whole looks" slow
check "of which some were dropped, and counted" looks "$tmp/stream" \
	'looks[-1][1] > 0 and looks[-1][0] + 1 - len(looks) == looks[-1][1]'
check "the look after those can be read by itself" looks "$tmp/stream" \
	'all(b[3] == 1 for a, b in zip(looks, looks[1:]) if b[1] > a[1])'
check "the file of it has no damage" sh -c '"$1" --list "$2" >"$3" &&
	! grep -q damaged "$3"' sh "$ncclstat" "$tmp/stream" "$tmp/out"

# --- The end ------------------------------------------------------------------

gone() {
	! kill -0 "$agent" 2>/dev/null
}

# begin FILE [OPTION...]
begin() {
	file=$1
	shift
	rm -f "$file"
	"$ncclstat" --stream -i 0.1 "$@" <"$tmp/in" >"$file" 2>"$tmp/err" 7>&- &
	agent=$!
}

begin "$tmp/stream"
await looks "$tmp/stream" 'len(looks) > 5' 2>/dev/null
kill "$agent"
check "SIGTERM ends it" wait "$agent"
check "what it wrote is whole" looks "$tmp/stream" 'len(looks) > 5'

# An end in the first second means nothing; ten looks take that long.
begin "$tmp/stream"
await looks "$tmp/stream" 'len(looks) > 14' 2>/dev/null
exec 7>&-
check "the end of its input ends it" await gone
check "in good order" wait "$agent"
exec 7<>"$tmp/in"

begin "$tmp/stream" --heartbeat 0.5
check "an input that is silent ends it" await gone
check "in good order, too" wait "$agent"
# apart: prints how many ms the lines of a file, times in ns, are apart at most.
apart() {
	awk 'NR > 1 && $1 - last > most { most = $1 - last }
	{ last = $1 }
	END { printf "%d\n", most / 1e6 }' "$1"
}
# Beats that come late end it rightly: then the status is 77.
beats() {
	for attempt in 1 2 3; do
		date +%s%N >"$tmp/beats"
		# Until it has ended: looks are late at times.
		while sleep 0.5 && echo beat; do
			date +%s%N >>"$tmp/beats"
		done | "$ncclstat" --stream -i 0.1 -n 25 --heartbeat 2 \
			>"$tmp/stream"
		looks "$tmp/stream" 'len(looks) == 25' && return
		[ "$(apart "$tmp/beats")" -ge 1500 ] || return 1
		echo "attempt $attempt: the beats came late"
	done
	return 77
}
beats >"$tmp/beats.log" 2>&1
status=$?
if [ "$status" -eq 77 ]; then
	echo 'ok one with beats does not # SKIP they came late, three times'
else
	check "one with beats does not" \
		sh -c 'cat "$1"; exit "$2"' sh "$tmp/beats.log" "$status"
fi
"$ncclstat" --stream -i 0.1 --heartbeat 0.5 </dev/null >"$tmp/stream" 2>&1
check "an input that can have none is silent" looks "$tmp/stream" \
	'0 < len(looks) < 50'

: | "$ncclstat" --stream -i 0.2 -n 8 >"$tmp/stream"
check "an input that ends at once does not" looks "$tmp/stream" \
	'len(looks) == 8'

closed() {
	timeout 10 "$ncclstat" --stream -i 0.1 <"$tmp/in" 2>"$tmp/err" |
		head -c 100 >/dev/null
	[ ! -s "$tmp/err" ]
}
check "a reader that goes away ends it, without a message" closed
closed_pipe() {
	{ timeout 10 "$ncclstat" --stream -i 9 <"$tmp/in"
	echo $? >"$tmp/status"; } | sleep 0.3
	[ "$(cat "$tmp/status")" = 0 ]
}
check "also between two looks" closed_pipe

full() {
	"$ncclstat" --stream -i 0.1 <"$tmp/in" >/dev/full 2>"$tmp/said"
	[ $? -eq 1 ] && grep -q 'No space left' "$tmp/said"
}
check "a full disk is an error" full
check "--records alone is a mistake" run 64 --records
end_job

# --- Many nodes ---------------------------------------------------------------

# Two nodes, each with one rank of a job whose rank 1 stops calling.
for node in a b; do
	shm_folder "$tmp/$node"
done
hang=test/captures/net-v5-hang
NCCLSTAT_DIR=$tmp/a "$replay" --speed 0.05 --hold $hang/rank0.calllog.xz \
	>/dev/null 2>&1 7>&- &
job=$!
NCCLSTAT_DIR=$tmp/b "$replay" --speed 0.05 --hold $hang/rank1.calllog.xz \
	>/dev/null 2>&1 7>&- &
job="$job $!"

# agent NODE ARGUMENT...: becomes the agent of a node.
agent() {
	exec "$ncclstat" --dir "$tmp/$1" --stream="$2" -i 0.5 <"$tmp/in" 7>&-
}

# follow NODES ARGUMENT...: runs ncclstat on the streams of nodes, one named pipe
# each.
follow() {
	nodes=$1 files=
	shift
	for node in $nodes; do
		rm -f "$tmp/pipe.$node"
		mkfifo "$tmp/pipe.$node"
		(agent "$node" raw >"$tmp/pipe.$node") &
		files="$files $tmp/pipe.$node"
	done
	# shellcheck disable=SC2086 # a list of words
	"$ncclstat" --follow "$@" $files </dev/null 7>&- \
		>"$tmp/out" 2>"$tmp/err"
}

says() {
	grep -qE "$1" "$tmp/out" && ! grep -qE "$2" "$tmp/out"
}

# An answer does not wait for nodes that come late.
soon() {
	for attempt in 1 2 3 4 5; do
		"$@" && return
	done
	return 1
}

stuck() {
	follow "a b" --diagnose -i 0.5
	[ $? -eq 2 ] && says 'verdict: rank_missing, certain' 'possible'
}
check "a hang is certain from two nodes" await stuck
one() {
	follow a --diagnose -i 0.5
	! grep -q certain "$tmp/out" || was_certain=yes
	says 'verdict: rank_missing, possible' 'certain'
}
was_certain=
check "from one of them it is possible" soon one
check "and never certain" test -z "$was_certain"
both() {
	follow "a b" "$@" && says '[ ,]1\b' nothing && [ ! -s "$tmp/err" ]
}
check "--dump shows both" both --dump
check "--list shows both" both --list
json() {
	follow "a b" --dump=json &&
		python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert sorted(r["rank"] for r in d["ranks"]) == [0, 1], d["ranks"]' "$tmp/out"
}
check "so does JSON" soon json

lines() {
	{ (export SLURMD_NODENAME=n1 && agent a lines) &
	(export SLURMD_NODENAME=n2 && agent b lines) & } |
		sed -u 's/^/label: /' |
		"$ncclstat" --follow --list - >"$tmp/out" 2>"$tmp/err" 7>&-
	says 'n1:.*/a/ncclstat' nothing && says 'n2:.*/b/ncclstat' nothing
}
check "lines of two nodes in one pipe are told apart" soon lines
keep() {
	rm -f "$tmp"/kept.*
	follow "a b" --record "$tmp/kept" --duration 3
	[ $? -eq 0 ] && grep -q 'kept [0-9]* looks of 2 nodes' "$tmp/err"
}
check "--record keeps the streams" soon keep
again() {
	"$ncclstat" --diagnose "$tmp"/kept.* >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ] && says 'verdict: rank_missing, certain' 'possible'
}
check "what was kept shows the hang" again
check "there is no agent left" await sh -c '! pgrep -f "dir $1/" >/dev/null' \
	sh "$tmp"

: >"$tmp/none"
none() {
	"$ncclstat" --follow --diagnose "$tmp/none" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 3 ] && grep -q 'no look of any node' "$tmp/err"
}
check "an empty stream is no verdict" none
check "--follow without a stream is a mistake" run 64 --follow
check "a stream cannot be exported" run 64 --follow --export=csv "$tmp/none"
exit "$failed"
