/* SPDX-License-Identifier: MIT */
/* The activity under the timeline's cursor in words; see screen_timeline.h. */
#include "tui/screen/screen_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/rank.h"
#include "analysis/records/latest_records.h"
#include "analysis/records/step_stats.h"
#include "shm/clock.h"
#include "tui/text/format.h"
#include "tui/text/words.h"

static bool find(const struct ncs_screen *screen, const struct ncs_row *row,
		 struct ncs_stretch *found, size_t *count)
{
	struct ncs_track track = ncs_timeline_track(row);
	struct ncs_axis axis = ncs_timeline_axis(screen);
	int64_t at_ns = ncs_axis_ns(&axis, ncs_timeline_cursor_column(screen));

	return ncs_track_find(row->rank, &track, at_ns, at_ns + axis.cell_ns,
			      found, count);
}

/* Cuts trailing zeros: ".500000" becomes ".5", ".000000" becomes "". */
static void cut_zeros(char *fraction)
{
	size_t length = strlen(fraction);

	while (length > 0 &&
	       (fraction[length - 1] == '0' || fraction[length - 1] == '.'))
		fraction[--length] = '\0';
}

/* Returns a time with all digits: "-12.345678ms". */
static struct ncs_phrase offset(int64_t offset_ns)
{
	static const struct {
		int64_t ns;
		int digits;
		const char *unit;
	} units[] = { { 1000000000, 9, "s" },
		      { 1000000, 6, "ms" },
		      { 1000, 3, "us" } };
	int64_t rest_ns = offset_ns < 0 ? -offset_ns : offset_ns;
	char sign = offset_ns < 0 ? '-' : '+', fraction[16];

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (rest_ns < units[i].ns)
			continue;
		snprintf(fraction, sizeof(fraction), ".%0*" PRId64,
			 units[i].digits, rest_ns % units[i].ns);
		cut_zeros(fraction);
		return ncs_phrase("%c%" PRId64 "%s%s", sign,
				  rest_ns / units[i].ns, fraction,
				  units[i].unit);
	}
	return ncs_phrase("%c%" PRId64 "ns", sign, rest_ns);
}

static void append_bytes(char *text, size_t size, uint64_t bytes)
{
	char number[32];

	if (bytes == 0)
		return;
	ncs_format_scaled(number, sizeof(number), (double)bytes, 0);
	ncs_append(text, size, "; %sB", number);
}

static void append_collective(const struct ncs_rank *rank,
			      const struct ncs_stretch *stretch, char *text,
			      size_t size)
{
	struct ncs_collective collective;

	if (ncs_stretch_collective(rank, stretch, &collective))
		ncs_append(text, size, "; %s",
			   ncs_call_name(collective.function,
					 collective.sequence_number)
				   .text);
}

static struct ncs_phrase duration_of(const struct ncs_rank *rank,
				     uint64_t ticks)
{
	return ncs_duration(ncs_clock_duration_ns(&rank->clock, ticks));
}

/* Appends the whole step; the cursor is on one of its waits. */
static void append_step(const struct ncs_rank *rank,
			const struct ncs_record *record, char *text,
			size_t size)
{
	bool send = record->flags & NCS_RECORD_SEND;
	uint64_t ticks[NCS_STEP_TIMES];

	ncs_step_split(record, ticks);
	ncs_append(text, size, "; step %" PRIu64 ": %s", record->number,
		   duration_of(rank, ticks[NCS_STEP_DURATION]).text);
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++)
		ncs_append(text, size, ", %s %s",
			   ncs_channel_state_label(ncs_step_state(send, i)),
			   duration_of(rank, ticks[i]).text);
	append_bytes(text, size, record->value);
}

static void append_record(const struct ncs_rank *rank,
			  const struct ncs_record *record, char *text,
			  size_t size)
{
	switch (record->event) {
	case NCS_EVENT_PROXY_STEP:
		append_step(rank, record, text, size);
		break;
	case NCS_EVENT_PROXY_CTRL:
		if (record->value > 0)
			ncs_append(text, size, "; %" PRIu64 " operations",
				   record->value);
		break;
	case NCS_EVENT_KERNEL_CH:
		ncs_append(text, size, "; channel %u", record->channel);
		break;
	default:
		append_bytes(text, size, record->value);
	}
}

static void append_stretch(const struct ncs_screen *screen,
			   const struct ncs_row *row,
			   const struct ncs_stretch *stretch, char *text,
			   size_t size)
{
	ncs_append(text, size, "%s %s%s from %s",
		   ncs_activities[stretch->activity].label,
		   ncs_duration(stretch->end_ns - stretch->start_ns).text,
		   stretch->open ? " so far," : "",
		   offset((int64_t)stretch->start_ns -
			  ncs_timeline_latest_ns(screen))
			   .text);
	if (stretch->record)
		append_record(row->rank, stretch->record, text, size);
	if (stretch->operation)
		append_bytes(text, size, stretch->operation->bytes);
	append_collective(row->rank, stretch, text, size);
}

static void append_nothing(const struct ncs_screen *screen,
			   const struct ncs_row *row, char *text, size_t size)
{
	struct ncs_axis axis = ncs_timeline_axis(screen);
	struct ncs_track track = ncs_timeline_track(row);
	struct ncs_cell cells[NCS_CELLS_MAX];

	if (axis.width > 0 &&
	    ncs_track_cells(row->rank, &track, &axis, NULL, cells) == 0)
		ncs_append(
			text, size, "%s",
			ncs_activities[cells[ncs_timeline_cursor_column(screen)]
					       .activity]
				.help);
}

