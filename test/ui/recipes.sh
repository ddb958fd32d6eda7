#!/bin/sh
# SPDX-License-Identifier: MIT
# The recipes that are installed, run with the programs that they are for, where
# these are there: the commands that they have, with other folders and ports.
# Slurm's are run by fleet_slurm.sh.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
recipes=$PWD/tui/share/recipes
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
PATH=$build:$PATH
pids=
own_segments

at_end() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null
	done
}

# begin COMMAND...: starts a program in the background.
begin() {
	"$@" >>"$tmp/programs" 2>&1 &
	pids="$pids $!"
}

skip() {
	echo "ok $1 # SKIP $2"
}

have() {
	command -v "$1" >/dev/null
}

python3 -c 'import socket
sockets = [socket.socket() for _ in range(4)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in sockets])' >"$tmp/ports"
read -r socket_port node_port module_port front_port <"$tmp/ports"

# has_ranks STATUS URL [TOKEN]: succeeds if that is the status of the answer, and
# it has all ranks if it is 200. Certificates of any kind will do.
has_ranks() {
	python3 - "$@" 2>"$tmp/said" <<-'END'
	import ssl, sys, urllib.error, urllib.request
	wanted, url = sys.argv[1:3]
	headers = {'Authorization': 'Bearer ' + sys.argv[3]} if sys.argv[3:] else {}
	try:
	    reply = urllib.request.urlopen(
	        urllib.request.Request(url, headers=headers), timeout=10,
	        context=ssl._create_unverified_context())
	    status, text = reply.status, reply.read().decode()
	except urllib.error.HTTPError as error:
	    status, text = error.code, error.read().decode()
	ranks = text.count('\nncclstat_rank_alive{')
	assert str(status) == wanted and (status != 200 or ranks == 4), \
	    (status, ranks, text[:300])
	END
}

mkdir "$tmp/job"
python3 test/ui/fleet_job.py level 4 "$tmp/job"
begin "$build/ncclreplay" --loop 0 "$tmp/job"

# --- systemd ----------------------------------------------------------------------

# command_of UNIT: prints the service's command.
command_of() {
	sed -n 's/^ExecStart=//p' "$recipes/$1"
}

