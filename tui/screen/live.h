/* SPDX-License-Identifier: MIT */
/* The live view on a terminal: the main loop. */
#ifndef NCS_TUI_SCREEN_LIVE_H
#define NCS_TUI_SCREEN_LIVE_H

#include "analysis/base/source.h"
#include "record/replay/replay.h"
#include "tui/commands/config_file.h"
#include "tui/commands/options.h"

/* Shows a source until the user quits, --count samples were shown, or the
 * terminal is closed. `options` already include those of the configuration
 * file; `complaint` is shown at the start unless it is "". `replay` is the
 * recording to play, NULL for a live job. Returns an exit status:
 * NCS_EXIT_UNREADABLE if there was nothing but segments that cannot be read. If
 * the terminal cannot show the view, returns -errno and writes nothing to the
 * terminal. Errors are printed to stderr after the terminal is given back. */
int ncs_live_run(const struct ncs_options *options,
		 const struct ncs_config_file *config, const char *complaint,
		 struct ncs_source *source, struct ncs_replay *replay);

#endif
