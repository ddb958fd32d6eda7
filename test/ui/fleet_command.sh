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
begun=$(date +%s%N)
fleet_wants 'two nodes are certain' 2 'rank_missing, certain' 'rank 1 .* on n2' \
	-- --diagnose --from "$both"
ms=$((($(date +%s%N) - begun) / 1000000))
if [ "$ms" -le 3000 ]; then
	echo 'ok the verdict takes 3 s at most'
else
	echo "not ok the verdict takes 3 s at most: $ms ms"
fi
fleet_wants 'a verdict waits for two looks, though it samples faster' 2 \
	'"name":"n1"[^}]*"looks":[2-9]' '"name":"n2"[^}]*"looks":[2-9]' -- \
	--diagnose=json --interval 0.2 --from "$both"
fleet_soon 'the list has both nodes' 0 ' n1:/' ' n2:/' -- --list --from "$both"
fleet_soon 'the dump has both ranks' 0 'rank.*' -- --dump --from "$both"
fleet_soon 'a node without a job is said' 2 certain 'n3: no_job' -- \
	--diagnose --from "$tmp/agent n3 ncclstat --stream=lines & $both"
fleet_wants 'streams can be kept' 0 'of 2 nodes' -- \
	--record "$tmp/kept" --duration 2.5 --from "$both"
fleet_wants 'what was kept can be diagnosed' 2 'rank_missing, certain' -- \
	--diagnose "$tmp/kept.n1" "$tmp/kept.n2"
fleet_none_left 'after all modes'

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
missing() {
	env PATH="$tmp/empty" "$fleet_ncclstat" "$@" >"$tmp/out" 2>&1 </dev/null
	if grep -q 'ssh cannot be started here: No such file' "$tmp/out" &&
		! grep -q 'segment in\|running here' "$tmp/out"; then
		echo "ok a launcher that is missing is all that $1 says"
	else
		echo "not ok a launcher that is missing is all that $1 says"
		sed 's/^/  /' "$tmp/out"
	fi
}
missing --list --hosts n1
missing --diagnose --hosts n1
missing --dump --hosts n1

# --- pdsh and clush ----------------------------------------------------------

for launcher in \
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
for last; do host=\$command; command=\$last; done
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
printf 'default/%s\n' 'n1 Running' 'n2 Running' 'n3 Pending' >"$tmp/pods"
old_path=$PATH
PATH=$tmp/bin:$PATH
fleet_wants '--hosts starts an agent each' 2 certain -- --diagnose \
	--hosts 'n[1-2]'
fleet_wants '--exclude leaves hosts out' 0 ' n1:/' -- --list --hosts 'n[1-3]' \
	-x 'n[2-3]'
fleet_wants '--kube starts an agent in each pod that runs' 2 certain \
	'try: kubectl exec -n default n2 -- py-spy dump --pid' -- \
	--diagnose --kube app=train
echo default/n4 Running >>"$tmp/pods"
fleet_wants 'a pod that is not seen is looked at by kubectl' 2 \
	'the ranks of node n4 are not seen' \
	'try: kubectl exec -n default n4 -- ncclstat --list' -- \
	--diagnose --kube app=train
# The job's pods come one after the other while it is looked at.
: >"$tmp/pods"
{
	sleep 1
	echo default/n1 Running >>"$tmp/pods"
	sleep 4
	echo default/n2 Running >>"$tmp/pods"
} &
fleet_wants 'pods that come later are seen' 2 certain 'on n2' '2 of 2 nodes' \
	-- --diagnose --count 60 --interval 0.2 --kube app=train
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
fleet_watch 2 --interval 0.3 --diagnose --count 20 '--hosts=n[1-2]'
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
PATH=$old_path
fleet_none_left 'at the end'
