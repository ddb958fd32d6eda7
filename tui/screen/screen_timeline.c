/* SPDX-License-Identifier: MIT */
/* The timeline; see screen_timeline.h. Time runs from left to right. The names
 * of the tracks are a table like those of the other views; the tracks are drawn
 * beside it.
 */
#include "tui/screen/screen_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/rank.h"
#include "analysis/records/latest_records.h"
#include "analysis/records/step_stats.h"
#include "ncclstat/tables/letters.def"
#include "shm/clock.h"
#include "tui/table/table.h"
#include "tui/term/term.h"
#include "tui/text/format.h"
#include "tui/text/words.h"

/* Minimum distance between the labels of the axis, in columns. */
#define TICK_COLUMNS 12
#define LABEL_BYTES 96

bool ncs_timeline_shows(const struct ncs_screen *screen, const char *id)
{
	const struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	size_t end = table->top + (size_t)table->page;

	for (size_t i = table->top; i < table->count && i < end; i++)
		if (strcmp(table->rows[i].row.rank->id, id) == 0)
			return true;
	return false;
}

/* --- Words ---------------------------------------------------------------- */

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

/* The ranks that began the highlighted collective. */
struct beginners {
	const struct ncs_rank *first; /* NULL if none is known */
	const struct ncs_rank *last;
	uint64_t first_ns;
	uint64_t last_ns;
	size_t count;
};

static struct beginners beginners_of(const struct ncs_screen *screen)
{
	struct beginners found = { 0 };
	struct ncs_presence part;

	for (size_t i = 0; i < screen->model.rank_count; i++) {
		const struct ncs_rank *rank = screen->model.ranks[i];

		if (!ncs_collective_find(rank, &screen->time.highlighted,
					 &part))
			continue;
		if (!found.first || part.start_ns < found.first_ns) {
			found.first = rank;
			found.first_ns = part.start_ns;
		}
		if (!found.last || part.start_ns > found.last_ns) {
			found.last = rank;
			found.last_ns = part.start_ns;
		}
		found.count++;
	}
	return found;
}

