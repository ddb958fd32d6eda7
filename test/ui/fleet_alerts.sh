#!/bin/sh
# SPDX-License-Identifier: MIT
# From a fault to a message, through the real programs: fake nodes with jobs;
# ncclstat --listen on all but one, ncclstat --textfile and node_exporter there;
# Prometheus with our rules; Alertmanager; and a webhook. It must be told of each
# fault by the right alert, with rank and node, and of nothing else.
#
#   nodeA nodeB        a captured job: rank 1 makes its last call late
#   nodeC              a captured job: rank 5 comes late, as --critical-path says
#   nodeD nodeE        ranks 0 and 1, 2 and 3 of jobs of fleet_job.py: one with a
#                      straggler, one that turns slow, and one that is healthy
#   nodeF nodeG nodeH  a job of fleet_job.py with a slow link
#
# Time passes 30 times as fast for the rules, which are ours otherwise. Prints
# "ok ..." or "not ok ..." for each check. All programs listen on loopback and are
# ended by their process ids.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
. test/ui/alerting
pids=

at_end() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null
	done
}

for program in prometheus prometheus-alertmanager prometheus-node-exporter \
	python3; do
	command -v "$program" >/dev/null || {
		echo "$program is not installed"
		exit 77
	}
done
unshare --uts true 2>/dev/null || {
	echo 'nodes cannot be faked: unshare --uts is not allowed'
	exit 77
}

# wait_for SECONDS COMMAND...: waits until the command succeeds.
wait_for() {
	tries=$(($1 * 5))
	shift
	for _ in $(seq "$tries"); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.2
	done
	"$@"
}

# begin LOG COMMAND...: starts a program in the background.
begin() {
	log=$1
	shift
	"$@" >"$tmp/$log" 2>&1 &
	pids="$pids $!"
}

nodes='nodeA nodeB nodeC nodeD nodeE nodeF nodeG nodeH'
# shellcheck disable=SC2086 # a list of words
python3 -c 'import socket, sys
names = sys.argv[1:]
sockets = [socket.socket() for _ in names]
for name, one in zip(names, sockets):
    one.bind(("127.0.0.1", 0))
    print("%s=%d" % (name, one.getsockname()[1]))' $nodes web mail hook \
	>"$tmp/ports"
# shellcheck disable=SC1091 # made above
. "$tmp/ports"

# --- The nodes ------------------------------------------------------------------

# Jobs go before other programs where that is allowed: how late a rank is must not
# depend on the load of this machine.
first='chrt --rr 1'
$first true 2>/dev/null || first=

# play NODE LOG... -- OPTION...: replays ranks on a node of that name.
play() {
	node=$1
	shift
	logs=
	while [ "$1" != -- ]; do
		logs="$logs $1"
		shift
	done
	shift
	[ -e "$tmp/$node" ] || shm_folder "$tmp/$node"
	# shellcheck disable=SC2086 # a list of words
	begin "$node.job" env NCCLSTAT_DIR="$tmp/$node" unshare --uts sh -c '
		hostname "$1"
		shift
		exec "$@"' sh "$node" $first "$build/ncclreplay" "$@" --hold \
		$logs
}

for fault in level straggler link slows; do
	mkdir "$tmp/$fault"
	python3 test/ui/fleet_job.py $fault \
		"$([ $fault = link ] && echo 3 || echo 4)" "$tmp/$fault"
