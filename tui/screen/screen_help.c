/* SPDX-License-Identifier: MIT */
/* The help screen; see screen_help.h. The text is generated from the tables of
 * keys, states and losses, so that it cannot contradict the program.
 *
 * The text is generated again for each frame: one pass emits line after line,
 * and draws the lines that are on the screen.
 */
#include "tui/screen/screen_help.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "ncclstat/tables/timings.def"
#include "tui/term/wrap.h"
#include "tui/term/keys.h"
#include "tui/text/words.h"

#define NAME_WIDTH 14

/* Destination of the lines. */
struct help_page {
	const struct ncs_rect *rect; /* NULL if the lines are only counted */
	int width;
	int top;
	int line;
};

static void emit(struct help_page *page, int x, enum ncs_role role,
		 const char *text)
{
	int y = page->line - page->top;

	if (page->rect && y >= 0 && y < page->rect->height)
		ncs_term_put(page->rect->y + y, page->rect->x + x,
			     page->width - x, role, text);
}

/* Emits a text in as many lines as it needs, from column x on. */
static void emit_wrapped(struct help_page *page, int x, enum ncs_role role,
			 const char *text)
{
	int width = page->width - x > 8 ? page->width - x : 8;
	char line[512];

	do {
		size_t length = ncs_line_length(text, width);

		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		emit(page, x, role, line);
		page->line++;
		text += length;
		while (*text == ' ')
			text++;
	} while (*text);
}

static void emit_title(struct help_page *page, const char *title)
{
	if (page->line > 0)
		page->line++;
	emit(page, 0, NCS_ROLE_STRONG, title);
	page->line++;
}

static void emit_item(struct help_page *page, const char *name,
		      const char *help)
{
	emit(page, 1, NCS_ROLE_LABEL, name);
	emit_wrapped(page, NAME_WIDTH + 2, NCS_ROLE_TEXT, help);
}

static void emit_keys(struct help_page *page)
{
	for (unsigned group = 0; group < NCS_KEY_GROUP_COUNT; group++) {
		emit_title(page, ncs_key_group_titles[group]);
		for (size_t i = 0; i < NCS_ACTION_COUNT - 1; i++)
			if (ncs_keys[i].group == group)
				emit_item(page, ncs_keys[i].keys,
					  ncs_keys[i].help);
	}
}

static void emit_marks(struct help_page *page)
{
	emit_title(page, "Marks in front of a row");
	emit_item(page, ">", "the others wait for it, directly or not");
	emit_item(page, "!", "waiting for more than 1 s, or dead");
	emit_item(page, "*", "silent, lossy, unreadable, or of a dead rank");
	emit_item(page, "#", "tagged");
}

static void emit_states(struct help_page *page)
{
	char name[32];

	emit_title(page, "What a channel waits for");
	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++) {
		snprintf(name, sizeof(name), "%c %s",
			 ncs_channel_state_letter(i),
			 ncs_channel_state_label(i));
		emit_item(page, name, ncs_channel_state_help(i));
	}
	emit_title(page, "What a proxy thread does");
	for (unsigned i = 0; i < NCS_PROXY_STATE_COUNT; i++) {
		snprintf(name, sizeof(name), "%c %s", ncs_proxy_state_letter(i),
			 ncs_proxy_state_name(i));
		emit_item(page, name, ncs_proxy_state_help(i));
	}
}

static void emit_activities(struct help_page *page)
{
	char name[32];

	emit_title(page, "What else a lane of the timeline does");
	for (unsigned i = 0; i < NCS_ACTIVITY_CHANNEL; i++) {
		snprintf(name, sizeof(name), "%c %s",
			 ncs_activity_letter((enum ncs_activity)i),
			 ncs_activity_label((enum ncs_activity)i));
		emit_item(page, name, ncs_activity_help((enum ncs_activity)i));
	}
}

static void emit_columns(struct help_page *page)
{
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		char title[64];

		snprintf(title, sizeof(title), "Columns of %s",
			 ncs_screen_view_of((enum ncs_view)view)->name);
		emit_title(page, title);
		for (size_t i = 0; i < ncs_column_count; i++)
			if (ncs_columns[i].view == view)
				emit_item(page, ncs_columns[i].title,
					  ncs_columns[i].help);
	}
}

static void emit_losses(struct help_page *page)
{
	static const struct {
		const char *name;
		const char *help;
	} losses[] = {
#define X(ID, name, help) { name, help },
		NCS_LOSSES(X)
#undef X
	};

	emit_title(page, "What may be lost");
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		emit_item(page, losses[i].name, losses[i].help);
}

static void emit_all(struct help_page *page)
{
	emit_keys(page);
	emit_marks(page);
	emit_states(page);
	emit_activities(page);
	emit_losses(page);
	emit_columns(page);
}

int ncs_help_lines(int width)
{
	struct help_page page = { .width = width };

	emit_all(&page);
	return page.line;
}

void ncs_help_draw(const struct ncs_rect *rect, int top)
{
	struct help_page page = { .rect = rect,
				  .width = rect->width,
				  .top = top };

	emit_all(&page);
}

void ncs_help_act(struct ncs_screen *screen, enum ncs_action action)
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
		/* All other keys leave the help. */
		screen->help = false;
	}
}
