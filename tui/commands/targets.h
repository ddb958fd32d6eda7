/* SPDX-License-Identifier: MIT */
/* The processes that are asked to collect something else, and their control
 * objects.
 *
 * Part of the program's only way to change anything; see tui/commands/set_command.h and
 * tui/screen/lease.h.
 */
#ifndef NCS_TUI_COMMANDS_TARGETS_H
#define NCS_TUI_COMMANDS_TARGETS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/model/model.h"
#include "shm/read/remote.h"

/* A process that lives, by its first rank. */
struct ncs_target {
	struct ncs_process process;
	char comm[128]; /* what its first communicator is called; raw */
	struct ncs_remote *remote; /* NULL: it cannot be asked, and why */
	char why[160];
};

struct ncs_targets {
	struct ncs_target *targets;
	size_t count;
};

/* Which ones. */
struct ncs_target_filter {
	const char *directory; /* NULL: the default */
	const char *comm; /* a pattern for a communicator's name or id; NULL:
			     any */
	bool others;      /* also processes of other users, as far as we may */
};

/* Those of the model that match and whose process lives. 0 or -ENOMEM;
 * released in either case with ncs_targets_release(). */
int ncs_targets_find(struct ncs_targets *targets, const struct ncs_model *model,
		     const struct ncs_target_filter *filter);
void ncs_targets_release(struct ncs_targets *targets);

/* Whether the rank is one of this process. */
bool ncs_rank_is_of(const struct ncs_rank *rank,
		    const struct ncs_target *target);

#endif
