/* SPDX-License-Identifier: MIT */
/* Draws the title and the tabs; see screen_parts.h. Must not change the state of
 * the screen, except for click targets. Called for each frame.
 */
#include "tui/screen/screen_parts.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/detail.h"
#include "analysis/base/value_names.h"
#include "tui/text/job_text.h"
#include "tui/text/job_verdict.h"
#include "tui/text/node_text.h"
#include "tui/term/term.h"
#include "tui/text/words.h"

#define LINE_BYTES 512

/* --- The title ------------------------------------------------------------ */

static bool job_has_ended(const struct ncs_screen *screen)
{
	const struct ncs_summary *summary = &screen->summary;

	if (summary->ranks == 0)
		return screen->had_job;
	return summary->dead + summary->finished == summary->ranks;
}

static const char *state_word(const struct ncs_screen *screen,
			      enum ncs_role *role)
{
	*role = NCS_ROLE_STATE_NOTE;
	if (screen->paused)
		return " PAUSED ";
	if (job_has_ended(screen)) {
		*role = NCS_ROLE_STATE_BAD;
		return " JOB ENDED ";
	}
	if (screen->summary.ranks == 0)
		return ncs_count_unreadable(&screen->model) > 0 ?
			       " NO VERDICT " :
			       " NO JOB ";
	if (!screen->replay) {
		switch (ncs_diagnosis_severity(&screen->diagnosis)) {
		case NCS_SEVERITY_STUCK:
			*role = NCS_ROLE_STATE_BAD;
			return " STUCK ";
		case NCS_SEVERITY_SLOW:
			return " SLOW ";
		default:
			break;
		}
	}
	*role = NCS_ROLE_STATE;
	return screen->replay ? " REPLAY " : " LIVE ";
}

/* Parts of the title, from left to right; the last two are at the right
 * edge. */
enum title_part {
	TITLE_PROGRAM,
	TITLE_HOST,
	TITLE_RANKS,
	TITLE_INTERVAL,
	TITLE_OLDEST,
	TITLE_LOST,
	TITLE_STATE,
	TITLE_CLOCK,
	TITLE_COUNT
};

static const unsigned title_priorities[TITLE_COUNT] = {
	7, 3, 6, 4, 8, 5, 9, 4,
};

/* Says how much is lost, of what most of it is, and since when; records that
 * nobody read in time are not among them. */
static void lost_text(const struct ncs_screen *screen, char *text, size_t size)
{
	uint64_t sums[NCS_LOSS_COUNT] = { 0 };
	unsigned most = 0;

	snprintf(text, size, "lost %llu",
		 (unsigned long long)screen->summary.lost);
	if (screen->summary.lost == 0)
		return;
	for (size_t i = 0; i < screen->model.rank_count; i++)
		for (unsigned k = 0; k < NCS_LOSS_COUNT; k++)
			sums[k] += k == NCS_LOSS_OVERWRITTEN ?
					   0 :
					   screen->model.ranks[i]->now.losses[k];
	for (unsigned k = 0; k < NCS_LOSS_COUNT; k++)
		if (sums[k] > sums[most])
			most = k;
	ncs_append(text, size, " %s since start", ncs_loss_what(most));
}

static void title_texts(const struct ncs_screen *screen, const struct tm *wall,
			char texts[TITLE_COUNT][96])
{
	const struct ncs_summary *summary = &screen->summary;
	size_t size = sizeof(texts[0]);
	struct ncs_node_counts nodes;
	enum ncs_role role;
	char jobs[64] = "";

	snprintf(texts[TITLE_PROGRAM], size, "ncclstat");
	snprintf(texts[TITLE_HOST], size, "%s", screen->host);
	snprintf(texts[TITLE_RANKS], size, "ranks %zu/%zu",
		 summary->ranks - summary->dead - summary->finished,
		 summary->ranks);
	ncs_append_jobs(&summary->jobs, jobs, sizeof(jobs));
	if (jobs[0])
		ncs_append(texts[TITLE_RANKS], size, " of %s", jobs);
	ncs_count_nodes(&screen->model, &nodes);
	ncs_append_nodes(&nodes, summary->ranks, texts[TITLE_RANKS], size);
	snprintf(texts[TITLE_INTERVAL], size, "int %.32s",
		 ncs_duration(screen->interval_ns).text);
	snprintf(texts[TITLE_OLDEST], size, "oldest %.32s",
		 summary->oldest.rank ?
			 ncs_duration(summary->oldest.duration_ns).text :
			 "-");
	lost_text(screen, texts[TITLE_LOST], size);
	snprintf(texts[TITLE_STATE], size, "%s", state_word(screen, &role));
	strftime(texts[TITLE_CLOCK], size, "%H:%M:%S", wall);
}