/* Appends the first and the last rank that began the highlighted collective. */
static void append_highlighted(const struct ncs_screen *screen, char *text,
			       size_t size)
{
	const struct ncs_collective *highlighted = &screen->time.highlighted;
	const struct beginners found = beginners_of(screen);
	struct ncs_phrase call = ncs_call_name(highlighted->function,
					       highlighted->sequence_number);

	if (!found.first) {
		ncs_append(text, size, "%s is no longer known. ", call.text);
		return;
	}
	ncs_append(text, size, "%s in %zu ranks: %s began first", call.text,
		   found.count, ncs_rank_name(found.first).text);
	if (found.count > 1)
		ncs_append(
			text, size, ", %s last, %s%s",
			ncs_rank_name(found.last).text,
			offset((int64_t)(found.last_ns - found.first_ns)).text,
			error_of(found.first, found.last).text);
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

/* Highlights the collective under the cursor in all ranks. */
static void highlight(struct ncs_screen *screen)
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

/* --- Keys ----------------------------------------------------------------- */

bool ncs_timeline_act(struct ncs_screen *screen, enum ncs_action action)
{
	bool stayed = screen->time.fixed;

	if (ncs_timeline_act_on_axis(screen, action)) {
		if (screen->time.fixed && !stayed)
			ncs_screen_say(screen,
				       "the time stands still; G returns to"
				       " now");
		return true;
	}
	switch (action) {
	case NCS_ACTION_ENTER:
		highlight(screen);
		return true;
	case NCS_ACTION_BACK:
		if (!screen->time.highlights)
			return false;
		screen->time.highlights = false;
		return true;
	case NCS_ACTION_SORT_INVERT:
	case NCS_ACTION_SORT_THROUGHPUT:
	case NCS_ACTION_SORT_BYTES:
	case NCS_ACTION_SORT_TIME:
	case NCS_ACTION_LEVEL_MORE:
	case NCS_ACTION_LEVEL_LESS:
		ncs_screen_say(screen,
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

/* --- Drawing -------------------------------------------------------------- */

/* Returns the width in columns of the names of the tracks, with their marks, where
 * they have those of communicators or not. */
static int names_width(int width, bool has_communicators)
{
	if (width < 60)
		return width < 26 ? width : 22;
	if (width < 100)
		return has_communicators ? 34 : 25;
	return width < 160 ? 34 : 48;
}

/* Prints a time relative to now in the unit of the ticks. */
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
		snprintf(text, size, "|%" PRId64 "%s", offset_ns / units[i].ns,
			 units[i].unit);
}

/* Draws labels at round times before now where there is room, and the
 * cursor. */
static void draw_axis(const struct ncs_screen *screen,
		      const struct ncs_axis *axis, int y, int x)
{
	int64_t tick_ns = ncs_axis_tick_ns(axis, TICK_COLUMNS);
	int64_t from_ns = ncs_axis_ns(axis, 0) - ncs_timeline_latest_ns(screen);
	/* The first tick on the axis. All times are negative. */
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
	ncs_term_put(y, x + ncs_timeline_cursor_column(screen), 1,
		     NCS_ROLE_HEADER_SORT,
		     ncs_term_symbol(NCS_SYMBOL_SORT_DOWN));
}

#define CHANNEL(state) NCS_ACTIVITY_CHANNEL + NCS_CHANNEL_##state
#define PROXY(state) NCS_ACTIVITY_PROXY + NCS_PROXY_##state

/* Roles of activities. Activities that are not listed are drawn as plain
 * text. */
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

/* Returns the first activity that has a letter. */
static enum ncs_activity activity_of(char letter)
{
	unsigned i = 0;

	while (i + 1 < NCS_ACTIVITY_COUNT && ncs_activities[i].letter != letter)
		i++;
	return (enum ncs_activity)i;
}

static const char letters[] = {
#define X(ID) NCS_LETTER_##ID,
	NCS_LETTERS(X)
#undef X
};

/* Draws which letter of the tracks means what, in the letters' colours: of those
 * that are there. Returns how many lines that needs. */
static int draw_legend(const struct ncs_rect *rect, const bool *used)
{
	int x = 0, y = 0;

	for (size_t i = 0; i < sizeof(letters); i++) {
		enum ncs_activity activity = activity_of(letters[i]);
		const char letter[2] = { letters[i] };
		char text[64];
		int width;

		if (!used[(unsigned char)letters[i]] ||
		    letters[i] == NCS_LETTER_UNKNOWN)
			continue;
		snprintf(text, sizeof(text), "%s %s", letter,
			 ncs_activities[activity].label);
		width = ncs_term_text_width(text);
		if (x > 0 && x + width > rect->width) {
			x = 0;
			y++;
		}
		if (y < rect->height) {
			ncs_term_put(rect->y + y, rect->x + x, 1,
				     roles[activity], letter);
			ncs_term_put(rect->y + y, rect->x + x + 2, width - 2,
				     NCS_ROLE_LABEL, text + 2);
		}
		x += width + 2;
	}
	return y + 1;
}

/* Roles of cells that have more activities than the one shown; NCS_ROLE_STRONG where
 * there is none. */
static const enum ncs_role roles_of_more[NCS_ROLE_COUNT] = {
	[NCS_ROLE_WAITS_GPU] = NCS_ROLE_WAITS_GPU_MORE,
	[NCS_ROLE_WAITS_PEER] = NCS_ROLE_WAITS_PEER_MORE,
	[NCS_ROLE_WAITS_NETWORK] = NCS_ROLE_WAITS_NETWORK_MORE,
	[NCS_ROLE_BUSY] = NCS_ROLE_BUSY_MORE,
};

static void draw_cell(const struct ncs_cell *cell, enum ncs_role role, int y,
		      int x)
{
	char text[2] = { ncs_activities[cell->activity].letter };

	ncs_term_put(y, x, 1, role,
		     cell->activity == NCS_ACTIVITY_NONE ?
			     ncs_term_symbol(NCS_SYMBOL_EMPTY) :
			     text);
}

static void draw_track(const struct ncs_screen *screen,
		       const struct ncs_row *row, const struct ncs_axis *axis,
		       int y, int x, bool *used)
{
	const struct ncs_time_view *time = &screen->time;
	struct ncs_track track = ncs_timeline_track(row);
	struct ncs_cell cells[NCS_CELLS_MAX];
	int cursor = ncs_timeline_cursor_column(screen);

	if (ncs_track_cells(row->rank, &track, axis,
			    time->highlights ? &time->highlighted : NULL,
			    cells) != 0)
		return;
	for (int i = 0; i < axis->width; i++) {
		enum ncs_role role = roles[cells[i].activity];

		used[(unsigned char)ncs_activities[cells[i].activity].letter] =
			true;
		if (cells[i].several)
			role = roles_of_more[role] ? roles_of_more[role] :
						     NCS_ROLE_STRONG;
		if (i == cursor)
			role = NCS_ROLE_SELECTED;
		else if (cells[i].lit)
			role = NCS_ROLE_HIGHLIGHT;
		draw_cell(&cells[i], role, y, x + i);
	}
}

/* Draws by how much later than the first rank this row's rank began the
 * highlighted collective. */
static void draw_later(const struct ncs_screen *screen,
		       const struct ncs_row *row, uint64_t first_ns, int y,
		       int end_x)
{
	struct ncs_track track = ncs_timeline_track(row);
	struct ncs_presence part;
	char text[32];

	if (track.kind != NCS_TRACK_FUNCTION ||
	    track.function != screen->time.highlighted.function ||
	    !ncs_collective_find(row->rank, &screen->time.highlighted, &part))
		return;
	snprintf(text, sizeof(text), " +%.24s",
		 ncs_duration(part.start_ns - first_ns).text);
	ncs_term_put(y, end_x - (int)strlen(text), (int)strlen(text),
		     NCS_ROLE_HIGHLIGHT, text);
}

static void draw_tracks(struct ncs_screen *screen, const struct ncs_axis *axis,
			const struct ncs_rect *rows, int x, bool *used)
{
	const struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	uint64_t first_ns =
		screen->time.highlights ? beginners_of(screen).first_ns : 0;

	for (int i = 0; i < rows->height; i++) {
		size_t place = table->top + (size_t)i;
		const struct ncs_row *row;

		if (place >= table->count)
			break;
		row = &table->rows[place].row;
		draw_track(screen, row, axis, rows->y + i, x, used);
		if (screen->time.highlights)
			draw_later(screen, row, first_ns, rows->y + i, x - 1);
	}
}

void ncs_timeline_draw(struct ncs_screen *screen, const struct ncs_rect *legend,
		       const struct ncs_rect *header,
		       const struct ncs_rect *rows)
{
	bool used[1 << 8] = { false };
	struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	int names = names_width(rows->width, !table->one_communicator);
	int width = rows->width - names;
	struct ncs_rect left_header = *header, left_rows = *rows;
	struct ncs_axis axis;
	int lines;

	left_header.width = names;
	left_rows.width = names - 1;
	screen->time.width = width < NCS_CELLS_MAX ? width : NCS_CELLS_MAX;
	screen->time.x = rows->x + names;
	ncs_timeline_place(screen);
	axis = ncs_timeline_axis(screen);
	ncs_grid_draw(table, &left_header, &left_rows);
	/* Count all columns as shown: the timeline needs no note on columns
	 * that do not fit. */
	table->shown_columns = table->column_count;
	if (axis.width <= 0)
		return;
	draw_axis(screen, &axis, header->y, header->x + names);
	draw_tracks(screen, &axis, rows, rows->x + names, used);
	lines = draw_legend(legend, used);
	if (lines > screen->time.legend_lines)
		screen->time.legend_lines = lines;
}

/* --- Saving --------------------------------------------------------------- */

static void print_cell(FILE *file, enum ncs_column_id id,
		       const struct ncs_row *row)
{
	const struct ncs_column *column = &ncs_columns[id];
	char text[NCS_FORMAT_MAX], cell[NCS_FORMAT_MAX];
	struct ncs_value value;

	ncs_column_get(column, row, &value);
	ncs_format_value(text, sizeof(text), &value, column->width, true);
	ncs_format_pad(cell, sizeof(cell), text, column->width, column->align);
	fprintf(file, "%s  ", cell);
}

int ncs_timeline_print(FILE *file, const struct ncs_screen *screen)
{
	const struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	struct ncs_axis axis = ncs_timeline_axis(screen);
	struct ncs_cell cells[NCS_CELLS_MAX];
	bool used[1 << 8] = { false };
	char name[LABEL_BYTES];
	size_t count;
	const struct ncs_grid_row *rows = ncs_fold_rows(table, &count);

	fprintf(file, "a letter for each %s, the last one until %.6f s%s\n",
		ncs_duration((uint64_t)axis.cell_ns).text,
		(double)(axis.end_ns - ncs_timeline_latest_ns(screen)) / 1e9,
		screen->time.fixed ? " from now" : ", now");
	for (size_t i = 0; i < count; i++) {
		const struct ncs_row *row = &rows[i].row;
		struct ncs_track track = ncs_timeline_track(row);
		int error = ncs_track_cells(row->rank, &track, &axis, NULL,
					    cells);

		if (error)
			return error;
		print_cell(file, NCS_COLUMN_TIMELINE_RANK, row);
		ncs_track_name(&track, name, sizeof(name));
		fprintf(file, "%-16s  ", name);
		if (!table->one_communicator)
			print_cell(file, NCS_COLUMN_TIMELINE_COMM, row);
		for (int k = 0; k < axis.width; k++) {
			char letter = ncs_activities[cells[k].activity].letter;

			used[(unsigned char)letter] = true;
			fputc(letter, file);
		}
		fputc('\n', file);
	}
	for (size_t i = 0; i < sizeof(letters); i++)
		if (used[(unsigned char)letters[i]] &&
		    letters[i] != NCS_LETTER_UNKNOWN)
			fprintf(file, "%c  %s\n", letters[i],
				ncs_activities[activity_of(letters[i])].label);
	return 0;
}
