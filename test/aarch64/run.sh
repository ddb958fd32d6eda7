#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds for aarch64 with a cross compiler, and runs the unit, plugin and stress
# tests under qemu. There the plugin's clock is another counter (cntvct_el0), and
# memory is ordered less than on x86: compilers and libraries differ, and what
# code must not rely on.
#
#   BUILD=FOLDER test/aarch64/run.sh SYSROOT TEST...
#
# SYSROOT comes from fetch.sh. Tests are named as below test/. Says what is not
# tested. Exits as test/run_tests.sh does.

set -eu
cd "$(dirname "$0")/../.."

sysroot=$(cd "${1:?usage: run.sh SYSROOT TEST...}" && pwd)
shift
libraries=$sysroot/usr/lib/aarch64-linux-gnu
export PKG_CONFIG_SYSROOT_DIR="$sysroot"
export PKG_CONFIG_LIBDIR="$libraries/pkgconfig:$sysroot/usr/share/pkgconfig"

programs=
for test in "$@"; do
	case $test in
	# Curses 6.4 damages its memory there as soon as it knows keys, in
	# programs of a few lines, too.
	unit/tui/screen/test_screens) ;;
	# It compares two clocks to a few microseconds, which an emulator
	# takes between their readings.
	plugin/test_launch) ;;
	*) programs="$programs $BUILD/test/$test" ;;
	esac
done

# Programs find their libraries by themselves, and -L / turns off what qemu does to
# find them: it guards a list of files by a lock, which a forked child may find taken
# by a thread that it does not have.
loader=$sysroot/lib/ld-linux-aarch64.so.1
path=$libraries:$sysroot/lib/aarch64-linux-gnu
# No manual and no completions: their generators would have to run here.
# shellcheck disable=SC2086 # lists of words
make -j"$(nproc)" BUILD="$BUILD" MAN= COMPLETION= AR=aarch64-linux-gnu-ar \
	LDFLAGS="-Wl,--dynamic-linker=$loader -Wl,--disable-new-dtags,-rpath=$path" \
	CC="aarch64-linux-gnu-gcc --sysroot=$sysroot" all $programs
cat <<END
aarch64: not tested are
  the order of memory in hardware: qemu runs each instruction as this machine's
    processor does; test/model proves the orders for any processor
  the program in a terminal, the scripts of test/ui, and what tests start as
    programs of their own: qemu runs one program, not those that it starts
  pictures of the screen (test_screens): curses fails there under qemu
  times of launches (test_launch): the emulator delays readings of clocks
  how many pages a forked child touches: the emulator touches its own
  ranks that end by exec, and labels from the environment of a process that was
    executed: the emulator does not run what they execute
  sanitizers, fuzzers and the GPU
END
# shellcheck disable=SC2086
TEST_TIMEOUT=600 TEST_EMULATOR="qemu-aarch64 -L /" \
	sh test/run_tests.sh $programs
