/* SPDX-License-Identifier: MIT */
/* The live view without its terminal's events: its state, and what keys do to
 * it.
 *
 * Must not draw (that is tui/screen/screen_frame.c), wait, or read a clock. What
 * differs from view to view is in the other tui/screen_*.c. One thread.
 */
#include "tui/screen/screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/stragglers.h"
#include "tui/term/curses.h"
#include "tui/term/keys.h"
#include "tui/screen/screen_replay.h"
#include "tui/text/words.h"

#define NOTICE_NS UINT64_C(2500000000)
#define ESCAPE 27
#define WHEEL_ROWS 3

/* In the order of the tabs. */
static const struct ncs_screen_view *const views[NCS_VIEW_COUNT] = {
	[NCS_VIEW_RANK] = &ncs_screen_ranks,
	[NCS_VIEW_COMMUNICATOR] = &ncs_screen_communicators,
	[NCS_VIEW_CHANNEL] = &ncs_screen_channels,
	[NCS_VIEW_PROXY] = &ncs_screen_proxy,
	[NCS_VIEW_FUNCTION] = &ncs_screen_collectives,
	[NCS_VIEW_TIMELINE] = &ncs_screen_timeline,
	[NCS_VIEW_FINDING] = &ncs_screen_diagnose,
	[NCS_VIEW_RANGE] = &ncs_screen_ranges,
	[NCS_VIEW_CLASS] = &ncs_screen_sizes,
};

static const uint64_t intervals_ms[] = { 100,  200,   500,   1000, 2000,
					 5000, 10000, 30000, 60000 };

const struct ncs_screen_view *ncs_screen_view_of(enum ncs_view view)
{
	return views[view];
}

enum ncs_view ncs_screen_tab_of(enum ncs_view view)
{
	return view == NCS_VIEW_CLASS ? NCS_VIEW_FUNCTION : view;
}

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
			      &views[i]->rules);
	screen->view = view;
	screen->interval_ns = interval_ns;
	snprintf(screen->host, sizeof(screen->host), "%s", host);
	snprintf(screen->directory, sizeof(screen->directory), "%s", directory);
	ncs_options_init(&screen->options);
	screen->config_path = "";
	ncs_summarize(&screen->summary, &screen->model);
}

void ncs_screen_release(struct ncs_screen *screen)
{
	for (size_t i = 0; i < screen->depth; i++)
		free(screen->trail[i].focus.name);
	free(screen->focus.name);
	for (unsigned i = 0; i < NCS_VIEW_COUNT; i++)
		ncs_grid_release(&screen->tables[i]);
	ncs_marks_clear(&screen->tags);
	ncs_diagnosis_release(&screen->diagnosis);
	ncs_model_release(&screen->model);
	memset(screen, 0, sizeof(*screen));
}

static struct ncs_grid *table_of(struct ncs_screen *screen)
{
	return &screen->tables[screen->view];
}

static void build(struct ncs_screen *screen)
{
	const struct ncs_grid_query query = {
		.model = &screen->model,
		.focus = screen->focus,
		.filter = screen->filter,
		.hide_idle = screen->hide_idle,
		.tags = &screen->tags,
		.only_tagged = screen->only_tagged,
		.suspect = ncs_suspect(&screen->summary),
	};

	ncs_grid_build(table_of(screen), &query);
}

static const struct ncs_rank *selected_rank(const struct ncs_screen *screen)
{
	const struct ncs_grid_row *row =
		ncs_grid_selected(&screen->tables[screen->view]);

	return row ? row->row.rank : NULL;
}

/* The first screen does not wait for records, and to go through those of many
 * ranks would cost more than everything else: then it is those of the rank
 * that is looked at, or of those whose lanes are. */
static bool wants_records(const void *who, const char *id)
{
	const struct ncs_screen *screen = who;
	const struct ncs_rank *rank;

	if (!screen->had_job)
		return false;
	if (screen->model.rank_count <= NCS_RANKS_WITH_RECORDS_MAX)
		return true;
	if (screen->view == NCS_VIEW_TIMELINE)
		return ncs_timeline_shows(screen, id);
	rank = screen->view == NCS_VIEW_CHANNEL ? selected_rank(screen) : NULL;
	return rank && strcmp(rank->id, id) == 0;
}

int ncs_screen_sample(struct ncs_screen *screen, struct ncs_source *source,
		      uint64_t now_ns)
{
	int error;

	source->wants_records = wants_records;
	source->who = screen;
	error = ncs_model_update(&screen->model, source, now_ns);
	if (!error)
		error = ncs_diagnose(&screen->diagnosis, &screen->model);
	screen->had_job = screen->had_job || screen->model.rank_count > 0;
	ncs_summarize(&screen->summary, &screen->model);
	build(screen);
	return error;
}

void ncs_screen_say(struct ncs_screen *screen, uint64_t now_ns,
		    const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(screen->notice, sizeof(screen->notice), format, arguments);
	va_end(arguments);
	screen->notice_until_ns = now_ns + NOTICE_NS;
}

/* --- Going down and up ---------------------------------------------------- */

static void forget_trail(struct ncs_screen *screen)
{
	while (screen->depth > 0)
		free(screen->trail[--screen->depth].focus.name);
	free(screen->focus.name);
	screen->focus = (struct ncs_focus){ 0 };
}

