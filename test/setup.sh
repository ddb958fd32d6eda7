#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs packages that a build, a demo or the tests need and this machine
# lacks.
#
#   test/setup.sh build|demo|check|fuzz|aarch64
#
# For a build it installs nothing and only says what is missing. aarch64 is what test/aarch64/run.sh needs; its libraries go into a folder.
# It probes for things, not for packages (does the compiler link, does
# pkg-config know the library), so it works on every system. If everything is
# there, it is quick and silent and needs no network. Missing packages are
# installed by apt-get, as root or through sudo; if that fails it prints what is
# missing and what to type. Packages without which some tests are skipped are
# optional. Must not change anything else, except $BUILD/trace_processor,
# $BUILD/duckdb and $BUILD-aarch64.

set -eu

what=${1:-check}
case $what in
build | demo | check | fuzz | aarch64) ;;
*)
	echo "usage: test/setup.sh build|demo|check|fuzz|aarch64" >&2
	exit 2
	;;
esac

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-setup.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

CC=${CC:-cc}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}
missing=
packages=
wishes=

# want NAME PACKAGE... [/ RPM...] -- COMMAND...: notes the packages of Debian,
# and those of Fedora and RHEL if they have other names, unless COMMAND
# succeeds, which shows that NAME is there.
want() {
	name=$1
	shift
	debs=
	rpms=
	while [ "$1" != -- ] && [ "$1" != / ]; do
		debs="$debs $1"
		shift
	done
	[ "$1" != / ] || shift
	while [ "$1" != -- ]; do
		rpms="$rpms $1"
		shift
	done
	shift
	if ! "$@" >/dev/null 2>&1; then
		missing="$missing  $name (Debian, Ubuntu:$debs; Fedora, RHEL:${rpms:-$debs})
"
		packages="$packages$debs"
	fi
}

# wish PACKAGE -- COMMAND...: does what want does, for an optional package.
wish() {
	wished=$1
	shift 2
	"$@" >/dev/null 2>&1 || wishes="$wishes $wished"
}

have() {
	command -v "$1"
}

# links LANGUAGE COMPILER FLAG...: succeeds if a program compiles and links.
links() {
	lang=$1
	shift
	echo '#include <stdio.h>
int main(void) { return 0; }' | "$@" -x "$lang" - -o "$tmp/out"
}

fuzzes() {
	echo 'int LLVMFuzzerTestOneInput(const char *d, long n);
int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }' |
		clang -fsanitize=fuzzer,address -x c - -o "$tmp/out"
}

# want_library NAME MODULE DEB RPM: does what want does, for a library that
# pkg-config knows as MODULE.
want_library() {
	want "$1" "$3" / "$4" -- "$PKG_CONFIG" --exists "$2"
}

probe() {
	missing=
	packages=
	wishes=
	# $CC may be several words, such as "ccache gcc".
	# shellcheck disable=SC2086
	want 'a C compiler' gcc libc6-dev / gcc glibc-devel -- links c $CC
	want 'make' make -- have make
	want 'pkg-config' pkg-config / pkgconf-pkg-config -- \
		have "$PKG_CONFIG"
	want_library 'ncurses (wide)' ncursesw libncurses-dev ncurses-devel
	want_library 'jansson' jansson libjansson-dev jansson-devel
	want_library 'liblzma' liblzma liblzma-dev xz-devel
	[ "${WITH_URING:-1}" = 0 ] ||
		want_library 'liburing (or make WITH_URING=0)' \
			liburing liburing-dev liburing-devel
	want_library 'xxHash' libxxhash libxxhash-dev xxhash-devel
	want_library 'Zstandard' libzstd libzstd-dev libzstd-devel
	[ "$what" = build ] || want 'tmux' tmux -- have tmux
	case $what in
	build | demo) ;;
	*) probe_for_tests ;;
	esac
	[ "$what" != fuzz ] || want 'clang with libFuzzer' clang \
		libclang-rt-dev -- fuzzes
	[ "$what" != aarch64 ] || probe_for_aarch64
	# shellcheck disable=SC2086 # a list of words
	packages=$(printf '%s\n' $packages | sort -u | tr '\n' ' ')
	packages=${packages% }
}

probe_for_aarch64() {
	want 'a compiler for aarch64' gcc-aarch64-linux-gnu \
		libc6-dev-arm64-cross -- links c aarch64-linux-gnu-gcc
	want 'an emulator of aarch64' qemu-user -- have qemu-aarch64
}

