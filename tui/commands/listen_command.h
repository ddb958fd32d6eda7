/* SPDX-License-Identifier: MIT */
/* --listen: answers Prometheus with metrics, by HTTP. Looks at the jobs only
 * when it is asked, and not more often than NCS_LISTEN_LEAST_NS. */
#ifndef NCS_TUI_COMMANDS_LISTEN_COMMAND_H
#define NCS_TUI_COMMANDS_LISTEN_COMMAND_H

#include "tui/commands/command_input.h"

/* Between two looks, at least: a request that comes earlier sees the latest. */
#define NCS_LISTEN_LEAST_NS UINT64_C(500000000)

/* Runs until a signal comes. Returns the program's exit status. */
int ncs_listen_run(const struct ncs_command_input *input);

#endif
