#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder is a layer, and each of its sub-folders is a floor of that layer. An
# #include points down only, along the table below:
#
#   sub-folder: the floors directly below it
#
# A sub-folder may include its own files, those floors, and all that these may
# include. In addition:
#   - the plugin and what of shm/ goes into it never reach the reader's half:
#     shm/read and include/ncclstat/reader.h and snapshot.h;
#   - above shm/ nothing includes all tables of a segment, by include/ncclstat/abi.h
#     or by a header that includes reader.h: a table that changes would rebuild it;
#   - only tui/term/term.[ch] and tui/term/curses.[ch] include curses;
#   - only record/ includes liburing and zstd; only record/ and fleet/ include
#     xxhash; only record/, fleet/stacks, tui/ and man/ include jansson; only
#     tui/serve includes libmicrohttpd;
#   - no file includes NCCL's or CUDA's headers: the plugin has its own copy of
#     what it needs; only test/gpu, built where there is a GPU, has real jobs;
#   - an include names a project file from the root of the repository, or from
#     include/, so that the line says which file it is;
#   - analysis/ has no getenv() and no output of its own: such lines are left from
#     debugging;
#   - no header includes itself through others;
#   - the files of a layer do not call each other in a loop (nm, tsort), also not
#     through inline functions in headers.
# test/ and man/ (a generator for the pages) may include everything of ours.
#
# It prints each offending line.  Before it judges the tree it breaks each rule
# once in a tree of its own, because a check that cannot fail is worth nothing.

set -eu
cd "$(dirname "$0")/.."

build=${BUILD:-build}
CC=${CC:-cc}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-layers.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

folders='include shm plugin analysis record fleet tui test man'

cat >"$tmp/floors" <<'END'
include/ncclstat/tables:
include/ncclstat: include/ncclstat/tables
shm: include/ncclstat
shm/write: shm
shm/read: shm
plugin/nccl: shm
plugin/state: plugin/nccl shm/write
plugin/mask: plugin/state
plugin/events: plugin/mask
plugin/life: plugin/events
plugin/chain: plugin/life
plugin: plugin/chain
analysis/base: shm/read
analysis/peaks: analysis/base
analysis/records: analysis/base
analysis/clocks: analysis/records
analysis/cost: analysis/records
analysis/path: analysis/cost
analysis/model: analysis/cost
analysis/diagnosis: analysis/model
analysis/views: analysis/diagnosis
analysis/sources: analysis/model analysis/peaks
analysis/metrics: analysis/diagnosis
record/format: analysis/records
record/write: record/format analysis/peaks
record/read: record/format analysis/clocks analysis/model
record/replay: record/read analysis/diagnosis
record/archive: record/format
record/export: record/read analysis/views
fleet/launch: analysis/base
fleet/stacks: fleet/launch
fleet/stream: fleet/launch record/write record/read
fleet/head: fleet/stream
tui/term: analysis/base
tui/text: tui/term analysis/views
tui/table: tui/text
tui/views: tui/table
tui/screen: tui/views tui/commands
tui/serve: analysis/metrics
tui/commands: tui/text tui/serve analysis/path analysis/sources record/archive record/export record/replay fleet/head fleet/stacks
tui: tui/screen tui/commands
END

# sources FOLDER: prints the C files below the folder, relative to it. Trees of
# the self-test lack most folders.
sources() (
	cd "$1"
	# shellcheck disable=SC2086 # a list of words
	find $folders \( -name '*.[ch]' -o -name '*.def' \) 2>/dev/null | sort
)

