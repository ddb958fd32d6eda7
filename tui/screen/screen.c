/* SPDX-License-Identifier: MIT */
/* The live view without its terminal's events; see screen.h. Takes samples, and
 * dispatches keys and clicks to the files of this folder that handle them.
 *
 * Must not draw, wait, or read a clock; tui/screen/screen_frame.c draws.
 */
#include "tui/screen/screen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/screen/screen_actions.h"
#include "tui/screen/screen_pages.h"
#include "tui/screen/screen_timeline.h"
#include "tui/table/table.h"

#define WHEEL_ROWS 3

/* --- State ---------------------------------------------------------------- */

void ncs_screen_init(struct ncs_screen *screen, enum ncs_view view,
		     uint64_t interval_ns, const char *host,
		     const char *directory)
{
	memset(screen, 0, sizeof(*screen));
	ncs_model_init(&screen->model);
	ncs_diagnosis_init(&screen->diagnosis);
	screen->model.diagnosis = &screen->diagnosis;
	screen->model.keeps_latest = true;
	ncs_timeline_init(&screen->time);
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++)
		ncs_grid_init(&screen->tables[i], (enum ncs_view)i,
			      &ncs_screen_view_of((enum ncs_view)i)->rules);
	screen->view = view;
	snprintf(screen->host, sizeof(screen->host), "%s", host);
	snprintf(screen->directory, sizeof(screen->directory), "%s", directory);
	ncs_options_init(&screen->options);
	screen->options.interval_ns = interval_ns;
	screen->config_path = "";
	ncs_summarize(&screen->summary, &screen->model);
}

void ncs_screen_release(struct ncs_screen *screen)
{
	free(screen->stacks);
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++)
		ncs_grid_release(&screen->tables[i]);
	ncs_marks_clear(&screen->tags);
	ncs_diagnosis_release(&screen->diagnosis);
	ncs_model_release(&screen->model);
	memset(screen, 0, sizeof(*screen));
}

static const struct ncs_rank *selected_rank(const struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	return row ? row->row.rank : NULL;
}

/* Whether the records of a rank should be read. The first screen of a job does
 * not wait for records, the next one has them; that of a recording may be the
 * only one. With many ranks, reading all records would cost more than
 * everything else; only those of the selected rank, or of the tracks on the
 * screen, are then read. */
static bool wants_records(const void *context, const char *id)
{
	const struct ncs_screen *screen = context;
	const struct ncs_rank *rank;

	if (!screen->had_job && !screen->replay)
		return false;
	if (screen->model.rank_count <= NCS_RANKS_WITH_RECORDS_MAX)
		return true;
	if (screen->view == NCS_VIEW_TIMELINE)
		return ncs_timeline_shows(screen, id);
	rank = screen->view == NCS_VIEW_CHANNEL ? selected_rank(screen) : NULL;
	return rank && strcmp(rank->id, id) == 0;
}

/* Makes again all that points into the model, after the model has changed. */
static void follow_model(struct ncs_screen *screen)
{
	ncs_summarize(&screen->summary, &screen->model);
	for (unsigned i = 0; i < NCS_VIEW_TABS; i++)
		screen->has_data[i] =
			ncs_view_has_data(&screen->model, (enum ncs_view)i);
	ncs_screen_build(screen);
}

int ncs_screen_sample(struct ncs_screen *screen, struct ncs_source *source,
		      uint64_t now_ns)
{
	uint64_t refreshes = screen->model.refreshes;
	int error, diagnosed = 0;

	source->wants_records = wants_records;
	source->wants_context = screen;
	error = ncs_model_update(&screen->model, source, now_ns);
	/* An update that fails halfway has changed the model, too. */
	if (screen->model.refreshes != refreshes)
		diagnosed = ncs_diagnose(&screen->diagnosis, &screen->model);
	screen->had_job = screen->had_job || screen->model.rank_count > 0;
	follow_model(screen);
	return error ? error : diagnosed;
}

int ncs_screen_fill(struct ncs_screen *screen, struct ncs_source *source)
{
	const struct ncs_replay *replay = screen->replay;
	int error = ncs_replay_fill(source, &screen->model, &screen->diagnosis,
				    replay->from_ns, replay->at_ns,
				    screen->options.interval_ns);

	follow_model(screen);
	return error;
}

/* --- Tags ----------------------------------------------------------------- */

static void say_tags(struct ncs_screen *screen)
{
	ncs_screen_say(screen, "%zu tagged; o shows only these, U untags",
		       screen->tags.count);
}

/* Returns the selected row; shows a message and returns NULL if there is no row
 * to tag. */
