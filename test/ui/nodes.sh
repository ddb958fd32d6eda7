#!/bin/sh
# SPDX-License-Identifier: MIT
# Nodes that are not seen: one is silent, one has another version, one's segments
# belong to another user. The view says so of each, its key and Enter work, and
# the verdict is less certain.
#
# Prints "ok ..." or "not ok ..." for each check.

. "$(dirname "$0")/terminal"
. test/fleet.sh
command -v python3 >/dev/null || {
	echo "python3 is not installed"
	exit 77
}
fleet_needs_names

# Makes the head of a stream that of another major version of the format.
cat >"$tmp/other.py" <<'OTHER'
import base64, ctypes, struct, sys
xxh = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
xxh.restype = ctypes.c_uint64
xxh.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
data, number, patched = b"", 0, False
for line in sys.stdin:
    mark, node, agent, _, text = line.strip().split(":")
    data += base64.b64decode(text)
    if not patched:
        if len(data) < 64:
            continue
        size, = struct.unpack_from("<Q", data, 16)
        if len(data) < 64 + size:
            continue
        version, = struct.unpack_from("<I", data, 64)
        payload = struct.pack("<I", version + 0x10000) + data[68:64 + size]
        head = data[:48] + struct.pack("<Q", xxh(payload, size))
        data = head + struct.pack("<Q", xxh(head, 56)) + payload + \
            data[64 + size:]
        patched = True
    while data:
        piece, data = data[:600], data[600:]
        print(f"{mark}:{node}:{agent}:{number}:"
              f"{base64.b64encode(piece).decode()}", flush=True)
        number += 1
OTHER

# Runs an agent on node n4 as another user; its argument is the folder.
cat >"$tmp/denied" <<END
#!/bin/sh
export NCCLSTAT_DIR="\$1" PATH="$fleet_build:\$PATH"
exec unshare --uts sh -c 'hostname n4; exec setpriv --reuid=65534 \\
	--regid=65534 --clear-groups ncclstat --stream=lines'
END
chmod +x "$tmp/denied"

fleet_nodes n1 n2 n3
fleet_hang n1 n2
background=$fleet_jobs
folder=$(readlink -f "$tmp/node-n1")
chmod 755 "$folder"
live="$tmp/agent n1 ncclstat --stream=lines"
# It is silent from 3 s after its first line on.
cat >"$tmp/fall-silent" <<'END'
#!/bin/sh
IFS= read -r line
printf '%s\n' "$line"
timeout 3 cat
exec sleep 60
END
silent="{ $tmp/agent n2 ncclstat --stream=lines | sh $tmp/fall-silent; }"
other="$tmp/agent n3 ncclstat --stream=lines | python3 $tmp/other.py"
denied="$tmp/denied $folder"

# --- One after the other ------------------------------------------------------

fleet_soon 'another version is a finding' 2 'not seen: its ncclstat writes' \
	'try: ssh n3 ncclstat --list' -- --diagnose --from \
	"$live & $tmp/agent n2 ncclstat --stream=lines & $other & wait"
fleet_soon 'with all ranks seen the verdict stays certain' 2 \
	'rank_missing, certain' -- --diagnose --from \
	"$live & $tmp/agent n2 ncclstat --stream=lines & $other & wait"
fleet_wants 'a silent node makes it no more than possible' 2 \
	'node_unseen' 'possible (last seen' '2 ranks, 1 of 2 nodes' -- \
	--diagnose -n 10 --from "$live & $silent & wait"
fleet_wants 'without a readable node there is no verdict' 4 \
	'^no verdict: ranks of node n3' '0 of 1 node' -- \
	--diagnose --from "$other"
fleet_wants 'JSON has the nodes' 0 '"nodes":.*"name":"n3"[^}]*"other_version"' \
	'"name":"n1"[^}]*"running","seen":true' -- --dump=json -n 4 --from \
	"$live & $other & wait"
if setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$fleet_ncclstat" --version >/dev/null 2>&1; then
	fleet_wants 'segments of another user are a finding' 4 \
		'belong to another user' -- --diagnose --from "$denied"
else
	echo 'ok segments of another user are a finding # SKIP no other user may run ncclstat here'
	denied=true
fi

# --- The view -----------------------------------------------------------------

# on_screen NAME PATTERN: passes if a line of the screen has the pattern, or gets
# it.
on_screen() {
	sees "$2"
	verdict "$1" $?
}

# fleet_wants has its own.
name=nodes
cat >"$tmp/all" <<END
#!/bin/sh
$live & $silent & $other & $denied & wait
END
chmod +x "$tmp/all"
open 120x24 "exec $ncclstat --from=$tmp/all --interval 0.5"
on_screen 'the tab of nodes is there' '9:Node'
view nodes
on_screen 'a node that is seen' '^  *n1 .*running'
on_screen 'a node of another version' '^! *n3 .*other_version'
on_screen 'a silent node' '^! *n2 .*silent'
on_screen 'the title counts nodes' '1 of [34] nodes'
on_screen 'the reason of the first' '^n3: its ncclstat writes streams'
press End
press Enter
on_screen 'Enter goes to the ranks of a node' 'Nodes.* n1'
press Escape
on_screen 'Esc goes back' '^! *n2 .*silent'
view ranks
on_screen 'a rank of the silent node is past' ' past '
view diagnose
on_screen 'the nodes are among the findings' 'node_unseen'
press q
ended 0
verdict 'q leaves' $?
finish
