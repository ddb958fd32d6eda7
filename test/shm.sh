# SPDX-License-Identifier: MIT
# Sourced by tests whose jobs need folders for their segments: the plugin takes
# only those that are in memory. $tmp is the test's own folder. Not a test.
# shellcheck shell=sh

# Jobs get the memory that they have where it is plentiful, so that their
# segments do not depend on the machine.
export NCCLSTAT_SHM_BYTES=16M

# shm_folder PATH: makes a folder in memory, and PATH as a link to it. A
# subshell may call it, too, so the folders are listed in a file.
shm_folder() {
	shm_made=$(mktemp -d /dev/shm/ncclstat-test.XXXXXX) || return
	echo "$shm_made" >>"$tmp/shm-folders"
	ln -s "$shm_made" "$1"
}

# shm_remove: removes all of them.
shm_remove() {
	[ ! -e "$tmp/shm-folders" ] || xargs rm -rf <"$tmp/shm-folders"
}