probe_for_tests() {
	want 'a C++ compiler' g++ / gcc-c++ -- links c++ c++
	want_library 'cmocka' cmocka libcmocka-dev libcmocka-devel
	# shellcheck disable=SC2086
	want 'ASan and UBSan' gcc / libasan libubsan -- \
		links c $CC -fsanitize=address,undefined
	# shellcheck disable=SC2086
	want 'TSan' gcc / libtsan -- links c $CC -fsanitize=thread
	want 'nm and readelf' binutils -- have readelf
	want 'python3' python3 -- have python3
	want 'mandoc' mandoc -- have mandoc
	want 'jq' jq -- have jq
	want 'ps and pgrep' procps / procps-ng -- have pgrep
	want 'xz' xz-utils / xz -- have xz
	wish valgrind -- have valgrind
	# Debuggers, for stacks.
	wish gdb -- have gdb
	wish elfutils -- have eu-stack
	wish zsh -- have zsh
	wish fish -- have fish
	wish nodejs -- have node
	wish libmicrohttpd-dev -- "$PKG_CONFIG" --exists libmicrohttpd
	wish prometheus -- have promtool
	wish prometheus-alertmanager -- have prometheus-alertmanager
	wish prometheus-node-exporter -- have prometheus-node-exporter
	wish prometheus-exporter-exporter -- have prometheus-exporter-exporter
	wish nginx -- test -x /usr/sbin/nginx
	wish python3-prometheus-client -- \
		python3 -c 'import prometheus_client.openmetrics.parser'
	# Before 4.0 it does not know the draft of 2020.
	wish python3-jsonschema -- \
		python3 -c 'from jsonschema import Draft202012Validator'
	wish npm -- have npm
	# Launchers, for the tests of many nodes.
	wish openssh-server -- test -x /usr/sbin/sshd
	wish openssh-client -- have ssh
	wish slurm-wlm -- have slurmd
	wish munge -- have munged
	wish clustershell -- have clush
	wish pdsh -- have pdsh
	wish openmpi-bin -- have mpirun
	wish iproute2 -- have ip
}

# fetch: gets the trace processor and DuckDB for the tests of exports, and
# libraries for aarch64.
fetch() {
	[ "$what" != aarch64 ] ||
		sh test/aarch64/fetch.sh "${BUILD:-build}-aarch64/sysroot"
	[ "$what" = demo ] ||
		sh test/trace_processor/fetch.sh "${BUILD:-build}/trace_processor" ||
		:
	[ "$what" = demo ] ||
		sh test/duckdb/fetch.sh "${BUILD:-build}/duckdb" || :
}

complain() {
	echo "ncclstat: this machine lacks" >&2
	printf '%s' "$missing" >&2
}

# without_wishes: ends successfully if only optional packages are missing.
without_wishes() {
	[ -z "$missing" ] || return 0
	fetch
	exit 0
}

probe
if [ "$what" = build ]; then
	[ -n "$missing" ] || exit 0
	complain
	echo "Install these, then run make again. \"make plugin\" builds the" \
		"plugin alone, which needs a C compiler only." >&2
	exit 1
fi
[ -n "$wishes" ] || without_wishes

if ! command -v apt-get >/dev/null 2>&1; then
	without_wishes
	complain
	echo "Install these, then run make again." >&2
	exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	# Without a terminal sudo cannot ask for a password.
	if command -v sudo >/dev/null 2>&1 &&
	   { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
		as_root=sudo
	else
		without_wishes
		complain
		echo "Install these, then run make again:" >&2
		echo "  sudo apt-get update" >&2
		echo "  sudo apt-get install --no-install-recommends $packages" >&2
		exit 1
	fi
fi

# The lock: on a machine that has just started another apt may be running.
apt() {
	$as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
		apt-get -q -o DPkg::Lock::Timeout=300 "$@" >>"$tmp/log" 2>&1
}

echo "Installing by apt-get: $packages$wishes"
# An update that fails for one source does not matter if the packages are found.
apt update || :
# shellcheck disable=SC2086 # a list of words
if ! apt install -y --no-install-recommends $packages; then
	tail -n 20 "$tmp/log" >&2
fi
# shellcheck disable=SC2086
[ -z "$wishes" ] || apt install -y --no-install-recommends $wishes || :

probe
if [ -n "$missing" ]; then
	complain
	echo "and apt-get could not install it. Try by hand:" >&2
	echo "  ${as_root:+$as_root }apt-get update" >&2
	echo "  ${as_root:+$as_root }apt-get install" \
		"--no-install-recommends $packages" >&2
	exit 1
fi
fetch
