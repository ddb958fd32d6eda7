#!/bin/sh
# SPDX-License-Identifier: MIT
# Many nodes through Slurm, end to end: a controller and eight slurmd on this
# machine's loopback, with a job that hangs across two of its nodes. One slurmd
# is frozen.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_enter slurm
daemons=
job=
leave() {
	# The job's own processes end with it, while its daemons run.
	if [ -n "$job" ]; then
		kill -CONT "$frozen" 2>/dev/null
		scancel "$job" 2>/dev/null
		tries=0
		while [ "$(squeue -h -t all -j "$job" -o %t)" = CG ] ||
			[ "$(squeue -h -j "$job" -o %t)" = R ]; do
			[ "$tries" -lt 50 ] || break
			sleep 0.1
			tries=$((tries + 1))
		done
	fi
	for pid in $daemons; do
		kill -CONT "$pid" 2>/dev/null
		kill -KILL "$pid" 2>/dev/null
	done
	# Those of prologs outlive their jobs.
	pkill -f "^ncclstat watch .*--archive=$tmp/watched"
	fleet_leave
}
trap leave EXIT
trap 'exit 130' HUP INT TERM
fleet_needs slurmctld slurmd srun sbatch munged setpriv
fleet_needs_names
[ "$(id -u)" -eq 0 ] || {
	echo 'slurmd wants to be root'
	exit 77
}

# --- A cluster on loopback -----------------------------------------------------

chmod 755 "$tmp"
mkdir "$tmp/munge" "$tmp/state"
chown munge "$tmp/munge" || exit 77
head -c 1024 /dev/urandom >"$tmp/munge/key"
chown munge "$tmp/munge/key"
chmod 400 "$tmp/munge/key"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --force --key-file="$tmp/munge/key" \
	--socket="$tmp/munge/socket" --pid-file="$tmp/munge/pid" \
	--log-file="$tmp/munge/log" --seed-file="$tmp/munge/seed" \
	>"$tmp/munged" 2>&1 &
daemons="$daemons $!"

host=$(hostname)
cat >"$tmp/slurm.conf" <<EOF
ClusterName=fleet
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$tmp/munge/socket
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool-%n
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd-%n.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerParameters=bf_interval=1
JobAcctGatherType=jobacct_gather/none
SelectType=select/linear
ReturnToService=2
SlurmdTimeout=300
KillWait=2
TaskProlog=$tmp/task-prolog
Prolog=$tmp/prolog
Epilog=$tmp/epilog
NodeName=n[01-08] NodeHostname=$host NodeAddr=127.0.0.1 Port=[17001-17008]
PartitionName=all Nodes=n[01-08] Default=YES MaxTime=INFINITE State=UP
EOF
# The recipes that are installed. An epilog has no environment of its own.
recipes=$PWD/tui/share/recipes
cat >"$tmp/task-prolog" <<EOF
#!/bin/sh
PATH="$fleet_build:\$PATH" exec sh "$recipes/slurm-task-prolog.sh"
EOF
# epilog TIME: how long it keeps segments.
epilog() {
	sed "s#/var/lib/ncclstat#$tmp/watched#; s#=1h,#=$1,#" \
		"$recipes/slurm-epilog.sh" >"$tmp/slurm-epilog.sh"
}
epilog 1h
mkdir "$tmp/bin"
printf '#!/bin/sh\nexec cat >>"%s/logged"\n' "$tmp" >"$tmp/bin/logger"
cat >"$tmp/epilog" <<EOF
#!/bin/sh
PATH="$tmp/bin:$fleet_build:\$PATH" NCCLSTAT_DIR="$tmp/node-killed" \
	exec sh "$tmp/slurm-epilog.sh"
EOF
sed "s#/var/lib/ncclstat#$tmp/watched#" "$recipes/slurm-prolog.sh" >"$tmp/watch.sh"
cat >"$tmp/prolog" <<EOF
#!/bin/sh
export FLEET_MARK="$tmp" NCCLSTAT_DIR="$tmp/node-watched"
PATH="$tmp/bin:$fleet_build:\$PATH" exec sh "$tmp/watch.sh"
EOF
chmod +x "$tmp/task-prolog" "$tmp/prolog" "$tmp/epilog" "$tmp/bin/logger"
export SLURM_CONF="$tmp/slurm.conf"
slurmctld -D -c >"$tmp/slurmctld.out" 2>&1 &
daemons="$daemons $!"
for n in 1 2 3 4 5 6 7 8; do
	mkdir "$tmp/spool-n0$n"
	slurmd -D -N "n0$n" >"$tmp/slurmd-n0$n.out" 2>&1 &
	daemons="$daemons $!"
	[ "$n" -ne 3 ] || frozen=$!
