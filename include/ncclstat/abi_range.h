/* SPDX-License-Identifier: MIT */
/* Ranges of a segment, and the histograms of their times. For all of the segment
 * see abi.h. */
#ifndef NCCLSTAT_ABI_RANGE_H
#define NCCLSTAT_ABI_RANGE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "ncclstat/abi_gpu_time.h"
#include "ncclstat/abi_lane.h"
#include "ncclstat/abi_values.h"
#include "ncclstat/histogram.h"

/* Counters of one of the application's ranges (ncclstat/range.h). A range is a
 * path, from the outermost range to the innermost one around a call. Its
 * counters do not include the ranges inside it, which have entries of their
 * own, except for the busy times. Entries are numbered from 1 in the order of
 * this table, and a path has the same number in all segments of a process.
 * Several threads add to the counters, each of which is valid by itself. */
struct ncs_range {
	/* NCS_RANGE_KEY() of the range around it; 0: not in use. The name is
	 * stored before the key, and neither changes afterwards. */
	uint64_t key;
	char name[NCS_RANGE_NAME_BYTES]; /* truncated, always terminated */
	uint64_t calls;         /* number of CollApi and P2pApi events */
	uint64_t operations;    /* number of Coll and P2p events */
	uint64_t bytes;         /* message sizes as nccl-tests counts them */
	uint64_t size_unknown;  /* operations of unknown size: not in bytes */
	uint64_t with_children; /* operations with at least one child */
	uint64_t with_children_bytes; /* bytes of these operations */
	/* Operations with a child in progress, also in ranges inside it. */
	uint64_t busy; /* their number, NCS_RANGE_BUSY(); the rest is private */
	uint64_t busy_since; /* ticks at which the number became nonzero */
	uint64_t busy_time;  /* ticks with a nonzero number before that */
	/* Operations with a time, by enum ncs_timing; see struct
	 * ncs_function. */
	uint64_t timed[2];
	uint64_t time_ns[2];
	uint64_t timed_bytes[2];
	uint64_t time[8]; /* ticks of its channels, by enum ncs_channel_state */
	/* Kernels launched in it; compute_busy_ns includes the ranges
	 * inside. */
	struct ncs_gpu_time gpu;
	struct ncs_stream_times stream_times; /* from minor version 5 on */
	uint64_t padding[4];
};

/* Bytes of an entry that readers accept: before minor version 5. */
#define NCS_RANGE_BYTES_LEAST offsetof(struct ncs_range, stream_times)

/* The key of a range, never 0, and its parts. */
#define NCS_RANGE_KEY(parent) (UINT64_C(1) << 32 | (uint64_t)(parent))
#define NCS_RANGE_KEY_PARENT(key) ((uint32_t)(key)) /* 0: outermost */
#define NCS_RANGE_BUSY(busy) ((busy)&UINT64_C(0xffff))

/* A histogram of the times of a range's operations in ns, with a quarter of the
 * buckets of struct ncs_histogram. An entry is given to a (range, timing) at
 * first use. */
struct ncs_range_histogram {
	uint64_t key; /* NCS_RANGE_HISTOGRAM_KEY(); 0: not in use */
	uint64_t buckets[NCS_RANGE_BUCKETS];
	uint64_t padding[7];
};

#define NCS_RANGE_HISTOGRAM_KEY(range, timing) \
	(UINT64_C(1) << 63 | (uint64_t)(range) << 8 | (uint64_t)(timing))

static_assert(sizeof(struct ncs_range) == 384, "range");
static_assert(sizeof(struct ncs_range_histogram) % 64 == 0,
	      "histogram of a range");

#endif
