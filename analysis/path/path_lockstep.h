/* SPDX-License-Identifier: MIT */
/* Ranks in lockstep, in columns: each rank has one communicator, and the
 * operations of that, in which all ranks wait for all, follow one another.
 * Their latest ends lie in columns by rank, so that a pass along the critical
 * path takes a few ns for a rank and operation.
 *
 * The state of the pass (analysis/path/path_state.h) has the same ends rank by
 * rank, except those of the latest operations, the unsaved ones:
 * analysis/path/path_in_lockstep.h enters them before it looks at a rank by
 * itself. Nothing unusual is dealt with here. Pure. Times are computed by
 * analysis/path/path_times.h, in ns since the pass's base.
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

struct ncs_lockstep {
	size_t count; /* ranks */
	size_t run_count;
	uint32_t *owners;
	double *least_ns; /* shortest time that a kernel took to begin */
	double *busy_ns;  /* GPU time with other work; if there are scenarios */
	double *producer_ns; /* … before the arrivals at hand */
	struct ncs_lockstep_operation operations[NCS_PATH_ENDS];
	unsigned latest;          /* index: operations rotate */
	unsigned operation_count; /* operations that are remembered */
	unsigned unsaved;         /* latest operations that the state lacks */
	bool has_dropped;         /* operations that were never saved */
	/* By run: the index of the rank that its scenario names, which the
	 * caller looks at by itself; `count` if there is none. */
	size_t named[NCS_PATH_RUNS];
};

/* Returns a new lockstep of the parts' owners, to be released with
 * ncs_lockstep_free(); no scenario names any of them yet. Returns NULL if there
 * is no memory. */
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
	double ready_in_ns[NCS_PATH_RUNS]; /* last of ranks not named */
	size_t last[NCS_PATH_RUNS];        /* the first such rank */
};

/* All parts of an operation arrive: fills in *arrivals and returns true.
 * Returns false if the parts are not of its ranks in its order, if not all of
 * them follow on the latest operation, or if it is not remembered what they
 * follow on. Then only `least_ns` has changed, as it would when the caller
 * looks at the parts rank by rank. */
bool ncs_lockstep_arrive(struct ncs_lockstep *lockstep,
			 const struct ncs_path_changes *changes,
			 const struct ncs_part_times *part_times, size_t count,
			 uint64_t base_ns, double latest_ns,
			 struct ncs_lockstep_arrivals *arrivals);

/* All parts of an operation end: it becomes the latest one. Returns the last
 * end, as recorded. */
double ncs_lockstep_end(struct ncs_lockstep *lockstep,
			const struct ncs_path_ready *ready,
			const struct ncs_path_edits *edits,
			const struct ncs_part_times *part_times,
			uint64_t base_ns);

#endif
