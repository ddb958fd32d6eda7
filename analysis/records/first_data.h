/* SPDX-License-Identifier: MIT */
/* When a rank had data of its own to send, where it may have waited for data of
 * others first: in a tree, and between two ranks, each rank receives from those
 * that it sends to.
 *
 * Pure. Must not trust channels: their times may be any value. Times are ns.
 */
#ifndef NCS_ANALYSIS_RECORDS_FIRST_DATA_H
#define NCS_ANALYSIS_RECORDS_FIRST_DATA_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/records/parts.h"

/* Returns when a rank whose kernel began at `begin_ns` would have had its first
 * data if it had not waited for others; 0 if that is not known. On each channel
 * that is when it had data to send, less the time for which a buffer that was
 * there had waited for the data that came last before. What its GPU and its proxy
 * thread took by themselves is left. Of several channels, the first one counts. */
uint64_t ncs_first_data_ns(const struct ncs_part_channel *channels,
			   size_t count, uint64_t begin_ns);

#endif
