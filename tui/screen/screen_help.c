/* SPDX-License-Identifier: MIT */
/* The help screen; see screen_pages.h. The text is generated from the tables of
 * keys, columns, states and losses, so that it cannot contradict the program.
 *
 * The text is generated again for each frame: one pass emits line after line,
 * and draws the lines that are on the screen.
 */
#include "tui/screen/screen_pages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/value_names.h"
#include "analysis/model/waits.h"
#include "tui/term/wrap.h"
#include "tui/term/keys.h"
#include "tui/text/words.h"

#define NAME_WIDTH 14
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Destination of the lines. */
struct help_page {
	const struct ncs_rect *rect; /* NULL if the lines are only counted */
	int width;
	int top;
	int line;
	int own; /* lines of the view's own pages */
	/* Text that is looked for from a line on; "" for none. Of the lines that
	 * begin what has it: the last before that line, the first from it on, the
	 * first behind it, and the first and the last of all; -1 for none. */
	const char *search;
	int from;
	int before, here, behind, first, last;
};

/* Notes that something begins on this line, and has the text or not. Returns
 * whether it has. */
static bool look_at(struct help_page *page, const char *text)
{
	if (!page->search[0] || !strcasestr(text, page->search))
		return false;
	if (page->line < page->from)
		page->before = page->line;
	if (page->line >= page->from && page->here < 0)
		page->here = page->line;
	if (page->line > page->from && page->behind < 0)
		page->behind = page->line;
	if (page->first < 0)
		page->first = page->line;
	page->last = page->line;
	return true;
}

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
	if (page->line > page->own)
		page->line++;
	emit(page, 0,
	     look_at(page, title) ? NCS_ROLE_HIGHLIGHT : NCS_ROLE_STRONG,
	     title);
	page->line++;
}

static void emit_item(struct help_page *page, const char *name,
		      const char *help)
{
	bool by_name = look_at(page, name), by_help = look_at(page, help);

	emit(page, 1, by_name ? NCS_ROLE_HIGHLIGHT : NCS_ROLE_LABEL, name);
	emit_wrapped(page, NAME_WIDTH + 2,
		     by_help ? NCS_ROLE_HIGHLIGHT : NCS_ROLE_TEXT, help);
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
	emit_item(page, ">", "the others wait for it, directly or not");
	emit_item(page, "!", "waiting for more than 1 s, or dead");
	emit_item(page, "*", "silent, lossy, unreadable, or of a dead rank");
	emit_item(page, "#", "tagged");
	emit_item(page, "+ -",
		  "level ranks, in one row if not all fit: + closed, - open;"
		  " Enter opens and closes");
}

/* Emits the letters of activities from `from` to before `end`. */
static void emit_letters_of(struct help_page *page, unsigned from, unsigned end)
{
	char name[32];

	for (unsigned i = from; i < end; i++) {
		snprintf(name, sizeof(name), "%c %s", ncs_activities[i].letter,
			 ncs_activities[i].label);
		emit_item(page, name, ncs_activities[i].help);
	}
}

static void emit_channel_states(struct help_page *page)
{
	emit_letters_of(page, NCS_ACTIVITY_CHANNEL, NCS_ACTIVITY_PROXY);
}

static void emit_proxy_states(struct help_page *page)
{
	emit_letters_of(page, NCS_ACTIVITY_PROXY, NCS_ACTIVITY_COUNT);
}

static void emit_activities(struct help_page *page)
{
	emit_letters_of(page, 0, NCS_ACTIVITY_CHANNEL);
}

/* Emits the columns of a view; of those of the table, if there is one, only the
 * ones that it shows. */
static void emit_columns(struct help_page *page, enum ncs_view view,
			 const struct ncs_grid *table)
{
	for (size_t i = 0; i < ncs_column_count; i++)
		if (ncs_columns[i].view == view &&
		    (!table || ncs_column_is_shown(&ncs_columns[i],
						   table->level,
						   table->choices)))
			emit_item(page, ncs_columns[i].title,
				  ncs_columns[i].help);
}

static void emit_losses(struct help_page *page)
{
	emit_title(page, "What may be lost");
	for (unsigned i = 0; i < NCS_LOSS_COUNT; i++)
		emit_item(page, ncs_loss_name(i), ncs_loss_help(i));
}

/* Emits the words of the ranks' waits: those of channels, and of launches where
 * there are none. */
static void emit_waits(struct help_page *page)
{
	emit_title(page, "WAITS-FOR, of a channel");
	for (unsigned i = 0; i < NCS_CHANNEL_STATE_COUNT; i++)
		emit_item(page, ncs_channel_state_label(i),
			  ncs_channel_state_help(i));
	emit_title(page, "WAITS-FOR, without channels: of an operation");
	for (unsigned i = 0; i < NCS_LAUNCH_WAIT_COUNT; i++)
		emit_item(page, ncs_launch_wait_name(i),
			  ncs_launch_wait_help(i));
}

