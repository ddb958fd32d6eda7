#!/bin/sh
# SPDX-License-Identifier: MIT
# Two jobs on one node, told apart by their labels: in dumps, lists, the live
# view's filter, recordings, and by --job.
# shellcheck source=test/ui/terminal
. "$(dirname "$0")/terminal"

replay=$build/ncclreplay
plugin=$build/libnccl-profiler-ncclstat.so
if [ ! -x "$replay" ] || [ ! -e "$plugin" ]; then
	echo "ncclreplay or the plugin has not been built"
	exit 77
fi
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID FLUX_JOB_ID RANK POD_NAME

# start_job CAPTURE VARIABLE=VALUE ...
start_job() {
	capture=$1
	shift
	env "$@" "$replay" --plugin "$plugin" --loop 0 \
		"test/captures/$capture" >"$tmp/replay.log" 2>&1 &
	background="$background $!"
}

# jobs_of ARGUMENT ...: prints the jobs of the ranks in the JSON of a dump.
jobs_of() {
	"$ncclstat" --dump=json "$@" 2>"$tmp/err" | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(" ".join(sorted({(r["job"] or {}).get("job_id", "-")
                       for r in d["ranks"]})))'
}

start_job net-v5-mix SLURM_JOB_ID=4711 SLURM_STEP_ID=0 RANK=3 WORLD_SIZE=8
start_job net-v5-mix8 PBS_JOBID=12.srv HOSTNAME=llm-0 \
	KUBERNETES_SERVICE_HOST=10.0.0.1 POD_NAMESPACE=prod
# are_jobs IDS ARGUMENT...: whether these are the jobs of a dump.
are_jobs() {
	ids=$1
	shift
	[ "$(jobs_of "$@")" = "$ids" ]
}
soon are_jobs '12.srv 4711'
verdict 'JSON tells the job of each rank' $?

"$ncclstat" --dump | head -1 | grep -q 'ranks of 2 jobs,'
verdict 'the heading of a dump says that there are two jobs' $?
"$ncclstat" --list | awk 'NR > 1 { print $5 }' | sort -u | tr '\n' ' ' |
	grep -qx '12.srv 4711 '
verdict '--list has the job of each rank' $?

for job in 4711 4711.0 '47*'; do
	[ "$(jobs_of "--job=$job")" = 4711 ] || echo "--job=$job fails"
done >"$tmp/wrong"
for job in 12.srv llm-0 prod/llm-0; do
	[ "$(jobs_of "--job=$job")" = 12.srv ] || echo "--job=$job fails"
done >>"$tmp/wrong"
cat "$tmp/wrong"
[ ! -s "$tmp/wrong" ]
verdict '--job chooses by id, step, pattern, pod and namespace' $?

"$ncclstat" --dump --job=99 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q "no process of job '99'" "$tmp/err"
verdict 'a job that is not there is said not to be there, status 1' $?
"$ncclstat" --list --job=99 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q "job '99'" "$tmp/err"
verdict '--list says so, too' $?
"$ncclstat" --set=sample=8 --job=99 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 1 ] && grep -q "job '99'" "$tmp/err"
verdict '--set says so, too' $?
"$ncclstat" --clean --job=4711 >"$tmp/out" 2>"$tmp/err"
[ $? -eq 64 ] && grep -q -- '--clean cannot be combined with' "$tmp/err"
verdict '--clean takes no --job' $?

"$ncclstat" --set=sample=8 --job=4711 >"$tmp/out" 2>"$tmp/err" &&
	grep -q 'asked 2 processes' "$tmp/out"
verdict '--set asks the processes of one job' $?

"$ncclstat" --record="$tmp/both" --duration=3 2>"$tmp/err" &&
	"$ncclstat" --record="$tmp/one" --duration=1 --job=4711 2>"$tmp/err" &&
	[ "$(jobs_of "$tmp/both")" = '12.srv 4711' ] &&
	[ "$(jobs_of "$tmp/one")" = 4711 ]
verdict 'labels are recorded, and --record takes --job' $?
[ "$(jobs_of --job=12.srv "$tmp/both")" = 12.srv ]
verdict '--job chooses in a recording' $?
"$ncclstat" --list --job=4711 "$tmp/both" | grep -q ', 2 ranks$'
verdict '--list of a recording takes --job' $?
"$ncclstat" --export=csv --job=4711 "$tmp/both" >"$tmp/some" 2>"$tmp/err" &&
	"$ncclstat" --export=csv "$tmp/both" >"$tmp/all" 2>"$tmp/err" &&
	[ "$(wc -l <"$tmp/some")" -gt 1 ] &&
	[ "$(wc -l <"$tmp/some")" -lt "$(wc -l <"$tmp/all")" ]
