#!/bin/sh
# SPDX-License-Identifier: MIT
# Stacks of processes, end to end: --stacks-of reads C programs with known
# functions by the real gdb and eu-stack and by /proc, and leaves processes alone
# that are stopped, traced, gone, or of others; --diagnose --stacks merges those of
# a job that hangs, by a script in the place of py-spy that speaks its JSON.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

# Programs are run elsewhere, too.
BUILD=$(cd "${BUILD:-build}" && pwd)
. test/ui/checks
container=
at_end() {
	# This one waits for its child and ignores other signals.
	[ -z "$container" ] || kill -KILL "$container"
	# shellcheck disable=SC2086 # a list of words
	[ -z "$job" ] || kill -CONT $job 2>/dev/null
}

# holds EXPRESSION: whether that holds of $tmp/out, the document d.
holds() {
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
s = d.get("stacks")
assert eval("(" + sys.argv[2] + ")"), json.dumps(s, indent=1)' \
		"$tmp/out" "$1"
}

# unless_cut_off COMMAND...: runs it, with its status. Again, four times at most, if
# ncclstat says in $tmp/out that a tool did not answer in time: all tools of a machine
# have 3 s, which one that is held up may take from them.
unless_cut_off() {
	for _ in 1 2 3 4 5; do
		status=0
		"$@" || status=$?
		grep -aq 'does not answer within\|no time is left for' \
			"$tmp/out" || break
	done
	return "$status"
}

# installed TOOL...: makes $tmp/path, where only these programs are; those in
# $tmp/tools first.
installed() {
	rm -rf "$tmp/path"
	mkdir "$tmp/path"
	for tool; do
		if [ -e "$tmp/tools/$tool" ]; then
			ln -s "$tmp/tools/$tool" "$tmp/path/$tool"
		else
			ln -s "$(command -v "$tool")" "$tmp/path/$tool"
		fi
	done
}

read_one() {
	PATH="$tmp/path" "$ncclstat" --stacks-of="$1" >"$tmp/out" 2>"$tmp/err"
}

# of TOOLS PID[:START:NAMESPACE]: reads a stack where only these are installed.
of() {
	# shellcheck disable=SC2086 # a list of words
	installed $1
	case $2 in
	*:*) whose=$2 ;;
	*) whose=$2:0:0 ;;
	esac
	unless_cut_off read_one "$whose"
	# Makes a document of one stack, with its frames' names, files and lines.
	python3 -c '
import json, sys
lines = [l.rstrip("\n").split("\t") for l in open(sys.argv[1])]
s = {"tool": lines[0][2], "why": lines[0][3],
     "frames": [[n, f, int(l)] for _, l, f, n in lines[1:]]}
assert lines[0][0] == "ncclstat-stack"
json.dump({"stacks": [s]}, open(sys.argv[1], "w"))' "$tmp/out"
	[ "$status" -eq 0 ]
}

# state_of PID: prints the letter of its state.
state_of() {
	sed 's/.*) \(.\) .*/\1/' "/proc/$1/stat"
}

# runs PID: whether it neither is stopped nor traced.
runs() {
	case $(state_of "$1") in
	S | R) grep -q '^TracerPid:[^0-9]*0$' "/proc/$1/status" ;;
	*) return 1 ;;
	esac
}

# is_in STATE PID: whether it is in this state.
is_in() {
	[ "$(state_of "$2")" = "$1" ]
}

mkdir "$tmp/tools"
cat >"$tmp/victim.c" <<'END'
#include <pthread.h>
#include <unistd.h>

static void *other(void *unused)
{
	for (;;)
		pause();
	return unused;
}

__attribute__((noinline)) void read_batch(int n)
{
	for (;;) {
		pause();
		n++;
	}
}

__attribute__((noinline)) void next_batch(int n)
{
	read_batch(n + 1);
	__asm__ volatile("");
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, other, NULL);
	next_batch(1);
	return 0;
}
END
${CC:-cc} -g -O0 -o "$tmp/victim" "$tmp/victim.c" -lpthread || exit
"$tmp/victim" &
victim=$!
job="$job $victim"
check 'a program that is to be read waits' await is_in S "$victim"

# --- The tools themselves ------------------------------------------------------

# names: a Python list of the frames' names.
names='[f[0] for f in s[0]["frames"]]'
if command -v gdb >/dev/null; then
	of gdb "$victim"
	check 'gdb reads functions, files and lines of a C program' holds \
		"s[0]['tool'] == 'gdb' and
		$names[0] == 'main' and
		$names[1:3] == ['next_batch', 'read_batch'] and
		s[0]['frames'][2][1].endswith('victim.c') and
		s[0]['frames'][1][2] in (20, 21)"
	check 'a process goes on after gdb' await runs "$victim"
