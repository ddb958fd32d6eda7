/* SPDX-License-Identifier: MIT */
/* Operations in which other ranks wait for a rank that has not arrived yet.
 * Pure. */
#ifndef NCS_ANALYSIS_MODEL_LATE_NOW_H
#define NCS_ANALYSIS_MODEL_LATE_NOW_H

#include "analysis/model/rank.h"

/* The operation that other ranks have waited in for longest. */
struct ncs_late_now {
	uint64_t late_ns; /* lateness so far, at least; 0 if no rank waits */
	unsigned function;
	uint64_t number; /* sequence number */
	size_t waiting;  /* ranks that wait */
};

/* Fills in the operation for which a rank is late now. */
void ncs_rank_late_now(const struct ncs_rank *rank, struct ncs_late_now *now);

#endif
