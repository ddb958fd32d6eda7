/* SPDX-License-Identifier: MIT */
/* Proxy: one row for each rank's proxy thread, and above the table that
 * of the selected rank as a state machine.
 *
 * NCCL reports entries into states, so each box shows the rate of entries into
 * it. Other transitions that NCCL reports stand at the arrows.
 */
#include "tui/views/view.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "tui/term/term.h"
#include "tui/text/format.h"
#include "tui/text/words.h"
#include "tui/views/row_looks.h"

#define BOXES_HEIGHT 6
#define LINES_HEIGHT 5
#define BOXES_WIDTH 72
#define GAP_WIDTH 8

/* The boxes, in the order in which work passes through the states. */
enum { PLACES = 4 };
static const struct {
	enum ncs_proxy_state state;
	enum ncs_proxy_transition entry;
	enum ncs_column_id share;
} places[PLACES] = {
	{ NCS_PROXY_SLEEP, NCS_TRANSITION_SLEEP, NCS_COLUMN_PROXY_SLEEP_SHARE },
	{ NCS_PROXY_APPEND, NCS_TRANSITION_APPEND,
	  NCS_COLUMN_PROXY_APPEND_SHARE },
	{ NCS_PROXY_ACTIVE, NCS_TRANSITION_ACTIVE,
	  NCS_COLUMN_PROXY_ACTIVE_SHARE },
	{ NCS_PROXY_IDLE, NCS_TRANSITION_IDLE, NCS_COLUMN_PROXY_IDLE_SHARE },
};

static char letter_of(enum ncs_proxy_state state)
{
	return ncs_activities[NCS_ACTIVITY_PROXY + state].letter;
}

static bool is_asleep(const struct ncs_row *row)
{
	enum ncs_proxy_state state = row->rank->now.proxy.state;

	return state == NCS_PROXY_UNKNOWN ||
	       (state == NCS_PROXY_SLEEP &&
		ncs_share_is_all(row, NCS_COLUMN_PROXY_SLEEP_SHARE));
}

static enum ncs_severity severity(const struct ncs_row *row)
{
	enum ncs_severity of_rank = ncs_rank_severity(row->rank);

	if (of_rank >= NCS_NOTE || !ncs_rank_is_live(row->rank))
		return of_rank;
	return is_asleep(row) ? NCS_QUIET : NCS_NORMAL;
}

/* --- Shares and rates of a state ------------------------------------------ */

/* Returns the share of a state as text, and sets it. */
static struct ncs_phrase share_of(const struct ncs_row *row, unsigned place,
				  double *share)
{
	struct ncs_value value = { 0 };
	char text[32];

	ncs_column_get(&ncs_columns[places[place].share], row, &value);
	*share = value.kind == NCS_VALUE_SHARE ? value.real : 0;
	ncs_format_value(text, sizeof(text), &value, 0, true);
	return ncs_phrase("%s%s", text,
			  value.kind == NCS_VALUE_SHARE ? "%" : "");
}

/* Returns the transitions per second over the window. */
static struct ncs_phrase rate_of(const struct ncs_row *row,
				 enum ncs_proxy_transition transition)
{
	const struct ncs_counters *base = row->rank->base;
	uint64_t count = row->rank->now.proxy.count[transition];
	uint64_t window_ns = ncs_rank_window_ns(row->rank);
	struct ncs_value value = { 0 };
	char text[32];

	if (window_ns > 0 && count >= base->proxy_count[transition] &&
	    ncs_rank_proxy_known(row->rank)) {
		value.kind = NCS_VALUE_RATE;
		value.real = (double)(count - base->proxy_count[transition]) *
			     1e9 / (double)window_ns;
	}
	ncs_format_value(text, sizeof(text), &value, 0, true);
	return ncs_phrase("%s%s", text,
			  value.kind == NCS_VALUE_NONE ? "" : "/s");
}

static bool is_current(const struct ncs_row *row, unsigned place)
{
	return row->rank->now.proxy.state == places[place].state;
}

/* Returns the letter and the name of a state. */
static struct ncs_phrase label(const struct ncs_row *row, unsigned place)
{
	return ncs_phrase("%s%c %-6s", is_current(row, place) ? ">" : " ",
			  letter_of(places[place].state),
			  ncs_proxy_state_name(places[place].state));
}

static uint64_t duration_ns(const struct ncs_row *row)
{
	return ncs_age_ns(row->rank, row->rank->now.proxy.since_ns);
}

