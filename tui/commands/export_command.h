/* SPDX-License-Identifier: MIT */
/* --export: recordings in the formats of others, to a file or to standard
 * output. */
#ifndef NCS_TUI_COMMANDS_EXPORT_COMMAND_H
#define NCS_TUI_COMMANDS_EXPORT_COMMAND_H

#include "record/read/replay.h"
#include "tui/commands/options.h"

/* Returns the program's exit status. What is missing in what was written is said
 * on stderr. */
int ncs_export_run(const struct ncs_options *options, struct ncs_source *source,
		   struct ncs_replay *replay);

#endif
