/* SPDX-License-Identifier: MIT */
/* --stream: the agent. */
#ifndef NCS_TUI_COMMANDS_STREAM_COMMAND_H
#define NCS_TUI_COMMANDS_STREAM_COMMAND_H

#include "tui/commands/command_input.h"

/* Runs the command; has no source. */
int ncs_stream_run(const struct ncs_command_input *input);

/* Returns a file that becomes readable when the program gets a signal to end;
 * the signals have no other effect from now on. -1 if there is none. */
int ncs_stream_stop_file(void);

#endif