static const struct ncs_row *taggable(struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	if (row && !row->unreadable && !row->of)
		return &row->row;
	ncs_screen_say(screen, "%s",
		       row && row->of ? "Enter shows its ranks, to be tagged" :
					"this row cannot be tagged");
	return NULL;
}

static void tag(struct ncs_screen *screen, bool whole)
{
	const struct ncs_row *row = taggable(screen);
	struct ncs_grid_key key;

	if (!row)
		return;
	ncs_grid_key_of(row, &key);
	if (!whole && ncs_marks_remove(&screen->tags, &key)) {
		say_tags(screen);
	} else if (!whole && ncs_marks_cover(&screen->tags, row)) {
		ncs_screen_say(screen,
			       "tagged as part of a tagged row; U untags all");
	} else if (!ncs_marks_add(&screen->tags, &key, whole)) {
		ncs_screen_say(screen, "not enough memory");
		return;
	} else {
		say_tags(screen);
	}
	ncs_grid_act(ncs_screen_table(screen), NCS_ACTION_DOWN);
	screen->only_tagged = screen->only_tagged && screen->tags.count > 0;
	ncs_screen_build(screen);
}

/* Tags or untags rows. Returns false if the action is not one of these. */
static bool act_on_tags(struct ncs_screen *screen, enum ncs_action action)
{
	switch (action) {
	case NCS_ACTION_TAG:
	case NCS_ACTION_TAG_WHOLE:
		tag(screen, action == NCS_ACTION_TAG_WHOLE);
		return true;
	case NCS_ACTION_UNTAG_ALL:
		ncs_screen_say(screen, "nothing is tagged now");
		ncs_marks_clear(&screen->tags);
		screen->only_tagged = false;
		ncs_screen_build(screen);
		return true;
	case NCS_ACTION_TAGGED_ONLY:
		if (screen->tags.count == 0) {
			ncs_screen_say(screen,
				       "nothing is tagged: Space tags a row");
			return true;
		}
		screen->only_tagged = !screen->only_tagged;
		ncs_screen_say(screen, "%s",
			       screen->only_tagged ? "only tagged rows" :
						     "all rows");
		ncs_screen_build(screen);
		return true;
	default:
		return false;
	}
}

/* --- Keys ----------------------------------------------------------------- */

static void toggle_pause(struct ncs_screen *screen)
{
	screen->paused = !screen->paused;
	ncs_screen_say(screen, "%s",
		       screen->paused ? "paused: Z resumes" : "resumed");
}

static void show_window(struct ncs_screen *screen, enum ncs_window window)
{
	static const char *const names[NCS_WINDOW_COUNT] = {
		[NCS_WINDOW_NOW] = "over the latest interval",
		[NCS_WINDOW_10_S] = "over 10 s",
		[NCS_WINDOW_100_S] = "over 100 s",
		[NCS_WINDOW_START] = "since the start of each rank",
		[NCS_WINDOW_MARK] = "since z was pressed",
	};

	ncs_model_set_window(&screen->model, window);
	ncs_screen_build(screen);
	ncs_screen_say(screen, "rates and shares: %s", names[window]);
}

/* Shows the next window. The window since z exists only after z was pressed. */
static void next_window(struct ncs_screen *screen)
{
	unsigned count = screen->model.marked_ns != 0 ? NCS_WINDOW_COUNT :
							NCS_WINDOW_MARK;

	show_window(screen,
		    (enum ncs_window)((screen->model.window + 1) % count));
}

/* Begins the window since z at the latest sample. */
static void mark(struct ncs_screen *screen)
{
	if (ncs_model_mark(&screen->model) != 0) {
		ncs_screen_say(screen, "not enough memory");
		return;
	}
	show_window(screen, NCS_WINDOW_MARK);
	ncs_screen_say(screen,
		       "rates and shares start again here; a selects other"
		       " times");
}

