/* SPDX-License-Identifier: MIT */
/* Lists to choose from; see screen_pages.h. The entries of the setup are the options
 * that the live view can change, from the table of options; the plugin's settings; and
 * the columns of the view. Those of the menu of orders are the usual order, then the
 * table's columns. */
#include "tui/screen/screen_pages.h"

#include <stdio.h>

#include "tui/commands/option_rows.h"
#include "tui/screen/screen_actions.h"
#include "tui/table/table.h"
#include "tui/term/term.h"
#include "tui/term/wrap.h"
#include "tui/text/format.h"

#define NAME_WIDTH 13
#define VALUE_WIDTH 12
#define MENU_WIDTH 18

/* --- Entries -------------------------------------------------------------- */

struct ncs_setup_entry ncs_setup_entry(enum ncs_view view, size_t place)
{
	struct ncs_setup_entry entry = { .option = NCS_OPTION_SET };

	for (int i = 0; i < NCS_OPTIONS_END; i++) {
		if (i == NCS_OPTION_COLUMNS ||
		    !ncs_options_is_live((enum ncs_option)i) || place-- > 0)
			continue;
		entry.option = (enum ncs_option)i;
		return entry;
	}
	if (place-- == 0)
		return entry;
	entry.option = NCS_OPTION_COLUMNS;
	for (size_t i = 0; i < ncs_column_count && !entry.column; i++)
		if (ncs_columns[i].view == view && place-- == 0)
			entry.column = &ncs_columns[i];
	return entry;
}

size_t ncs_setup_count(enum ncs_view view)
{
	size_t count = 0;
	struct ncs_setup_entry entry;

	do
		entry = ncs_setup_entry(view, count++);
	while (entry.option != NCS_OPTION_COLUMNS || entry.column);
	return count - 1;
}

/* --- Drawing -------------------------------------------------------------- */

/* Prints the settings of the first process; usually all processes have the same
 * settings. */
static void print_settings(const struct ncs_screen *screen, char *text,
			   size_t size)
{
	struct ncs_row row = { .view = NCS_VIEW_RANK };
	struct ncs_value value = { 0 };

	if (screen->model.rank_count > 0) {
		row.rank = screen->model.ranks[0];
		ncs_column_get(&ncs_columns[NCS_COLUMN_RANK_SETTINGS], &row,
			       &value);
	}
	ncs_format_value(text, size, &value, 0, false);
}

/* The three columns of an entry. */
struct setup_line {
	const char *name;
	char value[NCS_OPTION_VALUE_MAX];
	char choices[64];
};

static void print_column(const struct ncs_screen *screen,
			 const struct ncs_column *column,
			 struct setup_line *line)
{
	static const char *const levels[] = {
		[NCS_COLUMN_INFO] = "info",
		[NCS_COLUMN_DIAG] = "diag",
		[NCS_COLUMN_DEBUG] = "debug",
	};
	const struct ncs_options *options = &screen->options;

	line->name = column->title;
	snprintf(line->value, sizeof(line->value), "%s",
		 ncs_column_is_shown(column, options->level, options->columns) ?
			 "[x] shown" :
			 "[ ] hidden");
	snprintf(line->choices, sizeof(line->choices), "column of %s, %s",
		 ncs_views[column->view].option, levels[column->level]);
}

static void print_line(const struct ncs_screen *screen,
		       const struct ncs_setup_entry *entry,
		       struct setup_line *line)
{
	if (entry->option == NCS_OPTION_COLUMNS) {
		print_column(screen, entry->column, line);
		return;
	}
	line->name = ncs_option_rows[entry->option].name;
	snprintf(line->choices, sizeof(line->choices), "%s",
		 ncs_option_rows[entry->option].argument);
	if (entry->option == NCS_OPTION_SET)
		print_settings(screen, line->value, sizeof(line->value));
	else
		ncs_options_value(&screen->options, entry->option, line->value,
				  sizeof(line->value));
}

