/* SPDX-License-Identifier: MIT */
/* The longest wait of a rank, by its channels or by its launches: over
 * NVLink there are no channels.
 *
 * Pure. What is returned points into the model and is valid until its next
 * update.
 */
#ifndef NCS_ANALYSIS_MODEL_OLDEST_H
#define NCS_ANALYSIS_MODEL_OLDEST_H

#include <stdint.h>

#include "analysis/model/rank.h"
#include "analysis/model/waits.h"

struct ncs_oldest {
	const struct ncs_rank *rank; /* NULL if none waits */
	uint64_t since_ns;           /* 0 if it is not known */
	uint64_t duration_ns;        /* long from NCS_LONG_WAIT_NS on */
};

/* Returns the wait of a rank's channels that has lasted longest; if no channel
 * is busy, that of its oldest operation whose launch is known: queued, or begun
 * and not over. */
struct ncs_oldest ncs_rank_oldest(const struct ncs_rank *rank);

/* Replaces *oldest by the wait of a rank that lives, if that has lasted
 * longer. */
void ncs_oldest_add(struct ncs_oldest *oldest, const struct ncs_rank *rank);

#endif
