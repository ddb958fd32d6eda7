/* SPDX-License-Identifier: MIT */
/* --export: recordings in the formats of others, to a file or to standard
 * output. */
#ifndef NCS_TUI_COMMANDS_EXPORT_COMMAND_H
#define NCS_TUI_COMMANDS_EXPORT_COMMAND_H

#include "tui/commands/command_input.h"

/* Returns the program's exit status. What is missing in what was written is said
 * on stderr. */
int ncs_export_run(const struct ncs_command_input *input);

#endif
