#!/bin/sh
# SPDX-License-Identifier: MIT
# Tables of --export=parquet: each row is what lines of JSON and dumps say of the
# same recording, as read by a reader of the format that shares no code with the
# program, and by DuckDB; also where names are hostile, tables empty and
# recordings damaged. The SQL that is installed finds what is known of a job.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
case $build in
/*) duckdb=$build/duckdb ;;
*) duckdb=$PWD/$build/duckdb ;;
esac

says() {
	grep -q -e "$1" "$tmp/err" || { cat "$tmp/err"; return 1; }
}

# compare NAME DUMP ARGUMENT...: exports recordings as $tmp/NAME.tables and
# $tmp/NAME.ndjson and compares the two, and a dump if DUMP is "dump".
compare() {
	name=$1
	dump=$2
	shift 2
	"$ncclstat" --export=parquet -o "$tmp/$name.tables" "$@" \
		2>"$tmp/$name.said" &&
		"$ncclstat" --export=ndjson -o "$tmp/$name.ndjson" "$@" \
			2>/dev/null || {
		echo "not ok $name is exported"
		cat "$tmp/$name.said"
		return
	}
	set --
	if [ "$dump" = dump ]; then
		"$ncclstat" --dump=json "$tmp/$name.ncs" >"$tmp/$name.json"
		set -- "$tmp/$name.json"
	fi
	python3 test/parquet/compare.py "$tmp/$name.tables" \
		"$tmp/$name.ndjson" "$@" | sed "s/^ok/ok $name/"
}

# --- Contents --------------------------------------------------------------

# A live look at the end of one of them has no records of it any more.
# One after the other, so that they are played in time.
for capture in net-v5-mix net-v5-ddp8; do
	record_capture $capture $capture
done
record_capture nvlink-v5-mix8 nvlink-v5-mix8 12
for capture in net-v5-mix net-v5-ddp8 nvlink-v5-mix8; do
	compare $capture dump "$tmp/$capture.ncs"
done

# rows TABLE FOLDER: prints the number of a table's rows.
rows() {
	python3 -c '
import glob, sys
sys.path.insert(0, "test/parquet")
import reader
print(sum(reader.read(path).rows for path in
          glob.glob(f"{sys.argv[2]}/*.{sys.argv[1]}.parquet")))' "$@"
}

check "a job without a network has a table of steps without rows" sh -c '
[ "$1" -eq 0 ] && [ "$2" -gt 0 ]' - "$(rows steps "$tmp/nvlink-v5-mix8.tables")" \
	"$(rows operations "$tmp/nvlink-v5-mix8.tables")"

# Two pods of one machine, as Kubernetes starts them.
if unshare --uts true 2>/dev/null; then
	shm_folder "$tmp/pods"
	export NCCLSTAT_DIR="$tmp/pods"
	for pod in 0 1; do
		SLURM_JOB_ID=4711 NODE_NAME=gpu-7 POD_NAME=train-$pod \
			unshare --uts sh -c 'hostname "$POD_NAME"; exec "$@"' - \
			"$replay" --hold \
			"test/captures/net-v5-mix/rank$pod.calllog.xz" \
			>/dev/null 2>&1 &
		job="$job $!"
	done
	check 'two pods run' await there_are 2
	run 0 --record="$tmp/pods.ncs" --duration=2
	kill $job
	wait $job
	job=
	unset NCCLSTAT_DIR
	compare pods none "$tmp/pods.ncs"
	check 'each rank has the names of its pod, its node and its job' \
		python3 -c '
import glob, sys
sys.path.insert(0, "test/parquet")
import reader
path, = glob.glob(sys.argv[1] + "/*.operations.parquet")
rows = reader.read(path).columns
sys.exit(set(zip(rows["rank"], rows["host"], rows["node"], rows["job_id"])) !=
         {(0, "train-0", "gpu-7", "4711"), (1, "train-1", "gpu-7", "4711")})
' "$tmp/pods.tables"
fi

mkdir "$tmp/sim"
"$build/ncclsimulate" -h 4 -r 2 -n 40 -l 5:2000 "$tmp/sim" >/dev/null
compare simulated none "$tmp"/sim/host*.ncclstat
check "there are files for each of four hosts" sh -c '
[ "$(ls "$1" | cut -d. -f1 | sort -u | wc -l)" -eq 4 ]' - "$tmp/simulated.tables"
compare part none "$tmp"/sim/host*.ncclstat --since 0.1 --until 0.3
check "a part of the time has fewer rows" \
	test "$(rows steps "$tmp/part.tables")" -lt \
	"$(rows steps "$tmp/simulated.tables")"
pid=$(python3 -c '
import json, sys
print(json.loads(open(sys.argv[1]).readline())["pid"])' "$tmp/simulated.ndjson")
compare process none "$tmp"/sim/host*.ncclstat --pid "$pid"

# --- Hostile names ---------------------------------------------------------

printf '* \033[31m"; DROP TABLE\\\377 <é>,=1\n' >"$tmp/aliases"
compare hostile none "$tmp/net-v5-mix.ncs" --aliases "$tmp/aliases"
check "a communicator's name is clean UTF-8" sh -c '
grep -q "DROP TABLE" "$1" && ! grep -q "$(printf "\033")" "$1"' - \
	"$tmp/hostile.ndjson"
if unshare --uts true 2>/dev/null; then
	shm_folder "$tmp/host"
	NCCLSTAT_DIR="$tmp/host" unshare --uts sh -c '
python3 -c "import socket; socket.sethostname(b\"../up/\xff\\\"x\x27 \n\")"
"$1" --record "$2" 2>"$4" &
until grep -q "waiting for a job" "$4" || ! kill -0 $!; do
	sleep 0.1
done
"$3" --speed 5 test/captures/net-v5-mix >/dev/null 2>&1
wait' - "$ncclstat" "$tmp/host.ncs" "$build/ncclreplay" "$tmp/host.said"
	rm "$tmp/host"
	compare host dump "$tmp/host.ncs"
	check "a host's name leads to no other folder" \
		test -s "$tmp/host.tables/_._up___x___.steps.parquet"
else
	echo "ok a host's name leads to no other folder # SKIP no permission to" \
		"rename a host"
fi

# --- Damage ----------------------------------------------------------------

python3 - "$tmp/net-v5-ddp8.ncs" "$tmp/damaged.ncs" "$tmp/cut.ncs" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
open(sys.argv[3], "wb").write(data[:len(data) * 2 // 3])
for at in range(len(data) // 3, len(data), len(data) // 9):
    data[at:at + 32] = b"\xff" * 32
open(sys.argv[2], "wb").write(data)
END
compare damaged none "$tmp/damaged.ncs"
check "what is missing is said" grep -q \
	'damaged chunks of the recording, whose contents are missing: [1-9]' \
	"$tmp/damaged.said"
"$ncclstat" --diagnose "$tmp/damaged.ncs" >"$tmp/out" 2>"$tmp/err"
check "a diagnosis says it, too" grep -q \
	'^not checked: [1-9][0-9]* damaged chunks of the recording$' "$tmp/out"
compare cut none "$tmp/cut.ncs"

# --- Errors ----------------------------------------------------------------

recording=$tmp/net-v5-mix.ncs
check "tables need a folder" run 64 --export=parquet "$recording"
check "the error says what to give" says '--output=DIR'
check "a file is no folder" run 64 --export=parquet "$recording" \
	-o "$tmp/aliases"
check "the error names it" says 'aliases: this is a file'
check "the recording itself is no folder" run 64 --export=parquet "$recording" \
	-o "$recording"
check "a folder that cannot be made is an error" run 1 --export=parquet \
	"$recording" -o "$tmp/none/out"
check "the error has the reason" says 'No such file'
# A limit of files' sizes stands for a full disk.
check "a disk that is full is an error" sh -c '
trap "" XFSZ
ulimit -f 1
"$1" --export=parquet "$2" -o "$3/full" 2>"$3/err"
[ $? -eq 1 ] && grep -q "File too large; not all files are there" "$3/err"' - "$ncclstat" \
	"$tmp/net-v5-ddp8.ncs" "$tmp"
check "no part of a file is left" sh -c '! ls "$1" | grep .' - "$tmp/full"

# --- DuckDB ----------------------------------------------------------------

if [ -e "$duckdb/locked" ] && command -v node >/dev/null; then
	python3 test/duckdb/check.py "$duckdb" "$tmp" "$ncclstat" "$build"
else
	echo "ok DuckDB # SKIP test/setup.sh check could not get it"
fi
exit "$failed"
