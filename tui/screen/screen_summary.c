/* SPDX-License-Identifier: MIT */
/* The summary above the table; see screen_summary.h. Must not change the state
 * of the screen. Called for each frame. */
#include "tui/screen/screen_summary.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "tui/term/sparkline.h"
#include "tui/term/wrap.h"
#include "tui/text/finding_text.h"
#include "tui/text/format.h"
#include "tui/text/words.h"

#define LINE_BYTES 512

static void sum_rates(const struct ncs_screen *screen, const char *id,
		      struct ncs_value *sum)
{
	const struct ncs_column *column = ncs_grid_column(id);

	for (size_t i = 0; i < screen->model.rank_count; i++) {
		const struct ncs_row row = { .view = NCS_VIEW_RANK,
					     .rank = screen->model.ranks[i] };
		struct ncs_value value = { 0 };

		if (!ncs_rank_is_live(row.rank) || row.rank->is_past)
			continue;
		ncs_column_get(column, &row, &value);
		if (value.kind == NCS_VALUE_NONE)
			continue;
		sum->kind = value.kind;
		sum->real += value.real;
	}
}

static void append_rate(const struct ncs_screen *screen, char *text,
			size_t size, const char *word, const char *id)
{
	char number[NCS_FORMAT_MAX];
	struct ncs_value sum = { 0 };

	sum_rates(screen, id, &sum);
	if (sum.kind == NCS_VALUE_NONE)
		return;
	ncs_format_in_units(number, sizeof(number), &sum,
			    &screen->options.units, 0);
	ncs_append(text, size, "  %s/s %s", word, number);
}

/* Appends how many ranks wait for what, as their launches tell. */
static void append_launches(const struct ncs_summary *summary, char *text,
			    size_t size)
{
	const char *before = "  launches";

	for (unsigned i = 0; i < NCS_LAUNCH_WAIT_COUNT; i++) {
		if (summary->launches[i] == 0)
			continue;
		ncs_append(text, size, "%s  %s %zu", before,
			   ncs_launch_wait_name(i), summary->launches[i]);
		before = "";
	}
}

static void draw_tally(const struct ncs_screen *screen,
		       const struct ncs_rect *rect)
{
	const struct ncs_summary *summary = &screen->summary;
	char text[LINE_BYTES] = "", rates[LINE_BYTES] = "";
	int x = rect->x;

	snprintf(text, sizeof(text), "channels %zu", summary->channels);
	x += ncs_term_put(rect->y, x, rect->width, NCS_ROLE_TEXT, text);
	if (summary->long_waits > 0) {
		snprintf(text, sizeof(text), "  !%zu over 1s",
			 summary->long_waits);
		x += ncs_term_put(rect->y, x, rect->width - x, NCS_ROLE_BAD,
				  text);
	}
	text[0] = '\0';
	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		if (summary->states[i] > 0)
			ncs_append(text, sizeof(text), "  %s %zu",
				   ncs_channel_state_label(i),
				   summary->states[i]);
	append_launches(summary, text, sizeof(text));
	x += ncs_term_put(rect->y, x, rect->width - x, NCS_ROLE_TEXT, text);
	append_rate(screen, rates, sizeof(rates), "ops",
		    "RANK_OPERATIONS_RATE");
	append_rate(screen, rates, sizeof(rates),
		    screen->options.units.bits ? "send b" : "send",
		    "RANK_SEND_RATE");
	if (ncs_term_text_width(rates) <= rect->width - x)
		ncs_term_put(rect->y, x, rect->width - x, NCS_ROLE_TEXT, rates);
}

bool ncs_shows_traffic(const struct ncs_screen *screen)
{
	return screen->tables[screen->view].level >= NCS_COLUMN_DIAG &&
	       ncs_recent_is_known(&screen->model.traffic,
				   screen->model.refreshes);
}

static void draw_traffic(const struct ncs_screen *screen,
			 const struct ncs_rect *rect)
{
	const struct ncs_model *model = &screen->model;
	char line[4 * NCS_SPARKLINE_WIDTH], number[NCS_FORMAT_MAX];
	char text[LINE_BYTES] = "";
	struct ncs_value latest = {
		.kind = NCS_VALUE_BYTES_RATE,
		.real = ncs_recent_latest(&model->traffic, model->refreshes),
	};

	if (latest.real < 0)
		latest.kind = NCS_VALUE_NONE;
	ncs_sparkline(line, sizeof(line), &model->traffic, model->refreshes,
		      NCS_SPARKLINE_WIDTH, ncs_term_shown_symbols());
	ncs_format_in_units(number, sizeof(number), &latest,
			    &screen->options.units, 0);
	ncs_append(text, sizeof(text), "sent and received/s  %s  %s", line,
		   number);
	ncs_term_put(rect->y, rect->x, rect->width, NCS_ROLE_TEXT, text);
}

/* Prints the verdict on the job, and errors before it. Returns whether it is
 * worth an alarm. */
static bool verdict(const struct ncs_screen *screen, char *text, size_t size)
{
	char line[NCS_EXPLAIN_MAX];

	text[0] = '\0';
	if (screen->model.error[0])
		ncs_append(text, size, "cannot look: %s", screen->model.error);
	ncs_append_separator(text, size);
	ncs_verdict_line(&screen->diagnosis, &screen->model, line,
			 sizeof(line));
	ncs_append(text, size, "%s", line);
	return screen->model.error[0] || screen->diagnosis.count > 0 ||
	       ncs_count_unreadable(&screen->model) > 0;
}

int ncs_verdict_lines(const struct ncs_screen *screen, int height, int width)
{
	char text[NCS_EXPLAIN_MAX];

	verdict(screen, text, sizeof(text));
	if (ncs_term_text_width(text) <= width - 2 || height < 20)
		return 1;
	return 2;
}

void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect)
{
	struct ncs_rect rest = *rect;
	char text[NCS_EXPLAIN_MAX];
	bool alarming;

	if (rest.height == 0 || (screen->model.rank_count == 0 &&
				 screen->diagnosis.count == 0 &&
				 ncs_count_unreadable(&screen->model) == 0))
		return;
	alarming = verdict(screen, text, sizeof(text));
	/* If there is only one line, it is for what is wrong. */
	if (rest.height > 1 || !alarming) {
		draw_tally(screen, &rest);
		rest.y++;
		rest.height--;
	}
	if (ncs_shows_traffic(screen) && rest.height > 1) {
		draw_traffic(screen, &rest);
		rest.y++;
		rest.height--;
	}
	if (alarming) {
		ncs_term_put(rest.y, rest.x, 2, NCS_ROLE_BAD, "! ");
		rest.x += 2;
		rest.width -= 2;
		ncs_draw_wrapped(&rest, NCS_ROLE_BAD, text);
	} else {
		ncs_draw_wrapped(&rest, NCS_ROLE_TEXT, text);
	}
}
