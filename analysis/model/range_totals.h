/* SPDX-License-Identifier: MIT */
/* Totals of the application's named ranges, each with those of the ranges
 * inside it.
 *
 * Pure. Only sums are added up; percentiles and bandwidth are computed from
 * sums at the end.
 */
#ifndef NCS_ANALYSIS_MODEL_RANGE_TOTALS_H
#define NCS_ANALYSIS_MODEL_RANGE_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "ncclstat/snapshot.h"

/* The total of a range, including the ranges inside it. */
struct ncs_range_sum {
	const struct ncs_range_view *range; /* the snapshot's */
	unsigned depth;                     /* 0 for an outermost range */
	/* Sums of the fields of struct ncs_range_view. */
	uint64_t calls;
	uint64_t operations;
	uint64_t bytes;
	uint64_t size_unknown;
	uint64_t with_children;
	uint64_t with_children_bytes;
	uint64_t timed[NCS_TIMING_COUNT];
	uint64_t time_ns[NCS_TIMING_COUNT];
	uint64_t channel_time_ns[NCS_CHANNEL_STATE_COUNT];
	struct ncs_gpu_time gpu; /* busy_ns is the range's own: not a sum */
};

/* Fills in one sum for each range of the snapshot, ranges inside a range
 * directly after it, siblings by number. `sums` has room for range_count.
 * Returns 0 or -ENOMEM. */
int ncs_ranges_sum(const struct ncs_snapshot *snapshot,
		   struct ncs_range_sum *sums);

/* Appends the path of a range: the names of the ranges around it, the outermost
 * first, and its own, with a '/' between two. Appends nothing if the snapshot
 * has no such range. */
void ncs_range_append_path(const struct ncs_snapshot *snapshot, uint32_t number,
			   char *text, size_t size);

/* Returns a percentile of the times of all its operations in ns, or 0 if none
 * has a histogram. `fraction` is 0 to 1. */
uint64_t ncs_range_percentile(const struct ncs_snapshot *snapshot,
			      const struct ncs_range_sum *sum, double fraction);

/* Returns bytes in GB/s over the time in which any operation made progress or
 * waited for a peer; negative if it is not known. */
double ncs_range_busy_bandwidth(const struct ncs_range_sum *sum);

/* Returns the state in which its channels spent most of their time, and the
 * share of that time, 0 to 1; IDLE and 0 if no channel had an operation. */
enum ncs_channel_state ncs_range_wait(const struct ncs_range_sum *sum,
				      double *share);

#endif
