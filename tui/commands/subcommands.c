/* SPDX-License-Identifier: MIT */
/* Commands as first words; see subcommands.h. */
#include "tui/commands/subcommands.h"

#include <string.h>

const struct ncs_subcommand ncs_subcommands[] = {
#define X(name, TASK, options, operands, option, takes, brief) \
	{ name, NCS_TASK_##TASK, options, operands, option, takes, brief },
	NCS_SUBCOMMANDS(X)
#undef X
};

const size_t ncs_subcommand_count =
	sizeof(ncs_subcommands) / sizeof(ncs_subcommands[0]);

const struct ncs_subcommand *ncs_subcommand_of(int count, char **words)
{
	for (size_t i = 0; count > 1 && i < ncs_subcommand_count; i++)
		if (strcmp(words[1], ncs_subcommands[i].name) == 0)
			return &ncs_subcommands[i];
	return NULL;
}
