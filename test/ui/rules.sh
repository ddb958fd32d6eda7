#!/bin/sh
# SPDX-License-Identifier: MIT
# Rules and dashboards: each alert fires when it should and not otherwise; each
# query is answered by a real Prometheus that scrapes a captured job; each metric
# that they name exists; the dashboards have the types of Grafana's schema.
#
# Prints "ok ..." or "not ok ..." for each check. Everything listens on loopback
# and is ended by its process id.
# shellcheck disable=SC2016 # what is quoted is for sh -c to expand

set -u
cd "$(dirname "$0")/../.." || exit

. test/ui/checks
share=tui/share
rules=$share/prometheus/ncclstat.rules.yml
boards="$share/grafana/ncclstat-fleet.json $share/grafana/ncclstat-job.json"
exporter=
server=
own_segments

at_end() {
	for pid in $server $exporter; do
		kill "$pid" 2>/dev/null
	done
}

# --- Names --------------------------------------------------------------------

printf '#include "ncclstat/tables/metrics.def"\n#define X(ID, name, ...) @ name\nNCS_METRICS(X)\n' |
	${CC:-cc} -E -P -Iinclude -x c - | tr '@' '\n' |
	sed -n 's/^ *"\(.*\)".*/\1/p' >"$tmp/names"
# shellcheck disable=SC2086 # a list of words
check 'every metric that is named exists' \
	python3 test/ui/dashboards.py names "$tmp/names" $rules $boards
grep -v peer_sent_bytes "$tmp/names" >"$tmp/fewer"
# shellcheck disable=SC2086
check 'a metric that does not exist is found' \
	sh -c '! python3 test/ui/dashboards.py names "$@"' - \
	"$tmp/fewer" $rules $boards

# shellcheck disable=SC2086
check 'dashboards: every link leads to one that is there' \
	python3 test/ui/dashboards.py links $boards
sed 's/var-comm=/var-communicator=/' "${boards%% *}" >"$tmp/other.json"
check 'a link that sets no variable is found' \
	sh -c '! python3 test/ui/dashboards.py links "$@"' - \
	"$tmp/other.json" "${boards##* }"

check 'the manual has every alert' sh -c 'for alert in $(sed -n "s/.*- alert: //p" "$1"); do
		grep -qx ".It Sy $alert" man/ncclstat-metrics.7.in || exit 1
	done' - "$rules"

# --- Rules --------------------------------------------------------------------

if ! command -v promtool >/dev/null || ! command -v prometheus >/dev/null; then
	echo 'prometheus and promtool are not installed: rules were not run'
	[ "$failed" -ne 0 ] || exit 77
	exit 1
fi
check 'rules: promtool finds no fault' promtool check rules "$rules"
python3 test/ui/rules_test.py "$PWD/$rules" >"$tmp/tests.yml"
check 'rules: each alert fires when it should, and not otherwise' \
	promtool test rules "$tmp/tests.yml"
# changed SED: succeeds if the tests of late ranks fail with rules that are changed
# so, and pass otherwise.
changed() {
	sed "$1" "$rules" >"$tmp/changed.yml"
	for of in "$PWD/$rules" "$tmp/changed.yml"; do
		python3 test/ui/rules_test.py "$of" 'comes late' \
			>"$tmp/$(basename "$of").tests"
	done
	! cmp -s "$rules" "$tmp/changed.yml" &&
		promtool test rules "$tmp/$(basename "$rules").tests" &&
		! promtool test rules "$tmp/changed.yml.tests"
}
check 'rules: a test notices another threshold' changed 's/0\.2 \*/0.9 */'
check 'rules: tests notice what costs little' changed 's/> 0\.01$/> 0/'

# --- Queries ------------------------------------------------------------------

free_port() {
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

port=$(free_port)
web=$(free_port)
url=http://127.0.0.1:$web
"$build/ncclreplay" --speed 1 --loop 0 test/captures/net-v5-ddp8 \
	>"$tmp/replay" 2>&1 &
job=$!
"$ncclstat" --listen="127.0.0.1:$port" --user-names 2>"$tmp/said" &
exporter=$!
cat >"$tmp/prometheus.yml" <<-END
	global: { scrape_interval: 1s, evaluation_interval: 1s }
	rule_files: [ $PWD/$rules ]
	scrape_configs:
	  - job_name: ncclstat
	    static_configs: [ targets: [ '127.0.0.1:$port' ] ]
END
prometheus --config.file="$tmp/prometheus.yml" --storage.tsdb.path="$tmp/tsdb" \
	--web.listen-address="127.0.0.1:$web" >"$tmp/prometheus" 2>&1 &
server=$!

# asks EXPRESSION: succeeds if the query has a result.
asks() {
	promtool query instant "$url" "$1" | grep -q '=>'
}

if grep -q 'built without' "$tmp/said"; then
	echo 'ok queries: cannot be run without libmicrohttpd'
else
	check 'Prometheus scrapes the job' await asks 'ncclstat_rank_alive == 1'
	check 'rules: are evaluated' \
		await asks 'node_peer:ncclstat_peer_sent_bytes:rate5m'
	check 'rules: none has an error' \
		sh -c '! grep -E "level=(warn|error)" "$1"' - "$tmp/prometheus"
	are_answered() {
		# shellcheck disable=SC2086
		python3 test/ui/dashboards.py run "$url" $boards >"$tmp/out"
	}
	check 'every query of the dashboards is answered' are_answered
	# A rate needs two scrapes.
	have_results() {
		are_answered &&
			awk '/queries/ { exit !($3 * 10 >= $1 * 8) }' "$tmp/out"
	}
	check 'most queries have results' await have_results
fi

# --- Grafana's schema -----------------------------------------------------------

# The packages are kept for the next run.
schema=${NCCLSTAT_NPM:-$build/grafana}
fetch_schema() {
	command -v npm >/dev/null || return 1
	[ ! -d "$schema/node_modules/@grafana/schema" ] || return 0
	mkdir -p "$schema" &&
		timeout 60 npm install --prefix "$schema" --ignore-scripts \
			--no-audit --no-fund --legacy-peer-deps \
			@grafana/schema@11.3.0 typescript@5.6.3
}

type_check() {
	{
		echo "import { Dashboard } from '@grafana/schema';"
		# Members that are Prometheus's, as the schema has none of them.
		echo 'type Query = { expr: string; step: string; tagKeys: string;'
		echo '  titleFormat: string; textFormat: string };'
		echo 'type Board = Dashboard & { annotations: { list: Query[] } };'
		printf 'const board: Board = '
		cat "$1"
		echo '; export default board;'
	} >"$schema/board.ts"
	"$schema/node_modules/.bin/tsc" --noEmit --strict --skipLibCheck \
		--moduleResolution node --target es2020 "$schema/board.ts"
}

if fetch_schema >"$tmp/npm" 2>&1; then
	for board in $boards; do
		check "${board##*/}: has the types of Grafana's schema" \
			type_check "$board"
	done
	sed 's/"schemaVersion": [0-9]*/"schemaVersion": "x"/' \
		"${boards%% *}" >"$tmp/wrong.json"
	wrong_type() {
		! type_check "$tmp/wrong.json"
	}
	check 'a wrong type in a dashboard is found' wrong_type
else
	echo 'ok dashboards: npm cannot be reached, so types were not checked'
fi
exit "$failed"
