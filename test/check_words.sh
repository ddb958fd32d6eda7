#!/bin/sh
# SPDX-License-Identifier: MIT
# Comments, pages of the manual, README.md and texts for users are sentences that
# name their subject: none begins with a word such as "What", "Of", "Who" or "So"
# that points at something unsaid, and threads, ranks and bytes are not "who".
# Some phrases of which readers asked what they mean are not to come back.
#
# It prints each offending line.  First it looks at lines that break the rules, to
# see that this is noticed.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-words.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

words='What|Of|Who|Whose|As|So|Likewise|The same'

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

openings='What|Of|Who|Whose|So|Likewise'
phrases='under way|as was asked for|takes? an accident|be off at most'

# check_text FOLDER: prints offending lines of texts for users.
check_text() (
	cd "$1"
	grep -nE "^($openings)[ ,]|$phrases" /dev/null man/*.in || :
	grep -nE "(^|[.:|] )(Who|Whose|Of|So|Likewise)[ ,]|$phrases" /dev/null \
		./*.md || :
	# The name of a group of keys is no sentence.
	grep -nE "\"($openings)[ ,]|\".*($phrases)" /dev/null \
		include/ncclstat/tables/*.def man/*_fields.h |
		grep -v 'X(COLLECT, "What' || :
	find tui analysis plugin record shm -name '*.c' -print | sort |
		xargs grep -nE "\"[^\"]*($phrases)" /dev/null || :
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

mkdir -p "$tmp/text/man" "$tmp/text/include/ncclstat/tables"
for layer in tui analysis plugin record shm; do
	mkdir "$tmp/text/$layer"
done
cat >"$tmp/text/man/planted.7.in" <<'END'
What is slow is told.
A rank that is late is named.
It may be off at most 5 us.
END
printf '| a | Of all ranks. |\n| b | All ranks. |\n' >"$tmp/text/PLANTED.md"
printf '\tX(A, "a", "Whose it is.")\n\tX(B, "b", "The owner.")\n' \
	>"$tmp/text/include/ncclstat/tables/planted.def"
printf '\tputs("it is under %s");\n' way x >"$tmp/text/tui/planted.c"
printf '/* none */\n' >"$tmp/text/man/planted_fields.h"
check_text "$tmp/text" | sed 's/:[^0-9].*//' >"$tmp/caught"
cat >"$tmp/wanted" <<'END'
man/planted.7.in:1
man/planted.7.in:3
./PLANTED.md:1
include/ncclstat/tables/planted.def:1
tui/planted.c:1
END
cmp -s "$tmp/wanted" "$tmp/caught" || {
	echo "self-test: caught other texts than these:"
	cat "$tmp/wanted"
	exit 1
}

check . >"$tmp/found"
check_text . >>"$tmp/found"
cat "$tmp/found"
[ ! -s "$tmp/found" ]
