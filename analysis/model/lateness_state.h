/* SPDX-License-Identifier: MIT */
/* The comparison of arrivals, operation by operation (compare_arrivals.c), what is
 * kept of it by rank (spans.c), communicator and process (costs.c), and read by
 * stragglers.c. Private to analysis/model. Memory is bounded. Must do no I/O.
 */
#ifndef NCS_ANALYSIS_MODEL_LATENESS_STATE_H
#define NCS_ANALYSIS_MODEL_LATENESS_STATE_H

#include "analysis/base/collective_waits.h"
#include "analysis/base/estimate.h"
#include "analysis/cost/cost.h"
#include "analysis/model/moving.h"
#include "analysis/model/slow_links.h"
#include "analysis/model/stragglers.h"
#include "analysis/model/unlike_calls.h"
#include "analysis/records/join.h"

struct ncs_model;

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
	/* All that ended after this time are known: of these spans … */
	uint64_t known_from_ns;
	/* … and of those of the other ranks of the process. */
	uint64_t others_from_ns;
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

/* Returns the process or communicator that stands for the job of one: jobs[i] is one
 * of the same job as i, or i. */
static inline size_t ncs_job_of_one(size_t *jobs, size_t one)
{
	while (jobs[one] != one) {
		jobs[one] = jobs[jobs[one]];
		one = jobs[one];
	}
	return one;
}

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

/* --- Comparing ------------------------------------------------------------ */

/* Compares all operations that have come since the previous update. Returns 0,
 * or -ENOMEM if some of them do not count. */
int ncs_stragglers_update(struct ncs_model *model);

/* Releases what is kept of the model's communicators. */
void ncs_stragglers_release(struct ncs_model *model);

/* Releases what is kept of a rank; NULL is allowed. */
void ncs_late_rank_free(struct ncs_late_rank *late);

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

/* --- Spans: the latest operations of ranks on their GPUs -------------------- */

/* They are kept to find out what a process did before an operation. */

/* Keeps the span of a rank's part, which is its latest. Returns 0, or -ENOMEM:
 * then it is as if its records had been lost. */
int ncs_spans_add(struct ncs_late_rank *late, const struct ncs_part *part);

/* Drops all spans of a rank but the latest NCS_SPANS: all operations that are
 * known so far have been compared. */
void ncs_spans_drop_old(struct ncs_late_rank *late);

/* Drops all spans of a rank, whose clock was moved. */
void ncs_spans_drop_all(struct ncs_late_rank *late);

/* Corrects the spans of an operation by what its ranks know together: the
 * channels of a kernel may have stopped long before the kernel did. */
void ncs_spans_correct(const struct ncs_comparison *comparison);

/* Finds for each rank from when on all operations of the other ranks of its process
 * are known. */
void ncs_spans_find_pasts(const struct ncs_model *model);

/* Returns whether all operations are known that the processes of an operation's
 * parts may have ended shortly before these arrived. The records of a busy
 * communicator are overwritten sooner than those of one that is used seldom. Reads
 * what ncs_spans_find_pasts() found. */
bool ncs_past_is_known(const struct ncs_comparison *comparison);

/* Returns the operation of the process of part i, in any communicator, that
 * ended last before the part began, of those in which it waited or others might have
 * waited for it; zeros if none is known. */
struct ncs_span ncs_operation_before(const struct ncs_comparison *comparison,
				     size_t i);

/* --- Costs of processes, by analysis/cost ------------------------------------ */

/* They are of the operations that were joined in the latest NCS_COST_WINDOW_NS, or
 * longer where that has too few steps. They are computed when they are asked for, but
 * not with every update. Memory: NCS_COSTS_PARTS parts and an eighth. */

/* The largest number of parts that is kept of old ones: the latest. */
#define NCS_COSTS_PARTS (UINT32_C(1) << 17)

/* Keeps the parts of a joined operation of a communicator. Returns 0 or -ENOMEM. */
int ncs_costs_note(const struct ncs_comparison *comparison,
		   const struct ncs_communicator *communicator);

/* Forgets the parts, whose clocks were moved. */
void ncs_costs_forget(struct ncs_costs *costs);

/* Drops the oldest operations. Costs are computed anew if they are too old by now and parts
 * have come, but not within `every_times` the processor time that this took before, unless
 * they are older than the operations that are kept. */
void ncs_costs_update(struct ncs_costs *costs, uint64_t now_ns,
		      uint64_t every_times);

/* Returns the cost of the process of a rank, NULL if nothing of it was joined, or
 * there is no memory. Valid until the next update. */
const struct ncs_cost_of_rank *ncs_costs_find(const struct ncs_late_rank *late);

/* The step of a job, and what transfers and the process that costs most cost. */
struct ncs_costs_step {
	struct ncs_cost_step step;
	struct ncs_cost_of_rank transfers;
	uint32_t latest; /* a process; 0 if none surely costs anything */
	double latest_share;
};

/* Returns the step of the job of a rank, NULL where ncs_costs_find() is. Valid until the
 * next update. */
const struct ncs_costs_step *ncs_costs_step(const struct ncs_late_rank *late);

/* Releases all memory; accepts NULL. */
void ncs_costs_free(struct ncs_costs *costs);

#endif