static void show_view(struct ncs_screen *screen, enum ncs_view view)
{
	forget_trail(screen);
	screen->view = view;
	build(screen);
}

/* Where one is, as time goes by: limited to the same rank, at the same
 * channel. */
static void show_timeline(struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_grid_selected(table_of(screen));

	if (screen->view == NCS_VIEW_TIMELINE)
		return;
	/* Lanes are of ranks and of communicators. */
	if (screen->focus.kind == NCS_FOCUS_FUNCTION)
		forget_trail(screen);
	screen->view = NCS_VIEW_TIMELINE;
	build(screen);
	if (row)
		ncs_grid_select_like(table_of(screen), row);
}

static void step_view(struct ncs_screen *screen, unsigned step)
{
	show_view(screen,
		  (ncs_screen_tab_of(screen->view) + step) % NCS_VIEW_TABS);
}

/* The selected channel, NULL if none is. */
static const struct ncs_channel_view *
selected_channel(const struct ncs_screen *screen)
{
	const struct ncs_grid_row *row =
		ncs_grid_selected(&screen->tables[screen->view]);

	if (!row || row->unreadable || row->row.view != NCS_VIEW_CHANNEL)
		return NULL;
	return &row->row.rank->now.channels[row->row.index];
}

/* Leaves a crumb here and shows of a view what is in the focus. */
static bool go_down(struct ncs_screen *screen, enum ncs_view view,
		    enum ncs_focus_kind kind, const char *name,
		    unsigned function)
{
	const struct ncs_channel_view *channel = selected_channel(screen);
	struct ncs_crumb *crumb = &screen->trail[screen->depth];
	char *copy = strdup(name);

	if (!copy || screen->depth == NCS_TRAIL_MAX) {
		free(copy);
		return false;
	}
	*crumb = (struct ncs_crumb){
		.view = screen->view,
		.focus = screen->focus,
		.channel = channel && screen->view == NCS_VIEW_CHANNEL ?
				   channel->channel :
				   -1,
		.send = channel && channel->send,
		.peer = channel ? channel->peer : 0,
	};
	ncs_grid_select(table_of(screen), table_of(screen)->selected);
	screen->depth++;
	screen->focus = (struct ncs_focus){ kind, copy, function };
	screen->view = view;
	build(screen);
	return true;
}

static bool go_to_channels(struct ncs_screen *screen,
			   const struct ncs_rank *rank)
{
	return go_down(screen, NCS_VIEW_CHANNEL, NCS_FOCUS_RANK, rank->id, 0);
}

/* To its ranks, and there to the one that is behind, or else late. */
static bool go_to_ranks(struct ncs_screen *screen,
			const struct ncs_communicator *communicator)
{
	const struct ncs_progress *progress = &communicator->progress;
	const struct ncs_rank *straggler =
		ncs_communicator_straggler(communicator);

	if (!go_down(screen, NCS_VIEW_RANK, NCS_FOCUS_COMMUNICATOR,
		     communicator->key, 0))
		return false;
	if (ncs_progress_behind(progress) > 0)
		ncs_grid_select_rank(table_of(screen), progress->slowest);
	else if (straggler)
		ncs_grid_select_rank(table_of(screen), straggler);
	return true;
}

/* To the sizes of a rank's function. */
static bool go_to_sizes(struct ncs_screen *screen, const struct ncs_row *row)
{
	return go_down(screen, NCS_VIEW_CLASS, NCS_FOCUS_FUNCTION,
		       row->rank->id, (unsigned)row->index);
}

static bool go_up(struct ncs_screen *screen)
{
	struct ncs_crumb *crumb;

	if (screen->depth == 0)
		return false;
	crumb = &screen->trail[--screen->depth];
	free(screen->focus.name);
	screen->focus = crumb->focus;
	screen->view = crumb->view;
	build(screen);
	if (crumb->channel >= 0)
		ncs_grid_select_channel(table_of(screen), crumb->channel,
					crumb->send, crumb->peer);
	return true;
}

/* From a channel to the other end of it. */
static void go_to_peer(struct ncs_screen *screen, const struct ncs_rank *rank,
		       uint64_t now_ns)
{
	const struct ncs_channel_view *channel = selected_channel(screen);
	int number = channel->channel, own = rank->now.identity.rank;
	int peer_number = channel->peer;
	bool send = channel->send;
	const struct ncs_rank *peer = ncs_peer_rank(rank, channel->peer);

	if (!peer) {
		ncs_screen_say(screen, now_ns,
			       "rank %d, the peer, is not seen here",
			       peer_number);
		return;
	}
	if (!go_to_channels(screen, peer)) {
		ncs_screen_say(screen, now_ns, "no deeper; Esc goes back");
		return;
	}
	if (!ncs_grid_select_channel(table_of(screen), number, !send, own))
		ncs_screen_say(screen, now_ns,
			       "rank %d does not show this channel",
			       peer_number);
}

