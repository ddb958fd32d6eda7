/* SPDX-License-Identifier: MIT */
/* The latest records of a rank, for the timeline.
 *
 * Two rings of records as they came, one of what the application called and
 * the operations, one of the far more frequent rest. Memory is bounded: all
 * ranks share so many records. Pure; the times are the segment's ticks.
 */
#ifndef NCS_ANALYSIS_RECORDS_LATEST_RECORDS_H
#define NCS_ANALYSIS_RECORDS_LATEST_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/source.h"
#include "ncclstat/record.h"

enum ncs_latest_kind {
	NCS_LATEST_CALLS, /* API calls, launches, COLL, P2P */
	NCS_LATEST_WORK,  /* of proxy threads and kernels */
	NCS_LATEST_KINDS
};

struct ncs_latest_ring {
	struct ncs_record *records;
	size_t capacity;
	size_t first; /* the oldest one's place */
	size_t count;
	/* All that ended later is here, but for what was lost. */
	uint64_t complete_from_ns;
};

struct ncs_latest {
	struct ncs_latest_ring rings[NCS_LATEST_KINDS];
	bool has_begun;    /* some look brought records */
	uint64_t taken_ns; /* of the latest look */
	/* Records were overwritten unseen: how many, and the latest time in
	 * which some were. */
	uint64_t lost;
	uint64_t lost_from_ns;
	uint64_t lost_until_ns;
};

/* NULL: no memory. */
struct ncs_latest *ncs_latest_new(void);
void ncs_latest_free(struct ncs_latest *latest); /* NULL: nothing to do */

/* Takes in what a sample brings; so many ranks share the memory, SIZE_MAX where
 * that is not known. 0 or -ENOMEM, when some of it is missing. */
int ncs_latest_take(struct ncs_latest *latest, const struct ncs_sample *sample,
		    size_t ranks);

/* The i-th record that is kept, in the order in which they came. */
const struct ncs_record *ncs_latest_at(const struct ncs_latest_ring *ring,
				       size_t i);

#endif
