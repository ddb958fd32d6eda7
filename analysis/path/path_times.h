/* SPDX-License-Identifier: MIT */
/* Times of parts, as recorded and in scenarios: what the two ways of the pass
 * along the critical path compute alike. One looks at each rank by itself
 * (analysis/path/critical_path.c), one at ranks that keep step, in columns
 * (analysis/path/path_lockstep.h). That both say the same to the last bit rests on
 * the functions here. Pure. Times are ns since the pass's base.
 */
#ifndef NCS_ANALYSIS_PATH_PATH_TIMES_H
#define NCS_ANALYSIS_PATH_PATH_TIMES_H

#include "analysis/path/path_types.h"

/* The replay is the first; then the scenarios. */
#define NCS_PATH_SUMS (1 + NCS_SCENARIOS_MAX)

/* What a rank's time goes into before it comes, in this order. */
#define NCS_PATH_GAPS (NCS_PATH_PRODUCER + 1)

/* Ends of a rank's operations that are remembered, at least. */
#define NCS_PATH_ENDS 8u

/* There are no NaNs, which fmax() and fmin() would have to look for. */
static inline double ncs_larger(double a, double b)
{
	return a > b ? a : b;
}

static inline double ncs_smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline double ncs_since(uint64_t base_ns, uint64_t at_ns)
{
	return (double)(int64_t)(at_ns - base_ns);
}

/* A part's way in, as recorded. */
struct ncs_path_moments {
	double call_ns;
	double begin_ns;
	double arrival_ns;
	bool is_violation; /* it came too late, by the clocks */
};

/* Nobody ended before all had come, whatever the clocks say: a part has come by
 * `latest_ns`, the first end of those that need it. */
static inline struct ncs_path_moments
ncs_path_moments_of(const struct ncs_part_times *times, uint64_t base_ns,
		    double latest_ns)
{
	struct ncs_path_moments moments = {
		.call_ns = ncs_since(base_ns, times->call_ns),
		.begin_ns = ncs_since(base_ns, times->begin_ns),
		.arrival_ns = ncs_since(base_ns, times->arrival_ns),
	};

	if (moments.arrival_ns > latest_ns) {
		moments.is_violation = true;
		moments.arrival_ns = latest_ns;
		moments.begin_ns = ncs_smaller(moments.begin_ns, latest_ns);
		moments.call_ns = ncs_smaller(moments.call_ns, latest_ns);
	}
	return moments;
}

/* Takes the time from a moment to an arrival apart. `least_ns` is what a
 * kernel of this rank took to begin at least, so far. Twice changes no more
 * than once. */
static inline void ncs_path_split(const struct ncs_path_moments *moments,
				  double from_ns, double *least_ns,
				  double gap_ns[NCS_PATH_GAPS])
{
	double called_ns = ncs_larger(from_ns, moments->call_ns);
	double begun_ns = ncs_larger(called_ns, moments->begin_ns);
	double rest_ns = moments->arrival_ns - begun_ns;
	double short_ns = ncs_smaller(*least_ns, rest_ns);
	bool is_behind = moments->call_ns < from_ns &&
			 moments->begin_ns <= from_ns;

	*least_ns = short_ns;
	gap_ns[NCS_PATH_HOST] = called_ns - from_ns;
	gap_ns[NCS_PATH_LAUNCH] =
		begun_ns - called_ns + (is_behind ? 0 : short_ns);
	gap_ns[NCS_PATH_QUEUE] = is_behind ? short_ns : 0;
	gap_ns[NCS_PATH_PRODUCER] = rest_ns - short_ns;
}

/* What scenarios change for all ranks alike: the gap, by how much of itself it
 * becomes shorter, and by how much the host's time is multiplied. */
struct ncs_path_changes {
	unsigned gap[NCS_PATH_SUMS];
	double saved[NCS_PATH_SUMS];
	double host_factor[NCS_PATH_SUMS];
};

/* When all had come whom an operation's parts waited for, as recorded and in
 * each scenario. */
struct ncs_path_ready {
	uint64_t unit;
	double ns;
	double in_ns[NCS_PATH_SUMS];
};

/* What becomes of an operation's transfer. The replay has no edit. */
struct ncs_path_edits {
	struct ncs_transfer_edit edits[NCS_PATH_SUMS];
	uint64_t edited;  /* bits: scenarios whose edit does something */
	uint64_t unknown; /* … whose change is not known */
};

/* A part's transfer in a scenario. It does not become shorter where `ns`
 * becomes longer. */
static inline double ncs_path_transfer_ns(const struct ncs_path_edits *edits,
					  size_t k, double ns)
{
	if (k > 0 && (edits->edited >> k & 1))
		return ncs_transfer_edited(&edits->edits[k], ns);
	return ns;
}

#endif
