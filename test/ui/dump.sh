#!/bin/sh
# SPDX-License-Identifier: MIT
# The program without a terminal: exit statuses, dumps, --list and --clean, on
# synthetic jobs and on a captured job that is replayed against the plugin.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
ncclstat=$synthetic
own_segments

lines() {
	[ "$(wc -l <"$tmp/$1")" -eq "$2" ]
}

# json EXPRESSION: succeeds if the expression holds for each sample d of
# $tmp/out.
json() {
	python3 -c '
import json, sys
samples = [json.loads(line) for line in open(sys.argv[1])]
assert samples
for d in samples:
    assert eval("(" + sys.argv[2] + ")"), json.dumps(d)[:2000]
' "$tmp/out" "$1"
}

# --- No job ----------------------------------------------------------------

check 'no job: status 1' run 1
check 'no job: one line says where it looked and what to do' \
	sh -c '[ "$(wc -l <"$1/err")" -eq 1 ] && [ ! -s "$1/out" ] &&
		grep -q "$NCCLSTAT_DIR" "$1/err" &&
		grep -q "ncclstat-plugin(7)" "$1/err"' sh "$tmp"
check 'no job: --dump=json has status 1' run 1 --dump=json
check 'no job: --dump=json prints an empty list' json 'd["ranks"] == []'
check 'no job: --list has status 1' run 1 --list
check 'no directory: status 1' run 1 --dir "$tmp/none"
check 'no directory: it is named' grep -q "$tmp/none: No such" "$tmp/err"
check 'no segment: reported, status 1' \
	sh -c 'echo x >"$1/ncclstat.1.1.0"' sh "$NCCLSTAT_DIR"
check 'garbage: status 4' run 4
check 'garbage: the reason is printed' \
	grep -q "^not readable: $NCCLSTAT_DIR/ncclstat.1.1.0: " "$tmp/out"
check 'garbage: --dump=json has status 4' run 4 --dump=json
check 'garbage: JSON has path and reason' \
	json 'd["unreadable"][0]["path"].endswith("1.1.0") and
		d["unreadable"][0]["reason"]'
rm "$NCCLSTAT_DIR/ncclstat.1.1.0"

# --- Usage -----------------------------------------------------------------

check 'wrong option: status 64' run 64 --no-such-option
check 'wrong option: one line on standard error' \
	sh -c '[ "$(wc -l <"$1/err")" -eq 1 ] && [ ! -s "$1/out" ]' sh "$tmp"
check '--help: status 0' run 0 --help
check '--version: status 0' run 0 --version
check '--version: name and number' \
	grep -qx 'ncclstat [0-9]*\.[0-9]*\.[0-9]*' "$tmp/out"

# --- A synthetic job -------------------------------------------------------

check 'without a terminal: prints a dump' run 0 --synthetic 8x2
check 'without a terminal: nothing on standard error' [ ! -s "$tmp/err" ]
check 'text: begins with a summary' \
	sh -c 'head -n 1 "$1/out" | grep -q "^ncclstat: host .*, 12 ranks, time "' \
	sh "$tmp"
check 'text: has all tables' \
	sh -c '[ "$(grep -c "^\(RANK\|COMM\) " "$1/out")" -eq 8 ]' sh "$tmp"
check '--view: prints one table' run 0 --synthetic 8x2 --dump --view proxy
check '--view: prints no other table' \
	sh -c '[ "$(grep -c "^\(RANK\|COMM\) " "$1/out")" -eq 1 ]' sh "$tmp"
check 'text: each table has a title' \
	sh -c '"$1" --synthetic 8x2 --dump -n 1 | grep -cx "[a-z]*:" | grep -qx 8' \
	sh "$ncclstat"