/* From a rank's channel in a tree to this channel among the others. */
static bool go_to_channel(struct ncs_screen *screen,
			  const struct ncs_rank *rank)
{
	const struct ncs_channel_view *channel = selected_channel(screen);

	return go_to_channels(screen, rank) &&
	       ncs_grid_select_channel(table_of(screen), channel->channel,
				       channel->send, channel->peer);
}

/* To the channel that it is about, else to the root, seen here or not. */
static bool go_to_root(struct ncs_screen *screen,
		       const struct ncs_finding *finding)
{
	const struct ncs_channel_view *channel = finding->channel;
	const struct ncs_rank *rank = finding->channel_rank ?
					      finding->channel_rank :
					      finding->root.rank;

	if (!rank)
		return go_to_ranks(screen, finding->root.communicator);
	if (!go_to_channels(screen, rank))
		return false;
	if (channel)
		ncs_grid_select_channel(table_of(screen), channel->channel,
					channel->send, channel->peer);
	return true;
}

static bool go_below(struct ncs_screen *screen, const struct ncs_row *row)
{
	if (row->communicator)
		return go_to_ranks(screen, row->communicator);
	if (row->finding)
		return go_to_root(screen, row->finding);
	if (row->view == NCS_VIEW_FUNCTION)
		return go_to_sizes(screen, row);
	if (row->view == NCS_VIEW_CHANNEL)
		return go_to_channel(screen, row->rank);
	return go_to_channels(screen, row->rank);
}

static void enter(struct ncs_screen *screen, uint64_t now_ns)
{
	const struct ncs_grid_row *row = ncs_grid_selected(table_of(screen));

	if (!row)
		ncs_screen_say(screen, now_ns, "there is no row");
	else if (row->unreadable)
		ncs_screen_say(screen, now_ns, "it cannot be read: %s",
			       row->unreadable->why);
	else if (screen->view == NCS_VIEW_CHANNEL && row->row.rank)
		go_to_peer(screen, row->row.rank, now_ns);
	else if (!go_below(screen, &row->row))
		ncs_screen_say(screen, now_ns, "no deeper; Esc goes back");
}

/* All functions, or all sizes of all of them. */
static void toggle_sizes(struct ncs_screen *screen, uint64_t now_ns)
{
	if (ncs_screen_tab_of(screen->view) != NCS_VIEW_FUNCTION) {
		ncs_screen_say(screen, now_ns,
			       "sizes are in Collectives, by x");
		return;
	}
	show_view(screen, screen->view == NCS_VIEW_FUNCTION ?
				  NCS_VIEW_CLASS :
				  NCS_VIEW_FUNCTION);
	ncs_screen_say(screen, now_ns, "%s",
		       screen->view == NCS_VIEW_FUNCTION ?
			       "a row for each function" :
			       "a row for each size, algorithm and protocol");
}

/* --- Options -------------------------------------------------------------- */

/* The window as the option names it: it cannot name that since a mark. */
static enum ncs_window window_option(const struct ncs_screen *screen)
{
	enum ncs_window window = screen->model.window;

	return window == NCS_WINDOW_MARK ? NCS_WINDOW_NOW : window;
}

void ncs_screen_apply(struct ncs_screen *screen,
		      const struct ncs_options *options)
{
	screen->options = *options;
	if (options->view < NCS_VIEW_COUNT && options->view != screen->view)
		show_view(screen, options->view);
	screen->interval_ns = options->interval_ns;
	if (options->window != window_option(screen))
		ncs_model_set_window(&screen->model, options->window);
	screen->hide_header = options->hide_header;
	screen->hide_idle = options->hide_idle;
	for (size_t i = 0; i < NCS_VIEW_COUNT; i++) {
		ncs_grid_set_sort(&screen->tables[i], options->sort[i].column,
				  options->sort[i].inverted);
		ncs_grid_set_columns(&screen->tables[i], options->level,
				     options->columns);
		ncs_grid_set_units(&screen->tables[i], &options->units);
	}
	ncs_term_set_scheme(options->scheme);
	ncs_term_set_symbols(options->symbols);
	ncs_term_set_mouse(options->mouse);
	build(screen);
}

void ncs_screen_collect(struct ncs_screen *screen)
{
	struct ncs_options *options = &screen->options;

	options->view = screen->view;
	options->interval_ns = screen->interval_ns;
	options->window = window_option(screen);
	options->hide_header = screen->hide_header;
	options->hide_idle = screen->hide_idle;
	options->level = table_of(screen)->level;
	for (size_t i = 0; i < NCS_VIEW_COUNT; i++)
		options->sort[i] = (struct ncs_sort){
			.column = screen->tables[i].sort,
			.inverted = screen->tables[i].inverted,
		};
	options->scheme = ncs_term_scheme();
	options->symbols = ncs_term_symbols();
}

/* What it is now; and why nothing is seen of it, if that is so. */
static void say_option(struct ncs_screen *screen, enum ncs_option option,
		       uint64_t now_ns)
{
	const char *why = "";
	char value[128];

	if (option == NCS_OPTION_SCHEME && !ncs_term_has_colors())
		why = "; but the terminal has no colours, or none are wanted";
	else if (option == NCS_OPTION_SYMBOLS && !ncs_term_has_symbols())
		why = "; but the locale is not UTF-8: ASCII";
	else if (option == NCS_OPTION_MOUSE && screen->options.mouse &&
		 !ncs_term_has_mouse())
		why = "; but the terminal has none";
	ncs_options_value(&screen->options, option, value, sizeof(value));
	ncs_screen_say(screen, now_ns, "%s: %s%s", ncs_options_name(option),
		       value, why);
}

