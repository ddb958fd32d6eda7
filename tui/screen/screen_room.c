/* SPDX-License-Identifier: MIT */
/* The lines that a short table leaves free: the selected rank in detail, and graphs;
 * see screen_parts.h. Must not change the state of the screen. Called for each frame.
 */
#include "tui/screen/screen_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/value_names.h"
#include "tui/term/sparkline.h"
#include "tui/term/term.h"
#include "tui/text/format.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

#define LINE_BYTES 512
/* Width of a piece of the detail, in as many columns as there is room for. */
#define PIECE_WIDTH 50
/* Lines of the detail with its heading. */
#define LEAST_LINES 3
#define MOST_LINES 10
/* Width from which on two graphs stand side by side. */
#define SIDE_BY_SIDE 100

/* Draws the line above the detail or a graph. Returns the lines below it. */
static struct ncs_rect put_heading(const struct ncs_rect *rect,
				   const char *text)
{
	char line[LINE_BYTES + 2];

	snprintf(line, sizeof(line), " %s ", text);
	ncs_term_repeat(rect->y, rect->x, rect->width, NCS_ROLE_QUIET,
			NCS_SYMBOL_HORIZONTAL);
	ncs_term_put(rect->y, rect->x + 1, rect->width - 1, NCS_ROLE_LABEL,
		     line);
	return ncs_rect_below(rect, 1);
}

/* --- The selected rank ------------------------------------------------------ */

static const struct ncs_rank *selected_rank(const struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	return screen->view == NCS_VIEW_RANK && row && !row->of &&
			       !row->unreadable ?
		       row->row.rank :
		       NULL;
}

/* The pieces of a rank, as they are drawn. */
struct pieces {
	const struct ncs_rect *rect; /* NULL if they are only counted */
	int count;                   /* so far, drawn or not */
};

static int columns_of(int width)
{
	return width < PIECE_WIDTH ? 1 : width / PIECE_WIDTH;
}

static void put_piece(struct pieces *pieces, enum ncs_role role,
		      const char *text)
{
	int columns, width, column, line;

	if (!pieces->rect) {
		pieces->count++;
		return;
	}
	columns = columns_of(pieces->rect->width);
	width = pieces->rect->width / columns;
	column = pieces->count / pieces->rect->height;
	line = pieces->count % pieces->rect->height;
	pieces->count++;
	if (column < columns)
		ncs_term_put(pieces->rect->y + line,
			     pieces->rect->x + column * width, width - 2, role,
			     text);
}

/* Appends the text of a cell between two words, if it is known. */
static void append_cell(const struct ncs_screen *screen, enum ncs_column_id id,
			const struct ncs_row *row, const char *before,
			const char *behind, char *text, size_t size)
{
	struct ncs_value value = { 0 };
	char cell[NCS_FORMAT_MAX];

	ncs_column_get(&ncs_columns[id], row, &value);
	if (value.kind == NCS_VALUE_NONE)
		return;
	ncs_format_in_units(cell, sizeof(cell), &value, &screen->options.units,
			    0);
	ncs_append(text, size, "%s%s%s", before, cell, behind);
}

static struct ncs_rect draw_heading(const struct ncs_screen *screen,
				    const struct ncs_rank *rank,
				    const struct ncs_rect *rect)
{
	const struct ncs_row row = { .view = NCS_VIEW_RANK, .rank = rank };
	char text[LINE_BYTES];

	snprintf(text, sizeof(text), "%s: pid %" PRIu32, ncs_rank_of(rank).text,
		 ncs_rank_pid(rank));
	if (rank->process.host[0])
		ncs_append(text, sizeof(text), " on %s", rank->process.host);
	append_cell(screen, NCS_COLUMN_RANK_GPU, &row, ", GPU ", "", text,
		    sizeof(text));
	append_cell(screen, NCS_COLUMN_RANK_NCCL, &row, ", NCCL ", "", text,
		    sizeof(text));
	append_cell(screen, NCS_COLUMN_RANK_JOB, &row, ", job ", "", text,
		    sizeof(text));
	return put_heading(rect, text);
}

/* Puts what is under way: "AllReduce #529, 64MB, for 8.20ms". */
static void put_operations(const struct ncs_rank *rank, struct pieces *pieces)
{
	for (size_t i = 0; i < rank->now.operation_count; i++) {
		const struct ncs_operation_view *operation =
			&rank->now.operations[i];
		uint64_t age_ns = ncs_age_ns(rank, operation->start_ns);
		char text[LINE_BYTES] = "";

		ncs_append(text, sizeof(text), "%s, %sB, for %s",
			   ncs_call_name(operation->function,
					 operation->sequence_number)
				   .text,
			   ncs_size(operation->bytes).text,
			   ncs_duration(age_ns).text);
		put_piece(pieces, NCS_ROLE_STRONG, text);
	}
}

