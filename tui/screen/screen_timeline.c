/* SPDX-License-Identifier: MIT */
/* The timeline; see screen_timeline.h. Time runs from left to right. The names
 * of the tracks are a table like those of the other views; the tracks are drawn
 * beside it.
 */
#include "tui/screen/screen_timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ncclstat/tables/letters.def"
#include "tui/table/table.h"
#include "tui/term/term.h"
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
		ncs_timeline_highlight(screen);
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

/* Returns the time at which the first rank began the highlighted collective, or
 * UINT64_MAX if none is known. */
static uint64_t first_began_ns(const struct ncs_screen *screen)
{
	uint64_t first_ns = UINT64_MAX;
	struct ncs_presence part;

	for (size_t i = 0; i < screen->model.rank_count; i++)
		if (ncs_collective_find(screen->model.ranks[i],
					&screen->time.highlighted, &part) &&
		    part.start_ns < first_ns)
			first_ns = part.start_ns;
	return first_ns;
}

static void draw_tracks(struct ncs_screen *screen, const struct ncs_axis *axis,
			const struct ncs_rect *rows, int x, bool *used)
{
	const struct ncs_grid *table = &screen->tables[NCS_VIEW_TIMELINE];
	uint64_t first_ns = screen->time.highlights ? first_began_ns(screen) :
						      0;

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
