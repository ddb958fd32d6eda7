/* SPDX-License-Identifier: MIT */
/* --stream: the agent. */
#ifndef NCS_TUI_COMMANDS_STREAM_COMMAND_H
#define NCS_TUI_COMMANDS_STREAM_COMMAND_H

#include "fleet/stream/agent.h"
#include "tui/commands/commands.h"

/* Returns the settings of an agent as the options have them. Blocks the signals
 * that are to end it. */
struct ncs_agent_settings
ncs_stream_settings(const struct ncs_options *options);

/* Says why an agent has ended, if it is an error. Returns the exit status. */
int ncs_stream_end(const struct ncs_agent_result *result);

#endif
