/* The setup screen: what the live view can change, from the table of options,
 * and what the plugin collects. What keys do to it is in tui/screen.c. */
#include "tui/screen.h"

#include <stdio.h>

#include "tui/format.h"

#define NAME_WIDTH 10
#define VALUE_WIDTH 16

enum ncs_option ncs_setup_option(size_t place)
{
	for (int i = 0; i < NCS_OPTIONS_END; i++)
		if (ncs_options_is_live((enum ncs_option)i) && place-- == 0)
			return (enum ncs_option)i;
	return NCS_OPTION_SET;
}

size_t ncs_setup_count(void)
{
	size_t count = 0;

	while (ncs_setup_option(count) != NCS_OPTION_SET)
		count++;
	return count + 1;
}

/* What the first process collects: as a rule all do the same. */
static void print_settings(const struct ncs_screen *screen, char *text,
			   size_t size)
{
	struct ncs_row row = { .view = NCS_VIEW_RANK };
	struct ncs_value value = { 0 };

	if (screen->model.rank_count > 0) {
		row.rank = screen->model.ranks[0];
		ncs_columns[NCS_COLUMN_RANK_SETTINGS].get(&row, &value);
	}
	ncs_format_value(text, size, &value, 0, false);
}

static void draw_entry(const struct ncs_screen *screen, size_t place,
		       const struct ncs_rect *rect)
{
	enum ncs_option option = ncs_setup_option(place);
	bool selected = place == screen->setup_selected;
	enum ncs_role role = selected ? NCS_ROLE_SELECTED : NCS_ROLE_TEXT;
	int x = rect->x + NAME_WIDTH + 1, used;
	char value[NCS_FORMAT_MAX];

	if (option == NCS_OPTION_SET)
		print_settings(screen, value, sizeof(value));
	else
		ncs_options_value(&screen->options, option, value,
				  sizeof(value));
	if (selected)
		ncs_term_fill(rect->y, rect->x, rect->width, role);
	ncs_term_put(rect->y, rect->x + 1, NAME_WIDTH, role,
		     ncs_options_name(option));
	used = ncs_term_put(rect->y, x, rect->width - NAME_WIDTH - 1, role,
			    value);
	x += (used > VALUE_WIDTH ? used : VALUE_WIDTH) + 1;
	ncs_term_put(rect->y, x, rect->width - x,
		     selected ? role : NCS_ROLE_LABEL,
		     ncs_options_argument(option));
}

void ncs_setup_draw(struct ncs_screen *screen, const struct ncs_rect *rect)
{
	int help = rect->height > 6 ? 3 : 0;
	size_t rows = (size_t)(rect->height - help);
	struct ncs_rect line = { rect->y, rect->x, 1, rect->width };
	struct ncs_rect below = { rect->y + rect->height - help, rect->x, help,
				  rect->width };

	if (screen->setup_top > screen->setup_selected)
		screen->setup_top = screen->setup_selected;
	if (screen->setup_top + rows <= screen->setup_selected)
		screen->setup_top = screen->setup_selected + 1 - rows;
	for (size_t i = 0; i < rows; i++, line.y++)
		if (screen->setup_top + i < ncs_setup_count())
			draw_entry(screen, screen->setup_top + i, &line);
	if (help > 0)
		ncs_draw_wrapped(&below, NCS_ROLE_LABEL,
				 ncs_options_help_of(ncs_setup_option(
					 screen->setup_selected)));
}