static void draw_entry(const struct ncs_screen *screen, size_t place,
		       const struct ncs_rect *rect)
{
	const struct ncs_setup_entry entry =
		ncs_setup_entry(screen->view, place);
	bool selected = place == screen->setup_selected;
	enum ncs_role role = selected ? NCS_ROLE_SELECTED : NCS_ROLE_TEXT;
	int x = rect->x + NAME_WIDTH + 2, used;
	struct setup_line line;

	print_line(screen, &entry, &line);
	if (selected)
		ncs_term_fill(rect->y, rect->x, rect->width, role);
	ncs_term_put(rect->y, rect->x + 1, NAME_WIDTH, role, line.name);
	used = ncs_term_put(rect->y, x, rect->width - x, role, line.value);
	x += (used > VALUE_WIDTH ? used : VALUE_WIDTH) + 1;
	ncs_term_put(rect->y, x, rect->width - x,
		     selected ? role : NCS_ROLE_LABEL, line.choices);
}

static const char *help_of(const struct ncs_screen *screen)
{
	const struct ncs_setup_entry entry =
		ncs_setup_entry(screen->view, screen->setup_selected);

	return entry.column ? entry.column->help :
			      ncs_option_rows[entry.option].help;
}

void ncs_setup_draw(struct ncs_screen *screen, const struct ncs_rect *rect)
{
	int help = rect->height > 6 ? 3 : 0;
	size_t rows = (size_t)(rect->height - help);
	struct ncs_rect line = { rect->y, rect->x, 1, rect->width };
	struct ncs_rect below = { rect->y + rect->height - help, rect->x, help,
				  rect->width };

	screen->setup_page = rows;
	if (screen->setup_top > screen->setup_selected)
		screen->setup_top = screen->setup_selected;
	if (screen->setup_top + rows <= screen->setup_selected)
		screen->setup_top = screen->setup_selected + 1 - rows;
	for (size_t i = 0; i < rows; i++, line.y++)
		if (screen->setup_top + i < ncs_setup_count(screen->view))
			draw_entry(screen, screen->setup_top + i, &line);
	if (help > 0)
		ncs_draw_wrapped(&below, NCS_ROLE_LABEL, help_of(screen));
}

/* --- Keys and clicks ------------------------------------------------------ */

/* Sets the selected entry to its next or previous value. */
static unsigned change_setup(struct ncs_screen *screen, bool forward)
{
	const struct ncs_setup_entry entry =
		ncs_setup_entry(screen->view, screen->setup_selected);
	unsigned requests = 0;

	ncs_screen_collect(screen);
	switch (entry.option) {
	case NCS_OPTION_SET:
		if (ncs_replay_act(screen, NCS_ACTION_SET) == NCS_REQUEST_USUAL)
			ncs_prompt_open(screen, NCS_PROMPT_SET);
		break;
	case NCS_OPTION_INTERVAL:
		requests = ncs_screen_change_interval(screen, forward);
		break;
	case NCS_OPTION_SORT:
		ncs_grid_act(ncs_screen_table(screen),
			     forward ? NCS_ACTION_SORT_NEXT :
				       NCS_ACTION_SORT_PREVIOUS);
		ncs_screen_follow_table(screen);
		break;
	case NCS_OPTION_COLUMNS:
		ncs_screen_toggle_column(screen, entry.column);
		break;
	default:
		ncs_screen_step_option(screen, entry.option, forward);
	}
	ncs_screen_collect(screen);
	return requests;
}

unsigned ncs_setup_key(struct ncs_screen *screen, int code,
		       enum ncs_action action)
{
	size_t last = ncs_setup_count(screen->view) - 1;

