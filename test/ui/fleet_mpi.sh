#!/bin/sh
# SPDX-License-Identifier: MIT
# Many nodes through Open MPI's mpirun, end to end: a daemon of its own on each
# of three nodes of this machine, and an agent below each. A job hangs across
# two of them; a busy one on the third has long looks. mpirun passes on what it
# reads, without regard to lines.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_enter mpi
fleet_needs mpirun
fleet_needs_names
mpirun --version | grep -q 'Open MPI' || {
	echo 'mpirun is not that of Open MPI'
	exit 77
}

fleet_nodes n1 n2 n3
fleet_hang n1 n2
"$tmp/agent" n3 "$fleet_build/ncclreplay" --loop 0 --speed 0.05 \
	test/captures/net-v5-ddp8 >/dev/null 2>&1 &
fleet_jobs="$fleet_jobs $!"

# mpirun's daemons are started by this, in the place of ssh.
cat >"$tmp/rsh" <<RSH
#!/bin/sh
host=\$1
shift
exec "$tmp/agent" "\$host" sh -c "\$*"
RSH
chmod +x "$tmp/rsh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi="mpirun --mca plm_rsh_agent $tmp/rsh --mca oob_tcp_if_include lo \
--mca btl_tcp_if_include lo --host n1,n2,n3 -N 1"
# shellcheck disable=SC2086 # words
timeout 60 $mpi true >"$tmp/out" 2>&1 </dev/null || {
	tail -n 3 "$tmp/out"
	echo 'mpirun does not work here'
	exit 77
}

# whole FILE: whether no line of the nodes is torn or lost.
whole() {
	python3 - "$1" <<'PY'
import re, sys
latest, count = {}, 0
for line in open(sys.argv[1], "rb"):
    found = re.search(rb"ncclstat1:(n[123]:\w+):(\d+):[\w+/]*=*\n$", line)
    assert found, line
    agent, number = found[1], int(found[2])
    assert number == latest.get(agent, -1) + 1, line
    latest[agent] = number
    count += 1
assert len(latest) == 3 and count > 100, (latest, count)
PY
}

# are_many: whether there are enough lines of all nodes.
are_many() {
	[ "$(wc -l <"$tmp/lines")" -gt 150 ] &&
		[ "$(grep -o 'ncclstat1:n[123]:' "$tmp/lines" | sort -u |
			wc -l)" -eq 3 ]
}
# shellcheck disable=SC2086 # words
$mpi --tag-output ncclstat --stream=lines --records -i 0.2 \
	>"$tmp/lines" 2>/dev/null </dev/null &
launcher=$!
await are_many || echo 'not ok lines of three nodes come'
kill "$launcher"
wait "$launcher"
if whole "$tmp/lines"; then
	echo 'ok lines are whole, behind labels'
else
	echo 'not ok lines are whole, behind labels'
fi
fleet_soon 'two nodes below mpirun are certain' 2 'rank_missing, certain' \
	'rank 1 .* on n2' -- --diagnose --from \
	"$mpi --tag-output ncclstat --stream=lines"
fleet_soon 'the list has all ranks' 0 ' 0 .* n1:/' ' 1 .* n2:/' ' 7 .* n3:/' \
	-- --list --from "$mpi --timestamp-output ncclstat --stream=lines"
fleet_wants 'the nodes can be kept' 0 'looks of 3 nodes' -- \
	--record "$tmp/kept" --duration 8 --from "$mpi ncclstat --stream=lines"
fleet_wants 'what was kept can be diagnosed' 2 'rank_missing, certain' -- \
	--diagnose "$tmp/kept.n1" "$tmp/kept.n2"
fleet_none_left 'after all modes'

# mpirun_left: whether a daemon or a launcher of this test is there.
mpirun_left() {
	grep -lzxF "FLEET_MARK=$FLEET_MARK" /proc/[0-9]*/environ 2>/dev/null |
		sed 's/environ$/comm/' | xargs cat 2>/dev/null |
		grep -qx 'mpirun\|orted'
}

mpirun_gone() {
	! mpirun_left
}

for signal in KILL TERM; do
	fleet_watch 3 --interval 0.3 --dump --from \
		"$mpi ncclstat --stream=lines"
	mpirun_left || echo 'not ok mpirun and its daemons are found'
	kill -"$signal" "$viewer"
	wait "$viewer" 2>/dev/null
	fleet_none_left "after SIG$signal to the viewer"
	if await mpirun_gone; then
		echo "ok no mpirun is left after SIG$signal"
	else
		echo "not ok no mpirun is left after SIG$signal"
	fi
done
