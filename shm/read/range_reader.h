/* SPDX-License-Identifier: MIT */
/* The reader's copies of ranges and their histograms: ncs_snapshot's ranges and
 * range_buckets. ncs_range_place() is in ncclstat/snapshot.h. */
#ifndef NCS_SHM_READ_RANGE_READER_H
#define NCS_SHM_READ_RANGE_READER_H

#include "shm/read/reader_internal.h"

/* Allocates memory for the ranges of a segment with this header, none if it has
 * none. Returns 0 or -ENOMEM; either way release with ncs_ranges_release(). */
int ncs_ranges_init(struct ncs_snapshot *snapshot,
		    const struct ncs_header *header);
void ncs_ranges_release(struct ncs_snapshot *snapshot);

/* Fills in the snapshot's ranges. Its liveness must be filled in already. */
void ncs_ranges_take(struct ncs_snapshot *snapshot,
		     const struct ncs_reader *reader);

#endif
