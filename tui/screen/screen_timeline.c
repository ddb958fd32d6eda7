/* SPDX-License-Identifier: MIT */
/* View 6, Timeline: a lane for each track of each rank, time from left to
 * right. The lanes' names are a table like those of the other views; the lanes
 * are drawn beside it.
 */
#include "tui/screen/screen.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "shm/clock.h"
#include "tui/text/format.h"
#include "tui/text/words.h"

#define FIRST_CELL_NS 500000
/* Between the labels of the axis. */
#define TICK_COLUMNS 12
#define LABEL_BYTES 96

/* --- Rules of the table -------------------------------------------------- */

static struct ncs_track track_of(const struct ncs_row *row)
{
	struct ncs_track track;

	ncs_track_at(row->rank, row->index, &track);
	return track;
}

static char letter(const struct ncs_row *row)
{
	struct ncs_track track = track_of(row);
	struct ncs_stretch now;

	return ncs_track_now(row->rank, &track, &now) ?
		       ncs_activity_letter(now.activity) :
		       '-';
}

static enum ncs_severity severity(const struct ncs_row *row)
{
	struct ncs_track track = track_of(row);

	if (track.channel && ncs_rank_is_live(row->rank) &&
	    ncs_wait_ns(row->rank, track.channel) >= NCS_LONG_WAIT_NS)
		return NCS_BAD;
	return ncs_track_is_empty(row->rank, &track) ? NCS_QUIET : NCS_NORMAL;
}

/* --- The axis ------------------------------------------------------------ */

void ncs_timeline_init(struct ncs_time_view *time)
{
	*time = (struct ncs_time_view){ .cell_ns = FIRST_CELL_NS };
}

/* Until when anything is known: that is a little before a recording's moment, as
 * its states were taken at intervals. */
static int64_t latest_ns(const struct ncs_screen *screen)
{
	const struct ncs_model *model = &screen->model;
	uint64_t latest_ns = 0;

	for (size_t i = 0; i < model->rank_count; i++)
		if (model->ranks[i]->now.taken_ns > latest_ns)
			latest_ns = model->ranks[i]->now.taken_ns;
	return (int64_t)(latest_ns != 0 ? latest_ns : model->now_ns);
}

static struct ncs_axis axis_of(const struct ncs_screen *screen)
{
	const struct ncs_time_view *time = &screen->time;

	return (struct ncs_axis){
		.end_ns = time->stays ? time->end_ns : latest_ns(screen),
		.cell_ns = time->cell_ns,
		.width = time->width,
	};
}

static int cursor_column(const struct ncs_screen *screen)
{
	const struct ncs_time_view *time = &screen->time;

	return time->cursor < time->width ? time->width - 1 - time->cursor : 0;
}

static void set_axis(struct ncs_screen *screen, const struct ncs_axis *axis)
{
	struct ncs_time_view *time = &screen->time;

	time->cell_ns = axis->cell_ns;
	time->end_ns = axis->end_ns;
	time->stays = axis->end_ns < latest_ns(screen);
}

/* Now stays where it is, at the right edge. */
static void zoom(struct ncs_screen *screen, bool in)
{
	struct ncs_axis axis = axis_of(screen);
	bool is_now = !screen->time.stays && screen->time.cursor == 0;

	ncs_axis_zoom(&axis, is_now ? axis.width : cursor_column(screen), in);
	set_axis(screen, &axis);
}

static void pan(struct ncs_screen *screen, bool back)
{
	struct ncs_axis axis = axis_of(screen);

	ncs_axis_pan(&axis, back, latest_ns(screen));
	set_axis(screen, &axis);
}

/* At an edge the time moves below the cursor. */
static void move_cursor(struct ncs_screen *screen, bool back)
{
	struct ncs_time_view *time = &screen->time;
	struct ncs_axis axis = axis_of(screen);

	if (back && time->cursor + 1 >= time->width)
		axis.end_ns -= axis.cell_ns;
	else if (!back && time->cursor == 0)
		axis.end_ns += axis.cell_ns;
	else
		time->cursor += back ? 1 : -1;
	if (axis.end_ns > latest_ns(screen))
		axis.end_ns = latest_ns(screen);
	set_axis(screen, &axis);
}

