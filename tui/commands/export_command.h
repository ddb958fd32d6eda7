/* SPDX-License-Identifier: MIT */
/* --export: writes recordings in another format, to a file or to standard
 * output. */
#ifndef NCS_TUI_COMMANDS_EXPORT_COMMAND_H
#define NCS_TUI_COMMANDS_EXPORT_COMMAND_H

#include "tui/commands/command_input.h"

/* Exports the recordings of `input`, and prints on stderr which data is missing
 * in the output. Returns the program's exit status. */
int ncs_export_run(const struct ncs_command_input *input);

#endif
