/* SPDX-License-Identifier: MIT */
/* Stragglers: how late each rank comes to collectives, where its lateness
 * began, and how much time it costs the others.
 *
 * The ranks of a communicator are compared operation by operation, joined by
 * function and NCCL's sequence number. A rank's arrival is the latest moment on
 * its way into the operation (analysis/records/moments.h) that is known of
 * every rank compared. Its lateness is the time since the first arrival of the
 * ranks that wait for it; analysis/base/collective_waits.h says which ranks do.
 * A send and its receive are joined by the number that the plugin counts; those
 * without one are left out. What a rank costs in them: transfer_cost.h.
 *
 * Ranks are compared if their records are read and they share a clock: they are
 * of the same boot and time namespace, or of hosts whose clocks are aligned.
 * With aligned clocks a rank is last only if it is later by more than the
 * clocks' largest error, which is given with all figures. An operation counts
 * only if it was seen on every one of these ranks that lives and reports
 * operations of the function. Recent figures are exact and cover the latest
 * operations compared; figures since the first update come from histograms.
 *
 * Figures are computed when they are asked for. Returned pointers lead into the
 * model and are valid until its next update.
 */
#ifndef NCS_ANALYSIS_MODEL_STRAGGLERS_H
#define NCS_ANALYSIS_MODEL_STRAGGLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/model/communicators.h"
#include "analysis/model/rank.h"
#include "analysis/records/moments.h"
#include "ncclstat/tables/lateness.def"

enum ncs_late_cause {
#define X(ID, name, help) NCS_LATE_##ID,
	NCS_LATE_CAUSES(X)
#undef X
		NCS_LATE_CAUSE_COUNT
};

/* Number of latest operations that make the recent figures. */
#define NCS_LATENESS_RECENT 512u

/* Its cost is that of the recent operations of this time before the latest one,
 * but of NCS_STRAGGLER_OPERATIONS at least. */
#define NCS_COST_WINDOW_NS UINT64_C(10000000000)

/* A rank is marked as a straggler if it has at least NCS_STRAGGLER_OPERATIONS
 * recent operations, and if the waits of at least NCS_STRAGGLER_NS in which all
 * others waited for it alone add up to the share NCS_STRAGGLER_COST of the
 * time. Shorter waits are the jitter of launches, and a single wait that makes
 * most of the cost is a hiccup. */
#define NCS_STRAGGLER_OPERATIONS 8u
#define NCS_STRAGGLER_NS UINT64_C(100000)
#define NCS_STRAGGLER_COST 0.05

/* The share from which on a rank is marked while it is not known whether the others
 * have lost anything, as their hosts may have gone on with their work: chance puts one
 * of such hosts behind for some time. */
#define NCS_STRAGGLER_COST_UNSURE 0.1

/* Number of latest operations that tell whether a rank is late by now; it is nearly
 * always last if it is so at so many of them. */
#define NCS_LATELY 16u
#define NCS_LATELY_LAST (NCS_LATELY * 3 / 4)

/* Lateness of one rank over some operations in which others waited for it. */
struct ncs_lateness {
	uint64_t operations; /* if 0, nothing else is set */
	uint64_t last;       /* operations to which it came after all others */
	uint64_t median_ns;  /* of its lateness */
	uint64_t p99_ns;
	/* Median time from the previous rank's arrival to its own, in
	 * operations to which it came last; 0 if there are none. */
	uint64_t exclusive_ns;
	/* Sum of its lateness in these operations, by its cause, as far as it
	 * cost anything. */
	uint64_t cause_ns[NCS_LATE_CAUSE_COUNT];
	/* Operations to which it came last while the others came straight from
	 * another operation: they may have computed while they waited, and what
	 * the wait cost is known in part. */
	uint64_t queued;
	/* Recent ones to which it came last with data to send, and of which it is
	 * not known when its kernel began. */
	uint64_t kernels_unknown;
	/* Largest error of all times but cause_ns, if they are by several
	 * clocks; 0 if by one. */
	uint64_t error_ns;
};

/* Returns the cause of most of the lateness, or NCS_LATE_CAUSE_COUNT if the
 * rank never came last. */
unsigned ncs_lateness_cause(const struct ncs_lateness *lateness);

/* Counts of a rank's collectives and records since the first update. */
struct ncs_lateness_count {
	uint64_t seen;     /* operations */
	uint64_t compared; /* operations compared with other ranks */
	uint64_t unknown;  /* operations of which only host times are known */
	uint64_t records_lost; /* overwritten since the first update */
};

/* Sends and receives to other ranks that a communicator's ranks recorded since
 * the first update, and those of them that could not be compared. */
struct ncs_transfer_count {
	uint64_t seen;
	/* The plugin gave them no number: an older one, or in a CUDA graph. */
	uint64_t unnumbered;
	/* Pairs of one number that do not fit: the two ends counted
	 * differently, so that those that follow are not compared either. */
	uint64_t distrusted;
};

