/* SPDX-License-Identifier: MIT */
/* State of the comparison of arrivals, by rank and communicator, and
 * which clocks can be compared. Written by analysis/model/compare_arrivals.c,
 * read by analysis/model/stragglers.c; private to analysis/model.
 */
#ifndef NCS_ANALYSIS_MODEL_LATENESS_STATE_H
#define NCS_ANALYSIS_MODEL_LATENESS_STATE_H

#include "analysis/base/collective_waits.h"
#include "analysis/base/estimate.h"
#include "analysis/model/moving.h"
#include "analysis/model/slow_links.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/unlike_calls.h"

/* The work of a rank before an operation. */
enum ncs_late_before {
	NCS_BEFORE_UNKNOWN,
	NCS_BEFORE_WORK, /* work of its own */
	/* It came straight from its previous operation: when it would have been
	 * ready is not known. */
	NCS_BEFORE_QUEUED,
};

/* A rank's part in an operation in which others waited for it. */
struct ncs_late_part {
	uint64_t number;   /* sequence number */
	uint64_t ready_ns; /* when all had arrived */
	uint64_t late_ns;
	uint64_t exclusive_ns; /* 0 if the rank was not last */
	/* Its arrival after the latest of all others; negative if it came
	 * before that one. */
	int64_t lag_ns;
	uint64_t own_ns; /* as much of it as the rank took by itself */
	uint8_t before;  /* enum ncs_late_before, of the last rank but one */
	uint64_t cause_ns[NCS_LATE_CAUSE_COUNT];
	uint64_t error_ns; /* of clocks */
	uint8_t function;
	uint8_t moment; /* enum ncs_moment by which it was compared */
	/* It came last to have data to send, and when its kernel began is not
	 * known. */
	bool kernel_is_unknown;
};

/* Number of latest operations whose time on the GPU is kept of a rank from one
 * update to the next. */
#define NCS_SPANS NCS_LATENESS_RECENT

/* The time of an operation on its stream or, where that is not known, in the
 * hands of the proxy thread; the proxy thread sees the end late. */
struct ncs_span {
	uint32_t operation; /* number, as in its part */
	uint64_t begin_ns;
	uint64_t first_end_ns; /* it did not end before this time */
	uint64_t end_ns;
	/* It waited for no other rank, and none for it: when it came is no part of any
	 * comparison. */
	bool is_free;
};

/* The times in which all operations are known. */
struct ncs_known_past {
	/* All that ended after this time are kept … */
	uint64_t from_ns;
	/* … but for those whose records were lost since the update before. */
	uint64_t lost_from_ns, lost_until_ns; /* 0: none */
};

/* Operations of a rank that were compared. */
struct ncs_late_ring {
	struct ncs_late_part recent[NCS_LATENESS_RECENT]; /* in rotation */
	uint64_t operations; /* those in which others waited for it */
};

/* The lateness of one rank. */
struct ncs_late_rank {
	struct ncs_lateness_count count;
	struct ncs_span *spans; /* nearly by end */
	size_t span_count, span_capacity;
	size_t corrected; /* place of the span that was corrected last */
	struct ncs_known_past past; /* of these spans … */
	/* … and of those of the other ranks of the process */
	struct ncs_known_past past_of_others;
	struct ncs_late_ring collectives;
	struct ncs_late_ring *transfers; /* NULL if it has none */
	uint64_t last;       /* operations in which it came last … */
	uint64_t queued; /* … and the others came straight from another one */
	/* [0]: of operations that are not queued, [1]: of queued ones. */
	uint64_t cause_ns[2][NCS_LATE_CAUSE_COUNT];
	uint64_t error_ns; /* the largest one */
	uint64_t first_ns; /* when all had arrived at the first operation */
	uint64_t longest_host_ns; /* all waited for its host alone at most */
	struct ncs_distribution late;
	struct ncs_distribution
		exclusive; /* of operations at which it was last */
	struct ncs_lateness_view view;
	/* The view's waited_share as of all operations, compared or not. */
	double waited_in_all;
	bool is_viewed;          /* whether the view is up to date */
	uint64_t transfer_count; /* sends and receives to other ranks … */
	uint64_t unnumbered;     /* … and those that have no number */
	/* Where its cost is kept, and the number of its process there, from 1. */
	struct ncs_costs *costs;
	uint32_t process;
	struct ncs_seen_numbers numbers[NCS_FUNCTION_COUNT];
};

/* Returns the number of a rank's operations in which others waited for it. */
static inline uint64_t ncs_late_operations(const struct ncs_late_rank *late)
{
	return late->collectives.operations +
	       (late->transfers ? late->transfers->operations : 0);
}

/* An operation of a communicator: how far apart its ranks arrived. */
struct ncs_skew_part {
	uint64_t skew_ns;
	uint64_t error_ns; /* of clocks */
	uint64_t moving_ns, moving_error_ns;
	bool is_moving;
};

/* The operations of one communicator. */
struct ncs_skew_state {
	char key[sizeof(((struct ncs_communicator *)NULL)->key)];
	bool is_there; /* whether the latest update has the communicator */
	struct ncs_join *join; /* of its ranks' parts, by their clock */
	struct ncs_skew_part recent[NCS_LATENESS_RECENT]; /* in rotation */
	struct ncs_moving moving;
	struct ncs_link_kinds links;
	struct ncs_unlike_calls unlike;
	struct ncs_skew view;
	bool is_viewed; /* whether the view is up to date */
};

/* The states of all communicators of a model. */
struct ncs_skews {
	struct ncs_skew_state **states;
	size_t count, capacity;
	struct ncs_costs *costs; /* NULL if nothing was joined */
};

/* Returns the number of recent operations that are kept, of `operations`. */
static inline size_t ncs_recent_count(uint64_t operations)
{
	return operations < NCS_LATENESS_RECENT ? (size_t)operations :
						  NCS_LATENESS_RECENT;
}

/* Returns the time from `from_ns` to `until_ns`; 0 if `until_ns` is earlier. */
static inline uint64_t ncs_time_since(uint64_t from_ns, uint64_t until_ns)
{
	return until_ns > from_ns ? until_ns - from_ns : 0;
}

#endif