/* Puts what was done: "AllReduce: 529, 99.0/s, median 8.33ms". */
static void put_functions(const struct ncs_screen *screen,
			  const struct ncs_rank *rank, struct pieces *pieces)
{
	for (unsigned i = 0; i < NCS_FUNCTION_COUNT; i++) {
		const struct ncs_row row = { .view = NCS_VIEW_FUNCTION,
					     .rank = rank,
					     .index = i };
		char text[LINE_BYTES] = "";

		if (!ncs_function_is_used(&rank->now.functions[i]))
			continue;
		ncs_append(text, sizeof(text), "%s: ", ncs_function_name(i));
		append_cell(screen, NCS_COLUMN_FUNCTION_OPERATIONS, &row, "",
			    "", text, sizeof(text));
		append_cell(screen, NCS_COLUMN_FUNCTION_RATE, &row, ", ", "/s",
			    text, sizeof(text));
		append_cell(screen, NCS_COLUMN_FUNCTION_P50, &row, ", median ",
			    "", text, sizeof(text));
		put_piece(pieces, NCS_ROLE_TEXT, text);
	}
}

/* Puts the channels that are idle, or the others. */
static void put_channels(const struct ncs_rank *rank, bool idle,
			 struct pieces *pieces)
{
	for (size_t i = 0; i < rank->now.channel_count; i++) {
		const struct ncs_row row = { .view = NCS_VIEW_CHANNEL,
					     .rank = rank,
					     .index = i };
		char text[LINE_BYTES] = "";

		if ((rank->now.channels[i].state == NCS_CHANNEL_IDLE) != idle)
			continue;
		ncs_screen_channels.rules.title(&row, text, sizeof(text));
		put_piece(pieces,
			  ncs_screen_channels.rules.cell_role(
				  &ncs_columns[NCS_COLUMN_CHANNEL_STATE], &row),
			  text);
	}
}

static void put_all(const struct ncs_screen *screen,
		    const struct ncs_rank *rank, struct pieces *pieces)
{
	put_operations(rank, pieces);
	put_functions(screen, rank, pieces);
	put_channels(rank, false, pieces);
	put_channels(rank, true, pieces);
	if (pieces->count == 0)
		put_piece(pieces, NCS_ROLE_QUIET, "nothing is known of it yet");
}

int ncs_detail_lines(const struct ncs_screen *screen, int height, int width)
{
	const struct ncs_rank *rank = selected_rank(screen);
	int most = height - 2 * NCS_LAYOUT_MIN_GRAPH, lines;
	struct pieces pieces = { 0 };

	if (most < LEAST_LINES || !rank)
		return 0;
	if (most > MOST_LINES)
		most = MOST_LINES;
	put_all(screen, rank, &pieces);
	lines = 1 + (pieces.count + columns_of(width) - 1) / columns_of(width);
	return lines < LEAST_LINES ? LEAST_LINES : lines < most ? lines : most;
}

void ncs_draw_detail(const struct ncs_screen *screen,
		     const struct ncs_rect *rect)
{
	const struct ncs_rank *rank = selected_rank(screen);
	struct pieces pieces = { 0 };
	struct ncs_rect body;

	if (!rank || rect->height < 2)
		return;
	body = draw_heading(screen, rank, rect);
	pieces.rect = &body;
	put_all(screen, rank, &pieces);
}

/* --- Graphs ----------------------------------------------------------------- */

/* Returns the largest speed of the latest `width` looks; negative if none is
 * known. */
static double largest(const struct ncs_trend *trend, int width)
{
	double most = -1;

	for (int i = 0; i < width; i++) {
		const struct ncs_trend_point *point =
			ncs_trend_at(trend, (uint64_t)i);

		if (point && (double)point->busbw > most)
			most = (double)point->busbw;
	}
	return most;
}

bool ncs_graph_shows_speed(const struct ncs_screen *screen)
{
	return largest(&screen->model.trend, ncs_term_width()) >= 0;
}

/* Appends how much time the looks cover that are shown. */
static void append_span(const struct ncs_trend *trend, int width, char *text,
			size_t size)
{
	uint64_t count = trend->count < (uint64_t)width ? trend->count :
							  (uint64_t)width;
	const struct ncs_trend_point *first, *last;

	if (count > NCS_TREND_LENGTH)
		count = NCS_TREND_LENGTH;
	first = count > 1 ? ncs_trend_at(trend, count - 1) : NULL;
	last = ncs_trend_at(trend, 0);
	if (first && last->time_ns > first->time_ns)
		ncs_append(text, size, ", the latest %s",
			   ncs_duration(last->time_ns - first->time_ns).text);
}

