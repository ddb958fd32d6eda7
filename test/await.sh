# SPDX-License-Identifier: MIT
# Sourced by tests that wait for something. Not a test.
# shellcheck shell=sh

# await COMMAND...: waits until the command succeeds, for about half a minute:
# other tests on the machine may hold it up for long.
await() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 300 ] || return 1
		sleep 0.1
	done
}