else
	echo 'skip gdb is not installed'
fi
if command -v eu-stack >/dev/null; then
	of eu-stack "$victim"
	check 'eu-stack reads the same functions' holds \
		"s[0]['tool'] == 'eu-stack' and ' '.join($names).find(
		'main next_batch read_batch') >= 0"
	check 'a process goes on after eu-stack' await runs "$victim"
else
	echo 'skip eu-stack is not installed'
fi
of '' "$victim"
check 'without tools /proc tells the system call' holds \
	"s[0]['tool'] == '/proc' and
	$names[0] == 'thread victim' and
	$names[1].startswith('system call ') and
	'none of py-spy, gdb and eu-stack is installed' in s[0]['why']"

# --- Processes that are left alone ----------------------------------------------

all='py-spy gdb eu-stack'
for tool in $all; do
	printf '#!/bin/sh\necho "%s $*" >>"%s/touched"\n' "$tool" "$tmp" \
		>"$tmp/tools/$tool"
	chmod +x "$tmp/tools/$tool"
done

# refused NAME WORDS: passes if no tool was run, and the words say why.
refused() {
	check "$1" holds "s[0]['frames'] == [] and s[0]['tool'] == '' and
		'$2' in s[0]['why'] and not __import__('os').path.exists(
		'$tmp/touched')"
	rm -f "$tmp/touched"
}

kill -STOP "$victim"
check 'a process is stopped' await is_in T "$victim"
of "$all" "$victim"
refused 'a stopped process stays so' 'stopped by a signal'
check 'and is not continued' is_in T "$victim"
kill -CONT "$victim"
check 'once it is continued it runs' await runs "$victim"

sleep 0 &
gone=$!
wait "$gone"
of "$all" "$gone"
refused 'a process that is gone is said' 'its process is gone'
of "$all" "$victim:12345:0"
refused 'another process with the number is not it' 'its process is gone'
of "$all" "$victim:0:1"
refused 'a number of another container is not it' 'in another container'

# tracer: attaches to the process and waits.
cat >"$tmp/tracer.c" <<'END'
#include <stdlib.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argc;
	if (ptrace(PTRACE_SEIZE, atoi(argv[1]), 0, 0) != 0)
		return 1;
	sleep(600);
	return 0;
}
END
${CC:-cc} -o "$tmp/tracer" "$tmp/tracer.c" || exit
"$tmp/tracer" "$victim" &
tracer=$!
job="$job $tracer"
# traced: whether the process is traced.
traced() {
	grep -q "^TracerPid:[^0-9]*$tracer\$" "/proc/$victim/status"
}
if await traced; then
	of "$all" "$victim"
	refused 'a process that is traced already is said' \
		"traced already, by process $tracer"
else
	echo 'skip processes may not be traced here'
fi
kill "$tracer"
wait "$tracer" 2>/dev/null

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	# Another user may not be able to reach the build.
	cp "$ncclstat" "$tmp/ncclstat"
	chmod 755 "$tmp"
	plain=$ncclstat
	cat >"$tmp/as_nobody" <<-END
	#!/bin/sh
	exec $(command -v setpriv) --reuid=65534 --regid=65534 --clear-groups \
		"$tmp/ncclstat" "\$@"
	END
	chmod +x "$tmp/as_nobody"
	ncclstat=$tmp/as_nobody
	of "$all" "$victim"
	ncclstat=$plain
	refused 'a process of another user is said' 'it is of user 0: only'
else
	echo 'skip other users cannot be tried here'
fi

# --- Tools that go wrong ----------------------------------------------------------

# Sends what a tool that attaches sends, and does not end.
cat >"$tmp/tools/py-spy" <<'END'
#!/bin/sh
kill -STOP "$4"
exec sleep 600
END
cat >"$tmp/tools/gdb" <<'END'
#!/bin/sh
echo 'cannot do it' >&2
exit 1
END
if command -v eu-stack >/dev/null; then
	rm "$tmp/tools/eu-stack"
	ln -s "$(command -v sleep)" "$tmp/tools/sleep"
	ln -s "$(command -v sh)" "$tmp/tools/sh"
	of "$all sleep sh" "$victim"
	check 'a tool that hangs is ended, and the next ones are tried' holds \
		"s[0]['tool'] == 'eu-stack' and 'next_batch' in $names"
	check 'a process that it left stopped goes on' await runs "$victim"
