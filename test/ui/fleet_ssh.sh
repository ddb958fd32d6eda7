#!/bin/sh
# SPDX-License-Identifier: MIT
# Many nodes through OpenSSH, end to end: an sshd for each of three nodes, with
# keys of their own, in network namespaces without a way out. A job hangs across
# two of them. Keys are refused and changed, an address does not answer, the
# link is cut, sshd and the viewer are killed.
#
# Prints "ok ..." or "not ok ..." for each check.

set -u
cd "$(dirname "$0")/../.." || exit

sshd=$(PATH=$PATH:/usr/sbin command -v sshd) || {
	echo 'sshd is not installed'
	exit 77
}
for needed in ssh ssh-keygen ip nsenter; do
	command -v "$needed" >/dev/null || {
		echo "$needed is not installed"
		exit 77
	}
done
if [ -z "${FLEET_SSH_INSIDE:-}" ]; then
	unshare --net --mount --uts true 2>/dev/null || {
		echo 'namespaces are not permitted here'
		exit 77
	}
	FLEET_SSH_INSIDE=1 exec unshare --net --mount sh test/ui/fleet_ssh.sh
fi

. test/fleet.sh
fleet_enter ssh

# --- Networks ------------------------------------------------------------------

# n2 is at the other end of a link, and nobody takes what is for 10.8.0.9.
unshare --net sleep 600 &
away=$!
fleet_jobs="$fleet_jobs $away"
net=/proc/$away/ns/net
tries=0
while [ "$(readlink /proc/self/ns/net)" = "$(readlink "$net")" ] &&
	[ "$tries" -lt 300 ]; do
	sleep 0.1
	tries=$((tries + 1))
done
ip link set lo up &&
	ip link add here type veth peer name there netns "$away" &&
	ip address add 10.8.0.1/24 dev here && ip link set here up &&
	nsenter --net="$net" ip address add 10.8.0.2/24 dev there &&
	nsenter --net="$net" ip link set there up &&
	ip neighbour add 10.8.0.9 lladdr 02:00:00:00:00:09 dev here || {
	echo 'links cannot be made here'
	exit 77
}

# --- Servers -------------------------------------------------------------------

# sshd wants this folder; only these processes see it.
mount -t tmpfs tmpfs /run && mkdir /run/sshd || exit
for key in client stranger host other; do
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/$key"
done
cp "$tmp/client.pub" "$tmp/authorized"
fleet_nodes n1 n2 n3

# serve NODE ADDRESS PATH [COMMAND...]: starts an sshd whose sessions run on a
# fake node and are processes of this test.
serve() {
	node=$1
	cat >"$tmp/sshd-$node" <<-END
	ListenAddress $2
	HostKey $tmp/host
	AuthorizedKeysFile $tmp/authorized
	PidFile none
	StrictModes no
	UsePAM no
	PermitRootLogin yes
	PasswordAuthentication no
	KbdInteractiveAuthentication no
	SetEnv NCCLSTAT_DIR=$tmp/node-$node FLEET_MARK=$tmp PATH=$3 HOME=$tmp
	END
	shift 3
	# shellcheck disable=SC2016 # the inner shell expands it
	"$@" unshare --uts sh -c 'hostname "$0"; exec "$@"' "$node" \
		"$sshd" -D -e -f "$tmp/sshd-$node" 2>"$tmp/log-$node" &
	served=$!
	fleet_jobs="$fleet_jobs $served"
}
system=/usr/sbin:/usr/bin:/sbin:/bin
serve n1 127.0.0.1:2201 "$fleet_build:$system"
n1=$served
serve n2 10.8.0.2:2202 "$fleet_build:$system" nsenter --net="$net"
serve n3 127.0.0.1:2203 "$system"

host_key=$(cut -d ' ' -f 1,2 "$tmp/host.pub")
for name in n1 n2 n3 stranger; do
	echo "$name $host_key"
done >"$tmp/known"
echo "changed $(cut -d ' ' -f 1,2 "$tmp/other.pub")" >>"$tmp/known"
for name in n1 n2 n3 stranger changed unknown; do
	printf 'Host %s\n\tHostKeyAlias %s\n' "$name" "$name"
done >"$tmp/config"
cat >>"$tmp/config" <<END
Host n1 stranger changed unknown
	HostName 127.0.0.1
	Port 2201
Host n2
	HostName 10.8.0.2
	Port 2202
Host n3
	HostName 127.0.0.1
	Port 2203
Host closed
	HostName 127.0.0.1
	Port 2299
Host black
	HostName 10.8.0.9
Host stranger
	IdentityFile $tmp/stranger
Host * !stranger
	IdentityFile $tmp/client
Host *
	User root
	IdentitiesOnly yes
	IdentityAgent none
	UserKnownHostsFile $tmp/known
	GlobalKnownHostsFile none
END
export NCCLSTAT_SSH="ssh -F $tmp/config"

