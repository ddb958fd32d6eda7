#!/bin/sh
# SPDX-License-Identifier: MIT
# Exports of recorded jobs: traces have the contents of the recording, as read
# by the trace processor on which Perfetto's own views run; lines of JSON and
# tables can be read and agree; errors are reported.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
processor=$build/trace_processor

says() {
	grep -q "$1" "$tmp/err" || { cat "$tmp/err"; return 1; }
}

# record_once NAME: records a job; succeeds if nothing was lost.
record_once() {
	record_capture "$1" "$1"
	! grep -q ' lost' "$tmp/$1.err"
}

# record NAME: records the captured job of this name into $tmp/NAME.ncs. Tries
# again if records were lost, as on a busy machine: then counts would differ.
record() {
	record_once "$1" || record_once "$1" || record_once "$1"
}

# export_all NAME: exports a recording in each format, as $tmp/NAME.FORMAT.
export_all() {
	for format in perfetto chrome ndjson csv; do
		"$ncclstat" --export=$format "$tmp/$1.ncs" \
			-o "$tmp/$1.$format" || return
	done
}

# dump_looks RECORDING: prints the states of each half second, and the last one.
dump_looks() {
	for at in $(seq 0.5 0.5 60); do
		"$ncclstat" --dump=json --at="$at" "$1" 2>/dev/null || break
	done
	"$ncclstat" --dump=json "$1"
}

# count NAME [TABLE]: compares the exports of a recording with counts of its lines.
count() {
	dump_looks "$tmp/$1.ncs" >"$tmp/$1.json" || return
	python3 test/trace_processor/count.py "$processor" "$tmp/$1.ncs" \
		"$tmp/$1.json" "$tmp/$1.ndjson" "${2:-$tmp/$1.csv}" \
		"$tmp/$1.perfetto" "$tmp/$1.chrome" >"$tmp/counted"
	counted=$?
	sed "s/^ok/ok $1/" "$tmp/counted"
	return "$counted"
}

# --- Contents --------------------------------------------------------------

# A job without times from the stream and without proxy operations.
simulate() {
	mkdir "$tmp/simulated"
	"$build/ncclsimulate" -h 1 -r 4 -n 40 "$tmp/simulated" &&
		mv "$tmp/simulated/host0.ncclstat" "$tmp/simulated.ncs"
}

captures='net-v5-mix net-v5-ddp8 nvlink-v5-mix8'
for name in $captures; do
	record "$name" &
done
wait
for name in $captures; do
	check "$name is recorded" test -s "$tmp/$name.ncs"
	check "$name is exported" export_all "$name"
done
check "a job of kernels alone is simulated" simulate
check "simulated is exported" export_all simulated
if [ -e "$processor/trace_processor.wasm" ] && command -v node >/dev/null; then
	for name in $captures; do
		count "$name" || echo "not ok $name: counting failed"
	done
	# Its states have no times, of which a table is made.
	count simulated - || echo "not ok simulated: counting failed"
else
	echo "ok the trace processor # SKIP test/setup.sh check could not get it"
fi

check "some bandwidths are known" python3 -c '
import csv, sys
assert any(row["busbw_gbs"] for path in sys.argv[1:]
           for row in csv.DictReader(open(path, newline="")))
' "$tmp"/*.csv

# --- Outputs ---------------------------------------------------------------

recording=$tmp/net-v5-mix.ncs
check "an export goes to standard output" run 0 --export=ndjson "$recording"
check "each line is an object" python3 -c '
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len({line["pid"] for line in lines}) == 2
' "$tmp/out"
check "- is standard output" sh -c '
"$1" --export=perfetto "$2" -o - | cmp - "$3"' - "$ncclstat" "$recording" \
	"$tmp/net-v5-mix.perfetto"
check "a chrome trace is JSON" python3 -m json.tool "$tmp/net-v5-mix.chrome" /dev/null
check "a part of the time has fewer lines" sh -c '
all=$("$1" --export=ndjson "$2" | wc -l)
part=$("$1" --export=ndjson "$2" --since 0.1 | wc -l)
rest=$("$1" --export=ndjson "$2" --until 0.099999999 | wc -l)
[ "$part" -lt "$all" ] && [ $((part + rest)) -eq "$all" ]' - \
	"$ncclstat" "$recording"
