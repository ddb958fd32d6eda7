#!/bin/sh
# SPDX-License-Identifier: MIT
# --watch and --on, end to end: a job comes, hangs and dies; each change of the
# verdict is one line, and commands run once for each finding, one at a time, with
# the diagnosis on their input.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

# Programs are run elsewhere, too.
BUILD=$(cd "${BUILD:-build}" && pwd)
. test/ui/checks

# has FILE COUNT PATTERN: whether so many lines of a file are like that.
has() {
	[ "$(grep -c -- "$3" "$1")" -eq "$2" ]
}

mkdir "$tmp/job"
shm_folder "$tmp/shm"
export NCCLSTAT_DIR="$tmp/shm"
python3 test/ui/faulty_job.py missing 8 "$tmp/job"

# Each command notes when it begins and ends; the second one takes a while, the
# third one fails without reading its input.
cat >"$tmp/hook" <<'END'
#!/bin/sh
echo "begin $1" >>"$2/runs"
cat >"$2/json-$1"
env | grep '^NCCLSTAT_' | sort >"$2/variables-$1"
[ "$1" != slowly ] || sleep 1
echo "end $1" >>"$2/runs"
END
: >"$tmp/runs"
"$ncclstat" --watch -i 0.2 --on="stuck:sh $tmp/hook first $tmp" \
	--on="stuck:sh $tmp/hook slowly $tmp" \
	--on='stuck:printf "a\033[31mb\n"; exit 3' \
	--on="died:sh $tmp/hook died $tmp" \
	--on="slow:sh $tmp/hook slow $tmp" >"$tmp/out" 2>"$tmp/err" &
watch=$!
job="$job $watch"
await has "$tmp/out" 1 .
check 'without a job there is no verdict' has "$tmp/out" 1 \
	'^[0-9-]*T[0-9:]*+[0-9]* no '

"$build/ncclreplay" --hold "$tmp/job" 2>"$tmp/replay" &
player=$!
job="$job $player"
check 'a job that hangs is told' await has "$tmp/out" 1 \
	' stuck: rank 1 of faulty has not called AllReduce #4'
check 'its commands run' await has "$tmp/runs" 1 '^end slowly'
check 'a command that fails is told' await has "$tmp/err" 1 \
	'its command fails with status 3'
check 'text of a command is cleaned' has "$tmp/err" 1 ': a?\[31mb$'
# Samples in which the finding is still there.
sleep 1
check 'each has run once, one after the other' test "$(tr '\n' ' ' \
	<"$tmp/runs")" = 'begin first end first begin slowly end slowly '
check 'the verdict is not told again' has "$tmp/out" 1 ' stuck: rank 1 '
check 'the input is the diagnosis' python3 test/ui/json_schema.py \
	"$build/share/ncclstat.schema.json" diagnosis "$tmp/json-first"
for variable in 'VERDICT=rank_missing$' 'SEVERITY=stuck$' 'RANK=1$' \
	'PID=[0-9]*$' "HOST=$(hostname)\$" "DIR=$tmp/shm\$" \
	'SENTENCE=rank 1 of faulty has not called'; do
	check "a command has NCCLSTAT_${variable%%=*}" has \
		"$tmp/variables-first" 1 "^NCCLSTAT_$variable"
done

pid=$(sed -n 's/^NCCLSTAT_PID=//p' "$tmp/variables-first")
kill -KILL "$pid"
check 'a death has its command' await has "$tmp/runs" 1 '^end died'
check 'it tells of that finding' has "$tmp/variables-died" 1 \
	'^NCCLSTAT_VERDICT=rank_died$'

kill "$player"
wait "$player"
check 'the end of the job is told' await has "$tmp/out" 1 \
	' well: .*its processes have ended'
kill "$watch"
wait "$watch"
check 'a signal ends it with status 0' test $? -eq 0

shm_folder "$tmp/shm2"
export NCCLSTAT_DIR="$tmp/shm2"
"$build/ncclreplay" --hold "$tmp/job" 2>"$tmp/replay" &
job="$job $!"
# The command that runs when it is stopped ends, too.
"$ncclstat" --watch -i 0.2 --on='stuck:echo $$ >'"$tmp/pid"'; exec sleep 600' \
	>"$tmp/out" 2>"$tmp/err" &
