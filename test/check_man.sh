#!/bin/sh
# SPDX-License-Identifier: MIT
# Checks the manual pages: they can be made, mandoc finds no fault, and they
# explain everything: every option, key, column, state, counter, event, function
# and variable of the tables in include/ncclstat/tables, every name in the JSON
# dump, and the events that each release of NCCL is asked for.
#
#   test/check_man.sh
#
# The C preprocessor, not man/mangen, takes the names from the tables; they are
# looked for in the rendered pages, in the section where they belong. Before it
# checks the pages it removes one item of each kind from a copy, to see that
# this is noticed.

set -eu
cd "$(dirname "$0")/.."

tmp=$(mktemp -d "${TMPDIR:-/tmp}/ncclstat-man.XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' HUP INT TERM

CC=${CC:-cc}
program=${BUILD:-build}/ncclstat
mangen='man/mangen.c man/mdoc.c man/json_keys.c man/json_schema.c
shm/characters.c'
schema=tui/share/json/ncclstat.schema.in
synthetic=${BUILD:-build}/test/synthetic/ncclstat_synthetic

# verdict STATUS WHAT: also in a pipe, where a variable would not last.
verdict() {
	if [ "$1" -eq 0 ]; then
		echo "ok $2"
	else
		echo "not ok $2"
		: >"$tmp/failed"
	fi
}

# build_c OUTPUT FILE...
build_c() {
	out=$1
	shift
	$CC -std=c11 -D_GNU_SOURCE -Wall -Wextra -o "$out" "$@" -Iinclude -I. \
		-ljansson
}

# --- Wanted items ----------------------------------------------------------

# fields TABLE LIST PARAMETERS FIELDS: prints a line with FIELDS for each row of
# the list. The parameters are the columns up to the last one of FIELDS.
fields() {
	printf '#include "ncclstat/tables/%s.def"\n#define X(%s) @<%s@>\n%s(X)\n' \
		"$1" "$3" "$4" "$2" |
		$CC -E -P -Iinclude -x c - | tr '\n' ' ' |
		sed 's/@ *>/@>\n/g' | sed -n 's/.*@ *< *\(.*[^ ]\) *@>/\1/p'
}

# unquote: makes F4 \ of "F4 \\", and x of 'x'.
unquote() {
	sed -e 's/^["'\'']\(.*\)["'\'']$/\1/' -e 's/\\\(.\)/\1/g'
}

# want KIND PAGE SECTION SUBSECTION: notes that a page must have the tags on
# standard input, one on each line; the subsection is - if there is none.
want() {
	cat >"$tmp/want/$1"
	echo "$1 $2 $3 $4" >>"$tmp/kinds"
}

wanted_items() {
	mkdir "$tmp/want"
	fields options NCS_OPTIONS ID,name,letter,has,argument,place,task,... \
		'task letter has argument name' | awk '
	{
		task = $1
		name = $NF
		letter = $2 == "0" ? "" : "-" substr($2, 2, 1) ", "
		gsub(/"/, "", $0)
		argument = $3 == "NO" ? "" : "=" $4
		if ($3 == "OPTIONAL")
			argument = "[" argument "]"
		gsub(/"/, "", name)
		print task, letter "--" name argument
	}' >"$tmp/options"
	{
		fields commands NCS_TASKS ID,word,title,page 'ID page'
		echo 'OTHER ncclstat(1)'
		echo 'SETTINGS ncclstat-views(7)'
	} | sed 's/"//g; s/(\(.\))/.\1/' >"$tmp/pages_of_tasks"
	while read -r task page; do
		sed -n "s/^$task //p" "$tmp/options" |
			want "options-$task" "$page" OPTIONS -
	done <"$tmp/pages_of_tasks"
	fields keys NCS_KEYS ID,group,keys,... keys | unquote |
		sed 's/ /, /g' | want keys ncclstat-views.7 KEYS -
	for view in RANK:RANKS COMMUNICATOR:COMMUNICATORS CHANNEL:CHANNELS \
		PROXY:PROXY FUNCTION:COLLECTIVES CLASS:COLLECTIVES \
		TIMELINE:TIMELINE FINDING:DIAGNOSE RANGE:RANGES NODE:NODES; do
		fields columns NCS_COLUMNS \
			VIEW,ID,title,... \
			'VIEW title' | sed -n "s/^${view%:*} //p" | unquote |
			want "columns-${view%:*}" ncclstat-views.7 \
				"${view#*:}" -
	done
	fields channel_states NCS_CHANNEL_STATES ID,name,letter,label,... \
		'name label letter' |
		sed "s/^\"\(.*\)\" \"\(.*\)\" '\(.*\)'$/\1 (\2, \3)/" |
		want channel_states ncclstat-views.7 CHANNELS -
	fields proxy_states NCS_PROXY_STATES ID,name,letter,... \
		'name letter' | sed -e "s/' '/'blank'/" \
		-e "s/^\"\(.*\)\" '\(.*\)'$/\1 (\2)/" |
		want proxy_states ncclstat-views.7 PROXY -
	fields proxy_states NCS_PROXY_TRANSITIONS ID,name,... name |
		unquote | want proxy_transitions ncclstat-views.7 PROXY -
	fields activities NCS_ACTIVITIES ID,letter,layer,label,... \
		'label letter' |
		sed -e "s/' '/'blank'/" -e "s/^\"\(.*\)\" '\(.*\)'$/\1 (\2)/" |
		want activities ncclstat-views.7 TIMELINE -
	fields timings NCS_TIMINGS ID,name,help name | unquote |
		want timings ncclstat-views.7 COLLECTIVES -
	fields launches NCS_LAUNCH_WAITS ID,name,help name | unquote |
		want launch_waits ncclstat-views.7 RANKS -
	fields launches NCS_LAUNCH_PHASES ID,name,help name | unquote |
		want launch_phases ncclstat-json.5 DUMPS Ranks
	fields functions NCS_FUNCTIONS ID,name,... \
		name | unquote |
		want functions ncclstat-views.7 COLLECTIVES -
	fields events NCS_EVENTS ID,name,... name | unquote |
		want events ncclstat-json.5 DUMPS Ranks
	fields event_groups NCS_EVENT_GROUPS ID,name,... name |
		unquote |
		want event_groups ncclstat-plugin.7 CHANGING_WHAT_IS_COLLECTED -
	fields refusals NCS_REFUSALS ID,name,... name | unquote |
		want refusals ncclstat-plugin.7 CHANGING_WHAT_IS_COLLECTED -
	fields verdicts NCS_VERDICTS ID,name,... name |
		unquote | want verdicts ncclstat-diagnose.7 VERDICTS -
	fields verdicts NCS_SEVERITIES ID,name,... name | unquote |
		want severities ncclstat-diagnose.7 VERDICTS -
	fields verdicts NCS_CONFIDENCES ID,name,... name | unquote |
		want confidences ncclstat-diagnose.7 VERDICTS -
	fields lateness NCS_MOMENTS ID,name,... name | unquote |
		want moments ncclstat-views.7 LATENESS -
	fields lateness NCS_LATE_CAUSES ID,name,... name | unquote |
		want late_causes ncclstat-views.7 LATENESS -
	fields exports NCS_EXPORTS ID,name,... name | unquote |
		want exports ncclstat-export.5 DESCRIPTION -
	fields fields NCS_FIELDS ID,name,... name | unquote |
		want fields ncclstat-json.5 RECORDS_OF_AN_EXPORT -
	fields csv NCS_CSV_COLUMNS ID,name,... name | unquote |
		want csv ncclstat-export.5 CSV -
	fields parquet NCS_PARQUET_TABLES ID,name,... name | unquote |
		want parquet_tables ncclstat-export.5 PARQUET -
	fields parquet NCS_PARQUET_COLUMNS TABLE,ID,name,... name | unquote |
		sort -u | sort - "$tmp/want/fields" "$tmp/want/fields" \
		"$tmp/want/csv" "$tmp/want/csv" | uniq -u |
		want parquet_columns ncclstat-export.5 PARQUET -
	fields own_events NCS_OWN_EVENTS ID,name,... name | unquote |
		want own_events ncclstat-shm.5 DESCRIPTION Rings_and_records
	fields chunks NCS_CHUNKS ID,name,... name | unquote |
		want chunks ncclstat-record.5 FORMAT 'Chunks'
	fields loss NCS_LOSSES ID,name,... name | unquote |
		want losses ncclstat-json.5 DUMPS Ranks
	fields metrics NCS_METRICS ID,name,... name | unquote |
		want metrics ncclstat-metrics.7 METRICS -
	fields metrics NCS_METRIC_STATES ID,name,... name | unquote |
		want metric_states ncclstat-metrics.7 METRICS \
			'States_of_segments'
	fields environment NCS_ENVIRONMENT ID,name,... name |
		unquote | want environment ncclstat-plugin.7 ENVIRONMENT -
	fields job_labels NCS_JOB_LABELS ID,name,help name | unquote |
		want job_labels ncclstat-plugin.7 JOB_LABELS -
	fields kernel_timing NCS_KERNEL_STATUSES ID,name,... name | unquote |
		want kernel_statuses ncclstat-plugin.7 KERNEL_TIMING -
	fields timing_statuses NCS_STREAM_STATUSES ID,name,help name | unquote |
		want stream_statuses ncclstat-plugin.7 TIMES_FROM_THE_STREAM \
			'Launches without times'
	fields cupti NCS_CUPTI_STATUSES ID,name,... name | unquote |
		want cupti_statuses ncclstat-plugin.7 RANGES_OF_THE_PROGRAM \
			'Compute time from CUPTI'
	asked >"$tmp/asked"
	want releases ncclstat-plugin.7 EVENTS_REQUESTED_FROM_NCCL - <"$tmp/asked"
}

# asked: prints the events that plugin/mask/release_events.h allows, as rows
# of the page's table.
asked() {
	cat >"$tmp/gates.c" <<-'END'
	#include <stdio.h>
	#include "ncclstat/record.h"
	#include "plugin/mask/release_events.h"
	static const char *const names[] = {
	#define X(ID, name, bit, api, help) name,
		NCS_EVENTS(X)
	#undef X
	};
	int main(void)
	{
		uint32_t before = 0;

		for (unsigned api = 1; api <= 7; api++) {
			uint32_t mask = ncs_release_events(api) &
					~NCS_KERNEL_EVENTS;
			const char *comma = " ";

			printf("%u", api);
			for (int i = 0; i < NCS_EVENT_COUNT; i++) {
				if (!((mask & ~before) >> i & 1))
					continue;
				printf("%s%s", comma, names[i]);
				comma = ", ";
			}
			puts(mask == before ? " as before" : "");
			if (before & ~mask)
				puts("(less than before)");
			before = mask;
		}
		return 0;
	}
	END
	build_c "$tmp/gates" "$tmp/gates.c"
	"$tmp/gates" | awk '
	BEGIN {
		split("2.23;2.24, 2.25;2.26;2.27;2.28;2.29, 2.30;" \
		      "2.31 and later", releases, ";")
	}
	{ print releases[$1] " " $0 }'
}

# --- The pages -------------------------------------------------------------

# render FOLDER: renders its pages as text, wide enough that no line is broken.
render() {
	for page in "$1"/*.[1-8]; do
		mandoc -Tascii -O width=300 "$page" |
			awk '{ gsub(/.\010/, ""); print }' | expand >"$page.txt"
	done
}

# section PAGE SECTION SUBSECTION: prints its lines; _ stands for a blank.
section() {
	awk -v section="$2" -v sub_section="$3" '
	BEGIN {
		gsub(/_/, " ", section)
		gsub(/_/, " ", sub_section)
		inside = sub_section == "-"
	}
	/^[^ ]/ { here = $0 == section; next }
	here && sub_section != "-" && /^   [^ ]/ {
		inside = $0 == "   " sub_section
		next
	}
	here && inside
	' "$1.txt"
}

# missing FOLDER KIND PAGE SECTION SUBSECTION: prints the tags that are missing.
# A tag stands first on its line, followed by a gap or by nothing; in a table
# there are gaps between all columns.
missing() {
	section "$1/$3" "$4" "$5" >"$tmp/section"
	awk -v is_table="$([ "$2" = releases ] && echo 1 || echo 0)" '
	FILENAME == ARGV[1] {
		sub(/^ +/, "")
		if (is_table)
			gsub(/  +/, " ")
		else
			sub(/  .*/, "")
		seen[$0] = 1
		next
	}
	!($0 in seen)
	' "$tmp/section" "$tmp/want/$2"
}

# all_missing FOLDER: prints "KIND: TAG" for each tag that is missing in the pages
# that the folder has.
all_missing() {
	while read -r kind page section subsection; do
		[ ! -e "$1/$page" ] ||
			missing "$1" "$kind" "$page" "$section" "$subsection" |
			sed "s/^/$kind: /"
	done <"$tmp/kinds"
}

# --- Self-test -------------------------------------------------------------

# take_out PAGE KIND TAG PATTERN: without the item's line of mdoc, exactly this
# tag must be missing.
take_out() {
	rm -rf "$tmp/broken"
	mkdir "$tmp/broken"
	sed "/$4/d" "$tmp/pages/$1" >"$tmp/broken/$1"
	render "$tmp/broken"
	all_missing "$tmp/broken" >"$tmp/missed"
	if [ "$(cat "$tmp/missed")" != "$2: $3" ]; then
		echo "self-test: taken out: $2: $3; missed: $(cat "$tmp/missed")"
		return 1
	fi
}

# shellcheck disable=SC1003 # a backslash at the end of a word
self_test() {
	take_out ncclstat.1 options-OTHER '-V, --version' \
		'^\.It Fl V , Fl \\-version$' &&
	take_out ncclstat-fleet.7 options-FLEET --follow '^\.It Fl \\-follow$' &&
	take_out ncclstat-views.7 keys 'F4, \' '^\.It Ic \\&F4 ' &&
	take_out ncclstat-views.7 keys '!' '^\.It Ic \\&!$' &&
	take_out ncclstat-views.7 columns-CHANNEL %PEER '^\.It Sy %PEER$' &&
	take_out ncclstat-views.7 channel_states 'recv_wait (sender, D)' \
		'^\.It Sy recv_wait ' &&
	take_out ncclstat-views.7 proxy_states 'append (t)' '^\.It Sy append Pq' &&
	take_out ncclstat-views.7 activities 'queued (q)' '^\.It Sy queued Pq' &&
	take_out ncclstat-views.7 proxy_transitions append_end \
		'^\.It Sy append_end$' &&
	take_out ncclstat-views.7 timings kernel \
		'^\.It Sy kernel$/{N;/The GPU/d};/^nothing else$' &&
	take_out ncclstat-views.7 launch_waits moving '^\.It Sy moving$' &&
	take_out ncclstat-views.7 functions AllGatherV '^\.It Sy AllGatherV ' &&
	take_out ncclstat-json.5 events kernel_phase '^\.It Sy kernel_phase$' &&
	take_out ncclstat-plugin.7 event_groups control '^\.It Sy control$' &&
	take_out ncclstat-export.5 parquet_columns bus_bytes '^\.It Sy bus_bytes$' &&
	take_out ncclstat-plugin.7 refusals malformed '^\.It Sy malformed$' &&
	take_out ncclstat-diagnose.7 verdicts rank_missing '^\.It Sy rank_missing$' &&
	take_out ncclstat-json.5 losses bad_ptimer '^\.It Sy bad_ptimer$' &&
	take_out ncclstat-metrics.7 metrics rank_alive '^\.It Sy rank_alive$' &&
	take_out ncclstat-record.5 chunks padding '^\.It Sy padding$' &&
	take_out ncclstat-plugin.7 environment NCCLSTAT_DISABLE \
		'^\.It Ev NCCLSTAT_DISABLE$' &&
	take_out ncclstat-plugin.7 job_labels array_task \
		'^\.It Sy array_task$' &&
	take_out ncclstat-plugin.7 kernel_statuses graph_off \
		'^\.It Sy graph_off$' &&
	take_out ncclstat-plugin.7 cupti_statuses taken '^\.It Sy taken$' &&
	take_out ncclstat-plugin.7 releases '2.27 4 proxy_ctrl' '^\.It 2\.27 '
}

# refuses LINE: succeeds if mangen makes no page of this.
refuses() {
	printf '%s\n' "$1" >"$tmp/bad.in"
	if "$tmp/mangen" "$tmp/bad.in" >/dev/null 2>&1; then
		echo "self-test: mangen takes $1"
		return 1
	fi
}

mangen_refuses() {
	refuses '.\" @nothing@' &&
	refuses '.\" @columns@' &&
	refuses '.\" @columns NOTHING@' &&
	refuses '.\" @options all@' &&
	refuses '.\" @parquet NOTHING@' &&
	refuses '.\" @struct nothing@' &&
	refuses '.\" @json nothing@' &&
	refuses '.\" @options' &&
	! "$tmp/mangen" "$tmp/there-is-none.in" >/dev/null 2>&1
}

# mangen_counts_bytes: a mangen that lacks the explanation of a field must not
# make the page.
mangen_counts_bytes() {
	mkdir -p "$tmp/less/man"
	sed '/X(latest_done,/d' man/segment_fields.h \
		>"$tmp/less/man/segment_fields.h"
	build_c "$tmp/mangen-less" "-I$tmp/less" $mangen
	! "$tmp/mangen-less" man/ncclstat-shm.5.in >/dev/null 2>"$tmp/log" &&
	grep -q 'byte 328, before classes' "$tmp/log"
}

# mangen_wants_descriptions: without the description of a key of JSON, mangen must
# not make the page.
mangen_wants_descriptions() {
	mkdir -p "$tmp/short/${schema%/*}"
	sed 's/\(	nsteps (.*)\).*/\1/' $schema >"$tmp/short/$schema"
	page=$PWD/man/ncclstat-json.5.in
	! (cd "$tmp/short" && "$tmp/mangen" "$page") \
		>/dev/null 2>"$tmp/log" &&
	grep -q 'nsteps has no description' "$tmp/log"
}

# --- The checks ------------------------------------------------------------

# lint PAGE: prints the findings of mandoc, except that pages are not installed,
# and the warnings of man, if it is there, on a terminal of 80 columns.
lint() {
	mandoc -Tlint -W style "$1" 2>/dev/null |
		grep -v 'STYLE: referenced manual not found' |
		sed "s|^mandoc: $tmp/pages/||" || :
	! command -v man >/dev/null ||
		MANWIDTH=80 man --warnings -l "$1" 2>&1 >/dev/null
}

# missing_json_names: prints names in the JSON that the page does not explain.
missing_json_names() {
	tr -cs 'a-z0-9_' '\n' <"$tmp/pages/ncclstat-json.5.txt" |
		sort -u >"$tmp/words"
	# States and counters are in lists of their own.
	cat "$tmp"/want/* | tr -cs 'a-zA-Z0-9_' '\n' | sort -u >>"$tmp/words"
	{
		"$synthetic" --synthetic 2x2 --dump=json
		"$synthetic" --synthetic 2x2 --diagnose=json -i 0.1 -n 50
	} |
		grep -o '"[A-Za-z0-9_]*":' | tr -d '":' | sort -u >"$tmp/names"
	[ -s "$tmp/names" ] || echo "there is no dump"
	sort -u "$tmp/words" | comm -13 - "$tmp/names"
}

# missing_schema_names: prints names in the JSON that the JSON Schema has not.
# Names of events, states and the like are not in it.
missing_schema_names() {
	sed -n 's/^	*\([a-z0-9_]*\)\** (.*/\1/p' $schema >"$tmp/in_schema"
	cat "$tmp"/want/* | tr -cs 'a-zA-Z0-9_' '\n' >>"$tmp/in_schema"
	sort -u "$tmp/in_schema" | comm -13 - "$tmp/names"
}

# strange_options: prints options that a page names but the program lacks.
strange_options() {
	grep -oh -e '--[a-z][a-z-]*' "$tmp"/pages/*.txt | sort -u |
		grep -v -x -e '--ipc' -e '--input' -e '--nproc-per-node' \
			>"$tmp/named"
	sed 's/.*\(--[a-z][a-z-]*\).*/\1/' "$tmp"/want/options-* | sort -u |
		comm -23 "$tmp/named" -
}

# missing_pages: prints our pages that are referred to but do not exist.
missing_pages() {
	sed -n 's/^\.Xr \(ncclstat[a-z-]*\) \([1-8]\).*/\1.\2/p' man/*.in |
		sort -u | while read -r page; do
		[ -e "$tmp/pages/$page" ] || echo "$page"
	done
}

# broken_headings FOLDER: prints headings that its pages do not show as they are
# written, as one that begins with "In": mdoc takes that for a macro. The way out
# is \& in front of it.
broken_headings() {
	for page in "$1"/*.[1-8]; do
		sed -n 's/^\.S[hs] //p' "$page" | sed 's/\\&//g' |
			sort -u >"$tmp/written"
		sed -n -e 's/^   \([^ ]\)/\1/p' -e '/^[^ ]/p' "$page.txt" |
			sort -u >"$tmp/shown"
		comm -23 "$tmp/written" "$tmp/shown" | sed "s|^|${page##*/}: |"
	done
}

