#!/bin/sh
# SPDX-License-Identifier: MIT
# The archives of several nodes are asked by ssh for a job, which is read as one. ssh is a
# stand-in that runs its command on a fake node, in a home of its own. Prometheus reads the
# nodes' watches and Alertmanager tells of the hang, where they are installed; the job is
# killed, and a watch with it and started again: afterwards all is there.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
. test/ui/alerting
fleet_needs tar
fleet_needs_names
fleet_enter kept-elsewhere
fleet_nodes n1 n2
mkdir "$tmp/home-n1" "$tmp/home-n2" "$tmp/job" "$tmp/fetched"
: >"$tmp/said" >"$tmp/err"

# --- A job of eight ranks on two nodes hangs and is ended -------------------

python3 test/ui/faulty_job.py missing 8 "$tmp/job"
python3 -c 'import socket
sockets = [socket.socket() for _ in range(5)]
for name, one in zip(["n1", "n2", "web", "mail", "hook"], sockets):
    one.bind(("127.0.0.1", 0))
    print("%s=%d" % (name, one.getsockname()[1]))' >"$tmp/ports"
# shellcheck disable=SC1091 # made above
. "$tmp/ports"
# start_watch NODE: starts a node's watch, $watch. It keeps its jobs below its home.
start_watch() {
	eval "port=\$$1"
	# shellcheck disable=SC2154 # from the ports
	"$tmp/agent" "$1" sh -c 'cd "$0" && exec ncclstat watch -i 0.2 --stacks \
		--archive=kept --archive-size=64M --user-names \
		--listen=127.0.0.1:$1' "$tmp/home-$1" "$port" \
		>>"$tmp/watch-$1" 2>&1 &
	watch=$!
	fleet_jobs="$fleet_jobs $watch"
}
start_watch n1
watch_of_n1=$watch
start_watch n2

# Prometheus and Alertmanager.
is_told=
if command -v prometheus >/dev/null && command -v prometheus-alertmanager >/dev/null &&
	! grep -q 'built without' "$tmp/watch-n1"; then
	is_told=yes
	alerting "'127.0.0.1:$n1', '127.0.0.1:$n2'"
	prometheus --config.file="$tmp/prometheus.yml" \
		--storage.tsdb.path="$tmp/tsdb" \
		--web.listen-address="127.0.0.1:$web" >"$tmp/prometheus" 2>&1 &
	fleet_jobs="$fleet_jobs $!"
	prometheus-alertmanager --config.file="$tmp/alertmanager.yml" \
		--storage.path="$tmp/mail" --cluster.listen-address= \
		--web.listen-address="127.0.0.1:$mail" >"$tmp/alertmanager" 2>&1 &
	fleet_jobs="$fleet_jobs $!"
	python3 -u -c 'import http.server, json, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        for alert in json.loads(body)["alerts"]:
            print(alert["labels"]["alertname"], alert["annotations"]["command"])
        self.send_response(200)
        self.end_headers()
    def log_message(self, *unused):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Hook).serve_forever()' \
		"$hook" >"$tmp/hook" 2>&1 &
	fleet_jobs="$fleet_jobs $!"