/* The option's next word takes effect. */
static void step_option(struct ncs_screen *screen, enum ncs_option option,
			bool forward, uint64_t now_ns)
{
	struct ncs_options options;

	ncs_screen_collect(screen);
	options = screen->options;
	ncs_options_step(&options, option, forward);
	ncs_screen_apply(screen, &options);
	say_option(screen, option, now_ns);
}

static unsigned keep(struct ncs_screen *screen, uint64_t now_ns)
{
	if (!screen->config_path[0]) {
		ncs_screen_say(screen, now_ns,
			       "there is no configuration file to write to");
		return 0;
	}
	if (screen->may_write)
		return NCS_REQUEST_KEEP;
	screen->prompt = NCS_PROMPT_KEEP;
	return 0;
}

/* To whether the file may be written: anything but yes is no. */
static unsigned answer(struct ncs_screen *screen, int code, uint64_t now_ns)
{
	screen->prompt = NCS_PROMPT_NONE;
	screen->may_write = code == 'y' || code == 'Y';
	if (screen->may_write)
		return NCS_REQUEST_KEEP;
	ncs_screen_say(screen, now_ns, "nothing was written");
	return 0;
}

/* --- Prompts -------------------------------------------------------------- */

static void open_prompt(struct ncs_screen *screen, enum ncs_prompt prompt)
{
	screen->prompt = prompt;
	screen->selected_before = table_of(screen)->selected;
	screen->typed[0] = '\0';
	if (prompt == NCS_PROMPT_FILTER)
		snprintf(screen->typed, sizeof(screen->typed), "%s",
			 screen->filter);
}

/* What is typed takes effect at once, but for what changes more than this
 * view. */
static void typed(struct ncs_screen *screen)
{
	if (screen->prompt == NCS_PROMPT_SEARCH) {
		ncs_grid_select(table_of(screen), screen->selected_before);
		ncs_grid_search(table_of(screen), screen->typed, NCS_HERE);
		return;
	}
	if (screen->prompt == NCS_PROMPT_SET || screen->prompt == NCS_PROMPT_GO)
		return;
	snprintf(screen->filter, sizeof(screen->filter), "%s", screen->typed);
	build(screen);
}

static void close_prompt(struct ncs_screen *screen)
{
	if (screen->prompt == NCS_PROMPT_SEARCH)
		snprintf(screen->search, sizeof(screen->search), "%s",
			 screen->typed);
	screen->prompt = NCS_PROMPT_NONE;
}

/* Esc: a search leaves everything as it was, a filter is cleared, nothing is
 * asked for. */
static void cancel_prompt(struct ncs_screen *screen)
{
	if (screen->prompt == NCS_PROMPT_SEARCH)
		ncs_grid_select(table_of(screen), screen->selected_before);
	else if (screen->prompt == NCS_PROMPT_FILTER)
		screen->filter[0] = '\0';
	screen->prompt = NCS_PROMPT_NONE;
	build(screen);
}

/* Takes back one character, which may be several bytes. */
static void erase_typed(struct ncs_screen *screen)
{
	size_t length = strlen(screen->typed);

	while (length > 0 && (screen->typed[length - 1] & 0xc0) == 0x80)
		length--;
	screen->typed[length > 0 ? length - 1 : 0] = '\0';
	typed(screen);
}

static void type(struct ncs_screen *screen, int code)
{
	size_t length = strlen(screen->typed);

	if (length + 1 >= sizeof(screen->typed))
		return;
	screen->typed[length] = (char)code;
	screen->typed[length + 1] = '\0';
	typed(screen);
}

static void find_again(struct ncs_screen *screen,
		       enum ncs_grid_direction direction, uint64_t now_ns)
{
	const char *text = screen->prompt == NCS_PROMPT_SEARCH ? screen->typed :
								 screen->search;

	if (!text[0])
		ncs_screen_say(screen, now_ns,
			       "nothing to look for: / begins a search");
	else if (!ncs_grid_search(table_of(screen), text, direction))
		ncs_screen_say(screen, now_ns, "no row has \"%s\"", text);
	else
		screen->selected_before = table_of(screen)->selected;
}

/* False if the key is none of the prompt's: it then closes the prompt and
 * means what it means without. */
static bool prompt_key(struct ncs_screen *screen, int code, uint64_t now_ns)
{
	code = ncs_key_normalize(code);
	if (code == KEY_ENTER)
		close_prompt(screen);
	else if (code == ESCAPE)
		cancel_prompt(screen);
	else if (code == KEY_BACKSPACE)
		erase_typed(screen);
	else if (code == KEY_F(3) && screen->prompt == NCS_PROMPT_SEARCH)
		find_again(screen, NCS_FORWARD, now_ns);
	else if (code >= ' ' && code < 0x100)
		type(screen, code);
	else
		return false;
	return true;
}

/* --- Keys ----------------------------------------------------------------- */

