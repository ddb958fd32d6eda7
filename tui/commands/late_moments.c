/* SPDX-License-Identifier: MIT */
/* When a process is late, by a model of its own; see late_moments.h. */
#include "tui/commands/late_moments.h"

#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "shm/clock.h"

struct late_process {
	struct ncs_model model;
	struct ncs_source *source;
	uint32_t pid;
};

static bool wants_no_records(const void *context, const char *id)
{
	(void)context;
	(void)id;
	return false;
}

static uint64_t lateness(void *context)
{
	struct late_process *process = context;
	struct ncs_model *model = &process->model;
	struct ncs_progress progress;
	bool is_behind = false;
	uint64_t calls = 1;

	ncs_model_update(model, process->source, ncs_clock_monotonic_ns());
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];

		if (ncs_rank_pid(rank) != process->pid || !rank->communicator)
			continue;
		if (rank->now.operation_count > 0)
			return 0;
		for (unsigned k = 0; k < NCS_FUNCTION_COUNT; k++) {
			const struct ncs_function_view *function =
				&rank->now.functions[k];

			calls += function->operations;
			ncs_communicator_progress(rank->communicator, k,
						  &progress);
			is_behind |= function->last_sequence_number <
				     progress.most;
		}
	}
	return is_behind ? calls : 0;
}

size_t ncs_late_moments_sample(struct ncs_stack stacks[NCS_LATE_STACKS_MAX],
			       struct ncs_source *source)
{
	struct late_process process = { .source = source,
					.pid = stacks[0].pid };
	size_t count;

	source->wants_records = wants_no_records;
	ncs_model_init(&process.model);
	count = ncs_stacks_sample_late(stacks, lateness, &process);
	ncs_model_release(&process.model);
	return count;
}
