#!/bin/sh
# SPDX-License-Identifier: MIT
# Comments are sentences that name their subject: none begins with a word such
# as "What", "Of", "Who" or "So" that points at something unsaid, and threads,
# ranks and bytes are not "who".
#
# It prints each offending line.  First it looks at comments that break the
# rule, to see that this is noticed.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-words.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

words='What|Of|Who|Whose|As|So|Likewise|The same'
begins="(/[*]+|^[[:space:]]*[*]|^[[:space:]]*#|^[[:space:]]*//)"

# check FOLDER: prints offending lines.  Only lines that open a comment count: a
# later line may continue a sentence, and begin with any word.
check() (
	cd "$1"
	find . \( -name captures -o -name golden -o -name '.git' \
		-o -name 'build*' \) -prune -o -type f \( -name '*.[ch]' \
		-o -name '*.def' \) -print | sort |
		xargs grep -nE "/[*]+ ($words)( |,|\$)|[*] .*(of|by|to) who |how manieth" \
			/dev/null || :
	find . \( -name captures -o -name golden -o -name '.git' \
		-o -name 'build*' \) -prune -o -type f \( -name '*.sh' \
		-o -name '*.py' -o -name Makefile \) -print | sort |
		xargs awk '
	# The first line of a comment: no comment on the line before.
	/^[ \t]*#/ && !before && /^[ \t]*# ('"$words"')( |,|$)/ {
		printf "%s:%d:%s\n", FILENAME, FNR, $0
	}
	{ before = /^[ \t]*#/ }
	'
)

mkdir "$tmp/tree"
cat >"$tmp/tree/planted.c" <<'END'
/* What the thread has told. */
int a; /* Of the ring. */
/** Who waits. */
/* Computes the sum
 * of who ends last. */
/* Whatever happens, as is. So it is. */
END
printf '# %s long as\n# What comes on a later line may go on with a sentence.\n' \
	As >"$tmp/tree/planted.sh"
check "$tmp/tree" | sed 's/:[^0-9].*//' >"$tmp/caught"
cat >"$tmp/wanted" <<'END'
./planted.c:1
./planted.c:2
./planted.c:3
./planted.c:5
./planted.sh:1
END
cmp -s "$tmp/wanted" "$tmp/caught" || {
	echo "self-test: caught other lines than these:"
	cat "$tmp/wanted"
	exit 1
}

check . >"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ]
