#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes libraries to link the plugin with, so that it loads with every glibc
# from 2.17 on, whatever glibc it is built with.
#
#   plugin/old_glibc.sh FOLDER
#
# glibc 2.34 moved libdl and libpthread into libc and gave their functions a
# new version, which a linker takes and an older glibc does not have. The
# libraries that this makes have the names, functions and versions of before;
# they contain no code and are only linked with. Later glibc still has both
# libraries and all versions. What glibc 2.33 renamed is in
# shm/file_status.h. On other architectures than those below, nothing is made.

set -eu

folder=$1
CC=${CC:-cc}

case $($CC -dumpmachine) in
x86_64*-linux-gnu) base=GLIBC_2.2.5 setname=GLIBC_2.12 setclock=GLIBC_2.3.3 ;;
aarch64*-linux-gnu) base=GLIBC_2.17 setname=GLIBC_2.17 setclock=GLIBC_2.17 ;;
*) base= setname= setclock= ;;
esac

# library NAME FUNCTION@VERSION...: makes a library that has these functions.
library() {
	name=$1
	shift
	for function; do
		echo "void stub_${function%@*}(void) {}"
		echo "__asm__(\".symver stub_${function%@*},${function%@*}@@${function#*@}\");"
	done >"$folder/stub.c"
	for function; do
		echo "${function#*@} { };"
	done | sort -u >"$folder/stub.map"
	$CC -shared -nostdlib -fPIC -w -Wl,-soname,"$name" \
		-Wl,--version-script="$folder/stub.map" \
		-o "$folder/$name" "$folder/stub.c"
	rm "$folder/stub.c" "$folder/stub.map"
}

mkdir -p "$folder"
rm -f "$folder"/lib*
if [ -n "$base" ]; then
	# shellcheck disable=SC2046 # a list of words
	library libdl.so.2 $(printf "%s@$base " \
		dlopen dlclose dlsym dladdr dlerror)
	# shellcheck disable=SC2046 # a list of words
	library libpthread.so.0 $(printf "%s@$base " \
		pthread_create pthread_attr_setstacksize pthread_sigmask \
		pthread_mutex_trylock pthread_mutex_timedlock) \
		pthread_setname_np@$setname pthread_condattr_setclock@$setclock
fi
