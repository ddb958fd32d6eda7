/* SPDX-License-Identifier: MIT */
/* The menu of orders; see screen_pages.h. Its first entry is the usual order, the
 * others are the table's columns. */
#include "tui/screen/screen_pages.h"

#include "tui/table/table.h"
#include "tui/term/term.h"

#define MENU_WIDTH 18

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