watch2=$!
job="$job $watch2"
check 'a command begins to run' await test -s "$tmp/pid"
kill "$watch2"
wait "$watch2"
ended() {
	! kill -0 "$(cat "$tmp/pid")" 2>/dev/null
}
check 'a command that runs ends with it' await ended
# Its input may be closed from the start, as ssh -n and cron have it.
: | "$ncclstat" --watch -i 0.1 --count 3 >"$tmp/out" 2>"$tmp/err"
check '--count ends it' has "$tmp/out" 1 ' stuck: '

# --- Metrics of a watch -----------------------------------------------------------

"$ncclstat" --watch --count 1 --listen="$tmp/socket" >"$tmp/out" 2>"$tmp/err"
if ! grep -q 'built without' "$tmp/err"; then
	"$ncclstat" --watch -i 0.2 --listen="$tmp/socket" >"$tmp/out" \
		2>"$tmp/err" &
	watch3=$!
	job="$job $watch3"
	# serves PATTERN: whether a line of the metrics is like this.
	serves() {
		python3 -c '
import http.client, re, socket, sys
link = http.client.HTTPConnection("localhost", timeout=20)
link.sock = socket.socket(socket.AF_UNIX)
link.sock.connect(sys.argv[1])
link.request("GET", "/metrics")
sys.exit(not re.search(sys.argv[2], link.getresponse().read().decode(), re.M))
' "$tmp/socket" "$1" 2>"$tmp/why"
	}
	check 'a watch serves its findings' await serves \
		'^ncclstat_finding_seconds.*verdict="rank_missing"'
	check 'and goes on to tell of them' await has "$tmp/out" 1 ' stuck: '
	for killed in $(pgrep -f "ncclreplay --hold $tmp/job" | tail -n 1); do
		kill -KILL "$killed"
	done
	check 'it serves each look' await serves '^ncclstat_rank_alive.* 0$'
	kill "$watch3"
	wait "$watch3"
	check 'a signal ends it, too' test $? -eq 0
	check 'its socket is gone' test ! -e "$tmp/socket"
	check '--count ends one that listens' "$ncclstat" --watch -i 0.1 \
		--count 3 --listen="$tmp/socket" >"$tmp/out" 2>"$tmp/err"
	check 'an address that is none is said' sh -c "
		'$ncclstat' --watch --listen=here 2>'$tmp/err'
		[ \$? -eq 64 ]"
else
	echo 'skip this ncclstat was built without libmicrohttpd'
fi

# --- Beside a job ---------------------------------------------------------------

# beside COMMAND...: runs a command with a watch beside it.
beside() {
	"$ncclstat" run --watch="$tmp/file" \
		--on='stuck:echo "$NCCLSTAT_VERDICT" >"'"$tmp/told"'"' -- "$@"
}
# A shell starts processes of its own; the watch is none of its children.
beside sh -c "$build/ncclreplay --hold $tmp/job & echo \$! >$tmp/job.pid
	ps -o args= --ppid \$\$ >$tmp/children; wait" >/dev/null 2>"$tmp/err" &
beside=$!
job="$job $beside"
check 'a watch beside a job tells of it' await grep -q ' stuck: ' "$tmp/file"
check 'and runs commands' await grep -qx rank_missing "$tmp/told"
check 'it is no child of the job' has "$tmp/children" 0 -e --watch
# watches: whether a watch of this test is there.
watches() {
	pgrep -f -- "--watch=beside --on=stuck:echo .*$tmp/told" >"$tmp/watches"
}
gone() {
	! watches
}
check 'it runs as long as the job' watches
kill "$(cat "$tmp/job.pid")"
wait "$beside"
check 'it ends with the job' await gone
out=$(beside sh -c 'echo out; exit 7' 2>"$tmp/err")
check 'status and output are those of the command' test "$out $?" = 'out 7'
check 'a file that cannot be written is said' sh -c "
	'$ncclstat' run --watch=/nowhere/file -- true 2>'$tmp/err'
	[ \$? -eq 126 ] && grep -q 'nowhere/file: No such' '$tmp/err'"

usage 'requires --watch' --on=stuck:true --dump
usage 'require --listen' --watch --user-names
usage 'WHEN one of' --watch --on=well:true
usage 'WHEN one of' --watch --on=stuck:
usage 'WHEN one of' --watch --on=stuck
usage 'is no option' --watch "$tmp/out"
usage 'usage: ncclstat run' run --watch=x
usage 'usage: ncclstat run' run --on=stuck:true -- true
usage 'did you mean stuck' run --watch="$tmp/none" --on=stuk:true -- \
	touch "$tmp/ran"
check 'and the job of a mistyped hook is not started' \
	test ! -e "$tmp/ran" -a ! -e "$tmp/none"
