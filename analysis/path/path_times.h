/* SPDX-License-Identifier: MIT */
/* Arithmetic on the times of parts, as recorded and in scenarios. Pure. Times
 * are ns since the pass's base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_TIMES_H
#define NCS_ANALYSIS_PATH_PATH_TIMES_H

#include "analysis/path/path_types.h"

/* Runs of a pass over the operations, by index: 0 is the replay, which changes
 * nothing; run k applies scenario k - 1. */
#define NCS_PATH_RUNS (1 + NCS_SCENARIOS_MAX)

/* Number of gaps, which are the first causes in their order: a rank's time
 * before an arrival is split into these. */
#define NCS_PATH_GAPS (NCS_PATH_STREAM + 1)

/* The least number of finished parts that are remembered of each rank. */
#define NCS_PATH_ENDS 8u

/* Returns the larger value. Unlike fmax(), does not handle NaN, which never
 * occurs. */
static inline double ncs_larger(double a, double b)
{
	return a > b ? a : b;
}

/* Returns the smaller value; see ncs_larger(). */
static inline double ncs_smaller(double a, double b)
{
	return a < b ? a : b;
}

/* Returns the time since the base, in ns; negative before it. */
static inline double ncs_since(uint64_t base_ns, uint64_t at_ns)
{
	return (double)(int64_t)(at_ns - base_ns);
}

/* The time when all parts that an operation's parts wait for have arrived. */
struct ncs_path_ready {
	uint64_t operation;
	double ns; /* as recorded */
	double in_ns[NCS_PATH_RUNS];
};

/* Changes to an operation's transfer, by run. The replay has none. */
struct ncs_path_edits {
	struct ncs_transfer_edit edits[NCS_PATH_RUNS];
	uint64_t edited;  /* bits: runs whose edit changes anything */
	uint64_t unknown; /* bits: runs whose change is not known */
};

/* Returns what a transfer of `ns` takes in run k. The result never decreases as
 * `ns` grows. */
static inline double ncs_path_transfer_ns(const struct ncs_path_edits *edits,
					  size_t k, double ns)
{
	if (k > 0 && (edits->edited >> k & 1))
		return ncs_transfer_edited(&edits->edits[k], ns);
	return ns;
}

#endif
