/* SPDX-License-Identifier: MIT */
/* Rules for combinations of options: which options a mode accepts, and whether
 * it reads recordings. Functions must read only their arguments.
 */
#ifndef NCS_TUI_COMMANDS_OPTION_RULES_H
#define NCS_TUI_COMMANDS_OPTION_RULES_H

#include "tui/commands/options.h"

/* Checks the options of a whole command line. Returns false, and sets `error`
 * to the reason, if an option would have no effect, or if files are missing or
 * not expected. */
bool ncs_option_rules_check(const struct ncs_options *options, char *error,
			    size_t error_size);

/* Checks that the argument of --columns, if any, has titles of columns of
 * views. Returns false, and sets `error` to what is expected, if it has not. */
bool ncs_option_rules_check_titles(const struct ncs_options *options,
				   char *error, size_t error_size);

#endif
