/* SPDX-License-Identifier: MIT */
/* --record: records until told to stop, and says what came of it. */
#ifndef NCS_TUI_COMMANDS_RECORD_COMMAND_H
#define NCS_TUI_COMMANDS_RECORD_COMMAND_H

#include "tui/commands/command_input.h"

/* Returns the program's exit status: NCS_EXIT_OK where something was recorded
 * and nothing went wrong. The first SIGINT, SIGTERM or SIGHUP ends it in good
 * order, the next one at once. */
int ncs_record_run(const struct ncs_command_input *input);

#endif
