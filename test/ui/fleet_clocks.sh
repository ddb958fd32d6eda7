#!/bin/sh
# SPDX-License-Identifier: MIT
# Two nodes whose clocks are far apart and not known: a rank that is missing is
# certain by its sequence numbers, also where the streams have records.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/fleet.sh
fleet_enter clocks
fleet_needs_names
unshare --time --monotonic 1 true 2>/dev/null || {
	echo 'clocks of their own are not permitted here'
	exit 77
}

fleet_nodes n1 n2

# on NODE AHEAD COMMAND...: runs a command there, by a clock that is ahead.
cat >"$tmp/on" <<END
#!/bin/sh
node=\$1 ahead=\$2
shift 2
exec unshare --time --monotonic "\$ahead" "$tmp/agent" "\$node" "\$@"
END
chmod +x "$tmp/on"

mkdir "$tmp/job"
python3 test/ui/faulty_job.py missing 2 "$tmp/job"
for rank in 0 1; do
	"$tmp/on" "n$((rank + 1))" $((500 + 1000 * rank)) \
		"$fleet_build/ncclreplay" --hold "$tmp/job/rank$rank.calllog" \
		>/dev/null 2>"$tmp/replay-$rank" &
	fleet_jobs="$fleet_jobs $!"
done
# agents OPTION...: prints the command that runs both agents.
agents() {
	echo "$tmp/on n1 500 ncclstat --stream=lines $* &" \
		"$tmp/on n2 1500 ncclstat --stream=lines $* & wait"
}

tries=0
until "$tmp/on" n1 500 ncclstat --diagnose --interval 0.2 >/dev/null 2>&1
	[ $? -eq 2 ] || [ "$tries" -ge 100 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
fleet_soon 'a missing rank is certain without aligned clocks' 2 \
	'rank_missing, certain' 'rank 1 .* on n2' -- \
	--diagnose --from "$(agents)"
fleet_soon 'and with records' 2 'rank_missing, certain' -- \
	--diagnose --from "$(agents --records)"
fleet_none_left 'at the end'
