# SPDX-License-Identifier: MIT
# Sourced by tests of many nodes: fake nodes on this machine, each with a folder
# of segments and, in a UTS namespace, a host name of its own. Not a test.
# shellcheck shell=sh
#
# $tmp is the test's own folder, as of fleet_enter or of test/ui/terminal.

fleet_build=$(cd "${BUILD:-build}" && pwd)
fleet_ncclstat=$fleet_build/ncclstat
# Every process that a test starts has this in its environment.
export FLEET_MARK="${tmp-}"
# Dumps have all columns.
export COLUMNS=999
. test/await.sh

# fleet_enter NAME: makes $tmp; everything is ended and removed at the end.
fleet_enter() {
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-$1.XXXXXX") || exit
	. test/shm.sh
	export FLEET_MARK="$tmp" LC_ALL=C.UTF-8
	trap fleet_leave EXIT
	trap 'exit 130' HUP INT TERM
}

# fleet_needs COMMAND...: ends the test, as skipped, without one of these.
fleet_needs() {
	for needed in "$@"; do
		command -v "$needed" >/dev/null || {
			echo "$needed is not installed"
			exit 77
		}
	done
}

# fleet_needs_names: the same without the privilege to make host names.
fleet_needs_names() {
	unshare --uts true 2>/dev/null || {
		echo 'host names of their own are not permitted here'
		exit 77
	}
}

# fleet_nodes NAME...: makes nodes, and $tmp/agent NODE [OPTION...], which runs
# an agent on one.
fleet_nodes() {
	for node in "$@"; do
		shm_folder "$tmp/node-$node"
	done
	cat >"$tmp/agent" <<-END
	#!/bin/sh
	# Runs ncclstat on a fake node.
	node=\$1
	shift
	export NCCLSTAT_DIR="$tmp/node-\$node" PATH="$fleet_build:\$PATH"
	exec unshare --uts sh -c 'hostname "\$0"; exec "\$@"' "\$node" "\$@"
	END
	chmod +x "$tmp/agent"
}

# fleet_hang NODE NODE: plays a captured job of two ranks, one on each node,
# until rank 1 has not called for some seconds. It hangs for 400 s, longer than a test
# may take.
fleet_hang() {
	rank=0
	for node in "$@"; do
		"$tmp/agent" "$node" "$fleet_build/ncclreplay" --hold \
			--speed 0.02 \
			"test/captures/net-v5-hang/rank$rank.calllog.xz" \
			2>"$tmp/replay-$node" >/dev/null &
		fleet_jobs="$fleet_jobs $!"
		rank=$((rank + 1))
	done
	await fleet_is_stuck "$@"
}

# fleet_is_stuck NODE...: whether rank 0 has waited for some seconds.
fleet_is_stuck() {
	NCCLSTAT_DIR="$tmp/node-$1" "$fleet_ncclstat" --diagnose --interval 0.2 \
		>"$tmp/stuck" 2>/dev/null
	[ $? -eq 2 ]
}

# fleet_processes: prints the processes of this test that are agents, launchers
# or viewers; the jobs and the test itself are not among them.
fleet_processes() {
	grep -lzxF "FLEET_MARK=$FLEET_MARK" /proc/[0-9]*/environ 2>/dev/null |
		while read -r environ; do
		pid=${environ#/proc/}
		pid=${pid%/environ}
		words=$({ tr '\0' ' ' <"/proc/$pid/cmdline"; } 2>/dev/null)
		case $words in
		*stream=lines* | *"$fleet_ncclstat "*) echo "$pid $words" ;;
		esac
	done
}

# fleet_agents: prints the pids of agents.
fleet_agents() {
	fleet_processes | awk '$2 == "ncclstat" && /stream=lines/ { print $1 }'
}

# fleet_has_agents COUNT: whether so many agents run, or more.
fleet_has_agents() {
	[ "$(fleet_agents | wc -l)" -ge "$1" ]
}

# fleet_have_written: whether all agents have written something.
fleet_have_written() {
	for pid in $(fleet_agents); do
		[ "$(sed -n 's/^wchar: //p' "/proc/$pid/io")" -gt 0 ] || return
	done
}

