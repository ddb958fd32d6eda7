/* SPDX-License-Identifier: MIT */
/* Who waits, and for how long.
 *
 * Pure: reads the model. What is returned points into it and is valid until
 * its next update.
 */
#ifndef NCS_ANALYSIS_MODEL_WAITS_H
#define NCS_ANALYSIS_MODEL_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"

/* A wait that is longer than this is worth a look. */
#define NCS_LONG_WAIT_NS UINT64_C(1000000000)

struct ncs_wait {
	const struct ncs_rank *rank;
	const struct ncs_channel_view *channel; /* NULL: none waits */
	uint64_t duration_ns;
};

/* Whether a rank can still move: it is neither dead nor finished. */
bool ncs_rank_is_live(const struct ncs_rank *rank);

/* How long a channel has been in its state; 0 if it is idle. */
uint64_t ncs_wait_ns(const struct ncs_rank *rank,
		     const struct ncs_channel_view *channel);

/* The wait of a rank that has lasted longest. */
struct ncs_wait ncs_oldest_wait(const struct ncs_rank *rank);

#endif
