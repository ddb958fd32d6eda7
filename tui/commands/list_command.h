/* SPDX-License-Identifier: MIT */
/* --list: prints the existing segments, or the contents of recordings. */
#ifndef NCS_TUI_COMMANDS_LIST_COMMAND_H
#define NCS_TUI_COMMANDS_LIST_COMMAND_H

#include "tui/commands/command_input.h"

/* Prints one line for each segment, or lists the recordings. Returns the
 * program's exit status. */
int ncs_list_run(const struct ncs_command_input *input);

#endif
