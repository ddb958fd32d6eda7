#!/bin/sh
# SPDX-License-Identifier: MIT
# Agents of agents, two levels on this machine: a job hangs across two nodes,
# each of which has an agent that another agent reads. Readers are slow; the
# viewer and an agent in the middle are killed.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_enter tree
fleet_needs_names

fleet_nodes n1 n2 n3
fleet_hang n1 n2

# There is no way to n9.
mkdir "$tmp/bin"
cat >"$tmp/bin/ssh" <<SSH
#!/bin/sh
for last; do host=\$command; command=\$last; done
[ "\$host" != n9 ] || {
	echo "ssh: connect to host n9 port 22: No route to host" >&2
	exit 255
}
exec "$tmp/agent" "\$host" sh -c "\$command"
SSH
chmod +x "$tmp/bin/ssh"

# middle NAME OPTION...: makes a script that becomes an agent of agents.
middle() {
	script=$tmp/$1
	shift
	printf 'PATH=%s:$PATH exec %s' "$tmp/bin" "$fleet_ncclstat" >"$script"
	printf " '%s'" "$@" >>"$script"
}
middle left --stream=packed '--hosts=n1' -i 0.3
middle right --stream=lines -i 0.3 \
	--from "$tmp/agent n2 ncclstat --stream=lines -i 0.3 & \
$tmp/agent n3 ncclstat --stream=lines -i 0.3 & wait"
middle broken --stream=lines '--hosts=n[1,9]' -i 0.3
both="sh $tmp/left & sh $tmp/right & wait"

fleet_soon 'a hang is certain through agents of agents' 2 \
	'rank_missing, certain' 'rank 1 .* on n2' -- --diagnose --from "$both"
fleet_soon 'the rows name the nodes, not those in the middle' 0 \
	' n1:/' ' n2:/' 'n3: no_job' -- --list --from "$both"
fleet_wants 'streams can be kept there, too' 0 'of 3 nodes' -- \
	--record "$tmp/kept" --duration 5 --from "$both"
fleet_wants 'what was kept can be diagnosed' 2 'rank_missing, certain' -- \
	--diagnose "$tmp/kept.n1" "$tmp/kept.n2"
fleet_soon 'a launcher in the middle is heard' 0 ' n1:/' \
	'n9: not_reachable: .*No route to host' -- --list \
	--from "sh $tmp/broken & sh $tmp/right & wait"
fleet_soon 'so does the diagnosis' 2 'rank_missing, certain' \
	'ranks of node n9 are not seen: .*No route to host' -- --diagnose \
	--from "sh $tmp/broken & sh $tmp/right & wait"
fleet_none_left 'after all modes'

# --- A reader that is slow -----------------------------------------------------

# A pipe holds 64 KiB: looks with records fill it at once.
middle quick --stream=lines --records -i 0.1 \
	--from "$tmp/agent n1 ncclstat --stream=lines -i 0.1 & \
$tmp/agent n2 ncclstat --stream=lines -i 0.1 & wait"
slow() {
	timeout 20 sh "$tmp/quick" </dev/null | { sleep 10; timeout 6 cat; } |
		"$fleet_ncclstat" --follow --record "$tmp/slow" - \
			2>"$tmp/err" || return
	for node in n1 n2; do
		python3 - "$tmp/slow.$node" <<'PY' || return
import struct, sys
data, at, looks = open(sys.argv[1], "rb").read(), 0, []
while at + 64 <= len(data):
    magic, kind, rank, size = struct.unpack_from("<QIIQ", data, at)
    if kind == 10:
        looks.append(struct.unpack_from("<4Q", data, at + 64)[2:])
    at += 64 + (size + 63) // 64 * 64
assert looks[-1][1] > 0, looks
missing = looks[-1][0] - looks[0][0] + 1 - len(looks)
assert missing == looks[-1][1] - looks[0][1], looks
PY
	done
}
if slow; then
	echo 'ok looks that a slow reader missed are counted, by node'
else
	echo 'not ok looks that a slow reader missed are counted, by node'
	sed 's/^/  /' "$tmp/err"
fi
fleet_none_left 'after a slow reader' 30

# --- Deaths --------------------------------------------------------------------

for signal in KILL TERM; do
	fleet_watch 3 --interval 0.3 --dump --from "$both"
	kill -"$signal" "$viewer"
	wait "$viewer" 2>/dev/null
	fleet_none_left "after SIG$signal to the viewer"
done

# The agent in the middle is killed: its nodes have ended, others go on.
left_agent() {
	fleet_processes | awk '/stream=packed/ && /hosts=n1/ { print $1 }'
}
# has_looked COUNT: whether the viewer has printed so many looks.
has_looked() {
	[ "$(grep -c '^ncclstat: host ' "$tmp/dump")" -ge "$1" ]
}
loses_n1() {
	fleet_watch 3 --interval 0.3 --dump --view nodes --from "$both"
	victim=$(left_agent)
	# shellcheck disable=SC2086 # one pid
	kill -KILL ${victim:?}
	await grep -q '^ *n1  *\(silent\|ended\)' "$tmp/dump"
	lost=$?
	# Looks in which the other one would have ended, too.
	await has_looked $(($(grep -c '^ncclstat: host ' "$tmp/dump") + 10)) ||
		lost=1
	kill "$viewer"
	wait "$viewer" 2>/dev/null
	! grep -q '^ *n2  *ended' "$tmp/dump" || has_ended=yes
	[ "$lost" -eq 0 ] && ! grep -q '^ *n2  *\(silent\|ended\)' "$tmp/dump"
}
has_ended=
# Where a machine is held up for 2 s the other one is rightly silent, too.
if { loses_n1 || loses_n1 || loses_n1; } && [ -z "$has_ended" ]; then
	echo 'ok without its agent in the middle a node is not seen any more'
else
	echo 'not ok without its agent in the middle a node is not seen any more'
	tail -n 20 "$tmp/dump" | sed 's/^/  /'
fi
fleet_none_left 'after the agent in the middle'

# looks_of_n1: prints how many looks of n1 have come.
looks_of_n1() {
	python3 - "$tmp/dump" <<'PY'
import json, sys
lines = open(sys.argv[1]).read().split("\n")[:-1]
nodes = [node for line in lines if line[:1] == "{"
         for node in json.loads(line)["nodes"] if node["name"] == "n1"]
print(nodes[-1]["looks"] if nodes else 0)
PY
}
began_again() {
	another=$(left_agent)
	[ -n "$another" ] && [ "$another" != "$victim" ]
}
has_more_looks() {
	[ "$(looks_of_n1)" -ge "$1" ]
}

# One that its launcher starts again brings its nodes back.
fleet_watch 3 --interval 0.3 --dump=json --from \
	"while sh $tmp/left; [ \$? -gt 128 ]; do sleep 0.3; done & sh $tmp/right & wait"
await has_more_looks 2 || echo 'not ok looks of an agent in the middle come'
victim=$(left_agent)
# shellcheck disable=SC2086 # one pid
kill -KILL ${victim:?}
await began_again || echo 'not ok an agent in the middle is started again'
if await has_more_looks "$(($(looks_of_n1) + 3))"; then
	echo 'ok an agent in the middle that is started again has its nodes back'
else
	echo 'not ok an agent in the middle that is started again has its nodes back'
	tail -n 1 "$tmp/dump" | cut -c 1-2000 | sed 's/^/  /'
fi
kill "$viewer"
wait "$viewer" 2>/dev/null
fleet_none_left 'at the end'
