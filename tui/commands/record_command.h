/* SPDX-License-Identifier: MIT */
/* --record: records jobs until it is stopped, and reports the result. */
#ifndef NCS_TUI_COMMANDS_RECORD_COMMAND_H
#define NCS_TUI_COMMANDS_RECORD_COMMAND_H

#include "tui/commands/command_input.h"

/* Returns the program's exit status: NCS_EXIT_OK if something was recorded and
 * nothing went wrong. The first SIGINT, SIGTERM or SIGHUP ends the recording in
 * good order, the next one ends the program at once. */
int ncs_record_run(const struct ncs_command_input *input);

#endif