# fleet_watch AGENTS OPTION...: starts a viewer that goes on, $viewer, and waits
# until so many agents have written. What it prints is in $tmp/dump.
fleet_watch() {
	agents=$1
	shift
	"$fleet_ncclstat" "$@" >"$tmp/dump" 2>&1 </dev/null &
	viewer=$!
	await fleet_has_agents "$agents" && await fleet_have_written ||
		echo "not ok agents of $* start"
}

# fleet_none_left NAME [SECONDS]: passes if they are all gone, or go within 10 s
# or as many.
fleet_none_left() {
	tries=0
	most=$((${2:-10} * 10))
	while [ -n "$(fleet_processes)" ] && [ "$tries" -lt "$most" ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	if [ "$tries" -lt "$most" ]; then
		echo "ok $1: no process is left"
	else
		echo "not ok $1: no process is left: $(fleet_processes | tr '\n' ';')"
	fi
}

# fleet_wants NAME STATUS PATTERN... -- OPTION...: runs ncclstat; passes if the
# exit status is STATUS and its output has a line for each pattern.
fleet_wants() {
	fleet_tries 1 "$@"
}

# fleet_soon NAME STATUS PATTERN... -- OPTION...: the same, but tries five times.
# An answer does not wait for nodes that nobody named and that come late.
fleet_soon() {
	fleet_tries 5 "$@"
}

# fleet_at_last NAME STATUS PATTERN... -- OPTION...: the same of a diagnosis, which has
# one look, then 3, 9 and 27: later ones tell of nodes that come later than an answer
# waits for them.
fleet_at_last() {
	looks=1
	fleet_tries 4 "$@"
	looks=
}

# fleet_unless_late COMMAND...: succeeds if the command does. Tries again, twice at
# most, if it took 3 s: for longer ncclstat does not wait for a node, so that on a
# busy machine it rightly tells of one that has not begun.
fleet_unless_late() {
	late=0
	while :; do
		begun=$(date +%s%N)
		"$@" && return
		[ $((($(date +%s%N) - begun) / 1000000)) -ge 3000 ] || return 1
		late=$((late + 1))
		[ "$late" -lt 3 ] || return 1
	done
}

# fleet_answer OPTION...: runs ncclstat for fleet_tries.
fleet_answer() {
	status=0
	timeout 60 "$fleet_ncclstat" "$@" >"$tmp/out" 2>&1 </dev/null ||
		status=$?
	missing=
	while read -r pattern; do
		grep -q -- "$pattern" "$tmp/out" ||
			missing="$missing '$pattern'"
	done <"$tmp/patterns"
	[ "$status" -eq "$wanted" ] && [ -z "$missing" ]
}

looks=
fleet_tries() {
	left=$1
	name=$2
	wanted=$3
	shift 3
	: >"$tmp/patterns"
	while [ "$1" != -- ]; do
		echo "$1" >>"$tmp/patterns"
		shift
	done
	shift
	while :; do
		left=$((left - 1))
		if fleet_unless_late fleet_answer "$@" \
			${looks:+--count "$looks"}; then
			echo "ok $name"
			return
		fi
		[ "$left" -gt 0 ] || break
		looks=${looks:+$((looks * 3))}
	done
	echo "not ok $name: status $status, wanted $wanted; lacks$missing"
	sed 's/^/  /' "$tmp/out" | cut -c 1-300 | head -n 30
}

# fleet_ssh: puts a script in the place of ssh, which runs commands on the fake
# nodes; there are no other hosts.
fleet_ssh() {
	mkdir "$tmp/bin"
	cat >"$tmp/bin/ssh" <<SSH
#!/bin/sh
for last; do host=\$command; command=\$last; done
[ -e "$tmp/node-\$host" ] || {
	echo "ssh: Could not resolve hostname \$host" >&2
	exit 255
}
exec "$tmp/agent" "\$host" sh -c "\$command"
SSH
	chmod +x "$tmp/bin/ssh"
	PATH=$tmp/bin:$PATH
}

# fleet_check NAME COMMAND...: passes if the command succeeds; else prints what the
# program has said in $tmp/said and $tmp/err.
fleet_check() {
	name=$1
	shift
	if "$@"; then
		echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# /' "$tmp/said" "$tmp/err"
	fi
}

# fleet_leave: ends the jobs and removes everything.
fleet_jobs=
fleet_leave() {
	for job in $fleet_jobs; do
		kill "$job" 2>/dev/null
	done
	wait
	shm_remove
	rm -rf "$tmp"
}
