#!/bin/sh
# SPDX-License-Identifier: MIT
# A late rank of another node, by simulated nodes whose clocks are seconds apart
# and drift: live, kept, and replayed; and words where clocks are not aligned.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_enter lateness

job="$fleet_build/ncclsimulate -S 30 -R -h 3 -r 2 -l 3:6000"

# --- Aligned by their traffic ----------------------------------------------

fleet_wants 'a late rank of another node is found live' 1 \
	'late_rank, likely' 'where: rank 3 of world: .* on host1' \
	'rank 3 of world: arrives last in [0-9]* of [0-9]* AllReduce' -- \
	--diagnose -n 8 --from "$job -"
fleet_wants 'the error stands beside its lateness' 0 \
	'^late: rank 3 .*arrives last at 100 % .*, host-late' \
	'^late: rank 0 .*us+-[0-9.]*us .*, never last' \
	'^node0001 .*us  0\.' -- --dump -n 8 --from "$job -"
if grep -q 'not aligned' "$tmp/out"; then
	echo 'not ok nothing is said of clocks that are aligned'
else
	echo 'ok nothing is said of clocks that are aligned'
fi

fleet_wants 'without a terminal the first looks are waited for' 0 \
	'^well: nothing is wrong: 6 of 6 ranks level, [0-9]* operations' \
	'^ *5 *world .* alive' -- --from "sleep 0.3; $job -u -"

# Each host's looks come by an ssh of its own, which begins when it likes.
mkdir "$tmp/bin"
cat >"$tmp/bin/ssh" <<SSH
#!/bin/sh
for last; do host=\$command; command=\$last; done
[ "\$host" = n0 ] || sleep 0.4
exec $job -o "\${host#n}" -
SSH
chmod +x "$tmp/bin/ssh"
old_path=$PATH
PATH=$tmp/bin:$PATH
fleet_wants 'a late rank is found through agents of several hosts' 1 \
	'late_rank, likely' 'where: rank 3 of world: .* on host1' \
	'try: ssh n1 py-spy dump --pid 4003' '3 of 3 nodes' -- \
	--diagnose --records -n 9 --hosts 'n[0-2]'
PATH=$old_path

# --- Kept --------------------------------------------------------------------

fleet_wants 'the nodes can be kept' 0 'of 3 nodes' -- \
	--record "$tmp/kept" --duration 8 --from "$job -"
fleet_wants 'the same rank is found in what was kept' 1 \
	'late_rank, likely' 'where: rank 3 of world: .* on host1' \
	'clocks of hosts within' -- --diagnose "$tmp/kept.node0000" \
	"$tmp/kept.node0001" "$tmp/kept.node0002"

# --- Not aligned ---------------------------------------------------------------

fleet_wants 'lateness is of one host where clocks are not aligned' 0 \
	'^late: rank 3 .*, on its own host: clocks are not aligned' \
	'^node0001 .*  -  0\.' -- --dump -n 6 --from "$job -u -"
alone=$(echo "$job" | sed 's/-r 2/-r 1/; s/3:/1:/')
fleet_wants 'and is not known of a rank that is alone' 0 \
	'^late: rank 1 of world: lateness not known: clocks are not aligned' \
	-- --dump -n 6 --from "$alone -u -"
fleet_wants 'no rank is late then' 0 'nothing is wrong' \
	'^not checked: 3 of 3 nodes.*the clock is not aligned' -- \
	--diagnose -n 6 --from "$alone -u -"