static enum ncs_role title_role(const struct ncs_screen *screen, size_t part)
{
	return part == TITLE_LOST && screen->summary.lost > 0 ?
		       NCS_ROLE_STATE_NOTE :
		       NCS_ROLE_TITLE;
}

void ncs_draw_title(const struct ncs_screen *screen,
		    const struct ncs_rect *rect, const struct tm *wall)
{
	char texts[TITLE_COUNT][96];
	struct ncs_item items[TITLE_COUNT];
	int left = rect->x, right = rect->x + rect->width;
	enum ncs_role role;

	if (rect->height == 0)
		return;
	title_texts(screen, wall, texts);
	for (size_t i = 0; i < TITLE_COUNT; i++)
		items[i] = (struct ncs_item){
			.width = ncs_term_text_width(texts[i]),
			.priority = title_priorities[i],
		};
	if (screen->summary.lost > 0) {
		items[TITLE_LOST].priority = 8;
		items[TITLE_INTERVAL].priority = 3;
		items[TITLE_PROGRAM].priority = 3;
	}
	ncs_layout_fit(items, TITLE_COUNT, rect->width, 2);
	ncs_term_fill(rect->y, rect->x, rect->width, NCS_ROLE_TITLE);
	for (size_t i = 0; i < TITLE_STATE; i++)
		if (items[i].kept)
			left += 2 + ncs_term_put(rect->y, left, items[i].width,
						 title_role(screen, i),
						 texts[i]);
	if (items[TITLE_CLOCK].kept) {
		right -= items[TITLE_CLOCK].width;
		ncs_term_put(rect->y, right, items[TITLE_CLOCK].width,
			     NCS_ROLE_TITLE, texts[TITLE_CLOCK]);
		right -= 2;
	}
	state_word(screen, &role);
	if (items[TITLE_STATE].kept)
		ncs_term_put(rect->y, right - items[TITLE_STATE].width,
			     items[TITLE_STATE].width, role,
			     texts[TITLE_STATE]);
}

/* --- Tabs ----------------------------------------------------------------- */

/* Forms of the tabs' names, which depend on the width. */
enum tab_names {
	TABS_FULL,
	TABS_SHORT,
	TABS_OWN /* short name of the current view, digits of the others */
};

static void tab_text(const struct ncs_screen *screen, unsigned tab,
		     enum tab_names names, char *text, size_t size)
{
	const struct ncs_view_names *name = &ncs_views[tab];
	bool on = tab == ncs_screen_tab_of(screen->view);

	/* ncs_keys[i].action is i + 1 (keys.h). */
	const char *key = ncs_keys[NCS_ACTION_VIEW_RANK - 1 + tab].keys;

	if (names == TABS_OWN && !on)
		snprintf(text, size, " %s ", key);
	else
		snprintf(text, size, "%s%s:%s%s", on ? "[" : " ", key,
			 names == TABS_FULL ? name->full : name->tab,
			 on ? "]" : " ");
}

static int tabs_width(const struct ncs_screen *screen, enum tab_names names)
{
	char text[64];
	int width = 0;

	for (unsigned i = 0; i < NCS_VIEW_TABS; i++) {
		if (!ncs_screen_has_tab(screen, (enum ncs_view)i))
			continue;
		tab_text(screen, i, names, text, sizeof(text));
		width += ncs_term_text_width(text);
	}
	return width;
}

/* Appends the name of what a focus is on. Returns false if that is gone. */
static bool append_name(const struct ncs_model *model,
			const struct ncs_focus *focus, char *text, size_t size)
{
	const struct ncs_communicator *communicator;

	switch (focus->kind) {
	case NCS_FOCUS_COMMUNICATOR:
	case NCS_FOCUS_COLLECTIVE:
		communicator = ncs_communicator_of_key(model, focus->name);
		if (communicator)
			ncs_append(text, size, "%s",
				   ncs_communicator_name(communicator).text);
		return communicator;
	case NCS_FOCUS_RANK:
	case NCS_FOCUS_FUNCTION:
		for (size_t i = 0; i < model->rank_count; i++)
			if (strcmp(model->ranks[i]->id, focus->name) == 0) {
				ncs_append(text, size, "%s",
					   ncs_rank_name(model->ranks[i]).text);
				return true;
			}
		return false;
	case NCS_FOCUS_NODE:
		ncs_append(text, size, "%s", focus->name);
		for (size_t i = 0; i < model->node_count; i++)
			if (strcmp(model->nodes[i].name, focus->name) == 0)
				return true;
		return false;
	case NCS_FOCUS_ALL:
		break;
	}
	return true;
}

