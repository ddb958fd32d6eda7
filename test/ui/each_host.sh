#!/bin/sh
# SPDX-License-Identifier: MIT
# --check, --set and --clean on each of several hosts; hosts of batch systems, as the
# manual finds them.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_needs_names
fleet_enter each-host
fleet_nodes n1 n2
fleet_ssh

# each OPTION...: runs ncclstat; the status is in $status.
each() {
	"$fleet_ncclstat" "$@" >"$tmp/said" 2>"$tmp/err"
	status=$?
}
says() {
	grep -q "$1" "$tmp/said"
}

# --- A job on two nodes --------------------------------------------------------

fleet_hang n1 n2
each --set=events=all,sample=default --hosts='n[1-2]'
fleet_check 'each node is asked' says '^n1: asked 1 process for events=all,sample=default$'
fleet_check 'so is the other' says '^n2: asked 1 process for '
fleet_check 'in the order of the hosts' test \
	"$(sed 's/:.*//' "$tmp/said" | uniq | tr '\n' ' ')" = 'n1 n2 '
fleet_check 'that no answer comes is told on the nodes only' test ! -s "$tmp/err"

each --set=default --job="it's none" --hosts=n1
fleet_check 'a job is chosen on the node, whatever its name' test "$status" = 1
each --set=default --job="it's none" --hosts=n1
fleet_check 'and why there is no answer is told' grep -q "n1: ssh says: .*it's none" "$tmp/err"

each --check --hosts='n[1-2]'
fleet_check 'each node is checked' says '^n2: '

# --- Batch systems ---------------------------------------------------------------

# stand_in NAME: a program that prints what comes, if it is asked for job 4711.
stand_in() {
	{
		printf '#!/bin/sh\ncase "$*" in *4711*) ;; *) exit 1 ;; esac\ncat <<"END"\n'
		cat
		echo END
	} >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}
printf 'Job Id: 4711.server\n    job_state = R\n    exec_host = n1/0*8+n2/0*8\n    Rerunable = True\n' |
	stand_in qstat
echo '8*n1:8*n2' | stand_in bjobs
echo 'n[1-2]' | stand_in flux
printf 'n1\nn1\nn2\nn2\n' >"$tmp/hostfile"
export PBS_NODEFILE="$tmp/hostfile" LSB_DJOB_HOSTFILE="$tmp/hostfile"
python3 test/ui/page_commands.py "$fleet_build/man/ncclstat-fleet.7" \
	'BATCH SYSTEMS' >"$tmp/lines"
fleet_check 'the manual has a line for each batch system' test \
	"$(grep -c . "$tmp/lines")" = 5
finds_both() {
	PATH=$fleet_build:$PATH sh -c "$line --diagnose" >"$tmp/said" 2>"$tmp/err"
	grep -q 'rank_missing, certain' "$tmp/said" &&
		grep -q ' rank 1 .* on n2' "$tmp/said"
}
while read -r line; do
	fleet_check "$(echo "$line" | cut -c 18-38) finds both nodes" \
		fleet_unless_late finds_both
done <"$tmp/lines"
each --list --hosts="$tmp/nowhere"
fleet_check 'a file that is not there is told' grep -q \
	"$tmp/nowhere: No such file or directory" "$tmp/err"

# --- Segments of processes that are gone -----------------------------------------

# is_dead NODE: whether the node's rank is of a process that is gone.
is_dead() {
	"$tmp/agent" "$1" ncclstat --list | grep -q ' dead '
}
for node in n1 n2; do
	kill -KILL "$("$tmp/agent" $node ncclstat --list | awk 'NR == 2 { print $1 }')"
	await is_dead $node || echo "not ok the rank of $node is dead"
done
each --clean --hosts='n[1-2]' --exclude=n2
fleet_check 'a node is cleaned' says '^n1: removed'
fleet_check 'but not one that is excluded' test -z "$(sed '/^n1:/d' "$tmp/said")"
each --clean --hosts='n[1-2]'
fleet_check 'then the other' says '^n2: removed'

each --clean --archive=$tmp/kept --retain=7d,1G --hosts=n1
fleet_check 'limits and an archive are passed on' grep -q "n1: .*$tmp/kept" "$tmp/err"

# --- Hosts without an answer ---------------------------------------------------

each --clean --hosts='n1,nowhere'
fleet_check 'a host that is not reached is told' grep -q \
	'nowhere: ssh says: ssh: Could not resolve hostname nowhere' "$tmp/err"
fleet_check 'and fails the command' test "$status" = 1
each --clean --hosts=n1
fleet_check 'without it all is well' test "$status" = 0
each --clean --slurm=1
fleet_check 'only ssh runs commands' test "$status" = 64
each --set=default --pid=1 --hosts=n1
fleet_check 'no process is chosen on many nodes' test "$status" = 64
fleet_none_left 'at the end'