if have systemd-analyze; then
	# It wants the programs to be where systemd looks for them.
	mkdir "$tmp/units" "$tmp/cat"
	cp "$recipes"/*.socket "$recipes"/*.service "$tmp/units"
	sed -i "s|^ExecStart=ncclstat|ExecStart=$build/ncclstat|" \
		"$tmp"/units/*.service
	verified() {
		SYSTEMD_UNIT_PATH="$tmp/units:" systemd-analyze verify --man=no \
			"$@" >"$tmp/verify" 2>&1
		! grep -F "$tmp/units" "$tmp/verify" && ! grep -F ncclstat \
			"$tmp/verify"
	}
	check 'systemd: nothing is wrong with the units' verified \
		"$tmp/units/ncclstat.socket" "$tmp/units/ncclstat.service" \
		"$tmp/units/ncclstat-textfile.service" \
		"$tmp/units/ncclstat-watch.service" \
		"$tmp/units/ncclstat-fleet.service"
	sed 's/^Nice=/Nise=/' "$recipes/ncclstat.service" \
		>"$tmp/units/ncclstat-wrong.service"
	check 'systemd: a wrong word in a unit is found' sh -c '! "$@"' - \
		env SYSTEMD_UNIT_PATH="$tmp/units:" sh -c \
		'! systemd-analyze verify --man=no "$1" 2>&1 | grep Nise' - \
		"$tmp/units/ncclstat-wrong.service"
else
	skip 'systemd: nothing is wrong with the units' 'no systemd-analyze'
fi
if have systemd-socket-activate; then
	address=$(sed -n 's/^ListenStream=//p' "$recipes/ncclstat.socket")
	# shellcheck disable=SC2046 # a command and its arguments
	begin systemd-socket-activate -E NCCLSTAT_DIR="$NCCLSTAT_DIR" \
		-l "${address%:*}:$socket_port" \
		$(command_of ncclstat.service | sed "s|^ncclstat|$build/&|")
	if grep -q 'built without' "$tmp/programs"; then
		skip 'systemd: the socket' 'built without libmicrohttpd'
	else
		check 'systemd: a scrape starts the service, which answers' await \
			has_ranks 200 "http://127.0.0.1:$socket_port/metrics"
	fi
else
	skip 'systemd: the socket' 'no systemd-socket-activate'
fi

# Another user's job, seen with the capabilities of the unit only.
nobody() {
	setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"
}
of_another_user() {
	setpriv --bounding-set="$(sed -n 's/^CapabilityBoundingSet=//p' \
		"$recipes/ncclstat.service" | tr '[:upper:]' '[:lower:]' |
		sed 's/cap_/+/g; s/ /,/g; s/^/-all,/')" --inh-caps=-all \
		env NCCLSTAT_DIR="$tmp/other" "$ncclstat" --dump=prometheus |
		grep -q '^ncclstat_rank_alive.* 1$'
}
if [ "$(id -u)" -eq 0 ] && nobody test -x "$build/ncclreplay" 2>/dev/null; then
	shm_folder "$tmp/other"
	chmod 777 "$tmp/other/"
	chmod 755 "$tmp" "$tmp/job"
	begin setpriv --reuid=nobody --regid=nogroup --clear-groups \
		env NCCLSTAT_DIR="$(readlink "$tmp/other")" \
		"$build/ncclreplay" --loop 0 "$tmp/job"
	check "systemd: the service's capabilities suffice for other users' jobs" \
		await of_another_user
else
	skip "systemd: the service's capabilities suffice for other users' jobs" \
		'not root'
fi

# --- node_exporter, and the pods of Kubernetes -----------------------------------------

# serve COMMAND FOLDER: runs a command that writes metrics there, and
# node_exporter with the options that the pod has.
serve() {
	mkdir "$2"
	# shellcheck disable=SC2086 # a command and its arguments
	"$build"/${1% *} "--textfile=$2" -i 0.5 >>"$tmp/programs" 2>&1 &
	writer=$!
	pids="$pids $writer"
	# shellcheck disable=SC2046 # a list of words
	begin prometheus-node-exporter $(
		sed -n 's/^ *- \(--[a-z].*\)/\1/p' "$recipes/kubernetes.yml" |
			sed "s|=/metrics|=$2|; s|=:.*|=127.0.0.1:$node_port|")
	check "$3" await has_ranks 200 "http://127.0.0.1:$node_port/metrics"
}

# The service that keeps jobs, with a folder of ours.
watch=$(command_of ncclstat-watch.service |
	sed "s|^ncclstat|$build/&|; s|/var/lib/ncclstat|$tmp/archive|")
# shellcheck disable=SC2086 # its words
begin $watch
keeps() {
	ls "$tmp/archive/ring" | grep -q . &&
		grep -q '"event":"begun"' "$tmp/archive/jobs.jsonl"
}
check 'systemd: the watch keeps a job' await keeps

if have prometheus-node-exporter; then
	pod=$(sed -n 's/^ *command: \[ ncclstat, \(.*\) \]/ncclstat \1/p' \
		"$recipes/kubernetes.yml")
	unit=$(command_of ncclstat-textfile.service)
	check 'node_exporter: unit and pod run the same' test "${pod%%=*}" = \
		"${unit%%=*}"
	serve "$unit" "$tmp/collector" \
		'node_exporter: serves what the command writes'
	kill "$writer"
	no_ranks() {
		! has_ranks 200 "http://127.0.0.1:$node_port/metrics"
	}
	check 'node_exporter: serves nothing once it has ended' await no_ranks
else
	skip 'node_exporter: serves what the command writes' 'not installed'
fi

# The packages are kept for the next run.
models=$build/kubernetes
fetch_models() {
	have npm || return 1
	[ ! -d "$models/node_modules/typescript" ] || return 0
	mkdir -p "$models" &&
		timeout 60 npm install --prefix "$models" --ignore-scripts \
			--no-audit --no-fund kubernetes-models@5.1.0 \
			@kubernetes-models/prometheus-operator@6.0.0 yaml@2.8.1 \
			typescript@5.6.3
}
# valid FILE: by the schemas of Kubernetes and of the Prometheus Operator, which
# find wrong values, and by their types, which find wrong words.
valid() {
	cat >"$models/valid.mjs" <<-'END'
	import {readFileSync, writeFileSync} from 'node:fs';
	import {parseAllDocuments} from 'yaml';
	import {DaemonSet} from 'kubernetes-models/apps/v1/DaemonSet';
	import {PodMonitor} from
		'@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
	const [set, monitor] = parseAllDocuments(
		readFileSync(process.argv[2], 'utf8')).map(one => one.toJS());
	new DaemonSet(set).validate();
	new PodMonitor(monitor).validate();
	writeFileSync(process.argv[3], `
import {IDaemonSet} from 'kubernetes-models/apps/v1/DaemonSet';
import {IPodMonitor} from
	'@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PodMonitor';
export const a: IDaemonSet = ${JSON.stringify(set)};
export const b: IPodMonitor = ${JSON.stringify(monitor)};`);
	END
	node "$models/valid.mjs" "$1" "$models/typed.mts" &&
		"$models/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck \
			--module nodenext --target es2020 "$models/typed.mts"
}
if fetch_models >"$tmp/npm" 2>&1; then
	check 'Kubernetes: both objects have the form of their schemas' \
		valid "$recipes/kubernetes.yml"
	for change in s/hostPID/hostPid/ s/sampleLimit/samplelimit/ \
		s/containerPort:.*/containerPort:\ metrics\ }\ ]/; do
		sed "$change" "$recipes/kubernetes.yml" >"$tmp/wrong.yml"
		wrong_is_found() {
			! valid "$tmp/wrong.yml"
		}
		check "Kubernetes: a wrong word is found ($change)" wrong_is_found
	done
