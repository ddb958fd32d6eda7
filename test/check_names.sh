#!/bin/sh
# SPDX-License-Identifier: MIT
# A name stands for one thing, and a header says what it offers:
#
#   - no two C files have the same name;
#   - no tag of a struct, union or enum is defined twice, not even in two
#     independent C files;
#   - a function in a header begins with ncs_ or ncclstat_;
#   - a comment stands directly above each function in a header, or above the
#     group of lines that it belongs to;
#   - each source names its licence in its first two lines;
#   - each file that a page for developers names is there.
#
# In test/ only names of files and licences are checked: its programs share no
# code. It prints each offending line.  Before it judges the tree it
# breaks each rule once in a copy, because a check that cannot fail is worth
# nothing.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-names.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

product='include shm plugin analysis record fleet tui man'

# check_files FOLDER: names of C files that stand in two folders, and sources
# without a licence.
check_files() (
	cd "$1"
	find $product test \( -name captures -o -name golden \) -prune -o -type f \
		\( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' \
		-o -name '*.py' \) -print | sort >"$tmp/files"
	grep -E '\.([ch]|def)$' "$tmp/files" | awk -F/ '
	seen[$NF] != "" { print $0 ": the name of " seen[$NF] }
	{ seen[$NF] = $0 }
	'
	xargs awk '
	FNR <= 2 && /SPDX-License-Identifier: MIT/ { licensed[FILENAME] }
	END {
		for (i = 1; i < ARGC; i++)
			if (!(ARGV[i] in licensed))
				print ARGV[i] ": no SPDX-License-Identifier"
	}
	' <"$tmp/files"
)

# check_tags FOLDER: tags that are defined twice.
check_tags() (
	cd "$1"
	find $product \( -name '*.[ch]' -o -name '*.def' \) -type f | sort |
		xargs awk '
	/^[ \t]*(typedef )?(struct|union|enum)[ \t]+[A-Za-z_0-9]+[ \t]*\{/ {
		tag = $0
		sub(/^[ \t]*(typedef )?(struct|union|enum)[ \t]+/, "", tag)
		sub(/[^A-Za-z_0-9].*/, "", tag)
		if (tag in place)
			printf "%s:%d: tag %s: also in %s\n", FILENAME, FNR,
				tag, place[tag]
		else
			place[tag] = FILENAME ":" FNR
	}
	'
)

# check_headers FOLDER: functions in headers without our prefix, or without a
# comment.
check_headers() (
	cd "$1"
	find $product -name '*.h' -type f | sort | xargs awk '
	function bad(why) {
		printf "%s:%d: %s\n", FILENAME, FNR, why
	}
	FNR == 1 {
		in_comment = in_macro = documented = 0
	}
	# A blank line ends the group that a comment speaks of.
	/^[ \t]*$/ {
		documented = in_macro = 0
		next
	}
	in_macro {
		in_macro = /\\$/
		next
	}
	/^[ \t]*#/ {
		in_macro = /\\$/
		next
	}
	in_comment {
		if (/\*\//) {
			in_comment = 0
			documented = 1
		}
		next
	}
	/^[ \t]*\/\*/ {
		in_comment = !/\*\//
		documented = !in_comment
		next
	}
	# At the margin, a name and a parenthesis: a function, or a macro.
	/^[A-Za-z_].*\(/ {
		head = $0
		sub(/\/\*.*/, "", head)
		gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?\)\)/, "", head)
		if (!match(head, /[A-Za-z_][A-Za-z_0-9]*[ ]?\(/))
			next
		name = substr(head, RSTART, RLENGTH - 1)
		if (head ~ /^typedef/ || name ~ /^[A-Z_0-9]+$/ ||
		    name ~ /^(static_assert|_Static_assert)$/ || head ~ /=/)
			next
		# The name that NVTX looks for is not ours to choose.
		if (name !~ /^(ncs|ncclstat)_/ && name != "InitializeInjectionNvtx2")
			bad(name "(): no prefix")
		if (!documented)
			bad(name "(): no comment above it")
	}
	'
)

# check_pages FOLDER: names of files in the pages that are not there.
check_pages() (
	cd "$1"
	for page in *.md test/*/README.md; do
		[ -e "$page" ] || continue
		grep -noE '`[a-z]+/[A-Za-z0-9_/.-]+\.(c|h|def|sh|py|md|in)`' "$page" |
			tr -d '\140' | while IFS=: read -r line file; do
			[ -e "$file" ] || [ -e "include/$file" ] ||
				[ -e "include/ncclstat/$file" ] ||
				echo "$page:$line: no $file"
		done
	done
)

check() {
	check_pages "$1"
	check_files "$1"
	check_tags "$1"
	check_headers "$1"
}

# plant FILE TEXT WANT: with this file added to the copy, WANT must be found.
plant() {
	file=$tmp/tree/$1
	[ ! -e "$file" ] || {
		echo "self-test: $1 is there already"
		echo x >>"$tmp/missed"
	}
	printf '%b' "$2" >"$file"
	check "$tmp/tree" >"$tmp/caught"
	if [ -n "$3" ]; then
		grep -q "$3" "$tmp/caught" || {
			echo "self-test: not caught: $2"
			echo x >>"$tmp/missed"
		}
	elif grep planted "$tmp/caught"; then
		echo "self-test: wrongly caught: $2"
		echo x >>"$tmp/missed"
	fi
	rm "$file"
}

mkdir "$tmp/tree"
for folder in $product test; do
	mkdir "$tmp/tree/$folder"
done
mkdir -p "$tmp/tree/analysis/model" "$tmp/tree/shm/read"
cp shm/ring.h "$tmp/tree/shm/"
cp shm/read/reader_internal.h "$tmp/tree/shm/read/"
cp analysis/model/model.h "$tmp/tree/analysis/model/"

spdx='/* SPDX-License-Identifier: MIT */\n'
plant shm/planted.h "$spdx/* Adds. */\nint ncs_planted(int a);
int ncs_planted_too(int a);\n" ''
plant shm/planted.h "$spdx/* Adds. */\nstatic inline int *\nncs_planted(int a)\n" ''
plant shm/planted.h "$spdx#define PLANTED(x) \\\\\n	put(x)\n" ''
plant planted.md 'See `shm/absent.c`.' 'planted.md:1: no shm/absent.c'
plant planted.md 'See `shm/ring.h`.' ''
plant shm/model.h "$spdx" 'shm/model.h: the name of analysis/model/model.h'
plant test/planted.c 'int main(void);\n' 'test/planted.c: no SPDX'
plant shm/planted.c "${spdx}struct ncs_reader {\n" 'tag ncs_reader: also in'
plant shm/planted.c "${spdx}struct planted {\n};\nenum planted {\n" \
	'tag planted: also in'
plant shm/planted.h "$spdx/* Adds. */\nint planted(int a);\n" \
	'planted(): no prefix'
plant shm/planted.h "$spdx/* Adds. */\nstatic inline int\nplanted(int a)\n" \
	'planted(): no prefix'
plant shm/planted.h "$spdx/* Adds. */\nint ncs_a(int a);\n\nint ncs_b(int a);\n" \
	'ncs_b(): no comment'

check . >"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ] && [ ! -e "$tmp/missed" ]