# missing_sections FOLDER: prints references to sections that are not there: .Sx
# names one of its own page, or of the page after "in" or "No in".
missing_sections() {
	for page in "$1"/*.[1-8]; do
		{ tr '\n' ' ' <"$page"; echo; } |
			sed -e 's/\\&//g' -e 's/ \./ /g' -e 's/ No in / in /g' \
				-e 's/Sx /\n&/g' |
			grep '^Sx ' |
			sed -E -e "s/^Sx ([A-Za-z ]*) in Xr ([a-z-]*) ([1-8]).*/\2.\3:\1/;t" \
				-e "s/^Sx ([A-Za-z ]*[A-Za-z]).*/${page##*/}:\1/"
	done | sort -u | while IFS=: read -r page title; do
		# The title may have more of its line of mdoc behind it.
		sed -n 's/^\.S[hs] //p' "$1/$page" | sed 's/\\&//g' |
			awk -v title="$title" '
			index(title " ", $0 " ") == 1 { found = 1 }
			END { exit !found }' || echo "$page: $title"
	done
}

# headings_are_missed: a heading and a reference that are broken are found.
headings_are_missed() {
	rm -rf "$tmp/broken"
	mkdir "$tmp/broken"
	views=ncclstat-views.7
	sed -e 's/^\.Ss .*In the timeline$/.Ss In the timeline/' \
		-e 's/^\.Pq see Sx RANKS.*/.Pq see Sx NOTHING/' \
		"$tmp/pages/$views" >"$tmp/broken/$views"
	render "$tmp/broken"
	[ "$(broken_headings "$tmp/broken")" = "$views: In the timeline" ] &&
	missing_sections "$tmp/broken" 2>/dev/null | grep -q "^$views: NOTHING"
}

# report NAME: reports a check, which passes if standard input is empty.
report() {
	cat >"$tmp/found"
	status=0
	[ ! -s "$tmp/found" ] || status=1
	cat "$tmp/found"
	verdict "$status" "$1"
}

build_c "$tmp/mangen" $mangen
mkdir "$tmp/pages"
for source in man/*.in; do
	page=${source##*/}
	page=${page%.in}
	"$tmp/mangen" "$source" >"$tmp/pages/$page"
	lint "$tmp/pages/$page" | report "mandoc finds nothing wrong with $page"
