#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs programs and scripts and counts their tests.
#
#   test/run_tests.sh [--alone | --beside] PROGRAM...
#
# They are started in the order of the arguments, so the longest had better come
# first. As many run at once as there are processors, and more, up to four times
# as many, while processors are idle: many tests wait for most of their time.
# Those after --alone run one after the other with none beside them, until
# --beside.
# Prints a line for each that has ended: verdict, number of tests, seconds,
# seconds of a processor, name. The output of a program is shown only if it
# failed, without the lines about tests that passed. The last line is always
# "N passed, N failed", with ", N skipped" if there are any; the exit status is 1
# if something failed or nothing ran.
#
# How a program is counted:
#   cmocka     the sums of its lines "[  PASSED  ] N test(s)" and the like
#   a script   its lines "ok ..." and "not ok ..."; if it prints none, its exit
#              status: 0 passed, 77 skipped (its last line gives the reason),
#              any other failed
# An exit status other than 0 and 77 is a failure, whatever was printed: it is
# due to e.g. a crash after the last test, a leak or a data race.
#
# Must not depend on what is tested. Tests must not depend on the user who runs
# them: they get no NCCL or ncclstat settings and an empty home folder each.
#
#   TEST_TIMEOUT=480   seconds that a program may take
#   TEST_EMULATOR=     command that runs programs of another processor

set -eu
cd "$(dirname "$0")/.."

limit=${TEST_TIMEOUT:-480}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-test.XXXXXX")
# The programs that run: words NUMBER:PID.
running=
trap 'rm -rf "$tmp"' EXIT
trap 'echo "ended by a signal"
	for one in $running; do kill "${one#*:}" 2>/dev/null; done; exit 130' \
	HUP INT TERM

# Where python3 is a script that looks for it, as that of pyenv is, this takes
# longer than most of what it runs.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) &&
	PATH=${python%/*}:$PATH

for v in $(env | sed -n 's/^\(NCCL[A-Za-z0-9_]*\)=.*/\1/p'); do
	unset "$v"
done
# A test that calls make must not be part of the make that called us.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES 2>/dev/null || :
export CMOCKA_MESSAGE_OUTPUT=stdout
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

passed=0
failed=0
skipped=0
failures=

now_ms() {
	echo $(($(date +%s%N) / 1000000))
}

# limited COMMAND...: runs it with its output in $out; returns its status, or 124
# or 137 if its time was up. It runs in the background, so that the shell handles
# an interrupt immediately; env makes it accept interrupts, which background jobs
# ignore.
limited() {
	env --default-signal=INT,QUIT timeout -k 5 "$limit" "$@" \
		>"$out" 2>&1 </dev/null &
	child=$!
	status=0
	wait "$child" 2>/dev/null || status=$?
	child=
	return "$status"
}

# run PROGRAM: does what limited does, for a program, a Python script or a shell
# script.
run() {
	case $1 in
	*.py) set -- python3 "$1" ;;
	*.sh) [ -x "$1" ] || set -- sh "$1" ;;
	# shellcheck disable=SC2086 # a list of words
	*) set -- ${TEST_EMULATOR:-} "$1" ;;
	esac
	status=0
	limited "$@" || status=$?
	# TSan needs certain addresses, and some kernels randomize too far.
	if [ "$status" -ne 0 ] &&
	   grep -q 'ThreadSanitizer: unexpected memory mapping' "$out" &&
	   setarch -R true 2>/dev/null; then
		status=0
		limited setarch -R "$@" || status=$?
	fi
	return "$status"
}

# begin PROGRAM: starts it in the background, as number $begun; when it has ended,
# $tmp/NUMBER.end has its status, its milliseconds, and what times prints.
begin() {
	begun=$((begun + 1))
	echo "$1" >"$tmp/$begun.name"
	out=$tmp/$begun.out
	export HOME="$tmp/$begun.home"
	export XDG_CONFIG_HOME="$HOME/.config"
	mkdir "$HOME"
	(
		child=
		trap - EXIT
		trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit 130' \
			HUP INT TERM
		start=$(now_ms)
		status=0
		run "$1" || status=$?
		{
			echo "$status $(($(now_ms) - start))"
			times
		} >"$tmp/$begun.new"
		mv "$tmp/$begun.new" "$tmp/$begun.end"
	) &
	running="$running $begun:$!"
}

