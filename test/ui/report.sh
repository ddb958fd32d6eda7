#!/bin/sh
# SPDX-License-Identifier: MIT
# --report: the page is whole and needs nothing from outside, its numbers are those
# of --dump=json and --diagnose=json, and no name that others chose gets out of its
# place.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks

# report NAME ARGUMENT...: makes the report $tmp/NAME.html, and judges it.
report() {
	name=$1
	shift
	rm -f "$tmp/$name.html"
	check "$name: a report is written" run 0 report "$tmp/$name.html" "$@"
	"$ncclstat" --dump=json "$@" >"$tmp/dump.json"
	"$ncclstat" --diagnose=json "$@" >"$tmp/diagnosis.json"
	python3 test/ui/report_page.py "$tmp/$name.html" "$tmp/dump.json" \
		"$tmp/diagnosis.json" >"$tmp/judged" 2>&1 || failed=1
	sed "s/^\(ok\|not ok\) /&$name: /" "$tmp/judged"
	check "$name: all was judged" grep -q 'links are' "$tmp/judged"
}

# has NAME PATTERN: whether a report has a line that matches.
has() {
	grep -q -- "$2" "$tmp/$1.html"
}

# --- What it tells ----------------------------------------------------------

mkdir "$tmp/sim"
"$build/ncclsimulate" -h 1 -r 8 -n 800 -l 3:3000 "$tmp/sim" >/dev/null
report late "$tmp/sim/host0.ncclstat"
check 'the verdict has its episode' has late \
	'<strong class="slow">slow</strong> from 0:01.000 to 0:09.165: rank 3 of'
check 'lanes show for whom the others wait' \
	has late '<title>AllReduce #[0-9]*: waits .*ms for rank 3 of world'
check 'with an arrow' has late '<line class="arrow" x1="[0-9.]*%"'
check 'they can be zoomed without a script' sh -c \
	'grep -q "<input type=.radio. name=.zoom. id=.zoom-16.>" "$1" &&
	grep -q "#zoom-16:checked" "$1"' - "$tmp/late.html"
check 'waits of which there are none are not drawn' \
	has late 'None was seen at a look'

# Four calls of 8 ms each and their operations: a step takes 35.2 ms, and with the late
# rank 45.9 ms.
tells() {
	python3 -c '
import re, sys
text = open(sys.argv[1]).read()
found = re.search(sys.argv[2], text)
assert found, "not there"
for told, wanted in zip(found.groups(), sys.argv[3:]):
    assert abs(float(told) / float(wanted) - 1) < 0.02, (told, wanted)' \
		"$tmp/$1.html" "$2" "$3" "$4"
}
check 'the gain is that of the job without the delay' tells late \
	'without rank 3 of world, 100 steps take ([0-9.]+)s in place of ([0-9.]+)s' \
	3.516 4.588
check 'a step takes as long as it does' tells late \
	'a step takes ([0-9.]+)ms \(mean of \d+, by 4 calls that repeat\), of it .*, ([0-9.]+)ms waiting for rank 3 of world' \
	45.9 10.72
check 'steps are drawn over time' has late '<title id="steps-title">'

mkdir "$tmp/even"
"$build/ncclsimulate" -h 1 -r 8 -n 400 "$tmp/even" >/dev/null
report even "$tmp/even/host0.ncclstat"
check 'a job that is well is' has even '<p class="verdict">well: '
check 'and had no episode' has even '<p>Nothing was slow or stuck.</p>'
check 'a gain is not told' sh -c '! grep -q "<p>Gain" "$1"' - "$tmp/even.html"
check 'a step takes as long without the delay' tells even \
	'a step takes ([0-9.]+)ms .mean of' 35.16 0
check 'what differs is a section' run 0 --report "$tmp/two.html" --compare \
	"$tmp/even/host0.ncclstat" "$tmp/sim/host0.ncclstat"
python3 test/ui/report_page.py "$tmp/two.html" | sed 's/^ok /&two: /' | grep -v ' the dump'
check 'with the file that was before' has two 'Compared with .*even/host0'
check 'and what is known to differ' has two \
	'<th scope="row">operations of a rank, a second.*-2[0-9]\.[0-9] % .*yes'
check 'the options can be in any order' run 0 --compare \
	"$tmp/even/host0.ncclstat" "$tmp/sim/host0.ncclstat" \
	--report="$tmp/two.html"

xz -dc test/recordings/host-busy-nvlink.ncs.xz >"$tmp/busy.ncs"
report busy "$tmp/busy.ncs"
check 'the worst episode is the verdict' has busy \
	'<strong class="stuck">stuck</strong> from 0:03.182 to 0:08.995: rank 1 of'
check 'waits are drawn over time' has busy '<rect class="peer" x=.* y='
check 'the version of NCCL is told' has busy '<li>NCCL 2'