bool ncs_focus_is_gone(const struct ncs_screen *screen,
		       const struct ncs_focus *focus)
{
	char name[1] = "";

	return !append_name(&screen->model, focus, name, sizeof(name));
}

static void append_focus(const struct ncs_screen *screen,
			 const struct ncs_focus *focus, char *text, size_t size)
{
	char name[160] = "";

	if (focus->kind == NCS_FOCUS_ALL)
		return;
	ncs_append(text, size, " %s %s", ncs_term_symbol(NCS_SYMBOL_BELOW),
		   append_name(&screen->model, focus, name, sizeof(name)) ?
			   name :
			   "gone");
	if (focus->kind == NCS_FOCUS_FUNCTION ||
	    focus->kind == NCS_FOCUS_COLLECTIVE)
		ncs_append(text, size, " %s %s",
			   ncs_term_symbol(NCS_SYMBOL_BELOW),
			   ncs_function_name(focus->function));
}

void ncs_crumbs(const struct ncs_screen *screen, char *text, size_t size)
{
	text[0] = '\0';
	if (screen->depth == 0)
		return;
	ncs_append(text, size, "%s",
		   ncs_views[screen->trail[0].view].full);
	for (size_t i = 1; i < screen->depth; i++)
		append_focus(screen, &screen->trail[i].focus, text, size);
	append_focus(screen, &screen->focus, text, size);
}

/* Appends the settings of the live ranks, if they differ from the default. */
static void append_settings(const struct ncs_summary *summary, char *text,
			    size_t size)
{
	const struct ncs_snapshot *first = summary->settings;

	if (summary->settings_differ)
		ncs_append(text, size, "settings differ");
	else if (first)
		ncs_detail_note(&first->settings.in_force, first->kernel.status,
				text, size);
}

/* Appends the remaining time of the longest lease; usually all leases are those
 * of one view. */
static void append_lease(const struct ncs_summary *summary, char *text,
			 size_t size)
{
	if (summary->lease_left_ns > 0)
		ncs_append(text, size, "lease %us",
			   (unsigned)(summary->lease_left_ns /
				      UINT64_C(1000000000)));
}

/* Appends the window of the rates, unless it is the latest interval, and the
 * window's real length if that differs from its name. */
static void append_window(const struct ncs_screen *screen, char *text,
			  size_t size)
{
	enum ncs_window window = screen->model.window;
	uint64_t wanted_ns = ncs_window_ns(window);
	uint64_t window_ns;

	if (window == NCS_WINDOW_NOW)
		return;
	window_ns = ncs_model_window_ns(&screen->model);
	ncs_append(text, size, "%s %s", wanted_ns > 0 ? "over" : "since",
		   ncs_window_name(window));
	if (window == NCS_WINDOW_START ||
	    (wanted_ns > 0 && window_ns >= wanted_ns &&
	     window_ns <= wanted_ns + wanted_ns / 2))
		return;
	ncs_append(text, size, ": %s", ncs_duration(window_ns).text);
}

enum note {
	NOTE_STATE,
	NOTE_WINDOW,
	NOTE_CRUMBS,
	NOTE_FILTER,
	NOTE_TAGS,
	NOTE_FOLLOWING,
	NOTE_LEASE,
	NOTE_ROWS,
	NOTE_COLUMNS,
	NOTE_SETTINGS,
	NOTE_COUNT
};

static const unsigned note_priorities[NOTE_COUNT] = {
	[NOTE_STATE] = 9,    [NOTE_WINDOW] = 9, [NOTE_CRUMBS] = 8,
	[NOTE_FILTER] = 8,   [NOTE_TAGS] = 7,   [NOTE_FOLLOWING] = 6,
	[NOTE_LEASE] = 6,    [NOTE_ROWS] = 5,   [NOTE_COLUMNS] = 4,
	[NOTE_SETTINGS] = 3,
};

