/* SPDX-License-Identifier: MIT */
/* Who comes late to collectives, by how much, and where that began.
 *
 * The ranks of a communicator are compared operation by operation, joined by
 * function and NCCL's sequence number. A rank's arrival is the latest moment on
 * its way into the operation (analysis/records/arrivals.h) that is known of every rank
 * compared. It is late by as much as the first of those that wait for it came
 * before it: at AllReduce, AllGather and ReduceScatter everybody waits for
 * everybody; at Broadcast for the root; at Reduce the root for everybody. Send
 * and Recv carry no number that would tell which belong together, and are left
 * out.
 *
 * Compared are ranks whose records are read and whose clock is one: of the same
 * boot and time namespace, or of hosts whose clocks are aligned. Then a rank is
 * not last unless it is later than what the clocks are off at most, which stands
 * beside all figures. An operation counts only where it was seen on each
 * of them that lives and reports operations of the function. Recent figures are
 * exact, of the latest operations compared; those since the first look come
 * from histograms. Memory is bounded. No I/O.
 */
#ifndef NCS_ANALYSIS_MODEL_STRAGGLERS_H
#define NCS_ANALYSIS_MODEL_STRAGGLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/records/arrivals.h"
#include "analysis/model/communicators.h"
#include "analysis/model/model.h"
#include "ncclstat/tables/lateness.def"

enum ncs_late_cause {
#define X(ID, name, help) NCS_LATE_##ID,
	NCS_LATE_CAUSES(X)
#undef X
		NCS_LATE_CAUSE_COUNT
};

/* "host"; "none" for NCS_LATE_CAUSE_COUNT. */
const char *ncs_late_cause_name(unsigned cause);

/* "call", "operation", "proxy", "kernel", "data". */
const char *ncs_moment_name(unsigned moment);

/* So many of the latest operations make the recent figures. */
#define NCS_LATENESS_RECENT 512u

/* A rank is marked as a straggler if, of at least so many recent operations, it
 * came last at more than half, in the median of these so much after the one
 * before it, and if all the waiting for it took this share of the time. */
#define NCS_STRAGGLER_OPERATIONS 32u
#define NCS_STRAGGLER_NS UINT64_C(100000)
#define NCS_STRAGGLER_COST 0.01

/* Of one rank, over some operations at which others waited for it. */
struct ncs_lateness {
	uint64_t operations; /* 0: nothing else is set */
	uint64_t last;       /* of them: came after all others */
	uint64_t median_ns;
	uint64_t p99_ns;
	/* Of those at which it came last: how much after the one before it;
	 * the median, 0 if there are none. */
	uint64_t exclusive_ns;
	/* Of these, where the lateness began: all of it together. */
	uint64_t cause_ns[NCS_LATE_CAUSE_COUNT];
	/* What all times but cause_ns may be off, as they were taken from
	 * several clocks; 0: from one. */
	uint64_t error_ns;
};

/* The cause of most of it; NCS_LATE_CAUSE_COUNT: it never came last. */
unsigned ncs_lateness_cause(const struct ncs_lateness *lateness);

struct ncs_lateness_view {
	struct ncs_lateness recent; /* exact */
	struct ncs_lateness all;    /* within a bucket */
	/* Share of the recent time that all waited for this rank alone;
	 * negative: unknown. */
	double cost;
	/* Of recent ones: what its arrival was told by. */
	uint64_t told_by[NCS_ARRIVAL_STAGES];
	/* Since the first look; compared are also operations at which nobody
	 * waited for it. */
	struct ncs_arrivals_count count;
	bool is_straggler;
};

/* An operation that others wait in and this rank has not come to. */
struct ncs_late_now {
	uint64_t late_ns; /* so far, at least; 0: there is none such */
	unsigned function;
	uint64_t number;
	size_t waiting; /* ranks */
};

/* NULL: not known, for nothing of it was compared. Valid until the next update
 * of the model. */
const struct ncs_lateness_view *ncs_rank_lateness(const struct ncs_rank *rank);

/* Recent figures of one function alone. */
void ncs_rank_function_lateness(const struct ncs_rank *rank, unsigned function,
				struct ncs_lateness *lateness);

/* The function at which a rank came last most often; the share is that in the
 * recent operations of it. NCS_FUNCTION_COUNT: none. */
unsigned ncs_rank_late_function(const struct ncs_rank *rank,
				struct ncs_lateness *lateness);

void ncs_rank_late_now(const struct ncs_rank *rank, struct ncs_late_now *now);

/* Of a communicator: how far apart its ranks came, and how long the operation
 * took from when the last had come. */
struct ncs_skew {
	uint64_t operations; /* compared, recent; 0: nothing else is set */
	uint64_t median_ns;
	uint64_t p99_ns;
	uint64_t transfers;   /* of them: those whose end NCCL tells */
	uint64_t transfer_ns; /* median of these; 0 if there are none */
	uint64_t all;         /* compared since the first look */
	uint64_t error_ns;    /* of these times, by clocks; 0: of one clock */
	size_t ranks;         /* that the latest of them was compared of */
};

/* NULL: nothing was compared. Valid until the next update. */
const struct ncs_skew *
ncs_communicator_skew(const struct ncs_communicator *communicator);

/* The rank that is marked; of several the one that costs most. NULL: none. */
const struct ncs_rank *
ncs_communicator_straggler(const struct ncs_communicator *communicator);

/* --- For the model -------------------------------------------------------- */

/* Compares what has come since the update before. 0 or -ENOMEM: then figures
 * are too few. */
int ncs_stragglers_update(struct ncs_model *model);
void ncs_stragglers_release(struct ncs_model *model);
void ncs_late_rank_free(struct ncs_late_rank *late); /* NULL: nothing to do */

#endif
