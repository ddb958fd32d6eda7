#!/bin/sh
# SPDX-License-Identifier: MIT
# Another user's job: what is said of it in each mode, and NCCLSTAT_GROUP, which
# lets the users of a group look at it. Needs root, which becomes other users.
#
# Prints "ok ..." or "not ok ..." for each check.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
own_segments
folder=$(readlink -f "$NCCLSTAT_DIR")
chmod 1777 "$folder"
export NCCLSTAT_DIR="$folder"
group=54321

# as GROUPS COMMAND...: runs it as user 65534, with these groups besides 65534.
as() {
	groups=$1
	shift
	setpriv --reuid=65534 --regid=65534 --groups="65534$groups" \
		env HOME=/nowhere "$@"
}

if ! as "" "$(realpath "$ncclstat")" --version >/dev/null 2>&1; then
	echo "ok another user's job # SKIP no other user may run ncclstat here"
	exit 0
fi

# start_job COMMAND...: starts a job by env, setpriv or the like.
start_job() {
	"$@" "$replay" --loop 0 --speed 0.2 test/captures/net-v5-mix \
		>/dev/null 2>"$tmp/job.err" &
	job=$!
	await there_are 2
}

# refused TEXT GROUP: each mode says so of a job that this user may not look at,
# and that there is no verdict.
refused() {
	for mode in --dump --dump=json --diagnose --diagnose=json --list \
		--set=sample=4 "--record=$folder/rec --duration=0.2"; do
		rm -f "$folder/rec"
		status=0
		# shellcheck disable=SC2086 # a list of words
		as ",$group" env NCCLSTAT_GROUP="$2" "$ncclstat" $mode \
			</dev/null >"$tmp/out" 2>"$tmp/err" || status=$?
		[ "$status" -eq 4 ] &&
			grep -q -e "belongs\{0,1\} to root; $1" "$tmp/out" "$tmp/err" &&
			! grep -qi -e '^well' -e 'no NCCL job' "$tmp/out" "$tmp/err"
		verdict=$?
		if [ $verdict -eq 0 ]; then
			echo "ok $mode: $1"
		else
			echo "not ok $mode: $1 (status $status)"
			sed 's/^/  /' "$tmp/out" "$tmp/err" | cut -c1-300
			failed=1
		fi
	done
}

start_job env
check "a job without the variable is its owner's alone" \
	sh -c 'stat -c %a "$1"/ncclstat.[0-9]* | sort -u | grep -qx 400' - "$folder"
refused 'try sudo, or let the job set NCCLSTAT_GROUP' "$group"
end_job

start_job env NCCLSTAT_GROUP="$group"
check "segments are the group's to read, and nothing else is" sh -c '
	stat -c "%a %g" "$1"/ncclstat.[0-9]* | sort -u | grep -qx "440 $2" &&
	stat -c "%a" "$1"/*control* | sort -u | grep -qx 600' - "$folder" "$group"
refused "try sudo, or NCCLSTAT_GROUP=$group as a member" ""
refused "try sudo, or NCCLSTAT_GROUP=$group as a member" "12345"
for mode in --list --dump; do
	status=0
	as ",$group" env NCCLSTAT_GROUP="$group" "$ncclstat" $mode \
		>"$tmp/out" 2>&1 || status=$?
	check "a member who names the group sees the job by $mode" sh -c '
		[ "$1" -eq 0 ] && grep -q " alive " "$2" &&
		! grep -q "belong" "$2"' - "$status" "$tmp/out"
done
status=0
as ",$group" env NCCLSTAT_GROUP="$group" "$ncclstat" --set=sample=4 \
	>"$tmp/out" 2>&1 || status=$?
check '... and asks it for nothing' [ "$status" -ne 0 ]
status=0
as "" env NCCLSTAT_GROUP="$group" "$ncclstat" --dump >"$tmp/out" 2>&1 || status=$?
check 'no member sees nothing' [ "$status" -eq 4 ]
end_job

start_job setpriv --reuid=65534 --regid=65534 --clear-groups \
	env NCCLSTAT_GROUP="$group"
check 'a job that is not in the group runs, for its owner alone' \
	sh -c 'stat -c "%a %u" "$1"/ncclstat.[0-9]* | sort -u | grep -qx "400 65534"' \
	- "$folder"
end_job
start_job env NCCLSTAT_GROUP=no-such-group
check 'a job whose group does not exist runs, for its owner alone' \
	sh -c 'stat -c "%a" "$1"/ncclstat.[0-9]* | sort -u | grep -qx 400' \
	- "$folder"
end_job

exit "$failed"
