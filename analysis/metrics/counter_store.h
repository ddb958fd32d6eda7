/* SPDX-License-Identifier: MIT */
/* The values that counters have had, so that none ever falls: Prometheus takes a
 * fall for a restart and adds the whole value again.
 *
 * A counter is a metric with its labels, the sum of what segments contribute.
 * What a segment contributes may be less than before, since sums in segments may
 * be taken back by a few, and a segment may vanish: then the counter stays as it
 * is. A counter to which nothing contributes in a pass is forgotten.
 *
 * Pure. Not thread-safe.
 */
#ifndef NCS_ANALYSIS_METRICS_COUNTER_STORE_H
#define NCS_ANALYSIS_METRICS_COUNTER_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/hash_table.h"

/* The most values of a counter: a histogram's buckets and the sum. */
#define NCS_COUNTER_VALUES_MAX 22u

struct ncs_counter {
	struct ncs_hash_link link;
	unsigned metric; /* enum ncs_metric */
	uint64_t pass;   /* the latest in which something contributed */
	uint64_t left_out_pass; /* the latest in which it found no room */
	uint64_t values[NCS_COUNTER_VALUES_MAX];
	char labels[]; /* as in the exposition */
};

/* All zeros is an empty store. */
struct ncs_counter_store {
	struct ncs_hash_table counters;
	struct ncs_hash_table parts;
	struct ncs_counter **all; /* in the order in which they came */
	size_t all_count, all_capacity;
	struct ncs_counter_part **all_parts;
	size_t part_count, part_capacity;
	uint64_t pass;
};

/* Begins a pass over all segments. */
void ncs_counters_begin(struct ncs_counter_store *store);

/* Returns the counter with these labels; NULL if there is none. */
struct ncs_counter *ncs_counter_find(const struct ncs_counter_store *store,
				     unsigned metric, const char *labels);

/* Adds a counter of zeros. Returns NULL if there is no memory. */
struct ncs_counter *ncs_counter_add(struct ncs_counter_store *store,
				    unsigned metric, const char *labels);

/* Adds `count` values of a segment to a counter of this pass: what they are more
 * than the greatest that the segment showed before. `serial` names the segment.
 * Values of one segment and pass are added up. Returns 0, or -ENOMEM with
 * nothing added. */
int ncs_counter_contribute(struct ncs_counter_store *store,
			   struct ncs_counter *counter, uint32_t serial,
			   const uint64_t *values, size_t count);

/* Ends the pass: forgets what no segment contributed to. */
void ncs_counters_end(struct ncs_counter_store *store);

/* Releases all memory; the store is then empty. */
void ncs_counters_release(struct ncs_counter_store *store);

#endif