else
	skip 'Kubernetes: both objects have the form of their schemas' \
		'npm cannot be reached'
fi

# --- Hooks ------------------------------------------------------------------------

# stand_in NAME: a program that keeps how it was called.
mkdir "$tmp/bin" "$tmp/stacks" "$tmp/hung"
stand_in() {
	printf '#!/bin/sh\nprintf "%%s " "$0" "$@" | sed "s|.*/||" >>%s\necho >>%s\n' \
		"$tmp/called" "$tmp/called" >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}
for one in scontrol kubectl py-spy; do
	stand_in "$one"
done
# Keeps what is posted, and says where it listens.
python3 -c 'import http.server, sys
class Taker(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open(sys.argv[1], "wb").write(body)
        self.send_response(200)
        self.end_headers()
server = http.server.HTTPServer(("127.0.0.1", 0), Taker)
print(server.server_port, file=open(sys.argv[2], "w"))
server.handle_request()' "$tmp/posted" "$tmp/taker" 2>/dev/null &
pids="$pids $!"
await test -s "$tmp/taker"
python3 test/ui/faulty_job.py missing 4 "$tmp/hung"
shm_folder "$tmp/hung/shm"
begin env NCCLSTAT_DIR="$tmp/hung/shm" "$build/ncclreplay" --hold "$tmp/hung"
set --
for hook in "$recipes"/hook-*.sh; do
	set -- "$@" "--on=stuck:$hook"
done
STACKS="$tmp/stacks" SLURM_JOB_ID=17 POD_NAME=train-1 NCCLSTAT_DIR="$tmp/hung/shm" \
	WEB_HOOK="http://127.0.0.1:$(cat "$tmp/taker")/" PATH="$tmp/bin:$PATH" \
	"$ncclstat" --watch -i 0.5 "$@" >"$tmp/programs" 2>"$tmp/watched" &
pids="$pids $!"
called() {
	cat "$tmp/called"
	grep -qx "$1 *" "$tmp/called"
}
check 'hooks: the stacks of all ranks are in a file' await sh -c \
	'grep -qs "^stacks of main threads" "$1"/rank_missing-*' - "$tmp/stacks"
check 'hooks: the pod has the verdict as a label' await called \
	'kubectl label --overwrite pod train-1 ncclstat=rank_missing'
check 'hooks: and the sentence' await called \
	'kubectl annotate --overwrite pod train-1 ncclstat=rank 1 of .*'
check 'hooks: the job is queued again' await called 'scontrol requeue 17'
check 'hooks: its comment says why' await called \
	'scontrol update JobId=17 Comment=rank 1 of faulty has not called .*'
four_dumps() {
	[ "$(grep -c '^py-spy dump --locals --pid [0-9]' "$tmp/called")" -eq 4 ]
}
check 'hooks: py-spy reads each process once' await four_dumps
if have curl; then
	check 'hooks: the diagnosis is posted' await python3 \
		test/ui/json_schema.py "$build/share/ncclstat.schema.json" \
		diagnosis "$tmp/posted"
	check 'hooks: none fails' test ! -s "$tmp/watched"
else
	skip 'hooks: the diagnosis is posted' 'no curl'
fi
check 'hooks: a job is queued again three times at most' sh -c \
	'! SLURM_RESTART_COUNT=3 "$1"' - "$recipes/hook-slurm-requeue.sh"

# --- Containers --------------------------------------------------------------------

# Stands in for a container: /usr/lib and /usr/lib64 are the container's, files are
# mounted from the host, and the environment is another one.
cat >"$tmp/bin/contain" <<'END'
#!/bin/sh
# contain FILE-WITH-MOUNTS FILE-WITH-VARIABLES COMMAND...
box=$(mktemp -d "$BOXES/XXXXXX") && mount -t tmpfs box "$box" || exit
for folder in /usr/lib /usr/lib64; do
	mkdir -p "$box/upper$folder" "$box/work$folder"
	mount -t overlay box -o "lowerdir=$folder,upperdir=$box/upper$folder,workdir=$box/work$folder" \
		"$folder" || exit
done
while read -r from to options; do
	case $options in
	*x-create=file*) : >"$to" ;;
	esac
	mount --bind "$from" "$to" || exit
