#!/bin/bash
# SPDX-License-Identifier: MIT
# The plugin in a real NCCL job, with the program running beside it: two ranks
# that share one GPU (two_ranks.py). Skipped without a GPU or PyTorch.
#
# Screens are left in $SCREENS if that is a folder. Must not leave processes or
# shared memory behind.
. "$(dirname "$0")/common.bash"
need_pytorch
command -v tmux >/dev/null || skip "no tmux"

make_folder
use_plugin
terminal="tmux -L ncclstat-gpu-$$ -f /dev/null"
job=

at_end() {
	[ -z "$job" ] || kill "$job" 2>/dev/null
	$terminal kill-server 2>/dev/null
	umount "$folder/small" 2>/dev/null
}

start_job() { # arguments of two_ranks.py
	"$python" test/gpu/two_ranks.py "$@" >"$folder/log" 2>&1 &
	job=$!
}

wait_job() {
	wait "$job"
	status=$?
	job=
	[ $status = 0 ] || sed 's/^/| /' "$folder/log"
	return $status
}

# until_dump EXPRESSION: waits up to 90 s until the expression holds for the
# dump `d`.
until_dump() {
	for _ in $(seq 180); do
		"$build/ncclstat" --dump=json 2>/dev/null >"$folder/json" &&
			"$python" -c "
import json, sys
d = json.load(open('$folder/json'))
ranks = d['ranks']
sys.exit(0 if ($1) else 1)" 2>/dev/null && return 0
		sleep 0.5
	done
	sed 's/^/| /' "$folder/json"
	return 1
}

screen() { # name: saves the screen of the live view
	$terminal capture-pane -p >"$folder/screen"
	[ ! -d "${SCREENS:-}" ] || cp "$folder/screen" "$SCREENS/$1.txt"
}

# --- A healthy job that then gets stuck ------------------------------------

start_job --seconds 15 --stall 25 --p2p
until_dump "len(ranks) >= 2 and all(any(f['operations_done'] for f in r['functions'])
    for r in ranks)"
verdict real_job_is_seen $?
until_dump "all(r['nccl_version'] and r['api_version'] >= 5 and
    r['communicator']['nranks'] == 2 for r in ranks)"
verdict job_has_nccl_version_and_size $?
until_dump "all(sum(c['bytes'] for c in r['channels']) > 0 and
    r['proxy']['transitions']['append'] > 0 and r['proxy']['state'] != 'unknown' and
    any(f['timing'] in ('proxy', 'stream') and f['timed'] > 0
        for f in r['functions'])
    for r in ranks)"
verdict job_has_bytes_proxy_states_and_times $?
until_dump "all(r['lost'][k] == 0 for r in ranks for k in
    ('stale', 'foreign', 'orphan', 'unknown', 'pool_full', 'table_full'))"
verdict nothing_is_lost_but_overwritten_records $?
$terminal new-session -d -x 80 -y 24 "$build/ncclstat --interval 0.5"
sleep 3
for view in 1 2 3 4 5 6; do
	$terminal send-keys $view
	sleep 1.5
	screen "live-$view"
	grep -q AllReduce "$folder/screen" || grep -q active "$folder/screen" ||
		grep -q RANK "$folder/screen"
	verdict "view_${view}_shows_the_job" $?
done
until_dump "any(c['state'] != 'idle' and d['monotonic_ns'] - c['since_ns'] > 3e9
    for r in ranks for c in r['channels'])"
verdict stuck_channel_is_seen $?
for view in 1 2; do
	$terminal send-keys $view
	sleep 1.5
	screen "stuck-$view"
done
wait_job
verdict job_ends_well $?
sleep 1
screen ended
! ls "$folder"/ncclstat.* >/dev/null 2>&1
verdict no_segment_is_left $?
$terminal kill-server 2>/dev/null

# --- A plugin that is not there --------------------------------------------

for plugin in libnot-there.so "$folder/broken.so"; do
	echo broken >"$folder/broken.so"
	NCCL_PROFILER_PLUGIN=$plugin start_job --seconds 1
	wait_job
	verdict "job_with_$(basename "$plugin" .so)_runs" $?
done

# --- No room ---------------------------------------------------------------

mkdir "$folder/small"
if mount -t tmpfs -o size=64k tmpfs "$folder/small" 2>/dev/null; then
	NCCL_DEBUG=WARN NCCLSTAT_DIR=$folder/small start_job --seconds 1
	wait_job
	verdict job_without_room_runs $?
	[ "$(grep -c 'ncclstat: cannot publish' "$folder/log")" = 2 ]
	verdict each_process_reports_the_lack_of_room_once $?
	umount "$folder/small"
else
	echo "skipped: no right to mount a small file system"
fi

# --- Kernel timing, and a graph --------------------------------------------

for timing in off always; do
	NCCLSTAT_KERNEL_TIMING=$timing start_job --seconds 3 --graph --stall 8
	if [ $timing = always ]; then
		until_dump "len(ranks) == 2 and all(r['events'].get('kernel_ch')
		    and any(f['timing'] in ('kernel', 'stream') and f['time_ns']['p50'] > 0
		    for f in r['functions']) for r in ranks)"
		verdict kernel_times_are_published $?
	fi
	wait_job
	verdict "graph_runs_with_kernel_timing_$timing" $?
done

# --- Requests to a running job ---------------------------------------------

start_job --seconds 12
until_dump "len(ranks) == 2 and all(r['settings']['kernel'] == 'off' and
    r['sampling']['one_in'] == 1 for r in ranks)"
verdict default_settings_are_published $?
"$build/ncclstat" --set sample=8
verdict set_is_accepted $?
until_dump "all(r['sampling']['one_in'] == 8 and
    r['sampling']['operations_left_out'] > 0 for r in ranks)"
verdict request_takes_effect $?
"$build/ncclstat" --set default
until_dump "all(r['sampling']['one_in'] == 1 and
    r['settings']['changes'] == 2 for r in ranks)"
verdict default_is_restored $?
wait_job
verdict job_ends_well_after_requests $?

# --- A chained plugin ------------------------------------------------------

recorder=$build/test/next/recorder-all.so
if [ -e "$recorder" ]; then
	NCCLSTAT_CHAIN=$recorder RECORDER_REPORT=$folder/report \
		start_job --seconds 4 --graph --stall 8
	until_dump "len(ranks) == 2 and all(r['lost']['chain'] == 0 and
	    r['kernel_timing']['status'] == 'chained' and
	    r['events'].get('kernel_ch') for r in ranks)"
	verdict job_with_two_plugins_is_seen $?
	wait_job
	verdict job_with_two_plugins_ends_well $?
	sed 's/^/| /' "$folder/report"
	# A line for each rank: the bits of Coll, ProxyStep and KernelCh.
	[ "$(awk '$4 == 0 && $9 > 0 && $12 > 0 && $14 > 0' \
		"$folder/report" | wc -l)" = 2 ]
	verdict other_plugin_gets_all_events $?
else
	echo "skipped: no $recorder to be chained"
fi

exit $((failures > 0))