fi
players=
set -- "$tmp/job"/*
for node in n1 n2; do
	SLURM_JOB_ID=4711 "$tmp/agent" "$node" "$fleet_build/ncclreplay" --hold \
		"$1" "$2" "$3" "$4" 2>"$tmp/replay-$node" &
	players="$players $!"
	fleet_jobs="$fleet_jobs $!"
	shift 4
done
for node in n1 n2; do
	fleet_check "$node finds that the job hangs" await grep -q ' stuck' \
		"$tmp/watch-$node"
done

cat >"$tmp/ssh" <<END
#!/bin/sh
# ssh's arguments end with the host and one text for a shell.
while [ "\$1" != -- ]; do
	shift
done
case \$2 in
n[12]) ;;
*)
	echo "ssh: Could not resolve hostname \$2" >&2
	exit 255
	;;
esac
cd "$tmp/home-\$2" && exec "$tmp/agent" "\$2" sh -c "\$3"
END
chmod +x "$tmp/ssh"
export NCCLSTAT_SSH="$tmp/ssh" TMPDIR="$tmp/fetched"

# fetched OPTION...: runs ncclstat on what the nodes keep.
fetched() {
	"$fleet_ncclstat" --archive=kept "$@" >"$tmp/said" 2>"$tmp/err"
}
says() {
	grep -q "$1" "$tmp/said"
}
is_stuck() {
	fetched --diagnose --job=4711 --hosts='n[1-2]'
	[ $? -eq 2 ]
}
fleet_check 'a job that still runs is stuck there' await is_stuck
# The looks of a recording are a second apart.
has_looks() {
	is_stuck && grep -q 'recorded, at 0:\(0[89]\|[1-5]\)' "$tmp/said"
}
fleet_check 'and has been for some looks' await has_looks
fleet_check 'its ranks are all seen' says ' 8 ranks'

is_alerted() {
	grep -q '^NcclHang ncclstat --slurm=4711 --diagnose$' "$tmp/hook"
}
# The alert waits for 30 s, which no setting shortens.
is_alerted_late() {
	await is_alerted || await is_alerted
}
if [ -n "$is_told" ]; then
	cp "$tmp/hook" "$tmp/said"
	fleet_check 'Alertmanager tells of the hang, and what to do' is_alerted_late
else
	echo 'ok Alertmanager tells of the hang # SKIP not installed'
fi

# Its batch system kills the job, and the watch of a node is started again.
kill -KILL "$watch_of_n1"
for player in $players; do
	pkill -KILL -P "$player"
	kill -KILL "$player"
done
start_watch n1
for node in n1 n2; do
	fleet_check "its end is kept on $node" await grep -q '"ended","job":"4711"' \
		"$tmp/home-$node/kept/jobs.jsonl"
done
fetched --diagnose --job=4711 --hosts='n[1-2]'
fleet_check 'a job that has ended is stuck there, too' test $? -eq 2
fleet_check 'the root is told' says '^stuck from .* rank 1 of faulty has not called'
fleet_check 'of both nodes' says ' 8 ranks'
fleet_check 'without a message' test ! -s "$tmp/err"
fetched --diagnose --stacks=all --job=4711 --hosts='n[1-2]'
fleet_check 'one command has the verdict' says '^stuck from .* rank 1 of faulty'
fleet_check 'the stacks' says '^stacks of main threads, read '
fleet_check 'and the lines of history of both nodes' test "$(grep -c \
	' n[12] .* 4711 .* stuck: ' "$tmp/said")" = 2
fleet_check 'of which the restarted watch does not know how many processes it had' \
	says ' n1 .* 4711  *-  stuck: rank 1 of faulty has not called'
(cd "$tmp/home-n1" && "$fleet_ncclstat" diagnose --archive=kept --job=4711) \
	>"$tmp/said" 2>"$tmp/err"
report=$(sed -n 's/^report: //p' "$tmp/said")
fleet_check 'on a node also where the report is' grep -q \
	'rank 1 of faulty has not called' "$tmp/home-n1/$report"
fetched --diagnose --job=4711 --hosts=n2
fleet_check 'of one node there are its ranks' says ' 4 ranks'
fetched --dump=json --job=4711 --hosts='n[1-2]'
fleet_check 'it is dumped' says '"nranks":8'
fetched --export=ndjson --job=4711 --hosts='n[1-2]'
all=$(wc -l <"$tmp/said")
fetched --export=ndjson --since=20 --job=4711 --hosts='n[1-2]'
fleet_check 'a part of it is exported' test "$(wc -l <"$tmp/said")" -lt "$all"
fetched --report="$tmp/report.html" --job=4711 --hosts='n[1-2]'
fleet_check 'and reported' test -s "$tmp/report.html"
mkdir "$tmp/home-n1/kept/jobs/4711@1000"
fetched --diagnose --job=4711 --hosts='n[1-2]'
fleet_check 'an earlier run of that name is told' grep -q \
	'the latest of 2 that --job=4711 names; the one before: --job=4711@1000$' \
	"$tmp/err"

# --- Hosts without an answer ------------------------------------------------------

fetched --diagnose --job=4711 --hosts='n[1-3]'
fleet_check 'the others are read if one does not answer' says ' 8 ranks'
fleet_check 'and it is told' grep -q 'n3: ssh says: .*Could not resolve' "$tmp/err"
fetched --diagnose --job=4712 --hosts='n[1-2]'
fleet_check 'of a job that nobody keeps there is no verdict' test $? -eq 3
fleet_check 'and the reason' grep -q 'n2: .*nothing is kept of job 4712' "$tmp/err"
fetched --diagnose --job="4711'; touch $tmp/injected; '" --hosts=n1
fleet_check 'a name is no command' test ! -e "$tmp/injected"
fetched --diagnose --job=4711 --kube=app=train
fleet_check 'another way to look at nodes is refused' test $? -eq 64
fleet_check 'with what to do' grep -q 'with --hosts' "$tmp/err"

# Stand-ins of Slurm, whose controller has forgotten the job.
mkdir "$tmp/slurm"
cat >"$tmp/slurm/squeue" <<'END'
#!/bin/sh
echo 'slurm_load_jobs error: Invalid job id specified' >&2
exit 1
END
cat >"$tmp/slurm/sacct" <<'END'
#!/bin/sh
case $* in
*--jobs=4711) printf 'n[1-2]\nNone assigned\n' ;;
*--jobs=4713) ;;
*) exit 1 ;;
esac
END
chmod +x "$tmp/slurm"/*
of_slurm() {
	PATH="$tmp/slurm:$PATH" fetched --diagnose "$@"
}
of_slurm --slurm=4711
fleet_check 'a job of Slurm that has ended is found' test $? -eq 2
fleet_check 'on all its nodes' says ' 8 ranks'
of_slurm --slurm=4711 --exclude=n1
fleet_check 'a node is left out' says ' 4 ranks'
of_slurm --slurm=4713
fleet_check 'a job that Slurm does not know has no verdict' test $? -eq 3
fleet_check 'and a reason' grep -q 'Slurm knows no nodes of job 4713' "$tmp/err"
printf '#!/bin/sh\necho n2\n' >"$tmp/slurm/squeue"
of_slurm --slurm=4711
fleet_check 'its controller is asked first' says ' 4 ranks'
fleet_check 'nothing is left' test -z "$(ls "$TMPDIR")"

# The stand-in waits, so that the program is killed while it fetches.
sed -i '2i sleep 20' "$tmp/ssh"
"$fleet_ncclstat" --archive=kept --diagnose --job=4711 --hosts=n1 \
	>"$tmp/said" 2>&1 &
viewer=$!
is_begun() {
	ls -d "$TMPDIR"/*/1 >/dev/null 2>&1
}
is_gone() {
	[ -z "$(ls "$TMPDIR")" ]
}
await is_begun
kill -KILL "$viewer"
fleet_check 'nor if it is killed' await is_gone

