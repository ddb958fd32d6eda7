/* SPDX-License-Identifier: MIT */
/* The summary above the table; see screen_summary.h. Must not change the state
 * of the screen. Called for each frame. */
#include "tui/screen/screen_summary.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "tui/term/sparkline.h"
#include "tui/term/wrap.h"
#include "tui/text/format.h"
#include "tui/text/launch_text.h"
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

		if (!ncs_rank_is_live(row.rank))
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

static void append_leads_to(char *text, size_t size)
{
	ncs_append(text, size, " %s ", ncs_term_symbol(NCS_SYMBOL_LEADS_TO));
}

static void append_chain_end(const struct ncs_summary *summary, char *text,
			     size_t size)
{
	const struct ncs_rank *last = summary->chain[summary->chain_length - 1];

	switch (summary->chain_end) {
	case NCS_CHAIN_UNSEEN:
		append_leads_to(text, size);
		ncs_append(text, size, "%d, not seen here", summary->peer);
		break;
	case NCS_CHAIN_ENDED:
		ncs_append(text, size, ", which is %s",
			   ncs_liveness_name(last->now.liveness));
		break;
	case NCS_CHAIN_ABSENT:
		ncs_append(text, size, ", which has nothing under way");
		break;
	case NCS_CHAIN_MOVING:
		ncs_append(text, size, ", which goes on elsewhere");
		break;
	case NCS_CHAIN_LOCAL:
		ncs_append(
			text, size, ", %s",
			ncs_channel_state_help(summary->last.channel->state));
		break;
	case NCS_CHAIN_CIRCLE:
		append_leads_to(text, size);
		ncs_append(text, size, "%d, a circle", summary->peer);
		break;
	case NCS_CHAIN_NONE:
		break;
	}
}

/* Appends the chain's first ranks and the last one. In a large ring there are
 * many similar ranks between them. */
static void append_chain(const struct ncs_summary *summary, char *text,
			 size_t size)
{
	char label[32];

	ncs_append_duration(text, size, summary->channel_wait.duration_ns);
	ncs_append(text, size, ": ");
	for (size_t i = 0; i < summary->chain_length; i++) {
		if (i > 0)
			append_leads_to(text, size);
		if (i == 3 && summary->chain_length > 5) {
			ncs_append(text, size, "%zu more",
				   summary->chain_length - 4);
			append_leads_to(text, size);
			i = summary->chain_length - 1;
		}
		ncs_rank_label(summary->chain[i], label, sizeof(label));
		ncs_append(text, size, "%s",
			   i > 0 && strncmp(label, "rank ", 5) == 0 ?
				   label + 5 :
				   label);
	}
	append_chain_end(summary, text, size);
}

static void append_behind(const struct ncs_behind *behind, char *text,
			  size_t size)
{
	char label[32];

	ncs_rank_label(behind->rank, label, sizeof(label));
	ncs_append(text, size, "behind: %s", label);
	if (behind->count > 1)
		ncs_append(text, size, " and %zu more", behind->count - 1);
	ncs_append(text, size, ", %s %llu, others %llu",
		   ncs_function_name(behind->function),
		   (unsigned long long)behind->at,
		   (unsigned long long)behind->others_at);
}

static void append_dead(const struct ncs_summary *summary, char *text,
			size_t size)
{
	char label[32];

	ncs_rank_label(summary->first_dead, label, sizeof(label));
	ncs_append(text, size, "dead: %s (pid %u)", label,
		   summary->first_dead->header.pid);
	if (summary->dead > 1)
		ncs_append(text, size, " and %zu more", summary->dead - 1);
}

static void append_oldest(const struct ncs_oldest *oldest, char *text,
			  size_t size)
{
	char label[32];

	ncs_rank_label(oldest->rank, label, sizeof(label));
	ncs_append_separator(text, size);
	ncs_append(text, size, "%s:", label);
	ncs_append_oldest(oldest->rank, text, size);
}

/* Prints the verdict on the job: errors, the longest wait, ranks that are
 * behind, dead ranks; "" if nothing is wrong. */
static void verdict(const struct ncs_screen *screen, char *text, size_t size)
{
	const struct ncs_summary *summary = &screen->summary;

	text[0] = '\0';
	if (screen->model.error[0])
		ncs_append(text, size, "cannot look: %s", screen->model.error);
	if (summary->chain_length > 0) {
		ncs_append_separator(text, size);
		append_chain(summary, text, size);
	} else if (summary->oldest.duration_ns >= NCS_LONG_WAIT_NS) {
		append_oldest(&summary->oldest, text, size);
	}
	if (summary->behind.rank) {
		ncs_append_separator(text, size);
		append_behind(&summary->behind, text, size);
	}
	if (summary->first_dead) {
		ncs_append_separator(text, size);
		append_dead(summary, text, size);
	}
}

int ncs_verdict_lines(const struct ncs_screen *screen, int height, int width)
{
	char text[NCS_EXPLAIN_MAX];

	verdict(screen, text, sizeof(text));
	if (ncs_term_text_width(text) <= width - 2 || height < 20)
		return 1;
	return 2;
}

static const char *all_is_well(const struct ncs_screen *screen)
{
	const struct ncs_summary *summary = &screen->summary;

	if (summary->launching > 0)
		return "nothing waits for more than 1s";
	return summary->channels > 0 ?
		       "no channel waits for more than 1s" :
		       "no channel is seen: nothing goes over the network, or"
		       " NCCL does not tell";
}

void ncs_draw_summary(const struct ncs_screen *screen,
		      const struct ncs_rect *rect)
{
	struct ncs_rect rest = *rect;
	char text[NCS_EXPLAIN_MAX];

	if (rest.height == 0 || screen->model.rank_count == 0)
		return;
	verdict(screen, text, sizeof(text));
	/* If there is only one line, it is for the verdict. */
	if (rest.height > 1 || !text[0]) {
		draw_tally(screen, &rest);
		rest.y++;
		rest.height--;
	}
	if (ncs_shows_traffic(screen) && rest.height > 1) {
		draw_traffic(screen, &rest);
		rest.y++;
		rest.height--;
	}
	if (text[0]) {
		ncs_term_put(rest.y, rest.x, 2, NCS_ROLE_BAD, "! ");
		rest.x += 2;
		rest.width -= 2;
		ncs_draw_wrapped(&rest, NCS_ROLE_BAD, text);
	} else {
		ncs_draw_wrapped(&rest, NCS_ROLE_TEXT, all_is_well(screen));
	}
}
