/* SPDX-License-Identifier: MIT */
/* The channels of a part, in each direction and with each peer, added up from the
 * records of its proxy operations and steps as they come. Pure. Must not trust
 * records.
 */
#ifndef NCS_ANALYSIS_RECORDS_PART_CHANNELS_H
#define NCS_ANALYSIS_RECORDS_PART_CHANNELS_H

#include <stddef.h>

#include "analysis/records/parts.h"

struct ncs_clock; /* ncclstat/abi_clock.h */

/* Start with {0}. */
struct ncs_part_channels {
	struct ncs_part_channel *all;
	size_t count, capacity;
	size_t found; /* place of the one found last */
};

/* Frees the memory. */
void ncs_part_channels_release(struct ncs_part_channels *channels);

/* Takes the record of a proxy operation or a step. Returns 0, or -ENOMEM, also if
 * there are too many channels. */
int ncs_part_channels_take(struct ncs_part_channels *channels,
			   const struct ncs_clock *clock,
			   const struct ncs_record *record);

/* Sets the number of channels of a part, its waits, when its last data moved, and
 * its channels that ended last and that took longest. */
void ncs_part_channels_sum(const struct ncs_part_channels *channels,
			   struct ncs_part *part);

#endif
