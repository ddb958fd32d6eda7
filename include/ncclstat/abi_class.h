/* SPDX-License-Identifier: MIT */
/* Classes of operations in a segment, and the histograms of their times. For all
 * of the segment see abi.h. */
#ifndef NCCLSTAT_ABI_CLASS_H
#define NCCLSTAT_ABI_CLASS_H

#include <assert.h>
#include <stdint.h>

#include "ncclstat/histogram.h"

/* The number of operations of one class: function, size class (size_class.h),
 * algorithm and protocol. The first NCS_FUNCTION_MAX entries of the table are
 * the functions' own: they count operations that found no class, and their
 * size, algorithm and protocol are NCS_CLASS_OTHER. Any other entry is given to
 * a class when that is first used. */
struct ncs_class {
	uint64_t key;        /* NCS_CLASS_KEY(); 0: not in use */
	uint64_t operations; /* number of Coll and P2p events */
	uint64_t reserved[6];
};

/* The key of a class, never 0, and its parts. */
#define NCS_CLASS_KEY(function, size, algorithm, protocol)          \
	(UINT64_C(1) << 32 | (uint64_t)(uint8_t)(size) << 24 |      \
	 (uint64_t)(uint8_t)(protocol) << 16 |                      \
	 (uint64_t)(uint8_t)(algorithm) << 8 | (uint8_t)(function))
#define NCS_CLASS_KEY_FUNCTION(key) ((uint8_t)(key))
#define NCS_CLASS_KEY_ALGORITHM(key) ((uint8_t)((key) >> 8))
#define NCS_CLASS_KEY_PROTOCOL(key) ((uint8_t)((key) >> 16))
#define NCS_CLASS_KEY_SIZE(key) ((uint8_t)((key) >> 24))

/* A histogram of the times of a class's operations. An entry is given to a
 * (class, timing) at first use; entries in use come first. A class that finds
 * no entry uses its function's. */
struct ncs_histogram {
	uint64_t key; /* NCS_HISTOGRAM_KEY(); 0: not in use */
	uint64_t buckets[NCS_HISTOGRAM_BUCKETS]; /* operations, histogram.h */
	uint64_t time_ns;    /* sum of the operations' times */
	uint64_t bytes;      /* sum of the operations' bytes */
	uint64_t longest_ns;
	/* Buckets before first - 1 and from end on are 0. If a word is 0, its
	 * bound is unknown. */
	uint64_t first;
	uint64_t end;
	uint64_t padding[2];
};

/* The key of a histogram, never 0, and its parts. */
#define NCS_HISTOGRAM_KEY(class_index, timing) \
	(UINT64_C(1) << 32 | (uint64_t)(class_index) << 8 | (uint64_t)(timing))
#define NCS_HISTOGRAM_KEY_CLASS(key) ((uint32_t)((key) >> 8 & 0xffffff))
#define NCS_HISTOGRAM_KEY_TIMING(key) ((uint8_t)(key))

static_assert(sizeof(struct ncs_class) == 64, "class");
static_assert(sizeof(struct ncs_histogram) % 64 == 0, "histogram");

#endif