# count: prints "PASSED FAILED SKIPPED COUNTED" for $out; COUNTED is 0 if
# the output has nothing that can be counted.
count() {
	awk '
	/^\[  PASSED  \] [0-9]+ test\(s\)/ { p += $4; n++; next }
	/^\[  FAILED  \] [0-9]+ test\(s\)/ { f += $4; n++; next }
	/^\[  SKIPPED \] [0-9]+ test\(s\)/ { s += $4; n++; next }
	/^ok .*# *[Ss][Kk][Ii][Pp]/ { s++; n++; next }
	/^ok( |$)/ { p++; n++; next }
	/^not ok( |$)/ { f++; n++ }
	END { print p + 0, f + 0, s + 0, n + 0 }
	' "$out"
}

# show: prints $out without tests that passed, which take one line in a
# script's output and two in that of cmocka.
show() {
	awk '
	/^ok( |$)/ { next }
	/^\[       OK \] / && held != "" { held = ""; next }
	held != "" { print "    | " held; held = "" }
	/^\[ RUN      \] / { held = $0; next }
	{ print "    | " $0 }
	END { if (held != "") print "    | " held }
	' "$out"
}

# report NUMBER: counts a program that has ended, and prints its line.
report() {
	read -r name <"$tmp/$1.name"
	{
		read -r status ms
		read -r _
		read -r user system
	} <"$tmp/$1.end"
	out=$tmp/$1.out
	count >"$tmp/count"
	read -r p f s counted <"$tmp/count"
	why=
	case $status in
	0)
		[ "$counted" -gt 0 ] || p=1
		;;
	77)
		s=$((s + 1))
		why=": $(tail -n 1 "$out" | grep . || echo 'says not why')"
		;;
	124 | 137)
		f=$((f + 1))
		why=": not done after $limit s"
		;;
	*)
		[ "$f" -gt 0 ] || { f=1; why=": exit status $status"; }
		[ "$status" -le 128 ] || why=": signal $((status - 128))"
		;;
	esac

	verdict=pass
	[ "$p" -gt 0 ] || verdict=skip
	[ "$f" -eq 0 ] || verdict=FAIL
	printf '%s %4d %5d.%d s %5d s  %s%s\n' "$verdict" $((p + f + s)) \
		$((ms / 1000)) $((ms % 1000 / 100)) \
		$(($(seconds "$user") + $(seconds "$system"))) "$name" "$why"
	if [ "$f" -gt 0 ]; then
		show
		failures="$failures $name"
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	rm -rf "$tmp/$1".*
}

# seconds TIME: prints the whole seconds of a time of the shell's times, 1m23.456s.
seconds() {
	minutes=${1%%m*}
	rest=${1#*m}
	echo $((minutes * 60 + ${rest%%.*}))
}

# collect: reports programs that have ended. Sets $left to how many still run.
collect() {
	still=
	left=0
	for one in $running; do
		if [ -e "$tmp/${one%:*}.end" ]; then
			report "${one%:*}"
		else
			still="$still $one"
			left=$((left + 1))
		fi
	done
	running=$still
}

# is_idle: whether processors had nothing to do for a quarter of their time, or
# nothing but what is nicer than this; looks at half a second at a time.
is_idle() {
	looks=$((looks + 1))
	[ $((looks % 5)) -eq 0 ] || return 1
	read -r _ user nice system none disk _ </proc/stat
	free=$((none + disk + (niceness == 0 ? nice : 0)))
	all=$((user + nice + system + none + disk))
	share=$(((free - free_before) * 100 / (all - all_before + 1)))
	free_before=$free
	all_before=$all
	[ "$share" -ge 25 ]
}

# settle FEW MOST: waits until less than FEW programs run, or less than MOST and
# processors are idle.
settle() {
	while collect; [ "$left" -ge "$1" ]; do
		if [ "$left" -eq 1 ] && [ "$2" -eq 1 ]; then
			# Its shell says how it ended, unless that was killed.
			status=0
			wait "${running#*:}" 2>/dev/null || status=$?
			one=${running%:*}
			one=${one# }
			[ -e "$tmp/$one.end" ] ||
				{
					echo "$status 0"
					times
				} >"$tmp/$one.end"
			continue
		fi
		sleep 0.1 || :
		[ "$left" -ge "$2" ] || ! is_idle || return 0
	done
}

begun=0
left=0
looks=0
free_before=0
all_before=0
niceness=$(nice)
processors=$(nproc)
few=$processors
most=$((processors * 4))
for program in "$@"; do
	case $program in
	--alone)
		settle 1 1
		few=1
		most=1
		;;
	--beside)
		settle 1 1
		few=$processors
		most=$((processors * 4))
		;;
	*)
		settle "$few" "$most"
		begin "$program"
		;;
	esac
done
settle 1 1

[ -z "$failures" ] || printf 'failed:%s\n' "$failures"
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ $((passed + failed)) -gt 0 ]
