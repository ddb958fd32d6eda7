#!/bin/sh
# SPDX-License-Identifier: MIT
# Each memory order is stated in the source, together with the operation that it
# pairs with:
#
#   - only shm/atomics.h uses C11 atomics; all other code calls its helpers,
#     which have the order in their names; ncclstat/range.h, which other
#     programs include alone, uses the compiler's built-in functions;
#   - each call of a helper with acquire or release in its name has a block
#     comment with "ORDER:" that ends at most 6 lines above it;
#   - each such comment says "pairs with FUNCTION() (FILE)", for every partner
#     it has, and FUNCTION in FILE has an ORDER comment too: one half of a
#     pair orders nothing.
#
# It prints what is wrong.  It cannot know whether a pair is right; test/model
# and the stress tests check that.  Before it judges the tree it breaks each
# rule once in a tree of two files, because a check that cannot fail is worth
# nothing.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-order.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

folders='include shm plugin analysis record fleet tui'

# check FOLDER: prints what is wrong as file:line: reason; nothing if all is
# well.
check() (
	cd "$1"
	if [ ! -e shm/atomics.h ]; then
		echo "shm/atomics.h:0: missing"
		return 0
	fi
	for f in $folders; do
		[ ! -d "$f" ] || find "$f" -name '*.[ch]' -type f
	done | grep -v -e '^shm/atomics\.h$' \
		-e '^include/ncclstat/range\.h$' | sort >"$tmp/list"
	# One awk must see all files, to know who is a partner.
	# shellcheck disable=SC2016,SC2046 # awk's own $; no names with blanks
	awk '
	function bad(line, why) {
		printf "%s:%d: %s\n", FILENAME, line, why
	}
	# A comment has ended on this line.
	function end_comment(text, partner, file, n) {
		if (text !~ /(^|[^A-Za-z_])ORDER:/)
			return
		order_end = FNR
		ordered[FILENAME, current] = 1
		gsub(/[ \t]+/, " ", text)
		n = 0
		while (match(text, /pairs with [A-Za-z0-9_]+\(\) \([^)]*\)/)) {
			partner = substr(text, RSTART + 11, RLENGTH - 11)
			text = substr(text, RSTART + RLENGTH)
			# "and with G() (FILE)" continues the sentence.
			sub(/^,? and (with )?/, "pairs with ", text)
			file = partner
			sub(/^[^ ]* \(/, "", file)
			sub(/\)$/, "", file)
			sub(/\(.*/, "", partner)
			pairs++
			pair_place[pairs] = FILENAME ":" FNR
			pair_function[pairs] = partner
			pair_file[pairs] = file
			n++
		}
		if (n == 0)
			bad(FNR, "ORDER: without \"pairs with F() (file)\"")
	}
	# Splits a line: code in `code`, with comments and the insides of
	# strings left out; comments are collected in `comment`.
	function split_line(rest, c, part) {
		code = ""
		while (rest != "") {
			if (in_comment) {
				c = index(rest, "*/")
				part = c ? substr(rest, 1, c - 1) : rest
				sub(/^[ \t]*\*?/, "", part)
				comment = comment " " part
				if (c == 0)
					return
				end_comment(comment)
				in_comment = 0
				rest = substr(rest, c + 2)
			} else if (!match(rest, /\/\*|\/\/|"|\047/)) {
				code = code rest
				return
			} else {
				c = substr(rest, RSTART, RLENGTH)
				code = code substr(rest, 1, RSTART - 1)
				rest = substr(rest, RSTART + RLENGTH)
				if (c == "/*") {
					in_comment = 1
					comment = ""
				} else if (c == "//") {
					return
				} else {
					code = code c c
					rest = after_string(rest, c)
				}
			}
		}
	}
	function after_string(rest, quote, i, c) {
		for (i = 1; i <= length(rest); i++) {
			c = substr(rest, i, 1)
			if (c == "\\")
				i++
			else if (c == quote)
				return substr(rest, i + 1)
		}
		return ""
	}
	FNR == 1 {
		in_comment = 0
		current = ""
		order_end = -100
	}
	FILENAME == "shm/atomics.h" {
		while (match($0, /ncs_[a-z0-9_]*(acquire|release)[a-z0-9_]*\(/)) {
			helper[substr($0, RSTART, RLENGTH - 1)] = 1
			$0 = substr($0, RSTART + RLENGTH)
		}
		next
	}
	{
		split_line($0)
		# The function we are in, as its head starts at the margin.
		if (code ~ /^[A-Za-z_].*\(/) {
			head = code
			gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?\)\)/, "", head)
			if (match(head, /[A-Za-z0-9_]+\(/))
				current = substr(head, RSTART, RLENGTH - 1)
		}
		rest = code
		while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
			word = substr(rest, RSTART, RLENGTH)
			rest = substr(rest, RSTART + RLENGTH)
			if (word == "_Atomic" || word == "stdatomic" ||
			    word ~ /^(memory_order|__atomic|__sync|atomic)_/)
				bad(FNR, word ": atomics are for shm/atomics.h")
			if (word in helper && FNR - order_end > 6)
				bad(FNR, word "() without an ORDER: comment")
		}
	}
	END {
		for (i = 1; i <= pairs; i++) {
			if ((pair_file[i], pair_function[i]) in ordered)
				continue
			printf "%s: pairs with %s() (%s), which has no ORDER:\n",
				pair_place[i], pair_function[i], pair_file[i]
		}
	}
	' shm/atomics.h $(cat "$tmp/list")
)

