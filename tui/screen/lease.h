/* SPDX-License-Identifier: MIT */
/* The live view's lease: processes collect more detail for as long as the view
 * runs.
 *
 * A lease expires some seconds after it was last renewed, so that it also ends
 * if the view is killed (ncclstat/control_object.h). Must not read a clock.
 */
#ifndef NCS_TUI_SCREEN_LEASE_H
#define NCS_TUI_SCREEN_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/commands/set_command.h"

struct ncs_lease {
	/* Processes of the lease; none if it is not held. */
	struct ncs_targets targets;
	uint64_t holder;            /* identifies this view */
	uint64_t renewed_ns;
};

/* Whether the lease is held on at least one process. */
bool ncs_lease_is_held(const struct ncs_lease *lease);

/* Takes the lease on all live processes of the model that pass the filter, and
 * prints the result as a sentence. */
void ncs_lease_take(struct ncs_lease *lease, const struct ncs_model *model,
		    const struct ncs_target_filter *filter, uint64_t now_ns,
		    char *text, size_t size);

/* Renews the lease when a renewal is due. Prints a sentence if the lease was
 * lost on a process, otherwise "". */
void ncs_lease_renew(struct ncs_lease *lease, uint64_t now_ns, char *text,
		     size_t size);

/* Gives the lease back, if it is held. */
void ncs_lease_drop(struct ncs_lease *lease);

#endif
