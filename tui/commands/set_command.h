/* SPDX-License-Identifier: MIT */
/* --set: asks processes to collect more or less from now on, and says what has
 * come of it.
 */
#ifndef NCS_TUI_COMMANDS_SET_COMMAND_H
#define NCS_TUI_COMMANDS_SET_COMMAND_H

#include <stddef.h>

#include "tui/commands/command_input.h"
#include "tui/commands/targets.h"

/* Asks, waits up to two seconds for the answers, prints them. Returns the
 * program's exit status: NCS_EXIT_OK where every process does what it was
 * asked for. */
int ncs_set_run(const struct ncs_command_input *input);

/* Asks and does not wait: how many were asked. `text` gets a sentence for
 * people. */
size_t ncs_set_ask(const struct ncs_model *model,
		   const struct ncs_target_filter *filter,
		   const struct ncs_change *change, char *text, size_t size);

#endif
