#!/bin/sh
# SPDX-License-Identifier: MIT
# Many nodes, end to end, with launchers that need no other machine: commands
# for the shell, pdsh and clush, scripts in the place of ssh and kubectl. A job
# hangs across two nodes; lines are torn, delayed, mixed and flooded; agents and
# the viewer are killed.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_enter fleet
fleet_needs_names

fleet_nodes n1 n2 n3
fleet_hang n1 n2
both="$tmp/agent n1 ncclstat --stream=lines & $tmp/agent n2 ncclstat --stream=lines & wait"

# --- A hang across nodes ---------------------------------------------------

fleet_wants 'one node alone cannot be certain' 2 'likely\|possible' -- \
	--diagnose --from "$tmp/agent n1 ncclstat --stream=lines"
if grep -q 'RAS' "$tmp/out"; then
	echo 'not ok RAS here is not asked about ranks of another node'
else
	echo 'ok RAS here is not asked about ranks of another node'
fi
# An answer does not wait for nodes that nobody named and that come late.
fleet_soon 'two nodes are certain' 2 'rank_missing, certain' 'rank 1 .* on n2' \
	-- --diagnose --from "$both"
# A look comes each second.
fleet_wants 'the verdict takes 3 s at most, by the looks of each node' 2 \
	'"name":"n1"[^}]*"looks":[2-4],' '"name":"n2"[^}]*"looks":[2-4],' -- \
	--diagnose=json --from "$both"
fleet_soon 'a verdict waits for two looks, though it samples faster' 2 \
	'"name":"n1"[^}]*"looks":[2-9]' '"name":"n2"[^}]*"looks":[2-9]' -- \
	--diagnose=json --interval 0.2 --from "$both"
fleet_soon 'the list has both nodes' 0 ' n1:/' ' n2:/' -- --list --from "$both"
fleet_soon 'the dump has both ranks' 0 'rank.*' -- --dump --from "$both"
fleet_soon 'a node without a job is said' 2 certain 'n3: no_job' -- \
	--diagnose --from "$tmp/agent n3 ncclstat --stream=lines & $both"
fleet_wants 'streams can be kept' 0 'of 2 nodes' -- \
	--record "$tmp/kept" --duration 5 --from "$both"
fleet_wants 'what was kept can be diagnosed' 2 'rank_missing, certain' -- \
	--diagnose "$tmp/kept.n1" "$tmp/kept.n2"
fleet_none_left 'after all modes'

ended() {
	"$fleet_ncclstat" --dump --view nodes -i 1 -n 5 --from \
		"$fleet_build/ncclsimulate -S 1 -h $1 -r 1 -" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	if [ "$(grep -c "$2" "$tmp/err")" -eq "$3" ] &&
		[ "$(wc -l <"$tmp/err")" -eq "$3" ]; then
		echo "ok $4"
	else
		echo "not ok $4"
		sed 's/^/  /' "$tmp/err"
	fi
}
ended 12 ': 12 of 12 nodes: ended: .* first is node0000' 1 \
	'of many streams that have ended one line tells'
ended 3 ': node000[0-2]: ended: ' 3 'of a few, one line each'

# --- Bad pipes ---------------------------------------------------------------

# Tears each 20th line, delays, and floods with lines that are nobody's.
cat >"$tmp/mangle.py" <<'MANGLE'
import sys, time
out = sys.stdout.buffer
for count, line in enumerate(sys.stdin.buffer):
    if count % 20 == 19:
        line = line[:len(line) // 2]
    if count % 7 == 3:
        out.write(b"noise without an end ")
    if count % 11 == 5:
        out.write(b"n2: a message of a node\n" * 20000)
    if count % 5 == 0:
        time.sleep(0.02)
    out.write(line)
    out.flush()
MANGLE
fleet_wants 'torn, delayed and flooded lines do no harm' 2 \
	'rank_missing, certain' -- --diagnose -n 12 -i 0.3 --from \
	"{ $both; } | python3 $tmp/mangle.py"
# Each agent writes each line behind a label, and twice.
fleet_soon 'labels and repeated lines do no harm' 2 'rank_missing, certain' \
	-- --diagnose --from "{ $both; } | sed -u 's/^/[1,0]<stdout>: /;p'"
fleet_soon 'two agents on a node count once' 0 ' n1:/' -- --list \
	--from "$both & $both"
if [ "$(grep -c ' n[12]:/' "$tmp/out")" -eq 2 ]; then
	echo 'ok two agents on a node give one row each rank'
else
	echo 'not ok two agents on a node give one row each rank'
fi
fleet_wants 'a command that prints nothing is said' 1 'not found' -- \
	--list --from no-such-launcher
fleet_none_left 'after bad pipes'

# missing OPTION: the launcher is not installed here.
mkdir "$tmp/empty"
lacks_launcher() {
	env PATH="$tmp/empty" "$fleet_ncclstat" "$@" >"$tmp/out" 2>&1 </dev/null
	grep -q 'ssh cannot be started here: No such file' "$tmp/out" &&
		! grep -q 'segment in\|running here' "$tmp/out"
}
missing() {
	if fleet_unless_late lacks_launcher "$@"; then
		echo "ok a launcher that is missing is all that $1 says"
	else
		echo "not ok a launcher that is missing is all that $1 says"
		sed 's/^/  /' "$tmp/out"
	fi
}
missing --list --hosts n1
missing --diagnose --hosts n1
missing --dump --hosts n1

# --- pdsh, clush, and what prints as Flux does ---------------------------------

# There is no package of Flux. By its manual, `flux exec -n -l` gives no input,
# writes the rank before each line, and passes SIGTERM on.
mkdir "$tmp/flux-bin"
cat >"$tmp/flux-bin/flux" <<FLUX
#!/bin/sh
shift
label=
while :; do
	case \$1 in
	-l) label=yes ;;
	-n) ;;
	*) break ;;
	esac
	shift
