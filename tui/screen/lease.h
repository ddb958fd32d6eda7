/* SPDX-License-Identifier: MIT */
/* The live view's lease: processes collect more detail for as long as the view
 * runs.
 *
 * A lease expires some seconds after it was last renewed, so a view that is
 * killed leaves nothing behind (ncclstat/control_object.h). Reads no clock.
 */
#ifndef NCS_TUI_SCREEN_LEASE_H
#define NCS_TUI_SCREEN_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/commands/targets.h"

struct ncs_lease {
	struct ncs_targets targets; /* its processes; none if not held */
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

/* Renews the lease if that is due. Prints a sentence if it was lost on a
 * process, else "". */
void ncs_lease_renew(struct ncs_lease *lease, uint64_t now_ns, char *text,
		     size_t size);

/* Gives the lease back, if it is held. */
void ncs_lease_drop(struct ncs_lease *lease);

#endif
