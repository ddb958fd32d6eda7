#!/bin/sh
# SPDX-License-Identifier: MIT
# States of ranks that are looked at come although their nodes send digests: of
# the row that is selected in the live view, and of the processes that a dump
# chooses, straight from the nodes and through an agent of agents.
#
# Prints "ok ..." or "not ok ..." for each check.

. "$(dirname "$0")/terminal"
. test/fleet.sh
fleet_needs_names

fleet_nodes n1 n2
mkdir "$tmp/job"
fleet_ssh

python3 test/ui/faulty_job.py none 4 "$tmp/job" 1000
for node in n1 n2; do
	first=0
	[ "$node" = n1 ] || first=2
	"$tmp/agent" "$node" "$fleet_build/ncclreplay" --loop 0 \
		"$tmp/job/rank$first.calllog" \
		"$tmp/job/rank$((first + 1)).calllog" \
		>/dev/null 2>"$tmp/replay-$node" &
	background="$background $!"
done

# --- The live view -------------------------------------------------------------

open 150x30 "exec $ncclstat --hosts=n[1-2] --digest=always --interval 0.5"
on_screen 'ranks have digests' '^ *3 .* level '
on_screen 'but the one that is selected' '^ *0 .* alive '
misses '^ *3 .* alive '
verdict 'and no other one' $?
press Down
on_screen 'the rank that is selected next gets its state' '^ *1 .* alive '
press End
on_screen 'and the last one' '^ *3 .* alive '
on_screen 'the others keep their digests' '^ *2 .* level '
press Up
on_screen 'until they are selected' '^ *2 .* alive '
view channels && press End
on_screen 'what the channels of a rank wait for is told' \
	'^ *3 faulty .* recv .* \(idle\|gpu\|peer\|net\|wait\)'
press q
ended 0
verdict 'q leaves' $?
fleet_none_left "$name: after q" | grep -v '^ok' && failed=1

# Streams that nothing can be told to show what they have, and say no more.
mkfifo "$tmp/s1" "$tmp/s2"
for node in n1 n2; do
	"$tmp/agent" "$node" ncclstat --stream=digest -i 0.5 </dev/null \
		>"$tmp/s${node#n}" 2>/dev/null &
done
open 150x30 "exec $ncclstat --follow $tmp/s1 $tmp/s2 --interval 0.5"
on_screen 'a stream that is only read has digests' '^ *0 .* level '
on_screen 'the age of its state is told' 'rank 0 .*state was read [0-9.]*m*s before'
misses 'is asked'
verdict 'and it is not said that another one comes' $?
press q
ended 0
verdict 'q leaves streams' $?

# --- Dumps -----------------------------------------------------------------------

# levels FILE: prints for each look whether the chosen process has a digest: 1, a
# state: 0, or is missing: -. Passes if the looks can be read.
levels() {
	python3 - "$1" "$victim" <<'PY'
import json, sys
text, at, levels = open(sys.argv[1]).read(), 0, ""
decoder = json.JSONDecoder()
while at < len(text):
    if text[at].isspace():
        at += 1
        continue
    look, at = decoder.raw_decode(text, at)
    found = [str(int(rank["level"])) for rank in look["ranks"]
             if rank["pid"] == int(sys.argv[2])]
    levels += found[0] if len(found) == 1 else "-"
print(levels)
PY
}

# fresh NAME OPTION...: passes if a dump that chooses a process ends with states
# of it, while another one of the same nodes, which chooses none, has digests.
# The first may have had none: its order may come before the first digest.
fresh() {
	dumped=$1
	shift
	"$fleet_ncclstat" --dump=json --view ranks "$@" -i 0.5 -n 24 \
		</dev/null >"$tmp/all" 2>"$tmp/err-all" &
	all=$!
	"$fleet_ncclstat" --dump=json --view ranks "$@" --pid "$victim" -i 0.5 \
		-n 24 </dev/null >"$tmp/out" 2>"$tmp/err"
	wait "$all"
	chosen=$(levels "$tmp/out") && unchosen=$(levels "$tmp/all")
	case $chosen/$unchosen in
	*000000/*1*) verdict "$dumped" 0 ;;
	*)
		echo "  chosen: $chosen, without a choice: $unchosen"
		verdict "$dumped" 1
		;;
	esac
}

victim=$(NCCLSTAT_DIR=$tmp/node-n2 "$fleet_ncclstat" --dump=json --view ranks |
	python3 -c 'import json, sys
print(json.load(sys.stdin)["ranks"][0]["pid"])')
fresh 'a dump has the state of the process that it chooses' \
	--hosts='n[1-2]' --digest=always
fresh 'so it has of a command that reads its input' \
	--from "exec $tmp/agent n2 ncclstat --stream=digest -i 0.5"
fresh 'and through an agent of agents' --from \
	"exec $fleet_ncclstat --stream=digest --hosts='n[1-2]' -i 0.5"
fleet_none_left "$name: at the end" | grep -v '^ok' && failed=1
finish
