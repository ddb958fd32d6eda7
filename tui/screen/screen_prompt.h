/* SPDX-License-Identifier: MIT */
/* Prompts in the last line, and the search that one of them begins. Must not
 * draw. */
#ifndef NCS_TUI_SCREEN_SCREEN_PROMPT_H
#define NCS_TUI_SCREEN_SCREEN_PROMPT_H

#include "tui/screen/screen_state.h"
#include "tui/table/table.h"

/* Opens a prompt with an empty text, or the prompt of the filter with the
 * current filter. */
void ncs_prompt_open(struct ncs_screen *screen, enum ncs_prompt prompt);

/* Handles a key while a prompt is open; closes the prompt if the key does not belong
 * to it. Returns requests. */
unsigned ncs_prompt_key(struct ncs_screen *screen, int code);

/* Searches for the last text again. */
void ncs_prompt_find_again(struct ncs_screen *screen,
			   enum ncs_grid_direction direction);

/* Asks whether the configuration file may be written, unless the user agreed
 * before. Returns requests. */
unsigned ncs_prompt_keep(struct ncs_screen *screen);

#endif
