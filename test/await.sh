# SPDX-License-Identifier: MIT
# Sourced by tests that wait for something. Not a test.
# shellcheck shell=sh

# await COMMAND...: waits until the command succeeds, for about ten seconds.
await() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || return 1
		sleep 0.1
	done
}
