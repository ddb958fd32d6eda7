/* SPDX-License-Identifier: MIT */
/* Saves the rows of the current view as a text file. */
#ifndef NCS_TUI_SCREEN_SAVE_H
#define NCS_TUI_SCREEN_SAVE_H

#include <stddef.h>
#include <time.h>

#include "tui/commands/dump_command.h"
#include "tui/screen/screen_state.h"

/* Writes a new file in the current folder, with the time in its name: a title,
 * the focus and the filter, and the rows of the view in their order with all
 * columns, as in a text dump. Never overwrites a file. Sets `path` to the
 * absolute path, even on failure. Returns 0 or -errno. */
int ncs_save_view(const struct ncs_screen *screen,
		  const struct ncs_stamp *stamp, char *path, size_t size);

#endif