/* Returns how far the difference between moments of two ranks may be off. */
static struct ncs_phrase error_of(const struct ncs_rank *a,
				  const struct ncs_rank *b)
{
	uint64_t error_ns = ncs_error_between(a, b);

	if (!ncs_is_comparable(a, b))
		return ncs_phrase(" by clocks that are not aligned");
	return error_ns > 0 ? ncs_phrase("+-%s", ncs_duration(error_ns).text) :
			      (struct ncs_phrase){ "" };
}

/* Appends how far a rank's lanes may be shifted against those of other
 * hosts. */
static void append_clock(const struct ncs_rank *rank, char *text, size_t size)
{
	if (ncs_rank_is_apart(rank))
		ncs_append(text, size,
			   "; the hosts' clocks are not aligned: do not compare"
			   " its lanes with those of other hosts");
	else if (rank->clock_error_ns > 0)
		ncs_append(text, size,
			   "; against other hosts its lanes are off by %s at"
			   " most",
			   ncs_duration(rank->clock_error_ns).text);
}

/* Appends the first and the last rank that began the highlighted collective. */
static void append_highlighted(const struct ncs_screen *screen, char *text,
			       size_t size)
{
	const struct ncs_collective *highlighted = &screen->time.highlighted;
	const struct ncs_rank *first = NULL, *last = NULL;
	uint64_t first_ns = 0, last_ns = 0;
	struct ncs_presence part;
	struct ncs_phrase call;
	size_t count = 0;

	for (size_t i = 0; i < screen->model.rank_count; i++) {
		const struct ncs_rank *rank = screen->model.ranks[i];

		if (!ncs_collective_find(rank, highlighted, &part))
			continue;
		if (!first || part.start_ns < first_ns) {
			first = rank;
			first_ns = part.start_ns;
		}
		if (!last || part.start_ns > last_ns) {
			last = rank;
			last_ns = part.start_ns;
		}
		count++;
	}
	call = ncs_call_name(highlighted->function,
			     highlighted->sequence_number);
	if (!first) {
		ncs_append(text, size, "%s is no longer known. ", call.text);
		return;
	}
	ncs_append(text, size, "%s in %zu ranks: %s began first", call.text,
		   count, ncs_rank_name(first).text);
	if (count > 1)
		ncs_append(text, size, ", %s last, %s%s",
			   ncs_rank_name(last).text,
			   offset((int64_t)(last_ns - first_ns)).text,
			   error_of(first, last).text);
	ncs_append(text, size, ". ");
}

/* Whether records from the time on the screen were lost. */
static bool shows_loss(const struct ncs_screen *screen,
		       const struct ncs_latest *latest)
{
	struct ncs_axis axis = ncs_timeline_axis(screen);

	return latest && latest->lost > 0 &&
	       (int64_t)latest->lost_until_ns > ncs_axis_ns(&axis, 0) &&
	       (int64_t)latest->lost_from_ns < axis.end_ns;
}

static void append_missing(const struct ncs_screen *screen,
			   const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_latest *latest = row->rank->latest;
	unsigned level = row->rank->now.sampling.level;
	struct ncs_track track = ncs_timeline_track(row);

	if (track.kind == NCS_TRACK_CHANNEL && level > 0)
		ncs_append(text, size, "; steps of 1 in %u operations are kept",
			   1u << level);
	if (shows_loss(screen, latest))
		ncs_append(text, size,
			   "; %" PRIu64 " records of this rank are lost: ["
			   " shortens the interval",
			   latest->lost);
}

void ncs_timeline_explain(const struct ncs_screen *screen, char *text,
			  size_t size)
{
	const struct ncs_row *row = &ncs_screen_selected(screen)->row;
	struct ncs_axis axis = ncs_timeline_axis(screen);
	struct ncs_track track = ncs_timeline_track(row);
	struct ncs_stretch found;
	char name[192];
	int64_t at_ns;
	size_t count;

	if (screen->time.highlights)
		append_highlighted(screen, text, size);
	at_ns = ncs_axis_ns(&axis, ncs_timeline_cursor_column(screen));
	ncs_track_name(&track, name, sizeof(name));
	ncs_append(text, size, "%s %s, %s: ",
		   offset(at_ns - ncs_timeline_latest_ns(screen)).text,
		   ncs_rank_of(row->rank).text, name);
	if (find(screen, row, &found, &count))
		append_stretch(screen, row, &found, text, size);
	else
		append_nothing(screen, row, text, size);
	append_clock(row->rank, text, size);
	append_missing(screen, row, text, size);
	ncs_append(text, size, ".");
}

void ncs_timeline_highlight(struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);
	struct ncs_collective collective;
	char text[sizeof(screen->notice)] = "";
	struct ncs_stretch found;
	size_t count;

	if (!row || !find(screen, &row->row, &found, &count) ||
	    !ncs_stretch_collective(row->row.rank, &found, &collective)) {
		ncs_screen_say(screen,
			       "there is no known collective under the cursor");
		return;
	}
	screen->time.highlights = true;
	screen->time.highlighted = collective;
	append_highlighted(screen, text, sizeof(text));
	ncs_screen_say(screen, "%sEsc ends it", text);
}
