/* SPDX-License-Identifier: MIT */
/* The graphs; see screen_parts.h. Must not change the state of the screen.
 * Called for each frame.
 */
#include "tui/screen/screen_parts.h"

#include <stdio.h>

#include "tui/term/sparkline.h"
#include "tui/term/term.h"
#include "tui/text/format.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

#define LINE_BYTES 256
/* Width from which on two graphs stand side by side. */
#define SIDE_BY_SIDE 100

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

/* Draws the line above a graph: its text, of `size` bytes, to which it appends
 * the time. Returns what is left for the graph. */
static struct ncs_rect draw_heading(const struct ncs_trend *trend,
				    const struct ncs_rect *rect, char *text,
				    size_t size)
{
	append_span(trend, rect->width, text, size);
	ncs_append(text, size, " ");
	ncs_term_repeat(rect->y, rect->x, rect->width, NCS_ROLE_QUIET,
			NCS_SYMBOL_HORIZONTAL);
	ncs_term_put(rect->y, rect->x + 1, rect->width - 1, NCS_ROLE_LABEL,
		     text);
	return ncs_rect_below(rect, 1);
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
		   " busbw of the busiest function, at most %s%s", number,
		   value.kind == NCS_VALUE_NONE	  ? "" :
		   screen->options.units.bits ? " Gb/s" :
						" GB/s");
	body = draw_heading(trend, rect, text, sizeof(text));
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
	char text[LINE_BYTES] = " waits:";

	for (unsigned i = 0; i < NCS_WAIT_IDLE; i++)
		ncs_append(text, sizeof(text), " %c %s", ncs_wait_letter(i),
			   ncs_wait_name(i));
	body = draw_heading(trend, rect, text, sizeof(text));
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
