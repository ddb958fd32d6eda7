/* SPDX-License-Identifier: MIT */
/* The reader's copies of classes and their histograms: ncs_snapshot's classes,
 * class_buckets and the functions' histograms.
 *
 * Only histograms in use are read, and of them only the buckets that may hold
 * counts.
 */
#ifndef NCS_SHM_READ_CLASS_READER_H
#define NCS_SHM_READ_CLASS_READER_H

#include <stdint.h>

#include "ncclstat/snapshot.h"

struct ncs_header; /* ncclstat/abi_header.h */
struct ncs_reader; /* ncclstat/reader.h */

/* Allocates memory for the classes of a segment with this header. Returns 0 or
 * -ENOMEM; either way release with ncs_classes_release(). */
int ncs_classes_init(struct ncs_snapshot *snapshot,
		     const struct ncs_header *header);
void ncs_classes_release(struct ncs_snapshot *snapshot);

/* Fills in the snapshot's classes. Without memory for a histogram its class has
 * no times. */
void ncs_classes_take(struct ncs_snapshot *snapshot,
		      const struct ncs_reader *reader);

/* Turns a mapped histogram's words `first` and `end`, which may be any value,
 * into the bounds of the buckets that may hold counts: *first is the index of
 * the first one, *end one past the last. */
static inline void ncs_histogram_bounds(uint64_t *first, uint64_t *end)
{
	if (*end == 0 || *end > NCS_HISTOGRAM_BUCKETS)
		*end = NCS_HISTOGRAM_BUCKETS;
	*first = *first == 0 || *first > *end ? 0 : *first - 1;
}

#endif