done
# Rank 1 makes its last call after 6 s in the capture, 5 minutes here.
hang=test/captures/net-v5-hang
play nodeA $hang/rank0.calllog.xz -- --speed 0.02
play nodeB $hang/rank1.calllog.xz -- --speed 0.02
play nodeC test/captures/nvlink-v5-ddp8/*.xz -- --loop 0
for fault in level straggler; do
	play nodeD "$tmp/$fault/rank0.calllog" "$tmp/$fault/rank1.calllog" -- \
		--loop 0
	play nodeE "$tmp/$fault/rank2.calllog" "$tmp/$fault/rank3.calllog" -- \
		--loop 0
done
play nodeF "$tmp/link/rank0.calllog" -- --loop 0
play nodeG "$tmp/link/rank1.calllog" -- --loop 0
play nodeH "$tmp/link/rank2.calllog" -- --loop 0

mkdir "$tmp/collector"
targets=
for node in $nodes; do
	eval "port=\$$node"
	targets="$targets, '127.0.0.1:$port'"
	if [ $node = nodeB ]; then
		begin exporter.$node "$ncclstat" --dir "$tmp/$node" \
			--textfile="$tmp/collector" -i 0.5
		begin node_exporter prometheus-node-exporter \
			--collector.disable-defaults --collector.textfile \
			--collector.textfile.directory="$tmp/collector" \
			--web.listen-address="127.0.0.1:$port"
	else
		begin exporter.$node "$ncclstat" --dir "$tmp/$node" \
			--listen="127.0.0.1:$port" --user-names
	fi
done

# all_told: succeeds if the exporters tell of all ranks that have begun.
all_told() {
	for node in $nodes; do
		eval "echo \$$node"
	done | python3 -c 'import re, sys, urllib.request
told = [urllib.request.urlopen("http://127.0.0.1:%s/metrics" % port.strip()).read()
        for port in sys.stdin]
ranks = re.findall(rb"(?m)^ncclstat_rank_alive.* 1$", b"".join(told))
sys.exit(len(ranks) != 21)'
}

if ! wait_for 60 all_told && grep -q 'built without' "$tmp/exporter.nodeA"; then
	echo 'ncclstat was built without libmicrohttpd'
	exit 77
fi

# --- The watchers ---------------------------------------------------------------

# They begin when all ranks are there, so that they see all nodes for as long,
# and the job that turns slow when they are ready: at its usual speed for long
# enough.
alerting "${targets#, }"
begin prometheus prometheus --config.file="$tmp/prometheus.yml" \
	--storage.tsdb.path="$tmp/tsdb" --web.listen-address="127.0.0.1:$web"
begin alertmanager prometheus-alertmanager --config.file="$tmp/alertmanager.yml" \
	--storage.path="$tmp/mail" --cluster.listen-address= \
	--web.listen-address="127.0.0.1:$mail"
begin hook python3 -u -c 'import http.server, json, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for alert in json.loads(body)["alerts"]:
            if alert["status"] == "firing":
                labels = alert["labels"]
                print(labels["alertname"], labels.get("comm_name") or labels["node"],
                      alert["annotations"]["summary"], "|",
                      alert["annotations"]["command"])
        self.send_response(200)
        self.end_headers()
    def log_message(self, *unused):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Hook).serve_forever()' \
	"$hook"

# asks EXPRESSION: succeeds if the query has a result.
asks() {
	promtool query instant "http://127.0.0.1:$web" "$1" | grep -q '=>'
}

check 'all targets are scraped' wait_for 60 asks 'count(up == 1) == 8'
play nodeD "$tmp/slows/rank0.calllog" "$tmp/slows/rank1.calllog" -- --loop 0
play nodeE "$tmp/slows/rank2.calllog" "$tmp/slows/rank3.calllog" -- --loop 0
check 'the ranks of all nodes are seen' \
	wait_for 60 asks 'count(ncclstat_rank_alive == 1) == 25'

# told PATTERN: succeeds once the webhook was told of that.
told() {
	wait_for 150 grep -Eq "$1" "$tmp/hook"
}

check 'the webhook is told of the rank that is missing, on nodeB' \
	told '^NcclRankMissing world rank 1 of [0-9a-f]* on nodeB .* 1 calls of AllReduce behind.* \| ncclstat --hosts=nodeB --diagnose$'
check 'of its job on both nodes, after 30 s that no rule shortens' \
	told '^NcclHang world [0-9a-f]* is stuck for .* \| ncclstat --hosts=nodeA,nodeB --diagnose$'
check 'of the straggler, rank 1 on nodeD, and by how much it is late' \
	told '^NcclStraggler straggler the others wait 1[123]\.?[0-9]*ms for rank 1 of 0*1a7e on nodeD at each AllReduce \| ncclstat --hosts=nodeD --diagnose$'
check 'of the captured one, rank 5 on nodeC' \
	told '^NcclStraggler nodeC .* rank 5 of [0-9a-f]* on nodeC at each AllReduce'
check 'of the slow link, from nodeF to nodeG' \
	told '^NcclSlowLink nodeF what nodeF sends to nodeG .* \| ncclstat --hosts=nodeF,nodeG --diagnose$'
check 'of the job that turned slow, on all of its nodes' \
	told '^NcclSlow slows AllReduce of 4194304 bytes on 0*510e5 .* \| ncclstat --hosts=nodeD,nodeE --diagnose$'

# watched SELECTOR...: succeeds if the healthy job has as many series of each,
# for as long as it takes the other jobs' alerts to fire.
watched() {
	for series in "$@"; do
		asks "count(count_over_time($series[5m]) > 100) == 4" || {
			echo "$series"
			return 1
		}
	done
}
level="comm=\"$(printf %016x $((0xa11)))\""
check 'the healthy job is seen for as long, by all rules that could fire' \
	wait_for 60 watched "ncclstat_rank_alive{$level}" \
	"rank_func:ncclstat_late_seconds:mean5m{$level}" \
	'node_peer:ncclstat_send_seconds_per_byte:rate5m{node=~"nodeD|nodeE"}'
check 'and its bandwidth' \
	asks "count_over_time(comm_func_size:ncclstat_bus_bytes:rate5m{$level}[5m]) > 100"
nothing_else() {
	sed 's/^\([^ ]* [^ ]*\).* \(rank [0-9]*\) of.*/\1 \2/;t
		s/^\([^ ]* [^ ]*\).*/\1/' "$tmp/hook" | sort -u >"$tmp/told"
	printf '%s\n' 'NcclHang world' 'NcclRankMissing world rank 1' \
		'NcclSlow slows' 'NcclSlowLink nodeF' 'NcclStraggler nodeC rank 5' \
		'NcclStraggler straggler rank 1' | diff - "$tmp/told" || {
		cat "$tmp/hook"
		return 1
	}
}
check 'the webhook was told of nothing else' nothing_else
check 'Prometheus complains of no rule' no_complaint
exit "$failed"
