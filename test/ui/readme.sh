#!/bin/sh
# SPDX-License-Identifier: MIT
# Each command of README.md runs, with scripts in the place of torchrun, python,
# srun, kubectl, ssh and sudo, and README.md has at most 120 lines and no broken
# link. What make would do is printed only.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
own_segments
root=$PWD
PATH=$(cd "$build" && pwd):$PATH
mkdir "$tmp/bin" "$tmp/work" "$tmp/empty"
shm_folder "$tmp/shm2"

# script NAME: makes a command of standard input.
script() {
	{
		echo '#!/bin/sh'
		cat
	} >"$tmp/bin/$1"
	chmod +x "$tmp/bin/$1"
}

# A program that uses NCCL: it loads the plugin that it is told to.
script python <<END
test "\$1" = train.py && exec "$root/$replay" \\
	--plugin "\${LD_LIBRARY_PATH%%:*}/\$NCCL_PROFILER_PLUGIN" --speed max \\
	"$root"/test/captures/net-v5-ddp8/rank0.*
END
script torchrun <<'END'
test "$1" = --nproc-per-node=8 && shift && exec python "$@"
END
script srun <<'END'
while [ "${1#-}" != "$1" ]; do shift; done
export SLURMD_NODENAME=n1
exec "$@"
END
script squeue <<'END'
echo 'RUNNING 4711 4711 n1'
END
script scontrol <<'END'
echo n1
END
script kubectl <<END
if [ "\$1" = get ]; then echo "default/trainer-0 Running"; exit; fi
while [ "\$1" != -- ]; do shift; done
shift
NCCLSTAT_DIR="$NCCLSTAT_DIR" exec "\$@"
END
# The last option before the command is the host; n01 has the job.
script ssh <<END
while [ "\${1#n0}" = "\$1" ]; do shift; done
NCCLSTAT_DIR="$tmp/shm2"
[ "\$1" != n01 ] || NCCLSTAT_DIR="$NCCLSTAT_DIR"
export NCCLSTAT_DIR
shift
exec sh -c "\$*"
END
script sudo <<'END'
exec "$@"
END
sed -i "s|^exec \"\\\$@\"|NCCLSTAT_DIR=$NCCLSTAT_DIR &|" "$tmp/bin/srun"
export PATH="$tmp/bin:$PATH"

"$replay" --loop 0 test/captures/net-v5-ddp8/* >"$tmp/replay" 2>&1 &
job=$!
is_there() {
	[ "$("$ncclstat" --list 2>/dev/null | grep -c alive)" -ge 8 ]
}
check 'a job runs' await is_there

# Where only processes of its own are seen, if that is allowed.
apart='unshare --pid --fork --mount-proc'
$apart true 2>/dev/null || apart=

# try COMMAND: runs a command of README.md, without its comment.
try() {
	command=${1%%  #*}
	command=${command%% # *}
	# shellcheck disable=SC2016,SC2086 # for sh -c to expand; a list of words
	case $command in
	*make*)
		want=0
		set -- make -n -C "$root" ${command##*make}
		;;
	*--record=*) want=0 && set -- timeout -s INT 3 sh -c "exec $command" ;;
	*--listen=*)
		want=0
		port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
		set -- timeout -s TERM 2 sh -c "exec ${command%:*}:$port"
		;;
	# The live view needs a terminal.
	*--slurm=* | *--kube=* | *--hosts=*)
		want=0
		set -- timeout 60 sh -c "$command --dump"
		;;
	# The players of the job have no NCCL, but processes of other tests may.
	*--check*) want=0 && set -- $apart ncclstat --check ;;
	*compare*)
		want=0
		cp "$tmp/work/job.ncs" "$tmp/work/old.ncs"
		set -- timeout 60 sh -c "$command"
		;;
	*) want=0 && set -- timeout 60 sh -c "$command" ;;
	esac
	status=0
	(cd "$tmp/work" && "$@") >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
	case $command in
	# timeout's own status stands for a command that goes on until stopped.
	*--record=*|*--listen=*) [ "$status" -ne 124 ] || status=0 ;;
	# Slow, or well: it depends on what the job does now.
	*diagnose*) [ "$status" -ne 1 ] || status=0 ;;
	esac
	[ "$status" -eq "$want" ] && return
	echo "$command: status $status"
	cat "$tmp/out" "$tmp/err"
	return 1
}

python3 test/ui/page_commands.py README.md >"$tmp/commands"
check 'README.md has commands' test "$(wc -l <"$tmp/commands")" -ge 18
while read -r line; do
	check "$line" try "$line"
done <"$tmp/commands"

# shellcheck disable=SC2016
check 'README.md has at most 120 lines' sh -c '[ "$(wc -l <README.md)" -le 120 ]'
missing_links() {
	for file in README.md man/gallery.md; do
		grep -o '](\([^)]*\))' "$file" | tr -d ']()' | grep -v : |
			while read -r link; do
			[ -e "$(dirname "$file")/$link" ] || echo "$file: $link"
		done
	done >"$tmp/links"
	cat "$tmp/links"
	[ ! -s "$tmp/links" ]
}
check 'links lead to files' missing_links
exit "$failed"
