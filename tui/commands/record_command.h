/* SPDX-License-Identifier: MIT */
/* --record: records jobs until it is stopped, and prints the result. */
#ifndef NCS_TUI_COMMANDS_RECORD_COMMAND_H
#define NCS_TUI_COMMANDS_RECORD_COMMAND_H

#include "tui/commands/command_input.h"

/* Records jobs. Returns the program's exit status: NCS_EXIT_OK if something was
 * recorded without errors. The first SIGINT, SIGTERM or SIGHUP completes and
 * ends the recording, the next one ends the program immediately. */
int ncs_record_run(const struct ncs_command_input *input);

#endif
