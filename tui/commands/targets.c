/* SPDX-License-Identifier: MIT */
/* The targets of requests; see targets.h. Opens control objects, but must not
 * write to them. */
#include "tui/commands/targets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/base/aliases.h"
#include "analysis/base/value_names.h"
#include "analysis/model/waits.h"

bool ncs_rank_is_of(const struct ncs_rank *rank,
		    const struct ncs_target *target)
{
	return rank->owner == target->owner &&
	       ncs_process_is_same(&rank->process, &target->process);
}

static bool is_known(const struct ncs_targets *targets,
		     const struct ncs_rank *rank)
{
	for (size_t i = 0; i < targets->count; i++)
		if (ncs_rank_is_of(rank, &targets->targets[i]))
			return true;
	return false;
}

static void fill(struct ncs_target *target, const struct ncs_rank *rank,
		 const char *directory)
{
	target->process = rank->process;
	target->owner = rank->owner;
	target->pid = ncs_rank_pid(rank);
	ncs_comm_text(&rank->now.identity, target->comm, sizeof(target->comm));
	ncs_remote_find(directory, &rank->process, rank->owner, &target->remote,
			target->why, sizeof(target->why));
}

int ncs_targets_find(struct ncs_targets *targets, const struct ncs_model *model,
		     const struct ncs_target_filter *filter)
{
	memset(targets, 0, sizeof(*targets));
	targets->targets =
		calloc(model->rank_count + 1, sizeof(*targets->targets));
	if (!targets->targets)
		return -ENOMEM;
	for (size_t i = 0; i < model->rank_count; i++) {
		const struct ncs_rank *rank = model->ranks[i];
		struct ncs_target *target = &targets->targets[targets->count];

		if (rank->now.process_gone || !ncs_rank_is_live(rank) ||
		    !ncs_comm_matches(&rank->now.identity, filter->comm) ||
		    is_known(targets, rank))
			continue;
		fill(target, rank, filter->directory);
		if (target->remote && !filter->others &&
		    ncs_remote_owner(target->remote) != geteuid()) {
			ncs_remote_close(target->remote);
			memset(target, 0, sizeof(*target));
			continue;
		}
		targets->count++;
	}
	return 0;
}

void ncs_targets_release(struct ncs_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		ncs_remote_close(targets->targets[i].remote);
	free(targets->targets);
	memset(targets, 0, sizeof(*targets));
}
