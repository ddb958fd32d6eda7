#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs make, and says in one line of the terminal how many of its steps are done.
# Where some are done already, there are fewer. All else that it prints, such as a
# warning, is shown as it is.
#
#   test/progress.sh MAKE [ARGUMENT...]

set -eu

[ -t 1 ] || exec "$@"
steps=$("$@" -n 2>/dev/null | grep -c "printf '  %-7s") || :
failed=$(mktemp "${TMPDIR:-/tmp}/ncclstat-progress.XXXXXX")
trap 'rm -f "$failed"' EXIT
trap 'exit 130' HUP INT TERM
done=0
{ "$@" 2>&1 || echo failed >"$failed"; } | {
	while IFS= read -r line; do
		case $line in
		'  '[A-Z]*) done=$((done + 1)) ;;
		*) printf '\r\033[K%s\n' "$line" ;;
		esac
		printf '\rbuilding: %d of %d\033[K' "$done" "$steps"
	done
	[ "$done" -eq 0 ] || echo
}
[ ! -s "$failed" ]