static void help_key(struct ncs_screen *screen, enum ncs_action action)
{
	int page = screen->help_page > 1 ? screen->help_page - 1 : 1;

	switch (action) {
	case NCS_ACTION_UP:
		screen->help_top--;
		break;
	case NCS_ACTION_DOWN:
		screen->help_top++;
		break;
	case NCS_ACTION_PAGE_UP:
		screen->help_top -= page;
		break;
	case NCS_ACTION_PAGE_DOWN:
		screen->help_top += page;
		break;
	case NCS_ACTION_FIRST:
		screen->help_top = 0;
		break;
	case NCS_ACTION_LAST:
		screen->help_top = ncs_help_lines(ncs_term_width());
		break;
	default:
		/* Whatever else is pressed, who presses it wants to go on. */
		screen->help = false;
	}
}

static unsigned change_interval(struct ncs_screen *screen, bool longer,
				uint64_t now_ns)
{
	size_t count = sizeof(intervals_ms) / sizeof(*intervals_ms);
	uint64_t chosen_ns = screen->interval_ns;
	char text[64] = "interval ";

	for (size_t i = 0; i < count; i++) {
		size_t place = longer ? i : count - 1 - i;
		uint64_t interval_ns = intervals_ms[place] * 1000000;

		if (longer ? interval_ns > screen->interval_ns :
			     interval_ns < screen->interval_ns) {
			chosen_ns = interval_ns;
			break;
		}
	}
	ncs_append_duration(text, sizeof(text), chosen_ns);
	if (chosen_ns == screen->interval_ns)
		ncs_append(text, sizeof(text),
			   longer ? ", the longest" : ", the shortest");
	screen->interval_ns = chosen_ns;
	ncs_screen_say(screen, now_ns, "%s", text);
	return NCS_REQUEST_INTERVAL;
}

/* Shows a column that is hidden, hides one that is shown. */
static void toggle_column(struct ncs_screen *screen,
			  const struct ncs_column *column, uint64_t now_ns)
{
	struct ncs_options options = screen->options;
	enum ncs_column_choice *choice = &options.columns[column - ncs_columns];
	bool shown =
		!ncs_column_is_shown(column, options.level, options.columns);

	*choice = shown ? NCS_COLUMN_SHOWN : NCS_COLUMN_HIDDEN;
	if (shown == (column->level <= options.level))
		*choice = NCS_COLUMN_BY_LEVEL;
	ncs_screen_apply(screen, &options);
	ncs_screen_say(screen, now_ns, "column %s: %s", column->title,
		       shown ? "shown" : "hidden");
}

/* What is selected in the setup takes its next value. */
static unsigned change_setup(struct ncs_screen *screen, bool forward,
			     uint64_t now_ns)
{
	const struct ncs_setup_entry entry =
		ncs_setup_entry(screen->view, screen->setup_selected);
	char notice[sizeof(screen->notice)];
	unsigned requests = 0;

	ncs_screen_collect(screen);
	switch (entry.option) {
	case NCS_OPTION_SET:
		if (!ncs_replay_act(screen, NCS_ACTION_SET, now_ns, &requests))
			open_prompt(screen, NCS_PROMPT_SET);
		break;
	case NCS_OPTION_INTERVAL:
		requests = change_interval(screen, forward, now_ns);
		break;
	case NCS_OPTION_SORT:
		ncs_grid_act(table_of(screen),
			     forward ? NCS_ACTION_SORT_NEXT :
				       NCS_ACTION_SORT_PREVIOUS,
			     notice, sizeof(notice));
		ncs_screen_say(screen, now_ns, "%s", notice);
		build(screen);
		break;
	case NCS_OPTION_COLUMNS:
		toggle_column(screen, entry.column, now_ns);
		break;
	default:
		step_option(screen, entry.option, forward, now_ns);
	}
	ncs_screen_collect(screen);
	return requests;
}

static unsigned setup_key(struct ncs_screen *screen, int code,
			  enum ncs_action action, uint64_t now_ns)
{
	size_t last = ncs_setup_count(screen->view) - 1;

	if (code == ' ')
		return change_setup(screen, true, now_ns);
	switch (action) {
	case NCS_ACTION_UP:
		if (screen->setup_selected > 0)
			screen->setup_selected--;
		return 0;
	case NCS_ACTION_DOWN:
		if (screen->setup_selected < last)
			screen->setup_selected++;
		return 0;
	case NCS_ACTION_PAGE_UP:
	case NCS_ACTION_FIRST:
		screen->setup_selected = 0;
		return 0;
	case NCS_ACTION_PAGE_DOWN:
	case NCS_ACTION_LAST:
		screen->setup_selected = last;
		return 0;
	case NCS_ACTION_LEFT:
		return change_setup(screen, false, now_ns);
	case NCS_ACTION_RIGHT:
	case NCS_ACTION_ENTER:
		return change_setup(screen, true, now_ns);
	case NCS_ACTION_KEEP:
		return keep(screen, now_ns);
	case NCS_ACTION_BACK:
	case NCS_ACTION_QUIT:
	case NCS_ACTION_SETUP:
		screen->setup = false;
		return 0;
	default:
		ncs_screen_say(screen, now_ns,
			       "no such key here; q leaves the setup");
		return 0;
	}
}