fi
# Nothing of a child is left: its command line has the process.
left() {
	! grep -lz -- "--pid" /proc/[0-9]*/cmdline 2>/dev/null |
		xargs -r grep -lzx -- "$victim" 2>/dev/null | grep -q .
}
check 'no tool is left' await left

cat >"$tmp/tools/py-spy" <<'END'
#!/bin/sh
head -c 10000000 /dev/zero | tr '\0' '['
END
of 'py-spy sh head tr' "$victim"
check 'ten megabytes are refused' holds "s[0]['tool'] == '/proc' and
	'py-spy' in s[0]['why']"
printf '#!/bin/sh\nprintf %%s "[{\\"os_thread_id\\":%s,\\"frames\\":[{\\"na"\n' \
	"$victim" >"$tmp/tools/py-spy"
of 'py-spy sh' "$victim"
check 'JSON that is cut is no stack' holds "s[0]['tool'] == '/proc' and
	'py-spy has found no frames' in s[0]['why']"

# --- A job that hangs -------------------------------------------------------------

mkdir "$tmp/job"
shm_folder "$tmp/job/shm"
python3 test/ui/faulty_job.py missing 8 "$tmp/job"
NCCLSTAT_DIR="$tmp/job/shm" "$build/ncclreplay" --hold "$tmp/job" \
	2>"$tmp/job/replay" &
job="$job $!"
export NCCLSTAT_DIR="$tmp/job/shm"

# In the place of py-spy: rank 1 reads its data, rank $UNREAD cannot be read, and
# all others wait in AllReduce. There are no other tools: a stack that it has not
# read in time is one of /proc, which says so.
cat >"$tmp/tools/py-spy" <<'END'
#!/bin/sh
[ "$1 $2 $3" = 'dump --json --pid' ] || exit 3
case ${UNREAD:-} in
?*) [ ! -e "$SPIED/$4.rank$UNREAD" ] || {
	echo 'Error: Permission denied (os error 13)' >&2
	exit 1
} ;;
esac
exec cat "$SPIED/$4"
END
# A node that is this machine.
cat >"$tmp/tools/ssh" <<END
#!/bin/sh
while [ "\$1" != n1 ]; do
	shift
