/* SPDX-License-Identifier: MIT */
/* Prompts in the last line; see screen_actions.h. */
#include "tui/screen/screen_actions.h"

#include <stdio.h>
#include <string.h>

#include "tui/screen/screen_pages.h"
#include "tui/table/row_query.h"
#include "tui/table/table.h"
#include "tui/term/curses.h"
#include "tui/term/keys.h"

#define ESCAPE 27

unsigned ncs_prompt_keep(struct ncs_screen *screen)
{
	if (!screen->config_path[0]) {
		ncs_screen_say(screen,
			       "there is no configuration file to write to");
		return 0;
	}
	if (screen->may_write)
		return NCS_REQUEST_KEEP;
	screen->prompt = NCS_PROMPT_KEEP;
	return 0;
}

/* Handles the answer to whether the file may be written, or processes may pause:
 * all keys but y mean no. */
static unsigned answer(struct ncs_screen *screen, int code)
{
	bool is_yes = code == 'y' || code == 'Y';
	enum ncs_prompt prompt = screen->prompt;

	screen->prompt = NCS_PROMPT_NONE;
	if (prompt == NCS_PROMPT_STACKS)
		return is_yes ? NCS_REQUEST_STACKS : 0;
	screen->may_write = is_yes;
	if (screen->may_write)
		return NCS_REQUEST_KEEP;
	ncs_screen_say(screen, "nothing was written");
	return 0;
}

/* Remembers the selected row, to go back to it. */
static void remember_selected(struct ncs_screen *screen)
{
	const struct ncs_grid_row *row = ncs_screen_selected(screen);

	screen->selected_before = (struct ncs_grid_key){ 0 };
	if (row)
		ncs_grid_row_key(row, &screen->selected_before);
}

static void select_before(struct ncs_screen *screen)
{
	ncs_grid_select_key(ncs_screen_table(screen), &screen->selected_before);
}

void ncs_prompt_open(struct ncs_screen *screen, enum ncs_prompt prompt)
{
	screen->prompt = prompt;
	remember_selected(screen);
	screen->help_before = screen->help_top;
	screen->typed[0] = '\0';
	screen->finds_nothing = false;
	if (prompt == NCS_PROMPT_FILTER)
		snprintf(screen->typed, sizeof(screen->typed), "%s",
			 screen->filter);
}

/* Applies a changed text immediately, unless it affects more than this view. */
static void typed(struct ncs_screen *screen)
{
	if (screen->prompt == NCS_PROMPT_SEARCH) {
		select_before(screen);
		screen->finds_nothing =
			screen->typed[0] &&
			!ncs_grid_search(ncs_screen_table(screen),
					 screen->typed, NCS_HERE);
		return;
	}
	if (screen->prompt == NCS_PROMPT_HELP) {
		snprintf(screen->help_search, sizeof(screen->help_search), "%s",
			 screen->typed);
		screen->help_top = screen->help_before;
		screen->help_found = screen->help_before;
		ncs_help_find(screen, NCS_HERE);
		return;
	}
	if (screen->prompt == NCS_PROMPT_SET || screen->prompt == NCS_PROMPT_GO)
		return;
	snprintf(screen->filter, sizeof(screen->filter), "%s", screen->typed);
	ncs_screen_build(screen);
}

static void close_prompt(struct ncs_screen *screen)
{
	if (screen->prompt == NCS_PROMPT_SEARCH)
		snprintf(screen->search, sizeof(screen->search), "%s",
			 screen->typed);
	screen->prompt = NCS_PROMPT_NONE;
}

/* Handles Esc: a search restores the selection, a filter is cleared, other
 * prompts have no effect. */
static void cancel_prompt(struct ncs_screen *screen)
{
	if (screen->prompt == NCS_PROMPT_SEARCH)
		select_before(screen);
	else if (screen->prompt == NCS_PROMPT_FILTER)
		screen->filter[0] = '\0';
	else if (screen->prompt == NCS_PROMPT_HELP) {
		screen->help_top = screen->help_before;
		screen->help_search[0] = '\0';
	}
	screen->prompt = NCS_PROMPT_NONE;
	ncs_screen_build(screen);
}

/* Erases the last character, which may be several bytes. */
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

void ncs_prompt_find_again(struct ncs_screen *screen,
			   enum ncs_grid_direction direction)
{
	const char *text = screen->prompt == NCS_PROMPT_SEARCH ? screen->typed :
								 screen->search;

	if (!text[0])
		ncs_screen_say(screen,
			       "nothing to search for: / starts a search");
	else if (!ncs_grid_search(ncs_screen_table(screen), text, direction))
		ncs_screen_say(screen,
			       "no row matches \"%s\"; try"
			       " " NCS_ROW_QUERY_EXAMPLES,
			       text);
	else
		remember_selected(screen);
}

/* Handles a key that edits the text. Returns false for any other key. */
static bool edit(struct ncs_screen *screen, int code)
{
	code = ncs_key_normalize(code);
	if (code == KEY_ENTER)
		close_prompt(screen);
	else if (code == ESCAPE)
		cancel_prompt(screen);
	else if (code == KEY_BACKSPACE)
		erase_typed(screen);
	else if (code == KEY_F(3) && screen->prompt == NCS_PROMPT_SEARCH)
		ncs_prompt_find_again(screen, NCS_FORWARD);
	else if (code >= ' ' && code < 0x100)
		type(screen, code);
	else
		return false;
	return true;
}

/* Handles Enter for prompts whose text takes effect only then. */
static unsigned entered(struct ncs_screen *screen, enum ncs_prompt prompt)
{
	if (prompt == NCS_PROMPT_GO)
		return ncs_replay_go_typed(screen);
	return prompt == NCS_PROMPT_SET ? NCS_REQUEST_SET : 0;
}

unsigned ncs_prompt_key(struct ncs_screen *screen, int code)
{
	enum ncs_prompt prompt = screen->prompt;
	bool enters = ncs_key_normalize(code) == KEY_ENTER && screen->typed[0];

	if (prompt == NCS_PROMPT_NONE)
		return NCS_REQUEST_USUAL;
	if (prompt == NCS_PROMPT_KEEP || prompt == NCS_PROMPT_STACKS)
		return answer(screen, code);
	if (!edit(screen, code)) {
		close_prompt(screen);
		return NCS_REQUEST_USUAL;
	}
	return enters ? entered(screen, prompt) : 0;
}