static void toggle_pause(struct ncs_screen *screen, uint64_t now_ns)
{
	screen->paused = !screen->paused;
	ncs_screen_say(screen, now_ns, "%s",
		       screen->paused ? "paused: Z goes on" : "going on");
}

static void show_window(struct ncs_screen *screen, enum ncs_window window,
			uint64_t now_ns)
{
	static const char *const names[NCS_WINDOW_COUNT] = {
		[NCS_WINDOW_NOW] = "over the latest interval",
		[NCS_WINDOW_10_S] = "over 10 s",
		[NCS_WINDOW_100_S] = "over 100 s",
		[NCS_WINDOW_START] = "since the start of each rank",
		[NCS_WINDOW_MARK] = "since z was pressed",
	};

	ncs_model_set_window(&screen->model, window);
	build(screen);
	ncs_screen_say(screen, now_ns, "rates and shares: %s", names[window]);
}

/* There is nothing since z before its first time. */
static void next_window(struct ncs_screen *screen, uint64_t now_ns)
{
	unsigned count = screen->model.marked_ns != 0 ? NCS_WINDOW_COUNT :
							NCS_WINDOW_MARK;

	show_window(screen,
		    (enum ncs_window)((screen->model.window + 1) % count),
		    now_ns);
}

/* The latest sample is this moment: what it counted is shown no more. */
static void mark(struct ncs_screen *screen, uint64_t now_ns)
{
	if (ncs_model_mark(&screen->model) != 0) {
		ncs_screen_say(screen, now_ns, "not enough memory");
		return;
	}
	show_window(screen, NCS_WINDOW_MARK, now_ns);
	ncs_screen_say(screen, now_ns,
		       "rates and shares begin anew; a goes on to others");
}

static bool act_on_time(struct ncs_screen *screen, enum ncs_action action,
			uint64_t now_ns)
{
	switch (action) {
	case NCS_ACTION_WINDOW:
		next_window(screen, now_ns);
		return true;
	case NCS_ACTION_MARK:
		mark(screen, now_ns);
		return true;
	default:
		return false;
	}
}