bool ncs_timeline_shows(const struct ncs_screen *screen, const char *id)
{
	const struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	size_t end = table->top + (size_t)table->page;

	for (size_t i = table->top; i < table->count && i < end; i++)
		if (strcmp(table->rows[i].row.rank->id, id) == 0)
			return true;
	return false;
}

/* --- What is under the cursor -------------------------------------------- */

static const struct ncs_row *selected_row(const struct ncs_screen *screen)
{
	const struct ncs_grid_row *row =
		ncs_grid_selected(&screen->tables[NCS_VIEW_TIMELINE]);

	return row ? &row->row : NULL;
}

static bool find(const struct ncs_screen *screen, const struct ncs_row *row,
		 struct ncs_stretch *found, size_t *count)
{
	struct ncs_track track = track_of(row);
	struct ncs_axis axis = axis_of(screen);
	int64_t at_ns = ncs_axis_ns(&axis, cursor_column(screen));

	return ncs_track_find(row->rank, &track, at_ns, at_ns + axis.cell_ns,
			      found, count);
}

/* ".500000" is ".5", ".000000" is nothing. */
static void cut_zeros(char *fraction)
{
	size_t length = strlen(fraction);

	while (length > 0 &&
	       (fraction[length - 1] == '0' || fraction[length - 1] == '.'))
		fraction[--length] = '\0';
}

/* Exactly: "-12.345678ms". */
static void append_offset(char *text, size_t size, int64_t offset_ns)
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
		snprintf(fraction, sizeof(fraction), ".%0*lld", units[i].digits,
			 (long long)(rest_ns % units[i].ns));
		cut_zeros(fraction);
		ncs_append(text, size, "%c%lld%s%s", sign,
			   (long long)(rest_ns / units[i].ns), fraction,
			   units[i].unit);
		return;
	}
	ncs_append(text, size, "%c%lldns", sign, (long long)rest_ns);
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
		ncs_append(text, size, "; %s %llu",
			   ncs_function_name(collective.function),
			   (unsigned long long)collective.sequence_number);
}

/* The whole step, of which the stretch is one wait. */
static void append_step(const struct ncs_rank *rank,
			const struct ncs_record *record, char *text,
			size_t size)
{
	bool send = record->flags & NCS_RECORD_SEND;
	uint64_t ticks[NCS_STEP_TIMES];

	ncs_step_split(record, ticks);
	ncs_append(text, size,
		   "; step %llu: ", (unsigned long long)record->number);
	ncs_append_duration(text, size,
			    ncs_clock_duration_ns(&rank->header.clock,
						  ticks[NCS_STEP_DURATION]));
	for (unsigned i = NCS_STEP_FIRST_WAIT; i < NCS_STEP_TIMES; i++) {
		ncs_append(text, size, ", %s ",
			   ncs_channel_state_label(ncs_step_state(send, i)));
		ncs_append_duration(text, size,
				    ncs_clock_duration_ns(&rank->header.clock,
							  ticks[i]));
	}
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
			ncs_append(text, size, "; %llu operations",
				   (unsigned long long)record->value);
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
	ncs_append(text, size, "%s ", ncs_activity_label(stretch->activity));
	ncs_append_duration(text, size, stretch->end_ns - stretch->start_ns);
	ncs_append(text, size, stretch->open ? " so far, from " : " from ");
	append_offset(text, size,
		      (int64_t)stretch->start_ns - latest_ns(screen));
	if (stretch->record)
		append_record(row->rank, stretch->record, text, size);
	if (stretch->operation)
		append_bytes(text, size, stretch->operation->bytes);
	append_collective(row->rank, stretch, text, size);
}