# plant FILE TEXT LINE: in a tree of this file and shm/atomics.h, something must
# be found in that line, or nothing in that file when LINE is 0.
plant() {
	file=$tmp/tree/$1
	mkdir -p "$(dirname "$file")"
	printf '%b' "$2" >"$file"
	check "$tmp/tree" | grep "^$1:" >"$tmp/caught" || :
	if [ "$3" -eq 0 ] && [ -s "$tmp/caught" ]; then
		echo "self-test: wrongly caught: $2"
		cat "$tmp/caught"
		echo x >>"$tmp/missed"
	elif [ "$3" -ne 0 ] && ! grep -q "^$1:$3: " "$tmp/caught"; then
		echo "self-test: not caught in line $3: $2"
		echo x >>"$tmp/missed"
	fi
	rm "$file"
}

mkdir -p "$tmp/tree/shm"
cp shm/atomics.h "$tmp/tree/shm/"

head='static int f(void)\n{\n'
far='\n\n\n\n\n\n'
pair='/* ORDER: pairs with f() (shm/planted.h). */\n'
call='ncs_store_release(&x, 1);\n}\n'
plant shm/planted.h "$head$pair$call" 0
plant shm/planted.h "$head/* ORDER: pairs with\n * f()\n * (shm/planted.h).
 */\n$call" 0
plant shm/planted.h "/* memory_order_relaxed */ char *s = \"ncs_fence_release()\";
" 0
plant shm/planted.h "$head$call" 3
plant plugin/planted.c "$head	x = ncs_load_acquire(&x);\n}\n" 3
plant tui/planted.c "$head	ncs_fence_acquire();\n}\n" 3
plant shm/planted.h "$head$pair$far$call" 10
plant shm/planted.h "$head/* ORDER: all is well. */\n$call" 3
plant shm/planted.h "$head/* ORDER: pairs with g() (shm/planted.h). */\n$call" 3
plant shm/planted.h "$head/* ORDER: pairs with f() (shm/absent.h). */\n$call" 3
plant shm/planted.h "$head/* ORDER: pairs with f() (shm/planted.h)
 * and with g() (shm/planted.h). */\n$call" 4
plant shm/planted.h '#include <stdatomic.h>\n' 1
plant shm/planted.h '\nstatic _Atomic int x;\n' 2
plant plugin/planted.c 'x = atomic_load_explicit(p, memory_order_relaxed);\n' 1
plant analysis/planted.c '__atomic_store_n(p, 1, __ATOMIC_RELAXED);\n' 1

check . >"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ] && [ ! -e "$tmp/missed" ]