# --- The tar file itself ---------------------------------------------------------

"$fleet_ncclstat" --jobs=tar --archive="$tmp/home-n1/kept" --job=4711 >"$tmp/tar"
fleet_check 'one job is written as a tar file' \
	sh -c 'tar -tf "$0" | grep -q "^jobs/4711@"' "$tmp/tar"
mkdir "$tmp/here" && tar -xf "$tmp/tar" -C "$tmp/here"
"$fleet_ncclstat" --diagnose --archive="$tmp/here" --job=4711 >"$tmp/said" 2>&1
fleet_check 'which can be read elsewhere' test $? -eq 2
fleet_check 'with the report' sh -c 'test -s "$0"/jobs/4711@*/report.html' "$tmp/here"
"$fleet_ncclstat" jobs --archive="$tmp/here" >"$tmp/said" 2>&1
fleet_check 'the job is listed there, and no other one' sh -c '
	[ "$(wc -l <"$1")" = 2 ] && grep -q " 4711 .* stuck: rank 1 of faulty" "$1"' \
	sh "$tmp/said"
mkdir "$tmp/machines" "$tmp/there"
ln -s "$tmp/home-n1/kept" "$tmp/machines/n1"
ln -s "$tmp/home-n2/kept" "$tmp/machines/n2"
(cd "$tmp" && "$fleet_ncclstat" --jobs=tar --archive=machines --job=4711) |
	tar -xf - -C "$tmp/there"
"$fleet_ncclstat" jobs --archive="$tmp/there" >"$tmp/said" 2>&1
fleet_check 'of several machines each has its line' test "$(wc -l <"$tmp/said")" = 3
"$fleet_ncclstat" --jobs=tar --archive="$tmp/home-n1/kept" 2>"$tmp/err"
fleet_check 'a name is required' grep -q 'requires --job' "$tmp/err"