done <"$1"
variables=$2
shift 2
exec env -i PATH="$PATH" NCCLSTAT_DIR="$NCCLSTAT_DIR" $(cat "$variables") "$@"
END
cat >"$tmp/bin/enroot" <<'END'
#!/bin/sh
# enroot start IMAGE COMMAND...; the image has LD_LIBRARY_PATH.
shift 2
export ENROOT_MOUNTS="$BOXES/mounts" ENROOT_ENVIRON="$BOXES/environ"
: >"$ENROOT_MOUNTS"
echo 'LD_LIBRARY_PATH=/usr/local/cuda/compat' >"$ENROOT_ENVIRON"
[ -z "$OTHER" ] || echo "NCCL_PROFILER_PLUGIN=$OTHER" >>"$ENROOT_ENVIRON"
sh "$RECIPES/enroot-hook.sh" || exit
exec unshare --mount contain "$ENROOT_MOUNTS" "$ENROOT_ENVIRON" "$@"
END
cat >"$tmp/bin/apptainer" <<'END'
#!/bin/sh
# apptainer exec --pid IMAGE COMMAND...
shift 3
echo "$APPTAINER_BIND" | tr , '\n' | sed -n 's/\(.*\):\(.*\)/\1 \2 x-create=file/p
	t; s/.*/& & -/p' >"$BOXES/mounts"
env | sed -n 's/^APPTAINERENV_//p' >"$BOXES/environ"
exec unshare --mount --pid --fork --mount-proc contain "$BOXES/mounts" \
	"$BOXES/environ" "$@"
END
chmod +x "$tmp/bin/contain" "$tmp/bin/enroot" "$tmp/bin/apptainer"
mkdir "$tmp/boxes"
export BOXES="$tmp/boxes" RECIPES="$recipes" OTHER=
# sees_ranks: prints what is seen from outside, in the place of /dev/shm.
sees_ranks() {
	"$build/ncclstat" --list --dir "$tmp/in-boxes" | tee "$tmp/said" |
		grep -q ' alive '
}
shm_folder "$tmp/in-boxes"
if ! unshare --mount --pid --fork --mount-proc true 2>/dev/null; then
	skip 'enroot: the hook loads the plugin' 'namespaces are not permitted here'
else
	check 'enroot: the hook loads the plugin, in spite of LD_LIBRARY_PATH' sh -c '
		"$@" | tee /dev/stderr | grep -qx "libnccl-profiler-ncclstat.so 1"' - \
		env -u NCCL_PROFILER_PLUGIN PATH="$tmp/bin:$PATH" enroot start image \
		python3 -c 'import ctypes, os
name = os.environ["NCCL_PROFILER_PLUGIN"]
print(name, len([ctypes.CDLL(name)]))'
	check 'enroot: but not in the place of another one' sh -c '
		"$@" | grep -qx other' - env OTHER=other PATH="$tmp/bin:$PATH" \
		enroot start image printenv NCCL_PROFILER_PLUGIN
	begin env -u NCCL_PROFILER_PLUGIN PATH="$tmp/bin:$PATH" \
		NCCLSTAT_DIR="$tmp/in-boxes" \
		sh "$recipes/apptainer.sh" exec --pid image \
		"$build/ncclreplay" --plugin /usr/lib/libnccl-profiler-ncclstat.so --loop 0 \
		"$tmp/job"
	check 'Apptainer: a rank of its own PID namespace is seen from outside, alive' \
		await sees_ranks
	outside=$(awk '/ alive / { print $1; exit }' "$tmp/said")
	check 'Apptainer: with the number of its process here' \
		grep -q ncclreplay "/proc/$outside/comm"
	# The first process of a PID namespace takes the others along.
	pkill -KILL -P "${pids##* }"
fi

# --- exporter_exporter ------------------------------------------------------------

