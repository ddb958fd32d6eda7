/* SPDX-License-Identifier: MIT */
/* --list of recordings: what is in each file, and of which ranks. */
#ifndef NCS_TUI_COMMANDS_LIST_RECORDING_H
#define NCS_TUI_COMMANDS_LIST_RECORDING_H

#include "record/read/replay.h"
#include "tui/commands/options.h"

/* Looks at every chunk, so that all damage is told. Returns the program's exit
 * status. */
int ncs_list_recording_run(const struct ncs_options *options,
			   struct ncs_replay *replay);

#endif