static void append_nothing(const struct ncs_screen *screen,
			   const struct ncs_row *row, char *text, size_t size)
{
	struct ncs_axis axis = axis_of(screen);
	struct ncs_track track = track_of(row);
	struct ncs_cell cells[NCS_CELLS_MAX];

	if (axis.width > 0 &&
	    ncs_track_cells(row->rank, &track, &axis, NULL, cells) == 0)
		ncs_append(text, size, "%s",
			   ncs_activity_help(
				   cells[cursor_column(screen)].activity));
}

/* Who began the highlighted collective first, and who last. */
static void append_lit(const struct ncs_screen *screen, char *text, size_t size)
{
	const struct ncs_collective *lit = &screen->time.lit;
	const struct ncs_rank *first = NULL, *last = NULL;
	uint64_t first_ns = 0, last_ns = 0;
	struct ncs_presence part;
	size_t count = 0;
	char label[32];

	for (size_t i = 0; i < screen->model.rank_count; i++) {
		const struct ncs_rank *rank = screen->model.ranks[i];

		if (!ncs_collective_find(rank, lit, &part))
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
	ncs_append(text, size, "%s %llu", ncs_function_name(lit->function),
		   (unsigned long long)lit->sequence_number);
	if (!first) {
		ncs_append(text, size, " is no longer known. ");
		return;
	}
	ncs_rank_label(first, label, sizeof(label));
	ncs_append(text, size, " in %zu ranks: %s began first", count, label);
	ncs_rank_label(last, label, sizeof(label));
	if (count > 1) {
		ncs_append(text, size, ", %s last, ", label);
		append_offset(text, size, (int64_t)(last_ns - first_ns));
	}
	ncs_append(text, size, ". ");
}

/* Whether records of a time that is shown were lost. */
static bool shows_loss(const struct ncs_screen *screen,
		       const struct ncs_latest *latest)
{
	struct ncs_axis axis = axis_of(screen);

	return latest && latest->lost > 0 &&
	       (int64_t)latest->lost_until_ns > ncs_axis_ns(&axis, 0) &&
	       (int64_t)latest->lost_from_ns < axis.end_ns;
}

static void append_missing(const struct ncs_screen *screen,
			   const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_latest *latest = row->rank->latest;
	unsigned level = row->rank->now.sampling.level;
	struct ncs_track track = track_of(row);

	if (track.kind == NCS_TRACK_CHANNEL && level > 0)
		ncs_append(text, size, "; steps of 1 in %u operations are kept",
			   1u << level);
	if (shows_loss(screen, latest))
		ncs_append(text, size,
			   "; lost %llu records of this rank: [ looks more"
			   " often",
			   (unsigned long long)latest->lost);
}

void ncs_timeline_explain(const struct ncs_screen *screen, char *text,
			  size_t size)
{
	const struct ncs_row *row = selected_row(screen);
	struct ncs_axis axis = axis_of(screen);
	struct ncs_track track = track_of(row);
	struct ncs_stretch found;
	char name[192];
	size_t count;

	if (screen->time.is_lit)
		append_lit(screen, text, size);
	append_offset(text, size,
		      ncs_axis_ns(&axis, cursor_column(screen)) -
			      latest_ns(screen));
	ncs_rank_title(row->rank, name, sizeof(name));
	ncs_append(text, size, " %s, ", name);
	ncs_track_name(&track, name, sizeof(name));
	ncs_append(text, size, "%s: ", name);
	if (find(screen, row, &found, &count))
		append_stretch(screen, row, &found, text, size);
	else
		append_nothing(screen, row, text, size);
	append_missing(screen, row, text, size);
	ncs_append(text, size, ".");
}

/* --- Keys ---------------------------------------------------------------- */

static void highlight(struct ncs_screen *screen, uint64_t now_ns)
{
	const struct ncs_row *row = selected_row(screen);
	struct ncs_collective collective;
	char text[sizeof(screen->notice)] = "";
	struct ncs_stretch found;
	size_t count;

	if (!row || !find(screen, row, &found, &count) ||
	    !ncs_stretch_collective(row->rank, &found, &collective)) {
		ncs_screen_say(screen, now_ns,
			       "no collective is known under the cursor");
		return;
	}
	screen->time.is_lit = true;
	screen->time.lit = collective;
	append_lit(screen, text, sizeof(text));
	ncs_screen_say(screen, now_ns, "%sEsc ends it", text);
}

static bool act_on_time(struct ncs_screen *screen, enum ncs_action action)
{
	struct ncs_time_view *time = &screen->time;

	switch (action) {
	case NCS_ACTION_ZOOM_IN:
	case NCS_ACTION_UNFOLD:
		zoom(screen, true);
		return true;
	case NCS_ACTION_ZOOM_OUT:
	case NCS_ACTION_FOLD:
		zoom(screen, false);
		return true;
	case NCS_ACTION_PAN_BACK:
	case NCS_ACTION_SORT_PREVIOUS:
		pan(screen, true);
		return true;
	case NCS_ACTION_PAN_ON:
	case NCS_ACTION_SORT_NEXT:
		pan(screen, false);
		return true;
	case NCS_ACTION_LEFT:
	case NCS_ACTION_RIGHT:
		move_cursor(screen, action == NCS_ACTION_LEFT);
		return true;
	case NCS_ACTION_COLUMN_FIRST:
		time->cursor = time->width > 0 ? time->width - 1 : 0;
		return true;
	case NCS_ACTION_COLUMN_LAST:
		time->cursor = 0;
		return true;
	case NCS_ACTION_LAST:
		time->stays = false;
		time->cursor = 0;
		return true;
	default:
		return false;
	}
}

bool ncs_timeline_act(struct ncs_screen *screen, enum ncs_action action,
		      uint64_t now_ns)
{
	bool stayed = screen->time.stays;

	if (act_on_time(screen, action)) {
		if (screen->time.stays && !stayed)
			ncs_screen_say(screen, now_ns,
				       "the time stays; G goes back to now");
		return true;
	}
	switch (action) {
	case NCS_ACTION_ENTER:
		highlight(screen, now_ns);
		return true;
	case NCS_ACTION_BACK:
		if (!screen->time.is_lit)
			return false;
		screen->time.is_lit = false;
		return true;
	case NCS_ACTION_SORT_INVERT:
	case NCS_ACTION_SORT_THROUGHPUT:
	case NCS_ACTION_SORT_BYTES:
	case NCS_ACTION_SORT_TIME:
	case NCS_ACTION_LEVEL_MORE:
	case NCS_ACTION_LEVEL_LESS:
		ncs_screen_say(screen, now_ns,
			       "lanes keep their order and their names");
		return true;
	default:
		return false;
	}
}

void ncs_timeline_click(struct ncs_screen *screen, int x)
{
	struct ncs_time_view *time = &screen->time;

	if (x >= time->x && x < time->x + time->width)
		time->cursor = time->x + time->width - 1 - x;
}

/* --- Drawing ------------------------------------------------------------- */

/* Columns of the lanes' names, with marks. */
static int names_width(int width)
{
	if (width < 60)
		return width < 26 ? width : 22;
	if (width < 100)
		return 25;
	return width < 160 ? 34 : 48;
}

/* In the unit of the ticks, exactly. */
static void tick_label(char *text, size_t size, int64_t offset_ns,
		       int64_t tick_ns)
{
	static const struct {
		int64_t ns;
		const char *unit;
	} units[] = { { 1000000000, "s" },
		      { 1000000, "ms" },
		      { 1000, "us" },
		      { 1, "ns" } };
	size_t i = 0;

	while (tick_ns < units[i].ns)
		i++;
	if (offset_ns == 0)
		snprintf(text, size, "|now");
	else
		snprintf(text, size, "|%lld%s",
			 (long long)(offset_ns / units[i].ns), units[i].unit);
}

/* Round times before now, where there is room for what they are. */
static void draw_axis(const struct ncs_screen *screen,
		      const struct ncs_axis *axis, int y, int x)
{
	int64_t tick_ns = ncs_axis_tick_ns(axis, TICK_COLUMNS);
	int64_t from_ns = ncs_axis_ns(axis, 0) - latest_ns(screen);
	/* The first tick within; all are negative. */
	int64_t offset_ns = -(-from_ns / tick_ns) * tick_ns;
	int free_from = 0;
	char text[32];

	ncs_term_fill(y, x, axis->width, NCS_ROLE_HEADER);
	for (; offset_ns - from_ns < axis->cell_ns * axis->width;
	     offset_ns += tick_ns) {
		int column = (int)((offset_ns - from_ns) / axis->cell_ns);

		tick_label(text, sizeof(text), offset_ns, tick_ns);
		if (column < free_from ||
		    column + (int)strlen(text) > axis->width)
			continue;
		ncs_term_put(y, x + column, axis->width - column,
			     NCS_ROLE_HEADER, text);
		free_from = column + (int)strlen(text) + 1;
	}
	ncs_term_put(y, x + cursor_column(screen), 1, NCS_ROLE_HEADER_SORT,
		     ncs_term_symbol(NCS_SYMBOL_SORT_DOWN));
}

#define CHANNEL(state) NCS_ACTIVITY_CHANNEL + NCS_CHANNEL_##state
#define PROXY(state) NCS_ACTIVITY_PROXY + NCS_PROXY_##state

/* Those that are not here are plain text. */
static const enum ncs_role roles[NCS_ACTIVITY_COUNT] = {
	[CHANNEL(SEND_GPU_WAIT)] = NCS_ROLE_WAITS_GPU,
	[CHANNEL(RECV_GPU_WAIT)] = NCS_ROLE_WAITS_GPU,
	[CHANNEL(SEND_PEER_WAIT)] = NCS_ROLE_WAITS_PEER,
	[CHANNEL(RECV_WAIT)] = NCS_ROLE_WAITS_PEER,
	[CHANNEL(SEND_WAIT)] = NCS_ROLE_WAITS_NETWORK,
	[CHANNEL(RECV_FLUSH_WAIT)] = NCS_ROLE_WAITS_NETWORK,
	[NCS_ACTIVITY_CALL] = NCS_ROLE_BUSY,
	[NCS_ACTIVITY_LAUNCH] = NCS_ROLE_BUSY,
	[NCS_ACTIVITY_RUNNING] = NCS_ROLE_BUSY,
	[NCS_ACTIVITY_KERNEL] = NCS_ROLE_BUSY,
	[PROXY(ACTIVE)] = NCS_ROLE_BUSY,
	[PROXY(APPEND)] = NCS_ROLE_BUSY,
	[PROXY(SLEEP)] = NCS_ROLE_QUIET,
	[NCS_ACTIVITY_NONE] = NCS_ROLE_QUIET,
	[NCS_ACTIVITY_LOST] = NCS_ROLE_NOTE,
};

/* Of a cell in which there is more than is shown. */
static enum ncs_role more(enum ncs_role role)
{
	switch (role) {
	case NCS_ROLE_WAITS_GPU:
		return NCS_ROLE_WAITS_GPU_MORE;
	case NCS_ROLE_WAITS_PEER:
		return NCS_ROLE_WAITS_PEER_MORE;
	case NCS_ROLE_WAITS_NETWORK:
		return NCS_ROLE_WAITS_NETWORK_MORE;
	case NCS_ROLE_BUSY:
		return NCS_ROLE_BUSY_MORE;
	default:
		return NCS_ROLE_STRONG;
	}
}

static void draw_cell(const struct ncs_cell *cell, enum ncs_role role, int y,
		      int x)
{
	char text[2] = { ncs_activity_letter(cell->activity) };

	ncs_term_put(y, x, 1, role,
		     cell->activity == NCS_ACTIVITY_NONE ?
			     ncs_term_symbol(NCS_SYMBOL_EMPTY) :
			     text);
}

static void draw_lane(const struct ncs_screen *screen,
		      const struct ncs_row *row, const struct ncs_axis *axis,
		      int y, int x)
{
	const struct ncs_time_view *time = &screen->time;
	struct ncs_track track = track_of(row);
	struct ncs_cell cells[NCS_CELLS_MAX];
	int cursor = cursor_column(screen);

	if (ncs_track_cells(row->rank, &track, axis,
			    time->is_lit ? &time->lit : NULL, cells) != 0)
		return;
	for (int i = 0; i < axis->width; i++) {
		enum ncs_role role = roles[cells[i].activity];

		if (cells[i].several)
			role = more(role);
		if (i == cursor)
			role = NCS_ROLE_SELECTED;
		else if (cells[i].lit)
			role = NCS_ROLE_LIT;
		draw_cell(&cells[i], role, y, x + i);
	}
}

/* How much later than the first rank this one began what is highlighted. */
static void draw_later(const struct ncs_screen *screen,
		       const struct ncs_row *row, uint64_t first_ns, int y,
		       int end_x)
{
	struct ncs_track track = track_of(row);
	struct ncs_presence part;
	char text[32] = " +";

	if (track.kind != NCS_TRACK_FUNCTION ||
	    track.function != screen->time.lit.function ||
	    !ncs_collective_find(row->rank, &screen->time.lit, &part))
		return;
	ncs_append_duration(text, sizeof(text), part.start_ns - first_ns);
	ncs_term_put(y, end_x - (int)strlen(text), (int)strlen(text),
		     NCS_ROLE_LIT, text);
}

/* UINT64_MAX: nobody has. */
static uint64_t first_began_ns(const struct ncs_screen *screen)
{
	uint64_t first_ns = UINT64_MAX;
	struct ncs_presence part;

	for (size_t i = 0; i < screen->model.rank_count; i++)
		if (ncs_collective_find(screen->model.ranks[i],
					&screen->time.lit, &part) &&
		    part.start_ns < first_ns)
			first_ns = part.start_ns;
	return first_ns;
}

static void draw_lanes(struct ncs_screen *screen, const struct ncs_axis *axis,
		       const struct ncs_rect *rows, int x)
{
	const struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	uint64_t first_ns = screen->time.is_lit ? first_began_ns(screen) : 0;

	for (int i = 0; i < rows->height; i++) {
		size_t place = table->top + (size_t)i;
		const struct ncs_row *row;

		if (place >= table->count)
			break;
		row = &table->rows[place].row;
		draw_lane(screen, row, axis, rows->y + i, x);
		if (screen->time.is_lit)
			draw_later(screen, row, first_ns, rows->y + i, x - 1);
	}
}

void ncs_timeline_draw(struct ncs_screen *screen, const struct ncs_rect *header,
		       const struct ncs_rect *rows)
{
	struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	int names = names_width(rows->width);
	int width = rows->width - names;
	struct ncs_rect left_header = *header, left_rows = *rows;
	struct ncs_axis axis;

	left_header.width = names;
	left_rows.width = names - 1;
	screen->time.width = width < NCS_CELLS_MAX ? width : NCS_CELLS_MAX;
	screen->time.x = rows->x + names;
	axis = axis_of(screen);
	ncs_grid_draw(table, &left_header, &left_rows);
	/* That some columns have no room is as it should be. */
	table->shown_columns = table->column_count;
	if (axis.width <= 0)
		return;
	draw_axis(screen, &axis, header->y, header->x + names);
	draw_lanes(screen, &axis, rows, rows->x + names);
}

const struct ncs_screen_view ncs_screen_timeline = {
	.view = NCS_VIEW_TIMELINE,
	.name = "Timeline",
	.short_name = "Time",
	.rules = {
		.letter = letter,
		.severity = severity,
		.throughput = "TIMELINE_SINCE",
		.bytes = "TIMELINE_SINCE",
		.time = "TIMELINE_SINCE",
	},
};
