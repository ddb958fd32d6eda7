#!/bin/sh
# SPDX-License-Identifier: MIT
# What is installed for those who write programs: the example of libncclstat(3)
# is compiled against an installation as the page says, and finds the ranks of a
# job; the module for Python reads recordings as the program exports them.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
own_segments

# Installs all that is built, whatever it was built with.
installs() {
	make -o all BUILD="$build" PREFIX="$tmp/usr" install
}

compiles() {
	sed -n '/^#include <inttypes/,/^\.Ed/p' man/libncclstat.3.in |
		sed 's/\\e/\\/g; /^\.Ed/d' >"$tmp/example.c" &&
		# shellcheck disable=SC2046 # a list of words
		${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror \
			-o "$tmp/example" "$tmp/example.c" \
			$(PKG_CONFIG_PATH="$tmp/usr/lib/pkgconfig" pkg-config \
				--cflags --libs libncclstat)
}

finds_both() {
	"$tmp/example" >"$tmp/out" 2>"$tmp/err" &&
		[ "$(grep -c '^pid [0-9]* rank [01]: [1-9][0-9]* AllReduce, alive$' \
			"$tmp/out")" -eq 2 ]
}

check 'it is installed' installs
check 'the example of libncclstat(3) is compiled as the page says' compiles
check 'without a job it finds nothing' "$tmp/example"
"$replay" --loop 0 --speed 0.2 test/captures/net-v5-mix >/dev/null 2>&1 &
job=$!
await there_are 2
check 'it finds both ranks of a job, and what they called' await finds_both

# --- Python ----------------------------------------------------------------

# same NAME: all records that are exported as lines of JSON are read, and no
# others but those of streams, which have no line.
same() {
	record_capture "$1" "$1"
	"$ncclstat" --export=ndjson -o "$tmp/$1.ndjson" "$tmp/$1.ncs" 2>"$tmp/err" &&
		PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$tmp/usr/share/ncclstat/python" \
			python3 - "$tmp/$1.ncs" "$tmp/$1.ndjson" <<'END'
import collections
import sys
import ncclstat

KEYS = ("host", "pid", "communicator", "communicator_id", "rank")
found = collections.Counter()
for record in ncclstat.records(sys.argv[1]):
    rank = record.rank
    if record.event != "stream":
        found[rank.host, rank.pid, rank.communicator, rank.communicator_id,
              rank.number, record.lane, record.event, record.start_ns,
              record.duration_ns] += 1
wanted = collections.Counter(
    tuple(line[key] for key in KEYS) +
    (line["lane"], line["event"], line["start_ns"], line.get("duration_ns") or 0)
    for line in ncclstat.lines(sys.argv[2]))
assert sum(wanted.values()) > 1000, wanted
for name, more in ("lines", wanted - found), ("records", found - wanted):
    assert not more, (name, sum(more.values()), list(more.items())[:3])
END
}

refuses() {
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$tmp/usr/share/ncclstat/python" \
		python3 -c "
import ncclstat
try:
    list(ncclstat.$1('$2'))
except ncclstat.Damaged:
    pass
else:
    raise SystemExit('it is read')"
}

check 'Python reads the records of a job over the network' same net-v5-mix
check '... and of one over NVLink' same nvlink-v5-mix8
head -c 100000 "$tmp/net-v5-mix.ncs" >"$tmp/cut.ncs"
check '... of a recording that was cut' sh -c '
	PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$1" python3 -c "
import ncclstat, sys
assert sum(1 for record in ncclstat.records(sys.argv[1])) > 100" "$2"' - \
	"$tmp/usr/share/ncclstat/python" "$tmp/cut.ncs"
check '... but not what is no recording' refuses records "$tmp/net-v5-mix.ndjson"
echo '{"schema":1}' >"$tmp/old.json"
check '... nor JSON of another schema' refuses lines "$tmp/old.json"
check '... and ends with Damaged or a result, however files are damaged' \
	env PYTHONDONTWRITEBYTECODE=1 python3 test/fuzz/python_module.py \
	"$tmp/usr/share/ncclstat/python" "$tmp/net-v5-mix.ncs" \
	"$tmp/net-v5-mix.ndjson"

exit "$failed"