static void draw_share_bar(int y, int x, int width, double share)
{
	int full = (int)(share * width + 0.5);

	if (width <= 0)
		return;
	ncs_term_repeat(y, x, full, NCS_ROLE_TEXT, NCS_SYMBOL_FULL);
	ncs_term_repeat(y, x + full, width - full, NCS_ROLE_QUIET,
			NCS_SYMBOL_EMPTY);
}

/* --- Boxes ---------------------------------------------------------------- */

static void draw_border(int y, int x, int width, enum ncs_symbol left,
			enum ncs_symbol right)
{
	ncs_term_repeat(y, x, 1, NCS_ROLE_TEXT, left);
	ncs_term_repeat(y, x + 1, width - 2, NCS_ROLE_TEXT,
			NCS_SYMBOL_HORIZONTAL);
	ncs_term_repeat(y, x + width - 1, 1, NCS_ROLE_TEXT, right);
}

static void draw_box(const struct ncs_row *row, unsigned place, int y, int x,
		     int width)
{
	enum ncs_role role = is_current(row, place) ? NCS_ROLE_HIGHLIGHT :
						      NCS_ROLE_TEXT;
	struct ncs_phrase text;
	double share;

	draw_border(y, x, width, NCS_SYMBOL_TOP_LEFT, NCS_SYMBOL_TOP_RIGHT);
	draw_border(y + 4, x, width, NCS_SYMBOL_BOTTOM_LEFT,
		    NCS_SYMBOL_BOTTOM_RIGHT);
	for (int i = 1; i < 4; i++) {
		ncs_term_repeat(y + i, x, 1, NCS_ROLE_TEXT,
				NCS_SYMBOL_VERTICAL);
		ncs_term_repeat(y + i, x + width - 1, 1, NCS_ROLE_TEXT,
				NCS_SYMBOL_VERTICAL);
	}
	ncs_term_fill(y + 1, x + 1, width - 2, role);
	ncs_term_put(y + 1, x + 1, width - 2, role, label(row, place).text);
	text = ncs_phrase("%6s ", share_of(row, place, &share).text);
	ncs_term_put(y + 2, x + 1, width - 2, NCS_ROLE_TEXT, text.text);
	draw_share_bar(y + 2, x + 8, width - 9, share);
	text = ncs_phrase("%6s in", rate_of(row, places[place].entry).text);
	ncs_term_put(y + 3, x + 1, width - 2, NCS_ROLE_TEXT, text.text);
}

static void draw_centred(int y, int x, int width, const char *text)
{
	int length = ncs_term_text_width(text);

	ncs_term_put(y, x + (length < width ? (width - length) / 2 : 0), width,
		     NCS_ROLE_TEXT, text);
}

/* Draws the arrow between a box and the next one. */
static void draw_arrow(const struct ncs_row *row, unsigned place, int y, int x)
{
	struct ncs_phrase rate = { "" };

	ncs_term_repeat(y + 2, x + 1, GAP_WIDTH - 2, NCS_ROLE_TEXT,
			NCS_SYMBOL_HORIZONTAL);
	ncs_term_repeat(y + 2, x + GAP_WIDTH - 2, 1, NCS_ROLE_TEXT,
			NCS_SYMBOL_LEADS_TO);
	if (places[place].state == NCS_PROXY_SLEEP) {
		draw_centred(y + 1, x, GAP_WIDTH, "woken");
		rate = rate_of(row, NCS_TRANSITION_WAKEUP);
	} else if (places[place].state == NCS_PROXY_APPEND) {
		draw_centred(y + 1, x, GAP_WIDTH, "taken");
		rate = rate_of(row, NCS_TRANSITION_APPEND_END);
	} else {
		ncs_term_repeat(y + 2, x + 1, 1, NCS_ROLE_TEXT,
				NCS_SYMBOL_COMES_FROM);
	}
	draw_centred(y + 3, x, GAP_WIDTH, rate.text);
}

static void draw_boxes(const struct ncs_row *row, const struct ncs_rect *rect)
{
	int width = (rect->width - (PLACES - 1) * GAP_WIDTH) / PLACES;
	int x = rect->x;

	if (width > 24)
		width = 24;
	for (unsigned i = 0; i < PLACES; i++) {
		draw_box(row, i, rect->y + 1, x, width);
		x += width;
		if (i + 1 < PLACES)
			draw_arrow(row, i, rect->y + 1, x);
		x += GAP_WIDTH;
	}
}

/* --- Lines ---------------------------------------------------------------- */