done
for rank in 0 1; do
	{
		"$tmp/agent" n\$((rank + 1)) "\$@" </dev/null &
		trap "kill \$!" TERM
		wait
	} | sed -u "s/^/\${label:+\$rank: }/" &
	pids="\$pids \$!"
done
trap 'kill \$pids' TERM
wait
FLUX
chmod +x "$tmp/flux-bin/flux"
PATH=$PATH:$tmp/flux-bin

for launcher in \
	'flux exec -n ncclstat --stream=lines' \
	'flux exec -n -l ncclstat --stream=lines' \
	"pdsh -R exec -f 8 -w n1,n2 $tmp/agent %h ncclstat --stream=lines" \
	"clush -R exec -f 8 -w n1,n2 $tmp/agent %host ncclstat --stream=lines"; do
	program=${launcher%% *}
	if command -v "$program" >/dev/null; then
		fleet_soon "$program brings both nodes" 2 'certain' -- \
			--diagnose --from "$launcher"
		fleet_none_left "after $program"
	else
		echo "ok $program brings both nodes # SKIP it is not installed"
	fi
done

# --- Scripts in the place of ssh and kubectl ---------------------------------

mkdir "$tmp/bin"
cat >"$tmp/bin/ssh" <<SSH
#!/bin/sh
while :; do
	case \$1 in
	-o) shift 2 ;;
	-*) shift ;;
	*) break ;;
	esac
done
host=\$1
shift
command=\$*
case \$host in
lacks) echo 'bash: line 1: exec: ncclstat: not found' >&2
	exit 127 ;;
old) echo 'ncclstat: --stream=lines is no option (see ncclstat --help)' >&2
	exit 2 ;;
new) echo ncclstat9:new:00000001:0:AAAA
	exec sleep 60 ;;
foreign) NCCLSTAT_DIR="$tmp/node-n1" exec setpriv --reuid=nobody \\
		--clear-groups env PATH="$fleet_build:\$PATH" sh -c "\$command" ;;
esac
exec "$tmp/agent" "\$host" sh -c "\$command"
SSH
cat >"$tmp/bin/kubectl" <<KUBE
#!/bin/sh
case \$1 in
get) case "\$*" in
	*none*) ;;
	*) cat "$tmp/pods" ;;
	esac ;;
exec)
	pod=\$4
	[ "\$pod" != n4 ] || {
		echo 'Error from server (Forbidden): pods "n4" is forbidden:' \\
			'User cannot create pods/exec' >&2
		exit 1
	}
	shift 5
	exec "$tmp/agent" "\$pod" "\$@" ;;
esac
KUBE
chmod +x "$tmp/bin/ssh" "$tmp/bin/kubectl"
cat >"$tmp/older" <<OLDER
#!/bin/sh
case \$1 in
--stacks-of*) echo 'ncclstat: --stacks-of is no option' >&2
	exit 2 ;;
esac
exec "$fleet_ncclstat" "\$@"
OLDER
chmod +x "$tmp/older"
printf 'default/%s\n' 'n1 Running' 'n2 Running' 'n3 Pending' >"$tmp/pods"
old_path=$PATH
PATH=$tmp/bin:$PATH
fleet_wants '--hosts starts an agent each' 2 certain -- --diagnose \
	--hosts 'n[1-2]'
fleet_wants '--exclude leaves hosts out' 0 ' n1:/' -- --list --hosts 'n[1-3]' \
	-x 'n[2-3]'
fleet_wants 'another release, another user and a missing program are told' 2 \
	certain 'lacks: not_installed: .*--remote-command' \
	'old: other_version: .*too old for streams' \
	'new: other_version: .*lines of another form' \
	'n3: no_job: ' -- --diagnose --hosts 'n[1-3],lacks,old,new'
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=nobody --clear-groups \
	"$fleet_ncclstat" --version >/dev/null 2>&1; then
	chmod 755 "$tmp" "$tmp/node-n1/"
	fleet_wants 'segments of another user are told' 4 \
		'foreign: denied: .*belongs to root' \
		'foreign .* denied .*belongs to root' -- \
		--dump --view nodes --hosts foreign
else
	echo 'ok segments of another user are told # SKIP not root, or a' \
		'folder that is closed to others'
