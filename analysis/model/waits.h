/* SPDX-License-Identifier: MIT */
/* Waits of ranks and their channels: which of them wait, and for how long.
 *
 * Pure. Returned pointers lead into the model and are valid until its next
 * update.
 */
#ifndef NCS_ANALYSIS_MODEL_WAITS_H
#define NCS_ANALYSIS_MODEL_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/finding_numbers.h"
#include "analysis/model/rank.h"

struct ncs_model;

/* The wait of one channel of a rank. */
struct ncs_wait {
	const struct ncs_rank *rank;
	const struct ncs_channel_view *channel; /* NULL if none waits */
	uint64_t duration_ns;
};

/* Returns when the last rank of a model ended, in ns of the clock that the source
 * gives snapshots by; 0 if one lives, if there is none, or if it is not known. */
uint64_t ncs_job_end_ns(const struct ncs_model *model);

/* Returns for how long a channel has been in its state, in ns; 0 if it is
 * idle. */
uint64_t ncs_wait_ns(const struct ncs_rank *rank,
		     const struct ncs_channel_view *channel);

/* Returns how long something that began at `since_ns` has lasted, until the end
 * of the rank if it has ended; 0 if `since_ns` is 0. */
uint64_t ncs_age_ns(const struct ncs_rank *rank, uint64_t since_ns);

/* Returns the wait of a rank's channels that has lasted longest. */
struct ncs_wait ncs_oldest_wait(const struct ncs_rank *rank);

#endif