	if (code == ' ')
		return change_setup(screen, true);
	if (ncs_action_moves(action, last, last, &screen->setup_selected))
		return 0;
	switch (action) {
	case NCS_ACTION_LEFT:
		return change_setup(screen, false);
	case NCS_ACTION_RIGHT:
	case NCS_ACTION_ENTER:
		return change_setup(screen, true);
	case NCS_ACTION_KEEP:
		return ncs_prompt_keep(screen);
	case NCS_ACTION_BACK:
	case NCS_ACTION_QUIT:
	case NCS_ACTION_SETUP:
		screen->setup = false;
		return 0;
	default:
		ncs_screen_say(screen, "unknown key; q leaves the setup");
		return 0;
	}
}

/* Selects the entry under a click, or changes it if it is already selected. */
unsigned ncs_setup_click(struct ncs_screen *screen, int y)
{
	size_t place = screen->setup_top + (size_t)(y - 1);

	if (y < 1 || (size_t)(y - 1) >= screen->setup_page ||
	    place >= ncs_setup_count(screen->view))
		return 0;
	if (place == screen->setup_selected)
		return change_setup(screen, true);
	screen->setup_selected = place;
	return 0;
}

/* --- The menu of orders ----------------------------------------------------- */

static size_t entries(const struct ncs_grid *table)
{
	return table->column_count + 1;
}

static const char *entry_text(const struct ncs_grid *table, size_t entry)
{
	if (entry == 0)
		return table->rules->need ? "the worst first" : "usual order";
	return ncs_grid_title(table, table->columns[entry - 1]);
}

void ncs_sort_open(struct ncs_screen *screen)
{
	const struct ncs_grid *table = ncs_screen_table(screen);

	screen->sorting = true;
	screen->sort_selected = 0;
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i] == table->sort)
			screen->sort_selected = i + 1;
}

/* Sorts by the selected entry. A second time inverts the order. */
static void choose(struct ncs_screen *screen)
{
	struct ncs_grid *table = ncs_screen_table(screen);
	const struct ncs_column *column =
		screen->sort_selected > 0 &&
				screen->sort_selected < entries(table) ?
			table->columns[screen->sort_selected - 1] :
			NULL;

	ncs_grid_set_sort(table, column,
			  column == table->sort && !table->inverted);
	ncs_screen_build(screen);
	ncs_screen_say(screen, "order: %s%s", column ? "by " : "",
		       entry_text(table, screen->sort_selected));
}

void ncs_sort_act(struct ncs_screen *screen, enum ncs_action action)
{
	size_t page = screen->sort_page > 1 ? screen->sort_page - 1 : 1;
	size_t last = entries(ncs_screen_table(screen)) - 1;

	if (ncs_action_moves(action, page, last, &screen->sort_selected))
		return;
	screen->sorting = false;
	if (action == NCS_ACTION_ENTER)
		choose(screen);
}

void ncs_sort_draw(struct ncs_screen *screen, const struct ncs_rect *header,
		   const struct ncs_rect *rows)
{
	const struct ncs_grid *table = ncs_screen_table(screen);
	size_t page = rows->height > 0 ? (size_t)rows->height : 1, top = 0;
	int width = rows->width < MENU_WIDTH ? rows->width : MENU_WIDTH;

	screen->sort_page = page;
	if (screen->sort_selected >= page)
		top = screen->sort_selected - page + 1;
	ncs_term_fill(header->y, header->x, width, NCS_ROLE_HEADER);
	ncs_term_put(header->y, header->x, width, NCS_ROLE_HEADER, "Sort by");
	for (size_t i = 0; i < page; i++) {
		int y = rows->y + (int)i;
		bool selected = top + i == screen->sort_selected;

		if ((int)i >= rows->height)
			return;
		ncs_term_fill(y, rows->x, width,
			      selected ? NCS_ROLE_SELECTED : NCS_ROLE_TEXT);
		if (top + i >= entries(table))
			continue;
		ncs_term_put(y, rows->x, width - 1,
			     selected ? NCS_ROLE_SELECTED : NCS_ROLE_TEXT,
			     entry_text(table, top + i));
	}
}
