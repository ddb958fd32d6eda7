#!/bin/sh
# SPDX-License-Identifier: MIT
# A folder is a layer, and an #include may only point to the left:
#
#   include <- shm <- plugin
#   include <- shm <- analysis <- record <- tui
#
# and beyond that
#   - the plugin, and what of shm/ goes into it, never reach the reader's half,
#     which is shm/read and include/ncclstat/reader.h;
#   - only tui/term/term.[ch] and tui/term/curses.[ch] include curses;
#   - only record/ includes liburing, xxhash and zstd; only record/ and tui/
#     include jansson;
#   - nobody includes NCCL's or CUDA's headers: the plugin has its own copy of
#     what it needs; only test/gpu, built where there is a GPU, has real jobs;
#   - a project file is named from the root of the repository, or from
#     include/, so that what is included can be read off the line.
# test/ and man/ (a generator for the pages) may include everything of ours.
#
# It prints each offending line.  Before it judges the tree it breaks each rule
# once in a copy, because a check that cannot fail is worth nothing.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-layers.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

folders='include shm plugin analysis record tui test man'

# sources FOLDER: the C files below it, from its root.
sources() (
	cd "$1"
	for f in $folders; do
		[ ! -d "$f" ] || find "$f" -name '*.[ch]' -type f
	done | sort
)

# check FOLDER: offending lines as file:line: reason; silent when all is well.
check() (
	sources "$1" >"$tmp/list"
	cd "$1"
	[ -s "$tmp/list" ] || return 0
	# shellcheck disable=SC2016 # awk's own $
	tr '\n' '\0' <"$tmp/list" | xargs -0 awk '
	BEGIN {
		may["include"] = " include "
		may["shm"] = " include shm "
		may["plugin"] = " include shm plugin "
		may["analysis"] = " include shm analysis "
		may["record"] = " include shm analysis record "
		may["tui"] = " include shm analysis record tui "
		may["test"] = may["man"] = \
			" include shm plugin analysis record tui test man "
		reader = "^(shm/read/|ncclstat/reader[.]h$)"
	}
	function bad(why) {
		sub(/^[ \t]+/, "", line)
		printf "%s:%d: %s: %s\n", FILENAME, FNR, why, line
	}
	FNR == 1 {
		from = FILENAME
		sub(/\/.*/, "", from)
	}
	/^[ \t]*#[ \t]*include/ {
		line = $0
		if (!match($0, /["<][^">]+[">]/)) {
			bad("an include that cannot be read off the line")
			next
		}
		quoted = substr($0, RSTART, 1) == "\""
		name = substr($0, RSTART + 1, RLENGTH - 2)
		to = name
		if (!sub(/\/.*/, "", to))
			to = ""
		if (to == "ncclstat")
			to = "include"
		ours = to in may
		if (quoted && (!ours || name ~ /(^|\/)[.][.]?(\/|$)/)) {
			bad("not named from the root")
			next
		}
		if (ours && !index(may[from], " " to " "))
			bad(from " may not include " to)
		if ((from == "plugin" || from == "shm") &&
		    FILENAME !~ reader && name ~ reader)
			bad("the reader must stay out of the plugin")
		if (ours)
			next
		if (name ~ /^(nccl|cuda|nvml)/ && FILENAME !~ /^test\/gpu\//)
			bad("headers of NCCL and CUDA are not ours to need")
		if (name ~ /(^|\/)(n?curses|term|panel|menu|form)[.]h$/ &&
		    FILENAME !~ /^tui\/term\/(term|curses)[.][ch]$/ && from != "test")
			bad("curses only in tui/term/term and tui/term/curses")
		if (name ~ /^(liburing|xxhash|zstd)/ && from !~ /^(record|test)$/)
			bad("liburing, xxhash and zstd only in record")
		if (name ~ /^jansson/ && from !~ /^(record|tui|test)$/)
			bad("jansson only in record and tui")
	}
	'
)

# plant FILE LINE: the line, in a new file of the copy, must be found.
plant() {
	file=$tmp/tree/$1
	mkdir -p "$(dirname "$file")"
	[ ! -e "$file" ] || mv "$file" "$tmp/saved"
	printf '%s\n' "$2" >"$file"
	if ! check "$tmp/tree" | grep -q "^$1:1: "; then
		echo "self-test: not caught in $1: $2"
		echo x >>"$tmp/missed"
	fi
	rm "$file"
	[ ! -e "$tmp/saved" ] || mv "$tmp/saved" "$file"
}

mkdir "$tmp/tree"
for f in $folders; do
	[ ! -d "$f" ] || cp -R "$f" "$tmp/tree/"
done
plant include/ncclstat/planted.h '#include "shm/ring.h"'
plant shm/planted.c '#include "plugin/plugin.h"'
plant shm/planted.h '#include "analysis/model/model.h"'
plant shm/ring.h '#include "shm/read/reader.h"'
plant shm/segment.c '#include "shm/read/discover.h"'
plant plugin/planted.c '  #  include "shm/read/reader.h"'
plant plugin/planted.h '#include "shm/read/discover.h"'
plant plugin/planted.c '#include "shm/read/remote.h"'
plant shm/control.c '#include "shm/read/guard.h"'
plant plugin/planted.h '#include <ncclstat/reader.h>'
plant shm/planted.c '#include "ncclstat/reader.h"'
plant plugin/planted.c '#include <tui/fmt.h>'
plant plugin/planted.c '#include "analysis/model/model.h"'
plant plugin/planted.c '#include <nccl.h>'
plant test/host/planted.c '#include <nccl.h>'
plant analysis/planted.c '#include "record/format/file_format.h"'
plant analysis/planted.c '#include "plugin/plugin.h"'
plant analysis/planted.c '#include <ncurses.h>'
plant analysis/planted.c '#include <jansson.h>'
plant record/planted.c '#include "tui/fmt.h"'
plant tui/planted.c '#include "plugin/plugin.h"'
plant tui/planted.c '#include <ncursesw/curses.h>'
plant tui/planted.c '#include <liburing.h>'
plant analysis/planted.c '#include <zstd.h>'
plant tui/planted.c '#include "term.h"'
plant tui/planted.c '#include "../shm/ring.h"'
plant tui/planted.c '#include "tui/../plugin/plugin.h"'
plant tui/planted.c '#include PLANTED_H'

check . >"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ] && [ ! -e "$tmp/missed" ]