done
shift
NCCLSTAT_DIR=\$NODE exec sh -c "\$*"
END
chmod +x "$tmp"/tools/*
installed py-spy ssh sh cat sleep
is_stuck() {
	"$ncclstat" --diagnose=json --wait 30 -i 0.2 >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 2 ]
}
check 'a job hangs' await is_stuck
"$ncclstat" --dump=json | python3 -c '
import json, sys
d = json.loads(sys.stdin.readline())
print(json.dumps({r["pid"]: r["rank"] for r in d["ranks"]}))' >"$tmp/ranks"
export RANKS="$tmp/ranks" SPIED="$tmp/spied"
mkdir "$SPIED"
python3 - <<'END'
import json, os
for pid, rank in json.load(open(os.environ["RANKS"])).items():
    stack = [("<module>", "/job/train.py", 240), ("step", "/job/train.py", 211)]
    if rank == 1:
        stack += [("next", "/job/loader.py", 188),
                  ("re\x1b[31mad", "/job/\x07.py", 9)]
    else:
        stack += [("all_reduce", "/lib/c10d.py", 2501)]
    frames = [{"name": n, "filename": f, "short_filename": f, "module": None,
               "line": l, "locals": None} for n, f, l in reversed(stack)]
    path = os.path.join(os.environ["SPIED"], pid)
    json.dump([{"pid": int(pid), "thread_id": 1, "thread_name": "MainThread",
                "os_thread_id": int(pid), "active": True, "owns_gil": True,
                "frames": frames}], open(path, "w"))
    open("%s.rank%d" % (path, rank), "w")
END

# diagnose OPTION...: diagnoses, with the script in the place of tools.
diagnose() {
	PATH="$tmp/path" "$ncclstat" -i 0.2 "$@" >"$tmp/out" 2>"$tmp/err"
}

# with_stacks STATUS OPTION...: the same with this status, unless stacks are cut off.
with_stacks() {
	wanted=$1
	shift
	unless_cut_off diagnose "$@"
	[ "$status" -eq "$wanted" ] || echo "not ok $*: status $status"
}

with_stacks 2 --diagnose=json --stacks
check 'the culprit and one that waits for it are read' holds "
	len(s['processes']) == 2 and
	[p['rank'] for p in s['processes'] if p['culprit']] == [1] and
	len(s['branches']) == 3 and
	[b['frames'][0] for b in s['branches'] if b['leaves_the_others']] ==
	[{'function': 'next', 'file': '/job/loader.py', 'line': 188}]"
check 'it is said beforehand that processes pause' grep -q \
	'reading the stacks of 2 processes; each pauses' "$tmp/err"
check 'the document is as its schema says' python3 test/ui/json_schema.py \
	"$build/share/ncclstat.schema.json" diagnosis "$tmp/out"
export UNREAD=7
with_stacks 2 --diagnose=json --stacks=all
check 'all ranks are merged' holds "
	sorted(p['rank'] for p in s['processes']) == list(range(8)) and
	sorted(s['processes'][i]['rank'] for b in s['branches'] for i in
		b['processes'] if b['frames'][0]['function'] == '<module>') ==
	list(range(7)) and
	[p['tool'] for p in s['processes'] if p['rank'] == 7] == ['/proc']"
with_stacks 2 --diagnose --stacks=all
check 'the text has one tree' grep -qx '  ranks 0-6:' "$tmp/out"
check 'it marks where the culprit leaves' grep -qx \
	'    rank 1: <-- leaves the others' "$tmp/out"
check 'it has function, file and line' grep -qx '      next  loader.py:188' \
	"$tmp/out"
check 'text of others is cleaned' grep -qx '      re?\[31mad  ?.py:9' "$tmp/out"
check 'it says why a stack is of /proc' grep -q \
	'^  rank 7: by /proc: py-spy says: Error: Permission denied' "$tmp/out"
# lines_fit: whether all lines of stacks have 80 columns at most.
lines_fit() {
	sed -n '/^stacks/,$p' "$tmp/out" | grep '^ *[a-z<]' |
		grep -v 'by /proc:' | awk 'length > 80 { exit 1 }'
}
check 'lines fit into 80 columns' lines_fit
"$ncclstat" --diagnose=json -i 0.2 >"$tmp/out" 2>"$tmp/err"
check 'nothing is read unless it is asked for' holds "s is None"

# --- Stacks that are kept ---------------------------------------------------------

# kept NAME OPTION...: records stacks, and diagnoses what was recorded; what the
# recorder says is in $tmp/said.
kept() {
	file=$tmp/$1
	shift
	rm -rf "$file" "$file".*
	PATH="$tmp/path" NODE="$NCCLSTAT_DIR" "$ncclstat" --record "$file" \
		--duration 6 --stacks "$@" >"$tmp/said" 2>&1
	diagnose --diagnose=json --stacks=all "$file"*
}
unless_cut_off kept kept
check 'a recorder says that processes will pause' grep -q \
	'no rank of a job has called anything for 5 s; each process pauses' "$tmp/said"
check 'a recording has the stacks of all' holds "
	sorted(p['rank'] for p in s['processes']) == list(range(8)) and
	s['age_ns'] > 0 and
	[b['frames'][0] for b in s['branches'] if b['leaves_the_others']] ==
	[{'function': 'next', 'file': '/job/loader.py', 'line': 188}]"
check 'they are as the schema says' python3 test/ui/json_schema.py \
	"$build/share/ncclstat.schema.json" diagnosis "$tmp/out"
with_stacks 2 --diagnose "$tmp/kept"
check 'they are shown, and how old they are' grep -q \
	'^stacks of main threads, read [0-9.]*m*s before, the outermost' "$tmp/out"
check 'without --stacks nothing is said about them' test ! -s "$tmp/err"
"$ncclstat" --report="$tmp/page.html" "$tmp/kept"
check 'a report has them' grep -q '^ *next  loader.py:188$' "$tmp/page.html"
"$ncclstat" --record "$tmp/none" --duration 0.2 2>"$tmp/err"
with_stacks 2 --diagnose --stacks "$tmp/none"
check 'that a recording has none is said' grep -q 'no stacks: none were kept' \
	"$tmp/err"
with_stacks 2 --diagnose=json --stacks=all \
	--from "NCCLSTAT_DIR=$NCCLSTAT_DIR $ncclstat --stream=lines --stacks"
check 'agents of --from send them' holds "
	sorted(p['rank'] for p in s['processes']) == list(range(8)) and
	{'/job/loader.py'} == {f['file'] for b in s['branches'] if
		b['leaves_the_others'] for f in b['frames'][:1]}"

unless_cut_off kept node --hosts n1 --remote-command "$ncclstat"
check 'so do agents of a recording of nodes' holds "
	sorted(p['rank'] for p in s['processes']) == list(range(8))"

# --- The key of the live view -----------------------------------------------------

# keys OPTION...: plays the keys in $tmp/keys on a terminal; the screens that they
# save are in $tmp/out, too. Its input stays open, as script would type Ctrl-D at its
# end.
mkfifo "$tmp/fifo"
exec 9<>"$tmp/fifo"
keys() {
	rm -f "$tmp/asks" "$tmp/shows"
	TERM=xterm script -qec "stty rows 24 cols 90; PATH=$tmp/path \
		$ncclstat --view=diagnose --keys $tmp/keys $*" /dev/null \
		<&9 >"$tmp/typed" 2>"$tmp/err"
	played=$?
	cat "$tmp/asks" "$tmp/shows" >"$tmp/out" 2>/dev/null
	return "$played"
}
# The one that waits, which may be any, can be read.
unset UNREAD
if command -v script >/dev/null; then
	printf '%s\n' 'await rank 1' w 'await y/n: read stacks' \
		"save $tmp/asks" n w y 'await stacks of main threads' \
		"save $tmp/shows" q q >"$tmp/keys"
	check 'keys read stacks' unless_cut_off keys
	check 'key w asks before processes pause' grep -q \
		'^y/n: read stacks .*each pauses' "$tmp/asks"
	check 'then it shows the stacks' grep -q \
		'^      next  loader.py:188' "$tmp/shows"
	check 'and who leaves the others' grep -q \
		'^    rank 1: <-- leaves the others' "$tmp/shows"
	# Tools that hang: the view goes on, and quits once none is left.
	mv "$tmp/tools/py-spy" "$tmp/tools/fast"
	for tool in py-spy gdb eu-stack; do
		printf '#!/bin/sh\necho $$ >>"%s/hanging"\nexec sleep 600\n' \
			"$tmp" >"$tmp/tools/$tool"
		chmod +x "$tmp/tools/$tool"
	done
	installed py-spy gdb eu-stack sh sleep
	printf '%s\n' 'await rank 1' w y 'await reading the stacks' 3 \
		"save $tmp/shows" q >"$tmp/keys"
	check 'keys are played while stacks are read' keys
	check 'and work' grep -q '\[3:Comm' "$tmp/shows"
	none_hangs() {
		[ -s "$tmp/hanging" ] || return 1
		while read -r tool; do
			! grep -q sleep "/proc/$tool/comm" 2>/dev/null || return 1
		done <"$tmp/hanging"
	}
	check 'no tool outlives the view' none_hangs
	mv "$tmp/tools/fast" "$tmp/tools/py-spy"
	rm "$tmp/tools/gdb" "$tmp/tools/eu-stack"
	installed py-spy ssh sh cat sleep
	printf '%s\n' 'await rank 1' : 5 Enter 'await at 0:05' w \
		'await stacks of main threads' "save $tmp/shows" q q >"$tmp/keys"
	check 'keys show those of a recording' keys "$tmp/kept"
	check 'those of a recording need no question' grep -q \
		'^ *next  loader.py:188' "$tmp/shows"
else
	echo 'skip script is not installed'
fi

# --- A host that is late ----------------------------------------------------------

# sampled WORDS...: whether the latest text has lines like these.
sampled() {
	for pattern; do
		grep -q -- "$pattern" "$tmp/out" || return 1
	done
}

# Rank 1 never calls: it is late for ever.
with_stacks 2 --diagnose --stacks=late
check 'a rank that never calls is late at all moments' sampled \
	'^rank 1 is late in .* at 20 of 20 moments:' 'by /proc: .*py-spy'
mkdir "$tmp/slow"
shm_folder "$tmp/slow/shm"
python3 test/ui/fleet_job.py straggler 4 "$tmp/slow"
export NCCLSTAT_DIR="$tmp/slow/shm"
# Rank 1 is late for 48 ms of 400 ms.
"$build/ncclreplay" --speed 0.25 --loop 0 "$tmp/slow" 2>"$tmp/slow/replay" &
job="$job $!"
# In the place of py-spy: the process reads data at five moments of six.
cat >"$tmp/tools/py-spy" <<'END'
#!/bin/sh
[ "$*" = "dump --nonblocking --json --pid $5" ] || exit 3
read -r n <"$COUNT"
n=$((n + 1))
echo "$n" >"$COUNT"
f='{"name":"next","filename":"/job/loader.py","line":188}'
[ $((n % 6)) -ne 0 ] || f='{"name":"collect","filename":"/lib/gc.py","line":3}'
[ -z "$SLEEP" ] || sleep "$SLEEP"
printf '[{"os_thread_id":%s,"frames":[%s,
	{"name":"<module>","filename":"/job/train.py","line":211}]}]' "$5" "$f"
END
for tool in gdb eu-stack; do
	printf '#!/bin/sh\necho touched >>"%s/touched"\n' "$tmp" \
		>"$tmp/tools/$tool"
done
export COUNT="$tmp/count" SLEEP=
echo 0 >"$COUNT"
rm -f "$tmp/touched"
with_stacks 1 --diagnose --stacks=late --wait 30
check 'where a host is late most of the time is told' sampled \
	'^rank 1 is late in next (loader.py:188) at [0-9]* of [0-9]* moments:$' \
	'^      collect  gc.py:3$'
check 'it is said beforehand that nothing pauses' grep -q 'nothing pauses' \
	"$tmp/err"
# Again, four times at most, if a moment was over before py-spy had read it.
for _ in 1 2 3 4 5; do
	echo 0 >"$COUNT"
	with_stacks 1 --diagnose=json --stacks=late --wait 30
	grep -q 'py-spy takes longer than it is late' "$tmp/out" || break
done
check 'the moments are those of one process, 20 at most' holds "
	s['late'] and 0 < len(s['processes']) <= 20 and
	{(p['rank'], p['tool'], p['culprit']) for p in s['processes']} ==
	{(1, 'py-spy', True)}"
check 'they are as the schema says' python3 test/ui/json_schema.py \
	"$build/share/ncclstat.schema.json" diagnosis "$tmp/out"
pid=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["stacks"]["processes"][0]["pid"])' \
	"$tmp/out")
check 'the process runs' await runs "$pid"
check 'no tool that stops it was run' test ! -e "$tmp/touched"
echo 0 >"$COUNT"
export NODE="$NCCLSTAT_DIR"
with_stacks 1 --diagnose --stacks=late --wait 30 --records --hosts n1 \
	--remote-command "$ncclstat"
check 'ncclstat on a node samples there' sampled \
	'^rank 1 is late in next (loader.py:188) at [0-9]* of [0-9]* moments:$'
export SLEEP=0.1
echo 0 >"$COUNT"
with_stacks 1 --diagnose --stacks=late --wait 30
check 'frames of the time after the lateness do not count' sampled \
	'^rank 1 is late in ' 'by /proc: py-spy takes longer than it is late'
check 'none of them is told' sh -c "! grep loader '$tmp/out'"
# Rank 2 of the job that hangs waits for rank 1, and is late at no moment.
pid=$(python3 -c '
import json, sys
print([p for p, r in json.load(open(sys.argv[1])).items() if r == 2][0])' \
	"$RANKS")
"$ncclstat" --stacks-of="$pid:0:0" --stacks=late --dir "$tmp/job/shm" \
	>"$tmp/out" 2>"$tmp/err"
check 'a host that is not late is not sampled' grep -q \
	"^ncclstat-stack.$pid..the ranks of its machine did not see" "$tmp/out"

# --- A job in a container --------------------------------------------------------

if unshare --pid --fork --mount-proc true 2>/dev/null; then
	shm_folder "$tmp/inside"
	export NCCLSTAT_DIR="$tmp/inside"
	unshare --pid --fork --kill-child --mount-proc "$build/ncclreplay" \
		--hold "$tmp/job" 2>"$tmp/job/replay" &
	container=$!
	"$ncclstat" --diagnose --stacks=all --wait 30 -i 0.2 >"$tmp/out" \
		2>"$tmp/err"
	# Two tools name frames differently: the best one may have no time.
	check 'processes of a container are read from outside' grep -q \
		'^ .*sigsuspend' "$tmp/out"
else
	echo 'skip PID namespaces are not permitted here'
fi

usage 'requires --diagnose' --stacks --dump
usage 'without a FILE' --diagnose --stacks=late --from 'true'
usage 'without a FILE' --diagnose --stacks=late --follow -
usage 'without a FILE' --diagnose --stacks=late "$tmp/out"
usage 'without a FILE' --record "$tmp/out" --stacks=late
usage 'expects PID:START' --stacks-of=1,2
usage 'expects PID:START' --stacks-of=1:2:3,
usage 'expects culprit|all|late' --diagnose --stacks=some
