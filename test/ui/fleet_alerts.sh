#!/bin/sh
# SPDX-License-Identifier: MIT
# From a hang to a message, through the real programs: two fake nodes, each with
# one rank of a captured job in which rank 1 makes its last call late, and a third
# with a healthy job; ncclstat --listen on the first and third, ncclstat --textfile
# and node_exporter on the second; Prometheus with our rules; Alertmanager; and a
# webhook, which must be told the rank and its node, and nothing of the healthy
# job.
#
# Windows of two minutes are shortened to seconds; rules that look at five minutes
# or more cannot fire in this time (rules_test.py has jobs for them). Prints
# "ok ..." or "not ok ..." for each check. All programs listen on loopback and are
# ended by their process ids.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
pids=

at_end() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null
	done
}

for program in prometheus prometheus-alertmanager prometheus-node-exporter; do
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

python3 -c 'import socket
sockets = [socket.socket() for _ in range(6)]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])' >"$tmp/ports"
read -r port_a port_b port_c web mail hook <"$tmp/ports"

# --- The nodes ------------------------------------------------------------------

# node NAME SPEED LOOPS LOG...: replays ranks as a node of that name.
node() {
	name=$1
	speed=$2
	loops=$3
	shift 3
	shm_folder "$tmp/$name"
	mkdir "$tmp/$name.logs"
	cp "$@" "$tmp/$name.logs"
	begin "$name.job" env NCCLSTAT_DIR="$tmp/$name" unshare --uts sh -c '
		hostname "$1"
		shift
		exec "$@"' sh "$name" "$build/ncclreplay" --speed "$speed" \
		--loop "$loops" --hold "$tmp/$name.logs"
}

hang=test/captures/net-v5-hang
node nodeA 0.1 1 $hang/rank0.calllog.xz
node nodeB 0.1 1 $hang/rank1.calllog.xz
node nodeC 1 0 test/captures/net-v5-ddp8/*.xz
mkdir "$tmp/collector"
begin exporter_a "$ncclstat" --dir "$tmp/nodeA" --listen="127.0.0.1:$port_a"
begin exporter_b "$ncclstat" --dir "$tmp/nodeB" --textfile="$tmp/collector" -i 0.5
begin exporter_c "$ncclstat" --dir "$tmp/nodeC" --listen="127.0.0.1:$port_c"
begin node_exporter prometheus-node-exporter --collector.disable-defaults \
	--collector.textfile --collector.textfile.directory="$tmp/collector" \
	--web.listen-address="127.0.0.1:$port_b"
sleep 1
if grep -q 'built without' "$tmp/exporter_a"; then
	echo 'ncclstat was built without libmicrohttpd'
	exit 77
fi

# --- The watchers ---------------------------------------------------------------

sed -e 's/\[2m\]/[6s]/g' -e 's/> 60$/> 8/' -e 's/for: [12]m$/for: 2s/' \
	tui/share/prometheus/ncclstat.rules.yml \
	>"$tmp/rules.yml"
cat >"$tmp/prometheus.yml" <<-END
	global: { scrape_interval: 1s, evaluation_interval: 1s }
	rule_files: [ $tmp/rules.yml ]
	alerting:
	  alertmanagers:
	    - static_configs: [ targets: [ '127.0.0.1:$mail' ] ]
	scrape_configs:
	  - job_name: ncclstat
	    static_configs:
	      - targets: [ '127.0.0.1:$port_a', '127.0.0.1:$port_b', '127.0.0.1:$port_c' ]
END
cat >"$tmp/alertmanager.yml" <<-END
	route: { receiver: hook, group_by: [ alertname, comm ], group_wait: 0s, group_interval: 1s }
	receivers:
	  - name: hook
	    webhook_configs: [ url: 'http://127.0.0.1:$hook/' ]
END
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
                print(labels["alertname"], labels["comm"],
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

check 'all targets are scraped' wait_for 30 asks 'count(up == 1) == 3'
check 'the ranks of all nodes are seen' \
	wait_for 30 asks 'count(ncclstat_rank_alive == 1) >= 10'
check 'the webhook is told of the rank that is missing' \
	wait_for 100 grep -q '^NcclRankMissing' "$tmp/hook"
check 'it is rank 1 on nodeB, and the next command is there' \
	grep -Eq '^NcclRankMissing .* rank 1 of [0-9a-f]* on nodeB .* 1 calls of AllReduce behind.* \| ncclstat --hosts=nodeB --diagnose' \
	"$tmp/hook"
check 'the healthy job is seen for as long, and longer' wait_for 60 \
	asks 'count(count_over_time(ncclstat_rank_alive[2m]) > 25) >= 10'
healthy=$(promtool query instant "http://127.0.0.1:$web" \
	'count by (comm) (ncclstat_rank_info{node="nodeC"})' |
	sed -n 's/.*comm="\([^"]*\)".*/\1/p')
nothing_of_healthy() {
	[ -n "$healthy" ] && for comm in $healthy; do
		! grep " $comm " "$tmp/hook" || return 1
	done
}
check 'the webhook is told nothing of the healthy job' nothing_of_healthy
check 'Prometheus complains of no rule' \
	sh -c '! grep -E "level=(warn|error).*(rule|vector)" "$1"' - \
	"$tmp/prometheus"
exit "$failed"
