/* SPDX-License-Identifier: MIT */
/* --set: asks processes to collect more or less from now on, and reports their
 * answers.
 */
#ifndef NCS_TUI_COMMANDS_SET_COMMAND_H
#define NCS_TUI_COMMANDS_SET_COMMAND_H

#include <stddef.h>

#include "tui/commands/commands.h"
#include "tui/commands/targets.h"

/* Writes a change as --set reads it, e.g. "events=all,sample=default". */
void ncs_set_text(const struct ncs_change *change, char *text, size_t size);

/* Asks the processes without waiting for answers. Returns the number of
 * processes asked, and sets `text` to a sentence for the user. */
size_t ncs_set_ask(const struct ncs_model *model,
		   const struct ncs_target_filter *filter,
		   const struct ncs_change *change, char *text, size_t size);

#endif