done
render "$tmp/pages"
wanted_items

status=0
self_test || status=1
verdict "$status" 'an item that is removed from a page is missed'
status=0
mangen_refuses || status=1
verdict "$status" 'mangen refuses unknown markers'
status=0
mangen_counts_bytes || status=1
verdict "$status" 'mangen refuses a struct with a field without explanation'
status=0
mangen_wants_descriptions || status=1
verdict "$status" 'mangen refuses a key of JSON without a description'
status=0
headings_are_missed || status=1
verdict "$status" 'broken headings and references to no section are found'
while read -r kind page section subsection; do
	count=$(wc -l <"$tmp/want/$kind")
	{
		[ "$count" -gt 0 ] || echo "there are none"
		missing "$tmp/pages" "$kind" "$page" "$section" "$subsection" |
			sed "s/^/missing in $page: /"
	} | report "$page explains $count $kind"
done <"$tmp/kinds"
strange_options | sed 's/^/no such option: /' |
	report 'every option that a page names exists'
broken_headings "$tmp/pages" | sed 's/^/not shown as it is written: /' |
	report 'every heading is shown as it is written'
missing_sections "$tmp/pages" | sed 's/^/no such section: /' |
	report 'every section that is referred to exists'
missing_pages | sed 's/^/no such page: /' |
	report 'every page that is referred to exists'
if [ -x "$program" ]; then
	missing_json_names | sed 's/^/missing in ncclstat-json.5: /' |
		report 'ncclstat-json.5 explains every name in the JSON dump'
	missing_schema_names |
		sed "s|^|missing in $schema: |" |
		report 'the JSON Schema has every name in the JSON dump'
else
	echo "$program has not been built"
	verdict 1 'ncclstat-json.5 explains every name in the JSON dump'
fi
[ ! -e "$tmp/failed" ]
