#!/bin/sh
# SPDX-License-Identifier: MIT
# Each command of ncclstat-tutorial(7) runs, and prints each of the lines that
# stand below it there, but for numbers that differ from run to run.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
demo=
at_end() {
	[ -z "$demo" ] || kill "$demo" 2>/dev/null
}

page=$PWD/$build/man/ncclstat-tutorial.7
PATH=$(cd "$build" && pwd):$PATH
export NCCLSTAT_DIR="/dev/shm/ncclstat-tutorial.$$"
TUTORIAL="$NCCLSTAT_DIR" sh test/demo.sh hang >"$tmp/demo" 2>&1 &
demo=$!
is_there() {
	[ "$("$ncclstat" --list 2>/dev/null | grep -c alive)" -ge 4 ]
}
check 'the job that hangs is there' await is_there

python3 - "$page" "$tmp" >"$tmp/said" <<'END'
import re, subprocess, sys

page, folder = sys.argv[1:]
text = subprocess.run(["mandoc", "-Tascii", "-Owidth=250", page], check=True,
                      capture_output=True, text=True).stdout
steps = []
for line in re.sub(".\b", "", text).split("\n"):
    if re.match(r" {11}\$ ", line):
        steps.append((line[13:], []))
    elif line.startswith(" " * 11) and steps and steps[-1] is not None:
        steps[-1][1].append(line[11:].rstrip())
    elif steps and steps[-1] is not None and line.strip():
        steps.append(None)
steps = [step for step in steps if step]


# The words of a line, with all numbers alike.
def alike(line):
    return [re.sub(r"\d+([.]\d+)?(ns|us|ms|s|m)?\b", "#", word)
            for word in line.split()]


def contains(lines, wanted):
    return any(alike(line)[:len(wanted)] == wanted for line in lines)


wrong = 0
for command, wanted in steps:
    run = subprocess.run(["sh", "-c", command], cwd=folder, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    status = {"--diagnose --wait": 2, "--diagnose slow": 1}
    expected = next((code for part, code in status.items() if part in command),
                    0)
    missing = [line for line in wanted
               if not contains(run.stdout.split("\n"), alike(line))]
    if run.returncode != expected or missing:
        wrong += 1
        print("not ok %s: status %d, missing: %s\n%s" % (
            command, run.returncode, missing, run.stdout[:2000]))
    else:
        print("ok %s" % command)
print("%sok %d commands run" % ("" if len(steps) == 13 else "not ", len(steps)))
sys.exit(wrong > 0 or len(steps) != 13)
END
[ $? -eq 0 ] || failed=1
cat "$tmp/said"

# The page foretells the gain.
cd "$tmp" || exit
foretold=$(ncclstat --critical-path=json --what-if=without:3 slow/* |
	jq '.what_if[0].after_ns')
true=$(ncclstat --critical-path=json mended/* | jq .elapsed_ns)
check 'the gain is what was foretold, within 5 %' awk -v a="$foretold" \
	-v b="$true" 'BEGIN { exit !(a / b > 0.95 && a / b < 1.05) }'
exit "$failed"
