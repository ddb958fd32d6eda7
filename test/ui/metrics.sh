#!/bin/sh
# SPDX-License-Identifier: MIT
# Metrics of captured jobs that run, as Prometheus and node_exporter get them: by
# --dump, --textfile and --listen; checked by our own parser, by promtool and by
# Prometheus's Python client where these are there.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
ncclstat=$synthetic
exporter=
own_segments
mkdir "$tmp/collector"

at_end() {
	for pid in $exporter; do
		kill "$pid" 2>/dev/null
	done
}

printf '#include "ncclstat/tables/metrics.def"\n#define X(ID, name, ...) @ name\nNCS_METRICS(X)\n' |
	${CC:-cc} -E -P -Iinclude -x c - | tr '@' '\n' |
	sed -n 's/^ *"\(.*\)".*/\1/p' >"$tmp/names"

# well_formed FORMAT FILE...: by our own parser.
well_formed() {
	format=$1
	shift
	python3 test/ui/exposition.py "$format" "$tmp/names" "$@"
}

# client FILE: by the Python client's parser of OpenMetrics.
client() {
	"$python" -c '
import sys
from prometheus_client.openmetrics import parser
with open(sys.argv[1]) as file:
    families = list(parser.text_string_to_metric_families(file.read()))
assert families' "$1"
}

python=
for candidate in python3 /usr/bin/python3; do
	if "$candidate" -c 'import prometheus_client.openmetrics.parser' \
		2>/dev/null; then
		python=$candidate
	fi
done

# check_text WHAT FORMAT FILE: by all parsers that know the format.
check_text() {
	check "$1: is well formed" well_formed "$2" "$3"
	if [ "$2" = openmetrics ] && [ -n "$python" ]; then
		check "$1: Prometheus's Python client reads it" client "$3"
	fi
	if [ "$2" = prometheus ] && command -v promtool >/dev/null; then
		check "$1: promtool finds no fault" \
			sh -c 'promtool check metrics <"$1"' - "$3"
	fi
}

# wait_for COMMAND...: waits until the command succeeds.
wait_for() {
	await quietly "$@" || "$@"
}
quietly() {
	"$@" >/dev/null 2>&1
}

# --- The parser, which must find faults --------------------------------------

finds() {
	printf '%b' "$2" >"$tmp/bad"
	! well_formed openmetrics "$tmp/bad" >"$tmp/found" &&
		grep -q "$1" "$tmp/found"
}

head='# TYPE ncclstat_lost counter\n# HELP ncclstat_lost x\n'
check 'parser: finds a series twice' finds 'a series twice' \
	"${head}ncclstat_lost_total{a=\"b\"} 1\nncclstat_lost_total{a=\"b\"} 1\n# EOF\n"
check 'parser: finds a missing end' finds 'no EOF' \
	"${head}ncclstat_lost_total 1\n"
check 'parser: finds a bad escape' finds malformed \
	"${head}ncclstat_lost_total{a=\"\\\\x\"} 1\n# EOF\n"
check 'parser: finds a metric that is not in the table' finds 'in the table' \
	"# TYPE ncclstat_x gauge\nncclstat_x 1\n# EOF\n"
falls() {
	printf '%bncclstat_lost_total 2\n# EOF\n' "$head" >"$tmp/first"
	printf '%bncclstat_lost_total 1\n# EOF\n' "$head" >"$tmp/second"
	well_formed openmetrics "$tmp/second" "$tmp/first" &&
		! well_formed openmetrics "$tmp/first" "$tmp/second"
}
check 'parser: finds a counter that falls' falls

# --- Without a job ------------------------------------------------------------

check 'no job: status 0' run 0 --dump=openmetrics
check_text 'no job' openmetrics "$tmp/out"
check 'no job: says so by the number of segments' \
	grep -qx 'ncclstat_segments{state="attached"} 0' "$tmp/out"
echo x >"$NCCLSTAT_DIR/ncclstat.1.1.0"
check 'garbage alone: status 4' run 4 --dump=prometheus
check 'garbage: is counted' \
	grep -qx 'ncclstat_segments{state="corrupt"} 1' "$tmp/out"
rm "$NCCLSTAT_DIR/ncclstat.1.1.0"

# --- Wrong options ------------------------------------------------------------

check 'an unknown metric: status 64' run 64 --dump=openmetrics --metrics=no_such
check 'an unknown metric: is named' grep -q "'no_such'" "$tmp/err"
check '--series without metrics: status 64' run 64 --dump=json --series=500
check '--textfile: no such directory: status 1' \
	run 1 --textfile="$tmp/none"
check '--textfile: no such directory: is named' grep -q "$tmp/none/" "$tmp/err"

# --- A job of 8 ranks ---------------------------------------------------------

SLURM_JOB_ID=4711 POD_NAME='p"0' \
	"$replay" --speed 1 --loop 0 test/captures/net-v5-ddp8 2>"$tmp/replay" &