/* The figures of one rank. */
struct ncs_lateness_view {
	struct ncs_lateness recent; /* exact */
	struct ncs_lateness all; /* since the first update, within a bucket */
	/* Share of the recent time in which all waited for this rank alone
	 * because of what its own process did, not because of an operation that
	 * had made it late before; negative if it is not known. */
	double cost;
	double cost_of_long; /* in waits of at least NCS_STRAGGLER_NS … */
	double cost_again;   /* … without the longest one */
	/* The least and the largest cost: it may not be known what
	 * the others computed while they waited, nor whether a lag was a new one
	 * at each operation. */
	double cost_at_least, cost_at_most;
	double cost_of_long_at_most; /* in waits of at least NCS_STRAGGLER_NS */
	/* The host of another rank worked for the rest of the time, and would have
	 * without this rank: it costs no more in any communicator. The latter counts
	 * only what the host surely worked. */
	double cost_limit, cost_limit_at_most;
	/* Hosts of others are not known to wait for the ends of operations: a lag may go
	 * on from step to step and cost nothing. */
	bool hosts_may_go_on;
	/* Hosts of others have long work of their own and run ahead of their GPUs: the
	 * same, but how long they work is known. */
	bool hosts_run_ahead;
	/* It is not known, or too early to tell, whether hosts of others went on with
	 * their work, so that the rank may cost nothing. */
	bool is_unsure;
	/* Its possible cost in waits of at least NCS_STRAGGLER_NS if hosts of others did
	 * not go on with their work, or not for so long; 0 if that is known. */
	double cost_unknown;
	uint64_t last_lately; /* of the latest NCS_LATELY: it came last */
	uint64_t latest_ns;  /* when all had arrived at the latest operation */
	/* Recent operations by the moment that its arrival was compared by. */
	uint64_t by_moment[NCS_MOMENT_COUNT];
	/* Since the first update; `compared` includes operations in which no
	 * rank waited for it. */
	struct ncs_lateness_count count;
	bool is_straggler;
	/* The cost is that of sends and receives, and is known within bounds:
	 * no other rank does the same work. */
	bool is_unlike;
	/* … and is known from below: the stages of its pipeline send and
	 * receive in turn, as with one microbatch forward, one backward. */
	bool takes_turns;
	/* The cost is that of sends and receives, and is known from above: the
	 * other GPUs may compute faster since they rest while they wait, and were
	 * not seen before that. */
	bool may_rest;
};

/* Bounds of a cost this near to it, or within so much of the time, are no other
 * ones. */
#define NCS_COST_NEAR 0.1
#define NCS_COST_NEAR_SHARE 0.005

/* Returns whether a rank may cost less than it seems to. */
static inline bool ncs_cost_may_be_less(const struct ncs_lateness_view *view)
{
	return view->cost_at_least < view->cost * (1 - NCS_COST_NEAR) &&
	       view->cost_at_least < view->cost - NCS_COST_NEAR_SHARE;
}

/* Returns whether it may cost more. */
static inline bool ncs_cost_may_be_more(const struct ncs_lateness_view *view)
{
	return view->cost_at_most > view->cost * (1 + NCS_COST_NEAR) &&
	       view->cost_at_most > view->cost + NCS_COST_NEAR_SHARE;
}

/* Returns whether these costs are a straggler's; `is_unsure`: hosts of others may have
 * gone on with their work. */
static inline bool ncs_is_straggling(double cost_of_long, double cost_again,
				     bool is_unsure)
{
	return cost_of_long >= (is_unsure ? NCS_STRAGGLER_COST_UNSURE :
					    NCS_STRAGGLER_COST) &&
	       (cost_again >= NCS_STRAGGLER_COST ||
		cost_again >= cost_of_long / 2);
}

/* Returns the figures of a rank, or NULL if none of its operations was
 * compared. */
const struct ncs_lateness_view *ncs_rank_lateness(const struct ncs_rank *rank);

/* Fills in the recent figures of one function alone. */
void ncs_rank_function_lateness(const struct ncs_rank *rank, unsigned function,
				struct ncs_lateness *lateness);

/* Returns the function in which the rank came last most often, and fills in its
 * recent figures; NCS_FUNCTION_COUNT if there is none. */
unsigned ncs_rank_late_function(const struct ncs_rank *rank,
				struct ncs_lateness *lateness);

/* How far apart the ranks of a communicator arrived, and how long its
 * operations moved data then (ncs_joined_moving()). */
struct ncs_skew {
	/* Recent operations compared; if 0, nothing else is set. */
	uint64_t operations;
	uint64_t median_ns; /* of the time from the first arrival to the last */
	uint64_t p99_ns;
	uint64_t moved;     /* recent operations whose moving part is known */
	uint64_t moving_ns; /* median of these; 0 if there are none */
	uint64_t moving_error_ns; /* the largest of them */
	uint64_t all;         /* operations compared since the first update */
	uint64_t error_ns;    /* largest error of the clocks; 0 if it is one */
	size_t ranks;         /* ranks compared in the latest operation */
};

/* Returns the figures of a communicator, or NULL if nothing was compared. */
const struct ncs_skew *
ncs_communicator_skew(const struct ncs_communicator *communicator);

/* Returns how many of a communicator's sends and receives were not compared. */
struct ncs_transfer_count
ncs_communicator_transfers(const struct ncs_communicator *communicator);

/* Returns whether so many of them were not compared that nothing can be said of
 * lateness in them. */
bool ncs_transfers_are_blind(const struct ncs_transfer_count *count);

/* Returns the rank of a communicator that is marked as a straggler, the one
 * with the highest cost if there are several; NULL if there is none. */
const struct ncs_rank *
ncs_communicator_straggler(const struct ncs_communicator *communicator);

#endif