static bool act_on_view(struct ncs_screen *screen, enum ncs_action action)
{
	switch (action) {
#define X(WITH, ID, ...) \
	case NCS_ACTION_VIEW_##ID: \
		ncs_screen_show_view(screen, NCS_VIEW_##ID); \
		return true;
		NCS_TABS(X, )
#undef X
	case NCS_ACTION_VIEW_NEXT:
		ncs_screen_step_view(screen, 1);
		return true;
	case NCS_ACTION_VIEW_PREVIOUS:
		ncs_screen_step_view(screen, NCS_VIEW_TABS - 1);
		return true;
	case NCS_ACTION_SIZES:
		ncs_screen_toggle_sizes(screen);
		return true;
	case NCS_ACTION_ENTER:
		ncs_screen_enter(screen);
		return true;
	case NCS_ACTION_BACK:
		if (!ncs_screen_go_up(screen))
			ncs_screen_say(screen, "this is the top; q quits");
		return true;
	case NCS_ACTION_HELP:
		ncs_help_open(screen, NULL);
		return true;
	case NCS_ACTION_SETUP:
		screen->setup = true;
		screen->setup_selected = 0;
		ncs_screen_collect(screen);
		return true;
	default:
		return false;
	}
}

static bool act_on_search(struct ncs_screen *screen, enum ncs_action action)
{
	switch (action) {
	case NCS_ACTION_SEARCH:
		ncs_prompt_open(screen, NCS_PROMPT_SEARCH);
		return true;
	case NCS_ACTION_FILTER:
		ncs_prompt_open(screen, NCS_PROMPT_FILTER);
		return true;
	case NCS_ACTION_SEARCH_NEXT:
		ncs_prompt_find_again(screen, NCS_FORWARD);
		return true;
	case NCS_ACTION_SEARCH_PREVIOUS:
		ncs_prompt_find_again(screen, NCS_BACKWARD);
		return true;
	case NCS_ACTION_NEXT_ABNORMAL:
		if (!ncs_grid_next_abnormal(ncs_screen_table(screen)))
			ncs_screen_say(screen, "nothing abnormal here");
		return true;
	default:
		return false;
	}
}

static bool act_on_appearance(struct ncs_screen *screen, enum ncs_action action)
{
	/* The option that a key steps; 0, which is none that keys step, for others. */
	static const enum ncs_option options[NCS_ACTION_COUNT] = {
		[NCS_ACTION_IDLE] = NCS_OPTION_IDLE,
		[NCS_ACTION_EXACT] = NCS_OPTION_NUMBERS,
		[NCS_ACTION_BITS] = NCS_OPTION_UNITS,
		[NCS_ACTION_MOUSE] = NCS_OPTION_MOUSE,
		[NCS_ACTION_HEADER] = NCS_OPTION_HEADER,
		[NCS_ACTION_SYMBOLS] = NCS_OPTION_SYMBOLS,
		[NCS_ACTION_COLORS] = NCS_OPTION_SCHEME,
	};

	if (options[action] != 0) {
		ncs_screen_step_option(screen, options[action], true);
		return true;
	}
	switch (action) {
	case NCS_ACTION_ZOOM_IN:
	case NCS_ACTION_ZOOM_OUT:
	case NCS_ACTION_PAN_BACK:
	case NCS_ACTION_PAN_ON:
		ncs_screen_say(screen,
			       "this key moves through the timeline, view %u",
			       NCS_VIEW_TIMELINE + 1);
		return true;
	case NCS_ACTION_NO_KILL:
		ncs_screen_say(screen,
			       "nothing here stops a job; q quits this view");
		return true;
	default:
		return false;
	}
}

static unsigned act_outside(struct ncs_screen *screen, enum ncs_action action)
{
	switch (action) {
	case NCS_ACTION_QUIT:
		return NCS_REQUEST_QUIT;
	case NCS_ACTION_INTERVAL_SHORTER:
		return ncs_screen_change_interval(screen, false);
	case NCS_ACTION_INTERVAL_LONGER:
		return ncs_screen_change_interval(screen, true);
	case NCS_ACTION_PAUSE:
		toggle_pause(screen);
		return screen->paused ? 0 : NCS_REQUEST_SAMPLE;
	case NCS_ACTION_WINDOW:
		next_window(screen);
		return 0;
	case NCS_ACTION_MARK:
		mark(screen);
		return 0;
	case NCS_ACTION_SAMPLE:
		ncs_screen_say(screen, "refreshed");
		return NCS_REQUEST_SAMPLE;
	case NCS_ACTION_DETAIL:
		return NCS_REQUEST_DETAIL;
	case NCS_ACTION_SET:
		ncs_prompt_open(screen, NCS_PROMPT_SET);
		return 0;
	case NCS_ACTION_STACKS:
		/* Those of a recording pause nothing. */
		if (screen->replay)
			return NCS_REQUEST_STACKS;
		ncs_prompt_open(screen, NCS_PROMPT_STACKS);
		return 0;
	case NCS_ACTION_SAVE:
		return NCS_REQUEST_SAVE;
	case NCS_ACTION_KEEP:
		return ncs_prompt_keep(screen);
	case NCS_ACTION_REPAINT:
		ncs_screen_say(screen, "redrawn");
		return NCS_REQUEST_REPAINT;
	default:
		return 0;
	}
}

/* Says that a key has no meaning, and which is like it. */
static void say_unknown(struct ncs_screen *screen, int code)
{
	int other = code < 0x80 && isalpha(code) ? code ^ ('a' ^ 'A') : 0;

	if (other && ncs_key_action(other) != NCS_ACTION_NONE)
		ncs_screen_say(screen,
			       "unknown key; did you mean %c? ? shows all keys",
			       other);
	else
		ncs_screen_say(screen, "unknown key; ? shows all keys");
}

static bool act_on_table(struct ncs_screen *screen, enum ncs_action action)
{
	if (!ncs_grid_act(ncs_screen_table(screen), action))
		return false;
	/* The level of columns is the same for all views. */
	for (size_t i = 0; i < NCS_VIEW_COUNT; i++)
		ncs_grid_set_columns(&screen->tables[i],
				     ncs_screen_table(screen)->level,
				     screen->options.columns);
	ncs_screen_follow_table(screen);
	return true;
}

/* Handles a key, or a click on its name, for which `code` is 0. */
static unsigned act(struct ncs_screen *screen, int code, enum ncs_action action)
{
	/* q leaves the help and the setup; Ctrl-C quits anywhere. */
	bool is_usual = action == NCS_ACTION_REPAINT ||
			(action == NCS_ACTION_QUIT && code == ('C' & 0x1f));
	unsigned requests;

	if (screen->setup && !is_usual)
		return ncs_setup_key(screen, code, action);
	if (screen->help && !is_usual) {
		if (action == NCS_ACTION_SEARCH)
			ncs_prompt_open(screen, NCS_PROMPT_HELP);
		else if (!ncs_help_act(screen, action))
			ncs_screen_say(screen, "\"%s\" was not found",
				       screen->help_search);
		return 0;
	}
	if (screen->sorting && !is_usual) {
		ncs_sort_act(screen, action);
		return 0;
	}
	if (screen->view == NCS_VIEW_TIMELINE &&
	    ncs_timeline_act(screen, action))
		return 0;
	if (action == NCS_ACTION_SORT_NEXT ||
	    action == NCS_ACTION_SORT_PREVIOUS) {
		ncs_sort_open(screen);
		return 0;
	}
	if (screen->replay && action == NCS_ACTION_GO) {
		ncs_prompt_open(screen, NCS_PROMPT_GO);
		return 0;
	}
	requests = ncs_replay_act(screen, action);
	if (requests != NCS_REQUEST_USUAL)
		return requests;
	if (act_on_view(screen, action) || act_on_table(screen, action) ||
	    act_on_search(screen, action) || act_on_tags(screen, action) ||
	    act_on_appearance(screen, action))
		return 0;
	if (action == NCS_ACTION_NONE)
		say_unknown(screen, code);
	return act_outside(screen, action);
}

unsigned ncs_screen_key(struct ncs_screen *screen, int code, uint64_t now_ns)
{
	unsigned requests;

	screen->now_ns = now_ns;
	screen->notice[0] = '\0';
	requests = ncs_prompt_key(screen, code);
	return requests == NCS_REQUEST_USUAL ?
		       act(screen, code, ncs_key_action(code)) :
		       requests;
}

/* --- The mouse ------------------------------------------------------------ */

static unsigned click(struct ncs_screen *screen, const struct ncs_mouse *mouse)
{
	unsigned requests;

	if (screen->setup)
		return ncs_setup_click(screen, mouse->y);
	if (screen->help)
		return 0;
	requests = ncs_replay_click(screen, mouse->y, mouse->x);
	if (requests != NCS_REQUEST_USUAL)
		return requests;
	for (size_t i = 0; i < screen->click_target_count; i++) {
		const struct ncs_click_target *target =
			&screen->click_targets[i];

		if (mouse->y == target->y && mouse->x >= target->x &&
		    mouse->x < target->x + target->width)
			return act(screen, 0, target->action);
	}
	if (screen->view == NCS_VIEW_TIMELINE)
		ncs_timeline_click(screen, mouse->x);
	if (ncs_grid_click(ncs_screen_table(screen), mouse->y, mouse->x))
		ncs_screen_follow_table(screen);
	return 0;
}

unsigned ncs_screen_mouse(struct ncs_screen *screen,
			  const struct ncs_mouse *mouse, uint64_t now_ns)
{
	enum ncs_action action = NCS_ACTION_DOWN;

	screen->now_ns = now_ns;
	/* A prompt takes only keys. */
	if (mouse->kind == NCS_MOUSE_OTHER || screen->prompt != NCS_PROMPT_NONE)
		return 0;
	screen->notice[0] = '\0';
	if (mouse->kind == NCS_MOUSE_CLICK)
		return click(screen, mouse);
	if (mouse->kind == NCS_MOUSE_WHEEL_UP)
		action = NCS_ACTION_UP;
	for (int i = 0; i < WHEEL_ROWS; i++)
		act(screen, 0, action);
	return 0;
}
