/* SPDX-License-Identifier: MIT */
/* Stragglers: how late each rank comes to collectives, where its lateness
 * began, and how much time it costs the others.
 *
 * The ranks of a communicator are compared operation by operation, joined by
 * function and NCCL's sequence number. A rank's arrival is the latest moment on
 * its way into the operation (analysis/records/operation_times.h) that is known of
 * every rank compared. Its lateness is the time since the first arrival of the
 * ranks that wait for it; analysis/base/collective_waits.h says which ranks do.
 * A send and its receive are joined by the number that the plugin counts; those
 * without one are left out. What a rank costs is analysis/cost's to say.
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

#include "analysis/base/finding_numbers.h"
#include "analysis/cost/cost.h"
#include "analysis/model/communicators.h"
#include "analysis/model/rank.h"
#include "analysis/records/operation_times.h"
#include "analysis/records/parts.h"
#include "ncclstat/tables/lateness.def"

enum ncs_late_cause {
#define X(ID, name, help) NCS_LATE_##ID,
	NCS_LATE_CAUSES(X)
#undef X
		NCS_LATE_CAUSE_COUNT
};

/* The cost of a rank is that of the operations of this time before the latest one. */
#define NCS_COST_WINDOW_NS NCS_LOOK_BACK_NS

/* A rank is a straggler if it surely costs something, and at least this share of the
 * time, and if others are seen to wait for it. */
#define NCS_STRAGGLER_COST (NCS_COST_SHARE / 100.)

/* Recent figures of lateness are of so many of the latest operations at most: this
 * bounds memory. */
#define NCS_LATENESS_RECENT 512

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
	 * another operation: they may have computed while they waited. */
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
	/* The cost of its process in all its communicators, over the window of
	 * that cost: the latest NCS_COST_WINDOW_NS, or more where steps are
	 * long. */
	struct ncs_cost_of_rank cost;
	uint64_t window_ns;
	/* The share of that time for which all others waited for this rank alone,
	 * for what its own process did. It costs less than that where the others
	 * had work to do meanwhile. */
	double waited_share;
	double longest_share; /* as much of it was one operation's */
	uint64_t latest_ns; /* when all had arrived at the latest operation */
	uint64_t known_ns;  /* from then at the first operation until then */
	/* In one of these, all waited for so long for this rank's host alone; in
	 * none for longer. */
	uint64_t longest_host_ns;
	/* Recent operations by the moment that its arrival was compared by. */
	uint64_t by_moment[NCS_MOMENT_COUNT];
	/* Since the first update; `compared` includes operations in which no
	 * rank waited for it. */
	struct ncs_lateness_count count;
	bool is_straggler;
};

/* Returns whether the others wait for a rank, whose cost is not known, as long as for a
 * straggler. */
static inline bool ncs_may_straggle(const struct ncs_lateness_view *view)
{
	return view->cost.unknown != NCS_COST_KNOWN &&
	       view->recent.operations >= NCS_FEW &&
	       view->waited_share >= NCS_STRAGGLER_COST;
}

/* Returns whether they wait for so long that it is late for sure, at a cost that is not
 * known. One long wait is no steady lateness: the rank saved a model, or came late.
 * Stages of a pipeline wait for one another in any case. */
static inline bool ncs_is_late_for_sure(const struct ncs_lateness_view *view)
{
	return ncs_may_straggle(view) &&
	       view->cost.unknown != NCS_COST_NO_PEER &&
	       view->waited_share - view->longest_share >=
		       NCS_COST_WAITED / 100.;
}

/* Returns whether others wait for a rank for as much of the recent time as a straggler
 * costs at least: of no other one does the cost, which takes long to compute, decide a
 * finding. */
bool ncs_rank_is_waited_for(const struct ncs_rank *rank);

/* Returns the figures of a rank, or NULL if none of its operations was
 * compared. Computes its cost if that is too old. */
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
	uint64_t all;      /* operations compared since the first update */
	uint64_t error_ns; /* largest error of the clocks; 0 if it is one */
	size_t ranks;      /* ranks compared in the latest operation */
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

/* --- The step of a job ---------------------------------------------------- */

/* In it a job's calls repeat: how long it takes, and what of that is communication
 * that nothing hides, and waiting for one rank. All of it is as analysis/cost tells,
 * over the window of its costs. */

/* Times are in ns; what is not known of them is 0. */
struct ncs_job_step {
	struct ncs_cost_step step;
	/* Why it is not known how long transfers are exposed; if it is, how long, and
	 * between which times that lies. */
	enum ncs_cost_unknown exposed_unknown;
	double exposed_ns, exposed_least_ns, exposed_most_ns;
	/* The rank that surely costs something, and most of all; NULL if none does. Of
	 * the ranks of its process, others waited most for it. */
	const struct ncs_rank *latest;
	double waiting_ns; /* as much as it costs */
};

/* Fills in the step of the job that a rank is of. Returns false if none of the rank's
 * operations was compared. */
bool ncs_rank_step(const struct ncs_model *model, const struct ncs_rank *rank,
		   struct ncs_job_step *step);

/* Fills in the step of the job that has the busiest communicator, or of any other one.
 * Returns false if no operation was compared. */
bool ncs_busiest_step(const struct ncs_model *model, struct ncs_job_step *step);

#endif
