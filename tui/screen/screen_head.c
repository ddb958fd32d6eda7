/* SPDX-License-Identifier: MIT */
/* Draws the title, the line of a recording and the tabs; see screen_parts.h. Must not
 * change the state of the screen, except for click targets. Called for each frame.
 */
#include "tui/screen/screen_parts.h"

#include <inttypes.h>
#include <stdarg.h>
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
#define BAR_LEAST 16
/* Columns between two texts. */
#define GAP 2
/* No line has more. */
#define TEXTS_MAX 12

/* Texts that share a line; where there is not room for all, those of a low priority
 * are left out. */
struct line_texts {
	char texts[TEXTS_MAX][LINE_BYTES];
	enum ncs_role roles[TEXTS_MAX];
	struct ncs_item items[TEXTS_MAX];
	size_t count;
};

__attribute__((format(printf, 4, 5))) static void
add_text(struct line_texts *line, unsigned priority, enum ncs_role role,
	 const char *format, ...)
{
	char *text = line->texts[line->count];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(line->texts[0]), format, arguments);
	va_end(arguments);
	line->roles[line->count] = role;
	line->items[line->count++] = (struct ncs_item){
		.width = ncs_term_text_width(text),
		.priority = priority,
	};
}

/* Draws those that are kept of the texts from `first` to before `end`, side by side
 * from a column on. Returns the column behind them. */
static int draw_texts(const struct line_texts *line, size_t first, size_t end,
		      int y, int x)
{
	for (size_t i = first; i < end; i++)
		if (line->items[i].kept && line->items[i].width > 0)
			x += GAP + ncs_term_put(y, x, line->items[i].width,
						line->roles[i], line->texts[i]);
	return x;
}

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

/* Says how much is lost, of what most of it is, and since when; records that
 * nobody read in time are not among them. */