static void draw_bar(const struct ncs_rect *rect, int x, double share)
{
	int levels = (int)(share * NCS_BAR_LEVELS * rect->height);
	int y = rect->y + rect->height;

	/* A known value is seen, be it nothing. */
	if (levels < 1)
		levels = 1;
	/* Full cells, and a part of a cell at the top. */
	for (; y > rect->y && levels > 0; levels -= NCS_BAR_LEVELS)
		ncs_term_put(--y, x, 1, NCS_ROLE_BUSY,
			     ncs_bar(levels < NCS_BAR_LEVELS ?
					     (unsigned)levels :
					     NCS_BAR_LEVELS,
				     ncs_term_shows_ascii()));
}

static void draw_speed(const struct ncs_screen *screen,
		       const struct ncs_rect *rect)
{
	const struct ncs_trend *trend = &screen->model.trend;
	double most = largest(trend, rect->width);
	struct ncs_rect body;
	struct ncs_value value = { 0 };
	char number[NCS_FORMAT_MAX], text[LINE_BYTES] = "";

	ncs_value_set_real(&value, NCS_VALUE_REAL, most);
	ncs_format_in_units(number, sizeof(number), &value,
			    &screen->options.units, 0);
	ncs_append(text, sizeof(text),
		   "busbw of the busiest function, at most %s%s", number,
		   value.kind == NCS_VALUE_NONE ? "" :
		   screen->options.units.bits   ? " Gb/s" :
						  " GB/s");
	append_span(trend, rect->width, text, sizeof(text));
	body = put_heading(rect, text);
	for (int i = 0; i < rect->width; i++) {
		const struct ncs_trend_point *point =
			ncs_trend_at(trend, (uint64_t)i);

		if (point && point->busbw >= 0)
			draw_bar(&body, rect->x + rect->width - 1 - i,
				 most > 0 ? (double)point->busbw / most : 0);
	}
}

/* Returns the kind of wait that a line of a column shows, whose middle is at
 * this share of the height. */
static unsigned kind_at(const struct ncs_trend_point *point, double middle)
{
	double sum = 0;

	for (unsigned i = 0; i < NCS_WAIT_COUNT; i++) {
		sum += (double)point->share[i];
		if (middle < sum)
			return i;
	}
	return NCS_WAIT_IDLE;
}

static void draw_column(const struct ncs_rect *rect, int x,
			const struct ncs_trend_point *point)
{
	for (int i = 0; i < rect->height; i++) {
		unsigned kind =
			kind_at(point, ((double)i + 0.5) / rect->height);
		char text[2] = { ncs_wait_letter(kind) };

		ncs_term_put(rect->y + rect->height - 1 - i, x, 1,
			     ncs_wait_role(kind),
			     kind == NCS_WAIT_IDLE ?
				     ncs_term_symbol(NCS_SYMBOL_EMPTY) :
				     text);
	}
}

static void draw_waits(const struct ncs_screen *screen,
		       const struct ncs_rect *rect)
{
	const struct ncs_trend *trend = &screen->model.trend;
	struct ncs_rect body;
	char text[LINE_BYTES] = "waits:";

	for (unsigned i = 0; i < NCS_WAIT_IDLE; i++)
		ncs_append(text, sizeof(text), " %c %s", ncs_wait_letter(i),
			   ncs_wait_name(i));
	append_span(trend, rect->width, text, sizeof(text));
	body = put_heading(rect, text);
	for (int i = 0; i < rect->width; i++) {
		const struct ncs_trend_point *point =
			ncs_trend_at(trend, (uint64_t)i);

		if (point && point->share[0] >= 0)
			draw_column(&body, rect->x + rect->width - 1 - i,
				    point);
	}
}

void ncs_draw_graphs(const struct ncs_screen *screen,
		     const struct ncs_rect *rect)
{
	struct ncs_rect speed = *rect, waits = *rect;

	if (rect->height == 0)
		return;
	if (rect->width >= SIDE_BY_SIDE) {
		speed.width = rect->width / 2 - 1;
		waits.x += rect->width / 2;
		waits.width -= rect->width / 2;
	} else if (rect->height >= 2 * NCS_LAYOUT_MIN_GRAPH) {
		speed.height /= 2;
		waits.y += speed.height;
		waits.height -= speed.height;
	} else {
		waits.height = 0;
	}
	draw_speed(screen, &speed);
	if (waits.height > 0)
		draw_waits(screen, &waits);
}