static void notes(const struct ncs_screen *screen, bool has_title,
		  char texts[NOTE_COUNT][LINE_BYTES])
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	size_t size = sizeof(texts[0]);
	enum ncs_role role;

	for (size_t i = 0; i < NOTE_COUNT; i++)
		texts[i][0] = '\0';
	/* If there is no title, the notes show the state, unless it is the
	 * usual one. */
	if (!has_title && strcmp(state_word(screen, &role), " LIVE ") != 0)
		snprintf(texts[NOTE_STATE], size, "%s",
			 state_word(screen, &role));
	append_window(screen, texts[NOTE_WINDOW], size);
	ncs_crumbs(screen, texts[NOTE_CRUMBS], size);
	if (screen->filter[0])
		snprintf(texts[NOTE_FILTER], size, "filter: %s",
			 screen->filter);
	if (screen->tags.count > 0)
		snprintf(texts[NOTE_TAGS], size,
			 screen->only_tagged ? "only %zu tagged" : "%zu tagged",
			 screen->tags.count);
	if (table->following)
		snprintf(texts[NOTE_FOLLOWING], size, "following");
	if (table->passed != table->total)
		snprintf(texts[NOTE_ROWS], size, "rows %zu/%zu", table->passed,
			 table->total);
	if (table->shown_columns < table->column_count)
		snprintf(texts[NOTE_COLUMNS], size, "cols %zu/%zu",
			 table->shown_columns, table->column_count);
	append_lease(&screen->summary, texts[NOTE_LEASE], size);
	append_settings(&screen->summary, texts[NOTE_SETTINGS], size);
}

/* Draws the notes that are not empty, as many as fit. */
static void draw_notes(const struct ncs_rect *rect, int from,
		       char texts[NOTE_COUNT][LINE_BYTES])
{
	struct ncs_item items[NOTE_COUNT];
	size_t notes_of[NOTE_COUNT], count = 0;
	int x = rect->x + rect->width;

	for (size_t i = 0; i < NOTE_COUNT; i++) {
		if (!texts[i][0])
			continue;
		items[count] = (struct ncs_item){
			.width = ncs_term_text_width(texts[i]),
			.priority = note_priorities[i],
		};
		notes_of[count++] = i;
	}
	ncs_layout_fit(items, count, rect->width - from - 2, 2);
	for (size_t i = count; i-- > 0;) {
		if (!items[i].kept)
			continue;
		x -= items[i].width;
		if (x >= from)
			ncs_term_put(rect->y, x, items[i].width,
				     notes_of[i] == NOTE_STATE ?
					     NCS_ROLE_STATE_NOTE :
					     NCS_ROLE_LABEL,
				     texts[notes_of[i]]);
		x -= 2;
	}
}

void ncs_draw_tabs(struct ncs_screen *screen, const struct ncs_rect *rect,
		   bool has_title)
{
	char texts[NOTE_COUNT][LINE_BYTES], text[64];
	enum tab_names names = TABS_FULL;
	int wanted = 0, needed = 0, x = rect->x;

	if (rect->height == 0)
		return;
	notes(screen, has_title, texts);
	for (size_t i = 0; i < NOTE_COUNT; i++) {
		if (!texts[i][0])
			continue;
		wanted += ncs_term_text_width(texts[i]) + 2;
		/* Notes on the user's own choices take room from the tabs. */
		if (i < NOTE_LEASE)
			needed = wanted;
	}
	if (tabs_width(screen, names) + wanted > rect->width)
		names = TABS_SHORT;
	if (tabs_width(screen, names) + needed > rect->width)
		names = TABS_OWN;
	for (unsigned i = 0; i < NCS_VIEW_TABS; i++) {
		int width;

		if (!ncs_screen_has_tab(screen, (enum ncs_view)i))
			continue;
		tab_text(screen, i, names, text, sizeof(text));
		width = ncs_term_put(rect->y, x, rect->width - x,
				     i == ncs_screen_tab_of(screen->view) ?
					     NCS_ROLE_TAB_ON :
					     NCS_ROLE_TAB,
				     text);
		ncs_screen_add_click_target(
			screen, rect->y, x, width,
			(enum ncs_action)(NCS_ACTION_VIEW_RANK + i));
		x += width;
	}
	draw_notes(rect, x, texts);
}