static void lost_text(const struct ncs_screen *screen, char *text, size_t size)
{
	uint64_t sums[NCS_LOSS_COUNT] = { 0 };
	unsigned most = 0;

	snprintf(text, size, "lost %" PRIu64, screen->summary.lost);
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

void ncs_draw_title(const struct ncs_screen *screen,
		    const struct ncs_rect *rect, const struct tm *wall)
{
	const struct ncs_summary *summary = &screen->summary;
	bool has_lost = summary->lost > 0;
	struct line_texts line = { 0 };
	char ranks[LINE_BYTES] = "", jobs[64] = "", lost[96], clock[16];
	int right = rect->x + rect->width + GAP;
	struct ncs_node_counts nodes;
	enum ncs_role role;
	const char *state = state_word(screen, &role);

	if (rect->height == 0)
		return;
	ncs_append(ranks, sizeof(ranks), "ranks %zu/%zu",
		   summary->ranks - summary->dead - summary->finished,
		   summary->ranks);
	ncs_append_jobs(&summary->jobs, jobs, sizeof(jobs));
	if (jobs[0])
		ncs_append(ranks, sizeof(ranks), " of %s", jobs);
	ncs_count_nodes(&screen->model, &nodes);
	ncs_append_nodes(&nodes, summary->ranks, ranks, sizeof(ranks));
	lost_text(screen, lost, sizeof(lost));
	strftime(clock, sizeof(clock), "%H:%M:%S", wall);

	add_text(&line, has_lost ? 3 : 7, NCS_ROLE_TITLE, "ncclstat");
	add_text(&line, 3, NCS_ROLE_TITLE, "%s", screen->host);
	add_text(&line, 6, NCS_ROLE_TITLE, "%s", ranks);
	add_text(&line, has_lost ? 3 : 4, NCS_ROLE_TITLE, "int %s",
		 ncs_duration(screen->options.interval_ns).text);
	add_text(&line, 8, NCS_ROLE_TITLE, "oldest %s",
		 summary->oldest.rank ?
			 ncs_duration(summary->oldest.duration_ns).text :
			 "-");
	add_text(&line, has_lost ? 8 : 5,
		 has_lost ? NCS_ROLE_STATE_NOTE : NCS_ROLE_TITLE, "%s", lost);
	add_text(&line, 9, role, "%s", state);
	add_text(&line, 4, NCS_ROLE_TITLE, "%s", clock);
	ncs_layout_fit(line.items, line.count, rect->width, GAP);
	ncs_term_fill(rect->y, rect->x, rect->width, NCS_ROLE_TITLE);
	/* The last two are at the right edge. */
	draw_texts(&line, 0, line.count - 2, rect->y, rect->x);
	for (size_t i = line.count - 2; i < line.count; i++)
		right -= line.items[i].kept ? line.items[i].width + GAP : 0;
	draw_texts(&line, line.count - 2, line.count, rect->y, right);
}

/* --- A recording ---------------------------------------------------------- */

static struct ncs_phrase wall_of(const struct ncs_replay *replay)
{
	uint64_t wall_ns = ncs_replay_realtime_ns(replay, replay->at_ns);
	time_t seconds = (time_t)(wall_ns / UINT64_C(1000000000));

	return ncs_phrase("%s.%03u", ncs_local_time(seconds).text,
			  (unsigned)(wall_ns % 1000000000 / 1000000));
}

static struct ncs_phrase abnormal_of(const struct ncs_replay_search *search)
{
	uint64_t length_ns = search->until_ns - search->from_ns;
	uint64_t done_ns = search->next_ns - search->from_ns;

	if (search->done)
		return ncs_phrase("%zu abnormal", search->found.count);
	return ncs_phrase("%zu abnormal, %d%% searched", search->found.count,
			  length_ns > 0 ? (int)((double)done_ns * 100 /
						(double)length_ns) :
					  0);
}

static int column_of(const struct ncs_replay *replay, uint64_t moment_ns,
		     int width)
{
	uint64_t length_ns = replay->until_ns - replay->from_ns;

	if (length_ns == 0)
		return 0;
	return (int)((double)(moment_ns - replay->from_ns) / (double)length_ns *
		     (width - 1));
}

static void draw_episode(const struct ncs_replay *replay,
			 const struct ncs_episode *episode, int y, int x,
			 int width)
{
	int at = column_of(replay, episode->seen_ns, width);
	int end = column_of(replay, episode->until_ns, width);

	for (int i = at; i <= end; i++)
		ncs_term_put(y, x + i, 1, NCS_ROLE_BAD,
			     i == column_of(replay, replay->at_ns, width) ?
				     "|" :
				     "!");
}

/* Draws the bar: the time before the position, the position, and the time after
 * it, with marks at the episodes. */
static void draw_bar(struct ncs_screen *screen, int y, int x, int width)
{
	const struct ncs_replay *replay = screen->replay;
	const struct ncs_replay_search *search = screen->search_ahead;
	int at = column_of(replay, replay->at_ns, width);
	char text[LINE_BYTES];

	if (width >= (int)sizeof(text))
		width = (int)sizeof(text) - 1;
	for (int i = 0; i < width; i++)
		text[i] = i == at ? '|' : i < at ? '=' : '-';
	text[width] = '\0';
	ncs_term_put(y, x, width, NCS_ROLE_TEXT, text);
	for (size_t i = 0; search && i < search->found.count; i++)
		draw_episode(replay, &search->found.all[i], y, x, width);
	screen->bar_y = y;
	screen->bar_x = x;
	screen->bar_width = width;
}

void ncs_draw_replay(struct ncs_screen *screen, const struct ncs_rect *rect)
{
	const struct ncs_replay *replay = screen->replay;
	char at[32], length[32];
	struct line_texts line = { 0 };
	int x;

	ncs_instant_print(ncs_replay_since_ns(replay), at, sizeof(at));
	ncs_instant_print(replay->all.until_ns - replay->all.from_ns, length,
			  sizeof(length));
	add_text(&line, 9, NCS_ROLE_TEXT, "at %s of %s", at, length);
	add_text(&line, 8, NCS_ROLE_TEXT, "%gx", replay->speed);
	add_text(&line, 4, NCS_ROLE_TEXT, "%s", wall_of(replay).text);
	if (replay->error_ns != 0)
		add_text(&line, 7, NCS_ROLE_TEXT, "clocks within %s",
			 replay->error_ns == UINT64_MAX ?
				 "-" :
				 ncs_duration(replay->error_ns).text);
	if (screen->search_ahead)
		add_text(&line, 5, NCS_ROLE_TEXT, "%s",
			 abnormal_of(screen->search_ahead).text);
	/* The bar takes the rest of the line. */
	line.items[line.count] =
		(struct ncs_item){ .width = BAR_LEAST, .priority = 6 };
	ncs_layout_fit(line.items, line.count + 1, rect->width, GAP);
	x = draw_texts(&line, 0, line.count, rect->y, rect->x);
	if (line.items[line.count].kept)
		draw_bar(screen, rect->y, x, rect->x + rect->width - x);
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

/* Returns the name of what a focus is on; "" if that is gone. */
static struct ncs_phrase focus_name(const struct ncs_model *model,
				    const struct ncs_focus *focus)
{
	for (size_t i = 0; i < model->communicator_count; i++)
		if (ncs_grid_id(model->communicators[i].key) == focus->id)
			return ncs_communicator_name(&model->communicators[i]);
	for (size_t i = 0; i < model->rank_count; i++)
		if (ncs_grid_id(model->ranks[i]->id) == focus->id)
			return ncs_rank_name(model->ranks[i]);
	for (size_t i = 0; i < model->node_count; i++)
		if (ncs_grid_id(model->nodes[i].name) == focus->id)
			return ncs_phrase("%s", model->nodes[i].name);
	return (struct ncs_phrase){ "" };
}

bool ncs_focus_is_gone(const struct ncs_screen *screen,
		       const struct ncs_focus *focus)
{
	return focus->kind != NCS_FOCUS_ALL &&
	       !focus_name(&screen->model, focus).text[0];
}

static void append_focus(const struct ncs_screen *screen,
			 const struct ncs_focus *focus, char *text, size_t size)
{
	struct ncs_phrase name = focus_name(&screen->model, focus);

	if (focus->kind == NCS_FOCUS_ALL)
		return;
	ncs_append(text, size, " %s %s", ncs_term_symbol(NCS_SYMBOL_BELOW),
		   name.text[0] ? name.text : "gone");
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

static void add_note(struct line_texts *line, unsigned priority,
		     const char *text)
{
	if (text[0])
		add_text(line, priority, NCS_ROLE_LABEL, "%s", text);
}

/* Adds the notes. Returns how many are on the user's own choices, which come
 * first. */
static size_t add_notes(const struct ncs_screen *screen, bool has_title,
			struct line_texts *line)
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	char window[LINE_BYTES] = "", crumbs[LINE_BYTES];
	char lease[LINE_BYTES] = "", settings[LINE_BYTES] = "";
	enum ncs_role role;
	const char *state = state_word(screen, &role);
	size_t own;

	append_window(screen, window, sizeof(window));
	ncs_crumbs(screen, crumbs, sizeof(crumbs));
	append_lease(&screen->summary, lease, sizeof(lease));
	append_settings(&screen->summary, settings, sizeof(settings));

	/* If there is no title, the notes show the state, unless it is the
	 * usual one. */
	if (!has_title && strcmp(state, " LIVE ") != 0)
		add_text(line, 9, NCS_ROLE_STATE_NOTE, "%s", state);
	add_note(line, 9, window);
	add_note(line, 8, crumbs);
	if (screen->filter[0])
		add_text(line, 8, NCS_ROLE_LABEL, "filter: %s", screen->filter);
	if (screen->tags.count > 0)
		add_text(line, 7, NCS_ROLE_LABEL, "%s%zu tagged",
			 screen->only_tagged ? "only " : "",
			 screen->tags.count);
	if (table->following)
		add_note(line, 6, "following");
	own = line->count;
	add_note(line, 6, lease);
	if (table->passed != table->total)
		add_text(line, 5, NCS_ROLE_LABEL, "rows %zu/%zu", table->passed,
			 table->total);
	if (table->shown_columns < table->column_count)
		add_text(line, 4, NCS_ROLE_LABEL, "cols %zu/%zu",
			 table->shown_columns, table->column_count);
	add_note(line, 3, settings);
	return own;
}

void ncs_draw_tabs(struct ncs_screen *screen, const struct ncs_rect *rect,
		   bool has_title)
{
	enum tab_names names = TABS_FULL;
	struct line_texts line = { 0 };
	int wanted = 0, needed = 0, x = rect->x;
	size_t own = add_notes(screen, has_title, &line);
	char text[64];

	if (rect->height == 0)
		return;
	for (size_t i = 0; i < line.count; i++) {
		wanted += line.items[i].width + GAP;
		/* Notes on the user's own choices take room from the tabs. */
		if (i < own)
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
	wanted = ncs_layout_fit(line.items, line.count, rect->width - x - GAP,
				GAP);
	draw_texts(&line, 0, line.count, rect->y,
		   rect->x + rect->width - wanted);
}