# fits WIDTH: succeeds if no line of the output is wider, and one nearly is.
fits() {
	awk -v width="$1" 'length > most { most = length }
		END { exit most > width || most < width - 20 }' "$tmp/out"
}
check 'text: 120 columns in a pipe' run 0 --synthetic 8x2 --dump
check 'text: no line is wider' fits 120
check 'text: says that columns are left out' \
	grep -q '^[0-9]* columns do not fit: ' "$tmp/out"
for width in 80 200; do
	export COLUMNS=$width
	check "text: COLUMNS=$width" run 0 --synthetic 8x2 --dump
	check "text: no line is wider than $width" fits "$width"
	check "text: names communicators in $width" \
		grep -q '^RANK  COMM .* DIR ' "$tmp/out"
done
unset COLUMNS
check 'a column of another view is refused' \
	run 64 --synthetic 2x1 --dump --view=ranks --columns=RANK,CH
check 'an unknown column beside a known one is refused' \
	run 64 --synthetic 2x1 --dump --columns=RANK,OLDESTT
check 'an unknown column: the nearest is named' \
	grep -q "no column 'OLDESTT'; did you mean OLDEST?" "$tmp/err"
check 'WAIT is another name of WAITS-FOR' \
	run 0 --synthetic 2x1 --dump --view=ranks --columns=RANK,WAIT
check 'WAIT has the title WAITS-FOR' grep -q '^RANK  WAITS-FOR$' "$tmp/out"
echo q >"$tmp/keys"
check '--keys without a terminal is refused' \
	run 64 --synthetic 2x1 --keys "$tmp/keys"
check 'text: there are rates' run 0 --synthetic 2x1 --dump --view=ranks \
	--columns=RANK,SENDB/s
check 'text: of each rank' sh -c '
	[ "$(sed "1,/^RANK/d" "$1/out" | grep -c "^ *[0-9]  *[0-9.]*[kMG]$")" -ge 4 ]' \
	sh "$tmp"
check 'text: one sample has no rates' sh -c '
	"$1" --synthetic 2x1 --dump -n 1 -v ranks --columns=RANK,SENDB/s |
	grep -q "^   0  *-$"' sh "$ncclstat"
check '--sort and --columns expect tables' \
	run 64 --synthetic 2x1 --dump=json --sort=RANK
check '--count: status 0' run 0 --synthetic 2x1 --dump -n 3 -i 0.1
check '--count: prints that many samples' \
	sh -c '[ "$(grep -c ^ncclstat: "$1/out")" -eq 3 ]' sh "$tmp"
check 'ndjson: status 0' run 0 --synthetic 8x2 --dump=json -n 3 -i 0.1
check 'ndjson: one line for each sample' lines out 3
check 'ndjson: each is an object of schema 3' \
	json 'd["schema"] == 3 and len(d["ranks"]) == 12'
check 'ndjson: time advances' \
	python3 -c '
import json, sys
times = [json.loads(l)["monotonic_ns"] for l in open(sys.argv[1])]
assert times == sorted(set(times)), times' "$tmp/out"
check 'ndjson: each state of the schema is there' \
	json '{r["state"] for r in d["ranks"]} ==
		{"alive", "dead", "finished"}'
printf '# made up\nwor* training\n' >"$tmp/aliases"
check '--aliases: status 0' run 0 --synthetic 8x2 --dump --aliases "$tmp/aliases"
check '--aliases: the name is used' grep -q ' training ' "$tmp/out"
check '--aliases: the former name is not used' sh -c '! grep -q " world " "$1"' - "$tmp/out"
printf 'tp x\nworld\n' >"$tmp/aliases"
check '--aliases: a line without a name: status 64' \
	run 64 --synthetic 8x2 --dump --aliases "$tmp/aliases"
check '--aliases: the error names the line' grep -q "aliases:2: " "$tmp/err"
check '--aliases: no such file: status 64' \
	run 64 --synthetic 8x2 --dump --aliases "$tmp/none"
check 'C locale: status 0' env LC_ALL=C "$ncclstat" --synthetic 8x2 --dump
check 'C locale: ASCII only' \
	sh -c '! LC_ALL=C grep -q "[^ -~]" "$1/log"' sh "$tmp"