fi
fleet_wants 'a job that is on no node is said' 1 \
	"no rank of job '99' is seen on any node" -- \
	--dump --job 99 --hosts 'n[1-2]'
fleet_wants '--list says so, too' 1 \
	"no segment of job '99' on any node" -- --list --job 99 --hosts 'n[1-2]'
fleet_wants '--kube starts an agent in each pod that runs' 2 certain \
	'try: kubectl exec -n default n2 -- py-spy dump --pid' -- \
	--diagnose --kube app=train
# By whatever tool is installed here.
waits='pthread_join\|futex\|system call'
fleet_wants 'stacks are read in pods' 2 'reading the stacks of 2 processes' \
	'^  ranks* 0' "$waits" -- --diagnose --stacks --kube app=train
fleet_wants 'a watch sees all nodes' 0 ' stuck: rank 1 of world has not' -- \
	--watch --count 4 --interval 0.5 --hosts 'n[1-2]'
fleet_wants 'stacks are read by ssh' 2 'ranks* 0.*1' "$waits" -- \
	--diagnose --stacks=all --hosts 'n[1-2]'
fleet_wants 'a node where stacks cannot be read is told' 2 \
	'not read: .*--stacks-of is no option' -- --diagnose --stacks \
	--hosts 'n[1-2]' --remote-command "$tmp/older"
echo default/n4 Running >>"$tmp/pods"
fleet_wants 'a pod that is not seen is looked at by kubectl' 2 \
	'ranks of node n4 are not seen' \
	'try: kubectl exec -n default n4 -- ncclstat --list' -- \
	--diagnose --kube app=train
# The job's pods come one after the other while it is looked at.
: >"$tmp/pods"
{
	sleep 1
	echo default/n1 Running >>"$tmp/pods"
	await fleet_has_agents 1
	echo default/n2 Running >>"$tmp/pods"
} &
fleet_wants 'pods that come later are seen' 2 certain 'on n2' '2 of 2 nodes' \
	-- --diagnose --count 80 --interval 0.2 --kube app=train
fleet_wants 'a selector that matches no pod is said' 1 'no pod that runs' -- \
	--list --kube app=train,tier=none
fleet_wants '--dir goes to the nodes' 1 'n1: no_job' -- --list --hosts n1 \
	--dir "/dev/shm/no ' folder"
fleet_wants 'a wrong list is refused with its place' 1 'character 2' -- \
	--list --hosts 'n[3-1'
fleet_none_left 'after ssh and kubectl'

# --- Deaths --------------------------------------------------------------------

for options in '--hosts=n[1-2]' "--from=$both"; do
	for signal in KILL TERM; do
		fleet_watch 2 --interval 0.3 --dump "$options"
		kill -"$signal" "$viewer"
		wait "$viewer" 2>/dev/null
		fleet_none_left "after SIG$signal to the viewer of ${options%%=*}"
	done
done

# The viewer and its guard are killed at the same time: the kernel's signal and
# the end of its input are left to the agent.
fleet_watch 2 --interval 0.3 --dump '--hosts=n[1-2]'
guard=$(pgrep -P "$viewer" -x ncclstat-guard)
kill -KILL "${guard:?}" "$viewer"
wait "$viewer" 2>/dev/null
fleet_none_left 'after SIGKILL to the viewer and its guard'

# An agent is killed: it is started again. (fleet_live.sh has nodes that stay
# away.)
fleet_watch 2 --interval 0.3 --diagnose --count 40 '--hosts=n[1-2]'
victim=$(fleet_agents | head -n 1)
kill -KILL "${victim:?}"
wait "$viewer"
if grep -q 'rank_missing, certain' "$tmp/dump" &&
	grep -q '2 of 2 nodes' "$tmp/dump" &&
	! fleet_agents | grep -qx "$victim"; then
	echo 'ok an agent that was killed is started again'
else
	echo 'not ok an agent that was killed is started again'
	sed 's/^/  /' "$tmp/dump"
fi

# A frozen agent says nothing any more, and nothing tells so: from its latest look on
# the viewer waits for at least 3 s.
# wrote PID BYTES: whether a process has written more.
wrote() {
	[ "$(sed -n 's/^wchar: //p' "/proc/$1/io")" -gt "$2" ]
}
fleet_watch 2 --interval 0.5 --diagnose --count 24 '--hosts=n[1-2]'
victim=$(fleet_agents | head -n 1)
await wrote "$victim" "$(sed -n 's/^wchar: //p' "/proc/$victim/io")"
kill -STOP "${victim:?}"
wait "$viewer"
kill -CONT "$victim" 2>/dev/null
if grep -q 'ncclstat: n[12]: silent: .*(latest look \([3-9]\|[1-9][0-9]\)[.].*s ago)' \
	"$tmp/dump" && grep -q 'rank_missing, possible\|likely' "$tmp/dump"; then
	echo 'ok a node that is silent is told, with its age, and lowers certainty'
else
	echo 'not ok a node that is silent is told, with its age, and lowers' \
		'certainty'
	sed 's/^/  /' "$tmp/dump"
fi
PATH=$old_path
fleet_none_left 'at the end'
