/* SPDX-License-Identifier: MIT */
/* --stream: the agent. */
#ifndef NCS_TUI_COMMANDS_STREAM_COMMAND_H
#define NCS_TUI_COMMANDS_STREAM_COMMAND_H

#include "tui/commands/command_input.h"

/* Runs the command; has no source. */
int ncs_stream_run(const struct ncs_command_input *input);

#endif
