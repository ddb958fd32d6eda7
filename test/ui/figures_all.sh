#!/bin/sh
# SPDX-License-Identifier: MIT
# Every column of every table has the same figure on the screen, in a dump and in
# its JSON (figures_json.py maps them by hand); so have the exported table and the
# metrics. The verdict is the same in a dump, its JSON and the diagnosis; the critical
# path is the same as text and as JSON. Columns are taken from tables/columns.def. Jobs
# of several kinds, each at one moment.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

if [ ! -x "$build/ncclsimulate" ] || [ ! -x "$build/ncclreplay" ] ||
   [ ! -e "$build/libnccl-profiler-ncclstat.so" ]; then
	echo "ncclsimulate, ncclreplay or the plugin has not been built"
	exit 77
fi

# recorded CAPTURE OPTION...: records a job to $tmp/CAPTURE.
recorded() {
	rm -f "$tmp/recorder"
	"$ncclstat" --record "$tmp/$1" --interval 0.1 2>"$tmp/recorder" &
	recorder=$!
	job=$1
	shift
	soon grep -qs 'waiting for a job' "$tmp/recorder"
	"$build/ncclreplay" "$@" "test/captures/$job" >"$tmp/log" 2>&1
	wait "$recorder" && [ -s "$tmp/$job" ]
}

# all_there FILE...: sets $moment, shortly before the end, when all ranks are still
# there: on a busy machine one ends long before another.
all_there() {
	for moment in -0.1 -0.2 -0.4 -0.8; do
		"$ncclstat" --dump=json --until="$moment" "$@" >"$tmp/dump.json" &&
			"$ncclstat" --export=csv --until="$moment" "$@" \
				>"$tmp/table.csv" || return 1
		python3 test/ui/figures_all.py present "$tmp" && return
	done
	echo "# the ranks are not there together"
	return 1
}

told() {
	all_there "$@" &&
		COLUMNS=999 "$ncclstat" --dump --columns=-HISTORY,-HIST --until="$moment" \
			"$@" >"$tmp/dump.txt" &&
		"$ncclstat" --dump=openmetrics --metrics=all \
			--until="$moment" "$@" >"$tmp/metrics" || return 1
	"$ncclstat" --diagnose --until="$moment" "$@" >"$tmp/diagnose.txt"
	"$ncclstat" --diagnose=json --until="$moment" "$@" >"$tmp/diagnose.json"
	[ -s "$tmp/diagnose.json" ]
}

# drawn FILE...: leaves each view's table in $tmp/screen.VIEW.
drawn() {
	for view in ranks communicators channels proxy collectives ranges \
		functions sizes; do
		titles=$(python3 test/ui/figures_all.py titles "$view")
		open 600x200 "exec $ncclstat --replay --at=$moment --until=$moment \
			--view=$view --columns=$titles,-HISTORY,-HIST $*"
		sees ' PAUSED ' && sees '^   [A-Z]* *[A-Z]* ' &&
			screen >"$tmp/screen.$view" || return 1
	done
	close
}

compared() {
	python3 test/ui/figures_all.py compare "$tmp" >"$tmp/log" 2>&1
	status=$?
	sed 's/^/# /' "$tmp/log"
	return "$status"
}

# same NAME FILE...: compares what is told of a recording by all ways.
same() {
	kind=$1
	shift
	rm -f "$tmp"/screen.*
	told "$@" && drawn "$@" && compared
	verdict "all figures of $kind are the same by all ways" $?
}

# without_screens NAME FILE...: compares text and JSON only, which is quicker.
without_screens() {
	kind=$1
	shift
	rm -f "$tmp"/screen.*
	told "$@" && compared
	verdict "text and JSON of $kind are the same" $?
}

# same_path NAME FILE...: compares the critical path as text and as JSON, with
# changes of each kind.
same_path() {
	kind=$1
	shift
	for format in text json; do
		"$ncclstat" --critical-path="$format" --what-if=net:x2 \
			--what-if=latency:-5us --what-if=without:stragglers \
			--what-if=without:1 --what-if=host:0.5 \
			--what-if=stream:0.5 --what-if=algorithm:TREE \
			--what-if=overlap "$@" >"$tmp/path.$format"
	done
	python3 test/ui/figures_path.py "$tmp/path.text" "$tmp/path.json" \
		>"$tmp/log" 2>&1
	status=$?
	sed 's/^/# /' "$tmp/log"
	verdict "the critical path of $kind is the same as text and JSON" \
		"$status"
}

for capture in net-v5-mix net-v5-hang; do
	recorded "$capture"
	verdict "$capture is recorded" $?
	same "$capture" "$tmp/$capture"
	same_path "$capture" "$tmp/$capture"
done
for capture in nccl2.30.7-v6-mix-killed nvlink-v5-mix net-v5-comms \
	net-v1-mix net-v5-late-tree nvlink-v5-gpu-ddp; do
	recorded "$capture" --speed 0.5
	verdict "$capture is recorded" $?
	without_screens "$capture" "$tmp/$capture"
	# It has no network, and its launches are not timed: no end is known.
	[ "$capture" = net-v1-mix ] || same_path "$capture" "$tmp/$capture"
done
"$build/ncclsimulate" -h 2 -r 2 -l 2:3000 "$tmp" >"$tmp/log"
verdict "two hosts are simulated" $?
without_screens "two hosts" "$tmp/host0.ncclstat" \
	"$tmp/host1.ncclstat"
same_path "two hosts" "$tmp/host0.ncclstat" "$tmp/host1.ncclstat"
finish
