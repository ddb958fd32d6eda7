#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs programs and scripts and counts their tests.
#
#   test/run_tests.sh [--one | --two] PROGRAM...
#
# They run one after the other; those after --two run two at a time, until --one.
# Prints a line for each, in the order of the arguments: verdict, number of tests,
# seconds, name. The output of a program is shown only if it failed, without the
# lines about tests that passed. The last line is always "N passed, N failed", with ", N skipped" if
# there are any; the exit status is 1 if something failed or nothing ran.
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
#   TEST_TIMEOUT=240   seconds that a program may take
#   TEST_EMULATOR=     command that runs programs of another processor

set -eu
cd "$(dirname "$0")/.."

limit=${TEST_TIMEOUT:-240}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-test.XXXXXX")
# The programs that run: words NUMBER:PID.
running=
trap 'rm -rf "$tmp"' EXIT
trap 'for one in $running; do kill "${one#*:}" 2>/dev/null; done; exit 130' \
	HUP INT TERM

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
# $tmp/NUMBER.end has its status and its milliseconds.
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
		echo "$status $(($(now_ms) - start))" >"$tmp/$begun.new"
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
	read -r status ms <"$tmp/$1.end"
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
	printf '%s %4d %7d.%02d s  %s%s\n' "$verdict" $((p + f + s)) \
		$((ms / 1000)) $((ms % 1000 / 10)) "$name" "$why"
	if [ "$f" -gt 0 ]; then
		show
		failures="$failures $name"
	fi
	passed=$((passed + p))
	failed=$((failed + f))
	skipped=$((skipped + s))
	rm -rf "$tmp/$1".*
}

# settle MOST: waits until so many programs run at most. Reports those that have
# ended, but none before those that were begun earlier.
settle() {
	while :; do
		still=
		left=0
		for one in $running; do
			if [ ! -e "$tmp/${one%:*}.end" ]; then
				still="$still $one"
				left=$((left + 1))
			fi
		done
		running=$still
		while [ -e "$tmp/$((reported + 1)).end" ]; do
			reported=$((reported + 1))
			report "$reported"
		done
		[ "$left" -gt "$1" ] || return 0
		if [ "$left" -gt 1 ]; then
			sleep 0.1 || :
			continue
		fi
		# Its shell says how it ended, unless that was killed.
		status=0
		wait "${running#*:}" 2>/dev/null || status=$?
		one=${running%:*}
		one=${one# }
		[ -e "$tmp/$one.end" ] || echo "$status 0" >"$tmp/$one.end"
	done
}

begun=0
reported=0
most=1
for program in "$@"; do
	case $program in
	--one) most=1 ;;
	--two) most=2 ;;
	*)
		settle $((most - 1))
		begin "$program"
		;;
	esac
done
settle 0

[ -z "$failures" ] || printf 'failed:%s\n' "$failures"
if [ "$skipped" -gt 0 ]; then
	echo "$passed passed, $failed failed, $skipped skipped"
else
	echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ $((passed + failed)) -gt 0 ]