/* --- The page of a view --------------------------------------------------- */

/* Emits the letters that a view has, besides the marks in front of its rows. */
static void emit_letters(struct help_page *page, enum ncs_view view)
{
	switch (view) {
	case NCS_VIEW_CHANNEL:
		emit_channel_states(page);
		break;
	case NCS_VIEW_PROXY:
		emit_proxy_states(page);
		break;
	case NCS_VIEW_TIMELINE:
		emit_channel_states(page);
		emit_activities(page);
		break;
	default:
		break;
	}
}

static const struct ncs_key *key_of(unsigned action)
{
	return &ncs_keys[action - 1]; /* no key is for NCS_ACTION_NONE */
}

/* Emits what a key does as one line: the first clause of its help. */
static void emit_key(struct help_page *page, enum ncs_action action)
{
	const struct ncs_key *key = key_of(action);
	char text[128];

	snprintf(text, sizeof(text), "%.*s", (int)strcspn(key->help, ";."),
		 key->help);
	ncs_format_clip(text, (unsigned)(page->width > NAME_WIDTH + 12 ?
						 page->width - NAME_WIDTH - 2 :
						 10));
	emit_item(page, key->keys, text);
}

/* Emits the keys that have a meaning in a view, in one page of a usual
 * terminal. */
static void emit_view_keys(struct help_page *page,
			   const struct ncs_screen *screen)
{
	static const enum ncs_action of_tables[] = {
		NCS_ACTION_SEARCH,	NCS_ACTION_FILTER,
		NCS_ACTION_NEXT_ABNORMAL, NCS_ACTION_SORT_NEXT,
		NCS_ACTION_TREE,	NCS_ACTION_TAG,
		NCS_ACTION_FOLLOW,	NCS_ACTION_WINDOW,
		NCS_ACTION_LEVEL_MORE,	NCS_ACTION_IDLE,
	};
	static const enum ncs_action of_timeline[] = {
		NCS_ACTION_LEFT,     NCS_ACTION_RIGHT,
		NCS_ACTION_ZOOM_IN,  NCS_ACTION_ZOOM_OUT,
		NCS_ACTION_PAN_BACK, NCS_ACTION_PAN_ON,
		NCS_ACTION_FILTER,
	};
	static const enum ncs_action of_recordings[] = {
		NCS_ACTION_STEP_ON,
		NCS_ACTION_FASTER,
		NCS_ACTION_GO,
		NCS_ACTION_GO_ABNORMAL,
	};
	static const enum ncs_action of_all[] = {
		NCS_ACTION_PAUSE, NCS_ACTION_SAVE, NCS_ACTION_DETAIL,
		NCS_ACTION_SETUP, NCS_ACTION_QUIT,
	};
	bool is_timeline = screen->view == NCS_VIEW_TIMELINE;
	const enum ncs_action *own = is_timeline ? of_timeline : of_tables;
	size_t count = is_timeline ? COUNT(of_timeline) : COUNT(of_tables);

	emit_item(page, "1 to 9, Tab", "the other views");
	emit_item(page, key_of(NCS_ACTION_ENTER)->keys,
		  ncs_views[ncs_screen_tab_of(screen->view)].enter);
	emit_key(page, NCS_ACTION_BACK);
	if (screen->view == NCS_VIEW_FINDING)
		emit_key(page, NCS_ACTION_STACKS);
	if (ncs_screen_tab_of(screen->view) == NCS_VIEW_COLLECTIVE)
		emit_key(page, NCS_ACTION_SIZES);
	for (size_t i = 0; i < count; i++)
		emit_key(page, own[i]);
	for (size_t i = 0; screen->replay && i < COUNT(of_recordings); i++)
		emit_key(page, of_recordings[i]);
	for (size_t i = 0; i < COUNT(of_all); i++)
		emit_key(page, of_all[i]);
}

static void emit_page(struct help_page *page, const struct ncs_screen *screen)
{
	const struct ncs_grid *table = &screen->tables[screen->view];
	unsigned tab = ncs_screen_tab_of(screen->view);
	char title[400];

	snprintf(title, sizeof(title), "Columns of %s",
		 ncs_views[screen->view].full);
	emit_wrapped(page, 0, NCS_ROLE_STRONG,
		     key_of(NCS_ACTION_VIEW_RANK + tab)->help);
	emit_view_keys(page, screen);
	emit_title(page, "Letters and marks");
	emit_letters(page, screen->view);
	if (screen->view != NCS_VIEW_TIMELINE) {
		emit_marks(page);
		emit_title(page, title);
		emit_columns(page, screen->view, table);
	}
	if (screen->view == NCS_VIEW_RANK)
		emit_waits(page);
}

/* --- All the rest --------------------------------------------------------- */

