/* SPDX-License-Identifier: MIT */
/* The reader's copy of classes and their histograms: ncs_snapshot's classes,
 * class_buckets and the functions' histograms.
 *
 * Only histograms in use are looked at, from their first count to their last.
 */
#ifndef NCS_SHM_READ_CLASS_READER_H
#define NCS_SHM_READ_CLASS_READER_H

#include "ncclstat/reader.h"

/* Memory for the classes of a segment with this header. 0 or -ENOMEM. */
int ncs_classes_init(struct ncs_snapshot *snapshot,
		     const struct ncs_header *header);
void ncs_classes_release(struct ncs_snapshot *snapshot);

/* Copies them from a mapping whose geometry is that of the header. */
void ncs_classes_take(struct ncs_snapshot *snapshot, const char *mapping,
		      const struct ncs_header *header);

#endif
