/* SPDX-License-Identifier: MIT */
/* The commands that may be the first word, such as "record", by the table in
 * ncclstat/tables/commands.def. Must not run them: each stands for an option,
 * other than run and env (run_command.h). Pure.
 */
#ifndef NCS_TUI_COMMANDS_SUBCOMMANDS_H
#define NCS_TUI_COMMANDS_SUBCOMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "ncclstat/tables/commands.def"
#include "tui/commands/options.h"

enum ncs_task {
	NCS_TASK_OTHER, /* of options that the table does not list */
#define X(ID, word, title, page) NCS_TASK_##ID,
	NCS_TASKS(X)
#undef X
		NCS_TASK_SETTINGS, /* of options that no help lists */
};

struct ncs_subcommand {
	const char *name;
	enum ncs_task task;
	const char *options; /* that it takes, as its own help shows them */
	const char *operands;
	/* The option that it stands for; NCS_OPTIONS_END if there is none. */
	enum ncs_option option;
	bool takes_operand; /* the first operand is that option's argument */
	const char *brief;
};

extern const struct ncs_subcommand ncs_subcommands[];
extern const size_t ncs_subcommand_count;

/* Returns the command of a command line, or NULL. A file of that name is meant
 * by ./NAME. */
const struct ncs_subcommand *ncs_subcommand_of(int count, char **words);

#endif