job=$!
has_ranks() {
	run 0 --dump=openmetrics --metrics=all &&
		[ "$(grep -c '^ncclstat_rank_alive.* 1$' "$tmp/out")" -eq 8 ] &&
		grep -q '^ncclstat_peer_sent_bytes_total' "$tmp/out"
}
check 'job: all ranks are there' wait_for has_ranks
check_text 'job' openmetrics "$tmp/out"
check 'job: ranks have the labels of their job' \
	sh -c '[ "$(grep -cF "$2" "$1")" -eq 8 ]' - "$tmp/out" \
	',job_step="",job_rank="",pod="p\"0",namespace=""} 1'
check 'job: so have all their series' \
	sh -c '! grep "{comm=" "$1" | grep -vF "$2"' - "$tmp/out" \
	',job_id="4711"'
check 'job: --dump=prometheus' run 0 --dump=prometheus --metrics=all
check_text 'job, 0.0.4' prometheus "$tmp/out"
check '--series: is a limit' run 0 --dump=openmetrics --series=100
check '--series: 100 series' \
	sh -c '[ "$(grep -c "^ncclstat_" "$1")" -eq 100 ]' - "$tmp/out"
check '--metrics: leaves out' run 0 --dump=openmetrics --metrics=-rank_info
check '--metrics: what it left out is not there' \
	sh -c '! grep -q ncclstat_rank_info "$1"' - "$tmp/out"
check 'a synthetic job' run 0 --synthetic 64x4 --dump=openmetrics --metrics=all
check_text 'a synthetic job' openmetrics "$tmp/out"

# --- A hostile name ---------------------------------------------------------------

mkdir "$tmp/hostile"
shm_folder "$tmp/hostile.shm"
python3 test/ui/fleet_job.py level 2 "$tmp/hostile"
# Quotes, a backslash, an escape, bytes that are no UTF-8, and a whole sample.
python3 -c 'import glob, sys
for path in glob.glob(sys.argv[1] + "/*"):
    text = open(path, "rb").read()
    name = b"a\"}1\\x\\\x1b[31m\xff\xc3\xa9{,=#\\"
    open(path, "wb").write(text.replace(b" name=level ", b" name=" + name + b" "))
' "$tmp/hostile"
NCCLSTAT_DIR="$tmp/hostile.shm" "$replay" --loop 0 "$tmp/hostile" \
	>"$tmp/hostile.log" 2>&1 &
whole_job=$job
job="$job $!"
hostile() {
	NCCLSTAT_DIR="$tmp/hostile.shm" run 0 "--dump=$1" --metrics=all &&
		[ "$(grep -c '^ncclstat_rank_alive{' "$tmp/out")" -eq 2 ]
}
check 'hostile name: both ranks are there' wait_for hostile openmetrics
check_text 'hostile name' openmetrics "$tmp/out"
check 'hostile name: is escaped' grep -qF \
	',comm_name="a\"}1\\x\\?[31m?é{,=#\\",' "$tmp/out"
check 'hostile name: --dump=prometheus' hostile prometheus
check_text 'hostile name, 0.0.4' prometheus "$tmp/out"
kill "${job##* }"
wait "${job##* }" 2>/dev/null
job=$whole_job

# --- node_exporter ------------------------------------------------------------

file=$tmp/collector/ncclstat.prom
"$ncclstat" --textfile="$tmp/collector" -i 0.2 2>"$tmp/said" &
exporter=$!
check 'textfile: is written' wait_for [ -s "$file" ]
newer() {
	cp "$file" "$tmp/$1"
	[ -n "$2" ] && ! cmp -s "$tmp/$1" "$tmp/$2"
}
cp "$file" "$tmp/text0"
check 'textfile: is written again' wait_for newer text1 text0
check 'textfile: and again' wait_for newer text2 text1
check_text 'textfile' prometheus "$tmp/text2"
check 'textfile: no counter falls' \
	well_formed prometheus "$tmp/text0" "$tmp/text1" "$tmp/text2"
check 'textfile: others may read it' \
	sh -c '[ "$(stat -c %a "$1")" = 644 ]' - "$file"
# A job in the background ignores QUIT, and one that nohup started ignores HUP.
end_by() {
	env --default-signal "$ncclstat" --textfile="$tmp/collector" -i 60 2>"$tmp/said" &
	exporter=$!
	wait_for [ -s "$file" ] || return 1
	kill -s "$1" "$exporter"
	wait "$exporter" 2>/dev/null
	wait_for sh -c '[ -z "$(ls "$1")" ]' - "$tmp/collector"
}
kill "$exporter"
check 'textfile: status 0 when stopped' wait "$exporter"
check 'textfile: TERM removes it' \
	sh -c '[ -z "$(ls "$1")" ]' - "$tmp/collector"
for signal in HUP QUIT USR1 ALRM RTMIN SEGV BUS ABRT KILL; do
	check "textfile: $signal removes it" end_by "$signal"
done
exporter=

# --- HTTP ---------------------------------------------------------------------

