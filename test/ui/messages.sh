#!/bin/sh
# SPDX-License-Identifier: MIT
# Messages of the program: names of files, which others may have chosen, reach
# no terminal as they are. A message stays one line, whatever it names.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks

# A title for the terminal, a line of its own, an invalid byte, and a mark that
# turns the direction of writing.
evil=$(printf 'e\033]0;title\007\nncclstat: fine\r\377\342\200\256')

# clean STATUS ARGUMENT...: succeeds if ncclstat exits with this status, says or
# prints something, and nothing of it begins a line or steers a terminal.
clean() {
	run "$@" || return
	python3 - "$tmp/out" "$tmp/err" <<'END'
import sys, unicodedata
text = "".join(open(path, "rb").read().decode("utf-8") for path in sys.argv[1:])
assert "fine" in text, text
for line in text.split("\n"):
    assert not line.startswith("ncclstat: fine"), text
    for character in line:
        assert unicodedata.category(character) not in ("Cc", "Cf"), text
END
}

mkdir "$tmp/$evil"
for option in --dump --list --clean --set=events=all; do
	status=1
	[ "$option" != --clean ] || status=0
	check "$option: a directory without a job" \
		clean "$status" "$option" --dir="$tmp/$evil"
done
for option in --dump --list --diagnose --clean --set=events=all; do
	status=1
	[ "$option" != --diagnose ] || status=3
	check "$option: a directory that is missing" \
		clean "$status" "$option" --dir="$tmp/no$evil"
done
for option in --dump --list --diagnose --export=csv --critical-path; do
	status=1
	[ "$option" != --diagnose ] || status=3
	check "$option: a recording that is missing" \
		clean "$status" "$option" "$tmp/no$evil"
done
check "a recording that is none" clean 1 --list "$tmp/$evil"
echo name >"$tmp/aliases$evil"
check "a file of names with an error" \
	clean 64 --dump --dir="$tmp" --aliases="$tmp/aliases$evil"
check "a file of names that is missing" \
	clean 64 --dump --dir="$tmp" --aliases="$tmp/no$evil"
check "a recording that cannot be written" \
	clean 1 --record="$tmp/no$evil/file" --duration 0.1 --dir="$tmp"
check "what a recording was written to" \
	clean 1 --record="$tmp/file$evil" --duration 0.1 --dir="$tmp"
"$build/ncclsimulate" -n 3 -h 1 "$tmp" >"$tmp/said"
check "an output that cannot be written" \
	clean 1 --export=csv --output="$tmp/no$evil/file" "$tmp/host0.ncclstat"
cp "$tmp/host0.ncclstat" "$tmp/host$evil"
check "an output that is the recording" \
	clean 64 --export=csv --output="$tmp/host$evil" "$tmp/host$evil"
check "an option's argument" clean 64 --interval="$evil"
check "an option that does not exist" clean 64 --"$evil"
mkdir "$tmp/$evil/ncclstat.$evil"
for option in --dump --dump=json --list --diagnose; do
	check "$option: a segment that is a folder" \
		clean 4 "$option" --dir="$tmp/$evil"
done

exit "$failed"