static bool act_on_view(struct ncs_screen *screen, enum ncs_action action,
			uint64_t now_ns)
{
	switch (action) {
	case NCS_ACTION_VIEW_RANKS:
	case NCS_ACTION_VIEW_COMMUNICATORS:
	case NCS_ACTION_VIEW_CHANNELS:
	case NCS_ACTION_VIEW_PROXY:
	case NCS_ACTION_VIEW_COLLECTIVES:
	case NCS_ACTION_VIEW_DIAGNOSE:
	case NCS_ACTION_VIEW_RANGES:
		show_view(screen,
			  (enum ncs_view)(action - NCS_ACTION_VIEW_RANKS));
		return true;
	case NCS_ACTION_VIEW_TIMELINE:
		show_timeline(screen);
		return true;
	case NCS_ACTION_VIEW_NEXT:
		step_view(screen, 1);
		return true;
	case NCS_ACTION_VIEW_PREVIOUS:
		step_view(screen, NCS_VIEW_TABS - 1);
		return true;
	case NCS_ACTION_SIZES:
		toggle_sizes(screen, now_ns);
		return true;
	case NCS_ACTION_ENTER:
		enter(screen, now_ns);
		return true;
	case NCS_ACTION_BACK:
		if (!go_up(screen))
			ncs_screen_say(screen, now_ns,
				       "this is the top; q quits");
		return true;
	case NCS_ACTION_HELP:
		screen->help = true;
		screen->help_top = 0;
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

static bool act_on_search(struct ncs_screen *screen, enum ncs_action action,
			  uint64_t now_ns)
{
	switch (action) {
	case NCS_ACTION_SEARCH:
		open_prompt(screen, NCS_PROMPT_SEARCH);
		return true;
	case NCS_ACTION_FILTER:
		open_prompt(screen, NCS_PROMPT_FILTER);
		return true;
	case NCS_ACTION_SEARCH_NEXT:
		find_again(screen, NCS_FORWARD, now_ns);
		return true;
	case NCS_ACTION_SEARCH_PREVIOUS:
		find_again(screen, NCS_BACKWARD, now_ns);
		return true;
	case NCS_ACTION_NEXT_ABNORMAL:
		if (!ncs_grid_next_abnormal(table_of(screen)))
			ncs_screen_say(screen, now_ns, "nothing abnormal here");
		return true;
	default:
		return false;
	}
}

/* --- Tags ----------------------------------------------------------------- */

static void say_tags(struct ncs_screen *screen, uint64_t now_ns)
{
	ncs_screen_say(screen, now_ns,
		       "%zu tagged; o shows only these, U untags",
		       screen->tags.count);
}

/* The row that may be tagged; NULL: there is none. */
static const struct ncs_row *taggable(struct ncs_screen *screen,
				      uint64_t now_ns)
{
	const struct ncs_grid_row *row = ncs_grid_selected(table_of(screen));

	if (row && !row->unreadable)
		return &row->row;
	ncs_screen_say(screen, now_ns, "there is nothing to tag");
	return NULL;
}

static void tag(struct ncs_screen *screen, bool whole, uint64_t now_ns)
{
	const struct ncs_row *row = taggable(screen, now_ns);
	struct ncs_grid_key key;
	char notice[8];

	if (!row)
		return;
	ncs_grid_key_of(row, &key);
	if (!whole && ncs_marks_remove(&screen->tags, &key)) {
		say_tags(screen, now_ns);
	} else if (!whole && ncs_marks_cover(&screen->tags, row)) {
		ncs_screen_say(screen, now_ns,
			       "tagged with what it belongs to; U untags all");
	} else if (!ncs_marks_add(&screen->tags, &key, whole)) {
		ncs_screen_say(screen, now_ns, "not enough memory");
		return;
	} else {
		say_tags(screen, now_ns);
	}
	ncs_grid_act(table_of(screen), NCS_ACTION_DOWN, notice, sizeof(notice));
	screen->only_tagged = screen->only_tagged && screen->tags.count > 0;
	build(screen);
}

static bool act_on_tags(struct ncs_screen *screen, enum ncs_action action,
			uint64_t now_ns)
{
	switch (action) {
	case NCS_ACTION_TAG:
	case NCS_ACTION_TAG_WHOLE:
		tag(screen, action == NCS_ACTION_TAG_WHOLE, now_ns);
		return true;
	case NCS_ACTION_UNTAG_ALL:
		ncs_screen_say(screen, now_ns, "nothing is tagged any more");
		ncs_marks_clear(&screen->tags);
		screen->only_tagged = false;
		build(screen);
		return true;
	case NCS_ACTION_TAGGED_ONLY:
		if (screen->tags.count == 0) {
			ncs_screen_say(screen, now_ns,
				       "nothing is tagged: Space tags a row");
			return true;
		}
		screen->only_tagged = !screen->only_tagged;
		ncs_screen_say(screen, now_ns, "%s",
			       screen->only_tagged ? "only tagged rows" :
						     "all rows");
		build(screen);
		return true;
	default:
		return false;
	}
}

static bool act_on_looks(struct ncs_screen *screen, enum ncs_action action,
			 uint64_t now_ns)
{
	switch (action) {
	case NCS_ACTION_IDLE:
		step_option(screen, NCS_OPTION_IDLE, true, now_ns);
		return true;
	case NCS_ACTION_EXACT:
		step_option(screen, NCS_OPTION_NUMBERS, true, now_ns);
		return true;
	case NCS_ACTION_BITS:
		step_option(screen, NCS_OPTION_UNITS, true, now_ns);
		return true;
	case NCS_ACTION_MOUSE:
		step_option(screen, NCS_OPTION_MOUSE, true, now_ns);
		return true;
	case NCS_ACTION_HEADER:
		step_option(screen, NCS_OPTION_HEADER, true, now_ns);
		return true;
	case NCS_ACTION_SYMBOLS:
		step_option(screen, NCS_OPTION_SYMBOLS, true, now_ns);
		return true;
	case NCS_ACTION_COLORS:
		step_option(screen, NCS_OPTION_SCHEME, true, now_ns);
		return true;
	case NCS_ACTION_ZOOM_IN:
	case NCS_ACTION_ZOOM_OUT:
	case NCS_ACTION_PAN_BACK:
	case NCS_ACTION_PAN_ON:
		ncs_screen_say(screen, now_ns,
			       "this key moves through the timeline, view %u",
			       NCS_VIEW_TIMELINE + 1);
		return true;
	case NCS_ACTION_NO_KILL:
		ncs_screen_say(screen, now_ns,
			       "nothing here stops a job; q quits this view");
		return true;
	default:
		return false;
	}
}

static unsigned act_outside(struct ncs_screen *screen, enum ncs_action action,
			    uint64_t now_ns)
{
	switch (action) {
	case NCS_ACTION_QUIT:
		return NCS_REQUEST_QUIT;
	case NCS_ACTION_INTERVAL_SHORTER:
		return change_interval(screen, false, now_ns);
	case NCS_ACTION_INTERVAL_LONGER:
		return change_interval(screen, true, now_ns);
	case NCS_ACTION_PAUSE:
		toggle_pause(screen, now_ns);
		return screen->paused ? 0 : NCS_REQUEST_SAMPLE;
	case NCS_ACTION_SAMPLE:
		ncs_screen_say(screen, now_ns, "looked again");
		return NCS_REQUEST_SAMPLE;
	case NCS_ACTION_DETAIL:
		return NCS_REQUEST_DETAIL;
	case NCS_ACTION_SET:
		open_prompt(screen, NCS_PROMPT_SET);
		return 0;
	case NCS_ACTION_SAVE:
		return NCS_REQUEST_SAVE;
	case NCS_ACTION_KEEP:
		return keep(screen, now_ns);
	case NCS_ACTION_REPAINT:
		ncs_screen_say(screen, now_ns, "painted again");
		return NCS_REQUEST_REPAINT;
	default:
		ncs_screen_say(screen, now_ns,
			       "no such key; ? shows all of them");
		return 0;
	}
}

static bool act_on_table(struct ncs_screen *screen, enum ncs_action action,
			 uint64_t now_ns)
{
	char notice[sizeof(screen->notice)];

	if (!ncs_grid_act(table_of(screen), action, notice, sizeof(notice)))
		return false;
	if (notice[0])
		ncs_screen_say(screen, now_ns, "%s", notice);
	/* How much is shown is one choice for all views. */
	for (size_t i = 0; i < NCS_VIEW_COUNT; i++)
		ncs_grid_set_columns(&screen->tables[i],
				     table_of(screen)->level,
				     screen->options.columns);
	build(screen);
	return true;
}

/* What a key means, or a click on its name. */
static unsigned act(struct ncs_screen *screen, int code, enum ncs_action action,
		    uint64_t now_ns)
{
	unsigned requests;

	/* In the help and the setup q leaves them; Ctrl-C leaves everything. */
	if ((screen->help || screen->setup) && action != NCS_ACTION_REPAINT &&
	    !(action == NCS_ACTION_QUIT && code == ('C' & 0x1f))) {
		if (screen->setup)
			return setup_key(screen, code, action, now_ns);
		help_key(screen, action);
		return 0;
	}
	if (screen->view == NCS_VIEW_TIMELINE &&
	    ncs_timeline_act(screen, action, now_ns))
		return 0;
	if (screen->replay && action == NCS_ACTION_GO) {
		open_prompt(screen, NCS_PROMPT_GO);
		return 0;
	}
	if (ncs_replay_act(screen, action, now_ns, &requests))
		return requests;
	if (act_on_view(screen, action, now_ns) ||
	    act_on_table(screen, action, now_ns) ||
	    act_on_search(screen, action, now_ns) ||
	    act_on_time(screen, action, now_ns) ||
	    act_on_tags(screen, action, now_ns) ||
	    act_on_looks(screen, action, now_ns))
		return 0;
	return act_outside(screen, action, now_ns);
}

/* What was typed is asked for. */
static unsigned entered(struct ncs_screen *screen, enum ncs_prompt prompt,
			uint64_t now_ns)
{
	if (prompt == NCS_PROMPT_GO)
		return ncs_replay_go_typed(screen, now_ns);
	return prompt == NCS_PROMPT_SET ? NCS_REQUEST_SET : 0;
}

unsigned ncs_screen_key(struct ncs_screen *screen, int code, uint64_t now_ns)
{
	screen->notice[0] = '\0';
	if (screen->prompt == NCS_PROMPT_KEEP)
		return answer(screen, code, now_ns);
	if (screen->prompt != NCS_PROMPT_NONE) {
		enum ncs_prompt prompt = screen->prompt;
		bool enters = ncs_key_normalize(code) == KEY_ENTER &&
			      screen->typed[0];

		if (prompt_key(screen, code, now_ns))
			return enters ? entered(screen, prompt, now_ns) : 0;
		close_prompt(screen);
	}
	return act(screen, code, ncs_key_action(code), now_ns);
}

/* --- The mouse ------------------------------------------------------------ */

/* A line is selected; one that is already is changed. */
static unsigned click_setup(struct ncs_screen *screen, int y, uint64_t now_ns)
{
	size_t place = screen->setup_top + (size_t)(y - 1);

	if (y < 1 || (size_t)(y - 1) >= screen->setup_page ||
	    place >= ncs_setup_count(screen->view))
		return 0;
	if (place == screen->setup_selected)
		return change_setup(screen, true, now_ns);
	screen->setup_selected = place;
	return 0;
}

static unsigned click(struct ncs_screen *screen, const struct ncs_mouse *mouse,
		      uint64_t now_ns)
{
	char notice[sizeof(screen->notice)];
	unsigned requests;

	if (screen->setup)
		return click_setup(screen, mouse->y, now_ns);
	if (screen->help)
		return 0;
	if (ncs_replay_click(screen, mouse->y, mouse->x, now_ns, &requests))
		return requests;
	for (size_t i = 0; i < screen->spot_count; i++) {
		const struct ncs_spot *spot = &screen->spots[i];

		if (mouse->y == spot->y && mouse->x >= spot->x &&
		    mouse->x < spot->x + spot->width)
			return act(screen, 0, spot->action, now_ns);
	}
	if (screen->view == NCS_VIEW_TIMELINE)
		ncs_timeline_click(screen, mouse->x);
	if (!ncs_grid_click(table_of(screen), mouse->y, mouse->x, notice,
			    sizeof(notice)))
		return 0;
	if (notice[0])
		ncs_screen_say(screen, now_ns, "%s", notice);
	build(screen);
	return 0;
}

unsigned ncs_screen_mouse(struct ncs_screen *screen,
			  const struct ncs_mouse *mouse, uint64_t now_ns)
{
	enum ncs_action action = NCS_ACTION_DOWN;

	/* What is being typed is finished by keys. */
	if (mouse->kind == NCS_MOUSE_OTHER || screen->prompt != NCS_PROMPT_NONE)
		return 0;
	screen->notice[0] = '\0';
	if (mouse->kind == NCS_MOUSE_CLICK)
		return click(screen, mouse, now_ns);
	if (mouse->kind == NCS_MOUSE_WHEEL_UP)
		action = NCS_ACTION_UP;
	for (int i = 0; i < WHEEL_ROWS; i++)
		act(screen, 0, action, now_ns);
	return 0;
}
