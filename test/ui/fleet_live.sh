#!/bin/sh
# SPDX-License-Identifier: MIT
# The live view of a job on two nodes: it names the rank that is missing, says so
# when a node goes away, and again when it is back; it leaves the terminal as it
# was, and no process. What is kept shows the same. A rank that is late is named
# across nodes. Where no node has a rank it says what each node said.
#
# Prints "ok ..." or "not ok ..." for each check.

. "$(dirname "$0")/terminal"
. test/fleet.sh
fleet_needs_names

# A script in the place of ssh: a node is away while there is a file of its name.
mkdir "$tmp/bin"
cat >"$tmp/bin/ssh" <<SSH
#!/bin/sh
for last; do host=\$command; command=\$last; done
[ ! -e "$tmp/away-\$host" ] || {
	echo "ssh: connect to host \$host port 22: No route to host" >&2
	exit 255
}
exec "$tmp/agent" "\$host" sh -c "\$command"
SSH
chmod +x "$tmp/bin/ssh"
PATH=$tmp/bin:$PATH
fleet_nodes n1 n2 n3
fleet_hang n1 n2
background=$fleet_jobs

# --- Two nodes, of which one goes away ---------------------------------------

open 120x24 "exec $ncclstat --hosts=n[1-2] --interval 0.3"
on_screen 'two nodes are certain' 'rank 1 .* has not called AllReduce'
view diagnose
on_screen 'the finding is certain' 'rank_missing .*certain'
view nodes
on_screen 'the first node runs' ' n1 .*running'
on_screen 'the second node runs' ' n2 .*running'

touch "$tmp/away-n2"
for pid in $(fleet_agents); do
	if tr '\0' '\n' <"/proc/$pid/environ" |
		grep -qx "NCCLSTAT_DIR=$tmp/node-n2"; then
		kill -KILL "$pid"
	fi
done
on_screen 'the row of a node that goes away says so' \
	' n2 .*\(ended\|not_reachable\)'
on_screen 'the title counts the nodes that are seen' '1 of 2 nodes'
on_screen 'the reason is tried again and told' 'No route to host'
view diagnose
on_screen 'the verdict is less certain' 'rank_missing .*possible'
on_screen 'and says which node is not seen' 'node_unseen'
view nodes
rm "$tmp/away-n2"
on_screen 'a node that is back runs' ' n2 .*running'
view diagnose
on_screen 'and the verdict is certain again' 'rank_missing .*certain'
misses 'node_unseen'
verdict 'with no node unseen' $?
press q
ended 0
verdict 'q leaves' $?
terminal display-message -p -t ui '#{alternate_on} #{cursor_flag}' |
	grep -qx '0 1'
verdict 'the terminal is as before' $?
fleet_none_left "$name: after q" | grep -v '^ok' && failed=1

# --- What was kept -------------------------------------------------------------

"$ncclstat" --record="$tmp/kept" --duration=5 --hosts='n[1-2]' \
	2>"$tmp/out"
grep -q 'looks of 2 nodes' "$tmp/out"
verdict 'the nodes can be kept' $?
open 120x24 "exec $ncclstat $tmp/kept.n1 $tmp/kept.n2"
press End
on_screen 'what was kept has the same rank' 'rank 1 .* has not called AllReduce'
view diagnose
on_screen 'and is as certain' 'rank_missing .*certain'
press q
ended 0
verdict 'q leaves what was kept' $?

# --- A late rank, by clocks that drift ------------------------------------------

open 150x24 "exec $ncclstat --from=\"$fleet_build/ncclsimulate -S 60 -R -h 6 -r 1 -l 3:6000 -\""
on_screen 'a late rank of another node is named' 'rank 3 of world costs'
on_screen 'its lateness has its error beside it' ' alive .*s+-'
view timeline
on_screen 'the timeline says how far lanes of other hosts may be off' \
	'against other hosts its lanes are off by .*s at most'
press Z
sees ' PAUSED '
verdict 'the timeline can be paused' $?
moved=0
until shows 'last, .*s+-[0-9.]*[mun]*s' || [ "$moved" -ge 60 ]; do
	press Left Enter
	sees '[-][0-9.]*[mun]*s rank' || break
	moved=$((moved + 1))
done
on_screen 'who was last has the error of the clocks beside it' \
	'in [2-6] ranks: .* last, .*s+-[0-9.]*[mun]*s'
press q
ended 0
verdict 'q leaves what is late' $?
open 150x24 "exec $ncclstat --from=\"$fleet_build/ncclsimulate -u -S 60 -R -h 3 -r 2 -l 3:6000 -\""
sees ' 3 of 3 nodes'
view timeline
on_screen 'of clocks that are not aligned it says so' \
	'clocks are not aligned: do\|do not compare its lanes'
press q
ended 0
verdict 'q leaves clocks that are not aligned' $?

# --- No rank anywhere ----------------------------------------------------------

touch "$tmp/away-n2"
open 100x20 "exec $ncclstat --hosts=n[2-3] --interval 0.3"
on_screen 'without a rank all nodes are named' 'No rank is seen on any node'
on_screen 'one that has no job' 'n3: there are no segments on the node'
on_screen 'one that is not reached' 'n2: no connection to the node: .*No route'
hides '/dev/shm'
verdict 'nothing is said of this machine' $?
press q
ended 0
verdict 'q leaves without a rank, too' $?
open 100x20 "exec $ncclstat --from=\"sleep 30\" --interval 0.3"
on_screen 'where no node is known yet that is said' 'No node is known yet'
hides '/dev/shm'
verdict 'and nothing of this machine' $?
press q
ended 0
verdict 'q leaves without a node' $?
fleet_none_left "$name: at the end" | grep -v '^ok' && failed=1
finish