# fetch ACCEPT PATH [METHOD]: prints the status and the type, the text goes to
# $tmp/body.
fetch() {
	python3 - "$tmp/socket" "$tmp/body" "$@" <<-'END'
	import http.client, socket, sys
	path, body, accept, url = sys.argv[1:5]
	method = sys.argv[5] if len(sys.argv) > 5 else 'GET'
	connection = http.client.HTTPConnection('localhost')
	connection.sock = socket.socket(socket.AF_UNIX)
	connection.sock.connect(path)
	connection.request(method, url, headers={'Accept': accept})
	reply = connection.getresponse()
	with open(body, 'wb') as file:
	    file.write(reply.read())
	print(reply.status, reply.getheader('Content-Type'))
	END
}

answers() {
	fetch "$2" "$3" ${4:+"$4"} >"$tmp/reply" && grep -qx "$1" "$tmp/reply"
}

"$ncclstat" --listen="$tmp/socket" 2>"$tmp/said" &
exporter=$!
# listens: whether it does, or has ended.
listens() {
	[ -S "$tmp/socket" ] || ! kill -0 "$exporter" 2>/dev/null
}
await listens
if grep -q 'built without' "$tmp/said"; then
	echo 'ok listen: says that it was built without libmicrohttpd'
	check 'listen: --help says it, too' \
		sh -c '"$1" --help | grep -q "not in this build"' - "$ncclstat"
else
	open_type='200 application/openmetrics-text; version=1.0.0; charset=utf-8'
	check 'listen: OpenMetrics for who names it' wait_for answers "$open_type" \
		'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' \
		/metrics
	cp "$tmp/body" "$tmp/http0"
	check_text 'listen' openmetrics "$tmp/http0"
	check 'listen: a Unix socket is its user'"'"'s alone' \
		sh -c '[ "$(stat -c %a "$1")" = 600 ]' - "$tmp/socket"
	check 'listen: a Unix socket has all names, and says nothing' \
		sh -c 'grep -q "job_id=\"4711\"" "$1" && [ ! -s "$2" ]' - \
		"$tmp/http0" "$tmp/said"
	has_moved_on() {
		answers "$open_type" \
			'application/openmetrics-text;version=1.0.0' /metrics &&
			! cmp -s "$tmp/http0" "$tmp/body"
	}
	await has_moved_on
	check 'listen: again' answers "$open_type" \
		'application/openmetrics-text;version=1.0.0' /metrics
	check 'listen: no counter falls' \
		well_formed openmetrics "$tmp/http0" "$tmp/body"
	check 'listen: has moved on' \
		sh -c '! cmp -s "$1" "$2"' - "$tmp/http0" "$tmp/body"
	check 'listen: 0.0.4 for all others' answers \
		'200 text/plain; version=0.0.4; charset=utf-8' '*/*' /metrics
	check_text 'listen, 0.0.4' prometheus "$tmp/body"
	check 'listen: another path: 404' answers '404 .*' '*/*' /x
	check 'listen: POST: 405' answers '405 .*' '*/*' /metrics POST
	kill "$exporter"
	check 'listen: status 0 when stopped' wait "$exporter"
	check 'listen: the socket is removed' [ ! -e "$tmp/socket" ]
	check 'listen: another machine: status 64' run 64 --listen=0.0.0.0:9498
	check 'listen: another machine: says how' \
		grep -q 'textfile.*exporter_exporter' "$tmp/err"
	on_port() {
		python3 test/ui/listen.py "$ncclstat" "$1"
	}
	check 'listen: a socket that systemd passes' on_port answers
	check 'listen: slow clients keep nobody waiting' on_port slow-clients
	check "listen: other names of this machine get no answer" on_port hosts
	check 'listen: --listen-name' on_port names
	check 'listen: a port has no names that users choose, and says what it has' \
		on_port hides
	check 'listen: --user-names' on_port shows
	check '--user-names without a port: status 64' \
		run 64 --listen="$tmp/socket" --user-names
	check '--listen-name without --listen: status 64' \
		run 64 --dump --listen-name=node7
fi
exporter=

# --- Ranks that end -----------------------------------------------------------

"$ncclstat" --dump=openmetrics -i 0.2 >"$tmp/stream" 2>"$tmp/said" &
exporter=$!
victim=$(pgrep -P "$job" | head -n 1)
kill -KILL "$victim"
died() {
	run 0 --dump=openmetrics &&
		[ "$(grep -c '^ncclstat_rank_alive.* 0$' "$tmp/out")" -eq 1 ]
}
check 'a rank that was killed is told' wait_for died
end_job
check 'the job is summed up when it has ended' wait_for \
	grep -q '^ncclstat_finished_job_seconds{job_id="4711",severity="' \
	"$tmp/stream"
texts=$(grep -c '^# EOF$' "$tmp/stream")
more_texts() {
	[ "$(grep -c '^# EOF$' "$tmp/stream")" -gt $((texts + 1)) ]
}
wait_for more_texts
check 'once' sh -c '[ "$(grep -c "^ncclstat_finished_job_seconds{" "$1")" -eq 1 ]' \
	- "$tmp/stream"
kill "$exporter"
wait "$exporter" 2>/dev/null
check 'each text of --interval has its end' \
	sh -c '[ "$(grep -c "^# EOF$" "$1")" -ge 1 ]' - "$tmp/stream"
exporter=
exit "$failed"