pid=$(python3 -c '
import json, sys
print(json.loads(open(sys.argv[1]).readline())["pid"])' "$tmp/out")
check "--pid exports one process" run 0 --export=csv --pid "$pid" "$recording"
check "--pid exports no other process" sh -c '
[ "$(cut -d, -f6 "$1" | sort -u | wc -l)" -eq 2 ]' - "$tmp/out"
echo "* mine" >"$tmp/aliases"
check "--aliases names communicators" sh -c '
"$1" --export=csv --aliases "$2" "$3" | grep -q ^mine,' - \
	"$ncclstat" "$tmp/aliases" "$recording"

# --- A choice of columns and events -----------------------------------------

check "--events and --columns choose lines and keys" run 0 --export=ndjson \
	--events=coll,kernel_ch --columns=rank,event,duration_ns "$recording"
check "the lines have these events and keys, with their values" python3 -c '
import json, sys
chosen = [json.loads(line) for line in open(sys.argv[1])]
every = [json.loads(line) for line in open(sys.argv[2])]
keys = ("event", "rank", "duration_ns")
assert len({line["event"] for line in chosen}) == 2
assert chosen == [{key: line[key] for key in keys} for line in every
                  if line["event"] in ("coll", "kernel_ch")]
' "$tmp/out" "$tmp/net-v5-mix.ndjson"
check "'-' leaves events and keys out" run 0 --export=ndjson \
	--events=-proxy_step,-kernel_ch --columns=-host,-communicator \
	"$recording"
check "the lines have all others" python3 -c '
import json, sys
every = [json.loads(line) for line in open(sys.argv[2])]
assert [json.loads(line) for line in open(sys.argv[1])] == [
    {key: value for key, value in line.items()
     if key not in ("host", "communicator")} for line in every
    if line["event"] not in ("proxy_step", "kernel_ch")]
' "$tmp/out" "$tmp/net-v5-mix.ndjson"
check "a record with none of the keys has no line" run 0 --export=ndjson \
	--columns=send_wait_ns "$recording"
check "each line has the key" sh -c '
[ -s "$1" ] && ! grep -qv "^{\"send_wait_ns\":[0-9]*}$" "$1"' - "$tmp/out"
# sorted FILE CONDITION: whether a condition holds for the rows of a table.
sorted() {
	python3 - "$1" "$2" <<'PY'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
assert len(rows) > 3 and eval(sys.argv[2]), rows
PY
}
check "--sort sorts a table by columns" run 0 --export=csv \
	--sort=function,-size_bytes,rank "$recording"
check "its rows are in that order" sorted "$tmp/out" \
	'rows == sorted(rows, key=lambda r: (r["function"],
		r["size_bytes"] == "", int(r["size_bytes"] or 0), int(r["rank"])))'
check "measures are sorted from the largest down" run 0 --export=csv \
	--sort=busbw_gbs --columns=busbw_gbs,operations "$recording"
check "what is unknown is last" sorted "$tmp/out" \
	'(lambda b: b == sorted(b, key=lambda x: (x == "", -float(x or 0))))(
		[r["busbw_gbs"] for r in rows])'
check "--columns chooses columns of a table" run 0 --export=csv \
	--columns=rank,function,size_bytes "$recording"
check "the table has these, in its own order" python3 -c '
import csv, sys
keys = ("rank", "function", "size_bytes")
chosen, every = (list(csv.DictReader(open(path, newline="")))
                 for path in sys.argv[1:])
assert tuple(chosen[0]) == keys and len(chosen) > 1
assert chosen == [{key: row[key] for key in keys} for row in every]
' "$tmp/out" "$tmp/net-v5-mix.csv"

# refused ERROR ARGUMENT...
refused() {
	text=$1
	shift
	run 64 "$@" && grep -q -e "$text" "$tmp/err"
}

check "a column that CSV lacks is refused, with a list" refused \
	"'event' is no column of --export=csv; they are communicator, .*busbw_gbs" \
	--export=csv --columns=event "$recording"
check "a key that lines lack is refused, with a list" refused \
	"'COMM' is no key of --export=ndjson; they are event, .*slow" \
	--export=ndjson --columns=COMM "$recording"
check "an unknown event is refused, with a list" refused \
	"'colls' is no event; did you mean coll? They are group, coll, .*mark" \
	--export=ndjson --events=colls "$recording"
check "a mistyped column to sort by gets the nearest one" refused \
	'did you mean busbw_gbs?' --export=csv --sort=busbw_gb "$recording"
check "a column of a view is none of a table" refused 'is no column of' \
	--export=csv --sort=BUSGB/s "$recording"
check "other exports have no order to choose" refused \
	'--sort requires --export=csv' --export=ndjson --sort=rank "$recording"
check "no columns at all are refused" refused 'leaves nothing to write' \
	--export=ndjson --columns=rank,-rank "$recording"
check "a trace has no columns to choose" refused 'requires --export=ndjson or' \
	--export=perfetto --columns=rank "$recording"
check "a table has no events to choose" refused \
	'--events requires --export=ndjson' --export=csv --events=coll \
	"$recording"
check "a name of an export is no title of a view" refused \
	"--columns expects .* titles of columns, not 'event'" --columns=event

# --- Errors ----------------------------------------------------------------

check "the recording itself is not overwritten" run 64 --export=csv "$recording" \
	-o "$recording"
check "the error says so" says "the recording itself"
mkdir "$tmp/folder"
ln "$recording" "$tmp/folder/one"
check "a folder is exported as its recordings are" sh -c '
"$1" --export=ndjson "$3/folder" >"$3/of-folder" &&
"$1" --export=ndjson "$2" | cmp - "$3/of-folder"' - "$ncclstat" "$recording" "$tmp"
check "nor is one in the folder that is read" run 64 --export=csv "$tmp/folder" \
	-o "$tmp/folder/one"
check "an output that cannot be opened is an error" run 1 --export=csv "$recording" \
	-o "$tmp/none/out"
check "the error has the reason" says "No such file"
check "a full disk is an error" sh -c '
"$1" --export=chrome "$2" -o /dev/full 2>"$3/err"
[ $? -eq 1 ] && grep -q "No space left" "$3/err"' - "$ncclstat" "$recording" \
	"$tmp"
check "a closed pipe is no error" sh -c '
"$1" --export=ndjson "$2" 2>&1 >&3 | head -c 99 >"$3"; [ ! -s "$3" ]' - \
	"$ncclstat" "$recording" "$tmp/head" 3>/dev/null
check "a trace is not written to a terminal" sh -c '
TERM=xterm python3 -c "
import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) >> 8)
" "$1" --export=perfetto "$2" >"$3/tty" </dev/null
[ $? -eq 64 ] && grep -q "not for a terminal" "$3/tty"' - "$ncclstat" \
	"$recording" "$tmp"