# is_served NODE: whether a node lets us in.
is_served() {
	ssh -F "$tmp/config" -o BatchMode=yes "$1" true >>"$tmp/served" 2>&1
}
tries=0
until is_served n1 && is_served n2 && is_served n3; do
	[ "$tries" -lt 300 ] || {
		tail -n 2 "$tmp/served" "$tmp/log-n1"
		echo 'sshd does not let us in here'
		exit 77
	}
	sleep 0.1
	tries=$((tries + 1))
done

# --- Verdicts and failures -------------------------------------------------------

fleet_hang n1 n2
# A login may take longer than the first verdict waits.
fleet_soon 'a job is certain to hang' 2 'rank_missing, certain' \
	'rank 1 .* on n2' "try: ssh -F $tmp/config n2 py-spy dump --pid [0-9]*\$" \
	-- --diagnose --hosts 'n[1-2]'
fleet_soon 'stacks are read over ssh' 2 'reading the stacks of 2 processes' \
	'^  ranks* [01]' 'pthread_join\|futex\|system call' -- \
	--diagnose --stacks --hosts 'n[1-2]'
fleet_soon 'a node with one rank says that it saw no lateness' 2 \
	'nothing pauses' '^where rank 1 is late is not known: the ranks of its' -- \
	--diagnose --stacks=late --hosts 'n[1-2]'
# Eight at once may take longer, too.
fleet_at_last 'each failure is told in words' 2 \
	'stranger: refused: .*Permission denied.*without a password' \
	'changed: refused: .*key has changed' \
	'unknown: refused: .*key is not known' \
	'closed: not_reachable: .*Connection refused' \
	'nowhere.invalid: not_reachable: .*resolve hostname' \
	'n3: not_installed: .*ncclstat: not found .*remote-command' -- \
	--diagnose \
	--hosts n1,n2,n3,stranger,changed,unknown,closed,nowhere.invalid
NCCLSTAT_SSH="$NCCLSTAT_SSH -o ConnectTimeout=1"
fleet_wants 'an address that does not answer is told' 0 \
	'black: not_reachable: .*timed out' ' n1:/' -- --list --hosts n1,black
NCCLSTAT_SSH="ssh -F $tmp/config"
fleet_wants '--remote-command finds the program' 1 'n3: no_job' -- --list \
	--hosts n3 --remote-command "$fleet_ncclstat"
fleet_none_left 'after the verdicts'

# --- The archive of a host ----------------------------------------------------------

"$tmp/agent" n1 ncclstat watch --interval 0.2 --archive="$tmp/kept" \
	>"$tmp/watch" 2>&1 &
fleet_jobs="$fleet_jobs $!"
watch=$!
await grep -q ' stuck' "$tmp/watch" || echo 'not ok a watch on a host tells of it'
fleet_soon 'what a host keeps of a job is read by ssh' 2 \
	'^stuck' -- --diagnose --archive="$tmp/kept" --job=unnamed --hosts=n1
kill "$watch"
wait "$watch"

# --- The end of sshd, of the link, of the viewer -----------------------------------

# told NAME COMMAND...: passes once that succeeds of what the viewer prints; ends it.
told() {
	name=$1
	shift
	if await "$@"; then
		echo "ok $name"
	else
		echo "not ok $name"
		tail -n 20 "$tmp/dump" | sed 's/^/  /'
	fi
	kill "$viewer"
	wait "$viewer" 2>/dev/null
}

# is_back: whether both nodes run in the latest look, with their ranks, and n1 did not in
# one after line $seen.
is_back() {
	tail -n "+$((seen + 1))" "$tmp/dump" | awk '
	$1 == "n1" && $2 != "running" { left = 1 }
	$1 ~ /^n[12]$/ { runs[$1] = $2 == "running" && $3 > 0 }
	END { exit !(left && runs["n1"] && runs["n2"]) }'
}

# begin_looks: starts a viewer that looks until it is ended.
begin_looks() {
	fleet_watch 2 --dump --view nodes --interval 0.5 --hosts 'n[1-2]'
}

begin_looks
# Nobody answers who tries again.
kill -STOP "${n1:?}"
pkill -KILL -P "$n1"
told 'a connection that sshd closes is told' grep -q \
	'^ *n1  *not_reachable .*Connection .*closed' "$tmp/dump"
kill -CONT "$n1"
fleet_none_left 'after the end of an sshd'

begin_looks
seen=$(wc -l <"$tmp/dump")
pkill -KILL -P "$n1"
told 'and the agent is started again' is_back
fleet_none_left 'after it was started again'

begin_looks
ip link set here down
# By then it may have been tried again.
told 'a link that is cut is told' grep -q \
	'^ *n2  *not_reachable .*10.8.0.2 \(not responding\|port 2202: Network\)' \
	"$tmp/dump"
# No sshd tells the agent there; it misses the beats.
fleet_none_left 'after a link was cut' 60
ip link set here up

for signal in KILL TERM; do
	fleet_watch 2 --dump --interval 0.3 --hosts 'n[1-2]'
	kill -"$signal" "$viewer"
	wait "$viewer" 2>/dev/null
	fleet_none_left "after SIG$signal to the viewer"
done
