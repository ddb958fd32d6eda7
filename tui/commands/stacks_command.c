/* SPDX-License-Identifier: MIT */
/* --stacks-of: reads stacks on this machine, for --stacks elsewhere. */
#include <stdlib.h>

#include "analysis/sources/source_shm.h"
#include "fleet/stacks/read_stacks.h"
#include "tui/commands/commands.h"
#include "tui/commands/late_moments.h"
#include "tui/text/output.h"

/* Samples the first process while it is late. Returns the number of stacks. */
static size_t sample_late(struct ncs_stack *stacks,
			  const struct ncs_options *options)
{
	struct ncs_source *source = ncs_source_open_shm(options->directory,
							NULL);
	size_t count = 0;

	if (source) {
		count = ncs_late_moments_sample(stacks, source);
		source->close(source);
	}
	return count > 0 ? count : 1;
}

int ncs_stacks_of_run(const struct ncs_command_input *input)
{
	struct ncs_stack *stacks;
	size_t count = ncs_stacks_parse(input->options->stacks_of, &stacks);
	struct ncs_output output;

	if (count == 0) {
		ncs_complain("--stacks-of expects PID:START:NAMESPACE,...");
		return NCS_EXIT_USAGE;
	}
	if (!ncs_output_init(&output)) {
		free(stacks);
		return NCS_EXIT_NOTHING;
	}
	if (input->options->stacks == NCS_STACKS_LATE)
		count = sample_late(stacks, input->options);
	else
		ncs_stacks_read(stacks, count);
	for (size_t i = 0; i < count; i++) {
		ncs_stack_print(output.file, &stacks[i]);
		ncs_stack_forget(&stacks[i]);
	}
	free(stacks);
	return ncs_output_end(&output, NCS_EXIT_OK);
}
