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

/* The recorded times of a part up to its arrival. */
struct ncs_path_entry {
	double call_ns;
	double begin_ns;
	double arrival_ns;
};

/* Returns the times of a part up to its arrival. What came before the arrival
 * is not after it, whatever the clocks say. */
static inline struct ncs_path_entry
ncs_path_entry_of(const struct ncs_part_times *times, uint64_t base_ns)
{
	double arrival_ns = ncs_since(base_ns, times->arrival_ns);

	return (struct ncs_path_entry){
		.call_ns = ncs_smaller(ncs_since(base_ns, times->call_ns),
				       arrival_ns),
		.begin_ns = ncs_smaller(ncs_since(base_ns, times->begin_ns),
					arrival_ns),
		.arrival_ns = arrival_ns,
	};
}

/* Splits the time from `from_ns` until an arrival by cause. `least_ns` is the
 * shortest time that a kernel of this rank took to begin so far; it is updated,
 * and calling this again with the same arguments changes nothing more. */
static inline void ncs_path_split_gap(const struct ncs_path_entry *entry,
				      double from_ns, double *least_ns,
				      double gap_ns[NCS_PATH_GAPS])
{
	double called_ns = ncs_larger(from_ns, entry->call_ns);
	double begun_ns = ncs_larger(called_ns, entry->begin_ns);
	double rest_ns = entry->arrival_ns - begun_ns;
	double short_ns = ncs_smaller(*least_ns, rest_ns);
	bool is_behind = entry->call_ns < from_ns && entry->begin_ns <= from_ns;

	*least_ns = short_ns;
	gap_ns[NCS_PATH_HOST] = called_ns - from_ns;
	gap_ns[NCS_PATH_LAUNCH] =
		begun_ns - called_ns + (is_behind ? 0 : short_ns);
	gap_ns[NCS_PATH_QUEUE] = is_behind ? short_ns : 0;
	gap_ns[NCS_PATH_STREAM] = rest_ns - short_ns;
}

/* Returns the cause of the gap that a scenario makes shorter, and sets *share to how much
 * of it that saves; NCS_PATH_GAPS if it makes none shorter. */
static inline unsigned ncs_path_gap_of(const struct ncs_scenario *scenario,
				       double *share)
{
	*share = scenario->kind == NCS_WHAT_IF_OVERLAP ? 1 :
							 1 - scenario->factor;
	switch (scenario->kind) {
	case NCS_WHAT_IF_OVERLAP:
	case NCS_WHAT_IF_STREAM:
		return NCS_PATH_STREAM;
	case NCS_WHAT_IF_LAUNCH:
		return NCS_PATH_LAUNCH;
	case NCS_WHAT_IF_HOST:
		return NCS_PATH_HOST;
	default:
		return NCS_PATH_GAPS;
	}
}

/* Changes that a scenario makes to the arrivals of all ranks alike, by run. */
struct ncs_path_changes {
	unsigned gap[NCS_PATH_RUNS]; /* cause whose gap becomes shorter */
	double saved[NCS_PATH_RUNS]; /* … by this share of it */
};

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