check 'list: lists a synthetic job' run 0 --synthetic 4x1 --list
check 'list: titles and a line for each rank' lines out 9

# --- Where the output goes -------------------------------------------------

check 'closed pipe: status 0 and no message' \
	sh -c '{ "$1" --synthetic 64x32 --dump -i 0.1; echo $? >"$2/status"; } \
		2>"$2/err" | head -n 1 >/dev/null
		[ "$(cat "$2/status")" -eq 0 ] && [ ! -s "$2/err" ]' \
	sh "$ncclstat" "$tmp"
if [ -c /dev/full ]; then
	check 'full disk: status 1 and a message' \
		sh -c '! "$1" --synthetic 2x1 --dump >/dev/full 2>"$2/err" &&
			grep -q "No space" "$2/err"' sh "$ncclstat" "$tmp"
fi

# --- A captured job --------------------------------------------------------

# wait_for COMMAND...: waits until the command succeeds; shows the output of the
# last try.
wait_for() {
	for _ in $(seq 600); do
		! "$@" >/dev/null 2>&1 || return 0
		kill -0 "$job" 2>/dev/null || break
		sleep 0.1
	done
	"$@"
}

all_called() {
	run 0 --dump=json &&
		json 'sum(r["events"].get("proxy_step", 0)
			for r in d["ranks"]) == 1524'
}

"$replay" --speed max --hold \
	test/captures/nccl2.23.4-v1-mix-killed 2>"$tmp/replay" &
job=$!
check 'job: found, with all captured calls' wait_for all_called
# The job stays, but reports nothing new: it is silent after ten seconds.
check 'job: both ranks are alive' \
	json '{r["state"] for r in d["ranks"]} <= {"alive", "silent"}'
check 'job: values that API 1 lacks are unknown' \
	json 'd["ranks"][0]["api_version"] == 1 and
		d["ranks"][0]["communicator"]["nranks"] is None and
		d["ranks"][0]["proxy"]["state"] == "unknown" and
		d["ranks"][0]["functions"][0]["calls"] is None'
check 'job: an operation was in flight when it was killed' \
	json 'd["ranks"][1]["in_flight"][0]["function"] == "AllReduce"'
check 'job: --list has both ranks' run 0 --list
check 'job: --list has no other rank' lines out 3
pid=$(awk 'NR == 2 { print $1 }' "$tmp/out")
check '--pid: shows one process' run 0 --dump=json --pid "$pid"
check '--pid: shows no other process' \
	json "[r['pid'] for r in d['ranks']] == [$pid]"
check '--pid: no such job: status 1' run 1 --pid 1
check '--clean: status 0 while all processes live' run 0 --clean
check '--clean: keeps the segments of living processes' \
	sh -c '[ "$(find "$NCCLSTAT_DIR/" -type f | wc -l)" -eq 4 ]'
check 'dead: one rank is killed' kill -KILL "$pid"

one_is_dead() {
	run 0 --dump=json &&
		json 'sorted(r["state"] for r in d["ranks"]) in
			(["alive", "dead"], ["dead", "silent"])'
}
check 'dead: the dead rank is shown with its last state' wait_for one_is_dead
check '--clean --retain: status 0' run 0 --clean --retain=1h,1G
check '--clean --retain: says what it keeps' \
	grep -q "^kept $NCCLSTAT_DIR/ncclstat\.$pid\..*B, of a process that is gone" \
	"$tmp/out"
check '--clean: status 0' run 0 --clean
check '--clean: says what it removed' \
	grep -qx "removed $NCCLSTAT_DIR/ncclstat\.$pid\..*" "$tmp/out"
check '--clean: one segment is left' \
	sh -c '[ "$(find "$NCCLSTAT_DIR/" -type f | wc -l)" -eq 2 ]'
exit "$failed"
