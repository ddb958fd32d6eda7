/* SPDX-License-Identifier: MIT */
/* Ranks in lockstep, in columns: each rank has only one communicator, and in
 * its operations, which follow one another, all ranks wait for all. The latest
 * ends lie in columns by rank, so that a pass along the critical path takes a
 * few ns for each rank and operation.
 *
 * The state of the pass (analysis/path/path_state.h) has the same ends rank by
 * rank, except those of the latest operations, the unsaved ones:
 * analysis/path/path_in_lockstep.h copies these to the state before it
 * processes a rank by itself. Must not handle unusual cases: it refuses them.
 * Pure. Times are computed by analysis/path/path_times.h, in ns since the
 * pass's base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_LOCKSTEP_H
#define NCS_ANALYSIS_PATH_PATH_LOCKSTEP_H

#include "analysis/path/path_times.h"

/* An operation, with its ends by rank. */
struct ncs_lockstep_operation {
	struct ncs_path_ready ready;
	struct ncs_path_edits edits;
	double *end_ns; /* as recorded */
	struct ncs_last_channel *last_channels;
};

/* Ranks in lockstep. Columns have one entry for each rank; times are in ns. */
struct ncs_lockstep {
	size_t count; /* ranks */
	size_t run_count;
	uint32_t *owners;
	double *least_ns; /* shortest time that a kernel took to begin */
	double *busy_ns;  /* GPU time with other work; if there are scenarios */
	/* GPU time with other work before the current arrivals; it is added
	 * to busy_ns when these parts end. */
	double *producer_ns;
	struct ncs_lockstep_operation operations[NCS_PATH_ENDS];
	unsigned latest; /* index of the latest one: operations rotate */
	unsigned operation_count; /* operations that are remembered */
	unsigned unsaved;         /* latest operations that the state lacks */
	bool has_dropped;         /* forgot operations that were never saved */
	/* By run: the index of the rank that its scenario names, which the
	 * caller processes by itself; `count` if there is none. */
	size_t named[NCS_PATH_RUNS];
};

/* Creates a lockstep of the parts' owners, none of which is named by a scenario
 * yet. Returns NULL if there is no memory. Release it with
 * ncs_lockstep_free(). */
struct ncs_lockstep *ncs_lockstep_new(const struct ncs_part_times *part_times,
				      size_t count, size_t run_count);

/* Releases a lockstep; NULL is allowed. */
void ncs_lockstep_free(struct ncs_lockstep *lockstep);

/* Returns an operation by age: 0 is the latest, `operation_count` - 1 the
 * oldest that is remembered. */
const struct ncs_lockstep_operation *
ncs_lockstep_operation_at(const struct ncs_lockstep *lockstep, unsigned age);

/* Returns the latest operation that had ended for rank i by its call; NULL if
 * none is remembered. */
const struct ncs_lockstep_operation *
ncs_lockstep_before_call(const struct ncs_lockstep *lockstep, size_t i,
			 double call_ns);

/* Returns when an operation ends for rank i in run k. */
static inline double
ncs_lockstep_end_ns(const struct ncs_lockstep_operation *operation, size_t k,
		    size_t i)
{
	return operation->ready.in_ns[k] +
	       ncs_path_transfer_ns(&operation->edits, k,
				    operation->end_ns[i] - operation->ready.ns);
}

/* The arrivals of all ranks at an operation. */
struct ncs_lockstep_arrivals {
	double ready_ns;      /* last arrival, as recorded */
	double first_call_ns; /* as recorded */
	uint64_t violations;
	/* Last arrival of the ranks not named. */
	double ready_in_ns[NCS_PATH_RUNS];
	/* Index of the first rank that arrived then. */
	size_t last[NCS_PATH_RUNS];
};

/* Makes all parts of an operation arrive: fills in *arrivals and returns true.
 * Returns false if the parts are not those of its ranks in its order, if the
 * predecessor of some part is not the latest operation, or if that predecessor
 * is forgotten. Then only `least_ns` has changed, as it would when the caller
 * processes the parts rank by rank. */
bool ncs_lockstep_arrive(struct ncs_lockstep *lockstep,
			 const struct ncs_path_changes *changes,
			 const struct ncs_part_times *part_times, size_t count,
			 uint64_t base_ns, double latest_ns,
			 struct ncs_lockstep_arrivals *arrivals);

/* Makes all parts of an operation end: it becomes the latest one. Returns the
 * last end, as recorded. */
double ncs_lockstep_end(struct ncs_lockstep *lockstep,
			const struct ncs_path_ready *ready,
			const struct ncs_path_edits *edits,
			const struct ncs_part_times *part_times,
			uint64_t base_ns);

#endif