done
tries=0
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 8 ] || [ "$tries" -ge 150 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
[ "$tries" -lt 150 ] || {
	tail -n 2 "$tmp/slurmctld.out" "$tmp/slurmd-n01.out" | tr '\n' ' '
	echo 'Slurm does not start here'
	exit 77
}

# --- The recipes ----------------------------------------------------------------

# says NAME STATUS: prints the verdict of a check that has this status.
says() {
	[ "$2" -eq 0 ] && echo "ok $1" || echo "not ok $1"
}

# left: succeeds if the killed job has left something.
left() {
	find "$tmp/node-killed/" -name 'ncclstat.*' | grep -q .
}

none_left() {
	! left
}

# plugin_of VALUE: prints what a task finds in its environment.
plugin_of() {
	NCCL_PROFILER_PLUGIN=$1 srun -n1 printenv NCCL_PROFILER_PLUGIN
}

# kill_job: has a job killed in the directory of the epilog.
kill_job() {
	NCCLSTAT_DIR="$tmp/node-killed" "$fleet_build/ncclreplay" --hold \
		test/captures/net-v5-hang/rank0.calllog.xz >"$tmp/killed" 2>&1 &
	killed=$!
	await left
	# A heartbeat tells when it lived.
	sleep 1
	kill -KILL "$(pgrep -P "$killed")" "$killed"
	wait "$killed" 2>/dev/null
}

# logged WORDS: whether the epilog has told that.
logged() {
	grep -q "$1" "$tmp/logged" 2>/dev/null
}

# A file, where the archive of the watch is to be.
: >"$tmp/watched"
shm_folder "$tmp/node-killed"
shm_folder "$tmp/node-watched"
kill_job
left
says 'a killed job has left something' $?
plugin_of '' | grep -qx 'libnccl-profiler-ncclstat.so'
says "Slurm's prolog gives tasks the plugin" $?
await logged "watched: Not a directory"
says 'why a watch cannot start is in the log, and the job begins' $?
rm "$tmp/watched"
plugin_of other | grep -qx other
says 'a job that has another plugin keeps it' $?
await logged "^kept $tmp/node-killed/ncclstat[.].* is gone for "
says "Slurm's epilog says that it keeps what a killed job left" $?
left
says 'it keeps it' $?
epilog 0.1s
srun -n1 true
await none_left
says 'it removes it later' $?
epilog 1h

# watches: prints the pids of the watches that prologs have started: the oldest first.
# The recorder of a watch has the same words.
watches() {
	pgrep -f "^ncclstat watch .*--archive=$tmp/watched"
}
has_one_watch() {
	[ "$(watches | wc -l)" = 2 ]
}
no_watch() {
	! watches >/dev/null
}
# Each of the nodes runs the prolog, but they are one machine here.
srun -N8 true 2>/dev/null
await has_one_watch
says "Slurm's prolog starts one watch, which outlives it" $?
! logged 'another watch'
says 'that the others end at once is no message' $?
# Jobs to come need none.
echo 'exit 0' >"$tmp/watch.sh"
kill "$(watches | head -n 1)"
await no_watch
says 'it ends when it is told to' $?

# --- A job that hangs across n01 and n02 -----------------------------------------

fleet_nodes n01 n02 n03 n04 n05 n06 n07 n08
cat >"$tmp/remote" <<EOF
#!/bin/sh
exec "$tmp/agent" "\$SLURMD_NODENAME" ncclstat "\$@"
EOF
chmod +x "$tmp/remote"
# Each of its components is a job to Slurm; it starts them together.
job=$(cd "$tmp" && sbatch --parsable -N 2 -o "$tmp/job.out" --wrap 'sleep 600' : -N 1)
runs() {
	[ "$(squeue -h -j "$1" -t R | wc -l)" = "$2" ]
}
await runs "$job" 2
fleet_wants 'one step reaches the components of a heterogeneous job' 3 \
	'n01: no_job' 'n02: no_job' 'n03: no_job' -- --diagnose --slurm "$job" \
	--remote-command "$tmp/remote"
fleet_wants 'one of them can be named' 3 'n03: no_job' -- --diagnose \
	--slurm "$job+1" --remote-command "$tmp/remote"
! grep -q 'n0[12]' "$tmp/out"
says 'and is all that is asked' $?
scancel "$job"
ended() {
	[ -z "$(squeue -h -j "$job" -t R,CG)" ]
}
await ended
printf '#!/bin/sh\necho nobody is here >&2\nexit 255\n' >"$tmp/nobody"
chmod +x "$tmp/nobody"
NCCLSTAT_SSH="$tmp/nobody" fleet_wants \
	'the nodes of a job that has ended are asked for what they keep' 3 \
	'n01: .*nobody' 'n02: .*nobody' 'n03: .*nobody' -- --diagnose \
	--archive="$tmp/none" --slurm "$job"
job=$(cd "$tmp" && sbatch --parsable -N 8 --array=3 -o "$tmp/job.out" --wrap 'sleep 600')
fleet_hang n01 n02

fleet_wants 'a job of Slurm is certain to hang' 2 'rank_missing, certain' \
	'rank 1 .* on n02' "try: srun .*--jobid=$job .*-w n02 py-spy dump --pid" \
	'n05: no_job' -- --diagnose --slurm "$job" \
	--remote-command "$tmp/remote"
# srun does not take the name of a job in an array.
fleet_wants 'so is one that is named as sacct prints it' 2 \
	'rank_missing, certain' -- --diagnose --slurm "${job}_3" \
	--remote-command "$tmp/remote"
fleet_wants 'stacks are read by a step of Slurm' 2 \
	'reading the stacks of 2 processes' '^  ranks* [01]' \
	'pthread_join\|futex\|system call' -- --diagnose --stacks \
	--slurm "$job" --remote-command "$tmp/remote"
fleet_wants '--exclude leaves nodes of a job out' 0 ' n01:/' -- --list \
	--slurm "$job" --exclude 'n[02-08]' --remote-command "$tmp/remote"
if grep -q ' n02:/' "$tmp/out"; then
	echo 'not ok a node that is excluded is not asked'
else
	echo 'ok a node that is excluded is not asked'
fi
held=$(cd "$tmp" && sbatch --parsable --hold -N 1 --wrap true : -N 1)
fleet_wants 'nor a heterogeneous job: it is told that it waits' 1 \
	'does not run: it is PENDING' -- --list --slurm "$held+1"
scancel "$held"
fleet_wants 'a job that is not there is said' 1 'nvalid job id' -- --list \
	--slurm 999999
fleet_at_last 'each node without the program is told' 4 \
	'n01: not_installed: .*execve' 'n02: not_installed: .*execve' \
	'n03: not_installed: .*execve' 'n04: not_installed: .*execve' \
	'n05: not_installed: .*execve' 'n06: not_installed: .*execve' \
	'n07: not_installed: .*execve' 'n08: not_installed: .*execve' -- \
	--diagnose --slurm "$job" --remote-command /nonexistent/ncclstat
fleet_none_left 'after the verdicts'

# --- A slurmd that is frozen --------------------------------------------------

kill -STOP "$frozen"
# Its step is replaced before srun gives it up after 20 s: looks go on.
"$fleet_ncclstat" --diagnose --count 26 --slurm "$job" \
	--remote-command "$tmp/remote" >"$tmp/out" 2>&1 </dev/null
if grep -q 'rank_missing, certain' "$tmp/out" &&
	grep -q 'n03: not_reachable' "$tmp/out" &&
	! grep -q 'n0[12]: ' "$tmp/out"; then
	echo 'ok a frozen node does not take the others along'
else
	echo 'not ok a frozen node does not take the others along'
	sed 's/^/  /' "$tmp/out"
fi
fleet_none_left 'after the step was replaced'
# Slurm does not end the tasks of a step while one node does not answer: they
# miss the beats.
fleet_watch 7 --dump --interval 0.3 --slurm "$job" \
	--remote-command "$tmp/remote"
kill -KILL "$viewer"
wait "$viewer" 2>/dev/null
fleet_none_left 'while a node is frozen' 60
kill -CONT "$frozen"
# Nor does it while that node has not come back, however long that takes.
all_nodes_answer() {
	timeout 5 srun --jobid "$job" --overlap --nodes=8 --ntasks-per-node=1 \
		true >/dev/null 2>&1
}
await all_nodes_answer || echo 'not ok the frozen node comes back'

# --- The end of the viewer -------------------------------------------------------

# no_srun: whether no srun of this test is left.
no_srun() {
	for pid in $(pgrep -x srun); do
		! grep -qzxF "FLEET_MARK=$FLEET_MARK" "/proc/$pid/environ" \
			2>/dev/null || return
	done
}
for signal in KILL TERM; do
	fleet_watch 8 --dump --interval 0.3 --slurm "$job" \
		--remote-command "$tmp/remote"
	kill -"$signal" "$viewer"
	wait "$viewer" 2>/dev/null
	fleet_none_left "after SIG$signal to the viewer"
	await no_srun
	says "no srun is left after SIG$signal" $?
done
