/* SPDX-License-Identifier: MIT */
/* Options of the live view; see screen_actions.h. Must not draw. */
#include "tui/screen/screen_actions.h"

#include "tui/commands/option_rows.h"
#include "tui/table/table.h"
#include "tui/term/term.h"
#include "tui/text/words.h"

/* The intervals that keys step through. */
static const uint64_t intervals_ms[] = { 100,  200,   500,   1000, 2000,
					 5000, 10000, 30000, 60000 };

/* Returns the window as a value of its option. The option has no value for the
 * window since z was pressed. */
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
		ncs_screen_show_view(screen, options->view);
	if (options->window != window_option(screen))
		ncs_model_set_window(&screen->model, options->window);
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
	ncs_screen_build(screen);
}

void ncs_screen_collect(struct ncs_screen *screen)
{
	struct ncs_options *options = &screen->options;

	options->view = screen->view;
	options->window = window_option(screen);
	options->level = ncs_screen_table(screen)->level;
	for (size_t i = 0; i < NCS_VIEW_COUNT; i++)
		options->sort[i] = (struct ncs_sort){
			.column = screen->tables[i].sort,
			.inverted = screen->tables[i].inverted,
		};
}

/* Shows the value of an option, and the reason if it has no visible effect. */
static void say_option(struct ncs_screen *screen, enum ncs_option option)
{
	const char *why = "";
	char value[128];

	if (option == NCS_OPTION_SCHEME && !ncs_term_has_colors())
		why = "; but the terminal has no colours, or they are turned"
		      " off";
	else if (option == NCS_OPTION_SYMBOLS && !ncs_term_has_symbols())
		why = "; but the locale is not UTF-8: ASCII";
	else if (option == NCS_OPTION_MOUSE && screen->options.mouse &&
		 !ncs_term_has_mouse())
		why = "; but the terminal has none";
	ncs_options_value(&screen->options, option, value, sizeof(value));
	ncs_screen_say(screen, "%s: %s%s", ncs_option_rows[option].name, value,
		       why);
}

void ncs_screen_step_option(struct ncs_screen *screen, enum ncs_option option,
			    bool forward)
{
	struct ncs_options options;

	ncs_screen_collect(screen);
	options = screen->options;
	ncs_options_step(&options, option, forward);
	ncs_screen_apply(screen, &options);
	say_option(screen, option);
}

void ncs_screen_toggle_column(struct ncs_screen *screen,
			      const struct ncs_column *column)
{
	struct ncs_options options = screen->options;
	enum ncs_column_choice *choice = &options.columns[column - ncs_columns];
	bool shown =
		!ncs_column_is_shown(column, options.level, options.columns);

	*choice = shown ? NCS_COLUMN_SHOWN : NCS_COLUMN_HIDDEN;
	if (shown == (column->level <= options.level))
		*choice = NCS_COLUMN_BY_LEVEL;
	ncs_screen_apply(screen, &options);
	ncs_screen_say(screen, "column %s: %s", column->title,
		       shown ? "shown" : "hidden");
}

unsigned ncs_screen_change_interval(struct ncs_screen *screen, bool longer)
{
	size_t count = sizeof(intervals_ms) / sizeof(*intervals_ms);
	uint64_t now_ns = screen->options.interval_ns, chosen_ns = now_ns;

	for (size_t i = 0; i < count; i++) {
		size_t place = longer ? i : count - 1 - i;
		uint64_t interval_ns = intervals_ms[place] * 1000000;

		if (longer ? interval_ns > now_ns : interval_ns < now_ns) {
			chosen_ns = interval_ns;
			break;
		}
	}
	ncs_screen_say(screen, "interval %s%s", ncs_duration(chosen_ns).text,
		       chosen_ns != now_ns ? "" :
		       longer              ? ", the longest" :
					     ", the shortest");
	screen->options.interval_ns = chosen_ns;
	return NCS_REQUEST_INTERVAL;
}