verdict '--export takes --job' $?
"$ncclstat" --critical-path --job=4711 "$tmp/both" >"$tmp/out" 2>"$tmp/err" &&
	! "$ncclstat" --critical-path --job=99 "$tmp/both" >"$tmp/out" \
		2>"$tmp/err" && grep -q "no process of job '99'" "$tmp/err"
verdict '--critical-path takes --job' $?

open 160x30 "exec $ncclstat --interval 0.2"
sees 'ranks 10/10 of 2 jobs' && sees '12.srv' && sees '4711'
verdict 'the title says that there are two jobs' $?
press '\' 'job_id=4711' Enter
sees 'filter: job_id=4711' && sees 'rows 2/10' && misses '12.srv'
verdict 'the filter finds labels' $?
press End
sees 'job 4711.0, process 3 of 8'
verdict "a rank's line names its job" $?

close

# --- Every variable, with hostile values ---------------------------------------

for job in LSB_JOBID=71 FLUX_JOB_ID=f72Xy; do
	start_job net-v5-mix "$job"
	id=${job#*=}
	lists_both() {
		[ "$("$ncclstat" --list 2>"$tmp/err" |
			awk -v id="$id" '$5 == id' | wc -l)" -eq 2 ]
	}
	soon lists_both && are_jobs "$id" --job="$id"
	verdict "--list and --job take the id in ${job%%=*}" $?
done

# A job in whose environment each variable of the table has a value of its own with
# a long tail of control characters and bytes that are no UTF-8.
cat >"$tmp/hostile.py" <<'PY'
import os, re, sys
table = open("include/ncclstat/tables/job_labels.def").read()
table = table[table.index("#define NCS_JOB_VARIABLES"):]
for variable, label in re.findall(r'X\("(\w+)", (\w+), ""\)', table):
    os.environb[variable.encode()] = (b"v-" + label.lower().encode() +
        b"\x1b[31m\n\xff\xc3" + b"A" * 65000)
os.execv(sys.argv[1], sys.argv[1:])
PY
python3 "$tmp/hostile.py" "$replay" --plugin "$plugin" --loop 0 \
	test/captures/net-v5-mix >"$tmp/replay.log" 2>&1 &
background="$background $!"
cat >"$tmp/hostile_check.py" <<'PY'
import json, re, sys
table = open("include/ncclstat/tables/job_labels.def").read()
names = re.findall(r'X\(\w+, "(\w+)",', table)
data = sys.stdin.buffer.read()
text = data.decode("utf-8")                  # what is no UTF-8 was replaced
assert "\x1b" not in text
jobs = [r["job"] for r in json.loads(text)["ranks"] if r["job"]
        and r["job"].get("job_id", "").startswith("v-job_id")]
assert len(jobs) == 2, len(jobs)
for job in jobs:
    missing = [n for n in names if not job.get(n, "").startswith("v-" + n)]
    assert not missing, missing
    for name in names:
        assert len(job[name].encode()) < 300, (name, len(job[name]))
        assert not re.search(r"[\x00-\x1f\x7f]", job[name]), name
PY
# clean ARGUMENT...: whether all labels are there, bounded and clean.
clean() {
	"$ncclstat" --dump=json "$@" 2>"$tmp/err" |
		python3 "$tmp/hostile_check.py" 2>"$tmp/wrong"
}
soon clean '--job=v-job_id*'
is_clean=$?
tail -n 1 "$tmp/wrong"
[ $is_clean -eq 0 ]
verdict 'hostile values of all variables are bounded and clean in JSON' $?
"$ncclstat" --record="$tmp/hostile" --duration=1 '--job=v-job_id*' \
	2>"$tmp/err" && clean "$tmp/hostile"
verdict 'and in a recording' $?
"$ncclstat" --list >"$tmp/out" 2>"$tmp/err" &&
	"$ncclstat" --dump '--job=v-job_id*' >>"$tmp/out" 2>>"$tmp/err" &&
	grep -q 'v-array_job' "$tmp/out" &&
	! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177\377]')" "$tmp/out"
verdict 'and in lists and tables' $?
finish
