/* SPDX-License-Identifier: MIT */
/* The selected rank in detail; see screen_parts.h. Must not change the state of
 * the screen. Called for each frame.
 */
#include "tui/screen/screen_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/base/value_names.h"
#include "tui/term/term.h"
#include "tui/text/format.h"
#include "tui/text/words.h"

#define LINE_BYTES 512
/* Width of a piece of the detail, in as many columns as there is room for. */
#define PIECE_WIDTH 50
/* Lines of the detail with its heading. */
#define LEAST_LINES 3
#define MOST_LINES 10

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

static void draw_heading(const struct ncs_screen *screen,
			 const struct ncs_rank *rank,
			 const struct ncs_rect *rect)
{
	const struct ncs_row row = { .view = NCS_VIEW_RANK, .rank = rank };
	char text[LINE_BYTES];

	snprintf(text, sizeof(text), " %s: pid %" PRIu32,
		 ncs_rank_of(rank).text, ncs_rank_pid(rank));
	if (rank->process.host[0])
		ncs_append(text, sizeof(text), " on %s", rank->process.host);
	append_cell(screen, NCS_COLUMN_RANK_GPU, &row, ", GPU ", "", text,
		    sizeof(text));
	append_cell(screen, NCS_COLUMN_RANK_NCCL, &row, ", NCCL ", "", text,
		    sizeof(text));
	append_cell(screen, NCS_COLUMN_RANK_JOB, &row, ", job ", "", text,
		    sizeof(text));
	ncs_append(text, sizeof(text), " ");
	ncs_term_repeat(rect->y, rect->x, rect->width, NCS_ROLE_QUIET,
			NCS_SYMBOL_HORIZONTAL);
	ncs_term_put(rect->y, rect->x + 1, rect->width - 1, NCS_ROLE_LABEL,
		     text);
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
	const struct ncs_rect body = ncs_rect_below(rect, 1);
	struct pieces pieces = { .rect = &body };

	if (!rank || rect->height < 2)
		return;
	draw_heading(screen, rank, rect);
	put_all(screen, rank, &pieces);
}