if have prometheus-exporter-exporter && have openssl; then
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
		-keyout "$tmp/key" -out "$tmp/cert" >/dev/null 2>&1
	echo secret >"$tmp/token"
	mkdir "$tmp/modules"
	# The other way that the recipe names.
	sed -n 's/^#   ncclstat: { method: http/served: { method: http/p' \
		"$recipes/exporter_exporter.yml" |
		sed "s/9498/$socket_port/; s/^served: //" \
			>"$tmp/modules/served.yml"
	begin prometheus-exporter-exporter \
		-config.file "$recipes/exporter_exporter.yml" \
		-config.dirs "$tmp/modules" \
		-web.bearer.token-file "$tmp/token" -web.listen-address '' \
		-web.tls.listen-address "127.0.0.1:$module_port" \
		-web.tls.cert "$tmp/cert" -web.tls.key "$tmp/key"
	url="https://127.0.0.1:$module_port/proxy?module=ncclstat"
	check 'exporter_exporter: the token gets the ranks, by TLS' await \
		has_ranks 200 "$url" secret
	check 'exporter_exporter: by HTTP likewise' has_ranks 200 \
		"https://127.0.0.1:$module_port/proxy?module=served" secret
	check 'exporter_exporter: no token gets 401' has_ranks 401 "$url"
	check 'exporter_exporter: another token gets 401' has_ranks 401 "$url" x
else
	skip 'exporter_exporter: the token gets the ranks, by TLS' 'not installed'
fi

# --- Many nodes behind nginx -------------------------------------------------------

# A stand-in for ssh, which runs the last word on this machine; agents do not get
# the folder of this test's segments otherwise.
mkdir "$tmp/login"
printf '#!/bin/sh\nfor word; do :; done\nNCCLSTAT_DIR=%s exec sh -c "$word"\n' \
	"$NCCLSTAT_DIR" >"$tmp/login/ssh"
chmod +x "$tmp/login/ssh"
fleet=$(command_of ncclstat-fleet.service |
	sed "s|^ncclstat|$build/&|; s|=n\[01-16\]|=n1|; s|/run/ncclstat|$tmp|")
# shellcheck disable=SC2086 # its words
begin env PATH="$tmp/login:$PATH" $fleet
# from_socket: whether the watch has the ranks of its hosts.
from_socket() {
	python3 -c 'import http.client, socket, sys
link = http.client.HTTPConnection("localhost", timeout=10)
link.sock = socket.socket(socket.AF_UNIX)
link.sock.connect(sys.argv[1])
link.request("GET", "/metrics")
text = link.getresponse().read().decode()
sys.exit(text.count("\nncclstat_rank_alive{") != 4)' "$tmp/metrics"
}
PATH=$PATH:/usr/sbin
if grep -q 'built without' "$tmp/programs"; then
	skip 'fleet: the watch serves the ranks of its hosts' \
		'built without libmicrohttpd'
elif check 'fleet: the watch serves the ranks of its hosts' \
	await from_socket && have nginx && have openssl; then
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
		-keyout "$tmp/ncclstat.key" -out "$tmp/ncclstat.crt" \
		>/dev/null 2>&1
	echo '"Bearer secret" 1;' >"$tmp/ncclstat.token"
	{
		echo "daemon off; pid $tmp/nginx.pid; error_log stderr;"
		[ "$(id -u)" -ne 0 ] || echo 'user root;'
		echo 'events {} http { access_log off;'
		for kind in client_body proxy fastcgi uwsgi scgi; do
			echo "${kind}_temp_path $tmp/nginx-$kind;"
		done
		sed "s|/etc/nginx|$tmp|; s|/run/ncclstat|$tmp|
			s|listen 9499|listen 127.0.0.1:$front_port|" \
			"$recipes/ncclstat-nginx.conf"
		echo '}'
	} >"$tmp/nginx.conf"
	begin nginx -e stderr -p "$tmp" -c "$tmp/nginx.conf"
	url="https://127.0.0.1:$front_port/metrics"
	check 'nginx: the token gets the ranks of all hosts, by TLS' await \
		has_ranks 200 "$url" secret
	check 'nginx: no token gets 401' has_ranks 401 "$url"
	check 'nginx: another token gets 401' has_ranks 401 "$url" x
else
	skip 'nginx: the token gets the ranks of all hosts, by TLS' \
		'not installed'
fi

# --- OpenTelemetry ----------------------------------------------------------------

if have promtool; then
	sed -n '/^ *scrape_configs:/,/^exporters:/p' \
		"$recipes/otel-collector.yml" | sed '/^exporters:/d; s/^      //' \
		>"$tmp/scrape.yml"
	check 'OpenTelemetry: the scrape configuration is one of Prometheus' \
		promtool check config "$tmp/scrape.yml"
else
	skip 'OpenTelemetry: the scrape configuration is one of Prometheus' \
		'no promtool'
fi
exit "$failed"
