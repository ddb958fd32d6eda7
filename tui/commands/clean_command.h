/* SPDX-License-Identifier: MIT */
/* --clean: removes the shared memory of dead processes. */
#ifndef NCS_TUI_COMMANDS_CLEAN_COMMAND_H
#define NCS_TUI_COMMANDS_CLEAN_COMMAND_H

#include "tui/commands/command_input.h"

/* Removes the segments and control objects of dead processes, and prints their
 * paths. Returns the program's exit status. */
int ncs_clean_run(const struct ncs_command_input *input);

#endif
