/* SPDX-License-Identifier: MIT */
/* Rules for options that go together: which options a mode takes, and whether it
 * reads recordings. Must look at its arguments only.
 */
#ifndef NCS_TUI_COMMANDS_OPTION_RULES_H
#define NCS_TUI_COMMANDS_OPTION_RULES_H

#include "tui/commands/options.h"

/* Checks the options of a whole command line. False if one of them would be
 * ignored, or if files are missing or not expected; `error` says why. */
bool ncs_option_rules_check(const struct ncs_options *options, char *error,
			    size_t error_size);

#endif