# A job that runs now.
(
	own_segments
	"$replay" --hold test/captures/nvlink-v5-ddp8 >/dev/null 2>&1 &
	job=$!
	await there_are 8
	TMPDIR="$tmp" "$ncclstat" --report="$tmp/now.html" --duration=2 \
		>"$tmp/said" 2>&1
	echo $? >"$tmp/status"
	end_job
)
check 'a job that runs is reported on' grep -qx 0 "$tmp/status"
check 'without a word' test ! -s "$tmp/said"
check 'by its command' has now '<code>ncclstat --report=.*now.html --duration=2'
check 'with its ranks' has now 'NCCL report: .*, 8 ranks'
check 'its recording is not kept' sh -c '! ls -d "$1"/ncclstat-*' - "$tmp"

record_capture net net-v5-ddp8
report net "$tmp/net.ncs"
check 'links are a matrix' has net '<p>Bytes that a rank (line) of'

# The fake of NVIDIA's management library tells a peak.
(
	export FAKE_NVML='8 18 26562 0 0 0'
	export LD_LIBRARY_PATH="$build/test/next/nvml"
	shm_folder "$tmp/peak"
	export NCCLSTAT_DIR="$tmp/peak"
	"$ncclstat" --record "$tmp/peak.ncs" --interval 0.5 2>"$tmp/peak.err" &
	"$replay" --gpus test/captures/nvlink-v5-ddp8 >/dev/null 2>&1
	wait
	rm "$tmp/peak"
)
report peak "$tmp/peak.ncs"
check 'the peak of the links is told' has peak '<td class="n">478.1'

mkdir "$tmp/four"
"$build/ncclsimulate" -h 4 -r 2 -n 400 -l 5:2000 "$tmp/four" >/dev/null
report nodes "$tmp"/four/host*.ncclstat
check 'all hosts are named' has nodes '<li>hosts: host0.*host3'
report part "$tmp/sim/host0.ncclstat" --since 2 --until 4

# --- Hostile names ----------------------------------------------------------

evil='</script><script>alert(1)</script><!--"'\''&'
printf '* \033[31m%s\377 @dump@\n' "$evil" >"$tmp/aliases"
cp "$tmp/busy.ncs" "$tmp/${evil##*/}.ncs"
report hostile "$tmp/${evil##*/}.ncs" --aliases "$tmp/aliases"
check 'a name is shown as it is' \
	has hostile '?\[31m&#60;/script&#62;&#60;script&#62;alert(1)'
check 'and no script' sh -c '! grep -q "<script>" "$1"' - "$tmp/hostile.html"
if unshare --uts true 2>/dev/null; then
	shm_folder "$tmp/host"
	NCCLSTAT_DIR="$tmp/host" unshare --uts sh -c '
python3 -c "import socket; socket.sethostname(b\"</p><b\xff\\\"x\x27 \n\")"
"$1" --record "$2" 2>/dev/null &
"$3" --speed 5 test/captures/net-v5-mix >/dev/null 2>&1
wait' - "$ncclstat" "$tmp/host.ncs" "$replay"
	rm "$tmp/host"
	report host "$tmp/host.ncs"
	check "a host's name is shown as it is" \
		has host '<h1 id="verdict">NCCL report: &#60;/p&#62;&#60;b?&#34;x&#39;'
else
	echo "ok a host's name is shown as it is # SKIP no permission to rename" \
		"a host"
fi

# --- In a browser -----------------------------------------------------------

# shown NAME WIDTH: whether a browser shows a report without an error.
shown() {
	HOME="$tmp" timeout 60 chromium --headless --no-sandbox --disable-gpu \
		--enable-logging=stderr --user-data-dir="$tmp/browser" \
		--window-size="$2,1600" --screenshot="$tmp/$1.png" \
		"file://$tmp/$1.html" >"$tmp/browser.log" 2>&1
	[ -s "$tmp/$1.png" ] && ! grep CONSOLE "$tmp/browser.log"
}
if command -v chromium >/dev/null; then
	check 'a browser shows it without an error' shown late 1280
	check 'and that with hostile names' shown hostile 400
	check 'and that with a comparison' shown two 2560
else
	echo 'ok a browser shows it without an error # SKIP no chromium'
fi

# --- Errors -----------------------------------------------------------------

busy=$tmp/busy.ncs
check 'a report is not of a recording and of now' run 64 \
	--report="$tmp/none.html" --duration=1 "$busy"
check 'a report needs a recording, or a time' run 64 report "$tmp/none.html"
check 'the error says how to make one' grep -q -- '--record, or --duration' \
	"$tmp/err"
check 'a report of now needs a job' run 1 --report="$tmp/none.html" \
	--duration=0.1 --dir="$tmp/shm"
check 'it is of the whole time' run 64 report "$tmp/none.html" "$busy" --at=1
check 'the recording itself is not overwritten' run 64 report "$busy" "$busy"
check 'and is still there' run 2 --diagnose "$busy"
check 'a file that is none' run 1 report "$tmp/none.html" README.md
check 'leaves no report' test ! -e "$tmp/none.html"
check 'a disk that is full' run 1 report /dev/full "$busy"
check 'a folder that is not there' run 1 report "$tmp/none/none.html" "$busy"
exit "$failed"