# check_includes FOLDER: prints offending lines as file:line: reason; nothing if
# there are none.
check_includes() (
	sources "$1" >"$tmp/list"
	cd "$1"
	[ -s "$tmp/list" ] || return 0
	# shellcheck disable=SC2016 # awk's own $
	tr '\n' '\0' <"$tmp/list" | xargs -0 awk -v floors="$tmp/floors" '
	# Everything below a floor, and itself.
	function look_down(floor, from, i, n, below) {
		if ((from, floor) in may)
			return
		may[from, floor] = 1
		n = split(direct[floor], below, " ")
		for (i = 1; i <= n; i++)
			look_down(below[i], from)
	}
	function folder_of(file) {
		sub(/\/[^\/]*$/, "", file)
		return file
	}
	function bad(why) {
		sub(/^[ \t]+/, "", line)
		printf "%s:%d: %s: %s\n", FILENAME, FNR, why, line
	}
	BEGIN {
		while ((getline row < floors) > 0) {
			floor = row
			sub(/:.*/, "", floor)
			sub(/^[^:]*:/, "", row)
			direct[floor] = row
		}
		for (floor in direct)
			look_down(floor, floor)
		ours["ncclstat"] = ours["include"] = ours["test"] = ours["man"] = 1
		for (floor in direct) {
			sub(/\/.*/, "", floor)
			ours[floor] = 1
		}
		reader = "^(shm/read/|ncclstat/(reader|snapshot)[.]h$)"
	}
	FNR == 1 {
		from = folder_of(FILENAME)
		layer = FILENAME
		sub(/\/.*/, "", layer)
		free = layer == "test" || layer == "man"
		line = ""
		if (!free && !(from in direct))
			bad("a folder that is not in the table of floors")
	}
	layer == "analysis" &&
	/(^|[^a-z_])(getenv|printf|puts|putchar|perror)\(|(^|[^a-z_])(stderr|stdout)([^a-z_]|$)/ {
		line = $0
		bad("analysis neither prints nor reads the environment")
	}
	/^[ \t]*#[ \t]*include/ {
		line = $0
		if (!match($0, /["<][^">]+[">]/)) {
			bad("an include that cannot be read off the line")
			next
		}
		quoted = substr($0, RSTART, 1) == "\""
		name = substr($0, RSTART + 1, RLENGTH - 2)
		top = name
		if (!sub(/\/.*/, "", top))
			top = ""
		if (quoted && (!(top in ours) || name ~ /(^|\/)[.][.]?(\/|$)/)) {
			bad("not named from the root")
			next
		}
		to = folder_of(name)
		sub(/^ncclstat/, "include/ncclstat", to)
		if ((top in ours) && !free && !((from, to) in may))
			bad(from " may not include " to)
		if ((layer == "plugin" || layer == "shm") &&
		    FILENAME !~ reader && name ~ reader)
			bad("the reader must stay out of the plugin")
		if (layer ~ /^(analysis|record|fleet|tui)$/ &&
		    (name == "ncclstat/abi.h" ||
		     name == "ncclstat/reader.h" && FILENAME ~ /[.]h$/))
			bad("all tables of a segment where some would do")
		if (top in ours)
			next
		if (name ~ /^(nccl|cuda|nvml)/ && FILENAME !~ /^test\/gpu\//)
			bad("headers of NCCL and CUDA are not ours to need")
		if (name ~ /(^|\/)(n?curses|term|panel|menu|form)[.]h$/ &&
		    FILENAME !~ /^tui\/term\/(term|curses)[.][ch]$/ &&
		    layer != "test")
			bad("curses only in tui/term/term and tui/term/curses")
		if (name ~ /^(liburing|zstd)/ && layer !~ /^(record|test)$/)
			bad("liburing and zstd only in record")
		if (name ~ /^xxhash/ && layer !~ /^(record|fleet|test)$/)
			bad("xxhash only in record and fleet")
		if (name ~ /^microhttpd/ && FILENAME !~ /^tui\/serve\//)
			bad("libmicrohttpd only in tui/serve")
		if (name ~ /^jansson/ && layer !~ /^(record|tui|man|test)$/ &&
		    from != "fleet/stacks")
			bad("jansson only in record, fleet/stacks, tui and man")
	}
	'
)

# print_loops WHERE KIND: prints the loops in the pairs of files of its input.
# tsort names the files of each loop, one a line, below a heading.
print_loops() {
	tsort 2>&1 >/dev/null | awk -v where="$1" -v kind="$2" '
	/input contains a loop/ {
		printf "%s%s: a loop of %s:", end, where, kind
		end = "\n"
		next
	}
	{ printf " %s", $NF }
	END { printf "%s", end }
	'
}

# check_circles FOLDER: prints headers that include each other.
check_circles() (
	sources "$1" | grep '[.]h$' >"$tmp/list"
	cd "$1"
	# shellcheck disable=SC2016 # awk's own $
	xargs awk '
	/^[ \t]*#[ \t]*include/ && match($0, /["<][^">]+[.]h[">]/) {
		to = substr($0, RSTART + 1, RLENGTH - 2)
		sub(/^ncclstat\//, "include/ncclstat/", to)
		print FILENAME, to
	}
	' <"$tmp/list" | print_loops "$1" headers
)

# check_loops OBJECTS SOURCES: prints the files of a layer that call each other
# in a loop. Object files tell which functions a C file calls; the text tells
# which inline functions it uses, and what those of a header call. A C file may
# use the inline functions of its own header, which may call it: its object file
# tells what else they call.
check_loops() (
	(cd "$1" 2>/dev/null && find . -name '*.o' -exec nm -A -g {} +) \
		>"$tmp/symbols" || :
	[ -s "$tmp/symbols" ] || {
		echo "$1: no object files; build first"
		return 0
	}
	cd "$2"
	# shellcheck disable=SC2016 # awk's own $
	find . -name '*.[ch]' -exec awk '
	FNR == NR {
		file = $1
		sub(/[.]o:.*/, ".c", file)
		if ($(NF - 1) == "U")
			calls[file, $NF]
		else
			defined_in[$NF] = file
		next
	}
	FNR == 1 {
		is_header = FILENAME ~ /[.]h$/
		head = ""
		in_body = in_comment = 0
	}
	{
		line = $0
		if (in_comment && !sub(/.*\*\//, "", line))
			next
		gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", line)
		in_comment = sub(/\/\*.*/, "", line)
		gsub(/(struct|union|enum) [a-z0-9_]+/, "", line)
	}
	# Outside of bodies a header only declares.
	is_header && /^[{]/ {
		in_body = 1
		gsub(/__attribute__ *\(\([^()]*\)\)/, "", head)
		if (match(head, /[a-z0-9_]+\(/))
			inline_in[substr(head, RSTART, RLENGTH - 1)] = FILENAME
	}
	/^[}]/ {
		in_body = 0
		head = ""
	}
	is_header && !in_body {
		head = line ~ /[;#]|^[ \t]*$/ ? "" : head line
		next
	}
	{
		while (match(line, /(ncs|ncclstat)_[a-z0-9_]+/)) {
			name = substr(line, RSTART, RLENGTH)
			uses[FILENAME, name]
			line = substr(line, RSTART + RLENGTH)
		}
	}
	function print_call(from, to) {
		if (to != "" && to != from)
			print from, to
	}
	END {
		for (call in calls) {
			split(call, part, SUBSEP)
			print_call(part[1], defined_in[part[2]])
		}
		for (use in uses) {
			split(use, part, SUBSEP)
			to = inline_in[part[2]]
			if (to == "" && part[1] ~ /[.]h$/)
				to = defined_in[part[2]]
			own_header = part[1]
			sub(/[.]c$/, ".h", own_header)
			if (to != own_header)
				print_call(part[1], to)
		}
	}
	' "$tmp/symbols" {} + | sort -u | print_loops "$2" files
)

# plant FILE LINE: puts a file of this line into a tree, where the check must find
# it. Each has a name of its own, so that one check is for all.
plants=0
plant() {
	plants=$((plants + 1))
	file=${1%/*}/$plants-${1##*/}
	mkdir -p "$tmp/tree/${1%/*}"
	printf '%s\n' "$2" >"$tmp/tree/$file"
	printf '%s:1: \n' "$file" >>"$tmp/planted"
}

plant include/ncclstat/planted.h '#include "shm/ring.h"'
plant include/ncclstat/tables/planted.def '#include "ncclstat/abi.h"'
plant shm/planted.c '#include "plugin/events/callbacks.h"'
plant shm/planted.h '#include "analysis/model/model.h"'
plant shm/planted.h '#include "shm/write/writer.h"'
plant shm/planted.h '#include "shm/read/reader.h"'
plant shm/read/planted.c '#include "shm/write/writer.h"'
plant shm/write/planted.c '#include "shm/read/paths.h"'
plant shm/unknown/planted.c 'int planted;'
plant plugin/nccl/planted.c '  #  include "shm/read/reader.h"'
plant plugin/nccl/planted.c '#include "plugin/state/comm.h"'
plant plugin/state/planted.h '#include "plugin/events/callbacks.h"'
plant plugin/events/planted.h '#include "plugin/life/lifecycle.h"'
plant plugin/life/planted.h '#include "shm/read/paths.h"'
plant plugin/life/planted.h '#include "plugin/chain/chain.h"'
plant plugin/planted.h '#include <ncclstat/reader.h>'
plant shm/planted.c '#include "ncclstat/reader.h"'
plant shm/write/planted.h '#include "ncclstat/snapshot.h"'
plant fleet/head/planted.c '#include "ncclstat/abi.h"'
plant tui/screen/planted.h '#include "ncclstat/reader.h"'
plant plugin/planted.c '#include <tui/text/format.h>'
plant plugin/planted.c '#include "analysis/model/model.h"'
plant plugin/planted.c '#include <nccl.h>'
plant test/host/planted.c '#include <nccl.h>'
plant analysis/base/planted.c '#include "record/format/file_format.h"'
plant analysis/base/planted.h '#include "analysis/model/model.h"'
plant analysis/path/planted.h '#include "analysis/model/model.h"'
plant analysis/clocks/planted.h '#include "analysis/path/critical_path.h"'
plant analysis/model/planted.h '#include "analysis/diagnosis/diagnosis.h"'
plant analysis/views/planted.c '#include "plugin/nccl/nccl_abi.h"'
plant analysis/views/planted.c '#include <ncurses.h>'
plant analysis/views/planted.c '#include <jansson.h>'
plant record/write/planted.c '#include "record/read/recording.h"'
plant record/read/planted.c '#include "record/write/recorder.h"'
plant record/read/planted.c '#include "record/replay/replay.h"'
plant record/export/planted.c '#include "fleet/launch/lines.h"'
plant fleet/launch/planted.c '#include "record/format/chunk.h"'
plant fleet/stream/planted.c '#include "fleet/head/fleet.h"'
plant fleet/head/planted.c '#include "tui/text/format.h"'
plant fleet/head/planted.c '#include <zstd.h>'
plant record/read/planted.c '#include "tui/text/format.h"'
plant tui/planted.c '#include "plugin/nccl/nccl_abi.h"'
plant tui/term/planted.c '#include <ncursesw/curses.h>'
plant tui/text/planted.c '#include "tui/table/table.h"'
plant tui/views/planted.c '#include "tui/screen/screen.h"'
plant tui/commands/planted.c '#include "tui/screen/screen.h"'
plant tui/commands/planted.c '#include <liburing.h>'
plant analysis/base/planted.c '#include <zstd.h>'
plant fleet/launch/planted.c '#include <jansson.h>'
plant analysis/metrics/planted.h '#include "analysis/views/columns.h"'
plant tui/commands/planted.c '#include <microhttpd.h>'
plant tui/term/planted.c '#include "term.h"'
plant tui/planted.c '#include "../shm/ring.h"'
plant tui/planted.c '#include "tui/../plugin/nccl/nccl_abi.h"'
plant tui/planted.c '#include PLANTED_H'
plant analysis/base/planted.c 'fprintf(stderr, "x");'
plant analysis/base/planted.c 'if (getenv("DBG"))'
plant analysis/metrics/planted.c 'printf("x");'

check_includes "$tmp/tree" >"$tmp/caught"
while read -r place; do
	grep -q "^$place " "$tmp/caught" || {
		echo "self-test: not caught: $place $(cat "$tmp/tree/${place%%:*}")"
		echo x >>"$tmp/missed"
	}
done <"$tmp/planted"

# expect_loops NUMBER WHAT: fails unless its input is so many lines.
expect_loops() {
	[ "$(wc -l)" -eq "$1" ] || {
		echo "self-test: not $1: $2"
		echo x >>"$tmp/missed"
	}
}

# plant_calls NAME CALLEE: makes an object file whose function calls another
# file's.
plant_calls() {
	printf 'void ncs_%s(void);\nvoid ncs_%s(void) { ncs_%s(); }\n' \
		"$2" "$1" "$2" | $CC -x c -c -o "$tmp/loop/$1.o" -
}

# plant_body FILE FUNCTION CALLEE: makes the text of a function that calls another
# one.
plant_body() {
	printf 'static inline void ncs_%s(void)\n{\n\tncs_%s();\n}\n' \
		"$2" "$3" >"$tmp/loop/$1"
}

mkdir -p "$tmp/loop"
plant_calls first second
plant_calls second third
plant_calls third fourth
plant_body second.c second in_own_header
plant_body second.h in_own_header second
plant_body third.h in_header fourth
check_loops "$tmp/loop" "$tmp/loop" |
	expect_loops 0 'a loop where there is none'
plant_body first.c first in_header
plant_body third.h in_header first
check_loops "$tmp/loop" "$tmp/loop" |
	expect_loops 1 'a loop through an inline function'
plant_body third.h in_header fourth
plant_calls third first
check_loops "$tmp/loop" "$tmp/loop" |
	expect_loops 1 'a loop of three object files'

mkdir -p "$tmp/circle/shm"
echo '#include "shm/second.h"' >"$tmp/circle/shm/first.h"
echo '#include "shm/third.h"' >"$tmp/circle/shm/second.h"
check_circles "$tmp/circle" | expect_loops 0 'a circle where there is none'
echo '#include "shm/first.h"' >"$tmp/circle/shm/third.h"
check_circles "$tmp/circle" | expect_loops 1 'a circle of three headers'

check_includes . >"$tmp/found"
check_circles . >>"$tmp/found"
# The plugin's object files are position-independent, in a folder of their own.
for layer in shm pic/plugin analysis record fleet tui; do
	check_loops "$build/obj/plain/$layer" "${layer#pic/}" >>"$tmp/found"
done
cat "$tmp/found"
[ ! -s "$tmp/found" ] && [ ! -e "$tmp/missed" ]
