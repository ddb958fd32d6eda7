/* SPDX-License-Identifier: MIT */
/* The share of time that a rank's lateness costs the others. Private to
 * analysis/model. Pure.
 */
#ifndef NCS_ANALYSIS_MODEL_LATENESS_COST_H
#define NCS_ANALYSIS_MODEL_LATENESS_COST_H

#include "analysis/model/lateness_state.h"

/* Returns the number of recent operations that are kept, of `operations`. */
static inline size_t ncs_recent_count(uint64_t operations)
{
	return operations < NCS_LATENESS_RECENT ? (size_t)operations :
						  NCS_LATENESS_RECENT;
}

/* Returns the i-th of the recent operations, the latest first. */
static inline const struct ncs_late_part *
ncs_recent_at(const struct ncs_late_rank *late, size_t i)
{
	return &late->recent[(late->operations - 1 - i) % NCS_LATENESS_RECENT];
}

/* Returns the number of latest operations that make the cost: those of the
 * latest NCS_COST_WINDOW_NS. */
size_t ncs_costing_count(const struct ncs_late_rank *late);

/* Returns whether in none of the operations that make the cost the rank before the
 * last came from other work than its previous operation: then the job does nothing but
 * communicate. */
bool ncs_all_are_queued(const struct ncs_late_rank *late);

/* Which waits make a cost. */
enum ncs_cost_kind {
	NCS_COST_KNOWN, /* the known cost of waits; each counts once */
	/* That, without the longest wait. */
	NCS_COST_AGAIN,
	/* Their least cost: a lag may go from one operation to the next,
	 * so that only what it grows by was lost anew. */
	NCS_COST_LEAST,
	/* Their largest cost: the others may have had no work of their own
	 * in any of them, and no lag may have gone on. */
	NCS_COST_MOST,
};

/* Returns the share of the time from the first of these operations to the last
 * in which all others waited for the rank alone, in waits of at least
 * `least_ns`; negative if it is not known. */
double ncs_lateness_cost(const struct ncs_late_rank *late, uint64_t least_ns,
			 enum ncs_cost_kind kind);

/* Returns the same for collectives and transfers: the larger cost, as both may have
 * lost the same time, or that of the transfers where these make the rule. Work of other
 * hosts (cost_limits.h) is not considered. */
double ncs_seeming_cost(const struct ncs_late_rank *late, uint64_t least_ns,
			enum ncs_cost_kind kind);

#endif
