/* SPDX-License-Identifier: MIT */
/* The comparison of one operation's ranks, while it is made; private to
 * analysis/model. Filled in by compare_arrivals.c.
 */
#ifndef NCS_ANALYSIS_MODEL_COMPARISON_H
#define NCS_ANALYSIS_MODEL_COMPARISON_H

#include "analysis/model/lateness_state.h"
#include "analysis/model/model.h"
#include "analysis/records/join.h"

/* An operation, and its ranks in the order of its parts. */
struct ncs_comparison {
	const struct ncs_model *model;
	const struct ncs_joined *joined;
	struct ncs_rank **ranks; /* has room for all ranks of the model */
	size_t last;   /* part that arrived last; of several, the first */
	size_t second; /* part that arrived last of all others */
	/* Time from the last but one arrival to the last; 0 if several are
	 * last. */
	uint64_t exclusive_ns;
	uint64_t error_ns; /* largest error of the time between two arrivals */
	/* The operations before it of the processes that came last and last but
	 * one; zeros if they are not known. */
	struct ncs_span before_last, before_second;
	enum ncs_late_before before;
	/* All waited so long for the data of `last`, whose kernel could begin. */
	uint64_t data_late_ns;
};

/* Returns when part i arrived. */
static inline uint64_t ncs_arrival_ns(const struct ncs_comparison *comparison,
				      size_t i)
{
	return ncs_joined_arrival_ns(comparison->joined,
				     &comparison->joined->parts[i]);
}

#endif