static void draw_line(const struct ncs_row *row, unsigned place, int y, int x,
		      int width)
{
	enum ncs_role role = is_current(row, place) ? NCS_ROLE_HIGHLIGHT :
						      NCS_ROLE_TEXT;
	struct ncs_phrase text;
	double share;

	ncs_term_put(y, x, width, role, label(row, place).text);
	text = ncs_phrase(" %6s ", share_of(row, place, &share).text);
	ncs_term_put(y, x + 9, width - 9, NCS_ROLE_TEXT, text.text);
	draw_share_bar(y, x + 17, width - 17 - 11 < 20 ? width - 28 : 20,
		       share);
	text = ncs_phrase("%7s in", rate_of(row, places[place].entry).text);
	ncs_term_put(y, x + (width - 28 < 20 ? width - 10 : 38), 10,
		     NCS_ROLE_TEXT, text.text);
}

/* Draws the state and its duration, then the shares of all states. */
static void draw_one_line(const struct ncs_row *row, int y, int x, int width)
{
	const struct ncs_proxy_view *proxy = &row->rank->now.proxy;
	char text[64] = "";
	int end = x + width;
	double share;

	ncs_append(text, sizeof(text), ">%c %s %s", letter_of(proxy->state),
		   ncs_proxy_state_name(proxy->state),
		   proxy->state == NCS_PROXY_UNKNOWN ?
			   "" :
			   ncs_duration(duration_ns(row)).text);
	x += ncs_term_put(y, x, end - x, NCS_ROLE_HIGHLIGHT, text) + 1;
	for (unsigned i = 0; i < PLACES && x < end; i++) {
		if (share_of(row, i, &share).text[0] == '-')
			continue;
		snprintf(text, sizeof(text), " %c %.0f%%",
			 letter_of(places[i].state), 100 * share);
		x += ncs_term_put(y, x, end - x, NCS_ROLE_TEXT, text);
	}
}

/* --- The detail and the explanation --------------------------------------- */

static void append_state(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_proxy_view *proxy = &row->rank->now.proxy;

	ncs_append(text, size, "%s: %s", ncs_rank_life(row->rank).text,
		   ncs_proxy_state_name(proxy->state));
	if (proxy->state != NCS_PROXY_UNKNOWN)
		ncs_append(text, size, " for %s",
			   ncs_duration(duration_ns(row)).text);
}

static void draw_caption(const struct ncs_row *row, const struct ncs_rect *rect)
{
	char text[NCS_EXPLAIN_MAX] = "";

	ncs_append(text, sizeof(text), "proxy thread of %s, pid %u",
		   ncs_rank_of(row->rank).text, ncs_rank_pid(row->rank));
	append_state(row, text, sizeof(text));
	ncs_term_put(rect->y, rect->x, rect->width, NCS_ROLE_STRONG, text);
}

static void draw_detail(const struct ncs_row *row, const struct ncs_rect *rect)
{
	if (rect->height < LINES_HEIGHT) {
		draw_one_line(row, rect->y, rect->x, rect->width);
		return;
	}
	draw_caption(row, rect);
	if (rect->height >= BOXES_HEIGHT) {
		draw_boxes(row, rect);
		return;
	}
	for (unsigned i = 0; i < PLACES; i++)
		draw_line(row, i, rect->y + 1 + (int)i, rect->x, rect->width);
}

static void explain(const struct ncs_row *row, char *text, size_t size)
{
	const struct ncs_proxy_view *proxy = &row->rank->now.proxy;
	struct ncs_wait oldest = ncs_oldest_wait(row->rank);

	ncs_append(text, size, "%s", ncs_rank_of(row->rank).text);
	append_state(row, text, size);
	ncs_append(text, size, ": %s",
		   ncs_activities[NCS_ACTIVITY_PROXY + proxy->state].help);
	if (oldest.channel && oldest.duration_ns >= NCS_LONG_WAIT_NS)
		ncs_append_wait(&oldest, text, size);
	ncs_append_losses(row->rank, text, size);
	ncs_append(text, size, ".");
}

const struct ncs_screen_view ncs_screen_proxy = {
	.rules = {
		.severity = severity,
		.throughput = NCS_COLUMN_PROXY_ACTIVE_SHARE,
		.bytes = NCS_COLUMN_PROXY_APPENDED,
		.time = NCS_COLUMN_PROXY_SINCE,
		.above = &ncs_screen_communicators.rules,
	},
	.detail = { BOXES_HEIGHT, LINES_HEIGHT, 1 },
	.detail_count = 3,
	.detail_width = BOXES_WIDTH,
	.draw_detail = draw_detail,
	.explain = explain,
};
