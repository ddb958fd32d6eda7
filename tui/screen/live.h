/* SPDX-License-Identifier: MIT */
/* The live view on a terminal. */
#ifndef NCS_TUI_SCREEN_LIVE_H
#define NCS_TUI_SCREEN_LIVE_H

#include "analysis/base/source.h"
#include "record/read/replay.h"
#include "tui/commands/config_file.h"
#include "tui/commands/options.h"

/* Shows the source until the user leaves, --count samples were shown, or the
 * terminal is gone. The options are those of the configuration file, too;
 * `complaint` is said at the start unless it is empty. A recording, which may
 * be NULL, is played. Returns an exit status,
 * or -errno if this terminal cannot show it; nothing has then been written to
 * it. Errors are told on stderr once the terminal is given back. */
int ncs_live_run(const struct ncs_options *options,
		 const struct ncs_config_file *config, const char *complaint,
		 struct ncs_source *source, struct ncs_replay *replay);

#endif
