/* SPDX-License-Identifier: MIT */
/* The view on the screen, as a text file of its own. */
#ifndef NCS_TUI_SCREEN_SAVE_H
#define NCS_TUI_SCREEN_SAVE_H

#include <stddef.h>
#include <time.h>

#include "tui/commands/dump_command.h"
#include "tui/screen/screen_state.h"

/* Prints a title, what is limited, and the rows that the view has now, in
 * their order, with all columns: the table of a text dump. 0 or -ENOMEM. */
int ncs_save_print(FILE *file, const struct ncs_screen *screen,
		   const struct ncs_stamp *stamp);

/* Prints it to a new file in the current folder, with the time in its name;
 * `path` gets the whole path. Nothing that is there is written over. 0 or
 * -errno. */
int ncs_save_view(const struct ncs_screen *screen,
		  const struct ncs_stamp *stamp, char *path, size_t size);

#endif
