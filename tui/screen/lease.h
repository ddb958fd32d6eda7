/* SPDX-License-Identifier: MIT */
/* More detail for as long as this view runs: the live view's lease on what
 * processes collect.
 *
 * A lease ends by itself some seconds after it was renewed for the last time,
 * so a view that is killed leaves nothing behind (ncclstat/control_object.h). Reads no
 * clock.
 */
#ifndef NCS_TUI_SCREEN_LEASE_H
#define NCS_TUI_SCREEN_LEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/commands/targets.h"

struct ncs_lease {
	struct ncs_targets targets; /* none: it is not held */
	uint64_t holder;
	uint64_t renewed_ns;
};

bool ncs_lease_is_held(const struct ncs_lease *lease);

/* Takes it in all living processes of the model; `text` says what has come of
 * it. */
void ncs_lease_take(struct ncs_lease *lease, const struct ncs_model *model,
		    const struct ncs_target_filter *filter, uint64_t now_ns,
		    char *text, size_t size);

/* Renews it if it is time. `text` gets a sentence where it was lost somewhere,
 * else "". */
void ncs_lease_renew(struct ncs_lease *lease, uint64_t now_ns, char *text,
		     size_t size);

/* Gives it back, if it is held. */
void ncs_lease_drop(struct ncs_lease *lease);

#endif
