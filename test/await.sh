# SPDX-License-Identifier: MIT
# Sourced by tests that wait for something. Not a test.
# shellcheck shell=sh

# await COMMAND...: waits until the command succeeds, for a minute: other tests on the
# machine may hold it up for long. If it does not, says so: the check that fails then
# is another one.
await() {
	deadline=$(($(date +%s) + 60))
	until "$@"; do
		if [ "$(date +%s)" -ge "$deadline" ]; then
			echo "# waited in vain for: $*" >&2
			return 1
		fi
		sleep 0.1
	done
}
