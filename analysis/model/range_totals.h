/* SPDX-License-Identifier: MIT */
/* What was called in ranges of the program, with all that was called in the
 * ranges inside.
 *
 * Pure. Only sums are added up; what is no sum (percentiles, bandwidth) is told
 * from sums at the end.
 */
#ifndef NCS_ANALYSIS_MODEL_RANGE_TOTALS_H
#define NCS_ANALYSIS_MODEL_RANGE_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "ncclstat/reader.h"

struct ncs_range_sum {
	const struct ncs_range_view *range; /* the snapshot's */
	unsigned depth;                     /* 0: outermost */
	uint64_t calls;
	uint64_t operations;
	uint64_t bytes;
	uint64_t size_unknown;
	uint64_t with_children;
	uint64_t with_children_bytes;
	uint64_t timed[NCS_TIMING_COUNT];
	uint64_t time_ns[NCS_TIMING_COUNT];
	uint64_t timed_bytes[NCS_TIMING_COUNT];
	uint64_t channel_time_ns[NCS_CHANNEL_STATE_COUNT];
	struct ncs_gpu_time gpu; /* busy is the range's, which is no sum */
};

/* Fills in one for each range of the snapshot, those inside a range after it:
 * by number beside each other. `sums` has room for range_count; 0 or
 * -ENOMEM. */
int ncs_ranges_sum(const struct ncs_snapshot *snapshot,
		   struct ncs_range_sum *sums);

/* Appends the names of a range and of those around it, the outermost first, with
 * a '/' between two. Nothing, if the snapshot has no such range. */
void ncs_range_append_path(const struct ncs_snapshot *snapshot, uint32_t number,
			   char *text, size_t size);

/* Which times are the better ones: enum ncs_timing; NCS_TIMING_COUNT: there are
 * none. */
unsigned ncs_range_timing(const struct ncs_range_sum *sum);

/* A percentile of its operations' times, with those in the ranges inside; 0:
 * none has a histogram. */
uint64_t ncs_range_percentile(const struct ncs_snapshot *snapshot,
			      const struct ncs_range_sum *sum, double fraction);

/* Bytes over time, GB/s; negative: not known. By the sum of the operations'
 * times, and by the time in which any of them made progress: where several run
 * at once this is more. */
double ncs_range_bandwidth(const struct ncs_range_sum *sum);
double ncs_range_busy_bandwidth(const struct ncs_range_sum *sum);

/* The state in which channels spent most of the time on its operations, and
 * that share of it, 0 to 1; IDLE and 0: no channel had one. */
enum ncs_channel_state ncs_range_wait(const struct ncs_range_sum *sum,
				      double *share);

#endif
