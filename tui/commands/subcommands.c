/* SPDX-License-Identifier: MIT */
/* Commands as first words; see subcommands.h. */
#include "tui/commands/subcommands.h"

#include <string.h>
#include <unistd.h>

#include "tui/text/nearest.h"
#include "tui/text/output.h"

const struct ncs_subcommand ncs_subcommands[] = {
#define X(name, TASK, operands, option, takes, brief) \
	{ name, NCS_TASK_##TASK, operands, option, takes, brief },
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

bool ncs_subcommand_is_mistyped(int count, char **words)
{
	struct ncs_nearest nearest;
	char text[128] = "";

	/* A file of that name is a recording. */
	if (count < 2 || words[1][0] == '-' || ncs_subcommand_of(count, words) ||
	    access(words[1], F_OK) == 0)
		return false;
	ncs_nearest_begin(&nearest, words[1], strlen(words[1]));
	for (size_t i = 0; i < ncs_subcommand_count; i++)
		ncs_nearest_try(&nearest, ncs_subcommands[i].name,
				strlen(ncs_subcommands[i].name));
	ncs_nearest_append(&nearest, "ncclstat ", text, sizeof(text));
	if (!text[0])
		ncs_options_suggest(words[1], true, text, sizeof(text));
	if (!text[0])
		return false;
	ncs_complain("'%s' is no command and no recording%s (see ncclstat"
		     " --help)",
		     words[1], text);
	return true;
}