static void emit_rest(struct help_page *page)
{
	emit_keys(page);
	emit_title(page, "Marks in front of a row");
	emit_marks(page);
	emit_title(page, "What a channel waits for");
	emit_channel_states(page);
	emit_title(page, "What a proxy thread does");
	emit_proxy_states(page);
	emit_title(page, "What else a lane of the timeline does");
	emit_activities(page);
	emit_losses(page);
	for (unsigned view = 0; view < NCS_VIEW_COUNT; view++) {
		char title[64];

		snprintf(title, sizeof(title), "All columns of %s",
			 ncs_views[view].full);
		emit_title(page, title);
		emit_columns(page, (enum ncs_view)view, NULL);
	}
}

/* Returns a number of lines that is made up to whole pages. */
static int full_pages(const struct ncs_screen *screen, int lines)
{
	int height = screen->help_page > 0 ? screen->help_page : 1;

	return (lines + height - 1) / height * height;
}

static void emit_lines(struct help_page *page, const char *text)
{
	char line[512];

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(text, "\n"),
			 text);
		emit(page, 0,
		     look_at(page, line) ? NCS_ROLE_HIGHLIGHT : NCS_ROLE_TEXT,
		     line);
		page->line++;
	}
}

void ncs_help_open(struct ncs_screen *screen, char *stacks)
{
	free(screen->stacks);
	screen->stacks = stacks;
	screen->help = true;
	screen->help_top = 0;
	screen->help_search[0] = '\0';
}

/* Emits all, with the lines to be drawn if there is a rectangle. */
static struct help_page emit_all(const struct ncs_screen *screen,
				 const struct ncs_rect *rect, int width)
{
	struct help_page page = {
		.rect = rect,
		.width = width,
		.top = screen->help_top,
		.search = screen->help_search,
		.from = screen->help_found,
		.before = -1,
		.here = -1,
		.behind = -1,
		.first = -1,
		.last = -1,
	};

	if (screen->stacks) {
		emit_lines(&page, screen->stacks);
		page.own = page.line = full_pages(screen, page.line);
		return page;
	}
	emit_page(&page, screen);
	page.own = full_pages(screen, page.line);
	page.line = page.own;
	emit_rest(&page);
	page.line = full_pages(screen, page.line);
	return page;
}

void ncs_help_place(const struct ncs_screen *screen, int width, char *text,
		    size_t size)
{
	struct help_page page = emit_all(screen, NULL, width);
	int height = screen->help_page;
	bool is_own = screen->help_top < page.own;
	int first = is_own ? 0 : page.own / height;
	int last = (is_own ? page.own : page.line) / height;

	snprintf(text, size, "%s %d/%d",
		 screen->stacks ? "stacks" :
		 is_own ? ncs_views[screen->view].full :
			  "all the rest",
		 screen->help_top / height + 1 - first, last - first);
}

int ncs_help_lines(const struct ncs_screen *screen, int width)
{
	return emit_all(screen, NULL, width).line;
}

void ncs_help_draw(const struct ncs_screen *screen, const struct ncs_rect *rect)
{
	emit_all(screen, rect, rect->width);
}

bool ncs_help_find(struct ncs_screen *screen, enum ncs_grid_direction direction)
{
	struct help_page page = emit_all(screen, NULL, ncs_term_width());
	int found = direction == NCS_HERE    ? page.here :
		    direction == NCS_FORWARD ? page.behind :
					       page.before;

	if (found < 0)
		found = direction == NCS_BACKWARD ? page.last : page.first;
	if (found < 0)
		return false;
	screen->help_found = found;
	screen->help_top = found;
	return true;
}

bool ncs_help_act(struct ncs_screen *screen, enum ncs_action action)
{
	int page = screen->help_page > 0 ? screen->help_page : 1;

	switch (action) {
	case NCS_ACTION_UP:
		screen->help_top--;
		break;
	case NCS_ACTION_DOWN:
		screen->help_top++;
		break;
	case NCS_ACTION_PAGE_UP:
		screen->help_top = (screen->help_top - 1) / page * page;
		break;
	case NCS_ACTION_PAGE_DOWN:
	case NCS_ACTION_TAG: /* Space, as pagers have it */
		screen->help_top = (screen->help_top / page + 1) * page;
		break;
	case NCS_ACTION_FIRST:
		screen->help_top = 0;
		break;
	case NCS_ACTION_LAST:
		screen->help_top = ncs_help_lines(screen, ncs_term_width());
		break;
	case NCS_ACTION_SEARCH_NEXT:
		return ncs_help_find(screen, NCS_FORWARD);
	case NCS_ACTION_SEARCH_PREVIOUS:
		return ncs_help_find(screen, NCS_BACKWARD);
	default:
		/* All other keys leave the help. */
		screen->help = false;
	}
	return true;
}
