/* SPDX-License-Identifier: MIT */
/* The latest records of a rank, for the timeline.
 *
 * They are kept in two lists, in the order in which they came: one for
 * operations and the application's calls, one for the far more frequent records
 * of proxy operations, steps and kernels. Memory is bounded: all ranks share a
 * fixed number of records. Pure. Times in records are in the segment's ticks.
 */
#ifndef NCS_ANALYSIS_RECORDS_LATEST_RECORDS_H
#define NCS_ANALYSIS_RECORDS_LATEST_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/base/source.h"
#include "ncclstat/record.h"

/* The lists, by the records that they keep. */
enum ncs_latest_kind {
	NCS_LATEST_CALLS, /* API calls, launches, COLL, P2P */
	NCS_LATEST_WORK,  /* proxy operations and steps, kernels */
	NCS_LATEST_KINDS
};

/* Records in the order in which they came. */
struct ncs_latest_list {
	struct ncs_record *records;
	size_t count;
	/* All records that ended after this time are here, except lost ones. */
	uint64_t complete_from_ns;
};

/* The latest records of one rank. */
struct ncs_latest {
	struct ncs_latest_list lists[NCS_LATEST_KINDS];
	bool has_begun;    /* some refresh brought records */
	uint64_t taken_ns; /* of the latest refresh */
	/* Number of records that were overwritten unread, and the latest
	 * interval in which some were. */
	uint64_t lost;
	uint64_t lost_from_ns;
	uint64_t lost_until_ns;
};

/* Creates empty lists. Returns NULL if there is no memory. Free them with
 * ncs_latest_free(), which accepts NULL. */
struct ncs_latest *ncs_latest_new(void);
void ncs_latest_free(struct ncs_latest *latest);

/* Takes the records of a sample. `ranks` is the number of ranks that share the
 * memory, or SIZE_MAX if it is not known. Returns 0, or -ENOMEM if some records
 * are missing. */
int ncs_latest_take(struct ncs_latest *latest, const struct ncs_sample *sample,
		    size_t ranks);

#endif
